package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flagGroup is a part of a command's flags in its help.
type flagGroup struct {
	title string
	names string // separated by spaces; empty for all that are left
}

// flagGroups are the groups of flags in the help, in its order. The first has what most users need,
// at most maxCommon of them in a command.
var flagGroups = []flagGroup{
	{"Common flags", "root allow-exec kernel grid block arg launch seeds exec write output include define arch format " +
		"verbose save"},
	{"Launch", "global local cluster shared tmap seed warp benign proxy-fence proxy-war mbar-scope " +
		"blockidx any-rounds"},
	{"Limits", "max-steps memory limit jobs timeout total-timeout check-launches execute-repeats " +
		"unroll max-executions symmetry"},
	{"Remote execution", "remote remote-cache remote-jobs remote-property remote-header remote-heddle"},
	{"Proofs", "prove bounds only-intra-block assume axioms assume-no-wrap invariants abstraction extern " +
		"unwind print math-int solver smt-dir stats"},
	{"Repair", "emit diff only allow redundant explain incremental optimize strip block-only verify-only oracle algorithm cost loop-cost " +
		"cond-cost"},
	{"Compilation", "isystem std address-bits opt-level compiler extra-arg cuda-path cccl no-cache lang database library " +
		"library-path Xcompiler rdc keep gpu list image"},
	{"Configuration", "config no-config trust force"},
	{"Reports", "html report summary fail-on color quiet baseline write-baseline new-from printf " +
		"save-ptx init-check leak-check verbose outcomes replay stdio"},
	{"Other flags", ""},
}

const (
	maxCommon = 12  // flags of the first group
	helpWidth = 100 // columns of the help
	fewFlags  = 14  // a command with so many has one group
)

// flagHelp is the part of a command's help that lists its flags.
func flagHelp(fs *pflag.FlagSet) string {
	total := 0
	fs.VisitAll(func(*pflag.Flag) { total++ })
	if total <= fewFlags {
		return "Flags:\n" + strings.TrimRight(fs.FlagUsagesWrapped(helpWidth), "\n")
	}
	shown := make(map[string]bool)
	var parts []string
	for i, g := range flagGroups {
		part := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		part.SortFlags = false
		n := 0
		add := func(f *pflag.Flag) {
			if f != nil && !shown[f.Name] && !f.Hidden && (i > 0 || n < maxCommon) {
				part.AddFlag(f)
				shown[f.Name] = true
				n++
			}
		}
		if g.names == "" {
			fs.VisitAll(add)
		}
		for name := range strings.FieldsSeq(g.names) {
			add(fs.Lookup(name))
		}
		if n > 0 {
			parts = append(parts, g.title+":\n"+strings.TrimRight(part.FlagUsagesWrapped(helpWidth), "\n"))
		}
	}
	return strings.Join(parts, "\n\n")
}

// groupFlags makes the help of a command and of those below it list flags in groups.
func groupFlags(root *cobra.Command) {
	cobra.AddTemplateFunc("flagHelp", flagHelp)
	text := root.UsageTemplate()
	const plain = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	root.SetUsageTemplate(strings.Replace(text, plain, "{{flagHelp .LocalFlags}}", 1))
}

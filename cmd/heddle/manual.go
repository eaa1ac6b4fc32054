package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"heddle/internal/diag"
	"heddle/internal/lazyregexp"
	"heddle/internal/source"
)

// newMan makes the command that packagers call during a build. With SOURCE_DATE_EPOCH set, its
// output is reproducible.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write the manual pages",
		Long: `man writes a manual page for heddle and one for each command to DIR: heddle.1, heddle-check.1 and so on. Their
date is SOURCE_DATE_EPOCH if that is set.`,
		Args: exactly(1, "one directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return inputError{err}
			}
			root := cmd.Root()
			// A generated date in each page would make builds differ.
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Source: "heddle " + moduleVersion(), Manual: "heddle"}
			if os.Getenv("SOURCE_DATE_EPOCH") == "" {
				now := time.Now()
				header.Date = &now
			}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return inputError{err}
			}
			return nil
		},
	}
}

// completions registers the words that a shell can complete: the words of choices, and the codes
// and terms that explain knows.
func completions(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			// Other flags complete file names, the default of the shell.
			switch f.Name {
			case "arch":
				_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(architectures,
					cobra.ShellCompDirectiveNoFileComp))
			case "kernel":
				_ = cmd.RegisterFlagCompletionFunc(f.Name, kernelNames)
			}
			if c, ok := f.Value.(*choice); ok {
				words := strings.Fields(strings.Join(c.words, " ")) // without the empty one
				// It fails only for a flag that does not exist, or twice.
				_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words,
					cobra.ShellCompDirectiveNoFileComp))
			}
		})
		if cmd.Name() == "explain" {
			cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string,
				cobra.ShellCompDirective) {
				var out []string
				if len(args) == 0 {
					for _, d := range diag.Docs() {
						out = append(out, cobra.CompletionWithDesc(string(d.Code), d.Title))
					}
					for _, t := range diag.Terms() {
						out = append(out, cobra.CompletionWithDesc(strings.ReplaceAll(t.Name, " ", "-"), t.Title))
					}
				}
				return out, cobra.ShellCompDirectiveNoFileComp
			}
		}
	}
}

// architectures are those that a shell completes; --arch takes all that the compiler knows.
var architectures = []string{"sm_60", "sm_61", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87",
	"sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_101", "sm_103", "sm_120", "sm_120a"}

// kernelName matches the head of a kernel in CUDA C++, OpenCL C or PTX, up to its name.
var kernelName = lazyregexp.New(`(?:\b__global__\s|\b(?:__)?kernel\s|\.entry\s)[^;{}()]*?` +
	`(?:__launch_bounds__\s*\([^)]*\)[^;{}()]*?)?([A-Za-z_$][\w$]*)\s*\(`)

// kernelNames completes the kernels of the files on the command line, by their text: nothing is
// compiled while a user types.
func kernelNames(_ *cobra.Command, files []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, name := range files {
		text, err := source.ReadRegular(name, 1<<24)
		if err != nil {
			continue
		}
		for _, m := range kernelName.FindAllSubmatch(text, -1) {
			if !slices.Contains(out, string(m[1])) {
				out = append(out, string(m[1]))
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// reference writes docs/commands.md: the help of all commands, with one list item for each flag. A
// test compares the file with this output, so the page cannot be out of date.
func reference(w io.Writer, root *cobra.Command) error {
	var b strings.Builder
	b.WriteString(`# The commands

The output of ` + "`heddle COMMAND --help`" + ` on one page; ` + "`make docs`" + ` writes it from the program.
Launches and arguments are in [launch.md](launch.md), verdicts in [verdicts.md](verdicts.md).
` + "`heddle man DIR`" + ` writes the same as manual pages.

`)
	var documented []*cobra.Command
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && cmd.Name() != "completion" {
			documented = append(documented, cmd)
			fmt.Fprintf(&b, "- [%s](#heddle-%s): %s\n", cmd.CommandPath(), cmd.Name(), cmd.Short)
		}
	}
	fmt.Fprintf(&b, "- [heddle completion](#completion-in-the-shell): complete commands, flags, "+
		"codes and terms in a shell\n\n")
	b.WriteString("Exit codes: 0 verified or clean, 1 bugs, 2 usage or input error, 3 unknown or unsupported " +
		"and no bug, 4 internal error or output that cannot be written, 128 and the number of the signal " +
		"that ended it (130, 143).\n")
	for _, cmd := range documented {
		text := cmd.Long
		if text == "" {
			text = strings.ToUpper(cmd.Short[:1]) + cmd.Short[1:] + "."
		}
		fmt.Fprintf(&b, "\n## %s\n\n    %s\n\n%s\n", cmd.CommandPath(),
			strings.ReplaceAll(cmd.UseLine(), "\n", "\n  "), strings.TrimSpace(text))
		if cmd.Example != "" {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "),
				"\n  ", "\n"))
		}
		if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
			fmt.Fprint(&b, "\n")
			flags.VisitAll(func(f *pflag.Flag) {
				if !f.Hidden {
					b.WriteString(flagLine(f))
				}
			})
		}
	}
	b.WriteString(`
## Completion in the shell

` + "`heddle completion bash`" + ` prints a script with which the shell completes commands, flags, their values, and
the codes and terms of ` + "`heddle explain`" + `; also for zsh, fish and powershell.

` + "```sh" + `
heddle completion bash > ~/.local/share/bash-completion/completions/heddle
heddle completion zsh > "${fpath[1]}/_heddle"
heddle completion fish > ~/.config/fish/completions/heddle.fish
` + "```" + `

Progress of long runs is shown on a terminal only. There is no color if NO_COLOR is set or the output
is not a terminal. Tables fit the terminal, or COLUMNS if that is set.
`)
	_, err := io.WriteString(w, b.String())
	return err
}

// flagLine is an item of a list: "- `-j`, `--jobs N`: work on ...".
func flagLine(f *pflag.Flag) string {
	word, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if word != "" {
		name += " " + word
	}
	line := "- `" + name + "`"
	if f.Shorthand != "" {
		line = "- `-" + f.Shorthand + "`, `" + name + "`"
	}
	line += ": " + usage
	switch f.DefValue {
	case "", "0", "false", "[]", "0s":
	default:
		line += fmt.Sprintf(" (default: %s)", f.DefValue)
	}
	return line + "\n"
}

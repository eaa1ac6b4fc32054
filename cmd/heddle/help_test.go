package main

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestFlagGroups: the help of each command with many flags lists each of them once, in a group with a
// title that says something, and the common ones first, of which there are at most 12. A name in the
// list of groups belongs to a flag.
func TestFlagGroups(t *testing.T) {
	exists := map[string]bool{"help": true}
	grouped := 0
	flags := regexp.MustCompile(`(?m)^  (-., |    )--`)
	for _, c := range newRoot(strings.NewReader(""), io.Discard, io.Discard).Commands() {
		c.InitDefaultHelpFlag()
		n := 0
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { exists[f.Name] = true; n++ })
		help := flagHelp(c.LocalFlags())
		if n <= fewFlags {
			continue
		}
		grouped++
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			listed := regexp.MustCompile(`(?m)^  (-., |    )--` + f.Name + `( |$)`)
			if k := len(listed.FindAllString(help, -1)); !f.Hidden && k != 1 {
				t.Errorf("%s: --%s is listed %d times", c.Name(), f.Name, k)
			}
		})
		common, rest, ok := strings.Cut(help, "\n\n")
		if k := len(flags.FindAllString(common, -1)); !ok || !strings.HasPrefix(common, "Common flags:\n") || k > maxCommon {
			t.Errorf("%s: %d common flags:\n%s", c.Name(), k, common)
		}
		if i := strings.Index(rest, "Other flags:"); i >= 0 && len(flags.FindAllString(rest[i:], -1)) > 1 { // --help
			t.Errorf("%s: flags without a group:\n%s", c.Name(), rest[i:])
		}
		for line := range strings.Lines(help) {
			if len(strings.TrimRight(line, "\n")) > helpWidth {
				t.Errorf("%s: a line of %d columns: %s", c.Name(), len(line)-1, line)
			}
		}
	}
	if grouped < 6 {
		t.Errorf("%d commands have groups", grouped)
	}
	for _, g := range flagGroups {
		for name := range strings.FieldsSeq(g.names) {
			if !exists[name] {
				t.Errorf("%s: no command has a flag --%s", g.title, name)
			}
		}
	}
}

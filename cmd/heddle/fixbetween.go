package main

import (
	"fmt"
	"io"
	"strings"

	"heddle/internal/command/fix"
)

// between lists what the other means do that are allowed against races between blocks: those that
// repair the kernel as well, with their patches, and those that do not, with the reason.
func (c *fixCommand) between(w io.Writer, f *fix.Kernel) {
	if f.Status != fix.Repaired {
		return // Why has the reasons
	}
	taken := false
	for i := range f.Between {
		b := &f.Between[i]
		switch {
		case b.Why != "":
			fmt.Fprintf(w, "  --allow %v does not repair it, because %s\n", b.Means, b.Why)
			continue
		case !taken:
			taken = true
			continue
		}
		fmt.Fprintf(w, "  alternative: --allow %v\n", b.Means)
		for _, ch := range b.Changes {
			fmt.Fprintf(w, "    %s: %s\n", c.opt.Files.Format(ch.Span.Start), ch.Text)
		}
		for _, n := range b.Notes {
			fmt.Fprintf(w, "    note: %s\n", n)
		}
		for line := range strings.Lines(b.Diff) {
			fmt.Fprintf(w, "    %s", line)
		}
	}
}

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
)

// summaryLine returns the results of a run in one line: "5 kernels: 1 bug, 3 verified, 1 clean; 2
// findings". Findings that were not printed (suppressed, known) are counted, so that their number
// cannot grow unnoticed.
func summaryLine(sum *check.Summary) string {
	by := map[diag.VerdictKind]int{}
	suppressed, known := 0, 0
	kernels := sum.Skipped // they count, so that the total agrees with the files
	for i := range sum.Verdicts {
		v := &sum.Verdicts[i]
		if v.Kernel == "" { // of a file
			continue
		}
		kernels++
		by[v.Kind]++
		suppressed += v.Suppressed
		known += v.Known
	}
	var kinds []string
	// The worst verdict comes first, whatever the numeric order of the kinds.
	for _, k := range []diag.VerdictKind{diag.Bug, diag.Verified, diag.Clean, diag.Unknown,
		diag.Unsupported} {
		if by[k] > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", by[k], k))
		}
	}
	if sum.Skipped > 0 {
		kinds = append(kinds, fmt.Sprintf("%d skipped", sum.Skipped))
	}
	line := counted(kernels, "kernel")
	if len(kinds) > 0 {
		line += ": " + strings.Join(kinds, ", ")
	}
	line += "; " + counted(sum.Bugs, "finding")
	for _, n := range []struct {
		n    int
		what string
	}{{sum.Guessed, "dependent on guessed values"}, {suppressed, "suppressed"}, {known, "known"}} {
		if n.n > 0 {
			line += fmt.Sprintf(", %d %s", n.n, n.what)
		}
	}
	if sum.Unread > 0 {
		line += "; " + counted(sum.Unread, "file") + " not examined"
	}
	if sum.InputErrors > 0 {
		line += "; " + counted(sum.InputErrors, "error") + " in the input"
	}
	return line
}

// counted returns a number with a noun in the singular or plural: "1 kernel", "2 kernels".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printDecisions prints which engines examined a kernel, why, with which result and in what time. A
// step without an outcome is an engine that was not used. The text is written at once, so that
// kernels examined in parallel do not mix.
func printDecisions(w io.Writer, d driver.Decisions) {
	var b strings.Builder
	fmt.Fprintf(&b, "decisions: %s: kernel %s\n", d.Input, d.Kernel)
	for _, s := range d.Steps {
		if s.Outcome == "" {
			fmt.Fprintf(&b, "  no %s: %s\n", s.Engine, s.Why)
			continue
		}
		fmt.Fprintf(&b, "  %s, because %s: %s (%s)\n", s.Engine, s.Why, s.Outcome, took(s))
	}
	if d.Decided {
		fmt.Fprintf(&b, "  %s after %s\n", d.Verdict, inSeconds(d.Time))
	}
	io.WriteString(w, b.String())
}

// took says how long a step took, which is not known of one that another process has made.
func took(s driver.Step) string {
	switch {
	case s.Earlier:
		return "in an earlier run"
	case s.Elsewhere:
		return "elsewhere"
	}
	return inSeconds(s.Time)
}

// inSeconds returns a time in seconds, in one unit for all lines so that they can be compared.
func inSeconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

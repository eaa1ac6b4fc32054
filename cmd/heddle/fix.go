package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/project"
	"heddle/internal/source"
)

const fixHelp = `fix looks for data races and barrier divergence, as run and verify do, and repairs the kernel: it chooses places for
barriers at the least cost, and changes the control flow where not all threads of a block come to such a place. What it
prints has been checked again. Report and verdict go to standard error, the repaired PTX to standard output or to the
file of -o.

Exit codes: 0 nothing to repair, or repaired; 1 a bug that is not repaired; 2 usage or input error; 3 not checked.`

// fixCommand is heddle fix.
type fixCommand struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	opt            check.Options
	fix            check.FixOptions
	in             inputFlags
	emit           string
	allow          string
	output         string
	format, color  string
}

func newFix(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &fixCommand{stdin: stdin, stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:   "fix [flags] FILE|-",
		Short: "repair data races and barrier divergence",
		Long:  fixHelp + launchHelp,
		Args:  exactly(1, "one input file"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := checkNumbers(&c.opt); err != nil {
				return err
			}
			return c.run(cmd, files[0])
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	launchFlags(fs, &c.opt)
	engineFlags(fs, &c.opt)
	fs.Var(newChoice(&c.emit, "ptx"), "emit", "print the repaired kernel as `FORM`: ptx")
	fs.Var(newChoice(&c.allow, "", "atomic"), "allow", "also use `MEANS` atomic: plain updates that race become atomic ones, which can change floating-point results")
	fs.BoolVar(&c.fix.Redundant, "redundant", false, "take away barriers that are proved redundant")
	fs.DurationVar(&c.fix.Budget, "timeout", check.DefaultFixBudget, "give the repair of a kernel at most `TIME`, such as 90s")
	fs.StringVarP(&c.output, "output", "o", "", "write the repaired text to `FILE` instead of standard output")
	fs.Var(newChoice(&c.format, "text", "json"), "format", "report as `FORMAT` text, or json (one object a kernel, on standard output; the repaired text then needs -o)")
	fs.Var(newChoice(&c.color, "auto", "always", "never"), "color", "use colour: `WHEN` auto, always or never")
	c.in.define(fs)
	lowerFlags(fs, &c.opt.Lower)
	return cmd
}

func (c *fixCommand) run(cmd *cobra.Command, arg string) error {
	if dir, ok := project.Directory(arg); ok {
		return inputError{fmt.Errorf("%s is a directory; want one file", dir)}
	}
	inputs, err := c.in.inputs([]string{arg}, c.stdin, c.stderr)
	if err != nil {
		return inputError{err}
	}
	c.opt.Database = c.in.database
	c.opt.Files = source.NewSet()
	c.fix.Atomic = c.allow == "atomic"
	mistakes := diag.NewText(c.stderr, c.opt.Files, useColor(c.color, c.stderr))
	res, err := check.FixFile(cmd.Context(), c.opt, c.fix, inputs[0], func(d diag.Diagnostic) { mistakes.Finding(&d) })
	if err != nil {
		return inputError{err}
	}
	if err := c.report(res); err != nil {
		return inputError{fmt.Errorf("writing the results: %w", err)}
	}
	if code := fixExit(res); code != exitClean {
		return exitError(code)
	}
	return nil
}

// fixExit sums up a repair.
func fixExit(res *check.FixResult) int {
	code := exitClean
	for _, f := range res.Fixes {
		switch f.Status {
		case check.NotRepaired:
			return exitBugs
		case check.NotChecked:
			code = exitUnknown
		}
	}
	if res.InputErrors > 0 {
		return exitUsage
	}
	return code
}

func (c *fixCommand) report(res *check.FixResult) error {
	changed := false
	for i := range res.Fixes {
		f := &res.Fixes[i]
		changed = changed || f.Status == check.Repaired
		var err error
		if c.format == "json" {
			err = c.json(f, res)
		} else {
			err = c.text(f)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case c.output != "":
		return os.WriteFile(c.output, res.PTX, 0o666)
	case c.format == "json" || !changed:
		return nil
	}
	_, err := c.stdout.Write(res.PTX)
	return err
}

// text reports one kernel for people.
func (c *fixCommand) text(f *check.Fix) error {
	p := diag.NewText(c.stderr, c.opt.Files, useColor(c.color, c.stderr))
	for i := range f.Wrong {
		if err := p.Finding(&f.Wrong[i]); err != nil {
			return err
		}
	}
	if err := p.Close(); err != nil {
		return err
	}
	w := &bytes.Buffer{}
	fmt.Fprintf(w, "%s: kernel %s\n", f.Status, f.Kernel)
	for _, ch := range f.Changes {
		fmt.Fprintf(w, "  %s: %s\n", c.opt.Files.Format(ch.Span.Start), ch.Text)
	}
	switch f.Status {
	case check.Repaired:
		fmt.Fprintf(w, "  why: %s\n", f.Why)
	case check.NotRepaired:
		fmt.Fprintf(w, "  cannot be repaired by synchronization, because %s\n", f.Why)
	case check.NotChecked:
		fmt.Fprintf(w, "  why: %s\n", f.Why)
	default:
		fmt.Fprintf(w, "  %s\n", f.After.Text())
	}
	for _, r := range f.Redundant {
		fmt.Fprintf(w, "  %s: warning: %s\n", c.opt.Files.Format(r.Span.Start), r.Text)
	}
	for _, n := range f.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
	_, err := w.WriteTo(c.stderr)
	return err
}

// json reports one kernel for tools, as one line.
func (c *fixCommand) json(f *check.Fix, res *check.FixResult) error {
	type change struct {
		Place string `json:"place"`
		What  string `json:"what"`
	}
	out := struct {
		Kernel    string            `json:"kernel"`
		Status    string            `json:"status"`
		Findings  []json.RawMessage `json:"findings,omitempty"`
		Changes   []change          `json:"changes,omitempty"`
		Redundant []change          `json:"redundant,omitempty"`
		Why       string            `json:"why,omitempty"`
		Verdict   string            `json:"verdict"`
		Scope     string            `json:"scope,omitempty"`
		Notes     []string          `json:"notes,omitempty"`
		Checked   int               `json:"texts_checked"`
		Millis    int64             `json:"total_ms"`
	}{Kernel: f.Kernel, Status: f.Status.String(), Why: f.Why, Verdict: f.Verdict(), Scope: f.After.Scope, Notes: f.Notes,
		Checked: f.Judged, Millis: f.Total.Milliseconds()}
	for i := range f.Wrong {
		var b bytes.Buffer
		if err := diag.NewJSON(&b, c.opt.Files).Finding(&f.Wrong[i]); err != nil {
			return err
		}
		out.Findings = append(out.Findings, json.RawMessage(bytes.TrimSpace(b.Bytes())))
	}
	for _, ch := range f.Changes {
		out.Changes = append(out.Changes, change{c.opt.Files.Format(ch.Span.Start), ch.Text})
	}
	for _, r := range f.Redundant {
		out.Redundant = append(out.Redundant, change{c.opt.Files.Format(r.Span.Start), r.Text})
	}
	return json.NewEncoder(c.stdout).Encode(out)
}

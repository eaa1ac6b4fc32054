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
	"heddle/internal/edit"
	"heddle/internal/project"
	"heddle/internal/source"
)

const fixHelp = `fix looks for data races and barrier divergence, as run and verify do, and repairs the kernel: it chooses places for
barriers at the least cost, and changes the control flow where not all threads of a block come to such a place. It prints
a patch of the file, which git apply and patch -p1 accept; the patched source was compiled and checked again. What the
source cannot say is in the repaired PTX only (--emit ptx). Report and verdict go to standard error, the patch or the text
to standard output or to the file of -o.

Exit codes: 0 nothing to repair, or repaired; 1 a bug that is not repaired in what was asked for; 2 usage or input error;
3 not checked.`

// fixCommand is heddle fix.
type fixCommand struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	opt            check.Options
	fix            check.FixOptions
	in             inputFlags
	emit           string
	diff, write    bool
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
	fs.Var(newChoice(&c.emit, "", "diff", "source", "ptx"), "emit", "print the repair as `FORM` diff (the default, where the file is source or PTX), source (the whole file), or ptx")
	fs.BoolVar(&c.diff, "diff", false, "the same as --emit diff")
	fs.BoolVarP(&c.write, "write", "w", false, "write the repair into the file")
	fs.Var(newChoice(&c.allow, "", "atomic"), "allow", "also use `MEANS` atomic: plain updates that race become atomic ones, which can change floating-point results")
	fs.BoolVar(&c.fix.Redundant, "redundant", false, "take away barriers that are proved redundant")
	fs.DurationVar(&c.fix.Budget, "timeout", check.DefaultFixBudget, "give the repair of a kernel at most `TIME`, such as 90s")
	fs.StringVarP(&c.output, "output", "o", "", "write the repaired source to `FILE`; with --emit, what that asks for")
	fs.Var(newChoice(&c.format, "text", "json"), "format", "report as `FORMAT` text, or json (one object a kernel, on standard output, with its patch; other texts then need -o)")
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
	switch {
	case c.diff && c.emit != "" && c.emit != "diff":
		return inputError{fmt.Errorf("--diff and --emit %s ask for different things", c.emit)}
	case c.write && (c.emit == "ptx" || c.output != ""):
		return inputError{fmt.Errorf("-w writes the source where it is; leave --emit ptx and -o out")}
	case c.write && inputs[0].Content != nil:
		return inputError{fmt.Errorf("-w needs a file to write to; use -o FILE for standard input")}
	case c.diff:
		c.emit = "diff"
	}
	c.fix.Source = c.emit != "ptx"
	c.opt.Database = c.in.database
	c.opt.Files = source.NewSet()
	c.fix.Atomic = c.allow == "atomic"
	mistakes := diag.NewText(c.stderr, c.opt.Files, useColor(c.color, c.stderr))
	res, err := check.FixFile(cmd.Context(), c.opt, c.fix, inputs[0], func(d diag.Diagnostic) { mistakes.Finding(&d) })
	if err != nil {
		return inputError{err}
	}
	if c.fix.Source && res.User == nil && c.emit != "" && res.InputErrors == 0 {
		return inputError{fmt.Errorf("%s has no text that a patch could be of; --emit ptx prints the repaired PTX", arg)}
	}
	if err := c.report(res, arg); err != nil {
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
		case check.Repaired:
			if f.PTXOnly != "" {
				return exitBugs
			}
		case check.NotChecked:
			code = exitUnknown
		}
	}
	if res.InputErrors > 0 {
		return exitUsage
	}
	return code
}

func (c *fixCommand) report(res *check.FixResult, name string) error {
	changed := false
	for i := range res.Fixes {
		f := &res.Fixes[i]
		changed = changed || f.Status == check.Repaired
		var err error
		if c.format == "json" {
			err = c.json(f, res)
		} else {
			err = c.text(f, res)
		}
		if err != nil {
			return err
		}
	}
	text := res.PTX
	if c.fix.Source && res.User != nil {
		text = res.Patched
		if c.emit == "diff" || c.emit == "" && c.output == "" {
			text = []byte(res.Diff)
		}
	}
	switch {
	case c.write:
		if res.User == nil || res.Diff == "" {
			return nil
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, res.Patched, info.Mode().Perm())
	case c.output != "":
		return os.WriteFile(c.output, text, 0o666)
	case c.format == "json" || !changed:
		return nil
	}
	_, err := c.stdout.Write(text)
	return err
}

// text reports one kernel for people.
func (c *fixCommand) text(f *check.Fix, res *check.FixResult) error {
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
	for _, alt := range f.Alternatives {
		fmt.Fprintf(w, "  or, at the same cost:\n")
		for _, ch := range alt {
			fmt.Fprintf(w, "    %s: %s\n", c.opt.Files.Format(ch.Span.Start), ch.Text)
		}
	}
	switch f.Status {
	case check.Repaired:
		fmt.Fprintf(w, "  why: %s\n", f.Why)
		switch {
		case f.PTXOnly != "":
			fmt.Fprintf(w, "  in the PTX only (--emit ptx), because %s\n", f.PTXOnly)
		case len(f.Edits) > 0:
			fmt.Fprintf(w, "  the patched source, compiled again, is %s, and the findings above do not come back\n", f.Source.Kind)
		}
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
		Others    [][]change        `json:"alternatives,omitempty"`
		Redundant []change          `json:"redundant,omitempty"`
		Why       string            `json:"why,omitempty"`
		Verdict   string            `json:"verdict"`
		Scope     string            `json:"scope,omitempty"`
		Notes     []string          `json:"notes,omitempty"`
		Source    string            `json:"source_verdict,omitempty"`
		PTXOnly   string            `json:"ptx_only,omitempty"`
		Diff      string            `json:"diff,omitempty"`
		Checked   int               `json:"texts_checked"`
		Millis    int64             `json:"total_ms"`
	}{Kernel: f.Kernel, Status: f.Status.String(), Why: f.Why, Verdict: f.Verdict(), Scope: f.After.Scope, Notes: f.Notes,
		Checked: f.Judged, Millis: f.Total.Milliseconds()}
	out.PTXOnly = f.PTXOnly
	if len(f.Edits) > 0 {
		var err error
		out.Source = f.Source.Kind.String()
		if out.Diff, err = edit.Diff(res.User, f.Edits); err != nil {
			return err
		}
	}
	for i := range f.Wrong {
		var b bytes.Buffer
		if err := diag.NewJSON(&b, c.opt.Files).Finding(&f.Wrong[i]); err != nil {
			return err
		}
		out.Findings = append(out.Findings, json.RawMessage(bytes.TrimSpace(b.Bytes())))
	}
	list := func(of []check.FixChange) (out []change) {
		for _, ch := range of {
			out = append(out, change{c.opt.Files.Format(ch.Span.Start), ch.Text})
		}
		return out
	}
	out.Changes, out.Redundant = list(f.Changes), list(f.Redundant)
	for _, alt := range f.Alternatives {
		out.Others = append(out.Others, list(alt))
	}
	return json.NewEncoder(c.stdout).Encode(out)
}

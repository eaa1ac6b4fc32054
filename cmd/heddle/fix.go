package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"heddle/internal/command/fix"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/repair/between"
)

// fixHelp is the long description in --help and docs/commands.md.
const fixHelp = `fix looks for data races and barrier divergence, as verify and run do, and repairs the kernel. It asks first for what
heddle sync finds: the cheapest placement of barriers with which the kernel is proved, except that it leaves existing
barriers where they are unless they diverge. If there is none, it changes the control flow where not all threads of a
block reach a place that needs a barrier, and inserts fences and wider scopes. What cannot be repaired is reported with
its reason, beside what can.

In a kernel with mbarriers, bulk copies or clusters it puts back what is missing: a proxy fence, the barrier behind an
initialization, a wait, an arrival, an announcement of bytes, the barrier of the cluster at the end, what frees tensor
memory and what that has to wait for; and it corrects the parity of a wait. Such a repair counts if the runs are clean
and heddle trace verifies it, or does not support it. In the patch it is a statement like others of the kernel, a call
of a function of the file, or an asm statement.

Races between blocks need more than barriers of a block. --allow names what may be done against them, and the first
that succeeds, in this order, is the patch; the others are listed. Each changes the host code of the file, too:
grid-sync places barriers of the grid and makes the launches cooperative, split divides the kernel into several
launches, double-buffer lets it read from a copy of the array that it overwrites. The patched file must be verified.
Without --allow, the reason names those that would do.

It prints a patch that git apply and patch -p1 accept; the patched source was compiled and checked again. A repair that
the source cannot express is in the repaired PTX only (--emit ptx). The report goes to standard error, the patch or text
to standard output or to the file given by -o.

Exit codes: 0 nothing to repair, or repaired; 1 a bug remains in the requested output; 2 usage or input error;
3 not checked.`

// fixCommand is heddle fix: one input file, whose kernels are repaired one after another. All
// repairs go into one patch.
type fixCommand struct {
	oneFile
	fix   fix.Options // of this command alone
	emit  string
	diff  bool
	allow []string
	only  []string
}

// newFix defines the command. Its --timeout is a time because users think in time; the default is a
// number of checks, so that a result does not depend on the speed of the machine.
func newFix(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	c := &fixCommand{oneFile: oneFile{stdin: stdin, stdout: stdout, stderr: stderr}}
	cmd := c.command(cobra.Command{
		Use:   "fix [flags] FILE|-",
		Short: "repair data races and barrier divergence",
		Long:  fixHelp,
	}, c.run)
	fs := cmd.Flags()
	fs.Lookup("output").Usage = "write the repaired source to `FILE`; with --emit, the requested form"
	fs.Lookup("format").Usage = "report as `FORMAT` text or json (one object per kernel on standard " +
		"output, with its patch; other output then needs -o)"
	fs.Var(newChoice(&c.emit, "", "diff", "source", "ptx"), "emit",
		"print the repair as `FORM` diff (the default for source and PTX), source (the complete file) "+
			"or ptx")
	fs.BoolVar(&c.diff, "diff", false, "the same as --emit diff")
	fs.StringSliceVar(&c.allow, "allow", nil, "also repair by `MEANS`, several separated by commas: "+
		"atomic (racing plain updates become atomic, which can change floating-point results), and for "+
		"races between blocks grid-sync, split or double-buffer")
	fs.StringArrayVar(&c.only, "only", nil, "repair only races with `CODE|LINE`, a code such as "+
		"race-shared or a line, by barriers; may be repeated")
	fs.BoolVar(&c.fix.Redundant, "redundant", false, "remove barriers that are proved redundant")
	fs.DurationVar(&c.fix.Budget, "timeout", 0,
		"end the repair of a kernel after `TIME`, such as 90s (default: a fixed number of checks)")
	return c.endFlags(cmd)
}

// run repairs the file and writes the results. Combinations of flags that contradict each other are
// rejected first. Without source text (binary input), only --emit ptx has something to print.
func (c *fixCommand) run(cmd *cobra.Command, input driver.Input) error {
	switch {
	case c.diff && c.emit != "" && c.emit != "diff":
		return inputError{fmt.Errorf("--diff and --emit %s cannot be combined", c.emit)}
	case c.write && c.emit == "ptx":
		return inputError{errors.New("-w rewrites the source in place and cannot be combined with " +
			"--emit ptx")}
	case c.diff:
		c.emit = "diff"
	}
	c.fix.Source = c.emit != "ptx"
	for _, word := range c.allow {
		m, ok := between.ParseMeans(word)
		switch {
		case ok:
			c.fix.Between = append(c.fix.Between, m)
		case word == "atomic":
			c.fix.Atomic = true
		default:
			return inputError{fmt.Errorf("--allow %q: expected atomic, grid-sync, split or double-buffer",
				word)}
		}
	}
	for _, word := range c.only {
		only, err := fix.ParseOnly(word)
		if err != nil {
			return inputError{fmt.Errorf("--only %w", err)}
		}
		c.fix.Only = append(c.fix.Only, only)
	}
	page, err := c.withPage(cmd.Context())
	if err != nil {
		return inputError{err}
	}
	mistakes := c.mistakes(page)
	opt := c.fix
	opt.Common, opt.Run, opt.Prove = c.opt.Options, c.opt.Run, c.opt.Prove
	res, err := fix.File(cmd.Context(), opt, input, func(d diag.Diagnostic) { mistakes.Finding(&d) })
	if err != nil {
		return inputError{err}
	}
	if c.fix.Source && res.User == nil && c.emit != "" && res.InputErrors == 0 {
		return inputError{fmt.Errorf("%s has no source text to patch; --emit ptx prints the repaired "+
			"PTX", input.Name)}
	}
	err = errors.Join(c.report(res, input.Name), page.addFix(res, input.Name, c.prints(input.Name)))
	if err != nil {
		return inputError{fmt.Errorf("writing the results: %w", err)}
	}
	return exitWith(fixExit(res))
}

// fixExit returns the exit code for all kernels of a file. A repair that exists only in the PTX
// leaves the bug in the source, so it counts as a bug unless PTX was requested, when PTXOnly is
// empty. An unrepaired kernel decides at once; errors in the input outrank kernels that were not
// checked.
func fixExit(res *fix.Result) int {
	code := exitClean
	for _, f := range res.Fixes {
		switch f.Status {
		case fix.NotRepaired, fix.PartlyRepaired:
			return exitBugs
		case fix.Repaired:
			if f.PTXOnly != "" {
				return exitBugs
			}
		case fix.NotChecked:
			code = exitUnknown
		}
	}
	if res.InputErrors > 0 {
		return exitUsage
	}
	return code
}

// report writes the results of all kernels, then the changed text: into the source file (-w), to
// the file of -o, or to standard output. With JSON, standard output belongs to the objects, which
// include the patch. If nothing changed, nothing is printed, so that `heddle fix f | git apply`
// does no harm.
func (c *fixCommand) report(res *fix.Result, name string) error {
	changed := false
	for i := range res.Fixes {
		f := &res.Fixes[i]
		changed = changed || f.Status == fix.Repaired || f.Status == fix.PartlyRepaired
		var err error
		if c.format == "json" {
			err = writeFixJSON(c.stdout, f, res)
		} else {
			err = c.text(f, res)
		}
		if err != nil {
			return err
		}
	}
	// Without source text, or with --emit ptx, the PTX is the result. The diff is the default for
	// standard output, the complete file the default for -o.
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
		return overwrite(name, res.Patched)
	case c.output != "":
		return os.WriteFile(c.output, text, 0o666)
	case c.format == "json" || !changed:
		return nil
	}
	if _, err := c.stdout.Write(text); err != nil {
		return err
	}
	if res.User != nil && string(text) == res.Diff {
		c.unchanged(name)
	}
	return nil
}

// text reports one kernel on standard error: the findings of the original, then the status, the
// changes and the reason. The text is collected first so that it appears in one piece.
func (c *fixCommand) text(f *fix.Kernel, res *fix.Result) error {
	p := c.mistakes(nil)
	for _, wrong := range f.Wrong {
		wrong.Help = nil                // what follows knows better
		if c.output == "" && !c.write { // the patch follows, once
			wrong.Fixes = nil
		}
		if err := p.Finding(&wrong); err != nil {
			return err
		}
	}
	if err := p.Close(); err != nil {
		return err
	}
	// Errors of the buffer cannot occur; the one of the final write is returned.
	w := &bytes.Buffer{}
	status := f.Status.String()
	if c.fix.Redundant && f.Status == fix.Repaired && len(f.Wrong) == 0 { // there was nothing to repair
		status = counted(len(f.Changes), "redundant barrier") + " removed"
	}
	fmt.Fprintf(w, "%s: kernel %s\n", status, f.Kernel)
	for _, ch := range f.Changes {
		fmt.Fprintf(w, "  %s: %s\n", c.opt.Files.Format(ch.Span.Start), ch.Text)
		for _, why := range ch.Why {
			fmt.Fprintf(w, "    %s\n", why)
		}
	}
	for _, alt := range f.Alternatives {
		fmt.Fprintf(w, "  alternative at the same cost:\n")
		for _, ch := range alt {
			fmt.Fprintf(w, "    %s: %s\n", c.opt.Files.Format(ch.Span.Start), ch.Text)
		}
	}
	switch f.Status {
	case fix.Repaired:
		fmt.Fprintf(w, "  why: %s\n", f.Why)
		switch {
		case f.PTXOnly != "":
			fmt.Fprintf(w, "  repaired in the PTX only (--emit ptx), because %s\n", f.PTXOnly)
		case len(f.Edits) > 0:
			fmt.Fprintf(w, "  the patched source was compiled and checked again: %s\n", f.Source.Kind)
		}
	case fix.PartlyRepaired:
		fmt.Fprintf(w, "  why: %s\n", f.Why)
		for _, r := range f.Remaining {
			fmt.Fprintf(w, "  not repaired: %s\n", r)
		}
	case fix.NotRepaired:
		fmt.Fprintf(w, "  no repair found: %s\n", f.Why)
	case fix.NotChecked:
		fmt.Fprintf(w, "  why: %s\n", f.Why)
	default:
		fmt.Fprintf(w, "  %s\n", f.After.Text())
	}
	c.between(w, f)
	for _, r := range f.Redundant {
		if f.Status == fix.Repaired && c.fix.Redundant {
			break // Changes has them
		}
		fmt.Fprintf(w, "  %s: warning: %s\n", c.opt.Files.Format(r.Span.Start), r.Text)
	}
	for _, n := range f.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
	_, err := w.WriteTo(c.stderr)
	return err
}

package ptxtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// Config selects how the files of a suite are run.
type Config struct {
	Seeds    []uint64 // of schedules; the findings of each run must be the expected ones
	MaxSteps uint64   // limit of warp instructions for each run; 0: defaultSteps
	Trace    bool     // verify by heddle trace instead of a run
}

// defaultSteps is far above the need of any test kernel, and ends a kernel that hangs within a
// second.
const defaultSteps = 20_000_000

// File runs a test kernel with each seed and returns the differences from its expectations. An
// error means that the file cannot be read or its expectations are malformed.
func File(ctx context.Context, path string, cfg Config) ([]string, error) {
	text, err := Source(path)
	if err != nil {
		return nil, err
	}
	var diffs []string
	for _, seed := range cfg.Seeds {
		exp, err := Parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		opt := check.Options{SkipProof: true, Run: run.Options{Seed: seed, Seeds: 1}}
		opt.MaxSteps, opt.Files, opt.Limit = cfg.MaxSteps, source.NewSet(), 1000
		if cfg.Trace {
			opt.Mode = check.Trace
		}
		if opt.MaxSteps == 0 {
			opt.MaxSteps = defaultSteps
		}
		if err := options(&opt.Options, &opt.Run.Seeds, exp.Options); err != nil {
			return nil, fmt.Errorf("%s: options: %w", path, err)
		}
		for _, d := range runOnce(ctx, path, opt, exp) {
			diffs = append(diffs, fmt.Sprintf("seed %d: %s", seed, d))
		}
		if opt.Run.Seeds != 1 {
			break // the file says how many, from the first on
		}
	}
	return diffs, nil
}

// options applies the flags of an options: comment. Flags that concern the launch are not allowed;
// the kernel has a heddle: comment for them.
func options(opt *driver.Options, seeds *int, args []string) error {
	fs := pflag.NewFlagSet("options", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	warp := fs.String("warp", "", "")
	benign := fs.String("benign", "", "")
	fs.Uint64Var(&opt.MaxSteps, "max-steps", opt.MaxSteps, "")
	fs.IntVar(seeds, "seeds", *seeds, "")
	fs.StringVar(&opt.Lower.OptLevel, "opt-level", "", "")
	fs.StringVar(&opt.Lower.Arch, "arch", "", "")
	boxes := fs.StringArray("tmap", nil, "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	for _, s := range *boxes {
		b, err := launch.ParseBox(s)
		if err != nil {
			return err
		}
		opt.Boxes = append(opt.Boxes, b)
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Args())
	}
	var err1, err2 error
	opt.Warp, err1 = event.ParseWarpModel(*warp)
	opt.Benign, err2 = event.ParseBenign(*benign)
	return errors.Join(err1, err2)
}

// runOnce runs a test kernel with one seed. Errors in the input are differences too.
func runOnce(ctx context.Context, path string, opt check.Options, exp *Expect) []string {
	var findings []Finding
	var diffs []string
	sum, err := check.Files(ctx, opt, []string{path}, func(d diag.Diagnostic) {
		switch {
		case d.Kernel != "" && (d.Severity == diag.Error ||
			d.Severity == diag.Warning && d.Code.Family() == diag.Bugs):
			findings = append(findings, finding(opt.Files, path, d))
		case d.Severity == diag.Error:
			diffs = append(diffs, fmt.Sprintf("input error: %s: %s %v", opt.Files.Format(d.Span.Start),
				d.Message, d.Notes))
		}
	})
	if err != nil {
		return append(diffs, err.Error())
	}
	if len(sum.Verdicts) == 0 {
		diffs = append(diffs, "no kernel was checked")
	}
	for _, v := range sum.Verdicts {
		if v.Kind != exp.Verdict {
			diffs = append(diffs, fmt.Sprintf("kernel %s: verdict %v (%s), expected %v", v.Kernel, v.Kind,
				v.Reason, exp.Verdict))
		}
		for _, w := range exp.Stops {
			if line := lineIn(opt.Files, path, v.Span.Start); line != w.Line || !w.Rx.MatchString(v.Reason) {
				diffs = append(diffs, fmt.Sprintf("line %d: unsupported %q, expected on line %d matching %v",
					line, v.Reason, w.Line, w.Rx))
			}
		}
	}
	return append(diffs, exp.Match(findings)...)
}

// lineIn returns the line of a place in the test file, and 0 for places in other files, which
// cannot have a want.
func lineIn(files *source.Set, path string, p source.Pos) int {
	if file := files.File(p.File()); file != nil && file.Name == path {
		return p.Line()
	}
	return 0
}

// finding reduces a diagnostic to its lines in the test file.
func finding(files *source.Set, path string, d diag.Diagnostic) Finding {
	f := Finding{Code: d.Code, Message: summary(&d), Warning: d.Severity == diag.Warning}
	add := func(p source.Pos) {
		line := lineIn(files, path, p)
		if !slices.Contains(f.Lines, line) {
			f.Lines = append(f.Lines, line)
		}
	}
	add(d.Span.Start)
	for _, r := range d.Related {
		if !r.Unreached {
			add(r.Span.Start)
		}
	}
	return f
}

// summary returns the message of a finding, for a race with the kinds of its accesses and how far
// apart the threads are: "read-write intra-warp: data race on shared s[3]: ...". An order of the
// schedule is not in it.
func summary(d *diag.Diagnostic) string {
	w := d.Witness
	if w == nil || w.Second.Op == "" {
		return d.Message
	}
	atomics, writes := 0, 0
	for _, kind := range []string{w.First.Kind, w.Second.Kind} {
		switch kind {
		case "atomic", "reduction":
			atomics++
		case "write":
			writes++
		}
	}
	kinds := "read-write"
	switch {
	case atomics == 2:
		kinds = "atomic-atomic"
	case atomics == 1:
		kinds = "atomic-plain"
	case writes == 2:
		kinds = "write-write"
	}
	benign := ""
	if strings.HasPrefix(d.Message, "benign ") {
		benign = "benign "
	}
	return benign + kinds + " " + w.Level + ": " + d.Message
}

package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/launch"
	"heddle/internal/source"
)

// driver is the state of one Run.
type driver struct {
	opt         Options
	files       *source.Set
	sum         *Summary
	sink        func(diag.Diagnostic)
	kernelsSeen []string
	kernelsRun  int
}

// Run checks every kernel of files that opt selects, and sends each finding to sink as soon as it is
// known. Mistakes in the input are findings too, counted by Summary.InputErrors; the error is for what
// stops the whole run. When ctx is cancelled, what was found so far has been sent, and the kernels that
// were not finished have an Unknown verdict.
func Run(ctx context.Context, opt Options, files []string, sink func(diag.Diagnostic)) (*Summary, error) {
	if opt.Files == nil {
		opt.Files = source.NewSet()
	}
	if opt.Limit == 0 {
		opt.Limit = DefaultLimit
	}
	opt.Seeds = max(opt.Seeds, 1)
	d := &driver{opt: opt, files: opt.Files, sum: &Summary{Files: opt.Files}, sink: sink}
	if err := d.checkModels(); err != nil {
		return nil, err
	}
	for _, name := range files {
		if in := d.load(ctx, name); in != nil {
			d.checkFile(ctx, in)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if d.kernelsRun == 0 && d.sum.InputErrors == 0 {
		d.noKernel(files)
	}
	return d.sum, nil
}

func (d *driver) checkFile(ctx context.Context, in *input) {
	for _, f := range defined(in) {
		d.kernelsSeen = append(d.kernelsSeen, launch.BaseName(f.Demangled))
	}
	if in.facts != nil {
		for _, e := range in.facts.Unmatched(defined(in)) {
			d.inputError(launchDiagnostic("", e))
		}
	}
	for _, k := range d.kernels(in) {
		d.kernelsRun++
		if d.opt.Trace != nil {
			d.traceKernel(ctx, in, k)
		} else {
			d.checkKernel(ctx, in, k)
		}
	}
}

// noKernel says that nothing was checked, and what there is.
func (d *driver) noKernel(files []string) {
	g := diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error}
	switch {
	case len(d.kernelsSeen) == 0:
		g.Message = fmt.Sprintf("no kernel in %s", strings.Join(files, ", "))
	default:
		slices.Sort(d.kernelsSeen)
		g.Message = fmt.Sprintf("no kernel %q", d.opt.Kernel)
		g.Help = []string{"the kernels are: " + strings.Join(slices.Compact(d.kernelsSeen), ", ")}
	}
	d.inputError(g)
}

// report sends one finding, with the text of the files that it names.
func (d *driver) report(g diag.Diagnostic) {
	d.needText(g.Span)
	for _, f := range g.Stack {
		d.needText(source.Span{Start: f.Pos})
	}
	for _, r := range g.Related {
		d.needText(r.Span)
		for _, f := range r.Stack {
			d.needText(source.Span{Start: f.Pos})
		}
	}
	d.sink(g)
}

func (d *driver) needText(s source.Span) {
	if f := d.files.File(s.Start.File()); f != nil && f.Content == nil {
		d.addSource(f.Name)
	}
}

func (d *driver) inputError(g diag.Diagnostic) {
	d.sum.InputErrors++
	d.report(g)
}

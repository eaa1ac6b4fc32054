package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/source"
	"heddle/internal/suppress"
)

// driver is the state of one Run.
type driver struct {
	opt         Options
	files       *source.Set
	sum         *Summary
	sink        func(diag.Diagnostic)
	kernelsSeen []string
	kernelsRun  int
	several     bool // the current file has more than one kernel, or module
	inputName   string
	ignored     *suppress.Set
	formErr     error    // of writing to FormTo
	solving     *solving // for proofs
	counts      *counts
	decisions   *Decisions      // of the kernel that is examined; nil: nobody asks
	before      <-chan struct{} // closed when the kernels before this one are done; nil: there are none
}

func newDriver(opt Options, sink func(diag.Diagnostic)) *driver {
	return &driver{opt: opt, files: opt.Files, sum: &Summary{Files: opt.Files}, sink: sink, ignored: suppress.NewSet(), counts: &counts{}}
}

// openDriver is a driver for what opt asks, with its defaults filled in. Its solving has to be closed.
func openDriver(opt Options, sink func(diag.Diagnostic)) (*driver, error) {
	if opt.Files == nil {
		opt.Files = source.NewSet()
	}
	if opt.Limit == 0 {
		opt.Limit = DefaultLimit
	}
	opt.Seeds = max(opt.Seeds, 1)
	d := newDriver(opt, sink)
	if err := d.checkModels(); err != nil {
		return nil, err
	}
	var err error
	d.solving, err = newSolving(&d.opt)
	return d, err
}

// Run checks every kernel of files that opt selects, and sends each finding to sink as soon as it is
// known. Mistakes in the input are findings too, counted by Summary.InputErrors; the error is for what
// stops the whole run. When ctx is cancelled, what was found so far has been sent, and the kernels that
// were not finished have an Unknown verdict.
func Run(ctx context.Context, opt Options, files []string, sink func(diag.Diagnostic)) (*Summary, error) {
	inputs := make([]Input, len(files))
	for i, name := range files {
		inputs[i].Name = name
	}
	return RunInputs(ctx, opt, inputs, sink)
}

// RunInputs is Run for inputs of which more is known than the name of a file.
func RunInputs(ctx context.Context, opt Options, inputs []Input, sink func(diag.Diagnostic)) (*Summary, error) {
	d, err := openDriver(opt, sink)
	if err != nil {
		return nil, err
	}
	defer d.solving.close()
	d.counts.files = len(inputs)
	for i, file := range inputs {
		d.counts.filesDone = i
		d.inputName = file.Name
		from := len(d.sum.Verdicts)
		results := d.lower(ctx, file)
		for _, low := range results {
			if d.passesOver(low) {
				continue
			}
			in := d.parse(file, low)
			if in == nil {
				continue
			}
			d.several = len(results) > 1 || len(defined(in)) > 1
			d.checkFile(ctx, in)
			if ctx.Err() != nil {
				break
			}
		}
		for i := range d.sum.Verdicts[from:] {
			d.sum.Verdicts[from+i].Input = file.Name
		}
		if ctx.Err() != nil {
			break
		}
	}
	if d.formErr != nil {
		return nil, fmt.Errorf("writing the forms: %w", d.formErr)
	}
	d.inputName = ""
	for _, g := range d.ignored.Unused() {
		d.report(g)
	}
	if d.kernelsRun == 0 && d.sum.InputErrors == 0 {
		d.noKernel(inputs)
	}
	return d.sum, d.solving.failure
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
	d.readComments(in)
	for _, k := range defined(in) {
		if d.opt.Kernel != "" && !launch.Matches(k, d.opt.Kernel) {
			d.checked(in, k, nil)
		}
	}
	kernels := d.kernels(in)
	d.kernelsRun += len(kernels)
	if d.opt.Form != "" {
		for _, k := range kernels {
			d.printForm(k)
		}
		return
	}
	d.counts.kernels.Add(int64(len(kernels)))
	d.each(kernels, func(d *driver, k *ir.Func) { d.examined(in, k, func(d *driver) { d.examine(ctx, in, k) }) })
}

// examine has the engines that the options and the configuration name examine one kernel.
func (d *driver) examine(ctx context.Context, in *input, k *ir.Func) {
	one := d.with(in, k)
	if one == nil {
		return
	}
	switch {
	case one.opt.Prove:
		one.proveKernel(ctx, in, k)
	case one.opt.Trace != nil:
		one.traceKernel(ctx, in, k)
	default:
		one.checkKernel(ctx, in, k)
	}
}

// with returns the driver as a configuration wants it for one kernel; nil if the kernel is not to be checked.
func (d *driver) with(in *input, k *ir.Func) *driver {
	if d.opt.Settings == nil {
		return d
	}
	s := d.opt.Settings(in.name, k)
	if s.Skip != "" {
		d.sum.Skipped++
		d.report(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Note, Span: s.Span, Kernel: k.Demangled,
			Message: fmt.Sprintf("kernel %s is skipped: %s", k.Demangled, s.Skip)})
		return nil
	}
	one := *d
	one.opt.Launch.Config = s.Launch
	if s.Timeout > 0 && d.opt.Timeout == 0 {
		one.opt.Timeout = s.Timeout
	}
	if d.opt.Command == "check" {
		one.opt.ThenProve = one.opt.ThenProve && s.Engine != "run"
		switch s.Engine {
		case "verify":
			one.opt.Prove = true
		case "trace":
			one.opt.Trace = &Trace{}
		}
	}
	return &one
}

// noKernel says that nothing was checked, and what there is.
func (d *driver) noKernel(inputs []Input) {
	g := diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Error}
	switch {
	case len(d.kernelsSeen) == 0:
		g.Message = fmt.Sprintf("no kernel in %s", listed(inputs))
	default:
		slices.Sort(d.kernelsSeen)
		g.Message = fmt.Sprintf("no kernel %q", d.opt.Kernel)
		names, more := slices.Compact(d.kernelsSeen), ""
		if n := len(names) - mostNames; n > 0 {
			names, more = names[:mostNames], fmt.Sprintf(" and %d more", n)
		}
		g.Help = []string{"the kernels are: " + strings.Join(names, ", ") + more}
	}
	d.inputError(g)
}

// mostNames bounds a list of kernels: libraries have thousands.
const mostNames = 40

// listed names the first few inputs.
func listed(inputs []Input) string {
	const most = 5
	var names []string
	for _, in := range inputs[:min(len(inputs), most)] {
		names = append(names, in.Name)
	}
	s := strings.Join(names, ", ")
	if n := len(inputs) - most; n > 0 {
		s += fmt.Sprintf(" and %d more files", n)
	}
	return s
}

// report sends one finding, with the text of the files that it names.
func (d *driver) report(g diag.Diagnostic) {
	d.turn()
	if g.Input = d.inputName; g.Input == "" {
		if f := d.files.File(g.Span.Start.File()); f != nil {
			g.Input = f.Name
		}
	}
	d.readTexts(&g)
	d.sink(g)
}

// readTexts reads the files that a finding names.
func (d *driver) readTexts(g *diag.Diagnostic) {
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

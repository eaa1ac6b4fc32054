// Package driver is the part that all engines and commands share. It depends on none of them.
//
// It turns input files into modules (lowering, parsing, launch pragmas), selects the kernels, and
// hands each one to its caller as a Job, several at a time. A Job resolves the launch of its kernel
// and receives the engine's findings, verdicts, progress and decisions. The driver sends findings
// in the order of the kernels, applies heddle:ignore comments and known findings, and adds the jobs
// up in a Summary.
//
// Any engine and command may import it. It imports neither; which engine examines a job is the
// decision of its caller, package check or a command.
package driver

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"heddle/internal/diag"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/suppress"
)

// DefaultLimit is the number of findings printed for each kernel when Options.Limit is 0.
const DefaultLimit = 20

// Stdin is what messages call the standard input.
const Stdin = "<stdin>"

// Options are the choices that all engines share.
type Options struct {
	Kernel string          // mangled or demangled name or its part before '('; empty: all
	Launch launch.Request  // from the flags
	Warp   event.WarpModel // how the lanes of a warp are ordered
	Benign event.Benign    // which conflicting writes of one value are tolerated
	Boxes  []launch.Box    // sizes of the boxes of tensor maps, from the flags
	// FenceOfWriter: a proxy fence counts only if the thread of the access has executed it.
	// IgnoreProxyReads: a generic read needs no proxy fence before an asynchronous write.
	FenceOfWriter, IgnoreProxyReads bool
	// StrictScopes takes operations on mbarriers without a written scope at the scope of the block,
	// also on objects that other blocks of the cluster use.
	StrictScopes bool
	MaxSteps     uint64 // warp instructions for each run; 0: the engine's own limit
	Memory       uint64 // bytes for each run; 0: the emulator's default
	// Workers is how many kernels are examined at a time, 0: one for each core. If a file has fewer
	// kernels, several goroutines emulate independent blocks of each.
	Workers  int
	Limit    int // findings printed per kernel; 0: DefaultLimit
	Lower    lower.Options
	Command  string      // for the reproduce line; empty: "check"
	Database string      // what -p named: for the reproduce line
	Files    *source.Set // that the positions of findings refer to; nil: a new one

	Progress  func(Progress)  // called from several goroutines; may be nil
	Decisions func(Decisions) // receives what was decided for each kernel, in order; may be nil

	// Verdict receives each verdict as soon as the verdicts on all earlier kernels are known; may be
	// nil. Only one goroutine at a time calls it, as the sink of findings.
	Verdict func(*diag.Verdict)

	// MayRead reports whether a file may be read that the text of an input names: a header for host
	// code, the file of an argument in a comment, or the file of a position, which #line can choose.
	// nil: any.
	MayRead func(path string) bool

	// Given has the files that may be read, by name; there are no others. nil: those of the file
	// system.
	Given map[string][]byte

	// Settings returns the settings of a configuration for a kernel of an input; nil: there is no
	// configuration.
	Settings func(input string, k *ir.Func) Setting

	// Saved returns the launches that a program has made of a kernel of an input, which take the
	// place of all that is known of its launch; nil: there are none. The field may be nil.
	Saved func(input string, k *ir.Func) []*launch.Saved

	// Known reports whether a finding is in a baseline. A known finding is counted and not sent. nil:
	// there is no baseline.
	Known func(*diag.Diagnostic) bool
}

// Engine names one of the engines.
type Engine uint8

// The engines. A configuration may leave the choice to the command.
const (
	AnyEngine Engine = iota
	Emulation
	Trace
	Proof
)

var engineNames = [...]string{"", "emulation", "trace", "proof"}

// String names the engine in progress and decisions.
func (e Engine) String() string { return engineNames[e] }

// Setting is the part of a configuration for one kernel. Flags take precedence over it.
type Setting struct {
	Launch  []launch.Setting
	Engine  Engine        // the one to ask; AnyEngine: unspecified
	Timeout time.Duration // for the proof; 0: unspecified
	Skip    string        // the reason for skipping the kernel; empty: it is checked
	Span    source.Span   // of the table that skips it
}

// Input is one input of a run.
type Input struct {
	lower.Input
	Found bool // in a directory that the user named: a file without kernels is not a mistake
}

// Driver is the state of one run over some inputs. Only one goroutine at a time changes it:
// jobs wait for their turn.
type Driver struct {
	opt       Options
	sum       Summary
	sink      func(diag.Diagnostic)
	seen      []string // base names of all kernels, selected or not
	examined  int      // kernels that were selected
	inputName string   // of the current file
	ignored   *suppress.Set
	counts    counts
	cached    cached
}

// New returns a driver that sends findings to sink, with the defaults of opt filled in.
func New(opt Options, sink func(diag.Diagnostic)) *Driver {
	if opt.Files == nil {
		opt.Files = source.NewSet()
	}
	if opt.Limit == 0 {
		opt.Limit = DefaultLimit
	}
	return &Driver{opt: opt, sink: sink, ignored: suppress.NewSet()}
}

// Options are those of the run, with their defaults filled in.
func (d *Driver) Options() *Options { return &d.opt }

// Files are those that positions refer to.
func (d *Driver) Files() *source.Set { return d.opt.Files }

// Summary is what the run has produced so far.
func (d *Driver) Summary() *Summary { return &d.sum }

// Run calls examine for every selected kernel of the inputs, for several kernels of a module at a
// time. Mistakes in the input are sent as findings and counted by Summary.InputErrors. If ctx ends,
// everything found so far has been sent when Run returns, and whatever was not examined has an
// Unknown verdict with the cause (Stopped).
func (d *Driver) Run(ctx context.Context, inputs []Input, examine func(context.Context, *Job)) {
	if err := lower.CheckCache(d.opt.Lower); err != nil {
		d.report(diag.Diagnostic{Code: diag.CodeInput, Severity: diag.Warning,
			Message: "results are not cached: " + err.Error()})
		d.opt.Lower.NoCache = true
	}
	d.counts.files = len(inputs)
	ahead := d.compileAhead(ctx, inputs)
	for i, file := range inputs {
		d.counts.filesDone = i
		d.Open(file.Name)
		if why := Stopped(ctx); why != "" {
			d.unread(why)
			continue
		}
		d.runFile(ctx, file, ahead.take(i), examine)
	}
	ahead.end()
	d.inputName = "" // the following findings do not belong to a single input
	d.noteRepeats()
	for _, g := range d.ignored.Unused() {
		d.report(g)
	}
	d.End(inputs)
}

// runFile examines the kernels of one file, module by module: a binary has many.
func (d *Driver) runFile(ctx context.Context, file Input, c compiled,
	examine func(context.Context, *Job)) {
	results := d.lowered(ctx, file, c)
	for _, low := range results {
		if d.skipsModule(low) {
			continue
		}
		// A binary may have hundreds of modules, whose kernels are known without parsing them.
		if why := Stopped(ctx); why != "" && low.Lang == lower.Binary {
			d.unparsed(low, why)
			continue
		}
		m := d.Parse(file, low)
		if m == nil {
			continue
		}
		m.Several = m.Several || len(results) > 1
		if !d.repeats(file, m) {
			d.runModule(ctx, m, examine)
		}
	}
}

// runModule examines the selected kernels of one module. The others are reported as not examined,
// so that a heddle:ignore comment in them is not called unused.
func (d *Driver) runModule(ctx context.Context, m *Module, examine func(context.Context, *Job)) {
	d.See(m)
	if m.Facts != nil {
		for _, e := range m.Facts.Unmatched(append(m.Kernels(), m.omitted()...)) {
			d.InputError(launchDiagnostic("", e))
		}
	}
	d.ReadComments(m)
	apart := 0
	for _, k := range m.Kernels() {
		if !d.selected(m, k) {
			d.Job(m, k).Checked(nil)
			if !empty(k) { // cub.cuh has such a kernel, for queries
				apart++
			}
		}
	}
	d.noteApart(m, apart)
	kernels := d.Select(m)
	d.Examine(len(kernels))
	d.counts.kernels.Add(int64(len(kernels)))
	d.each(m, kernels, func(job *Job) {
		if job.configure() {
			job.examine(ctx, examine)
		}
	})
}

// Open sets the name of the input to which findings belong from now on.
func (d *Driver) Open(name string) { d.inputName = name }

// See records the kernels of a module, selected or not, for the message that no kernel matches.
func (d *Driver) See(m *Module) {
	for _, f := range m.Kernels() {
		d.seen = append(d.seen, launch.BaseName(f.Demangled))
	}
}

// Select returns the kernels of a module that the user selected: all but those of libraries, or
// those that the name matches.
func (d *Driver) Select(m *Module) []*ir.Func {
	var out []*ir.Func
	for _, f := range m.Kernels() {
		if d.selected(m, f) {
			out = append(out, f)
		}
	}
	return out
}

// selected reports whether a kernel is examined. The launches of a kernel of a library follow from
// the arguments by the library's own host code, so that a guess would show nothing: it is examined
// by name, or for launches that a program has made.
func (d *Driver) selected(m *Module, k *ir.Func) bool {
	switch {
	case d.opt.Kernel != "":
		return launch.Matches(k, d.opt.Kernel)
	case !FromLibrary(k):
		return true
	}
	return d.opt.Saved != nil && len(d.opt.Saved(m.Name, k)) > 0
}

// empty reports whether a kernel does nothing.
func empty(k *ir.Func) bool {
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if !in.Leaves() {
				return false
			}
		}
	}
	return true
}

// noteApart reports that kernels of libraries are not examined, if no name says which are.
func (d *Driver) noteApart(m *Module, n int) {
	if n == 0 || d.opt.Kernel != "" {
		return
	}
	kernels, are, launches, them := "kernels", "are", "their launches", "them"
	if n == 1 {
		kernels, are, launches, them = "kernel", "is", "its launches", "it"
	}
	d.report(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Note, Input: m.Name,
		Message: fmt.Sprintf("%s: %d %s of a library (CUB, Thrust) %s not examined, because the library "+
			"decides %s; heddle exec watches %s in the program, --kernel NAME selects one", m.Name, n,
			kernels, are, launches, them)})
}

// Examine counts kernels that are examined.
func (d *Driver) Examine(kernels int) { d.examined += kernels }

// End reports an error if no kernel was examined, unless another mistake in the input or the end of
// the run explains it.
func (d *Driver) End(inputs []Input) {
	if d.examined == 0 && d.sum.InputErrors == 0 && d.sum.Unread == 0 {
		d.noKernel(inputs)
	}
}

// counts say how far a run is; jobs that run side by side share them.
type counts struct {
	kernels, kernelsDone atomic.Int64 // of the files that were read so far
	files, filesDone     int
}

// Package exhaustive decides a kernel for one small launch by all executions of the PTX memory
// model (package explore): verified, or a bug with an execution that shows it. The launch is the
// user's, or the smallest that exercises what synchronizes the kernel (shrink.go).
//
// In flow a driver.Job and Options; out flow the report and a verdict. Unlike a proof it covers no
// other launch, and unlike a run it covers every order of events.
package exhaustive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/explore/kernel"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// Options are the choices of this engine.
type Options struct {
	explore.Options
	// AutoGrid and AutoBlock let heddle choose that part of the launch.
	AutoGrid, AutoBlock bool
	// MinBlocks is the number of blocks that a chosen grid has at least.
	MinBlocks int
	// Place names the place of an instruction; nil: as in the user's source.
	Place   func(*ir.Instr) string
	Visit   func(*explore.Execution) // sees each execution; may be nil
	Restart func()                   // what it has seen is void; may be nil
}

// Result is what the executions of a kernel show for a launch.
type Result struct {
	Config *launch.Config  // nil: no launch was examined
	Report *explore.Report // nil: not examined
	Choice *Choice         // nil: the launch is the user's
	// Err is why there is no report: the kernel or the launch is not supported, or no launch is
	// usable. At is the instruction, if it is about one.
	Err error
	At  *ir.Instr
	// Missing are the instructions that synchronize and that no execution of a chosen launch executes.
	Missing []*ir.Instr
	// Unmet are the instructions that share memory with other threads, or other blocks, in the launch
	// of the program and in none that was tried.
	Unmet []*ir.Instr
	// Partial says of a chosen launch that others cover something that it does not.
	Partial bool
}

// examiner examines one kernel.
type examiner struct {
	job *driver.Job
	fn  *ir.Func // without calls
	opt *Options
}

// Kernel explores a kernel. The error is that of the context, if it was cancelled; what its deadline
// ends is a result.
func Kernel(ctx context.Context, job *driver.Job, opt *Options) (*Result, error) {
	fn, err := ir.Inline(job.Kernel)
	if err != nil {
		return &Result{Err: err}, nil
	}
	with := *opt
	with.AnyOrder = opt.Visit == nil // who sees the executions may ask for final values
	x := &examiner{job: job, fn: fn, opt: &with}
	if !opt.AutoGrid && !opt.AutoBlock {
		cfg := job.Resolve()
		if cfg == nil {
			return &Result{Err: errUnknownLaunch}, nil
		}
		res := &Result{Config: cfg}
		p := x.program(res)
		if p == nil {
			return res, nil
		}
		_, err := x.explore(ctx, res, p, opt.Options, false)
		return res, err
	}
	res, err := x.shrink(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return &Result{Choice: &Choice{}, Err: errors.New("the time ended before a launch was chosen " +
			"(--timeout)")}, nil
	}
	return res, err
}

// Replay returns the execution of a kernel that a recording describes, for a launch of this grid and
// block. The error says why there is none, or is that of the context.
func Replay(ctx context.Context, job *driver.Job, opt *Options, grid, block *event.Dim3,
	rec *explore.Recording) (*explore.Execution, error) {
	fn, err := ir.Inline(job.Kernel)
	if err != nil {
		return nil, err
	}
	if grid != nil {
		job.Launch.Grid, job.Launch.Block = grid, block
	}
	x := &examiner{job: job, fn: fn, opt: opt}
	res := &Result{Config: job.Resolve()}
	if res.Config == nil {
		return nil, errUnknownLaunch
	}
	p := x.program(res)
	if p == nil {
		return nil, res.Err
	}
	return explore.Replay(ctx, p, opt.Options, rec)
}

// errUnknownLaunch is why there is no result.
var errUnknownLaunch = errors.New("its launch is unknown")

// program returns the program of the launch of a result; nil with the reason in the result if there
// is none.
func (x *examiner) program(res *Result) *explore.Program {
	place := x.opt.Place
	if place == nil {
		place = func(in *ir.Instr) string { return x.job.Format(driver.Place(in).Start) }
	}
	p, err := kernel.Inlined(x.fn, res.Config, place)
	if err != nil {
		res.refuse(err)
		return nil
	}
	if meant := x.meant(); meant != nil {
		p.OneWarp = meant.Geometry.Blocks()*uint64(meant.Geometry.WarpsPerBlock()) == 1
	}
	return p
}

// explore explores the launch of a result, and returns what it covers; meetings only if it draws.
func (x *examiner) explore(ctx context.Context, res *Result, p *explore.Program,
	opt explore.Options, draws bool) (coverage, error) {
	cov := coverage{}
	opt.Restart = func() {
		clear(cov)
		if x.opt.Restart != nil && !draws {
			x.opt.Restart()
		}
	}
	rep, err := explore.Survey(ctx, p, opt, func(e *explore.Execution) {
		cov.ran(p, e)
		switch {
		case draws:
			cov.met(e)
		case x.opt.Visit != nil:
			x.opt.Visit(e)
		}
	})
	if errors.Is(err, context.DeadlineExceeded) && !draws {
		err = nil // rep says that it was stopped
	}
	if err = res.refuse(err); err != nil || res.Err != nil {
		return nil, err
	}
	res.Report = rep
	return cov, nil
}

// refuse turns an error about the kernel into the reason of a result, and returns any other.
func (r *Result) refuse(err error) error {
	var refused *kernel.UnsupportedError
	var limit *explore.LimitError
	switch {
	case errors.As(err, &refused):
		r.Err, r.At = err, refused.Instr
	case errors.As(err, &limit):
		r.Err = err
	default:
		return err
	}
	return nil
}

// Verdict returns the verdict of a result, with the reason unless it is verified or a bug.
func (r *Result) Verdict() (kind diag.VerdictKind, reason string) {
	rep := r.Report
	switch {
	case r.Err != nil && r.Choice != nil:
		return diag.Unknown, r.Err.Error()
	case r.Err != nil:
		return diag.Unsupported, r.Err.Error()
	case len(rep.Races) > 0 || len(rep.Unordered) > 0 || rep.Hang != nil,
		len(rep.Faults) > 0 && len(r.Guessed()) == 0:
		return diag.Bug, ""
	case len(rep.Faults) > 0:
		return diag.Unknown, fmt.Sprintf("%s %s, with arguments that heddle guessed: %s (--arg)",
			rep.Faults[0].Describe(), rep.Faults[0].What, strings.Join(r.Guessed(), ", "))
	case rep.Stats.Truncated > 0:
		return diag.Unknown, "loops need a larger --unroll"
	case rep.Stats.Stopped:
		return diag.Unknown, "not all executions were explored"
	case len(r.Missing) > 0:
		return diag.Unknown, r.missing()
	case len(r.Unmet) > 0:
		return diag.Unknown, r.unmet()
	case r.Partial:
		return diag.Unknown, fmt.Sprintf("no launch of at most %d threads covers what several cover", maxAuto)
	}
	return diag.Verified, ""
}

// Guessed returns the names of the arguments that nothing specifies.
func (r *Result) Guessed() (names []string) {
	for i := range r.Config.Args {
		if name := r.Config.Args[i].Name; r.Config.Origins["arg "+name].Guessed() {
			names = append(names, name)
		}
	}
	return names
}

// unmet says what no launch shows.
func (r *Result) unmet() string {
	in := r.Unmet[0]
	more := ""
	if n := len(r.Unmet) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more instructions", n)
	}
	return fmt.Sprintf("%s%s shares memory with other threads in the launch of the program (%s), and not "+
		"so in a launch of at most %d threads", in.Text(), more, r.Choice.Named, maxAuto)
}

// missing says what no launch executed.
func (r *Result) missing() string {
	var names []string
	for _, in := range r.Missing {
		names = append(names, in.Text())
	}
	more := ""
	if n := len(names) - 3; n > 0 {
		names, more = names[:3], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("no launch of at most %d threads executes %s%s", maxAuto,
		strings.Join(names, ", "), more)
}

// Scope says what a verdict covers: the bound of the exploration.
func (r *Result) Scope() string {
	all := "all"
	if r.Report.Stats.Truncated > 0 || r.Report.Stats.Stopped {
		all = "some"
	}
	return fmt.Sprintf("%s, %s executions of the PTX memory model", r.Launch(), all)
}

// Launch names the size of the launch.
func (r *Result) Launch() string {
	g := r.Config.Geometry
	return counted(g.Blocks(), "block") + " of " + counted(uint64(g.ThreadsPerBlock()), "thread")
}

// counted returns a number with its unit.
func counted(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

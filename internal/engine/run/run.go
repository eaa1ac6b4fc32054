// Package run is the dynamic engine: it executes a kernel in the emulator for one launch, has the
// race detector watch, and turns what it reports into findings and a verdict.
//
// In flow a driver.Job, a resolved launch and Options; out flow diagnostics (to the job), counts of
// bugs, and a verdict that is never better than "clean": a run shows what happens in one schedule
// for one input. It misses races that need other inputs, another launch or a path not taken.
// Findings that depend on launch values that heddle guessed are identified by runs with other
// guesses (guesses.go). Hunt searches for launches that expose a bug (hunt.go).
//
// Package prove uses a Run to replay its counterexamples, package trace to report what a trace
// finds, and the commands use Watch. It imports the driver and no other engine.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"heddle/internal/depend"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/race"
	"heddle/internal/source"
)

// Options are the choices of this engine.
type Options struct {
	Seed uint64 // of the first schedule
	// Seeds is how many schedules are run, with consecutive seeds. 0: one, or SyncSeeds for a kernel
	// that synchronizes through memory, in which schedules differ in what is ordered.
	Seeds  int
	Printf io.Writer // output of the kernel's printf; nil: discarded
}

// Run is the examination of one kernel under one launch, over several schedules. The other exported
// fields are set before the first schedule, up to Guess, or read after the last one.
type Run struct {
	Job     *driver.Job
	Config  *launch.Config
	Machine *emu.Machine

	Command  string   // of the reproduce line; empty: that of the job
	MaxSteps uint64   // of one schedule; 0: that of the driver's options, or a default
	Blocks   []uint32 // the only blocks to run; nil: all

	Seen   map[Key]bool         // findings of earlier runs, which are not reported again
	Counts func(diag.Code) bool // which findings count; nil: all
	// Mark and Word add what the caller knows of a finding or race to its diagnostic; may be nil.
	Mark  func(*diag.Diagnostic)
	Word  func(*race.Race, *diag.Diagnostic)
	Guess *Guesses // nil: findings are not examined for guesses

	Aside     driver.Aside // findings that do not count
	Bugs      int          // findings
	Guessed   int          // findings that depend on guesses
	Warnings  int          // findings that leave the verdict as it is
	Repeated  int          // findings that Seen has
	Runs      int          // schedules that were executed
	Tolerated uint64       // equal writes that the options tolerate
	// WithoutFence counts reads without a proxy fence that the options ignore.
	WithoutFence uint64
	Unsupported  *diag.Verdict // why a run ended early, if that is a limit of heddle

	opt          *Options
	line         *string                      // the complete reproduce line; nil: it is made from Command and Config
	protocol     *protocols                   // of the machine; nil before its first use
	causes       []cause                      // of the races that were found, for alike
	facts        *depend.Kernel               // without Guess; nil until a report asks for it
	around       *loops                       // of the kernel; nil until a report asks for them
	moments      []moment                     // loop counters at the races of the last run
	repeat       func()                       // repeats it for them; nil: that was done, or cannot be
	apart        []string                     // what the verdict does not cover, because of warnings
	met          bool                         // threads met at different barriers of the source
	hidden       int                          // findings beyond the limit
	inconclusive string                       // why a run did not cover the launch; empty if all did
	unchecked    string                       // the same, because of a finding that is set aside
	limited      bool                         // a run ended at its limit of steps
	done         uint64                       // blocks that had ended by then
	large        bool                         // a run ended at a limit although some blocks had ended
	assumptions  *diag.Verdict                // a run was outside the kernel's assumptions
	cut          bool                         // a finding ended a run early
	products     map[*source.Frame]event.Site // by place: product
	before       *Earlier                     // the launch before a dependent one, if it is known
	objects      *race.Objects                // of the machine; nil before the first run
	parts        bool                         // some barrier or fence orders part of memory
	// depends is set by each schedule, for which it carries the context; nil before the first.
	depends func(Key, *race.Race, *diag.Diagnostic) bool
	// of grids that threads launch: what examines those of the last run, the findings in them, by
	// kernel, and why one was not covered
	grids      *grids
	below      map[*ir.Func]*Run
	gridReason string
}

// Key identifies a finding within one machine, whose sites it names: runs with equal keys report
// the same bug, which is printed once.
type Key struct {
	code diag.Code
	a, b event.Site
}

// New returns a run of the job's kernel that has no machine yet.
func New(job *driver.Job, opt *Options, cfg *launch.Config) *Run {
	return &Run{Job: job, Config: cfg, opt: opt, Seen: make(map[Key]bool)}
}

// Start creates the machine. Its error goes to CannotStart.
func (r *Run) Start() error {
	r.parts = ir.OrdersParts(r.Job.Kernel)
	var err error
	r.Machine, err = emu.New(r.Job.Kernel, r.Config)
	return err
}

// CannotStart is the verdict on a kernel for which the emulator has no machine: unsupported, at the
// instruction in question if there is one.
func CannotStart(k *ir.Func, err error) diag.Verdict {
	v := diag.Verdict{
		Kind: diag.Unsupported, Kernel: k.Demangled, Reason: err.Error(), Span: k.Span,
	}
	var u *emu.UnsupportedError
	if errors.As(err, &u) {
		v.Reason = u.What
		if u.Span.IsValid() {
			v.Span = u.Span
		}
	}
	return v
}

// All executes the schedules that the options request, with consecutive seeds, and stops early if a
// further one cannot show more.
func (r *Run) All(ctx context.Context) {
	for i := range r.seeds() {
		if !r.Once(ctx, r.opt.Seed+uint64(i)) {
			break
		}
	}
}

// DefaultMemory is the number of bytes that a run may take if the driver's options do not say it.
const DefaultMemory = emu.DefaultMemory

// SyncSeeds is the number of schedules for a kernel that synchronizes through memory, if none is
// specified: the natural one, the reverse, and two by random priorities.
const SyncSeeds = 4

// seeds is the number of schedules to run.
func (r *Run) seeds() int {
	switch {
	case r.opt.Seeds > 0:
		return r.opt.Seeds
	case r.Machine.SyncsThroughMemory():
		return int(min(SyncSeeds-1, ^r.opt.Seed)) + 1 // seeds do not wrap around
	}
	return 1
}

// Once executes the launch under one schedule and reports new findings. It returns false if further
// schedules cannot show more. The seed decides the schedule.
func (r *Run) Once(ctx context.Context, seed uint64) bool {
	job, opt := r.Job, r.options(seed)
	r.watchGrids(ctx, &opt, seed, true)
	if r.opt.Printf != nil {
		opt.Printf = func(_ event.Thread, text string) {
			job.Turn()
			fmt.Fprint(r.opt.Printf, text)
		}
	}
	rep, res, err := r.observe(ctx, seed, opt, nil)
	if err != nil {
		r.CannotRun(err)
		return false
	}
	r.Runs++
	r.Guess.use(seed)
	r.depends = func(key Key, rc *race.Race, g *diag.Diagnostic) bool {
		return r.Guess.dependsOn(ctx, key, rc, r, g)
	}
	// A launch that violates an assumption of the kernel says nothing about it: races do not count.
	if res.Stop != nil && res.Stop.Kind == emu.OutsideAssumptions {
		return r.outside(res.Stop, seed)
	}
	r.Findings(rep, seed)
	r.repeat = nil
	r.annotations(res, seed)
	return r.Ended(res, seed)
}

// options are those of the emulator for one schedule.
func (r *Run) options(seed uint64) emu.Options {
	job, common := r.Job, r.Job.Options()
	opt := emu.Options{
		Model: common.Warp, Seed: seed, MaxSteps: r.budget(), Memory: common.Memory,
		Workers: job.Cores(), Blocks: r.Blocks,
		// An invalid access that does not count is outside of what the run is about, and so is all that
		// follows from it.
		StopAtFault: r.Counts != nil && !r.Counts(diag.CodeOutOfBounds),
	}
	if common.Progress != nil {
		opt.Progress = func(steps, done, blocks uint64) {
			job.Tell(driver.Progress{
				Kernel: job.Kernel.Demangled, Engine: driver.Emulation,
				Steps: steps, BlocksDone: done, Blocks: blocks,
			})
		}
	}
	return opt
}

// annotations reports the annotations of heddle.h that did not hold in a run.
func (r *Run) annotations(res *emu.Result, seed uint64) {
	for i := range res.Annotations {
		a := &res.Annotations[i]
		key := Key{diag.CodeAnnotation, a.Site, a.Site}
		r.add(key, nil, func() diag.Diagnostic { return r.annotationFinding(a, seed) })
	}
}

// CannotRun reports that the machine refused a run. That is a mistake in the launch, not a finding.
func (r *Run) CannotRun(err error) {
	r.Job.InputError(diag.Diagnostic{
		Code: diag.CodeLaunch, Severity: diag.Error, Message: err.Error(),
		Span: r.Job.Kernel.Span, Kernel: r.Job.Kernel.Demangled,
	})
}

// Detector is a sink of a run's events that reports races and barrier errors.
type Detector interface {
	event.Sink
	emu.Meter
	Report() *race.Report
}

// Watch returns a detector for a run of a kernel. With recycling it also looks for barriers that
// are reused too early. A kernel whose fences order one memory space only needs a clock for each.
func Watch(common *driver.Options, k *ir.Func, cfg *launch.Config, m *emu.Machine,
	recycling bool) Detector {
	return newDetector(k, detectorOptions(common, k, cfg, m, recycling))
}

// detectorOptions returns the options of Watch's detector.
func detectorOptions(common *driver.Options, k *ir.Func, cfg *launch.Config, m *emu.Machine,
	recycling bool) race.Options {
	opt := race.Options{
		Geometry: cfg.Geometry, Model: common.Warp, Benign: common.Benign,
		SharedBytes: uint32(m.SharedBytes()), Recycling: recycling, Exchanges: hasExchanges(k),
		StrictScopes: common.StrictScopes, Dependent: waitsForGrids(k),
	}
	if opt.Exchanges {
		p := newProtocols(k, m)
		opt.Polls = func(s event.Site) bool { return p.polled(m.Site(s)).polled }
	}
	return opt
}

// newDetector returns the detector that a kernel needs.
func newDetector(k *ir.Func, opt race.Options) Detector {
	if ir.OrdersParts(k) {
		return race.NewSplit(opt, ir.OrdersOwn(k))
	}
	if opt.Geometry.Ranks() > 1 {
		return race.NewClustered(opt)
	}
	return race.New(opt)
}

// Ended examines the invalid accesses of a run and how it ended: an error of the kernel is a
// finding, a limit of heddle decides the verdict. It returns false if further schedules would show
// nothing more.
func (r *Run) Ended(res *emu.Result, seed uint64) bool {
	for i := range res.Faults {
		f := &res.Faults[i]
		code := stopCodes[f.Kind]
		key := Key{code, f.Site, f.Site}
		r.Guess.fault(key, r.Config.Geometry, &f.Stop)
		r.add(key, nil, func() diag.Diagnostic { return r.faultFinding(code, f, seed) })
	}
	r.unfinished(res, seed)
	if r.gridReason != "" && r.inconclusive == "" {
		r.inconclusive = r.gridReason
	}
	blocks := r.Config.Geometry.Blocks()
	switch res.Status {
	case emu.Stopped:
		if res.Stop.Kind == emu.GridFailed {
			r.gridFailed(res.Stop)
			return true
		}
		if len(res.Faults) > 0 && res.Stop == &res.Faults[0].Stop {
			return true // the run reached its end
		}
		if res.Stop.Kind == emu.MemoryLimit {
			r.inconclusive = fmt.Sprintf("%s, with %d of %d blocks done (seed %d); --memory raises the "+
				"limit", res.Stop.Message, res.Blocks, blocks, seed)
			r.large = res.Blocks > 0
			return false
		}
		if res.Stop.Kind == emu.Spinning {
			r.inconclusive = r.spinning(res, seed)
			return true // in another schedule they may not
		}
		if len(res.Waits) > 0 {
			r.waiting(res, seed)
			return true
		}
		return r.stopped(res.Stop, seed)
	case emu.StepLimit:
		r.inconclusive = fmt.Sprintf("the run reached its limit of %d warp instructions with %d of "+
			"%d blocks done (seed %d); raise --max-steps, unless the kernel does not terminate",
			r.budget(), res.Blocks, blocks, seed)
		r.limited, r.large, r.done = true, res.Blocks > 0, res.Blocks
		return false
	case emu.Stalled:
		// The detector reports the stall. Without such a finding the blocks that never ended must not
		// count as covered.
		if r.Counts == nil && len(r.Seen) == 0 && r.inconclusive == "" {
			r.inconclusive = fmt.Sprintf("threads wait forever, and no finding says at what, with %d of "+
				"%d blocks done (seed %d)", res.Blocks, blocks, seed)
		}
	case emu.Interrupted:
		r.inconclusive = fmt.Sprintf("interrupted with %d of %d blocks done (seed %d)",
			res.Blocks, blocks, seed)
		return false
	}
	return true
}

// outside records that a run violated an assumption of the kernel. It returns true: a schedule that
// satisfies it may still show a bug.
func (r *Run) outside(s *emu.Stop, seed uint64) bool {
	info := r.Machine.Site(s.Site)
	r.assumptions = &diag.Verdict{
		Kind: diag.Unknown, Kernel: r.Job.Kernel.Demangled, Span: place(info),
		Reason: fmt.Sprintf("the run is outside the kernel's assumptions: %s for %s (seed %d)",
			s.Message, threadText(r.Config.Geometry, s.Thread), seed),
	}
	return true
}

// TooLarge reports whether all that is missing from the runs is the rest of a launch that is too
// large for their limits: blocks that were run have ended, and nothing was found in them.
func (r *Run) TooLarge() bool { return r.large && r.Verdict().Reason == r.inconclusive }

// Again prepares for runs with the usual limit of steps after runs that MaxSteps cut short, if
// nothing else decided them; if something did, it returns false. What was reported is not reported
// again. There is no point in a run that would end at its limit as well, with hardly any of its
// blocks done at the pace of the first.
func (r *Run) Again() bool {
	if !r.limited || r.MaxSteps == 0 || r.Verdict().Reason != r.inconclusive {
		return false
	}
	first := r.MaxSteps
	r.MaxSteps = 0
	if all := r.Config.Geometry.Blocks(); r.done > 0 && all/r.done*first/r.budget() >= hopeless {
		r.MaxSteps = first
		return false
	}
	r.Runs, r.Tolerated, r.done = 0, 0, 0
	r.inconclusive, r.limited, r.large = "", false, false
	return true
}

// Alone runs the first block of a launch by itself, in at most so many steps, after a run that
// reached its limit before any block had ended: blocks take turns, so that many long blocks have
// all come far by then. If it ends, the launch is too large for a run, and not one that may never
// end. It reports whether it ran: a block that may wait for others is not run alone.
func (r *Run) Alone(ctx context.Context, steps uint64) bool {
	g := r.Config.Geometry
	if !r.limited || r.large || g.Blocks() < 2 || r.Verdict().Reason != r.inconclusive ||
		dependent(r.Job.Kernel, g) {
		return false
	}
	why, limit := r.inconclusive, r.MaxSteps
	r.inconclusive, r.limited = "", false
	r.Blocks, r.MaxSteps = []uint32{0}, steps
	r.Once(ctx, r.opt.Seed)
	r.Blocks, r.MaxSteps, r.limited = nil, limit, true
	if r.inconclusive == "" {
		r.large = true
		why += "; block 0 alone has ended"
	}
	r.inconclusive = why
	return true
}

// hopeless is how many times its limit a run would need that is not made.
const hopeless = 8

// Without --max-steps, a run has leastSteps and more for each warp, up to mostSteps, in warp
// instructions: up to half a minute for all launches of a kernel, but at least fewSteps each.
const (
	fewSteps   = 4_000_000
	leastSteps = 20_000_000
	mostSteps  = 50_000_000
)

// budget is the number of warp instructions that a run may take. Without --max-steps it is enough
// for long kernels, and small enough that a run of one that never ends takes seconds.
func (r *Run) budget() uint64 {
	switch {
	case r.MaxSteps != 0:
		return r.MaxSteps
	case r.Job.Options().MaxSteps != 0:
		return r.Job.Options().MaxSteps
	}
	g := r.Config.Geometry
	steps := min(leastSteps+50_000*g.Blocks()*uint64(g.WarpsPerBlock()), mostSteps)
	return max(r.Job.Share(steps), fewSteps)
}

// QuickSteps is the budget, in warp instructions, of one of the many short runs of a search. It is
// a hundredth (for few warps) to a tenth (for many) of the default of a normal run. blocks are
// those that run; nil: all.
func QuickSteps(common *driver.Options, cfg *launch.Config, blocks []uint32) uint64 {
	if common.MaxSteps != 0 {
		return common.MaxSteps
	}
	n := cfg.Geometry.Blocks()
	if blocks != nil {
		n = uint64(len(blocks))
	}
	return 200_000 + 5_000*n*uint64(cfg.Geometry.WarpsPerBlock())
}

// spinning says where the threads of a run wait that only spin.
func (r *Run) spinning(res *emu.Result, seed uint64) string {
	var places []string
	for _, s := range res.Spins {
		info := r.Machine.Site(s.Site)
		who := threadText(r.Config.Geometry, s.Thread)
		if s.Threads > 1 {
			who = fmt.Sprintf("%d threads, such as %s,", s.Threads, who)
		}
		places = append(places, fmt.Sprintf("%s at %s (%s)", who, r.Job.Format(place(info).Start),
			driver.OpText(info.Instr)))
	}
	return fmt.Sprintf("%s: %s (seed %d)", res.Stop.Message, strings.Join(places, "; "), seed)
}

// stopped reports a stop: an error of the kernel as a finding, a limit of heddle as a verdict.
// After an error other schedules may still show other findings, after a limit they would hit it as
// well.
func (r *Run) stopped(s *emu.Stop, seed uint64) bool {
	code, isBug := stopCodes[s.Kind]
	if !isBug {
		r.Unsupported = &diag.Verdict{
			Kind: diag.Unsupported, Kernel: r.Job.Kernel.Demangled, Reason: s.Message,
			Span: place(r.Machine.Site(s.Site)),
		}
		return false
	}
	key := Key{code, s.Site, s.Site}
	r.add(key, nil, func() diag.Diagnostic { return r.stopFinding(code, s, seed) })
	return true
}

// StopCode is the code of a stop that is a bug of the kernel, and empty for others.
func StopCode(kind emu.StopKind) diag.Code { return stopCodes[kind] }

// stopCodes are the stops that are bugs of the kernel; all others are limits of heddle.
var stopCodes = map[emu.StopKind]diag.Code{
	emu.OutOfBounds:   diag.CodeOutOfBounds,
	emu.Misaligned:    diag.CodeMisaligned,
	emu.Trap:          diag.CodeTrap,
	emu.AssertFailed:  diag.CodeAssertFailed,
	emu.BadBarrier:    diag.CodeBadBarrier,
	emu.StackOverflow: diag.CodeStackOverflow,

	emu.Deadlock:              diag.CodeBarrierDeadlock,
	emu.BytesMismatch:         diag.CodeMBarrierBytes,
	emu.MBarrierUninitialized: diag.CodeMBarrierUninitialized,
	emu.MBarrierReinit:        diag.CodeMBarrierReinit,
	emu.MBarrierOverwritten:   diag.CodeMBarrierOverwritten,
	emu.MBarrierInvalEarly:    diag.CodeMBarrierInvalEarly,
	emu.MBarrierExcess:        diag.CodeMBarrierExcess,
	emu.MBarrierRange:         diag.CodeMBarrierRange,
	emu.MBarrierState:         diag.CodeMBarrierState,
	emu.BulkAlignment:         diag.CodeBulkAlignment,
	emu.RemoteAddress:         diag.CodeMBarrierRemote,
	emu.PeerExited:            diag.CodePeerExited,
	emu.WarpgroupRegister:     diag.CodeWarpgroupRegister,
	emu.WarpgroupFence:        diag.CodeWarpgroupFence,
	emu.WarpgroupDivergence:   diag.CodeWarpgroupDivergence,
	emu.TensorAllocation:      diag.CodeTensorAllocation,
	emu.TensorLeft:            diag.CodeTensorAllocation,
	emu.TensorRelinquished:    diag.CodeTensorAllocation,
	emu.TensorNoAllocation:    diag.CodeTensorAllocation,
	emu.TensorBounds:          diag.CodeTensorBounds,
	emu.TensorFreed:           diag.CodeTensorBounds,
	emu.TensorOperand:         diag.CodeTensorOperand,
	emu.CancelAfterFailure:    diag.CodeCancelAfterFailure,
	emu.RegisterPool:          diag.CodeRegisterPool,
}

package check

import (
	"context"
	"errors"
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/race"
)

// kernelRun is the check of one kernel by the dynamic engine.
type kernelRun struct {
	*driver
	in           *input
	kernel       *ir.Func
	cfg          *launch.Config
	machine      *emu.Machine
	seen         map[findingKey]bool // findings of earlier seeds
	bugs         int
	only         func(diag.Code) bool   // findings that count; nil: all
	mark         func(*diag.Diagnostic) // adds to each finding what is known of the run; nil: nothing
	repeated     int                    // findings that an earlier run reported
	hidden       int                    // findings beyond the limit
	inconclusive string                 // why a run did not cover the launch; empty if all did
	unsupported  *diag.Verdict
	assumptions  *diag.Verdict // a run was outside the kernel's assumptions
	tolerated    uint64
	sameValue    map[sitePair]bool // races of a trace that turned out to be benign
	runs         int
	aside        aside // findings that do not count
	cut          bool  // a finding ended a run early
	parts        bool  // something in the kernel orders part of memory only
	guess        *guesses
	depends      func(findingKey, *diag.Diagnostic) bool // reports whether a finding depends on guesses; nil: none does
	guessed      int                                     // findings that do
}

// findingKey tells findings of one machine apart: a code and the sites.
type findingKey struct {
	code diag.Code
	a, b event.Site
}

// checkModels turns the names of models into values once, so that a wrong one is a usage error.
func (d *driver) checkModels() error {
	if _, _, err := warpModel(d.opt.Warp); err != nil {
		return err
	}
	_, err := benign(d.opt.Benign)
	return err
}

func warpModel(name string) (event.WarpModel, event.WarpModel, error) {
	switch name {
	case "", "independent":
		return event.Independent, event.Independent, nil
	case "lockstep":
		return event.Lockstep, event.Lockstep, nil
	}
	return 0, 0, fmt.Errorf("warp model %q: expected independent or lockstep", name)
}

func benign(name string) (event.Benign, error) {
	switch name {
	case "", "warp":
		return event.BenignWarp, nil
	case "all":
		return event.BenignAll, nil
	case "none":
		return event.BenignNone, nil
	}
	return 0, fmt.Errorf("benign %q: expected warp, all or none", name)
}

// checkKernel resolves the launch, runs all seeds and records the verdict.
func (d *driver) checkKernel(ctx context.Context, in *input, k *ir.Func) {
	cfg := d.resolve(in, k)
	if cfg == nil {
		return
	}
	r := &kernelRun{driver: d, in: in, kernel: k, cfg: cfg, seen: make(map[findingKey]bool), parts: ir.OrdersParts(k), guess: newGuesses(d, in, k, cfg)}
	var err error
	if r.machine, err = emu.New(k, cfg); err != nil {
		d.checked(in, k, nil)
		d.notRun(k, err)
		return
	}
	end := d.asks(k, "emulation", "every kernel is run once for its launch")
	for i := range d.opt.Seeds {
		if !r.run(ctx, d.opt.Seed+uint64(i)) {
			break
		}
	}
	v := r.verdict()
	end(outcome(&v))
	d.sum.Bugs += r.bugs
	d.sum.Guessed += r.guessed
	d.sum.Verdicts = append(d.sum.Verdicts, r.withProof(ctx, r.withTrace(ctx, v)))
	if r.unsupported == nil && r.assumptions == nil && r.inconclusive == "" && r.runs > 0 && !r.cut {
		d.checked(in, k, allCodes)
	} else {
		d.checked(in, k, nil)
	}
}

// config decides the launch of a kernel and reports what is wrong with it; then it returns nil.
func (d *driver) config(in *input, k *ir.Func) *launch.Config {
	req := d.opt.Launch
	req.AnyShared = d.opt.Prove
	cfg, errs := launch.Resolve(k, req, in.facts)
	for _, e := range errs {
		d.inputError(launchDiagnostic(k.Demangled, e))
	}
	if len(errs) > 0 {
		return nil
	}
	return cfg
}

// resolve is config for a launch that is executed: it also reports what a user should know of it.
func (d *driver) resolve(in *input, k *ir.Func) *launch.Config {
	cfg := d.config(in, k)
	if cfg == nil {
		return nil
	}
	for _, n := range cfg.Notes {
		d.report(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Note, Message: n, Kernel: k.Demangled})
	}
	return cfg
}

// notRun records the verdict on a kernel that the emulator cannot start.
func (d *driver) notRun(k *ir.Func, err error) {
	d.sum.Verdicts = append(d.sum.Verdicts, cannotStart(k, err))
}

func cannotStart(k *ir.Func, err error) diag.Verdict {
	v := diag.Verdict{Kind: diag.Unsupported, Kernel: k.Demangled, Reason: err.Error(), Span: k.Span}
	var u *emu.UnsupportedError
	if errors.As(err, &u) {
		v.Reason = u.What
		if u.Span.IsValid() {
			v.Span = u.Span
		}
	}
	return v
}

// run executes the launch once and reports what is new. It returns false when further seeds would say
// nothing more.
func (r *kernelRun) run(ctx context.Context, seed uint64) bool {
	emuModel, det := r.watching(r.kernel, r.cfg, r.machine, true)
	opt := emu.Options{Model: emuModel, Seed: seed, MaxSteps: r.budget(), Workers: max(r.opt.Workers, 1)}
	if r.opt.Progress != nil {
		opt.Progress = func(steps, done, blocks uint64) {
			r.tell(Progress{Kernel: r.kernel.Demangled, Engine: "emulation", Steps: steps, BlocksDone: done, Blocks: blocks})
		}
	}
	if r.opt.Printf != nil {
		opt.Printf = func(_ event.Thread, text string) {
			r.turn()
			fmt.Fprint(r.opt.Printf, text)
		}
	}
	res, err := r.machine.Run(ctx, opt, det)
	if err != nil {
		r.inputError(diag.Diagnostic{Code: diag.CodeLaunch, Severity: diag.Error, Message: err.Error(), Span: r.kernel.Span, Kernel: r.kernel.Demangled})
		return false
	}
	r.runs++
	r.depends = func(key findingKey, g *diag.Diagnostic) bool { return r.guess.dependsOn(ctx, key, r.cfg, g) }
	if res.Stop != nil && res.Stop.Kind == emu.OutsideAssumptions {
		return r.outside(res.Stop, seed)
	}
	r.findings(det.Report(), seed)
	for i := range res.Annotations {
		a := &res.Annotations[i]
		r.add(findingKey{diag.CodeAnnotation, a.Site, a.Site}, func() diag.Diagnostic { return r.annotationFinding(a, seed) })
	}
	return r.ended(res, seed)
}

// detector is a sink that reports.
type detector interface {
	event.Sink
	Report() *race.Report
}

// watching is how the options have a kernel run, and a detector for a run of it, which looks for barriers that are reused
// too early if recycling is asked for.
func (d *driver) watching(k *ir.Func, cfg *launch.Config, m *emu.Machine, recycling bool) (event.WarpModel, detector) {
	emuModel, raceModel, _ := warpModel(d.opt.Warp)
	tolerance, _ := benign(d.opt.Benign)
	opt := race.Options{Geometry: cfg.Geometry, Model: raceModel, Benign: tolerance, SharedBytes: uint32(m.SharedBytes()), Recycling: recycling}
	if ir.OrdersParts(k) {
		return emuModel, race.NewSplit(opt)
	}
	return emuModel, race.New(opt)
}

// ended looks at how a run ended: a stop of the kernel is a finding, a limit of heddle decides the verdict.
func (r *kernelRun) ended(res *emu.Result, seed uint64) bool {
	switch res.Status {
	case emu.Stopped:
		return r.stopped(res.Stop, seed)
	case emu.StepLimit:
		r.inconclusive = fmt.Sprintf("the budget of %d warp instructions was used up with %d of %d blocks done (seed %d); raise it with --max-steps, or the kernel does not end",
			r.budget(), res.Blocks, r.cfg.Geometry.Blocks(), seed)
		return false
	case emu.Interrupted:
		r.inconclusive = fmt.Sprintf("interrupted with %d of %d blocks done (seed %d)", res.Blocks, r.cfg.Geometry.Blocks(), seed)
		return false
	}
	return true
}

// outside says that the kernel is not meant for this run: nothing that was seen in it counts.
func (r *kernelRun) outside(s *emu.Stop, seed uint64) bool {
	info := r.machine.Site(s.Site)
	r.assumptions = &diag.Verdict{
		Kind: diag.Unknown, Kernel: r.kernel.Demangled, Span: place(info),
		Reason: fmt.Sprintf("the run is outside the kernel's assumptions: %s for %s (seed %d)", s.Message, threadText(r.cfg.Geometry, s.Thread), seed),
	}
	return true
}

// budget is the number of warp instructions that a run may take: what the user said, else enough for long
// kernels, and little enough that one that spins for ever ends within seconds.
func (r *kernelRun) budget() uint64 {
	if r.opt.MaxSteps != 0 {
		return r.opt.MaxSteps
	}
	g := r.cfg.Geometry
	return 20_000_000 + 50_000*g.Blocks()*uint64(g.WarpsPerBlock())
}

// stopped reports a stop: an error of the kernel as a finding, a limit of heddle as a verdict.
func (r *kernelRun) stopped(s *emu.Stop, seed uint64) bool {
	code, isBug := stopCodes[s.Kind]
	if !isBug {
		info := r.machine.Site(s.Site)
		r.unsupported = &diag.Verdict{Kind: diag.Unsupported, Kernel: r.kernel.Demangled, Reason: s.Message, Span: place(info)}
		return false
	}
	r.add(findingKey{code, s.Site, s.Site}, func() diag.Diagnostic { return r.stopFinding(code, s, seed) })
	return true
}

// stopCodes are the stops that are bugs of the kernel.
var stopCodes = map[emu.StopKind]diag.Code{
	emu.OutOfBounds:   diag.CodeOutOfBounds,
	emu.Misaligned:    diag.CodeMisaligned,
	emu.Trap:          diag.CodeTrap,
	emu.AssertFailed:  diag.CodeAssertFailed,
	emu.BadBarrier:    diag.CodeBadBarrier,
	emu.StackOverflow: diag.CodeStackOverflow,
}

// add reports a finding unless an earlier run did, or the limit is reached.
func (r *kernelRun) add(key findingKey, make func() diag.Diagnostic) {
	if r.only != nil && !r.only(key.code) {
		return
	}
	if r.seen[key] {
		r.repeated++
		return
	}
	r.seen[key] = true
	g := make()
	if r.mark != nil {
		r.mark(&g)
	}
	r.cut = r.cut || endsRun(key.code)
	if r.setAside(&g) {
		return
	}
	if r.depends != nil && r.depends(key, &g) {
		r.guessed++
	} else {
		r.bugs++
	}
	if r.bugs+r.guessed > r.opt.Limit {
		r.hidden++
		return
	}
	r.report(g)
}

// verdict sums up: a bug outweighs everything; what was not covered is never called clean.
func (r *kernelRun) verdict() diag.Verdict {
	v := diag.Verdict{Kernel: r.kernel.Demangled, Span: kernelPlace(r.kernel)}
	switch {
	case r.bugs > 0:
		v.Kind = diag.Bug
		if r.hidden > 0 {
			v.Reason = fmt.Sprintf("%d more findings are not shown (--limit %d)", r.hidden, r.opt.Limit)
		}
		if r.inconclusive != "" {
			v.Reason = joinReasons(v.Reason, r.inconclusive)
		}
		if r.unsupported != nil {
			v.Reason = joinReasons(v.Reason, "the run ended early: "+r.unsupported.Reason)
		}
	case r.guessed > 0:
		v.Kind, v.Reason = diag.Unknown, r.guess.reason()
	case r.unsupported != nil:
		v = *r.unsupported
	case r.assumptions != nil:
		v = *r.assumptions
	case r.inconclusive != "":
		v.Kind, v.Reason = diag.Unknown, r.inconclusive
	case r.runs == 0:
		v.Kind, v.Reason = diag.Unknown, "no run was started"
	default:
		v.Kind, v.Scope = diag.Clean, r.scope()
	}
	v.Suppressed, v.Known = r.aside.suppressed, r.aside.known
	return v
}

func joinReasons(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// scope says what a clean result covers.
func (r *kernelRun) scope() string {
	runs := "1 run"
	if r.runs > 1 {
		runs = fmt.Sprintf("%d runs", r.runs)
	}
	s := fmt.Sprintf("this launch, these inputs: %s (seed %d), %s", runs, r.opt.Seed, r.cfg.Describe())
	if r.runs > 1 {
		s = fmt.Sprintf("this launch, these inputs: %s (seeds %d to %d), %s", runs, r.opt.Seed, r.opt.Seed+uint64(r.runs)-1, r.cfg.Describe())
	}
	if r.tolerated > 0 {
		s += fmt.Sprintf("; %d conflicting writes of the same value were tolerated (--benign none shows them)", r.tolerated)
	}
	return s
}

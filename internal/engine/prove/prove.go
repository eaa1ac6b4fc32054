// Package prove is the static engine. It proves for all inputs of the launch shape that no two
// threads of a kernel race and that no barrier diverges. If it finds a counterexample, it replays
// it in the emulator; otherwise it reports what it could not decide.
//
// In flow a driver.Job and Options; out flow a verdict and, for a confirmed bug, the findings of
// its replay. The terms over-approximate the kernel. So a proof covers every execution, but a
// counterexample may not be one, and is a bug only if package run shows it. A replay without a
// finding gives "unknown", never "clean" (replay.go). A proof rests on the assumptions that its
// scope lists (Proof.Scope), such as that pointer arguments do not alias. An Engine holds what the
// proofs of one run share, above all the solvers (solvers.go). For the commands a Proof is an
// oracle: Verify, Scalars and Arguments have no effect on the job.
//
// It imports the driver and package run, and no other engine.
package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/verify"
)

// Kernel verifies one kernel for all inputs of its launch shape, replays what it cannot prove, and
// records the verdict.
func (e *Engine) Kernel(ctx context.Context, job *driver.Job) {
	cfg := job.Config()
	if cfg == nil {
		return
	}
	p := e.Proof(job, cfg)
	p.guess = run.NewShapeGuesses(job, cfg, p.guessedGrid(), p.guessedBlock())
	p.Fixed = p.Scalars(launch.FromProgram)
	if slices.Contains(e.opt.Given, job.Kernel.Demangled) {
		p.Fixed = p.Scalars(launch.Default)
	}
	ctx, cancel := p.within(ctx, VerifySteps)
	defer cancel()
	end := job.Asks(driver.Proof, "a proof for all inputs was requested")
	v := p.verdict(ctx)
	if p.doubtful && (v.Kind == diag.Unknown || v.Kind == diag.Unsupported) {
		v = p.withoutChecks(ctx, v)
	}
	if n := e.opt.Unwind; n > 0 && v.Kind == diag.Verified {
		v = diag.Verdict{Kind: diag.Unknown, Reason: fmt.Sprintf("no bug in the first %d iterations "+
			"of each loop; this is not a proof (--unwind %d)", n, n)}
	}
	end(&v)
	v.Kernel, v.Suppressed, v.Known = job.Kernel.Demangled, p.aside.Suppressed, p.aside.Known
	if v.Kind == diag.Verified {
		job.Checked(Synchronization)
	} else {
		job.Checked(nil)
	}
	if !v.Span.IsValid() {
		v.Span = driver.KernelPlace(job.Kernel)
	}
	job.AddVerdict(v)
}

// withoutChecks adds to v whether the kernel is free of races without the annotations that are
// checked, which prevented a proof.
func (p *Proof) withoutChecks(ctx context.Context, v diag.Verdict) diag.Verdict {
	p.bare = true
	if r, _ := p.Verify(ctx, 1); r != nil && r.Verified() {
		but := ", but "
		if v.Kind == diag.Unsupported {
			but = ", but this is not supported: "
		}
		v.Reason = "free of races and barrier divergence" + but + v.Reason
	}
	p.bare = false
	return v
}

// Attempt is the proof of a kernel that runs leave open. It is made at most once.
type Attempt struct {
	engine  *Engine
	earlier *Earlier
	proof   *Proof // nil before it is made
	proved  diag.Verdict
}

// Attempt returns an attempt that has not been made yet. earlier has the proofs for other launches
// of the kernel; nil: there are none.
func (e *Engine) Attempt(earlier *Earlier) *Attempt { return &Attempt{engine: e, earlier: earlier} }

// After improves the verdict v on a kernel that is clean in all runs, or in what they covered of a
// launch that is too large, to "verified" if a proof succeeds, and turns it into "bug" if a
// counterexample is confirmed. Otherwise v remains, with the reason why there is no proof, unless a
// replay found something that depends on guessed launch values: the kernel is then unknown. After
// more runs it may be called again, with what they show.
func (a *Attempt) After(ctx context.Context, r *run.Run, v diag.Verdict) diag.Verdict {
	job := r.Job
	switch {
	case ctx.Err() != nil:
		return v
	case v.Kind != diag.Clean && !r.TooLarge():
		if a.proof == nil {
			job.Spares(driver.Proof, fmt.Sprintf("the verdict is already %s", v.Kind))
		}
		return v
	case r.Aside.Any():
		job.Spares(driver.Proof, "some findings are suppressed or known")
		return v
	}
	if a.proof == nil {
		why := "no bug was found in the run"
		if v.Kind != diag.Clean {
			why = "the launch is too large for a run"
		}
		end := job.Asks(driver.Proof, why)
		a.proof = a.engine.Proof(job, r.Config)
		a.proof.guess, a.proof.earlier = r.Guess, a.earlier
		a.proved = a.proof.after(ctx)
		end(&a.proved)
	}
	return a.join(v)
}

// join is the verdict v of the runs, improved by the proof.
func (a *Attempt) join(v diag.Verdict) diag.Verdict {
	p, proved := a.proof, a.proved
	switch proved.Kind {
	case diag.Bug:
		proved.Kernel, proved.Span = v.Kernel, v.Span
		proved.Suppressed, proved.Known = p.aside.Suppressed, p.aside.Known
		return proved
	case diag.Verified:
		rest := "nothing else found in " + strings.Join(append([]string{v.Scope}, v.Details...), "; ")
		if v.Kind != diag.Clean {
			rest = "nothing else found in the run: " + v.Reason
		}
		v.Kind, v.Scope, v.Reason = diag.Verified, proved.Scope, ""
		v.Details = append(proved.Details, rest)
		v.Apart = append(v.Apart, proved.Apart...)
	case diag.Unsupported:
		if v.Kind != diag.Clean {
			return v
		}
		v.Reason = "unsupported: " + proved.Reason
		if proved.Span.IsValid() {
			v.Reason += " at " + p.Job.Format(proved.Span.Start)
		}
	default:
		v.Reason = run.JoinReasons(v.Reason, proved.Reason)
		if p.guess.Reason() != "" {
			v.Kind, v.Scope, v.Details = diag.Unknown, "", nil
		}
	}
	v.Suppressed, v.Known = p.aside.Suppressed, p.aside.Known
	return v
}

// within bounds a proof by the timeout that the user specified, or else by a number of steps.
func (p *Proof) within(ctx context.Context, steps int64) (context.Context, context.CancelFunc) {
	if limit := p.timeout(); limit > 0 {
		p.Steps = 0
		return context.WithTimeout(ctx, limit)
	}
	p.Steps = steps
	return ctx, func() {}
}

// timeout is the time limit from a flag, or else from a configuration; 0: none.
func (p *Proof) timeout() time.Duration { return cmp.Or(p.opt.Timeout, p.Job.Timeout) }

// after is the proof of a kernel that runs found clean: for all arguments, or else for those of the
// launch. All attempts together have checkSteps.
func (p *Proof) after(ctx context.Context) diag.Verdict {
	ctx, cancel := p.within(ctx, checkSteps)
	defer cancel()
	p.total = p.Steps
	p.Fixed = p.Scalars(launch.FromProgram)
	all := p.Scalars(launch.Default)
	more := len(all) > len(p.Fixed)
	proved := p.forAll(ctx, more)
	if guessed := p.guessedPlaces(); proved.Kind == diag.Verified && guessed != "" {
		return diag.Verdict{Kind: diag.Unknown, Reason: "the proof holds only for the guessed " + guessed}
	}
	if proved.Kind != diag.Unknown || p.guess.Reason() != "" || !more {
		return proved
	}
	// A proof for guessed scalars alone does not count: the guess may be wrong. A bug counts, because
	// its replay is an execution.
	p.Fixed = all
	p.allot(false)
	if p.Steps > 0 {
		p.Steps = min(p.Steps, guessedSteps)
	}
	again := p.verdict(ctx)
	switch {
	case again.Kind == diag.Verified && p.guessed() != "":
		proved.Reason = "the proof holds only for the guessed " + p.guessed() + "; " +
			proved.Reason
	case again.Kind == diag.Verified && p.guessedPlaces() != "":
		proved.Reason = "the proof holds only for the guessed " + p.guessedPlaces() + "; " +
			proved.Reason
	case again.Kind != diag.Unknown:
		proved = again
	}
	return proved
}

// allot bounds the next attempt: it may use the steps that earlier attempts left, or half of them
// if more attempts may follow. If a timeout replaces the steps, only those with followers have a
// bound: whether the next attempt is made must not depend on time.
func (p *Proof) allot(more bool) {
	switch {
	case p.total == 0 && more:
		p.Steps = checkSteps
	case p.total == 0:
		p.Steps = 0
	case more:
		p.Steps = max((p.total-p.spent)/2, 1)
	default:
		p.Steps = max(p.total-p.spent, 1)
	}
}

// forAll is the verdict for all values of the arguments that no flag specifies, if the proof
// succeeds. Otherwise it is the verdict for the scalars that host code, a comment or a
// configuration specifies, because a counterexample with other values may never happen. Without
// such scalars it is the verdict for all arguments, replayed. more says that an attempt follows.
func (p *Proof) forAll(ctx context.Context, more bool) diag.Verdict {
	given := p.Scalars(launch.FromHost)
	again := len(given) > len(p.Fixed)
	p.whether = again // no counterexample of these attempts is looked at if another follows
	defer func() { p.whether = false }()
	p.allot(more || again)
	r, v := p.Verify(ctx, 0)
	if r == nil {
		return v
	}
	if r.Verified() {
		return p.verified(r)
	}
	if p.tied = p.relation(); p.tied != nil {
		p.allot(more || again)
		tied, v := p.Verify(ctx, 0)
		switch {
		case tied == nil:
			return v
		case tied.Verified():
			return p.tie(p.verified(tied))
		case p.tied != nil: // a counterexample that the host code excludes is none
			r = tied
		}
	}
	if again {
		if common := p.common(given); common != nil {
			p.Fixed = common
			p.allot(true)
			if r, _ := p.Verify(ctx, 0); r != nil && r.Verified() {
				return p.forGiven(p.verified(r))
			}
		}
		p.whether, p.Fixed = false, given
		p.allot(more)
		return p.forGiven(p.verdict(ctx))
	}
	return p.examine(ctx, r)
}

// forGiven adds to the verdict of a proof that it is for arguments that somebody specified.
func (p *Proof) forGiven(v diag.Verdict) diag.Verdict {
	if v.Kind == diag.Verified {
		v.Details = append(v.Details, "not proved for other arguments (heddle verify tries to)")
	}
	return v
}

// aliasedVariable names an argument that points to a module variable, or a variable that points to
// a buffer of an argument or of another variable; empty if there is none. Pointers among the
// arguments are proved as the launch has them; a proof takes variables to be apart from all of
// them, and what pointers in memory lead to apart from that as well, which a saved launch may
// contradict.
func (p *Proof) aliasedVariable() string {
	of := make(map[*launch.Buffer]string)
	for i := range p.Config.Args {
		a := &p.Config.Args[i]
		if a.Symbol != "" {
			return fmt.Sprintf("proofs with an argument (%s) that points to a variable (%s)", a.Name,
				a.Symbol)
		}
		of[a.Buffer] = a.Name
		for _, f := range a.Fields {
			of[f.Buffer] = fmt.Sprintf("%s+%d", a.Name, f.Offset)
		}
	}
	delete(of, nil)
	for _, name := range slices.Sorted(maps.Keys(p.Config.Symbols)) {
		b := p.Config.Symbols[name].Buffer
		if other, ok := of[b]; ok {
			return fmt.Sprintf("proofs with a variable (%s) that points to the buffer of %s", name, other)
		}
		if b != nil {
			of[b] = "the variable " + name
		}
	}
	return aliasedInMemory(p.Config, of)
}

// aliasedInMemory names a variable of a saved launch to which a pointer leads, or a buffer to which
// a pointer in memory leads and another pointer as well; empty if there is none. of has the buffers
// to which pointers lead that are not in memory, with their names.
func aliasedInMemory(c *launch.Config, of map[*launch.Buffer]string) string {
	names := slices.Sorted(maps.Keys(c.Vars))
	var queue []*launch.Buffer
	for _, name := range names {
		b := c.Vars[name]
		if other, ok := of[b]; ok {
			return fmt.Sprintf("proofs with an argument (%s) that points to a variable (%s)", other, name)
		}
		queue = append(queue, b)
	}
	for b := range of {
		queue = append(queue, b)
	}
	slices.SortStableFunc(queue, func(a, b *launch.Buffer) int { return cmp.Compare(a.Name, b.Name) })
	for _, name := range names {
		of[c.Vars[name]] = "the variable " + name
	}
	for i := 0; i < len(queue); i++ { // which grows
		for _, f := range queue[i].Pointers {
			if other, ok := of[f.Buffer]; ok {
				return fmt.Sprintf("proofs with a pointer in %s that leads to the memory of %s, as another "+
					"pointer does", queue[i].Name, other)
			}
			of[f.Buffer] = f.Buffer.Name
			queue = append(queue, f.Buffer)
		}
	}
	return ""
}

// verdict is the verdict of a proof for Fixed, with counterexamples replayed.
func (p *Proof) verdict(ctx context.Context) diag.Verdict {
	// A proof without lock step holds for any order of the lanes. It may also succeed where one with
	// lock step does not, because it knows more about the values that a thread reads back.
	if p.Job.Options().Warp == event.Lockstep {
		p.apart = true
		if r, _ := p.Verify(ctx, 1); r != nil && r.Verified() {
			return p.verified(r)
		}
		p.apart = false
	}
	r, v := p.Verify(ctx, 0)
	if r == nil {
		return v
	}
	if r.Verified() {
		return p.verified(r)
	}
	return p.examine(ctx, r)
}

// Verify runs the static engine and returns its result, with at most limit findings unless that is
// 0. If there is no result (nil), the verdict has the reason: unsupported, contradictory
// assumptions, or out of time.
func (p *Proof) Verify(ctx context.Context, limit int) (*verify.Result, diag.Verdict) {
	if why := p.aliasedVariable(); why != "" {
		return nil, diag.Verdict{Kind: diag.Unsupported, Reason: why}
	}
	if p.whether {
		limit = 1
	}
	key := p.key(limit)
	if e, ok := p.earlier.get(key); ok {
		return e.result, e.verdict
	}
	r, v := p.fresh(ctx, limit)
	if ctx.Err() == nil {
		p.earlier.put(key, r, v)
	}
	return r, v
}

// fresh is Verify for a question that no earlier proof has answered. Where locks or flags may
// order accesses, a proof must not assume that loads of one interval agree (package verify, lock.go).
func (p *Proof) fresh(ctx context.Context, limit int) (*verify.Result, diag.Verdict) {
	r, v := p.once(ctx, limit, p.opt.Abstraction)
	if r == nil || r.Verified() || p.opt.Abstraction == Adversarial ||
		!verify.MayOrder(r.Thread) || ctx.Err() != nil {
		return r, v
	}
	if locked, _ := p.once(ctx, 1, Adversarial); locked != nil {
		if locked.Verified() {
			return locked, diag.Verdict{}
		}
		r.NotZero = locked.NotZero
	}
	return r, v
}

// once is Verify with one abstraction.
func (p *Proof) once(ctx context.Context, limit int, abstraction Abstraction) (*verify.Result,
	diag.Verdict) {
	th, v := p.thread(ctx, abstraction, nil)
	if th == nil {
		return nil, v
	}
	opt := verify.Options{
		Benign: p.Job.Options().Benign, OnlyIntraBlock: p.opt.OnlyIntraBlock || p.OneBlock,
		Ignore: p.ignored(), Beyond: p.Beyond,
		Limit: limit, Exists: p.whether || p.Exists, Steps: p.Steps,
		Ways: p.Paths, OneWarp: p.OneWarp, Shown: p.Shown,
		Pool: p.engine.Pool(), Solvers: p.engine.forInvariants(),
		Sizes: p.sizes(), AllBounds: p.opt.Bounds, Record: p.recorder(), NotZero: p.notZero,
		Axioms: p.opt.Axioms,
	}
	merged := verify.Merges(ctx, th, opt)
	if len(merged.Blocks) > 0 {
		if th, v = p.thread(ctx, abstraction, merged.Blocks); th == nil {
			return nil, v
		}
	}
	if opt.Steps > 0 {
		opt.Steps = max(opt.Steps-merged.Stats.Steps, 1)
	}
	r := verify.Kernel(ctx, th, opt)
	r.Counters = r.Counters || merged.Counters
	r.Stats.Add(&merged.Stats)
	p.spent += r.Stats.Steps
	p.engine.addQueries(&r.Stats)
	p.listInvariants(r)
	return r, diag.Verdict{}
}

// thread describes one arbitrary thread, with the merge points that all lanes of a warp pass if they
// are known (verify.Merges). If that is not possible (nil), the verdict has the reason.
func (p *Proof) thread(ctx context.Context, abstraction Abstraction, merges []ir.BlockID) (
	*lockstep.Thread, diag.Verdict) {
	start := time.Now()
	th, err := lockstep.Build(ctx, p.Job.Kernel, lockstep.Options{
		Geometry: p.Config.Geometry, Any: p.opt.Any, Args: p.Fixed,
		Pointers:    p.pointers(),
		Adversarial: abstraction == Adversarial, NoWrap: p.opt.NoWrap,
		PureExtern: p.opt.Extern == Pure, Lockstep: p.lockstep(), Merges: merges, OnlyAssumptions: p.bare,
	})
	p.engine.addTerms(time.Since(start))
	var no *lockstep.UnsupportedError
	switch {
	case errors.As(err, &no):
		v := diag.Verdict{Kind: diag.Unsupported, Reason: no.What}
		if no.Instr != nil {
			v.Span = driver.Place(no.Instr)
			called := no.Instr.Callee
			p.doubtful = called != nil && strings.HasPrefix(called.Name, ir.AnnotationPrefix)
		}
		return nil, v
	case ctx.Err() != nil:
		return nil, diag.Verdict{Kind: diag.Unknown, Reason: "out of time"}
	case err != nil:
		return nil, diag.Verdict{Kind: diag.Unknown, Reason: err.Error()}
	}
	if in := p.lonely(th); in != nil {
		return nil, diag.Verdict{Kind: diag.Unsupported, Span: driver.Place(in),
			Reason: "a barrier of the grid in a launch that is not cooperative"}
	}
	if p.opt.Bounds && th.WritesConst {
		return nil, diag.Verdict{Kind: diag.Unknown, Reason: "it may store to constant memory or to a " +
			"parameter, which is invalid"}
	}
	if why := p.assume(ctx, th); why != "" {
		return nil, diag.Verdict{Kind: diag.Unknown, Reason: why}
	}
	if p.tied != nil && !p.relate(th) {
		p.tied = nil
	}
	p.unwind(th)
	return th, diag.Verdict{}
}

// lonely returns a barrier of the grid whose kernel the host code launches in a way that does not
// make all blocks run at the same time; nil if there is none. Without cooperative launch such a
// barrier is undefined, so that it orders nothing (CUDA C++ Programming Guide, "Grid
// Synchronization").
func (p *Proof) lonely(th *lockstep.Thread) *ir.Instr {
	if p.Config.Host == 0 || p.Config.Saved != "" || p.Config.Cooperative || p.opt.Cooperative {
		return nil
	}
	return gridBarrier(th)
}

// gridBarrier returns a barrier of the grid; nil if a thread reaches none.
func gridBarrier(th *lockstep.Thread) *ir.Instr {
	for i := range th.GridEnds {
		if in := th.GridEnds[i].Instr; in != nil {
			return in
		}
	}
	return nil
}

// ignored reports the findings that neither the options nor the proof want; nil: all are wanted.
func (p *Proof) ignored() func(*verify.Finding) bool {
	switch {
	case p.Ignore == nil:
		return p.opt.Ignore
	case p.opt.Ignore == nil:
		return p.Ignore
	}
	return func(f *verify.Finding) bool { return p.opt.Ignore(f) || p.Ignore(f) }
}

// lockstep reports whether the proof assumes that the lanes of a warp run in lock step.
func (p *Proof) lockstep() bool { return p.Job.Options().Warp == event.Lockstep && !p.apart }

// Scalars are the values of the scalar parameters that the launch has from that origin, or from one
// that takes precedence over it.
func (p *Proof) Scalars(from launch.Origin) map[int]uint64 {
	out := map[int]uint64{}
	for i, v := range p.Job.Kernel.Params {
		a := p.Config.Args[i]
		known := p.Config.Origins["arg "+a.Name] >= from && !a.Unknown
		if !known || v.Pointer || a.Buffer != nil || v.Size > 8 || len(v.PtrFields) > 0 {
			continue
		}
		var bits uint64
		for j, b := range a.Bits {
			bits |= uint64(b) << (8 * j)
		}
		out[i] = bits
	}
	return out
}

// guessed names the guessed scalars that the proof is for, with their values.
func (p *Proof) guessed() string {
	var out []string
	for i := range p.Job.Kernel.Params {
		a := &p.Config.Args[i]
		if _, ok := p.Fixed[i]; ok && p.Config.Origins["arg "+a.Name].Guessed() {
			out = append(out, a.Name+" = "+a.Value())
		}
	}
	return strings.Join(out, ", ")
}

// verified is the verdict of a proof.
func (p *Proof) verified(r *verify.Result) diag.Verdict {
	return diag.Verdict{Kind: diag.Verified, Scope: p.Scope(r), Details: p.Details(r),
		Apart: p.apartFrom(r)}
}

// apartFrom lists what a proof does not cover.
func (p *Proof) apartFrom(r *verify.Result) []string {
	var out []string
	for _, f := range r.Apart {
		out = append(out, fmt.Sprintf("unordered strong accesses at %s (%s)",
			p.Job.Format(driver.Place(f.A).Start), diag.CodeRaceUnorderedStrong))
	}
	for _, f := range r.Tolerated {
		out = append(out, fmt.Sprintf("equal writes at %s (--benign %s)",
			p.Job.Format(driver.Place(f.A).Start), p.Job.Options().Benign))
	}
	for _, in := range r.Traps {
		out = append(out, fmt.Sprintf("a trap at %s, if it is executed",
			p.Job.Format(driver.Place(in).Start)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

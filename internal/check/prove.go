package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/source"
	"heddle/internal/verify"
)

// DefaultTimeout is what a proof of one kernel may take when Options.Timeout is 0.
const DefaultTimeout = 60 * time.Second

// checkSteps bounds a proof that follows a clean run, where it should not keep users waiting, if Options.Timeout does not: some ten
// seconds. Steps are the same on a busy machine.
const checkSteps = 200_000_000

// proof is the verification of one kernel by the static engine.
type proof struct {
	*driver
	in     *input
	kernel *ir.Func
	cfg    *launch.Config
	// The values of scalar parameters that the proof is for, by index; the others are arbitrary.
	fixed   map[int]uint64
	aside   aside // findings of replays that do not count
	queries int   // that were kept
	steps   int64 // that each search may take; 0: no limit
	apart   bool  // the lanes of a warp are not taken to be in lock step, whatever the options say
	ways    bool  // races are asked for the iterations in which they are
	shown   func(*verify.Finding) bool
	oneWarp func(*verify.Finding) bool // races that are asked for threads of several warps
	// Counterexamples that agree in the scalars are one run: by its arguments, whether it showed anything.
	replayed map[string]bool
	guess    *guesses
}

// proveKernel verifies one kernel for all inputs of its launch shape, replays what it cannot prove, and
// records the verdict.
func (d *driver) proveKernel(ctx context.Context, in *input, k *ir.Func) {
	cfg := d.config(in, k)
	if cfg == nil {
		return
	}
	p := &proof{driver: d, in: in, kernel: k, cfg: cfg, replayed: map[string]bool{}}
	p.fixed = p.scalars(launch.FromFlag)
	if slices.Contains(d.opt.given, k.Demangled) {
		p.fixed = p.scalars(launch.Default)
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(d.opt.Timeout, DefaultTimeout))
	defer cancel()
	end := d.asks(k, "proof", "a proof for all inputs was asked for")
	v := p.verdict(ctx)
	if p.opt.Unwind > 0 && v.Kind == diag.Verified {
		v = diag.Verdict{Kind: diag.Unknown, Reason: fmt.Sprintf("nothing is wrong in the first %d iterations of each loop, which is no proof (--unwind %d)", p.opt.Unwind, p.opt.Unwind)}
	}
	end(outcome(&v))
	v.Kernel, v.Suppressed, v.Known = k.Demangled, p.aside.suppressed, p.aside.known
	if v.Kind == diag.Verified {
		d.checked(in, k, synchronization)
	} else {
		d.checked(in, k, nil)
	}
	if !v.Span.IsValid() {
		v.Span = kernelPlace(k)
	}
	d.sum.Verdicts = append(d.sum.Verdicts, v)
}

// withProof lifts the verdict on a kernel that is clean in all runs to a proof where one comes through, and to a bug
// where a counterexample of it is confirmed. Else the verdict is that of the runs, and says what kept it from a proof.
func (r *kernelRun) withProof(ctx context.Context, v diag.Verdict) diag.Verdict {
	switch {
	case !r.opt.ThenProve || ctx.Err() != nil:
		return v
	case v.Kind != diag.Clean:
		r.spares("proof", fmt.Sprintf("the verdict is %s already", v.Kind))
		return v
	case r.aside.any():
		r.spares("proof", "there are findings that are not counted")
		return v
	}
	end := r.asks(r.kernel, "proof", "no bug was found in the run")
	limit := cmp.Or(r.opt.Timeout, DefaultTimeout)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p := &proof{driver: r.driver, in: r.in, kernel: r.kernel, cfg: r.cfg, replayed: map[string]bool{}, guess: r.guess}
	p.fixed = p.scalars(launch.FromFlag)
	all := p.scalars(launch.Default)
	general := ctx
	if r.opt.Timeout == 0 {
		p.steps = checkSteps
	}
	if len(all) > len(p.fixed) { // leave time for the launch's own scalars
		var stop context.CancelFunc
		general, stop = context.WithTimeout(ctx, limit/2)
		defer stop()
	}
	proved := p.forAll(general, ctx)
	depends := r.guess.reason()
	if proved.Kind == diag.Unknown && depends == "" && len(all) > len(p.fixed) {
		p.fixed = all
		if again := p.verdict(ctx); again.Kind == diag.Verified && p.guessed() != "" {
			proved.Reason = "the proof comes through with the guessed " + p.guessed() + " alone; " + proved.Reason
		} else if again.Kind != diag.Unknown {
			proved = again
		}
	}
	end(outcome(&proved))
	switch proved.Kind {
	case diag.Bug:
		proved.Kernel, proved.Span = v.Kernel, v.Span
		proved.Suppressed, proved.Known = p.aside.suppressed, p.aside.known
		return proved
	case diag.Verified:
		v.Kind = diag.Verified
		v.Scope = proved.Scope + "; nothing else found in " + v.Scope
	case diag.Unsupported:
		v.Reason = "unsupported: " + proved.Reason
		if proved.Span.IsValid() {
			v.Reason += " at " + p.files.Format(proved.Span.Start)
		}
	default:
		v.Reason = proved.Reason
		if depends = r.guess.reason(); depends != "" {
			v.Kind, v.Scope = diag.Unknown, ""
		}
	}
	v.Suppressed, v.Known = p.aside.suppressed, p.aside.known
	return v
}

// forAll is the verdict for all arguments that no flag gives, if there is a proof. Else it is that for the scalars which
// host code, a comment or a configuration gives beside the launch shape: a bug that needs others may be one that nobody
// can have. Without such scalars it is the verdict for all arguments.
func (p *proof) forAll(general, ctx context.Context) diag.Verdict {
	r, v := p.verify(general, 0)
	if r == nil {
		return v
	}
	if r.Verified() {
		return diag.Verdict{Kind: diag.Verified, Scope: p.scope(r)}
	}
	if given := p.scalars(launch.FromHost); len(given) > len(p.fixed) {
		p.fixed = given
		v := p.verdict(ctx)
		if v.Kind == diag.Verified {
			v.Scope += "; not proved for other arguments: heddle verify tries"
		}
		return v
	}
	return p.examine(general, r)
}

// aliases says which arguments of the launch share a buffer: a proof takes all to be apart.
func (p *proof) aliases() string {
	of := map[*launch.Buffer]string{}
	reason := ""
	add := func(name string, b *launch.Buffer) {
		switch first, twice := of[b]; {
		case b == nil:
		case twice:
			reason = fmt.Sprintf("proofs about arguments that alias (%s and %s)", first, name)
		default:
			of[b] = name
		}
	}
	for i := range p.cfg.Args {
		a := &p.cfg.Args[i]
		add(a.Name, a.Buffer)
		for _, f := range a.Fields {
			add(fmt.Sprintf("%s+%d", a.Name, f.Offset), f.Buffer)
		}
	}
	return reason
}

func (p *proof) verdict(ctx context.Context) diag.Verdict {
	if p.opt.Warp == "lockstep" { // what holds without lock step is worth more, and more is known of what a thread reads back
		p.apart = true
		if r, _ := p.verify(ctx, 1); r != nil && r.Verified() {
			return diag.Verdict{Kind: diag.Verified, Scope: p.scope(r)}
		}
		p.apart = false
	}
	r, v := p.verify(ctx, 0)
	if r == nil {
		return v
	}
	if r.Verified() {
		return diag.Verdict{Kind: diag.Verified, Scope: p.scope(r)}
	}
	return p.examine(ctx, r)
}

// verify asks the static engine, for at most limit findings if that is not 0. Without a result the verdict says why.
func (p *proof) verify(ctx context.Context, limit int) (*verify.Result, diag.Verdict) {
	if why := p.aliases(); why != "" {
		return nil, diag.Verdict{Kind: diag.Unsupported, Reason: why}
	}
	start := time.Now()
	th, err := lockstep.Build(ctx, p.kernel, lockstep.Options{
		Geometry: p.cfg.Geometry, Any: p.opt.Any, Args: p.fixed, Adversarial: p.opt.Abstraction == "adversarial", NoWrap: p.opt.NoWrap,
		PureExtern: p.opt.Extern == "pure", Lockstep: p.lockstep(),
	})
	p.sum.Times.Terms += time.Since(start)
	var no *lockstep.UnsupportedError
	switch {
	case errors.As(err, &no):
		v := diag.Verdict{Kind: diag.Unsupported, Reason: no.What}
		if no.Instr != nil {
			v.Span = spanOf(no.Instr)
		}
		return nil, v
	case ctx.Err() != nil:
		return nil, diag.Verdict{Kind: diag.Unknown, Reason: "out of time"}
	case err != nil:
		return nil, diag.Verdict{Kind: diag.Unknown, Reason: err.Error()}
	}
	if why := p.assume(ctx, th); why != "" {
		return nil, diag.Verdict{Kind: diag.Unknown, Reason: why}
	}
	p.unwind(th)
	r := verify.Kernel(ctx, th, verify.Options{Benign: p.tolerance(), OnlyIntraBlock: p.opt.OnlyIntraBlock, Ignore: p.opt.Ignore, Limit: limit, Steps: p.steps, Ways: p.ways, OneWarp: p.oneWarp, Shown: p.shown, Pool: p.solving.pool(), Solvers: p.solving.forInvariants(), Sizes: p.sizes(), Record: p.recorder()})
	p.sum.Queries.Add(&r.Stats)
	p.listInvariants(r)
	return r, diag.Verdict{}
}

// lockstep reports whether the proof takes the lanes of a warp to be in lock step.
func (p *proof) lockstep() bool { return p.opt.Warp == "lockstep" && !p.apart }

// spanOf is where a user looks for an instruction.
func spanOf(in *ir.Instr) source.Span { return place(emu.SiteInfo{Instr: in}) }

func (p *proof) tolerance() event.Benign {
	switch p.opt.Benign {
	case "all":
		return event.BenignAll
	case "none":
		return event.BenignNone
	}
	return event.BenignWarp
}

// scalars are the values of the scalar parameters that the launch knows from that origin, or from one that counts more.
func (p *proof) scalars(from launch.Origin) map[int]uint64 {
	out := map[int]uint64{}
	for i, v := range p.kernel.Params {
		a := p.cfg.Args[i]
		if p.cfg.Origins["arg "+a.Name] < from || v.Pointer || a.Buffer != nil || a.Unknown || v.Size > 8 || len(v.PtrFields) > 0 {
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

// guessed names the scalars that the proof is for and nobody gave, with their values.
func (p *proof) guessed() string {
	var out []string
	for i := range p.kernel.Params {
		a := &p.cfg.Args[i]
		if _, ok := p.fixed[i]; ok && p.cfg.Origins["arg "+a.Name] == launch.Default {
			out = append(out, a.Name+" = "+a.Value())
		}
	}
	return strings.Join(out, ", ")
}

// scope says what a proof covers.
func (p *proof) scope(r *verify.Result) string {
	g := p.cfg.Geometry
	var given []string
	for i := range p.kernel.Params {
		if _, ok := p.fixed[i]; ok {
			given = append(given, p.cfg.Args[i].Name)
		}
	}
	s := fmt.Sprintf("all threads, all inputs of this launch shape: grid %v, block %v", g.Grid, g.Block)
	if any := p.opt.Any; any.Is() {
		s = fmt.Sprintf("all threads, all inputs of all launches with grid %s, block %s, of at most 1024 threads a block and fewer than 2^31 in each dimension", shapeText(g.Grid, any.Grid), shapeText(g.Block, any.Block))
	}
	if len(given) > 0 {
		s += ", with the given " + strings.Join(given, ", ")
	}
	if slices.ContainsFunc(r.Thread.Assertions, func(a lockstep.Assertion) bool { return a.Kind == lockstep.Assumed }) || len(r.Thread.Given) > 0 {
		s += ", that satisfy what the kernel requires and assumes"
	}
	if n := p.cfg.Oversize; n > 0 {
		s += fmt.Sprintf("; a block needs %d bytes of shared memory, which no GPU has", n)
	}
	if p.lockstep() {
		s += ", lanes of a warp in lock step"
	}
	if p.opt.OnlyIntraBlock {
		s += "; races between blocks left out"
	}
	s += "; assuming "
	for _, e := range p.opt.Assume {
		s += e.Text + ", "
	}
	s += "that pointer arguments do not alias each other or variables, accesses stay in their arrays"
	if p.opt.Bounds {
		s += " where their size is not known"
	}
	s += ", and loops end"
	if p.opt.NoWrap {
		s += ", and that signed 32-bit index arithmetic does not wrap"
	}
	if r.Lanes {
		s += ", and that all lanes come to the operations of a warp that wait for them"
	}
	if names := r.Thread.Extern; len(names) > 0 {
		s += ", and that " + strings.Join(names, ", ") + " return, touch no memory but the thread's own and synchronize nothing"
	}
	if r.Counters {
		s += ", and that counters of atomic additions do not wrap around"
	}
	return s
}

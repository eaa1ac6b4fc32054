package check

import (
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
	"heddle/internal/smt"
	"heddle/internal/smt/proc"
	"heddle/internal/smt/sat"
	"heddle/internal/source"
	"heddle/internal/verify"
)

// DefaultTimeout is the time that a proof of one kernel may take when Options.Timeout is 0.
const DefaultTimeout = 60 * time.Second

// queryTime bounds one query; several solvers are asked one after the other.
const queryTime = 5 * time.Second

// proof is the verification of one kernel by the static engine.
type proof struct {
	*driver
	in     *input
	kernel *ir.Func
	cfg    *launch.Config
	aside  aside // findings of replays that do not count
	// Counterexamples that agree in the scalars are one run: by its arguments, whether it showed anything.
	replayed map[string]bool
}

// proveKernel verifies one kernel for all inputs of its launch shape, replays what it cannot prove, and
// records the verdict.
func (d *driver) proveKernel(ctx context.Context, in *input, k *ir.Func) {
	cfg := d.config(in, k)
	if cfg == nil {
		return
	}
	p := &proof{driver: d, in: in, kernel: k, cfg: cfg, replayed: map[string]bool{}}
	v := p.verdict(ctx)
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

func (p *proof) verdict(ctx context.Context) diag.Verdict {
	limit := p.opt.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if p.opt.Warp == "lockstep" {
		return diag.Verdict{Kind: diag.Unsupported, Reason: "proofs under --warp lockstep"}
	}
	th, err := lockstep.Build(ctx, p.kernel, lockstep.Options{Geometry: p.cfg.Geometry, Args: p.fixedArgs()})
	var no *lockstep.UnsupportedError
	switch {
	case errors.As(err, &no):
		v := diag.Verdict{Kind: diag.Unsupported, Reason: no.What}
		if no.Instr != nil {
			v.Span = spanOf(no.Instr)
		}
		return v
	case ctx.Err() != nil:
		return diag.Verdict{Kind: diag.Unknown, Reason: "out of time"}
	case err != nil:
		return diag.Verdict{Kind: diag.Unknown, Reason: err.Error()}
	}
	solvers, stop := p.solvers()
	defer stop()
	r := verify.Kernel(ctx, th, verify.Options{Benign: p.tolerance(), OnlyIntraBlock: p.opt.OnlyIntraBlock, Solvers: solvers})
	p.sum.Queries.Add(r.Stats)
	if r.Verified() {
		return diag.Verdict{Kind: diag.Verified, Scope: p.scope(r)}
	}
	return p.examine(ctx, r)
}

// spanOf is where a user looks for an instruction.
func spanOf(in *ir.Instr) source.Span { return place(emu.SiteInfo{Instr: in}) }

func (p *proof) tolerance() verify.Benign {
	switch p.opt.Benign {
	case "all":
		return verify.BenignAll
	case "none":
		return verify.BenignNone
	}
	return verify.BenignWarp
}

// solvers returns the one in process, and z3 behind it where it is installed.
func (p *proof) solvers() ([]smt.Solver, func()) {
	list := []smt.Solver{&sat.Solver{Time: queryTime}}
	z3 := proc.Find(proc.Z3)
	if z3 == nil {
		return list, func() {}
	}
	z3.Time, z3.Memory = queryTime, 4096
	return append(list, z3), z3.Close
}

// fixedArgs are the scalars that the user gave by flags: the proof is for these values alone. Everything else
// is for all values, whatever launches the source shows.
func (p *proof) fixedArgs() map[int]uint64 {
	out := map[int]uint64{}
	for i, v := range p.kernel.Params {
		a := p.cfg.Args[i]
		if p.cfg.Origins["arg "+a.Name] != launch.FromFlag || a.Buffer != nil || a.Unknown || v.Size > 8 {
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

// scope says what a proof covers.
func (p *proof) scope(r *verify.Result) string {
	g := p.cfg.Geometry
	s := fmt.Sprintf("all threads, all inputs of this launch shape: grid %v, block %v", g.Grid, g.Block)
	var given []string
	for i := range p.kernel.Params {
		if a := p.cfg.Args[i]; p.cfg.Origins["arg "+a.Name] == launch.FromFlag && a.Buffer == nil {
			given = append(given, a.Name)
		}
	}
	if len(given) > 0 {
		s += ", with the given " + strings.Join(given, ", ")
	}
	s += "; assuming that pointer arguments do not alias each other or variables, accesses stay in their arrays, and loops end"
	if r.Counters {
		s += ", and that counters of atomic additions do not wrap around"
	}
	return s
}

// examine replays the findings. What the emulator shows too is a bug; the rest is unknown, and says why.
func (p *proof) examine(ctx context.Context, r *verify.Result) diag.Verdict {
	bugs := 0
	seen := map[findingKey]bool{}
	var open []string
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case f.Kind == verify.Vacuous:
			open = append(open, p.describe(f)+" is a contradiction: "+f.Reason)
		case f.Model == nil:
			open = append(open, fmt.Sprintf("%s is undecided: %s", p.describe(f), f.Reason))
		case ctx.Err() != nil:
			open = append(open, p.describe(f)+" is possible, and time ran out before a replay")
		default:
			n, shown := p.replay(ctx, f, r.Thread.Given, seen)
			if bugs += n; !shown {
				open = append(open, p.describe(f)+" is possible; no replay showed it")
			}
		}
	}
	if bugs > 0 {
		p.sum.Bugs += bugs
		return diag.Verdict{Kind: diag.Bug}
	}
	if len(open) == 0 {
		open = []string{"all counterexamples show findings that are not counted, beside which nothing is proved"}
	}
	reason := open[0]
	if len(open) > 1 {
		reason += fmt.Sprintf(" (and %d more)", len(open)-1)
	}
	if len(r.Thread.Approximate) > 0 {
		reason += "; " + strings.Join(r.Thread.Approximate, "; ")
	}
	return diag.Verdict{Kind: diag.Unknown, Reason: reason}
}

func (p *proof) describe(f *verify.Finding) string {
	at := func(in *ir.Instr) string {
		if in == nil {
			return "the end of the kernel"
		}
		return fmt.Sprintf("%s at %s", in.Text(), p.files.Format(spanOf(in).Start))
	}
	switch f.Kind {
	case verify.Violation:
		return fmt.Sprintf("a violation of the %s at %s", f.Assertion.Kind, p.files.Format(spanOf(f.A).Start))
	case verify.Vacuous:
		return fmt.Sprintf("the assumption at %s", p.files.Format(spanOf(f.A).Start))
	case verify.Divergence:
		return fmt.Sprintf("divergence between %s and %s", at(f.A), at(f.B))
	}
	return fmt.Sprintf("a race between %s and %s", at(f.A), at(f.B))
}

// replays are the contents that buffers get, one after the other; 0 leaves them as they are by default.
// The last replay is the launch as it stands: a counterexample may need numbers that are too large to run.
var replays = []uint64{0, 1, 2, 3, asLaunched}

// asLaunched stands for the arguments of the launch instead of those of a counterexample.
const asLaunched = ^uint64(0)

// replay runs the kernel with the scalars of a counterexample and reports what the run shows that no replay
// before showed; shown says whether there was anything at all.
func (p *proof) replay(ctx context.Context, f *verify.Finding, given map[string]uint64, seen map[findingKey]bool) (fresh int, shown bool) {
	for _, contents := range replays {
		req := p.opt.Launch
		req.Args = slices.Clone(req.Args)
		for i, v := range p.kernel.Params {
			if contents == asLaunched {
				break
			}
			req.Args = append(p.fields(f, i, v), req.Args...)
			if spec, ok := p.argument(f, given, i, v, contents); ok {
				req.Args = append([]launch.ArgSpec{spec}, req.Args...) // what the user said comes last and wins
			}
		}
		key := fmt.Sprint(req.Args)
		if did, again := p.replayed[key]; again {
			if did {
				return 0, true
			}
			continue
		}
		cfg, errs := launch.Resolve(p.kernel, req, p.in.facts)
		if cfg == nil || len(errs) > 0 {
			continue
		}
		run := *p.driver
		run.opt.Command = "run" // that shows it again
		r := &kernelRun{driver: &run, in: p.in, kernel: p.kernel, cfg: cfg, seen: seen, only: synchronization, aside: p.aside, parts: ir.OrdersParts(p.kernel)}
		var err error
		if r.machine, err = emu.New(p.kernel, cfg); err != nil {
			return 0, false
		}
		r.run(ctx, 0)
		before := p.aside.hits
		p.aside = r.aside
		shown = r.bugs > 0 || r.repeated > 0 || r.aside.hits > before
		if p.replayed[key] = shown; shown {
			return r.bugs, true
		}
	}
	return 0, false
}

// synchronization are the findings that a replay is for. With the numbers of a counterexample a kernel may
// leave its arrays, which says nothing about races.
func synchronization(code diag.Code) bool {
	switch code {
	case diag.CodeRaceShared, diag.CodeRaceGlobal, diag.CodeAsyncCopy, diag.CodeBarrierDivergence, diag.CodeBarrierDeadlock, diag.CodeAnnotation:
		return true
	}
	return false
}

// argument is the value of a parameter in a counterexample.
func (p *proof) argument(f *verify.Finding, given map[string]uint64, i int, v *ir.Var, contents uint64) (launch.ArgSpec, bool) {
	spec := launch.ArgSpec{Param: fmt.Sprint(i), Offset: -1}
	switch {
	case v.Pointer && contents > 0 && v.PtrSpace != event.Shared:
		spec.Kind, spec.Fill, spec.Seed = launch.ArgBuffer, launch.FillRandom, contents
		return spec, true
	case v.Pointer || v.Size > 8 || len(v.PtrFields) > 0:
		return spec, false
	}
	name := lockstep.ParamName(v, 0, 8*v.Size)
	val, ok := f.Model.Vars[name]
	if !ok {
		val, ok = given[name]
	}
	if !ok {
		return spec, false
	}
	spec.Kind, spec.Text = launch.ArgValue, fmt.Sprintf("%#x", val)
	return spec, true
}

// fields are the values of the fields of a struct parameter in a counterexample.
func (p *proof) fields(f *verify.Finding, i int, v *ir.Var) []launch.ArgSpec {
	var specs []launch.ArgSpec
	for off := 0; v.Size > 8 && off < v.Size; off++ {
		for _, size := range []int{8, 4, 2, 1} {
			if val, ok := f.Model.Vars[lockstep.ParamName(v, off, 8*size)]; ok && !slices.Contains(v.PtrFields, off) {
				specs = append(specs, launch.ArgSpec{Param: fmt.Sprint(i), Offset: off, Kind: launch.ArgValue, Text: fmt.Sprintf("u%d:%#x", 8*size, val)})
				off += size - 1
				break
			}
		}
	}
	return specs
}

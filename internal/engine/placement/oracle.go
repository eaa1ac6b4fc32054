package placement

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/prove"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/verify"
)

// The static oracle. It calls a placement right only if package verify proves that no two threads
// of a block race and that no barrier diverges, for all inputs of the launch shape; an undecided
// pair counts as a race. So it can ask for a barrier that is not needed, and never leave out one
// that is.
//
// Which places diverge whatever other barriers exist is asked once, with barriers everywhere. For
// each placement a run of one block comes first: pairs that race in it need not be disproved. While
// there are such pairs, the proof is asked about them alone: they suffice to reject the placement.
// A run reports for each access the races with those next to it, so their number is linear in that
// of the accesses, where all pairs of a kernel without barriers are quadratic.

// staticOracle judges a placement by proofs for all inputs of the launch shape.
type staticOracle struct {
	*marked
	diverging []placer.Label // a barrier there diverges, whatever other barriers exist
	first     bool           // diverging is known
	warpFirst bool           // for barriers of the warp, too
	// elsewhere are the races between blocks. Barriers of a block do not change them, unless strong
	// accesses order blocks as well.
	elsewhere []placer.Race
	known     bool // elsewhere is
}

// Name implements placer.Oracle.
func (o *staticOracle) Name() string { return "static" }

// notJudgedError is why an oracle cannot judge a kernel.
type notJudgedError struct{ verdict diag.Verdict }

// Error is the reason of the verdict that the oracle came back with.
func (e *notJudgedError) Error() string { return e.verdict.Reason }

// errSteps is the error of a search whose proofs reached their limit.
var errSteps = errors.New("the proofs ran out of steps; " +
	"set a time limit instead, as with --timeout 2m")

// Check implements placer.Oracle: it proves the placement right for all inputs, or names what it
// could not prove.
func (o *staticOracle) Check(ctx context.Context, p placer.Placement) (*placer.Answer, error) {
	a := newAnswer(o.marked, p)
	if !o.first {
		if err := o.uneven(ctx); err != nil {
			return nil, err
		}
		o.first = true
	}
	if o.steps <= 0 {
		return nil, errSteps
	}
	kernels, err := o.placed(p)
	if err != nil {
		return nil, err
	}
	if err := o.judge(ctx, kernels, a); err != nil {
		return nil, err
	}
	if !o.warpFirst && slices.ContainsFunc(a.a.Races, func(r placer.Race) bool { return r.OneWarp }) {
		o.warpFirst = true
		all := placer.Placement{}
		for _, w := range o.warp {
			all[w] = true
		}
		labels, err := o.unevenOf(ctx, all, verify.WarpDiverging)
		if err != nil {
			return nil, err
		}
		for _, l := range labels {
			o.diverging = append(o.diverging, o.warp[l])
		}
	}
	a.a.Divergences = append(a.a.Divergences, o.diverging...)
	return &a.a, nil
}

// judge adds the races of the placed kernels to the answer: those that a run of one block shows, or
// if these are none, all that are not disproved.
func (o *staticOracle) judge(ctx context.Context, kernels []*ir.Func, a *answer) error {
	type seen struct {
		kernel *ir.Func
		host   int
	}
	shown := map[seen]map[[2]source.Span]bool{}
	err := o.each(kernels, func(k *ir.Func) error {
		pairs := o.run(ctx, k, a.p)
		if shown[seen{k, o.host}] = pairs; len(pairs) == 0 {
			return nil
		}
		return o.check(ctx, k, a, nearest(pairs), onlyShown)
	})
	if err != nil || a.objection() {
		return err
	}
	for _, most := range []int{mostRaces, 0} {
		err := o.each(kernels, func(k *ir.Func) error {
			return o.check(ctx, k, a, shown[seen{k, o.host}], most)
		})
		if err != nil {
			return err
		}
		if a.objection() || !a.cut {
			break
		}
		a.cut = false // by races between blocks
	}
	if a.cut {
		return nil
	}
	if err := o.otherBlocks(a); err != nil {
		return err
	}
	a.a.Verified = !a.objection()
	return nil
}

// mostRaces is the number of races after which a proof ends that has to reject a placement. Fewer
// races make more questions, and more races longer ones: in a kernel of n loops that may have no
// iteration, n*n pairs race until there is a barrier between any two of them.
const mostRaces = 100

// nearest leaves out pairs of many, if another pair is between their instructions in the text: what
// separates that pair mostly separates them, and else the next run shows them again.
func nearest(shown map[[2]source.Span]bool) map[[2]source.Span]bool {
	if len(shown) <= mostRaces {
		return shown
	}
	ends := func(p [2]source.Span) (from, to source.Pos) {
		return min(p[0].Start, p[1].Start), max(p[0].Start, p[1].Start)
	}
	pairs := slices.SortedFunc(maps.Keys(shown), func(p, q [2]source.Span) int {
		pFrom, pTo := ends(p)
		qFrom, qTo := ends(q)
		return cmp.Or(cmp.Compare(qFrom, pFrom), cmp.Compare(pTo, qTo))
	})
	out := map[[2]source.Span]bool{}
	first := source.Pos(math.MaxUint64) // where the pairs end that begin behind the next one
	for _, p := range pairs {
		if _, to := ends(p); to < first {
			first = to
			out[p] = shown[p]
		}
	}
	return out
}

// errOtherBlocks is the error of a search for all arguments in a kernel whose blocks race for some.
var errOtherBlocks = errors.New("blocks race with some arguments")

// otherBlocks keeps the races between blocks of the first answer, or adds them to a later one.
func (o *staticOracle) otherBlocks(a *answer) error {
	other := func(r placer.Race) bool { return r.OtherBlock }
	if o.whole && slices.ContainsFunc(a.a.Races, other) {
		return errOtherBlocks
	}
	if o.known {
		a.a.Races = append(a.a.Races, o.elsewhere...)
		return nil
	}
	if strong := (*ir.Func).HasStrong; slices.ContainsFunc(o.kernels, strong) {
		return nil // asked again for each placement
	}
	o.known = true
	for _, r := range a.a.Races {
		if other(r) {
			o.elsewhere = append(o.elsewhere, r)
		}
	}
	return nil
}

// proof readies the proof of a placed kernel.
func (o *staticOracle) proof(k *ir.Func) (*prove.Proof, error) {
	cfg, errs := o.config(k)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	p := o.s.prover.Proof(o.job(k), cfg)
	p.Paths, p.Exists, p.OneBlock = true, true, o.known && !o.s.opt.Grid
	p.Fixed, p.Steps = p.Scalars(o.scalars), o.steps
	return p, nil
}

// severalWarps reports whether barriers of the warp are worth placing: in a block of one warp they
// would be right for that launch and wrong for others, and cost as much.
func (s *syncer) severalWarps(in *driver.Module, kernels []*ir.Func) bool {
	for _, k := range kernels {
		cfg, errs := launch.Resolve(k, s.d.Job(in, k).Launch, in.Facts)
		if s.opt.BlockOnly || s.opt.Grid || len(errs) > 0 ||
			cfg.Geometry.Block.Count() <= event.WarpSize {
			return false
		}
	}
	return true
}

// run returns the pairs of instructions that race in a run of the first block, and whether threads
// of several warps do: these need not be disproved. One block shows nearly all races within blocks,
// and costs the same for a launch of any size. An error, as of a launch that cannot start, means
// that no pair is known to race.
func (o *staticOracle) run(ctx context.Context, k *ir.Func,
	p placer.Placement) map[[2]source.Span]bool {
	seen := newAnswer(o.marked, p)
	if err := (&dynamicOracle{o.marked}).run(ctx, k, o.s.opt.Run.Seed, []uint32{0}, seen); err != nil {
		return nil
	}
	return seen.shown
}

// onlyShown limits a proof to divergence and to the races within a block that a run has shown.
const onlyShown = -1

// check asks the static engine about one kernel, until it has found as many races as most says; 0:
// all of them.
//
// A pair that the solver did not decide is a race with a reason. The steps that the proof took are
// subtracted from those of the search, so its length does not depend on the speed of the machine.
func (o *staticOracle) check(ctx context.Context, k *ir.Func, a *answer,
	shown map[[2]source.Span]bool, most int) error {
	pr, err := o.proof(k)
	if err != nil {
		return err
	}
	ran := func(f *verify.Finding) (seen, warps bool) {
		one, ok := shown[[2]source.Span{f.A.Span, f.B.Span}]
		two, again := shown[[2]source.Span{f.B.Span, f.A.Span}]
		return ok || again, one || two
	}
	pr.Shown = func(f *verify.Finding) bool {
		if f.Kind != verify.Race || f.OtherBlock {
			return false
		}
		seen, _ := ran(f)
		return seen
	}
	if most == onlyShown {
		most = 0
		pr.Ignore = func(f *verify.Finding) bool {
			return f.Kind != verify.Divergence && !pr.Shown(f)
		}
	}
	if o.warps {
		pr.OneWarp = func(f *verify.Finding) bool { _, warps := ran(f); return !warps }
	}
	r, v := pr.Verify(ctx, most)
	if r == nil {
		return &notJudgedError{v}
	}
	a.cut = a.cut || most > 0 && len(r.Findings) >= most
	if o.steps -= r.Stats.Steps; o.steps <= 0 {
		return errSteps
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		switch f.Kind {
		case verify.Divergence:
			if err := a.diverge(f.A, f.B); err != nil {
				return err
			}
		case verify.Race:
			if f.SameThread {
				continue // an asynchronous copy is waited for, not separated by a barrier
			}
			if wanted := o.s.opt.Wanted; wanted != nil && !f.OtherBlock && !wanted(f.A, f.B) {
				continue
			}
			rc, err := o.race(f.A, f.B, f.OtherBlock, f.Ways)
			if err != nil {
				return err
			}
			rc.OneWarp = f.OneWarp
			rc.Undecided = f.Reason
			space := event.Generic
			if f.Object != nil {
				space = f.Object.Space
			}
			a.race(rc, space)
		}
	}
	return nil
}

// uneven finds the labels at which a barrier diverges, with barriers at all of them. They are
// excluded for the rest of the search. Those at which one diverges for other arguments than the
// proofs are for become costly.
func (o *staticOracle) uneven(ctx context.Context) error {
	all := placer.Placement{}
	for l := range o.tree.Labels {
		if n := &o.tree.Labels[l]; n.Barrier || !n.Closed {
			all[placer.Label(l)] = true
		}
	}
	labels, err := o.unevenOf(ctx, all, verify.Diverging)
	o.diverging = append(o.diverging, labels...)
	if scalars := o.scalars; scalars != launch.FromProgram && err == nil {
		o.scalars = launch.FromProgram
		labels, err = o.unevenOf(ctx, all, verify.Diverging)
		o.scalars = scalars
		for _, l := range labels {
			n := &o.tree.Labels[l]
			n.Uneven = !n.Barrier && !slices.Contains(o.diverging, l)
		}
	}
	return err
}

// divergence is a question of package verify.
type divergence func(context.Context, *lockstep.Thread, verify.Options) *verify.Result

// unevenOf returns the places at which the barriers of a placement diverge, as ask decides. A
// kernel that package lockstep cannot describe excludes no place here; the proofs of placements
// report why.
func (o *staticOracle) unevenOf(ctx context.Context, all placer.Placement,
	ask divergence) ([]placer.Label, error) {
	kernels, err := o.placed(all)
	if err != nil {
		return nil, err
	}
	var out []placer.Label
	err = o.each(kernels, func(k *ir.Func) error {
		pr, err := o.proof(k)
		if err != nil {
			return err
		}
		th, err := lockstep.Build(ctx, k, lockstep.Options{Geometry: pr.Config.Geometry, Args: pr.Fixed})
		if err != nil {
			return nil // then nothing is known before it is asked
		}
		r := ask(ctx, th, verify.Options{Pool: o.s.prover.Pool(), Steps: o.steps})
		o.steps -= r.Stats.Steps
		for i := range r.Findings {
			if l, ok := o.barriers[r.Findings[i].A.Span]; ok {
				out = append(out, l)
			}
		}
		return nil
	})
	return out, err
}

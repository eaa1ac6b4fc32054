package placement

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"heddle/internal/engine/prove"
	"heddle/internal/ir"
	"heddle/internal/launch"
	placer "heddle/internal/place"
	"heddle/internal/verify"
)

// The purpose of barriers, one at a time: what happens without it.
//
// A race in a run without a barrier, which the run with it does not have, shows that it is needed,
// and so does a barrier that threads no longer reach together. Only a proof shows that it is not: a
// clean run says nothing. In between, a proof that fails without the barrier, beside one that
// succeeds with it, is a hint (BarrierMaybe).
//
// "Redundant if no race appears without it" holds only where every conflict is a race: strong
// accesses, such as atomic ones, conflict without a race, and a barrier may decide what they read.
// So no barrier of a kernel with strong accesses is called redundant, as in repair.FindRedundant.
// Races between blocks are left out of the proofs: without strong accesses, a barrier of a block
// orders nothing between blocks.

// explainer explains the barriers of one placement.
type explainer struct {
	f       *found
	m       *marked
	kernels []*ir.Func // with all barriers
	groups  []*group
	base    *observation
	with    *proved // with all barriers; nil: not asked yet
	strong  bool
}

// newExplainer finds the barriers of the kernels with a placement.
func newExplainer(f *found, p placer.Placement) (*explainer, error) {
	m := f.marked
	if m.steps = searchSteps; m.s.opt.Prove.Timeout > 0 {
		m.steps = math.MaxInt64
	}
	kernels, err := m.placed(p)
	if err != nil {
		return nil, err
	}
	return &explainer{f: f, m: m, kernels: kernels, groups: m.groupsOf(kernels),
		strong: slices.ContainsFunc(m.kernels, decides)}, nil
}

// observe runs the kernels with all barriers, and counts how often threads reach them.
func (x *explainer) observe(ctx context.Context) (err error) {
	x.base, err = x.m.observe(ctx, x.kernels, x.groups)
	return err
}

// count says of a use how often threads reach its barrier.
func (x *explainer) count(u *BarrierUse, g *group) {
	u.Kernel, u.Warp = x.m.kernels[0].Demangled, g.warp
	u.Blocks, u.Ended = x.base.blocks, x.base.ended
	u.Reached = x.base.counted(g)
	if u.Ended == "" {
		u.Latency = latencyOf(u.Reached.PerBlock, g.warp)
		u.Cycles = uint64(math.Round(u.Reached.PerThread * u.Latency))
	}
}

// use explains one barrier. What prevents an answer is part of it.
func (x *explainer) use(ctx context.Context, g *group) *BarrierUse {
	u := &BarrierUse{}
	x.count(u, g)
	if g.refuse != "" {
		u.Why, u.Refused = g.refuse, true
		return u
	}
	u.undecided(ctx, x.judge(ctx, u, g))
	return u
}

// undecided notes an error as the reason why nothing is known.
func (u *BarrierUse) undecided(ctx context.Context, err error) {
	var no *notJudgedError
	switch {
	case err == nil:
		return
	case ctx.Err() != nil:
		u.Why = "out of time"
	case errors.As(err, &no):
		u.Why = fmt.Sprintf("%s: %s", no.verdict.Kind, no.verdict.Reason)
	default: // that of a place or of a launch
		u.Why = err.Error()
	}
	u.Need = BarrierUndecided
}

// judge compares runs, and then proofs, with the barrier and without it.
func (x *explainer) judge(ctx context.Context, u *BarrierUse, g *group) error {
	if x.base.waiting[g.pos] {
		u.Why = "not all threads that it waits for reach it"
		return nil
	}
	less := without(x.kernels, g)
	seen, err := x.m.observe(ctx, less, nil)
	if err != nil {
		return err
	}
	if u.Pairs, u.Changes = seen.beyond(x.base); len(u.Pairs)+len(u.Changes) > 0 {
		u.Need = BarrierNeeded
		return nil
	}
	for _, key := range x.base.order {
		if p := x.base.pairs[key]; !p.Strong {
			u.Why = "the kernel has a race even with this barrier, which has to be repaired first: " + p.Text()
			return nil
		}
	}
	return x.prove(ctx, u, less)
}

// prove asks for proofs without the barrier and with it, for all arguments and, if the kernel is
// not proved for all with its barriers, for those of the launch.
func (x *explainer) prove(ctx context.Context, u *BarrierUse, less []*ir.Func) error {
	p, err := x.m.prove(ctx, less)
	if err != nil {
		return err
	}
	if p.verified {
		x.redundant(u, p)
		return nil
	}
	if x.with == nil {
		if x.with, err = x.m.prove(ctx, x.kernels); err != nil {
			return err
		}
		if !x.with.verified && x.m.scalars == launch.FromProgram && x.m.unfixed() {
			x.m.scalars, x.with = launch.Default, nil
			return x.prove(ctx, u, less)
		}
	}
	switch {
	case !x.with.verified:
		u.Why = "no run shows a difference without it, and the kernel is not proved even with it: " +
			"the proof cannot exclude " + x.with.open()
	case len(p.pairs)+len(p.other) == 0:
		u.Why = "no run shows a difference without it, and the kernel is not proved"
	default:
		u.Need, u.Pairs, u.Changes = BarrierMaybe, p.pairs, p.other
	}
	return nil
}

// mayDecide is why a barrier of a kernel with strong accesses is not called redundant.
const mayDecide = "the kernel has atomic, volatile or relaxed accesses, and the barrier may " +
	"decide what they read"

// redundant records that there is a proof without the barrier.
func (x *explainer) redundant(u *BarrierUse, p *proved) {
	if x.strong {
		u.Why = fmt.Sprintf("proved race-free without it (%s), but %s", p.scope, mayDecide)
		return
	}
	u.Need, u.Scope = BarrierRedundant, p.scope
}

// together finds out which of the redundant barriers are redundant together: the costliest first,
// each together with those before it that are. Uses and groups correspond.
func (x *explainer) together(ctx context.Context, uses []*BarrierUse) {
	var list []int
	for i, u := range uses {
		if u.Need == BarrierRedundant {
			list = append(list, i)
		}
	}
	if len(list) < 2 {
		return
	}
	costlier := func(i, j int) int { return cmp.Compare(uses[j].Cycles, uses[i].Cycles) }
	slices.SortStableFunc(list, costlier)
	gone := list[:1:1]
	for _, i := range list[1:] {
		if x.provedWithout(ctx, append(slices.Clone(gone), i)) {
			gone = append(gone, i)
			continue
		}
		x.apart(ctx, uses, i, gone)
	}
	for _, i := range gone {
		other := slices.DeleteFunc(slices.Clone(gone), func(j int) bool { return i == j })
		uses[i].Together = x.places(other)
	}
}

// provedWithout reports whether there is a proof without some barriers.
func (x *explainer) provedWithout(ctx context.Context, list []int) bool {
	var groups []*group
	for _, i := range list {
		groups = append(groups, x.groups[i])
	}
	p, err := x.m.prove(ctx, without(x.kernels, groups...))
	return err == nil && p.verified
}

// apart records that a barrier is not redundant together with others that are: because of single
// ones of them, or of all.
func (x *explainer) apart(ctx context.Context, uses []*BarrierUse, i int, gone []int) {
	var single []int
	for _, j := range gone {
		if len(gone) == 1 || !x.provedWithout(ctx, []int{i, j}) {
			single = append(single, j)
			uses[i].Apart = append(uses[i].Apart, x.places([]int{j}))
			uses[j].Apart = append(uses[j].Apart, x.places([]int{i}))
		}
	}
	if len(single) == 0 {
		uses[i].Apart = append(uses[i].Apart, x.places(gone))
	}
}

// places are those of groups, by their numbers.
func (x *explainer) places(list []int) []string {
	var out []string
	for _, i := range slices.Sorted(slices.Values(list)) {
		out = append(out, x.f.placeOf(x.groups[i]))
	}
	return out
}

// proved is the result of a proof that leaves races between blocks out.
type proved struct {
	verified bool
	scope    string
	pairs    []Pair   // that are not proved apart
	other    []string // what else is not excluded
}

// open names what the proof cannot exclude.
func (p *proved) open() string {
	switch {
	case len(p.pairs) > 0:
		return "a race of " + p.pairs[0].Text()
	case len(p.other) > 0:
		return p.other[0]
	}
	return "every error"
}

// prove tries to prove kernels. The error is a notJudgedError if they cannot be judged.
func (m *marked) prove(ctx context.Context, kernels []*ir.Func) (*proved, error) {
	out := &proved{verified: true}
	for _, k := range kernels {
		cfg, errs := m.config(k)
		switch {
		case len(errs) > 0:
			return nil, errs[0]
		case m.steps <= 0:
			return nil, errSteps
		}
		p := m.s.prover.Proof(m.job(k), cfg)
		p.OneBlock, p.Steps = true, m.steps
		p.Fixed = p.Scalars(m.scalars)
		r, v := p.Verify(ctx, 0)
		if r == nil {
			return nil, &notJudgedError{v}
		}
		if m.steps -= r.Stats.Steps; m.steps <= 0 {
			return nil, errSteps
		}
		out.verified = out.verified && r.Verified()
		out.scope = cmp.Or(out.scope, p.Scope(r))
		m.unproved(out, p, r)
	}
	return out, ctx.Err()
}

// unproved adds what a proof cannot exclude.
func (m *marked) unproved(out *proved, p *prove.Proof, r *verify.Result) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind != verify.Race || f.SameThread {
			out.other = append(out.other, p.Describe(f))
			continue
		}
		pair := Pair{First: m.pairAccess(f.A), Second: m.pairAccess(f.B)}
		if pair.Proof = "undecided: " + f.Reason; f.Model != nil {
			pair.Proof = "counterexample: " + p.Counterexample(f, r.Thread)
		}
		pair.sort()
		same := func(o Pair) bool { return o.Text() == pair.Text() }
		if !slices.ContainsFunc(out.pairs, same) {
			out.pairs = append(out.pairs, pair)
		}
	}
}

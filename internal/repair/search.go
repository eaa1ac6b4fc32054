package repair

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"heddle/internal/ir"
)

// Options configure a repair.
type Options struct {
	Cost   Cost
	Atomic bool // plain updates may become atomic ones, which can change floating-point sums
	Rounds int  // how often new findings may add actions; 0: defaultRounds
}

// Result is the result of a repair.
type Result struct {
	Before, After *Judgement
	Patch         *Patch // nil: nothing to repair, or Reason says why it was not possible
	Plan          *Plan  // the plan behind Patch
	Changes       []Change
	Alternatives  []Alternative // other plans of the same cost
	Cost          float64       // of the changes
	Reason        string        // why the kernel cannot be repaired
	Judged        int           // calls of the judge
}

// repairer is the state of one repair.
type repairer struct {
	x      *Transformer
	judge  Judge
	opt    Options
	seen   map[judged]*Judgement
	asked  int
	byOff  map[int]*ir.Instr
	strong bool      // the kernel has strong accesses, which may conflict without a race
	found  []located // what to repair
	// writers has, by register, the instruction that computes it, and written how many write it:
	// name.go.
	writers map[ir.RegID]*ir.Instr
	written map[ir.RegID]int
	why     error // why the last unsupported plan could not be carried out
}

// defaultRounds is the default of Options.Rounds.
const defaultRounds = 6

// judged identifies a judgement.
type judged struct {
	text  [32]byte
	proof bool
}

// located is a finding with its instructions in the original kernel.
type located struct {
	Finding
	a, b *ir.Instr // nil for the end of the kernel, or for an inserted instruction
}

// Repair looks for the cheapest plan that the judge accepts.
func Repair(ctx context.Context, k *Kernel, judge Judge, opt Options) (*Result, error) {
	if opt.Cost == (Cost{}) {
		opt.Cost = DefaultCost
	}
	if opt.Rounds == 0 {
		opt.Rounds = defaultRounds
	}
	r := &repairer{
		x: New(k), judge: judge, opt: opt, strong: k.Func.HasStrong(),
		seen: map[judged]*Judgement{}, byOff: map[int]*ir.Instr{},
	}
	for _, b := range k.Func.Blocks {
		for _, in := range b.Instrs {
			if off, ok := k.File.Offset(in.Span.Start); ok {
				r.byOff[off] = in
			}
		}
	}
	before, err := r.look(ctx, k.File.Content, true)
	if err != nil {
		return nil, err
	}
	res := &Result{Before: before}
	defer func() { res.Judged = r.asked }()
	if before.Grade != Buggy {
		return res, nil
	}
	r.learn(before, nil, false)
	r.divergent()
	best, err := r.search(ctx)
	if err != nil {
		return nil, err
	}
	if best == nil {
		res.Reason = r.reason()
		return res, nil
	}
	res.Patch, res.After = best.patch, best.judgement
	res.Plan, res.Changes = best.plan, r.changes(best)
	for _, a := range best.actions {
		res.Cost += a.cost
	}
	res.Alternatives = r.alternatives(ctx, best)
	return res, nil
}

// changes returns the changes that an attempt makes.
func (r *repairer) changes(a *attempt) []Change {
	var out []Change
	for _, x := range a.actions {
		if x.what.What != "" {
			out = append(out, x.what)
		}
	}
	for _, in := range Barriers(r.x.k.Func) {
		if a.plan.Drop[in.Index] {
			out = append(out, Change{What: "the barrier is removed", At: in, Old: true})
		}
	}
	return out
}

// look asks the judge, once for each text.
func (r *repairer) look(ctx context.Context, text []byte, proof bool) (*Judgement, error) {
	key := judged{sha256.Sum256(text), proof}
	if j := r.seen[key]; j != nil {
		return j, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j, err := r.judge.Judge(ctx, text, proof)
	if err != nil {
		return nil, err
	}
	r.asked++
	r.seen[key] = j
	return j, nil
}

// locate returns the findings of a judgement with their instructions in the original kernel.
func (r *repairer) locate(j *Judgement, p *Patch) []located {
	at := func(off int) *ir.Instr {
		if off == End {
			return nil
		}
		if p != nil {
			old, ok := p.Origin(off)
			if !ok {
				return nil
			}
			off = old
		}
		return r.byOff[off]
	}
	var out []located
	for _, f := range j.Findings {
		out = append(out, located{f, at(f.A), at(f.B)})
	}
	return out
}

// learn adds the findings of a judgement, and reports whether one was new. With warps set, the text
// has warp barriers of a plan, which may diverge themselves. Findings accumulate over all plans,
// since a finding that one plan removes may return without it. Those at inserted instructions have
// no place in the original kernel.
func (r *repairer) learn(j *Judgement, p *Patch, warps bool) (fresh bool) {
	for _, l := range r.locate(j, p) {
		f := l.Finding
		if f.Kind == Divergence && warps {
			continue // the plan's own barrier diverges, which says nothing about the kernel
		}
		same := func(o located) bool {
			return o.Kind == l.Kind && o.a == l.a && o.b == l.b && o.Reach == l.Reach
		}
		if !slices.ContainsFunc(r.found, same) {
			r.found = append(r.found, l)
			fresh = true
		}
	}
	return fresh
}

// divergent returns the barriers that not all threads reach, and tells the transformer. If two
// barriers disagree, only those count that some branch keeps threads away from, if there are any.
func (r *repairer) divergent() []*ir.Instr {
	var out []*ir.Instr
	for _, f := range r.found {
		if f.Kind != Divergence || !f.Shown {
			continue
		}
		var pair, odd []*ir.Instr
		for _, in := range []*ir.Instr{f.a, f.b} {
			if in == nil || !isBarrier(in) {
				continue
			}
			pair = append(pair, in)
			if r.x.strays(in) {
				odd = append(odd, in)
			}
		}
		// The count of threads went wrong at the pair in the end; another barrier may be the cause.
		if len(odd) == 0 {
			for _, in := range Barriers(r.x.k.Func) {
				if r.x.strays(in) {
					odd = append(odd, in)
				}
			}
		}
		// Then a branch keeps threads away that the analysis takes for uniform.
		if len(odd) == 0 {
			for _, in := range pair {
				b := r.x.blockOf(in)
				if r.x.Diverges(b); !r.x.flow.uniform[b] {
					odd = append(odd, in)
				}
			}
		}
		for _, in := range odd {
			if !slices.Contains(out, in) {
				out = append(out, in)
			}
		}
	}
	return out
}

// attempt is a plan that was carried out and judged.
type attempt struct {
	actions   []action
	all       []action // all actions of the strategy
	plan      *Plan
	patch     *Patch
	judgement *Judgement
	grade     Grade
}

// try carries out actions and judges the result; nil if they cannot be carried out. Every plan
// deals with the barriers that diverge, whatever its actions are.
func (r *repairer) try(ctx context.Context, actions []action, proof bool) (*attempt, error) {
	plan := &Plan{Drop: map[int]bool{}, Split: map[int]bool{}, Texts: map[int]string{}}
	for _, in := range r.divergent() {
		if r.strong { // it may order accesses that never race
			plan.Split[in.Index] = true
		} else {
			plan.Drop[in.Index] = true
		}
	}
	for _, a := range actions {
		a.add(plan)
	}
	patch, err := r.x.Apply(plan)
	var no *Unsupported
	if errors.As(err, &no) {
		r.why = err
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j, err := r.look(ctx, patch.Text, proof)
	if err != nil {
		return nil, err
	}
	return &attempt{actions: actions, plan: plan, patch: patch, judgement: j, grade: j.Grade}, nil
}

// search tries single steps first, where the kernel has what they are for, and then one strategy
// after another, cheap means first. A proof counts more than runs without a finding. A later
// strategy replaces the result of an earlier one only if its grade is better, so cost never
// outweighs a proof.
func (r *repairer) search(ctx context.Context) (*attempt, error) {
	best, err := r.stepwise(ctx)
	if err != nil || best != nil && best.grade >= Traced {
		return best, err
	}
	for _, s := range strategies {
		a, err := r.widest(ctx, s)
		if err != nil {
			return nil, err
		}
		if a == nil || best != nil && a.grade <= best.grade {
			continue
		}
		all := a.actions
		if a, err = r.narrow(ctx, a); err != nil {
			return nil, err
		}
		if a, err = r.weaken(ctx, a); err != nil {
			return nil, err
		}
		a.all = all
		if best = a; best.grade >= Traced {
			break
		}
	}
	return best, nil
}

// strategies are in the order in which they are tried.
var strategies = []strategy{
	nothing, warps, everywhere(false), warpsToo, everywhere(true), serial, copies(false), copies(true),
	fences(false), fences(true), fencesAndBarriers, atomics, atomicsAndBarriers,
}

// widest tries all actions of a strategy together, and those that new findings add; nil if that
// does not help. The rounds end when no action is new, when no finding is new, or at
// Options.Rounds.
func (r *repairer) widest(ctx context.Context, s strategy) (*attempt, error) {
	tried := -1
	for range r.opt.Rounds {
		actions := s(r)
		if actions == nil || len(actions) == tried {
			return nil, nil
		}
		tried = len(actions)
		a, err := r.try(ctx, actions, true)
		if a == nil || err != nil {
			return nil, err
		}
		if a.grade >= Clean {
			return a, nil
		}
		if !r.learn(a.judgement, a.patch, len(a.plan.Warps) > 0) {
			return nil, nil
		}
	}
	return nil, nil
}

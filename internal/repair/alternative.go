package repair

import (
	"context"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Alternative is another plan of the same cost that the judge accepts.
type Alternative struct {
	Plan    *Plan
	Changes []Change
	Patch   *Patch
	After   *Judgement
}

const (
	maxAlternatives = 3 // of a result
	// maxSwapCalls bounds the calls of the judge to find them: alternatives are an extra, and may not
	// take much longer than the repair. Kernels of testdata/fix need at most 7, their repairs 4 to 42.
	maxSwapCalls = 8
)

// alternatives exchanges one action of the best plan for another of the same cost, and keeps the
// plans that the judge accepts. It may stop early: not every alternative is found.
func (r *repairer) alternatives(ctx context.Context, best *attempt) (out []Alternative) {
	end := r.asked + maxSwapCalls
	for i, old := range best.actions {
		for _, c := range best.all {
			if !r.exchangeable(old, c, best.actions) || slices.ContainsFunc(out, c.among) {
				continue
			}
			if r.asked == end || len(out) == maxAlternatives {
				return out
			}
			actions := slices.Clone(best.actions)
			actions[i] = c
			a, err := r.try(ctx, actions, best.grade == Verified)
			if err != nil {
				return out
			}
			if a != nil && a.grade >= best.grade {
				out = append(out, Alternative{a.plan, r.changes(a), a.patch, a.judgement})
			}
		}
	}
	return out
}

// exchangeable reports whether c costs as much as old, does the same, and is at a place that none
// of the actions has yet. Actions of cost 0, such as serial, choose how the plan is carried out and
// not where; exchanging them would not give the user another place.
func (r *repairer) exchangeable(old, c action, actions []action) bool {
	return c.cost == old.cost && old.cost != 0 && c.what.What == old.what.What &&
		!slices.ContainsFunc(actions, func(x action) bool { return x.key == c.key || r.samePlace(x, c) })
}

// among reports whether an alternative changes the place of c already.
func (c action) among(a Alternative) bool {
	return slices.ContainsFunc(a.Changes, func(ch Change) bool { return ch.At == c.what.At })
}

// samePlace reports whether neither an access nor a barrier lies between the places of two actions.
// Two plans that differ in nothing else order the same accesses, so only one of them is shown.
func (r *repairer) samePlace(a, b action) bool {
	if a.what.At == nil || b.what.At == nil {
		return a.what.At == b.what.At
	}
	p, q := r.x.where(a.what.At), r.x.where(b.what.At)
	if p.Block != q.Block {
		return r.silent(p, q) || r.silent(q, p)
	}
	return quiet(r.x.k.Func.Block(p.Block).Instrs[min(p.Index, q.Index):max(p.Index, q.Index)])
}

// silent reports whether a single path without accesses and barriers leads from p to q in another
// block.
func (r *repairer) silent(p, q Point) bool {
	b, end := r.x.k.Func.Block(p.Block), r.x.k.Func.Block(q.Block)
	return len(b.Succs) == 1 && b.Succs[0] == q.Block && len(end.Preds) == 1 &&
		quiet(b.Instrs[p.Index:]) && quiet(end.Instrs[:q.Index])
}

// quiet reports whether no instruction of a list accesses shared or global memory or synchronizes.
func quiet(list []*ir.Instr) bool {
	return !slices.ContainsFunc(list, func(in *ir.Instr) bool {
		own := in.Space == event.Param || in.Space == event.Const || in.Space == event.Local
		return in.Row == nil || in.IsCall() || in.Row.Effect != isa.NoEffect && !own
	})
}

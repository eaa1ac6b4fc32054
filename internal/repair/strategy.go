package repair

import (
	"fmt"
	"slices"

	"heddle/internal/ir"
)

// A strategy offers actions for what was found. All of them together are tried first: if they do not help, no part of
// them does, because more order never makes a race.
type strategy func(*repairer) []action

// unique drops actions that are there already.
func unique(list []action) []action {
	seen := map[string]bool{}
	out := []action{}
	for _, a := range list {
		if !seen[a.key] {
			seen[a.key] = true
			out = append(out, a)
		}
	}
	return out
}

// nothing lets barriers that diverge go away, if there are any.
func nothing(r *repairer) []action {
	if len(r.divergent()) == 0 {
		return nil
	}
	return []action{}
}

// sides are the instructions that something was found at.
func (r *repairer) sides() []*ir.Instr {
	var out []*ir.Instr
	for _, f := range r.found {
		for _, in := range r.sidesOf(f) {
			if f.Kind != Other && !slices.Contains(out, in) {
				out = append(out, in)
			}
		}
	}
	return out
}

// sidesOf are the instructions of one finding.
func (r *repairer) sidesOf(f located) []*ir.Instr {
	return slices.DeleteFunc([]*ir.Instr{f.a, f.b}, func(in *ir.Instr) bool { return in == nil })
}

// everywhere offers block barriers near all that was found: where all threads come anyway, or everywhere. Barriers that
// diverge may stay if the control flow brings all threads to them.
func everywhere(split bool) strategy {
	return func(r *repairer) []action {
		out := []action{}
		gone := r.divergent()
		for _, in := range gone {
			if split && !r.strong {
				out = append(out, r.keep(in))
			}
		}
		for _, in := range r.sides() {
			for _, p := range r.x.near(in) {
				at := r.x.where(in)
				if slices.Contains(gone, in) && p.Block == at.Block && (p.Index == at.Index || p.Index == at.Index+1) {
					continue // the place of the barrier itself
				}
				if split || r.x.flow.uniform[p.Block] {
					out = append(out, r.x.barrierAction(r.opt.Cost, p))
				}
			}
		}
		return unique(out)
	}
}

// keep leaves a barrier where it is and brings all threads there. Among equal costs it is better than a new barrier.
func (r *repairer) keep(in *ir.Instr) action {
	return action{
		key: fmt.Sprint("keep ", in.Index), cost: 0.99 * r.x.pointCost(r.opt.Cost, r.x.where(in)),
		add: func(pl *Plan) {
			delete(pl.Drop, in.Index)
			pl.Split[in.Index] = true
		},
		what: Change{What: "the barrier stays", At: in, Cut: true, Old: true},
	}
}

// serial offers the same, and that branches come one after the other.
func serial(r *repairer) []action {
	list := everywhere(true)(r)
	return append(list, action{"serial", 0, func(pl *Plan) { pl.Serial = true }, Change{}})
}

// warps offers barriers of a warp, if all races are within one.
func warps(r *repairer) []action {
	out := []action{}
	for _, f := range r.found {
		if f.Shown && (f.Kind != Race || f.Reach != InWarp) {
			return nil
		}
	}
	for _, in := range r.sides() {
		for _, p := range r.x.near(in) {
			a := r.x.barrierAction(r.opt.Cost, p)
			a.key = "warp " + a.key
			a.cost *= warpCost
			a.what.What, a.what.Cut = "a barrier of the warp", false
			a.add = func(pl *Plan) { pl.Warps = append(pl.Warps, p) }
			out = append(out, a)
		}
	}
	return unique(out)
}

// warpCost is what a barrier of a warp costs against one of the block.
const warpCost = 0.1

package repair

import (
	"fmt"
	"slices"

	"heddle/internal/ir"
)

// A strategy offers actions for the findings. All of them are tried together first: if they do not
// help, no subset does, because more order never creates a race.
type strategy func(*repairer) []action

// unique drops duplicate actions.
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

// nothing removes barriers that diverge, if there are any, and adds none. Such a barrier may order
// nothing that races, and this repair is the cheapest, so it is tried first.
func nothing(r *repairer) []action {
	if len(r.divergent()) == 0 {
		return nil
	}
	return []action{}
}

// sides returns the instructions of all findings.
func (r *repairer) sides() []*ir.Instr {
	var out []*ir.Instr
	for _, f := range r.found {
		for _, in := range r.sidesOf(f) {
			if f.Kind != Other && !f.Kind.tracked() && !slices.Contains(out, in) {
				out = append(out, in)
			}
		}
	}
	return out
}

// sidesOf returns the instructions of one finding.
func (r *repairer) sidesOf(f located) []*ir.Instr {
	return slices.DeleteFunc([]*ir.Instr{f.a, f.b}, func(in *ir.Instr) bool { return in == nil })
}

// everywhere offers block barriers near all findings: with split, everywhere, else only where all
// threads arrive without a transformation. With split, barriers that diverge may stay if the
// control flow can be transformed so that all threads reach them.
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
				beside := p.Block == at.Block && (p.Index == at.Index || p.Index == at.Index+1)
				if beside && slices.Contains(gone, in) {
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

// keep leaves a barrier in place and transforms the control flow so that all threads reach it. At
// equal cost it is preferred to a new barrier.
func (r *repairer) keep(in *ir.Instr) action {
	return action{
		key: fmt.Sprint("keep ", in.Index), cost: 0.99 * r.x.pointCost(r.opt.Cost, r.x.where(in)),
		add: func(pl *Plan) {
			delete(pl.Drop, in.Index)
			pl.Split[in.Index] = true
		},
		what: Change{What: "the barrier is kept", At: in, Cut: true, Old: true},
	}
}

// serial offers the same, with branches executed one after another (Algorithm 1 of the paper).
// Branches that share a barrier leave their accesses between two barriers unordered; serial orders
// those too.
func serial(r *repairer) []action {
	list := everywhere(true)(r)
	return append(list, action{key: "serial", add: func(pl *Plan) { pl.Serial = true }})
}

// warps offers warp barriers, if all races are within one warp. In a run a race counts as within a
// warp by its two threads. The judge decides whether other warps race at the same accesses.
func warps(r *repairer) []action {
	for _, f := range r.found {
		if f.Shown && (f.Kind != Race || f.Reach != InWarp) {
			return nil
		}
	}
	return r.warpBarriers(r.sides())
}

// warpBarriers offers warp barriers near instructions.
func (r *repairer) warpBarriers(sides []*ir.Instr) []action {
	out := []action{}
	for _, in := range sides {
		for _, p := range r.x.near(in) {
			a := r.x.barrierAction(r.opt.Cost, p)
			a.key = "warp " + a.key
			a.cost *= warpCost
			a.what.What, a.what.Cut = "a warp barrier", false
			a.add = func(pl *Plan) { pl.Warps = append(pl.Warps, p) }
			out = append(out, a)
		}
	}
	return unique(out)
}

// warpsToo offers block barriers that all threads reach, and warp barriers where not all threads
// do: a reduction of a block often ends with steps of one warp.
func warpsToo(r *repairer) []action {
	var apart []*ir.Instr
	for _, f := range r.found {
		for _, in := range r.sidesOf(f) {
			within := f.Kind == Race && f.Reach == InWarp
			if within && !r.x.flow.uniform[r.x.blockOf(in)] && !slices.Contains(apart, in) {
				apart = append(apart, in)
			}
		}
	}
	if len(apart) == 0 {
		return nil
	}
	return append(everywhere(false)(r), r.warpBarriers(apart)...)
}

// warpCost is the cost of a warp barrier relative to a block barrier.
const warpCost = 0.1

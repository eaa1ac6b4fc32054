package fix

import (
	"cmp"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/repair"
	"heddle/internal/syntax"
)

// Which place between statements is a place between instructions? One that is in as many loops, and
// that has the same accesses before and after it. ranker orders places by that, so that the first
// one that is compiled is mostly the right one.
type ranker struct {
	s     *sourceFixer
	k     *ir.Func
	loops *ir.LoopForest
	order []int // of blocks, in reverse postorder; -1: never reached
}

// newRanker analyses the loops of a kernel. Blocks that are never reached get no order, and are
// ignored.
func (s *sourceFixer) newRanker(k *ir.Func) *ranker {
	loops := ir.FindLoops(k, ir.Dominators(k))
	r := &ranker{s: s, k: k, loops: loops, order: make([]int, len(k.Blocks))}
	for i := range r.order {
		r.order[i] = -1
	}
	for i, b := range ir.ReversePostorder(k) {
		r.order[b] = i
	}
	return r
}

// ahead returns the blocks that are reachable from one without back edges, and without itself.
func (r *ranker) ahead(from ir.BlockID) map[ir.BlockID]bool {
	seen := map[ir.BlockID]bool{}
	var walk func(ir.BlockID)
	walk = func(b ir.BlockID) {
		for _, s := range r.k.Block(b).Succs {
			if r.order[s] > r.order[b] && !seen[s] {
				seen[s] = true
				walk(s)
			}
		}
	}
	walk(from)
	return seen
}

// outermost returns the header of the largest loop around a block that does not contain another
// block; without one, the block itself. The body of a loop comes before what follows the loop,
// though only another iteration leads there.
func (r *ranker) outermost(b, other ir.BlockID) ir.BlockID {
	for l := r.loops.Of[b]; l != nil && !l.Contains(other); l = l.Parent {
		b = l.Header
	}
	return b
}

// spot is an access in a function of the source.
type spot struct {
	offset        int
	before, after bool // it comes before the place, or behind it
	next          bool // the place is next to it
}

// spots are the accesses of a function of the source, as they lie around a place of the kernel. An
// inlined access counts at each frame of its inline stack that is in fn.
func (r *ranker) spots(fn *syntax.Func, p repair.Point) []spot {
	var out []spot
	ahead := r.ahead(p.Block)
	for _, b := range r.k.Blocks {
		if r.order[b.ID] < 0 {
			continue
		}
		behind := b.ID != p.Block && r.ahead(r.outermost(b.ID, p.Block))[p.Block]
		for i, in := range b.Instrs {
			if !touchesMemory(in) {
				continue
			}
			for fr := in.Loc; fr != nil; fr = fr.Parent {
				if r.s.unit.FuncOf(fr.Pos) != fn {
					continue
				}
				if off, ok := fn.File.Offset(fr.Pos); ok {
					here := b.ID == p.Block
					out = append(out, spot{
						offset: off,
						before: behind || here && i < p.Index,
						after:  ahead[b.ID] || here && i >= p.Index,
						next:   here && (i == p.Index || i == p.Index-1),
					})
				}
			}
		}
	}
	return out
}

// rank sorts steps for a place, best first: those within as many loops as it, and among them those
// with the fewest accesses on the wrong side. The order affects only how soon a form is found,
// never whether it is accepted.
func (r *ranker) rank(steps []step, p repair.Point) {
	type score struct{ loops, wrong int }
	depth := 0
	if l := r.loops.Of[p.Block]; l != nil {
		depth = l.Depth
	}
	spots := map[*syntax.Func][]spot{}
	of := func(st step) score {
		if st.insert == nil { // it divides the statement that has the place within it
			return score{}
		}
		at, loops, ok := r.s.unit.Spot(st.fn, *st.insert)
		if !ok {
			return score{loops: depth, wrong: len(r.k.Blocks)}
		}
		sp, known := spots[st.fn]
		if !known {
			sp = r.spots(st.fn, p)
			spots[st.fn] = sp
		}
		out := score{loops: max(loops-depth, depth-loops)}
		// A place in a called function may be in loops of its callers.
		if !st.fn.Kernel { // the loops of its callers are not known
			out.loops = 0
		}
		for _, s := range sp {
			if s.before && s.offset >= at || s.after && s.offset < at {
				if out.wrong++; s.next { // what the place is for
					out.wrong++
				}
			}
		}
		return out
	}
	scores := make(map[int]score, len(steps))
	order := make([]int, len(steps))
	for i, st := range steps {
		order[i], scores[i] = i, of(st)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := scores[a], scores[b]
		return cmp.Or(cmp.Compare(x.loops, y.loops), cmp.Compare(x.wrong, y.wrong))
	})
	old := slices.Clone(steps)
	for i, n := range order {
		steps[i] = old[n]
	}
}

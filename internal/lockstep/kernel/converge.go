package kernel

import "heddle/internal/ir"

// Warps whose lanes run in lock step (Eizenberg et al., "Barracuda", PLDI 2017, section 3.3.1):
// what the active lanes do by one instruction precedes what they do by the next, and lanes that
// diverge at a branch reconverge at the branch's immediate postdominator. So two accesses by lanes
// of one warp, by different instructions, are ordered if both lanes execute one of the two
// instructions, and execute it together.
//
// A load may then see what another lane wrote since the last barrier. Either the store lies on a
// path to the load, which makes the load's value unknown (see memory.Model.Load), or the two are on
// different paths from a branch, and race.
//
// What this misses: blocks within loops never count as convergent, since lanes may be in different
// iterations.

// convergent returns the blocks that all lanes of a warp that execute them at all execute together:
// those outside loops that cannot be reached from two successors of one branch before these paths
// reconverge.
func convergent(f *ir.Func, loops *ir.LoopForest) Bits {
	out := NewBits(len(f.Blocks))
	for b := range f.Blocks {
		if loops.Of[b] == nil {
			out.Add(b)
		}
	}
	post := ir.PostDominators(f)
	for _, b := range f.Blocks {
		if len(b.Succs) < 2 {
			continue
		}
		m := marker{f: f, convergent: out, join: post.IDom(b.ID), on: make([]int, len(f.Blocks))}
		for i, s := range b.Succs {
			if i == 0 || s != b.Succs[0] {
				m.mark(s, i+1)
			}
		}
	}
	return out
}

// marker follows the paths from the successors of one branch until they reconverge.
type marker struct {
	f          *ir.Func
	convergent Bits
	join       ir.BlockID // where the paths reconverge
	on         []int      // by block: the last path that leads there; 0: none
}

// mark follows path number n, and removes the blocks that another path reaches too.
func (m *marker) mark(from ir.BlockID, n int) {
	seen := NewBits(len(m.f.Blocks))
	work := []ir.BlockID{from}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b == m.join || seen.Has(int(b)) {
			continue
		}
		seen.Add(int(b))
		if m.on[b] != 0 {
			m.convergent.Remove(int(b))
		}
		m.on[b] = n
		work = append(work, m.f.Blocks[b].Succs...)
	}
}

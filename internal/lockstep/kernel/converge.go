package kernel

import (
	"slices"

	"heddle/internal/ir"
)

// Warps whose lanes run in lock step (Eizenberg et al., "Barracuda", PLDI 2017, section 3.3.1):
// what the active lanes do by one instruction precedes what they do by the next, and lanes that
// diverge at a branch reconverge at the branch's immediate postdominator. This file finds the
// blocks that lanes execute together: if two lanes of a warp both execute such a block in the same
// iterations of the loops around it, they execute it at the same time. The proof is in
// docs/theory/lock-step.md, "Lanes in lock step". Then accesses of two lanes of a warp are ordered
//
//   - if both lanes execute the instruction of one of the two, in the same iterations, and it is in
//     such a block;
//   - if they are in different iterations of a loop whose header is such a block;
//   - if all lanes of the warp pass such a block between the two (merge points).
//
// A load may then see what another lane wrote since the last barrier. Either the store lies on a
// path to the load, which makes the load's value unknown (see memory.Model.Load), or the two are on
// different paths from a branch, and race.
//
// What this misses: blocks that two paths of one branch lead to before they reconverge never count
// as convergent, nor does anything in a loop whose lanes may meet in different iterations.

// convergent returns the blocks that lanes of a warp which execute them in the same iterations
// execute together: those that cannot be reached from two successors of one branch before these
// paths reconverge, except in loops whose lanes a branch brings to different iterations.
//
// Where lanes reconverge depends on whether the paths that end the thread count. A block must
// qualify in both ways.
func convergent(f *ir.Func, loops *ir.LoopForest) Bits {
	m := marker{f: f, loops: loops, convergent: NewBits(len(f.Blocks)),
		branch: make([]int, len(f.Blocks)), path: make([]int, len(f.Blocks))}
	for b := range f.Blocks {
		m.convergent.Add(b)
	}
	textbook, unended := ir.PostDominators(f), ir.PostDom(f)
	for _, b := range f.Blocks {
		m.apart(b, textbook.IDom(b.ID))
		if join := unended[b.ID]; join != textbook.IDom(b.ID) {
			m.apart(b, join)
		}
	}
	return m.convergent
}

// marker follows the paths from the successors of one branch after the other until they reconverge.
type marker struct {
	f          *ir.Func
	loops      *ir.LoopForest
	convergent Bits
	// by block: the last branch, and the last path of it, that leads there, by their numbers
	branch, path []int
	branches     int // so far
	paths        int
	work         []ir.BlockID
}

// apart removes the blocks that lanes which diverge at the end of block b, and reconverge at join,
// may execute at different times.
func (m *marker) apart(b *ir.Block, join ir.BlockID) {
	if len(b.Succs) < 2 {
		return
	}
	m.branches++
	for i, s := range b.Succs {
		if !slices.Contains(b.Succs[:i], s) {
			m.mark(s, join)
		}
	}
	for l := m.loops.Of[b.ID]; l != nil; l = l.Parent {
		if join == ir.NoBlock || join == l.Header || !l.Contains(join) ||
			m.branch[l.Header] != m.branches {
			continue
		}
		// One path to join begins another iteration, and another one does not.
		for _, in := range l.Blocks {
			m.convergent.Remove(int(in))
		}
	}
}

// mark follows a path of the current branch to where it reconverges, and removes the blocks that
// another path of the branch reaches too.
func (m *marker) mark(from, join ir.BlockID) {
	m.paths++
	for m.work = append(m.work[:0], from); len(m.work) > 0; {
		b := m.work[len(m.work)-1]
		m.work = m.work[:len(m.work)-1]
		if b == join || m.path[b] == m.paths {
			continue
		}
		if m.branch[b] == m.branches {
			m.convergent.Remove(int(b))
		}
		m.branch[b], m.path[b] = m.branches, m.paths
		m.work = append(m.work, m.f.Blocks[b].Succs...)
	}
}

// heldUp reports whether lanes may wait, for others or for the block, in a block that is not
// convergent. While they do, lanes that wait where paths merge are let go without them, and may stay
// apart for good: then nothing is convergent.
func heldUp(f *ir.Func, convergent Bits) bool {
	return slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
		return !convergent.Has(int(b.ID)) && slices.ContainsFunc(b.Instrs, func(in *ir.Instr) bool {
			use, ok := in.Warp(len(in.Src))
			return ok && use.Waits || IsBlockBarrier(in) || IsCallOf(in, CollectiveCall)
		})
	})
}

// merges returns the convergent blocks that may be merge points of a whole warp: where paths meet,
// and what follows a loop.
func merges(f *ir.Func, loops *ir.LoopForest, convergent Bits) Bits {
	out, preds := NewBits(len(f.Blocks)), make([]int, len(f.Blocks))
	for _, b := range f.Blocks {
		for _, s := range b.Succs {
			preds[s]++
			left := loops.Of[b.ID] != nil && !loops.Of[b.ID].Contains(s)
			if convergent.Has(int(s)) && (preds[s] > 1 || left) && len(f.Blocks[s].Instrs) > 0 {
				out.Add(int(s))
			}
		}
	}
	return out
}

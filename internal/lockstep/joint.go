package lockstep

import (
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Warps whose lanes go in lock step (Eizenberg et al., Barracuda, PLDI 2017, section 3.3.1): what the active lanes do by one
// instruction comes before what they do by the next, and lanes that part at a branch meet again where all ways from
// it do, at the branch's immediate postdominator. So of two accesses by lanes of one warp, by different
// instructions, the one is ordered with the other if both lanes come to the place of one of the two, and come there together.
//
// A load may then see what another lane wrote since the last barrier. Either the store is on a way to the load, which makes the
// load's value anything (see dirtiness), or the two are on different ways from a branch, and a race.

// findJoint finds the blocks outside loops that all lanes of a warp that execute them at all execute together: those that no two
// ways from one branch lead to before they meet. Of loops, in which lanes may be in different iterations, none are.
func (x *exec) findJoint() {
	x.joint = newBitset(len(x.f.Blocks))
	for b := range x.f.Blocks {
		if x.loops.Of[b] == nil {
			x.joint.add(b)
		}
	}
	meets := ir.PostDominators(x.f)
	for _, b := range x.f.Blocks {
		if len(b.Succs) < 2 {
			continue
		}
		meet := meets.IDom(b.ID)
		on := make([]ir.BlockID, len(x.f.Blocks)) // by block: 1 + the first way that leads there
		for i, s := range b.Succs {
			if i > 0 && s == b.Succs[0] {
				continue
			}
			x.mark(on, s, meet, ir.BlockID(i)+1)
		}
	}
}

// mark goes through the blocks that way number n leads to before meet, and takes those that another way leads to too out of
// x.joint.
func (x *exec) mark(on []ir.BlockID, from, meet, n ir.BlockID) {
	seen := newBitset(len(x.f.Blocks))
	work := []ir.BlockID{from}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b == meet || seen.has(int(b)) {
			continue
		}
		seen.add(int(b))
		if on[b] != 0 {
			x.joint.remove(int(b))
		}
		on[b] = n
		work = append(work, x.f.Blocks[b].Succs...)
	}
}

// together is the condition under which the thread is at the current instruction together with all lanes of its warp that come
// there; false if that is not known.
func (x *exec) together(st *state) smt.Term {
	if !x.opt.Lockstep || !x.joint.has(int(x.blockOf[x.at])) {
		return smt.False
	}
	return x.bare(st, smt.True)
}

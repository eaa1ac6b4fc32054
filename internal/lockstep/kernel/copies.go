package kernel

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/thread"
)

// cp.async copies at some time between its issue and the wait that covers it (PTX ISA 9.7.9.25.3).
// If no barrier can lie between the two, its accesses are weak accesses of the interval in which it
// is issued. They are in the program order of their thread only behind the wait, so the thread
// itself can race with them: each access knows the copies that may be pending at it. A copy that
// may be pending at a barrier of the block has no lock-step form here.

// findPending computes for each instruction which copies may be pending there.
func findPending(f *ir.Func) map[*ir.Instr][]*ir.Instr {
	var copies []*ir.Instr
	number := map[*ir.Instr]int{}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Action() == isa.ActCopy {
				number[in] = len(copies)
				copies = append(copies, in)
			}
		}
	}
	if len(copies) == 0 {
		return nil
	}
	n := len(copies)
	step := func(in *ir.Instr, set Bits) { stepCopies(in, set, number) }
	starts := Forward(f, 2*n, step)
	out := map[*ir.Instr][]*ir.Instr{}
	for i, b := range f.Blocks {
		set := starts[i].Clone()
		for _, in := range b.Instrs {
			for k, c := range copies {
				if set.Has(k) || set.Has(n+k) {
					out[in] = append(out[in], c)
				}
			}
			step(in, set)
		}
	}
	return out
}

// stepCopies is the transfer function of the copies that may be pending. Of n copies, element i of
// the set says that copy i is pending and in no group yet, and element n+i that it is pending and
// in a group.
func stepCopies(in *ir.Instr, set Bits, number map[*ir.Instr]int) {
	n := len(number)
	surely := in.Guard == ir.NoReg
	use, ok := in.Async(len(in.Src))
	if !ok || use.Track != isa.CopyGroups {
		return
	}
	switch use.Step {
	case isa.AsyncStart:
		set.Add(number[in])
	case isa.AsyncWaitAll:
		if surely {
			clear(set)
		}
	case isa.AsyncWait: // for all groups, if the number of pending ones is 0
		if surely && use.Pending >= 0 && in.Src[use.Pending].Kind == ir.Imm &&
			in.Src[use.Pending].Val == 0 {
			for i := range n {
				set.Remove(n + i)
			}
		}
	case isa.AsyncCommit:
		for i := range n {
			if set.Has(i) {
				set.Add(n + i)
			}
			if surely {
				set.Remove(i)
			}
		}
	}
}

// findUnsettled returns the copies that may be pending at a barrier of the warp, which does not
// order them.
func (k *Facts) findUnsettled() map[*ir.Instr]bool {
	out := map[*ir.Instr]bool{}
	for in, copies := range k.pending {
		if !k.isWarpBarrier(in) {
			continue
		}
		for _, c := range copies {
			out[c] = true
		}
	}
	return out
}

// findWaits finds the barriers that are waits for copies of a work-group, which order nothing in a
// proof. Lowering writes each right behind its call.
func findWaits(f *ir.Func) (map[*ir.Instr]bool, error) {
	waits := map[*ir.Instr]bool{}
	for _, b := range f.Blocks {
		var call *ir.Instr
		for _, in := range b.Instrs {
			switch {
			case IsCallOf(in, ir.AnnotationPrefix+"awaited"):
				call = in
			case call != nil && IsBlockBarrier(in):
				waits[in], call = true, nil
			}
		}
		if call != nil {
			return nil, &thread.UnsupportedError{Instr: call,
				What: "a wait for work-group copies in a form that heddle does not emit"}
		}
	}
	return waits, nil
}

package lockstep

import (
	"heddle/internal/event"
	"heddle/internal/ir"
)

// cp.async copies at some time from its issue to the wait that covers it (PTX ISA 9.7.9.25.3). If no barrier can
// lie between the two, its accesses are accesses of the interval in which it is issued, weak ones. They are in
// the program order of their thread only behind the wait, so that the thread itself can race with them: each access
// knows the copies that may be under way at it. A copy that may be under way at a barrier has no lock-step form here.

// copyAsync executes cp.async.
func (x *exec) copyAsync(in *ir.Instr, st *state) {
	if len(in.Src) < 3 || in.Src[0].Kind != ir.Mem || in.Src[1].Kind != ir.Mem || in.Src[2].Kind != ir.Imm {
		x.unsupported(in, "%s", in.Text())
	}
	size := int(in.Src[2].Val)
	to, from := x.resolve(x.address(&in.Src[0], st)), x.resolve(x.address(&in.Src[1], st))
	x.aim(in, to)
	st.pending = nil
	for _, p := range to {
		st.view.lose(p.object)
	}
	for _, p := range to {
		x.record(in, p, event.Shared, size, event.Write, st)
	}
	for _, p := range from { // fewer bytes than size may be read
		x.record(in, p, event.Global, size, event.Read, st)
	}
}

// settled ends the path if a copy may be under way at a barrier.
func (x *exec) settled(barrier *ir.Instr, st *state) {
	if len(st.copies) > 0 && !x.settling {
		x.unsupported(st.copies[0].call, "a copy of the work-group that may not be complete at a barrier")
	}
	if copies := x.pending[barrier]; len(copies) > 0 {
		x.unsupported(copies[0], "%s that may not be complete at a barrier", copies[0].Text())
	}
}

// findUnsettled returns the copies that may be under way at a barrier of the warp: the barrier orders nothing of them.
func (x *exec) findUnsettled() map[*ir.Instr]bool {
	out := map[*ir.Instr]bool{}
	for in, copies := range x.pending {
		if !x.isWarpBarrier(in) {
			continue
		}
		for _, c := range copies {
			out[c] = true
		}
	}
	return out
}

// findPending computes for each memory access and barrier which copies may be under way there.
func findPending(f *ir.Func) map[*ir.Instr][]*ir.Instr {
	var copies []*ir.Instr
	number := map[*ir.Instr]int{}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Op() == "cp.async" {
				number[in] = len(copies)
				copies = append(copies, in)
			}
		}
	}
	if len(copies) == 0 {
		return nil
	}
	n := len(copies) // bit i: copy i is of no group yet; n+i: it is of a group
	step := func(in *ir.Instr, set bitset) {
		surely := in.Guard == ir.NoReg
		all := in.Op() == "cp.async.wait_all"
		wait := all || in.Op() == "cp.async.wait_group" && len(in.Src) == 1 && in.Src[0].Kind == ir.Imm && in.Src[0].Val == 0
		switch {
		case in.Op() == "cp.async":
			set.add(number[in])
		case all && surely:
			clear(set)
		case wait && surely:
			for i := range n {
				set.remove(n + i)
			}
		case in.Op() == "cp.async.commit_group":
			for i := range n {
				if set.has(i) {
					set.add(n + i)
				}
				if surely {
					set.remove(i)
				}
			}
		}
	}
	starts := flow(f, 2*n, step)
	out := map[*ir.Instr][]*ir.Instr{}
	for i, b := range f.Blocks {
		set := append(bitset(nil), starts[i]...)
		for _, in := range b.Instrs {
			for k, c := range copies {
				if set.has(k) || set.has(n+k) {
					out[in] = append(out[in], c)
				}
			}
			step(in, set)
		}
	}
	return out
}

// flow runs sets of n elements forward through f until nothing changes, and returns those at the starts of blocks.
func flow(f *ir.Func, n int, step func(*ir.Instr, bitset)) []bitset {
	at := make([]bitset, len(f.Blocks))
	for i := range at {
		at[i] = newBitset(n)
	}
	for changed := true; changed; {
		changed = false
		for i, b := range f.Blocks {
			set := append(bitset(nil), at[i]...)
			for _, in := range b.Instrs {
				step(in, set)
			}
			for _, s := range b.Succs {
				changed = at[s].or(set) || changed
			}
		}
	}
	return at
}

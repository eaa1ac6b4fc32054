package lockstep

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Barriers of OpenCL order the part of memory that their flags name (OpenCL C 3.0, 6.15.8): local memory, global
// memory, both or none. All of them are waited at, so that divergence is a matter of each. But an interval of an access to a
// part of memory ends only at a barrier that orders that part. So a thread has three tags: the last barrier of
// any kind, the last that orders shared, and the last that orders global memory. Threads that pass the same
// barriers pass the same of each kind, so that what is said of tags holds of each of the three. A kernel all of
// whose barriers order all memory has only the first.

// Numbers of the parts.
const (
	partAll = iota
	partShared
	partGlobal
	numParts
)

// partWarp is the number of a tag that is there instead of those of shared and global memory: the last barrier of the block or
// of all lanes of the warp. Between lanes of one warp that come to the same barriers of the warp, it says what is ordered;
// whether they do is to be proved (Thread.WarpEnds).
const partWarp = 1

// findParts finds out which tags the threads of a kernel need. Of a kernel that has barriers of parts of memory too,
// barriers of warps order nothing.
func (x *exec) findParts() {
	grid := false
	for _, b := range x.f.Blocks {
		for _, in := range b.Instrs {
			x.partial = x.partial || isBlockBarrier(in) && in.Orders != event.OrdersAll || isCallOf(in, collectiveCall)
			x.warp = x.warp || x.isWarpBarrier(in)
			grid = grid || in.Grid
		}
	}
	x.parts = 1
	switch {
	case x.partial:
		x.parts, x.warp = numParts, false
	case x.warp:
		x.parts = partWarp + 1
	}
	if grid {
		x.partGrid = x.parts
		x.parts++
	}
}

// isWarpBarrier reports whether in is a barrier of all lanes of a warp for all memory.
func (x *exec) isWarpBarrier(in *ir.Instr) bool {
	if in.Op() != "bar.warp.sync" || in.Orders != event.OrdersAll || len(in.Src) != 1 {
		return false
	}
	mask := in.Src[0]
	if mask.Kind == ir.Register {
		mask = x.only(mask.Reg, in)
	}
	return mask.Kind == ir.Imm && uint32(mask.Val) == 1<<32-1
}

// only returns what the one instruction that writes a register writes to it, if that is a number and use comes behind it;
// else an operand of no kind.
func (x *exec) only(r ir.RegID, use *ir.Instr) ir.Operand {
	var def *ir.Instr
	at := map[*ir.Instr]ir.BlockID{}
	for i, b := range x.f.Blocks {
		for _, in := range b.Instrs {
			if at[in] = ir.BlockID(i); writes(in, r) {
				if def != nil {
					return ir.Operand{}
				}
				def = in
			}
		}
	}
	switch {
	case def == nil, def.Op() != "mov", def.Guard != ir.NoReg, len(def.Src) != 1:
		return ir.Operand{}
	case at[def] == at[use] && def.Index < use.Index, at[def] != at[use] && x.dom.Dominates(at[def], at[use]):
		return def.Src[0]
	}
	return ir.Operand{}
}

func writes(in *ir.Instr, r ir.RegID) bool {
	found := false
	eachReg(in.Dst, true, func(d ir.RegID) { found = found || d == r })
	return found
}

// tagged reports whether a barrier is one that tags name.
func (x *exec) tagged(in *ir.Instr) bool {
	return isBlockBarrier(in) || x.warp && x.isWarpBarrier(in) || isCallOf(in, collectiveCall)
}

// partOf is the part that a space is in.
func partOf(s event.Space) int {
	if s == event.Shared {
		return partShared
	}
	return partGlobal
}

// orders names the part of memory that a space is in.
func orders(s event.Space) event.Orders {
	if s == event.Shared {
		return event.OrdersShared
	}
	return event.OrdersGlobal
}

// ordersPart reports whether a barrier that orders by ends the intervals of a part.
func ordersPart(by event.Orders, part int) bool {
	switch {
	case by == event.OrdersAll || part == partAll:
		return true
	case by == event.OrdersShared:
		return part == partShared
	case by == event.OrdersGlobal:
		return part == partGlobal
	}
	return false
}

// Tag.Barrier has tagWidth bits: 0 for the kernel's entry, exitTag for the end of a thread, else the barrier's
// instruction number plus 1. Iterations are as wide.
const (
	tagWidth = 32
	exitTag  = 1<<tagWidth - 1
)

// tagLen is the number of terms of a tag.
func (x *exec) tagLen() int { return 1 + len(x.slots) }

// tagOf returns the terms of the tag of a part, to be changed in place.
func (x *exec) tagOf(st *state, part int) []smt.Term {
	n := x.tagLen()
	return st.tags[part*n : (part+1)*n]
}

// warpTag is the last barrier of the block or the warp; the zero Tag if barriers of warps order nothing.
func (x *exec) warpTag(st *state) Tag {
	if !x.warp {
		return Tag{}
	}
	t := slices.Clone(x.tagOf(st, partWarp))
	return Tag{Barrier: t[0], Iters: t[1:]}
}

// gridTag is the last barrier of the grid; in a kernel without any, the kernel's entry.
func (x *exec) gridTag(st *state) Tag {
	if x.partGrid == 0 {
		return Tag{Barrier: x.c.Const(0, tagWidth)}
	}
	t := slices.Clone(x.tagOf(st, x.partGrid))
	return Tag{Barrier: t[0], Iters: t[1:]}
}

// tag returns the last barrier that orders some part of memory; with OrdersAll, the last that the thread waited at.
func (x *exec) tag(st *state, by event.Orders) Tag {
	part := partAll
	if x.partial && by != event.OrdersAll {
		if part = partGlobal; by == event.OrdersShared {
			part = partShared
		}
	}
	t := slices.Clone(x.tagOf(st, part))
	return Tag{Barrier: t[0], Iters: t[1:]}
}

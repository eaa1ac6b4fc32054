package kernel

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Barriers of OpenCL order the part of memory that their flags name (OpenCL C 3.0, 6.15.8): local
// memory, global memory, both or none. Threads wait at all of them, so each may diverge. But a
// barrier interval of an access to a part of memory ends only at a barrier that orders that part.
// So a thread has several tags (thread.Tag), one for each of these parts:
//
//   - PartAll: the last barrier of any kind;
//   - PartShared and PartGlobal: the last barrier that orders that memory. A kernel whose barriers
//     all order all memory has only PartAll;
//   - one for warps: the last barrier of the block or of all lanes of the warp. It orders lanes of
//     one warp that reach the same barriers of the warp, which has to be proved
//     (thread.Thread.WarpEnds). In lock step, the last barrier of the block or merge point that all
//     lanes of the warp pass (Options.Merges) takes its place;
//   - last, if the kernel has barriers of the grid: the last of those.
//
// Threads that pass the same barriers pass the same barriers of each part, so what holds of one tag
// holds of each.

// The numbers of the parts.
const (
	PartAll = iota
	PartShared
	PartGlobal
)

// parts says which tags the threads of a kernel need.
type parts struct {
	count    int
	split    bool // PartShared and PartGlobal exist
	barriers bool // barriers of warps order something
	warp     int  // the part for the lanes of warps; 0: there is none
	grid     int  // the part of barriers of the grid; 0: there are none
}

// findParts finds the parts. In a kernel that also has barriers of parts of memory, and in lock
// step, barriers of warps order nothing.
func (k *Facts) findParts(opt Options) parts {
	p, grid := parts{count: 1}, false
	for _, b := range k.f.Blocks {
		for _, in := range b.Instrs {
			p.split = p.split || IsBlockBarrier(in) && in.Orders != event.OrdersAll ||
				IsCallOf(in, CollectiveCall)
			p.barriers = p.barriers || !opt.Lockstep && k.isWarpBarrier(in)
			grid = grid || in.Grid
		}
	}
	if p.split {
		p.count, p.barriers = PartGlobal+1, false
	}
	if p.barriers || len(opt.Merges) > 0 {
		p.warp = p.count
		p.count++
	}
	if grid {
		p.grid = p.count
		p.count++
	}
	return p
}

// Parts returns how many parts of memory have a tag of their own.
func (k *Facts) Parts() int { return k.parts.count }

// SplitParts reports whether shared and global memory have tags of their own.
func (k *Facts) SplitParts() bool { return k.parts.split }

// WarpPart returns the part of the barriers or merge points of a warp; 0 if they order nothing.
func (k *Facts) WarpPart() int { return k.parts.warp }

// GridPart returns the part of barriers of the grid; 0 if there are none.
func (k *Facts) GridPart() int { return k.parts.grid }

// Part returns the part whose tag says which interval accesses to memory ordered by a barrier that
// orders by are in.
func (k *Facts) Part(by event.Orders) int {
	switch {
	case !k.parts.split || by == event.OrdersAll:
		return PartAll
	case by == event.OrdersShared:
		return PartShared
	}
	return PartGlobal
}

// Tagged reports whether an instruction is a barrier that tags name.
func (k *Facts) Tagged(in *ir.Instr) bool {
	return IsBlockBarrier(in) || k.parts.barriers && k.isWarpBarrier(in) || IsCallOf(in, CollectiveCall)
}

// EndsInterval reports whether a barrier that tags name ends the intervals of a part.
func (k *Facts) EndsInterval(in *ir.Instr, part int) bool {
	switch {
	case part == k.parts.grid && part > 0:
		return in.Grid
	case !IsBlockBarrier(in):
		return part == k.parts.warp && part > 0
	case part == k.parts.warp && part > 0:
		return k.Orders(in) == event.OrdersAll
	}
	return ordersPart(k.Orders(in), part)
}

// Orders is the memory that a barrier of the block orders in a proof.
func (k *Facts) Orders(in *ir.Instr) event.Orders {
	if k.waits[in] {
		return event.OrdersNone
	}
	return in.Orders
}

// SpaceOrders names the part of memory that a space is in.
func SpaceOrders(s event.Space) event.Orders {
	if s == event.Shared {
		return event.OrdersShared
	}
	return event.OrdersGlobal
}

// OrdersSpace reports whether a barrier that orders by ends the intervals of accesses to a space.
func OrdersSpace(by event.Orders, s event.Space) bool {
	if s == event.Shared {
		return ordersPart(by, PartShared)
	}
	return ordersPart(by, PartGlobal)
}

func ordersPart(by event.Orders, part int) bool {
	switch {
	case by == event.OrdersAll || part == PartAll:
		return true
	case by == event.OrdersShared:
		return part == PartShared
	case by == event.OrdersGlobal:
		return part == PartGlobal
	}
	return false
}

// isWarpBarrier reports whether in is a barrier of all lanes of a warp for all memory.
func (k *Facts) isWarpBarrier(in *ir.Instr) bool {
	if !in.IsWarpBarrier() || in.Orders != event.OrdersAll || len(in.Src) != 1 {
		return false
	}
	mask := in.Src[0]
	if mask.Kind == ir.Register {
		mask = k.onlyValue(mask.Reg, in)
	}
	return mask.Kind == ir.Imm && uint32(mask.Val) == 1<<32-1
}

// onlyValue returns the source of the only instruction that writes a register, if that is an
// unguarded move that dominates use; else an operand of no kind.
func (k *Facts) onlyValue(r ir.RegID, use *ir.Instr) ir.Operand {
	var def *ir.Instr
	at := map[*ir.Instr]ir.BlockID{}
	for i, b := range k.f.Blocks {
		for _, in := range b.Instrs {
			if at[in] = ir.BlockID(i); writes(in, r) {
				if def != nil {
					return ir.Operand{}
				}
				def = in
			}
		}
	}
	if def == nil || def.Operation() != isa.Move || def.Guard != ir.NoReg || len(def.Src) != 1 {
		return ir.Operand{}
	}
	before := at[def] == at[use] && def.Index < use.Index
	if !before && (at[def] == at[use] || !k.dom.Dominates(at[def], at[use])) {
		return ir.Operand{}
	}
	return def.Src[0]
}

func writes(in *ir.Instr, r ir.RegID) bool {
	found := false
	eachWritten(in, func(d ir.RegID) { found = found || d == r })
	return found
}

package emu

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Accumulators in local memory. Unoptimized code keeps them in an array there: it loads them before
// each operation and stores the results after it, before any wait. ptxas keeps such arrays in
// registers. So in a run 4 bytes of local memory, a slot, are one more place of a register: a load
// makes the register, and a store the slot, a second name of what the other one is, as a mov does
// between registers. A load or a store that computes with the value, or gives it to others, is an
// access.
//
// A slot from which the operand of an operation was loaded, and to which it was stored, is the home
// of the accumulator: nothing else may be stored there before the wait. Other slots are copies.
//
// What is followed are accesses of 4 bytes, or vectors of them, by all lanes at the same address.
// Other accesses to a slot that is under way are unsupported. Reads are noted at the register, so
// that a fence that is missing behind the read of a copy is missed. And a load may write a register
// that an operation under way has as an operand: compilers store what the operation gives, and use
// the register in the next round of a loop for another slot.

// slotTouch is an access to memory that may be local.
type slotTouch struct {
	memOp
	addr  src
	elems []int32 // the registers that it moves, as watched ones; -1: one that is not watched
	fixed []bool  // of a store: it moves a constant
}

// slotAccess returns the operand with the address, and those that are moved, of a load from or a
// store to memory that may be local.
func slotAccess(in *ir.Instr) (kind event.Kind, addr ir.Operand, moved []ir.Operand, ok bool) {
	kind, ok = in.AccessKind()
	if !ok || in.Space != event.Local && in.Space != event.Generic {
		return 0, ir.Operand{}, nil, false
	}
	switch {
	case in.Action() == isa.ActLoad && kind == event.Read && len(in.Src) == 1 && len(in.Dst) == 1:
		moved = elementsOf(in.Dst[0])
	case in.Action() == isa.ActStore && kind == event.Write && len(in.Src) == 2:
		moved = elementsOf(in.Src[1])
	default:
		return 0, ir.Operand{}, nil, false
	}
	return kind, in.Src[0], moved, true
}

// elementsOf returns the elements of a vector, or the operand itself.
func elementsOf(o ir.Operand) []ir.Operand {
	if o.Kind == ir.Vector {
		return o.Elems
	}
	return []ir.Operand{o}
}

// slotRegisters returns the registers that move 4 bytes from one place of memory that may be local
// to another, if operations of a warpgroup may have put their accumulators there.
func (c *compiler) slotRegisters() (out []ir.RegID) {
	if c.slice != nil || c.p.track || !c.watch.warpgroup {
		return nil
	}
	loaded := make(map[ir.RegID]bool)
	for _, kind := range []event.Kind{event.Read, event.Write} {
		for _, b := range c.fn.Blocks {
			for _, in := range b.Instrs {
				k, _, moved, ok := slotAccess(in)
				if !ok {
					continue
				}
				c.watch.slots = true
				if k != kind || in.Type.Size() != 4 {
					continue
				}
				for _, o := range moved {
					switch {
					case o.Kind != ir.Register || o.Reg == ir.NoReg:
					case k == event.Read:
						loaded[o.Reg] = true
					case loaded[o.Reg]:
						out = append(out, o.Reg)
					}
				}
			}
		}
	}
	return out
}

// hasWarpgroup reports whether a function of the program multiplies by a warpgroup.
func (c *compiler) hasWarpgroup() bool {
	for _, f := range c.p.funcs {
		for _, b := range f.fn.Blocks {
			for _, in := range b.Instrs {
				if in.Action() == isa.ActMatrixAsync {
					return true
				}
			}
		}
	}
	return false
}

// slotTouch returns the touch of an access to memory that may be local; nil if it is none.
func (c *compiler) slotTouch(in *ir.Instr) *touchOp {
	if !c.watch.slots {
		return nil
	}
	kind, addr, moved, ok := slotAccess(in)
	if !ok {
		return nil
	}
	s := &slotTouch{memOp: memOp{space: in.Space, kind: kind, size: uint64(in.Type.Size())}}
	var d inst
	if c.address(addr, &d, &s.memOp) != nil || s.size == 0 ||
		s.space != event.Local && s.space != event.Generic {
		return nil // the access itself says so, or it names a variable elsewhere
	}
	s.addr = d.s[0]
	t := &touchOp{in: in, slot: s}
	for _, o := range moved {
		n := int32(-1)
		if o.Kind == ir.Register {
			if w, watched := c.watch.number[o.Reg]; watched {
				n = w
				if kind == event.Read {
					t.writes = append(t.writes, n)
				} else {
					t.reads = append(t.reads, n)
				}
			}
		}
		s.elems, s.fixed = append(s.elems, n), append(s.fixed, o.Kind == ir.Imm)
	}
	s.wide = s.size * uint64(len(moved))
	return t
}

// touchSlots checks and notes what an access to memory that may be local does to slots and watched
// registers, for the lanes of m.
func (x *exec) touchSlots(in *inst, m uint32) {
	t, sp := in.misc.touch, &x.prog.space
	s := t.slot
	a := x.src(&s.addr)
	at := func(l int) uint64 {
		v := (a[l] + s.off) & s.amask
		if s.space == event.Local {
			v += sp.windowBase(localWindow)
		}
		return v
	}
	local := uint32(0)
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		if v := at(l); v>>sp.shift == 0 && sp.windowOf(v) == localWindow {
			local |= 1 << l
		}
	}
	if local != m {
		x.touchAll(in, false)
	}
	if local == 0 || x.stop != nil {
		return
	}
	if x.warp.matrices.slots == nil {
		x.warp.matrices.slots = make(map[uint64]regUse)
	}
	first, same := at(lowest(local)), true
	for r := local; r != 0; r &= r - 1 {
		same = same && at(lowest(r)) == first
	}
	if local == full && same && s.size == 4 && first%4 == 0 {
		x.followSlots(in, first)
		return
	}
	for r := local; r != 0; r &= r - 1 {
		if !x.oddSlots(in, at(lowest(r))) {
			return
		}
		if same {
			break
		}
	}
	x.oddRegisters(in)
}

// followSlots notes what all lanes do to the slots from an address on.
func (x *exec) followSlots(in *inst, at uint64) {
	s := in.misc.touch.slot
	for i, n := range s.elems {
		v := at + 4*uint64(i)
		if s.kind == event.Read {
			x.loadSlot(in, v, n)
		} else {
			x.storeSlot(in, v, n, s.fixed[i])
		}
		if x.stop != nil {
			return
		}
	}
}

// moved is the time of a move: in front of the last fence, if no operation is behind that.
func (x *exec) moved(in *inst) touchAt {
	return touchAt{x.warp.matrices.mmaFences + 1, false, in.misc.touch.in}
}

// loadSlot notes the load of the slot at an address into watched register n, or into another one if
// n is negative.
func (x *exec) loadSlot(in *inst, at uint64, n int32) {
	w := &x.warp.matrices
	slot, known := w.slots[at]
	if n >= 0 {
		if slot.group == 0 {
			slot.written = x.moved(in).after(slot.written)
		}
		slot.home = at + 1
		x.frame.uses[n] = slot
		return
	}
	if !x.inFlight(&slot) {
		if known {
			slot.read = touchAt{w.fences + 1, false, in.misc.touch.in}.after(slot.read)
			w.slots[at] = slot
		}
		return
	}
	x.tooEarly(in, &slot, "local memory", "reads", false)
}

// storeSlot notes the store of watched register n to the slot at an address, or that of another
// register or a constant if n is negative.
func (x *exec) storeSlot(in *inst, at uint64, n int32, constant bool) {
	w := &x.warp.matrices
	var from regUse
	switch {
	case n >= 0:
		if from = x.frame.uses[n]; from.group == 0 {
			from.written = x.moved(in).after(from.written)
		}
	case constant:
		from.written = x.moved(in)
	default:
		from.written = touchAt{w.fences + 1, false, in.misc.touch.in}
	}
	if slot := w.slots[at]; slot.home == at+1 && x.inFlight(&slot) && !x.inFlight(&from) {
		x.tooEarly(in, &slot, "local memory", "writes", false)
		return
	}
	w.slots[at] = from
}

// oddSlots handles an access to the slots at an address that is not followed: none of them may be
// under way.
func (x *exec) oddSlots(in *inst, at uint64) bool {
	w, s := &x.warp.matrices, in.misc.touch.slot
	for v := at &^ 3; v < at+s.wide; v += 4 {
		slot, known := w.slots[v]
		if !known {
			continue
		}
		if x.inFlight(&slot) {
			x.odd(in, &slot)
			return false
		}
		if s.kind == event.Write {
			delete(w.slots, v)
		}
	}
	return true
}

// oddRegisters handles the registers of such an access.
func (x *exec) oddRegisters(in *inst) {
	t := in.misc.touch
	for _, n := range t.reads {
		if use := &x.frame.uses[n]; x.inFlight(use) {
			x.odd(in, use)
			return
		}
	}
	for _, n := range t.writes {
		x.frame.uses[n] = regUse{written: x.moved(in)}
	}
}

// odd ends the run at an access to an accumulator that is under way and in local memory.
func (x *exec) odd(in *inst, use *regUse) {
	x.fail(in, Unsupported, x.first(), "%s moves an accumulator of the wgmma %s, which no "+
		"wgmma.wait_group has waited for, to or from local memory in part or not in all lanes alike: "+
		"that is not supported; code that is compiled with -O 3 keeps accumulators in registers",
		in.misc.touch.in.Op(), lineText(use.mma))
}

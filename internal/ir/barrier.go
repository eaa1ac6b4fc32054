package ir

import "heddle/internal/isa"

// Barrier is how an instruction takes part in a barrier: what its opcode and modifiers say, and the
// operands that they name, which are nil where there are none.
type Barrier struct {
	isa.BarrierUse
	ID        *Operand // the number, the mask, or the address of the object
	Count     *Operand
	Predicate *Operand
}

// Barrier returns how an instruction takes part in a barrier, and whether it does.
func (in *Instr) Barrier() (Barrier, bool) {
	use, ok := in.Desc.Barrier(len(in.Src))
	if !ok {
		return Barrier{}, false
	}
	b := Barrier{BarrierUse: use}
	at := func(i int) *Operand {
		if i < 0 || i >= len(in.Src) || in.Src[i].Kind == None {
			return nil
		}
		return &in.Src[i]
	}
	b.ID, b.Count, b.Predicate = at(use.ID), at(use.Count), at(use.Predicate)
	return b, true
}

// NumberedBarrier returns how an instruction takes part in one of the 16 barriers of its block, and
// whether it does: bar and barrier, whatever their number, count and kind. Barriers of a warp, of a
// cluster, and those in memory are not among them.
func (in *Instr) NumberedBarrier() (Barrier, bool) {
	if in.Action() != isa.ActNumberedBarrier {
		return Barrier{}, false
	}
	return in.Barrier()
}

// BlockBarrier is a barrier at which all threads of a block wait for each other, as far as the
// instruction says: barrier 0, written as a constant, of no counted number of threads, .sync or
// .red. It is the one definition of a block barrier; engines that know less of them say so by its
// methods.
type BlockBarrier struct {
	// Reduces says that the barrier also combines a predicate, and has a result: .red.
	Reduces bool
	// Guarded says that the instruction has a guard: threads for which it is false do not wait.
	Guarded bool
}

// Plain reports whether the barrier does nothing but wait: what __syncthreads() is. A guard does
// not matter.
func (b BlockBarrier) Plain() bool { return !b.Reduces }

// Unguarded reports whether the barrier is plain and has no guard, so that a thread that reaches it
// waits.
func (b BlockBarrier) Unguarded() bool { return !b.Reduces && !b.Guarded }

// BlockBarrier returns the barrier of all threads of the block that an instruction is, and whether
// it is one. Not among them are: .arrive, which does not wait; barriers with a count, even if it is
// the size of the block; other numbers than 0; and a number that is in a register.
func (in *Instr) BlockBarrier() (BlockBarrier, bool) {
	b, ok := in.NumberedBarrier()
	if !ok || !b.Waits || b.ID == nil || b.ID.Kind != Imm || b.ID.Val != 0 || b.Count != nil {
		return BlockBarrier{}, false
	}
	return BlockBarrier{Reduces: b.Kind == isa.BarrierReduce, Guarded: in.Guard != NoReg}, true
}

// IsWarpBarrier reports whether an instruction is bar.warp.sync.
func (in *Instr) IsWarpBarrier() bool { return in.Action() == isa.ActWarpBarrier }

// IsCall reports whether an instruction calls a function.
func (in *Instr) IsCall() bool { return in.Action() == isa.ActCall }

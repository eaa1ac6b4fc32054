package slice

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Unsupported returns an instruction that synchronizes or writes shared memory in a way that a
// trace does not model, and a name for it; nil if there is none. An operation on an mbarrier is
// preferred to others, because it explains them: asynchronous copies are waited for by it.
func Unsupported(k *ir.Func) (*ir.Instr, string) {
	var first *ir.Instr
	what := ""
	for _, f := range ir.ReachableFuncs(k) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				name := unsupportedName(in)
				if name == mbarrier {
					return in, name
				}
				if name != "" && first == nil {
					first, what = in, name
				}
			}
		}
	}
	return first, what
}

// mbarrier is the name of all operations on an object in memory.
const mbarrier = "mbarrier"

// unsupportedName returns the name of an instruction that a trace does not model, or "".
// cp.async.mbarrier.arrive has the name of its opcode, since it is about copies.
func unsupportedName(in *ir.Instr) string {
	b, _ := in.Barrier()
	switch {
	case b.Object == isa.MBarrier && b.Kind != isa.BarrierCopies:
		return mbarrier
	case in.Row.Category == isa.Matrix:
		switch in.Action() {
		case isa.ActMatrixMultiply, isa.ActMatrixMove: // of registers
			return ""
		}
		return in.Op()
	case in.Row.Category == isa.Async, b.Object == isa.ClusterBarrier, in.Row.Cluster():
		return in.Op()
	}
	return ""
}

// Maskless returns an operation of the slice that exchanges values among the active lanes of a warp
// without naming them: the forms of shfl and vote from before sm_70. nil if there is none.
func (s *Slice) Maskless() *ir.Instr {
	for _, fn := range s.order {
		f := s.funcs[fn]
		for i, in := range f.instrs {
			if f.kept[i] && in.Row.Category == isa.WarpOp && f.kinds[i] == pure &&
				in.Action() != isa.ActActiveMask {
				return in
			}
		}
	}
	return nil
}

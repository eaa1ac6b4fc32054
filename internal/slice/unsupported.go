package slice

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Unsupported returns the first instruction that synchronizes or writes shared memory in a way that
// a trace does not model, and a name for it; nil if there is none.
func Unsupported(k *ir.Func) (*ir.Instr, string) {
	for _, f := range ir.ReachableFuncs(k) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if name := unsupportedName(in); name != "" {
					return in, name
				}
			}
		}
	}
	return nil, ""
}

// unsupportedName returns the name of an instruction that a trace does not model, or "".
func unsupportedName(in *ir.Instr) string {
	switch {
	case in.Split: // it is lowered to its second half, which orders more
		return "barrier_arrive of a block"
	case in.Row.Category == isa.Matrix:
		switch in.Action() {
		case isa.ActMatrixMultiply, isa.ActMatrixMove: // of registers
			return ""
		case isa.ActMatrixLoad, isa.ActMatrixStore:
			if rowMatrix(in) {
				return ""
			}
		case isa.ActMatrixAsync, isa.ActMatrixFence, isa.ActMatrixGroup:
			if in.Row.Executable {
				return ""
			}
		case isa.ActTensorAllocate, isa.ActTensorAccess, isa.ActTensorAsync, isa.ActTensorWait,
			isa.ActTensorFence, isa.ActTensorCommit:
			if in.Row.Executable {
				return ""
			}
		}
		return in.Op()
	case in.Row.Category == isa.Async:
		switch in.Action() {
		case isa.ActCopy, isa.ActCopyGroup, isa.ActBulkGroup, isa.ActBulkPrefetch, isa.ActCancel:
			return ""
		case isa.ActTensorMap:
			return changesMap(in)
		case isa.ActBulkCopy, isa.ActAsyncStore:
			if _, ok := in.Bulk(); ok {
				return ""
			}
		}
		return in.Op()
	}
	return ""
}

// changesMap returns "" for a change of a tensor map that a trace has: one that leaves the sizes of
// boxes as they are, at an address of which the instruction says the space. Else it returns a name.
func changesMap(in *ir.Instr) string {
	switch use, ok := in.TensorMap(); {
	case !ok, !use.Copies && use.Space == event.Generic:
		return in.Op()
	case use.Resizes():
		return in.Op() + " of ." + use.Field
	}
	return ""
}

// Varying returns an instruction of the slice that is no computation and reads a special register
// with a value that the launch does not determine, such as shfl.sync of %smid. Special registers
// are to be read by mov or cvt (PTX ISA 10), whose results are then unknown. nil if there is none.
func (s *Slice) Varying() *ir.Instr {
	for _, fn := range s.order {
		f := s.funcs[fn]
		for i, in := range f.instrs {
			if k := f.kinds[i]; f.kept[i] && k != input && k != ignored &&
				slices.ContainsFunc(in.Src, f.variesOperand) {
				return in
			}
		}
	}
	return nil
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

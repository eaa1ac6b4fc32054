package ir

import (
	"slices"

	"heddle/internal/isa"
)

// Contains reports whether some instruction of a function has a property.
func (f *Func) Contains(has func(*Instr) bool) bool {
	return slices.ContainsFunc(f.Blocks, func(b *Block) bool {
		return slices.ContainsFunc(b.Instrs, has)
	})
}

// UsesWarps reports whether a function without calls uses operations of a warp, or the size of
// warps. All functions of OpenCL C about sub-groups are compiled to one of them.
func (f *Func) UsesWarps() bool {
	return f.Contains(func(in *Instr) bool {
		return in.Row != nil && in.Row.Category == isa.WarpOp ||
			slices.ContainsFunc(in.Src, func(o Operand) bool { return o.Sreg == WarpSz })
	})
}

// HasStrong reports whether a function has strong or atomic accesses, or calls what may have some.
// Such accesses may conflict without a race, so that what orders them matters although no race
// shows it.
func (f *Func) HasStrong() bool {
	return f.Contains(func(in *Instr) bool {
		return in.Row == nil || in.IsCall() || in.Row.Category == isa.Memory && in.Order.Strong()
	})
}

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

// HasStrong reports whether a function has strong or atomic accesses, or calls what may have some.
// Such accesses may conflict without a race, so that what orders them matters although no race
// shows it.
func (f *Func) HasStrong() bool {
	return f.Contains(func(in *Instr) bool {
		return in.Row == nil || in.IsCall() || in.Row.Category == isa.Memory && in.Order.Strong()
	})
}

package ir

import "heddle/internal/isa"

// HasStrong reports whether a function has strong or atomic accesses, or calls what may have some.
// Such accesses may conflict without a race, so that what orders them matters although no race shows
// it.
func (f *Func) HasStrong() bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Row == nil || in.IsCall() || in.Row.Category == isa.Memory && in.Order.Strong() {
				return true
			}
		}
	}
	return false
}

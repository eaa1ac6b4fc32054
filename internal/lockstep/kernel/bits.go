package kernel

import "heddle/internal/ir"

// Bits is a set of small numbers. Its capacity is fixed when it is made.
type Bits []uint64

// NewBits returns an empty set of numbers below n.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Has reports whether i is in the set.
func (b Bits) Has(i int) bool { return b[i/64]>>(i%64)&1 == 1 }

// Add adds i.
func (b Bits) Add(i int) { b[i/64] |= 1 << (i % 64) }

// Remove removes i.
func (b Bits) Remove(i int) { b[i/64] &^= 1 << (i % 64) }

// Or adds the elements of o, and reports whether that changed b.
func (b Bits) Or(o Bits) bool {
	changed := false
	for i := range b {
		n := b[i] | o[i]
		changed = changed || n != b[i]
		b[i] = n
	}
	return changed
}

// Clone returns a copy.
func (b Bits) Clone() Bits { return append(Bits(nil), b...) }

// Forward solves a forward data-flow problem over sets of numbers below n, in which the empty set
// holds at the entry and paths merge by union. Step is the transfer function of one instruction.
// The result is the set at the start of each block.
func Forward(f *ir.Func, n int, step func(*ir.Instr, Bits)) []Bits {
	at := make([]Bits, len(f.Blocks))
	for i := range at {
		at[i] = NewBits(n)
	}
	for changed := true; changed; {
		changed = false
		for i, b := range f.Blocks {
			set := at[i].Clone()
			for _, in := range b.Instrs {
				step(in, set)
			}
			for _, s := range b.Succs {
				changed = at[s].Or(set) || changed
			}
		}
	}
	return at
}

package alu

import "math/bits"

// full is the mask of a warp with all lanes active.
const full = 1<<32 - 1

// Cheap operations compute all 32 lanes, active or not, and keep the active ones: with a full mask straight
// into the destination, otherwise into scratch and from there into the destination. Their loops have
// neither bounds checks nor branches. Dear ones (lane1, lane2, lane3) visit only active lanes.

// dst returns where a cheap operation writes its results.
func (o *Ops) dst(mask uint32) *Lanes {
	if mask == full {
		return o.D[0]
	}
	return &o.tmp
}

// done finishes an operation that wrote to dst(mask).
func (o *Ops) done(mask uint32) {
	if mask != full {
		blend(o.D[0], &o.tmp, mask)
	}
}

// blend copies the lanes of mask from s to d.
func blend(d, s *Lanes, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = s[i]
	}
}

// setBits writes the bits of mask in *p; p may be nil.
func setBits(p *uint32, v, mask uint32) {
	if p != nil {
		*p = *p&^mask | v&mask
	}
}

// Scalar functions on one lane. They get whole registers and take the bits of their type from them.
type (
	scalar1 func(a uint64) uint64
	scalar2 func(a, b uint64) uint64
	scalar3 func(a, b, c uint64) uint64
)

func lane1(f scalar1) Func {
	return func(o *Ops, mask uint32) {
		d, a := o.D[0], o.S[0]
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i])
		}
	}
}

func lane2(f scalar2) Func {
	return func(o *Ops, mask uint32) {
		d, a, b := o.D[0], o.S[0], o.S[1]
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i])
		}
	}
}

func lane3(f scalar3) Func {
	return func(o *Ops, mask uint32) {
		d, a, b, c := o.D[0], o.S[0], o.S[1], o.S[2]
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// b2u is 1 if b, without a branch.
func b2u(b bool) uint32 {
	var x uint32
	if b {
		x = 1
	}
	return x
}

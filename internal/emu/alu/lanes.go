package alu

import "math/bits"

// full is the mask of a warp with all lanes active.
const full = 1<<32 - 1

// Cheap operations compute all 32 lanes, active or not, and keep the results of the active ones.
// With a full mask they write to the destination directly, otherwise to a scratch register that is
// then merged. Their loops have neither bounds checks nor branches. The most common ones are
// unrolled four times, which makes them a third faster (BenchmarkWarp). Expensive operations
// (lane1, lane2, lane3) visit active lanes only.

// dst returns the register to which a cheap operation writes its results.
func (o *Ops) dst(mask uint32) *Lanes {
	if mask == full {
		return o.D[0]
	}
	return &o.tmp
}

// unary, binary and ternary return dst and the first sources. They touch every register once, so
// that the compiler emits no nil check in the loops.
func (o *Ops) unary(mask uint32) (d, a *Lanes) {
	d, a = o.dst(mask), o.S[0]
	_, _ = *d, *a
	return
}

// binary is unary for two sources.
func (o *Ops) binary(mask uint32) (d, a, b *Lanes) {
	d, a, b = o.dst(mask), o.S[0], o.S[1]
	_, _, _ = *d, *a, *b
	return
}

// ternary is unary for three sources.
func (o *Ops) ternary(mask uint32) (d, a, b, c *Lanes) {
	d, a, b, c = o.dst(mask), o.S[0], o.S[1], o.S[2]
	_, _, _, _ = *d, *a, *b, *c
	return
}

// done completes an operation that wrote to dst(mask).
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

// Scalar functions on one lane. They receive complete registers and use the bits of their type.
type (
	scalar1 func(a uint64) uint64
	scalar2 func(a, b uint64) uint64
	scalar3 func(a, b, c uint64) uint64
)

// each1, each2 and each3 are the loops of cheap operations. They are small enough to be inlined
// together with the function literal that they receive, so that the loop contains no call.

// The loops index arrays of constant size, so that the compiler needs no bounds checks.
func each1(d, a *Lanes, f scalar1) {
	for i := range d {
		d[i] = f(a[i])
	}
}

func each2(d, a, b *Lanes, f scalar2) {
	for i := range d {
		d[i] = f(a[i], b[i])
	}
}

func each3(d, a, b, c *Lanes, f scalar3) {
	for i := range d {
		d[i] = f(a[i], b[i], c[i])
	}
}

// lane1, lane2 and lane3 turn a scalar function into a Func. They must not be inlined: the compiler
// (1.26) leaves calls in a closure whose creator it has inlined, here the calls of each1 to each3.

//go:noinline
func lane1(f scalar1) Func {
	return func(o *Ops, mask uint32) {
		d, a := o.D[0], o.S[0]
		if mask == full {
			each1(d, a, f)
			return
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i])
		}
	}
}

//go:noinline
func lane2(f scalar2) Func {
	return func(o *Ops, mask uint32) {
		d, a, b := o.D[0], o.S[0], o.S[1]
		if mask == full {
			each2(d, a, b, f)
			return
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i])
		}
	}
}

//go:noinline
func lane3(f scalar3) Func {
	return func(o *Ops, mask uint32) {
		d, a, b, c := o.D[0], o.S[0], o.S[1], o.S[2]
		if mask == full {
			each3(d, a, b, c, f)
			return
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// b2u returns 1 for true, without a branch.
func b2u(b bool) uint32 {
	var x uint32
	if b {
		x = 1
	}
	return x
}

// collect appends the answer of the next lane to those of the previous lanes: after 32 lanes, bit i
// is the answer of lane i.
func collect(r uint32, b bool) uint32 { return r>>1 | b2u(b)<<31 }

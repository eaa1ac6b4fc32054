package alu

import (
	"math"
	"math/bits"
)

// Single precision rounded to nearest, on the host's arithmetic: IEEE 754 in Go too, as long as every
// product is converted before it is added (the conversion forbids fusing).

func f32(v uint64) float32 { return math.Float32frombits(uint32(v)) }

// loadF32 reads an operand, flushed for .ftz.
func loadF32(v uint64, ftz bool) float32 {
	x := uint32(v)
	if ftz {
		x = flush32(x)
	}
	return math.Float32frombits(x)
}

// packF32 is the register of a result without modifiers.
func packF32(x float32) uint64 {
	if x != x {
		return nanF32
	}
	return uint64(math.Float32bits(x))
}

// storeF32 is the register of a result.
func storeF32(x float32, ftz, sat bool) uint64 {
	v := packF32(x)
	if ftz {
		v = uint64(flush32(uint32(v)))
	}
	if sat {
		v = single.saturate(v)
	}
	return v
}

func addF32(o *Ops, mask uint32) {
	d, a, b := o.dst(mask), o.S[0], o.S[1]
	for i := range d {
		d[i] = packF32(f32(a[i]) + f32(b[i]))
	}
	o.done(mask)
}

func subF32(o *Ops, mask uint32) {
	d, a, b := o.dst(mask), o.S[0], o.S[1]
	for i := range d {
		d[i] = packF32(f32(a[i]) - f32(b[i]))
	}
	o.done(mask)
}

func mulF32(o *Ops, mask uint32) {
	d, a, b := o.dst(mask), o.S[0], o.S[1]
	for i := range d {
		d[i] = packF32(f32(a[i]) * f32(b[i]))
	}
	o.done(mask)
}

func divF32(o *Ops, mask uint32) {
	d, a, b := o.dst(mask), o.S[0], o.S[1]
	for i := range d {
		d[i] = packF32(f32(a[i]) / f32(b[i]))
	}
	o.done(mask)
}

func fmaF32(o *Ops, mask uint32) {
	d, a, b, c := o.dst(mask), o.S[0], o.S[1], o.S[2]
	for i := range d {
		p := float64(f32(a[i])) * float64(f32(b[i])) // exact: 48 bits
		s := p + float64(f32(c[i]))
		if roundsTwice(s) {
			s = oddSum(p, float64(f32(c[i])), s)
		}
		d[i] = packF32(float32(s))
	}
	o.done(mask)
}

// roundsTwice reports whether rounding s, itself a rounded sum, to single precision may differ from
// rounding the exact sum. It cannot unless s lies on the midpoint of two single-precision numbers, or below
// the normal ones, where midpoints lie elsewhere. 897 is the biased exponent of 2^-126.
func roundsTwice(s float64) bool {
	u := math.Float64bits(s)
	return u&0x1fffffff == 0x10000000 || u<<1 < 897<<53
}

// oddSum returns a+b rounded to odd, given s, the sum rounded to nearest: if s is inexact, that of the two
// doubles around the exact sum whose last bit is 1. It rounds to single precision as the exact sum does
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
func oddSum(a, b, s float64) float64 {
	bb := s - a
	err := (a - (s - bb)) + (b - bb) // exact: Knuth's TwoSum; neither over- nor underflow in this range
	u := math.Float64bits(s)
	if err == 0 || err != err || u&1 == 1 {
		return s
	}
	if err > 0 == (s > 0) {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// fmaOne is a fused multiply-add of single-precision numbers, rounded to nearest.
func fmaOne(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	if roundsTwice(s) {
		s = oddSum(p, float64(c), s)
	}
	return float32(s)
}

// With modifiers.

func addF32Mod(ftz, sat, subtract bool) Func {
	return func(o *Ops, mask uint32) {
		d, a, b := o.dst(mask), o.S[0], o.S[1]
		for i := range d {
			x, y := loadF32(a[i], ftz), loadF32(b[i], ftz)
			if subtract {
				y = -y
			}
			d[i] = storeF32(x+y, ftz, sat)
		}
		o.done(mask)
	}
}

func mulF32Mod(ftz, sat bool) Func {
	return func(o *Ops, mask uint32) {
		d, a, b := o.dst(mask), o.S[0], o.S[1]
		for i := range d {
			d[i] = storeF32(loadF32(a[i], ftz)*loadF32(b[i], ftz), ftz, sat)
		}
		o.done(mask)
	}
}

func fmaF32Mod(ftz, sat bool) Func {
	return func(o *Ops, mask uint32) {
		d, a, b, c := o.dst(mask), o.S[0], o.S[1], o.S[2]
		for i := range d {
			x, y, z := loadF32(a[i], ftz), loadF32(b[i], ftz), loadF32(c[i], ftz)
			d[i] = storeF32(fmaOne(x, y, z), ftz, sat)
		}
		o.done(mask)
	}
}

func sqrtF32(o *Ops, mask uint32) {
	d, a := o.D[0], o.S[0]
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		// Rounding the double root again is harmless: 53 >= 2*24+2 bits.
		d[i] = packF32(float32(math.Sqrt(float64(f32(a[i])))))
	}
}

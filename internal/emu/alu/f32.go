package alu

import (
	"math"
	"math/bits"
)

// Single precision rounded to nearest even, with the host's arithmetic. Go follows IEEE 754,
// provided that every product is converted before it is added (the conversion forbids fusing).

// f32 returns the value of a register.
func f32(v uint64) float32 { return math.Float32frombits(uint32(v)) }

// loadF32 reads an operand from the lower 32 bits of a register, flushed if ftz is set.
func loadF32(v uint64, ftz bool) float32 {
	x := uint32(v)
	if ftz {
		x = flush32(x)
	}
	return math.Float32frombits(x)
}

// packF32 returns the register value of a result without modifiers.
func packF32(x float32) uint64 {
	if x != x {
		return nanF32
	}
	return uint64(math.Float32bits(x))
}

// packFtz returns the register value of a result with .ftz.
func packFtz(x float32) uint64 {
	if x != x {
		return nanF32
	}
	return uint64(flush32(math.Float32bits(x)))
}

// storeF32 returns the register value of a result with any modifiers.
func storeF32(x float32, ftz, sat bool) uint64 {
	v := packF32(x)
	if ftz {
		v = packFtz(x)
	}
	if sat {
		v = single.saturate(v)
	}
	return v
}

// addF32 to fmaF32 are the forms with .rn and no modifier.
func addF32(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = packF32(f32(a[i]) + f32(b[i]))
	}
	o.done(mask)
}

// subF32 is sub.rn.f32.
func subF32(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = packF32(f32(a[i]) - f32(b[i]))
	}
	o.done(mask)
}

// mulF32 is mul.rn.f32.
func mulF32(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = packF32(f32(a[i]) * f32(b[i]))
	}
	o.done(mask)
}

// divF32 is div.rn.f32, correctly rounded; div.full and div.approx are in approx.go.
func divF32(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = packF32(f32(a[i]) / f32(b[i]))
	}
	o.done(mask)
}

// fmaF32 is fma.rn.f32. Double precision gives the correctly rounded result except for the rare
// sums that would round twice, which fmaExact recomputes.
func fmaF32(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		x, y, z := a[i], b[i], c[i]
		s := fmaDouble(f32(x), f32(y), f32(z))
		if roundsTwice(s) {
			d[i] = packF32(fmaExact(x, y, z))
			continue
		}
		d[i] = packF32(float32(s))
	}
	o.done(mask)
}

// fmaDouble returns a fused multiply-add rounded to double precision: the product, of 48 bits, is
// exact.
func fmaDouble(x, y, z float32) float64 { return float64(x)*float64(y) + float64(z) }

// roundsTwice reports whether rounding s, itself a rounded sum, to single precision may differ from
// rounding the exact sum. It can differ only if s is the midpoint of two single-precision numbers,
// or below the normal numbers, where midpoints are elsewhere. A zero is exact. 897 is the biased
// exponent of 2^-126.
func roundsTwice(s float64) bool {
	u := math.Float64bits(s)
	return u&0x1fffffff == 0x10000000 || u<<1-1 < 897<<53-1
}

// oddSum returns a+b rounded to odd, given s, the sum rounded to nearest: if s is inexact, the one
// of the two doubles around the exact sum whose last bit is 1. Rounded to single precision it
// yields the same as the exact sum (Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums", 2008).
func oddSum(a, b, s float64) float64 {
	bb := s - a
	// the exact error, by Knuth's TwoSum: neither overflow nor underflow occurs in this range
	err := (a - (s - bb)) + (b - bb)
	u := math.Float64bits(s)
	if err == 0 || err != err || u&1 == 1 {
		return s
	}
	if err > 0 == (s > 0) {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// fmaExact is a fused multiply-add of registers, rounded once. It is rarely called. It takes
// registers so that the loops need not keep their operands in floating-point form.
//
//go:noinline
func fmaExact(x, y, z uint64) float32 {
	p := float64(f32(x)) * float64(f32(y))
	c := float64(f32(z))
	return float32(oddSum(p, c, p+c))
}

// The operations with .ftz only, which code compiled for fast mathematics uses.

func addF32Ftz(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = packFtz(loadF32(a[i], true) + loadF32(b[i], true))
	}
	o.done(mask)
}

func subF32Ftz(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = packFtz(loadF32(a[i], true) - loadF32(b[i], true))
	}
	o.done(mask)
}

func mulF32Ftz(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = packFtz(loadF32(a[i], true) * loadF32(b[i], true))
	}
	o.done(mask)
}

func fmaF32Ftz(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		x, y, z := flush32(uint32(a[i])), flush32(uint32(b[i])), flush32(uint32(c[i]))
		s := fmaDouble(math.Float32frombits(x), math.Float32frombits(y), math.Float32frombits(z))
		if roundsTwice(s) {
			d[i] = packFtz(fmaExact(uint64(x), uint64(y), uint64(z)))
			continue
		}
		d[i] = packFtz(float32(s))
	}
	o.done(mask)
}

// The operations with .sat, with or without .ftz.

// addF32Sat is add or sub with .sat.
func addF32Sat(ftz, subtract bool) Func {
	return lane2(func(a, b uint64) uint64 {
		x, y := loadF32(a, ftz), loadF32(b, ftz)
		if subtract {
			y = -y
		}
		return storeF32(x+y, ftz, true)
	})
}

func mulF32Sat(ftz bool) Func {
	return lane2(
		func(a, b uint64) uint64 { return storeF32(loadF32(a, ftz)*loadF32(b, ftz), ftz, true) })
}

func fmaF32Sat(ftz bool) Func {
	return lane3(func(a, b, c uint64) uint64 {
		if ftz {
			a, b, c = single.flush(a), single.flush(b), single.flush(c)
		}
		return storeF32(fmaExact(a, b, c), ftz, true)
	})
}

// sqrtF32 is sqrt.rn.f32.
func sqrtF32(o *Ops, mask uint32) {
	d, a := o.D[0], o.S[0]
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		// Rounding the root in double precision again is harmless: 53 >= 2*24+2 bits.
		d[i] = packF32(float32(math.Sqrt(float64(f32(a[i])))))
	}
}

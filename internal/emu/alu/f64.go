package alu

import "math"

// Double precision rounded to nearest even, with the host's arithmetic. Hosts differ in the NaN
// that an operation returns, so a NaN result is recomputed from the operands (nan64).

// f64 returns the value of a register, and the 64 bits of a .f64 need no masking.
func f64(v uint64) float64 { return math.Float64frombits(v) }

// addF64 to fmaF64 are the forms with .rn, the only modifier of this type.
func addF64(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		x, y := a[i], b[i]
		r := f64(x) + f64(y)
		if r != r {
			d[i] = nan64(x, y)
		} else {
			d[i] = math.Float64bits(r)
		}
	}
	o.done(mask)
}

// subF64 is sub.rn.f64.
func subF64(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		x, y := a[i], b[i]
		r := f64(x) - f64(y)
		if r != r {
			d[i] = nan64(x, y)
		} else {
			d[i] = math.Float64bits(r)
		}
	}
	o.done(mask)
}

// mulF64 is mul.rn.f64. The conversion to bits keeps the compiler from fusing it with an addition.
func mulF64(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		x, y := a[i], b[i]
		r := f64(x) * f64(y)
		if r != r {
			d[i] = nan64(x, y)
		} else {
			d[i] = math.Float64bits(r)
		}
	}
	o.done(mask)
}

// divF64 is div.rn.f64; the host handles division by zero and infinities as IEEE 754 defines.
func divF64(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		x, y := a[i], b[i]
		r := f64(x) / f64(y)
		if r != r {
			d[i] = nan64(x, y)
		} else {
			d[i] = math.Float64bits(r)
		}
	}
	o.done(mask)
}

// fmaF64 is fma.rn.f64. Go's FMA rounds once, as IEEE 754 requires.
func fmaF64(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		x, y, z := a[i], b[i], c[i]
		r := math.FMA(f64(x), f64(y), f64(z))
		if r != r {
			d[i] = nan64(x, y, z)
		} else {
			d[i] = math.Float64bits(r)
		}
	}
	o.done(mask)
}

// sqrtF64 is sqrt.rn.f64, which the host rounds correctly.
func sqrtF64(a uint64) uint64 {
	r := math.Sqrt(f64(a))
	if r != r {
		return nan64(a)
	}
	return math.Float64bits(r)
}

// rcpF64 is rcp.rn.f64: one division, so one rounding.
func rcpF64(a uint64) uint64 {
	r := 1 / f64(a)
	if r != r {
		return nan64(a)
	}
	return math.Float64bits(r)
}

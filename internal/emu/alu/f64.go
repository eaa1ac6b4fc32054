package alu

import "math"

// Double precision rounded to nearest, on the host's arithmetic. A NaN result is made again from
// the operands, as hosts differ in the NaN that they choose.

func f64(v uint64) float64 { return math.Float64frombits(v) }

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

func sqrtF64(a uint64) uint64 {
	r := math.Sqrt(f64(a))
	if r != r {
		return nan64(a)
	}
	return math.Float64bits(r)
}

func rcpF64(a uint64) uint64 {
	r := 1 / f64(a)
	if r != r {
		return nan64(a)
	}
	return math.Float64bits(r)
}

package alu

import (
	"math"

	"heddle/internal/isa"
)

// Conversions from or to a floating-point type: PTX ISA 9.7.9.21. The source is read exactly and
// rounded once, to the destination. The common cases use the host's conversions.

// integral reports whether r rounds to an integral value.
func integral(r isa.Rounding) bool { return isa.RNI <= r && r <= isa.RPI }

// roundIntegral rounds to an integral value; zeros keep their sign.
func roundIntegral(r isa.Rounding, x float64) float64 {
	switch r {
	case isa.RZI:
		return math.Trunc(x)
	case isa.RMI:
		return math.Floor(x)
	case isa.RPI:
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}

// cvtFlush reports whether .ftz is present. It applies to the single-precision side; ok is false if
// there is none.
func cvtFlush(d *isa.Desc) (ftz, ok bool) {
	ftz = d.Has(isa.FTZ)
	return ftz, !ftz || d.Type == isa.F32 || d.SType == isa.F32
}

// reader returns the function that reads a source of format f as a double, which is exact.
func reader(f *format, ftz bool) func(a uint64) float64 {
	switch f {
	case single:
		return func(a uint64) float64 { return float64(loadF32(a, ftz)) }
	case double:
		return f64
	}
	return f.float
}

// cvtFloatInt rounds to an integral value and clamps it to the range of the destination. NaN
// converts to 0, or to the top bit alone if the source is .f64 or the destination has 64 bits.
func cvtFloatInt(d *isa.Desc) (Func, error) {
	ftz, ok := cvtFlush(d)
	if !ok || !integral(d.Round) || !only(d, isa.FTZ|isa.Sat) {
		return noForm(d)
	}
	to, width := d.Type, uint64(8*d.Type.Size())
	// The result for NaN.
	var invalid uint64
	if d.SType == isa.F64 || width == 64 {
		invalid = 1 << (width - 1)
	}
	if d.SType == isa.F32 && d.Round == isa.RZI && width == 32 {
		if to.Signed() {
			return f32ToS32, nil
		}
		return f32ToU32, nil
	}
	read, mode := reader(formatOf(d.SType), ftz), d.Round
	lo, hi := -0x1p63, 0x1p63 // numbers in [lo, hi) are in the range of the type and of int64
	if to == isa.U64 {
		lo = 0
	}
	if width < 64 {
		lo, hi = 0, math.Ldexp(1, int(width))
		if to.Signed() {
			lo, hi = -hi/2, hi/2
		}
	}
	keep := ones(width)
	return lane1(func(a uint64) uint64 {
		x := roundIntegral(mode, read(a))
		if lo <= x && x < hi {
			return uint64(int64(x)) & keep
		}
		return clampDouble(to, x, invalid)
	}), nil
}

// clampDouble returns the register value of a double truncated and clamped to an integer type. NaN
// yields invalid.
func clampDouble(to isa.Type, x float64, invalid uint64) uint64 {
	if x != x {
		return invalid
	}
	mag := uint64(math.MaxUint64)
	if m := math.Abs(x); m < 0x1p64 {
		mag = uint64(m)
	}
	return clampInt(to, x < 0, mag)
}

// The common casts from single precision to 32-bit integers. Flushing has no effect on them: a
// subnormal number truncates to 0.

// f32ToS32 is cvt.rzi.s32.f32.
func f32ToS32(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		if x := f32(a[i]); -0x1p31 <= x && x < 0x1p31 {
			d[i] = uint64(uint32(int32(x)))
		} else {
			d[i] = clampDouble(isa.S32, float64(x), 0)
		}
	}
	o.done(mask)
}

// f32ToU32 is cvt.rzi.u32.f32.
func f32ToU32(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		if x := f32(a[i]); 0 <= x && x < 0x1p32 {
			d[i] = uint64(uint32(int64(x)))
		} else {
			d[i] = clampDouble(isa.U32, float64(x), 0)
		}
	}
	o.done(mask)
}

// cvtIntFloat rounds an integer to a floating-point number.
func cvtIntFloat(d *isa.Desc) (Func, error) {
	f := formatOf(d.Type)
	_, ok := cvtFlush(d) // an integer is never subnormal
	switch d.Round {
	case isa.RN, isa.RZ, isa.RM, isa.RP:
	default:
		ok = false
	}
	if !ok || !only(d, isa.FTZ|isa.Sat) || d.Has(isa.Sat) && f == bfloat {
		return noForm(d)
	}
	// The host rounds to nearest even.
	if loop := intFloatLoop(d.SType, d.Type); loop != nil && d.Round == isa.RN && !d.Has(isa.Sat) {
		return loop, nil
	}
	c, from := newArith(f, d), d.SType
	c.ftz = false
	return lane1(func(a uint64) uint64 {
		neg, mag := readInt(from, a)
		return c.out(c.pack(c.mode, numberOf(neg, mag), false))
	}), nil
}

// intToF32 and intToF64 round to nearest even, as Go's conversions do.
func intToF32[T unsigned | signed](o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		d[i] = uint64(math.Float32bits(float32(T(a[i]))))
	}
	o.done(mask)
}

// intToF64 is exact for 32-bit integers; larger ones are rounded to nearest even, as cvt.rn does.
func intToF64[T unsigned | signed](o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		d[i] = math.Float64bits(float64(T(a[i])))
	}
	o.done(mask)
}

// intFloatLoop returns a conversion by the host, to nearest even; nil if there is none.
func intFloatLoop(from, to isa.Type) Func {
	switch to {
	case isa.F32:
		switch from {
		case isa.U32:
			return intToF32[uint32]
		case isa.S32:
			return intToF32[int32]
		case isa.U64:
			return intToF32[uint64]
		case isa.S64:
			return intToF32[int64]
		}
	case isa.F64:
		switch from {
		case isa.U32:
			return intToF64[uint32]
		case isa.S32:
			return intToF64[int32]
		case isa.U64:
			return intToF64[uint64]
		case isa.S64:
			return intToF64[int64]
		}
	}
	return nil
}

// cvtFloatFloat converts between scalar formats, or rounds to an integral value within one.
func cvtFloatFloat(d *isa.Desc) (Func, error) {
	from, to := formatOf(d.SType), formatOf(d.Type)
	ftz, ok := cvtFlush(d)
	// A conversion that may lose precision or range needs a rounding mode; any other must have none.
	narrows := from.prec > to.prec || from.emin < to.emin
	fp := isa.RN <= d.Round && d.Round <= isa.RP
	switch {
	case !ok, !only(d, isa.FTZ|isa.Sat|isa.Relu|isa.Satfinite), d.Has(isa.Sat) && to == bfloat:
		return noForm(d)
	case (d.Has(isa.Relu) || d.Has(isa.Satfinite)) && (from != single || to != half && to != bfloat):
		return noForm(d)
	case from == to:
		return cvtSame(d, to, ftz), nil
	case narrows && !fp, !narrows && !fp && d.Round != isa.NoRounding:
		return noForm(d)
	}
	plain := d.Flags == 0
	switch {
	case plain && from == single && to == double:
		return f32ToF64, nil
	case plain && from == double && to == single && d.Round == isa.RN:
		return f64ToF32, nil
	case plain && to == single && from != double:
		return lane1(func(a uint64) uint64 { return packF32(float32(from.float(a))) }), nil
	case plain && from == single && d.Round == isa.RN:
		return lane1(func(a uint64) uint64 { return to.nearest(float64(f32(a))) }), nil
	}
	return lane1(narrower(d, from, to)), nil
}

// narrower returns the conversion of one value between two formats with the modifiers of d. NaN
// becomes canonical, except in double precision, which keeps the payload; with .sat it becomes 0.
func narrower(d *isa.Desc, from, to *format) scalar1 {
	c := newArith(to, d)
	// .ftz applies to the single-precision side only.
	flushIn := c.ftz && from == single
	c.ftz = c.ftz && to == single
	satfinite, keep := d.Has(isa.Satfinite), from.sign<<1-1
	return func(a uint64) uint64 {
		a &= keep
		if flushIn {
			a = from.flush(a)
		}
		n := from.unpack(a)
		switch {
		case n.class != nan:
		case c.sat:
			return 0
		case to == double:
			return widenNaN(from, a)
		default:
			return to.nan
		}
		r := c.pack(c.mode, n, false)
		// The encoding before infinity is the greatest finite number.
		if satfinite && r&(to.sign-1) == to.inf {
			r--
		}
		return c.out(r)
	}
}

// widenNaN converts a NaN of a narrower format: the sign and the payload are kept, and it becomes
// quiet.
func widenNaN(from *format, a uint64) uint64 {
	r := a&(1<<(from.prec-1)-1)<<(53-from.prec) | infF64 | quietF64
	return double.signed(a&from.sign != 0, r)
}

// cvtSame is cvt within one format: rounding to an integral value, .ftz, .sat.
func cvtSame(d *isa.Desc, f *format, ftz bool) Func {
	c := newArith(f, d)
	mode := d.Round
	return lane1(func(a uint64) uint64 {
		a = c.bits(a)
		switch {
		case f.isNaN(a):
			a = c.payload(f.nan, a)
		case integral(mode):
			x := roundIntegral(mode, f64(widen(f, a, ftz)))
			a = f.pack(isa.RN, double.unpack(math.Float64bits(x)), false)
		}
		return c.out(a)
	})
}

// f32ToF64 is cvt.f64.f32, which is exact.
func f32ToF64(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		x := f32(a[i])
		if x != x {
			d[i] = widenNaN(single, uint64(uint32(a[i])))
		} else {
			d[i] = math.Float64bits(float64(x))
		}
	}
	o.done(mask)
}

// f64ToF32 is cvt.rn.f32.f64.
func f64ToF32(o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		d[i] = packF32(float32(f64(a[i])))
	}
	o.done(mask)
}

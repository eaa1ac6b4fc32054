package alu

import (
	"math"

	"heddle/internal/isa"
)

// Approximate functions: PTX ISA 9.7.3.13 to 9.7.3.22, 9.7.4.9, 9.7.4.10. The hardware's tables are
// not public. Here each function is computed in double precision and rounded to nearest even, which
// is within every error bound of the ISA; special values are those of the ISA's tables. Compared
// bit by bit with the results of a GPU, some differ by a few units in the last place.

// approx1 returns the single-precision instruction that computes f.
func approx1(f func(float64) float64, ftz bool) Func {
	return lane1(func(a uint64) uint64 {
		return storeF32(float32(f(float64(loadF32(a, ftz)))), ftz, false)
	})
}

// approxForm reports whether the form is .approx{.ftz}.f32.
func approxForm(d *isa.Desc) bool {
	return d.Type == isa.F32 && oneType(d) && d.Round == isa.NoRounding && d.Has(isa.Approx) &&
		only(d, isa.Approx|isa.FTZ)
}

// reciprocal and rsqrtDouble are the functions of rcp and rsqrt in double precision.
func reciprocal(x float64) float64 { return 1 / x }

// rsqrtDouble rounds twice; the ISA allows a larger relative error for rsqrt.approx.
func rsqrtDouble(x float64) float64 { return 1 / math.Sqrt(x) }

// rcpApprox follows PTX ISA 9.7.3.13 and 9.7.3.14, the forms with .approx.
func rcpApprox(d *isa.Desc) (Func, error) {
	switch {
	case approxForm(d):
		return approx1(reciprocal, d.Has(isa.FTZ)), nil
	case d.Type == isa.F64 && d.Flags == isa.Approx|isa.FTZ:
		return lane1(gross(reciprocal)), nil
	}
	return noForm(d)
}

// sqrtApprox follows PTX ISA 9.7.3.15, the form with .approx.
func sqrtApprox(d *isa.Desc) (Func, error) {
	if !approxForm(d) {
		return noForm(d)
	}
	return approx1(math.Sqrt, d.Has(isa.FTZ)), nil
}

// rsqrt follows PTX ISA 9.7.3.16 and 9.7.3.17.
func rsqrt(d *isa.Desc) (Func, error) {
	switch {
	case approxForm(d):
		return approx1(rsqrtDouble, d.Has(isa.FTZ)), nil
	case d.Type == isa.F64 && d.Flags == isa.Approx|isa.FTZ:
		return lane1(gross(rsqrtDouble)), nil
	case d.Type == isa.F64 && d.Flags == isa.Approx:
		return lane1(func(a uint64) uint64 {
			r := rsqrtDouble(f64(a))
			if r != r {
				return nan64(a)
			}
			return math.Float64bits(r)
		}), nil
	}
	return noForm(d)
}

// gross computes a function of the upper words of doubles: the lower word of the operand is ignored
// and that of the result is zero (PTX ISA 9.7.3.14, 9.7.3.17). Subnormal operands and results are
// flushed to zero.
func gross(f func(float64) float64) scalar1 {
	return func(a uint64) uint64 {
		r := math.Float64bits(f(f64(double.flush(a >> 32 << 32))))
		if isNaN64(r) {
			return 0x7fffffff00000000
		}
		return double.flush(r) >> 32 << 32
	}
}

// transcendental returns the function of sin, cos, lg2, ex2 and tanh.
func transcendental(d *isa.Desc) (Func, error) {
	var f func(float64) float64
	switch d.Row.Opcode {
	case "sin":
		f = math.Sin
	case "cos":
		f = math.Cos
	case "lg2":
		f = math.Log2
	case "ex2":
		f = math.Exp2
	case "tanh":
		f = math.Tanh
	}
	if approxForm(d) && !(d.Row.Opcode == "tanh" && d.Has(isa.FTZ)) {
		return approx1(f, d.Has(isa.FTZ)), nil
	}
	return narrowTranscendental(d, f)
}

// narrowTranscendental returns ex2 and tanh on half-precision types. ex2 on bfloat16 always
// flushes.
func narrowTranscendental(d *isa.Desc, f func(float64) float64) (Func, error) {
	c := formatOf(d.Type)
	want := isa.Approx
	switch {
	case c != half && c != bfloat, d.Row.Opcode != "ex2" && d.Row.Opcode != "tanh":
		return noForm(d)
	case d.Row.Opcode == "ex2" && c == bfloat:
		want |= isa.FTZ
	}
	if d.Flags != want || d.Round != isa.NoRounding || !oneType(d) {
		return noForm(d)
	}
	ftz := d.Has(isa.FTZ)
	return lane1(packed1(d.Type, func(a uint64) uint64 {
		r := c.pack(isa.RN, double.unpack(math.Float64bits(f(f64(widen(c, a, ftz))))), false)
		if ftz {
			r = c.flush(r)
		}
		return r
	})), nil
}

// divApprox is div.approx and div.full: PTX ISA 9.7.3.8. If the reciprocal of the divisor would be
// subnormal, .approx yields a zero with the quotient's sign, or NaN if the dividend is infinite.
func divApprox(d *isa.Desc) (Func, error) {
	if d.Type != isa.F32 || d.Round != isa.NoRounding ||
		d.Flags&^isa.FTZ != isa.Approx && d.Flags&^isa.FTZ != isa.Full {
		return noForm(d)
	}
	ftz, approx := d.Has(isa.FTZ), d.Has(isa.Approx)
	return lane2(func(a, b uint64) uint64 {
		x, y := loadF32(a, ftz), loadF32(b, ftz)
		q := x / y
		// The hardware multiplies by the reciprocal, which is subnormal for such divisors and flushed.
		if m := math.Abs(float64(y)); approx && m > 0x1p126 && m < 0x1p128 && x == x {
			if math.IsInf(float64(x), 0) {
				return nanF32
			}
			q = float32(math.Copysign(0, float64(q)))
		}
		return storeF32(q, ftz, false)
	}), nil
}

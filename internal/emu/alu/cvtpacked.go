package alu

import "heddle/internal/isa"

// Conversions to and from packed formats and .tf32: PTX ISA 9.7.9.21. Those with formats of less
// than eight bits, scale factors or stochastic rounding are not implemented.

// The 8-bit formats. .e5m2 is of IEEE form; .e4m3 has no infinities and one NaN, 0x7f, so that its
// greatest finite number is 0x7e and stands where infinities would begin.
var (
	e5m2 = newFormat(3, -14, 8, 0x7f)
	e4m3 = &format{prec: 4, emin: -6, emax: 8, nan: 0x7f, sign: 0x80, inf: 0x7f}
)

func f8Format(t isa.Type) *format {
	if t == isa.E4M3x2 {
		return e4m3
	}
	return e5m2
}

// unpackF8 unpacks a value of an 8-bit format.
func unpackF8(f *format, v uint64) number {
	n := f.unpack(v & 0xff)
	if f == e4m3 && n.class == infinite {
		n.class = nan
	}
	return n
}

func cvtPacked(d *isa.Desc) (Func, error) {
	to, from := d.Type, d.SType
	nearestOrZero := d.Round == isa.RN || d.Round == isa.RZ
	switch {
	case to == isa.TF32 && from == isa.F32:
		return cvtTF32(d)
	case (to == isa.F16x2 || to == isa.BF16x2) && from == isa.F32:
		if !nearestOrZero || !only(d, isa.Relu|isa.Satfinite) {
			return noForm(d)
		}
		f := narrower(d, single, formatOf(to))
		return lane2(func(a, b uint64) uint64 { return f(a)<<16 | f(b) }), nil
	case isF8x2(to):
		return cvtToF8(d)
	case isF8x2(from) && to == isa.F16x2:
		if d.Round != isa.RN || !only(d, isa.Relu) {
			return noForm(d)
		}
		f, c := f8Format(from), newArith(half, d)
		one := func(v uint64) uint64 { return c.out(half.pack(isa.RN, unpackF8(f, v), false)) }
		return lane1(func(a uint64) uint64 { return one(a>>8)<<16 | one(a) }), nil
	}
	return noForm(d)
}

// cvtTF32 rounds single precision to 10 bits of fraction, which stand where those of single
// precision do.
func cvtTF32(d *isa.Desc) (Func, error) {
	switch d.Round {
	case isa.RN, isa.RZ:
	case isa.RNA:
		if d.Has(isa.Relu) {
			return noForm(d)
		}
	default:
		return noForm(d)
	}
	if !only(d, isa.Relu|isa.Satfinite) {
		return noForm(d)
	}
	f := narrower(d, single, tfloat32)
	return lane1(func(a uint64) uint64 { return f(a) << 13 }), nil
}

// cvtToF8 converts two .f32 or one pair of .f16 or .bf16 to a pair of 8-bit values. .satfinite is
// mandatory.
func cvtToF8(d *isa.Desc) (Func, error) {
	if d.Round != isa.RN || !d.Has(isa.Satfinite) || !only(d, isa.Satfinite|isa.Relu) {
		return noForm(d)
	}
	to := f8Format(d.Type)
	switch d.SType {
	case isa.F32:
		f := narrower(d, single, to)
		return lane2(func(a, b uint64) uint64 { return f(a)<<8 | f(b) }), nil
	case isa.F16x2, isa.BF16x2:
		f := narrower(d, formatOf(d.SType), to)
		return lane1(func(a uint64) uint64 { return f(a>>16)<<8 | f(a) }), nil
	}
	return noForm(d)
}

package alu

import "heddle/internal/isa"

// Conversions to and from packed formats and .tf32: PTX ISA 9.7.9.21. Fixed-point numbers are not
// implemented.

// packedFormat is a format of fewer than 16 bits, whose values share a register.
type packedFormat struct {
	*format
	size   uint // bits of a value in a register, with padding above those of 6 bits
	finite bool // has neither infinities nor NaN: all magnitudes are numbers
}

// The 8-bit formats. .e5m2 has IEEE form. .e4m3 has no infinities and one NaN, 0x7f; its greatest
// finite number is 0x7e, the encoding before the one where infinities would begin.
//
// In formats of 4 and 6 bits every encoding is a number, so that infinity, which in a format follows
// the greatest number, is where the sign would be: the sign of the format is one bit above that of
// the encoding. NaN converts to the greatest number.
var (
	e5m2 = &packedFormat{newFormat(3, -14, 8, 0x7f), 8, false}
	e4m3 = &packedFormat{&format{prec: 4, emin: -6, emax: 8, nan: 0x7f, sign: 0x80, inf: 0x7f}, 8,
		false}
	e2m1 = &packedFormat{&format{prec: 2, emin: 0, emax: 2, nan: 7, sign: 0x10, inf: 8}, 4, true}
	e2m3 = &packedFormat{&format{prec: 4, emin: 0, emax: 2, nan: 0x1f, sign: 0x40, inf: 0x20}, 8,
		true}
	e3m2 = &packedFormat{&format{prec: 3, emin: -2, emax: 4, nan: 0x1f, sign: 0x40, inf: 0x20}, 8,
		true}
)

// packedFormatOf returns the format of one of the values of a type; nil for other types.
func packedFormatOf(t isa.Type) *packedFormat {
	switch t {
	case isa.E4M3x2, isa.E4M3x4:
		return e4m3
	case isa.E5M2x2, isa.E5M2x4:
		return e5m2
	case isa.E2M1x2, isa.E2M1x4:
		return e2m1
	case isa.E2M3x2, isa.E2M3x4:
		return e2m3
	case isa.E3M2x2, isa.E3M2x4:
		return e3m2
	}
	return nil
}

// isX4 reports whether a type has four values, which only .rs converts to.
func isX4(t isa.Type) bool { return isa.E4M3x4 <= t && t <= isa.E3M2x4 }

// decode unpacks the value in the low bits of v.
func (p *packedFormat) decode(v uint64) number {
	if p.finite {
		return p.unpack(v&(p.inf-1) | v&p.inf<<1)
	}
	n := p.unpack(v & 0xff)
	if p == e4m3 && n.class == infinite {
		n.class = nan
	}
	return n
}

// encode moves the sign of a number of the format to its place.
func (p *packedFormat) encode(v uint64) uint64 {
	if p.finite {
		return v&(p.inf-1) | v>>1&p.inf
	}
	return v
}

// cvtPacked selects by the types. In a pair, the first source is the upper element.
func cvtPacked(d *isa.Desc) (Func, error) {
	to, from := d.Type, d.SType
	nearestOrZero := d.Round == isa.RN || d.Round == isa.RZ
	switch {
	case to == isa.TF32 && from == isa.F32:
		return cvtTF32(d)
	case (to == isa.F16x2 || to == isa.BF16x2) && from == isa.F32 && d.Round == isa.RS:
		return cvtStochastic(d)
	case (to == isa.F16x2 || to == isa.BF16x2) && from == isa.F32:
		if !nearestOrZero || !only(d, isa.Relu|isa.Satfinite) {
			return noForm(d)
		}
		f := narrower(d, single, formatOf(to))
		return lane2(func(a, b uint64) uint64 { return f(a)<<16 | f(b) }), nil
	case to == isa.UE8M0x2:
		return cvtToScale(d)
	case from == isa.UE8M0x2:
		return cvtFromScale(d)
	case isX4(to):
		return nil, unsupported(d, "its sources are one list of four values")
	case packedFormatOf(to) != nil:
		return cvtToPacked(d)
	case packedFormatOf(from) != nil && to == isa.F16x2:
		if d.Round != isa.RN || !only(d, isa.Relu) {
			return noForm(d)
		}
		// Every value is exact in half precision.
		f, c := packedFormatOf(from), newArith(half, d)
		one := func(v uint64) uint64 { return c.out(half.pack(isa.RN, f.decode(v), false)) }
		return lane1(func(a uint64) uint64 { return one(a>>f.size)<<16 | one(a) }), nil
	}
	return noForm(d)
}

// cvtTF32 rounds single precision to 10 bits of fraction, which keep their positions in the
// register.
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

// cvtToPacked converts two .f32 values, or one pair of .f16 or .bf16, to a pair of values.
// .satfinite is mandatory.
func cvtToPacked(d *isa.Desc) (Func, error) {
	if d.Round != isa.RN || !d.Has(isa.Satfinite) || !only(d, isa.Satfinite|isa.Relu) {
		return noForm(d)
	}
	to := packedFormatOf(d.Type)
	switch d.SType {
	case isa.F32:
		f := narrower(d, single, to.format)
		return lane2(func(a, b uint64) uint64 { return to.encode(f(a))<<to.size | to.encode(f(b)) }), nil
	case isa.F16x2, isa.BF16x2:
		f := narrower(d, formatOf(d.SType), to.format)
		return lane1(func(a uint64) uint64 {
			return to.encode(f(a>>16))<<to.size | to.encode(f(a))
		}), nil
	}
	return noForm(d)
}

// The values of .ue8m0: 2^(v-127), and NaN.
const (
	scaleMax = 0xfe
	scaleNaN = 0xff
)

// cvtToScale rounds the magnitudes of two .f32 values, or of one pair of .bf16, to powers of two. The
// ISA has .rz and .rp only, says that the sign "is not supported", and that .satfinite converts what
// is too large to the greatest power. Without it that is NaN here, since there is no infinity; zero
// and what is less than the least power, 2^-127, become that.
func cvtToScale(d *isa.Desc) (Func, error) {
	if d.Round != isa.RZ && d.Round != isa.RP || !only(d, isa.Satfinite) {
		return noForm(d)
	}
	up, excess := d.Round == isa.RP, uint64(scaleNaN)
	if d.Has(isa.Satfinite) {
		excess = scaleMax
	}
	power := func(f *format, v uint64) uint64 {
		n := f.unpack(v & (f.sign - 1))
		switch n.class {
		case zero:
			return 0
		case nan:
			return scaleNaN
		case infinite:
			return excess
		}
		e := n.exp + 127
		if up && n.sig<<1 != 0 {
			e++
		}
		if e > scaleMax {
			return excess
		}
		return uint64(max(e, 0))
	}
	switch d.SType {
	case isa.F32:
		return lane2(func(a, b uint64) uint64 { return power(single, a)<<8 | power(single, b) }), nil
	case isa.BF16x2:
		return lane1(func(a uint64) uint64 { return power(bfloat, a>>16)<<8 | power(bfloat, a) }), nil
	}
	return noForm(d)
}

// scale decodes .ue8m0.
func scale(v uint64) number {
	if v &= 0xff; v != scaleNaN {
		return number{class: finite, exp: int(v) - 127, sig: 1 << 63}
	}
	return number{class: nan}
}

// cvtFromScale converts a pair of scale factors to .bf16x2, which has all of them.
func cvtFromScale(d *isa.Desc) (Func, error) {
	if d.Type != isa.BF16x2 || d.Round != isa.RN || !only(d, 0) {
		return noForm(d)
	}
	one := func(v uint64) uint64 { return bfloat.pack(isa.RN, scale(v), false) }
	return lane1(func(a uint64) uint64 { return one(a>>8)<<16 | one(a) }), nil
}

// cvtStochastic converts two .f32 values to .f16x2 or .bf16x2 with random bits in a third source:
// the upper half of them is for the first value. Of a half .f16 uses the lower 13 bits.
func cvtStochastic(d *isa.Desc) (Func, error) {
	if !only(d, isa.Relu|isa.Satfinite) {
		return noForm(d)
	}
	f, c := formatOf(d.Type), newArith(formatOf(d.Type), d)
	satfinite, random := d.Has(isa.Satfinite), uint(24-f.prec)
	one := func(v, bits uint64) uint64 {
		r := f.stochastic(single.unpack(v&0xffffffff), bits<<(64-random))
		if satfinite && r&(f.sign-1) == f.inf {
			r-- // the greatest number
		}
		return c.out(r)
	}
	return lane3(func(a, b, rbits uint64) uint64 { return one(a, rbits>>16)<<16 | one(b, rbits) }), nil
}

// StochasticPair returns the conversion of half of the operands of cvt.rs to four values: of the
// first and second source, or, as the lower half of the result, of the third and fourth. The
// function has two .f32 sources and the random bits.
//
// By the text of the ISA, values of 8 and 6 bits have 16 random bits, the upper half of the third
// source for the first two values and the lower half for the others. Values of 4 bits have 8 bits:
// the upper 8 of each half are for the first two, the lower 8 of each half for the others. The order
// within such a pair is in a figure; here the upper half is for the first.
func StochasticPair(d *isa.Desc, lower bool) (Func, error) {
	to := packedFormatOf(d.Type)
	if !isX4(d.Type) || d.SType != isa.F32 || d.Round != isa.RS || !d.Has(isa.Satfinite) ||
		!only(d, isa.Satfinite|isa.Relu) {
		return noForm(d)
	}
	c := newArith(to.format, d)
	first, second, random := uint(16), uint(16), uint(16)
	switch {
	case to == e2m1 && lower:
		first, second, random = 16, 0, 8
	case to == e2m1:
		first, second, random = 24, 8, 8
	case lower:
		first, second = 0, 0
	}
	one := func(v, bits uint64) uint64 {
		n := single.unpack(v & 0xffffffff)
		if n.class == nan {
			return to.encode(c.out(to.nan))
		}
		r := to.stochastic(n, bits<<(64-random))
		if r&(to.sign-1) == to.inf {
			r-- // the greatest number
		}
		return to.encode(c.out(r))
	}
	return lane3(func(a, b, rbits uint64) uint64 {
		return one(a, rbits>>first)<<to.size | one(b, rbits>>second)
	}), nil
}

// JoinPairs returns the function that makes four values of two pairs, of which the first is the
// upper one.
func JoinPairs(d *isa.Desc) Func {
	size := 2 * packedFormatOf(d.Type).size
	return lane2(func(a, b uint64) uint64 { return a<<size | b })
}

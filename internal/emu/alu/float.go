package alu

import (
	"heddle/internal/isa"
)

// NaN. An operation in single precision or a narrower format returns the canonical NaN of its
// format, whatever NaN its operands hold: PTX leaves the payload unspecified, and calls 0x7fffffff
// and 0x7fff canonical. Double precision keeps payloads: the result is the first NaN operand made
// quiet, or 0xfff8000000000000 for an invalid operation on numbers. abs, neg, copysign and
// selections change the sign bit only.

const (
	nanF32   = 0x7fffffff
	quietF64 = 1 << 51
	infF64   = 0x7ff << 52
	signF64  = 1 << 63
	nanF64   = 0xfff8000000000000
)

// isNaN64 and isNaN32 test the encoding: all exponent bits set and a nonzero fraction.
func isNaN64(v uint64) bool { return v&^signF64 > infF64 }
func isNaN32(v uint32) bool { return v&^(1<<31) > 0x7f800000 }

// nan64 returns the NaN that a double-precision operation with these operands yields.
func nan64(operands ...uint64) uint64 {
	for _, v := range operands {
		if isNaN64(v) {
			return v | quietF64
		}
	}
	return nanF64
}

// flush32 is .ftz: a subnormal number, whose exponent bits are all zero, becomes a zero with its
// sign. Zero itself does not change.
func flush32(v uint32) uint32 {
	if v&0x7f800000 == 0 {
		return v & (1 << 31)
	}
	return v
}

// one returns the encoding of 1.0.
func (f *format) one() uint64 { return uint64(-f.emin+1) << (f.prec - 1) }

// isNaN is the same test for any format.
func (f *format) isNaN(v uint64) bool { return v&(f.sign-1) > f.inf }

// flush is .ftz for any format.
func (f *format) flush(v uint64) uint64 {
	if v&f.inf == 0 {
		return v & f.sign
	}
	return v
}

// saturate is .sat: the result clamped to [0, 1], and NaN as +0. The ISA does not define the result
// for -0; a clamp by max(x, +0) gives +0.
func (f *format) saturate(v uint64) uint64 {
	if v&f.sign != 0 || v > f.inf {
		return 0
	}
	return min(v, f.one())
}

// relu is .relu: negative results are 0, NaN is canonical.
func (f *format) relu(v uint64) uint64 {
	switch {
	case f.isNaN(v):
		return f.nan
	case v&f.sign != 0:
		return 0
	}
	return v
}

// arith is the floating-point environment of one instruction: the format of its operands and
// results, and its modifiers.
type arith struct {
	*format
	mode           isa.Rounding
	ftz, sat, relu bool
}

// newArith returns the environment of an instruction on the (element) format f.
func newArith(f *format, d *isa.Desc) *arith {
	mode := d.Round
	if mode == isa.NoRounding {
		mode = isa.RN
	}
	return &arith{f, mode, d.Has(isa.FTZ), d.Has(isa.Sat), d.Has(isa.Relu)}
}

// plain reports whether the operation rounds to nearest and has no modifier.
func (c *arith) plain() bool { return c.mode == isa.RN && !c.ftz && !c.sat && !c.relu }

// in reads an operand: the bits of the format, flushed for .ftz.
func (c *arith) in(v uint64) number { return c.unpack(c.bits(v)) }

// bits returns the encoding of an operand, flushed for .ftz.
func (c *arith) bits(v uint64) uint64 {
	v &= c.sign<<1 - 1
	if c.ftz {
		v = c.flush(v)
	}
	return v
}

// out applies the modifiers to a result, in the order .ftz, .sat, .relu.
func (c *arith) out(v uint64) uint64 {
	if c.ftz {
		v = c.flush(v)
	}
	if c.sat {
		v = c.saturate(v)
	}
	if c.relu {
		v = c.format.relu(v)
	}
	return v
}

// payload replaces a NaN result in double precision by the NaN of its operands.
func (c *arith) payload(r uint64, operands ...uint64) uint64 {
	if c.format == double && isNaN64(r) {
		return nan64(operands...)
	}
	return r
}

// The operations below work on one lane in software. They are used for forms without a faster loop.
func (c *arith) addScalar(a, b uint64) uint64 {
	return c.out(c.payload(c.add(c.mode, c.in(a), c.in(b)), a, b))
}

// The other operations have the same steps: read and flush the operands, compute exactly rounded in
// software, apply the modifiers, and keep a NaN payload where the format does.
func (c *arith) subScalar(a, b uint64) uint64 {
	return c.out(c.payload(c.add(c.mode, c.in(a), c.in(b^c.sign)), a, b))
}

func (c *arith) mulScalar(a, b uint64) uint64 {
	return c.out(c.payload(c.mul(c.mode, c.in(a), c.in(b)), a, b))
}

func (c *arith) fmaScalar(a, b, z uint64) uint64 {
	return c.out(c.payload(c.mulAdd(c.mode, c.in(a), c.in(b), c.in(z)), a, b, z))
}

func (c *arith) divScalar(a, b uint64) uint64 {
	return c.out(c.payload(c.div(c.mode, c.in(a), c.in(b)), a, b))
}

func (c *arith) rcpScalar(a uint64) uint64 {
	return c.out(c.payload(c.div(c.mode, c.unpack(c.one()), c.in(a)), a))
}

func (c *arith) sqrtScalar(a uint64) uint64 {
	return c.out(c.payload(c.sqrt(c.mode, c.in(a)), a))
}

// Packed types: the operation applies to both halves of a register. Half-precision elements have 16
// bits, those of .f32x2 have 32.

// elements returns the number of bits in an element of a packed type; 0 for a scalar type.
func elements(t isa.Type) uint {
	switch t {
	case isa.F16x2, isa.BF16x2:
		return 16
	case isa.F32x2:
		return 32
	}
	return 0
}

// packed1, packed2 and packed3 apply a scalar function to both elements of a packed type, or return
// it unchanged for a scalar type. An element function must ignore bits above its type.
func packed1(t isa.Type, f scalar1) scalar1 {
	n := elements(t)
	if n == 0 {
		return f
	}
	return func(a uint64) uint64 { return f(a) | f(a>>n)<<n }
}

// packed2 and packed3 apply f to each element of packed registers, or once if t is scalar.
func packed2(t isa.Type, f scalar2) scalar2 {
	n := elements(t)
	if n == 0 {
		return f
	}
	return func(a, b uint64) uint64 { return f(a, b) | f(a>>n, b>>n)<<n }
}

func packed3(t isa.Type, f scalar3) scalar3 {
	n := elements(t)
	if n == 0 {
		return f
	}
	return func(a, b, c uint64) uint64 { return f(a, b, c) | f(a>>n, b>>n, c>>n)<<n }
}

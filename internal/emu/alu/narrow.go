package alu

import (
	"math"

	"heddle/internal/isa"
)

// The 16-bit formats, computed in the host's double precision. Their numbers are exact in it, and
// so are products of two of them. A sum is rounded to odd, so that rounding it again to the narrow
// format gives the correctly rounded result.

// is16 reports whether f is a 16-bit format.
func (f *format) is16() bool { return f == half || f == bfloat }

// float returns the value of a register's low bits in a 16-bit format.
func (f *format) float(v uint64) float64 {
	mag := v & (f.sign - 1)
	var x float64
	switch {
	case mag >= f.inf:
		x = math.Inf(1)
		if mag > f.inf {
			x = math.NaN()
		}
	case mag>>(f.prec-1) != 0:
		x = math.Float64frombits(mag<<(53-f.prec) + uint64(f.emin-1+1023)<<52)
	default:
		x = float64(mag) * math.Float64frombits(uint64(f.emin-f.prec+1+1023)<<52)
	}
	if v&f.sign != 0 {
		x = -x
	}
	return x
}

// nearest rounds a double to a 16-bit format, to nearest even. Normal results are rounded in
// integer arithmetic on the encoding; the others use the general code.
func (f *format) nearest(x float64) uint64 {
	u := math.Float64bits(x)
	mag := u &^ signF64
	e := int(mag>>52) - 1023
	if e < f.emin || e >= f.emax { // zero, subnormal, near overflow or not a number
		return f.pack(isa.RN, double.unpack(u), false)
	}
	// Rebias the exponent, then round off the low bits of the fraction; a carry moves into the
	// exponent, which is then correct.
	shift := uint(53 - f.prec)
	mag -= uint64(f.emin-1+1023) << 52
	mag = (mag + 1<<(shift-1) - 1 + mag>>shift&1) >> shift
	return f.signed(u&signF64 != 0, mag)
}

// Operations rounded to nearest, the only rounding of these formats. NaN becomes canonical.

// narrowAdd, narrowMul and narrowFma compute one element.
func (c *arith) narrowAdd(a, b uint64) uint64 {
	x, y := c.float(c.bits(a)), c.float(c.bits(b))
	return c.out(c.nearest(oddSum(x, y, x+y)))
}

// narrowSub adds the negated operand; flipping the sign of a NaN does not matter, since results are
// canonical.
func (c *arith) narrowSub(a, b uint64) uint64 { return c.narrowAdd(a, b^c.sign) }

// narrowMul multiplies two 16-bit numbers exactly in double precision and rounds once.
func (c *arith) narrowMul(a, b uint64) uint64 {
	return c.out(c.nearest(c.float(c.bits(a)) * c.float(c.bits(b))))
}

// narrowFma multiplies exactly, and adds rounding to odd, so that the final rounding is the only
// one that counts.
func (c *arith) narrowFma(a, b, z uint64) uint64 {
	p, y := c.float(c.bits(a))*c.float(c.bits(b)), c.float(c.bits(z))
	return c.out(c.nearest(oddSum(p, y, p+y)))
}

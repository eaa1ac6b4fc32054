package alu

import (
	"math/bits"

	"heddle/internal/isa"
)

// Integer division, PTX ISA 9.7.1.8 and 9.7.1.9. Division by zero yields an unspecified value; here
// the quotient has all bits set and the remainder is the dividend. Quotients round towards zero, so
// that a remainder has the sign of the dividend. The least value divided by -1 wraps to itself.

// divU, divS, remU and remS visit the active lanes only: a division costs more than the test.
func divU[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.D[0], o.S[0], o.S[1]
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x, y := U(a[i]), U(b[i])
		if y == 0 {
			d[i] = uint64(^U(0))
		} else {
			d[i] = uint64(x / y)
		}
	}
}

// divS rounds towards zero. Go defines the overflowing quotient, the least value by -1, as that
// value, so no test is needed.
func divS[U unsigned, S signed](o *Ops, mask uint32) {
	d, a, b := o.D[0], o.S[0], o.S[1]
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x, y := S(a[i]), S(b[i])
		if y == 0 {
			d[i] = uint64(^U(0))
		} else {
			d[i] = uint64(U(x / y))
		}
	}
}

// remU returns the dividend for a divisor of zero, which keeps a = q*b + r for any q.
func remU[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.D[0], o.S[0], o.S[1]
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x, y := U(a[i]), U(b[i])
		if y == 0 {
			d[i] = uint64(x)
		} else {
			d[i] = uint64(x % y)
		}
	}
}

// remS has the sign of the dividend, as Go's operator has.
func remS[U unsigned, S signed](o *Ops, mask uint32) {
	d, a, b := o.D[0], o.S[0], o.S[1]
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x, y := S(a[i]), S(b[i])
		if y == 0 {
			d[i] = uint64(U(x))
		} else {
			d[i] = uint64(U(x % y))
		}
	}
}

// div follows PTX ISA 9.7.1.8 and, for floats, 9.7.3.8. Integer division has no modifier and no
// packed or 8-bit form.
func div(d *isa.Desc) (Func, error) {
	if d.Type.IsFloat() {
		return divFloat(d)
	}
	if d.Flags != 0 {
		return noForm(d)
	}
	switch d.Type {
	case isa.U16:
		return divU[uint16], nil
	case isa.U32:
		return divU[uint32], nil
	case isa.U64:
		return divU[uint64], nil
	case isa.S16:
		return divS[uint16, int16], nil
	case isa.S32:
		return divS[uint32, int32], nil
	case isa.S64:
		return divS[uint64, int64], nil
	}
	return noForm(d)
}

// rem follows PTX ISA 9.7.1.9; it exists for integers only.
func rem(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	switch d.Type {
	case isa.U16:
		return remU[uint16], nil
	case isa.U32:
		return remU[uint32], nil
	case isa.U64:
		return remU[uint64], nil
	case isa.S16:
		return remS[uint16, int16], nil
	case isa.S32:
		return remS[uint32, int32], nil
	case isa.S64:
		return remS[uint64, int64], nil
	}
	return noForm(d)
}

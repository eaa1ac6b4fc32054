package alu

import (
	"math/bits"

	"heddle/internal/isa"
)

// PTX ISA 9.7.1.8 and 9.7.1.9: division by zero yields an unspecified value. Here the quotient then
// has all bits set and the remainder is the dividend. Quotients round towards zero, so a remainder
// has the sign of the dividend; the least value divided by -1 wraps to itself.

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

// div follows PTX ISA 9.7.1.8 and, for floats, 9.7.3.8.
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

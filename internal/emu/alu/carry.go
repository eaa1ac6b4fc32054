package alu

import (
	"math/bits"

	"heddle/internal/isa"
)

// Extended-precision arithmetic, PTX ISA 9.7.2. The carry flag holds the carry of an addition and
// the borrow of a subtraction, the same for signed and unsigned operands.

// A carryOp computes the result and the carry out from two operands and the carry in (0 or 1).
type carryOp func(a, b, in uint64) (r, out uint64)

func carryAdd(a, b, in uint64) (uint64, uint64) { return bits.Add64(a, b, in) }
func carrySub(a, b, in uint64) (uint64, uint64) { return bits.Sub64(a, b, in) }

// carryAdd32 is the 32-bit addition in 64 bits: the carry is bit 32.
func carryAdd32(a, b, in uint64) (uint64, uint64) {
	s := uint64(uint32(a)) + uint64(uint32(b)) + in
	return uint64(uint32(s)), s >> 32
}

// carrySub32 is the 32-bit subtraction: the borrow is the sign of the 64-bit difference.
func carrySub32(a, b, in uint64) (uint64, uint64) {
	s := uint64(uint32(a)) - uint64(uint32(b)) - in
	return uint64(uint32(s)), s >> 63
}

func addc(d *isa.Desc) (Func, error) { return carryFunc(d, carryAdd) }
func subc(d *isa.Desc) (Func, error) { return carryFunc(d, carrySub) }
func madc(d *isa.Desc) (Func, error) { return carryMad(d, true) }

// carryFunc chooses the function of add.cc, addc, sub.cc and subc from the 64-bit operation.
func carryFunc(d *isa.Desc, op carryOp) (Func, error) {
	if !only(d, isa.CC) {
		return noForm(d)
	}
	subtract := d.Row.Opcode == "sub" || d.Row.Opcode == "subc"
	switch d.Type {
	case isa.U64, isa.S64:
	case isa.U32, isa.S32:
		op = carryAdd32
		if subtract {
			op = carrySub32
		}
	default:
		return noForm(d)
	}
	in := d.Row.Opcode == "addc" || d.Row.Opcode == "subc"
	out := d.Has(isa.CC)
	return func(o *Ops, mask uint32) {
		dst, a, b := o.D[0], o.S[0], o.S[1]
		flags := *o.CC
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			var cin uint64
			if in {
				cin = uint64(flags >> i & 1)
			}
			r, cout := op(a[i], b[i], cin)
			dst[i] = r
			flags = flags&^(1<<i) | uint32(cout)<<i
		}
		if out {
			*o.CC = flags
		}
	}, nil
}

// carryMad chooses the function of mad.cc and, with in, of madc: PTX ISA 9.7.2.5 and 9.7.2.6. The
// carry out is that of the addition alone.
func carryMad(d *isa.Desc, in bool) (Func, error) {
	var product scalar2
	switch d.Fn {
	case isa.FnHi:
		product = hiFunc(d.Type)
	case isa.FnLo:
		product = func(a, b uint64) uint64 { return a * b }
	}
	var op carryOp
	switch d.Type {
	case isa.U64, isa.S64:
		op = carryAdd
	case isa.U32, isa.S32:
		op = carryAdd32
	}
	if !only(d, isa.CC) || product == nil || op == nil {
		return noForm(d)
	}
	out := d.Has(isa.CC)
	return func(o *Ops, mask uint32) {
		dst, a, b, c := o.D[0], o.S[0], o.S[1], o.S[2]
		flags := *o.CC
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			var cin uint64
			if in {
				cin = uint64(flags >> i & 1)
			}
			r, cout := op(product(a[i], b[i]), c[i], cin)
			dst[i] = r
			flags = flags&^(1<<i) | uint32(cout)<<i
		}
		if out {
			*o.CC = flags
		}
	}, nil
}

package alu

import "heddle/internal/isa"

// Dot products of packed integers with accumulation: PTX ISA 9.7.1.23 and 9.7.1.24. The sum wraps,
// so it is the same for signed and unsigned accumulators.

// piece returns the n-th piece of the given bits from v, extended by its sign if signed.
func piece(v uint64, n, bits uint, isSigned bool) int32 {
	x := uint32(v>>(n*bits)) << (32 - bits)
	if isSigned {
		return int32(x) >> (32 - bits)
	}
	return int32(x >> (32 - bits))
}

// dotTypes checks the types of the two factors and says which are signed.
func dotTypes(d *isa.Desc) (sa, sb, ok bool) {
	is32 := func(t isa.Type) bool { return t == isa.U32 || t == isa.S32 }
	return d.Type == isa.S32, d.SType == isa.S32, is32(d.Type) && is32(d.SType) && d.Flags == 0
}

func dp4a(d *isa.Desc) (Func, error) {
	sa, sb, ok := dotTypes(d)
	if !ok {
		return noForm(d)
	}
	return lane3(func(a, b, c uint64) uint64 {
		sum := int32(c)
		for n := range uint(4) {
			sum += piece(a, n, 8, sa) * piece(b, n, 8, sb)
		}
		return uint64(uint32(sum))
	}), nil
}

func dp2a(d *isa.Desc) (Func, error) {
	sa, sb, ok := dotTypes(d)
	var from uint
	switch d.Fn {
	case isa.FnHi:
		from = 2
	case isa.FnLo:
	default:
		ok = false
	}
	if !ok {
		return noForm(d)
	}
	return lane3(func(a, b, c uint64) uint64 {
		sum := int32(c)
		for n := range uint(2) {
			sum += piece(a, n, 16, sa) * piece(b, from+n, 8, sb)
		}
		return uint64(uint32(sum))
	}), nil
}

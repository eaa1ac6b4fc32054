package alu

import "heddle/internal/isa"

// Selectors of the modes of prmt for control values 0 to 3: the number of the source byte for each byte of
// the result, in the form of a generic selector (PTX ISA 9.7.9.7, second table).
var prmtModes = map[isa.Fn][4]uint32{
	isa.FnF4E:  {0x3210, 0x4321, 0x5432, 0x6543},
	isa.FnB4E:  {0x5670, 0x6701, 0x7012, 0x0123},
	isa.FnRC8:  {0x0000, 0x1111, 0x2222, 0x3333},
	isa.FnECL:  {0x3210, 0x3211, 0x3222, 0x3333},
	isa.FnECR:  {0x0000, 0x1110, 0x2210, 0x3210},
	isa.FnRC16: {0x1010, 0x3232, 0x1010, 0x3232},
}

func prmt(d *isa.Desc) (Func, error) {
	if d.Type != isa.B32 || d.Flags != 0 {
		return noForm(d)
	}
	if d.Fn == isa.NoFn {
		return lane3(func(a, b, c uint64) uint64 { return permute(a, b, uint32(c)) }), nil
	}
	sel, ok := prmtModes[d.Fn]
	if !ok {
		return noForm(d)
	}
	return lane3(func(a, b, c uint64) uint64 { return permute(a, b, sel[c&3]) }), nil
}

// permute picks four bytes of b:a. A selector's low three bits name the byte, its top bit replicates the
// byte's sign instead.
func permute(a, b uint64, sel uint32) uint64 {
	src := b<<32 | uint64(uint32(a))
	var r uint64
	for n := range 4 {
		s := sel >> (4 * n)
		x := uint64(uint8(src >> (8 * (s & 7))))
		if s&8 != 0 {
			x = uint64(uint8(int8(x) >> 7))
		}
		r |= x << (8 * n)
	}
	return r
}

package alu

import "heddle/internal/isa"

// Selectors of the modes of prmt for control values 0 to 3: the number of the source byte for each
// byte of the result, in the form of a generic selector (PTX ISA 9.7.9.7, second table).
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
		return prmtAny, nil
	}
	sel, ok := prmtModes[d.Fn]
	if !ok {
		return noForm(d)
	}
	return lane3(func(a, b, c uint64) uint64 { return permute(a, b, sel[c&3]) }), nil
}

func prmtAny(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = permute(a[i], b[i], uint32(c[i]))
	}
	o.done(mask)
}

// permute picks four bytes of b:a.
func permute(a, b uint64, sel uint32) uint64 {
	src := b<<32 | uint64(uint32(a))
	return pick(src, sel) | pick(src, sel>>4)<<8 | pick(src, sel>>8)<<16 | pick(src, sel>>12)<<24
}

// pick returns the byte that a selector's low three bits name, or, if its fourth bit is set, the
// byte's sign in all bits.
func pick(src uint64, sel uint32) uint64 {
	x := int64(src << (56 - 8*(sel&7))) // the byte on top
	if sel&8 != 0 {
		x >>= 63
	}
	return uint64(x) >> 56
}

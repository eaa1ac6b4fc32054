package alu

import "heddle/internal/isa"

// Shift amounts are unsigned 32-bit values and are clamped to the width (PTX ISA 9.7.8.8, 9.7.8.9),
// as Go's shifts do.

func shlBits[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i]) << uint32(b[i]))
		d[i+1] = uint64(U(a[i+1]) << uint32(b[i+1]))
		d[i+2] = uint64(U(a[i+2]) << uint32(b[i+2]))
		d[i+3] = uint64(U(a[i+3]) << uint32(b[i+3]))
	}
	o.done(mask)
}

func shrU[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i]) >> uint32(b[i]))
		d[i+1] = uint64(U(a[i+1]) >> uint32(b[i+1]))
		d[i+2] = uint64(U(a[i+2]) >> uint32(b[i+2]))
		d[i+3] = uint64(U(a[i+3]) >> uint32(b[i+3]))
	}
	o.done(mask)
}

func shrS[U unsigned, S signed](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(S(a[i]) >> uint32(b[i])))
		d[i+1] = uint64(U(S(a[i+1]) >> uint32(b[i+1])))
		d[i+2] = uint64(U(S(a[i+2]) >> uint32(b[i+2])))
		d[i+3] = uint64(U(S(a[i+3]) >> uint32(b[i+3])))
	}
	o.done(mask)
}

func shl(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	return byWidth(d, shlBits[uint16], shlBits[uint32], shlBits[uint64])
}

func shr(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	switch d.Type {
	case isa.S16:
		return shrS[uint16, int16], nil
	case isa.S32:
		return shrS[uint32, int32], nil
	case isa.S64:
		return shrS[uint64, int64], nil
	}
	return byWidth(d, shrU[uint16], shrU[uint32], shrU[uint64])
}

// shf follows PTX ISA 9.7.8.7: source 0 is the lower word, source 1 the upper one.
func shf(d *isa.Desc) (Func, error) {
	if d.Type != isa.B32 || !only(d, isa.Wrap) {
		return noForm(d)
	}
	switch {
	case d.Fn == isa.FnLeft && d.Has(isa.Wrap):
		return shfLeftWrap, nil
	case d.Fn == isa.FnLeft:
		return shfLeftClamp, nil
	case d.Fn == isa.FnRight && d.Has(isa.Wrap):
		return shfRightWrap, nil
	case d.Fn == isa.FnRight:
		return shfRightClamp, nil
	}
	return noForm(d)
}

func shfLeftWrap(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = (b[i]<<32 | uint64(uint32(a[i]))) << (c[i] & 31) >> 32
	}
	o.done(mask)
}

func shfLeftClamp(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = (b[i]<<32 | uint64(uint32(a[i]))) << (min(uint32(c[i]), 32) & 63) >> 32
	}
	o.done(mask)
}

func shfRightWrap(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = uint64(uint32((b[i]<<32 | uint64(uint32(a[i]))) >> (c[i] & 31)))
	}
	o.done(mask)
}

func shfRightClamp(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = uint64(uint32((b[i]<<32 | uint64(uint32(a[i]))) >> (min(uint32(c[i]), 32) & 63)))
	}
	o.done(mask)
}

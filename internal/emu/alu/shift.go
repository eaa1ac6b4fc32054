package alu

import "heddle/internal/isa"

// Shifts: PTX ISA 9.7.8.7 to 9.7.8.9. Amounts are unsigned 32-bit values and are clamped to the
// width, as Go's shifts do.

// shlBits, shrU and shrS rely on Go's shifts: an amount of the width or more yields 0 or copies of
// the sign. They are unrolled, since shifts compute most addresses.
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

// shrU shifts in zeros.
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

// shrS shifts in copies of the sign, which the conversion to S finds at the width of the type.
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

// shl follows PTX ISA 9.7.8.8. Bit and integer types of one width share a function: the bits
// shifted out are lost.
func shl(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	return byWidth(d, shlBits[uint16], shlBits[uint32], shlBits[uint64])
}

// shr follows PTX ISA 9.7.8.9: signed types shift in copies of the sign, bit types and unsigned
// ones zeros.
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

// The funnel shifts form a 64-bit value from both words and keep one word of it. .wrap takes the
// amount modulo 32, .clamp limits it to 32.
func shfLeftWrap(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = (b[i]<<32 | uint64(uint32(a[i]))) << (c[i] & 31) >> 32
	}
	o.done(mask)
}

// With .clamp an amount of 32 moves the other word in completely.
func shfLeftClamp(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = (b[i]<<32 | uint64(uint32(a[i]))) << (min(uint32(c[i]), 32) & 63) >> 32
	}
	o.done(mask)
}

// shfRightWrap keeps the lower word of the value shifted right.
func shfRightWrap(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = uint64(uint32((b[i]<<32 | uint64(uint32(a[i]))) >> (c[i] & 31)))
	}
	o.done(mask)
}

// An amount of 32 yields the upper word.
func shfRightClamp(o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = uint64(uint32((b[i]<<32 | uint64(uint32(a[i]))) >> (min(uint32(c[i]), 32) & 63)))
	}
	o.done(mask)
}

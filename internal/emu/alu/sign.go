package alu

import "heddle/internal/isa"

// Operations on the sign and the class of a floating-point value.

// signFloat returns the function of neg and abs: PTX ISA 9.7.3.9, 9.7.3.10, 9.7.4.5, 9.7.4.6. NaN
// keeps its payload, which the ISA permits.
func signFloat(d *isa.Desc) (Func, error) {
	f := formatOf(d.Type)
	// Double precision and bfloat16 have no .ftz.
	allowed := isa.FTZ
	if d.Type == isa.F64 || f == bfloat {
		allowed = 0
	}
	if f == nil || d.Type == isa.F32x2 || !oneType(d) || !only(d, allowed) {
		return noForm(d)
	}
	// neg flips the sign bit, abs clears it.
	clear, flip := uint64(0), f.sign
	if d.Row.Opcode == "abs" {
		clear, flip = f.sign, 0
	}
	ftz, keep := d.Has(isa.FTZ), f.sign<<1-1
	// Without flushing, one loop serves all scalar formats.
	if !ftz && elements(d.Type) == 0 {
		return func(o *Ops, mask uint32) {
			d, a := o.unary(mask)
			for i := range d {
				d[i] = a[i]&keep&^clear ^ flip
			}
			o.done(mask)
		}, nil
	}
	return lane1(packed1(d.Type, func(a uint64) uint64 {
		a &= keep
		if ftz {
			a = f.flush(a)
		}
		return a&^clear ^ flip
	})), nil
}

// copysign is PTX ISA 9.7.3.2: the value of source 1 with the sign of source 0. Only bits move, so
// a NaN keeps its payload.
func copysign(d *isa.Desc) (Func, error) {
	if d.Type != isa.F32 && d.Type != isa.F64 || d.Flags != 0 {
		return noForm(d)
	}
	sign := formatOf(d.Type).sign
	return lane2(func(a, b uint64) uint64 { return a&sign | b&(sign-1) }), nil
}

// testp is PTX ISA 9.7.3.1: the class of a value, found from the encoding without its sign. Zero
// counts as normal and not as subnormal.
func testp(d *isa.Desc) (Func, error) {
	if d.Type != isa.F32 && d.Type != isa.F64 || d.Flags != 0 {
		return noForm(d)
	}
	f := formatOf(d.Type)
	var test func(v uint64) bool // of the magnitude's bits
	switch d.Fn {
	case isa.FnFinite:
		test = func(v uint64) bool { return v < f.inf }
	case isa.FnInfinite:
		test = func(v uint64) bool { return v == f.inf }
	case isa.FnNumber:
		test = func(v uint64) bool { return v <= f.inf }
	case isa.FnNotANumber:
		test = func(v uint64) bool { return v > f.inf }
	case isa.FnNormal:
		test = func(v uint64) bool { return v == 0 || v < f.inf && v&f.inf != 0 }
	case isa.FnSubnormal:
		test = func(v uint64) bool { return v != 0 && v&f.inf == 0 }
	default:
		return noForm(d)
	}
	return func(o *Ops, mask uint32) {
		var r uint32
		for i := range o.S[0] {
			r |= b2u(test(o.S[0][i]&(f.sign-1))) << i
		}
		setBits(o.PD[0], r, mask)
	}, nil
}

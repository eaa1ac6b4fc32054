package alu

import "heddle/internal/isa"

// Bit fields: PTX ISA 9.7.1.19 to 9.7.1.22. Positions and lengths of bfe and bfi are taken modulo
// 256.

// ones returns n low bits set, all for n >= 64.
// Go's shift by 64 or more yields 0, so that this wraps to all
func ones(n uint64) uint64 { return 1<<n - 1 }

// bfe is PTX ISA 9.7.1.19.
func bfe(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	switch d.Type {
	case isa.U32:
		return bfeU[uint32], nil
	case isa.U64:
		return bfeU[uint64], nil
	case isa.S32:
		return bfeS[uint32, int32], nil
	case isa.S64:
		return bfeS[uint64, int64], nil
	}
	return noForm(d)
}

func bfeU[U unsigned](o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = uint64(U(a[i])) >> (b[i] & 0xff) & ones(c[i]&0xff)
	}
	o.done(mask)
}

func bfeS[U unsigned, S signed](o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		d[i] = uint64(U(extractSigned(int64(S(a[i])), b[i]&0xff, c[i]&0xff)))
	}
	o.done(mask)
}

// extractSigned takes n bits from pos of a sign-extended value and extends their sign. Beyond the
// value's top bit stands its sign, which is what the ISA wants for a field that reaches past it.
func extractSigned(a int64, pos, n uint64) int64 {
	if n == 0 {
		return 0
	}
	f := a >> pos
	if n >= 64 {
		return f
	}
	return f << (64 - n) >> (64 - n)
}

// bfi is PTX ISA 9.7.1.20: f, a, b, c, d with the field a, the target b, the position c, the length
// d.
func bfi(d *isa.Desc) (Func, error) {
	if d.Flags != 0 || d.Type != isa.B32 && d.Type != isa.B64 {
		return noForm(d)
	}
	width := ones(uint64(8 * d.Type.Size()))
	return func(o *Ops, mask uint32) {
		dst, a, b, c, n := o.dst(mask), o.S[0], o.S[1], o.S[2], o.S[3]
		for i := range dst {
			pos := c[i] & 0xff
			field := ones(n[i]&0xff) << pos & width
			dst[i] = b[i]&width&^field | a[i]<<pos&field
		}
		o.done(mask)
	}, nil
}

// szext is PTX ISA 9.7.1.21.
func szext(d *isa.Desc) (Func, error) {
	if !only(d, isa.Wrap) || d.Type != isa.U32 && d.Type != isa.S32 {
		return noForm(d)
	}
	wrap, isSigned := d.Has(isa.Wrap), d.Type == isa.S32
	return lane2(func(a, b uint64) uint64 {
		n := uint32(b)
		if n >= 32 && !wrap {
			return uint64(uint32(a))
		}
		n &= 31
		if isSigned {
			return uint64(uint32(extractSigned(int64(int32(a)), 0, uint64(n))))
		}
		return a & ones(uint64(n))
	}), nil
}

// bmsk is PTX ISA 9.7.1.22: b bits set from position a.
func bmsk(d *isa.Desc) (Func, error) {
	if !only(d, isa.Wrap) || d.Type != isa.B32 {
		return noForm(d)
	}
	wrap := d.Has(isa.Wrap)
	return lane2(func(a, b uint64) uint64 {
		pos, n := uint64(uint32(a)), uint64(uint32(b))
		if wrap {
			pos, n = pos&31, n&31
		}
		if pos >= 32 {
			return 0
		}
		return uint64(uint32(ones(n) << pos))
	}), nil
}

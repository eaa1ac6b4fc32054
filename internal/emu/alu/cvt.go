package alu

import "heddle/internal/isa"

// cvt follows PTX ISA 9.7.9.21. It selects by the classes of the two types.
func cvt(d *isa.Desc) (Func, error) {
	from, to := d.SType, d.Type
	switch {
	case to == isa.S2F6x2 || from == isa.S2F6x2:
		return nil, unsupported(d, "fixed-point numbers are not implemented")
	case elements(to) != 0 || elements(from) != 0 || packedFormatOf(to) != nil ||
		packedFormatOf(from) != nil || to == isa.TF32 || to == isa.UE8M0x2 || from == isa.UE8M0x2:
		return cvtPacked(d)
	case isInt(from) && isInt(to):
		return cvtIntInt(d)
	case isInt(from) && formatOf(to) != nil:
		return cvtIntFloat(d)
	case formatOf(from) != nil && isInt(to):
		return cvtFloatInt(d)
	case formatOf(from) != nil && formatOf(to) != nil:
		return cvtFloatFloat(d)
	}
	return noForm(d)
}

// isInt reports whether t is a scalar integer type; cvt has no bit-size types.
func isInt(t isa.Type) bool {
	return isa.U8 <= t && t <= isa.S64
}

// cvtIntInt truncates, or extends by the signedness of the source type; .sat clamps to the range of
// the destination type.
func cvtIntInt(d *isa.Desc) (Func, error) {
	from, to := d.SType, d.Type
	switch {
	case d.Round != isa.NoRounding:
		return noForm(d)
	case d.Flags == isa.Sat:
		return cvtIntSat(from, to), nil
	case d.Flags != 0:
		return noForm(d)
	case from.Signed() && to.Size() > from.Size():
		return signExtend(from, to), nil
	}
	// Truncation and zero-extension keep the bits of the narrower type.
	switch min(from.Size(), to.Size()) {
	case 1:
		return movBits[uint8], nil
	case 2:
		return movBits[uint16], nil
	case 4:
		return movBits[uint32], nil
	}
	return mov64, nil
}

// sext sign-extends from the width of S to that of U.
func sext[U unsigned, S signed](o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(S(a[i])))
		d[i+1] = uint64(U(S(a[i+1])))
		d[i+2] = uint64(U(S(a[i+2])))
		d[i+3] = uint64(U(S(a[i+3])))
	}
	o.done(mask)
}

// signExtend returns the extension from one signed type to a wider type.
func signExtend(from, to isa.Type) Func {
	type sizes struct{ from, to int }
	switch (sizes{from.Size(), to.Size()}) {
	case sizes{1, 2}:
		return sext[uint16, int8]
	case sizes{1, 4}:
		return sext[uint32, int8]
	case sizes{1, 8}:
		return sext[uint64, int8]
	case sizes{2, 4}:
		return sext[uint32, int16]
	case sizes{2, 8}:
		return sext[uint64, int16]
	}
	return sext[uint64, int32]
}

// readInt returns the value of a register read as an integer type, as sign and magnitude, in which
// the values of all types fit.
func readInt(t isa.Type, v uint64) (neg bool, mag uint64) {
	drop := 64 - 8*uint(t.Size())
	if t.Signed() {
		if x := int64(v<<drop) >> drop; x < 0 {
			return true, -uint64(x)
		}
	}
	return false, v << drop >> drop
}

// clampInt returns the register value of ±mag clamped to an integer type.
func clampInt(t isa.Type, neg bool, mag uint64) uint64 {
	width := 8 * uint64(t.Size())
	switch {
	case t.Signed() && neg:
		return -min(mag, 1<<(width-1)) & ones(width)
	case t.Signed():
		return min(mag, ones(width-1))
	case neg:
		return 0
	}
	return min(mag, ones(width))
}

// cvtIntSat converts between integer types with saturation.
func cvtIntSat(from, to isa.Type) Func {
	return lane1(func(a uint64) uint64 {
		neg, mag := readInt(from, a)
		return clampInt(to, neg, mag)
	})
}

// cvtPack is PTX ISA 9.7.9.22: two saturated integers are placed above the lower bits of a third
// operand, which the 16-bit forms do not have.
func cvtPack(d *isa.Desc) (Func, error) {
	width, isSigned := packType(d)
	if d.Flags != isa.Sat || width == 0 {
		return noForm(d)
	}
	// Each source is a 32-bit signed number, clamped to the range of the field.
	lo, hi := int64(0), int64(ones(width))
	if isSigned {
		lo, hi = -1<<(width-1), 1<<(width-1)-1
	}
	field := func(v uint64) uint64 {
		return uint64(min(max(int64(int32(v)), lo), hi)) & ones(width)
	}
	if width == 16 {
		return lane2(func(a, b uint64) uint64 { return field(a)<<16 | field(b) }), nil
	}
	return lane3(func(a, b, c uint64) uint64 {
		return uint64(uint32(c<<(2*width) | field(a)<<width | field(b)))
	}), nil
}

// packType returns the width of the type to which cvt.pack converts; 0 if there is none. Types
// smaller than a byte have no isa.Type, and are read from the modifiers.
func packType(d *isa.Desc) (width uint64, isSigned bool) {
	switch d.Type {
	case isa.U8, isa.S8, isa.U16, isa.S16:
		return uint64(8 * d.Type.Size()), d.Type.Signed()
	}
	for _, m := range d.Mods {
		switch m {
		case "u2", "s2":
			return 2, m[0] == 's'
		case "u4", "s4":
			return 4, m[0] == 's'
		}
	}
	return 0, false
}

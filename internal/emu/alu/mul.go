package alu

import (
	"math/bits"

	"heddle/internal/isa"
)

// Integer products: PTX ISA 9.7.1.3 to 9.7.1.6. .lo is the lower half of the product, .hi the upper
// half, .wide all of it.

// mulLo and madLo compute modulo the width of the type.
func mulLo[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i]) * U(b[i]))
		d[i+1] = uint64(U(a[i+1]) * U(b[i+1]))
		d[i+2] = uint64(U(a[i+2]) * U(b[i+2]))
		d[i+3] = uint64(U(a[i+3]) * U(b[i+3]))
	}
	o.done(mask)
}

// madLo is mad.lo: the low half of the product plus the third source, wrapping. It is unrolled
// because array indices are computed with it.
func madLo[U unsigned](o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i])*U(b[i]) + U(c[i]))
		d[i+1] = uint64(U(a[i+1])*U(b[i+1]) + U(c[i+1]))
		d[i+2] = uint64(U(a[i+2])*U(b[i+2]) + U(c[i+2]))
		d[i+3] = uint64(U(a[i+3])*U(b[i+3]) + U(c[i+3]))
	}
	o.done(mask)
}

// mulWide and madWide compute products of W bits from N-bit factors, W twice N. WU is the unsigned
// type of W bits, to which the result is truncated; N is signed for signed factors, so that the
// conversion extends the sign.
func mulWide[WU unsigned, N unsigned | signed](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(WU(N(a[i])) * WU(N(b[i])))
		d[i+1] = uint64(WU(N(a[i+1])) * WU(N(b[i+1])))
		d[i+2] = uint64(WU(N(a[i+2])) * WU(N(b[i+2])))
		d[i+3] = uint64(WU(N(a[i+3])) * WU(N(b[i+3])))
	}
	o.done(mask)
}

// madWide is mad.wide: the exact product of two narrow numbers, added in the double width.
func madWide[WU unsigned, N unsigned | signed](o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(WU(N(a[i]))*WU(N(b[i])) + WU(c[i]))
		d[i+1] = uint64(WU(N(a[i+1]))*WU(N(b[i+1])) + WU(c[i+1]))
		d[i+2] = uint64(WU(N(a[i+2]))*WU(N(b[i+2])) + WU(c[i+2]))
		d[i+3] = uint64(WU(N(a[i+3]))*WU(N(b[i+3])) + WU(c[i+3]))
	}
	o.done(mask)
}

// hiFunc returns the upper half of the product of two values of a type, in the low bits.
func hiFunc(t isa.Type) scalar2 {
	switch t {
	case isa.U16:
		return func(a, b uint64) uint64 {
			return uint64(uint16(uint32(uint16(a)) * uint32(uint16(b)) >> 16))
		}
	case isa.S16:
		return func(a, b uint64) uint64 { return uint64(uint16(int32(int16(a)) * int32(int16(b)) >> 16)) }
	case isa.U32:
		return func(a, b uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) >> 32 }
	case isa.S32:
		return func(a, b uint64) uint64 { return uint64(uint32(int64(int32(a)) * int64(int32(b)) >> 32)) }
	case isa.U64:
		return func(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }
	case isa.S64:
		return mulHiS64
	}
	return nil
}

// mulHiU32 and mulHiS32 are the common forms of .hi, as loops without calls.
func mulHiU32(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = uint64(uint32(a[i])) * uint64(uint32(b[i])) >> 32
	}
	o.done(mask)
}

// mulHiS32 is the upper half of the signed product, which 64 bits hold exactly.
func mulHiS32(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = uint64(uint32(int64(int32(a[i])) * int64(int32(b[i])) >> 32))
	}
	o.done(mask)
}

// mulHiS64 returns the upper half of the signed product: the unsigned one, minus b if a is
// negative, minus a if b is negative.
func mulHiS64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
}

// mul24Func returns the product of the low 24 bits of the factors (PTX ISA 9.7.1.5): its bits
// 47..16 for .hi, 31..0 for .lo.
func mul24Func(d *isa.Desc) scalar2 {
	var shift uint
	switch d.Fn {
	case isa.FnHi:
		shift = 16
	case isa.FnLo:
	default:
		return nil
	}
	switch d.Type {
	case isa.U32:
		return func(a, b uint64) uint64 {
			return uint64(uint32((a & 0xffffff) * (b & 0xffffff) >> shift))
		}
	case isa.S32:
		return func(a, b uint64) uint64 {
			// The factors are 24-bit numbers, sign-extended.
			x, y := int64(a<<40)>>40, int64(b<<40)>>40
			return uint64(uint32(uint64(x*y) >> shift))
		}
	}
	return nil
}

// mul follows PTX ISA 9.7.1.3 and, for floats, 9.7.3.5 and 9.7.4.3.
func mul(d *isa.Desc) (Func, error) {
	if d.Type.IsFloat() {
		return mulFloat(d)
	}
	if d.Flags != 0 {
		return noForm(d)
	}
	switch d.Fn {
	case isa.FnLo:
		return byWidth(d, mulLo[uint16], mulLo[uint32], mulLo[uint64])
	case isa.FnWide:
		return wideFunc(d,
			mulWide[uint32, uint16], mulWide[uint32, int16], mulWide[uint64, uint32], mulWide[uint64, int32])
	case isa.FnHi:
		switch f := hiFunc(d.Type); {
		case d.Type == isa.U32:
			return mulHiU32, nil
		case d.Type == isa.S32:
			return mulHiS32, nil
		case f != nil:
			return lane2(f), nil
		}
	}
	return noForm(d)
}

// mad follows PTX ISA 9.7.1.4, 9.7.2.5 (.cc) and, for floats, 9.7.3.7.
func mad(d *isa.Desc) (Func, error) {
	if d.Type.IsFloat() {
		return fma(d)
	}
	sat := d.Flags == isa.Sat && d.Fn == isa.FnHi && d.Type == isa.S32
	switch {
	case d.Has(isa.CC):
		return carryMad(d, false)
	case d.Flags != 0 && !sat:
		return noForm(d)
	}
	switch d.Fn {
	case isa.FnLo:
		return byWidth(d, madLo[uint16], madLo[uint32], madLo[uint64])
	case isa.FnWide:
		return wideFunc(d,
			madWide[uint32, uint16], madWide[uint32, int16], madWide[uint64, uint32], madWide[uint64, int32])
	case isa.FnHi:
		if f := hiFunc(d.Type); f != nil {
			return accumulate(f, d.Type, sat), nil
		}
	}
	return noForm(d)
}

// accumulate adds a third operand to a product of two, in the width of t. With sat the sum is
// clamped.
func accumulate(f scalar2, t isa.Type, sat bool) Func {
	if sat {
		return lane3(func(a, b, c uint64) uint64 {
			return clampS32(int64(int32(f(a, b))) + int64(int32(c)))
		})
	}
	keep := ^uint64(0) >> (64 - 8*uint(t.Size()))
	return lane3(func(a, b, c uint64) uint64 { return (f(a, b) + c) & keep })
}

// mul24 follows PTX ISA 9.7.1.5.
func mul24(d *isa.Desc) (Func, error) {
	if f := mul24Func(d); f != nil && d.Flags == 0 {
		return lane2(f), nil
	}
	return noForm(d)
}

// mad24 follows PTX ISA 9.7.1.6.
func mad24(d *isa.Desc) (Func, error) {
	sat := d.Flags == isa.Sat && d.Fn == isa.FnHi && d.Type == isa.S32
	if f := mul24Func(d); f != nil && (d.Flags == 0 || sat) {
		return accumulate(f, d.Type, sat), nil
	}
	return noForm(d)
}

// byWidth selects the loop of an operation that ignores signs.
func byWidth(d *isa.Desc, w16, w32, w64 Func) (Func, error) {
	switch d.Type {
	case isa.U16, isa.S16, isa.B16:
		return w16, nil
	case isa.U32, isa.S32, isa.B32:
		return w32, nil
	case isa.U64, isa.S64, isa.B64:
		return w64, nil
	}
	return noForm(d)
}

// wideFunc selects the loop of a widening product.
func wideFunc(d *isa.Desc, u16, s16, u32, s32 Func) (Func, error) {
	switch d.Type {
	case isa.U16:
		return u16, nil
	case isa.S16:
		return s16, nil
	case isa.U32:
		return u32, nil
	case isa.S32:
		return s32, nil
	}
	return noForm(d)
}

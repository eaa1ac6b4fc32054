package alu

import "heddle/internal/isa"

// Loops over integer lanes. U is the unsigned type of the operation's width: a conversion to it
// drops the bits above the type, and a conversion from it to uint64 leaves zeros above the result.
// S is the signed type of the same width, where signs matter. Arithmetic wraps, as in PTX.
type unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

type signed interface {
	~int8 | ~int16 | ~int32 | ~int64
}

// addInt and subInt are unrolled: they are the most frequent instructions of a kernel.
func addInt[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i]) + U(b[i]))
		d[i+1] = uint64(U(a[i+1]) + U(b[i+1]))
		d[i+2] = uint64(U(a[i+2]) + U(b[i+2]))
		d[i+3] = uint64(U(a[i+3]) + U(b[i+3]))
	}
	o.done(mask)
}

// subInt is unrolled like addInt.
func subInt[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := 0; i < len(d); i += 4 {
		d[i] = uint64(U(a[i]) - U(b[i]))
		d[i+1] = uint64(U(a[i+1]) - U(b[i+1]))
		d[i+2] = uint64(U(a[i+2]) - U(b[i+2]))
		d[i+3] = uint64(U(a[i+3]) - U(b[i+3]))
	}
	o.done(mask)
}

// negInt maps the least value to itself.
func negInt[U unsigned](o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		d[i] = uint64(-U(a[i]))
	}
	o.done(mask)
}

// absInt relies on wrap-around: the least value is its own negation, so it is the maximum of both.
func absInt[U unsigned, S signed](o *Ops, mask uint32) {
	d, a := o.unary(mask)
	for i := range d {
		s := S(a[i])
		d[i] = uint64(U(max(s, -s))) // the least value is its own absolute value
	}
	o.done(mask)
}

// minU, maxU, minS and maxS compare in the width of the type.
func minU[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = uint64(min(U(a[i]), U(b[i])))
	}
	o.done(mask)
}

// maxU, minS and maxS differ from minU in the operator and in the type of the comparison only.
func maxU[U unsigned](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = uint64(max(U(a[i]), U(b[i])))
	}
	o.done(mask)
}

func minS[U unsigned, S signed](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = uint64(U(min(S(a[i]), S(b[i]))))
	}
	o.done(mask)
}

func maxS[U unsigned, S signed](o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = uint64(U(max(S(a[i]), S(b[i]))))
	}
	o.done(mask)
}

// sadU and sadS follow PTX ISA 9.7.1.7: the comparison and the difference use the type, the sum
// wraps.
func sadU[U unsigned](o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		x, y := U(a[i]), U(b[i])
		d[i] = uint64(U(c[i]) + (max(x, y) - min(x, y)))
	}
	o.done(mask)
}

// sadS subtracts as unsigned numbers: the difference of two signed values can exceed the signed
// type.
func sadS[U unsigned, S signed](o *Ops, mask uint32) {
	d, a, b, c := o.ternary(mask)
	for i := range d {
		x, y := S(a[i]), S(b[i])
		d[i] = uint64(U(c[i]) + (U(max(x, y)) - U(min(x, y))))
	}
	o.done(mask)
}

// clampS32 is .sat of the 32-bit signed type: an exact result limited to -2^31 and 2^31-1, the only
// integer saturation that PTX has for scalars.
func clampS32(v int64) uint64 {
	return uint64(uint32(min(max(v, -1<<31), 1<<31-1)))
}

// addSat and subSat are exact in 64 bits and then clamped.
func addSat(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = clampS32(int64(int32(a[i])) + int64(int32(b[i])))
	}
	o.done(mask)
}

// subSat is sub.sat.s32: 33 bits hold any difference, so the clamp sees the exact one.
func subSat(o *Ops, mask uint32) {
	d, a, b := o.binary(mask)
	for i := range d {
		d[i] = clampS32(int64(int32(a[i])) - int64(int32(b[i])))
	}
	o.done(mask)
}

// halves2 applies a scalar function on 16-bit values to packed pairs of them. f must return at most
// 16 bits, or it would change the upper half.
func halves2(f scalar2) scalar2 {
	return func(a, b uint64) uint64 {
		return f(a&0xffff, b&0xffff) | f(a>>16&0xffff, b>>16&0xffff)<<16
	}
}

// add follows PTX ISA 9.7.1.1, 9.7.2.1 (.cc) and, for floats, 9.7.3.3, 9.7.4.1 and 9.7.5.1.
func add(d *isa.Desc) (Func, error) {
	if d.Type.IsFloat() {
		return addFloat(d)
	}
	switch {
	case d.Has(isa.CC):
		return carryFunc(d, carryAdd)
	case d.Flags == isa.Sat && d.Type == isa.S32:
		return addSat, nil
	case d.Flags != 0:
		return noForm(d)
	}
	switch d.Type {
	case isa.U16, isa.S16:
		return addInt[uint16], nil
	case isa.U32, isa.S32:
		return addInt[uint32], nil
	case isa.U64, isa.S64:
		return addInt[uint64], nil
	case isa.U16x2, isa.S16x2:
		return lane2(halves2(func(a, b uint64) uint64 { return (a + b) & 0xffff })), nil
	}
	return noForm(d)
}

// sub follows PTX ISA 9.7.1.2, 9.7.2.3 (.cc) and, for floats, 9.7.3.4, 9.7.4.2 and 9.7.5.2. Unlike
// add it has no packed integer form.
func sub(d *isa.Desc) (Func, error) {
	if d.Type.IsFloat() {
		return addFloat(d)
	}
	switch {
	case d.Has(isa.CC):
		return carryFunc(d, carrySub)
	case d.Flags == isa.Sat && d.Type == isa.S32:
		return subSat, nil
	case d.Flags != 0:
		return noForm(d)
	}
	switch d.Type {
	case isa.U16, isa.S16:
		return subInt[uint16], nil
	case isa.U32, isa.S32:
		return subInt[uint32], nil
	case isa.U64, isa.S64:
		return subInt[uint64], nil
	}
	return noForm(d)
}

// neg follows PTX ISA 9.7.1.11, 9.7.3.10 and 9.7.4.5. Integer forms are signed only.
func neg(d *isa.Desc) (Func, error) {
	if d.Type.IsFloat() {
		return signFloat(d)
	}
	if d.Flags != 0 {
		return noForm(d)
	}
	switch d.Type {
	case isa.S16:
		return negInt[uint16], nil
	case isa.S32:
		return negInt[uint32], nil
	case isa.S64:
		return negInt[uint64], nil
	}
	return noForm(d)
}

// abs follows PTX ISA 9.7.1.10, 9.7.3.9 and 9.7.4.6. Integer forms are signed only.
func abs(d *isa.Desc) (Func, error) {
	if d.Type.IsFloat() {
		return signFloat(d)
	}
	if d.Flags != 0 {
		return noForm(d)
	}
	switch d.Type {
	case isa.S16:
		return absInt[uint16, int16], nil
	case isa.S32:
		return absInt[uint32, int32], nil
	case isa.S64:
		return absInt[uint64, int64], nil
	}
	return noForm(d)
}

// sad follows PTX ISA 9.7.1.7: the third source plus the absolute difference of the first two.
func sad(d *isa.Desc) (Func, error) {
	if d.Flags != 0 {
		return noForm(d)
	}
	switch d.Type {
	case isa.U16:
		return sadU[uint16], nil
	case isa.U32:
		return sadU[uint32], nil
	case isa.U64:
		return sadU[uint64], nil
	case isa.S16:
		return sadS[uint16, int16], nil
	case isa.S32:
		return sadS[uint32, int32], nil
	case isa.S64:
		return sadS[uint64, int64], nil
	}
	return noForm(d)
}

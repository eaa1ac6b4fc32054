package alu

import "heddle/internal/isa"

// Comparisons of floating-point values with the host's arithmetic: PTX ISA 9.3.1.2. Single
// precision is compared directly. Values of the other formats are exact in double precision.
// Ordered operators are false and unordered ones true if an operand is NaN.

// eqF32, ltF32 and leF32 are false if an operand is NaN, as Go's operators are.
func eqF32(a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, f32(a[i]) == f32(b[i]))
	}
	return r
}

// Go's < and <= on float32 compare exactly, subnormal numbers included.
func ltF32(a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, f32(a[i]) < f32(b[i]))
	}
	return r
}

func leF32(a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, f32(a[i]) <= f32(b[i]))
	}
	return r
}

// numF32 reports whether both operands are numbers, that is, not NaN; infinities are.
func numF32(a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, !isNaN32(uint32(a[i])) && !isNaN32(uint32(b[i])))
	}
	return r
}

// eqF64, ltF64 and leF64 are the same in double precision.
func eqF64(a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, f64(a[i]) == f64(b[i]))
	}
	return r
}

// The loops are written out, because a call per lane would cost more than the comparison.
func ltF64(a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, f64(a[i]) < f64(b[i]))
	}
	return r
}

func leF64(a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, f64(a[i]) <= f64(b[i]))
	}
	return r
}

// numF64 reports whether both operands are numbers, that is, not NaN; infinities are.
func numF64(a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, !isNaN64(a[i]) && !isNaN64(b[i]))
	}
	return r
}

// floatPrims are the comparisons from which the others are built.
type floatPrims struct{ eq, lt, le, num compareFunc }

// compareFloat returns the comparison of op. An unordered operator is the negation of the opposite
// ordered one; an ordered "not equal" is "less or greater".
func compareFloat(op isa.Cmp, t isa.Type, ftz bool) (comparison, bool) {
	var p floatPrims
	f := formatOf(t)
	switch {
	// .ftz exists for single and half precision only.
	case f == nil || elements(t) != 0 || ftz && (f == double || f == bfloat):
		return comparison{}, false
	case f == double:
		p = floatPrims{eqF64, ltF64, leF64, numF64}
	case f == single && !ftz:
		p = floatPrims{eqF32, ltF32, leF32, numF32}
	default:
		p = widened(f, ftz)
	}
	switch op {
	case isa.EQ:
		return comparison{prim: p.eq}, true
	case isa.NEU:
		return comparison{prim: p.eq, invert: true}, true
	case isa.NE:
		lt := p.lt
		return comparison{prim: func(a, b *Lanes) uint32 { return lt(a, b) | lt(b, a) }}, true
	case isa.EQU:
		lt := p.lt
		apart := func(a, b *Lanes) uint32 { return lt(a, b) | lt(b, a) }
		return comparison{prim: apart, invert: true}, true
	case isa.LT:
		return comparison{prim: p.lt}, true
	case isa.GT:
		return comparison{prim: p.lt, swap: true}, true
	case isa.LE:
		return comparison{prim: p.le}, true
	case isa.GE:
		return comparison{prim: p.le, swap: true}, true
	case isa.GEU:
		return comparison{prim: p.lt, invert: true}, true
	case isa.LEU:
		return comparison{prim: p.lt, swap: true, invert: true}, true
	case isa.GTU:
		return comparison{prim: p.le, invert: true}, true
	case isa.LTU:
		return comparison{prim: p.le, swap: true, invert: true}, true
	case isa.NUM:
		return comparison{prim: p.num}, true
	case isa.NAN:
		return comparison{prim: p.num, invert: true}, true
	}
	return comparison{}, false
}

// widened returns comparisons of values of f after flushing and exact conversion to double.
func widened(f *format, ftz bool) floatPrims {
	lift := func(prim compareFunc) compareFunc {
		return func(a, b *Lanes) uint32 {
			var x, y Lanes
			for i := range a {
				x[i], y[i] = widen(f, a[i], ftz), widen(f, b[i], ftz)
			}
			return prim(&x, &y)
		}
	}
	return floatPrims{lift(eqF64), lift(ltF64), lift(leF64), lift(numF64)}
}

// widen converts a value of f to double precision, exactly: every format here has fewer bits. NaN
// becomes the canonical NaN, which all comparisons treat alike.
func widen(f *format, v uint64, ftz bool) uint64 {
	v &= f.sign<<1 - 1
	if ftz {
		v = f.flush(v)
	}
	return double.pack(isa.RN, f.unpack(v), false)
}

// setpPacked compares two pairs of halves: p is the result of the lower, q of the upper ones.
// Unlike the scalar form, q is not the negation of p.
func setpPacked(d *isa.Desc, join func(t, c uint32) uint32) (Func, error) {
	lower, upper, ok := packedCompare(d.Cmp, d.Type, d.Has(isa.FTZ))
	if !ok {
		return noForm(d)
	}
	return func(o *Ops, mask uint32) {
		lo, hi := lower(o), upper(o)
		if join != nil {
			lo, hi = join(lo, o.PS[0]), join(hi, o.PS[0])
		}
		setBits(o.PD[0], lo, mask)
		setBits(o.PD[1], hi, mask)
	}, nil
}

// packedCompare returns the comparisons of the lower and the upper halves of .f16x2 and .bf16x2.
// The comparison of the lower ones ignores the upper bits of a register.
func packedCompare(op isa.Cmp, t isa.Type, ftz bool) (lower, upper func(o *Ops) uint32, ok bool) {
	// Both packed types have two halves of 16 bits.
	elem := isa.F16
	if t == isa.BF16x2 {
		elem = isa.BF16
	}
	cmp, ok := compareOp(op, elem, ftz)
	if !ok {
		return nil, nil, false
	}
	// The upper halves are moved down, so that the scalar comparison applies to them.
	upper = func(o *Ops) uint32 {
		var a, b Lanes
		for i := range a {
			a[i], b[i] = o.S[0][i]>>16, o.S[1][i]>>16
		}
		half := Ops{S: [4]*Lanes{&a, &b}}
		return cmp.lanes(&half)
	}
	return cmp.lanes, upper, true
}

// setPacked is set on packed sources: each half becomes all ones or 1.0, or zero.
func setPacked(d *isa.Desc, join func(t, c uint32) uint32) (Func, error) {
	var yes uint64
	switch {
	case d.Type == isa.U32 || d.Type == isa.S32:
		yes = 0xffff
	case d.Type == isa.F16x2 && d.SType == isa.F16x2:
		yes = 0x3c00
	case d.Type == isa.BF16x2 && d.SType == isa.BF16x2:
		yes = 0x3f80
	default:
		return noForm(d)
	}
	lower, upper, ok := packedCompare(d.Cmp, d.SType, d.Has(isa.FTZ))
	if !ok {
		return noForm(d)
	}
	return func(o *Ops, mask uint32) {
		lo, hi := lower(o), upper(o)
		if join != nil {
			lo, hi = join(lo, o.PS[0]), join(hi, o.PS[0])
		}
		dst := o.dst(mask)
		for i := range dst {
			dst[i] = -uint64(lo>>i&1)&yes | -uint64(hi>>i&1)&yes<<16
		}
		o.done(mask)
	}, nil
}

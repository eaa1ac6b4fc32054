package alu

import "heddle/internal/isa"

// A compareFunc compares two registers and returns one bit for each lane, active or not.
type compareFunc func(a, b *Lanes) uint32

// eqInt compares the bits of U only, so that higher bits of a wider register do not matter.
// Signedness does not matter for equality.
func eqInt[U unsigned](a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, U(a[i]) == U(b[i]))
	}
	return r
}

// ltInt compares as T, whose signedness decides the order.
func ltInt[T unsigned | signed](a, b *Lanes) uint32 {
	var r uint32
	for i := range a {
		r = collect(r, T(a[i]) < T(b[i]))
	}
	return r
}

// A comparison is a primitive with its operands swapped or its result negated.
type comparison struct {
	prim         compareFunc
	swap, invert bool
}

// lanes returns the result in each of the 32 lanes, active or not; the caller masks it.
func (c *comparison) lanes(o *Ops) uint32 {
	a, b := o.S[0], o.S[1]
	if c.swap {
		a, b = b, a
	}
	t := c.prim(a, b)
	if c.invert {
		t = ^t
	}
	return t
}

// compareOp returns the comparison of op on a type: PTX ISA 9.3.1. It is false for operators that
// the type does not have, and for .ftz on integers.
func compareOp(op isa.Cmp, t isa.Type, ftz bool) (comparison, bool) {
	if t.IsFloat() {
		return compareFloat(op, t, ftz)
	}
	if ftz {
		return comparison{}, false
	}
	return compareInt(op, t)
}

// compareInt reduces the integer operators to "equal" and "less". Bit-size types have eq and ne
// only.
func compareInt(op isa.Cmp, t isa.Type) (comparison, bool) {
	// Bit types compare as unsigned numbers would, but have no order in PTX.
	var eq, lt compareFunc
	switch t {
	case isa.B16, isa.U16:
		eq, lt = eqInt[uint16], ltInt[uint16]
	case isa.S16:
		eq, lt = eqInt[uint16], ltInt[int16]
	case isa.B32, isa.U32:
		eq, lt = eqInt[uint32], ltInt[uint32]
	case isa.S32:
		eq, lt = eqInt[uint32], ltInt[int32]
	case isa.B64, isa.U64:
		eq, lt = eqInt[uint64], ltInt[uint64]
	case isa.S64:
		eq, lt = eqInt[uint64], ltInt[int64]
	default:
		return comparison{}, false
	}
	switch op {
	case isa.EQ:
		return comparison{prim: eq}, true
	case isa.NE:
		return comparison{prim: eq, invert: true}, true
	}
	switch {
	case t.Class() == isa.Bits:
		return comparison{}, false
	case t.Class() == isa.Unsigned:
		op = unsignedCmp(op)
	}
	switch op {
	case isa.LT:
		return comparison{prim: lt}, true
	case isa.GT:
		return comparison{prim: lt, swap: true}, true
	case isa.LE:
		return comparison{prim: lt, swap: true, invert: true}, true
	case isa.GE:
		return comparison{prim: lt, invert: true}, true
	}
	return comparison{}, false
}

// unsignedCmp maps the operators lo, ls, hi and hs of unsigned types to the general ones.
func unsignedCmp(op isa.Cmp) isa.Cmp {
	switch op {
	case isa.LO:
		return isa.LT
	case isa.LS:
		return isa.LE
	case isa.HI:
		return isa.GT
	case isa.HS:
		return isa.GE
	}
	return op
}

// combiner returns the Boolean operation of set, setp and lop3 on masks of lanes; nil if fn is not
// one.
func combiner(fn isa.Fn) func(t, c uint32) uint32 {
	switch fn {
	case isa.FnAnd:
		return func(t, c uint32) uint32 { return t & c }
	case isa.FnOr:
		return func(t, c uint32) uint32 { return t | c }
	case isa.FnXor:
		return func(t, c uint32) uint32 { return t ^ c }
	}
	return nil
}

// setp follows PTX ISA 9.7.6.2 and 9.7.7.2: p = t op c, q = !t op c; for packed types p and q are
// the results of the lower and the upper half.
func setp(d *isa.Desc) (Func, error) {
	join := combiner(d.Fn)
	if !only(d, isa.FTZ) || join == nil && d.Fn != isa.NoFn {
		return noForm(d)
	}
	if d.Type == isa.F16x2 || d.Type == isa.BF16x2 {
		return setpPacked(d, join)
	}
	cmp, ok := compareOp(d.Cmp, d.Type, d.Has(isa.FTZ))
	if !ok {
		return noForm(d)
	}
	if join == nil {
		return func(o *Ops, mask uint32) {
			t := cmp.lanes(o)
			setBits(o.PD[0], t, mask)
			setBits(o.PD[1], ^t, mask)
		}, nil
	}
	return func(o *Ops, mask uint32) {
		t, c := cmp.lanes(o), o.PS[0]
		setBits(o.PD[0], join(t, c), mask)
		setBits(o.PD[1], join(^t, c), mask)
	}, nil
}

// set follows PTX ISA 9.7.6.1 and 9.7.7.1: all ones, or 1.0, if the comparison is true, else zero.
func set(d *isa.Desc) (Func, error) {
	join := combiner(d.Fn)
	if !only(d, isa.FTZ) || join == nil && d.Fn != isa.NoFn {
		return noForm(d)
	}
	if d.SType == isa.F16x2 || d.SType == isa.BF16x2 {
		return setPacked(d, join)
	}
	// The value for true: all bits of an integer type, 1.0 of a floating-point type.
	var yes uint64
	switch d.Type {
	case isa.U32, isa.S32:
		yes = 0xffffffff
	case isa.U16, isa.S16:
		yes = 0xffff
	case isa.F32:
		yes = 0x3f800000
	case isa.F16:
		yes = 0x3c00
	case isa.BF16:
		yes = 0x3f80
	}
	cmp, ok := compareOp(d.Cmp, d.SType, d.Has(isa.FTZ))
	if !ok || yes == 0 {
		return noForm(d)
	}
	return func(o *Ops, mask uint32) {
		t := cmp.lanes(o)
		if join != nil {
			t = join(t, o.PS[0])
		}
		dst := o.dst(mask)
		for i := range dst {
			dst[i] = -uint64(t&1) & yes
			t >>= 1
		}
		o.done(mask)
	}, nil
}

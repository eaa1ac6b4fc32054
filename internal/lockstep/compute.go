package lockstep

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/smt"
)

// compare executes setp and set on integers.
func (x *exec) compare(in *ir.Instr, st *state) bool {
	op := in.Op()
	if op != "setp" || len(in.Src) < 2 {
		return false
	}
	c := x.c
	var p smt.Term
	if in.Type.Class() == isa.Float {
		if in.Type == isa.F16x2 || in.Type == isa.BF16x2 { // two comparisons, one for each destination
			return false
		}
		w := width(in.Type)
		p = x.pure("setp."+in.Text(), 0, x.read(in.Src[0], w, st), x.read(in.Src[1], w, st))
	} else {
		w := width(in.Type)
		a, b := x.read(in.Src[0], w, st), x.read(in.Src[1], w, st)
		var ok bool
		if p, ok = x.relation(in.Cmp, a, b, in.Type.Signed()); !ok {
			return false
		}
	}
	q := c.Not(p)
	if len(in.Src) > 2 && in.Src[2].Kind != ir.None { // combined with a third predicate
		r := x.read(in.Src[2], 0, st)
		join := func(a smt.Term) smt.Term {
			switch in.Fn {
			case isa.FnOr:
				return c.Or(a, r)
			case isa.FnXor:
				return c.Not(c.Eq(a, r))
			}
			return c.And(a, r)
		}
		p, q = join(p), join(q)
	}
	// Both are computed before one is written: a destination may be the third predicate.
	x.set(in, in.Dst[0], p, false, st)
	if len(in.Dst) > 1 {
		x.set(in, in.Dst[1], q, false, st)
	}
	return true
}

// relation is a comparison of integers (PTX ISA 9.3.1).
func (x *exec) relation(op isa.Cmp, a, b smt.Term, asSigned bool) (smt.Term, bool) {
	c := x.c
	less, atMost := c.Ult, c.Ule
	if asSigned {
		less, atMost = c.Slt, c.Sle
	}
	switch op {
	case isa.EQ:
		return c.Eq(a, b), true
	case isa.NE:
		return c.Not(c.Eq(a, b)), true
	case isa.LT:
		return less(a, b), true
	case isa.LE:
		return atMost(a, b), true
	case isa.GT:
		return less(b, a), true
	case isa.GE:
		return atMost(b, a), true
	case isa.LO:
		return c.Ult(a, b), true
	case isa.LS:
		return c.Ule(a, b), true
	case isa.HI:
		return c.Ult(b, a), true
	case isa.HS:
		return c.Ule(b, a), true
	}
	return 0, false
}

// compute executes an instruction from integers to one integer; ok is false for what is not modelled.
func (x *exec) compute(in *ir.Instr, st *state) (v smt.Term, ok bool) {
	c := x.c
	if in.Flags&^(isa.ToSpace|isa.CC) != 0 || in.Vec > 1 || readsCarry(in) { // .sat, .relu
		return 0, false
	}
	t := in.Type
	w := width(t)
	arg := func(i int) smt.Term { return x.read(in.Src[i], w, st) }
	switch op := in.Op(); op {
	case "mov", "cvta":
		if len(in.Src) != 1 || in.Src[0].Kind == ir.Vector || in.Dst[0].Kind == ir.Vector || in.Src[0].Kind == ir.FuncAddr && w != 64 || t.Size() > 8 {
			return 0, false
		}
		return arg(0), true
	case "cvt":
		return x.convert(in, st)
	case "selp":
		return c.Ite(x.read(in.Src[2], 0, st), arg(0), arg(1)), true
	case "and", "or", "xor", "not", "cnot":
		return x.logic(op, w, len(in.Src), arg)
	}
	if t.Class() == isa.Float || t.Class() == isa.Opaque || w == 0 || t == isa.U16x2 || t == isa.S16x2 {
		return 0, false
	}
	return x.integer(in, w, arg, st)
}

func (x *exec) logic(op string, w, n int, arg func(int) smt.Term) (smt.Term, bool) {
	c := x.c
	a := arg(0)
	if w == 0 {
		switch op {
		case "and":
			return c.And(a, arg(1)), true
		case "or":
			return c.Or(a, arg(1)), true
		case "xor":
			return c.Not(c.Eq(a, arg(1))), true
		case "not":
			return c.Not(a), true
		}
		return 0, false
	}
	switch op {
	case "and":
		return c.BvAnd(a, arg(1)), true
	case "or":
		return c.BvOr(a, arg(1)), true
	case "xor":
		return c.BvXor(a, arg(1)), true
	case "not":
		return c.BvNot(a), true
	}
	return c.Ite(c.Eq(a, c.Const(0, w)), c.Const(1, w), c.Const(0, w)), true // cnot
}

func (x *exec) integer(in *ir.Instr, w int, arg func(int) smt.Term, st *state) (smt.Term, bool) {
	c, signed := x.c, in.Type.Signed()
	switch in.Op() {
	case "bfe":
		return x.bitfield(in, w, arg, st)
	case "add":
		return c.Add(arg(0), arg(1)), true
	case "sub":
		return c.Sub(arg(0), arg(1)), true
	case "neg":
		return c.Neg(arg(0)), true
	case "abs":
		return c.Ite(c.Slt(arg(0), c.Const(0, w)), c.Neg(arg(0)), arg(0)), true
	case "mul", "mad":
		return x.multiply(in, w, st)
	case "mul24", "mad24":
		return x.multiply24(in, arg)
	case "min", "max":
		less := c.Ult
		if signed {
			less = c.Slt
		}
		a, b := arg(0), arg(1)
		if in.Op() == "max" {
			a, b = b, a
		}
		return c.Ite(less(arg(0), arg(1)), a, b), true
	case "div", "rem":
		return x.divide(in.Op() == "div", signed, arg(0), arg(1)), true
	case "shl":
		return c.Shl(arg(0), x.shiftBy(in.Src[1], w, st)), true
	case "shr":
		if signed {
			return c.AShr(arg(0), x.shiftBy(in.Src[1], w, st)), true
		}
		return c.LShr(arg(0), x.shiftBy(in.Src[1], w, st)), true
	}
	return 0, false
}

// shiftBy reads a shift amount, which is 32 bits whatever is shifted; all of them count (PTX ISA 9.7.8.7).
func (x *exec) shiftBy(o ir.Operand, w int, st *state) smt.Term {
	by := x.read(o, 32, st)
	if w >= 32 {
		return x.c.ZExt(by, w)
	}
	top := x.c.Const(uint64(w), 32)
	return x.c.Extract(x.c.Ite(x.c.Ult(by, top), by, top), 0, w)
}

// divide is PTX's: by zero it gives a value that the ISA leaves open (9.7.1.8).
func (x *exec) divide(quotient, signed bool, a, b smt.Term) smt.Term {
	c := x.c
	w := c.Width(a)
	var r smt.Term
	var zero string
	switch {
	case quotient && signed:
		r, zero = c.SDiv(a, b), "sdiv0"
	case quotient:
		r, zero = c.UDiv(a, b), "udiv0"
	case signed:
		r, zero = c.SRem(a, b), "srem0"
	default:
		r, zero = c.URem(a, b), "urem0"
	}
	if v, ok := c.Value(b); ok && v != 0 {
		return r
	}
	return c.Ite(c.Eq(b, c.Const(0, w)), x.pure(zero, w, a), r)
}

func (x *exec) multiply(in *ir.Instr, w int, st *state) (smt.Term, bool) {
	c, signed := x.c, in.Type.Signed()
	a, b := x.read(in.Src[0], w, st), x.read(in.Src[1], w, st)
	var r smt.Term
	switch {
	case in.Fn == isa.FnWide && w <= 32:
		r = c.Mul(x.resize(a, 2*w, signed), x.resize(b, 2*w, signed))
	case in.Fn == isa.FnHi && w <= 32:
		r = c.Extract(c.Mul(x.resize(a, 2*w, signed), x.resize(b, 2*w, signed)), w, w)
	case in.Fn == isa.FnLo || in.Fn == isa.NoFn:
		r = c.Mul(a, b)
	default:
		return 0, false
	}
	if in.Op() == "mad" {
		r = c.Add(r, x.read(in.Src[2], c.Width(r), st))
	}
	return r, true
}

// multiply24 multiplies the low 24 bits of its operands and gives the low or the high 32 bits of the 48 (PTX ISA 9.7.1.5, 9.7.1.6).
func (x *exec) multiply24(in *ir.Instr, arg func(int) smt.Term) (smt.Term, bool) {
	c, w := x.c, 32
	if in.Fn == isa.FnHi {
		w = 48
	}
	factor := func(i int) smt.Term { return x.resize(c.Extract(arg(i), 0, 24), w, in.Type.Signed()) }
	r := c.Mul(factor(0), factor(1))
	if in.Fn == isa.FnHi {
		r = c.Extract(r, 16, 32)
	}
	if in.Op() == "mad24" {
		r = c.Add(r, arg(2))
	}
	return r, true
}

// pack executes mov between a register and the parts of a vector, the first of which is the lowest
// (PTX ISA 9.7.9.4).
func (x *exec) pack(in *ir.Instr, st *state) bool {
	if in.Op() != "mov" || len(in.Src) != 1 || len(in.Dst) != 1 || in.Type.Size() > 8 || width(in.Type) == 0 {
		return false
	}
	w, from, to := width(in.Type), in.Src[0], in.Dst[0]
	switch {
	case from.Kind == ir.Vector && to.Kind != ir.Vector && w%len(from.Elems) == 0:
		part := w / len(from.Elems)
		r := x.read(from.Elems[0], part, st)
		for _, e := range from.Elems[1:] {
			r = x.c.Concat(x.read(e, part, st), r)
		}
		x.set(in, to, r, false, st)
	case to.Kind == ir.Vector && from.Kind != ir.Vector && w%len(to.Elems) == 0:
		part := w / len(to.Elems)
		v := x.read(from, w, st) // before any part is written: one may be the source
		for i, e := range to.Elems {
			x.set(in, e, x.c.Extract(v, i*part, part), false, st)
		}
	default:
		return false
	}
	return true
}

// convert executes cvt between integers.
func (x *exec) convert(in *ir.Instr, st *state) (smt.Term, bool) {
	from, to := in.SType, in.Type
	isInt := func(t isa.Type) bool { c := t.Class(); return c == isa.Unsigned || c == isa.Signed || c == isa.Bits }
	if len(in.Src) != 1 || !isInt(from) || !isInt(to) || from.Size() > 8 || to.Size() > 8 || in.Src[0].Kind == ir.Vector {
		return 0, false
	}
	return x.resize(x.read(in.Src[0], width(from), st), width(to), from.Signed()), true
}

// Package compute turns instructions from registers to registers into terms. It is the second
// evaluator of the instruction set: emu/alu computes the same instructions on values, and tests
// compare the two (testing/nodiff, TestTermsAreValues). So it keeps its own table of opcodes, on
// purpose.
//
// What it cannot express it leaves to its caller, which takes the result to be unknown: floating
// point except for comparisons, saturation, carries, and packed types.
package compute

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// Operands gives an instruction the values of its sources.
type Operands interface {
	// Read returns an operand in width bits; 0: a predicate.
	Read(o ir.Operand, width int) smt.Term
	// Resize returns t in width bits, extended with its sign or with zeros.
	Resize(t smt.Term, width int, signed bool) smt.Term
}

// Result is the value of one destination.
type Result struct {
	To     *ir.Operand
	Value  smt.Term
	Signed bool // how to extend it to the register
}

// Evaluator evaluates instructions, one at a time. It is reused, since there is one call for each
// instruction of each pass.
type Evaluator struct {
	c   *smt.Context
	ops Operands
	in  *ir.Instr
	out []Result

	scaled map[smt.Term]scaled // what is known to be a product by a constant that is shifted
}

// New returns an evaluator whose instructions get their sources from ops.
func New(c *smt.Context, ops Operands) *Evaluator { return &Evaluator{c: c, ops: ops} }

// Execute returns the results of an instruction, all over values before it, which are valid until the
// next call; ok is false for an instruction that is not modelled.
func (e *Evaluator) Execute(in *ir.Instr) (results []Result, ok bool) {
	e.in, e.out = in, e.out[:0]
	if e.compare() || e.pack() {
		return e.out, true
	}
	v, ok := e.compute()
	if !ok {
		v, ok = e.bits()
	}
	if ok {
		e.result(&in.Dst[0], v, in.Type.Signed())
		return e.out, true
	}
	return nil, false
}

func (e *Evaluator) result(to *ir.Operand, v smt.Term, signed bool) {
	e.out = append(e.out, Result{to, v, signed})
}

// source returns a source in w bits.
func (e *Evaluator) source(i, w int) smt.Term { return e.ops.Read(e.in.Src[i], w) }

// compute evaluates an instruction with one integer result. Moves, selections and logic have a
// meaning for any bits; arithmetic is modelled for integers of 16, 32 and 64 bits.
func (e *Evaluator) compute() (v smt.Term, ok bool) {
	c, in := e.c, e.in
	if in.Flags&^(isa.ToSpace|isa.CC) != 0 || in.Vec > 1 || in.ReadsCarry() { // .sat, .relu
		return 0, false
	}
	t := in.Type
	w := kernel.Width(t)
	arg := func(i int) smt.Term { return e.source(i, w) }
	switch op := in.Op(); op {
	case "mov", "cvta":
		if len(in.Src) != 1 || t.Size() > 8 {
			return 0, false
		}
		return arg(0), true
	case "cvt":
		return e.convert()
	case "selp":
		return c.Ite(e.source(2, 0), arg(0), arg(1)), true
	case "and", "or", "xor", "not", "cnot":
		return e.logic(w, arg)
	}
	if t.Class() == isa.Float || t.Class() == isa.Opaque || w == 0 || t == isa.U16x2 ||
		t == isa.S16x2 {
		return 0, false
	}
	return e.integer(w, arg)
}

// logic evaluates bitwise operations (PTX ISA 9.7.7). On predicates (w = 0) they are Boolean, and
// cnot does not exist.
func (e *Evaluator) logic(w int, arg func(int) smt.Term) (smt.Term, bool) {
	c, op := e.c, e.in.Op()
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

// integer evaluates integer arithmetic (PTX ISA 9.7.1) and shifts (9.7.8). All of it wraps around.
func (e *Evaluator) integer(w int, arg func(int) smt.Term) (smt.Term, bool) {
	c, in, signed := e.c, e.in, e.in.Type.Signed()
	switch in.Op() {
	case "add":
		a, b := arg(0), arg(1)
		return e.sum(c.Add(a, b), a, b), true
	case "sub":
		a, b := arg(0), arg(1)
		return e.difference(c.Sub(a, b), a, b), true
	case "neg":
		return c.Neg(arg(0)), true
	case "abs":
		return c.Ite(c.Slt(arg(0), c.Const(0, w)), c.Neg(arg(0)), arg(0)), true
	case "mul", "mad":
		return e.multiply(w)
	case "mul24", "mad24":
		return e.multiply24(arg)
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
		return e.divide(in.Op() == "div", arg(0), arg(1)), true
	case "shl":
		return c.Shl(arg(0), e.shiftBy(w)), true
	case "shr":
		shift := c.LShr
		if signed {
			shift = c.AShr
		}
		a, by := arg(0), e.shiftBy(w)
		v := shift(a, by)
		if n, ok := c.Value(by); ok && n < uint64(w) {
			v = e.shifted(v, a, uint(n), signed)
		}
		return v, true
	}
	return 0, false
}

// shiftBy reads a shift amount. It has 32 bits for every type, and all of them count (PTX ISA
// 9.7.8.7).
func (e *Evaluator) shiftBy(w int) smt.Term {
	by := e.source(1, 32)
	if w >= 32 {
		return e.c.ZExt(by, w)
	}
	top := e.c.Const(uint64(w), 32)
	return e.c.Extract(e.c.Ite(e.c.Ult(by, top), by, top), 0, w)
}

// divide is PTX's division: by zero it yields a value that the ISA leaves open (9.7.1.8).
func (e *Evaluator) divide(quotient bool, a, b smt.Term) smt.Term {
	c := e.c
	w := c.Width(a)
	var r smt.Term
	var zero string
	switch signed := e.in.Type.Signed(); {
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
	return c.Ite(c.Eq(b, c.Const(0, w)), symbol.Opaque(c, zero, w, a), r)
}

// multiply evaluates mul and mad (PTX ISA 9.7.1.3, 9.7.1.4): the low or the high half of the
// product, or all of it. Products of 64 by 64 bits that need more than 64 bits are not modelled.
func (e *Evaluator) multiply(w int) (smt.Term, bool) {
	c, in, signed := e.c, e.in, e.in.Type.Signed()
	a, b := e.source(0, w), e.source(1, w)
	of, factor, divides := e.factor(a, b)
	var r smt.Term
	if w <= 32 && (in.Fn == isa.FnWide || in.Fn == isa.FnHi) {
		r = c.Mul(e.ops.Resize(a, 2*w, signed), e.ops.Resize(b, 2*w, signed))
	}
	switch {
	case in.Fn == isa.FnWide && w <= 32:
		if divides && !(signed && factor>>(w-1) != 0) {
			r = e.scale(r, e.ops.Resize(of, 2*w, signed), factor, 0, signed)
		}
	case in.Fn == isa.FnHi && (w <= 32 || divides):
		if w <= 32 {
			r = c.Extract(r, w, w)
		}
		if divides {
			r = e.high(r, of, factor, w, signed)
		}
	case in.Fn == isa.FnLo || in.Fn == isa.NoFn:
		r = c.Mul(a, b)
		if _, most := c.Unsigned(of); divides && most <= (1<<w-1)/factor {
			r = e.scale(r, of, factor, 0, false)
		}
	default:
		return 0, false
	}
	if in.Op() == "mad" {
		r = c.Add(r, e.source(2, c.Width(r)))
	}
	return r, true
}

// multiply24 multiplies the low 24 bits of its operands, and yields the low or the high 32 bits of
// the 48-bit product (PTX ISA 9.7.1.5, 9.7.1.6).
func (e *Evaluator) multiply24(arg func(int) smt.Term) (smt.Term, bool) {
	c, w := e.c, 32
	if e.in.Fn == isa.FnHi {
		w = 48
	}
	factor := func(i int) smt.Term {
		return e.ops.Resize(c.Extract(arg(i), 0, 24), w,
			e.in.Type.Signed())
	}
	r := c.Mul(factor(0), factor(1))
	if e.in.Fn == isa.FnHi {
		r = c.Extract(r, 16, 32)
	}
	if e.in.Op() == "mad24" {
		r = c.Add(r, arg(2))
	}
	return r, true
}

// convert evaluates cvt between integers.
func (e *Evaluator) convert() (smt.Term, bool) {
	in := e.in
	from, to := in.SType, in.Type
	isInt := func(t isa.Type) bool {
		c := t.Class()
		return c == isa.Unsigned || c == isa.Signed ||
			c == isa.Bits
	}
	if len(in.Src) != 1 || !isInt(from) || !isInt(to) || from.Size() > 8 || to.Size() > 8 ||
		in.Src[0].Kind == ir.Vector {
		return 0, false
	}
	return e.ops.Resize(e.source(0, kernel.Width(from)), kernel.Width(to), from.Signed()), true
}

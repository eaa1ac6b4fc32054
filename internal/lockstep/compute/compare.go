package compute

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// compare evaluates setp. A comparison of floating-point numbers is an unknown function of its
// operands.
func (e *Evaluator) compare() bool {
	in, c := e.in, e.c
	if in.Op() != "setp" || len(in.Src) < 2 {
		return false
	}
	w := kernel.Width(in.Type)
	var p smt.Term
	switch {
	case in.Type == isa.F16x2, in.Type == isa.BF16x2: // two comparisons, one for each destination
		return false
	case in.Type.Class() == isa.Float:
		p = symbol.Opaque(c, "setp."+in.Text(), 0, e.source(0, w), e.source(1, w))
	default:
		var ok bool
		if p, ok = e.relation(e.source(0, w), e.source(1, w)); !ok {
			return false
		}
	}
	q := c.Not(p)
	if len(in.Src) > 2 && in.Src[2].Kind != ir.None { // combined with a third predicate
		r := e.source(2, 0)
		p, q = e.combine(p, r), e.combine(q, r)
	}
	e.result(&in.Dst[0], p, false)
	if len(in.Dst) > 1 {
		e.result(&in.Dst[1], q, false)
	}
	return true
}

// combine is the Boolean operation of a comparison that has one.
func (e *Evaluator) combine(a, r smt.Term) smt.Term {
	switch e.in.Fn {
	case isa.FnOr:
		return e.c.Or(a, r)
	case isa.FnXor:
		return e.c.Not(e.c.Eq(a, r))
	}
	return e.c.And(a, r)
}

// relation is a comparison of integers (PTX ISA 9.3.1).
func (e *Evaluator) relation(a, b smt.Term) (smt.Term, bool) {
	c := e.c
	less, atMost := c.Ult, c.Ule
	if e.in.Type.Signed() {
		less, atMost = c.Slt, c.Sle
	}
	switch e.in.Cmp {
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

// pack evaluates mov between a register and the parts of a vector, of which the first is the lowest
// (PTX ISA 9.7.9.4).
func (e *Evaluator) pack() bool {
	in := e.in
	if in.Op() != "mov" || len(in.Src) != 1 || len(in.Dst) != 1 || in.Type.Size() > 8 ||
		kernel.Width(in.Type) == 0 {
		return false
	}
	w, from, to := kernel.Width(in.Type), &in.Src[0], &in.Dst[0]
	switch {
	case from.Kind == ir.Vector && to.Kind != ir.Vector && w%len(from.Elems) == 0:
		part := w / len(from.Elems)
		r := e.ops.Read(from.Elems[0], part)
		for _, o := range from.Elems[1:] {
			r = e.c.Concat(e.ops.Read(o, part), r)
		}
		e.result(to, r, false)
		return true
	case to.Kind == ir.Vector && from.Kind != ir.Vector && w%len(to.Elems) == 0:
		part := w / len(to.Elems)
		v := e.ops.Read(*from, w)
		for i := range to.Elems {
			e.result(&to.Elems[i], e.c.Extract(v, i*part, part), false)
		}
		return true
	}
	return false
}

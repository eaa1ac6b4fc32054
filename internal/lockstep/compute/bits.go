package compute

import (
	"heddle/internal/isa"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/smt"
)

// bits evaluates the instructions that count, move and select bits (PTX ISA 9.7.1.14 to 9.7.1.24,
// 9.7.8.6, 9.7.8.7 and 9.7.9.7). Their flags are part of their meaning; other forms, such as lop3
// with a predicate and prmt with a mode, are not modelled.
func (e *Evaluator) bits() (v smt.Term, ok bool) {
	in := e.in
	w := kernel.Width(in.Type)
	arg := func(i int) smt.Term { return e.source(i, w) }
	op := in.Op()
	switch {
	case op == "bfind":
		return e.bfind(arg(0)), true
	case op == "shf" && in.Flags&^isa.Wrap == 0:
		return e.funnel()
	case op == "szext" && in.Flags&^isa.Wrap == 0:
		n, keep := e.size(1)
		return e.c.Ite(keep, arg(0), e.low(arg(0), n, in.Type.Signed())), true
	case op == "bmsk" && in.Flags&^isa.Wrap == 0:
		return e.mask(), true
	case in.Flags != 0:
		return 0, false
	}
	switch op {
	case "brev":
		return e.reverse(arg(0)), true
	case "popc":
		return e.narrow(e.c.Popc(arg(0))), true
	case "clz":
		return e.narrow(e.leading(arg(0))), true
	case "bfe":
		return e.field(w), true
	case "bfi":
		return e.insert(w), true
	case "sad":
		return e.distance(arg(0), arg(1), arg(2)), true
	case "dp4a", "dp2a":
		return e.dot(op == "dp4a")
	case "lop3":
		return e.lop3()
	case "prmt":
		if in.Fn == isa.NoFn {
			return e.permute(), true
		}
	}
	return 0, false
}

// The patterns whose groups of 1, 2, 4, ... bits are ones and zeros in turn, lowest first.
var patterns = [...]uint64{
	0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f, 0x00ff00ff00ff00ff,
	0x0000ffff0000ffff, 0x00000000ffffffff,
}

func (e *Evaluator) right(a smt.Term, n int) smt.Term {
	return e.c.LShr(a, e.c.Const(uint64(n), e.c.Width(a)))
}

func (e *Evaluator) left(a smt.Term, n int) smt.Term {
	return e.c.Shl(a, e.c.Const(uint64(n), e.c.Width(a)))
}

// narrow is a result of 32 bits.
func (e *Evaluator) narrow(a smt.Term) smt.Term { return e.c.Extract(a, 0, 32) }

// reverse exchanges neighboring bits, pairs, and so on.
func (e *Evaluator) reverse(a smt.Term) smt.Term {
	c, w := e.c, e.c.Width(a)
	for i, n := 0, 1; n < w; i, n = i+1, 2*n {
		m := c.Const(patterns[i], w)
		a = c.BvOr(c.BvAnd(e.right(a, n), m), e.left(c.BvAnd(a, m), n))
	}
	return a
}

// leading counts the zeros above the highest bit that is set, w if none is: it halves the part that
// can have it.
func (e *Evaluator) leading(a smt.Term) smt.Term {
	c, w := e.c, e.c.Width(a)
	zero := c.Const(0, w)
	none := c.Eq(a, zero)
	n := zero
	for half := w / 2; half > 0; half /= 2 {
		empty := c.Eq(e.right(a, w-half), zero)
		n = c.BvOr(n, c.Ite(empty, c.Const(uint64(half), w), zero))
		a = c.Ite(empty, e.left(a, half), a)
	}
	return c.Ite(none, c.Const(uint64(w), w), n)
}

// bfind is the position of the highest bit that differs from the sign, or with .shiftamt how far it
// is from the top; all ones if there is none.
func (e *Evaluator) bfind(a smt.Term) smt.Term {
	c, w := e.c, e.c.Width(a)
	if e.in.Type.Signed() {
		a = c.BvXor(a, c.AShr(a, c.Const(uint64(w-1), w)))
	}
	n := e.narrow(e.leading(a))
	if !e.in.Has(isa.Shiftamt) {
		n = c.Sub(c.Const(uint64(w-1), 32), n)
	}
	return c.Ite(c.Eq(a, c.Const(0, w)), c.Const(1<<32-1, 32), n)
}

// byte reads an operand of which only the low 8 bits count, in w bits.
func (e *Evaluator) byte(i, w int) smt.Term {
	return e.c.ZExt(e.c.Extract(e.source(i, 32), 0, 8), w)
}

// ones is 2^n - 1: n ones, all from the width of n on.
func (e *Evaluator) ones(n smt.Term) smt.Term {
	w := e.c.Width(n)
	return e.c.AddConst(e.c.Shl(e.c.Const(1, w), n), ^uint64(0))
}

// low is the n low bits of a, extended with zeros or with the highest of them; 0 if n is 0, and a
// if n is the width or more.
func (e *Evaluator) low(a, n smt.Term, signed bool) smt.Term {
	c, w := e.c, e.c.Width(a)
	if !signed {
		return c.BvAnd(a, e.ones(n))
	}
	all := c.Const(uint64(w), w)
	drop := c.Ite(c.Ult(n, all), c.Sub(all, n), c.Const(0, w))
	return c.AShr(c.Shl(a, drop), drop)
}

// field is bfe. Above the source, the field is filled up with the sign or zeros.
func (e *Evaluator) field(w int) smt.Term {
	a, pos, n := e.source(0, w), e.byte(1, w), e.byte(2, w)
	if e.in.Type.Signed() {
		return e.low(e.c.AShr(a, pos), n, true)
	}
	return e.low(e.c.LShr(a, pos), n, false)
}

// insert is bfi: the low bits of the first operand replace a field of the second.
func (e *Evaluator) insert(w int) smt.Term {
	c := e.c
	pos := e.byte(2, w)
	m := c.Shl(e.ones(e.byte(3, w)), pos)
	return c.BvOr(c.BvAnd(e.source(1, w), c.BvNot(m)), c.BvAnd(c.Shl(e.source(0, w), pos), m))
}

// size reads the size of a field in a word. all says that it is the word or more, which .wrap
// excludes.
func (e *Evaluator) size(i int) (n, all smt.Term) {
	c := e.c
	n = e.source(i, 32)
	if e.in.Has(isa.Wrap) {
		return c.BvAnd(n, c.Const(31, 32)), smt.False
	}
	return n, c.Not(c.Ult(n, c.Const(32, 32)))
}

// mask is bmsk: ones from a position on.
func (e *Evaluator) mask() smt.Term {
	pos, _ := e.size(0)
	n, _ := e.size(1)
	return e.c.Shl(e.ones(n), pos)
}

// funnel is shf: one word of two that are shifted together. .wrap takes the amount modulo 32,
// .clamp limits it to 32.
func (e *Evaluator) funnel() (smt.Term, bool) {
	c := e.c
	lo, hi, word := e.source(0, 32), e.source(1, 32), e.c.Const(32, 32)
	n, all := e.size(2)
	n = c.Ite(all, word, n)
	switch rest := c.Sub(word, n); e.in.Fn {
	case isa.FnLeft:
		return c.BvOr(c.Shl(hi, n), c.LShr(lo, rest)), true
	case isa.FnRight:
		return c.BvOr(c.LShr(lo, n), c.Shl(hi, rest)), true
	}
	return 0, false
}

// distance is sad: |a-b| + more. The difference of two signed numbers is an unsigned one.
func (e *Evaluator) distance(a, b, more smt.Term) smt.Term {
	c := e.c
	less := c.Ult
	if e.in.Type.Signed() {
		less = c.Slt
	}
	return c.Add(more, c.Ite(less(a, b), c.Sub(b, a), c.Sub(a, b)))
}

// dot multiplies pairs of bytes (dp4a), or half-words with two of the bytes (dp2a), and adds them
// to the third operand.
func (e *Evaluator) dot(four bool) (smt.Term, bool) {
	c, in := e.c, e.in
	a, b, sum := e.source(0, 32), e.source(1, 32), e.source(2, 32)
	parts, from, size := 2, 0, 16
	switch {
	case four:
		parts, size = 4, 8
	case in.Fn == isa.FnHi:
		from = 2
	case in.Fn != isa.FnLo:
		return 0, false
	}
	for i := range parts {
		x := e.ops.Resize(c.Extract(a, size*i, size), 32, in.Type.Signed())
		y := e.ops.Resize(c.Extract(b, 8*(from+i), 8), 32, in.SType.Signed())
		sum = c.Add(sum, c.Mul(x, y))
	}
	return sum, true
}

// lop3 is the function of three bits whose results a constant lists: bit 4a+2b+c of it.
func (e *Evaluator) lop3() (smt.Term, bool) {
	c := e.c
	lut, ok := c.Value(e.source(3, 32))
	if e.in.Fn != isa.NoFn || !ok {
		return 0, false
	}
	x, y, z := e.source(0, 32), e.source(1, 32), e.source(2, 32)
	choose := func(by, one, zero smt.Term) smt.Term {
		return c.BvOr(c.BvAnd(by, one), c.BvAnd(c.BvNot(by), zero))
	}
	ofZ := func(two uint64) smt.Term { // by the results for 0 and 1
		return [...]smt.Term{c.Const(0, 32), c.BvNot(z), z, c.Const(1<<32-1, 32)}[two&3]
	}
	ofY := func(four uint64) smt.Term { return choose(y, ofZ(four>>2), ofZ(four)) }
	return choose(x, ofY(lut>>4), ofY(lut)), true
}

// permute is prmt without a mode: four of the bytes of two words, as the four bits of a selector
// name each; the highest of these asks for the byte's sign in all bits.
func (e *Evaluator) permute() smt.Term {
	c := e.c
	words := c.Concat(e.source(1, 32), e.source(0, 32))
	sel := e.source(2, 32)
	var out smt.Term
	for i := range 4 {
		which := c.ZExt(c.Extract(sel, 4*i, 3), 64)
		b := c.Extract(c.LShr(words, e.left(which, 3)), 0, 8)
		sign := c.Eq(c.Extract(sel, 4*i+3, 1), c.Const(1, 1))
		b = c.Ite(sign, c.AShr(b, c.Const(7, 8)), b)
		if i == 0 {
			out = b
		} else {
			out = c.Concat(b, out)
		}
	}
	return out
}

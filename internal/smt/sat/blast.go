package sat

import "heddle/internal/smt"

// blast returns the bits of t, the lowest first. The bits of its arguments must exist: the caller
// visits terms bottom up, so that deep terms need no recursion.
func (b *blaster) blast(t smt.Term) []lit {
	c, args := b.c, b.c.Args(t)
	w := c.Width(t)
	arg := func(i int) []lit { return b.bits[args[i]] }
	switch c.Op(t) {
	case smt.OpConst:
		v, _ := c.Value(t)
		return b.constant(v, max(w, 1))
	case smt.OpVar:
		name := c.Name(t)
		if b.vars[name] == nil {
			b.vars[name] = b.fresh(max(w, 1))
		}
		return b.vars[name]
	case smt.OpApp:
		b.apps = append(b.apps, t)
		return b.fresh(max(w, 1))
	case smt.OpNot:
		return []lit{arg(0)[0].not()}
	case smt.OpAnd, smt.OpOr:
		r := arg(0)[0]
		for i := 1; i < len(args); i++ {
			if c.Op(t) == smt.OpAnd {
				r = b.l.and(r, arg(i)[0])
			} else {
				r = b.l.or(r, arg(i)[0])
			}
		}
		return []lit{r}
	case smt.OpIte:
		return b.choose(arg(0)[0], arg(1), arg(2))
	case smt.OpEq:
		return []lit{b.equal(arg(0), arg(1))}
	case smt.OpUlt:
		return []lit{b.less(arg(0), arg(1))}
	case smt.OpSlt:
		return []lit{b.less(b.flipSign(arg(0)), b.flipSign(arg(1)))}
	case smt.OpExtract:
		lo := c.ExtractLow(t)
		return arg(0)[lo : lo+w]
	case smt.OpZExt:
		return b.extend(arg(0), w, no)
	case smt.OpSExt:
		return b.extend(arg(0), w, arg(0)[len(arg(0))-1])
	}
	return b.arithmetic(t, w, arg)
}

// arithmetic returns the bits of an arithmetic operation or a shift.
func (b *blaster) arithmetic(t smt.Term, w int, arg func(int) []lit) []lit {
	c, n := b.c, len(b.c.Args(t))
	switch c.Op(t) {
	case smt.OpSum:
		k, coef := c.SumParts(t)
		r := b.constant(k, w)
		for i := range n {
			r = b.add(r, b.times(arg(i), coef[i]), no)
		}
		return r
	case smt.OpMul:
		r := arg(0)
		for i := 1; i < n; i++ {
			r = b.multiply(r, arg(i))
		}
		return r
	case smt.OpBvAnd, smt.OpBvOr, smt.OpBvXor:
		gate := b.l.and
		switch c.Op(t) {
		case smt.OpBvOr:
			gate = b.l.or
		case smt.OpBvXor:
			gate = b.l.xor
		}
		r := append([]lit(nil), arg(0)...)
		for i := 1; i < n; i++ {
			for j, m := range arg(i) {
				r[j] = gate(r[j], m)
			}
		}
		return r
	case smt.OpUDiv:
		q, _ := b.divide(arg(0), arg(1))
		return q
	case smt.OpURem:
		_, r := b.divide(arg(0), arg(1))
		return r
	case smt.OpSDiv, smt.OpSRem:
		return b.signedDivide(arg(0), arg(1), c.Op(t) == smt.OpSDiv)
	case smt.OpShl:
		return reverse(b.shiftRight(reverse(arg(0)), arg(1), no))
	case smt.OpLShr:
		return b.shiftRight(arg(0), arg(1), no)
	case smt.OpAShr:
		return b.shiftRight(arg(0), arg(1), arg(0)[w-1])
	case smt.OpPopc:
		return b.extend(b.count(arg(0)), w, no)[:w]
	}
	panic("sat: operator without circuit")
}

// count returns how many of some bits are set: the sum of the two halves.
func (b *blaster) count(of []lit) []lit {
	if len(of) == 1 {
		return of
	}
	half := len(of) / 2
	x, y := b.count(of[:half]), b.count(of[half:])
	w := max(len(x), len(y)) + 1
	return b.add(b.extend(x, w, no), b.extend(y, w, no), no)
}

// fresh returns n new inputs: the bits of a variable, or of the result of a function.
func (b *blaster) fresh(n int) []lit {
	r := make([]lit, n)
	for i := range r {
		r[i] = b.l.free()
	}
	return r
}

// constant returns the lowest n bits of a constant, as the nodes yes and no.
func (b *blaster) constant(v uint64, n int) []lit {
	r := make([]lit, n)
	for i := range r {
		r[i] = no
		if v>>i&1 == 1 {
			r[i] = yes
		}
	}
	return r
}

// extend returns bits extended to n by copies of a node: no for zero extension, the highest bit for
// sign extension.
func (b *blaster) extend(a []lit, n int, by lit) []lit {
	r := append(make([]lit, 0, n), a...)
	for len(r) < n {
		r = append(r, by)
	}
	return r
}

// reverse returns the bits in reverse order, which turns a left shift into a right shift: one
// shifter serves both.
func reverse(a []lit) []lit {
	r := make([]lit, len(a))
	for i, m := range a {
		r[len(a)-1-i] = m
	}
	return r
}

// not returns the complement of every bit.
func (b *blaster) not(a []lit) []lit {
	r := make([]lit, len(a))
	for i, m := range a {
		r[i] = m.not()
	}
	return r
}

// choose returns p ? x : y, bit by bit.
func (b *blaster) choose(p lit, x, y []lit) []lit {
	r := make([]lit, len(x))
	for i := range r {
		r[i] = b.l.choose(p, x[i], y[i])
	}
	return r
}

// equal returns whether all bits are equal: the conjunction of one equivalence for each bit.
func (b *blaster) equal(x, y []lit) lit {
	r := yes
	for i := range x {
		r = b.l.and(r, b.l.xor(x[i], y[i]).not())
	}
	return r
}

// less returns the unsigned x < y, built from the lowest bit up: each higher bit, where the
// operands differ, decides anew.
func (b *blaster) less(x, y []lit) lit {
	r := no
	for i := range x {
		r = b.l.most(x[i].not(), y[i], r)
	}
	return r
}

// flipSign inverts the highest bit, which maps the signed order to the unsigned one, so that one
// comparator serves both.
func (b *blaster) flipSign(x []lit) []lit {
	r := append([]lit(nil), x...)
	r[len(r)-1] = r[len(r)-1].not()
	return r
}

// add is a ripple-carry adder of equally wide numbers, with a carry in; the carry out is dropped.
func (b *blaster) add(x, y []lit, carry lit) []lit {
	r := make([]lit, len(x))
	for i := range x {
		half := b.l.xor(x[i], y[i])
		r[i] = b.l.xor(half, carry)
		carry = b.l.most(x[i], y[i], carry)
	}
	return r
}

// negate returns the two's complement negation: the complement plus one.
func (b *blaster) negate(x []lit) []lit {
	return b.add(b.not(x), b.constant(0, len(x)), yes)
}

// shifted returns x << n for a constant n, which needs no gate.
func (b *blaster) shifted(x []lit, n int) []lit {
	r := make([]lit, len(x))
	for i := range r {
		r[i] = no
		if i >= n {
			r[i] = x[i-n]
		}
	}
	return r
}

// times multiplies by a constant with the additions and subtractions of its non-adjacent form, the
// signed binary form with the fewest nonzero digits.
func (b *blaster) times(x []lit, k uint64) []lit {
	r := b.constant(0, len(x))
	for i := 0; k != 0 && i < len(x); i++ {
		if k&1 == 1 {
			if k&3 == 3 { // a run of ones: subtract here and carry
				r = b.add(r, b.not(b.shifted(x, i)), yes)
				k++
				if k == 0 { // the carry left the 64 bits
					break
				}
			} else {
				r = b.add(r, b.shifted(x, i), no)
				k--
			}
		}
		k >>= 1
	}
	return r
}

// multiply is a shift-and-add multiplier, modulo 2^width. Its size grows with the square of the
// width, which makes products the hardest terms of a query.
func (b *blaster) multiply(x, y []lit) []lit {
	r := b.constant(0, len(x))
	for i := range y {
		part := b.shifted(x, i)
		for j := range part {
			part[j] = b.l.and(part[j], y[i])
		}
		r = b.add(r, part, no)
	}
	return r
}

// divide is restoring division. For y = 0 it yields all ones and x, as SMT-LIB requires, without a
// special case.
func (b *blaster) divide(x, y []lit) (q, r []lit) {
	// The remainder has one bit more than y, so that doubling it does not overflow. For y = 0 the
	// subtraction always fits and changes nothing.
	n := len(x)
	q = make([]lit, n)
	r = b.constant(0, n+1)
	wide := b.extend(y, n+1, no)
	for i := n - 1; i >= 0; i-- {
		r = b.shifted(r, 1)
		r[0] = x[i]
		fits := b.less(r, wide).not()
		q[i] = fits
		r = b.choose(fits, b.add(r, b.not(wide), yes), r)
	}
	return q, r[:n]
}

// signedDivide divides magnitudes and corrects the signs.
func (b *blaster) signedDivide(x, y []lit, quotient bool) []lit {
	n := len(x)
	sx, sy := x[n-1], y[n-1]
	q, r := b.divide(b.choose(sx, b.negate(x), x), b.choose(sy, b.negate(y), y))
	// The quotient is negative if the signs differ; the remainder has the sign of the dividend.
	if quotient {
		return b.choose(b.l.xor(sx, sy), b.negate(q), q)
	}
	return b.choose(sx, b.negate(r), r)
}

// shiftRight is a barrel shifter that fills with in. Amounts of the width or more shift out all
// bits.
func (b *blaster) shiftRight(x, by []lit, in lit) []lit {
	r := x
	beyond := no
	for i, m := range by {
		if i >= 16 || 1<<i >= len(x) {
			beyond = b.l.or(beyond, m)
			continue
		}
		moved := make([]lit, len(x))
		for j := range moved {
			moved[j] = in
			if j+1<<i < len(x) {
				moved[j] = r[j+1<<i]
			}
		}
		r = b.choose(m, moved, r)
	}
	return b.choose(beyond, b.extend(nil, len(x), in), r)
}

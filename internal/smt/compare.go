package smt

import "math/bits"

// Equalities and comparisons.
//
// An equality of bit-vectors is a linear equation l = 0 modulo 2^w in normal form. It is decided by
// the range of l, by the power of two that divides all its summands, and, where l does not wrap, as
// an equation over the integers: by the greatest common divisor, and by splitting mixed-radix
// numbers such as 32*warp + lane. Comparisons are decided by the ranges of both sides and of their
// difference.
//
// Not simplified: equations with more than maxMonomials summands, nonlinear terms, and facts that
// need more than one equation (Reduce combines some of those).

// Eq returns a = b for two bit-vectors or two Booleans.
func (c *Context) Eq(a, b Term) Term {
	c.sameWidth(a, b)
	if a == b {
		return True
	}
	if c.nodes[a].width == 0 {
		return c.iff(a, b)
	}
	// An if-then-else comes first: in the linear form it would be an opaque summand.
	if t, ok := c.eqIte(a, b); ok {
		return t
	}
	if t, ok := c.eqIte(b, a); ok {
		return t
	}
	if c.apart(a, b) {
		return False
	}
	la, lb := c.view(a), c.view(b)
	if len(la.t)+len(lb.t) > maxMonomials {
		return c.eqNode(a, b)
	}
	return c.isZero(la.plus(1, lb, ^uint64(0)))
}

// iff returns the equivalence of two Booleans, with negations moved outside.
func (c *Context) iff(a, b Term) Term {
	switch {
	case a == True:
		return b
	case b == True:
		return a
	case a == False:
		return c.Not(b)
	case b == False:
		return c.Not(a)
	case c.nodes[a].op == OpNot && c.nodes[b].op == OpNot:
		return c.iff(c.nodes[a].args[0], c.nodes[b].args[0])
	case c.nodes[a].op == OpNot:
		return c.Not(c.iff(c.nodes[a].args[0], b))
	case c.nodes[b].op == OpNot:
		return c.Not(c.iff(a, c.nodes[b].args[0]))
	}
	return c.eqNode(a, b)
}

// eqNode interns an equality, smaller term first: a = b and b = a are one term. Further
// simplification: extensions are equal if what they extend is.
func (c *Context) eqNode(a, b Term) Term {
	if a == b {
		return True
	}
	if n, m := &c.nodes[a], &c.nodes[b]; n.op == m.op && (n.op == OpZExt || n.op == OpSExt) {
		if x, y := n.args[0], m.args[0]; c.nodes[x].width == c.nodes[y].width {
			return c.Eq(x, y)
		}
	}
	if a > b {
		a, b = b, a
	}
	return c.intern(node{op: OpEq, args: []Term{a, b}})
}

// apart reports whether the facts exclude that a and b are equal: disjoint ranges, or a bit
// known to differ.
func (c *Context) apart(a, b Term) bool {
	f, g := &c.facts[a], &c.facts[b]
	return f.uhi < g.ulo || g.uhi < f.ulo || f.shi < g.slo || g.shi < f.slo || f.ones&g.zeros != 0 ||
		f.zeros&g.ones != 0
}

// eqIte lifts an if-then-else out of an equality if that decides one of its branches.
func (c *Context) eqIte(a, b Term) (Term, bool) {
	n := c.nodes[a]
	if n.op != OpIte {
		return 0, false
	}
	x, y := n.args[1], n.args[2]
	ax, ay := c.apart(x, b), c.apart(y, b)
	switch {
	case ax && ay:
		return False, true
	case ax:
		return c.And(c.Not(n.args[0]), c.Eq(y, b)), true
	case ay:
		return c.And(n.args[0], c.Eq(x, b)), true
	case x == b:
		return c.Or(n.args[0], c.Eq(y, b)), true
	case y == b:
		return c.Or(c.Not(n.args[0]), c.Eq(x, b)), true
	}
	return 0, false
}

// isZero returns the formula l = 0 modulo 2^w. Every equality of bit-vectors reaches this form, so
// that x+1 = y+1 and x = y are one term.
func (c *Context) isZero(l linear) Term {
	if len(l.t) == 0 {
		return Bool(l.c == 0)
	}
	if iv := c.integer(l); iv.ok {
		// The range lies strictly between two adjacent multiples of 2^w, one of which is 0.
		if iv.lo > 0 && uint64(iv.hi) <= mask(l.w) || iv.hi < 0 && abs(iv.lo) <= mask(l.w) {
			return False
		}
		if l.w == 64 || iv.lo > -int64(1)<<l.w && iv.hi < int64(1)<<l.w {
			return c.isIntegerZero(l) // no wrap: 0 is the only multiple of 2^w in the range
		}
	}
	low := bits.TrailingZeros64(c.sumTrailingComplement(l))
	if l.c != 0 && bits.TrailingZeros64(l.c) < low {
		return False // the other summands are multiples of 2^low
	}
	if len(l.t) == 1 {
		return c.isSingleZero(l)
	}
	return c.zeroNode(l)
}

// sumTrailingComplement returns a mask whose lowest bit is the lowest bit that a summand other than
// the constant can set.
func (c *Context) sumTrailingComplement(l linear) uint64 {
	l.c = 0
	return ^c.sumTrailing(l)
}

// isSingleZero solves k*t + c = 0: with k = odd*2^s it fixes the lower w-s bits of t. 2^s divides c:
// else the callers know that there is no solution.
func (c *Context) isSingleZero(l linear) Term {
	// t = -(c/2^s) * odd^-1 modulo 2^(w-s)
	s := bits.TrailingZeros64(l.k[0])
	w := int(l.w) - s
	odd := l.k[0] >> s
	v := (-(l.c >> s) * inverse(odd)) & mask(uint8(w))
	t := l.t[0]
	if s > 0 {
		return c.Eq(c.Extract(t, 0, w), c.Const(v, w))
	}
	if c.apart(t, c.Const(v, w)) {
		return False
	}
	if r, ok := c.eqNarrow(t, v); ok {
		return r
	}
	if w == 1 { // the canonical form of a one-bit equation is t = 1
		if v == 0 {
			return c.Not(c.eqNode(t, c.Const(1, 1)))
		}
	}
	return c.eqNode(t, c.Const(v, w))
}

// eqNarrow solves ext(x) = v and ite(p, x, y) = v.
func (c *Context) eqNarrow(t Term, v uint64) (Term, bool) {
	n := c.nodes[t]
	w := int(n.width)
	switch n.op {
	case OpZExt, OpSExt:
		x := n.args[0]
		xw := int(c.nodes[x].width)
		// v is the extension of its lower bits, or no x extends to v.
		back := v & mask(uint8(xw))
		if n.op == OpSExt {
			back = uint64(signed(back, uint8(xw))) & mask(n.width)
		}
		if back != v {
			return False, true
		}
		return c.Eq(x, c.Const(v, xw)), true
	case OpIte:
		return c.eqIte(t, c.Const(v, w))
	}
	return 0, false
}

// inverse returns the multiplicative inverse of an odd number modulo 2^64, which exists for odd
// numbers only.
func inverse(k uint64) uint64 {
	x := k
	for range 5 { // Newton's iteration doubles the number of correct bits, from 3
		x *= 2 - k*x
	}
	return x
}

// isIntegerZero returns l = 0 for a sum that does not wrap, as an equation over the integers. It
// divides by the greatest common divisor. If the summands whose coefficients g does not divide lie
// in (-g, g) together, both they and the rest must be zero, which splits mixed-radix numbers into
// their digits.
func (c *Context) isIntegerZero(l linear) Term {
	g := uint64(0)
	for _, k := range l.k {
		g = gcd(g, abs(signed(k, l.w)))
	}
	k := signed(l.c, l.w)
	if g > 1 {
		if abs(k)%g != 0 {
			return False
		}
		r := linear{w: l.w, t: l.t, c: uint64(k/int64(g)) & mask(l.w)}
		for _, q := range l.k {
			r.k = append(r.k, uint64(signed(q, l.w)/int64(g))&mask(l.w))
		}
		l = r
	}
	// Each coefficient is a candidate for the radix. Larger ones would overflow in splitZero.
	for i := range l.k {
		g := abs(signed(l.k[i], l.w))
		if g <= 1 || g > uint64(1)<<(l.w-2) {
			continue
		}
		if high, low, ok := c.splitZero(l, g); ok {
			return c.And(c.isZero(low), c.isZero(high))
		}
	}
	if len(l.t) == 1 {
		return c.isSingleZero(l)
	}
	return c.zeroNode(l)
}

// splitZero splits l into high*g + low with low in (-g, g), both without wrap. Both have summands: g
// is a coefficient of l, and the coefficients have no common divisor.
func (c *Context) splitZero(l linear, g uint64) (high, low linear, ok bool) {
	high, low = linear{w: l.w}, linear{w: l.w}
	for i, t := range l.t {
		if k := signed(l.k[i], l.w); k%int64(g) == 0 {
			high.t, high.k = append(high.t, t), append(high.k, uint64(k/int64(g))&mask(l.w))
		} else {
			low.t, low.k = append(low.t, t), append(low.k, l.k[i])
		}
	}
	// The constant can be split in two ways, with its rest in [0, g) or in [-g, 0). Take the one that
	// keeps the range of low in (-g, g).
	k := signed(l.c, l.w)
	q := floorDiv(k, int64(g))
	for range 2 {
		rest := k - q*int64(g)
		low.c, high.c = uint64(rest)&mask(l.w), uint64(q)&mask(l.w)
		if signed(low.c, l.w) == rest && signed(high.c, l.w) == q {
			if iv := c.integer(low); iv.ok && abs(iv.lo) < g && abs(iv.hi) < g {
				return high, low, true
			}
		}
		q++
	}
	return high, low, false
}

// gcd returns the greatest common divisor; gcd(0, b) is b.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// zeroNode interns l = 0 as an equality of the positive and the negative summands.
func (c *Context) zeroNode(l linear) Term {
	pos, neg := linear{w: l.w}, linear{w: l.w}
	flip := signed(l.k[0], l.w) < 0 // the same form for l = 0 and -l = 0
	for i, t := range l.t {
		k := signed(l.k[i], l.w)
		if (k < 0) == flip {
			pos.t, pos.k = append(pos.t, t), append(pos.k, abs(k)&mask(l.w))
		} else {
			neg.t, neg.k = append(neg.t, t), append(neg.k, abs(k)&mask(l.w))
		}
	}
	if flip {
		neg.c = l.c
	} else {
		neg.c = -l.c & mask(l.w)
	}
	a, b := c.term(pos), c.term(neg)
	return c.eqNode(a, b)
}

// Ult returns the unsigned a < b.
func (c *Context) Ult(a, b Term) Term {
	c.sameWidth(a, b)
	f, g := &c.facts[a], &c.facts[b]
	w := c.nodes[a].width
	if t, ok := c.decideUlt(a, b); ok {
		return t
	}
	// At an end of the range, a comparison with a constant is an equality, which solvers and Reduce
	// propagate better.
	if v, ok := c.Value(b); ok && v == f.ulo+1 {
		return c.Eq(a, c.Const(f.ulo, int(w)))
	}
	if v, ok := c.Value(a); ok && v+1 == g.uhi {
		return c.Eq(b, c.Const(g.uhi, int(w)))
	}
	if t, ok := c.byDifference(a, b, false); ok {
		return t
	}
	if t, ok := c.lessIte(a, b, c.decideUlt, c.Ult); ok {
		return t
	}
	if t, ok := c.lessNarrow(a, b); ok {
		return t
	}
	return c.intern(node{op: OpUlt, args: []Term{a, b}})
}

// Slt returns the signed a < b.
func (c *Context) Slt(a, b Term) Term {
	c.sameWidth(a, b)
	f, g := &c.facts[a], &c.facts[b]
	w := c.nodes[a].width
	if t, ok := c.decideSlt(a, b); ok {
		return t
	}
	if f.slo >= 0 && g.slo >= 0 || f.shi < 0 && g.shi < 0 {
		return c.Ult(a, b)
	}
	if v, ok := c.Value(b); ok && signed(v, w) == f.slo+1 {
		return c.Eq(a, c.Const(uint64(f.slo), int(w)))
	}
	if v, ok := c.Value(a); ok && signed(v, w) == g.shi-1 {
		return c.Eq(b, c.Const(uint64(g.shi), int(w)))
	}
	if t, ok := c.byDifference(a, b, true); ok {
		return t
	}
	if t, ok := c.lessIte(a, b, c.decideSlt, c.Slt); ok {
		return t
	}
	return c.intern(node{op: OpSlt, args: []Term{a, b}})
}

// byDifference decides a < b by the range of a - b over the integers, in which common summands
// cancel. Both sides must not wrap.
func (c *Context) byDifference(a, b Term, asSigned bool) (Term, bool) {
	la, lb := c.view(a), c.view(b)
	w := la.w
	ia, ib := c.integer(la), c.integer(lb)
	fits := ia.unsignedFits(w) && ib.unsignedFits(w)
	if asSigned {
		fits = ia.signedFits(w) && ib.signedFits(w)
	}
	if !fits || w > 62 && (ia.lo < -1<<62 || ia.hi > 1<<62 || ib.lo < -1<<62 || ib.hi > 1<<62) {
		return 0, false
	}
	d := c.difference(la, lb)
	switch {
	case !d.ok:
		return 0, false
	case d.hi < 0:
		return True, true
	case d.lo >= 0:
		return False, true
	}
	return 0, false
}

// difference returns the range of a - b over the integers, that is, without wrap-around: a
// comparison follows from its sign.
func (c *Context) difference(a, b linear) interval {
	x, y := signed(a.c, a.w), signed(b.c, b.w)
	if abs(x) > 1<<61 || abs(y) > 1<<61 {
		return interval{}
	}
	iv := interval{x - y, x - y, true}
	i, j := 0, 0
	add := func(t Term, k int64) {
		r, _ := c.reading(t)
		iv = iv.plusTimes(k, r)
	}
	for i < len(a.t) || j < len(b.t) {
		switch {
		case j == len(b.t) || i < len(a.t) && a.t[i] < b.t[j]:
			add(a.t[i], signed(a.k[i], a.w))
			i++
		case i == len(a.t) || b.t[j] < a.t[i]:
			k := signed(b.k[j], b.w)
			if k == -k { // the most negative number has no negation
				return interval{}
			}
			add(b.t[j], -k)
			j++
		default:
			x, y := signed(a.k[i], a.w), signed(b.k[j], b.w)
			if a.w > 62 && (abs(x) > 1<<61 || abs(y) > 1<<61) {
				return interval{}
			}
			if x != y {
				add(a.t[i], x-y)
			}
			i++
			j++
		}
	}
	return iv
}

// lessIte lifts an if-then-else out of a comparison if the facts decide one of its branches.
func (c *Context) lessIte(a, b Term, decide func(a, b Term) (Term, bool),
	less func(a, b Term) Term) (Term, bool) {
	for _, left := range [2]bool{true, false} {
		n := c.nodes[b]
		side := func(t Term) (Term, Term) { return a, t }
		if left {
			n = c.nodes[a]
			side = func(t Term) (Term, Term) { return t, b }
		}
		if n.op != OpIte {
			continue
		}
		x, okx := decide(side(n.args[1]))
		y, oky := decide(side(n.args[2]))
		if !okx && !oky {
			continue
		}
		if !okx {
			x = less(side(n.args[1]))
		}
		if !oky {
			y = less(side(n.args[2]))
		}
		return c.Ite(n.args[0], x, y), true
	}
	return 0, false
}

// decideUlt decides the unsigned a < b by the facts only. The second result is false if both
// answers are possible.
func (c *Context) decideUlt(a, b Term) (Term, bool) {
	f, g := &c.facts[a], &c.facts[b]
	return Bool(f.uhi < g.ulo), f.uhi < g.ulo || f.ulo >= g.uhi || a == b
}

// decideSlt does the same for the signed order.
func (c *Context) decideSlt(a, b Term) (Term, bool) {
	f, g := &c.facts[a], &c.facts[b]
	return Bool(f.shi < g.slo), f.shi < g.slo || f.slo >= g.shi || a == b
}

// isConst reports whether t is a constant.
func (c *Context) isConst(t Term) bool { return c.nodes[t].op == OpConst }

// lessNarrow compares the operands of zero extensions instead of the extensions.
func (c *Context) lessNarrow(a, b Term) (Term, bool) {
	na, nb := c.nodes[a], c.nodes[b]
	narrow := func(ext node, other Term) (Term, bool) {
		x := ext.args[0]
		w := c.nodes[x].width
		if o := c.nodes[other]; o.op == OpZExt && c.nodes[o.args[0]].width == w {
			return o.args[0], true
		}
		if v, ok := c.Value(other); ok && v <= mask(w) {
			return c.Const(v, int(w)), true
		}
		return 0, false
	}
	if na.op == OpZExt {
		if y, ok := narrow(na, b); ok {
			return c.Ult(na.args[0], y), true
		}
	}
	if nb.op == OpZExt {
		if x, ok := narrow(nb, a); ok {
			return c.Ult(x, nb.args[0]), true
		}
	}
	return 0, false
}

// Ule returns the unsigned a <= b. There is no node for <=: it is the negation of the reverse <, so
// that both forms share a term.
func (c *Context) Ule(a, b Term) Term { return c.Not(c.Ult(b, a)) }

// Sle returns the signed a <= b, expressed by < as Ule is.
func (c *Context) Sle(a, b Term) Term { return c.Not(c.Slt(b, a)) }

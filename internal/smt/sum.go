package smt

import (
	"math"
	"math/bits"
	"slices"
)

// Sums in linear normal form, and their ranges over the integers.
//
// A sum is c + k1*t1 + ... + kn*tn modulo 2^w with ascending, distinct, non-sum terms and nonzero
// coefficients. Two linear expressions are equal modulo 2^w for all values of their terms exactly
// if they have the same normal form. Products of terms are monomials of their own; Mul distributes
// over small sums only, so equal polynomials may have different forms.

// maxMonomials is the maximum number of summands. A longer sum keeps its two parts as opaque
// arguments, because code such as hash functions would otherwise grow exponentially.
const maxMonomials = 64

// linear is the normal form c + sum of k[i]*t[i] modulo 2^w, with ascending t and nonzero k.
type linear struct {
	w uint8
	c uint64
	t []Term
	k []uint64
}

// view returns the normal form of a term. The caller must not change its slices.
func (c *Context) view(t Term) linear {
	n := &c.nodes[t]
	switch n.op {
	case OpConst:
		return linear{w: n.width, c: n.val}
	case OpSum:
		return linear{w: n.width, c: n.val, t: n.args, k: n.coef}
	}
	return linear{w: n.width, t: []Term{t}, k: []uint64{1}}
}

// plus returns a*ka + b*kb.
func (a linear) plus(ka uint64, b linear, kb uint64) linear {
	m := mask(a.w)
	r := linear{w: a.w, c: (a.c*ka + b.c*kb) & m}
	r.t = make([]Term, 0, len(a.t)+len(b.t))
	r.k = make([]uint64, 0, len(a.t)+len(b.t))
	put := func(t Term, k uint64) {
		if k &= m; k != 0 {
			r.t, r.k = append(r.t, t), append(r.k, k)
		}
	}
	i, j := 0, 0
	for i < len(a.t) || j < len(b.t) {
		switch {
		case j == len(b.t) || i < len(a.t) && a.t[i] < b.t[j]:
			put(a.t[i], a.k[i]*ka)
			i++
		case i == len(a.t) || b.t[j] < a.t[i]:
			put(b.t[j], b.k[j]*kb)
			j++
		default:
			put(a.t[i], a.k[i]*ka+b.k[j]*kb)
			i++
			j++
		}
	}
	return r
}

// term interns a normal form.
func (c *Context) term(l linear) Term {
	for c.divided(&l) {
	}
	switch {
	case len(l.t) == 0:
		return c.Const(l.c, int(l.w))
	case len(l.t) == 1 && l.k[0] == 1 && l.c == 0:
		return l.t[0]
	}
	return c.intern(node{op: OpSum, width: l.w, val: l.c, args: l.t, coef: l.k})
}

// combine returns a*ka + b*kb as a term.
func (c *Context) combine(a Term, ka uint64, b Term, kb uint64) Term {
	c.sameWidth(a, b)
	la, lb := c.view(a), c.view(b)
	if len(la.t)+len(lb.t) > maxMonomials && len(la.t) > 1 && len(lb.t) > 1 && a != b {
		r := linear{w: la.w, t: []Term{a}, k: []uint64{1}}
		return c.term(r.plus(ka, linear{w: la.w, t: []Term{b}, k: []uint64{1}}, kb))
	}
	return c.term(la.plus(ka, lb, kb))
}

// Add returns a + b.
func (c *Context) Add(a, b Term) Term { return c.combine(a, 1, b, 1) }

// Sub returns a - b, as a plus b times -1, so that sums and differences have one normal form.
func (c *Context) Sub(a, b Term) Term { return c.combine(a, 1, b, ^uint64(0)) }

// Neg returns -a.
func (c *Context) Neg(a Term) Term { return c.MulConst(a, ^uint64(0)) }

// AddConst returns a + k.
func (c *Context) AddConst(a Term, k uint64) Term {
	l := c.view(a)
	l.c = (l.c + k) & mask(l.w)
	return c.term(l)
}

// MulConst returns a * k.
func (c *Context) MulConst(a Term, k uint64) Term {
	l := c.view(a)
	return c.term(l.plus(k, linear{w: l.w}, 0))
}

// BvNot returns the complement of every bit as -a - 1, which sums can combine with others.
func (c *Context) BvNot(a Term) Term { return c.AddConst(c.Neg(a), ^uint64(0)) }

// Mul returns a * b modulo 2^w. It distributes over sums if the result has few summands; otherwise
// the product is a monomial of its own.
func (c *Context) Mul(a, b Term) Term {
	c.sameWidth(a, b)
	if v, ok := c.Value(a); ok {
		return c.MulConst(b, v)
	}
	if v, ok := c.Value(b); ok {
		return c.MulConst(a, v)
	}
	la, lb := c.view(a), c.view(b)
	// Distribute only over small sums: the number of summands is the product of both lengths.
	if (len(la.t)+1)*(len(lb.t)+1) > 12 {
		return c.product(a, b)
	}
	r := linear{w: la.w, c: la.c * lb.c & mask(la.w)}
	r = r.plus(1, linear{w: la.w, t: la.t, k: la.k}, lb.c)
	r = r.plus(1, linear{w: la.w, t: lb.t, k: lb.k}, la.c)
	for i, x := range la.t {
		for j, y := range lb.t {
			xy := c.view(c.product(x, y))
			r = r.plus(1, xy, la.k[i]*lb.k[j])
		}
	}
	return c.term(r)
}

// product returns the nonlinear monomial of two terms, flattened and sorted.
func (c *Context) product(a, b Term) Term {
	var args []Term
	for _, t := range [2]Term{a, b} {
		if c.nodes[t].op == OpMul {
			args = append(args, c.nodes[t].args...)
		} else {
			args = append(args, t)
		}
	}
	slices.Sort(args)
	return c.intern(node{op: OpMul, width: c.nodes[a].width, args: args})
}

// sameWidth panics if the operands differ in width. No input can cause that: it is a bug of the
// caller.
func (c *Context) sameWidth(a, b Term) {
	if c.nodes[a].width != c.nodes[b].width {
		panic("smt: operands of different widths")
	}
}

// interval is a range of integers, inclusive; ok is false if a bound does not fit an int64.
type interval struct {
	lo, hi int64
	ok     bool
}

// reading returns the range of t as a summand, and whether it is the signed value of t instead of
// the unsigned one. It chooses the narrower range. Both are equal modulo 2^w.
func (c *Context) reading(t Term) (iv interval, asSigned bool) {
	f := &c.facts[t]
	if f.uhi > math.MaxInt64 || f.slo < 0 && uint64(f.shi-f.slo) < f.uhi-f.ulo {
		return interval{f.slo, f.shi, true}, true
	}
	return interval{int64(f.ulo), int64(f.uhi), true}, false
}

// plusTimes returns iv + k*b.
func (iv interval) plusTimes(k int64, b interval) interval {
	if !iv.ok || !b.ok {
		return interval{}
	}
	if k < 0 {
		b.lo, b.hi = b.hi, b.lo
	}
	lo, ok1 := mulAdd(iv.lo, k, b.lo)
	hi, ok2 := mulAdd(iv.hi, k, b.hi)
	return interval{lo, hi, ok1 && ok2}
}

// mulAdd returns a + k*b, and false if that overflows 64 bits.
func mulAdd(a, k, b int64) (int64, bool) {
	h, l := bits.Mul64(abs(k), abs(b))
	if h != 0 || l > math.MaxInt64 {
		return 0, false
	}
	p := int64(l)
	if (k < 0) != (b < 0) {
		p = -p
	}
	s := a + p
	return s, (s > a) == (p > 0)
}

// abs returns the magnitude as an unsigned number, which holds that of the most negative number
// too.
func abs(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// integer returns the range of a sum over the integers, with signed coefficients and constant, and
// with arguments as reading returns them. The bit-vector is that integer modulo 2^w.
func (c *Context) integer(l linear) interval {
	k := signed(l.c, l.w)
	iv := interval{k, k, true}
	for i, t := range l.t {
		r, _ := c.reading(t)
		iv = iv.plusTimes(signed(l.k[i], l.w), r)
	}
	return iv
}

// unsignedFits reports whether iv lies in [0, 2^w).
func (iv interval) unsignedFits(w uint8) bool {
	return iv.ok && iv.lo >= 0 && uint64(iv.hi) <= mask(w)
}

// signedFits reports whether iv lies in [-2^(w-1), 2^(w-1)).
func (iv interval) signedFits(w uint8) bool {
	half := int64(mask(w) >> 1)
	return iv.ok && iv.lo >= -half-1 && iv.hi <= half
}

// sumFacts derives facts from the range over the integers, if all its integers wrap alike.
func (c *Context) sumFacts(n *node) facts {
	l := linear{w: n.width, c: n.val, t: n.args, k: n.coef}
	iv := c.integer(l)
	f := anyValue(n.width)
	f.zeros |= c.sumTrailing(l)
	switch {
	case iv.unsignedFits(n.width):
		f.ulo, f.uhi = uint64(iv.lo), uint64(iv.hi)
	case iv.signedFits(n.width):
		f.slo, f.shi = iv.lo, iv.hi
	case iv.ok && n.width < 62:
		// All integers of the range wrap by the same multiple of 2^w.
		m := int64(1) << n.width
		if q := floorDiv(iv.lo, m); q == floorDiv(iv.hi, m) {
			f.ulo, f.uhi = uint64(iv.lo-q*m), uint64(iv.hi-q*m)
		}
	}
	return f
}

// floorDiv returns the quotient rounded toward negative infinity; m is positive.
func floorDiv(a, m int64) int64 {
	q := a / m
	if a%m < 0 {
		q--
	}
	return q
}

// sumTrailing returns a mask of the low bits that are zero in every summand, and so in the sum.
func (c *Context) sumTrailing(l linear) uint64 {
	low := 63
	if l.c != 0 {
		low = bits.TrailingZeros64(l.c)
	}
	for i, t := range l.t {
		low = min(low, bits.TrailingZeros64(l.k[i])+bits.TrailingZeros64(^c.facts[t].zeros))
	}
	return (uint64(1)<<low - 1) & mask(l.w)
}

// split returns l as high*g + low over the integers, where low is in [0, g) and holds the summands
// whose coefficients are not multiples of g. ok is false if the ranges do not show that low is in
// [0, g). For l >= 0, high and low are the quotient and the remainder of the division by g.
func (c *Context) split(l linear, g uint64) (high, low linear, ok bool) {
	if g == 0 || g > 1<<62 {
		return high, low, false
	}
	high, low = linear{w: l.w}, linear{w: l.w}
	for i, t := range l.t {
		k := signed(l.k[i], l.w)
		if k%int64(g) == 0 {
			high.t, high.k = append(high.t, t), append(high.k, uint64(k/int64(g))&mask(l.w))
		} else {
			low.t, low.k = append(low.t, t), append(low.k, l.k[i])
		}
	}
	k := signed(l.c, l.w)
	q := floorDiv(k, int64(g))
	rest := k - q*int64(g)
	low.c = uint64(rest) & mask(l.w)
	iv := c.integer(low)
	if !iv.ok || signed(low.c, l.w) != rest {
		return high, low, false
	}
	// Move a multiple of g between the constants, so that the range of low starts in [0, g).
	if s := floorDiv(iv.lo, int64(g)); s != 0 {
		q, rest = q+s, rest-s*int64(g)
		low.c = uint64(rest) & mask(l.w)
		iv = c.integer(low)
	}
	high.c = uint64(q) & mask(l.w)
	exact := signed(low.c, l.w) == rest && signed(high.c, l.w) == q // false if a constant wrapped
	return high, low, exact && iv.ok && iv.lo >= 0 && uint64(iv.hi) < g
}

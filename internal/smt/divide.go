package smt

import (
	"math/bits"
	"slices"
)

// Division and remainder, with SMT-LIB's results for division by zero.
//
// Division by a power of two is a shift. A sum that does not wrap is split into multiples of a
// constant divisor and a rest below it, so that (8*i + j) / 8 is i for j in [0, 8). Not simplified:
// signed division of possibly negative numbers, and most divisors that are not constant.
//
// In a sum, quotient and remainder take the place of what is divided: j*a + m*(a/d) is
// (m + j*d)*(a/d) + j*(a%d). So the index a + 28*(a/100) of a table with rows of 128 elements, of
// which 100 are used, is 128*(a/100) + a%100, and two such indices are equal only if both parts
// are. Where both parts are equal, so is what is divided.

// UDiv returns the unsigned quotient. Division by zero yields all ones, as in SMT-LIB (theory
// FixedSizeBitVectors); the emulator returns the same.
func (c *Context) UDiv(a, b Term) Term {
	c.sameWidth(a, b)
	w := int(c.nodes[a].width)
	d, constant := c.Value(b)
	if v, ok := c.Value(a); ok && constant {
		if d == 0 {
			return c.Const(^uint64(0), w)
		}
		return c.Const(v/d, w)
	}
	switch {
	case constant && d == 1:
		return a
	case constant && d != 0 && d&(d-1) == 0:
		return c.LShr(a, c.Const(uint64(bits.TrailingZeros64(d)), w))
	case c.facts[a].uhi < c.facts[b].ulo:
		return c.Const(0, w)
	case constant && d != 0:
		if x, inner := c.divisor(a); inner != 0 {
			if hi, both := bits.Mul64(inner, d); hi == 0 && both <= mask(uint8(w)) {
				return c.UDiv(x, c.Const(both, w))
			}
			return c.Const(0, w) // inner*d is larger than x can be
		}
		if l := c.view(a); c.integer(l).unsignedFits(l.w) {
			if high, _, ok := c.split(l, d); ok {
				return c.term(high)
			}
		}
	}
	return c.intern(node{op: OpUDiv, width: uint8(w), args: []Term{a, b}})
}

// URem returns the unsigned remainder. The remainder by zero is a.
func (c *Context) URem(a, b Term) Term {
	c.sameWidth(a, b)
	w := int(c.nodes[a].width)
	d, constant := c.Value(b)
	if v, ok := c.Value(a); ok && constant {
		if d == 0 {
			return a
		}
		return c.Const(v%d, w)
	}
	switch {
	case constant && d == 0:
		return a
	case constant && d&(d-1) == 0:
		return c.BvAnd(a, c.Const(d-1, w))
	case c.facts[a].uhi < c.facts[b].ulo:
		return a
	case constant:
		if l := c.view(a); c.integer(l).unsignedFits(l.w) {
			if _, low, ok := c.split(l, d); ok {
				return c.term(low)
			}
		}
	}
	return c.intern(node{op: OpURem, width: uint8(w), args: []Term{a, b}})
}

// divisor returns x and d, which is not 0, if t is x/d for a constant d.
func (c *Context) divisor(t Term) (x Term, d uint64) {
	if n := &c.nodes[t]; n.op == OpUDiv {
		d, _ = c.Value(n.args[1])
		return n.args[0], d
	}
	return t, 0
}

// resized returns x/d or x%d by a constant d, t, with w bits: both are exact for more bits, and for
// fewer that hold x.
func (c *Context) resized(t Term, w int) (Term, bool) {
	n := &c.nodes[t]
	d, ok := c.Value(n.args[1])
	if !ok || d == 0 || c.facts[n.args[0]].uhi > mask(uint8(w)) || d > mask(uint8(w)) {
		return t, false
	}
	x, op := n.args[0], c.UDiv
	if n.op == OpURem {
		op = c.URem
	}
	if w > int(n.width) {
		x = c.ZExt(x, w)
	} else {
		x = c.Extract(x, 0, w)
	}
	return op(x, c.Const(d, w)), true
}

// divided puts quotient and remainder in the place of what is divided, once: j*a + m*(a/d) becomes
// (m + j*d)*(a/d) + j*(a%d) for a constant d, and j*d*(a/d) + j*(a%d) becomes j*a. Both hold modulo
// 2^w, since a = d*(a/d) + a%d. It reports whether it changed the sum.
func (c *Context) divided(l *linear) bool {
	for i, q := range l.t {
		n := &c.nodes[q]
		switch n.op {
		default:
			continue
		case OpURem:
			if d, ok := c.Value(n.args[1]); ok {
				a, m := n.args[0], l.k[i]*d&mask(l.w)
				if at := slices.Index(l.t, c.UDiv(a, n.args[1])); at >= 0 && l.k[at] == m && m != 0 {
					*l = l.plus(1, linear{w: l.w, t: l.t[at : at+1], k: l.k[at : at+1]}, ^uint64(0)).
						plus(1, linear{w: l.w, t: l.t[i : i+1], k: l.k[i : i+1]}, ^uint64(0)).
						plus(1, c.view(a), l.k[i])
					return true
				}
			}
		case OpUDiv:
			a, d := c.divisor(q)
			if d == 0 {
				continue
			}
			if j := c.multipleIn(*l, a); j != 0 {
				c.replaceDividend(l, a, d, j)
				return true
			}
			for k, p := range l.t { // a/(d*e) is also the quotient of a/d by e
				if x, e := c.divisor(p); p != q && e != 0 && x == a && d%e == 0 {
					c.replaceDividend(l, p, d/e, l.k[k])
					return true
				}
			}
		}
	}
	return false
}

// replaceDividend rewrites j*a in a sum to j*d*(a/d) + j*(a%d).
func (c *Context) replaceDividend(l *linear, a Term, d, j uint64) {
	by := c.Const(d, int(l.w))
	*l = l.plus(1, c.view(a), -j).plus(1, c.view(c.UDiv(a, by)), j*d).plus(1, c.view(c.URem(a, by)), j)
}

// multipleIn returns how often a sum has the summands of a; 0 if it does not have them all as
// often.
func (c *Context) multipleIn(l linear, a Term) uint64 {
	v := c.view(a)
	if len(v.t) == 0 {
		return 0
	}
	at := slices.Index(l.t, v.t[0])
	if at < 0 {
		return 0
	}
	have, need := signed(l.k[at], l.w), signed(v.k[0], l.w)
	if have%need != 0 {
		return 0
	}
	j := uint64(have/need) & mask(l.w)
	for i, t := range v.t {
		if at = slices.Index(l.t, t); at < 0 || l.k[at] != v.k[i]*j&mask(l.w) {
			return 0
		}
	}
	return j
}

// joinDivided replaces a%d = b%d and a/d = b/d in a conjunction, whose terms are sorted, by a = b.
func (c *Context) joinDivided(flat []Term) ([]Term, bool) {
	for i, t := range flat {
		n := &c.nodes[t]
		if n.op != OpEq || len(flat) == 1 {
			continue
		}
		a, b := &c.nodes[n.args[0]], &c.nodes[n.args[1]]
		if a.op != OpURem || b.op != OpURem || a.args[1] != b.args[1] || !c.isConst(a.args[1]) {
			continue
		}
		x, y, d := a.args[0], b.args[0], a.args[1]
		at, found := slices.BinarySearch(flat, c.Eq(c.UDiv(x, d), c.UDiv(y, d)))
		if !found {
			continue
		}
		out := []Term{c.Eq(x, y)}
		for k, u := range flat {
			if k != i && k != at {
				out = append(out, u)
			}
		}
		return out, true
	}
	return flat, false
}

// SDiv returns the signed quotient, rounded toward zero. As in SMT-LIB, division by zero yields 1
// for a negative a and -1 otherwise, and the most negative number divided by -1 is itself.
func (c *Context) SDiv(a, b Term) Term {
	c.sameWidth(a, b)
	w := c.nodes[a].width
	if c.facts[a].slo >= 0 && c.facts[b].slo >= 0 {
		return c.UDiv(a, b)
	}
	if v, ok := c.Value(b); ok && v == 1 {
		return a
	}
	x, ok1 := c.Value(a)
	y, ok2 := c.Value(b)
	if ok1 && ok2 {
		return c.Const(sdiv(x, y, w), int(w))
	}
	return c.intern(node{op: OpSDiv, width: w, args: []Term{a, b}})
}

// SRem returns the signed remainder, which has the sign of a. The remainder by zero is a.
func (c *Context) SRem(a, b Term) Term {
	c.sameWidth(a, b)
	w := c.nodes[a].width
	if c.facts[a].slo >= 0 && c.facts[b].slo >= 0 {
		return c.URem(a, b)
	}
	x, ok1 := c.Value(a)
	y, ok2 := c.Value(b)
	if ok1 && ok2 {
		return c.Const(srem(x, y, w), int(w))
	}
	return c.intern(node{op: OpSRem, width: w, args: []Term{a, b}})
}

// sdiv divides two values of width w, as OpSDiv does; the quotient is rounded toward zero.
func sdiv(x, y uint64, w uint8) uint64 {
	a, b := signed(x, w), signed(y, w)
	switch {
	case b == 0 && a < 0:
		return 1
	case b == 0:
		return mask(w)
	case b == -1: // also for the most negative number, whose negation is itself
		return -uint64(a) & mask(w)
	}
	return uint64(a/b) & mask(w)
}

// srem returns the remainder of two values of width w, as OpSRem does.
func srem(x, y uint64, w uint8) uint64 {
	a, b := signed(x, w), signed(y, w)
	switch b {
	case 0:
		return x
	case -1:
		return 0
	}
	return uint64(a%b) & mask(w)
}

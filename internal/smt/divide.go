package smt

import "math/bits"

// Division and remainder, with SMT-LIB's results for division by zero.
//
// Division by a power of two is a shift. A sum that does not wrap is split into multiples of a
// constant divisor and a rest below it, so that (8*i + j) / 8 is i for j in [0, 8). Not simplified:
// signed division of possibly negative numbers, and most divisors that are not constant.

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

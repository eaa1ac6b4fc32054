package smt

import "math/bits"

// An abstract interpretation of terms in three domains: known bits, unsigned intervals and signed
// intervals, computed once when a term is built.
//
// Law: under every model that respects the ranges of variables, the value of a term satisfies its
// facts. The transfer functions over-approximate. They miss relations between terms (x - x is
// handled by the normal form of sums, not here), intervals that wrap around, and congruences other
// than modulo powers of two.

// facts is what is known about the value of a bit-vector term: bits that are 0 or 1 in every model,
// and its ranges as an unsigned and as a signed number, inclusive. A Boolean has no facts.
type facts struct {
	zeros, ones uint64
	ulo, uhi    uint64
	slo, shi    int64
}

// anyValue returns the facts of a term about which nothing is known.
func anyValue(w uint8) facts {
	m := mask(w)
	return facts{zeros: ^m, uhi: m, slo: signed(1<<(w-1), w), shi: int64(m >> 1)}
}

// exactly returns the facts of the constant v.
func exactly(v uint64, w uint8) facts {
	return facts{zeros: ^v, ones: v, ulo: v, uhi: v, slo: signed(v, w), shi: signed(v, w)}
}

// unsignedIn returns the facts of a term whose unsigned value is in [lo, hi].
func unsignedIn(w uint8, lo, hi uint64) facts {
	f := anyValue(w)
	f.ulo, f.uhi = lo, min(hi, mask(w))
	return f.tighten(w)
}

// signedIn returns the facts of a term whose signed value is in [lo, hi].
func signedIn(w uint8, lo, hi int64) facts {
	f := anyValue(w)
	f.slo, f.shi = max(lo, f.slo), min(hi, f.shi)
	return f.tighten(w)
}

// tighten refines each of the three domains by the others (a reduced product). Two passes suffice
// in practice; the result need not be a fixpoint.
func (f facts) tighten(w uint8) facts {
	half := uint64(1) << (w - 1)
	for range 2 {
		f.ulo = max(f.ulo, f.ones)
		f.uhi = min(f.uhi, ^f.zeros)
		if f.ulo > f.uhi { // contradictory: no value exists; keep the range well-formed
			f.uhi = f.ulo
		}
		// Bits above the highest bit in which the bounds differ are known.
		if n := bits.Len64(f.ulo ^ f.uhi); n < 64 {
			top := ^uint64(0) << n
			f.ones |= f.ulo & top
			f.zeros |= ^f.ulo & top
		}
		switch {
		case f.uhi < half || f.ulo >= half: // all values have the same sign
			f.slo = max(f.slo, signed(f.ulo, w))
			f.shi = min(f.shi, signed(f.uhi, w))
		}
		switch {
		case f.slo >= 0 || f.shi < 0:
			f.ulo = max(f.ulo, uint64(f.slo)&mask(w))
			f.uhi = min(f.uhi, uint64(f.shi)&mask(w))
		}
		if f.slo > f.shi {
			f.shi = f.slo
		}
	}
	return f
}

// Unsigned returns the range of t as an unsigned number, both ends included. It may be wider than
// the values that t really has.
func (c *Context) Unsigned(t Term) (lo, hi uint64) {
	f := &c.facts[t]
	return f.ulo, f.uhi
}

// Signed returns the range of t as a signed number, both ends included, with the same reservation.
func (c *Context) Signed(t Term) (lo, hi int64) {
	f := &c.facts[t]
	return f.slo, f.shi
}

// KnownBits returns the bits of t that are 0, and those that are 1, in every model. A bit in
// neither mask can have both values as far as the facts go.
func (c *Context) KnownBits(t Term) (zeros, ones uint64) {
	f := &c.facts[t]
	return f.zeros & mask(c.nodes[t].width), f.ones
}

// factsOf derives the facts of a node from those of its arguments. They must hold in every model:
// everything else follows from them without a query.
func (c *Context) factsOf(n *node) facts {
	w := n.width
	if w == 0 {
		return facts{}
	}
	f := anyValue(w)
	switch n.op {
	case OpConst:
		return exactly(n.val, w)
	case OpIte:
		return join(c.facts[n.args[1]], c.facts[n.args[2]]).tighten(w)
	case OpSum:
		f = c.sumFacts(n)
	case OpMul:
		f = c.mulFacts(n)
	case OpBvAnd, OpBvOr, OpBvXor:
		f = c.bitwiseFacts(n)
	case OpUDiv:
		a, b := c.facts[n.args[0]], c.facts[n.args[1]]
		if b.ulo > 0 {
			f.ulo, f.uhi = a.ulo/b.uhi, a.uhi/b.ulo
		}
	case OpURem:
		a, b := c.facts[n.args[0]], c.facts[n.args[1]]
		f.uhi = a.uhi
		if b.ulo > 0 {
			f.uhi = min(f.uhi, b.uhi-1)
		}
	case OpSDiv, OpSRem:
		f = c.signedDivFacts(n)
	case OpShl, OpLShr, OpAShr:
		f = c.shiftFacts(n)
	case OpExtract:
		a := c.facts[n.args[0]]
		f.zeros, f.ones = ^mask(w)|a.zeros>>n.aux, a.ones>>n.aux&mask(w)
		if a.uhi>>n.aux <= mask(w) {
			f.ulo, f.uhi = a.ulo>>n.aux, a.uhi>>n.aux
		}
		if m := int64(mask(w) >> 1); n.aux == 0 && a.slo >= -m-1 && a.shi <= m {
			f.slo, f.shi = a.slo, a.shi
		}
	case OpZExt:
		a := c.facts[n.args[0]]
		f.zeros, f.ones, f.ulo, f.uhi = a.zeros, a.ones, a.ulo, a.uhi
	case OpPopc:
		a := c.facts[n.args[0]]
		f.ulo = uint64(bits.OnesCount64(a.ones))
		f.uhi = uint64(bits.OnesCount64(^a.zeros & mask(w)))
	case OpSExt:
		f.slo, f.shi = c.facts[n.args[0]].slo, c.facts[n.args[0]].shi
		low := mask(c.nodes[n.args[0]].width)
		f.zeros |= c.facts[n.args[0]].zeros & low
		f.ones |= c.facts[n.args[0]].ones & low
	}
	return f.tighten(w)
}

// join returns facts that hold for all values of a and of b, for the branches of an if-then-else.
// Wherever they disagree, the result knows less.
func join(a, b facts) facts {
	return facts{
		zeros: a.zeros & b.zeros, ones: a.ones & b.ones,
		ulo: min(a.ulo, b.ulo), uhi: max(a.uhi, b.uhi),
		slo: min(a.slo, b.slo), shi: max(a.shi, b.shi),
	}
}

// mulFacts multiplies ranges if the product cannot wrap, and adds trailing zeros: those of a
// product are at least the sum of those of its factors.
func (c *Context) mulFacts(n *node) facts {
	f := anyValue(n.width)
	lo, hi, low, wraps := uint64(1), uint64(1), 0, false
	for _, a := range n.args {
		af := &c.facts[a]
		low += bits.TrailingZeros64(^af.zeros)
		o, h := bits.Mul64(hi, af.uhi)
		wraps = wraps || o != 0 || h > mask(n.width)
		lo, hi = lo*af.ulo, h
	}
	f.zeros |= uint64(1)<<min(low, 63) - 1 // trailing zeros add up, even if the product wraps
	if !wraps {
		f.ulo, f.uhi = lo, hi
	}
	return f
}

// bitwiseFacts combines known bits exactly; a conjunction is at most its smallest argument.
func (c *Context) bitwiseFacts(n *node) facts {
	f := anyValue(n.width)
	a := c.facts[n.args[0]]
	z, o := a.zeros, a.ones
	hi := a.uhi
	for _, t := range n.args[1:] {
		b := &c.facts[t]
		switch n.op {
		case OpBvAnd:
			z, o, hi = z|b.zeros, o&b.ones, min(hi, b.uhi)
		case OpBvOr:
			z, o = z&b.zeros, o|b.ones
		case OpBvXor:
			z, o = z&b.zeros|o&b.ones, z&b.ones|o&b.zeros
		}
	}
	f.zeros, f.ones = z|^mask(n.width), o&mask(n.width)
	if n.op == OpBvAnd {
		f.uhi = min(hi, f.uhi)
	}
	return f
}

// signedDivFacts bounds quotients by the dividend, and remainders by the divisor, for positive
// divisors.
func (c *Context) signedDivFacts(n *node) facts {
	f := anyValue(n.width)
	a, b := c.facts[n.args[0]], c.facts[n.args[1]]
	if n.op == OpSRem { // it has the sign of the dividend and is smaller than the divisor
		if a.slo >= 0 {
			f.slo = 0
		}
		if a.shi <= 0 {
			f.shi = 0
		}
		if b.slo > 0 {
			f.slo, f.shi = max(f.slo, -(b.shi-1)), min(f.shi, b.shi-1)
		}
		return f
	}
	if b.slo > 0 { // no overflow, no division by zero
		f.slo = min(a.slo, 0)
		f.shi = max(a.shi, 0)
		if a.slo >= 0 {
			f.slo, f.shi = a.slo/b.shi, a.shi/b.slo
		}
	}
	return f
}

// shiftFacts bounds shifts by the smallest and largest amount.
func (c *Context) shiftFacts(n *node) facts {
	w := n.width
	f := anyValue(w)
	a, s := c.facts[n.args[0]], c.facts[n.args[1]]
	switch n.op {
	case OpShl:
		low := uint64(bits.TrailingZeros64(^a.zeros)) + min(s.ulo, 64)
		f.zeros |= uint64(1)<<min(low, 63) - 1
		if s.uhi < uint64(w) && bits.Len64(a.uhi)+int(s.uhi) <= int(w) {
			f.ulo, f.uhi = a.ulo<<s.ulo, a.uhi<<s.uhi
		}
	case OpLShr:
		f.uhi = a.uhi >> min(s.ulo, 63)
		if s.ulo >= uint64(w) {
			f.uhi = 0
		}
		if s.uhi < uint64(w) {
			f.ulo = a.ulo >> s.uhi
		}
	case OpAShr: // AShr makes an OpLShr of what is not negative
		f.slo, f.shi = min(a.slo, -1), max(a.shi, 0)
		if a.shi < 0 {
			f.slo, f.shi = a.slo>>min(s.ulo, 63), -1
		}
	}
	return f
}

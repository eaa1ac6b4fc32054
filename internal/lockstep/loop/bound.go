package loop

import (
	"math/bits"

	"heddle/internal/smt"
)

// conditions are those under which an iteration is followed by another; none if it never is.
func (i *Info) conditions() []smt.Term {
	switch c, back := i.t.c, i.iter.Back; {
	case back == smt.False:
		return nil
	case c.Op(back) == smt.OpAnd:
		return c.Args(back)
	default:
		return []smt.Term{back}
	}
}

// Trips bounds how many iterations a thread executes that enters the loop once, if that does not
// depend on what the thread computes.
func (i *Info) Trips() (n uint64, ok bool) {
	conds := i.conditions()
	if len(conds) == 0 {
		return 1, true
	}
	last, ok := i.lastTrip(conds)
	return last + 1, ok
}

// tripBounds reads the conditions to continue as bounds of k. All of them held at every iteration
// before k, so a counter that moves toward a fixed bound has not passed it, unless it wrapped: the
// premise excludes that.
func (i *Info) tripBounds() []smt.Term {
	c, conds := i.t.c, i.conditions()
	var out []smt.Term
	if last, ok := i.lastTrip(conds); ok {
		out = append(out, c.Ule(i.Counter, c.Const(last, 32)))
	}
	for _, t := range conds {
		if b, ok := i.tripBound(t); ok {
			out = append(out, b)
		}
	}
	return out
}

// maxTrips bounds how many iterations are counted.
const maxTrips = 4096

// lastTrip counts the iterations of a loop whose conditions to continue depend on k only: the first
// iteration at which one of them fails is the last. If other conditions matter too, it is an upper
// bound.
func (i *Info) lastTrip(conds []smt.Term) (uint64, bool) {
	c := i.t.c
	var counted []smt.Term
	for _, t := range conds {
		free := false
		c.Visit([]smt.Term{t}, func(u smt.Term) {
			op := c.Op(u)
			free = free || (op == smt.OpVar || op == smt.OpApp) && u != i.Counter
		})
		if !free {
			counted = append(counted, t)
		}
	}
	all := c.And(counted...)
	if all == smt.True {
		return 0, false
	}
	for k := range uint64(maxTrips) {
		s := c.Substitute()
		s.Replace(i.Counter, c.Const(k, 32))
		if s.Apply(all) == smt.False {
			return k, true
		}
	}
	return 0, false
}

// tripBound is the bound on k of one condition to continue.
func (i *Info) tripBound(t smt.Term) (smt.Term, bool) {
	c := i.t.c
	neg := false
	if c.Op(t) == smt.OpNot {
		neg, t = true, c.Args(t)[0]
	}
	op := c.Op(t)
	if op != smt.OpUlt && op != smt.OpSlt && (op != smt.OpEq || !neg) || c.Width(c.Args(t)[0]) < 8 {
		return 0, false
	}
	a, b := c.Args(t)[0], c.Args(t)[1]
	if op == smt.OpEq {
		return i.stopsAt(a, b)
	}
	// a < b continues. With neg it is b <= a.
	if neg {
		a, b = b, a
	}
	less := comparison{signed: op == smt.OpSlt, strict: !neg}
	if w := c.Width(a); w < 32 { // compare numbers of 32 bits, which hold k
		extend := c.ZExt
		if less.signed {
			extend = c.SExt
		}
		a, b = extend(a, 32), extend(b, 32)
	}
	if n, ok := i.counter(a); ok && !i.varies(b) { // a rises toward b
		return i.stopsBelow(n, b, less)
	}
	// b falls toward a: the complements rise
	if n, ok := i.counter(b); ok && !i.varies(a) && !n.unsigned() {
		n.first, n.step = c.BvNot(n.first), -n.step&ones(n.bits)
		return i.stopsBelow(n, c.BvNot(a), less)
	}
	return 0, false
}

func ones(w int) uint64 { return ^uint64(0) >> (64 - w) }

// counter is a term first + step*k that is computed in some bits and then extended: it has its
// value until it leaves the range of these bits.
type counter struct {
	first  smt.Term // extended
	step   uint64   // below 2^bits
	bits   int
	extend smt.Op // OpSExt, OpZExt; OpSum: it is not extended
}

// unsigned reports whether the term is extended by zeros.
func (n *counter) unsigned() bool { return n.extend == smt.OpZExt }

// counter reads a term as a counter.
func (i *Info) counter(t smt.Term) (counter, bool) {
	c := i.t.c
	n, inner := counter{extend: smt.OpSum}, t
	if op := c.Op(t); op == smt.OpSExt || op == smt.OpZExt {
		n.extend, inner = op, c.Args(t)[0]
	}
	n.bits = c.Width(inner)
	first, step, ok := i.affine(inner)
	if !ok {
		return n, false
	}
	n.step, n.first = step, first
	switch n.extend {
	case smt.OpSExt:
		n.first = c.SExt(first, c.Width(t))
	case smt.OpZExt:
		n.first = c.ZExt(first, c.Width(t))
	}
	return n, true
}

// affine reads t as first + step*k with constant step, read as a number below 2^(w-1).
func (i *Info) affine(t smt.Term) (first smt.Term, step uint64, ok bool) {
	c := i.t.c
	k := resize(c, i.Counter, c.Width(t))
	args, coef := []smt.Term{t}, []uint64{1}
	if c.Op(t) == smt.OpSum {
		args = c.Args(t)
		_, coef = c.SumParts(t)
	}
	for n, u := range args {
		if u == k {
			first = c.Sub(t, c.MulConst(k, coef[n]))
			return first, coef[n], !i.varies(first)
		}
	}
	return 0, 0, false
}

// comparison is < or <=, of signed or unsigned numbers.
type comparison struct{ signed, strict bool }

// stopsBelow: a counter that rises by step continues while it is less than b (strict), or at most
// b. After k steps, all below the bound and none wrapped, k-1 is at most (b-1-first)/step.
// A step above half of the range falls; the premise, that no step wraps, makes the bound hold there
// too.
func (i *Info) stopsBelow(n counter, b smt.Term, is comparison) (smt.Term, bool) {
	c := i.t.c
	a0, step, w := n.first, n.step, c.Width(n.first)
	if n.extend == smt.OpSExt && !is.signed { // the extension has two ranges
		return 0, false
	}
	less, top := c.Ult, ones(n.bits)
	if is.signed {
		less = c.Slt
		if !n.unsigned() {
			top >>= 1
		}
	}
	premise := c.Not(less(c.Const(top-step+1, w), b)) // b <= top - step + 1
	last := c.AddConst(b, ^uint64(0))
	first := less(a0, b)
	if !is.strict {
		premise = c.Not(less(c.Const(top-step, w), b))
		last = b
		first = c.Not(less(b, a0))
	}
	kw := resize(c, i.Counter, w)
	steps := c.UDiv(c.Sub(last, a0), c.Const(step, w))
	bound := c.Ule(c.AddConst(kw, ^uint64(0)), steps)
	return c.Or(c.Eq(i.Counter, c.Const(0, 32)), c.And(first, c.Implies(premise, bound))), true
}

// stopsAt: the loop continues while a != b. A counter whose step is a power of two, and that
// reaches the bound at all, has not passed it.
func (i *Info) stopsAt(a, b smt.Term) (smt.Term, bool) {
	c := i.t.c
	first, step, ok := i.affine(a)
	if !ok || i.varies(b) {
		if first, step, ok = i.affine(b); !ok || i.varies(a) {
			return 0, false
		}
		b = a
	}
	w := c.Width(b)
	if w < 32 {
		return 0, false
	}
	far := c.Sub(b, first)
	if step > ones(w)>>1 { // counts down
		step, far = -step&ones(w), c.Sub(first, b)
	}
	if step == 0 || step&(step-1) != 0 {
		return 0, false
	}
	reaches := c.Eq(c.BvAnd(far, c.Const(step-1, w)), c.Const(0, w))
	trips := c.LShr(far, c.Const(uint64(bits.TrailingZeros64(step)), w))
	return c.Implies(reaches, c.Ule(resize(c, i.Counter, w), trips)), true
}

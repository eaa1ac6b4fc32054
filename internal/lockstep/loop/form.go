package loop

import (
	"heddle/internal/lockstep/join"
	"heddle/internal/smt"
)

// resize returns an unsigned number in w bits.
func resize(c *smt.Context, t smt.Term, w int) smt.Term {
	switch n := c.Width(t); {
	case n == w:
		return t
	case n > w:
		return c.Extract(t, 0, w)
	}
	return c.ZExt(t, w)
}

// value is the value of slot n at the header at iteration k.
func (i *Info) value(n int, r *slot, k smt.Term) smt.Term {
	c := i.t.c
	if r.init == join.Undefined {
		r.form = unknown
	}
	switch r.form {
	case invariant:
		return r.init
	case additive:
		return c.Add(r.init, c.Mul(r.step, resize(c, k, r.width)))
	case leftShift, rightShift, arithShift, quotient:
		return i.t.shifted(r, k)
	case direct:
		s := c.Substitute()
		s.Replace(i.Counter, c.AddConst(i.Counter, ^uint64(0)))
		return c.Ite(c.Eq(k, c.Const(0, 32)), r.init, s.Apply(r.body))
	case cyclic:
		return i.t.turn(r, k)
	case offset:
		return c.Add(r.init, c.MulConst(i.symbol(n, r), r.stride))
	}
	return i.symbol(n, r)
}

// shifted is init shifted step*k times. The distance is exact as long as it matters: from iteration
// number width on, which bounds k*step for steps of at least one, only the last value is left.
func (t *Table) shifted(r *slot, k smt.Term) smt.Term {
	c := t.c
	s, _ := c.Value(r.step)
	w := c.Const(uint64(r.width), 32)
	by := resize(c, c.MulConst(k, s), r.width)
	near, last := smt.Term(0), c.Const(0, r.width)
	switch r.form {
	case leftShift:
		near = c.Shl(r.init, by)
	case rightShift:
		near = c.LShr(r.init, by)
	case quotient: // of the magnitude, with the sign restored
		near = c.Ite(c.Slt(r.init, last), c.Neg(c.LShr(c.Neg(r.init), by)), c.LShr(r.init, by))
	default:
		near = c.AShr(r.init, by)
		last = c.AShr(r.init, c.Const(uint64(r.width-1), r.width))
	}
	return c.Ite(c.Ult(k, w), near, last)
}

// divided is t / 2^by as compilers write signed division: 2^by - 1 is added to a negative t before
// the shift.
func (t *Table) divided(x, by smt.Term) smt.Term {
	c := t.c
	w := c.Width(x)
	s, _ := c.Value(by)
	sign := x
	if s > 1 {
		sign = c.AShr(x, c.Const(uint64(w-1), w))
	}
	return c.AShr(c.Add(x, c.LShr(sign, c.Const(uint64(w)-s, w))), by)
}

// classify finds a closed form of slot n, or checks the one that it has.
func (i *Info) classify(n int, r *slot) {
	if r.recent {
		return
	}
	if r.form != unknown {
		if !i.holds(n, r) {
			r.form, r.hopeless, i.t.changed = unknown, !i.t.settling, true
		}
		return
	}
	if r.hopeless || r.next == join.Undefined || r.init == join.Undefined {
		return
	}
	i.find(n, r)
	i.t.changed = i.t.changed || r.form != unknown
}

// find looks for a closed form of slot n, which has none.
func (i *Info) find(n int, r *slot) {
	c := i.t.c
	h := i.value(n, r, i.Counter)
	if r.next == h {
		r.form = invariant
		return
	}
	if r.width == 0 {
		return
	}
	if step := c.Sub(r.next, h); !i.varies(step) {
		r.form, r.step = additive, step
		return
	}
	if !i.ownSymbols(r.next) {
		r.form, r.body = direct, r.next
		return
	}
	if i.cycle(n, r) || i.strides(n, r) {
		return
	}
	for s := 1; s <= 4; s++ {
		by := c.Const(uint64(s), r.width)
		switch r.next {
		case c.Shl(h, by):
			r.form, r.step = leftShift, by
		case c.LShr(h, by):
			r.form, r.step = rightShift, by
		case c.AShr(h, by):
			r.form, r.step = arithShift, by
		case i.t.divided(h, by):
			r.form, r.step = quotient, by
		}
	}
}

// holds checks a closed form against the body: the body turns the form at iteration k into the form
// at k+1.
func (i *Info) holds(n int, r *slot) bool {
	c := i.t.c
	if r.next == join.Undefined || r.init == join.Undefined {
		return false
	}
	switch r.form {
	case direct: // the value is made of next itself, which must not need the header value
		if r.next != r.body {
			r.body, i.t.changed = r.next, true
		}
		return !i.ownSymbols(r.next)
	case additive:
		now := i.value(n, r, i.Counter)
		step := c.Sub(r.next, now)
		if i.varies(step) {
			return false
		}
		if step != r.step {
			r.step, i.t.changed = step, true
		}
		return true
	case invariant:
		return r.next == r.init
	case cyclic:
		return i.checkTurns(r)
	case offset:
		return i.checkStrides(n, r)
	}
	now := i.value(n, r, i.Counter)
	after := i.value(n, r, c.AddConst(i.Counter, 1))
	if r.next == after {
		return true
	}
	// One more shift of the form is the form at k+1, by the law of shifts; the body must do just that
	// shift.
	switch r.form {
	case leftShift:
		return r.next == c.Shl(now, r.step)
	case rightShift:
		return r.next == c.LShr(now, r.step)
	case quotient:
		return r.next == i.t.divided(now, r.step)
	}
	return r.next == c.AShr(now, r.step)
}

package loop

import (
	"math/bits"

	"heddle/internal/lockstep/join"
	"heddle/internal/smt"
)

// maxTurns bounds how many values a register may take in turn.
const maxTurns = 4

// phase is the condition that iteration k is number j of a cycle of n.
func (t *Table) phase(k smt.Term, j, n int) smt.Term {
	return t.c.Eq(t.c.URem(k, t.c.Const(uint64(n), 32)), t.c.Const(uint64(j), 32))
}

// turn is the value of a cyclic register at iteration k.
func (t *Table) turn(r *slot, k smt.Term) smt.Term {
	n := len(r.turns)
	v := r.turns[n-1]
	for j := n - 2; j >= 0; j-- {
		v = t.c.Ite(t.phase(k, j, n), r.turns[j], v)
	}
	return v
}

// cycle looks for a register of unknown form that has its value at the entry again after a few
// iterations: because registers pass their values on in a ring, or because two iterations undo each
// other.
func (i *Info) cycle(n int, r *slot) bool {
	c := i.t.c
	h := i.symbol(n, r)
	holder := map[smt.Term]*slot{}
	for j, o := range i.slots {
		if o.form == unknown && o.init != join.Undefined && o.next != join.Undefined {
			holder[i.symbol(j, o)] = o
		}
	}
	ring := []*slot{r}
	for o := holder[r.next]; o != nil && len(ring) < maxTurns; o = holder[o.next] {
		if o == r {
			rotate(ring)
			return len(ring) > 1
		}
		ring = append(ring, o)
	}
	after := func(v smt.Term) smt.Term {
		s := c.Substitute()
		s.Replace(h, v)
		return s.Apply(r.next)
	}
	first := after(r.init)
	if after(r.next) != h || i.varies(first) || i.ownSymbols(first) {
		return false
	}
	r.form, r.turns = cyclic, []smt.Term{r.init, first}
	return true
}

// rotate gives each register of a ring, in which each takes the value of the one after it, its
// form.
func rotate(ring []*slot) {
	for i, r := range ring {
		r.form, r.turns, r.recent = cyclic, nil, true
		for j := range ring {
			r.turns = append(r.turns, ring[(i+j)%len(ring)].init)
		}
	}
}

// checkTurns checks a cycle: in each phase the body makes the value of the next phase, in any
// iteration.
func (i *Info) checkTurns(r *slot) bool {
	c, n := i.t.c, len(r.turns)
	now := []smt.Term{r.init}
	for j := range n {
		s := c.Substitute()
		for m := range n - 1 {
			p, holds := i.t.phase(i.Counter, m, n), m == j
			if c.Op(p) == smt.OpNot { // terms contain its argument
				p, holds = c.Args(p)[0], !holds
			}
			s.Replace(p, smt.Bool(holds))
		}
		v := s.Apply(r.next)
		if i.varies(v) || i.ownSymbols(v) {
			return false
		}
		now = append(now, v)
	}
	if now[n] != r.init {
		return false
	}
	for j, v := range now[:n] {
		if v != r.turns[j] {
			r.turns, i.t.changed = now[:n], true
			break
		}
	}
	return true
}

// strides looks for a register that moves by multiples of a power of two from its value at the
// entry, or by the same distance in all threads though they entered with different values.
func (i *Info) strides(n int, r *slot) bool {
	c := i.t.c
	d := c.Sub(r.next, i.symbol(n, r))
	zeros := i.t.trailing(d)
	if zeros == 0 && (!i.t.uniform.Of(d) || i.t.uniform.Of(r.init)) {
		return false
	}
	r.form, r.stride = offset, 1<<zeros
	r.body = i.strideCount(n, r, d, zeros)
	return true
}

// checkStrides checks the form offset, and finds what an iteration makes of q.
func (i *Info) checkStrides(n int, r *slot) bool {
	d := i.t.c.Sub(r.next, i.value(n, r, i.Counter))
	zeros := bits.TrailingZeros64(r.stride)
	if m := i.t.trailing(d); m < zeros {
		zeros = m
		i.t.changed = true
	}
	if zeros == 0 && !i.t.uniform.Of(d) {
		return false
	}
	body := i.strideCount(n, r, d, zeros)
	if body != r.body || r.stride != 1<<zeros {
		r.body, r.stride, i.t.changed = body, 1<<zeros, true
	}
	return true
}

// strideCount is q after an iteration that moves the register by d, in strides of 2^zeros.
func (i *Info) strideCount(n int, r *slot, d smt.Term, zeros int) smt.Term {
	c := i.t.c
	return c.Add(i.symbol(n, r), c.AShr(d, c.Const(uint64(zeros), r.width)))
}

// trailing returns how many low bits of x are certainly 0; none for a term that is 0, which would
// make no stride.
func (t *Table) trailing(x smt.Term) int {
	zeros, _ := t.c.KnownBits(x)
	n := bits.TrailingZeros64(^zeros)
	if n >= t.c.Width(x)-1 {
		return 0
	}
	return n
}

package lockstep

import (
	"math/bits"

	"heddle/internal/smt"
)

// maxTurns bounds how many values a register may take in turn.
const maxTurns = 4

// phase is the condition that iteration k is number j of a cycle of n.
func (x *exec) phase(k smt.Term, j, n int) smt.Term {
	return x.c.Eq(x.c.URem(k, x.c.Const(uint64(n), 32)), x.c.Const(uint64(j), 32))
}

// turn is the value of a cyclic register at iteration k.
func (x *exec) turn(r *loopReg, k smt.Term) smt.Term {
	n := len(r.turns)
	v := r.turns[n-1]
	for j := n - 2; j >= 0; j-- {
		v = x.c.Ite(x.phase(k, j, n), r.turns[j], v)
	}
	return v
}

// cycle looks whether a register of unknown form comes back to its value at the entry after a few iterations:
// because registers hand their values around, or because two iterations undo each other.
func (x *exec) cycle(info *loopInfo, i int, r *loopReg, at []smt.Term) bool {
	c := x.c
	h := x.symbol(info, i, r, at)
	holder := map[smt.Term]*loopReg{}
	for j, o := range info.regs {
		if o.form == unknown && o.init != undef && o.next != undef {
			holder[x.symbol(info, j, o, at)] = o
		}
	}
	ring := []*loopReg{r}
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
	if after(r.next) != h || x.varies(info, first) || x.ownSymbols(info, first) {
		return false
	}
	r.form, r.turns = cyclic, []smt.Term{r.init, first}
	return true
}

// rotate gives each register of a ring, in which each takes the value of the one after it, its form.
func rotate(ring []*loopReg) {
	for i, r := range ring {
		r.form, r.turns, r.recent = cyclic, nil, true
		for j := range ring {
			r.turns = append(r.turns, ring[(i+j)%len(ring)].init)
		}
	}
}

// turns checks a cycle: in each phase the body makes the value of the next one, whatever the iteration.
func (x *exec) turns(info *loopInfo, r *loopReg) bool {
	n := len(r.turns)
	now := []smt.Term{r.init}
	for j := range n {
		s := x.c.Substitute()
		for i := range n - 1 {
			p, holds := x.phase(info.counter, i, n), i == j
			if x.c.Op(p) == smt.OpNot { // its argument is what stands in terms
				p, holds = x.c.Args(p)[0], !holds
			}
			s.Replace(p, smt.Bool(holds))
		}
		v := s.Apply(r.next)
		if x.varies(info, v) || x.ownSymbols(info, v) {
			return false
		}
		now = append(now, v)
	}
	if now[n] != r.init {
		return false
	}
	for j, v := range now[:n] {
		if v != r.turns[j] {
			r.turns, x.changed = now[:n], true
			break
		}
	}
	return true
}

// strides looks whether a register moves by multiples of a power of two from its value at the entry, or whether it
// moves by the same in all threads though they entered with different values.
func (x *exec) strides(info *loopInfo, i int, r *loopReg, at []smt.Term) bool {
	d := x.c.Sub(r.next, x.symbol(info, i, r, at))
	n := x.trailing(d)
	if n == 0 && (!x.uniform(d) || x.uniform(r.init)) {
		return false
	}
	r.form, r.stride = offset, 1<<n
	r.body = x.c.Add(x.symbol(info, i, r, at), x.c.AShr(d, x.c.Const(uint64(n), r.width)))
	return true
}

// strided checks the form offset, and finds what an iteration makes of q.
func (x *exec) strided(info *loopInfo, i int, r *loopReg, at []smt.Term) bool {
	d := x.c.Sub(r.next, x.headerValue(info, i, r, info.counter, at))
	n := bits.TrailingZeros64(r.stride)
	if m := x.trailing(d); m < n {
		n = m
		x.changed = true
	}
	if n == 0 && !x.uniform(d) {
		return false
	}
	body := x.c.Add(x.symbol(info, i, r, at), x.c.AShr(d, x.c.Const(uint64(n), r.width)))
	if body != r.body || r.stride != 1<<n {
		r.body, r.stride, x.changed = body, 1<<n, true
	}
	return true
}

// trailing returns how many low bits of t are certainly 0; of a term that is 0, none that would make a stride.
func (x *exec) trailing(t smt.Term) int {
	zeros, _ := x.c.KnownBits(t)
	n := bits.TrailingZeros64(^zeros)
	if n >= x.c.Width(t)-1 {
		return 0
	}
	return n
}

package verify

import (
	"slices"

	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// taken returns when the symbols among terms for "an atomic of this thread has returned a value
// before" are true: if an atomic in front of the annotation has returned it, in the iterations of
// the annotation, or of an access that its condition is about. Leaving out other atomics makes no
// false condition true.
func (p *prover) taken(a *thread.Assertion, terms []smt.Term, chosen []logged) []smt.Term {
	if len(p.th.Taken) == 0 {
		return nil
	}
	c := p.c
	var out []smt.Term
	c.Visit(terms, func(t smt.Term) {
		if c.Op(t) != smt.OpApp || p.th.Taken[c.Name(t)] == nil {
			return
		}
		args := c.Args(t)
		off, value := args[len(args)-2], args[len(args)-1]
		for i := range p.th.Accesses {
			x := &p.th.Accesses[i]
			if x.Object != p.th.Taken[c.Name(t)] || x.Result == smt.False {
				continue
			}
			for _, at := range p.sameLoops(x, a, chosen) {
				s := c.Substitute()
				for j, k := range x.Iters {
					s.Replace(k, at[j])
				}
				out = append(out, c.Implies(c.And(
					s.Apply(x.Guard), p.earlier(x, at, a), c.Eq(s.Apply(x.Offset), off),
					c.Eq(c.ZExt(s.Apply(x.Result), 64), value),
				), t))
			}
		}
	})
	return out
}

// sameLoops returns the iteration vectors of the annotation, and of the accesses that it is about,
// that lie in the loops of an access.
func (p *prover) sameLoops(x *thread.Access, a *thread.Assertion, chosen []logged) [][]smt.Term {
	var out [][]smt.Term
	add := func(loops []int, iters []smt.Term) {
		if n := len(x.Place.Loops); len(loops) >= n && slices.Equal(x.Place.Loops, loops[:n]) {
			out = append(out, iters[:n])
		}
	}
	add(a.Place.Loops, a.Iters)
	for _, l := range chosen {
		if l.when != nil {
			add(l.loops, l.iters)
		}
	}
	return out
}

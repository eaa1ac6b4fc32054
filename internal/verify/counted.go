package verify

import (
	"fmt"

	"heddle/internal/smt"
)

// Numbers of lanes are counts of bits (popc), of which SAT solvers do not find out by themselves
// that a part of a set has fewer elements. So a query is first asked with a variable in place of
// each count, and with what is known of counts of bits: a set that is part of another one has no
// more elements, and fewer if they differ; and n ones at the lower end are 2^n - 1. It has a model
// wherever the query has one, so an unsatisfiable answer holds for the query (TestCountFacts).

// maxCounts bounds the counts that one query compares.
const maxCounts = 12

// counted reports whether that proves a pair harmless.
func (p *prover) counted(x *pair) bool {
	facts, without := p.counts(x.asked)
	if len(facts) == 0 {
		return false
	}
	for _, t := range x.asked {
		facts = append(facts, without.Apply(t))
	}
	asked := x.asked
	harmless, steps := p.weaker(x, facts)
	if !harmless {
		p.res.Stats.Steps += steps
		x.asked = asked
	}
	return harmless
}

// counts returns the facts about the variables that stand for counts of bits in a query, and the
// substitution of these variables for the counts.
func (p *prover) counts(q []smt.Term) (facts []smt.Term, without *smt.Substitution) {
	c := p.c
	type count struct{ number, of smt.Term }
	var all []count
	without = c.Substitute()
	c.Visit(q, func(t smt.Term) {
		if c.Op(t) != smt.OpPopc || len(all) == maxCounts {
			return
		}
		w := c.Width(t)
		v := c.VarIn(fmt.Sprintf("count%d:%d", len(all), w), w, 0, uint64(w))
		without.Replace(t, v)
		all = append(all, count{v, c.Args(t)[0]})
	})
	for i := range all {
		all[i].of = without.Apply(all[i].of)
	}
	for i, a := range all {
		w := c.Width(a.of)
		none := c.Const(0, w)
		next := c.AddConst(a.of, 1)
		facts = append(facts, c.Eq(c.Eq(a.of, none), c.Eq(a.number, none)),
			c.Implies(c.Eq(c.BvAnd(a.of, next), none), c.Eq(next, c.Shl(c.Const(1, w), a.number))))
		for j, b := range all {
			if i == j || c.Width(b.of) != w {
				continue
			}
			part := c.Eq(c.BvAnd(a.of, c.BvNot(b.of)), none)
			facts = append(facts, c.Implies(part, c.Ite(c.Eq(a.of, b.of), c.Eq(a.number, b.number),
				c.Ult(a.number, b.number))))
		}
	}
	return facts, without
}

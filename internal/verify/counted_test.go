package verify

import (
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
)

// TestCountFacts: what is said of the variables that stand for counts of bits holds of the counts,
// so that a query loses no model by it.
func TestCountFacts(t *testing.T) {
	c := smt.New()
	p := newProver(t.Context(), &thread.Thread{Context: c}, Options{})
	a, b, wide := c.Var("a", 32), c.Var("b", 32), c.Var("wide", 64)
	below := c.AddConst(c.Shl(c.Const(1, 32), c.BvAnd(b, c.Const(31, 32))), 1<<32-1)
	sets := []smt.Term{a, c.BvAnd(a, below), below, b, c.BvAnd(a, b), wide, c.BvNot(wide)}
	var q []smt.Term
	for _, of := range sets {
		q = append(q, c.Eq(c.Popc(of), c.Const(3, c.Width(of))))
	}
	facts, without := p.counts(q)
	if without.Len() != len(sets) {
		t.Fatalf("%d counts", without.Len())
	}
	rapid.Check(t, func(t *rapid.T) {
		m := &smt.Model{Vars: map[string]uint64{}}
		for _, name := range []string{"a", "b", "wide"} {
			v := rapid.Uint64()
			m.Vars[name] = rapid.OneOf(v, rapid.SampledFrom([]uint64{0, 1, 31, 255, 1<<32 - 1,
				1<<64 - 1})).Draw(t, name)
		}
		e := c.Evaluate(m)
		for _, of := range sets {
			n := e.Value(c.Popc(of))
			m.Vars[c.Name(without.Apply(c.Popc(of)))] = n
		}
		e.Reset()
		for _, f := range facts {
			if !e.Holds(f) {
				t.Fatalf("%s does not hold of %v", c.String(f), m.Vars)
			}
		}
		for _, x := range q {
			if e.Holds(x) != e.Holds(without.Apply(x)) {
				t.Fatalf("%s is another formula without counts", c.String(x))
			}
		}
	})
}

// TestCountsDecide: the facts about counts suffice for what ranks in a mask need.
func TestCountsDecide(t *testing.T) {
	c := smt.New()
	p := newProver(t.Context(), &thread.Thread{Context: c},
		Options{Solvers: []smt.Solver{&sat.Solver{Steps: 5_000_000}}})
	lane := func(name string) smt.Term { return c.BvAnd(c.Var(name, 32), c.Const(31, 32)) }
	bit := func(m, l smt.Term) smt.Term {
		return c.Eq(c.Extract(c.LShr(m, l), 0, 1), c.Const(1, 1))
	}
	rank := func(m, l smt.Term) smt.Term {
		return c.Popc(c.BvAnd(m, c.AddConst(c.Shl(c.Const(1, 32), l), 1<<32-1)))
	}
	a, b, m := lane("a"), lane("b"), c.Var("m", 32)
	for name, q := range map[string][]smt.Term{
		"ranks differ": {c.Not(c.Eq(a, b)), bit(m, a), bit(m, b),
			c.Eq(rank(m, a), rank(m, b))},
		"a rank is below the number": {bit(m, a), c.Ule(c.Popc(m), rank(m, a))},
		"the lowest bit has rank 0": {bit(m, a), c.Not(c.Eq(rank(m, a), c.Const(0, 32))),
			c.Eq(a, c.Popc(c.BvAnd(c.AddConst(m, 1<<32-1), c.BvNot(m))))},
	} {
		if !p.counted(&pair{asked: q}) {
			t.Errorf("%s: not proved", name)
		}
	}
}

package smt

import "testing"

// TestReduceOrders checks every conjunction of comparisons of the same two terms, with one of them
// inside a disjunction: Reduce keeps satisfiability, and decides the conjunctions that the order of
// the terms decides, for which a SAT solver would enumerate values.
func TestReduceOrders(t *testing.T) {
	const width = 2
	for _, signed := range []bool{false, true} {
		for set := range 1 << 6 {
			for inside := range 6 {
				c := New()
				a, b, x := c.Var("a", width), c.Var("b", width), c.BoolVar("x")
				less := c.Ult
				if signed {
					less = c.Slt
				}
				lits := []Term{less(a, b), c.Not(less(a, b)), less(b, a), c.Not(less(b, a)), c.Eq(a, b),
					c.Not(c.Eq(a, b))}
				query := []Term{c.Or(lits[inside], x)}
				for i, l := range lits {
					if set>>i&1 == 1 {
						query = append(query, l)
					}
				}
				want := Unsat
				for m := range 1 << (2*width + 1) {
					model := &Model{Vars: map[string]uint64{"a": uint64(m & 3), "b": uint64(m >> 2 & 3),
						"x": uint64(m >> 4)}}
					if c.Satisfies(model, query) {
						want = Sat
					}
				}
				r := c.Reduce(query)
				switch {
				case r.Status == Unknown && want == Unsat:
					t.Errorf("signed %v: %v is left as %v, expected unsat", signed, query,
						c.String(c.And(r.Asserts...)))
				case r.Status != Unknown && r.Status != want:
					t.Errorf("signed %v: literals %06b with %d inside: %v, expected %v", signed, set, inside,
						r.Status, want)
				case r.Status == Unknown:
					found := false
					for m := range 1 << (2*width + 1) {
						model := &Model{Vars: map[string]uint64{"a": uint64(m & 3), "b": uint64(m >> 2 & 3),
							"x": uint64(m >> 4)}}
						r.Complete(model)
						found = found || c.Satisfies(model, query)
					}
					if !found {
						t.Errorf("signed %v: literals %06b with %d inside: no model is left of %v", signed, set,
							inside, c.String(c.And(r.Asserts...)))
					}
				}
			}
		}
	}
}

// TestSolved: an equation gives a variable and what it is. A bit-vector is solved for if its
// coefficient is odd, which has an inverse modulo 2^w; a Boolean if it is one side of the equation.
// A variable in what it equals is no solution.
func TestSolved(t *testing.T) {
	c := New()
	x, y, p, q, r := c.Var("x", 8), c.Var("y", 8), c.BoolVar("p"), c.BoolVar("q"), c.BoolVar("r")
	for _, tt := range []struct {
		what     string
		t        Term
		v, by    Term
		unsolved bool
	}{
		{what: "x = 7", t: c.Eq(x, c.Const(7, 8)), v: x, by: c.Const(7, 8)},
		{what: "3x = 9", t: c.Eq(c.MulConst(x, 3), c.Const(9, 8)), v: x, by: c.Const(3, 8)},
		{what: "3x = 2y", t: c.Eq(c.MulConst(x, 3), c.MulConst(y, 2)), v: x,
			by: c.MulConst(y, 2*171)}, // 3 * 171 = 513 = 1 modulo 256
		{what: "2x = 4y", t: c.Eq(c.MulConst(x, 2), c.MulConst(y, 4)), unsolved: true},
		{what: "x = x*y", t: c.Eq(x, c.Mul(x, y)), unsolved: true},
		{what: "p", t: p, v: p, by: True},
		{what: "not p", t: c.Not(p), v: p, by: False},
		{what: "p = (q and r)", t: c.Eq(p, c.And(q, r)), v: p, by: c.And(q, r)},
		{what: "p = (p and r)", t: c.Eq(p, c.And(p, r)), unsolved: true},
	} {
		v, by, ok := c.Solved(tt.t)
		if ok == tt.unsolved || ok && (v != tt.v || by != tt.by) {
			t.Errorf("%s: solved %v, %s is %s", tt.what, ok, c.String(v), c.String(by))
		}
	}
}

// TestReduceExcluded: a comparison that holds excludes its reverse and the equality, so that a
// solver never sees them.
func TestReduceExcluded(t *testing.T) {
	c := New()
	a, b, x := c.Var("a", 8), c.Var("b", 8), c.BoolVar("x")
	for _, less := range []func(Term, Term) Term{c.Ult, c.Slt} {
		holds := less(a, b)
		for _, excluded := range []Term{less(b, a), c.Eq(a, b)} {
			r := c.Reduce([]Term{holds, c.Or(excluded, x)})
			if len(r.Asserts) != 1 || r.Asserts[0] != holds {
				t.Errorf("%s beside %s: %s is left, want only the comparison", c.String(holds),
					c.String(excluded), c.String(c.And(r.Asserts...)))
			}
		}
	}
}

// TestInRange: the assumed range of a variable is said of what replaces it, as an unsigned range,
// and as a signed one too if that says more.
func TestInRange(t *testing.T) {
	for _, x := range []struct {
		f    facts
		want int // conjuncts that are not true by themselves
	}{
		{unsignedIn(32, 3, 9), 2},
		{signedIn(32, -5, 5), 2}, // any unsigned number
		{anyValue(32), 0},
	} {
		c := New()
		v, by := c.Var("v", 32), c.Var("by", 32)
		c.facts[v] = x.f
		n := 0
		for _, is := range c.inRange(v, by) {
			if is != True {
				n++
			}
		}
		if n != x.want {
			t.Errorf("%+v: %d conjuncts, want %d", x.f, n, x.want)
		}
	}
}

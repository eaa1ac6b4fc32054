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

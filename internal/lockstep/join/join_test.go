package join_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/lockstep/join"
	"heddle/internal/smt"
)

// tree appends the conditions of the leaves of a random tree of branches on the variables.
func tree(t *rapid.T, c *smt.Context, vars []smt.Term, cond smt.Term, leaves []smt.Term) []smt.Term {
	if len(vars) == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return append(leaves, cond)
	}
	leaves = tree(t, c, vars[1:], c.And(cond, vars[0]), leaves)
	return tree(t, c, vars[1:], c.And(cond, c.Not(vars[0])), leaves)
}

// TestJoin: the reach condition is the disjunction of the paths that meet, and the value is the one
// of the path that is taken, for all values of the conditions.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := smt.New()
		vars := []smt.Term{c.BoolVar("a"), c.BoolVar("b"), c.BoolVar("d"), c.BoolVar("e")}
		all := tree(t, c, vars, smt.True, nil)
		var conds []smt.Term // some of the leaves: the others leave for somewhere else
		for _, l := range all {
			if rapid.IntRange(0, 3).Draw(t, "keep") > 0 {
				conds = append(conds, l)
			}
		}
		if len(conds) == 0 {
			conds = all[:1]
		}
		reach, paths := join.Conditions(c, conds)
		v := join.Values(c, paths, func(p int) smt.Term { return c.Const(uint64(p), 32) }, nil)
		for bits := range 16 {
			m := &smt.Model{Vars: map[string]uint64{}}
			for i, name := range []string{"a", "b", "d", "e"} {
				m.Vars[name] = uint64(bits >> i & 1)
			}
			e, taken := c.Evaluate(m), -1
			for i, p := range conds {
				if e.Holds(p) {
					taken = i
				}
			}
			if e.Holds(reach) != (taken >= 0) {
				t.Fatalf("%v: reach condition %s is %v", m.Vars, c.String(reach), e.Holds(reach))
			}
			if taken >= 0 && e.Value(v) != uint64(taken) {
				t.Fatalf("%v: value of path %d, want %d", m.Vars, e.Value(v), taken)
			}
		}
		if len(conds) == len(all) && reach != smt.True {
			t.Fatalf("all paths of a branch meet, but the reach condition is %s", c.String(reach))
		}
	})
}

// TestUndefined: a value that one path has not written may be anything there; one that no path has
// written stays undefined.
func TestUndefined(t *testing.T) {
	c := smt.New()
	p := c.BoolVar("p")
	n := 0
	anything := func() smt.Term { n++; return c.Var(fmt.Sprint("any", n), 32) }
	values := func(vs ...smt.Term) smt.Term {
		return join.Values(c, []smt.Term{p, c.Not(p)}, func(i int) smt.Term { return vs[i] }, anything)
	}
	if v := values(join.Undefined, join.Undefined); v != join.Undefined || n != 0 {
		t.Errorf("two undefined values are %v, and %d values were made", v, n)
	}
	seven := c.Const(7, 32)
	if v := values(join.Undefined, seven); v != c.Ite(p, c.Var("any1", 32), seven) || n != 1 {
		t.Errorf("%s, and %d values were made", c.String(v), n)
	}
	if v := values(seven, seven); v != seven {
		t.Errorf("equal values become %s", c.String(v))
	}
}

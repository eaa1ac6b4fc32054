// Package join merges what is known on the paths that meet at a block: reach conditions, and values
// under them.
//
// It follows the predication of Collingbourne et al. (ESOP 2013, section 4.1), with the reach
// condition of a path as a term in place of the variable v_active. Deviation: the reach condition
// of a merge point is not only the disjunction of its paths. It is simplified by resolution, so
// that behind a branch whose two sides come together it is the condition before the branch again.
// Without this, everything behind a branch on the thread's index would seem to depend on that
// index.
//
// All functions assume that at most one of the paths is taken, which holds for the paths of one
// thread.
package join

import (
	"slices"

	"heddle/internal/smt"
)

// Undefined stands for the value of something that nothing has written. It is not a term.
const Undefined = ^smt.Term(0)

// Conditions merges reach conditions. Reach is their disjunction; its common conjuncts are factored
// out. Paths tell the conditions apart where one of them holds: they are the conditions without the
// common conjuncts.
func Conditions(c *smt.Context, conds []smt.Term) (reach smt.Term, paths []smt.Term) {
	sets := make([][]smt.Term, len(conds))
	for i, p := range conds {
		sets[i] = conjuncts(c, p)
	}
	var common []smt.Term
	for _, t := range sets[0] {
		if !slices.ContainsFunc(sets[1:], func(s []smt.Term) bool { return !slices.Contains(s, t) }) {
			common = append(common, t)
		}
	}
	for i, s := range sets {
		sets[i] = slices.DeleteFunc(slices.Clone(s),
			func(t smt.Term) bool { return slices.Contains(common, t) })
	}
	for _, s := range sets {
		paths = append(paths, c.And(s...))
	}
	for resolve(c, &sets) {
	}
	rest := make([]smt.Term, len(sets))
	for i, s := range sets {
		rest[i] = c.And(s...)
	}
	return c.And(append(common, c.Or(rest...))...), paths
}

func conjuncts(c *smt.Context, p smt.Term) []smt.Term {
	if c.Op(p) == smt.OpAnd {
		return c.Args(p)
	}
	return []smt.Term{p}
}

// resolve replaces two conjunctions that differ in the sign of one condition only by what they
// share. It reports whether there were two.
func resolve(c *smt.Context, sets *[][]smt.Term) bool {
	for i, a := range *sets {
		for j, b := range (*sets)[:i] {
			if len(a) != len(b) {
				continue
			}
			at, n := -1, 0
			for k, t := range a {
				if !slices.Contains(b, t) {
					at, n = k, n+1
				}
			}
			if n != 1 || !slices.Contains(b, c.Not(a[at])) {
				continue
			}
			(*sets)[j] = slices.Delete(slices.Clone(a), at, at+1)
			*sets = slices.Delete(*sets, i, i+1)
			return true
		}
	}
	return false
}

// Values chooses among the values that value gives for each path. An Undefined one may be anything,
// which anything makes, unless all are undefined. Anything may be nil where no value is.
func Values(c *smt.Context, paths []smt.Term, value func(path int) smt.Term,
	anything func() smt.Term) smt.Term {
	defined := func(v, other smt.Term) smt.Term {
		if v == Undefined && other != Undefined {
			return anything()
		}
		return v
	}
	last := len(paths) - 1
	r := value(last)
	for i := last - 1; i >= 0; i-- {
		v := value(i)
		v, r = defined(v, r), defined(r, v)
		if v != r {
			r = c.Ite(paths[i], v, r)
		}
	}
	return r
}

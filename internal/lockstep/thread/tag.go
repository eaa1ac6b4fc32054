package thread

import "heddle/internal/smt"

// TagWidth is the number of bits of each term of a Tag. Barrier is 0 for the entry of the kernel,
// ExitTag for the end of a thread, the numbers below it for merge points of a warp, by block, and
// otherwise the number of the barrier's instruction plus 1.
const (
	TagWidth = 32
	ExitTag  = 1<<TagWidth - 1
)

// Tag names a barrier instance: the barrier instruction, and the iteration of each loop around it
// that contains barriers. Tags replace the enumeration of barrier intervals: two accesses of one
// block can race only if the last barrier instances of their threads are equal.
type Tag struct {
	Barrier smt.Term
	Iters   []smt.Term // by loop with barriers; 0 outside
}

// TagOf returns the tag of consecutive terms, which it copies.
func TagOf(terms []smt.Term) Tag {
	t := append([]smt.Term(nil), terms...)
	return Tag{Barrier: t[0], Iters: t[1:]}
}

// Terms returns the parts of the tag.
func (t Tag) Terms() []smt.Term { return append([]smt.Term{t.Barrier}, t.Iters...) }

// Renamed returns the tag under a renaming of symbols.
func (t Tag) Renamed(s *smt.Substitution) Tag { return t.mapped(s.Apply) }

// mapped returns the tag with all its terms mapped.
func (t Tag) mapped(by func(smt.Term) smt.Term) Tag {
	r := Tag{Barrier: by(t.Barrier)}
	for _, k := range t.Iters {
		r.Iters = append(r.Iters, by(k))
	}
	return r
}

// Same is the formula that t and u name the same barrier instance.
//
// At a loop that passes a barrier in each iteration, a tag is the one of the entry if k is 0, and
// else the one of the back edge with k-1. Two of those can be the same in equal iterations k and l
// only. Same then says k = l, which decides most queries about such a loop, instead of comparing
// the parts one by one, from which a solver would have to derive it. TestTagsSame compares the two
// formulas.
func (t Tag) Same(c *smt.Context, u Tag) smt.Term {
	k, zeroK, okK := t.counter(c)
	l, zeroL, okL := u.counter(c)
	if !okK || !okL {
		return t.same(c, u)
	}
	firstK, laterK := t.branch(c, zeroK, 1), t.branch(c, zeroK, 2)
	firstL, laterL := u.branch(c, zeroL, 1), u.branch(c, zeroL, 2)
	if firstK.same(c, laterL) != smt.False || laterK.same(c, firstL) != smt.False {
		return t.same(c, u)
	}
	equal, later := c.Eq(k, l), laterK.same(c, laterL)
	if rest, found := remove(c, later, equal); found {
		return c.And(equal, c.Ite(zeroK, firstK.same(c, firstL), rest))
	}
	return t.same(c, u)
}

// counter reads the barrier of a tag as a choice that depends on whether a 32-bit term k is zero.
func (t Tag) counter(c *smt.Context) (k, zero smt.Term, ok bool) {
	if c.Op(t.Barrier) != smt.OpIte {
		return 0, 0, false
	}
	zero = c.Args(t.Barrier)[0]
	if c.Op(zero) != smt.OpEq {
		return 0, 0, false
	}
	a, b := c.Args(zero)[0], c.Args(zero)[1]
	for _, x := range [][2]smt.Term{{a, b}, {b, a}} {
		if v, constant := c.Value(x[0]); constant && v == 0 && c.Width(x[1]) == 32 {
			return x[1], zero, true
		}
	}
	return 0, 0, false
}

// branch is the tag where a condition holds (1) or does not (2).
func (t Tag) branch(c *smt.Context, p smt.Term, which int) Tag {
	return t.mapped(func(x smt.Term) smt.Term {
		if c.Op(x) == smt.OpIte && c.Args(x)[0] == p {
			return c.Args(x)[which]
		}
		return x
	})
}

// remove drops one formula from a conjunction, if it occurs.
func remove(c *smt.Context, all, one smt.Term) (rest smt.Term, found bool) {
	parts := []smt.Term{all}
	if c.Op(all) == smt.OpAnd {
		parts = c.Args(all)
	}
	var others []smt.Term
	for _, p := range parts {
		if p == one {
			found = true
		} else {
			others = append(others, p)
		}
	}
	return c.And(others...), found
}

// same compares the parts one by one.
func (t Tag) same(c *smt.Context, u Tag) smt.Term {
	eq := []smt.Term{c.Eq(t.Barrier, u.Barrier)}
	for i := range t.Iters {
		eq = append(eq, c.Eq(t.Iters[i], u.Iters[i]))
	}
	return c.And(eq...)
}

package sat

import (
	"testing"

	"heddle/internal/smt"
)

// TestComparisonsAreNotCounted has a counter k that is neither below nor above its bound nor equal
// to it, next to equations about the contents of memory. The comparisons contradict each other,
// which shows from the highest bit down. A search that starts with the low bits excludes one value
// of k at a time.
func TestComparisonsAreNotCounted(t *testing.T) {
	c := smt.New()
	k, n := c.Var("k", 32), c.Var("n", 32)
	memory := c.Declare("memory", 32, 32, 64)
	at := c.Add(c.MulConst(c.ZExt(c.VarIn("tid", 32, 0, 63), 64), 4),
		c.MulConst(c.ZExt(c.VarIn("ctaid", 32, 0, 1), 64), 256))
	before := c.AddConst(k, ^uint64(0))
	now, last := c.Apply(memory, k, at), c.Apply(memory, before, at)
	zero := c.Const(0, 32)
	first, second := c.Eq(k, zero), c.Eq(k, c.Const(1, 32))
	query := []smt.Term{
		c.Or(c.Not(second), c.Eq(last, zero)),
		c.Or(second, c.Eq(last, c.AddConst(c.Apply(memory, c.AddConst(k, ^uint64(1)), at), 1))),
		c.Or(c.Not(first), c.Eq(now, zero)),
		c.Or(first, c.Eq(c.AddConst(last, 1), now)),
		c.Or(first, c.And(c.Slt(zero, n), c.Ule(before, c.AddConst(n, ^uint64(0))))),
		c.Eq(k, now), c.Not(c.Eq(n, now)),
		c.Not(c.Slt(n, k)), c.Not(c.Slt(k, n)),
	}
	if a := (&Solver{Steps: 1_000_000}).Solve(t.Context(), c, query); a.Status != smt.Unsat {
		t.Errorf("%v (%s), expected unsat", a.Status, a.Reason)
	}
}

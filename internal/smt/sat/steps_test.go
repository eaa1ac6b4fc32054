package sat

import (
	"reflect"
	"sync"
	"testing"

	"heddle/internal/smt"
)

// TestMoreStepsDecideMore: a query that some number of steps decides is decided by every larger
// number. Four results of one function differ, so that the arguments must, which the searches learn
// one pair after another. Each search gets the steps that those before it have left; none is left
// when one ends with the last step.
func TestMoreStepsDecideMore(t *testing.T) {
	c := smt.New()
	f := c.Declare("f", 3, 3)
	var query []smt.Term
	var results []smt.Term
	for _, name := range []string{"u", "v", "w", "x"} {
		now := c.Apply(f, c.Var(name, 3))
		for _, before := range results {
			query = append(query, c.Not(c.Eq(now, before)))
		}
		results = append(results, now)
	}
	decided := int64(0)
	for steps := int64(1); steps < 4000; steps++ {
		a := (&Solver{Steps: steps}).Solve(t.Context(), c, query)
		switch {
		case a.Status != smt.Unknown && decided == 0:
			decided = steps
		case a.Status == smt.Unknown && decided != 0:
			t.Fatalf("decided with %d steps, and not with %d", decided, steps)
		}
	}
	if decided < 10 {
		t.Fatalf("decided with %d steps: the query is too easy to test this", decided)
	}
}

// TestReuse: the memory that a query takes over from earlier ones does not change its answer. The
// queries ask for the factors of a number, so that the later ones are larger.
func TestReuse(t *testing.T) {
	answer := func(w int, n uint64) smt.Answer {
		c := smt.New()
		x, y := c.Var("x", w), c.Var("y", w)
		one := c.Const(1, w)
		return (&Solver{Steps: 1_000_000}).Solve(t.Context(), c, []smt.Term{
			c.Eq(c.Mul(c.ZExt(x, 2*w), c.ZExt(y, 2*w)), c.Const(n, 2*w)), c.Ult(one, x), c.Ult(x, y)})
	}
	kept := circuits
	defer func() { circuits = kept }()
	for _, q := range []struct {
		w int
		n uint64
	}{{4, 35}, {8, 221}, {10, 1021 * 3}, {4, 77}, {12, 4093}} {
		got := answer(q.w, q.n)
		circuits = &sync.Pool{New: func() any { return newCircuit() }}
		want := answer(q.w, q.n)
		circuits = kept
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d with %d bits: %v after other queries, %v alone", q.n, q.w, got, want)
		}
	}
}

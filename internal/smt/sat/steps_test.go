package sat

import (
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

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"heddle/internal/check"
)

// printProofStats prints how many queries each solver decided and how the time was spent. Times of
// kernels that were examined in parallel are added up, so they can exceed the time of the run.
func printProofStats(w io.Writer, sum *check.Summary) {
	ms := func(d time.Duration) string {
		return fmt.Sprintf("%.1f ms",
			float64(d.Microseconds())/1000)
	}
	q := &sum.Queries
	fmt.Fprintf(w, "stats: %d pairs of accesses; the simplifier proved %d safe, solvers %d\n",
		q.Pairs, q.BySimplifier, q.BySolver)
	for _, by := range slices.Sorted(maps.Keys(q.Queries)) {
		s := q.Queries[by]
		fmt.Fprintf(w, "stats: %d queries decided by %s: %d unsat, %d sat; %d cached; %s\n",
			s.Unsat+s.Sat+s.Unknown, by, s.Unsat, s.Sat, s.Cached, ms(s.Time))
	}
	t := &sum.Times
	fmt.Fprintf(w, "stats: compile %s, read %s, terms %s, queries %s (solvers %s)\n", ms(t.Compile),
		ms(t.Read), ms(sum.Terms), ms(q.Time), ms(q.SolverTime()))
}

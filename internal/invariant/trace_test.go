package invariant_test

import (
	"errors"
	"math/rand"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/invariant"
	"heddle/internal/lockstep"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/kernels"
)

// TestTraces: what traces drop, Houdini alone drops too, since a state that a trace comes to is one
// that the axioms allow: the same candidates are left, in fewer queries. The kernels are those of
// the rules, and random ones whose loops are nested and follow one another.
func TestTraces(t *testing.T) {
	byTrace, byQuery, queries, without := 0, 0, 0, 0
	compare := func(t *testing.T, what string, build func() *lockstep.Thread) {
		a, b := build(), build()
		if a == nil {
			return
		}
		traced, untraced := invariant.Find(t.Context(), a, solvers(), invariant.MaxSteps), invariant.FindUntraced(t.Context(), b, solvers())
		queries, without = queries+traced.Queries, without+untraced.Queries
		for i, c := range traced.Candidates {
			d := untraced.Candidates[i]
			switch {
			case strings.Contains(c.Died, " of trace "):
				byTrace++
			case c.Died != "":
				byQuery++
			}
			if (c.Died == "") != (d.Died == "") {
				t.Errorf("%s: %s: with traces %q, without %q", what, traced.Text(c), c.Died, d.Died)
			}
		}
	}
	for _, tt := range ruleTests {
		compare(t, tt.rule, func() *lockstep.Thread { return build(t, tt.before, tt.body) })
	}
	for seed := range int64(5) {
		k := gen.LoopState(rand.New(rand.NewSource(seed)))
		compare(t, k.PTX, func() *lockstep.Thread {
			for _, f := range kernels.PTX(t, k.PTX).Funcs {
				if !f.Kernel {
					continue
				}
				th, err := lockstep.Build(t.Context(), f, lockstep.Options{Geometry: event.Geometry{Grid: k.Grid, Block: k.Block, Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}})
				if no := (*lockstep.UnsupportedError)(nil); errors.As(err, &no) {
					return nil
				}
				if err != nil {
					t.Fatal(err)
				}
				return th
			}
			return nil
		})
	}
	t.Logf("%d candidates dropped by traces, %d by queries; %d queries, %d without traces", byTrace, byQuery, queries, without)
	if byTrace < byQuery {
		t.Errorf("traces drop %d candidates, queries %d: they are not worth their while", byTrace, byQuery)
	}
}

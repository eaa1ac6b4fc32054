package invariant_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/invariant"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/thread"
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

// TestPick: a quarter of all choices are below 8, each as often, and the others are from the table,
// each as often. 768 choices are 24 of each of the first and 24 of each of the others.
func TestPick(t *testing.T) {
	const each = 24
	n := map[uint64]int{}
	for r := range uint64(4 * 8 * each) {
		n[invariant.Pick(r)]++
	}
	want := map[uint64]int{}
	for v := range uint64(8) {
		want[v] += each
	}
	for _, v := range invariant.Numbers {
		want[v] += 3 * 8 * each / len(invariant.Numbers)
	}
	for v, k := range want {
		if n[v] != k {
			t.Errorf("%d is chosen %d times, want %d", v, n[v], k)
		}
	}
	if len(n) != len(want) {
		t.Errorf("%d values are chosen, want %d", len(n), len(want))
	}
}

// TestTraceOfTwoLoops: a trace goes on behind a loop that ends within its bounds, so that it drops
// candidates of the second loop too. Behind one that does not, nothing is known: there the second
// loop is left to queries.
func TestTraceOfTwoLoops(t *testing.T) {
	for _, tt := range []struct {
		turns  int
		traced bool
	}{{3, true}, {100, false}} {
		first := fmt.Sprintf(`mov.u32 %%x2, 0; mov.u32 %%x6, 0; mov.u32 %%x1, 0;
EARLY: add.u32 %%x6, %%x6, 1; xor.b32 %%x2, %%x2, %%n; mul.lo.u32 %%x2, %%x2, %%m;
	setp.lt.u32 %%p6, %%x6, %d; @%%p6 bra EARLY;`, tt.turns)
		th := build(t, first, sometimes+"@%p5 add.u32 %x1, %x1, 3;")
		second := slices.IndexFunc(th.Loops, func(l thread.Loop) bool {
			return slices.ContainsFunc(l.Slots, func(s thread.Slot) bool { return s.Name == "%x1" && !s.Closed })
		})
		if len(th.Loops) != 2 || second < 0 {
			t.Fatalf("%d loops, %d changes x1", len(th.Loops), second)
		}
		traced := 0
		for _, c := range invariant.Find(t.Context(), th, solvers(), invariant.MaxSteps).Candidates {
			if c.Loop == second && strings.Contains(c.Died, " of trace ") {
				traced++
			}
		}
		if traced > 0 != tt.traced {
			t.Errorf("%d turns of the first loop: traces drop %d candidates of the second", tt.turns, traced)
		}
	}
}

// TestTraceNumbers: traces that reach a loop are counted from 1, and no 12 of them in turn drop
// nothing while there are more.
func TestTraceNumbers(t *testing.T) {
	last := 0
	for _, tt := range ruleTests {
		numbers := map[int]bool{}
		set := invariant.Find(t.Context(), build(t, tt.before, tt.body), solvers(), invariant.MaxSteps)
		for _, c := range set.Candidates {
			var k, number int
			if n, _ := fmt.Sscanf(c.Died, "false in iteration %d of trace %d", &k, &number); n == 2 {
				numbers[number] = true
			}
		}
		idle := 0 // in turn
		for i := 1; i <= slices.Max(append(slices.Collect(maps.Keys(numbers)), 0)); i++ {
			if idle++; numbers[i] {
				last, idle = max(last, i), 0
			}
			if idle > 12 {
				t.Errorf("%s: trace %d, behind 12 that dropped nothing", tt.rule, i)
			}
		}
	}
	if last < 2 {
		t.Errorf("all is dropped by trace %d: the loops are entered by each", last)
	}
}

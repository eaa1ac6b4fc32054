package place

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// randomKernel draws a kernel with at most limit places for barriers.
func randomKernel(r *rand.Rand, limit int, jumps bool) *stmt {
	left := limit - 1 // the start of the kernel is one
	address := func() expr {
		plus, arr, every, level := r.IntN(3), r.IntN(2), r.IntN(3), r.IntN(3)
		return func(t int, it []int) int {
			v := 1000*arr + 10*t
			if plus > 0 {
				v = 1000*arr + 10*((t+plus)%threads)
			}
			if every == 0 && level < len(it) { // another element in each iteration
				v += it[level]
			}
			return v
		}
	}
	accesses := func() []access {
		var out []access
		for range 1 + r.IntN(4)/3 {
			out = append(out, access{r.IntN(5) < 2, address()})
		}
		return out
	}
	guard := func(depth int) expr {
		switch n := r.IntN(6); {
		case n < 2 && depth > 0: // the same for all threads
			level, from := r.IntN(depth), r.IntN(3)
			return func(_ int, it []int) int { return b2i(it[level] >= from) }
		case n == 2 && depth > 0: // for some iterations only
			level := r.IntN(depth)
			return func(t int, it []int) int { return b2i(it[level] == 0 || t%2 == 0) }
		case n == 3:
			return lanes(func(t int) bool { return t < threads })
		default:
			m := 2 + r.IntN(3)
			return lanes(func(t int) bool { return t%m == 0 })
		}
	}
	var block func(depth, nest int) []*stmt
	block = func(depth, nest int) []*stmt {
		var out []*stmt
		for n := 1 + r.IntN(4); n > 0 && left > 0; n-- {
			left--
			switch k := r.IntN(10); {
			case k < 2 && nest < 4 && left > 1:
				left--
				s := cond(guard(depth), block(depth, nest+1)...)
				if r.IntN(5) == 0 {
					s.reading(rd(address()))
				}
				out = append(out, s)
			case k < 4 && depth < 3 && nest < 4 && left > 1:
				left--
				trips := 1 + r.IntN(3)
				c := times(trips)
				if r.IntN(5) == 0 {
					c = func(t int, it []int) int { return b2i(it[len(it)-1] < trips+t%2) }
				}
				s := loop(c, block(depth+1, nest+1)...)
				if r.IntN(5) == 0 {
					s.reading(rd(address()))
				}
				out = append(out, s)
			case k == 4 && jumps:
				out = append(out, leave(guard(depth)))
			case k == 5:
				out = append(out, do())
			default:
				s := do(accesses()...)
				s.closed = r.IntN(12) == 0
				out = append(out, s)
			}
			if r.IntN(10) == 0 {
				out[len(out)-1].barrier = out[len(out)-1].kind == Stmt && len(out[len(out)-1].accesses) == 0 && !out[len(out)-1].jump
			}
		}
		return out
	}
	return kernel(block(0, 0)...)
}

func (s *stmt) print(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%d: kind %d accesses %d jump %v closed %v\n", indent, s.label, s.kind, len(s.accesses), s.jump, s.closed)
	for _, k := range s.body {
		k.print(b, indent+"  ")
	}
}

// unsureOracle is an exactOracle that takes each way of a race across iterations for possible if
// one is.
type unsureOracle struct{ exactOracle }

func (o *unsureOracle) Check(ctx context.Context, p Placement) (*Answer, error) {
	a, err := o.exactOracle.Check(ctx, p)
	for i := range a.Races {
		for j := range a.Races[i].Paths {
			if j > 0 && a.Races[i].Paths[j] != 0 {
				a.Races[i].Paths[j] = Near | Far
			}
		}
	}
	return a, err
}

// mayExecuteBetween reports whether a barrier after l may execute between the two accesses of a
// reason, in iterations that are as far apart as the reason states.
func mayExecuteBetween(t *Tree, why Reason, l Label) bool {
	all := *why.Race
	all.Paths = slices.Repeat([]Path{Near | Far}, len(t.Labels))
	return slices.ContainsFunc(newText(t).constraints(&all), func(c *constraint) bool {
		return c.level == why.Level && c.loop == why.Loop && slices.Contains(c.wide, l)
	})
}

// On random kernels every search finds a placement if trying all of them does, and only then; every
// placement is right; with an oracle that knows the paths of a race none is cheaper.
func TestAgainstAllPlacements(t *testing.T) {
	n, limit := 1500, 10
	if long.All() {
		n, limit = 60000, 13
	}
	r := rand.New(rand.NewPCG(2026, 11))
	repairable, calls, most, beyond := 0, 0, 0, 0
	for i := range n {
		jumps := i%2 == 0
		k := randomKernel(r, limit, jumps)
		w := explore(k)
		if len(w.pairs) == 0 {
			continue
		}
		best, found := w.best(DefaultCost)
		repairable += b2i(found)
		fail := func(format string, args ...any) {
			t.Helper()
			b := &strings.Builder{}
			k.print(b, "")
			t.Fatalf("kernel %d: %s\n%spairs %v, divergent %b", i, fmt.Sprintf(format, args...), b, w.pairs, w.divergent)
		}
		exact := exactOracle{w: w, paths: true, single: i%3 == 0, ahead: i%5 == 0}
		blind := exact
		blind.paths = false
		for _, c := range []struct {
			name   string
			oracle Oracle
			alg    Algorithm
			best   bool // it must find the best
			all    bool // it must find one if there is one
		}{
			{"exact", &exact, Exact, true, true},
			{"exact, paths unsure", &unsureOracle{exact}, Exact, false, false},
			{"exact, paths unknown", &blind, Exact, false, true},
			{"Algorithm 1", &blind, Paper, false, false},
			{"naive", &blind, Naive, false, true},
		} {
			res, err := Synthesize(t.Context(), w.t, c.oracle, Options{Algorithm: c.alg, MaxCalls: 500})
			if err != nil {
				fail("%s: %v", c.name, err)
			}
			switch {
			case res.Found && !w.right(labelSet(res.Placement)):
				fail("%s: %v is not right", c.name, res.Placement.Labels())
			case res.Found && less(res.Cost, best):
				fail("%s: cost %v below the least, %v", c.name, res.Cost, best)
			case !res.Found && found && c.all:
				fail("%s: nothing found, best costs %v: %+v", c.name, best, res)
			case !res.Found && res.GaveUp == "" && len(res.Stuck) == 0:
				fail("%s: nothing found and nothing said", c.name)
			case !res.Found && len(res.Stuck) > 0 && found && c.alg != Naive && c.name != "exact, paths unsure":
				fail("%s: stuck, but there is a placement", c.name)
			case (c.best || res.Optimal && c.name != "exact, paths unsure") && found && res.Found && less(best, res.Cost):
				fail("%s: %v costs %v, best %v (optimal: %v)", c.name, res.Placement.Labels(), res.Cost, best, res.Optimal)
			case c.best && res.Found && !res.Optimal:
				fail("%s: not said to be the best", c.name)
			}
			for _, l := range res.Placement.Labels() {
				if c.alg != Naive && len(res.Reasons[l]) == 0 {
					fail("%s: no reason for the barrier after %d", c.name, l)
				}
				for _, why := range res.Reasons[l] {
					if !mayExecuteBetween(w.t, why, l) {
						fail("%s: the barrier after %d is not between %+v", c.name, l, why)
					}
				}
			}
			if c.name == "exact" {
				calls += res.Calls
				most = max(most, res.Calls)
			}
			if c.name == "Algorithm 1" && res.Found && less(best, res.Cost) {
				beyond++
			}
		}
	}
	t.Logf("%d kernels, %d with a right placement, %.1f calls each and at most %d; Algorithm 1 was not best on %d", n, repairable, float64(calls)/float64(n), most, beyond)
	if repairable < n/20 || beyond == 0 {
		t.Errorf("the kernels are too easy: %d of %d can be repaired, Algorithm 1 misses the best of %d", repairable, n, beyond)
	}
}

// Barriers that stand are kept where others cost the same, and taken away where they are not
// needed.
func TestImprove(t *testing.T) {
	barrier := func() *stmt { return &stmt{kind: Stmt, barrier: true} }
	early, late, after := barrier(), barrier(), barrier()
	k := kernel(do(rd(tid(1))), early, do(), late, do(wr(tid(0))), after)
	w := explore(k)
	for _, c := range []struct {
		strip bool
		want  []Label
	}{
		{false, []Label{late.label}}, // one of the two is enough; of two that stand the nearer one
		{true, []Label{late.label}},
	} {
		r, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: true}, Options{Strip: c.strip})
		if err != nil || fmt.Sprint(r.Placement.Labels()) != fmt.Sprint(c.want) {
			t.Errorf("strip %v: %+v, %v; want %v", c.strip, r, err, c.want)
		}
	}
	k = kernel(do(rd(tid(1))), early, do(), do(wr(tid(0))))
	w = explore(k)
	r, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: true}, Options{})
	if err != nil || labelSet(r.Placement) != 1<<early.label {
		t.Errorf("the barrier that stands goes for another of the same cost: %+v, %v", r, err)
	}
	if r, err = Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: true}, Options{Strip: true}); err != nil || labelSet(r.Placement) == 1<<early.label {
		t.Errorf("with Strip the nearest place is taken: %+v, %v", r, err)
	}
}

// A race that no barrier can separate is named, with the cause.
func TestStuck(t *testing.T) {
	same := lanes(func(int) bool { return true })
	half := lanes(func(t int) bool { return t%2 == 0 })
	zero := func(int, []int) int { return 0 }
	closed := do(rd(tid(1)))
	closed.closed = true
	for _, c := range []struct {
		name  string
		k     *stmt
		cause Cause
	}{
		{"a write that races with itself", kernel(do(wr(zero))), NoPlace},
		{"a write and a read in one statement", kernel(do(rd(tid(1)), wr(tid(0)))), NoPlace},
		{"both in a conditional that not all threads enter", kernel(cond(half, do(rd(tid(2))), do(wr(tid(0))))), Diverges},
		{"no place in between", kernel(closed, do(wr(tid(0)))), ClosedPlace},
		{"across iterations of a loop that some threads leave earlier", kernel(loop(func(t int, it []int) int { return b2i(it[0] < 2+t%2) }, do(wr(func(t int, it []int) int { return (t + it[0]) % threads })))), Diverges},
		{"beside one that can be", kernel(do(rd(tid(1))), cond(same, do(wr(tid(0)))), do(wr(in(1, zero)))), NoPlace},
	} {
		w := explore(c.k)
		for _, paths := range []bool{true, false} {
			opt := Options{Partial: true}
			part, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: paths}, opt)
			if err != nil || !part.Found || len(part.Stuck) != 1 || part.Stuck[0].Cause != c.cause {
				t.Errorf("%s, in part: %+v, %v; want stuck by %d", c.name, part, err, c.cause)
			}
			if beside := c.name == "beside one that can be"; beside != (len(part.Placement) > 0) {
				t.Errorf("%s, in part: %v", c.name, part.Placement)
			}
			r, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: paths}, Options{})
			if err != nil || r.Found || len(r.Stuck) != 1 || r.Stuck[0].Cause != c.cause {
				t.Errorf("%s: %+v, %v; want stuck by %d", c.name, r, err, c.cause)
			}
		}
	}
}

// A race whose paths are unknown is stuck where barriers at all places do not separate it. The cause
// is divergence if not all threads reach such a place.
func TestStuckEverywhere(t *testing.T) {
	first, inner, second := do(rd(tid(1))), do(), do(wr(tid(0)))
	between := cond(lanes(func(t int) bool { return t%2 == 0 }), inner)
	first.closed, between.closed = true, true
	k := kernel(first, between, second)
	tree := k.number()
	for _, c := range []struct {
		diverges []Label
		want     Cause
	}{
		{nil, Useless}, {[]Label{second.label}, Useless}, {[]Label{inner.label}, Diverges},
	} {
		o := everywhereOracle{Race{A: first.label, B: second.label}, c.diverges}
		r, err := Synthesize(t.Context(), tree, o, Options{})
		if err != nil || r.Found || len(r.Stuck) != 1 || r.Stuck[0].Cause != c.want {
			t.Errorf("places %v diverge: %+v, %v; want stuck by %d", c.diverges, r, err, c.want)
		}
	}
}

// everywhereOracle reports a race under every placement, and which barriers diverge.
type everywhereOracle struct {
	race     Race
	diverges []Label
}

func (everywhereOracle) Name() string { return "everywhere" }

func (o everywhereOracle) Check(_ context.Context, p Placement) (*Answer, error) {
	a := &Answer{Races: []Race{o.race}}
	for _, l := range o.diverges {
		if p[l] {
			a.Divergences = append(a.Divergences, l)
		}
	}
	return a, nil
}

// The two texts of a race of a statement with itself stay in the order of the oracle, and those of
// other races follow the source.
func TestOrderOfTexts(t *testing.T) {
	a, b := do(rd(tid(1))), do(wr(tid(0)))
	x := newText(kernel(a, b).number())
	for _, c := range []struct {
		first, second Label
		want          string
	}{
		{a.label, b.label, "one and two"}, {b.label, a.label, "two and one"},
		{b.label, b.label, "one and two"},
	} {
		r := &Race{A: c.first, B: c.second, Texts: [2]string{"one", "two"}}
		if x.order(r); r.Why() != c.want || r.A > r.B {
			t.Errorf("%d and %d: %+v, want %s", c.first, c.second, r, c.want)
		}
	}
}

// Races between blocks do not ask for barriers, and are handed on.
func TestOtherBlocks(t *testing.T) {
	w := explore(kernel(do(rd(tid(0))), do(wr(tid(0)))))
	o := &farOracle{exactOracle{w: w, paths: true}}
	r, err := Synthesize(t.Context(), w.t, o, Options{})
	if err != nil || !r.Found || len(r.Placement) != 0 || len(r.OtherBlocks) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

type farOracle struct{ exactOracle }

func (o *farOracle) Check(ctx context.Context, p Placement) (*Answer, error) {
	a, err := o.exactOracle.Check(ctx, p)
	a.Races = append(a.Races, Race{A: 2, B: 3, OtherBlock: true})
	return a, err
}

// With Keep a barrier stays although nothing needs it, unless it diverges.
func TestKeep(t *testing.T) {
	half := lanes(func(t int) bool { return t%2 == 0 })
	barrier := func() *stmt { return &stmt{kind: Stmt, barrier: true} }
	needed, spare, odd := barrier(), barrier(), barrier()
	k := kernel(do(rd(tid(1))), needed, spare, do(wr(tid(0))), cond(half, odd), do(rd(tid(1))))
	w := explore(k)
	r, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: true}, Options{Keep: true})
	if err != nil || !r.Found || !r.Placement[needed.label] || !r.Placement[spare.label] ||
		r.Placement[odd.label] || len(r.Placement) != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A barrier in a loop that diverges does not move out of the loop: behind it a barrier executes once,
// which is another program. So the best place is the one before the access, as without that barrier.
func TestNotMovedOutOfLoop(t *testing.T) {
	odd := &stmt{kind: Stmt, barrier: true}
	before := do()
	w := explore(kernel(do(rd(tid(1))), loop(both(every(2), below(1, 0)), odd), before,
		do(wr(tid(0)))))
	r, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: true}, Options{Keep: true})
	if err != nil || !r.Found || !r.Placement[before.label] || len(r.Placement.Labels()) != 1 {
		t.Errorf("%+v, %v; want a barrier at %d", r, err, before.label)
	}
}

// A barrier that diverges moves behind the block that holds it, although another place of that cost is
// closer to the access.
func TestMovedBehindBlock(t *testing.T) {
	half := lanes(func(t int) bool { return t%2 == 0 })
	block := cond(half, &stmt{kind: Stmt, barrier: true})
	w := explore(kernel(do(rd(tid(1))), block, do(), do(wr(tid(0)))))
	r, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: true}, Options{})
	if err != nil || !r.Found || !r.Placement[block.label] || len(r.Placement.Labels()) != 1 {
		t.Errorf("%+v, %v; want a barrier at %d", r, err, block.label)
	}
}

// Of two places of one cost, the one in a function that is called at several places is the worse.
func TestKernelBeforeCallees(t *testing.T) {
	first, second := do(rd(tid(1))), do()
	w := explore(kernel(first, second, do(wr(tid(0)))))
	for _, same := range []int{0, 1} {
		w.t.Labels[second.label].Same = same
		r, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: true}, Options{})
		want := second.label // next to the access
		if same > 0 {
			want = first.label
		}
		if err != nil || !r.Found || !r.Placement[want] || len(r.Placement.Labels()) != 1 {
			t.Errorf("place %d: %+v, %v; want a barrier at %d", same, r, err, want)
		}
	}
}

// Of two places of one cost, the one in a statement without braces is the worse: it needs braces.
func TestBareBlock(t *testing.T) {
	first := do(rd(tid(1)))
	block := cond(lanes(func(int) bool { return true }), do(wr(tid(0))))
	w := explore(kernel(first, block))
	for _, bare := range []bool{false, true} {
		w.t.Labels[block.label].Bare = bare
		r, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: true},
			Options{Cost: Cost{Loop: 1, Cond: 1}})
		want := block.start // next to the access
		if bare {
			want = first.label
		}
		if err != nil || !r.Found || !r.Placement[want] || len(r.Placement.Labels()) != 1 {
			t.Errorf("bare %v: %+v, %v; want a barrier at %d", bare, r, err, want)
		}
	}
}

// A barrier costs less for each conditional around it, by the probability that its condition holds
// (section III.C), and more for each loop. The statement of a conditional without braces counts as
// the place behind the conditional, unless the barrier stands there already.
func TestCostInConditional(t *testing.T) {
	cost := Cost{Loop: 100, Cond: 0.5}
	for _, tt := range []struct {
		inner, outer  bool // have no braces
		barrier, loop bool // in the input; between the two conditionals
		want          float64
	}{
		{false, false, false, false, 0.25},
		{true, false, false, false, 0.5},
		{true, false, true, false, 0.25},
		{false, true, false, false, 0.25},
		{true, true, false, false, 0.5},
		{false, true, true, true, 25},
		{true, true, false, true, 50},
	} {
		tree := &Tree{Labels: []Node{
			{Parent: None}, {Parent: 0, Kind: Cond, Bare: tt.outer}, {Parent: 1, Kind: Loop},
			{Parent: 1, Kind: Cond, Bare: tt.inner}, {Parent: 3, Barrier: tt.barrier},
		}}
		if tt.loop {
			tree.Labels[3].Parent = 2
		}
		if got := cost.Of(tree, 4); got != tt.want {
			t.Errorf("%+v: cost %v", tt, got)
		}
	}
}

// What does not separate a race in a block that holds neither access is no better at the other
// places of the block that the same threads reach. Around an access, each place is of its own.
func TestUseless(t *testing.T) {
	every := lanes(func(int) bool { return true })
	x, y, z := do(), do(), do()
	first, last := do(rd(tid(1))), do(wr(tid(0)))
	tree := kernel(first, cond(every, x, y), z, last).number()
	text := newText(tree)
	cs := text.constraints(&Race{A: first.label, B: last.label, Paths: []Path{Near}})
	if len(cs) != 1 {
		t.Fatalf("%d constraints", len(cs))
	}
	for _, c := range []struct {
		at       *stmt
		too, not []*stmt
	}{
		{x, []*stmt{x, y}, []*stmt{z, first}},
		{z, []*stmt{z}, []*stmt{x, y, first}},
	} {
		got := text.useless(cs[0], Placement{c.at.label: true})
		for _, s := range c.too {
			if !got[s.label] {
				t.Errorf("a barrier at %d does not separate, and %d is not excluded", c.at.label, s.label)
			}
		}
		for _, s := range c.not {
			if got[s.label] {
				t.Errorf("a barrier at %d does not separate, and %d is excluded", c.at.label, s.label)
			}
		}
	}
}

// An oracle that never has enough does not hold a search up for ever.
func TestGivesUp(t *testing.T) {
	w := explore(kernel(do(rd(tid(1))), do(), do(), do(wr(tid(0)))))
	r, err := Synthesize(t.Context(), w.t, stubbornOracle{}, Options{MaxCalls: 3})
	if err != nil || r.Found || r.Calls > 3 || r.GaveUp == "" {
		t.Errorf("%+v, %v", r, err)
	}
	// Left alone it comes to an end too: each call takes labels away.
	r, err = Synthesize(t.Context(), w.t, stubbornOracle{}, Options{})
	if err != nil || r.Found || len(r.Stuck) != 1 || r.Stuck[0].Cause != Useless {
		t.Errorf("%+v, %v", r, err)
	}
}

// An oracle that names something else than labels of the tree is wrong.
func TestOutsideTheTree(t *testing.T) {
	w := explore(kernel(do(rd(tid(1))), do(wr(tid(0)))))
	n := Label(len(w.t.Labels))
	for _, c := range []struct {
		a, b Label
		want bool // an error
	}{{0, n - 1, false}, {n - 1, 0, false}, {-1, 1, true}, {1, -1, true}, {n, 1, true}, {1, n, true}} {
		_, err := Synthesize(t.Context(), w.t, raceOracle{c.a, c.b}, Options{MaxCalls: 3})
		if (err != nil) != c.want {
			t.Errorf("a race of %d and %d of %d labels: %v", c.a, c.b, n, err)
		}
	}
}

// raceOracle always reports a race of two labels.
type raceOracle [2]Label

func (raceOracle) Name() string { return "race" }

func (o raceOracle) Check(context.Context, Placement) (*Answer, error) {
	return &Answer{Races: []Race{{A: o[0], B: o[1], Paths: []Path{Near}}}}, nil
}

type stubbornOracle struct{}

func (stubbornOracle) Name() string { return "stubborn" }
func (stubbornOracle) Check(context.Context, Placement) (*Answer, error) {
	return &Answer{Races: []Race{{A: 2, B: 5, Paths: []Path{Near}}}}, nil
}

// Labels in post-order, with what an interval of section III.B holds: the paper's example on figure
// 6.
func TestIntervals(t *testing.T) {
	l3, l6 := do(rd(tid(2))), do(wr(tid(0)))
	first, second := cond(lanes(func(int) bool { return true }), l3), cond(lanes(func(int) bool { return true }), l6)
	k := kernel(do(), first, second)
	tree := k.number()
	x := newText(tree)
	interval := func(a, b Label) string {
		r := &Race{A: a, B: b, Paths: []Path{Near}}
		return fmt.Sprint(x.constraints(r)[0].narrow)
	}
	// [3, 6) = {3, 2:4, 5:7_s}
	if got, want := interval(l3.label, l6.label), fmt.Sprint([]Label{first.label, l3.label, second.start}); got != want {
		t.Errorf("[3, 6) = %s, want %s", got, want)
	}
	// [3, 5:7) = {3, 2:4}: here the statement 5:7 stands for its condition
	if got, want := interval(l3.label, second.label), fmt.Sprint([]Label{first.label, l3.label}); got != want {
		t.Errorf("[3, 5:7) = %s, want %s", got, want)
	}
}

// What was measured replaces the model.
func TestMeasuredCost(t *testing.T) {
	mid := do()
	k := kernel(do(rd(tid(1))), loop(times(1), mid), do(wr(tid(0))))
	w := explore(k)
	for l := range w.t.Labels {
		w.t.Labels[l].Trips = 8
	}
	w.t.Labels[mid.label].Trips = 1
	r, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: true}, Options{})
	if err != nil || !r.Found || r.Cost > 8 {
		t.Errorf("%+v, %v", r, err)
	}
}

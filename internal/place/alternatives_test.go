package place

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestAlternatives: of the placements with at most two barriers, each right one is among those that
// may be right, for random kernels; none of them has more barriers, or has one that is known to
// diverge, and none has no barrier if there are races.
func TestAlternatives(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	right, wrong := 0, 0
	for i := range 400 {
		k := randomKernel(r, 8, i%2 == 0)
		w := explore(k)
		a, err := (&exactOracle{w: w, paths: true, ahead: true}).Check(t.Context(), Placement{})
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 { // a race of two blocks asks for no barrier
			a.Races = append(a.Races, Race{A: 1, B: 1, Paths: []Path{Near}, OtherBlock: true})
		}
		listed := map[uint64]bool{}
		list := Alternatives(w.t, a, 2, 10000)
		if few := Alternatives(w.t, a, 2, 3); len(few) != min(3, len(list)) {
			t.Fatalf("kernel %d: %d of %d placements with a limit of 3", i, len(few), len(list))
		}
		for _, p := range list {
			set := labelSet(p)
			if listed[set] {
				t.Fatalf("kernel %d: %b is listed twice", i, set)
			}
			listed[set] = true
			if bits.OnesCount64(set) > 2 || set&w.divergent != 0 {
				t.Fatalf("kernel %d: barriers %b, of which %b diverge", i, set, set&w.divergent)
			}
			if set == 0 && len(w.pairs) > 0 {
				t.Fatalf("kernel %d: no barrier for %d races", i, len(w.pairs))
			}
		}
		all := w.open()
		for set := all; ; set = (set - 1) & all {
			if bits.OnesCount64(set) <= 2 {
				if w.right(set) && !listed[set] {
					b := &strings.Builder{}
					k.print(b, "")
					t.Fatalf("kernel %d: %b is right and not listed\n%s", i, set, b)
				}
				if w.right(set) {
					right++
				} else if !listed[set] {
					wrong++
				}
			}
			if set == 0 {
				break
			}
		}
	}
	if right < 1000 || wrong < 1000 {
		t.Errorf("%d right placements, %d wrong ones that are not listed", right, wrong)
	}
}

// TestAlternativesOfOnePlace: labels at one place in the source have a barrier all or none, and
// count as one.
func TestAlternativesOfOnePlace(t *testing.T) {
	first, second := do(rd(tid(1))), do()
	k := kernel(first, second, do(wr(tid(0))))
	w := explore(k)
	w.t.Labels[first.label].Same, w.t.Labels[second.label].Same = 3, 3
	a, err := (&exactOracle{w: w, paths: true}).Check(t.Context(), Placement{})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, p := range Alternatives(w.t, a, 1, 100) {
		if p[first.label] != p[second.label] {
			t.Errorf("a barrier at one of two labels of one place: %v", p.Labels())
		}
		found = found || p[first.label]
	}
	if !found {
		t.Error("the place is not among the alternatives")
	}
}

// TestBefore: accesses of one statement are not before each other.
func TestBefore(t *testing.T) {
	a, b := do(rd(tid(1))), do(wr(tid(0)))
	order := kernel(a, b).number().Order()
	if !order.Before(a.label, b.label) || order.Before(b.label, a.label) ||
		order.Before(a.label, a.label) {
		t.Error("the order of two statements is wrong")
	}
}

// TestSameThreads: the threads of a label reach its neighbours in the block too, up to a place at
// which some may leave.
func TestSameThreads(t *testing.T) {
	inner, next := do(), do()
	c := cond(lanes(func(int) bool { return true }), inner, next)
	first, exit, last := do(), leave(lanes(func(int) bool { return false })), do()
	k := kernel(first, c, exit, last)
	x := newText(k.number())
	for _, v := range []struct {
		of, want []Label
	}{
		{[]Label{k.start, first.label, c.label}, []Label{k.start, first.label, c.label}},
		{[]Label{c.start, inner.label, next.label}, []Label{c.start, inner.label, next.label}},
		{[]Label{exit.label, last.label}, []Label{exit.label, last.label}},
		{[]Label{k.label}, []Label{k.label}},
	} {
		for _, l := range v.of {
			if got := x.sameThreads(l); fmt.Sprint(got) != fmt.Sprint(v.want) {
				t.Errorf("the threads of %d reach %v, want %v", l, got, v.want)
			}
		}
	}
}

// TestFar: if either access may execute first, a barrier is sure to be between them only in blocks
// around both.
func TestFar(t *testing.T) {
	a, b := do(rd(tid(1))), do(wr(tid(0)))
	all := lanes(func(int) bool { return true })
	c, d := cond(all, a), cond(all, b)
	l := loop(times(2), c, d)
	tree := kernel(l).number()
	r := &Race{A: a.label, B: b.label, Paths: []Path{0, Far}}
	cs := newText(tree).constraints(r)
	if len(cs) == 0 {
		t.Fatal("no constraints")
	}
	for _, x := range cs {
		for label, want := range map[Label]bool{c.label: true, d.label: true, l.start: true,
			a.label: false, b.label: false, c.start: false, d.start: false} {
			if got := slices.Contains(x.narrow, label); got != want {
				t.Errorf("the barrier after %d is sure to be between: %v, want %v (%v)", label, got, want,
					x.narrow)
			}
		}
	}
}

// TestNear: within one iteration the path from one access to the other holds what is between them,
// and a barrier is as far ahead of the second access as there are places up to it.
func TestNear(t *testing.T) {
	a, x, y, b, after := do(rd(tid(1))), do(), do(), do(wr(tid(0))), do()
	tree := kernel(loop(times(2), a, x, y, b, after)).number()
	cs := newText(tree).constraints(&Race{A: a.label, B: b.label, Paths: []Path{Near}})
	if len(cs) != 1 {
		t.Fatalf("%d constraints", len(cs))
	}
	between := []Label{a.label, x.label, y.label}
	if fmt.Sprint(cs[0].wide) != fmt.Sprint(between) ||
		fmt.Sprint(cs[0].narrow) != fmt.Sprint(between) {
		t.Errorf("on the path %v and %v, want %v", cs[0].wide, cs[0].narrow, between)
	}
	for i, l := range between {
		if got, want := cs[0].ahead(l), len(between)-1-i; got != want {
			t.Errorf("the barrier after %d is %d places ahead, want %d", l, got, want)
		}
	}
}

// TestNearOfIterations: from one iteration to the next, what follows the second access in its block and
// what precedes the first one in its block executes whenever that access does.
func TestNearOfIterations(t *testing.T) {
	some := lanes(func(int) bool { return true })
	before, a, b, after := do(), do(rd(tid(1))), do(wr(tid(0))), do()
	tree := kernel(loop(times(2), cond(some, before, a), cond(some, b, after))).number()
	cs := newText(tree).constraints(&Race{A: a.label, B: b.label, Paths: []Path{0, Near}})
	if len(cs) != 1 {
		t.Fatalf("%d constraints", len(cs))
	}
	for _, l := range []Label{before.label, b.label} {
		if !slices.Contains(cs[0].narrow, l) {
			t.Errorf("the place after %d is not certain to be on the path: %v", l, cs[0].narrow)
		}
	}
	if got := tree.Depth(a.label); got != 3 {
		t.Errorf("the access is in %d blocks, want the condition, the loop and the kernel", got)
	}
}

// TestReasons: a barrier is there for the pairs that it alone separates.
func TestReasons(t *testing.T) {
	first := do(rd(in(0, tid(1))), rd(in(2, tid(1))))
	second := do(wr(in(0, tid(0))), rd(in(1, tid(1))))
	third := do(wr(in(1, tid(0))), wr(in(2, tid(0))))
	w := explore(kernel(first, second, third))
	want := map[Label]string{
		first.label:  fmt.Sprint(first.label, second.label),
		second.label: fmt.Sprint(second.label, third.label),
	}
	for _, paths := range []bool{true, false} { // known or not
		res, err := Synthesize(t.Context(), w.t, &exactOracle{w: w, paths: paths}, Options{})
		if err != nil || len(res.Placement.Labels()) != 2 {
			t.Fatalf("%+v, %v", res, err)
		}
		for l, pair := range want {
			rs := res.Reasons[l]
			if len(rs) != 1 {
				t.Errorf("reasons of the barrier after %d: %+v, want one", l, rs)
				continue
			}
			a, b := rs[0].Race.A, rs[0].Race.B
			if got := fmt.Sprint(min(a, b), max(a, b)); got != pair || rs[0].Path != Near {
				t.Errorf("the barrier after %d separates %s, path %v, want %s", l, got, rs[0].Path, pair)
			}
		}
	}
}

// TestReasonInConditional: no place outside a conditional can hold a barrier between the second and
// the third statement, and all threads enter the conditional. So the barrier inside it separates
// those two, and not the first two, although the label intervals of section III.B hold no place for
// it.
func TestReasonInConditional(t *testing.T) {
	first := do(rd(in(0, tid(1))))
	second := do(wr(in(0, tid(0))), rd(in(1, tid(1))))
	inside := do()
	middle := cond(lanes(func(int) bool { return true }), inside)
	third := do(wr(in(1, tid(0))))
	second.closed, middle.closed = true, true
	w := explore(kernel(first, second, middle, third))
	res, err := Synthesize(t.Context(), w.t, &exactOracle{w: w}, Options{}) // paths are unknown
	if err != nil || !res.Found || len(res.Placement.Labels()) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	for _, l := range res.Placement.Labels() {
		want := [2]Label{first.label, second.label}
		if l == middle.start || l == inside.label {
			want = [2]Label{second.label, third.label}
		}
		rs := res.Reasons[l]
		if len(rs) != 1 || [2]Label{rs[0].Race.A, rs[0].Race.B} != want {
			t.Errorf("reasons of the barrier after %d: %+v, want %v", l, rs, want)
		}
	}
}

// TestMostCalls: the oracle is never asked more often than allowed.
func TestMostCalls(t *testing.T) {
	k := kernel(do(rd(tid(1))), do(), do(), do(), do(), do(wr(tid(0))))
	for _, alg := range []Algorithm{Exact, Paper, Naive} {
		for most := 1; most < 6; most++ {
			calls := 0
			o := countingOracle{&calls}
			res, err := Synthesize(t.Context(), k.number(), o, Options{Algorithm: alg, MaxCalls: most})
			if err != nil || calls > most || res.Calls != calls || res.Found {
				t.Errorf("algorithm %v with %d calls: %d calls, %+v, %v", alg, most, calls, res, err)
			}
		}
	}
}

// countingOracle says that some barrier of each placement diverges, and that there is a race.
type countingOracle struct{ calls *int }

func (countingOracle) Name() string { return "counting" }

func (o countingOracle) Check(_ context.Context, p Placement) (*Answer, error) {
	*o.calls++
	a := &Answer{Races: []Race{{A: 2, B: 7}}}
	if ls := p.Labels(); len(ls) > 0 {
		a.Divergences = ls[:1]
	}
	return a, nil
}

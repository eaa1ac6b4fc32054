package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/memmodel"
	"heddle/internal/testing/long"
)

// class is what tells executions apart that differ in more than coherence order: sources and
// Fence-SC order.
func class(e *Execution) string {
	m := naive{rf: e.Graph.RF}
	for i := range e.Graph.Events {
		ev := &e.Graph.Events[i]
		m.ev = append(m.ev, naiveEvent{thread: ev.Thread, index: i, loc: ev.Loc})
	}
	n := len(m.ev)
	m.sc = table(n)
	for a := range n {
		for b := range n {
			m.sc[a][b] = e.Graph.Events[a].Order == event.SeqCst &&
				e.Graph.Events[b].Order == event.SeqCst && e.Graph.MorallyStrong(a, b) &&
				e.Derived.Base.Has(a, b)
		}
	}
	return m.key(table(n))
}

// racing returns the data races of an execution.
func racing(e *Execution) string {
	var races []string
	for _, p := range e.Derived.Races() {
		races = append(races, fmt.Sprint(p))
	}
	slices.Sort(races)
	return strings.Join(races, " ")
}

// TestAnyOrder: with one coherence order, the same sources and orders of fences are found, with the
// same races and ends, and each once if no thread waits. The expectation is the exploration of all
// orders, which TestBruteForce compares with the axioms.
func TestAnyOrder(t *testing.T) {
	n, states := 300, 600
	if long.All() {
		n, states = 10000, 5000
	}
	all, one := 0, 0
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 23))
		p, loops := randomProgram(r), seed%2 == 0
		if loops {
			p = randomLoops(r)
		}
		classes := func(any bool) (map[string]int, Stats) {
			out := map[string]int{}
			s, err := Explore(context.Background(), p, Options{Unroll: 1, AnyOrder: any, MaxStates: states},
				func(e *Execution) { out[fmt.Sprint(class(e), "; ", racing(e), "; ", e.End)]++ })
			if err != nil {
				t.Fatal(err)
			}
			return out, s
		}
		want, full := classes(false)
		if full.Stopped {
			continue
		}
		got, s := classes(true)
		all, one = all+full.Executions, one+s.Executions
		if lost := missing(want, got); len(lost) > 0 {
			t.Fatalf("seed %d: lost: %q%s", seed, lost, p)
		}
		for c, times := range got {
			if want[c] == 0 || times > 1 && !loops {
				t.Fatalf("seed %d: %s: found %d times, and with all orders %d%s", seed, c, times, want[c], p)
			}
		}
	}
	t.Logf("%d executions, %d with all coherence orders", one, all)
	if one == 0 || one > all*9/10 {
		t.Errorf("%d executions, %d with all coherence orders: the programs show too little", one, all)
	}
}

// TestStale: leaving out executions in which a thread waits with an old value loses no race, no
// final state and no execution that does not end. The expectation is the exploration with them.
func TestStale(t *testing.T) {
	n := 600
	if long.All() {
		n = 20000
	}
	left, compared := 0, 0
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 29))
		p := addressed(r, randomLoops(r))
		opt := Options{Unroll: 2, MaxStates: 4000, keepStale: true}
		want := finds(t, p, opt, true)
		opt.keepStale = false
		got := finds(t, p, opt, true)
		if want.stats.Stopped || got.stats.Stopped {
			continue
		}
		compared++
		left += got.stats.Stale
		for _, f := range []*found{want, got} {
			for state := range f.states {
				if f.states[state] = 1; strings.HasPrefix(state, fmt.Sprint(Prefix)) {
					delete(f.states, state)
				}
			}
		}
		if fmt.Sprint(want.states) != fmt.Sprint(got.states) {
			t.Fatalf("seed %d: final states %v, expected %v%s", seed, got.states, want.states, p)
		}
		if fmt.Sprint(want.races) != fmt.Sprint(got.races) {
			t.Fatalf("seed %d: races %v, expected %v%s", seed, got.races, want.races, p)
		}
	}
	t.Logf("%d programs compared, %d partial executions left out", compared, left)
	if compared < n*3/4 || left == 0 {
		t.Errorf("%d of %d programs compared, %d partial executions left out", compared, n, left)
	}
}

// counters makes a program of 2 to 4 threads that mostly update two locations, some of them if
// another value was loaded, and whose registers nobody reads at the end.
func counters(r *rand.Rand) *Program {
	p := &Program{Silent: true, Locations: []Location{{Name: "x"}, {Name: "y"}}}
	scopes := pick(r, []event.Scope{event.GPU}, []event.Scope{event.GPU},
		[]event.Scope{event.CTA, event.GPU})
	ctas := 1 + r.IntN(2)
	for t := range 2 + r.IntN(3) {
		th := Thread{Name: fmt.Sprint("P", t), Regs: make([]int64, 4)}
		th.Position.CTA = r.IntN(ctas)
		for range 1 + r.IntN(3) {
			switch r.IntN(6) {
			case 0:
				th.Code = append(th.Code, randomFence(r, scopes))
			case 1:
				th.Code = append(th.Code, Inst{Kind: Barrier, Dst: -1, Name: [2]Operand{Const(1), Const(0)}})
			}
			in := Inst{Kind: Update, Loc: r.IntN(2), Dst: 2, Args: []Operand{Const(int64(1 + r.IntN(2)))},
				Order: pick(r, event.Relaxed, event.Relaxed, event.Release, event.Acquire),
				Scope: pick(r, scopes...), Commutes: "add"}
			in.Eval = func(a []int64) (int64, bool) { return a[0] + a[1], true }
			if r.IntN(2) == 0 {
				in.Reduce, in.Dst, in.Order = true, -1, pick(r, event.Relaxed, event.Release)
			}
			switch r.IntN(4) {
			case 0:
				in = randomAccess(r, 2, 2, scopes)
			case 1:
				in.Args[0] = Reg(r.IntN(2)) // what was loaded
			}
			if r.IntN(6) == 0 { // not executed if what was loaded is 0
				th.Code = append(th.Code, unless(r.IntN(2), len(th.Code)+2))
			}
			th.Code = append(th.Code, in)
		}
		p.Threads = append(p.Threads, th)
	}
	return p
}

// unless is a branch that is taken if a register is 0.
func unless(reg, target int) Inst {
	return Inst{Kind: Branch, Dst: -1, Args: []Operand{Reg(reg)}, Target: target,
		Eval: func(a []int64) (int64, bool) { return 1 - min(a[0], 1), true }}
}

// missing returns what is in one set and not in another one.
func missing[V any](some, others map[string]V) (out []string) {
	for k := range some {
		if _, ok := others[k]; !ok {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// visible returns what tells executions apart but the order of updates: races, ends, and the values
// of loads and of locations.
func visible(t *testing.T, p *Program, opt Options) (map[string]bool, Stats) {
	t.Helper()
	out := map[string]bool{}
	s, err := Explore(context.Background(), p, opt, func(e *Execution) {
		var b strings.Builder
		fmt.Fprint(&b, racing(e), e.End)
		for i := range e.Graph.Events {
			if ev := &e.Graph.Events[i]; ev.Op == memmodel.Read {
				fmt.Fprint(&b, " ", ev.Thread, e.Sites[i], "=", e.Read(i))
			}
		}
		for l := range p.Locations {
			last := e.Last(l)
			slices.Sort(last)
			fmt.Fprint(&b, " ", last)
		}
		out[b.String()] = true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, s
}

// TestChains: one order of updates shows what all orders show: values of loads and of locations,
// and races. The expectation is the exploration of all orders.
func TestChains(t *testing.T) {
	n, states := 400, 600
	if long.All() {
		n, states = 10000, 5000
	}
	all, one, fewer, compared := 0, 0, 0, 0
	for seed := range n {
		p := counters(rand.New(rand.NewPCG(uint64(seed), 31)))
		want, full := visible(t, p, Options{MaxStates: states, keepChains: true})
		if full.Stopped {
			continue
		}
		compared++
		got, s := visible(t, p, Options{MaxStates: states})
		if all, one = all+full.Executions, one+s.Executions; s.Executions < full.Executions {
			fewer++
		}
		if lost, made := missing(want, got), missing(got, want); len(lost)+len(made) > 0 {
			t.Fatalf("seed %d: lost: %q, made up: %q%s", seed, lost, made, p)
		}
	}
	t.Logf("%d programs, %d with fewer executions: %d instead of %d", compared, fewer, one, all)
	if fewer < n/20 || compared < n/2 {
		t.Errorf("%d of %d programs compared, %d with fewer executions", compared, n, fewer)
	}
}

// TestExcludedEnd: a read that waits for a later update has excluded one that is there, and the
// updates of the location, in the order of their numbers as far as base causality order allows, end
// with that one. A chain would leave the read without a source (rule 3 of chain.go); what it showed
// then would be that of the exploration in which the read has the excluded update as its source.
// The expectation is the exploration of all orders.
func TestExcludedEnd(t *testing.T) {
	add := func(loc int) Inst {
		return Inst{Kind: Update, Loc: loc, Dst: -1, Reduce: true, Args: []Operand{Const(1)},
			Order: event.Relaxed, Scope: event.GPU, Commutes: "add",
			Eval: func(a []int64) (int64, bool) { return a[0] + a[1], true }}
	}
	load := func(loc, dst int, order event.Order) Inst {
		return Inst{Kind: Load, Loc: loc, Dst: dst, Order: order, Scope: event.GPU}
	}
	store := func(loc int, order event.Order) Inst {
		return Inst{Kind: Store, Loc: loc, Dst: -1, Args: []Operand{Const(2)}, Order: order,
			Scope: event.GPU}
	}
	const x, y, z, z2, w0, w1 = 0, 1, 2, 3, 4, 5
	p := &Program{Silent: true, Locations: []Location{{Name: "x"}, {Name: "y"}, {Name: "z", Value: 1},
		{Name: "z2", Value: 1}, {Name: "w0"}, {Name: "w1"}}}
	for i, code := range [][]Inst{
		{load(y, 0, event.Acquire), add(x), add(x), store(w0, event.Release)},
		{load(w0, 0, event.Acquire), load(w1, 1, event.Acquire), load(x, 2, event.Relaxed)},
		{load(z, 0, event.Relaxed), unless(0, 5), add(x), store(w1, event.Release),
			store(z2, event.Relaxed)},
		{load(z2, 0, event.Relaxed), unless(0, 5), add(x), store(y, event.Release), store(z, event.Relaxed)},
	} {
		th := Thread{Name: fmt.Sprint("P", i), Regs: make([]int64, 4), Code: code}
		th.Position.CTA = i
		p.Threads = append(p.Threads, th)
	}
	want, full := visible(t, p, Options{keepChains: true})
	got, s := visible(t, p, Options{})
	if lost, made := missing(want, got), missing(got, want); len(lost)+len(made) > 0 {
		t.Errorf("lost: %q, made up: %q", lost, made)
	}
	t.Logf("%d executions, %d with all orders; %d of %d results", s.Executions, full.Executions,
		len(got), len(want))
}

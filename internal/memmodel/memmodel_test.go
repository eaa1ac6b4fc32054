package memmodel

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/internal/event"
)

// place returns the position of a thread of a launch of one device.
func place(g event.Geometry, t event.Thread) Position {
	block := g.BlockOf(t.Warp())
	return Position{CTA: int(block), Cluster: int(g.ClusterOf(block))}
}

// TestEventAgrees: MorallyStrong and Conflict say the same as the definitions that the detector and
// the prover follow, for every pair of accesses of a small launch.
func TestEventAgrees(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 4, Y: 1, Z: 1}, Block: event.Dim3{X: 2, Y: 1, Z: 1},
		Cluster: event.Dim3{X: 2, Y: 1, Z: 1}}
	threads := []event.Thread{event.ThreadOf(0, 0), event.ThreadOf(0, 1), event.ThreadOf(1, 0),
		event.ThreadOf(2, 0)}
	kinds := map[event.Kind]Op{event.Read: Read, event.Write: Write, event.Atomic: Atomic,
		event.Reduce: Reduce}
	var ops []event.Op
	for _, th := range threads {
		for kind := range kinds {
			for order := event.Weak; order <= event.AcqRel; order++ {
				for scope := event.CTA; scope <= event.Sys; scope++ {
					for addr := range uint64(2) {
						ops = append(ops, event.Op{Thread: th, Kind: kind, Order: order, Scope: scope,
							Addr: addr * 4, Size: 4})
					}
				}
			}
		}
	}
	strong, races := 0, 0
	for _, a := range ops {
		for _, b := range ops {
			if a.Thread != threads[0] || b.Thread == threads[0] {
				continue // of one thread: program order makes them morally strong here, not there
			}
			g := Graph{Threads: []Position{place(geo, a.Thread), place(geo, b.Thread)}}
			for i, op := range []event.Op{a, b} {
				g.Add(Event{Thread: i, Op: kinds[op.Kind], Order: op.Order, Scope: op.Scope,
					Loc: int(op.Addr)})
			}
			if g.MorallyStrong(0, 0) {
				t.Fatal("an operation is morally strong relative to others only")
			}
			want := event.MorallyStrong(geo, a, b)
			if got := g.MorallyStrong(0, 1); got != want {
				t.Fatalf("MorallyStrong of %+v and %+v: %v, event says %v", a, b, got, want)
			}
			race := len(g.Derive().Races()) > 0
			if wantRace := event.Conflict(geo, a, b); race != wantRace {
				t.Fatalf("a race of %+v and %+v: %v, event.Conflict says %v", a, b, race, wantRace)
			}
			if want {
				strong++
			}
			if race {
				races++
			}
		}
	}
	if strong == 0 || races == 0 {
		t.Errorf("%d morally strong pairs and %d races: the test shows nothing", strong, races)
	}
}

// exec is a graph that is built step by step.
type exec struct{ Graph }

func (x *exec) thread(cta int) int {
	x.Threads = append(x.Threads, Position{CTA: cta, Cluster: cta})
	return len(x.Threads) - 1
}

func (x *exec) initial(locs int) {
	for l := range locs {
		x.Add(Event{Thread: Initial, Op: Write, Loc: l})
	}
}

func (x *exec) op(th int, op Op, order event.Order, loc int) int {
	e := Event{Thread: th, Op: op, Order: order, Loc: loc, Scope: event.GPU}
	if order == event.Weak {
		e.Scope = event.NoScope
	}
	return x.Add(e)
}

// TestAxioms has for each axiom a graph that violates it and, by its text, no axiom before it in
// the order of Violated.
func TestAxioms(t *testing.T) {
	for _, c := range []struct {
		name  string
		want  Axiom
		build func(*exec)
	}{
		// 8.10.1: two stores of one thread precede each other in causality order by program order; a
		// decided coherence order the other way contradicts it.
		{"coherence", Coherence, func(x *exec) {
			x.initial(1)
			p := x.thread(0)
			a, b := x.op(p, Write, event.Weak, 0), x.op(p, Write, event.Weak, 0)
			x.CO = []Pair{{b, a}}
		}},
		// 8.10.2: a barrier orders the first fence before the second in base causality order; Fence-SC
		// order the other way contradicts it.
		{"Fence-SC", FenceSC, func(x *exec) {
			p, q := x.thread(0), x.thread(0)
			f := x.op(p, Fence, event.SeqCst, 0)
			b := x.op(p, Sync, event.Weak, 0)
			c := x.op(q, Sync, event.Weak, 0)
			x.Events[b].Generation, x.Events[c].Generation = 1, 1
			x.SC = []Pair{{x.op(q, Fence, event.SeqCst, 0), f}}
		}},
		// 8.10.3: a strong store between what an atomic reads and writes.
		{"atomicity", Atomicity, func(x *exec) {
			x.initial(1)
			p, q := x.thread(0), x.thread(1)
			a := x.op(p, Atomic, event.Relaxed, 0)
			w := x.op(q, Write, event.Relaxed, 0)
			x.RF[a] = 0
			x.CO = []Pair{{w, a}}
		}},
		// 8.10.4: each of two threads stores what it loads from the other.
		{"no thin air", NoThinAir, func(x *exec) {
			x.initial(2)
			p, q := x.thread(0), x.thread(1)
			r := x.op(p, Read, event.Relaxed, 0)
			w := x.op(p, Write, event.Relaxed, 1)
			s := x.op(q, Read, event.Relaxed, 1)
			v := x.op(q, Write, event.Relaxed, 0)
			x.Events[w].Data.Add(r)
			x.Events[v].Data.Add(s)
			x.RF[r], x.RF[s] = v, w
		}},
		// A store that a thread observes precedes the store that the thread makes later in causality
		// order (8.9.5), and so in coherence order.
		{"coherence through observation", Coherence, func(x *exec) {
			x.initial(1)
			p, q := x.thread(0), x.thread(1)
			w := x.op(p, Write, event.Relaxed, 0)
			r := x.op(q, Read, event.Relaxed, 0)
			v := x.op(q, Write, event.Relaxed, 0)
			x.RF[r] = w
			x.CO = []Pair{{v, w}}
		}},
		// 8.10.6, 1: a load returns the value of a later store of its own thread.
		{"causality, from the future", Causality, func(x *exec) {
			x.initial(1)
			p := x.thread(0)
			r := x.op(p, Read, event.Weak, 0)
			x.RF[r] = x.op(p, Write, event.Weak, 0)
		}},
		// 8.10.6, 2: a load behind a store of its own thread returns the initial value.
		{"causality, from the past", Causality, func(x *exec) {
			x.initial(1)
			p := x.thread(0)
			x.op(p, Write, event.Weak, 0)
			x.RF[x.op(p, Read, event.Weak, 0)] = 0
		}},
		// An atomic does not read what it writes itself.
		{"its own value", Causality, func(x *exec) {
			x.initial(1)
			a := x.op(x.thread(0), Atomic, event.Relaxed, 0)
			x.Events[a].Blind = true
			x.RF[a] = a
		}},
		// The store is observed by the first load and so precedes the second in causality order
		// (8.9.5).
		{"a later read of an older value", Causality, func(x *exec) {
			x.initial(1)
			p, q := x.thread(0), x.thread(1)
			w := x.op(p, Write, event.Relaxed, 0)
			x.RF[x.op(q, Read, event.Relaxed, 0)] = w
			x.RF[x.op(q, Read, event.Relaxed, 0)] = 0
		}},
		// An atomic that precedes, in coherence order, the strong write whose value it returns: their
		// communication goes both ways (8.10.5).
		{"an atomic before what it reads", SCPerLocation, func(x *exec) {
			x.initial(1)
			p, q := x.thread(0), x.thread(1)
			w := x.op(p, Write, event.Relaxed, 0)
			a := x.op(q, Atomic, event.Relaxed, 0)
			x.RF[a] = w
			x.CO = []Pair{{a, w}}
		}},
	} {
		var x exec
		c.build(&x)
		if got := x.Derive().Violated(); got != c.want {
			t.Errorf("%s: violates %v, expected %v", c.name, got, c.want)
		}
	}
}

// TestAxiomNames: each axiom has the name and the section of the PTX ISA.
func TestAxiomNames(t *testing.T) {
	for a := Coherence; a <= Causality; a++ {
		if a.String() == "" || a.Section()[:5] != "8.10." {
			t.Errorf("axiom %d: name %q, section %q", a, a, a.Section())
		}
	}
}

// TestSet: sets and relations against their definitions, beyond one word.
func TestSet(t *testing.T) {
	var s Set
	for _, e := range []int{3, 64, 127} {
		s.Add(e)
	}
	var got []int
	for e := range s.All {
		got = append(got, e)
	}
	if got := len(slices.Collect(Set{}.All)); got != 0 {
		t.Errorf("the empty set has %d elements", got)
	}
	if len(got) != 3 || got[0] != 3 || got[1] != 64 || got[2] != 127 || s.Has(4) {
		t.Errorf("elements %v, expected 3, 64 and 127", got)
	}
	const n = 300
	r := newRel(n)
	for i := range n - 1 {
		r.Add(i, i+1)
	}
	r.close()
	if !r.Has(0, n-1) || r.Has(1, 0) || r.cyclic() {
		t.Error("the closure of a chain relates an event to all later ones and to no earlier one")
	}
	if inv := r.then(r); inv.Has(0, 1) || !inv.Has(0, 2) {
		t.Error("a composition relates what is two steps apart")
	}
	r.Add(n-1, 0)
	if !r.cyclic() {
		t.Error("a closed chain is a cycle")
	}
}

// TestSetOperations: sets of few and of many events, and rows of relations, do what maps do.
func TestSetOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		n := []int{60, 128, 129, 200, 700}[r.IntN(5)]
		var a, b Set
		ma, mb := map[int]bool{}, map[int]bool{}
		for range r.IntN(6) {
			e := r.IntN(n)
			a.Add(e)
			ma[e] = true
		}
		for range r.IntN(6) {
			e := r.IntN(n)
			if r.IntN(2) == 0 && len(ma) > 0 {
				e = slices.Collect(maps.Keys(ma))[0]
			}
			b.Add(e)
			mb[e] = true
		}
		union := a
		union.Union(b)
		row, both := newRel(n), newRel(n)
		row.Row(0).unionSet(&a)
		row.Row(1).unionSet(&b)
		both.Row(0).unionBoth(row.Row(0), row.Row(1))
		for _, c := range []struct {
			what string
			got  []int
			in   func(e int) bool
		}{
			{"a", slices.Collect(a.All), func(e int) bool { return ma[e] }},
			{"union", slices.Collect(union.All), func(e int) bool { return ma[e] || mb[e] }},
			{"and", slices.Collect(a.And(b).All), func(e int) bool { return ma[e] && mb[e] }},
			{"minus", slices.Collect(a.Minus(b).All), func(e int) bool { return ma[e] && !mb[e] }},
			{"row", slices.Collect(row.Row(0).All), func(e int) bool { return ma[e] }},
			{"both", slices.Collect(both.Row(0).All), func(e int) bool { return ma[e] && mb[e] }},
		} {
			var want []int
			for e := range n {
				if c.in(e) {
					want = append(want, e)
				}
			}
			if !slices.Equal(c.got, want) {
				t.Fatalf("%s of %v and %v: %v, expected %v", c.what, ma, mb, c.got, want)
			}
		}
		again := a.Minus(b)
		again.Union(a.And(b))
		if again != a || a.Has(n+64) || a.Empty() != (len(ma) == 0) ||
			row.Row(0).Within(b) != (len(ma) == len(slices.Collect(a.And(b).All))) {
			t.Fatalf("%v and %v: the parts of a set are the set", ma, mb)
		}
	}
}

package thread_test

import (
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// TestTickets: of additions to one counter that are executed one after the other, by different
// threads, any two results satisfy the formula; equal results do not.
func TestTickets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := smt.New()
		s := thread.NewSlots(c)
		o := &thread.Object{Name: "n", Space: event.Global}
		zero := thread.Tag{Barrier: c.Const(0, thread.TagWidth)}
		down := rapid.Bool().Draw(t, "down")
		variable := !down && rapid.Bool().Draw(t, "variable")
		least := uint64(1)
		if variable {
			least = 0
		}
		adds := rapid.SliceOfN(rapid.Uint64Range(least, 5), 2, 6).Draw(t, "adds")
		total := uint64(0)
		for _, n := range adds {
			total += n
		}
		if rapid.Bool().Draw(t, "unbounded") {
			total = 0
		}
		at := uint64(rapid.Uint32().Draw(t, "start"))
		var tickets []thread.Ticket
		var results []smt.Term
		for _, n := range adds {
			x := thread.Ticket{Object: o, Offset: c.Const(0, 64), Start: zero, Warp: zero, Grid: zero,
				Add: n, By: smt.False, Guard: smt.True, Down: down, Total: total}
			if variable {
				x.Add, x.By = 5, c.Const(n, 32)
			}
			tickets = append(tickets, x)
			results = append(results, c.Const(at, 32))
			if down {
				n = -n
			}
			at = uint64(uint32(at + n))
		}
		for i := range tickets {
			for j := range tickets {
				f := s.Apart(tickets[i], tickets[j], results[i], results[j], false)
				if i != j && f != smt.True {
					t.Fatalf("additions %d and %d of %v (down %v, total %d): %s", i, j, adds, down, total, c.String(f))
				}
				if i == j && f != smt.False && adds[i] != 0 {
					t.Fatalf("two additions may return the same: %s", c.String(f))
				}
			}
		}
	})
}

// TestTicketsOfStoredCounters: a store to the counter leaves only additions of one interval apart.
func TestTicketsOfStoredCounters(t *testing.T) {
	c := smt.New()
	s := thread.NewSlots(c)
	o := &thread.Object{Name: "n", Space: event.Shared}
	tag := func(n uint64) thread.Tag { return thread.Tag{Barrier: c.Const(n, thread.TagWidth)} }
	ticket := func(start uint64, stored bool) thread.Ticket {
		return thread.Ticket{
			Object: o, Offset: c.Const(0, 64), Start: tag(start), Warp: tag(start), Grid: tag(0), Add: 1,
			By: smt.False, Guard: smt.True, Stored: stored,
		}
	}
	r := c.Const(7, 32)
	for _, tt := range []struct {
		name       string
		a, b       thread.Ticket
		otherBlock bool
		want       smt.Term
	}{
		{"one interval", ticket(1, true), ticket(1, true), false, smt.False},
		{"two intervals", ticket(1, true), ticket(2, true), false, smt.True},
		{"two intervals without a store", ticket(1, false), ticket(2, false), false, smt.False},
		{"shared memory of two blocks", ticket(1, false), ticket(1, false), true, smt.True},
	} {
		if got := s.Apart(tt.a, tt.b, r, r, tt.otherBlock); got != tt.want {
			t.Errorf("%s: equal results: %s", tt.name, c.String(got))
		}
	}
}

// TestTicketsNotMade: what a thread would add says nothing if it makes no addition.
func TestTicketsNotMade(t *testing.T) {
	c := smt.New()
	s := thread.NewSlots(c)
	o := &thread.Object{Space: event.Global}
	ticket := func(made smt.Term) thread.Ticket {
		return thread.Ticket{Object: o, Offset: c.Const(0, 64), By: c.Const(1<<32-1, 32), Guard: made}
	}
	r, q := c.Const(7, 32), c.Const(9, 32)
	if got := s.Apart(ticket(smt.True), ticket(smt.False), r, q, false); got != smt.True {
		t.Errorf("two threads: %s", c.String(got))
	}
	if got := s.Repeated(ticket(smt.False), ticket(smt.True), r, q); got != smt.True {
		t.Errorf("one thread: %s", c.String(got))
	}
	if got := s.Apart(ticket(smt.True), ticket(smt.True), r, q, false); got != smt.False {
		t.Errorf("both made: %s", c.String(got))
	}
	constant := ticket(smt.False)
	constant.Add, constant.By, constant.Total = 4, smt.False, 4 // no room for a second result
	if got := s.Apart(ticket(smt.True), constant, r, q, false); got != smt.True {
		t.Errorf("a constant: %s", c.String(got))
	}
}

// TestAxioms: an instance of an axiom is for the arguments of the symbol, and brings in the axioms
// of the symbols in it, as deep as asked for.
func TestAxioms(t *testing.T) {
	c := smt.New()
	a := thread.NewAxioms(c)
	k := c.Var(symbol.Counter+"0", 32)
	f := func(at smt.Term) smt.Term { return symbol.Apply(c, symbol.Block+"h0.0", 32, at) }
	a.Define(symbol.Block+"h0.0", []smt.Term{k}, c.Eq(f(k), c.AddConst(f(c.AddConst(k, ^uint64(0))), 1)))
	i := c.Var("i", 32)
	q := []smt.Term{c.Ult(f(i), c.Const(9, 32))}
	for depth := range 4 {
		if got := len(a.For(q, depth)); got != depth {
			t.Errorf("%d axioms at depth %d", got, depth)
		}
	}
	if got, want := a.For(q, 1)[0], c.Eq(f(i), c.AddConst(f(c.AddConst(i, ^uint64(0))), 1)); got != want {
		t.Errorf("%s, want %s", c.String(got), c.String(want))
	}
	if !a.About(f(i)) || a.About(i) || !a.Defined(symbol.Block+"h0.0") || a.Defined("other") {
		t.Error("the wrong symbols are defined")
	}
}

// TestWidest: a launch that is arbitrary is bounded by what devices run.
func TestWidest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := func(name string) event.Dim3 {
			n := rapid.Uint32Range(1, 10)
			return event.Dim3{X: n.Draw(t, name), Y: n.Draw(t, name), Z: n.Draw(t, name)}
		}
		g := event.Geometry{Grid: dim("grid"), Block: dim("block")}
		var any thread.Any
		for i := range 3 {
			any.Block[i], any.Grid[i] = rapid.Bool().Draw(t, "block"), rapid.Bool().Draw(t, "grid")
		}
		w := any.Widest(g, rapid.Bool().Draw(t, "OpenCL"))
		was, is := thread.Array(g.Block), thread.Array(w.Block)
		fixed := uint32(1)
		for i := range 3 {
			if !any.Block[i] {
				fixed *= was[i]
			}
			if !any.Block[i] && is[i] != was[i] {
				t.Fatalf("%v becomes %v though only %v is arbitrary", g, w, any)
			}
		}
		for i := range 3 {
			if any.Block[i] && is[i]*fixed > max(thread.MaxThreads, fixed) {
				t.Fatalf("%v threads of a block", is)
			}
		}
	})
}

// TestTicketsOfOneThread: of two additions by one thread to a counter that nothing else changes,
// the later one returns more; the thread may reset a counter that is stored to.
func TestTicketsOfOneThread(t *testing.T) {
	c := smt.New()
	slots := thread.NewSlots(c)
	o := &thread.Object{Space: event.Global}
	ticket := func(by smt.Term, stored bool) thread.Ticket {
		return thread.Ticket{Object: o, Offset: c.Const(0, 64), By: by, Guard: smt.True,
			Stored: stored}
	}
	m, n := c.Var("m", 32), c.Var("n", 32)
	r, s := c.Var("r", 32), c.Var("s", 32)
	if slots.Repeated(ticket(m, true), ticket(n, true), r, s) != smt.True {
		t.Error("something is said of a counter that is stored to")
	}
	says := slots.Repeated(ticket(m, false), ticket(n, false), r, s)
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Uint64Range(0, 1<<20)
		vars := map[string]uint64{"m": size.Draw(t, "m"), "n": size.Draw(t, "n"),
			"r": rapid.Uint64Range(0, 1<<32-1).Draw(t, "r")}
		vars["s"] = (vars["r"] + vars["m"] + size.Draw(t, "others")) & (1<<32 - 1)
		if !c.Evaluate(&smt.Model{Vars: vars}).Holds(says) {
			t.Fatalf("%v does not hold", vars)
		}
	})
}

// An access is assumed to be aligned if its size is a power of two and its address does not show it
// (PTX ISA 5.1, "aligned to a multiple of the access size").
func TestAssumesAligned(t *testing.T) {
	c := smt.New()
	open := c.Var("i", 64)
	for _, tt := range []struct {
		name   string
		offset smt.Term
		size   int
		want   bool
	}{
		{"at a constant", c.Const(8, 64), 4, false},
		{"at a multiple", c.Mul(c.Const(4, 64), open), 4, false},
		{"at a multiple of less", c.Mul(c.Const(4, 64), open), 8, true},
		{"anywhere", open, 4, true},
		{"a byte anywhere", open, 1, false},
		{"a size that is no power of two", c.Const(8, 64), 12, false},
	} {
		a := thread.Access{Offset: tt.offset, Size: tt.size}
		for _, th := range []*thread.Thread{
			{Context: c, Accesses: []thread.Access{a}}, {Context: c, Own: []thread.Access{a}},
		} {
			if got := th.AssumesAligned(); got != tt.want {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
		}
	}
}

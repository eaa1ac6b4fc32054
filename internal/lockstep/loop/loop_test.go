package loop_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/ir/irtest"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/loop"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

const registers = 4

// body computes the registers after an iteration from those before it.
type body func(c *smt.Context, before []smt.Term) []smt.Term

// bench is a loop that changes four registers.
type bench struct {
	c    *smt.Context
	t    *loop.Table
	info *loop.Info
	init []smt.Term
}

// learn runs passes until nothing changes: the registers begin with init, and an iteration is body.
func learn(t rapid.TB, init []uint64, next body, back func(c *smt.Context, k smt.Term) smt.Term) *bench {
	f := irtest.Fun("k", irtest.Regs("r0 u32", "r1 u32", "r2 u32", "r3 u32", "p pred"),
		irtest.Block("entry", irtest.Op("mov.u32", "r0", 0)),
		irtest.Block("loop", irtest.Op("add.u32", "r0", "r0", "r1"), irtest.Op("add.u32", "r1", "r1", "r2"),
			irtest.Op("add.u32", "r2", "r2", "r3"), irtest.Op("add.u32", "r3", "r3", "r0"), irtest.If("p", "loop")),
		irtest.Block("exit", irtest.Op("ret")))
	k, err := kernel.Analyze(f, kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := smt.New()
	b := &bench{c: c, t: loop.New(c, k, symbol.NewUniformity(c))}
	b.info = b.t.Of(k.Loops()[0])
	for _, v := range init {
		b.init = append(b.init, c.Const(v, 32))
	}
	if n := len(b.info.Slots()); n != registers {
		t.Fatalf("%d slots", n)
	}
	for pass := 0; pass < 30; pass++ {
		b.t.Begin(pass < 2)
		b.info.Enter(nil, smt.True)
		var head []smt.Term
		for i, s := range b.info.Slots() {
			head = append(head, b.info.At(s, b.init[i]))
		}
		after := next(c, head)
		goes := c.And(b.info.Act(), back(c, b.info.Counter))
		b.info.Learn(loop.Iteration{
			Back: goes, Exits: []smt.Term{c.Not(goes)}, Next: func(i int) smt.Term { return after[i] },
		})
		if pass >= 2 && !b.t.Changed() {
			return b
		}
	}
	t.Fatal("the passes do not end")
	return nil
}

// steps are what an iteration may do to register i.
var steps = []struct {
	name string
	do   func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term
}{
	{"keep", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term { return r[i] }},
	{"add", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term { return c.AddConst(r[i], n) }},
	{"shl", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term {
		return c.Shl(r[i], c.Const(n%4+1, 32))
	}},
	{"lshr", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term {
		return c.LShr(r[i], c.Const(n%4+1, 32))
	}},
	{"ashr", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term {
		return c.AShr(r[i], c.Const(n%4+1, 32))
	}},
	{"halve", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term { // signed division by 2
		return c.AShr(c.Add(r[i], c.LShr(r[i], c.Const(31, 32))), c.Const(1, 32))
	}},
	{"next", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term { return r[(i+1)%registers] }},
	{"complement", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term {
		return c.Sub(c.Const(n, 32), r[i])
	}},
	{"flip", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term { return c.BvXor(r[i], c.Const(n, 32)) }},
	{"sum", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term { return c.Add(r[i], r[(i+1)%registers]) }},
	{"set", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term { return c.Const(n, 32) }},
	{"double the next", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term {
		return c.MulConst(r[(i+1)%registers], 2)
	}},
	{"conditional", func(c *smt.Context, r []smt.Term, i int, n uint64) smt.Term {
		return c.Ite(c.Ult(r[(i+1)%registers], r[i]), c.AddConst(r[i], 4), c.AddConst(r[i], 8))
	}},
}

// TestForms: the closed form of a register has the value that the iterations compute, in each of
// them; and the axiom of a register without one relates the values of two iterations.
func TestForms(t *testing.T) {
	closed, open := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var init []uint64
		var chosen []int
		var ns []uint64
		for range registers {
			init = append(init, uint64(rapid.Uint32().Draw(t, "init")))
			chosen = append(chosen, rapid.IntRange(0, len(steps)-1).Draw(t, "step"))
			ns = append(ns, uint64(rapid.SampledFrom([]uint32{0, 1, 3, 4, 64, 1 << 31, 1<<32 - 1}).Draw(t, "n")))
		}
		next := func(c *smt.Context, r []smt.Term) []smt.Term {
			out := make([]smt.Term, registers)
			for i := range out {
				out[i] = steps[chosen[i]].do(c, r, i, ns[i])
			}
			return out
		}
		b := learn(t, init, next, func(c *smt.Context, _ smt.Term) smt.Term { return c.BoolVar(symbol.Block + "go") })
		slots := b.t.Describe()[0].Slots
		axioms := thread.NewAxioms(b.c)
		b.t.Define(axioms)
		now := slices.Clone(b.init)
		funcs := map[string]map[string]uint64{} // the values of the symbols
		last := map[string]uint64{}             // what the iteration before made of them
		for k := range uint64(40) {
			for _, s := range slots {
				if s.Closed {
					closed++
					continue
				}
				open++
				name, v := b.c.Name(s.Symbol), last[s.Name]
				if k == 0 {
					v, _ = b.c.Value(s.Init)
				}
				if funcs[name] == nil {
					funcs[name] = map[string]uint64{}
				}
				funcs[name][smt.Key([]uint64{k})] = v
			}
			e := b.c.Evaluate(&smt.Model{Vars: map[string]uint64{b.c.Name(b.info.Counter): k}, Funcs: funcs})
			for i, s := range b.info.Slots() {
				want, _ := b.c.Value(now[i])
				if got := e.Value(b.info.At(s, b.init[i])); got != want {
					t.Fatalf("iteration %d of %s: r%d is %#x, want %#x", k, names(chosen, ns), i, got, want)
				}
			}
			for _, s := range slots {
				last[s.Name] = e.Value(s.Next)
			}
			now = next(b.c, now)
		}
		for k := range uint64(40) {
			m := &smt.Model{Vars: map[string]uint64{b.c.Name(b.info.Counter): k}, Funcs: funcs}
			for _, s := range slots {
				if s.Closed {
					continue
				}
				for _, ax := range axioms.For([]smt.Term{s.Symbol}, 1) {
					if !b.c.Evaluate(m).Holds(ax) {
						t.Fatalf("iteration %d of %s: the axiom of %s is false: %s", k, names(chosen, ns), s.Name, b.c.String(ax))
					}
				}
			}
		}
	})
	if closed < open {
		t.Errorf("%d values by closed forms, %d without: the test shows little", closed, open)
	}
}

func names(chosen []int, ns []uint64) string {
	out := ""
	for i, s := range chosen {
		out += fmt.Sprintf("r%d: %s %#x; ", i, steps[s].name, ns[i])
	}
	return out
}

// TestKnownForms: the loops that compilers write have closed forms.
func TestKnownForms(t *testing.T) {
	for _, tt := range []struct {
		name string
		next body
	}{
		{"counters", func(c *smt.Context, r []smt.Term) []smt.Term {
			return []smt.Term{c.AddConst(r[0], 1), c.AddConst(r[1], 1<<32-4), r[2], c.Add(r[3], r[2])}
		}},
		{"shifts", func(c *smt.Context, r []smt.Term) []smt.Term {
			one := c.Const(1, 32)
			return []smt.Term{c.Shl(r[0], one), c.LShr(r[1], one), c.AShr(r[2], one), r[3]}
		}},
		{"a swap and a rotation", func(c *smt.Context, r []smt.Term) []smt.Term {
			return []smt.Term{r[1], r[2], r[0], c.Sub(c.Const(1, 32), r[3])}
		}},
	} {
		b := learn(t, []uint64{1, 20, 300, 4000}, tt.next, func(c *smt.Context, _ smt.Term) smt.Term {
			return c.BoolVar(symbol.Block + "go")
		})
		for _, s := range b.t.Describe()[0].Slots {
			if !s.Closed {
				t.Errorf("%s: %s has no closed form: %s", tt.name, s.Name, b.c.String(s.At))
			}
		}
	}
}

// TestTripBounds: the axioms of a counting loop bound the iterations that a thread executes, and do
// not exclude any that it does execute.
func TestTripBounds(t *testing.T) {
	for _, step := range []uint64{1, 2, 3, 4, 1<<32 - 1, 1<<32 - 2} {
		for _, init := range []uint64{0, 7, 20, 1<<31 - 3, 1 << 31, 1<<32 - 5} {
			for _, bound := range []uint64{0, 1, 9, 16, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1} {
				for kind := range 5 {
					tripBounds(t, init, step, bound, kind)
				}
			}
		}
	}
}

// goesOn is one of five conditions to continue, on a counter v and a bound n.
func goesOn(c *smt.Context, kind int, v, n smt.Term) smt.Term {
	switch kind {
	case 0:
		return c.Ult(v, n)
	case 1:
		return c.Slt(v, n)
	case 2:
		return c.Ule(v, n)
	case 3:
		return c.Sle(n, v)
	}
	return c.Not(c.Eq(v, n))
}

// counting learns a loop that counts from init by step and goes on by a comparison with n of the
// grid. It returns the axioms about whether a thread executes an iteration, and the symbol of that.
func counting(t *testing.T, init, step uint64, kind int) (*bench, []smt.Term, smt.Term) {
	t.Helper()
	next := func(c *smt.Context, r []smt.Term) []smt.Term {
		return []smt.Term{c.AddConst(r[0], step), r[1], r[2], r[3]}
	}
	b := learn(t, []uint64{init, 0, 0, 0}, next, func(c *smt.Context, k smt.Term) smt.Term {
		return goesOn(c, kind, c.AddConst(c.MulConst(k, step), init), c.Var(symbol.Grid+"n", 32))
	})
	axioms := thread.NewAxioms(b.c)
	b.t.Define(axioms)
	act := b.t.Describe()[0].Act
	return b, axioms.For([]smt.Term{act}, 1), act
}

// tripBounds checks the axioms of a loop that counts from init by step, against a bound.
func tripBounds(t *testing.T, init, step, bound uint64, kind int) {
	b, about, act := counting(t, init, step, kind)
	in, v := true, init
	funcs := map[string]map[string]uint64{b.c.Name(act): {}}
	for k := range uint64(25) { // the iterations that the thread executes
		funcs[b.c.Name(act)][smt.Key([]uint64{k})] = map[bool]uint64{true: 1}[in]
		e := b.c.Evaluate(&smt.Model{
			Vars: map[string]uint64{b.c.Name(b.info.Counter): k, symbol.Grid + "n": bound}, Funcs: funcs,
		})
		for _, ax := range about {
			if !e.Holds(ax) {
				t.Fatalf("iteration %d (executed: %v), from %d by %d to %d, comparison %d: false axiom %s",
					k, in, init, step, bound, kind, b.c.String(ax))
			}
		}
		in = in && goesOn(b.c, kind, b.c.Const(v, 32), b.c.Const(bound, 32)) == smt.True
		v = uint64(uint32(v + step))
	}
}

// TestTripBoundsHold: an iteration behind the last one is excluded, for each comparison and for
// counters that go up and, with != and >=, down.
func TestTripBoundsHold(t *testing.T) {
	for _, tt := range []struct {
		kind              int
		init, step, bound uint64
		trips             uint64 // how often the condition holds
	}{
		{0, 0, 1, 9, 9}, {0, 7, 2, 16, 5}, {0, 0, 3, 10, 4}, {1, 0, 1, 9, 9}, {1, 1<<32 - 5, 2, 4, 5},
		{2, 0, 1, 9, 10}, {2, 7, 4, 16, 3}, {3, 20, 1<<32 - 1, 16, 5}, {4, 0, 1, 9, 9}, {4, 8, 2, 16, 4},
		{4, 1<<32 - 5, 1, 4, 9}, {4, 20, 1<<32 - 2, 16, 2}, {4, 0, 8, 64, 8}, {4, 5, 1, 5, 0},
	} {
		b, about, act := counting(t, tt.init, tt.step, tt.kind)
		iterations := map[string]uint64{} // that the thread executes
		for k := range tt.trips + 20 {
			iterations[smt.Key([]uint64{k})] = 1
			e := b.c.Evaluate(&smt.Model{
				Vars:  map[string]uint64{b.c.Name(b.info.Counter): k, symbol.Grid + "n": tt.bound},
				Funcs: map[string]map[string]uint64{b.c.Name(act): iterations},
			})
			hold := !slices.ContainsFunc(about, func(ax smt.Term) bool { return !e.Holds(ax) })
			if want := k <= tt.trips; hold != want {
				t.Errorf("comparison %d from %d by %d to %d: iteration %d is possible: %v", tt.kind, tt.init,
					tt.step, tt.bound, k, hold)
				break
			}
		}
	}
}

// TestUndefined: a register that nothing has written at the entry has no closed form, and makes no
// axiom.
func TestUndefined(t *testing.T) {
	next := func(c *smt.Context, r []smt.Term) []smt.Term { return slices.Clone(r) }
	b := learn(t, []uint64{0, 0, 0, 0}, next, func(c *smt.Context, _ smt.Term) smt.Term {
		return c.BoolVar(symbol.Block + "go")
	})
	b.info.At(b.info.Slots()[0], join.Undefined)
	for _, s := range b.t.Describe()[0].Slots {
		if s.Name == "r0" {
			t.Error("an undefined register is described")
		}
	}
}

// TestNeverRepeats: of a loop that no thread repeats, nothing is known of an iteration's end. So
// nothing is described: a closed form would say what later iterations find.
func TestNeverRepeats(t *testing.T) {
	next := func(_ *smt.Context, r []smt.Term) []smt.Term {
		return slices.Repeat([]smt.Term{join.Undefined}, len(r))
	}
	b := learn(t, []uint64{1, 20, 300, 4000}, next, func(*smt.Context, smt.Term) smt.Term { return smt.False })
	for _, l := range b.t.Describe() {
		for _, s := range l.Slots {
			t.Errorf("%s is described: %s", s.Name, b.c.String(s.At))
		}
	}
}

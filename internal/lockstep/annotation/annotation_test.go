package annotation_test

import (
	"errors"
	"fmt"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/ir/irtest"
	"heddle/internal/isa"
	"heddle/internal/lockstep/annotation"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// bench is an execution outside loops that a test drives call by call. It is the Host, and the Env
// of memory.
type bench struct {
	c     *smt.Context
	m     *memory.Model
	a     *annotation.Annotations
	th    *thread.Thread
	s     *thread.Object
	final bool
	n     int

	notes annotation.State
	mem   memory.State
	guard smt.Term
}

func (b *bench) Final() bool                              { return b.final }
func (b *bench) Settling() bool                           { return false }
func (b *bench) Outer() smt.Term                          { return smt.True }
func (b *bench) Around() []*ir.Loop                       { return nil }
func (b *bench) Counters() []smt.Term                     { return nil }
func (b *bench) Place(*ir.Instr) thread.Place             { return thread.Place{} }
func (b *bench) Reached(ir.BlockID) smt.Term              { return smt.True }
func (b *bench) Entered(*ir.Loop) smt.Term                { return smt.True }
func (b *bench) Last(*ir.Loop) smt.Term                   { return b.c.Const(0, 32) }
func (b *bench) Propose(*ir.Loop, smt.Term)               {}
func (b *bench) Record(a thread.Access)                   { b.th.Accesses = append(b.th.Accesses, a) }
func (b *bench) Guard() smt.Term                          { return b.guard }
func (b *bench) Fixed(*ir.Var, int, int) (smt.Term, bool) { return 0, false }
func (b *bench) SignExtend(t smt.Term) smt.Term           { return b.c.SExt(t, 64) }
func (b *bench) Pause()                                   {}
func (b *bench) Unknown(kind string, w int) smt.Term {
	b.n++
	return b.c.Var(fmt.Sprintf("%s%s%d", symbol.Private, kind, b.n), w)
}

// call is a call of an annotation with arguments, and what it returned.
type call struct {
	*bench
	in     *ir.Instr
	args   []smt.Term
	result smt.Term
}

func (s *call) Instr() *ir.Instr         { return s.in }
func (s *call) Reach() smt.Term          { return smt.True }
func (s *call) Notes() *annotation.State { return &s.notes }
func (s *call) Memory() *memory.State    { return &s.mem }
func (s *call) SetResult(v smt.Term)     { s.result = v }
func (s *call) Argument(i, w int) smt.Term {
	if s.c.Width(s.args[i]) > w {
		return s.c.Extract(s.args[i], 0, w)
	}
	return s.c.ZExt(s.args[i], w)
}
func (s *call) Access(in *ir.Instr, o *thread.Object) thread.Access {
	return thread.Access{Instr: in, Object: o, Space: o.Space}
}

func newBench(t *testing.T) *bench {
	f := irtest.Fun("k", irtest.Var("s", event.Shared, 64, 16), irtest.Block("b", irtest.Op("ret")))
	k, err := kernel.Analyze(f, kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{c: smt.New(), guard: smt.True}
	b.m = memory.New(b.c, k, b, memory.Options{})
	b.a = annotation.New(b.c, k, b.m, b, false)
	b.s = b.m.Object(f.Vars[0], 0)
	b.pass(true)
	return b
}

// pass starts a pass.
func (b *bench) pass(final bool) {
	b.final, b.th = final, &thread.Thread{Context: b.c}
	b.m.Begin()
	b.a.Begin(b.th)
	b.notes, b.mem = annotation.Entry(), b.m.Entry()
}

// call executes __heddle_name(args). Index tells calls apart.
func (b *bench) call(index int, name string, args ...smt.Term) smt.Term {
	in := &ir.Instr{Index: index, Guard: ir.NoReg, Callee: &ir.Func{Name: ir.AnnotationPrefix + name}}
	in.Desc, _ = isa.Decode("call", nil)
	in.Src = make([]ir.Operand, len(args))
	s := &call{bench: b, in: in, args: args}
	b.a.Call(s, name)
	return s.result
}

// state executes an annotation of a condition.
func (b *bench) state(index int, name string, cond smt.Term) {
	b.call(index, "ghost")
	b.call(index+1, name, b.c.Ite(cond, b.c.Const(1, 32), b.c.Const(0, 32)), b.c.Const(0, 32))
}

// TestStatements: assertions are recorded, and every condition is known behind its annotation, but
// not in front of it.
func TestStatements(t *testing.T) {
	b := newBench(t)
	p, q := b.c.BoolVar("p"), b.c.BoolVar("q")
	b.state(1, "assume", p)
	b.state(3, "assert", q)
	if got, want := b.a.Here(&b.notes, smt.True), b.c.And(p, q); got != want {
		t.Errorf("%s is known, want %s", b.c.String(got), b.c.String(want))
	}
	if got := b.a.Bare(smt.True, smt.True); got != smt.True {
		t.Errorf("without annotations %s is known", b.c.String(got))
	}
	if len(b.th.Assertions) != 2 {
		t.Fatalf("%d assertions", len(b.th.Assertions))
	}
	assumed, asserted := b.th.Assertions[0], b.th.Assertions[1]
	if assumed.Kind != thread.Assumed || assumed.Cond != p || assumed.Guard != smt.True {
		t.Errorf("%v", assumed)
	}
	if asserted.Kind != thread.Asserted || asserted.Cond != q || asserted.Guard != p {
		t.Errorf("%v: want %s under %s", asserted, b.c.String(q), b.c.String(p))
	}
}

// TestGuards: an annotation under a guard makes its condition known where the guard holds.
func TestGuards(t *testing.T) {
	b := newBench(t)
	p, g := b.c.BoolVar("p"), b.c.BoolVar("g")
	b.guard = g
	b.state(1, "assume", p)
	if got, want := b.a.Here(&b.notes, smt.True), b.c.Implies(g, p); got != want {
		t.Errorf("%s is known, want %s", b.c.String(got), b.c.String(want))
	}
}

// TestPreconditions: what a kernel requires fixes parameters in the next pass, and is known from the
// entry on.
func TestPreconditions(t *testing.T) {
	b := newBench(t)
	name := symbol.ParamName(&ir.Var{Name: "n"}, 0, 32)
	n := b.c.Var(name, 32)
	b.state(1, "requires", b.c.Eq(n, b.c.Const(64, 32)))
	if v, ok := b.a.Given(name); !ok || v != b.c.Const(64, 32) || !b.a.Changed() {
		t.Errorf("n is given: %v, another pass: %v", ok, b.a.Changed())
	}
	if got := b.a.AllGiven()[name]; got != 64 {
		t.Errorf("n is %d", got)
	}
	b.pass(true)
	b.state(1, "requires", b.c.Eq(n, b.c.Const(64, 32)))
	if b.a.Changed() {
		t.Error("nothing is learned twice")
	}
}

// TestOther: a value of the other thread is a symbol, which Others explains.
func TestOther(t *testing.T) {
	b := newBench(t)
	v := b.c.Var(symbol.Private+"v", 64)
	b.call(1, "ghost")
	r := b.call(2, "other", v)
	o, ok := b.th.Others[b.c.Name(r)]
	if !ok || o.Value != v || o.Here != smt.True {
		t.Fatalf("%s: %v", b.c.String(r), o)
	}
	b.call(3, "ghost")
	u := b.call(4, "uniform", v)
	if got := b.call(5, "distinct", v); u == got {
		t.Error("uniform is distinct")
	}
}

// TestOutside: what a condition may ask has no meaning elsewhere.
func TestOutside(t *testing.T) {
	b := newBench(t)
	defer func() {
		no, ok := recover().(*thread.UnsupportedError)
		if err := (*thread.UnsupportedError)(nil); !ok || !errors.As(no, &err) {
			t.Error("not refused")
		}
	}()
	b.call(1, "other", b.c.Const(0, 64))
}

// TestLoads: a condition is about what memory holds when the annotation is executed, and its loads
// are reported, so that another thread's write to them is noticed.
func TestLoads(t *testing.T) {
	b := newBench(t)
	load := &ir.Instr{Index: 9, Guard: ir.NoReg}
	load.Desc, _ = isa.Decode("ld", []string{"shared", "u32"})
	b.call(1, "ghost")
	at := b.c.AddConst(b.m.Base(b.s), 8)
	sym := b.a.Load(load, at, 0, 4, b.c.Const(7, 32))
	b.call(2, "assert", b.c.Ite(b.c.Ult(sym, b.c.Var("x", 32)), b.c.Const(1, 32), b.c.Const(0, 32)), b.c.Const(0, 32))
	if len(b.th.Assertions) != 1 {
		t.Fatalf("%d assertions", len(b.th.Assertions))
	}
	got := b.th.Assertions[0]
	if want := b.c.Ult(b.c.Const(7, 32), b.c.Var("x", 32)); got.Cond != want {
		t.Errorf("%s, want %s", b.c.String(got.Cond), b.c.String(want))
	}
	if len(got.Reads) != 1 || got.Reads[0].Object != b.s || got.Reads[0].Offset != b.c.Const(8, 64) || got.Reads[0].Size != 4 {
		t.Errorf("reads %v", got.Reads)
	}
}

// TestAccesses: a question about the accesses of the thread is a symbol of the array, which the
// assertion lists; no such condition is known behind it.
func TestAccesses(t *testing.T) {
	b := newBench(t)
	b.call(1, "ghost")
	has := b.call(2, "write_global", b.m.Base(b.s))
	cond := b.c.Eq(has, b.c.Const(0, 32))
	b.call(3, "assert", b.c.Ite(cond, b.c.Const(1, 32), b.c.Const(0, 32)), b.c.Const(0, 32))
	if len(b.th.Assertions) != 1 || len(b.th.Assertions[0].Logs) != 1 {
		t.Fatalf("%v", b.th.Assertions)
	}
	if l := b.th.Assertions[0].Logs[0]; l.Object != b.s || !l.Writes {
		t.Errorf("%v", l)
	}
	if got := b.a.Here(&b.notes, smt.True); got != smt.True {
		t.Errorf("%s is known", b.c.String(got))
	}
}

// TestJoin: behind a branch, what one path made known is known if that path was taken.
func TestJoin(t *testing.T) {
	b := newBench(t)
	p, q := b.c.BoolVar("p"), b.c.BoolVar("q")
	one, other := b.notes, b.notes
	b.notes = one
	b.state(1, "assume", q)
	one = b.notes
	joined := b.a.Join([]*annotation.State{&one, &other}, []smt.Term{p, b.c.Not(p)})
	if got, want := b.a.Here(&joined, smt.True), b.c.Implies(p, q); got != want {
		t.Errorf("%s is known, want %s", b.c.String(got), b.c.String(want))
	}
}

// TestJoinInstances: a barrier invariant behind a branch is for the threads that all paths name, in
// one order, and else for none: it would be used for a thread that only one path names.
func TestJoinInstances(t *testing.T) {
	for _, tt := range []struct {
		name       string
		one, other []uint64
		facts      int
	}{
		{"the same", []uint64{3}, []uint64{3}, 1},
		{"two that are the same", []uint64{3, 4}, []uint64{3, 4}, 1},
		{"other ones", []uint64{3}, []uint64{4}, 0},
		{"more", []uint64{3}, []uint64{3, 4}, 0},
		{"fewer", []uint64{3, 4}, []uint64{3}, 0},
		{"none", nil, nil, 0},
		{"on one path", []uint64{3}, nil, 0},
		{"on the other path", nil, []uint64{3}, 0},
	} {
		b := newBench(t)
		p, q := b.c.BoolVar("p"), b.c.BoolVar("q")
		b.call(1, "ghost")
		start := b.notes
		named := func(threads []uint64) *annotation.State {
			b.notes = start
			for i, n := range threads {
				b.call(2+i, "instance", b.c.Const(n, 64))
			}
			s := b.notes
			return &s
		}
		paths := []*annotation.State{named(tt.one), named(tt.other)}
		b.notes = b.a.Join(paths, []smt.Term{p, b.c.Not(p)})
		cond := b.c.Ite(q, b.c.Const(1, 32), b.c.Const(0, 32))
		b.call(9, "barrier_invariant", cond, b.c.Const(0, 32))
		if n := len(b.th.BarrierFacts); n != tt.facts {
			t.Errorf("%s: %d facts for a barrier, want %d", tt.name, n, tt.facts)
		}
	}
}

// TestReturnOutside: the result of a function is known only within an inlined call that stores one
// result, which is a parameter of words.
func TestReturnOutside(t *testing.T) {
	word := &ir.Var{Name: "r", Space: event.Param, Size: 8}
	caller := &ir.Instr{Index: 1, Guard: ir.NoReg}
	result := func(v *ir.Var) ir.Operand { return ir.Operand{Kind: ir.Mem, Var: v, Reg: ir.NoReg} }
	for _, tt := range []struct {
		name   string
		caller *ir.Instr
		dst    []ir.Operand
		ok     bool
	}{
		{"a result of two words", caller, []ir.Operand{result(word)}, true},
		{"outside a call", nil, []ir.Operand{result(word)}, false},
		{"no result", caller, nil, false},
		{"two results", caller, []ir.Operand{result(word), result(word)}, false},
		{"a register", caller, []ir.Operand{{Kind: ir.Register}}, false},
		{"shared memory", caller, []ir.Operand{result(&ir.Var{Space: event.Shared, Size: 8})}, false},
		{"bytes", caller, []ir.Operand{result(&ir.Var{Space: event.Param, Size: 6})}, false},
	} {
		b := newBench(t)
		b.call(1, "ghost")
		in := &ir.Instr{Index: 2, Guard: ir.NoReg, Dst: tt.dst, Caller: tt.caller,
			Callee: &ir.Func{Name: ir.AnnotationPrefix + "return_v2"}}
		in.Desc, _ = isa.Decode("call", nil)
		refused := func() (refused bool) {
			defer func() {
				if r := recover(); r != nil {
					_, refused = r.(*thread.UnsupportedError)
				}
			}()
			b.a.Call(&call{bench: b, in: in}, "return_v2")
			return false
		}()
		if refused == tt.ok {
			t.Errorf("%s: refused %v", tt.name, refused)
		}
	}
}

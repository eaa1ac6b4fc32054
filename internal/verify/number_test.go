package verify

import (
	"math"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
)

// geometryTerms returns a thread that has only the terms of its indices and sizes.
func geometryTerms(c *smt.Context) *thread.Thread {
	th := &thread.Thread{Context: c}
	for i, d := range []string{"x", "y", "z"} {
		th.Tid[i], th.Ctaid[i] = c.Var("p!tid."+d, 32), c.Var("b!ctaid."+d, 32)
		th.Ntid[i], th.Nctaid[i] = c.Var("g!ntid."+d, 32), c.Var("g!nctaid."+d, 32)
	}
	return th
}

// built describes a thread of a kernel with the array %A, a register %r and a predicate %p.
func built(t *testing.T, body string) *thread.Thread {
	t.Helper()
	k := kernels.PTX(t, ".version 8.7\n.target sm_100\n.address_size 64\n"+
		".visible .entry k(.param .u64 A)\n{\n\t.reg .b32 %r;\n\t.reg .b64 %A;\n\t.reg .pred %p;\n"+
		"\tld.param.u64 %A, [A];\n\tcvta.to.global.u64 %A, %A;\n\t"+body+"\n\tret;\n}\n").Funcs[0]
	th, err := lockstep.Build(t.Context(), k, lockstep.Options{Geometry: conflictGeometry})
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// TestMost: the bound of a constant is its absolute value, that of another term the larger one of
// the two ends of its range.
func TestMost(t *testing.T) {
	c := smt.New()
	p := &prover{c: c}
	x := c.ZExt(c.VarIn("x", 32, 3, 8), 64)
	for _, tt := range []struct {
		t    smt.Term
		want uint64
	}{
		{c.Const(8, 64), 8}, {c.Const(^uint64(8), 64), 9}, {c.Const(1<<63, 64), 1 << 63},
		{x, 8}, {c.AddConst(x, ^uint64(19)), 17}, {c.Neg(x), 8}, {c.Var("y", 64), 1 << 63},
	} {
		if got := p.most(tt.t); got != tt.want {
			t.Errorf("%s is at most %d, want %d", c.String(tt.t), got, tt.want)
		}
	}
}

// TestExact: a sum or product of 32 bits is exact if its value as integers has 32 bits, read as
// signed.
func TestExact(t *testing.T) {
	c := smt.New()
	p := &prover{c: c}
	x, y := c.Var("x", 32), c.Var("y", 32)
	sum, product, less := c.Add(x, y), c.Mul(x, y), c.AddConst(x, ^uint64(0))
	const most, least = math.MaxInt32, math.MinInt32
	for _, e := range []struct {
		term smt.Term
		x, y int64
		want bool
	}{
		{sum, most, 0, true}, {sum, most, 1, false}, {sum, least, 0, true}, {sum, least, -1, false},
		{sum, most, least, true}, {product, 1 << 15, 1 << 15, true}, {product, 1 << 16, 1 << 15, false},
		{product, -(1 << 16), 1 << 15, true}, {product, 1 << 16, 1 << 16, false},
		{product, -(1 << 16), 1 << 16, false}, {less, least + 1, 0, true}, {less, least, 0, false},
		{less, 0, 0, true},
	} {
		m := &smt.Model{Vars: map[string]uint64{"x": uint64(uint32(e.x)), "y": uint64(uint32(e.y))}}
		if got := p.exact([]smt.Term{e.term}, m); got != e.want {
			t.Errorf("%s with %d and %d: exact %v", c.String(e.term), e.x, e.y, got)
		}
	}
}

// TestExcused: which unordered strong accesses may belong to a protocol (race-unordered-strong).
func TestExcused(t *testing.T) {
	c := smt.New()
	array, other := &thread.Object{}, &thread.Object{}
	strong := func(k event.Kind, o event.Order, v *thread.Object, values ...smt.Term) thread.Access {
		return thread.Access{Kind: k, Order: o, Object: v, Values: values}
	}
	one, any := c.Const(1, 32), c.Var("v", 32)
	load := strong(event.Read, event.Relaxed, array)
	for _, x := range []struct {
		what  string
		a, b  thread.Access
		other []thread.Access
		want  bool
	}{
		{"two stores", strong(event.Write, event.Relaxed, array, any),
			strong(event.Write, event.Relaxed, array, any), nil, true},
		{"a store of a constant", strong(event.Write, event.Relaxed, array, one), load, nil, true},
		{"a load and a store of a constant", load, strong(event.Write, event.Relaxed, array, one), nil,
			true},
		{"a store of a value", strong(event.Write, event.Relaxed, array, any), load, nil, false},
		{"a vector with a value", strong(event.Write, event.Relaxed, array, any, one), load, nil, false},
		{"a vector that begins with a constant", strong(event.Write, event.Relaxed, array, one, any),
			load, nil, false},
		{"a store of what is not known", strong(event.Write, event.Relaxed, array), load, nil, false},
		{"an atomic on the array", strong(event.Write, event.Relaxed, array, any), load,
			[]thread.Access{strong(event.Atomic, event.Relaxed, array)}, true},
		{"an atomic on another array", strong(event.Write, event.Relaxed, array, any), load,
			[]thread.Access{strong(event.Atomic, event.Relaxed, other)}, false},
		{"an atomic on the array of the store, and a load of an unknown array",
			strong(event.Write, event.Relaxed, array, any), strong(event.Read, event.Relaxed, nil),
			[]thread.Access{strong(event.Atomic, event.Relaxed, array)}, true},
		{"an atomic on the array of the load, and a store to an unknown array",
			strong(event.Write, event.Relaxed, nil, any), load,
			[]thread.Access{strong(event.Atomic, event.Relaxed, array)}, true},
		{"an atomic on an unknown array", strong(event.Write, event.Relaxed, array, any), load,
			[]thread.Access{strong(event.Reduce, event.Relaxed, nil)}, true},
		{"an acquire on the array", strong(event.Write, event.Relaxed, array, any), load,
			[]thread.Access{strong(event.Read, event.Acquire, array)}, true},
		{"weak and relaxed accesses", strong(event.Write, event.Relaxed, array, any), load,
			[]thread.Access{strong(event.Read, event.Weak, array),
				strong(event.Read, event.Relaxed, array)}, false},
	} {
		th := &thread.Thread{Context: c, Accesses: append(x.other, x.a, x.b)}
		if got := newProver(t.Context(), th, Options{}).excused(&x.a, &x.b); got != x.want {
			t.Errorf("%s: excused %v, want %v", x.what, got, x.want)
		}
	}
}

// TestMaskBit: a bit of a mask of 32 lanes stands for the thread whose index has that rest modulo
// 32 (PTX ISA 3.1.1), and the mask may be that of another lane.
func TestMaskBit(t *testing.T) {
	c := smt.New()
	th := geometryTerms(c)
	p := newProver(t.Context(), th, Options{})
	l := &lanes{prover: p, s: p.pair}
	own := c.Var("p!mask", 32)
	masks := []smt.Term{c.Const(1<<32-1, 32), c.Const(0, 32), c.Const(1<<31|1<<4, 32), own}
	for _, mask := range masks {
		for _, x := range []struct{ tid, of1, of2 uint64 }{{0, 1, 2}, {4, 16, 0}, {31, 1 << 31, 1},
			{36, 16, 1}, {35, 16, 8}} {
			m := &smt.Model{Vars: map[string]uint64{"g!ntid.x": 64, "g!ntid.y": 1}}
			for _, s := range []string{"$1", "$2"} {
				m.Vars["p!tid.x"+s] = x.tid
			}
			m.Vars["p!mask$1"], m.Vars["p!mask$2"] = x.of1, x.of2
			for of, v := range []uint64{x.of1, x.of2} {
				if k, ok := c.Value(mask); ok {
					v = k
				}
				got := c.Evaluate(m).Holds(l.bit(mask, of, 1))
				if want := v>>(x.tid%32)&1 != 0; got != want {
					t.Errorf("bit of thread %d in %#x: %v", x.tid, v, got)
				}
			}
		}
	}
}

// TestNumbers: a report shows each parameter and index once, parameters first, and nothing that is
// no number.
func TestNumbers(t *testing.T) {
	c := smt.New()
	p := newProver(t.Context(), geometryTerms(c), Options{})
	tid := p.th.Tid[0]
	n := c.Var(symbol.ParamName(&ir.Var{Name: "n"}, 0, 32), 32)
	flag := c.BoolVar(symbol.ParamName(&ir.Var{Name: "b"}, 0, 8))
	f := c.Apply(c.Declare(symbol.ParamName(&ir.Var{Name: "f"}, 0, 32), 32, 32), tid)
	narrow := c.VarIn(c.Name(tid), 32, 0, 63) // the same variable with a known range
	got := p.numbers([]smt.Term{c.And(flag, c.Ult(c.Add(tid, n), f)), c.Ult(n, tid), c.Ult(narrow, n)})
	if len(got) != 2 || got[0] != n || got[1] != tid {
		for _, g := range got {
			t.Errorf("number %s", c.String(g))
		}
	}
}

// TestApart: what an annotation makes known of one thread is not used for the other, which may be
// behind the point where they diverge.
func TestApart(t *testing.T) {
	th := built(t, "")
	c := th.Context
	zero := c.Eq(th.Tid[0], c.Const(0, 32))
	at := func(n uint64) thread.Tag { return thread.Tag{Barrier: c.Const(n, 32)} }
	end := func(guard, bare smt.Term, barrier uint64) thread.End {
		return thread.End{Instr: &ir.Instr{}, Guard: guard, Bare: bare, Start: at(0), At: at(barrier)}
	}
	never := smt.False
	for _, x := range []struct {
		what string
		a, b thread.End
		want int
	}{
		{"no annotation", end(zero, zero, 1), end(c.Not(zero), c.Not(zero), 2), 1},
		{"the first is assumed away", end(never, zero, 1), end(c.Not(zero), c.Not(zero), 2), 1},
		{"the second is assumed away", end(zero, zero, 1), end(never, c.Not(zero), 2), 1},
		{"both are", end(never, zero, 1), end(never, c.Not(zero), 2), 0},
		{"the same barrier", end(zero, zero, 1), end(c.Not(zero), c.Not(zero), 1), 0},
		{"both with an annotation", end(c.And(zero, c.BoolVar("p!x")), zero, 1),
			end(c.And(c.Not(zero), c.BoolVar("p!y")), c.Not(zero), 2), 2},
	} {
		p := newProver(t.Context(), th, Options{Solvers: []smt.Solver{&sat.Solver{}}})
		p.apart(&x.a, &x.b, false)
		p.drain()
		if got := len(p.result().Findings); got != x.want {
			t.Errorf("%s: %d findings, want %d", x.what, got, x.want)
		}
	}
}

// TestEqualValues: where all writes of equal values are tolerated, the values are those of the two
// threads that write: of one block, or of two.
func TestEqualValues(t *testing.T) {
	for _, x := range []struct {
		body          string
		within, other bool // a race of two threads of a block, of two blocks
	}{
		{"mov.u32 %r, %ctaid.x;\n\tst.global.u32 [%A], %r;", false, true},
		{"st.global.u32 [%A], 7;", false, false},
		{"mov.u32 %r, %tid.x;\n\tst.global.u32 [%A], %r;", true, true},
	} {
		th := built(t, x.body)
		r := Kernel(t.Context(), th, Options{Benign: event.BenignAll,
			Solvers: []smt.Solver{&sat.Solver{}}})
		within, other := false, false
		for i := range r.Findings {
			within = within || !r.Findings[i].OtherBlock
			other = other || r.Findings[i].OtherBlock
		}
		if within != x.within || other != x.other {
			t.Errorf("%s: a race within a block %v, of two blocks %v", x.body, within, other)
		}
	}
}

// TestUnknownAddress: an address that is not computed from an array may be anywhere, also within
// one.
func TestUnknownAddress(t *testing.T) {
	th := built(t, `.reg .b64 %x;
	mov.u32 %r, %tid.x;
	setp.eq.u32 %p, %r, 0;
	mov.u64 %x, 1024;
	@%p st.u32 [%x], 1;
	setp.eq.u32 %p, %r, 1;
	@%p st.u32 [%A], 2;`)
	r := Kernel(t.Context(), th, Options{OnlyIntraBlock: true,
		Solvers: []smt.Solver{&sat.Solver{}}})
	if len(r.Findings) != 1 || r.Findings[0].A == r.Findings[0].B {
		t.Errorf("findings %+v, want one of the two stores", r.Findings)
	}
}

// TestIndexArithmetic: only arithmetic of 32 bits with a parameter is asked to be exact.
func TestIndexArithmetic(t *testing.T) {
	c := smt.New()
	p := newProver(t.Context(), geometryTerms(c), Options{})
	n := c.Var(symbol.ParamName(&ir.Var{Name: "n"}, 0, 32), 32)
	long := c.Var(symbol.ParamName(&ir.Var{Name: "l"}, 0, 64), 64)
	tid := p.th.Tid[0]
	for _, x := range []struct {
		term smt.Term
		want bool
	}{
		{c.Add(n, tid), true}, {c.Mul(n, tid), true}, {c.AddConst(n, 1), true},
		{c.Add(tid, p.th.Ctaid[0]), false}, {c.AddConst(long, 1), false}, {n, false},
		{c.UDiv(n, tid), false},
	} {
		if got := len(p.indexArithmetic([]smt.Term{x.term})) > 0; got != x.want {
			t.Errorf("%s: index arithmetic %v, want %v", c.String(x.term), got, x.want)
		}
	}
}

// TestWaysWithinBlock: in which iterations two threads race is asked of threads of one block only.
func TestWaysWithinBlock(t *testing.T) {
	r := Kernel(t.Context(), built(t, "mov.u32 %r, %tid.x;\n\tst.global.u32 [%A], %r;"),
		Options{Ways: true, Solvers: []smt.Solver{&sat.Solver{}}})
	if len(r.Findings) != 2 {
		t.Fatalf("%d findings, want one within a block and one of two blocks", len(r.Findings))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if n := len(f.Ways); n > 0 == f.OtherBlock {
			t.Errorf("two blocks: %v, and %d ways", f.OtherBlock, n)
		}
	}
}

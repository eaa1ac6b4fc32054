package verify

import (
	"math"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
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

// TestWithin: the limits themselves are within, the next numbers are not.
func TestWithin(t *testing.T) {
	c := smt.New()
	p := &prover{c: c}
	for _, x := range []struct {
		v    int64
		want bool
	}{{0, true}, {8, true}, {-8, true}, {9, false}, {-9, false}, {math.MinInt64, false}} {
		if got := p.within(c.Const(uint64(x.v), 64), 8); got != x.want {
			t.Errorf("%d within 8: %v", x.v, got)
		}
	}
	for _, x := range []struct {
		most uint64
		want bool
	}{{8, true}, {9, false}} {
		if got := p.within(c.ZExt(c.VarIn("v", 32, 0, x.most), 64), 8); got != x.want {
			t.Errorf("0 to %d within 8: %v", x.most, got)
		}
		c = smt.New()
		p = &prover{c: c}
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

// TestMaskBit: a bit of a mask of 32 lanes stands for the thread whose index has that rest modulo 32
// (PTX ISA 3.1.1), and the mask may be that of another lane.
func TestMaskBit(t *testing.T) {
	c := smt.New()
	th := geometryTerms(c)
	p := newProver(t.Context(), th, Options{})
	l := &lanes{prover: p, s: p.pair}
	own := c.Var("p!mask", 32)
	for _, mask := range []smt.Term{c.Const(1<<32-1, 32), c.Const(0, 32), c.Const(1<<31|1<<4, 32), own} {
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

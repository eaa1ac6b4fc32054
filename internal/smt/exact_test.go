package smt

import (
	"math"
	"testing"
)

// TestMaskOfSeveral: a conjunction of bits keeps its constant, in whatever order it is built.
func TestMaskOfSeveral(t *testing.T) {
	for _, k := range []uint64{0, 0xf, 0xf0, 0x5a, 0xff} {
		c := New()
		x, y, mask := c.Var("x", 8), c.Var("y", 8), c.Const(k, 8)
		m := &Model{Vars: map[string]uint64{"x": 0xff, "y": 0x7e}}
		for i, and := range []Term{c.BvAnd(c.BvAnd(x, y), mask), c.BvAnd(c.BvAnd(x, mask), y),
			c.BvAnd(mask, c.BvAnd(y, x)), c.BvAnd(c.BvAnd(x, mask), c.BvAnd(y, mask))} {
			if got, want := c.Evaluate(m).Value(and), 0x7e&k; got != want {
				t.Errorf("order %d, %#x & %#x & %#x is %#x, want %#x", i, 0xff, 0x7e, k, got, want)
			}
		}
	}
}

// TestMulAdd: sums at the limits of 64 bits.
func TestMulAdd(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	for _, c := range []struct {
		a, k, b, sum int64
		ok           bool
	}{
		{0, 1, most, most, true}, {0, -1, most, -most, true}, {-1, 1, most, most - 1, true},
		{1, 1, most, 0, false}, {-2, -1, most, 0, false}, {-1, -1, most, least, true},
		{0, 1 << 32, 1 << 31, 0, false}, {0, most, most, 0, false}, {0, -1, least, 0, false},
		{most, 0, 7, most, true}, {least, 7, 0, least, true},
	} {
		if s, ok := mulAdd(c.a, c.k, c.b); ok != c.ok || ok && s != c.sum {
			t.Errorf("%d + %d*%d is %d, %v, want %d, %v", c.a, c.k, c.b, s, ok, c.sum, c.ok)
		}
	}
}

// TestFits: the numbers that w bits hold, signed and unsigned, with the least and the greatest.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		lo, hi           int64
		w                uint8
		signed, unsigned bool
	}{
		{-128, 127, 8, true, false}, {-129, 0, 8, false, false}, {0, 128, 8, false, true},
		{0, 255, 8, false, true}, {0, 256, 8, false, false}, {-1, 0, 8, true, false},
		{math.MinInt64, math.MaxInt64, 64, true, false}, {0, math.MaxInt64, 64, true, true},
	} {
		iv := interval{c.lo, c.hi, true}
		if iv.signedFits(c.w) != c.signed || iv.unsignedFits(c.w) != c.unsigned {
			t.Errorf("%d to %d in %d bits: signed %v, unsigned %v, want %v, %v", c.lo, c.hi, c.w,
				iv.signedFits(c.w), iv.unsignedFits(c.w), c.signed, c.unsigned)
		}
	}
}

// TestBoundsOfVariable: two bounds of a variable exclude each other if and only if no number is
// within both. No solver is needed to see it if none is.
func TestBoundsOfVariable(t *testing.T) {
	for _, w := range []int{8, 64} {
		c := New()
		x, flip := c.Var("x", w), uint64(1)<<(w-1) // the order of signed numbers
		all := mask(uint8(w))
		for _, k := range []uint64{0, 1, 5, all >> 1, flip, flip + 1, all - 5, all - 1} {
			for m := k + 1; m <= min(k+3, all); m++ {
				unsigned := func(v uint64) Term { return c.Const(v, w) }
				signed := func(v uint64) Term { return c.Const(v^flip, w) }
				for _, p := range []struct {
					what string
					a, b Term
					want Status
				}{
					{"x <= k, m <= x", c.Ule(x, unsigned(k)), c.Ule(unsigned(m), x), Unsat},
					{"x < m, k < x", c.Ult(x, unsigned(m)), c.Ult(unsigned(k), x), either(m == k+1)},
					{"x <= m, k <= x", c.Ule(x, unsigned(m)), c.Ule(unsigned(k), x), Sat},
					{"x <= k, m <= x, signed", c.Sle(x, signed(k)), c.Sle(signed(m), x), Unsat},
					{"x < m, k < x, signed", c.Slt(x, signed(m)), c.Slt(signed(k), x), either(m == k+1)},
					{"x <= m, k <= x, signed", c.Sle(x, signed(m)), c.Sle(signed(k), x), Sat},
				} {
					got := c.Decide(t.Context(), []Term{p.a, p.b}).Status
					if got != p.want && (got != Unknown || p.want == Unsat) {
						t.Errorf("%d bits, k = %#x, m = %#x: %s: %v, want %v", w, k, m, p.what, got, p.want)
					}
				}
			}
		}
	}
}

// either returns Unsat if no number is left, else Sat.
func either(none bool) Status {
	if none {
		return Unsat
	}
	return Sat
}

// TestShiftedSign: an arithmetic shift by any amount keeps the sign.
func TestShiftedSign(t *testing.T) {
	c := New()
	by := c.Var("by", 32)
	for what, x := range map[string]Term{
		"from 0": c.ZExt(c.Var("small", 8), 32), "from 1": c.AddConst(c.ZExt(c.Var("small", 8), 32), 1),
	} {
		if got := c.Slt(c.AShr(x, by), c.Const(0, 32)); got != False {
			t.Errorf("%s: %s may be negative", what, c.String(got))
		}
	}
	negative := c.AddConst(c.ZExt(c.Var("small", 8), 32), ^uint64(255))
	if got := c.Slt(c.AShr(negative, by), c.Const(0, 32)); got != True {
		t.Errorf("of a negative number: %s", c.String(got))
	}
}

// TestExtractOfExtension: any bits of an extension by zeros or by the sign, which may begin in the
// number or behind it, and end in either.
func TestExtractOfExtension(t *testing.T) {
	const w, to = 3, 6
	for lo := range to {
		for width := 1; lo+width <= to; width++ {
			for v := range uint64(1 << w) {
				c := New()
				x := c.Var("x", w)
				e := c.Evaluate(&Model{Vars: map[string]uint64{"x": v}})
				bits := func(of uint64) uint64 { return of >> lo & mask(uint8(width)) }
				if got, want := e.Value(c.Extract(c.ZExt(x, to), lo, width)), bits(v); got != want {
					t.Errorf("%d bits from %d of %#x with zeros: %#x, want %#x", width, lo, v, got, want)
				}
				got, want := e.Value(c.Extract(c.SExt(x, to), lo, width)), bits(uint64(signed(v, w)))
				if got != want {
					t.Errorf("%d bits from %d of %#x with its sign: %#x, want %#x", width, lo, v, got, want)
				}
			}
		}
	}
}

// TestExtensionText: the two extensions in SMT-LIB, with the number of bits that they add.
func TestExtensionText(t *testing.T) {
	c := New()
	x := c.Var("x", 8)
	for want, e := range map[string]Term{
		"((_ zero_extend 24) |x|)": c.ZExt(x, 32), "((_ sign_extend 8) |x|)": c.SExt(x, 16),
	} {
		if got := c.String(e); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestIntersect: the facts of two ranges hold for the numbers in both. That there are none is
// noticed if the ranges exclude each other, as numbers with or without a sign or by a bit.
func TestIntersect(t *testing.T) {
	const w = 4
	bits := func(zeros, ones uint64) facts {
		f := anyValue(w)
		f.zeros, f.ones = f.zeros|zeros, ones
		return f.tighten(w)
	}
	var all []facts
	for lo := range int64(16) {
		for hi := lo; hi < 16; hi++ {
			all = append(all, unsignedIn(w, uint64(lo), uint64(hi)), signedIn(w, lo-8, hi-8))
		}
		for ones := range uint64(16) {
			if ones&uint64(lo) == 0 {
				all = append(all, bits(uint64(lo), ones))
			}
		}
	}
	holds := func(f facts, v uint64) bool {
		s := signed(v, w)
		return f.zeros&v == 0 && f.ones&^v == 0 && f.ulo <= v && v <= f.uhi && f.slo <= s && s <= f.shi
	}
	for _, a := range all {
		for _, b := range all {
			f, ok := intersect(a, b, w)
			for v := range uint64(1 << w) {
				if both := holds(a, v) && holds(b, v); both && !(ok && holds(f, v)) {
					t.Fatalf("%+v and %+v: %+v, %v does not hold for %d", a, b, f, ok, v)
				}
			}
			apart := a.uhi < b.ulo || b.uhi < a.ulo || a.shi < b.slo || b.shi < a.slo ||
				a.zeros&b.ones|a.ones&b.zeros != 0
			if apart && ok {
				t.Fatalf("%+v and %+v: %+v", a, b, f)
			}
		}
	}
	// 4 and 5 have a bit that the other excludes, though their ranges overlap.
	if _, ok := intersect(unsignedIn(w, 4, 5), bits(4, 0), w); ok {
		t.Error("4 or 5 may lack bit 2")
	}
}

// TestEqualsIte: an if-then-else equals what one of its branches cannot equal only by the other
// branch. A branch cannot if the ranges of both, with or without a sign, have nothing in common, or
// if a bit differs.
func TestEqualsIte(t *testing.T) {
	const w = 8
	c := New()
	p, x := c.BoolVar("p"), c.Var("x", w)
	small := c.SExt(c.Var("s", 4), w) // -8 to 7
	one := c.Const(1, w)
	for _, tc := range []struct {
		what string
		a, b Term
		want bool // they cannot be equal
	}{
		{"ranges", c.VarIn("a", w, 1, 3), c.VarIn("b", w, 4, 200), true},
		{"ranges that touch", c.VarIn("a", w, 1, 3), c.VarIn("d", w, 3, 200), false},
		{"ranges with a sign", small, c.VarIn("e", w, 8, 20), true},
		{"ranges with a sign that touch", small, c.VarIn("f", w, 7, 20), false},
		{"the last bit", c.BvOr(x, one), c.BvAnd(c.Var("y", w), c.Const(0xfe, w)), true},
		{"another bit", c.BvOr(x, one), c.BvAnd(c.Var("y", w), c.Const(0xfd, w)), false},
	} {
		z := c.Var("z", w)
		for _, ends := range [][2]Term{{tc.a, tc.b}, {tc.b, tc.a}} {
			got := c.Eq(c.Ite(p, ends[0], z), ends[1])
			if lifted := got == c.And(c.Not(p), c.Eq(z, ends[1])); lifted != tc.want {
				t.Errorf("%s: %s", tc.what, c.String(got))
			}
		}
	}
}

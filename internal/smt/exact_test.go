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

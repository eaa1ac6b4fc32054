package smt_test

import (
	"testing"

	"heddle/internal/smt"
)

// TestDegree: the degree is that of the polynomial. What decides between values has none, and the
// quotient of a division counts as the products that define it.
func TestDegree(t *testing.T) {
	c := smt.New()
	x, y, z := c.Var("x", 32), c.Var("y", 32), c.Var("z", 32)
	one := c.Const(1, 32)
	xy := c.Mul(x, y)
	for _, test := range []struct {
		what string
		term smt.Term
		want int
	}{
		{"x = 1", c.Eq(x, one), 1},
		{"4x + y = z", c.Eq(c.Add(c.Mul(c.Const(4, 32), x), y), z), 1},
		{"xy < z", c.Ult(xy, z), 2},
		{"xy + z = 1", c.Eq(c.Add(xy, z), one), 2},
		{"(xy + 1)z < x", c.Ult(c.Mul(c.Add(xy, one), z), x), 3},
		{"x / y < z", c.Ult(c.UDiv(x, y), z), 2},
		{"(x / y)(x % z) < 1", c.Ult(c.Mul(c.UDiv(x, y), c.URem(x, z)), y), 4},
		{"if xy < z then x else y, times z", c.Ult(c.Mul(c.Ite(c.Ult(xy, z), x, y), z), x), 2},
		{"xy widened, times z", c.Ult(c.Mul(c.ZExt(xy, 64), c.ZExt(z, 64)), c.Const(9, 64)), 3},
	} {
		if got := c.Degree([]smt.Term{test.term}); got != test.want {
			t.Errorf("%s: degree %d, want %d", test.what, got, test.want)
		}
	}
	if got := c.Degree([]smt.Term{c.Eq(x, one), c.Ult(xy, z)}); got != 2 {
		t.Errorf("a conjunction has degree %d, want 2, that of its worst part", got)
	}
}

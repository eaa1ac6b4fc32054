package smt

import "testing"

// TestEquationsOfOneVariable: k*x + a = b has exactly the solutions that arithmetic modulo 2^w gives,
// for all numbers of three bits: also where the sum, over the integers, reaches -2^w or 2^w-1.
func TestEquationsOfOneVariable(t *testing.T) {
	const w, n = 3, 1 << 3
	for i := range uint64(n * n * n * n * n) {
		lo, hi, k, a, b := i%n, i/n%n, i/n/n%n, i/n/n/n%n, i/n/n/n/n
		c := New()
		x := c.VarIn("x", w, lo, max(lo, hi))
		eq := c.Eq(c.AddConst(c.MulConst(x, k), a), c.Const(b, w))
		for v := lo; v <= hi; v++ {
			m := &Model{Vars: map[string]uint64{"x": v}}
			if got, want := c.Satisfies(m, []Term{eq}), (k*v+a)%n == b; got != want {
				t.Fatalf("x from %d to %d: %d*x + %d = %d with x = %d: %v", lo, hi, k, a, b, v, got)
			}
		}
	}
}

// TestNeverZero: sums whose difference lies between two adjacent multiples of 2^w are not equal,
// and no solver is asked. At a multiple of 2^w they are.
func TestNeverZero(t *testing.T) {
	const w = 3
	for _, tt := range []struct {
		lo, hi uint64 // of y and z
		never  bool
	}{
		{1, 3, true}, // y + z is 2 to 6
		{1, 4, false},
		{0, 3, false},
	} {
		for last := tt.hi; last <= tt.hi+1; last++ { // of z: also 2^w-1 is no multiple
			c := New()
			x := c.Var("x", w)
			y, z := c.VarIn("y", w, tt.lo, tt.hi), c.VarIn("z", w, tt.lo, last)
			for what, eq := range map[string]Term{
				"x + y = x - z": c.Eq(c.Add(x, y), c.Sub(x, z)),
				"x - y = x + z": c.Eq(c.Sub(x, y), c.Add(x, z)),
			} {
				if never := eq == False; never != tt.never {
					t.Errorf("%s, from %d to %d and %d: %s", what, tt.lo, tt.hi, last, c.String(eq))
				}
			}
		}
	}
}

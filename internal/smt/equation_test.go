package smt

import "testing"

// TestEquationsOfOneVariable: k*x + a = b has exactly the solutions that arithmetic modulo 2^w gives,
// for all numbers of three bits: also where the sum, over the integers, reaches -2^w or 2^w-1.
func TestEquationsOfOneVariable(t *testing.T) {
	const w, n = 3, 1 << 3
	for lo := range uint64(n) {
		for k := range uint64(n) {
			for a := range uint64(n) {
				for b := range uint64(n) {
					c := New()
					x := c.VarIn("x", w, lo, n-1)
					eq := c.Eq(c.AddConst(c.MulConst(x, k), a), c.Const(b, w))
					for v := lo; v < n; v++ {
						m := &Model{Vars: map[string]uint64{"x": v}}
						if got, want := c.Satisfies(m, []Term{eq}), (k*v+a)%n == b; got != want {
							t.Fatalf("x from %d: %d*x + %d = %d with x = %d: %v", lo, k, a, b, v, got)
						}
					}
				}
			}
		}
	}
}

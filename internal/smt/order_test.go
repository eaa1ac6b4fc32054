package smt

import (
	"fmt"
	"testing"
)

// TestReduceOrder: a reduction makes the same terms each time, whichever bounds it finds. Their
// numbers decide the order of arguments, and so the steps of a solver.
func TestReduceOrder(t *testing.T) {
	want := ""
	for range 20 {
		c := New()
		var list []Term
		sum := c.Const(1, 32)
		for i := range 8 {
			v := c.Var(fmt.Sprint("v", i), 32)
			list = append(list, c.Ult(v, c.Const(uint64(100+i), 32)))
			sum = c.Add(c.MulConst(v, uint64(2*i+2)), c.Mul(sum, v))
		}
		r := c.Reduce(append(list, c.Ult(c.Const(5, 32), sum)))
		got := fmt.Sprint(r.Asserts, len(c.nodes))
		for _, a := range r.Asserts {
			c.Visit([]Term{a}, func(u Term) { got += fmt.Sprint(" ", u) })
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("%s, and before %s", got, want)
		}
	}
}

package verify

import (
	"fmt"
	"math/rand"
	"testing"

	"heddle/internal/smt"
)

// TestRowsApart: what an equation is weakened to holds wherever the equation does; and it is not
// always true.
func TestRowsApart(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	held, failed := 0, 0
	for range 300 {
		c := smt.New()
		p := &prover{c: c}
		n := c.SExt(c.Var("n", 32), 64)
		sum := c.Const(uint64(rnd.Intn(5)-2), 64)
		var names []string
		for i := range 4 {
			name := fmt.Sprintf("v%d", i)
			names = append(names, name)
			v := c.ZExt(c.VarIn(name, 32, 0, 7), 64)
			if i < 2 {
				v = c.Mul(v, n)
			}
			sum = c.Add(sum, c.MulConst(v, uint64(int64(rnd.Intn(9)-4))))
		}
		eq := c.Eq(sum, c.Const(0, 64))
		weak, ok := p.rowsApart(eq)
		if !ok {
			continue
		}
		for range 400 {
			m := &smt.Model{Vars: map[string]uint64{"n": uint64(uint32(int32(rnd.Intn(9) - 4)))}}
			for _, name := range names {
				m.Vars[name] = uint64(rnd.Intn(8))
			}
			e := c.Evaluate(m)
			switch {
			case e.Holds(eq) && !e.Holds(weak):
				t.Fatalf("%s holds with %v, and %s does not", c.String(eq), m.Vars, c.String(weak))
			case e.Holds(eq):
				held++
			case !e.Holds(weak):
				failed++
			}
		}
	}
	if held < 1000 || failed < 1000 {
		t.Errorf("the equation held %d times, what it is weakened to failed %d times", held, failed)
	}
}

// TestRowsTooLarge: an equation is not weakened if it may hold because a product or a sum wraps
// around.
func TestRowsTooLarge(t *testing.T) {
	const half, rest = 1 << 31, 1 << 61
	for _, x := range []struct {
		what          string
		n, rows, rest uint64 // the most that each may be
		want          bool
	}{
		{"all at their limits", half, half, rest, true}, {"a long factor", 1 << 42, 1 << 20, rest, true},
		{"the factor", half + 1, half, rest, false}, {"the rows", half, half + 1, rest, false},
		{"the rest", half, half, rest + 1, false}, {"the factor alone", 1<<42 + 1, 2, rest, false},
		{"a product of 2^64", 1 << 32, 1 << 32, rest, false},
		{"the rows alone", 2, 1 << 62, rest, false},
	} {
		c := smt.New()
		n, zero := c.VarIn("n", 64, 0, x.n), c.Const(0, 64)
		sum := c.Add(c.Mul(c.VarIn("r", 64, 0, x.rows), n), c.VarIn("c", 64, 0, x.rest))
		sum = c.Add(sum, c.Mul(c.VarIn("none", 64, 0, 0), n)) // one row only
		sum = c.Sub(sum, c.Mul(c.VarIn("s", 64, 0, 0), n))
		two := c.Sub(sum, c.Mul(c.VarIn("q", 64, 0, 1), n))
		if _, ok := (&prover{c: c}).rowsApart(c.Eq(two, zero)); ok != x.want {
			t.Errorf("%s: weakened %v, want %v", x.what, ok, x.want)
		}
	}
}

// TestCofactor: only a product of two terms has one other factor.
func TestCofactor(t *testing.T) {
	c := smt.New()
	p := &prover{c: c}
	n, x, y := c.Var("n", 64), c.Var("x", 64), c.Var("y", 64)
	for _, e := range []struct {
		term, want smt.Term
		ok         bool
	}{
		{c.Mul(n, x), x, true}, {c.Mul(y, n), y, true}, {c.Mul(n, n), n, true}, {c.Mul(x, y), 0, false},
		{c.UDiv(n, x), 0, false}, {c.BvXor(x, n), 0, false}, {c.Mul(c.Mul(n, x), y), 0, false}, {n, 0, false},
	} {
		if got, ok := p.cofactor(e.term, n); ok != e.ok || ok && got != e.want {
			t.Errorf("%s: cofactor %s, %v, want %v", c.String(e.term), c.String(got), ok, e.ok)
		}
	}
}

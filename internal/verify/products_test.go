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

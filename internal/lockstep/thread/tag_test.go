package thread

import (
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/smt"
)

// TestTagsSame: the short formula for tags of equal iterations means what comparing the parts
// means.
func TestTagsSame(t *testing.T) {
	short := 0
	rapid.Check(t, func(t *rapid.T) {
		c := smt.New()
		zero := c.Const(0, 32)
		draw := func(who string) Tag {
			k := c.Var("k"+who, 32)
			var number func(depth int) smt.Term
			number = func(depth int) smt.Term {
				switch n := rapid.IntRange(0, 4).Draw(t, "part"); {
				case n == 0 && depth > 0:
					return c.Ite(c.Eq(k, zero), number(depth-1), number(depth-1))
				case n == 1:
					return c.AddConst(k, ^uint64(0))
				case n == 2:
					return c.Var("j"+who, 32)
				default:
					return c.Const(rapid.SampledFrom([]uint64{0, 0, 1, 7}).Draw(t, "constant"), 32)
				}
			}
			later := c.Const(rapid.SampledFrom([]uint64{15, 41, 41, 41}).Draw(t, "later"), 32)
			r := Tag{Barrier: c.Ite(c.Eq(k, zero), c.Const(15, 32), later)}
			first, back := number(1), c.AddConst(k, ^uint64(0))
			if rapid.IntRange(0, 3).Draw(t, "back") == 0 { // says nothing of k
				back = c.Var("j"+who, 32)
			}
			r.Iters = []smt.Term{c.Ite(c.Eq(k, zero), first, back), number(2)}
			return r
		}
		a, b := draw("1"), draw("2")
		long, got := a.same(c, b), a.Same(c, b)
		if got != long {
			short++
		}
		values := rapid.SampledFrom([]uint64{0, 1, 2, 6, 7, 8, 1<<32 - 1})
		for range 20 {
			m := &smt.Model{Vars: map[string]uint64{}}
			for _, v := range []string{"k1", "k2", "j1", "j2"} {
				m.Vars[v] = values.Draw(t, v)
			}
			if e := c.Evaluate(m); e.Holds(long) != e.Holds(got) {
				t.Fatalf("%v: %s is %v, %s is %v", m.Vars, c.String(long), e.Holds(long), c.String(got), e.Holds(got))
			}
		}
	})
	if short == 0 {
		t.Error("no tags were compared by their iterations")
	}
}

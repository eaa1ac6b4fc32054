package smt_test

import (
	"math/rand"
	"testing"

	"heddle/internal/smt"
)

// TestSumsOfQuotients builds random sums of a number of 8 bits, its quotients and remainders by
// constants, and quotients of those, narrowed and widened, and compares each with all 256 values of
// the number.
func TestSumsOfQuotients(t *testing.T) {
	src := rand.New(rand.NewSource(1))
	for range 3000 {
		c := smt.New()
		x := c.Var("x", 8)
		type pair struct {
			term  smt.Term
			value [256]uint64
		}
		var start pair
		start.term = c.AddConst(c.MulConst(x, 3), 5)
		for v := range start.value {
			start.value[v] = uint64(3*v+5) & 255
		}
		if src.Intn(2) > 0 {
			start.term = x
			for v := range start.value {
				start.value[v] = uint64(v)
			}
		}
		terms := []pair{start}
		for range 2 + src.Intn(8) {
			a, b := terms[src.Intn(len(terms))], terms[src.Intn(len(terms))]
			d := uint64(src.Intn(20))
			k := uint64(src.Intn(256))
			var r pair
			switch src.Intn(5) {
			case 0, 1:
				r.term = c.UDiv(a.term, c.Const(d, 8))
				for v, n := range a.value {
					if r.value[v] = 255; d > 0 {
						r.value[v] = n / d
					}
				}
			case 2:
				r.term = c.URem(a.term, c.Const(d, 8))
				for v, n := range a.value {
					if r.value[v] = n; d > 0 {
						r.value[v] = n % d
					}
				}
			case 3: // multiples of the divisors, and others
				k = []uint64{k, d, -d, 1, ^uint64(0)}[src.Intn(5)]
				r.term = c.Add(a.term, c.MulConst(b.term, k))
				for v, n := range a.value {
					r.value[v] = (n + k*b.value[v]) & 255
				}
			default:
				r = a
				r.term = c.Extract(c.ZExt(a.term, 16), 0, 8)
			}
			terms = append(terms, r)
		}
		for v := range 256 {
			e := c.Evaluate(&smt.Model{Vars: map[string]uint64{"x": uint64(v)}})
			for _, p := range terms {
				if got := e.Value(p.term); got != p.value[v] {
					t.Fatalf("%s is %d for x = %d, want %d", c.String(p.term), got, v, p.value[v])
				}
			}
		}
	}
}

// TestRowsAndColumns: an index that is split into rows and columns, and put together with another
// distance of rows, is equal for equal indices only.
func TestRowsAndColumns(t *testing.T) {
	c := smt.New()
	at := func(name string) (i, place smt.Term) {
		i = c.Var(name, 32)
		q := c.UDiv(i, c.Const(100, 32))
		wide := c.Add(c.ZExt(i, 64), c.MulConst(c.ZExt(q, 64), 28)) // 128*q + (i - 100*q)
		return i, wide
	}
	i, a := at("i")
	j, b := at("j")
	r := c.Reduce([]smt.Term{c.Eq(a, b), c.Not(c.Eq(i, j))})
	if r.Status != smt.Unsat {
		t.Errorf("status %v, want a proof without a solver", r.Status)
		for _, x := range r.Asserts {
			t.Log(c.String(x))
		}
	}
}

package smt_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/internal/smt"
	"heddle/internal/smt/proc"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/long"
)

// randomQuery generates a conjunction over few variables and functions of small and large widths.
type randomQuery struct {
	t *rapid.T
	c *smt.Context
	f uint32
	w int
}

func (q *randomQuery) n(label string, n int) int { return rapid.IntRange(0, n-1).Draw(q.t, label) }

func (q *randomQuery) vec(depth int) smt.Term {
	c, w := q.c, q.w
	if depth == 0 || q.n("stop", 5) == 0 {
		switch q.n("leaf", 4) {
		case 0:
			return c.Const(rapid.Uint64().Draw(q.t, "k"), w)
		case 1:
			return c.Const(uint64(q.n("small", 5)), w)
		case 2:
			return c.VarIn(fmt.Sprintf("r%d", q.n("r", 2)), w, 1, 1<<(w/2))
		}
		return c.Var(fmt.Sprintf("x%d", q.n("x", 3)), w)
	}
	a, b := q.vec(depth-1), q.vec(depth-1)
	two := []func(a, b smt.Term) smt.Term{
		c.Add, c.Sub, c.Mul, c.UDiv, c.URem, c.SDiv, c.SRem, c.BvAnd, c.BvOr, c.BvXor, c.Shl, c.LShr,
		c.AShr, c.Add, c.Sub,
	}
	switch k := q.n("op", len(two)+5); {
	case k < len(two):
		return two[k](a, b)
	case k == len(two):
		return c.Ite(q.boolean(depth-1), a, b)
	case k == len(two)+1:
		return c.Apply(q.f, a)
	case k == len(two)+2:
		return c.Popc(a)
	case k == len(two)+3:
		h := (w + 1) / 2
		return c.ZExt(c.Extract(a, q.n("lo", w-h+1), h), w)
	}
	return c.SExt(c.Extract(a, 0, (w+1)/2), w)
}

func (q *randomQuery) boolean(depth int) smt.Term {
	c := q.c
	if depth <= 0 {
		return c.BoolVar(fmt.Sprintf("p%d", q.n("p", 2)))
	}
	switch q.n("bop", 7) {
	case 0:
		return c.Not(q.boolean(depth - 1))
	case 1:
		return c.And(q.boolean(depth-1), q.boolean(depth-1))
	case 2:
		return c.Or(q.boolean(depth-1), q.boolean(depth-1))
	case 3:
		return c.Ult(q.vec(depth-1), q.vec(depth-1))
	case 4:
		return c.Slt(q.vec(depth-1), q.vec(depth-1))
	}
	return c.Eq(q.vec(depth-1), q.vec(depth-1))
}

func newQuery(t *rapid.T) (*randomQuery, []smt.Term) {
	q := &randomQuery{t: t, c: smt.New()}
	q.w = []int{2, 4, 5, 8, 12, 16}[q.n("width", 6)]
	q.f = q.c.Declare("f", q.w, q.w)
	var asserts []smt.Term
	for range 1 + q.n("asserts", 4) {
		asserts = append(asserts, q.boolean(1+q.n("depth", 3)))
	}
	return q, asserts
}

// TestInProcessAgainstZ3 checks that the in-process solver and Z3 agree on random queries, before
// and after Reduce, and that every model satisfies the query.
func TestInProcessAgainstZ3(t *testing.T) {
	z3 := proc.Find(proc.Z3)
	if z3 == nil {
		t.Skip("no z3")
	}
	defer z3.Close()
	z3.Time = 20 * time.Second
	mine := &sat.Solver{Steps: 500_000_000}
	ctx := context.Background()
	if long.All() {
		if err := flag.Set("rapid.checks", "10000"); err != nil {
			t.Fatal(err)
		}
	}
	decided, bySimplifier := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		q, asserts := newQuery(t)
		a := q.c.Decide(ctx, asserts, mine)
		b := z3.Solve(ctx, q.c, asserts)
		d := mine.Solve(ctx, q.c, asserts)
		text := q.c.String(q.c.And(asserts...))
		for _, x := range []struct {
			name string
			smt.Answer
		}{{"reduced", a}, {"z3", b}, {"direct", d}} {
			if x.Status == smt.Sat && !q.c.Satisfies(x.Model, asserts) {
				t.Fatalf("%s: the model %v does not satisfy %s", x.name, x.Model, text)
			}
		}
		if a.By == "simplifier" {
			bySimplifier++
		}
		if a.Status == smt.Unknown || b.Status == smt.Unknown || d.Status == smt.Unknown {
			return
		}
		decided++
		if a.Status != b.Status || d.Status != b.Status {
			t.Fatalf("reduced and solved: %v, solved as it is: %v, z3: %v of %s", a.Status, d.Status,
				b.Status, text)
		}
	})
	t.Logf("%d queries decided by both, %d of them by the simplifier", decided, bySimplifier)
}

// TestSolveSmall checks queries whose answers follow from arithmetic.
func TestSolveSmall(t *testing.T) {
	c := smt.New()
	x, y := c.Var("x", 32), c.Var("y", 32)
	k := func(v uint64) smt.Term { return c.Const(v, 32) }
	f := c.Declare("f", 32, 32)
	tests := []struct {
		name    string
		asserts []smt.Term
		want    smt.Status
	}{
		{"x*x = 49, x > 8: has roots modulo 2^32", []smt.Term{c.Eq(c.Mul(x, x), k(49)), c.Ult(k(8), x)},
			smt.Sat},
		{"a square is never 2 modulo 4", []smt.Term{c.Eq(c.BvAnd(c.Mul(x, x), k(3)), k(2))}, smt.Unsat},
		{"x < y and y < x", []smt.Term{c.Ult(x, y), c.Ult(y, x)}, smt.Unsat},
		{"f is a function", []smt.Term{c.Eq(x, y), c.Not(c.Eq(c.Apply(f, x), c.Apply(f, y)))}, smt.Unsat},
		{"f need not be injective", []smt.Term{c.Not(c.Eq(x, y)), c.Eq(c.Apply(f, x), c.Apply(f, y))},
			smt.Sat},
		{"division by zero is all ones",
			[]smt.Term{c.Eq(y, k(0)), c.Not(c.Eq(c.UDiv(x, y), k(0xffffffff)))}, smt.Unsat},
		{"x/y*y + x%y = x", []smt.Term{c.Ult(x, k(1<<5)), c.Ult(y, k(1<<5)),
			c.Not(c.Eq(c.Add(c.Mul(c.UDiv(x, y), y), c.URem(x, y)), x))}, smt.Unsat},
	}
	for _, tc := range tests {
		a := c.Decide(context.Background(), tc.asserts, &sat.Solver{Steps: 500_000_000})
		if a.Status != tc.want {
			t.Errorf("%s: %v (%s), want %v", tc.name, a.Status, a.Reason, tc.want)
		}
		if a.Status == smt.Sat && !c.Satisfies(a.Model, tc.asserts) {
			t.Errorf("%s: the model %v does not satisfy it", tc.name, a.Model)
		}
	}
}

func TestSolverLimits(t *testing.T) {
	c := smt.New()
	p, q := c.Var("p", 64), c.Var("q", 64)
	hard := []smt.Term{c.Eq(c.Mul(p, q), c.Const(3000000019*3999999979, 64)), c.Ult(c.Const(1, 64), p),
		c.Ult(p, c.Const(1<<32, 64)), c.Ult(q, c.Const(1<<32, 64))}
	if a := (&sat.Solver{Gates: 100}).Solve(context.Background(), c, hard); a.Status != smt.Unknown ||
		a.Reason != "the circuit has more than 100 gates" {
		t.Errorf("gates: %v %q", a.Status, a.Reason)
	}
	for range 2 { // the same on any machine
		if a := (&sat.Solver{Steps: 100_000}).
			Solve(context.Background(), c, hard); a.Status != smt.Unknown ||
			a.Reason != "undecided after 100000 steps" {
			t.Errorf("steps: %v %q", a.Status, a.Reason)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if a := (&sat.Solver{}).Solve(ctx, c, hard); a.Status != smt.Unknown || a.Reason != "out of time" {
		t.Errorf("time: %v %q", a.Status, a.Reason)
	}
}

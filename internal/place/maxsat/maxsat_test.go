package maxsat

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/testing/long"
)

// brute tries all models: the oracle of these tests.
func brute(p *Problem) (least int64, ok bool) {
	for bits := range 1 << p.Vars {
		m := make(Model, p.Vars+1)
		for v := range p.Vars {
			m[v+1] = bits>>v&1 == 1
		}
		if cost, holds := p.Cost(m); holds && (!ok || cost < least) {
			least, ok = cost, true
		}
	}
	return least, ok
}

// problem generates a problem; n(lo, hi) returns a number between both, inclusive.
func problem(n func(lo, hi int) int) *Problem {
	p := &Problem{Vars: n(1, 9)}
	clause := func(least, most int) []Lit {
		var c []Lit
		for range n(least, most) {
			c = append(c, Lit(n(1, p.Vars)*(1-2*n(0, 1))))
		}
		return c
	}
	for range n(0, 14) {
		p.AddHard(clause(1, 4)...)
	}
	weights := [...]int{1, 3, 1000, 1 << 40}
	top := weights[n(0, 3)]
	for range n(0, 14) {
		p.AddSoft(int64(n(1, top)), clause(n(0, 1), 1+2*n(0, 1))...)
	}
	return p
}

func agree(t interface {
	Fatalf(string, ...any)
	Context() context.Context
}, p *Problem) {
	want, sat := brute(p)
	m, cost, err := Solve(t.Context(), p)
	if err != nil {
		t.Fatalf("%v\n%+v", err, p)
	}
	if (m != nil) != sat || cost != want {
		t.Fatalf("OLL: model %v, cost %d; by trying all: %v, %d\n%+v", m, cost, sat, want, p)
	}
}

// The least cost is that of trying every model.
func TestAgainstBruteForce(t *testing.T) {
	n := 2000
	if long.All() {
		n = 60000
	}
	r := rand.New(rand.NewPCG(7, 11))
	for range n {
		agree(t, problem(func(lo, hi int) int { return lo + r.IntN(hi-lo+1) }))
	}
}

// cover generates a problem of the kind that reduce is for: clauses of positive literals, each of
// which costs something, of which some should hold.
func cover(n func(lo, hi int) int) *Problem {
	p := &Problem{Vars: n(1, 10)}
	for range n(0, 12) { // mostly neighbours, as for places between two statements
		from := n(1, p.Vars)
		var c []Lit
		for v := from; v <= min(p.Vars, from+n(0, 4)); v++ {
			if n(0, 9) > 0 {
				c = append(c, Lit(v))
			}
		}
		if len(c) > 0 {
			p.AddHard(c...)
		}
	}
	for v := 1; v <= p.Vars; v++ {
		if n(0, 9) > 0 {
			p.AddSoft(int64(n(1, 4)), Lit(-v))
		}
		if n(0, 9) == 0 {
			p.AddSoft(int64(n(1, 4)), Lit(v))
		}
	}
	return p
}

// Neither dropping clauses and variables nor splitting changes the least cost of a cover.
func TestCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	smaller, split := 0, 0
	for range 3000 {
		p := cover(func(lo, hi int) int { return lo + r.IntN(hi-lo+1) })
		agree(t, p)
		q, fixed := reduce(p)
		if len(fixed) > 0 || len(q.Hard) < len(p.Hard) {
			smaller++
		}
		if len(parts(q)) > 1 {
			split++
		}
	}
	if smaller < 1000 || split < 1000 {
		t.Errorf("%d problems became smaller and %d were split, of 3000", smaller, split)
	}
}

// TestHardBehindCore: hard clauses without a model, in which the solver first finds assumptions that
// exclude each other: 3 and 4 contradict each other whatever 1 is, and 1 and 2 at once.
func TestHardBehindCore(t *testing.T) {
	agree(t, &Problem{Vars: 4, Hard: [][]Lit{{-1, -2}, {1, 3, 4}, {-1, 3, 4}, {3, -4}, {-3, 4}, {-3, -4}},
		Soft: []Soft{{[]Lit{1}, 1}, {[]Lit{2}, 1}}})
}

// What remains are the clauses that contain no other one, without variables that a cheaper one
// replaces: one in all hard clauses of theirs. A variable that a clause negates or that should be
// true stays, and so do variables of equal cost.
func TestReduce(t *testing.T) {
	costs := func(c ...int64) (out []Soft) {
		for v, w := range c {
			out = append(out, Soft{[]Lit{Lit(-v - 1)}, w})
		}
		return out
	}
	for _, c := range []struct {
		what  string
		p     Problem
		hard  [][]Lit
		fixed []Lit
	}{
		{"nothing", Problem{}, nil, nil},
		{"clauses that contain others", Problem{Vars: 3, Hard: [][]Lit{{3, 1, 2}, {1, 2}, {2, 1}}},
			[][]Lit{{1, 2}}, nil},
		{"a clause that always holds", Problem{Vars: 2, Hard: [][]Lit{{1, 2, -1}}}, nil, nil},
		{"a cheaper variable", Problem{Vars: 3, Hard: [][]Lit{{1, 2}, {2, 3}}, Soft: costs(3, 2, 3)},
			[][]Lit{{2}}, []Lit{-1, -3}},
		{"equal cost", Problem{Vars: 2, Hard: [][]Lit{{1, 2}}, Soft: costs(2, 2)}, [][]Lit{{1, 2}}, nil},
		{"in some clauses only", Problem{Vars: 3, Hard: [][]Lit{{1, 2}, {1, 3}}, Soft: costs(3, 2, 2)},
			[][]Lit{{1, 2}, {1, 3}}, nil},
		{"wanted", Problem{Vars: 2, Hard: [][]Lit{{1, 2}}, Soft: append(costs(3, 2),
			Soft{[]Lit{1}, 1})}, [][]Lit{{1, 2}}, nil},
		{"negated", Problem{Vars: 3, Hard: [][]Lit{{1, 2}, {-1, 3}}, Soft: costs(3, 2)},
			[][]Lit{{-1, 3}, {1, 2}}, nil},
	} {
		q, fixed := reduce(&c.p)
		slices.Sort(fixed)
		slices.Reverse(fixed)
		if !slices.EqualFunc(q.Hard, c.hard, slices.Equal) || !slices.Equal(fixed, c.fixed) {
			t.Errorf("%s: clauses %v, fixed %v; want %v and %v", c.what, q.Hard, fixed, c.hard, c.fixed)
		}
	}
}

func TestProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		agree(rt, problem(func(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, "n") }))
	})
}

// Larger problems, of the shape that package place makes, have the optimum that z3 finds.
func TestAgainstZ3(t *testing.T) {
	path, err := exec.LookPath("z3")
	if err != nil {
		t.Skip("z3 is not installed")
	}
	n := 40
	if long.All() {
		n = 1500
	}
	r := rand.New(rand.NewPCG(3, 5))
	between := func(lo, hi int) int { return lo + r.IntN(hi-lo+1) }
	for i := range n {
		p := problem(between)
		if i%2 == 0 { // covers
			p = &Problem{Vars: between(10, 60)}
			for v := 1; v <= p.Vars; v++ {
				p.AddSoft(int64(between(1, 100)*[...]int{1, 100, 10000}[r.IntN(3)]), Lit(-v))
			}
			for range between(1, 40) {
				var c []Lit
				for range between(1, 12) {
					c = append(c, Lit(between(1, p.Vars)))
				}
				p.AddHard(c...)
			}
			for range between(0, 6) {
				p.AddHard(Lit(-between(1, p.Vars)), Lit(-between(1, p.Vars)))
			}
		}
		var in bytes.Buffer
		if err := p.WriteSMT(&in); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), path, "-in", "-smt2", "-T:20")
		cmd.Stdin = &in
		out, err := cmd.Output()
		if err != nil && !bytes.HasPrefix(out, []byte("unsat")) { // eval after unsat is an error
			t.Fatalf("z3: %v\n%s", err, out)
		}
		theirs, want, err := p.ReadSMT(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		m, cost, err := Solve(t.Context(), p)
		if err != nil || (m == nil) != (theirs == nil) || cost != want {
			t.Fatalf("OLL: %v, cost %d, %v; z3: %v, %d\n%+v", m, cost, err, theirs, want, p)
		}
	}
}

// Soft clauses that contradict each other are paid for once, whatever their order and size.
func TestCorners(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Problem
		cost int64
		sat  bool
	}{
		{"nothing", Problem{}, 0, true},
		{"an empty hard clause", Problem{Hard: [][]Lit{{}}}, 0, false},
		{"an empty soft clause", Problem{Soft: []Soft{{nil, 5}}}, 5, true},
		{"a literal and its negation", Problem{Vars: 1, Soft: []Soft{{[]Lit{1}, 5}, {[]Lit{-1}, 3}}}, 3, true},
		{"the same twice", Problem{Vars: 1, Hard: [][]Lit{{-1}}, Soft: []Soft{{[]Lit{1}, 5}, {[]Lit{1}, 3}}}, 8, true},
		{"a clause that always holds", Problem{Vars: 1, Soft: []Soft{{[]Lit{1, -1}, 5}}}, 0, true},
		{"large weights", Problem{Vars: 1, Soft: []Soft{{[]Lit{1}, math.MaxInt64 - 1}, {[]Lit{-1}, 1}}}, 1, true},
		{"hard clauses that contradict", Problem{Vars: 1, Hard: [][]Lit{{1}, {-1}}, Soft: []Soft{{[]Lit{1}, 1}}}, 0, false},
	} {
		m, cost, err := Solve(t.Context(), &c.p)
		if err != nil || (m != nil) != c.sat || cost != c.cost {
			t.Errorf("%s: %v, cost %d, %v; want cost %d, satisfiable %v", c.name, m, cost, err, c.cost, c.sat)
		}
	}
}

func TestBadProblems(t *testing.T) {
	for _, p := range []*Problem{
		{Vars: 1, Hard: [][]Lit{{2}}},
		{Vars: 1, Hard: [][]Lit{{0}}},
		{Vars: 1, Soft: []Soft{{[]Lit{-2}, 1}}},
		{Vars: 1, Soft: []Soft{{[]Lit{1}, 0}}},
		{Vars: 1, Soft: []Soft{{[]Lit{1}, math.MaxInt64}, {[]Lit{1}, 1}}},
	} {
		if _, _, err := Solve(t.Context(), p); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}

// A search whose context has ended says so.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &Problem{Vars: 2, Hard: [][]Lit{{1, 2}}}
	if _, _, err := Solve(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func BenchmarkCover(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	p := &Problem{Vars: 200}
	for v := 1; v <= p.Vars; v++ {
		p.AddSoft(int64(1+r.IntN(10000)), Lit(-v))
	}
	for range 100 {
		first, n := 1+r.IntN(p.Vars-20), 1+r.IntN(20)
		var c []Lit
		for v := range n {
			c = append(c, Lit(first+v))
		}
		p.AddHard(c...)
	}
	for b.Loop() {
		if _, _, err := Solve(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
}

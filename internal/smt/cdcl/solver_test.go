package cdcl

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// formula generates clauses over n variables, so many that about half of the formulas are
// unsatisfiable.
func formula(t *rapid.T, n int) [][]Lit {
	count := rapid.IntRange(1, 5*n).Draw(t, "clauses")
	out := make([][]Lit, count)
	for i := range out {
		for range rapid.SampledFrom([]int{1, 2, 2, 3, 3, 3, 3, 4, 7}).Draw(t, "size") {
			out[i] = append(out[i], Lit(rapid.IntRange(0, 2*n-1).Draw(t, "literal")))
		}
	}
	return out
}

func solver(n int, clauses [][]Lit) *Solver {
	s := New()
	for range n {
		s.NewVar()
	}
	for _, c := range clauses {
		s.Add(c...)
	}
	return s
}

// satisfies reports whether an assignment, a bit for each variable, makes every clause true.
func satisfies(m uint, clauses [][]Lit, assumed []Lit) bool {
	holds := func(l Lit) bool { return m>>l.Var()&1 == 1 == (l&1 == 0) }
	for _, l := range assumed {
		if !holds(l) {
			return false
		}
	}
next:
	for _, c := range clauses {
		for _, l := range c {
			if holds(l) {
				continue next
			}
		}
		return false
	}
	return true
}

// TestBruteForce: answers, models and cores are those of trying all assignments, while assumptions
// change and clauses are added between searches.
func TestBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "variables")
		clauses := formula(t, n)
		s := solver(n, clauses)
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			var assumed []Lit
			for range rapid.IntRange(0, 3).Draw(t, "assumptions") {
				assumed = append(assumed, Lit(rapid.IntRange(0, 2*n-1).Draw(t, "assumed")))
			}
			want := Unsat
			for m := range uint(1) << n {
				if satisfies(m, clauses, assumed) {
					want = Sat
				}
			}
			got := s.Solve(Limits{}, assumed...)
			if got != want {
				t.Fatalf("%v assuming %v: %d, expected %d", clauses, assumed, got, want)
			}
			if got == Sat {
				var m uint
				for v := range n {
					if s.Holds(Var(v)) {
						m |= 1 << v
					}
				}
				if !satisfies(m, clauses, assumed) {
					t.Fatalf("%v assuming %v: %b is not a model", clauses, assumed, m)
				}
			}
			if got == Unsat {
				core := s.Core()
				for _, l := range core {
					if !slices.Contains(assumed, l) {
						t.Fatalf("core %v holds more than was assumed: %v", core, assumed)
					}
				}
				for m := range uint(1) << n {
					if satisfies(m, clauses, core) {
						t.Fatalf("%v assuming %v: %b is a model of the core %v", clauses, assumed, m, core)
					}
				}
			}
			more := formula(t, n)
			more = more[:min(len(more), 3)]
			for _, c := range more {
				s.Add(c...)
			}
			clauses = append(clauses, more...)
		}
	})
}

// threeSat generates random clauses of three literals near the threshold, where searches take
// longest.
func threeSat(n int, seed uint64) [][]Lit {
	next := func(k int) int {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return int(seed % uint64(k))
	}
	var out [][]Lit
	for range n * 43 / 10 {
		out = append(out, []Lit{Lit(next(2 * n)), Lit(next(2 * n)), Lit(next(2 * n))})
	}
	return out
}

// pigeons states that n+1 pigeons sit in n holes, each alone: it is unsatisfiable, and resolution
// needs exponentially many steps to show it.
func pigeons(n int) (int, [][]Lit) {
	at := func(p, h int) Lit { return Var(p*n + h) }
	var out [][]Lit
	for p := range n + 1 {
		var some []Lit
		for h := range n {
			some = append(some, at(p, h))
			for q := range p {
				out = append(out, []Lit{at(p, h).Not(), at(q, h).Not()})
			}
		}
		out = append(out, some)
	}
	return n * (n + 1), out
}

// TestPigeons needs many reductions of the learned clauses.
func TestPigeons(t *testing.T) {
	s := solver(pigeons(8))
	if got := s.Solve(Limits{}); got != Unsat {
		t.Fatalf("%d, expected Unsat", got)
	}
	if s.reductions == 0 {
		t.Error("nothing was dropped: the test is too small")
	}
}

// TestSteps: the limit ends a search, two searches take the same steps, and a search with exactly
// the steps that it needs succeeds.
func TestSteps(t *testing.T) {
	n, clauses := pigeons(7)
	whole := solver(n, clauses)
	whole.Solve(Limits{})
	for range 2 {
		s := solver(n, clauses)
		before := s.Steps()
		got := s.Solve(Limits{Steps: whole.Steps() - before})
		if got != Unsat || s.Steps() != whole.Steps() {
			t.Fatalf("%d after %d steps, expected Unsat after %d", got, s.Steps(), whole.Steps())
		}
	}
	s := solver(n, clauses)
	limit := (whole.Steps() - s.Steps()) / 2
	if got := s.Solve(Limits{Steps: limit}); got != Unknown {
		t.Fatalf("%d within half of the steps, expected Unknown", got)
	}
	if got := s.Solve(Limits{}); got != Unsat { // and it can go on
		t.Fatalf("%d after an interruption, expected Unsat", got)
	}
}

// TestStepsOfModels: a search that finds a model succeeds with exactly the steps that it needs, and
// not with fewer.
func TestStepsOfModels(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		clauses := threeSat(40, seed+1)
		whole := solver(40, clauses)
		before := whole.Steps()
		if whole.Solve(Limits{}) != Sat {
			continue
		}
		found++
		need := whole.Steps() - before
		if got := solver(40, clauses).Solve(Limits{Steps: need}); got != Sat {
			t.Errorf("seed %d: %d after %d steps, expected Sat", seed, got, need)
		}
		if got := solver(40, clauses).Solve(Limits{Steps: need - 1}); got != Unknown {
			t.Errorf("seed %d: %d after a step less than %d, expected Unknown", seed, got, need)
		}
	}
	if found == 0 {
		t.Error("no clauses have a model")
	}
}

// TestStop: the caller can end a search.
func TestStop(t *testing.T) {
	s := solver(pigeons(11))
	asked := 0
	stop := func() bool { asked++; return asked == 3 }
	if got := s.Solve(Limits{Stop: stop}); got != Unknown || asked != 3 {
		t.Fatalf("%d after %d questions, expected Unknown after 3", got, asked)
	}
}

func BenchmarkThreeSat(b *testing.B) {
	for b.Loop() {
		for seed := range uint64(4) {
			solver(200, threeSat(200, seed+1)).Solve(Limits{})
		}
	}
}

// TestReset: a solver that has solved other formulas and is reset gives the answers, models and steps
// of a new one.
func TestReset(t *testing.T) {
	used := New()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "variables")
		clauses, more := formula(t, n), formula(t, n)
		fresh := New()
		used.Reset()
		for range n {
			fresh.NewVar()
			used.NewVar()
		}
		for round, list := range [][][]Lit{clauses, more} {
			for _, c := range list {
				fresh.Add(c...)
				used.Add(c...)
			}
			want, got := fresh.Solve(Limits{}), used.Solve(Limits{})
			if want != got || fresh.Steps() != used.Steps() || !slices.Equal(fresh.model, used.model) {
				t.Fatalf("round %d: status %v after %d steps, want %v after %d; models %v and %v", round, got,
					used.Steps(), want, fresh.Steps(), used.model, fresh.model)
			}
		}
	})
}

package cdcl

import "testing"

// proof checks a refutation as DRUP checkers do (Goldberg and Novikov, "Verification of proofs of
// unsatisfiability for CNF formulas", DATE 2003): each learned clause must follow from those before
// it by unit propagation alone. It shares no code with the solver, and keeps every clause, so that
// what the solver drops or moves does not matter to it.
type proof struct {
	clauses [][]Lit
	occurs  [][]int // by literal: the clauses that hold it
	value   []int8  // by literal: 1 true, -1 false, 0 open
	units   []Lit
}

func newProof(n int, clauses [][]Lit) *proof {
	p := &proof{occurs: make([][]int, 2*n), value: make([]int8, 2*n)}
	for _, c := range clauses {
		p.add(c)
	}
	return p
}

func (p *proof) add(c []Lit) {
	c = append([]Lit(nil), c...)
	for _, l := range c {
		p.occurs[l] = append(p.occurs[l], len(p.clauses))
	}
	p.clauses = append(p.clauses, c)
	if len(c) == 1 {
		p.units = append(p.units, c[0])
	}
}

// follows reports whether unit propagation refutes the negation of c.
func (p *proof) follows(c []Lit) bool {
	clear(p.value)
	var trail []Lit
	set := func(l Lit) bool { // false: it contradicts what is set
		if p.value[l] == 0 {
			p.value[l], p.value[l.Not()] = 1, -1
			trail = append(trail, l)
		}
		return p.value[l] > 0
	}
	for _, l := range p.units {
		if !set(l) {
			return true
		}
	}
	for _, l := range c {
		if !set(l.Not()) {
			return true
		}
	}
	for at := 0; at < len(trail); at++ {
		for _, i := range p.occurs[trail[at].Not()] {
			if unit, ok := p.unit(p.clauses[i]); ok && (unit < 0 || !set(unit)) {
				return true
			}
		}
	}
	return false
}

// unit returns the only literal of c that can still hold, -1 if none can; ok is false if c holds
// already or several of its literals are open.
func (p *proof) unit(c []Lit) (unit Lit, ok bool) {
	unit = -1
	for _, l := range c {
		switch {
		case p.value[l] > 0 || p.value[l] == 0 && unit >= 0 && unit != l:
			return 0, false
		case p.value[l] == 0:
			unit = l
		}
	}
	return unit, true
}

// refute solves clauses and checks every clause that is learned, the refutation and the model.
func refute(t *testing.T, n int, clauses [][]Lit) Status {
	t.Helper()
	s, p := solver(n, clauses), newProof(n, clauses)
	s.onLearn = func(c []Lit) {
		if !p.follows(c) {
			t.Fatalf("learned clause %d, %v, does not follow from those before it", len(p.clauses), c)
		}
		p.add(c)
	}
	got := s.Solve(Limits{})
	switch got {
	case Unsat:
		if !p.follows(nil) {
			t.Fatal("the learned clauses do not refute the formula")
		}
	case Sat:
	next:
		for _, c := range clauses {
			for _, l := range c {
				if s.Holds(l) {
					continue next
				}
			}
			t.Fatalf("the model does not satisfy %v", c)
		}
	}
	return got
}

// TestProofs: formulas that need hundreds of conflicts have models that satisfy them or refutations
// that an independent checker accepts.
func TestProofs(t *testing.T) {
	counts := map[Status]int{}
	for seed := range uint64(40) {
		const n = 100
		counts[refute(t, n, threeSat(n, seed+1))]++
	}
	if counts[Sat] < 5 || counts[Unsat] < 5 {
		t.Errorf("the formulas are too much of one kind: %v", counts)
	}
	n, clauses := pigeons(6)
	if got := refute(t, n, clauses); got != Unsat {
		t.Errorf("pigeons: %d, expected Unsat", got)
	}
}

// TestProofChecker: the checker itself rejects a clause that does not follow.
func TestProofChecker(t *testing.T) {
	a, b, c := Var(0), Var(1), Var(2)
	p := newProof(3, [][]Lit{{a, b}, {a.Not(), c}})
	if p.follows([]Lit{a}) || p.follows(nil) || !p.follows([]Lit{b, c}) {
		t.Error("the checker accepts what does not follow, or rejects what does")
	}
}

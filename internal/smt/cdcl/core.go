package cdcl

import "slices"

// Core returns assumptions of the last Solve that cannot hold together, sorted and each once. It is
// empty if the clauses alone have no model, and meaningful only after Unsat. It need not be
// minimal.
func (s *Solver) Core() []Lit {
	out := slices.Clone(s.core)
	slices.Sort(out)
	return slices.Compact(out)
}

// failed collects the core of an assumption that is false already: the assumptions from which its
// negation follows (analyzeFinal of Eén and Sörensson). All decisions at this point are
// assumptions.
func (s *Solver) failed(a Lit) {
	s.core = append(s.core, a)
	if s.level[a.Var()] == 0 {
		return // the clauses alone exclude it
	}
	s.seen[a.Var()] = true
	for i := len(s.trail) - 1; i >= s.limits[0]; i-- {
		l := s.trail[i]
		v := l.Var()
		if !s.seen[v] {
			continue
		}
		s.seen[v] = false
		if s.reason[v] == none {
			s.core = append(s.core, l)
			continue
		}
		for _, q := range s.lits(s.reason[v]) {
			if q.Var() != v && s.level[q.Var()] > 0 {
				s.seen[q.Var()] = true
			}
		}
	}
}

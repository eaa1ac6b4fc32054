package cdcl

// Add adds a clause. It must not be called during a search. Literals that are false for good are
// dropped, and clauses that hold for good are not stored.
func (s *Solver) Add(lits ...Lit) {
	if s.broken {
		return
	}
	s.stamps++
	at := len(s.clauses)
	s.clauses = append(s.clauses, 0, 0)
	for _, l := range lits {
		switch {
		case s.value[l] > 0, s.marks[l.Not()] == s.stamps: // true for good, since no level is open
			s.clauses = s.clauses[:at]
			return
		case s.value[l] < 0, s.marks[l] == s.stamps:
			continue
		}
		s.marks[l] = s.stamps
		s.clauses = append(s.clauses, l)
	}
	switch n := len(s.clauses) - at - header; n {
	case 0:
		s.broken = true
	case 1:
		l := s.clauses[at+header]
		s.clauses = s.clauses[:at]
		s.assign(l, none)
	default:
		s.clauses[at] = Lit(n)
	}
}

// header is the number of words before the literals of a clause.
const header = 2

// attach starts to watch the clauses added since the last search. Their watches are counted first,
// so that each list is allocated once and the lists lie side by side.
func (s *Solver) attach() {
	if s.attached == len(s.clauses) {
		return
	}
	need := append(s.need[:0], make([]int32, len(s.watches))...)
	s.each(s.attached, func(at ref) {
		c := s.lits(at)
		need[c[0].Not()]++
		need[c[1].Not()]++
	})
	total := 0
	for p, n := range need {
		if n > 0 {
			need[p] += int32(len(s.watches[p])) + n/4 + 1 // room for learned clauses
			total += int(need[p])
		}
	}
	if s.need = need; len(s.room) < total {
		s.block = make([]watch, total)
		s.room = s.block
	}
	for p, n := range need {
		if n > 0 {
			s.watches[p] = append(s.room[:0:n], s.watches[p]...)
			s.room = s.room[n:]
		}
	}
	s.each(s.attached, func(at ref) { s.watch(at) })
	s.attached = len(s.clauses)
	s.head = 0 // propagate the new clauses over older assignments, too
}

// each visits the clauses from an offset on.
func (s *Solver) each(from int, visit func(ref)) {
	for at := from; at < len(s.clauses); at += header + int(s.clauses[at]) {
		visit(ref(at))
	}
}

// addLearned adds a clause that follows from the others. Its first two literals become the watched
// ones.
func (s *Solver) addLearned(c []Lit, value int) ref {
	at := ref(len(s.clauses))
	s.clauses = append(append(s.clauses, Lit(len(c)), Lit(value)), c...)
	s.attached = len(s.clauses)
	s.learned = append(s.learned, at)
	s.watch(at)
	return at
}

// watch watches the first two literals of a clause.
func (s *Solver) watch(at ref) {
	c := s.lits(at)
	w := at
	if len(c) == 2 {
		w |= binary
	}
	s.watches[c[0].Not()] = append(s.watches[c[0].Not()], watch{w, c[1]})
	s.watches[c[1].Not()] = append(s.watches[c[1].Not()], watch{w, c[0]})
}

// lits returns the literals of a clause, in the arena.
func (s *Solver) lits(c ref) []Lit {
	n := ref(s.clauses[c])
	return s.clauses[c+header : c+header+n]
}

package cdcl

// conflict learns a clause from a falsified one, backtracks and asserts it.
func (s *Solver) conflict(bad ref) {
	clause, level := s.analyze(bad)
	if s.onLearn != nil {
		s.onLearn(clause)
	}
	value := s.levels(clause)
	s.restart.learned(value)
	s.back(level)
	if len(clause) == 1 {
		s.assign(clause[0], none)
	} else {
		s.assign(clause[0], s.addLearned(clause, value))
	}
	s.order.activity(&s.activity)
}

// analyze returns the clause of the first unique implication point. It asserts its first literal at
// the level that is returned: the highest level of its other literals, one of which is second.
func (s *Solver) analyze(bad ref) ([]Lit, int) {
	now := int32(len(s.limits))
	out := append(s.learn[:0], 0)
	open, at, p := 0, len(s.trail)-1, Lit(-1)
	for {
		s.touch(bad)
		lits := s.lits(bad)
		s.visited(len(lits))
		for _, q := range lits {
			v := q.Var()
			if q == p || s.seen[v] || s.level[v] == 0 {
				continue
			}
			s.seen[v] = true
			s.toClear = append(s.toClear, v)
			s.order.bump(v, s.activity)
			if s.level[v] >= now {
				open++
			} else {
				out = append(out, q)
			}
		}
		for !s.seen[s.trail[at].Var()] {
			at--
		}
		p = s.trail[at]
		bad = s.reason[p.Var()]
		s.seen[p.Var()] = false
		at--
		if open--; open == 0 {
			break
		}
	}
	out[0] = p.Not()
	kept := out[:1]
	levels := uint64(0) // of the literals, modulo 64
	for _, q := range out[1:] {
		levels |= s.levelBit(q.Var())
	}
	for _, q := range out[1:] {
		if s.reason[q.Var()] == none || !s.implied(q, levels) {
			kept = append(kept, q)
		}
	}
	for _, v := range s.toClear {
		s.seen[v] = false
	}
	s.toClear = s.toClear[:0]
	s.learn = kept
	level := 0
	for i := 1; i < len(kept); i++ {
		if l := int(s.level[kept[i].Var()]); l > level {
			level = l
			kept[1], kept[i] = kept[i], kept[1]
		}
	}
	return kept, level
}

// touch computes the value of a learned clause again when it takes part in a conflict: the value
// may have become smaller, which is better.
func (s *Solver) touch(c ref) {
	if v := int(s.clauses[c+1]); v > keepValue {
		if n := s.levels(s.lits(c)); n < v {
			s.clauses[c+1] = Lit(n)
		}
	}
}

// visited counts the literals of a clause that the analysis of a conflict visits: a step for every
// four, which cost about as much as a watched clause.
func (s *Solver) visited(literals int) { s.steps += int64(literals+3) / 4 }

// levelBit is the bit of a variable's decision level in a set of levels modulo 64.
func (s *Solver) levelBit(v int) uint64 { return 1 << (uint(s.level[v]) % 64) }

// implied reports whether the other literals of the learned clause imply q, so that q can be
// dropped (recursive minimization). levels are those of the clause: a literal of another level leads
// to a decision that is not in the clause.
func (s *Solver) implied(q Lit, levels uint64) bool {
	s.stack = append(s.stack[:0], q)
	mark := len(s.toClear)
	for len(s.stack) > 0 {
		p := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		lits := s.lits(s.reason[p.Var()])
		s.visited(len(lits))
		for _, l := range lits {
			v := l.Var()
			if v == p.Var() || s.seen[v] || s.level[v] == 0 {
				continue
			}
			if s.reason[v] == none || s.levelBit(v)&levels == 0 {
				for _, u := range s.toClear[mark:] {
					s.seen[u] = false
				}
				s.toClear = s.toClear[:mark]
				return false
			}
			s.seen[v] = true
			s.toClear = append(s.toClear, v)
			s.stack = append(s.stack, l)
		}
	}
	return true
}

// levels counts the decision levels of literals, at least 1: the value of a clause.
func (s *Solver) levels(c []Lit) int {
	s.stamps++
	n := 0
	for _, l := range c {
		if v := s.level[l.Var()]; s.stamp[v] != s.stamps {
			s.stamp[v] = s.stamps
			n++
		}
	}
	return max(n, 1)
}

// The first reduction of the learned clauses is after firstReduction conflicts; between two
// reductions there are moreBetween conflicts more each time.
const (
	firstReduction = 2000
	moreBetween    = 300
	keepValue      = 2 // clauses of at most so many levels always stay
)

// reduce drops the half of the learned clauses with the larger values, except those that are good
// (keepValue), binary, or the reason of an assignment.
func (s *Solver) reduce() {
	s.reductions++
	s.reduceAt = s.conflicts + firstReduction + moreBetween*s.reductions
	var byValue [64]int
	for _, c := range s.learned {
		byValue[min(int(s.clauses[c+1]), 63)]++
	}
	worst, drop := 63, len(s.learned)/2
	for n := 0; worst > keepValue; worst-- { // drop all above worst, and the older ones at worst
		if n += byValue[worst]; n >= drop {
			drop -= n - byValue[worst]
			break
		}
	}
	kept := s.learned[:0]
	for _, c := range s.learned {
		v := min(int(s.clauses[c+1]), 63)
		out := v > keepValue && (v > worst || v == worst && drop > 0)
		if out && !s.locked(c) && s.clauses[c] > 2 {
			if v == worst {
				drop--
			}
			s.clauses[c+1] = -1
			continue
		}
		kept = append(kept, c)
	}
	s.learned = kept
	s.collect()
}

// locked reports whether a clause is the reason of an assignment.
func (s *Solver) locked(c ref) bool {
	for _, l := range s.lits(c)[:2] {
		if s.value[l] > 0 && s.reason[l.Var()] == c {
			return true
		}
	}
	return false
}

// collect compacts the arena: it moves the remaining clauses together and updates every ref.
func (s *Solver) collect() {
	old := s.clauses
	s.clauses = make([]Lit, 0, len(old))
	for at := 0; at < len(old); {
		n := header + int(old[at])
		if old[at+1] >= 0 {
			to := len(s.clauses)
			s.clauses = append(s.clauses, old[at:at+n]...)
			old[at] = Lit(to) // the new offset
		} else {
			old[at] = -1
		}
		at += n
	}
	for p, ws := range s.watches {
		kept := ws[:0]
		for _, w := range ws {
			if to := old[w.at&^binary]; to >= 0 {
				kept = append(kept, watch{ref(to) | w.at&binary, w.blocker})
			}
		}
		s.watches[p] = kept
	}
	for i, c := range s.learned {
		s.learned[i] = ref(old[c])
	}
	s.attached = len(s.clauses)
	for _, l := range s.trail {
		if r := s.reason[l.Var()]; r != none {
			s.reason[l.Var()] = ref(old[r])
		}
	}
}

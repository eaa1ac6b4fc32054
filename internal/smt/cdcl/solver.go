// Package cdcl decides formulas in conjunctive normal form. It counts its steps, so that a limit
// means the same on a busy machine as on an idle one.
//
// It follows conflict-driven clause learning as in Eén and Sörensson, "An extensible SAT-solver"
// (SAT 2003): two watched literals, learning at the first unique implication point, minimization of
// learned clauses, decaying activities, saved phases, and solving under assumptions with
// unsatisfiable cores. Clauses are valued by the number of their decision levels (their LBD), which
// also decides when to restart, as in Audemard and Simon, "Predicting learnt clauses quality in
// modern SAT solvers" (IJCAI 2009).
// Nothing depends on time, maps or chance: the same clauses in the same order give the same answer
// after the same number of steps. Answers are not checked here. A wrong Unsat would make a racy
// kernel verified, so the tests check every learned clause independently (proof_test.go).
package cdcl

// Lit is a variable, or its negation.
type Lit int32

// Var returns the positive literal of variable v; variables count from 0.
func Var(v int) Lit { return Lit(v << 1) }

// Not returns the negation of l.
func (l Lit) Not() Lit { return l ^ 1 }

// Var returns the number of the variable of l.
func (l Lit) Var() int { return int(l >> 1) }

// Status is the answer to a formula.
type Status int8

const (
	Unknown Status = iota // out of steps, or stopped
	Sat                   // the assignment is a model
	Unsat                 // no model under the assumptions; Core returns those that it needed
)

// Limits bound one search.
type Limits struct {
	Steps int64       // of the search, see Solver.Steps; 0: no limit
	Stop  func() bool // called every pollSteps steps; true ends the search; nil: never
}

// pollSteps is the number of steps between two calls of Limits.Stop.
const pollSteps = 1 << 18

// ref is the offset of a clause in the arena.
type ref uint32

const (
	none   ref = ^ref(0)
	binary ref = 1 << 31 // in a watch: the clause has two literals, the blocker is the other one
)

// watch is a clause to visit when a literal becomes false. If the blocker, another literal of the
// clause, is true, the clause holds and is not visited.
type watch struct {
	at      ref
	blocker Lit
}

// Solver holds clauses and everything learned from them; searches build on earlier ones. Make it
// with New.
type Solver struct {
	// clauses is the arena: for each clause its size, its value and its literals, the first two
	// of which are watched. The value of a given clause is 0, that of a learned one its LBD.
	clauses  []Lit
	learned  []ref
	attached int       // clauses before this place are watched
	watches  [][]watch // by literal: the clauses that watch its negation
	need     []int32   // scratch space of attach
	// The lists of watches that attach makes lie in block; room is what is left of it.
	block, room []watch

	value  []int8 // by literal: 1 true, -1 false, 0 unassigned
	level  []int32
	reason []ref
	phase  []bool // by variable: its last value was false
	trail  []Lit
	limits []int // by decision level: where it begins in trail
	head   int   // the first literal of trail that is not propagated yet

	order    heap
	activity float64 // increment of the next bump
	model    []int8  // by variable: the values of the last Sat
	core     []Lit   // assumptions that the last Unsat needed

	// onLearn, if set, receives each clause that is learned, in order. Tests check that it is a
	// consequence of those before it.
	onLearn func(clause []Lit)

	seen    []bool // by variable, of an analysis
	toClear []int
	stack   []Lit
	learn   []Lit
	stamp   []uint64 // by level
	marks   []uint64 // by literal
	stamps  uint64

	restart    restarts
	conflicts  int64
	reduceAt   int64
	reductions int64
	steps      int64
	broken     bool // the clauses alone have no model
}

// New returns a solver without variables and clauses.
func New() *Solver {
	s := &Solver{}
	s.Reset()
	return s
}

// Reset makes s a solver without variables and clauses, as New returns it, and keeps its memory for
// those to come.
func (s *Solver) Reset() {
	clear(s.watches)
	o := &s.order
	*s = Solver{
		clauses: s.clauses[:0], learned: s.learned[:0], watches: s.watches[:0],
		need: s.need[:0], block: s.block, room: s.block,
		value: s.value[:0], level: s.level[:0], reason: s.reason[:0], phase: s.phase[:0],
		trail: s.trail[:0], limits: s.limits[:0],
		order:    heap{score: o.score[:0], items: o.items[:0], index: o.index[:0]},
		activity: 1, model: s.model[:0], core: s.core[:0],
		seen: s.seen[:0], toClear: s.toClear[:0], stack: s.stack[:0], learn: s.learn[:0],
		stamp: append(s.stamp[:0], 0), marks: s.marks[:0],
		reduceAt: firstReduction,
	}
}

// NewVar adds a variable and returns its positive literal.
func (s *Solver) NewVar() Lit {
	v := len(s.level)
	s.watches = append(s.watches, nil, nil)
	s.value = append(s.value, 0, 0)
	s.marks = append(s.marks, 0, 0)
	s.level = append(s.level, 0)
	s.reason = append(s.reason, none)
	s.phase = append(s.phase, true)
	s.seen = append(s.seen, false)
	s.stamp = append(s.stamp, 0)
	s.order.grow()
	s.order.push(v)
	return Var(v)
}

// Steps is the work of all searches so far, which Limits bounds: a step for each watched clause that
// was visited, and for every four literals that the analysis of a conflict visited.
func (s *Solver) Steps() int64 { return s.steps }

// assign makes a literal true at the current decision level. why is the clause that implies it, or
// none for a decision.
func (s *Solver) assign(l Lit, why ref) {
	s.value[l], s.value[l.Not()] = 1, -1
	s.level[l.Var()] = int32(len(s.limits))
	s.reason[l.Var()] = why
	s.trail = append(s.trail, l)
}

// propagate assigns what follows by unit propagation, and returns a falsified clause, or none. For
// each literal that became false it visits the clauses that watch it: a clause either finds another
// literal to watch, implies its last one, or is falsified. Each visit is a step.
func (s *Solver) propagate() ref {
	for s.head < len(s.trail) {
		p := s.trail[s.head]
		s.head++
		ws := s.watches[p]
		s.steps += int64(len(ws)) + 1
		kept := ws[:0]
	next:
		for i := 0; i < len(ws); i++ {
			w := ws[i]
			switch v := s.value[w.blocker]; {
			case v > 0:
				kept = append(kept, w)
				continue
			case w.at&binary != 0:
				kept = append(kept, w)
				if v < 0 {
					s.watches[p] = append(kept, ws[i+1:]...)
					s.head = len(s.trail)
					return w.at &^ binary
				}
				s.assign(w.blocker, w.at&^binary)
				continue
			}
			c := s.lits(w.at)
			if c[0] == p.Not() {
				c[0], c[1] = c[1], c[0]
			}
			first := c[0]
			if s.value[first] > 0 {
				kept = append(kept, watch{w.at, first})
				continue
			}
			for k := 2; k < len(c); k++ {
				if l := c[k]; s.value[l] >= 0 {
					c[1], c[k] = l, c[1]
					s.watches[l.Not()] = append(s.watches[l.Not()], watch{w.at, first})
					continue next
				}
			}
			kept = append(kept, watch{w.at, first})
			if s.value[first] < 0 {
				s.watches[p] = append(kept, ws[i+1:]...)
				s.head = len(s.trail)
				return w.at
			}
			s.assign(first, w.at)
		}
		s.watches[p] = kept
	}
	return none
}

// back undoes the assignments above a decision level and remembers their values as phases, so that
// a later decision continues where the search was.
func (s *Solver) back(level int) {
	if len(s.limits) <= level {
		return
	}
	for i := len(s.trail) - 1; i >= s.limits[level]; i-- {
		l := s.trail[i]
		v := l.Var()
		s.value[l], s.value[l.Not()] = 0, 0
		s.phase[v] = l&1 == 1
		s.order.push(v)
	}
	s.trail = s.trail[:s.limits[level]]
	s.limits = s.limits[:level]
	s.head = len(s.trail)
}

// Solve looks for a model in which the assumptions hold. Unsat means that there is none: Core then
// names assumptions that suffice for that. Clauses and variables may be added between searches.
func (s *Solver) Solve(limits Limits, assumptions ...Lit) Status {
	s.core = s.core[:0]
	if s.broken {
		return Unsat
	}
	s.attach()
	defer s.back(0)
	end := s.steps + limits.Steps
	poll := s.steps + pollSteps
	for {
		if bad := s.propagate(); bad != none {
			s.conflicts++
			if len(s.limits) == 0 {
				s.broken = true
				return Unsat
			}
			s.conflict(bad)
			continue
		}
		if limits.Steps > 0 && s.steps > end {
			return Unknown
		}
		if s.steps > poll {
			poll = s.steps + pollSteps
			if limits.Stop != nil && limits.Stop() {
				return Unknown
			}
		}
		if s.restart.due() {
			s.back(min(len(s.limits), len(assumptions)))
		}
		if s.conflicts >= s.reduceAt {
			s.reduce()
		}
		next := Lit(-1)
		for len(s.limits) < len(assumptions) {
			a := assumptions[len(s.limits)]
			if s.value[a] < 0 {
				s.failed(a)
				return Unsat
			}
			if s.value[a] == 0 {
				next = a
				break
			}
			s.limits = append(s.limits, len(s.trail)) // it holds already: an empty level
		}
		if next < 0 {
			if next = s.choose(); next < 0 {
				s.keepModel()
				return Sat
			}
		}
		s.limits = append(s.limits, len(s.trail))
		s.assign(next, none)
	}
}

// choose returns the literal to decide next, or -1 if every variable is assigned: the most active
// variable, with its saved phase. Variables start as false.
func (s *Solver) choose() Lit {
	for {
		v := s.order.pop()
		if v < 0 {
			return -1
		}
		if l := Var(v); s.value[l] == 0 {
			if s.phase[v] {
				return l.Not()
			}
			return l
		}
	}
}

// keepModel copies the values of all variables: Solve undoes the assignment when it returns.
func (s *Solver) keepModel() {
	s.model = s.model[:0]
	for v := range s.level {
		s.model = append(s.model, s.value[Var(v)])
	}
}

// Holds reports whether a literal is true in the model of the last Sat.
func (s *Solver) Holds(l Lit) bool {
	return l.Var() < len(s.model) && s.model[l.Var()] > 0 == (l&1 == 0)
}

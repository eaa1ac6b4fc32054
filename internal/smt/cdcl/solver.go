// Package cdcl decides formulas in conjunctive normal form, and counts its steps, so that a limit means the same on a busy
// machine as on an idle one.
//
// What it follows: conflict-driven clause learning as in Eén and Sörensson, "An extensible SAT-solver" (SAT 2003), with two
// watched literals, learning at the first unique implication point, minimization of what is learned, activities that
// decay and saved phases; clauses are valued by the number of their decision levels, and restarts follow it, as in Audemard and Simon,
// "Predicting learnt clauses quality in modern SAT solvers" (IJCAI 2009). Nothing in it depends on time, on maps or on
// chance: the same clauses in the same order give the same answer after the same number of steps.
package cdcl

// Lit is a variable, or its negation.
type Lit int32

// Var returns the literal of variable v, from 0.
func Var(v int) Lit { return Lit(v << 1) }

// Not is the negation.
func (l Lit) Not() Lit { return l ^ 1 }

// Var is the number of the variable.
func (l Lit) Var() int { return int(l >> 1) }

// Status is what is known of a formula.
type Status int8

const (
	Unknown Status = iota // out of steps, or stopped
	Sat
	Unsat
)

// Limits bound a search.
type Limits struct {
	Steps int64       // watched clauses that may be looked at; 0: no limit
	Stop  func() bool // asked now and then; nil: never stops
}

// pollSteps is how often Stop is asked.
const pollSteps = 1 << 18

// ref is the place of a clause in the arena.
type ref uint32

const (
	none   ref = ^ref(0)
	binary ref = 1 << 31 // in a watch: the other literal is the blocker
)

// watch is a clause that is looked at when a literal becomes false; if the blocker is true it need not be.
type watch struct {
	at      ref
	blocker Lit
}

// Solver holds clauses. Make it with New.
type Solver struct {
	clauses  []Lit // the arena: for each clause its size, its value and its literals, the first two of which are watched
	learned  []ref
	attached int       // clauses before this place are watched
	watches  [][]watch // by literal: of the clauses that hold its negation

	value  []int8 // by literal: 1 true, -1 false, 0 open
	level  []int32
	reason []ref
	phase  []bool // by variable: whether it was false last
	trail  []Lit
	limits []int // where the decision levels begin
	head   int   // of what is not propagated

	order    heap
	activity float64 // of the next bump
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
	broken     bool // there is no model
}

// New returns a solver without clauses.
func New() *Solver {
	s := &Solver{activity: 1, reduceAt: firstReduction}
	s.stamp = append(s.stamp, 0)
	return s
}

// NewVar adds a variable.
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

// Steps is how many watched clauses have been looked at so far, by all searches.
func (s *Solver) Steps() int64 { return s.steps }

func (s *Solver) assign(l Lit, why ref) {
	s.value[l], s.value[l.Not()] = 1, -1
	s.level[l.Var()] = int32(len(s.limits))
	s.reason[l.Var()] = why
	s.trail = append(s.trail, l)
}

// propagate assigns what follows, and returns a clause that is false, or none.
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

// back undoes what was assigned above a level.
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

// Solve looks for a model in which the assumptions hold.
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
			s.limits = append(s.limits, len(s.trail)) // it holds already
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

// choose returns what to decide next, or -1 if everything is assigned.
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

func (s *Solver) keepModel() {
	s.model = s.model[:0]
	for v := range s.level {
		s.model = append(s.model, s.value[Var(v)])
	}
}

// Holds reports whether a literal is true in the model that the last Sat found.
func (s *Solver) Holds(l Lit) bool {
	return l.Var() < len(s.model) && s.model[l.Var()] > 0 == (l&1 == 0)
}

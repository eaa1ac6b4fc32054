package smt

import (
	"maps"
	"slices"
)

// Simplification of a conjunction by itself, as preprocessors of SMT solvers do: conjuncts replace
// their occurrences in each other, equations eliminate variables (Gaussian elimination modulo 2^w,
// with odd coefficients), bounds of variables become ranges, and comparisons of the same two terms
// imply others.
//
// Law: the reduced conjunction has a model exactly if the original one has, and Complete turns a
// model of the first into one of the second. A replaced variable keeps its range as a conjunct.
// Reduce misses everything that needs a case split or the multiplication of two conjuncts; it gives
// up after maxRounds.

// Status is the answer to a query.
type Status uint8

const (
	Unknown Status = iota // not decided
	Unsat                 // no model exists
	Sat                   // a model exists
)

var statusNames = [...]string{"unknown", "unsat", "sat"}

// String returns the status in the form of SMT-LIB: "unknown", "unsat", "sat".
func (s Status) String() string { return statusNames[s] }

// Reduced is a conjunction after simplification. It has a model exactly if the original has one.
type Reduced struct {
	Status  Status // Unsat or Sat if the simplifier decided, else Unknown
	Model   *Model // of the original query, if Sat
	Asserts []Term // the remaining conjuncts, if Unknown
	c       *Context
	vars    []Term          // of the original query
	solved  []definition    // eliminated variables, in the order of elimination
	narrow  map[string]Term // by name: the term with the latest range
}

// definition is an eliminated variable with the term that replaced it.
type definition struct {
	name string
	by   Term
}

// maxRounds is the maximum number of passes over the query. Each pass eliminates a variable or
// narrows ranges. A query that still changes after that goes to the solver as it is.
const maxRounds = 24

// Reduce simplifies a conjunction. asserts stay valid; new terms are added to c.
func (c *Context) Reduce(asserts []Term) *Reduced {
	r := &Reduced{c: c, narrow: map[string]Term{}}
	c.Visit(asserts, func(t Term) {
		if c.nodes[t].op == OpVar {
			r.vars = append(r.vars, t)
		}
	})
	list := c.conjuncts(asserts)
	// Stop at a fixpoint, at True (no conjunct) or at False.
	for range maxRounds {
		next := r.round(list)
		same := slices.Equal(list, next)
		list = next
		if same || len(list) == 0 || list[0] == False {
			break
		}
	}
	switch {
	case len(list) == 1 && list[0] == False:
		r.Status = Unsat
		return r
	case len(list) == 0:
		m := &Model{Vars: map[string]uint64{}}
		if r.Complete(m); c.Satisfies(m, asserts) {
			r.Status, r.Model = Sat, m
			return r
		}
		list = c.conjuncts(asserts) // the default values violate a range: start over without elimination
		r.solved = nil
		r.narrow = map[string]Term{}
	}
	r.Asserts = list
	return r
}

// Satisfies reports whether m makes all terms true and respects the assumed ranges of their
// variables.
func (c *Context) Satisfies(m *Model, terms []Term) bool {
	ranges := c.Ranges(terms)
	e := c.Evaluate(m)
	for _, t := range append(ranges, terms...) {
		if !e.Holds(t) {
			return false
		}
	}
	return true
}

// conjuncts returns the flattened conjunction: empty if it is True, and {False} if it is False.
func (c *Context) conjuncts(asserts []Term) []Term {
	all := c.And(asserts...)
	switch {
	case all == True:
		return nil
	case c.nodes[all].op == OpAnd:
		return append([]Term(nil), c.nodes[all].args...)
	}
	return []Term{all}
}

// round makes one pass: it replaces conjuncts inside each other, and then either eliminates one
// variable or turns all bounds of variables into ranges.
func (r *Reduced) round(list []Term) []Term {
	c := r.c
	list = slices.Clone(list)
	lits := c.Substitute()
	for _, t := range list {
		if n := c.nodes[t]; n.op == OpNot {
			lits.Replace(n.args[0], False)
		} else {
			lits.Replace(t, True)
		}
	}
	more := c.orders(list, lits)
	if slices.Contains(more, False) {
		return more
	}
	list = append(list, more...)
	for i, t := range list {
		list[i] = lits.inside(t)
	}
	s, removed, keep, ok := r.solveOne(list)
	if !ok {
		if s, removed, ok = r.narrowAll(list); !ok {
			return []Term{False}
		}
	}
	out := keep
	for i, t := range list {
		if !removed[i] {
			out = append(out, s.Apply(t))
		}
	}
	return c.conjuncts(out)
}

// orders applies what comparisons of the same two terms imply: a < b excludes b < a and a = b,
// which are replaced in lits. If neither a < b nor b < a holds, it returns a = b; for a
// contradiction it returns False. The exit of a loop asserts such comparisons of its counter and
// bound, and a SAT solver may enumerate all values before it finds the same.
func (c *Context) orders(list []Term, lits *Substitution) (more []Term) {
	holds := map[Term]bool{} // by comparison: asserted true or false
	for _, t := range list {
		n := c.nodes[t]
		switch {
		case c.isOrder(t):
			holds[t] = true
		case n.op == OpNot && c.isOrder(n.args[0]):
			holds[n.args[0]] = false
		}
	}
	for _, t := range list {
		n := c.nodes[t]
		switch {
		case c.isOrder(t):
			back := c.reversed(t)
			if holds[back] {
				return []Term{False}
			}
			if c.isOrder(back) {
				lits.Replace(back, False)
			}
			if same := c.Eq(n.args[0], n.args[1]); c.nodes[same].op == OpEq {
				lits.Replace(same, False)
			}
		case n.op == OpNot && c.isOrder(n.args[0]):
			back := c.reversed(n.args[0])
			if less, known := holds[back]; known && !less && back < n.args[0] {
				more = append(more, c.Eq(c.nodes[back].args[0], c.nodes[back].args[1]))
			}
		}
	}
	return more
}

// isOrder reports whether t is a comparison, < signed or unsigned.
func (c *Context) isOrder(t Term) bool { return c.nodes[t].op == OpUlt || c.nodes[t].op == OpSlt }

// reversed returns a comparison with its sides exchanged.
func (c *Context) reversed(t Term) Term {
	n := c.nodes[t]
	if n.op == OpUlt {
		return c.Ult(n.args[1], n.args[0])
	}
	return c.Slt(n.args[1], n.args[0])
}

// variants returns the terms of each variable in list, which differ in their ranges, by name.
func (r *Reduced) variants(list []Term) map[string][]Term {
	m := map[string][]Term{}
	r.c.Visit(list, func(t Term) {
		if r.c.nodes[t].op == OpVar {
			m[r.c.Name(t)] = append(m[r.c.Name(t)], t)
		}
	})
	return m
}

// solveOne finds a conjunct that determines a variable and returns the substitution that eliminates
// it, the index of the conjunct, and the ranges of the variable as conjuncts to keep.
func (r *Reduced) solveOne(
	list []Term,
) (s *Substitution, removed map[int]bool, keep []Term, ok bool) {
	c := r.c
	for i, t := range list {
		v, by, solved := c.solve(t)
		if !solved {
			continue
		}
		name := c.Name(v)
		s = c.Substitute()
		// All terms of the variable are replaced, and each had an assumed range that by must
		// satisfy. The range of an earlier round counts even if its term no longer occurs.
		for _, x := range r.variants(list)[name] {
			s.Replace(x, by)
			keep = append(keep, c.inRange(x, by)...)
		}
		if x, found := r.narrow[name]; found {
			keep = append(keep, c.inRange(x, by)...)
		}
		r.solved = append(r.solved, definition{name, by})
		return s, map[int]bool{i: true}, keep, true
	}
	return nil, nil, nil, false
}

// narrowAll turns conjuncts that bound a variable into a range of the variable, and returns their
// indices as removed. ok is false if a range is empty: the query is unsatisfiable.
func (r *Reduced) narrowAll(list []Term) (s *Substitution, removed map[int]bool, ok bool) {
	c := r.c
	s, removed = c.Substitute(), map[int]bool{}
	ranges := map[string]facts{}
	variants := r.variants(list)
	for i, t := range list {
		v, f, found := c.bound(t)
		if !found {
			continue
		}
		name, w := c.Name(v), c.nodes[v].width
		for _, x := range variants[name] {
			f, found = intersect(f, c.facts[x], w)
			if !found {
				return s, removed, false
			}
		}
		if g, twice := ranges[name]; twice {
			if f, found = intersect(f, g, w); !found {
				return s, removed, false
			}
		}
		ranges[name], removed[i] = f, true
	}
	// In a fixed order, since the numbers of new terms decide the steps of the solver.
	for _, name := range slices.Sorted(maps.Keys(ranges)) {
		w := c.nodes[variants[name][0]].width
		to := c.refined(name, w, ranges[name])
		r.narrow[name] = to
		for _, x := range variants[name] {
			s.Replace(x, to)
		}
	}
	return s, removed, true
}

// inside applies the substitution to the arguments of a conjunct, but not to the literal that it
// asserts, which would become True.
func (s *Substitution) inside(t Term) Term {
	if n := s.c.nodes[t]; n.op == OpNot {
		return s.c.Not(s.fresh(n.args[0]))
	}
	return s.fresh(t)
}

// fresh is under without a cache entry for t itself.
func (s *Substitution) fresh(t Term) Term {
	n := s.c.nodes[t]
	if len(n.args) == 0 {
		return t
	}
	args := make([]Term, len(n.args))
	for i, a := range n.args {
		args[i] = s.Apply(a)
	}
	return s.c.rebuild(&n, args)
}

// Solved returns a variable v and a term by such that t implies v = by and by does not contain v.
// ok is false if t is not such an equation.
func (c *Context) Solved(t Term) (v, by Term, ok bool) { return c.solve(t) }

// solve implements Solved. In a linear equation it solves for a variable with an odd coefficient,
// which is invertible modulo 2^w.
func (c *Context) solve(t Term) (v, by Term, ok bool) {
	n := c.nodes[t]
	switch {
	case n.op == OpVar: // a Boolean variable
		return t, True, true
	case n.op == OpNot && c.nodes[n.args[0]].op == OpVar:
		return n.args[0], False, true
	case n.op != OpEq:
		return 0, 0, false
	}
	a, b := n.args[0], n.args[1]
	if c.nodes[a].width == 0 {
		for range 2 {
			if c.nodes[a].op == OpVar && !c.occurs(a, b) {
				return a, b, true
			}
			a, b = b, a
		}
		return 0, 0, false
	}
	l := c.view(a).plus(1, c.view(b), ^uint64(0))
	// Solving a long equation would put its summands into many terms.
	if len(l.t) > 8 {
		return 0, 0, false
	}
	for i, x := range l.t {
		if c.nodes[x].op != OpVar || l.k[i]&1 == 0 {
			continue
		}
		rest := linear{w: l.w, c: l.c}
		for j := range l.t {
			if j != i {
				rest.t, rest.k = append(rest.t, l.t[j]), append(rest.k, l.k[j])
			}
		}
		by := c.MulConst(c.term(rest), -inverse(l.k[i]))
		if !c.occurs(x, by) {
			return x, by, true
		}
	}
	return 0, 0, false
}

// occurs reports whether t contains the variable v with any range.
func (c *Context) occurs(v, t Term) bool {
	name, found := c.Name(v), false
	c.Visit([]Term{t}, func(x Term) {
		found = found || c.nodes[x].op == OpVar && c.Name(x) == name
	})
	return found
}

// inRange returns the assumed range of v as conjuncts about by, which replaces v.
func (c *Context) inRange(v, by Term) []Term {
	n := c.nodes[v]
	if n.width == 0 {
		return nil
	}
	f, w := c.facts[v], int(n.width)
	out := []Term{c.Ule(c.Const(f.ulo, w), by), c.Ule(by, c.Const(f.uhi, w))}
	if g := unsignedIn(n.width, f.ulo, f.uhi); f.slo > g.slo || f.shi < g.shi {
		out = append(out, c.Sle(c.Const(uint64(f.slo), w), by), c.Sle(by, c.Const(uint64(f.shi), w)))
	}
	return out
}

// bound returns the range that a conjunct of the form v < k, k < v or their negations gives to v.
// ok is false for other conjuncts and for bounds that no value satisfies.
func (c *Context) bound(t Term) (v Term, f facts, ok bool) {
	neg := false
	n := c.nodes[t]
	if n.op == OpNot {
		neg = true
		n = c.nodes[n.args[0]]
	}
	if n.op != OpUlt && n.op != OpSlt {
		return 0, f, false
	}
	a, b := n.args[0], n.args[1]
	if neg { // !(a < b) is b <= a
		a, b = b, a
	}
	strict := uint64(1)
	if neg {
		strict = 0
	}
	w := c.nodes[a].width
	if k, isK := c.Value(b); isK && c.nodes[a].op == OpVar { // v < k or v <= k
		if n.op == OpUlt {
			return a, unsignedIn(w, 0, k-strict), k >= strict
		}
		hi := signed(k, w) - int64(strict)
		return a, signedIn(w, signed(1<<(w-1), w), hi), hi <= signed(k, w)
	}
	if k, isK := c.Value(a); isK && c.nodes[b].op == OpVar { // k < v or k <= v
		if n.op == OpUlt {
			return b, unsignedIn(w, k+strict, mask(w)), k <= mask(w)-strict
		}
		lo := signed(k, w) + int64(strict)
		return b, signedIn(w, lo, int64(mask(w)>>1)), lo >= signed(k, w) && lo <= int64(mask(w)>>1)
	}
	return 0, f, false
}

// intersect returns facts that hold for the values that satisfy both a and b. If ok is false, no
// value does.
func intersect(a, b facts, w uint8) (f facts, ok bool) {
	f = facts{
		zeros: a.zeros | b.zeros, ones: a.ones | b.ones,
		ulo: max(a.ulo, b.ulo), uhi: min(a.uhi, b.uhi),
		slo: max(a.slo, b.slo), shi: min(a.shi, b.shi),
	}
	if f.ulo > f.uhi {
		return f, false
	}
	t := f.tighten(w)
	// tighten replaced an empty range by one value, or found bits that exclude each other
	if t.uhi > f.uhi || t.shi > f.shi || t.zeros&t.ones != 0 {
		return f, false
	}
	return t, true
}

// Complete extends a model of r.Asserts in place to a model of the original query: first the
// variables that no longer occur, then the eliminated ones in reverse order.
func (r *Reduced) Complete(m *Model) {
	c := r.c
	for _, v := range r.vars {
		name := c.Name(v)
		if _, ok := m.Vars[name]; ok {
			continue
		}
		if n, ok := r.narrow[name]; ok {
			v = n
		}
		m.Vars[name] = c.facts[v].some(c.nodes[v].width)
	}
	for i := len(r.solved) - 1; i >= 0; i-- {
		d := r.solved[i]
		m.Vars[d.name] = c.Evaluate(m).Value(d.by)
	}
}

// some returns a value that lies in both ranges if one of their lower bounds does. The known bits
// may exclude it, so callers check the model.
func (f facts) some(w uint8) uint64 {
	if w == 0 || signed(f.ulo, w) >= f.slo && signed(f.ulo, w) <= f.shi {
		return f.ulo
	}
	return uint64(f.slo) & mask(w)
}

package smt

import "slices"

// Status is what is known of a query.
type Status uint8

const (
	Unknown Status = iota
	Unsat
	Sat
)

var statusNames = [...]string{"unknown", "unsat", "sat"}

// String returns the answer as solvers print it.
func (s Status) String() string { return statusNames[s] }

// Reduced is a query after simplification: it has a model exactly if the original has one.
type Reduced struct {
	Status  Status // Unsat or Sat if the simplifier decided
	Model   *Model // of the original query, if Sat
	Asserts []Term // what is left, if Unknown
	c       *Context
	vars    []Term // of the original query
	solved  []definition
	narrow  map[string]Term // by name: the term with the last range
}

// definition says that a variable was replaced by a term over others.
type definition struct {
	name string
	by   Term
}

// maxRounds bounds how often Reduce goes over the query. Each round removes a variable or narrows ranges, and
// fixes literals; a query that still moves goes to the solver as it is.
const maxRounds = 24

// Reduce simplifies a conjunction under itself: what is asserted is true elsewhere, a variable that an
// equation determines is replaced, a bound of a variable becomes its range.
func (c *Context) Reduce(asserts []Term) *Reduced {
	r := &Reduced{c: c, narrow: map[string]Term{}}
	c.Visit(asserts, func(t Term) {
		if c.nodes[t].op == OpVar {
			r.vars = append(r.vars, t)
		}
	})
	list := c.conjuncts(asserts)
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
		list = c.conjuncts(asserts) // the ranges left a value that the default missed
		r.solved = nil
		r.narrow = map[string]Term{}
	}
	r.Asserts = list
	return r
}

// Satisfies reports whether m makes all terms true, the assumed ranges of their variables included.
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

// conjuncts flattens a conjunction; if it is False, that is the only member.
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

// round applies what the conjuncts say of each other once. Either one variable is solved, or all bounds of
// variables become ranges.
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
	s, gone, keep, ok := r.solveOne(list)
	if !ok {
		if s, gone, ok = r.narrowAll(list); !ok {
			return []Term{False}
		}
	}
	out := keep
	for i, t := range list {
		if !gone[i] {
			out = append(out, s.Apply(t))
		}
	}
	return c.conjuncts(out)
}

// orders says what comparisons of the same two terms say of each other: a < b leaves neither b < a nor equality, and where
// neither is less they are equal, which is returned; or False for a contradiction. A loop that ends says this much of its counter and its bound, and a
// solver of clauses may count through all values before it sees it.
func (c *Context) orders(list []Term, lits *Substitution) (more []Term) {
	holds := map[Term]bool{} // of comparisons
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

func (c *Context) isOrder(t Term) bool { return c.nodes[t].op == OpUlt || c.nodes[t].op == OpSlt }

// reversed is a comparison with its sides exchanged.
func (c *Context) reversed(t Term) Term {
	n := c.nodes[t]
	if n.op == OpUlt {
		return c.Ult(n.args[1], n.args[0])
	}
	return c.Slt(n.args[1], n.args[0])
}

// variants returns the terms of each variable of list, by name.
func (r *Reduced) variants(list []Term) map[string][]Term {
	m := map[string][]Term{}
	r.c.Visit(list, func(t Term) {
		if r.c.nodes[t].op == OpVar {
			m[r.c.Name(t)] = append(m[r.c.Name(t)], t)
		}
	})
	return m
}

// solveOne takes one conjunct that determines a variable out of the query.
func (r *Reduced) solveOne(list []Term) (s *Substitution, gone map[int]bool, keep []Term, ok bool) {
	c := r.c
	for i, t := range list {
		v, by, solved := c.solve(t)
		if !solved {
			continue
		}
		name := c.Name(v)
		s = c.Substitute()
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

// narrowAll turns the bounds of variables into their ranges; ok is false if a range became empty.
func (r *Reduced) narrowAll(list []Term) (s *Substitution, gone map[int]bool, ok bool) {
	c := r.c
	s, gone = c.Substitute(), map[int]bool{}
	ranges := map[string]facts{}
	variants := r.variants(list)
	for i, t := range list {
		v, f, found := c.bound(t)
		if !found {
			continue
		}
		name, w := c.Name(v), c.nodes[v].width
		for _, x := range variants[name] {
			f, found = meet(f, c.facts[x], w)
			if !found {
				return s, gone, false
			}
		}
		if g, twice := ranges[name]; twice {
			if f, found = meet(f, g, w); !found {
				return s, gone, false
			}
		}
		ranges[name], gone[i] = f, true
	}
	for name, f := range ranges {
		w := c.nodes[variants[name][0]].width
		to := c.refined(name, w, f)
		r.narrow[name] = to
		for _, x := range variants[name] {
			s.Replace(x, to)
		}
	}
	return s, gone, true
}

// inside applies the substitution to the parts of an assertion, but not to the literal that it asserts.
func (s *Substitution) inside(t Term) Term {
	if n := s.c.nodes[t]; n.op == OpNot {
		return s.c.Not(s.fresh(n.args[0]))
	}
	return s.fresh(t)
}

// fresh is under without the memo for t itself.
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

// Solved reads a conjunct as an equation of a variable: t holds only where v = by.
func (c *Context) Solved(t Term) (v, by Term, ok bool) { return c.solve(t) }

// solve finds a variable that an equation determines: v = by, where v does not occur in by.
func (c *Context) solve(t Term) (v, by Term, ok bool) {
	n := c.nodes[t]
	switch {
	case n.op == OpVar: // a Boolean
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

// occurs reports whether the variable v, under whatever range, occurs in t.
func (c *Context) occurs(v, t Term) bool {
	name, found := c.Name(v), false
	c.Visit([]Term{t}, func(x Term) {
		found = found || c.nodes[x].op == OpVar && c.Name(x) == name
	})
	return found
}

// inRange says that by keeps the assumptions of v, which it replaces.
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

// bound reads an assertion as a bound of one variable: v < k, k < v, or their negations.
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

// meet returns the facts that hold under both; ok is false if nothing satisfies them.
func meet(a, b facts, w uint8) (f facts, ok bool) {
	f = facts{
		zeros: a.zeros | b.zeros, ones: a.ones | b.ones,
		ulo: max(a.ulo, b.ulo), uhi: min(a.uhi, b.uhi),
		slo: max(a.slo, b.slo), shi: min(a.shi, b.shi),
	}
	if f.ulo > f.uhi || f.slo > f.shi || f.zeros&f.ones != 0 {
		return f, false
	}
	t := f.tighten(w)
	if t.uhi > f.uhi || t.shi > f.shi || t.zeros&t.ones != 0 { // tighten moved an empty range
		return f, false
	}
	return t, true
}

// Complete extends a model of r.Asserts to one of the original query.
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

// some returns a value of the range, where one is easily found.
func (f facts) some(w uint8) uint64 {
	if w == 0 || signed(f.ulo, w) >= f.slo && signed(f.ulo, w) <= f.shi {
		return f.ulo
	}
	return uint64(f.slo) & mask(w)
}

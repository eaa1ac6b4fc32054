package sat

import "heddle/internal/smt/cdcl"

// literal adds the clauses of a node and of the nodes below it to the solver (Tseitin encoding),
// and returns its literal. Both directions of each equivalence are added, so a model of the solver
// determines the value of every node that it has. The stack replaces recursion, since circuits are
// deep.
func (l *circuit) literal(of lit) cdcl.Lit {
	l.stack = append(l.stack[:0], of&^1)
	for len(l.stack) > 0 {
		at := l.stack[len(l.stack)-1]
		l.stack = l.stack[:len(l.stack)-1]
		if l.given[at>>1] {
			continue
		}
		l.given[at>>1] = true
		v := l.of(at)
		switch g := l.gates[at>>1]; g.kind {
		case and:
			l.conjunction(v, at)
		case xor: // v <-> (a != b)
			a, b := l.of(g.a), l.of(g.b)
			l.s.Add(v.Not(), a, b)
			l.s.Add(v.Not(), a.Not(), b.Not())
			l.s.Add(v, a.Not(), b)
			l.s.Add(v, a, b.Not())
			l.stack = append(l.stack, g.a&^1, g.b&^1)
		case mux: // v <-> (p ? a : b)
			p, a, b := l.of(g.a), l.of(g.b), l.of(g.c)
			l.s.Add(p.Not(), a.Not(), v)
			l.s.Add(p.Not(), a, v.Not())
			l.s.Add(p, b.Not(), v)
			l.s.Add(p, b, v.Not())
			l.s.Add(a.Not(), b.Not(), v) // implied by the others, but they help propagation
			l.s.Add(a, b, v.Not())
			l.stack = append(l.stack, g.a&^1, g.b&^1, g.c&^1)
		case maj: // v equals any two inputs that agree
			a, b, c := l.of(g.a), l.of(g.b), l.of(g.c)
			for _, x := range [...][2]cdcl.Lit{{a, b}, {a, c}, {b, c}} {
				l.s.Add(x[0].Not(), x[1].Not(), v)
				l.s.Add(x[0], x[1], v.Not())
			}
			l.stack = append(l.stack, g.a&^1, g.b&^1, g.c&^1)
		}
	}
	return l.of(of)
}

// of returns the literal of a node in the solver.
func (l *circuit) of(m lit) cdcl.Lit {
	if l.lits[m>>1] < 0 {
		l.lits[m>>1] = l.s.NewVar()
	}
	return l.lits[m>>1] ^ cdcl.Lit(m&1)
}

// conjunction adds the clauses of an and gate. Gates below it that nothing else uses are merged
// into one wide conjunction, which needs fewer variables.
func (l *circuit) conjunction(v cdcl.Lit, at lit) {
	leaves := l.leaves[:0]
	todo := append(l.todo[:0], l.gates[at>>1].a, l.gates[at>>1].b)
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		// A positive and gate with a single user needs no literal of its own.
		if g := l.gates[m>>1]; m&1 == 0 && g.kind == and && l.uses[m>>1] == 1 && !l.given[m>>1] {
			todo = append(todo, g.a, g.b)
			continue
		}
		leaves = append(leaves, m)
	}
	l.leaves, l.todo = leaves, todo
	all := append(l.clause[:0], v)
	for _, m := range leaves {
		x := l.of(m)
		l.s.Add(v.Not(), x)
		all = append(all, x.Not())
		l.stack = append(l.stack, m&^1)
	}
	l.s.Add(all...)
	l.clause = all
}

// holds returns the value of a node in the model of the solver. Gates that the solver does not have
// are computed from their inputs, and unused inputs are 0.
func (l *circuit) holds(m lit) bool {
	at := m >> 1
	sign := m&1 == 1
	if l.given[at] {
		v := l.lits[at]
		return (v >= 0 && l.s.Holds(v)) != sign
	}
	if l.values == nil {
		l.values = map[lit]bool{}
	}
	v, known := l.values[at]
	if !known {
		g := l.gates[at]
		switch a, b := l.holds(g.a), l.holds(g.b); g.kind {
		case and:
			v = a && b
		case xor:
			v = a != b
		case mux:
			if v = b; !a {
				v = l.holds(g.c)
			}
		case maj:
			c := l.holds(g.c)
			v = a && b || a && c || b && c
		}
		l.values[at] = v
	}
	return v != sign
}

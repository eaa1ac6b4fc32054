package sat

import "heddle/internal/smt/cdcl"

// lit is a node of a circuit, or its negation: twice the number of the node, plus one if negated.
type lit int32

// not returns the negation: the lowest bit of a literal is its sign.
func (l lit) not() lit { return l ^ 1 }

// The constants. Node 0 is true.
const (
	yes lit = 0
	no  lit = 1
)

// kind is the function of a gate.
type kind uint8

const (
	input kind = iota
	and        // a & b
	xor        // a ^ b
	mux        // a ? b : c
	maj        // at least two of a, b and c
)

// gate is a node of a circuit. Equal gates are shared.
type gate struct {
	kind    kind
	a, b, c lit
}

// circuit is an and-inverter graph with xor, multiplexer and majority gates. It simplifies gates as
// they are built (constants, equal and complementary inputs, and one level of the gates below), and
// passes only the needed gates to the solver.
type circuit struct {
	gates  []gate
	table  []lit        // open addressing; 0: free
	uses   []int32      // by node: number of gates that use it
	lits   []cdcl.Lit   // by node: its literal in the solver; -1: none yet
	given  []bool       // by node: the solver has its clauses
	values map[lit]bool // in the model, of gates that the solver does not have
	s      *cdcl.Solver
	stack  []lit
	// Scratch space of conjunction.
	leaves, todo []lit
	clause       []cdcl.Lit
}

// newCircuit returns a circuit with the constant node, whose clauses go to s.
func newCircuit() *circuit {
	l := &circuit{s: cdcl.New()}
	l.reset()
	return l
}

// reset makes l what newCircuit returns, and keeps its memory for the nodes to come.
func (l *circuit) reset() {
	l.s.Reset()
	*l = circuit{gates: l.gates[:0], table: l.table, uses: l.uses[:0], lits: l.lits[:0],
		given: l.given[:0], s: l.s, stack: l.stack[:0], leaves: l.leaves[:0], todo: l.todo[:0],
		clause: l.clause[:0]}
	l.clearTable(1 << 10)
	l.node(gate{})
	l.lits[0] = l.s.NewVar()
	l.s.Add(l.lits[0])
}

// clearTable makes the hash table of gates n free entries.
func (l *circuit) clearTable(n int) {
	if cap(l.table) < n {
		l.table = make([]lit, n)
		return
	}
	l.table = l.table[:n]
	clear(l.table)
}

// size returns the number of nodes.
func (l *circuit) size() int { return len(l.gates) }

// node appends a node.
func (l *circuit) node(g gate) lit {
	at := lit(len(l.gates) << 1)
	l.gates = append(l.gates, g)
	l.lits = append(l.lits, -1)
	l.uses = append(l.uses, 0)
	l.given = append(l.given, g.kind == input)
	return at
}

// free returns a new input, whose value the solver chooses.
func (l *circuit) free() lit { return l.node(gate{kind: input}) }

// hash hashes a gate for the table.
func (g gate) hash() uint32 {
	h := uint32(g.kind)*0x9e3779b1 ^ uint32(g.a)*0x85ebca6b
	h = (h^h>>15)*0xc2b2ae35 ^ uint32(g.b)*0x27d4eb2f
	h = (h^h>>13)*0x165667b1 ^ uint32(g.c)*0x9e3779b1
	return h ^ h>>16
}

// gate returns the node of a gate, which it adds if there is none. Inputs must be in canonical
// order, or equal gates are not found.
func (l *circuit) gate(g gate) lit {
	mask := uint32(len(l.table) - 1)
	i := g.hash() & mask
	for ; l.table[i] != 0; i = (i + 1) & mask {
		if l.gates[l.table[i]>>1] == g {
			return l.table[i]
		}
	}
	at := l.node(g)
	l.table[i] = at
	for _, m := range [...]lit{g.a, g.b, g.c} {
		l.uses[m>>1]++
	}
	if 2*len(l.gates) > len(l.table) {
		l.grow()
	}
	return at
}

// grow doubles the hash table of gates.
func (l *circuit) grow() {
	l.clearTable(2 * len(l.table))
	mask := uint32(len(l.table) - 1)
	for at, g := range l.gates {
		if g.kind == input {
			continue
		}
		i := g.hash() & mask
		for l.table[i] != 0 {
			i = (i + 1) & mask
		}
		l.table[i] = lit(at << 1)
	}
}

// and returns a & b, with the smaller input first.
func (l *circuit) and(a, b lit) lit {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == yes, a == b:
		return b
	case a == no, a == b.not():
		return no
	}
	// Simplify by the inputs of a and b.
	for _, m := range [...][2]lit{{a, b}, {b, a}} {
		g := l.gates[m[1]>>1]
		if g.kind != and {
			continue
		}
		positive := m[1]&1 == 0
		switch m[0] {
		case g.a, g.b: // a & (a & x), a & ~(a & x)
			if positive {
				return m[1]
			}
			return l.and(m[0], (g.a ^ g.b ^ m[0]).not())
		case g.a.not(), g.b.not():
			if positive {
				return no
			}
			return m[0]
		}
	}
	return l.gate(gate{kind: and, a: a, b: b})
}

// or is expressed by and (De Morgan), so that equal functions share a gate.
func (l *circuit) or(a, b lit) lit { return l.and(a.not(), b.not()).not() }

// implies is expressed by and, as or is.
func (l *circuit) implies(a, b lit) lit { return l.and(a, b.not()).not() }

// xor keeps its inputs positive, moving negations outside, so that all four sign combinations share
// a gate.
func (l *circuit) xor(a, b lit) lit {
	sign := (a ^ b) & 1
	a, b = a&^1, b&^1
	if a > b {
		a, b = b, a
	}
	switch {
	case a == b:
		return no ^ sign
	case a == yes:
		return b.not() ^ sign
	}
	return l.gate(gate{kind: xor, a: a, b: b}) ^ sign
}

// choose returns p ? a : b, with p positive: a negated condition exchanges the branches.
func (l *circuit) choose(p, a, b lit) lit {
	if p&1 == 1 {
		p, a, b = p.not(), b, a
	}
	switch {
	case p == yes, a == b:
		return a
	case a == b.not():
		return l.xor(p, b)
	case a == yes, a == p:
		return l.or(p, b)
	case a == no, a == p.not():
		return l.and(p.not(), b)
	case b == yes, b == p.not():
		return l.or(p.not(), a)
	case b == no, b == p:
		return l.and(p, a)
	}
	sign := a & 1
	return l.gate(gate{mux, p, a ^ sign, b ^ sign}) ^ sign
}

// most returns the majority of three inputs: the carry of an adder. A gate of its own has fewer
// clauses than its expression by and.
func (l *circuit) most(a, b, c lit) lit {
	if a > b {
		a, b = b, a
	}
	if b > c {
		b, c = c, b
	}
	if a > b {
		a, b = b, a
	}
	switch {
	case a == yes:
		return l.or(b, c)
	case a == no:
		return l.and(b, c)
	case a == b, b == c:
		return b
	case a == b.not():
		return c
	case b == c.not():
		return a
	}
	sign := lit(0)
	if a&1+b&1+c&1 > 1 {
		sign = 1
	}
	return l.gate(gate{maj, a ^ sign, b ^ sign, c ^ sign}) ^ sign
}

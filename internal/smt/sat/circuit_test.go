package sat

import (
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/smt/cdcl"
)

// node is a literal of a circuit with its truth table: one bit for each assignment of the inputs.
type node struct {
	at    lit
	table uint64
}

const inputs = 6

// TestCircuit checks nodes by their truth tables: the solver finds a model exactly if the table has
// a one, and in the model every node has the value of its table.
func TestCircuit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newCircuit()
		nodes := []node{{yes, ^uint64(0)}}
		for i := range inputs {
			var table uint64
			for m := range 64 {
				table |= uint64(m>>i&1) << m
			}
			nodes = append(nodes, node{l.free(), table})
		}
		pick := func() node {
			n := nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "operand")]
			if rapid.Bool().Draw(t, "not") {
				return node{n.at.not(), ^n.table}
			}
			return n
		}
		for range rapid.IntRange(1, 25).Draw(t, "gates") {
			a, b, c := pick(), pick(), pick()
			var n node
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				n = node{l.and(a.at, b.at), a.table & b.table}
			case 1:
				n = node{l.or(a.at, b.at), a.table | b.table}
			case 2:
				n = node{l.xor(a.at, b.at), a.table ^ b.table}
			case 3:
				n = node{l.choose(a.at, b.at, c.at), a.table&b.table | ^a.table&c.table}
			case 4:
				n = node{l.most(a.at, b.at, c.at), a.table&b.table | a.table&c.table | b.table&c.table}
			}
			nodes = append(nodes, n)
		}
		for range 3 { // one solver for several questions
			a, b := pick(), pick()
			got := l.s.Solve(cdcl.Limits{}, l.literal(a.at), l.literal(b.at))
			if (got == cdcl.Sat) != (a.table&b.table != 0) {
				t.Fatalf("%d for the table %064b", got, a.table&b.table)
			}
			if got != cdcl.Sat {
				continue
			}
			l.values = nil
			m := 0
			for i := range inputs {
				if l.holds(nodes[1+i].at) {
					m |= 1 << i
				}
			}
			for i, n := range nodes {
				if l.holds(n.at) != (n.table>>m&1 == 1) {
					t.Fatalf("node %d is %v for the inputs %06b", i, l.holds(n.at), m)
				}
			}
		}
	})
}

package litmus

import (
	"fmt"
	"strings"
)

// Quantifier says how often a condition must hold.
type Quantifier uint8

// The quantifiers.
const (
	Exists Quantifier = iota
	NotExists
	Forall
)

var quantifiers = [...]string{"exists", "~exists", "forall"}

// String returns the word of the format.
func (q Quantifier) String() string { return quantifiers[q] }

// Condition is what a test asks about its final states.
type Condition struct {
	Quantifier Quantifier
	Expr       Expr
}

// String prints the condition in the format of the test.
func (c *Condition) String() string { return c.Quantifier.String() + " " + c.Expr.String() }

// Term is a part of a final state: a register, or the last value of a location.
type Term struct {
	Thread, Reg int // Thread is -1 for a location
	Loc         int
	Name        string // as reports print it: P1:r0, x
}

// State is a final state as a condition sees it.
type State interface {
	// Value returns the value of a term.
	Value(Term) int64
}

// Expr is a formula over a final state.
type Expr interface {
	Holds(State) bool
	String() string
}

// Relation compares two values, as signed numbers.
type Relation uint8

// The comparisons.
const (
	Eq Relation = iota
	Ne
	Lt
	Le
	Gt
	Ge
)

var relations = [...]string{"=", "!=", "<", "<=", ">", ">="}

// Holds reports whether the comparison of a with b holds.
func (r Relation) Holds(a, b int64) bool {
	switch r {
	case Eq:
		return a == b
	case Ne:
		return a != b
	case Lt:
		return a < b
	case Le:
		return a <= b
	case Gt:
		return a > b
	}
	return a >= b
}

// Side is one side of a comparison: a term or a constant.
type Side struct {
	IsTerm bool
	Term   Term
	Value  int64
}

// in returns the value of the side in a state.
func (s *Side) in(st State) int64 {
	if s.IsTerm {
		return st.Value(s.Term)
	}
	return s.Value
}

// String prints the side.
func (s *Side) String() string {
	if s.IsTerm {
		return s.Term.Name
	}
	return fmt.Sprint(s.Value)
}

// Compare is a comparison.
type Compare struct {
	Relation Relation
	A, B     Side
}

// Holds implements Expr.
func (c *Compare) Holds(st State) bool { return c.Relation.Holds(c.A.in(st), c.B.in(st)) }

// String implements Expr.
func (c *Compare) String() string { return c.A.String() + relations[c.Relation] + c.B.String() }

// Not is a negation.
type Not struct{ X Expr }

// Holds implements Expr.
func (n *Not) Holds(st State) bool { return !n.X.Holds(st) }

// String implements Expr.
func (n *Not) String() string { return "~(" + n.X.String() + ")" }

// List is a conjunction, or a disjunction if Or is set.
type List struct {
	Or bool
	Of []Expr
}

// Holds implements Expr.
func (l *List) Holds(st State) bool {
	for _, x := range l.Of {
		if x.Holds(st) == l.Or {
			return l.Or
		}
	}
	return !l.Or
}

// String implements Expr.
func (l *List) String() string {
	parts := make([]string, len(l.Of))
	for i, x := range l.Of {
		parts[i] = x.String()
	}
	op := ` /\ `
	if l.Or {
		op = ` \/ `
	}
	return "(" + strings.Join(parts, op) + ")"
}

// Terms returns what an expression reads, each term once.
func Terms(x Expr) []Term {
	var out []Term
	seen := map[Term]bool{}
	add := func(s *Side) {
		if s.IsTerm && !seen[s.Term] {
			seen[s.Term] = true
			out = append(out, s.Term)
		}
	}
	var walk func(Expr)
	walk = func(x Expr) {
		switch x := x.(type) {
		case *Compare:
			add(&x.A)
			add(&x.B)
		case *Not:
			walk(x.X)
		case *List:
			for _, y := range x.Of {
				walk(y)
			}
		}
	}
	walk(x)
	return out
}

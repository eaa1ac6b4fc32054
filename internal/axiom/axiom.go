// Package axiom reads axioms about functions that heddle does not interpret, and selects the
// instances of them that a query needs.
//
// Axioms are written in a part of the Boogie language (K. R. M. Leino, "This is Boogie 2", 2008),
// as in the files that GPUVerify reads with --boogie-file:
//
//	type word = bv32;
//	function {:bvbuiltin "bvule"} ule(word, word) : bool;
//	axiom (forall x, y : word :: { add(x, y) } ule(x, add(x, y)));
//
// A function without the attribute :bvbuiltin is one of the kernel, declared by DECLARE_UF_UNARY
// and its relatives; it need not be declared here. Its parameters have the types of what the axioms
// pass, its result the type that the axioms need. A result of which they need none is compared as C
// does, in 32 bits.
//
// An axiom with variables is used where its triggers match: one set of patterns in braces, or
// without such a set each application of a function of the kernel that has all variables. Every
// instance of an axiom follows from it, so which ones are selected is a question of precision
// (docs/theory/terms.md, "Functions of which axioms are known").
package axiom

import (
	"fmt"

	"heddle/internal/smt"
)

// File is a file of axioms. It is immutable.
type File struct {
	Name   string // as the user named it
	axioms []axiom
	called []*function // functions of the kernel, in the order of their first use
}

// axiom is a formula for all values of some variables.
type axiom struct {
	vars     []variable
	body     *expr
	triggers [][]*expr // empty for an axiom without variables
}

// variable is a bound variable.
type variable struct {
	name string
	kind *kind
}

// function is a function of the kernel.
type function struct {
	name   string
	params []*kind
	result *kind
}

// Error is a mistake in a file.
type Error struct {
	File      string
	Line, Col int    // from 1
	Msg       string // what is wrong, and what was expected
}

// Error is the place and the message on one line.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Apply makes the application of a function of the kernel: its arguments have 64 bits each, its
// result has width bits.
type Apply func(name string, width int, args ...smt.Term) smt.Term

// Limits of the instances for one query: an axiom may have new ones for its own instances without
// end.
const (
	mostRounds    = 6
	mostInstances = 400
)

// Instances returns instances of the axioms for the applications in terms, and for those in the
// instances. Each one follows from the axioms, whatever the functions are.
func (f *File) Instances(c *smt.Context, apply Apply, terms []smt.Term) []smt.Term {
	s := &search{c: c, apply: apply, known: map[string]*function{},
		uses: map[*function][]smt.Term{}, made: map[smt.Term]bool{}, seen: map[smt.Term]bool{},
		passed: map[smt.Term]smt.Term{}}
	for _, fn := range f.called {
		s.known[c.Name(s.application(fn, fn.arguments(c)))] = fn
	}
	for round := 0; round < mostRounds && len(s.out) < mostInstances; round++ {
		n := len(s.out)
		s.collect(terms)
		for i := range f.axioms {
			s.instantiate(&f.axioms[i])
		}
		if terms = s.out[n:]; len(terms) == 0 {
			break
		}
	}
	return s.out
}

// arguments are any arguments of the function, to learn the name of its applications.
func (fn *function) arguments(c *smt.Context) []smt.Term {
	out := make([]smt.Term, len(fn.params))
	for i, k := range fn.params {
		out[i] = c.Const(0, k.find().bits())
	}
	return out
}

// search is the selection of instances for one query.
type search struct {
	c     *smt.Context
	apply Apply
	known map[string]*function // by the name of its applications
	uses  map[*function][]smt.Term
	// passed has the arguments of the applications in terms, in 64 bits, by their values of fewer
	// than 32 bits. C widens these by their sign or by zeros, and a compiler knows that a result
	// has been widened already.
	passed map[smt.Term]smt.Term
	seen   map[smt.Term]bool // applications in uses
	made   map[smt.Term]bool // instances in out
	out    []smt.Term
}

// collect notes the applications in terms.
func (s *search) collect(terms []smt.Term) {
	s.c.Visit(terms, func(t smt.Term) {
		if s.c.Op(t) != smt.OpApp || s.seen[t] {
			return
		}
		if fn := s.known[s.c.Name(t)]; fn != nil {
			s.seen[t] = true
			s.uses[fn] = append(s.uses[fn], t)
			for i, a := range s.c.Args(t) {
				if w := fn.params[i].find().bits(); w < 32 && s.passed[s.c.Extract(a, 0, w)] == 0 {
					s.passed[s.c.Extract(a, 0, w)] = a
				}
			}
		}
	})
}

// instantiate adds the instances of an axiom for all matches of its triggers.
func (s *search) instantiate(a *axiom) {
	if len(a.vars) == 0 {
		s.add(s.value(a.body, nil))
		return
	}
	for _, t := range a.triggers {
		s.match(t, make([]smt.Term, len(a.vars)), make([]bool, len(a.vars)), func(by []smt.Term) {
			s.add(s.value(a.body, by))
		})
	}
}

func (s *search) add(t smt.Term) {
	if t == smt.True || s.made[t] || len(s.out) >= mostInstances {
		return
	}
	s.made[t] = true
	s.out = append(s.out, t)
}

// match visits the values of variables with which each of some patterns is an application that
// exists. bound says which variables have a value.
func (s *search) match(patterns []*expr, by []smt.Term, bound []bool, visit func([]smt.Term)) {
	if len(patterns) == 0 {
		visit(by)
		return
	}
	p := patterns[0]
	// instances that are found meanwhile do not count: the next round has them
	for _, t := range s.uses[p.fn] {
		s.matchArguments(p, t, 0, by, bound, func(by []smt.Term, bound []bool) {
			s.match(patterns[1:], by, bound, visit)
		})
	}
}

// matchArguments matches the arguments of a pattern from number i on with those of t.
func (s *search) matchArguments(p *expr, t smt.Term, i int, by []smt.Term, bound []bool,
	then func([]smt.Term, []bool)) {
	if i == len(p.args) {
		then(by, bound)
		return
	}
	arg := s.c.Extract(s.c.Args(t)[i], 0, p.args[i].kind.find().bits())
	s.matchTerm(p.args[i], arg, by, bound, func(by []smt.Term, bound []bool) {
		s.matchArguments(p, t, i+1, by, bound, then)
	})
}

// matchTerm matches one pattern with a value.
func (s *search) matchTerm(p *expr, t smt.Term, by []smt.Term, bound []bool,
	then func([]smt.Term, []bool)) {
	switch {
	case p.op == opVariable && !bound[p.index]:
		by, bound = append([]smt.Term(nil), by...), append([]bool(nil), bound...)
		by[p.index], bound[p.index] = t, true
		then(by, bound)
	case p.op == opVariable:
		if by[p.index] == t {
			then(by, bound)
		}
	case p.op == opCall:
		for _, u := range s.uses[p.fn] {
			if s.c.Extract(u, 0, p.kind.find().bits()) == t {
				s.matchArguments(p, u, 0, by, bound, then)
			}
		}
	default: // a pattern has no operators, so it is a constant
		if s.value(p, nil) == t {
			then(by, bound)
		}
	}
}

// application is a call of a function of the kernel. C widens what it passes and returns: arguments
// are in 64 bits, a result is in 32 bits at least, and its low bits are the value.
func (s *search) application(fn *function, args []smt.Term) smt.Term {
	wide := make([]smt.Term, len(args))
	for i, a := range args {
		if wide[i] = s.passed[a]; wide[i] == 0 {
			wide[i] = s.c.ZExt(a, 64)
		}
	}
	return s.apply(fn.name, max(fn.result.find().bits(), 32), wide...)
}

// value is an expression with values for its variables.
func (s *search) value(e *expr, by []smt.Term) smt.Term {
	switch e.op {
	case opVariable:
		return by[e.index]
	case opNumber:
		return s.c.Const(e.number, e.kind.find().bits())
	}
	args := make([]smt.Term, len(e.args))
	for i, a := range e.args {
		args[i] = s.value(a, by)
	}
	if e.op == opCall {
		return s.c.Extract(s.application(e.fn, args), 0, e.kind.find().bits())
	}
	return operators[e.op].apply(s.c, args)
}

package thread

import "heddle/internal/smt"

// Axioms say what the symbols of loops mean. Each is instantiated for the iteration vectors at
// which the symbol occurs in a query:
//
//	act(k)   the thread executes iteration k: k = 0, or it executed k-1 and continued
//	h(k)     a register at the header: the value at the entry, or what the body made of iteration k-1
//	v(k,p)   the contents of an array at the header: those at the entry, or what iteration k-1 left
//	kx       the iteration in which the thread leaves; that it does is the assumption of termination
//
// and the bound on k that a counting condition implies. An instance is true of every execution, so
// leaving one out only weakens a proof. That is why For may stop at any depth.
type Axioms struct {
	c       *smt.Context
	of      map[string]instance
	assumed map[string]instance // by the name of act
	heads   map[string]smt.Term // the counters of the loops, by the name of v
}

// instance returns the formulas for some arguments.
type instance func(args []smt.Term) []smt.Term

// NewAxioms returns axioms over the terms of c: none at first.
func NewAxioms(c *smt.Context) *Axioms {
	return &Axioms{c: c, of: map[string]instance{}, assumed: map[string]instance{},
		heads: map[string]smt.Term{}}
}

// Define says what holds of the symbol called name, as a function of its parameters.
func (a *Axioms) Define(name string, params []smt.Term, body ...smt.Term) {
	a.of[name] = schema(a.c, params, body)
}

// DefineContents is Define for the contents of an array at the header of the loop with that
// counter.
func (a *Axioms) DefineContents(name string, counter smt.Term, params []smt.Term,
	body ...smt.Term) {
	a.Define(name, params, body...)
	a.heads[name] = counter
}

// Defined reports whether anything is said of the symbol called name.
func (a *Axioms) Defined(name string) bool { return a.of[name] != nil }

// Assume adds that the invariants hold at the header of a loop, in each iteration that a thread
// executes. They replace those of an earlier call. They are over the counters of the loops around
// and the loop's own. The caller must prove them, and may assume them of earlier iterations only
// while it does.
func (a *Axioms) Assume(l *Loop, invariants []smt.Term) {
	name := a.c.Name(l.Act)
	delete(a.assumed, name)
	all := a.c.And(invariants...)
	if all == smt.True {
		return
	}
	params := append(append([]smt.Term(nil), l.Around...), l.Counter)
	valid := []smt.Term{l.Entry, l.Act}
	// an axiom writes k-1 even for k = 0, where there is no iteration before
	for _, k := range params {
		valid = append(valid, a.c.Not(a.c.Eq(k, a.c.Const(1<<32-1, 32))))
	}
	a.assumed[name] = schema(a.c, params, []smt.Term{a.c.Implies(a.c.And(valid...), all)})
}

// About reports whether t is a symbol that an axiom defines: something that a loop computes in some
// iteration.
func (a *Axioms) About(t smt.Term) bool {
	return a.c.Op(t) == smt.OpApp && a.of[a.c.Name(t)] != nil
}

// AtHeader reports whether t is the contents of an array at the header of a loop.
func (a *Axioms) AtHeader(t smt.Term, l *Loop) bool {
	return a.c.Op(t) == smt.OpApp && a.heads[a.c.Name(t)] == l.Counter
}

// For returns the axioms for the symbols in terms, and for the symbols in those, depth levels deep.
func (a *Axioms) For(terms []smt.Term, depth int) []smt.Term {
	var out []smt.Term
	done := map[smt.Term]bool{}
	for range depth {
		var apps []smt.Term
		a.c.Visit(terms, func(t smt.Term) {
			if a.c.Op(t) == smt.OpApp && !done[t] && a.of[a.c.Name(t)] != nil {
				done[t] = true
				apps = append(apps, t)
			}
		})
		var level []smt.Term
		for _, t := range apps {
			name, args := a.c.Name(t), a.c.Args(t)
			level = append(level, a.of[name](args)...)
			if more := a.assumed[name]; more != nil {
				level = append(level, more(args)...)
			}
		}
		if len(level) == 0 {
			break
		}
		out = append(out, level...)
		terms = level
	}
	return out
}

// schema returns a function that replaces parameters by arguments.
func schema(c *smt.Context, params, body []smt.Term) instance {
	return func(args []smt.Term) []smt.Term {
		s := c.Substitute()
		for i, p := range params {
			s.Replace(p, args[i])
		}
		out := make([]smt.Term, len(body))
		for i, b := range body {
			out[i] = s.Apply(b)
		}
		return out
	}
}

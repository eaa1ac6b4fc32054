package annotation

import (
	"strings"

	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// statements are the calls that end an annotation, by name. Each gets the condition of the
// annotation.
var statements = map[string]func(a *Annotations, s Site, cond smt.Term){
	"assert": func(a *Annotations, s Site, cond smt.Term) { a.stated(s, thread.Asserted, cond) },
	"invariant": func(a *Annotations, s Site, cond smt.Term) {
		a.mustBeAtHeader(s.Instr())
		a.stated(s, thread.Invariant, cond)
	},
	"assume": func(a *Annotations, s Site, cond smt.Term) { a.assume(s, a.Now(cond)) },
	"requires": func(a *Annotations, s Site, cond smt.Term) {
		if ofKernel(s.Instr()) {
			a.precondition(s, a.Now(cond))
			a.assume(s, a.Now(cond))
			return
		}
		a.stated(s, thread.Precondition, cond)
	},
	"ensures":           (*Annotations).promise,
	"function_wide":     (*Annotations).functionWide,
	"candidate":         (*Annotations).guess,
	"barrier_invariant": (*Annotations).barrierInvariant,
	// Permissions to access memory within barrier invariants: loads of conditions are no accesses
	// anyway.
	"permission": func(*Annotations, Site, smt.Term) {},
}

// ofKernel reports whether an annotation is one of the kernel itself, and not of a function that it
// calls.
func ofKernel(in *ir.Instr) bool {
	return in.Caller == nil && (in.Loc == nil || in.Loc.Parent == nil)
}

// forAll reports whether an annotation is in a global form, which is also about threads that do not
// reach it.
func (a *Annotations) forAll(s Site) bool {
	in := s.Instr()
	if len(in.Src) < 2 || strings.HasSuffix(in.Callee.Name, "barrier_invariant") {
		return false
	}
	v, ok := a.c.Value(s.Argument(1, 32))
	all := !ok || v != 0
	if all && !a.global {
		a.global, a.changed = true, true
	}
	return all
}

// stated handles a condition that is checked where the thread is; in a global form, also for
// threads that are not.
func (a *Annotations) stated(s Site, kind thread.AssertionKind, cond smt.Term) {
	a.State(s, kind, cond)
	if a.forAll(s) {
		a.stateOfAbsent(s, s.Instr(), kind, cond)
	}
}

// stateOfAbsent checks a condition for threads that do not reach the site where another thread
// does. The values of their registers there are unknown: the condition must be about things that
// are the same everywhere, unless the threads have left a loop at its head, with the values that
// they had there.
func (a *Annotations) stateOfAbsent(s Site, in *ir.Instr, kind thread.AssertionKind,
	cond smt.Term) {
	absent := a.c.Not(a.arrives(s))
	if absent == smt.False || !a.host.Final() {
		return
	}
	cond = a.disabled(cond)
	if cond == smt.True {
		return
	}
	if !a.constant(cond) {
		kept, ok := a.whereLeft(s, in, cond)
		if !ok {
			thread.Unsupported(in, "a global annotation about values of threads that do not reach it")
		}
		cond = kept
	}
	cond = replaced(a.c, cond, a.dominated)
	guard := a.c.And(absent, a.c.BoolVar(symbol.SameBlock), a.otherIsHere(s))
	a.addAssertion(s, in, kind, guard, cond)
}

// forAnalysis is the second argument of an annotation in a global form in code that is compiled for
// analysis.
const forAnalysis = 1

// whereLeft is a condition at the head of a loop for a thread that has left the loop: it keeps the
// values with which it left, which are those at the head in its last iteration
// (kernel.Facts.KeepsValues). It is not known for a thread that may not enter the loop, for
// conditions about memory, accesses or other threads, and in optimized code, which need not have the
// variables of the source.
func (a *Annotations) whereLeft(s Site, in *ir.Instr, cond smt.Term) (kept smt.Term, ok bool) {
	around := a.host.Around()
	if len(around) != 1 || s.Instr() != in || s.Guard() != smt.True {
		return 0, false
	}
	if all, ok := a.c.Value(s.Argument(1, 32)); !ok || all != forAnalysis {
		return 0, false
	}
	l := around[0]
	if a.host.Entered(l) != smt.True || !a.k.KeepsValues(in, l) || len(a.in(cond)) > 0 ||
		a.speaksOfOther(cond) || a.explained(cond) {
		return 0, false
	}
	last := a.c.Substitute()
	last.Replace(a.host.Counters()[0], a.host.Last(l))
	return last.Apply(cond), true
}

// otherIsHere is a symbol for "the other thread reaches this site".
func (a *Annotations) otherIsHere(s Site) smt.Term {
	counters := a.host.Counters()
	sym := a.symbol("present", s.Instr(), 0, counters)
	a.setOther(sym, thread.Other{
		Here: a.arrives(s), Known: a.ownFacts(s.Notes()), Value: smt.True, Absent: smt.False,
		Loops: counters,
	})
	return sym
}

// State records an assertion, and makes its condition known.
func (a *Annotations) State(s Site, kind thread.AssertionKind, cond smt.Term) {
	a.stateWith(s, s.Instr(), kind, cond, a.Now)
}

// stateWith checks the condition of the annotation in at a site, which may be elsewhere. Read gives
// the loads of the condition the values of the moment that is meant.
func (a *Annotations) stateWith(s Site, in *ir.Instr, kind thread.AssertionKind, cond smt.Term,
	read func(smt.Term) smt.Term) {
	loading := cond
	cond = a.whereEnabled(read(cond))
	if a.host.Final() {
		n := len(a.th.Assertions)
		a.addAssertion(s, in, kind, a.c.And(a.here(s), s.Guard()), cond)
		if len(a.th.Assertions) > n {
			a.th.Assertions[n].Reads, _ = a.readsOf(s, loading, read)
		}
	}
	a.Know(s, cond)
}

// Never states that no thread reaches the site, without using that for what follows: what threads do
// there is checked, too.
func (a *Annotations) Never(s Site, kind thread.AssertionKind) {
	if a.host.Final() {
		a.addAssertion(s, s.Instr(), kind, a.c.And(a.here(s), s.Guard()), smt.False)
	}
}

// Trap records that a thread which reaches the site ends the grid.
func (a *Annotations) Trap(s Site) {
	if guard := a.c.And(a.here(s), s.Guard()); a.host.Final() && guard != smt.False {
		a.th.Traps = append(a.th.Traps, thread.Trap{Instr: s.Instr(), Guard: guard})
	}
}

func (a *Annotations) addAssertion(s Site, in *ir.Instr, kind thread.AssertionKind, guard,
	cond smt.Term) {
	if cond == smt.True || guard == smt.False {
		return
	}
	as := thread.Assertion{
		Instr: in, Kind: kind, Guard: guard, Cond: cond, Iters: a.host.Counters(),
		Place: a.host.Place(s.Instr()),
	}
	seen := map[smt.Term]bool{}
	a.c.Visit([]smt.Term{cond}, func(t smt.Term) {
		if l, ok := a.logs[t]; ok && !seen[l.Has] {
			seen[l.Has] = true
			l.Start = a.mem.SpaceTag(s.Memory(), l.Object.Space)
			as.Logs = append(as.Logs, l)
		}
	})
	a.th.Assertions = append(a.th.Assertions, as)
}

// assume makes a condition known without a check.
func (a *Annotations) assume(s Site, cond smt.Term) {
	cond = a.whereEnabled(cond)
	if a.host.Final() && cond != smt.True {
		a.addAssertion(s, s.Instr(), thread.Assumed, a.c.And(a.here(s), s.Guard()), cond)
	}
	a.Know(s, cond)
}

// Know adds a condition to what is known on the path. One about the accesses so far is not used.
func (a *Annotations) Know(s Site, cond smt.Term) {
	logs := false
	a.c.Visit([]smt.Term{cond}, func(t smt.Term) { logs = logs || a.logs[t].Has != 0 })
	if !logs {
		st := s.Notes()
		st.known = a.c.And(st.known, a.c.Implies(s.Guard(), cond))
	}
}

// precondition makes known from the entry on what a kernel requires, if every thread reaches it.
// Where it fixes the value of a parameter, everything is executed with this value.
func (a *Annotations) precondition(s Site, cond smt.Term) {
	if a.host.Outer() != smt.True || s.Reach() != smt.True || s.Guard() != smt.True {
		return
	}
	cond = a.whereEnabled(cond)
	a.required = a.c.And(a.required, cond)
	for _, t := range conjuncts(a.c, cond) {
		v, by, ok := a.c.Solved(t)
		if !ok || a.c.Op(v) != smt.OpVar || !symbol.IsParam(a.c.Name(v)) {
			continue
		}
		name := a.c.Name(v)
		if _, known := a.given[name]; known {
			continue
		}
		if k, isConst := a.c.Value(by); isConst {
			a.given[name], a.changed = a.c.Const(k, a.c.Width(v)), true
		}
	}
}

func conjuncts(c *smt.Context, t smt.Term) []smt.Term {
	if c.Op(t) == smt.OpAnd {
		return c.Args(t)
	}
	return []smt.Term{t}
}

package verify

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Annotations: assertions about a thread, about a pair of threads, and about the accesses of a
// thread.
//
// The check of an assertion in an arbitrary iteration of a loop may use it for the previous
// iteration: that is induction over the iterations, in the order in which two threads in lock step
// reach them. An assertion may be used at other ones that follow it on the path. If one fails there
// is a finding, and the kernel is not verified.

// assertions checks all annotations.
func (p *prover) assertions() {
	for i := range p.th.Assertions {
		a := &p.th.Assertions[i]
		if p.done() {
			return
		}
		if a.Kind == thread.Assumed {
			p.vacuous(a)
			continue
		}
		if len(a.Reads) > 0 && !p.undisturbed(a.Reads) {
			p.res.Findings = append(p.res.Findings, Finding{Kind: Violation, A: a.Instr, Assertion: a,
				Reason: "another thread may write the memory that it reads in the same barrier interval"})
			continue
		}
		p.assertion(a)
	}
}

// vacuous reports an assumption that cannot hold for one thread, or not for all of a launch, or not
// for two at once: nothing behind it would be checked, or no pair of threads.
func (p *prover) vacuous(a *thread.Assertion) {
	if len(a.Logs) > 0 || p.relational(a.Cond) || p.relational(a.Guard) {
		return
	}
	f := Finding{Kind: Vacuous, A: a.Instr, Assertion: a}
	switch {
	case p.contradicts([]smt.Term{a.Guard}, []smt.Term{a.Cond}):
		f.Reason = "no input satisfies it, so nothing behind it is checked"
	case p.excludesThread(a, &f):
		f.Reason = fmt.Sprintf("thread %v of block %v does not satisfy it, whatever the inputs, so no "+
			"launch of this shape does", f.Tid[0].In(p.th.Geometry.Block), f.Ctaid[0].In(p.th.Geometry.Grid))
	case p.th.Geometry.Block.Count() > 1 && p.contradictsPair(a, p.pair, p.th.Tid):
		f.Reason = "no two threads of a block satisfy it together, so no pair is checked behind it"
	case p.th.Geometry.Grid.Count() > 1 && !p.opt.OnlyIntraBlock &&
		p.contradictsPair(a, p.far, p.th.Ctaid):
		f.Reason = "no two blocks satisfy it together, so no pair is checked behind it"
	default:
		return
	}
	p.res.Findings = append(p.res.Findings, f)
}

// excludesThread reports whether some thread of each launch reaches an assumption and does not
// satisfy it: the assumption is about indices alone, in a launch of a known shape. The others are
// checked for launches that do not exist. The finding gets the indices of the thread.
func (p *prover) excludesThread(a *thread.Assertion, f *Finding) bool {
	for _, n := range slices.Concat(p.th.Ntid[:], p.th.Nctaid[:]) {
		if _, fixed := p.c.Value(n); !fixed {
			return false
		}
	}
	indices := slices.Concat(p.th.Tid[:], p.th.Ctaid[:])
	other := false
	p.c.Visit([]smt.Term{a.Guard, a.Cond}, func(t smt.Term) {
		other = other || symbol.Is(p.c, t) && !slices.Contains(indices, t)
	})
	if other {
		return false
	}
	q := append([]smt.Term{a.Guard, p.c.Not(a.Cond)}, p.th.Assumed...)
	answer := p.c.Decide(p.ctx, q, p.opt.Solvers...)
	if answer.Status != smt.Sat || answer.Model == nil {
		return false
	}
	e := p.c.Evaluate(answer.Model)
	at := func(t [3]smt.Term) event.Dim3 {
		return event.Dim3{X: uint32(e.Value(t[0])), Y: uint32(e.Value(t[1])), Z: uint32(e.Value(t[2]))}
	}
	f.Tid[0], f.Ctaid[0] = at(p.th.Tid), at(p.th.Ctaid)
	return true
}

// contradicts reports whether conditions that can hold cannot hold together with others.
func (p *prover) contradicts(before, conds []smt.Term) bool {
	all := slices.Concat(before, conds)
	all = append(all, p.instances(all)...)
	return p.c.Decide(p.ctx, before, p.opt.Solvers...).Status == smt.Sat &&
		p.c.Decide(p.ctx, all, p.opt.Solvers...).Status == smt.Unsat
}

// contradictsPair reports whether two threads that differ in the index apart can reach the
// annotation but cannot satisfy it together. Everything behind it would then hold vacuously for
// pairs.
func (p *prover) contradictsPair(a *thread.Assertion, s [2]*smt.Substitution,
	apart [3]smt.Term) bool {
	return p.contradicts(
		[]smt.Term{s[0].Apply(a.Guard), s[1].Apply(a.Guard), p.differ(s, apart)},
		[]smt.Term{s[0].Apply(a.Cond), s[1].Apply(a.Cond)})
}

// relational reports whether a condition is about the other thread too.
func (p *prover) relational(t smt.Term) bool {
	found := false
	p.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if op := p.c.Op(u); op == smt.OpVar || op == smt.OpApp {
			name := p.c.Name(u)
			_, other := p.th.Others[name]
			found = found || other || name == symbol.SameBlock
		}
	})
	return found
}

// maxLogChoices bounds the combinations of accesses for which one condition is checked.
const maxLogChoices = 4096

// assertion checks one annotation, for each choice of the accesses that it is about.
func (p *prover) assertion(a *thread.Assertion) {
	f := Finding{Kind: Violation, A: a.Instr, Assertion: a}
	choices := make([][]logged, len(a.Logs))
	total := 1
	for i, l := range a.Logs {
		choices[i] = p.loggedBy(a, l, i)
		total *= len(choices[i])
		if total > maxLogChoices {
			f.Reason = "too many combinations of accesses"
			p.res.Findings = append(p.res.Findings, f)
			return
		}
	}
	before := p.failures()
	p.eachChoice(choices, nil, func(chosen []logged) {
		if p.failures() > before { // one counterexample is enough
			return
		}
		cond, extra := a.Cond, []smt.Term(nil)
		s := p.c.Substitute()
		for i, l := range chosen {
			s.Replace(a.Logs[i].Has, smt.Bool(l.when != nil))
			if l.when != nil {
				s.Replace(a.Logs[i].Offset, l.offset)
				extra = append(extra, l.when...)
			}
		}
		if len(chosen) > 0 {
			cond = s.Apply(cond)
		}
		extra = append(extra, p.taken(a, append([]smt.Term{cond}, extra...), chosen)...)
		p.violation(a, cond, extra, f)
	})
}

// logged is an access that a condition may be about; none if when is nil.
type logged struct {
	when   []smt.Term
	offset smt.Term
	loops  []int // around the access
	iters  []smt.Term
}

// eachChoice visits the Cartesian product of choices. Each visit gets a slice of its own.
func (p *prover) eachChoice(choices [][]logged, chosen []logged, visit func([]logged)) {
	if len(choices) == 0 {
		visit(chosen)
		return
	}
	for _, l := range choices[0] {
		p.eachChoice(choices[1:], append(slices.Clone(chosen), l), visit)
	}
}

// loggedBy lists the accesses of the thread itself, in the current barrier interval and before the
// annotation, that the n-th question of a condition may mean.
func (p *prover) loggedBy(a *thread.Assertion, l thread.Log, n int) []logged {
	out := []logged{{}}
	c := p.c
	for i := range p.th.Accesses {
		x := &p.th.Accesses[i]
		switch {
		case x.Object != nil && x.Object != l.Object:
			continue
		case x.Object == nil && x.Space != event.Generic && x.Space != l.Object.Space:
			continue
		case l.Writes && !x.Kind.Writes() || !l.Writes && x.Kind == event.Write:
			continue
		}
		s := c.Substitute()
		iters := make([]smt.Term, len(x.Iters))
		for j, k := range x.Iters {
			iters[j] = c.Var(fmt.Sprintf("p!~%d.%d", n, j), 32)
			s.Replace(k, iters[j])
		}
		start := make([]smt.Term, 0, 4)
		for _, t := range x.Start.Terms() {
			start = append(start, s.Apply(t))
		}
		when := []smt.Term{s.Apply(x.Guard), p.earlier(x, iters, a)}
		for j, t := range l.Start.Terms() {
			when = append(when, c.Eq(start[j], t))
		}
		if c.And(when...) == smt.False {
			continue
		}
		elems := max(int(x.Instr.Vec), 1)
		for e := range elems {
			off := c.Var(fmt.Sprintf("p!~%d.any", n), 64)
			if x.Object != nil {
				off = c.AddConst(s.Apply(x.Offset), uint64(e*x.Size/elems))
			}
			out = append(out, logged{when, off, x.Place.Loops, iters})
		}
	}
	return out
}

// earlier is the formula that an access, in iterations iters of its loops, comes before an
// annotation: in an earlier iteration of a loop around both, or earlier in the text.
func (p *prover) earlier(x *thread.Access, iters []smt.Term, a *thread.Assertion) smt.Term {
	c := p.c
	n := 0
	for n < len(x.Place.Loops) && n < len(a.Place.Loops) && x.Place.Loops[n] == a.Place.Loops[n] {
		n++
	}
	r := smt.Bool(x.Place.Rank < a.Place.Rank)
	for i := n - 1; i >= 0; i-- {
		r = c.Or(c.Ult(iters[i], a.Iters[i]), c.And(c.Eq(iters[i], a.Iters[i]), r))
	}
	return r
}

// violation asks whether a condition can be false: for one thread, or for a pair if it is about the
// other one too.
func (p *prover) violation(a *thread.Assertion, cond smt.Term, extra []smt.Term, f Finding) {
	terms := append([]smt.Term{a.Guard, p.c.Not(cond)}, extra...)
	terms = append(terms, p.before(a)...)
	pairs := []bool{false}
	relational := p.relational(p.c.And(terms...))
	// a barrier invariant is about the threads of a block
	if relational && !p.opt.OnlyIntraBlock && p.th.Geometry.Grid.Count() > 1 &&
		a.Kind != thread.BarrierInvariant {
		pairs = []bool{false, true}
	}
	if relational && p.th.Geometry.Block.Count() == 1 {
		pairs = pairs[1:]
	}
	for _, far := range pairs {
		s := p.pair
		if far {
			s = p.far
		}
		q := make([]smt.Term, len(terms))
		for i, t := range terms {
			q[i] = s[0].Apply(t)
		}
		switch {
		case far:
			q = append(q, p.differ(s, p.th.Ctaid))
		case relational:
			q = append(q, p.differ(s, p.th.Tid))
		}
		f.OtherBlock = far
		n := p.failures()
		p.decide(q, [2][]smt.Term{terms, nil}, s, f)
		if p.failures() > n {
			return
		}
	}
}

// before is the fact that the assertions of the innermost loop around a held in the previous
// iteration, and what else annotations have told the thread in it: it is in this iteration because
// it went through that one.
func (p *prover) before(a *thread.Assertion) []smt.Term {
	if len(a.Iters) == 0 {
		return nil
	}
	c := p.c
	k := a.Iters[len(a.Iters)-1]
	s := c.Substitute()
	s.Replace(k, c.AddConst(k, ^uint64(0)))
	var out []smt.Term
	for i := range p.th.Assertions {
		b := &p.th.Assertions[i]
		if slices.Equal(b.Place.Loops, a.Place.Loops) && len(b.Logs) == 0 {
			out = append(out, c.Or(c.Eq(k, c.Const(0, 32)), s.Apply(c.Implies(b.Guard, b.Cond))))
		}
	}
	for i := range p.th.Loops {
		if l := &p.th.Loops[i]; l.Counter == k && l.Kept != smt.True {
			out = append(out, c.Or(c.Eq(k, c.Const(0, 32)), s.Apply(l.Kept)))
		}
	}
	return out
}

// others defines the symbols of conditions that stand for values of the other thread
// (thread.Other): it returns what that adds to a query, and to the terms that the query is made of.
func (p *prover) others(terms [2][]smt.Term, s [2]*smt.Substitution) (add []smt.Term,
	all [2][]smt.Term) {
	all = terms
	if len(p.th.Others) == 0 {
		return nil, all
	}
	c := p.c
	n := 0
	for t := range 2 {
		seen := map[smt.Term]bool{}
		c.Visit(terms[t], func(u smt.Term) {
			op := c.Op(u)
			if op != smt.OpVar && op != smt.OpApp || seen[u] {
				return
			}
			seen[u] = true
			name := c.Name(u)
			if name == symbol.SameBlock {
				add = append(add, c.Eq(s[t].Apply(u), smt.Bool(s != p.far)))
			}
			o, ok := p.th.Others[name]
			if !ok {
				return
			}
			there := c.Substitute()
			for i, k := range o.Loops {
				n++
				k2 := c.Var(fmt.Sprintf("p!~other%d", n), 32)
				there.Replace(k, k2)
				add = append(add, c.Eq(s[1-t].Apply(k2), s[t].Apply(c.Args(u)[i])))
			}
			value := there.Apply(c.Ite(o.Here, o.Value, o.Absent))
			all[1-t] = append(slices.Clip(all[1-t]), value)
			known := there.Apply(c.Implies(o.Here, o.Known))
			all[1-t] = append(all[1-t], known)
			add = append(add, c.Eq(s[t].Apply(u), s[1-t].Apply(value)), s[1-t].Apply(known))
		})
	}
	return add, all
}

// violationText describes a finding about an annotation.
func (f *Finding) violationText() string {
	word := f.Assertion.Kind.String()
	if f.Kind == Vacuous {
		return fmt.Sprintf("%s #%d can never hold", word, f.A.Index)
	}
	return strings.TrimSpace(fmt.Sprintf("%s #%d", word, f.A.Index))
}

package verify

import (
	"slices"
	"strings"

	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Operations of a warp wait for the lanes that their mask names. All of these that have not exited
// must execute the operation with the same mask (CUDA C++ Programming Guide, "Warp Shuffle
// Functions"; PTX ISA 9.7.9.6, 9.7.13.2), or the warp hangs. Lanes of a last warp that is not full
// do not exist and are not waited for.
//
// What is proved of each operation W: if a lane executes W in some iteration of the loops around,
// then each lane that its mask names executes W in the same iteration with the same mask, or exits
// without waiting at W or anything behind it. That suffices. The waits of a thread are in one order,
// that of the iterations and of thread.Place, which is the same for all threads. Consider the first
// wait in this order at which a lane stays forever: each lane that it waits for executes it and is
// not held up before, or exits. Barriers of the block are part of the order; that they do not
// diverge is proved by divergence.
//
// What it cannot prove: operations that meet across the two branches of a condition, which PTX
// allows and the CUDA guide does not.

// lanes asks for each operation of a warp whether it waits for a lane that does not execute it.
func (p *prover) lanes() {
	l := newLanes(p, map[evenLoop]bool{})
	for i := range p.th.Waits {
		w := &p.th.Waits[i]
		if !w.Warp || p.done() {
			continue
		}
		l.outside(w)
		if !l.sameAsActive(w) {
			l.absent(w)
		}
	}
}

// lanes is the state of these questions: two lanes of a warp in the same iterations of all loops.
type lanes struct {
	*prover
	s    [2]*smt.Substitution
	even map[evenLoop]bool // whether lanes continue with the loop together
}

// newLanes returns two lanes of which nothing is known, or which loops are even.
func newLanes(p *prover, even map[evenLoop]bool) *lanes {
	return &lanes{p, [2]*smt.Substitution{p.pair[0], symbol.Companion(p.c)}, even}
}

// evenLoop is a loop, and the condition that relates the two lanes.
type evenLoop struct {
	counter, related smt.Term
}

// question is a query in the making, with what it is made of for each lane.
type question struct {
	query []smt.Term
	terms [2][]smt.Term
	even  []smt.Term // those formulas of query that together adds
}

// add adds a formula over the terms of lane t.
func (q *question) add(formula smt.Term, t int, of ...smt.Term) {
	q.query = append(q.query, formula)
	q.terms[t] = append(q.terms[t], of...)
}

// absent asks whether W waits for a lane that does not execute it with the same mask and does not
// exit either.
func (l *lanes) absent(w *thread.Wait) {
	c := l.c
	q := &question{query: []smt.Term{l.sameWarp(l.s), l.differ(l.s, l.th.Tid)}}
	q.add(l.s[0].Apply(w.Guard), 0, w.Guard)
	q.add(l.named(w), 0, w.Mask)
	same := c.Eq(l.s[0].Apply(w.Mask), l.s[1].Apply(w.Mask))
	q.add(c.Not(c.And(l.s[1].Apply(w.Bare), same)), 1, w.Bare, w.Mask)
	later := l.later(w)
	q.add(l.s[1].Apply(later), 1, later)
	if c.And(q.query...) == smt.False {
		return
	}
	l.together(w, q)
	l.gathered(q)
	l.ask(w, q)
}

// outside asks whether a lane executes W with a mask that does not name it, which is undefined.
func (l *lanes) outside(w *thread.Wait) {
	q := &question{}
	q.add(l.s[0].Apply(w.Guard), 0, w.Guard)
	q.add(l.c.Not(l.bit(w.Mask, 0, 0)), 0, w.Mask)
	if l.c.And(q.query...) == smt.False {
		return
	}
	l.gathered(q)
	l.ask(w, q)
}

// ask decides a question about W; a model is a finding.
func (l *lanes) ask(w *thread.Wait, q *question) {
	l.decide(q.query, q.terms, l.s, Finding{Kind: Lanes, A: w.Instr,
		iters: [2][]smt.Term{w.Iters, nil}})
}

// named is the formula that the mask of W of lane 0 names lane 1.
func (l *lanes) named(w *thread.Wait) smt.Term { return l.bit(w.Mask, 0, 1) }

// bit is the formula that a mask, of lane number of, names a lane.
func (l *lanes) bit(mask smt.Term, of, lane int) smt.Term {
	c := l.c
	if v, ok := c.Value(mask); ok && uint32(v) == 1<<32-1 {
		return smt.True
	}
	return hasBit(c, l.s[of].Apply(mask), l.s[lane].Apply(l.lane()))
}

// later is the condition that a thread waits at W, with whatever mask, or at something behind W:
// otherwise it exits without being held up. Of a loop it is enough that the thread enters it. In
// lock step a lane that passes by W is held up where its branch meets that of W, so none may.
func (l *lanes) later(w *thread.Wait) smt.Term {
	if w.All || l.th.Lockstep {
		return smt.True
	}
	var any []smt.Term
	for i := range l.th.Waits {
		v := &l.th.Waits[i]
		switch {
		case len(v.Iters) > 0: // perhaps a loop around W too
			if len(w.Iters) > 0 || v.Place.Rank > w.Place.Rank {
				any = append(any, v.Entered[0])
			}
		case len(w.Iters) > 0 || v.Place.Rank >= w.Place.Rank:
			any = append(any, v.Bare)
		}
	}
	return l.c.Or(any...)
}

// sameAsActive reports whether the mask of W is the result of an activemask that every lane follows
// by W, in whatever iteration: lanes that execute activemask together have one mask, and all of
// them execute W.
func (l *lanes) sameAsActive(w *thread.Wait) bool {
	if !symbol.Is(l.c, w.Mask) {
		return false
	}
	g, ok := l.th.Gathered[l.c.Name(w.Mask)]
	return ok && g.Kind == thread.Active && g.Bare == w.Bare && slices.Equal(g.Iters, w.Iters) &&
		(len(w.Iters) == 0 || slices.Equal(l.c.Args(w.Mask), w.Iters))
}

// together adds to a question that the two lanes execute the same iterations of the loops around W,
// where that is proved: if both enter a loop and both execute an iteration, both continue, or
// neither does.
func (l *lanes) together(w *thread.Wait, q *question) {
	for j, k := range w.Iters {
		i := slices.IndexFunc(l.th.Loops, func(o thread.Loop) bool { return o.Counter == k })
		if i < 0 || !strings.HasPrefix(l.c.Name(l.th.Loops[i].Act), symbol.Private) {
			continue
		}
		loop := &l.th.Loops[i]
		related := smt.True
		if !l.mentions(w.Mask, w.Iters[j:]) {
			related = l.named(w)
		}
		key := evenLoop{k, related}
		even, known := l.even[key]
		if !known {
			even = l.continues(loop, related, w.Mask, q)
			l.even[key] = even
		}
		if even {
			a, b := l.s[0].Apply(loop.Act), l.s[1].Apply(loop.Act)
			both := l.c.And(related, l.s[0].Apply(loop.Entry), l.s[1].Apply(loop.Entry))
			fact := l.c.Implies(both, l.c.Eq(a, b))
			q.even = append(q.even, fact)
			q.add(fact, 0, loop.Entry)
			q.terms[1] = append(q.terms[1], loop.Entry)
		}
	}
}

// mentions reports whether a term contains one of the counters.
func (l *lanes) mentions(t smt.Term, counters []smt.Term) bool {
	return slices.ContainsFunc(counters, func(k smt.Term) bool {
		return symbol.Mentions(l.c, l.c.Name(k), t)
	})
}

// continues reports whether it is proved that two related lanes that are in one iteration of a loop
// both continue with the next, or both do not. What the question says of the loops around is used.
func (l *lanes) continues(loop *thread.Loop, related, mask smt.Term, around *question) bool {
	sub := newProver(l.ctx, l.th, l.opt.aside())
	sub.trusted, sub.res.Invariants = l.trusted, l.res.Invariants
	m := &lanes{prover: sub, s: l.s}
	for t := range 2 {
		q := &question{query: []smt.Term{related, l.sameWarp(l.s), l.differ(l.s, l.th.Tid)}}
		q.terms[0] = append(q.terms[0], mask)
		q.query = append(q.query, around.even...)
		q.terms[0] = append(q.terms[0], loop.Entry, loop.Act, loop.Back)
		q.terms[1] = append(q.terms[1], loop.Entry, loop.Act, loop.Back)
		q.query = append(q.query, l.s[0].Apply(loop.Entry), l.s[1].Apply(loop.Entry),
			l.s[0].Apply(loop.Act), l.s[1].Apply(loop.Act),
			l.s[t].Apply(loop.Back), l.c.Not(l.s[1-t].Apply(loop.Back)))
		m.gathered(q)
		sub.decide(q.query, q.terms, l.s, Finding{Kind: Lanes})
	}
	ok := sub.failures() == 0
	l.res.Counters = l.res.Counters || ok && sub.res.Counters
	l.res.Stats.Steps += sub.res.Stats.Steps
	l.res.Invariants = sub.res.Invariants
	return ok
}

// gathered adds to a question what the results of operations of the warp in it say of the two
// lanes. Each of these operations is itself proved to be executed by all lanes of its mask
// together, or the kernel is not verified.
func (l *lanes) gathered(q *question) {
	if len(l.th.Gathered) == 0 {
		return
	}
	for t := range 2 {
		seen := map[smt.Term]bool{}
		l.c.Visit(slices.Clone(q.terms[t]), func(u smt.Term) {
			if !symbol.Is(l.c, u) || seen[u] {
				return
			}
			seen[u] = true
			if g, ok := l.th.Gathered[l.c.Name(u)]; ok {
				l.result(q, t, u, g)
			}
		})
	}
}

// result adds what the result u of an operation of lane t says of the two lanes. Of both, it says
// something for one iteration of the loops around only: lanes that have left a loop in different
// iterations have different last results.
func (l *lanes) result(q *question, t int, u smt.Term, g thread.Gathered) {
	c := l.c
	at := c.Substitute()
	for i, k := range g.Iters {
		at.Replace(k, c.Args(u)[i])
	}
	bare, mask, pred := at.Apply(g.Bare), at.Apply(g.Mask), smt.True
	if g.Kind == thread.Ballot {
		pred = at.Apply(g.Pred)
	}
	me, other := l.s[t], l.s[1-t]
	here, there := me.Apply(bare), other.Apply(bare)
	joint := here // in the same iterations
	for _, x := range c.Args(u) {
		joint = c.And(joint, c.Eq(me.Apply(x), other.Apply(x)))
	}
	equal := c.Eq(me.Apply(u), other.Apply(u))
	add := func(f smt.Term) {
		q.add(f, t, bare, mask, pred, u)
		q.terms[1-t] = append(q.terms[1-t], bare, pred, u)
	}
	if g.Kind == thread.Ballot || g.Kind == thread.Common {
		add(c.Implies(c.And(joint, there, l.bit(mask, t, 1-t)), equal))
	}
	if c.Width(u) != 32 || g.Kind == thread.Common {
		return
	}
	own, has := l.bit(u, t, t), l.bit(u, t, 1-t)
	switch g.Kind {
	case thread.Ballot:
		add(c.Implies(here, c.Eq(own, me.Apply(pred))))
		add(c.Implies(c.And(joint, has), c.And(there, other.Apply(pred))))
	case thread.Active:
		add(c.Implies(here, own))
		if len(g.Iters) == 0 { // in a loop, lanes may be in different iterations
			add(c.Implies(c.And(here, has), c.And(there, equal)))
		}
	case thread.Match:
		add(c.Implies(here, own))
		add(c.Implies(c.And(joint, has), c.And(there, equal)))
	}
}

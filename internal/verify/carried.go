package verify

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Places that one thread takes for others: a lane adds the number of lanes to a counter, or the
// leader of a block adds that of its threads, and tells them what the addition has returned, by a
// shuffle or through shared memory. The thread that adds becomes a further thread of the query: an
// origin. The results of additions by two origins differ as those of two threads do, and those of
// two additions by one thread too. The proof is in docs/theory/lock-step.md, "Places for others".
//
// Deviations and limits: an origin tells others at once; what an origin has itself been told is not
// followed. As with slots, nothing is used of proofs in which loads return anything.

// maxOrigins bounds the further threads of a query.
const maxOrigins = 8

// origin is a thread whose terms a query is made of: one of the pair, or one that tells it
// something.
type origin struct {
	of     int // which of the pair it is, or tells something
	itself bool
	rename func(smt.Term) smt.Term
	terms  []smt.Term // before renaming
	// what additions of the thread return, before renaming and renamed, and these additions, renamed
	results, renamed []smt.Term
	tickets          []thread.Ticket
}

// told returns the facts of a query about what its threads have been told by others, with axioms of
// loops d levels deep, and whether places are taken for others at all.
func (p *prover) told(x *pair, d int) (facts []smt.Term, some bool) {
	if x.finding.Kind != Race || x.finding.SameThread || p.strong || p.th.Lockstep ||
		len(p.th.Shuffles) == 0 && !x.finding.OtherBlock {
		return nil, false
	}
	if !x.loops { // loops in terms of others
		d = depths[1]
	}
	var origins []*origin
	more := 0
	for t := range 2 {
		about := slices.Concat(x.terms[t], p.th.Axioms.For(x.terms[t], d))
		me := &origin{of: t, itself: true, rename: x.threads[t].Apply, terms: about}
		p.additions(me)
		origins = append(origins, me)
		list, say := p.lanesThatTell(x, me, about, d)
		if x.finding.OtherBlock {
			leaders, more := p.leadersThatTell(me, about, len(list))
			list, say = append(list, leaders...), append(say, more...)
		}
		for _, o := range list {
			say = append(say, p.introduced(o, d)...)
		}
		if len(list) > 0 {
			say = append(say, p.ownBits(about, me.rename)...)
		}
		origins, facts, more = append(origins, list...), append(facts, say...), more+len(list)
	}
	if more == 0 || more > maxOrigins {
		return nil, false
	}
	for i, a := range origins {
		for _, b := range origins[i+1:] {
			if a.of != b.of && !(a.itself && b.itself) {
				facts = append(facts, p.unlike(a, b, x.finding.OtherBlock)...)
			}
		}
	}
	return facts, true
}

// additions notes the additions of which an origin's terms have the results.
func (p *prover) additions(o *origin) {
	results, tickets := p.th.Slots.For(o.terms)
	for i, r := range results {
		if !p.addUp(tickets[i].Object) {
			continue
		}
		o.results, o.renamed = append(o.results, r), append(o.renamed, o.rename(r))
		o.tickets = append(o.tickets, tickets[i].Mapped(o.rename))
	}
}

// lanesThatTell returns the sources of the shuffles in terms of a thread, of which the result of an
// addition may come, and the facts about them.
func (p *prover) lanesThatTell(x *pair, me *origin, about []smt.Term, d int) (out []*origin,
	facts []smt.Term) {
	c := p.c
	known := map[string]*origin{}
	var seen []smt.Term
	c.Visit(about, func(u smt.Term) {
		if symbol.Is(c, u) && c.Width(u) == 32 && strings.HasPrefix(c.Name(u), symbol.Private) {
			seen = append(seen, u)
		}
	})
	for _, u := range seen {
		w, ok := p.th.Shuffles[c.Name(u)]
		if !ok {
			continue
		}
		results, tickets := p.th.Slots.For([]smt.Term{w.Value})
		if len(results) == 0 {
			continue
		}
		how := p.meets(c.Name(u))
		if how == apart {
			continue
		}
		at := c.Substitute() // the terms of this thread in the iterations of u
		for i, k := range w.Iters {
			at.Replace(k, c.Args(u)[i])
		}
		here := func(t smt.Term) smt.Term { return me.rename(at.Apply(t)) }
		iters := slices.Clone(c.Args(u)) // the results of two rounds may be of two sources
		for i := range iters {
			iters[i] = me.rename(iters[i])
		}
		key := fmt.Sprint(how, iters, here(w.Mask), here(w.Source), here(w.Bare))
		o := known[key]
		if o == nil {
			o = p.source(x, me.of, len(out), &w, how, here)
			known[key] = o
			out = append(out, o)
			facts = append(facts, p.meetsAt(o, me, &w, here))
		}
		terms := []smt.Term{w.Bare, w.Mask, w.Value, w.Source}
		for _, of := range tickets {
			terms = append(terms, of.Offset, of.By)
		}
		if how == inStep {
			facts = append(facts, p.ballots(o, here, slices.Concat(terms, []smt.Term{at.Apply(w.Mask)}))...)
		}
		o.terms = append(o.terms, terms...)
		for _, ax := range p.th.Axioms.For([]smt.Term{at.Apply(w.Mask), at.Apply(w.Source)}, d) {
			facts = append(facts, me.rename(ax))
		}
		facts = append(facts, c.Implies(c.And(here(w.Bare), here(p.named(&w))),
			c.Eq(me.rename(u), o.rename(w.Value))))
	}
	return out, facts
}

// introduced returns what holds of a further thread, and notes its additions.
func (p *prover) introduced(o *origin, d int) (facts []smt.Term) {
	axioms := p.th.Axioms.For(o.terms, d)
	for _, ax := range slices.Concat(axioms, p.th.Assumed) {
		facts = append(facts, o.rename(ax))
	}
	facts = append(facts, p.ownBits(o.terms, o.rename)...)
	o.terms = append(o.terms, axioms...)
	p.additions(o)
	return facts
}

// source is the source of a shuffle, as a further thread of the block of thread t.
func (p *prover) source(x *pair, t, n int, w *thread.Shuffle, how meeting,
	here func(smt.Term) smt.Term) *origin {
	c := p.c
	rename := symbol.Further(c, t+1, n, x.finding.OtherBlock)
	if how == inStep {
		for _, k := range w.Iters {
			rename.Replace(k, here(k))
		}
	}
	if symbol.Is(c, w.Mask) { // both have one mask
		rename.Replace(w.Mask, here(w.Mask))
	}
	return &origin{of: t, rename: rename.Apply}
}

// meetsAt says that a thread which executes a shuffle meets the source of its result there, if the
// mask names the source. If not, the origin is the thread itself. Terms have results of shuffles
// that the thread skips, too: what a variable has on the other path, or in another iteration. Of
// these nothing is known, not even that some lane executes the shuffle.
func (p *prover) meetsAt(o, me *origin, w *thread.Shuffle,
	here func(smt.Term) smt.Term) smt.Term {
	c := p.c
	return c.Implies(here(w.Bare), c.And(
		o.rename(w.Bare), c.Eq(o.rename(w.Mask), here(w.Mask)),
		c.Eq(o.rename(p.warp()), me.rename(p.warp())),
		c.Implies(here(p.named(w)), c.Eq(o.rename(p.lane()), here(w.Source))),
	))
}

// ballots says of the ballots among terms of an origin, which is in the same iterations as the
// thread that it tells something, that both have the same result if one names the other.
func (p *prover) ballots(o *origin, here func(smt.Term) smt.Term, terms []smt.Term) []smt.Term {
	c := p.c
	var out []smt.Term
	c.Visit(terms, func(u smt.Term) {
		if !symbol.Is(c, u) {
			return
		}
		g, ok := p.th.Gathered[c.Name(u)]
		common := g.Kind == thread.Ballot || g.Kind == thread.Common
		if !ok || !common || !slices.Equal(c.Args(u), g.Iters) {
			return
		}
		named := hasBit(c, here(g.Mask), o.rename(p.lane()))
		out = append(out, c.Implies(c.And(here(g.Bare), o.rename(g.Bare), named),
			c.Eq(here(u), o.rename(u))))
	})
	return out
}

// ownBits says of the masks among terms of a thread which bit it has there itself.
func (p *prover) ownBits(terms []smt.Term, rename func(smt.Term) smt.Term) []smt.Term {
	c := p.c
	var out []smt.Term
	c.Visit(terms, func(u smt.Term) {
		if !symbol.Is(c, u) || c.Width(u) != 32 {
			return
		}
		g, ok := p.th.Gathered[c.Name(u)]
		if !ok || g.Kind == thread.Common {
			return
		}
		at := c.Substitute()
		for i, k := range g.Iters {
			at.Replace(k, c.Args(u)[i])
		}
		own := hasBit(c, u, p.lane())
		if g.Kind == thread.Ballot {
			own = c.Eq(own, at.Apply(g.Pred))
		}
		out = append(out, rename(c.Implies(at.Apply(g.Bare), own)))
	})
	return out
}

// unlike says how the results of additions by two origins differ: as those of two threads, or of
// two executions by one thread; or they are the results of one execution. Then all else that is
// private to the thread is equal, too.
func (p *prover) unlike(a, b *origin, otherBlock bool) []smt.Term {
	c := p.c
	one := smt.False
	if !otherBlock {
		var eq []smt.Term
		for _, t := range p.th.Tid {
			eq = append(eq, c.Eq(a.rename(t), b.rename(t)))
		}
		one = c.And(eq...)
	}
	var out []smt.Term
	for i, ta := range a.tickets {
		for j, tb := range b.tickets {
			if len(out) >= maxSlots {
				return out
			}
			ra, rb := a.renamed[i], b.renamed[j]
			out = append(out, c.Or(one, p.th.Slots.Apart(ta, tb, ra, rb, otherBlock)))
			if one == smt.False {
				continue
			}
			again := smt.True // another execution
			if c.Name(a.results[i]) == c.Name(b.results[j]) {
				again = c.Not(sameArgs(c, a, a.results[i], b, b.results[j]))
			}
			out = append(out, c.Implies(c.And(one, again), p.th.Slots.Repeated(ta, tb, ra, rb)))
		}
	}
	if one != smt.False {
		out = append(out, p.alike(a, b, one)...)
	}
	return out
}

// alike says that symbols of two origins which are one thread have equal values in equal
// iterations.
func (p *prover) alike(a, b *origin, one smt.Term) []smt.Term {
	c := p.c
	const most = 100
	byName := map[string][]smt.Term{}
	private := func(terms []smt.Term, visit func(u smt.Term)) {
		c.Visit(terms, func(u smt.Term) {
			if symbol.Is(c, u) && strings.HasPrefix(c.Name(u), symbol.Private) &&
				!strings.HasPrefix(c.Name(u), symbol.Counter) {
				visit(u)
			}
		})
	}
	private(a.terms, func(u smt.Term) { byName[c.Name(u)] = append(byName[c.Name(u)], u) })
	var out []smt.Term
	private(b.terms, func(v smt.Term) {
		for _, u := range byName[c.Name(v)] {
			if len(out) == most {
				return
			}
			out = append(out, c.Implies(c.And(one, sameArgs(c, a, u, b, v)), c.Eq(a.rename(u), b.rename(v))))
		}
	})
	return out
}

// sameArgs is the formula that symbols u of origin a and v of b have equal arguments. The symbols
// themselves may be renamed to terms of other threads.
func sameArgs(c *smt.Context, a *origin, u smt.Term, b *origin, v smt.Term) smt.Term {
	var eq []smt.Term
	for i, x := range c.Args(u) {
		eq = append(eq, c.Eq(a.rename(x), b.rename(c.Args(v)[i])))
	}
	return c.And(eq...)
}

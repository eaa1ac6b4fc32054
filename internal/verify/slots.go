package verify

import (
	"slices"

	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// maxSlots bounds the pairs of tickets that one query relates.
const maxSlots = 100

// slots returns the facts that the results of atomics in a query differ as those of different
// threads must (thread.Slots). The query has axioms of loops d levels deep.
func (p *prover) slots(terms [2][]smt.Term, d int, s [2]*smt.Substitution, f *Finding) []smt.Term {
	// under a lock, a store that resets a counter need not race with an addition
	if f.SameThread || p.strong || p.opt.Barriers {
		return nil
	}
	var results [2][]smt.Term
	var slots [2][]thread.Ticket
	for t := range 2 {
		all := slices.Concat(terms[t], p.th.Axioms.For(terms[t], d))
		results[t], slots[t] = p.th.Slots.For(all)
	}
	var out []smt.Term
	for i, a := range slots[0] {
		if !p.addUp(a.Object) {
			continue
		}
		for j, b := range slots[1] {
			if len(out) >= maxSlots {
				return out
			}
			if t := p.th.Slots.Apart(a.Renamed(s[0]), b.Renamed(s[1]), s[0].Apply(results[0][i]),
				s[1].Apply(results[1][j]), f.OtherBlock); t != smt.True {
				out = append(out, t)
			}
		}
	}
	return out
}

// addUp reports whether nothing negative is added to a counter. It asks once for each array.
func (p *prover) addUp(o *thread.Object) bool {
	yes, known := p.up[o]
	if !known {
		yes = !slices.ContainsFunc(p.th.Slots.Doubts(o), func(d thread.Doubt) bool {
			return !p.always(d.Guard, p.c.Sle(p.c.Const(0, p.c.Width(d.By)), d.By))
		})
		p.up[o] = yes
	}
	return yes
}

// ownCopy asks for a race of a thread with an asynchronous copy that it issued and has not waited
// for.
func (p *prover) ownCopy(a, b *thread.Access) {
	if !(a.Async && slices.Contains(b.Pending, a.Instr) ||
		b.Async && slices.Contains(a.Pending, b.Instr)) {
		return
	}
	c, s := p.c, p.pair
	q := []smt.Term{
		s[0].Apply(a.Guard), s[1].Apply(b.Guard), c.Not(p.differ(s, p.th.Tid)),
		a.Start.Renamed(s[0]).Same(c, b.Start.Renamed(s[1])),
	}
	if a.Object != nil && b.Object != nil {
		q = append(q, p.overlap(s[0].Apply(a.Offset), a.Size, s[1].Apply(b.Offset), b.Size))
	}
	if a.Instr == b.Instr { // two executions
		var same []smt.Term
		for i := range a.Iters {
			same = append(same, c.Eq(s[0].Apply(a.Iters[i]), s[1].Apply(b.Iters[i])))
		}
		q = append(q, c.Not(c.And(same...)))
	}
	object := arrayOf(a, b)
	terms := append([]smt.Term{a.Guard, a.Offset}, a.Start.Terms()...)
	other := append([]smt.Term{b.Guard, b.Offset}, b.Start.Terms()...)
	p.decide(q, [2][]smt.Term{terms, other}, s, Finding{Kind: Race, A: a.Instr, B: b.Instr,
		Object: object, SameThread: true})
}

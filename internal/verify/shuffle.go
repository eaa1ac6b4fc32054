package verify

import (
	"slices"

	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// What lanes give each other by shfl.sync.idx (PTX ISA 9.7.9.6). The result of a lane is the value
// of its source lane, if that lane takes part. That it does is shown by queries, once for each
// shuffle; then the result is a term of a further thread, which is the source. The proof is in
// docs/theory/lock-step.md, "What lanes tell each other".
//
// What it cannot prove: sources that are named by a mask which the source has computed otherwise,
// and sources that may have exited.

// meeting says how a lane and the source of its result meet at a shuffle.
type meeting uint8

const (
	apart  meeting = iota // it is not known that they do
	inStep                // in the same iterations of all loops around
	byMask                // they have executed the activemask together whose result is the mask
)

// meets returns how lanes and their sources meet at a shuffle. It asks once.
func (p *prover) meets(name string) meeting {
	how, known := p.meetings[name]
	if !known {
		w := p.th.Shuffles[name]
		how = p.meeting(&w)
		p.meetings[name] = how
	}
	return how
}

// meeting asks how lanes and their sources meet at a shuffle.
func (p *prover) meeting(w *thread.Shuffle) meeting {
	i := slices.IndexFunc(p.th.Waits, func(x thread.Wait) bool { return x.Instr == w.Instr })
	if i < 0 || p.th.Lockstep {
		return apart
	}
	wait := &p.th.Waits[i]
	sub := newProver(p.ctx, p.th, p.opt.aside())
	sub.trusted, sub.res.Invariants = p.trusted, p.res.Invariants
	l := newLanes(sub, map[evenLoop]bool{})
	how := byMask
	if !l.sameAsActive(wait) {
		how = inStep
		l.missing(wait, w)
	}
	if sub.failures() > 0 {
		how = apart
	}
	p.res.Counters = p.res.Counters || how != apart && sub.res.Counters
	p.res.Stats.Steps += sub.res.Stats.Steps
	return how
}

// named is the formula that the mask of a shuffle names the source of a lane, which is below 32: a
// mask that is shifted further has no bits.
func (p *prover) named(w *thread.Shuffle) smt.Term {
	return hasBit(p.c, w.Mask, w.Source)
}

// hasBit is the formula that a mask has the bit of a lane.
func hasBit(c *smt.Context, mask, lane smt.Term) smt.Term {
	return c.Eq(c.Extract(c.LShr(mask, lane), 0, 1), c.Const(1, 1))
}

// missing asks whether a lane executes a shuffle whose source, which its mask names, does not exist
// or does not execute it in the same iterations.
func (l *lanes) missing(wait *thread.Wait, w *thread.Shuffle) {
	c := l.c
	source := l.s[0].Apply(w.Source)
	first := c.BvAnd(l.s[0].Apply(l.th.Linear()), c.Const(1<<32-32, 32))
	n := c.Mul(l.th.Ntid[0], c.Mul(l.th.Ntid[1], l.th.Ntid[2]))
	named := l.prover.named(w)
	none := &question{}
	none.add(c.And(l.s[0].Apply(w.Guard), l.s[0].Apply(named)), 0, w.Guard, named)
	none.add(c.Ule(n, c.BvOr(first, source)), 0)
	if c.And(none.query...) != smt.False {
		l.gathered(none)
		l.ask(wait, none)
	}
	q := &question{query: []smt.Term{l.sameWarp(l.s), l.differ(l.s, l.th.Tid)}}
	q.add(c.And(l.s[0].Apply(w.Guard), l.s[0].Apply(named)), 0, w.Guard, named)
	q.add(c.Eq(source, l.s[1].Apply(l.lane())), 0)
	q.add(c.Not(l.s[1].Apply(w.Bare)), 1, w.Bare)
	if c.And(q.query...) != smt.False {
		l.together(wait, q)
		l.gathered(q)
		l.ask(wait, q)
	}
}

// lane is the number of a thread in its warp.
func (p *prover) lane() smt.Term { return p.c.BvAnd(p.th.Linear(), p.c.Const(31, 32)) }

// warp is the number of the warp of a thread in its block.
func (p *prover) warp() smt.Term { return p.c.LShr(p.th.Linear(), p.c.Const(5, 32)) }

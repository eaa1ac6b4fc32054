package verify

import (
	"math/bits"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// The last arriver: each block adds one to a counter when its part is done, and the block that
// receives the number of blocks less one continues with what all blocks have written. That atomic
// observes all others through the chain of atomics, so with a release pattern before the additions
// and an acquire pattern behind the last one, it orders what the other blocks did before (PTX ISA
// 8.8, 8.9.4). The proof is in docs/theory/lock-step.md, "The last arriver".
//
// Deviations and limits: the leader of a block, thread (0,0,0), makes the addition, which is the
// only atomic on the counter, outside of loops. One counter of a kernel is used. That the counter
// is 0 when the kernel starts is an assumption of the verdict.

// arrival is the addition by which blocks arrive at a counter.
type arrival struct {
	p       *prover
	add     *thread.Access
	limit   smt.Term    // of atom.inc, as wide as the result; smt.False for atom.add
	release []*ir.Instr // fences or the addition itself: what precedes each of them is released
	acquire []*ir.Instr // fences or the addition itself: what follows each of them has acquired
	// those of release and of acquire that are a fence.sc
	releaseSC, acquireSC []*ir.Instr
	blocks               smt.Term                   // their number, 64 bits
	leaders              [2]func(smt.Term) smt.Term // see prover.leaders
}

// arrives returns the arrival of the kernel; nil if there is none. It looks once.
func (p *prover) arrives() *arrival {
	if !p.sought {
		p.sought = true
		p.arrival = p.findArrival()
	}
	return p.arrival
}

// findArrival returns the first addition that meets all conditions.
func (p *prover) findArrival() *arrival {
	f := p.th.Func
	if f == nil || p.th.Lockstep || p.lock != nil || len(p.tickets) > 0 || p.grid != nil {
		return nil
	}
	if !p.countable() {
		return nil
	}
	var a *arrival
	for i := range p.th.Accesses {
		x := &p.th.Accesses[i]
		if x.Kind != event.Atomic || x.Result == smt.False || x.Object == nil ||
			x.Object.Space != event.Global || x.Scope < event.GPU || len(x.Iters) > 0 ||
			!p.ofGrid(x.Offset) {
			continue
		}
		if a == nil {
			a = p.newArrival()
		}
		// All blocks add before the last arriver stores, which may reset the counter. Of a second
		// addition that is not known.
		if !p.th.Slots.Stored([]smt.Term{x.Result}) && a.counts(x) && a.only() &&
			p.startsAtZero(x.Object) {
			return a
		}
	}
	return nil
}

// countable reports whether the number of blocks surely fits in 64 bits: an arbitrary dimension has
// fewer than 2^31.
func (p *prover) countable() bool {
	most := uint64(1)
	for _, n := range p.th.Nctaid {
		dim, fixed := p.c.Value(n)
		if !fixed {
			dim = 1 << 31
		}
		high, low := bits.Mul64(most, dim)
		if high != 0 {
			return false
		}
		most = low
	}
	return true
}

// newArrival prepares the terms that do not depend on the addition.
func (p *prover) newArrival() *arrival {
	c := p.c
	a := &arrival{p: p, blocks: c.Const(1, 64), leaders: p.leaders()}
	for _, n := range p.th.Nctaid {
		a.blocks = c.Mul(a.blocks, c.ZExt(n, 64))
	}
	return a
}

// ofGrid reports whether all threads of the grid agree on a term.
func (p *prover) ofGrid(t smt.Term) bool {
	return !symbol.Any(p.c, t, func(name string) bool { return !symbol.OfGrid(name) })
}

// counts makes x the addition, and reports whether it adds one and each leader, but no other
// thread, may execute it.
func (a *arrival) counts(x *thread.Access) bool {
	p, c := a.p, a.p.c
	a.add, a.limit = x, smt.False
	if !p.ofGrid(x.Operands[0]) {
		return false
	}
	switch one, fixed := c.Value(x.Operands[0]); {
	case x.Update == thread.Increment:
		a.limit = x.Operands[0]
	case x.Update != thread.Add || !fixed || one != 1:
		return false
	}
	a.fences()
	return a.never(p.far[0].Apply(x.Guard), c.Not(a.isLeader(0)))
}

// fences finds what makes the addition part of a release or an acquire pattern.
func (a *arrival) fences() {
	a.release, a.acquire, a.releaseSC, a.acquireSC = nil, nil, nil, nil
	at := a.add.Instr
	if releases(at, event.Global) {
		a.release = append(a.release, at)
	}
	if acquires(a.add, event.Global) {
		a.acquire = append(a.acquire, at)
	}
	for _, in := range a.p.th.Fences {
		if in.Scope < event.GPU || !in.Orders.Covers(event.Global) {
			continue
		}
		if in.Order.Releases() && a.p.routes().Dominates(in, at) {
			a.release = append(a.release, in)
			if a.sc(in) {
				a.releaseSC = append(a.releaseSC, in)
			}
		}
		if in.Order.Acquires() && a.p.routes().Reaches(at, in) && !a.p.routes().Reaches(in, at) {
			a.acquire = append(a.acquire, in)
			if a.sc(in) {
				a.acquireSC = append(a.acquireSC, in)
			}
		}
	}
}

// only reports whether nothing else writes the counter, except the last arriver behind its
// addition, which may reset it.
func (a *arrival) only() bool {
	p, c := a.p, a.p.c
	for i := range p.th.Accesses {
		w := &p.th.Accesses[i]
		if w == a.add || !w.Kind.Writes() || !p.comparable(w, a.add) {
			continue
		}
		if w.Object == nil {
			return false
		}
		terms := [2][]smt.Term{{w.Guard}}
		after := c.And(a.behind(w, []*ir.Instr{a.add.Instr}, 0), a.last(0))
		q := append([]smt.Term{p.far[0].Apply(w.Guard), c.Not(after)}, a.facts(terms, 2)...)
		if !a.never(q...) {
			return false
		}
	}
	return true
}

// never reports whether conditions cannot hold together.
func (a *arrival) never(conds ...smt.Term) bool {
	p := a.p
	for _, t := range p.th.Assumed {
		conds = append(conds, p.far[0].Apply(t))
	}
	answer := p.c.Decide(p.ctx, conds, p.opt.Solvers...)
	p.count(answer)
	return answer.Status == smt.Unsat
}

// lead returns a term of the leader of the block of thread t.
func (a *arrival) lead(t int, x smt.Term) smt.Term { return a.leaders[t](x) }

// last is the formula that the leader of the block of thread t arrives last: it receives the number
// of blocks less one, and the counter has not wrapped before.
func (a *arrival) last(t int) smt.Term {
	c := a.p.c
	most := c.AddConst(a.blocks, ^uint64(0))
	is := []smt.Term{a.lead(t, a.add.Guard), c.Eq(c.ZExt(a.lead(t, a.add.Result), 64), most)}
	if a.limit != smt.False {
		is = append(is, c.Ule(most, c.ZExt(a.limit, 64)))
	}
	return c.And(is...)
}

// isLeader is the formula that thread t is the leader of its block.
func (a *arrival) isLeader(t int) smt.Term { return a.p.far[t].Apply(a.p.leads()) }

// before is the formula that what thread t does at x is released by the addition of its leader: the
// leader itself does it before a release, or a barrier lies between the two. The addition itself
// needs no release: the last arriver observes it (PTX ISA 8.9.5, second rule; not in OpenCL).
func (a *arrival) before(x *thread.Access, release []*ir.Instr, t int) smt.Term {
	if x == a.add && (!a.p.openCL() || releases(x.Instr, event.Global)) {
		return smt.True
	}
	if x.Async {
		return smt.False
	}
	for _, b := range a.p.barriers(event.Global) {
		between := func(f *ir.Instr) bool { return a.p.routes().Dominates(b, f) }
		if !a.p.routes().Reaches(b, x.Instr) && slices.ContainsFunc(release, between) {
			return smt.True
		}
	}
	later := func(f *ir.Instr) bool { return !a.p.routes().Reaches(f, x.Instr) }
	if slices.ContainsFunc(release, later) {
		return a.isLeader(t)
	}
	return smt.False
}

// sc reports whether an instruction is a fence.sc of device scope.
func (a *arrival) sc(in *ir.Instr) bool {
	return in.Order == event.SeqCst && in.Scope >= event.GPU && !a.p.openCL() &&
		slices.Contains(a.p.th.Fences, in)
}

// beforeSC is before by a fence.sc, which may also be the thread's own, ahead of a barrier.
func (a *arrival) beforeSC(x *thread.Access, t int) smt.Term {
	for _, b := range a.p.barriers(event.Global) {
		if !x.Async && !a.p.routes().Reaches(b, x.Instr) && a.p.routes().Dominates(b, a.add.Instr) &&
			!a.p.routes().ReachesPast(x.Instr, b, a.sc) {
			return smt.True
		}
	}
	return a.before(x, a.releaseSC, t)
}

// behindSC is behind by a fence.sc, which may also be the thread's own, behind a barrier.
func (a *arrival) behindSC(y *thread.Access, t int) smt.Term {
	for _, b := range a.p.barriers(event.Global) {
		if y != a.add && !y.Async && a.p.routes().Dominates(b, y.Instr) &&
			!a.p.routes().Reaches(b, a.add.Instr) && !a.p.routes().ReachesPast(b, y.Instr, a.sc) {
			return smt.True
		}
	}
	return a.behind(y, a.acquireSC, t)
}

// behind is the formula that what thread t does at y follows one of the instructions which the
// leader of its block executes at its addition or after it: the leader itself does it, or a barrier
// lies between the two.
func (a *arrival) behind(y *thread.Access, instrs []*ir.Instr, t int) smt.Term {
	if y == a.add || y.Async {
		return smt.False
	}
	own := smt.False
	for _, g := range instrs {
		executed := a.p.routes().PostDominates(g, a.add.Instr)
		if (executed || a.p.routes().Dominates(g, y.Instr)) && !a.p.routes().Reaches(y.Instr, g) &&
			y.Instr != g {
			own = a.isLeader(t)
		}
		for _, b := range a.p.barriers(event.Global) {
			if a.p.routes().Dominates(b, y.Instr) && !a.p.routes().Reaches(b, g) &&
				(executed || a.p.routes().Dominates(g, b)) {
				return smt.True
			}
		}
	}
	return own
}

// ordered is the formula that x, of thread t, happens before y, of the other thread, which is of
// another block: the leader of the second block arrives last, x is before the arrival of the first
// one, and y is behind that of the second.
func (a *arrival) ordered(x, y *thread.Access, t int) smt.Term {
	c, acquire := a.p.c, a.acquire
	if x == a.add && !a.p.openCL() {
		acquire = []*ir.Instr{a.add.Instr}
	}
	return c.And(c.Or(c.And(a.before(x, a.release, t), a.behind(y, acquire, 1-t)),
		c.And(a.beforeSC(x, t), a.behindSC(y, 1-t))), a.last(1-t))
}

// query returns what is added to the query of a pair of accesses in two blocks: that the arrival
// does not order them, and the facts about the terms that the query is made of.
func (a *arrival) query(x *pair, depth int) []smt.Term {
	c := a.p.c
	out := a.facts(x.terms, depth)
	return append(out, c.Not(a.ordered(x.accesses[0], x.accesses[1], 0)),
		c.Not(a.ordered(x.accesses[1], x.accesses[0], 1)), c.Not(c.And(a.last(0), a.last(1))))
}

// facts says of two threads in two blocks, and of the leaders of their blocks, what the terms of
// the threads need: which value of its leader a thread reads from shared memory, and that a thread
// which is the leader has the leader's result.
func (a *arrival) facts(terms [2][]smt.Term, depth int) []smt.Term {
	c, p := a.p.c, a.p
	var out []smt.Term
	for t := range 2 {
		about := slices.Concat(terms[t], p.th.Axioms.For(terms[t], depth))
		values, of := a.received(about, t)
		out = append(out, values...)
		of = append(of, a.add.Guard)
		for _, ax := range p.th.Axioms.For(of, depth) {
			out = append(out, a.lead(t, ax))
		}
		for _, is := range p.th.Assumed {
			out = append(out, a.lead(t, is))
		}
		result := a.add.Result
		out = append(out, c.Implies(a.isLeader(t),
			c.Eq(p.far[t].Apply(result), a.lead(t, result))))
	}
	return out
}

// received returns, for what thread t reads of shared memory behind a barrier, what its leader has
// stored there before, and of which terms of the leader that is.
func (a *arrival) received(about []smt.Term, t int) (out, of []smt.Term) {
	c, p := a.p.c, a.p
	c.Visit(about, func(u smt.Term) {
		if c.Op(u) != smt.OpApp {
			return
		}
		w, args := p.broadcast(u), c.Args(u)
		if w == nil || len(w.Iters) > 0 {
			return
		}
		if _, told := p.toldAt(w, args[1:]); !told {
			return
		}
		s := p.far[t]
		at := c.Eq(s.Apply(args[0]), a.lead(t, w.Offset))
		out = append(out, c.Implies(c.And(a.lead(t, w.Guard), at),
			c.Eq(s.Apply(u), a.lead(t, w.Values[0]))))
		of = append(of, w.Guard, w.Offset, w.Values[0])
	})
	return out, of
}

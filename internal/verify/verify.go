// Package verify proves that no two threads of a kernel race and that no barrier diverges, for all
// inputs, or finds a counterexample, or reports what it could not decide.
//
// It follows the two-thread reduction of Betts et al. (GPUVerify, TOPLAS 2015, section 4) and
// Collingbourne et al. (ESOP 2013). A thread.Thread describes one arbitrary thread by guarded
// accesses and ends of barrier intervals; two renamed instances are two arbitrary threads. A race
// is a pair of accesses, one of each thread, whose guards and overlap are satisfiable together with
// equal start tags: both accesses lie in one barrier interval. A divergence is a pair of interval
// ends with equal start tags that are not the same barrier instance.
//
// Deviation: where GPUVerify logs an arbitrary access and asserts at each other access, every pair
// of accesses is one small query here. Why tags are sound with respect to the lock-step form:
// docs/theory/lock-step.md.
//
// What it can miss: nothing within the assumptions of package lockstep. Each pair that is not
// proved harmless is a finding, and a query that is given up makes one too.
package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"heddle/internal/axiom"
	"heddle/internal/event"
	"heddle/internal/invariant"
	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Options are the choices of one verification.
type Options struct {
	Benign         event.Benign
	OnlyIntraBlock bool
	Limit          int // stop after so many findings; 0: find all
	// Exists says that only the existence of findings counts: they have no model, but those of kind
	// Bounds, of which it decides whether they count. With a Limit, accesses that are close to each
	// other in the text are compared first.
	Exists bool
	// Steps ends the proof when its queries took so many steps (smt.Answer); 0: no limit.
	Steps int64
	// Barriers says that barriers alone order accesses, and that nothing is concluded from what
	// atomic operations return or what lanes and leaders tell others. If the thread is adversarial as
	// well, no answer about one pair rests on the absence of races in others.
	Barriers bool
	// Rest makes each pair that is left when the steps are used up a finding, instead of one for all.
	Rest bool
	Ways bool // report in which iterations each race occurs
	// OneWarp says, with Ways, whether to ask if a race needs threads of two warps; nil: never.
	OneWarp func(*Finding) bool
	// Solvers are asked in order for what the simplifier leaves, and for invariants of loops.
	Solvers []smt.Solver
	// Pool replaces Solvers for what the simplifier leaves: it decides several queries at a time.
	Pool *smt.Pool
	// Sizes gives the bytes of arrays whose bounds are to be checked, and whether they are known; nil:
	// none.
	Sizes func(*thread.Object) (uint64, bool)
	// AllBounds makes an access of which not even the array is known a finding.
	AllBounds bool
	// NotZero says why an array is not 0 when the kernel starts, which some proofs assume; it is empty
	// if the array may be. left says that this holds for what an earlier launch of the kernel leaves
	// there, unless the kernel itself sets it to 0 in the end. nil: every array may be 0.
	NotZero func(o *thread.Object) (why string, left bool)
	// Shown reports whether a run has confirmed that a pair races, so that no invariants are searched
	// to disprove it, and with Exists nothing is asked; nil: none.
	Shown func(*Finding) bool
	// Record receives each query that was decided or given up, as it was asked, in SMT-LIB 2; nil:
	// nothing does.
	Record func(what *Finding, script []byte, a smt.Answer)
	// Ignore reports findings that are not wanted, and for which no query is asked. nil: all are
	// wanted.
	Ignore func(f *Finding) bool
	// Axioms are files of axioms about functions that heddle does not interpret, which the proof
	// assumes.
	Axioms []*axiom.File
	// Beyond restricts races within a block to pairs of threads of which one has at least this linear
	// index; 0: all pairs. Package engine/weaken proves barriers of part of a block with it.
	Beyond uint32
}

// aside returns the options for questions whose answers are no findings: one that is not proved is
// enough.
func (o Options) aside() Options {
	o.Limit, o.Record, o.Ignore, o.Shown, o.Ways = 1, nil, nil, nil, false
	return o
}

// Kind is the kind of a Finding.
type Kind uint8

const (
	Race       Kind = iota // two conflicting accesses that nothing orders
	Divergence             // threads of a block at different barriers, or at one and at the end
	Violation              // of an annotation
	Vacuous                // an assumption that cannot hold
	Bounds                 // an access beyond the end of its array
	Lanes                  // an operation of a warp waits for a lane that does not execute it
	Unordered              // two strong accesses that nothing orders (event.Unordered)
)

// Finding is a pair that is not proved harmless.
type Finding struct {
	Kind       Kind
	A, B       *ir.Instr // for a Divergence the barriers; nil for the end of the kernel
	Object     *thread.Object
	OtherBlock bool // the threads are of different blocks
	SameThread bool // a thread races with an asynchronous copy of its own
	// Data says, of a finding of kind Bounds, that the index depends on the contents of memory, and
	// Scalars that parameters decide whether the access lies beyond its array.
	Data, Scalars bool
	// Unusual says that the model needs parameters that no host passes: a size of 0 or less, or index
	// arithmetic that wraps around. No other model was found.
	Unusual bool
	// Reason says why an undecided pair is; if empty, Model is a counterexample of the abstraction.
	Reason      string
	Model       *smt.Model
	Assertion   *thread.Assertion // of a Violation and Vacuous
	Tid, Ctaid  [2]event.Dim3     // of the two threads, from Model
	Grid, Block event.Dim3        // of the launch, from Model
	Iters       [2][]uint32       // of the loops around A and B, outermost first, from Model
	// Free and Loops are the abstractions that the counterexample uses, so that a run may not have it:
	// the results of instructions, and registers of loops without a closed form.
	Free  []*ir.Instr
	Loops bool
	iters [2][]smt.Term
	// Ways says in which iterations a race occurs, if Options.Ways asks for it: first in one iteration
	// of all loops around both accesses (Same); then for each of these loops, outermost first, in
	// different iterations of it and one iteration of the loops around it.
	Ways []Way
	// OneWarp is set for a race that is proved to be between lanes of one warp, if Options.OneWarp
	// asks for it.
	OneWarp bool
}

// Stats counts the queries. A pair is decided by one query or by several, with more of the axioms
// of loops each.
type Stats struct {
	Pairs        int
	BySimplifier int           // pairs proved harmless by the simplifier
	BySolver     int           // by solvers
	Time         time.Duration // of all queries
	// Steps counts those of all queries and of the search for invariants: Options.Steps bounds it.
	Steps int64
	// Queries is by decision procedure: "simplifier", a solver's name, or "nobody".
	Queries map[string]*QueryStats
}

// QueryStats counts the queries that one decision procedure decided.
type QueryStats struct {
	Unsat, Sat, Unknown int
	Cached              int           // answered from kept answers
	Time                time.Duration // of solvers
}

// Result is the result of a verification: verified if there are no findings.
type Result struct {
	Findings []Finding
	// Invariants are the loop invariants that were searched; nil if every pair was decided without.
	Invariants *invariant.Set
	Stats      Stats
	Thread     *thread.Thread
	Counters   bool // assumes that counters do not wrap around
	// Zero are the counter at which blocks arrive and the arrays of flags which the proof assumes to be
	// 0 when the kernel starts.
	Zero []*thread.Object
	// NotZero says, as Options.NotZero does, why what would order accesses does not: the counter or the
	// flags are not 0 when the kernel starts.
	NotZero []string
	// Unbounded are accesses that are assumed to stay in their arrays, unless Options.AllBounds.
	Unbounded []Finding
	// Apart are pairs of strong accesses that nothing orders and that may belong to a protocol: they
	// do not prevent that the kernel is verified, and are reported with it.
	Apart []Finding
	// Tolerated are pairs of stores that may race, but write equal values, which Options.Benign
	// tolerates. It is set for a kernel that is verified.
	Tolerated []Finding
	// Traps are those that a thread may execute, so that what follows does not happen. They are set
	// for a kernel that is verified.
	Traps []*ir.Instr
}

// Verified reports whether every pair was proved harmless.
func (r *Result) Verified() bool { return len(r.Findings) == 0 }

// prover is the state of one verification.
type prover struct {
	ctx     context.Context
	th      *thread.Thread
	c       *smt.Context
	opt     Options
	res     *Result
	pair    [2]*smt.Substitution // the two threads of one block
	far     [2]*smt.Substitution // of two blocks
	stopped bool                 // out of time, or of steps
	pairs   []*pair              // in the order in which they were asked
	waiting []*pair              // for a solver
	bad     int                  // pairs that are findings
	shrunk  int                  // findings whose model was made small
	exists  bool                 // it is enough whether there is a model
	// asking says that pairs that a run has confirmed are asked about as others are
	asking bool
	// converged is set if barriers or merge points of a warp order the accesses of its lanes.
	converged bool
	trusted   []smt.Term // the barrier invariants that are used
	equal     []*pair    // of stores of which those of equal values are tolerated
	strong    bool       // locks and flags may order accesses (see MayOrder)
	lock      *lock      // nil: none does
	flags     []*flags
	tickets   []*ticketLock
	arrival   *arrival // see arrives
	sought    bool     // arrival was looked for
	arrivals  bool     // arrivals may order the accesses of the pairs that are asked now
	grid      *gridBarrier
	up        map[*thread.Object]bool // see addUp
	meetings  map[string]meeting      // see meets
	paths     *ir.Paths               // see routes
	stores    map[int]*thread.Access  // see onlyStore
}

// Kernel verifies what th describes.
func Kernel(ctx context.Context, th *thread.Thread, opt Options) *Result {
	p := newProver(ctx, th, opt)
	p.trust()
	p.assertions()
	p.divergence()
	p.gridDivergence()
	p.converged = th.Merged || p.convergence()
	if p.strong {
		p.lock, p.flags, p.tickets = p.findLock(), p.findFlags(), p.findTicketLocks()
	}
	if !p.opt.Barriers {
		p.grid = p.findGridBarrier()
	}
	p.nulls()
	p.arrivals = !p.opt.Barriers
	p.races()
	p.arrivals = false
	p.lanes()
	p.bounds()
	p.drain()
	if opt.Ways {
		p.ways()
	}
	r := p.result()
	if r.Verified() {
		p.tolerated()
		p.traps()
	}
	return r
}

// traps finds the traps that are not shown to be out of reach.
func (p *prover) traps() {
	for _, t := range p.th.Traps {
		q := append([]smt.Term{t.Guard}, p.th.Assumed...)
		if slices.Contains(p.res.Traps, t.Instr) || !p.done() &&
			p.c.Decide(p.ctx, q, p.opt.Solvers...).Status == smt.Unsat {
			continue
		}
		p.res.Traps = append(p.res.Traps, t.Instr)
	}
}

// tolerated finds the pairs of stores for which the proof needs that writes of equal values are
// tolerated: those that are not proved apart without looking at the values.
func (p *prover) tolerated() {
	if len(p.equal) == 0 {
		return
	}
	opt := p.opt
	opt.Limit, opt.Record, opt.Ways = 0, nil, false
	opt.Shown = func(*Finding) bool { return true } // no invariants are searched for this
	sub := newProver(p.ctx, p.th, opt)
	sub.trusted, sub.res.Invariants = p.trusted, p.res.Invariants
	sub.shrunk, sub.exists, sub.asking = mostShrunk, true, true
	sub.arrival, sub.sought = p.arrival, true
	for _, x := range p.equal {
		sub.pose(x)
	}
	sub.drain()
	p.res.Stats.Steps += sub.res.Stats.Steps
	p.res.Tolerated = sub.result().Findings
}

// Diverging returns as findings the barriers that some thread of a block reaches in an iteration of
// the loops around in which another thread does not: each diverges, whatever other barriers the
// kernel has. Undecided barriers are not among them.
func Diverging(ctx context.Context, th *thread.Thread, opt Options) *Result {
	p := newProver(ctx, th, opt)
	return p.modelled(p.diverging(th.Ends, false))
}

// WarpDiverging is Diverging for barriers of a warp, and two lanes of one warp.
func WarpDiverging(ctx context.Context, th *thread.Thread, opt Options) *Result {
	p := newProver(ctx, th, opt)
	return p.modelled(p.diverging(th.WarpEnds, true))
}

// modelled returns the findings that have a model.
func (p *prover) modelled(pairs []*pair) *Result {
	for _, x := range pairs {
		x.bad = x.bad && x.finding.Model != nil
	}
	return p.result()
}

// newProver prepares the two instances of the thread: a pair in one block, and a pair of any two
// blocks (far). Without solvers in the options it takes one from the pool.
func newProver(ctx context.Context, th *thread.Thread, opt Options) *prover {
	p := &prover{
		ctx: ctx, th: th, c: th.Context, opt: opt, res: &Result{Thread: th}, exists: opt.Exists,
		up: map[*thread.Object]bool{}, meetings: map[string]meeting{},
		stores: map[int]*thread.Access{},
	}
	p.res.Stats.Queries = map[string]*QueryStats{}
	p.strong = th.Adversarial && !opt.Barriers && MayOrder(th)
	if p.opt.Pool == nil {
		p.opt.Pool = smt.NewPool(1, func() []smt.Solver { return opt.Solvers }, nil)
	}
	if len(p.opt.Solvers) == 0 {
		p.opt.Solvers = []smt.Solver{p.opt.Pool.Solver()}
	}
	for i := range 2 {
		p.pair[i] = symbol.Instance(p.c, i+1, false)
		p.far[i] = symbol.Instance(p.c, i+1, true)
	}
	return p
}

// result collects the findings.
func (p *prover) result() *Result {
	for _, x := range p.pairs {
		switch {
		case x.bad && x.apart:
			p.res.Apart = append(p.res.Apart, x.finding)
		case x.bad:
			p.res.Findings = append(p.res.Findings, x.finding)
		}
	}
	if !p.opt.AllBounds {
		p.res.unbounded()
	}
	return p.res
}

// differ is the formula that the two threads are not the same one.
func (p *prover) differ(s [2]*smt.Substitution, idx [3]smt.Term) smt.Term {
	var eq []smt.Term
	for _, t := range idx {
		eq = append(eq, p.c.Eq(s[0].Apply(t), s[1].Apply(t)))
	}
	return p.c.Not(p.c.And(eq...))
}

// divergence compares the ends of intervals, except for barriers that all threads of a block reach
// together.
//
// If the condition of a barrier is uniform, the threads of a block agree on the iterations in which
// they reach it. Let barriers A and B be such, and let one thread proceed from an instance S to an
// instance of A, and another one from S to a different instance of B. Both threads reach both
// instances, and both come after S in the order of the program, which all threads have in common:
// the first thread says that A's is before B's, the second one the opposite. At the end of the
// kernel, likewise, no instance of A is left. So neither has to be asked.
func (p *prover) divergence() {
	ends := p.th.Ends
	uniform := symbol.NewUniformity(p.c)
	together := make([]bool, len(ends)) // that the thread ends is no condition
	for i, e := range ends {
		together[i] = e.Instr == nil || uniform.Of(e.Bare)
	}
	for i := range ends {
		for j := i; j < len(ends) && !p.done(); j++ {
			if !together[i] || !together[j] {
				p.apart(&ends[i], &ends[j], false)
			}
		}
	}
}

// gridDivergence compares the ends of intervals between barriers of the grid: if a thread of
// another block reaches another one, or ends, the barrier waits for it forever. Within a block,
// divergence is as at any barrier.
func (p *prover) gridDivergence() {
	ends := p.th.GridEnds
	for i := range ends {
		for j := i; j < len(ends) && !p.done(); j++ {
			if a, b := &ends[i], &ends[j]; a.Instr != nil || b.Instr != nil {
				p.apart(a, b, true)
			}
		}
	}
}

// apart asks whether two threads, for which more holds, can proceed from one barrier to different
// ends of its interval. The thread that is at its end when the paths of the two diverge has passed
// the annotations on its path; what the other one assumes is not used, since it may be behind the
// point where they diverge.
func (p *prover) apart(a, b *thread.End, otherBlock bool, more ...smt.Term) {
	if a.Instr != nil {
		other := *b
		other.Guard = b.Bare
		p.parts(a, &other, otherBlock, more)
	}
	if b.Instr != nil && a != b && (a.Instr == nil || a.Guard != a.Bare || b.Guard != b.Bare) {
		first := *a
		first.Guard = a.Bare
		p.parts(&first, b, otherBlock, more)
	}
}

// parts asks whether two threads can be at the ends a and b of one interval, under their guards.
func (p *prover) parts(a, b *thread.End, otherBlock bool, more []smt.Term) {
	s, different := p.pair, p.th.Tid
	if otherBlock {
		s, different = p.far, p.th.Ctaid
	}
	joint := a.Start.Renamed(s[0]).Same(p.c, b.Start.Renamed(s[1]))
	if joint == smt.False {
		return
	}
	terms := append(append([]smt.Term{a.Guard}, a.Start.Terms()...), a.At.Terms()...)
	other := append(append([]smt.Term{b.Guard}, b.Start.Terms()...), b.At.Terms()...)
	atA, atB := a.At.Renamed(s[0]), b.At.Renamed(s[1])
	q := append([]smt.Term{
		s[0].Apply(a.Guard), s[1].Apply(b.Guard), p.differ(s, different), joint, p.c.Not(atA.Same(p.c, atB)),
	}, more...)
	p.decide(q, [2][]smt.Term{terms, other}, s, Finding{
		Kind: Divergence, A: a.Instr, B: b.Instr, OtherBlock: otherBlock,
	})
}

// races compares accesses, within a block and between blocks. If some races are enough, it begins
// with accesses that are close to each other: what separates them separates many others.
func (p *prover) races() {
	acc := p.th.Accesses
	if p.exists && p.opt.Limit > 0 {
		for d := range acc {
			for i := 0; i+d < len(acc) && !p.done(); i++ {
				p.compare(&acc[i], &acc[i+d])
			}
		}
		return
	}
	for i := range acc {
		for j := i; j < len(acc) && !p.done(); j++ {
			p.compare(&acc[i], &acc[j])
		}
	}
}

// compare compares two accesses that can conflict.
func (p *prover) compare(a, b *thread.Access) {
	if !p.comparable(a, b) {
		return
	}
	p.race(a, b, false)
	p.ownCopy(a, b)
	if a.Space != event.Shared && b.Space != event.Shared && !p.opt.OnlyIntraBlock {
		p.race(a, b, true)
	}
}

// comparable reports whether two accesses can conflict as far as their kinds and arrays say: one of
// them writes, and they are not known to be in different objects or spaces.
func (p *prover) comparable(a, b *thread.Access) bool {
	if !a.Kind.Writes() && !b.Kind.Writes() {
		return false
	}
	if a.Object != nil && b.Object != nil {
		return a.Object == b.Object
	}
	return a.Space == b.Space || a.Space == event.Generic || b.Space == event.Generic
}

// strongTogether reports whether two accesses are morally strong wherever they overlap: equal sizes
// cannot overlap partly, because accesses are aligned (PTX ISA 5.1, 8.7). An access of a vector is
// one of each of its elements (8.2.2).
func strongTogether(a, b *thread.Access, otherBlock bool) bool {
	if !a.Order.Strong() || !b.Order.Strong() || elementSize(a) != elementSize(b) {
		return false
	}
	return !otherBlock || a.Scope >= event.GPU && b.Scope >= event.GPU
}

// elementSize is the size in bytes of one element of a vector access.
func elementSize(a *thread.Access) int { return a.Size / max(int(a.Instr.Vec), 1) }

// race asks whether two threads can race by accesses a and b. The query is a conjunction: both
// accesses are reached; the threads differ; no barrier separates the accesses (of the block, of a
// warp whose lanes converge, or of the grid); the bytes overlap; and the values differ where equal
// writes are tolerated. If it is unsatisfiable there is no such race. A model may be spurious,
// since loops and memory are abstracted, and is replayed by the caller.
func (p *prover) race(a, b *thread.Access, otherBlock bool) {
	kind, apart := Race, false
	if strongTogether(a, b, otherBlock) {
		if !unordered(a, b) {
			return
		}
		kind, apart = Unordered, p.excused(a, b) || otherBlock
	}
	c, s := p.c, p.pair
	if otherBlock {
		s = p.far
	}
	object := arrayOf(a, b)
	joint := p.joint(a, b, s, otherBlock)
	unwanted := p.opt.Ignore != nil && p.opt.Ignore(&Finding{
		Kind: kind, A: a.Instr, B: b.Instr, Object: object, OtherBlock: otherBlock,
	})
	if joint == smt.False || unwanted {
		return
	}
	q := []smt.Term{s[0].Apply(a.Guard), s[1].Apply(b.Guard), joint}
	terms := append([]smt.Term{a.Guard, a.Offset}, a.Start.Terms()...)
	other := append([]smt.Term{b.Guard, b.Offset}, b.Start.Terms()...)
	if p.lock != nil {
		if one := p.lock.apart(a, b, s); one != smt.False {
			q = append(q, c.Not(one))
			terms = append(terms, p.lock.section(a).at)
			other = append(other, p.lock.section(b).at)
		}
	}
	var wraps bool
	for _, l := range p.tickets {
		if one, about := l.apart(a, b, s); one != smt.False {
			q, wraps = append(q, c.Not(one)), wraps || l.wraps
			terms, other = append(terms, about[0]...), append(other, about[1]...)
		}
	}
	q, about, zero := p.publish(a, b, s, otherBlock, q)
	terms, other = append(terms, about[0]...), append(other, about[1]...)
	if otherBlock && p.arrivals && p.grid != nil {
		q, about = p.grid.query(a, b, q)
		terms, other = append(terms, about[0]...), append(other, about[1]...)
		if len(about[0])+len(about[1]) > 0 {
			zero = append(zero, p.grid.object)
		}
	}
	if otherBlock {
		q = append(q, p.differ(s, p.th.Ctaid))
		terms, other = append(terms, a.Grid.Terms()...), append(other, b.Grid.Terms()...)
	} else {
		q = append(q, p.differ(s, p.th.Tid))
		if p.opt.Beyond > 0 {
			q = append(q, p.outlying(s))
		}
		// A barrier or merge point of the warp orders its lanes, and what they do at their instructions.
		async := p.th.Lockstep && (a.Async || b.Async)
		if p.converged && !a.Unsettled && !b.Unsettled && !async {
			q = append(q, c.Or(c.Not(p.sameWarp(s)), a.Warp.Renamed(s[0]).Same(c, b.Warp.Renamed(s[1]))))
			terms, other = append(terms, a.Warp.Terms()...), append(other, b.Warp.Terms()...)
		}
		if p.th.Lockstep && !a.Async && !b.Async {
			joint, about := p.inStep(a, b, s)
			q = append(q, c.Not(c.And(p.sameWarp(s), joint)))
			terms, other = append(terms, about...), append(other, about...)
		}
	}
	// An address of the shared window is not a generic address: such a pair may overlap anywhere.
	if a.Object != nil && b.Object != nil || a.Object == nil && b.Object == nil &&
		(a.Space == event.Shared) == (b.Space == event.Shared) {
		q = append(q, p.overlap(s[0].Apply(a.Offset), a.Size, s[1].Apply(b.Offset), b.Size))
	}
	if kind == Unordered {
		p.exchange(&pair{query: q, terms: [2][]smt.Term{terms, other}, threads: s, apart: apart,
			finding: Finding{Kind: kind, A: a.Instr, B: b.Instr, Object: object, OtherBlock: otherBlock,
				iters: [2][]smt.Term{a.Iters, b.Iters}}}, a.Space == event.Shared && b.Space == event.Shared)
		return
	}
	iters := [2][]smt.Term{a.Iters, b.Iters}
	var accesses [2]*thread.Access
	if otherBlock && p.arrivals {
		accesses = [2]*thread.Access{a, b}
	}
	if different := p.differentValues(a, b, otherBlock); different != smt.True {
		p.equal = append(p.equal, &pair{query: slices.Clone(q), threads: s,
			terms: [2][]smt.Term{slices.Clone(terms), slices.Clone(other)}, finding: Finding{
				Kind: Race, A: a.Instr, B: b.Instr, Object: object, OtherBlock: otherBlock},
			accesses: accesses})
		q = append(q, different)
		terms, other = append(terms, a.Values...), append(other, b.Values...)
	}
	x := p.pose(&pair{query: q, terms: [2][]smt.Term{terms, other}, threads: s, accesses: accesses,
		zero: zero, wraps: wraps,
		finding: Finding{Kind: Race, A: a.Instr, B: b.Instr, Object: object, OtherBlock: otherBlock,
			iters: iters}})
	if p.opt.Ways && x != nil {
		x.first, x.iters = q, iters
	}
}

// joint is the formula that no barrier separates two accesses: those of threads of one block are in
// one interval between its barriers, those of threads of two blocks in one between barriers of the
// grid. Between the barriers of a kernel without loops it is a constant, so that most pairs of a
// long kernel cost no query.
func (p *prover) joint(a, b *thread.Access, s [2]*smt.Substitution, otherBlock bool) smt.Term {
	if otherBlock {
		return a.Grid.Renamed(s[0]).Same(p.c, b.Grid.Renamed(s[1]))
	}
	return a.Start.Renamed(s[0]).Same(p.c, b.Start.Renamed(s[1]))
}

// arrayOf is the array in which two accesses meet, if it is known of one of them.
func arrayOf(a, b *thread.Access) *thread.Object {
	if a.Object != nil {
		return a.Object
	}
	return b.Object
}

// differentValues is the formula that two stores write different values, where writes of the same
// value are tolerated; True elsewhere. As in the detector, only weak stores are tolerated
// (TestProverTolerates).
func (p *prover) differentValues(a, b *thread.Access, otherBlock bool) smt.Term {
	weak := !a.Order.Strong() && !b.Order.Strong()
	if !weak || len(a.Values) == 0 || len(a.Values) != len(b.Values) || a.Size != b.Size {
		return smt.True
	}
	c, s := p.c, p.pair
	if otherBlock {
		s = p.far
	}
	eq := make([]smt.Term, len(a.Values))
	for i := range eq {
		eq[i] = c.Eq(s[0].Apply(a.Values[i]), s[1].Apply(b.Values[i]))
	}
	same := c.And(eq...)
	switch {
	case p.opt.Benign == event.BenignAll:
		return c.Not(same)
	case p.opt.Benign == event.BenignWarp && a.Instr == b.Instr && !otherBlock &&
		a.Once && !p.th.HeldUp:
		once := []smt.Term{same, p.sameWarp(s)} // one execution: of one iteration of each loop
		for i := range a.Iters {
			once = append(once, c.Eq(s[0].Apply(a.Iters[i]), s[1].Apply(b.Iters[i])))
		}
		return c.Not(c.And(once...))
	}
	return smt.True
}

// overlap is the formula that two ranges of bytes overlap.
func (p *prover) overlap(a smt.Term, n int, b smt.Term, m int) smt.Term {
	c := p.c
	if thread.Aligned(c, a, n, b, m) {
		return c.Eq(a, b)
	}
	d := c.AddConst(c.Sub(a, b), uint64(n-1)) // -n < a-b < m
	return c.Ult(d, c.Const(uint64(n+m-1), 64))
}

// sameWarp is the formula that two threads of a block are in one warp: 32 threads that follow each
// other in the linear order of the block.
func (p *prover) sameWarp(s [2]*smt.Substitution) smt.Term {
	w := p.warp()
	return p.c.Eq(s[0].Apply(w), s[1].Apply(w))
}

// outlying is the formula that one of two threads of a block is at or behind Options.Beyond.
func (p *prover) outlying(s [2]*smt.Substitution) smt.Term {
	first, at := p.th.Linear(), p.c.Const(uint64(p.opt.Beyond), 32)
	return p.c.Or(p.c.Ule(at, s[0].Apply(first)), p.c.Ule(at, s[1].Apply(first)))
}

// kinds name the kinds of findings that are no violations.
var kinds = map[Kind]string{Race: "race", Divergence: "divergence", Bounds: "access beyond its array",
	Lanes: "missing lane", Unordered: "unordered strong accesses"}

// String describes a finding for tests and logs.
func (f *Finding) String() string {
	if f.Assertion != nil {
		return f.violationText()
	}
	text := func(in *ir.Instr) string {
		if in == nil {
			return "the end"
		}
		return fmt.Sprintf("%s #%d", in.Text(), in.Index)
	}
	kind := kinds[f.Kind]
	out := fmt.Sprintf("%s: %s and %s", kind, text(f.A), text(f.B))
	if f.OtherBlock {
		out += ", different blocks"
	}
	if f.Reason != "" {
		return out + ": " + f.Reason
	}
	return fmt.Sprintf("%s: threads %v %v of blocks %v %v", out, f.Tid[0], f.Tid[1], f.Ctaid[0],
		f.Ctaid[1])
}

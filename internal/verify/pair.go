package verify

import (
	"slices"
	"time"

	"heddle/internal/event"
	"heddle/internal/invariant"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// pair is one question: can two guarded accesses race, or two ends of intervals diverge? It is
// asked at increasing depths.
type pair struct {
	finding  Finding // reported if the answer is yes, or if there is none
	query    []smt.Term
	terms    [2][]smt.Term // what the query is made of, for each thread, before renaming
	threads  [2]*smt.Substitution
	loops    bool // axioms of loops apply to it
	level    int  // the next of depths
	asked    []smt.Term
	axioms   []smt.Term // instances of the user's axioms in asked
	reduced  *smt.Reduced
	exported *smt.Query
	slots    bool          // the last query used that threads take different slots
	strong   bool          // it was asked with invariants
	bad      bool          // it is a finding
	apart    bool          // of Result.Apart
	first    []smt.Term    // the query without what decide added, for Options.Ways
	iters    [2][]smt.Term // counters of the loops around the two accesses, for Options.Ways
	// the two accesses, if the arrival of blocks at a counter may order them, and whether it was asked
	accesses [2]*thread.Access
	arrived  bool
	zero     []*thread.Object // arrays of flags of which the query assumes that they are 0 at first
	wraps    bool             // the query assumes that the tickets of a lock do not wrap around
}

// depths are the numbers of levels of loop axioms that are tried in turn: most pairs need none.
var depths = []int{0, 2, 4}

// mostWaiting is how many queries are collected before solvers get them: enough to keep all solvers
// busy.
const mostWaiting = 64

// stepsEach is what a query costs in addition to the steps of solvers. atOnce is how many queries
// go to solvers before the remaining steps are checked again: a fixed number, so that every machine
// asks the same queries.
const (
	stepsEach = 20_000
	atOnce    = 8
)

// over returns why the proof must end; "" if it may continue.
func (p *prover) over() string {
	switch {
	case p.ctx.Err() != nil:
		return "out of time"
	case p.opt.Steps > 0 && p.res.Stats.Steps > p.opt.Steps:
		return "out of steps"
	}
	return ""
}

// done reports whether no more pairs are to be decided.
func (p *prover) done() bool {
	return p.stopped || p.opt.Limit > 0 && p.bad >= p.opt.Limit
}

// decide asks whether q has a model; terms are what the query is made of, for each thread, before
// renaming by s. A query that the simplifier does not decide waits for drain. It returns the pair
// that it asks for; nil if it asks nothing, because enough is found or the finding is not wanted.
func (p *prover) decide(q []smt.Term, terms [2][]smt.Term, s [2]*smt.Substitution,
	f Finding) *pair {
	return p.pose(&pair{finding: f, query: q, terms: terms, threads: s})
}

// pose is decide for a pair with its finding, query, terms and threads.
func (p *prover) pose(x *pair) *pair {
	f, q, terms, s := x.finding, x.query, x.terms, x.threads
	if p.done() || p.opt.Ignore != nil && p.opt.Ignore(&f) {
		return nil
	}
	p.res.Stats.Pairs++
	more, terms := p.others(terms, s)
	q = append(q, more...)
	q = append(q, p.trusted...)
	for _, a := range p.th.Assumed {
		q = append(q, s[0].Apply(a), s[1].Apply(a))
	}
	x.query, x.terms, x.strong = q, terms, p.res.Invariants != nil
	p.pairs = append(p.pairs, x)
	if why := p.over(); why != "" { // remaining pairs are not examined: this finding reports that
		p.found(x, smt.Answer{Reason: why})
		p.stopped = !p.opt.Rest || p.ctx.Err() != nil
		return x
	}
	if p.spread(x) {
		return x
	}
	x.loops = len(p.th.Axioms.For(terms[0], 1))+len(p.th.Axioms.For(terms[1], 1)) > 0
	if p.exists && !p.asking && p.opt.Shown != nil && p.opt.Shown(&x.finding) {
		a := smt.Answer{Status: smt.Sat, By: "a run"} // which is more than a model of the abstraction
		p.count(a)
		p.found(x, a)
		return x
	}
	start := time.Now()
	if p.reduce(x); len(p.waiting) >= mostWaiting {
		p.solve()
	}
	p.res.Stats.Time += time.Since(start)
	return x
}

// drain has solvers decide all waiting queries.
func (p *prover) drain() {
	start := time.Now()
	p.solve()
	p.res.Stats.Time += time.Since(start)
}

// solve has solvers decide waiting queries until none is left. If few findings are enough, few
// queries are asked at a time, and a pair that may be a finding is continued before others begin.
func (p *prover) solve() {
	for len(p.waiting) > 0 {
		if p.opt.Limit > 0 && p.bad >= p.opt.Limit {
			p.waiting = nil
			return
		}
		if why := p.over(); why != "" {
			for _, x := range p.waiting {
				x.exported, x.reduced = nil, nil
				p.found(x, smt.Answer{Reason: why})
			}
			p.waiting = nil
			return
		}
		n := len(p.waiting)
		if p.opt.Limit > 0 {
			n = min(n, p.opt.Pool.Slots())
		}
		if p.opt.Steps > 0 {
			n = min(n, atOnce)
		}
		batch, rest := p.waiting[:n], p.waiting[n:]
		p.waiting = nil
		queries := make([]*smt.Query, len(batch))
		for i, x := range batch {
			queries[i] = x.exported
		}
		for i, a := range p.opt.Pool.Solve(p.ctx, queries) {
			x := batch[i]
			if a.Status == smt.Sat {
				a.Model = x.exported.Original(a.Model)
				a = x.reduced.Answer(x.asked, a)
			}
			x.exported, x.reduced = nil, nil
			p.answered(x, a)
		}
		p.waiting = append(p.waiting, rest...)
	}
}

// failures decides all waiting queries, and returns the number of findings so far.
func (p *prover) failures() int {
	p.drain()
	return len(p.res.Findings) + p.bad
}

// strengthen searches invariants of the loops, once, and reports whether it found any.
func (p *prover) strengthen() bool {
	if p.res.Invariants == nil && slices.ContainsFunc(p.th.Loops, open) {
		steps := int64(invariant.MaxSteps)
		if p.opt.Steps > 0 { // the queries that follow need some, too
			steps = min(steps, (p.opt.Steps-p.res.Stats.Steps)/2)
		}
		p.res.Invariants = invariant.Find(p.ctx, p.th, p.opt.Solvers, steps)
		p.res.Stats.Steps += p.res.Invariants.Steps
	}
	return p.res.Invariants != nil && p.res.Invariants.Found()
}

// open reports whether closed forms leave something about a loop open.
func open(l thread.Loop) bool {
	return len(l.Guesses) > 0 || slices.ContainsFunc(l.Slots,
		func(s thread.Slot) bool { return !s.Closed })
}

// reduce asks the simplifier, with more and more axioms, until the pair is decided or waits for a
// solver.
func (p *prover) reduce(x *pair) {
	if p.c.Exceeded() {
		p.found(x, smt.Answer{Reason: "the term budget is exhausted"})
		return
	}
	d := depths[x.level]
	x.level++
	x.asked = append([]smt.Term(nil), x.query...)
	for t := range 2 {
		for _, ax := range p.th.Axioms.For(x.terms[t], d) {
			x.asked = append(x.asked, x.threads[t].Apply(ax))
		}
	}
	slots := p.slots(x.terms, d, x.threads, &x.finding)
	x.slots = len(slots) > 0
	x.asked = append(x.asked, slots...)
	if x.arrived {
		x.asked = append(x.asked, p.arrival.query(x, d)...)
	}
	if told, some := p.told(x, d); some && !p.opt.Barriers {
		x.slots = true
		x.asked = append(x.asked, told...)
		if (d > 0 || !x.loops) && p.counted(x) {
			return
		}
	}
	x.axioms = p.instances(x.asked)
	x.asked = append(x.asked, x.axioms...)
	r := p.c.Reduce(x.asked)
	switch {
	case r.Status != smt.Unknown:
		p.answered(x, smt.Answer{Status: r.Status, Model: r.Model, By: "simplifier"})
	case d == 0 && x.loops: // cheap first: a model without the axioms proves nothing
		p.reduce(x)
	default:
		if q, ok := p.weakened(r.Asserts); ok {
			if a := p.c.Decide(p.ctx, q, p.opt.Solvers...); a.Status == smt.Unsat {
				p.answered(x, a)
				return
			}
		}
		x.reduced, x.exported = r, p.c.Query(r.Asserts)
		p.waiting = append(p.waiting, x)
	}
}

// answered handles the answer to the last query of a pair.
func (p *prover) answered(x *pair, a smt.Answer) {
	p.count(a)
	if p.opt.Record != nil {
		p.opt.Record(&x.finding, p.c.Script(x.asked), a)
	}
	switch {
	case a.Status == smt.Unsat && p.contradictory(x.axioms):
		p.found(x, smt.Answer{Reason: "the axioms contradict each other"})
	case a.Status == smt.Unsat:
		p.res.Counters = p.res.Counters || x.slots && p.th.Slots.Wrap || x.wraps
		if x.arrived {
			p.zero(p.arrival.add.Object)
		}
		p.zero(x.zero...)
		if a.By == "simplifier" {
			p.res.Stats.BySimplifier++
		} else {
			p.res.Stats.BySolver++
		}
		x.query, x.asked = nil, nil
	case p.over() != "":
		if a.Status != smt.Unknown { // the model may be spurious: deeper axioms were not tried
			a = smt.Answer{Reason: p.over()}
		}
		p.found(x, a)
	case x.loops && x.level < len(depths):
		p.reduce(x)
	case x.accesses[0] != nil && !x.arrived && p.arrives() != nil:
		x.arrived, x.level = true, 0
		p.reduce(x)
	case x.loops && !x.strong && !(p.opt.Shown != nil && p.opt.Shown(&x.finding)) && p.strengthen():
		x.strong, x.level = true, 0
		p.reduce(x)
	default:
		p.found(x, a)
	}
}

// zero notes arrays that a proof assumes to be 0 when the kernel starts.
func (p *prover) zero(list ...*thread.Object) {
	for _, o := range list {
		if !slices.Contains(p.res.Zero, o) {
			p.res.Zero = append(p.res.Zero, o)
		}
	}
}

// count adds an answer to the statistics, by the solver that gave it.
func (p *prover) count(a smt.Answer) {
	by := a.By
	if a.Status == smt.Unknown {
		by = "nobody"
	}
	q := p.res.Stats.Queries[by]
	if q == nil {
		q = &QueryStats{}
		p.res.Stats.Queries[by] = q
	}
	switch a.Status {
	case smt.Unsat:
		q.Unsat++
	case smt.Sat:
		q.Sat++
	default:
		q.Unknown++
	}
	if a.Cached {
		q.Cached++
	}
	q.Time += a.Time
	p.res.Stats.Steps += stepsEach + a.Steps
}

// found makes a pair a finding.
func (p *prover) found(x *pair, a smt.Answer) {
	if x.bad = true; !x.apart {
		p.bad++
	}
	if a.Status != smt.Sat {
		x.finding.Reason = a.Reason
		return
	}
	// The model of an access beyond its array decides whether it is a finding: see unbounded.
	if p.exists && x.finding.Kind != Bounds || x.apart {
		return
	}
	x.finding.Model = p.shrink(x, a.Model)
	p.prefer(x)
	x.finding.Free, x.finding.Loops = p.th.Free(x.asked)
	p.witness(&x.finding, x.threads)
}

// witness reads the two threads from the model.
func (p *prover) witness(f *Finding, s [2]*smt.Substitution) {
	e := p.c.Evaluate(f.Model)
	dim := func(i int, t [3]smt.Term) event.Dim3 {
		v := func(j int) uint32 { return uint32(e.Value(s[i].Apply(t[j]))) }
		return event.Dim3{X: v(0), Y: v(1), Z: v(2)}
	}
	read := func(t [3]smt.Term) event.Dim3 {
		return event.Dim3{X: uint32(e.Value(t[0])), Y: uint32(e.Value(t[1])), Z: uint32(e.Value(t[2]))}
	}
	f.Grid, f.Block = read(p.th.Nctaid), read(p.th.Ntid)
	for i := range 2 {
		f.Tid[i], f.Ctaid[i] = dim(i, p.th.Tid), dim(i, p.th.Ctaid)
		for _, k := range f.iters[i] {
			f.Iters[i] = append(f.Iters[i], uint32(e.Value(s[i].Apply(k))))
		}
	}
}

// Add adds the counts of another verification.
func (s *Stats) Add(t *Stats) {
	s.Pairs += t.Pairs
	s.Time += t.Time
	s.Steps += t.Steps
	s.BySimplifier += t.BySimplifier
	s.BySolver += t.BySolver
	if s.Queries == nil {
		s.Queries = map[string]*QueryStats{}
	}
	for by, q := range t.Queries {
		sum := s.Queries[by]
		if sum == nil {
			sum = &QueryStats{}
			s.Queries[by] = sum
		}
		sum.Unsat, sum.Sat, sum.Unknown, sum.Cached, sum.Time = sum.Unsat+q.Unsat, sum.Sat+q.Sat,
			sum.Unknown+q.Unknown, sum.Cached+q.Cached, sum.Time+q.Time
	}
}

// SolverTime is the time of all solvers together.
func (s *Stats) SolverTime() time.Duration {
	var sum time.Duration
	for _, q := range s.Queries {
		sum += q.Time
	}
	return sum
}

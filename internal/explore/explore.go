package explore

import (
	"context"
	"math/rand/v2"

	"heddle/internal/memmodel"
)

// Options bound an exploration.
type Options struct {
	// Unroll is how many times a loop is repeated whose iterations do more than read and wait.
	Unroll int
	// MaxGraphs ends the exploration after so many executions; 0 means no limit.
	MaxGraphs int
	// MaxStates ends the exploration after so many partial executions; 0 means no limit.
	MaxStates int
	// MaxWork ends it after partial executions whose events, squared, sum up to so much; 0 means no
	// limit. The work for one grows at least as the square.
	MaxWork int
	// FirstEnd ends it after an execution in which every thread ends. Others with a thread that repeats
	// a loop for ever, or more often than Unroll, are left out.
	FirstEnd bool
	// Order, if not 0, draws the order in which alternatives are tried: with a MaxGraphs of 1, an
	// arbitrary execution.
	Order uint64
	// Restart, if not nil, lets the exploration leave out the events of locations that no two threads
	// access with a write among the accesses, as far as it knows. If it then meets such an access, it
	// calls Restart and begins anew: what was visited until then is void. It also lets it leave out
	// executions in which a thread waits with an old value (await.go).
	Restart func()
	// Known, if not nil, is what earlier explorations of the same program found out about its
	// locations, and what this one adds.
	Known *Known

	// AnyOrder visits one of the executions that differ in coherence order alone: they have the same
	// data races, and all or none has a thread that waits for ever. Their final values may differ.
	AnyOrder bool
	// Symmetry leaves out executions that a permutation of symmetric threads makes equal to one that is
	// visited.
	Symmetry bool

	guide  *guide   // the choices of a recording, and no others
	perms  *[][]int // for tests: the permutations that are symmetries
	repeat bool     // for tests: also repeat iterations that change nothing
	// for tests: threads may wait with old values
	keepStale bool
	// for tests: all orders of atomic operations
	keepChains bool
}

// Stats count what an exploration did.
type Stats struct {
	Executions int  // consistent execution graphs, each once
	Complete   int  // of these, those in which every thread ended
	Truncated  int  // of these, those in which a loop reached Options.Unroll
	Violations int  // partial graphs that the model does not allow
	Cut        int  // partial graphs with a thread that does not end, left out for Options.FirstEnd
	Stale      int  // partial graphs with a thread that waits with an old value, left out
	Symmetric  int  // partial graphs left out for Options.Symmetry
	Orders     int  // permutations of the threads that are symmetries; 0: none were looked for
	Dead       int  // partial graphs in which something was to come later and does not
	States     int  // partial graphs, those of voided attempts included
	Work       int  // their events, squared, summed up
	Stopped    bool // a bound of Options was reached, or the context ended
}

// explorer is one exploration.
type explorer struct {
	ctx   context.Context
	prog  *Program
	opt   Options
	facts []*facts
	visit func(*Execution)
	stats Stats

	*Known
	group *group // nil: no symmetries

	looks     map[look]*memmodel.Event // reads of iterations that were left out (stale)
	keepStale bool                     // none is to be left out

	idled   map[int]int // by location: executions with iterations that wrote back what they had read
	foreign map[int]bool

	forced   []memmodel.Pair // of choose
	deferred memmodel.Set    // of chain: reads that get their sources last, if possible

	rand *rand.Rand // nil: alternatives in their order
	void bool       // Known has something new: the attempt ends soon
}

// LimitError says why a program cannot be explored.
type LimitError struct{ Reason string }

// Error implements error.
func (e *LimitError) Error() string { return e.Reason }

// Explore calls visit with every execution of p that the model allows, each once. The execution is
// not changed later. The error is a *LimitError or that of the context; what was visited until then
// is right, and not all.
func Explore(ctx context.Context, p *Program, opt Options, visit func(*Execution)) (s Stats,
	err error) {
	x := &explorer{ctx: ctx, prog: p, opt: opt, visit: visit, Known: opt.Known}
	if x.Known == nil {
		x.Known = &Known{}
	}
	x.Known.begin(p)
	for i := range p.Threads {
		x.facts = append(x.facts, analyse(&p.Threads[i], len(p.Locations), p.Silent))
	}
	if opt.Symmetry && opt.guide == nil {
		if opt.Restart == nil {
			x.opt.Restart = func() {}
		}
		x.group = newGroup(len(p.Threads), x.symmetries())
	}
	for again := true; again && err == nil; {
		again, err = x.attempt()
		again = again && opt.guide == nil
	}
	if err != nil {
		return x.stats, err
	}
	if x.group != nil {
		x.stats.Orders = len(x.group.perms)
		if opt.perms != nil {
			*opt.perms = x.group.perms
		}
	}
	for c, n := range x.idled {
		if x.foreign[c] || len(x.foreign) > 0 && x.stats.Orders > 1 { // an image may have such a write
			x.stats.Truncated += n
		}
	}
	if x.stats.Stopped {
		err = ctx.Err()
	}
	return x.stats, err
}

// attempt explores the program once, and reports whether that has to begin anew: a location turned
// out to be shared.
func (x *explorer) attempt() (again bool, err error) {
	x.stats = Stats{States: x.stats.States, Work: x.stats.Work}
	x.idled, x.foreign, x.void = map[int]int{}, map[int]bool{}, false
	x.looks = map[look]*memmodel.Event{}
	if x.group != nil {
		x.group.seen = map[[16]byte]bool{}
	}
	if x.opt.Order != 0 {
		x.rand = rand.New(rand.NewPCG(x.opt.Order, 0))
	}
	defer func() {
		e := recover()
		if limit, ok := e.(limitError); ok && !x.void {
			err = &LimitError{string(limit)}
		} else if !ok && e != nil {
			panic(e)
		}
		if again = x.void; again && x.opt.Restart != nil {
			x.opt.Restart()
		}
	}()
	st := start(x.prog)
	for i := range x.prog.Threads {
		x.enter(st, i)
	}
	x.explore(st)
	return false, nil
}

// stop reports whether the exploration is to end.
func (x *explorer) stop() bool {
	if x.ctx.Err() != nil || x.opt.MaxGraphs > 0 && x.stats.Executions >= x.opt.MaxGraphs ||
		x.opt.MaxStates > 0 && x.stats.States >= x.opt.MaxStates ||
		x.opt.MaxWork > 0 && x.stats.Work >= x.opt.MaxWork || x.opt.FirstEnd && x.stats.Complete > 0 {
		x.stats.Stopped = true
	}
	return x.stats.Stopped || x.void
}

// shuffle puts alternatives into the order in which they are tried.
func (x *explorer) shuffle(n int, swap func(i, j int)) {
	if x.rand != nil {
		x.rand.Shuffle(n, swap)
	}
}

// explore visits all executions that extend st. Each step decides one thing in all ways that
// exclude each other, so that no execution is visited twice.
func (x *explorer) explore(st *state) {
	if x.stop() {
		return
	}
	x.stats.States++
	if x.grow(st); x.void {
		return
	}
	if x.opt.FirstEnd && st.endless() {
		x.stats.Cut++
		return
	}
	if x.visited(st, nil) {
		return
	}
	x.stats.Work += len(st.graph.Events) * len(st.graph.Events)
	d := st.graph.Imply()
	if d.Violated() != memmodel.Consistent {
		x.stats.Violations++
		return
	}
	if x.stale(st, d) {
		x.stats.Stale++
		return
	}
	if x.opt.guide != nil {
		x.follow(st, d)
		return
	}
	if next := x.barrierChoice(st); next != nil {
		x.shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
		for _, c := range next {
			x.explore(c)
		}
		return
	}
	if x.chain(st, d) {
		x.explore(st)
		return
	}
	r, sources, closed, open := x.choose(st, d)
	if len(x.forced) > 0 {
		x.force(st)
		x.explore(st)
		return
	}
	switch {
	case r >= 0:
		x.read(st, r, sources, closed)
	case open || x.overdue(st):
		x.stats.Dead++
	default:
		x.decide(st, d)
	}
}

// follow continues as a recording says.
func (x *explorer) follow(st *state, d *memmodel.Derived) {
	g := x.opt.guide
	if g.barrier(x, st) || g.read(st) {
		x.explore(st)
		return
	}
	for e := range st.graph.Events {
		if st.graph.Events[e].Op.Reads() && st.graph.RF[e] == memmodel.Open {
			x.stats.Dead++
			return
		}
	}
	x.decide(st, d)
}

// endless reports whether a thread is in a loop that it does not leave in this execution.
func (st *state) endless() bool {
	for i := range st.threads {
		if s := st.threads[i].status; s == spinning || s == truncated {
			return true
		}
	}
	return false
}

// force gives the reads that have one possible source that source, all at once.
func (x *explorer) force(st *state) {
	var together []int
	for _, p := range x.forced {
		st.graph.RF[p.Second] = p.First
		together = append(together, p.Second)
	}
	st.order = append(st.order[:len(st.order):len(st.order)], together)
}

// read explores the ways to give a read its source: each of these writes and, unless the list is
// closed, one that appears later.
func (x *explorer) read(st *state, r int, sources memmodel.Set, closed bool) {
	var from []int
	for w := range sources.All {
		from = append(from, w)
	}
	if !closed {
		from = append(from, memmodel.Open)
	}
	x.shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	for _, w := range from {
		c := st.clone()
		if w == memmodel.Open {
			c.not[r].Union(sources)
		} else {
			c.graph.RF[r] = w
			c.order = append(c.order[:len(c.order):len(c.order)], []int{r})
		}
		x.explore(c)
	}
}

// choose returns the read that gets its source next, and the writes that it may read from. closed
// means that no other write to its location can appear. r is -1 if no open read has a write to read
// from now; open says whether there are open reads at all. The pairs in x.forced are writes and the
// reads that can have no other source, if there are such reads.
func (x *explorer) choose(st *state, d *memmodel.Derived) (r int, sources memmodel.Set, closed,
	open bool) {
	r = -1
	best := -1
	x.forced = x.forced[:0]
	for e := range st.graph.Events {
		ev := &st.graph.Events[e]
		if !ev.Op.Reads() || st.graph.RF[e] != memmodel.Open {
			continue
		}
		open = true
		from := x.sources(st, d, e)
		last := !x.writesFollow(st, d, e)
		if from.Empty() {
			if last {
				x.forced = x.forced[:0]
				return -1, memmodel.Set{}, false, true // nothing is left to read from
			}
			continue
		}
		if last && from.Minus(one(first(from))).Empty() {
			x.forced = append(x.forced, memmodel.Pair{First: first(from), Second: e})
		}
		rank := 0
		if last {
			rank = 1
		}
		if !x.deferred.Has(e) {
			rank += 2
		}
		if rank > best {
			r, sources, closed, best = e, from, last, rank
		}
	}
	return r, sources, closed, open
}

// first returns the first event of a set that has one.
func first(s memmodel.Set) int {
	for e := range s.All {
		return e
	}
	return -1
}

// sources returns the writes that a read may still read from: those to its location that exist, but
// not later ones of its own thread, nor older ones than it must see, which axiom Causality
// excludes.
func (x *explorer) sources(st *state, d *memmodel.Derived, r int) (out memmodel.Set) {
	for w := range st.graph.Events {
		e := &st.graph.Events[w]
		if e.Op.Writes() && e.Loc == st.graph.Events[r].Loc && !st.not[r].Has(w) &&
			(e.Thread != st.graph.Events[r].Thread || w < r) && d.MayRead(r, w) {
			out.Add(w)
		}
	}
	return out
}

// writesFollow reports whether writes to the location of a read may still appear that it may read
// from: not those of its own thread, nor of a thread that has got to an event that follows the read
// in base causality order, since axiom Causality forbids to read from what follows.
func (x *explorer) writesFollow(st *state, d *memmodel.Derived, r int) bool {
	ev := &st.graph.Events[r]
	for e := range st.maybe.All {
		if e != r && st.graph.Events[e].Loc == ev.Loc &&
			(st.graph.Events[e].Thread != ev.Thread || e < r) {
			return true
		}
	}
	for i := range st.threads {
		t := &st.threads[i]
		if i != ev.Thread && (t.status == running || t.status == waiting) &&
			x.mayWrite(st, i, ev.Loc) && !st.follows(d, r, i) {
			return true
		}
	}
	return false
}

// mayWrite reports whether the rest of a thread may write to a location.
func (x *explorer) mayWrite(st *state, i, loc int) bool {
	pc, f := st.threads[i].pc, x.facts[i]
	if loc < len(x.prog.Locations) {
		return f.writes[pc][loc] || f.anywhere[pc]
	}
	if x.opt.Restart == nil {
		return f.anywhere[pc]
	}
	for w := range x.writers[loc] {
		if w.thread == i && f.reaches[pc].has(w.pc) {
			return true
		}
	}
	return false
}

// follows reports whether the last event of a thread follows event e in base causality order.
func (st *state) follows(d *memmodel.Derived, e, thread int) bool {
	for l := len(st.graph.Events) - 1; l >= 0; l-- {
		if st.graph.Events[l].Thread == thread {
			return d.Base.Has(e, l)
		}
	}
	return false
}

// decide decides what the model leaves open once every read has its source: Fence-SC order, then
// coherence order.
func (x *explorer) decide(st *state, d *memmodel.Derived) {
	if x.stop() {
		return
	}
	if x.visited(st, d) {
		return
	}
	p, ok := d.UndecidedFences()
	list, writes := &st.graph.SC, false
	if !ok {
		p, ok = x.undecided(st, d)
		list, writes = &st.graph.CO, true
	}
	sc, co := st.graph.SC, st.graph.CO
	if !ok {
		if d = x.anyOrder(st, d); d != nil {
			x.leaf(st, d)
		}
		st.graph.CO = co
		return
	}
	both := [...]memmodel.Pair{p, {First: p.Second, Second: p.First}}
	x.shuffle(len(both), func(i, j int) { both[i], both[j] = both[j], both[i] })
	for _, q := range both {
		if g := x.opt.guide; g != nil && !g.allows(st, writes, q) {
			continue
		}
		x.stats.States++
		*list = append((*list)[:len(*list):len(*list)], q)
		next := st.graph.Imply()
		if next.Violated() != memmodel.Consistent {
			x.stats.Violations++
		} else {
			x.decide(st, next)
		}
		st.graph.SC, st.graph.CO = sc, co
	}
}

// leaf reports one execution.
func (x *explorer) leaf(st *state, d *memmodel.Derived) {
	x.mixed(st)
	if x.looked(st); x.void {
		return
	}
	e := x.execution(st, d)
	x.stats.Executions++
	switch e.End {
	case Ended:
		x.stats.Complete++
	case Truncated:
		x.stats.Truncated++
	}
	x.visit(e)
}

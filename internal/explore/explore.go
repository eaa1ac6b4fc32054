package explore

import (
	"context"

	"heddle/internal/memmodel"
)

// Options bound an exploration.
type Options struct {
	// Unroll is how many times a loop is repeated whose iterations do more than read and wait.
	Unroll int
	// MaxGraphs ends the exploration after so many executions; 0 means no limit.
	MaxGraphs int

	repeat bool // for tests: also repeat iterations that change nothing
}

// Stats count what an exploration did.
type Stats struct {
	Executions int  // consistent execution graphs, each once
	Complete   int  // of these, those in which every thread ended
	Truncated  int  // of these, those in which a loop reached Options.Unroll
	Violations int  // partial graphs that the model does not allow
	Dead       int  // partial graphs in which something was to come later and does not
	Stopped    bool // Options.MaxGraphs was reached, or the context ended
}

// explorer is one exploration.
type explorer struct {
	ctx   context.Context
	prog  *Program
	opt   Options
	facts []*facts
	visit func(*Execution)
	stats Stats

	idled   map[cell]int // executions with iterations that wrote back what they had read
	foreign map[cell]bool
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
	x := &explorer{ctx: ctx, prog: p, opt: opt, visit: visit, idled: map[cell]int{},
		foreign: map[cell]bool{}}
	for i := range p.Threads {
		x.facts = append(x.facts, analyse(&p.Threads[i], len(p.Locations)))
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case limitError:
			s, err = x.stats, &LimitError{string(e)}
		default:
			panic(e)
		}
	}()
	st := start(p)
	for i := range p.Threads {
		x.enter(st, i)
	}
	x.explore(st)
	for c, n := range x.idled {
		if x.foreign[c] {
			x.stats.Truncated += n
		}
	}
	if x.stats.Stopped {
		err = ctx.Err()
	}
	return x.stats, err
}

// stop reports whether the exploration is to end.
func (x *explorer) stop() bool {
	if x.ctx.Err() != nil || x.opt.MaxGraphs > 0 && x.stats.Executions >= x.opt.MaxGraphs {
		x.stats.Stopped = true
	}
	return x.stats.Stopped
}

// explore visits all executions that extend st. Each step decides one thing in all ways that
// exclude each other, so that no execution is visited twice.
func (x *explorer) explore(st *state) {
	if x.stop() {
		return
	}
	x.grow(st)
	d := st.graph.Imply()
	if d.Violated() != memmodel.Consistent {
		x.stats.Violations++
		return
	}
	if next := x.barrierChoice(st); next != nil {
		for _, c := range next {
			x.explore(c)
		}
		return
	}
	r, sources, closed, open := x.choose(st, d)
	switch {
	case r >= 0:
		for w := range sources.All {
			c := st.clone()
			c.graph.RF[r] = w
			x.explore(c)
		}
		if !closed {
			c := st.clone()
			c.not[r].Union(sources)
			x.explore(c)
		}
	case open || x.overdue(st):
		x.stats.Dead++
	default:
		x.decide(st, d)
	}
}

// choose returns the read that gets its source next, and the writes that it may read from. closed
// means that no other write to its location can appear. r is -1 if no open read has a write to read
// from now; open says whether there are open reads at all.
func (x *explorer) choose(st *state, d *memmodel.Derived) (r int, sources memmodel.Set, closed,
	open bool) {
	r = -1
	for e := range st.graph.Events {
		ev := &st.graph.Events[e]
		if !ev.Op.Reads() || st.graph.RF[e] != memmodel.Open {
			continue
		}
		open = true
		from := x.sources(st, d, e)
		last := !x.writesFollow(st, e)
		if from.Empty() {
			if last {
				return -1, memmodel.Set{}, false, true // nothing is left to read from
			}
			continue
		}
		if r < 0 || last && !closed {
			r, sources, closed = e, from, last
		}
	}
	return r, sources, closed, open
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

// writesFollow reports whether writes to the location of a read may still appear, other than by its
// own thread.
func (x *explorer) writesFollow(st *state, r int) bool {
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
			(x.facts[i].anywhere[t.pc] || ev.Loc < len(x.prog.Locations) &&
				x.facts[i].writes[t.pc][ev.Loc]) {
			return true
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
	p, ok := d.UndecidedFences()
	list := &st.graph.SC
	if !ok {
		p, ok = d.UndecidedWrites()
		list = &st.graph.CO
	}
	if !ok {
		x.leaf(st, d)
		return
	}
	sc, co := st.graph.SC, st.graph.CO
	for _, q := range [...]memmodel.Pair{p, {First: p.Second, Second: p.First}} {
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

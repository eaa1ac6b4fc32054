package explore

import "heddle/internal/memmodel"

// Atomic updates in any order. n threads that add to a counter do so in n! orders, each an
// execution of its own, although nothing shows which it was if nobody uses the values that the
// updates return. Let S be updates of one location whose reads have no sources yet, such that
//
//	(1) they are pairwise morally strong, by functions that commute, and their results go nowhere;
//	(2) an operation that their reads acquire by (8.8) follows all of S in base causality order;
//	(3) every other event at the location precedes all of S, or follows all of S, in that order,
//	    and whether a read reads from a member of S is not decided for any;
//	(4) the writes that precede S have a last one in coherence order;
//	(5) every thread that goes on has got to an event that follows all of S;
//	(6) base causality order before the events of S is final (memmodel.Derived.Settled).
//
// Then the last one of (4), followed by S, is a chain in each execution that the state is part of:
// each update reads from the one before (8.10.3, 8.10.6), in an order that contains base causality
// order between them. Whatever the order, what comes later reads the last one of the chain or a
// later write, which observes all of S and has the same value; and no update of S acquires anything
// that (2) does not order anyway. So all orders have the same races, values and ends, and S gets
// one of them. docs/theory/memory-model.md has the argument in full.
//
// It misses updates between which another thread reads the location, such as arrivals at a barrier
// of the grid. That costs time, and no execution.

// chain gives such updates of one location their sources, and reports whether there are some. Those
// for which only (5) or (6) does not hold yet are put into x.deferred.
func (x *explorer) chain(st *state, d *memmodel.Derived) bool {
	x.deferred = memmodel.Set{}
	if x.opt.keepChains || x.opt.guide != nil {
		return false
	}
	var done map[int]bool
	for e := range st.graph.Events {
		if loc := st.graph.Events[e].Loc; x.unseen(st, e) && !done[loc] {
			if done == nil {
				done = map[int]bool{}
			}
			done[loc] = true
			s, last := x.updates(st, d, e)
			if last < 0 {
				continue
			}
			if x.passed(st, d, s) && d.Settled(s) {
				link(st, d, s, last)
				return true
			}
			x.deferred.Union(s)
		}
	}
	return false
}

// unseen reports whether an event is an update without a source whose result goes nowhere, by a
// function that may commute with others.
func (x *explorer) unseen(st *state, e int) bool {
	ev := &st.graph.Events[e]
	if !ev.Op.Reads() || !ev.Op.Writes() || st.graph.RF[e] != memmodel.Open || !st.not[e].Empty() {
		return false
	}
	in := x.inst(st, e)
	return in.Commutes != "" && (in.Dst < 0 || !x.facts[ev.Thread].live[st.sites[e]+1][in.Dst])
}

// updates returns the updates of the location of e to which (1) to (4) apply, and the write before
// them; -1 if there are none.
func (x *explorer) updates(st *state, d *memmodel.Derived, e int) (s memmodel.Set, last int) {
	g := &st.graph
	loc, name := g.Events[e].Loc, x.inst(st, e).Commutes
	var rest []int
	for o := range g.Events {
		if ev := &g.Events[o]; ev.Op.Memory() && ev.Loc == loc {
			if x.unseen(st, o) && x.inst(st, o).Commutes == name {
				s.Add(o)
			} else {
				rest = append(rest, o)
			}
		}
	}
	for i := 0; i < len(rest); i++ { // those that follow a part of S are for later
		for o := range s.All {
			if d.Base.Has(rest[i], o) && !d.Before(rest[i], s) {
				s = s.Minus(one(o))
				rest = append(rest, o)
			}
		}
	}
	if s.Empty() || s.Minus(one(first(s))).Empty() {
		return s, -1 // one update has no order
	}
	last = -1
	for _, o := range rest {
		ev := &g.Events[o]
		switch {
		case g.RF[o] != memmodel.Open && s.Has(g.RF[o]), !st.not[o].And(s).Empty():
			return s, -1
		case d.After(o, s):
		case !d.Before(o, s), st.maybe.Has(o):
			return s, -1
		case ev.Op.Writes() && (last < 0 || d.CO.Has(last, o)):
			last = o
		}
	}
	for _, o := range rest {
		if g.Events[o].Op.Writes() && d.Before(o, s) && o != last && !d.CO.Has(o, last) {
			return s, -1
		}
	}
	for o := range s.All {
		for p := range s.All {
			if o != p && !g.MorallyStrong(o, p) {
				return s, -1
			}
		}
		for y := range g.Acquires(o).All {
			if !d.After(y, s) {
				return s, -1
			}
		}
	}
	return s, last
}

// passed reports (5).
func (x *explorer) passed(st *state, d *memmodel.Derived, s memmodel.Set) bool {
	lasts := make([]int, len(st.threads))
	for e := range st.graph.Events {
		if t := st.graph.Events[e].Thread; t >= 0 {
			lasts[t] = e + 1
		}
	}
	for i := range st.threads {
		switch st.threads[i].status {
		case running, waiting:
			if lasts[i] == 0 || !d.After(lasts[i]-1, s) {
				return false
			}
		}
	}
	return true
}

// link makes a chain of updates behind a write, in an order that contains base causality order.
func link(st *state, d *memmodel.Derived, s memmodel.Set, last int) {
	var together []int
	for !s.Empty() {
		next := first(s)
		for o := range s.All {
			minimal := true
			for p := range s.All {
				minimal = minimal && !d.Base.Has(p, o)
			}
			if minimal {
				next = o
				break
			}
		}
		st.graph.RF[next] = last
		together = append(together, next)
		s, last = s.Minus(one(next)), next
	}
	st.order = append(st.order[:len(st.order):len(st.order)], together)
}

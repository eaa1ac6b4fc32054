package explore

import (
	"heddle/internal/event"
	"heddle/internal/memmodel"
)

// Coherence orders that nothing shows. Once every read has its source and Fence-SC order is
// decided, base causality order is fixed, and with it causality order: neither contains coherence
// order (PTX ISA 8.9.5). So the data races of an execution do not depend on coherence order, nor
// does what its threads do. Only final values do, and whether a read of a thread that waits has the
// last value. Where final values are not asked for, executions that differ in other orders alone
// are one (Options.AnyOrder), and it suffices to find one order that the axioms allow.
//
// The axioms relate writes to one location each: with base causality order fixed, the orders of
// different locations do not constrain each other. So they are looked for one by one, and a
// location that has none excludes the execution.
//
// RCMC (Kokologiannakis et al., POPL 2018) has a mode without coherence orders for the same reason;
// TruSt (POPL 2022) enumerates them.

// undecided returns a pair of writes whose order is to be decided in both ways.
func (x *explorer) undecided(st *state, d *memmodel.Derived) (memmodel.Pair, bool) {
	if !x.opt.AnyOrder {
		return d.UndecidedWrites(nil)
	}
	awaited := map[int]bool{}
	for i := range st.threads {
		for r := range st.threads[i].spin.All {
			if e := &st.graph.Events[r]; e.Order != event.Weak {
				awaited[e.Loc] = true
			}
		}
	}
	if len(awaited) == 0 {
		return memmodel.Pair{}, false
	}
	return d.UndecidedWrites(func(loc int) bool { return awaited[loc] })
}

// anyOrder adds an order of the writes that are still unordered, and returns the relations with it;
// nil if the axioms allow none.
func (x *explorer) anyOrder(st *state, d *memmodel.Derived) *memmodel.Derived {
	for d != nil {
		p, ok := d.UndecidedWrites(nil)
		if !ok {
			break
		}
		d = x.orderAt(st, d, st.graph.Events[p.First].Loc)
	}
	return d
}

// orderAt does so for one location.
func (x *explorer) orderAt(st *state, d *memmodel.Derived, loc int) *memmodel.Derived {
	p, ok := d.UndecidedWrites(func(l int) bool { return l == loc })
	if !ok {
		return d
	}
	before := st.graph.CO
	for _, q := range [...]memmodel.Pair{p, {First: p.Second, Second: p.First}} {
		if x.stop() {
			return nil
		}
		x.stats.States++
		st.graph.CO = append(before[:len(before):len(before)], q)
		next := st.graph.Imply()
		if next.Violated() != memmodel.Consistent {
			x.stats.Violations++
		} else if next = x.orderAt(st, next, loc); next != nil {
			return next
		}
	}
	st.graph.CO = before
	return nil
}

package explore

import (
	"heddle/internal/event"
	"heddle/internal/memmodel"
)

// Strong loads and stores that nothing orders are no data race, and a finding of their own where
// lanes exchange data through them (event.Unordered; docs/theory/happens-before.md, Exchange). Flags
// and other protocols consist of such pairs, too. Those are told apart as the dynamic engine does
// (engine/run, protocol.go): a pair is a finding unless the use of the location excuses it, in any
// execution. An excuse is that a loop repeats the load until the value ends it, that an atomic
// operation updates the location, that an acquire or release operation accesses it, that the store
// writes a constant, or that threads of different warps may use it in global memory.
//
// It can miss a mistake that such an excuse covers: heddle check warns of those.

// exchanges collects the unordered pairs of the executions of a kernel.
type exchanges struct {
	prog     *Program
	facts    []*facts
	pairs    map[exchange]*Race
	atomic   map[int]bool // by location
	ordered  map[int]bool
	polled   map[Place]bool
	constant map[Place]bool
	values   map[any]map[int64]bool // by the site of a store: what it writes
}

// exchange is a load and a store of a location.
type exchange struct {
	load, store Place
	loc         int
}

// newExchanges returns nil if a program has no such pairs.
func newExchanges(p *Program) *exchanges {
	loads, stores := false, false
	for i := range p.Threads {
		for j := range p.Threads[i].Code {
			in := &p.Threads[i].Code[j]
			loads = loads || in.Kind == Load && in.Order.Strong()
			stores = stores || in.Kind == Store && in.Order.Strong()
		}
	}
	if !p.Silent || !loads || !stores {
		return nil
	}
	x := &exchanges{prog: p, polled: map[Place]bool{}, constant: map[Place]bool{},
		values: map[any]map[int64]bool{}}
	for i := range p.Threads {
		t := &p.Threads[i]
		x.facts = append(x.facts, analyse(t, 0, true))
		for j := range t.Code {
			x.constant[Place{i, j}] = t.Code[j].Kind == Store && t.constant(t.Code[j].Args[0], nil)
		}
	}
	x.reset()
	return x
}

// constant reports whether an operand is computed from constants only.
func (t *Thread) constant(o Operand, pending []int) bool {
	if !o.IsReg {
		return true
	}
	for _, r := range pending {
		if r == o.Reg {
			return true
		}
	}
	for i := range t.Code {
		in := &t.Code[i]
		if !in.writesRegister() || in.Dst != o.Reg {
			continue
		}
		if in.Kind != Compute || in.Input {
			return false
		}
		for _, a := range in.Args {
			if !t.constant(a, append(pending, o.Reg)) {
				return false
			}
		}
	}
	return true
}

// reset forgets the executions.
func (x *exchanges) reset() {
	x.pairs, x.atomic, x.ordered = map[exchange]*Race{}, map[int]bool{}, map[int]bool{}
}

// add takes note of one execution.
func (x *exchanges) add(e *Execution) {
	g := &e.Graph
	place := func(ev int) Place { return Place{g.Events[ev].Thread, e.Sites[ev]} }
	var loads, stores []int
	for a := range g.Events {
		ev := &g.Events[a]
		if ev.Thread < 0 || !ev.Op.Memory() {
			continue
		}
		in := e.Inst(a)
		x.atomic[ev.Loc] = x.atomic[ev.Loc] || in.Kind == Update
		x.ordered[ev.Loc] = x.ordered[ev.Loc] || ev.Order.Acquires() || ev.Order.Releases()
		switch {
		case !ev.Strong():
		case in.Kind == Load:
			loads = append(loads, a)
		case in.Kind == Store:
			stores = append(stores, a)
			if x.values[in.Site] == nil {
				x.values[in.Site] = map[int64]bool{}
			}
			x.values[in.Site][e.Written(a)] = true
		}
	}
	for _, l := range loads {
		p := place(l)
		if !x.polled[p] && x.facts[p.Thread].repeatsIn(&x.prog.Threads[p.Thread], p.Inst) {
			x.polled[p] = e.decides(l)
		}
		for _, s := range stores {
			relaxed := g.Events[l].Order == event.Relaxed || g.Events[s].Order == event.Relaxed
			if relaxed && g.Events[l].Thread != g.Events[s].Thread && g.MorallyStrong(l, s) &&
				!e.Derived.Causality.Has(l, s) && !e.Derived.Causality.Has(s, l) {
				x.pair(e, exchange{p, place(s), g.Events[l].Loc}, memmodel.Pair{First: s, Second: l})
			}
		}
	}
}

// decides reports whether the value of a read decides a branch of its thread.
func (e *Execution) decides(read int) bool {
	t := e.Graph.Events[read].Thread
	return e.st.threads[t].ctrl.Has(read) || e.st.threads[t].spin.Has(read)
}

// pair takes note of a pair. An execution in which the load misses the store is the better example.
func (x *exchanges) pair(e *Execution, key exchange, p memmodel.Pair) {
	r := x.pairs[key]
	if r == nil {
		r = &Race{First: key.store, Second: key.load, Example: e, Pair: p}
		x.pairs[key] = r
	} else if shows(e, p) && !shows(r.Example, r.Pair) {
		r.Example, r.Pair = e, p
	}
	r.Executions++
}

// list returns the pairs that nothing excuses.
func (x *exchanges) list() []*Race {
	out := raceSet{}
	for key, r := range x.pairs {
		site := x.prog.Threads[key.store.Thread].Code[key.store.Inst].Site
		near := x.prog.Threads[key.load.Thread].Warp == x.prog.Threads[key.store.Thread].Warp
		if x.atomic[key.loc] || x.ordered[key.loc] || x.polled[key.load] ||
			x.constant[key.store] && len(x.values[site]) == 1 ||
			!(near && x.prog.OneWarp) && r.Example.cells[key.loc].Area == 0 {
			continue
		}
		out[[2]Place{key.store, key.load}] = r
	}
	return out.sorted()
}

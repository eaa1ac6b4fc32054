package memmodel

import "heddle/internal/event"

// fences returns the pairs of fence.sc operations that are morally strong, and so related in
// Fence-SC order (8.9.3).
func (g *Graph) fences(strong Rel) []Pair {
	var out []Pair
	for a := range g.Events {
		if g.Events[a].Order != event.SeqCst { // only fences have it
			continue
		}
		for b := range strong.Row(a).All {
			if g.Events[b].Order == event.SeqCst {
				out = append(out, Pair{a, b})
			}
		}
	}
	return out
}

// UndecidedFences returns a pair of fence.sc operations that Fence-SC order must relate and does
// not yet relate, and whether there is one. A graph is complete once either order of each such pair
// has been added to SC or follows.
func (d *Derived) UndecidedFences() (Pair, bool) {
	for _, p := range d.g.fences(d.strong) {
		if !d.Base.Has(p.First, p.Second) && !d.Base.Has(p.Second, p.First) {
			return p, true
		}
	}
	return Pair{}, false
}

// UndecidedWrites returns a pair of writes that coherence order must relate (8.9.6: they are
// morally strong) and does not yet relate, and whether there is one. at, if not nil, selects
// locations.
func (d *Derived) UndecidedWrites(at func(loc int) bool) (Pair, bool) {
	g := d.g
	for a := range g.Events {
		if !g.Events[a].Op.Writes() || at != nil && !at(g.Events[a].Loc) {
			continue
		}
		for b := range d.strong.Row(a).All {
			if g.Events[b].Op.Writes() && !d.CO.Has(a, b) && !d.CO.Has(b, a) {
				return Pair{a, b}, true
			}
		}
	}
	return Pair{}, false
}

// Imply decides what the axioms leave no choice about, and returns the relations with it: pairs of
// morally strong writes of which only one order is possible. What it adds to CO is in every
// completion of the graph.
func (g *Graph) Imply() *Derived {
	for {
		d := g.Derive()
		n := len(g.CO)
		g.CO = append(g.CO[:n:n], d.implied()...)
		if len(g.CO) == n || d.CO.reflexive() {
			return d
		}
	}
}

// implied returns pairs that coherence order must have and CO does not have yet.
func (d *Derived) implied() (out []Pair) {
	add := func(a, b int) {
		if d.strong.Has(a, b) && d.g.Events[a].Op.Writes() && d.g.Events[b].Op.Writes() &&
			!d.CO.Has(a, b) {
			out = append(out, Pair{a, b})
		}
	}
	for r, w := range d.g.RF {
		if w == Open {
			continue
		}
		for x := range d.g.Events {
			if x != w && d.Causality.Has(x, r) {
				add(x, w) // or r would return a value older than that of x (8.10.6)
			}
		}
		if !d.g.Events[r].Op.Writes() {
			continue
		}
		add(w, r) // 8.10.5
		for x := range d.strong.Row(r).All {
			if d.CO.Has(w, x) {
				add(r, x) // x is not between what the atomic reads and writes (8.10.3)
			}
			if d.CO.Has(x, r) {
				add(x, w)
			}
		}
	}
	return out
}

// MayRead reports whether an open read may get a source, as far as two axioms say without deriving
// the relations anew: a write that the read follows in causality order and that follows the source
// in coherence order excludes it (8.10.6). So does another atomic operation that already reads from
// the source, if both are to follow the source in coherence order and must be related (8.10.3: one
// would be between the other's read and write).
func (d *Derived) MayRead(r, source int) bool {
	for x := range d.CO.Row(source).All {
		if d.Causality.Has(x, r) {
			return false
		}
	}
	if d.g.Events[r].Op.Writes() && (d.strong.Has(source, r) || d.CO.Has(source, r)) {
		for x := range d.strong.Row(r).All {
			if d.g.Events[x].Op.Writes() && d.g.RF[x] == source && d.CO.Has(source, x) {
				return false
			}
		}
	}
	return true
}

// Races returns the data races of an execution (8.7.1): the pairs of conflicting operations that
// are not morally strong and that causality order does not relate.
func (d *Derived) Races() []Pair {
	var out []Pair
	for a := range d.g.Events {
		for b := a + 1; b < len(d.g.Events); b++ {
			if d.g.Conflict(a, b) && !d.strong.Has(a, b) && !d.Causality.Has(a, b) &&
				!d.Causality.Has(b, a) && d.g.Events[a].Thread != Initial &&
				d.g.Events[b].Thread != Initial {
				out = append(out, Pair{a, b})
			}
		}
	}
	return out
}

// Last returns the writes to a location that no other write follows in coherence order. A read
// after the end of all threads may return the value of any of them (8.9.4: the end of the threads
// of a kernel synchronizes with the end of the kernel; 8.10.6): there are several only after a data
// race.
func (d *Derived) Last(loc int) []int {
	var out []int
	for w := range d.g.Events {
		if e := &d.g.Events[w]; e.Op.Writes() && e.Loc == loc && d.CO.Row(w).Empty() {
			out = append(out, w)
		}
	}
	return out
}

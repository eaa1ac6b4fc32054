package memmodel

import "heddle/internal/event"

// fences returns the pairs of fence.sc operations that are morally strong, and so related in
// Fence-SC order (8.9.3).
func (g *Graph) fences(strong Rel) []Pair {
	var out []Pair
	for a := range g.Events {
		if g.Events[a].Op != Fence || g.Events[a].Order != event.SeqCst {
			continue
		}
		for b := range strong[a].All {
			if b > a && g.Events[b].Op == Fence && g.Events[b].Order == event.SeqCst {
				out = append(out, Pair{a, b})
			}
		}
	}
	return out
}

// UndecidedFences returns a pair of fence.sc operations that Fence-SC order must relate and does not
// yet relate, and whether there is one. A graph is complete once either order of each such pair has
// been added to SC or follows.
func (d *Derived) UndecidedFences() (Pair, bool) {
	for _, p := range d.g.fences(d.strong) {
		if !d.Base.Has(p.First, p.Second) && !d.Base.Has(p.Second, p.First) {
			return p, true
		}
	}
	return Pair{}, false
}

// UndecidedWrites returns a pair of writes that coherence order must relate (8.9.6: they are morally
// strong) and does not yet relate, and whether there is one.
func (d *Derived) UndecidedWrites() (Pair, bool) {
	g := d.g
	for a := range g.Events {
		if !g.Events[a].Op.Writes() {
			continue
		}
		for b := range d.strong[a].All {
			if b > a && g.Events[b].Op.Writes() && !d.CO.Has(a, b) && !d.CO.Has(b, a) {
				return Pair{a, b}, true
			}
		}
	}
	return Pair{}, false
}

// Races returns the data races of an execution (8.7.1): the pairs of conflicting operations that are
// not morally strong and that causality order does not relate.
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

// Last returns the writes to a location that no other write follows in coherence order. A read after
// the end of all threads may return the value of any of them (8.9.4: the end of the threads of a
// kernel synchronizes with the end of the kernel; 8.10.6): there are several only after a data race.
func (d *Derived) Last(loc int) []int {
	var out []int
	for w := range d.g.Events {
		if e := &d.g.Events[w]; e.Op.Writes() && e.Loc == loc && d.CO[w].Empty() {
			out = append(out, w)
		}
	}
	return out
}

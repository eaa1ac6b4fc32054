package memmodel

// Settled reports whether base causality order before the events of s is final: no choice among the
// events of the graph that is still open, of a source or of an order of fences, adds a pair to that
// order that leads to one of them. Such a pair ends in the last operation of an acquire pattern
// whose read, or an atomic operation that it reads through, has no source yet, or in a fence.sc.
//
// Events that are added later are not considered. If they follow all of s, they add no such pair
// either: it would close a cycle through a write of s, which axiom Coherence forbids.
func (d *Derived) Settled(s Set) bool {
	g := d.g
	leads := func(e int) bool {
		if s.Has(e) {
			return true
		}
		for i, w := range d.Base.Row(e) {
			if w&s.word(i) != 0 {
				return true
			}
		}
		return false
	}
	for r := range g.Events {
		if !g.Events[r].Op.Reads() || g.traced(r) {
			continue
		}
		for y := range g.Acquires(r).All {
			if leads(y) {
				return false
			}
		}
	}
	for _, p := range g.fences(d.strong) {
		if !d.Base.Has(p.First, p.Second) && !d.Base.Has(p.Second, p.First) && leads(p.Second) {
			return false
		}
	}
	return true
}

// traced reports whether a read, and each atomic operation that it reads through, has a source.
func (g *Graph) traced(r int) bool {
	for range g.Events {
		w := g.RF[r]
		if w == Open {
			return false
		}
		if !g.Events[w].Op.Reads() {
			return true
		}
		r = w
	}
	return true // a cycle, which the axioms forbid
}

// After reports whether an event follows all of s in base causality order.
func (d *Derived) After(e int, s Set) bool {
	for o := range s.All {
		if !d.Base.Has(o, e) {
			return false
		}
	}
	return true
}

// Before reports whether an event precedes all of s in base causality order.
func (d *Derived) Before(e int, s Set) bool {
	for o := range s.All {
		if !d.Base.Has(e, o) {
			return false
		}
	}
	return true
}

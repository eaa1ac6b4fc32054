package memmodel

// Derived holds the relations that follow from a graph. Of a graph with open reads or undecided
// orders they hold what is already certain: deciding more adds pairs and removes none.
type Derived struct {
	// Observation is observation order (8.9.2).
	Observation Rel
	// Base is base causality order (8.9.5). The waiters of a barrier precede each other in it.
	Base Rel
	// Causality is causality order (8.9.5) between memory operations on one location.
	Causality Rel
	// CO is coherence order (8.9.6), FR the third case of communication order (8.9.7): a read
	// precedes the writes that follow what it reads.
	CO, FR Rel

	g      *Graph
	strong Rel // morally strong pairs (8.7)
}

// Derive computes the relations of g.
func (g *Graph) Derive() *Derived {
	d := &Derived{g: g, strong: newRel(len(g.Events))}
	for a := range g.Events {
		for b := range a {
			if g.MorallyStrong(a, b) {
				d.strong.Add(a, b)
				d.strong.Add(b, a)
			}
		}
	}
	d.observe()
	d.base()
	d.causality()
	d.coherence()
	return d
}

// observe computes observation order (8.9.2): a write precedes the morally strong read that returns
// its value, and so on through atomic operations. Only these both read and write, so that the
// transitive closure passes through nothing else.
func (d *Derived) observe() {
	d.Observation = newRel(len(d.g.Events))
	for r, w := range d.g.RF {
		if w != Open && d.strong.Has(w, r) {
			d.Observation.Add(w, r)
		}
	}
	d.Observation.close()
}

// base computes base causality order (8.9.5): the transitive closure of program order and of what
// synchronizes. The initial writes precede everything (8.2.6: they are "executed before starting
// any thread", whose start synchronizes, 8.9.4).
func (d *Derived) base() {
	g := d.g
	d.Base = newRel(len(g.Events))
	for b := range g.Events {
		y := &g.Events[b]
		for a := range g.Events {
			x := &g.Events[a]
			if x.Thread == Initial && y.Thread != Initial || g.precedes(a, b) {
				d.Base.Add(a, b)
			}
		}
	}
	d.patterns()
	d.barriers()
	for _, p := range g.SC { // 8.9.4, 1
		d.Base.Add(p.First, p.Second)
	}
	d.Base.close()
}

// patterns adds what release and acquire patterns synchronize (8.9.4, 4): the write of a release
// pattern precedes the read of an acquire pattern in observation order, and the first operation of
// the one and the last of the other are morally strong.
func (d *Derived) patterns() {
	lasts := map[int]Row{} // by the read
	for w := range d.Observation.n {
		if d.Observation.Row(w).Empty() {
			continue
		}
		firsts := d.g.releases(w)
		if firsts == nil {
			continue
		}
		for r := range d.Observation.Row(w).All {
			last, ok := lasts[r]
			if !ok {
				last = d.g.Acquires(r)
				lasts[r] = last
			}
			if last == nil {
				continue
			}
			for _, x := range firsts {
				d.Base.Row(x).unionBoth(last, d.strong.Row(x))
			}
		}
	}
}

// releases returns the first operations of the release patterns whose write is w (8.8): w itself,
// if it releases; an earlier releasing operation on its location; an earlier releasing fence.
func (g *Graph) releases(w int) (firsts []int) {
	e := &g.Events[w]
	if !e.Strong() { // initial writes are weak
		return firsts
	}
	for x := 0; x <= w; x++ {
		f := &g.Events[x]
		if f.Thread == e.Thread && f.Order.Releases() &&
			(f.Op == Fence || f.Op.Writes() && f.Loc == e.Loc) {
			firsts = append(firsts, x)
		}
	}
	return firsts
}

// Acquires returns the last operations of the acquire patterns whose read is r (8.8): r itself, if
// it acquires; a later acquiring operation on its location; a later acquiring fence. The read of a
// reduction is part of none. nil if there are none.
func (g *Graph) Acquires(r int) (lasts Row) {
	e := &g.Events[r]
	if e.Op != Read && e.Op != Atomic || !e.Strong() {
		return lasts
	}
	for y := r; y < len(g.Events); y++ {
		l := &g.Events[y]
		if l.Thread == e.Thread && l.Order.Acquires() &&
			(l.Op == Fence || (l.Op == Read || l.Op == Atomic) && l.Loc == e.Loc) {
			if lasts == nil {
				lasts = make(Row, (len(g.Events)+63)/64)
			}
			lasts.add(y)
		}
	}
	return lasts
}

// barriers adds what barriers synchronize (8.9.4, 2): every arrival of a generation with every
// operation of it that waits.
func (d *Derived) barriers() {
	for a := range d.g.Events {
		x := &d.g.Events[a]
		if x.Generation == 0 {
			continue
		}
		for b := range d.g.Events {
			y := &d.g.Events[b]
			if a != b && y.Op == Sync && y.Generation == x.Generation {
				d.Base.Add(a, b)
			}
		}
	}
}

// causality computes causality order (8.9.5) between operations on one location: base causality
// order, and a write before whatever follows, in that order, a read that observes it.
func (d *Derived) causality() {
	g := d.g
	d.Causality = newRel(len(g.Events))
	for a := range g.Events {
		for b := range d.Base.Row(a).All {
			if g.same(a, b) {
				d.Causality.Add(a, b)
			}
		}
	}
	d.Causality.join(d.Observation.then(d.Causality.clone()))
}

// coherence computes coherence order (8.9.6), which is transitive: what was decided, and the writes
// that causality order relates (8.10.1).
func (d *Derived) coherence() {
	g := d.g
	d.CO = newRel(len(g.Events))
	for _, p := range g.CO {
		d.CO.Add(p.First, p.Second)
	}
	for a := range g.Events {
		if !g.Events[a].Op.Writes() {
			continue
		}
		for b := range d.Causality.Row(a).All {
			if g.Events[b].Op.Writes() {
				d.CO.Add(a, b)
			}
		}
	}
	d.CO.close()
	d.FR = newRel(len(g.Events))
	for r, w := range g.RF {
		if w != Open {
			d.FR.Row(r).union(d.CO.Row(w))
			d.FR.Row(r).remove(r) // an atomic follows what it reads
		}
	}
}

package memmodel

// Axiom is an axiom of the memory model.
type Axiom uint8

// The axioms (PTX ISA 8.10).
const (
	Consistent Axiom = iota // none is violated
	Coherence
	FenceSC
	Atomicity
	NoThinAir
	SCPerLocation
	Causality
)

var axioms = [...]struct{ name, section string }{
	{"consistent", ""},
	{"coherence", "8.10.1"},
	{"Fence-SC", "8.10.2"},
	{"atomicity", "8.10.3"},
	{"no thin air", "8.10.4"},
	{"sequential consistency per location", "8.10.5"},
	{"causality", "8.10.6"},
}

// String returns the name that the PTX ISA gives to the axiom.
func (a Axiom) String() string { return axioms[a].name }

// Section returns the section of the PTX ISA that states the axiom.
func (a Axiom) Section() string { return axioms[a].section }

// Violated returns an axiom that the graph violates, or Consistent. If a graph with open reads or
// undecided orders violates an axiom, so does every completion of it.
func (d *Derived) Violated() Axiom {
	for _, check := range [...]struct {
		axiom Axiom
		holds func(*Derived) bool
	}{
		{NoThinAir, (*Derived).noThinAir},
		{Causality, (*Derived).causal},
		{Coherence, (*Derived).coherent},
		{FenceSC, (*Derived).fenceSC},
		{Atomicity, (*Derived).atomic},
		{SCPerLocation, (*Derived).perLocation},
	} {
		if !check.holds(d) {
			return check.axiom
		}
	}
	return Consistent
}

// coherent is axiom Coherence (8.10.1): a write that precedes another in causality order precedes
// it in coherence order. CO contains these pairs, and remains to be an order.
func (d *Derived) coherent() bool { return !d.CO.reflexive() }

// fenceSC is axiom Fence-SC (8.10.2): a fence.sc that precedes a morally strong one in causality
// order precedes it in Fence-SC order. Base causality order contains that order, so it must not
// relate such a pair in both directions.
func (d *Derived) fenceSC() bool {
	for _, p := range d.g.fences(d.strong) {
		if d.Base.Has(p.First, p.Second) && d.Base.Has(p.Second, p.First) {
			return false
		}
	}
	return true
}

// atomic is axiom Atomicity (8.10.3): no write that is morally strong with an atomic operation
// lies, in coherence order, between the write that it reads and its own.
func (d *Derived) atomic() bool {
	for a := range d.g.Events {
		for w := range d.FR.Row(a).All {
			if d.strong.Has(a, w) && d.CO.Has(w, a) {
				return false
			}
		}
	}
	return true
}

// noThinAir is axiom No-Thin-Air (8.10.4): no value depends on itself. The relation here is between
// reads: what a read returns depends on the reads that decide its address or whether it happens, on
// those that decide the same of the write that it reads from, or that write's value, and on what
// that write itself reads if it is an atomic other than an exchange.
func (d *Derived) noThinAir() bool {
	g := d.g
	needs := newRel(len(g.Events))
	for r := range g.Events {
		if !g.Events[r].Op.Reads() {
			continue
		}
		needs.Row(r).unionSet(&g.Events[r].Deps)
		w := g.RF[r]
		if w == Open {
			continue
		}
		e := &g.Events[w]
		needs.Row(r).unionSet(&e.Deps)
		needs.Row(r).unionSet(&e.Data)
		if e.Op.Reads() && !e.Blind {
			needs.Add(r, w)
		}
	}
	return !needs.cyclic()
}

// perLocation is axiom SC-per-Location (8.10.5): program order between operations on one location
// and morally strong pairs in communication order (8.9.7) form no cycle.
func (d *Derived) perLocation() bool {
	g := d.g
	order := newRel(len(g.Events))
	for a := range g.Events {
		order.Row(a).unionBoth(d.CO.Row(a), d.strong.Row(a))
		order.Row(a).unionBoth(d.FR.Row(a), d.strong.Row(a))
		if w := g.RF[a]; w != Open && d.strong.Has(w, a) {
			order.Add(w, a)
		}
		for b := a + 1; b < len(g.Events); b++ {
			if g.Events[a].Thread == g.Events[b].Thread && g.same(a, b) {
				order.Add(a, b)
			}
		}
	}
	return !order.cyclic()
}

// causal is axiom Causality (8.10.6): a read returns neither the value of a write that it precedes
// in causality order, nor a value older than that of a write that precedes it in that order.
func (d *Derived) causal() bool {
	for r, w := range d.g.RF {
		if w == Open {
			continue
		}
		if w == r || d.Causality.Has(r, w) {
			return false
		}
		for x := range d.FR.Row(r).All {
			if d.Causality.Has(x, r) {
				return false
			}
		}
	}
	return true
}

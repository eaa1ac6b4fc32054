package lockstep

import (
	"math"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/smt"
)

// Threads take slots of an array by adding to a counter: what atom.add returns to two of them differs, as long as
// all that changes the counter are additions that go one way. Atomics on one word are executed one after the other
// (PTX ISA 8.9.3), so that of two additions of c1 and c2 > 0, the one that comes second gets at least c1 more than the first, and
// less than 2^w - c2 more while the sum of all additions stays below 2^w.
//
// A plain store to the counter is no addition. In the interval of the two additions it would race with one of them, or
// with both, so that up to the first race there is none; between additions of two intervals of a block there may be
// one, which sets the counter back. Between blocks, one that is ordered with the addition of its own block is not
// ordered with that of the other. So of an array that is stored to, only additions of one interval, or of two blocks
// and one interval between barriers of the grid, are taken to differ.
//
// A strong store races with no addition. It may lie between any two of its interval, and of two blocks.
//
// Where barriers of the warp order lanes, a store may lie between two additions of one interval of the block without a race. It
// cannot if no barrier of either kind comes between them.
// In lock step they are ordered otherwise: only additions of two blocks are taken to differ then.

// Ticket is one: an execution of an addition to a counter, whose result is a symbol.
type Ticket struct {
	Object *Object
	Offset smt.Term
	Start  Tag
	Warp   Tag // as of an Access
	Grid   Tag
	Add    uint64     // as wide as the result; not zero
	Down   bool       // additions of all threads to the array are negative: those of -Add
	Stored bool       // the kernel also stores to the array
	Resets []smt.Term // the barriers, as in Tag, behind which it does so by strong stores
	Total  uint64     // of all additions to one counter, at most; 0: not known to be less than half of what a counter holds
	// Lanes of a warp are ordered within an interval because they are in lock step.
	Ordered bool
}

// Slots finds them by the name of the symbol.
type Slots struct {
	// Wrap says that so many additions may be made that a counter wraps around: then it is an assumption that none does.
	Wrap bool
	c    *smt.Context
	of   map[string]slotSchema
}

type slotSchema struct {
	counters []smt.Term
	slot     Ticket
}

// For returns the slots among terms, with the terms that are their results.
func (s *Slots) For(terms []smt.Term) (results []smt.Term, slots []Ticket) {
	if s == nil || len(s.of) == 0 {
		return nil, nil
	}
	s.c.Visit(terms, func(t smt.Term) {
		if op := s.c.Op(t); op != smt.OpApp && op != smt.OpVar {
			return
		}
		schema, ok := s.of[s.c.Name(t)]
		if !ok {
			return
		}
		sub := s.c.Substitute()
		for i, k := range schema.counters {
			sub.Replace(k, s.c.Args(t)[i])
		}
		slot := schema.slot
		slot = slot.Renamed(sub)
		results, slots = append(results, t), append(slots, slot)
	})
	return results, slots
}

// Apart is the formula that the results of two additions by different threads differ as they must; a and b are the slots of the
// results ra and rb, all as terms of their threads.
func (s *Slots) Apart(a, b Ticket, ra, rb smt.Term, otherBlock bool) smt.Term {
	c := s.c
	if a.Object != b.Object || otherBlock && (a.Object.Space == event.Shared || len(a.Resets) > 0) || c.Width(ra) != c.Width(rb) {
		return smt.True
	}
	meet := []smt.Term{c.Eq(a.Offset, b.Offset)}
	if a.Stored && !otherBlock {
		if a.Ordered {
			return smt.True
		}
		meet = append(meet, a.Start.Same(c, b.Start), a.Warp.Same(c, b.Warp))
		for _, r := range a.Resets {
			meet = append(meet, c.Not(c.Eq(a.Start.Barrier, r)))
		}
	}
	if a.Stored && otherBlock {
		meet = append(meet, a.Grid.Same(c, b.Grid))
	}
	w := c.Width(ra)
	up, down := c.Sub(rb, ra), c.Sub(ra, rb)
	if a.Down {
		up, down = down, up
	}
	first, second := c.Ule(c.Const(a.Add, w), up), c.Ule(c.Const(b.Add, w), down) // one comes first, or the other
	apart := c.And(first, second)
	if a.Total > 0 {
		last := c.Const(a.Total, w)
		apart = c.Or(c.And(first, c.Ule(up, last)), c.And(second, c.Ule(down, last)))
	}
	return c.Implies(c.And(meet...), apart)
}

// Renamed returns the slot under a renaming of symbols.
func (s Ticket) Renamed(sub *smt.Substitution) Ticket {
	s.Offset, s.Start = sub.Apply(s.Offset), s.Start.Renamed(sub)
	s.Warp, s.Grid = s.Warp.Renamed(sub), s.Grid.Renamed(sub)
	return s
}

// atomicUse is an atomic of the final pass.
type atomicUse struct {
	places   []place
	size     int
	add      uint64 // how much it adds; 0: not a constant, or another operation
	down     bool
	result   smt.Term // undef: none
	start    Tag
	warp     Tag
	grid     Tag
	counters []smt.Term
	space    event.Space
}

// atomic notes an atomic for distinctSlots.
func (x *exec) atomic(in *ir.Instr, places []place, result smt.Term, st *state) {
	if !x.final {
		return
	}
	use := atomicUse{places: places, size: in.Type.Size(), result: result, counters: x.counters(), space: in.Space, grid: x.gridTag(st)}
	if len(places) == 1 && places[0].object != nil {
		use.start = x.tag(st, orders(places[0].object.Space))
		if use.warp = use.start; x.warp {
			use.warp = x.warpTag(st)
		}
	}
	use.add, use.down = x.addend(in, st)
	x.atomics = append(x.atomics, use)
}

// addend is the constant that an atomic adds, or takes away; 0 if it does something else.
func (x *exec) addend(in *ir.Instr, st *state) (add uint64, down bool) {
	class := in.Type.Class()
	if class != isa.Unsigned && class != isa.Signed || in.Vec > 1 || len(in.Src) < 2 || in.Type.Size() < 4 || in.Type == isa.U16x2 || in.Type == isa.S16x2 {
		return 0, false
	}
	w := 8 * in.Type.Size()
	v, ok := x.c.Value(x.read(in.Src[1], w, st))
	switch {
	case !ok:
		return 0, false
	case (in.Fn == isa.FnInc || in.Fn == isa.FnDec) && v == ones(w): // wraps as an addition does (PTX ISA 9.7.13.5)
		return 1, in.Fn == isa.FnDec
	case in.Fn != isa.FnAdd || v == 0:
		return 0, false
	case v > ones(w)>>1:
		return -v & ones(w), true
	}
	return v, false
}

// counting is what the atomics of a kernel do to one array.
type counting struct {
	size   int
	down   bool
	bad    bool
	sum    uint64 // of what one thread adds, at most; saturates
	looped bool
}

// distinctSlots finds the arrays of which all atomics are additions that go one way.
func (x *exec) distinctSlots() {
	x.th.Slots = &Slots{c: x.c, of: map[string]slotSchema{}}
	of := map[*Object]*counting{}
	for i := range x.atomics {
		x.countUse(of, &x.atomics[i])
	}
	wraps := false
	for _, u := range x.atomics {
		if u.result == undef || u.add == 0 || len(u.places) != 1 || u.places[0].object == nil || of[u.places[0].object].bad {
			continue
		}
		o := u.places[0].object
		stored, resets, ok := x.storedTo(o)
		if !ok {
			continue
		}
		n := of[o]
		total := uint64(0)
		if threads := x.sharers(o); !n.looped && n.sum <= ones(8*u.size)/2/threads {
			total = n.sum * threads
		}
		wraps = wraps || total == 0
		x.th.Slots.of[x.c.Name(u.result)] = slotSchema{u.counters, Ticket{
			Object: o, Offset: u.places[0].offset, Start: u.start, Warp: u.warp, Grid: u.grid, Add: u.add, Down: u.down, Stored: stored, Resets: resets, Ordered: x.opt.Lockstep, Total: total,
		}}
	}
	x.th.Slots.Wrap = wraps
}

// sharers is the number of threads that share an array.
func (x *exec) sharers(o *Object) uint64 {
	g := x.opt.Geometry
	if x.opt.Any.Is() {
		return math.MaxUint64
	}
	if o.Space == event.Shared {
		return g.Block.Count()
	}
	return g.Block.Count() * g.Grid.Count()
}

// countUse adds one atomic to what is known of the arrays that it may go to.
func (x *exec) countUse(of map[*Object]*counting, u *atomicUse) {
	var objects []*Object
	for _, p := range u.places {
		if p.object != nil {
			objects = append(objects, p.object)
			continue
		}
		for _, o := range x.objects { // anywhere
			if u.space == o.Space || u.space != event.Shared && u.space != event.Global {
				objects = append(objects, o)
			}
		}
	}
	for _, o := range objects {
		n := of[o]
		if n == nil {
			n = &counting{size: u.size, down: u.down}
			of[o] = n
		}
		n.bad = n.bad || u.add == 0 || n.size != u.size || n.down != u.down || len(u.places) != 1
		n.looped = n.looped || len(u.counters) > 0
		if n.sum += u.add; n.sum < u.add {
			n.sum = ^uint64(0)
		}
	}
}

// storedTo reports whether something that is no atomic may write to an array, and behind which barriers strong stores may; ok
// is false if that is not known of one of these.
func (x *exec) storedTo(o *Object) (stored bool, resets []smt.Term, ok bool) {
	for i := range x.th.Accesses {
		a := &x.th.Accesses[i]
		if a.Kind != event.Write || a.Object != o && (a.Object != nil || a.Space != o.Space && (a.Space == event.Shared || a.Space == event.Global)) {
			continue
		}
		stored = true
		if !a.Order.Strong() {
			continue
		}
		if _, fixed := x.c.Value(a.Start.Barrier); !fixed {
			return true, nil, false
		}
		resets = append(resets, a.Start.Barrier)
	}
	return stored, resets, true
}

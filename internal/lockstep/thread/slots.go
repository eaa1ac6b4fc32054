package thread

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/smt"
)

// Threads take slots of an array by adding to a counter: the results of atom.add differ between
// threads, as long as all operations on the counter are additions in one direction. What is added
// may differ too, and may be 0. Atomics on one word are executed one after the other (PTX ISA
// 8.9.3). So of two additions of c1 and c2 > 0, the later one returns at least c1 more than the
// first, and less than 2^w - c2 more while the sum of all additions stays below 2^w.
//
// A plain store to the counter is no addition. In the interval of the two additions it would race
// with one of them, so up to the first race there is none. Between additions of two intervals of a
// block there may be one, which resets the counter. Between blocks, a store that is ordered with
// the addition of its own block is not ordered with the other one. So for an array that is stored
// to, only additions of one interval, or of two blocks within one interval between barriers of the
// grid, are taken to differ.
//
// A strong store races with no addition: it may lie between any two of its interval, and of two
// blocks.
//
// Where barriers of the warp order lanes, a store may lie between two additions of one interval of
// the block without a race, but not if no barrier of either kind lies between them. In lock step
// lanes are ordered in other ways too: only additions of two blocks are taken to differ then.

// Ticket is one execution of an addition to a counter, whose result is a symbol.
type Ticket struct {
	Object *Object
	Offset smt.Term
	Start  Tag // these three as in Access
	Warp   Tag
	Grid   Tag
	Add    uint64     // as wide as the result; not zero unless By says how much
	By     smt.Term   // what is added, if that is not constant; else smt.False
	Guard  smt.Term   // the thread makes the addition: only then it has a result
	Down   bool       // all threads subtract: they add -Add
	Stored bool       // the kernel also stores to the array
	Resets []smt.Term // Tag.Barrier of the strong stores to the array
	// upper bound of the sum of all additions to one counter; 0: unknown, or half the range or more
	Total uint64
	// Ordered is set if lanes of a warp are ordered within an interval because they are in lock step.
	Ordered bool
}

// Renamed returns the ticket under a renaming of symbols.
func (t Ticket) Renamed(sub *smt.Substitution) Ticket { return t.Mapped(sub.Apply) }

// Mapped returns the ticket with all its terms mapped.
func (t Ticket) Mapped(by func(smt.Term) smt.Term) Ticket {
	t.Offset, t.By, t.Guard = by(t.Offset), by(t.By), by(t.Guard)
	t.Start, t.Warp, t.Grid = t.Start.mapped(by), t.Warp.mapped(by), t.Grid.mapped(by)
	return t
}

// Slots finds tickets by the names of their results.
type Slots struct {
	// Wrap is set if the additions may wrap a counter around; then it is an assumption that they do
	// not.
	Wrap bool
	c    *smt.Context
	of   map[string]schematic
	sums map[*Object]sum
	// doubts are what is added to an array, if its bits do not show that it is not negative
	doubts map[*Object][]Doubt
}

// Doubt is something that is added under a guard, which may be negative.
type Doubt struct{ Guard, By smt.Term }

// sum is the sum of all additions to one counter of an array, at most; if it is not known, that of
// one thread and one iteration.
type sum struct {
	total uint64
	known bool
}

// schematic is a ticket as a function of loop counters.
type schematic struct {
	counters []smt.Term
	ticket   Ticket
}

// NewSlots returns slots over the terms of c: none at first.
func NewSlots(c *smt.Context) *Slots {
	return &Slots{c: c, of: map[string]schematic{}, sums: map[*Object]sum{},
		doubts: map[*Object][]Doubt{}}
}

// Add declares that the symbol result, a function of the loop counters, is the result of a ticket.
func (s *Slots) Add(result smt.Term, counters []smt.Term, t Ticket) {
	s.of[s.c.Name(result)] = schematic{counters, t}
}

// Doubt notes that something may be negative which is added to an array under a guard.
func (s *Slots) Doubt(o *Object, guard, by smt.Term) {
	s.doubts[o] = append(s.doubts[o], Doubt{guard, by})
}

// Doubts returns what must be shown not to be negative before results of additions to an array are
// taken to differ.
func (s *Slots) Doubts(o *Object) []Doubt { return s.doubts[o] }

// SetSum notes the sum of the constants that atomics add to one counter of an array: all of them,
// at most, or if known is false, those of one thread and iteration. Whatever else writes there is
// not part of it.
func (s *Slots) SetSum(o *Object, total uint64, known bool) { s.sums[o] = sum{total, known} }

// Sum returns what SetSum has noted; ok is false for an array to which no atomic adds a constant.
func (s *Slots) Sum(o *Object) (total uint64, known, ok bool) {
	x, ok := s.sums[o]
	return x.total, x.known, ok
}

// Stored reports whether the kernel also stores to the array of a ticket that is none of results.
// What Apart says of that one supposes that a store and an addition of two blocks race.
func (s *Slots) Stored(results []smt.Term) bool {
	for name, x := range s.of {
		if x.ticket.Stored && !slices.ContainsFunc(results, func(r smt.Term) bool {
			op := s.c.Op(r)
			return (op == smt.OpApp || op == smt.OpVar) && s.c.Name(r) == name
		}) {
			return true
		}
	}
	return false
}

// For returns the results of tickets among terms, and the tickets.
func (s *Slots) For(terms []smt.Term) (results []smt.Term, tickets []Ticket) {
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
		results, tickets = append(results, t), append(tickets, schema.ticket.Renamed(sub))
	})
	return results, tickets
}

// Apart is the formula that the results ra and rb of two additions by different threads differ as
// they must. All terms are those of their threads.
func (s *Slots) Apart(a, b Ticket, ra, rb smt.Term, otherBlock bool) smt.Term {
	c := s.c
	private := otherBlock && (a.Object.Space == event.Shared || len(a.Resets) > 0)
	if a.Object != b.Object || private || c.Width(ra) != c.Width(rb) {
		return smt.True
	}
	when := []smt.Term{c.Eq(a.Offset, b.Offset)}
	if a.Stored && !otherBlock {
		if a.Ordered {
			return smt.True
		}
		when = append(when, a.Start.Same(c, b.Start), a.Warp.Same(c, b.Warp))
		for _, r := range a.Resets {
			when = append(when, c.Not(c.Eq(a.Start.Barrier, r)))
		}
	}
	if a.Stored && otherBlock {
		when = append(when, a.Grid.Same(c, b.Grid))
	}
	return c.Implies(c.And(when...), s.differ(a, b, ra, rb))
}

// Repeated is the formula that the results ra and rb of two additions by one thread, in different
// executions, differ as they must. The thread itself may reset a counter without a race, so nothing
// is said of one that the kernel also stores to.
func (s *Slots) Repeated(a, b Ticket, ra, rb smt.Term) smt.Term {
	c := s.c
	if a.Object != b.Object || a.Stored || c.Width(ra) != c.Width(rb) {
		return smt.True
	}
	return c.Implies(c.Eq(a.Offset, b.Offset), s.differ(a, b, ra, rb))
}

// differ is the formula that one of two additions to one counter comes first, if both are made. A
// result that no addition returns need not have room beside the others: their sum may count only
// the threads that make additions. Of a term for an amount nothing is known either where none is
// made: there it may even be negative.
func (s *Slots) differ(a, b Ticket, ra, rb smt.Term) smt.Term {
	return s.c.Implies(s.c.And(a.Guard, b.Guard), s.apart(a, b, ra, rb))
}

// apart is differ for two additions that are made.
func (s *Slots) apart(a, b Ticket, ra, rb smt.Term) smt.Term {
	c, w := s.c, s.c.Width(ra)
	up, down := c.Sub(rb, ra), c.Sub(ra, rb)
	if a.Down {
		up, down = down, up
	}
	na, nb := a.amount(c, w), b.amount(c, w)
	first, second := c.Ule(na, up), c.Ule(nb, down)
	if a.Total == 0 {
		zero := c.Const(0, w)
		nothing := c.And(c.Eq(ra, rb), c.Or(c.Eq(na, zero), c.Eq(nb, zero)))
		return c.Or(nothing, c.And(first, second))
	}
	last := c.Const(a.Total, w)
	return c.Or(c.And(first, c.Ule(up, last)), c.And(second, c.Ule(down, last)))
}

// amount is what an addition adds, or subtracts, with w bits.
func (t Ticket) amount(c *smt.Context, w int) smt.Term {
	if t.By != smt.False {
		return t.By
	}
	return c.Const(t.Add, w)
}

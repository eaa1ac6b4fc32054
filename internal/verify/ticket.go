package verify

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Ticket locks: a thread takes a ticket by an addition to one counter, waits until another counter,
// which says who is served, equals its ticket, and calls the next number by storing its ticket plus
// one there, or by adding one. Two accesses of two holders are ordered through the calls in
// between. The proof is in docs/theory/lock-step.md, "Ticket locks".
//
// Deviations and limits: the counters are in global memory, the wait is outside of loops or in one
// loop of its own, and a lock protects what the thread does that took the ticket. That fences are
// in Fence-SC order is not used. As for locks, each load must return anything
// (thread.Thread.Adversarial). That the counter of tickets does not wrap around is an assumption of
// the verdict where the sum of the additions is not known.

// ticketLock is what serializes holders by the numbers in one array.
type ticketLock struct {
	p        *prover
	serving  *thread.Object
	loads    []*thread.Access // of serving: strong, of device scope
	frees    []call
	wraps    bool // that the counter of tickets does not wrap is assumed
	sections map[*thread.Access][]turn
	handed   map[event.Space]bool
}

// entry is how a lock is taken: the addition that gives a ticket, and the load that waits.
type entry struct{ take, wait *thread.Access }

// call is a write that calls the next number.
type call struct {
	entry
	write *thread.Access
	turn  turn
}

// turn is the lock under which an access lies: the offset of the number that is served, and that of
// the counter of tickets.
type turn struct{ at, next smt.Term }

// findTicketLocks returns the ticket locks of the kernel.
func (p *prover) findTicketLocks() []*ticketLock {
	var out []*ticketLock
	seen := map[*thread.Object]bool{}
	for i := range p.th.Accesses {
		a := &p.th.Accesses[i]
		if finds(p.c, a) == smt.False || a.Object == nil || a.Object.Space != event.Global ||
			seen[a.Object] {
			continue
		}
		seen[a.Object] = true
		if l := p.newTicketLock(a.Object); l != nil {
			out = append(out, l)
		}
	}
	return out
}

// newTicketLock returns the lock by the numbers in an array; nil if they are used otherwise.
func (p *prover) newTicketLock(o *thread.Object) *ticketLock {
	l := &ticketLock{p: p, serving: o, sections: map[*thread.Access][]turn{},
		handed: map[event.Space]bool{}}
	var takes []*thread.Access
	for i := range p.th.Accesses {
		a := &p.th.Accesses[i]
		if a.Scope < event.GPU || a.Async || a.Object == nil {
			continue
		}
		if a.Object == o && finds(p.c, a) != smt.False {
			l.loads = append(l.loads, a)
		}
		if a.Object.Space == event.Global && a.Result != smt.False && p.addsUp(a) {
			takes = append(takes, a)
		}
	}
	if len(takes) == 0 || !slices.ContainsFunc(p.th.Accesses, func(w thread.Access) bool {
		return w.Object == o && w.Kind.Writes() && w.Order.Strong() && !keeps(p.c, &w)
	}) {
		return nil
	}
	if !l.collect(takes) || !l.once() || !l.counted() || !l.paired() {
		return nil
	}
	for _, s := range []event.Space{event.Global, event.Shared, event.Generic} {
		l.handed[s] = l.hands(s)
	}
	return l
}

// addsUp reports whether an atomic adds a constant from 1 to half the range, or 1 by atom.inc that
// wraps where an addition does.
func (p *prover) addsUp(a *thread.Access) bool {
	if a.Update != thread.Add && a.Update != thread.Increment {
		return false
	}
	v, fixed := p.c.Value(a.Operands[0])
	all := ^uint64(0) >> (64 - 8*a.Size)
	if a.Update == thread.Increment {
		return fixed && v == all
	}
	return fixed && v > 0 && v <= all>>1
}

// collect finds the writes that call a number, and reports whether no other write changes one.
func (l *ticketLock) collect(takes []*thread.Access) bool {
	p := l.p
	var others []*thread.Access
	for i := range p.th.Accesses {
		w := &p.th.Accesses[i]
		switch {
		case !w.Kind.Writes() || w.Object != nil && w.Object != l.serving ||
			w.Object == nil && w.Space != event.Global && w.Space != event.Generic:
		case w.Object == nil:
			return false
		case l.calls(w, takes):
		default:
			others = append(others, w)
		}
	}
	if len(l.frees) == 0 {
		return false
	}
	size := l.frees[0].write.Size
	for _, w := range others {
		if keeps(p.c, w) && w.Size == size && w.Scope >= event.GPU {
			continue
		}
		for _, r := range l.frees {
			if !p.elsewhere(w, r.wait) || !p.elsewhere(w, r.write) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(l.frees, func(r call) bool { return r.write.Size != size })
}

// calls reports whether a write calls the number behind the ticket of its thread, which holds the
// lock, and adds it to l.frees.
func (l *ticketLock) calls(w *thread.Access, takes []*thread.Access) bool {
	p, c := l.p, l.p.c
	value, stores := stored(w)
	adds := w.Update == thread.Add && p.adds(w, 1)
	if !w.Order.Strong() || w.Scope < event.GPU || !adds && (!stores || value == smt.False) {
		return false
	}
	for _, take := range takes {
		for _, wait := range l.loads {
			e := entry{take, wait}
			if take.Size != w.Size || wait.Size != w.Size || wait == w {
				continue
			}
			t, ticket, is := l.holds(e, w)
			if is == smt.False {
				continue
			}
			is = c.And(is, c.Eq(t.at, w.Offset))
			var knows []smt.Term
			if !adds {
				is = c.And(is, c.Eq(value, c.AddConst(ticket, 1)))
				knows = l.readBack(e, w, t, ticket)
			}
			if p.always(c.And(append(knows, w.Guard)...), is) {
				l.frees = append(l.frees, call{e, w, t})
				return true
			}
		}
	}
	return false
}

// holds returns the lock and the ticket of a thread at x, and the formula that it has waited for
// that; smt.False if not every path to x takes a ticket and then waits.
func (l *ticketLock) holds(e entry, x *thread.Access) (t turn, ticket, is smt.Term) {
	c := l.p.c
	waits := func(in *ir.Instr) bool { return in == e.wait.Instr }
	paths := l.p.routes()
	if x.Instr == e.take.Instr || x.Instr == e.wait.Instr || x.Async ||
		!paths.Dominates(e.take.Instr, x.Instr) || !paths.Dominates(e.wait.Instr, x.Instr) ||
		paths.ReachesPast(e.take.Instr, x.Instr, waits) {
		return turn{}, 0, smt.False
	}
	took, ok := l.p.lastOf(e.take, x.Place.Loops)
	found, also := l.p.lastOf(e.wait, x.Place.Loops)
	if !ok || !also {
		return turn{}, 0, smt.False
	}
	ticket = took.Apply(e.take.Result)
	is = c.And(took.Apply(e.take.Guard), found.Apply(e.wait.Guard),
		c.Eq(found.Apply(finds(c, e.wait)), ticket))
	return turn{found.Apply(e.wait.Offset), took.Apply(e.take.Offset)}, ticket, is
}

// readBack is what the loads of the number in front of a call have returned: the ticket, since
// nobody but the holder changes the number, and it has not done so (PTX ISA 8.10.5).
func (l *ticketLock) readBack(e entry, w *thread.Access, t turn, ticket smt.Term) []smt.Term {
	c := l.p.c
	var out []smt.Term
	for _, r := range l.loads {
		if r == e.wait || r.Loaded == smt.False || r.Size != w.Size ||
			!slices.Equal(r.Place.Loops, w.Place.Loops) ||
			!l.p.routes().Dominates(e.wait.Instr, r.Instr) || !l.p.routes().Dominates(r.Instr, w.Instr) {
			continue
		}
		if _, own, is := l.holds(e, r); is == smt.False || own != ticket || !l.p.always(r.Guard, is) ||
			l.written(e, r.Instr) {
			continue
		}
		out = append(out, c.Implies(c.And(r.Guard, c.Eq(r.Offset, t.at)), c.Eq(r.Loaded, ticket)))
	}
	return out
}

// written reports whether some write to the array of the numbers may lie between a take and an
// instruction.
func (l *ticketLock) written(e entry, to *ir.Instr) bool {
	takes := func(in *ir.Instr) bool { return in == e.take.Instr }
	return slices.ContainsFunc(l.p.th.Accesses, func(w thread.Access) bool {
		return w.Object == l.serving && w.Kind.Writes() && w.Instr != e.take.Instr &&
			!keeps(l.p.c, &w) && l.p.routes().ReachesPast(w.Instr, to, takes)
	})
}

// called reports whether a call by a ticket may lie between the addition that gave it and an
// instruction.
func (l *ticketLock) called(e entry, to *ir.Instr) bool {
	takes := func(in *ir.Instr) bool { return in == e.take.Instr }
	return slices.ContainsFunc(l.frees, func(r call) bool {
		return r.take == e.take && l.p.routes().ReachesPast(r.write.Instr, to, takes)
	})
}

// once reports whether each ticket calls one number at most.
func (l *ticketLock) once() bool {
	return !slices.ContainsFunc(l.frees, func(r call) bool { return l.called(r.entry, r.write.Instr) })
}

// counted reports whether all tickets of one counter differ: all writes to it add up, and the sum
// of all does not wrap around, as far as it is known.
func (l *ticketLock) counted() bool {
	p := l.p
	done := map[*thread.Access]bool{}
	for _, r := range l.frees {
		a := r.take
		if done[a] {
			continue
		}
		done[a] = true
		if a.Object != l.frees[0].take.Object || a.Size != l.frees[0].take.Size {
			return false
		}
		sum, known, ok := p.th.Slots.Sum(a.Object)
		if !ok || sum >= ^uint64(0)>>(64-8*a.Size) {
			return false
		}
		l.wraps = l.wraps || !known
		for i := range p.th.Accesses {
			w := &p.th.Accesses[i]
			if w.Kind.Writes() && p.comparable(w, a) && !(w.Object == a.Object && w.Size == a.Size &&
				w.Scope >= event.GPU && p.addsUp(w)) && (w.Object == nil || !p.elsewhere(w, a)) {
				return false
			}
		}
	}
	return true
}

// paired reports whether all holders of one lock have tickets of one counter, as far as they call
// numbers.
func (l *ticketLock) paired() bool {
	for i, r := range l.frees {
		for _, s := range l.frees[i:] {
			if !l.onePair(r.write.Guard, r.turn, s) {
				return false
			}
		}
	}
	return true
}

// onePair reports whether a thread under a guard has a ticket of the counter from which those who
// call numbers of the same lock have theirs.
func (l *ticketLock) onePair(guard smt.Term, t turn, r call) bool {
	c, p := l.p.c, l.p
	s := p.far
	q := []smt.Term{s[0].Apply(guard), s[1].Apply(r.write.Guard),
		c.Eq(s[0].Apply(t.at), s[1].Apply(r.turn.at)),
		c.Not(c.Eq(s[0].Apply(t.next), s[1].Apply(r.turn.next)))}
	return p.unsat(q, [2][]smt.Term{{guard, t.at, t.next},
		{r.write.Guard, r.turn.at, r.turn.next}}, s)
}

// hands reports whether whoever holds a lock in between orders accesses to a space: see lock.hands.
func (l *ticketLock) hands(s event.Space) bool {
	for _, r := range l.frees {
		if !r.write.Kind.RMW() && !l.p.handsOn(r.wait, r.write.Instr, s) {
			return false
		}
	}
	return true
}

// at returns the locks under which an access lies.
func (l *ticketLock) at(x *thread.Access) []turn {
	out, known := l.sections[x]
	if known {
		return out
	}
	for i, r := range l.frees {
		if slices.ContainsFunc(l.frees[:i], func(q call) bool { return q.entry == r.entry }) {
			continue
		}
		if t, ok := l.find(r.entry, x); ok {
			out = append(out, t)
		}
	}
	l.sections[x] = out
	return out
}

func (l *ticketLock) find(e entry, x *thread.Access) (turn, bool) {
	p, space := l.p, spaceOf(x)
	t, _, is := l.holds(e, x)
	if is == smt.False || l.called(e, x.Instr) || !acquires(e.wait, space) &&
		l.p.routes().ReachesPast(e.wait.Instr, x.Instr, p.fence(event.Order.Acquires, space)) {
		return t, false
	}
	for _, r := range l.frees {
		if r.take == e.take && !releases(r.write.Instr, space) &&
			l.p.routes().ReachesPast(x.Instr, r.write.Instr, p.fence(event.Order.Releases, space)) {
			return t, false
		}
	}
	if !p.always(x.Guard, is) {
		return t, false
	}
	return t, !slices.ContainsFunc(l.frees, func(r call) bool { return !l.onePair(x.Guard, t, r) })
}

// apart is the formula that the lock protects two accesses at different times, and the terms of the
// two threads that it is about.
func (l *ticketLock) apart(a, b *thread.Access, s [2]*smt.Substitution) (smt.Term, [2][]smt.Term) {
	c, out := l.p.c, smt.False
	var about [2][]smt.Term
	if !l.handed[spaceOf(a)] || !l.handed[spaceOf(b)] {
		return out, about
	}
	for _, x := range l.at(a) {
		for _, y := range l.at(b) {
			out = c.Or(out, c.And(c.Eq(s[0].Apply(x.at), s[1].Apply(y.at)),
				c.Eq(s[0].Apply(x.next), s[1].Apply(y.next))))
			about[0], about[1] = append(about[0], x.at, x.next), append(about[1], y.at, y.next)
		}
	}
	return out, about
}

package verify

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Critical sections: a thread takes a lock by an atomic that finds it free and marks it as taken,
// and frees it by a strong store or an exchange. Two accesses under one lock are ordered, since the
// release pattern before each store that frees it synchronizes with the acquire pattern of the
// thread that takes it next (PTX ISA 8.8, 8.9.4). The proof is in docs/theory/lock-step.md,
// "Critical sections".
//
// Between two holders there may be others, which must pass the order on: see hands.
//
// Deviations and limits: one atomic instruction takes all locks of a kernel, outside of loops or in
// at most one loop of its own. That fences are in Fence-SC order is not used. A lock protects what the thread does that took it, not what its
// block does. Between two reads of one location another thread may write it without a race, so the
// rule is used only where every load returns anything (thread.Thread.Adversarial).

// lock is the atomic that takes the locks of a kernel, and what frees them.
type lock struct {
	p        *prover
	take     *thread.Access
	free     smt.Term    // the value of a free lock
	frees    []*ir.Instr // stores and exchanges
	sections map[*thread.Access]section
	handed   map[event.Space]bool // see hands
}

// section says where an access is.
type section struct {
	held bool     // in a critical section, with the patterns that it needs
	at   smt.Term // the offset of the lock in its array
}

// findLock returns the lock of the kernel; nil if there is none, or if it is not used as one.
func (p *prover) findLock() *lock {
	var l *lock
	for i := range p.th.Accesses {
		x := &p.th.Accesses[i]
		if x.Kind != event.Atomic || x.Result == smt.False || x.Object == nil ||
			x.Object.Space != event.Global || x.Scope < event.GPU {
			continue
		}
		if l == nil {
			l = &lock{p: p}
		}
		if l.takes(x) && l.freed() {
			for _, s := range []event.Space{event.Global, event.Shared, event.Generic} {
				l.handed[s] = l.hands(s)
			}
			return l
		}
	}
	return nil
}

// takes makes x the atomic that takes locks, and reports whether it may be one: a compare-and-swap
// of two constants, or an exchange for a constant.
func (l *lock) takes(x *thread.Access) bool {
	c := l.p.c
	l.take, l.frees, l.sections = x, nil, map[*thread.Access]section{}
	l.handed = map[event.Space]bool{}
	for _, o := range x.Operands {
		if _, fixed := c.Value(o); !fixed {
			return false
		}
	}
	switch {
	case x.Update == thread.CompareAndSwap && x.Operands[0] != x.Operands[1]:
		l.free = x.Operands[0]
	case x.Update == thread.Exchange:
		l.free = smt.False // what frees it says which value that is
	default:
		return false
	}
	return true
}

// freed reports whether everything else that may write a lock frees it, and is executed only by the
// thread that holds it, once.
func (l *lock) freed() bool {
	p := l.p
	var frees []*thread.Access
	for i := range p.th.Accesses {
		w := &p.th.Accesses[i]
		switch {
		case w == l.take || !w.Kind.Writes() || !p.comparable(w, l.take):
		case l.opens(w):
			frees = append(frees, w)
			l.frees = append(l.frees, w.Instr)
		case w.Object == nil || !p.elsewhere(w, l.take):
			return false
		}
	}
	for _, w := range frees {
		s := l.section(w)
		if !s.held || !p.always(w.Guard, p.c.Eq(s.at, w.Offset)) {
			return false
		}
	}
	return len(frees) > 0
}

// opens reports whether a strong write makes a lock free.
func (l *lock) opens(w *thread.Access) bool {
	if !w.Order.Strong() || w.Scope < event.GPU || w.Size != l.take.Size || w.Object == nil {
		return false
	}
	value := smt.False
	switch {
	case w.Kind == event.Write && len(w.Values) == 1:
		value = w.Values[0]
	case w.Update == thread.Exchange:
		value = w.Operands[0]
	default:
		return false
	}
	if _, fixed := l.p.c.Value(value); !fixed {
		return false
	}
	if l.free == smt.False && value != l.take.Operands[0] {
		l.free = value
	}
	return value == l.free
}

// hands reports whether whoever holds a lock in between orders accesses to a space of the holder
// before with those of the one behind: exchanges that free the lock continue the chain of atomics from one to the other (PTX ISA
// 8.9.2), and a section with an acquire and then a release pattern on all of its paths synchronizes
// with both. A section whose fences lie on some paths only, and which a store ends, does neither.
func (l *lock) hands(s event.Space) bool {
	return !slices.ContainsFunc(l.frees, func(r *ir.Instr) bool {
		return !l.exchanges(r) && !l.p.handsOn(l.take, r, s)
	})
}

// exchanges reports whether what frees a lock is an exchange.
func (l *lock) exchanges(free *ir.Instr) bool {
	return !slices.ContainsFunc(l.p.th.Accesses, func(a thread.Access) bool {
		return a.Instr == free && a.Update != thread.Exchange
	})
}

// section returns where an access is. In a critical section, the thread has taken a lock and has
// not freed it since: every path to the access passes the atomic, no path from what frees a lock
// avoids the atomic, and the access is reached only if the last execution of the atomic has found
// the lock free. What follows the atomic follows an acquire pattern, and what frees the lock
// follows a release pattern behind the access.
func (l *lock) section(x *thread.Access) section {
	if s, known := l.sections[x]; known {
		return s
	}
	s := l.find(x)
	l.sections[x] = s
	return s
}

func (l *lock) find(x *thread.Access) section {
	take, space := l.take.Instr, spaceOf(x)
	isTake := func(in *ir.Instr) bool { return in == take }
	if x.Instr == take || x.Async || !l.p.routes().Dominates(take, x.Instr) {
		return section{}
	}
	for _, r := range l.frees {
		if l.p.routes().ReachesPast(r, x.Instr, isTake) {
			return section{}
		}
	}
	frees := slices.Contains(l.frees, x.Instr) // itself
	if !frees && !acquires(l.take, space) &&
		l.p.routes().ReachesPast(take, x.Instr, l.p.fence(event.Order.Acquires, space)) {
		return section{}
	}
	for _, r := range l.frees {
		if !frees && !releases(r, space) &&
			l.p.routes().ReachesPast(x.Instr, r, l.p.fence(event.Order.Releases, space)) {
			return section{}
		}
	}
	at, succeeds, ok := l.taken(x)
	if !ok || !l.p.always(x.Guard, succeeds) {
		return section{}
	}
	return section{held: true, at: at}
}

// taken returns which lock the last execution of the atomic before an access has taken, and the
// condition that it has.
func (l *lock) taken(x *thread.Access) (at, succeeds smt.Term, ok bool) {
	c, t := l.p.c, l.take
	last, ok := l.p.lastOf(t, x.Place.Loops)
	if !ok {
		return 0, 0, false
	}
	succeeds = c.And(last.Apply(t.Guard), c.Eq(last.Apply(t.Result), l.free))
	return last.Apply(t.Offset), succeeds, true
}

// apart is the formula that one lock protects two accesses at different times; false where it is
// not known that a lock protects both.
func (l *lock) apart(a, b *thread.Access, s [2]*smt.Substitution) smt.Term {
	x, y := l.section(a), l.section(b)
	if !x.held || !y.held || !l.handed[spaceOf(a)] || !l.handed[spaceOf(b)] {
		return smt.False
	}
	return l.p.c.Eq(s[0].Apply(x.at), s[1].Apply(y.at))
}

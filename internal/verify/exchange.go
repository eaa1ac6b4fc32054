package verify

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/lockstep/thread"
)

// Strong accesses that nothing orders are no race, but a thread that reads what another stores may
// read the old value: lanes that exchange data through volatile memory without a barrier are wrong
// on every device since sm_70. Such pairs are asked for like races (event.Unordered). Those that
// may belong to a protocol are listed apart from the verdict; the others prevent that the kernel is
// verified. Package engine/run makes the same distinction for the pairs of a run.

// unordered is event.Unordered for accesses that are morally strong where they overlap, of two
// threads.
func unordered(a, b *thread.Access) bool {
	relaxed := a.Order == event.Relaxed || b.Order == event.Relaxed
	return relaxed && !a.Kind.RMW() && !b.Kind.RMW()
}

// excused reports whether two strong accesses may belong to a protocol: two stores, of which one is
// the last; a store of a constant, which may raise a flag; the numbers of a ticket lock; and
// accesses to an array on which the kernel also uses atomics, acquire or release.
func (p *prover) excused(a, b *thread.Access) bool {
	if a.Kind.Writes() && b.Kind.Writes() || slices.ContainsFunc(p.tickets, func(l *ticketLock) bool {
		return l.serving == arrayOf(a, b)
	}) {
		return true
	}
	store := a
	if b.Kind.Writes() {
		store = b
	}
	constant := len(store.Values) > 0
	for _, v := range store.Values {
		_, fixed := p.c.Value(v)
		constant = constant && fixed
	}
	if constant {
		return true
	}
	for i := range p.th.Accesses {
		x := &p.th.Accesses[i]
		protocol := x.Kind.RMW() || x.Order.Strong() && x.Order != event.Relaxed
		if protocol && (x.Object == nil || x.Object == a.Object || x.Object == b.Object) {
			return true
		}
	}
	return false
}

// exchange asks for two strong accesses that nothing orders. Through global memory, threads of
// different warps follow a protocol; lanes of one warp exchange data.
func (p *prover) exchange(x *pair, shared bool) {
	if x.apart || shared {
		p.pose(x)
		return
	}
	lanes, others := *x, *x
	same := p.sameWarp(x.threads)
	lanes.query = append(x.query[:len(x.query):len(x.query)], same)
	others.query = append(x.query[:len(x.query):len(x.query)], p.c.Not(same))
	others.apart = true
	p.pose(&lanes)
	p.pose(&others)
}

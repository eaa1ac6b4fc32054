package race

import (
	"math/bits"

	"heddle/internal/event"
)

// Barriers that are objects in memory (PTX ISA 9.7.13.15). What an arrival releases, a wait for the
// phase of the arrival acquires; other phases are other patterns. A relaxed arrival releases what
// an earlier release fence of its thread has covered, and a relaxed wait gives what it saw to a
// later acquire fence.
//
// Threads of the block of an object are included in every scope of each other: what they release is
// near. Those of other blocks of the cluster arrive there too, but do not wait: what they release
// at the scope of the cluster is far, and a wait at that scope acquires it. An operation without a
// written scope is taken at that of the cluster, unless Options.StrictScopes says otherwise.
//
// Operations are strong accesses of the 8 bytes, which never race with each other; making and
// ending an object are weak writes.

// object is what the detector keeps of an mbarrier.
type object struct {
	open  reached // what the arrivals of the current phase have released
	async reached // the operations that have signalled so far, in this phase or before
	last  reached // what a wait for the last complete phase acquires
	// last, as waits at the scope of the block and of the cluster acquire it
	near, far lesson
	phase     uint64
	slots     []slot
}

// reached is what threads of the block of an object, and those of other blocks, have released.
type reached struct{ near, far *know }

func (r reached) join(s reached) reached {
	return reached{join(r.near, s.near), join(r.far, s.far)}
}

// add adds what a thread of block by releases at a scope, at an object of block home.
func (r *reached) add(k *know, by, home *block, scope event.Scope) {
	if to := r.by(by, home, scope); to != nil {
		*to = join(*to, k)
	}
}

// by returns where it is added; nil if it reaches nobody.
func (r *reached) by(by, home *block, scope event.Scope) **know {
	switch {
	case by == home:
		return &r.near
	case scope >= event.Cluster:
		return &r.far
	}
	return nil
}

// at returns what a thread of the block acquires at a scope.
func (r reached) at(scope event.Scope) *know {
	if scope >= event.Cluster {
		return join(r.near, r.far)
	}
	return r.near
}

// scopeOf returns the scope of an operation on an mbarrier.
func (d *Detector) scopeOf(e *event.MBarrier) event.Scope {
	if e.Implied && !d.opt.StrictScopes {
		return event.Cluster
	}
	return e.Scope
}

// slot is a component for operations that signal the object.
type slot struct {
	component
	value uint32 // of the last operation
	busy  bool
}

// objectSite is how operations on an object appear in reports.
var objectAccess = event.Access{Kind: event.Atomic, Space: event.Shared, Order: event.Relaxed,
	Scope: event.GPU, Size: 8}

// MBarrier handles an operation on an mbarrier.
func (d *Detector) MBarrier(e *event.MBarrier) {
	if d.opt.Execution {
		d.phaseEvent(e)
		return
	}
	w, own := d.warpOf(e.Warp)
	b := d.homeOf(e.Peer, own)
	if e.Op == event.MBarrierComplete {
		if m := b.objects[e.Addr]; m != nil {
			m.last, m.phase, m.open = m.open.join(m.async), e.Phase, reached{}
			m.near, m.far = lesson{k: m.last.at(event.CTA)}, lesson{k: m.last.at(event.Cluster)}
		}
		return
	}
	d.accessObject(w, own, b, e)
	switch e.Op {
	case event.MBarrierInit:
		if b.objects == nil {
			b.objects = make(map[uint64]*object)
		}
		b.objects[e.Addr] = &object{phase: event.NoPhase}
	case event.MBarrierInvalidate:
		delete(b.objects, e.Addr)
	case event.MBarrierArrive:
		if m := b.objects[e.Addr]; m != nil {
			d.arriveAt(w, own, b, m, e)
		}
	case event.MBarrierWait:
		if m := b.objects[e.Addr]; m != nil && e.Phase != event.NoPhase && e.Phase == m.phase {
			d.waitAt(w, m, e)
		}
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// accessObject checks and records the access to the bytes of the object.
func (d *Detector) accessObject(w *warp, b, home *block, e *event.MBarrier) {
	d.copying = objectAccess
	if e.Op == event.MBarrierInit || e.Op == event.MBarrierInvalidate {
		d.copying.Kind, d.copying.Order, d.copying.Scope = event.Write, event.Weak, event.NoScope
	}
	for m := e.Mask; m != 0; m &= m - 1 {
		d.elementAddr[bits.TrailingZeros32(m)&31] = e.Addr
	}
	d.copying.Warp, d.copying.Site, d.copying.Mask, d.copying.Active = e.Warp, e.Site, e.Mask,
		e.Active
	d.copying.Addr, d.copying.Stored = &d.elementAddr, e.Mask
	a := access{Access: &d.copying, w: w, b: b, home: home, mem: d.memoryOf(event.Shared, home),
		write: true}
	a.class = d.learnSite(a.Access)
	if d.clustered && e.Op == event.MBarrierInit {
		// The epoch begins here, so that nobody knows of it, and the thread itself has the order of its
		// program.
		begun := d.initEpoch(w, lowestLane(e.Mask), e.Site)
		a.as, a.special = &begun, true
	}
	d.eachGroup(&a, e.Mask)
	d.meetAsync(&a)
}

// arriveAt adds what the lanes release to the phase.
func (d *Detector) arriveAt(w *warp, b, home *block, m *object, e *event.MBarrier) {
	at := d.scopeOf(e)
	if e.Order.Releases() {
		if to := m.open.by(b, home, at); to != nil {
			*to = d.addClocks(*to, w, b, e.Mask)
		}
		w.tick(e.Mask)
		return
	}
	if w.pat == nil {
		return
	}
	for t := e.Mask & w.pat.fenced; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t)
		for scope := event.CTA; scope <= event.Sys; scope++ {
			m.open.add(w.pat.fence[scope].at(w, b, d.lanesOf(w.id), l), b, home, min(scope, at))
		}
		m.open.add(w.releasedTensor(l), b, home, at)
	}
}

// waitAt gives the lanes what the phase has released.
func (d *Detector) waitAt(w *warp, m *object, e *event.MBarrier) {
	at := d.scopeOf(e)
	if e.Order.Acquires() {
		s := &m.near
		if at >= event.Cluster {
			s = &m.far
		}
		w.teach(e.Mask, s, d.lanesOf(w.id))
		return
	}
	s := seen{block: m.last.near}
	if at >= event.Cluster {
		s.cluster = m.last.far
	}
	if s.none() {
		return
	}
	p := w.patterns()
	for t := e.Mask; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t)
		p.observed[l] = p.observed[l].join(s)
	}
}

// freeSlot returns the number of a slot of the object that no operation is in.
func (d *Detector) freeSlot(m *object) int {
	for i := range m.slots {
		if !m.slots[i].busy {
			return i
		}
	}
	c := component{lane: uint8(len(m.slots) % event.WarpSize)}
	if c.lane == 0 {
		c.warp = d.comps.next()
	} else {
		c.warp = m.slots[len(m.slots)-1].warp
	}
	m.slots = append(m.slots, slot{component: c, value: firstValue})
	return len(m.slots) - 1
}

// operation is an asynchronous operation that has not signalled yet.
type operation struct {
	m    *object
	slot int   // of a bulk copy; -1 of cp.async.mbarrier.arrive
	done *know // what the signal releases
	by   *block
	home *block
}

// Signal adds the accesses of an operation to the phase of its object.
func (d *Detector) Signal(e *event.Signal) {
	if d.opt.Execution {
		d.phaseSignal(e)
		return
	}
	o, ok := d.operations[e.ID]
	if !ok {
		return
	}
	delete(d.operations, e.ID)
	o.m.async.add(o.done, o.by, o.home, event.Cluster)
	if o.slot >= 0 {
		o.m.slots[o.slot].busy = false
	}
}

// CopyArrive makes the copies that the lanes have issued accesses of components, so that threads
// other than the issuer can know of their completion.
func (d *Detector) CopyArrive(e *event.CopyArrive) {
	if d.opt.Execution {
		d.phaseAgent(e.ID, e.Warp, e.Mask, e.Site, e.Addr, 0, e.Pending)
		return
	}
	w, b := d.warpOf(e.Warp)
	m := b.objects[e.Addr]
	if m == nil {
		return
	}
	if w.async == nil {
		w.async = new(copies)
	}
	cs := w.async
	if cs.tracked == 0 {
		cs.tracked = d.comps.nextOf(w.id)
		for l := range cs.value {
			cs.value[l] = firstValue
		}
	}
	var lanes [event.WarpSize]uint32
	for t := e.Mask; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t)
		cs.value[l]++
		lanes[l] = cs.value[l]
		for _, c := range cs.open {
			if c.mask&^c.handed>>l&1 != 0 {
				c.handed |= 1 << l
				d.hand(w, b, c, l, cs.tracked, cs.value[l])
			}
		}
	}
	d.addOperation(e.ID, operation{m: m, slot: -1, by: b, home: b,
		done: (*know)(nil).withLanes(cs.tracked, &lanes)})
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// hand turns the pending entries of one lane's copies into entries of a component.
func (d *Detector) hand(w *warp, b *block, c *copied, l int, to event.Warp, value uint32) {
	was := c.clk[l]
	d.handed = entry{warp: uint32(to), clk: value, mask: 1 << l}
	d.settle(w, b, c, 1<<l)
	d.handed = entry{}
	c.was[l], c.clk[l] = was, value
}

func (d *Detector) addOperation(id uint64, o operation) {
	if d.operations == nil {
		d.operations = make(map[uint64]operation)
	}
	d.operations[id] = o
}

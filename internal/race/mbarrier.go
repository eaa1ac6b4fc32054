package race

import (
	"math/bits"

	"heddle/internal/event"
)

// Barriers that are objects in memory (PTX ISA 9.7.13.15). What an arrival releases, a wait for the
// phase of the arrival acquires; other phases are other patterns. A relaxed arrival releases what
// an earlier release fence of its thread has covered, and a relaxed wait gives what it saw to a
// later acquire fence. All threads that use an object are of its block here, so that every scope
// includes them.
//
// Operations are strong accesses of the 8 bytes, which never race with each other; making and
// ending an object are weak writes.

// object is what the detector keeps of an mbarrier.
type object struct {
	open  *know // what the arrivals of the current phase have released
	async *know // the operations that have signalled so far, in this phase or before
	last  *know // what a wait for the last complete phase acquires
	phase uint64
	slots []slot
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
	w, b := d.warpOf(e.Warp)
	if e.Op == event.MBarrierComplete {
		if m := b.objects[e.Addr]; m != nil {
			m.last, m.phase, m.open = join(m.open, m.async), e.Phase, nil
		}
		return
	}
	d.accessObject(w, b, e)
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
			d.arriveAt(w, b, m, e)
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
func (d *Detector) accessObject(w *warp, b *block, e *event.MBarrier) {
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
	a := access{Access: &d.copying, w: w, b: b, mem: d.memoryOf(event.Shared, b), write: true}
	a.class = d.learnSite(a.Access)
	d.eachGroup(&a, e.Mask)
	d.meetAsync(&a)
}

// arriveAt adds what the lanes release to the phase.
func (d *Detector) arriveAt(w *warp, b *block, m *object, e *event.MBarrier) {
	if e.Order.Releases() {
		m.open = join(m.open, d.clocks(w, b, e.Mask))
		w.tick(e.Mask)
		return
	}
	if w.pat == nil {
		return
	}
	for t := e.Mask & w.pat.fenced; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t)
		for scope := event.CTA; scope <= event.Sys; scope++ {
			m.open = join(m.open, w.pat.fence[scope].at(w, b, d.lanesOf(w.id), l))
		}
	}
}

// waitAt gives the lanes what the phase has released.
func (d *Detector) waitAt(w *warp, m *object, e *event.MBarrier) {
	if e.Order.Acquires() {
		w.learn(e.Mask, m.last, d.lanesOf(w.id))
		return
	}
	if m.last == nil {
		return
	}
	p := w.patterns()
	for t := e.Mask; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t)
		p.observed[l] = p.observed[l].join(seen{block: m.last})
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
	o.m.async = join(o.m.async, o.done)
	if o.slot >= 0 {
		o.m.slots[o.slot].busy = false
	}
}

// CopyArrive makes the copies that the lanes have issued accesses of components, so that threads
// other than the issuer can know of their completion.
func (d *Detector) CopyArrive(e *event.CopyArrive) {
	if d.opt.Execution {
		d.phaseAgent(e.ID, e.Warp, e.Mask, e.Site, e.Addr, e.Pending)
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
	d.addOperation(e.ID, operation{m: m, slot: -1,
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

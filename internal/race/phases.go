package race

import (
	"math/bits"
	"slices"

	"heddle/internal/event"
)

// Phases of mbarriers that are the same in every execution: conditions D1 to D5 of
// docs/theory/phases.md, which take the place of the check of Weft's figure 4 for objects whose
// arrivals count and whose phases wait for bytes. A detector with Options.Execution checks them, on
// one execution. It orders what must happen before what (docs/theory/phases.md: X), which is more
// than what the memory model orders: a relaxed arrival and the issue of a copy count too.
//
//	D1  an operation of phase j+1 comes after all operations of phase j;
//	D2  a phase cannot complete without some of its operations;
//	D3  a wait for phase j comes after the completion of phase j-1, and some operation of phase j+1
//	    comes after the wait, or phase j+1 never completes;
//	D4  the initialization precedes all operations and waits, and these precede the invalidation;
//	D5  an arrival or a complete-tx of phase j comes after each arrival of it with .noComplete.
//
// Each object has a component (component.go) whose value says how many phases are complete. So D1
// and the first part of D3 are one comparison, where the thread has learned of the completion by
// waiting. Else it may still come after each single operation of the phase, as the second of two
// arrivals of one thread does: then all of them are compared. An operation ends an epoch of its
// thread, so that to know the epoch is to come after the operation.
//
// It misses nothing if its search for early completions is within maxFree and maxSums; beyond them
// it reports a phase as one that may complete early.

// PhaseKind is the way in which the phase of an operation may depend on the schedule.
type PhaseKind uint8

const (
	// PhaseJoins: Second, of the phase after that of First, may come before it, and take its place.
	PhaseJoins PhaseKind = iota
	// PhaseEarly: the phase may complete without First.
	PhaseEarly
	// PhaseAhead: First, a wait, may come before the phase ahead of the one that it waits for is
	// complete, and pass.
	PhaseAhead
	// PhaseLaps: the phase after the one for which First waits may complete before First is executed.
	PhaseLaps
	// PhaseNoObject: nothing orders First behind the initialization of the object.
	PhaseNoObject
	// PhaseEnds: nothing orders First before Second, which ends the life of the object.
	PhaseEnds
	// PhasePromise: First, an arrival with .noComplete, may be the one that completes the phase.
	PhasePromise
	// PhaseAllocates: nothing orders Second, an allocation of tensor memory or the end of one, after
	// First, which is another. There is no mbarrier.
	PhaseAllocates
	// PhasePermit: nothing orders Second, by which the block gives up the right to allocate tensor
	// memory, after First, an allocation.
	PhasePermit
)

// PhaseAt is an operation on an mbarrier.
type PhaseAt struct {
	Thread event.Thread
	Site   event.Site
	Agent  bool // by an asynchronous operation that Thread has issued
}

// PhaseError is a finding about the phases of an mbarrier.
type PhaseError struct {
	Kind   PhaseKind
	Block  uint32
	Addr   uint64
	Phase  uint64 // of First; event.NoPhase of a wait for none
	First  PhaseAt
	Second PhaseAt // of PhaseJoins and PhaseEnds
	Count  uint64  // of findings of this kind at the same sites
}

// Limits of the search for a phase that completes early.
const (
	maxFree = 10      // operations that no arrival follows
	maxSums = 1 << 12 // different sums of bytes
)

// phased is an mbarrier in the order of execution.
type phased struct {
	component
	phase  uint64
	open   *know    // what the operations of the current phase know
	done   lesson   // what a wait for the last complete phase learns
	now    []moment // operations of the current phase,
	last   []moment // of the one before,
	before []moment // and of the one before that
	waits  []moment // for the last complete phase
	asks   []moment // whether the current phase is complete
	// promises are arrivals with .noComplete, of one thread each, that no operation which may
	// complete the phase comes after so far
	promises []moment
	// stuck is an expect-tx of it without which, and not with which, it may complete; nil: none
	stuck   *moment
	init    moment
	pending int64 // arrivals that the current phase misses
	expects int64 // arrivals that each phase expects
	tx      tally // of the current phase
}

// tally is what decides whether a phase may complete without some of its operations.
type tally struct {
	bytes   int64 // of operations that some arrival follows
	arrived bool  // there is an arrival, without which the phase does not complete
	// operations of threads that no arrival follows so far: expect-tx, complete-tx, and those by
	// which one arrival more is expected
	free   []share
	agents []share // complete-tx of agents, and arrivals that are expected because of them
}

// share is an operation that changes how many bytes or arrivals a phase misses.
type share struct {
	moment
	bytes  int64 // that the phase misses more because of it; of an agent, that it misses less
	knows  *know // what it comes after
	counts bool  // it is an arrival more that is expected, or that arrival
}

// moment is an operation by lanes of a warp, or by an agent, in one epoch of each lane.
type moment struct {
	w     *warp
	mask  uint32
	epoch laneEpoch
	site  event.Site
	agent bool
	// ends says that it may complete a phase: an arrival, or a complete-tx
	ends bool
}

// moment returns an operation of the current epoch of lanes.
func (w *warp) moment(mask uint32, site event.Site) moment {
	e := laneEpoch{mask: mask, clk: w.own[lowestLane(mask)]}
	for t := mask; t != 0 && !w.even; t &= t - 1 {
		if w.own[lowestLane(t)] != e.clk {
			e = w.epochOf(mask)
			break
		}
	}
	return moment{w: w, mask: mask, epoch: e, site: site}
}

// at returns the first lane of a moment for a report.
func (m *moment) at() PhaseAt { return m.of(lowestLane(m.mask)) }

func (m *moment) of(lane int) PhaseAt {
	return PhaseAt{event.ThreadOf(m.w.id, lane), m.site, m.agent}
}

// knownTo reports whether k knows the operation in all its lanes. What an agent does is known by
// the completion of its phase alone.
func (m *moment) knownTo(k *know) bool {
	if m.agent {
		return false
	}
	if m.epoch.lanes == nil {
		return k.covers(m.w.id, m.mask, m.epoch.clk)
	}
	for t := m.mask; t != 0; t &= t - 1 {
		if l := lowestLane(t); !k.covers(m.w.id, 1<<l, m.epoch.of(l)) {
			return false
		}
	}
	return true
}

// pass is an instruction that orders no execution of other warps.
func (d *Detector) pass(id event.Warp, active uint32) {
	if d.opt.Model == event.Lockstep {
		w, _ := d.warpOf(id)
		w.endInstruction(active, d.lanesOf(id))
	}
}

// value is that of the component when n phases are complete; there is one without any.
func (m *phased) value(n uint64) uint32 { return firstValue + 1 + uint32(n) }

// phaseEvent handles an operation on an mbarrier.
func (d *Detector) phaseEvent(e *event.MBarrier) {
	w, own := d.warpOf(e.Warp)
	b := d.homeOf(e.Peer, own)
	if b != own {
		d.reaches(w, b, e.Mask, e.Site)
	}
	m := b.phases[e.Addr]
	switch {
	case e.Op == event.MBarrierInit:
		d.beginPhases(w, b, e)
	case m == nil:
	case e.Op == event.MBarrierComplete:
		d.completePhase(b, m, e.Addr)
	case e.Op == event.MBarrierInvalidate:
		d.endObject(w, b, m, e)
	case e.Op == event.MBarrierWait:
		d.phaseWait(w, b, m, e)
	case e.Op == event.MBarrierPeek:
		d.phasePeek(w, b, m, e)
	default:
		d.phaseOperation(w, own, b, m, e)
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// beginPhases makes an object.
func (d *Detector) beginPhases(w *warp, b *block, e *event.MBarrier) {
	if b.phases == nil {
		b.phases, b.ended = make(map[uint64]*phased), make(map[uint64]moment)
	}
	m := &phased{component: d.nextObject(), init: w.moment(e.Mask, e.Site),
		expects: int64(e.Count), pending: int64(e.Count)}
	if was, ok := b.ended[e.Addr]; ok && !d.after(w, e.Mask, was.w, &was.epoch) {
		d.phaseError(PhaseEnds, b, e.Addr, 0, m.init.at(), was.at())
	}
	b.phases[e.Addr] = m
	m.done = lesson{k: m.component.value(m.value(0))}
	w.learn(e.Mask, m.done.k, d.lanesOf(w.id))
	w.tick(e.Mask)
}

// nextObject returns a component for an object.
func (d *Detector) nextObject() component {
	if d.objects%event.WarpSize == 0 {
		d.objectsOf = d.comps.next()
	}
	d.objects++
	return component{d.objectsOf, uint8((d.objects - 1) % event.WarpSize)}
}

// phaseOperation is an arrival, or a change of the expected bytes, by threads.
func (d *Detector) phaseOperation(w *warp, own, b *block, m *phased, e *event.MBarrier) {
	o := w.moment(e.Mask, e.Site)
	for t := e.Mask; t != 0; t &= t - 1 {
		l := lowestLane(t)
		d.checkJoin(b, m, e.Addr, w.beyond(l), &o, l)
	}
	switch e.Op {
	case event.MBarrierArrive:
		n := int64(bits.OnesCount32(e.Mask))
		m.pending -= n * int64(e.Count)
		if e.Drop {
			m.expects -= n * int64(e.Count)
		}
		m.tx.bytes += n * e.Bytes
		m.tx.arrived = true
		if len(m.tx.free) > 0 {
			m.tx.arrives(func(o *moment) bool { return d.anyAfter(w, e.Mask, o) })
		}
		m.ends(func(o *moment) bool { return d.anyAfter(w, e.Mask, o) })
		for t := e.Mask; t != 0 && e.NoComplete; t &= t - 1 {
			m.promises = append(m.promises, w.moment(t&-t, e.Site))
		}
	default:
		for t := e.Mask; t != 0; t &= t - 1 {
			l := lowestLane(t)
			f := share{moment: w.moment(1<<l, e.Site), bytes: e.Bytes, knows: d.clock(w, own, l)}
			f.ends = e.Bytes < 0
			m.tx.free = append(m.tx.free, f)
		}
		if e.Bytes < 0 {
			m.ends(func(o *moment) bool { return d.anyAfter(w, e.Mask, o) })
		}
	}
	m.open = d.addClocks(m.open, w, own, e.Mask)
	o.ends = e.Op == event.MBarrierArrive
	m.now = append(m.now, o)
	w.tick(e.Mask)
}

// ends takes note of an operation that may complete the phase, which comes after the operations of
// which after says so.
func (m *phased) ends(after func(*moment) bool) {
	if len(m.promises) > 0 {
		m.promises = slices.DeleteFunc(m.promises, func(o moment) bool { return after(&o) })
	}
}

// checkPromises checks D5 where a phase completes.
func (d *Detector) checkPromises(b *block, m *phased, addr uint64) {
	for i := range m.promises {
		d.phaseError(PhasePromise, b, addr, m.phase, m.promises[i].at(), PhaseAt{})
	}
	m.promises = m.promises[:0]
}

// anyAfter reports whether one of the lanes comes after an operation by one thread.
func (d *Detector) anyAfter(w *warp, mask uint32, o *moment) bool {
	for t := mask; t != 0; t &= t - 1 {
		if d.after(w, t&-t, o.w, &o.epoch) {
			return true
		}
	}
	return false
}

// arrives takes note of an arrival, which comes after the operations of which after says so.
func (t *tally) arrives(after func(*moment) bool) {
	t.free = slices.DeleteFunc(t.free, func(s share) bool {
		if !after(&s.moment) {
			return false
		}
		t.bytes += s.bytes
		return true
	})
}

// checkJoin checks D1 and D4 for one lane of an operation of the current phase. knows is what the
// lane has learned.
func (d *Detector) checkJoin(b *block, m *phased, addr uint64, knows *know, o *moment, l int) {
	d.checkStuck(b, m, addr)
	if m.component.known(knows, m.value(m.phase)) {
		return
	}
	if m.phase == 0 {
		d.phaseError(PhaseNoObject, b, addr, 0, o.of(l), m.init.at())
		return
	}
	if at := d.notAfter(m.last, o, l, knows); at != nil {
		d.phaseError(PhaseJoins, b, addr, m.phase-1, at.at(), o.of(l))
	}
}

// checkStuck checks an object whose last phase is needed to be complete.
func (d *Detector) checkStuck(b *block, m *phased, addr uint64) {
	if m.stuck != nil {
		d.phaseError(PhaseEarly, b, addr, m.phase-1, m.stuck.at(), PhaseAt{})
		m.stuck = nil
	}
}

// notAfter returns an operation of the list that lane l of o need not come after; nil if there is
// none. An agent knows what its thread knew, which is knows.
func (d *Detector) notAfter(list []moment, o *moment, l int, knows *know) *moment {
	for i := range list {
		f := &list[i]
		switch {
		case f.agent:
			return f
		case o.agent:
			if !f.knownTo(knows) {
				return f
			}
		case !d.after(o.w, 1<<l, f.w, &f.epoch):
			return f
		}
	}
	return nil
}

// phaseWait is a wait that has passed.
func (d *Detector) phaseWait(w *warp, b *block, m *phased, e *event.MBarrier) {
	o := w.moment(e.Mask, e.Site)
	for t := e.Mask; t != 0; t &= t - 1 {
		l := lowestLane(t)
		d.checkAhead(w, b, m, e, &o, l)
	}
	if m.phase == e.Phase+1 {
		d.checkStuck(b, m, e.Addr)
		i := slices.IndexFunc(m.waits, func(v moment) bool { return v.w == w && v.mask == e.Mask })
		if i >= 0 {
			m.waits[i] = o // who comes after it comes after the earlier one
		} else {
			m.waits = append(m.waits, o)
		}
	}
	if e.Phase != event.NoPhase {
		w.teach(e.Mask, &m.done, d.lanesOf(w.id))
	}
	w.tick(e.Mask)
}

// phasePeek is a question whose answer does not matter. That for a state must not come two phases
// late.
func (d *Detector) phasePeek(w *warp, b *block, m *phased, e *event.MBarrier) {
	o := w.moment(e.Mask, e.Site)
	for t := e.Mask; t != 0; t &= t - 1 {
		if l := lowestLane(t); !m.component.known(w.beyond(l), m.value(0)) {
			d.phaseError(PhaseNoObject, b, e.Addr, e.Phase, o.of(l), m.init.at())
		} else if e.Token {
			d.checkAhead(w, b, m, e, &o, l)
		}
	}
	switch {
	case !e.State:
	case e.Phase == m.phase:
		m.asks = append(m.asks, o)
	default:
		m.waits = append(m.waits, o)
	}
	w.tick(e.Mask)
}

// checkAhead checks the first part of D3, and D4, for one lane of a wait, before it learns of the
// phase. A state is that of an arrival in the phase, so that the wait comes after it.
func (d *Detector) checkAhead(w *warp, b *block, m *phased, e *event.MBarrier, o *moment, l int) {
	need := m.value(0)
	if e.Phase != event.NoPhase && !e.State {
		need = m.value(e.Phase)
	}
	ahead := m.before
	if e.Phase == m.phase { // of a test that asks before the phase is complete
		ahead = m.last
	}
	switch knows := w.beyond(l); {
	case m.component.known(knows, need):
	case !m.component.known(knows, m.value(0)):
		d.phaseError(PhaseNoObject, b, e.Addr, e.Phase, o.of(l), m.init.at())
	case d.notAfter(ahead, o, l, knows) != nil:
		d.phaseError(PhaseAhead, b, e.Addr, e.Phase, o.of(l), PhaseAt{})
	}
}

// completePhase ends the current phase.
func (d *Detector) completePhase(b *block, m *phased, addr uint64) {
	if s := m.tx.early(m.now, true); s != nil {
		d.phaseError(PhaseEarly, b, addr, m.phase, s.at(), PhaseAt{})
	}
	m.checkLaps(func(v *moment) {
		d.phaseError(PhaseLaps, b, addr, m.phase-1, v.at(), PhaseAt{})
	})
	d.checkPromises(b, m, addr)
	m.stuck = nil
	if s := m.tx.last(); s != nil {
		o := s.moment
		m.stuck = &o
	}
	m.phase++
	m.done = lesson{k: join(m.open, m.component.value(m.value(m.phase)))}
	m.open, m.pending = nil, m.expects
	m.before, m.last, m.now = m.last, m.now, m.before[:0]
	m.waits, m.asks = append(m.waits[:0], m.asks...), m.asks[:0]
	m.tx = tally{free: m.tx.free[:0], agents: m.tx.agents[:0]}
}

// checkLaps checks the second part of D3 when the phase after that of the waits completes.
func (m *phased) checkLaps(report func(*moment)) {
	for i := range m.waits {
		if v := &m.waits[i]; !v.knownTo(m.open) {
			report(v)
		}
	}
}

// endPhases checks the phases that are not complete at the end of a block.
func (d *Detector) endPhases(b *block) {
	for addr, m := range b.phases {
		d.endPhase(b, m, addr)
	}
	b.phases, b.ended = nil, nil
}

// endPhase checks the current phase of an object that nobody uses any more. It has not completed,
// and may do so only with all its operations, if the last of them was an expect-tx here and may
// come earlier. Waits for the phase before it have to come before that.
func (d *Detector) endPhase(b *block, m *phased, addr uint64) {
	if m.pending > 0 || len(m.now) == 0 {
		return
	}
	if s := m.tx.early(m.now, false); s != nil {
		d.phaseError(PhaseEarly, b, addr, m.phase, s.at(), PhaseAt{})
	} else if m.tx.total() == 0 && m.tx.completesWith(m.now, 1<<len(m.tx.free)-1) {
		m.checkLaps(func(v *moment) {
			d.phaseError(PhaseLaps, b, addr, m.phase-1, v.at(), PhaseAt{})
		})
		d.checkPromises(b, m, addr)
	}
}

// endObject invalidates an object, which has to come after all that was done with it. What was done
// in earlier phases precedes the operations of the last one (D1, D3).
func (d *Detector) endObject(w *warp, b *block, m *phased, e *event.MBarrier) {
	o := w.moment(e.Mask, e.Site)
	l := lowestLane(e.Mask)
	at := d.notAfter(m.now, &o, l, nil)
	if at == nil && !m.component.known(w.beyond(l), m.value(m.phase)) {
		if at = d.notAfter(m.last, &o, l, nil); at == nil && m.phase == 0 {
			at = &m.init
		}
	}
	if at == nil {
		at = d.notAfter(m.waits, &o, l, nil)
	}
	if at == nil {
		at = d.notAfter(m.asks, &o, l, nil)
	}
	if at != nil {
		d.phaseError(PhaseEnds, b, e.Addr, m.phase, at.at(), o.at())
	}
	d.endPhase(b, m, e.Addr)
	delete(b.phases, e.Addr)
	b.ended[e.Addr] = o
	w.tick(e.Mask)
}

// agentPhase is an operation that will signal an mbarrier.
type agentPhase struct {
	m      *phased
	o      moment
	knows  *know
	counts bool // the phase expects one arrival more because of it
	home   *block
	// uses are the blocks whose memory it accesses, if it signals an object of another block
	uses []*remoteSignal
}

// phaseAgent begins an agent that will signal an object of the block peer. touches are the blocks
// whose shared memory it accesses besides.
func (d *Detector) phaseAgent(id uint64, at event.Warp, mask uint32, site event.Site, addr uint64,
	peer event.Peer, counts bool, touches ...event.Peer) {
	w, own := d.warpOf(at)
	b := d.homeOf(peer, own)
	m := b.phases[addr]
	if m == nil {
		return
	}
	l := lowestLane(mask)
	a := agentPhase{m: m, o: w.moment(mask, site), knows: d.clock(w, own, l), counts: counts, home: b}
	a.uses = d.issues(w, own, b, m, mask, site, touches)
	if counts {
		d.checkJoin(b, m, addr, w.beyond(l), &a.o, l)
		m.pending++
		m.open = join(m.open, a.knows)
		m.now = append(m.now, a.o)
		m.tx.free = append(m.tx.free, share{moment: a.o, knows: a.knows, counts: true})
	}
	a.o.agent = true
	if d.agents == nil {
		d.agents = make(map[uint64]agentPhase)
	}
	d.agents[id] = a
	w.tick(mask)
}

// phaseSignal is the signal of an agent, which comes after what its thread did before.
func (d *Detector) phaseSignal(e *event.Signal) {
	a, ok := d.agents[e.ID]
	if !ok {
		return
	}
	delete(d.agents, e.ID)
	m, b := a.m, a.home
	for _, s := range a.uses {
		s.phase = m.phase
		s.open--
	}
	d.checkJoin(b, m, e.Addr, a.knows, &a.o, lowestLane(a.o.mask))
	if e.Arrival {
		m.pending--
	}
	if e.Arrival && !a.counts {
		m.tx.arrived, a.o.ends = true, true
		m.tx.arrives(func(o *moment) bool { return o.knownTo(a.knows) })
	} else {
		m.tx.agents = append(m.tx.agents,
			share{moment: a.o, bytes: e.Bytes, knows: a.knows, counts: a.counts})
	}
	m.ends(func(o *moment) bool { return o.knownTo(a.knows) })
	m.open = join(m.open, a.knows)
	m.now = append(m.now, a.o)
}

// early returns an operation without which the phase may complete; nil if there is none. complete
// says that the phase is complete with all its operations.
//
// All arrivals are needed, and so is what precedes them. Of the rest, any set may be missing that
// is closed under what comes later: the phase is early if what is left expects as many bytes as it
// completes, and ends with an arrival or a complete-tx.
func (t *tally) early(now []moment, complete bool) *share {
	balanced := t.total() == 0
	for i := range t.agents {
		if a := &t.agents[i]; a.bytes == 0 && !a.counts && balanced {
			return a
		}
	}
	if complete && len(t.free) == 0 {
		return nil // bytes are missing as long as some complete-tx is
	}
	if len(t.free) > maxFree {
		return &t.free[0]
	}
	all := uint32(1)<<len(t.free) - 1
	for set := uint32(0); set <= all; set++ {
		if set == all && balanced || !t.closed(set) || !t.completesWith(now, set) {
			continue
		}
		for i := range t.free {
			if set>>i&1 == 0 {
				return &t.free[i]
			}
		}
		if len(t.agents) > 0 {
			return &t.agents[0]
		}
	}
	return nil
}

// last returns an expect-tx that may be the last operation of a complete phase, which then stays
// open; nil if there is none.
func (t *tally) last() *share {
	for i := range t.free {
		f := &t.free[i]
		if f.ends || f.counts {
			continue
		}
		knows := func(c share) bool { return f.knownTo(c.knows) }
		ends := func(c share) bool { return c.ends && knows(c) }
		if !slices.ContainsFunc(t.agents, knows) && !slices.ContainsFunc(t.free, ends) {
			return f
		}
	}
	return nil
}

// total is the number of bytes that the phase misses after all its operations.
func (t *tally) total() int64 {
	n := t.bytes
	for i := range t.free {
		n += t.free[i].bytes
	}
	for i := range t.agents {
		n -= t.agents[i].bytes
	}
	return n
}

// closed reports whether a set of the free operations contains all that its members come after.
func (t *tally) closed(set uint32) bool {
	for i := range t.free {
		if set>>i&1 == 0 {
			continue
		}
		for j := range t.free {
			if set>>j&1 == 0 && t.free[j].knownTo(t.free[i].knows) {
				return false
			}
		}
	}
	return true
}

// completesWith reports whether the phase may complete with a set of the free operations, and with
// some of the agents that are possible then. One agent or another is the last one, or else some
// operation of a thread.
func (t *tally) completesWith(now []moment, set uint32) bool {
	want := t.bytes
	for i := range t.free {
		if set>>i&1 != 0 {
			want += t.free[i].bytes
		}
	}
	ends := t.mayEnd(now, set)
	sums := make(map[int64]bool)
	for i := range t.agents {
		a := &t.agents[i]
		possible := true
		for j := range t.free {
			possible = possible && (set>>j&1 != 0 || !t.free[j].knownTo(a.knows))
		}
		switch {
		case !possible:
		case a.counts:
			ends = true
		default:
			more := []int64{a.bytes}
			for n := range sums {
				more = append(more, n+a.bytes)
			}
			for _, n := range more {
				sums[n] = true
			}
		}
		if len(sums) > maxSums {
			return true
		}
	}
	return sums[want] || ends && want == 0
}

// mayEnd reports whether an arrival, or a complete-tx of a set of the free operations, may be the
// last operation of a thread in the phase: no expect-tx of the set comes after it.
func (t *tally) mayEnd(now []moment, set uint32) bool {
	last := func(o *moment) bool {
		for i := range t.free {
			f := &t.free[i]
			if set>>i&1 != 0 && !f.ends && !f.counts && o.knownTo(f.knows) {
				return false
			}
		}
		return true
	}
	for i := range now {
		if o := &now[i]; o.ends && (o.agent || last(o)) && t.arrived {
			return true
		}
	}
	for i := range t.free {
		if f := &t.free[i]; set>>i&1 != 0 && f.ends && last(&f.moment) {
			return true
		}
	}
	return false
}

// phaseKey groups findings.
type phaseKey struct {
	kind          PhaseKind
	first, second event.Site
}

// phaseError records a finding, or counts it.
func (d *Detector) phaseError(kind PhaseKind, b *block, addr, phase uint64, first, second PhaseAt) {
	key := phaseKey{kind, first.Site, second.Site}
	if i, ok := d.phaseIndex[key]; ok {
		d.phaseErrors[i].Count++
		return
	}
	if d.phaseIndex == nil {
		d.phaseIndex = make(map[phaseKey]int)
	}
	d.phaseIndex[key] = len(d.phaseErrors)
	d.phaseErrors = append(d.phaseErrors, PhaseError{Kind: kind, Block: b.id, Addr: addr,
		Phase: phase, First: first, Second: second, Count: 1})
}

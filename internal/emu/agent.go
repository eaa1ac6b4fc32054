package emu

import (
	"heddle/internal/event"
)

// Asynchronous operations that threads other than the issuer can wait for are agents: little
// threads of their block that take a few steps, at times that the seed chooses. A third of the
// seeds hurry them, a third delays them and prefers the youngest, so that phases complete in
// unusual orders. If the threads of the block only wait, an agent takes a step, so that a run never
// waits for one for ever. Agents go on after the thread that issued them has ended.

// The steps of an agent.
const (
	agentIssued  = iota
	agentRead    // its source is read
	agentWritten // its destination is written, so that it can signal
)

// agent is an asynchronous operation that is under way.
type agent struct {
	id   uint64
	in   *inst
	site event.Site
	warp *warp
	lane int
	step int
	bar  *mbarrier // that it signals; nil: a bulk group

	// of a bulk operation
	op       *bulkOp
	home     *block // whose shared memory it writes
	barred   *block // whose mbarrier it signals, if it is another one; nil: home
	to, from uint64
	size     uint64
	tensor   *tensorBox // of a copy of a tensor in a run
	unsized  bool       // a box of a tensor whose size is not known (box.go)
	group    uint32     // of the thread
	data     []byte     // that it has read

	// of tcgen05.commit: it arrives
	commit bool

	// of cp.async.mbarrier.arrive: it waits for the copies of the lane that were issued before
	copies bool
	upTo   uint64
}

// newAgent returns a new agent of lane l.
func (x *exec) newAgent(in *inst, l int) *agent {
	var a *agent
	b := x.block
	if n := len(b.spareAgents); n > 0 {
		a = b.spareAgents[n-1]
		b.spareAgents = b.spareAgents[:n-1]
		*a = agent{data: a.data}
	} else {
		a = new(agent)
	}
	x.agentID++
	a.id, a.in, a.site, a.warp, a.lane, a.home = x.agentID, in, x.site(in), x.warp, l, b
	b.agents = append(b.agents, a)
	return a
}

// freeAgent keeps an agent for reuse.
func (x *exec) freeAgent(a *agent) { x.block.spareAgents = append(x.block.spareAgents, a) }

// runAgents gives the agents of a block their turns. must says that one of them has to go on.
func (x *exec) runAgents(b *block, must bool) {
	for i := len(b.agents) - 1; i >= 0 && x.stop == nil; i-- {
		r, goes := x.random(), false
		switch x.opt.Seed % 3 {
		case 0:
			goes = r%4 == 0
		case 1:
			goes = true
		default:
			goes = r%32 == 0
		}
		if goes {
			x.stepAgent(b, i)
		}
	}
	if must && len(b.agents) > 0 && x.stop == nil {
		i := len(b.agents) - 1
		if x.opt.Seed%3 != 2 {
			i = int(x.random() % uint64(len(b.agents)))
		}
		x.stepAgent(b, i)
	}
}

// drainAgents lets all agents of a block end.
func (x *exec) drainAgents(b *block) {
	x.block = b
	x.dropBoxes(b)
	for len(b.agents) > 0 && x.stop == nil {
		x.stepAgent(b, len(b.agents)-1)
	}
}

// drainSignals lets the agents of a block end that signal an mbarrier. A trace does so before its
// last thread ends, so that their signals are part of it.
func (x *exec) drainSignals(b *block) {
	x.dropBoxes(b)
	for i := len(b.agents) - 1; i >= 0 && x.stop == nil; {
		if b.agents[i].bar == nil {
			i--
			continue
		}
		n := len(b.agents)
		x.stepAgent(b, i)
		if len(b.agents) < n {
			i = len(b.agents) - 1
		}
	}
}

// stepAgent executes the next step of agent i, and removes it if that was the last one.
func (x *exec) stepAgent(b *block, i int) {
	a := b.agents[i]
	if a.unsized {
		return
	}
	x.changed = true
	switch {
	case a.copies:
		if x.copiesUpTo(a.warp, a.lane, a.upTo) {
			x.signal(a)
		}
	case a.commit:
		x.signal(a)
	case a.step == agentIssued:
		x.readBulk(a)
		return
	case a.step == agentRead:
		x.writeBulk(a)
		if a.bar != nil {
			return
		}
	default:
		x.signal(a)
	}
	b.agents = append(b.agents[:i], b.agents[i+1:]...)
	x.freeAgent(a)
}

// counted returns the bytes that an mbarrier counts for an operation.
func (a *agent) counted() uint64 {
	if a.tensor != nil {
		return a.tensor.copied
	}
	return a.size
}

// signal tells the mbarrier of an agent that it is complete.
func (x *exec) signal(a *agent) {
	m, home := a.bar, a.home
	if a.barred != nil {
		home = a.barred
	}
	if home != x.block {
		if home.live == 0 {
			x.agentFails(a, PeerExited, "%s signals %s of %s, whose threads have all ended", a.in.ir.Op(),
				x.barrierText(m.addr), x.blockText(home))
			return
		}
		x.reach(home)
		defer x.comeHome()
	}
	m.agents--
	if a.op != nil {
		m.left = append(m.left, leftover{m.phase, a.site, event.ThreadOf(a.warp.id, a.lane)})
	}
	if x.sink != nil {
		x.evs.signal = event.Signal{ID: a.id, Warp: a.warp.id, Addr: m.addr, Peer: x.peer,
			Arrival: a.copies || a.commit}
		if a.op != nil {
			x.evs.signal.Bytes = int64(a.counted())
		}
		x.sink.Signal(&x.evs.signal)
	}
	if a.copies || a.commit {
		if m.pending == 0 {
			x.agentFails(a, MBarrierExcess, "the arrival of %s: phase %d of %s expects %s, and %s",
				a.in.ir.Op(),
				m.phase, x.barrierText(m.addr), countOf(int(m.expected), "arrival", "arrivals"),
				m.surplus(1))
			return
		}
		m.pending--
		m.arrived++
		m.arrives(a.site, a.warp, a.lane)
	} else {
		if m.tx-int64(a.counted()) < -maxCount {
			x.agentFails(a, MBarrierRange, "the bytes of %s: phase %d of %s would have %d bytes more "+
				"than it expects; the limit is %d", a.in.ir.Op(), m.phase, x.barrierText(m.addr),
				int64(a.counted())-m.tx, maxCount)
			return
		}
		m.tx -= int64(a.counted())
	}
	x.tryPhase(m)
}

// agentFails ends the run because of what an agent does.
func (x *exec) agentFails(a *agent, kind StopKind, format string, args ...any) {
	if x.stop != nil {
		return
	}
	s := x.stopFor(a.site, event.ThreadOf(a.warp.id, a.lane), kind, format, args...)
	x.stop = &s
}

// copiesUpTo performs the late copies of a lane that it issued before number n, and reports whether
// the run goes on.
func (x *exec) copiesUpTo(w *warp, lane int, n uint64) bool {
	cs := &w.copies
	still := cs.late[:0]
	for i := range cs.late {
		s := &cs.late[i]
		if s.number < n && s.mask>>lane&1 != 0 {
			if !x.copyNow(s, 1<<lane) {
				return false
			}
			s.mask &^= 1 << lane
		}
		if s.mask != 0 {
			still = append(still, *s)
		}
	}
	cs.late = still
	return true
}

// Leftover is an asynchronous operation that a block has not waited for when all its threads have
// ended.
type Leftover struct {
	Site   event.Site
	Thread event.Thread
	// Store says that it is a bulk group whose source may still be read; else it is a copy into the
	// shared memory of the block.
	Store bool
	Count uint64
}

// maxLeftovers bounds Result.Leftovers.
const maxLeftovers = 64

// leave records an operation that nobody waited for.
func (x *exec) leave(site event.Site, t event.Thread, store bool) {
	for i := range x.leftovers {
		if o := &x.leftovers[i]; o.Site == site && o.Store == store {
			o.Count++
			return
		}
	}
	if len(x.leftovers) < maxLeftovers {
		x.leftovers = append(x.leftovers, Leftover{site, t, store, 1})
	}
}

// noteLeft records the copies of complete phases that no thread has found complete.
func (x *exec) noteLeft(m *mbarrier) {
	for _, o := range m.left {
		if o.phase >= m.seen {
			x.leave(o.site, o.thread, false)
		}
	}
	m.left = m.left[:0]
}

// noteLeftovers records what a block has not waited for, after its last thread has ended.
func (x *exec) noteLeftovers(b *block) {
	for _, a := range b.agents {
		if a.op != nil && a.bar == nil && a.group >= a.warp.bulk.awaited[a.lane] {
			x.leave(a.site, event.ThreadOf(a.warp.id, a.lane), true)
		}
	}
	x.groupsEnd(b)
	x.tensorLeft(b)
	sink := x.sink
	x.sink = nil // the consumer has seen the last thread end
	x.drainAgents(b)
	x.sink = sink
	for _, addr := range b.liveMBarriers() {
		x.noteLeft(b.mbars[addr])
	}
}

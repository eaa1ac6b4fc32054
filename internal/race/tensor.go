package race

import (
	"math/bits"
	"slices"

	"heddle/internal/event"
)

// Tensor memory and the operations on it (PTX ISA 9.7.16.6). Each of them is an agent, of a thread,
// or of a warp for loads and stores. Nothing else accesses tensor memory, so that operations are
// compared with operations, as rectangles of cells, and there is no shadow. An operation o2 comes
// behind an operation o1 if
//
//   - it begins with the knowledge that o1 is complete: by an mbarrier behind tcgen05.commit, or by
//     tcgen05.wait::ld and wait::st;
//   - or it begins with the knowledge that o1 is ordered (tcgen05.fence::before_thread_sync), or is
//     of the same thread, and the two form a pipeline (9.7.16.6.2), in which operations are
//     executed in the order of their issue.
//
// What an operation begins with is what its thread knew at its last
// tcgen05.fence::after_thread_sync, and the completion of its own loads and stores (9.7.16.6.3,
// 9.7.16.6.4). "The standard memory consistency model synchronization mechanisms also apply"
// (9.7.16.6.3): an operation that is known to be complete through acquire operations alone is
// ordered too, which NoTensorFence says, since the canonical patterns all have the fence there.
//
// Three components of each thread, or warp, say which of its operations are complete in tensor
// memory, which are ordered, and which have read their operands in shared memory. The fences make
// knowledge of the first two travel with relaxed operations as well (9.7.16.6.4.2 to .4): they are
// fences for these components alone.
//
// An operation takes the place of an earlier one that it comes behind and whose cells it writes.

// tensorPiece is what one operation accesses in the tensor memory of a block.
type tensorPiece struct {
	event.TensorRect
	event.TensorOp
	shape   uint64
	small   bool
	done    component
	at      uint32 // value of done
	ordered component
	after   uint32 // value of ordered; 0: the operation is in no pipeline
	thread  event.Thread
	site    uint32
	// behind are operations of other threads that are executed behind this one, so that who knows
	// that one of them is complete knows it of this one
	behind []tensorDone
	// Of an allocation: done is the thread itself, and at is its epoch. Of a pair of blocks, behind
	// has the thread of the other one, which has allocated the cells as well.
	allocates bool
}

// tensorDone says that an operation is complete.
type tensorDone struct {
	component
	value uint32
}

// completeIn reports whether k knows that the operation is complete.
func (p *tensorPiece) completeIn(k *know) bool {
	if p.done.known(k, p.at) {
		return true
	}
	for _, b := range p.behind {
		if b.known(k, b.value) {
			return true
		}
	}
	return false
}

// precedes notes that an operation is executed behind this one.
func (p *tensorPiece) precedes(q *tensorPiece) {
	for i := range p.behind {
		if b := &p.behind[i]; b.component == q.done {
			b.value = min(b.value, q.at)
			return
		}
	}
	p.behind = append(p.behind, tensorDone{q.done, q.at})
}

// tensorWarp is what a warp's threads have issued.
type tensorWarp struct {
	done, ordered, reads event.Warp // components of the lanes
	accesses             event.Warp // of the warp: lane 1 for loads, lane 2 for stores
	// of the warp, lane 0: addresses that allocations have written, which are ordinary writes
	addresses       event.Warp
	allocations     uint32
	commits, fences [event.WarpSize]uint32
	known           [event.WarpSize]*know // of asynchronous operations, when the last one began
	loads, stores   uint32                // waits so far
	begin           [event.WarpSize]*know // what operations begin with
	released        [event.WarpSize]*know // at the last fence::before_thread_sync
}

// tensorOf returns the state of a warp.
func (d *Detector) tensorOf(w *warp) *tensorWarp {
	if w.tensor == nil {
		w.tensor = &tensorWarp{done: d.comps.nextOf(w.id), ordered: d.comps.nextOf(w.id),
			reads: d.comps.nextOf(w.id), accesses: d.comps.nextOf(w.id),
			addresses: d.comps.nextOf(w.id)}
		d.comps.stores = append(d.comps.stores, w.tensor.addresses)
		d.comps.tensor = append(d.comps.tensor, w.tensor.done, w.tensor.ordered, w.tensor.accesses)
	}
	return w.tensor
}

// ofTensor returns what k knows of operations on tensor memory.
func (c *components) ofTensor(k *know) *know { return k.only(c.tensor) }

// Tensor checks and records an operation.
func (d *Detector) Tensor(e *event.TensorAgent) {
	warpWide := e.Op == event.TensorLoad || e.Op == event.TensorStore
	if d.opt.Execution {
		if warpWide {
			d.meetWarp(e.Warp, e.Mask)
		} else {
			d.pass(e.Warp, e.Active)
		}
		return
	}
	w, b := d.warpOf(e.Warp)
	t, l := d.tensorOf(w), lowestLane(e.Mask)
	p := tensorPiece{TensorOp: e.Op, shape: e.Shape, small: e.Small,
		thread: event.ThreadOf(e.Warp, l), site: uint32(e.Site)}
	s := tensorStart{w: w, b: b, lane: l}
	switch {
	case e.Op == event.TensorLoad:
		p.done, p.at = component{t.accesses, 1}, firstValue+t.loads+1
	case e.Op == event.TensorStore:
		p.done, p.at = component{t.accesses, 2}, firstValue+t.stores+1
	default:
		p.done, p.at = component{t.done, uint8(l)}, firstValue+t.commits[l]+1
		p.ordered, p.after = component{t.ordered, uint8(l)}, firstValue+t.fences[l]+1
	}
	d.learnSite(&event.Access{Site: e.Site, Kind: event.Read, Proxy: event.AsyncProxy, Size: 16})
	d.sites[e.Site].async, d.sites[e.Site].to = true, event.Shared
	if warpWide {
		s.now = d.clocks(w, b, e.Mask)
		for m := e.Mask; m != 0; m &= m - 1 {
			s.begin = join(s.begin, t.begin[bits.TrailingZeros32(m)])
		}
	} else {
		s.now, s.begin = d.clock(w, b, l), t.begin[l]
		t.known[l] = w.beyond(l).from(d.comps.first, d.comps.stores)
	}
	for _, r := range e.Rects {
		p.TensorRect = r
		d.addTensor(&s, p)
	}
	if e.Shared != nil {
		d.readOperands(e, &s, component{t.reads, uint8(l)}, firstValue+t.commits[l]+1)
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// readOperands checks and records what an operation reads of shared memory. It begins that with
// what its thread knows now: the fences are about tensor memory.
func (d *Detector) readOperands(e *event.TensorAgent, s *tensorStart, c component, value uint32) {
	for i, home := range []*block{s.b, d.homeOf(e.Peer, s.b)} {
		if i == 1 && e.Peer == 0 {
			return
		}
		p := piece{thread: event.ThreadOf(e.Warp, s.lane), site: uint32(e.Site), component: c,
			value: value}
		start := agentStart{w: s.w, b: s.b, lane: s.lane, knows: s.now, home: home}
		for i := range e.Shared.Parts {
			part := &e.Shared.Parts[i]
			p.lo, p.hi = part.Bounds()
			p.chunks = &part.Chunks
			d.addChunks(&start, p, part)
		}
	}
}

// tensorStart is the beginning of an operation, or an allocation or the end of one.
type tensorStart struct {
	w          *warp
	b          *block
	lane       int
	now, begin *know
	// synchronous ones need no fence
	synchronous bool
}

// addTensor checks and records a piece of an operation.
func (d *Detector) addTensor(s *tensorStart, p tensorPiece) {
	home := d.homeOf(p.Peer, s.b)
	keep := home.tensor[:0]
	for i := range home.tensor {
		old := home.tensor[i]
		ordered := d.meetTensor(s, home, &old, &p)
		switch {
		case ordered && p.Write && p.Covers(&old.TensorRect) && !old.allocates:
			continue
		case old.done == p.done && old.site == p.site && old.TensorRect == p.TensorRect &&
			old.shape == p.shape:
			continue // an earlier one of the same kind, for which a later one speaks
		}
		keep = append(keep, old)
	}
	clear(home.tensor[len(keep):])
	home.tensor = append(keep, p)
}

// meetTensor checks an operation against an earlier one, and reports whether it comes behind it.
func (d *Detector) meetTensor(s *tensorStart, home *block, old, p *tensorPiece) bool {
	lane, column, both := old.Meets(&p.TensorRect)
	conflict := both && (old.Write || p.Write)
	switch {
	case old.allocates:
		ordered := old.completeIn(s.now)
		if conflict && !ordered {
			d.tensorRace(s, home, old, p, lane, column, Unordered)
		}
		return ordered
	case old.completeIn(s.begin):
		return true
	case old.after != 0 && old.pipelined(p) && old.thread == p.thread:
		return true
	case old.after != 0 && old.pipelined(p) && old.ordered.known(s.begin, old.after):
		old.precedes(p)
		return true
	case old.completeIn(s.now):
		if conflict && !s.synchronous {
			d.tensorRace(s, home, old, p, lane, column, NoTensorFence)
		}
		return true
	}
	if conflict {
		d.tensorRace(s, home, old, p, lane, column, NotWaited)
	}
	return false
}

// pipelined reports whether an operation and a later one of the same thread are executed in this
// order (PTX ISA 9.7.16.6.2).
func (p *tensorPiece) pipelined(q *tensorPiece) bool {
	switch {
	case q.allocates || q.after == 0:
		return false
	case q.TensorOp == event.TensorMultiply:
		return p.TensorOp != event.TensorMultiply || p.shape == q.shape
	case q.TensorOp == event.TensorCopy:
		return p.TensorOp == event.TensorShift && q.small
	case q.TensorOp == event.TensorShift:
		return p.TensorOp == event.TensorMultiply
	}
	return false
}

// kind is that of the access.
func (p *tensorPiece) kind() event.Kind {
	if p.Write {
		return event.Write
	}
	return event.Read
}

// tensorRace records a race at one cell.
func (d *Detector) tensorRace(s *tensorStart, home *block, old, p *tensorPiece, lane, column uint16,
	cause Cause) {
	at := uint64(lane)<<16 | uint64(column)
	d.copying = event.Access{Warp: s.w.id, Site: event.Site(p.site), Mask: 1 << s.lane,
		Kind:  p.kind(),
		Space: event.Tensor, Size: 1, Addr: &d.elementAddr}
	a := access{Access: &d.copying, w: s.w, b: s.b, home: home, write: p.Write, special: true,
		bulk: true}
	d.firstTensor = old
	d.agentRace(&a, old.site, old.thread, at, cause)
	d.firstTensor = nil
}

// TensorSync handles what is not asynchronous.
func (d *Detector) TensorSync(e *event.TensorSync) {
	if d.opt.Execution {
		d.orderTensor(e)
		return
	}
	w, b := d.warpOf(e.Warp)
	t, all := d.tensorOf(w), d.lanesOf(e.Warp)
	switch e.Step {
	case event.TensorLoaded:
		t.loads++
		d.awaited(w, t, e.Mask, component{t.accesses, 1}.value(firstValue+t.loads))
	case event.TensorStored:
		t.stores++
		d.awaited(w, t, e.Mask, component{t.accesses, 2}.value(firstValue+t.stores))
	case event.TensorBefore:
		p := w.patterns()
		for m := e.Mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			t.fences[l]++
			w.learn(1<<l, component{t.ordered, uint8(l)}.value(firstValue+t.fences[l]), all)
			t.released[l] = d.comps.ofTensor(w.beyond(l))
			p.fenced |= 1 << l
		}
	case event.TensorAfter:
		for m := e.Mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if w.pat != nil {
				w.learn(1<<l, d.comps.ofTensor(w.pat.observed[l].at(event.Sys)), all)
			}
			t.begin[l] = join(t.begin[l], d.comps.ofTensor(w.beyond(l)))
		}
	case event.TensorCommit:
		d.commitTensor(w, b, t, e)
	case event.TensorAllocate:
		w.tick(e.Mask)
		l := lowestLane(e.Mask)
		s := tensorStart{w: w, b: b, lane: l, now: d.clocks(w, b, e.Mask), synchronous: true}
		d.addTensor(&s, tensorPiece{TensorRect: e.Rect(), done: component{w.id, uint8(l)}, at: w.own[l],
			thread: event.ThreadOf(e.Warp, l), site: uint32(e.Site), allocates: true})
		if e.Pair != 0 && !e.More {
			allocatedTogether(b, d.peerOf(e.Pair, b))
		}
		d.allocated(w, b, t, e)
	case event.TensorFree:
		d.freeTensor(w, b, e)
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, all)
	}
}

// releasedTensor returns what a lane knew of tensor memory at its last fence::before_thread_sync,
// which its relaxed operations behind it release.
func (w *warp) releasedTensor(l int) *know {
	if w.tensor == nil {
		return nil
	}
	return w.tensor.released[l]
}

// awaited gives the lanes that some of their operations are complete, and the operations that they
// issue begin with it.
func (d *Detector) awaited(w *warp, t *tensorWarp, mask uint32, k *know) {
	w.learn(mask, k, d.lanesOf(w.id))
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		t.begin[l] = join(t.begin[l], k)
	}
}

// commitTensor makes an mbarrier track what the thread has issued. The commit is a
// fence::before_thread_sync as well (9.7.16.6.4.2).
func (d *Detector) commitTensor(w *warp, b *block, t *tensorWarp, e *event.TensorSync) {
	l := lowestLane(e.Mask)
	home := d.homeOf(e.Peer, b)
	m := home.objects[e.Addr]
	if m == nil {
		return
	}
	value := firstValue + t.commits[l] + 1
	done := join(component{t.done, uint8(l)}.value(value), component{t.reads, uint8(l)}.value(value))
	// What an operation has found complete when it began is complete when it is.
	done = join(done, t.known[l])
	d.addOperation(e.ID, operation{m: m, slot: -1, by: b, home: home, done: done})
	if !e.More {
		t.commits[l]++
	}
}

// allocated records that the address of an allocation is written. Loads by any lane of the warp
// come behind it (9.7.16.6.1: "same-address ordering"), and nothing else does because of it: the
// write is of a component that all lanes know.
func (d *Detector) allocated(w *warp, b *block, t *tensorWarp, e *event.TensorSync) {
	t.allocations++
	c := component{t.addresses, 0}
	d.elementAddr[0] = e.Addr
	d.copying = event.Access{Warp: e.Warp, Site: e.Site, Mask: 1, Active: e.Active, Kind: event.Write,
		Space: event.Shared, Size: 4, Addr: &d.elementAddr, Stored: 1}
	begun := entry{uint32(c.warp), firstValue + t.allocations, 1, uint32(e.Site)}
	a := access{Access: &d.copying, w: w, b: b, home: b, mem: d.memoryOf(event.Shared, b),
		write: true,
		as:    &begun, special: true}
	a.class = d.learnSite(a.Access)
	d.eachGroup(&a, 1)
	d.meetAsync(&a)
	w.learn(e.Mask, c.value(begun.clk), d.lanesOf(w.id))
}

// allocatedTogether makes the last allocations of two blocks one, which each of the two threads has
// performed: who knows that one of them has, knows it of both.
func allocatedTogether(a, b *block) {
	p, q := &a.tensor[len(a.tensor)-1], &b.tensor[len(b.tensor)-1]
	p.behind = append(p.behind, tensorDone{q.done, q.at})
	q.behind = append(q.behind, tensorDone{p.done, p.at})
}

// freeTensor checks the end of an allocation, which comes behind all accesses to it, and forgets
// them. Of a pair, each of the two warps comes behind all accesses to both blocks: they "must
// synchronize Tensor Memory accesses before attempting" it (PTX ISA 9.7.16.7.1).
func (d *Detector) freeTensor(w *warp, b *block, e *event.TensorSync) {
	d.learnSite(&event.Access{Site: e.Site, Kind: event.Write, Size: 4})
	l := lowestLane(e.Mask)
	s := tensorStart{w: w, b: b, lane: l, now: d.clocks(w, b, e.Mask), synchronous: true}
	p := tensorPiece{TensorRect: e.Rect(), thread: event.ThreadOf(e.Warp, l), site: uint32(e.Site)}
	blocks := []*block{b}
	if e.Pair != 0 {
		blocks = append(blocks, d.peerOf(e.Pair, b))
	}
	for _, home := range blocks {
		for i := range home.tensor {
			d.meetTensor(&s, home, &home.tensor[i], &p)
		}
		if !e.More {
			home.tensor = slices.DeleteFunc(home.tensor, func(old tensorPiece) bool {
				return p.Covers(&old.TensorRect)
			})
		}
	}
}

// orderTensor is TensorSync in the order of execution.
func (d *Detector) orderTensor(e *event.TensorSync) {
	switch e.Step {
	case event.TensorBefore, event.TensorAfter:
		d.pass(e.Warp, e.Active)
	case event.TensorCommit:
		d.phaseAgent(e.ID, e.Warp, e.Mask, e.Site, e.Addr, e.Peer, false)
		d.pass(e.Warp, e.Active)
	case event.TensorAllocate, event.TensorFree, event.TensorPermit:
		w, b := d.warpOf(e.Warp)
		if e.Pair != 0 && e.Step == event.TensorAllocate {
			// "the issuing warp must make sure that peer CTA is launched" (9.7.16.7.1)
			d.started(w, d.peerOf(e.Pair, b), 1<<lowestLane(e.Mask), e.Site, false)
		}
		d.orderAllocation(w, b, e)
		d.meetWarp(e.Warp, e.Mask)
	default:
		d.meetWarp(e.Warp, e.Mask)
	}
}

// allocation is an allocation of tensor memory, the end of one, or the end of the right to allocate,
// in the order of execution.
type allocation struct {
	moment
	step event.TensorStep
}

// orderAllocation checks that an allocation, or the end of one, comes behind those before it in all
// executions. They decide which columns are free, and of a pair which operation of the other block
// is meant. Who gives up the right to allocate comes behind all allocations: it is illegal to
// allocate "after any of its constituent threads execute" that (PTX ISA 9.7.16.7.1). In one block,
// only an allocation and something else matter to each other.
func (d *Detector) orderAllocation(w *warp, b *block, e *event.TensorSync) {
	a := allocation{w.moment(e.Mask, e.Site), e.Step}
	knows := d.clocks(w, b, e.Mask)
	for i := range b.allocations {
		o := &b.allocations[i]
		if o.knownTo(knows) {
			continue
		}
		switch {
		case e.Step == event.TensorPermit && o.step == event.TensorAllocate:
			d.phaseError(PhasePermit, b, 0, event.NoPhase, o.at(), a.at())
		case e.Pair != 0 || o.step == event.TensorAllocate || a.step == event.TensorAllocate:
			d.phaseError(PhaseAllocates, b, 0, event.NoPhase, o.at(), a.at())
		}
	}
	b.allocations = append(b.allocations, a)
	w.tick(e.Mask)
}

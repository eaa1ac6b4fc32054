package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Barriers that are objects in shared memory, PTX ISA 9.7.13.15. The state of an object is kept
// beside the 8 bytes that it occupies, whose contents are opaque; other accesses to them are
// errors.
//
// A wait never blocks here: mbarrier.try_wait "may suspend" a thread and may return False after a
// time, so that a loop around it polls, as one around test_wait does. Lanes of one instruction
// operate one after the other, in lane order.

// maxCount is the limit of the counts of an object, and of its bytes in both directions (PTX ISA
// 9.7.13.15.2).
const maxCount = 1<<20 - 1

// mbarOp is a decoded operation: s[0] is the address, s[1] the count, the bytes, the state or the
// parity.
type mbarOp struct {
	use     isa.BarrierUse
	operand bool // s[1] is there
	waits   bool // a test in a trace that is part of a wait
	token   bool // its answer may decide whether a wait is needed
	peeks   bool // its result depends on the schedule, and is unknown in a trace
	at      *memOp
}

// mbarrier is a live object.
type mbarrier struct {
	addr     uint64
	serial   uint64 // to recognize states of other objects
	phase    uint64 // complete phases
	expected uint32
	pending  uint32
	tx       int64  // bytes that are expected and have not arrived
	seen     uint64 // phases that some thread has found complete
	arrived  uint32 // arrivals in the phase
	// who arrived in the phase, and in the one before
	here, before []arrival
	agents       int // asynchronous operations that will signal it
	left         []leftover
}

// leftover is a copy whose completion no thread has found so far.
type leftover struct {
	phase  uint64
	site   event.Site
	thread event.Thread
}

// mwait is what the fragment polls.
type mwait struct {
	site  event.Site
	addr  uint64
	phase uint64
}

// States are numbers that name the object and the phase, and the count of .noComplete. The ISA
// leaves them opaque (9.7.13.15.13).
const (
	stateCount    = 20 // bits
	statePhase    = 23
	stateQueried  = 1 << 63 // made by .noComplete
	statePhaseAll = 1<<statePhase - 1
)

// stateOf returns the state of the object before an arrival.
func (m *mbarrier) stateOf(pending uint32, query bool) uint64 {
	s := uint64(pending) | m.phase&statePhaseAll<<stateCount |
		m.serial<<(stateCount+statePhase)&^stateQueried
	if query {
		s |= stateQueried
	}
	return s
}

// mbarrierInstr decodes an operation on an mbarrier.
func (c *compiler) mbarrierInstr(in *ir.Instr) error {
	if c.slice == nil && c.p.track {
		return fmt.Errorf("%s is not supported in a run with unknown values", opcodeText(in))
	}
	op := &mbarOp{at: &memOp{space: in.Space, wide: 8}}
	op.use, _ = in.Desc.Barrier(len(in.Src))
	op.waits = c.slice != nil && c.slice.Retries(c.fn)[in.Index]
	d := inst{guard: c.guard(), run: runMBarrier, misc: &miscOp{mbar: op}, d: [2]int32{-1, -1},
		pd: [2]int32{-1, -1}}
	if op.use.Kind == isa.BarrierCount {
		d.run = runPendingCount
		s, err := c.srcOf(in.Src[0], isa.B64)
		if err != nil {
			return err
		}
		d.s[0], d.sources = s, 1
		return c.emitState(in, d)
	}
	if op.at.space != event.Shared {
		op.at.space = event.Generic
	}
	op.at.remote = c.clustered() && op.use.Remote
	if err := c.address(in.Src[0], &d, op.at); err != nil {
		return err
	}
	d.sources = 1
	if len(in.Src) > 1 {
		t := isa.U32
		if op.use.Kind == isa.BarrierTest && !op.use.Parity {
			t = isa.B64
		}
		s, err := c.srcOf(in.Src[1], t)
		if err != nil {
			return err
		}
		d.s[1], d.sources, op.operand = s, 2, true
	}
	return c.emitState(in, d)
}

// emitState completes an instruction with its destination, if it has one.
func (c *compiler) emitState(in *ir.Instr, d inst) error {
	for _, o := range in.Dst {
		switch {
		case o.Kind == ir.None:
		case c.isPred(o):
			d.pd[0] = c.fc.slots[o.Reg]
		case o.Kind == ir.Register:
			d.d[0] = c.fc.slots[o.Reg]
		default:
			return fmt.Errorf("%s: destination of kind %d is not supported", opcodeText(in), o.Kind)
		}
	}
	c.emit(d)
	return nil
}

// runMBarrier executes an operation, lane by lane. Lanes that do the same to one object in one
// phase are one event.
func runMBarrier(x *exec, in *inst) {
	op, kind := in.misc.mbar, in.misc.mbar.use.Kind
	if op.waits && x.park(in) {
		return
	}
	before := x.evs.tested
	e := &x.evs.mbar
	e.Mask = 0
	for t := x.m; t != 0 && x.stop == nil; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		b, addr, ok := x.sharedAddress(in, &in.s[0], op.at, l)
		if !ok {
			return
		}
		ok = x.operate(in, l, b, addr)
		if x.stop != nil {
			x.stop.Object = &ObjectAt{b.id, addr}
		}
		if !ok {
			return
		}
	}
	x.flushMBarrier()
	// A test that does not pass decides nothing: a thread that waits makes any number of them.
	if kind != isa.BarrierTest || x.evs.tested != before {
		x.point()
	}
}

// operate executes an operation of lane l on the mbarrier at an address of block b. It reports
// false if there is none.
func (x *exec) operate(in *inst, l int, b *block, addr uint64) bool {
	kind := in.misc.mbar.use.Kind
	if kind == isa.BarrierInit {
		x.initMBarrier(in, l, addr)
		return true
	}
	if b != x.block {
		x.reach(b)
	}
	m := x.liveMBarrier(in, l, addr)
	if m == nil {
		return false
	}
	switch kind {
	case isa.BarrierInvalid:
		x.invalMBarrier(in, l, m)
	case isa.BarrierExpect, isa.BarrierComplete:
		x.countMBarrier(in, l, m)
	case isa.BarrierArrive, isa.BarrierDrop:
		x.arriveMBarrier(in, l, m)
	case isa.BarrierCopies:
		x.arriveBehindCopies(in, l, m)
	case isa.BarrierTest:
		x.testMBarrier(in, l, m)
	}
	if x.own != nil {
		x.comeHome()
	}
	return true
}

// sharedAddress returns the offset of lane l's operand in shared memory, a multiple of 8 with 8
// bytes behind it, and the block whose memory it is. It reports false if there is no such memory,
// or if the instruction does not reach it, which has been recorded.
func (x *exec) sharedAddress(in *inst, s *src, at *memOp, l int) (*block, uint64, bool) {
	a := (x.src(s)[l] + at.off) & at.amask
	if at.space == event.Generic || at.space == event.NoSpace {
		sp := &x.prog.space
		if a>>sp.shift != 0 || sp.windowOf(a) != sharedWindow {
			x.fail(in, OutOfBounds, l, "%s at address %#x, which is not in shared memory", in.ir.Op(), a)
			return nil, 0, false
		}
		a -= sp.windowBase(sharedWindow)
	}
	b, off := x.home(a)
	if b == nil {
		b = x.block
	} else {
		a = off
	}
	switch size := uint64(len(x.block.shared)); {
	case a >= size || at.wide > size-a:
		x.fail(in, OutOfBounds, l, "%s at %s, outside of the %d bytes of shared memory that the "+
			"block has", in.ir.Op(), x.prog.nearShared(a, at.wide).text, size)
	case a%at.wide != 0:
		x.fail(in, Misaligned, l, "%s at shared address %#x, which is not a multiple of %d",
			in.ir.Op(), a,
			at.wide)
	case b != x.block && !at.remote:
		x.fail(in, RemoteAddress, l, "%s at %s of %s: it reaches objects of its own block only",
			in.ir.Op(), x.prog.nearShared(a, at.wide).text, x.blockText(b))
	case b != x.block && b.live == 0:
		x.peerEnded(in, l, b)
	default:
		return b, a, true
	}
	return nil, 0, false
}

// barrierText names an object in messages.
func (x *exec) barrierText(addr uint64) string {
	text := fmt.Sprintf("the mbarrier %s (shared address %#x)", x.prog.nearShared(addr, 8).text, addr)
	if x.own != nil {
		text += " of " + x.blockText(x.block)
	}
	return text
}

// liveMBarrier returns the object at an address; nil if there is none, which ends the run.
func (x *exec) liveMBarrier(in *inst, l int, addr uint64) *mbarrier {
	if m := x.block.mbars[addr]; m != nil {
		return m
	}
	x.fail(in, MBarrierUninitialized, l, "%s on %s, which has not been initialized", in.ir.Op(),
		x.barrierText(addr))
	return nil
}

// serialOf returns the number of a new object, which depends on its address and on how many there
// were before, but not on the order in which others are made.
func (b *block) serialOf(addr uint64) uint64 { return addr>>3<<4 | b.ended[addr]&15 }

// initMBarrier makes an object.
func (x *exec) initMBarrier(in *inst, l int, addr uint64) {
	b := x.block
	n := uint32(x.src(&in.s[1])[l])
	switch {
	case n == 0 || n > maxCount:
		x.fail(in, MBarrierRange, l, "%s of %s with a count of %d; a count is 1 to %d (PTX ISA "+
			"9.7.13.15.2)", in.ir.Op(), x.barrierText(addr), n, maxCount)
		return
	case b.mbars[addr] != nil:
		x.fail(in, MBarrierReinit, l, "%s of %s, which is in use: it was initialized before and not "+
			"invalidated", in.ir.Op(), x.barrierText(addr))
		return
	}
	if len(b.mbars) == 0 {
		b.mbarsAt, b.mbarsEnd = addr, addr+8
	}
	b.mbarsAt, b.mbarsEnd = min(b.mbarsAt, addr), max(b.mbarsEnd, addr+8)
	if b.mbars == nil {
		b.mbars = make(map[uint64]*mbarrier)
	}
	b.mbars[addr] = &mbarrier{addr: addr, serial: b.serialOf(addr), expected: n, pending: n}
	x.wrote, x.changed = true, true
	x.noteMBarrier(in, l, event.MBarrier{Op: event.MBarrierInit, Addr: addr, Count: n})
}

// invalMBarrier ends the life of an object.
func (x *exec) invalMBarrier(in *inst, l int, m *mbarrier) {
	if m.agents > 0 {
		x.fail(in, MBarrierInvalEarly, l, "%s of %s while %s that it tracks", in.ir.Op(),
			x.barrierText(m.addr), countOf(m.agents, "asynchronous operation is under way",
				"asynchronous operations are under way"))
		return
	}
	x.noteLeft(m)
	delete(x.block.mbars, m.addr)
	if x.block.ended == nil {
		x.block.ended = make(map[uint64]uint64)
	}
	x.block.ended[m.addr]++
	x.wrote, x.changed = true, true
	x.noteMBarrier(in, l, event.MBarrier{Op: event.MBarrierInvalidate, Addr: m.addr, Phase: m.phase})
}

// countMBarrier is expect_tx or complete_tx.
func (x *exec) countMBarrier(in *inst, l int, m *mbarrier) {
	n := int64(uint32(x.src(&in.s[1])[l]))
	if in.misc.mbar.use.Kind == isa.BarrierComplete {
		n = -n
	}
	x.noteMBarrier(in, l, event.MBarrier{Op: event.MBarrierCount, Addr: m.addr, Phase: m.phase,
		Bytes: n})
	if x.addBytes(in, l, m, n) && in.misc.mbar.use.Kind == isa.BarrierComplete {
		x.tryPhase(m)
	}
}

// addBytes changes the number of bytes that the phase expects, and reports whether the limits allow
// it.
func (x *exec) addBytes(in *inst, l int, m *mbarrier, n int64) bool {
	if t := m.tx + n; t > maxCount || t < -maxCount || n > maxCount || n < -maxCount {
		x.fail(in, MBarrierRange, l, "%s: the bytes that phase %d of %s expects would be %d; the "+
			"limit is "+
			"%d in either direction (PTX ISA 9.7.13.15.2)", in.ir.Op(), m.phase, x.barrierText(m.addr), t,
			maxCount)
		return false
	}
	m.tx += n
	x.wrote, x.changed = true, true
	return true
}

// arriveMBarrier is arrive or arrive_drop by one lane.
func (x *exec) arriveMBarrier(in *inst, l int, m *mbarrier) {
	use := &in.misc.mbar.use
	n := uint32(1)
	if in.misc.mbar.operand && use.Bytes < 0 {
		n = uint32(x.src(&in.s[1])[l])
	}
	if n == 0 || n > maxCount {
		x.fail(in, MBarrierRange, l, "%s on %s with a count of %d; a count is 1 to %d", in.ir.Op(),
			x.barrierText(m.addr), n, maxCount)
		return
	}
	bytes := int64(0)
	if use.Bytes >= 0 {
		bytes = int64(uint32(x.src(&in.s[1])[l]))
		if !x.addBytes(in, l, m, bytes) {
			return
		}
	}
	if use.Kind == isa.BarrierDrop {
		if n > m.expected {
			x.fail(in, MBarrierRange, l, "%s on %s drops %d of %d expected arrivals", in.ir.Op(),
				x.barrierText(m.addr), n, m.expected)
			return
		}
		m.expected -= n
	}
	pending := m.pending
	if x.prog.traced { // it depends on the schedule
		pending = 0
	}
	state := m.stateOf(pending, !use.Completes)
	if !use.Completes && n == m.pending && m.tx == 0 {
		x.fail(in, MBarrierRange, l, "%s completes phase %d of %s; .noComplete promises that it does "+
			"not (PTX ISA 9.7.13.15.13)", in.ir.Op(), m.phase, x.barrierText(m.addr))
		return
	}
	x.noteMBarrier(in, l, event.MBarrier{Op: event.MBarrierArrive, Addr: m.addr, Phase: m.phase,
		Count: n, Drop: use.Kind == isa.BarrierDrop, NoComplete: !use.Completes, Bytes: bytes})
	if x.arriveOn(in, l, m, n) && in.d[0] >= 0 {
		x.regs[in.d[0]][l] = state
	}
}

// arriveOn counts arrivals. It reports false if the phase has fewer left, which ends the run.
func (x *exec) arriveOn(in *inst, l int, m *mbarrier, n uint32) bool {
	if n > m.pending {
		x.fail(in, MBarrierExcess, l, "%s: phase %d of %s expects %s, and %s", in.ir.Op(), m.phase,
			x.barrierText(m.addr), countOf(int(m.expected), "arrival", "arrivals"), m.surplus(n))
		return false
	}
	m.pending -= n
	m.arrived += n
	m.arrives(x.site(in), x.warp, l)
	x.wrote, x.changed = true, true
	x.tryPhase(m)
	return true
}

// surplus says what is wrong with n more arrivals.
func (m *mbarrier) surplus(n uint32) string {
	if m.pending == 0 && m.tx != 0 {
		return fmt.Sprintf("all have come while %s; this one is too many", m.bytesText())
	}
	return fmt.Sprintf("%d have come; %d more are too many", m.arrived, n)
}

// bytesText says how many bytes the phase still expects.
func (m *mbarrier) bytesText() string {
	if m.tx < 0 {
		return fmt.Sprintf("%d bytes more have arrived than it expects", -m.tx)
	}
	return fmt.Sprintf("%d bytes are missing", m.tx)
}

// tryPhase completes the phase if neither arrivals nor bytes are missing (PTX ISA 9.7.13.15.6).
func (x *exec) tryPhase(m *mbarrier) {
	if m.pending != 0 || m.tx != 0 {
		return
	}
	done := m.phase
	m.phase++
	m.pending, m.arrived = m.expected, 0
	m.before, m.here = m.here, m.before[:0]
	x.resume()
	x.unpark(m.addr)
	if x.sink != nil {
		x.flushMBarrier()
		x.evs.phase = event.MBarrier{Warp: x.block.warps[0].id, Op: event.MBarrierComplete,
			Addr:  m.addr,
			Phase: done}
		x.sink.MBarrier(&x.evs.phase)
	}
}

// testMBarrier is test_wait or try_wait by one lane.
func (x *exec) testMBarrier(in *inst, l int, m *mbarrier) {
	phase, done, bad := x.asks(in, l, m)
	if bad != "" {
		x.fail(in, MBarrierState, l, "%s on %s %s", in.ir.Op(), x.barrierText(m.addr), bad)
		return
	}
	if in.misc.mbar.peeks {
		x.noteMBarrier(in, l, event.MBarrier{Op: event.MBarrierPeek, Addr: m.addr, Phase: phase,
			State: !in.misc.mbar.use.Parity, Token: in.misc.mbar.token})
		x.warp.asked.asks(l, m, phase)
		if in.pd[0] >= 0 && x.unk == nil { // else runToken follows, under the same guard
			x.preds[in.pd[0]] &^= 1 << l
		}
		return
	}
	if !x.redeem(in, l, m, phase) {
		return
	}
	if in.pd[0] >= 0 {
		p := &x.preds[in.pd[0]]
		*p &^= 1 << l
		if done {
			*p |= 1 << l
		}
	}
	if !done {
		x.poll(in)
		if x.frag.mwait == nil {
			x.frag.mwait = new(mwait)
		}
		*x.frag.mwait = mwait{x.site(in), m.addr, phase}
		return
	}
	m.seen = max(m.seen, phase+1)
	x.evs.tested++
	x.noteMBarrier(in, l, event.MBarrier{Op: event.MBarrierWait, Addr: m.addr, Phase: phase,
		State: !in.misc.mbar.use.Parity})
}

// park suspends the fragment until a phase of the object for which it waits is complete, in a
// trace: there a test is a wait (slice.Slice.Retries), and none of its lanes has a different answer
// or does something else. It reports whether it did.
func (x *exec) park(in *inst) bool {
	if x.lockstep || x.m != x.mask {
		return false
	}
	var wanted mwait
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		_, addr, ok := x.sharedAddress(in, &in.s[0], in.misc.mbar.at, l)
		if !ok {
			return false
		}
		m := x.block.mbars[addr]
		if m == nil || wanted.site != 0 && wanted.addr != addr {
			return false
		}
		phase, done, bad := x.asks(in, l, m)
		if done || bad != "" {
			return false
		}
		wanted = mwait{x.site(in) + 1, addr, phase}
	}
	wanted.site--
	g := x.frag
	x.pc--
	x.poll(in)
	if g.mwait == nil {
		g.mwait = new(mwait)
	}
	*g.mwait = wanted
	x.suspend(wait{kind: atPhase, in: in})
	x.next()
	return true
}

// unpark lets the fragments go on that wait for a phase of an object.
func (x *exec) unpark(addr uint64) {
	if !x.prog.traced {
		return
	}
	for i := range x.block.warps {
		w := &x.block.warps[i]
		still := w.waiting[:0]
		for _, g := range w.waiting {
			if g.wait.kind != atPhase || g.mwait.addr != addr {
				still = append(still, g)
				continue
			}
			g.wait = wait{}
			w.ready = append(w.ready, g)
		}
		if len(still) != len(w.waiting) {
			w.waiting = still
			x.wake(x.block, w)
		}
	}
}

// asks returns for which phase a lane tests an object, and whether it is complete. bad is why the
// test is an error.
func (x *exec) asks(in *inst, l int, m *mbarrier) (phase uint64, done bool, bad string) {
	v := x.src(&in.s[1])[l]
	if in.misc.mbar.use.Parity {
		if v > 1 {
			return 0, false, fmt.Sprintf("with phase parity %d; a parity is 0 or 1", v)
		}
		if m.phase&1 != v {
			return m.phase - 1, true, ""
		}
		return m.phase, false, ""
	}
	behind := (m.phase - v>>stateCount) & statePhaseAll
	if v>>(stateCount+statePhase) != m.stateOf(0, v&stateQueried != 0)>>(stateCount+statePhase) {
		return 0, false, "with a state that no arrival there returned"
	}
	if behind > 1 {
		return 0, false, fmt.Sprintf("with a state of phase %d, and the current phase is %d; a state is "+
			"of the current phase or of the one before (PTX ISA 9.7.13.15.16)", m.phase-behind, m.phase)
	}
	return m.phase - behind, behind == 1, ""
}

// runPendingCount returns the count in states.
func runPendingCount(x *exec, in *inst) {
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		v := x.src(&in.s[0])[l]
		if v&stateQueried == 0 {
			x.fail(in, MBarrierState, l, "%s of a state that .noComplete did not return (PTX ISA "+
				"9.7.13.15.17)", in.ir.Op())
			return
		}
		if in.d[0] >= 0 {
			x.regs[in.d[0]][l] = v & maxCount
		}
	}
}

// noteMBarrier adds a lane to the event that is collected, which is sent first if the lane does
// something else. Of v, only what lanes may do differently is set.
func (x *exec) noteMBarrier(in *inst, l int, v event.MBarrier) {
	if x.sink == nil {
		return
	}
	e := &x.evs.mbar
	use := &in.misc.mbar.use
	v.Warp, v.Site, v.Active, v.Order, v.Scope = x.warp.id, x.site(in), x.mask, use.Order, use.Scope
	v.Peer, v.Implied = x.peer, use.Implied
	if v.Mask = e.Mask; e.Mask != 0 && *e != v {
		x.flushMBarrier()
	}
	v.Mask = e.Mask | 1<<l
	*e = v
}

// flushMBarrier sends the event that is collected.
func (x *exec) flushMBarrier() {
	if e := &x.evs.mbar; e.Mask != 0 {
		x.sink.MBarrier(e)
		e.Mask = 0
	}
}

// overwritten stops the run if an ordinary access of some lane touches a live object, whose bytes
// are opaque (PTX ISA 9.7.13.15.3).
func (x *exec) overwritten(in *inst, m uint32) {
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if b := x.block.mbarrierIn(x.addr[l], in.mem.wide); b != nil {
			x.fail(in, MBarrierOverwritten, l, "%s of %d bytes of %s, which is in use; only operations "+
				"on mbarriers may access it", in.mem.kind, in.mem.wide, x.barrierText(b.addr))
			x.stop.Object = &ObjectAt{x.block.id, b.addr}
			return
		}
	}
}

// mbarrierIn returns a live object in n bytes of shared memory; nil if there is none.
func (b *block) mbarrierIn(addr, n uint64) *mbarrier {
	if addr >= b.mbarsEnd || addr+n <= b.mbarsAt {
		return nil
	}
	for a := addr &^ 7; a < addr+n; a += 8 {
		if m := b.mbars[a]; m != nil {
			return m
		}
	}
	return nil
}

// countOf returns n with the singular or plural form of a phrase.
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// arriveBehindCopies is cp.async.mbarrier.arrive by one lane.
func (x *exec) arriveBehindCopies(in *inst, l int, m *mbarrier) {
	if in.misc.mbar.use.Pending {
		if m.pending == maxCount {
			x.fail(in, MBarrierRange, l, "%s: phase %d of %s would expect more than %d arrivals",
				in.ir.Op(),
				m.phase, x.barrierText(m.addr), maxCount)
			return
		}
		m.pending++
		x.changed = true
	}
	a := x.newAgent(in, l)
	a.bar, a.copies, a.upTo = m, true, x.warp.copies.issued
	m.agents++
	x.wrote = true
	if x.sink != nil {
		x.evs.copyArrive = event.CopyArrive{ID: a.id, Warp: x.warp.id, Site: x.site(in), Mask: 1 << l,
			Active: x.mask, Addr: m.addr, Pending: in.misc.mbar.use.Pending}
		x.sink.CopyArrive(&x.evs.copyArrive)
	}
}

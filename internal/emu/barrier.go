package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Barriers of a block, PTX ISA 9.7.13.1. A barrier instruction "causes executing thread to wait for
// all non-exited threads from its warp and marks warps' arrival"; sync and red then wait for the
// other participating warps. Arrivals are counted in warps, regardless of the paths on which their
// lanes arrived. Whether that is allowed is decided by the detector, which receives an Arrive for
// each fragment.
//
// Deviation: if arrivals of one generation name different thread counts, which the ISA leaves
// undefined, the first count is used; the detector reports the disagreement. If no arrival names a
// count, threads that have exited are not waited for ("non-exited threads of all other warps"); an
// explicit count must be reached.
//
// A fragment at a barrier passes two states: it waits for the rest of its warp (atBarrier), and
// after the warp has arrived for the other warps (inBarrier).

const (
	numBarriers = 16
	notWaiting  = iota - 1
	atBarrier   // waits for its own warp
	inBarrier   // its warp has arrived; waits for the others
	atWarpSync
	atPhase   // of an mbarrier, in a trace
	atRound   // of a loop, in a trace by rounds
	atPool    // for registers
	atGroups  // of matrix operations of a warpgroup
	atColumns // of tensor memory
	atPair    // for a warp of the other block of a pair
	atClusterArrive
	atClusterWait
)

// wait describes the operation for which a fragment waits.
type wait struct {
	kind    uint8
	bar     uint8
	in      *inst
	count   uint32 // as in event.Arrive; atGroups: those that may be pending; atColumns: those wanted
	members uint32 // atWarpSync
	pred    uint32 // red: the lanes whose predicate is true
}

// barOp is a decoded barrier instruction: s[0] is the barrier, s[1] the count if counted, ps[0] the
// predicate of a reduction.
type barOp struct {
	fn      isa.Fn // FnSync, FnArrive or FnRed
	red     isa.Fn // FnPopc, FnAnd, FnOr
	counted bool
	aligned bool
}

// barrier is one generation of one of the 16 barriers of a block.
type barrier struct {
	active   bool
	count    uint32   // threads, 0: all of the block
	counted  bool     // some arrival named a count
	arrivals uint32   // of warps
	lanes    []uint32 // of each warp, that have arrived
	arrived  []bool   // warps
	// results of a reduction
	popc    uint32
	or, and bool
	waiting []*fragment
	owners  []*warp // of waiting
}

// barrier decodes bar and barrier. If its operands or its guard may differ among lanes, a join
// follows at which the lanes reconverge.
func (c *compiler) barrier(in *ir.Instr) error {
	op := &barOp{fn: in.Fn, aligned: in.Has(isa.Aligned)}
	switch in.Fn {
	case isa.FnSync, isa.FnArrive:
	case isa.FnPopc, isa.FnAnd, isa.FnOr:
		op.fn, op.red = isa.FnRed, in.Fn
	default:
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	d := inst{run: runBarrier, guard: c.guard(), bar: op, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	operands := in.Src
	if op.fn == isa.FnRed {
		if len(operands) < 2 || len(in.Dst) != 1 {
			return fmt.Errorf("%s: a destination, a barrier and a predicate expected", opcodeText(in))
		}
		var err error
		if d.ps[0], err = c.psrcOf(operands[len(operands)-1]); err != nil {
			return err
		}
		operands = operands[:len(operands)-1]
		if o := in.Dst[0]; c.isPred(o) {
			d.pd[0] = c.fc.slots[o.Reg]
		} else if o.Kind == ir.Register {
			d.d[0] = c.fc.slots[o.Reg]
		}
	}
	if len(operands) == 0 || len(operands) > 2 {
		return fmt.Errorf("%s: a barrier and at most a count expected", opcodeText(in))
	}
	plain := in.Guard == ir.NoReg
	for i, o := range operands {
		s, err := c.srcOf(o, isa.U32)
		if err != nil {
			return err
		}
		d.s[i] = s
		plain = plain && s.c != nil
	}
	op.counted = len(operands) == 2
	c.emit(d)
	if !plain { // lanes may part here: see isolate
		c.control(inst{run: runJoin})
	}
	return nil
}

// uniform returns the first value of v among the lanes of m, and the lanes of m that have it.
func uniform(v *[event.WarpSize]uint64, m uint32) (same uint32, value uint64) {
	value = v[bits.TrailingZeros32(m)&31]
	for t := m; t != 0; t &= t - 1 {
		if l := bits.TrailingZeros32(t) & 31; v[l] == value {
			same |= 1 << l
		}
	}
	return same, value
}

// runBarrier makes the lanes with one barrier and count arrive. Other lanes of the fragment execute
// the instruction separately afterwards.
func runBarrier(x *exec, in *inst) {
	op := in.bar
	// The operands may be registers. Only lanes with the same barrier and count arrive together.
	same, id := uniform(x.src(&in.s[0]), x.m)
	count := uint64(0)
	if op.counted {
		same, count = uniform(x.src(&in.s[1]), same)
	}
	x.isolate(in, same)
	id, count = uint64(uint32(id)), uint64(uint32(count))
	if !x.checkBarrier(in, id, count) {
		return
	}
	b := &x.block.bars[id]
	if !b.active {
		b.start(len(x.block.warps), x.barrierCount(uint32(count)))
	}
	b.counted = b.counted || op.counted
	w := x.warp
	x.wrote, x.changed = true, true
	v := wait{kind: atBarrier, bar: uint8(id), in: in, count: uint32(count)}
	if op.fn == isa.FnRed {
		v.pred = x.psrc(in.ps[0]) & x.m
	}
	b.lanes[w.index] |= x.m
	if x.sink != nil {
		x.evs.arrive = event.Arrive{Warp: w.id, Site: x.site(in), Mask: x.m, Active: x.mask,
			Barrier: uint8(id),
			Count:   uint32(count), Red: op.fn == isa.FnRed, Aligned: op.aligned, Orders: in.ir.Orders}
		if op.fn == isa.FnArrive {
			x.evs.arrive.Op = event.BarArrive
		}
		x.sink.Arrive(&x.evs.arrive)
	}
	x.suspend(v)
	x.warpArrives(w, uint8(id))
	x.next()
}

// barrierCount maps a count that names the whole block to 0, the value for an omitted count.
func (x *exec) barrierCount(count uint32) uint32 {
	if count == uint32(len(x.block.warps)*event.WarpSize) {
		return 0
	}
	return count
}

// checkBarrier stops the run if the operands are outside what the ISA allows.
func (x *exec) checkBarrier(in *inst, id, count uint64) bool {
	switch {
	case id >= numBarriers:
		x.fail(in, BadBarrier, x.first(), "barrier %d does not exist: barriers are numbered 0 to %d", id,
			numBarriers-1)
	case in.bar.counted && (count == 0 || count%event.WarpSize != 0):
		x.fail(in, BadBarrier, x.first(),
			"barrier %d is used with a count of %d threads, which is not a positive multiple of %d", id,
			count, event.WarpSize)
	case in.bar.fn == isa.FnArrive && !in.bar.counted:
		x.fail(in, BadBarrier, x.first(), "barrier %d: an arrive needs a thread count", id)
	default:
		return true
	}
	return false
}

// start begins a generation.
func (b *barrier) start(warps int, count uint32) {
	if len(b.lanes) != warps {
		b.lanes, b.arrived = make([]uint32, warps), make([]bool, warps)
	}
	clear(b.lanes)
	clear(b.arrived)
	b.active, b.count, b.counted, b.arrivals = true, count, false, 0
	b.popc, b.or, b.and = 0, false, true
	b.waiting, b.owners = b.waiting[:0], b.owners[:0]
}

// warpArrives marks the arrival of w at barrier id, if all of its live lanes wait there. Lanes that
// only arrive continue at once; the others wait for the generation.
func (x *exec) warpArrives(w *warp, id uint8) {
	there := uint32(0)
	for _, g := range w.waiting {
		if g.wait.kind == atBarrier && g.wait.bar == id {
			there |= g.mask
		}
	}
	// Some live lane of the warp is not at this barrier yet.
	if there == 0 || there != w.alive() {
		return
	}
	b := &x.block.bars[id]
	b.arrivals++
	b.arrived[w.index] = true
	for _, g := range w.waiting { // all of the warp's fragments: they cover its lanes
		switch g.wait.in.bar.fn {
		case isa.FnArrive:
			g.wait = wait{}
			w.ready = append(w.ready, g)
			continue
		case isa.FnRed:
			n := popcount(g.wait.pred)
			b.popc += uint32(n)
			b.or = b.or || n > 0
			b.and = b.and && g.wait.pred == g.mask
		}
		g.wait.kind = inBarrier
		b.waiting = append(b.waiting, g)
		b.owners = append(b.owners, w)
	}
	// Fragments that only arrived are ready again, and no longer wait.
	keep := w.waiting[:0]
	for _, g := range w.waiting {
		if g.wait.kind != notWaiting {
			keep = append(keep, g)
		}
	}
	w.waiting = keep
	x.tryComplete(id)
}

// tryComplete ends the current generation of barrier id if all required warps have arrived.
func (x *exec) tryComplete(id uint8) {
	b := &x.block.bars[id]
	if !b.active || b.arrivals == 0 {
		return
	}
	exited := false
	// With a count, the generation completes when that many threads have arrived, in units of warps.
	if b.count != 0 {
		if b.arrivals*event.WarpSize < b.count {
			return
		}
		for i := range x.block.warps {
			exited = exited || b.arrived[i] && x.block.warps[i].exited&^b.lanes[i] != 0
		}
	} else {
		// Without a count it needs every warp that has live threads, or all warps if some arrival named
		// a count.
		need := uint32(x.block.live)
		if b.counted {
			need = uint32(len(x.block.warps))
		}
		if b.arrivals < need {
			return
		}
		for i := range x.block.warps {
			w := &x.block.warps[i]
			// A count is reached by arrivals: a warp that arrives twice counts twice.
			if !b.counted && !b.arrived[i] && w.alive() != 0 {
				return
			}
			exited = exited || w.exited&^b.lanes[i] != 0
		}
	}
	b.active = false
	if x.sink != nil {
		x.evs.complete = event.Complete{Block: x.block.id, Barrier: id, Exited: exited}
		x.sink.Complete(&x.evs.complete)
	}
	x.letGo(b)
}

// letGo makes the fragments that waited for b ready again. Fragments that reached one place by
// different paths continue as one.
func (x *exec) letGo(b *barrier) {
	for i := 0; i < len(b.waiting); {
		w := b.owners[i]
		j := i
		for ; j < len(b.waiting) && b.owners[j] == w; j++ {
			g := b.waiting[j]
			x.reduced(b, g)
			g.wait = wait{}
			for k, h := range w.waiting {
				if h == g {
					w.waiting = append(w.waiting[:k], w.waiting[k+1:]...)
					break
				}
			}
		}
		w.ready = append(w.ready, x.merge(b.waiting[i:j])...)
		x.wake(x.block, w)
		i = j
	}
	b.waiting, b.owners = b.waiting[:0], b.owners[:0]
}

// reduced writes the result of a reduction into the registers of a waiting fragment.
func (x *exec) reduced(b *barrier, g *fragment) {
	in := g.wait.in
	if in.bar.fn != isa.FnRed {
		return
	}
	if in.d[0] >= 0 {
		fill(&g.frame.regs[in.d[0]], g.mask, uint64(b.popc))
		if g.frame.unk != nil {
			g.frame.unk[in.d[0]] &^= g.mask
		}
	}
	if in.pd[0] < 0 {
		return
	}
	v := b.or
	if in.bar.red == isa.FnAnd {
		v = b.and
	}
	p := &g.frame.preds[in.pd[0]]
	*p &^= g.mask
	if v {
		*p |= g.mask
	}
	if g.frame.punk != nil {
		g.frame.punk[in.pd[0]] &^= g.mask
	}
}

// exitedAtBarriers re-examines the barriers that waited for lanes which have now exited.
func (x *exec) exitedAtBarriers(w *warp) {
	if w.alive() == 0 {
		x.block.live--
		for id := range x.block.bars {
			x.tryComplete(uint8(id))
		}
		return
	}
	for _, g := range w.waiting {
		if g.wait.kind == atBarrier {
			x.warpArrives(w, g.wait.bar)
			return
		}
	}
}

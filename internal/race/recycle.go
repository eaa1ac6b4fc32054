package race

import (
	"math/bits"

	"heddle/internal/event"
)

// Safe recycling of barriers (Weft, PLDI 2015, §4, figure 4, lines 18 to 22).
//
// A barrier begins its next generation as soon as one is complete. If a thread may register for
// generation k+1 before generation k is over, it may take part in generation k in another
// execution: which threads synchronize then depends on the schedule. So for each registration c2
// for generation k+1, the point just before c2 must come after generation k.
//
// The definition of well-synchronized (Definition 6: every command has the same generation in all
// executions) decides the cases that the figure leaves open:
//
//   - Some thread waited in generation k. The figure asks for a path from every sync of generation
//     k to the point before c2. These syncs are ordered with each other in both directions, so a
//     path from one is a path from all. A path from an arrive does not suffice: the arriving thread
//     does not know when the generation is over. A sync ends an epoch of its thread, and no thread
//     learns of that epoch before the generation is complete. So the path exists exactly if the
//     registering thread knows the epoch, which one comparison decides.
//   - All threads of generation k only arrived. The figure does not apply, as there is no sync. By
//     the definition each arrival of generation k must precede c2, or c2 could take its place; and
//     if they do, the generation is complete. An arrival ends an epoch of its thread too, and since
//     no thread learns of it by this generation, a synchronization that conveys it comes after the
//     arrival.
//   - c2 is the first command of its thread. The figure considers the command before c2 and accepts
//     this case; the definition does not.
//
// The check uses the clocks that the detector keeps anyway. It runs online, on one execution, and
// costs one comparison for each warp that registers.

// laneEpoch is an epoch of each lane of a set; one clock if all are in the same epoch.
type laneEpoch struct {
	mask  uint32
	clk   uint32
	lanes *[event.WarpSize]uint32 // nil: all of mask are at clk
}

// of returns the clock of a lane of the set.
func (e *laneEpoch) of(lane int) uint32 {
	if e.lanes != nil {
		return e.lanes[lane]
	}
	return e.clk
}

// epochOf returns the epochs of the lanes of mask.
func (w *warp) epochOf(mask uint32) laneEpoch {
	e := laneEpoch{mask: mask, clk: w.own[bits.TrailingZeros32(mask)&31]}
	if !w.even {
		lanes := w.own
		e.lanes = &lanes
	}
	return e
}

// past is a generation that is complete.
type past struct {
	any    bool
	whole  bool // every thread of the block waited in it: none can be too early for the next
	waiter int  // a part that waited; -1: all only arrived
	parts  []part
}

func (p *past) forget() {
	clear(p.parts)
	*p = past{parts: p.parts[:0]}
}

// checkRecycling records whether lanes that arrive now may arrive before the last generation is
// over.
func (d *Detector) checkRecycling(w *warp, g *generation, mask uint32) {
	if !g.past.any || g.past.whole {
		return
	}
	safe := true
	if i := g.past.waiter; i >= 0 {
		q := &g.past.parts[i]
		one := laneEpoch{mask: q.mask & -q.mask, clk: q.epoch.of(bits.TrailingZeros32(q.mask))}
		safe = d.after(w, mask, q.warp, &one)
	} else {
		for i := range g.past.parts {
			q := &g.past.parts[i]
			safe = safe && d.after(w, mask, q.warp, &q.epoch)
		}
	}
	if !safe {
		g.unsafe = append(g.unsafe, len(g.parts))
	}
}

// after reports whether all lanes of mask of w are ordered after the ends of the epochs of lanes of
// v.
func (d *Detector) after(w *warp, mask uint32, v *warp, e *laneEpoch) bool {
	if e.lanes == nil {
		b := d.blockOf(w.id)
		if w != v && v.id-b.first < event.Warp(len(b.warps)) &&
			e.clk <= w.knowsWarp(int(v.id-b.first)) || w == v && e.clk <= max(w.intra, w.blk) {
			return true
		}
	}
	for m := mask; m != 0; m &= m - 1 {
		t := event.ThreadOf(w.id, bits.TrailingZeros32(m))
		for n := e.mask; n != 0; n &= n - 1 {
			l := bits.TrailingZeros32(n)
			u := event.ThreadOf(v.id, l)
			if t != u && d.knows(t, u) < e.of(l) {
				return false
			}
		}
	}
	return true
}

// recycle reports registrations that were too early, and begins the next generation.
func (d *Detector) recycle(g *generation) {
	if len(g.unsafe) > 0 {
		d.unsafeGeneration(Recycled, g)
	}
	p := &g.past
	p.parts, g.parts = g.parts, p.parts // the new g.parts is emptied by reset
	p.any, p.waiter = true, -1
	threads := 0
	for i := range p.parts {
		if p.parts[i].op == event.BarSync {
			p.waiter = i
			threads += bits.OnesCount32(p.parts[i].mask)
		}
	}
	p.whole = threads == d.opt.Geometry.ThreadsPerBlock()
	g.number++
	g.reset()
}

// unsafeGeneration reports the parts of the current generation that may arrive too early, together
// with the parts of the previous generation.
func (d *Detector) unsafeGeneration(kind BarrierKind, g *generation) {
	for _, i := range g.unsafe {
		p := &g.parts[i]
		waits := []event.Wait{p.wait}
		for j := range g.past.parts {
			waits = append(waits, g.past.parts[j].wait)
		}
		b := d.blockOf(p.warp.id)
		d.barrierError(kind, b, p.wait.Barrier, waits, nil)
		if e := d.lastError(kind, waits); e.Count == 1 {
			e.Generation = g.number
		}
	}
}

// unsafeEnd reports barriers of a block that ends or stalls in a generation that more threads can
// reach than it counts. It returns whether it found one.
func (d *Detector) unsafeEnd(b *block) bool {
	found := false
	for i := range b.bars {
		if g := &b.bars[i]; len(g.unsafe) > 0 {
			d.unsafeGeneration(TooMany, g)
			found = true
		}
	}
	return found
}

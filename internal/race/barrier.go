package race

import (
	"math/bits"

	"heddle/internal/event"
)

// generation is one generation of a barrier while threads arrive; it is active once it has parts.
type generation struct {
	parts  []part
	count  int  // threads that have arrived
	arrive bool // some only arrived and do not wait
	void   bool // some order nothing
	bad    bool // participants disagree about count or form

	// What the arrived threads know together: about the warps of the block, and about all other
	// threads.
	peers []uint32 // empty: nothing
	blk   uint32
	known *know

	number uint64 // generations of this barrier that have completed; kept only for Options.Recycling
	past   past   // the last of them
	unsafe []int  // parts that may arrive before the last generation is over
}

// reset prepares g for the next generation of the same barrier.
func (g *generation) reset() {
	clear(g.parts)
	*g = generation{parts: g.parts[:0], peers: g.peers[:0], unsafe: g.unsafe[:0], number: g.number,
		past: g.past}
}

// forget prepares g for the barrier of another block.
func (g *generation) forget() {
	g.reset()
	g.number = 0
	g.past.forget()
}

// part is one arrival. Its lanes' own clocks are those at the arrival.
type part struct {
	warp   *warp
	mask   uint32
	op     event.BarrierOp
	wait   event.Wait
	red    bool
	void   bool      // it orders nothing of what this detector looks at
	joined bool      // what its lanes know is part of the generation's knowledge
	epoch  laneEpoch // of the arrival; only for Options.Recycling, and not for a whole block
}

// Arrive records the arrival of lanes.
func (d *Detector) Arrive(a *event.Arrive) {
	w, b := d.warpOf(a.Warp)
	g := &b.bars[a.Barrier]
	b.arrived |= 1 << a.Barrier
	p := part{warp: w, mask: a.Mask, op: a.Op, red: a.Red, void: !d.ordered(a.Orders)}
	p.wait = event.Wait{Warp: a.Warp, Mask: a.Mask, Site: a.Site, Barrier: a.Barrier, Count: a.Count,
		Aligned: a.Aligned}
	if a.Op == event.BarArrive || a.Count != 0 {
		// The lanes continue before the generation completes, or may be fewer than the block: record
		// what they know now.
		g.arrive = g.arrive || a.Op == event.BarArrive
		if d.opt.Recycling {
			d.checkRecycling(w, g, a.Mask)
			p.epoch = w.epochOf(a.Mask)
		}
		if !p.void {
			d.contribute(b, g, &p)
		}
	} else if d.opt.Recycling {
		d.checkRecycling(w, g, a.Mask)
	}
	g.void = g.void || p.void
	g.parts = append(g.parts, p)
	g.count += bits.OnesCount32(a.Mask)
	g.bad = g.bad || d.fullCount(g.parts[0].wait.Count) != d.fullCount(a.Count) ||
		g.parts[0].red != a.Red
	if d.opt.Model == event.Lockstep {
		w.endInstruction(a.Active, d.lanesOf(a.Warp))
	}
}

// fullCount maps a count that names the whole block to 0, the value for an omitted count.
func (d *Detector) fullCount(count uint32) uint32 {
	if count == d.perBlock*event.WarpSize {
		return 0
	}
	return count
}

// clocks returns what the lanes of mask know together.
func (d *Detector) clocks(w *warp, b *block, mask uint32) *know {
	return d.addClocks(nil, w, b, mask)
}

// addClocks returns k and what the lanes of mask know together. Clocks of lanes come last: most of
// what a warp knows beyond them, k knows already.
func (d *Detector) addClocks(k *know, w *warp, b *block, mask uint32) *know {
	k = withPeers(join(k, w.ext).withWarps(b.first, b.end(), w.blk), b, w.peers, w.blk)
	var lanes [event.WarpSize]uint32
	if w.in == nil && w.act.mask == 0 { // what lanes know of their mates is the same
		mates := max(w.intra, w.blk)
		for m := d.lanesOf(w.id); m != 0; m &= m - 1 {
			u := bits.TrailingZeros32(m)
			lanes[u] = mates
			if mask>>u&1 != 0 {
				lanes[u] = w.own[u]
			}
		}
		return w.withLanes(k, mask).withLanes(w.id, &lanes)
	}
	for m := d.lanesOf(w.id); m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		for n := mask; n != 0; n &= n - 1 {
			l := bits.TrailingZeros32(n)
			if l == u {
				lanes[u] = max(lanes[u], w.own[u])
			} else {
				lanes[u] = max(lanes[u], w.ofMate(l, u))
			}
		}
	}
	return w.withLanes(k, mask).withLanes(w.id, &lanes)
}

// withLanes adds to k what single lanes of mask know beyond what all do.
func (w *warp) withLanes(k *know, mask uint32) *know {
	if w.lane != nil {
		for n := mask; n != 0; n &= n - 1 {
			k = join(k, w.lane[bits.TrailingZeros32(n)])
		}
	}
	return k
}

// Complete ends a generation: the waiting threads learn what all arriving threads knew (PTX ISA
// 8.9.4: arrive synchronizes with sync, sync with sync).
func (d *Detector) Complete(c *event.Complete) {
	b := d.blockAt(c.Block)
	if b == nil || len(b.bars[c.Barrier].parts) == 0 {
		return
	}
	g := &b.bars[c.Barrier]
	d.checkGeneration(b, g, c)
	if d.opt.Recycling {
		defer d.recycle(g)
	} else {
		defer g.reset()
	}
	if g.count == d.opt.Geometry.ThreadsPerBlock() && !g.arrive && !g.void && !b.gone {
		d.wholeBlock(b)
		return
	}
	for i := range g.parts {
		if p := &g.parts[i]; !p.joined {
			if d.opt.Recycling {
				p.epoch = p.warp.epochOf(p.mask)
			}
			if !p.void {
				d.contribute(b, g, p)
			}
		}
	}
	for i := range g.parts {
		if p := &g.parts[i]; p.op == event.BarSync && !p.void {
			d.inform(b, g, p)
		}
	}
}

// wholeBlock is the common barrier, of all threads of a block (Barracuda §4.3.2): one clock is
// broadcast, and every warp is in the converged format again.
func (d *Detector) wholeBlock(b *block) {
	top := uint32(0)
	var ext *know
	for i := range b.warps {
		w := &b.warps[i]
		all := d.lanesOf(w.id)
		w.shareBeyond(all, all)
		top = max(top, w.highest(all))
		ext = join(ext, w.ext)
		d.passSC(w, b)
	}
	if !d.clustered { // else other blocks access the memory too
		b.floor = top
	}
	for i := range b.warps {
		w := &b.warps[i]
		w.blk, w.intra, w.in, w.act, w.ext, w.peers = top, top, nil, activeSet{}, ext, w.peers[:0]
		for l := range w.own {
			w.own[l] = top + 1
		}
		w.even = true
		w.round++
	}
	if d.deferring {
		b.deferral.known()
	}
}

// ordered reports whether a barrier or fence orders the memory that this detector checks.
func (d *Detector) ordered(o event.Orders) bool {
	return d.opt.Only == event.NoSpace || o.Covers(d.opt.Only)
}

// fences is ordered for a fence by a thread of block b.
func (d *Detector) fences(o event.Orders, b *block) bool {
	if o == event.OrdersOwn && d.opt.Only == event.Shared {
		return !d.opt.Ranked || d.rankOf(b.id) == d.opt.Rank
	}
	return d.ordered(o)
}

// WarpSync joins the knowledge of the lanes of the mask. A meeting orders their execution only.
func (d *Detector) WarpSync(s *event.WarpSync) {
	if s.Meets && !d.opt.Execution || !s.Meets && !d.ordered(s.Orders) {
		return
	}
	d.meetWarp(s.Warp, s.Mask)
}

// meetWarp joins what lanes know that wait for each other at an instruction.
func (d *Detector) meetWarp(id event.Warp, mask uint32) {
	w, _ := d.warpOf(id)
	w.sync(mask, d.lanesOf(id))
}

// Converge is if, else and fi of the lockstep model.
func (d *Detector) Converge(c *event.Converge) {
	if d.opt.Model == event.Lockstep && c.Mask != 0 {
		w, _ := d.warpOf(c.Warp)
		w.endInstruction(c.Mask, d.lanesOf(c.Warp))
	}
}

package queue

import (
	"cmp"
	"math/bits"
	"slices"

	"heddle/internal/event"
)

// Barriers as the host sees them. A kernel logs arrivals, before they happen; when a barrier
// completes follows from them and from the threads that have exited (PTX ISA 9.7.13.1, 9.7.13.2).
// The rules are those of package emu: arrivals count in warps, once all living lanes of the warp
// are there; without a count a barrier needs every warp that lives, or all warps if some arrival
// named a count; of different counts the first one is taken.
//
// What it can miss: if more threads arrive at a counted barrier than it counts, or at two uses of
// it, the order of their records may differ from that of their arrivals, so that other ones than
// here were let go (docs/theory/queues.md). It shows when a thread that waits here logs something
// else.

const numBarriers = 16

// block is the state of a block.
type block struct {
	id     uint32
	warps  []warp
	live   int // warps with living lanes
	bars   [numBarriers]barrier
	waits  []wait
	active []uint32 // of each warp, for Converge
}

// warp is the state of a warp.
type warp struct {
	lanes, exited uint32
	waits         uint32 // lanes that wait at a barrier, or for other lanes
}

func (w *warp) alive() uint32 { return w.lanes &^ w.exited }

// wait is a group of lanes that arrived together.
type wait struct {
	event.Wait
	in     bool // their warp has arrived: they wait for other warps
	leaves bool // they only arrive, and wait for the rest of their warp at most
	orders event.Orders
	all    bool // exited lanes are waited for: ir.Func.WholeWarp
}

// barrier is a generation of a numbered barrier.
type barrier struct {
	active   bool
	count    uint32 // threads; 0: all of the block
	counted  bool   // some arrival named a count
	arrivals uint32 // of warps
	lanes    []uint32
	arrived  []bool
}

// newBlock returns the state of a block before its first instruction.
func newBlock(g *event.Geometry, id uint32) *block {
	n := g.WarpsPerBlock()
	b := &block{id: id, warps: make([]warp, n), live: n, active: make([]uint32, n)}
	for i := range b.warps {
		b.warps[i].lanes = g.Lanes(event.Warp(int(id)*n + i))
		b.active[i] = b.warps[i].lanes
	}
	return b
}

// index is the number of a warp within its block.
func (b *block) index(w event.Warp) int { return int(w) % len(b.warps) }

// arrive takes note of lanes that arrive at a numbered barrier.
func (h *Host) arrive(b *block, w wait, counted bool) {
	bar := &b.bars[w.Barrier]
	i := b.index(w.Warp)
	if !bar.active {
		n := len(b.warps)
		*bar = barrier{active: true, count: w.Count, lanes: make([]uint32, n), arrived: make([]bool, n)}
		if bar.count == uint32(n*event.WarpSize) {
			bar.count = 0
		}
	}
	bar.counted = bar.counted || counted
	bar.lanes[i] |= w.Mask
	b.warps[i].waits |= w.Mask
	b.waits = append(b.waits, w)
	h.warpArrives(b, w.Warp, w.Barrier)
}

// warpArrives lets a warp arrive at a barrier if all of its living lanes are there.
func (h *Host) warpArrives(b *block, id event.Warp, number uint8) {
	w := &b.warps[b.index(id)]
	there := uint32(0)
	at := func(p *wait) bool {
		return p.Warp == id && !p.WarpBar && !p.in && p.Barrier == number
	}
	for i := range b.waits {
		if p := &b.waits[i]; at(p) {
			there |= p.Mask
		}
	}
	if there == 0 || there != w.alive() {
		return
	}
	bar := &b.bars[number]
	bar.arrivals++
	bar.arrived[b.index(id)] = true
	keep := b.waits[:0]
	for _, p := range b.waits {
		if at(&p) {
			if p.leaves {
				w.waits &^= p.Mask
				continue
			}
			p.in = true
		}
		keep = append(keep, p)
	}
	b.waits = keep
	h.tryComplete(b, number)
}

// tryComplete completes a barrier if all that it waits for have arrived.
func (h *Host) tryComplete(b *block, number uint8) {
	bar := &b.bars[number]
	if !bar.active || bar.arrivals == 0 {
		return
	}
	exited := false
	if bar.count != 0 {
		if bar.arrivals*event.WarpSize < bar.count {
			return
		}
		for i := range b.warps {
			exited = exited || bar.arrived[i] && b.warps[i].exited&^bar.lanes[i] != 0
		}
	} else {
		need := b.live
		if bar.counted {
			need = len(b.warps)
		}
		if int(bar.arrivals) < need {
			return
		}
		for i := range b.warps {
			w := &b.warps[i]
			if !bar.arrived[i] && w.alive() != 0 {
				return
			}
			exited = exited || w.exited&^bar.lanes[i] != 0
		}
	}
	h.complete(b, number, exited)
}

// complete ends a generation.
func (h *Host) complete(b *block, number uint8, exited bool) {
	b.bars[number].active = false
	keep := b.waits[:0]
	for _, p := range b.waits {
		if p.in && p.Barrier == number {
			b.warps[b.index(p.Warp)].waits &^= p.Mask
			continue
		}
		keep = append(keep, p)
	}
	b.waits = keep
	h.opt.Sink.Complete(&event.Complete{Block: b.id, Barrier: number, Exited: exited})
}

// warpSync takes note of lanes that wait for others of their warp, and lets them go if these are
// there.
func (h *Host) warpSync(b *block, p wait) {
	w := &b.warps[b.index(p.Warp)]
	w.waits |= p.Mask
	b.waits = append(b.waits, p)
	h.trySync(b, &p)
}

// trySync completes bar.warp.sync with the members of p if all of them wait.
func (h *Host) trySync(b *block, p *wait) {
	w := &b.warps[b.index(p.Warp)]
	there, orders := uint32(0), event.OrdersAll
	match := func(o *wait) bool { return o.WarpBar && o.Warp == p.Warp && o.Members == p.Members }
	for i := range b.waits {
		if o := &b.waits[i]; match(o) {
			there |= o.Mask
			orders = orders.Meet(o.orders)
		}
	}
	needs := p.Members & w.alive()
	if p.all {
		needs = p.Members & w.lanes
	}
	if there == 0 || there != needs {
		return
	}
	w.waits &^= there
	b.waits = slices.DeleteFunc(b.waits, func(o wait) bool { return match(&o) })
	h.opt.Sink.WarpSync(&event.WarpSync{Warp: p.Warp, Site: p.Site, Mask: there, Orders: orders})
}

// exit takes note of lanes that end.
func (h *Host) exit(b *block, id event.Warp, mask uint32) {
	w := &b.warps[b.index(id)]
	w.exited |= mask
	h.opt.Sink.Exit(&event.Exit{Warp: id, Mask: mask})
	if w.alive() == 0 {
		if b.live--; b.live == 0 {
			delete(h.blocks, b.id)
			return
		}
		for n := range b.bars {
			h.tryComplete(b, uint8(n))
		}
		return
	}
	for n := range b.bars {
		if b.bars[n].active {
			h.warpArrives(b, id, uint8(n))
		}
	}
	for _, p := range slices.Clone(b.waits) {
		if p.WarpBar && p.Warp == id {
			h.trySync(b, &p)
		}
	}
}

// early lets lanes go that wait according to the records, and have logged something else: on the
// device they wait no more.
func (h *Host) early(b *block, id event.Warp, mask uint32) {
	h.sum.Early++
	for i := 0; i < len(b.waits); i++ {
		p := b.waits[i]
		switch {
		case p.Warp != id || p.Mask&mask == 0:
			continue
		case p.WarpBar || !p.in:
			b.waits = slices.Delete(b.waits, i, i+1)
			b.warps[b.index(id)].waits &^= p.Mask
		default:
			h.complete(b, p.Barrier, false)
		}
		i = -1
	}
}

// stall sends the event of a block in which all living lanes wait. ok is false if some do not.
func (h *Host) stall(b *block) (ok bool) {
	e := event.Stall{Block: b.id}
	for i := range b.warps {
		w := &b.warps[i]
		if w.alive()&^w.waits != 0 {
			return false
		}
		if w.exited != 0 {
			e.Exited = append(e.Exited,
				event.Exit{Warp: event.Warp(int(b.id)*len(b.warps) + i), Mask: w.exited})
		}
	}
	slices.SortStableFunc(b.waits, func(p, q wait) int {
		return cmp.Or(cmp.Compare(p.Warp, q.Warp),
			cmp.Compare(bits.TrailingZeros32(p.Mask), bits.TrailingZeros32(q.Mask)))
	})
	for _, p := range b.waits {
		e.Waiting = append(e.Waiting, p.Wait)
	}
	h.opt.Sink.Stall(&e)
	return true
}

package race

import (
	"math/bits"
	"unsafe"

	"heddle/internal/event"
)

// block is the state that the detector keeps of a block while any of its threads runs.
type block struct {
	id     uint32
	first  event.Warp // its first warp; its warps are numbered without gaps
	warps  []warp
	live   int     // threads that have not exited
	gone   bool    // some thread has exited
	floor  uint32  // every thread of the block knows every other up to here
	shared *memory // shadow of its shared memory; nil until used
	bars   [16]generation
	// barriers at which threads have arrived, one bit each
	arrived uint16
	places  []place // synchronization locations in its shared memory
	sc      blockSC
	deferral
	// acquires of tensor maps, by the address of the map (mapproxy.go)
	acquired map[uint64]map[event.Warp][]*mapAcquire
	// mbarriers by address; nil before the first
	objects map[uint64]*object
	// the same in the order of execution, and the ends of those that are no more (phases.go)
	phases map[uint64]*phased
	ended  map[uint64]moment
	tensor []tensorPiece // operations on its tensor memory
	// allocations of tensor memory, and the ends of some, in the order of execution
	allocations []allocation
}

// blockOf returns the block of a warp, created at its first event. Events of one block tend to come
// in a row, so the last block is cached.
func (d *Detector) blockOf(w event.Warp) *block {
	id := uint32(w) / d.perBlock
	if d.cached != nil && d.cached.id == id {
		return d.cached
	}
	b := d.blockAt(id)
	if b == nil {
		b = d.newBlock(id)
		d.setBlock(id, b)
	}
	d.cached = b
	return b
}

// blockGroup is the number of blocks in an element of Detector.blocks. A launch may have 2^31
// blocks, of which a run reaches few.
const blockGroup = 1 << 10

// blockAt returns the state of a block; nil before its first event and after its last.
func (d *Detector) blockAt(id uint32) *block {
	if d.blocks == nil {
		if b := d.cached; b != nil && b.id == id {
			return b
		}
		return nil
	}
	if g := d.blocks[id/blockGroup]; g != nil {
		return g[id%blockGroup]
	}
	return nil
}

// setBlock stores the state of a block.
func (d *Detector) setBlock(id uint32, b *block) {
	if d.blocks == nil {
		return
	}
	g := &d.blocks[id/blockGroup]
	if *g == nil {
		// The last group is shorter: most launches of a program have a few blocks.
		n := min(blockGroup, d.opt.Geometry.Blocks()-uint64(id)/blockGroup*blockGroup)
		*g = make([]*block, n)
		d.bytes += n * uint64(unsafe.Sizeof(b))
	}
	(*g)[id%blockGroup] = b
}

// newBlock returns the state of a block that starts.
func (d *Detector) newBlock(id uint32) *block {
	var b *block
	if n := len(d.spareBlocks); n > 0 {
		b = d.spareBlocks[n-1]
		d.spareBlocks = d.spareBlocks[:n-1]
	} else {
		b = &block{warps: make([]warp, d.perBlock)}
	}
	b.id, b.first, b.live = id, event.Warp(id*d.perBlock), d.opt.Geometry.ThreadsPerBlock()
	b.wasted = 0
	for i := range b.warps {
		b.warps[i].start(b.first + event.Warp(i))
	}
	return b
}

// reset prepares the state of a block that has ended for another block.
func (b *block) reset() {
	b.gone, b.floor, b.shared, b.places = false, 0, nil, b.places[:0]
	b.objects, b.phases, b.ended, b.acquired, b.sc = nil, nil, nil, nil, blockSC{}
	b.tensor, b.allocations = nil, nil
	b.deferral.reset()
	for m := b.arrived; m != 0; m &= m - 1 {
		b.bars[bits.TrailingZeros16(m)].forget()
	}
	b.arrived = 0
}

// warpOf returns the state of a warp and its block.
func (d *Detector) warpOf(id event.Warp) (*warp, *block) {
	b := d.blockOf(id)
	return &b.warps[id-b.first], b
}

// end returns the first warp after the block.
func (b *block) end() event.Warp { return b.first + event.Warp(len(b.warps)) }

// clock returns all that a lane knows, its own epoch included.
func (d *Detector) clock(w *warp, b *block, lane int) *know {
	return withPeers(w.clock(lane, d.lanesOf(w.id), b.first, b.end()), b, w.peers, w.blk)
}

// lanesOf returns the lanes of a warp that are threads.
func (d *Detector) lanesOf(w event.Warp) uint32 {
	if uint32(w)%d.perBlock == d.perBlock-1 {
		return d.lastLanes
	}
	return ^uint32(0)
}

// knows returns the last clock of thread u that happens before the current operation of thread t.
// It is C_t(u) of the full vector clocks, to which the compressed formats are equivalent.
func (d *Detector) knows(t, u event.Thread) uint32 {
	w, b := d.warpOf(t.Warp())
	l := t.Lane()
	if t == u {
		return w.own[l]
	}
	c := w.beyond(l).of(u.Warp(), u.Lane())
	switch {
	case u.Warp() == t.Warp():
		return max(c, w.ofMate(l, u.Lane()))
	case u.Warp() >= b.first && u.Warp() < b.end():
		return max(c, w.knowsWarp(int(u.Warp()-b.first)))
	}
	return c
}

// knowsAny returns the largest of the clocks of lanes of a warp that knows returns.
func (d *Detector) knowsAny(t event.Thread, u event.Warp, lanes uint32) uint32 {
	c := uint32(0)
	if w, b := d.warpOf(t.Warp()); u != t.Warp() && w.beyond(t.Lane()) == nil {
		if u >= b.first && u < b.end() { // the same of all lanes
			c = w.knowsWarp(int(u - b.first))
		}
		return c
	}
	for m := lanes; m != 0; m &= m - 1 {
		c = max(c, d.knows(t, event.ThreadOf(u, bits.TrailingZeros32(m))))
	}
	return c
}

// Exit frees the state of a block when its last thread has ended: no thread can learn more from it,
// and what other threads know of it they hold themselves.
func (d *Detector) Exit(e *event.Exit) {
	w, b := d.warpOf(e.Warp)
	fresh := e.Mask &^ w.gone
	w.gone |= fresh
	b.gone = true
	b.live -= bits.OnesCount32(fresh)
	if d.clustered || d.clusters != nil { // at the barrier of a cluster a block may be alone
		d.exitCluster(w, b, fresh)
	}
	switch {
	case b.live > 0:
	case d.clustered:
		d.endCluster(b)
	default:
		delete(d.clusters, d.opt.Geometry.ClusterOf(b.id))
		d.endBlock(b)
	}
}

// endBlock frees the state of a block.
func (d *Detector) endBlock(b *block) {
	if d.opt.Recycling {
		d.unsafeEnd(b)
	}
	if b.phases != nil {
		d.endPhases(b)
	}
	for _, at := range b.places {
		delete(d.locations, at)
	}
	if b.shared != nil {
		d.release(b.shared)
	}
	for i := range b.warps {
		d.endFences(b.warps[i].id)
		if cs := b.warps[i].async; cs != nil {
			d.spareCopied = append(d.spareCopied, cs.open...) // their entries stay pending
		}
	}
	if d.dependent != nil && !d.clustered {
		delete(d.dependent.waits, b.id)
	}
	d.setBlock(b.id, nil)
	d.cached = nil
	b.reset()
	d.spareBlocks = append(d.spareBlocks, b)
}

package race

import (
	"math/bits"
	"unsafe"

	"heddle/internal/event"
)

// Deferred reads. Most reads of shared memory are of a tile that a barrier of the whole block has
// made known to all: until some thread writes again, no read can race with what was written before
// that barrier, and all that is left to do is to record it for writes to come. Such reads are put
// in a list of the block instead of the shadow memory. If the next write comes behind another
// barrier, and covers what was read, as that of the next tile does, the shadow memory would only
// forget them again, and so does the list. Otherwise the list is recorded late: all that recording
// depends on are the clocks of the reader, which are those behind a barrier and can be made again.
//
// Reports are what they are without the list, with one exception. A row that is not inflated keeps
// two reads of one thread in one epoch, by instructions of different sizes, of which cells keep the
// second alone (access.quick). Since fewer rows are inflated, both may be reported.

// deferredRead is a read by all lanes of a warp. Its address grows by step from each lane to the
// next, and is one of at where a row begins.
type deferredRead struct {
	warp event.Warp
	site event.Site
	clk  uint32
	step uint32
	row  uint8
	at   [event.WarpSize / minDeferredRow]uint32
}

const (
	minDeferredRow = 8
	maxDeferred    = 1 << 12 // reads of a block
	// maxWasted is how many more reads of a block may have been recorded late than forgotten; then
	// none of it is deferred any more. Other blocks do not count, so that what is reported of a block
	// does not depend on them.
	maxWasted = 1 << 8
)

// deferral is what a block has of deferred reads.
type deferral struct {
	// quiet says that all writes to the shared memory, and all operations on it, precede the last
	// barrier of the whole block
	quiet bool
	never bool // asynchronous operations use the shared memory
	reads []deferredRead
	fresh int   // of reads, those since the last barrier of the whole block
	size  uint8 // bytes that each lane reads; the same for all
	// words of reads that nothing has written since, one bit each, and how many there are; cut if
	// some have been written
	live  []uint64
	words int
	cut   bool
	// deferred reads that were recorded late minus those that were forgotten
	wasted int
}

// reset prepares s for another block.
func (s *deferral) reset() {
	s.forget()
	s.quiet, s.never = false, false
}

// forget empties the list.
func (s *deferral) forget() {
	if s.words != 0 {
		clear(s.live)
	}
	s.reads, s.fresh, s.words, s.cut = s.reads[:0], 0, 0, false
}

// known is called behind a barrier of the whole block.
func (s *deferral) known() { s.quiet, s.fresh = !s.never, 0 }

// settled reports whether the state of a warp is that behind a barrier of its block.
func (w *warp) settled() bool {
	return w.even && w.own[0] == w.blk+1 && w.intra == w.blk && w.in == nil && w.ext == nil &&
		w.lane == nil && len(w.peers) == 0
}

// defers defers an access to shared memory if that is possible. Otherwise it prepares the shadow
// memory for the access and returns false.
func (d *Detector) defers(e *event.Access, w *warp, b *block) bool {
	s := &b.deferral
	if !s.quiet && len(s.reads) == 0 {
		return false
	}
	plain := e.Order == event.Weak && e.Proxy == event.GenericProxy && e.Size >= 4
	switch {
	case e.Kind == event.Read:
		if s.quiet && plain && e.Row >= minDeferredRow && w.settled() && s.wasted < maxWasted {
			if s.cut || len(s.reads) == maxDeferred || len(s.reads) > 0 && s.size != e.Size {
				d.catchUp(b)
			}
			d.deferRead(e, w, s)
			return true
		}
		d.catchUp(b)
		return false
	case plain && e.Kind == event.Write && s.fresh == 0 && e.Size >= s.size:
		// The reads in the list happen before the write, which takes their place.
		for m := e.Mask; m != 0 && s.words > 0; m &= m - 1 {
			s.written(e.Addr[bits.TrailingZeros32(m)&31], uint64(e.Size))
		}
		if s.words == 0 {
			s.wasted = max(s.wasted-len(s.reads), -maxWasted)
			s.forget()
		}
	default:
		d.catchUp(b)
	}
	s.quiet = false
	return false
}

// deferRead appends a read to the list.
func (d *Detector) deferRead(e *event.Access, w *warp, s *deferral) {
	d.learnSite(e)
	if len(s.reads) == cap(s.reads) {
		d.bytes += uint64(max(len(s.reads), 1)) * uint64(unsafe.Sizeof(deferredRead{})) // nearly
	}
	s.reads = append(s.reads, deferredRead{warp: e.Warp, site: e.Site, clk: w.own[0],
		step: uint32(e.Step), row: e.Row})
	r := &s.reads[len(s.reads)-1]
	s.fresh++
	s.size = e.Size
	n, size := uint64(e.Row), uint64(e.Size)
	for i, l := 0, uint64(0); l < event.WarpSize; i, l = i+1, l+n {
		at := e.Addr[l&31]
		r.at[i] = uint32(at)
		switch e.Step {
		case 0:
			s.read(at, size)
		case size:
			s.read(at, n*size)
		default:
			s.readEach(e.Addr[l&31:][:n], size)
		}
	}
}

// readEach adds words of elements that lanes read at some distance.
func (s *deferral) readEach(addrs []uint64, size uint64) {
	s.grow(max(addrs[0], addrs[len(addrs)-1]) + size) // they rise or fall
	live, words := s.live, 0
	for _, at := range addrs {
		for w := at / 4; w < (at+size)/4; w++ {
			p := &live[w/64]
			words += int(^*p >> (w % 64) & 1)
			*p |= 1 << (w % 64)
		}
	}
	s.words += words
}

// grow makes room for the words below an address.
func (s *deferral) grow(end uint64) {
	for uint64(len(s.live)) < (end+255)/256 {
		s.live = append(s.live, 0)
	}
}

// read adds the words of n bytes to those of the list.
func (s *deferral) read(addr, n uint64) {
	s.grow(addr + n)
	for from, to := addr/4, (addr+n)/4; from < to; {
		k := min(to-from, 64-from%64)
		m := ^uint64(0) >> (64 - k) << (from % 64)
		if live := &s.live[from/64]; m&^*live != 0 {
			s.words += bits.OnesCount64(m &^ *live)
			*live |= m
		}
		from += k
	}
}

// written takes the words of n bytes from those of the list.
func (s *deferral) written(addr, n uint64) {
	for w := addr / 4; w < (addr+n)/4; w++ {
		if i := w / 64; i < uint64(len(s.live)) && s.live[i]>>(w%64)&1 != 0 {
			s.live[i] &^= 1 << (w % 64)
			s.words--
			s.cut = true
		}
	}
}

// catchUp records the deferred reads, in their order.
func (d *Detector) catchUp(b *block) {
	s := &b.deferral
	if len(s.reads) == 0 {
		return
	}
	s.wasted += len(s.reads)
	var w warp // as the reader was
	var addr [event.WarpSize]uint64
	e := event.Access{Kind: event.Read, Space: event.Shared, Size: s.size, Addr: &addr}
	a := access{Access: &e, w: &w, b: b, mem: d.shadowOf(event.Shared, b)}
	floor := b.floor
	for i := range s.reads {
		r := &s.reads[i]
		w.start(r.warp)
		for l := range w.own {
			w.own[l] = r.clk
		}
		w.intra, w.blk, b.floor = r.clk-1, r.clk-1, r.clk-1
		e.Warp, e.Site, e.Mask, e.Row, e.Step = r.warp, r.site, 0, r.row, uint64(int64(int32(r.step)))
		for l := range addr {
			addr[l] = uint64(r.at[l/int(r.row)] + uint32(l%int(r.row))*r.step)
			if w := addr[l] / 4; s.live[w/64]>>(w%64)&1 != 0 {
				e.Mask |= 1 << l
			}
		}
		if e.Mask != ^uint32(0) {
			e.Row = 0
		}
		e.Active = e.Mask
		d.weak(&a)
	}
	b.floor = floor
	s.forget()
}

// Package queue is the host side of instrumented kernels: it reads the records that they write
// into queues (Barracuda, sections 4.2 and 4.3; layout in package ptx/instrument) and makes them
// events for the detector of races, which follows the same paper.
//
// One goroutine reads each queue. Records of one queue are delivered in the order of their slots,
// those of different queues in any order, except that strong accesses are delivered in the order
// of their tickets. docs/theory/queues.md proves that the detector may use this order.
package queue

import (
	"fmt"
	"maps"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/ptx/instrument"
)

// Options describe one launch and its queues.
type Options struct {
	Result      *instrument.Result // the module
	Geometry    event.Geometry
	Memory      Memory // of the queues, all zero
	Queues      int
	Slots       int          // of each queue, a power of two
	Sink        event.Sink   // gets the events
	Sites       []event.Site // as the sink knows those of Result, or NoSite; nil: by their indices
	SharedBytes uint32       // the end of a block's shared memory
	// Full reports whether the sink takes too much memory. It then gets no more events, and the queues
	// are closed. It is asked now and then; may be nil.
	Full func() bool
}

// NoSite stands for a site that the sink does not know.
const NoSite = ^event.Site(0)

// Summary says what was read.
type Summary struct {
	Records uint64
	Slots   uint64 // of instrument.SlotSize bytes
	Tickets uint64 // of the records with one
	// Invalid counts lanes with misaligned addresses, or outside of shared memory, which have no
	// events: there the device stops.
	Invalid uint64
	// Early counts records of threads that wait at a barrier according to other records: its uses had
	// been told apart wrongly. See docs/theory/queues.md.
	Early uint64
	// Unplaced counts records of sites that the sink does not know, which have no events.
	Unplaced uint64
	// Dropped counts records that found no space after Close, and Missing slots that the device has
	// reserved and nobody has read: of dropped records, of such that were not read before Close, and
	// of such that it had not completed when the kernel was ended.
	Dropped, Missing uint64
	// Held are records that were read and not delivered, because a record with an earlier ticket is
	// missing.
	Held int
	// Cut are blocks of which some threads have neither ended nor wait: the kernel was ended.
	Cut  int
	Full bool // Options.Full ended the delivery
	// Lost says that the device's memory could not be read: what is missing is not known.
	Lost bool
	Err  error // of the first queue that could not be read; nothing of it was delivered from there on
}

// Complete reports whether the events are all of the launch. If not, what was found in them is
// valid, and that nothing was found says nothing.
func (s *Summary) Complete() bool {
	return s.Err == nil && s.Invalid == 0 && s.Early == 0 && s.Unplaced == 0 && s.Dropped == 0 &&
		s.Missing == 0 && s.Held == 0 && s.Cut == 0 && !s.Full && !s.Lost
}

// Host reads the queues of one launch. New makes it; then either Start and Stop, or any number of
// calls of Drain; then End.
type Host struct {
	opt     Options
	sites   []instrument.Site
	readers []*reader

	mu     sync.Mutex
	moved  *sync.Cond // next has changed, or stopped or failed is set
	next   uint64     // ticket
	blocks map[uint32]*block
	shared map[*ir.Var]uint64
	sum    Summary
	read   atomic.Uint64 // records

	stopped bool
	wg      sync.WaitGroup
	part    [event.WarpSize]uint64 // addresses of the event at hand
}

// New prepares the memory of the queues and returns the host.
func New(opt Options) (*Host, error) {
	if opt.Queues < 1 || opt.Slots < 2*instrument.MaxSlots || opt.Slots&(opt.Slots-1) != 0 {
		return nil, fmt.Errorf("%d queues of %d slots: a power of two of at least %d expected",
			opt.Queues, opt.Slots, 2*instrument.MaxSlots)
	}
	h := &Host{opt: opt, sites: opt.Result.Sites, blocks: make(map[uint32]*block),
		shared: make(map[*ir.Var]uint64)}
	h.moved = sync.NewCond(&h.mu)
	for q := range opt.Queues {
		h.readers = append(h.readers, &reader{h: h, number: q,
			ring: instrument.RingAt(q, opt.Queues, opt.Slots)})
	}
	opt.Memory.Store32(instrument.QueuesAt, uint32(opt.Queues))
	opt.Memory.Store32(instrument.SlotsAt, uint32(opt.Slots))
	return h, nil
}

// Close tells the device that nobody reads any more. Records that find no space are dropped from
// then on, and the kernel runs to its end.
func (h *Host) Close() { h.opt.Memory.Store32(instrument.ClosedAt, 1) }

// Start begins to read, by one goroutine for each queue. A goroutine that fails closes the queues.
func (h *Host) Start() {
	for _, q := range h.readers {
		h.wg.Add(1)
		go func() {
			defer h.wg.Done()
			h.follow(q)
		}()
	}
}

// follow reads a queue until the kernel has ended and nothing is left.
func (h *Host) follow(q *reader) {
	const most = time.Millisecond
	pause := time.Duration(0)
	for {
		h.mu.Lock()
		last := h.stopped
		h.mu.Unlock()
		moved, err := h.step(q)
		switch {
		case err != nil:
			h.fail(err)
			return
		case moved:
			pause = 0
		case last:
			return
		case pause == 0:
			runtime.Gosched()
			pause = time.Microsecond
		default:
			time.Sleep(pause)
			pause = min(2*pause, most)
		}
	}
}

// fail records an error. The device need not wait for this host any more.
func (h *Host) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sum.Err == nil {
		h.sum.Err = err
	}
	h.Close()
}

// Stop says that the kernel has ended, and waits until all that it has written is read. What a
// queue holds may wait for tickets of another one, so that the rest is read in turns.
func (h *Host) Stop() {
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	h.wg.Wait()
	h.Drain()
}

// Drain reads what is in the queues, by one goroutine for each, and returns how many records it has
// delivered. The device may write meanwhile.
func (h *Host) Drain() uint64 {
	if h.sum.Err != nil {
		return 0
	}
	before := h.sum.Records
	for {
		start := h.sum.Records
		for _, q := range h.readers {
			h.wg.Add(1)
			go func() {
				defer h.wg.Done()
				for {
					moved, err := h.step(q)
					if err != nil {
						h.fail(err)
						return
					}
					if !moved {
						return
					}
				}
			}()
		}
		h.wg.Wait()
		if h.sum.Records == start || h.sum.Err != nil {
			return h.sum.Records - before
		}
	}
}

// step reads and delivers one record of a queue. moved is false if there is none, or if it waits
// for an earlier ticket.
func (h *Host) step(q *reader) (moved bool, err error) {
	if !q.pending {
		if q.pending, err = q.read(); !q.pending || err != nil {
			return false, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if q.rec.flags&instrument.FlagTicket != 0 {
		if q.rec.ticket != uint32(h.next) {
			return false, nil
		}
		h.next++
		h.sum.Tickets++
	}
	q.pending = false
	h.sum.Records++
	h.read.Add(1)
	h.sum.Slots += uint64(q.rec.slots)
	if h.opt.Full != nil && h.sum.Records%askFull == 0 && !h.sum.Full && h.opt.Full() {
		h.sum.Full = true
		h.Close()
	}
	if !h.sum.Full {
		h.deliver(&q.rec)
	}
	return true, nil
}

// askFull is the number of records after which Options.Full is asked again.
const askFull = 1 << 12

// Read returns how many records were delivered so far. It may be called at any time.
func (h *Host) Read() uint64 { return h.read.Load() }

// End sends the Stall events of blocks in which every thread that has not ended waits, and returns
// what was read. device is the device's memory from instrument.DevicePtr on, which was zero before
// the launch; nil if it cannot be read.
func (h *Host) End(device Memory) Summary {
	for _, id := range slices.Sorted(maps.Keys(h.blocks)) {
		if !h.stall(h.blocks[id]) {
			h.sum.Cut++
		}
	}
	for _, q := range h.readers {
		if q.pending {
			h.sum.Held++
		}
		if device != nil {
			h.sum.Missing += device.Load64(instrument.DeviceHeader+q.number*instrument.DeviceQueue) - q.next
		}
	}
	if h.sum.Lost = device == nil; !h.sum.Lost {
		h.sum.Dropped = device.Load64(instrument.DroppedAt)
	}
	return h.sum
}

// Shared returns the addresses of shared variables, as far as the kernel has logged them. It is to
// be called after End.
func (h *Host) Shared() map[*ir.Var]uint64 { return h.shared }

// blockOf returns the state of the block of a warp.
func (h *Host) blockOf(w event.Warp) *block {
	id := h.opt.Geometry.BlockOf(w)
	b := h.blocks[id]
	if b == nil {
		b = newBlock(&h.opt.Geometry, id)
		h.blocks[id] = b
	}
	return b
}

// deliver sends the events of a record.
func (h *Host) deliver(r *record) {
	if s := &h.sites[r.site]; s.What == instrument.Layout { // no event, and nothing of the block
		h.shared[s.Var] = r.addr[bits.TrailingZeros32(r.mask)]
		return
	}
	if h.site(r.site) == NoSite {
		h.sum.Unplaced++
		return
	}
	b := h.blockOf(r.warp)
	if w := &b.warps[b.index(r.warp)]; w.waits&r.mask != 0 {
		h.early(b, r.warp, r.mask)
	}
	s := &h.sites[r.site]
	switch s.What {
	case instrument.Access:
		if len(s.With) == 0 {
			h.access(r, r.site, 0)
		}
		for _, m := range s.With {
			h.access(r, m.Site, m.Offset)
		}
	case instrument.Fence:
		h.opt.Sink.Fence(&event.Fence{Warp: r.warp, Site: h.site(r.site), Mask: r.mask,
			Active: r.active, Order: s.Instr.Order, Scope: s.Instr.Scope, Orders: s.Instr.Orders})
	case instrument.Arrive:
		h.arrivals(b, r, s)
	case instrument.WarpSync:
		for left := r.mask; left != 0; {
			same := r.sameAs(left)
			left &^= same
			v := r.addr[bits.TrailingZeros32(same)]
			h.warpSync(b, wait{Wait: event.Wait{Warp: r.warp, Mask: same, Site: h.site(r.site),
				WarpBar: true, Members: uint32(v)}, orders: s.Instr.Orders,
				all: s.Func.WholeWarp(&s.Instr.Src[0])})
		}
	case instrument.CopyIssue:
		h.copy(r, s)
	case instrument.CopyGroup:
		h.opt.Sink.CopyGroup(&event.CopyGroup{Warp: r.warp, Site: h.site(r.site), Mask: r.mask,
			Active: r.active, Commit: s.Commit, Wait: s.Wait, Pending: s.Pending})
	case instrument.Exit:
		h.exit(b, r.warp, r.mask)
	case instrument.Converge:
		if i := b.index(r.warp); b.active[i] != r.mask {
			b.active[i] = r.mask
			h.opt.Sink.Converge(&event.Converge{Warp: r.warp, Mask: r.mask})
		}
	}
}

// site returns a site as the sink knows it.
func (h *Host) site(n int) event.Site {
	if h.opt.Sites != nil {
		return h.opt.Sites[n]
	}
	return event.Site(n)
}

// sameAs returns the lanes among left that have the value of the first of them in place of an
// address.
func (r *record) sameAs(left uint32) uint32 {
	same, v := uint32(0), r.addr[bits.TrailingZeros32(left)]
	for m := left; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); r.addr[l] == v {
			same |= 1 << l
		}
	}
	return same
}

// arrivals delivers the arrivals of a record: lanes with one barrier and count arrive together.
func (h *Host) arrivals(b *block, r *record, s *instrument.Site) {
	u, _ := s.Instr.NumberedBarrier()
	for left := r.mask; left != 0; {
		same := r.sameAs(left)
		left &^= same
		v := r.addr[bits.TrailingZeros32(same)]
		id, count := uint32(v), uint32(v>>32)
		if id >= numBarriers {
			h.sum.Invalid += uint64(bits.OnesCount32(same))
			continue
		}
		a := event.Arrive{Warp: r.warp, Site: h.site(r.site), Mask: same, Active: r.active,
			Barrier: uint8(id), Count: count, Op: s.Op, Red: s.Red, Aligned: s.Aligned,
			Orders: s.Instr.Orders}
		h.opt.Sink.Arrive(&a)
		h.arrive(b, wait{Wait: event.Wait{Warp: r.warp, Mask: same, Site: a.Site, Barrier: a.Barrier,
			Count: count, Aligned: s.Aligned}, leaves: s.Op == event.BarArrive}, u.Count != nil)
	}
}

// copy delivers the issue of a copy. Its data are the sources, and how many bytes are read there.
func (h *Host) copy(r *record, s *instrument.Site) {
	var read [event.WarpSize]uint8
	for m := r.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if read[l] = uint8(r.data[1][l]); r.data[1][l] > uint64(s.Size) {
			r.mask &^= 1 << l
			h.sum.Invalid++
		}
	}
	mask := h.inShared(h.aligned(r.mask, &r.data[0], s.Size), &r.addr, s.Size)
	if mask != 0 {
		h.opt.Sink.Copy(&event.Copy{Warp: r.warp, Site: h.site(r.site), Mask: mask, Active: r.active,
			Size: uint8(s.Size), To: &r.addr, From: &r.data[0], Read: &read})
	}
}

// aligned returns the lanes whose addresses are multiples of the size of the access. Others are
// invalid (PTX ISA 6.4.1): the device stops there.
func (h *Host) aligned(mask uint32, addr *[event.WarpSize]uint64, size int) uint32 {
	for m := mask; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); addr[l]%uint64(size) != 0 {
			mask &^= 1 << l
			h.sum.Invalid++
		}
	}
	return mask
}

// inShared returns the lanes with valid accesses to shared memory.
func (h *Host) inShared(mask uint32, addr *[event.WarpSize]uint64, size int) uint32 {
	mask = h.aligned(mask, addr, size)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if addr[l] > uint64(h.opt.SharedBytes) || addr[l]+uint64(size) > uint64(h.opt.SharedBytes) {
			mask &^= 1 << l
			h.sum.Invalid++
		}
	}
	return mask
}

// access delivers an access by a site: that of the record, or one for which the record stands.
func (h *Host) access(r *record, site int, offset int64) {
	s := &h.sites[site]
	e := event.Access{Warp: r.warp, Site: h.site(site), Active: r.active, Kind: s.Access.Kind,
		Order: s.Access.Order, Scope: s.Access.Scope, Orders: s.Instr.Orders, Proxy: s.Access.Proxy,
		Size: uint8(s.Size), Elem: uint8(s.Elem), Addr: &h.part}
	if s.Access.Kind == event.Write && site == r.site && r.known {
		e.Data = &r.data
	}
	stored := uint32(0)
	switch {
	case s.Ticket && s.Access.Kind.RMW():
		stored = r.stored
	case s.Access.Kind.Writes():
		stored = r.mask
	}
	shared := uint32(0)
	for m := r.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		h.part[l] = r.addr[l] + uint64(offset)
		if s.Access.Space == event.Shared { // its addresses have 32 bits (PTX ISA 6.4.1)
			h.part[l] &= 1<<32 - 1
		}
		if s.Access.Space == event.Generic && h.part[l]&instrument.SharedBit != 0 {
			h.part[l] &^= instrument.SharedBit
			shared |= 1 << l
		}
	}
	if s.Access.Space == event.Shared {
		shared = r.mask
	}
	global := r.mask &^ shared
	if shared = h.inShared(shared, &h.part, s.Size); shared != 0 {
		e.Space, e.Mask, e.Stored = event.Shared, shared, stored&shared
		h.send(r, &e)
	}
	if global = h.aligned(global, &h.part, s.Size); global != 0 {
		e.Space, e.Mask, e.Stored = event.Global, global, stored&global
		h.send(r, &e)
	}
}

// send sends an access, with a summary of its addresses if they are affine.
func (h *Host) send(r *record, e *event.Access) {
	e.Row = 0
	if e.Mask == ^uint32(0) && r.form == instrument.FormAffine && r.row == 0 {
		e.Row, e.Step = event.WarpSize, uint64(int64(r.stride))
	}
	h.opt.Sink.Access(e)
}

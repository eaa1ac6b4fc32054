package race

import (
	"testing"

	"heddle/internal/event"
)

// phases drives a detector of one block of two warps, by lane 0 of each.
type phases struct {
	d    *Detector
	site event.Site
	ops  uint64
}

const barAt = 1024 // the mbarrier

func newPhases() *phases { return phasesOf(event.Independent) }

// phasesOf is newPhases for a model of warps.
func phasesOf(model event.WarpModel) *phases {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	p := &phases{d: New(Options{Geometry: event.Geometry{Grid: one, Block: event.Dim3{X: 64, Y: 1,
		Z: 1},
		Cluster: one}, SharedBytes: 2048, Model: model})}
	p.bar(0, event.MBarrierInit, 0)
	p.sync()
	return p
}

func (p *phases) next() event.Site { p.site++; return p.site }

func (p *phases) sync() {
	site := p.next()
	for w := range event.Warp(2) {
		p.d.Arrive(&event.Arrive{Warp: w, Site: site, Mask: ^uint32(0), Active: ^uint32(0)})
	}
	p.d.Complete(&event.Complete{})
}

func (p *phases) bar(w event.Warp, op event.MBarrierOp, phase uint64) {
	e := event.MBarrier{Warp: w, Site: p.next(), Mask: 1, Active: 1, Op: op, Addr: barAt,
		Phase: phase}
	switch op {
	case event.MBarrierArrive:
		e.Order, e.Scope = event.Release, event.CTA
	case event.MBarrierWait:
		e.Order, e.Scope = event.Acquire, event.CTA
	case event.MBarrierComplete:
		e.Mask = 0
	}
	p.d.MBarrier(&e)
}

func (p *phases) access(w event.Warp, kind event.Kind, addr uint64, size uint8) {
	e := event.Access{Warp: w, Site: p.next(), Mask: 1, Active: 1, Kind: kind, Space: event.Shared,
		Size: size, Addr: &[event.WarpSize]uint64{addr}}
	if kind == event.Write {
		e.Stored = 1
	}
	p.d.Access(&e)
}

// load issues a bulk copy to shared memory, and returns its number.
func (p *phases) load(w event.Warp, to, size uint64) uint64 {
	p.ops++
	p.d.Bulk(&event.Bulk{ID: p.ops, Warp: w, Site: p.next(), Mask: 1, Active: 1,
		From: event.Range{Space: event.Global, Addr: 1 << 20, Size: size},
		To:   event.Range{Space: event.Shared, Addr: to, Size: size}, Addr: barAt})
	return p.ops
}

// store issues a bulk copy from shared memory.
func (p *phases) store(w event.Warp, from, size uint64) {
	p.ops++
	p.d.Bulk(&event.Bulk{ID: p.ops, Warp: w, Site: p.next(), Mask: 1, Active: 1, Grouped: true,
		From: event.Range{Space: event.Shared, Addr: from, Size: size},
		To:   event.Range{Space: event.Global, Addr: 1<<20 + p.ops<<12, Size: size}})
}

func (p *phases) signal(id uint64) { p.d.Signal(&event.Signal{ID: id, Addr: barAt}) }

func (p *phases) fence(w event.Warp) {
	p.d.ProxyFence(&event.ProxyFence{Warp: w, Site: p.next(), Mask: 1, Active: 1})
}

// want compares the number of races and of late fences.
func (p *phases) want(t *testing.T, what string, races, late int) {
	t.Helper()
	if r := p.d.Report(); len(r.Races) != races || len(r.Late) != late {
		t.Errorf("%s: races %+v, late %+v; want %d and %d", what, r.Races, r.Late, races, late)
	}
}

// Operations that are under way at one time are told apart: the completion of one says nothing of
// the other (PTX ISA 9.7.13.15.5).
func TestBulkSlots(t *testing.T) {
	for _, both := range []bool{false, true} {
		p := newPhases()
		first, second := p.load(0, 0, 64), p.load(0, 64, 64)
		p.signal(second)
		if both {
			p.signal(first)
		}
		p.bar(0, event.MBarrierComplete, 0)
		p.bar(1, event.MBarrierWait, 0)
		p.access(1, event.Read, 64, 4)
		p.want(t, "the copy that has signalled", 0, 0)
		p.access(1, event.Read, 0, 4)
		if both {
			p.want(t, "both have signalled", 0, 0)
		} else {
			p.want(t, "the copy that has not", 1, 0)
		}
	}
}

// An arrival releases what is before it, and not what its thread does then.
func TestArrivalEndsAnEpoch(t *testing.T) {
	p := newPhases()
	p.access(0, event.Write, 0, 4)
	p.bar(0, event.MBarrierArrive, 0)
	p.bar(0, event.MBarrierComplete, 0)
	p.bar(1, event.MBarrierWait, 0)
	p.access(1, event.Read, 0, 4)
	p.want(t, "before the arrival", 0, 0)
	p.access(0, event.Write, 64, 4)
	p.access(1, event.Read, 64, 4)
	p.want(t, "behind the arrival", 1, 0)
}

// Words that share a cell, because they were accessed together, have one history.
func TestBulkTwins(t *testing.T) {
	p := newPhases()
	p.access(0, event.Write, 0, 8)
	p.sync()
	p.access(1, event.Write, 0, 8)
	p.fence(1)
	p.store(1, 0, 16)
	p.want(t, "written by the issuer since", 0, 0)

	p = newPhases()
	p.access(0, event.Write, 0, 8)
	p.sync()
	p.fence(1)
	p.store(1, 0, 16)
	p.want(t, "the fence of the issuer", 0, 1)
}

// Two arrivals behind one copy (PTX ISA 9.7.13.15.15): its own wait still covers the copy.
func TestCopyArrivesTwice(t *testing.T) {
	p := newPhases()
	p.d.Copy(&event.Copy{Warp: 0, Site: p.next(), Mask: 1, Active: 1, Size: 16,
		To: &[event.WarpSize]uint64{}, From: &[event.WarpSize]uint64{1 << 20},
		Read: &[event.WarpSize]uint8{16}})
	for id := range uint64(2) {
		p.d.CopyArrive(&event.CopyArrive{ID: id, Warp: 0, Site: p.next(), Mask: 1, Active: 1,
			Addr: barAt})
	}
	p.d.CopyGroup(&event.CopyGroup{Warp: 0, Site: p.next(), Mask: 1, Active: 1, Commit: true,
		Wait: true})
	p.access(0, event.Read, 0, 4)
	p.want(t, "behind the wait", 0, 0)
	p.access(1, event.Read, 0, 4)
	p.want(t, "another thread", 1, 0)
}

// Ranges of a memory are split at parts, and a long list drops what all threads know.
func TestBulkRanges(t *testing.T) {
	p := newPhases()
	for i := range uint64(300) {
		id := p.load(0, 16*(i%64), 16)
		p.signal(id)
		p.bar(0, event.MBarrierComplete, i)
		p.bar(0, event.MBarrierWait, i)
		p.bar(1, event.MBarrierWait, i)
	}
	p.access(0, event.Write, 0, 4)
	p.want(t, "all are complete", 0, 0)
	p.load(0, 32, 16)
	p.access(1, event.Read, 40, 4)
	p.want(t, "the last one is not", 1, 0)
}

// The accesses of a copy, by element size: bytes, halves, words, vectors, and their mixtures, in
// rows and in cells.
func TestBulkShapes(t *testing.T) {
	for _, size := range []uint8{1, 2, 4, 8, 16} {
		for _, lanes := range []uint32{1, ^uint32(0)} {
			for mixed := range 2 {
				p := newPhases()
				e := event.Access{Warp: 1, Site: p.next(), Mask: lanes, Active: lanes, Kind: event.Write,
					Space: event.Shared, Size: size, Addr: new([event.WarpSize]uint64), Stored: lanes}
				for l := range e.Addr {
					e.Addr[l] = 256 + uint64(l)*uint64(size)
				}
				p.d.Access(&e)
				if mixed == 1 {
					p.access(1, event.Write, 256, 1)
				}
				end := (256 + 32*uint64(size) + 15) &^ 15
				if lanes == 1 {
					end = 272
				}
				p.store(0, 0, 256)
				p.store(0, end, 64)
				p.want(t, "beside the access", 0, 0)
				p.store(0, 256, 16)
				if r := p.d.Report(); len(r.Races) == 0 || r.Races[0].Cause != Unordered {
					t.Errorf("size %d, lanes %#x, mixed %d: %+v", size, lanes, mixed, r.Races)
				}
			}
		}
	}
}

// A block writes global memory, executes a proxy fence, publishes and ends. Another block that has
// acquired this copies what was written: the fence counts although its block is gone (PTX ISA
// 8.9.5). Without the fence they race, and what the detector keeps of ended blocks is little.
func TestProxyFenceOutlivesItsBlock(t *testing.T) {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	for _, fenced := range []bool{true, false} {
		d := New(Options{Geometry: event.Geometry{Grid: event.Dim3{X: 500, Y: 1, Z: 1},
			Block: event.Dim3{X: 32, Y: 1, Z: 1}, Cluster: one}, SharedBytes: 64})
		flag := func(w event.Warp, site event.Site, kind event.Kind, order event.Order) {
			e := event.Access{Warp: w, Site: site, Mask: 1, Active: 1, Kind: kind, Space: event.Global,
				Order: order, Scope: event.GPU, Size: 4, Addr: &[event.WarpSize]uint64{1 << 30}}
			if kind == event.Write {
				e.Stored = 1
			}
			d.Access(&e)
		}
		d.Access(&event.Access{Warp: 0, Site: 1, Mask: 1, Active: 1, Kind: event.Write,
			Space: event.Global, Size: 4, Addr: &[event.WarpSize]uint64{1 << 20}, Stored: 1})
		for range 20 {
			space := event.Shared
			if fenced {
				space = event.NoSpace
			}
			d.ProxyFence(&event.ProxyFence{Warp: 0, Site: 2, Mask: 1, Active: 1, Space: space})
		}
		flag(0, 3, event.Write, event.Release)
		d.Exit(&event.Exit{Warp: 0, Mask: ^uint32(0)})
		before := d.Memory()
		for w := event.Warp(2); w < 500; w++ {
			for range 30 {
				d.ProxyFence(&event.ProxyFence{Warp: w, Site: 2, Mask: 1, Active: 1})
			}
			d.Exit(&event.Exit{Warp: w, Mask: ^uint32(0)})
		}
		if grown := d.Memory() - before; grown > 498*keptFences*fenceBytes {
			t.Errorf("498 blocks leave %d bytes", grown)
		}
		flag(1, 4, event.Read, event.Acquire)
		d.Bulk(&event.Bulk{ID: 1, Warp: 1, Site: 5, Mask: 1, Active: 1,
			From: event.Range{Space: event.Global, Addr: 1 << 20, Size: 16},
			To:   event.Range{Space: event.Shared, Addr: 0, Size: 16}, Grouped: true})
		r := d.Report()
		if fenced && len(r.Races)+len(r.Late) > 0 {
			t.Errorf("with a fence: %+v %+v", r.Races, r.Late)
		}
		if !fenced && (len(r.Races) != 1 || r.Races[0].Cause != NoProxyFence) {
			t.Errorf("without a fence: %+v", r.Races)
		}
	}
}

// A non-coherent load goes through the texture proxy, which the completion of a copy does not order
// with the copy's writes (PTX ISA 8.9.5): it races, though an ordinary load does not.
func TestNoncoherentLoadBehindBulk(t *testing.T) {
	for _, proxy := range []event.Proxy{event.GenericProxy, event.TextureProxy} {
		p := newPhases()
		p.store(0, 0, 16)
		p.d.BulkGroup(&event.BulkGroup{Warp: 0, Site: p.next(), Mask: 1, Active: 1, Commit: true})
		p.d.BulkGroup(&event.BulkGroup{Warp: 0, Site: p.next(), Mask: 1, Active: 1})
		p.sync()
		p.d.Access(&event.Access{Warp: 1, Site: p.next(), Mask: 1, Active: ^uint32(0), Size: 4,
			Kind: event.Read, Space: event.Global, Proxy: proxy,
			Addr: &[event.WarpSize]uint64{1<<20 + 1<<12}})
		r := p.d.Report().Races
		switch {
		case proxy == event.GenericProxy && len(r) > 0:
			t.Errorf("an ordinary load: %+v", r)
		case proxy == event.TextureProxy && (len(r) != 1 || r[0].Cause != OtherProxy):
			t.Errorf("a non-coherent load: %+v, want one race by proxy", r)
		}
	}
}

// The log of proxy fences drops those of which a later one is known to all threads. It keeps the
// later one, which orders what is before it, and no access behind it.
func TestProxyFencesAreCompacted(t *testing.T) {
	p := newPhases()
	p.access(0, event.Write, 0, 4)
	for range 2*maxFences + 1 {
		p.fence(0)
		p.sync()
	}
	if n := len(p.d.proxies[0].list); n > maxFences+1 {
		t.Errorf("%d fences are kept of %d that all threads know", n, 2*maxFences+1)
	}
	p.access(0, event.Write, 64, 4)
	p.sync()
	p.store(1, 0, 16)
	p.want(t, "written before the fences", 0, 0)
	p.store(1, 64, 16)
	p.want(t, "written behind the fences", 1, 0)
}

// A fence that some thread does not know yet replaces none of those that it knows.
func TestUnknownProxyFenceReplacesNone(t *testing.T) {
	p := newPhases()
	p.access(0, event.Write, 0, 4)
	for range maxFences - 1 {
		p.fence(0)
		p.sync()
	}
	p.fence(0)
	p.fence(0) // compacts
	p.store(1, 0, 16)
	p.want(t, "a fence that all know", 0, 0)
}

// Two lanes read by one instruction, and one of them arrives: its read misses nothing but a proxy
// fence, which --proxy-war ignore takes for right. The other lane's read is not ordered at all and
// stays a race, whichever of the two is found first.
func TestReadsBehindProxy(t *testing.T) {
	for _, arrives := range []uint32{1, 2, 3} {
		p := newPhases()
		p.d.Access(&event.Access{Warp: 1, Site: p.next(), Mask: 3, Active: 3, Kind: event.Read,
			Space: event.Shared, Size: 4, Addr: &[event.WarpSize]uint64{0, 4}})
		p.d.MBarrier(&event.MBarrier{Warp: 1, Site: p.next(), Mask: arrives, Active: arrives,
			Op: event.MBarrierArrive, Addr: barAt, Count: 1, Order: event.Release, Scope: event.CTA})
		p.bar(0, event.MBarrierComplete, 0)
		p.bar(0, event.MBarrierWait, 0)
		p.load(0, 0, 64)
		r := p.d.Report()
		if r.Proxies(false, true); (len(r.Races) == 0) != (arrives == 3) {
			t.Errorf("lanes %#x arrive: races %+v", arrives, r.Races)
		}
	}
}

// In lock step, what a warp does behind a bulk copy is not in front of it: the copy reads what the
// next instruction writes, and no thread has waited for it (PTX ISA 9.7.9.25, completion).
func TestBulkInLockstep(t *testing.T) {
	for _, model := range []event.WarpModel{event.Independent, event.Lockstep} {
		p := phasesOf(model)
		p.access(0, event.Write, 0, 4)
		p.fence(0)
		p.store(0, 0, 64)
		p.want(t, "a write and a fence in front of the copy", 0, 0)
		p.access(0, event.Write, 0, 4)
		p.want(t, "a write behind the copy", 1, 0)
	}
}

// Copies that no thread has waited for are kept, however many there are: the first one still races.
func TestManyBulkCopies(t *testing.T) {
	p := newPhases()
	for i := range uint64(70) {
		p.load(0, 4*i, 4)
	}
	p.access(1, event.Read, 0, 4)
	p.want(t, "a read of what the first of many copies writes", 1, 0)
}

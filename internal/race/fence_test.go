package race

import (
	"testing"

	"heddle/internal/event"
)

// A release pattern passes on what its thread has learned before the fence, however it learned it:
// causality order is transitive (PTX ISA 8.9.5).
func TestFencePassesOn(t *testing.T) {
	const source, middle = event.Thread(1), event.Thread(32)
	geo := conflictGeometry
	geo.Block.X = 96
	sink := event.ThreadOf(6, 0) // of another block
	sync := func(warps ...event.Warp) func(*Detector) {
		return func(d *Detector) {
			for _, w := range warps {
				d.Arrive(&event.Arrive{Warp: w, Mask: ^uint32(0), Active: ^uint32(0), Barrier: 1,
					Count: 64})
			}
			d.Complete(&event.Complete{Barrier: 1})
		}
	}
	for _, c := range []struct {
		what  string
		from  event.Thread // whose write the sink reads
		model event.WarpModel
		learn func(*Detector)
		want  bool // there is a race
	}{
		{"nothing", source, event.Independent, func(*Detector) {}, true},
		{"an acquire of one lane", source, event.Independent, func(d *Detector) {
			pass(d, source, middle, 16, 20)
		}, false},
		{"two lanes of a warp", middle + 1, event.Independent, func(d *Detector) {
			d.WarpSync(&event.WarpSync{Warp: 1, Mask: 3})
		}, false},
		{"other lanes of the warp", middle + 1, event.Independent, func(d *Detector) {
			d.WarpSync(&event.WarpSync{Warp: 1, Mask: 5})
		}, true},
		{"a named barrier of two warps", source, event.Independent, sync(0, 1), false},
		{"lock step of two lanes", middle + 1, event.Lockstep, func(d *Detector) {
			d.Converge(&event.Converge{Warp: 1, Mask: 3})
		}, false},
		{"lock step of other lanes", middle + 1, event.Lockstep, func(d *Detector) {
			d.Converge(&event.Converge{Warp: 1, Mask: 5})
		}, true},
	} {
		d := New(Options{Geometry: geo, Model: c.model, SharedBytes: 64})
		data := side{Access: event.Access{Kind: event.Write}, t: c.from, size: 4}
		data.send(d, global, 1)
		c.learn(d)
		pass(d, middle, sink, 8, 10)
		data.Kind, data.t = event.Read, sink
		data.send(d, global, 2)
		if got := racing(d); got != c.want {
			t.Errorf("%s: a race: %v, want %v", c.what, got, c.want)
		}
	}
}

// pass lets one thread release by a fence and a relaxed store to addr, and another acquire by a
// load and a fence: the patterns of PTX ISA 8.8. It uses two sites, from at.
func pass(d *Detector, from, to event.Thread, addr uint64, at event.Site) {
	fence := func(t event.Thread, o event.Order) {
		d.Fence(&event.Fence{Warp: t.Warp(), Mask: 1 << t.Lane(), Active: 1 << t.Lane(), Order: o,
			Scope: event.GPU})
	}
	store, load := strong(from, event.Write), strong(to, event.Read)
	store.addr, load.addr = addr, addr
	fence(from, event.Release)
	store.send(d, global, at)
	load.send(d, global, at+1)
	fence(to, event.Acquire)
}

// In a branch that two lanes execute in lock step, a fence of one lane passes on what the other did
// in the instruction before.
func TestFenceInBranch(t *testing.T) {
	for _, active := range []uint32{3, 1} { // 1: the other lane was in another branch
		d := New(Options{Geometry: conflictGeometry, Model: event.Lockstep, SharedBytes: 64})
		data := event.Access{Site: 1, Kind: event.Write, Space: global, Size: 4, Mask: 2, Active: 3,
			Stored: 2, Addr: new([event.WarpSize]uint64), Data: new([4][event.WarpSize]uint64)}
		if active == 1 {
			data.Active = 2
		}
		d.Access(&data)
		flag := event.Access{Site: 2, Kind: event.Write, Order: event.Relaxed, Scope: event.GPU,
			Space: global, Size: 4, Mask: 1, Active: active, Stored: 1, Addr: new([event.WarpSize]uint64)}
		flag.Addr[0] = 8
		d.Fence(&event.Fence{Mask: 1, Active: active, Order: event.Release, Scope: event.GPU})
		d.Access(&flag)
		far := event.ThreadOf(4, 0)
		load := strong(far, event.Read)
		load.addr = 8
		load.send(d, global, 3)
		d.Fence(&event.Fence{Warp: 4, Mask: 1, Active: 1, Order: event.Acquire, Scope: event.GPU})
		weak(far, event.Read).send(d, global, 4)
		if got, want := racing(d), active == 1; got != want {
			t.Errorf("active lanes %#x: a race: %v, want %v", active, got, want)
		}
	}
}

// A fence only acquires or only releases, as its order says (PTX ISA 9.7.13.4).
func TestFenceOrders(t *testing.T) {
	for _, c := range []struct {
		release, acquire event.Order
		want             bool // there is a race
	}{
		{event.Release, event.Acquire, false}, {event.AcqRel, event.SeqCst, false},
		{event.Acquire, event.Acquire, true}, {event.Release, event.Release, true},
	} {
		d := lone(event.BenignWarp)
		from, to := event.Thread(0), event.ThreadOf(4, 0)
		data := side{Access: event.Access{Kind: event.Write}, t: from, size: 4}
		data.send(d, global, 1)
		store, load := strong(from, event.Write), strong(to, event.Read)
		store.addr, load.addr = 8, 8
		d.Fence(&event.Fence{Mask: 1, Active: 1, Order: c.release, Scope: event.GPU})
		store.send(d, global, 2)
		load.send(d, global, 3)
		d.Fence(&event.Fence{Warp: 4, Mask: 1, Active: 1, Order: c.acquire, Scope: event.GPU})
		data.Kind, data.t = event.Read, to
		data.send(d, global, 4)
		if got := racing(d); got != c.want {
			t.Errorf("%v and %v: a race: %v, want %v", c.release, c.acquire, got, c.want)
		}
	}
}

// A load that acquires what a store released orders the accesses around them (PTX ISA 8.8 and
// 8.9.5), except if the run stands for all others: in another one the load may read an older value,
// and then nothing is ordered.
func TestStaticReleases(t *testing.T) {
	for _, static := range []bool{false, true} {
		d := New(Options{Geometry: conflictGeometry, SharedBytes: 64, Static: static})
		from, to := event.Thread(0), event.ThreadOf(4, 0)
		store, load := strong(from, event.Write), strong(to, event.Read)
		store.Order, load.Order = event.Release, event.Acquire
		store.addr, load.addr = 8, 8
		weak(from, event.Write).send(d, global, 1)
		store.send(d, global, 2)
		load.send(d, global, 3)
		weak(to, event.Read).send(d, global, 4)
		if got := racing(d); got != static {
			t.Errorf("for all runs: %v, a race: %v, want %v", static, got, static)
		}
	}
}

// A store that an atomic has observed precedes what follows the atomic (PTX ISA 8.9.5), whether the
// store is the first strong access or one in between is not ordered with it.
func TestObservedByAtomic(t *testing.T) {
	for _, between := range []bool{false, true} {
		d := lone(event.BenignWarp)
		strong(0, event.Write).send(d, global, 1)
		if between { // it may be last in the coherence order: the atomic need not see it
			strong(64, event.Write).send(d, global, 2)
		}
		strong(32, event.Atomic).send(d, global, 3)
		side{Access: event.Access{Kind: event.Read}, t: 32, size: 4}.send(d, global, 4)
		if got := racing(d); got != between {
			t.Errorf("a store between: %v, a race: %v", between, got)
		}
	}
}

// An atomic that another one has observed precedes what follows that one (PTX ISA 8.9.5). One that
// stored nothing, a failed compare-and-swap, cannot be observed.
func TestObservedAtomic(t *testing.T) {
	for _, stored := range []bool{true, false} {
		d := lone(event.BenignWarp)
		a := event.Access{Site: 1, Kind: event.Atomic, Order: event.Relaxed, Scope: event.GPU,
			Space: global, Size: 4, Mask: 1, Active: 1, Addr: new([event.WarpSize]uint64)}
		if stored {
			a.Stored = 1
		}
		d.Access(&a)
		strong(32, event.Atomic).send(d, global, 2)
		weak(32, event.Write).send(d, global, 3)
		if got, want := racing(d), !stored; got != want {
			t.Errorf("it stored: %v, a race: %v, want %v", stored, got, want)
		}
	}
}

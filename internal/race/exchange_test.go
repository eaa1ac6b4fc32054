package race

import (
	"slices"
	"testing"

	"heddle/internal/event"
)

// steps sends accesses to a detector, each from a site of its own, and returns the exchanges.
func steps(list ...side) []Exchange {
	d := lone(event.BenignWarp)
	for i, s := range list {
		s.send(d, event.Global, event.Site(i))
	}
	return d.Report().Exchanges
}

// strong is a relaxed access of scope gpu to the word at address 0.
func strong(t event.Thread, k event.Kind) side {
	return side{Access: event.Access{Kind: k, Order: event.Relaxed, Scope: event.GPU}, t: t, size: 4}
}

// pairsOf are the sites of the exchanges, in order.
func pairsOf(list []Exchange) [][2]event.Site {
	var out [][2]event.Site
	for i := range list {
		out = append(out, [2]event.Site{list[i].First.Site, list[i].Second.Site})
	}
	return out
}

// A load behind two stores that are not ordered is paired with the store of another thread,
// although a store of its own thread is the last (PTX ISA 8.9.1: program order is of one thread).
func TestExchangeBehindOwnStore(t *testing.T) {
	got := pairsOf(steps(strong(0, event.Write), strong(1, event.Write), strong(1, event.Read)))
	want := [][2]event.Site{{0, 1}, {0, 2}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("pairs %v, want %v", got, want)
	}
}

// A store of the same thread replaces its accesses: no pair of one thread, one pair with another.
func TestExchangeOfOneThread(t *testing.T) {
	got := pairsOf(steps(strong(0, event.Write), strong(0, event.Read), strong(0, event.Write)))
	if len(got) != 0 {
		t.Errorf("one thread: pairs %v, want none", got)
	}
	got = pairsOf(steps(strong(0, event.Write), strong(0, event.Write), strong(1, event.Read)))
	if len(got) != 1 || got[0] != [2]event.Site{1, 2} {
		t.Errorf("pairs %v, want the last store and the load", got)
	}
}

// A release store and an acquire load that nothing orders are no pair (event.Unordered), and a
// relaxed store after them is a pair with that load, also if it follows the release store.
func TestExchangeBehindRelease(t *testing.T) {
	load, release := strong(0, event.Read), strong(1, event.Write)
	load.Order, release.Order = event.Acquire, event.Release
	got := pairsOf(steps(load, release, strong(1, event.Write)))
	if len(got) != 1 || got[0] != [2]event.Site{0, 2} {
		t.Errorf("pairs %v, want the acquire load and the relaxed store", got)
	}
}

// What the run says about a location counts whether it comes before or after the pair.
func TestExchangeUse(t *testing.T) {
	store, load := strong(0, event.Write), strong(1, event.Read)
	add := strong(2, event.Reduce)
	release, acquire := strong(3, event.Write), strong(3, event.Read)
	release.Order, acquire.Order = event.Release, event.Acquire
	other := strong(2, event.Reduce)
	other.addr = 4
	for _, c := range []struct {
		what            string
		list            []side
		atomic, ordered bool
	}{
		{"nothing else", []side{store, load}, false, false},
		{"an atomic on another word", []side{other, store, load}, false, false},
		{"an atomic first", []side{add, store, load}, true, false},
		{"an atomic last", []side{store, load, add}, true, false},
		{"an acquire last", []side{store, load, acquire}, false, true},
		{"a release first", []side{release, store, load}, false, true},
	} {
		for _, x := range steps(c.list...) {
			if x.Atomic != c.atomic || x.Ordered != c.ordered || x.Apart {
				t.Errorf("%s: %+v", c.what, x)
			}
		}
	}
}

// A location of shared memory ends with its block, and its pairs remain.
func TestExchangeOfEndedBlock(t *testing.T) {
	d := lone(event.BenignWarp)
	strong(0, event.Write).send(d, event.Shared, 0)
	strong(1, event.Read).send(d, event.Shared, 1)
	strong(2, event.Atomic).send(d, event.Shared, 2)
	for w := range event.Warp(2) {
		d.Exit(&event.Exit{Warp: w, Mask: ^uint32(0)})
	}
	for range 2 { // a report changes nothing
		if x := d.Report().Exchanges; len(x) != 1 || !x[0].Atomic || x[0].Hazards != 1 {
			t.Fatalf("exchanges %+v", x)
		}
	}
	// the next block has none of the accesses of this one
	strong(event.ThreadOf(2, 0), event.Read).send(d, event.Shared, 3)
	if x := d.Report().Exchanges; len(x) != 1 {
		t.Errorf("exchanges %+v", x)
	}
}

// Lanes of one instruction that store to one location are a pair (8.7); loads are none.
func TestExchangeWithinInstruction(t *testing.T) {
	for _, k := range []event.Kind{event.Read, event.Write, event.Atomic} {
		a := event.Access{Kind: k, Order: event.Relaxed, Scope: event.CTA, Space: event.Shared,
			Mask: 0b101, Active: 0b101, Size: 4, Addr: new([event.WarpSize]uint64)}
		if k.Writes() {
			a.Stored = a.Mask
		}
		d := lone(event.BenignWarp)
		d.Access(&a)
		want := 0
		if k == event.Write {
			want = 1
		}
		if got := d.Report().Exchanges; len(got) != want ||
			want == 1 && (got[0].Level != IntraWarp || got[0].First.Thread == got[0].Second.Thread) {
			t.Errorf("%v: %+v, want %d", k, got, want)
		}
	}
}

// A store that several lanes have observed precedes what follows one of their loads (PTX ISA 8.9.5),
// and not what follows only an earlier operation of theirs.
func TestExchangeObservedInEpoch(t *testing.T) {
	for _, after := range []bool{false, true} {
		d := lone(event.BenignWarp)
		far := event.ThreadOf(4, 0) // of another block
		flag := strong(1, event.Write)
		flag.Order, flag.addr = event.Release, 8
		read := strong(far, event.Read)
		read.Order, read.addr = event.Acquire, 8
		strong(32, event.Write).send(d, global, 0)
		if !after { // far follows the release of lane 1, and that is before the load
			flag.send(d, global, 1)
		}
		loads := event.Access{Site: 2, Order: event.Relaxed, Scope: event.GPU, Space: global, Size: 4,
			Mask: 3, Active: 3, Addr: new([event.WarpSize]uint64)}
		d.Access(&loads)
		if after {
			flag.send(d, global, 1)
		}
		read.send(d, global, 3)
		strong(far, event.Write).send(d, global, 4)
		pairs := pairsOf(d.Report().Exchanges)
		if got := slices.Contains(pairs, [2]event.Site{0, 4}); got == after {
			t.Errorf("the release is after the load: %v, pairs %v", after, pairs)
		}
	}
}

// A load or atomic observes one store (PTX ISA 8.9.5), so that of the lanes of one store to one
// location the others still come in any order with what follows the observer.
func TestExchangeObservesOneLane(t *testing.T) {
	for _, lanes := range []uint32{0b010, 0b011} {
		d := lone(event.BenignWarp)
		d.Access(&event.Access{Kind: event.Write, Order: event.Release, Scope: event.GPU, Space: global,
			Size: 4, Mask: lanes, Active: lanes, Stored: lanes, Addr: new([event.WarpSize]uint64)})
		strong(2, event.Atomic).send(d, global, 1)
		strong(2, event.Write).send(d, global, 2)
		pairs := pairsOf(d.Report().Exchanges)
		if got, want := len(pairs) > 0, lanes == 0b011; got != want {
			t.Errorf("lanes %03b store: pairs %v, want one: %v", lanes, pairs, want)
		}
		if x := d.Report().Exchanges; len(x) > 0 && x[0].First.Thread != 0 {
			t.Errorf("the pair is of thread %d, want 0, whose store nothing observed", x[0].First.Thread)
		}
	}
}

// A strong store precedes the weak accesses that follow a strong load which observed it (PTX ISA
// 8.9.5, second rule), and no others.
func TestStoreObservedByLoad(t *testing.T) {
	store, load, weak := strong(64, event.Write), strong(0, event.Read), strong(0, event.Write)
	weak.Access = event.Access{Kind: event.Write}
	other, narrow, wide := load, load, weak
	other.t, narrow.Scope, wide.size = 1, event.CTA, 8
	for _, c := range []struct {
		what string
		list []side
		want bool
	}{
		{"observed", []side{store, load, weak}, false},
		{"not observed", []side{store, weak}, true},
		{"loaded before", []side{load, store, weak}, true},
		{"loaded by another thread", []side{store, other, weak}, true},
		{"a load whose scope is too narrow", []side{store, narrow, weak}, true},
		{"more than what was loaded", []side{store, load, wide}, true},
		{"another store in between", []side{store, load, store, weak}, true},
	} {
		d := lone(event.BenignWarp)
		for i, s := range c.list {
			s.send(d, event.Global, event.Site(i))
		}
		if got := racing(d); got != c.want {
			t.Errorf("%s: a race: %v, want %v", c.what, got, c.want)
		}
	}
}

// A load of block scope and a later one of device scope, of one thread: another block's store of
// device scope races with the first alone, since their scopes do not include each other (PTX ISA
// 8.7.1).
func TestNarrowLoadStays(t *testing.T) {
	narrow, wide, store := strong(0, event.Read), strong(0, event.Read),
		strong(event.ThreadOf(4, 0), event.Write)
	narrow.Scope = event.CTA
	for _, c := range []struct {
		what string
		list []side
		want bool
	}{
		{"narrow, wide", []side{narrow, wide, store}, true},
		{"narrow, wide twice", []side{narrow, wide, wide, store}, true},
		{"wide, narrow", []side{wide, narrow, store}, true},
		{"wide, narrow, wide", []side{wide, narrow, wide, store}, true},
		{"wide twice", []side{wide, wide, store}, false},
	} {
		d := lone(event.BenignWarp)
		for i, s := range c.list {
			s.send(d, event.Global, event.Site(i))
			d.WarpSync(&event.WarpSync{Warp: 0, Mask: ^uint32(0)}) // an epoch of its own
		}
		if got := racing(d); got != c.want {
			t.Errorf("%s: a race: %v, want %v", c.what, got, c.want)
		}
	}
}

// Lanes of a warp at different instructions of a barrier are divergence if one of them is aligned:
// "all threads in the warp must execute the same instruction" (PTX ISA 9.7.13.1). So is a lane that
// arrives twice at a barrier that counts more threads than the block has; else both arrivals count
// ("more instructions than intended").
func TestWarpAtTwoBarriers(t *testing.T) {
	for _, c := range []struct {
		what    string
		masks   [2]uint32
		sites   [2]event.Site
		aligned [2]bool
		count   uint32
		want    bool
	}{
		{"one instruction, aligned", [2]uint32{1, 2}, [2]event.Site{5, 5}, [2]bool{true, true}, 32, false},
		{"one instruction", [2]uint32{1, 2}, [2]event.Site{5, 5}, [2]bool{}, 32, false},
		{"two, none aligned", [2]uint32{1, 2}, [2]event.Site{5, 6}, [2]bool{}, 32, false},
		{"two, the first aligned", [2]uint32{1, 2}, [2]event.Site{5, 6}, [2]bool{true, false}, 32, true},
		{"two, the second aligned", [2]uint32{1, 2}, [2]event.Site{5, 6}, [2]bool{false, true}, 32, true},
		{"two, both aligned", [2]uint32{1, 2}, [2]event.Site{5, 6}, [2]bool{true, true}, 32, true},
		{"a lane twice, of 4096", [2]uint32{1, 3}, [2]event.Site{5, 5}, [2]bool{}, 4096, true},
		{"a lane twice, of 32", [2]uint32{1, 3}, [2]event.Site{5, 6}, [2]bool{true, true}, 32, false},
	} {
		d := lone(event.BenignWarp)
		for i, mask := range c.masks {
			d.Arrive(&event.Arrive{Site: c.sites[i], Mask: mask, Active: mask, Barrier: 1, Count: c.count,
				Aligned: c.aligned[i]})
		}
		d.Complete(&event.Complete{Barrier: 1})
		got := d.Report().Barriers
		if (len(got) == 1 && got[0].Kind == Divergence) != c.want {
			t.Errorf("%s: %+v, want divergence: %v", c.what, got, c.want)
		}
	}
}

// Threads of one block at two instructions of barrier 0 are reported; with a count, or at another
// barrier, they use a named barrier, for which PTX ISA 9.7.13.1 allows it.
func TestSplitBarrier(t *testing.T) {
	for _, c := range []struct {
		barrier uint8
		count   uint32
		sites   [2]event.Site
		want    bool
	}{
		{0, 0, [2]event.Site{0, 1}, true}, {0, 0, [2]event.Site{1, 1}, false},
		{1, 0, [2]event.Site{0, 1}, false}, {0, 64, [2]event.Site{0, 1}, false},
	} {
		d := lone(event.BenignWarp)
		for range 2 { // reported once
			for w := range event.Warp(2) {
				d.Arrive(&event.Arrive{Warp: w, Site: c.sites[w], Mask: ^uint32(0), Active: ^uint32(0),
					Barrier: c.barrier, Count: c.count, Aligned: true})
			}
			d.Complete(&event.Complete{Barrier: c.barrier})
		}
		got := d.Report().Barriers
		if (len(got) == 1) != c.want || c.want && (got[0].Kind != SplitBarrier || got[0].Count != 2 ||
			len(got[0].Groups) != 2) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// A location that some load polls is marked for all pairs, also those of other loads.
func TestExchangePolled(t *testing.T) {
	d := New(Options{Geometry: conflictGeometry, SharedBytes: 64, Exchanges: true,
		Polls: func(s event.Site) bool { return s == 2 }})
	for i, s := range []side{strong(0, event.Write), strong(1, event.Read), strong(2, event.Read)} {
		s.send(d, event.Global, event.Site(i))
	}
	other := []side{strong(0, event.Write), strong(1, event.Read)}
	for i, s := range other {
		s.addr = 4
		s.send(d, event.Global, event.Site(3+i))
	}
	got := d.Report().Exchanges
	if len(got) != 3 || !got[0].Polled || !got[1].Polled || got[2].Polled {
		t.Errorf("%+v", got)
	}
}

// Of several locations of one group, the example is the first pair in time, in whatever order their
// addresses are.
func TestExchangeExampleIsFirst(t *testing.T) {
	for _, addr := range [][2]uint64{{0, 4}, {4, 0}} {
		d := lone(event.BenignWarp)
		for i, second := range []event.Thread{1, 2} {
			store := strong(0, event.Write)
			store.addr = addr[i]
			store.send(d, event.Global, 0)
			store.t = second
			store.send(d, event.Global, 1)
		}
		got := d.Report().Exchanges
		if len(got) != 1 || got[0].Second.Thread != 1 {
			t.Errorf("addresses %v: %+v, want one example, by threads 0 and 1", addr, got)
		}
	}
}

package race

import (
	"testing"

	"heddle/internal/event"
)

// twoLanes makes two threads of one warp write address 0, then read it, with no order between them.
func twoLanes(write, read event.Access) *Report {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	d := New(
		Options{Geometry: event.Geometry{Grid: one, Block: event.Dim3{X: 2, Y: 1, Z: 1}, Cluster: one},
			Model: event.Independent, Benign: event.BenignWarp, SharedBytes: 64})
	for i, a := range []event.Access{write, read} {
		a.Site, a.Space, a.Active, a.Mask = event.Site(i), event.Shared, 3, 3
		a.Addr, a.Data = new([event.WarpSize]uint64), new([4][event.WarpSize]uint64)
		if a.Kind.Writes() {
			a.Stored = 3
		}
		d.Access(&a)
	}
	return d.Report()
}

// Each lane's read races with the other lane's write, never with its own (PTX ISA 8.7.1:
// conflicting operations of one thread are ordered by program order).
func TestRacePairsAreTwoThreads(t *testing.T) {
	r := twoLanes(event.Access{Kind: event.Write, Size: 4}, event.Access{Kind: event.Read, Size: 4})
	if len(r.Races) != 1 || r.Races[0].Hazards != 2 {
		t.Fatalf("got %+v, want one race of 2 hazards", r.Races)
	}
	if a, b := r.Races[0].First.Thread, r.Races[0].Second.Thread; a == b {
		t.Errorf("the race is between thread %d and itself", a)
	}
}

// TestRaceNamesTheUnordered: of two lanes that read a word in one instruction, one releases what it
// has done to a thread that then writes the word. The race is with the other lane.
func TestRaceNamesTheUnordered(t *testing.T) {
	for released := range 2 {
		d := New(Options{Geometry: conflictGeometry, SharedBytes: 64})
		d.Access(&event.Access{Site: 1, Kind: event.Read, Space: global, Size: 4, Mask: 3, Active: 3,
			Addr: new([event.WarpSize]uint64)})
		far := event.ThreadOf(4, 0)
		pass(d, event.ThreadOf(0, released), far, 8, 10)
		weak(far, event.Write).send(d, global, 2)
		r := d.Report()
		if len(r.Races) != 1 {
			t.Fatalf("lane %d releases: %+v, want one race", released, r.Races)
		}
		if got, want := r.Races[0].First.Thread, event.ThreadOf(0, 1-released); got != want {
			t.Errorf("lane %d releases: the race is with thread %d, want %d", released, got, want)
		}
	}
}

// Strong operations that overlap in part are not morally strong (PTX ISA 8.6), so they race.
func TestRacePartialOverlapWithinWarp(t *testing.T) {
	r := twoLanes(event.Access{Kind: event.Write, Order: event.Relaxed, Scope: event.GPU, Size: 4},
		event.Access{Kind: event.Read, Order: event.Relaxed, Scope: event.GPU, Size: 2})
	if len(r.Races) != 1 || r.Races[0].First.Thread == r.Races[0].Second.Thread {
		t.Errorf("got %+v, want one race of two threads", r.Races)
	}
}

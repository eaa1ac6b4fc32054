package race

import (
	"testing"

	"heddle/internal/event"
)

// inflated counts the rows of global memory that are kept word by word.
func inflated(d *Detector) (n int) {
	for _, p := range d.global.pages {
		for i := range p.rows {
			if p.rows[i].cells != nil {
				n++
			}
		}
	}
	return n
}

// Coalesced accesses keep rows compact: one record for a warp, whatever the number of words of a
// lane.
func TestCoalescedStaysCompact(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 4, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}}
	d := New(Options{Geometry: geo})
	launchEvents(d, geo, 0, 4)
	for _, size := range []uint8{4, 8, 16} {
		d.Access(coalesced(0, 5, event.Read, 1<<40, size))
	}
	if n := inflated(d); n != 0 {
		t.Errorf("%d rows inflated, want none", n)
	}
}

// A run that races is found as it is word by word: 32 words, written by one warp and then by
// another one without a barrier between them, are 32 hazards of one pair (PTX ISA 8.7.1).
func TestRunsRace(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}}
	d := New(Options{Geometry: geo})
	d.Access(coalesced(0, 0, event.Write, 1<<40, 4))
	d.Access(coalesced(1, 1, event.Write, 1<<40, 4))
	r := d.Report().Races
	if len(r) != 1 || r[0].Hazards != 32 || r[0].First.Thread != 0 ||
		r[0].Second.Thread != event.ThreadOf(1, 0) {
		t.Errorf("got %+v, want one race of 32 hazards", r)
	}
}

// coalesced is an access of neighbouring lanes to neighbouring addresses.
func coalesced(w event.Warp, site event.Site, kind event.Kind, base uint64,
	size uint8) *event.Access {
	a := &event.Access{Warp: w, Site: site, Mask: ^uint32(0), Active: ^uint32(0), Kind: kind,
		Space: event.Global, Size: size, Addr: new([event.WarpSize]uint64)}
	for l := range a.Addr {
		a.Addr[l] = base + uint64(l)*uint64(size)
	}
	if kind.Writes() {
		a.Stored, a.Data = a.Mask, new([4][event.WarpSize]uint64)
	}
	return a
}

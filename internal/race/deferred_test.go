package race

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"heddle/internal/event"
	"heddle/internal/testing/long"
)

// TestDeferred: reports are the same, to the last byte, whether or not reads are deferred: on
// random blocks that mostly read tiles between barriers, and race at times. With accesses of two
// sizes the forms of a row differ in which reads of one thread in one epoch they keep, and so do the
// pairs of sites; the accesses that race with earlier ones are the same.
func TestDeferred(t *testing.T) {
	racy, forgotten, late, other := 0, 0, 0, 0
	seeds := uint64(3000)
	if long.All() {
		seeds = 100_000
	}
	for seed := range seeds {
		var reports [2]*Report
		mixed := false
		for i := range reports {
			d := New(Options{Geometry: event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1},
				Block: event.Dim3{X: 128, Y: 1, Z: 1}}, Exchanges: true})
			d.deferring = i == 1
			mixed = randomTiles(d, rand.New(rand.NewPCG(seed, 0)))
			reports[i] = d.Report()
			b := d.spareBlocks[0] // it has ended
			if forgotten += max(-b.wasted, 0); b.wasted > 0 {
				late++
			}
		}
		if len(reports[0].Races) > 0 {
			racy++
		}
		equal := reflect.DeepEqual(reports[0], reports[1])
		if !equal && mixed && reflect.DeepEqual(seconds(reports[0]), seconds(reports[1])) {
			other++
			continue
		}
		if !equal {
			t.Fatalf("seed %d: with all reads recorded at once:\n%+v\ndeferred:\n%+v", seed, reports[0],
				reports[1])
		}
	}
	t.Logf("%d racy, %d runs with reads that were recorded late, %d reads forgotten; %d with other "+
		"pairs", racy, late, forgotten, other)
	if racy == 0 || forgotten == 0 || late == 0 {
		t.Error("some case is missing")
	}
}

// seconds returns the later accesses of the races of a report: their sites and levels.
func seconds(rep *Report) map[[2]int]bool {
	out := make(map[[2]int]bool)
	for i := range rep.Races {
		out[[2]int{int(rep.Races[i].Second.Site), int(rep.Races[i].Level)}] = true
	}
	return out
}

// randomTiles sends the events of a block of four warps that share four rows of memory. mixed says
// that accesses have two sizes.
func randomTiles(d *Detector, r *rand.Rand) (mixed bool) {
	var addr [event.WarpSize]uint64
	var data [4][event.WarpSize]uint64
	var read [event.WarpSize]uint8
	from := addr
	for l := range read {
		from[l], read[l] = 1<<40+4*uint64(l), 4
	}
	mixed = r.IntN(8) == 0
	copies := r.IntN(8) == 0
	size := uint8(4) << (r.IntN(4) / 3)
	barriers := 1 + r.IntN(12)
	wild := r.IntN(60) // the larger, the fewer unusual accesses
	for range barriers {
		phase := r.IntN(4)
		order := r.Perm(4) // of warps that write the next tiles
		for i := range 4 + r.IntN(20)*min(phase, 1) {
			e := event.Access{Warp: event.Warp(order[i%4]), Site: event.Site(r.IntN(6)), Mask: ^uint32(0),
				Space: event.Shared, Size: size, Addr: &addr, Kind: event.Read}
			tile := uint64(r.IntN(4))
			if phase == 0 || phase == 1 && r.IntN(8) == 0 {
				e.Kind, e.Site, e.Data, e.Stored = event.Write, e.Site+6, &data, e.Mask
				if r.IntN(8+8*wild) > 0 {
					tile = uint64(e.Warp)
				}
			}
			row := 8 << r.IntN(3)
			steps := []uint64{uint64(size), 0, uint64(size) * 3}
			if e.Kind == event.Write {
				row, steps = event.WarpSize, steps[:1]
			}
			step := steps[r.IntN(len(steps))]
			e.Row, e.Step = uint8(row), step
			base := tile * uint64(size) * event.WarpSize
			for l := range addr {
				addr[l] = base + uint64(l/row)*uint64(size)*uint64(row) + uint64(l%row)*step
			}
			switch r.IntN(2 + wild) {
			case 0:
				e.Mask, e.Row, e.Stored = r.Uint32()|1, 0, 0
				if e.Kind == event.Write {
					e.Stored = e.Mask
				}
			case 1:
				if r.IntN(3) == 0 {
					d.WarpSync(&event.WarpSync{Warp: e.Warp, Mask: ^uint32(0), Site: 20})
				}
				if e.Kind == event.Read && r.IntN(9) == 0 {
					e.Kind, e.Order, e.Scope, e.Stored = event.Atomic, event.Relaxed, event.CTA, e.Mask
					e.Site += 12
				}
			}
			e.Active = e.Mask
			if size > 4 {
				e.Site += 30
			}
			if mixed && r.IntN(4) == 0 && step == uint64(size) {
				e.Size, e.Site = 12-size, e.Site+60 // as wide as the other
				for l := range addr {
					addr[l] = base + uint64(l)*uint64(e.Size)
				}
				e.Step = uint64(e.Size)
				e.Row = event.WarpSize
			}
			if copies && r.IntN(8) == 0 {
				d.Copy(&event.Copy{Warp: e.Warp, Site: 150, Mask: e.Mask, Active: e.Mask, Size: 4,
					To: &addr, From: &from, Read: &read})
				if r.IntN(2) == 0 {
					d.CopyGroup(&event.CopyGroup{Warp: e.Warp, Site: 151, Mask: e.Mask, Active: e.Mask,
						Commit: true, Wait: true})
				}
			}
			if e.Mask != ^uint32(0) {
				e.Row = 0
			}
			d.Access(&e)
		}
		for w := range event.Warp(4) {
			d.Arrive(&event.Arrive{Warp: w, Mask: ^uint32(0), Active: ^uint32(0), Site: 21})
		}
		d.Complete(&event.Complete{})
	}
	for w := range event.Warp(4) {
		d.Exit(&event.Exit{Warp: w, Mask: ^uint32(0)})
	}
	return mixed
}

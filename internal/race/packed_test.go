package race

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"heddle/internal/event"
)

// TestPacked: reports are the same, to the last byte, whether rows are packed or kept in cells from
// the beginning: on columns of a matrix that warps write, with reads, rows and barriers in between.
func TestPacked(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 128, Y: 1, Z: 1}}
	racy, rows := 0, uint32(0)
	for seed := range uint64(3000) {
		var reports [2]*Report
		for i := range reports {
			d := New(Options{Geometry: geo})
			if i == 0 {
				for row := range uint64(event.WarpSize) {
					d.cell(d.global, d.page(d.global, columnBase+row*rowBytes), uint32(row%pageRows)*rowWords)
				}
			}
			randomColumns(d, rand.New(rand.NewPCG(seed, 2)))
			reports[i] = d.Report()
			rows += d.packedRows
			if i == 0 && d.packedRows > 0 {
				t.Fatal("rows in cells were packed")
			}
		}
		if len(reports[0].Races) > 0 {
			racy++
		}
		if !reflect.DeepEqual(reports[0], reports[1]) {
			t.Fatalf("seed %d: in cells:\n%+v\npacked:\n%+v", seed, reports[0], reports[1])
		}
	}
	t.Logf("%d racy, %d packed rows", racy, rows)
	if racy == 0 || racy == 3000 || rows == 0 {
		t.Error("some case is missing")
	}
}

const (
	columnBase = 1 << 20
	rowBytes   = 4 * rowWords
)

// randomColumns sends accesses of four warps to a matrix of 32 by 32 words.
func randomColumns(d *Detector, r *rand.Rand) {
	var addr [event.WarpSize]uint64
	var data [4][event.WarpSize]uint64
	own := r.IntN(3) > 0    // each warp has columns of its own
	wide := r.IntN(20) == 0 // some sites do not fit
	for range 1 + r.IntN(4) {
		for range r.IntN(12) {
			w := r.IntN(4)
			column := uint64(w + 4*r.IntN(8))
			if !own {
				column = uint64(r.IntN(32))
			}
			e := event.Access{Warp: event.Warp(w), Site: event.Site(r.IntN(6)), Mask: ^uint32(0),
				Space: event.Global, Size: 4, Addr: &addr, Kind: event.Write, Data: &data}
			step := uint64(rowBytes)
			if r.IntN(16) == 0 { // a row
				column, step = column*rowWords, 4
			}
			for l := range addr {
				addr[l] = columnBase + 4*column + step*uint64(l)
			}
			if r.IntN(4) == 0 {
				e.Mask = r.Uint32() | 1
			}
			if wide && r.IntN(8) == 0 {
				e.Site += 1 << packedSite
			}
			switch r.IntN(20) {
			case 0:
				e.Kind, e.Site, e.Data = event.Read, e.Site+6, nil
			case 1:
				e.Kind, e.Site, e.Data = event.Atomic, e.Site+12, nil
				e.Order, e.Scope = event.Relaxed, event.GPU
			}
			if e.Kind.Writes() {
				e.Stored = e.Mask
			}
			e.Active = e.Mask
			d.Access(&e)
		}
		for w := range event.Warp(4) {
			d.Arrive(&event.Arrive{Warp: w, Mask: ^uint32(0), Active: ^uint32(0), Site: 30})
		}
		d.Complete(&event.Complete{})
	}
}

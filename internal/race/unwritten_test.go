package race

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"heddle/internal/event"
)

// TestUnwritten: reports are the same, to the last byte, whether or not reads of unwritten objects
// are left out: on random accesses to four objects, some of which are written late or never.
func TestUnwritten(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 2, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}}
	racy, repeated := 0, 0
	for seed := range uint64(3000) {
		all := New(Options{Geometry: geo})
		randomObjects(all, rand.New(rand.NewPCG(seed, 1)))
		var some *Detector
		o := &Objects{Shift: 12}
		if err := o.Run(context.Background(), func(ctx context.Context) error {
			some = New(Options{Geometry: geo, Objects: o})
			randomObjects(some, rand.New(rand.NewPCG(seed, 1)))
			if o.again != (ctx.Err() != nil) {
				t.Errorf("seed %d: again %v, context: %v", seed, o.again, ctx.Err())
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want := all.Report()
		if got := some.Report(); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: with all reads:\n%+v\nwithout some:\n%+v", seed, want, got)
		}
		if len(want.Races) > 0 {
			racy++
		}
		if o.repeats > 0 {
			repeated++
		}
	}
	t.Logf("%d racy, %d repeated", racy, repeated)
	if racy == 0 || repeated == 0 {
		t.Error("some case is missing")
	}
}

// randomObjects sends accesses of four warps to four objects of 4 KiB.
func randomObjects(d *Detector, r *rand.Rand) {
	var addr [event.WarpSize]uint64
	var data [4][event.WarpSize]uint64
	writable := r.IntN(16) // objects that are written, one bit each
	for range 1 + r.IntN(40) {
		no := r.IntN(4)
		e := event.Access{Warp: event.Warp(r.IntN(4)), Site: event.Site(no), Mask: ^uint32(0),
			Space: event.Global, Size: 4, Addr: &addr, Kind: event.Read, Row: 16, Step: 4}
		base := uint64(no+1)<<12 + uint64(r.IntN(4))*128
		for l := range addr {
			addr[l] = base + 4*uint64(l)
		}
		if r.IntN(4) == 0 {
			e.Row, e.Mask = 0, r.Uint32()|1
			addr[r.IntN(32)] = uint64(r.IntN(4)+1) << 12 // perhaps of another object
		}
		switch {
		case writable>>no&1 == 0:
		case r.IntN(8) == 0:
			e.Kind, e.Site, e.Data, e.Stored = event.Write, e.Site+4, &data, e.Mask
		case r.IntN(8) == 0:
			e.Kind, e.Site, e.Stored = event.Atomic, e.Site+8, e.Mask
			e.Order, e.Scope = event.Relaxed, event.GPU
		case r.IntN(8) == 0:
			e.Site, e.Order, e.Scope = e.Site+12, event.Relaxed, event.GPU
		}
		e.Active = e.Mask
		d.Access(&e)
	}
}

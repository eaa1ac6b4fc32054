package race

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/internal/event"
)

// TestKnowOnly compares what only keeps of random knowledge with all of it: the clocks of the lanes
// of the warps that it names, and nothing of others.
func TestKnowOnly(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	kept, shared := 0, 0
	for range 2000 {
		limit := []uint32{8, 40, 700, 1 << 14}[rnd.IntN(4)]
		var k *know
		var warps, others []event.Warp
		for range rnd.IntN(8) {
			w := event.Warp(rnd.Uint32N(limit))
			var lanes [event.WarpSize]uint32
			for range 1 + rnd.IntN(4) {
				lanes[rnd.IntN(event.WarpSize)] = firstValue + rnd.Uint32N(9)
			}
			k = k.withLanes(w, &lanes)
			if rnd.IntN(3) > 0 {
				warps = append(warps, w)
			} else {
				others = append(others, w)
			}
		}
		if rnd.IntN(3) == 0 { // a barrier of blocks, in front of the warps of the components
			k = k.withWarps(event.Warp(limit), event.Warp(limit+rnd.Uint32N(40)), 7)
		}
		slices.Sort(warps)
		warps = slices.Compact(warps)
		got := k.only(warps)
		if got != nil && got == k {
			shared++
		}
		for _, w := range warps {
			for l := range event.WarpSize {
				kept++
				if got.of(w, l) != k.of(w, l) {
					t.Fatalf("lane %d of warp %d: %d, want %d", l, w, got.of(w, l), k.of(w, l))
				}
			}
		}
		for _, w := range others {
			if !slices.Contains(warps, w) && got.covers(w, ^uint32(0), 1) {
				t.Fatalf("warp %d is known, and was not asked for", w)
			}
			for l := range event.WarpSize {
				if !slices.Contains(warps, w) && got.of(w, l) != 0 {
					t.Fatalf("lane %d of warp %d is known, and was not asked for", l, w)
				}
			}
		}
	}
	if kept == 0 || shared == 0 {
		t.Errorf("%d clocks were kept, %d trees shared", kept, shared)
	}
}

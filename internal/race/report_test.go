package race

import (
	"testing"

	"heddle/internal/event"
)

// However many hazards a group has, it tells no more than MaxHazards of them apart.
func TestMaxHazards(t *testing.T) {
	g := group{hazards: map[hazard]uint32{}}
	for i := range uint64(MaxHazards + 100) {
		h := hazard{addr: i}
		g.add(h, 1, IntraBlock)
		g.add(h, 1, IntraBlock) // the same once more
		if want := min(int(i)+1, MaxHazards); g.count != want || len(g.hazards) != want {
			t.Fatalf("after %d hazards: %d counted, %d kept", i+1, g.count, len(g.hazards))
		}
	}
	g = group{hazards: map[hazard]uint32{}}
	g.add(hazard{warp: 1}, 3, InterBlock)
	g.add(hazard{warp: event.Warp(1)}, 6, InterBlock)
	if g.count != 3 || g.across != 3 {
		t.Errorf("lanes 0 to 2 of one hazard: %d counted, %d between blocks", g.count, g.across)
	}
}

package placement

import "testing"

// The sizes that were measured have their latency, and others one between their neighbours.
func TestLatency(t *testing.T) {
	for _, c := range []struct {
		threads int
		warp    bool
		want    float64
	}{
		{1, false, 23}, {32, false, 23}, {33, false, 25}, {64, false, 25}, {96, false, 27},
		{256, false, 37}, {1024, false, 85}, {32, true, 5}, {256, true, 5}, {1024, true, 7},
	} {
		if got := latencyOf(c.threads, c.warp); got != c.want {
			t.Errorf("%d threads, warp %v: %g cycles, want %g", c.threads, c.warp, got, c.want)
		}
	}
}

package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestPercent compares with what the heap may hold: Room or what is alive, and not more than five
// times what is alive.
func TestPercent(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 400}, {1 << 20, 400},
		{32 << 20, 400}, // 128 MB of garbage
		{64 << 20, 200}, // 128 MB
		{100 << 20, 128},
		{128 << 20, 100}, {1 << 40, 100}, // as much as is alive
	} {
		if got := Percent(c.live); got != c.want {
			t.Errorf("%d bytes: %d percent, want %d", c.live, got, c.want)
		}
	}
}

// TestGrow lets the heap grow past Room, and shrink again.
func TestGrow(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	Grow()
	if got := percent(); got != most {
		t.Errorf("%d percent at the start, want %d", got, most)
	}
	kept := make([]byte, 2*Room)
	wait(t, least)
	runtime.KeepAlive(kept)
	kept = nil
	wait(t, most)
}

// percent returns the current percentage.
func percent() int {
	p := debug.SetGCPercent(-1)
	debug.SetGCPercent(p)
	return p
}

// wait collects garbage until the percentage is that.
func wait(t *testing.T, want int) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		if percent() == want {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%d percent, want %d", percent(), want)
}

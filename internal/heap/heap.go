// Package heap decides how far the heap of a process grows before garbage is collected. Most runs
// keep a few MB alive for a fraction of a second; with Go's default they collect every 4 MB, which
// takes a tenth of their CPU.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Room is the garbage, in bytes, that a small heap may hold. A heap that keeps more than Room alive
// grows by as much as it keeps, which is Go's default.
const Room = 128 << 20

// The percentages of GOGC that are used: garbage by what is alive.
const (
	most  = 400 // the heap of a process that has just begun is collected at 16 MB
	least = 100
)

// Grow lets the heap of this process grow as Percent says, from now on. The environment variable
// GOGC takes precedence.
func Grow() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(most)
		adjustAfter(most)
	}
}

// Percent is the value of GOGC for a heap that keeps so many bytes alive.
func Percent(live uint64) int {
	return int(max(least, min(most, 100*Room/max(live, 1))))
}

// adjustAfter sets the percentage anew after each collection.
func adjustAfter(now int) {
	runtime.AddCleanup(new(cycle), func(was int) {
		next := Percent(live())
		if next != was {
			debug.SetGCPercent(next)
		}
		adjustAfter(next)
	}, now)
}

// cycle is garbage from the start, so that its cleanup runs after each collection.
type cycle struct{ _ [16]byte }

// live returns the bytes that the last collection left.
func live() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

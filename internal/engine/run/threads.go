package run

import (
	"heddle/internal/event"
	"heddle/internal/race"
)

// threadName names a thread in its block: "thread 64".
func threadName(g event.Geometry, t event.Thread) string {
	_, index := g.Index(t)
	return "thread " + index.In(g.Block)
}

// blockName names the block of a thread: "block 6".
func blockName(g event.Geometry, t event.Thread) string {
	block, _ := g.Index(t)
	return "block " + block.In(g.Grid)
}

// fullName names a thread with its block, if the launch has several.
func fullName(g event.Geometry, t event.Thread) string {
	if g.Blocks() == 1 {
		return threadName(g, t)
	}
	return threadName(g, t) + " of " + blockName(g, t)
}

// raceThreads are the names of the two threads of a race in its message: without the block that they
// share, which the labels name.
func raceThreads(g event.Geometry, rc *race.Race) (one, two string) {
	switch a, b := rc.First.Thread, rc.Second.Thread; {
	case a == b:
		return fullName(g, a), "the same thread"
	case g.BlockOf(a.Warp()) == g.BlockOf(b.Warp()):
		return threadName(g, a), threadName(g, b)
	default:
		return fullName(g, a), fullName(g, b)
	}
}

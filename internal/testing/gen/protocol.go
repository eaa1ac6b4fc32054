package gen

import (
	"fmt"

	"heddle/internal/event"
)

// protocol writes one kernel whose threads synchronize through memory: Arrivals, Locks, Flags. Most
// of its choices are the right ones, in right of of cases at least.
type protocol struct {
	random
	right, of int
}

// mostly returns the first choice, or any.
func (g *protocol) mostly(choices ...string) string {
	if g.n(g.of) < g.right {
		return choices[0]
	}
	return choices[g.n(len(choices))]
}

// fence returns a fence, mostly one that is wide enough.
func (g *protocol) fence() string {
	return g.mostly("membar.gl;", "fence.acq_rel.gpu;", "fence.sc.sys;", "membar.cta;", "",
		"@%p3 membar.gl;", "fence.acq_rel.cta;")
}

// protocolOf returns a kernel of at least `least` blocks, with one of the numbers of threads, whose
// text is a body within a frame.
func protocolOf(src Source, least int, threads [4]uint32, body func() string, frame string) Kernel {
	k := Kernel{Grid: event.Dim3{X: uint32(least + src.Intn(3)), Y: 1, Z: 1},
		Block: event.Dim3{X: threads[src.Intn(len(threads))], Y: 1, Z: 1}}
	k.PTX = fmt.Sprintf(frame, body())
	return k
}

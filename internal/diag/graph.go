package diag

import "heddle/internal/source"

// BarrierGraph is what a trace of one block saw of its barriers: the barrier dependence graph of Weft (PLDI 2015, section
// 5.2), a node for each generation of a barrier, with the threads of each warp that take part.
type BarrierGraph struct {
	Kernel, Input string
	Block         string // "(0,0,0)"
	Warps         int
	Total         int          // generations of the trace
	Generations   []Generation // in the order in which they completed, then those that did not; of long traces not all
	Exited        []uint32     // for each warp the lanes that ended
}

// Generation is one generation of a barrier.
type Generation struct {
	Index    int    // in the trace, from 0
	Barrier  int    // its number in the PTX
	Number   uint64 // among the generations of this barrier, from 1
	Count    int    // threads that take part, as the first one to come said
	Parts    []Part
	After    []int // indices of the generations that threads of this one waited in last
	Complete bool
	Wrong    Code // of the finding about it; empty: there is none
}

// Part is the lanes of a warp that take part in a generation by one instruction.
type Part struct {
	Warp  int // in the block
	Lanes uint32
	Waits bool // sync; else arrive: a producer that goes on
	Span  source.Span
}

// Produced reports whether some threads come without waiting and others wait for them.
func (g *Generation) Produced() bool {
	arrive, wait := false, false
	for _, p := range g.Parts {
		arrive, wait = arrive || !p.Waits, wait || p.Waits
	}
	return arrive && wait
}

package diag

import "heddle/internal/source"

// BarrierGraph is the barrier dependence graph of a trace of one block (Sharma, Bauer, Aiken, PLDI
// 2015, section 5.2). It has a node for each generation of a barrier, with the participating
// threads of each warp.
type BarrierGraph struct {
	Kernel string // demangled name
	Input  string // the input with the kernel, as the user named it
	Block  string // "(0,0,0)"
	Warps  int    // warps of the block
	Total  int    // generations of the trace

	// Generations holds the generations in the order of their completion, followed by the incomplete
	// ones. For long traces it holds fewer than Total.
	Generations []Generation
	Exited      []uint32 // for each warp, the mask of lanes that exited
}

// Generation is one generation of a barrier: the arrivals from one completion to the next.
type Generation struct {
	Index    int    // in the trace, from 0
	Barrier  int    // barrier number in the PTX, 0 to 15
	Number   uint64 // among the generations of this barrier, from 1
	Count    int    // expected threads, as specified by the first one to arrive
	Parts    []Part // participants
	After    []int  // indices of the generations in which the participants waited last
	Complete bool   // Count threads arrived
	Wrong    Code   // of the finding about this generation; empty: none
}

// Part is a set of lanes of one warp that take part in a generation with the same instruction.
type Part struct {
	Warp  int         // in the block, from 0
	Lanes uint32      // mask
	Waits bool        // true: sync; false: arrive, a producer that continues
	Span  source.Span // of the instruction
}

// Produced reports whether the generation is a producer-consumer one: some participants only arrive
// and others wait.
func (g *Generation) Produced() bool {
	arrive, wait := false, false
	for _, p := range g.Parts {
		arrive, wait = arrive || !p.Waits, wait || p.Waits
	}
	return arrive && wait
}

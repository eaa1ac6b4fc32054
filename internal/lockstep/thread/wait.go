package thread

import (
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Wait is an instruction at which a thread waits for others, if Bare holds: a barrier of the block,
// or an operation of a warp that waits for the lanes of its mask (PTX ISA 9.7.13: bar.warp.sync,
// shfl.sync, vote.sync, match.sync, redux.sync, elect.sync).
type Wait struct {
	Instr *ir.Instr
	Guard smt.Term
	Bare  smt.Term // Guard without what annotations made known
	// Mask names the lanes that an operation of a warp waits for: 32 bits, as wide as a warp. It is
	// unused for a barrier of the block (Warp is false).
	Mask smt.Term
	Warp bool
	// All says that lanes that have exited are waited for as well (.aligned operations on matrices).
	All   bool
	Iters []smt.Term // the counters of all loops around, outermost first
	// Entered are the conditions under which the thread enters these loops.
	Entered []smt.Term
	Place   Place
}

// Merge is a merge point: a block at whose start lanes in lock step are together if they pass it in
// the same iterations of the loops around it. Wait describes it as an operation that waits for all
// lanes of the warp.
type Merge struct {
	Block ir.BlockID
	Wait  Wait
}

// Gather says how the result of an operation of a warp depends on which lanes execute it.
type Gather uint8

// The kinds of results.
const (
	// Active is the set of the lanes that execute the instruction together (activemask).
	Active Gather = iota
	// Ballot is the set of the lanes whose predicate holds (vote.sync.ballot).
	Ballot
	// Match is the set of the lanes with the value of this lane (match.any.sync).
	Match
	// Common is a result that all lanes of the mask have (other votes, match.all.sync, redux.sync).
	Common
)

// Gathered is the result of an operation of a warp, as a function of the counters of the loops
// around it.
type Gathered struct {
	Kind  Gather
	Bare  smt.Term // the lane executes the operation
	Mask  smt.Term // the lanes that take part, 32 bits; unused for Active
	Pred  smt.Term // of this lane, for Ballot
	Iters []smt.Term
}

// Shuffle is a shfl.sync.idx whose sources are lanes of the whole warp or of segments of it (PTX
// ISA 9.7.9.6), as a function of the counters of the loops around it.
type Shuffle struct {
	Instr *ir.Instr
	Guard smt.Term // the lane executes it
	Bare  smt.Term // Guard without what annotations made known
	Mask  smt.Term // the lanes that take part, 32 bits
	// Source is the number of the lane whose value this lane receives, 32 bits. One of 32 or more
	// stands for the lane of its lowest 5 bits.
	Source smt.Term
	Value  smt.Term // what this lane gives to others, 32 bits
	Iters  []smt.Term
}

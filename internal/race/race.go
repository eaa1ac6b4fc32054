// Package race finds data races and barrier errors in a stream of events by happens-before.
//
// It knows neither the emulator nor the IR: a site is a number.
package race

import "heddle/internal/event"

// Options configure one detector.
type Options struct {
	Geometry event.Geometry
	Model    event.WarpModel
	Benign   event.Benign
	// SharedBytes is the size of a block's shared memory, static and dynamic.
	SharedBytes uint32
	// Only is Global or Shared for a detector that reports races in this space only, and that ignores
	// barriers and fences which do not order it. NoSpace means that all spaces are checked, and that
	// every barrier and fence orders all memory. See Split.
	Only event.Space
	// Ranked restricts Only, which is Shared then, to the memory of blocks with the rank Rank in their
	// cluster: a fence may order that of its own block alone.
	Ranked bool
	Rank   uint32
	// Static is set if the events of one execution represent all executions. Then strong accesses and
	// fences do not synchronize, since what a strong read observes differs between executions.
	Static bool
	// Exchanges enables the check for strong loads and stores that nothing orders (exchange.go). It
	// has no effect together with Static.
	Exchanges bool
	// Polls reports whether a loop repeats the loads of a site until the value ends it; nil: for no
	// site. It is asked once for each site, and only with Exchanges.
	Polls func(event.Site) bool
	// Recycling enables the check for barriers of which one generation may begin before the last one
	// is over (recycle.go).
	Recycling bool
	// Execution makes a detector of the order of execution: which operations on barriers precede
	// which in every execution, whether or not memory is ordered with them. It examines no accesses,
	// and whether the phases of mbarriers depend on the schedule (phases.go).
	Execution bool
	// Observes makes strong accesses that observe each other part of the order of execution, which
	// holds for one run only (cluster.go).
	Observes bool
	// Dependent is set for a kernel that waits for the grids before it: accesses in front of the wait
	// are looked for (dependent.go).
	Dependent bool
	// Earlier reports whether the grids before conflict with an access in front of the wait; others
	// are no findings. Nil: it is not known.
	Earlier func(addr, size uint64, write bool) bool
	// Objects says which reads may be left out; nil: all are recorded. It has no effect together with
	// Dependent.
	Objects *Objects
	// StrictScopes takes an operation on an mbarrier without a written scope at the scope of the
	// block, as PTX ISA 9.7.13.15.13 says; else it is that of the cluster.
	StrictScopes bool

	local bool // the detector is one of local
}

// Level is the distance between the threads of a race.
type Level uint8

// The levels, from the nearest threads to the farthest, and two that are special.
const (
	IntraWarp  Level = iota // lanes of one warp, one instruction or not
	IntraBlock              // warps of one block
	InterBlock
	BranchOrdering // lockstep only: paths of one branch of one warp (Barracuda §3.3.1)
	// a thread and its own asynchronous copy, or its own accesses through different proxies
	SameThread
)

var levelNames = [...]string{"intra-warp", "intra-block", "inter-block", "branch-ordering",
	"same-thread"}

// String names the level in reports.
func (l Level) String() string { return levelNames[l] }

// Cause is the reason why the two sides of a race are unordered.
type Cause uint8

const (
	Unordered Cause = iota // neither happens before the other
	NotWaited              // one is by an asynchronous copy that its thread had not waited for
	// one is a load through another proxy, which is ordered with no write of the same kernel
	OtherProxy
	// base causality orders an access before a bulk operation, and no proxy fence lies between them
	NoProxyFence
	// the only proxy fence between them is by a thread other than that of the access: this is no race
	LateProxyFence
	// base causality orders a write of a tensor map before a copy that reads the map, and no pair of a
	// release and an acquire fence of tensor maps lies between them
	NoMapFence
	// one is by a grid that a thread has launched, and nothing waits for the end of that grid
	GridRuns
	// an operation on tensor memory was known to be complete, and the thread of the second one has
	// executed no tcgen05.fence::after_thread_sync since it learned that: this is no race
	NoTensorFence
)

// Access is one side of a race.
type Access struct {
	Thread event.Thread
	Site   event.Site
	Kind   event.Kind
	Order  event.Order
	Scope  event.Scope
	Proxy  event.Proxy
	Async  bool // by an asynchronous copy that Thread issued
	// Grid is set if a grid makes the access that Thread has launched at Site. Origin is the
	// event.GridAccess.Origin of its place.
	Grid   bool
	Origin uint32
	Addr   uint64
	Size   uint8
	// AfterFault is set if Thread had made an invalid access before the race was found: what it did
	// since may be a consequence. See Detector.Fault.
	AfterFault bool
}

// Race is a group of hazards by one pair of sites in one space. The first hazard is its example.
type Race struct {
	Space  event.Space
	Block  uint32 // of Second, for shared memory
	First  Access // earlier in the run
	Second Access
	Level  Level
	Cause  Cause
	// Interval is the barrier interval of Second: the number of barriers of the whole block that its
	// thread had passed. Two threads of one block that race because they are unordered are in the
	// same interval, since such a barrier would order them.
	Interval uint32
	// Hazards counts distinct (second thread, location) pairs.
	Hazards uint64
	// Across counts those of them whose threads are in two blocks, if fewer than MaxHazards were
	// found.
	Across uint64
	// Far is another hazard of the group, whose threads are farther apart than those of the example:
	// in two warps or two blocks. It is nil if there is none. It shows people what kind of
	// synchronization is missing.
	Far *Race
}

// BarrierKind is the kind of an error at a barrier.
type BarrierKind uint8

const (
	// Divergence: threads of a block are at different barriers (by id or count), or have exited, or
	// lanes of a warp arrived at an aligned barrier by different instructions.
	Divergence BarrierKind = iota
	// Deadlock: the block stalled at barriers that cannot complete, for a reason other than
	// divergence: producers and consumers wait for each other, or there are too few arrivals.
	Deadlock
	// WarpSyncHang: lanes wait at bar.warp.sync for members that have exited or wait elsewhere.
	WarpSyncHang
	// CountMismatch: participants of one generation named different counts, or mixed .red with
	// others.
	CountMismatch
	// NoWaiter: a generation was completed by arrivals alone, so that it orders nothing.
	NoWaiter
	// Recycled: threads may arrive at a barrier before its last generation is over (recycle.go). The
	// first group arrives too early; the others are the previous generation.
	Recycled
	// TooMany: more threads may arrive at a generation than it counts, and the surplus ones find no
	// partners. Groups as for Recycled.
	TooMany
	// SplitBarrier: threads of a block arrived at different instructions for one generation of
	// barrier 0, which names no count. PTX allows it, the languages above do not. The producer knows
	// whether the instructions are different places of the source.
	SplitBarrier
)

// BarrierError is one finding about barriers.
type BarrierError struct {
	Kind    BarrierKind
	Block   uint32
	Barrier uint8
	Groups  []event.Wait // threads by their position, in the order of warps
	Exited  []event.Exit
	// Arrived are, for Deadlock, the threads that count at the barriers of Groups and do not wait
	// there, by bar.arrive.
	Arrived []Arrivals
	// Generation is, for Recycled and TooMany, the number of completed generations; the last of them
	// may not be over.
	Generation uint64
	// Count is the number of blocks or generations in which the same sites disagreed.
	Count uint64
	// AfterFault is set if a thread of Groups or Exited had made an invalid access before.
	AfterFault bool
}

// Arrivals are the groups of threads that arrived at a barrier and do not wait. A thread that
// arrived twice is in two of them.
type Arrivals struct {
	Barrier uint8
	Groups  []event.Wait
}

// Report holds the findings of a detector.
type Report struct {
	Races    []Race // in the order of their first hazard
	Barriers []BarrierError
	// Phases are the findings about phases of mbarriers; only with Options.Execution.
	Phases []PhaseError
	// Lifetimes are accesses to the memory of blocks that may not be there; only with Execution.
	Lifetimes []LifetimeError
	// Early are accesses to global memory in front of the wait for the grids before; only with
	// Options.Dependent.
	Early []GridAccess
	// Maps are uses of tensor maps that a launch before has changed, and that the block has not
	// acquired.
	Maps []MapUse
	// Late are accesses that a proxy fence orders which another thread has executed.
	Late []Race
	// Exchanges are strong accesses that are no races, in the order of their first pairs.
	Exchanges []Exchange
	// Tolerated counts the pairs of same-value writes that Benign tolerated.
	Tolerated uint64
}

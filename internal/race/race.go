// Package race finds data races and barrier errors in a stream of events by happens-before.
//
// It knows neither the emulator nor the IR: a site is a number.
package race

import "heddle/internal/event"

// Options are the choices of one detector.
type Options struct {
	Geometry event.Geometry
	Model    event.WarpModel
	Benign   event.Benign
	// SharedBytes is the size of a block's shared memory, static and dynamic.
	SharedBytes uint32
	// Only is Global or Shared for a detector that reports races in this space alone, and to which
	// barriers and fences that do not order it order nothing; NoSpace for one that takes all to order
	// all. See Split.
	Only event.Space
	// Static says that the events are those of one execution that is to speak for all. Strong accesses
	// and fences synchronize nothing then: what a strong read observes differs between executions.
	Static bool
	// Recycling reports barriers of which one generation may begin before the last one is over
	// (recycle.go).
	Recycling bool
}

// Level says how far apart the threads of a race are.
type Level uint8

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

// Cause says why nothing orders the two sides of a race.
type Cause uint8

const (
	Unordered Cause = iota // neither happens before the other
	NotWaited              // one is by an asynchronous copy that its thread had not waited for
	// one is a load through another proxy, which is ordered with no write of the same kernel
	OtherProxy
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
	Addr   uint64
	Size   uint8
}

// Race is a group of hazards by one pair of sites in one space, with the first hazard as its
// example.
type Race struct {
	Space  event.Space
	Block  uint32 // of Second, for shared memory
	First  Access // earlier in the run
	Second Access
	Level  Level
	Cause  Cause
	// Interval is the barrier interval of Second: how many barriers of its whole block its thread had
	// passed. Of two threads of one block that race because they are unordered, both are in it, since
	// such a barrier would order them.
	Interval uint32
	// Hazards counts distinct (second thread, location) pairs.
	Hazards uint64
}

// BarrierKind says what went wrong at a barrier.
type BarrierKind uint8

const (
	// Divergence: threads of a block are at different barriers (by id or count), or have exited, or
	// lanes of a warp came to an aligned barrier by different instructions.
	Divergence BarrierKind = iota
	// Deadlock: the block stalled at barriers that nobody can complete, for another reason than
	// divergence: producers and consumers that wait for each other, or too few arrivals.
	Deadlock
	// WarpSyncHang: lanes wait at bar.warp.sync for members that have exited or wait elsewhere.
	WarpSyncHang
	// CountMismatch: participants of one generation named different counts, or mixed .red with others.
	CountMismatch
	// NoWaiter: a generation was completed by arrivals alone, so that it orders nothing.
	NoWaiter
	// Recycled: threads may come to a barrier before its last generation is over (recycle.go). The
	// first group comes too early; the others are the generation before.
	Recycled
	// TooMany: more threads may come to a generation than it counts, and those that are left over find
	// no partners. Groups as for Recycled.
	TooMany
)

// BarrierError is one finding about barriers.
type BarrierError struct {
	Kind    BarrierKind
	Block   uint32
	Barrier uint8
	Groups  []event.Wait // threads by where they are; in the order of warps
	Exited  []event.Exit
	// Generation says for Recycled and TooMany how many generations had completed, the last of them
	// the one that may not be over.
	Generation uint64
	// Count of blocks or generations in which the same sites disagreed.
	Count uint64
}

// Report is what a detector found.
type Report struct {
	Races    []Race // in the order of their first hazard
	Barriers []BarrierError
	// Tolerated counts pairs of same-value writes that Benign let pass.
	Tolerated uint64
}

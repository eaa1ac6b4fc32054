package event

// MBarrierOp is what threads do with an mbarrier, an object in shared memory (PTX ISA 9.7.13.15).
type MBarrierOp uint8

// The operations. Waits that do not pass produce no event.
const (
	MBarrierInit       MBarrierOp = iota // makes the object
	MBarrierInvalidate                   // ends its life
	MBarrierArrive                       // arrives, with .arrive or .arrive_drop
	MBarrierCount                        // expects or completes bytes; it orders no memory
	MBarrierWait                         // has found that a phase is complete
	MBarrierPeek                         // asks, in a trace, whether a phase is complete
	MBarrierComplete                     // the object completes a phase; no thread does it
)

// NoPhase is the phase for which a thread waits that finds a new object with the other parity: the
// one before the first. Nobody arrived there.
const NoPhase = ^uint64(0)

// MBarrier is an operation by the lanes of a warp on one mbarrier, in one phase of it. The
// operation that completes a phase comes before its MBarrierComplete, which comes before the waits
// for it.
type MBarrier struct {
	Warp   Warp // of MBarrierComplete: a warp of the block
	Site   Site
	Mask   uint32 // 0 of MBarrierComplete
	Active uint32
	Op     MBarrierOp
	Addr   uint64 // of the object, as an offset into the block's shared memory
	Peer   Peer   // whose shared memory it is in
	// Phase is the number of phases that were complete when the threads arrived, or the number of the
	// phase that they waited for, or that is complete.
	Phase uint64
	Order Order // of MBarrierArrive and MBarrierWait: Relaxed, or Release and Acquire
	Scope Scope
	// Implied says that the scope is not written; Scope is then CTA.
	Implied bool
	// Count is the number of arrivals that each lane makes, or that an object is made for. Drop says
	// that as many are expected less in the phases that follow.
	Count uint32
	Drop  bool
	// NoComplete says that the arrivals promise not to complete the phase (.noComplete).
	NoComplete bool
	// Bytes is the number of bytes by which each lane changes what the phase expects: those of an
	// expect-tx, also one that is part of an arrival, are positive, those of a complete-tx negative.
	Bytes int64
	// State says of MBarrierWait that it is for the phase of a state, and not for a parity.
	State bool
	// Token says of MBarrierPeek that the answer may decide whether a wait for this phase is
	// needed.
	Token bool
}

// Range is a piece of memory.
type Range struct {
	Space Space
	Addr  uint64 // as in Access
	Size  uint64
	Peer  Peer // of shared memory
}

// Bulk is the issue of a bulk copy or reduction by one thread (PTX ISA 9.7.9.25.4). It is an agent
// of its own: it reads and writes at some time behind its issue, through the async proxy, as weak
// accesses (those of a reduction at its destination are relaxed.gpu). Who learns of its completion
// is ordered after these accesses, and not after what its thread did before (8.9.1.1).
type Bulk struct {
	ID     uint64 // of the operation in this run, for Signal
	Warp   Warp
	Site   Site
	Mask   uint32 // the one thread
	Active uint32
	From   Range
	To     Range
	Reduce uint8 // bytes of an element of a reduction; 0 of a copy
	// Rows are the bytes of a copy of a tensor in global memory; From or To, which then is there, has
	// no size. A trace does not know them.
	Rows []Range
	// Map is the tensor map in global memory that the operation reads through the proxy of tensor
	// maps, at some time before it is complete. If a bulk group of the thread is complete into which
	// the operation comes, the map was read as well (9.7.9.27.1.2). It has no size if the map is a
	// parameter or constant, which the kernel cannot change. A prefetch does nothing but read it.
	Map Range
	// MapBefore says that a launch before this one has left what is there.
	MapBefore bool
	// Grouped says that a bulk group of the thread tracks the operation; else the mbarrier at Addr of
	// the shared memory of Object does, to which a Signal is sent.
	Grouped bool
	Addr    uint64
	// Barrier is the block of the mbarrier if that is another one than the block of To, as a copy for
	// a pair of blocks may have it (.cta_group::2); 0: the same.
	Barrier Peer
	// Generic says that the accesses are through the generic proxy: those of st.async and red.async
	// (9.7.9.12, 9.7.13.7), which read no memory.
	Generic bool
}

// Object returns the block of the mbarrier that tracks the operation.
func (e *Bulk) Object() Peer {
	if e.Barrier != 0 {
		return e.Barrier
	}
	return e.To.Peer
}

// BulkGroup is cp.async.bulk.commit_group or wait_group (PTX ISA 9.7.9.27.2), as CopyGroup. After a
// wait with Reads, only the reads of the groups are complete.
type BulkGroup struct {
	Warp    Warp
	Site    Site
	Mask    uint32
	Active  uint32
	Commit  bool
	Reads   bool
	Pending uint32
}

// CopyArrive is cp.async.mbarrier.arrive: once the copies that the lanes have issued before are
// complete, a Signal follows (PTX ISA 9.7.13.15.15). It releases no other accesses.
type CopyArrive struct {
	ID     uint64
	Warp   Warp
	Site   Site
	Mask   uint32
	Active uint32
	Addr   uint64
	// Pending says that the phase expects one arrival more because of it (without .noinc).
	Pending bool
}

// Signal states that an asynchronous operation is complete and that the mbarrier which tracks it
// has counted this, in the phase at hand. An MBarrierComplete may follow.
type Signal struct {
	ID   uint64
	Warp Warp // that issued the operation
	Addr uint64
	Peer Peer // whose shared memory Addr is in
	// Bytes are the bytes that it counts; Arrival says that it is an arrival instead.
	Bytes   int64
	Arrival bool
}

// ProxyFence is fence.proxy.async by the lanes of Mask (PTX ISA 9.7.13.4): accesses through the
// generic proxy that precede it precede accesses through the async proxy that it precedes. Space is
// the memory that it names, NoSpace for all; with Own, of Shared only that of the thread's block.
//
// With Map it is a fence between the generic proxy and that of tensor maps instead.
type ProxyFence struct {
	Warp   Warp
	Site   Site
	Mask   uint32
	Active uint32
	Space  Space
	Own    bool
	Map    MapFence
}

// MapFence is a half of a fence between the generic proxy and that of tensor maps: a release of
// what precedes it (fence.proxy.tensormap::generic.release, tensormap.cp_fenceproxy), or an acquire
// of the map at Addr of global memory (...acquire). A write precedes the read of a map by a copy if
// a release and an acquire of the map lie between them.
type MapFence struct {
	Release, Acquire bool
	Scope            Scope
	Addr             uint64
	// Warp says of a release that the lanes of Mask do it together, so that each releases what any of
	// them knows.
	Warp bool
}

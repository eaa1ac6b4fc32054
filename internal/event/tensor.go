package event

// Tensor memory (PTX ISA 9.7.16.1): a block has 128 lanes of 512 columns of 32 bits. Its addresses
// have the lane in bits 16 and up, and the column below.

// TensorOp is an asynchronous operation on tensor memory.
type TensorOp uint8

// The operations.
const (
	TensorMultiply TensorOp = iota // tcgen05.mma
	TensorCopy                     // tcgen05.cp
	TensorShift                    // tcgen05.shift
	TensorLoad                     // tcgen05.ld
	TensorStore                    // tcgen05.st
)

// TensorRect is a part of the tensor memory of a block: Lanes lanes from Lane on, Columns columns
// from Column on.
type TensorRect struct {
	Peer                         Peer
	Lane, Lanes, Column, Columns uint16
	Write                        bool
}

// Meets returns the first cell that two rectangles of one block have in common; false if there is
// none.
func (r *TensorRect) Meets(s *TensorRect) (lane, column uint16, both bool) {
	lane, column = max(r.Lane, s.Lane), max(r.Column, s.Column)
	return lane, column, lane < min(r.Lane+r.Lanes, s.Lane+s.Lanes) &&
		column < min(r.Column+r.Columns, s.Column+s.Columns)
}

// Covers reports whether r has all cells of s, of the same block.
func (r *TensorRect) Covers(s *TensorRect) bool {
	return r.Lane <= s.Lane && r.Lane+r.Lanes >= s.Lane+s.Lanes &&
		r.Column <= s.Column && r.Column+r.Columns >= s.Column+s.Columns
}

// TensorAgent is the issue of an asynchronous operation on tensor memory by a thread, or by a warp
// of tcgen05.ld and st (PTX ISA 9.7.16.5, 9.7.16.6). It accesses the rectangles, and reads Shared
// of the shared memory of its block through the async proxy, at some time between its issue and the
// TensorSync by which its thread, or some thread that waits for an mbarrier, learns of its
// completion.
type TensorAgent struct {
	Warp   Warp
	Site   Site
	Mask   uint32 // the one thread, or all lanes
	Active uint32
	Op     TensorOp
	Rects  []TensorRect // the consumer may keep them
	Shared *Footprint   // nil: nothing
	// Peer is the other block of a pair, of whose shared memory the same is read (.cta_group::2); 0:
	// none.
	Peer Peer
	// Shape identifies the accumulator and the shape of a multiplication: operations with equal ones
	// are executed in the order of their issue by one thread (9.7.16.6.2).
	Shape uint64
	// Small says of a copy that its shape is .4x256b, which follows a shift in the order of issue.
	Small bool
}

// TensorStep is what a TensorSync does.
type TensorStep uint8

// The steps.
const (
	// TensorLoaded and TensorStored: the loads, or stores, of the warp are complete (tcgen05.wait).
	TensorLoaded TensorStep = iota
	TensorStored
	// TensorBefore and TensorAfter are tcgen05.fence::before_thread_sync and after_thread_sync.
	TensorBefore
	TensorAfter
	// TensorCommit: the mbarrier at Addr will count one arrival once what the thread has issued
	// before is complete, of which Signal tells (tcgen05.commit).
	TensorCommit
	TensorAllocate // Columns columns from Column on belong to the block from here on
	TensorFree     // and no longer
	TensorPermit   // the block gives up the right to allocate (tcgen05.relinquish_alloc_permit)
)

// TensorSync is an instruction of tcgen05 that is not asynchronous (PTX ISA 9.7.16.6.1), or
// tcgen05.commit.
type TensorSync struct {
	Warp   Warp
	Site   Site
	Mask   uint32
	Active uint32
	Step   TensorStep
	ID     uint64 // of a commit, for Signal
	// Addr is the mbarrier of a commit, or where an allocation writes 4 bytes, in shared memory: a
	// weak write by the warp, behind which loads by all its lanes come.
	Addr uint64
	Peer Peer // whose shared memory Addr is in
	// More says of a commit to several blocks that it is not the last of its events.
	More            bool
	Column, Columns uint16
	// Pair is the other block of a pair (.cta_group::2) that allocates, or frees, the same columns, or
	// gives up the right to, by a warp of its own; 0: none. The events of the two warps follow each other, of which the
	// first has More.
	Pair Peer
}

// Rect returns the cells of an allocation, all lanes of its columns.
func (e *TensorSync) Rect() TensorRect {
	return TensorRect{Lanes: 128, Column: e.Column, Columns: e.Columns, Write: true}
}

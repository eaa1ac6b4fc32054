package event

// Site is a static place in the program of one launch: an instruction with the call path that leads
// to it. The producer numbers its sites densely from 0 and can map one to source spans. Detectors
// only compare sites and use them as indices.
type Site uint32

// Access is one memory instruction of one warp: every lane of Mask accesses Size bytes at its
// address. The producer reuses the value between calls; a consumer copies what it keeps.
type Access struct {
	Warp   Warp
	Site   Site
	Mask   uint32 // lanes that access memory
	Active uint32 // lanes that are converged with them, guard false included; a superset of Mask
	Kind   Kind
	Space  Space // Global or Shared
	Order  Order
	Scope  Scope // NoScope exactly when Order is Weak
	Orders Orders
	Proxy  Proxy
	Size   uint8 // bytes a lane: 1, 2, 4, 8, 16 or 32; a vector access is one wide access
	Elem   uint8 // bytes of an element of a vector access; 0 or Size for a scalar one

	// Addr holds the first byte of each lane's access; entries outside Mask are undefined. A global
	// address is unique in the launch; a shared address is an offset into the block's shared memory.
	Addr *[WarpSize]uint64
	Peer Peer // whose shared memory Addr is in

	// Data holds what a Write stores: word k of a lane is bytes 8k to 8k+7 of its access, little
	// endian, zero above Size. Nil for other kinds.
	Data *[4][WarpSize]uint64

	// Stored holds the lanes of an Atomic that wrote: a compare-and-swap that fails only reads, so it
	// releases nothing. It equals Mask for every other kind that writes, and is 0 for a Read. Whether
	// a compare-and-swap fails depends on the schedule, so that for races (Conflict) an Atomic always
	// writes.
	Stored uint32
	// Row and Step are an optional summary of Addr. If Row is not 0, all lanes of the warp are in
	// Mask, and the address grows by Step from each lane to the next, except at lanes whose number is
	// a multiple of Row. They carry no information that Addr does not.
	Row  uint8
	Step uint64
}

// Copy is the issue of non-bulk asynchronous copies, cp.async, by the lanes of a warp (PTX ISA
// 9.7.9.25.3.1). The copy of each lane reads Read bytes of global memory at From and writes Size
// bytes of the block's shared memory at To; the bytes after the first Read are zero. It happens at
// some time between its issue and the CopyGroup that waits for it, as a weak access, ordered after
// everything that the lane did before and before nothing else (8.9.1.1).
type Copy struct {
	Warp   Warp
	Site   Site
	Mask   uint32
	Active uint32
	Size   uint8             // 4, 8 or 16; To and From are multiples of it
	To     *[WarpSize]uint64 // offsets into the block's shared memory
	From   *[WarpSize]uint64 // addresses of global memory, as in Access
	Read   *[WarpSize]uint8  // at most Size
}

// CopyGroup is cp.async.commit_group, cp.async.wait_group or cp.async.wait_all, which is both (PTX
// ISA 9.7.9.25.3.2, 9.7.9.25.3.3), executed by the lanes of Mask. Each lane has its own groups: the
// copies that it issued between two commits form a group, which may be empty.
type CopyGroup struct {
	Warp    Warp
	Site    Site
	Mask    uint32
	Active  uint32
	Commit  bool // happens first: closes the group of the copies issued since the last commit
	Wait    bool // happens second: all closed groups except the last Pending have completed
	Pending uint32
}

// Fence is fence or membar, executed by the lanes of Mask.
type Fence struct {
	Warp   Warp
	Site   Site
	Mask   uint32
	Active uint32
	Order  Order // Acquire, Release, AcqRel or SeqCst
	Scope  Scope
	Orders Orders
	// Grid is set for griddepcontrol.wait: what the grids before it did is visible behind it (PTX ISA
	// 9.7.13.13). It orders no accesses of this grid, and Order, Scope and Orders say nothing.
	Grid bool
}

// BarrierOp distinguishes arrivals that wait from those that do not.
type BarrierOp uint8

const (
	BarSync   BarrierOp = iota // waits; sync and red
	BarArrive                  // does not wait
)

// Arrive is the arrival of lanes at a barrier of their block: bar/barrier .sync, .arrive or .red
// (PTX ISA 9.7.13.1). It precedes the Complete of its generation.
type Arrive struct {
	Warp    Warp
	Site    Site
	Mask    uint32
	Active  uint32
	Barrier uint8  // 0..15
	Count   uint32 // participating threads according to this instruction; 0: the whole block
	Op      BarrierOp
	Red     bool // .red: may not be mixed with the others in one generation
	Aligned bool // all threads of the warp must execute this same instruction
	Orders  Orders
}

// Complete is the completion of one generation of a barrier: all arrivals since the previous
// Complete have happened, and the waiting threads continue.
type Complete struct {
	Block   uint32
	Barrier uint8
	// Exited is set if threads of the block had exited without arriving, and the barrier completed
	// because it waits only for threads that have not exited.
	Exited bool
}

// WarpSync is bar.warp.sync: the lanes of Mask wait for each other, and their memory accesses
// before it are ordered before those after it (PTX ISA 9.7.13.2). It is sent once, when the last
// lane has arrived. In a trace also shfl.sync, elect.sync and their like send it, with Meets: the
// lanes wait for each other, and their accesses are not ordered.
type WarpSync struct {
	Warp   Warp
	Site   Site
	Mask   uint32
	Orders Orders
	Meets  bool
}

// Converge states that from here on the lanes of Mask are the active set of their warp: the start
// of a branch's first path (if), of its second path (else), or reconvergence (fi); Barracuda §3.1.
// Only the lockstep model uses it.
type Converge struct {
	Warp Warp
	Mask uint32
}

// Exit states that lanes have ended.
type Exit struct {
	Warp Warp
	Mask uint32
}

// Wait is a group of lanes of one warp that cannot continue; it is part of a Stall.
type Wait struct {
	Warp    Warp
	Mask    uint32
	Site    Site
	WarpBar bool   // waits at bar.warp.sync for the lanes in Members
	Members uint32 // lanes that bar.warp.sync names
	Barrier uint8
	Count   uint32 // as in Arrive
	Aligned bool
}

// Stall states that no thread of a block can make progress: all threads that have not exited wait
// at barriers that cannot complete.
type Stall struct {
	Block   uint32
	Waiting []Wait
	Exited  []Exit // lanes that had exited, per warp
}

// Elements returns the number of scalar operations that the access of a lane consists of: "memory
// operations with a vector data type are modelled as a set of equivalent memory operations with a
// scalar data type, executed in an unspecified order on the elements" (PTX ISA 8.2.4). The
// distinction matters for strong operations only, so that weak ones count as one.
func (a *Access) Elements() int {
	if a.Elem == 0 || !a.Order.Strong() {
		return 1
	}
	return int(a.Size / a.Elem)
}

// Element sets e to element i of a vector access; addr provides the storage for its addresses.
func (a *Access) Element(i int, e *Access, addr *[WarpSize]uint64) {
	*e = *a
	*addr = *a.Addr
	for l := range addr {
		addr[l] += uint64(i) * uint64(a.Elem)
	}
	e.Addr, e.Size, e.Data, e.Row = addr, a.Elem, nil, 0
}

// Sink consumes the events of one launch. Their order is one legal interleaving: an access that
// observes a value comes after the access that stored it. All methods are called from one
// goroutine.
type Sink interface {
	Access(*Access)
	Copy(*Copy)
	CopyGroup(*CopyGroup)
	CopyArrive(*CopyArrive)
	Bulk(*Bulk)
	BulkGroup(*BulkGroup)
	Matrix(*Matrix)
	MatrixGroup(*MatrixGroup)
	Tensor(*TensorAgent)
	TensorSync(*TensorSync)
	Signal(*Signal)
	MBarrier(*MBarrier)
	ProxyFence(*ProxyFence)
	Fence(*Fence)
	Arrive(*Arrive)
	Complete(*Complete)
	Cluster(*ClusterBarrier)
	InitFence(*InitFence)
	WarpSync(*WarpSync)
	Converge(*Converge)
	Exit(*Exit)
	Stall(*Stall)
}

package isa

import (
	"slices"

	"heddle/internal/event"
)

// Tracking says what tells a thread that an asynchronous operation is complete.
type Tracking uint8

// The mechanisms that track completion.
const (
	NoTracking     Tracking = iota // it is not asynchronous, or nothing in the kernel can wait for it
	CopyGroups                     // cp.async groups of the thread (PTX ISA 9.7.9.25.3)
	BulkGroups                     // bulk groups of the thread (9.7.9.27.2)
	MatrixGroups                   // wgmma groups of the warp (9.7.15.7)
	BarrierBytes                   // complete_tx on an mbarrier (9.7.9.25.5)
	BarrierArrival                 // an arrival at an mbarrier: tcgen05.commit (9.7.16.12.1)
	TensorAccesses                 // the loads or stores of tensor memory by the warp (9.7.16.8.5)
)

// AsyncStep says what an instruction does with asynchronous operations.
type AsyncStep uint8

// The steps of an asynchronous operation.
const (
	AsyncStart   AsyncStep = iota // starts one
	AsyncCommit                   // makes those that the thread started since the last one a group
	AsyncWait                     // waits until at most a number of groups are not complete
	AsyncWaitAll                  // waits for all, those that are in no group too
)

// AsyncUse is what an instruction does with asynchronous operations.
type AsyncUse struct {
	Step  AsyncStep
	Track Tracking
	// Pending is the source with the number of groups of AsyncWait; -1 for other steps.
	Pending int
	// Reads says that AsyncWait waits only until the sources were read: .read.
	Reads bool
	// Barrier is the source that is the address of the mbarrier; -1 without one.
	Barrier int
	// Proxy is that of the accesses.
	Proxy event.Proxy
	// Multicast says that an operation writes to several blocks of the cluster, each with an mbarrier
	// of its own.
	Multicast bool
}

// Async returns what the instruction does with asynchronous operations, and whether it does
// anything. sources is how many source operands it has.
func (d *Desc) Async(sources int) (AsyncUse, bool) {
	if d.Row == nil {
		return AsyncUse{Pending: -1, Barrier: -1}, false
	}
	u := AsyncUse{Step: d.Row.Step, Pending: -1, Barrier: -1, Multicast: d.multicast()}
	if u.Step == AsyncWait && sources > 0 {
		u.Pending = 0
	}
	switch d.Action() {
	case ActCopy, ActCopyGroup:
		u.Track = CopyGroups
	case ActBulkGroup:
		u.Track, u.Proxy, u.Reads = BulkGroups, event.AsyncProxy, slices.Contains(d.Mods, "read")
	case ActMatrixAsync, ActMatrixGroup:
		u.Track, u.Proxy = MatrixGroups, event.AsyncProxy
	case ActBulkCopy:
		u.Proxy = event.AsyncProxy
		u.Track = d.bulkTracking()
		if u.Track == BarrierBytes {
			u.Barrier = d.bulkBarrier()
		}
	case ActAsyncStore:
		if u.Track = d.bulkTracking(); u.Track == BarrierBytes {
			u.Barrier = 2
		}
	case ActCancel:
		u.Track, u.Proxy, u.Barrier = BarrierBytes, event.AsyncProxy, 1
	case ActTensorAsync:
		u.Track, u.Proxy = BarrierArrival, event.AsyncProxy
	case ActTensorCommit:
		u.Track, u.Barrier = BarrierArrival, 0
	case ActTensorAccess, ActTensorWait:
		u.Track = TensorAccesses
	default:
		return AsyncUse{Pending: -1, Barrier: -1}, false
	}
	return u, true
}

// bulkTracking is the completion mechanism that a bulk operation names.
func (d *Desc) bulkTracking() Tracking {
	for _, m := range d.Mods {
		switch m {
		case "bulk_group":
			return BulkGroups
		case "mbarrier::complete_tx::bytes":
			return BarrierBytes
		}
	}
	return NoTracking
}

// bulkBarrier is the operand of a bulk copy that is its mbarrier: behind the size, or, of a tensor
// copy, whose size is in the tensor map, behind the source (PTX ISA 9.7.9.25.4.1, 9.7.9.27.1.2).
func (d *Desc) bulkBarrier() int {
	if slices.Contains(d.Mods, "tensor") {
		return 2
	}
	return 3
}

// multicast reports whether a copy goes to several blocks of the cluster.
func (d *Desc) multicast() bool {
	return slices.ContainsFunc(d.Mods, func(m string) bool {
		return m == "multicast::cluster" || m == "multicast::cluster::all"
	})
}

// WarpUse is how the lanes of a warp take part in an operation of the warp, barriers included.
type WarpUse struct {
	// Mask is the source that names the lanes that the operation waits for; -1 for the forms from
	// before sm_70, which act on the lanes that happen to be active, and for operations of all lanes.
	Mask int
	// All says that all threads of the warp must execute the instruction: .aligned ones.
	All bool
	// Waits says that a lane waits for the others of the mask, or of the warp.
	Waits bool
	// OrdersMemory says that accesses before the instruction are ordered before those behind it among
	// the lanes. Only the barrier does so: shfl, vote, match, redux and elect do not.
	OrdersMemory bool
}

// Warp returns how lanes take part in an operation of the warp, and whether the instruction is one.
// sources is how many source operands it has: the mask is the last.
func (d *Desc) Warp(sources int) (WarpUse, bool) {
	u := WarpUse{Mask: -1}
	switch d.Action() {
	case ActShuffle, ActVote, ActMatch, ActWarpReduce, ActElect, ActWarpBarrier:
		if d.Has(SyncMask) {
			u.Mask, u.Waits = sources-1, true
		}
		u.OrdersMemory = d.Action() == ActWarpBarrier
	case ActActiveMask:
	case ActMatrixLoad, ActMatrixStore, ActMatrixMultiply, ActMatrixMove, ActMatrixAsync,
		ActMatrixFence, ActMatrixGroup, ActTensorAccess, ActTensorWait, ActRegisterPool, ActTensorAllocate:
		u.All, u.Waits = true, true
	default:
		return u, false
	}
	return u, true
}

package isa

// Action says what executing an instruction does, as far as engines must tell instructions apart.
// The row of an opcode states it, and engines switch on it instead of on names. Opcodes that mean
// the same have one action; the details that differ (which space, order, operand, reduction) are
// in the Desc and in what its methods Accesses, Barrier, Fence, Async and Warp return.
//
// An action is never a promise that an engine knows the instruction. Whatever an engine does not
// list is unsupported there, so that a new row cannot pass for one that does nothing. Actions
// are narrow wherever confusion would hide a race (ActFence and ActPartialFence).
type Action uint8

// The actions, grouped by what an engine must model for them.
const (
	// ActUnknown is the action of rows for which the table states none.
	ActUnknown Action = iota

	// ActCompute sets the destinations to a function of the sources of the same thread, and of the
	// carry flag if Desc.ReadsCarry. Desc.Operation says which.
	ActCompute
	// ActNothing has no effect on registers, memory and synchronization: hints to the caches,
	// counters of performance, a pause, a breakpoint, a point.
	ActNothing

	// Control flow (PTX ISA 9.7.12). See Desc.EndsBlock and Desc.Leaves.
	ActBranch
	ActIndexedBranch // by an index into a list of labels
	ActCall
	ActReturn // from a function; from a kernel it ends the thread
	ActExit   // ends the thread
	ActTrap   // aborts the kernel

	// Addresses. None of these accesses memory.
	ActConvertAddress        // between a space and the generic one
	ActTestSpace             // whether a generic address is of a space
	ActConvertClusterAddress // the same two for the shared memory of a cluster
	ActTestClusterSpace
	ActMapAddress // of this block's shared memory to that of another block of the cluster
	ActQueryRank  // of the block of a cluster to whose shared memory an address belongs

	// Accesses of each thread, complete when the instruction is (PTX ISA 9.7.9.8 to 9.7.9.12,
	// 9.7.13.5, 9.7.13.6). Desc.Accesses has the details.
	ActLoad
	ActStore
	ActAtomic        // reads, modifies, writes, and returns the old value
	ActReduce        // the same without a result
	ActClusterAccess // one of these four, to the shared memory of any block of the cluster
	ActStoreRange    // writes zeros to as many bytes as an operand says
	ActDiscard       // leaves bytes undefined
	ActMultimem      // accesses all replicas of a multicast object

	// Asynchronous operations. Desc.Async says what tracks their completion.
	ActCopy         // cp.async: by each thread, through the generic proxy
	ActCopyGroup    // commits or awaits groups of those
	ActBulkCopy     // by a copy engine through the async proxy, reductions and tensors included
	ActBulkGroup    // commits or awaits groups of those
	ActBulkPrefetch // of a range or a tensor into a cache
	ActAsyncStore   // st.async and red.async: to the cluster's shared memory, tracked by an mbarrier
	ActTensorMap    // changes or publishes a tensor map
	ActCancel       // asks for the cancellation of a block that has not started
	ActQueryCancel  // decodes the answer, which is in registers

	// Operations of a warp that exchange values and order no memory. Desc.Warp has the mask.
	ActShuffle
	ActVote
	ActMatch
	ActActiveMask
	ActWarpReduce
	ActElect

	// Barriers. Desc.Barrier has the object, the kind and the operands.
	ActNumberedBarrier // one of the 16 numbered barriers of a block (PTX ISA 9.7.13.1)
	ActWarpBarrier     // of lanes that a mask names (9.7.13.2)
	ActClusterBarrier  // of all threads of a cluster (9.7.13.3)
	ActMBarrier        // an object in shared memory (9.7.13.15)

	// Fences (PTX ISA 9.7.13.4). Desc.Fence has the details.
	ActFence        // orders all memory accesses of the thread
	ActPartialFence // orders some of them, and must never be taken for an ActFence
	ActProxyFence   // between proxies

	ActGridDependency // waits for, or releases, dependent grids
	ActRegisterPool   // changes the registers of the warp: may block until there are enough
	ActCachePolicy    // makes a cache policy, an opaque value

	// Textures and surfaces (PTX ISA 9.7.10, 9.7.11).
	ActReadTexture
	ActReadSurface
	ActWriteSurface // reductions included
	ActQueryTexture
	ActQuerySurface
	ActTestOpaque // which of the kinds of texture and surface objects it is

	// Matrices. Desc.Row.Fragment tells wmma, whose fragments have no documented layout, from mma.
	ActMatrixLoad
	ActMatrixStore
	ActMatrixMultiply // of registers
	ActMatrixMove     // between the registers of the lanes
	ActMatrixAsync    // by a warpgroup, from shared memory
	ActMatrixFence    // orders registers and shared memory for the next of those
	ActMatrixGroup    // commits or awaits groups of those

	// Tensor memory (PTX ISA 9.7.16).
	ActTensorAllocate // allocates, frees, or gives up the right to allocate
	ActTensorAccess   // between registers and tensor memory, by a warp
	ActTensorAsync    // multiplies, copies and shifts
	ActTensorWait     // for the accesses of the warp
	ActTensorFence    // orders asynchronous operations around a synchronization
	ActTensorCommit   // makes an mbarrier track the operations before it

	ActStack // moves the stack pointer, or reads it

	numActions
)

// Action returns what the instruction does; ActUnknown if it was not decoded.
func (d *Desc) Action() Action {
	if d.Row == nil {
		return ActUnknown
	}
	return d.Row.Action
}

// EndsBlock reports whether control may go elsewhere behind the instruction, so that it is the last
// of its basic block: branches, and what ends the thread or the function. A call is not among them.
func (d *Desc) EndsBlock() bool {
	switch d.Action() {
	case ActBranch, ActIndexedBranch, ActReturn, ActExit, ActTrap:
		return true
	}
	return false
}

// Leaves reports whether the thread leaves the function without an error: ret and exit, not trap.
func (d *Desc) Leaves() bool {
	a := d.Action()
	return a == ActReturn || a == ActExit
}

// ReadsMemory reports whether the instruction loads a value from memory into registers at once: ld
// and ldu, but neither those of .shared::cluster nor atomic operations.
func (d *Desc) ReadsMemory() bool { return d.Action() == ActLoad }

// IsPlainLoad reports whether the instruction is ld, in any form but that of .shared::cluster.
func (d *Desc) IsPlainLoad() bool { return d.ReadsMemory() && !d.Row.NonCoherent }

// WritesMemory reports whether the instruction is a store, an atomic operation or a reduction of
// the thread itself: st, atom, red, but not those of .shared::cluster.
func (d *Desc) WritesMemory() bool {
	switch d.Action() {
	case ActStore, ActAtomic, ActReduce:
		return true
	}
	return false
}

// AccessesMemory reports whether the instruction is one of those that ReadsMemory and WritesMemory
// name.
func (d *Desc) AccessesMemory() bool { return d.ReadsMemory() || d.WritesMemory() }

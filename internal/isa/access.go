package isa

import (
	"slices"
	"strings"

	"heddle/internal/event"
)

// Access is one access to memory that an instruction makes.
type Access struct {
	Operand int // the source that is its address
	Kind    event.Kind
	Space   event.Space // Generic: the address decides; NoSpace: the modifiers do not say
	Order   event.Order
	Scope   event.Scope
	Proxy   event.Proxy
	// Size is the bytes that each thread accesses, of all elements of a vector; 0 if operands or the
	// shape of a matrix say it.
	Size int
	// Cluster says that the address may be in the shared memory of another block of the cluster.
	Cluster bool
	// Async says that the access is not ordered behind the instruction, but by what Desc.Async says.
	Async bool
}

// Accesses returns the accesses to memory that the instruction makes through addresses among its
// operands, in the order of the operands. It returns false if it makes some that the table does not
// state: accesses of matrices and tensors by descriptors, of textures, and of tensor memory. An
// instruction that makes none has an empty list and true.
//
// A barrier object in memory is accessed too, as event.Atomic: operations on one object are strong
// and never race with each other, but with ordinary accesses to its bytes (PTX ISA 9.7.13.15).
func (d *Desc) Accesses() ([]Access, bool) {
	switch d.Action() {
	case ActUnknown:
		return nil, false
	case ActLoad, ActStore, ActAtomic, ActReduce, ActClusterAccess, ActMultimem:
		return []Access{d.access(d.Row.Effect)}, true
	case ActStoreRange, ActDiscard:
		a := d.access(Writes)
		a.Size = 0
		return []Access{a}, true
	case ActCopy, ActBulkCopy:
		return d.copied(), true
	case ActAsyncStore:
		return d.asyncStored(), true
	case ActCancel:
		a := Access{Kind: event.Write, Space: event.Shared, Proxy: event.AsyncProxy, Size: 16,
			Async: true}
		return []Access{a, barrierAccess(1)}, true
	case ActMBarrier:
		if b, _ := d.Barrier(0); b.ID >= 0 {
			return []Access{barrierAccess(b.ID)}, true
		}
		return nil, true
	case ActTensorCommit:
		return []Access{barrierAccess(0)}, true
	case ActReadTexture, ActReadSurface, ActWriteSurface, ActMatrixLoad, ActMatrixStore,
		ActMatrixAsync, ActTensorAllocate, ActTensorAccess, ActTensorAsync, ActTensorMap,
		ActCall, ActStack:
		return nil, false
	}
	return nil, true
}

// access is that of a load, a store or an atomic operation.
func (d *Desc) access(e Effect) Access {
	a := Access{
		Space: d.Space, Order: d.Order, Scope: d.Scope, Proxy: d.proxy(),
		Size: d.Type.Size() * max(int(d.Vec), 1), Cluster: d.Row.Cluster(),
	}
	switch {
	case e == Writes:
		a.Kind = event.Write
	case e == ReadsWrites && len(d.Row.Roles) > 0 && d.Row.Roles[0] == Dst:
		a.Kind = event.Atomic
	case e == ReadsWrites:
		a.Kind = event.Reduce
	}
	return a
}

// AccessKind returns the kind of the one access that a load, store, atomic operation or reduction
// makes, those of .shared::cluster and of multimem included; false for other instructions.
func (d *Desc) AccessKind() (event.Kind, bool) {
	switch d.Action() {
	case ActLoad, ActStore, ActAtomic, ActReduce, ActClusterAccess, ActMultimem:
		return d.access(d.Row.Effect).Kind, true
	}
	return 0, false
}

// proxy is the method of a load, store or atomic operation: ld.global.nc and ldu read through the
// texture cache (PTX ISA 8.6, 9.7.9.9, 9.7.9.10).
func (d *Desc) proxy() event.Proxy {
	if d.Has(NC) || d.Row.NonCoherent {
		return event.TextureProxy
	}
	return event.GenericProxy
}

// NonCoherent reports whether the instruction is a load through the texture proxy, which no barrier
// orders with writes of the same kernel.
func (d *Desc) NonCoherent() bool {
	return d.Action() == ActLoad && d.proxy() == event.TextureProxy
}

// copied are the accesses of an asynchronous copy: it writes at its first operand and reads at its
// second (PTX ISA 9.7.9.25). The destination of a reduction is read as well, and its operations are
// relaxed at the scope of the GPU, so that they do not race with each other (9.7.9.25.4.2).
func (d *Desc) copied() []Access {
	to, from := d.copySpaces()
	w := Access{Operand: 0, Kind: event.Write, Space: to, Async: true}
	r := Access{Operand: 1, Kind: event.Read, Space: from, Async: true}
	if d.Action() == ActBulkCopy {
		w.Proxy, r.Proxy = event.AsyncProxy, event.AsyncProxy
		w.Cluster = slices.Contains(d.Mods, inCluster[0])
	}
	if strings.Contains(d.Row.Opcode, "reduce") {
		w.Kind, w.Order, w.Scope = event.Reduce, event.Relaxed, event.GPU
	}
	return []Access{w, r}
}

// copySpaces returns the spaces of a copy in the order in which they are written: the
// destination's, the source's.
func (d *Desc) copySpaces() (to, from event.Space) {
	for _, m := range d.Mods {
		for i := range words[m] {
			if w := &words[m][i]; w.kind == kSpace {
				if to == event.NoSpace {
					to = event.Space(w.val)
				} else if from == event.NoSpace {
					from = event.Space(w.val)
				}
			}
		}
	}
	return to, from
}

// asyncStored are the accesses of st.async and red.async: the value, then the mbarrier (PTX ISA
// 9.7.9.12, 9.7.13.7). The forms in global memory have no mbarrier.
func (d *Desc) asyncStored() []Access {
	a := d.access(d.Row.Effect)
	a.Async, a.Cluster = true, slices.Contains(d.Mods, inCluster[0])
	if a.Space == event.Global {
		return []Access{a}
	}
	if a.Kind.RMW() && a.Order == event.Weak {
		a.Order, a.Scope = event.Relaxed, event.Cluster
	}
	return []Access{a, barrierAccess(2)}
}

// barrierAccess is the access of an operation on a barrier object of 8 bytes. Its order and scope
// are those of Desc.Barrier.
func barrierAccess(operand int) Access {
	return Access{
		Operand: operand, Kind: event.Atomic, Space: event.Shared, Order: event.Relaxed,
		Scope: event.Cluster, Size: 8,
	}
}

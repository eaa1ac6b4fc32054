package isa

import (
	"slices"

	"heddle/internal/event"
)

// BarrierObject says what kind of barrier an instruction uses.
type BarrierObject uint8

const (
	// NoBarrier is the object of instructions that use none.
	NoBarrier       BarrierObject = iota
	NumberedBarrier               // one of the 16 of a block, by number (PTX ISA 9.7.13.1)
	WarpBarrier                   // of lanes of a warp, by mask (9.7.13.2)
	ClusterBarrier                // the one of a cluster (9.7.13.3)
	MBarrier                      // an object in shared memory, by address (9.7.13.15)
)

// BarrierKind says how an instruction takes part in a barrier.
type BarrierKind uint8

// The uses of a barrier, over all kinds of objects.
const (
	BarrierSync     BarrierKind = iota // arrives and waits
	BarrierReduce                      // arrives, waits, and combines a predicate of all threads
	BarrierArrive                      // arrives and goes on
	BarrierDrop                        // arrives, and leaves the set of expected threads
	BarrierWait                        // waits for what arrived before, and does not arrive
	BarrierTest                        // asks whether a phase is complete; may or may not wait for it
	BarrierInit                        // makes the object
	BarrierInvalid                     // ends the life of the object
	BarrierExpect                      // makes the phase wait for bytes
	BarrierComplete                    // counts bytes as arrived
	BarrierCopies                      // arrives once the copies that the thread issued are complete
	BarrierCount                       // decodes a count from a state that an arrival returned
)

// BarrierUse is how an instruction takes part in a barrier. Operands are indices among the sources,
// -1 if the instruction has none of the kind.
type BarrierUse struct {
	Object BarrierObject
	Kind   BarrierKind
	// Waits says that a thread does not go on until the barrier is complete. It does not for
	// BarrierTest, which a loop around it turns into a wait.
	Waits   bool
	Aligned bool // all threads of the warp execute the same instruction together

	// Order and Scope are those that the operation has on memory: Release of an arrival, Acquire of a
	// wait, both of BarrierSync. Relaxed orders none.
	Order event.Order
	Scope event.Scope

	ID        int // number, mask or address
	Count     int // of threads (BarrierSync, BarrierReduce, BarrierArrive) or of arrivals
	Predicate int // of BarrierReduce
	Bytes     int // of BarrierExpect and BarrierComplete, and of an arrival that expects too
	State     int // the phase that BarrierTest asks for: a state, or a parity if Parity
	Parity    bool
	// Completes says that an arrival may complete the phase: false for .noComplete.
	Completes bool
	// Implied says that Scope is not written.
	Implied bool
	// Remote says that the object may be one of another block of the cluster: .shared::cluster.
	Remote bool
	// Pending says that BarrierCopies raises the count of the phase first: without .noinc.
	Pending bool
}

// Barrier returns how the instruction takes part in a barrier, and whether it does. sources is how
// many source operands it has, since the count of a numbered barrier is optional.
func (d *Desc) Barrier(sources int) (BarrierUse, bool) {
	u := BarrierUse{ID: -1, Count: -1, Predicate: -1, Bytes: -1, State: -1, Aligned: d.Has(Aligned)}
	switch d.Action() {
	case ActNumberedBarrier:
		d.numbered(&u, sources)
	case ActWarpBarrier:
		u.Object, u.Waits, u.ID = WarpBarrier, true, 0
		u.Order, u.Scope = event.AcqRel, event.CTA
	case ActClusterBarrier:
		d.clustered(&u)
	case ActMBarrier:
		d.inMemory(&u, sources)
	default:
		return BarrierUse{ID: -1, Count: -1, Predicate: -1, Bytes: -1, State: -1}, false
	}
	return u, true
}

// numbered: bar.sync a{, b}; bar.arrive a, b; bar.red p, a{, b}, c (PTX ISA 9.7.13.1).
func (d *Desc) numbered(u *BarrierUse, sources int) {
	u.Object, u.Waits, u.Completes = NumberedBarrier, true, true
	u.Order, u.Scope = event.AcqRel, event.CTA
	switch d.Fn {
	case FnSync:
	case FnArrive:
		u.Kind, u.Waits, u.Order = BarrierArrive, false, event.Release
	default:
		u.Kind = BarrierReduce
		sources--
		u.Predicate = sources
	}
	if sources > 0 {
		u.ID = 0
	}
	if sources > 1 {
		u.Count = 1
	}
}

// clustered: without a written order an arrival releases and a wait acquires, at the scope of the
// cluster (PTX ISA 9.7.13.3).
func (d *Desc) clustered(u *BarrierUse) {
	u.Object, u.Scope, u.Completes = ClusterBarrier, event.Cluster, true
	if d.Row.Barrier == BarrierWait {
		u.Kind, u.Waits, u.Order = BarrierWait, true, event.Acquire
		return
	}
	u.Kind, u.Order = BarrierArrive, event.Release
	if d.Order == event.Relaxed {
		u.Order = event.Relaxed
	}
}

// inMemory: operations on an mbarrier object (PTX ISA 9.7.13.15.9 to .17). Written without order
// and scope an arrival is .release.cta and a wait .acquire.cta (.13, .16).
func (d *Desc) inMemory(u *BarrierUse, sources int) {
	u.Object, u.Kind, u.ID, u.Scope = MBarrier, d.Row.Barrier, 0, event.CTA
	u.Implied = d.Scope == event.NoScope
	switch u.Kind {
	case BarrierArrive, BarrierDrop, BarrierExpect, BarrierComplete:
		u.Remote = slices.Contains(d.Mods, inCluster[0])
	}
	if d.Scope != event.NoScope {
		u.Scope = d.Scope
	}
	second := -1
	if sources > 1 {
		second = 1
	}
	switch u.Kind {
	case BarrierInit:
		u.Count = second
	case BarrierExpect, BarrierComplete:
		u.Bytes, u.Order = second, event.Relaxed
	case BarrierArrive, BarrierDrop:
		u.Order = d.orderOr(event.Release)
		u.Completes = !slices.Contains(d.Mods, "noComplete")
		if slices.Contains(d.Mods, "expect_tx") {
			u.Bytes = second
		} else {
			u.Count = second
		}
	case BarrierCopies:
		u.Order, u.Completes = event.Release, true
		u.Pending = !slices.Contains(d.Mods, "noinc")
	case BarrierTest:
		u.Order, u.State, u.Parity = d.orderOr(event.Acquire), 1, slices.Contains(d.Mods, "parity")
	case BarrierCount:
		u.ID, u.State = -1, 0
	}
}

// orderOr is the memory order that is written, or o. Weak means that none is written, since an
// operation on a barrier is never weak.
func (d *Desc) orderOr(o event.Order) event.Order {
	if d.Order != event.Weak {
		return d.Order
	}
	return o
}

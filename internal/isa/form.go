package isa

import "heddle/internal/event"

// form is one line of an opcode's syntax in the ISA text, as the sets of what may be written.
// Modifiers are matched in any order, except that the first type is the destination's: ptxas is as
// lenient, and real compilers do not keep to the order of the text.
type form struct {
	section string // empty: the row's

	types, stypes, third set // Type: destination or only type, source type, and cvt.pack's third
	fns, cmps, rounds    set // Fn, Cmp, Rounding
	vecs                 set // elements of a vector
	spaces               set // event.Space
	orders               set // event.Order + 1, so that 0 is "not written"
	scopes               set // event.Scope
	flags, must          Flag
	marks, mustMarks     mark

	// What a match adds: the defaults of the ISA for what was not written, and flags that are implied.
	implied  Flag
	defRound Rounding
	defOrder event.Order
	defScope event.Scope
	defSpace event.Space
}

// mark is a modifier that a Desc has no place for: either a hint, which changes nothing that is
// modelled, or a word that other fields express (the absence of Wrap is .clamp).
type mark uint64

const (
	markClamp mark = 1 << iota
	markRed        // bar.red
	markCTA        // bar.cta
	markAbs        // xorsign.abs, min.abs
	markWeak       // ld.weak
	cacheOp        // .ca .cg .cs .lu .cv .wb .wt: performance hints only (PTX ISA 9.7.9.1)
	evict          // .L1::evict_last and the like (9.7.9.2)
	cacheHint      // .L2::cache_hint
	prefetchSize
	level // .L1, .L2
	markTensormap
	markMask       // pmevent.mask
	markGL         // membar.gl
	markFromGlobal // the source of cp.async
	markDependents // griddepcontrol.launch_dependents
	levelL2        // .L2, where .L1 is not possible
	markExpect     // mbarrier.arrive.expect_tx
	markNoComplete // mbarrier.arrive.noComplete
	markParity     // mbarrier.test_wait.parity
	markNoInc      // cp.async.mbarrier.arrive.noinc
	markRead       // cp.async.bulk.wait_group.read
	markFromShared // the source of a bulk copy
	markBytes      // .mbarrier::complete_tx::bytes
	markBulkGroup
	markMulticast // .multicast::cluster
	markCopyMask  // .cp_mask
	markAsync     // try_cancel.async
	markAllBlocks // .multicast::cluster::all
	markCanceled  // .is_canceled
	markFirst     // .get_first_ctaid
	markFirstAt   // .get_first_ctaid::x, ::y, ::z
	markExactSum  // multimem.ld_reduce.acc::f32
	markOwn       // .sync_restrict::shared::cta
	markInCluster // .sync_restrict::shared::cluster
)

// order is the set of orders that may be written.
func order(orders ...event.Order) set {
	var s set
	for _, o := range orders {
		s |= 1 << (o + 1)
	}
	return s
}

// union adds to u all that g allows.
func (u *form) union(g *form) {
	u.types |= g.types
	u.stypes |= g.stypes
	u.third |= g.third
	u.fns |= g.fns
	u.cmps |= g.cmps
	u.rounds |= g.rounds
	u.vecs |= g.vecs
	u.spaces |= g.spaces
	u.orders |= g.orders
	u.scopes |= g.scopes
	u.flags |= g.flags | g.must
	u.marks |= g.marks | g.mustMarks
}

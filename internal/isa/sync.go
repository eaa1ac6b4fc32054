package isa

import "heddle/internal/event"

// syncRows are barriers and fences: PTX ISA 9.7.13.1 to 9.7.13.4 and what else orders threads.
var syncRows = []Row{
	// bar is barrier.aligned.
	{Opcode: "bar", Action: ActNumberedBarrier, dst: all(countType), narrow: barrierRoles, Category: Barrier, Roles: barRoles, Effect: Orders, Section: "9.7.13.1", Executable: true, forms: barForms(0, Aligned)},
	{Opcode: "barrier", Action: ActNumberedBarrier, dst: all(countType), narrow: barrierRoles, Category: Barrier, Roles: barRoles, Effect: Orders, Section: "9.7.13.1", Executable: true, forms: barForms(Aligned, 0)},
	{Opcode: "bar.warp.sync", Action: ActWarpBarrier, src: all(b32Type), Category: WarpOp, Roles: []Role{Src}, Effect: Orders, Section: "9.7.13.2", Executable: true, forms: []form{
		{implied: SyncMask | Warp},
	}},
	{Opcode: "barrier.cluster.arrive", Barrier: BarrierArrive, Action: ActClusterBarrier, Category: Barrier, Effect: Orders, Section: "9.7.13.3", Executable: true, forms: []form{
		{flags: Aligned, orders: opt | order(event.Release, event.Relaxed), defOrder: event.Release,
			defScope: event.Cluster},
	}},
	{Opcode: "barrier.cluster.wait", Barrier: BarrierWait, Action: ActClusterBarrier, Category: Barrier, Effect: Orders, Section: "9.7.13.3", Executable: true, forms: []form{
		{flags: Aligned, orders: opt | order(event.Acquire), defOrder: event.Acquire,
			defScope: event.Cluster},
	}},

	{Opcode: "fence", Action: ActFence, Category: FenceCat, Effect: Orders, Section: "9.7.13.4", Executable: true, forms: []form{{
		orders: opt | order(event.SeqCst, event.AcqRel, event.Acquire,
			event.Release), defOrder: event.AcqRel, scopes: anyScope,
	}}},
	// From sm_70 on membar is fence.sc, its level .gl is scope .gpu.
	{Opcode: "membar", Action: ActFence, Category: FenceCat, Effect: Orders, Section: "9.7.13.4", Executable: true, forms: []form{
		{scopes: of(event.CTA, event.Sys), defOrder: event.SeqCst},
		{mustMarks: markGL, defOrder: event.SeqCst, defScope: event.GPU},
	}},
	// Nothing that is executable goes through aliases of an address: this fence orders nothing.
	{Opcode: "fence.proxy.alias", Action: ActProxyFence, Category: FenceCat, Effect: Orders, Section: "9.7.13.4", Executable: true, forms: plain},
	{Opcode: "fence.proxy.async", Action: ActProxyFence, Category: FenceCat, Effect: Orders, Section: "9.7.13.4", Executable: true, forms: asyncProxy},
	{Opcode: "membar.proxy.alias", Action: ActProxyFence, Category: FenceCat, Effect: Orders, Section: "9.7.13.4", Executable: true, forms: plain},
	{Opcode: "membar.proxy.async", Action: ActProxyFence, Category: FenceCat, Effect: Orders, Section: "9.7.13.4", Executable: true, forms: asyncProxy},
	// This one orders the mbarrier.init of the same thread for other blocks of the cluster.
	{Opcode: "fence.mbarrier_init", Action: ActPartialFence, Category: FenceCat, Effect: Orders, Section: "9.7.13.4", Executable: true, forms: []form{
		{orders: order(event.Release), scopes: of(event.Cluster)},
	}},
	// Half a fence between the generic proxy and the async one, for shared memory.
	{Opcode: "fence.proxy.async::generic", Action: ActProxyFence, Category: FenceCat, Effect: Orders, Section: "9.7.13.4", Executable: true, forms: restricted},
	// Other fences between proxies, and fences that order only some operations: to take them for a
	// whole fence would hide races.
	{Opcode: "fence.proxy", Action: ActProxyFence, Category: FenceCat, Roles: []Role{Addr, SrcOpt}, Effect: Orders, Section: "9.7.13.4"},
	{Opcode: "membar.proxy", Action: ActProxyFence, Category: FenceCat, Effect: Orders, Section: "9.7.13.4"},
	{Opcode: "fence.sync_restrict", Action: ActPartialFence, If: []string{"sync_restrict::shared::cta", "sync_restrict::shared::cluster"},
		Category: FenceCat, Effect: Orders, Section: "9.7.13.4", Executable: true, forms: restricted},

	{Opcode: "griddepcontrol", Action: ActGridDependency, Category: Misc, Effect: Orders, Section: "9.7.13.13", Executable: true, forms: []form{
		{mustMarks: markDependents}, {fns: of(FnWait)},
	}},
	{Opcode: "clusterlaunchcontrol.try_cancel", Action: ActCancel, Category: Async, Roles: []Role{Addr, Addr}, Effect: Writes, Section: "9.7.13.17", Executable: true, forms: []form{
		{types: of(B128), spaces: opt | of(event.Shared), defSpace: event.Generic,
			mustMarks: markAsync | markBytes, marks: markAllBlocks},
	}},
	{Opcode: "clusterlaunchcontrol.query_cancel", Action: ActQueryCancel, dst: all(firstType), src: all(secondType), Category: Misc, Roles: []Role{Dst, Src}, Section: "9.7.13.18", Executable: true, forms: []form{
		{types: of(Pred), stypes: of(B128), mustMarks: markCanceled},
		{types: of(B32), stypes: of(B128), mustMarks: markFirstAt},
		{types: of(B32), stypes: of(B128), vecs: 1 << 4, mustMarks: markFirst},
	}},
}

// restricted are the forms of fences for shared memory: a release of that of the thread's block, an
// acquire of that of all blocks of the cluster.
var restricted = []form{
	{orders: order(event.Release), scopes: of(event.Cluster), mustMarks: markOwn},
	{orders: order(event.Acquire), scopes: of(event.Cluster), mustMarks: markInCluster},
}

// asyncProxy is a proxy fence that may name the space whose accesses it orders.
var asyncProxy = []form{{spaces: opt | of(event.Global, event.Shared)}}

var barRoles = []Role{Dst, Src, SrcOpt, PredSrc} // Dst and PredSrc of .red only

// barForms are the forms of bar and barrier. bar may not say .aligned, and is.
func barForms(allowed, implied Flag) []form {
	f := form{marks: markCTA, flags: allowed, implied: implied}
	sync, popc, logic := f, f, f
	sync.fns = of(FnSync, FnArrive)
	popc.fns, popc.types, popc.mustMarks = of(FnPopc), of(U32), markRed
	logic.fns, logic.types, logic.mustMarks = of(FnAnd, FnOr), of(Pred), markRed
	return []form{sync, popc, logic}
}

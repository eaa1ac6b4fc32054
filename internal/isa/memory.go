package isa

import "heddle/internal/event"

var (
	loadHints = cacheOp | evict | cacheHint | prefetchSize

	loadRoles  = []Role{Dst, Addr, SrcOpt}
	storeRoles = []Role{Addr, Src, SrcOpt}

	anyScope  = of(event.CTA, event.Cluster, event.GPU, event.Sys)
	loadable  = opt | of(event.Const, event.Global, event.Local, event.Param, event.Shared)
	storable  = opt | of(event.Global, event.Local, event.Param, event.Shared)
	synced    = opt | of(event.Global, event.Shared) // .relaxed, .acquire and .release
	volatiles = opt | of(event.Global, event.Shared, event.Local)
)

// memoryRows are loads, stores and atomics: PTX ISA 9.7.9.8 to 9.7.9.18 and 9.7.13.5 to 9.7.13.7.
var memoryRows = []Row{
	{Opcode: "ld", Category: Memory, Roles: loadRoles, Effect: Reads, Section: "9.7.9.8", Executable: true, forms: loadForms()},
	{Opcode: "ldu", Category: Memory, Roles: loadRoles, Effect: Reads, Section: "9.7.9.10", Executable: true, forms: wide(form{
		spaces: opt | of(event.Global), defSpace: event.Generic,
	})},
	{Opcode: "st", Category: Memory, Roles: storeRoles, Effect: Writes, Section: "9.7.9.11", Executable: true, forms: storeForms()},
	{Opcode: "atom", Category: Memory, Roles: []Role{Dst, Addr, Src, SrcOpt, SrcOpt}, Effect: ReadsWrites, Section: "9.7.13.5",
		Executable: true, forms: append(atomicForms(order(event.Relaxed, event.Acquire, event.Release, event.AcqRel)), exchangeForms()...)},
	{Opcode: "red", Category: Memory, Roles: storeRoles, Effect: ReadsWrites, Section: "9.7.13.6", Executable: true,
		forms: atomicForms(order(event.Relaxed, event.Release))},

	{Opcode: "ld.shared::cluster", If: inCluster, Category: Memory, Roles: loadRoles, Effect: Reads, Section: "9.7.9.8"},
	{Opcode: "st.shared::cluster", If: inCluster, Category: Memory, Roles: storeRoles, Effect: Writes, Section: "9.7.9.11"},
	{Opcode: "atom.shared::cluster", If: inCluster, Category: Memory, Roles: []Role{Dst, Addr, Src, SrcOpt, SrcOpt}, Effect: ReadsWrites, Section: "9.7.13.5"},
	{Opcode: "red.shared::cluster", If: inCluster, Category: Memory, Roles: storeRoles, Effect: ReadsWrites, Section: "9.7.13.6"},
	{Opcode: "st.async", Category: Async, Roles: []Role{Addr, Src, Addr}, Effect: Writes, Section: "9.7.9.12"},
	{Opcode: "st.bulk", Category: Memory, Roles: []Role{Addr, Src, Src}, Effect: Writes, Section: "9.7.9.13"},
	{Opcode: "multimem.ld_reduce", Category: Memory, Roles: []Role{Dst, Addr}, Effect: Reads, Section: "9.7.9.14"},
	{Opcode: "multimem.st", Category: Memory, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.9.14"},
	{Opcode: "multimem.red", Category: Memory, Roles: []Role{Addr, Src}, Effect: ReadsWrites, Section: "9.7.9.14"},
	{Opcode: "red.async", Category: Async, Roles: []Role{Addr, Src, Addr}, Effect: ReadsWrites, Section: "9.7.13.7"},
	{Opcode: "discard", Category: Memory, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.9.17"},
}

// wide gives f the types that memory holds, and the vectors that the ISA allows: 128 bits, or 256 of
// global memory as .v8 of 4 bytes or .v4 of 8 (PTX ISA 5.4.2, 9.7.9.8). A .v8 of smaller elements, which
// some producers emit, is taken as well.
func wide(f form) []form {
	scalar, v2, v4, v8 := f, f, f, f
	scalar.types = inMemory | of(B128)
	v2.types, v2.vecs = inMemory, 1<<2
	v4.types, v4.vecs = inMemory, 1<<4
	v8.types, v8.vecs = inMemory&^of(B64, U64, S64, F64), 1<<8
	return []form{scalar, v2, v4, v8}
}

func loadForms() []form {
	var f []form
	add := func(g form) { g.defSpace = event.Generic; f = append(f, wide(g)...) }
	// Without an order a load is weak and has no scope.
	add(form{spaces: loadable, marks: markWeak | loadHints})
	add(form{section: "9.7.9.9", spaces: of(event.Global), must: NC, marks: loadHints})
	// PTX ISA 8.4.2: volatile is relaxed at system scope, with constraints on the implementation.
	add(form{spaces: volatiles, must: Volatile, marks: prefetchSize, defOrder: event.Relaxed, defScope: event.Sys})
	add(form{spaces: synced, orders: order(event.Relaxed, event.Acquire), scopes: anyScope, marks: evict | cacheHint | prefetchSize})
	add(form{spaces: opt | of(event.Global), must: MMIO, orders: order(event.Relaxed), scopes: of(event.Sys)})
	return f
}

func storeForms() []form {
	var f []form
	add := func(g form) { g.defSpace = event.Generic; f = append(f, wide(g)...) }
	add(form{spaces: storable, marks: markWeak | cacheOp | evict | cacheHint})
	add(form{spaces: volatiles, must: Volatile, defOrder: event.Relaxed, defScope: event.Sys})
	add(form{spaces: synced, orders: order(event.Relaxed, event.Release), scopes: anyScope, marks: evict | cacheHint})
	add(form{spaces: opt | of(event.Global), must: MMIO, orders: order(event.Relaxed), scopes: of(event.Sys)})
	return f
}

// atomicForms are the forms that atom and red share. Without an order they are relaxed, without a scope it
// is .gpu (PTX ISA 9.7.13.5, 9.7.13.6).
func atomicForms(orders set) []form {
	base := form{spaces: synced, orders: opt | orders, scopes: opt | anyScope, marks: cacheHint,
		defSpace: event.Generic, defOrder: event.Relaxed, defScope: event.GPU}
	global := base
	global.spaces = opt | of(event.Global)
	with := func(f form, types, fns, vecs set, must Flag) form {
		f.types, f.fns, f.vecs, f.must = types, fns, vecs, must
		return f
	}
	extremes := of(FnMin, FnMax)
	return []form{
		with(base, of(B32, B64, U32, U64, S32, S64), of(FnAnd, FnOr, FnXor), 0, 0),
		with(base, int3264|f3264, of(FnAdd), 0, 0),
		with(base, int3264, extremes, 0, 0),
		with(base, of(U32), of(FnInc, FnDec), 0, 0),
		with(base, halves|bhalves, of(FnAdd), 0, NoFtz),
		with(global, of(F32), of(FnAdd), 1<<2|1<<4, 0),
		with(global, of(F16, BF16), of(FnAdd)|extremes, 1<<2|1<<4|1<<8, NoFtz),
		with(global, of(F16x2, BF16x2), of(FnAdd)|extremes, 1<<2|1<<4, NoFtz),
	}
}

// exchangeForms are the forms that only atom has.
func exchangeForms() []form {
	base := form{spaces: synced, orders: opt | order(event.Relaxed, event.Acquire, event.Release, event.AcqRel),
		scopes: opt | anyScope, marks: cacheHint, defSpace: event.Generic, defOrder: event.Relaxed, defScope: event.GPU}
	cas, exch := base, base
	cas.types, cas.fns = of(B16, B32, B64, B128, U32, U64, S32, S64), of(FnCAS)
	exch.types, exch.fns = of(B32, B64, B128, U32, U64, S32, S64), of(FnExch)
	return []form{cas, exch}
}

package isa

import "heddle/internal/event"

// Modifiers, roles and spaces that the rows below share.
var (
	// loadHints are the hints to caches and prefetchers; they change nothing that is modelled.
	loadHints = cacheOp | evict | cacheHint | prefetchSize

	loadRoles  = []Role{Dst, Addr, SrcOpt}
	storeRoles = []Role{Addr, Src, SrcOpt}
	atomRoles  = []Role{Dst, Addr, Src, SrcOpt, SrcOpt}

	anyScope = of(event.CTA, event.Cluster, event.GPU, event.Sys)
	loadable = opt | of(event.Const, event.Global, event.Local, event.Param, event.Shared)
	storable = opt | of(event.Global, event.Local, event.Param, event.Shared)
	// synced are the spaces of .relaxed, .acquire and .release: those that threads share
	synced    = opt | of(event.Global, event.Shared)
	volatiles = opt | of(event.Global, event.Shared, event.Local)
)

// memoryRows are loads, stores and atomics: PTX ISA 9.7.9.8 to 9.7.9.18 and 9.7.13.5 to 9.7.13.7.
var memoryRows = []Row{
	{Opcode: "ld", Action: ActLoad, src: loadTypes, narrow: hintedRoles, Category: Memory, Roles: loadRoles, Effect: Reads, Section: "9.7.9.8", Executable: true, forms: loadForms()},
	{Opcode: "ldu", NonCoherent: true, Action: ActLoad, src: loadTypes, narrow: hintedRoles, Category: Memory, Roles: loadRoles, Effect: Reads, Section: "9.7.9.10", Executable: true, forms: wide(form{
		spaces: opt | of(event.Global), defSpace: event.Generic,
	})},
	{Opcode: "st", Action: ActStore, src: storeTypes, narrow: hintedRoles, Category: Memory, Roles: storeRoles, Effect: Writes, Section: "9.7.9.11", Executable: true, forms: storeForms()},
	{Opcode: "atom", Action: ActAtomic, src: atomTypes, narrow: atomicRoles, Category: Memory, Roles: atomRoles, Effect: ReadsWrites, Section: "9.7.13.5", Executable: true, forms: atomForms()},
	{Opcode: "red", Action: ActReduce, src: storeTypes, narrow: hintedRoles, Category: Memory, Roles: storeRoles, Effect: ReadsWrites, Section: "9.7.13.6", Executable: true, forms: redForms()},

	{Opcode: "ld.shared::cluster", Action: ActClusterAccess, src: loadTypes, If: inCluster, Category: Memory, Roles: loadRoles, Effect: Reads, Section: "9.7.9.8", Executable: true, forms: loadForms()},
	{Opcode: "st.shared::cluster", Action: ActClusterAccess, src: storeTypes, If: inCluster, Category: Memory, Roles: storeRoles, Effect: Writes, Section: "9.7.9.11", Executable: true, forms: storeForms()},
	{Opcode: "atom.shared::cluster", Action: ActClusterAccess, src: atomTypes, If: inCluster, Category: Memory, Roles: atomRoles, Effect: ReadsWrites, Section: "9.7.13.5", Executable: true,
		forms: atomForms()},
	{Opcode: "red.shared::cluster", Action: ActClusterAccess, src: storeTypes, If: inCluster, Category: Memory, Roles: storeRoles, Effect: ReadsWrites, Section: "9.7.13.6", Executable: true,
		forms: redForms()},
	{Opcode: "st.async", Action: ActAsyncStore, src: asyncTypes, Category: Async, Roles: []Role{Addr, Src, Addr}, narrow: asyncStoreRoles, Effect: Writes, Section: "9.7.9.12", Executable: true, forms: asyncStoreForms()},
	{Opcode: "st.bulk", Action: ActStoreRange, src: all(anyType), Category: Memory, Roles: []Role{Addr, Src, Src}, Effect: Writes, Section: "9.7.9.13", Executable: true, forms: []form{
		{spaces: opt | of(event.Shared), defSpace: event.Generic, marks: markWeak},
	}},
	{Opcode: "multimem.ld_reduce", Action: ActMultimem, dst: all(wholeType), src: all(anyType), Category: Memory, Roles: []Role{Dst, Addr}, Effect: Reads, Section: "9.7.9.14", Executable: true, forms: multimemForms(event.Weak, event.Acquire, true)},
	{Opcode: "multimem.st", Action: ActMultimem, src: types(anyType, wholeType), Category: Memory, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.9.14", Executable: true, forms: multimemForms(event.Weak, event.Release, false)},
	{Opcode: "multimem.red", Action: ActMultimem, src: types(anyType, wholeType), Category: Memory, Roles: []Role{Addr, Src}, Effect: ReadsWrites, Section: "9.7.9.14", Executable: true, forms: multimemForms(event.Relaxed, event.Release, true)},
	{Opcode: "red.async", Action: ActAsyncStore, src: asyncTypes, Category: Async, Roles: []Role{Addr, Src, Addr}, narrow: asyncStoreRoles, Effect: ReadsWrites, Section: "9.7.13.7", Executable: true, forms: asyncReduceForms()},
	{Opcode: "discard", Action: ActDiscard, src: loadTypes, Category: Memory, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.9.17", Executable: true,
		forms: []form{{spaces: opt | of(event.Global), mustMarks: level}}},
}

// wide gives f the types that memory holds, and the vectors that the ISA allows: 128 bits, or 256
// of global memory as .v8 of 4 bytes or .v4 of 8 (PTX ISA 5.4.2, 9.7.9.8). A .v8 of smaller
// elements, which some producers emit, is taken as well.
func wide(f form) []form {
	scalar, v2, v4, v8 := f, f, f, f
	scalar.types = inMemory | of(B128)
	v2.types, v2.vecs = inMemory, 1<<2
	v4.types, v4.vecs = inMemory, 1<<4
	v8.types, v8.vecs = inMemory&^of(B64, U64, S64, F64), 1<<8
	return []form{scalar, v2, v4, v8}
}

// loadForms are the forms of ld (PTX ISA 9.7.9.8, 9.7.9.9): weak, through the texture proxy,
// volatile, ordered with a scope, and memory-mapped I/O. They exclude each other, so each is a form
// of its own.
func loadForms() []form {
	var f []form
	add := func(g form) { g.defSpace = event.Generic; f = append(f, wide(g)...) }
	// Without an order a load is weak and has no scope.
	add(form{spaces: loadable, marks: markWeak | loadHints})
	add(form{section: "9.7.9.9", spaces: of(event.Global), must: NC, marks: loadHints})
	// PTX ISA 8.4.2: volatile is relaxed at system scope, with constraints on the implementation.
	add(form{spaces: volatiles, must: Volatile, marks: prefetchSize, defOrder: event.Relaxed,
		defScope: event.Sys})
	add(form{spaces: synced, orders: order(event.Relaxed, event.Acquire), scopes: anyScope,
		marks: evict | cacheHint | prefetchSize})
	add(form{spaces: opt | of(event.Global), must: MMIO, orders: order(event.Relaxed),
		scopes: of(event.Sys)})
	return f
}

// storeForms are the forms of st (PTX ISA 9.7.9.11), as those of ld.
func storeForms() []form {
	var f []form
	add := func(g form) { g.defSpace = event.Generic; f = append(f, wide(g)...) }
	add(form{spaces: storable, marks: markWeak | cacheOp | evict | cacheHint})
	add(form{spaces: volatiles, must: Volatile, defOrder: event.Relaxed, defScope: event.Sys})
	add(form{spaces: synced, orders: order(event.Relaxed, event.Release), scopes: anyScope,
		marks: evict | cacheHint})
	add(form{spaces: opt | of(event.Global), must: MMIO, orders: order(event.Relaxed),
		scopes: of(event.Sys)})
	return f
}

// redForms are the forms of red, which has no result and therefore cannot acquire. Without an order
// atom and red are relaxed, without a scope it is .gpu (PTX ISA 9.7.13.5, 9.7.13.6).
func redForms() []form { return atomics(order(event.Relaxed, event.Release)).all() }

// atomForms are the forms of atom (PTX ISA 9.7.13.5): those that red has too, compare-and-swap and
// exchange.
func atomForms() []form {
	a := atomics(order(event.Relaxed, event.Acquire, event.Release, event.AcqRel))
	return append(a.all(),
		a.form(of(B16, B32, B64, B128, U32, U64, S32, S64), of(FnCAS)),
		a.form(of(B32, B64, B128, U32, U64, S32, S64), of(FnExch)))
}

// atomics makes the forms of atom and red that allow these orders.
type atomics set

// form is a scalar form with these types and operations. All of atom and red is strong: the default
// order is relaxed and never weak.
func (a atomics) form(types, fns set) form {
	return form{types: types, fns: fns, spaces: synced, orders: opt | set(a), scopes: opt | anyScope,
		marks:    cacheHint,
		defSpace: event.Generic, defOrder: event.Relaxed, defScope: event.GPU}
}

// vector is a form with several elements, each of which is one atomic operation; only global memory
// has them.
func (a atomics) vector(types, fns, sizes set, must Flag) form {
	f := a.form(types, fns)
	f.spaces, f.vecs, f.must = opt|of(event.Global), sizes, must
	return f
}

// all lists the forms that atom and red have in common.
func (a atomics) all() []form {
	extremes := of(FnMin, FnMax)
	half := a.form(halves|bhalves, of(FnAdd))
	half.must = NoFtz
	return []form{
		a.form(of(B32, B64, U32, U64, S32, S64), of(FnAnd, FnOr, FnXor)),
		a.form(int3264|f3264, of(FnAdd)),
		a.form(int3264, extremes),
		a.form(of(U32), of(FnInc, FnDec)),
		half,
		a.vector(of(F32), of(FnAdd), 1<<2|1<<4, 0),
		a.vector(of(F16, BF16), of(FnAdd)|extremes, 1<<2|1<<4|1<<8, NoFtz),
		a.vector(of(F16x2, BF16x2), of(FnAdd)|extremes, 1<<2|1<<4, NoFtz),
	}
}

// asyncTypes are the types of the operands of st.async and red.async.
var asyncTypes = types(anyType, firstType, anyType)

// asyncStoreForms are the forms of st.async (PTX ISA 9.7.9.12): to the shared memory of the
// cluster, tracked by an mbarrier, and to global memory.
func asyncStoreForms() []form {
	words := of(B32, B64, U32, U64, S32, S64, F32, F64)
	base := form{types: words, spaces: opt | of(event.Shared), defSpace: event.Generic,
		mustMarks: markBytes, marks: markWeak}
	v2, v4 := base, base
	v2.vecs, v4.vecs = 1<<2, 1<<4
	out := []form{base, v2, v4}
	for _, f := range out[:3:3] {
		f.scopes, f.marks = of(event.Cluster), 0
		out = append(out, f)
	}
	global := form{types: inMemory, spaces: opt | of(event.Global), defSpace: event.Generic,
		orders: order(event.Release), scopes: of(event.GPU, event.Sys)}
	mapped := global
	mapped.must = MMIO
	return append(out, global, mapped)
}

// asyncReduceForms are the forms of red.async (PTX ISA 9.7.13.7).
func asyncReduceForms() []form {
	base := form{spaces: opt | of(event.Shared), defSpace: event.Generic, mustMarks: markBytes,
		orders: order(event.Relaxed), scopes: of(event.Cluster)}
	add := func(types, fns set) form {
		f := base
		f.types, f.fns = types, fns
		return f
	}
	global := form{types: of(U32, S32, U64, S64), fns: of(FnAdd), spaces: opt | of(event.Global),
		defSpace: event.Generic, orders: order(event.Release), scopes: of(event.GPU, event.Cluster)}
	mapped := global
	mapped.must = MMIO
	return []form{
		add(of(U32), of(FnInc, FnDec)), add(of(U32, S32), of(FnMin, FnMax)),
		add(of(B32), of(FnAnd, FnOr, FnXor)), add(of(U32, S32, U64), of(FnAdd)), global, mapped,
	}
}

// asyncStoreRoles: only the forms with an mbarrier have its address.
func asyncStoreRoles(d *Desc) []Role {
	if d.bulkTracking() == BarrierBytes {
		return d.Row.Roles
	}
	return d.Row.Roles[:2]
}

// multimemForms are the forms of an operation on all replicas of a multicast object (PTX ISA
// 9.7.9.14). def is its order where none is written, Weak for one that may say so; sem is the other
// one beside relaxed. reduces says that it has an operation. The formats of 8 bits are read, and
// not executed.
func multimemForms(def, sem event.Order, reduces bool) []form {
	var out []form
	add := func(types, fns, sizes set, marks mark) {
		f := form{types: types, vecs: sizes, spaces: opt | of(event.Global), defSpace: event.Generic}
		if f.marks = marks; reduces {
			f.fns = fns
		}
		strong := f
		strong.orders, strong.scopes = order(event.Relaxed, sem), anyScope
		if def == event.Weak {
			f.marks |= markWeak
		} else {
			f.defOrder, f.defScope = def, event.Sys
			strong.orders |= opt // .red.gpu.add
		}
		out = append(out, strong, f)
	}
	bits, extremes := of(FnAnd, FnOr, FnXor), of(FnMin, FnMax)
	bytes := of(E4M3, E5M2, E4M3x2, E5M2x2, E4M3x4, E5M2x4)
	packed, exact := of(F16x2, BF16x2), markExactSum
	if sem != event.Acquire {
		exact = 0
	}
	if def != event.Weak {
		bytes = 0
	}
	add(of(B32, B64), bits, 0, 0)
	add(of(U32, U64, S32, F32), of(FnAdd), 0, 0)
	add(of(F64), of(FnAdd)|extremes, 0, 0) // an example of the ISA has .max.f64
	add(of(U32, S32, U64, S64), extremes, 0, 0)
	add(packed, of(FnAdd)|extremes, 0, exact)
	for _, n := range []set{1 << 2, 1 << 4, 1 << 8} {
		if n != 1<<8 {
			add(packed, of(FnAdd)|extremes, n, exact)
			add(of(F32), of(FnAdd), n, 0)
		}
		add(of(F16, BF16), of(FnAdd)|extremes, n, exact)
		if bytes != 0 {
			add(bytes, of(FnAdd)|extremes, n, exact)
		}
	}
	if bytes != 0 {
		add(bytes, of(FnAdd)|extremes, 0, exact)
	}
	return out
}

package isa

import "heddle/internal/event"

// asyncRows are asynchronous copies and what completes them: PTX ISA 9.7.9.25 to 9.7.9.28.
var asyncRows = []Row{
	// Two spaces are written, and a Desc has one: Space is the destination's, .global a mark.
	{Opcode: "cp.async", Action: ActCopy, Category: Async, Roles: []Role{Addr, Addr, Src, SrcOpt, SrcOpt}, Effect: Copies, Section: "9.7.9.25.3.1", Executable: true,
		forms: []form{{spaces: of(event.Shared), mustMarks: cacheOp | markFromGlobal,
			marks: cacheHint | prefetchSize}}},
	{Opcode: "cp.async.commit_group", Step: AsyncCommit, Action: ActCopyGroup, Category: Async, Section: "9.7.9.25.3.2", Executable: true, forms: plain},
	{Opcode: "cp.async.wait_group", Step: AsyncWait, Action: ActCopyGroup, Category: Async, Roles: []Role{Src}, Effect: Orders, Section: "9.7.9.25.3.3", Executable: true, forms: plain},
	{Opcode: "cp.async.wait_all", Step: AsyncWaitAll, Action: ActCopyGroup, Category: Async, Effect: Orders, Section: "9.7.9.25.3.3", Executable: true, forms: plain},
	{Opcode: "cp.async.bulk", Action: ActBulkCopy, src: bulkTypes, narrow: bulkRoles, Category: Async, Roles: []Role{Addr, Addr, Src, SrcOpt, SrcOpt, SrcOpt}, Effect: Copies, Section: "9.7.9.25.4.1", Executable: true, forms: bulkForms()},
	{Opcode: "cp.reduce.async.bulk", Action: ActBulkCopy, src: bulkTypes, narrow: bulkRoles, Category: Async, Roles: []Role{Addr, Addr, Src, SrcOpt}, Effect: Copies, Section: "9.7.9.25.4.2", Executable: true, forms: bulkReduceForms()},
	// A hint to the cache. The text calls it a weak memory operation, but it reads no value and
	// nothing waits for it, so that no order could make a difference: it is no side of a race.
	{Opcode: "cp.async.bulk.prefetch", Action: ActNothing, src: types(anyType, u32Type, policyType), narrow: hintedRoles,
		Category: Misc, Roles: []Role{Addr, Src, SrcOpt}, Section: "9.7.9.25.4.3", Executable: true,
		forms: []form{{spaces: of(event.Global), mustMarks: levelL2, marks: cacheHint}}},
	{Opcode: "multimem.cp.async.bulk", Action: ActBulkCopy, src: bulkTypes, narrow: bulkRoles, Category: Async, Roles: []Role{Addr, Addr, Src, SrcOpt}, Effect: Copies, Section: "9.7.9.26", Executable: true, forms: []form{
		{spaces: of(event.Global), mustMarks: markFromShared | markBulkGroup},
		{spaces: of(event.Global), mustMarks: markFromShared | markBulkGroup | markCopyMask},
	}},
	{Opcode: "multimem.cp.reduce.async.bulk", Action: ActBulkCopy, src: bulkTypes, narrow: bulkRoles, Category: Async, Roles: []Role{Addr, Addr, Src}, Effect: Copies, Section: "9.7.9.27", Executable: true, forms: multimemReduceForms()},
	{Opcode: "cp.async.bulk.tensor", Action: ActBulkCopy, Category: Async, Roles: []Role{Addr, Addr, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Effect: Copies, Section: "9.7.9.27.1.2"},
	{Opcode: "cp.reduce.async.bulk.tensor", Action: ActBulkCopy, Category: Async, Roles: []Role{Addr, Addr, SrcOpt}, Effect: Copies, Section: "9.7.9.27.1.3"},
	{Opcode: "cp.async.bulk.prefetch.tensor", Action: ActBulkPrefetch, Category: Async, Roles: []Role{Addr, SrcOpt, SrcOpt}, Section: "9.7.9.27.1.4"},
	{Opcode: "cp.async.bulk.commit_group", Step: AsyncCommit, Action: ActBulkGroup, Category: Async, Section: "9.7.9.27.2.1", Executable: true, forms: plain},
	{Opcode: "cp.async.bulk.wait_group", Step: AsyncWait, Action: ActBulkGroup, Category: Async, Roles: []Role{Src}, Effect: Orders, Section: "9.7.9.27.2.2", Executable: true, forms: []form{{marks: markRead}}},
	{Opcode: "tensormap.replace", Action: ActTensorMap, Category: Async, Roles: []Role{Addr, Src, SrcOpt}, Effect: Writes, Section: "9.7.9.28"},
	{Opcode: "tensormap.cp_fenceproxy", Action: ActTensorMap, Category: Async, Roles: []Role{Addr, Addr, Src}, Effect: Copies, Section: "9.7.13.16"},
}

// textureRows are texture and surface accesses: PTX ISA 9.7.10 and 9.7.11.
var textureRows = []Row{
	{Opcode: "tex", Action: ActReadTexture, Category: Texture, Roles: []Role{Dst, DstPred, Addr, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Effect: Reads, Section: "9.7.10.3", Executable: true},
	{Opcode: "tld4", Action: ActReadTexture, Category: Texture, Roles: []Role{Dst, DstPred, Addr, SrcOpt, SrcOpt}, Effect: Reads, Section: "9.7.10.4", Executable: true},
	{Opcode: "txq", Action: ActQueryTexture, Category: Texture, Roles: []Role{Dst, Addr, SrcOpt}, Section: "9.7.10.5", Executable: true},
	{Opcode: "suld", Action: ActReadSurface, Category: Texture, Roles: []Role{Dst, Addr}, Effect: Reads, Section: "9.7.11.1", Executable: true},
	{Opcode: "sust", Action: ActWriteSurface, Category: Texture, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.11.2"},
	{Opcode: "sured", Action: ActWriteSurface, Category: Texture, Roles: []Role{Addr, Src}, Effect: ReadsWrites, Section: "9.7.11.3"},
	{Opcode: "suq", Action: ActQuerySurface, Category: Texture, Roles: []Role{Dst, Addr}, Section: "9.7.11.4", Executable: true},
}

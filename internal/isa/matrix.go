package isa

// matrixRows are the matrix instructions of a warp: PTX ISA 9.7.14. Their modifiers are decoded by
// Desc.Matrix.
var matrixRows = []Row{
	{Opcode: "wmma.load", Category: Matrix, Roles: []Role{Dst, Addr, SrcOpt}, Effect: Reads, Section: "9.7.14.4.3", Executable: true},
	{Opcode: "wmma.store", Category: Matrix, Roles: []Role{Addr, Src, SrcOpt}, Effect: Writes, Section: "9.7.14.4.4", Executable: true},
	{Opcode: "wmma.mma", Category: Matrix, Roles: dst3, Section: "9.7.14.4.5", Executable: true},
	{Opcode: "mma", Category: Matrix, Roles: []Role{Dst, Src, Src, Src, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Section: "9.7.14.5.14", Executable: true},
	{Opcode: "ldmatrix", Category: Matrix, Roles: []Role{Dst, Addr}, Effect: Reads, Section: "9.7.14.5.15", Executable: true},
	{Opcode: "stmatrix", Category: Matrix, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.14.5.16", Executable: true},
	{Opcode: "movmatrix", Category: Matrix, Roles: dst1, Section: "9.7.14.5.17", Executable: true},
	{Opcode: "mma.sp", If: []string{"sp", "sp::ordered_metadata"}, Category: Matrix,
		Roles: []Role{Dst, Src, Src, Src, Src, Src, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Section: "9.7.14.6.3"},
}

// wgmmaRows are the matrix instructions of a warpgroup and of tensor memory: PTX ISA 9.7.15 and 9.7.16.
var wgmmaRows = []Row{
	{Opcode: "wgmma.mma_async", Category: Matrix, Roles: []Role{Dst, Src, Src, Src, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Effect: Reads, Section: "9.7.15.5.2"},
	{Opcode: "wgmma.mma_async.sp", Category: Matrix, Roles: []Role{Dst, Src, Src, Src, Src, Src, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Effect: Reads, Section: "9.7.15.6.3"},
	{Opcode: "wgmma.fence", Category: Matrix, Effect: Orders, Section: "9.7.15.7.1"},
	{Opcode: "wgmma.commit_group", Category: Matrix, Section: "9.7.15.7.2"},
	{Opcode: "wgmma.wait_group", Category: Matrix, Roles: []Role{Src}, Effect: Orders, Section: "9.7.15.7.3"},

	{Opcode: "tcgen05.alloc", Category: Matrix, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.16.7.1"},
	{Opcode: "tcgen05.dealloc", Category: Matrix, Roles: []Role{Src, Src}, Section: "9.7.16.7.1"},
	{Opcode: "tcgen05.relinquish_alloc_permit", Category: Matrix, Section: "9.7.16.7.1"},
	{Opcode: "tcgen05.ld", Category: Matrix, Roles: []Role{Dst, Addr, SrcOpt}, Effect: Reads, Section: "9.7.16.8.3"},
	{Opcode: "tcgen05.st", Category: Matrix, Roles: []Role{Addr, Src, SrcOpt}, Effect: Writes, Section: "9.7.16.8.4"},
	{Opcode: "tcgen05.wait", If: []string{"wait::ld", "wait::st"}, Category: Matrix, Effect: Orders, Section: "9.7.16.8.5"},
	{Opcode: "tcgen05.cp", Category: Matrix, Roles: []Role{Addr, Src}, Effect: Copies, Section: "9.7.16.9.2"},
	{Opcode: "tcgen05.shift", Category: Matrix, Roles: []Role{Addr}, Effect: ReadsWrites, Section: "9.7.16.9.3"},
	{Opcode: "tcgen05.mma", Category: Matrix, Roles: tcgen05Roles, Effect: ReadsWrites, Section: "9.7.16.10.9.1"},
	{Opcode: "tcgen05.mma.sp", Category: Matrix, Roles: tcgen05Roles, Effect: ReadsWrites, Section: "9.7.16.10.9.2"},
	{Opcode: "tcgen05.mma.ws", Category: Matrix, Roles: tcgen05Roles, Effect: ReadsWrites, Section: "9.7.16.10.9.3"},
	{Opcode: "tcgen05.mma.ws.sp", Category: Matrix, Roles: tcgen05Roles, Effect: ReadsWrites, Section: "9.7.16.10.9.4"},
	{Opcode: "tcgen05.fence", If: []string{"fence::before_thread_sync", "fence::after_thread_sync"}, Category: Matrix, Effect: Orders, Section: "9.7.16.11.1"},
	{Opcode: "tcgen05.commit", Category: Matrix, Roles: []Role{Addr, SrcOpt}, Effect: ReadsWrites, Section: "9.7.16.12.1"},
}

var tcgen05Roles = []Role{Addr, Src, Src, Src, SrcOpt, SrcOpt, SrcOpt, SrcOpt, SrcOpt}

package isa

// matrixRows are the matrix instructions of a warp: PTX ISA 9.7.14. Their modifiers are decoded by
// Desc.Matrix.
var matrixRows = []Row{
	{Opcode: "wmma.load", Action: ActMatrixLoad, Fragment: true, Category: Matrix, Roles: []Role{Dst, Addr, SrcOpt}, Effect: Reads, Section: "9.7.14.4.3", Executable: true},
	{Opcode: "wmma.store", Action: ActMatrixStore, Fragment: true, Category: Matrix, Roles: []Role{Addr, Src, SrcOpt}, Effect: Writes, Section: "9.7.14.4.4", Executable: true},
	{Opcode: "wmma.mma", Action: ActMatrixMultiply, Fragment: true, Category: Matrix, Roles: dst3, Section: "9.7.14.4.5", Executable: true},
	{Opcode: "mma", Action: ActMatrixMultiply, Category: Matrix, Roles: []Role{Dst, Src, Src, Src, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Section: "9.7.14.5.14", Executable: true},
	{Opcode: "ldmatrix", Action: ActMatrixLoad, Category: Matrix, Roles: []Role{Dst, Addr}, Effect: Reads, Section: "9.7.14.5.15", Executable: true},
	{Opcode: "stmatrix", Action: ActMatrixStore, Category: Matrix, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.14.5.16", Executable: true},
	{Opcode: "movmatrix", Action: ActMatrixMove, Category: Matrix, Roles: dst1, Section: "9.7.14.5.17", Executable: true},
	{Opcode: "mma.sp", Action: ActMatrixMultiply, If: []string{"sp", "sp::ordered_metadata"}, Category: Matrix,
		Roles: []Role{Dst, Src, Src, Src, Src, Src, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Section: "9.7.14.6.3", Executable: true},
}

// wgmmaRows are the matrix instructions of a warpgroup and of tensor memory: PTX ISA 9.7.15 and
// 9.7.16.
var wgmmaRows = []Row{
	{Opcode: "wgmma.mma_async", Action: ActMatrixAsync, Category: Matrix, Roles: []Role{Dst, Src, Src, Src, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Effect: Reads, Section: "9.7.15.5.2", Executable: true},
	{Opcode: "wgmma.mma_async.sp", Action: ActMatrixAsync, Category: Matrix, Roles: []Role{Dst, Src, Src, Src, Src, Src, SrcOpt, SrcOpt, SrcOpt, SrcOpt}, Effect: Reads, Section: "9.7.15.6.3", Executable: true},
	{Opcode: "wgmma.fence", Action: ActMatrixFence, Category: Matrix, Effect: Orders, Section: "9.7.15.7.1", Executable: true},
	{Opcode: "wgmma.commit_group", Step: AsyncCommit, Action: ActMatrixGroup, Category: Matrix, Section: "9.7.15.7.2", Executable: true},
	{Opcode: "wgmma.wait_group", Step: AsyncWait, Action: ActMatrixGroup, Category: Matrix, Roles: []Role{Src}, Effect: Orders, Section: "9.7.15.7.3", Executable: true},

	{Opcode: "tcgen05.alloc", Action: ActTensorAllocate, Category: Matrix, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.16.7.1", Executable: true},
	{Opcode: "tcgen05.dealloc", Action: ActTensorAllocate, Category: Matrix, Roles: []Role{Src, Src}, Section: "9.7.16.7.1", Executable: true},
	{Opcode: "tcgen05.relinquish_alloc_permit", Action: ActTensorAllocate, Category: Matrix, Section: "9.7.16.7.1", Executable: true},
	{Opcode: "tcgen05.ld", Action: ActTensorAccess, Category: Matrix, Roles: []Role{Dst, Addr, SrcOpt}, Effect: Reads, Section: "9.7.16.8.3", Executable: true},
	{Opcode: "tcgen05.ld.red", Action: ActTensorAccess, Category: Matrix, Roles: []Role{Dst, Dst, Addr, SrcOpt}, Effect: Reads, Section: "9.7.16.8.3", Executable: true},
	{Opcode: "tcgen05.st", Action: ActTensorAccess, Category: Matrix, Roles: []Role{Addr, Src, SrcOpt}, Effect: Writes, Section: "9.7.16.8.4", Executable: true},
	{Opcode: "tcgen05.wait", Step: AsyncWaitAll, Action: ActTensorWait, If: []string{"wait::ld", "wait::st"}, Category: Matrix, Effect: Orders, Section: "9.7.16.8.5", Executable: true},
	{Opcode: "tcgen05.cp", Action: ActTensorAsync, Category: Matrix, Roles: []Role{Addr, Src}, Effect: Copies, Section: "9.7.16.9.2", Executable: true},
	{Opcode: "tcgen05.shift", Action: ActTensorAsync, Category: Matrix, Roles: []Role{Addr}, Effect: ReadsWrites, Section: "9.7.16.9.3", Executable: true},
	{Opcode: "tcgen05.mma", Action: ActTensorAsync, Category: Matrix, Roles: tcgen05Roles, Effect: ReadsWrites, Section: "9.7.16.10.9.1", Executable: true},
	{Opcode: "tcgen05.mma.sp", Action: ActTensorAsync, Category: Matrix, Roles: tcgen05Roles, Effect: ReadsWrites, Section: "9.7.16.10.9.2", Executable: true},
	{Opcode: "tcgen05.mma.ws", Action: ActTensorAsync, Category: Matrix, Roles: tcgen05Roles, Effect: ReadsWrites, Section: "9.7.16.10.9.3", Executable: true},
	{Opcode: "tcgen05.mma.ws.sp", Action: ActTensorAsync, Category: Matrix, Roles: tcgen05Roles, Effect: ReadsWrites, Section: "9.7.16.10.9.4", Executable: true},
	{Opcode: "tcgen05.fence", Action: ActTensorFence, If: []string{"fence::before_thread_sync", "fence::after_thread_sync"}, Category: Matrix, Effect: Orders, Section: "9.7.16.11.1", Executable: true},
	{Opcode: "tcgen05.commit", Step: AsyncCommit, Action: ActTensorCommit, Category: Matrix, Roles: []Role{Addr, SrcOpt}, Effect: ReadsWrites, Section: "9.7.16.12.1", Executable: true},
}

// tcgen05Roles are the operands of all multiplications in tensor memory; how many there are depends
// on modifiers.
var tcgen05Roles = []Role{Addr, SrcAddr, Src, SrcAddr, SrcOpt, SrcOpt, SrcOpt, SrcOpt, SrcOpt}

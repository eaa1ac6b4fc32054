package isa

// mbarrierRows are barriers that are objects in memory: PTX ISA 9.7.13.15.
var mbarrierRows = []Row{
	{Opcode: "mbarrier.init", Barrier: BarrierInit, Action: ActMBarrier, Category: Barrier, Roles: []Role{Addr, Src}, Effect: Writes, Section: "9.7.13.15.9"},
	{Opcode: "mbarrier.inval", Barrier: BarrierInvalid, Action: ActMBarrier, Category: Barrier, Roles: []Role{Addr}, Effect: Writes, Section: "9.7.13.15.10"},
	{Opcode: "mbarrier.expect_tx", Barrier: BarrierExpect, Action: ActMBarrier, Category: Barrier, Roles: []Role{Addr, Src}, Effect: ReadsWrites, Section: "9.7.13.15.11"},
	{Opcode: "mbarrier.complete_tx", Barrier: BarrierComplete, Action: ActMBarrier, Category: Barrier, Roles: []Role{Addr, Src}, Effect: ReadsWrites, Section: "9.7.13.15.12"},
	{Opcode: "mbarrier.arrive", Barrier: BarrierArrive, Action: ActMBarrier, Category: Barrier, Roles: []Role{Dst, Addr, SrcOpt}, Effect: ReadsWrites, Section: "9.7.13.15.13"},
	{Opcode: "mbarrier.arrive_drop", Barrier: BarrierDrop, Action: ActMBarrier, Category: Barrier, Roles: []Role{Dst, Addr, SrcOpt}, Effect: ReadsWrites, Section: "9.7.13.15.14"},
	{Opcode: "cp.async.mbarrier.arrive", Barrier: BarrierCopies, Action: ActMBarrier, Category: Barrier, Roles: []Role{Addr}, Effect: ReadsWrites, Section: "9.7.13.15.15"},
	{Opcode: "mbarrier.test_wait", Barrier: BarrierTest, Action: ActMBarrier, Category: Barrier, Roles: []Role{Dst, Addr, Src}, Effect: Reads, Section: "9.7.13.15.16"},
	{Opcode: "mbarrier.try_wait", Barrier: BarrierTest, Action: ActMBarrier, Category: Barrier, Roles: []Role{Dst, Addr, Src, SrcOpt}, Effect: Reads, Section: "9.7.13.15.16"},
	{Opcode: "mbarrier.pending_count", Barrier: BarrierCount, Action: ActMBarrier, Category: Barrier, Roles: []Role{Dst, Src}, Section: "9.7.13.15.17"},
}

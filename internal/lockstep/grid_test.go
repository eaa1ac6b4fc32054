package lockstep_test

// gridBarrier is a barrier at which all blocks wait, as cooperative_groups.h marks it.
const gridBarrier = ".pragma \"heddle.grid\";\nbar.sync 0;\n"

// everywhere is code for a thread to write its own element of A, of all blocks, in %d2; %d1 is the
// element of the thread before it, around the end.
const everywhere = `mov.u32 %x10, %nctaid.x;
	mov.u32 %x11, %ntid.x;
	mad.lo.u32 %x12, %b, %x11, %t;
	mul.lo.u32 %x13, %x10, %x11;
	add.u32 %x14, %x12, 1;
	rem.u32 %x14, %x14, %x13;
	mul.wide.u32 %d2, %x12, 4;
	add.s64 %d2, %A, %d2;
	mul.wide.u32 %d1, %x14, 4;
	add.s64 %d1, %A, %d1;
`

// gridTraps are about barriers of the grid (CUDA C++ Programming Guide, "Grid Synchronization"): no
// thread passes one before all threads of all blocks have come to it.
var gridTraps = []trap{
	{
		name: "an element of another block, across a barrier of the grid",
		body: everywhere + "st.global.u32 [%d2], %t;\n" + gridBarrier + "ld.global.u32 %x1, [%d1];",
	},
	{
		name: "an element of another block, across a barrier of the block",
		body: everywhere + "st.global.u32 [%d2], %t;\nbar.sync 0;\nld.global.u32 %x1, [%d1];",
		why:  "a barrier of the block orders nothing between blocks",
	},
	{
		name: "an element of another block, in the interval behind the barrier",
		body: everywhere + gridBarrier + "st.global.u32 [%d2], %t;\nbar.sync 0;\nld.global.u32 %x1, [%d1];",
		why:  "the two are in one interval of the grid",
	},
	{
		name: "one block only",
		body: "setp.ne.u32 %p1, %b, 0;\n@%p1 bra Z;\n" + gridBarrier + "Z:",
		why:  "block 0 waits for block 1, which never comes",
	},
	{
		name: "one block returns early",
		body: "setp.eq.u32 %p1, %b, 1;\n@%p1 ret;\n" + gridBarrier,
		why:  "block 0 waits for block 1, which has ended",
	},
	{
		name: "one thread of each block",
		body: "setp.ne.u32 %p1, %t, 0;\n@%p1 bra Z;\n" + gridBarrier + "Z:",
		why:  "threads of a block part before a barrier of the block",
	},
	{
		name: "all or none, by an argument",
		body: "setp.ne.u32 %p1, %n, 0;\n@%p1 bra Z;\n" + gridBarrier + "Z:",
	},
	{
		name: "by what the blocks read",
		body: "mul.wide.u32 %d1, %b, 4;\nadd.s64 %d1, %A, %d1;\nld.global.u32 %x1, [%d1];\nsetp.ne.u32 %p1, %x1, 0;\n@%p1 bra Z;\n" + gridBarrier + "Z:",
		why:  "each block reads its own element, which may decide differently",
	},
	{
		name: "in a loop, as often in all blocks",
		body: everywhere + `mov.u32 %x1, 0;
L:	ld.global.u32 %x2, [%d1];
	` + gridBarrier + `
	st.global.u32 [%d2], %x2;
	` + gridBarrier + `
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, %n;
	@%p1 bra L;`,
	},
	{
		name: "in a loop, one barrier an iteration",
		body: everywhere + `mov.u32 %x1, 0;
L:	ld.global.u32 %x2, [%d1];
	` + gridBarrier + `
	st.global.u32 [%d2], %x2;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, %n;
	@%p1 bra L;`,
		why: "the store of one iteration and the load of the next are in one interval",
	},
	{
		name: "in a loop, as often as the block's number says",
		body: `mov.u32 %x1, 0;
L:	` + gridBarrier + `
	add.u32 %x1, %x1, 1;
	setp.le.u32 %p1, %x1, %b;
	@%p1 bra L;`,
		why: "block 1 comes to the barrier once more than block 0",
	},
	{
		name: "places by a counter of the grid",
		body: gridBarrier + `atom.global.add.u32 %x1, [%B], 1;
	mul.wide.u32 %d1, %x1, 4;
	add.s64 %d1, %A, %d1;
	st.global.u32 [%d1], %t;`,
	},
	{
		name: "places by a counter that is set back between barriers of the grid",
		body: `setp.ne.u32 %p1, %b, 0;
	@%p1 bra M;
	atom.global.add.u32 %x1, [%B], 1;
M:	` + gridBarrier + `
	or.b32 %x2, %t, %b;
	setp.ne.u32 %p2, %x2, 0;
	@!%p2 st.global.u32 [%B], 0;
	` + gridBarrier + `
	@!%p1 bra N;
	atom.global.add.u32 %x1, [%B], 1;
N:	` + gridBarrier + `
	xor.b32 %x3, %b, 1;
	mad.lo.u32 %x4, %x3, 0, %x1;
	mul.wide.u32 %d1, %x4, 4;
	add.s64 %d1, %A, %d1;
	st.global.u32 [%d1], %b;`,
		why: "a thread of block 0 and one of block 1 have the same number",
	},
}

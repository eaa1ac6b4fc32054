package verify_test

// loopTraps are about loops, and about what outlives a barrier.
var loopTraps = []trap{
	{
		name: "doubling counter that wraps to zero",
		body: `mov.u32 %x1, 1; mov.u32 %x2, 0;
L:	shl.b32 %x1, %x1, 1;
	add.u32 %x2, %x2, 1;
	setp.ne.u32 %p1, %x1, 0;
	@%p1 bra L;
	setp.eq.u32 %p2, %x2, 32;
	@!%p2 bra Z;
	` + once + "Z:",
		why: "after 32 shifts the counter is 0 and the loop ends",
	},
	{
		name: "step that is no power of two, exit by inequality",
		body: `mov.u32 %x1, 0; mov.u32 %x2, 0;
L:	add.u32 %x1, %x1, 0x40000001;
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p3, %x2, 9;
	setp.ne.and.u32 %p1, %x1, 4, %p3;
	@%p1 bra L;
	setp.eq.u32 %p2, %x2, 4;
	@!%p2 bra Z;
	` + once + "Z:",
		why: "4 * 0x40000001 is 4 modulo 2^32",
	},
	{
		name: "large step that passes the bound by wrapping",
		body: `mov.u32 %x1, 0; mov.u32 %x2, 0;
L:	add.u32 %x2, %x2, 1;
	add.u32 %x1, %x1, 0x30000000;
	setp.lt.u32 %p1, %x1, 0xfff00000;
	setp.lt.and.u32 %p1, %x2, 50, %p1;
	@%p1 bra L;
	setp.eq.u32 %p2, %x2, 50;
	@!%p2 bra Z;
	` + once + "Z:",
		why: "the counter never stops between the bound and 2^32: 0xf0000000 is below, and then it wraps to 0x20000000",
	},
	{
		name: "signed counter, unsigned bound",
		body: `mov.u32 %x1, -3; mov.u32 %x2, 0;
L:	add.u32 %x2, %x2, 1;
	add.s32 %x1, %x1, 1;
	setp.lt.s32 %p1, %x1, %n;
	@%p1 bra L;
	setp.gt.u32 %p2, %x2, %n;
	@!%p2 bra Z;
	` + once + "Z:",
		why: "with n = 1 there are 4 iterations",
	},
	{
		name: "nested loops with one counter",
		body: `mov.u32 %x1, 0; mov.u32 %x3, 0;
L:	add.u32 %x3, %x3, 1;
M:	add.u32 %x1, %x1, 1;
	and.b32 %x2, %x1, 3;
	setp.ne.u32 %p1, %x2, %t;
	setp.lt.and.u32 %p1, %x1, 20, %p1;
	@%p1 bra M;
	bar.sync 0;
	setp.lt.u32 %p1, %x1, 20;
	@%p1 bra L;`,
		why: "how often the outer loop runs depends on the thread",
	},
	{
		name: "return within a loop",
		body: `mov.u32 %x1, 0;
L:	setp.eq.u32 %p1, %x1, %t;
	@%p1 ret;
	bar.sync 0;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 4;
	@%p1 bra L;`,
		why: "threads 0 to 3 return while the others wait",
	},
	{
		name: "continue past the barrier",
		body: `mov.u32 %x1, 0;
L:	add.u32 %x1, %x1, 1;
	setp.eq.u32 %p1, %x1, %t;
	setp.lt.u32 %p2, %x1, 4;
	@%p1 bra N;
	bar.sync 0;
N:	@%p2 bra L;`,
		why: "threads 1 to 4 leave out one barrier",
	},
	{
		name: "two back edges, one without the barrier",
		body: `mov.u32 %x1, 0;
L:	add.u32 %x1, %x1, 1;
	setp.eq.u32 %p1, %x1, %t;
	setp.ge.u32 %p2, %x1, 70;
	@%p2 bra Z;
	@%p1 bra L;
	bar.sync 0;
	bra L;
Z:`,
		why: "each thread leaves out another barrier",
	},
	{
		name: "memory that an atomic changes between two intervals",
		body: `atom.shared.add.u32 %x1, [%s], 1;
	bar.sync 0;
	ld.shared.u32 %x2, [%s];
	bar.sync 0;
	red.shared.add.u32 [%s], 1;
	bar.sync 0;
	ld.shared.u32 %x3, [%s];
	setp.eq.u32 %p1, %x2, %x3;
	@%p1 bra Z;
	` + once + "Z:",
		why: "64 is not 128",
	},
	{
		name: "own store behind a guarded barrier",
		body: `setp.eq.u32 %p1, %n, 0;
	add.u32 %x1, %s, %o;
	st.shared.u32 [%x1], %t;
	@%p1 bar.sync 0;
	ld.shared.u32 %x2, [%x1];
	setp.eq.u32 %p2, %x2, 5;
	@%p2 bar.sync 0;`,
		why: "thread 5 reads 5",
	},
	{
		name: "vote taken in different iterations",
		body: `mov.u32 %x1, 0; mov.u32 %x2, 0;
L:	setp.lt.u32 %p1, %t, %x1;
	bar.red.popc.u32 %x3, 0, %p1;
	setp.eq.u32 %p2, %x1, %t;
	@%p2 mov.u32 %x2, %x3;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 64;
	@%p1 bra L;
	setp.eq.u32 %p2, %x2, 7;
	@%p2 bar.sync 0;`,
		why: "each thread keeps the vote of another iteration",
	},
}

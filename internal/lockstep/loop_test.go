package lockstep_test

// loopTraps are about loops, and about what outlives a barrier.
var loopTraps = []trap{
	{
		name: "loop that nothing leaves",
		body: `setp.ne.u32 %p1, %n, 7;
	@%p1 bra Z;
L:	st.volatile.global.u32 [%P], %t;
	bra L;
Z:`,
		why: "with n = 7 the kernel never ends; the assumption that loops end must not hide that",
	},
	{
		name: "loop that nothing leaves and no thread reaches",
		body: `setp.lt.u32 %p1, %t, 64;
	@%p1 bra Z;
L:	st.volatile.global.u32 [%P], %t;
	bra L;
Z:`,
	},
	{
		name: "loop that only a return leaves",
		body: `L:	ld.volatile.global.u32 %x1, [%P];
	setp.ne.u32 %p1, %x1, 7;
	@%p1 ret;
	bra L;`,
	},
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
		name: "exit by inequality, bound that changes",
		body: `mov.u32 %x1, 0; mov.u32 %x5, 1; mov.u32 %x2, 0;
L:	add.u32 %x2, %x2, 1;
	add.u32 %x1, %x1, 1;
	mad.lo.u32 %x5, %x5, 5, 1;
	and.b32 %x5, %x5, 7;
	setp.lt.u32 %p3, %x2, 8;
	setp.ne.and.u32 %p1, %x1, %x5, %p3;
	@%p1 bra L;
	setp.eq.u32 %p2, %x2, 8;
	@!%p2 bra Z;
	` + once + "Z:",
		why: "1 to 8 meet 6, 7, 4, 5, 2, 3, 0 and 1: there are 8 iterations",
	},
	{
		name: "exit by inequality, counting up",
		body: `mov.u32 %x1, 0;
	shl.b32 %x3, %t, 5;
	add.u32 %x3, %s, %x3;
L:	shl.b32 %x2, %x1, 2;
	add.u32 %x2, %x2, %x3;
	st.shared.u32 [%x2], 1;
	add.u32 %x1, %x1, 1;
	setp.ne.u32 %p1, %x1, 8;
	@%p1 bra L;`,
	},
	{
		name: "exit by inequality, counting down",
		body: `mov.u32 %x1, 8;
	shl.b32 %x3, %t, 5;
	add.u32 %x3, %s, %x3;
L:	sub.u32 %x1, %x1, 1;
	shl.b32 %x2, %x1, 2;
	add.u32 %x2, %x2, %x3;
	st.shared.u32 [%x2], 1;
	setp.ne.u32 %p1, %x1, 0;
	@%p1 bra L;`,
	},
	{
		name: "exit by inequality, one iteration too many",
		body: `mov.u32 %x1, 0;
	shl.b32 %x3, %t, 5;
	add.u32 %x3, %s, %x3;
L:	shl.b32 %x2, %x1, 2;
	add.u32 %x2, %x2, %x3;
	st.shared.u32 [%x2], 1;
	add.u32 %x1, %x1, 1;
	setp.ne.u32 %p1, %x1, 9;
	@%p1 bra L;`,
		why: "the ninth element is the first of the next thread",
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
	{
		name: "buffers swapped, but once copied",
		body: halves("@%p2 mov.u32 %x1, %x2;"),
		why:  "from iteration 4 on both registers hold one buffer",
	},
	{
		name: "buffers swapped in turn",
		body: halves(""),
	},
	{
		name: "strides of two sizes with too small a common one",
		body: strides("130"),
		why:  "thread 0 moves to word 130, and thread 2 there too, by 64 and 64",
	},
	{
		name: "strides of two sizes with a common one",
		body: strides("512"),
	},
	{
		name: "last iteration of a loop that is counted out",
		body: `mov.u32 %x1, 0;
L:	setp.eq.u32 %p1, %x1, 4;
	@!%p1 bra N;
	` + once + `N:	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p2, %x1, 5;
	@%p2 bra L;`,
		why: "there is an iteration with 4",
	},
	{
		name: "no iteration beyond the last one",
		body: `mov.u32 %x1, 0;
L:	setp.eq.u32 %p1, %x1, 5;
	@!%p1 bra N;
	` + once + `N:	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p2, %x1, 5;
	@%p2 bra L;`,
	},
	{
		name: "a condition that the counter alone does not decide",
		body: `mov.u32 %x1, 0;
L:	bar.sync 0;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 5;
	setp.lt.or.u32 %p1, %x1, %t, %p1;
	@%p1 bra L;`,
		why: "threads from 6 on go on for longer than the others",
	},
	{
		name: "negative number halved by division",
		body: `mov.u32 %x1, -5; mov.u32 %x2, 0;
L:	shr.u32 %x3, %x1, 31;
	add.s32 %x1, %x1, %x3;
	shr.s32 %x1, %x1, 1;
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p1, %x2, 3;
	@%p1 bra L;
	setp.eq.u32 %p2, %x1, 0;
	@!%p2 bra Z;
	` + once + "Z:",
		why: "-5, -2, -1, 0: division rounds toward zero",
	},
	{
		name: "state that changes in every other iteration",
		body: `mov.u32 %x1, 1; mov.u32 %x2, 0;
L:	and.b32 %x3, %x2, 1;
	setp.eq.u32 %p1, %x3, 0;
	setp.eq.u32 %p2, %x2, 4;
	setp.eq.and.u32 %p2, %x1, 4, %p2;
	@!%p2 bra N;
	` + once + `N:	@%p1 shl.b32 %x1, %x1, 1;
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p1, %x2, %n;
	@%p1 bra L;`,
		why: "the condition of the change comes back: after 4 iterations there were 2 changes",
	},
	{
		name: "state that changes in every iteration",
		body: `mov.u32 %x1, 1; mov.u32 %x2, 0;
L:	setp.eq.u32 %p2, %x2, 4;
	setp.eq.and.u32 %p2, %x1, 4, %p2;
	@!%p2 bra N;
	` + once + `N:	setp.lt.u32 %p1, %x1, 512;
	@%p1 shl.b32 %x1, %x1, 1;
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p1, %x2, %n;
	@%p1 bra L;`,
	},
	{
		name: "an iteration whose inner loop passes no barrier",
		body: innerBarriers("and.b32 %x3, %x1, 1;"),
		why:  "in the iterations with an even number nothing separates the write from the neighbour's read",
	},
	{
		name: "an inner loop that passes a barrier at least",
		body: innerBarriers("and.b32 %x3, %x1, 1; add.u32 %x3, %x3, 1;"),
	},
}

// halves writes to one half of an array and reads the other one, in turn; extra happens in
// iteration 3.
func halves(extra string) string {
	return `mov.u32 %x1, 0; mov.u32 %x2, 256; mov.u32 %x3, 0;
	add.u32 %x7, %o, 4;
	and.b32 %x7, %x7, 255;
L:	add.u32 %x4, %s, %x1;
	add.u32 %x5, %x4, %o;
	st.shared.u32 [%x5], %t;
	add.u32 %x4, %s, %x2;
	add.u32 %x5, %x4, %x7;
	ld.shared.u32 %x6, [%x5];
	bar.sync 0;
	mov.u32 %x6, %x1;
	mov.u32 %x1, %x2;
	mov.u32 %x2, %x6;
	setp.eq.u32 %p2, %x3, 3;
	` + extra + `
	add.u32 %x3, %x3, 1;
	setp.lt.u32 %p1, %x3, 8;
	@%p1 bra L;`
}

// strides writes to an array of words that starts at a thread's index and moves on by 64 words or
// by another number, depending on n and the iteration.
func strides(other string) string {
	return `mov.u32 %x1, %t; mov.u32 %x2, 0;
L:	mul.wide.u32 %d1, %x1, 4;
	add.u64 %d2, %B, %d1;
	st.shared.u32 [%Q], %t;
	setp.eq.u32 %p3, %b, 0;
	@%p3 st.global.u32 [%d2], %t;
	xor.b32 %x3, %x2, %n;
	xor.b32 %x3, %x3, %t;
	setp.lt.u32 %p1, %x3, 5;
	add.u32 %x4, %x1, 64;
	add.u32 %x5, %x1, ` + other + `;
	selp.u32 %x1, %x5, %x4, %p1;
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p1, %x2, 9;
	@%p1 bra L;`
}

// innerBarriers passes as many barriers as trips says between a write and the read of what a
// neighbour wrote.
func innerBarriers(trips string) string {
	return `mov.u32 %x1, 0;
	xor.b32 %x5, %o, 4;
	add.u32 %x5, %r, %x5;
L:	bar.sync 0;
	st.shared.u32 [%Q], %t;
	` + trips + `
M:	setp.eq.u32 %p1, %x3, 0;
	@%p1 bra N;
	bar.sync 0;
	sub.u32 %x3, %x3, 1;
	bra M;
N:	ld.shared.u32 %x6, [%x5];
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p2, %x1, 7;
	@%p2 bra L;`
}

package lockstep_test

// once is a race that is there if two threads of a block get here: they write one word of shared
// memory, different values.
const once = "st.shared.u32 [w], %t;\n"

var traps = []trap{
	{
		name: "dynamic shared arrays",
		module: `.extern .shared .align 4 .b8 da[];
.extern .shared .align 4 .b8 db[];`,
		body: `mov.u32 %x1, da; add.u32 %x1, %x1, %o;
	mov.u32 %x2, db; xor.b32 %x3, %o, 4; add.u32 %x2, %x2, %x3;
	st.shared.u32 [%x1], %t;
	ld.shared.u32 %x4, [%x2];`,
		why: "extern arrays without bound all name the one dynamic shared memory: thread 0 reads what thread 1 writes",
	},
	{
		name: "pointer from memory, blocks",
		body: `ld.global.u64 %d1, [%A];
	add.u64 %d1, %d1, %d0;
	st.u32 [%d1], %b;`,
		why: "blocks 0 and 1 write one word",
	},
	{
		name: "pointer from memory against an argument, blocks",
		body: `ld.global.u64 %d1, [%B];
	add.u64 %d1, %d1, %d0;
	setp.eq.u32 %p1, %b, 0;
	@%p1 ld.u32 %x1, [%d1];
	@!%p1 st.global.u32 [%P], %b;`,
		why: "the pointer may lead to A",
	},
	{
		name: "store through a choice of arrays, the first",
		body: `ld.shared.u32 %x1, [%s];
	bar.sync 0;
	setp.ne.u32 %p1, %n, 0;
	selp.b32 %x3, %s, %r, %p1;
	setp.eq.u32 %p2, %t, 0;
	@%p2 st.shared.u32 [%x3], 77;
	bar.sync 0;
	ld.shared.u32 %x2, [%s];
	setp.eq.u32 %p3, %x1, %x2;
	@%p3 bra Z;
	` + once + "Z:",
		why: "s[0] may change between the two reads",
	},
	{
		name: "store through a choice of arrays, the second",
		body: `ld.shared.u32 %x1, [%s];
	bar.sync 0;
	setp.ne.u32 %p1, %n, 0;
	selp.b32 %x3, %r, %s, %p1;
	setp.eq.u32 %p2, %t, 0;
	@%p2 st.shared.u32 [%x3], 77;
	bar.sync 0;
	ld.shared.u32 %x2, [%s];
	setp.eq.u32 %p3, %x1, %x2;
	@%p3 bra Z;
	` + once + "Z:",
		why: "s[0] may change between the two reads",
	},
	{
		name: "a thread's own store through a choice of arrays",
		body: `setp.ne.u32 %p1, %n, 0;
	selp.b32 %x9, %s, %r, %p1;
	add.u32 %x9, %x9, %o;
	add.u32 %x8, %s, %o;
	ld.shared.u32 %x1, [%x8];
	st.shared.u32 [%x9], 77;
	ld.shared.u32 %x2, [%x8];
	setp.eq.u32 %p3, %x1, %x2;
	@%p3 bra Z;
	` + once + "Z:",
		why: "with n != 0 the second load sees the store",
	},
	{
		name: "carry",
		body: `add.cc.u32 %x1, %t, 0xfffffff0;
	addc.u32 %x2, 0, 0;
	setp.ne.u32 %p1, %x2, 0;
	@%p1 bar.sync 0;`,
		why: "the carry is 1 from thread 16 on",
	},
	{
		name: "borrow",
		body: `sub.cc.u32 %x1, %t, 16;
	subc.u32 %x2, 0, 0;
	setp.ne.u32 %p1, %x2, 0;
	@%p1 bar.sync 0;`,
		why: "the borrow differs between threads",
	},
	{
		name: "packed float comparison",
		body: `mov.b32 %x1, 0x3c003c00; mov.b32 %x2, 0x3c000000; ld.global.u32 %x2, [%B];
	setp.eq.f16x2 %p1|%p2, %x1, %x2;
	and.pred %p3, %p1, %p2;
	@!%p3 bra Z;
	` + once + "Z:",
		why: "p compares the lower halves, q the upper ones: both may hold (PTX ISA 9.7.4.8)",
	},
	{
		name: "relu",
		body: `sub.s32 %x1, 5, %t;
	max.relu.s32 %x2, %x1, -100;
	shl.b32 %x2, %x2, 2;
	add.u32 %x3, %s, %x2;
	st.shared.u32 [%x3], %t;`,
		why: "relu makes all negative results 0, so that threads 5 and 6 write one word",
	},
	{
		name: "min relu, on both sides of zero",
		body: `sub.s32 %x1, 5, %t;
	min.relu.s32 %x2, %x1, 100;
	shl.b32 %x2, %x2, 2;
	add.u32 %x3, %s, %x2;
	st.shared.u32 [%x3], %t;`,
		why: "relu makes all negative results 0",
	},
	{
		name: "two readings of the clock",
		body: `mov.u32 %x1, %clock;
	mov.u32 %x2, %clock;
	setp.eq.u32 %p1, %x1, %x2;
	@%p1 bra Z;
	` + once + "Z:",
		why: "the clock goes on",
	},
	{
		name: "the clock within a loop and before",
		body: `mov.u32 %x1, %clock;
	mov.u32 %x3, 0;
L:	mov.u32 %x2, %clock;
	add.u32 %x3, %x3, 1;
	setp.lt.u32 %p1, %x3, 4;
	@%p1 bra L;
	setp.eq.u32 %p1, %x1, %x2;
	@%p1 bra Z;
	` + once + "Z:",
		why: "the clock goes on",
	},
	{
		name: "halves of a register",
		body: `ld.global.u64 %d1, [%A];
	mov.b64 {%x1, _}, %d1;
	mov.b64 {_, %x2}, %d1;
	setp.eq.u32 %p1, %x1, %x2;
	@%p1 bra Z;
	` + once + "Z:",
		why: "the halves may differ",
	},
	{
		name: "packed constants",
		body: `mov.b64 %d1, {%n, 0};
	mov.b64 %d2, {%n, 1};
	setp.eq.u64 %p1, %d1, %d2;
	@%p1 bra Z;
	` + once + "Z:",
		why: "the upper halves differ",
	},
	{
		name: "halves put together again",
		body: `mul.wide.u32 %d1, %t, 4;
	mov.b64 {%x1, %x2}, %d1;
	mov.b64 %d2, {%x1, %x2};
	add.u64 %d3, %A, %d2;
	mul.wide.u32 %d4, %b, 4096;
	add.u64 %d3, %d3, %d4;
	st.global.u32 [%d3], 1;`,
	},
	{
		name: "negated predicate operand",
		body: `setp.ne.u32 %p1, %n, 0;
	set.eq.and.u32.u32 %x1, %n, %n, %p1;
	set.eq.and.u32.u32 %x2, %n, %n, !%p1;
	setp.eq.u32 %p2, %x1, %x2;
	@%p2 bra Z;
	` + once + "Z:",
		why: "one of the two is 0 and the other is not",
	},
	{
		name: "an instruction that writes its own guard",
		body: `setp.ge.u32 %p1, %t, 32;
	setp.ne.u32 %p2, %t, %t;
	@%p1 setp.eq.u32 %p1|%p2, %t, 99;
	@%p2 bar.sync 0;`,
		why: "the guard is read before p1 is written: p2 becomes true from thread 32 on",
	},
	{
		name: "undefined register",
		body: `.reg .b32 %u;
	setp.lt.u32 %p1, %t, 5;
	@%p1 bra L;
	mov.u32 %u, 1;
L:	setp.eq.u32 %p2, %u, 1;
	@!%p2 bra Z;
	bar.sync 0;
Z:`,
		why: "in threads 0 to 4 %u was never written and may hold anything",
	},
	{
		name: "undefined register in and after a loop",
		body: `.reg .b32 %u;
	mov.u32 %x1, 0;
L:	add.u32 %x2, %u, 1;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, %n;
	@%p1 bra L;
	add.u32 %x3, %u, 1;
	setp.eq.u32 %p2, %x3, 1;
	@%p2 bar.sync 0;`,
		why: "%u may hold anything",
	},
	{
		name: "division by zero",
		body: `ld.global.u32 %x1, [%A];
	div.u32 %x2, %x1, 0;
	rem.u32 %x3, %x1, 0;
	setp.eq.u32 %p1, %x2, %x3;
	@%p1 bra Z;
	` + once + "Z:",
		why: "quotient and remainder are unspecified, and need not be the same",
	},
	{
		name:   "two arrays with similar names",
		module: ".shared .align 4 .b8 q$1[4096];\n.shared .align 4 .b8 q_1[4096];",
		body: `mov.u32 %x1, q$1; mov.u32 %x2, q_1;
	st.shared.u32 [%x1], 7;
	ld.global.u32 %x3, [%A];
	setp.eq.u32 %p1, %t, 0;
	@%p1 st.shared.u32 [%x2], %x3;
	bar.sync 0;
	ld.shared.u32 %x4, [%x1];
	ld.shared.u32 %x5, [%x2];
	setp.eq.u32 %p1, %x4, %x5;
	@%p1 bra Z;
	` + once + "Z:",
		why: "two arrays hold two values",
	},
	{
		name: "two arrays of one name in two scopes",
		body: `{ .shared .align 4 .b8 loc[4096];
	mov.u32 %x1, loc; }
	{ .shared .align 4 .b8 loc[4096];
	mov.u32 %x2, loc; }
	ld.shared.u32 %x4, [%x1];
	ld.shared.u32 %x5, [%x2];
	setp.eq.u32 %p1, %x4, %x5;
	@%p1 bra Z;
	` + once + "Z:",
		why: "two arrays hold two values",
	},
	{
		name: "same value in another iteration",
		body: `mov.u32 %x1, 0;
L:	add.u32 %x2, %x1, %t;
	and.b32 %x2, %x2, 31;
	shl.b32 %x2, %x2, 2;
	and.b32 %x3, %t, 32;
	shl.b32 %x3, %x3, 2;
	add.u32 %x2, %x2, %x3;
	add.u32 %x2, %x2, %s;
	st.shared.u32 [%x2], 1;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 4;
	@%p1 bra L;`,
		why: "the tolerance is for the lanes of one execution of one instruction",
	},
	{
		name: "same value in one iteration",
		body: `mov.u32 %x1, 0;
L:	mul.wide.u32 %d1, %b, 4;
	add.u64 %d1, %d1, %A;
	mul.wide.u32 %d2, %t, 4;
	and.b64 %d2, %d2, 128;
	add.u64 %d1, %d1, %d2;
	mul.wide.u32 %d2, %x1, 4096;
	add.u64 %d1, %d1, %d2;
	st.global.u32 [%d1], 1;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 4;
	@%p1 bra L;`,
	},
	{
		name: "discard",
		body: `st.global.u32 [%A], 1; discard.global.L2 [%A], 128;`,
		why:  "a discard is a weak write of indeterminate values",
	},
	{
		name: "no barrier in some iterations",
		body: `mov.u32 %x1, 0;
L:	add.u32 %x2, %t, %x1;
	and.b32 %x2, %x2, 63;
	shl.b32 %x2, %x2, 2;
	add.u32 %x2, %x2, %s;
	st.shared.u32 [%x2], %t;
	and.b32 %x3, %x1, 1;
	setp.eq.u32 %p2, %x3, 0;
	@%p2 bar.sync 0;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 4;
	@%p1 bra L;`,
		why: "odd iterations end without a barrier",
	},
	{
		name: "a barrier in each iteration",
		body: `mov.u32 %x1, 0;
L:	add.u32 %x2, %t, %x1;
	and.b32 %x2, %x2, 63;
	shl.b32 %x2, %x2, 2;
	add.u32 %x2, %x2, %s;
	st.shared.u32 [%x2], %t;
	bar.sync 0;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 4;
	@%p1 bra L;`,
	},
	{
		name: "swap",
		body: `mov.u32 %x1, %o; mov.u32 %x2, 1024; mov.u32 %x3, 0;
L:	add.u32 %x4, %s, %x1;
	st.shared.u32 [%x4], %t;
	mov.u32 %x5, %x1; mov.u32 %x1, %x2; mov.u32 %x2, %x5;
	add.u32 %x3, %x3, 1;
	setp.lt.u32 %p1, %x3, %n;
	@%p1 bra L;`,
		why: "in the second iteration all write one word",
	},
	{
		name: "zero trips",
		body: `mov.u32 %x1, 0; mov.u32 %x6, %t;
	setp.ge.u32 %p1, %x1, %n;
	@%p1 bra E;
L:	mov.u32 %x6, 3;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, %n;
	@%p1 bra L;
E:	setp.eq.u32 %p2, %x6, 3;
	@%p2 bar.sync 0;`,
		why: "with n = 0 only thread 3 meets the barrier",
	},
	{
		name: "decreasing counter that wraps",
		body: `mov.u32 %x1, %n;
L:	add.u32 %x2, %x1, %t;
	and.b32 %x2, %x2, 63;
	shl.b32 %x2, %x2, 2;
	add.u32 %x2, %x2, %s;
	st.shared.u32 [%x2], %t;
	add.u32 %x1, %x1, -1;
	setp.lt.s32 %p1, %x1, 0;
	@%p1 bra L;`,
		why: "with n = 0 the loop goes on through the negative numbers",
	},
	{
		name: "wrap of a short counter",
		body: `mov.u16 %h1, 0; mov.u32 %x1, 0;
L:	cvt.u32.u16 %x2, %h1;
	add.u32 %x2, %x2, %t;
	shl.b32 %x2, %x2, 2;
	add.u32 %x2, %x2, %s;
	setp.gt.u32 %p3, %x1, 65535;
	@%p3 st.shared.u32 [%x2], %t;
	add.u16 %h1, %h1, 1; add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 65600;
	@%p1 bra L;`,
		why: "after 65536 iterations the short counter starts again, and neighbours meet",
	},
	{
		name: "entry is a loop header",
		body: `L: ld.global.u32 %x1, [%B];
	st.shared.u32 [%s], %t;
	setp.lt.u32 %p1, %x1, 5;
	@%p1 bra L;`,
		why: "all write one word",
	},
	{
		name: "trip count of the block",
		body: `mov.u32 %x1, 0;
L:	add.u32 %x1, %x1, 1;
	setp.le.u32 %p1, %x1, %b;
	@%p1 bra L;
	shl.b32 %x2, %x1, 2;
	cvt.u64.u32 %d1, %x2;
	add.u64 %d1, %d1, %A;
	setp.eq.u32 %p2, %t, 0;
	@%p2 st.global.u32 [%d1], %t;
	sub.u32 %x3, 2, %b;
	mul.wide.u32 %d2, %x3, 4;
	add.u64 %d2, %d2, %A;
	@%p2 ld.global.u32 %x4, [%d2];`,
		why: "block 1 writes A[2], which block 0 reads",
	},
	{
		name: "votes of the block differ between blocks",
		body: `setp.ne.u32 %p1, %b, 0;
	bar.red.or.pred %p2, 0, %p1;
	selp.u32 %x1, 1, 2, %p2;
	setp.eq.u32 %p3, %t, 0;
	mul.wide.u32 %d1, %x1, 4;
	add.u64 %d1, %d1, %A;
	@%p3 st.global.u32 [%d1], %b;`,
		why: "the votes of blocks 0 and 1 may be the same as far as a proof knows: no witness is claimed here, but never verified",
	},
	{
		name: "generic address of a shared array",
		body: `cvt.u64.u32 %d1, %s; mov.u64 %d1, s; cvta.shared.u64 %d1, %d1;
	add.u64 %d1, %d1, %d0;
	st.u32 [%d1], %t;
	xor.b32 %x1, %o, 4;
	add.u32 %x1, %x1, %s;
	ld.shared.u32 %x2, [%x1];`,
		why: "thread 1 reads what thread 0 writes",
	},
	{
		name: "byte in a word of another thread",
		body: `add.u32 %x1, %s, %o;
	st.shared.u32 [%x1], %t;
	ld.shared.u8 %x2, [%x1+7];`,
		why: "byte 3 of the next word",
	},
	{
		name: "vector over the neighbour's word",
		body: `shl.b32 %x1, %t, 4; add.u32 %x1, %x1, %s;
	st.shared.v4.u32 [%x1], {%t, %t, %t, %t};
	ld.shared.u32 %x2, [%x1+28];`,
		why: "word 3 of the next vector",
	},
	{
		name: "uniform load after a race-free change",
		body: `setp.eq.u32 %p1, %t, 0;
	@%p1 st.shared.u32 [%s], 0;
	bar.sync 0;
	ld.shared.u32 %x1, [%s];
	setp.ne.u32 %p2, %x1, 0;
	@%p2 bar.sync 0;`,
	},
	{
		name: "own store seen in the loop",
		body: `mov.u32 %x1, 0;
	bar.sync 0;
L:	ld.shared.u32 %x2, [%Q];
	st.shared.u32 [%Q], %t;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 3;
	@%p1 bra L;
	setp.eq.u32 %p2, %x2, 5;
	@%p2 bar.sync 0;`,
		why: "in thread 5 alone",
	},
	{
		name: "local memory",
		body: `.local .align 4 .b8 loc[16];
	st.local.u32 [loc], %t;
	ld.local.u32 %x1, [loc];
	setp.eq.u32 %p2, %x1, 5;
	@%p2 bar.sync 0;`,
		why: "in thread 5 alone",
	},
	{
		name: "bra to the next instruction on both sides",
		body: `setp.eq.u32 %p1, %t, 5;
	@%p1 bra L;
L:	@%p1 bar.sync 0;`,
		why: "in thread 5 alone",
	},
	{
		name: "brx.idx with a repeated target",
		body: `and.b32 %x1, %t, 3;
T: .branchtargets L0, L1, L0, L1;
	brx.idx %x1, T;
L0:	bra E;
L1:	bar.sync 0;
E:`,
		why: "in odd threads alone",
	},
	{
		name: "unequal atomics",
		body: `atom.global.add.u32 %x1, [%A], 1;
	atom.global.add.u64 %d1, [%A], 1;`,
		why: "atomics of different sizes on one place are not morally strong",
	},
	{
		name: "atomics of block scope",
		body: `atom.cta.global.add.u32 %x1, [%A], 1;`,
		why:  "the scope does not include the other block",
	},
	{
		name: "atomics",
		body: `atom.gpu.global.add.u32 %x1, [%A], 1; st.volatile.global.u32 [%A], %x1; red.gpu.global.max.u32 [%A], 3;`,
	},
	{
		name: "private number of iterations inside a loop",
		body: `mov.u32 %x1, 0; mov.u32 %x2, 0;
L:	mov.u32 %x3, 0;
M:	add.u32 %x3, %x3, 1;
	setp.lt.u32 %p1, %x3, %t;
	@%p1 bra M;
	mul.lo.u32 %x4, %x2, %x2;
	add.u32 %x2, %x4, %x3;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 4;
	@%p1 bra L;
	setp.eq.u32 %p2, %x2, 2;
	@%p2 bra Z;
	bar.sync 0;
Z:`,
		why: "how often the inner loop runs is the thread's own",
	},
	{
		name: "private number of iterations in an address",
		body: `mov.u32 %x1, 0; mov.u32 %x2, 0;
L:	mov.u32 %x3, 0;
M:	add.u32 %x3, %x3, 1;
	setp.lt.u32 %p1, %x3, %t;
	@%p1 bra M;
	mul.lo.u32 %x4, %x2, %x2;
	add.u32 %x2, %x4, %x3;
	shl.b32 %x5, %x2, 2;
	shl.b32 %x6, %t, 8;
	add.u32 %x5, %x5, %x6;
	add.u32 %x5, %x5, %s;
	st.shared.u32 [%x5], %t;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 4;
	@%p1 bra L;`,
		why: "a thread's own square of its own number may lead to another thread's word",
	},
	{
		name: "generic address of local memory",
		body: `.local .align 4 .b8 loc[16];
	mov.u64 %d1, loc;
	cvta.local.u64 %d1, %d1;
	st.u32 [%d1], %t;
	bar.sync 0;
	ld.u32 %x1, [%d1];
	setp.eq.u32 %p2, %x1, 5;
	@%p2 bar.sync 0;`,
		why: "each thread has its own: in thread 5 alone",
	},
	{
		name: "local memory, then its generic address",
		body: `.local .align 4 .b8 loc[16];
	mov.u64 %d1, loc;
	cvta.local.u64 %d1, %d1;
	st.local.u32 [loc], %t;
	ld.u32 %x1, [%d1];
	setp.eq.u32 %p2, %x1, 5;
	@%p2 bar.sync 0;`,
		why: "each thread has its own: in thread 5 alone",
	},
	{
		name: "accesses of local memory by its generic address",
		body: `.local .align 4 .b8 loc[16];
	mov.u64 %d1, loc;
	cvta.local.u64 %d1, %d1;
	st.u32 [%d1], %t;
	ld.u32 %x1, [%d1];`,
	},
	{
		name: "address of a parameter",
		body: `mov.b64 %d1, A;
	cvta.param.u64 %d1, %d1;
	ld.u32 %x1, [%d1];
	ld.global.u32 %x2, [%A];
	setp.eq.u32 %p1, %x1, %x2;
	@%p1 bra Z;
	` + once + "Z:",
		why: "the pointer is not what it points to",
	},
	{
		name: "shared memory of another block",
		body: `mov.u64 %d1, s;
	cvta.shared.u64 %d1, %d1;
	mapa.u64 %d2, %d1, 1;
	setp.eq.u32 %p1, %t, 0;
	setp.eq.and.u32 %p1, %b, 0, %p1;
	@%p1 st.u32 [%d2], 1;
	setp.eq.u32 %p2, %t, 0;
	setp.eq.and.u32 %p2, %b, 1, %p2;
	@%p2 ld.shared.u32 %x1, [%s];`,
		why: "block 0 writes the shared memory of block 1, which reads it",
	},
}

package lockstep_test

const (
	shared = ".pragma \"heddle.order shared\";\nbar.sync 0;\n" // barriers that order part of memory
	global = ".pragma \"heddle.order global\";\nbar.sync 0;\n"
	none   = ".pragma \"heddle.order none\";\nbar.sync 0;\n"
)

// warpElement has the first lane of each warp of block 0 write the element with the number of its
// warp.
const warpElement = `mov.u32 %x1, %warpid;
	mov.u32 %x2, %laneid;
	or.b32 %x2, %x2, %b;
	setp.ne.u32 %p1, %x2, 0;
	@%p1 bra Z;
	mul.wide.u32 %d1, %x1, 4;
	add.s64 %d1, %A, %d1;
	st.global.u32 [%d1], %t;
Z:`

// partTraps are about barriers that order part of memory (OpenCL C 3.0, 6.15.8).
var partTraps = []trap{
	{
		name: "an element for each warp by its number in the SM",
		body: warpElement,
		why:  "%warpid may change while the thread runs, and two warps may have it in turn (PTX ISA 10.5)",
	},
	{
		name:   "an element for each sub-group by its number",
		module: "// heddle.language cl\n", // get_sub_group_id is compiled to %warpid
		body:   warpElement,
	},
	{
		name: "global data, a barrier for shared memory",
		body: "st.global.u32 [%P], %t;\n" + shared + "ld.global.u32 %x1, [%A];",
		why:  "all threads read what thread 0 wrote, and nothing orders global memory",
	},
	{
		name: "global data, a barrier for global memory",
		body: `setp.eq.u32 %p1, %b, 0;
	@!%p1 bra Z;
	st.global.u32 [%P], %t;
	` + global + "ld.global.u32 %x1, [%A];\nZ:",
	},
	{
		name: "shared data, a barrier for global memory",
		body: "st.shared.u32 [%Q], %t;\n" + global + "ld.shared.u32 %x1, [%r];",
		why:  "nothing orders shared memory",
	},
	{
		name: "shared data, a barrier for nothing",
		body: "st.shared.u32 [%Q], %t;\n" + none + "ld.shared.u32 %x1, [%r];",
		why:  "nothing orders shared memory",
	},
	{
		name: "shared data, one barrier for each",
		body: "st.shared.u32 [%Q], %t;\n" + global + shared + none + "ld.shared.u32 %x1, [%r];",
	},
	{
		name: "a barrier for nothing diverges all the same",
		body: "setp.eq.u32 %p1, %t, 0;\n@%p1 bra Z;\n" + none + "Z:",
		why:  "thread 0 does not come to the barrier at which the others wait",
	},
	{
		name: "shared data around a loop, a barrier for global memory at its end",
		body: `mov.u32 %x1, 0;
L:	ld.shared.u32 %x2, [%r];
	` + shared + `
	st.shared.u32 [%Q], %x1;
	` + global + `
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, %n;
	@%p1 bra L;`,
		why: "thread 0 writes r[0] in one iteration, and all read it in the next",
	},
	{
		name: "shared data around a loop, a barrier for shared memory at its end",
		body: `mov.u32 %x1, 0;
L:	ld.shared.u32 %x2, [%r];
	` + shared + `
	st.shared.u32 [%Q], %x1;
	` + shared + `
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, %n;
	@%p1 bra L;`,
	},
	{
		name: "pointer from memory, a barrier for shared memory",
		body: `ld.global.u64 %d1, [%B];
	setp.eq.u32 %p1, %t, 0;
	@%p1 st.u32 [%d1], 7;
	` + shared + `
	ld.global.u32 %x1, [%P];`,
		why: "the pointer may lead to A, which the barrier does not order",
	},
	{
		name: "pointer from memory, a barrier for global memory",
		body: `ld.global.u64 %d1, [%B];
	setp.eq.u32 %p1, %t, 0;
	@%p1 st.u32 [%d1], 7;
	` + global + `
	ld.shared.u32 %x1, [%Q];`,
		why: "the pointer may lead to shared memory, which the barrier does not order",
	},
	{
		name: "a pointer made of a number, behind a barrier for global memory",
		body: `ld.shared.u32 %x1, [%Q];
	` + global + `
	mul.wide.u32 %d1, %n, 4;
	or.b32 %x2, %t, %b;
	setp.eq.u32 %p1, %x2, 0;
	@%p1 st.u32 [%d1], 7;`,
		why: "the pointer may lead to shared memory, which the barrier does not order",
	},
	{
		name: "an own store, read behind a barrier for other memory",
		body: `ld.shared.u32 %x1, [%Q];
	st.shared.u32 [%Q], 77;
	` + global + `
	ld.shared.u32 %x2, [%Q];
	setp.eq.u32 %p1, %x1, %x2;
	@%p1 bra Z;
	` + once + "Z:",
		why: "the thread reads its 77, not what was there before",
	},
	{
		name: "a word that another thread changes, behind a barrier for all memory and one for other memory",
		body: `ld.shared.u32 %x1, [%r];
	bar.sync 0;
	setp.eq.u32 %p2, %t, 0;
	@%p2 st.shared.u32 [%r], 77;
	bar.sync 0;
	` + global + `
	ld.shared.u32 %x2, [%r];
	setp.eq.u32 %p1, %x1, %x2;
	@%p1 bra Z;
	` + once + "Z:",
		why: "thread 0 changes the word between the two reads",
	},
	{
		name: "a word that nobody changes, behind a barrier for other memory",
		body: `ld.shared.u32 %x1, [%r];
	` + global + `
	ld.shared.u32 %x2, [%r];
	bar.sync 0;
	setp.eq.u32 %p2, %t, 0;
	@%p2 st.shared.u32 [%r], 77;
	setp.eq.u32 %p1, %x1, %x2;
	@%p1 bra Z;
	` + once + "Z:",
	},
	{
		name: "a word displaced by a byte",
		body: `setp.eq.u32 %p1, %t, 0;
	@%p1 st.shared.u8 [%s+5], 1;
	@!%p1 atom.shared.add.u32 %x1, [%s+2], 1;`,
		why: "bytes 2 to 5 and byte 5 overlap",
	},
	{
		name: "words displaced differently",
		body: `setp.eq.u32 %p1, %t, 0;
	@%p1 st.shared.u32 [%s+4], 1;
	@!%p1 atom.shared.add.u32 %x1, [%s+1], 1;`,
		why: "bytes 4 to 7 and bytes 1 to 4 overlap, whatever the hardware makes of the second address",
	},
	{
		name:   "a function without a body that does not return",
		module: ".extern .func f(.param .b64 p) .noreturn;",
		body: `{ .param .b64 q; st.param.b64 [q], %A; call.uni f, (q); }
`,
		why: "the function may write A",
	},
}

// write writes the slot of r that a thread took from a counter.
const write = `	shl.b32 %x2, %x1, 2;
	add.u32 %x2, %x2, %r;
	st.shared.u32 [%x2], %t;
`

// slotTraps are about threads that take slots of an array from a counter (PTX ISA 9.7.13.5).
var slotTraps = []trap{
	{
		name: "a slot each",
		body: "atom.shared.add.u32 %x1, [%s], 1;\n" + write,
	},
	{
		name: "a slot each, counting down",
		body: "atom.shared.add.u32 %x1, [%s], -1;\n" + write,
	},
	{
		name: "a slot each by inc without bound",
		body: "atom.shared.inc.u32 %x1, [%s], 0xffffffff;\n" + write,
	},
	{
		name: "inc wraps at its bound",
		body: "atom.shared.inc.u32 %x1, [%s], 3;\n" + write,
		why:  "the fifth thread gets 0 again",
	},
	{
		name: "nothing is added",
		body: "atom.shared.add.u32 %x1, [%s], 0;\n" + write,
		why:  "all threads get the same",
	},
	{
		name: "up and down",
		body: `atom.shared.add.u32 %x1, [%s], 1;
	red.shared.add.u32 [%s], -1;
` + write,
		why: "thread 1 gets the slot that thread 0 gave back, and thread 0 still writes",
	},
	{
		name: "exchanged for zero by a thread in the same interval",
		body: `atom.shared.add.u32 %x1, [%s], 1;
	setp.eq.u32 %p1, %t, 0;
	@%p1 atom.shared.exch.b32 %x3, [%s], 0;
` + write,
		why: "the exchange sets the counter back",
	},
	{
		name: "two counters",
		body: `and.b32 %x3, %o, 4;
	add.u32 %x3, %x3, %s;
	atom.shared.add.u32 %x1, [%x3], 1;
` + write,
		why: "even and odd threads have a counter of their own, and both begin at the same",
	},
	{
		name: "some threads take no slot",
		body: `mov.u32 %x1, 12;
	setp.eq.u32 %p1, %t, 3;
	@!%p1 atom.shared.add.u32 %x1, [%s], 1;
` + write,
		why: "thread 3 writes slot 12 without asking",
	},
	{
		name: "set to zero before",
		body: `setp.eq.u32 %p1, %t, 0;
	@%p1 st.shared.u32 [%s], 0;
	bar.sync 0;
	atom.shared.add.u32 %x1, [%s], 1;
` + write,
	},
	{
		name: "set to zero between",
		body: `atom.shared.add.u32 %x1, [%s], 1;
	bar.sync 0;
	setp.eq.u32 %p1, %t, 0;
	@%p1 st.shared.u32 [%s], 0;
	bar.sync 0;
	atom.shared.add.u32 %x3, [%s], 1;
	and.b32 %x4, %t, 1;
	setp.eq.u32 %p2, %x4, 0;
	selp.u32 %x1, %x1, %x3, %p2;
` + write,
		why: "even threads write slots from before the counter was set back, odd ones from after",
	},
	{
		name: "not set back between",
		body: `atom.shared.add.u32 %x1, [%s], 1;
	bar.sync 0;
	atom.shared.add.u32 %x3, [%s], 1;
	and.b32 %x4, %t, 1;
	setp.eq.u32 %p2, %x4, 0;
	selp.u32 %x1, %x1, %x3, %p2;
` + write,
	},
	{
		name: "set back between by a copy",
		body: `atom.shared.add.u32 %x1, [%s], 1;
	bar.sync 0;
	setp.eq.u32 %p1, %t, 0;
	@%p1 cp.async.ca.shared.global [%s], [%A], 4;
	cp.async.wait_all;
	bar.sync 0;
	atom.shared.add.u32 %x3, [%s], 1;
	and.b32 %x4, %t, 1;
	setp.eq.u32 %p2, %x4, 0;
	selp.u32 %x1, %x1, %x3, %p2;
` + write,
		why: "what is copied may be what the counter began with",
	},
	{
		name: "two slots of two",
		body: `atom.shared.add.u32 %x1, [%s], 2;
` + write + "	st.shared.u32 [%x2+4], %t;",
	},
	{
		name: "two slots of one",
		body: `atom.shared.add.u32 %x1, [%s], 1;
` + write + "	st.shared.u32 [%x2+4], %t;",
		why: "the second slot is that of the next thread",
	},
	{
		name: "steps of two and of one",
		body: `and.b32 %x3, %t, 1;
	setp.eq.u32 %p1, %x3, 0;
	@%p1 atom.shared.add.u32 %x1, [%s], 2;
	@!%p1 atom.shared.add.u32 %x1, [%s], 1;
` + write + "	@%p1 st.shared.u32 [%x2+4], %t;",
	},
	{
		name: "a counter of a block for a global array",
		body: `atom.shared.add.u32 %x1, [%s], 1;
	mul.wide.u32 %d1, %x1, 4;
	add.u64 %d1, %d1, %A;
	st.global.u32 [%d1], %t;`,
		why: "the first threads of two blocks get the same slot of the one array",
	},
	{
		name: "a counter of the grid for a global array",
		body: `atom.global.add.u32 %x1, [%B], 1;
	mul.wide.u32 %d1, %x1, 4;
	add.u64 %d1, %d1, %A;
	st.global.u32 [%d1], %t;`,
	},
	{
		name: "a counter of the grid that the slots overwrite",
		body: `atom.global.add.u32 %x1, [%A], 1;
	mul.wide.u32 %d1, %x1, 4;
	add.u64 %d1, %d1, %A;
	st.global.u32 [%d1], %t;`,
		why: "slot 0 is the counter",
	},
	{
		name: "a counter that a pointer from memory may lead to",
		body: `atom.global.add.u32 %x1, [%A], 1;
	ld.global.u64 %d2, [%B];
	atom.exch.b32 %x3, [%d2], 0;
` + write,
		why: "the exchange may set the counter back",
	},
	{
		name: "a slot each in every iteration",
		body: `mov.u32 %x5, 0;
L:	atom.global.add.u32 %x1, [%B], 1;
	mul.wide.u32 %d1, %x1, 4;
	add.u64 %d1, %d1, %A;
	st.global.u32 [%d1], %t;
	add.u32 %x5, %x5, 1;
	setp.lt.u32 %p1, %x5, %n;
	@%p1 bra L;`,
	},
	{
		name: "the slot of the iteration before",
		body: `mov.u32 %x5, 0;
	mov.u32 %x1, 5;
L:
` + write + `	atom.shared.add.u32 %x1, [%s], 1;
	add.u32 %x5, %x5, 1;
	setp.lt.u32 %p1, %x5, %n;
	@%p1 bra L;`,
		why: "in the first iteration all write slot 5",
	},
}

const copyWord = "cp.async.ca.shared.global [%Q], [%P], 4;\n" // each thread its own

// copyTraps are about cp.async (PTX ISA 9.7.9.25.3).
var copyTraps = []trap{
	{
		name: "a copy whose size is in a register",
		body: "setp.eq.u32 %p0, %t, 0;\nsetp.eq.u32 %p1, %t, 1;\nmov.u32 %x1, 16;\n@%p0 cp.async.cg.shared.global [r], [%A], %x1;\n@%p1 st.shared.u32 [r+4], %t;\ncp.async.wait_all;",
		why:  "the copy includes the word that thread 1 writes",
	},
	{
		name: "a copy, and a wait",
		body: copyWord + "cp.async.wait_all;\nld.shared.u32 %x1, [%Q];",
	},
	{
		name: "a copy that is not waited for",
		body: copyWord + "ld.shared.u32 %x1, [%Q];\ncp.async.wait_all;",
		why:  "the copy may write before or after the thread reads",
	},
	{
		name: "a copy of a group, and a wait for it",
		body: copyWord + "cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %x1, [%Q];",
	},
	{
		name: "a copy of no group, and a wait for groups",
		body: copyWord + "cp.async.wait_group 0;\nld.shared.u32 %x1, [%Q];",
		why:  "the copy is of no group, so that nothing waits for it",
	},
	{
		name: "a copy of the last group, and a wait for all but one",
		body: copyWord + "cp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.u32 %x1, [%Q];",
		why:  "the last group is not waited for",
	},
	{
		name: "a wait of some threads",
		body: copyWord + "setp.eq.u32 %p1, %t, 0;\n@%p1 cp.async.wait_all;\nld.shared.u32 %x1, [%Q];",
		why:  "only thread 0 waits",
	},
	{
		name: "a wait of some threads for a group",
		body: copyWord + "cp.async.commit_group;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 cp.async.wait_group 0;\nld.shared.u32 %x1, [%Q];",
		why:  "only thread 0 waits",
	},
	{
		name: "a barrier is no wait",
		body: copyWord + "bar.sync 0;\nld.shared.u32 %x1, [%r];\ncp.async.wait_all;",
		why:  "thread 0 has not waited for its copy when the others read what it writes",
	},
	{
		name: "a wait is no barrier",
		body: copyWord + "cp.async.wait_all;\nld.shared.u32 %x1, [%r];",
		why:  "the others read what the copy of thread 0 writes",
	},
	{
		name: "a wait and a barrier",
		body: copyWord + "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %x1, [%r];",
	},
	{
		name: "two copies to one place",
		body: copyWord + copyWord + "cp.async.wait_all;",
		why:  "either may be the last",
	},
	{
		name: "two copies to one place with a wait between",
		body: copyWord + "cp.async.wait_all;\n" + copyWord + "cp.async.wait_all;",
	},
	{
		name: "a copy in each iteration to one place",
		body: "mov.u32 %x5, 0;\nL:\n" + copyWord + `add.u32 %x5, %x5, 1;
	setp.lt.u32 %p1, %x5, %n;
	@%p1 bra L;
	cp.async.wait_all;`,
		why: "the copies of two iterations are not ordered",
	},
	{
		name: "a copy in each iteration, waited for",
		body: "mov.u32 %x5, 0;\nL:\n" + copyWord + `cp.async.wait_all;
	add.u32 %x5, %x5, 1;
	setp.lt.u32 %p1, %x5, %n;
	@%p1 bra L;`,
	},
	{
		name: "the source is overwritten before the wait",
		body: "setp.eq.u32 %p1, %b, 0;\n@!%p1 bra Z;\n" + copyWord + "st.global.u32 [%P], %t;\ncp.async.wait_all;\nZ:",
		why:  "the copy may read before or after the store",
	},
	{
		name: "what a copy brings is not what was there",
		body: "ld.shared.u32 %x1, [%Q];\n" + copyWord + `cp.async.wait_all;
	ld.shared.u32 %x2, [%Q];
	setp.eq.u32 %p3, %x1, %x2;
	@%p3 bra Z;
	` + once + "Z:",
		why: "the two reads differ where A and r do",
	},
}

const warpSync = "bar.warp.sync 0xffffffff;\n"

// near reads what the lane beside wrote.
const near = "xor.b32 %x1, %o, 4;\nadd.u32 %x1, %x1, %r;\nld.shared.u32 %x2, [%x1];\n"

// warpTraps are about bar.warp.sync (PTX ISA 9.7.13.2).
var warpTraps = []trap{
	{
		name: "a word of the lane beside, behind a barrier of the warp",
		body: "st.shared.u32 [%Q], %t;\n" + warpSync + near,
	},
	{
		name: "a barrier of all lanes by a register",
		body: "mov.b32 %x7, -1;\nst.shared.u32 [%Q], %t;\nbar.warp.sync %x7;\n" + near,
	},
	{
		name: "a barrier of a number of lanes by a register",
		body: "popc.b32 %x7, -1;\nst.shared.u32 [%Q], %t;\nbar.warp.sync %x7;\n" + near,
		why:  "the mask is 32, which names lane 5 alone",
	},
	{
		name: "a barrier of some lanes by a register",
		body: "mov.b32 %x7, -1;\nsetp.gt.u32 %p1, %n, 7;\n@%p1 mov.b32 %x7, 1;\nst.shared.u32 [%Q], %t;\nbar.warp.sync %x7;\n" + near,
		why:  "with n > 7 the mask names lane 0 alone",
	},
	{
		name: "a word of another warp, behind a barrier of the warp",
		body: "st.shared.u32 [%Q], %t;\n" + warpSync + "xor.b32 %x1, %o, 128;\nadd.u32 %x1, %x1, %r;\nld.shared.u32 %x2, [%x1];",
		why:  "lane 0 of warp 0 reads what lane 0 of warp 1 writes",
	},
	{
		name: "a barrier of half a warp",
		body: "st.shared.u32 [%Q], %t;\nsetp.lt.u32 %p1, %t, 16;\n@%p1 bar.warp.sync 0xffff;\n" + near,
		why:  "lanes 16 to 31 wait for nobody",
	},
	{
		name: "a barrier that some lanes of a warp do not come to",
		body: "st.shared.u32 [%Q], %t;\nand.b32 %x3, %t, 1;\nsetp.eq.u32 %p1, %x3, 0;\n@%p1 " + warpSync + near,
		why:  "odd lanes wait for nobody",
	},
	{
		name: "two barriers, one for odd lanes and one for even lanes",
		body: "st.shared.u32 [%Q], %t;\nand.b32 %x3, %t, 1;\nsetp.eq.u32 %p1, %x3, 0;\n@%p1 bra E;\n" + warpSync + "bra.uni J;\nE:\n" + warpSync + "J:\n" + warpSync + near + warpSync + "bar.sync 0;\nst.shared.u32 [%x1], %t;\n@%p1 bra Z;\n" + near + "Z:",
		why:  "behind the last barrier odd lanes read what even lanes write",
	},
	{
		name: "a lane that ends before the barrier",
		body: "st.shared.u32 [%Q], %t;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 exit;\n" + warpSync + near,
		why:  "lane 0 does not come to the barrier, so that it does not order what lane 0 wrote",
	},
	{
		name: "slots by a counter that a lane sets back between barriers of the warp",
		body: `setp.ge.u32 %p5, %t, 32;
	@%p5 bra Z;
	setp.eq.u32 %p1, %t, 0;
	setp.eq.u32 %p2, %t, 1;
	setp.eq.u32 %p4, %t, 2;
	or.pred %p3, %p1, %p2;
	mov.u32 %x1, 0;
	@%p1 atom.shared.add.u32 %x1, [%s], 1;
	` + warpSync + "@%p4 st.shared.u32 [%s], 0;\n" + warpSync + `
	@%p2 atom.shared.add.u32 %x1, [%s], 1;
	mad.lo.u32 %x9, %x1, 4, %r;
	@%p3 st.shared.u32 [%x9], %t;
Z:`,
		why: "lanes 0 and 1 both get 0",
	},
	{
		name: "a warp alone",
		body: "setp.ge.u32 %p1, %t, 32;\n@%p1 bra Z;\nst.shared.u32 [%Q], %t;\n" + warpSync + near + "Z:",
	},
	{
		name: "what the lane beside read, behind a barrier of the warp",
		body: near + warpSync + "st.shared.u32 [%Q], %t;\n",
	},
	{
		name: "a barrier of the warp between reading and writing, none around the loop",
		body: `mov.u32 %x5, 0;
L:
` + near + warpSync + `	st.shared.u32 [%Q], %x5;
	add.u32 %x5, %x5, 1;
	setp.lt.u32 %p1, %x5, %n;
	@%p1 bra L;`,
		why: "lane 0 writes in one iteration what lane 1 reads in the next",
	},
	{
		name: "barriers of the warp around a loop",
		body: `mov.u32 %x5, 0;
L:
` + near + warpSync + "	st.shared.u32 [%Q], %x5;\n" + warpSync + `	add.u32 %x5, %x5, 1;
	setp.lt.u32 %p1, %x5, %n;
	@%p1 bra L;`,
	},
	{
		name: "a word of the warp that its lane 0 changes",
		body: `shr.u32 %x5, %t, 5;
	shl.b32 %x5, %x5, 2;
	add.u32 %x5, %x5, %r;
	ld.shared.u32 %x1, [%x5];
	bar.warp.sync 0xffffffff;
	and.b32 %x3, %t, 31;
	setp.eq.u32 %p1, %x3, 0;
	@%p1 st.shared.u32 [%x5], 77;
	bar.warp.sync 0xffffffff;
	ld.shared.u32 %x2, [%x5];
	setp.eq.u32 %p3, %x1, %x2;
	@%p3 bra Z;
	` + once + "Z:",
		why: "the two reads differ",
	},
	{
		name: "global memory of another block",
		body: "st.global.u32 [%P], %t;\n" + warpSync + "ld.global.u32 %x1, [%P];",
		why:  "two blocks write each word; that they write the same is tolerated within a warp only",
	},
}

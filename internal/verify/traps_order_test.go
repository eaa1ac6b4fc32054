package verify_test

// slot writes r[x1 mod 1024], a word for each slot.
const slot = "and.b32 %x4, %x1, 1023;\nshl.b32 %x4, %x4, 2;\nadd.u32 %x4, %x4, %r;\nst.shared.u32 [%x4], %t;\n"

// half takes a slot: even lanes before what comes between, odd lanes behind it.
const half = `and.b32 %x3, %t, 1;
	setp.eq.u32 %p2, %x3, 0;
	setp.eq.u32 %p1, %t, 0;
	@%p2 atom.shared.add.u32 %x1, [w], 1;
`

// orderTraps are about accesses that are no races themselves, and so end no execution: strong ones (PTX ISA 8.7),
// and those that barriers of the warp order.
var orderTraps = []trap{
	{
		name: "a counter that a volatile store sets back in the same interval",
		body: half + "st.volatile.shared.u32 [w], 0;\n@!%p2 atom.shared.add.u32 %x1, [w], 1;\n" + slot,
		why:  "the store and the additions are morally strong, no race; odd lanes get the slots of even ones",
	},
	{
		name: "a counter that a volatile store sets back in another interval",
		body: "@%p1 st.volatile.shared.u32 [w], 0;\nbar.sync 0;\natom.shared.add.u32 %x1, [w], 1;\nbar.sync 0;\n@%p1 st.volatile.shared.u32 [w], 0;\n" + slot,
	},
	{
		name: "a counter that a volatile store sets back between two intervals",
		body: half + "bar.sync 0;\nst.volatile.shared.u32 [w], 0;\nbar.sync 0;\n@!%p2 atom.shared.add.u32 %x1, [w], 1;\n" + slot,
		why:  "odd lanes get the slots of even ones",
	},
	{
		name: "a counter of the grid that a strong store sets back",
		body: `setp.eq.u32 %p1, %t, 0;
	@!%p1 bra Z;
	atom.global.add.u32 %x1, [%A], 1;
	st.relaxed.gpu.global.u32 [%A], 0;
	mul.wide.u32 %d1, %x1, 4;
	add.s64 %d2, %B, %d1;
	st.global.u32 [%d2], %b;
Z:`,
		why: "the second block may come behind the store of the first, and gets slot 0 too",
	},
	{
		name: "a counter set back between two barriers of the warp",
		body: `setp.ge.u32 %p3, %t, 32;
	@%p3 bra Z;
	` + half + warpSync + "@%p1 st.shared.u32 [w], 0;\n" + warpSync + "@!%p2 atom.shared.add.u32 %x1, [w], 1;\n" + slot + "Z:",
		why: "odd lanes get the slots of even ones",
	},
	{
		name: "a counter set back before a barrier of the warp",
		body: `setp.ge.u32 %p3, %t, 32;
	@%p3 bra Z;
	setp.eq.u32 %p1, %t, 0;
	@%p1 st.shared.u32 [w], 0;
	` + warpSync + "atom.shared.add.u32 %x1, [w], 1;\n" + slot + "Z:",
	},
	{
		name: "a volatile pair of words against a volatile word twice as long",
		body: "setp.eq.u32 %p0, %t, 0;\n@%p0 st.volatile.shared.v2.u32 [r], {%t, %n};\n@!%p0 ld.volatile.shared.u64 %d1, [r];",
		why:  "a vector is accessed by elements (8.2.2), and those overlap the long word in part",
	},
	{
		name: "a volatile pair of words against one of them",
		body: "setp.eq.u32 %p0, %t, 0;\n@%p0 st.volatile.shared.v2.u32 [r], {%t, %n};\n@!%p0 ld.volatile.shared.u32 %x1, [r+4];",
	},
	{
		name: "a volatile pair of words against a pair",
		body: "setp.eq.u32 %p0, %t, 0;\n@%p0 st.volatile.shared.v2.u32 [r], {%t, %n};\n@!%p0 ld.volatile.shared.v2.u32 {%x1, %x2}, [r];",
	},
	{
		name: "a copy that lasts beyond a barrier of the warp",
		body: copyWord + warpSync + near + warpSync + "cp.async.wait_all;",
		why:  "the barrier does not wait for the copy that the lane beside reads",
	},
	{
		name: "a copy that is waited for before a barrier of the warp",
		body: copyWord + "cp.async.wait_all;\n" + warpSync + near,
	},
	{
		name: "shared memory that nobody writes",
		body: `setp.eq.u32 %p1, %t, 0;
	@!%p1 bra Z;
	ld.shared.u32 %x1, [r];
	add.u32 %x1, %x1, %b;
	mul.wide.u32 %d1, %x1, 4;
	add.s64 %d2, %A, %d1;
	st.global.u32 [%d2], %b;
Z:`,
		why: "it is not initialised: 1 in block 0 and 0 in block 1, say",
	},
	{
		name: "global memory that nobody writes",
		body: `setp.eq.u32 %p1, %t, 0;
	@!%p1 bra Z;
	ld.global.u32 %x1, [%B];
	and.b32 %x1, %x1, 7;
	add.u32 %x1, %x1, %b;
	mul.wide.u32 %d1, %x1, 4;
	add.s64 %d2, %A, %d1;
	st.global.u32 [%d2], %b;
Z:`,
	},
}

package lockstep_test

import (
	"testing"

	"heddle/internal/lockstep"
)

// lane puts the lane of a thread in %x10 and the address of its neighbour's element of r, in the
// same warp, in %x12.
const lane = `and.b32 %x10, %t, 31;
	xor.b32 %x11, %t, 1;
	shl.b32 %x11, %x11, 2;
	add.u32 %x12, %r, %x11;
`

// exchanges is a loop in which a thread stores its element, and loads that at %x12, in each of as
// many iterations as bound says, and at least one.
func exchanges(bound string) string {
	return `mov.u32 %x1, 0;
L:	st.shared.u32 [%Q], %x1;
	ld.shared.u32 %x2, [%x12];
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, ` + bound + `;
	@%p1 bra L;`
}

// jointTraps are about lanes in lock step (Barracuda, section 3.3.1): what the active lanes do by
// one instruction comes before what they do by the next; the paths of a branch are not ordered
// before they meet.
var jointTraps = []trap{
	{
		name: "a neighbour's element, written before",
		body: lane + "st.shared.u32 [%Q], %t;\nld.shared.u32 %x1, [%x12];",
	},
	{
		name: "an element of another warp, written before",
		body: "xor.b32 %x1, %o, 128;\nadd.u32 %x1, %r, %x1;\nst.shared.u32 [%Q], %t;\nld.shared.u32 %x2, [%x1];",
		why:  "warps are not in lock step with each other",
	},
	{
		name: "one element, by one instruction",
		body: "st.shared.u32 [%r], %t;",
		why:  "two lanes write other values to one place at once",
	},
	{
		name: "lanes of a block of one warp, in global memory",
		body: "st.global.u32 [%P], %t;\nld.global.u32 %x1, [%A];",
		why:  "blocks are not in lock step with each other",
	},
	{
		name: "one path of a branch writes what the other reads",
		body: lane + `and.b32 %x13, %x10, 1;
	setp.eq.u32 %p1, %x13, 0;
	@%p1 bra E;
	st.shared.u32 [%Q], %t;
	bra Z;
E:	ld.shared.u32 %x1, [%x12];
Z:`,
		why: "the order of the paths of a branch is not known",
	},
	{
		name: "one path of a branch writes what is read where they have met",
		body: lane + `and.b32 %x13, %x10, 1;
	setp.eq.u32 %p1, %x13, 0;
	@%p1 bra Z;
	st.shared.u32 [%Q], %t;
Z:	ld.shared.u32 %x1, [%x12];`,
	},
	{
		name: "one path of a branch reads what was written before it",
		body: lane + `st.shared.u32 [%Q], %t;
	and.b32 %x13, %x10, 1;
	setp.eq.u32 %p1, %x13, 0;
	@%p1 bra Z;
	ld.shared.u32 %x1, [%x12];
Z:`,
	},
	{
		name: "a block that two ways of a branch share before they meet",
		body: lane + `setp.lt.u32 %p1, %x10, 16;
	and.b32 %x13, %x10, 1;
	setp.eq.u32 %p2, %x13, 0;
	@%p1 bra S;
	@%p2 bra Z;
S:	st.shared.u32 [%Q], %t;
	xor.b32 %x14, %o, 64;
	add.u32 %x14, %r, %x14;
	ld.shared.u32 %x1, [%x14];
Z:`,
		why: "lanes below 16 may be there at another time than those above: they part at the first branch and meet behind",
	},
	{
		name: "a loop that lanes go round at their own pace",
		body: lane + exchanges("%x10"),
	},
	{
		name: "a loop that lanes leave by a path of its own, on which they read what others write in it",
		body: lane + `mov.u32 %x1, 0;
L:	st.shared.u32 [%Q], %x1;
	setp.ge.u32 %p1, %x1, %x10;
	@%p1 bra E;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 9;
	@%p1 bra L;
	bra Z;
E:	ld.shared.u32 %x2, [%x12];
Z:`,
		why: "lanes on the way out and those that stay are on two paths of a branch",
	},
	{
		name: "a loop that lanes leave on a path of a branch, where others begin the next iteration",
		body: lane + `mov.u32 %x1, 0;
	and.b32 %x13, %x10, 1;
L:	ld.shared.u32 %x3, [%x12];
	setp.eq.u32 %p2, %x13, %x1;
	@%p2 bra M;
	st.shared.u32 [%Q], %x1;
	setp.gt.u32 %p1, %x1, 1;
	@%p1 bra Z;
M:	add.u32 %x1, %x1, 1;
	bra L;
Z:`,
		why: "the lanes that store and then leave do so on their path, while or after others, which wait for them " +
			"behind the loop only, read in the next iteration",
	},
	{
		name: "a neighbour's element, in each iteration of a loop",
		body: lane + exchanges("%n"),
	},
	{
		name: "an element of another warp, in each iteration of a loop",
		body: "xor.b32 %x12, %o, 128;\nadd.u32 %x12, %r, %x12;\n" + exchanges("%n"),
		why:  "warps are not in lock step with each other",
	},
	{
		name: "lanes that begin the next iteration while others wait in this one",
		body: lane + `mov.u32 %x1, 0;
	and.b32 %x13, %x10, 1;
L:	ld.shared.u32 %x2, [%x12];
	add.u32 %x1, %x1, 1;
	setp.ge.u32 %p1, %x1, 4;
	setp.eq.u32 %p2, %x13, %x1;
	@%p2 bra L;
	st.shared.u32 [%Q], %x1;
	@!%p1 bra L;`,
		why: "odd lanes go back to L at once in the first iteration, and read there what even lanes, which wait " +
			"for them, have yet to store in that iteration",
	},
	{
		name: "the same without a path of its own to the next iteration",
		body: lane + `mov.u32 %x1, 0;
	and.b32 %x13, %x10, 1;
L:	ld.shared.u32 %x2, [%x12];
	add.u32 %x1, %x1, 1;
	setp.ge.u32 %p1, %x1, 4;
	setp.eq.u32 %p2, %x13, %x1;
	@%p2 bra M;
	st.shared.u32 [%Q], %x1;
M:	@!%p1 bra L;`,
	},
	{
		name: "what one path of a branch in a loop writes, and the other one reads",
		body: lane + `mov.u32 %x1, 0;
	and.b32 %x13, %x10, 1;
	setp.eq.u32 %p2, %x13, 0;
L:	@%p2 bra E;
	st.shared.u32 [%Q], %x1;
	bra M;
E:	ld.shared.u32 %x2, [%x12];
M:	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 4;
	@%p1 bra L;`,
		why: "the order of the paths of a branch is not known",
	},
	{
		name: "a merge point that the upper half of the warp does not pass",
		body: lane + `setp.ge.u32 %p2, %x10, 16;
	mov.u32 %x1, 0;
	xor.b32 %x14, %o, 64;
	add.u32 %x14, %r, %x14;
	@%p2 bra E;
L:	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 4;
	@%p1 bra L;
	st.shared.u32 [%Q], %t;
	bra Z;
E:	ld.shared.u32 %x2, [%x14];
Z:`,
		why: "the lanes above 15 read on the other path of a branch",
	},
	{
		name: "a value that a neighbour wrote in the iteration before",
		body: lane + `mov.u32 %x1, 0;
	st.shared.u32 [%Q], %t;
L:	ld.shared.u32 %x2, [%Q];
	shl.b32 %x3, %x2, 2;
	add.u32 %x3, %s, %x3;
	st.shared.u32 [%x3], %t;
	st.shared.u32 [%x12], 64;
	add.u32 %x1, %x1, 1;
	setp.lt.u32 %p1, %x1, 2;
	@%p1 bra L;`,
		why: "in the second iteration all lanes read 64, which the neighbour wrote, and store to one place",
	},
	{
		name: "an index that a neighbour wrote",
		body: lane + `st.shared.u32 [%Q], 0;
	st.shared.u32 [%x12], 64;
	ld.shared.u32 %x1, [%Q];
	add.u32 %x1, %x1, %s;
	st.shared.u32 [%x1], %t;`,
		why: "all lanes read 64, which the neighbour wrote, and not what they wrote themselves",
	},
	{
		name: "slots by a counter that a lane sets back in between",
		body: `setp.ge.u32 %p5, %t, 32;
	@%p5 bra Z;
	setp.eq.u32 %p1, %t, 0;
	setp.eq.u32 %p2, %t, 1;
	or.pred %p3, %p1, %p2;
	mov.u32 %x1, 0;
	@%p1 atom.shared.add.u32 %x1, [%s], 1;
	@%p1 st.shared.u32 [%s], 0;
	@%p2 atom.shared.add.u32 %x1, [%s], 1;
	mad.lo.u32 %x9, %x1, 4, %r;
	@%p3 st.shared.u32 [%x9], %t;
Z:`,
		why: "both lanes get 0",
	},
}

// TestJointTraps is TestTraps with warps in lock step.
func TestJointTraps(t *testing.T) { testTraps(t, jointTraps, lockstep.Options{Lockstep: true}) }

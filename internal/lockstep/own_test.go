package lockstep_test

import (
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/verify"
)

// byX1 stores to the element of s that %x1 says: a race unless it differs between threads.
const byX1 = "shl.b32 %x1, %x1, 2;\nadd.u32 %x1, %s, %x1;\nst.shared.u32 [%x1], %t;\n"

// local has the generic address of a local variable in %d5.
const local = "{\n.local .align 4 .b8 l[8];\nmov.u64 %d5, l;\ncvta.local.u64 %d5, %d5;\n"

// ownTraps are about what a thread reads back of its own writes (PTX ISA 8.9.4: a read observes the
// last write in program order, or one that is not ordered before it).
var ownTraps = []trap{
	{
		name: "an index that was stored and is read back",
		body: "st.shared.u32 [%Q], %t;\nld.shared.u32 %x1, [%Q];\n" + byX1,
	},
	{
		name: "an argument that a loop overwrites",
		body: ".param .b32 q0;\nst.param.b32 [q0], %t;\nmov.u32 %x2, 0;\nL:	ld.param.b32 %x1, [q0];\nst.param.b32 [q0], 0;\nadd.u32 %x2, %x2, 1;\nsetp.lt.u32 %p1, %x2, 3;\n@%p1 bra L;\n" + byX1,
		why:  "in the second iteration all threads read 0",
	},
	{
		name: "an argument beside one that a loop overwrites",
		body: ".param .b32 q0;\n.param .b32 q1;\nst.param.b32 [q0], %t;\nmov.u32 %x2, 0;\nL:	ld.param.b32 %x1, [q0];\nst.param.b32 [q1], 0;\nadd.u32 %x2, %x2, 1;\nsetp.lt.u32 %p1, %x2, 3;\n@%p1 bra L;\n" + byX1,
	},
	{
		name: "an index that was overwritten in between",
		body: "st.shared.u32 [%Q], %t;\nst.shared.u32 [%Q], 0;\nld.shared.u32 %x1, [%Q];\n" + byX1,
		why:  "all threads read 0",
	},
	{
		name: "an index of which a byte was overwritten in between",
		body: "st.shared.u32 [%Q], %t;\nst.shared.u8 [%Q], 0;\nld.shared.u32 %x1, [%Q];\n" + byX1,
		why:  "all threads read 0",
	},
	{
		name: "an index beside which a byte was written in between",
		body: "shl.b32 %x5, %t, 3;\nadd.u32 %x5, %r, %x5;\nst.shared.u32 [%x5], %t;\nst.shared.u8 [%x5+4], 0;\nld.shared.u32 %x1, [%x5];\n" + byX1,
	},
	{
		name: "an index that was perhaps overwritten in between",
		body: "st.shared.u32 [%Q], %t;\nsetp.gt.u32 %p1, %n, 3;\n@%p1 st.shared.u32 [%Q], 0;\nld.shared.u32 %x1, [%Q];\n" + byX1,
		why:  "with n > 3 all threads read 0",
	},
	{
		name: "an index that was perhaps overwritten, on one way",
		body: "st.shared.u32 [%Q], %t;\nsetp.gt.u32 %p1, %n, 3;\n@%p1 bra M;\nst.shared.u32 [%Q], 0;\nM:	ld.shared.u32 %x1, [%Q];\n" + byX1,
		why:  "with n <= 3 all threads read 0",
	},
	{
		name: "an index that was stored on both ways",
		body: "setp.gt.u32 %p1, %n, 3;\n@%p1 bra E;\nst.shared.u32 [%Q], %t;\nbra M;\nE:	add.u32 %x4, %t, 7;\nst.shared.u32 [%Q], %x4;\nM:	ld.shared.u32 %x1, [%Q];\n" + byX1,
	},
	{
		name: "an index that was stored only perhaps",
		body: "setp.gt.u32 %p1, %n, 3;\n@%p1 st.shared.u32 [%Q], %t;\nld.shared.u32 %x1, [%Q];\n" + byX1,
		why:  "with n <= 3 threads read what was there before",
	},
	{
		name: "an index that an atomic changed in between",
		body: "st.shared.u32 [%Q], %t;\nred.shared.and.b32 [%Q], 0;\nld.shared.u32 %x1, [%Q];\n" + byX1,
		why:  "all threads read 0",
	},
	{
		name: "an index that another thread changed behind a barrier",
		body: "st.shared.u32 [%Q], %t;\nbar.sync 0;\nxor.b32 %x5, %o, 4;\nadd.u32 %x5, %x5, %r;\nst.shared.u32 [%x5], 0;\nbar.sync 0;\nld.shared.u32 %x1, [%Q];\n" + byX1,
		why:  "all threads read 0",
	},
	{
		name: "an index that the lane beside changed between barriers of the warp",
		body: "st.shared.u32 [%Q], %t;\n" + warpSync + "xor.b32 %x5, %o, 4;\nadd.u32 %x5, %x5, %r;\nst.shared.u32 [%x5], 0;\n" + warpSync + "ld.shared.u32 %x1, [%Q];\n" + byX1,
		why:  "all threads read 0",
	},
	{
		name: "an index that the lane beside changes at a barrier of the warp that it has to itself",
		body: "st.shared.u32 [%Q], %t;\n" + warpSync + "setp.eq.u32 %p1, %t, 1;\n@%p1 st.shared.u32 [%r], 1;\n" + warpSync + "ld.shared.u32 %x1, [%Q];\n" + byX1,
		why:  "threads 0 and 1 read 1",
	},
	{
		name: "an index that an iteration before overwrote",
		body: `st.shared.u32 [%Q], %t;
	mov.u32 %x2, 0;
L:	ld.shared.u32 %x1, [%Q];
	` + byX1 + `
	st.shared.u32 [%Q], 0;
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p1, %x2, %n;
	@%p1 bra L;`,
		why: "in the second iteration all threads read 0",
	},
	{
		name: "an index that a loop overwrote",
		body: `st.shared.u32 [%Q], %t;
	mov.u32 %x2, 0;
L:	st.shared.u32 [%Q], %x2;
	add.u32 %x2, %x2, 1;
	setp.lt.u32 %p1, %x2, %n;
	@%p1 bra L;
	ld.shared.u32 %x1, [%Q];
	` + byX1,
		why: "all threads read the last iteration",
	},
	{
		name: "a local variable that was overwritten by its local address",
		body: local + "st.volatile.u32 [%d5], %t;\nst.local.u32 [l], 0;\nld.volatile.u32 %x1, [%d5];\n" + byX1 + "}\n",
		why:  "all threads read 0",
	},
	{
		name: "a local variable that was perhaps overwritten by a pointer from memory",
		body: local + "st.u32 [%d5], %t;\nld.global.u64 %d6, [%B];\nst.u32 [%d6], 0;\nld.u32 %x1, [%d5];\n" + byX1 + "}\n",
		why:  "the pointer may lead there, and all threads may read 0",
	},
	{
		name: "a word that others write by strong stores",
		body: "st.relaxed.gpu.global.u32 [%A], %t;\nld.relaxed.gpu.global.u32 %x1, [%A];\n" + byX1,
		why:  "all threads may read the same",
	},
}

// TestOwnTraps is TestTraps for what threads read back.
func TestOwnTraps(t *testing.T) { testTraps(t, ownTraps, lockstep.Options{}) }

var small = event.Geometry{Grid: event.Dim3{X: 2, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}

// testTraps demands that none of the wrong kernels is verified, and all of the right ones are.
func testTraps(t *testing.T, list []trap, opt lockstep.Options) {
	opt.Geometry = small
	for _, tr := range list {
		t.Run(tr.name, func(t *testing.T) {
			th, err := lockstep.Build(t.Context(), tr.build(t), opt)
			if err != nil {
				t.Fatal(err)
			}
			solve := verify.Options{Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}}
			opt := opt
			if opt.Merges = verify.Merges(t.Context(), th, solve).Blocks; len(opt.Merges) > 0 {
				if th, err = lockstep.Build(t.Context(), tr.build(t), opt); err != nil {
					t.Fatal(err)
				}
			}
			r := verify.Kernel(t.Context(), th, solve)
			if want := tr.why == ""; r.Verified() != want {
				t.Errorf("verified: %v. %s", r.Verified(), tr.why)
			}
			for i := range r.Findings {
				t.Log(r.Findings[i].String())
			}
		})
	}
}

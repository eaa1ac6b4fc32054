package verify_test

import (
	"slices"
	"testing"
	"time"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/verify"
)

// byX1 stores to the element of s that %x1 says: a race unless it differs between threads.
const byX1 = "shl.b32 %x1, %x1, 2;\nadd.u32 %x1, %s, %x1;\nst.shared.u32 [%x1], %t;\n"

// ownTraps are about what a thread reads back of its own writes (PTX ISA 8.9.4: a read observes the last write in program order,
// or one that is not ordered before it).
var ownTraps = []trap{
	{
		name: "an index that was stored and is read back",
		body: "st.shared.u32 [%Q], %t;\nld.shared.u32 %x1, [%Q];\n" + byX1,
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
		name: "a word that others write by strong stores",
		body: "st.relaxed.gpu.global.u32 [%A], %t;\nld.relaxed.gpu.global.u32 %x1, [%A];\n" + byX1,
		why:  "all threads may read the same",
	},
}

// TestOwnTraps is TestTraps for what threads read back.
func TestOwnTraps(t *testing.T) { testTraps(t, ownTraps, lockstep.Options{}) }

const external = ".extern .func (.param .b32 out) ext(.param .b32 in);\n"

// callExt calls it with the thread's number, and has the result in %x1.
const callExt = `{
	.param .b32 a;
	.param .b32 b;
	st.param.b32 [a], %t;
	call (b), ext, (a);
	ld.param.b32 %x1, [b];
	}
`

// harmlessTraps are about functions without a body that are taken to matter to no other thread.
var harmlessTraps = []trap{
	{name: "the result goes nowhere", module: external, body: callExt + "st.shared.u32 [%Q], %t;"},
	{name: "the result is stored", module: external, body: callExt + "st.shared.u32 [%Q], %x1;"},
	{name: "the result is an index", module: external, body: callExt + byX1, why: "the function may return the same to two threads"},
	{
		name: "the result decides about a barrier", module: external,
		body: callExt + "setp.eq.u32 %p1, %x1, 0;\n@%p1 bra Z;\nbar.sync 0;\nZ:",
		why:  "the function may return different things to two threads of a block",
	},
	{
		name: "two results for one argument", module: external,
		body: callExt + "mov.u32 %x3, %x1;\n" + callExt + "setp.eq.u32 %p1, %x1, %x3;\n@%p1 bra Z;\nst.shared.u32 [%r], %t;\nZ:",
		why:  "the function may return something else the second time",
	},
	{
		name: "a race beside the call", module: external,
		body: callExt + "st.shared.u32 [%r], %t;",
		why:  "all threads write one word",
	},
}

// TestHarmlessCalls: what is assumed of functions without a body is that, and nothing of what they return; without the
// assumption there is no proof.
func TestHarmlessCalls(t *testing.T) {
	testTraps(t, harmlessTraps, lockstep.Options{Harmless: true})
	if _, err := lockstep.Build(t.Context(), harmlessTraps[0].build(t), lockstep.Options{Geometry: small}); err == nil {
		t.Error("a call of which nothing is known is accepted")
	}
}

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
			r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{Time: 20 * time.Second}}})
			if want := tr.why == ""; r.Verified() != want {
				t.Errorf("verified: %v. %s", r.Verified(), tr.why)
			}
			for i := range r.Findings {
				t.Log(r.Findings[i].String())
			}
			if called := slices.Contains(th.Harmless, "ext"); called != opt.Harmless {
				t.Errorf("functions that are trusted: %v", th.Harmless)
			}
		})
	}
}

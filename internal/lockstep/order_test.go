package lockstep_test

import (
	"fmt"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// slot writes r[x1 mod 1024], a word for each slot.
const slot = "and.b32 %x4, %x1, 1023;\nshl.b32 %x4, %x4, 2;\nadd.u32 %x4, %x4, %r;\nst.shared.u32 [%x4], %t;\n"

// half takes a slot: even lanes before what comes between, odd lanes behind it.
const half = `and.b32 %x3, %t, 1;
	setp.eq.u32 %p2, %x3, 0;
	setp.eq.u32 %p1, %t, 0;
	@%p2 atom.shared.add.u32 %x1, [w], 1;
`

// orderTraps are about accesses that are no races themselves, and so end no execution: strong ones
// (PTX ISA 8.7), and those that barriers of the warp order.
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
		// A store of a constant may raise a flag, so that it needs no order (verify.Result.Apart).
		name: "a volatile pair of words against one of them",
		body: "setp.eq.u32 %p0, %t, 0;\nmov.u32 %x2, 7;\n@%p0 st.volatile.shared.v2.u32 [r], {%x2, %x2};\n@!%p0 ld.volatile.shared.u32 %x1, [r+4];",
	},
	{
		name: "a volatile pair of words against a pair",
		body: "setp.eq.u32 %p0, %t, 0;\nmov.u32 %x2, 7;\n@%p0 st.volatile.shared.v2.u32 [r], {%x2, %x2};\n@!%p0 ld.volatile.shared.v2.u32 {%x1, %x2}, [r];",
	},
	{
		name: "a volatile word that another thread reads",
		body: "setp.eq.u32 %p0, %t, 0;\n@%p0 st.volatile.shared.u32 [r], %n;\n@!%p0 ld.volatile.shared.u32 %x1, [r];",
		why:  "no barrier orders the two, so the load may return the old value",
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

// guesses are kernels in PTX that does not say which parameters are pointers: thread 0 writes at
// one address, and the others read at another.
var guesses = []struct{ name, params, body, why string }{
	{"two indices of a pointer parameter that come first in sums", ".param .u64 i, .param .u64 j, .param .u64 p", `ld.param.u64 %i, [i];
	ld.param.u64 %j, [j];
	ld.param.u64 %p, [p];
	add.s64 %a, %i, %p;
	add.s64 %b, %j, %p;`, "i may be j"},
	{"two indices of a pointer from memory", ".param .u64 i, .param .u64 j", `ld.param.u64 %i, [i];
	ld.param.u64 %j, [j];
	ld.global.u64 %p, [q];
	add.s64 %a, %p, %i;
	add.s64 %b, %p, %j;`, "i may be j"},
	{"the same, aligned", ".param .u64 i, .param .u64 j", `ld.param.u64 %i, [i];
	ld.param.u64 %j, [j];
	ld.global.u64 %p, [q];
	and.b64 %p, %p, -16;
	add.s64 %a, %p, %i;
	add.s64 %b, %p, %j;`, "i may be j"},
	{"fields of a struct", ".param .align 8 .b8 s[24]", `ld.param.u64 %i, [s];
	ld.param.u64 %j, [s+8];
	ld.param.u64 %p, [s+16];
	add.s64 %a, %i, %p;
	add.s64 %b, %j, %p;`, "i may be j"},
	{"two pointers and an index that is computed", ".param .u64 i, .param .u64 j", `ld.param.u64 %i, [i];
	ld.param.u64 %j, [j];
	mul.wide.u32 %p, %t, 4;
	add.s64 %a, %i, %p;
	add.s64 %b, %j, %p;`, ""},
	{"two pointers and an index from memory", ".param .u64 i, .param .u64 j", `ld.param.u64 %i, [i];
	ld.param.u64 %j, [j];
	ld.global.u32 %t, [q];
	mul.wide.u32 %p, %t, 4;
	add.s64 %a, %i, %p;
	add.s64 %b, %j, %p;`, ""},
}

// TestGuessedPointers: of a sum of two numbers that may each be the pointer, neither is taken to be
// one.
func TestGuessedPointers(t *testing.T) {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	g := event.Geometry{Grid: one, Block: event.Dim3{X: 32, Y: 1, Z: 1}, Cluster: one}
	for _, tr := range guesses {
		t.Run(tr.name, func(t *testing.T) {
			k := kernels.PTX(t, fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .global .align 8 .u64 q;
.visible .entry k(%s)
{
	.reg .b32 %%t, %%x;
	.reg .b64 %%i, %%j, %%p, %%a, %%b;
	.reg .pred %%f;
	mov.u32 %%t, %%tid.x;
	setp.eq.u32 %%f, %%t, 0;
	%s
	@%%f st.global.u32 [%%a], 1;
	@!%%f ld.global.u32 %%x, [%%b];
	ret;
}
`, tr.params, tr.body)).Funcs[0]
			th, err := lockstep.Build(t.Context(), k, lockstep.Options{Geometry: g})
			if err != nil {
				t.Fatal(err)
			}
			r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}})
			if want := tr.why == ""; r.Verified() != want {
				t.Errorf("verified: %v. %s", r.Verified(), tr.why)
			}
		})
	}
}

package verify_test

import (
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// protocolHead declares what the kernels of TestProtocols use: %t is the thread, %b the block, %m
// the number of blocks, and %p0 is true for thread 0.
const protocolHead = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 count;
.global .align 4 .u32 data;
.global .align 4 .b8 flags[64];
.global .align 4 .b8 part[64];
.visible .entry k(.param .u64 mem, .param .u32 n)
{
	.reg .b32 %t, %b, %n, %m, %r, %x, %y;
	.reg .b64 %a, %d, %f, %g;
	.reg .pred %p0, %q;
	.shared .align 8 .b8 first[8];
	.shared .align 8 .b8 shared[8];
	ld.param.u64 %g, [mem];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mov.u32 %m, %nctaid.x;
	mul.wide.u32 %a, %b, 4;
	mov.u64 %d, part;
	add.s64 %d, %d, %a;
	mov.u64 %f, flags;
	add.s64 %f, %f, %a;
	setp.eq.u32 %p0, %t, 0;
`

// lastArriver is a kernel whose last block reads the parts of all. %s is done by thread 0 behind
// its answer to the others.
func lastArriver(more string) string {
	return `	@!%p0 bra L;
	st.global.u32 [%d], %t;
	membar.gl;
	atom.global.add.u32 %r, [count], 1;
	membar.gl;
	sub.u32 %x, %m, 1;
	setp.eq.u32 %q, %r, %x;
	selp.u32 %y, 1, 0, %q;
	st.shared.u32 [shared], %y;
` + more + `L:
	bar.sync 0;
	ld.shared.u32 %y, [shared];
	setp.eq.u32 %q, %y, 0;
	@%q bra E;
	setp.ge.u32 %q, %t, %m;
	@%q bra E;
	mul.wide.u32 %a, %t, 4;
	mov.u64 %d, part;
	add.s64 %d, %d, %a;
	ld.global.u32 %y, [%d];
E:
	ret;
}
`
}

// gridBarrier is a barrier of the grid, with labels that end in number: release comes before the
// addition, and acquire behind the wait for goal times the number of blocks.
func gridBarrier(number, release, goal, acquire string) string {
	return strings.ReplaceAll(`	bar.sync 0;
	@!%p0 bra D#;
	`+release+`
	atom.global.add.u32 %r, [count], 1;
	mul.lo.u32 %x, %m, `+goal+`;
A#:
	ld.volatile.global.u32 %r, [count];
	setp.lt.u32 %q, %r, %x;
	@%q bra A#;
	`+acquire+`
D#:
	bar.sync 0;
`, "#", number)
}

const (
	weakFence = "fence.acq_rel.gpu;"
	// a thread stores to the word of its block, or reads that of block 0
	storesOwn  = "	@%p0 st.global.u32 [%d], %t;\n"
	readsFirst = "	ld.global.u32 %y, [part];\n"
)

// tickets is a kernel in which a thread of block 0 adds to data before a barrier of the grid, and
// one of block 1 adds behind it and behind reset. Both store to an element of part behind the
// barrier.
func tickets(reset string) string {
	return `	@!%p0 bra S;
	setp.ne.u32 %q, %b, 0;
	@%q bra S;
	atom.global.add.u32 %y, [data], 1;
S:
` + gridBarrier("1", weakFence, "1", weakFence) + `	@!%p0 bra E;
	setp.eq.u32 %q, %b, 0;
	@%q bra Z;
	setp.ne.u32 %q, %b, 1;
	@%q bra E;
` + reset + `	atom.global.add.u32 %y, [data], 1;
Z:
	mul.wide.u32 %a, %y, 4;
	mov.u64 %d, part;
	add.s64 %d, %d, %a;
	st.global.u32 [%d], %b;
E:
	ret;
}
`
}

// besideCounter has a barrier of the grid by a counter, beside which its leaders add something to
// another word of the array, or do something else with it.
func besideCounter(what string) string {
	if !strings.Contains(what, "[") {
		what = "atom.global.add.u32 %r, [flags+4], " + what
	}
	return storesOwn + strings.NewReplacer("atom.global.add.u32 %r, [count], 1;",
		"atom.global.add.u32 %r, [flags], 1;\n	"+what+";",
		"ld.volatile.global.u32 %r, [count]", "ld.volatile.global.u32 %r, [flags]").
		Replace(gridBarrier("1", weakFence, "1", weakFence)) + readsFirst + "	ret;\n}\n"
}

// whileLoop repeats code three times as inLoop does, and tests for the end at the start.
func whileLoop(before, body string) string {
	return "	mov.u32 %n, 1;\nL:\n" + before + "	setp.gt.u32 %q, %n, 3;\n	@%q bra X;\n" + body +
		"	add.u32 %n, %n, 1;\n	bra L;\nX:\n"
}

// blockFlag is a kernel in which block 0 sets a flag behind its data and more code, and others
// wait.
func blockFlag(more string) string {
	return `	@!%p0 bra E;
	setp.ne.u32 %q, %b, 0;
	@%q bra W;
	st.global.u32 [data], 1;
` + more + `	fence.acq_rel.gpu;
	st.relaxed.gpu.global.u32 [count], 1;
	bra E;
W:
	ld.relaxed.gpu.global.u32 %r, [count];
	setp.eq.u32 %q, %r, 0;
	@%q bra W;
	fence.acq_rel.gpu;
	ld.global.u32 %r, [data];
E:
	ret;
}
`
}

// fourByFour is four blocks of four threads.
var fourByFour = event.Geometry{Grid: event.Dim3{X: 4, Y: 1, Z: 1},
	Block: event.Dim3{X: 4, Y: 1, Z: 1}, Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}

// inLoop repeats code three times, with the number of the iteration in %n, from 1 on.
func inLoop(body string) string {
	return "	mov.u32 %n, 1;\nL:\n" + body +
		"	add.u32 %n, %n, 1;\n	setp.le.u32 %q, %n, 3;\n	@%q bra L;\n	ret;\n}\n"
}

// TestProtocols: synchronization through memory in kernels of PTX, right and wrong.
func TestProtocols(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		proved bool
	}{
		"the last block reads the parts": {lastArriver(""), true},
		// the address may be that of the answer, so that every block reads
		"an answer that may be replaced": {lastArriver("	st.shared.u32 [%n], 1;\n"), false},
		"an answer that is replaced":     {lastArriver("	st.shared.u32 [shared], 1;\n"), false},
		// every block reads; what the last one stores goes to another place
		"an answer and a store to address 0": {lastArriver(
			"	st.shared.u32 [shared], 1;\n	mov.u32 %x, 0;\n	st.shared.u32 [%x], %y;\n"), false},
		// the answer is half of what is read
		"an answer of two words": {strings.NewReplacer("st.shared.u32 [shared], %y",
			"st.shared.v2.u32 [shared], {%y, %m}", "ld.shared.u32 %y, [shared]",
			"ld.shared.u64 %a, [shared]", "setp.eq.u32 %q, %y, 0", "setp.eq.u64 %q, %a, 0").
			Replace(lastArriver("")), false},
		"a barrier of the grid": {storesOwn + gridBarrier("1", weakFence, "1", weakFence) +
			readsFirst + "	ret;\n}\n", true},
		"one that waits for half of the blocks": {storesOwn +
			strings.Replace(gridBarrier("1", weakFence, "1", weakFence), "mul.lo.u32 %x, %m, 1",
				"shr.u32 %x, %m, 1", 1) + readsFirst + "	ret;\n}\n", false},
		"one without a release": {storesOwn + gridBarrier("1", "", "1", weakFence) +
			readsFirst + "	ret;\n}\n", false},
		"one without an acquire": {storesOwn + gridBarrier("1", weakFence, "1", "") +
			readsFirst + "	ret;\n}\n", false},
		"a store behind it": {gridBarrier("1", weakFence, "1", weakFence) + storesOwn +
			readsFirst + "	ret;\n}\n", false},
		"two in each iteration": {inLoop(storesOwn +
			"	shl.b32 %x, %n, 1;\n	sub.u32 %y, %x, 1;\n	mov.u32 %b, %x;\n" +
			gridBarrier("1", weakFence, "%y", weakFence) + "	ld.global.u32 %t, [part];\n" +
			gridBarrier("2", weakFence, "%b", weakFence)), true},
		// the load of the second barrier comes behind the first
		"two of which the first waits for nothing": {inLoop(storesOwn +
			"	shl.b32 %b, %n, 1;\n" +
			gridBarrier("1", weakFence, "0", weakFence) + "	ld.global.u32 %t, [part];\n" +
			gridBarrier("2", weakFence, "%b", weakFence)), false},
		"one in each iteration, and a read before it": {inLoop(readsFirst + storesOwn +
			gridBarrier("1", weakFence, "%n", weakFence)), false},
		// others store while the leader adds
		"a store beside the addition": {strings.Replace(gridBarrier("1", weakFence, "1", weakFence),
			"	@!%p0 bra D1;\n", "	setp.eq.u32 %q, %t, 1;\n	@%q st.global.u32 [%d], %t;\n	@!%p0 bra D1;\n", 1) +
			readsFirst + "	ret;\n}\n", false},
		// what is counted there says nothing about the other blocks
		"one that waits at another word": {storesOwn + strings.NewReplacer(
			"atom.global.add.u32 %r, [count], 1;",
			"atom.global.add.u32 %r, [flags], 1;\n	atom.global.add.u32 %r, [flags+4], 4;",
			"ld.volatile.global.u32 %r, [count]", "ld.volatile.global.u32 %r, [flags+4]").
			Replace(gridBarrier("1", weakFence, "1", weakFence)) + readsFirst + "	ret;\n}\n", false},
		// the other word is no part of the counter
		"an addition to another word": {besideCounter("4"), true},
		// the counter goes back to 0 while others may wait for it
		"a counter that is reset": {storesOwn + gridBarrier("1", weakFence, "1", weakFence) +
			readsFirst + "	atom.global.exch.b32 %r, [count], 0;\n	ret;\n}\n", false},
		// two additions to data have different results, whatever is in between
		"tickets on both sides of it": {tickets(""), true},
		// between them data is 0 again, so that both threads store to part
		"tickets on both sides of it, and a reset": {tickets("	st.global.u32 [data], 0;\n"), false},
		"one in each iteration, and a store before the loop": {storesOwn +
			inLoop(gridBarrier("1", weakFence, "%n", weakFence)+readsFirst), true},
		// each iteration that stores has passed the barrier
		"one in each iteration, and a read behind the loop": {whileLoop("", storesOwn+
			gridBarrier("1", weakFence, "%n", weakFence)) + readsFirst + "	ret;\n}\n", true},
		// the loop is left behind a store and in front of the barrier
		"one in each iteration but the last, and a read behind the loop": {whileLoop(storesOwn,
			gridBarrier("1", weakFence, "%n", weakFence)) + readsFirst + "	ret;\n}\n", false},
		"a flag": {blockFlag(""), true},
		// no flag is in shared memory
		"a flag, and a store to an unknown address of shared memory": {blockFlag(
			"	st.shared.u32 [%n], 1;\n"), true},
		// that store may set the flag
		"a flag, and a strong store to an unknown address": {blockFlag(
			"	cvt.u64.u32 %a, %n;\n	st.relaxed.gpu.global.u32 [%a], 1;\n"), false},
		// shared memory holds anything at the start
		"a flag in shared memory": {`	setp.ne.u32 %q, %t, 0;
	@%q bra W;
	st.global.u32 [%d], 1;
	membar.gl;
	st.volatile.shared.u32 [shared], 1;
	bra E;
W:
	ld.volatile.shared.u32 %r, [shared];
	setp.eq.u32 %q, %r, 0;
	@%q bra W;
	membar.gl;
	ld.global.u32 %r, [%d];
E:
	ret;
}
`, false},
		// of which not even the array is known
		"a flag at an address from memory": {`	ld.global.u64 %g, [%g];
	setp.ne.u32 %q, %b, 0;
	@%q bra W;
	st.global.u32 [data], 1;
	membar.gl;
	st.volatile.global.u32 [%g], 1;
	bra E;
W:
	ld.volatile.global.u32 %r, [%g];
	setp.eq.u32 %q, %r, 0;
	@%q bra W;
	membar.gl;
	ld.global.u32 %r, [data];
E:
	ret;
}
`, false},
		// the thread that waits sets it
		"a flag that a waiting exchange sets": {`	@!%p0 bra E;
	setp.ne.u32 %q, %b, 0;
	@%q bra W;
	st.global.u32 [data], 1;
	fence.acq_rel.gpu;
	st.relaxed.gpu.global.u32 [count], 1;
	bra E;
W:
	atom.relaxed.gpu.global.exch.b32 %r, [count], 1;
	setp.eq.u32 %q, %r, 0;
	@%q bra W;
	fence.acq_rel.gpu;
	ld.global.u32 %r, [data];
E:
	ret;
}
`, false},
		// which flag the leader waits for is the result of a loop: that it ends says which
		"a leader that counts up to its flag": {`	setp.eq.u32 %q, %b, 0;
	@%q bra P;
	@!%p0 bra B;
	mov.u32 %x, 0;
C:
	add.u32 %x, %x, 1;
	setp.lt.u32 %q, %x, %b;
	@%q bra C;
	sub.u32 %x, %x, 1;
	mul.wide.u32 %a, %x, 4;
	mov.u64 %g, flags;
	add.s64 %g, %g, %a;
W:
	ld.acquire.gpu.global.u32 %r, [%g];
	setp.eq.u32 %q, %r, 0;
	@%q bra W;
B:
	bar.sync 0;
	sub.u32 %x, %b, 1;
	mul.wide.u32 %a, %x, 4;
	mov.u64 %g, part;
	add.s64 %g, %g, %a;
	ld.global.u32 %r, [%g];
P:
	@!%p0 bra E;
	st.global.u32 [%d], 1;
	st.release.gpu.global.u32 [%f], 1;
E:
	ret;
}
`, true},
	} {
		t.Run(name, func(t *testing.T) {
			proved := false // by one of the two kinds of proof
			for _, adversarial := range []bool{false, true} {
				th, err := lockstep.Build(t.Context(), kernels.PTX(t, protocolHead+c.body).Kernel("k"),
					lockstep.Options{Geometry: fourByFour,
						Adversarial: adversarial})
				if err != nil {
					t.Fatal(err)
				}
				r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{}}})
				proved = proved || r.Verified()
			}
			if proved != c.proved {
				t.Errorf("verified: %v", proved)
			}
		})
	}
}

// TestLeftOver: a counter that an earlier launch of the kernel has left as it is starts at 0 only
// if the kernel may set its array to 0. Adding a constant may, if that takes something away.
func TestLeftOver(t *testing.T) {
	for what, want := range map[string]bool{"4": false, "-4": true, "0": false, "%n": true,
		"atom.global.exch.b32 %r, [flags+4], 0":   true,
		"atom.global.exch.b32 %r, [flags+4], 5":   false,
		"atom.global.cas.b32 %r, [flags+4], 5, 4": true, // heddle does not look at what it swaps
	} {
		th, err := lockstep.Build(t.Context(),
			kernels.PTX(t, protocolHead+besideCounter(what)).Kernel("k"),
			lockstep.Options{Geometry: fourByFour,
				Adversarial: true})
		if err != nil {
			t.Fatal(err)
		}
		const why = "an earlier launch"
		r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{}},
			NotZero: func(*thread.Object) (string, bool) { return why, true }})
		if r.Verified() != want || slices.Contains(r.NotZero, why) == want {
			t.Errorf("with %s added: verified %v, not zero: %v", what, r.Verified(), r.NotZero)
		}
	}
}

// TestWeakerOperations: what a protocol needs of its operations. Without it they order nothing, so
// that the data races, and not only the flag or the counter.
func TestWeakerOperations(t *testing.T) {
	flag := func(store string) string {
		return strings.Replace(blockFlag(""), "st.relaxed.gpu.global.u32 [count], 1", store, 1)
	}
	for name, c := range map[string]struct {
		body  string
		races bool
	}{
		"a flag": {blockFlag(""), false},
		// not morally strong (PTX ISA 8.3.2), so it does not synchronize
		"a flag by a weak store": {flag("st.global.u32 [count], 1"), true},
		// the accesses must be of the same size, or they do not overlap completely (8.3.2)
		"a flag by a store of half of its word": {flag("st.relaxed.gpu.global.u16 [count], 1"), true},
		"a flag by a store of the block":        {flag("st.relaxed.cta.global.u32 [count], 1"), true},
		"the last block":                        {lastArriver(""), false},
		// a barrier in front of the addition tells the other threads nothing of it
		"the last block, and no barrier behind the addition": {"	bar.sync 0;\n" +
			strings.Replace(lastArriver(""), "L:\n	bar.sync 0;\n", "L:\n", 1), true},
		"the last block by an addition of the block": {strings.Replace(lastArriver(""),
			"atom.global.add.u32", "atom.relaxed.cta.global.add.u32", 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			races := true // unless one of the two kinds of proof excludes it
			for _, adversarial := range []bool{false, true} {
				th, err := lockstep.Build(t.Context(), kernels.PTX(t, protocolHead+c.body).Kernel("k"),
					lockstep.Options{Geometry: fourByFour, Adversarial: adversarial})
				if err != nil {
					t.Fatal(err)
				}
				r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{}}})
				races = races && slices.ContainsFunc(r.Findings, func(f verify.Finding) bool {
					return f.Object != nil && (f.Object.Name == "data" || f.Object.Name == "part")
				})
			}
			if races != c.races {
				t.Errorf("the data races: %v", races)
			}
		})
	}
}

// TestCountersDoNotWrap: that a counter does not wrap around is assumed only if a pair of accesses
// needs it. How often the loop adds is unknown.
func TestCountersDoNotWrap(t *testing.T) {
	body := `	mov.u32 %x, 0;
L:
	atom.global.add.u32 %r, [count], 1;
	add.u32 %x, %x, 1;
	setp.lt.u32 %q, %x, %n;
	@%q bra L;
`
	for what, want := range map[string]bool{
		"	@%p0 st.global.u32 [%d], %t;\n": false, // the word of a block
		"	mul.wide.u32 %a, %r, 4;\n	mov.u64 %d, part;\n	add.s64 %d, %d, %a;\n	@%p0 st.global.u32 [%d], %t;\n": true,
	} {
		th, err := lockstep.Build(t.Context(),
			kernels.PTX(t, protocolHead+body+what+"	ret;\n}\n").Kernel("k"),
			lockstep.Options{Geometry: fourByFour})
		if err != nil {
			t.Fatal(err)
		}
		r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{}}})
		if !r.Verified() || r.Counters != want || !th.Slots.Wrap {
			t.Errorf("with%s: verified %v, assumes that counters do not wrap: %v", what, r.Verified(),
				r.Counters)
			for i := range r.Findings {
				t.Log(r.Findings[i].String())
			}
		}
	}
}

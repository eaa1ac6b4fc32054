package emu

import (
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/slice"
)

// Parts of kernels.
const (
	fence      = "wgmma.fence.sync.aligned;\n"
	multiplies = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %q, %q, " +
		"1, 1, 1, 0, 0;\n" // its matrices are at the start of shared memory
	commit = "wgmma.commit_group.sync.aligned;\n"
	wait0  = "wgmma.wait_group.sync.aligned 0;\n"
	wait1  = "wgmma.wait_group.sync.aligned 1;\n"
)

// warpgroupParts are what a capital word in a kernel stands for.
var warpgroupParts = strings.NewReplacer("ISSUE", fence+multiplies+commit,
	"DONE", fence+multiplies+commit+wait0, "AGAIN", multiplies+commit+wait0,
	"FENCE", fence, "MULTIPLY", multiplies, "COMMIT", commit, "WAIT0", wait0, "WAIT1", wait1,
	"INPUT", "setp.gt.u32 %c, %n, %t;\n", "LAST", "setp.ge.u32 %c, %t, 96;\n")

// warpgroupKernel has registers %d0 to %d7, and 4 KiB of shared memory.
func warpgroupKernel(t *testing.T, body string) *ir.Func {
	t.Helper()
	return moduleText(t, `.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
	.reg .u32 %t, %n, %v; .reg .u64 %o, %q; .reg .pred %c, %e; .reg .f32 %d<8>; .reg .f32 %x;
	.shared .align 1024 .b8 s[4096];
	mov.u32 %t, %tid.x;
	ld.param.u64 %o, [out];
	ld.param.u32 %n, [n];
	mad.wide.u32 %o, %t, 4, %o;
	mov.u32 %v, s;
	shr.u32 %v, %v, 4;
	cvt.u64.u32 %q, %v;
	or.b64 %q, %q, 0x0000001000080000;
	mov.f32 %d0, 0f00000000;
	mov.f32 %d1, 0f00000000;
	mov.f32 %d2, 0f00000000;
	mov.f32 %d3, 0f00000000;
`+warpgroupParts.Replace(body)+"\n\tret;\n}\n")
}

// Which accesses to the registers of an operation need a fence or a wait (PTX ISA 9.7.15.7).
func TestWarpgroupRegisters(t *testing.T) {
	const none = StopKind(255)
	for name, c := range map[string]struct {
		body string
		want StopKind
	}{
		"wait and read": {
			"DONE st.global.f32 [%o], %d0;",
			none,
		},
		"read": {
			"ISSUE st.global.f32 [%o], %d0;",
			WarpgroupRegister,
		},
		"other register": {
			"ISSUE st.global.f32 [%o], %d4;",
			none,
		},
		"guarded by false": {
			"setp.ne.u32 %c, %t, %t; ISSUE @%c st.global.f32 [%o], %d0; WAIT0",
			none,
		},
		"in one lane": {
			"setp.eq.u32 %c, %t, 77; ISSUE @%c st.global.f32 [%o], %d0; WAIT0",
			WarpgroupRegister,
		},
		"second last group": {
			"ISSUE COMMIT WAIT1 st.global.f32 [%o], %d0;",
			none,
		},
		"last group": {
			"FENCE COMMIT MULTIPLY COMMIT WAIT1 st.global.f32 [%o], %d0;",
			WarpgroupRegister,
		},
		"committed late": {
			"FENCE MULTIPLY WAIT0 COMMIT st.global.f32 [%o], %d0;",
			WarpgroupRegister,
		},
		"written": {
			"ISSUE add.f32 %d1, %x, %x; WAIT0",
			WarpgroupRegister,
		},
		"read, then used without a fence": {
			"DONE add.f32 %x, %d1, %d1; AGAIN",
			WarpgroupFence,
		},
		"read, then used with a fence": {
			"DONE add.f32 %x, %d1, %d1; DONE",
			none,
		},
		"set to a constant without a fence": {
			"DONE mov.f32 %d1, 0f00000000; AGAIN",
			WarpgroupFence,
		},
		"computed behind the fence": {
			"FENCE add.f32 %d1, %x, %x; AGAIN",
			WarpgroupFence,
		},
		// a compiler may put a mov there
		"set to a constant behind the fence": {
			"FENCE mov.f32 %d1, 0f00000000; AGAIN",
			none,
		},
		"copied over": {
			"FENCE mov.f32 %d1, %x; AGAIN",
			none,
		},
		"copied, and both are used after the wait": {
			"ISSUE mov.f32 %d5, %d1; WAIT0 add.f32 %d5, %d5, %d1;",
			none,
		},
		"a copy of a copy is used": {
			"ISSUE mov.f32 %d5, %d1; mov.f32 %d6, %d5; add.f32 %d6, %d6, %d6; WAIT0",
			WarpgroupRegister,
		},
		"a register that was a copy": {
			"ISSUE mov.f32 %d5, %d1; mov.f32 %d5, %d7; WAIT0",
			WarpgroupRegister,
		},
		"three warps": {
			"LAST @%c exit; DONE",
			WarpgroupDivergence,
		},
		"two orders": {
			"LAST @%c bra OTHER; FENCE COMMIT bra END; OTHER: COMMIT FENCE END:",
			WarpgroupDivergence,
		},
		"beyond shared memory": {
			"add.u64 %q, %q, 0xf0; DONE",
			OutOfBounds,
		},
	} {
		for _, traced := range []bool{false, true} {
			k := warpgroupKernel(t, c.body)
			cfg := config(1, 128, buffer("out", 512),
				launch.Arg{Name: "n", Bits: make([]byte, 4), Unknown: traced})
			m, err := New(k, cfg)
			if traced {
				cfg.Args[0] = launch.Arg{Name: "out", Bits: make([]byte, 8), Unknown: true}
				m, err = NewTrace(k, cfg, slice.Of(k, slice.Options{Grid: true}))
			}
			if err != nil {
				t.Fatal(err)
			}
			res, err := m.Run(t.Context(), Options{Workers: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if traced && strings.Contains(c.body, "@%c st.global") { // it does not compute this guard
				want = DependsOnInput
			}
			switch {
			case want == DependsOnInput:
				if res.Stop == nil || res.Stop.Kind != want {
					t.Errorf("%s, traced: status %v, %+v", name, res.Status, res.Stop)
				}
			case c.want == none && res.Status != Completed:
				t.Errorf("%s, traced %v: %+v", name, traced, res.Stop)
			case c.want != none && (res.Stop == nil || res.Stop.Kind != c.want):
				t.Errorf("%s, traced %v: status %v, %+v, want %v", name, traced, res.Status, res.Stop,
					c.want)
			}
		}
	}
}

// Accumulators that are kept in local memory: what stands in front of an operation loads them, and
// what is behind it stores them. A trace does not support them.
func TestWarpgroupSlots(t *testing.T) {
	const none = StopKind(255)
	parts := strings.NewReplacer(
		"LOAD", "ld.local.v4.f32 {%d0, %d1, %d2, %d3}, [l];\n",
		"STORE", "st.local.v4.f32 [l], {%d0, %d1, %d2, %d3};\n",
		"GENERIC", "mov.u64 %r, l; cvta.local.u64 %r, %r;\n")
	for name, c := range map[string]struct {
		body string
		want StopKind
	}{
		"loaded and stored": {"FENCE LOAD MULTIPLY STORE COMMIT WAIT0 LOAD add.f32 %x, %d0, %d1;", none},
		"two operations":    {"FENCE LOAD MULTIPLY STORE LOAD MULTIPLY STORE COMMIT WAIT0", none},
		"other registers in each group": {`FENCE LOAD MULTIPLY STORE COMMIT
			ld.local.v4.f32 {%d4, %d5, %d6, %d7}, [l];
			st.local.v4.f32 [l], {%d4, %d5, %d6, %d7}; FENCE LOAD MULTIPLY STORE COMMIT WAIT1 WAIT0`, none},
		// what follows takes another of several waits
		"loaded and stored before the wait": {
			"FENCE LOAD MULTIPLY STORE COMMIT ld.local.f32 %x, [l]; st.local.f32 [l], %x; WAIT0", none},
		"by a generic address": {
			"GENERIC FENCE LOAD MULTIPLY STORE COMMIT ld.f32 %x, [%r]; st.f32 [%r], %x; WAIT0", none},
		"copied": {"FENCE LOAD MULTIPLY STORE COMMIT ld.local.f32 %x, [l]; st.local.f32 [l+16], %x; " +
			"st.local.f32 [l+16], 0f00000000; WAIT0", none},
		"used before the wait": {"FENCE LOAD MULTIPLY STORE COMMIT LOAD add.f32 %x, %d0, %d0; WAIT0",
			WarpgroupRegister},
		"given to others before the wait": {
			"FENCE LOAD MULTIPLY STORE COMMIT ld.local.f32 %y, [l]; st.global.f32 [%o], %y; WAIT0",
			WarpgroupRegister},
		"moved to others before the wait": {`FENCE LOAD MULTIPLY STORE COMMIT ld.local.f32 %x, [l+4];
			st.local.f32 [l+16], %x; st.f32 [%o], %x; WAIT0`, WarpgroupRegister},
		"a copy is used before the wait": {`FENCE LOAD MULTIPLY STORE COMMIT ld.local.f32 %x, [l];
			st.local.f32 [l+16], %x; ld.local.f32 %y, [l+16]; add.f32 %y, %y, %y; WAIT0`, WarpgroupRegister},
		"used by a generic address": {`GENERIC FENCE LOAD MULTIPLY STORE COMMIT ld.f32 %y, [%r+8];
			add.f32 %y, %y, %y; WAIT0`, WarpgroupRegister},
		"overwritten before the wait": {
			"FENCE LOAD MULTIPLY STORE COMMIT st.local.f32 [l+12], 0f00000000; WAIT0", WarpgroupRegister},
		"overwritten by a result": {`FENCE LOAD MULTIPLY STORE COMMIT add.f32 %y, %y, %y;
			st.local.f32 [l+12], %y; WAIT0`, WarpgroupRegister},
		"overwritten after the wait": {
			"FENCE LOAD MULTIPLY STORE COMMIT WAIT0 st.local.f32 [l+12], 0f00000000;", none},
		// the next load of a compiler's loop, into a register whose value is in local memory
		"loaded over": {"FENCE LOAD MULTIPLY COMMIT LOAD add.f32 %x, %d0, %d0; WAIT0", none},
		"read before the operation without a fence": {
			"FENCE LOAD MULTIPLY STORE COMMIT WAIT0 ld.local.f32 %y, [l]; LOAD AGAIN", WarpgroupFence},
		"computed behind the fence": {
			"FENCE add.f32 %y, %y, %y; st.local.f32 [l], %y; LOAD AGAIN", WarpgroupFence},
		"computed in front of the fence": {
			"add.f32 %y, %y, %y; st.local.f32 [l], %y; FENCE LOAD AGAIN", none},
		"set to a constant behind the fence": {"FENCE st.local.f32 [l], 0f00000000; LOAD AGAIN", none},
		"in one lane": {`setp.eq.u32 %c, %t, 77; FENCE LOAD MULTIPLY STORE COMMIT
			@%c ld.local.f32 %x, [l]; WAIT0`, Unsupported},
		"at other addresses": {`FENCE LOAD MULTIPLY STORE COMMIT GENERIC and.b64 %q, %o, 12;
			add.u64 %r, %r, %q; ld.f32 %x, [%r]; WAIT0`, Unsupported},
		"half of two":                {"FENCE LOAD MULTIPLY STORE COMMIT ld.local.b64 %q, [l]; WAIT0", Unsupported},
		"half of two after the wait": {"FENCE LOAD MULTIPLY STORE COMMIT WAIT0 ld.local.b64 %q, [l];", none},
	} {
		k := warpgroupKernel(t, ".local .align 16 .b8 l[32]; .reg .f32 %y; .reg .b64 %r;\n"+
			parts.Replace("mov.f32 %y, 0f00000000; STORE "+c.body)+`
	st.local.f32 [l+20], %x;`)
		cfg := config(1, 128, buffer("out", 512), launch.Arg{Name: "n", Bits: make([]byte, 4)})
		m, err := New(k, cfg)
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Run(t.Context(), Options{Workers: 1}, nil)
		switch {
		case err != nil:
			t.Fatal(err)
		case c.want == none && res.Status != Completed:
			t.Errorf("%s: %+v", name, res.Stop)
		case c.want != none && (res.Stop == nil || res.Stop.Kind != c.want):
			t.Errorf("%s: status %v, %+v, want %v", name, res.Status, res.Stop, c.want)
		}
		if !strings.Contains(c.body, "LOAD") {
			continue
		}
		cfg.Args[0] = launch.Arg{Name: "out", Bits: make([]byte, 8), Unknown: true}
		if m, err = NewTrace(k, cfg, slice.Of(k, slice.Options{Grid: true})); err != nil {
			t.Fatal(err)
		}
		if res, err = m.Run(t.Context(), Options{Workers: 1}, nil); err != nil || res.Stop == nil ||
			res.Stop.Kind != Unsupported {
			t.Errorf("%s: a trace gives %+v, %v", name, res, err)
		}
	}
}

// A trace does not execute what is outside of its slice, but must not overlook what it does to
// registers: what some inputs do only is unsupported if it would be an error.
func TestWarpgroupRegistersOutsideOfSlice(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		ends bool // the trace completes
	}{
		"behind a branch": {`ISSUE INPUT @%c bra SKIP;
	st.global.f32 [%o], %d0;
SKIP: WAIT0`, false},
		"behind a branch, after the wait": {`DONE INPUT @%c bra SKIP;
	st.global.f32 [%o], %d0;
SKIP:`, true},
		"under a guard": {
			"ISSUE INPUT @%c st.global.f32 [%o], %d0; WAIT0",
			false,
		},
		"under a guard, after the wait": {
			"DONE INPUT @%c st.global.f32 [%o], %d0;",
			true,
		},
		"under a guard, without a fence": {
			"DONE INPUT @%c add.f32 %d0, %x, %x; AGAIN",
			false,
		},
		"under a guard, with a fence": {
			"DONE INPUT @%c add.f32 %d0, %x, %x; DONE",
			true,
		},
		"between two tests of a wait": {
			`.shared .align 8 .b64 bar;
	setp.eq.u32 %c, %t, 0;
	@%c mbarrier.init.shared.b64 [bar], 128;
	bar.sync 0;
	ISSUE mbarrier.arrive.shared.b64 _, [bar];
TEST:
	mbarrier.try_wait.parity.shared.b64 %c, [bar], 0;
	@%c bra THERE;
	add.f32 %x, %d0, %d1;
	bra TEST;
THERE:
	WAIT0`,
			false,
		},
		"behind a wait": {
			`.shared .align 8 .b64 bar;
	setp.eq.u32 %c, %t, 0;
	@%c mbarrier.init.shared.b64 [bar], 128;
	bar.sync 0;
	ISSUE mbarrier.arrive.shared.b64 _, [bar];
TEST:
	mbarrier.try_wait.parity.shared.b64 %c, [bar], 0;
	@!%c bra TEST;
	WAIT0 add.f32 %x, %d0, %d1;`,
			true,
		},
		"an unknown descriptor": {
			"cvt.u64.u32 %q, %n; DONE",
			false,
		},
		"an accumulator decides": {`DONE setp.gt.f32 %c, %d0, %d1; @%c bra SKIP;
	bar.sync 0;
SKIP:`, false},
	} {
		k := warpgroupKernel(t, c.body)
		cfg := config(1, 128, launch.Arg{Name: "out", Bits: make([]byte, 8), Unknown: true},
			launch.Arg{Name: "n", Bits: make([]byte, 4), Unknown: true})
		m, err := NewTrace(k, cfg, slice.Of(k, slice.Options{Grid: true}))
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Run(t.Context(), Options{Workers: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.ends != (res.Status == Completed) {
			t.Errorf("%s: status %v, %+v", name, res.Status, res.Stop)
		}
		if !c.ends && (res.Stop == nil || res.Stop.Kind != DependsOnInput) {
			t.Errorf("%s: %+v, want a stop that depends on input", name, res.Stop)
		}
	}
}

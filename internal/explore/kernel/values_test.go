package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/kernels"
)

// launched resolves a launch of a kernel of a PTX text.
func launched(t *testing.T, text string, blocks, threads uint32, args ...launch.ArgSpec) (*ir.Func,
	*launch.Config) {
	t.Helper()
	f := kernels.PTX(t, text).Kernel("k")
	grid, block := event.Dim3{X: blocks, Y: 1, Z: 1}, event.Dim3{X: threads, Y: 1, Z: 1}
	cfg, errs := launch.Resolve(f, launch.Request{Grid: &grid, Block: &block, Args: args}, nil)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	return f, cfg
}

// where names instructions by their position in the function.
func where(in *ir.Instr) string { return fmt.Sprint(in.Index) }

// final returns the last values of the locations of a program without races, by name.
func final(t *testing.T, p *explore.Program) (map[string]int64, *explore.Report) {
	t.Helper()
	out := map[string]int64{}
	visit := func(e *explore.Execution) {
		for i, c := range e.Cells() {
			if last := e.Last(i); len(last) == 1 {
				out[c.Name] = last[0]
			}
		}
	}
	rep, err := explore.Survey(t.Context(), p, explore.Options{Unroll: 40}, visit)
	if err != nil {
		t.Fatal(err)
	}
	return out, rep
}

// TestValuesAreThoseOfRuns: random integer code computes what the emulator computes.
func TestValuesAreThoseOfRuns(t *testing.T) {
	compared, refused := 0, map[string]int{}
	for seed := range 120 {
		k := gen.Integers(rand.New(rand.NewSource(int64(seed))))
		f, cfg := launched(t, k.PTX, 1, 2,
			launch.ArgSpec{Param: "mem", Offset: -1, Kind: launch.ArgBuffer, Size: 256},
			launch.ArgSpec{Param: "n", Offset: -1, Kind: launch.ArgValue, Text: "0x80000003"})
		p, err := Program(f, cfg, where)
		var no *UnsupportedError
		if errors.As(err, &no) {
			refused[no.What]++
			continue
		}
		got, rep := final(t, p)
		if rep.Stats.Executions != 1 || len(rep.Races) > 0 {
			t.Fatalf("seed %d: %d executions, %d races, expected one without", seed, rep.Stats.Executions,
				len(rep.Races))
		}
		m, err := emu.New(f, cfg)
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Run(t.Context(), emu.Options{MaxSteps: 1 << 20, Workers: 1}, event.Discard{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(32) {
			var b [8]byte
			if _, err := res.Read("mem", 8*i, b[:]); err != nil {
				t.Fatal(err)
			}
			want := int64(binary.LittleEndian.Uint64(b[:]))
			if v := got[fmt.Sprintf("mem[%d]", i)]; v != want {
				t.Fatalf("seed %d: mem[%d] is %#x, the emulator has %#x\n%s", seed, i, v, want, k.PTX)
			}
			compared++
		}
	}
	if compared < 32*40 {
		t.Errorf("only %d values were compared; refused: %v", compared, refused)
	}
}

const head = `.version 8.0
.target sm_80
.address_size 64
.global .u32 x;
.global .u32 y[4] = {1, 2, 3, 4};
.shared .u32 s[4];
.visible .entry k(.param .u64 mem, .param .s16 n)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.reg .pred %p<4>;
`

// TestPrograms: kernels whose result can be computed by hand.
func TestPrograms(t *testing.T) {
	mem := launch.ArgSpec{Param: "mem", Offset: -1, Kind: launch.ArgBuffer, Size: 64}
	n := launch.ArgSpec{Param: "n", Offset: -1, Kind: launch.ArgValue, Text: "-2"}
	for _, c := range []struct {
		name, body      string
		blocks, threads uint32
		want            map[string]int64
		executions      int
		races           int
	}{
		// A parameter is extended to its register by its sign.
		{"parameter", "ld.param.s16 %r1, [n]; st.global.u32 [x], %r1;", 1, 1,
			map[string]int64{"x": 0xfffffffe}, 1, 0},
		// Guards: thread 1 stores, thread 0 does not.
		{"guard", "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 1; @%p1 st.global.u32 [x], 7; " +
			"@!%p1 st.global.u32 [y], 8;", 1, 2, map[string]int64{"x": 7, "y[0]": 8}, 1, 0},
		// A loop adds up 1 to 4, the initial values of y.
		{"loop", `mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u64 %rd1, y;
L:	ld.global.u32 %r3, [%rd1]; add.u32 %r2, %r2, %r3; add.u64 %rd1, %rd1, 4; add.u32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, 4; @%p1 bra L;
	st.global.u32 [x], %r2;`, 1, 1, map[string]int64{"x": 10}, 1, 0},
		// Each of two threads reads, behind a barrier, what the other stored in shared memory.
		{"shared", `mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;
	add.u32 %r5, %r1, 5; st.shared.u32 [%r4], %r5; bar.sync 0;
	xor.b32 %r2, %r2, 4; add.u32 %r4, %r3, %r2;
	ld.shared.u32 %r6, [%r4]; ld.param.u64 %rd1, [mem]; cvta.to.global.u64 %rd1, %rd1;
	mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r6;`, 1, 2,
			map[string]int64{"mem[0]": 6, "mem[1]": 5}, 1, 0},
		// The same through a generic address, and without the barrier: each load reads 0 or the store.
		{"generic", `mov.u32 %r1, %tid.x; mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd4, %rd3, %rd2; st.u32 [%rd4], 9; xor.b64 %rd2, %rd2, 4; add.u64 %rd4, %rd3, %rd2;
	ld.u32 %r6, [%rd4];`, 1, 2, map[string]int64{"s+0": 9, "s+4": 9}, 4, 2},
		// An address that is loaded: the pointer in mem leads to y[3], whose neighbours are other
		// cells.
		{"pointer", `ld.param.u64 %rd1, [mem]; mov.u64 %rd2, y; add.u64 %rd2, %rd2, 12;
	st.global.u64 [%rd1], %rd2; ld.global.u64 %rd3, [%rd1]; st.global.u32 [%rd3], 9;
	ld.global.u32 %r1, [y+8]; st.global.u32 [x], %r1;`, 1, 1,
			map[string]int64{"y[3]": 9, "y[2]": 3, "x": 3}, 1, 0},
		// Blocks have shared memories of their own.
		{"two blocks", `mov.u32 %r1, %ctaid.x; st.shared.u32 [s], %r1; ld.shared.u32 %r2, [s];`, 2, 1,
			map[string]int64{}, 1, 0},
		// Atomic operations of 4 threads: inc wraps at 2, so that 4 of them leave 1. They happen in 4!
		// orders.
		{"inc", `atom.global.inc.u32 %r1, [x], 2;`, 2, 2, map[string]int64{"x": 1}, 24, 0},
		// Reductions return nothing, so that nothing shows their order.
		{"max", `mov.u32 %r1, %tid.x; sub.s32 %r1, %r1, 5; red.global.max.s32 [y], %r1;
	red.global.max.u32 [y+4], %r1;`,
			1, 2, map[string]int64{"y[0]": 1, "y[1]": 0xfffffffc}, 1, 0},
		// The elements of vectors are accesses of their own, and a load may overwrite its address.
		{"vectors", `mov.u32 %r1, 5; mov.u32 %r2, 6; mov.u64 %rd1, y; st.global.v2.u32 [%rd1], {%r1, %r2};
	ld.global.v2.u32 {%r2, %r1}, [%rd1]; st.global.v2.u32 [y+8], {%r1, %r2};`, 1, 1,
			map[string]int64{"y[0]": 5, "y[1]": 6, "y[2]": 6, "y[3]": 5}, 1, 0},
		// Memory that nobody writes may be read without coherence.
		{"non-coherent", `ld.global.nc.u32 %r1, [y+8]; st.global.u32 [x], %r1;`, 1, 1,
			map[string]int64{"x": 3}, 1, 0},
		// A block of two warps: %warpid, and a warp barrier for each.
		{"two warps", `mov.u32 %r1, %warpid; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 32;
	bar.warp.sync 0xffffffff; @%p1 st.global.u32 [x], %r1;`, 1, 33, map[string]int64{"x": 1}, 1, 0},
		// Lane 0 gets the value of lane 1, which is out of range for lane 3 + 1; the predicates of four
		// lanes say which.
		{"shuffle", `mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 5; shfl.sync.down.b32 %r2|%p1, %r2, 1, 3, -1;
	mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, y; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;
	ld.param.u64 %rd3, [mem]; add.u64 %rd3, %rd3, %rd1; selp.u32 %r3, 1, 0, %p1;
	st.global.u32 [%rd3], %r3;`, 1, 4, map[string]int64{"y[0]": 6, "y[1]": 7, "y[2]": 8, "y[3]": 8,
			"mem[0]": 1, "mem[2]": 1, "mem[3]": 0}, 1, 0},
		{"up, bfly, idx", `mov.u32 %r1, %tid.x; shfl.sync.up.b32 %r2, %r1, 1, 0, -1;
	shfl.sync.bfly.b32 %r3, %r1, 2, 31, -1; shfl.sync.idx.b32 %r4, %r1, 3, 31, -1;
	shl.b32 %r3, %r3, 4; add.u32 %r2, %r2, %r3; shl.b32 %r4, %r4, 8; add.u32 %r2, %r2, %r4;
	mul.wide.u32 %rd1, %r1, 4; mov.u64 %rd2, y; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;`,
			1, 4, map[string]int64{"y[0]": 0x320, "y[1]": 0x330, "y[2]": 0x301, "y[3]": 0x312}, 1, 0},
		// Of three lanes that vote, lane 3 has exited: all, any, uni and the ballot are of the others.
		{"vote", `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; @%p1 exit; setp.lt.u32 %p2, %r1, 2;
	vote.sync.ballot.b32 %r2, %p2, -1; vote.sync.all.pred %p3, %p2, -1; selp.u32 %r3, 16, 0, %p3;
	add.u32 %r2, %r2, %r3; vote.sync.any.pred %p3, !%p2, -1; selp.u32 %r3, 32, 0, %p3;
	add.u32 %r2, %r2, %r3; vote.sync.uni.pred %p3, %p2, -1; selp.u32 %r3, 64, 0, %p3;
	add.u32 %r2, %r2, %r3; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [x], %r2;`, 1, 4,
			map[string]int64{"x": 3 + 32}, 1, 0},
		// An exchange orders no memory accesses: lane 1 may read 0 or 3.
		{"an exchange is no barrier", `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [x], 3;
	vote.sync.any.pred %p2, %p1, -1; @!%p1 ld.global.u32 %r2, [x];`, 1, 2, map[string]int64{"x": 3}, 2, 1},
		// A warp barrier orders its lanes.
		{"warp barrier", `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [x], 3;
	bar.warp.sync 0xffffffff; ld.global.u32 %r2, [x]; @!%p1 st.global.u32 [y], %r2;`, 1, 2,
			map[string]int64{"x": 3, "y[0]": 3}, 1, 0},
		// It does not wait for a lane that has exited, or exits later; lanes that do not exit are waited for.
		{"warp barrier and exits", `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 2; @%p1 exit;
	setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [x], 3; bar.warp.sync 0xffffffff;
	ld.global.u32 %r2, [x]; @!%p1 st.global.u32 [y], %r2;`, 1, 3,
			map[string]int64{"x": 3, "y[0]": 3}, 1, 0},
	} {
		f, cfg := launched(t, head+c.body+"\n\tret;\n}\n", c.blocks, c.threads, mem, n)
		p, err := Program(f, cfg, where)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, rep := final(t, p)
		for name, v := range c.want {
			if got[name] != v {
				t.Errorf("%s: %s is %#x, expected %#x", c.name, name, got[name], v)
			}
		}
		if rep.Stats.Executions != c.executions || len(rep.Races) != c.races {
			t.Errorf("%s: %d executions and %d races, expected %d and %d", c.name, rep.Stats.Executions,
				len(rep.Races), c.executions, c.races)
		}
	}
}

// TestFaults: an access that no memory allows, a trap and a failed assertion end the thread that
// executes them, and no other, in the executions in which it does.
func TestFaults(t *testing.T) {
	mem := launch.ArgSpec{Param: "mem", Offset: -1, Kind: launch.ArgBuffer, Size: 64}
	n := launch.ArgSpec{Param: "n", Offset: -1, Kind: launch.ArgValue, Text: "1"}
	const second = "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1;\n"
	for _, c := range []struct {
		body, want       string
		executions, ends int
	}{
		{"st.global.u32 [y+16], 1;", "st.global.u32 accesses y at byte 16, which has 16 bytes", 1, 0},
		{"st.global.u32 [y+2], 1;", "st.global.u32 accesses a misaligned address", 1, 0},
		{"st.shared.u32 [s+16], 1;",
			"st.shared.u32 accesses shared memory at 16, which has 16 bytes", 1, 0},
		{"mov.u64 %rd1, 64; st.global.u32 [%rd1], 1;", "st.global.u32 accesses no object", 1, 0},
		{"trap;", "trap aborts the kernel", 1, 0},
		// The other block does not wait for the one that ends: block barriers are of a block.
		{second + "@%p1 trap; bar.sync 0;", "trap aborts the kernel", 1, 0},
		// Block 1 traps if it reads what block 0 stores.
		{second + "@%p1 bra R; st.relaxed.gpu.global.u32 [x], 1; ret;\nR: " +
			"ld.relaxed.gpu.global.u32 %r1, [x]; setp.eq.u32 %p1, %r1, 1; @%p1 trap;",
			"trap aborts the kernel", 2, 1},
		// Who waits for one that has failed is not reported to wait for ever.
		{second + "@%p1 bra R;\nL: ld.relaxed.gpu.global.u32 %r1, [x]; setp.eq.u32 %p1, %r1, 0; " +
			"@%p1 bra L; ret;\nR: st.global.u32 [y+16], 1; st.relaxed.gpu.global.u32 [x], 1;",
			"st.global.u32 accesses y at byte 16, which has 16 bytes", 1, 0},
	} {
		f, cfg := launched(t, head+"\tmov.u32 %r0, s;\n"+c.body+"\n\tret;\n}\n", 2, 1, mem, n)
		p, err := Program(f, cfg, where)
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		rep, err := explore.Survey(t.Context(), p, explore.Options{Unroll: 2}, nil)
		if err != nil || len(rep.Faults) != 1 || rep.Hang != nil {
			t.Errorf("%s: %v, errors %v, hang %v", c.body, err, rep.Faults, rep.Hang)
			continue
		}
		_, in := rep.Faults[0].Instruction()
		if got := in.Text + " " + rep.Faults[0].What; got != c.want {
			t.Errorf("%s: %s, expected %s", c.body, got, c.want)
		}
		if s := rep.Stats; s.Executions != c.executions || s.Complete != c.ends {
			t.Errorf("%s: %d executions, %d end, expected %d and %d", c.body, s.Executions, s.Complete,
				c.executions, c.ends)
		}
	}
}

// TestRefusals: what is not translated is named.
func TestRefusals(t *testing.T) {
	mem := launch.ArgSpec{Param: "mem", Offset: -1, Kind: launch.ArgBuffer, Size: 64}
	n := launch.ArgSpec{Param: "n", Offset: -1, Kind: launch.ArgValue, Text: "1"}
	const no = " is not supported by heddle explore"
	for body, want := range map[string]string{
		"ld.global.nc.u32 %r1, [x]; st.global.u32 [x], 1;": "2: st.global.u32: a non-coherent load " +
			"reads x, which the kernel writes, and may return any value that it had",
		"st.global.u32 [x], 1; ld.global.nc.u32 %r1, [x];": "2: ld.global.nc.u32: a non-coherent load " +
			"reads x, which the kernel writes, and may return any value that it had",
		"mov.u32 %r1, %clock;": "%clock, whose value no launch determines," + no,
		"activemask.b32 %r1;":  "activemask.b32" + no,
		"shfl.sync.idx.b32 %r1, %r2, 1, 31, -1; st.global.u32 [x], %r1;": "a division by zero, or a " +
			"shfl.sync from a lane that takes no part, whose value the PTX ISA leaves unspecified (9.7.1, " +
			"9.7.9.6)",
		"shfl.sync.idx.b32 %r1, %r2, 0, 31, 2;": "1: a thread executes shfl.sync.idx.b32 without being in " +
			"its mask, which is undefined",
		"add.cc.u32 %r1, %r2, %r3;": "add.cc.u32" + no,
		"st.global.u64 [y], 1; ld.global.u32 %r1, [y+4];": "2: accesses of 8 and of 4 bytes overlap " +
			"at y[1] (mixed sizes, PTX ISA 8.7.2)",
	} {
		f, cfg := launched(t, head+"\tmov.u32 %r0, s;\n"+body+"\n\tret;\n}\n", 1, 1, mem, n)
		p, err := Program(f, cfg, where)
		if err == nil {
			_, err = explore.Survey(t.Context(), p, explore.Options{}, nil)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", body, err, want)
		}
	}
	f, cfg := launched(t, head+"\tret;\n}\n", 3, 32, mem, n)
	const want = "a launch of 96 threads; heddle explore takes at most 64: choose a smaller --grid " +
		"or --block, or auto"
	if _, err := Program(f, cfg, where); err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

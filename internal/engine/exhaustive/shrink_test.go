package exhaustive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/lower"
)

const head = `.version 8.0
.target sm_80
.address_size 64
.global .u32 x;
.global .u32 y;
.global .u32 z[64];
`

const regs = `
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.reg .pred %p<4>;
`

// examine explores the kernels of a text.
func examine(t *testing.T, text string, opt *Options, common driver.Options) *Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	common.Workers = 1
	d := driver.New(common, func(g diag.Diagnostic) {
		if g.Severity == diag.Error {
			t.Error(g.Message)
		}
	})
	var res *Result
	d.Run(t.Context(), []driver.Input{{Input: lower.Input{Name: path}}},
		func(ctx context.Context, j *driver.Job) {
			var err error
			if res, err = Kernel(ctx, j, opt); err != nil {
				t.Fatal(err)
			}
		})
	return res
}

// kernelText is a kernel with a launch in a comment; empty: none.
func kernelText(launch, params, body string) string {
	if launch != "" {
		launch = "// heddle: " + launch + "\n"
	}
	return head + launch + ".visible .entry k(" + params + ")\n{" + regs + body + "\n\tret;\n}\n"
}

// TestShrink: the smallest launch that executes each instruction that synchronizes, and in which
// they meet the accesses of other threads and blocks. Each expectation follows from the code: which
// threads reach it, and which share memory.
func TestShrink(t *testing.T) {
	const flag = `mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;
L:	ld.acquire.gpu.global.u32 %r2, [x]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;
	ld.global.u32 %r3, [y]; ret;
W:	st.global.u32 [y], 42; st.release.gpu.global.u32 [x], 1;`
	for _, c := range []struct {
		name, text string
		grid       string // and block
		kind       diag.VerdictKind
		sync       int
	}{
		// Block 1 reads what block 0 releases. A second writer would race with the first.
		{"flag", kernelText("grid=8 block=1", "", flag), "2 1", diag.Verified, 2},
		{"flag of threads", kernelText("grid=1 block=64", "", strings.ReplaceAll(flag, "ctaid", "tid")),
			"1 2", diag.Verified, 2},
		// A counter meets itself within a block and between blocks: two blocks of two threads.
		{"counter", kernelText("grid=8 block=64", "", "red.global.add.u32 [x], 1;"), "2 2",
			diag.Verified, 1},
		// It is never larger than the launch that the program names.
		{"counter of two", kernelText("grid=1 block=2", "", "red.global.add.u32 [x], 1;"), "1 2",
			diag.Verified, 1},
		// Thread 2 alone executes the fence.
		{"third thread", kernelText("grid=1 block=64", "",
			"mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 2; @%p1 fence.sc.gpu;"), "1 3", diag.Verified, 1},
		// A barrier is exercised by two threads, although one alone passes it.
		{"barrier", kernelText("grid=8 block=64", "", "bar.sync 0;"), "1 2", diag.Verified, 1},
		// What no small launch executes makes the verdict unknown.
		{"ninth thread", kernelText("grid=1 block=64", "",
			"mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 8; @%p1 red.global.add.u32 [x], 1;"), "1 2",
			diag.Unknown, 0},
		// Two dimensions where the kernel reads the second: only threads of different rows meet.
		{"rows", kernelText("grid=1 block=16,16", "", `mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4;
	mov.u64 %rd2, z; add.u64 %rd2, %rd2, %rd1; mov.u32 %r2, %tid.y; red.global.add.u32 [%rd2], %r2;`),
			"1 1,2", diag.Verified, 1},
		// A barrier of 4 threads completes with 4 only: smaller launches do not end.
		{"four threads", kernelText("grid=1 block=64", "", "barrier.sync 1, 4; red.global.add.u32 [x], 1;"),
			"1 4", diag.Verified, 2},
		// What shares memory in the launch of the program only makes the verdict unknown: thread 63 reads
		// what thread 0 writes, and no small block has both.
		{"mirrored", kernelText("grid=1 block=64", "", `mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4;
	mov.u64 %rd2, z; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], 1;
	sub.u32 %r2, 63, %r1; mul.wide.u32 %rd1, %r2, 4; mov.u64 %rd2, z; add.u64 %rd2, %rd2, %rd1;
	ld.global.u32 %r3, [%rd2];`), "1 2", diag.Unknown, 0},
		// A race in the launch that is chosen is a bug.
		{"race", kernelText("grid=8 block=1", "", strings.Replace(flag, ".release.gpu", ".relaxed.gpu", 1)),
			"2 1", diag.Bug, 2},
	} {
		res := examine(t, c.text, &Options{Options: explore.Options{Unroll: 4}, AutoGrid: true,
			AutoBlock: true}, driver.Options{})
		kind, reason := res.Verdict()
		if res.Config == nil || kind != c.kind {
			t.Errorf("%s: %v, %s, expected %v", c.name, kind, reason, c.kind)
			continue
		}
		dims := func(d event.Dim3) string {
			if d.Y > 1 {
				return fmt.Sprintf("%d,%d", d.X, d.Y)
			}
			return fmt.Sprint(d.X)
		}
		g := res.Config.Geometry
		if got := dims(g.Grid) + " " + dims(g.Block); got != c.grid || res.Choice.Sync != c.sync {
			t.Errorf("%s: launch %s with %d instructions, expected %s with %d; %s", c.name, got,
				res.Choice.Sync, c.grid, c.sync, res.ChoiceText())
		}
		if missing := len(res.Missing)+len(res.Unmet) > 0; missing != (kind == diag.Unknown) {
			t.Errorf("%s: missing %v", c.name, res.Missing)
		}
	}
}

// TestNoLaunch: a kernel that no small launch can execute is unknown, with the reason.
func TestNoLaunch(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"barrier of 16", kernelText("grid=1 block=64", "", "barrier.sync 1, 16;"),
			"no launch of at most 8 threads is usable: with grid 1, block 8, no execution ends"},
		{"fixed block", strings.Replace(kernelText("", "", "bar.sync 0;"), "k()\n", "k()\n.reqntid 64\n", 1),
			"no small launch agrees with what fixes its grid and block"},
		{"out of bounds", kernelText("grid=4 block=64", "", "st.global.u32 [z+256], 1;"), "no launch of at " +
			"most 8 threads is usable: with grid 2, block 1, "},
	} {
		res := examine(t, c.text, &Options{Options: explore.Options{Unroll: 4}, AutoGrid: true,
			AutoBlock: true}, driver.Options{})
		if kind, reason := res.Verdict(); kind != diag.Unknown || !strings.HasPrefix(reason, c.want) {
			t.Errorf("%s: %v, %s, expected %s", c.name, kind, reason, c.want)
		}
	}
}

// TestPartial: launches that cover different things leave the verdict open, unless one shows a bug.
// Two blocks share x only if there are two, and two threads of a block y only if that is the only
// block.
func TestPartial(t *testing.T) {
	const body = `mov.u32 %r1, %nctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra ONE;
	red.global.add.u32 [x], 1; ret;
ONE:	red.global.add.u32 [y], 1;`
	for kind, text := range map[diag.VerdictKind]string{
		diag.Unknown: body,
		diag.Bug:     strings.ReplaceAll(body, "red.global.add.u32 [x], 1", "st.global.u32 [x], 1"),
	} {
		res := examine(t, kernelText("grid=8 block=8", "", text), &Options{AutoGrid: true,
			AutoBlock: true}, driver.Options{})
		got, reason := res.Verdict()
		if got != kind || !res.Partial || !strings.Contains(res.ChoiceText(), "covers most") {
			t.Errorf("%v, %s, partial %v: %s, expected %v", got, reason, res.Partial, res.ChoiceText(), kind)
		}
	}
}

// TestUnsupported: an instruction that is not translated is named, whatever the launch.
func TestUnsupported(t *testing.T) {
	text := kernelText("grid=4 block=64", "", "activemask.b32 %r1;")
	for _, auto := range []bool{true, false} {
		res := examine(t, text, &Options{AutoGrid: auto, AutoBlock: auto}, driver.Options{})
		if !auto {
			// The launch of the comment is refused first.
			if kind, reason := res.Verdict(); kind != diag.Unsupported ||
				!strings.HasPrefix(reason, "a launch of 256 threads") {
				t.Errorf("%v, %s", kind, reason)
			}
			continue
		}
		if kind, reason := res.Verdict(); kind != diag.Unsupported || res.At == nil ||
			!strings.HasPrefix(reason, "activemask") {
			t.Errorf("%v, %s", kind, reason)
		}
	}
}

// TestBounds: an exploration that ends early is unknown, and a kernel with a launch of its own is
// not shrunk.
func TestBounds(t *testing.T) {
	text := kernelText("grid=2 block=2", "", "atom.global.exch.b32 %r1, [x], 1;\natom.global.exch.b32 %r1, [x], 1;")
	res := examine(t, text, &Options{Options: explore.Options{MaxGraphs: 5}}, driver.Options{})
	kind, reason := res.Verdict()
	if kind != diag.Unknown || reason != "not all executions were explored" || res.Choice != nil {
		t.Errorf("%v, %s", kind, reason)
	}
	if got, want := res.Scope(), "2 blocks of 2 threads, some executions of the PTX memory model"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	res = examine(t, text, &Options{AutoGrid: true, AutoBlock: true, MinBlocks: 2}, driver.Options{})
	if kind, _ := res.Verdict(); kind != diag.Verified || res.Config.Geometry.Blocks() != 2 {
		t.Errorf("%v", kind)
	}
	one := kernelText("grid=8 block=8", "", "bar.sync 0;")
	res = examine(t, one, &Options{AutoGrid: true, AutoBlock: true, MinBlocks: 2}, driver.Options{})
	if kind, _ := res.Verdict(); kind != diag.Verified || res.Config.Geometry.Blocks() != 2 {
		t.Errorf("%v for %v", kind, res.Config.Geometry)
	}
}

package exhaustive

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/explore"
	"heddle/internal/lower"
	"heddle/internal/testing/cputime"
	"heddle/internal/testing/long"
)

// orderedByFence names a kernel that the suite calls wrong and the memory model does not. Its
// __threadfence is membar.gl, a synonym of fence.sc.gpu (PTX ISA 9.7.13.4). If the fence of block 2
// preceded that of block 0 in Fence-SC order, the store of 2 to the flag, which block 2 has observed,
// would precede the store of 1 in causality order (8.9.5), and axiom Coherence (8.10.1) excludes
// that, as block 1 stores 2 after it has read 1. The detector of runs knows no Fence-SC order.
const orderedByFence = "store_breaks_chain.cu"

var expectation = regexp.MustCompile(`(?m)^// expect: (\w+)`)

// eachOfSuite explores the kernels of those files of some directories of the suite whose
// expectation is as given.
func eachOfSuite(t *testing.T, dirs []string, expect string, opt Options,
	visit func(path string, res *Result, took time.Duration)) {
	t.Helper()
	for _, dir := range dirs {
		files, err := filepath.Glob("../../../testdata/suite/" + dir + "/*.cu")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, len(files), err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := expectation.FindSubmatch(text)
			if want == nil || string(want[1]) != expect {
				continue
			}
			d := driver.New(driver.Options{Workers: 1}, func(g diag.Diagnostic) {})
			in := []driver.Input{{Input: lower.Input{Name: path}}}
			d.Run(t.Context(), in, func(ctx context.Context, j *driver.Job) {
				before, opt := cputime.Process(), opt
				res, err := Kernel(ctx, j, &opt)
				if err != nil {
					t.Fatal(err)
				}
				visit(path, res, cputime.Process()-before)
			})
		}
	}
}

// TestSuiteBugs: no kernel of the suite that has a bug is verified for the launch that heddle
// chooses. Where that launch cannot show the bug, the verdict says what it does not exercise.
// HEDDLE_LONG examines all of the suite whose subject is the order of memory accesses.
func TestSuiteBugs(t *testing.T) {
	dirs := []string{"gridbar"}
	if long.All() {
		dirs = []string{"strong", "flags", "locks", "gridbar", "atomics", "global"}
	}
	found, unknown := 0, 0
	eachOfSuite(t, dirs, "bug", Options{AutoGrid: true, AutoBlock: true,
		Options: explore.Options{Unroll: 4, MaxStates: 3000, Symmetry: true},
	}, func(path string, res *Result, _ time.Duration) {
		switch kind, reason := res.Verdict(); {
		case filepath.Base(path) == orderedByFence:
		case kind == diag.Verified:
			t.Errorf("%s: verified for %s: %s", path, res.Launch(), res.ChoiceText())
		case kind == diag.Bug:
			found++
		case reason == "":
			t.Errorf("%s: %v without a reason", path, kind)
		default:
			unknown++
		}
	})
	t.Logf("%d bugs found, %d kernels without a verdict", found, unknown)
}

// TestSuiteClean: none of the suite's right kernels with flags, locks and grid barriers has a bug
// in its own launch. It logs which are verified. Without HEDDLE_LONG it examines those with flags.
// Launches of more than 64 threads are refused: many of these kernels are wrong in a smaller one.
func TestSuiteClean(t *testing.T) {
	dirs, states := []string{"flags"}, 1500
	if long.All() {
		dirs, states = []string{"flags", "gridbar", "locks"}, 20_000
	}
	verified, unknown := 0, 0
	eachOfSuite(t, dirs, "clean", Options{
		Options: explore.Options{Unroll: 4, MaxStates: states, Symmetry: true},
	}, func(path string, res *Result, took time.Duration) {
		kind, reason := res.Verdict()
		n := 0
		if res.Report != nil {
			n = res.Report.Stats.States
		}
		g := res.Config.Geometry
		t.Logf("| %s | %d x %d | %v | %d | %.1f | %s |", filepath.Base(path), g.Blocks(),
			g.ThreadsPerBlock(), kind, n, took.Seconds(), reason)
		switch kind {
		case diag.Verified:
			verified++
		case diag.Bug:
			t.Errorf("%s has a bug", path)
		default:
			unknown++
		}
	})
	t.Logf("%d kernels verified, %d without a verdict", verified, unknown)
	if verified < 8 {
		t.Error("the test shows little")
	}
}

//go:build unix

package prove_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/engine/prove"
	"heddle/internal/lower"
)

// hard is a kernel whose proof needs a solver: x + 2*x*x is a permutation of the numbers below 256.
// If x and y have the same value, (x-y)*(1+2*(x+y)) = 0 modulo 256, and the second factor is odd.
const hard = `.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
.reqntid 256, 1, 1
{
	.reg .b64 %a, %o;
	.reg .b32 %x, %i;
	ld.param.u64 %a, [p];
	cvta.to.global.u64 %a, %a;
	mov.u32 %x, %tid.x;
	mul.lo.u32 %i, %x, %x;
	add.u32 %i, %i, %i;
	add.u32 %i, %i, %x;
	and.b32 %i, %i, 255;
	mul.wide.u32 %o, %i, 4;
	add.s64 %a, %a, %o;
	st.global.u32 [%a], %x;
	ret;
}
`

// fakeZ3 puts a shell script named z3 first in PATH, and returns the file to which each of its
// processes appends its process number.
func fakeZ3(t *testing.T, script string) (pids string) {
	t.Helper()
	dir := t.TempDir()
	pids = filepath.Join(dir, "pids")
	text := "#!/bin/sh\necho $$ >>" + pids + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "z3"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return pids
}

// allEnded checks that the fake solver was started and that all its processes have ended.
func allEnded(t *testing.T, pids string) {
	t.Helper()
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal("no solver was started: ", err)
	}
	for _, f := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d is still running", pid)
		}
	}
}

func hardFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hard.ptx")
	if err := os.WriteFile(path, []byte(hard), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func proofOf(t *testing.T, ctx context.Context, path string, opt check.Options) diag.Verdict {
	t.Helper()
	opt.Mode = check.Verify
	opt.Lower = lower.Options{NoCache: true}
	sum, err := check.Files(ctx, opt, []string{path}, func(d diag.Diagnostic) { t.Log(d.Message) })
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Verdicts) != 1 {
		t.Fatalf("%d verdicts", len(sum.Verdicts))
	}
	return sum.Verdicts[0]
}

// TestFakeSolvers: whatever a solver process does, the verdict is unknown with a reason, and no
// process is left.
func TestFakeSolvers(t *testing.T) {
	path := hardFile(t)
	for _, tc := range []struct{ name, script, reason string }{
		{"hangs", "exec sleep 100", "z3: out of time"},
		{"crashes", "head -c 10 >/dev/null; exit 139", "z3: the solver ended without an answer"},
		{"prints garbage", "echo 'Segmentation violation'; exec cat >/dev/null",
			`z3: unexpected output "Segmentation violation"`},
		{"says sat, with no model of the query", "echo sat; while read -r line; do " +
			"case $line in *get-value*) echo '((x #x00000000))';; esac; done", "z3: "},
		{"says unknown", "echo unknown; exec cat >/dev/null", "z3: it does not know"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pids := fakeZ3(t, tc.script)
			v := proofOf(t, t.Context(), path, check.Options{
				Prove: prove.Options{Solver: prove.Z3, Timeout: time.Second},
			})
			if v.Kind != diag.Unknown || !strings.Contains(v.Reason, tc.reason) {
				t.Errorf("%v %q, want unknown with %q", v.Kind, v.Reason, tc.reason)
			}
			allEnded(t, pids)
		})
	}
}

// TestCancelledProof: a run that is cancelled in the middle of a query returns, and leaves no
// process.
func TestCancelledProof(t *testing.T) {
	pids := fakeZ3(t, "exec sleep 100")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for range 1000 {
			if _, err := os.Stat(pids); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	v := proofOf(t, ctx, hardFile(t), check.Options{Prove: prove.Options{Solver: prove.Z3}})
	if v.Kind != diag.Unknown {
		t.Errorf("verdict %v (%s)", v.Kind, v.Text())
	}
	allEnded(t, pids)
}

// TestSolverChoice: without solver programs the embedded solver decides, and requesting a program
// that is not installed is an error.
func TestSolverChoice(t *testing.T) {
	path := hardFile(t)
	t.Setenv("PATH", t.TempDir())
	for _, solver := range []prove.Solver{prove.Auto, prove.Embedded} {
		opt := check.Options{Prove: prove.Options{Solver: solver}}
		if v := proofOf(t, t.Context(), path, opt); v.Kind != diag.Verified {
			t.Errorf("--solver %s: %v %s", solver, v.Kind, v.Text())
		}
	}
	for _, solver := range []prove.Solver{prove.Z3, prove.CVC5} {
		opt := check.Options{Mode: check.Verify, Prove: prove.Options{Solver: solver}}
		_, err := check.Files(t.Context(), opt, []string{path}, func(diag.Diagnostic) {})
		if err == nil || !strings.Contains(err.Error(), solver.String()) {
			t.Errorf("--solver %s: error %v", solver, err)
		}
	}
	if _, err := prove.ParseSolver("yices"); err == nil || !strings.Contains(err.Error(), "yices") {
		t.Errorf("--solver yices: error %v", err)
	}
}

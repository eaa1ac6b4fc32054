package ptxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/internal/diag"
	"heddle/internal/testing/cputime"
	"heddle/internal/testing/long"
)

// gemm is a persistent matrix product with mbarriers, named barriers and wgmma in one kernel.
const gemm = traceDir + "/gemm_persistent.cu"

// TestTraceOfAllRounds traces the persistent product with as many rounds as real ones have: four
// tiles of 64 rounds, in at most 5 s.
func TestTraceOfAllRounds(t *testing.T) {
	text, err := os.ReadFile(gemm)
	if err != nil {
		t.Fatal(err)
	}
	path := variant(t, strings.Replace(string(text), "k=9 tiles=5", "k=64 tiles=8", 1))
	before := cputime.Process()
	for _, v := range tracedFile(t, path) {
		if v.Kind != diag.Verified {
			t.Errorf("%v (%s)", v.Kind, v.Reason)
		}
		if !strings.Contains(v.Scope, "k = 64, tiles = 8") {
			t.Errorf("not for 64 rounds: %s", v.Scope)
		}
	}
	took := cputime.Process() - before
	t.Logf("%v of CPU time", took)
	if took > 5*time.Second {
		t.Errorf("the trace took %v of CPU time", took)
	}
}

// TestTraceNeedsEachLine removes the lines of the persistent product that are marked as needed, one
// at a time: a trace must find a bug in what is left.
func TestTraceNeedsEachLine(t *testing.T) {
	text, err := os.ReadFile(gemm)
	if err != nil {
		t.Fatal(err)
	}
	lines, n := strings.Split(string(text), "\n"), 0
	for i, line := range lines {
		if !strings.HasSuffix(line, "// needed") {
			continue
		}
		if n++; !long.All() && n%3 != 1 {
			continue
		}
		mutant := append([]string(nil), lines...)
		mutant[i] = "      ;"
		for _, v := range tracedFile(t, variant(t, strings.Join(mutant, "\n"))) {
			if v.Kind != diag.Bug {
				t.Errorf("line %d: %v (%s) without %s", i+1, v.Kind, v.Reason, strings.TrimSpace(line))
			}
		}
	}
	if n != 8 {
		t.Errorf("%d lines are needed, want 8", n)
	}
}

// variant writes a text to a file with the name of the persistent product.
func variant(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), filepath.Base(gemm))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

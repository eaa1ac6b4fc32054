package ptxtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/source"
)

// sync matches the statements whose loss should show: barriers, fences, __syncwarp, named barriers,
// commits of and waits for copies.
var sync = regexp.MustCompile(`asm volatile\("bar[^;]*;"[^;]*;|__(syncthreads|threadfence|threadfence_block|syncwarp|pipeline_commit|pipeline_wait_prior)\([^)]*\);`)

// ptxSync and ptxOrder are the same in PTX: instructions that order, and orders of memory accesses.
var (
	ptxSync  = regexp.MustCompile(`^\t(@!?%p\d+ )?(fence\.|membar\.|bar\.|cp\.async\.wait)[^;]*;`)
	ptxOrder = regexp.MustCompile(`\.(acquire|release|acq_rel)\b`)
)

// mutate returns a line without its synchronization, and whether it has any.
func mutate(path, line string) (string, bool) {
	switch {
	case strings.HasPrefix(strings.TrimSpace(line), "//") || strings.Contains(line, "// redundant: "):
		return "", false
	case !strings.HasSuffix(path, ".ptx"):
		return sync.ReplaceAllString(line, ";"), sync.MatchString(line)
	case ptxSync.MatchString(line):
		return "", true
	}
	return ptxOrder.ReplaceAllString(line, ".relaxed"), ptxOrder.MatchString(line)
}

// TestMutants takes the synchronization statements out of the right kernels, one at a time: each loss must
// be found, unless the line says "// redundant: REASON".
func TestMutants(t *testing.T) {
	if os.Getenv("HEDDLE_LONG") == "" {
		t.Skip("long: one run for each synchronization statement (HEDDLE_LONG=1)")
	}
	mutants := 0
	for _, dir := range []string{suiteDir, examplesDir} {
		for _, path := range kernels(t, dir) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "// expect: clean\n") || strings.Contains(string(text), "// options: ") {
				continue
			}
			mutants += mutateFile(t, path, strings.Split(string(text), "\n"))
		}
	}
	if mutants < 40 {
		t.Errorf("%d mutants; the test looks at the wrong place", mutants)
	}
}

// mutateFile checks every mutant of a file, and returns how many there were.
func mutateFile(t *testing.T, path string, lines []string) int {
	n := 0
	for i, line := range lines {
		without, ok := mutate(path, line)
		if !ok {
			continue
		}
		n++
		mutant := append([]string(nil), lines...)
		mutant[i] = without
		name := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(name, []byte(strings.Join(mutant, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		if why := survives(t.Context(), name); why != "" {
			t.Errorf("%s:%d: without %s: %s", path, i+1, strings.TrimSpace(line), why)
		}
	}
	return n
}

// survives runs a mutant, and says what it came to if it is no bug.
func survives(ctx context.Context, path string) string {
	opt := check.Options{MaxSteps: 2_000_000, Files: source.NewSet()}
	sum, err := check.Run(ctx, opt, []string{path}, func(diag.Diagnostic) {})
	if err != nil {
		return err.Error()
	}
	for _, v := range sum.Verdicts {
		if v.Kind == diag.Bug {
			return ""
		}
	}
	return fmt.Sprintf("no bug is found: %+v", sum.Verdicts)
}

package ptxtest

import (
	"context"
	"flag"
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

// sync matches the statements whose loss should show: barriers, fences, __syncwarp, named barriers, commits of and
// waits for copies.
var sync = regexp.MustCompile(`asm volatile\("bar[^;]*;"[^;]*;|__(syncthreads|threadfence|threadfence_block|syncwarp|pipeline_commit|pipeline_wait_prior)\([^)]*\);|` +
	`\b(barrier|work_group_barrier|sub_group_barrier|mem_fence|atomic_work_item_fence|wait_group_events)\([^)]*\);`)

// mutation is what is done to a line, one at a time.
type mutation struct {
	what *regexp.Regexp
	to   string
}

// mutations are those of sources: synchronization is lost, the flags of OpenCL's barriers and fences name the other memory.
var mutations = []mutation{
	{sync, ";"},
	{regexp.MustCompile(`CLK_LOCAL_MEM_FENCE`), "CLK_GLOBAL_MEM_FENCE"},
	{regexp.MustCompile(`CLK_GLOBAL_MEM_FENCE`), "CLK_LOCAL_MEM_FENCE"},
}

// ptxMutations are those of PTX: instructions that order are lost, orders of memory accesses (not of fences, which have
// no relaxed form) become relaxed.
var ptxMutations = []mutation{
	{regexp.MustCompile(`^\t(@!?%p\d+ )?(fence\.|membar\.|bar\.|cp\.async\.wait)[^;]*;`), ""},
	{regexp.MustCompile(`^(\t[^\t]*\b(?:ld|st|atom|red)\b[^;]*?)\.(?:acquire|release|acq_rel)\b`), "$1.relaxed"},
}

// mutationsOf are those of a file.
func mutationsOf(path string) []mutation {
	if strings.HasSuffix(path, ".ptx") {
		return ptxMutations
	}
	return mutations
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
			text, err := Source(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "// expect: clean\n") || strings.Contains(string(text), "// options: ") {
				continue
			}
			name, _ := filepath.Rel(dir, path)
			t.Run(name, func(t *testing.T) { mutants += mutateFile(t, path, strings.Split(string(text), "\n")) })
		}
	}
	t.Logf("%d mutants", mutants)
	if flag.Lookup("test.run").Value.String() == "" && mutants < 40 {
		t.Errorf("%d mutants; the test looks at the wrong place", mutants)
	}
}

// mutateFile checks every mutant of a file, and returns how many there were.
func mutateFile(t *testing.T, path string, lines []string) int {
	n := 0
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "//") || strings.Contains(line, "// redundant: ") {
			continue
		}
		for _, m := range mutationsOf(path) {
			if !m.what.MatchString(line) {
				continue
			}
			n++
			mutant := append([]string(nil), lines...)
			mutant[i] = m.what.ReplaceAllString(line, m.to)
			name := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := os.WriteFile(name, []byte(strings.Join(mutant, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
			if why := survives(t.Context(), name); why != "" {
				t.Errorf("%s:%d: %s: %s", path, i+1, strings.TrimSpace(mutant[i]), why)
			}
		}
	}
	return n
}

// survives runs a mutant, and says what it came to if it is no bug.
func survives(ctx context.Context, path string) string {
	opt := check.Options{SkipProof: true}
	opt.MaxSteps, opt.Files = 2_000_000, source.NewSet()
	sum, err := check.Files(ctx, opt, []string{path}, func(diag.Diagnostic) {})
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

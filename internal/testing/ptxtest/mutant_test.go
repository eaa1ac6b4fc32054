package ptxtest

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// sync matches the statements whose removal must be detected: barriers, fences, __syncwarp, named
// barriers, and commits of and waits for asynchronous copies.
var sync = regexp.MustCompile(`asm volatile\("bar[^;]*;"[^;]*;|__(syncthreads|threadfence|threadfence_block|syncwarp|pipeline_commit|pipeline_wait_prior)\([^)]*\);|` +
	`\b(barrier|work_group_barrier|sub_group_barrier|mem_fence|atomic_work_item_fence|wait_group_events)\([^)]*\);`)

// mutation is a change to one line.
type mutation struct {
	what *regexp.Regexp
	to   string
}

// mutations lists the changes to sources: remove a synchronization, or let the flags of an OpenCL
// barrier or fence name the other memory.
var mutations = []mutation{
	{sync, ";"},
	{regexp.MustCompile(`CLK_LOCAL_MEM_FENCE`), "CLK_GLOBAL_MEM_FENCE"},
	{regexp.MustCompile(`CLK_GLOBAL_MEM_FENCE`), "CLK_LOCAL_MEM_FENCE"},
}

// relaxedArrival makes an arrival at the barrier of a cluster relaxed. Where that is right, the
// line has the comment "// relaxed is enough: REASON".
var relaxedArrival = mutation{regexp.MustCompile(`^\tbarrier\.cluster\.arrive\.aligned;`),
	"\tbarrier.cluster.arrive.relaxed.aligned;"}

// ptxMutations lists the changes to PTX: remove an ordering instruction, or make a memory access
// relaxed. Fences have no relaxed form.
var ptxMutations = []mutation{
	{regexp.MustCompile(`^\t(@!?%p\d+ )?(fence\.|membar\.|bar\.|barrier\.cluster\.|cp\.async\.wait|cp\.async\.bulk\.(commit|wait)|` +
		`mbarrier\.(init|arrive|expect_tx|complete_tx)|cp\.async\.mbarrier)[^;]*;`), ""},
	{regexp.MustCompile(`^\tW\d+: mbarrier\.[^;]*; [^;]*;`), ""}, // a wait and its loop
	relaxedArrival,
	{regexp.MustCompile(`^\twgmma\.(fence|commit_group|wait_group)[^;]*;`), ""},
	{regexp.MustCompile(`^\t(@!?%p\d+ )?tcgen05\.(wait|commit|fence|dealloc)[^;]*;`), ""},
	{regexp.MustCompile(`^\tsetmaxnreg\.dec[^;]*;`), ""},
	{regexp.MustCompile(`^(\twgmma\.wait_group\.sync\.aligned) 0;`), "$1 1;"},
	{regexp.MustCompile(`^(\twgmma\.wait_group\.sync\.aligned) 1;`), "$1 2;"},
	{regexp.MustCompile(`^(\t[^\t]*\b(?:ld|st|atom|red)\b[^;]*?)\.(?:acquire|release|acq_rel)\b`),
		"$1.relaxed"},
}

// mutationsOf returns the mutations for a file.
func mutationsOf(path string) []mutation {
	if strings.HasSuffix(path, ".ptx") {
		return ptxMutations
	}
	return mutations
}

// TestMutants removes the synchronization statements of the correct kernels, one at a time. Each
// removal must be detected, unless the line has the comment "// redundant: REASON".
func TestMutants(t *testing.T) {
	if !long.All() {
		t.Skip("long: one run for each synchronization statement (HEDDLE_LONG=1)")
	}
	mutants := 0
	for _, dir := range []string{suiteDir, examplesDir} {
		for _, path := range kernels(t, dir) {
			text, err := Source(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "// expect: clean\n") ||
				strings.Contains(string(text), "// options: ") {
				continue
			}
			name, _ := filepath.Rel(dir, path)
			t.Run(name, func(t *testing.T) {
				mutants += mutateFile(t, path,
					strings.Split(string(text), "\n"))
			})
		}
	}
	t.Logf("%d mutants", mutants)
	if flag.Lookup("test.run").Value.String() == "" && mutants < 40 {
		t.Errorf("only %d mutants: the test does not find the kernels", mutants)
	}
}

// mutateFile checks every mutant of a file and returns their number.
func mutateFile(t *testing.T, path string, lines []string) int {
	n, warned := 0, fenceWarnings(t, path)
	eachMutant(t, path, lines, false, func(line int, mutant string) {
		n++
		if why := survives(t.Context(), mutant); why != "" && fenceWarnings(t, mutant) <= warned {
			t.Errorf("%s:%d: %s: %s", path, line, strings.TrimSpace(lines[line-1]), why)
		}
	})
	return n
}

// fenceWarnings returns the number of places in a file at which runs miss a tcgen05.fence, which is
// a warning (docs/support.md, "Tensor memory").
func fenceWarnings(t *testing.T, path string) (n int) {
	t.Helper()
	text, err := Source(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "tcgen05.") {
		return 0
	}
	opt := check.Options{SkipProof: true}
	opt.Files = source.NewSet()
	_, err = check.Files(t.Context(), opt, []string{path}, func(d diag.Diagnostic) {
		if d.Code == diag.CodeTensorFence {
			n++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// survives runs a mutant and describes the result if it is not a bug.
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
	return fmt.Sprintf("no bug was found: %+v", sum.Verdicts)
}

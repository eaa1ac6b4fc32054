package check_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
)

// tritonKernel is what heddle check must say of a kernel of testdata/triton, by itself.
type tritonKernel struct {
	verdict diag.VerdictKind
	finding string // CODE LINE:COL of an error; of a warning if the verdict is unknown; empty: there is none
	why     string // by the semantics of Triton and PTX, not by what heddle says
}

// tritonKernels are the expectations, by the name of the file. Lines are those of kernels.py.
var tritonKernels = map[string]tritonKernel{
	"add": {diag.Verified, "", "each thread writes eight elements of its program's block"},
	"add_overlap": {diag.Bug, "race-global 14:31",
		"programs are 512 elements apart and write 1024, so that neighbours write the same ones"},
	"histogram": {diag.Bug, "race-global 23:19",
		"programs read and write out_ptr[0] without an atomic operation"},
	"softmax": {diag.Unknown, "race-global 38:45",
		"rows overlap if the stride is less than n, which only the caller knows"},
	"softmax_no_barrier": {diag.Bug, "race-shared 38:56",
		"warps read the sums of others, in tl.sum, before these are written"},
	"matmul": {diag.Clean, "", "a barrier between the copies of all threads and the reads of each tile"},
	"matmul_no_barrier": {diag.Bug, "race-async-copy 47:21",
		"a thread waits for its own copies only (PTX ISA 9.7.9.25.3), and reads those of others"},
	"stream": {diag.Unsupported, "", "copies of tensors are not run; the trace verifies the barriers"},
	"stream_no_fence": {diag.Bug, "race-proxy 64:13",
		"the next copy overwrites what a thread has read, without a proxy fence (PTX ISA 8.6)"},
	"persistent": {diag.Unsupported, "", "copies of tensors in a loop whose length depends on the program"},
}

// TestTriton checks kernels in the form in which Triton writes PTX, with its metadata beside them:
// the blocks of a launch and the boxes of tensor maps are not said otherwise. Findings are at the
// line of Python that the user has written, also for what Triton's library does there.
func TestTriton(t *testing.T) {
	files, err := filepath.Glob("../../testdata/triton/*.ptx")
	if err != nil || len(files) != len(tritonKernels) {
		t.Fatalf("%d files and %d expectations (%v)", len(files), len(tritonKernels), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".ptx")
		want := tritonKernels[name]
		var found []string
		var opt check.Options
		sum, err := check.Files(t.Context(), opt, []string{path}, func(g diag.Diagnostic) {
			least := diag.Error
			if want.verdict == diag.Unknown {
				least = diag.Warning
			}
			if g.Severity >= least {
				found = append(found, fmt.Sprint(g.Code, " ", g.Span.Start))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(sum.Verdicts) != 1 || sum.Verdicts[0].Kind != want.verdict {
			t.Errorf("%s: verdicts %+v, want %s: %s", name, sum.Verdicts, want.verdict, want.why)
			continue
		}
		if want.finding == "" && len(found) > 0 || want.finding != "" && !slices.Contains(found, want.finding) {
			t.Errorf("%s: findings %v, want %q: %s", name, found, want.finding, want.why)
		}
	}
}

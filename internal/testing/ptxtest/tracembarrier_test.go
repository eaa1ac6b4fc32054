package ptxtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

const (
	mbarrierDir = suiteDir + "/mbarrier"
	clusterDir  = suiteDir + "/cluster"
	wgmmaDir    = suiteDir + "/wgmma"
	tensorDir   = suiteDir + "/tcgen05"
	poolDir     = suiteDir + "/registers"
)

// traceDiffers contains the kernels over mbarriers of which a trace rightly says something else
// than runs do.
var traceDiffers = map[string]diag.VerdictKind{
	// Races in global memory, which a trace does not examine.
	"store_beside_reduction": diag.Verified,
	"reads_only":             diag.Verified,
	"restricted_release":     diag.Verified,
	"restricted_acquire":     diag.Verified,
	"global_memory":          diag.Verified,
	"own_tiles":              diag.Verified,
	"two_warps":              diag.Verified,
	"changed":                diag.Verified,
	// Whether an allocation has to wait for columns may depend on the schedule.
	"never_free": diag.Unsupported,
	// The input chooses the block whose shared memory is accessed.
	"histogram(int const*, int*)": diag.Unsupported,
}

// TestTraceMBarriers traces the kernels over mbarriers, clusters, wgmma, tcgen05 and setmaxnreg
// that runs examine: those that are clean are verified, and those with a bug have one.
func TestTraceMBarriers(t *testing.T) {
	n := 0
	for _, path := range modernKernels(t) {
		text, err := Source(path)
		if err != nil {
			t.Fatal(err)
		}
		want := diag.Bug
		if strings.Contains(string(text), "// expect: clean\n") {
			want = diag.Verified
		}
		for _, v := range tracedFile(t, path) {
			n++
			want := want
			if other, ok := traceDiffers[v.Kernel]; ok {
				want = other
			}
			if v.Kind != want {
				t.Errorf("%s: kernel %s: %v (%s), want %v", path, v.Kernel, v.Kind, v.Reason, want)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d kernels", n)
	}
}

// modernKernels returns the files of kernels over mbarriers, clusters, wgmma, tcgen05 and
// setmaxnreg.
func modernKernels(t *testing.T) []string {
	return slices.Concat(kernels(t, mbarrierDir), kernels(t, clusterDir), kernels(t, wgmmaDir),
		kernels(t, tensorDir), kernels(t, poolDir))
}

// tracedFile returns the verdicts of traces of a file, with its flags.
func tracedFile(t *testing.T, path string) []diag.Verdict {
	t.Helper()
	opt := check.Options{Mode: check.Trace}
	opt.Files = source.NewSet()
	text, err := Source(path)
	if err != nil {
		t.Fatal(err)
	}
	if exp, err := Parse(string(text)); err != nil {
		t.Fatalf("%s: %v", path, err)
	} else if err := options(&opt.Options, new(int), exp.Options); err != nil {
		t.Fatalf("%s: options: %v", path, err)
	}
	sum, err := check.Files(context.Background(), opt, []string{path}, func(diag.Diagnostic) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Verdicts) == 0 {
		t.Errorf("%s: no verdict", path)
	}
	return sum.Verdicts
}

// twice matches the statements that TestTraceMutants doubles.
var twice = mutation{regexp.MustCompile(`^\t(?:@!?%p\d+ )?mbarrier\.(?:init|arrive|expect_tx)[^;]*;` +
	`|^\t(?:@!?%p\d+ )?cp\.async\.bulk\.(?:tensor\.\dd\.cta_group::2\.)?shared[^;]*;`), "$0 $0"}

// TestTraceMutants removes the synchronization statements of the right kernels over mbarriers, and
// doubles initializations, arrivals, expects and copies into shared memory, one at a time. A trace
// must not verify what is left, unless the line has the comment "// redundant: REASON" or, if that
// is true of shared memory only, "// redundant in a trace: REASON". It has a bug, its phases depend
// on the schedule, or it waits for a state that no arrival has returned, reads an answer that is not
// there, or loads from an address of tensor memory that no allocation has written, or no phase
// completes any more that says how many bytes a tensor map selects. What is right although it is
// doubled has the comment "// redundant twice: REASON".
func TestTraceMutants(t *testing.T) {
	if !long.All() {
		t.Skip("long: one trace for each synchronization statement (HEDDLE_LONG=1)")
	}
	found := make(map[diag.VerdictKind]int)
	paths := modernKernels(t)
	for _, path := range kernels(t, traceDir) {
		if name := filepath.Base(path); strings.HasPrefix(name, "mbarrier") ||
			strings.HasPrefix(name, "cluster") || strings.HasPrefix(name, "tensor_pair") ||
			name == "rounds_wgmma.ptx" || name == "rounds_tcgen05.ptx" || name == "cancel.ptx" ||
			name == "cancel_cluster.ptx" || name == "cancel_cluster_ring.ptx" {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		text, err := Source(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "// expect: clean\n") &&
			!strings.Contains(string(text), "// expect: verified\n") {
			continue
		}
		warned := fenceWarnings(t, path)
		eachMutant(t, path, strings.Split(string(text), "\n"), true, func(line int, mutant string) {
			worst := diag.Verdict{Kind: diag.Verified}
			for _, v := range tracedFile(t, mutant) {
				if v.Kind != diag.Verified {
					worst = v
				}
			}
			found[worst.Kind]++
			noState := worst.Kind == diag.Unsupported &&
				(strings.Contains(worst.Reason, "which is read before it is written") ||
					strings.Contains(worst.Reason, "which is no complete answer") ||
					strings.Contains(worst.Reason, "depends on memory that has not been written") ||
					strings.Contains(worst.Reason, "how many bytes its tensor map selects is not known"))
			if worst.Kind != diag.Bug && worst.Kind != diag.Unknown && !noState &&
				fenceWarnings(t, mutant) <= warned {
				t.Errorf("%s:%d: the trace says %v without this line", path, line, worst.Kind)
			}
		})
	}
	t.Logf("mutants by verdict: %s", fmt.Sprint(found))
	if found[diag.Bug] < 60 {
		t.Errorf("only %d mutants have a bug", found[diag.Bug])
	}
}

// eachMutant writes each mutant of a file that a trace, or else a run, must find, and passes its
// line, from 1, and its path to visit.
func eachMutant(t *testing.T, path string, lines []string, trace bool,
	visit func(line int, mutant string)) {
	t.Helper()
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "//") || strings.Contains(line, "// redundant: ") ||
			trace && strings.Contains(line, "// redundant in a trace: ") {
			continue
		}
		list := mutationsOf(path)
		if trace && !strings.Contains(line, "// redundant twice: ") {
			list = append(slices.Clone(list), twice)
		}
		for _, m := range list {
			if !m.what.MatchString(line) ||
				m == relaxedArrival && strings.Contains(line, "// relaxed is enough: ") {
				continue
			}
			mutant := append([]string(nil), lines...)
			mutant[i] = m.what.ReplaceAllString(line, m.to)
			name := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := os.WriteFile(name, []byte(strings.Join(mutant, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
			visit(i+1, name)
		}
	}
}

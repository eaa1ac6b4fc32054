package prove_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
)

// proofRE matches the comment above an OpenCL kernel of testdata/verify: the expected outcome with
// its reason, and the launch.
var proofRE = regexp.MustCompile(
	`(?m)^// (verified|race|divergence|violation|refused): .+\n// heddle: .+\nkernel void (\w+)\(`)

// TestOpenCLProofs: correct OpenCL kernels are verified for all inputs. For an incorrect one, a run
// of the counterexample shows its bug. The exception is "refused": no run can see what those
// annotations are about, so the kernel stays unknown.
func TestOpenCLProofs(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/verify/*.cl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if testing.Short() { // under the race detector, ten times slower
		files = files[:1]
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for _, m := range proofRE.FindAllStringSubmatch(string(text), -1) {
				want[m[2]] = m[1]
			}
			if n := strings.Count(string(text), "\nkernel "); n != len(want) {
				t.Fatalf("%d kernels, %d expectations", n, len(want))
			}
			found := map[string]string{}
			opt := check.Options{Mode: check.Verify}
			sum, err := check.Files(t.Context(), opt, []string{path}, func(d diag.Diagnostic) {
				if d.Kernel != "" {
					found[d.Kernel] += " " + string(d.Code)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range sum.Verdicts {
				expectProof(t, v, want[v.Kernel], found[v.Kernel])
				delete(want, v.Kernel)
			}
			if len(want) > 0 {
				t.Errorf("no verdicts: %v", want)
			}
		})
	}
}

func expectProof(t *testing.T, v diag.Verdict, want, codes string) {
	t.Helper()
	ok := v.Kind == diag.Verified
	switch want {
	case "race":
		ok = v.Kind == diag.Bug && strings.Contains(codes, "race-") &&
			!strings.Contains(codes, "barrier-")
	case "violation":
		ok = v.Kind == diag.Bug && strings.Contains(codes, "annotation-failed")
	case "refused":
		ok = v.Kind == diag.Unknown
	case "divergence":
		ok = v.Kind == diag.Bug && strings.Contains(codes, "barrier-divergence")
	}
	if !ok {
		t.Errorf("%s: verdict %v%s (%s), want %s", v.Kernel, v.Kind, codes, v.Reason, want)
	}
}

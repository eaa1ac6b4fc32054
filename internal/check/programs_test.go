package check_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"heddle/internal/check"
	"heddle/internal/diag"
)

// programComment is what stands above a kernel of testdata/verify/programs: what must come out and why, and its launch.
var programComment = regexp.MustCompile(`(?m)^// (verified|race|divergence|unknown): .*\n// heddle: .*\n__global__ void (\w+)`)

// TestPrograms: kernels as they are written in CUDA, through the whole driver. Those that are right are verified for all
// inputs. Of each broken one a bug of its kind is confirmed by replay. "unknown" marks a right kernel whose proof is
// known to be out of reach: it may be verified or not, but is never a bug.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("../../testdata/verify/programs/*.cu")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	count := map[string]int{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, m := range programComment.FindAllStringSubmatch(string(text), -1) {
			want[m[2]] = m[1]
		}
		if n := strings.Count(string(text), "__global__"); n != len(want) {
			t.Fatalf("%s: %d kernels, %d expectations", path, n, len(want))
		}
		found := map[string]map[diag.Code]bool{}
		opt := check.Options{Command: "verify", Prove: true, Timeout: 2 * time.Minute}
		sum, err := check.Run(t.Context(), opt, []string{path}, func(d diag.Diagnostic) {
			name, _, _ := strings.Cut(d.Kernel, "(")
			if found[name] == nil {
				found[name] = map[diag.Code]bool{}
			}
			found[name][d.Code] = true
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(sum.Verdicts) != len(want) {
			t.Errorf("%s: %d verdicts of %d kernels", path, len(sum.Verdicts), len(want))
		}
		for i := range sum.Verdicts {
			v := &sum.Verdicts[i]
			name, _, _ := strings.Cut(v.Kernel, "(")
			t.Run(name, func(t *testing.T) {
				expectProgram(t, want[name], v, found[name])
				if want[name] == "unknown" && v.Kind == diag.Verified {
					t.Log("is verified by now: the comment can say so")
				}
			})
			count[want[name]]++
		}
	}
	t.Logf("%d right, %d of which the proof is a known gap; %d broken", count["verified"]+count["unknown"], count["unknown"], count["race"]+count["divergence"])
	if count["verified"] < 60 || count["race"]+count["divergence"] < 60 {
		t.Error("at least 60 kernels that are verified and 60 broken ones are expected")
	}
}

func expectProgram(t *testing.T, want string, v *diag.Verdict, found map[diag.Code]bool) {
	t.Helper()
	races := found[diag.CodeRaceShared] || found[diag.CodeRaceGlobal]
	diverges := found[diag.CodeBarrierDivergence] || found[diag.CodeBarrierDeadlock]
	switch {
	case want == "verified" && v.Kind != diag.Verified,
		want == "unknown" && v.Kind != diag.Verified && v.Kind != diag.Unknown,
		want == "race" && (v.Kind != diag.Bug || !races),
		want == "divergence" && (v.Kind != diag.Bug || !diverges):
		t.Errorf("%v (%s), want %s", v.Kind, v.Reason, want)
	}
}

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
	"heddle/internal/engine/prove"
)

// programComment is what stands above a kernel of testdata/verify/programs: what must come out and why, and its launch.
var programComment = regexp.MustCompile(`(?m)^// (verified|race|divergence|unknown)(, unconfirmed)?: .*\n// heddle: .*\n__global__ void (\w+)`)

// TestPrograms: kernels as they are written in CUDA, through the whole driver. Those that are right are verified for all
// inputs. Of each broken one a bug of its kind is confirmed by replay. Two marks are for known gaps: "unknown" for a
// right kernel whose proof is out of reach, which may be verified or not, but is no bug; "unconfirmed" for a broken one
// of which no replay is known to show the bug, which may be a bug or unknown, but is not verified.
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
			want[m[3]] = m[1] + m[2]
		}
		if n := strings.Count(string(text), "__global__"); n != len(want) {
			t.Fatalf("%s: %d kernels, %d expectations", path, n, len(want))
		}
		found := map[string]map[diag.Code]bool{}
		opt := check.Options{Mode: check.Verify, Prove: prove.Options{Timeout: 2 * time.Minute}}
		opt.MaxSteps = 200_000
		sum, err := check.Files(t.Context(), opt, []string{path}, func(d diag.Diagnostic) {
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
				if want[name] == "unknown" && v.Kind == diag.Verified || strings.HasSuffix(want[name], "unconfirmed") && v.Kind == diag.Bug {
					t.Log("the gap is closed: the comment can say so")
				}
			})
			count[want[name]]++
		}
	}
	t.Logf("verified: %d, and %d whose proof is a known gap; refuted: %d, and %d without a replay",
		count["verified"], count["unknown"], count["race"]+count["divergence"], count["race, unconfirmed"]+count["divergence, unconfirmed"])
	if count["verified"] < 60 || count["race"]+count["divergence"] < 60 {
		t.Error("at least 60 kernels that are verified and 60 broken ones are expected")
	}
}

func expectProgram(t *testing.T, want string, v *diag.Verdict, found map[diag.Code]bool) {
	t.Helper()
	races := found[diag.CodeRaceShared] || found[diag.CodeRaceGlobal]
	diverges := found[diag.CodeBarrierDivergence] || found[diag.CodeBarrierDeadlock]
	switch {
	case strings.HasSuffix(want, ", unconfirmed") && v.Kind != diag.Bug && v.Kind != diag.Unknown,
		want == "verified" && v.Kind != diag.Verified,
		want == "unknown" && v.Kind != diag.Verified && v.Kind != diag.Unknown,
		want == "race" && (v.Kind != diag.Bug || !races),
		want == "divergence" && (v.Kind != diag.Bug || !diverges):
		t.Errorf("%v (%s), want %s", v.Kind, v.Reason, want)
	}
}

package check_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
)

// programComment matches the comment above a kernel of testdata/verify/programs: the expected
// outcome with its reason, and the launch.
var programComment = regexp.MustCompile(
	`(?m)^// (verified|race|divergence|unknown)(, unconfirmed)?: .*\n` +
		`// heddle: .*\n__global__ void (\w+)`)

// TestPrograms: kernels as people write them in CUDA. The correct ones are verified for all inputs.
// For each broken one a bug of its kind is confirmed by replay. Two marks document known gaps:
// "unknown" is a correct kernel whose proof is out of reach; "unconfirmed" is a broken one whose
// bug no replay shows. The test fails when a gap is closed, so that the mark goes away with it.
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
		opt := check.Options{Mode: check.Verify}
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
				if want[name] == "unknown" && v.Kind == diag.Verified ||
					strings.HasSuffix(want[name], "unconfirmed") && v.Kind == diag.Bug {
					t.Errorf("the gap is closed (%v): correct the comment above the kernel", v.Kind)
				}
			})
			count[want[name]]++
		}
	}
	t.Logf("verified: %d, and %d whose proof is a known gap; refuted: %d, and %d without a replay",
		count["verified"], count["unknown"], count["race"]+count["divergence"],
		count["race, unconfirmed"]+count["divergence, unconfirmed"])
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

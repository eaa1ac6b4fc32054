package ptxtest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/engine/run"
	"heddle/internal/source"
	"heddle/internal/testing/gen"
)

// verdictOf returns the verdict on the kernel of a text, by a trace or by runs.
func verdictOf(t *testing.T, text string, mode check.Mode, seeds int) diag.Verdict {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	opt := check.Options{Mode: mode, SkipProof: true, Run: run.Options{Seeds: seeds}}
	opt.Files, opt.MaxSteps = source.NewSet(), 2_000_000
	sum, err := check.Files(t.Context(), opt, []string{path}, func(diag.Diagnostic) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Verdicts) != 1 {
		t.Fatalf("%d verdicts\n%s", len(sum.Verdicts), text)
	}
	return sum.Verdicts[0]
}

// TestAnyNumberOfRounds compares the verdicts on random rings for any number of rounds with those
// for single numbers, by traces and by runs in several schedules: a ring that is verified for all
// must be right for each. Numbers below that of the stages, around the periods and far above them
// are among them. All right rings must be verified.
func TestAnyNumberOfRounds(t *testing.T) {
	programs := 24
	if os.Getenv("HEDDLE_LONG") != "" {
		programs = 400
	}
	rnd := rand.New(rand.NewPCG(21, 22))
	verified, rejected := 0, make(map[string]int)
	for range programs {
		r := gen.RandomRounds(rnd)
		v := verdictOf(t, r.PTX(-1), check.Trace, 1)
		if v.Kind == diag.Bug {
			t.Fatalf("a bug without a number of rounds: %+v\n%s", r, r.PTX(-1))
		}
		all := v.Kind == diag.Verified
		if all && !strings.Contains(v.Scope, "any n from 0 to") {
			t.Fatalf("the verdict does not say for which numbers: %q", v.Scope)
		}
		if all {
			verified++
		} else {
			rejected[gen.RoundMistakes[r.Mistake]]++
			if r.Mistake == 0 {
				t.Errorf("a right ring is not verified: %s: %+v\n%s", v.Reason, r, r.PTX(-1))
			}
			continue
		}
		numbers := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 23, 24, 25, 33, 63, 64, 65, 97, 128, 200,
			225 + rnd.IntN(400)}
		rnd.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		for i, n := range numbers {
			one := verdictOf(t, r.PTX(n), check.Trace, 1)
			if one.Kind != diag.Verified {
				t.Fatalf("verified for any n, and with n=%d %v (%s): %+v\n%s", n, one.Kind, one.Reason, r,
					r.PTX(n))
			}
			if i < 3 {
				if one := verdictOf(t, r.PTX(n), check.Run, 4); one.Kind != diag.Clean {
					t.Fatalf("verified for any n, and runs with n=%d say %v (%s): %+v\n%s", n, one.Kind,
						one.Reason, r, r.PTX(n))
				}
			}
		}
	}
	t.Logf("%d of %d verified; not verified: %v", verified, programs, rejected)
	if 4*verified < programs || len(rejected) < 6 {
		t.Error("the programs show too little")
	}
}

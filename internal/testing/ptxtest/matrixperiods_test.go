package ptxtest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/long"
)

// TestAnyNumberOfMatrixRounds does what TestAnyNumberOfRounds does, for rings whose stages are
// operands of wgmma and tcgen05.mma.
func TestAnyNumberOfMatrixRounds(t *testing.T) {
	programs := 12
	if long.All() {
		programs = 400
	}
	rnd := rand.New(rand.NewPCG(27, 28))
	verified, rejected := make(map[bool]int), make(map[string]int)
	for range programs {
		r := gen.RandomMatrixRounds(rnd)
		v := verdictOf(t, r.PTX(-1), check.Trace, 1)
		switch {
		case v.Kind == diag.Bug && r.When != 0:
			t.Fatalf("a bug without a number of rounds: %+v\n%s", r, r.PTX(-1))
		case v.Kind != diag.Verified:
			rejected[r.Name()]++
			if r.Mistake == 0 {
				t.Errorf("a right ring is not verified: %s: %+v\n%s", v.Reason, r, r.PTX(-1))
			}
			continue
		case !strings.Contains(v.Scope, "any n from 0 to"):
			t.Fatalf("the verdict does not say for which numbers: %q", v.Scope)
		}
		verified[r.Tensor]++
		numbers := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 23, 24, 25, 33, 63, 64, 65, 97, 128, 200,
			225 + rnd.IntN(200)}
		rnd.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		for i, n := range numbers {
			if !long.All() && i >= 6 {
				break
			}
			one := verdictOf(t, r.PTX(n), check.Trace, 1)
			if one.Kind != diag.Verified {
				t.Fatalf("verified for any n, and with n=%d %v (%s): %+v\n%s", n, one.Kind, one.Reason, r,
					r.PTX(n))
			}
			if i < 2 {
				if one := verdictOf(t, r.PTX(n), check.Run, 4); one.Kind != diag.Clean {
					t.Fatalf("verified for any n, and runs with n=%d say %v (%s): %+v\n%s", n, one.Kind,
						one.Reason, r, r.PTX(n))
				}
			}
		}
	}
	t.Logf("verified: %d with wgmma, %d with tcgen05, of %d; not verified: %v", verified[false],
		verified[true], programs, rejected)
	if 4*(verified[false]+verified[true]) < programs || verified[false] == 0 || verified[true] == 0 ||
		len(rejected) < 4 {
		t.Error("the programs show too little")
	}
}

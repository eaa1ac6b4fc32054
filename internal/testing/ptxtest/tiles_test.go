package ptxtest

import (
	"math/rand/v2"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/long"
)

// TestTilesOfOthers compares the verdicts of traces of random kernels whose blocks cancel others
// with runs in several schedules, which cancel some: one that is verified must be clean in each.
// All right kernels must be verified.
func TestTilesOfOthers(t *testing.T) {
	programs, seeds := 60, 6
	if long.All() {
		programs, seeds = 2000, 24
	}
	rnd := rand.New(rand.NewPCG(29, 30))
	verified, bugs, rejected := 0, 0, make(map[string]int)
	for range programs {
		r := gen.RandomTiles(rnd)
		traced, ran := verdictOf(t, r.PTX(), check.Trace, 1), verdictOf(t, r.PTX(), check.Run, seeds)
		if ran.Kind == diag.Bug {
			bugs++
		}
		if traced.Kind == diag.Verified {
			verified++
			if ran.Kind != diag.Clean {
				t.Fatalf("verified, and runs say %v (%s): %+v\n%s", ran.Kind, ran.Reason, r, r.PTX())
			}
			continue
		}
		rejected[gen.TilesMistakes[r.Mistake]]++
		if r.Mistake == 0 {
			t.Errorf("a right kernel is not verified: %s: %+v\n%s", traced.Reason, r, r.PTX())
		}
	}
	t.Logf("%d of %d verified, %d with a bug in runs; not verified: %v", verified, programs, bugs,
		rejected)
	if 4*verified < programs || bugs < programs/10 || len(rejected) < 6 {
		t.Error("the programs show too little")
	}
}

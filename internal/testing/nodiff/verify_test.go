package nodiff

import (
	"errors"
	"math/rand"
	"os"
	"testing"
	"time"

	"heddle/internal/emu"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/race"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/gen"
	"heddle/internal/verify"
)

// TestVerifiedMeansClean: what verify proves, no run may refute. Random kernels, under several schedules.
func TestVerifiedMeansClean(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 50
	}
	if os.Getenv("HEDDLE_LONG") != "" {
		n = 20_000
	}
	verified, refuted := 0, 0
	for seed := range n {
		k := gen.Random(rand.New(rand.NewSource(int64(seed))), gen.Options{BlockBarriers: seed%4 > 0})
		f := build(t, k.PTX)
		cfg, errs := launch.Resolve(f, request(k), nil)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		th, err := lockstep.Build(f, lockstep.Options{Geometry: cfg.Geometry})
		var no *lockstep.UnsupportedError
		if errors.As(err, &no) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r := verify.Kernel(t.Context(), th, verify.Options{Limit: 1, Benign: verify.BenignNone, Solvers: []smt.Solver{&sat.Solver{Time: time.Second}}})
		if !r.Verified() {
			refuted++
			continue
		}
		verified++
		if what := anyBug(t, f, cfg); what != "" {
			t.Fatalf("seed %d is verified, but a run finds %s\n%s", seed, what, k.PTX)
		}
	}
	t.Logf("%d verified, %d not, of %d", verified, refuted, n)
	if verified < n/50 {
		t.Errorf("only %d of %d kernels were verified: the test shows little", verified, n)
	}
}

// anyBug runs a kernel under some schedules and names a bug, if there is one.
func anyBug(t *testing.T, f *ir.Func, cfg *launch.Config) string {
	t.Helper()
	m, err := emu.New(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(10) {
		d := race.New(race.Options{Geometry: cfg.Geometry, Benign: race.BenignNone, SharedBytes: uint32(m.SharedBytes())})
		r, err := m.Run(t.Context(), emu.Options{Seed: seed, MaxSteps: maxSteps, Workers: 1}, d)
		if err != nil {
			t.Fatal(err)
		}
		rep := d.Report()
		switch {
		case len(rep.Races) > 0:
			return "a race"
		case r.Status == emu.Stalled:
			return "a deadlock"
		}
	}
	return ""
}

package nodiff

import (
	"errors"
	"math/rand"
	"os"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/race"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/kernels"
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
		f := kernels.PTX(t, k.PTX).Funcs[0]
		cfg, errs := launch.Resolve(f, request(k), nil)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		th, err := lockstep.Build(t.Context(), f, lockstep.Options{Geometry: cfg.Geometry})
		var no *lockstep.UnsupportedError
		if errors.As(err, &no) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r := verify.Kernel(t.Context(), th, verify.Options{Limit: 1, Benign: verify.BenignNone, Solvers: []smt.Solver{&sat.Solver{Steps: 20_000_000}}})
		if !r.Verified() {
			refuted++
			continue
		}
		verified++
		if what := anyBug(t, f, cfg, 10); what != "" {
			t.Fatalf("seed %d is verified, but a run finds %s\n%s", seed, what, k.PTX)
		}
	}
	t.Logf("%d verified, %d not, of %d", verified, refuted, n)
	if verified < n/50 {
		t.Errorf("only %d of %d kernels were verified: the test shows little", verified, n)
	}
}

// anyBug runs a kernel under some schedules and names a bug, if there is one.
func anyBug(t *testing.T, f *ir.Func, cfg *launch.Config, seeds uint64) string {
	t.Helper()
	m, err := emu.New(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range seeds {
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

// TestVerifiedPhasesAreClean is TestVerifiedMeansClean on gen.Phases, under several arguments and contents.
func TestVerifiedPhasesAreClean(t *testing.T) { verifiedIsClean(t, gen.Phases, 300, 20) }

// TestVerifiedLoopsAreClean is the same on gen.LoopState: few of its kernels are right.
func TestVerifiedLoopsAreClean(t *testing.T) { verifiedIsClean(t, gen.LoopState, 40, 10) }

// TestVerifiedOrdersAreClean is the same on gen.Orders.
func TestVerifiedOrdersAreClean(t *testing.T) { verifiedIsClean(t, gen.Orders, 100, 20) }

// verifiedIsClean draws n kernels, of which one in few or more is to be verified, and runs those that are.
func verifiedIsClean(t *testing.T, draw func(gen.Source) gen.Kernel, n, few int) {
	if testing.Short() {
		n = 50
	}
	if os.Getenv("HEDDLE_LONG") != "" {
		n = 20_000
	}
	verified := 0
	for seed := range n {
		k := draw(rand.New(rand.NewSource(int64(seed))))
		f := kernelOf(t, k.PTX)
		th, err := lockstep.Build(t.Context(), f, lockstep.Options{Geometry: event.Geometry{Grid: k.Grid, Block: k.Block, Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}})
		if no := (*lockstep.UnsupportedError)(nil); errors.As(err, &no) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k.PTX)
		}
		r := verify.Kernel(t.Context(), th, verify.Options{Limit: 1, Benign: verify.BenignNone, Solvers: []smt.Solver{&sat.Solver{Steps: 20_000_000}}})
		if !r.Verified() {
			continue
		}
		verified++
		for i, number := range []string{"0", "1", "2", "3", "6", "0xffffffff"} {
			cfg, errs := launch.Resolve(f, phaseRequest(k, number, uint64(1+i/2)), nil)
			if len(errs) > 0 {
				t.Fatal(errs[0])
			}
			if what := anyBug(t, f, cfg, 2); what != "" && !(r.Lanes && what == "a deadlock") {
				t.Fatalf("seed %d is verified, but a run with n = %s finds %s\n%s", seed, number, what, k.PTX)
			}
		}
	}
	t.Logf("%d verified of %d", verified, n)
	if verified < n/few {
		t.Errorf("only %d of %d kernels were verified: the test shows little", verified, n)
	}
}

// kernelOf is the kernel of a text that may have other functions.
func kernelOf(t *testing.T, text string) *ir.Func {
	t.Helper()
	for _, f := range kernels.PTX(t, text).Funcs {
		if f.Kernel {
			return f
		}
	}
	t.Fatal("no kernel")
	return nil
}

func phaseRequest(k gen.Kernel, number string, contents uint64) launch.Request {
	grid, block := k.Grid, k.Block
	buffer := func(name string, words int) launch.ArgSpec {
		return launch.ArgSpec{Param: name, Offset: -1, Kind: launch.ArgBuffer, Fill: launch.FillRandom, Size: uint64(4 * words), Seed: contents}
	}
	return launch.Request{Grid: &grid, Block: &block, Args: []launch.ArgSpec{
		buffer("mem", gen.PhaseWords*int(grid.X)), buffer("ro", 16), {Param: "n", Offset: -1, Kind: launch.ArgValue, Text: number},
	}}
}

package nodiff

import (
	"errors"
	"fmt"
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
	"heddle/internal/testing/long"
	"heddle/internal/verify"
)

// TestVerifiedMeansClean: no run may refute a proof by verify. Random kernels, under several
// schedules.
func TestVerifiedMeansClean(t *testing.T) {
	draw := func(
		src gen.Source) gen.Kernel {
		return gen.Random(src, gen.Options{BlockBarriers: src.Intn(4) > 0})
	}
	verifiedIsClean(t, agreement{draw: draw, req: randomRequest}, 300, 10)
}

// TestVerifiedPhasesAreClean is the same on gen.Phases.
func TestVerifiedPhasesAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Phases, req: phaseRequest}, 120, 20)
}

// TestVerifiedLoopsAreClean is the same on gen.LoopState, few of whose kernels are free of races.
func TestVerifiedLoopsAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.LoopState, req: phaseRequest}, 40, 10)
}

// TestVerifiedOrdersAreClean is the same on gen.Orders.
func TestVerifiedOrdersAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Orders, req: phaseRequest}, 100, 20)
}

// TestVerifiedReadbackIsClean is the same on gen.Readback.
func TestVerifiedReadbackIsClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Readback, req: phaseRequest}, 60, 20)
}

// TestVerifiedLanesAreClean is the same on gen.Lanes, many of whose kernels hang.
func TestVerifiedLanesAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Lanes, req: phaseRequest}, 200, 20)
}

// TestVerifiedFlowIsClean is the same on gen.Flow.
func TestVerifiedFlowIsClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Flow, req: flowRequest}, 40, 10)
}

// TestVerifiedArrivalsAreClean is the same on gen.Arrivals.
func TestVerifiedArrivalsAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Arrivals, req: phaseRequest}, 300, 20)
}

// TestVerifiedLocksAreClean is the same on gen.Locks, for proofs that assume nothing of loads.
func TestVerifiedLocksAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Locks, req: phaseRequest, adversarial: true}, 300, 20)
}

// TestVerifiedTicketsAreClean is the same on gen.Tickets.
func TestVerifiedTicketsAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Tickets, req: phaseRequest, adversarial: true}, 60, 20)
}

// TestVerifiedRanksAreClean is the same on gen.Ranks, half of whose kernels add sizes whose sign or
// sum is not known.
func TestVerifiedRanksAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Ranks, req: phaseRequest}, 60, 20)
}

// TestVerifiedAggregatesAreClean is the same on gen.Aggregates.
func TestVerifiedAggregatesAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Aggregates, req: phaseRequest}, 16, 20)
}

// TestVerifiedBlockQueuesAreClean is the same on gen.BlockQueues.
func TestVerifiedBlockQueuesAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.BlockQueues, req: phaseRequest}, 24, 20)
}

// TestVerifiedFlagsAreClean is the same on gen.Flags.
func TestVerifiedFlagsAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.Flags, req: phaseRequest, adversarial: true}, 300, 20)
}

// TestVerifiedFlagLoopsAreClean is the same on gen.FlagLoops.
func TestVerifiedFlagLoopsAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.FlagLoops, req: phaseRequest, adversarial: true}, 100, 20)
}

// TestVerifiedGridBarriersAreClean is the same on gen.GridBarriers.
func TestVerifiedGridBarriersAreClean(t *testing.T) {
	verifiedIsClean(t, agreement{draw: gen.GridBarriers, req: phaseRequest}, 200, 20)
}

// TestVerifiedOpenCLIsClean is the same where barriers and fences order part of memory.
func TestVerifiedOpenCLIsClean(t *testing.T) {
	for name, draw := range map[string]func(gen.Source) gen.Kernel{
		"arrivals": gen.Arrivals, "locks": gen.Locks, "flags": gen.Flags,
	} {
		t.Run(name, func(t *testing.T) {
			verifiedIsClean(t, agreement{draw: gen.OpenCL(draw), req: phaseRequest,
				adversarial: name != "arrivals"}, 200, 30)
		})
	}
	for name, a := range map[string]agreement{
		"loops":    {draw: gen.OpenCL(gen.LoopState), req: phaseRequest, count: 40},
		"readback": {draw: gen.OpenCL(gen.Readback), req: phaseRequest, count: 20},
		"phases":   {draw: gen.OpenCL(gen.Phases), req: phaseRequest, count: 60},
	} {
		t.Run(name, func(t *testing.T) { verifiedIsClean(t, a, a.count, 30) })
	}
}

// TestVerifiedInLockstepIsClean is the same for lanes of a warp in lock step, in proofs and in
// runs.
func TestVerifiedInLockstepIsClean(t *testing.T) {
	random := func(
		src gen.Source) gen.Kernel {
		return gen.Random(src, gen.Options{BlockBarriers: true})
	}
	for name, a := range map[string]agreement{
		"random":   {draw: random, req: randomRequest, lockstep: true, count: 150},
		"flow":     {draw: gen.Flow, req: flowRequest, lockstep: true, count: 25},
		"readback": {draw: gen.Readback, req: phaseRequest, lockstep: true, count: 15},
		"lanes":    {draw: gen.Lanes, req: phaseRequest, lockstep: true, count: 100},
		"loops":    {draw: gen.LockStep, req: phaseRequest, lockstep: true, count: 200},
	} {
		t.Run(name, func(t *testing.T) { verifiedIsClean(t, a, a.count, 20) })
	}
}

// agreement is a kind of kernels whose proofs are compared with runs.
type agreement struct {
	draw     func(gen.Source) gen.Kernel
	req      func(k gen.Kernel, number string, contents uint64) launch.Request
	lockstep bool
	// loads of what the kernel writes may return anything in the proof
	adversarial bool
	count       int // how many to try by default
}

// verifiedIsClean generates n kernels and runs them, with several numbers, contents and schedules.
// A kernel with a refuting run must not be verified. Among the clean ones, one in eight is passed
// to verify too; at least one in few of these must be verified, or the test shows little.
func verifiedIsClean(t *testing.T, a agreement, n, few int) {
	from, to := seeds(t, n)
	schedules := uint64(2)
	if long.All() {
		schedules = 10
	}
	refuted, tried, verified := 0, 0, 0
	for seed := from; seed < to; seed++ {
		k := a.draw(rand.New(rand.NewSource(int64(seed))))
		f := kernelOf(t, k.PTX)
		var seen seenBugs
		for i, number := range []string{"3", "0", "1", "2", "6", "0xffffffff"} {
			cfg, errs := launch.Resolve(f, a.req(k, number, uint64(1+i/2)), nil)
			if len(errs) > 0 {
				t.Fatal(errs[0])
			}
			if seen.look(t, f, cfg, schedules, a.lockstep); seen.race != "" {
				break
			}
		}
		switch {
		case seen != seenBugs{}:
			refuted++
		case seed%8 > 0:
			continue
		default:
			tried++
		}
		built := lockstep.Options{Geometry: event.Geometry{Grid: k.Grid, Block: k.Block,
			Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}, Lockstep: a.lockstep, Adversarial: a.adversarial}
		th, err := lockstep.Build(t.Context(), f, built)
		if no := (*lockstep.UnsupportedError)(nil); errors.As(err, &no) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k.PTX)
		}
		opt := verify.Options{Limit: 1, Benign: event.BenignNone,
			Solvers: []smt.Solver{&sat.Solver{Steps: 2_000_000}}}
		if seed%4 > 0 { // invariants of loops take most of the time
			opt.Shown = func(*verify.Finding) bool { return true }
		}
		if built.Merges = verify.Merges(t.Context(), th, opt).Blocks; len(built.Merges) > 0 {
			if th, err = lockstep.Build(t.Context(), f, built); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, k.PTX)
			}
		}
		r := verify.Kernel(t.Context(), th, opt)
		switch {
		case !r.Verified():
		case seen != seenBugs{}:
			t.Fatalf("seed %d is verified, but a run finds %s%s%s\n%s", seed, seen.race, seen.deadlock,
				seen.misuse, k.PTX)
		default:
			verified++
		}
	}
	t.Logf("seeds %d to %d: runs refute %d; of %d others verify proves %d", from, to, refuted, tried,
		verified)
	if verified < tried/few || tried < (to-from)/100 || refuted < (to-from)/20 {
		t.Error("the test shows little")
	}
}

// seeds returns the seeds to try: n of them, or 20,000 with HEDDLE_LONG. HEDDLE_SEEDS=FROM:TO
// selects a slice of these, so that a long run can be split.
func seeds(t *testing.T, n int) (from, to int) {
	t.Helper()
	switch slice := os.Getenv("HEDDLE_SEEDS"); {
	case slice != "":
		if _, err := fmt.Sscanf(slice, "%d:%d", &from, &to); err != nil || from >= to {
			t.Fatalf("HEDDLE_SEEDS=%s: want FROM:TO", slice)
		}
		return from, to
	case long.All():
		return 0, 20_000
	case testing.Short():
		return 0, 50
	}
	return 0, n
}

// seenBugs are the bugs that runs of a kernel showed.
type seenBugs struct{ race, deadlock, misuse string }

// look runs a kernel under some schedules, up to the first race.
func (s *seenBugs) look(t *testing.T, f *ir.Func, cfg *launch.Config, schedules uint64,
	lockstep bool) {
	t.Helper()
	runs, detects := event.Independent, event.Independent
	if lockstep {
		runs, detects = event.Lockstep, event.Lockstep
	}
	m, err := emu.New(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range schedules {
		opt := race.Options{Geometry: cfg.Geometry, Benign: event.BenignNone,
			SharedBytes: uint32(m.SharedBytes()), Model: detects}
		d := detector(race.New(opt))
		if ir.OrdersParts(f) {
			d = race.NewSplit(opt, ir.OrdersOwn(f))
		}
		r, err := m.Run(t.Context(), emu.Options{Seed: seed, MaxSteps: maxSteps, Workers: 1, Model: runs},
			d)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == emu.Stalled {
			s.deadlock = fmt.Sprintf("a deadlock (schedule %d)", seed)
		}
		rep := d.Report()
		if len(rep.Barriers) > 0 || r.Stop != nil && r.Stop.Kind == emu.BadBarrier {
			s.misuse = fmt.Sprintf("a barrier that is used wrongly (schedule %d)", seed)
		}
		if len(rep.Races) > 0 {
			s.race = fmt.Sprintf("a race (schedule %d)", seed)
			return
		}
	}
}

// detector is one of all memory, or those of its parts.
type detector interface {
	event.Sink
	Report() *race.Report
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

func flowRequest(k gen.Kernel, number string, contents uint64) launch.Request {
	r := phaseRequest(k, number, contents)
	r.Args[1] = launch.ArgSpec{Param: "out", Offset: -1, Kind: launch.ArgBuffer,
		Size: 4 * gen.FlowWords * k.Grid.Count() * k.Block.Count()}
	return r
}

func phaseRequest(k gen.Kernel, number string, contents uint64) launch.Request {
	grid, block := k.Grid, k.Block
	buffer := func(name string, words int) launch.ArgSpec {
		return launch.ArgSpec{Param: name, Offset: -1, Kind: launch.ArgBuffer, Fill: launch.FillRandom,
			Size: uint64(4 * words), Seed: contents}
	}
	return launch.Request{Grid: &grid, Block: &block, Args: []launch.ArgSpec{
		buffer("mem", gen.PhaseWords*int(grid.X)), buffer("ro", 16),
		{Param: "n", Offset: -1, Kind: launch.ArgValue, Text: number},
	}}
}

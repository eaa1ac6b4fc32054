package nodiff

import (
	"math/rand/v2"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/race"
	"heddle/internal/slice"
	"heddle/internal/testing/long"
	"heddle/internal/testing/oracle"
)

// phaseTrace is what the trace of a program over mbarriers says.
type phaseTrace struct {
	ends     bool // the traced execution does
	unstable bool // phases or generations may depend on the schedule
	races    int
}

// both sends the events of a trace to the detectors of causality and of the order of execution, as
// package engine/trace does.
type both struct {
	*race.Detector
	order *race.Detector
}

func (b both) Arrive(e *event.Arrive)         { b.Detector.Arrive(e); b.order.Arrive(e) }
func (b both) Complete(e *event.Complete)     { b.Detector.Complete(e); b.order.Complete(e) }
func (b both) Exit(e *event.Exit)             { b.Detector.Exit(e); b.order.Exit(e) }
func (b both) WarpSync(e *event.WarpSync)     { b.Detector.WarpSync(e); b.order.WarpSync(e) }
func (b both) Stall(e *event.Stall)           { b.Detector.Stall(e); b.order.Stall(e) }
func (b both) MBarrier(e *event.MBarrier)     { b.Detector.MBarrier(e); b.order.MBarrier(e) }
func (b both) Signal(e *event.Signal)         { b.Detector.Signal(e); b.order.Signal(e) }
func (b both) CopyArrive(e *event.CopyArrive) { b.Detector.CopyArrive(e); b.order.CopyArrive(e) }

func (b both) Bulk(e *event.Bulk) {
	local := *e
	local.From.Size = 0
	b.Detector.Bulk(&local)
	b.order.Bulk(e)
}

// traced traces the kernel under one schedule.
func (k *phaseKernel) traced(t *testing.T, threads int, seed uint64) phaseTrace {
	t.Helper()
	fn, known := k.function(t, threads)
	cfg := *known
	cfg.Args = []launch.Arg{{Name: "in", Unknown: true, Bits: make([]byte, 8)}}
	if in, what := slice.Unsupported(fn); in != nil {
		t.Fatalf("%s is not supported in a trace\n%s", what, k.b.String())
	}
	m, err := emu.NewTrace(fn, &cfg, slice.Of(fn, slice.Options{Grid: true}))
	if err != nil {
		t.Fatal(err)
	}
	opt := race.Options{Geometry: cfg.Geometry, SharedBytes: uint32(m.SharedBytes()), Static: true}
	order := opt
	order.Execution, order.Recycling = true, true
	sink := both{race.New(opt), race.New(order)}
	res, err := m.Run(t.Context(), emu.Options{Seed: seed, Workers: 1, MaxSteps: 1 << 20}, sink)
	if err != nil {
		t.Fatal(err)
	}
	out := phaseTrace{ends: res.Status == emu.Completed, races: len(sink.Report().Races)}
	if res.Stop != nil && (res.Stop.Kind == emu.Unsupported || res.Stop.Kind == emu.DependsOnInput) {
		t.Fatalf("the trace needs an unknown value: %+v\n%s", res.Stop, k.b.String())
	}
	rep := sink.order.Report()
	out.unstable = len(rep.Phases) > 0
	for _, b := range rep.Barriers {
		// A generation without a waiter and two instructions for one are no errors here.
		out.unstable = out.unstable || b.Kind != race.NoWaiter && b.Kind != race.SplitBarrier
	}
	return out
}

// TestTraceOfPhasePrograms compares traces of random programs over mbarriers, bulk copies and named
// barriers with all their executions: a trace that ends with stable phases must be of a deterministic
// program and the other way round, and it has races if some execution has one.
func TestTraceOfPhasePrograms(t *testing.T) {
	programs := 600
	if long.All() {
		programs = 40000
	}
	rnd := rand.New(rand.NewPCG(9, 10))
	var used, verified, racy, unstable, stopped int
	for i := range programs {
		p := oracle.RandomPhases(rnd)
		if i%2 == 0 {
			p = oracle.RandomSync(rnd)
		}
		want, ok := oracle.Phases(p, 1<<13)
		if !ok {
			continue
		}
		used++
		k := phaseKernelOf(p)
		got := k.traced(t, len(p.Threads), rnd.Uint64N(100))
		switch {
		case !got.ends:
			stopped++
		case got.unstable:
			unstable++
		case got.races > 0:
			racy++
		default:
			verified++
		}
		if (got.ends && !got.unstable) != want.Deterministic {
			t.Fatalf("the trace says %+v, all executions %+v\n%s\n%s", got, want, p, k.b.String())
		}
		if want.Deterministic && (got.races > 0) != want.Racy() {
			t.Fatalf("the trace has %d races, all executions %v\n%s\n%s", got.races, want.RaceList(), p,
				k.b.String())
		}
		if want.Deterministic && i%8 == 0 {
			k.neverContradicts(t, len(p.Threads), got)
		}
	}
	t.Logf("%d programs: %d verified, %d racy, %d whose phases depend on the schedule, %d that stop",
		used, verified, racy, unstable, stopped)
	if 20*verified < used || 100*racy < used || 20*unstable < used {
		t.Error("the programs show too little")
	}
}

// neverContradicts runs a program whose phases are the same in all executions with many seeds: none
// may deadlock, or race if the trace has no race.
func (k *phaseKernel) neverContradicts(t *testing.T, threads int, traced phaseTrace) {
	t.Helper()
	m, cfg := k.machine(t, threads)
	got := &phaseRun{races: make(map[oracle.PhaseRace]bool)}
	for seed := range uint64(20) {
		k.once(t, m, cfg, seed, got)
	}
	if got.deadlock || got.excess || len(got.races) > 0 && traced.races == 0 {
		t.Fatalf("runs show %+v, the trace %+v\n%s", got, traced, k.b.String())
	}
}

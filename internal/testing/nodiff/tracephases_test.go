package nodiff

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
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
func (k *phaseKernel) traced(ctx context.Context, threads int, seed uint64) (out phaseTrace, err error) {
	fn, known, err := k.function(threads)
	if err != nil {
		return out, err
	}
	cfg := *known
	cfg.Args = []launch.Arg{{Name: "in", Unknown: true, Bits: make([]byte, 8)}}
	if in, what := slice.Unsupported(fn); in != nil {
		return out, fmt.Errorf("%s is not supported in a trace", what)
	}
	m, err := emu.NewTrace(fn, &cfg, slice.Of(fn, slice.Options{Grid: true}))
	if err != nil {
		return out, err
	}
	opt := race.Options{Geometry: cfg.Geometry, SharedBytes: uint32(m.SharedBytes()), Static: true}
	order := opt
	order.Execution, order.Recycling = true, true
	sink := both{race.New(opt), race.New(order)}
	res, err := m.Run(ctx, emu.Options{Seed: seed, Workers: 1, MaxSteps: 1 << 20}, sink)
	if err != nil {
		return out, err
	}
	out = phaseTrace{ends: res.Status == emu.Completed, races: len(sink.Report().Races)}
	if res.Stop != nil && (res.Stop.Kind == emu.Unsupported || res.Stop.Kind == emu.DependsOnInput) {
		return out, fmt.Errorf("the trace needs an unknown value: %+v", res.Stop)
	}
	rep := sink.order.Report()
	out.unstable = len(rep.Phases) > 0 || barriersMisused(rep)
	return out, nil
}

// tracedPrograms counts what traces said of programs.
type tracedPrograms struct{ used, verified, racy, unstable, stopped atomic.Int64 }

// TestTraceOfPhasePrograms compares traces of random programs over mbarriers, bulk copies, fences and
// named barriers with all their executions: a trace that ends with stable phases must be of a
// deterministic program and the other way round, and it has races if some execution has one. Each
// seed stands for tracedAtOnce programs: HEDDLE_LONG=1 for 40,000, HEDDLE_SEEDS=0:5000 for 1,000,000.
func TestTraceOfPhasePrograms(t *testing.T) {
	from, to := 0, 3
	switch {
	case os.Getenv("HEDDLE_SEEDS") != "":
		from, to = seeds(t, to)
	case long.All():
		to = 200
	}
	var n tracedPrograms
	var wg sync.WaitGroup
	var next atomic.Int64
	next.Store(int64(from))
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := next.Add(1) - 1; seed < int64(to) && !t.Failed(); seed = next.Add(1) - 1 {
				n.compare(t, uint64(seed))
			}
		})
	}
	wg.Wait()
	for _, seed := range foundOnce {
		n.compare(t, seed)
	}
	used, verified, racy, unstable := n.used.Load(), n.verified.Load(), n.racy.Load(), n.unstable.Load()
	t.Logf("seeds %d to %d, %d programs: %d verified, %d racy, %d whose phases depend on the "+
		"schedule, %d that stop", from, to, used, verified, racy, unstable, n.stopped.Load())
	if 20*verified < used || 100*racy < used || 20*unstable < used {
		t.Error("the programs show too little")
	}
}

// foundOnce are seeds with programs that showed a mistake: a warp that arrives twice at a barrier of
// the whole block; an acquire of the phase behind that of a copy; a generation of arrivals only,
// of which runs report that nobody waits.
var foundOnce = []uint64{9, 76, 66248, 336}

// tracedAtOnce is how many programs a seed stands for.
const tracedAtOnce = 200

// compare compares the programs of a seed.
func (n *tracedPrograms) compare(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(9, seed))
	for i := range tracedAtOnce {
		p := oracle.RandomPhases(rnd)
		if i%2 == 0 {
			p = oracle.RandomSync(rnd)
		}
		want, ok := oracle.Phases(p, 1<<13)
		if !ok {
			continue
		}
		n.used.Add(1)
		k := phaseKernelOf(p)
		got, err := k.traced(t.Context(), len(p.Threads), rnd.Uint64N(100))
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, k.b.String())
			return
		}
		switch {
		case !got.ends:
			n.stopped.Add(1)
		case got.unstable:
			n.unstable.Add(1)
		case got.races > 0:
			n.racy.Add(1)
		default:
			n.verified.Add(1)
		}
		switch {
		case (got.ends && !got.unstable) != want.Deterministic:
			t.Errorf("seed %d: the trace says %+v, all executions %+v\n%s\n%s", seed, got, want, p,
				k.b.String())
			return
		case want.Deterministic && (got.races > 0) != want.Racy():
			t.Errorf("seed %d: the trace has %d races, all executions %v\n%s\n%s", seed, got.races,
				want.RaceList(), p, k.b.String())
			return
		case want.Deterministic && i%8 == 0:
			if err := k.neverContradicts(t.Context(), len(p.Threads), got); err != nil {
				t.Errorf("seed %d: %v\n%s", seed, err, k.b.String())
				return
			}
		}
	}
}

// neverContradicts runs a program whose phases are the same in all executions with many seeds: none
// may deadlock, or race if the trace has no race.
func (k *phaseKernel) neverContradicts(ctx context.Context, threads int, traced phaseTrace) error {
	m, cfg, err := k.machine(threads)
	if err != nil {
		return err
	}
	got := &phaseRun{races: make(map[oracle.PhaseRace]bool)}
	for seed := range uint64(20) {
		if err := k.once(ctx, m, cfg, seed, got); err != nil {
			return err
		}
	}
	if got.deadlock || got.excess || len(got.races) > 0 && traced.races == 0 {
		return fmt.Errorf("runs show %+v, the trace %+v", got, traced)
	}
	return nil
}

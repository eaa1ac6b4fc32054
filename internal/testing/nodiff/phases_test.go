package nodiff

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/ptx"
	"heddle/internal/race"
	"heddle/internal/source"
	"heddle/internal/testing/long"
	"heddle/internal/testing/oracle"
)

// phaseKernel writes a program over mbarriers as a kernel: each of its threads is lane 0 of a warp,
// and each command has a line of its own. line returns the command on a line.
type phaseKernel struct {
	b     strings.Builder
	lines int
	refs  map[int]oracle.Ref
}

func (k *phaseKernel) put(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	k.lines += strings.Count(text, "\n") + 1
	k.b.WriteString(text + "\n")
}

// phaseKernelOf writes the kernel. Objects are at smem+8m, variables at smem+256+64v.
func phaseKernelOf(p *oracle.PhaseProgram) *phaseKernel {
	k := &phaseKernel{refs: make(map[int]oracle.Ref)}
	k.put(".version 8.0\n.target sm_90\n.address_size 64")
	k.put(".visible .entry k(.param .u64 .ptr .global .align 16 in) {")
	k.put(".shared .align 16 .b8 smem[512];")
	k.put(".reg .pred %%p<9>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>;")
	k.put("ld.param.u64 %%rd1, [in]; cvta.to.global.u64 %%rd1, %%rd1;")
	k.put("mov.u32 %%r1, %%tid.x; and.b32 %%r2, %%r1, 31; shr.u32 %%r3, %%r1, 5;")
	k.put("setp.eq.u32 %%p0, %%r2, 0; setp.eq.u32 %%p3, %%r1, 0;")
	for m, n := range p.Counts {
		k.put("@%%p3 mbarrier.init.shared.b64 [smem+%d], %d;", 8*m, n)
	}
	k.put("bar.sync 0;")
	for t := range p.Threads {
		k.put("setp.eq.u32 %%p4, %%r3, %d;", t)
		k.put("@%%p4 bra T%d;", t)
	}
	for t, list := range p.Threads {
		k.put("T%d:", t)
		states := make(map[int]bool)
		for i, c := range list {
			k.refs[k.lines+1] = oracle.Ref{Thread: t, At: i}
			k.command(c, states, t, i)
		}
		k.put("bra END;")
	}
	k.put("END: ret;\n}")
	return k
}

// command writes a command on one line.
func (k *phaseKernel) command(c oracle.PhaseCommand, states map[int]bool, t, i int) {
	release, acquire := "", ""
	if c.Relaxed {
		release, acquire = ".relaxed.cta", ".relaxed.cta"
	}
	at, x := 8*c.Bar, 256+64*c.Var
	switch c.Op {
	case oracle.PhaseRead:
		k.put("@%%p0 ld.shared.u32 %%r4, [smem+%d];", x)
	case oracle.PhaseWrite:
		k.put("@%%p0 st.shared.u32 [smem+%d], %%r4;", x)
	case oracle.PhaseArrive:
		states[c.Bar] = true
		if c.NoComplete {
			release = ".noComplete.release.cta"
		}
		k.put("@%%p0 mbarrier.arrive%s.shared.b64 %%rd%d, [smem+%d], %d;", release, 4+c.Bar, at,
			c.Count)
	case oracle.PhaseExpectArrive:
		states[c.Bar] = true
		k.put("@%%p0 mbarrier.arrive.expect_tx%s.shared.b64 %%rd%d, [smem+%d], %d;", release,
			4+c.Bar, at,
			c.Bytes)
	case oracle.PhaseExpect:
		k.put("@%%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [smem+%d], %d;", at, c.Bytes)
	case oracle.PhaseCopy:
		k.put("@%%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem+%d], "+
			"[%%rd1], %d, "+
			"[smem+%d];", x, c.Bytes, at)
	case oracle.PhaseWait:
		k.put("setp.ne.u32 %%p1, %%r2, 0; W%d_%d: @%%p0 mbarrier.try_wait.parity%s.shared.b64 %%p1, "+
			"[smem+%d], %d; @!%%p1 bra W%d_%d;", t, i, acquire, at, c.Parity, t, i)
	case oracle.PhaseWaitState:
		if !states[c.Bar] { // of no arrival: it passes
			k.put("// no state")
			return
		}
		k.put("setp.ne.u32 %%p1, %%r2, 0; W%d_%d: @%%p0 mbarrier.test_wait%s.shared.b64 %%p1, "+
			"[smem+%d], "+
			"%%rd%d; @!%%p1 bra W%d_%d;", t, i, acquire, at, 4+c.Bar, t, i)
	case oracle.PhaseFence, oracle.PhaseRelease, oracle.PhaseAcquire:
		k.put("@%%p0 %s;", fenceTexts[c.Op][one(c.Own)])
	case oracle.PhaseDrop:
		states[c.Bar] = true
		k.put("@%%p0 mbarrier.arrive_drop%s.shared.b64 %%rd%d, [smem+%d], %d;", release, 4+c.Bar, at,
			c.Count)
	case oracle.PhaseCompleteTx:
		k.put("@%%p0 mbarrier.complete_tx.relaxed.cta.shared.b64 [smem+%d], %d;", at, c.Bytes)
	case oracle.PhaseCopies:
		k.put("@%%p0 cp.async.mbarrier.arrive.shared.b64 [smem+%d];", at)
	case oracle.PhaseCopiesNoInc:
		k.put("@%%p0 cp.async.mbarrier.arrive.noinc.shared.b64 [smem+%d];", at)
	case oracle.PhaseBarSync:
		// A warp registers with all its lanes, of which only the first is a thread of the program.
		k.put("bar.warp.sync -1; bar.sync %d, %d;", c.Bar+1, 32*c.Count)
	case oracle.PhaseBarArrive:
		k.put("bar.warp.sync -1; bar.arrive %d, %d;", c.Bar+1, 32*c.Count)
	default:
		k.put("bar.sync 0;")
	}
}

// fenceTexts are the fences for all memory, and those of shared memory. Half a proxy fence is not in
// one program with the other half, beside relaxed operations: whether these synchronize is not
// supported.
var fenceTexts = map[oracle.PhaseOp][2]string{
	oracle.PhaseFence: {"fence.proxy.async.shared::cta",
		"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster"},
	oracle.PhaseRelease: {"fence.release.cta", "fence.release.sync_restrict::shared::cta.cluster"},
	oracle.PhaseAcquire: {"fence.acquire.cta", "fence.acquire.sync_restrict::shared::cluster.cluster"},
}

// machine prepares the kernel for runs.
func (k *phaseKernel) machine(threads int) (*emu.Machine, *launch.Config, error) {
	fn, cfg, err := k.function(threads)
	if err != nil {
		return nil, nil, err
	}
	m, err := emu.New(fn, cfg)
	return m, cfg, err
}

// function parses the kernel and resolves its launch.
func (k *phaseKernel) function(threads int) (*ir.Func, *launch.Config, error) {
	set := source.NewSet()
	file, err := set.Add("k.ptx", []byte(k.b.String()))
	if err != nil {
		return nil, nil, err
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		return nil, nil, errs[0]
	}
	mod, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		return nil, nil, errs[0]
	}
	one, block := event.Dim3{X: 1, Y: 1, Z: 1}, event.Dim3{X: uint32(32 * threads), Y: 1, Z: 1}
	cfg, bad := launch.Resolve(mod.Kernel("k"), launch.Request{Grid: &one, Block: &block}, nil)
	if cfg == nil || len(bad) > 0 {
		return nil, nil, fmt.Errorf("no launch: %v", bad)
	}
	return mod.Kernel("k"), cfg, nil
}

// phaseRun is what the runs of a program have shown.
type phaseRun struct {
	races    map[oracle.PhaseRace]bool
	deadlock bool
	excess   bool
}

// detectorOf returns what package engine/run examines a run of the kernel with.
func detectorOf(m *emu.Machine, opt race.Options) interface {
	event.Sink
	Report() *race.Report
} {
	if ir.OrdersParts(m.Kernel()) {
		return race.NewSplit(opt, ir.OrdersOwn(m.Kernel()))
	}
	return race.New(opt)
}

// barriersMisused reports whether a barrier is used in a way that programs do not mean: their threads
// have code of their own, so that two instructions take part in one generation, and a generation
// that has arrivals only is one of the drawn programs like any other.
func barriersMisused(rep *race.Report) bool {
	return slices.ContainsFunc(rep.Barriers, func(e race.BarrierError) bool {
		return e.Kind != race.SplitBarrier && e.Kind != race.NoWaiter
	})
}

// once runs the kernel with one seed.
func (k *phaseKernel) once(ctx context.Context, m *emu.Machine, cfg *launch.Config, seed uint64,
	out *phaseRun) error {
	det := detectorOf(m, race.Options{Geometry: cfg.Geometry, SharedBytes: uint32(m.SharedBytes())})
	res, err := m.Run(ctx, emu.Options{Seed: seed, MaxSteps: 1 << 20, Workers: 1}, det)
	if err != nil {
		return err
	}
	switch {
	case res.Status == emu.Completed:
	case res.Status == emu.Stopped &&
		(res.Stop.Kind == emu.Deadlock || res.Stop.Kind == emu.BytesMismatch):
		out.deadlock = true
	case res.Status == emu.Stopped && res.Stop.Kind == emu.MBarrierExcess:
		out.excess = true
	case res.Status == emu.Stopped && res.Stop.Kind == emu.MBarrierState: // too old a state
	default:
		return fmt.Errorf("run %d: %v %+v", seed, res.Status, res.Stop)
	}
	rep := det.Report()
	if barriersMisused(rep) {
		return fmt.Errorf("run %d: %+v", seed, rep.Barriers)
	}
	for i := range rep.Races {
		rc := &rep.Races[i]
		a, aok := k.refs[m.Site(rc.First.Site).Instr.Span.Start.Line()]
		b, bok := k.refs[m.Site(rc.Second.Site).Instr.Span.Start.Line()]
		if !aok || !bok {
			return fmt.Errorf("run %d: a race outside of the program: %+v", seed, rc)
		}
		if a.Thread > b.Thread || a.Thread == b.Thread && a.At > b.At {
			a, b = b, a
		}
		out.races[oracle.PhaseRace{A: a, B: b, Proxy: rc.Cause == race.NoProxyFence}] = true
	}
	return nil
}

// TestPhasePrograms compares runs of random programs over mbarriers with all their executions: no
// run may show what no execution has, and runs with different seeds should show most of what some
// executions have.
func TestPhasePrograms(t *testing.T) {
	programs, seeds := 150, uint64(40)
	if long.All() {
		programs, seeds = 3000, 100
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	var racy, racyFound, pairs, pairsFound, dead, deadFound, excess, excessFound, fine, used int
	for range programs {
		p := oracle.RandomPhases(rnd)
		want, ok := oracle.Phases(p, 1<<14)
		if !ok {
			continue
		}
		used++
		k := phaseKernelOf(p)
		m, cfg, err := k.machine(len(p.Threads))
		if err != nil {
			t.Fatalf("%v\n%s", err, k.b.String())
		}
		got := &phaseRun{races: make(map[oracle.PhaseRace]bool)}
		for seed := range seeds {
			if err := k.once(t.Context(), m, cfg, seed, got); err != nil {
				t.Fatalf("%v\n%s", err, k.b.String())
			}
		}
		for r := range got.races {
			if !want.Races[r] {
				t.Errorf("a run shows %+v, which no execution has; all are %v\n%s", r, want.RaceList(), p)
			}
		}
		if got.deadlock && !want.Deadlock || got.excess && !want.Excess {
			t.Errorf("runs show %+v, executions %+v\n%s", got, want, p)
		}
		if t.Failed() {
			t.Fatal(k.b.String())
		}
		racy, racyFound = racy+one(want.Racy()), racyFound+one(len(got.races) > 0)
		pairs, pairsFound = pairs+len(want.Races), pairsFound+len(got.races)
		dead, deadFound = dead+one(want.Deadlock), deadFound+one(got.deadlock)
		excess, excessFound = excess+one(want.Excess), excessFound+one(got.excess)
		fine += one(want.Deterministic && !want.Racy())
	}
	t.Logf("%d programs, %d seeds: %d are right; races in %d of %d, %d of %d pairs; deadlocks in "+
		"%d of %d; "+
		"excess arrivals in %d of %d", used, seeds, fine, racyFound, racy, pairsFound, pairs,
		deadFound, dead,
		excessFound, excess)
	if 10*racyFound < 9*racy || 10*deadFound < 8*dead || 10*excessFound < 7*excess || fine < used/20 {
		t.Error("the seeds show too little")
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

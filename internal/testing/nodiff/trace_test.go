package nodiff

import (
	"math/bits"
	"math/rand"
	"path/filepath"
	"slices"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/race"
	"heddle/internal/slice"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/long"
)

// TestTraceAgainstRun compares the trace of a kernel, which executes a slice with unknown inputs,
// with a run of the complete kernel. If the trace completes and finds no race, every thread makes
// the same accesses to shared memory and reaches the same barriers, in the same order, for all
// inputs.
func TestTraceAgainstRun(t *testing.T) {
	compared := 0
	for _, dir := range []string{"../../../testdata/suite", "../../../testdata/trace",
		"../../../examples"} {
		for _, path := range sample(t, dir) {
			t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
				for _, k := range kernelsOf(t, path) {
					compared += traceAgainstRun(t, k.fn, k.facts)
				}
			})
		}
	}
	if compared < long.Least(60) {
		t.Errorf("%d runs were compared, at least %d are expected", compared, long.Least(60))
	}
}

// TestTraceOfRandomKernels does the same with random kernels, in both warp models.
func TestTraceOfRandomKernels(t *testing.T) {
	compared := 0
	for seed := range int64(1000) {
		k := gen.Random(rand.New(rand.NewSource(seed)), gen.Options{Traceable: seed >= 100})
		fn := kernels.PTX(t, k.PTX).Funcs[0]
		req := launch.Request{Grid: &k.Grid, Block: &k.Block}
		compared += traceLaunch(t, fn, req, nil, event.Independent)
		compared += traceLaunch(t, fn, req, nil, event.Lockstep)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, k.PTX)
		}
	}
	t.Logf("%d runs compared", compared)
	if compared < 20 {
		t.Errorf("%d runs were compared", compared)
	}
}

type kernelFacts struct {
	fn    *ir.Func
	facts *launch.SourceFacts
}

func kernelsOf(t *testing.T, path string) (out []kernelFacts) {
	t.Helper()
	m, facts := kernels.File(t, path, lower.Options{})
	for _, k := range m.Funcs {
		if k.Kernel && k.Blocks != nil {
			out = append(out, kernelFacts{k, facts})
		}
	}
	return out
}

func traceAgainstRun(t *testing.T, k *ir.Func, facts *launch.SourceFacts) int {
	t.Helper()
	return traceLaunch(t, k, launch.Request{}, facts, event.Independent)
}

// traceLaunch compares the trace of block 0 with a few runs of it, and returns how many.
func traceLaunch(t *testing.T, k *ir.Func, req launch.Request, facts *launch.SourceFacts,
	model event.WarpModel) int {
	t.Helper()
	cfg, errs := launch.Resolve(k, req, facts)
	if cfg == nil || len(errs) > 0 {
		return 0
	}
	if in, _ := slice.Unsupported(k); in != nil {
		return 0
	}
	s := slice.Of(k, slice.Options{Grid: true, Lockstep: model == event.Lockstep})
	if s.Maskless() != nil && model != event.Lockstep {
		return 0
	}
	unknown := *cfg
	unknown.Args = slices.Clone(cfg.Args)
	for i := range unknown.Args {
		unknown.Args[i] = launch.Arg{Name: cfg.Args[i].Name, Unknown: true,
			Bits: make([]byte, k.Params[i].Size)}
	}
	m, err := emu.NewTrace(k, &unknown, s)
	if err != nil {
		return 0
	}
	opt := race.Options{Geometry: cfg.Geometry, Model: model, Benign: event.BenignNone,
		SharedBytes: uint32(m.SharedBytes()), Recycling: true}
	if ir.OrdersParts(k) {
		opt.Only = event.Shared
	}
	static := opt
	static.Static = true
	traced := &commands{m: m, det: race.New(static), weaken: true}
	block := uint32(0)
	res,
		err := m.Run(t.Context(), emu.Options{Model: emuModel(model), Blocks: []uint32{block}, Workers: 1,
		MaxSteps: maxSteps}, traced)
	if err != nil {
		t.Fatal(err)
	}
	rep := traced.det.Report()
	if res.Status != emu.Completed || len(rep.Races) > 0 || len(rep.Barriers) > 0 {
		return 0
	}
	traced.maybe = make(map[*ir.Instr]bool)
	for site := range res.Maybe {
		traced.maybe[m.Site(site).Instr] = true
	}
	n := 0
	for _, fill := range []launch.Fill{launch.FillZero, launch.FillRandom, launch.FillIota} {
		n += runAgainst(t, k, cfg, fill, traced, opt)
	}
	return n
}

func emuModel(m event.WarpModel) event.WarpModel {
	if m == event.Lockstep {
		return event.Lockstep
	}
	return event.Independent
}

// runAgainst compares a trace without findings with a run on other inputs: its commands, and the
// findings of a detector.
func runAgainst(t *testing.T, k *ir.Func, cfg *launch.Config, fill launch.Fill, traced *commands,
	opt race.Options) int {
	t.Helper()
	c := *cfg
	c.Args = slices.Clone(cfg.Args)
	for i := range c.Args {
		if b := c.Args[i].Buffer; b != nil {
			filled := *b
			filled.Fill, filled.Seed = fill, 7
			c.Args[i].Buffer = &filled
		} else if fill == launch.FillIota && len(c.Args[i].Bits) <= 8 {
			c.Args[i].Bits = slices.Clone(c.Args[i].Bits)
			if len(c.Args[i].Bits) > 0 {
				c.Args[i].Bits[0] ^= 5
			}
		}
	}
	m, err := emu.New(k, &c)
	if err != nil {
		return 0
	}
	run := &commands{m: m, det: race.New(opt)}
	block := uint32(0)
	res,
		err := m.Run(t.Context(), emu.Options{Model: emuModel(opt.Model), Seed: 3, Blocks: []uint32{block},
		Workers: 1, MaxSteps: maxSteps}, run)
	if err != nil {
		t.Fatal(err)
	}
	if rep := run.det.Report(); len(rep.Races)+len(rep.Barriers) > 0 {
		t.Errorf("%s, fill %d: the trace found nothing, the run %d races and %d errors at barriers",
			k.Name, fill, len(rep.Races), len(rep.Barriers))
		return 0
	}
	if res.Status != emu.Completed {
		return 0 // an address out of bounds, a loop that takes long
	}
	for thread, want := range run.of {
		got := traced.of[thread]
		if !slices.Equal(traced.certain(got), traced.certain(want)) {
			t.Errorf("%s, fill %d, thread %d: the trace has %d commands, the run %d; they differ", k.Name,
				fill, thread, len(got), len(want))
			return 0
		}
		for _, c := range want {
			if !slices.Contains(got, c) {
				t.Errorf("%s, fill %d, thread %d: the run has a command at %v that the trace has not", k.Name,
					fill, thread, c.in)
				return 0
			}
		}
	}
	return 1
}

// command is one access to shared memory or one barrier operation of a thread.
type command struct {
	in   *ir.Instr
	addr uint64 // or the barrier
}

// commands records the commands of each thread.
type commands struct {
	event.Discard // copies too: a trace refuses them
	m             *emu.Machine
	det           *race.Detector // nil: none
	of            map[event.Thread][]command
	weaken        bool // as a trace does
	// Instructions that the trace executed on paths which perhaps no input takes.
	maybe map[*ir.Instr]bool
}

// certain returns the commands that are executed for every input.
func (c *commands) certain(list []command) (out []command) {
	for _, x := range list {
		if !c.maybe[x.in] {
			out = append(out, x)
		}
	}
	return out
}

func (c *commands) add(w event.Warp, mask uint32, site event.Site, addr func(l int) uint64) {
	if c.of == nil {
		c.of = make(map[event.Thread][]command)
	}
	in := c.m.Site(site).Instr
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		th := event.ThreadOf(w, l)
		c.of[th] = append(c.of[th], command{in, addr(l)})
	}
}

func (c *commands) Access(e *event.Access) {
	if e.Space != event.Shared {
		return
	}
	c.add(e.Warp, e.Mask, e.Site, func(l int) uint64 { return e.Addr[l] })
	if c.det != nil {
		if c.weaken && !e.Kind.RMW() {
			e.Order, e.Scope = event.Weak, event.NoScope
		}
		c.det.Access(e)
	}
}

func (c *commands) Arrive(e *event.Arrive) {
	c.add(e.Warp, e.Mask, e.Site, func(int) uint64 { return uint64(e.Barrier) })
	if c.det != nil {
		c.det.Arrive(e)
	}
}

func (c *commands) Complete(e *event.Complete) {
	if c.det != nil {
		c.det.Complete(e)
	}
}
func (c *commands) WarpSync(e *event.WarpSync) {
	if c.det != nil {
		c.det.WarpSync(e)
	}
}
func (c *commands) Converge(e *event.Converge) {
	if c.det != nil {
		c.det.Converge(e)
	}
}
func (c *commands) Exit(e *event.Exit) {
	if c.det != nil {
		c.det.Exit(e)
	}
}
func (c *commands) Stall(e *event.Stall) {
	if c.det != nil {
		c.det.Stall(e)
	}
}

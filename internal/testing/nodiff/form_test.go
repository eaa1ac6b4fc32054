package nodiff

import (
	"bytes"
	"errors"
	"math/rand"
	"slices"
	"strconv"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/form"
	"heddle/internal/race"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/lockrun"
	"heddle/internal/testing/long"
	"heddle/internal/verify"
)

// interleaved is the result of an interleaving execution of a kernel, by the definitions of the
// paper: a barrier is divergent if a thread has ended, or if threads wait at different barriers or
// in different iterations (rule BARRIER_F, which also compares the loop counters).
type interleaved struct {
	race, divergence bool
	result           *emu.Result
}

// meetings watches a run for barriers at which threads disagree. A read of a word that no thread
// writes, inserted at the start of each block, records the path of each thread.
type meetings struct {
	event.Sink
	machine *emu.Machine
	loops   *ir.LoopForest
	block   map[*ir.Instr]ir.BlockID // of the marks
	geo     event.Geometry
	at      map[event.Thread][]int // v_L of each loop
	arrived map[uint32][]arrival
	bad     bool
}

type arrival struct {
	barrier *ir.Instr
	iters   []int
}

func (m *meetings) Access(a *event.Access) {
	b, ok := m.block[m.machine.Site(a.Site).Instr]
	if !ok {
		m.Sink.Access(a)
		return
	}
	for l := range event.WarpSize {
		if a.Mask>>l&1 == 0 {
			continue
		}
		t := event.ThreadOf(a.Warp, l)
		if m.at[t] == nil {
			m.at[t] = make([]int, len(m.loops.Loops))
		}
		for i, loop := range m.loops.Loops { // section 3.2: incremented at the header, reset on exit
			switch {
			case loop.Header == b:
				m.at[t][i]++
			case !loop.Contains(b):
				m.at[t][i] = 0
			}
		}
	}
}

func (m *meetings) Arrive(e *event.Arrive) {
	block := m.geo.BlockOf(e.Warp)
	for l := range event.WarpSize {
		if e.Mask>>l&1 == 1 {
			m.arrived[block] = append(m.arrived[block],
				arrival{m.machine.Site(e.Site).Instr, slices.Clone(m.at[event.ThreadOf(e.Warp, l)])})
		}
	}
	m.Sink.Arrive(e)
}

func (m *meetings) Complete(e *event.Complete) {
	all := m.arrived[e.Block]
	m.bad = m.bad || e.Exited || len(all) != m.geo.ThreadsPerBlock()
	for _, a := range all {
		m.bad = m.bad || a.barrier != all[0].barrier || !slices.Equal(a.iters, all[0].iters)
	}
	delete(m.arrived, e.Block)
	m.Sink.Complete(e)
}

func (m *meetings) Stall(e *event.Stall) {
	m.bad = true
	m.Sink.Stall(e)
}

// mark inserts a read of a separate word at the start of every block, and returns the blocks by
// mark. text holds the instruction and the declaration of the word.
func mark(t *testing.T, f *ir.Func) map[*ir.Instr]ir.BlockID {
	t.Helper()
	pattern := f.Blocks[0].Instrs[0]
	if pattern.Op() != "ld" || pattern.Space != event.Shared {
		t.Fatal("the kernel does not begin with its mark")
	}
	marks := map[*ir.Instr]ir.BlockID{}
	for _, b := range f.Blocks {
		in := *pattern
		b.Instrs = append([]*ir.Instr{&in}, b.Instrs...)
		marks[&in] = b.ID
	}
	marks[pattern] = f.Blocks[0].ID
	f.Blocks[0].Instrs = f.Blocks[0].Instrs[1:] // one mark there
	f.Link()
	return marks
}

// interleave runs a marked kernel under one schedule.
func interleave(t *testing.T, f *ir.Func, marks map[*ir.Instr]ir.BlockID, cfg *launch.Config,
	seed uint64) interleaved {
	t.Helper()
	m, err := emu.New(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	d := race.New(race.Options{Geometry: cfg.Geometry, Benign: event.BenignNone,
		SharedBytes: uint32(m.SharedBytes())})
	w := &meetings{Sink: d, machine: m, loops: ir.FindLoops(f, ir.Dominators(f)), block: marks,
		geo: cfg.Geometry,
		at:  map[event.Thread][]int{}, arrived: map[uint32][]arrival{}}
	r, err := m.Run(t.Context(), emu.Options{Seed: seed, MaxSteps: 10 * maxSteps, Workers: 1}, w)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != emu.Completed && r.Status != emu.Stalled {
		t.Fatalf("the run ended with status %d %+v", r.Status, r.Stop)
	}
	return interleaved{race: len(d.Report().Races) > 0, divergence: w.bad || r.Status == emu.Stalled,
		result: r}
}

// flowConfig is a launch whose memory contents are given byte by byte.
func flowConfig(t *testing.T, f *ir.Func, k gen.Kernel, number, contents uint64) *launch.Config {
	t.Helper()
	grid, block := k.Grid, k.Block
	req := launch.Request{Grid: &grid, Block: &block}
	for _, v := range f.Params {
		spec := launch.ArgSpec{Param: v.Name, Offset: -1, Kind: launch.ArgBuffer, Fill: launch.FillZero,
			Size: 4}
		if v.Name == "n" {
			spec = launch.ArgSpec{Param: "n", Offset: -1, Kind: launch.ArgValue,
				Text: strconv.FormatUint(number, 10)}
		}
		req.Args = append(req.Args, spec)
	}
	cfg, errs := launch.Resolve(f, req, nil)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	r := rand.New(rand.NewSource(int64(contents)))
	for i := range cfg.Args {
		if cfg.Args[i].Buffer == nil {
			continue
		}
		data := make([]byte, 4*max(gen.PhaseWords, gen.FlowWords*int(block.Count()))*int(grid.X))
		r.Read(data)
		cfg.Args[i].Buffer = &launch.Buffer{Name: cfg.Args[i].Name, Size: uint64(len(data)),
			Fill: launch.FillFile, Data: data}
	}
	return cfg
}

// TestLockstepTheorem is Theorem 5.2 on random kernels: the interleaving execution and that of φ
// agree on whether there is an error, and leave the same memory if there is none. The theorem
// treats all errors alike; the test is stricter:
//
//   - a race that φ has before any divergence exists in an interleaving, because both follow the
//     same path through the earlier intervals, and all threads execute each interval to its end;
//   - if one has a divergence and no race, the other has a divergence.
func TestLockstepTheorem(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 60
	}
	if long.All() {
		n = 20_000
	}
	clean, racy, divergent := 0, 0, 0
	for seed := range uint64(n) {
		for _, phi := range theorem(t, gen.Flow(rand.New(rand.NewSource(int64(seed)))), seed) {
			switch {
			case len(phi.Races) > 0:
				racy++
			case phi.Divergence != nil:
				divergent++
			default:
				clean++
			}
		}
	}
	t.Logf("%d clean, %d racy, %d divergent", clean, racy, divergent)
	if min(clean, racy, divergent) < n/10 {
		t.Errorf("%d clean, %d racy, %d divergent of %d: the test shows little", clean, racy, divergent,
			2*n)
	}
}

// theorem executes one kernel both ways, for two launches.
func theorem(t *testing.T, k gen.Kernel, seed uint64) []*lockrun.Result {
	t.Helper()
	f := kernels.PTX(t, gen.Marked(k.PTX)).Funcs[0]
	marks := mark(t, f)
	p, err := form.New(f)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, k.PTX)
	}
	checkOrder(t, p)
	var out []*lockrun.Result
	for i := range uint64(2) {
		number := (seed + i) % 4
		cfg := flowConfig(t, f, k, number, seed+i)
		phi, err := lockrun.Run(p, cfg, lockrun.Options{Seed: seed + i})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k.PTX)
		}
		compareForms(t, phi, interleave(t, f, marks, cfg, seed^i), cfg)
		if t.Failed() {
			t.Fatalf("seed %d, n = %d, launch %v x %v\n%s\n%s", seed, number, k.Grid, k.Block, k.PTX,
				p.Predicated())
		}
		out = append(out, phi)
	}
	return out
}

// FuzzLockstepTheorem is TestLockstepTheorem on kernels that the fuzzer makes.
func FuzzLockstepTheorem(f *testing.F) {
	for seed := range int64(8) {
		data := make([]byte, 300)
		rand.New(rand.NewSource(seed)).Read(data)
		f.Add(data)
	}
	f.Fuzz(
		func(t *testing.T, data []byte) {
			theorem(t, gen.Flow(&gen.Bytes{Data: data}),
				uint64(len(data)))
		})
}

// compareForms compares the two executions.
func compareForms(t *testing.T, phi *lockrun.Result, run interleaved, cfg *launch.Config) {
	t.Helper()
	races, diverges := len(phi.Races) > 0, phi.Divergence != nil
	switch {
	case races && !run.race:
		t.Errorf("the lock-step form has a race of %s #%d and %s #%d, the interleaving has none",
			phi.Races[0].A.Text(), phi.Races[0].A.Index, phi.Races[0].B.Text(), phi.Races[0].B.Index)
	case diverges && !races && !run.divergence:
		t.Errorf("the lock-step form diverges at %s #%d, the interleaving does not (race %v)",
			phi.Divergence.Text(), phi.Divergence.Index, run.race)
	case phi.Clean() && (run.race || run.divergence):
		t.Errorf("the lock-step form is clean, the interleaving is not: race %v, divergence %v", run.race,
			run.divergence)
	case run.divergence && !run.race && !diverges:
		t.Error("the interleaving diverges, the lock-step form does not")
	}
	if !phi.Clean() || t.Failed() {
		return
	}
	for i := range cfg.Args {
		b := cfg.Args[i].Buffer
		if b == nil {
			continue
		}
		want, got := make([]byte, b.Size), make([]byte, b.Size)
		if _, err := run.result.Read(b.Name, 0, want); err != nil {
			t.Fatal(err)
		}
		phi.Read(b.Name, 0, got)
		if !bytes.Equal(want, got) {
			t.Errorf("%s is left different", b.Name)
		}
	}
}

// checkOrder checks the sort order against its definition (section 4): no path without a back edge
// leads from a block to an earlier one, and the blocks of a loop are contiguous.
func checkOrder(t *testing.T, p *form.Program) {
	t.Helper()
	dom := ir.Dominators(p.Func)
	at := map[ir.BlockID]int{}
	for i, b := range p.Blocks {
		at[b.ID] = i
	}
	for _, b := range p.Blocks {
		for _, s := range p.Func.Blocks[b.ID].Succs {
			if !dom.Dominates(s, b.ID) && at[s] <= at[b.ID] {
				t.Errorf("%s stands before its predecessor %s", p.Block(s).Name, b.Name)
			}
		}
	}
	for _, l := range ir.FindLoops(p.Func, dom).Loops {
		low, high := len(p.Blocks), -1
		for _, b := range l.Blocks {
			low, high = min(low, at[b]), max(high, at[b])
		}
		if high-low+1 != len(l.Blocks) {
			t.Errorf("the loop of %s is not together in the order", p.Block(l.Header).Name)
		}
		if at[l.Header] != low {
			t.Errorf("the header %s does not come first", p.Block(l.Header).Name)
		}
	}
}

// TestVerifiedHoldsForForm: the execution of φ contains no counterexample to a proof by verify.
// This covers more than interleavings: different barriers with one number are a divergence for φ.
func TestVerifiedHoldsForForm(t *testing.T) {
	n := 60
	if testing.Short() {
		n = 20
	}
	if long.All() {
		n = 4000
	}
	verified, executed := 0, 0
	for seed := range uint64(n) {
		var k gen.Kernel
		r := rand.New(rand.NewSource(int64(seed)))
		if seed%2 == 0 {
			k = gen.Flow(r)
		} else {
			k = gen.Phases(r)
		}
		f := kernels.PTX(t, k.PTX).Funcs[0]
		th,
			err := lockstep.Build(t.Context(), f,
			lockstep.Options{Geometry: event.Geometry{Grid: k.Grid, Block: k.Block,
				Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k.PTX)
		}
		if !verify.Kernel(t.Context(), th, verify.Options{Limit: 1, Benign: event.BenignNone,
			Solvers: []smt.Solver{&sat.Solver{Steps: 20_000_000}}}).Verified() {
			continue
		}
		verified++
		p, err := form.New(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, number := range []uint64{0, 1, 2, 3, 6, 0xffffffff} {
			phi, err := lockrun.Run(p, flowConfig(t, f, k, number, seed+uint64(i)),
				lockrun.Options{Seed: uint64(i), MaxSteps: 20_000})
			var no *lockrun.Error
			if errors.As(err, &no) {
				t.Logf("seed %d: %v", seed, err)
				continue
			}
			if executed++; !phi.Clean() {
				t.Fatalf(
					"seed %d is verified, but with n = %d its lock-step form has races %v, divergence %v\n%s",
					seed, number, phi.Races, phi.Divergence, k.PTX)
			}
		}
	}
	t.Logf("%d verified of %d, %d executions", verified, n, executed)
	if verified < n/20 || executed < 5*verified {
		t.Errorf("%d verified of %d, %d executions: the test shows little", verified, n, executed)
	}
}

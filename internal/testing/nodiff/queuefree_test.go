package nodiff

import (
	"encoding/binary"
	"maps"
	"math/rand"
	"os"
	"slices"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/engine/prove"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/ptx/instrument"
	"heddle/internal/race"
	"heddle/internal/testing/gen"
	"heddle/internal/testing/long"
	"heddle/internal/testing/oracle"
)

// Accesses that are proved to race with nothing need no log: engine/prove.Free says which, and
// instrument.Options.Free leaves them out while instrument.LogAll is 0.

// proofs are those of the kernels of a module.
type proofs struct {
	list []*prove.FreeAccesses
	of   map[*ir.Func]*prove.FreeAccesses
}

// prove examines the kernels of a module.
func proofsOf(t *testing.T, m *ir.Module, opt prove.FreeOptions) *proofs {
	t.Helper()
	p := &proofs{of: make(map[*ir.Func]*prove.FreeAccesses)}
	for _, k := range m.Funcs {
		if !k.Kernel || k.Blocks == nil {
			continue
		}
		f, err := prove.Free(t.Context(), k, opt)
		if err != nil {
			t.Fatal(err)
		}
		p.list, p.of[k] = append(p.list, f), f
	}
	return p
}

// options are those of an instrumentation that leaves out what is free.
func (p *proofs) options() instrument.Options {
	return instrument.Options{Free: prove.FreeIn(p.list),
		Proved: func(k *ir.Func) bool { return p.of[k] != nil && p.of[k].All }}
}

// launchOf is a launch as a program makes it, with the memory that the emulator would allocate:
// each buffer at an address of its own, and unbounded ones large.
func launchOf(k *ir.Func, cfg *launch.Config) *prove.Launch {
	var memory []launch.Memory
	at := make(map[any]launch.Memory)
	place := func(of any, name string, size uint64) launch.Memory {
		m, ok := at[of]
		if !ok {
			if size == 0 {
				size = 1 << 38
			}
			m = launch.Memory{Name: name, Addr: uint64(len(memory)+1) << 40, Size: size}
			at[of] = m
			memory = append(memory, m)
		}
		return m
	}
	l := &prove.Launch{Geometry: cfg.Geometry, DynShared: cfg.DynShared}
	l.Params = make([]byte, k.ParamSize)
	for i, v := range k.Params {
		a := &cfg.Args[i]
		b := l.Params[v.Offset : v.Offset+v.Size]
		copy(b, a.Bits)
		put := func(off int, addr uint64) { binary.LittleEndian.PutUint64(b[off:], addr) }
		if a.Buffer != nil {
			put(0, place(a.Buffer, a.Name, a.Buffer.Size).Addr+a.Offset)
		}
		for _, f := range a.Fields {
			put(f.Offset, place(f.Buffer, f.Buffer.Name, f.Buffer.Size).Addr+f.At)
		}
		if a.Symbol != "" {
			put(0, place(a.Symbol, a.Symbol, 1).Addr)
		}
	}
	l.Find = func(addr uint64) *launch.Memory {
		i := slices.IndexFunc(memory, func(m launch.Memory) bool { return addr-m.Addr < m.Size })
		if i < 0 {
			return nil
		}
		return &memory[i]
	}
	l.Var = func(v *ir.Var) *launch.Memory {
		m := place(launch.BaseName(v.Shown()), v.Name, uint64(v.Size))
		m.Size = uint64(v.Size)
		return &m
	}
	return l
}

// TestFreeAccesses: what is left out of the log changes no finding. In each run with all records no
// access that is free takes part in a race, by the definitions. The findings of pruned logs are
// those of emulating the kernel as it is.
func TestFreeAccesses(t *testing.T) {
	modules := make(map[*ir.Module]*proofs)
	kernels, some, holds, all := 0, 0, 0, 0
	why := make(map[string]int)
	eachKernel(t, func(t *testing.T, path string, before loaded, k *ir.Func) {
		p := modules[before.mod]
		if p == nil {
			p = proofsOf(t, before.mod, prove.FreeOptions{})
			modules[before.mod] = p
		}
		model, benign := choices(t, path)
		w, ok := watch(t, before, k, p.options(), model, benign)
		if !ok {
			return
		}
		kernels++
		f := p.of[k]
		if !f.Some() {
			why[f.Reason]++
			return
		}
		some++
		if ok, reason := f.Holds(t.Context(), launchOf(k, w.cfg)); !ok {
			t.Logf("%s: %s", k.Demangled, reason)
			return
		}
		holds++
		if f.All {
			all++
		}
		w.noFreeRaces()
		w.sameFindings(p)
	})
	t.Logf("%d kernels, %d with free accesses, %d of them in their launches, %d proved", kernels, some,
		holds, all)
	for _, r := range slices.Sorted(maps.Keys(why)) {
		t.Logf("%d: %s", why[r], r)
	}
	if os.Getenv("HEDDLE_ONLY") == "" && holds < long.Least(100) {
		t.Errorf("only %d kernels with free accesses in their launches", holds)
	}
}

// noFreeRaces runs the kernel with all records and fails if a free access takes part in a race.
func (w *watched) noFreeRaces() {
	w.t.Helper()
	if w.cfg.Geometry.Blocks()*uint64(w.cfg.Geometry.ThreadsPerBlock()) > maxThreads {
		return
	}
	for seed := range uint64(3) {
		o := oracle.New(oracle.Options{Geometry: w.cfg.Geometry,
			Lockstep: w.opt.Model == event.Lockstep})
		w.logged(seed, 2_000_000, o, nil)
		for p := range o.Pairs {
			for _, s := range []event.Site{p.A, p.B} {
				if w.result.Sites[s].Free {
					w.t.Errorf("%s, seed %d: %s is free and races: %v", w.k.Name, seed,
						w.result.Sites[s].Instr.Text(), p)
				}
			}
		}
	}
}

// sameFindings compares the findings of pruned logs with those of emulation, over some seeds, as
// TestQueuesAgainstEmulation does.
func (w *watched) sameFindings(p *proofs) {
	w.t.Helper()
	i := slices.IndexFunc(w.result.Kernels, func(r instrument.Kernel) bool { return r.Func == w.k })
	info := &w.result.Kernels[i]
	if info.Free == 0 {
		return // the accesses of functions that another kernel calls, too
	}
	w.prune = true
	defer func() { w.prune = false }()
	direct, queues := make(findings), make(findings)
	for seed, seeds := uint64(0), uint64(4); seed < seeds; seed++ {
		a, res := w.directly(seed)
		steps := uint64(60_000_000)
		if res.Status == emu.Stopped && res.Stop.Kind == emu.Spinning || res.Status == emu.StepLimit {
			steps = 500_000
		}
		det := race.New(w.opt)
		sum, after := w.logged(seed, steps, det, nil)
		if after.Status == emu.Completed && !sum.Complete() {
			w.t.Errorf("%s, seed %d: %+v", w.k.Name, seed, sum)
		}
		if info.Proved && sum.Records > 0 {
			w.t.Errorf("%s: proved, and %d records", w.k.Name, sum.Records)
		}
		maps.Copy(direct, a)
		maps.Copy(queues, found(det, identity))
		if seed+1 == seeds && seeds < 64 && !maps.Equal(direct, queues) &&
			w.direct.SyncsThroughMemory() {
			seeds *= 2
		}
	}
	if !maps.Equal(direct, queues) {
		w.t.Errorf("%s:\npruned: %v\ndirect: %v", w.k.Name, queues, direct)
	}
}

// freeGenerators are the random kernels of the tests of verify.
var freeGenerators = []struct {
	name string
	agreement
	alias bool // its kernels have the pointers mem and ro
}{
	{"random", agreement{draw: func(src gen.Source) gen.Kernel {
		return gen.Random(src, gen.Options{BlockBarriers: src.Intn(4) > 0})
	}, req: randomRequest}, false},
	{"phases", agreement{draw: gen.Phases, req: phaseRequest}, true},
	{"loops", agreement{draw: gen.LoopState, req: phaseRequest}, true},
	{"orders", agreement{draw: gen.Orders, req: phaseRequest}, true},
	{"readback", agreement{draw: gen.Readback, req: phaseRequest}, true},
	{"lanes", agreement{draw: gen.Lanes, req: phaseRequest}, true},
	{"flow", agreement{draw: gen.Flow, req: flowRequest}, false},
	{"arrivals", agreement{draw: gen.Arrivals, req: phaseRequest}, true},
	{"locks", agreement{draw: gen.Locks, req: phaseRequest}, true},
	{"flags", agreement{draw: gen.Flags, req: phaseRequest}, true},
}

// TestFreeRandomAccesses: on random kernels, most of which have races, no access that is free in a
// launch takes part in a race, by the definitions: not in the first one nor in later ones. Half of
// the launches have pointers into one buffer.
func TestFreeRandomAccesses(t *testing.T) {
	if testing.Short() {
		t.Skip("many proofs")
	}
	for _, g := range freeGenerators {
		t.Run(g.name, func(t *testing.T) {
			from, to := seeds(t, 10)
			to = min(to, from+400) // the proofs take a second each
			tried, some, holds, refused, racy := 0, 0, 0, 0, 0
			for seed := from; seed < to; seed++ {
				k := g.draw(rand.New(rand.NewSource(int64(seed))))
				f := kernelOf(t, k.PTX)
				tried++
				opt := prove.FreeOptions{}
				if seed%2 == 0 {
					opt.Block = k.Block
				}
				free, err := prove.Free(t.Context(), f, opt)
				if err != nil {
					t.Fatal(err)
				}
				if !free.Some() {
					continue
				}
				some++
				for i, number := range []string{"3", "0", "1", "0xffffffff", "2", "6"} {
					req := g.req(k, number, uint64(1+i/2))
					if g.alias && i%2 == 1 {
						req.Args[1] = launch.ArgSpec{Param: "ro", Offset: -1, Kind: launch.ArgAlias,
							Text: "mem", At: uint64(32 * (i / 2))}
					}
					cfg, errs := launch.Resolve(f, req, nil)
					if len(errs) > 0 {
						t.Fatal(errs[0])
					}
					ok, _ := free.Holds(t.Context(), launchOf(f, cfg))
					if ok && g.alias && i == 1 && slices.ContainsFunc(free.Assumes,
						func(a prove.Assumption) bool {
							return a.Kind == prove.Apart && a.A.Name == "mem" && a.B.Name == "ro"
						}) {
						t.Fatalf("mem and ro are one buffer\n%s", k.PTX)
					}
					if !ok {
						refused++
						continue
					}
					holds++
					if freeRaces(t, f, cfg, free, k.PTX) {
						racy++
					}
				}
			}
			t.Logf("%d kernels, %d with free accesses; %d launches, %d with races, %d refused", tried, some,
				holds, racy, refused)
		})
	}
}

// freeRaces runs a kernel, fails if a free access races, and reports whether others do.
func freeRaces(t *testing.T, f *ir.Func, cfg *launch.Config, free *prove.FreeAccesses,
	text string) (racy bool) {
	t.Helper()
	m, err := emu.New(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(2) {
		o := oracle.New(oracle.Options{Geometry: cfg.Geometry})
		r, err := m.Run(t.Context(), emu.Options{Seed: seed, MaxSteps: 5000, Workers: 1}, o)
		if err != nil {
			t.Fatal(err)
		}
		racy = racy || len(o.Pairs) > 0
		if free.All && (len(o.Pairs) > 0 || r.Status == emu.Stalled) {
			t.Fatalf("proved, and %v with %v\n%s", r.Status, keys(o.Pairs), text)
		}
		for p := range o.Pairs {
			for _, s := range []event.Site{p.A, p.B} {
				if in := m.Site(s).Instr; free.Instrs[in] {
					t.Fatalf("%s at %v is free and races: %v\n%s", in.Text(), in.Index, p, text)
				}
			}
		}
	}
	return racy
}

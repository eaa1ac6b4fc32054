package nodiff

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/gpu/queue"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/ptx/instrument"
	"heddle/internal/race"
	"heddle/internal/source"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/long"
	"heddle/internal/testing/oracle"
)

// The emulator as the GPU: instrumented kernels run in it without a sink of events, and the
// detector gets what the host reads from the queues.

// The queues of the tests. They are small, so that they are full now and then.
const (
	testQueues = 3
	testSlots  = 256
)

// loaded is a module with its text, tree and IR.
type loaded struct {
	file  *source.File
	tree  *ptx.File
	mod   *ir.Module
	user  *source.File // with the comments for the launch
	facts *launch.SourceFacts
}

// load reads a PTX text. user is the file from which it was lowered.
func load(t *testing.T, text []byte, user string) loaded {
	t.Helper()
	content, err := os.ReadFile(user)
	if err != nil {
		t.Fatal(err)
	}
	return loadWith(t, text, "user"+filepath.Ext(user), content)
}

// loadText reads a PTX text that nothing was lowered to.
func loadText(t *testing.T, text string) loaded {
	t.Helper()
	return loadWith(t, []byte(text), "user.ptx", []byte(text))
}

// loadWith reads a PTX text. content has the comments for the launch.
func loadWith(t *testing.T, text []byte, name string, content []byte) loaded {
	t.Helper()
	set := source.NewSet()
	src, err := set.Add(name, content)
	if err != nil {
		t.Fatal(err)
	}
	file, tree, mod := kernels.Parse(t, set, text)
	return loaded{file, tree, mod, src, launch.Scan(src, nil)}
}

// window is one of the two memories of the queues in the global memory of an emulated run. It is
// used during the turns of the host only.
type window struct {
	object string
	mem    emu.HostMemory
	err    error
}

func (s *window) read(at int, b []byte) {
	if err := s.mem.Read(s.object, uint64(at), b); err != nil && s.err == nil {
		s.err = err
	}
}

func (s *window) write(at int, b []byte) {
	if err := s.mem.Write(s.object, uint64(at), b); err != nil && s.err == nil {
		s.err = err
	}
}

func (s *window) Load32(at int) uint32 {
	var b [4]byte
	s.read(at, b[:])
	return binary.LittleEndian.Uint32(b[:])
}

func (s *window) Load64(at int) uint64 {
	var b [8]byte
	s.read(at, b[:])
	return binary.LittleEndian.Uint64(b[:])
}

func (s *window) Store32(at int, v uint32) { s.write(at, binary.LittleEndian.AppendUint32(nil, v)) }
func (s *window) Store64(at int, v uint64) { s.write(at, binary.LittleEndian.AppendUint64(nil, v)) }
func (s *window) Read(at int, b []byte)    { s.read(at, b) }

// watched is one kernel with its instrumented form.
type watched struct {
	t        *testing.T
	k        *ir.Func // before
	cfg      *launch.Config
	direct   *emu.Machine
	result   *instrument.Result
	logging  *emu.Machine      // of the instrumented kernel
	original map[*ir.Instr]int // instructions of the instrumented module, to sites
	sites    map[*ir.Instr]int // instructions of the module before
	opt      race.Options
	device   *window // the device's memory in the last run
	order    int     // runs in which another order of the events shows other races
	prune    bool    // the host does not ask for what needs no log
}

// relevant reports whether an instruction may have a site.
func relevant(in *ir.Instr) bool {
	switch in.Action() {
	case isa.ActCompute, isa.ActNothing, isa.ActBranch, isa.ActIndexedBranch, isa.ActTrap, isa.ActCall,
		isa.ActConvertAddress, isa.ActTestSpace:
		return false
	}
	return true
}

// watch instruments the module of a kernel and prepares both kernels. ok is false if the launch
// cannot run, or if the kernel is refused.
func watch(t *testing.T, before loaded, k *ir.Func, opt instrument.Options,
	model event.WarpModel, benign event.Benign) (w *watched, ok bool) {
	t.Helper()
	cfg, errs := launch.Resolve(k, launch.Request{}, before.facts)
	if cfg == nil || len(errs) > 0 {
		return nil, false
	}
	direct, err := emu.New(k, cfg)
	if err != nil || unknown(cfg) {
		return nil, false
	}
	if opt.Queues == 0 {
		opt.Queues, opt.Slots = testQueues, testSlots
	}
	opt.Lockstep = model == event.Lockstep
	opt.Values = opt.Values || benign == event.BenignAll
	res, err := instrument.Module(before.file, before.tree, before.mod, opt)
	if err != nil {
		return nil, false
	}
	i := slices.IndexFunc(res.Kernels, func(r instrument.Kernel) bool { return r.Func == k })
	if res.Kernels[i].Reason != "" {
		return nil, false
	}
	after := loadWith(t, res.Text, before.user.Name, before.user.Content)
	k2 := after.mod.Kernel(k.Name)
	cfg2, errs := launch.Resolve(k2, launch.Request{}, after.facts)
	if cfg2 == nil || len(errs) > 0 {
		t.Fatalf("the instrumented kernel has no launch: %v", errs)
	}
	logging, err := emu.New(k2, cfg2)
	if err != nil {
		t.Fatal(err)
	}
	w = &watched{t: t, k: k, cfg: cfg, direct: direct, result: res, logging: logging,
		original: make(map[*ir.Instr]int), sites: make(map[*ir.Instr]int)}
	for n := range res.Sites {
		if s := &res.Sites[n]; s.What != instrument.Converge && s.What != instrument.Layout {
			w.sites[s.Instr] = n
		}
	}
	for _, f := range before.mod.Funcs {
		same := func(g *ir.Func) bool { return g.Name == f.Name }
		g := after.mod.Funcs[slices.IndexFunc(after.mod.Funcs, same)]
		a, b := relevantOf(f), relevantOf(g)
		if len(a) != len(b) {
			t.Fatalf("%s has %d instructions, instrumented %d", f.Name, len(a), len(b))
		}
		for i := range a {
			if n, ok := w.sites[a[i]]; ok {
				w.original[b[i]] = n
			}
		}
	}
	w.opt = race.Options{Geometry: cfg.Geometry, Model: model, Benign: benign,
		SharedBytes: uint32(direct.SharedBytes()), Exchanges: true, Recycling: true}
	return w, true
}

// unknown reports whether a launch has unknown inputs, of which a GPU knows nothing.
func unknown(cfg *launch.Config) bool {
	return slices.ContainsFunc(cfg.Args, func(a launch.Arg) bool {
		return a.Unknown || a.Buffer != nil && a.Buffer.Fill == launch.FillUnknown
	})
}

func relevantOf(f *ir.Func) (out []*ir.Instr) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			reads := func(o ir.Operand) bool { return o.Var != nil && o.Var.Name == instrument.LogAll }
			if relevant(in) && !slices.ContainsFunc(in.Src, reads) {
				out = append(out, in)
			}
		}
	}
	return out
}

// findings are what a detector reports, by the instructions: sites have numbers of instrument.Site.
type findings map[string]bool

// found names the findings of a detector. site maps its sites to those of the instrumented module.
func found(det *race.Detector, site func(event.Site) int) findings {
	out := make(findings)
	pair := func(what string, a, b event.Site) {
		x, y := site(a), site(b)
		out[fmt.Sprintf("%s %d %d", what, min(x, y), max(x, y))] = true
	}
	rep := det.Report()
	for _, r := range rep.Races {
		pair(fmt.Sprintf("race %v", r.Space), r.First.Site, r.Second.Site)
	}
	for _, r := range rep.Late {
		pair("late", r.First.Site, r.Second.Site)
	}
	for _, x := range rep.Exchanges {
		pair("exchange", x.First.Site, x.Second.Site)
	}
	for _, e := range rep.Barriers {
		lo, hi := 1<<30, -1
		for _, g := range e.Groups {
			lo, hi = min(lo, site(g.Site)), max(hi, site(g.Site))
		}
		out[fmt.Sprintf("barrier %v %d: %d %d, exited %v", e.Kind, e.Barrier, lo, hi,
			len(e.Exited) > 0)] = true
	}
	return out
}

func (f findings) String() string {
	return strings.Join(slices.Sorted(maps.Keys(f)), "; ")
}

func (w *watched) run(seed uint64) emu.Options {
	return emu.Options{Model: w.opt.Model, Seed: seed, Workers: 1, MaxSteps: 3_000_000}
}

// directly returns the findings of the kernel as it is.
func (w *watched) directly(seed uint64) (findings, *emu.Result) {
	det := race.New(w.opt)
	res, err := w.direct.Run(w.t.Context(), w.run(seed), det)
	if err != nil {
		w.t.Fatal(err)
	}
	return found(det, func(s event.Site) int {
		n, ok := w.sites[w.direct.Site(s).Instr]
		if !ok {
			return -2
		}
		return n
	}), res
}

// logged runs the instrumented kernel, with the host reading its queues during its turns. queues
// gets what the host reads, and events, if it is not nil, the events of the same run, those of the
// log functions left out. steps is the limit of the run.
func (w *watched) logged(seed, steps uint64, queues, events event.Sink) (queue.Summary,
	*emu.Result) {
	host, res := w.served(seed, steps, queues, events, func(h *queue.Host, _ bool) bool {
		return h.Drain() > 0
	})
	sum := host.End(w.device)
	if sum.Err != nil {
		w.t.Fatal(sum.Err)
	}
	return sum, res
}

// served is logged with another host, which it returns: turn is one turn of it.
func (w *watched) served(seed, steps uint64, queues, events event.Sink,
	turn func(h *queue.Host, stuck bool) bool) (*queue.Host, *emu.Result) {
	mem, device := &window{object: instrument.HostVar}, &window{object: instrument.DeviceVar}
	w.device = device
	var host *queue.Host
	opt := w.run(seed)
	opt.MaxSteps = steps
	// A kernel that waits for other blocks logs what it polls, which the emulator takes for progress:
	// it would start the next block late.
	opt.Resident = int(min(w.cfg.Geometry.Blocks(), 64))
	opt.Host = func(m emu.HostMemory, stuck bool) bool {
		mem.mem, device.mem = m, m
		if host == nil {
			if w.prune {
				if err := m.Write(instrument.LogAll, 0, make([]byte, 4)); err != nil {
					w.t.Fatal(err)
				}
			}
			var err error
			host, err = queue.New(queue.Options{Result: w.result, Geometry: w.cfg.Geometry, Memory: mem,
				Queues: w.result.Options.Queues, Slots: w.result.Options.Slots, Sink: queues,
				SharedBytes: w.opt.SharedBytes})
			if err != nil {
				w.t.Fatal(err)
			}
		}
		return turn(host, stuck)
	}
	var sink event.Sink
	if events != nil {
		sink = &originals{w: w, det: events}
	}
	res, err := w.logging.Run(w.t.Context(), opt, sink)
	if err != nil {
		w.t.Fatal(err)
	}
	if mem.err != nil || device.err != nil {
		w.t.Fatal(mem.err, device.err)
	}
	return host, res
}

// identity is for detectors whose sites are those of the instrumented module.
func identity(s event.Site) int { return int(s) }

// sameRun runs the instrumented kernel once, and compares the findings from its queues with those
// from its events. They are different orders of one execution. After the first race on a location
// a detector may miss others, depending on the order. So where the findings differ, all races
// decide, as the definitions say. It returns the findings from the queues.
func (w *watched) sameRun(seed, steps uint64) (findings, queue.Summary, *emu.Result) {
	queues, events := race.New(w.opt), race.New(w.opt)
	sum, res := w.logged(seed, steps, queues, events)
	got, want := found(queues, identity), found(events, identity)
	if maps.Equal(got, want) {
		return got, sum, res
	}
	if n := w.cfg.Geometry.Blocks() * uint64(w.cfg.Geometry.ThreadsPerBlock()); n <= maxThreads {
		opt := oracle.Options{Geometry: w.cfg.Geometry, Lockstep: w.opt.Model == event.Lockstep}
		a, b := oracle.New(opt), oracle.New(opt)
		w.logged(seed, steps, a, b)
		if keys(a.Pairs) == keys(b.Pairs) && keys(a.Exchanges) == keys(b.Exchanges) {
			w.order++
			return got, sum, res
		}
		w.t.Errorf("%s, seed %d: all races of the queues: %v\nof the events: %v", w.k.Name, seed,
			keys(a.Pairs), keys(b.Pairs))
	}
	w.t.Errorf("%s, seed %d, %v:\nqueues: %v\nevents: %v", w.k.Name, seed, w.opt.Model, got, want)
	return got, sum, res
}

// keys prints the keys of a map.
func keys(m map[oracle.Pair]int) string {
	var out []string
	for p := range m {
		out = append(out, fmt.Sprint(p))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// originals passes the events of the instructions that the kernel had before it was instrumented.
type originals struct {
	w   *watched
	det event.Sink
}

// site returns the site of an event; false if its instruction was added.
func (o *originals) site(s *event.Site) bool {
	n, ok := o.w.original[o.w.logging.Site(*s).Instr]
	*s = event.Site(n)
	return ok
}

func (o *originals) Access(e *event.Access) {
	if c := *e; o.site(&c.Site) {
		o.det.Access(&c)
	}
}
func (o *originals) Copy(e *event.Copy) {
	if c := *e; o.site(&c.Site) {
		o.det.Copy(&c)
	}
}
func (o *originals) CopyGroup(e *event.CopyGroup) {
	if c := *e; o.site(&c.Site) {
		o.det.CopyGroup(&c)
	}
}
func (o *originals) Fence(e *event.Fence) {
	if c := *e; o.site(&c.Site) {
		o.det.Fence(&c)
	}
}
func (o *originals) Arrive(e *event.Arrive) {
	if c := *e; o.site(&c.Site) {
		o.det.Arrive(&c)
	}
}
func (o *originals) WarpSync(e *event.WarpSync) {
	if c := *e; o.site(&c.Site) {
		o.det.WarpSync(&c)
	}
}
func (o *originals) Cluster(*event.ClusterBarrier)  {}
func (o *originals) InitFence(*event.InitFence)     {}
func (o *originals) Complete(e *event.Complete)     { o.det.Complete(e) }
func (o *originals) Converge(e *event.Converge)     { o.det.Converge(e) }
func (o *originals) Exit(e *event.Exit)             { o.det.Exit(e) }
func (o *originals) CopyArrive(*event.CopyArrive)   {}
func (o *originals) Bulk(*event.Bulk)               {}
func (o *originals) Matrix(*event.Matrix)           {}
func (o *originals) MatrixGroup(*event.MatrixGroup) {}
func (o *originals) Tensor(*event.TensorAgent)      {}
func (o *originals) TensorSync(*event.TensorSync)   {}
func (o *originals) BulkGroup(*event.BulkGroup)     {}
func (o *originals) Signal(*event.Signal)           {}
func (o *originals) MBarrier(*event.MBarrier)       {}
func (o *originals) ProxyFence(*event.ProxyFence)   {}
func (o *originals) Stall(e *event.Stall) {
	c := *e
	c.Waiting = slices.Clone(e.Waiting)
	for i := range c.Waiting {
		o.site(&c.Waiting[i].Site)
	}
	o.det.Stall(&c)
}

// choices reads the warp model and the tolerated races that a test kernel asks for.
func choices(t *testing.T, path string) (event.WarpModel, event.Benign) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	model, benign := event.Independent, event.BenignWarp
	for line := range strings.Lines(string(text)) {
		_, flags, ok := strings.Cut(line, "// options: ")
		if !ok {
			continue
		}
		words := strings.Fields(flags)
		for i := 0; i+1 < len(words); i++ {
			switch words[i] {
			case "--warp":
				model, err = event.ParseWarpModel(words[i+1])
			case "--benign":
				benign, err = event.ParseBenign(words[i+1])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return model, benign
}

// eachKernel calls f for each kernel of the suite and the examples, or of the files whose paths
// contain HEDDLE_ONLY.
func eachKernel(t *testing.T, f func(t *testing.T, path string, before loaded, k *ir.Func)) {
	if testing.Short() {
		t.Skip("many kernels")
	}
	only := os.Getenv("HEDDLE_ONLY")
	for _, dir := range []string{"../../../testdata/suite", "../../../examples"} {
		for _, path := range sample(t, dir) {
			if strings.Contains(path, "/programs/") || !strings.Contains(path, only) {
				continue
			}
			t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
				low, err := lower.File(t.Context(), path, lower.Options{})
				if err != nil {
					t.Fatal(err)
				}
				before := load(t, low.PTX, path)
				for _, k := range before.mod.Funcs {
					if k.Kernel && k.Blocks != nil {
						f(t, path, before, k)
					}
				}
			})
		}
	}
}

// TestQueuesAgainstEvents runs each instrumented kernel and compares what the host reads from the
// queues with the events of the same run, in both warp models: findings, and what each thread did.
func TestQueuesAgainstEvents(t *testing.T) {
	runs, order, early := 0, 0, uint64(0)
	eachKernel(t, func(t *testing.T, path string, before loaded, k *ir.Func) {
		_, benign := choices(t, path)
		for _, model := range []event.WarpModel{event.Independent, event.Lockstep} {
			w, ok := watch(t, before, k, instrument.Options{}, model, benign)
			if !ok {
				continue
			}
			for seed := range uint64(3) {
				_, sum, _ := w.sameRun(seed, 2_000_000)
				early += sum.Early
				runs++
			}
			w.sameLog(3, 200_000)
			order += w.order
		}
	})
	t.Logf("%d runs, %d with other races for another order, %d threads let go early", runs, order,
		early)
	if os.Getenv("HEDDLE_ONLY") == "" && runs < long.Least(1200) {
		t.Errorf("%d runs, at least %d are expected", runs, long.Least(1200))
	}
}

// TestQueuesAgainstEmulation compares the findings from the queues with those of the kernel as it
// is, for 10 seeds.
//
// The log calls change the schedule, so that a seed is not the same run of both. What happens
// before what depends on the schedule only where threads synchronize through memory; there, and
// beyond the first race on each location, a single run may show other findings. So the findings of
// all seeds together are compared. They are sets over schedules of which each seed is a sample;
// where threads synchronize through memory and 10 samples differ, up to 80 are taken, and both
// sets must agree then.
func TestQueuesAgainstEmulation(t *testing.T) {
	kernels, always, left := 0, 0, 0
	eachKernel(t, func(t *testing.T, path string, before loaded, k *ir.Func) {
		model, benign := choices(t, path)
		w, ok := watch(t, before, k, instrument.Options{}, model, benign)
		if !ok {
			left++
			return
		}
		kernels++
		direct, queues := make(findings), make(findings)
		seeds, equal := uint64(10), 0
		for seed := uint64(0); seed < seeds; seed++ {
			a, res := w.directly(seed)
			steps := uint64(60_000_000)
			if res.Status == emu.Stopped && res.Stop.Kind == emu.Spinning || res.Status == emu.StepLimit {
				steps = 500_000 // it does not end
			}
			det := race.New(w.opt)
			sum, after := w.logged(seed, steps, det, nil)
			b := found(det, identity)
			if maps.Equal(a, b) {
				equal++
			}
			if sum.Dropped+sum.Missing+uint64(sum.Held) > 0 && after.Status == emu.Completed {
				t.Errorf("%s, seed %d: %v, %+v", k.Name, seed, after.Status, sum)
			}
			maps.Copy(direct, a)
			maps.Copy(queues, b)
			if seed+1 == seeds && seeds < 80 && !maps.Equal(direct, queues) &&
				w.direct.SyncsThroughMemory() {
				seeds *= 2
			}
		}
		if !maps.Equal(direct, queues) {
			t.Errorf("%s, contended %v, equal for %d seeds:\nqueues: %v\ndirect: %v", k.Name,
				w.direct.SyncsThroughMemory(), equal, queues, direct)
		} else if seeds == 10 && equal == 10 {
			always++
		}
	})
	t.Logf("%d kernels compared, %d of them equal for each of 10 seeds, %d left out", kernels,
		always, left)
	if os.Getenv("HEDDLE_ONLY") == "" && (kernels < long.Least(420) || always < long.Least(410) ||
		always*30 < kernels*29) {
		t.Errorf("at least %d kernels, %d and 29 of 30 equal for each seed, are expected",
			long.Least(420), long.Least(410))
	}
}

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
	"heddle/internal/irgen"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/ptx/instrument"
	"heddle/internal/race"
	"heddle/internal/source"
)

// The emulator as the GPU: instrumented kernels run in it without a sink of events, and the detector
// gets what the host reads from the queues.

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
	facts *launch.SourceFacts
}

// load reads a PTX text. user is the file from which it was lowered.
func load(t *testing.T, text []byte, user string) loaded {
	t.Helper()
	set := source.NewSet()
	content, err := os.ReadFile(user)
	if err != nil {
		t.Fatal(err)
	}
	src, err := set.Add("user"+filepath.Ext(user), content)
	if err != nil {
		t.Fatal(err)
	}
	file, err := set.Add("kernels.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs[0], text)
	}
	mod, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs[0], text)
	}
	return loaded{file, tree, mod, launch.Scan(src, nil)}
}

// window is the memory of the queues in the global memory of an emulated run. It is used during the
// turns of the host only.
type window struct {
	mem emu.HostMemory
	err error
}

func (s *window) read(at int, b []byte) {
	if err := s.mem.Read(instrument.HostVar, uint64(at), b); err != nil && s.err == nil {
		s.err = err
	}
}

func (s *window) write(at int, b []byte) {
	if err := s.mem.Write(instrument.HostVar, uint64(at), b); err != nil && s.err == nil {
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

// watch instruments the module of a kernel and prepares both kernels. ok is false if the launch cannot
// run, or if the kernel is refused.
func watch(t *testing.T, before loaded, k *ir.Func, user string, opt instrument.Options,
	model event.WarpModel, benign event.Benign) (w *watched, ok bool) {
	t.Helper()
	cfg, errs := launch.Resolve(k, launch.Request{}, before.facts)
	if cfg == nil || len(errs) > 0 {
		return nil, false
	}
	direct, err := emu.New(k, cfg)
	if err != nil {
		return nil, false
	}
	opt.Queues, opt.Slots = testQueues, testSlots
	opt.Lockstep = model == event.Lockstep
	opt.Values = benign == event.BenignAll
	res, err := instrument.Module(before.file, before.tree, before.mod, opt)
	if err != nil {
		return nil, false
	}
	i := slices.IndexFunc(res.Kernels, func(r instrument.Kernel) bool { return r.Func == k })
	if res.Kernels[i].Reason != "" {
		return nil, false
	}
	after := load(t, res.Text, user)
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
		if s := &res.Sites[n]; s.What != instrument.Converge {
			w.sites[s.Instr] = n
		}
	}
	for _, f := range before.mod.Funcs {
		g := after.mod.Funcs[slices.IndexFunc(after.mod.Funcs, func(g *ir.Func) bool { return g.Name == f.Name })]
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

func relevantOf(f *ir.Func) (out []*ir.Instr) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if relevant(in) {
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
		pair(fmt.Sprintf("race %v %v", r.Space, r.Cause), r.First.Site, r.Second.Site)
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
		out[fmt.Sprintf("barrier %v %d: %d %d, exited %v", e.Kind, e.Barrier, lo, hi, len(e.Exited) > 0)] = true
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

// logged runs the instrumented kernel. It returns the findings from the queues; and those from the
// events of the same run, those of the log functions left out. events is false to run without a sink.
func (w *watched) logged(seed uint64, events bool) (queues, same findings, sum queue.Summary, res *emu.Result) {
	det := race.New(w.opt)
	mem := &window{}
	var host *queue.Host
	opt := w.run(seed)
	opt.MaxSteps *= 20
	// A kernel that waits for other blocks logs what it polls, which the emulator takes for progress: it
	// would start the next block late.
	opt.Resident = int(min(w.cfg.Geometry.Blocks(), 64))
	opt.Host = func(m emu.HostMemory, stuck bool) bool {
		mem.mem = m
		if host == nil {
			var err error
			if host, err = queue.New(queue.Options{Result: w.result, Geometry: w.cfg.Geometry, Memory: mem,
				Queues: testQueues, Slots: testSlots, Sink: det, SharedBytes: w.opt.SharedBytes}); err != nil {
				w.t.Fatal(err)
			}
		}
		return host.Drain() > 0
	}
	var sink event.Sink
	truth := &originals{w: w, det: race.New(w.opt)}
	if events {
		sink = truth
	}
	res, err := w.logging.Run(w.t.Context(), opt, sink)
	if err != nil {
		w.t.Fatal(err)
	}
	sum = host.End()
	if mem.err != nil || sum.Err != nil {
		w.t.Fatal(mem.err, sum.Err)
	}
	identity := func(s event.Site) int { return int(s) }
	return found(det, identity), found(truth.det, identity), sum, res
}

// originals passes the events of the instructions that the kernel had before it was instrumented.
type originals struct {
	w   *watched
	det *race.Detector
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
func (o *originals) Complete(e *event.Complete)   { o.det.Complete(e) }
func (o *originals) Converge(e *event.Converge)   { o.det.Converge(e) }
func (o *originals) Exit(e *event.Exit)           { o.det.Exit(e) }
func (o *originals) CopyArrive(*event.CopyArrive) {}
func (o *originals) Bulk(*event.Bulk)             {}
func (o *originals) BulkGroup(*event.BulkGroup)   {}
func (o *originals) Signal(*event.Signal)         {}
func (o *originals) MBarrier(*event.MBarrier)     {}
func (o *originals) ProxyFence(*event.ProxyFence) {}
func (o *originals) Stall(e *event.Stall) {
	c := *e
	c.Waiting = slices.Clone(e.Waiting)
	for i := range c.Waiting {
		o.site(&c.Waiting[i].Site)
	}
	o.det.Stall(&c)
}

// TestQueuesAgainstEvents runs the instrumented kernels of the suite and the examples.
func TestQueuesAgainstEvents(t *testing.T) {
	only := os.Getenv("ONLY")
	for _, dir := range []string{"../../../testdata/suite", "../../../examples"} {
		for _, path := range kernelFiles(t, dir) {
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
					if !k.Kernel || k.Blocks == nil {
						continue
					}
					w, ok := watch(t, before, k, path, instrument.Options{}, event.Independent, event.BenignWarp)
					if !ok {
						t.Logf("%s is left out", k.Name)
						continue
					}
					for seed := range uint64(3) {
						direct, dres := w.directly(seed)
						queues, same, sum, res := w.logged(seed, true)
						if !maps.Equal(queues, same) {
							t.Errorf("seed %d: %s:\nqueues: %v\nevents: %v", seed, k.Name, queues, same)
						}
						if !maps.Equal(direct, queues) {
							t.Logf("seed %d: %s:\nqueues: %v\ndirect: %v", seed, k.Name, queues, direct)
						}
						if dres.Status != res.Status || sum.Early > 0 || sum.Held > 0 || sum.Cut > 0 {
							t.Logf("seed %d: %v %v, %+v %v %v", seed, dres.Status, res.Status, sum, res.Stop, dres.Stop)
						}
					}
				}
			})
		}
	}
}

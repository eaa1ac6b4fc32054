package exec

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"heddle/internal/diag"
	"heddle/internal/emu"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/gpu/queue"
	"heddle/internal/host"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower/fatbin"
	"heddle/internal/ptx/instrument"
	"heddle/internal/race"
)

// Programs that run on a GPU (Barracuda, section 4). A watcher instruments the modules of one
// process as they are loaded. A launch that is watched logs into queues, from which package
// gpu/queue makes events; the detector, the findings and the verdicts are those of an emulated
// launch. What is not watched runs on the GPU all the same, and is counted.

// Queues are how many queues the kernels of a program log into, and the slots of each.
type Queues struct{ Number, Slots int }

// DefaultQueues are those for a GPU: 1.2 queues for each multiprocessor of a large one (Barracuda,
// section 4.2), 20 MiB in all.
var DefaultQueues = Queues{160, 4096}

// watcher follows one process on a GPU.
type watcher struct {
	process
	on     *watched
	rings  *queue.Bytes // the memory of the queues; nil: not known yet
	shared *host.SharedMemory

	modules []*module // module number i+1
	images  map[[sha256.Size]byte]uint32
	clean   bool // the queues hold nothing of the last launch

	host     atomic.Pointer[queue.Host] // of the launch that is being watched; nil: there is none
	detector run.Detector
	machine  *emu.Machine
	geometry event.Geometry
	less     bool // it logs less, because of proofs
	timing   bool // the launch is timed and not watched
	stop     context.CancelFunc
	failed   map[string]bool // what was reported as not watched
	seen     uint64          // records when the emulator last asked
	more     bool            // graphs were launched more often than is counted
	blind    bool            // nothing can be watched, and a problem says why
}

// watched is what the watchers of a run share.
type watched struct {
	r       *runner
	queues  Queues
	arch    int       // of the GPU: 90; 0 if it is not known
	emulate *emulated // in place of a GPU; nil: there is one
}

// open is the watcher of a process that has connected.
func (o *watched) open(h host.Hello) (host.Watcher, host.QueueMemory, error) {
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	o.r.sum.Connected++
	w := &watcher{on: o, images: make(map[[sha256.Size]byte]uint32), failed: make(map[string]bool)}
	w.process.open(o.r, h, emu.NewAddresses(), nil)
	q := o.queues
	mem := host.QueueMemory{HostBytes: instrument.HostBytes(q.Number, q.Slots),
		DeviceBytes: instrument.DeviceBytes(q.Number)}
	if o.emulate != nil {
		o.emulate.enter(w)
		return w, mem, nil
	}
	shared, err := host.NewSharedMemory("heddle-queues", (mem.HostBytes+4095)/4096*4096)
	if err != nil {
		return nil, mem, err
	}
	w.shared, mem.Host = shared, shared
	return w, mem, w.setMemory(shared.Bytes)
}

// setMemory sets the memory of the queues.
func (w *watcher) setMemory(b []byte) error {
	m, err := queue.NewBytes(b)
	if err == nil {
		w.rings = &m
	}
	return err
}

// GraphLaunches implements host.Watcher. The first launches of a graph are those of the policy, and
// one more, which is timed. A policy that skips launches has to see all of them.
func (w *watcher) GraphLaunches() uint64 {
	switch p := w.r.opt.Check; {
	case p.None:
		return 0
	case p.First > 0 && p.Every == 0:
		return max(p.First, p.First+1) // of 2^64-1 there is no next
	}
	return math.MaxUint64
}

// Queues implements host.Watcher.
func (w *watcher) Queues(addr uint64) error {
	q := w.on.queues
	if addr == 0 {
		w.rings = nil
		return nil
	}
	b, ok := w.on.emulate.bytes(w.hello.Process, addr, instrument.HostBytes(q.Number, q.Slots))
	if !ok {
		return fmt.Errorf("no memory of the queues at %#x", addr)
	}
	if err := w.setMemory(b); err != nil {
		return err
	}
	if w.machine == nil {
		return nil
	}
	return w.read()
}

// Image implements host.Watcher. The image that is loaded instead has the PTX of the newest
// architecture that the GPU executes.
func (w *watcher) Image(image []byte) (number uint32, variables []string, instead []byte) {
	key := sha256.Sum256(image)
	number, ok := w.images[key]
	if !ok {
		number = w.load(image)
		w.images[key] = number
	}
	if number == 0 {
		return 0, nil, nil
	}
	m := w.modules[number-1]
	logs := func(k instrument.Kernel) bool { return k.Reason == "" }
	if !slices.ContainsFunc(m.logging.Kernels, logs) {
		return number, nil, nil // the machine code in the image needs no compilation
	}
	for _, v := range emu.MemoryVars(m.driver.IR) {
		variables = append(variables, v.Name)
	}
	return number, variables, fatbin.Write(m.logging.Text, int(architecture(m.driver.IR.Target)))
}

// load reads and instruments an image; 0 if nothing in it can be watched.
func (w *watcher) load(image []byte) uint32 {
	n := len(w.modules) + 1
	fail := func(err error) uint32 {
		w.unwatched("an image of %d bytes: %v", len(image), err)
		return 0
	}
	text, err := newestPTX(image, w.on.arch)
	if err != nil {
		return fail(err)
	}
	m := &module{vars: make(map[*ir.Var]uint64), asked: make(map[string]bool),
		places: make(map[*ir.Var]*launch.Memory)}
	name := fmt.Sprintf("%s.module%d.ptx", w.hello.Path, n)
	file, tree, err := w.parse(m, name, w.relative(text))
	if err != nil {
		return fail(err)
	}
	common := w.driver.Options()
	opt := instrument.Options{Lockstep: common.Warp == event.Lockstep,
		Values: common.Benign == event.BenignAll, Number: uint32(n)}
	if w.r.opt.Prove {
		w.prove(m, &opt)
	}
	m.logging, err = instrument.Module(file, tree, m.driver.IR, opt)
	if err != nil {
		return fail(err)
	}
	for i, v := range emu.MemoryVars(m.driver.IR) {
		m.vars[v] = nowhere + uint64(i)<<40 // until the program says where
	}
	w.modules = append(w.modules, m)
	return uint32(n)
}

// prove finds what needs no log in the kernels of a module.
func (w *watcher) prove(m *module, opt *instrument.Options) {
	m.proofs = make(map[*ir.Func]*prove.FreeAccesses)
	var list []*prove.FreeAccesses
	for _, f := range m.driver.IR.Funcs {
		if !f.Kernel || len(f.Blocks) == 0 {
			continue
		}
		p, err := prove.Free(w.r.ctx, f, prove.FreeOptions{})
		if err != nil {
			continue // the program is being ended
		}
		m.proofs[f] = p
		list = append(list, p)
	}
	opt.Free = prove.FreeIn(list)
	opt.Proved = func(f *ir.Func) bool { return m.proofs[f] != nil && m.proofs[f].All }
}

// proved reports whether a launch satisfies what the proofs of its kernel assume.
func (w *watcher) proved(k *kernel, cfg *launch.Config) bool {
	p := k.module.proofs[k.fn]
	if p == nil || !p.Some() {
		return false
	}
	ok, _ := p.Holds(w.r.ctx, &prove.Launch{Geometry: cfg.Geometry, DynShared: uint32(w.launch.Shared),
		Params: w.launch.Params, Find: w.find,
		Var: func(v *ir.Var) *launch.Memory { return k.module.places[v] }})
	return ok
}

// nowhere is the first of the addresses at which no GPU has memory.
const nowhere = 1 << 62

// newestPTX returns the PTX of an image that a GPU of an architecture would compile: of the newest
// architecture that it executes; any for 0.
func newestPTX(image []byte, arch int) ([]byte, error) {
	if !fatbin.Is(image) {
		if text := bytes.TrimRight(image, "\x00"); bytes.Contains(text, []byte(".version")) {
			return text, nil
		}
		return nil, errors.New("neither PTX nor a fat binary")
	}
	f, err := fatbin.Open(image)
	if err != nil {
		return nil, err
	}
	var list []*fatbin.Image
	for _, im := range f.Images {
		if im.Kind == fatbin.PTX && (arch == 0 || im.Arch <= arch) {
			list = append(list, im)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("it has machine code and no PTX for this GPU (nvcc adds PTX with " +
			"-gencode arch=compute_80,code=compute_80)")
	}
	best := slices.MaxFunc(list, func(a, b *fatbin.Image) int { return a.Arch - b.Arch })
	for _, im := range list {
		if im != best && im.Arch == best.Arch {
			return nil, fmt.Errorf("it has several PTX texts for sm_%d, which are linked when they are "+
				"loaded", im.Arch)
		}
	}
	return best.Data()
}

// unwatched notes something that is not watched, once for each text.
func (w *watcher) unwatched(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !w.failed[text] {
		w.failed[text] = true
		w.problem(diag.Unsupported, "", "not watched: %s", text)
	}
}

// Kernel implements host.Watcher. A kernel that cannot log is reported once.
func (w *watcher) Kernel(number uint32, name string) *host.WatchedKernel {
	named := func(k instrument.Kernel) bool { return k.Func.Name == name }
	found := uint32(0)
	for i, m := range w.modules {
		if number != 0 && int(number) != i+1 || !slices.ContainsFunc(m.logging.Kernels, named) {
			continue
		}
		if found != 0 {
			w.unwatched("launches of %s, a kernel of several modules, of which heddle does not know which "+
				"one is meant", name)
			return &host.WatchedKernel{Module: found}
		}
		found = uint32(i + 1)
	}
	if found == 0 {
		return nil // the library says so, if the launch succeeds
	}
	m := w.modules[found-1]
	return w.kernel(found, m, &m.logging.Kernels[slices.IndexFunc(m.logging.Kernels, named)])
}

// kernel returns a kernel of a module.
func (w *watcher) kernel(number uint32, m *module, logs *instrument.Kernel) *host.WatchedKernel {
	f := logs.Func
	if logs.Reason != "" {
		if !m.asked[f.Name] {
			m.asked[f.Name] = true
			w.problem(diag.Unsupported, f.Demangled, "it runs on the GPU and is not watched: %s",
				logs.Reason)
		}
		return &host.WatchedKernel{Module: number}
	}
	code, err := emu.NewProgram(f, w.memory, m.vars)
	if err != nil {
		w.problem(diag.Unsupported, f.Demangled, "%v", err)
		return &host.WatchedKernel{Module: number}
	}
	k := &kernel{fn: f, module: m, code: code, shapes: make(map[shape]*history)}
	k.watch = run.NewProgram(w.driver.Job(m.driver, f), &run.Options{})
	k.watch.Reproduce, k.watch.Mark = w.r.opt.Command, w.mark
	w.kernels = append(w.kernels, k)
	out := &host.WatchedKernel{ID: uint32(len(w.kernels)), Module: number}
	for _, p := range f.Params {
		out.Parameters = append(out.Parameters,
			host.Parameter{Offset: uint32(p.Offset), Size: uint32(p.Size)})
	}
	return out
}

// Variable implements host.Watcher.
func (w *watcher) Variable(number uint32, name string, addr, size uint64) {
	if number == 0 || int(number) > len(w.modules) {
		return
	}
	for v := range w.modules[number-1].vars {
		if v.Name == name && uint64(v.Size) == size {
			al := emu.Allocation{Name: cmp.Or(v.Source, v.Name), Addr: addr, Size: size, Space: v.Space,
				Shape: &v.Shape}
			w.modules[number-1].places[v] = &launch.Memory{Name: al.Name, Addr: addr, Size: size}
			_ = w.memory.Free(addr) // of a module that was unloaded
			_ = w.memory.Alloc(al)  // without it the memory has no name in reports
		}
	}
}

// Allocated implements host.Watcher.
func (w *watcher) Allocated(a host.Allocation) {
	name, ok := w.names[a.Caller]
	if !ok {
		name = w.nameOf(a)
		w.names[a.Caller] = name
	}
	al := emu.Allocation{Name: name, Addr: a.Addr, Size: a.Size, Space: event.Global}
	if w.memory.Alloc(al) == nil {
		return
	}
	// Something there was freed by a call that was not seen.
	if old, ok := w.memory.Find(a.Addr); ok {
		_ = w.memory.Free(old.Addr)
		_ = w.memory.Alloc(al) // without it the memory has no name in reports
	}
}

// Freed implements host.Watcher.
func (w *watcher) Freed(addr, caller uint64) {
	_ = w.memory.FreeAt(addr, w.place(caller)) // an unknown address has no name to lose
}

// Unwatched implements host.Watcher.
func (w *watcher) Unwatched(why host.Why, text string) {
	switch why {
	case host.UnknownKernel:
		w.unwatched("launches of %s, whose module was loaded in a way that heddle does not see", text)
	case host.GraphLaunch:
		if text == "" {
			w.unwatched("launches by graphs of the driver API")
		} else {
			w.unwatched("launches by a graph that %s", text)
		}
	case host.MoreGraphs:
		w.more = true
	case host.WhileCapturing:
		w.unwatched("launches while a stream is captured")
	case host.OtherDevice:
		w.unwatched("launches on another GPU than the first one")
	case host.NoVariables:
		w.unwatched("a module that does not have heddle's variables: %s", text)
	default:
		w.blind = true
		w.unwatched("all launches: %s", text)
	}
}

// Launch implements host.Watcher.
func (w *watcher) Launch(l *host.Launch) host.Do {
	if l.Kernel == 0 || int(l.Kernel) > len(w.kernels) || l.Shared > math.MaxUint32 {
		return host.DoNothing
	}
	k := w.kernels[l.Kernel-1]
	if n := uint64(l.Block.X) * uint64(l.Block.Y) * uint64(l.Block.Z); n == 0 || n > 1024 ||
		l.Grid.Count() == 0 {
		return host.DoNothing // the driver refuses it
	}
	k.launches++
	kept := *l
	kept.Params, kept.Callers = slices.Clone(l.Params), slices.Clone(l.Callers)
	w.executing, w.launch = k, &kept
	of := k.shapes[w.shape()]
	if of == nil {
		of = new(history)
		k.shapes[w.shape()] = of
	}
	n := of.executed
	of.executed++
	if w.blind || of.large || !w.r.opt.Check.Watches(n) {
		if w.timing = k.timed == 0 && !w.blind; w.timing {
			return host.DoTime
		}
		k.watch.Unwatched()
		w.executed(k, Executed{})
		return host.DoNothing
	}
	cfg := launch.OfProgram(k.fn, event.Geometry{Grid: l.Grid, Block: l.Block, Cluster: l.Cluster},
		uint32(l.Shared), kept.Params, w.find)
	machine, err := k.code.Machine(cfg, kept.Params)
	if err == nil {
		err = w.begin(k, cfg, machine)
	}
	if err != nil {
		k.watch.Unwatched()
		w.detector, w.machine = nil, nil
		w.problem(diag.Unsupported, k.fn.Demangled, "launch %d%s: %v", k.launches, w.placeOf(l), err)
		return host.DoNothing
	}
	if w.less = w.proved(k, cfg); w.less {
		k.less++
		return host.DoLess
	}
	return host.DoLog
}

// begin prepares the detector for a launch, and the queues, unless the program is to say yet where
// their memory is.
func (w *watcher) begin(k *kernel, cfg *launch.Config, m *emu.Machine) error {
	w.detector, w.machine, w.geometry = k.watch.Begin(cfg, m), m, cfg.Geometry
	if w.rings == nil && w.on.emulate != nil {
		return nil
	}
	return w.read()
}

// read begins to read the queues of the launch.
func (w *watcher) read() error {
	q, k, det := w.on.queues, w.executing, w.detector
	dirty := instrument.RingAt(0, q.Number, q.Slots)
	if !w.clean {
		dirty = instrument.HostBytes(q.Number, q.Slots)
	}
	w.rings.Clear(dirty)
	w.clean = false
	logging := k.module.logging
	if k.sites == nil {
		k.sites = sitesOf(logging, w.machine)
	}
	opt := queue.Options{Result: logging, Geometry: w.geometry, Memory: w.rings, Queues: q.Number,
		Slots: q.Slots, Sink: det, Sites: k.sites,
		SharedBytes: uint32(w.machine.SharedBytes()) + reservedShared}
	if limit := w.r.opt.Common.Memory; limit > 0 {
		opt.Full = func() bool { return det.Memory() > limit }
	}
	h, err := queue.New(opt)
	if err != nil {
		return err
	}
	w.host.Store(h)
	h.Start()
	w.tell(k, h)
	return nil
}

// sitesOf returns the sites of a module as a machine of one of its kernels numbers them, which is
// the same for all launches. Those of other kernels have none.
func sitesOf(logging *instrument.Result, m *emu.Machine) []event.Site {
	out := make([]event.Site, len(logging.Sites))
	for i := range logging.Sites {
		var ok bool
		if out[i], ok = m.SiteOf(logging.Sites[i].Instr); !ok {
			out[i] = queue.NoSite
		}
	}
	return out
}

// reservedShared is more than what a GPU keeps of shared memory for itself, in front of variables
// and between them: 1 KiB from sm_80 on, and gaps for alignment.
const reservedShared = 8 << 10

// tell reports how far the launch is until it has ended.
func (w *watcher) tell(k *kernel, h *queue.Host) {
	progress := w.r.opt.Progress
	if progress == nil {
		return
	}
	ctx, cancel := context.WithCancel(w.r.ctx)
	done := make(chan struct{})
	w.stop = func() {
		cancel()
		<-done
		progress(nil)
	}
	launches := k.launches
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				progress(&Progress{Kernel: k.fn.Demangled, Launch: launches, Records: h.Read()})
			}
		}
	}()
}

// Ended implements host.Watcher.
func (w *watcher) Ended(result uint32, refused bool, took time.Duration, device []byte) {
	k := w.executing
	if refused {
		w.refused(k)
		return
	}
	if w.timing {
		w.timing = false
		k.watch.Unwatched()
		if result == 0 {
			k.timed++
			k.plain += took
		}
		w.executed(k, Executed{Failed: result != 0})
		return
	}
	if w.host.Load() == nil { // the queues could not be made: Unwatched has said why
		if w.machine != nil {
			k.watch.Unwatched()
			w.detector, w.machine = nil, nil
		}
		return
	}
	why := ""
	if result != 0 {
		why = fmt.Sprintf("the driver ended it with error %d%s", result, errorTexts[result])
	}
	if why == "" && w.less && took > mostProved && slices.ContainsFunc(k.module.proofs[k.fn].Assumes,
		func(a prove.Assumption) bool { return a.Kind == prove.Iterations }) {
		why = fmt.Sprintf("it took longer than the %v that its proofs cover; run it without --prove",
			mostProved)
	}
	var mem queue.Memory
	if b, err := queue.NewBytes(device); err == nil {
		mem = b
	}
	w.end(why, took, mem)
}

// errorTexts explain errors of the driver that kernels cause (CUDA Driver API, CUresult).
var errorTexts = map[uint32]string{700: " (an illegal memory access)", 710: " (a failed assertion)",
	715: " (an illegal instruction)", 716: " (a misaligned address)",
	717: " (an address of the wrong space)", 719: " (a trap, or another fault of the kernel)"}

// mostProved is the time within which no thread executes 2^32 iterations of a loop
// (prove.Iterations).
const mostProved = 2 * time.Second

// refused undoes what was done for a launch that the driver has refused.
func (w *watcher) refused(k *kernel) {
	k.launches--
	k.shapes[w.shape()].executed--
	if h := w.host.Load(); h != nil {
		h.Stop()
		w.told()
	}
	w.detector, w.machine, w.timing = nil, nil, false
	w.host.Store(nil)
}

// shape is that of the last launch.
func (w *watcher) shape() shape {
	return shape{w.launch.Grid, w.launch.Block, w.launch.Cluster, w.launch.Shared}
}

// told ends the progress line of a launch.
func (w *watcher) told() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// end finishes the launch that is being watched. why says what ended it early, if something did.
func (w *watcher) end(why string, took time.Duration, device queue.Memory) {
	k, h := w.executing, w.host.Load()
	h.Stop()
	sum := h.End(device)
	w.told()
	complete := sum.Complete() && why == ""
	w.clean = complete
	if !complete {
		why = cutShort(why, &sum)
	}
	if sum.Full {
		k.shapes[w.shape()].large = true
	}
	found := k.watch.Bugs()
	rep := w.detector.Report()
	relocate(rep, h.Shared(), w.machine.SharedAddress)
	k.watch.End(rep, why)
	k.records += sum.Records
	k.bytes += sum.Slots * instrument.SlotSize
	k.logged++
	k.time += took
	w.detector, w.machine = nil, nil
	w.host.Store(nil)
	w.executed(k, Executed{Checked: true, Failed: !complete, Found: k.watch.Bugs() > found})
}

// cutShort says why a log is not all of a launch.
func cutShort(why string, s *queue.Summary) string {
	reason := ""
	switch {
	case s.Err != nil:
		reason = s.Err.Error()
	case s.Full:
		reason = "the race detector ran out of memory; --memory raises its limit"
	case why != "":
	case s.Invalid > 0:
		reason = fmt.Sprintf("%d accesses are misaligned or outside of shared memory", s.Invalid)
	case s.Unplaced > 0:
		reason = fmt.Sprintf("%d records are of instructions that the kernel cannot reach", s.Unplaced)
	case s.Early > 0:
		reason = "threads left a barrier in another order than they were logged"
	case s.Cut > 0:
		reason = fmt.Sprintf("%d blocks did not reach their end", s.Cut)
	default:
		reason = "part of the log was lost"
	}
	return run.JoinReasons(why, reason)
}

// relocate gives what a report says of shared memory the addresses of the emulator, to which the
// names of variables belong. at has the addresses of variables on the GPU, own returns that of the
// emulator. An address in front of all of them stays as it is.
func relocate(rep *race.Report, at map[*ir.Var]uint64, own func(*ir.Var) (uint64, bool)) {
	vars := slices.SortedFunc(maps.Keys(at), func(a, b *ir.Var) int {
		return cmp.Compare(at[a], at[b])
	})
	move := func(r *race.Race) {
		for ; r != nil; r = r.Far {
			if r.Space != event.Shared {
				continue
			}
			for _, a := range []*race.Access{&r.First, &r.Second} {
				for _, v := range slices.Backward(vars) {
					if to, ok := own(v); ok && a.Addr >= at[v] {
						a.Addr += to - at[v]
						break
					}
				}
			}
		}
	}
	for i := range rep.Races {
		move(&rep.Races[i])
	}
	for i := range rep.Exchanges {
		move(&rep.Exchanges[i].Race)
	}
}

// executed adds a launch to the timeline. e has how it went.
func (w *watcher) executed(k *kernel, e Executed) {
	e.Stream = "the default stream"
	if s := w.launch.Stream; s != 0 {
		e.Stream = fmt.Sprintf("stream %#x", s)
	}
	e.Process, e.Kernel, e.Number = w.hello.Process, k.fn.Demangled, k.launches
	e.Place = strings.TrimPrefix(w.placeOf(w.launch), " at ")
	w.r.add(e)
}

// Exited implements host.Watcher.
func (w *watcher) Exited(regular bool) {
	if h := w.host.Load(); h != nil {
		h.Close()
		w.end("the program ended while the kernel was running", 0, nil)
	}
	if w.shared != nil {
		w.shared.Close()
	}
	for _, k := range w.kernels {
		if w.more {
			k.watch.Uncounted = "later launches of graphs were not watched, and are not counted"
		}
	}
	if w.on.emulate != nil {
		w.on.emulate.leave(w)
	}
	w.r.end(&w.process, regular)
}

var _ host.Watcher = (*watcher)(nil)

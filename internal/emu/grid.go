package emu

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/order"
)

// Grids that threads launch (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). A launch
// executes the whole grid before its thread goes on, which is one of the orders that the guide
// allows: streams of the device put launches in order, and nothing makes a grid wait for a thread
// of its parent. Launches into cudaStreamTailLaunch are executed when the grid that made them has
// ended. Each grid is a run of its own in the memory of its parent, with its own consumer of
// events. The parent's consumer sees the grid as one event: what it has accessed.

// Grids observes the grids that the threads of a run launch. Begin returns the consumer of the
// events of a grid, which may be nil, and End is told how it ended. Both are called in the goroutine
// of the run, and may be called for other grids between the two calls for one. A Grids serves one
// run.
type Grids struct {
	Begin func(*Grid) event.Sink
	End   func(*Grid, *Result)

	family family
}

// Grid is a grid that a thread has launched.
type Grid struct {
	Machine *Machine
	Config  *launch.Config // describes it, with its arguments
	Parent  *Grid          // whose thread it is; nil: of the launch of the run
	// At is the machine of the parent, Site and Thread are the launch in it.
	At     *Machine
	Site   event.Site
	Thread event.Thread
	Tail   bool // executed at the end of the parent
	Depth  int  // from 1
}

// Code identifies the decoded kernel: sites of machines with the same code are the same.
func (m *Machine) Code() any { return m.prog.root }

// family is what a run and all grids below it have in common.
type family struct {
	numbered []numbered // by ascending base
	pending  map[uint64]*gridConfig
	free     []uint64 // parameter buffers
	buffers  uint64   // that exist
}

// numbered says which origins of accesses (order.Touched) are sites of a machine: those from base
// on.
type numbered struct {
	base    uint32
	machine *Machine
}

// base returns the origin of site 0 of a machine.
func (f *family) base(m *Machine) uint32 {
	next := uint32(1) // 0 is unknown
	for _, n := range f.numbered {
		if n.machine.Code() == m.Code() {
			return n.base
		}
		next = n.base + uint32(n.machine.NumSites())
	}
	f.numbered = append(f.numbered, numbered{next, m})
	return next
}

// Place returns the site of an origin of an event.GridAccess; ok is false if it is not known.
func (g *Grids) Place(origin uint32) (m *Machine, site event.Site, ok bool) {
	list := g.family.numbered
	i := sort.Search(len(list), func(i int) bool { return list[i].base > origin }) - 1
	if i < 0 {
		return nil, 0, false
	}
	return list[i].machine, event.Site(origin - list[i].base), true
}

// gridConfig is the configuration of a launch.
type gridConfig struct {
	kernel      uint64 // its address
	grid, block event.Dim3
	shared      uint32
	stream      uint64
	params      []byte
}

// kin is the place of a run in its family.
type kin struct {
	*family
	ctx     context.Context
	observe *Grids
	grid    *Grid // nil: the launch of the run
	depth   int
	tails   []tailLaunch
	streams map[uint64]bool         // that threads of the grid have created and not destroyed
	events  map[uint64]bool         // likewise
	created uint64                  // streams and events
	errors  map[event.Thread]uint64 // the last one of each thread, if there is one
}

// tailLaunch is a launch into cudaStreamTailLaunch.
type tailLaunch struct {
	cfg    gridConfig
	kernel *ir.Func
	site   event.Site
	thread event.Thread
}

// Handles of streams that exist without being created (driver_types.h).
const (
	nullStream          = 0
	tailStream          = 3
	fireAndForgetStream = 4
	firstGridStream     = 1 << 20 // handles of created ones, and of events
)

// Limits of the device runtime (CUDA C++ Programming Guide, "Nesting Depth" and
// "cudaLimitDevRuntimePendingLaunchCount"), and of a block's shared memory.
const (
	maxGridDepth   = 24
	maxTails       = 2048
	maxGridShared  = 227 << 10
	maxGridYZ      = 65535
	maxBlockZ      = 64
	parameterBytes = 32768 // of a buffer for the parameters of a launch
	maxBuffers     = 1 << 16
)

// Errors of the CUDA runtime.
const (
	cudaSuccess                   = 0
	cudaErrorInvalidValue         = 1
	cudaErrorMemoryAllocation     = 2
	cudaErrorInvalidConfiguration = 9
	cudaErrorLaunchMaxDepth       = 65
	cudaErrorLaunchPendingCount   = 69
	cudaErrorInvalidFunction      = 98
	cudaErrorInvalidHandle        = 400
	cudaErrorOutOfResources       = 701
)

// kids are the decoded kernels that threads of a program have launched, for runs with memory of
// their own.
type kids struct {
	mu    sync.Mutex
	codes map[kidKey]*program
}

// kidKey is what decoded code depends on.
type kidKey struct {
	kernel *ir.Func
	codeKey
}

// fail records an error of the device runtime for a lane and returns it.
func (x *exec) runtimeError(l int, err uint64) uint64 {
	if x.kin.errors == nil {
		x.kin.errors = make(map[event.Thread]uint64)
	}
	x.kin.errors[event.ThreadOf(x.warp.id, l)] = err
	return err
}

// parameterBuffer returns the address of a free buffer for parameters; 0 if there is none.
func (x *exec) parameterBuffer() uint64 {
	f := x.kin.family
	if n := len(f.free); n > 0 {
		at := f.free[n-1]
		f.free = f.free[:n-1]
		return at
	}
	if f.buffers == maxBuffers {
		return 0
	}
	f.buffers++
	return x.mem.objs[x.prog.buffers].base + (f.buffers-1)*parameterBytes
}

// isBuffer reports whether an address is in a buffer for parameters.
func (p *program) isBuffer(addr uint64) bool { return p.space.object(addr) == p.buffers }

// withoutBuffers returns the lanes of m whose addresses are not in buffers for parameters: what
// threads do there is part of the launch.
func (x *exec) withoutBuffers(m uint32) uint32 {
	for l := range x.addr {
		if m>>l&1 != 0 && x.prog.isBuffer(x.addr[l]) {
			m &^= 1 << l
		}
	}
	return m
}

// kernelAt returns the kernel at an address; nil if there is none.
func (p *program) kernelAt(addr uint64) *ir.Func {
	if p.space.windowOf(addr) != codeWindow || addr%codeStride != 0 {
		return nil
	}
	n := int((addr - p.space.funcAddr(0)) / codeStride)
	for _, m := range p.modules {
		first := p.firstFunc
		if p.arena != nil {
			first = p.arena.firstFunc(m)
		}
		if i := n - first; i >= 0 && i < len(m.Funcs) && m.Funcs[i].Kernel {
			return m.Funcs[i]
		}
	}
	return nil
}

// invalid returns the error of a configuration that no device accepts; cudaSuccess if it is valid.
func (c *gridConfig) invalid(k *ir.Func) uint64 {
	g, b := c.grid, c.block
	_, static := ir.Layout(k)
	switch {
	case g.Count() == 0 || b.Count() == 0, b.Count() > maxThreadsPerBlock, b.Z > maxBlockZ,
		g.X > 1<<31-1, g.Y > maxGridYZ, g.Z > maxGridYZ:
		return cudaErrorInvalidConfiguration
	case k.ReqNTID.Count() > 0 && k.ReqNTID != b:
		return cudaErrorInvalidConfiguration
	case k.MaxNTID.Count() > 0 && b.Count() > k.MaxNTID.Count():
		return cudaErrorOutOfResources
	case uint64(static)+uint64(c.shared) > maxGridShared:
		return cudaErrorInvalidValue
	}
	return cudaSuccess
}

// launchGrid launches a grid for a lane. It returns the error of the device runtime; ok is false if
// the run has stopped.
func (x *exec) launchGrid(in *inst, l int, c gridConfig) (err uint64, ok bool) {
	k := x.prog.kernelAt(c.kernel)
	if k == nil || len(k.Blocks) == 0 {
		return x.runtimeError(l, cudaErrorInvalidFunction), true
	}
	if err := c.invalid(k); err != cudaSuccess {
		return x.runtimeError(l, err), true
	}
	if k.ReqCluster.Count() > 1 {
		x.fail(in, Unsupported, l, "launch of %s by a kernel: it has clusters", k.Demangled)
		return 0, false
	}
	if x.kin.depth == maxGridDepth {
		return x.runtimeError(l, cudaErrorLaunchMaxDepth), true
	}
	t := event.ThreadOf(x.warp.id, l)
	switch {
	case c.stream == tailStream:
		if len(x.kin.tails) == maxTails {
			return x.runtimeError(l, cudaErrorLaunchPendingCount), true
		}
		x.kin.tails = append(x.kin.tails, tailLaunch{c, k, x.site(in), t})
		return cudaSuccess, true
	case c.stream == nullStream || c.stream == fireAndForgetStream || x.kin.streams[c.stream]:
	default:
		return x.runtimeError(l, cudaErrorInvalidHandle), true
	}
	touched, done := x.runGrid(k, &c, x.site(in), t, false)
	if touched != nil {
		x.sendLaunch(in, l, &c, touched)
	}
	return cudaSuccess, done
}

// launchEvent returns the event of a launch into a stream, without accesses.
func (x *exec) launchEvent(in *inst, l int, stream uint64) event.Launch {
	return event.Launch{Warp: x.warp.id, Site: x.site(in), Lane: l, Active: x.mask, Stream: stream,
		Alone: stream == fireAndForgetStream, Shared: stream == nullStream}
}

// sendLaunch tells the consumer of the events of the parent what a grid has accessed.
func (x *exec) sendLaunch(in *inst, l int, c *gridConfig, touched *order.Touched) {
	sink, ok := x.sink.(event.LaunchSink)
	if !ok {
		return
	}
	e := x.launchEvent(in, l, c.stream)
	e.Fenced = touched.Fenced
	pieces, _ := touched.Pieces()
	for _, p := range pieces {
		e.Accesses = append(e.Accesses, event.GridAccess{From: p.From, To: p.To, Origin: p.Origin,
			Write:  p.Access == order.Write || p.Access == order.StrongWrite,
			Strong: p.Access == order.StrongWrite || p.Access == order.StrongRead})
	}
	sink.Launch(&e)
}

// runTails executes the launches into cudaStreamTailLaunch, in their order.
func (x *exec) runTails() {
	for len(x.kin.tails) > 0 && x.stop == nil {
		t := x.kin.tails[0]
		x.kin.tails = x.kin.tails[1:]
		x.runGrid(t.kernel, &t.cfg, t.site, t.thread, true)
	}
}

// runGrid executes a grid to its end. It returns what the grid has accessed, if that is wanted, and
// whether the run goes on.
func (x *exec) runGrid(k *ir.Func, c *gridConfig, site event.Site, t event.Thread, tail bool) (
	touched *order.Touched, ok bool) {
	// The arguments of a launch are described by the memory to which they point.
	cfg := launch.OfProgram(k, event.Geometry{Grid: c.grid, Block: c.block, Cluster: event.Dim3{X: 1,
		Y: 1, Z: 1}}, c.shared, c.params, x.memoryAt)
	m, err := x.prog.kid(k, cfg, c.params)
	if err != nil {
		x.stopAtGrid(Unsupported, site, t, fmt.Sprintf("launch of %s by a kernel: %v", k.Demangled, err))
		return nil, false
	}
	g := &Grid{Machine: m, Config: cfg, Parent: x.kin.grid, At: x.machine, Site: site, Thread: t,
		Tail: tail, Depth: x.kin.depth + 1}
	var sink event.Sink
	if o := x.kin.observe; o != nil && o.Begin != nil {
		sink = o.Begin(g)
	}
	opt := Options{Model: x.opt.Model, Seed: x.opt.Seed, MaxSteps: x.opt.MaxSteps - min(x.steps,
		x.opt.MaxSteps-1), Memory: x.opt.Memory - min(x.memory(), x.opt.Memory-1),
		DropEvents: x.opt.DropEvents, Workers: x.opt.Workers, StopAtFault: x.opt.StopAtFault,
		Printf: x.opt.Printf}
	if _, wanted := x.sink.(event.LaunchSink); wanted || x.touched != nil {
		touched = &order.Touched{Origins: true}
		opt.Touched, opt.origin = touched, x.kin.base(m)
	}
	mem := &memory{shift: x.mem.shift, objs: x.mem.objs, heap: x.mem.heap, arena: x.mem.arena,
		table: x.mem.table}
	below := &kin{family: x.kin.family, ctx: x.kin.ctx, observe: x.kin.observe, grid: g,
		depth: g.Depth}
	res := m.runIn(x.kin.ctx, opt, sink, mem, below)
	x.mem.objs, x.mem.table, x.mapped = mem.objs, mem.table, [4]*object{}
	x.steps += res.Steps
	x.lanes += res.LaneInstrs
	x.wrote, x.changed = true, true
	if touched != nil && x.touched != nil {
		x.touched.Add(touched)
	}
	if o := x.kin.observe; o != nil && o.End != nil {
		o.End(g, res)
	}
	return touched, x.gridEnded(g, res)
}

// gridEnded draws the conclusions from how a grid has ended: whatever stops it ends the run. It
// reports whether the run goes on.
func (x *exec) gridEnded(g *Grid, res *Result) bool {
	name := g.Machine.kernel.Demangled
	switch {
	case res.Status == Completed:
		return true
	case res.Status == Stopped && len(res.Faults) > 0 && res.Stop == &res.Faults[0].Stop:
		// It has reached its end after invalid accesses.
		if x.gridFault == nil {
			s := x.stopFor(g.Site, g.Thread, GridFailed, "in the grid of %s launched here: %s", name,
				res.Stop.Message)
			s.In = res.Stop.InGrid()
			x.gridFault = &s
		}
		return true
	case res.Status == Stopped:
		kind := GridFailed
		switch res.Stop.Kind {
		case Unsupported, DependsOnInput, MemoryLimit, OutsideAssumptions:
			kind = res.Stop.Kind
		}
		message := fmt.Sprintf("in the grid of %s launched here: %s", name, res.Stop.Message)
		if strings.HasPrefix(res.Stop.Message, "in the grid of ") { // of a recursion
			message = res.Stop.Message
		}
		x.stopAtGrid(kind, g.Site, g.Thread, message)
		x.stop.In = res.Stop.InGrid()
	case res.Status == Stalled:
		x.stopAtGrid(GridFailed, g.Site, g.Thread, fmt.Sprintf("threads of the grid of %s launched "+
			"here wait forever", name))
	default:
		x.stopAtGrid(GridFailed, g.Site, g.Thread, "")
		x.gridCut = res.Status
	}
	return false
}

// InGrid returns the kind of the error that ended a run, or of the one in a grid below it if that
// is what ended it.
func (s *Stop) InGrid() StopKind {
	if s.Kind == GridFailed {
		return s.In
	}
	return s.Kind
}

// stopAtGrid ends the run because of a grid.
func (x *exec) stopAtGrid(kind StopKind, site event.Site, t event.Thread, message string) {
	x.endTurn()
	if x.stop == nil {
		s := x.stopFor(site, t, kind, "%s", message)
		x.stop = &s
	}
}

// memoryAt describes the memory at an address for reports; nil if there is none.
func (x *exec) memoryAt(addr uint64) *launch.Memory {
	if addr>>x.prog.space.shift == 0 {
		return nil
	}
	if o := x.find(addr); o != nil && !o.freed && addr-o.base < o.size {
		size := o.size
		if !o.bounded {
			size = 0
		}
		return &launch.Memory{Name: o.name, Addr: o.base, Size: size}
	}
	return nil
}

// kid returns the machine of a grid that a thread of p launches.
func (p *program) kid(k *ir.Func, cfg *launch.Config, params []byte) (*Machine, error) {
	if p.mapped != nil {
		of, err := p.mapped.kid(k)
		if err != nil {
			return nil, err
		}
		return of.Machine(cfg, params)
	}
	if err := checkLaunch(k, cfg); err != nil {
		return nil, err
	}
	p.kids.mu.Lock()
	defer p.kids.mu.Unlock()
	key := kidKey{k, codeKey{cfg.Geometry.Block, cfg.Geometry.Cluster, cfg.DynShared}}
	code := p.kids.codes[key]
	if code == nil {
		at := *cfg
		at.FirstFunc = p.firstFunc
		var err error
		if code, err = newProgram(&compiler{cfg: &at, under: p}, k, true); err != nil {
			return nil, err
		}
		code.spares = new(spares)
		if p.kids.codes == nil || len(p.kids.codes) >= maxCodes {
			p.kids.codes = make(map[kidKey]*program)
		}
		p.kids.codes[key] = code
	}
	prog := *code
	prog.params = paramImage{data: make([]byte, k.ParamSize), origin: make([]uint32, k.ParamSize)}
	copy(prog.params.data, params)
	return &Machine{kernel: k, cfg: cfg, prog: &prog}, nil
}

// kid returns the program of a kernel that a thread of p launches, of this module or of one with
// which it is linked.
func (p *Program) kid(k *ir.Func) (*Program, error) {
	p.kids.mu.Lock()
	defer p.kids.mu.Unlock()
	if kid := p.kids.of[k]; kid != nil {
		return kid, nil
	}
	others := slices.DeleteFunc(slices.Concat([]*ir.Module{p.kernel.Module}, p.others),
		func(m *ir.Module) bool { return m == k.Module })
	kid, err := NewProgram(k, p.arena, p.vars, others...)
	if err != nil {
		return nil, err
	}
	kid.kids = p.kids
	p.kids.of[k] = kid
	return kid, nil
}

// paramsOf reads the parameters of a launch from its buffer. ok is false if some are unknown.
func (x *exec) paramsOf(k *ir.Func, buffer uint64) (params []byte, ok bool) {
	n := 0
	for _, v := range k.Params {
		n = max(n, v.Offset+v.Size)
	}
	params = make([]byte, n)
	if n == 0 {
		return params, true
	}
	known, inside := x.mem.objs[x.prog.buffers].read(buffer, params)
	return params, known && inside
}

// dimsOf returns the dimensions in three arguments.
func dimsOf(args []uint64) event.Dim3 {
	return event.Dim3{X: uint32(args[0]), Y: uint32(args[1]), Z: uint32(args[2])}
}

// poke writes n bytes of a value at a generic address of a lane: the result of a function of the
// device runtime, which is an access of the thread. ok is false if no memory is there, and then the
// run stops.
func (x *exec) poke(in *inst, l int, addr, n, value uint64) (ok bool) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], value)
	sp := &x.prog.space
	switch {
	case addr>>sp.shift != 0:
		if o := x.find(addr); o != nil && o.contains(addr-o.base, n) && o.space == event.Global &&
			addr&pageMask+n <= pageSize {
			copy(o.at(addr)[addr&pageMask:], b[:n])
			x.poked(in, l, event.Global, addr, n)
			return true
		}
	case sp.windowOf(addr) == localWindow:
		if to, off, _ := x.privateBytes(l, addr); off+n <= uint64(len(to)) {
			copy(to[off:], b[:n])
			return true
		}
	case sp.windowOf(addr) == sharedWindow:
		if off := addr & (1<<sp.window - 1); off+n <= uint64(len(x.block.shared)) {
			copy(x.block.shared[off:], b[:n])
			x.poked(in, l, event.Shared, off, n)
			return true
		}
	}
	x.fail(in, OutOfBounds, l, "a function of the device runtime writes its result of %d bytes to %s", n,
		x.describe(addr))
	return false
}

// poked sends the event of a write by poke.
func (x *exec) poked(in *inst, l int, sp event.Space, addr, n uint64) {
	store := *in
	store.mem = &memOp{kind: event.Write, space: sp, size: n, wide: n}
	x.addr[l] = addr
	x.ev.Row = 0
	x.access(&store, 1<<l, sp, 1<<l)
}

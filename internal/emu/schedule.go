package emu

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"heddle/internal/event"
)

// The scheduler runs warps in turns. A few blocks are resident; each pass gives every resident
// block one turn of one of its warps, or the most important warp of all a turn (policy.go). Blocks
// start as others end, so that a large grid needs little memory. A grid whose blocks wait for each
// other (locks, software grid barriers) needs all of them resident: when all resident blocks have
// only spun during a pass, or have changed nothing for a long time, more blocks start beside them.
//
// Every choice is taken from a generator seeded with Options.Seed, so that a seed reproduces a run.
// The schedule limits what a single run can show, such as which thread wins a lock; it does not
// limit which races of that run are found.

// The numbers that define a schedule. The quantum trades switching costs for interleavings;
// patience must exceed the length of any loop that only computes, or blocks would start needlessly.
const (
	defaultResident = 8
	minQuantum      = 64      // warp instructions of a turn
	quantumSpread   = 128     // and up to that many more, by the seed
	patience        = 1 << 20 // steps without a change of memory after which blocks are taken to spin
	longPatience    = 1 << 26 // steps of one block after which others get a chance anyway
	workerSteps     = 1 << 15 // steps that a launch by a program has left, if it gets workers
	pollInterval    = 1 << 10 // turns between looks at the context
	progressSteps   = 1 << 22 // steps between calls of Options.Progress
)

// scheduler is the state of one run. The resident blocks have started and not ended; spare ones
// keep their memory for the next start.
type scheduler struct {
	x         *exec
	m         *Machine
	opt       Options
	ctx       context.Context
	blocks    uint64 // to run
	next      uint64 // number of blocks that have started: see blockAt
	done      uint64
	resident  []*block
	spare     []*block
	since     uint64 // step of the last start or end of a block
	quiet     uint64 // step of the last turn that changed something
	turns     uint64
	requests  uint64 // to cancel a block that has not started
	served    uint64 // turn of the last call of Options.Host
	spin      spinWatch
	points    uint64 // see Result.points
	reported  uint64
	stalled   bool
	cancelled bool
	dropped   bool     // the events
	watched   uint64   // blocks that had ended by then
	ahead     *workers // nil: blocks run directly
	// small: of a launch by a program, until its first block has ended. Most such launches are too
	// small for workers.
	small bool
}

// run executes the launch: it creates the scheduler, runs it, and turns its final state into a
// Result. A run that ends early, for whatever reason, says so in Status: its findings are valid,
// their absence is not.
func (m *Machine) run(ctx context.Context, opt Options, sink event.Sink) (*Result, error) {
	var top *kin
	if m.prog.launches {
		top = &kin{family: new(family), ctx: ctx, observe: opt.Grids}
		if opt.Grids != nil {
			top.family = &opt.Grids.family
		}
	}
	return m.runIn(ctx, opt, sink, newMemory(m.prog), top), nil
}

// runIn is run for a launch in some memory, at a place among the grids of a run.
func (m *Machine) runIn(ctx context.Context, opt Options, sink event.Sink, mem *memory,
	of *kin) *Result {
	if opt.MaxSteps == 0 {
		opt.MaxSteps = DefaultMaxSteps
	}
	if opt.Memory == 0 {
		opt.Memory = DefaultMemory
	}
	if opt.Resident <= 0 {
		opt.Resident = defaultResident
	}
	if m.prog.arena != nil {
		opt.number = m.prog.arena.maps.begin()
	}
	s := &scheduler{m: m, opt: opt, ctx: ctx, blocks: m.cfg.Geometry.Blocks()}
	if opt.Blocks != nil {
		s.blocks = uint64(len(opt.Blocks))
	}
	kept := m.prog.spares.take()
	s.x, s.spare = kept.exec, kept.blocks
	m.prepare(s.x, &s.opt, mem, sink)
	s.x.kin = of
	if m.prog.cancels {
		s.x.cancel = s.cancel
	}
	if s.x.policy == priorities {
		s.opt.points = m.pointsOf(ctx, &opt)
		s.x.drawPriorities(s.opt.points, 0)
	}
	if s.small = m.prog.spares != nil; !s.small && opt.Host == nil {
		s.ahead = s.newWorkers()
	}
	s.serve(false)
	s.loop()
	if of != nil && s.complete() {
		s.x.runTails()
	}
	s.serve(false)
	res := s.result()
	if res.Status == Completed && s.x.mem.used.Load() <= maxSpareBytes {
		m.prog.spares.put(spareState{s.x, s.spare})
	}
	m.keepPoints(&opt, res)
	if opt.Progress != nil {
		opt.Progress(res.Steps, s.done, s.blocks)
	}
	return res
}

// complete reports whether all threads have reached their ends.
func (s *scheduler) complete() bool {
	return s.x.stop == nil && !s.cancelled && s.next == s.blocks && len(s.resident) == 0 && !s.stalled
}

// result describes how the run ended.
func (s *scheduler) result() *Result {
	res := &Result{Steps: s.x.steps, LaneInstrs: s.x.lanes, Blocks: s.done, Faults: s.x.faults.list,
		Annotations: s.x.annotations, Maybe: s.x.maybe, Spins: s.spin.places,
		Waits: s.spin.waits, Leftovers: s.x.leftovers, mem: s.x.mem,
		Starves:  s.x.starves,
		Requests: s.x.requested, Dropped: s.dropped, Watched: s.watched, points: max(s.points, s.x.points)}
	switch {
	case s.x.gridCut != Completed:
		res.Status = s.x.gridCut
	case s.x.stop != nil:
		res.Status, res.Stop = Stopped, s.x.stop
	case s.cancelled:
		res.Status = Interrupted
	case s.next < s.blocks || len(s.resident) > 0:
		res.Status = StepLimit
	case len(res.Faults) > 0:
		res.Status, res.Stop = Stopped, &res.Faults[0].Stop
	case s.stalled:
		res.Status = Stalled
	case s.x.gridFault != nil:
		res.Status, res.Stop = Stopped, s.x.gridFault
	}
	return res
}

// full is exec.full for the goroutine that sends the events. If only their consumer takes too much,
// and the options allow it, the run goes on without it.
func (s *scheduler) full() bool {
	x, limit := s.x, s.opt.Memory
	switch {
	case x.memory() <= limit:
	case s.opt.DropEvents && x.mem.used.Load() <= limit:
		x.sink, x.meter = nil, nil
		s.dropped, s.watched = true, s.done
	default:
		x.outOfMemory()
	}
	return x.stop != nil
}

// newExec returns the state of one goroutine that executes blocks.
func (m *Machine) newExec(opt *Options, mem *memory, sink event.Sink) *exec {
	x := new(exec)
	m.prepare(x, opt, mem, sink)
	return x
}

// prepare makes x the state of one goroutine that executes blocks. Of what x has from an earlier
// run of the program, the pools remain.
func (m *Machine) prepare(x *exec, opt *Options, mem *memory, sink event.Sink) {
	*x = exec{prog: m.prog, geo: &m.cfg.Geometry, mem: mem, opt: opt, sink: sink,
		lockstep: opt.Model == event.Lockstep, policy: m.prog.policyOf(opt.Seed),
		pool: x.pool, patterns: x.patterns, touched: opt.Touched, origin: opt.origin, machine: m}
	if opt.Peek != nil {
		opt.Peek.x = x
	}
	x.faults.sink, _ = sink.(FaultSink)
	x.meter, _ = sink.(Meter)
	if m.prog.track {
		x.unk, x.maybe = new(tracker), make(map[event.Site]bool)
	}
}

// loop runs the grid until it ends or is stopped. With workers it executes batches of blocks, and
// falls back to direct execution at the first block that cannot run ahead.
func (s *scheduler) loop() {
	want := s.opt.Resident
	switch {
	case s.m.prog.ordered:
		want = 1
	case s.m.prog.cancels && !s.m.prog.traced:
		want = s.startOfCanceled()
	}
	for s.next < s.blocks || len(s.resident) > 0 {
		if s.small && s.opt.Host == nil && s.done > 0 && len(s.resident) == 0 {
			if s.small = false; s.x.steps*(s.blocks-s.next) > workerSteps {
				s.ahead = s.newWorkers()
			}
		}
		if s.ahead != nil {
			if !s.batch() {
				if s.x.stop != nil || s.over() {
					return
				}
				s.ahead = nil
			}
			continue
		}
		for len(s.resident) < want && s.next < s.blocks && s.x.stop == nil {
			if s.m.prog.clusters {
				s.startCluster()
			} else {
				s.startNext()
			}
		}
		if s.x.stop != nil { // a cluster that could not end, or no memory for the block that was to start
			return
		}
		idle, ok := s.pass()
		if !ok || s.next == s.blocks && s.stuck() {
			return
		}
		if idle || s.turns-s.served >= hostTurns {
			s.serve(false)
		}
		now := s.x.steps
		// The resident blocks may wait for one that has not started.
		if idle || now-max(s.quiet, s.since) > patience ||
			now-s.since > longPatience*uint64(len(s.resident)) {
			s.since = now
			want = max(want, len(s.resident)+1+len(s.resident)/2)
		}
	}
}

// pass gives each resident block a turn, or one turn to the warp with the highest priority. idle
// says that all resident blocks have only spun for a while, ok is false if the run is over.
func (s *scheduler) pass() (idle, ok bool) {
	if s.x.policy == priorities {
		// A block with nothing to run is finished at its own last turn, so the queue is not empty.
		b := s.x.queue[0].block
		if !s.turn(b) {
			return false, false
		}
		if s.ended(b) {
			s.finish(b)
		}
		return s.spin.turns > uint64(len(s.x.queue)), true
	}
	idle = true
	for i := 0; i < len(s.resident); i++ {
		b := s.resident[i]
		if !s.turn(b) {
			return false, false
		}
		if s.ended(b) {
			s.finish(b)
			i = max(i-max(1, clusterSize(b)), -1)
			idle = false
		}
		idle = idle && (b.spins() || b.cluster != nil && b.queued == 0)
	}
	return idle, true
}

// turn gives one warp of b a turn. It reports false if the run is over: cancelled, out of steps, or
// stopped.
func (s *scheduler) turn(b *block) bool {
	x := s.x
	if s.turns++; s.turns%pollInterval == 0 && s.ctx.Err() != nil {
		s.cancelled = true
		return false
	}
	if s.opt.Progress != nil && x.steps-s.reported >= progressSteps {
		s.reported = x.steps
		s.opt.Progress(x.steps, s.done, s.blocks)
	}
	if x.steps >= s.opt.MaxSteps || s.full() {
		return false
	}
	if b.queued == 0 {
		return true // nothing can run: finish reports the stall
	}
	w := x.blockTurn(b, s.opt.MaxSteps-x.steps)
	if x.changed {
		s.quiet = x.steps
	}
	s.spin.after(x, w)
	return x.stop == nil
}

// blockTurn gives a runnable warp of b, which the policy chooses, a turn of at most limit steps. It
// returns the warp.
func (x *exec) blockTurn(b *block, limit uint64) *warp {
	x.block, x.changed = b, false
	w, quantum := x.pick(b)
	began := x.steps
	x.running = w
	x.turn(w, min(quantum, limit))
	x.running = nil
	switch {
	case b.cluster != nil:
		x.clusterAgents(b.cluster, w.idle)
	case len(b.agents) > 0 && b.live > 0 && x.stop == nil:
		x.runAgents(b, w.idle)
	}
	if x.policy == priorities {
		x.afterTurn(w, began)
	}
	x.wake(b, w)
	if w.idle {
		b.idle++
	} else {
		b.idle = 0
	}
	return w
}

// spins reports whether b has only spun during its last turns, more of them than it has warps. It
// is a heuristic: a wrong answer starts a block early, which no kernel may rely on.
func (b *block) spins() bool { return b.idle > len(b.warps) }

// startNext makes the next block of the grid resident, reusing the memory of a finished one.
func (s *scheduler) startNext() *block {
	var b *block
	if n := len(s.spare); n > 0 {
		b = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		b = new(block)
	}
	s.x.startBlock(b, s.number(s.blockAt(s.next)))
	s.resident = append(s.resident, b)
	s.next++
	s.since = s.x.steps
	s.spin.reset()
	return b
}

// ended reports whether no warp of a block can run any more. In a trace, threads that wait for a
// phase do not poll, so that agents have to act while all of them wait.
func (s *scheduler) ended(b *block) bool {
	if b.cluster != nil {
		return s.endedCluster(b)
	}
	if b.live == 0 || b.queued > 0 {
		return b.live == 0
	}
	s.x.block = b
	for s.m.prog.traced && b.queued == 0 && len(b.agents) > 0 && s.x.stop == nil {
		i := len(b.agents) - 1
		for i >= 0 && b.agents[i].unsized {
			i--
		}
		if i >= 0 {
			s.x.stepAgent(b, i)
		} else if !s.x.sizeBoxes(b) {
			break
		}
	}
	if b.queued == 0 && s.m.prog.traced && s.m.prog.registers > 0 && s.x.stop == nil {
		s.x.servePool(b)
	}
	if b.queued == 0 && s.opt.Round != nil && s.x.stop == nil {
		s.x.beginRounds(b)
	}
	return b.queued == 0
}

// finish ends a block without runnable warps: it is done, or it is stalled at barriers. It is no
// longer resident, and neither are the other blocks of its cluster.
func (s *scheduler) finish(b *block) {
	defer func() {
		s.resident = slices.DeleteFunc(s.resident, func(r *block) bool {
			return r == b || b.cluster != nil && r.cluster == b.cluster
		})
	}()
	if b.cluster != nil {
		s.finishCluster(b.cluster)
		return
	}
	s.since = s.x.steps
	s.spin.reset()
	s.points = max(s.points, s.x.points)
	if b.live == 0 {
		s.x.noteLeftovers(b)
	}
	if b.live > 0 {
		s.stalled = !s.waitForEver([]*block{b})
		if s.stalled {
			s.x.stall(b)
		}
	} else {
		s.done++
	}
	s.spare = append(s.spare, b)
}

// startBlock prepares b to execute block id of the launch. Memory of an earlier block is reused and
// cleared; in a trace the shared memory starts unknown.
func (x *exec) startBlock(b *block, id uint32) {
	g := x.geo
	n := g.WarpsPerBlock()
	b.id, b.index, b.live, b.idle = id, g.BlockIndex(id), n, 0
	// each block has its own sequence, so that its turns do not depend on earlier blocks
	x.rng = mix(mix(x.opt.Seed+golden) + uint64(id)*golden)
	if size := int(x.prog.shared.total); b.shared == nil {
		if !x.allocate(uint64(size)) {
			return
		}
		b.shared = make([]byte, size)
		if x.unk != nil {
			b.unk = make([]uint64, (size+63)/64)
		}
		b.warps = make([]warp, n)
		for i := range b.warps {
			b.warps[i].setIndices(g, i)
		}
	} else {
		clear(b.shared)
		clear(b.unk)
	}
	if x.prog.traced && b.unk != nil {
		for i := range b.unk {
			b.unk[i] = ^uint64(0)
		}
		b.origin = originFresh
	}
	for i := range b.bars {
		b.bars[i].active = false
	}
	b.runnable, b.queued = b.runnable[:0], 0
	if b.mbars != nil {
		clear(b.mbars)
		clear(b.ended)
	}
	b.agents, b.cluster, b.alone, b.groups, b.refused = b.agents[:0], nil, nil, nil, false
	clear(b.answers)
	b.tensor.reset()
	if x.prog.registers > 0 {
		b.registers.start(x.prog.registers, n)
	}
	if x.prog.ordered { // a block is a run of its own
		x.points = 0
		if x.policy == priorities {
			x.drawPriorities(x.opt.points, uint64(id))
		}
	}
	x.block = b
	for i := range b.warps {
		if x.policy == reverseTurns {
			i = len(b.warps) - 1 - i
		}
		w := &b.warps[i]
		w.block = b
		w.id = event.Warp(uint64(id)*uint64(n) + uint64(i))
		if x.policy == priorities {
			w.priority = x.priorityOf(w.id)
		}
		w.exited, w.active, w.ran, w.spins, w.idle = 0, w.lanes, 0, 0, false
		w.ghost, w.undecided, w.unmodelled, w.looked = 0, 0, 0, 0
		w.ready, w.waiting = w.ready[:0], w.waiting[:0]
		w.queued = false
		w.copies.reset()
		w.clusterNow, w.clusterDone = 0, 0
		w.bulk, w.tokens, w.asked.lanes = nil, nil, 0
		w.matrices, w.columns, w.pair = warpMatrices{}, 0, nil
		x.warp, x.mask, x.join = w, w.lanes, nil
		f := x.newFrame(x.prog.funcs[0], x.prog.root)
		x.reserveLocal(0, f.fn.local)
		w.root = f
		w.ready = append(w.ready, x.newFragment(0, w.lanes, f, nil))
		x.wake(b, w)
	}
}

// setIndices computes the thread indices of the lanes, which are the same in every block.
func (w *warp) setIndices(g *event.Geometry, index int) {
	w.index = index
	w.lanes = g.Lanes(event.Warp(index))
	for t := w.lanes; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		_, i := g.Index(event.ThreadOf(event.Warp(index), l))
		w.tid[0][l], w.tid[1][l], w.tid[2][l] = uint64(i.X), uint64(i.Y), uint64(i.Z)
	}
}

// stall sends a Stall event for a block whose threads all wait, and discards the waiting fragments.
// The consumer decides from the waits and exits whether it is a deadlock or a divergent barrier.
func (x *exec) stall(b *block) {
	e := event.Stall{Block: b.id}
	for i := range b.warps {
		w := &b.warps[i]
		if w.exited != 0 {
			e.Exited = append(e.Exited, event.Exit{Warp: w.id, Mask: w.exited})
		}
		for _, g := range w.waiting {
			e.Waiting = append(e.Waiting, waitEvent(w, g))
		}
		w.waiting = w.waiting[:0]
	}
	if x.sink != nil {
		x.sink.Stall(&e)
	}
}

// waitEvent describes a waiting fragment for a Stall event.
func waitEvent(w *warp, g *fragment) event.Wait {
	in := g.wait.in
	e := event.Wait{Warp: w.id, Mask: g.mask, Site: g.waitSite()}
	if g.wait.kind == atWarpSync {
		e.WarpBar, e.Members = true, g.wait.members
		return e
	}
	e.Barrier, e.Count = g.wait.bar, g.wait.count
	if in.bar != nil {
		e.Aligned = in.bar.aligned
	}
	return e
}

// Read copies len(b) bytes at an offset of the named global object (an argument's buffer or a
// module variable) from the memory that the run left. known is false if the value of some byte is
// unknown.
func (r *Result) Read(object string, offset uint64, b []byte) (known bool, err error) {
	for _, o := range r.mem.objs {
		if o.name != object {
			continue
		}
		known, ok := o.read(o.base+offset, b)
		if !ok {
			return false, fmt.Errorf("%d bytes at offset %d of %s, which has %d bytes", len(b), offset,
				object, o.size)
		}
		return known, nil
	}
	return false, fmt.Errorf("no memory object is named %s", object)
}

package emu

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"heddle/internal/event"
	"heddle/internal/order"
)

// Independent blocks on several cores, with the same events and results as on one core.
//
// A program whose blocks cannot wait for each other (program.inOrder) is executed one block after
// the other, and this order defines the result. Workers run ahead of it: each executes blocks of a
// batch on the memory as it was before the batch, and logs what a block does (its events, which
// include stores and reductions). Then their effects are applied in block order. A third kind of
// goroutine sends the events of the logs to the consumer, also in block order, while the workers
// execute the next batch: the consumer is as busy as a worker where it detects races.
//
// A log is invalid if the block read an object that an earlier block of the batch has written, or
// that the block itself has written: it may have read stale values. The log is then discarded, and
// the block executes again, alone and directly. The same happens to a block that spins, runs very
// long or fills its log, and to all blocks after the one in which the step budget ends. Executing
// again is always correct, because a log has no effect before it is delivered.
//
// If the consumer is divided, the worker gives each event to its local part too, and the log has no
// accesses that this part takes: most blocks show nothing there. If one does, its log is discarded
// as well, and from this block on the logs have all events.

// A batch has many blocks, since the workers wait for the last one at its end, and for each other at
// its beginning, but not so many that its logs take much memory.
const (
	leastPerWorker = 2       // blocks
	batchSteps     = 1 << 15 // of a worker
	batchBytes     = 1 << 26 // of all logs
	firstBatch     = 8       // blocks of a worker in the first batch
)

// maxLog bounds a block's log, in records; a record has 64 bytes and up to 64 words.
const maxLog = 1 << 18

// maxWorkers bounds the goroutines, each of which has the state of a block and some logs.
const maxWorkers = 256

// inOrder reports whether the blocks of the program can be executed one after the other: no block
// can observe what another does while it runs, except by plain loads, whose spinning the scheduler
// notices.
func (p *program) inOrder() bool {
	if p.clusters || p.track || p.usesClock || p.usesHeap || p.prints || p.annotated ||
		p.launches {
		return false
	}
	for _, fc := range p.funcs {
		for i := range fc.code {
			// An agent reads and writes global memory at times of its own. Events at the barrier of
			// a cluster, of this block alone, and of a warpgroup are not kept.
			if o := fc.code[i].misc; o != nil && (o.mbar != nil || o.bulk != nil ||
				o.matrix != nil || o.tmem != nil || o.cluster != nil || o.tmap != nil) {
				return false
			}
			m := fc.code[i].mem
			if m == nil || m.space == event.Shared || m.space == event.Local || m.space == event.Param {
				continue
			}
			// What an atomic returns depends on other blocks, and a strong load may wait for them.
			// Operations of which nothing is returned can be applied later.
			if m.kind == event.Read && m.order.Strong() || m.kind.RMW() && !m.deferrable() {
				return false
			}
		}
	}
	return true
}

// deferrable reports whether a read-modify-write operation can be performed when the log of its
// block is applied: it returns nothing, writes whatever it finds, and has one operand.
func (m *memOp) deferrable() bool { return m.unread && !m.cas && m.wide == m.size }

// speculation is the execution of one block ahead of its turn. It is the event.Sink of the worker.
type speculation struct {
	event.Discard // events that no program executed ahead has: see inOrder
	x             *exec
	full          bool            // the consumer wants events, not only memory
	failed        bool            // the block must run again
	local         event.BlockSink // of the worker; nil: the log has all events
	incomplete    bool            // it has not, and the consumer needs them
	told          []uint64        // what local has to say to the consumer
	read          objectSet
	written       objectSet
	in            *inst // instruction of the next logged access

	order  []uint8  // kinds of events, in order
	words  []uint64 // addresses and data
	access queue[accessRecord]
	fence  queue[event.Fence]
	arrive queue[event.Arrive]
	done   queue[event.Complete]
	sync   queue[event.WarpSync]
	active queue[event.Converge]
	exit   queue[event.Exit]
	stall  queue[event.Stall]
	copied queue[copyRecord]
	group  queue[event.CopyGroup]

	steps   uint64
	lanes   uint64
	points  uint64
	stalled bool
	touched order.Touched // if the run collects what is accessed
	took    BlockTime     // only for Options.Times
}

// queue holds what a log has of one kind of event, in order. Each event is taken once.
type queue[T any] struct {
	items []T
	taken int
}

// reset empties the queue and keeps its memory for the next block.
func (q *queue[T]) reset() { q.items, q.taken = q.items[:0], 0 }

// take returns the next event in the order of put. The caller knows from the log that there is one.
func (q *queue[T]) take() *T {
	q.taken++
	return &q.items[q.taken-1]
}

// put appends an event to a log. It is a function because a method has no type parameters.
func put[T any](s *speculation, kind uint8, q *queue[T], e *T) {
	q.items = append(q.items, *e)
	s.order = append(s.order, kind)
}

const (
	logAccess = iota
	logFence
	logArrive
	logComplete
	logWarpSync
	logConverge
	logExit
	logStall
	logCopy
	logGroup
)

// accessRecord is an event.Access in the log. If the event summarizes its addresses by rows, words
// hold the step and the first address of each row; if they form an arithmetic progression over the
// lanes, the first and the step; else there is one word for each lane. The data of each lane
// follows.
type accessRecord struct {
	in                   *inst
	warp                 event.Warp
	site                 event.Site
	mask, active, stored uint32
	space                event.Space
	row                  uint8 // event.Access.Row
	affine               bool
	pos                  int // in words
}

// reset prepares the log for another block.
func (s *speculation) reset(full bool) {
	s.read.clear()
	s.written.clear()
	s.full, s.failed, s.stalled, s.incomplete = full, false, false, false
	s.steps, s.lanes = 0, 0
	s.order, s.words = s.order[:0], s.words[:0]
	s.access.reset()
	s.fence.reset()
	s.arrive.reset()
	s.done.reset()
	s.sync.reset()
	s.active.reset()
	s.exit.reset()
	s.stall.reset()
	s.copied.reset()
	s.group.reset()
}

// bytes is what the log takes, nearly.
func (s *speculation) bytes() uint64 {
	return 8*uint64(len(s.words)) + 64*uint64(len(s.order))
}

// reads records a read of object o. It reports false if the block must run again.
func (s *speculation) reads(x *exec, o *object) bool {
	if s.written.contains(o.id) {
		s.fail(x)
		return false
	}
	s.read.add(o.id)
	return true
}

// fail marks the log as invalid and ends the turn.
func (s *speculation) fail(x *exec) {
	s.failed = true
	x.endTurn()
}

// Access logs an access. Without a consumer only writes to global memory are needed.
func (s *speculation) Access(e *event.Access) {
	if !s.full && (e.Space != event.Global || !e.Kind.Writes()) {
		return
	}
	if s.local != nil && s.local.Takes(e) {
		return
	}
	r := accessRecord{in: s.in, warp: e.Warp, site: e.Site, mask: e.Mask, active: e.Active,
		stored: e.Stored, space: e.Space, row: e.Row, pos: len(s.words)}
	if e.Row != 0 {
		s.words = append(s.words, e.Step)
		for l := 0; l < event.WarpSize; l += int(e.Row) {
			s.words = append(s.words, e.Addr[l])
		}
	} else {
		s.addresses(&r, e)
	}
	if e.Data != nil {
		for k := 0; 8*k < int(e.Size); k++ {
			s.words = appendLanes(s.words, &e.Data[k], e.Mask)
		}
	} else if e.Kind.RMW() && e.Space == event.Global {
		// The operand is needed to perform the operation later.
		s.words = appendLanes(s.words, &s.x.data[0], e.Mask) // where atomicGlobal has put the operand
	}
	put(s, logAccess, &s.access, &r)
}

// addresses logs the addresses of lanes, of which most have a constant stride.
func (s *speculation) addresses(r *accessRecord, e *event.Access) {
	first := bits.TrailingZeros32(e.Mask) & 31
	base, stride := e.Addr[first], uint64(0)
	if rest := e.Mask &^ (1 << first); rest != 0 {
		k := bits.TrailingZeros32(rest) & 31
		stride = (e.Addr[k] - base) / uint64(k-first)
	}
	r.affine = true
	for t := e.Mask; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if e.Addr[l] != base+uint64(l-first)*stride {
			r.affine = false
			break
		}
	}
	if r.affine {
		s.words = append(s.words, base, stride)
	} else {
		s.words = appendLanes(s.words, e.Addr, e.Mask)
	}
}

// appendLanes appends the values of the lanes of m.
func appendLanes(w []uint64, v *[event.WarpSize]uint64, m uint32) []uint64 {
	if m == full {
		return append(w, v[:]...)
	}
	for t := m; t != 0; t &= t - 1 {
		w = append(w, v[bits.TrailingZeros32(t)&31])
	}
	return w
}

// note logs an event that has no effect on memory, if there is a consumer, and tells its part of it.
func note[T any](s *speculation, kind uint8, q *queue[T], e *T, tell func(event.BlockSink, *T)) {
	if s.full {
		put(s, kind, q, e)
	}
	if s.local != nil {
		tell(s.local, e)
	}
}

func (s *speculation) Fence(e *event.Fence) {
	note(s, logFence, &s.fence, e, event.BlockSink.Fence)
}

func (s *speculation) Arrive(e *event.Arrive) {
	note(s, logArrive, &s.arrive, e, event.BlockSink.Arrive)
}

func (s *speculation) Complete(e *event.Complete) {
	note(s, logComplete, &s.done, e, event.BlockSink.Complete)
}

func (s *speculation) WarpSync(e *event.WarpSync) {
	note(s, logWarpSync, &s.sync, e, event.BlockSink.WarpSync)
}

func (s *speculation) Converge(e *event.Converge) {
	note(s, logConverge, &s.active, e, event.BlockSink.Converge)
}

func (s *speculation) Exit(e *event.Exit) {
	note(s, logExit, &s.exit, e, event.BlockSink.Exit)
}

func (s *speculation) Stall(e *event.Stall) {
	note(s, logStall, &s.stall, e, event.BlockSink.Stall)
}

// reduceLater logs an operation that is performed when the log is applied.
func (x *exec) reduceLater(in *inst, m uint32) {
	mask := ^uint64(0) >> (64 - 8*in.mem.size)
	v := x.src(&in.mem.src[0])
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		_, o, _, ok := x.lane(in, l)
		if !ok {
			return
		}
		x.spec.written.add(o.id)
		x.data[0][l] = v[l] & mask
	}
	x.wrote, x.changed = true, true
	x.access(in, m, event.Global, m)
}

// workers holds the state of the goroutines from one batch to the next.
type workers struct {
	execs  []*exec
	blocks []*block
	locals []event.BlockSink // of the consumer; nil: it is not divided, or the logs need all events
	specs  [2][]*speculation // of this batch and of the one before, in turns
	turn   int
	size   int // blocks of the next batch
	// objects that the blocks of the current batch have written, of those whose effects are applied
	written objectSet
	sender  sender
	sending sync.WaitGroup
	crash   atomic.Pointer[workerPanic]
}

// newWorkers returns nil if running ahead is not possible or not useful.
func (s *scheduler) newWorkers() *workers {
	n := s.opt.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	n = min(n, maxWorkers)
	if n == 1 || s.opt.Peek != nil || !s.m.prog.ordered || s.blocks-s.next < 2 {
		return nil
	}
	w := &workers{}
	for range n {
		w.execs = append(w.execs, s.m.newExec(&s.opt, s.x.mem, nil))
		w.blocks = append(w.blocks, new(block))
	}
	if d, ok := s.x.sink.(event.Divided); ok {
		for range n {
			l := d.BlockSink()
			if l == nil {
				break
			}
			w.locals = append(w.locals, l)
		}
	}
	w.size = FirstBatch(n)
	return w
}

// logs returns empty logs for the next batch of at most top blocks.
func (w *workers) logs(top uint64) []*speculation {
	all := &w.specs[w.turn]
	w.turn ^= 1
	n := int(min(uint64(w.size), top))
	for len(*all) < n {
		*all = append(*all, new(speculation))
	}
	return (*all)[:n]
}

// clock returns the time if anything is to be measured.
func (s *scheduler) clock() (t time.Time) {
	if s.opt.Times != nil {
		t = time.Now()
	}
	return t
}

// resize chooses the size of the next batch by what the blocks of this one did.
func (w *workers) resize(batch []*speculation) {
	steps, log := uint64(0), uint64(0)
	for _, sp := range batch {
		steps += sp.steps
		log += sp.bytes()
	}
	w.size = NextBatch(len(w.execs), w.size, len(batch), steps, log)
}

// NextBatch returns the number of blocks of a batch of some workers, where the blocks of the last
// one executed steps and have logs of a number of bytes. Size was the number of its blocks, unless
// the launch had fewer left.
func NextBatch(workers, size, blocks int, steps, log uint64) int {
	n, many := uint64(blocks), uint64(workers)
	next := min(batchSteps*many*n/max(steps, 1), batchBytes*n/max(log, 1))
	return int(min(max(next, leastPerWorker*many), 2*uint64(size)))
}

// FirstBatch is the number of blocks of the first batch.
func FirstBatch(workers int) int { return firstBatch * workers }

// spawn runs f in a goroutine of wg and keeps its panic for the one that called Run.
func (w *workers) spawn(wg *sync.WaitGroup, f func()) {
	wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				w.crash.CompareAndSwap(nil, &workerPanic{v, debug.Stack()})
			}
		}()
		f()
	})
}

// flush waits until the consumer has all events that were sent.
func (w *workers) flush() {
	w.sending.Wait()
	if p := w.crash.Load(); p != nil {
		panic(p)
	}
}

// batch runs some blocks ahead and applies their logs. It reports false if the run is over, or one of
// them must run directly; that block is then the next one. The consumer has all events then, and
// after the last block.
func (s *scheduler) batch() bool {
	w := s.ahead
	specs := w.logs(s.blocks - s.next)
	var running sync.WaitGroup
	var taken atomic.Int64
	for i := range min(len(w.execs), len(specs)) {
		var local event.BlockSink
		if s.x.sink != nil && w.locals != nil {
			local = w.locals[i]
		}
		w.spawn(&running, func() {
			// With a sender there are more goroutines than cores: who has none takes fewer blocks.
			for k := int(taken.Add(1)) - 1; k < len(specs); k = int(taken.Add(1)) - 1 {
				sp := specs[k]
				sp.reset(s.x.sink != nil)
				sp.local = local
				start := s.clock()
				w.execs[i].runAhead(s.ctx, w.blocks[i], s.number(uint32(s.next)+uint32(k)), sp)
				if local != nil {
					var ok bool
					sp.told, ok = local.End(sp.told[:0])
					sp.incomplete = !ok
				}
				sp.took.Ahead = s.clock().Sub(start)
			}
		})
	}
	running.Wait()
	w.resize(specs)
	w.flush()
	for _, l := range w.locals {
		l.Refresh()
	}
	if s.full() {
		return false
	}
	// The first invalid log ends the batch: its block becomes the next one.
	w.written.clear()
	applied, incomplete := 0, false
	for _, sp := range specs {
		// The block failed, or would exceed the step budget, or read what an earlier block wrote.
		if sp.failed || s.x.steps+sp.steps > s.opt.MaxSteps || sp.read.meets(&w.written) {
			break
		}
		if sp.incomplete {
			w.locals, incomplete = nil, true
			break
		}
		start := s.clock()
		s.apply(sp)
		sp.took.Apply = s.clock().Sub(start)
		for _, id := range sp.written.list {
			w.written.add(int(id))
		}
		s.next++
		applied++
	}
	if sink := s.x.sink; sink != nil {
		w.spawn(&w.sending, func() {
			for _, sp := range specs[:applied] {
				if sp.local != nil {
					sink.(event.Divided).Told(sp.told)
				}
				start := s.clock()
				w.sender.send(sink, sp)
				if s.opt.Times != nil {
					sp.took.Send = s.clock().Sub(start)
					sp.took.Steps, sp.took.Log = sp.steps, sp.bytes()
					s.opt.Times(sp.took)
				}
			}
		})
	}
	if applied < len(specs) || s.next == s.blocks {
		w.flush()
	}
	if s.opt.Progress != nil && s.x.steps-s.reported >= progressSteps {
		s.reported = s.x.steps
		s.opt.Progress(s.x.steps, s.done, s.blocks)
	}
	return incomplete || applied == len(specs)
}

// workerPanic is a panic of a worker. It is raised again in the goroutine that called Run, since
// only there can the caller recover.
type workerPanic struct {
	value any
	stack []byte
}

// Error includes the stack of the worker, since the panic is raised again elsewhere.
func (p *workerPanic) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// objectSet is a set of objects by their numbers. Its cost depends on how many are in it, not on
// how many exist.
type objectSet struct {
	has  []bool // up to the largest number that was ever in it
	list []int32
}

// contains reports whether object id is in the set.
func (s *objectSet) contains(id int) bool { return id < len(s.has) && s.has[id] }

// add adds object id.
func (s *objectSet) add(id int) {
	if !s.contains(id) {
		s.insert(id)
	}
}

// insert adds an object that is not in the set.
func (s *objectSet) insert(id int) {
	if id >= len(s.has) {
		s.has = append(s.has, make([]bool, id+1-len(s.has))...)
	}
	s.has[id] = true
	s.list = append(s.list, int32(id))
}

// clear empties the set and keeps its memory.
func (s *objectSet) clear() {
	for _, id := range s.list {
		s.has[id] = false
	}
	s.list = s.list[:0]
}

// meets reports whether some object is in both sets.
func (s *objectSet) meets(t *objectSet) bool {
	for _, id := range s.list {
		if t.contains(int(id)) {
			return true
		}
	}
	return false
}

// over reports whether the run has been cancelled.
func (s *scheduler) over() bool {
	s.cancelled = s.ctx.Err() != nil
	return s.cancelled
}

// runAhead executes block id into a log.
func (x *exec) runAhead(ctx context.Context, b *block, id uint32, sp *speculation) {
	sp.x, x.spec, x.sink, x.stop = x, sp, sp, nil
	if x.opt.Touched != nil {
		sp.touched.Reset()
		sp.touched.Origins = x.opt.Touched.Origins
		x.touched = &sp.touched
	}
	x.steps, x.lanes, x.queue = 0, 0, x.queue[:0] // of a block that was abandoned
	x.startBlock(b, id)
	if x.full() { // the block says so again when it runs directly
		sp.failed = true
		return
	}
	quiet := uint64(0)
	// A block that could wait for another one is abandoned: it runs again with all blocks it may
	// need.
	for turns := 0; b.live > 0 && b.queued > 0; turns++ {
		x.blockTurn(b, ^uint64(0))
		if x.changed {
			quiet = x.steps
		}
		if x.full() || sp.failed || b.spins() || x.steps-quiet > patience ||
			x.steps > longPatience || len(sp.order) > maxLog ||
			turns%pollInterval == 0 && ctx.Err() != nil {
			sp.failed = true
			return
		}
	}
	if b.live > 0 {
		if x.prog.registers > 0 { // the scheduler says who waits for registers
			sp.failed = true
			return
		}
		sp.stalled = true
		x.stall(b)
	}
	sp.steps, sp.lanes, sp.points = x.steps, x.lanes, x.points
}

// apply performs the stores and reductions of a log, in its order, and counts what the block did.
func (s *scheduler) apply(sp *speculation) {
	x := s.x
	for i := range sp.access.items {
		r := &sp.access.items[i]
		if r.space != event.Global || !r.in.mem.kind.Writes() {
			continue
		}
		switch w := r.addresses(sp, &x.addr); r.in.mem.kind {
		case event.Write:
			r.values(w, &x.data)
			x.storeNow(r.in.mem, r.mask)
		case event.Reduce, event.Atomic:
			takeLanes(&x.data[0], w, r.mask)
			x.reduceNow(r.in.mem, r.mask)
		}
	}
	if x.touched != nil {
		x.touched.Add(&sp.touched)
	}
	x.steps += sp.steps
	x.lanes += sp.lanes
	s.points = max(s.points, sp.points)
	if sp.stalled {
		s.stalled = true
	} else {
		s.done++
	}
}

// sender sends events from logs. A consumer copies what it keeps of an event.
type sender struct {
	addr   [event.WarpSize]uint64
	data   [4][event.WarpSize]uint64
	ev     event.Access
	copied lateCopy
	copy   event.Copy
}

// send sends all events of a log.
func (d *sender) send(sink event.Sink, sp *speculation) {
	for _, kind := range sp.order {
		switch kind {
		case logAccess:
			d.access(sink, sp, sp.access.take())
		case logFence:
			sink.Fence(sp.fence.take())
		case logArrive:
			sink.Arrive(sp.arrive.take())
		case logComplete:
			sink.Complete(sp.done.take())
		case logWarpSync:
			sink.WarpSync(sp.sync.take())
		case logConverge:
			sink.Converge(sp.active.take())
		case logExit:
			sink.Exit(sp.exit.take())
		case logStall:
			sink.Stall(sp.stall.take())
		case logCopy:
			d.sendCopy(sink, sp, sp.copied.take())
		case logGroup:
			sink.CopyGroup(sp.group.take())
		}
	}
}

// access sends one access.
func (d *sender) access(sink event.Sink, sp *speculation, r *accessRecord) {
	mo, e := r.in.mem, &d.ev
	w := r.addresses(sp, &d.addr)
	*e = event.Access{Warp: r.warp, Site: r.site, Mask: r.mask, Active: r.active, Kind: mo.kind,
		Space: r.space,
		Order: mo.order, Scope: mo.scope, Orders: mo.part, Proxy: mo.proxy, Size: uint8(mo.wide),
		Elem: uint8(mo.elem),
		Addr: &d.addr, Stored: r.stored}
	if mo.kind == event.Write {
		r.values(w, &d.data)
		e.Data = &d.data
	}
	if r.row != 0 {
		e.Row, e.Step = r.row, sp.words[r.pos]
	} else if r.affine && r.mask == full {
		e.Row, e.Step = event.WarpSize, sp.words[r.pos+1]
	}
	sink.Access(e)
}

// addresses restores the addresses of an access, and returns the words of a log that follow them.
func (r *accessRecord) addresses(sp *speculation, addr *[event.WarpSize]uint64) []uint64 {
	w := sp.words[r.pos:]
	switch {
	case r.row != 0:
		step := w[0]
		w = w[1:]
		for l := 0; l < event.WarpSize; w = w[1:] {
			at := w[0]
			for end := l + int(r.row); l < end; l++ {
				addr[l&31] = at
				at += step
			}
		}
		return w
	case r.affine:
		first := bits.TrailingZeros32(r.mask)
		for t := r.mask; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			addr[l] = w[0] + uint64(l-first)*w[1]
		}
		return w[2:]
	}
	return takeLanes(addr, w, r.mask)
}

// values restores what an access has written, from the words behind its addresses.
func (r *accessRecord) values(w []uint64, data *[4][event.WarpSize]uint64) {
	for k := uint64(0); 8*k < r.in.mem.wide; k++ {
		w = takeLanes(&data[k], w, r.mask)
	}
}

// takeLanes is the inverse of appendLanes; it returns the remaining words.
func takeLanes(v *[event.WarpSize]uint64, w []uint64, m uint32) []uint64 {
	if m == full {
		copy(v[:], w)
		return w[event.WarpSize:]
	}
	n := 0
	for t := m; t != 0; t &= t - 1 {
		v[bits.TrailingZeros32(t)&31] = w[n]
		n++
	}
	return w[n:]
}

// storeNow performs a logged store.
func (x *exec) storeNow(mo *memOp, m uint32) {
	if b, start, _ := x.span(mo, m, x.survey(m)); b != nil {
		storeLanes(b, start, &x.addr, &x.data, mo.wide, m)
		return
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		a := x.addr[l]
		storeWide(x.find(a).at(a)[a&pageMask:], &x.data, l, mo.wide)
	}
}

// reduceNow performs a logged read-modify-write operation.
func (x *exec) reduceNow(mo *memOp, m uint32) {
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		a := x.addr[l]
		mo.modify(mo.rmw, x.find(a).at(a)[a&pageMask:], x.data[0][l], 0)
	}
}

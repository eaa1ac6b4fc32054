// Package oracle is a happens-before race detector without optimizations, against which package
// race is tested: a full vector clock for every thread, every access kept forever, every pair
// compared.
//
// It follows PTX ISA 8.7 (races), 8.8 (release and acquire patterns), 8.9.2 (observation order),
// 8.9.4 (synchronization), and Barracuda §3.3.1 for the lockstep model. It shares with the detector
// only the definition of a conflict in package event. The cost is quadratic in the number of
// accesses and threads, so that it is for small launches only. Both may share a misreading of the
// specification, which the suite of kernels with stated expectations must find.
package oracle

import (
	"slices"

	"heddle/internal/event"
)

// Pair is a race between two sites in one space; A <= B.
type Pair struct {
	Space event.Space
	A, B  event.Site
}

// Byte is a location: one byte of a space. Block is 0 for global memory.
type Byte struct {
	Space event.Space
	Block uint32
	Addr  uint64
}

// Options select the model.
type Options struct {
	Geometry event.Geometry
	Lockstep bool
	// Tolerate reports whether a race between two weak writes of the same bytes is tolerated; nil:
	// never.
	Tolerate func(sameInstruction bool) bool
	// Only is as in package race: races are reported in this space only, and what orders other memory
	// only has no effect.
	Only event.Space
	// Homed restricts Only, which is Shared then, to the memory of block Home. A fence for the memory
	// of its own block has an effect there if a thread of that block executes it (PTX ISA 9.7.13.4).
	Homed bool
	Home  uint32
}

// Oracle is an event.Sink. It knows neither mbarriers nor bulk copies: Phases does.
type Oracle struct {
	event.Discard // what it does not know

	opt     Options
	threads int
	seq     int
	vc      []clock // by thread
	bytes   map[Byte][]*access
	last    map[Byte]*write // last write to each byte
	sync    []threadSync    // by thread
	blocks  []blockSC       // by block
	bars    map[barrier]*generation
	copies  []copies // by thread

	current map[event.Thread]*access // of the current event

	Pairs map[Pair]int
	Racy  map[Byte]bool // bytes with a race
	// Unsynchronized contains the bytes with accesses that no synchronization orders. Some of them may
	// be ordered by observation (PTX ISA 8.9.5, second rule), and are then not races.
	Unsynchronized map[Byte]bool
	// Exchanges are the pairs of strong accesses that are no races and that no synchronization orders.
	// Exchanged contains the bytes with such a pair that is not ordered by observation either, and
	// Exchangeable those with any.
	Exchanges               map[Pair]int
	Exchanged, Exchangeable map[Byte]bool
}

// clock is a full vector clock, indexed by thread.
type clock []uint32

func (c clock) join(d clock) {
	for i, v := range d {
		c[i] = max(c[i], v)
	}
}

func (c clock) copy() clock { return append(clock(nil), c...) }

// access is one lane's access, with the thread's own clock when it happened.
type access struct {
	op   event.Op
	peer event.Peer // whose shared memory it is in
	site event.Site
	seq  int
	at   uint32
	data [4]uint64
	from [2]uint64 // of an asynchronous copy: source address and number of bytes
	knew clock     // what its thread knew then; nil for an asynchronous copy

	observers []observer // strong reads that a strong write precedes in observation order
}

// observer is a strong read with its time.
type observer struct {
	thread event.Thread
	at     uint32
}

// write is the last write to a location, with the release patterns that a read of it observes.
type write struct {
	op    event.Op
	heads []head
	chain []*access // the strong writes that a read of it observes: itself, and others through atomics
	sc    clock     // what fences.sc knew that precede it, or a write in the chain (blockSC)
}

// head is the first operation of a release pattern.
type head struct {
	thread event.Thread
	scope  event.Scope
	vc     clock
}

type place struct {
	byteAt Byte
	size   uint8
}

// threadSync holds operations of a thread that may become part of a pattern.
type threadSync struct {
	fences   map[event.Scope]clock // last release fence of each scope
	released map[place][]head      // release operations on a place
	observed map[place][]head      // heads that strong reads of a place have observed
	fenceSC  clock                 // what the last fence.sc of device scope knew
	seenSC   clock                 // write.sc of the writes that strong reads have observed
}

// blockSC is what fences.sc of a block knew at its last barrier, and what its threads had observed
// of other fences. Let fence F precede write W, W be observed by R, and R precede fence G, where
// barriers of the whole blocks may be in between. Then F precedes G in Fence-SC order: else R would
// precede W (PTX ISA 8.9.3 to 8.9.5).
type blockSC struct{ before, behind clock }

// block returns blockSC of the block of a thread.
func (o *Oracle) block(t event.Thread) *blockSC {
	return &o.blocks[o.opt.Geometry.BlockOf(t.Warp())]
}

// passSC is called for a barrier of all threads of a block.
func (o *Oracle) passSC(threads []event.Thread) {
	for _, t := range threads {
		o.block(t).before.join(o.sync[t].fenceSC)
		o.block(t).behind.join(o.sync[t].seenSC)
	}
}

// barrier is a barrier of one block.
type barrier struct {
	block uint32
	id    uint8
}

// generation is what the threads that have arrived at a barrier know.
type generation struct {
	arrived clock
	waiters []event.Thread
}

// New returns an oracle for a launch of a few hundred threads at most.
func New(opt Options) *Oracle {
	n := int(opt.Geometry.Blocks()) * opt.Geometry.WarpsPerBlock() * event.WarpSize
	o := &Oracle{opt: opt, threads: n, bytes: map[Byte][]*access{}, last: map[Byte]*write{},
		bars: map[barrier]*generation{}, Pairs: map[Pair]int{}, Racy: map[Byte]bool{},
		Unsynchronized: map[Byte]bool{}, Exchanges: map[Pair]int{}, Exchanged: map[Byte]bool{},
		Exchangeable: map[Byte]bool{},
		current:      map[event.Thread]*access{}}
	for i := range n {
		c := make(clock, n)
		c[i] = 1
		o.vc = append(o.vc, c)
		o.copies = append(o.copies, copies{})
		o.sync = append(o.sync, threadSync{map[event.Scope]clock{}, map[place][]head{},
			map[place][]head{}, make(clock, n), make(clock, n)})
	}
	for range opt.Geometry.Blocks() {
		o.blocks = append(o.blocks, blockSC{make(clock, n), make(clock, n)})
	}
	return o
}

// Clock returns the clock of thread u that thread t knows.
func (o *Oracle) Clock(t, u event.Thread) uint32 { return o.vc[t][u] }

func lanes(w event.Warp, mask uint32) []event.Thread {
	var out []event.Thread
	for l := range event.WarpSize {
		if mask>>l&1 != 0 {
			out = append(out, event.ThreadOf(w, l))
		}
	}
	return out
}

// Access checks and records the access of each lane, then its synchronization.
func (o *Oracle) Access(a *event.Access) {
	if !o.orders(a.Orders, a.Warp) {
		b := *a
		b.Order = event.Relaxed
		a = &b
	}
	if n := a.Elements(); n > 1 {
		for i := range n {
			var e event.Access
			a.Element(i, &e, new([event.WarpSize]uint64))
			o.scalar(&e)
		}
	} else {
		o.scalar(a)
	}
	o.endInstruction(a.Warp, a.Active)
}

// scalar is Access for one element.
func (o *Oracle) scalar(a *event.Access) {
	o.seq++
	for _, t := range lanes(a.Warp, a.Mask) {
		o.vc[t][t]++
		o.plain(a, t)
	}
	// Synchronization follows lane by lane after all checks: the lanes of an instruction are
	// concurrent, and what a lane acquires does not order the instruction itself.
	for _, t := range lanes(a.Warp, a.Mask) {
		o.synchronize(a, t)
	}
}

// byteOf returns byte i of an operation, in the shared memory of a peer of its thread.
func (o *Oracle) byteOf(space event.Space, op event.Op, peer event.Peer, i int) Byte {
	b := Byte{Space: space, Addr: op.Addr + uint64(i)}
	if space == event.Shared {
		b.Block = peer.Block(o.opt.Geometry.BlockOf(op.Thread.Warp()))
	}
	return b
}

func opOf(a *event.Access, t event.Thread) event.Op {
	return event.Op{Thread: t, Kind: a.Kind, Order: a.Order, Scope: a.Scope, Proxy: a.Proxy,
		Addr: a.Addr[t.Lane()], Size: a.Size}
}

// plain checks and records the access of a lane in program order.
func (o *Oracle) plain(a *event.Access, t event.Thread) {
	acc := &access{op: opOf(a, t), peer: a.Peer, site: a.Site, seq: o.seq, at: o.vc[t][t], knew: o.vc[t].copy()}
	if a.Data != nil {
		for k := range acc.data {
			acc.data[k] = a.Data[k][t.Lane()]
		}
	}
	o.current[t] = o.check(acc, a.Space)
}

// check compares an access with all earlier ones, and returns it.
func (o *Oracle) check(acc *access, space event.Space) *access {
	told := map[*access]bool{}
	for i := range int(acc.op.Size) {
		b := o.byteOf(space, acc.op, acc.peer, i)
		for _, old := range o.bytes[b] {
			if o.counts(b) && exchange(o.opt.Geometry, old.op, acc.op) && !o.ordered(old, acc) {
				o.Exchangeable[b] = true
				if !o.settled(old, acc, o.bytes[b]) {
					o.Exchanged[b] = true
				}
				o.Exchanges[Pair{space, min(old.site, acc.site), max(old.site, acc.site)}]++
			}
			if !o.counts(b) || !event.Conflict(o.opt.Geometry, old.op, acc.op) || o.ordered(old, acc) ||
				o.tolerated(old, acc) {
				continue
			}
			o.Unsynchronized[b] = true
			if !o.observed(old, acc) && !o.replaced(old, acc, o.bytes[b]) {
				o.Racy[b] = true
			}
			if !told[old] {
				told[old] = true
				o.Pairs[Pair{space, min(old.site, acc.site), max(old.site, acc.site)}]++
			}
		}
		o.bytes[b] = append(o.bytes[b], acc)
	}
	return acc
}

// exchange reports whether two threads exchange a value by strong accesses that must be ordered, in
// the words of PTX ISA 8.7: both are strong and no part of an atomic read-modify-write (8.10.3),
// one writes, each scope includes the other thread, they overlap completely and use one proxy. A
// release store and an acquire load or another release store synchronize and are left out.
func exchange(g event.Geometry, a, b event.Op) bool {
	if a.Thread == b.Thread || a.Kind == event.Read && b.Kind == event.Read ||
		a.Addr != b.Addr || a.Size != b.Size || a.Proxy != b.Proxy {
		return false
	}
	plain := false
	for _, x := range []event.Op{a, b} {
		if x.Kind == event.Atomic || x.Kind == event.Reduce || x.Order == event.Weak {
			return false
		}
		plain = plain || x.Order == event.Relaxed
	}
	return plain && g.Includes(a.Scope, a.Thread, b.Thread) && g.Includes(b.Scope, b.Thread, a.Thread)
}

// ordered reports whether old happens before acc and the order applies to their proxies.
func (o *Oracle) ordered(old, acc *access) bool {
	return event.Preserved(o.opt.Geometry, old.op, acc.op) &&
		o.vc[acc.op.Thread][old.op.Thread] >= old.at
}

// observed reports whether a strong write precedes acc by the second rule of causality order: some
// read that observed it happens before acc (8.9.5).
func (o *Oracle) observed(old, acc *access) bool {
	for _, z := range old.observers {
		if o.vc[acc.op.Thread][z.thread] >= z.at && event.Preserved(o.opt.Geometry, old.op, acc.op) {
			return true
		}
	}
	return false
}

// settled reports whether a strong access comes before a strong write or read acc in every outcome
// although it does not precede it in causality order: old precedes a write that was observed, which
// is then after it in coherence order, and before acc (8.9.6).
func (o *Oracle) settled(old, acc *access, list []*access) bool {
	for _, w := range list {
		if (w == old || w.op.Kind.Writes() && w.op.Order.Strong() && w.op.Addr == old.op.Addr &&
			w.op.Size == old.op.Size && o.orderedAt(old, w)) && o.observed(w, acc) {
			return true
		}
	}
	return false
}

// replaced reports whether races of equal values are tolerated and a later write stands for old: it
// follows old and writes what acc writes, so that old does not count in the result.
func (o *Oracle) replaced(old, acc *access, list []*access) bool {
	return o.opt.Tolerate != nil && o.opt.Tolerate(false) &&
		slices.ContainsFunc(list, func(w *access) bool {
			return w != old && o.orderedAt(old, w) && o.tolerated(w, acc)
		})
}

// orderedAt reports whether old happened before the earlier access w.
func (o *Oracle) orderedAt(old, w *access) bool {
	return event.Preserved(o.opt.Geometry, old.op, w.op) && w.knew != nil &&
		w.knew[old.op.Thread] >= old.at
}

func (o *Oracle) tolerated(a, b *access) bool {
	if o.opt.Tolerate == nil || a.op.Kind != event.Write || b.op.Kind != event.Write ||
		a.op.Order.Strong() || b.op.Order.Strong() {
		return false
	}
	sameInstruction := a.seq == b.seq
	// the value that a copy will write is unknown: it is equal only for equal sources
	if a.op.Async || b.op.Async {
		return sameInstruction && o.opt.Tolerate(true) && a.from == b.from
	}
	return o.opt.Tolerate(sameInstruction) && sameBytes(a, b)
}

func sameBytes(a, b *access) bool {
	for at := max(a.op.Addr, b.op.Addr); at < min(a.op.Addr+uint64(a.op.Size),
		b.op.Addr+uint64(b.op.Size)); at++ {
		if a.byteAt(at) != b.byteAt(at) {
			return false
		}
	}
	return true
}

func (a *access) byteAt(addr uint64) byte {
	i := addr - a.op.Addr
	return byte(a.data[i/8] >> (8 * (i % 8)))
}

// endInstruction is Barracuda's endi: in the lockstep model the active lanes join their clocks.
func (o *Oracle) endInstruction(w event.Warp, active uint32) {
	if o.opt.Lockstep {
		o.joinLanes(w, active)
	}
}

func (o *Oracle) joinLanes(w event.Warp, mask uint32) {
	all := make(clock, o.threads)
	for _, t := range lanes(w, mask) {
		all.join(o.vc[t])
	}
	for _, t := range lanes(w, mask) {
		o.vc[t].join(all)
		o.vc[t][t]++
	}
}

// Converge is if, else or fi of the lockstep model.
func (o *Oracle) Converge(c *event.Converge) { o.endInstruction(c.Warp, c.Mask) }

// WarpSync is bar.warp.sync.
func (o *Oracle) WarpSync(w *event.WarpSync) {
	if o.orders(w.Orders, w.Warp) {
		o.joinLanes(w.Warp, w.Mask)
	}
}

// counts reports whether races at a byte are reported.
func (o *Oracle) counts(b Byte) bool {
	return o.opt.Only == event.NoSpace || o.opt.Only == b.Space && (!o.opt.Homed || o.opt.Home == b.Block)
}

// orders reports whether a barrier or fence of a warp orders the checked memory.
func (o *Oracle) orders(by event.Orders, w event.Warp) bool {
	if by == event.OrdersOwn {
		return o.opt.Homed && o.opt.Geometry.BlockOf(w) == o.opt.Home
	}
	return o.opt.Only == event.NoSpace || by.Covers(o.opt.Only)
}

// Arrive records an arrival at a barrier.
func (o *Oracle) Arrive(a *event.Arrive) {
	key := barrier{o.opt.Geometry.BlockOf(a.Warp), a.Barrier}
	g := o.bars[key]
	if g == nil {
		g = &generation{arrived: make(clock, o.threads)}
		o.bars[key] = g
	}
	for _, t := range lanes(a.Warp, a.Mask) {
		if !o.orders(a.Orders, a.Warp) {
			continue
		}
		g.arrived.join(o.vc[t])
		o.vc[t][t]++
		if a.Op == event.BarSync {
			g.waiters = append(g.waiters, t)
		}
	}
	o.endInstruction(a.Warp, a.Active)
}

// Complete gives the waiting threads the knowledge of all arrivals.
func (o *Oracle) Complete(c *event.Complete) {
	key := barrier{c.Block, c.Barrier}
	if g := o.bars[key]; g != nil {
		for _, t := range g.waiters {
			o.vc[t].join(g.arrived)
		}
		if len(g.waiters) == o.opt.Geometry.ThreadsPerBlock() {
			o.passSC(g.waiters)
		}
		delete(o.bars, key)
	}
}

// Exit orders nothing.
func (o *Oracle) Exit(*event.Exit) {}

// Stall orders nothing.
func (o *Oracle) Stall(*event.Stall) {}

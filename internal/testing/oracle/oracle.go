// Package oracle is a happens-before race detector without any cleverness, to hold package race
// against: a full vector clock for every thread, every access kept for ever, every pair compared.
//
// What it follows: PTX ISA 8.7 (races), 8.8 (release and acquire patterns), 8.9.2 (observation
// order), 8.9.4 (what synchronizes); Barracuda §3.3.1 for the lockstep model. It shares package
// event's definition of a conflict with the real detector, and nothing else. Cost: quadratic in
// everything; for small launches only.
package oracle

import (
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

// Options say what the detector is to model.
type Options struct {
	Geometry event.Geometry
	Lockstep bool
	// Tolerate says whether two conflicting weak writes of the same bytes are let pass; nil: never.
	Tolerate func(sameInstruction bool) bool
	// Only is as in package race: the one space of which races count, and what orders other memory
	// only orders nothing.
	Only event.Space
}

// Oracle is an event.Sink.
type Oracle struct {
	opt     Options
	threads int
	seq     int
	vc      []clock // by thread
	bytes   map[Byte][]*access
	last    map[Byte]*write // last write to each byte
	sync    []threadSync    // by thread
	bars    map[barrier]*generation
	copies  []copies // by thread

	current map[event.Thread]*access // of the event in progress

	Pairs map[Pair]int
	Racy  map[Byte]bool // bytes with a race
	// Unsynchronized are bytes with accesses that no synchronization orders. Of these, some may be
	// ordered by what was observed (PTX ISA 8.9.5, second rule), and so be no race.
	Unsynchronized map[Byte]bool
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
	site event.Site
	seq  int
	at   uint32
	data [4]uint64
	from [2]uint64 // of an asynchronous copy: where the data come from, and how many bytes

	observers []observer // strong reads that a strong write precedes in observation order
}

// observer is a strong read, and when it was.
type observer struct {
	thread event.Thread
	at     uint32
}

// write is the last write to a place, with the release patterns that reading it observes.
type write struct {
	op    event.Op
	heads []head
	chain []*access // the strong writes that a read of it observes: itself, and others through atomics
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

// threadSync is what a thread has done that can become part of a pattern.
type threadSync struct {
	fences   map[event.Scope]clock // last release fence of each scope
	released map[place][]head      // release operations on a place
	observed map[place][]head      // heads that strong reads of a place have observed
}

type barrier struct {
	block uint32
	id    uint8
}

type generation struct {
	arrived clock
	waiters []event.Thread
}

// New returns an oracle for a launch of a few hundred threads at most.
func New(opt Options) *Oracle {
	n := int(opt.Geometry.Blocks()) * opt.Geometry.WarpsPerBlock() * event.WarpSize
	o := &Oracle{opt: opt, threads: n, bytes: map[Byte][]*access{}, last: map[Byte]*write{},
		bars: map[barrier]*generation{}, Pairs: map[Pair]int{}, Racy: map[Byte]bool{},
		Unsynchronized: map[Byte]bool{}, current: map[event.Thread]*access{}}
	for i := range n {
		c := make(clock, n)
		c[i] = 1
		o.vc = append(o.vc, c)
		o.copies = append(o.copies, copies{})
		o.sync = append(o.sync, threadSync{map[event.Scope]clock{}, map[place][]head{},
			map[place][]head{}})
	}
	return o
}

// Clock returns what thread t knows of thread u.
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
	if !o.orders(a.Orders) {
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
	// Synchronization comes lane by lane after all checks: the lanes of an instruction are concurrent,
	// and what a lane acquires orders nothing that the instruction itself does.
	for _, t := range lanes(a.Warp, a.Mask) {
		o.synchronize(a, t)
	}
}

// byteOf returns byte i of an operation.
func (o *Oracle) byteOf(space event.Space, op event.Op, i int) Byte {
	b := Byte{Space: space, Addr: op.Addr + uint64(i)}
	if space == event.Shared {
		b.Block = o.opt.Geometry.BlockOf(op.Thread.Warp())
	}
	return b
}

func opOf(a *event.Access, t event.Thread) event.Op {
	return event.Op{Thread: t, Kind: a.Kind, Order: a.Order, Scope: a.Scope, Proxy: a.Proxy,
		Addr: a.Addr[t.Lane()], Size: a.Size}
}

// plain checks and records the access of a lane in program order.
func (o *Oracle) plain(a *event.Access, t event.Thread) {
	acc := &access{op: opOf(a, t), site: a.Site, seq: o.seq, at: o.vc[t][t]}
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
		b := o.byteOf(space, acc.op, i)
		for _, old := range o.bytes[b] {
			if !o.counts(space) || !event.Conflict(o.opt.Geometry, old.op, acc.op) || o.ordered(old, acc) ||
				o.tolerated(old, acc) {
				continue
			}
			o.Unsynchronized[b] = true
			if !o.observed(old, acc) {
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

// ordered reports whether old happens before acc, in a way that reaches its proxy.
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

func (o *Oracle) tolerated(a, b *access) bool {
	if o.opt.Tolerate == nil || a.op.Kind != event.Write || b.op.Kind != event.Write ||
		a.op.Order.Strong() || b.op.Order.Strong() {
		return false
	}
	sameInstruction := a.seq == b.seq
	// what a copy will write is not known: only of the same source is it the same
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

// endInstruction is Barracuda's endi: in the lockstep model the active lanes join and go on.
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
	if o.orders(w.Orders) {
		o.joinLanes(w.Warp, w.Mask)
	}
}

// counts reports whether races in a space are looked for.
func (o *Oracle) counts(s event.Space) bool {
	return o.opt.Only == event.NoSpace || o.opt.Only == s
}

// orders reports whether a barrier or fence orders what is looked at.
func (o *Oracle) orders(by event.Orders) bool {
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
		if !o.orders(a.Orders) {
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

// Complete gives the waiting threads what all arrivals knew.
func (o *Oracle) Complete(c *event.Complete) {
	key := barrier{c.Block, c.Barrier}
	if g := o.bars[key]; g != nil {
		for _, t := range g.waiters {
			o.vc[t].join(g.arrived)
		}
		delete(o.bars, key)
	}
}

// Exit and Stall order nothing.
func (o *Oracle) Exit(*event.Exit)   {}
func (o *Oracle) Stall(*event.Stall) {}

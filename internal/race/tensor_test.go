package race

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heddle/internal/event"
	"heddle/internal/testing/long"
)

// tensorOps is a block, or a pair of blocks, whose operations on tensor memory are kept for ever:
// each of three warps is one thread, with sets of facts in place of clocks. It shares nothing with
// the detector. Of a pair, the third warp is in the second block.
type tensorOps struct {
	pair    bool
	rnd     *rand.Rand
	d       *Detector
	all     []tensorOpAt
	threads []tensorThread
	objects [2]tensorObject
	text    []string // for messages
	id      uint64
}

// tensorOpAt is an operation with what it begins with.
type tensorOpAt struct {
	op         event.TensorOp
	thread     int
	shape      uint64
	small      bool
	rects      []event.TensorRect
	site       event.Site
	now, begin facts
}

// fact says of an operation that it is complete, or ordered.
type fact struct {
	op       int
	complete bool
}

type facts map[fact]bool

func (a facts) add(b facts) {
	for f := range b {
		a[f] = true
	}
}

func (a facts) copy() facts {
	n := make(facts, len(a))
	n.add(a)
	return n
}

type tensorThread struct {
	know, begin, released, observed facts
	atLast                          facts // what its last operation began with
}

type tensorObject struct {
	open, async, last facts
	phase             uint64
	pending           []tensorSignal
}

type tensorSignal struct {
	id      uint64
	carries facts
}

func newTensorOps(seed uint64) *tensorOps {
	g := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 96, Y: 1, Z: 1},
		Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}
	p := &tensorOps{rnd: rand.New(rand.NewPCG(seed, 1)), pair: seed%8 >= 4}
	if p.pair {
		g.Grid.X, g.Cluster.X, g.Block.X = 2, 2, 64
	}
	p.d = New(Options{Geometry: g, SharedBytes: 64})
	for range 3 {
		p.threads = append(p.threads, tensorThread{facts{}, facts{}, facts{}, facts{}, facts{}})
	}
	for i := range p.objects {
		p.objects[i] = tensorObject{open: facts{}, async: facts{}, last: facts{}}
		p.d.MBarrier(&event.MBarrier{Mask: 1, Active: 1, Op: event.MBarrierInit, Addr: uint64(8 * i),
			Count: 1})
	}
	p.sync()
	return p
}

// blockOf returns the block of a thread.
func (p *tensorOps) blockOf(t int) uint32 {
	if p.pair {
		return uint32(t / 2)
	}
	return 0
}

// at is a block for a thread: 0 if it is its own.
func (p *tensorOps) at(t int, block uint32) event.Peer {
	if p.blockOf(t) == block {
		return 0
	}
	return event.PeerOf(block)
}

// sync is a barrier of the block, or of the cluster.
func (p *tensorOps) sync() {
	all := facts{}
	for i := range p.threads {
		all.add(p.threads[i].know)
	}
	for i := range len(p.threads) {
		if !p.pair {
			p.d.Arrive(&event.Arrive{Warp: event.Warp(i), Mask: full32, Active: full32})
		}
	}
	e := event.ClusterBarrier{Mask: full32, Active: full32}
	for _, step := range []event.ClusterBarrier{{Op: event.ClusterArrive, Order: event.Release},
		{Op: event.ClusterComplete}, {Op: event.ClusterWait, Order: event.Acquire}} {
		e.Op, e.Order = step.Op, step.Order
		for w := range event.Warp(4) { // the last one does nothing else
			if e.Warp = w; p.pair && (w == 0 || e.Op != event.ClusterComplete) {
				p.d.Cluster(&e)
			}
		}
	}
	if !p.pair {
		p.d.Complete(&event.Complete{})
	}
	for i := range p.threads {
		p.threads[i].know.add(all)
	}
}

const full32 = ^uint32(0)

// issue is an operation by a thread.
func (p *tensorOps) issue(t int) {
	o := tensorOpAt{thread: t, op: event.TensorOp(p.rnd.IntN(5))}
	half := uint16(p.rnd.IntN(2)) * 8
	r := event.TensorRect{Lanes: 128, Column: half, Columns: 8}
	e := event.TensorAgent{Warp: event.Warp(t), Mask: 1, Active: 1, Op: o.op}
	switch o.op {
	case event.TensorMultiply:
		n := uint16(4 + 4*p.rnd.IntN(2))
		o.shape = uint64(half) | uint64(n)<<32
		r.Columns, r.Write = n, true
		o.rects = append(o.rects, r)
		if p.rnd.IntN(3) == 0 { // A is in the other half
			o.rects = append(o.rects, event.TensorRect{Lanes: 128, Column: 8 - half, Columns: 8})
		}
	case event.TensorCopy:
		o.small = p.rnd.IntN(2) == 0
		r.Columns, r.Write = 4, true
		o.rects = append(o.rects, r)
	case event.TensorShift:
		r.Lanes, r.Write = 32, true
		o.rects = append(o.rects, r)
	default:
		e.Mask, e.Active = full32, full32
		r.Lane, r.Lanes, r.Write = uint16(32*t), 32, o.op == event.TensorStore
		r.Columns = uint16(2 + 2*p.rnd.IntN(4))
		o.rects = append(o.rects, r)
	}
	o.site = event.Site(p.rnd.IntN(3)*15 + 5*t + int(o.op)) // a few places for each kind
	th := &p.threads[t]
	o.now, o.begin = th.know.copy(), th.begin.copy()
	if e.Mask == 1 {
		th.atLast = o.now
	}
	e.Site, e.Rects, e.Shape, e.Small = o.site, o.rects, o.shape, o.small
	own := p.blockOf(t)
	for i := range o.rects { // for the detector, relative to the thread; here, the block
		o.rects[i].Peer = event.PeerOf(own)
	}
	e.Rects = nil
	for _, r := range o.rects {
		r.Peer = 0
		e.Rects = append(e.Rects, r)
	}
	if p.pair && e.Mask == 1 {
		for _, r := range e.Rects {
			r.Peer = event.PeerOf(1 - own)
			e.Rects, o.rects = append(e.Rects, r), append(o.rects, r)
		}
	}
	p.all = append(p.all, o)
	p.d.Tensor(&e)
	p.text = append(p.text, fmt.Sprintf("%d: op %d by %d at %d: %v shape %#x small %v", len(p.all)-1,
		o.op, t,
		o.site, o.rects, o.shape, o.small))
}

// step makes a thread do something that is not an operation.
func (p *tensorOps) step(t int) { p.do(t, p.rnd.IntN(9), p.rnd.IntN(2), p.rnd.IntN(2) == 0) }

// handOver lets a thread tell another one, or itself, that its operations are complete or ordered.
// Now and then a part is missing.
func (p *tensorOps) handOver(t, u int) {
	part := func(by, n, object int, relaxed bool) {
		if p.rnd.IntN(10) > 0 {
			p.do(by, n, object, relaxed)
		}
	}
	object, relaxed := p.rnd.IntN(2), p.rnd.IntN(2) == 0
	if p.rnd.IntN(2) == 0 {
		part(t, 4, object, false)
		p.signalOf(object)
	} else {
		part(t, 0, object, false)
		part(t, 1, object, false)
		part(t, 2, object, false)
		part(t, 6, object, relaxed)
	}
	part(u, 7, object, relaxed)
	part(u, 3, object, false)
}

// do is step number n of a thread, at an object.
func (p *tensorOps) do(t, n, i int, relaxed bool) {
	th := &p.threads[t]
	w := event.Warp(t)
	sync := func(s event.TensorStep) {
		p.d.TensorSync(&event.TensorSync{Warp: w, Site: 60, Mask: full32, Active: full32, Step: s})
		p.text = append(p.text, fmt.Sprintf("step %d by %d", s, t))
	}
	complete := func(kinds ...event.TensorOp) facts {
		out := facts{}
		for i, o := range p.all {
			for _, k := range kinds {
				if o.thread == t && o.op == k {
					out[fact{i, true}] = true
				}
			}
		}
		return out
	}
	switch n {
	case 0, 1:
		kind, step := event.TensorLoad, event.TensorLoaded
		if n == 1 {
			kind, step = event.TensorStore, event.TensorStored
		}
		k := complete(kind)
		th.know.add(k)
		th.begin.add(k)
		sync(step)
	case 2:
		for i, o := range p.all {
			if o.thread == t && o.op < event.TensorLoad {
				th.know[fact{i, false}] = true
			}
		}
		th.released = th.know.copy()
		sync(event.TensorBefore)
	case 3:
		th.know.add(th.observed)
		th.begin.add(th.know)
		sync(event.TensorAfter)
	case 4, 5: // commit
		p.id++
		k := complete(event.TensorMultiply, event.TensorCopy, event.TensorShift)
		k.add(th.atLast)
		p.objects[i].pending = append(p.objects[i].pending, tensorSignal{p.id, k})
		p.d.TensorSync(&event.TensorSync{Warp: w, Site: 61, Mask: 1, Active: 1,
			Step: event.TensorCommit,
			ID:   p.id, Addr: uint64(8 * i), Peer: p.at(t, 0)})
		p.text = append(p.text, fmt.Sprintf("commit %d by %d to %d", p.id, t, i))
	case 6: // an arrival
		e := event.MBarrier{Warp: w, Site: 62, Mask: 1, Active: 1, Op: event.MBarrierArrive,
			Addr: uint64(8 * i), Phase: p.objects[i].phase, Order: event.Release, Scope: event.Cluster,
			Count: 1, Peer: p.at(t, 0)}
		k := th.know
		if relaxed {
			e.Order, k = event.Relaxed, th.released
		}
		p.objects[i].open.add(k)
		p.d.MBarrier(&e)
		p.text = append(p.text, fmt.Sprintf("arrival (%v) by %d at %d", e.Order, t, i))
		p.phase(i)
	case 7: // a wait
		o := &p.objects[i]
		if o.phase == 0 {
			return
		}
		e := event.MBarrier{Warp: w, Site: 63, Mask: full32, Active: full32, Op: event.MBarrierWait,
			Addr: uint64(8 * i), Phase: o.phase - 1, Order: event.Acquire, Scope: event.Cluster,
			Peer: p.at(t, 0)}
		if relaxed {
			e.Order = event.Relaxed
			th.observed.add(o.last)
		} else {
			th.know.add(o.last)
		}
		p.d.MBarrier(&e)
		p.text = append(p.text, fmt.Sprintf("wait (%v) by %d at %d", e.Order, t, i))
	case 8:
		if p.rnd.IntN(4) == 0 {
			p.sync()
			p.text = append(p.text, "bar.sync")
		}
	}
}

// freed is the end of the allocation of all cells by a thread of each block, or one of them.
const freed event.TensorOp = 9

// free ends the allocation.
func (p *tensorOps) free() {
	list := []int{p.rnd.IntN(3)}
	if p.pair {
		list = []int{p.rnd.IntN(2), 2}
	}
	for n, t := range list {
		o := tensorOpAt{thread: t, op: freed, site: event.Site(50 + n), now: p.threads[t].know.copy(),
			begin: p.threads[t].begin.copy()}
		for b := range uint32(len(list)) {
			o.rects = append(o.rects, event.TensorRect{Peer: event.PeerOf(b), Lanes: 128, Columns: 32,
				Write: true})
		}
		p.all = append(p.all, o)
		e := event.TensorSync{Warp: event.Warp(t), Site: o.site, Mask: full32, Active: full32,
			Step: event.TensorFree, Columns: 32, More: n < len(list)-1}
		if p.pair {
			e.Pair = event.PeerOf(1 - p.blockOf(t))
		}
		p.d.TensorSync(&e)
		p.text = append(p.text, fmt.Sprintf("%d: freed by %d at %d", len(p.all)-1, t, o.site))
	}
}

// phase completes the phase of an object.
func (p *tensorOps) phase(i int) {
	o := &p.objects[i]
	o.last = o.open.copy()
	o.last.add(o.async)
	o.open = facts{}
	p.d.MBarrier(&event.MBarrier{Op: event.MBarrierComplete, Addr: uint64(8 * i), Phase: o.phase})
	o.phase++
}

// signal lets a commit arrive.
func (p *tensorOps) signal() { p.signalOf(p.rnd.IntN(2)) }

func (p *tensorOps) signalOf(i int) {
	o := &p.objects[i]
	if len(o.pending) == 0 {
		return
	}
	n := p.rnd.IntN(len(o.pending))
	s := o.pending[n]
	o.pending = append(o.pending[:n], o.pending[n+1:]...)
	o.async.add(s.carries)
	p.d.Signal(&event.Signal{ID: s.id, Addr: uint64(8 * i), Arrival: true})
	p.text = append(p.text, fmt.Sprintf("signal %d", s.id))
	p.phase(i)
}

// pairs are the pairs of PTX ISA 9.7.16.6.2.
func (o *tensorOpAt) pairs(q *tensorOpAt) bool {
	switch {
	case o.op == event.TensorMultiply && q.op == event.TensorMultiply:
		return o.shape == q.shape
	case o.op == event.TensorCopy && q.op == event.TensorMultiply,
		o.op == event.TensorShift && q.op == event.TensorMultiply,
		o.op == event.TensorMultiply && q.op == event.TensorShift:
		return true
	}
	return o.op == event.TensorShift && q.op == event.TensorCopy && q.small
}

// ordered returns for each pair of operations whether the first one is known to come first:
// straight from the rules (where who knows that an operation is complete knows it of one that is
// executed before it, of another thread), and by any chain of operations.
func (p *tensorOps) ordered() (direct, chain [][]bool) {
	n := len(p.all)
	direct, chain = make([][]bool, n), make([][]bool, n)
	for i := range n {
		direct[i], chain[i] = make([]bool, n), make([]bool, n)
	}
	for j := range n {
		q := &p.all[j]
		for i := range j {
			o := &p.all[i]
			direct[i][j] = q.begin[fact{i, true}] || q.now[fact{i, true}] ||
				o.pairs(q) && (o.thread == q.thread || q.begin[fact{i, false}]) ||
				o.op == freed && q.op == freed
			chain[i][j] = direct[i][j]
		}
	}
	for j := range n {
		q := &p.all[j]
		for k := range j {
			for i := range k {
				behind := p.all[i].pairs(&p.all[k]) && p.all[k].begin[fact{i, false}]
				if behind && (q.begin[fact{k, true}] || q.now[fact{k, true}]) {
					direct[i][j], chain[i][j] = true, true
				}
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				chain[i][j] = chain[i][j] || chain[i][k] && chain[k][j]
				// who knows that the last of a chain is complete knows it of the first
				q := &p.all[j]
				if chain[i][k] && (q.now[fact{k, true}] || q.begin[fact{k, true}]) {
					chain[i][j] = true
				}
			}
		}
	}
	return direct, chain
}

// unordered returns the pairs of places with operations that conflict and are not ordered.
func (p *tensorOps) unordered(by [][]bool) map[[2]event.Site]bool {
	out := make(map[[2]event.Site]bool)
	for j := range p.all {
		for i := range j {
			if p.all[i].conflict(&p.all[j]) && !by[i][j] {
				a, b := p.all[i].site, p.all[j].site
				out[[2]event.Site{min(a, b), max(a, b)}] = true
			}
		}
	}
	return out
}

// fenced is the direct order of operations that a fence has ordered.
func (p *tensorOps) fenced() [][]bool {
	n := len(p.all)
	out := make([][]bool, n)
	for i := range n {
		out[i] = make([]bool, n)
		for j := i + 1; j < n; j++ {
			o, q := &p.all[i], &p.all[j]
			out[i][j] = q.begin[fact{i, true}] || q.op == freed ||
				o.pairs(q) && (o.thread == q.thread || q.begin[fact{i, false}])
		}
	}
	return out
}

// conflict reports whether two operations access a cell, one of them to write.
func (o *tensorOpAt) conflict(q *tensorOpAt) bool {
	for i := range o.rects {
		for j := range q.rects {
			_, _, both := o.rects[i].Meets(&q.rects[j])
			if both && o.rects[i].Peer == q.rects[j].Peer && (o.rects[i].Write || q.rects[j].Write) {
				return true
			}
		}
	}
	return false
}

// Random operations and synchronization: the detector reports a race if some pair of operations
// that conflict is in no order, by the rules and their chains, and it reports no pair of places at
// which the rules order all operations. A chain through an operation on other cells, such as mma,
// shift, mma, may be missed, so that more is reported.
func TestTensorRandom(t *testing.T) {
	n := 1500
	if long.All() {
		n = 200_000
	}
	races, more := 0, 0
	for seed := range uint64(n) {
		p := newTensorOps(seed)
		for range 2 + p.rnd.IntN(26) {
			if seed%2 == 0 && p.rnd.IntN(3) == 0 {
				a, b := p.rnd.IntN(3), p.rnd.IntN(3)
				p.issue(a)
				p.handOver(a, b)
				continue
			}
			switch k := p.rnd.IntN(10); {
			case k < 1 || k < 2 && seed%2 != 0:
				p.issue(p.rnd.IntN(3))
			case k < 5:
				p.signal()
			default:
				p.step(p.rnd.IntN(3))
			}
		}
		if seed%3 == 0 {
			p.free()
		}
		direct, chain := p.ordered()
		must, may := p.unordered(chain), p.unordered(direct)
		rep := p.d.Report()
		got := rep.Races
		strict := p.unordered(p.fenced())
		for i := range rep.Late {
			a, b := rep.Late[i].First.Site, rep.Late[i].Second.Site
			if !strict[[2]event.Site{min(a, b), max(a, b)}] {
				t.Fatalf("seed %d: warning %+v, want some of %v\n%s", seed, rep.Late[i], strict,
					lines(p.text))
			}
		}
		if len(got) == 0 && len(must) > 0 {
			t.Fatalf("seed %d: no race, want some of %v\n%s", seed, must, lines(p.text))
		}
		for i := range got {
			a, b := got[i].First.Site, got[i].Second.Site
			if !may[[2]event.Site{min(a, b), max(a, b)}] {
				t.Fatalf("seed %d: race %+v, want some of %v\n%s", seed, got[i], may, lines(p.text))
			}
		}
		if len(got) > 0 {
			races++
		}
		if len(got) > 0 && len(must) == 0 {
			more++
		}
	}
	t.Logf("%d of %d programs with races; %d of them only without chains of pipelines", races, n,
		more)
	if races < n/10 || races > n*9/10 {
		t.Errorf("%d of %d programs with races", races, n)
	}
}

func lines(list []string) (out string) {
	for _, l := range list {
		out += l + "\n"
	}
	return out
}

// What a tree knows from a warp on is what it knows of each of these warps, and nothing of others.
func TestKnowFrom(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var k *know
		for range 1 + rnd.IntN(20) {
			var lanes [event.WarpSize]uint32
			lanes[rnd.IntN(event.WarpSize)] = 1 + rnd.Uint32N(100)
			w := event.Warp(rnd.IntN(300))
			if rnd.IntN(4) == 0 {
				k = k.withWarps(w, w+event.Warp(1+rnd.IntN(10)), 1+rnd.Uint32N(100))
			} else {
				k = k.withLanes(w, &lanes)
			}
		}
		first, out := event.Warp(rnd.IntN(300)), event.Warp(rnd.IntN(300))
		got := k.from(first, []event.Warp{out})
		for w := range event.Warp(320) {
			for l := range event.WarpSize {
				want := k.of(w, l)
				if w < first || w == out {
					want = 0
				}
				if v := got.of(w, l); v != want {
					t.Fatalf("seed %d: from %d without %d: clock %d of warp %d, lane %d, want %d", seed,
						first, out, v, w, l, want)
				}
			}
		}
	}
}

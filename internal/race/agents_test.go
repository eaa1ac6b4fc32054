package race

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/internal/event"
	"heddle/internal/testing/long"
)

// naive is a block with every access kept for ever. Each thread has the set of accesses that
// precede it in base causality order (c), and for shared and global memory the set of those behind
// which a proxy fence lies (p). It shares nothing with the detector.
type naive struct {
	threads []knows
	objects [2]naiveObject
	all     []naiveAccess
	groups  []naiveGroups
	copies  [][]naiveCopy // by thread: open cp.async
}

type ids map[int]bool

func (a ids) add(b ids) {
	for i := range b {
		a[i] = true
	}
}

func (a ids) copy() ids {
	n := make(ids, len(a))
	n.add(a)
	return n
}

// knows are the sets of a thread, an object or the beginning of an operation.
type knows struct{ c, shared, global ids }

func noKnowledge() knows { return knows{ids{}, ids{}, ids{}} }

func (k knows) add(o knows) {
	k.c.add(o.c)
	k.shared.add(o.shared)
	k.global.add(o.global)
}

func (k knows) copy() knows { return knows{k.c.copy(), k.shared.copy(), k.global.copy()} }

type naiveObject struct {
	open, async, last knows
	phase             uint64
	done              bool // some phase is complete
	ops               []naiveOp
}

// naiveOp is an operation that will signal.
type naiveOp struct {
	id  uint64
	ids ids
}

type naiveGroups struct {
	open   [2][]int   // reads and writes in no group yet
	closed [][2][]int // by group
}

type naiveCopy struct {
	id    int
	group int
}

type naiveAccess struct {
	space  event.Space
	lo, hi uint64
	write  bool
	reduce uint8 // bytes of an element
	bulk   bool
}

// meet adds an access that begins with what k knows, and reports whether it races with an earlier
// one.
func (n *naive) meet(a naiveAccess, k knows) (id int, races bool) {
	for i, o := range n.all {
		if o.space != a.space || o.lo >= a.hi || a.lo >= o.hi || !o.write && !a.write ||
			o.reduce > 0 && o.reduce == a.reduce {
			continue
		}
		p := k.shared
		if a.space == event.Global {
			p = k.global
		}
		if !k.c[i] || a.bulk && !o.bulk && !p[i] {
			races = true
		}
	}
	n.all = append(n.all, a)
	return len(n.all) - 1, races
}

// agents drives the detector and the naive block with the same events.
type agents struct {
	rnd   *rand.Rand
	d     *Detector
	n     *naive
	warps int
	lanes []uint32
	next  uint64
	area  int // bytes that accesses begin in
	site  event.Site
	log   []string
}

const agentThreads = 70 // two warps and a part of one

func newAgents(seed uint64) *agents {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	geo := event.Geometry{Grid: one, Block: event.Dim3{X: agentThreads, Y: 1, Z: 1}, Cluster: one}
	a := &agents{rnd: rand.New(rand.NewPCG(seed, 5)), n: &naive{}, warps: 3,
		area: 64 << (seed % 5), lanes: []uint32{^uint32(0), ^uint32(0), 1<<(agentThreads-64) - 1},
		d: New(Options{Geometry: geo, SharedBytes: 4096})}
	for range 96 {
		a.n.threads = append(a.n.threads, noKnowledge())
	}
	a.n.groups, a.n.copies = make([]naiveGroups, 96), make([][]naiveCopy, 96)
	for m := range a.n.objects {
		o := &a.n.objects[m]
		o.open, o.async, o.last = noKnowledge(), noKnowledge(), noKnowledge()
		a.d.MBarrier(&event.MBarrier{Warp: 0, Site: a.at("init"), Mask: 1, Active: 1, Addr: a.object(m),
			Op: event.MBarrierInit})
	}
	a.block()
	return a
}

func (a *agents) object(m int) uint64 { return 2048 + 8*uint64(m) }

func (a *agents) at(format string, args ...any) event.Site {
	a.log = append(a.log, fmt.Sprintf(format, args...))
	a.site++
	return a.site - 1
}

func (a *agents) warp() int { return a.rnd.IntN(a.warps) }

// mask is all lanes of a warp, or some, mostly of the first four, so that they meet often.
func (a *agents) mask(w int) uint32 {
	switch a.rnd.IntN(8) {
	case 0:
		return a.lanes[w]
	case 1:
		return a.rnd.Uint32()&a.lanes[w] | 1
	case 2, 3:
		return 1 + a.rnd.Uint32N(15)
	}
	return 1 << a.rnd.IntN(4)
}

func each(mask uint32, visit func(l int)) {
	for ; mask != 0; mask &= mask - 1 {
		visit(bits.TrailingZeros32(mask))
	}
}

// block is bar.sync of all threads.
func (a *agents) block() {
	site := a.at("bar.sync")
	all := noKnowledge()
	for w := range a.warps {
		a.d.Arrive(&event.Arrive{Warp: event.Warp(w), Site: site, Mask: a.lanes[w], Active: a.lanes[w]})
		each(a.lanes[w], func(l int) { all.add(a.n.threads[32*w+l]) })
	}
	a.d.Complete(&event.Complete{})
	for t := range a.n.threads {
		a.n.threads[t].add(all)
	}
}

func (a *agents) warpSync() {
	w := a.warp()
	m := a.mask(w)
	a.d.WarpSync(&event.WarpSync{Warp: event.Warp(w), Site: a.at("warp %d sync %#x", w, m), Mask: m})
	all := noKnowledge()
	each(m, func(l int) { all.add(a.n.threads[32*w+l]) })
	each(m, func(l int) { a.n.threads[32*w+l].add(all) })
}

// access is a load or a store of one of several shapes.
func (a *agents) access() (races bool) {
	w := a.warp()
	m := a.mask(w)
	size := uint64(1) << a.rnd.IntN(5)
	space := event.Shared
	if a.rnd.IntN(4) == 0 {
		space = event.Global
	}
	base := uint64(a.rnd.IntN(a.area)) / size * size
	step := size
	switch a.rnd.IntN(3) {
	case 0:
		step = 0
	case 1:
		step = 2 * size
	}
	e := event.Access{Warp: event.Warp(w), Mask: m, Active: m, Space: space, Size: uint8(size),
		Addr: new([event.WarpSize]uint64)}
	if a.rnd.IntN(2) == 0 {
		e.Kind, e.Stored = event.Write, m
		if step == 0 {
			step = size
		}
	}
	e.Site = a.at("warp %d %#x: %v %v of %d at %d by %d", w, m, e.Kind, space, size, base, step)
	was := len(a.n.all)
	each(m, func(l int) {
		e.Addr[l] = base + uint64(l)*step
		_, r := a.n.meet(naiveAccess{space: space, lo: e.Addr[l], hi: e.Addr[l] + size,
			write: e.Kind == event.Write}, a.n.threads[32*w+l])
		races = races || r
	})
	if a.avoid(was, races) {
		return false
	}
	a.d.Access(&e)
	each(m, func(l int) { a.n.threads[32*w+l].c[was+bits.OnesCount32(m&(1<<l-1))] = true })
	return races
}

// avoid reports whether an event is left out because it races, and forgets the accesses from number
// was on then. Most of them are, so that streams grow long.
func (a *agents) avoid(was int, races bool) bool {
	if !races || a.rnd.IntN(12) == 0 {
		return false
	}
	a.n.all, a.log = a.n.all[:was], a.log[:len(a.log)-1]
	return true
}

// bulk is the issue of an operation.
func (a *agents) bulk() (races bool) {
	w := a.warp()
	l := a.rnd.IntN(4)
	t := 32*w + l
	size := uint64(16 * (1 + a.rnd.IntN(4)))
	shared, global := uint64(16*a.rnd.IntN(a.area/16)), uint64(16*a.rnd.IntN(a.area/16))
	e := event.Bulk{ID: a.next, Warp: event.Warp(w), Mask: 1 << l, Active: 1 << l,
		From: event.Range{Space: event.Global, Addr: global, Size: size},
		To:   event.Range{Space: event.Shared, Addr: shared, Size: size}}
	a.next++
	m := a.rnd.IntN(2)
	if e.Grouped = a.rnd.IntN(2) == 0; e.Grouped {
		e.From, e.To = e.To, e.From
		e.Reduce = [3]uint8{0, 4, 8}[a.rnd.IntN(3)]
	} else {
		e.Addr = a.object(m)
	}
	e.Site = a.at("thread %d: bulk %d %+v to %+v, group %v, reduce %v, object %d", t, e.ID,
		e.From, e.To,
		e.Grouped, e.Reduce, m)
	start, was := a.n.threads[t].copy(), len(a.n.all)
	from, r1 := a.n.meet(naiveAccess{space: e.From.Space, lo: e.From.Addr, hi: e.From.Addr + size,
		bulk: true}, start)
	to, r2 := a.n.meet(naiveAccess{space: e.To.Space, lo: e.To.Addr, hi: e.To.Addr + size,
		write:  true,
		reduce: e.Reduce, bulk: true}, start)
	if a.avoid(was, r1 || r2) {
		return false
	}
	a.d.Bulk(&e)
	if e.Grouped {
		g := &a.n.groups[t]
		g.open[0], g.open[1] = append(g.open[0], from), append(g.open[1], to)
	} else {
		o := &a.n.objects[m]
		o.ops = append(o.ops, naiveOp{e.ID, ids{from: true, to: true}})
	}
	return r1 || r2
}

// groups commits or waits.
func (a *agents) groups() {
	w := a.warp()
	m := a.mask(w)
	e := event.BulkGroup{Warp: event.Warp(w), Mask: m, Active: m, Commit: a.rnd.IntN(2) == 0,
		Reads: a.rnd.IntN(2) == 0, Pending: uint32(a.rnd.IntN(2))}
	e.Site = a.at("warp %d %#x: bulk group %+v", w, m, e)
	a.d.BulkGroup(&e)
	each(m, func(l int) {
		g := &a.n.groups[32*w+l]
		if e.Commit {
			g.closed = append(g.closed, g.open)
			g.open = [2][]int{}
			return
		}
		for i := 0; i < len(g.closed)-int(e.Pending); i++ {
			for k, list := range g.closed[i] {
				for _, id := range list {
					if k == 0 || !e.Reads {
						a.n.threads[32*w+l].c[id] = true
					}
				}
			}
		}
	})
}

func (a *agents) fence() {
	w := a.warp()
	m := a.mask(w)
	space := []event.Space{event.NoSpace, event.Shared, event.Global}[a.rnd.IntN(3)]
	a.d.ProxyFence(&event.ProxyFence{Warp: event.Warp(w), Mask: m, Active: m, Space: space,
		Site: a.at("warp %d %#x: proxy fence %v", w, m, space)})
	each(m, func(l int) {
		k := &a.n.threads[32*w+l]
		if space != event.Global {
			k.shared.add(k.c)
		}
		if space != event.Shared {
			k.global.add(k.c)
		}
	})
}

// phase arrives at an object, completes its phase, waits for it, or lets an operation signal.
func (a *agents) phase() {
	w, i := a.warp(), a.rnd.IntN(2)
	m, o := a.mask(w), &a.n.objects[i]
	e := event.MBarrier{Warp: event.Warp(w), Mask: m, Active: m, Addr: a.object(i), Phase: o.phase}
	switch a.rnd.IntN(4) {
	case 0:
		e.Op, e.Order, e.Scope = event.MBarrierArrive, event.Release, event.CTA
		if a.rnd.IntN(4) == 0 {
			e.Order = event.Relaxed
		} else {
			each(m, func(l int) { o.open.add(a.n.threads[32*w+l]) })
		}
	case 1:
		e.Op, e.Mask = event.MBarrierComplete, 0
		o.last, o.open = o.open, noKnowledge()
		o.last.add(o.async)
		o.done, o.phase = true, o.phase+1
	case 2:
		if !o.done {
			return
		}
		e.Op, e.Order, e.Scope, e.Phase = event.MBarrierWait, event.Acquire, event.CTA, o.phase-1
		each(m, func(l int) { a.n.threads[32*w+l].add(o.last) })
	default:
		if len(o.ops) == 0 {
			return
		}
		k := a.rnd.IntN(len(o.ops))
		op := o.ops[k]
		o.ops = slices.Delete(o.ops, k, k+1)
		o.async.c.add(op.ids)
		a.at("signal of %d at %d", op.id, i)
		a.d.Signal(&event.Signal{ID: op.id, Addr: a.object(i)})
		return
	}
	e.Site = a.at("object %d: %+v", i, e)
	a.d.MBarrier(&e)
}

// copyAsync issues, commits or awaits cp.async, or lets an object track it.
func (a *agents) copyAsync() (races bool) {
	w := a.warp()
	m := a.mask(w)
	switch a.rnd.IntN(4) {
	case 0:
		e := event.CopyGroup{Warp: event.Warp(w), Mask: m, Active: m, Commit: true,
			Wait: a.rnd.IntN(2) == 0}
		e.Site = a.at("warp %d: copy group %+v", w, e)
		a.d.CopyGroup(&e)
		each(m, func(l int) {
			t := 32*w + l
			for i := range a.n.copies[t] {
				if c := &a.n.copies[t][i]; c.group < 0 {
					c.group = 0
				}
				if e.Wait {
					a.n.threads[t].c[a.n.copies[t][i].id] = true
				}
			}
			if e.Wait {
				a.n.copies[t] = nil
			}
		})
	case 1:
		i := a.rnd.IntN(2)
		e := event.CopyArrive{ID: a.next, Warp: event.Warp(w), Mask: m, Active: m, Addr: a.object(i)}
		a.next++
		e.Site = a.at("copy arrive %+v", e)
		a.d.CopyArrive(&e)
		op := naiveOp{e.ID, ids{}}
		each(m, func(l int) {
			for _, c := range a.n.copies[32*w+l] {
				op.ids[c.id] = true
			}
		})
		a.n.objects[i].ops = append(a.n.objects[i].ops, op)
	default:
		e := event.Copy{Warp: event.Warp(w), Mask: m, Active: m, Size: 16,
			To:   new([event.WarpSize]uint64),
			From: new([event.WarpSize]uint64), Read: new([event.WarpSize]uint8)}
		base := uint64(16 * a.rnd.IntN(a.area/16))
		e.Site = a.at("warp %d %#x: copy to %d", w, m, base)
		was := len(a.n.all)
		each(m, func(l int) {
			e.To[l] = base + 16*uint64(l)
			_, r := a.n.meet(naiveAccess{space: event.Shared, lo: e.To[l], hi: e.To[l] + 16, write: true},
				a.n.threads[32*w+l])
			races = races || r
		})
		if a.avoid(was, races) {
			return false
		}
		a.d.Copy(&e)
		each(m, func(l int) {
			t := 32*w + l
			a.n.copies[t] = append(a.n.copies[t], naiveCopy{was + bits.OnesCount32(m&(1<<l-1)), -1})
		})
	}
	return races
}

// TestAgents compares the detector with the naive block on random events, up to the first race.
func TestAgents(t *testing.T) {
	streams := 3000
	if long.All() {
		streams = 100000
	}
	ends, events := make(map[Cause]int), 0
	for seed := range uint64(streams) {
		a := newAgents(seed)
		for range 150 {
			races := false
			switch a.rnd.IntN(20) {
			case 0:
				if a.rnd.IntN(4) == 0 {
					a.block()
				}
			case 1:
				a.warpSync()
			case 2, 3, 4, 5:
				races = a.access()
			case 6, 7, 8:
				races = a.bulk()
			case 9, 10:
				a.groups()
			case 11, 12:
				a.fence()
			case 13, 14:
				races = a.copyAsync()
			default:
				a.phase()
			}
			events++
			rep := a.d.Report()
			if found := len(rep.Races) > 0; found != races {
				t.Fatalf("seed %d: races %v, and the detector says %+v\n%s", seed, races, rep.Races,
					fmt.Sprint(a.log))
			}
			if races {
				ends[rep.Races[0].Cause]++
				break
			}
		}
	}
	t.Logf("%d events in %d streams, which end with %v", events, streams, ends)
	if ends[Unordered] < 20 || ends[NotWaited] < 20 || ends[NoProxyFence] < 20 {
		t.Errorf("the streams end with %v: they show too little", ends)
	}
}

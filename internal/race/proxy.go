package race

import (
	"math/bits"
	"slices"
	"unsafe"

	"heddle/internal/event"
)

// Proxy fences (PTX ISA 9.7.13.4, 8.9.5). An access through the generic proxy precedes one through
// the async proxy if a fence.proxy.async lies between them in base causality order. Instead of a
// second clock for every thread, each fence keeps what its thread knew: access a precedes operation
// b if b knows a fence that knows a. That is the same as a clock that a fence sets to that of base
// causality, and that flows wherever base causality flows.
//
// Usually the thread of the access has executed a fence itself. If only another one has, the access
// is ordered too; LateProxyFence says so (docs/support.md, "Hopper").

// proxyFence is a fence by some lanes of a warp.
type proxyFence struct {
	mask  uint32
	space event.Space // NoSpace: all
	home  *block      // of shared memory that of this block; nil: of all blocks
	own   [event.WarpSize]uint32
	first uint32  // the least of own, among mask
	last  uint32  // and the largest
	knows *fences // nil after the end of the block
}

// fenceBytes is the memory that a fence takes.
const fenceBytes = uint64(unsafe.Sizeof(proxyFence{}) + unsafe.Sizeof(fences{}))

// fenceLog holds the fences of a warp, in order.
type fenceLog struct {
	list []*proxyFence
}

// fenced is what the fences that an operation knows know.
type fenced struct {
	knows [2]*know // of shared and global memory
	home  *block   // whose shared memory it is
}

// maxFences is the length of a log at which it is compacted.
const maxFences = 256

// ProxyFence records a fence.
func (d *Detector) ProxyFence(e *event.ProxyFence) {
	if d.opt.Execution {
		d.pass(e.Warp, e.Active)
		return
	}
	if e.Map.Release || e.Map.Acquire {
		d.mapFence(e)
		return
	}
	w, b := d.warpOf(e.Warp)
	f := &proxyFence{mask: e.Mask, space: e.Space, own: w.own, knows: new(fences)}
	if e.Own && d.clustered {
		f.home = b
	}
	f.first, f.last = f.epochs()
	d.bytes += fenceBytes
	d.snapshot(w, b, f.knows, e.Mask)
	if d.proxies == nil {
		d.proxies = make(map[event.Warp]*fenceLog)
	}
	log := d.proxies[e.Warp]
	if log == nil {
		log = new(fenceLog)
		d.proxies[e.Warp] = log
	}
	if n := len(log.list); !d.clustered && n >= maxFences && n&(n-1) == 0 {
		d.compactFences(b, w, log)
	}
	log.list = append(log.list, f)
	// Accesses behind the fence are of another epoch than those before.
	w.tick(e.Mask)
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// compactFences drops fences of which a later one of the same lanes for the same memory is known to
// all threads of the block: every operation that these issue will know the later one.
func (d *Detector) compactFences(b *block, w *warp, log *fenceLog) {
	for l := range event.WarpSize {
		least := ^uint32(0)
		for i := range b.warps {
			u := &b.warps[i]
			m := d.lanesOf(u.id) &^ u.gone
			if u != w && u.lane == nil {
				m &= -m // its lanes know the same of other warps
			}
			for ; m != 0; m &= m - 1 {
				v := bits.TrailingZeros32(m)
				least = min(least, d.knows(event.ThreadOf(u.id, v), event.ThreadOf(w.id, l)))
			}
		}
		var covered [3]bool // by a later fence: of all memory, of global, of shared
		for i := len(log.list) - 1; i >= 0; i-- {
			f := log.list[i]
			if f.mask>>l&1 == 0 || f.own[l] > least {
				continue
			}
			k := 0
			switch f.space {
			case event.Global:
				k = 1
			case event.Shared:
				k = 2
			}
			if covered[0] || covered[k] || k == 0 && covered[1] && covered[2] {
				f.mask &^= 1 << l
			}
			covered[k] = true
		}
	}
	was := len(log.list)
	log.list = slices.DeleteFunc(log.list, func(f *proxyFence) bool { return f.mask == 0 })
	d.bytes -= uint64(was-len(log.list)) * fenceBytes
}

// keptFences is how many fences of a warp are kept after its block has ended.
const keptFences = 2

// endFences forgets the fences of a warp whose block has ended, but for the last ones that order
// global memory, for operations of other blocks. What these fences knew is forgotten too.
func (d *Detector) endFences(w event.Warp) {
	log := d.proxies[w]
	if log == nil {
		return
	}
	var kept []*proxyFence
	for i := len(log.list) - 1; i >= 0 && len(kept) < keptFences; i-- {
		if f := log.list[i]; f.covers(event.Global, nil) {
			f.knows = nil
			kept = append(kept, f)
		}
	}
	d.bytes -= uint64(len(log.list)-len(kept)) * fenceBytes
	if log.list = kept; len(kept) == 0 {
		delete(d.proxies, w)
		return
	}
	slices.Reverse(log.list)
}

// covers reports whether the fence orders accesses to a space, if it is shared memory that of home.
func (f *proxyFence) covers(s event.Space, home *block) bool {
	return f.space == event.NoSpace || f.space == s && (f.home == nil || f.home == home)
}

// proxyOrdered reports whether a proxy fence lies between an entry and an operation that knows it.
// late says that its own thread executed none.
func (d *Detector) proxyOrdered(s *agentStart, e entry, a *access) (ordered, late bool) {
	if d.ownFences(s, e, a) {
		return true, false
	}
	return d.fencedOf(s, a).covers(event.Warp(e.warp), e.mask, e.clk), true
}

// fencedOf returns what the fences that an operation knows know, of those for the memory of an
// access.
func (d *Detector) fencedOf(s *agentStart, a *access) *know {
	if s.fence == nil || s.fence.home != a.home {
		s.fence = d.fencedBy(s, a.home)
	}
	if a.Space == event.Global {
		return s.fence.knows[1]
	}
	return s.fence.knows[0]
}

// ownFences reports whether each thread of an entry has executed a fence behind its access that the
// operation knows.
func (d *Detector) ownFences(s *agentStart, e entry, a *access) bool {
	log := d.proxies[event.Warp(e.warp)]
	if log == nil {
		return false
	}
	if log.covered(s.knows, e, a) {
		return true
	}
	for m := e.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		known := s.knows.of(event.Warp(e.warp), l)
		found := false
		for i := len(log.list) - 1; i >= 0 && !found; i-- {
			f := log.list[i]
			found = f.mask>>l&1 != 0 && f.covers(a.Space, a.home) && e.clk <= f.own[l] && f.own[l] <= known
		}
		if !found {
			return false
		}
	}
	return true
}

// recentFences is how many fences covered looks at.
const recentFences = 8

// covered reports whether one of the last fences is by all threads of an entry behind their access,
// and all of it is known. It is the usual case of ownFences.
func (log *fenceLog) covered(k *know, e entry, a *access) bool {
	for i := len(log.list) - 1; i >= max(0, len(log.list)-recentFences); i-- {
		f := log.list[i]
		if e.mask&^f.mask != 0 || !f.covers(a.Space, a.home) {
			continue
		}
		if e.clk <= f.first && k.covers(event.Warp(e.warp), e.mask, f.last) {
			return true
		}
	}
	return false
}

// epochs returns the first and the last epoch in which one of its lanes has executed the fence.
func (f *proxyFence) epochs() (first, last uint32) {
	first = ^uint32(0)
	for m := f.mask; m != 0; m &= m - 1 {
		c := f.own[lowestLane(m)]
		first, last = min(first, c), max(last, c)
	}
	return first, last
}

// fencedBy returns what all fences know that an operation knows, for the shared memory of home and
// for global memory.
func (d *Detector) fencedBy(s *agentStart, home *block) *fenced {
	out := &fenced{home: home}
	for id, log := range d.proxies {
		b := d.blockAt(uint32(id) / d.perBlock)
		if b == nil {
			continue
		}
		w := &b.warps[id-b.first]
		for l := range event.WarpSize {
			known := s.knows.of(id, l)
			if known == 0 {
				continue
			}
			var have [2]bool
			for i := len(log.list) - 1; i >= 0 && !(have[0] && have[1]); i-- {
				f := log.list[i]
				if f.mask>>l&1 == 0 || f.own[l] > known || f.knows == nil {
					continue
				}
				for k, space := range [...]event.Space{event.Shared, event.Global} {
					if !have[k] && f.covers(space, home) {
						have[k] = true
						out.knows[k] = join(out.knows[k], f.knows.at(w, b, d.lanesOf(id), l))
					}
				}
			}
		}
	}
	return out
}

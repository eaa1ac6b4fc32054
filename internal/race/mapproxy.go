package race

import (
	"slices"
	"unsafe"

	"heddle/internal/event"
)

// The proxy of tensor maps (PTX ISA 9.7.13.4, 9.7.13.16, 8.9.5). A copy of a tensor reads its map
// through a proxy of its own, at some time before it is complete. What precedes this read in base
// causality order precedes it in truth only if a release fence of the proxy lies behind it, and
// behind that an acquire fence for the map, by a thread of the block that issues the copy ("it is
// required to use a fence in each thread block", CUDA C++ Programming Guide). The scopes of the two
// include each other's threads.
//
// As with proxy fences (proxy.go), a release keeps what its thread knew, and an acquire the join of
// what the releases that it knows have kept: a write precedes the read by an operation if one of
// the acquires that the operation knows has it. docs/theory/happens-before.md has the rule.

// mapRelease is a release by some lanes of a warp.
type mapRelease struct {
	mask  uint32
	warp  bool // each of the lanes releases what any of them knows
	scope event.Scope
	own   [event.WarpSize]uint32
	knows [event.WarpSize]*know
}

// mapAcquire is an acquire of one map by some lanes of a warp, with what it makes known.
type mapAcquire struct {
	mask  uint32
	scope event.Scope
	own   [event.WarpSize]uint32
	knows [event.WarpSize]*know
}

// maxMapFences is how many releases of a warp are kept, and acquires of a warp for each map. A
// later one mostly knows what an earlier one knows. So forgetting the oldest ones matters only for
// a thread that knows one of these and few of those behind it: it gets a finding too many.
const maxMapFences = 64

// mapFence records a fence of the proxy of tensor maps.
func (d *Detector) mapFence(e *event.ProxyFence) {
	w, b := d.warpOf(e.Warp)
	if !d.opt.Static {
		if e.Map.Release {
			d.releaseMaps(w, b, e)
		} else {
			d.acquireMap(w, b, e)
		}
	}
	// What follows the fence is of another epoch than what precedes it.
	w.tick(e.Mask)
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// releaseMaps records a release.
func (d *Detector) releaseMaps(w *warp, b *block, e *event.ProxyFence) {
	f := &mapRelease{mask: e.Mask, warp: e.Map.Warp, scope: e.Map.Scope, own: w.own}
	var all *know
	if e.Map.Warp {
		all = d.clocks(w, b, e.Mask)
	}
	for m := e.Mask; m != 0; m &= m - 1 {
		l := lowestLane(m)
		if f.knows[l] = all; all == nil {
			f.knows[l] = d.clock(w, b, l)
		}
	}
	if d.mapReleases == nil {
		d.mapReleases = make(map[event.Warp][]*mapRelease)
	}
	d.mapReleases[w.id] = keepLast(d, d.mapReleases[w.id], f)
}

// acquireMap records an acquire, with what the releases have kept that its lanes know.
func (d *Detector) acquireMap(w *warp, b *block, e *event.ProxyFence) {
	f := &mapAcquire{mask: e.Mask, scope: e.Map.Scope, own: w.own}
	for m := e.Mask; m != 0; m &= m - 1 {
		l := lowestLane(m)
		f.knows[l] = d.released(event.ThreadOf(w.id, l), d.clock(w, b, l), e.Map.Scope)
	}
	if b.acquired == nil {
		b.acquired = make(map[uint64]map[event.Warp][]*mapAcquire)
	}
	of := b.acquired[e.Map.Addr]
	if of == nil {
		of = make(map[event.Warp][]*mapAcquire)
		b.acquired[e.Map.Addr] = of
	}
	of[w.id] = keepLast(d, of[w.id], f)
}

// keepLast appends to the fences of a warp, and forgets the older half of them when there are many.
func keepLast[F any](d *Detector, list []*F, f *F) []*F {
	d.bytes += uint64(unsafe.Sizeof(*f))
	if len(list) == maxMapFences {
		d.bytes -= maxMapFences / 2 * uint64(unsafe.Sizeof(*f))
		n := copy(list, list[maxMapFences/2:])
		clear(list[n:])
		list = list[:n]
	}
	return append(list, f)
}

// released returns what the releases have kept that a thread knows, k being all that it knows, of
// those whose scope and the thread's include each other.
func (d *Detector) released(t event.Thread, k *know, scope event.Scope) *know {
	g := d.opt.Geometry
	var out *know
	for id, log := range d.mapReleases {
		if k.most(id) == 0 {
			continue
		}
		// By lane: those whose knowledge the releases behind have that count. Of what a lane knew itself
		// a later release has more.
		var have [event.WarpSize]uint32
		for i := len(log) - 1; i >= 0; i-- {
			f := log[i]
			for m := f.mask; m != 0; m &= m - 1 {
				l := lowestLane(m)
				of := uint32(1) << l
				if f.warp {
					of = f.mask
				}
				u := event.ThreadOf(id, l)
				if of&^have[l] == 0 || k.of(id, l) < f.own[l] || !g.Includes(f.scope, u, t) ||
					!g.Includes(scope, t, u) {
					continue
				}
				have[l] |= of
				out = join(out, f.knows[l])
			}
		}
	}
	return out
}

// most returns the largest clock that the tree knows of a lane of a warp.
func (k *know) most(w event.Warp) uint32 {
	if k == nil || !k.spans(w) {
		return 0
	}
	best := uint32(0)
	for k != nil {
		if best = max(best, k.base); k.level == 0 {
			return max(best, k.max)
		}
		if k.kids == nil {
			return best
		}
		k = k.kids[uint32(w)>>(fanBits*(k.level-1))&(fanout-1)]
	}
	return best
}

// mapKnown returns what precedes the read of the tensor map at an address by an operation.
func (d *Detector) mapKnown(s *agentStart, addr uint64) *know {
	var out *know
	for id, log := range s.b.acquired[addr] {
		var have [event.WarpSize]event.Scope // a later acquire of a scope that is not narrower has more
		for i := len(log) - 1; i >= 0; i-- {
			f := log[i]
			for m := f.mask; m != 0; m &= m - 1 {
				l := lowestLane(m)
				if f.scope > have[l] && s.knows.of(id, l) >= f.own[l] {
					have[l] = f.scope
					out = join(out, f.knows[l])
				}
			}
		}
	}
	return out
}

// readMap checks and records the read of a tensor map by an operation. p has the component that is
// complete with the operation.
func (d *Detector) readMap(s *agentStart, p piece, e *event.Bulk) {
	if e.Map.Size == 0 || d.opt.Static {
		return
	}
	if e.MapBefore && d.reports(event.Global) && !d.mapAcquired(s, e.Map.Addr) {
		d.mapUse(p.thread, e)
	}
	if !e.Grouped {
		g := d.groupsOf(s.w)
		p.also = &alternative{component{g.read, uint8(s.lane)}, firstValue + g.closed[s.lane] + 1}
	}
	p.readsMap = true
	s.fencedMap, s.readsMap = d.mapKnown(s, e.Map.Addr), true
	d.addPiece(s, p, e.Map, false)
	s.fencedMap, s.readsMap = nil, false
}

// checkMapEntry checks the read of a tensor map against an access through the generic proxy, at a
// word or byte, and reports whether there is no finding.
func (d *Detector) checkMapEntry(s *agentStart, a *access, e entry, at uint64) bool {
	cause, other := Unordered, lowestLane(e.mask)
	w := event.Warp(e.warp)
	switch plain := e.clk != noncoherent && e.clk < pending; {
	case plain && s.fencedMap.covers(w, e.mask, e.clk):
		return true
	case plain && s.knows.covers(w, e.mask, e.clk):
		cause = NoMapFence
	case e.clk == noncoherent:
		cause = OtherProxy
	case e.concurrent():
		cause = NotWaited
	default:
		other = firstUnknown(s.knows, e)
	}
	d.agentRace(a, e.site, event.ThreadOf(d.real(e.warp), other), at, cause)
	return false
}

// MapUse is the use of a tensor map that a launch before has changed, without an acquire.
type MapUse struct {
	Thread event.Thread
	Site   event.Site
	Addr   uint64
}

// mapUse records one, the first of each place.
func (d *Detector) mapUse(t event.Thread, e *event.Bulk) {
	if !slices.ContainsFunc(d.mapUses, func(u MapUse) bool { return u.Site == e.Site }) {
		d.mapUses = append(d.mapUses, MapUse{t, e.Site, e.Map.Addr})
	}
}

// mapAcquired reports whether an operation comes behind an acquire of the map at an address by a
// thread of its block, of a scope that includes the threads of other launches.
func (d *Detector) mapAcquired(s *agentStart, addr uint64) bool {
	for id, log := range s.b.acquired[addr] {
		for _, f := range log {
			for m := f.mask; m != 0; m &= m - 1 {
				if l := lowestLane(m); f.scope >= event.GPU && s.knows.of(id, l) >= f.own[l] {
					return true
				}
			}
		}
	}
	return false
}

// alternative is a component that knows of a piece as the piece's own does.
type alternative struct {
	component
	value uint32
}

// known reports whether k knows that the piece is complete; v is its value.
func (p *piece) known(k *know, v uint32) bool {
	return p.component.known(k, v) || p.also != nil && p.also.known(k, p.also.value)
}

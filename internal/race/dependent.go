package race

import (
	"cmp"
	"math/bits"
	"slices"

	"heddle/internal/event"
)

// Dependent launches, PTX ISA 9.7.13.13. A grid that executes griddepcontrol.wait may have begun
// while the grids before it in the stream still run: what they write is there only behind the wait
// of the thread, or behind that of a thread of its block (or cluster) with which it has
// synchronized since. An access to global memory by a thread of which neither is known may race
// with those grids. Whether it does depends on what they access: Options.Earlier knows it for the
// launches of a program.
//
// What it can miss: accesses at a place that has been reported, and those by threads that have
// synchronized with a waiting thread in some schedules only, if the run had another one.

// GridAccess is an access to global memory in front of the wait for the grids before.
type GridAccess struct {
	Site   event.Site
	Thread event.Thread // the first that made it
	Addr   uint64
	Write  bool
}

// gridWait is a wait, with the clock of its thread then.
type gridWait struct {
	thread event.Thread
	clock  uint32
}

// dependent is the state of a detector for a kernel that waits for the grids before it.
type dependent struct {
	waits map[uint32][]gridWait // of a block, or of a cluster: the first one of each warp
	early map[event.Site]GridAccess
}

// group returns the number under which the waits of a block and its cluster are kept.
func (d *Detector) group(b *block) uint32 {
	if d.clustered {
		return d.opt.Geometry.ClusterOf(b.id)
	}
	return b.id
}

// gridWait records that lanes of a warp have waited for the grids before.
func (d *Detector) gridWait(w *warp, b *block, mask uint32) {
	if d.dependent == nil {
		return
	}
	w.tick(mask) // what happened before the wait has an older clock
	if w.waited == 0 {
		l := bits.TrailingZeros32(mask)
		g := d.group(b)
		d.dependent.waits[g] = append(d.dependent.waits[g],
			gridWait{event.ThreadOf(w.id, l), w.own[l]})
	}
	w.waited |= mask
}

// beforeWait looks for lanes of a warp that access global memory and are not known to follow a
// wait.
func (d *Detector) beforeWait(w *warp, b *block, site event.Site, mask uint32,
	addr func(lane int) uint64, size uint64, write bool) {
	g := d.dependent
	m := mask &^ w.waited
	if m == 0 {
		return
	}
	if _, known := g.early[site]; known {
		return
	}
	waits := g.waits[d.group(b)]
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		t := event.ThreadOf(w.id, l)
		if slices.ContainsFunc(waits, func(u gridWait) bool { return d.knows(t, u.thread) >= u.clock }) {
			w.waited |= 1 << l
			continue
		}
		if d.opt.Earlier != nil && !d.opt.Earlier(addr(l), size, write) {
			continue
		}
		g.early[site] = GridAccess{site, t, addr(l), write}
		return
	}
}

// reportEarly lists the accesses in the order of their places.
func (d *Detector) reportEarly() []GridAccess {
	if d.dependent == nil {
		return nil
	}
	var out []GridAccess
	for _, a := range d.dependent.early {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b GridAccess) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

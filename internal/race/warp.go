package race

import (
	"math/bits"

	"heddle/internal/event"
)

// A warp holds the clocks of its lanes, compressed as in Barracuda §4.3.1. What lane l knows of
// another thread u is the maximum of:
//
//   - own[l], if u is l itself;
//   - intra, if u is in the same warp (converged format), or in[l][u] where lanes have synchronized
//     in parts (nested), or act.clock while both are in the active set of the lockstep model
//     (diverged);
//   - blk, if u is in the same block: the last barrier of the whole block; or its warp's clock in
//     peers;
//   - ext (sparse), what was learned by named barriers and by acquiring, for all lanes or for one.
//
// A thread's own clock rises only when other threads may learn it: at releases and barriers.
// Between them its accesses share one epoch.
type warp struct {
	id    event.Warp
	own   [event.WarpSize]uint32
	even  bool // all lanes have the same own clock
	intra uint32
	blk   uint32
	in    *[event.WarpSize][event.WarpSize]uint32
	act   activeSet
	peers []uint32 // what all lanes know of each warp of the block: peers.go; empty: blk
	ext   *know
	lane  *[event.WarpSize]*know // what single lanes know beyond ext; nil if none does
	async *copies                // nil until the first
	bulk  *bulkGroups            // nil until the first
	// groups of matrix operations; nil until the first
	matrices *matrixGroups
	tensor   *tensorWarp // nil until the first operation on tensor memory
	pat      *patterns   // fences and observed releases; nil until the first
	inits    *warpInits  // nil until the first
	// lanes that have arrived at the barrier of the cluster
	arrived clusterArrival
	gone    uint32 // lanes that have exited
	waited  uint32 // lanes known to follow a wait for the grids before
	round   uint32 // barriers of the whole block that the warp has passed
}

// activeSet is the diverged format of the lockstep model: the active lanes know each other up to
// clock.
type activeSet struct {
	mask  uint32
	clock uint32
}

// start sets w to the state before its first instruction: every thread knows only itself.
func (w *warp) start(id event.Warp) {
	*w = warp{id: id, even: true, peers: w.peers[:0]}
	for l := range w.own {
		w.own[l] = 1
	}
}

// ofMate returns what lane l knows of lane u of the same warp, u != l, without ext.
func (w *warp) ofMate(l, u int) uint32 {
	c := max(w.intra, w.blk)
	if w.in != nil {
		c = max(c, w.in[l][u])
	}
	if w.act.mask>>l&1 != 0 && w.act.mask>>u&1 != 0 {
		c = max(c, w.act.clock)
	}
	return c
}

// beyond returns the tree of lane l, which includes that of the warp.
func (w *warp) beyond(l int) *know {
	if w.lane != nil && w.lane[l] != nil {
		return w.lane[l]
	}
	return w.ext
}

// learn adds k to the knowledge of the lanes of mask.
func (w *warp) learn(mask uint32, k *know, all uint32) {
	if k == nil {
		return
	}
	if mask == all {
		w.ext = join(w.ext, k)
		if w.lane != nil {
			for l, have := range w.lane {
				if have != nil {
					w.lane[l] = join(have, k)
				}
			}
		}
		return
	}
	if w.lane == nil {
		w.lane = new([event.WarpSize]*know)
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		w.lane[l] = join(w.beyond(l), k)
	}
}

// lesson is what warps learn from one object. Warps that know the same before know the same after,
// and share it.
type lesson struct {
	k        *know
	had, has *know // the last knowledge of a warp that learned k, before and after
}

// teach adds a lesson to the knowledge of the lanes of mask.
func (w *warp) teach(mask uint32, s *lesson, all uint32) {
	if mask != all || w.lane != nil || s.k == nil {
		w.learn(mask, s.k, all)
		return
	}
	if s.has == nil || s.had != w.ext {
		s.had, s.has = w.ext, join(w.ext, s.k)
	}
	w.ext = s.has
}

// tick starts a new epoch for the lanes of mask. If all lanes have the same clock, it starts one for
// the other lanes too, which changes nothing for them and keeps the warp even: accesses of such a
// warp are checked and recorded in rows.
func (w *warp) tick(mask uint32) {
	if w.even {
		for l := range w.own {
			w.own[l]++
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		w.own[bits.TrailingZeros32(m)]++
	}
	w.level()
}

// level recomputes even.
func (w *warp) level() {
	w.even = true
	for _, c := range w.own {
		if c != w.own[0] {
			w.even = false
			return
		}
	}
}

// highest returns the largest own clock among mask.
func (w *warp) highest(mask uint32) uint32 {
	if w.even {
		return w.own[0]
	}
	c := uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		c = max(c, w.own[bits.TrailingZeros32(m)])
	}
	return c
}

// sync makes the lanes of mask know each other and everything that any of them knows, and starts a
// new epoch for them: bar.warp.sync. all are the lanes of the warp that are threads.
func (w *warp) sync(mask, all uint32) {
	w.shareBeyond(mask, all)
	if mask == all {
		c := w.highest(all)
		w.intra, w.in, w.act = c, nil, activeSet{}
		for l := range w.own {
			w.own[l] = c + 1
		}
		w.even = true
		return
	}
	w.fold()
	in := w.matrix()
	var row [event.WarpSize]uint32
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for u := range row {
			row[u] = max(row[u], in[l][u])
		}
		row[l] = max(row[l], w.own[l])
	}
	for m := mask; m != 0; m &= m - 1 {
		in[bits.TrailingZeros32(m)] = row
	}
	w.tick(mask)
}

// shareBeyond joins the trees of the lanes of mask.
func (w *warp) shareBeyond(mask, all uint32) {
	if w.lane == nil {
		return
	}
	k := w.ext
	for m := mask; m != 0; m &= m - 1 {
		k = join(k, w.lane[bits.TrailingZeros32(m)])
	}
	if mask == all {
		w.ext, w.lane = k, nil
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		w.lane[bits.TrailingZeros32(m)] = k
	}
}

// matrix returns the nested format, created on first use.
func (w *warp) matrix() *[event.WarpSize][event.WarpSize]uint32 {
	if w.in == nil {
		w.in = new([event.WarpSize][event.WarpSize]uint32)
	}
	return w.in
}

// fold moves the knowledge of the active set into the nested format, before the set changes.
func (w *warp) fold() {
	a := w.act
	w.act = activeSet{}
	if a.clock <= w.intra || a.mask == 0 {
		return
	}
	in := w.matrix()
	for m := a.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for u := range in[l] {
			if a.mask>>u&1 != 0 {
				in[l][u] = max(in[l][u], a.clock)
			}
		}
	}
}

// endInstruction is Barracuda's endi, and its if, else and fi (figure 2): the active lanes join,
// and each starts a new epoch.
func (w *warp) endInstruction(active, all uint32) {
	if active == all {
		w.sync(active, all)
		return
	}
	w.shareBeyond(active, all)
	if w.act.mask != active {
		w.fold()
		w.spread(active)
		w.act.mask = active
	}
	w.act.clock = w.highest(active)
	for m := active; m != 0; m &= m - 1 {
		w.own[bits.TrailingZeros32(m)] = w.act.clock + 1
	}
	w.level()
}

// spread gives every lane of a new active set what any of them knew of lanes outside it.
func (w *warp) spread(active uint32) {
	if w.in == nil {
		return
	}
	var row [event.WarpSize]uint32
	for m := active; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for u := range row {
			row[u] = max(row[u], w.in[l][u])
		}
	}
	for m := active; m != 0; m &= m - 1 {
		w.in[bits.TrailingZeros32(m)] = row
	}
}

// clock returns everything that lane l knows, its own epoch included, as a tree.
func (w *warp) clock(l int, all uint32, lo, hi event.Warp) *know {
	k := w.beyond(l).withWarps(lo, hi, w.blk)
	var lanes [event.WarpSize]uint32
	for m := all; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		if u != l {
			lanes[u] = w.ofMate(l, u)
		}
	}
	lanes[l] = w.own[l]
	return k.withLanes(w.id, &lanes)
}

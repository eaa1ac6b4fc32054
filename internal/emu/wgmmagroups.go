package emu

import (
	"heddle/internal/event"
)

// Groups of matrix operations belong to a warpgroup (PTX ISA 9.7.15.7.2: commit_group "creates a
// new wgmma-group per warpgroup"). So wgmma.wait_group waits for the groups as all four warps have
// issued them, and a warp waits until the others have committed those that it waits for. Libraries
// rely on it: in CUTLASS one thread of a warpgroup says that a stage is empty, behind its own wait.
//
// The number of commits only grows, and a commit waits for no other warp. So if a wait here never
// ends in one schedule, it never ends in any.

// warpgroupOf returns the first and the number of the warps of a warp's warpgroup.
func warpgroupOf(b *block, w *warp) []warp {
	i := w.index / 4 * 4
	return b.warps[i:min(i+4, len(b.warps))]
}

// behind returns a warp of the warpgroup that has not committed a group for whose completion w
// waits with wgmma.wait_group pending; nil if there is none.
func behind(b *block, w *warp, pending uint32) *warp {
	list := warpgroupOf(b, w)
	for i := range list {
		if uint64(list[i].matrices.closed)+uint64(pending) < uint64(w.matrices.closed) {
			return &list[i]
		}
	}
	return nil
}

// awaitGroups suspends the fragment until all warps of the warpgroup have committed the groups for
// which it waits.
func (x *exec) awaitGroups(in *inst, pending uint32) {
	if behind(x.block, x.warp, pending) == nil {
		return
	}
	x.pc--
	x.suspend(wait{kind: atGroups, in: in, count: pending})
	x.next()
}

// groupCommitted lets the warps of the warpgroup go on that have waited for the current one.
func (x *exec) groupCommitted() {
	list := warpgroupOf(x.block, x.warp)
	for i := range list {
		w := &list[i]
		x.letRun(w, x.take(w, func(g *fragment) bool {
			return g.wait.kind == atGroups && behind(x.block, w, g.wait.count) == nil
		}))
	}
}

// uncommitted returns the stop of a run in which nothing but what waits is left, if a warp waits
// for groups that another one has not committed.
func (s *scheduler) uncommitted(blocks []*block) *Stop {
	for _, b := range blocks {
		for i := range b.warps {
			w := &b.warps[i]
			for _, g := range w.waiting {
				if g.wait.kind != atGroups {
					continue
				}
				late := behind(b, w, g.wait.count)
				if late.alive() == 0 {
					s.x.groupsEnd(b)
					return s.x.stop
				}
				stop := s.x.stopFor(g.waitSite(), event.ThreadOf(w.id, lowest(g.mask)), WarpgroupDivergence,
					"%s waits for ever for a group that warp %d of the block has not committed, which %s; "+
						"all threads of a warpgroup must execute the same instructions (.aligned, PTX ISA "+
						"9.7.15.7.3)", g.wait.in.ir.Op(), late.index, s.x.doing(b, late, lowest(late.lanes)))
				return &stop
			}
		}
	}
	return nil
}

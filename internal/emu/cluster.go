package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Clusters: blocks that run at the same time and reach the shared memory of each other (PTX ISA
// 2.2.2, 5.1.7, 9.7.9.23). The blocks of a cluster start together, and their memory is kept until
// all of them have ended, so that a late access to a block that has ended is found.
//
// An address in the shared memory of another block is its offset there and, from bit rankShift on,
// the rank of the block + firstTag. mapa makes such addresses for the block's own memory too. The
// window of the block itself is part of that of the cluster (5.1.7), so that instructions take both
// forms.
//
// In kernels of pairs of blocks (.cta_group::2), the addresses of variables have the rank as well.
// The PTX ISA does not say so, but CUTLASS clears bit 24 of the address of an mbarrier to name the
// one of the even block of the pair (Sm100MmaPeerBitMask).

// rankShift is above every offset in shared memory, of which a block has less than 1 MiB.
const rankShift = 24

const (
	rankMask = 1<<rankShift - 1
	firstTag = 2 // even, so that the addresses of a pair differ in bit rankShift only
)

// cluster are the resident blocks of one cluster.
type cluster struct {
	blocks []*block // by rank
	// late is a warp that some thread of the cluster had to wait for when it was looked at last
	late *warp
	// of a trace: requests to cancel another cluster so far, the thread that has made them, and
	// whether one has failed
	requests  uint64
	requester event.Thread
	denied    bool
}

// ownCluster returns the cluster of a block: of this block alone in a launch without clusters (PTX
// ISA 4.2.3, "%cluster_nctarank").
func (b *block) ownCluster() *cluster {
	if b.cluster != nil {
		return b.cluster
	}
	if b.alone == nil {
		b.alone = &cluster{blocks: []*block{b}}
	}
	return b.alone
}

// live returns how many blocks have threads that have not ended.
func (c *cluster) live() (n int) {
	for _, b := range c.blocks {
		if b.live > 0 {
			n++
		}
	}
	return n
}

// queued reports whether some warp can run.
func (c *cluster) queued() bool {
	for _, b := range c.blocks {
		if b.queued > 0 {
			return true
		}
	}
	return false
}

// tagOf returns what an address says of its block, and the offset: 0 for that of the thread, else
// the rank + firstTag.
func tagOf(a uint64) (tag, offset uint64) { return a >> rankShift, a & rankMask }

// tagged returns the address of an offset in the memory of a block.
func tagged(rank, offset uint64) uint64 { return offset | (rank+firstTag)<<rankShift }

// home returns the block in whose shared memory an address is, and the offset there; nil if the
// cluster has no such block.
func (x *exec) home(a uint64) (*block, uint64) {
	tag, off := tagOf(a)
	switch c := x.block.cluster; {
	case tag == 0:
		return x.block, a
	case c != nil && tag >= firstTag && tag-firstTag < uint64(len(c.blocks)):
		return c.blocks[tag-firstTag], off
	}
	return nil, a
}

// ownOffset returns the offset of an address in the shared memory of the block itself; the address,
// which is outside of it, of another one.
func (x *exec) ownOffset(a uint64) uint64 {
	if b, off := x.home(a); b == x.block {
		return off
	}
	return a
}

// reach makes another block of the cluster the one whose shared memory accesses go to; comeHome
// it.
func (x *exec) reach(b *block) {
	x.own = x.block
	x.block, x.peer = b, event.PeerOf(b.id)
}

// ownBlock returns the block of the current warp, whatever block is reached.
func (x *exec) ownBlock() *block {
	if x.own != nil {
		return x.own
	}
	return x.block
}

func (x *exec) comeHome() { x.block, x.own, x.peer = x.own, nil, 0 }

// memFunc performs an access of some lanes to one kind of memory: see memOp.
type memFunc = func(x *exec, in *inst, m uint32, s survey)

// inCluster makes an access to shared memory reach the other blocks of a cluster: lanes are grouped
// by the block to which their addresses belong. local says that the instruction reaches the memory
// of its own block only.
func inCluster(local bool, do memFunc) memFunc {
	return func(x *exec, in *inst, m uint32, s survey) {
		if s.or>>rankShift == 0 {
			do(x, in, m, s)
			return
		}
		for left := m; left != 0 && x.stop == nil; {
			tag, _ := tagOf(x.addr[lowest(left)])
			part := uint32(0)
			for t := left; t != 0; t &= t - 1 {
				l := bits.TrailingZeros32(t) & 31
				if t, _ := tagOf(x.addr[l]); t == tag {
					part |= 1 << l
				}
			}
			left &^= part
			b, _ := x.home(x.addr[lowest(part)])
			switch {
			case b == nil: // the message for any address outside of the memory
				do(x, in, part, x.survey(part))
				continue
			case b != x.block && local:
				x.fail(in, OutOfBounds, lowest(part), "%s at an address in the shared memory of %s; "+
					"without .shared::cluster an instruction reaches that of its own block only",
					in.ir.Op(), x.blockText(b))
				return
			case b != x.block && b.live == 0:
				x.peerEnded(in, lowest(part), b)
				return
			}
			for t := part; t != 0; t &= t - 1 {
				x.addr[bits.TrailingZeros32(t)&31] &= rankMask
			}
			if b == x.block {
				do(x, in, part, x.survey(part))
				continue
			}
			x.reach(b)
			do(x, in, part, x.survey(part))
			x.comeHome()
		}
	}
}

// reachCluster makes an access reach the shared memory of the cluster, if the launch has clusters.
func (c *compiler) reachCluster(in *ir.Instr, m *memOp) {
	if c.clustered() && m.shared != nil {
		m.shared = inCluster(m.space == event.Shared && !in.Row.Cluster(), m.shared)
	}
}

// ownShared reports whether an address in the window of the cluster is one of the block's own
// memory.
func (x *exec) ownShared(a uint64) bool {
	b, _ := x.home(a)
	return b == x.block
}

// blockText names a block of the cluster in messages.
func (x *exec) blockText(b *block) string { return "block " + b.index.In(x.geo.Grid) }

// peerEnded stops the run at an access to the memory of a block whose threads have all ended.
func (x *exec) peerEnded(in *inst, l int, b *block) {
	x.fail(in, PeerExited, l, "%s accesses the shared memory of %s, whose threads have all ended",
		in.ir.Op(), x.blockText(b))
}

// ctaRank returns %cluster_ctarank of the current block.
func (x *exec) ctaRank(cl event.Dim3) uint64 {
	i := x.ownBlock().index
	return uint64(i.X%cl.X + cl.X*(i.Y%cl.Y+cl.Y*(i.Z%cl.Z)))
}

// cluster returns the cluster of the launch; a single block if there is none.
func (c *compiler) cluster() event.Dim3 {
	cl := c.cfg.Geometry.Cluster
	if cl.Count() == 0 {
		return event.Dim3{X: 1, Y: 1, Z: 1}
	}
	return cl
}

// clustered reports whether blocks reach the memory of others.
func (c *compiler) clustered() bool { return c.cfg.Geometry.Ranks() > 1 }

// mapa decodes the mapping of a shared address to a block of the cluster. Without a space both
// addresses are generic.
func (c *compiler) mapa(in *ir.Instr) error {
	if len(in.Dst) != 1 || len(in.Src) != 2 || in.Dst[0].Kind != ir.Register || c.isPred(in.Dst[0]) {
		return fmt.Errorf("%s: a destination register, an address and the rank of a block expected",
			opcodeText(in))
	}
	a, err := c.srcOf(in.Src[0], in.Type)
	if err != nil {
		return err
	}
	rank, err := c.srcOf(in.Src[1], isa.U32)
	if err != nil {
		return err
	}
	if c.clustered() && c.p.space.window <= rankShift {
		return fmt.Errorf("%s is not supported with addresses of 32 bits", opcodeText(in))
	}
	n := c.cfg.Geometry.Ranks()
	generic := in.Space != event.Shared
	c.emit(inst{guard: c.guard(), d: [2]int32{c.fc.slots[in.Dst[0].Reg], -1}, pd: [2]int32{-1, -1},
		s: [4]src{a, rank}, sources: 2,
		run: func(x *exec, in *inst) {
			if x.unk != nil && !x.needs(in, &in.s[1], "the rank of the block for mapa") {
				return
			}
			at, to, base := x.src(&in.s[0]), x.src(&in.s[1]), uint64(0)
			if generic {
				base = x.prog.space.windowBase(sharedWindow)
			}
			out := &x.regs[in.d[0]]
			for t := x.m; t != 0; t &= t - 1 {
				l := bits.TrailingZeros32(t) & 31
				r := uint64(uint32(to[l]))
				if r >= uint64(n) {
					x.fail(in, OutOfBounds, l, "mapa to block %d of a cluster of %d", r, n)
					return
				}
				v := at[l]
				if generic && x.prog.space.windowOf(v) != sharedWindow {
					x.fail(in, OutOfBounds, l, "mapa of address %#x, which is not in shared memory", v)
					return
				}
				out[l] = (v - base) & rankMask
				if n > 1 { // the addresses of a block that is alone are the same in both windows
					out[l] = tagged(r, out[l])
				}
				out[l] |= base
			}
		}})
	return nil
}

// getctarank returns the rank of the block to whose memory an address belongs.
func (c *compiler) getctarank(in *ir.Instr) error {
	d, _ := c.warpInst(in, nil)
	d.warp = nil
	cl := c.cluster()
	d.run = func(x *exec, in *inst) { x.setLanes(in, x.m, x.ctaRank(cl)) }
	if c.clustered() {
		a, err := c.srcOf(in.Src[0], in.Type)
		if err != nil {
			return err
		}
		d.s[0], d.sources = a, 1
		generic := in.Space != event.Shared
		d.run = func(x *exec, in *inst) {
			for t := x.m; t != 0; t &= t - 1 {
				l := bits.TrailingZeros32(t) & 31
				v := x.src(&in.s[0])[l]
				if generic {
					v -= x.prog.space.windowBase(sharedWindow)
				}
				r := x.ctaRank(cl)
				if tag, _ := tagOf(v); tag >= firstTag {
					r = tag - firstTag
				}
				x.setLanes(in, 1<<l, r)
			}
		}
	}
	return c.emitPlain(in, d)
}

// atCluster reports whether the barrier of the cluster is waited for.
func (v *wait) atCluster() bool { return v.kind == atClusterArrive || v.kind == atClusterWait }

// clusterOp is a decoded operation at the barrier of the cluster.
type clusterOp struct {
	use isa.BarrierUse
}

// clusterBarrier decodes barrier.cluster.arrive and .wait (PTX ISA 9.7.13.3).
func (c *compiler) clusterBarrier(in *ir.Instr) error {
	b, _ := in.Barrier()
	op := &clusterOp{use: b.BarrierUse}
	c.emit(inst{run: runCluster, guard: c.guard(), misc: &miscOp{cluster: op}, d: [2]int32{-1, -1},
		pd: [2]int32{-1, -1}})
	if in.Guard != ir.NoReg { // lanes may part here: see isolate
		c.control(inst{run: runJoin})
	}
	return nil
}

// runCluster makes the lanes arrive at the barrier of the cluster, or wait there.
//
// An arrival makes "the executing thread wait for all non-exited threads from its warp", which is
// then counted. A thread waits for the generation in which it has arrived. It arrives once in each:
// a second arrival without a wait between may be in either of two generations, and a wait without
// an arrival waits for the thread itself.
func runCluster(x *exec, in *inst) {
	op, w := in.misc.cluster, x.warp
	x.isolate(in, x.m)
	m := x.m
	if op.use.Kind == isa.BarrierWait {
		if bad := m &^ (w.clusterNow | w.clusterDone); bad != 0 {
			x.fail(in, BadBarrier, lowest(bad), "%s without an arrival at the barrier of the cluster, so "+
				"that the thread waits for itself (PTX ISA 9.7.13.3)", in.ir.Op())
			return
		}
		if m&^w.clusterDone == 0 {
			x.passCluster(in, m, x.mask)
			return
		}
		x.suspendAtCluster(wait{kind: atClusterWait, in: in})
		return
	}
	if bad := m & (w.clusterNow | w.clusterDone); bad != 0 {
		x.fail(in, BadBarrier, lowest(bad), "%s by a thread that has arrived before and has not waited "+
			"for that: it may arrive in either of two generations of the barrier (PTX ISA 9.7.13.3)",
			in.ir.Op())
		return
	}
	w.clusterNow |= m
	if x.sink != nil {
		x.evs.cluster = event.ClusterBarrier{Warp: w.id, Site: x.site(in), Mask: m, Active: x.mask,
			Op: event.ClusterArrive, Order: op.use.Order}
		x.sink.Cluster(&x.evs.cluster)
	}
	if m == w.alive() {
		x.wrote, x.changed = true, true
		x.tryCluster()
		return
	}
	x.suspendAtCluster(wait{kind: atClusterArrive, in: in})
	x.warpAtCluster(w)
}

// suspendAtCluster makes the current fragment wait at the barrier of the cluster.
func (x *exec) suspendAtCluster(v wait) {
	x.wrote, x.changed = true, true
	x.suspend(v)
	x.next()
}

// passCluster lets lanes go on that have waited.
func (x *exec) passCluster(in *inst, m, active uint32) {
	x.warp.clusterDone &^= m
	x.wrote, x.changed = true, true
	x.noteClusterWait(x.warp, in, x.site(in), m, active)
}

// noteClusterWait tells the consumer that lanes have waited.
func (x *exec) noteClusterWait(w *warp, in *inst, site event.Site, m, active uint32) {
	if x.sink != nil {
		x.evs.cluster = event.ClusterBarrier{Warp: w.id, Site: site, Mask: m, Active: active,
			Op: event.ClusterWait, Order: in.misc.cluster.use.Order}
		x.sink.Cluster(&x.evs.cluster)
	}
}

// warpAtCluster lets the fragments of a warp go on that have arrived, once all of its lanes have.
func (x *exec) warpAtCluster(w *warp) {
	there := uint32(0)
	var first *inst
	aligned, several := false, false
	for _, g := range w.waiting {
		if g.wait.kind == atClusterArrive {
			there |= g.mask
			aligned = aligned || g.wait.in.misc.cluster.use.Aligned
			several = several || first != nil && first != g.wait.in
			first = g.wait.in
		}
	}
	if there == 0 || there != w.alive() {
		return
	}
	if aligned && several {
		x.agentFails(&agent{site: x.site(first), warp: w, lane: lowest(there)}, BadBarrier,
			"lanes of a warp arrive at the barrier of the cluster by different instructions, of which "+
				"one is .aligned (PTX ISA 9.7.13.3)")
		return
	}
	x.letRun(w, x.take(w, func(g *fragment) bool { return g.wait.kind == atClusterArrive }))
	x.tryCluster()
}

// letRun makes fragments of a warp ready that have waited.
func (x *exec) letRun(w *warp, list []*fragment) {
	if len(list) == 0 {
		return
	}
	for _, g := range list {
		g.wait = wait{}
	}
	w.ready = append(w.ready, x.merge(list)...)
	x.wake(w.block, w)
}

// tryCluster completes the generation of the cluster's barrier if all threads that have not exited
// have arrived.
func (x *exec) tryCluster() {
	c := x.ownBlock().ownCluster()
	missing := func(w *warp) bool { return w.alive()&^w.clusterNow != 0 }
	if c.late != nil && missing(c.late) {
		return
	}
	any := false
	for _, b := range c.blocks {
		for i := range b.warps {
			w := &b.warps[i]
			if missing(w) {
				c.late = w
				return
			}
			any = any || w.clusterNow != 0
		}
	}
	c.late = nil
	if !any {
		return
	}
	if x.sink != nil {
		x.evs.cluster = event.ClusterBarrier{Warp: c.blocks[0].warps[0].id, Op: event.ClusterComplete}
		x.sink.Cluster(&x.evs.cluster)
	}
	for _, b := range c.blocks {
		for i := range b.warps {
			w := &b.warps[i]
			w.clusterDone |= w.clusterNow
			w.clusterNow = 0
			free := x.take(w, func(g *fragment) bool {
				return g.wait.kind == atClusterWait && g.mask&^w.clusterDone == 0
			})
			for _, g := range free {
				w.clusterDone &^= g.mask
				x.noteClusterWait(w, g.wait.in, g.waitSite(), g.mask, g.mask)
			}
			x.letRun(w, free)
		}
	}
	x.changed = true
}

// exitedAtCluster re-examines the barrier of the cluster after lanes have exited.
func (x *exec) exitedAtCluster(w *warp) {
	if w.block.cluster == nil && w.block.alone == nil {
		return
	}
	if w.alive() != 0 {
		x.warpAtCluster(w)
	}
	x.tryCluster()
}

// startCluster makes the blocks of a cluster resident together.
func (s *scheduler) startCluster() {
	c := &cluster{}
	for range s.x.geo.Ranks() {
		if s.next == s.blocks || s.x.stop != nil {
			return
		}
		b := s.startNext()
		b.cluster = c
		c.blocks = append(c.blocks, b)
	}
}

// clusterBlockAt is blockAt for a launch with clusters: the blocks of one have neighbouring
// numbers. Of Options.Blocks, which has the blocks of entire clusters by rank, the order is kept.
func (s *scheduler) clusterBlockAt(i uint64) uint32 {
	if s.opt.Blocks != nil {
		return uint32(i)
	}
	n := uint64(s.x.geo.Ranks())
	at := i / n
	if s.x.policy != 0 { // another order than the natural one
		at = s.blocks/n - 1 - at
	}
	return s.x.geo.ClusterBlock(uint32(at), uint32(i%n))
}

// clusterSize returns how many blocks end with b.
func clusterSize(b *block) int {
	if b.cluster == nil {
		return 1
	}
	return len(b.cluster.blocks)
}

// endedCluster is ended for a block of a cluster: a block ends with its cluster, which ends when no
// warp of it can run any more.
func (s *scheduler) endedCluster(b *block) bool {
	c := b.cluster
	for !c.queued() && s.x.stop == nil {
		if c.live() == 0 || !s.x.stepCluster(c) {
			return true
		}
	}
	return false
}

// clusterAgents gives the agents of all blocks of a cluster their turns, since the block at hand
// may wait for those of another one. must says that one of them has to go on.
func (x *exec) clusterAgents(c *cluster, must bool) {
	b := x.block
	for _, other := range c.blocks {
		if len(other.agents) > 0 && x.stop == nil {
			x.block = other
			x.runAgents(other, must)
		}
	}
	x.block = b
}

// stepCluster lets the last agent of a cluster take a step; false if it has none.
func (x *exec) stepCluster(c *cluster) bool {
	for _, b := range c.blocks {
		for i := len(b.agents) - 1; i >= 0; i-- {
			if !b.agents[i].unsized {
				x.block = b
				x.stepAgent(b, i)
				return true
			}
		}
	}
	if !x.prog.traced {
		return false
	}
	served := false
	for _, b := range c.blocks {
		served = x.prog.registers > 0 && x.servePool(b) || served
	}
	return served || x.sizeBoxes(c.blocks...)
}

// finishCluster ends the blocks of a cluster, of which no warp can run.
func (s *scheduler) finishCluster(c *cluster) {
	s.since = s.x.steps
	s.spin.reset()
	s.points = max(s.points, s.x.points)
	if c.live() > 0 && s.x.stop == nil {
		s.stalled = !s.waitForEver(c.blocks)
	}
	for _, b := range c.blocks {
		s.x.block = b
		if b.live > 0 {
			if s.x.stop == nil {
				s.x.stall(b)
			}
			continue
		}
		s.x.noteLeftovers(b)
		s.done++
	}
	s.spare = append(s.spare, c.blocks...)
}

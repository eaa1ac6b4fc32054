package emu

import (
	"heddle/internal/emu/alu"
	"heddle/internal/event"
)

// Divergence. The lanes of a warp form a set of fragments, each with a program counter. Lanes that
// diverge at a branch reconverge at its immediate postdominator (PTX ISA 3.1: "threads converge
// back to the same execution path"). A join records which lanes are expected there, and which have
// arrived. Joins form a tree; a fragment's chain of joins is the reconvergence stack of the
// literature (Fung et al., MICRO 2007), split into pieces that can be scheduled.
//
// In the independent model (PTX ISA 3.2) every fragment must make progress, even while others spin.
// So fragments of a warp take turns at back edges. Lanes that wait at a join for lanes that only
// spin, or that wait at a barrier, are released: they continue on their own, and reconverge with
// the others at the next join outwards. In the lockstep model one path runs to its join before the
// other starts. Lanes are released only when nothing else in the warp can run, which the SIMT stack
// of old machines would turn into a deadlock, or into an arrival that the ISA leaves undefined.
//
// It misses no races, whose detection does not depend on the schedule. But lanes may be less
// converged (Access.Active) than on a machine that waits longer.

// fragment is a set of lanes with one program counter.
type fragment struct {
	pc            int32
	mask          uint32
	frame         *frame
	join          *join
	polled, wrote bool
	edges         uint32     // back edges since waiting lanes were last released
	spins         uint32     // of these, consecutive ones that spun
	polledAt      event.Site // the last access that polled
	wait          wait
	mwait         *mwait // what polledAt polls, if it is an mbarrier; else nil or of another place
	begins        bool   // the round at whose start it is: see Options.Round
}

// join is a place where lanes that diverged reconverge.
type join struct {
	pc      int32
	frame   *frame
	parent  *join
	live    uint32 // lanes that will arrive or have arrived
	arrived uint32
	depth   int32
	owns    *frame // freed with the join: the callee whose return this is

	explore *exploration // of a trace: the two paths that it takes one after the other
	maybe   bool         // the code before the join is on such a path
}

// Limits of patience, in back edges. They affect speed and convergence only.
const (
	rotateEdges  = 64   // a fragment lets another one of its warp run
	spinEdges    = 8    // spinning iterations after which waiting lanes are released
	patientEdges = 4096 // the same for iterations that do not look like spinning
)

// pool holds unused fragments, frames and joins for reuse.
type pool struct {
	frags  []*fragment
	frames [][]*frame // by function
	joins  []*join
}

// newFragment returns a fragment at pc of frame f for the lanes of mask, below join j.
func (x *exec) newFragment(pc int32, mask uint32, f *frame, j *join) *fragment {
	var g *fragment
	if n := len(x.pool.frags); n > 0 {
		g = x.pool.frags[n-1]
		x.pool.frags = x.pool.frags[:n-1]
		*g = fragment{}
	} else {
		g = new(fragment)
	}
	g.pc, g.mask, g.frame, g.join, g.wrote = pc, mask, f, j, true
	return g
}

// freeFragment keeps a fragment for reuse.
func (x *exec) freeFragment(g *fragment) { x.pool.frags = append(x.pool.frags, g) }

// newJoin returns a join at pc of frame f for the lanes of mask, below the current join.
func (x *exec) newJoin(pc int32, f *frame, mask uint32) *join {
	var j *join
	if n := len(x.pool.joins); n > 0 {
		j = x.pool.joins[n-1]
		x.pool.joins = x.pool.joins[:n-1]
	} else {
		j = new(join)
	}
	*j = join{pc: pc, frame: f, parent: x.join, live: mask}
	if x.join != nil {
		j.depth, j.maybe = x.join.depth+1, x.join.maybe
	}
	return j
}

// freeJoin keeps a join, and the frame it owns, for reuse.
func (x *exec) freeJoin(j *join) {
	if j.owns != nil {
		x.freeFrame(j.owns)
	}
	x.pool.joins = append(x.pool.joins, j)
}

// load makes g the current fragment.
func (x *exec) load(g *fragment) {
	x.frag = g
	x.pc, x.mask, x.join = g.pc, g.mask, g.join
	x.polled, x.wrote, x.polledAt = g.polled, g.wrote, g.polledAt
	x.warp.ran |= g.mask
	x.enter(g.frame)
	x.converge()
}

// enter makes f the current frame.
func (x *exec) enter(f *frame) {
	x.frame, x.code, x.regs, x.preds, x.forms = f, f.fn.code, f.regs, f.preds, f.forms
	if x.unk != nil {
		x.unk.regs, x.unk.preds, x.unk.origin, x.unk.lanes = f.unk, f.punk, f.origin, int32(f.fn.lanes)
		x.unk.bits = f.bits
	}
}

// save writes the current state back into the current fragment.
func (x *exec) save() {
	g := x.frag
	g.pc, g.mask, g.join, g.frame = x.pc, x.mask, x.join, x.frame
	g.polled, g.wrote, g.polledAt = x.polled, x.wrote, x.polledAt
}

// next loads the next fragment that can run, or ends the turn.
func (x *exec) next() {
	w := x.warp
	n := len(w.ready)
	if n == 0 {
		x.frag = nil
		x.endTurn()
		return
	}
	g := w.ready[n-1]
	w.ready = w.ready[:n-1]
	x.load(g)
}

// converge sends a Converge event if the active set has changed; lockstep only.
func (x *exec) converge() {
	if !x.lockstep || x.warp.active == x.mask {
		return
	}
	x.warp.active = x.mask
	if x.sink != nil {
		x.evs.converge = event.Converge{Warp: x.warp.id, Mask: x.mask}
		x.sink.Converge(&x.evs.converge)
	}
}

// joinFor returns the join for lanes that diverge now and reconverge at pc. If the current join is
// at the same place, as for a loop's exit, it is shared.
func (x *exec) joinFor(pc int32) *join {
	if j := x.join; pc == noPC || j != nil && j.pc == pc && j.frame == x.frame {
		return j
	}
	return x.newJoin(pc, x.frame, x.mask)
}

// runBranch is bra: the lanes of x.m take it.
func runBranch(x *exec, in *inst) {
	switch {
	case x.m == x.mask || in.target == x.pc:
		x.pc = in.target
	default:
		x.diverge(in.target, in.join)
	}
	if in.back && x.pc == in.target {
		x.backEdge()
	}
}

// diverge sends the lanes of x.m to pc target and the other lanes of the fragment to the next
// instruction. Which path runs first is random.
func (x *exec) diverge(target, joinPC int32) {
	rest := x.mask &^ x.m
	j := x.joinFor(joinPC)
	x.join = j
	// Lanes whose path starts at the reconvergence point have arrived there already.
	switch joinPC {
	case target: // noPC is no target
		j.arrived |= x.m
		x.mask = rest
	case x.pc:
		j.arrived |= rest
		x.mask, x.pc = x.m, target
	default:
		other := x.newFragment(x.pc, rest, x.frame, j)
		first := target
		if x.random()&1 != 0 {
			other.pc, other.mask = target, x.m
			first, x.m = x.pc, rest
		}
		x.warp.ready = append(x.warp.ready, other)
		x.mask, x.pc = x.m, first
	}
	x.converge()
}

// runJoin is emitted at the start of a block where lanes reconverge. It is not an instruction of
// the kernel.
func runJoin(x *exec, in *inst) {
	x.uncount()
	if j := x.join; j != nil && j.pc == in.pc && j.frame == x.frame {
		x.arrive(j)
	}
}

// runJump continues at a block that does not follow in the code. It is not an instruction of the
// kernel.
func runJump(x *exec, in *inst) {
	x.uncount()
	x.pc = in.target
	if in.back {
		x.backEdge()
	}
}

// uncount reverts the step count for an instruction that the kernel does not have.
func (x *exec) uncount() {
	x.steps--
	x.lanes -= uint64(popcount(x.m))
}

// arrive moves the current fragment to join j, its innermost.
func (x *exec) arrive(j *join) {
	j.arrived |= x.mask
	if j.arrived == j.live {
		if j.explore != nil && x.explored(j) {
			return
		}
		x.mask, x.join, x.pc = j.live, j.parent, j.pc
		x.warp.ran |= j.live
		if x.frame != j.frame {
			x.enter(j.frame)
		}
		x.freeJoin(j)
		x.converge()
		return
	}
	x.freeFragment(x.frag)
	x.next()
}

// complete makes a ready fragment of the lanes that have arrived at j, if none is missing.
func (x *exec) complete(j *join) {
	if j.arrived != j.live || j.live == 0 {
		return
	}
	x.warp.ready = append(x.warp.ready, x.newFragment(j.pc, j.live, j.frame, j.parent))
	x.freeJoin(j)
}

// forget removes lanes that have ended from joins, from j outwards.
func (x *exec) forget(j *join, lanes uint32) {
	for j != nil {
		up := j.parent
		j.live &^= lanes
		if j.live == 0 {
			x.freeJoin(j)
		} else {
			x.complete(j)
		}
		j = up
	}
}

// release makes a ready fragment of the lanes that wait at j.
func (x *exec) release(j *join) {
	g := x.newFragment(j.pc, j.arrived, j.frame, j.parent)
	j.live &^= j.arrived
	j.arrived = 0
	x.warp.ready = append(x.warp.ready, g)
}

// releaseInnermost releases lanes that wait for fragments which cannot run, at the deepest join. It
// reports whether there were any.
func (x *exec) releaseInnermost() bool {
	var best *join
	for _, g := range x.warp.waiting {
		for j := g.join; j != nil; j = j.parent {
			if j.arrived != 0 && j.explore == nil && (best == nil || j.depth > best.depth) {
				best = j
			}
		}
	}
	if best == nil {
		return false
	}
	x.release(best)
	return true
}

// backEdge is called on each backward jump. Here a fragment yields to the others, and the turn ends
// if the whole warp only spins.
func (x *exec) backEdge() {
	g, w := x.frag, x.warp
	g.edges++
	spun := x.polled && !x.wrote
	x.polled, x.wrote = false, false
	if spun {
		g.spins++
		w.spins++
	} else {
		g.spins, w.spins = 0, 0
		if g.edges%rotateEdges != 0 {
			return
		}
	}
	if !x.lockstep {
		if g.spins >= spinEdges || g.edges >= patientEdges {
			g.edges, g.spins = 0, 0
			for j := x.join; j != nil; j = j.parent {
				if j.arrived != 0 && j.explore == nil {
					x.release(j)
				}
			}
		}
		if len(w.ready) > 0 {
			x.rotate()
		}
	}
	// Every fragment of the warp has spun since one of them made progress: let other warps run.
	if spun && (x.lockstep || w.spins > len(w.ready)) {
		x.spinning = true
		x.endTurn()
	}
}

// rotate moves the current fragment behind all others of its warp.
func (x *exec) rotate() {
	w := x.warp
	x.save()
	g := x.frag
	w.ready = append(w.ready, nil)
	copy(w.ready[1:], w.ready)
	w.ready[0] = g
	x.next()
}

// isolate keeps only the lanes of keep in the current fragment, whose current instruction is in.
// Lanes with a false guard continue after the instruction; the remaining lanes (with different
// operands) will execute it separately. All reconverge after it.
func (x *exec) isolate(in *inst, keep uint32) {
	if keep == x.mask {
		x.m = keep
		return
	}
	off := x.mask &^ x.m
	rest := x.m &^ keep
	j := x.joinFor(in.pc + 1)
	x.join = j
	j.arrived |= off
	if rest != 0 {
		x.warp.ready = append(x.warp.ready, x.newFragment(in.pc, rest, x.frame, j))
	}
	x.mask, x.m = keep, keep
	x.converge()
}

// runExit ends the lanes of x.m.
func runExit(x *exec, in *inst) { x.exit(x.m) }

// exit ends lanes: joins, barriers and warp operations stop waiting for them.
func (x *exec) exit(lanes uint32) {
	w := x.warp
	if (x.prog.traced || x.block.cluster != nil) && x.block.live == 1 && w.alive()&^lanes == 0 {
		x.drainSignals(x.block)
	}
	w.exited |= lanes
	x.gone |= lanes
	if x.sink != nil {
		x.evs.exit = event.Exit{Warp: w.id, Mask: lanes}
		x.sink.Exit(&x.evs.exit)
	}
	x.forget(x.join, lanes)
	x.mask &^= lanes
	x.exitedAtBarriers(w)
	x.exitedAtWarpSync(w)
	x.exitedAtCluster(w)
	if x.mask == 0 {
		x.freeFragment(x.frag)
		x.next()
	}
	if w.alive() == 0 {
		x.freeFrame(w.root)
	}
}

// suspend makes the current fragment wait. What runs next is up to the caller.
func (x *exec) suspend(v wait) {
	x.save()
	x.frag.wait = v
	x.warp.waiting = append(x.warp.waiting, x.frag)
	x.frag = nil
}

// waitSite is the instruction at which the fragment waits.
func (g *fragment) waitSite() event.Site { return g.frame.ctx.base + event.Site(g.wait.in.index) }

// take removes the waiting fragments that match, and returns them. The list is valid until the next
// call.
func (x *exec) take(w *warp, match func(*fragment) bool) []*fragment {
	group, keep := x.group[:0], w.waiting[:0]
	for _, g := range w.waiting {
		if match(g) {
			group = append(group, g)
		} else {
			keep = append(keep, g)
		}
	}
	w.waiting, x.group = keep, group
	return group
}

// merge joins fragments at one place that were released by one event.
func (x *exec) merge(list []*fragment) []*fragment {
	out := list[:0]
next:
	for _, g := range list {
		for _, h := range out {
			if h.pc == g.pc && h.frame == g.frame && h.join == g.join {
				h.mask |= g.mask
				x.freeFragment(g)
				continue next
			}
		}
		out = append(out, g)
	}
	return out
}

// frame is an activation of a function by a set of lanes.
type frame struct {
	fn     *fcode
	ctx    *callCtx
	parent *frame
	regs   []alu.Lanes
	forms  []affine
	preds  []uint32
	cc     uint32
	params []byte // ParamSize bytes for each lane
	local  int    // start of its local variables in the lane's local memory
	stack  int    // bytes that alloca has allocated behind them
	depth  int
	ret    *callOp // the call that made it; nil for the kernel

	uses []regUse // of watched registers

	// Only if unknown values are tracked.
	unk    []uint32 // lanes of each register whose value is unknown
	punk   []uint32 // the same for predicates
	ccUnk  uint32
	ccFrom uint32   // origin of an unknown carry flag
	origin []uint32 // origin of the last unknown value of each register, then of each predicate
	bits   []uint64 // see tracker
	parUnk []bool   // bytes of params
}

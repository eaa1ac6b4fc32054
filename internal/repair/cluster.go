package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Steps for the beginning and the end of a kernel that uses mbarriers or the memory of other
// blocks: the barrier behind the initialization of mbarriers, and those of the cluster that keep
// the memory of its blocks there.

// The barrier of a cluster, by its halves. Without .aligned the lanes of a warp may execute it
// apart.
const (
	clusterArrive = "barrier.cluster.arrive;"
	clusterWait   = "barrier.cluster.wait;"
	clusterBoth   = clusterArrive + "\n\t" + clusterWait
	initFence     = "fence.mbarrier_init.release.cluster;"
)

// isInit reports whether an instruction makes an mbarrier.
func isInit(in *ir.Instr) bool {
	if in == nil {
		return false
	}
	b, ok := in.Barrier()
	return ok && b.Object == isa.MBarrier && b.Kind == isa.BarrierInit
}

// published offers what makes the initialization of mbarriers known to other threads: a fence in
// front of a relaxed barrier of the cluster that exists, and the barrier of the block or the
// cluster behind the last initialization, at the first place that all threads reach.
func (r *repairer) published() []action {
	var last *ir.Instr
	var out []action
	cluster := Clustered(r.x.k.Func)
	for _, b := range r.x.k.Func.Blocks {
		for i, in := range b.Instrs {
			if isInit(in) {
				last = in
			}
			if bar, ok := in.Barrier(); ok && last != nil && bar.Object == isa.ClusterBarrier &&
				bar.Kind == isa.BarrierArrive && !bar.Order.Releases() {
				what := initFence[:len(initFence)-1]
				out = append(out, r.insertion(Point{b.ID, i}, initFence, what, fenceCost))
			}
		}
	}
	if last == nil {
		return nil
	}
	if cluster {
		out = append(out, r.missingHalves()...)
	}
	for _, p := range r.together(last) {
		if cluster {
			out = append(out, r.clusterBarrier(p))
		} else {
			out = append(out, r.x.barrierAction(r.opt.Cost, p))
		}
	}
	return out
}

// together returns the first place behind an instruction that all threads reach, and the first one
// in front of which another instruction uses an mbarrier.
func (r *repairer) together(in *ir.Instr) []Point {
	at := r.x.where(in)
	if r.x.flow.uniform[at.Block] {
		return []Point{{at.Block, at.Index + 1}}
	}
	var out []Point
	for _, id := range r.x.flow.rpo {
		if id != at.Block && r.x.flow.uniform[id] && r.x.flow.post[at.Block].has(id) {
			out = append(out, Point{Block: id})
		}
	}
	return out[:min(len(out), 2)]
}

// clusterBarrier offers both halves of the barrier of the cluster at a place.
func (r *repairer) clusterBarrier(p Point) action {
	return r.insertion(p, clusterBoth, "barrier.cluster.arrive and barrier.cluster.wait", 1)
}

// lives offers what keeps the memory of the blocks of a cluster there: its barrier at every exit,
// and in front of the first access to the memory of another block; and the half of a barrier that
// lacks the other.
func (r *repairer) lives(f located) []action {
	var out []action
	switch f.Kind {
	case ClusterUse:
		return r.halves()
	case NotStarted:
		out = append(out, r.clusterBarrier(Point{Block: r.x.k.Func.Blocks[0].ID, Index: r.first()}))
	case MayHaveEnded:
		out = append(out, r.atExits())
	}
	return append(out, r.missingHalves()...)
}

// first is the index in the first block in front of what any thread does to memory or barriers, but
// behind the initialization of mbarriers there.
func (r *repairer) first() int {
	list := r.x.k.Func.Blocks[0].Instrs
	n := slices.IndexFunc(list, func(in *ir.Instr) bool { return !isInit(in) && touches(in) })
	if n < 0 {
		n = len(list)
		if n > 0 && list[n-1].IsTerminator() {
			n--
		}
	}
	return n
}

// touches reports whether an instruction accesses shared or global memory, or synchronizes.
func touches(in *ir.Instr) bool { return !quiet([]*ir.Instr{in}) }

// atExits is the barrier of the cluster in front of every exit that no guard leads to. A thread
// that exits elsewhere counts as arrived (PTX ISA 9.7.13.3).
func (r *repairer) atExits() action {
	at := r.exits()
	if len(at) == 0 {
		return action{key: "exits", add: func(*Plan) {}}
	}
	a := r.clusterBarrier(at[0])
	a.key = "exits"
	a.what.What += " at the end"
	a.add = func(pl *Plan) {
		for _, p := range at {
			pl.Inserts = append(pl.Inserts, Insert{At: p, Text: clusterBoth})
		}
	}
	return a
}

// exits are the places in front of the exits that no guard leads to.
func (r *repairer) exits() []Point {
	var out []Point
	for _, b := range r.x.k.Func.Blocks {
		t := b.Terminator()
		if ends(b) && (t == nil || t.Guard == ir.NoReg) {
			out = append(out, r.x.beforeEnd(b.ID))
		}
	}
	return out
}

// missingHalves is halves for a kernel with more arrivals than waits, or fewer.
func (r *repairer) missingHalves() []action {
	n := 0
	for _, b := range r.x.k.Func.Blocks {
		for _, in := range b.Instrs {
			if bar, ok := in.Barrier(); ok && bar.Object == isa.ClusterBarrier {
				if n--; bar.Kind == isa.BarrierArrive {
					n += 2
				}
			}
		}
	}
	if n == 0 {
		return nil
	}
	return r.halves()
}

// halves offers a wait behind each arrival at the barrier of the cluster, and an arrival in front
// of each wait.
func (r *repairer) halves() []action {
	var out []action
	for _, b := range r.x.k.Func.Blocks {
		for i, in := range b.Instrs {
			bar, ok := in.Barrier()
			if !ok || bar.Object != isa.ClusterBarrier {
				continue
			}
			if bar.Kind == isa.BarrierArrive {
				out = append(out, r.insertion(Point{b.ID, i + 1}, clusterWait, "barrier.cluster.wait", 0.5))
			} else {
				out = append(out, r.insertion(Point{b.ID, i}, clusterArrive, "barrier.cluster.arrive", 0.5))
			}
		}
	}
	return out
}

// ordered offers the barrier of the cluster between two accesses to the memory of one of its
// blocks: the missing half of one, or both at the places near the accesses that all threads reach.
func (r *repairer) ordered(f located) []action {
	if f.Reach != AcrossBlocks || !Clustered(r.x.k.Func) {
		return nil
	}
	out := r.missingHalves()
	for _, in := range r.sidesOf(f) {
		for _, p := range r.x.near(in) {
			if r.x.flow.uniform[p.Block] {
				out = append(out, r.clusterBarrier(p))
			}
		}
	}
	return out
}

// strengthened offers to make what orders nothing, or nothing that far, order memory: a relaxed
// arrival or wait at an mbarrier or at the barrier of the cluster, one at the scope of the block
// where threads of two blocks race, and an arrival of one lane for the others, without a barrier of
// the warp in front.
func (r *repairer) strengthened(f located) []action {
	var out []action
	for _, b := range r.x.k.Func.Blocks {
		for i, in := range b.Instrs {
			bar, ok := in.Barrier()
			if !ok || bar.Object != isa.ClusterBarrier && bar.Object != isa.MBarrier {
				continue
			}
			to, arrives := "", false
			switch bar.Kind {
			case isa.BarrierArrive, isa.BarrierDrop:
				to, arrives = "release", true
			case isa.BarrierWait, isa.BarrierTest:
				to = "acquire"
			}
			if i := slices.Index(in.Mods, "relaxed"); i >= 0 && to != "" {
				out = append(out, r.modified(in, i, to))
			}
			if i := slices.Index(in.Mods, "cta"); i >= 0 && f.Reach == AcrossBlocks {
				out = append(out, r.modified(in, i, "cluster"))
			}
			if arrives && bar.Object == isa.MBarrier && in.Guard != ir.NoReg {
				a := r.insertion(Point{b.ID, i}, "bar.warp.sync \t-1;", "a warp barrier", warpCost)
				out = append(out, a)
			}
		}
	}
	return out
}

// modified is the action that exchanges a modifier of an instruction.
func (r *repairer) modified(in *ir.Instr, i int, to string) action {
	mods := slices.Clone(in.Mods)
	mods[i] = to
	text := r.respell(in, opcode(in, mods))
	return action{
		key: fmt.Sprint(to, " ", in.Index), cost: widenCost * r.x.aloneCost(r.opt.Cost, r.x.where(in)),
		add:  func(pl *Plan) { pl.Texts[in.Index] = text },
		what: Change{What: fmt.Sprintf(".%s becomes .%s", in.Mods[i], to), At: in, Old: true},
	}
}

// opcode is the opcode of an instruction with other modifiers.
func opcode(in *ir.Instr, mods []string) string {
	return strings.Join(append([]string{first(in.Op())}, mods...), ".")
}

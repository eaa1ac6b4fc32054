package repair

import (
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// A proxy fence makes what a thread has accessed through the generic proxy known to asynchronous
// operations (PTX ISA 9.7.13.4). It belongs behind the access and in front of what synchronizes the
// thread with the one that issues the operation: there it is by the thread of the access, and one
// fence covers all accesses before it.

// proxyFenceCost is the cost of a proxy fence relative to a block barrier at the same place.
const proxyFenceCost = 0.5

// proxyFences offers proxy fences behind the ordinary access of a finding: in front of what
// synchronizes next, and directly behind the access. The cheapest place comes first.
func (r *repairer) proxyFences(f located) []action {
	if f.a == nil || f.Memory == "" {
		return nil
	}
	name := r.proxyFence(f.Memory)
	var out []action
	places := r.behind(f.a)
	if waits := r.waitsFor(f.a); waits != nil {
		places = waits
	}
	for _, p := range places {
		out = append(out, r.insertion(p, name+";", name, proxyFenceCost))
	}
	slices.SortStableFunc(out, byCost)
	return out
}

// halfFence is a release of the shared memory of a block between the proxies (PTX ISA 9.7.13.4).
const halfFence = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster"

// proxyFence is the fence for some memory: half of one for that of the own block, in a kernel that
// uses halves.
func (r *repairer) proxyFence(memory string) string {
	if memory == "shared::cta" {
		for _, b := range r.x.k.Func.Blocks {
			for _, in := range b.Instrs {
				if u, ok := in.Fence(); ok && u.Proxy == isa.AsyncProxy && u.Release && !u.Acquire {
					return halfFence
				}
			}
		}
	}
	return "fence.proxy.async." + memory
}

// waitsFor returns the places behind the waits for an asynchronous copy or store whose accesses are
// through the generic proxy: it has made them when its thread, or another one, has waited. It is
// nil for any other access.
func (r *repairer) waitsFor(in *ir.Instr) []Point {
	if in.Action() != isa.ActCopy && in.Action() != isa.ActAsyncStore {
		return nil
	}
	var out []Point
	for _, b := range r.x.k.Func.Blocks {
		for i, w := range b.Instrs {
			use, tracks := w.Async(len(w.Src))
			bar, _ := w.Barrier()
			switch {
			case tracks && use.Step == isa.AsyncWait && use.Track == isa.CopyGroups:
				out = append(out, Point{b.ID, i + 1})
			case bar.Kind == isa.BarrierTest && bar.Object == isa.MBarrier:
				out = append(out, r.passed(w)...)
			}
		}
	}
	return out
}

// passed returns the places at which a thread goes on behind the loop that repeats a test.
func (r *repairer) passed(in *ir.Instr) []Point {
	at := r.x.where(in)
	l := r.x.flow.loops.Of[at.Block]
	if l == nil {
		return []Point{{at.Block, at.Index + 1}}
	}
	var out []Point
	for _, s := range r.x.k.Func.Block(at.Block).Succs {
		if s != at.Block && r.x.flow.dom.Dominates(at.Block, s) {
			out = append(out, Point{Block: s})
		}
	}
	return out
}

// behind returns the places in front of the instructions by which a thread synchronizes next after
// an access, as far as every thread that makes the access gets there, and the place directly behind
// the access.
func (r *repairer) behind(in *ir.Instr) []Point {
	at := r.x.where(in)
	var out []Point
	seen := newSet(len(r.x.k.Func.Blocks))
	var walk func(id ir.BlockID, from int)
	walk = func(id ir.BlockID, from int) {
		b := r.x.k.Func.Block(id)
		for i := from; i < len(b.Instrs); i++ {
			if !synchronizes(b.Instrs[i]) {
				continue
			}
			if id == at.Block || r.x.flow.post[at.Block].has(id) {
				out = append(out, Point{id, i})
			}
			return
		}
		for _, s := range b.Succs {
			if !seen.has(s) {
				seen.add(s)
				walk(s, 0)
			}
		}
	}
	walk(at.Block, at.Index+1)
	next := Point{at.Block, at.Index + 1}
	if !slices.Contains(out, next) {
		out = append(out, next)
	}
	return out
}

// synchronizes reports whether other threads, or an asynchronous operation, may learn by an
// instruction what its thread has done.
func synchronizes(in *ir.Instr) bool {
	if b, ok := in.Barrier(); ok {
		switch b.Kind {
		case isa.BarrierSync, isa.BarrierReduce, isa.BarrierArrive, isa.BarrierDrop:
			return true
		}
	}
	switch in.Action() {
	case isa.ActFence, isa.ActPartialFence, isa.ActBulkCopy, isa.ActAsyncStore, isa.ActMatrixAsync:
		return true
	}
	return in.IsWarpBarrier() || in.IsCall() || isStrong(in)
}

package lockstep

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// synchronize executes barriers and the instructions of a warp.
func (x *exec) synchronize(in *ir.Instr, st *state) {
	if in.Row.Category == isa.WarpOp && !x.k.Tagged(in) {
		x.waitForLanes(in, st)
		x.approximate(fmt.Sprintf("%s is modelled without ordering and with unknown results", in.Op()))
		x.setUnknown(in, symbol.Private, st)
		return
	}
	if !x.k.Tagged(in) {
		what := " other than barrier 0 of all threads"
		if b, _ := in.Barrier(); b.Object != isa.NumberedBarrier {
			what = ""
		}
		thread.Unsupported(in, "%s%s is not covered by proofs (heddle trace covers it)", in.Text(), what)
	}
	block := kernel.IsBlockBarrier(in)
	if block && x.k.Orders(in) != event.OrdersNone {
		x.settled(in, st)
	}
	at := x.instance(in)
	if x.final {
		x.end(x.endAt(in, at, st), st, block, in.Grid)
	}
	if x.waitForLanes(in, st); block {
		x.wait(in, thread.Wait{}, st)
	}
	x.mem.Pass(&st.mem, at, func(part int) bool { return x.k.EndsInterval(in, part) })
	x.mem.Barrier(in, &st.mem)
	x.notes.Barrier(site{x, in, st}, block)
	x.setUnknown(in, symbol.Block, st) // a reduction gives all threads of the block the same value
}

// betweenHalves looks for accesses and barriers between the halves of a split barrier of the block,
// and for halves without another. It is lowered to its second half, which orders more: threads may
// do at one time what lies between the halves, what precedes the first half of others and what
// follows their second (CUDA C++ Programming Guide, "barrier_arrive and barrier_wait"). The guide
// also forbids other collective operations of the group between the halves. Kernels that do any of
// this are not verified. A barrier of the grid waits for its counter between the halves, which nothing
// else accesses.
func betweenHalves(th *Thread) error {
	var arrivals, barriers []*ir.Instr
	for _, b := range th.Func.Blocks {
		for _, in := range b.Instrs {
			switch {
			case kernel.IsBlockBarrier(in):
				barriers = append(barriers, in)
			case in.Split:
				if in.Guard != ir.NoReg {
					return &UnsupportedError{Instr: in, What: "a barrier_arrive of some threads"}
				}
				arrivals = append(arrivals, in)
			}
		}
	}
	waits := func(b *ir.Instr) bool { return b.Split }
	if len(arrivals) == 0 && !slices.ContainsFunc(barriers, waits) {
		return nil
	}
	paths := ir.NewPaths(th.Func)
	arrives := func(in *ir.Instr) bool { return slices.Contains(arrivals, in) }
	for _, in := range arrivals {
		for i := range th.Accesses {
			at := th.Accesses[i].Instr
			if changes(th, &th.Accesses[i]) && paths.ReachesPast(in, at, kernel.IsBlockBarrier) {
				return &UnsupportedError{Instr: at, What: "an access between barrier_arrive and barrier_wait"}
			}
		}
		for _, b := range slices.Concat(arrivals, barriers) {
			if !(kernel.IsBlockBarrier(b) && b.Split) && paths.ReachesPast(in, b, kernel.IsBlockBarrier) {
				return &UnsupportedError{Instr: b, What: "a barrier between barrier_arrive and barrier_wait"}
			}
		}
	}
	for _, b := range barriers {
		if !b.Split {
			continue
		}
		arrived := func(in *ir.Instr) bool { return paths.Dominates(in, b) }
		again := func(from *ir.Instr) bool { return paths.ReachesPast(from, b, arrives) }
		if !slices.ContainsFunc(arrivals, arrived) || slices.ContainsFunc(barriers, again) {
			return &UnsupportedError{Instr: b, What: "a barrier_wait without a barrier_arrive on each path"}
		}
	}
	return nil
}

// gridCounter is the counter of the barrier of the grid in cooperative_groups.h.
const gridCounter = "__heddle_grid_arrived"

// changes reports whether the kernel may write the array of an access.
func changes(th *Thread, a *thread.Access) bool {
	if a.Object != nil && strings.Contains(a.Object.Name, gridCounter) {
		return false
	}
	return slices.ContainsFunc(th.Accesses, func(w thread.Access) bool {
		return w.Kind.Writes() && (a.Object == nil || w.Object == nil || w.Object == a.Object)
	})
}

// endAt is the end of an interval of the block at a barrier instance.
func (x *exec) endAt(in *ir.Instr, at []smt.Term, st *state) thread.End {
	return thread.End{
		Instr: in, Guard: x.c.And(x.here(st), x.guard), Bare: x.bare(st, x.guard),
		Start: x.mem.Tag(&st.mem, event.OrdersAll), At: thread.TagOf(at), Orders: x.k.Orders(in),
		Iters: x.Counters(), Place: x.Place(in),
	}
}

// merge passes the merge point at the start of a block, in lock step: it records one where all lanes
// of the warp may merge, and makes one where they do the last of the thread.
func (x *exec) merge(b *ir.Block, st *state) {
	if x.k.MayMerge(b.ID) && x.final {
		in := b.Instrs[0]
		w := x.waiting(in, thread.Wait{Mask: x.c.Const(allLanes, 32), Warp: true, All: true}, smt.True, st)
		x.th.Merges = append(x.th.Merges, thread.Merge{Block: b.ID, Wait: w})
	}
	if x.k.Merges(b.ID) {
		x.mem.Merge(&st.mem, x.tag(uint64(thread.ExitTag)-1-uint64(b.ID)))
	}
}

// instance is the tag of a barrier in this iteration of the loops around.
func (x *exec) instance(in *ir.Instr) []smt.Term { return x.tag(uint64(in.Index) + 1) }

// tag is the tag of a place, by its number, in this iteration of the loops around.
func (x *exec) tag(number uint64) []smt.Term {
	at := []smt.Term{x.c.Const(number, thread.TagWidth)}
	for _, l := range x.k.TagLoops() {
		it := x.c.Const(0, thread.TagWidth)
		for _, around := range x.around {
			if around == l {
				it = x.loops.Of(l).Counter
			}
		}
		at = append(at, it)
	}
	return at
}

// settled refuses a barrier at which a copy may be pending.
func (x *exec) settled(barrier *ir.Instr, st *state) {
	if len(st.copies) > 0 && !x.settling {
		thread.Unsupported(st.copies[0].call,
			"a work-group copy that may be pending at a barrier")
	}
	if copies := x.k.Pending(barrier); len(copies) > 0 {
		thread.Unsupported(copies[0], "%s that may be pending at a barrier", copies[0].Text())
	}
}

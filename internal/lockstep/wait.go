package lockstep

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// allLanes is the mask of all lanes of a warp.
const allLanes = 1<<32 - 1

// wait notes that the thread waits at an instruction; w has the mask of an operation of a warp.
func (x *exec) wait(in *ir.Instr, w thread.Wait, st *state) {
	if x.final {
		x.th.Waits = append(x.th.Waits, x.waiting(in, w, x.guard, st))
	}
}

// waiting fills in where a thread waits, and under which conditions.
func (x *exec) waiting(in *ir.Instr, w thread.Wait, guard smt.Term, st *state) thread.Wait {
	w.Instr, w.Iters, w.Place = in, x.Counters(), x.Place(in)
	for _, l := range x.around {
		w.Entered = append(w.Entered, x.loops.Of(l).Entry())
	}
	w.Guard, w.Bare = x.c.And(x.here(st), guard), x.bare(st, guard)
	return w
}

// waitForLanes notes an operation of a warp: that it waits for the lanes of its mask, and what its
// result says of them.
func (x *exec) waitForLanes(in *ir.Instr, st *state) {
	use, ok := in.Warp(len(in.Src))
	if !ok || !x.final {
		return
	}
	mask, all := x.c.Const(allLanes, 32), use.All
	if use.Mask >= 0 {
		mask = x.read(in.Src[use.Mask], 32, st)
		all = all || x.f.WholeWarp(&in.Src[use.Mask])
	}
	if use.Waits {
		x.wait(in, thread.Wait{Mask: mask, Warp: true, All: all}, st)
	}
	if use.Mask >= 0 || in.Action() == isa.ActActiveMask {
		x.gathered(in, mask, st)
	}
	if in.Action() == isa.ActShuffle && use.Waits && in.Fn == isa.FnIdx {
		x.shuffled(in, mask, st)
	}
}

// shuffled notes what the lanes give each other by shfl.sync.idx: the source is the lane of operand
// b within the segment of the reading lane, which bits 8 to 12 of operand c select. It is always
// within the segment if bits 0 to 4 of c, the highest number of a lane, are all set.
func (x *exec) shuffled(in *ir.Instr, mask smt.Term, st *state) {
	c := x.c
	clamp, fixed := c.Value(x.read(in.Src[2], 32, st))
	if !fixed || clamp&31 != 31 {
		return
	}
	source := x.read(in.Src[1], 32, st)
	if segment := clamp >> 8 & 31; segment != 0 {
		source = c.BvOr(c.BvAnd(x.th.Linear(), c.Const(segment, 32)),
			c.BvAnd(source, c.Const(31&^segment, 32)))
	}
	if x.th.Shuffles == nil {
		x.th.Shuffles = map[string]thread.Shuffle{}
	}
	x.th.Shuffles[fmt.Sprintf("%sr%d.0", symbol.Private, in.Index)] = thread.Shuffle{
		Instr: in, Guard: c.And(x.here(st), x.guard), Bare: x.bare(st, x.guard), Mask: mask,
		Source: source, Value: x.read(in.Src[0], 32, st), Iters: x.Counters(),
	}
}

// gathered notes what the first result of an operation of a warp says of its lanes.
func (x *exec) gathered(in *ir.Instr, mask smt.Term, st *state) {
	g := thread.Gathered{Mask: mask, Bare: x.bare(st, x.guard), Iters: x.Counters()}
	switch in.Action() {
	case isa.ActActiveMask:
		g.Kind = thread.Active
	case isa.ActVote:
		if g.Kind = thread.Common; in.Fn == isa.FnBallot {
			g.Kind, g.Pred = thread.Ballot, x.read(in.Src[0], 0, st)
		}
	case isa.ActMatch:
		if g.Kind = thread.Match; in.Fn == isa.FnAll {
			g.Kind = thread.Common
		}
	case isa.ActWarpReduce:
		g.Kind = thread.Common
	default:
		return
	}
	if x.th.Gathered == nil {
		x.th.Gathered = map[string]thread.Gathered{}
	}
	x.th.Gathered[fmt.Sprintf("%sr%d.0", symbol.Private, in.Index)] = g
}

// own notes an access of the thread to memory that no other thread writes.
func (x *exec) own(in *ir.Instr, places []memory.Place, st *state) {
	if !x.final || st.notes.Ghost() != smt.False {
		return
	}
	for _, p := range places {
		if p.Object == nil || p.Object.Field == memory.Itself {
			continue
		}
		a := x.access(in, p.Object, p.Object.Space, st)
		a.Guard = x.c.And(x.here(st), x.guard, p.Cond)
		a.Offset, a.Size = p.Offset, in.Type.Size()*max(int(in.Vec), 1)
		if a.Guard != smt.False {
			x.th.Own = append(x.th.Own, a)
		}
	}
}

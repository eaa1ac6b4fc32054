package lockstep

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// async_work_group_copy of OpenCL (OpenCL C 3.0, 6.15.11): all work-items come to it with the same arguments, the copy is
// made by nobody in particular at some time up to the wait for its event, and waits are no barriers. What it is lowered
// to says where these things are, by calls:
//
//	__heddle_collective(to, from, n, step)  all work-items are to come here, with these arguments
//	__heddle_share(...)                     see share.go
//	__heddle_event(e)                       the copy's event: e, or one of its own if that is null
//	__heddle_await(e)                       it is waited for
//	__heddle_awaited(n)                     for n events in all; the barrier that follows is the wait, which orders nothing here
//
// An access of the copy is one of the barrier interval in which it is issued, which is right if the wait lies in the same interval. It
// conflicts with what all other threads do there, before the copy and behind the wait too.

// groupCopy is one that may be under way.
type groupCopy struct {
	call  *ir.Instr
	event smt.Term // undef: not known
}

const (
	collectiveCall = annotationPrefix + "collective"
	shareCall      = annotationPrefix + "share"
)

// calls reports whether the kernel calls a function of that name.
func (x *exec) calls(name string) bool {
	for _, b := range x.f.Blocks {
		for _, in := range b.Instrs {
			if isCallOf(in, name) {
				return true
			}
		}
	}
	return false
}

func isCallOf(in *ir.Instr, name string) bool {
	return in.Op() == "call" && in.Callee != nil && in.Callee.Name == name
}

// findWaits finds the barriers that are waits for copies. Each stands right behind its call.
func (x *exec) findWaits() {
	x.waits = map[*ir.Instr]bool{}
	for _, b := range x.f.Blocks {
		var call *ir.Instr
		for _, in := range b.Instrs {
			switch {
			case isCallOf(in, annotationPrefix+"awaited"):
				call = in
			case call != nil && isBlockBarrier(in):
				x.waits[in], call = true, nil
			}
		}
		if call != nil {
			x.unsupported(call, "a wait for copies of the work-group that is not as heddle writes it")
		}
	}
}

// ordersOf is what a barrier orders in a proof.
func (x *exec) ordersOf(in *ir.Instr) event.Orders {
	if x.waits[in] {
		return event.OrdersNone
	}
	return in.Orders
}

// copying executes these calls; it reports false for others.
func (x *exec) copying(name string, in *ir.Instr, st *state) bool {
	switch name {
	case "share":
		x.share(in, st)
	case "collective":
		x.collective(in, st)
	case "event":
		x.event(in, st)
	case "await":
		e := x.argument(in, 0, 64, st)
		x.inCommon(in, e)
		if x.guard == smt.True {
			st.copies = slices.DeleteFunc(slices.Clone(st.copies), func(c groupCopy) bool { return c.event != undef && x.c.Eq(c.event, e) == smt.True })
		}
	case "awaited":
		x.inCommon(in, x.argument(in, 0, 32, st))
	default:
		return false
	}
	return true
}

// collective has all work-items of the group come to a call, with arguments that they have in common.
func (x *exec) collective(in *ir.Instr, st *state) {
	if x.opt.Any.Is() || x.opt.Geometry.Block.Count() == 1 {
		x.unsupported(in, "copies of a work-group of one work-item, or of a size that is not known")
	}
	for i := range in.Src {
		x.inCommon(in, x.argument(in, i, 64, st))
	}
	at := x.instance(in)
	if x.final {
		x.th.Ends = append(x.th.Ends, End{
			Instr: in, Guard: x.c.And(x.here(st), x.guard), Bare: x.bare(st, x.guard), Start: x.tag(st, event.OrdersAll),
			At: Tag{Barrier: at[0], Iters: at[1:]},
		})
	}
	for i, t := range x.tagOf(st, partAll) {
		x.tagOf(st, partAll)[i] = x.c.Ite(x.guard, at[i], t)
	}
	if slices.ContainsFunc(st.copies, func(c groupCopy) bool { return c.call == in }) && !x.settling {
		x.unsupported(in, "a copy of the work-group that is made again before it is waited for")
	}
	st.copies = append(slices.Clip(st.copies), groupCopy{in, undef})
}

// event gives the copy that was begun last its event.
func (x *exec) event(in *ir.Instr, st *state) {
	if len(st.copies) == 0 {
		x.result(in, x.fresh("event", 64), st)
		return
	}
	e := x.argument(in, 0, 64, st)
	last := &st.copies[len(st.copies)-1]
	this := x.apply(fmt.Sprintf("%sevent%d", inBlock, last.call.Index), 32, x.counters())
	own := x.c.Concat(x.c.Const(eventAddress+uint64(last.call.Index), 32), this)
	x.inCommon(in, e)
	e = x.c.Ite(x.c.Eq(e, x.c.Const(0, 64)), own, e)
	st.copies = append(slices.Clone(st.copies[:len(st.copies)-1]), groupCopy{last.call, e})
	x.result(in, e, st)
}

// eventAddress is the upper half of events: none is null.
const eventAddress = 0xe7e7_0000

// inCommon refuses an argument that work-items may not have in common.
func (x *exec) inCommon(in *ir.Instr, v smt.Term) {
	if x.final && !x.uniform(v) {
		x.unsupported(in, "copies of a work-group with arguments or events that may differ between work-items")
	}
}

// joinCopies merges what may be under way in states that meet.
func joinCopies(states []*state) []groupCopy {
	var out []groupCopy
	for _, st := range states {
		for _, c := range st.copies {
			i := slices.IndexFunc(out, func(d groupCopy) bool { return d.call == c.call })
			switch {
			case i < 0:
				out = append(out, c)
			case out[i].event != c.event:
				out[i].event = undef
			}
		}
	}
	return out
}

// goneRound makes sure that no copy goes with a thread into the next iteration of a loop which was not under way at its entry.
func (x *exec) goneRound(entry *state, back []edge) {
	for _, e := range back {
		for _, c := range e.st.copies {
			if !x.settling && !slices.ContainsFunc(entry.copies, func(d groupCopy) bool { return d == c }) {
				x.unsupported(c.call, "a copy of the work-group that is not waited for in the iteration of the loop in which it is made")
			}
		}
	}
}

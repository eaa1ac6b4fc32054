package lockstep

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// async_work_group_copy of OpenCL (OpenCL C 3.0, 6.15.11): all work-items reach it with the same
// arguments, no particular work-item makes the copy, at some time up to the wait for its event, and
// waits are no barriers. Lowering marks these things by calls:
//
//	__heddle_collective(to, from, n, step)  all work-items must reach this, with these arguments
//	__heddle_share(...), __heddle_choice(...)  see share.go
//	__heddle_event(e)                       the copy's event: e, or one of its own if that is null
//	__heddle_await(e)                       a wait for it
//	__heddle_awaited(n)                     for n events in all; the barrier that follows is the
//	                                        wait, which orders nothing here
//
// An access of the copy belongs to the barrier interval in which it is issued, which is right if
// the wait lies in the same interval; otherwise the kernel is refused. It conflicts with what all
// other threads do there, before the copy and behind the wait too.

// groupCopy is a copy that may be pending.
type groupCopy struct {
	call  *ir.Instr
	event smt.Term // join.Undefined: unknown
}

// groupCopy executes these calls; it reports false for others.
func (x *exec) groupCopy(name string, in *ir.Instr, st *state) bool {
	switch name {
	case "share":
		x.share(in, st)
	case "choice":
		x.choice(in, st)
	case "collective":
		x.collective(in, st)
	case "event":
		x.event(in, st)
	case "await":
		e := x.argument(in, 0, 64, st)
		x.inCommon(in, e)
		if x.guard == smt.True {
			st.copies = slices.DeleteFunc(slices.Clone(st.copies), func(c groupCopy) bool {
				return c.event != join.Undefined && x.c.Eq(c.event, e) == smt.True
			})
		}
	case "awaited":
		x.inCommon(in, x.argument(in, 0, 32, st))
	default:
		return false
	}
	return true
}

// collective has all work-items of the group reach a call, with arguments that they have in common.
func (x *exec) collective(in *ir.Instr, st *state) {
	if x.opt.Any.Is() || x.opt.Geometry.Block.Count() == 1 {
		thread.Unsupported(in, "copies of a work-group with one work-item or of unknown size")
	}
	for i := range in.Src {
		x.inCommon(in, x.argument(in, i, 64, st))
	}
	at := x.instance(in)
	if x.final {
		end := x.endAt(in, at, st)
		end.Orders = event.OrdersNone
		x.th.Ends = append(x.th.Ends, end)
	}
	x.mem.Pass(&st.mem, at, func(part int) bool { return part == kernel.PartAll })
	again := slices.ContainsFunc(st.copies, func(c groupCopy) bool { return c.call == in })
	if again && !x.settling {
		thread.Unsupported(in, "a work-group copy that starts again before a wait for it")
	}
	st.copies = append(slices.Clip(st.copies), groupCopy{in, join.Undefined})
}

// event gives the copy that began last its event.
func (x *exec) event(in *ir.Instr, st *state) {
	if len(st.copies) == 0 {
		x.setResult(in, x.Unknown("event", 64), st)
		return
	}
	e := x.argument(in, 0, 64, st)
	last := &st.copies[len(st.copies)-1]
	this := symbol.Apply(x.c, fmt.Sprintf("%sevent%d", symbol.Block, last.call.Index), 32,
		x.Counters()...)
	own := x.c.Concat(x.c.Const(eventAddress+uint64(last.call.Index), 32), this)
	x.inCommon(in, e)
	e = x.c.Ite(x.c.Eq(e, x.c.Const(0, 64)), own, e)
	st.copies = append(slices.Clone(st.copies[:len(st.copies)-1]), groupCopy{last.call, e})
	x.setResult(in, e, st)
}

// eventAddress is the upper half of events: none is null.
const eventAddress = 0xe7e7_0000

// inCommon refuses an argument that work-items may not have in common.
func (x *exec) inCommon(in *ir.Instr, v smt.Term) {
	if x.final && !x.uniform.Of(v) {
		thread.Unsupported(in,
			"copies of a work-group with arguments or events that may differ between work-items")
	}
}

// joinCopies merges the copies that may be pending in states that meet.
func joinCopies(states []*state) []groupCopy {
	var out []groupCopy
	for _, st := range states {
		for _, c := range st.copies {
			i := slices.IndexFunc(out, func(d groupCopy) bool { return d.call == c.call })
			switch {
			case i < 0:
				out = append(out, c)
			case out[i].event != c.event:
				out[i].event = join.Undefined
			}
		}
	}
	return out
}

// settledAtBack makes sure that no copy is pending at the back edge of a loop that was not pending
// at its entry.
func (x *exec) settledAtBack(entry *state, back []edge) {
	for _, e := range back {
		for _, c := range e.st.copies {
			if !x.settling && !slices.Contains(entry.copies, c) {
				thread.Unsupported(c.call,
					"a work-group copy without a wait in the iteration that starts it")
			}
		}
	}
}

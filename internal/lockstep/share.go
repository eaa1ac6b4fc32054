package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// A copy that the threads of a group make together (memcpy_async of CUDA's cooperative groups):
// which thread copies which element is open. Our headers call __heddle_share(rank, threads, group)
// for the thread's share, which is its rank in a run. Here it is any number below threads. Threads
// with the same number of a group, which is not 0, have different shares; 0 says that it is not
// known which threads are in one group.
//
// Which member of a group invoke_one chooses is open, too. The headers call __heddle_choice(0,
// threads, group) for its rank: 0 in a run, and here any number below threads, which threads with
// the same number of a group have in common in one execution. If the number is 0, each thread has
// its own.

// share is that of a thread in one execution of a call: its symbol, and the number of the group.
type share struct {
	symbol, group smt.Term
	call          *ir.Instr
	counters      []smt.Term
}

// share executes a call of __heddle_share.
func (x *exec) share(in *ir.Instr, st *state) {
	r := symbol.Apply(x.c, fmt.Sprintf("%s%d", symbol.Share, in.Index), 32, x.Counters()...)
	x.notes.Know(site{x, in, st}, x.c.Ult(r, x.argument(in, 1, 32, st)))
	if group := x.argument(in, 2, 32, st); x.final {
		x.shares = append(x.shares, share{r, group, in, x.Counters()})
	}
	x.setResult(in, r, st)
}

// choice executes a call of __heddle_choice.
func (x *exec) choice(in *ir.Instr, st *state) {
	c, group := x.c, x.argument(in, 2, 64, st)
	common := symbol.Apply(c, fmt.Sprintf("%schoice%d", symbol.Block, in.Index), 32,
		append([]smt.Term{group}, x.Counters()...)...)
	own := symbol.Apply(c, fmt.Sprintf("%schoice%d", symbol.Private, in.Index), 32, x.Counters()...)
	r := c.Ite(c.Eq(group, c.Const(0, 64)), own, common)
	x.notes.Know(site{x, in, st}, c.Ult(r, x.argument(in, 1, 32, st)))
	x.setResult(in, r, st)
}

// distinctShares has the shares of two threads in one group differ, like results of additions to a
// counter.
func (x *exec) distinctShares() {
	c := x.c
	for _, s := range x.shares {
		x.th.Slots.Add(s.symbol, s.counters, thread.Ticket{
			Object: &Object{Name: "share", Space: event.Shared, Var: &ir.Var{}},
			Offset: c.ZExt(s.group, 64), Guard: c.Not(c.Eq(s.group, c.Const(0, 32))),
			Start: thread.Tag{Barrier: c.Const(uint64(s.call.Index), thread.TagWidth), Iters: s.counters},
			Add:   1, Stored: true,
		})
	}
}

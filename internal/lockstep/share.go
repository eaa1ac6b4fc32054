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
// which thread copies which element is open, as is which member invoke_one chooses. Our headers call
// __heddle_share(rank, threads, group) for the thread's share, which is its rank in a run. Here it
// is any number below threads. Threads with the same number of a group, which is not 0, have
// different shares; 0 says that it is not known which threads are in one group.

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

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
// which thread copies which element is open. Our headers call __heddle_share(rank, threads, whole)
// for the thread's share, which is its rank in a run. Here it is any number below threads. Where
// the group is the whole block, two threads have different shares; of smaller groups it is not
// known which threads are in one.

// share is that of a thread in a copy of a whole block: its symbol, and the call.
type share struct {
	symbol   smt.Term
	call     *ir.Instr
	counters []smt.Term
}

// share executes a call of __heddle_share.
func (x *exec) share(in *ir.Instr, st *state) {
	r := symbol.Apply(x.c, fmt.Sprintf("%s%d", symbol.Share, in.Index), 32, x.Counters()...)
	x.notes.Know(site{x, in, st}, x.c.Ult(r, x.argument(in, 1, 32, st)))
	if whole, ok := x.c.Value(x.argument(in, 2, 32, st)); x.final && ok && whole == 1 {
		x.shares = append(x.shares, share{r, in, x.Counters()})
	}
	x.setResult(in, r, st)
}

// distinctShares has the shares of two threads in one copy differ, like results of additions to a
// counter.
func (x *exec) distinctShares() {
	for _, s := range x.shares {
		x.th.Slots.Add(s.symbol, s.counters, thread.Ticket{
			Object: &Object{Name: "share", Space: event.Shared, Var: &ir.Var{}}, Offset: x.c.Const(0, 64),
			Start: thread.Tag{Barrier: x.c.Const(uint64(s.call.Index), thread.TagWidth), Iters: s.counters},
			Add:   1, Stored: true, Guard: smt.True,
		})
	}
}

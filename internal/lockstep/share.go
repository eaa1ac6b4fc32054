package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// A copy that the threads of a group make together (memcpy_async of CUDA's cooperative groups) is made by nobody in
// particular: which thread copies which element is open. Our headers ask __heddle_share(rank, threads, whole) for the thread's share,
// which is its rank in a run. Here it is any number below threads. Where the group is the whole block, two threads have
// different ones; of smaller groups it is not known which threads share one.

// share is that of a thread in a copy of a whole block: the symbol that it is, and the call.
type share struct {
	symbol   smt.Term
	call     *ir.Instr
	counters []smt.Term
}

// share executes a call of __heddle_share.
func (x *exec) share(in *ir.Instr, st *state) {
	r := x.apply(fmt.Sprintf("%sshare%d", private, in.Index), 32, x.counters())
	x.know(x.c.Ult(r, x.argument(in, 1, 32, st)), st)
	if whole, ok := x.c.Value(x.argument(in, 2, 32, st)); x.final && ok && whole == 1 {
		x.shares = append(x.shares, share{r, in, x.counters()})
	}
	x.result(in, r, st)
}

// distinctShares has the shares of two threads in one copy differ, as results of an addition to a counter do.
func (x *exec) distinctShares() {
	for _, s := range x.shares {
		x.th.Slots.of[x.c.Name(s.symbol)] = slotSchema{s.counters, Ticket{
			Object: &Object{Name: "share", Space: event.Shared, Var: &ir.Var{}}, Offset: x.c.Const(0, 64),
			Start: Tag{Barrier: x.c.Const(uint64(s.call.Index), tagWidth), Iters: s.counters}, Add: 1, Stored: true,
		}}
	}
}

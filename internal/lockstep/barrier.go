package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/smt"
)

// isBlockBarrier reports whether in is a barrier of the whole block: bar or barrier 0 without a count.
func isBlockBarrier(in *ir.Instr) bool {
	if in.Row.Category != isa.Barrier || in.Op() != "bar" && in.Op() != "barrier" {
		return false
	}
	return in.Fn != isa.FnArrive && len(in.Src) > 0 && in.Src[0].Kind == ir.Imm && in.Src[0].Val == 0 && !counted(in)
}

// counted reports whether a barrier names how many threads take part.
func counted(in *ir.Instr) bool {
	n := len(in.Src)
	if in.Fn == isa.FnPopc || in.Fn == isa.FnAnd || in.Fn == isa.FnOr || in.Fn == isa.FnRed {
		n-- // the predicate
	}
	return n > 1 && in.Src[1].Kind != ir.None
}

// synchronize executes barriers and the instructions of a warp.
func (x *exec) synchronize(in *ir.Instr, st *state) {
	if in.Row.Category == isa.WarpOp && !x.tagged(in) {
		x.th.Waits = x.th.Waits || in.Has(isa.SyncMask)
		x.approximate(fmt.Sprintf("%s orders nothing and gives unknown values", in.Op()))
		x.opaqueAll(in, private, st)
		return
	}
	if !x.tagged(in) {
		x.unsupported(in, "%s: only barrier 0 of the whole block has a lock-step form", in.Text())
	}
	whole := isBlockBarrier(in)
	by := x.ordersOf(in)
	if whole && by != event.OrdersNone {
		x.settled(in, st)
	}
	at := x.instance(in)
	if x.final {
		end := End{
			Instr: in, Guard: x.c.And(x.here(st), x.guard), Bare: x.bare(st, x.guard), Start: x.tag(st, event.OrdersAll),
			At: Tag{Barrier: at[0], Iters: at[1:]},
		}
		if whole {
			x.th.Ends = append(x.th.Ends, end)
		}
		if x.warp {
			end.Start = x.warpTag(st)
			x.th.WarpEnds = append(x.th.WarpEnds, end)
		}
		if in.Grid {
			end.Start = x.gridTag(st)
			x.th.GridEnds = append(x.th.GridEnds, end)
		}
	}
	for p := range x.parts {
		if !x.endsInterval(in, p) {
			continue
		}
		for i, t := range x.tagOf(st, p) {
			x.tagOf(st, p)[i] = x.c.Ite(x.guard, at[i], t)
		}
	}
	x.ordered(in, whole, st)
	if whole {
		x.behind(in, st.pending, st)
	}
	st.pending = nil
	st.ghost = smt.False         // no annotation goes on behind a barrier
	x.opaqueAll(in, inBlock, st) // a reduction gives all threads of the block the same
}

// instance is the tag of a barrier in this iteration of the loops around.
func (x *exec) instance(in *ir.Instr) []smt.Term {
	at := []smt.Term{x.c.Const(uint64(in.Index)+1, tagWidth)}
	for _, l := range x.slots {
		it := x.c.Const(0, tagWidth)
		for _, around := range x.around {
			if around == l {
				it = x.info[l].counter
			}
		}
		at = append(at, it)
	}
	return at
}

// endsInterval reports whether a barrier, one that tags name, ends the intervals of a part.
func (x *exec) endsInterval(in *ir.Instr, part int) bool {
	switch {
	case part == x.partGrid && part > 0:
		return in.Grid
	case !isBlockBarrier(in):
		return part == partWarp
	}
	return ordersPart(x.ordersOf(in), part)
}

// opaqueAll gives all destinations values of which nothing is known but who shares them.
func (x *exec) opaqueAll(in *ir.Instr, scope string, st *state) {
	x.eachResult(in, func(n int, o ir.Operand, w int) {
		x.set(in, o, x.apply(fmt.Sprintf("%sr%d.%d", scope, in.Index, n), w, x.counters()), false, st)
	})
}

// eachResult calls visit for each register that an instruction writes: with its number among the results, sinks and
// elements of vectors counted, and its width.
func (x *exec) eachResult(in *ir.Instr, visit func(n int, o ir.Operand, width int)) {
	n := 0
	for _, d := range in.Dst {
		parts := []ir.Operand{d}
		if d.Kind == ir.Vector {
			parts = d.Elems
		}
		for _, o := range parts {
			if o.Kind == ir.Register && o.Reg != ir.NoReg {
				visit(n, o, width(x.f.Regs[o.Reg].Type))
			}
			n++
		}
	}
}

// Same is the formula that t and u name the same barrier instance.
//
// At a loop that passes a barrier in each iteration a tag is that of the entry if k is 0, else that of the back edge with k-1.
// Two of those can be the same in equal iterations only, k and l. That is said as k = l, which decides most queries about such a loop, instead of
// by the parts one by one, from which a solver has to find it.
func (t Tag) Same(c *smt.Context, u Tag) smt.Term {
	k, first, ok := t.counter(c)
	l, also, both := u.counter(c)
	if ok && both && t.branch(c, first, 1).same(c, u.branch(c, also, 2)) == smt.False && t.branch(c, first, 2).same(c, u.branch(c, also, 1)) == smt.False {
		equal, later := c.Eq(k, l), t.branch(c, first, 2).same(c, u.branch(c, also, 2))
		if rest, found := remove(c, later, equal); found {
			return c.And(equal, c.Ite(first, t.branch(c, first, 1).same(c, u.branch(c, also, 1)), rest))
		}
	}
	return t.same(c, u)
}

// counter reads the barrier of a tag as a choice by whether a term is 0.
func (t Tag) counter(c *smt.Context) (k, zero smt.Term, ok bool) {
	if c.Op(t.Barrier) != smt.OpIte {
		return 0, 0, false
	}
	zero = c.Args(t.Barrier)[0]
	if c.Op(zero) != smt.OpEq {
		return 0, 0, false
	}
	a, b := c.Args(zero)[0], c.Args(zero)[1]
	for _, x := range [][2]smt.Term{{a, b}, {b, a}} {
		if v, constant := c.Value(x[0]); constant && v == 0 && c.Width(x[1]) == 32 {
			return x[1], zero, true
		}
	}
	return 0, 0, false
}

// branch is the tag where a condition holds (1) or does not (2).
func (t Tag) branch(c *smt.Context, p smt.Term, which int) Tag {
	of := func(x smt.Term) smt.Term {
		if c.Op(x) == smt.OpIte && c.Args(x)[0] == p {
			return c.Args(x)[which]
		}
		return x
	}
	r := Tag{Barrier: of(t.Barrier)}
	for _, k := range t.Iters {
		r.Iters = append(r.Iters, of(k))
	}
	return r
}

// remove takes one formula out of a conjunction, if it is there.
func remove(c *smt.Context, all, one smt.Term) (rest smt.Term, found bool) {
	parts := []smt.Term{all}
	if c.Op(all) == smt.OpAnd {
		parts = c.Args(all)
	}
	var others []smt.Term
	for _, p := range parts {
		if p == one {
			found = true
		} else {
			others = append(others, p)
		}
	}
	return c.And(others...), found
}

func (t Tag) same(c *smt.Context, u Tag) smt.Term {
	eq := []smt.Term{c.Eq(t.Barrier, u.Barrier)}
	for i := range t.Iters {
		eq = append(eq, c.Eq(t.Iters[i], u.Iters[i]))
	}
	return c.And(eq...)
}

// Renamed returns the tag under a renaming of symbols.
func (t Tag) Renamed(s *smt.Substitution) Tag {
	r := Tag{Barrier: s.Apply(t.Barrier)}
	for _, k := range t.Iters {
		r.Iters = append(r.Iters, s.Apply(k))
	}
	return r
}

// Terms returns the parts of the tag.
func (t Tag) Terms() []smt.Term { return append([]smt.Term{t.Barrier}, t.Iters...) }

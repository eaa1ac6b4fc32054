package lockstep

import (
	"fmt"

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
	if in.Row.Category == isa.WarpOp {
		x.approximate(fmt.Sprintf("%s orders nothing and gives unknown values", in.Op()))
		x.opaqueAll(in, private, st)
		return
	}
	if !isBlockBarrier(in) {
		x.unsupported(in, "%s: only barrier 0 of the whole block has a lock-step form", in.Text())
	}
	at := Tag{Barrier: x.c.Const(uint64(in.Index)+1, tagWidth)}
	for _, l := range x.slots {
		it := x.c.Const(0, 32)
		for _, around := range x.around {
			if around == l {
				it = x.info[l].counter
			}
		}
		at.Iters = append(at.Iters, it)
	}
	g := x.guard
	if x.final {
		x.th.Ends = append(x.th.Ends, End{Instr: in, Guard: x.c.And(x.outer, st.pred, g), Start: st.tag, At: at})
	}
	next := Tag{Barrier: x.c.Ite(g, at.Barrier, st.tag.Barrier)}
	for i := range at.Iters {
		next.Iters = append(next.Iters, x.c.Ite(g, at.Iters[i], st.tag.Iters[i]))
	}
	st.tag = next
	x.opaqueAll(in, inBlock, st) // a reduction gives all threads of the block the same
}

// opaqueAll gives all destinations values of which nothing is known but who shares them.
func (x *exec) opaqueAll(in *ir.Instr, scope string, st *state) {
	n := 0
	each := func(o ir.Operand) {
		if o.Kind == ir.Register && o.Reg != ir.NoReg {
			w := width(x.f.Regs[o.Reg].Type)
			x.set(in, o, x.apply(fmt.Sprintf("%sr%d.%d", scope, in.Index, n), w, x.counters()), false, st)
		}
		n++
	}
	for _, o := range in.Dst {
		if o.Kind == ir.Vector {
			for _, e := range o.Elems {
				each(e)
			}
			continue
		}
		each(o)
	}
}

// sameTag is the formula that two tags name the same barrier instance.
func sameTag(c *smt.Context, a, b Tag) smt.Term {
	eq := []smt.Term{c.Eq(a.Barrier, b.Barrier)}
	for i := range a.Iters {
		eq = append(eq, c.Eq(a.Iters[i], b.Iters[i]))
	}
	return c.And(eq...)
}

// Same is the formula that t and u name the same barrier instance.
func (t Tag) Same(c *smt.Context, u Tag) smt.Term { return sameTag(c, t, u) }

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

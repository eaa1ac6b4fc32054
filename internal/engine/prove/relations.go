package prove

import (
	"fmt"

	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// Host code ties the arguments of a launch to its shape: grid = (w + 15) / 16 with w and pitch = w as
// arguments. A proof for all arguments fails for a pitch that is smaller than the width, which the
// program never passes. So a second proof assumes what the host code computes, for every value of
// what it leaves open, below 2^31, for which its arithmetic does not overflow.

// relate assumes the relations of the launch, except for arguments that are fixed. It reports whether
// there are any that say something: a relation whose unknown occurs nowhere else says nothing.
func (p *Proof) relate(th *lockstep.Thread) bool {
	c := th.Context
	uses := make(map[string]int)
	for _, r := range p.Config.Relations {
		for _, u := range r.Expr.Unknowns() {
			uses[u]++
		}
	}
	any := false
	for _, r := range p.Config.Relations {
		value, ok := p.related(th, r)
		if !ok {
			continue
		}
		expr, ok := term(c, r.Expr)
		if !ok {
			continue
		}
		shared := r.Expr.Op != launch.OpUnknown
		for _, u := range r.Expr.Unknowns() {
			shared = shared || uses[u] > 1
		}
		if shared {
			th.Assumed = append(th.Assumed, c.Eq(value, expr))
			any = true
		}
	}
	return any
}

// related returns the term of the fact of a relation, sign-extended to 64 bits; false if the fact is
// fixed or no integer.
func (p *Proof) related(th *lockstep.Thread, r launch.Relation) (smt.Term, bool) {
	c := th.Context
	if r.Param < 0 {
		if r.Block {
			return c.ZExt(th.Ntid[r.Axis], 64), true
		}
		return c.ZExt(th.Nctaid[r.Axis], 64), true
	}
	v := p.Job.Kernel.Params[r.Param]
	_, fixed := p.Fixed[r.Param]
	integer := v.Type != isa.NoType && !v.Type.IsFloat() && v.Size == v.Type.Size() && v.Size <= 8
	if fixed || v.Pointer || !integer || p.Config.Args[r.Param].Float ||
		p.Config.Origins["arg "+p.Config.Args[r.Param].Name] > launch.FromHost {
		return 0, false
	}
	w := 8 * v.Size
	return c.SExt(c.Var(lockstep.ParamName(v, 0, w), w), 64), true
}

// term is an expression of host code as a term of 64 bits; false if it has an operator without one.
func term(c *smt.Context, e *launch.Expr) (smt.Term, bool) {
	switch e.Op {
	case launch.OpConst:
		return c.Const(uint64(e.Int), 64), true
	case launch.OpUnknown:
		return c.SExt(c.Var(symbol.Grid+"host:"+e.Name, 32), 64), true
	}
	args := make([]smt.Term, len(e.Args))
	for i, a := range e.Args {
		t, ok := term(c, a)
		if !ok {
			return 0, false
		}
		args[i] = t
	}
	truth := func(t smt.Term) smt.Term { return c.Ite(t, c.Const(1, 64), c.Const(0, 64)) }
	switch e.Op {
	case launch.OpAdd:
		return c.Add(args[0], args[1]), true
	case launch.OpSub:
		return c.Sub(args[0], args[1]), true
	case launch.OpMul:
		return c.Mul(args[0], args[1]), true
	case launch.OpDiv:
		return c.SDiv(args[0], args[1]), true
	case launch.OpCeilDiv: // of numbers that are not negative
		return c.SDiv(c.AddConst(c.Add(args[0], args[1]), ^uint64(0)), args[1]), true
	case launch.OpRem:
		return c.SRem(args[0], args[1]), true
	case launch.OpShl:
		return c.Shl(args[0], args[1]), true
	case launch.OpShr:
		return c.AShr(args[0], args[1]), true
	case launch.OpAnd:
		return c.BvAnd(args[0], args[1]), true
	case launch.OpOr:
		return c.BvOr(args[0], args[1]), true
	case launch.OpXor:
		return c.BvXor(args[0], args[1]), true
	case launch.OpMin:
		return c.Ite(c.Slt(args[0], args[1]), args[0], args[1]), true
	case launch.OpMax:
		return c.Ite(c.Slt(args[0], args[1]), args[1], args[0]), true
	case launch.OpEq:
		return truth(c.Eq(args[0], args[1])), true
	case launch.OpNe:
		return truth(c.Not(c.Eq(args[0], args[1]))), true
	case launch.OpLt:
		return truth(c.Slt(args[0], args[1])), true
	case launch.OpLe:
		return truth(c.Sle(args[0], args[1])), true
	case launch.OpCond:
		return c.Ite(c.Eq(args[0], c.Const(0, 64)), args[2], args[1]), true
	}
	return 0, false
}

// tiedTo is the part of a scope that says what relate assumes.
func (p *Proof) tiedTo() string {
	if !p.tied {
		return ""
	}
	return fmt.Sprintf(", and that grid, block and arguments are computed as in line %d of the host "+
		"code, from values below 2^31", p.Config.Launch.Start.Line())
}

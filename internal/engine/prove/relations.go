package prove

import (
	"fmt"

	"heddle/internal/diag"

	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
)

// Host code ties the arguments of a launch to its shape: grid = (w + 15) / 16 with w and pitch = w as
// arguments. A proof for all arguments fails for a pitch that is smaller than the width, which the
// program never passes. So a second proof assumes what the host code computes, for every value of
// what it leaves open, below 2^31, for which its arithmetic does not overflow.

// relation is what the host code computes for the launch; nil if it leaves nothing open.
func (p *Proof) relation() *launch.Relation {
	r := p.Job.Module.Facts.Relation(p.Job.Kernel, p.Config)
	if len(r.Unknowns) == 0 {
		return nil
	}
	return r
}

// relate assumes tied, except for arguments that are fixed. It reports whether that says anything: a
// fact whose unknown occurs nowhere else says nothing.
func (p *Proof) relate(th *lockstep.Thread) bool {
	c := th.Context
	r := p.tied
	uses := make(map[string]int)
	for _, list := range [][]*launch.Expr{r.Grid[:], r.Block[:], r.Params} {
		for _, e := range list {
			for _, u := range e.Unknowns() {
				uses[u]++
			}
		}
	}
	said := false
	assume := func(value smt.Term, e *launch.Expr) {
		if e == nil {
			return
		}
		shared := e.Op != launch.OpUnknown
		for _, u := range e.Unknowns() {
			shared = shared || uses[u] > 1
		}
		if t, ok := term(c, e); ok && shared && len(e.Unknowns()) > 0 {
			th.Assumed = append(th.Assumed, c.Eq(value, t))
			said = true
		}
	}
	for d := range 3 {
		assume(c.ZExt(th.Nctaid[d], 64), r.Grid[d])
		assume(c.ZExt(th.Ntid[d], 64), r.Block[d])
	}
	for i, e := range r.Params {
		v := p.Job.Kernel.Params[i]
		_, fixed := p.Fixed[i]
		integer := v.Type != isa.NoType && v.Size == v.Type.Size() && v.Size <= 8
		if !fixed && integer && !p.Config.Args[i].Float {
			w := 8 * v.Size
			assume(c.SExt(c.Var(lockstep.ParamName(v, 0, w), w), 64), e)
		}
	}
	return said
}

// term is an expression of host code as a term of 64 bits; false if it has an operator without one.
func term(c *smt.Context, e *launch.Expr) (smt.Term, bool) {
	switch e.Op {
	case launch.OpConst:
		return c.Const(uint64(e.Int), 64), true
	case launch.OpUnknown:
		return c.SExt(c.Var(lockstep.HostName(e.Name), 32), 64), true
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

// tie adds to a verdict what relate assumes.
func (p *Proof) tie(v diag.Verdict) diag.Verdict {
	if p.tied != nil {
		line := p.Config.Launch.Start.Line()
		v.Scope += fmt.Sprintf(" that the launch in line %d passes", line)
		v.Details = append(v.Details, fmt.Sprintf("grid, block and arguments are computed as in line %d "+
			"of the host code, from values below 2^31", line))
	}
	return v
}

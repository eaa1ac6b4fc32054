package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// condition returns the guard of an instruction.
func (x *exec) condition(in *ir.Instr, st *state) smt.Term {
	if in.Guard == ir.NoReg {
		return smt.True
	}
	p := x.reg(in.Guard, st)
	if in.Neg {
		p = x.c.Not(p)
	}
	return p
}

// reg returns the value of a register; one that nothing wrote may hold anything, at each reading.
func (x *exec) reg(r ir.RegID, st *state) smt.Term {
	if v := st.regs[r]; v != join.Undefined {
		return v
	}
	return x.Unknown("u", x.k.Width(int(r)))
}

// functionAddress is where functions begin: their addresses differ from each other and from zero.
const functionAddress = 0xf00d_0000_0000_0000

// read returns an operand in w bits (0: a predicate).
func (x *exec) read(o ir.Operand, w int, st *state) smt.Term {
	c := x.c
	switch o.Kind {
	case ir.Register:
		return x.readReg(o, w, st)
	case ir.Imm:
		if w == 0 {
			return smt.Bool(o.Val&1 == 1)
		}
		return c.Const(o.Val, w)
	case ir.Special:
		return x.resize(x.special(o), w, false)
	case ir.VarAddr:
		field := 0
		if o.Var.Space == event.Param {
			field = memory.Itself
		}
		return x.resize(c.AddConst(x.mem.Base(x.mem.Object(o.Var, field)), o.Val), w, false)
	}
	if o.Kind == ir.FuncAddr && w == 64 {
		return x.c.Const(functionAddress+uint64(o.Func.Index)<<8, 64)
	}
	return x.Unknown("operand", w)
}

// readReg returns a register in w bits, with predicates as numbers and numbers as predicates.
func (x *exec) readReg(o ir.Operand, w int, st *state) smt.Term {
	c := x.c
	v := x.reg(o.Reg, st)
	if c.Width(v) > 0 && w > 0 {
		return x.resize(v, w, x.f.Regs[o.Reg].Type.Signed())
	}
	if o.Neg {
		v = c.Not(v)
	}
	if w > 0 {
		return c.Ite(v, c.Const(1, w), c.Const(0, w))
	}
	if c.Width(v) > 0 {
		return c.Not(c.Eq(v, c.Const(0, c.Width(v))))
	}
	return v
}

// Unknown is a value that nothing is known of, one for each thread and iteration. What other
// instructions make, or the same instruction makes again, is another value.
func (x *exec) Unknown(kind string, w int) smt.Term {
	x.unknown++
	name := fmt.Sprintf("%s%s%d.%d", symbol.Private, kind, x.at.Index, x.unknown)
	return symbol.Apply(x.c, name, w, x.Counters()...)
}

// set writes a register under the instruction's guard.
func (x *exec) set(in *ir.Instr, o ir.Operand, v smt.Term, signed bool, st *state) {
	if o.Kind != ir.Register || o.Reg == ir.NoReg {
		return
	}
	w := x.k.Width(int(o.Reg))
	switch n := x.c.Width(v); {
	case w == 0 && n > 0:
		v = x.c.Not(x.c.Eq(v, x.c.Const(0, n)))
	case w > 0 && n == 0:
		v = x.c.Ite(v, x.c.Const(1, w), x.c.Const(0, w))
	case w > 0:
		v = x.resize(v, w, signed)
	}
	if in.Guard != ir.NoReg {
		v = x.c.Ite(x.guard, v, x.reg(o.Reg, st))
	}
	st.regs[o.Reg] = v
}

// resize returns t in w bits.
func (x *exec) resize(t smt.Term, w int, signed bool) smt.Term {
	switch n := x.c.Width(t); {
	case n == w:
		return t
	case n > w:
		return x.c.Extract(t, 0, w)
	case signed && n == 32 && w == 64 && x.opt.NoWrap:
		return x.signExtend(t)
	case signed:
		return x.c.SExt(t, w)
	}
	return x.c.ZExt(t, w)
}

// SignExtend implements memory.Env.
func (x *exec) SignExtend(t smt.Term) smt.Term { return x.resize(t, 64, true) }

// signExtend computes a signed term of 32 bits in 64 bits: where nothing wraps, that is its value.
func (x *exec) signExtend(t smt.Term) smt.Term {
	if r, ok := x.exact[t]; ok {
		return r
	}
	c := x.c
	wide := func(v uint64) smt.Term { return c.Const(uint64(int64(int32(v))), 64) }
	r := c.SExt(t, 64)
	switch c.Op(t) {
	case smt.OpSum:
		k, coef := c.SumParts(t)
		r = wide(k)
		for i, a := range c.Args(t) {
			r = c.Add(r, c.Mul(wide(coef[i]), x.signExtend(a)))
		}
	case smt.OpMul:
		r = wide(1)
		for _, a := range c.Args(t) {
			r = c.Mul(r, x.signExtend(a))
		}
	case smt.OpIte:
		a := c.Args(t)
		r = c.Ite(a[0], x.signExtend(a[1]), x.signExtend(a[2]))
	}
	x.exact[t] = r
	return r
}

// special returns a special register. One that may change while the thread runs, as the clock does,
// is another value at each reading.
func (x *exec) special(o ir.Operand) smt.Term {
	c := x.c
	k := func(v uint32) smt.Term { return c.Const(uint64(v), 32) }
	switch o.Sreg {
	case ir.TidX, ir.TidY, ir.TidZ:
		return x.th.Tid[o.Sreg-ir.TidX]
	case ir.CtaidX, ir.CtaidY, ir.CtaidZ:
		return x.th.Ctaid[o.Sreg-ir.CtaidX]
	case ir.NtidX, ir.NtidY, ir.NtidZ:
		return x.th.Ntid[o.Sreg-ir.NtidX]
	case ir.NctaidX, ir.NctaidY, ir.NctaidZ:
		return x.th.Nctaid[o.Sreg-ir.NctaidX]
	case ir.WarpSz:
		return k(32)
	case ir.LaneID: // PTX ISA 10.4: warps are cut from the linear thread index
		return c.BvAnd(x.th.Linear(), k(31))
	case ir.LanemaskEQ, ir.LanemaskLE, ir.LanemaskLT, ir.LanemaskGE, ir.LanemaskGT:
		return x.laneMask(o.Sreg)
	case ir.WarpID:
		// In PTX it may change while the thread runs (10.5). From OpenCL it is the number of a sub-group,
		// which is a run of 32 work-items.
		if x.f.Module != nil && x.f.Module.OpenCL {
			return c.LShr(x.th.Linear(), k(5))
		}
	}
	return x.Unknown("s", 64)
}

// laneMask is a mask of the lanes that are equal, at most, below, at least or above the reading one
// (PTX ISA chapter 10).
func (x *exec) laneMask(which ir.Sreg) smt.Term {
	c := x.c
	own := c.Shl(c.Const(1, 32), c.BvAnd(x.th.Linear(), c.Const(31, 32)))
	below := c.AddConst(own, allLanes)
	switch which {
	case ir.LanemaskEQ:
		return own
	case ir.LanemaskLT:
		return below
	case ir.LanemaskLE:
		return c.BvOr(below, own)
	case ir.LanemaskGE:
		return c.BvXor(below, c.Const(allLanes, 32))
	}
	return c.BvXor(c.BvOr(below, own), c.Const(allLanes, 32))
}

// operands gives package compute the sources of an instruction in a state.
type operands struct {
	x  *exec
	st *state
}

// Read implements compute.Operands.
func (o *operands) Read(op ir.Operand, w int) smt.Term { return o.x.read(op, w, o.st) }

// Resize implements compute.Operands.
func (o *operands) Resize(t smt.Term, w int, signed bool) smt.Term {
	return o.x.resize(t, w, signed)
}

// eachResult calls visit for each register that an instruction writes: with its number among the
// results, counting sinks and elements of vectors, and its width.
func (x *exec) eachResult(in *ir.Instr, visit func(n int, o ir.Operand, width int)) {
	n := 0
	for _, d := range in.Dst {
		parts := []ir.Operand{d}
		if d.Kind == ir.Vector {
			parts = d.Elems
		}
		for _, o := range parts {
			if o.Kind == ir.Register && o.Reg != ir.NoReg {
				visit(n, o, kernel.Width(x.f.Regs[o.Reg].Type))
			}
			n++
		}
	}
}

// setUnknown gives all destinations values of which nothing is known except who shares them: a
// prefix of symbol.
func (x *exec) setUnknown(in *ir.Instr, scope string, st *state) {
	x.eachResult(in, func(n int, o ir.Operand, w int) {
		name := fmt.Sprintf("%sr%d.%d", scope, in.Index, n)
		x.set(in, o, symbol.Apply(x.c, name, w, x.Counters()...), false, st)
	})
}

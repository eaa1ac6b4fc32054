package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
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
	if v := st.regs[r]; v != undef {
		return v
	}
	return x.fresh("u", width(x.f.Regs[r].Type))
}

// read returns an operand in w bits (0: a predicate).
func (x *exec) read(o ir.Operand, w int, st *state) smt.Term {
	c := x.c
	switch o.Kind {
	case ir.Register:
		v := x.reg(o.Reg, st)
		if c.Width(v) == 0 || w == 0 {
			if o.Neg {
				v = c.Not(v)
			}
			if w > 0 { // a predicate as a number
				v = c.Ite(v, c.Const(1, w), c.Const(0, w))
			} else if c.Width(v) > 0 {
				v = c.Not(c.Eq(v, c.Const(0, c.Width(v))))
			}
			return v
		}
		return x.resize(v, w, x.f.Regs[o.Reg].Type.Signed())
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
			field = itself
		}
		return x.resize(c.AddConst(x.baseOf(x.object(o.Var, field)), o.Val), w, false)
	}
	if o.Kind == ir.FuncAddr && w == 64 {
		return x.c.Const(functionAddress+uint64(o.Func.Index)<<8, 64)
	}
	return x.fresh("operand", w)
}

// functionAddress is where functions are taken to begin: their addresses differ from each other and from zero.
const functionAddress = 0xf00d_0000_0000_0000

// fresh is a value that nothing is known of, one for each thread and iteration. What is drawn elsewhere, or
// again by the same instruction, is another.
func (x *exec) fresh(kind string, w int) smt.Term {
	x.drawn++
	return x.apply(fmt.Sprintf("%s%s%d.%d", private, kind, x.at.Index, x.drawn), w, x.counters())
}

// opPrefix begins the names of functions of nothing but their arguments.
const opPrefix = inGrid + "op:"

// pure is a value that depends on its operands alone, in a way that is not modelled.
func (x *exec) pure(name string, w int, args ...smt.Term) smt.Term {
	widths := make([]int, len(args))
	for i, a := range args {
		widths[i] = x.c.Width(a)
		name += fmt.Sprintf(".%d", widths[i])
	}
	return x.c.Apply(x.c.Declare(fmt.Sprintf("%s%s:%d", opPrefix, name, w), w, widths...), args...)
}

// set writes a register under the instruction's guard.
func (x *exec) set(in *ir.Instr, o ir.Operand, v smt.Term, asSigned bool, st *state) {
	if o.Kind != ir.Register || o.Reg == ir.NoReg {
		return
	}
	w := width(x.f.Regs[o.Reg].Type)
	switch n := x.c.Width(v); {
	case w == 0 && n > 0:
		v = x.c.Not(x.c.Eq(v, x.c.Const(0, n)))
	case w > 0 && n == 0:
		v = x.c.Ite(v, x.c.Const(1, w), x.c.Const(0, w))
	case w > 0:
		v = x.resize(v, w, asSigned)
	}
	if in.Guard != ir.NoReg {
		v = x.c.Ite(x.guard, v, x.reg(o.Reg, st))
	}
	st.regs[o.Reg] = v
}

// instr executes an instruction that does not transfer control.
func (x *exec) instr(in *ir.Instr, st *state) {
	switch in.Row.Category {
	case isa.Barrier, isa.WarpOp:
		x.synchronize(in, st)
		return
	case isa.FenceCat:
		x.approximate("a fence orders nothing")
		return
	case isa.Memory, isa.Async:
		x.memory(in, st)
		return
	}
	switch {
	case in.Op() == "mapa":
		x.unsupported(in, "shared memory of another block")
	case in.Op() == "call" && in.Callee != nil && in.Callee.Name == "vprintf":
		x.opaqueAll(in, private, st)
		return
	case in.Op() == "call":
		x.call(in, st)
		return
	case in.Row.Category == isa.Stack, in.Row.Category == isa.Matrix && in.Row.Effect != isa.NoEffect:
		x.unsupported(in, "%s", in.Text())
	case in.Row.Category == isa.Texture && in.Row.Effect != isa.NoEffect && in.Row.Effect != isa.Reads:
		x.unsupported(in, "%s", in.Text())
	}
	if len(in.Dst) == 0 {
		return // cvta of nothing, prefetch, nanosleep and the like
	}
	if x.compare(in, st) {
		return
	}
	if x.pack(in, st) {
		return
	}
	if v, ok := x.compute(in, st); ok {
		x.set(in, in.Dst[0], v, in.Type.Signed(), st)
		return
	}
	x.opaque(in, st)
}

// opaque gives the destinations values that only depend on the sources; of an instruction that reads more
// than its sources, values of which nothing is known.
func (x *exec) opaque(in *ir.Instr, st *state) {
	depends := in.Row.Effect != isa.NoEffect || readsCarry(in)
	switch in.Row.Category {
	case isa.Texture, isa.Matrix, isa.Video: // what textures hold, what other lanes hold, selectors that are no part of the text
		depends = true
	case isa.Address: // mapa, getctarank: which block an address is of
		depends = depends || in.Op() != "isspacep"
	}
	var args []smt.Term
	name := in.Text()
	var take func(o ir.Operand)
	take = func(o ir.Operand) {
		switch {
		case o.Kind == ir.Register:
			v := x.reg(o.Reg, st)
			if o.Neg && x.c.Width(v) == 0 {
				v = x.c.Not(v)
			}
			args = append(args, v)
		case o.Kind == ir.Imm:
			args = append(args, x.c.Const(o.Val, 64))
		case o.Kind == ir.Vector:
			for _, e := range o.Elems {
				take(e)
			}
		case o.Kind == ir.None: // which operand it is that was left out matters
			name += fmt.Sprintf("_%d", len(args))
		case o.Kind == ir.Special && o.Sreg < ir.LaneID:
			args = append(args, x.special(o))
		default:
			depends = true
		}
	}
	for _, o := range in.Src {
		take(o)
	}
	x.eachResult(in, func(n int, o ir.Operand, w int) {
		if depends {
			x.set(in, o, x.fresh("i", w), false, st)
		} else {
			x.set(in, o, x.pure(fmt.Sprintf("%s#%d", name, n), w, args...), false, st)
		}
	})
}

// readsCarry reports whether an instruction reads the carry flag, which is no operand (PTX ISA 9.7.2).
func readsCarry(in *ir.Instr) bool {
	switch in.Op() {
	case "addc", "subc", "madc":
		return true
	}
	return false
}

// special returns a special register. One that may change as the thread runs, as the clock does, is another
// value at each reading.
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
	case ir.WarpID:
		// In PTX it may change as the thread runs (10.5). From OpenCL it comes as the number of a sub-group, which is a
		// run of 32 work-items.
		if x.f.Module != nil && x.f.Module.OpenCL {
			return c.LShr(x.th.Linear(), k(5))
		}
	}
	return x.fresh("s", 64)
}

func (x *exec) approximate(why string) { x.approx[why] = true }

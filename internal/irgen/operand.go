package irgen

import (
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// dst resolves a destination: a register, a vector of registers, or the sink "_" (PTX ISA 6.4). t
// is the type that the instruction writes.
func (f *fgen) dst(o ptx.Operand, t isa.Type) (ir.Operand, bool) {
	out, ok := f.value(o, t)
	if !ok {
		return out, false
	}
	switch out.Kind {
	case ir.None, ir.Register:
		if !out.Neg {
			return out, true
		}
	case ir.Vector:
		for i := range out.Elems {
			if k := out.Elems[i].Kind; k != ir.Register && k != ir.None {
				f.g.errorf(out.Elems[i].Span, "expected a register to write to")
				return out, false
			}
		}
		return out, true
	}
	f.g.errorf(o.Span(), "expected a register to write to")
	return out, false
}

// src resolves a source operand in the place of a role. Brackets belong to addresses only: a
// register that holds an address is not a substitute for one, and the other way round. Only matrices
// of tcgen05 may be in either form, and optional sources, because rows that are not executable state
// no more.
func (f *fgen) src(in *ir.Instr, o ptx.Operand, role isa.Role, t isa.Type) (ir.Operand, bool) {
	if o.Kind() == ptx.Mem {
		if role != isa.Addr && role != isa.SrcAddr && role != isa.SrcOpt {
			f.g.errorf(o.Span(), "%s does not take an address in brackets here", in.Op())
			return ir.Operand{}, false
		}
		return f.mem(o)
	}
	if o.Kind() == ptx.Index && role == isa.Addr {
		return f.elementMem(in, o)
	}
	if role == isa.Addr {
		f.g.errorf(o.Span(), "%s takes an address in brackets here", in.Op())
		return ir.Operand{}, false
	}
	out, ok := f.value(o, t)
	if !ok {
		return out, false
	}
	if out.Kind == ir.None && role != isa.SrcOpt {
		f.g.errorf(o.Span(), "the sink _ cannot be read")
		return out, false
	}
	if role == isa.PredSrc && out.Kind == ir.Register && f.f.Regs[out.Reg].Type != isa.Pred {
		f.g.errorf(o.Span(), "%s is of type .%s; %s takes a predicate here", f.f.Regs[out.Reg].Name,
			f.f.Regs[out.Reg].Type, in.Op())
		return out, false
	}
	return out, true
}

// value resolves an operand that is not an address in brackets. Constants take the bits that they
// have in type t, since the IR stores bits and not numbers.
func (f *fgen) value(o ptx.Operand, t isa.Type) (ir.Operand, bool) {
	switch o.Kind() {
	case ptx.Name:
		return f.name(o, t)
	case ptx.Vector:
		return f.vector(o, t)
	case ptx.Unary:
		if o.X().Kind() == ptx.Name && o.Op() == "!" {
			return f.negated(o)
		}
	case ptx.Binary:
		if f.registerOffset(o) {
			return f.offsetFrom(o)
		}
	case ptx.Int, ptx.Float, ptx.Paren, ptx.Mask:
	case ptx.Index:
		return f.element(o)
	default:
		f.g.errorf(o.Span(), "this kind of operand is not allowed here")
		return ir.Operand{}, false
	}
	c, ok := f.g.eval(f.scope, f, o)
	if !ok {
		return ir.Operand{}, false
	}
	return f.constant(o.Span(), &c, t)
}

// constant makes an operand of an evaluated expression: the address of a symbol plus an offset, or
// bits in type t.
func (f *fgen) constant(span source.Span, c *constant, t isa.Type) (ir.Operand, bool) {
	if c.sym != nil {
		if c.generic || c.mask != 0 {
			f.g.errorf(span, "generic() and masks are allowed only in initialisers (PTX ISA 5.4.4)")
			return ir.Operand{}, false
		}
		out, ok := f.symbol(c.sym, span)
		out.Val = c.n
		return out, ok
	}
	bits, bad := c.bits(t)
	if bad != "" {
		f.g.errorf(span, "%s where a value of type .%s is expected", bad, t)
		return ir.Operand{}, false
	}
	return ir.Operand{Kind: ir.Imm, Reg: ir.NoReg, Val: bits, Span: span}, true
}

// negated resolves !p, a negated predicate as a source (PTX ISA 9.7.6.2 and others).
func (f *fgen) negated(o ptx.Operand) (ir.Operand, bool) {
	out, ok := f.name(o.X(), isa.Pred)
	if !ok {
		return out, false
	}
	if out.Kind != ir.Register || f.f.Regs[out.Reg].Type != isa.Pred {
		f.g.errorf(o.Span(), "! takes a register of type .pred")
		return out, false
	}
	out.Neg, out.Span = true, o.Span()
	return out, true
}

// name resolves a name: the sink, a symbol, a special register or WARP_SZ. Declared names hide
// special registers, which is why the scopes are searched first.
func (f *fgen) name(n ptx.Operand, t isa.Type) (ir.Operand, bool) {
	span, name := n.Span(), n.Name()
	if name == "_" && n.Field() == "" {
		return ir.Operand{Kind: ir.None, Reg: ir.NoReg, Span: span}, true
	}
	if sym := f.scope.lookup(f, name); sym != nil {
		if n.Field() != "" {
			return f.field(n, sym)
		}
		return f.symbol(sym, span)
	}
	if out, ok := f.special(n); ok {
		return out, true
	}
	if name == "WARP_SZ" && n.Field() == "" {
		c := constant{n: event.WarpSize}
		out, ok := f.constant(span, &c, t)
		out.Sreg = ir.WarpSz
		return out, ok
	}
	f.g.errorf(span, "%s is not declared; expected a register, a variable or a constant", name)
	return ir.Operand{}, false
}

// symbol resolves a plain name to a register, to the components of a vector register, or to an
// address. A .local variable of the module is placed in kernels' frames only: device functions
// would need the frame of their caller.
func (f *fgen) symbol(sym *symbol, span source.Span) (ir.Operand, bool) {
	out := ir.Operand{Reg: ir.NoReg, Span: span}
	switch sym.kind {
	case symReg:
		if !sym.vector {
			out.Kind, out.Reg = ir.Register, sym.regs[0]
			return out, true
		}
		out.Kind = ir.Vector
		for _, r := range sym.regs {
			out.Elems = append(out.Elems, ir.Operand{Kind: ir.Register, Reg: r, Span: span})
		}
	case symVar:
		if sym.v.Space == event.Local && !f.f.Kernel && f.g.top.syms[sym.v.Name] == sym {
			f.g.errorf(span, "%s: a .local variable of the module is supported in kernels only", sym.v.Name)
			return out, false
		}
		out.Kind, out.Var = ir.VarAddr, sym.v
	case symFunc:
		out.Kind, out.Func = ir.FuncAddr, sym.fn
	default:
		f.g.errorf(span, "expected a register, a variable or a constant, found %s", sym.what())
		return out, false
	}
	return out, true
}

// components are the names of a vector's elements (PTX ISA 6.4.3).
const components, colours = "xyzw", "rgba"

// field resolves a component of a vector register, by .xyzw or by .rgba.
func (f *fgen) field(n ptx.Operand, sym *symbol) (ir.Operand, bool) {
	field := n.Field()
	i := strings.Index(components, field)
	if i < 0 {
		i = strings.Index(colours, field)
	}
	switch {
	case sym.kind != symReg || !sym.vector:
		f.g.errorf(n.Span(), "%s is %s and has no component .%s", n.Name(), f.describe(sym), field)
	case len(field) != 1 || i < 0 || i >= len(sym.regs):
		f.g.errorf(n.Span(), "%s has %d components, and none is named .%s", n.Name(), len(sym.regs),
			field)
	default:
		return ir.Operand{Kind: ir.Register, Reg: sym.regs[i], Span: n.Span()}, true
	}
	return ir.Operand{}, false
}

// special resolves a special register (PTX ISA chapter 10). %tid, %ntid, %ctaid and the like
// without a component are vectors of four, whose last component reads zero. It returns false,
// without an error, for names that are not special registers.
func (f *fgen) special(n ptx.Operand) (ir.Operand, bool) {
	out := ir.Operand{Kind: ir.Special, Reg: ir.NoReg, Span: n.Span()}
	if out.Sreg = ir.SregByName(n.Text()); out.Sreg != ir.NoSreg && out.Sreg != ir.WarpSz {
		return out, true
	}
	if x := ir.SregByName(n.Name() + ".x"); x != ir.NoSreg {
		zero := ir.Operand{Kind: ir.Imm, Reg: ir.NoReg, Span: n.Span()}
		switch n.Field() {
		case "w":
			return zero, true
		case "":
			out.Kind, out.Sreg = ir.Vector, ir.NoSreg
			for i := range 3 {
				out.Elems = append(out.Elems, ir.Operand{Kind: ir.Special, Sreg: x + ir.Sreg(i), Reg: ir.NoReg,
					Span: n.Span()})
			}
			out.Elems = append(out.Elems, zero)
			return out, true
		}
	}
	if n.Field() != "" {
		return out, false
	}
	return out, numbered(n.Name(), &out)
}

// numbered resolves the special registers that exist as numbered families: %envreg0 to 31, %pm0 to
// 7, %pm0_64 to 7_64 and %reserved_smem_offset_0 and 1. The digits must be the shortest spelling:
// %pm01 is not %pm1.
func numbered(name string, out *ir.Operand) bool {
	for _, r := range []struct {
		prefix, suffix string
		sreg           ir.Sreg
		n              uint64
	}{{"%envreg", "", ir.EnvReg, 32}, {"%pm", "", ir.PM, 8}, {"%pm", "_64", ir.PM,
		8}, {"%reserved_smem_offset_", "", ir.ReservedSmemOffset, 2}} {
		digits, ok := strings.CutPrefix(name, r.prefix)
		if !ok {
			continue
		}
		digits, ok = strings.CutSuffix(digits, r.suffix)
		n, err := strconv.ParseUint(digits, 10, 8)
		if ok && err == nil && n < r.n && strconv.FormatUint(n, 10) == digits {
			out.Sreg, out.Val = r.sreg, n
			return true
		}
	}
	return false
}

// vector is {a, b, ...}. Immediates in the operand of a mov are parts of its type.
func (f *fgen) vector(v ptx.Operand, t isa.Type) (ir.Operand, bool) {
	out := ir.Operand{Kind: ir.Vector, Reg: ir.NoReg, Span: v.Span()}
	for _, e := range v.Parts().All() {
		if e.Kind() == ptx.Vector {
			f.g.errorf(e.Span(), "a vector cannot contain a vector")
			return out, false
		}
		o, ok := f.value(e, t)
		if !ok {
			return out, false
		}
		out.Elems = append(out.Elems, o)
	}
	if len(out.Elems) == 0 {
		f.g.errorf(v.Span(), "a vector cannot be empty")
		return out, false
	}
	return out, true
}

// mem is an address in brackets: [reg+imm], [var+imm], [imm], or one followed by coordinates (PTX
// ISA 6.4.1).
func (f *fgen) mem(m ptx.Operand) (ir.Operand, bool) {
	out := ir.Operand{Kind: ir.Mem, Reg: ir.NoReg, Span: m.Span()}
	if !f.address(m.X(), &out) {
		return out, false
	}
	for _, e := range m.Parts().From(1).All() {
		o, ok := f.value(e, isa.NoType)
		if !ok {
			return out, false
		}
		out.Elems = append(out.Elems, o)
	}
	return out, true
}

// address resolves the inside of brackets into the base and the byte offset of out. A base is a
// register with an optional constant offset, a variable with one, or a constant alone. Generic
// addresses and masks are for initialisers and rejected here.
func (f *fgen) address(e ptx.Operand, out *ir.Operand) bool {
	base, offset, minus := e, ptx.Operand{}, false
	if e.Kind() == ptx.Binary && (e.Op() == "+" || e.Op() == "-") && f.isRegister(e.X()) {
		base, offset, minus = e.X(), e.Y(), e.Op() == "-"
	}
	if f.isRegister(base) {
		o, ok := f.value(base, isa.NoType)
		if !ok {
			return false
		}
		if o.Kind != ir.Register {
			f.g.errorf(base.Span(), "expected a register, a variable or a number as the base of an address")
			return false
		}
		out.Reg = o.Reg
		if offset.Kind() == ptx.NoOperand {
			return true
		}
		c, ok := f.g.eval(f.scope, f, offset)
		if !ok {
			return false
		}
		if c.float || c.sym != nil {
			f.g.errorf(offset.Span(), "expected an integer as the offset of an address")
			return false
		}
		out.Val = c.n
		if minus {
			out.Val = -c.n
		}
		return true
	}
	c, ok := f.g.eval(f.scope, f, e)
	switch {
	case !ok:
		return false
	case c.float || c.generic || c.mask != 0 || c.sym != nil && c.sym.kind != symVar:
		f.g.errorf(e.Span(), "expected a register, a variable or a number as the base of an address")
		return false
	case c.sym != nil:
		out.Var = c.sym.v
	}
	out.Val = c.n
	return true
}

// isRegister reports whether o names a register, including special ones and components of vectors.
// An undeclared name that starts with % counts, so that the error is about an unknown register and
// not about a bad constant.
func (f *fgen) isRegister(o ptx.Operand) bool {
	if o.Kind() != ptx.Name {
		return false
	}
	sym := f.scope.lookup(f, o.Name())
	if sym == nil {
		return strings.HasPrefix(o.Text(), "%")
	}
	return sym.kind == symReg
}

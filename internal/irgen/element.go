package irgen

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// Operands that are computations: a[i], whose index may be a register (PTX ISA 6.4.2), and
// reg+imm outside of an address, which the text does not have and ptxas accepts. The computation is
// put in front of the instruction, into registers of its own.

// helper emits an instruction in front of the current one, with a new register as its destination,
// and returns that register. The instruction has no guard even if the current one has one: it only
// computes an address and has no other effect.
func (f *fgen) helper(span source.Span, desc isa.Desc, dst isa.Type,
	srcs ...ir.Operand) ir.Operand {
	d := ir.Operand{Kind: ir.Register, Reg: f.addReg("", dst), Span: span}
	in := f.newInstr()
	*in = ir.Instr{Desc: desc, Guard: ir.NoReg, Span: span, Loc: f.frame, Dst: []ir.Operand{d},
		Src: srcs}
	f.f.Regs[d.Reg].Name = "%heddle_" + itoa(int(d.Reg))
	f.emit(in, nil)
	return d
}

// unsigned returns the unsigned integer type of a size in bytes, in which additions and products of
// indices are computed. PTX adds and multiplies integers of these sizes only.
func unsigned(size int) (isa.Type, bool) {
	switch size {
	case 2:
		return isa.U16, true
	case 4:
		return isa.U32, true
	case 8:
		return isa.U64, true
	}
	return isa.NoType, false
}

// offsetFrom resolves reg+imm and reg-imm to a helper addition, in the width of the register. The
// constant is cut to that width; subtraction is addition of the negated constant.
func (f *fgen) offsetFrom(o ptx.Operand) (ir.Operand, bool) {
	base, ok := f.value(o.X(), isa.NoType)
	if !ok {
		return base, false
	}
	t := isa.NoType
	if base.Kind == ir.Register {
		if r := f.f.Regs[base.Reg].Type; !r.IsFloat() && r != isa.Pred {
			t, _ = unsigned(r.Size())
		}
	}
	c, ok := f.g.eval(f.scope, f, o.Y())
	if !ok {
		return base, false
	}
	if t == isa.NoType || c.float || c.sym != nil {
		f.g.errorf(o.Span(), "expected an integer register and a constant on the sides of %s", o.Op())
		return base, false
	}
	n := c.n
	if o.Op() == "-" {
		n = -n
	}
	imm := ir.Operand{Kind: ir.Imm, Reg: ir.NoReg, Val: n & (1<<(8*t.Size()-1)<<1 - 1),
		Span: o.Y().Span()}
	return f.helper(o.Span(), isa.NewAdd(t), t, base, imm), true
}

// registerOffset reports whether o is reg+imm or reg-imm.
func (f *fgen) registerOffset(o ptx.Operand) bool {
	return o.Kind() == ptx.Binary && (o.Op() == "+" || o.Op() == "-") && f.isRegister(o.X())
}

// element resolves a[i] to the address of the element. A constant index gives the variable plus an
// offset and costs no instruction. A register index gives a helper register: variable + offset +
// index * stride, where stride is the size in bytes of an element of the first dimension.
func (f *fgen) element(o ptx.Operand) (ir.Operand, bool) {
	bad := ir.Operand{}
	var sym *symbol
	if n := o.X(); n.Kind() == ptx.Name && n.Field() == "" {
		sym = f.scope.lookup(f, n.Name())
	}
	if sym == nil || sym.kind != symVar {
		f.g.errorf(o.X().Span(), "expected the name of an array in front of [")
		return bad, false
	}
	v := sym.v
	addr := ir.Operand{Kind: ir.VarAddr, Reg: ir.NoReg, Var: v, Span: o.Span()}
	index := o.Y()
	add := uint64(0)
	if b := index; f.registerOffset(b) {
		c, ok := f.g.eval(f.scope, f, b.Y())
		if !ok {
			return bad, false
		}
		if c.float || c.sym != nil {
			f.g.errorf(b.Y().Span(), "expected an integer")
			return bad, false
		}
		if add = c.n; b.Op() == "-" {
			add = -add
		}
		index = b.X()
	}
	if !f.isRegister(index) {
		c, ok := f.g.eval(f.scope, f, index)
		if !ok {
			return bad, false
		}
		if c.float || c.sym != nil {
			f.g.errorf(index.Span(), "expected an integer or a register as the index of an array")
			return bad, false
		}
		addr.Val = c.n * uint64(v.Stride)
		return addr, true
	}
	addr.Val = add * uint64(v.Stride)
	scaled, ok := f.scale(index, v.Stride)
	if !ok {
		return bad, false
	}
	t, _ := unsigned(f.g.mod.AddressSize / 8)
	base := f.helper(o.Span(), isa.NewMove(t), t, addr)
	return f.helper(o.Span(), isa.NewAdd(t), t, base, scaled), true
}

// scale emits the product of an index register and the size of an element, as wide as an address. A
// 32-bit index is widened by its own sign (.s32), else as unsigned. Narrower and floating-point
// registers are rejected.
func (f *fgen) scale(index ptx.Operand, size int) (ir.Operand, bool) {
	i, ok := f.value(index, isa.NoType)
	if !ok {
		return i, false
	}
	wide := f.g.mod.AddressSize / 8
	if i.Kind == ir.Register {
		r := f.f.Regs[i.Reg].Type
		imm := ir.Operand{Kind: ir.Imm, Reg: ir.NoReg, Val: uint64(size), Span: index.Span()}
		t, known := unsigned(r.Size())
		switch {
		case r.IsFloat() || !known || r.Size() < 4:
		case r.Size() == wide:
			return f.helper(index.Span(), isa.NewMul(t), t, i, imm), true
		case r.Size() < wide && r == isa.S32:
			return f.helper(index.Span(), isa.NewMulWide(isa.S32), isa.S64, i, imm), true
		case r.Size() < wide:
			return f.helper(index.Span(), isa.NewMulWide(isa.U32), isa.U64, i, imm), true
		}
	}
	f.g.errorf(index.Span(),
		"expected an integer register of 32 bits, or as wide as an address, as the index of an array")
	return i, false
}

// elementMem resolves a[i] in the place of an address in brackets.
func (f *fgen) elementMem(in *ir.Instr, o ptx.Operand) (ir.Operand, bool) {
	a, ok := f.element(o)
	if !ok {
		return a, false
	}
	out := ir.Operand{Kind: ir.Mem, Reg: ir.NoReg, Var: a.Var, Val: a.Val, Span: o.Span()}
	if a.Kind == ir.Register {
		// Its address is one in the array's own space, which a generic instruction does not read.
		if in.Space == event.Generic {
			f.g.errorf(o.Span(),
				"%s needs the state space of the array, as in %s.global, if the index is a register", in.Op(), in.Op())
			return out, false
		}
		out.Reg, out.Var, out.Val = a.Reg, nil, 0
	}
	return out, true
}

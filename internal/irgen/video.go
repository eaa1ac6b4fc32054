package irgen

import (
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
)

// videoOperand resolves an operand of a video instruction (PTX ISA 9.7.18): a register with or
// without a selector of a byte or half-word, a constant, or, for vmad, a register behind a minus
// sign.
func (f *fgen) videoOperand(o ptx.Operand) (ir.Operand, bool) {
	if o.Kind() == ptx.Unary && o.Op() == "-" && f.isRegister(o.X()) {
		out, ok := f.videoOperand(o.X())
		out.Neg = true
		return out, ok
	}
	if o.Kind() != ptx.Name || o.Field() == "" {
		return f.value(o, isa.B32)
	}
	sym := f.scope.lookup(f, o.Name())
	if sym == nil || sym.kind != symReg || sym.vector {
		return f.value(o, isa.B32)
	}
	out := ir.Operand{Kind: ir.Register, Reg: sym.regs[0], Span: o.Span()}
	if !out.SetSelector(o.Field()) {
		f.g.errorf(o.Span(), "%s is not a selector of a byte or half-word", o.Field())
		return out, false
	}
	return out, true
}

// videoOperands resolves all operands of a video instruction. The first is the destination, which
// cannot be negated; the others are sources in the order of the text. Roles do not apply: a
// selector makes the same register a different operand.
func (f *fgen) videoOperands(in *ir.Instr, its []item) bool {
	for i, it := range its {
		o, ok := f.videoOperand(it.op)
		if !ok {
			return false
		}
		if i == 0 && (o.Kind != ir.Register || o.Neg) {
			f.g.errorf(it.op.Span(), "expected a register to write to")
			return false
		}
		if o.Kind != ir.Register && o.Kind != ir.Imm && o.Kind != ir.Special {
			f.g.errorf(it.op.Span(), "expected a register or a constant")
			return false
		}
		if i == 0 {
			in.Dst = append(in.Dst, o)
		} else {
			in.Src = append(in.Src, o)
		}
	}
	return true
}

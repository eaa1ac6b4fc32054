package slice

import (
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Results that the PTX ISA leaves open. The emulator gives them one value, which a run may show; a
// trace speaks for all executions and takes them as unknown.

// open reports whether the result of an instruction from registers to registers is one of several
// that the PTX ISA allows, whatever its operands are: an approximation, of which it bounds the
// error only (9.7.3.8, 9.7.3.13 to 9.7.3.22, 9.7.4.9, 9.7.4.10), or a sum with a product that may
// be fused with it.
func (f *function) open(in *ir.Instr) bool {
	return in.Type.IsFloat() && (in.Has(isa.Approx) || in.Has(isa.Full) || f.fusible(in))
}

// fusible reports whether an instruction adds the result of a multiplication, and neither names a
// rounding mode: "mul/add sequences with no rounding modifiers may be optimized to use
// fused-multiply-add instructions" (PTX ISA 9.7.3.3 to 9.7.3.5).
func (f *function) fusible(in *ir.Instr) bool {
	is := func(in *ir.Instr, ops ...isa.Operation) bool {
		return slices.Contains(ops, in.Operation()) && in.Type.IsFloat() &&
			!slices.Contains(in.Mods, in.Round.String())
	}
	if !is(in, isa.Sum, isa.Difference) {
		return false
	}
	found := false
	for i := range in.Src {
		in.Src[i].EachReg(func(r ir.RegID) {
			for _, d := range f.defs[r] {
				found = found || is(f.instrs[d], isa.Product)
			}
		})
	}
	return found
}

// DividesByZero reports whether an instruction may be an integer division by 0, which "yields an
// unspecified, machine-specific value" (PTX ISA 9.7.1.8, 9.7.1.9). A trace takes its result as
// unknown in the lanes whose divisor is 0.
func DividesByZero(in *ir.Instr) bool {
	switch in.Operation() {
	case isa.Quotient, isa.Remainder:
		return !in.Type.IsFloat() && len(in.Src) == 2 && !(in.Src[1].Kind == ir.Imm && in.Src[1].Val != 0)
	}
	return false
}

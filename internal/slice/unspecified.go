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

// returnedBy returns the name of the function of the CUDA runtime whose result a load from a
// parameter may read, if the function may fail: malloc returns 0 when its heap is used up, vprintf
// -1 on an error (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations" and
// "Formatted Output"). "" for others.
func (f *function) returnedBy(in *ir.Instr) string {
	if in.Action() != isa.ActLoad || len(in.Src) == 0 || in.Src[0].Var == nil {
		return ""
	}
	for _, call := range f.instrs {
		if !call.IsCall() || call.Callee == nil || len(call.Callee.Blocks) > 0 {
			continue
		}
		switch name := call.Callee.Name; name {
		case "malloc", "vprintf":
			for i := range call.Dst {
				if call.Dst[i].Var == in.Src[0].Var {
					return name
				}
			}
		}
	}
	return ""
}

// sizesCopy reports whether cp.async has a source size that is not known to be at most the copy
// size, which "results in undefined behavior" (PTX ISA 9.7.9.25.3.1). A trace then computes it.
func (f *function) sizesCopy(in *ir.Instr) bool {
	o := SourceSize(in)
	if f.s.opt.Data || o == nil || o.Kind == ir.Register && f.fn.Regs[o.Reg].Type == isa.Pred {
		return false
	}
	least, most := f.interval(o, 0)
	return least < 0 || most > int64(in.Src[2].Val)
}

// SizesCopy reports whether a trace must know the source size of a cp.async.
func (s *Slice) SizesCopy(fn *ir.Func, in *ir.Instr) bool { return s.funcs[fn].sizesCopy(in) }

// SourceSize returns the operand of cp.async with the number of bytes that it reads, or with the
// predicate that says whether it reads none; nil if there is none.
func SourceSize(in *ir.Instr) *ir.Operand {
	n := len(in.Src)
	if slices.Contains(in.Mods, "L2::cache_hint") {
		n--
	}
	if n < 4 {
		return nil
	}
	return &in.Src[3]
}

// interval returns numbers between which an operand of 32 bits is as a signed number: of constants,
// and of selections, minima and maxima of them.
func (f *function) interval(o *ir.Operand, depth int) (least, most int64) {
	const bottom, top = -1 << 31, 1<<31 - 1
	if o.Kind == ir.Imm {
		return int64(int32(o.Val)), int64(int32(o.Val))
	}
	if o.Kind != ir.Register || o.Neg || depth > 4 || f.fn.Regs[o.Reg].Type.Size() != 4 {
		return bottom, top
	}
	if n := len(f.defs[o.Reg]); n == 0 || n > 4 {
		return bottom, top
	}
	least, most = top, bottom
	for _, d := range f.defs[o.Reg] {
		in := f.instrs[d]
		if !isWhole(in.Type) || in.Type.Size() != 4 || len(in.Dst) != 1 || len(in.Src) == 0 {
			return bottom, top
		}
		a, b := f.interval(&in.Src[0], depth+1)
		c, e := a, b
		if len(in.Src) > 1 {
			c, e = f.interval(&in.Src[1], depth+1)
		}
		switch op := in.Operation(); {
		case op == isa.Move && len(in.Src) == 1:
		case op == isa.Selection && len(in.Src) == 3:
			a, b = min(a, c), max(b, e)
		case len(in.Src) != 2:
			return bottom, top
		case op == isa.Minimum && in.Type.Signed():
			a, b = min(a, c), min(b, e)
		case op == isa.Maximum && in.Type.Signed():
			a, b = max(a, c), max(b, e)
		case op == isa.Minimum || op == isa.Conjunction: // no larger than one that is not negative
			switch {
			case a < 0 && c < 0:
				return bottom, top
			case a < 0:
				b = e
			case c >= 0:
				b = min(b, e)
			}
			a = 0
		default:
			return bottom, top
		}
		least, most = min(least, a), max(most, b)
	}
	return least, most
}

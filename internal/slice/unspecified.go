package slice

import (
	"slices"

	"heddle/internal/event"
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

// fusible reports whether an instruction adds what may be the result of a multiplication, and
// neither names a rounding mode: "mul/add sequences with no rounding modifiers may be optimized to
// use fused-multiply-add instructions" (PTX ISA 9.7.3.3 to 9.7.3.5).
func (f *function) fusible(in *ir.Instr) bool {
	if !contracts(in, isa.Sum, isa.Difference) {
		return false
	}
	f.findProducts()
	return slices.ContainsFunc(in.Src, f.isProduct)
}

// contracts reports whether an instruction is one of the operations, of floating-point numbers and
// without a rounding mode.
func contracts(in *ir.Instr, ops ...isa.Operation) bool {
	return slices.Contains(ops, in.Operation()) && in.Type.IsFloat() &&
		!slices.Contains(in.Mods, in.Round.String())
}

// isProduct reports whether an operand is, or contains, a register of f.products.
func (f *function) isProduct(o ir.Operand) (is bool) {
	o.EachReg(func(r ir.RegID) { is = is || f.products[r] })
	return is
}

// findProducts finds the registers whose value may come from a multiplication that can be fused, by
// a forward search. An optimizer sees through moves, signs, selections, bits and memory of the
// thread, and fuses fma(-a, b, c) as well, so the search goes through each instruction from
// registers to registers and what is loaded or passed to and from functions, if the kernel has such
// a multiplication at all. It ends at integers made of numbers and back, comparisons, and exchanges
// with other lanes. So it finds more registers than compilers fuse.
func (f *function) findProducts() {
	if f.products != nil {
		return
	}
	f.products = make([]bool, len(f.fn.Regs))
	if !f.s.multiplies() {
		return
	}
	if f.fn != f.s.order[0] {
		for _, v := range f.fn.Params {
			if v.InReg {
				f.products[v.Reg] = true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, in := range f.instrs {
			if !f.passesProduct(in) {
				continue
			}
			for i := range in.Dst {
				in.Dst[i].EachReg(func(r ir.RegID) {
					changed = changed || !f.products[r]
					f.products[r] = true
				})
			}
		}
	}
}

// passesProduct reports whether the results of an instruction may come from a multiplication.
func (f *function) passesProduct(in *ir.Instr) bool {
	switch in.Action() {
	case isa.ActCompute:
		switch op := in.Operation(); {
		case contracts(in, isa.Product):
			return true
		case op == isa.Comparison, op == isa.ComparisonValue,
			op == isa.Conversion && in.Type.IsFloat() != in.SType.IsFloat():
			return false
		}
		return slices.ContainsFunc(in.Src, f.isProduct)
	case isa.ActLoad, isa.ActAtomic, isa.ActClusterAccess:
		switch in.Space {
		case event.Const, event.Global:
			return false
		case event.Param:
			return !f.fn.Kernel || !f.ownParam(in.Src[0].Var)
		}
		return true
	case isa.ActCall:
		return true
	}
	return false
}

// multiplies reports whether the kernel or a function that it calls has a multiplication that can
// be fused.
func (s *Slice) multiplies() bool {
	for _, fn := range s.order {
		for _, in := range s.funcs[fn].instrs {
			if contracts(in, isa.Product) {
				return true
			}
		}
	}
	return false
}

// OpenFor reports whether the result of an instruction is open for some values of a source: an
// integer division by 0 "yields an unspecified, machine-specific value" (PTX ISA 9.7.1.8, 9.7.1.9),
// fns is undefined for a base above 31 (9.7.1.17), and neg and abs of a NaN yield "an unspecified
// NaN" (9.7.3.9, 9.7.3.10, 9.7.4.5, 9.7.4.6; abs.f64 passes it through). A trace takes it as
// unknown in the lanes with these.
func OpenFor(in *ir.Instr) bool {
	switch in.Operation() {
	case isa.NthSetBit:
		return len(in.Src) == 3 && !(in.Src[1].Kind == ir.Imm && in.Src[1].Val <= 31)
	case isa.Quotient, isa.Remainder:
		return !in.Type.IsFloat() && len(in.Src) == 2 && !(in.Src[1].Kind == ir.Imm && in.Src[1].Val != 0)
	case isa.Negation:
		return in.Type.IsFloat()
	case isa.Magnitude:
		return in.Type.IsFloat() && in.Type != isa.F64
	}
	return false
}

// MayFail reports whether a function of the CUDA runtime may fail, and return something else than
// the emulator does: malloc returns 0 when its heap is used up, vprintf -1 on an error (CUDA C++
// Programming Guide, "Dynamic Global Memory Allocation and Operations" and "Formatted Output").
func MayFail(name string) bool { return name == "malloc" || name == "vprintf" }

// returnedBy returns the name of the function of the CUDA runtime whose result a load from a
// parameter may read, if the function may fail. "" for others. Where the result goes into another
// call without a load, the emulator knows it as unknown.
func (f *function) returnedBy(in *ir.Instr) string {
	if in.Action() != isa.ActLoad || len(in.Src) == 0 || in.Src[0].Var == nil {
		return ""
	}
	for _, call := range f.instrs {
		if !call.IsCall() || call.Callee == nil || len(call.Callee.Blocks) > 0 {
			continue
		}
		if name := call.Callee.Name; MayFail(name) {
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
	least, most := f.interval(o, in.Index, 0)
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

// interval returns numbers between which an operand of 32 bits, as instruction at reads it, is as a
// signed number: of constants, and of selections, minima and maxima of them. A register must have
// been written by one of these in front of its use: else it has any value, or, of a parameter, that
// of the caller.
func (f *function) interval(o *ir.Operand, at, depth int) (least, most int64) {
	const bottom, top = -1 << 31, 1<<31 - 1
	if o.Kind == ir.Imm {
		return int64(int32(o.Val)), int64(int32(o.Val))
	}
	if o.Kind != ir.Register || o.Neg || depth > 4 || f.fn.Regs[o.Reg].Type.Size() != 4 {
		return bottom, top
	}
	if len(f.defs[o.Reg]) > 4 || !slices.ContainsFunc(f.defs[o.Reg], func(d int32) bool {
		return f.always(int(d), at)
	}) {
		return bottom, top
	}
	least, most = top, bottom
	for _, d := range f.defs[o.Reg] {
		in := f.instrs[d]
		if !isWhole(in.Type) || in.Type.Size() != 4 || len(in.Dst) != 1 || len(in.Src) == 0 {
			return bottom, top
		}
		a, b := f.interval(&in.Src[0], int(d), depth+1)
		c, e := a, b
		if len(in.Src) > 1 {
			c, e = f.interval(&in.Src[1], int(d), depth+1)
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

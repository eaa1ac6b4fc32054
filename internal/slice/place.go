package slice

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Place is a byte of a parameter of the kernel or of a variable.
type Place struct {
	Var *ir.Var
	At  int64 // bytes from its start
}

// maxPlaceSteps bounds the instructions between the address of a variable and its use.
const maxPlaceSteps = 32

// placeOf returns the place of which an operand of instruction at holds the address, or at whose
// address the operand accesses memory, if that is a variable's address plus a constant. The address
// is followed through moves, conversions between spaces and sums with constants, each the one
// definition of its register; other addresses have none. An instruction that is not executed on all
// paths to the use may leave a register without a value there, which no right program uses.
func (f *function) placeOf(o *ir.Operand) (Place, bool) {
	var p Place
	for range maxPlaceSteps {
		switch {
		case o.Kind == ir.VarAddr || o.Kind == ir.Mem && o.Var != nil && o.Reg == ir.NoReg:
			p.Var, p.At = o.Var, p.At+int64(o.Val)
			return p, true
		case o.Kind != ir.Register && (o.Kind != ir.Mem || o.Var != nil), o.Reg == ir.NoReg, o.Neg,
			f.fn.Regs[o.Reg].Type.Size() != 8, len(f.defs[o.Reg]) != 1:
			return Place{}, false
		}
		if o.Kind == ir.Mem {
			p.At += int64(o.Val)
		}
		def := f.instrs[f.defs[o.Reg][0]]
		if def.Guard != ir.NoReg || len(def.Dst) != 1 || def.Dst[0].Kind != ir.Register {
			return Place{}, false
		}
		switch op := def.Operation(); {
		case def.Action() == isa.ActConvertAddress && len(def.Src) == 1,
			def.Action() == isa.ActCompute && op == isa.Move && len(def.Src) == 1 && def.Vec <= 1:
			o = &def.Src[0]
		case def.Action() == isa.ActCompute && op == isa.Sum && len(def.Src) == 2 && !def.ReadsCarry() &&
			def.Type.Size() == 8 && !def.Type.IsFloat():
			i := slices.IndexFunc(def.Src, func(s ir.Operand) bool { return s.Kind == ir.Imm })
			if i < 0 {
				return Place{}, false
			}
			p.At += int64(def.Src[i].Val)
			o = &def.Src[1-i]
		default:
			return Place{}, false
		}
	}
	return Place{}, false
}

// readsOwnParam reports whether a load by a generic address is from a parameter of the kernel: the
// code for one with __grid_constant__ is such.
func (f *function) readsOwnParam(in *ir.Instr) bool {
	if in.Action() != isa.ActLoad || in.Space != event.Generic || in.Order.Strong() || !f.fn.Kernel {
		return false
	}
	p, ok := f.placeOf(&in.Src[0])
	return ok && p.Var.Space == event.Param && f.ownParam(p.Var)
}

// selectsOwnParam reports whether a load by a generic address may be from a parameter of the kernel
// because its address is one of two, by selp, of which one is such: that of a number in the
// parameter, or a pointer to one if there is a pointer. The trace executes the load; where it does
// not know the address, the value is input. In global memory the value may change.
func (f *function) selectsOwnParam(in *ir.Instr) bool {
	o := &in.Src[0]
	if in.Action() != isa.ActLoad || in.Space != event.Generic || in.Order.Strong() || !f.fn.Kernel ||
		o.Kind != ir.Mem || o.Var != nil || o.Reg == ir.NoReg || f.fn.Regs[o.Reg].Type.Size() != 8 ||
		len(f.defs[o.Reg]) != 1 {
		return false
	}
	def := f.instrs[f.defs[o.Reg][0]]
	if def.Guard != ir.NoReg || def.Operation() != isa.Selection || len(def.Src) != 3 {
		return false
	}
	for i := range def.Src[:2] {
		if p, ok := f.placeOf(&def.Src[i]); ok && p.Var.Space == event.Param && f.ownParam(p.Var) {
			return true
		}
	}
	return false
}

// Selected reports whether an instruction is a load that may be from a parameter of the kernel, as
// its address is selected, and from global memory otherwise.
func (s *Slice) Selected(fn *ir.Func, in *ir.Instr) bool {
	f := s.funcs[fn]
	return f.kindOf(in) == constant && f.selectsOwnParam(in)
}

// mapBytes is the size of a tensor map (PTX ISA 5.5.1).
const mapBytes = 128

// Name is how --tmap names a tensor map at the place: what holds others too has an offset.
func (p Place) Name() string {
	if p.At == 0 && p.Var.Size <= mapBytes {
		return p.Var.Shown()
	}
	return fmt.Sprintf("%s+%d", p.Var.Shown(), p.At)
}

// TensorMap returns the place of the tensor map of a bulk copy of the kernel, or of the pointer to
// it: without a variable if it is not found, it may be one of several, or the copy has none.
func (s *Slice) TensorMap(in *ir.Instr) Place {
	if ps := s.TensorMaps(in); len(ps) == 1 {
		return ps[0]
	}
	return Place{}
}

// TensorMaps returns the places that may have the tensor map of a bulk copy of the kernel, or a
// pointer to it; nil if the copy has none, or it may be elsewhere. Where only the variable is known,
// the place is its start.
func (s *Slice) TensorMaps(in *ir.Instr) (out []Place) {
	use, ok := in.Bulk()
	if !ok || use.Size >= 0 {
		return nil
	}
	o := in.Src[0]
	if use.To == event.Shared {
		o = in.Src[1]
	}
	for _, fn := range s.order {
		f := s.funcs[fn]
		if in.Index >= len(f.instrs) || f.instrs[in.Index] != in {
			continue
		}
		if p, ok := f.placeOf(&o); ok {
			return []Place{p}
		}
		copied := *in
		copied.Src = []ir.Operand{o}
		vs, all, _ := f.basesOf(&copied)
		if !all {
			return nil
		}
		for _, v := range vs {
			out = append(out, Place{Var: v})
		}
	}
	return out
}

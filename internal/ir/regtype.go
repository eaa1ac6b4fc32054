package ir

import (
	"fmt"

	"heddle/internal/isa"
)

// TypeError is an operand whose register type the instruction does not take.
type TypeError struct {
	Operand *Operand
	Msg     string
}

// CheckTypes compares the registers of an instruction that is executable with its types (PTX ISA
// 6.1, 9.4.1): sizes are equal and kinds agree; for ld, st and cvt a register of a bit or integer
// type may be wider than the instruction type. Operands of isa.AnyType are not checked, nor are
// special registers, which are read at the width of the instruction.
func CheckTypes(f *Func, in *Instr) []TypeError {
	if in.Row == nil || !in.Row.Executable || in.IsCall() {
		return nil
	}
	c := typeChecker{f: f, in: in, relaxed: in.Widens()}
	for i := range in.Dst {
		c.operand(&in.Dst[i], in.DstType(i))
	}
	for i := range in.Src {
		c.operand(&in.Src[i], in.SrcType(i))
	}
	return c.errs
}

// typeChecker compares the operands of one instruction with their types. relaxed allows registers
// that are wider than the type (isa.Desc.Widens).
type typeChecker struct {
	f       *Func
	in      *Instr
	relaxed bool
	errs    []TypeError
}

// operand checks one operand. Constants have no register type; irgen gave them the bits of the
// type.
func (c *typeChecker) operand(o *Operand, t isa.Type) {
	switch o.Kind {
	case Register:
		if t != isa.AnyType && t != isa.OtherType {
			c.register(o, t)
		}
	case Vector:
		c.vector(o, t)
	case Mem:
		if o.Var == nil && o.Reg != NoReg {
			c.base(o)
		}
	}
}

// vector checks the elements of {a, b}.
func (c *typeChecker) vector(o *Operand, t isa.Type) {
	if c.in.Operation() == isa.Move {
		t = PartType(&c.in.Desc, t, len(o.Elems))
	}
	for i := range o.Elems {
		if o.Elems[i].Kind == Register && t != isa.AnyType && t != isa.OtherType {
			c.register(&o.Elems[i], t)
		}
	}
}

// PartType returns the type of each of n elements of a vector operand of a mov of type t. They are
// the parts of one value (PTX ISA 9.7.9.4), or, with .v2 and .v4, one value each.
func PartType(d *isa.Desc, t isa.Type, n int) isa.Type {
	if d.Vec > 1 || n == 0 {
		return t
	}
	return isa.BitsOf(t.Size() / n)
}

// base checks the register of an address: 32 or 64 bits, no float (PTX ISA 6.4.1).
func (c *typeChecker) base(o *Operand) {
	t := c.f.Regs[o.Reg].Type
	if (t.Size() != 4 && t.Size() != 8) || t.IsFloat() {
		c.errorf(o, "%s is of type .%s; an address needs an integer register of 32 or 64 bits",
			c.f.Regs[o.Reg].Name, t)
	}
}

// register checks one register against type t.
func (c *typeChecker) register(o *Operand, t isa.Type) {
	r := &c.f.Regs[o.Reg]
	if !fits(r.Type, t, c.relaxed) {
		c.errorf(o, "%s is of type .%s, but %s takes .%s here (PTX ISA 9.4)", r.Name, r.Type, c.in.Op(),
			t)
	}
}

// errorf records an error about an operand.
func (c *typeChecker) errorf(o *Operand, format string, args ...any) {
	c.errs = append(c.errs, TypeError{o, fmt.Sprintf(format, args...)})
}

// fits reports whether a register of type r can hold an operand of type t.
func fits(r, t isa.Type, relaxed bool) bool {
	if r == isa.Pred || t == isa.Pred {
		return r == t
	}
	rs, ts := r.Size(), t.Size()
	rb, tb := r.Class() == isa.Bits, t.Class() == isa.Bits
	switch {
	case rs < ts || rs > ts && !relaxed:
		return false
	// Tables 27 and 28: a .bX on either side takes all; a float in a wider register is odd but allowed
	case rb || tb:
		return true
	case r.IsFloat() != t.IsFloat():
		return false
	case r.IsFloat():
		return rs == ts
	}
	return true
}

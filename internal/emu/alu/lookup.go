package alu

import (
	"strings"

	"heddle/internal/isa"
)

// families maps an opcode to what chooses its function.
var families = map[string]func(*isa.Desc) (Func, error){
	"add": add, "sub": sub, "mul": mul, "mad": mad, "fma": fma,
	"add.cc": add, "sub.cc": sub, "mad.cc": mad,
	"addc": addc, "subc": subc, "madc": madc,
	"mul24": mul24, "mad24": mad24, "sad": sad, "div": div, "rem": rem,
	"abs": abs, "neg": neg, "min": minmax, "max": minmax,
	"popc": popc, "clz": clz, "bfind": bfind, "brev": brev, "bfe": bfe, "bfi": bfi,
	"fns": fns, "szext": szext, "bmsk": bmsk, "dp4a": dp4a, "dp2a": dp2a,

	"and": logic, "or": logic, "xor": logic, "not": not, "cnot": cnot, "lop3": lop3,
	"shl": shl, "shr": shr, "shf": shf, "prmt": prmt,

	"setp": setp, "set": set, "selp": selp, "slct": slct, "mov": mov,
	"cvt": cvt, "cvt.pack": cvtPack,

	"rcp": rcp, "sqrt": sqrt, "rsqrt": rsqrt, "sin": transcendental, "cos": transcendental,
	"lg2": transcendental, "ex2": transcendental, "tanh": transcendental,
	"copysign": copysign, "testp": testp,
}

// Lookup returns the function that executes the instruction, or an *UnsupportedError. It is called once for
// an instruction, so it may take its time; the function it returns may not.
//
// The destination is written as wide as the instruction type says. If the register is wider, the caller
// must still extend the result of a signed integer type (PTX ISA 9.4.1, table 28).
func Lookup(d *isa.Desc) (Func, error) {
	if d.Row == nil {
		return nil, unsupported(d, "the instruction was not decoded")
	}
	f, ok := families[d.Row.Opcode]
	if !ok {
		return nil, unsupported(d, "it is not a register-to-register instruction implemented here")
	}
	for _, m := range d.Mods {
		// These have no place in Desc of their own, so that no family could see them.
		if m == "oob" || m == "abs" && !d.Has(isa.XorSign) || strings.HasPrefix(m, "scaled::") {
			return nil, unsupported(d, "modifier ."+m)
		}
	}
	return f(d)
}

// unsupported names the form of d that is not implemented.
func unsupported(d *isa.Desc, why string) error {
	s := "instruction"
	if d.Row != nil {
		s = d.Row.Opcode
	}
	if len(d.Mods) > 0 {
		s += "." + strings.Join(d.Mods, ".")
	} else if d.Type != isa.NoType {
		s += "." + d.Type.String()
	}
	return &UnsupportedError{Desc: s, Why: why}
}

// noForm is the answer of a family to a combination of types and modifiers that it does not have.
func noForm(d *isa.Desc) (Func, error) {
	return nil, unsupported(d, "no such form, or one that is not implemented")
}

// only reports whether d has no flags but those of allowed. A flag that a family does not know must not be
// ignored: it would change the result.
func only(d *isa.Desc, allowed isa.Flag) bool { return d.Flags&^allowed == 0 }

package alu

import "heddle/internal/isa"

// family is what is known of an opcode: how many sources its functions read, predicates not
// counted, and what chooses the function for a form.
type family struct {
	sources int
	choose  func(*isa.Desc) (Func, error)
}

var families = map[string]family{
	"add": {2, add}, "sub": {2, sub}, "mul": {2, mul}, "mad": {3, mad}, "fma": {3, fma},
	"addc": {2, addc}, "subc": {2, subc}, "madc": {3, madc}, "mul24": {2, mul24}, "mad24": {3, mad24},
	"sad": {3, sad}, "div": {2, div}, "rem": {2, rem}, "abs": {1, abs}, "neg": {1, neg},
	"min": {2, minmax}, "max": {2, minmax},
	"popc": {1, popc}, "clz": {1, clz}, "bfind": {1, bfind}, "brev": {1, brev}, "bfe": {3, bfe},
	"bfi": {4, bfi},
	"fns": {3, fns}, "szext": {2, szext}, "bmsk": {2, bmsk}, "dp4a": {3, dp4a}, "dp2a": {3, dp2a},

	"and": {2, logic}, "or": {2, logic}, "xor": {2, logic}, "not": {1, not}, "cnot": {1, cnot},
	"lop3": {4, lop3},
	"shl":  {2, shl}, "shr": {2, shr}, "shf": {3, shf}, "prmt": {3, prmt},

	"setp": {2, setp}, "set": {2, set}, "selp": {2, selp}, "slct": {3, slct}, "mov": {1, mov},
	"cvt": {1, cvt}, "cvt.pack": {3, cvtPack},

	"rcp": {1, rcp}, "sqrt": {1, sqrt}, "rsqrt": {1, rsqrt}, "sin": {1, transcendental},
	"cos": {1, transcendental},
	"lg2": {1, transcendental}, "ex2": {1, transcendental}, "tanh": {1, transcendental},
	"copysign": {2, copysign}, "testp": {1, testp},
}

// Sources returns how many entries of Ops.S the function of d reads, and false if the opcode is
// none of this package's. An instruction written with more operands is a form that a Desc does not
// tell from the one with fewer, such as min.f32 of three inputs: it must not be executed by the
// function of Lookup.
func Sources(d *isa.Desc) (int, bool) {
	if d.Row == nil {
		return 0, false
	}
	f, ok := families[d.Row.Opcode]
	switch {
	case d.Type == isa.Pred:
		return 0, ok
	case d.Row.Opcode == "cvt.pack" && (d.Type == isa.U16 || d.Type == isa.S16):
		return 2, ok
	case d.Row.Opcode == "cvt" && d.SType == isa.F32 && (elements(d.Type) == 16 || isF8x2(d.Type)):
		return 2, ok
	}
	return f.sources, ok
}

// Lookup returns the function that executes the instruction, or an *UnsupportedError. It is called
// once for an instruction, so it may take its time; the function it returns may not.
//
// The destination is written as wide as the instruction type says. If the register is wider, the
// caller must still extend the result of a signed integer type (PTX ISA 9.4.1, table 28).
func Lookup(d *isa.Desc) (Func, error) {
	if d.Row == nil {
		return nil, unsupported(d, "the instruction was not decoded")
	}
	f, ok := families[d.Row.Opcode]
	if !ok {
		return nil, unsupported(d, "it is not a register-to-register instruction implemented here")
	}
	return f.choose(d)
}

// unsupported names the form of d that is not implemented.
func unsupported(d *isa.Desc, why string) error {
	return &UnsupportedError{Desc: d.Text(), Why: why}
}

// noForm is the answer of a family to a combination of types and modifiers that it does not have.
func noForm(d *isa.Desc) (Func, error) {
	return nil, unsupported(d, "no such form, or one that is not implemented")
}

// only reports whether d has no flags but those of allowed. A flag that a family does not know must
// not be ignored: it would change the result.
func only(d *isa.Desc, allowed isa.Flag) bool { return d.Flags&^allowed == 0 }

package alu

import "heddle/internal/isa"

// family describes an opcode: the number of sources that its functions read, not counting
// predicates, and the selection of the function for a form.
type family struct {
	sources int
	choose  func(*isa.Desc) (Func, error)
}

// families maps each opcode of this package to its family.
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

// Sources returns the number of entries of Ops.S that the function of d reads, and false if the
// opcode does not belong to this package. An instruction written with more operands is a form that
// a Desc does not distinguish from the one with fewer, such as min.f32 with three inputs. The
// function of Lookup must not execute it.
func Sources(d *isa.Desc) (int, bool) {
	if d.Row == nil {
		return 0, false
	}
	f, ok := families[d.Row.Opcode]
	switch {
	case d.Type == isa.Pred:
		return 0, ok
	// The 16-bit forms fill the register, so that there is no third operand.
	case d.Row.Opcode == "cvt.pack" && (d.Type == isa.U16 || d.Type == isa.S16):
		return 2, ok
	case d.Row.Opcode == "cvt" && d.SType == isa.F32 && elements(d.Type) == 16 && d.Round == isa.RS:
		return 3, ok
	case d.Row.Opcode == "cvt" && d.SType == isa.F32 &&
		(elements(d.Type) == 16 || packedFormatOf(d.Type) != nil || d.Type == isa.UE8M0x2):
		return 2, ok
	}
	return f.sources, ok
}

// Lookup returns the function that executes the instruction, or an *UnsupportedError. It is called
// once for each instruction and may be slow, unlike the function that it returns.
//
// The result has the width of the instruction type. If the destination register is wider, the
// caller must extend the result of a signed integer type (PTX ISA 9.4.1, table 28).
func Lookup(d *isa.Desc) (Func, error) {
	if d.Row == nil {
		return nil, unsupported(d, "the instruction was not decoded")
	}
	f, ok := families[d.Row.Opcode]
	if !ok {
		return nil, unsupported(d, "it is not an implemented register-to-register instruction")
	}
	return f.choose(d)
}

// unsupported names the form of d that is not implemented.
func unsupported(d *isa.Desc, why string) error {
	return &UnsupportedError{Desc: d.Text(), Why: why}
}

// noForm returns the error for a combination of types and modifiers that the family does not have.
func noForm(d *isa.Desc) (Func, error) {
	return nil, unsupported(d,
		"this combination of types and modifiers does not exist or is not implemented")
}

// only reports whether d has no flags except those of allowed. A flag that a family does not know
// must not be ignored, since it would change the result.
func only(d *isa.Desc, allowed isa.Flag) bool { return d.Flags&^allowed == 0 }

package isa

import (
	"strings"

	"heddle/internal/event"
)

// Rounding is a rounding modifier (PTX ISA 6.5.2). The integer forms round a float to an integral
// value.
type Rounding uint8

// The rounding modifiers. Those that end in I have the direction of the one without it.
const (
	NoRounding Rounding = iota
	RN                  // to nearest, ties to even
	RZ                  // toward zero
	RM                  // toward minus infinity
	RP                  // toward plus infinity
	RNA                 // to nearest, ties away from zero: cvt to .tf32
	RS                  // stochastic: by random bits that are an operand of cvt
	RNI
	RZI
	RMI
	RPI
)

// Cmp is a comparison operator of setp, set, slct (PTX ISA 9.3). The unsigned and unordered forms
// are operators of their own.
type Cmp uint8

// The comparison operators. The ordered ones are false if an operand is NaN, those that end in U
// are true (PTX ISA 9.3.1.2).
const (
	NoCmp Cmp = iota
	EQ
	NE
	LT
	LE
	GT
	GE
	LO  // unsigned <
	LS  // unsigned <=
	HI  // unsigned >
	HS  // unsigned >=
	EQU // equal or unordered, and so on for the next five
	NEU
	LTU
	LEU
	GTU
	GEU
	NUM // neither operand is NaN
	NAN // an operand is NaN
)

// Fn is the operation that a modifier selects within an opcode: what an atom does, how a shfl
// moves, how setp combines, how mul widens.
type Fn uint8

// The operations, grouped by the opcodes that have them. One word may serve several opcodes; the
// row decides which meaning applies.
const (
	NoFn Fn = iota
	// Boolean combination of setp and set (PTX ISA 9.7.6); reductions of redux (9.7.13.12), bar.red
	// (9.7.13.1), atom and red (9.7.13.5, 9.7.13.6).
	FnAnd
	FnOr
	FnXor
	FnPopc
	FnAdd
	FnMin
	FnMax
	FnInc // wraps to zero at the operand
	FnDec // wraps to the operand at zero
	FnCAS // compare and swap: the only operation with two operands
	FnExch
	// shfl: how the source lane is computed (9.7.9.5, 9.7.9.6)
	FnUp
	FnDown
	FnBfly
	FnIdx
	// vote and match (9.7.13.8 to 9.7.13.10)
	FnAll
	FnAny
	FnUni
	FnBallot
	// mul and mad: which half of the product, or all of it (9.7.1.3, 9.7.1.4)
	FnLo
	FnHi
	FnWide
	// bar and barrier. A .red form has its reduction instead: FnPopc, FnAnd or FnOr.
	FnSync
	FnArrive
	FnRed
	FnWait
	// shf (9.7.8.7)
	FnLeft  // .l
	FnRight // .r
	// prmt: modes that select bytes in a fixed pattern (9.7.9.7)
	FnF4E
	FnB4E
	FnRC8
	FnECL
	FnECR
	FnRC16
	// testp: the property of a float that is tested (9.7.3.1)
	FnFinite
	FnInfinite
	FnNumber
	FnNotANumber
	FnNormal
	FnSubnormal
)

// Flag is a set of modifiers that are either written or not.
type Flag uint32

// The flags. Each has the name of its modifier, and the comment has what the name does not say.
const (
	FTZ      Flag = 1 << iota // subnormal inputs and results become zero
	Sat                       // .sat, .satfinite where the type says so
	Approx                    // .approx
	Full                      // div.full
	CC                        // writes the carry flag: .cc
	Aligned                   // .aligned, written or implied (bar.sync)
	SyncMask                  // the _sync forms: shfl.sync, vote.sync, match.sync, bar.warp.sync
	Uni                       // bra.uni, call.uni, ret.uni
	ToSpace                   // cvta.to: from generic to a space
	Wrap                      // shf.wrap (else .clamp)
	Shiftamt                  // bfind.shiftamt
	NaNProp                   // min.NaN, max.NaN
	XorSign                   // min.xorsign.abs
	Relu
	NC       // ld.global.nc
	NoFtz    // .noftz
	Volatile // .volatile was written
	Satfinite
	Warp   // bar.warp
	Abs    // .abs on its own: min.abs, max.abs of three sources, redux.abs
	OOB    // fma.oob
	Scaled // cvt.scaled::n2::ue8m0
	MMIO   // ld.mmio, st.mmio
)

// Desc is a decoded instruction without its operands. Defaults of the ISA are filled in: add.f32
// has Round RN, atom.add has Order Relaxed and Scope GPU, bar.sync has Aligned.
type Desc struct {
	Row *Row // the opcode's row; never nil after a successful Decode

	Type  Type // the instruction type: of the destination where there are two (cvt.D.S, set.D.S)
	SType Type // the source type of a two-typed instruction (cvt, set, slct, mul.wide has none)
	Fn    Fn
	Cmp   Cmp
	Round Rounding
	Flags Flag
	Vec   uint8 // elements of a vector ld/st: 1, 2, 4 or 8

	// Memory instructions and fences.
	Space event.Space
	Order event.Order
	Scope event.Scope

	// Section is where the PTX ISA text describes this form: add.s32 is 9.7.1.1, add.f32 is 9.7.3.3.
	Section string

	// Mods are all dotted modifiers as written, in order and without dots, for printing. Those that
	// belong to a row's opcode are among them: "warp" and "sync" of bar.warp.sync.
	Mods []string
}

// Text returns the instruction's opcode with its modifiers, as written.
func (d *Desc) Text() string {
	if d.Row == nil {
		return strings.Join(d.Mods, ".")
	}
	first, _, _ := strings.Cut(d.Row.Opcode, ".")
	return strings.Join(append([]string{first}, d.Mods...), ".")
}

// Has reports whether all flags of f are set.
func (d *Desc) Has(f Flag) bool { return d.Flags&f == f }

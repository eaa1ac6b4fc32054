package isa

import (
	"strings"

	"heddle/internal/event"
)

// Rounding is a rounding modifier (PTX ISA 6.5.2). The integer forms round a float to an integral
// value.
type Rounding uint8

const (
	NoRounding Rounding = iota
	RN
	RZ
	RM
	RP
	RNA
	RS
	RNI
	RZI
	RMI
	RPI
)

// Cmp is a comparison operator of setp, set, slct (PTX ISA 9.3). The unsigned and unordered forms
// are operators of their own.
type Cmp uint8

const (
	NoCmp Cmp = iota
	EQ
	NE
	LT
	LE
	GT
	GE
	LO // unsigned <
	LS // unsigned <=
	HI // unsigned >
	HS // unsigned >=
	EQU
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

const (
	NoFn Fn = iota
	// Boolean combination of setp and set; reductions of redux, bar.red, atom and red.
	FnAnd
	FnOr
	FnXor
	FnPopc
	FnAdd
	FnMin
	FnMax
	FnInc
	FnDec
	FnCAS
	FnExch
	// shfl
	FnUp
	FnDown
	FnBfly
	FnIdx
	// vote and match
	FnAll
	FnAny
	FnUni
	FnBallot
	// mul and mad
	FnLo
	FnHi
	FnWide
	// bar and barrier. A .red form has its reduction instead: FnPopc, FnAnd or FnOr.
	FnSync
	FnArrive
	FnRed
	FnWait
	// shf
	FnLeft  // .l
	FnRight // .r
	// prmt modes
	FnF4E
	FnB4E
	FnRC8
	FnECL
	FnECR
	FnRC16
	// testp
	FnFinite
	FnInfinite
	FnNumber
	FnNotANumber
	FnNormal
	FnSubnormal
)

// Flag is a set of modifiers that are either written or not.
type Flag uint32

const (
	FTZ      Flag = 1 << iota
	Sat           // .sat, .satfinite where the type says so
	Approx        // .approx
	Full          // div.full
	CC            // writes the carry flag: .cc
	Aligned       // .aligned, written or implied (bar.sync)
	SyncMask      // the _sync forms: shfl.sync, vote.sync, match.sync, bar.warp.sync
	Uni           // bra.uni, call.uni, ret.uni
	ToSpace       // cvta.to: from generic to a space
	Wrap          // shf.wrap (else .clamp)
	Shiftamt      // bfind.shiftamt
	NaNProp       // min.NaN, max.NaN
	XorSign       // min.xorsign.abs
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

// Package alu gives the meaning of PTX instructions that map registers to registers, 32 lanes at a
// time: arithmetic, logic, shifts, bit fields, comparison, selection and conversion. It knows no
// memory, no control flow and no threads.
//
// What it follows: PTX ISA 9.7.1 to 9.7.9, section by section; IEEE 754-2019 for rounding. What the
// ISA leaves to the machine is decided here once and written at the place: integer division by zero
// (divrem.go), NaN payloads (float.go), the error of approximate functions (approx.go).
package alu

// Lanes is one register of one warp. A value narrower than 64 bits stands in the low bits; the bits
// above are zero, for signed types too. Every Func keeps to that for its destinations. Of its
// sources it reads only the bits of the instruction's type, so a wider register may stand there
// (PTX ISA 9.4.1).
type Lanes = [32]uint64

// Ops are the operands of one execution. Predicates are bit masks with a bit for each lane.
//
// Sources may alias destinations: a Func reads all of a lane's sources before it writes that lane,
// and never reads another lane.
//
// Ops holds scratch space, so reuse one for many executions; it belongs to one goroutine at a time.
type Ops struct {
	D  [2]*Lanes  // destinations: D[1] for the second of two
	S  [4]*Lanes  // sources in the order of the PTX text, predicates left out
	PD [2]*uint32 // predicate destinations: setp p|q; nil if absent or "_"
	PS [2]uint32  // predicate sources, negation already applied
	CC *uint32    // the carry flag of each lane, for the .cc and addc/subc/madc forms

	tmp Lanes // results on their way to D[0] when the mask is partial
}

// Func executes one instruction for the lanes of mask. Lanes outside mask, and their bits in
// predicate destinations, keep their values.
type Func func(o *Ops, mask uint32)

// UnsupportedError says which form of an instruction this package does not implement.
type UnsupportedError struct {
	Desc string // opcode with modifiers, as written
	Why  string
}

func (e *UnsupportedError) Error() string {
	if e.Why == "" {
		return e.Desc + " is not supported"
	}
	return e.Desc + " is not supported: " + e.Why
}

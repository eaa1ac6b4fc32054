package isa

// Operation is what an instruction of ActCompute computes, as coarsely as analyses of values need
// it. Types, rounding and saturation are in the Desc; the exact meaning of each form is that of the
// evaluators. Opcodes that no analysis treats in a way of their own have OtherOperation.
type Operation uint8

// The operations that analyses of values treat in a way of their own. a, b and c are the sources.
const (
	OtherOperation  Operation = iota
	Move                      // the source, its parts, or a value composed of them
	Conversion                // the source in another type
	Sum                       // a + b
	Difference                // a - b
	Product                   // a * b: its lower half, its upper half, or all of it
	ProductSum                // a * b + c, without fused rounding
	ShortProduct              // a * b of the lower 24 bits
	ShortProductSum           // a * b + c of the lower 24 bits
	Minimum                   // of two or three
	Maximum                   // of two or three
	Conjunction               // a & b
	Disjunction               // a | b
	ExclusiveOr               // a ^ b
	LeftShift                 // a << b
	RightShift                // a >> b, with the sign for signed types
	Quotient                  // a / b
	Remainder                 // a % b
	Selection                 // a or b, by a predicate
	Comparison                // predicates
	ComparisonValue           // a comparison as a number
	Negation                  // -a
	Magnitude                 // |a|
	NthSetBit                 // the position of the c-th set bit of a from position b on
	Complement                // ~a
	BitField                  // c bits of a from position b on, with the sign for signed types
	LogicOfThree              // a function of a, b and c, bit by bit
)

// Operation returns what the instruction computes; OtherOperation if it does not compute.
func (d *Desc) Operation() Operation {
	if d.Row == nil {
		return OtherOperation
	}
	return d.Row.Operation
}

// Bitwise reports whether the operation combines two sources bit by bit.
func (o Operation) Bitwise() bool {
	return o == Conjunction || o == Disjunction || o == ExclusiveOr
}

// Extreme reports whether the operation is a minimum or a maximum.
func (o Operation) Extreme() bool { return o == Minimum || o == Maximum }

// ReadsCarry reports whether the instruction adds the carry flag, which is not an operand: addc,
// subc, madc (PTX ISA 9.7.2).
func (d *Desc) ReadsCarry() bool { return d.Row != nil && d.Row.Carry }

// UsesCarry reports whether the instruction reads or writes the carry flag.
func (d *Desc) UsesCarry() bool { return d.ReadsCarry() || d.Has(CC) }

package ptx

import (
	"iter"
	"strings"

	"heddle/internal/source"
)

// OperandKind is the kind of an operand of an instruction or directive, or of a part of one.
type OperandKind uint8

const (
	NoOperand OperandKind = iota // the zero Operand
	// an identifier: a register, variable, label, function or special register
	Name
	Int    // an integer literal
	Float  // a floating literal
	String // a quoted string
	Vector // {a, b, ...}
	Paren  // (a, b, ...): call results and arguments
	Mem    // [base], [base+offset], or [a, {x, y}] of textures and tensors
	Unary  // -x, !x, ~x, +x, a cast (.u64)x, or generic(x)
	Binary // a constant expression or base+offset, also x ? y : z
	Pair   // p|q: two destinations
	Index  // a[i]
	Range  // N<5> in a list of .branchtargets: the names N0 to N4
	Mask   // 0xff(x) or mask(0xff, x) in an initialiser: the mask and x
)

// operand is the record of an operand, 16 bytes.
type operand struct {
	start, end uint32 // of the text
	val        uint32 // of an Int that is not wide; or the index of the first part
	meta       uint32 // kind (4 bits), operator or flags (6 bits), number of parts
}

// Offsets of the fields of operand.meta, and the limit of the last one.
const (
	metaOp    = 4
	metaParts = 10
	maxParts  = 1<<(32-metaParts) - 1
)

// Flags of an operand. They share the field of the operator, which these kinds do not have.
const (
	hasField   = 1 // Name, Mem: a component follows
	isUnsigned = 1 // Int: has the suffix U
	isWide     = 2 // Int: the value does not fit into 32 bits
	inWords    = 1 // Mask: written as mask(0xff, x)
)

// Operators that are not tokens.
const (
	opS64 = uint8(numKinds) + iota
	opU64
	opGeneric
)

// meta packs the kind, the operator or flags, and the number of parts of an operand.
func meta(k OperandKind, op uint8, parts int) uint32 {
	return uint32(k) | uint32(op)<<metaOp | uint32(parts)<<metaParts
}

// kind returns the kind.
func (o *operand) kind() OperandKind { return OperandKind(o.meta & (1<<metaOp - 1)) }

// op returns the operator or the flags.
func (o *operand) op() uint8 {
	return uint8(o.meta >> metaOp & (1<<(metaParts-metaOp) - 1))
}

// parts returns the number of parts.
func (o *operand) parts() uint32 { return o.meta >> metaParts }

// Operand is an operand of an instruction or directive, or a part of one. It refers to a record of
// its file and is cheap to copy. The zero Operand means no operand. Methods that need a certain
// kind return meaningless values for other kinds.
type Operand struct {
	file *File
	i    uint32 // in File.ops
	line uint32 // of the statement
}

// rec returns the record of the operand.
func (o Operand) rec() *operand { return &o.file.ops[o.i] }

// Kind returns the kind; NoOperand for the zero Operand.
func (o Operand) Kind() OperandKind {
	if o.file == nil {
		return NoOperand
	}
	return o.rec().kind()
}

// Span returns the text range.
func (o Operand) Span() source.Span {
	if o.file == nil {
		return source.Span{}
	}
	r := o.rec()
	return o.file.span(r.start, r.end, o.line)
}

// Text returns the operand as it is written.
func (o Operand) Text() string {
	r := o.rec()
	return o.file.text[r.start:r.end]
}

// Name returns the identifier of a Name without its component, or the prefix of a Range.
func (o Operand) Name() string {
	r := o.rec()
	switch {
	case r.kind() == Range:
		return o.part(0).Text()
	case r.op()&hasField != 0:
		text := o.Text()
		return text[:strings.IndexByte(text, '.')]
	}
	return o.Text()
}

// Field returns, without its dot, the component of a Name, such as x in %tid.x, or the suffix of a
// Mem: "unified" in [a].unified (ISA 5.4.8, 9.7.9.8). It is usually empty.
func (o Operand) Field() string {
	r := o.rec()
	if r.op()&hasField == 0 {
		return ""
	}
	text := o.Text()
	if r.kind() == Mem {
		return text[strings.LastIndexByte(text, '.')+1:]
	}
	return text[strings.IndexByte(text, '.')+1:]
}

// Int returns the value of an Int in 64 bits, and whether it has the suffix U.
func (o Operand) Int() (val uint64, unsigned bool) {
	r := o.rec()
	if r.op()&isWide == 0 {
		return uint64(r.val), r.op()&isUnsigned != 0
	}
	val, unsigned, _ = parseInt(o.Text())
	return val, unsigned
}

// Float returns the binary64 bits of a Float, or the binary32 bits if it has the form 0f3F800000,
// which single reports.
func (o Operand) Float() (bits uint64, single bool) {
	bits, single, _ = parseFloat(o.Text())
	return bits, single
}

// Str returns the value of a String, without quotes and escapes.
func (o Operand) Str() string { return unquote(o.Text()) }

// Op returns the operator of a Unary or Binary: "-", "(.u64)", "generic", "<<", "?:".
func (o Operand) Op() string { return opText(o.rec().op()) }

// opText returns the text of an operator.
func opText(op uint8) string {
	switch op {
	case uint8(tQuest):
		return "?:"
	case opS64:
		return "(.s64)"
	case opU64:
		return "(.u64)"
	case opGeneric:
		return "generic"
	}
	return kindText[op]
}

// X, Y and Z return the first three parts; the zero Operand if there are fewer. A Unary has X;
// Binary, Pair, Index, Mask and Range have X and Y; x ? y : z has all three.
func (o Operand) X() Operand { return o.part(0) }

// Y returns the second part; see X.
func (o Operand) Y() Operand { return o.part(1) }

// Z returns the third part; see X.
func (o Operand) Z() Operand { return o.part(2) }

// part returns part i, or the zero Operand.
func (o Operand) part(i uint32) Operand {
	r := o.rec()
	if i >= r.parts() {
		return Operand{}
	}
	return Operand{o.file, r.val + i, o.line}
}

// Parts returns the parts of o: the elements of a Vector, Paren or Mem, and X, Y and Z of other
// kinds.
func (o Operand) Parts() Operands {
	r := o.rec()
	if r.parts() == 0 {
		return Operands{}
	}
	return Operands{o.file, r.val, r.parts(), o.line}
}

// Operands is a list of operands.
type Operands struct {
	file     *File
	first, n uint32
	line     uint32
}

// Len returns the number of operands.
func (l Operands) Len() int { return int(l.n) }

// At returns operand i. It panics unless i is less than Len.
func (l Operands) At(i int) Operand {
	if uint(i) >= uint(l.n) {
		panic("ptx: operand out of range")
	}
	return Operand{l.file, l.first + uint32(i), l.line}
}

// From returns the list without its first i operands; i must not exceed Len.
func (l Operands) From(i int) Operands {
	return Operands{l.file, l.first + uint32(i), l.n - uint32(i), l.line}
}

// All iterates over the operands with their indices.
func (l Operands) All() iter.Seq2[int, Operand] {
	return func(yield func(int, Operand) bool) {
		for i := range l.Len() {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

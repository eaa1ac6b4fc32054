// Package isa is the PTX instruction set as one table: what each opcode is, what its operands mean,
// what it does to memory and synchronization, and where the ISA text describes it. It decodes the
// dotted modifiers of an instruction into a Desc. It executes nothing.
package isa

// Type is an operand type of PTX (PTX ISA 5.2).
type Type uint8

// The fundamental types, the alternate and packed floating-point formats (PTX ISA 5.2), and the
// opaque types of textures, samplers and surfaces (5.3). The names are those
// of PTX, and the size in bits is in the name except for .pred and opaque types.
const (
	NoType Type = iota // none is written, or the context does not determine it
	Pred               // one bit, which has no place in memory
	B8
	B16
	B32
	B64
	B128
	U8
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	F16x2 // two values in one register of 32 bits, as all names with x2 (F32x2: of 64)
	BF16  // 8 bits of exponent, 7 of significand
	BF16x2
	F32
	F64
	U16x2
	S16x2
	F32x2
	TF32 // 8 bits of exponent, 10 of significand, in a register of 32 bits
	E4M3 // 4 bits of exponent, 3 of significand; has no infinities
	E5M2
	E4M3x2
	E5M2x2
	E2M1x2 // two values of 4 bits in one byte; has neither infinities nor NaN, as all of fewer than 8
	E2M3x2 // two values of 6 bits, each in the low bits of a byte
	E3M2x2
	UE8M0x2 // two scale factors: powers of two
	S2F6x2  // two fixed-point numbers of 8 bits, 6 of them behind the point
	E4M3x4
	E5M2x4
	E2M1x4
	E2M3x4
	E3M2x4
	TexRef
	SamplerRef
	SurfRef
	OtherType // a format that no register has, such as that of elements of a matrix; see Desc.Mods
)

// Class groups types by how a register of them is read. Types of one size are compatible if
// both are integers, both are floats, or one of them is Bits (PTX ISA 6.1, 9.4.1).
type Class uint8

// The classes of types; NoType and OtherType are Opaque, since nothing may be assumed about them.
const (
	Bits      Class = iota // untyped: compatible with numbers of the same size
	Unsigned               // integers; packed pairs of them too
	Signed                 // in two's complement
	Float                  // of every format
	Predicate              // compatible with itself only
	Opaque                 // handles of textures, samplers and surfaces
)

// typeInfo is one row of the table of types.
type typeInfo struct {
	name  string
	size  uint8 // bytes; 0 for .pred and opaque types
	class Class
}

// typeTable describes each Type; the names are those that follow a dot in PTX.
var typeTable = [...]typeInfo{
	NoType: {"", 0, Opaque}, Pred: {"pred", 0, Predicate},
	B8: {"b8", 1, Bits}, B16: {"b16", 2, Bits}, B32: {"b32", 4, Bits}, B64: {"b64", 8, Bits},
	B128: {"b128", 16, Bits},
	U8:   {"u8", 1, Unsigned}, U16: {"u16", 2, Unsigned}, U32: {"u32", 4, Unsigned},
	U64: {"u64", 8, Unsigned},
	S8:  {"s8", 1, Signed}, S16: {"s16", 2, Signed}, S32: {"s32", 4, Signed}, S64: {"s64", 8, Signed},
	F16: {"f16", 2, Float}, F16x2: {"f16x2", 4, Float}, BF16: {"bf16", 2, Float},
	BF16x2: {"bf16x2", 4, Float},
	F32:    {"f32", 4, Float}, F64: {"f64", 8, Float},
	U16x2: {"u16x2", 4, Unsigned}, S16x2: {"s16x2", 4, Signed}, F32x2: {"f32x2", 8, Float},
	TF32: {"tf32", 4, Float},
	E4M3: {"e4m3", 1, Float}, E5M2: {"e5m2", 1, Float}, E4M3x2: {"e4m3x2", 2, Float},
	E5M2x2: {"e5m2x2", 2, Float},
	E2M1x2: {"e2m1x2", 1, Float}, E2M3x2: {"e2m3x2", 2, Float}, E3M2x2: {"e3m2x2", 2, Float},
	UE8M0x2: {"ue8m0x2", 2, Float}, S2F6x2: {"s2f6x2", 2, Float},
	E4M3x4: {"e4m3x4", 4, Float}, E5M2x4: {"e5m2x4", 4, Float}, E2M1x4: {"e2m1x4", 2, Float},
	E2M3x4: {"e2m3x4", 4, Float}, E3M2x4: {"e3m2x4", 4, Float},
	TexRef: {"texref", 0, Opaque}, SamplerRef: {"samplerref", 0, Opaque},
	SurfRef:   {"surfref", 0, Opaque},
	OtherType: {"?", 0, Opaque},
}

// String returns the name that follows the dot in PTX.
func (t Type) String() string { return typeTable[t].name }

// Size returns the bytes of one value; 0 for .pred and opaque types.
func (t Type) Size() int { return int(typeTable[t].size) }

// Class returns how bits of the type are read.
func (t Type) Class() Class { return typeTable[t].class }

// Signed reports whether the type is a signed integer.
func (t Type) Signed() bool { return typeTable[t].class == Signed }

// IsFloat reports whether the type is a floating-point type, packed ones included.
func (t Type) IsFloat() bool { return typeTable[t].class == Float }

package launch

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/internal/isa"
)

// literalTypes are the type prefixes of literals: "u32:7".
var literalTypes = map[string]isa.Type{
	"b8": isa.B8, "b16": isa.B16, "b32": isa.B32, "b64": isa.B64,
	"u8": isa.U8, "u16": isa.U16, "u32": isa.U32, "u64": isa.U64,
	"s8": isa.S8, "s16": isa.S16, "s32": isa.S32, "s64": isa.S64,
	"f32": isa.F32, "f64": isa.F64,
}

// encodeLiteral returns the bytes of a literal as a value of typ, little endian. An integer may be
// signed or unsigned in any integer type, since PTX does not keep the signedness of a C parameter.
// For an untyped .b parameter, a literal with a point or an exponent is a float. With isFloat the
// kernel reads the bits as a float, so that "1" is 1.0.
func encodeLiteral(text string, typ isa.Type, isFloat bool) ([]byte, error) {
	if name, rest, ok := strings.Cut(text, ":"); ok {
		t := literalTypes[name]
		if t.Size() != typ.Size() {
			return nil, fmt.Errorf("%q is a value of %d bytes; the parameter has %d bytes (.%s)", text,
				t.Size(), typ.Size(), typ)
		}
		return encodeLiteral(rest, t, false)
	}
	bits := typ.Size() * 8
	if typ.IsFloat() || isFloat || typ.Class() == isa.Bits && !isInteger(text) && bits >= 32 {
		return encodeFloat(text, typ, bits)
	}
	if !isInteger(text) {
		return nil, fmt.Errorf("%q is not an integer; the parameter has type .%s", text, typ)
	}
	v, err := parseInteger(text, bits)
	if err != nil {
		return nil, fmt.Errorf("%w (the parameter has type .%s)", err, typ)
	}
	return binary.LittleEndian.AppendUint64(nil, v)[:bits/8], nil
}

// parseInteger parses an integer that fits in the given number of bits, signed or unsigned.
func parseInteger(text string, bits int) (uint64, error) {
	if u, err := strconv.ParseUint(text, 0, bits); err == nil {
		return u, nil
	}
	s, err := strconv.ParseInt(text, 0, bits)
	if err != nil {
		low := "-2^" + strconv.Itoa(bits-1)
		return 0, fmt.Errorf("%s is out of range for %d bits (%s to 2^%d-1)", text, bits, low, bits)
	}
	return uint64(s), nil
}

// encodeFloat returns the bytes of a float of 32 or 64 bits, little endian. Half precision (.f16,
// .bf16) is not supported, since PTX declares such parameters as .b16, which does not tell the two
// formats apart.
func encodeFloat(text string, typ isa.Type, bits int) ([]byte, error) {
	if bits != 32 && bits != 64 {
		return nil, fmt.Errorf("%q: heddle cannot convert a number to type .%s; "+
			"use hex: with its %d bytes", text, typ, bits/8)
	}
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		if isRange(err) {
			return nil, fmt.Errorf("%s is out of range for a %d-bit float", text, bits)
		}
		return nil, fmt.Errorf("%q is not a number; the parameter is a %d-bit float", text, bits)
	}
	if bits == 32 {
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f))), nil
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)), nil
}

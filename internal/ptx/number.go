package ptx

import (
	"math"
	"strconv"
	"strings"
)

// The literals of ISA 4.5.1 and 4.5.2:
//
//	integers   10  010 (octal)  0x1F  0b11, each with an optional suffix U, up to 64 bits
//	floats     1.5  .5  1e3  2.5E-3, evaluated in binary64
//	binary32   0f3F800000, exactly 8 hexadecimal digits
//	binary64   0d3FF0000000000000, exactly 16 hexadecimal digits

// parseInt returns the value of an integer literal (ISA 4.5.1), or what was expected instead.
func parseInt(text string) (val uint64, unsigned bool, problem string) {
	digits := text
	if n := len(digits) - 1; digits[n] == 'U' || digits[n] == 'u' {
		digits, unsigned = digits[:n], true
	}
	if digits == "" {
		return 0, false, "expected digits"
	}
	base := uint64(10)
	if digits[0] == '0' && len(digits) > 1 {
		switch digits[1] {
		case 'x', 'X':
			base, digits = 16, digits[2:]
		case 'b', 'B':
			base, digits = 2, digits[2:]
		default:
			base, digits = 8, digits[1:]
		}
	}
	if digits == "" {
		return 0, false, "expected digits after the prefix"
	}
	limit := math.MaxUint64 / base
	for i := range len(digits) {
		d := digitVal(digits[i])
		if d >= base {
			return 0, false, "expected only digits of base " + strconv.FormatUint(base, 10)
		}
		if val > limit || val*base > math.MaxUint64-d {
			return 0, false, "expected a number of at most 64 bits"
		}
		val = val*base + d
	}
	return val, unsigned, ""
}

// digitVal returns the value of a digit of any base up to 16; 255 for another character.
func digitVal(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c >= 'a' && c <= 'f':
		return uint64(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return uint64(c-'A') + 10
	}
	return 255
}

// parseFloat returns the bits of a floating literal (ISA 4.5.2), or what was expected instead.
// single is set for the 32-bit form 0f3F800000.
func parseFloat(text string) (bits uint64, single bool, problem string) {
	if len(text) > 1 && text[0] == '0' {
		switch text[1] {
		case 'f', 'F':
			return hexBits(text[2:], 8)
		case 'd', 'D':
			return hexBits(text[2:], 16)
		}
	}
	if strings.ContainsAny(text, "_xXpP") { // accepted by strconv but not by PTX
		return 0, false, "expected a decimal fraction"
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false, "expected a decimal fraction"
	}
	return math.Float64bits(v), false, ""
}

// hexBits parses the hexadecimal digits of a float, of which there must be exactly n: 8 or 16. Any
// bits are allowed, including those of NaN.
func hexBits(digits string, n int) (bits uint64, single bool, problem string) {
	problem = "expected exactly " + strconv.Itoa(n) + " hexadecimal digits"
	if len(digits) != n {
		return 0, false, problem
	}
	for i := range n {
		d := digitVal(digits[i])
		if d > 15 {
			return 0, false, problem
		}
		bits = bits<<4 | d
	}
	return bits, n == 8, ""
}

// intLit consumes the integer literal at the current token.
func (p *parser) intLit() operand {
	v, unsigned, problem := parseInt(p.text())
	if problem != "" {
		p.errorAt(p.span(), "found %s, %s", p.found(), problem)
		return operand{}
	}
	flags := uint8(0)
	if unsigned {
		flags = isUnsigned
	}
	x := p.token(Int, flags)
	x.setInt(v)
	p.next()
	return x
}

// setInt sets the value of an Int. A value of more than 32 bits is not stored but read from the
// text.
func (o *operand) setInt(v uint64) {
	if v > math.MaxUint32 {
		o.meta |= isWide << metaOp
		return
	}
	o.val = uint32(v)
}

// floatLit consumes the floating literal at the current token.
func (p *parser) floatLit() operand {
	if _, _, problem := parseFloat(p.text()); problem != "" {
		p.errorAt(p.span(), "found %s, %s", p.found(), problem)
		return operand{}
	}
	x := p.token(Float, 0)
	p.next()
	return x
}

// smallInt consumes an integer literal from 0 to 2^63-1 and stores it. what describes it in the
// error message. It accepts literals only, unlike the size of an array, which is a constant
// expression.
func (p *parser) smallInt(what string, to *int64) bool {
	if p.kind != tInt {
		p.unexpected(what)
		return false
	}
	v, _, problem := parseInt(p.text())
	if problem == "" && v > math.MaxInt64 {
		problem = "expected a number of at most 63 bits"
	}
	if problem != "" {
		p.errorAt(p.span(), "found %s, %s", p.found(), problem)
		return false
	}
	*to = int64(v)
	p.next()
	return true
}

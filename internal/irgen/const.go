package irgen

import (
	"math"

	"heddle/internal/isa"
	"heddle/internal/ptx"
)

// Constant expressions (PTX ISA 4.5): 64-bit integers, signed or unsigned, and binary64 floats,
// with no conversion between the two; and addresses, a symbol with an offset, where the context
// takes them.

// constant is the value of a constant expression.
type constant struct {
	float    bool
	single   bool // the 0f form: f is exact, and the bits are those of a binary32
	f        float64
	bits32   uint32 // for single
	n        uint64
	unsigned bool

	// An address: sym is not nil, and n is the offset.
	sym     *symbol
	generic bool
	mask    uint64 // the mask() operator; 0 if absent
}

// eval computes a constant expression; it reports what is wrong and returns false. f is nil outside
// a body, where a name cannot denote a register of a range.
func (g *gen) eval(s *scope, f *fgen, e ptx.Operand) (constant, bool) {
	switch e.Kind() {
	case ptx.Int:
		n, unsigned := e.Int()
		return constant{n: n, unsigned: unsigned || n > math.MaxInt64}, true
	case ptx.Float:
		bits, single := e.Float()
		if single {
			b := uint32(bits)
			return constant{float: true, single: true, bits32: b, f: float64(math.Float32frombits(b))}, true
		}
		return constant{float: true, f: math.Float64frombits(bits)}, true
	case ptx.Name:
		return g.evalName(s, f, e)
	case ptx.Unary:
		return g.evalUnary(s, f, e)
	case ptx.Mask:
		return g.evalMask(s, f, e)
	case ptx.Binary:
		return g.evalBinary(s, f, e)
	case ptx.Paren:
		if e.Parts().Len() == 1 {
			return g.eval(s, f, e.X())
		}
	}
	g.errorf(e.Span(), "expected a constant expression")
	return constant{}, false
}

// evalName evaluates a name: WARP_SZ, or a variable or function, whose address becomes a
// relocation. Registers and labels have no constant value.
func (g *gen) evalName(s *scope, f *fgen, e ptx.Operand) (constant, bool) {
	name := e.Name()
	if name == "WARP_SZ" && e.Field() == "" {
		return constant{n: 32}, true
	}
	sym := s.lookup(f, name)
	switch {
	case sym == nil:
		g.errorf(e.Span(), "%s is not declared; expected a variable, a function or a number", name)
	case sym.kind == symReg:
		g.errorf(e.Span(), "%s is a register; it cannot be part of a constant expression", name)
	case e.Field() != "" || sym.kind != symVar && sym.kind != symFunc:
		g.errorf(e.Span(), "%s is %s; expected a variable, a function or a number", name, sym.what())
	default:
		return constant{sym: sym}, true
	}
	return constant{}, false
}

// maskShift returns by how many bits a mask operator shifts (PTX ISA 5.4.4): the mask selects one
// of the eight bytes of an address or a number, so 0xff00 shifts by 8. It returns false for other
// masks.
func maskShift(mask uint64) (shift int, ok bool) {
	for shift = 0; shift < 64; shift += 8 {
		if mask == 0xff<<shift {
			return shift, true
		}
	}
	return 0, false
}

// evalMask evaluates 0xff00(x). Of a number it is a byte at once; of an address it is kept in the
// constant, since only the launch knows the address.
func (g *gen) evalMask(s *scope, f *fgen, e ptx.Operand) (constant, bool) {
	x, ok := g.eval(s, f, e.Y())
	if !ok {
		return x, false
	}
	m, _ := e.X().Int()
	shift, ok := maskShift(m)
	switch {
	case !ok || x.float || x.mask != 0:
		g.errorf(e.Span(), "operator %s cannot be applied to this operand", e.X().Text())
		return constant{}, false
	case x.sym != nil:
		x.mask = m
		return x, true
	}
	return constant{n: x.n & m >> shift}, true
}

// evalUnary evaluates a prefix operator or a cast. Of an address it accepts generic() and the plus
// sign only, since the address is not known yet; of a float the signs only (PTX ISA 4.5.4).
func (g *gen) evalUnary(s *scope, f *fgen, e ptx.Operand) (constant, bool) {
	x, ok := g.eval(s, f, e.X())
	if !ok {
		return x, false
	}
	op := e.Op()
	bad := func() (constant, bool) {
		g.errorf(e.Span(), "operator %s cannot be applied to this operand", op)
		return constant{}, false
	}
	if x.sym != nil {
		if op == "generic" && !x.generic && x.mask == 0 {
			x.generic = true
			return x, true
		}
		if op == "+" {
			return x, true
		}
		return bad()
	}
	if x.float {
		switch op {
		case "+":
			return x, true
		case "-":
			if x.single { // the 0f form may not be part of an expression, but its sign is harmless
				return constant{float: true, single: true, bits32: x.bits32 ^ 1<<31, f: -x.f}, true
			}
			return constant{float: true, f: -x.f}, true
		}
		return bad()
	}
	switch op {
	case "+":
		return x, true
	case "-":
		return constant{n: -x.n, unsigned: x.unsigned}, true
	case "!":
		return constant{n: truth(x.n == 0)}, true
	case "~":
		return constant{n: ^x.n, unsigned: true}, true
	case "(.s64)":
		return constant{n: x.n}, true
	case "(.u64)":
		return constant{n: x.n, unsigned: true}, true
	}
	return bad()
}

// truth is the value of a comparison: 1 or 0, as in C.
func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// evalBinary evaluates an operator with two operands, or ?:, which has three. Both operands are
// evaluated even if the first is wrong, so that each error is reported; both arms of ?: are
// evaluated too, so a division by zero in the arm that is not taken is an error.
func (g *gen) evalBinary(s *scope, f *fgen, e ptx.Operand) (constant, bool) {
	x, ok1 := g.eval(s, f, e.X())
	y, ok2 := g.eval(s, f, e.Y())
	if e.Op() == "?:" {
		z, ok3 := g.eval(s, f, e.Z())
		if !ok1 || !ok2 || !ok3 {
			return constant{}, false
		}
		return g.conditional(e, x, y, z)
	}
	if !ok1 || !ok2 {
		return constant{}, false
	}
	switch {
	case x.sym != nil || y.sym != nil:
		return g.addAddress(e, x, y)
	case x.single || y.single || x.float != y.float:
		g.errorf(e.Span(),
			"operator %s: a constant expression takes two integers or two 64-bit floats (PTX ISA 4.5.4)", e.Op())
		return constant{}, false
	case x.float:
		return g.floatOp(e, x.f, y.f)
	}
	return g.intOp(e, x, y)
}

// addAddress evaluates symbol+offset and symbol-offset, the only sums that a relocation can
// express. The difference of two symbols is rejected, and so is an offset behind a mask, which
// would apply to the byte and not to the address.
func (g *gen) addAddress(e ptx.Operand, x, y constant) (constant, bool) {
	op := e.Op()
	switch {
	case op == "+" && x.sym != nil && y.sym == nil && !y.float && x.mask == 0:
		x.n += y.n
		return x, true
	case op == "+" && y.sym != nil && x.sym == nil && !x.float && y.mask == 0:
		y.n += x.n
		return y, true
	case op == "-" && x.sym != nil && y.sym == nil && !y.float && x.mask == 0:
		x.n -= y.n
		return x, true
	}
	g.errorf(e.Span(), "expected an address plus or minus an integer")
	return constant{}, false
}

// conditional evaluates x ? y : z. The result is unsigned if either arm is (PTX ISA 4.5.5),
// whichever is taken.
func (g *gen) conditional(e ptx.Operand, x, y, z constant) (constant, bool) {
	if x.sym != nil || x.float || y.sym != nil || z.sym != nil || y.float != z.float || y.single ||
		z.single {
		g.errorf(e.Span(),
			"operator ?: takes an integer, and then two integers or two floats (PTX ISA 4.5.5)")
		return constant{}, false
	}
	out := z
	if x.n != 0 {
		out = y
	}
	out.unsigned = y.unsigned || z.unsigned
	return out, true
}

// floatOp evaluates an operator on two binary64 values by the host's arithmetic, which rounds to
// nearest even as PTX ISA 4.5.4 asks. Division by zero gives an infinity or NaN. The hexadecimal 0f
// form is rejected by the caller: the text allows no arithmetic on it.
func (g *gen) floatOp(e ptx.Operand, x, y float64) (constant, bool) {
	switch e.Op() {
	case "+":
		return constant{float: true, f: x + y}, true
	case "-":
		return constant{float: true, f: x - y}, true
	case "*":
		return constant{float: true, f: x * y}, true
	case "/":
		return constant{float: true, f: x / y}, true
	case "<":
		return constant{n: truth(x < y)}, true
	case ">":
		return constant{n: truth(x > y)}, true
	case "<=":
		return constant{n: truth(x <= y)}, true
	case ">=":
		return constant{n: truth(x >= y)}, true
	case "==":
		return constant{n: truth(x == y)}, true
	case "!=":
		return constant{n: truth(x != y)}, true
	}
	g.errorf(e.Span(), "operator %s does not take floats (PTX ISA 4.5.4)", e.Op())
	return constant{}, false
}

// intOp evaluates an operator on two integers. It follows PTX ISA 4.5.5; where its text and Table 5
// differ (the type of a remainder and of &, |, ^), the bits are the same, and the text decides the
// type. Shifts by 64 or more give what shifting bit by bit would.
func (g *gen) intOp(e ptx.Operand, x, y constant) (constant, bool) {
	u := x.unsigned || y.unsigned
	sx, sy := int64(x.n), int64(y.n)
	out := constant{unsigned: u}
	switch op := e.Op(); op {
	case "+":
		out.n = x.n + y.n
	case "-":
		out.n = x.n - y.n
	case "*":
		out.n = x.n * y.n
	case "/", "%":
		if y.n == 0 {
			g.errorf(e.Span(), "division by zero in a constant expression")
			return constant{}, false
		}
		switch {
		case op == "%":
			out = constant{n: x.n % y.n}
		case u:
			out.n = x.n / y.n
		case sy == -1: // the one quotient that overflows
			out.n = -x.n
		default:
			out.n = uint64(sx / sy)
		}
	case "&":
		out.n = x.n & y.n
	case "|":
		out.n = x.n | y.n
	case "^":
		out.n = x.n ^ y.n
	case "<<":
		out = constant{n: x.n << min(y.n, 64), unsigned: x.unsigned}
	case ">>":
		out = constant{n: x.n >> min(y.n, 64), unsigned: x.unsigned}
		if !x.unsigned {
			out.n = uint64(sx >> min(y.n, 63))
		}
	case "&&":
		out = constant{n: truth(x.n != 0 && y.n != 0)}
	case "||":
		out = constant{n: truth(x.n != 0 || y.n != 0)}
	default:
		holds, known := compare(op, x.n, y.n, u)
		if !known {
			g.errorf(e.Span(), "operator %s is not allowed in a constant expression", op)
			return constant{}, false
		}
		out = constant{n: truth(holds)}
	}
	return out, true
}

// compare evaluates a comparison of two integers, which are signed unless either operand is
// unsigned; false if op is not a comparison.
func compare(op string, x, y uint64, unsigned bool) (holds, known bool) {
	less := func(a, b uint64) bool {
		if unsigned {
			return a < b
		}
		return int64(a) < int64(b)
	}
	switch op {
	case "==":
		return x == y, true
	case "!=":
		return x != y, true
	case "<":
		return less(x, y), true
	case ">":
		return less(y, x), true
	case "<=":
		return !less(y, x), true
	case ">=":
		return !less(x, y), true
	}
	return false, false
}

// bits converts a constant to the width of a type (PTX ISA 4.5.1, 4.5.2): integers are cut, floats
// are rounded. It returns what is wrong, or "".
//
// An untyped context (NoType) keeps 64 bits of an integer and the written width of a float.
func (c *constant) bits(t isa.Type) (uint64, string) {
	if c.sym != nil {
		return 0, "an address"
	}
	switch {
	case t == isa.NoType || t == isa.OtherType:
		switch {
		case c.single:
			return uint64(c.bits32), ""
		case c.float:
			return math.Float64bits(c.f), ""
		}
		return c.n, ""
	case t == isa.Pred:
		if c.float {
			return 0, "a float"
		}
		return truth(c.n != 0), ""
	case c.float:
		return c.floatBits(t)
	case t.IsFloat() && c.n != 0:
		return 0, "an integer" // no implicit conversion: 1 and 1.0 differ in bits (4.5.4)
	}
	return c.n & widthMask(t.Size()), ""
}

// floatBits rounds a float constant to a floating-point type, or to the bit type of its own size.
// Conversion to an integer type would hide a mistake and is an error (PTX ISA 4.5.4); the 0f form
// is exact and fits 32 bits only.
func (c *constant) floatBits(t isa.Type) (uint64, string) {
	switch {
	case t == isa.F64 || t == isa.B64 && !c.single:
		return math.Float64bits(c.f), ""
	case (t == isa.F32 || t == isa.B32 || t == isa.TF32) && c.single:
		return uint64(c.bits32), ""
	case t == isa.F32 || t == isa.B32 || t == isa.TF32:
		return uint64(math.Float32bits(float32(c.f))), ""
	case t == isa.F16 && !c.single:
		return uint64(halfBits(c.f)), ""
	}
	return 0, "a float"
}

// widthMask has a one for each bit of a value of that many bytes. Integer constants have 64 bits,
// so that .b128 and a context without a type (0 bytes) keep all of them.
func widthMask(bytes int) uint64 {
	if bytes >= 8 || bytes == 0 {
		return ^uint64(0)
	}
	return 1<<(8*bytes) - 1
}

// halfBits rounds to binary16, to nearest even. math.RoundToEven works on the significand as an
// integer; a carry out of it moves into the exponent, which is the correct result.
func halfBits(f float64) uint16 {
	b := math.Float64bits(f)
	sign := uint16(b >> 48 & 0x8000)
	abs := math.Abs(f)
	switch {
	case f != f:
		return sign | 0x7e00
	case abs >= 65520: // halfway between the largest finite value and 2^16 rounds away
		return sign | 0x7c00
	case abs < 0x1p-14: // subnormal: units of 2^-24
		return sign | uint16(math.RoundToEven(abs*0x1p24))
	}
	frac, exp := math.Frexp(abs) // abs = frac * 2^exp, frac in [0.5, 1)
	m := uint64(math.RoundToEven(frac * 0x1p11))
	return sign | uint16(uint64(exp-1+15)<<10+m-1<<10)
}

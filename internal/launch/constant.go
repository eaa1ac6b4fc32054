package launch

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"heddle/internal/event"
)

// A constant is the value of a name or an expression in host code, if it is known.
type constant struct {
	kind constKind
	n    int64      // intConst
	dim  event.Dim3 // dimConst
}

// A constKind is the kind of a constant.
type constKind uint8

const (
	notConst constKind = iota // not known
	intConst                  // an integer
	dimConst                  // a dim3
)

// intOf returns the integer n, or notConst unless ok.
func intOf(n int64, ok bool) constant {
	if !ok {
		return constant{}
	}
	return constant{kind: intConst, n: n}
}

// asDim returns a constant as dimensions of a launch, where an integer is the size in x. It returns
// nil for other values.
func (c constant) asDim() *event.Dim3 {
	switch {
	case c.kind == dimConst:
		return &c.dim
	case c.kind == intConst && c.n > 0 && c.n <= math.MaxUint32:
		return &event.Dim3{X: uint32(c.n), Y: 1, Z: 1}
	}
	return nil
}

// maxExprDepth bounds the nesting of an expression, macros included, and maxExprWork its operands.
const (
	maxExprDepth = 100
	maxExprWork  = 10_000
)

// evaluator computes integer constant expressions of C: literals, names, + - * / % << >> & | ^ ~,
// casts to integer types, sizeof of plain types, and dim3. Anything else is notConst, and so is a
// value that overflows 64 bits. The type of an operand is ignored: 2^31 does not wrap as it does in
// an int.
type evaluator struct {
	lookup func(name string) constant        // the value of a variable
	macro  func(name string) ([]token, bool) // the body of a macro
	toks   []token                           // the expression
	pos    int                               // of the next token
	depth  int                               // nesting, up to maxExprDepth
	fuel   *int                              // the rest of maxExprWork; macros can grow exponentially
}

// eval computes the expression toks. It is notConst unless all tokens are used.
func (e evaluator) eval(toks []token) constant {
	e.toks, e.pos = toks, 0
	c := e.binary(0)
	if e.pos != len(toks) {
		return constant{}
	}
	return c
}

// peek returns the next token, without consuming it; the zero token at the end.
func (e *evaluator) peek() token {
	if e.pos < len(e.toks) {
		return e.toks[e.pos]
	}
	return token{}
}

// accept consumes the next token if it is text.
func (e *evaluator) accept(text string) bool {
	if e.peek().is(text) {
		e.pos++
		return true
	}
	return false
}

// precedence of the binary operators, as in C. Comparisons and logical operators are not evaluated.
var precedence = map[string]int{"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6,
	"/": 6, "%": 6}

// binary parses operators of a precedence above minPrec, by precedence climbing.
func (e *evaluator) binary(minPrec int) constant {
	if e.depth++; e.depth > maxExprDepth {
		e.pos = len(e.toks) + 1
		return constant{}
	}
	defer func() { e.depth-- }()
	x := e.unary()
	for {
		op := e.peek()
		prec := precedence[op.text]
		if op.kind != tokPunct || prec == 0 || prec <= minPrec {
			return x
		}
		e.pos++
		y := e.binary(prec)
		if x.kind != intConst || y.kind != intConst {
			x = constant{}
			continue
		}
		x = intOf(applyBinary(op.text, x.n, y.n))
	}
}

// applyBinary returns x op y; false if it overflows or is undefined.
func applyBinary(op string, x, y int64) (int64, bool) {
	switch op {
	case "+":
		s := x + y
		return s, (s > x) == (y > 0)
	case "-":
		s := x - y
		return s, (s < x) == (y > 0)
	case "*":
		return multiply(x, y)
	case "/":
		if y == 0 || x == math.MinInt64 {
			return 0, false
		}
		return x / y, true
	case "%":
		if y == 0 || x == math.MinInt64 {
			return 0, false
		}
		return x % y, true
	case "<<":
		if x < 0 || y < 0 || y > 62 || x > math.MaxInt64>>y {
			return 0, false
		}
		return x << y, true
	case ">>":
		if y < 0 || y > 63 {
			return 0, false
		}
		return x >> y, true
	case "&":
		return x & y, true
	case "|":
		return x | y, true
	case "^":
		return x ^ y, true
	}
	return 0, false
}

// multiply returns x*y; false if it overflows.
func multiply(x, y int64) (int64, bool) {
	if x == math.MinInt64 || y == math.MinInt64 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if (x < 0) != (y < 0) {
		return -int64(lo), true
	}
	return int64(lo), true
}

// unary parses + - ~ and their operand. Too deep or too long an expression is notConst: pos moves
// past the end, which eval notices.
func (e *evaluator) unary() constant {
	*e.fuel--
	if e.depth++; e.depth > maxExprDepth || *e.fuel < 0 {
		e.pos = len(e.toks) + 1
		return constant{}
	}
	defer func() { e.depth-- }()
	switch {
	case e.accept("+"):
		return e.unary()
	case e.accept("-"):
		x := e.unary()
		return intOf(-x.n, x.kind == intConst && x.n != math.MinInt64)
	case e.accept("~"):
		x := e.unary()
		return intOf(^x.n, x.kind == intConst)
	}
	return e.primary()
}

// primary parses a literal, a name, parentheses, a cast, sizeof or a dim3.
func (e *evaluator) primary() constant {
	t := e.peek()
	switch {
	case t.kind == tokNumber:
		e.pos++
		return intOf(parseCInteger(t.text))
	case t.is("("):
		return e.parenthesized()
	case t.is("{"):
		return e.dim("{")
	case t.is("sizeof"):
		return e.sizeof()
	case t.is("static_cast"):
		e.pos++
		if !e.accept("<") || !e.typeName() || !e.accept(">") {
			return constant{}
		}
		return e.parenthesized()
	case t.is("dim3"):
		e.pos++
		return e.dim(e.peek().text)
	case t.kind == tokIdent && isIntType(t.text):
		e.typeName()
		return e.parenthesized()
	case t.kind == tokIdent:
		return e.name()
	}
	return constant{}
}

// parenthesized parses (expr), or a cast to an integer type with its operand.
func (e *evaluator) parenthesized() constant {
	if !e.accept("(") {
		return constant{}
	}
	if t := e.peek(); t.kind == tokIdent && (isIntType(t.text) || t.text == "const") {
		if e.typeName() && e.accept(")") {
			return e.unary()
		}
		if e.peek().kind != tokPunct {
			return constant{}
		}
	}
	x := e.binary(0)
	if !e.accept(")") {
		return constant{}
	}
	return x
}

// typeName consumes the words of an integer type, and reports whether there are any.
func (e *evaluator) typeName() bool {
	start := e.pos
	for t := e.peek(); t.kind == tokIdent && (isIntType(t.text) || t.text == "const"); t = e.peek() {
		e.pos++
	}
	return e.pos > start
}

// dim parses the arguments of dim3, in parentheses or braces.
func (e *evaluator) dim(open string) constant {
	if closers[open] == "" || !e.accept(open) {
		return constant{}
	}
	d := [3]uint32{1, 1, 1}
	for i := 0; !e.accept(closers[open]); i++ {
		if i > 0 && !e.accept(",") {
			return constant{}
		}
		x := e.binary(0)
		if i > 2 || x.kind != intConst || x.n <= 0 || x.n > math.MaxUint32 {
			return constant{}
		}
		d[i] = uint32(x.n)
	}
	return constant{kind: dimConst, dim: event.Dim3{X: d[0], Y: d[1], Z: d[2]}}
}

// sizeof parses sizeof of a type. sizeof of an expression is notConst.
func (e *evaluator) sizeof() constant {
	e.pos++
	if !e.accept("(") {
		return constant{}
	}
	size := int64(0)
	for t := e.peek(); t.kind == tokIdent; t = e.peek() {
		if n, ok := typeSizes[t.text]; ok && (size == 0 || size == 4) {
			size = n
		} else if !ok && t.text != "const" {
			return constant{}
		}
		e.pos++
	}
	if e.accept("*") {
		size = 8
	}
	return intOf(size, e.accept(")") && size > 0)
}

// name parses a variable, a macro, or a component of a dim3.
func (e *evaluator) name() constant {
	t := e.peek()
	e.pos++
	c := e.lookup(t.text)
	if body, ok := e.macro(t.text); ok {
		sub := *e
		if sub.depth++; sub.depth > maxExprDepth {
			return constant{}
		}
		c = sub.eval(body)
	}
	if c.kind == dimConst && e.accept(".") {
		field := e.peek().text
		e.pos++
		return intOf(component(c.dim, field))
	}
	return c
}

// component returns d.x, d.y or d.z; false for another field.
func component(d event.Dim3, field string) (int64, bool) {
	switch field {
	case "x":
		return int64(d.X), true
	case "y":
		return int64(d.Y), true
	case "z":
		return int64(d.Z), true
	}
	return 0, false
}

// parseCInteger parses an integer literal with C's suffixes and C++'s digit separators. It returns
// false for floats and for values that do not fit in 64 bits.
func parseCInteger(s string) (int64, bool) {
	s = strings.ReplaceAll(s, "'", "")
	if !strings.HasPrefix(s, "0x") && !strings.HasPrefix(s, "0X") || !strings.ContainsAny(s, ".pP") {
		s = strings.TrimRight(s, "uUlLzZ")
	}
	if strings.Contains(s, "_") || strings.HasPrefix(strings.ToLower(s), "0o") {
		return 0, false // Go's syntax, not C's
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil
}

// typeSizes are the sizes of C types in bytes on Linux; long has 4 on Windows.
var typeSizes = map[string]int64{
	"char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "uchar": 1, "short": 2, "int16_t": 2,
	"uint16_t": 2,
	"int":      4, "unsigned": 4, "signed": 4, "uint": 4, "int32_t": 4, "uint32_t": 4, "float": 4,
	"long": 8, "size_t": 8, "int64_t": 8, "uint64_t": 8, "double": 8,
	"int2": 8, "uint2": 8, "float2": 8, "int4": 16, "uint4": 16, "float4": 16, "double2": 16,
}

// isIntType reports whether word is the name of an integer type, or part of one.
func isIntType(word string) bool {
	switch word {
	case "float", "double", "int2", "uint2", "float2", "int4", "uint4", "float4", "double2":
		return false
	}
	return typeSizes[word] != 0
}

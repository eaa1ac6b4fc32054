package launch

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxExprDepth bounds the nesting of an expression.
const maxExprDepth = 100

// An evaluator computes an expression of host code in the current state of an exec, without its
// side effects, which exec.effects applies first.
type evaluator struct {
	x     *exec
	toks  []token
	pos   int // of the next token
	depth int // nesting
}

// eval computes the expression toks. Its kind is nothing unless all tokens are understood.
func (x *exec) eval(toks []token) value {
	e := &evaluator{x: x, toks: toks}
	v := e.ternary()
	if e.pos != len(toks) {
		return value{}
	}
	return v
}

// known computes the expression toks. What it does not understand becomes something unknown, named
// by its text.
func (x *exec) known(toks []token) value {
	v := x.eval(toks)
	if v.kind == nothing {
		return x.opaque(toks)
	}
	return v
}

// opaque returns something unknown for an expression. The same text means the same thing until a
// variable in it changes, or unknown code may have changed what it reads.
func (x *exec) opaque(toks []token) value {
	all := text(toks)
	name := all
	if len(name) > 60 {
		name = name[:57] + "..."
	}
	if o, ok := x.texts[all]; ok && o.epoch == x.epoch && !x.varies(toks) &&
		!slices.ContainsFunc(o.reads, func(r reading) bool { return !x.unchanged(r) }) {
		return o.val
	}
	o := opaqueText{val: x.object(name), epoch: x.epoch}
	for _, t := range toks[:min(len(toks), 20)] {
		if t.kind == tokIdent {
			r := reading{name: t.text, cell: x.variable(t.text)}
			if r.cell != nil {
				r.val = r.cell.val
			}
			o.reads = append(o.reads, r)
		}
	}
	x.texts[all] = o
	return o.val
}

// varies reports whether an expression may have another value each time that it is evaluated: it
// changes a variable, or calls what may change one or reads from outside.
func (x *exec) varies(toks []token) bool { return x.changing(toks, 0) }

// maxChangeDepth bounds the calls within calls that changing follows; those below may change
// something.
const maxChangeDepth = 8

// changing reports whether tokens of an expression or of a body may change a variable, or read
// something that is another each time. depth counts calls.
func (x *exec) changing(toks []token, depth int) bool {
	if depth > maxChangeDepth || !x.spend(len(toks)) {
		return true
	}
	for i, t := range toks {
		switch {
		case t.is("static"), t.is("<<<"), t.is("__COUNTER__"), t.is("__LINE__"), t.is("++"), t.is("--"),
			t.kind == tokPunct && isAssignment(t.text):
			return true
		case t.kind != tokIdent || notTypes[t.text]:
			continue
		}
		open := i + 1
		if open < len(toks) && toks[open].is("<") {
			open = skipAngles(toks, open) + 1
		}
		if open > i && open < len(toks) && toks[open].is("(") && x.changingCall(toks, i, open, depth) {
			return true
		}
	}
	return false
}

// changingCall decides changing for the call of the function whose name is at i and whose arguments
// are in the brackets at open.
func (x *exec) changingCall(toks []token, i, open, depth int) bool {
	name := toks[i].text
	if strings.Contains(name, "rand") {
		return true
	}
	if i > 0 && (toks[i-1].is(".") || toks[i-1].is("->")) {
		return !x.getter(name, depth)
	}
	if x.records[name] != nil {
		return x.constructors || x.destructors
	}
	if list := x.funcs[name]; len(list) > 0 {
		return x.anyChanges(list, depth)
	}
	if typeSizes[name] != 0 || name == "dim3" {
		return false
	}
	if x.variable(name) != nil { // a function object
		return true
	}
	if x.isHarmless(toks, i) {
		return !slices.Contains(repeatable, name)
	}
	return strings.ToUpper(name) != name || len(x.prototypes[name]) > 0
}

// repeatable are the functions among harmless and harmlessStd that return the same for the same
// arguments, and no new memory.
var repeatable = []string{"strcmp", "strlen", "atoi", "atof", "atol", "min", "max", "ceil", "ceilf",
	"floor", "floorf", "sqrt", "sqrtf", "pow", "log2", "abs", "fabs", "sizeof", "raw_pointer_cast",
	"to_string", "stoi", "stol", "stoul", "stoll", "stoull", "stof", "stod", "strtol", "strtoul", "strtod",
	"round", "lround", "trunc", "log", "log10", "exp", "sin", "cos", "tan", "tanh", "hypot", "fmod",
	"isnan", "isinf", "isfinite", "gcd", "lcm", "clamp", "cbrt", "ldexp", "llabs", "labs", "equal", "string",
	"complex", "is_same", "getenv", "memcmp", "strncmp", "strstr", "strchr", "begin", "end", "size", "data",
	"numeric_limits", "make_pair", "make_tuple"}

// anyChanges reports whether a body of one of the functions of a name may change a variable.
func (x *exec) anyChanges(list []*hostFunc, depth int) bool {
	return slices.ContainsFunc(list, func(f *hostFunc) bool {
		return x.changing(x.toks[f.body[0]:f.body[1]], depth+1)
	})
}

// getters are the beginnings of the names of methods that libraries have for what an object is: the
// sizes of images, matrices and tensors.
var getters = []string{"get", "Get", "num", "Num", "is", "has", "rows", "cols", "width", "height",
	"depth", "stride", "pitch", "step", "channels", "total", "elem", "dim", "shape", "extent",
	"item", "n_", "nnz", "bytes", "area", "x", "y", "z", "w"}

// getter reports whether a method that the file does not declare, or with a body that changes
// nothing, returns the same each time. Of other classes the name decides.
func (x *exec) getter(name string, depth int) bool {
	if list := x.funcs[name]; len(list) > 0 {
		return !x.anyChanges(list, depth)
	}
	switch {
	case len(x.prototypes[name]) > 0:
		return false
	case constMethods[name]:
		return true
	}
	return !strings.Contains(strings.ToLower(name), "next") &&
		slices.ContainsFunc(getters, func(p string) bool {
			rest, ok := strings.CutPrefix(name, p)
			word := rest != "" && 'a' <= rest[0] && rest[0] <= 'z' // a longer one
			return ok && !(len(p) <= 2 && word)
		})
}

// unchanged reports whether a name still means the same variable with the same value.
func (x *exec) unchanged(r reading) bool {
	c := x.variable(r.name)
	return c == r.cell && (c == nil || c.val.same(r.val))
}

// peek returns the next token, without consuming it; the zero token at the end.
func (e *evaluator) peek() token { return e.ahead(0) }

// ahead returns the token after the next n; the zero token at the end.
func (e *evaluator) ahead(n int) token {
	if e.pos+n < len(e.toks) {
		return e.toks[e.pos+n]
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

// fail gives the expression up: pos moves past the end, which eval notices.
func (e *evaluator) fail() value {
	e.pos = len(e.toks) + 1
	return value{}
}

// enter counts nesting and work; the caller calls leave. It returns false if there is too much.
func (e *evaluator) enter() bool {
	e.depth++
	return e.x.spend(1) && e.depth <= maxExprDepth
}

func (e *evaluator) leave() { e.depth-- }

// ternary parses a conditional expression.
func (e *evaluator) ternary() value {
	if !e.enter() {
		return e.fail()
	}
	defer e.leave()
	start := e.pos
	c := e.binary(0)
	if !e.accept("?") {
		return c
	}
	mid := e.pos
	a := e.ternary()
	a = e.lift(a, mid)
	if !e.accept(":") {
		return e.fail()
	}
	mid = e.pos
	b := e.ternary()
	b = e.lift(b, mid)
	cond := c.integer()
	if n, ok := cond.Constant(); ok {
		if n == 0 {
			a, b = b, a
		}
		switch {
		case isReal(a) || isReal(b):
			return a.withReal(b)
		case a.kind == anInteger && b.kind == anInteger:
			return a.of(common(a, b))
		case a.kind == anInteger: // of the type of b, which is not known
			return e.opaque(start)
		}
		return a
	}
	if a.same(b) {
		return a
	}
	for _, v := range []value{a, b} {
		if v.kind == aPointer {
			e.x.retain(v.root)
		}
	}
	x, y := a.integer(), b.integer()
	if cond == nil || x == nil || y == nil {
		return e.opaque(start)
	}
	size, unsigned := common(a, b)
	v := integer(operation(OpCond, cond, x, y)).of(size, unsigned)
	v.cast = a.cast || b.cast || c.cast
	return v
}

// withReal returns a constant as one of the type that it has together with w, of which one is a
// floating-point number; nothing if that is not known.
func (v value) withReal(w value) value {
	f, ok := v.float()
	if _, known := w.float(); !ok || !known {
		return value{}
	}
	return float(f, (v.size == 4 || v.kind == anInteger) && (w.size == 4 || w.kind == anInteger))
}

// opaque returns something unknown for the tokens from start to the current one.
func (e *evaluator) opaque(start int) value {
	if start >= e.pos || e.pos > len(e.toks) {
		return value{}
	}
	return e.x.opaque(e.toks[start:e.pos])
}

// lift returns v, or something unknown if it was not understood.
func (e *evaluator) lift(v value, start int) value {
	if v.kind == nothing {
		return e.opaque(start)
	}
	return v
}

// precedence of the binary operators, as in C.
var precedence = map[string]int{"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7,
	">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}

// binary parses operators of a precedence above minPrec, by precedence climbing.
func (e *evaluator) binary(minPrec int) value {
	if !e.enter() {
		return e.fail()
	}
	defer e.leave()
	start := e.pos
	v := e.unary()
	for {
		op := e.peek()
		prec := precedence[op.text]
		if op.kind != tokPunct || prec == 0 || prec <= minPrec {
			return v
		}
		v = e.lift(v, start)
		e.pos++
		right := e.pos
		w := e.lift(e.binary(prec), right)
		v = e.lift(combine(op.text, v, w), start)
	}
}

// intOps are the operators over integers.
var intOps = map[string]Op{"|": OpOr, "^": OpXor, "&": OpAnd, "==": OpEq, "!=": OpNe, "<": OpLt,
	"<=": OpLe, "<<": OpShl, ">>": OpShr, "+": OpAdd, "-": OpSub, "*": OpMul, "/": OpDiv, "%": OpRem}

// combine returns v op w; nothing if it is not understood.
func combine(op string, v, w value) value {
	out := combined(op, v, w)
	if out.kind == anInteger || out.kind == aFraction {
		out.cast = v.cast || w.cast
	}
	return out
}

func combined(op string, v, w value) value {
	if v.class || w.class { // an operator of a class, or a conversion
		return value{}
	}
	if (op == "+" || op == "-") && (v.kind == aPointer || w.kind == aPointer) {
		return combinePointer(op, v, w)
	}
	if v.real || w.real {
		return value{}
	}
	if isReal(v) || isReal(w) {
		return combineReal(op, v, w)
	}
	x, y := v.integer(), w.integer()
	if x == nil || y == nil {
		return value{}
	}
	nan := v.kind == anObject && w.kind == anObject // perhaps: it is not itself
	if (nan || v.cast || w.cast) && x.Equal(y) {
		return value{}
	}
	switch op {
	case "&&", "||":
		return logical(op, x, y)
	}
	size, unsigned := common(v, w)
	if op == "<<" || op == ">>" {
		if n, ok := y.Constant(); ok && (n < 0 || n >= 8*max(v.size, 4)) {
			return value{}
		}
		return integer(operation(intOps[op], x, y)).of(v.size, v.unsigned)
	}
	if (unsigned || size == 0) && (negative(x) || negative(y)) {
		return value{}
	}
	switch op {
	case ">":
		return truth(operation(OpLt, y, x))
	case ">=":
		return truth(operation(OpLe, y, x))
	case "<", "<=", "==", "!=":
		return truth(operation(intOps[op], x, y))
	}
	return integer(operation(intOps[op], x, y)).of(size, unsigned) // nothing if it wraps around
}

// common returns the type to which two integers are converted (C++, usual arithmetic conversions):
// its size in bytes, 0 if that is not known, and whether it may be unsigned.
func common(v, w value) (size int64, unsigned bool) {
	switch {
	case v.size == 0 || w.size == 0:
		return 0, v.unsigned || w.unsigned
	case v.size > w.size:
		return v.size, v.unsigned
	case w.size > v.size:
		return w.size, w.unsigned
	}
	return v.size, v.unsigned || w.unsigned
}

// truth returns the value of a comparison.
func truth(e *Expr) value {
	v := integer(e).of(4, false)
	v.narrow = true
	return v
}

// negative reports whether an integer is a constant below 0.
func negative(e *Expr) bool {
	n, ok := e.Constant()
	return ok && n < 0
}

// isReal reports whether v is a floating-point number.
func isReal(v value) bool { return v.kind == aFloat || v.kind == aFraction }

// logical returns x && y or x || y, which a constant operand may decide.
func logical(op string, x, y *Expr) value {
	for _, e := range []*Expr{x, y} {
		if n, ok := e.Constant(); ok && (n != 0) == (op == "||") {
			return truth(operation(OpNe, e, number(0)))
		}
	}
	nonzero := func(e *Expr) *Expr { return operation(OpNe, e, number(0)) }
	if op == "||" {
		return truth(operation(OpCond, x, number(1), nonzero(y)))
	}
	return truth(operation(OpCond, x, nonzero(y), number(0)))
}

// combinePointer returns the sum of a pointer and an integer, or their difference.
func combinePointer(op string, v, w value) value {
	if w.kind == aPointer && op == "+" {
		v, w = w, v
	}
	n := w.integer()
	if v.kind != aPointer || w.kind == aPointer || n == nil {
		return value{}
	}
	if v.elem == 0 {
		v.off = nil
		return v
	}
	scaled := operation(OpMul, n, number(v.elem))
	if op == "-" {
		v.off = operation(OpSub, v.off, scaled)
	} else {
		v.off = operation(OpAdd, v.off, scaled)
	}
	return v
}

// combineReal computes floating-point arithmetic: exactly if all is constant, else as quotients of
// integers. Quotients are right as long as the numbers are so small that C rounds none of them.
func combineReal(op string, v, w value) value {
	if a, ok := v.float(); ok {
		if b, ok := w.float(); ok {
			single := (v.size == 4 || v.kind == anInteger) && (w.size == 4 || w.kind == anInteger)
			return realConstant(op, a, b, single)
		}
	}
	a, ok := v.fraction()
	b, ok2 := w.fraction()
	if !ok || !ok2 {
		return value{}
	}
	out := value{kind: aFraction}
	switch op {
	case "+":
		out.n = operation(OpAdd, operation2(OpMul, a.n, b.den), operation2(OpMul, b.n, a.den))
		out.den = operation(OpMul, a.den, b.den)
	case "-":
		out.n = operation(OpSub, operation2(OpMul, a.n, b.den), operation2(OpMul, b.n, a.den))
		out.den = operation(OpMul, a.den, b.den)
	case "*":
		out.n, out.den = operation(OpMul, a.n, b.n), operation(OpMul, a.den, b.den)
	case "/":
		out.n, out.den = operation(OpMul, a.n, b.den), operation(OpMul, a.den, b.n)
	}
	if out.n == nil || out.den == nil {
		return value{}
	}
	return out
}

// operation2 is operation for arguments of which one may be nil.
func operation2(op Op, a, b *Expr) *Expr {
	if a == nil || b == nil {
		return nil
	}
	return operation(op, a, b)
}

// float returns a floating-point constant, rounded to a float if single is set.
func float(f float64, single bool) value {
	if single {
		return value{kind: aFloat, f: float64(float32(f)), size: 4}
	}
	return value{kind: aFloat, f: f}
}

// realConstant returns a op b for floating-point numbers: of type float if single is set, which
// conversions of integers to float round as well.
func realConstant(op string, a, b float64, single bool) value {
	if single {
		a, b = float64(float32(a)), float64(float32(b))
	}
	holds := false
	switch op {
	case "+":
		return float(a+b, single)
	case "-":
		return float(a-b, single)
	case "*":
		return float(a*b, single)
	case "/":
		return float(a/b, single)
	case "<":
		holds = a < b
	case ">":
		holds = a > b
	case "<=":
		holds = a <= b
	case ">=":
		holds = a >= b
	case "==":
		holds = a == b
	case "!=":
		holds = a != b
	default:
		return value{}
	}
	if holds {
		return truth(number(1))
	}
	return truth(number(0))
}

// unary parses prefix operators and casts.
func (e *evaluator) unary() value {
	if !e.enter() {
		return e.fail()
	}
	defer e.leave()
	start := e.pos
	switch {
	case e.accept("+"):
		return e.unary()
	case e.accept("-"):
		v := e.lift(e.unary(), start+1)
		if f, ok := v.float(); ok && isReal(v) {
			return float(-f, v.size == 4)
		}
		if v.kind == anInteger {
			return combine("-", integer(number(0)).of(v.size, v.unsigned), v)
		}
		return combine("-", truth(number(0)), v)
	case e.accept("~"):
		return combine("^", truth(number(-1)), e.lift(e.unary(), start+1))
	case e.accept("!"):
		return combine("==", truth(number(0)), e.lift(e.unary(), start+1))
	case e.accept("&"):
		v := e.unary()
		if v.at.root == nil {
			return value{}
		}
		return value{kind: aPointer, root: v.at.root, off: v.at.off, elem: v.at.elem}
	case e.accept("*"):
		e.unary()
		return value{}
	case e.peek().is("++"), e.peek().is("--"):
		e.pos++
		e.unary()
		return value{}
	case e.peek().is("sizeof"):
		return e.sizeof()
	case e.peek().is("("):
		if v, ok := e.cast(); ok {
			return v
		}
	}
	return e.postfix()
}

// cast parses (type) operand; false, with nothing consumed, if the parentheses hold an expression.
func (e *evaluator) cast() (value, bool) {
	t, next, ok := e.x.parseType(e.toks, e.pos+1)
	if !ok || next >= len(e.toks) || !e.toks[next].is(")") {
		return value{}, false
	}
	follow := token{}
	if next+1 < len(e.toks) {
		follow = e.toks[next+1]
	}
	operand := follow.kind == tokIdent || follow.kind == tokNumber || follow.kind == tokString ||
		follow.is("(")
	sure := t.class != classOther || t.ptr > 0 || e.x.variable(e.toks[next-1].text) == nil
	if t.class != classOther || t.ptr > 0 {
		operand = operand || follow.is("-") || follow.is("&") || follow.is("+") || follow.is("~") ||
			follow.is("*") || follow.is("!")
	}
	if !operand || !sure {
		return value{}, false
	}
	e.pos = next + 1
	start := e.pos
	v := e.unary()
	return reinterpret(e.lift(v, start), t), true
}

// reinterpret returns v after a cast to t; nothing for a cast to a reference, which reads the bytes
// of v as those of another type.
func reinterpret(v value, t ctype) value {
	if t.ref && t.ptr == 0 {
		return value{}
	}
	return convert(v, t)
}

// convert returns v as a value of type t, nothing if that is not known.
func convert(v value, t ctype) value {
	switch {
	case t.ptr > 0 || t.array != 0:
		if a, ok := v.pointer(); ok {
			return value{kind: aPointer, root: a.root, off: a.off, elem: t.elemSize()}
		}
		return v
	case t.class == classInteger && t.truth && isReal(v):
		f, ok := v.float()
		if !ok {
			return value{}
		}
		return realConstant("!=", f, 0, false)
	case t.class == classInteger:
		cast := isReal(v) || v.size == 0 || v.size > t.size || v.size == t.size && v.unsigned != t.unsigned
		cast = cast || v.cast
		v = v.truncated()
		if c, ok := v.n.Constant(); v.kind == anInteger && ok {
			if !t.holds(c) {
				return value{}
			}
			cast = false
		} else if t.size < 4 {
			return value{}
		}
		if v.kind != anInteger {
			return value{}
		}
		if v.unsigned = t.unsigned && t.size >= 4; t.size > 0 {
			v.size = max(t.size, 4)
		}
		v.narrow, v.cast = t.size < 4, cast
		return v
	case t.class == classFloating:
		if f, ok := v.float(); ok {
			return float(f, t.size == 4)
		}
		if f, ok := v.fraction(); ok {
			f.cast = true // rounded
			return f
		}
		return value{}
	case t.class == classDim:
		return v.asDim()
	case t.automatic || t.vague:
	case v.kind == anInteger || isReal(v) || v.kind == aDim: // a type that heddle does not know
		return value{}
	case v.kind == aPointer:
		v.elem = 0
	}
	return v
}

// asDim returns a value as a dim3, where an integer is the size in x.
func (v value) asDim() value {
	if v.kind == aDim {
		return v
	}
	if n := v.integer(); n != nil {
		return value{kind: aDim, dim: [3]*Expr{n, number(1), number(1)}}
	}
	return value{}
}

// sizeof parses sizeof of a type or of a variable.
func (e *evaluator) sizeof() value {
	e.pos++
	open := e.accept("(")
	size := int64(0)
	deref := 0
	for e.accept("*") {
		deref++
	}
	c := e.x.variable(e.peek().text)
	if c != nil && e.x.declaresType(e.peek().text) { // either may hide the other
		return e.fail()
	}
	if t, next, ok := e.x.parseType(e.toks, e.pos); ok && (c == nil || next > e.pos+1) && deref == 0 {
		size = t.bytes()
		e.pos = next
	} else if c != nil {
		e.pos++
		t := c.typ
		if e.accept("[") {
			e.ternary()
			deref++
			if !e.accept("]") {
				return e.fail()
			}
		}
		switch {
		case deref == 0:
			size = t.bytes()
		case deref == 1 && (t.array != 0 || t.ptr > 0):
			size = t.elemSize()
		}
	}
	if open && !e.accept(")") || size == 0 {
		return value{}
	}
	return integer(number(size)).of(8, true)
}

// number parses a literal.
func (e *evaluator) number() value {
	s := e.peek().text
	e.pos++
	if n, ok := parseCInteger(s); ok {
		return integer(number(n)).of(literalType(s, n))
	}
	s = strings.ReplaceAll(s, "'", "")
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		return value{}
	}
	f, err := strconv.ParseFloat(strings.TrimRight(s, "fFlL"), 64)
	if err != nil || math.IsInf(f, 0) || strings.Contains(s, "_") {
		return value{}
	}
	return float(f, strings.ContainsAny(s, "fF"))
}

// literalType returns the type of the integer literal s with the value n: the first of int,
// unsigned, long and unsigned long that has it, where a decimal literal is unsigned only with a
// suffix.
func literalType(s string, n int64) (size int64, unsigned bool) {
	digits := s
	if len(s) > 1 && (s[1] == 'x' || s[1] == 'X') {
		digits = "0" + strings.TrimLeft(s, "0123456789abcdefABCDEFxX'")
	}
	size, unsigned = 4, strings.ContainsAny(digits, "uU")
	if strings.ContainsAny(digits, "lLzZ") {
		size = 8
	}
	switch {
	case size == 8:
	case n >= 1<<32, n >= 1<<31 && !unsigned && s[0] != '0':
		size = 8
	case n >= 1<<31:
		unsigned = true
	}
	return size, unsigned
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

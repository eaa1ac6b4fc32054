package launch

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// Op is the kind of an Expr.
type Op uint8

const (
	OpConst   Op = iota // Int
	OpUnknown           // Name
	OpAdd               // the sum of both arguments
	OpSub               // the first argument minus the second
	OpMul               // the product of both arguments
	OpDiv               // the quotient, rounded toward zero
	OpRem               // the remainder, with the sign of the first argument
	OpShl               // the first argument times a power of two
	OpShr               // the first argument divided by a power of two, rounded down
	OpAnd               // bitwise and
	OpOr                // bitwise or
	OpXor               // bitwise exclusive or
	OpMin               // the smaller argument
	OpMax               // the larger argument
	OpCeilDiv           // the quotient, rounded up; the ceil(n / 256.0) of C
	OpEq                // 1 if both arguments are equal, else 0
	OpNe                // 1 if the arguments differ, else 0
	OpLt                // 1 if the first argument is less than the second, else 0
	OpLe                // 1 if the first argument is at most the second, else 0
	OpCond              // the second argument if the first is not 0, else the third
)

// Expr is an expression of host code over integers: a constant, something unknown, or an operator
// with its arguments. It is immutable, so expressions share their parts. Values are 64-bit integers
// without types: an operation that exceeds them, or that C leaves undefined, has no value.
type Expr struct {
	Op   Op
	Int  int64   // OpConst
	Name string  // OpUnknown: the text of the source, made unique within its launch
	Args []*Expr // of an operator
	size int     // nodes of the tree, shared parts counted each time
}

// maxExprSize bounds the nodes of an expression. Host code does not write longer ones, but a loop
// of x = x + x would.
const maxExprSize = 300

// number returns a constant.
func number(n int64) *Expr { return &Expr{Op: OpConst, Int: n, size: 1} }

// unknown returns something unknown, which is equal to everything of the same name.
func unknown(name string) *Expr { return &Expr{Op: OpUnknown, Name: name, size: 1} }

// Constant returns the value of a constant; false for any other expression.
func (e *Expr) Constant() (int64, bool) {
	if e == nil || e.Op != OpConst {
		return 0, false
	}
	return e.Int, true
}

// operation returns op applied to args, computed if all are constant. It returns nil if an argument
// is nil, if the value is undefined, or if the expression would become too large.
func operation(op Op, args ...*Expr) *Expr {
	size, constant := 1, true
	for _, a := range args {
		if a == nil {
			return nil
		}
		size += a.size
		constant = constant && a.Op == OpConst
	}
	if c, ok := args[0].Constant(); ok && op == OpCond {
		if c != 0 {
			return args[1]
		}
		return args[2]
	}
	e := &Expr{Op: op, Args: args, size: size}
	if constant {
		n, ok := e.Eval(nil)
		if !ok {
			return nil
		}
		return number(n)
	}
	if size > maxExprSize {
		return nil
	}
	return e.simplified()
}

// simplified drops additions of 0 and multiplications by 1, and compares an expression with itself.
func (e *Expr) simplified() *Expr {
	if len(e.Args) != 2 {
		return e
	}
	x, y := e.Args[0], e.Args[1]
	a, isA := x.Constant()
	b, isB := y.Constant()
	switch e.Op {
	case OpAdd:
		if isA && a == 0 {
			return y
		}
		if isB && b == 0 {
			return x
		}
	case OpSub:
		if isB && b == 0 {
			return x
		}
		if x.Equal(y) {
			return number(0)
		}
	case OpMul:
		if isA && a == 1 {
			return y
		}
		if isB && b == 1 {
			return x
		}
	case OpDiv, OpCeilDiv:
		if isB && b == 1 {
			return x
		}
	case OpEq, OpLe:
		if x.Equal(y) {
			return number(1)
		}
	case OpNe, OpLt:
		if x.Equal(y) {
			return number(0)
		}
	}
	return e
}

// Equal reports whether e and f are the same expression, which have the same value.
func (e *Expr) Equal(f *Expr) bool {
	if e == f {
		return true
	}
	if e == nil || f == nil || e.Op != f.Op || e.Int != f.Int || e.Name != f.Name || e.size != f.size {
		return false
	}
	return slices.EqualFunc(e.Args, f.Args, (*Expr).Equal)
}

// Eval computes e for the given values of its unknowns. It returns false if one of them has no
// value, a result exceeds 64 bits, or C does not define it.
func (e *Expr) Eval(values map[string]int64) (int64, bool) {
	switch e.Op {
	case OpConst:
		return e.Int, true
	case OpUnknown:
		n, ok := values[e.Name]
		return n, ok
	case OpCond:
		c, ok := e.Args[0].Eval(values)
		if !ok {
			return 0, false
		}
		if c != 0 {
			return e.Args[1].Eval(values)
		}
		return e.Args[2].Eval(values)
	}
	x, ok := e.Args[0].Eval(values)
	if !ok {
		return 0, false
	}
	y, ok := e.Args[1].Eval(values)
	if !ok {
		return 0, false
	}
	return apply(e.Op, x, y)
}

// apply returns x op y; false if it overflows or is undefined.
func apply(op Op, x, y int64) (int64, bool) {
	switch op {
	case OpAdd:
		s := x + y
		return s, (s > x) == (y > 0)
	case OpSub:
		s := x - y
		return s, (s < x) == (y > 0)
	case OpMul:
		return multiply(x, y)
	case OpDiv, OpRem, OpCeilDiv:
		return divide(op, x, y)
	case OpShl:
		if x < 0 || y < 0 || y > 62 || x > math.MaxInt64>>y {
			return 0, false
		}
		return x << y, true
	case OpShr:
		if y < 0 || y > 63 {
			return 0, false
		}
		return x >> y, true
	case OpAnd:
		return x & y, true
	case OpOr:
		return x | y, true
	case OpXor:
		return x ^ y, true
	case OpMin:
		return min(x, y), true
	case OpMax:
		return max(x, y), true
	}
	return compare(op, x, y)
}

// divide returns the quotient or the remainder of x and y; false if C does not define it.
func divide(op Op, x, y int64) (int64, bool) {
	if y == 0 || x == math.MinInt64 {
		return 0, false
	}
	q, rem := x/y, x%y
	switch {
	case op == OpRem:
		return rem, true
	case op == OpCeilDiv && rem != 0 && (rem > 0) == (y > 0):
		return q + 1, true
	}
	return q, true
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

// compare returns 1 or 0 for a comparison; false if op is none.
func compare(op Op, x, y int64) (int64, bool) {
	holds := false
	switch op {
	case OpEq:
		holds = x == y
	case OpNe:
		holds = x != y
	case OpLt:
		holds = x < y
	case OpLe:
		holds = x <= y
	default:
		return 0, false
	}
	if holds {
		return 1, true
	}
	return 0, true
}

// Unknowns returns the names of the unknowns in e, in order of appearance.
func (e *Expr) Unknowns() []string {
	var out []string
	e.walk(func(x *Expr) {
		if x.Op == OpUnknown && !slices.Contains(out, x.Name) {
			out = append(out, x.Name)
		}
	})
	return out
}

// walk calls visit for e and all its parts. A nil expression has none.
func (e *Expr) walk(visit func(*Expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, a := range e.Args {
		a.walk(visit)
	}
}

// infix are the operators as C writes them, with their precedence in C.
var infix = map[Op]struct {
	text string
	prec int
}{
	OpMul: {"*", 10}, OpDiv: {"/", 10}, OpRem: {"%", 10}, OpAdd: {"+", 9}, OpSub: {"-", 9},
	OpShl: {"<<", 8}, OpShr: {">>", 8}, OpLt: {"<", 7}, OpLe: {"<=", 7}, OpEq: {"==", 6},
	OpNe: {"!=", 6}, OpAnd: {"&", 5}, OpXor: {"^", 4}, OpOr: {"|", 3},
}

// String formats e as C writes it: (w + 15) / 16.
func (e *Expr) String() string {
	text, _ := e.format()
	return text
}

// format returns e as C writes it, and the precedence of its outermost operator.
func (e *Expr) format() (text string, prec int) {
	const atom = 20
	switch e.Op {
	case OpConst:
		return strconv.FormatInt(e.Int, 10), atom
	case OpUnknown:
		return e.Name, atom
	case OpMin:
		return fmt.Sprintf("min(%v, %v)", e.Args[0], e.Args[1]), atom
	case OpMax:
		return fmt.Sprintf("max(%v, %v)", e.Args[0], e.Args[1]), atom
	case OpCeilDiv:
		return fmt.Sprintf("ceil(%v / %v)", operand(e.Args[0], 10), operand(e.Args[1], 11)), atom
	case OpCond:
		return fmt.Sprintf("%v ? %v : %v", operand(e.Args[0], 2), operand(e.Args[1], 2),
			operand(e.Args[2], 1)), 1
	}
	o := infix[e.Op]
	return operand(e.Args[0], o.prec) + " " + o.text + " " + operand(e.Args[1], o.prec+1), o.prec
}

// operand formats e as an operand, in parentheses if its precedence is below prec.
func operand(e *Expr, prec int) string {
	text, p := e.format()
	if p < prec {
		return "(" + text + ")"
	}
	return text
}

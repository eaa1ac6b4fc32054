package axiom

import "heddle/internal/smt"

// kind is the type of an expression: Booleans, or bit-vectors of some width. Kinds that must be
// equal are joined, so that an unknown one gets the width of the others (union-find).
type kind struct {
	parent *kind
	known  bool
	width  int // 0 for a Boolean
}

// find returns the representative of the kinds that are equal to this one.
func (k *kind) find() *kind {
	for k.parent != nil {
		k = k.parent
	}
	return k
}

// join makes two kinds equal. It reports whether that is possible.
func (k *kind) join(l *kind) bool {
	k, l = k.find(), l.find()
	switch {
	case k == l:
	case !k.known:
		k.parent = l
	case !l.known:
		l.parent = k
	case k.width != l.width:
		return false
	default:
		l.parent = k
	}
	return true
}

// bits is the width of a bit-vector. One that nothing decides is an int of C.
func (k *kind) bits() int {
	if !k.known {
		return 32
	}
	return k.width
}

// The operations of an expression that are not operators.
const (
	opVariable = "variable"
	opNumber   = "number"
	opCall     = "call" // of a function of the kernel
)

// expr is an expression.
type expr struct {
	op        string // opVariable, opNumber, opCall, or one of operators
	kind      *kind
	args      []*expr
	index     int       // of a variable
	number    uint64    // of a number
	fn        *function // of a call
	line, col int
}

// The parameters and the result of an operator.
const (
	boolean = iota // all are Booleans
	vectors        // all are bit-vectors of one width
	compare        // bit-vectors of one width, with a Boolean result
	equal          // anything, with a Boolean result
)

// operator is an operator of Boogie or a bit-vector function of SMT-LIB.
type operator struct {
	shape, arity int
	apply        func(c *smt.Context, a []smt.Term) smt.Term
}

// operators are those that an axiom may use, by their symbol or the name that :bvbuiltin gives.
var operators = map[string]operator{
	"true":  {boolean, 0, func(*smt.Context, []smt.Term) smt.Term { return smt.True }},
	"false": {boolean, 0, func(*smt.Context, []smt.Term) smt.Term { return smt.False }},
	"!":     {boolean, 1, func(c *smt.Context, a []smt.Term) smt.Term { return c.Not(a[0]) }},
	"&&":    {boolean, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.And(a...) }},
	"||":    {boolean, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Or(a...) }},
	"==>":   {boolean, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Implies(a[0], a[1]) }},
	"<==>":  {boolean, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Eq(a[0], a[1]) }},
	"==":    {equal, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Eq(a[0], a[1]) }},
	"!=":    {equal, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Not(c.Eq(a[0], a[1])) }},

	"bvadd":  {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Add(a[0], a[1]) }},
	"bvsub":  {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Sub(a[0], a[1]) }},
	"bvmul":  {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Mul(a[0], a[1]) }},
	"bvneg":  {vectors, 1, func(c *smt.Context, a []smt.Term) smt.Term { return c.Neg(a[0]) }},
	"bvnot":  {vectors, 1, func(c *smt.Context, a []smt.Term) smt.Term { return c.BvNot(a[0]) }},
	"bvand":  {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.BvAnd(a[0], a[1]) }},
	"bvor":   {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.BvOr(a[0], a[1]) }},
	"bvxor":  {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.BvXor(a[0], a[1]) }},
	"bvshl":  {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Shl(a[0], a[1]) }},
	"bvlshr": {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.LShr(a[0], a[1]) }},
	"bvashr": {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.AShr(a[0], a[1]) }},
	"bvudiv": {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.UDiv(a[0], a[1]) }},
	"bvurem": {vectors, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.URem(a[0], a[1]) }},

	"bvult": {compare, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Ult(a[0], a[1]) }},
	"bvule": {compare, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Ule(a[0], a[1]) }},
	"bvugt": {compare, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Ult(a[1], a[0]) }},
	"bvuge": {compare, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Ule(a[1], a[0]) }},
	"bvslt": {compare, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Slt(a[0], a[1]) }},
	"bvsle": {compare, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Sle(a[0], a[1]) }},
	"bvsgt": {compare, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Slt(a[1], a[0]) }},
	"bvsge": {compare, 2, func(c *smt.Context, a []smt.Term) smt.Term { return c.Sle(a[1], a[0]) }},
}

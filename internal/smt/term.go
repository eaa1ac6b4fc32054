// Package smt provides formulas over bit-vectors, Booleans and uninterpreted functions (the SMT-LIB
// 2 theories FixedSizeBitVectors and UF): hash-consed terms that are simplified as they are built,
// an evaluator, an SMT-LIB printer, and a decision procedure that settles most conjunctions without
// a solver.
//
// The constructors are the simplifier. Sums are in linear normal form modulo 2^n, so equal linear
// expressions are the same term. Every term carries its known bits and its unsigned and signed
// range, which extensions, shifts, divisions and comparisons use.
//
// The law that every rewrite keeps: under every model that respects the ranges of variables, the
// built term has the value of the expression as written, by SMT-LIB's semantics. A property test
// compares the two on random expressions and models (rewrite_test.go). The simplifier is not
// complete: terms that are equal need not become the same term, and an unsatisfiable conjunction
// need not become False. A solver decides the rest.
package smt

import (
	"fmt"
	"math/bits"
)

// Term is a term of a Context: equal terms of one Context are the same number. The zero Term is
// False.
type Term uint32

// The two Boolean constants are the first terms of every Context.
const (
	False Term = 0
	True  Term = 1
)

// Op is the operator of a term.
type Op uint8

// Operators. Sub, neg, concat, bitwise not, <= and > do not exist: constructors express them by
// these.
const (
	OpConst Op = iota // Boolean or bit-vector constant
	OpVar             // free variable
	OpApp             // application of an uninterpreted function

	OpNot // negation of a Boolean
	OpAnd // of two or more Booleans
	OpOr
	OpIte // (condition, then, else), of any sort
	OpEq  // of two bit-vectors, or of two Booleans
	OpUlt // unsigned <
	OpSlt // signed <

	OpSum  // constant + sum of coefficient*argument, modulo 2^width
	OpMul  // product of two or more arguments, modulo 2^width
	OpUDiv // as in SMT-LIB, x/0 is all ones
	OpURem // x%0 is x
	OpSDiv
	OpSRem
	OpBvAnd
	OpBvOr
	OpBvXor
	OpShl // shifts by the width or more give 0, or copies of the sign
	OpLShr
	OpAShr
	OpExtract // width bits of the argument, from bit aux on
	OpZExt
	OpSExt
	OpPopc // how many bits of the argument are set, as wide as the argument
)

// MaxWidth is the maximum width of a bit-vector in bits: a value fits a uint64.
const MaxWidth = 64

// node is the content of a Term. args and coef are slices of slabs that the Context owns.
type node struct {
	op    Op
	width uint8  // 0 for a Boolean
	aux   uint32 // OpVar: variable; OpApp: function; OpExtract: lowest bit
	val   uint64 // OpConst: value; OpSum: constant part
	args  []Term
	coef  []uint64 // OpSum: coefficient of each argument, not 0
}

// Func is an uninterpreted function of a Context.
type Func struct {
	Name   string  // unique in its Context
	Args   []uint8 // widths; 0 for a Boolean
	Result uint8   // width; 0 for a Boolean
}

// A variable can have several terms with different assumed ranges: the one from Var or VarIn, one
// without a range, and refined ones. A model gives all of them the value of the name.
type variable struct{ name string }

// refinement identifies a term of a variable by its range.
type refinement struct {
	name string
	f    facts
}

// Context owns terms. Building terms is not safe for concurrent use; reading is, as long as no
// goroutine builds terms.
type Context struct {
	nodes  []node
	facts  []facts
	vars   []variable
	funcs  []Func
	byName map[string]Term     // term of Var or VarIn by name
	refs   map[refinement]Term // all terms of variables
	fnName map[string]uint32   // index into funcs by name
	// extracts remembers Extract: sums of sums that share terms have exponentially many paths
	extracts map[extraction]Term
	table    []Term // open addressing by hash of node; 0 is empty
	used     int    // entries of table
	limit    int    // maximum number of nodes; 0: unlimited
	over     bool   // the limit was exceeded
	// Limit bounds the number of terms. Beyond it constructors go on working, and Exceeded reports
	// true: the
	args  []Term
	coefs []uint64
}

// New returns an empty context.
func New() *Context {
	c := &Context{byName: map[string]Term{}, refs: map[refinement]Term{}, fnName: map[string]uint32{},
		extracts: map[extraction]Term{}, table: make([]Term, 1024)}
	for v := range uint64(2) { // False and True, in this order
		c.nodes = append(c.nodes, node{op: OpConst, val: v})
		c.facts = append(c.facts, facts{})
	}
	return c
}

// Limit sets the maximum number of terms. Constructors still work beyond it, but Exceeded then
// reports true and the caller should give up with a reason, instead of exhausting memory.
func (c *Context) Limit(nodes int) { c.limit = nodes }

// Exceeded reports whether more terms exist than Limit allows. The caller must check it:
// constructors never fail, so that they can be nested.
func (c *Context) Exceeded() bool { return c.over }

// Len returns the number of terms.
func (c *Context) Len() int { return len(c.nodes) }

// Op returns the operator of t.
func (c *Context) Op(t Term) Op { return c.nodes[t].op }

// Width returns the width of t in bits, 0 for a Boolean; no term is wider than MaxWidth.
func (c *Context) Width(t Term) int { return int(c.nodes[t].width) }

// Args returns the arguments of t. The caller must not change them: terms are shared.
func (c *Context) Args(t Term) []Term { return c.nodes[t].args }

// Value returns the value of a constant, and whether t is a constant. True is 1.
func (c *Context) Value(t Term) (uint64, bool) {
	n := &c.nodes[t]
	return n.val, n.op == OpConst
}

// Name returns the name of a variable, or of the function of an application.
func (c *Context) Name(t Term) string {
	switch n := &c.nodes[t]; n.op {
	case OpVar:
		return c.vars[n.aux].name
	case OpApp:
		return c.funcs[n.aux].Name
	}
	return ""
}

// mask returns the w lowest bits set.
func mask(w uint8) uint64 { return ^uint64(0) >> (64 - uint(w)) }

// signed interprets the lower w bits of v in two's complement.
func signed(v uint64, w uint8) int64 {
	s := 64 - uint(w)
	return int64(v<<s) >> s
}

// Bool returns the Boolean constant of b.
func Bool(b bool) Term {
	if b {
		return True
	}
	return False
}

// Const returns the bit-vector constant v modulo 2^width.
func (c *Context) Const(v uint64, width int) Term {
	w := checked(width)
	return c.intern(node{op: OpConst, width: w, val: v & mask(w)})
}

// checked panics for a width outside of 1 to MaxWidth, a bug of the caller.
func checked(width int) uint8 {
	if width < 1 || width > MaxWidth {
		panic(fmt.Sprintf("smt: bit-vector of width %d", width))
	}
	return uint8(width)
}

// BoolVar returns the Boolean variable with a name.
func (c *Context) BoolVar(name string) Term { return c.variable(name, 0, facts{}) }

// Var returns the bit-vector variable with a name. A name has one width in a Context.
func (c *Context) Var(name string, width int) Term {
	w := checked(width)
	return c.variable(name, w, anyValue(w))
}

// VarIn returns the bit-vector variable with a name, whose unsigned value lies in [lo, hi]. The
// range is an assumption of every formula that contains the variable. The first call for a name
// determines it.
func (c *Context) VarIn(name string, width int, lo, hi uint64) Term {
	w := checked(width)
	return c.variable(name, w, unsignedIn(w, lo, hi))
}

// variable returns the term of a variable, with the facts of its first call.
func (c *Context) variable(name string, w uint8, f facts) Term {
	if t, ok := c.byName[name]; ok {
		if c.nodes[t].width != w {
			panic("smt: variable " + name + " has two widths")
		}
		return t
	}
	t := c.refined(name, w, f)
	c.byName[name] = t
	return t
}

// refined returns the term of a variable with given facts.
func (c *Context) refined(name string, w uint8, f facts) Term {
	key := refinement{name, f}
	if t, ok := c.refs[key]; ok {
		return t
	}
	c.vars = append(c.vars, variable{name: name})
	t := c.add(node{op: OpVar, width: w, aux: uint32(len(c.vars) - 1)}, f)
	c.refs[key] = t
	return t
}

// Declare returns the uninterpreted function with a name, for Apply. result and args are widths in
// bits; 0 is Boolean. The first call for a name determines the signature.
func (c *Context) Declare(name string, result int, args ...int) uint32 {
	if f, ok := c.fnName[name]; ok {
		return f
	}
	fn := Func{Name: name, Result: uint8(result)}
	for _, w := range args {
		fn.Args = append(fn.Args, uint8(w))
	}
	f := uint32(len(c.funcs))
	c.funcs = append(c.funcs, fn)
	c.fnName[name] = f
	return f
}

// Apply returns the application of a declared function. It panics if the arguments have other
// widths.
func (c *Context) Apply(f uint32, args ...Term) Term {
	fn := &c.funcs[f]
	if len(args) != len(fn.Args) {
		panic("smt: wrong number of arguments of " + fn.Name)
	}
	for i, a := range args {
		if c.nodes[a].width != fn.Args[i] {
			panic("smt: wrong argument of " + fn.Name)
		}
	}
	return c.intern(node{op: OpApp, width: fn.Result, aux: f, args: args})
}

// intern returns the term of a node and copies its slices if the term is new. Equal nodes are one
// term, so comparing terms is comparing numbers.
func (c *Context) intern(n node) Term {
	h := hash(&n)
	m := uint64(len(c.table) - 1)
	for i := h & m; ; i = (i + 1) & m {
		t := c.table[i]
		if t == 0 {
			break
		}
		if same(&c.nodes[t], &n) {
			return t
		}
	}
	n.args = c.keepArgs(n.args)
	n.coef = c.keepCoef(n.coef)
	return c.add(n, c.factsOf(&n))
}

// add appends a new node. If its facts leave one value, the constant replaces it.
func (c *Context) add(n node, f facts) Term {
	if c.limit > 0 && len(c.nodes) >= c.limit {
		c.over = true
	}
	if n.width > 0 && n.op != OpConst && f.ulo == f.uhi { // the facts leave one value
		return c.Const(f.ulo, int(n.width))
	}
	t := Term(len(c.nodes))
	c.nodes = append(c.nodes, n)
	c.facts = append(c.facts, f)
	if n.op == OpVar {
		return t
	}
	if c.used++; 2*c.used > len(c.table) {
		c.grow()
	} else {
		c.enter(t)
	}
	return t
}

// enter adds a term to the hash table.
func (c *Context) enter(t Term) {
	m := uint64(len(c.table) - 1)
	i := hash(&c.nodes[t]) & m
	for c.table[i] != 0 {
		i = (i + 1) & m
	}
	c.table[i] = t
}

// grow doubles the hash table, which is at most half full.
func (c *Context) grow() {
	c.table = make([]Term, 2*len(c.table))
	for t := Term(2); int(t) < len(c.nodes); t++ {
		if c.nodes[t].op != OpVar {
			c.enter(t)
		}
	}
}

// keepArgs copies arguments into a slab. Slabs avoid an allocation for each node.
func (c *Context) keepArgs(a []Term) []Term {
	if len(a) == 0 {
		return nil
	}
	if cap(c.args)-len(c.args) < len(a) {
		c.args = make([]Term, 0, max(4096, len(a)))
	}
	n := len(c.args)
	c.args = append(c.args, a...)
	return c.args[n:len(c.args):len(c.args)]
}

// keepCoef copies coefficients into a slab.
func (c *Context) keepCoef(a []uint64) []uint64 {
	if len(a) == 0 {
		return nil
	}
	if cap(c.coefs)-len(c.coefs) < len(a) {
		c.coefs = make([]uint64, 0, max(4096, len(a)))
	}
	n := len(c.coefs)
	c.coefs = append(c.coefs, a...)
	return c.coefs[n:len(c.coefs):len(c.coefs)]
}

// hash hashes the content of a node.
func hash(n *node) uint64 {
	h := uint64(n.op)<<40 ^ uint64(n.width)<<32 ^ uint64(n.aux) ^ n.val*0x9e3779b97f4a7c15
	for _, a := range n.args {
		h = bits.RotateLeft64(h, 23)*0x9e3779b97f4a7c15 ^ uint64(a)
	}
	for _, k := range n.coef {
		h = bits.RotateLeft64(h, 29)*0xbf58476d1ce4e5b9 ^ k
	}
	h ^= h >> 31
	return h * 0x94d049bb133111eb >> 7
}

// same reports whether two nodes have the same content.
func same(a, b *node) bool {
	if a.op != b.op || a.width != b.width || a.aux != b.aux || a.val != b.val ||
		len(a.args) != len(b.args) {
		return false
	}
	for i := range a.args {
		if a.args[i] != b.args[i] {
			return false
		}
	}
	for i := range a.coef {
		if a.coef[i] != b.coef[i] {
			return false
		}
	}
	return true
}

// ExtractLow returns the index of the lowest extracted bit of an OpExtract.
func (c *Context) ExtractLow(t Term) int { return int(c.nodes[t].aux) }

// SumParts returns the constant of an OpSum and the coefficients of its arguments, modulo 2^width.
// The caller must not change them.
func (c *Context) SumParts(t Term) (constant uint64, coef []uint64) {
	return c.nodes[t].val, c.nodes[t].coef
}

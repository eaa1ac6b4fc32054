// Package assume parses assumptions about a launch, such as "n == gridDim.x * blockDim.x", and
// turns them into terms for a proof.
//
// An assumption is a C expression over integers with the operators and precedences of C, without
// assignment, conditional and comma operators. All arithmetic is in 64-bit two's complement, and
// division is signed and truncates toward zero. Narrower values are sign-extended, as an int is, so
// an assumption over 32-bit parameters does not wrap where the same expression in the kernel would.
// Division by zero has the result that SMT-LIB gives it.
package assume

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/smt"
)

// Expr is a parsed expression. It is immutable.
type Expr struct {
	Text string // as written by the user
	root *node
}

// node is an operator with its arguments, or a leaf: a name, or a number if name is empty.
type node struct {
	op   string // "" for a leaf; "neg" for unary minus
	args []*node
	name string
	num  uint64
	col  int // of the operator or leaf, from 1
}

// Error reports an invalid expression.
type Error struct {
	Text string // the expression
	Col  int    // byte column of the problem, from 1; after the end if something is missing
	Msg  string // what is wrong, without a period
}

// Error returns the expression, the column and the message on one line.
func (e *Error) Error() string { return fmt.Sprintf("%q, column %d: %s", e.Text, e.Col, e.Msg) }

// levels lists the binary operators by precedence, lowest first, as in C.
var levels = [][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"},
	{"+", "-"}, {"*", "/", "%"},
}

// maxDepth bounds the nesting of parentheses and unary operators, and so the parser's recursion.
const maxDepth = 200

// Parse parses an expression. The error is an *Error.
func Parse(text string) (*Expr, error) {
	p := &parser{text: text}
	if err := p.scan(); err != nil {
		return nil, err
	}
	root, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if p.at < len(p.toks) {
		return nil, p.fail("expected an operator or the end of the expression, found %q",
			p.toks[p.at].text)
	}
	return &Expr{text, root}, nil
}

// token is a word or an operator.
type token struct {
	text string
	col  int // of the operator or leaf, from 1
}

// parser is a recursive-descent parser over the tokens of an expression.
type parser struct {
	text  string
	toks  []token
	at    int // index of the next token
	depth int // nesting of unary
}

// fail returns an error at the next token.
func (p *parser) fail(format string, args ...any) error {
	col := len(p.text) + 1
	if p.at < len(p.toks) {
		col = p.toks[p.at].col
	}
	return &Error{p.text, col, fmt.Sprintf(format, args...)}
}

// isWord reports whether c belongs to a name or a number.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// scan splits the text into tokens. A dot belongs to a name: gridDim.x.
func (p *parser) scan() error {
	for i := 0; i < len(p.text); {
		c, n := p.text[i], 1
		switch {
		case c == ' ' || c == '\t':
			i++
			continue
		case isWord(c):
			for i+n < len(p.text) && (isWord(p.text[i+n]) || p.text[i+n] == '.') {
				n++
			}
		// Operators of two characters come first: "<=" is not "<" and "=".
		case i+1 < len(p.text) && strings.Contains(" == != <= >= && || << >> ", " "+p.text[i:i+2]+" "):
			n = 2
		case strings.IndexByte("+-*/%()!~<>&|^", c) >= 0:
		default:
			return &Error{p.text, i + 1, fmt.Sprintf("unexpected %q", c)}
		}
		p.toks = append(p.toks, token{p.text[i : i+n], i + 1})
		i += n
	}
	return nil
}

// peek returns the text of the next token, and "" at the end.
func (p *parser) peek() string {
	if p.at < len(p.toks) {
		return p.toks[p.at].text
	}
	return ""
}

// next consumes and returns the next token; at the end its text is empty.
func (p *parser) next() token {
	t := token{col: len(p.text) + 1}
	if p.at < len(p.toks) {
		t = p.toks[p.at]
	}
	p.at++
	return t
}

// binary parses binary operators of a level or higher. All of them associate to the left.
func (p *parser) binary(level int) (*node, error) {
	if level == len(levels) {
		return p.unary()
	}
	// Precedence climbing: operands of a level are expressions of the next higher level.
	left, err := p.binary(level + 1)
	for err == nil {
		op := ""
		for _, o := range levels[level] {
			if p.peek() == o {
				op = o
			}
		}
		if op == "" {
			break
		}
		col := p.next().col
		var right *node
		if right, err = p.binary(level + 1); err == nil {
			left = &node{op: op, args: []*node{left, right}, col: col}
		}
	}
	return left, err
}

// unary parses a unary operator, a parenthesized expression, a name or a number.
func (p *parser) unary() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail("more than %d nested operators", maxDepth)
	}
	// The depth counts parentheses too, since they reach unary again through binary.
	defer func() { p.depth-- }()
	switch op := p.peek(); op {
	case "-", "!", "~", "+":
		col := p.next().col
		x, err := p.unary()
		switch {
		case err != nil || op == "+":
			return x, err
		case op == "-":
			op = "neg"
		}
		return &node{op: op, args: []*node{x}, col: col}, nil
	case "(":
		p.next()
		x, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		if p.peek() != ")" {
			return nil, p.fail("expected )")
		}
		p.next()
		return x, nil
	}
	if p.at >= len(p.toks) || !isWord(p.peek()[0]) {
		return nil, p.fail("expected a parameter, gridDim, blockDim or a number")
	}
	t := p.next()
	if c := t.text[0]; c < '0' || c > '9' {
		return &node{name: t.text, col: t.col}, nil
	}
	// As in C, suffixes are allowed and a leading 0 or 0x selects the base.
	v, err := strconv.ParseUint(strings.TrimRight(t.text, "uUlL"), 0, 64)
	if err != nil {
		return nil, &Error{p.text, t.col, fmt.Sprintf("%q is not a 64-bit number", t.text)}
	}
	return &node{num: v, col: t.col}, nil
}

// Term returns the condition that the expression is not 0, as a Boolean term of c. value returns a
// name as a bit-vector of at most 64 bits, and whether the name exists. An unknown name is an
// *Error.
func (e *Expr) Term(c *smt.Context, value func(name string) (smt.Term, bool)) (smt.Term, error) {
	b := builder{c, e.Text, value}
	return b.truth(e.root)
}

// builder turns nodes into terms of a context.
type builder struct {
	c     *smt.Context
	text  string
	value func(string) (smt.Term, bool)
}

// truth returns the condition that a node is not 0. Comparisons are signed.
func (b *builder) truth(n *node) (smt.Term, error) {
	c := b.c
	// Logical operators and comparisons are translated directly; going through their values 0 and 1
	// would hide them from the simplifier. && and || need no short circuit, since terms have no side
	// effects and division by zero has a value.
	switch n.op {
	case "!":
		x, err := b.truth(n.args[0])
		return c.Not(x), err
	case "&&", "||":
		x, err := b.truth(n.args[0])
		if err != nil {
			return 0, err
		}
		y, err := b.truth(n.args[1])
		if n.op == "&&" {
			return c.And(x, y), err
		}
		return c.Or(x, y), err
	case "==", "!=", "<", ">", "<=", ">=":
		x, y, err := b.both(n)
		if err != nil {
			return 0, err
		}
		switch n.op {
		case "==":
			return c.Eq(x, y), nil
		case "!=":
			return c.Not(c.Eq(x, y)), nil
		case "<":
			return c.Slt(x, y), nil
		case ">":
			return c.Slt(y, x), nil
		case "<=":
			return c.Sle(x, y), nil
		}
		return c.Sle(y, x), nil
	}
	x, err := b.number(n)
	return c.Not(c.Eq(x, c.Const(0, 64))), err
}

// both returns the arguments of a binary operator in 64 bits.
func (b *builder) both(n *node) (x, y smt.Term, err error) {
	zero := b.c.Const(0, 64) // a valid term of the right width, also with an error
	if x, err = b.number(n.args[0]); err != nil {
		return zero, zero, err
	}
	y, err = b.number(n.args[1])
	return x, y, err
}

// number returns a node as a 64-bit term, and 0 with an error. A condition is 0 or 1, as in C.
func (b *builder) number(n *node) (smt.Term, error) {
	c, zero := b.c, b.c.Const(0, 64)
	switch n.op {
	case "":
		if n.name == "" {
			return c.Const(n.num, 64), nil
		}
		v, ok := b.value(n.name)
		if !ok {
			return zero, &Error{b.text, n.col,
				fmt.Sprintf("%q is not an integer parameter of the kernel; expected one, or gridDim or "+
					"blockDim with .x, .y or .z", n.name)}
		}
		if c.Width(v) < 64 { // dimensions are positive, so the sign extension is right for them too
			v = c.SExt(v, 64)
		}
		return v, nil
	case "neg", "~":
		x, err := b.number(n.args[0])
		if err != nil {
			return zero, err
		}
		if n.op == "neg" {
			return c.Sub(zero, x), nil
		}
		return c.BvNot(x), nil
	// A condition as a number is 0 or 1.
	case "!", "&&", "||", "==", "!=", "<", ">", "<=", ">=":
		t, err := b.truth(n)
		if err != nil {
			return zero, err
		}
		return c.Ite(t, c.Const(1, 64), zero), nil
	}
	x, y, err := b.both(n)
	if err != nil {
		return zero, err
	}
	switch n.op {
	case "+":
		return c.Add(x, y), nil
	case "-":
		return c.Sub(x, y), nil
	case "*":
		return c.Mul(x, y), nil
	case "/":
		return c.SDiv(x, y), nil
	case "%":
		return c.SRem(x, y), nil
	case "&":
		return c.BvAnd(x, y), nil
	case "|":
		return c.BvOr(x, y), nil
	case "^":
		return c.BvXor(x, y), nil
	case "<<":
		return c.Shl(x, y), nil
	}
	return c.AShr(x, y), nil
}

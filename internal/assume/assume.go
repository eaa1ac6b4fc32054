// Package assume reads what a user assumes of a launch, "n == gridDim.x * blockDim.x", and gives it the meaning that a proof
// uses: expressions of C over integers, evaluated in 64 bits. Numbers of fewer bits are widened by their sign, as an int is;
// nothing overflows then that fits 64 bits.
package assume

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/smt"
)

// Expr is an expression.
type Expr struct {
	Text string
	root *node
}

// node is an operator with arguments, a name or a number.
type node struct {
	op   string // "" for a leaf; "neg" for the unary minus
	args []*node
	name string
	num  uint64
	col  int
}

// Error is a mistake in an expression, at a column from 1.
type Error struct {
	Text string
	Col  int
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("%q, column %d: %s", e.Text, e.Col, e.Msg) }

// levels are the binary operators, those that bind least first, as in C.
var levels = [][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
}

// maxDepth bounds the nesting of an expression.
const maxDepth = 200

// Parse reads an expression.
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
		return nil, p.fail("expected an operator or the end, found %q", p.toks[p.at].text)
	}
	return &Expr{text, root}, nil
}

type token struct {
	text string
	col  int
}

type parser struct {
	text  string
	toks  []token
	at    int
	depth int
}

func (p *parser) fail(format string, args ...any) error {
	col := len(p.text) + 1
	if p.at < len(p.toks) {
		col = p.toks[p.at].col
	}
	return &Error{p.text, col, fmt.Sprintf(format, args...)}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

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

func (p *parser) peek() string {
	if p.at < len(p.toks) {
		return p.toks[p.at].text
	}
	return ""
}

// next takes the next token.
func (p *parser) next() token {
	t := token{col: len(p.text) + 1}
	if p.at < len(p.toks) {
		t = p.toks[p.at]
	}
	p.at++
	return t
}

func (p *parser) binary(level int) (*node, error) {
	if level == len(levels) {
		return p.unary()
	}
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

func (p *parser) unary() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail("more than %d levels", maxDepth)
	}
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
	v, err := strconv.ParseUint(strings.TrimRight(t.text, "uUlL"), 0, 64)
	if err != nil {
		return nil, &Error{p.text, t.col, fmt.Sprintf("%q is no number of 64 bits", t.text)}
	}
	return &node{num: v, col: t.col}, nil
}

// Term is the expression as a Boolean term: whether it is not 0. value gives a name as a bit-vector of at most 64 bits, and
// whether there is such a name.
func (e *Expr) Term(c *smt.Context, value func(name string) (smt.Term, bool)) (smt.Term, error) {
	b := builder{c, e.Text, value}
	return b.truth(e.root)
}

type builder struct {
	c     *smt.Context
	text  string
	value func(string) (smt.Term, bool)
}

// truth is a node as a condition.
func (b *builder) truth(n *node) (smt.Term, error) {
	c := b.c
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

func (b *builder) both(n *node) (x, y smt.Term, err error) {
	zero := b.c.Const(0, 64)
	if x, err = b.number(n.args[0]); err != nil {
		return zero, zero, err
	}
	y, err = b.number(n.args[1])
	return x, y, err
}

// number is a node in 64 bits. With an error it is 0.
func (b *builder) number(n *node) (smt.Term, error) {
	c, zero := b.c, b.c.Const(0, 64)
	switch n.op {
	case "":
		if n.name == "" {
			return c.Const(n.num, 64), nil
		}
		v, ok := b.value(n.name)
		if !ok {
			return zero, &Error{b.text, n.col, fmt.Sprintf("%q is no integer parameter of the kernel, and neither gridDim.x nor blockDim.x (y, z)", n.name)}
		}
		if c.Width(v) < 64 {
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

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Preconditions about parameters and the launch: integer expressions of C, evaluated in 64 bits. An
// unsupported expression is an error; the precondition is then checked by the run only.

// expr returns the value of an expression for given values of names.
type expr func(env func(name string) (int64, bool)) (int64, error)

// errExpr is the error for anything else, such as a condition on the contents of an array.
var errExpr = errors.New("not an integer expression of parameters")

// parseExpr parses an expression and returns its identifiers and literals as well: the search
// assigns the former and tries values near the latter.
func parseExpr(s string) (e expr, names []string, numbers []int64, err error) {
	p := &exprParser{toks: tokens(s)}
	e, err = p.binary(0)
	if err == nil && p.at < len(p.toks) {
		err = errExpr
	}
	return e, p.names, p.numbers, err
}

// exprParser is a recursive-descent parser for expr.
type exprParser struct {
	toks    []string
	at      int
	names   []string
	numbers []int64
}

// tokens splits C text into names (including .x), numbers and operators.
func tokens(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case isNameByte(c):
			j := i
			for j < len(s) && (isNameByte(s[j]) || s[j] == '.') {
				j++
			}
			out = append(out, s[i:j])
			i = j
		default:
			n := 1
			if i+1 < len(s) {
				switch s[i : i+2] {
				case "==", "!=", "<=", ">=", "&&", "||", "<<", ">>":
					n = 2
				}
			}
			out = append(out, s[i:i+n])
			i += n
		}
	}
	return out
}

// isNameByte reports whether c belongs to a name or a number.
func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// peek returns the next token, and "" at the end.
func (p *exprParser) peek() string {
	if p.at < len(p.toks) {
		return p.toks[p.at]
	}
	return ""
}

// take consumes the next token if it is t.
func (p *exprParser) take(t string) bool {
	if p.peek() == t {
		p.at++
		return true
	}
	return false
}

// precedence lists C's binary operators, lowest precedence first (C11 6.5).
var precedence = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="},
	{"<", ">", "<=", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

// binary parses binary operators of a precedence level or higher.
func (p *exprParser) binary(level int) (expr, error) {
	if level == len(precedence) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	for {
		op := ""
		for _, o := range precedence[level] {
			if p.take(o) {
				op = o
			}
		}
		if op == "" {
			return left, nil
		}
		right, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		left = apply(op, left, right)
	}
}

// apply returns a binary expression. Both operands are evaluated, also for && and ||: they have no
// side effects, and an unknown operand makes the whole expression unknown.
func apply(op string, left, right expr) expr {
	return func(env func(string) (int64, bool)) (int64, error) {
		a, err := left(env)
		if err != nil {
			return 0, err
		}
		b, err := right(env)
		if err != nil {
			return 0, err
		}
		return arithmetic(op, a, b)
	}
}

// arithmetic applies a binary operator to two numbers. Shift counts are taken modulo 64, and
// overflow wraps; C leaves both undefined, and preconditions do not rely on them.
func arithmetic(op string, a, b int64) (int64, error) {
	switch op {
	case "||":
		return truth(a != 0 || b != 0), nil
	case "&&":
		return truth(a != 0 && b != 0), nil
	case "|":
		return a | b, nil
	case "^":
		return a ^ b, nil
	case "&":
		return a & b, nil
	case "==":
		return truth(a == b), nil
	case "!=":
		return truth(a != b), nil
	case "<":
		return truth(a < b), nil
	case ">":
		return truth(a > b), nil
	case "<=":
		return truth(a <= b), nil
	case ">=":
		return truth(a >= b), nil
	case "<<":
		return a << (b & 63), nil
	case ">>":
		return a >> (b & 63), nil
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	}
	if b == 0 {
		return 0, fmt.Errorf("division by zero")
	}
	if op == "/" {
		return a / b, nil
	}
	return a % b, nil
}

// truth returns 1 for true and 0 for false.
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// unary parses unary operators and casts. A cast is ignored: values are small enough for every type
// in use.
func (p *exprParser) unary() (expr, error) {
	for _, op := range []string{"!", "-", "~", "+"} {
		if !p.take(op) {
			continue
		}
		e, err := p.unary()
		if err != nil {
			return nil, err
		}
		return func(env func(string) (int64, bool)) (int64, error) {
			v, err := e(env)
			switch op {
			case "!":
				v = truth(v == 0)
			case "-":
				v = -v
			case "~":
				v = ^v
			}
			return v, err
		}, nil
	}
	return p.primary()
}

// primary parses parentheses, numbers, names and calls. Suffixes of numbers (u, l) are dropped.
func (p *exprParser) primary() (expr, error) {
	// A parenthesis before a type name begins a cast; before anything else it groups.
	t := p.peek()
	p.at++
	switch {
	case t == "(":
		if isTypeName(p.peek()) { // a cast
			for p.peek() != "" && !p.take(")") {
				p.at++
			}
			return p.unary()
		}
		e, err := p.binary(0)
		if err == nil && !p.take(")") {
			err = errExpr
		}
		return e, err
	case t == "" || !isNameByte(t[0]):
		return nil, errExpr
	case t[0] >= '0' && t[0] <= '9':
		v, err := strconv.ParseInt(strings.TrimRight(t, "uUlL"), 0, 64)
		if err != nil {
			return nil, errExpr
		}
		p.numbers = append(p.numbers, v)
		return func(func(string) (int64, bool)) (int64, error) { return v, nil }, nil
	case p.take("("):
		return p.call(t)
	}
	p.names = append(p.names, t)
	return func(env func(string) (int64, bool)) (int64, error) {
		v, ok := env(t)
		if !ok {
			return 0, fmt.Errorf("the value of %s is unknown", t)
		}
		return v, nil
	}, nil
}

// isTypeName reports whether a token is a type, so that parentheses around it are a cast.
func isTypeName(t string) bool {
	switch t {
	case "int", "unsigned", "uint", "long", "size_t", "short", "char":
		return true
	}
	return false
}

// call parses the functions that preconditions use. Functions of OpenCL that return sizes become
// names with their argument, such as "get_local_size(0)".
func (p *exprParser) call(name string) (expr, error) {
	var args []expr
	for !p.take(")") {
		if len(args) > 0 && !p.take(",") {
			return nil, errExpr
		}
		e, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	eval := map[string]func(v []int64) int64{
		"__implies":  func(v []int64) int64 { return truth(v[0] == 0 || v[1] != 0) },
		"__is_pow2":  func(v []int64) int64 { return truth(v[0] > 0 && v[0]&(v[0]-1) == 0) },
		"__mod_pow2": func(v []int64) int64 { return v[0] & (v[1] - 1) },
	}[name]
	// Sizes of OpenCL are looked up with their dimension, which must be a constant.
	arity := map[string]int{"__implies": 2, "__is_pow2": 1, "__mod_pow2": 2, "get_local_size": 1,
		"get_num_groups": 1, "get_global_size": 1}[name]
	if arity == 0 || len(args) != arity {
		return nil, errExpr
	}
	return func(env func(string) (int64, bool)) (int64, error) {
		var v []int64
		for _, a := range args {
			x, err := a(env)
			if err != nil {
				return 0, err
			}
			v = append(v, x)
		}
		if eval != nil {
			return eval(v), nil
		}
		if x, ok := env(fmt.Sprintf("%s(%d)", name, v[0])); ok {
			return x, nil
		}
		return 0, errExpr
	}, nil
}

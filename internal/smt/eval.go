package smt

import (
	"maps"
	"math/bits"
)

// Model assigns values to variables and functions by name. Missing values are 0.
type Model struct {
	Vars  map[string]uint64            // a Boolean is 0 or 1
	Funcs map[string]map[string]uint64 // by function, then by Key of the arguments
}

// Key returns the key of Model.Funcs for a list of arguments: 8 bytes each, little-endian.
func Key(args []uint64) string {
	b := make([]byte, 0, 8*len(args))
	for _, a := range args {
		for s := 0; s < 64; s += 8 {
			b = append(b, byte(a>>s))
		}
	}
	return string(b)
}

// Clone returns a deep copy, which may be changed without affecting m.
func (m *Model) Clone() *Model {
	r := &Model{Vars: maps.Clone(m.Vars), Funcs: map[string]map[string]uint64{}}
	for f, t := range m.Funcs {
		r.Funcs[f] = maps.Clone(t)
	}
	return r
}

// Evaluator computes the values of terms under a model, by SMT-LIB's semantics. It caches values
// and is not safe for concurrent use.
type Evaluator struct {
	// Else returns the value of a function for arguments that the model does not have. nil means 0.
	Else func(f string, args []uint64) uint64

	c     *Context
	m     *Model
	val   []uint64 // by term, valid if done
	done  []bool   // by term
	known []Term   // the terms that are done, for Reset
	stack []Term   // reused by Value
}

// Evaluate returns an evaluator of the terms of c under m. After a change of m, call Reset.
func (c *Context) Evaluate(m *Model) *Evaluator { return &Evaluator{c: c, m: m} }

// Reset drops all cached values. It must follow every change of the model.
func (e *Evaluator) Reset() {
	for _, t := range e.known {
		e.done[t] = false
	}
	e.known = e.known[:0]
}

// Value returns the value of t; a Boolean is 0 or 1. It uses an explicit stack, since terms can be
// nested deeply.
func (e *Evaluator) Value(t Term) uint64 {
	if n := len(e.c.nodes); len(e.val) < n {
		e.val = append(e.val, make([]uint64, n-len(e.val))...)
		e.done = append(e.done, make([]bool, n-len(e.done))...)
	}
	stack := append(e.stack[:0], t)
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		if e.done[t] {
			stack = stack[:len(stack)-1]
			continue
		}
		n := len(stack)
		for _, a := range e.c.nodes[t].args {
			if !e.done[a] {
				stack = append(stack, a)
			}
		}
		if len(stack) == n {
			e.val[t], e.done[t] = e.apply(&e.c.nodes[t]), true
			e.known = append(e.known, t)
			stack = stack[:n-1]
		}
	}
	e.stack = stack
	return e.val[t]
}

// Holds reports whether a Boolean term is true.
func (e *Evaluator) Holds(t Term) bool { return e.Value(t) == 1 }

// apply computes a term whose arguments are done. Bit-vector operations are in vector.
func (e *Evaluator) apply(n *node) uint64 {
	c := e.c
	arg := func(i int) uint64 { return e.val[n.args[i]] }
	one := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	switch n.op {
	case OpConst:
		return n.val
	case OpVar:
		v := e.m.Vars[c.vars[n.aux].name]
		if n.width == 0 {
			return v & 1
		}
		return v & mask(n.width)
	case OpApp:
		args := make([]uint64, len(n.args))
		for i := range args {
			args[i] = arg(i)
		}
		f := c.funcs[n.aux].Name
		v, given := e.m.Funcs[f][Key(args)]
		if !given && e.Else != nil {
			v = e.Else(f, args)
		}
		if n.width == 0 {
			return v & 1
		}
		return v & mask(n.width)
	case OpNot:
		return 1 - arg(0)
	case OpAnd, OpOr:
		for i := range n.args {
			if (arg(i) == 1) == (n.op == OpOr) {
				return one(n.op == OpOr)
			}
		}
		return one(n.op == OpAnd)
	case OpIte:
		if arg(0) == 1 {
			return arg(1)
		}
		return arg(2)
	case OpEq:
		return one(arg(0) == arg(1))
	case OpUlt:
		return one(arg(0) < arg(1))
	case OpSlt:
		w := c.nodes[n.args[0]].width
		return one(signed(arg(0), w) < signed(arg(1), w))
	}
	return e.vector(n)
}

// vector computes a bit-vector operation whose arguments are done.
func (e *Evaluator) vector(n *node) uint64 {
	m := mask(n.width)
	x := e.val[n.args[0]]
	switch n.op {
	case OpSum:
		s := n.val
		for i, t := range n.args {
			s += n.coef[i] * e.val[t]
		}
		return s & m
	case OpMul, OpBvAnd, OpBvOr, OpBvXor:
		for _, t := range n.args[1:] {
			switch v := e.val[t]; n.op {
			case OpMul:
				x *= v
			case OpBvAnd:
				x &= v
			case OpBvOr:
				x |= v
			case OpBvXor:
				x ^= v
			}
		}
		return x & m
	case OpExtract:
		return x >> n.aux & m
	case OpZExt:
		return x
	case OpPopc:
		return uint64(bits.OnesCount64(x))
	case OpSExt:
		return uint64(signed(x, e.c.nodes[n.args[0]].width)) & m
	}
	return binaryOp(n.op, x, e.val[n.args[1]], n.width)
}

// binaryOp computes a division or a shift of two values of width w, with the conventions of SMT-LIB
// for a divisor of zero and for large amounts.
func binaryOp(op Op, x, y uint64, w uint8) uint64 {
	m := mask(w)
	switch op {
	case OpUDiv:
		if y == 0 {
			return m
		}
		return x / y
	case OpURem:
		if y == 0 {
			return x
		}
		return x % y
	case OpSDiv:
		return sdiv(x, y, w)
	case OpSRem:
		return srem(x, y, w)
	case OpShl:
		if y >= uint64(w) {
			return 0
		}
		return x << y & m
	case OpLShr:
		if y >= uint64(w) {
			return 0
		}
		return x >> y
	case OpAShr:
		return uint64(signed(x, w)>>min(y, uint64(w)-1)) & m
	}
	panic("smt: the evaluator does not know the operator")
}

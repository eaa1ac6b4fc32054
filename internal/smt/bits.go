package smt

import (
	"math/bits"
	"slices"
)

// Extract returns width bits of a from bit lo on.
func (c *Context) Extract(a Term, lo, width int) Term {
	n := c.nodes[a]
	w := checked(width)
	if lo < 0 || lo+width > int(n.width) {
		panic("smt: extract beyond the operand")
	}
	if w == n.width {
		return a
	}
	switch n.op {
	case OpConst:
		return c.Const(n.val>>lo, width)
	case OpExtract:
		return c.Extract(n.args[0], int(n.aux)+lo, width)
	case OpZExt, OpSExt:
		if t, ok := c.extractExt(n, lo, width); ok {
			return t
		}
	case OpIte:
		if c.isConst(n.args[1]) || c.isConst(n.args[2]) {
			return c.Ite(n.args[0], c.Extract(n.args[1], lo, width), c.Extract(n.args[2], lo, width))
		}
	case OpBvAnd, OpBvOr, OpBvXor:
		args := make([]Term, len(n.args))
		for i, x := range n.args {
			args[i] = c.Extract(x, lo, width)
		}
		return c.bitwise(n.op, args)
	case OpSum:
		if lo == 0 { // the lower bits of a sum are the sum of the lower bits
			return c.lowSum(n, w)
		}
		if lo < 62 {
			l := linear{w: n.width, c: n.val, t: n.args, k: n.coef}
			if high, _, ok := c.split(l, 1<<lo); ok { // also if the sum wraps: it does so above
				return c.Extract(c.term(high), 0, width)
			}
		}
	}
	if f := &c.facts[a]; lo > 0 && f.uhi>>lo == 0 {
		return c.Const(0, width)
	}
	return c.intern(node{op: OpExtract, width: w, aux: uint32(lo), args: []Term{a}})
}

func (c *Context) extractExt(n node, lo, width int) (Term, bool) {
	x := n.args[0]
	xw := int(c.nodes[x].width)
	switch {
	case lo+width <= xw:
		return c.Extract(x, lo, width), true
	case lo == 0 && n.op == OpZExt:
		return c.ZExt(x, width), true
	case lo == 0:
		return c.SExt(x, width), true
	case n.op == OpZExt && lo >= xw:
		return c.Const(0, width), true
	case n.op == OpZExt:
		return c.ZExt(c.Extract(x, lo, xw-lo), width), true
	}
	return 0, false
}

func (c *Context) lowSum(n node, w uint8) Term {
	r := linear{w: w, c: n.val & mask(w)}
	for i, t := range n.args {
		if k := n.coef[i] & mask(w); k != 0 {
			r = r.plus(1, c.view(c.Extract(t, 0, int(w))), k)
		}
	}
	return c.term(r)
}

// ZExt returns a extended to width by zeros.
func (c *Context) ZExt(a Term, width int) Term {
	n := c.nodes[a]
	w := checked(width)
	switch {
	case w == n.width:
		return a
	case w < n.width:
		panic("smt: extension to fewer bits")
	case n.op == OpConst:
		return c.Const(n.val, width)
	case n.op == OpZExt:
		return c.ZExt(n.args[0], width)
	case n.op == OpIte && (c.isConst(n.args[1]) || c.isConst(n.args[2])):
		return c.Ite(n.args[0], c.ZExt(n.args[1], width), c.ZExt(n.args[2], width))
	case n.op == OpSum:
		l := c.view(a)
		if c.integer(l).unsignedFits(n.width) {
			return c.widen(l, w)
		}
	}
	return c.intern(node{op: OpZExt, width: w, args: []Term{a}})
}

// SExt returns a extended to width by copies of its sign.
func (c *Context) SExt(a Term, width int) Term {
	n := c.nodes[a]
	w := checked(width)
	switch {
	case w == n.width:
		return a
	case w < n.width:
		panic("smt: extension to fewer bits")
	case n.op == OpConst:
		return c.Const(uint64(signed(n.val, n.width)), width)
	case n.op == OpSExt:
		return c.SExt(n.args[0], width)
	case n.op == OpZExt || c.facts[a].slo >= 0:
		return c.ZExt(a, width)
	case n.op == OpIte && (c.isConst(n.args[1]) || c.isConst(n.args[2])):
		return c.Ite(n.args[0], c.SExt(n.args[1], width), c.SExt(n.args[2], width))
	case n.op == OpSum:
		l := c.view(a)
		if c.integer(l).signedFits(n.width) {
			return c.widen(l, w)
		}
	}
	return c.intern(node{op: OpSExt, width: w, args: []Term{a}})
}

// widen returns a sum that does not wrap in more bits: each argument extended as it was read.
func (c *Context) widen(l linear, w uint8) Term {
	r := linear{w: w, c: uint64(signed(l.c, l.w)) & mask(w)}
	for i, t := range l.t {
		x := c.ZExt
		if _, asSigned := c.reading(t); asSigned {
			x = c.SExt
		}
		r = r.plus(1, c.view(x(t, int(w))), uint64(signed(l.k[i], l.w))&mask(w))
	}
	return c.term(r)
}

// Concat returns hi and lo side by side, hi in the upper bits.
func (c *Context) Concat(hi, lo Term) Term {
	wl := int(c.nodes[lo].width)
	w := wl + int(c.nodes[hi].width)
	if wl == MaxWidth || w > MaxWidth {
		panic("smt: concatenation of more than 64 bits")
	}
	return c.Add(c.MulConst(c.ZExt(hi, w), 1<<wl), c.ZExt(lo, w))
}

// BvAnd returns the bitwise and.
func (c *Context) BvAnd(a, b Term) Term { return c.bitwise(OpBvAnd, []Term{a, b}) }

// BvOr returns the bitwise or.
func (c *Context) BvOr(a, b Term) Term { return c.bitwise(OpBvOr, []Term{a, b}) }

// BvXor returns the bitwise exclusive or.
func (c *Context) BvXor(a, b Term) Term { return c.bitwise(OpBvXor, []Term{a, b}) }

// bitwise flattens, folds the constants, and sorts.
func (c *Context) bitwise(op Op, args []Term) Term {
	w := c.nodes[args[0]].width
	var k uint64 // neutral constant
	if op == OpBvAnd {
		k = mask(w)
	}
	var flat []Term
	var take func(t Term)
	take = func(t Term) {
		switch n := &c.nodes[t]; {
		case n.op == OpConst && op == OpBvAnd:
			k &= n.val
		case n.op == OpConst && op == OpBvOr:
			k |= n.val
		case n.op == OpConst:
			k ^= n.val
		case n.op == op:
			for _, a := range n.args {
				take(a)
			}
		default:
			flat = append(flat, t)
		}
	}
	for _, a := range args {
		if c.nodes[a].width != w {
			panic("smt: operands of different widths")
		}
		take(a)
	}
	slices.Sort(flat)
	if op == OpBvXor {
		flat = dropPairs(flat)
	} else {
		flat = slices.Compact(flat)
	}
	switch op {
	case OpBvAnd:
		return c.andOf(flat, k, w)
	case OpBvOr:
		return c.orOf(flat, k, w)
	}
	return c.xorOf(flat, k, w)
}

// dropPairs removes what occurs an even number of times in a sorted list.
func dropPairs(a []Term) []Term {
	out := a[:0]
	for i := 0; i < len(a); i++ {
		if i+1 < len(a) && a[i] == a[i+1] {
			i++
			continue
		}
		out = append(out, a[i])
	}
	return out
}

func (c *Context) andOf(flat []Term, k uint64, w uint8) Term {
	if len(flat) == 0 || k == 0 {
		return c.Const(k, int(w))
	}
	if len(flat) == 1 {
		return c.masked(flat[0], k)
	}
	if k != mask(w) {
		flat = append(flat, c.Const(k, int(w)))
		slices.Sort(flat)
	}
	return c.intern(node{op: OpBvAnd, width: w, args: flat})
}

// masked returns t & k; a run of bits is an extract, which sums and shifts see through.
func (c *Context) masked(t Term, k uint64) Term {
	w := int(c.nodes[t].width)
	f := &c.facts[t]
	k &^= f.zeros // bits that are 0 anyway may be asked for
	if k == 0 {
		return c.Const(0, w)
	}
	if ^f.zeros&^k == 0 {
		return t
	}
	lo := bits.TrailingZeros64(k)
	n := bits.Len64(k) - lo
	// Bits between that are known to be zero do not interrupt a run.
	if run := mask(uint8(n)) << lo; run&^k&^f.zeros == 0 {
		return c.MulConst(c.ZExt(c.Extract(t, lo, n), w), 1<<lo)
	}
	args := []Term{t, c.Const(k, w)}
	slices.Sort(args)
	return c.intern(node{op: OpBvAnd, width: uint8(w), args: args})
}

func (c *Context) orOf(flat []Term, k uint64, w uint8) Term {
	if len(flat) == 0 || k == mask(w) {
		return c.Const(k, int(w))
	}
	if k != 0 {
		flat = append(flat, c.Const(k, int(w)))
		slices.Sort(flat)
	}
	if len(flat) == 1 {
		return flat[0]
	}
	if c.disjoint(flat) {
		return c.total(flat)
	}
	return c.intern(node{op: OpBvOr, width: w, args: flat})
}

// disjoint reports whether no two of the terms can have a bit in common.
func (c *Context) disjoint(ts []Term) bool {
	var seen uint64
	for _, t := range ts {
		may := ^c.facts[t].zeros
		if may&seen != 0 {
			return false
		}
		seen |= may
	}
	return true
}

func (c *Context) total(ts []Term) Term {
	s := ts[0]
	for _, t := range ts[1:] {
		s = c.Add(s, t)
	}
	return s
}

func (c *Context) xorOf(flat []Term, k uint64, w uint8) Term {
	switch {
	case len(flat) == 0:
		return c.Const(k, int(w))
	case len(flat) == 1 && k == 0:
		return flat[0]
	case len(flat) == 1 && k == mask(w):
		return c.BvNot(flat[0])
	}
	if k != 0 {
		flat = append(flat, c.Const(k, int(w)))
		slices.Sort(flat)
	}
	if c.disjoint(flat) {
		return c.total(flat)
	}
	return c.intern(node{op: OpBvXor, width: w, args: flat})
}

// Shl returns a shifted left by the unsigned b; by the width or more it is 0.
func (c *Context) Shl(a, b Term) Term {
	c.sameWidth(a, b)
	w := c.nodes[a].width
	if s, ok := c.Value(b); ok {
		if s >= uint64(w) {
			return c.Const(0, int(w))
		}
		return c.MulConst(a, 1<<s)
	}
	if v, ok := c.Value(a); ok && v == 0 {
		return a
	}
	return c.intern(node{op: OpShl, width: w, args: []Term{a, b}})
}

// LShr returns a shifted right by the unsigned b, zeros coming in.
func (c *Context) LShr(a, b Term) Term {
	c.sameWidth(a, b)
	w := c.nodes[a].width
	if s, ok := c.Value(b); ok {
		if s >= uint64(w) {
			return c.Const(0, int(w))
		}
		return c.ZExt(c.Extract(a, int(s), int(w)-int(s)), int(w))
	}
	if v, ok := c.Value(a); ok && v == 0 {
		return a
	}
	return c.intern(node{op: OpLShr, width: w, args: []Term{a, b}})
}

// AShr returns a shifted right by the unsigned b, copies of the sign coming in.
func (c *Context) AShr(a, b Term) Term {
	c.sameWidth(a, b)
	w := c.nodes[a].width
	if c.facts[a].slo >= 0 {
		return c.LShr(a, b)
	}
	if s, ok := c.Value(b); ok {
		s = min(s, uint64(w)-1)
		if s == 0 {
			return a
		}
		if l := c.view(a); s < 62 && c.integer(l).signedFits(w) {
			if high, _, ok := c.split(l, 1<<s); ok { // floor division by 2^s
				return c.term(high)
			}
		}
		return c.SExt(c.Extract(a, int(s), int(w)-int(s)), int(w))
	}
	return c.intern(node{op: OpAShr, width: w, args: []Term{a, b}})
}

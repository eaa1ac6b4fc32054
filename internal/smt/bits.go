package smt

import (
	"math/bits"
	"slices"
)

// Bitwise operations, shifts, extraction and extension.
//
// Laws: and, or and xor are flattened, their constants folded, and their arguments sorted, so they
// are associative and commutative by construction; and/or drop duplicates, xor cancels pairs.
// Operands without common bits are added instead, and a mask that is a run of bits becomes an
// extract, because sums and extracts have further rewrites. Shifts by constants are products and
// extracts.
//
// Not simplified: absorption and distribution between and, or and xor; shifts by non-constant
// amounts.

// Extract returns the bits lo to lo+width-1 of a, counted from the lowest. They must be within a.
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
	case OpVar, OpApp:
		return c.extract(a, lo, width)
	}
	key := extraction{a, uint8(lo), w}
	if t, ok := c.extracts[key]; ok {
		return t
	}
	t := c.extract(a, lo, width)
	c.extracts[key] = t
	return t
}

// extraction names the arguments of an Extract.
type extraction struct {
	of        Term
	lo, width uint8
}

// extract is Extract of fewer bits than all of an operand that is neither a constant nor an
// extraction.
func (c *Context) extract(a Term, lo, width int) Term {
	n, w := c.nodes[a], uint8(width)
	switch n.op {
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
	case OpUDiv, OpURem:
		if t, ok := c.resized(a, width); ok && lo == 0 {
			return t
		}
	case OpSum:
		if lo == 0 { // the low bits of a sum depend on the low bits only
			return c.lowSum(n, w)
		}
		if lo < 62 {
			l := linear{w: n.width, c: n.val, t: n.args, k: n.coef}
			// valid even if the sum wraps, which only affects higher bits
			if high, _, ok := c.split(l, 1<<lo); ok {
				return c.Extract(c.term(high), 0, width)
			}
		}
	}
	if f := &c.facts[a]; lo > 0 && f.uhi>>lo == 0 {
		return c.Const(0, width)
	}
	return c.intern(node{op: OpExtract, width: w, aux: uint32(lo), args: []Term{a}})
}

// extractExt extracts from a zero or sign extension. It fails if the bits include both sign copies
// and others.
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

// lowSum returns the lowest w bits of a sum as a sum of the lowest bits of its summands.
func (c *Context) lowSum(n node, w uint8) Term {
	r := linear{w: w, c: n.val & mask(w)}
	for i, t := range n.args {
		if k := n.coef[i] & mask(w); k != 0 {
			r = r.plus(1, c.view(c.Extract(t, 0, int(w))), k)
		}
	}
	return c.term(r)
}

// Popc returns the number of bits of a that are set, as wide as a.
func (c *Context) Popc(a Term) Term {
	if v, ok := c.Value(a); ok {
		return c.Const(uint64(bits.OnesCount64(v)), c.Width(a))
	}
	return c.intern(node{op: OpPopc, width: c.nodes[a].width, args: []Term{a}})
}

// ZExt returns a zero-extended to width bits, which must not be less than its own.
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
	case n.op == OpUDiv || n.op == OpURem:
		if t, ok := c.resized(a, width); ok {
			return t
		}
	}
	return c.intern(node{op: OpZExt, width: w, args: []Term{a}})
}

// SExt returns a sign-extended to width bits, which must not be less than its own.
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

// widen extends a sum that does not wrap: each argument is zero- or sign-extended, as its reading
// says.
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

// Concat returns the concatenation of hi and lo, with hi in the upper bits.
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

// bitwise flattens the arguments, folds the constants, and sorts: operations are associative and
// commutative, so equal ones become one term.
func (c *Context) bitwise(op Op, args []Term) Term {
	w := c.nodes[args[0]].width
	var k uint64 // folded constants, initially the neutral element
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

// dropPairs removes pairs of equal terms from a sorted list, since x xor x is 0.
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

// andOf builds the conjunction of sorted, distinct terms and the constant k.
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

// masked returns t & k. If k is a run of bits, the result is an extract, which sums and shifts
// simplify.
func (c *Context) masked(t Term, k uint64) Term {
	w := int(c.nodes[t].width)
	f := &c.facts[t]
	k &^= f.zeros // bits that are known to be 0 do not matter
	if k == 0 {
		return c.Const(0, w)
	}
	if ^f.zeros&^k == 0 {
		return t
	}
	lo := bits.TrailingZeros64(k)
	n := bits.Len64(k) - lo
	// Bits that are known to be 0 do not interrupt a run.
	if run := mask(uint8(n)) << lo; run&^k&^f.zeros == 0 {
		return c.MulConst(c.ZExt(c.Extract(t, lo, n), w), 1<<lo)
	}
	args := []Term{t, c.Const(k, w)}
	slices.Sort(args)
	return c.intern(node{op: OpBvAnd, width: uint8(w), args: args})
}

// orOf builds the disjunction of sorted, distinct terms and the constant k. Operands without common
// bits are added.
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
	// Without common bits there are no carries, and sums have a normal form.
	if c.disjoint(flat) {
		return c.total(flat)
	}
	return c.intern(node{op: OpBvOr, width: w, args: flat})
}

// disjoint reports whether no two terms can have the same bit set. Then their or is their sum,
// which the normal form of sums can combine.
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

// total returns the sum of terms.
func (c *Context) total(ts []Term) Term {
	s := ts[0]
	for _, t := range ts[1:] {
		s = c.Add(s, t)
	}
	return s
}

// xorOf builds the exclusive or of sorted, distinct terms and the constant k.
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

// Shl returns a shifted left by the unsigned b. A shift by the width or more is 0.
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

// LShr returns a shifted right by the unsigned b, filled with zeros.
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

// AShr returns a shifted right by the unsigned b, filled with copies of the sign.
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

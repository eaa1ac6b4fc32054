package smt

import "slices"

// Boolean operations and if-then-else.
//
// Laws: And and Or are flattened, sorted and free of duplicates, complementary literals and
// arguments that another one absorbs; double negation vanishes; if-then-else keeps a positive
// condition, merges with equal conditions and branches, and moves summands that both branches share
// outside. De Morgan's laws and distribution are not applied, since they can grow a formula.

// Not returns the negation of a Boolean.
func (c *Context) Not(a Term) Term {
	switch n := &c.nodes[a]; n.op {
	case OpConst:
		return Bool(a == False)
	case OpNot:
		return n.args[0]
	}
	return c.intern(node{op: OpNot, args: []Term{a}})
}

// And returns the conjunction of Booleans; without arguments it is True.
func (c *Context) And(args ...Term) Term { return c.junction(OpAnd, args) }

// Or returns the disjunction of Booleans; without arguments it is False.
func (c *Context) Or(args ...Term) Term { return c.junction(OpOr, args) }

// Implies returns a -> b, as a disjunction: there is no node for it.
func (c *Context) Implies(a, b Term) Term { return c.Or(c.Not(a), b) }

// junction builds a conjunction or disjunction: it flattens, sorts, removes duplicates and absorbed
// arguments, and detects complementary ones.
func (c *Context) junction(op Op, args []Term) Term {
	zero, one := False, True // absorbing and neutral element
	if op == OpOr {
		zero, one = True, False
	}
	var flat []Term
	for _, a := range args {
		switch {
		case a == zero:
			return zero
		case a == one:
		case c.nodes[a].op == op:
			flat = append(flat, c.nodes[a].args...)
		default:
			flat = append(flat, a)
		}
	}
	slices.Sort(flat)
	flat = slices.Compact(flat)
	if op == OpAnd {
		if joined, ok := c.joinDivided(flat); ok {
			return c.junction(op, joined)
		}
	}
	// Arguments are sorted, so a search finds the complement of a negated one.
	for _, a := range flat {
		if c.nodes[a].op == OpNot {
			if _, found := slices.BinarySearch(flat, c.nodes[a].args[0]); found {
				return zero
			}
		}
	}
	flat = c.absorb(op, flat)
	switch len(flat) {
	case 0:
		return one
	case 1:
		return flat[0]
	}
	return c.intern(node{op: op, args: flat})
}

// absorb applies a & (a | b) = a and a & (!a | b) = a & b, and their duals. Lists of more than 64
// arguments are left alone, since the cost is quadratic in their sizes.
func (c *Context) absorb(op Op, flat []Term) []Term {
	if len(flat) < 2 || len(flat) > 64 {
		return flat
	}
	dual := OpAnd
	if op == OpAnd {
		dual = OpOr
	}
	has := func(t Term) bool {
		_, found := slices.BinarySearch(flat, t)
		return found
	}
	out := flat[:0:0]
	changed := false
	for _, t := range flat {
		if c.nodes[t].op != dual {
			out = append(out, t)
			continue
		}
		var rest []Term
		gone := false
		for _, a := range c.nodes[t].args {
			switch {
			case has(a):
				gone = true
			case has(c.negationOf(a)):
			default:
				rest = append(rest, a)
			}
		}
		switch {
		case gone:
			changed = true
		case len(rest) < len(c.nodes[t].args):
			changed = true
			out = append(out, c.junction(dual, rest))
		default:
			out = append(out, t)
		}
	}
	if !changed {
		return flat
	}
	r := c.junction(op, out)
	if c.nodes[r].op == op {
		return c.nodes[r].args
	}
	return []Term{r}
}

// negationOf returns the negation of a if that term exists, and otherwise a term that occurs in no
// list. Unlike Not it never builds a term, so that a lookup does not grow the Context.
func (c *Context) negationOf(a Term) Term {
	if c.nodes[a].op == OpNot {
		return c.nodes[a].args[0]
	}
	n := node{op: OpNot, args: []Term{a}}
	m := uint64(len(c.table) - 1)
	for i := hash(&n) & m; c.table[i] != 0; i = (i + 1) & m {
		if t := c.table[i]; same(&c.nodes[t], &n) {
			return t
		}
	}
	return ^Term(0)
}

// Ite returns a if cond holds and b otherwise. a and b have the same width; a Boolean result is
// expressed by And and Or where a branch is constant.
func (c *Context) Ite(cond, a, b Term) Term {
	c.sameWidth(a, b)
	switch {
	case cond == True || a == b:
		return a
	case cond == False:
		return b
	case c.nodes[cond].op == OpNot:
		return c.Ite(c.nodes[cond].args[0], b, a)
	}
	if n := &c.nodes[a]; n.op == OpIte && n.args[0] == cond {
		return c.Ite(cond, n.args[1], b)
	}
	if n := &c.nodes[b]; n.op == OpIte && n.args[0] == cond {
		return c.Ite(cond, a, n.args[2])
	}
	if n := &c.nodes[a]; n.op == OpIte && n.args[2] == b { // p ? (q ? x : b) : b
		return c.Ite(c.And(cond, n.args[0]), n.args[1], b)
	}
	if n := &c.nodes[b]; n.op == OpIte && n.args[1] == a { // p ? a : (q ? a : x)
		return c.Ite(c.Or(cond, n.args[0]), a, n.args[2])
	}
	if c.nodes[a].width == 0 {
		return c.boolIte(cond, a, b)
	}
	return c.vectorIte(cond, a, b)
}

// boolIte expresses an if-then-else with a constant or repeated branch by And and Or.
func (c *Context) boolIte(cond, a, b Term) Term {
	switch {
	case a == True || a == cond:
		return c.Or(cond, b)
	case a == False:
		return c.And(c.Not(cond), b)
	case b == True:
		return c.Or(c.Not(cond), a)
	case b == False || b == cond:
		return c.And(cond, a)
	}
	return c.intern(node{op: OpIte, args: []Term{cond, a, b}})
}

// vectorIte moves the summands that both branches share outside: g ? h+k : h becomes h + (g ? k :
// 0).
func (c *Context) vectorIte(cond, a, b Term) Term {
	la, lb := c.view(a), c.view(b)
	common := linear{w: la.w}
	for i, j := 0, 0; i < len(la.t) && j < len(lb.t); {
		switch {
		case la.t[i] < lb.t[j]:
			i++
		case la.t[i] > lb.t[j]:
			j++
		default:
			if la.k[i] == lb.k[j] {
				common.t, common.k = append(common.t, la.t[i]), append(common.k, la.k[i])
			}
			i++
			j++
		}
	}
	if len(common.t) == 0 {
		return c.intern(node{op: OpIte, width: la.w, args: []Term{cond, a, b}})
	}
	minus := ^uint64(0)
	ra, rb := c.term(la.plus(1, common, minus)), c.term(lb.plus(1, common, minus))
	return c.Add(c.term(common), c.Ite(cond, ra, rb))
}

package smt

// Substitution simultaneously replaces terms by terms of the same width, and simplifies the result
// by building it with the constructors. It caches results, so use one Substitution for many terms.
type Substitution struct {
	c      *Context
	to     map[Term]Term
	memo   map[Term]Term
	rename func(name string) string // for variables and functions; nil: no renaming
}

// Rename returns a substitution that renames variables and functions; rename returns its argument
// for names that do not change. A renamed variable keeps its range.
func (c *Context) Rename(rename func(name string) string) *Substitution {
	s := c.Substitute()
	s.rename = rename
	return s
}

// Substitute returns a substitution without replacements.
func (c *Context) Substitute() *Substitution {
	return &Substitution{c: c, to: map[Term]Term{}, memo: map[Term]Term{}}
}

// Replace adds a replacement. It must not be called after Apply, whose results are cached.
func (s *Substitution) Replace(from, to Term) {
	s.c.sameWidth(from, to)
	s.to[from] = to
}

// Len returns the number of replacements.
func (s *Substitution) Len() int { return len(s.to) }

// Apply returns t with all replacements. It does not search the replacing terms again.
func (s *Substitution) Apply(t Term) Term {
	if r, ok := s.to[t]; ok {
		return r
	}
	return s.under(t)
}

// under returns t with all replacements in its arguments, but does not replace t itself.
func (s *Substitution) under(t Term) Term {
	n := s.c.nodes[t]
	if n.op == OpConst || s.rename == nil && len(n.args) == 0 {
		return t
	}
	if r, ok := s.memo[t]; ok {
		return r
	}
	if n.op == OpVar {
		r := s.c.variable(s.rename(s.c.vars[n.aux].name), n.width, s.c.facts[t])
		s.memo[t] = r
		return r
	}
	if s.rename != nil && n.op == OpApp {
		n.aux = s.function(n.aux)
	}
	args := make([]Term, len(n.args))
	changed := n.aux != s.c.nodes[t].aux
	for i, a := range n.args {
		args[i] = s.Apply(a)
		changed = changed || args[i] != a
	}
	r := t
	if changed {
		r = s.c.rebuild(&n, args)
	}
	s.memo[t] = r
	return r
}

// function returns the renamed function, which it declares if necessary.
func (s *Substitution) function(f uint32) uint32 {
	fn := s.c.funcs[f]
	name := s.rename(fn.Name)
	if name == fn.Name {
		return f
	}
	args := make([]int, len(fn.Args))
	for i, w := range fn.Args {
		args[i] = int(w)
	}
	return s.c.Declare(name, int(fn.Result), args...)
}

// rebuild builds a node with other arguments, simplified.
func (c *Context) rebuild(n *node, a []Term) Term {
	switch n.op {
	case OpApp:
		return c.Apply(n.aux, a...)
	case OpNot:
		return c.Not(a[0])
	case OpAnd:
		return c.And(a...)
	case OpOr:
		return c.Or(a...)
	case OpIte:
		return c.Ite(a[0], a[1], a[2])
	case OpEq:
		return c.Eq(a[0], a[1])
	case OpUlt:
		return c.Ult(a[0], a[1])
	case OpSlt:
		return c.Slt(a[0], a[1])
	case OpSum:
		return c.rebuildSum(n, a)
	case OpMul:
		r := a[0]
		for _, t := range a[1:] {
			r = c.Mul(r, t)
		}
		return r
	case OpUDiv:
		return c.UDiv(a[0], a[1])
	case OpURem:
		return c.URem(a[0], a[1])
	case OpSDiv:
		return c.SDiv(a[0], a[1])
	case OpSRem:
		return c.SRem(a[0], a[1])
	case OpBvAnd, OpBvOr, OpBvXor:
		return c.bitwise(n.op, a)
	case OpShl:
		return c.Shl(a[0], a[1])
	case OpLShr:
		return c.LShr(a[0], a[1])
	case OpAShr:
		return c.AShr(a[0], a[1])
	case OpExtract:
		return c.Extract(a[0], int(n.aux), int(n.width))
	case OpZExt:
		return c.ZExt(a[0], int(n.width))
	case OpSExt:
		return c.SExt(a[0], int(n.width))
	case OpPopc:
		return c.Popc(a[0])
	}
	panic("smt: operator without constructor")
}

// rebuildSum builds a sum with other arguments.
func (c *Context) rebuildSum(n *node, a []Term) Term {
	r := linear{w: n.width, c: n.val}
	for i, t := range a {
		// An argument that became a sum is added as a sum, unless the result grows too long.
		l := c.view(t)
		if len(r.t)+len(l.t) > maxMonomials {
			l = linear{w: n.width, t: []Term{t}, k: []uint64{1}}
		}
		r = r.plus(1, l, n.coef[i])
	}
	return c.term(r)
}

// Ranges returns the assumed ranges of the variables in terms as formulas, for solvers, which do
// not know them otherwise.
func (c *Context) Ranges(terms []Term) []Term {
	var out []Term
	c.Visit(terms, func(t Term) {
		n := c.nodes[t]
		if n.op != OpVar || n.width == 0 {
			return
		}
		free := anyValue(n.width)
		raw := c.refined(c.vars[n.aux].name, n.width, free)
		f, w := c.facts[t], int(n.width)
		if f.ulo > 0 || f.uhi < free.uhi {
			out = append(out, c.Ule(c.Const(f.ulo, w), raw), c.Ule(raw, c.Const(f.uhi, w)))
		}
		if g := unsignedIn(n.width, f.ulo, f.uhi); f.slo > g.slo || f.shi < g.shi {
			out = append(out, c.Sle(c.Const(uint64(f.slo), w), raw), c.Sle(raw, c.Const(uint64(f.shi), w)))
		}
	})
	return out
}

// Visit calls f once for each term that occurs in terms, arguments first.
func (c *Context) Visit(terms []Term, f func(Term)) {
	seen := map[Term]bool{}
	var walk func(t Term)
	walk = func(t Term) {
		if seen[t] {
			return
		}
		seen[t] = true
		for _, a := range c.nodes[t].args {
			walk(a)
		}
		f(t)
	}
	for _, t := range terms {
		walk(t)
	}
}

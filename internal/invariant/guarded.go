package invariant

import "heddle/internal/smt"

// guardedForms proposes closed forms that hold as long as the guard of the change does. If an
// iteration leaves a register alone because a condition fails, and the condition depends on what is
// left alone too, it stays false; so whenever it is true, all iterations before have made the
// change.
func guardedForms(l *loop) {
	var guards []smt.Term
	forms := map[*value]smt.Term{}
	for _, x := range l.open(0) {
		g, after, ok := l.guarded(x)
		if !ok {
			continue
		}
		if f, ok := l.shape(x, after); ok {
			forms[x] = f
			guards = append(guards, g)
		}
	}
	for _, g := range guards {
		for _, x := range l.open(0) {
			if f, ok := forms[x]; ok {
				l.add(l.c.Implies(g, l.c.Eq(x.v, f)))
			}
		}
	}
}

// guarded reads the change of a register by an iteration as: after if g, else unchanged. It
// recognises a conditional at the top of the new value, or of its difference from the old one.
func (l *loop) guarded(x *value) (g, after smt.Term, ok bool) {
	c := l.c
	if c.Op(x.then) == smt.OpIte {
		a := c.Args(x.then)
		switch x.v {
		case a[2]:
			return a[0], a[1], true
		case a[1]:
			return c.Not(a[0]), a[2], true
		}
	}
	d := c.Sub(x.then, x.v)
	if c.Op(d) == smt.OpIte {
		a := c.Args(d)
		switch c.Const(0, x.width) {
		case a[2]:
			return a[0], c.Add(x.v, a[1]), true
		case a[1]:
			return c.Not(a[0]), c.Add(x.v, a[2]), true
		}
	}
	return 0, 0, false
}

// shape is the closed form of a register that each iteration changes to after.
func (l *loop) shape(x *value, after smt.Term) (smt.Term, bool) {
	c, w := l.c, x.width
	if d := c.Sub(after, x.v); !l.moves(d) {
		return c.Add(x.Init, c.Mul(d, l.wide(l.k, w))), true
	}
	for s := uint64(1); s <= 4; s++ {
		one := c.Const(s, w)
		by := l.wide(c.MulConst(l.k, s), w)
		near := c.Ult(l.k, c.Const(uint64(w), 32)) // beyond, the distance may wrap
		switch after {
		case c.Shl(x.v, one):
			return c.Ite(near, c.Shl(x.Init, by), c.Const(0, w)), true
		case c.LShr(x.v, one):
			return c.Ite(near, c.LShr(x.Init, by), c.Const(0, w)), true
		case c.AShr(x.v, one):
			return c.Ite(near, c.AShr(x.Init, by), c.AShr(x.Init, c.Const(uint64(w-1), w))), true
		}
	}
	return 0, false
}

// wide is a term of 32 bits in w.
func (l *loop) wide(t smt.Term, w int) smt.Term {
	switch {
	case w < 32:
		return l.c.Extract(t, 0, w)
	case w > 32:
		return l.c.ZExt(t, w)
	}
	return t
}

package launch

import (
	"slices"
	"strconv"
)

// exprs calls visit with the place of each expression of the launch.
func (l *HostLaunch) exprs(visit func(e **Expr)) {
	for i := range l.Template {
		visit(&l.Template[i])
	}
	for i := range 3 {
		visit(&l.Grid[i])
		visit(&l.Block[i])
	}
	visit(&l.Shared)
	visit(&l.Limit)
	for i := range l.Args {
		l.Args[i].exprs(visit)
	}
	for _, name := range sortedKeys(l.Symbols) {
		a := l.Symbols[name]
		a.exprs(visit)
		l.Symbols[name] = a
	}
}

// exprs calls visit with the place of each expression of the argument.
func (a *HostArg) exprs(visit func(e **Expr)) {
	visit(&a.Value)
	if a.Pointer != nil {
		visit(&a.Pointer.Offset)
		visit(&a.Pointer.Size)
	}
	for i := range a.Fields {
		a.Fields[i].Value.exprs(visit)
	}
}

// rename removes the numbers that tell unknowns of one name apart where the launch has only one.
func (l *HostLaunch) rename() {
	first := make(map[string]string) // by plain name: the only name; "" if there are several
	l.exprs(func(e **Expr) {
		(*e).walk(func(x *Expr) {
			if x.Op != OpUnknown {
				return
			}
			plain := plainName(x.Name)
			if old, ok := first[plain]; ok && old != x.Name {
				first[plain] = ""
			} else if !ok {
				first[plain] = x.Name
			}
		})
	})
	l.exprs(func(e **Expr) {
		*e = (*e).renamed(func(name string) string {
			if plain := plainName(name); first[plain] == name {
				return plain
			}
			return name
		})
	})
}

// renamed returns e with other names for its unknowns.
func (e *Expr) renamed(to func(string) string) *Expr {
	switch {
	case e == nil || e.Op == OpConst:
		return e
	case e.Op == OpUnknown:
		return unknown(to(e.Name))
	}
	out := *e
	out.Args = make([]*Expr, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = a.renamed(to)
	}
	return &out
}

// given returns e with values for some of its unknowns; nil if it has no value then.
func (e *Expr) given(values map[string]int64) *Expr {
	switch {
	case e == nil || e.Op == OpConst:
		return e
	case e.Op == OpUnknown:
		if n, ok := values[e.Name]; ok {
			return number(n)
		}
		return e
	}
	args := make([]*Expr, len(e.Args))
	for i, a := range e.Args {
		if args[i] = a.given(values); args[i] == nil {
			return nil
		}
	}
	return operation(e.Op, args...)
}

// same reports whether two launches are the same for all values of their unknowns.
func (l *HostLaunch) same(m *HostLaunch) bool {
	return l.Kernel == m.Kernel && l.Span == m.Span && slices.EqualFunc(l.Template, m.Template,
		sameExpr) && slices.EqualFunc(l.Grid[:], m.Grid[:], sameExpr) &&
		slices.EqualFunc(l.Block[:], m.Block[:], sameExpr) && sameExpr(l.Shared, m.Shared) &&
		sameExpr(l.Limit, m.Limit) && slices.EqualFunc(l.Args, m.Args, HostArg.same) &&
		sameSymbols(l.Symbols, m.Symbols)
}

// sameSymbols reports whether the host set the same variables to the same values.
func sameSymbols(a, b map[string]HostArg) bool {
	return slices.EqualFunc(sortedKeys(a), sortedKeys(b),
		func(m, n string) bool { return m == n && a[m].same(b[n]) })
}

// same reports whether two arguments are the same for all values of their unknowns.
func (a HostArg) same(b HostArg) bool {
	p, q := a.Pointer, b.Pointer
	if (p == nil) != (q == nil) || p != nil && (p.Root != q.Root || p.Fill != q.Fill ||
		p.Symbol != q.Symbol || !sameExpr(p.Offset, q.Offset) || !sameExpr(p.Size, q.Size) ||
		!slices.Equal(p.Data, q.Data)) {
		return false
	}
	return sameExpr(a.Value, b.Value) && a.Float == b.Float && slices.Equal(a.Data, b.Data) &&
		a.Size == b.Size && slices.EqualFunc(a.Fields, b.Fields, func(f, g HostField) bool {
		return f.Offset == g.Offset && f.Size == g.Size && f.Value.same(g.Value)
	})
}

// formatFloat formats a floating-point constant as a literal.
func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

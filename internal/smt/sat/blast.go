package sat

import (
	"github.com/go-air/gini/z"

	"heddle/internal/smt"
)

// blast returns the bits of t, whose arguments have theirs.
func (b *blaster) blast(t smt.Term) []z.Lit {
	c, args := b.c, b.c.Args(t)
	w := c.Width(t)
	arg := func(i int) []z.Lit { return b.bits[args[i]] }
	switch c.Op(t) {
	case smt.OpConst:
		v, _ := c.Value(t)
		return b.constant(v, max(w, 1))
	case smt.OpVar:
		name := c.Name(t)
		if b.vars[name] == nil {
			b.vars[name] = b.fresh(max(w, 1))
		}
		return b.vars[name]
	case smt.OpApp:
		b.apps = append(b.apps, t)
		return b.fresh(max(w, 1))
	case smt.OpNot:
		return []z.Lit{arg(0)[0].Not()}
	case smt.OpAnd, smt.OpOr:
		r := arg(0)[0]
		for i := 1; i < len(args); i++ {
			if c.Op(t) == smt.OpAnd {
				r = b.l.And(r, arg(i)[0])
			} else {
				r = b.l.Or(r, arg(i)[0])
			}
		}
		return []z.Lit{r}
	case smt.OpIte:
		return b.choose(arg(0)[0], arg(1), arg(2))
	case smt.OpEq:
		return []z.Lit{b.equal(arg(0), arg(1))}
	case smt.OpUlt:
		return []z.Lit{b.less(arg(0), arg(1))}
	case smt.OpSlt:
		return []z.Lit{b.less(b.flipSign(arg(0)), b.flipSign(arg(1)))}
	case smt.OpExtract:
		lo := c.ExtractLow(t)
		return arg(0)[lo : lo+w]
	case smt.OpZExt:
		return b.extend(arg(0), w, b.l.F)
	case smt.OpSExt:
		return b.extend(arg(0), w, arg(0)[len(arg(0))-1])
	}
	return b.arithmetic(t, w, arg)
}

func (b *blaster) arithmetic(t smt.Term, w int, arg func(int) []z.Lit) []z.Lit {
	c, n := b.c, len(b.c.Args(t))
	switch c.Op(t) {
	case smt.OpSum:
		k, coef := c.SumParts(t)
		r := b.constant(k, w)
		for i := range n {
			r = b.add(r, b.times(arg(i), coef[i]), b.l.F)
		}
		return r
	case smt.OpMul:
		r := arg(0)
		for i := 1; i < n; i++ {
			r = b.multiply(r, arg(i))
		}
		return r
	case smt.OpBvAnd, smt.OpBvOr, smt.OpBvXor:
		gate := b.l.And
		switch c.Op(t) {
		case smt.OpBvOr:
			gate = b.l.Or
		case smt.OpBvXor:
			gate = b.l.Xor
		}
		r := append([]z.Lit(nil), arg(0)...)
		for i := 1; i < n; i++ {
			for j, m := range arg(i) {
				r[j] = gate(r[j], m)
			}
		}
		return r
	case smt.OpUDiv:
		q, _ := b.divide(arg(0), arg(1))
		return q
	case smt.OpURem:
		_, r := b.divide(arg(0), arg(1))
		return r
	case smt.OpSDiv, smt.OpSRem:
		return b.signedDivide(arg(0), arg(1), c.Op(t) == smt.OpSDiv)
	case smt.OpShl:
		return reverse(b.shiftRight(reverse(arg(0)), arg(1), b.l.F))
	case smt.OpLShr:
		return b.shiftRight(arg(0), arg(1), b.l.F)
	case smt.OpAShr:
		return b.shiftRight(arg(0), arg(1), arg(0)[w-1])
	}
	panic("sat: operator without circuit")
}

func (b *blaster) fresh(n int) []z.Lit {
	r := make([]z.Lit, n)
	for i := range r {
		r[i] = b.l.Lit()
	}
	return r
}

func (b *blaster) constant(v uint64, n int) []z.Lit {
	r := make([]z.Lit, n)
	for i := range r {
		r[i] = b.l.F
		if v>>i&1 == 1 {
			r[i] = b.l.T
		}
	}
	return r
}

func (b *blaster) extend(a []z.Lit, n int, by z.Lit) []z.Lit {
	r := append(make([]z.Lit, 0, n), a...)
	for len(r) < n {
		r = append(r, by)
	}
	return r
}

func reverse(a []z.Lit) []z.Lit {
	r := make([]z.Lit, len(a))
	for i, m := range a {
		r[len(a)-1-i] = m
	}
	return r
}

func (b *blaster) not(a []z.Lit) []z.Lit {
	r := make([]z.Lit, len(a))
	for i, m := range a {
		r[i] = m.Not()
	}
	return r
}

func (b *blaster) choose(p z.Lit, x, y []z.Lit) []z.Lit {
	r := make([]z.Lit, len(x))
	for i := range r {
		r[i] = b.l.Choice(p, x[i], y[i])
	}
	return r
}

func (b *blaster) equal(x, y []z.Lit) z.Lit {
	r := b.l.T
	for i := range x {
		r = b.l.And(r, b.l.Xor(x[i], y[i]).Not())
	}
	return r
}

// less is the unsigned x < y, from the lowest bit up.
func (b *blaster) less(x, y []z.Lit) z.Lit {
	r := b.l.F
	for i := range x {
		r = b.l.Choice(b.l.Xor(x[i], y[i]), y[i], r)
	}
	return r
}

func (b *blaster) flipSign(x []z.Lit) []z.Lit {
	r := append([]z.Lit(nil), x...)
	r[len(r)-1] = r[len(r)-1].Not()
	return r
}

// add is a ripple-carry adder.
func (b *blaster) add(x, y []z.Lit, carry z.Lit) []z.Lit {
	r := make([]z.Lit, len(x))
	for i := range x {
		half := b.l.Xor(x[i], y[i])
		r[i] = b.l.Xor(half, carry)
		carry = b.l.Or(b.l.And(x[i], y[i]), b.l.And(half, carry))
	}
	return r
}

func (b *blaster) negate(x []z.Lit) []z.Lit {
	return b.add(b.not(x), b.constant(0, len(x)), b.l.T)
}

// shifted is x << n.
func (b *blaster) shifted(x []z.Lit, n int) []z.Lit {
	r := make([]z.Lit, len(x))
	for i := range r {
		r[i] = b.l.F
		if i >= n {
			r[i] = x[i-n]
		}
	}
	return r
}

// times multiplies by a constant, by additions and subtractions of the non-adjacent form.
func (b *blaster) times(x []z.Lit, k uint64) []z.Lit {
	r := b.constant(0, len(x))
	for i := 0; k != 0 && i < len(x); i++ {
		if k&1 == 1 {
			if k&3 == 3 { // a run of ones: subtract here, carry one up
				r = b.add(r, b.not(b.shifted(x, i)), b.l.T)
				k++
				if k == 0 { // the carry went beyond 64 bits
					break
				}
			} else {
				r = b.add(r, b.shifted(x, i), b.l.F)
				k--
			}
		}
		k >>= 1
	}
	return r
}

func (b *blaster) multiply(x, y []z.Lit) []z.Lit {
	r := b.constant(0, len(x))
	for i := range y {
		part := b.shifted(x, i)
		for j := range part {
			part[j] = b.l.And(part[j], y[i])
		}
		r = b.add(r, part, b.l.F)
	}
	return r
}

// divide is restoring division; by zero it gives all ones and x, as SMT-LIB wants, without a special case.
func (b *blaster) divide(x, y []z.Lit) (q, r []z.Lit) {
	n := len(x)
	q = make([]z.Lit, n)
	r = b.constant(0, n+1)
	wide := b.extend(y, n+1, b.l.F)
	for i := n - 1; i >= 0; i-- {
		r = b.shifted(r, 1)
		r[0] = x[i]
		fits := b.less(r, wide).Not()
		q[i] = fits
		r = b.choose(fits, b.add(r, b.not(wide), b.l.T), r)
	}
	return q, r[:n]
}

func (b *blaster) signedDivide(x, y []z.Lit, quotient bool) []z.Lit {
	n := len(x)
	sx, sy := x[n-1], y[n-1]
	q, r := b.divide(b.choose(sx, b.negate(x), x), b.choose(sy, b.negate(y), y))
	if quotient {
		return b.choose(b.l.Xor(sx, sy), b.negate(q), q)
	}
	return b.choose(sx, b.negate(r), r)
}

// shiftRight is a barrel shifter; amounts of the width or more shift everything out.
func (b *blaster) shiftRight(x, by []z.Lit, in z.Lit) []z.Lit {
	r := x
	beyond := b.l.F
	for i, m := range by {
		if i >= 16 || 1<<i >= len(x) {
			beyond = b.l.Or(beyond, m)
			continue
		}
		moved := make([]z.Lit, len(x))
		for j := range moved {
			moved[j] = in
			if j+1<<i < len(x) {
				moved[j] = r[j+1<<i]
			}
		}
		r = b.choose(m, moved, r)
	}
	return b.choose(beyond, b.extend(nil, len(x), in), r)
}

package verify

import (
	"math/bits"

	"heddle/internal/smt"
)

// Rows of unknown length, row*n + col, make products of variables, which bit-level solvers cannot
// handle. An equation of two such places is n*R + rest = 0, where R is the distance of the rows. If
// that holds for integers, then R = 0 and rest = 0, or rest >= n, or rest <= -n: most proofs need
// no more. So a query is first asked with such equations weakened to this. Weakening loses no
// model, so an unsatisfiable answer holds for the query (TestRowsApart).

// weakened returns the query with equations weakened; ok is false if it has none of that kind.
func (p *prover) weakened(query []smt.Term) (out []smt.Term, ok bool) {
	for _, t := range query {
		if w, found := p.rowsApart(t); found {
			t, ok = w, true
		}
		out = append(out, t)
	}
	return out, ok
}

// rowsApart weakens an equation of sums with products of one common factor.
func (p *prover) rowsApart(t smt.Term) (smt.Term, bool) {
	c := p.c
	if c.Op(t) != smt.OpEq || c.Width(c.Args(t)[0]) != 64 {
		return 0, false
	}
	d := c.Sub(c.Args(t)[0], c.Args(t)[1])
	if c.Op(d) != smt.OpSum {
		return 0, false
	}
	n, found := p.factor(c.Args(d))
	if !found {
		return 0, false
	}
	constant, coef := c.SumParts(d)
	zero := c.Const(0, 64)
	rows, rest, step := zero, c.Const(constant, 64), uint64(0)
	for i, a := range c.Args(d) {
		if other, ok := p.cofactor(a, n); ok {
			rows = c.Add(rows, c.MulConst(other, coef[i]))
			step = gcd(step, magnitude(coef[i]))
		} else {
			rest = c.Add(rest, c.MulConst(a, coef[i]))
		}
	}
	// With |n*rows| <= 2^62 and |rest| <= 2^61, n*rows + rest does not wrap: it is 0 as an integer.
	over, product := bits.Mul64(p.most(n), p.most(rows))
	if over != 0 || product > 1<<62 || p.most(rest) > 1<<61 || p.most(n) > 1<<42 || step > 1<<20 {
		return 0, false
	}
	step &= -step // what divides the coefficients divides the sum, even if it wraps
	far := c.MulConst(n, step)
	apart := c.Or(c.Sle(far, rest), c.Sle(rest, c.Neg(far)))
	same := c.And(c.Eq(rows, zero), c.Eq(rest, zero))
	return c.Or(same, apart, c.Sle(n, zero)), true
}

// factor returns the factor that most products of two terms share.
func (p *prover) factor(of []smt.Term) (n smt.Term, found bool) {
	count := map[smt.Term]int{}
	most := 0
	for _, t := range of {
		if a := p.c.Args(t); p.c.Op(t) == smt.OpMul && len(a) == 2 {
			for _, f := range a {
				if count[f]++; count[f] > most {
					n, most = f, count[f]
				}
			}
		}
	}
	return n, most > 1
}

// cofactor returns the other factor of t, if t is a product of n.
func (p *prover) cofactor(t, n smt.Term) (smt.Term, bool) {
	a := p.c.Args(t)
	switch {
	case p.c.Op(t) != smt.OpMul || len(a) != 2:
		return 0, false
	case a[0] == n:
		return a[1], true
	case a[1] == n:
		return a[0], true
	}
	return 0, false
}

// most is a bound for the absolute value of a term of 64 bits, read as signed.
func (p *prover) most(t smt.Term) uint64 {
	lo, hi := p.c.Signed(t)
	return max(magnitude(uint64(lo)), magnitude(uint64(hi)))
}

// magnitude is the absolute value of v, read as signed; of the least number it is 2^63.
func magnitude(v uint64) uint64 {
	if int64(v) < 0 {
		return -v
	}
	return v
}

// gcd is the greatest common divisor (Euclid); gcd(a, 0) is a.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

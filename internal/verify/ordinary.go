package verify

import (
	"math"
	"slices"

	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// A proof is about all values of the parameters, and a counterexample may have ones that no host
// passes: a width of 0, a size near 2^32, products that wrap around. Such a counterexample prevents
// a proof, but is no bug. So a solver is asked again for one with ordinary parameters: those that
// are factors or divisors in index arithmetic are from 1 to a limit, the others from 0, and no sum
// or product of 32 bits in which a parameter occurs wraps around as a signed number.

// ordinaryLimits are the limits that are tried in turn. With the first, products of two parameters
// and an index hardly ever wrap, and no formula is needed to exclude it.
var ordinaryLimits = []uint64{1 << 10, 1 << 20}

// prefer replaces the model of a finding by one with ordinary parameters. If there is none, or none
// is found, the finding is marked as Unusual.
func (p *prover) prefer(x *pair) {
	f := &x.finding
	if f.Assertion != nil {
		return // the user states what parameters may be
	}
	params := p.params(x.asked)
	if len(params) == 0 {
		return
	}
	sums := p.indexArithmetic(x.asked)
	largest := ordinaryLimits[len(ordinaryLimits)-1]
	if within := p.ordinary(x.asked, params, largest); p.c.Satisfies(f.Model, within) &&
		p.exact(sums, f.Model) {
		return
	}
	for i, limit := range ordinaryLimits {
		q := append(slices.Clone(x.asked), p.ordinary(x.asked, params, limit)...)
		if i > 0 {
			q = append(q, p.noWrap(sums)...)
		}
		a := p.c.Decide(p.ctx, q, p.opt.Solvers...)
		p.res.Stats.Steps += a.Steps
		if a.Status == smt.Sat && p.c.Satisfies(a.Model, q) && p.exact(sums, a.Model) {
			f.Model = p.greedy(q, p.numbers(x.asked), a.Model)
			return
		}
	}
	f.Unusual = true
}

// params returns the integer parameters in terms: those of 8 bits and more that are not
// floating-point numbers.
func (p *prover) params(terms []smt.Term) []smt.Term {
	floats := map[string]bool{}
	for _, v := range p.th.Func.Params {
		if v.Type.IsFloat() {
			floats[symbol.ParamName(v, 0, 8*v.Size)] = true
		}
	}
	var out []smt.Term
	for _, t := range p.numbers(terms) {
		if name := p.c.Name(t); symbol.IsParam(name) && !floats[name] && p.c.Width(t) >= 8 {
			out = append(out, t)
		}
	}
	return out
}

// ordinary are the formulas that parameters are at most limit, and not 0 where they are factors or
// divisors.
func (p *prover) ordinary(asked, params []smt.Term, limit uint64) []smt.Term {
	c := p.c
	factor := map[smt.Term]bool{}
	c.Visit(asked, func(t smt.Term) {
		switch c.Op(t) {
		case smt.OpMul, smt.OpUDiv, smt.OpURem, smt.OpSDiv, smt.OpSRem:
			c.Visit(c.Args(t), func(u smt.Term) { factor[u] = true })
		}
	})
	var out []smt.Term
	for _, v := range params {
		w := c.Width(v)
		most := min(limit, 1<<(w-1)-1)
		out = append(out, c.Ule(v, c.Const(most, w)))
		if factor[v] {
			out = append(out, c.Not(c.Eq(v, c.Const(0, w))))
		}
	}
	return out
}

// indexArithmetic returns the sums and products of 32 bits in which a parameter occurs.
func (p *prover) indexArithmetic(asked []smt.Term) []smt.Term {
	var out []smt.Term
	p.c.Visit(asked, func(t smt.Term) {
		if op := p.c.Op(t); (op == smt.OpSum || op == smt.OpMul) && p.c.Width(t) == 32 &&
			symbol.Any(p.c, t, symbol.IsParam) {
			out = append(out, t)
		}
	})
	return out
}

// exact reports whether no sum or product wraps around in a model.
func (p *prover) exact(sums []smt.Term, m *smt.Model) bool {
	e := p.c.Evaluate(m)
	value := func(t smt.Term) int64 { return int64(int32(e.Value(t))) }
	for _, t := range sums {
		var v float64 // exact enough: what is compared is far from the limits of 32 bits or equal
		if p.c.Op(t) == smt.OpMul {
			v = 1
			for _, a := range p.c.Args(t) {
				v *= float64(value(a))
			}
		} else {
			k, coef := p.c.SumParts(t)
			v = float64(int32(k))
			for i, a := range p.c.Args(t) {
				v += float64(int32(coef[i])) * float64(value(a))
			}
		}
		if v < math.MinInt32 || v > math.MaxInt32 {
			return false
		}
	}
	return true
}

// noWrap are the formulas that sums and products have their exact value as signed numbers.
func (p *prover) noWrap(sums []smt.Term) []smt.Term {
	c := p.c
	wide := func(v uint64) smt.Term { return c.Const(uint64(int64(int32(v))), 64) }
	var out []smt.Term
	for _, t := range sums {
		v := wide(1)
		if c.Op(t) == smt.OpMul {
			for _, a := range c.Args(t) {
				v = c.Mul(v, c.SExt(a, 64))
			}
		} else {
			k, coef := c.SumParts(t)
			v = wide(k)
			for i, a := range c.Args(t) {
				v = c.Add(v, c.Mul(wide(coef[i]), c.SExt(a, 64)))
			}
		}
		out = append(out, c.Eq(c.SExt(t, 64), v))
	}
	return out
}

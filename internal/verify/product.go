package verify

import "heddle/internal/smt"

// Where the size of a block is arbitrary, addresses contain index*size, with which bit-vector
// solvers are slow. Most proofs need only that two threads with different indices have products
// that are at least one size apart. That follows from the assumption that there are fewer than 2^31
// threads in each dimension, or at most 1024 in a block, so no product wraps. So a query is first
// asked with a variable in place of each product, and this fact about the variables: it has a model
// wherever the query has one, so an unsatisfiable answer holds for the query (TestProductFacts).

// spread reports whether that proves a pair harmless.
func (p *prover) spread(x *pair) bool {
	facts, without := p.products(x.query, x.threads)
	if len(facts) == 0 {
		return false
	}
	for _, t := range x.query {
		facts = append(facts, without.Apply(t))
	}
	harmless, _ := p.weaker(x, facts)
	return harmless
}

// weaker reports whether a query that has a model wherever that of a pair has one proves the pair
// harmless. If not, it returns the steps of the solver.
func (p *prover) weaker(x *pair, query []smt.Term) (harmless bool, steps int64) {
	x.asked = query
	r := p.c.Reduce(query)
	a := smt.Answer{Status: r.Status, By: "simplifier"}
	if r.Status == smt.Unknown {
		a = p.opt.Pool.Solve(p.ctx, []*smt.Query{p.c.Query(r.Asserts)})[0]
	}
	if a.Status != smt.Unsat {
		return false, a.Steps
	}
	p.answered(x, a)
	return true, 0
}

// products returns the facts about the variables that stand for products in a query, and the
// substitution of these variables for products.
func (p *prover) products(q []smt.Term, s [2]*smt.Substitution) (facts []smt.Term,
	without *smt.Substitution) {
	c := p.c
	without = c.Substitute()
	var occurs map[smt.Term]bool
	say := func(name string, index, size smt.Term) {
		if _, fixed := c.Value(size); fixed {
			return
		}
		if occurs == nil {
			occurs = map[smt.Term]bool{}
			c.Visit(q, func(t smt.Term) { occurs[t] = true })
		}
		a, b := s[0].Apply(index), s[1].Apply(index)
		if a == b {
			return
		}
		x, y := c.Var("product$1"+name, 32), c.Var("product$2"+name, 32)
		if !occurs[c.Mul(a, size)] || !occurs[c.Mul(b, size)] || c.Op(c.Mul(a, size)) != smt.OpMul ||
			c.Op(c.Mul(b, size)) != smt.OpMul {
			return
		}
		without.Replace(c.Mul(a, size), x)
		without.Replace(c.Mul(b, size), y)
		most := c.Const(1<<31, 32)
		facts = append(facts,
			c.Implies(c.Eq(a, b), c.Eq(x, y)),
			c.Implies(c.Ult(a, b), c.Ule(c.Add(x, size), y)),
			c.Implies(c.Ult(b, a), c.Ule(c.Add(y, size), x)),
			c.Ult(x, most), c.Ult(y, most), c.Ule(c.Add(x, size), most), c.Ule(c.Add(y, size), most))
	}
	for i, d := range []string{".x", ".y", ".z"} {
		say(d, p.th.Ctaid[i], p.th.Ntid[i])
	}
	say(".t", p.th.Tid[1], p.th.Ntid[0])
	return facts, without
}

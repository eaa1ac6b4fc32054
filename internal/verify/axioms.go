package verify

import (
	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// instances returns instances of the user's axioms for the functions that occur in terms.
func (p *prover) instances(terms []smt.Term) []smt.Term {
	apply := func(name string, width int, args ...smt.Term) smt.Term {
		return symbol.Uninterpreted(p.c, name, width, args...)
	}
	var out []smt.Term
	for _, f := range p.opt.Axioms {
		out = append(out, f.Instances(p.c, apply, append(out, terms...))...)
	}
	return out
}

// contradictory reports whether instances of axioms cannot hold together: with them anything is
// proved.
func (p *prover) contradictory(axioms []smt.Term) bool {
	return len(axioms) > 0 && p.c.Decide(p.ctx, axioms, p.opt.Solvers...).Status == smt.Unsat
}

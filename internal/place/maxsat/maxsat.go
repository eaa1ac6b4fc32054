// Package maxsat solves small weighted partial MaxSAT problems in process: every hard clause holds,
// and the total weight of the violated soft clauses is minimal.
//
// It follows OLL (Andres, Kaufmann, Matheis and Schaub, ICLP 2012; Morgado, Dodaro and
// Marques-Silva, "Core-guided MaxSAT with soft cardinality constraints", CP 2014), with totalizers
// (Bailleux and Boufkhad, CP 2003) for the cardinality constraints, over smt/cdcl. Stratification
// and hardening (Ansótegui, Bonet and Levy, "SAT-based MaxSAT algorithms", AIJ 2013) are there
// because the weights of package place lie far apart.
//
// Each answer is checked: the model satisfies every hard clause, and its cost, computed again from
// the problem, equals the lower bound that the cores prove. That a core is unsatisfiable is not
// checked again; the tests compare with z3 and with brute force.
package maxsat

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Lit is a literal: a variable from 1 up, or its negation.
type Lit int

// Soft is a clause that costs Weight if it is violated. Weights are positive.
type Soft struct {
	Clause []Lit
	Weight int64
}

// Problem is a weighted partial MaxSAT problem over the variables 1 to Vars.
type Problem struct {
	Vars int
	Hard [][]Lit
	Soft []Soft
}

// NewVar adds a variable and returns its positive literal.
func (p *Problem) NewVar() Lit {
	p.Vars++
	return Lit(p.Vars)
}

// AddHard adds a clause that must hold.
func (p *Problem) AddHard(clause ...Lit) {
	p.Hard = append(p.Hard, append([]Lit(nil), clause...))
}

// AddSoft adds a clause that should hold.
func (p *Problem) AddSoft(weight int64, clause ...Lit) {
	p.Soft = append(p.Soft, Soft{append([]Lit(nil), clause...), weight})
}

// Model holds the value of each variable, by number; index 0 is not used.
type Model []bool

// Holds reports whether a literal is true.
func (m Model) Holds(l Lit) bool {
	if l < 0 {
		return !m[-l]
	}
	return m[l]
}

func (m Model) satisfies(clause []Lit) bool {
	for _, l := range clause {
		if m.Holds(l) {
			return true
		}
	}
	return false
}

// Cost returns the total weight of the soft clauses that m violates; ok reports whether the hard
// clauses hold.
func (p *Problem) Cost(m Model) (cost int64, ok bool) {
	for _, h := range p.Hard {
		if !m.satisfies(h) {
			return 0, false
		}
	}
	for _, s := range p.Soft {
		if !m.satisfies(s.Clause) {
			cost += s.Weight
		}
	}
	return cost, true
}

// ErrWeights reports weights that are not positive or too large to add up.
var ErrWeights = errors.New("maxsat: weights must be positive, and their sum below 2^63")

// check validates a problem.
func (p *Problem) check() error {
	lits := func(clause []Lit) error {
		for _, l := range clause {
			if l == 0 || l > Lit(p.Vars) || -l > Lit(p.Vars) {
				return fmt.Errorf("maxsat: literal %d is not one of %d variables", l, p.Vars)
			}
		}
		return nil
	}
	for _, h := range p.Hard {
		if err := lits(h); err != nil {
			return err
		}
	}
	sum := int64(0)
	for _, s := range p.Soft {
		if s.Weight <= 0 || s.Weight > math.MaxInt64-sum {
			return ErrWeights
		}
		sum += s.Weight
		if err := lits(s.Clause); err != nil {
			return err
		}
	}
	return nil
}

// Solve returns a model of minimal cost, or a nil model if the hard clauses have none. The error is
// that of ctx, reports an invalid problem, or reports that the SAT solver contradicts itself. The
// same problem always has the same model: nothing depends on time or on the order of maps.
func Solve(ctx context.Context, p *Problem) (Model, int64, error) {
	if err := p.check(); err != nil {
		return nil, 0, err
	}
	for _, h := range p.Hard {
		if len(h) == 0 {
			return nil, 0, nil
		}
	}
	q, fixed := reduce(p)
	m, bound := make(Model, p.Vars+1), int64(0)
	for _, s := range p.Soft {
		if len(s.Clause) == 0 {
			bound += s.Weight
		}
	}
	for _, l := range fixed {
		q.AddHard(l)
	}
	for _, x := range parts(q) {
		part, least, err := newSearch(&x.Problem).run(ctx)
		if err != nil || part == nil {
			return nil, 0, err
		}
		for i, v := range x.vars {
			m[v] = part[i+1]
		}
		bound += least
	}
	cost, ok := p.Cost(m)
	if !ok || cost != bound {
		return nil, 0, fmt.Errorf("maxsat: the model costs %d (hard clauses hold: %v), the cores prove %d",
			cost, ok, bound)
	}
	return m, cost, nil
}

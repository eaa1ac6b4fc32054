package maxsat

import (
	"context"
	"math"
	"slices"

	"heddle/internal/smt/cdcl"
)

// search is the state of OLL: a SAT solver, and the assumed literals, each with the weight that a
// model pays at least if the literal is false.
type search struct {
	p      *Problem
	sat    *cdcl.Solver
	weight map[cdcl.Lit]int64
	next   map[cdcl.Lit]output // the totalizer output of an assumption; the next one follows it
	bound  int64
}

// output is an output of a totalizer: "more than n of the inputs are true".
type output struct {
	total []cdcl.Lit // total[i]: more than i are true
	n     int
}

func newSearch(p *Problem) *search {
	s := &search{p: p, sat: cdcl.New(), weight: map[cdcl.Lit]int64{}, next: map[cdcl.Lit]output{}}
	for range p.Vars {
		s.sat.NewVar()
	}
	for _, h := range p.Hard {
		s.sat.Add(lits(h)...)
	}
	for _, soft := range p.Soft {
		s.soft(lits(soft.Clause), soft.Weight)
	}
	return s
}

// lits returns literals as the SAT solver writes them; its variables count from 0.
func lits(clause []Lit) []cdcl.Lit {
	out := make([]cdcl.Lit, len(clause))
	for i, l := range clause {
		if out[i] = cdcl.Var(int(max(l, -l)) - 1); l < 0 {
			out[i] = out[i].Not()
		}
	}
	return out
}

// soft turns a clause into an assumption: its literal if it has one only, else a new literal that
// implies the clause.
func (s *search) soft(clause []cdcl.Lit, weight int64) {
	if len(clause) == 1 {
		s.assume(clause[0], weight)
		return
	}
	l := s.sat.NewVar()
	s.sat.Add(append([]cdcl.Lit{l.Not()}, clause...)...)
	s.assume(l, weight)
}

// assume adds weight to an assumption. Every model violates a literal or its negation, so the
// weight that both have is paid at once.
func (s *search) assume(l cdcl.Lit, weight int64) {
	both := min(weight, s.weight[l.Not()])
	s.pay(l.Not(), both)
	s.bound += both
	if weight > both {
		s.weight[l] += weight - both
	}
}

// pay takes weight off an assumption.
func (s *search) pay(l cdcl.Lit, weight int64) {
	if s.weight[l] -= weight; s.weight[l] <= 0 {
		delete(s.weight, l)
	}
}

// run raises the lower bound by one core after another until the remaining assumptions hold
// together. Heavy assumptions come first (stratification). Each model found in between is an upper
// bound, and an assumption that weighs more than the gap between the bounds holds in every better
// model (hardening).
func (s *search) run(ctx context.Context) (Model, int64, error) {
	var best Model
	upper := int64(math.MaxInt64)
	for level := s.heaviest(math.MaxInt64); ; {
		sat, core, err := s.solve(ctx, s.assumptions(level))
		switch {
		case err != nil:
			return nil, 0, err
		case !sat && len(core) == 0:
			return best, upper, nil // before the first model only: the hard clauses have none
		case !sat:
			core, err = s.trim(ctx, core)
			if err != nil {
				return nil, 0, err
			}
			s.relax(core)
			if best != nil {
				s.harden(upper)
			}
			continue
		}
		m := s.model()
		if cost, _ := s.p.Cost(m); cost < upper {
			best, upper = m, cost
		}
		if upper == s.bound || level == 0 {
			return best, s.bound, nil
		}
		s.harden(upper)
		level = s.heaviest((level - 1) / 2)
	}
}

// heaviest returns the largest weight of an assumption up to most; 0 if there is none, and then all
// are to be assumed.
func (s *search) heaviest(most int64) int64 {
	w := int64(0)
	for _, v := range s.weight {
		if v <= most {
			w = max(w, v)
		}
	}
	return w
}

// assumptions returns those that weigh at least level, in a fixed order.
func (s *search) assumptions(level int64) []cdcl.Lit {
	var out []cdcl.Lit
	for l, w := range s.weight {
		if w >= level {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

// harden makes assumptions hard that no model of cost upper or less violates: violating one alone
// would cost more than the gap between the bounds.
func (s *search) harden(upper int64) {
	for _, l := range s.assumptions(upper - s.bound + 1) {
		s.sat.Add(l)
		delete(s.weight, l)
	}
}

// trim drops literals that a core does not need. Smaller cores give smaller totalizers and better
// bounds; each test is one search.
func (s *search) trim(ctx context.Context, core []cdcl.Lit) ([]cdcl.Lit, error) {
	if len(core) > maxTrim {
		return core, nil
	}
	for i := 0; i < len(core) && len(core) > 1; {
		sat, smaller, err := s.solve(ctx, slices.Delete(slices.Clone(core), i, i+1))
		switch {
		case err != nil:
			return nil, err
		case sat:
			i++
		case len(smaller) == 0: // the hard clauses alone have no model
			return core, nil
		default:
			core, i = smaller, 0
		}
	}
	return core, nil
}

// maxTrim is the size of the largest core that trim tries to shrink, in literals.
const maxTrim = 40

// relax pays for a core, of which every model violates at least one literal. A totalizer counts the
// violated ones: the second costs again, and so on.
func (s *search) relax(core []cdcl.Lit) {
	least := s.weight[core[0]]
	for _, l := range core {
		least = min(least, s.weight[l])
	}
	s.bound += least
	for _, l := range core {
		s.pay(l, least)
		if o, ok := s.next[l]; ok && o.n+1 < len(o.total) {
			s.output(output{o.total, o.n + 1}, least)
		}
	}
	if len(core) == 1 {
		s.sat.Add(core[0].Not())
		return
	}
	off := make([]cdcl.Lit, len(core))
	for i, l := range core {
		off[i] = l.Not()
	}
	s.sat.Add(off...)
	s.output(output{s.totalizer(off), 1}, least)
}

// output assumes that at most o.n of the inputs of a totalizer are true.
func (s *search) output(o output, weight int64) {
	l := o.total[o.n].Not()
	s.next[l] = o
	s.assume(l, weight)
}

// totalizer returns literals, the i-th of which is implied if more than i of the inputs are true.
// The converse is not needed: assumptions only ever ask for the negation.
func (s *search) totalizer(in []cdcl.Lit) []cdcl.Lit {
	if len(in) == 1 {
		return in
	}
	a, b := s.totalizer(in[:len(in)/2]), s.totalizer(in[len(in)/2:])
	out := make([]cdcl.Lit, len(in))
	for i := range out {
		out[i] = s.sat.NewVar()
	}
	for i := 0; i <= len(a); i++ { // i of a and j of b make i+j
		for j := 0; j <= len(b); j++ {
			clause := make([]cdcl.Lit, 0, 3)
			if i > 0 {
				clause = append(clause, a[i-1].Not())
			}
			if j > 0 {
				clause = append(clause, b[j-1].Not())
			}
			if i+j > 0 {
				s.sat.Add(append(clause, out[i+j-1])...)
			}
		}
	}
	return out
}

// solve decides the clauses under assumptions. If they have no model, core holds assumptions that
// cannot hold together; it is empty if the clauses alone have none.
func (s *search) solve(ctx context.Context, assumed []cdcl.Lit) (
	sat bool, core []cdcl.Lit, err error,
) {
	if err := ctx.Err(); err != nil {
		return false, nil, err
	}
	stop := cdcl.Limits{Stop: func() bool { return ctx.Err() != nil }}
	switch s.sat.Solve(stop, assumed...) {
	case cdcl.Sat:
		return true, nil, nil
	case cdcl.Unsat:
		return false, s.sat.Core(), nil
	}
	return false, nil, ctx.Err()
}

// model returns the values of the problem's variables in the model that the SAT solver found last.
func (s *search) model() Model {
	m := make(Model, s.p.Vars+1)
	for v := range s.p.Vars {
		m[v+1] = s.sat.Holds(cdcl.Var(v))
	}
	return m
}

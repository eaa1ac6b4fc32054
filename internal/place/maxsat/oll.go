package maxsat

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/go-air/gini"
	"github.com/go-air/gini/z"
)

// search is the state of OLL: a SAT solver, and the literals that are assumed, each with the weight that is paid at
// least if it is false.
type search struct {
	p      *Problem
	sat    *solver
	weight map[z.Lit]int64
	next   map[z.Lit]output // of an assumption that a totalizer made: what to assume after it
	bound  int64
}

// output is the output of a totalizer: "more than n of the inputs are false".
type output struct {
	total []z.Lit // total[i]: more than i are
	n     int
}

func newSearch(p *Problem) *search {
	s := &search{p: p, sat: newSolver(p.Vars), weight: map[z.Lit]int64{}, next: map[z.Lit]output{}}
	for _, h := range p.Hard {
		s.sat.add(lits(h)...)
	}
	for _, soft := range p.Soft {
		s.soft(lits(soft.Clause), soft.Weight)
	}
	return s
}

// lits are literals as the SAT solver writes them; its variables have the same numbers.
func lits(clause []Lit) []z.Lit {
	out := make([]z.Lit, len(clause))
	for i, l := range clause {
		out[i] = z.Dimacs2Lit(int(l))
	}
	return out
}

// soft makes a clause an assumption: itself if it is one literal, else a new literal that implies it.
func (s *search) soft(clause []z.Lit, weight int64) {
	if len(clause) == 1 {
		s.assume(clause[0], weight)
		return
	}
	l := s.sat.fresh()
	s.sat.add(append([]z.Lit{l.Not()}, clause...)...)
	s.assume(l, weight)
}

// assume adds weight to an assumption. Of a literal and its negation one is false whatever the model: what both
// weigh is paid at once.
func (s *search) assume(l z.Lit, weight int64) {
	both := min(weight, s.weight[l.Not()])
	s.pay(l.Not(), both)
	s.bound += both
	if weight > both {
		s.weight[l] += weight - both
	}
}

// pay takes weight from an assumption.
func (s *search) pay(l z.Lit, weight int64) {
	if s.weight[l] -= weight; s.weight[l] <= 0 {
		delete(s.weight, l)
	}
}

// run raises the bound by one core after the other until what is left can be assumed together. Heavy assumptions come
// first; each model on the way is an upper bound, and what weighs more than the bounds are apart holds in every
// better model.
func (s *search) run(ctx context.Context) (Model, int64, error) {
	var best Model
	upper := int64(math.MaxInt64)
	for level := s.heaviest(math.MaxInt64); ; {
		sat, core, err := s.sat.solve(ctx, s.assumptions(level))
		switch {
		case err != nil:
			return nil, 0, err
		case !sat && len(core) == 0:
			return best, upper, nil // only before the first model: then there is none
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
		m := s.sat.model(s.p.Vars)
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

// heaviest is the largest weight of an assumption up to most; 0 if there is none: then all are to be assumed.
func (s *search) heaviest(most int64) int64 {
	w := int64(0)
	for _, v := range s.weight {
		if v <= most {
			w = max(w, v)
		}
	}
	return w
}

// assumptions returns those that weigh at least level, in an order that is the same each time.
func (s *search) assumptions(level int64) []z.Lit {
	var out []z.Lit
	for l, w := range s.weight {
		if w >= level {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

// harden demands what cannot be false in a model that costs less than upper, or as much with what is false being
// lighter.
func (s *search) harden(upper int64) {
	for _, l := range s.assumptions(upper - s.bound + 1) {
		s.sat.add(l)
		delete(s.weight, l)
	}
}

// trim makes a core smaller: without a literal that is not needed.
func (s *search) trim(ctx context.Context, core []z.Lit) ([]z.Lit, error) {
	if len(core) > maxTrim {
		return core, nil
	}
	for i := 0; i < len(core) && len(core) > 1; {
		sat, smaller, err := s.sat.solve(ctx, slices.Delete(slices.Clone(core), i, i+1))
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

// maxTrim bounds the size of cores that are made smaller.
const maxTrim = 40

// relax pays for a core: at least one of its literals is false. That a second one is too costs again, and so on.
func (s *search) relax(core []z.Lit) {
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
		s.sat.add(core[0].Not())
		return
	}
	off := make([]z.Lit, len(core))
	for i, l := range core {
		off[i] = l.Not()
	}
	s.sat.add(off...)
	s.output(output{s.totalizer(off), 1}, least)
}

// output assumes that no more than o.n of the inputs of a totalizer are true.
func (s *search) output(o output, weight int64) {
	l := o.total[o.n].Not()
	s.next[l] = o
	s.assume(l, weight)
}

// totalizer returns literals of which the i-th is true if more than i of the inputs are.
func (s *search) totalizer(in []z.Lit) []z.Lit {
	if len(in) == 1 {
		return in
	}
	a, b := s.totalizer(in[:len(in)/2]), s.totalizer(in[len(in)/2:])
	out := make([]z.Lit, len(in))
	for i := range out {
		out[i] = s.sat.fresh()
	}
	for i := 0; i <= len(a); i++ { // i of a and j of b make i+j
		for j := 0; j <= len(b); j++ {
			clause := make([]z.Lit, 0, 3)
			if i > 0 {
				clause = append(clause, a[i-1].Not())
			}
			if j > 0 {
				clause = append(clause, b[j-1].Not())
			}
			if i+j > 0 {
				s.sat.add(append(clause, out[i+j-1])...)
			}
		}
	}
	return out
}

// solver is gini behind what OLL needs.
type solver struct {
	g    *gini.Gini
	tidy z.Lit // occurs in no clause that says anything
}

func newSolver(vars int) *solver {
	s := &solver{g: gini.New()}
	for range vars {
		s.g.Lit()
	}
	s.tidy = s.fresh()
	return s
}

func (s *solver) fresh() z.Lit { return s.g.Lit() }

func (s *solver) add(clause ...z.Lit) {
	for _, l := range clause {
		s.g.Add(l)
	}
	s.g.Add(z.LitNull)
}

// solve decides the clauses under assumptions; of those that cannot hold it returns some that cannot hold together.
// gini ends the process if it is asked under assumptions right after it found others unsatisfiable; with a clause
// between it does not, even with one that says nothing.
func (s *solver) solve(ctx context.Context, assumed []z.Lit) (sat bool, core []z.Lit, err error) {
	switch s.wait(ctx, assumed) {
	case 1:
		return true, nil, nil
	case -1:
		core = s.g.Why(nil)
		slices.Sort(core)
		return false, slices.Compact(core), nil
	}
	return false, nil, ctx.Err()
}

// wait runs the SAT solver until it is done or ctx ends: 1, -1, or 0. It looks at ctx at times that double: a search
// that is broken off keeps what it learned.
func (s *solver) wait(ctx context.Context, assumed []z.Lit) int {
	for patience := 50 * time.Millisecond; ctx.Err() == nil; patience *= 2 {
		s.add(s.tidy, s.tidy.Not())
		s.g.Assume(assumed...)
		if r := s.g.Try(min(patience, maxPatience)); r != 0 {
			return r
		}
	}
	return 0
}

// maxPatience bounds how long the end of a context may go unnoticed.
const maxPatience = 2 * time.Second

func (s *solver) model(vars int) Model {
	m := make(Model, vars+1)
	for v := 1; v <= vars; v++ {
		m[v] = s.g.Value(z.Var(v).Pos())
	}
	return m
}

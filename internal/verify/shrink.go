package verify

import (
	"slices"
	"strings"

	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// mostShrunk is how many findings of a kernel get small values: others are rarely printed.
const mostShrunk = 8

// bounds are the limits that are tried in turn for the numbers of a counterexample. With small
// arguments, the loops of the run that replays it are short.
var bounds = []struct{ param, index uint64 }{{32, 3}, {1024, 127}, {32, 0}, {1024, 0}, {1 << 16, 0}}

// shrinkSteps bounds the steps of solvers to make the arguments of one finding small.
const shrinkSteps = 6_000_000

// shrink returns a model with small values: first a solver bounds the arguments, then every number
// becomes as small as the other values allow.
func (p *prover) shrink(x *pair, m *smt.Model) *smt.Model {
	if p.shrunk++; p.shrunk > mostShrunk || p.ctx.Err() != nil {
		return m
	}
	vars := p.numbers(x.asked)
	if small := p.bounded(x, vars); small != nil {
		m = small
	}
	return p.greedy(x.asked, vars, m)
}

// numbers returns the variables that a report shows: arguments first, then indices and loop
// counters.
func (p *prover) numbers(asked []smt.Term) []smt.Term {
	var params, indices []smt.Term
	seen := map[string]bool{}
	p.c.Visit(asked, func(t smt.Term) {
		if p.c.Op(t) != smt.OpVar || p.c.Width(t) == 0 || seen[p.c.Name(t)] {
			return
		}
		seen[p.c.Name(t)] = true
		switch name := p.c.Name(t); {
		case symbol.IsParam(name):
			params = append(params, t)
		case symbol.IsIndex(name):
			indices = append(indices, t)
		}
	})
	byName := func(a, b smt.Term) int { return strings.Compare(p.c.Name(a), p.c.Name(b)) }
	slices.SortFunc(params, byName)
	slices.SortFunc(indices, byName)
	return append(params, indices...)
}

// bounded asks for a model whose arguments, and at first its indices, are within a bound; nil if
// none is found.
func (p *prover) bounded(x *pair, vars []smt.Term) *smt.Model {
	steps := int64(0)
	for _, most := range bounds {
		q := slices.Clone(x.asked)
		n := len(q)
		for _, v := range vars {
			w, limit := p.c.Width(v), most.index
			if symbol.IsParam(p.c.Name(v)) {
				limit = most.param
			}
			if limit > 0 && limit>>w == 0 {
				q = append(q, p.c.Ule(v, p.c.Const(limit, w)))
			}
		}
		if len(q) == n {
			continue
		}
		a := p.c.Decide(p.ctx, q, p.opt.Solvers...)
		p.res.Stats.Steps += a.Steps
		if a.Status == smt.Sat && p.c.Satisfies(a.Model, x.asked) {
			return a.Model
		}
		if steps += a.Steps; steps > shrinkSteps || p.ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// greedy decreases one number after the other, as long as the query still holds. It works on a copy
// of the query, which is small compared to all terms of the kernel.
func (p *prover) greedy(asked, vars []smt.Term, m *smt.Model) *smt.Model {
	q := p.c.Query(append(p.c.Ranges(asked), asked...))
	best := q.Canonical(m)
	holds := func() bool {
		e := q.Context.Evaluate(best)
		for _, t := range q.Asserts {
			if !e.Holds(t) {
				return false
			}
		}
		return true
	}
	const rounds = 3
	for range rounds {
		moved := false
		for _, v := range vars {
			name, ok := q.Var(p.c.Name(v))
			if !ok {
				continue
			}
			for step := best.Vars[name]; step > 0 && p.ctx.Err() == nil; {
				had := best.Vars[name]
				if best.Vars[name] = had - step; holds() {
					moved, step = true, min(step, had-step)
				} else {
					best.Vars[name], step = had, step/2
				}
			}
		}
		if !moved {
			break
		}
	}
	small := m.Clone()
	for name, v := range q.Original(best).Vars {
		small.Vars[name] = v
	}
	return small
}

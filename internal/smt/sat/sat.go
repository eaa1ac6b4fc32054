// Package sat decides queries of package smt in process, by bit-blasting: each bit of each term becomes a
// literal of an and-inverter graph (gini/logic), which go-air/gini solves. Uninterpreted functions are removed
// by Ackermann's reduction. Nothing has to be installed for it.
//
// It is complete for the logic of package smt; what it gives up is time: a query that does not fall within
// the limit of gates or before the context ends is Unknown, with that reason.
package sat

import (
	"context"
	"fmt"
	"time"

	"github.com/go-air/gini"
	"github.com/go-air/gini/logic"
	"github.com/go-air/gini/z"

	"heddle/internal/smt"
)

// DefaultGates bounds the circuit of one query.
const DefaultGates = 4_000_000

// Solver is a smt.Solver. The zero value is ready.
type Solver struct {
	Gates int           // nodes of the circuit allowed; 0: DefaultGates
	Time  time.Duration // for each query; 0: until the context ends
}

// Name returns "gini".
func (s *Solver) Name() string { return "gini" }

// Solve decides asserts, with the ranges of their variables.
func (s *Solver) Solve(ctx context.Context, c *smt.Context, asserts []smt.Term) smt.Answer {
	if s.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Time)
		defer cancel()
	}
	b := &blaster{c: c, l: logic.NewCCap(1 << 12), limit: s.Gates, ctx: ctx, bits: map[smt.Term][]z.Lit{}, vars: map[string][]z.Lit{}, value: map[z.Var]bool{}}
	if b.limit == 0 {
		b.limit = DefaultGates
	}
	roots, err := b.query(asserts)
	if err != nil {
		return smt.Answer{Reason: err.Error()}
	}
	g := gini.NewVc(b.l.Len()+1, 4*b.l.Len())
	b.l.ToCnfFrom(g, roots...)
	for _, r := range roots {
		g.Add(r)
		g.Add(z.LitNull)
	}
	switch search(ctx, g) {
	case 1:
		return smt.Answer{Status: smt.Sat, Model: b.model(g)}
	case -1:
		return smt.Answer{Status: smt.Unsat}
	}
	return smt.Answer{Reason: "out of time"}
}

// maxNap bounds how long a finished search may wait to be noticed.
const maxNap = time.Millisecond

// search runs the solver until it is done or ctx ends: 1, -1, or 0.
func search(ctx context.Context, g *gini.Gini) int {
	run := g.GoSolve()
	for nap := 10 * time.Microsecond; ; nap = min(2*nap, maxNap) {
		if r, done := run.Test(); done {
			return r
		}
		if ctx.Err() != nil {
			return run.Stop()
		}
		time.Sleep(nap)
	}
}

// errGates says that a circuit grew beyond the limit.
type errGates int

func (e errGates) Error() string { return fmt.Sprintf("the circuit has more than %d gates", int(e)) }

// blaster turns terms into literals, bit 0 first. A Boolean has one.
type blaster struct {
	c     *smt.Context
	l     *logic.C
	ctx   context.Context
	limit int
	bits  map[smt.Term][]z.Lit
	vars  map[string][]z.Lit
	apps  []smt.Term
	value map[z.Var]bool // of the model
}

// query returns literals that are true together exactly in the models of asserts.
func (b *blaster) query(asserts []smt.Term) ([]z.Lit, error) {
	all := append(b.c.Ranges(asserts), asserts...)
	var err error
	b.c.Visit(all, func(t smt.Term) {
		if err != nil {
			return
		}
		if err = b.ctx.Err(); err != nil {
			err = fmt.Errorf("out of time")
		} else if b.l.Len() > b.limit {
			err = errGates(b.limit)
		}
		if err == nil {
			b.bits[t] = b.blast(t)
		}
	})
	if err != nil {
		return nil, err
	}
	roots := []z.Lit{b.l.T}
	for _, a := range all {
		roots = append(roots, b.bits[a][0])
	}
	return b.ackermann(roots)
}

// ackermann adds that a function of equal arguments has equal results.
func (b *blaster) ackermann(roots []z.Lit) ([]z.Lit, error) {
	for i, t := range b.apps {
		if b.ctx.Err() != nil {
			return nil, fmt.Errorf("out of time")
		}
		for _, u := range b.apps[:i] {
			if b.c.Name(t) != b.c.Name(u) {
				continue
			}
			if b.l.Len() > b.limit {
				return nil, errGates(b.limit)
			}
			same := b.l.T
			for k, x := range b.c.Args(t) {
				same = b.l.And(same, b.equal(b.bits[x], b.bits[b.c.Args(u)[k]]))
			}
			roots = append(roots, b.l.Implies(same, b.equal(b.bits[t], b.bits[u])))
		}
	}
	return roots, nil
}

// model reads the values of variables and function applications.
func (b *blaster) model(g *gini.Gini) *smt.Model {
	m := &smt.Model{Vars: map[string]uint64{}, Funcs: map[string]map[string]uint64{}}
	value := func(bits []z.Lit) uint64 {
		var v uint64
		for i, l := range bits {
			if b.holds(g, l) {
				v |= 1 << i
			}
		}
		return v
	}
	for name, bits := range b.vars {
		m.Vars[name] = value(bits)
	}
	for _, t := range b.apps {
		name := b.c.Name(t)
		if m.Funcs[name] == nil {
			m.Funcs[name] = map[string]uint64{}
		}
		var args []uint64
		for _, a := range b.c.Args(t) {
			args = append(args, value(b.bits[a]))
		}
		m.Funcs[name][smt.Key(args)] = value(b.bits[t])
	}
	return m
}

// holds reads a literal of a model. Gates that no root needs are not in the solver, so gates are computed.
func (b *blaster) holds(g *gini.Gini, m z.Lit) bool {
	v := m.Var()
	val, known := b.value[v]
	if !known {
		x, y := b.l.Ins(v.Pos())
		switch {
		case v.Pos() == b.l.T || v.Neg() == b.l.T:
			val = v.Pos() == b.l.T
		case x != z.LitNull:
			val = b.holds(g, x) && b.holds(g, y)
		case v <= g.MaxVar(): // an input; one that nothing needs is 0
			val = g.Value(v.Pos())
		}
		b.value[v] = val
	}
	return val == m.IsPos()
}

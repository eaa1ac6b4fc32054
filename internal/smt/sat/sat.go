// Package sat decides queries of package smt in process, without an external program.
//
// It follows the standard reduction to SAT (Kroening and Strichman, Decision Procedures, chapter
// 6): each bit of each term becomes a node of a circuit, whose Tseitin encoding package cdcl
// solves. Uninterpreted functions are removed by Ackermann's reduction. Deviation: the functional
// consistency conditions are added lazily, only for applications that a model violates.
//
// The procedure is sound and complete for the logic of package smt. A query that exceeds the limits
// of gates or steps, or the context, is Unknown with that reason. The two limits do not depend on
// the machine or its load, so the same query gets the same answer everywhere, unless the context
// ends first.
package sat

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"heddle/internal/smt"
	"heddle/internal/smt/cdcl"
)

// DefaultGates is the default limit of circuit nodes for one query.
const DefaultGates = 4_000_000

// Solver is an smt.Solver. The zero value is ready to use. It keeps no state between queries.
type Solver struct {
	Gates int   // limit of circuit nodes for each query; 0: DefaultGates
	Steps int64 // limit of search steps for each query, as cdcl counts them; 0: none
}

// circuits are those of earlier queries, for their memory: to grow it anew takes half the time of
// an encoding.
var circuits = &sync.Pool{New: func() any { return newCircuit() }}

// Name returns "embedded".
func (s *Solver) Name() string { return "embedded" }

// Solve decides asserts together with the ranges of their variables.
func (s *Solver) Solve(ctx context.Context, c *smt.Context, asserts []smt.Term) smt.Answer {
	l := circuits.Get().(*circuit)
	defer func() {
		l.reset()
		circuits.Put(l)
	}()
	b := &blaster{c: c, l: l, limit: s.Gates, ctx: ctx, bits: map[smt.Term][]lit{},
		vars: map[string][]lit{}}
	if b.limit == 0 {
		b.limit = DefaultGates
	}
	if err := b.query(asserts); err != nil {
		return smt.Answer{Reason: err.Error()}
	}
	status := b.search(s.Steps)
	a := smt.Answer{Steps: b.l.s.Steps() + int64(b.l.size())}
	switch {
	case status == cdcl.Sat:
		a.Status, a.Model = smt.Sat, b.model()
	case status == cdcl.Unsat:
		a.Status = smt.Unsat
	case b.within() != nil:
		a.Reason = b.within().Error()
	default:
		a.Reason = fmt.Sprintf("undecided after %d steps", s.Steps)
	}
	return a
}

// errGates reports a circuit with more nodes than the limit.
type errGates int

// Error names the limit.
func (e errGates) Error() string {
	return fmt.Sprintf("the circuit has more than %d gates", int(e))
}

// blaster turns terms into lists of nodes, lowest bit first. A Boolean has one node.
type blaster struct {
	c     *smt.Context
	l     *circuit
	ctx   context.Context
	limit int
	bits  map[smt.Term][]lit
	vars  map[string][]lit
	apps  []smt.Term
}

// query adds clauses to the solver that are satisfiable exactly if asserts are, apart from
// functional consistency, which repair adds.
func (b *blaster) query(asserts []smt.Term) error {
	all := append(b.c.Ranges(asserts), asserts...)
	var err error
	b.c.Visit(all, func(t smt.Term) {
		if err == nil {
			err = b.within()
		}
		if err == nil {
			b.bits[t] = b.blast(t)
		}
	})
	if err != nil {
		return err
	}
	for _, a := range all {
		b.require(b.bits[a][0])
	}
	return nil
}

// require adds the clause that a node is true.
func (b *blaster) require(m lit) { b.l.s.Add(b.l.literal(m)) }

// within returns an error if a limit has been reached.
func (b *blaster) within() error {
	switch {
	case b.ctx.Err() != nil:
		return fmt.Errorf("out of time")
	case b.l.size() > b.limit:
		return errGates(b.limit)
	}
	return nil
}

// search solves repeatedly, adding the consistency conditions that the model violates, until none
// is violated. Most conditions are never needed. steps limits all searches together.
func (b *blaster) search(steps int64) cdcl.Status {
	limits := cdcl.Limits{Steps: steps, Stop: func() bool { return b.within() != nil }}
	for {
		status := b.l.s.Solve(limits)
		if status != cdcl.Sat || !b.repair() {
			return status
		}
		if limits.Stop() || steps > 0 && b.l.s.Steps() >= steps {
			return cdcl.Unknown
		}
		if steps > 0 {
			limits.Steps = steps - b.l.s.Steps()
		}
	}
}

// repair finds applications of the same function for which the model has equal arguments and
// different results, adds the condition that equal arguments give equal results, and reports
// whether it found any.
func (b *blaster) repair() bool {
	b.l.values = nil
	first := map[string]smt.Term{} // the first application by function and argument values
	broken := false
	for _, t := range b.apps {
		key := []byte(b.c.Name(t))
		for _, x := range b.c.Args(t) {
			key = binary.LittleEndian.AppendUint64(append(key, 0), b.value(b.bits[x]))
		}
		u, found := first[string(key)]
		if !found {
			first[string(key)] = t
			continue
		}
		if b.value(b.bits[t]) == b.value(b.bits[u]) {
			continue
		}
		// The condition is valid for every model, so it can be added to the query for good.
		broken = true
		same := yes
		for k, x := range b.c.Args(t) {
			same = b.l.and(same, b.equal(b.bits[x], b.bits[b.c.Args(u)[k]]))
		}
		b.require(b.l.implies(same, b.equal(b.bits[t], b.bits[u])))
	}
	return broken
}

// value returns the value of a list of bits in the model of the solver.
func (b *blaster) value(bits []lit) uint64 {
	var v uint64
	for i, l := range bits {
		if b.l.holds(l) {
			v |= 1 << i
		}
	}
	return v
}

// model returns the values of variables and function applications in the model of the solver.
func (b *blaster) model() *smt.Model {
	m := &smt.Model{Vars: map[string]uint64{}, Funcs: map[string]map[string]uint64{}}
	for name, bits := range b.vars {
		m.Vars[name] = b.value(bits)
	}
	for _, t := range b.apps {
		name := b.c.Name(t)
		if m.Funcs[name] == nil {
			m.Funcs[name] = map[string]uint64{}
		}
		var args []uint64
		for _, a := range b.c.Args(t) {
			args = append(args, b.value(b.bits[a]))
		}
		m.Funcs[name][smt.Key(args)] = b.value(b.bits[t])
	}
	return m
}

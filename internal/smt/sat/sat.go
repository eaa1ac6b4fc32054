// Package sat decides queries of package smt in process, by bit-blasting: each bit of each term becomes a node of a
// circuit, whose clauses package cdcl solves. Uninterpreted functions are removed by Ackermann's reduction. Nothing has to
// be installed for it.
//
// It is complete for the logic of package smt; what it gives up is time: a query that does not fall within the limits of
// gates and steps, or before the context ends, is Unknown, with that reason. Both limits are numbers that do not depend
// on the machine or its load, so that the same query gets the same answer everywhere.
package sat

import (
	"context"
	"encoding/binary"
	"fmt"

	"heddle/internal/smt"
	"heddle/internal/smt/cdcl"
)

// DefaultGates bounds the circuit of one query.
const DefaultGates = 4_000_000

// Solver is a smt.Solver. The zero value is ready.
type Solver struct {
	Gates int   // nodes of the circuit allowed; 0: DefaultGates
	Steps int64 // of the search for each query, as cdcl counts them; 0: no limit
}

// Name returns "embedded".
func (s *Solver) Name() string { return "embedded" }

// Solve decides asserts, with the ranges of their variables.
func (s *Solver) Solve(ctx context.Context, c *smt.Context, asserts []smt.Term) smt.Answer {
	b := &blaster{c: c, l: newCircuit(), limit: s.Gates, ctx: ctx, bits: map[smt.Term][]lit{}, vars: map[string][]lit{}}
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

// errGates says that a circuit grew beyond the limit.
type errGates int

func (e errGates) Error() string { return fmt.Sprintf("the circuit has more than %d gates", int(e)) }

// blaster turns terms into nodes, bit 0 first. A Boolean has one.
type blaster struct {
	c     *smt.Context
	l     *circuit
	ctx   context.Context
	limit int
	bits  map[smt.Term][]lit
	vars  map[string][]lit
	apps  []smt.Term
}

// query gives the solver clauses that have a model where asserts have one.
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

func (b *blaster) require(m lit) { b.l.s.Add(b.l.literal(m)) }

// within reports that a limit is reached.
func (b *blaster) within() error {
	switch {
	case b.ctx.Err() != nil:
		return fmt.Errorf("out of time")
	case b.l.size() > b.limit:
		return errGates(b.limit)
	}
	return nil
}

// search solves, and adds of Ackermann's conditions those that a model breaks, until none is broken: most are never needed.
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

// repair requires of the applications for which the model has equal arguments and different results that equal arguments
// give equal results, and reports whether there were any.
func (b *blaster) repair() bool {
	b.l.values = nil
	first := map[string]smt.Term{} // by function and arguments
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
		broken = true
		same := yes
		for k, x := range b.c.Args(t) {
			same = b.l.and(same, b.equal(b.bits[x], b.bits[b.c.Args(u)[k]]))
		}
		b.require(b.l.implies(same, b.equal(b.bits[t], b.bits[u])))
	}
	return broken
}

// value reads a term in the model of the solver.
func (b *blaster) value(bits []lit) uint64 {
	var v uint64
	for i, l := range bits {
		if b.l.holds(l) {
			v |= 1 << i
		}
	}
	return v
}

// model reads the values of variables and function applications.
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

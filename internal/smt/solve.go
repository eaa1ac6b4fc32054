package smt

import (
	"context"
	"time"
)

// Answer is the result of a query.
type Answer struct {
	Status Status        // the zero value is Unknown
	Model  *Model        // if Sat; nil if the solver provides none
	Reason string        // if Unknown: why, for people
	By     string        // who decided: "simplifier" or a solver's name
	Time   time.Duration // of the solvers, wall clock
	// Steps is the work of the solvers, independent of the machine's load. Solver processes report it
	// only when they give up.
	Steps  int64
	Cached bool // from memory or a store
}

// Solver decides conjunctions. It need not be safe for concurrent use.
type Solver interface {
	// Name identifies the solver in answers and statistics.
	Name() string
	// Solve decides whether a model of all asserts exists. It may build terms in c for the ranges of
	// variables, so no other goroutine may use c during the call. It returns Unknown with a reason
	// when ctx is done or a limit is reached.
	Solve(ctx context.Context, c *Context, asserts []Term) Answer
}

// Decide answers whether asserts have a model: first by the simplifier, then by the solvers in
// order, until one decides. A model is accepted only if it satisfies the original query.
func (c *Context) Decide(ctx context.Context, asserts []Term, solvers ...Solver) Answer {
	r := c.Reduce(asserts)
	if r.Status != Unknown {
		return Answer{Status: r.Status, Model: r.Model, By: "simplifier"}
	}
	return r.Answer(asserts, ask(ctx, c, r.Asserts, solvers))
}

// Answer converts an answer for r.Asserts to one for the original query, asserts. A model that does
// not satisfy it makes the answer Unknown.
func (r *Reduced) Answer(asserts []Term, a Answer) Answer {
	if a.Status != Sat {
		return a
	}
	r.Complete(a.Model)
	if !r.c.Satisfies(a.Model, asserts) {
		return Answer{Reason: a.By + ": its model does not satisfy the query", Time: a.Time}
	}
	return a
}

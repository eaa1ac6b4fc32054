package smt

import (
	"context"
	"time"
)

// Answer is what is known of a query.
type Answer struct {
	Status Status
	Model  *Model        // if Sat; nil from a solver that gives none
	Reason string        // if Unknown: why
	By     string        // who decided: "simplifier" or a solver's name
	Time   time.Duration // that solvers took
	Steps  int64         // that it took: a measure of work that no machine's load changes; of a process, if it gave up
	Cached bool          // it was known from before
}

// Solver decides conjunctions. It makes terms of c at most for the ranges of variables, so that nobody else may use c
// meanwhile. A Solver need not be safe for concurrent use.
type Solver interface {
	Name() string
	Solve(ctx context.Context, c *Context, asserts []Term) Answer
}

// Decide answers whether asserts have a model: by the simplifier, else by the solvers in their order, until
// one knows. A model is believed only if it satisfies the query as it was asked.
func (c *Context) Decide(ctx context.Context, asserts []Term, solvers ...Solver) Answer {
	r := c.Reduce(asserts)
	if r.Status != Unknown {
		return Answer{Status: r.Status, Model: r.Model, By: "simplifier"}
	}
	return r.Answer(asserts, ask(ctx, c, r.Asserts, solvers))
}

// Answer turns the answer to r.Asserts into one to the query that r came from.
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

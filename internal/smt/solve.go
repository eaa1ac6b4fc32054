package smt

import "context"

// Answer is what a solver says of a query.
type Answer struct {
	Status Status
	Model  *Model // if Sat; nil from a solver that gives none
	Reason string // if Unknown: why
	By     string // who decided: "simplifier" or a solver's name
}

// Solver decides conjunctions. It must not make terms of c. A Solver need not be safe for concurrent use.
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
	reasons := "no solver"
	for i, s := range solvers {
		a := s.Solve(ctx, c, r.Asserts)
		a.By = s.Name()
		if a.Status == Sat && a.Model != nil {
			r.Complete(a.Model)
			if !c.Satisfies(a.Model, asserts) {
				a = Answer{Reason: "its model does not satisfy the query", By: s.Name()}
			}
		}
		if a.Status != Unknown {
			return a
		}
		if i == 0 {
			reasons = ""
		} else {
			reasons += "; "
		}
		reasons += s.Name() + ": " + a.Reason
	}
	return Answer{Reason: reasons}
}

package invariant

import (
	"context"

	"heddle/internal/lockstep"
	"heddle/internal/smt"
)

// FindUntraced is Find without traces.
func FindUntraced(ctx context.Context, th *lockstep.Thread, solvers []smt.Solver) *Set {
	return newHoudini(ctx, th, solvers, MaxSteps).find()
}

// What a trace chooses values from.
var (
	Pick    = pick
	Numbers = numbers
)

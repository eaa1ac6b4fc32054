package trace

import (
	"context"
	"fmt"

	"heddle/internal/diag"
)

// Kernels whose clusters cancel others that have not started, and do their work
// (clusterlaunchcontrol.try_cancel). How many requests of a cluster succeed is a matter of the
// schedule of the grid: at most as many as the grid has other clusters. A cluster is traced for
// each number; a block without one is its own (docs/theory/phases.md, "Requests to cancel a cluster").

// tileSteps are the warp instructions of the traces for all numbers together, some seconds.
const tileSteps = 1 << 24

// cannotCancel is the verdict on a kernel whose requests a trace does not cover; nil if it does.
func (t *tracer) cannotCancel() *diag.Verdict {
	why := ""
	switch {
	case !t.slice.Cancels:
		return nil
	case t.run.Config.Origins["grid"].Guessed():
		why = "how many " + t.canceled() + " may be canceled depends on the grid, which the launch does " +
			"not say (--grid)"
	default:
		return nil
	}
	k := t.job.Kernel
	return &diag.Verdict{Kind: diag.Unsupported, Kernel: k.Demangled, Reason: why, Span: k.Span}
}

// canceled names what a request cancels.
func (t *tracer) canceled() string {
	if t.run.Config.Geometry.Ranks() > 1 {
		return "clusters"
	}
	return "blocks"
}

// tiles traces a block, or its cluster, for each number of others that it may cancel. It returns
// false if further blocks cannot show more.
func (t *tracer) tiles(ctx context.Context, b uint32) bool {
	if !t.slice.Cancels {
		return t.block(ctx, b)
	}
	before := t.steps
	g := t.run.Config.Geometry
	others := g.Blocks()/uint64(g.Ranks()) - 1
	for t.requests = 0; t.requests <= others; t.requests++ {
		// what is shown is the execution with one block or cluster more, as an example
		t.quiet = t.requests != min(1, others)
		switch {
		case !t.block(ctx, b) || t.run.Bugs > 0 || t.unstable != nil:
			return false
		case t.requested <= t.requests: // all of them succeeded: more cannot
			return true
		case t.steps-before > tileSteps && t.requests < others:
			k := t.job.Kernel
			t.run.Unsupported = &diag.Verdict{Kind: diag.Unsupported, Kernel: k.Demangled, Span: k.Span,
				Reason: fmt.Sprintf("traces for up to %d other %s that one cancels take too many steps, and "+
					"it may be %d of a grid of %v; a smaller --grid may be decided", t.requests, t.canceled(),
					others, g.Grid)}
			return false
		}
	}
	return true
}

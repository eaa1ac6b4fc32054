package weaken

import (
	"context"

	"heddle/internal/edit"
	"heddle/internal/source"
)

// option is one way to weaken a site.
type option struct {
	site     *site
	kind     Kind
	before   string // as reports show it
	after    string
	edits    []edit.Edit
	need     level   // that all kernels of the site keep
	gain     float64 // of one execution, as the difference of ranks
	why      []string
	assuming string
	part     *part // of kind Part
}

// The ranks of operations by their cost, to compare offers: not cycles, which depend on the device.
const (
	rankBarrier     = 8.0
	rankWarp        = 1.0
	rankSystemFence = 12.0
	rankDeviceFence = 6.0
	rankBlockFence  = 1.0
	rankSystem      = 4.0 // of the scope of an atomic operation
	rankDevice      = 2.0
	rankBlock       = 1.0
	rankSeqCst      = 6.0
	rankAcqRel      = 3.0
	rankHalf        = 2.0 // acquire or release
)

// options returns what may replace a call, the largest gain first, or why nothing may.
func (w *weakener) options(ctx context.Context, s *site) ([]*option, string, error) {
	switch why := w.elsewhere(s); {
	case why != "":
		return nil, why, nil
	case s.name == "__syncthreads":
		return w.barrier(ctx, s)
	case fenceRanks[s.name] > 0:
		return w.fence(ctx, s)
	case scoped(s.name) != "":
		return w.scope(ctx, s)
	default:
		return w.order(ctx, s)
	}
}

// replace is the edit of a range of the user's file.
func (w *weakener) replace(from, to int, text string) edit.Edit {
	return edit.Edit{Span: source.Span{Start: w.pos(from), End: w.pos(to)}, New: text}
}

// remove is the edit that removes a statement: with its line if nothing else is in it. A statement
// that another one needs, as the body of a condition, becomes an empty one.
func (w *weakener) remove(s *site, end int, free bool) edit.Edit {
	if !free {
		return w.replace(s.offset, s.end, "(void)0")
	}
	text, from, to := w.user.Content, s.offset, end
	for from > 0 && (text[from-1] == ' ' || text[from-1] == '\t') {
		from--
	}
	if from > 0 && text[from-1] == '\n' && to < len(text) && text[to] == '\n' {
		return w.replace(from, to+1, "")
	}
	return w.replace(s.offset, end, "")
}

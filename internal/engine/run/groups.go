package run

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/event"
	"heddle/internal/race"
)

// groups lists, warp by warp, where the threads of a block wait and which have exited, for the
// table in reports. A group without a position has exited. It is nil for kinds of errors in which
// no thread is stuck.
func (r *Run) groups(be *race.BarrierError) []diag.Group {
	switch be.Kind {
	case race.Divergence, race.Deadlock, race.WarpSyncHang:
	default:
		return nil
	}
	var out []diag.Group
	for _, w := range inOrder(be.Groups) {
		at := fmt.Sprintf("barrier %d", w.Barrier)
		switch {
		case w.WarpBar:
			at = fmt.Sprintf("for lanes 0x%08x", w.Members)
		case w.Count != 0:
			at += fmt.Sprintf(", for %d threads", w.Count)
		}
		span, _ := r.userPlace(r.Machine.Site(w.Site))
		out = append(out, diag.Group{Threads: r.warpText(w.Warp, w.Mask), At: at, Span: span})
	}
	for _, x := range be.Exited {
		out = append(out, diag.Group{Threads: r.warpText(x.Warp, x.Mask)})
	}
	return out
}

// inOrder returns groups of threads in the order of their warps and lanes.
func inOrder(groups []event.Wait) []event.Wait {
	return slices.SortedStableFunc(slices.Values(groups), func(a, b event.Wait) int {
		return cmp.Or(cmp.Compare(a.Warp, b.Warp),
			cmp.Compare(bits.TrailingZeros32(a.Mask), bits.TrailingZeros32(b.Mask)))
	})
}

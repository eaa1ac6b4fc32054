package run

import (
	"fmt"

	"heddle/internal/diag"
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
	for _, w := range be.Groups {
		at := fmt.Sprintf("barrier %d", w.Barrier)
		switch {
		case w.WarpBar:
			at = fmt.Sprintf("for lanes 0x%08x", w.Members)
		case w.Count != 0:
			at += fmt.Sprintf(", for %d threads", w.Count)
		}
		span := place(r.Machine.Site(w.Site))
		out = append(out, diag.Group{Threads: r.warpText(w.Warp, w.Mask), At: at, Span: span})
	}
	for _, x := range be.Exited {
		out = append(out, diag.Group{Threads: r.warpText(x.Warp, x.Mask)})
	}
	return out
}

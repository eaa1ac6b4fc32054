package run

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/race"
)

// Which threads wait for which in a deadlock. A run does not show what threads that wait for ever
// would have done, so this reads the code: a barrier waits for the warps that can reach it from
// where they wait, and those warps wait at barriers themselves. If that leads back to the start, it
// is the cycle. A path that no thread can take counts as one, so a note may name a warp that would
// never arrive.

// deadlockNotes describes each barrier at which threads wait: how many threads it counts, and for
// which warps it waits.
func (r *Run) deadlockNotes(be *race.BarrierError) []string {
	g := r.Config.Geometry
	arrived := make(map[uint8]uint32) // threads at each barrier
	count := make(map[uint8]uint32)
	at := make(map[uint32]event.Wait) // by warp of the block
	var ids []uint8
	for _, w := range be.Groups {
		if w.WarpBar {
			continue
		}
		if arrived[w.Barrier] == 0 {
			ids = append(ids, w.Barrier)
		}
		arrived[w.Barrier] += uint32(bits.OnesCount32(w.Mask))
		count[w.Barrier] = w.Count
		at[uint32(w.Warp)%uint32(g.WarpsPerBlock())] = w
	}
	slices.Sort(ids)
	var notes []string
	for _, id := range ids {
		n := count[id]
		if n == 0 {
			continue
		}
		if all := uint32(g.ThreadsPerBlock()); n > all {
			notes = append(notes, fmt.Sprintf("barrier %d expects %d threads, but the block has only %d",
				id, n, all))
			continue
		}
		var missing []string
		for warp := range uint32(g.WarpsPerBlock()) {
			if w, ok := at[warp]; ok && w.Barrier != id && r.reachesBarrier(w.Site, id) {
				missing = append(missing, fmt.Sprintf("warp %d, which waits at barrier %d", warp, w.Barrier))
			}
		}
		if len(missing) > 4 {
			missing = append(missing[:4], fmt.Sprintf("%d more warps", len(missing)-4))
		}
		switch {
		case len(missing) > 0:
			notes = append(notes, fmt.Sprintf("barrier %d waits for %s",
				id, strings.Join(missing, ", and for ")))
		default:
			notes = append(notes, fmt.Sprintf("barrier %d expects %d threads, and no remaining thread "+
				"can reach it", id, n))
		}
	}
	return notes
}

// reachesBarrier reports whether the code after a site may reach barrier id.
func (r *Run) reachesBarrier(site event.Site, id uint8) bool {
	from := r.Machine.Site(site).Instr
	fn := r.Job.Kernel
	for _, b := range fn.Blocks {
		for i, in := range b.Instrs {
			if in == from {
				return reaches(fn, b, i+1, id)
			}
		}
	}
	return false // it waits in a function that was called
}

func reaches(fn *ir.Func, b *ir.Block, from int, id uint8) bool {
	seen := make([]bool, len(fn.Blocks))
	if names(b.Instrs[from:], id) {
		return true
	}
	work := append([]ir.BlockID(nil), b.Succs...)
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		if names(fn.Blocks[at].Instrs, id) {
			return true
		}
		work = append(work, fn.Blocks[at].Succs...)
	}
	return false
}

// names reports whether instructions name barrier id. A number in a register may be any.
func names(list []*ir.Instr, id uint8) bool {
	for _, in := range list {
		b, ok := in.NumberedBarrier()
		if ok && b.ID != nil && (b.ID.Kind != ir.Imm || b.ID.Val == uint64(id)) {
			return true
		}
	}
	return false
}

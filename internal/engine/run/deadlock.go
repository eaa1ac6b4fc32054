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

// Which threads wait for which in a deadlock. A run does not show what the blocked threads would
// have done next, so this file reads the control-flow graph: a barrier waits for every warp that is
// blocked elsewhere and can reach the barrier from there. Followed from barrier to barrier, the
// notes show the cycle. The search follows all edges of the graph, feasible or not, so a note may
// name a warp that would never arrive. It affects the text of the report only, never the verdict.

// deadlockNotes describes, in order of barrier number, each barrier at which threads wait: how many
// threads it expects, or which warps it waits for. Barriers without an explicit count and warp
// barriers get no note.
func (r *Run) deadlockNotes(be *race.BarrierError) []string {
	g := r.Config.Geometry
	arrived := make(map[uint8]uint32) // number of arrivals at each barrier
	count := make(map[uint8]uint32)   // threads that each barrier expects; 0: the whole block
	at := make(map[uint32]event.Wait) // where each warp waits, by its index in the block
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
	for _, a := range be.Arrived {
		for _, w := range a.Groups {
			arrived[a.Barrier] += uint32(bits.OnesCount32(w.Mask))
		}
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
		// four warps are enough to see the pattern; a block has up to 32
		if len(missing) > 4 {
			missing = append(missing[:4], fmt.Sprintf("%d more warps", len(missing)-4))
		}
		switch {
		case len(missing) > 0:
			notes = append(notes, fmt.Sprintf("barrier %d has %d of %d threads and waits for %s",
				id, arrived[id], n, strings.Join(missing, ", and for ")))
		default:
			notes = append(notes, fmt.Sprintf("barrier %d has %d of %d threads, and no remaining thread "+
				"can reach it", id, arrived[id], n))
		}
	}
	return notes
}

// reachesBarrier reports whether the code after a site of the kernel may reach barrier id. It does
// not look into called functions, and it is false for a site inside one: a note is then missing.
func (r *Run) reachesBarrier(site event.Site, id uint8) bool {
	from := r.Machine.Site(site).Instr
	fn := r.Job.Kernel
	b := blockWith(fn, from) // nil: the site is in a called function
	return b != nil && reaches(fn, b, slices.Index(b.Instrs, from)+1, id)
}

// reaches reports whether barrier id occurs in the instructions of b from index from on, or in any
// block reachable from b.
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

// names reports whether one of the instructions uses barrier id. A barrier number in a register may
// be any number, so it counts as a use.
func names(list []*ir.Instr, id uint8) bool {
	for _, in := range list {
		b, ok := in.NumberedBarrier()
		if ok && b.ID != nil && (b.ID.Kind != ir.Imm || b.ID.Val == uint64(id)) {
			return true
		}
	}
	return false
}

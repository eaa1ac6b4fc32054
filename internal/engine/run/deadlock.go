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

// absent is a warp that a barrier waits for.
type absent struct {
	warp    uint32     // in its block
	at      event.Wait // where it waits instead
	arrival *ir.Instr  // by which it would arrive at the barrier
}

// awaited is a barrier with a count at which threads of a deadlock wait.
type awaited struct {
	barrier        uint8
	arrived, count uint32 // threads
	missing        []absent
}

// awaited lists, in order of barrier number, the barriers with a count at which threads wait.
// Barriers without a count and warp barriers are left out.
func (r *Run) awaited(be *race.BarrierError) []awaited {
	g := r.Config.Geometry
	at := make(map[uint32]event.Wait) // where each warp waits, by its index in the block
	var list []awaited
	for _, w := range be.Groups {
		if w.WarpBar {
			continue
		}
		at[uint32(w.Warp)%uint32(g.WarpsPerBlock())] = w
		i := slices.IndexFunc(list, func(a awaited) bool { return a.barrier == w.Barrier })
		if i < 0 {
			i = len(list)
			list = append(list, awaited{barrier: w.Barrier, count: w.Count})
		}
		list[i].arrived += uint32(bits.OnesCount32(w.Mask))
	}
	for i := range list {
		a := &list[i]
		for _, other := range be.Arrived {
			for _, w := range other.Groups {
				if other.Barrier == a.barrier {
					a.arrived += uint32(bits.OnesCount32(w.Mask))
				}
			}
		}
		for warp := range uint32(g.WarpsPerBlock()) {
			w, ok := at[warp]
			if !ok || w.Barrier == a.barrier {
				continue
			}
			if in := r.nextAt(w.Site, a.barrier); in != nil {
				a.missing = append(a.missing, absent{warp, w, in})
			}
		}
	}
	list = slices.DeleteFunc(list, func(a awaited) bool { return a.count == 0 })
	slices.SortFunc(list, func(a, b awaited) int { return int(a.barrier) - int(b.barrier) })
	return list
}

// deadlockNotes describes each barrier at which threads wait: how many threads it expects, or which
// warps it waits for.
func (r *Run) deadlockNotes(be *race.BarrierError) []string {
	var notes []string
	for _, a := range r.awaited(be) {
		if all := uint32(r.Config.Geometry.ThreadsPerBlock()); a.count > all {
			notes = append(notes, fmt.Sprintf("barrier %d expects %d threads, but the block has only %d",
				a.barrier, a.count, all))
			continue
		}
		var missing []string
		for _, m := range a.missing {
			missing = append(missing, fmt.Sprintf("warp %d, which waits at barrier %d", m.warp, m.at.Barrier))
		}
		// four warps are enough to see the pattern; a block has up to 32
		if len(missing) > 4 {
			missing = append(missing[:4], fmt.Sprintf("%d more warps", len(missing)-4))
		}
		switch {
		case len(missing) > 0:
			notes = append(notes, fmt.Sprintf("barrier %d has %d of %d threads and waits for %s",
				a.barrier, a.arrived, a.count, strings.Join(missing, ", and for ")))
		default:
			notes = append(notes, fmt.Sprintf("barrier %d has %d of %d threads, and no remaining thread "+
				"can reach it", a.barrier, a.arrived, a.count))
		}
	}
	return notes
}

// nextAt returns an instruction that uses barrier id in the code after a site of the kernel; nil if
// there is none. It does not look into called functions, and finds nothing from a site inside one:
// a note is then missing.
func (r *Run) nextAt(site event.Site, id uint8) *ir.Instr {
	from := r.Machine.Site(site).Instr
	fn := r.Job.Kernel
	b := blockWith(fn, from) // nil: the site is in a called function
	if b == nil {
		return nil
	}
	return reached(fn, b, slices.Index(b.Instrs, from)+1, id)
}

// reached returns the first instruction with barrier id in the instructions of b from index from
// on, or else in a block that is reachable from b, the nearest first; nil if there is none.
func reached(fn *ir.Func, b *ir.Block, from int, id uint8) *ir.Instr {
	seen := make([]bool, len(fn.Blocks))
	if in := naming(b.Instrs[from:], id); in != nil {
		return in
	}
	for work := slices.Clone(b.Succs); len(work) > 0; work = work[1:] {
		at := work[0]
		if seen[at] {
			continue
		}
		seen[at] = true
		if in := naming(fn.Blocks[at].Instrs, id); in != nil {
			return in
		}
		work = append(work, fn.Blocks[at].Succs...)
	}
	return nil
}

// naming returns the first of the instructions that uses barrier id; nil if none does. A barrier
// number in a register may be any number, so it counts as a use.
func naming(list []*ir.Instr, id uint8) *ir.Instr {
	for _, in := range list {
		b, ok := in.NumberedBarrier()
		if ok && b.ID != nil && (b.ID.Kind != ir.Imm || b.ID.Val == uint64(id)) {
			return in
		}
	}
	return nil
}

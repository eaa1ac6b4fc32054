package repair

import (
	"slices"

	"heddle/internal/ir"
)

// cut is a place in a block that all threads of the region must reach.
type cut struct {
	index   int
	barrier *ir.Instr // the kernel's barrier that the stable block replaces, or nil
}

// region is a single-entry single-exit part of the control flow that all threads of a block enter
// and leave together: what lies between the basic predecessor and the basic successor (section
// IV.A, Algorithm 3).
type region struct {
	entry ir.BlockID // ends with the branch into the region; not in it
	exit  ir.BlockID // not in it; NoBlock: the end of the kernel
	in    set
	cuts  map[ir.BlockID][]cut // by index
}

// regions finds the smallest disjoint regions around the cuts. more returns further cuts of a
// region: its other barriers, since none may remain where only some threads arrive.
func (w *flow) regions(
	cuts map[ir.BlockID][]cut, more func(r *region) map[ir.BlockID][]cut,
) ([]*region, error) {
	var out []*region
	for _, b := range w.rpo {
		if len(cuts[b]) == 0 || slices.ContainsFunc(out, func(r *region) bool { return r.in.has(b) }) {
			continue
		}
		blocks := []ir.BlockID{b}
		for again := true; again; {
			again = false
			r := w.around(blocks)
			if r == nil {
				return nil, unsupported(firstOf(w.f.Block(b)), "no part of the control flow "+
					"around this place has one entry and one exit that all threads reach")
			}
			for i, o := range out {
				if o.overlaps(r) {
					for c := range o.cuts {
						blocks = append(blocks, c)
					}
					out = slices.Delete(out, i, i+1)
					again = true
					break
				}
			}
			if !again {
				out = append(out, r)
			}
		}
	}
	for _, r := range out {
		r.cuts = map[ir.BlockID][]cut{}
		for b, cs := range more(r) {
			r.cuts[b] = append(r.cuts[b], cs...)
		}
		for b, cs := range cuts {
			if r.in.has(b) {
				r.cuts[b] = append(r.cuts[b], cs...)
			}
		}
		for _, cs := range r.cuts {
			slices.SortFunc(cs, func(a, b cut) int { return a.index - b.index })
		}
		if err := w.reducible(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Regions that share a block, or of which one contains the entry of the other, are merged: threads
// cannot be held back by two sets of stable blocks at once.
func (r *region) overlaps(o *region) bool {
	for i := range r.in {
		if r.in[i]&o.in[i] != 0 {
			return true
		}
	}
	return r.in.has(o.entry) || o.in.has(r.entry)
}

// around returns the smallest region that contains the blocks, or nil. Candidates for the entry are
// the dominators of the blocks, from the nearest, and for the exit their common postdominators,
// from the earliest; both must be reached by all threads. The first pair that delimits a region is
// the smallest one for that entry.
func (w *flow) around(blocks []ir.BlockID) *region {
	after := w.post[blocks[0]].clone()
	for _, b := range blocks[1:] {
		after.intersect(w.post[b])
	}
	exits := []ir.BlockID{}
	for i := range w.f.Blocks {
		if s := ir.BlockID(i); after.has(s) && w.uniform[s] && !slices.Contains(blocks, s) {
			exits = append(exits, s)
		}
	}
	// An earlier exit is postdominated by the later ones.
	slices.SortFunc(exits, func(a, b ir.BlockID) int { return w.post[b].len() - w.post[a].len() })
	exits = append(exits, ir.NoBlock)
	for e := blocks[0]; e != ir.NoBlock; e = w.dom.IDom(e) {
		outside := func(b ir.BlockID) bool { return !w.dom.Dominates(e, b) }
		if !w.uniform[e] || slices.Contains(blocks, e) || slices.ContainsFunc(blocks, outside) {
			continue
		}
		for _, s := range exits {
			if r := w.between(e, s, blocks); r != nil {
				return r
			}
		}
	}
	return nil
}

// between returns the region with an entry and an exit, or nil if they delimit none or it lacks one
// of the blocks. Blocks are collected forwards from the entry. No edge may enter the region except
// from its entry, and none may leave it except to its exit or to a trap.
func (w *flow) between(entry, exit ir.BlockID, blocks []ir.BlockID) *region {
	if entry == exit {
		return nil
	}
	r := &region{entry: entry, exit: exit, in: newSet(len(w.f.Blocks))}
	work := slices.Clone(w.f.Block(entry).Succs)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b == exit || r.in.has(b) {
			continue
		}
		if b == entry || exit != ir.NoBlock && w.leaves[b] && !w.post[b].has(exit) {
			return nil
		}
		r.in.add(b)
		work = append(work, w.f.Block(b).Succs...)
	}
	for i := range w.f.Blocks {
		b := ir.BlockID(i)
		if !r.in.has(b) {
			continue
		}
		for _, p := range w.f.Block(b).Preds {
			if !r.in.has(p) && p != entry && w.dom.Dominates(0, p) {
				return nil
			}
		}
	}
	if slices.ContainsFunc(blocks, func(b ir.BlockID) bool { return !r.in.has(b) }) {
		return nil
	}
	if t := w.f.Block(entry).Terminator(); t != nil && ends(w.f.Block(entry)) && exit != ir.NoBlock {
		return nil // threads that exit here never reach the region's exit
	}
	return r
}

// reducible rejects a cycle in the region that is not a natural loop. Groups are natural loops, so
// a cycle with several entries has no header at which an iteration could begin.
func (w *flow) reducible(r *region) error {
	if w.loops.Reducible {
		return nil
	}
	state := make([]uint8, len(w.f.Blocks)) // 1: on the current path, 2: done
	var bad *ir.Block
	var visit func(b ir.BlockID)
	visit = func(b ir.BlockID) {
		state[b] = 1
		for _, s := range w.f.Block(b).Succs {
			switch {
			case !r.in.has(s) || w.dom.Dominates(s, b):
			case state[s] == 1:
				bad = w.f.Block(s)
			case state[s] == 0:
				visit(s)
			}
		}
		state[b] = 2
	}
	for _, s := range w.f.Block(r.entry).Succs {
		if r.in.has(s) && state[s] == 0 {
			visit(s)
		}
	}
	if bad != nil {
		return unsupported(firstOf(bad),
			"a loop with several entries has no iteration that all threads can start together")
	}
	return nil
}

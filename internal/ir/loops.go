package ir

import "slices"

// This file finds natural loops and decides reducibility (Aho, Lam, Sethi, Ullman: Compilers, 9.6). A back edge is an edge
// whose target dominates its source; the natural loops of one header are merged. A function is
// reducible if every cycle that the entry reaches contains a back edge; cycles of an irreducible
// function that do not are in no Loop.

// Loop is a natural loop.
type Loop struct {
	Header  BlockID
	Latches []BlockID // sources of the back edges, ascending
	Blocks  []BlockID // ascending, header included
	Parent  *Loop     // the innermost loop around it, or nil
	Depth   int       // 1 for an outermost loop
}

// Contains reports whether b is in the loop.
func (l *Loop) Contains(b BlockID) bool {
	_, ok := slices.BinarySearch(l.Blocks, b)
	return ok
}

// LoopForest is what FindLoops finds.
type LoopForest struct {
	Loops     []*Loop // an outer loop comes before those in it
	Of        []*Loop // for each block its innermost loop, or nil
	Reducible bool
}

// FindLoops returns the natural loops of f. Blocks that the entry does not reach are in none.
func FindLoops(f *Func, dom *DomTree) *LoopForest {
	lf := &LoopForest{Of: make([]*Loop, len(f.Blocks))}
	rpo := ReversePostorder(f)
	forward := make(graph, len(f.Blocks)) // without back edges
	byHeader := make(map[BlockID]*Loop)
	for _, u := range rpo {
		for _, h := range f.Blocks[u].Succs {
			if !dom.Dominates(h, u) {
				forward[u] = append(forward[u], int32(h))
				continue
			}
			l := byHeader[h]
			if l == nil {
				l = &Loop{Header: h}
				byHeader[h] = l
			}
			if !slices.Contains(l.Latches, u) {
				l.Latches = append(l.Latches, u)
			}
		}
	}
	for _, h := range rpo { // an outer header dominates an inner one, so it comes first
		l := byHeader[h]
		if l == nil {
			continue
		}
		lf.Loops = append(lf.Loops, l)
		l.Blocks = naturalLoop(f, dom, l)
		slices.Sort(l.Latches)
		if l.Parent = lf.Of[h]; l.Parent != nil {
			l.Depth = l.Parent.Depth
		}
		l.Depth++
		for _, b := range l.Blocks {
			lf.Of[b] = l
		}
	}
	lf.Reducible = acyclic(forward, rpo)
	return lf
}

// Order returns the blocks of f that the entry reaches, in reverse postorder but with the blocks of
// each loop next to each other: each block comes before its successors, back edges excepted, and
// what follows a loop comes after all of it. In a plain reverse postorder an exit of a loop may come
// before a block of the loop, which a thread executes earlier.
//
// This is the sort order of Collingbourne et al. (ESOP 2013), section 4: the place of a loop among
// what surrounds it is that of its header. f must be reducible.
func (lf *LoopForest) Order(f *Func) []BlockID {
	// of a loop, or nil: its own blocks and the headers of the loops in it
	items := map[*Loop][]BlockID{}
	rpo := ReversePostorder(f)
	for _, b := range rpo {
		l := lf.Of[b]
		if l != nil && l.Header == b {
			items[l.Parent] = append(items[l.Parent], b)
		}
		items[l] = append(items[l], b)
	}
	out := rpo[:0]
	var place func(l *Loop)
	place = func(l *Loop) {
		for _, b := range items[l] {
			if inner := lf.Of[b]; inner != l {
				place(inner)
			} else {
				out = append(out, b)
			}
		}
	}
	place(nil)
	return out
}

// naturalLoop returns the header and all blocks that reach a latch without passing the header.
func naturalLoop(f *Func, dom *DomTree, l *Loop) []BlockID {
	in := map[BlockID]bool{l.Header: true}
	blocks := []BlockID{l.Header}
	add := func(b BlockID) {
		if !in[b] && dom.Dominates(l.Header, b) { // an unreachable predecessor is dominated by none
			in[b] = true
			blocks = append(blocks, b)
		}
	}
	for _, b := range l.Latches {
		add(b)
	}
	for i := 1; i < len(blocks); i++ {
		for _, p := range f.Blocks[blocks[i]].Preds {
			add(p)
		}
	}
	slices.Sort(blocks)
	return blocks
}

// acyclic reports whether the part of g that holds nodes has no cycle, by removing nodes without
// predecessors until none is left.
func acyclic(g graph, nodes []BlockID) bool {
	indegree := make([]int, len(g))
	for _, u := range nodes {
		for _, v := range g[u] {
			indegree[v]++
		}
	}
	var ready []int32
	for _, u := range nodes {
		if indegree[u] == 0 {
			ready = append(ready, int32(u))
		}
	}
	removed := 0
	for len(ready) > 0 {
		u := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		removed++
		for _, v := range g[u] {
			if indegree[v]--; indegree[v] == 0 {
				ready = append(ready, v)
			}
		}
	}
	return removed == len(nodes)
}

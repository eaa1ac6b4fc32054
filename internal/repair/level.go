package repair

import (
	"slices"

	"heddle/internal/ir"
)

// Which barrier can threads on different paths share? Every cut needs a stable block, and each
// thread passes the stable blocks in ascending order. Levels assign the least number that keeps
// this order along every path (the longest path from the entry, counted in cuts), so branches share
// stable blocks where their paths allow it. A loop with cuts occupies a range of levels of its own,
// because its threads pass them once per iteration.

// group is a loop with cuts. All threads iterate together through its stable blocks first+1 to last
// until none remains in the loop.
type group struct {
	loop        *ir.Loop
	parent      *group
	first, last int
	low, high   int // the numbers of the labels in the loop
}

// levels assigns each piece of a region to the stable blocks between which it runs: a block begins
// at a level, and each cut in it leads to the next one. No edge leads to a lower level, except back
// to the header of a group.
type levels struct {
	w      *flow
	r      *region
	start  map[ir.BlockID]int
	end    map[ir.BlockID]int
	after  map[ir.BlockID][]int // after each cut
	groups []*group             // outer groups first
	of     map[ir.BlockID]*group
	top    int
	serial bool // each cut has a stable block of its own: branches run one after another
}

func (w *flow) levels(r *region, serial bool) *levels {
	l := &levels{
		w: w, r: r, serial: serial,
		start: map[ir.BlockID]int{}, end: map[ir.BlockID]int{}, after: map[ir.BlockID][]int{},
		of: map[ir.BlockID]*group{},
	}
	for _, lp := range w.loops.Loops { // an outer loop comes first
		hasCuts := func(b ir.BlockID) bool { return len(r.cuts[b]) > 0 }
		if !r.in.has(lp.Header) || !slices.ContainsFunc(lp.Blocks, hasCuts) {
			continue
		}
		g := &group{loop: lp, parent: l.of[lp.Header]}
		l.groups = append(l.groups, g)
		for _, b := range lp.Blocks {
			l.of[b] = g
		}
	}
	l.start[r.entry], l.end[r.entry] = 0, 0
	l.top = l.scope(nil, 0)
	return l
}

// child returns the group directly inside g that contains b, or nil if b is in g itself.
func (l *levels) child(g *group, b ir.BlockID) *group {
	c := l.of[b]
	for c != nil && c != g && c.parent != g {
		c = c.parent
	}
	if c == g {
		return nil
	}
	return c
}

// rep returns the block that represents b in the acyclic graph of a scope: the header of an inner
// group, or b itself.
func (l *levels) rep(g *group, b ir.BlockID) ir.BlockID {
	if c := l.child(g, b); c != nil {
		return c.loop.Header
	}
	return b
}

// inScope reports whether b is in g, or in the region if g is nil.
func (l *levels) inScope(g *group, b ir.BlockID) bool {
	return l.r.in.has(b) && (g == nil || g.loop.Contains(b))
}

// order sorts the blocks of a scope topologically; an inner group counts as one block. It is Kahn's
// algorithm; among the blocks that are ready, earlier decides. Back edges are left out, and a
// reducible region has no other cycles.
func (l *levels) order(g *group) []ir.BlockID {
	succs := map[ir.BlockID][]ir.BlockID{}
	var roots []ir.BlockID
	for _, b := range l.w.rpo {
		if !l.inScope(g, b) {
			continue
		}
		u := l.rep(g, b)
		if u == b {
			roots = append(roots, b)
		}
		for _, s := range l.w.f.Block(b).Succs {
			if l.inScope(g, s) && !l.w.dom.Dominates(s, b) && l.rep(g, s) != u {
				succs[u] = append(succs[u], l.rep(g, s))
			}
		}
	}
	waits := map[ir.BlockID]int{}
	for _, list := range succs {
		for _, s := range list {
			waits[s]++
		}
	}
	var out, ready []ir.BlockID
	for _, b := range roots {
		if waits[b] == 0 {
			ready = append(ready, b)
		}
	}
	for len(ready) > 0 {
		i := 0
		for j := range ready {
			if l.earlier(ready[j], ready[i]) {
				i = j
			}
		}
		b := ready[i]
		ready = slices.Delete(ready, i, i+1)
		out = append(out, b)
		for _, s := range succs[b] {
			if waits[s]--; waits[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	return out
}

// earlier reports whether a comes before b where the control flow leaves it open: in the source, or
// else in the text. It makes the result follow the order in which the user reads.
func (l *levels) earlier(a, b ir.BlockID) bool {
	x, y := firstOf(l.w.f.Block(a)), firstOf(l.w.f.Block(b))
	if x == nil || y == nil {
		return a < b
	}
	if x.Loc != nil && y.Loc != nil && x.Loc.Pos != y.Loc.Pos && x.Loc.Pos.File() == y.Loc.Pos.File() {
		return x.Loc.Pos < y.Loc.Pos
	}
	return x.Span.Start < y.Span.Start
}

// scope assigns levels from base on to the blocks of a group, or of the region, and returns the
// last one.
//
// A block begins at the highest level at which a predecessor ends. taken keeps blocks outside a
// group from running at a level of the group, where they would wait for threads that iterate.
func (l *levels) scope(g *group, base int) int {
	var taken [][2]int // levels of groups: from (exclusive), to
	free := func(n int) int {
		for _, t := range taken {
			if n > t[0] && n <= t[1] {
				n = t[1] // blocks outside the group run after it
			}
		}
		return n
	}
	used := base
	for _, b := range l.order(g) {
		at := base
		for _, p := range l.w.f.Block(b).Preds {
			if l.inScope(g, p) && l.rep(g, p) != b && !l.w.dom.Dominates(b, p) {
				e := l.end[p]
				if c := l.child(g, p); c != nil {
					e = c.last
				}
				at = max(at, e)
			}
		}
		if c := l.child(g, b); c != nil {
			if g != nil {
				at = max(at, base+1) // each group has a first stable block of its own
			}
			at = max(at, used)
			c.first = at
			c.last = l.scope(c, at)
			taken = append(taken, [2]int{c.first, c.last})
			used = max(used, c.last)
			continue
		}
		at = free(at)
		l.start[b] = at
		for range l.r.cuts[b] {
			if l.serial {
				at = max(at, used)
			}
			at = free(at + 1)
			used = max(used, at)
			l.after[b] = append(l.after[b], at)
		}
		l.end[b] = at
		used = max(used, at)
	}
	return used
}

// begins returns the group whose first stable block is n, or nil.
func (l *levels) begins(n int) *group {
	for _, g := range l.groups {
		if g.first+1 == n {
			return g
		}
	}
	return nil
}

// next returns the stable block that a thread reaches next from a level of g; top+1 is the exit.
func (l *levels) next(g *group, level int) int {
	if g != nil && level == g.last {
		return g.first + 1
	}
	return level + 1
}

// direct reports whether the edge from the end of u to v needs no stable block. For the exit v is
// NoBlock. Everything else passes a stable block: an edge to another level, one into or out of a
// group, and one to the header of a group.
func (l *levels) direct(u, v ir.BlockID) bool {
	from := l.of[u]
	if v == ir.NoBlock || v == l.r.exit {
		return from == nil && l.end[u] == l.top
	}
	if from != nil && !from.loop.Contains(v) {
		return false
	}
	if to := l.of[v]; to != nil && to.loop.Header == v {
		return false // all threads start an iteration together
	}
	return l.end[u] == l.start[v] && l.of[v] == from
}

package place

import "slices"

// text is the source order of a tree's labels and the blocks around each: section III.A.
type text struct {
	t *Tree
	// slot is the position of a barrier after each label in program text order, the post-order of the
	// tree. Slots are even; code between two slots has an odd position.
	slot []int
	// blocks are the blocks around each label, outermost first.
	blocks [][]Label
	// jumps tells for each block whether control may leave it at one of its kids.
	jumps []bool
}

func newText(t *Tree) *text {
	n := len(t.Labels)
	x := &text{t: t, slot: make([]int, n), blocks: make([][]Label, n), jumps: make([]bool, n)}
	next := 0
	var visit func(l Label, around []Label)
	visit = func(l Label, around []Label) {
		x.blocks[l] = around
		inner := append(slices.Clip(around), l)
		for _, k := range t.Labels[l].Kids {
			visit(k, inner)
			x.jumps[l] = x.jumps[l] || t.Labels[k].Jump || x.jumps[k]
		}
		if !t.Labels[l].Warp { // a warp barrier shares the place of the node before it
			next += 2
		}
		x.slot[l] = next
	}
	if n > 0 {
		visit(0, nil)
	}
	return x
}

// open reports whether a barrier may be placed after l. Nothing follows the root.
func (x *text) open(l Label) bool { return l != 0 && !x.t.Labels[l].Closed }

// site is where an access executes: its position between the slots, and the blocks around it.
type site struct {
	at     int
	around []Label
}

// site returns where the accesses of a label execute: just before its slot, or, for a condition,
// just before the first slot of its block. The condition of a loop is inside the loop, since each
// iteration executes it.
func (x *text) site(l Label) site {
	n := &x.t.Labels[l]
	if n.Kind != Cond && n.Kind != Loop {
		return site{x.slot[l] - 1, x.blocks[l]}
	}
	s := site{x.slot[n.Kids[0]] - 1, x.blocks[l]}
	if n.Kind == Loop {
		s.around = append(slices.Clip(s.around), l)
	}
	return s
}

// commonLoops returns the loops around both sites, outermost first.
func (x *text) commonLoops(a, b site) []Label {
	var out []Label
	for _, l := range a.around {
		if x.t.Labels[l].Kind == Loop && slices.Contains(b.around, l) {
			out = append(out, l)
		}
	}
	return out
}

// within reports whether l is inside block; everything is inside None.
func (x *text) within(l, block Label) bool {
	return block == None || slices.Contains(x.blocks[l], block)
}

// covered reports whether every block around l is in one of the lists.
func (x *text) covered(l Label, around ...[]Label) bool {
	for _, b := range x.blocks[l] {
		holds := func(list []Label) bool { return slices.Contains(list, b) }
		if !slices.ContainsFunc(around, holds) {
			return false
		}
	}
	return true
}

// sameThreads returns the labels that exactly the threads of l reach, equally often: its neighbours
// in the block, up to a kid at which control may leave.
func (x *text) sameThreads(l Label) []Label {
	parent := x.t.Labels[l].Parent
	if parent == None {
		return []Label{l}
	}
	kids := x.t.Labels[parent].Kids
	leaves := func(k Label) bool { return x.t.Labels[k].Jump || x.jumps[k] }
	i := slices.Index(kids, l)
	first, last := i, i
	for first > 0 && !leaves(kids[first]) {
		first--
	}
	for last+1 < len(kids) && !leaves(kids[last+1]) {
		last++
	}
	var out []Label
	for _, k := range kids[first : last+1] {
		if x.t.Labels[k].Warp == x.t.Labels[l].Warp {
			out = append(out, k)
		}
	}
	return out
}

// Order is the order of the accesses of a tree, and the loops around them.
type Order struct{ text *text }

// Order returns the order of the tree as it is: nodes that are added later are not in it.
func (t *Tree) Order() Order { return Order{newText(t)} }

// Before reports whether the accesses of a execute before those of b within one execution of the
// block that holds both; false if the labels are equal.
func (o Order) Before(a, b Label) bool { return o.text.site(a).at < o.text.site(b).at }

// CommonLoops returns the loops around the accesses of both labels, outermost first.
func (o Order) CommonLoops(a, b Label) []Label {
	return o.text.commonLoops(o.text.site(a), o.text.site(b))
}

// Depth returns the number of blocks around a label.
func (t *Tree) Depth(l Label) int {
	n := 0
	for b := t.Labels[l].Parent; b != None; b = t.Labels[b].Parent {
		n++
	}
	return n
}

package syntax

import (
	"cmp"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/place"
	"heddle/internal/source"
)

// OfPTX returns a unit for a module of hand-written PTX, and a copy of the module with the points
// of the unit.
//
// A label is an instruction that accesses shared or global memory, or a barrier. Its enclosing
// blocks come from the control flow: a natural loop is a Loop, and the blocks that a block
// dominates without being postdominated by them form a Cond. Labels are in the order of execution
// (reverse postorder, with loops contiguous), which can differ from the order of the text.
// Unstructured control flow yields more nested Conds than a source would have, so some placements
// of a source have no counterpart.
//
// A barrier can be placed after the instruction of a label, at the start of a Cond or Loop, and at
// the merge point of the paths out of one. The start of the first block of a loop is not a place
// for the code before the loop, since the barrier would execute in every iteration.
func OfPTX(m *ir.Module) (*Unit, *ir.Module) {
	u := &Unit{PTX: true}
	file := m.Files.File(m.File)
	if file == nil || file.Content == nil {
		return u, m
	}
	u.Files = []*source.File{file}
	before, after := make(map[*ir.Instr][]ir.NewPoint), make(map[*ir.Instr][]ir.NewPoint)
	for _, f := range m.Funcs {
		if len(f.Blocks) == 0 {
			continue
		}
		c := newFlow(f, file, u.points, before, after)
		c.function()
		slices.SortStableFunc(c.fn.pieces,
			func(a, b piece) int { return cmp.Compare(a.offset, b.offset) })
		u.Funcs = append(u.Funcs, c.fn)
		u.points += len(c.fn.Nodes)
	}
	return u, ir.Pointed(m, before, after)
}

// flow builds the tree of one function from its control-flow graph.
type flow struct {
	builder
	fn            *Func
	f             *ir.Func
	dom           *ir.DomTree
	loops         *ir.LoopForest
	kids          [][]ir.BlockID // children in the dominator tree, in execution order
	order         []int          // by block: index in reverse postorder
	before, after map[*ir.Instr][]ir.NewPoint
}

// level is the loop, or the function, that is being built.
type level struct {
	loop  *ir.Loop // nil: the function
	outer *level
	exits []ir.BlockID // blocks after the loop that blocks of the loop dominate
	pdom  *ir.DomTree  // postdominators of one iteration; see iteration
}

// newFlow analyzes a function. first is the number of its first point; before and after collect the
// points by instruction.
func newFlow(
	f *ir.Func, file *source.File, first int, before, after map[*ir.Instr][]ir.NewPoint,
) *flow {
	c := &flow{
		builder: *newBuilder(file, file.Name, false), f: f, before: before, after: after,
		fn: &Func{Name: f.Demangled, Mangled: []string{f.Name}, Kernel: f.Kernel, File: file,
			First: first, asm: true},
		dom: ir.Dominators(f), kids: make([][]ir.BlockID, len(f.Blocks)),
	}
	c.builder.f = c.fn
	c.loops = ir.FindLoops(f, c.dom)
	c.order = make([]int, len(f.Blocks))
	for i, b := range ir.ReversePostorder(f) {
		c.order[b] = i
		if d := c.dom.IDom(b); d != ir.NoBlock && b != 0 {
			c.kids[d] = append(c.kids[d], b)
		}
	}
	return c
}

// function builds the tree. The span of the function covers its instructions, in any order of the
// text.
func (c *flow) function() {
	for _, b := range c.f.Blocks {
		for _, in := range b.Instrs {
			s := &c.fn.Span
			if !s.Start.IsValid() || in.Span.Start < s.Start {
				s.Start = in.Span.Start
			}
			s.End = max(s.End, in.Span.End)
		}
	}
	root := c.label(place.Block, place.None, 0)
	c.fn.Nodes[root].Span = c.fn.Span
	c.start(root, 0, c.isHeader(0))
	c.emit(0, root, &level{pdom: ir.PostDominators(c.f)})
}

// label adds a label for blocks that start with b. It has no text of its own.
func (c *flow) label(kind place.Kind, parent place.Label, b ir.BlockID) place.Label {
	at := 0
	if instrs := c.f.Blocks[b].Instrs; len(instrs) > 0 {
		at = c.offset(instrs[0].Span.Start)
	}
	return c.add(kind, parent, at, at)
}

// isHeader reports whether b is the header of a natural loop.
func (c *flow) isHeader(b ir.BlockID) bool {
	return c.loops.Of[b] != nil && c.loops.Of[b].Header == b
}

// start adds the start node of a block.
func (c *flow) start(l place.Label, b ir.BlockID, closed bool) {
	s := c.label(place.Start, l, b)
	if !closed {
		c.atStart(s, b)
	}
}

// atStart makes the start of b the place after l.
func (c *flow) atStart(l place.Label, b ir.BlockID) {
	instrs := c.f.Blocks[b].Instrs
	if len(instrs) == 0 {
		return
	}
	in := instrs[0]
	c.fn.Tree.Labels[l].Closed = false
	c.fn.Nodes[l].At = c.offset(in.Span.Start)
	c.piece(c.fn.Nodes[l].At, lineBefore, l)
	c.before[in] = append(c.before[in], ir.NewPoint{Number: c.fn.Point(l)})
}

// emit adds b and the blocks that it dominates to the block of label l.
func (c *flow) emit(b ir.BlockID, l place.Label, lv *level) {
	if !c.isHeader(b) {
		c.block(b, l, lv)
		return
	}
	// Blocks that b dominates outside the loop follow the loop; block collects them in exits.
	inner := &level{loop: c.loops.Of[b], outer: lv, pdom: c.iteration(c.loops.Of[b])}
	loop := c.label(place.Loop, l, b)
	c.start(loop, b, false)
	c.block(b, loop, inner)
	slices.SortFunc(inner.exits, func(x, y ir.BlockID) int {
		return cmp.Compare(c.order[x], c.order[y])
	})
	c.follow(b, inner.exits, l, lv, loop)
}

// iteration returns the postdominators of one iteration of a loop. Edges that leave the loop are
// ignored, as a break is ignored in a source.
func (c *flow) iteration(l *ir.Loop) *ir.DomTree {
	g := &ir.Func{Blocks: make([]*ir.Block, len(c.f.Blocks))}
	for i, b := range c.f.Blocks {
		g.Blocks[i] = &ir.Block{}
		if !l.Contains(b.ID) {
			continue
		}
		for _, s := range b.Succs {
			if l.Contains(s) && s != l.Header {
				g.Blocks[i].Succs = append(g.Blocks[i].Succs, s)
			}
		}
	}
	g.Link()
	return ir.PostDominators(g)
}

// block adds the instructions of b and the blocks that follow it in its loop.
func (c *flow) block(b ir.BlockID, l place.Label, lv *level) {
	for _, in := range c.f.Blocks[b].Instrs {
		c.instr(in, l)
	}
	var next []ir.BlockID
	for _, k := range c.kids[b] {
		left := (*level)(nil) // the outermost loop that k follows
		for x := lv; x.loop != nil && !x.loop.Contains(k); x = x.outer {
			left = x
		}
		if left != nil {
			left.exits = append(left.exits, k)
		} else {
			next = append(next, k)
		}
	}
	c.follow(b, next, l, lv, place.None)
}

// follow adds the blocks after b: non-postdominators first, then the postdominator. last is the
// label that ends right before them, or None.
func (c *flow) follow(b ir.BlockID, next []ir.BlockID, l place.Label, lv *level, last place.Label) {
	// At most one block after b postdominates it: the merge point of the paths out of b.
	merge := ir.NoBlock
	for _, k := range next {
		if lv.pdom.Dominates(k, b) {
			merge = k
		}
	}
	for _, k := range next {
		if k != merge {
			last = c.label(place.Cond, l, k)
			c.start(last, k, c.isHeader(k))
			c.emit(k, last, lv)
		}
	}
	if merge == ir.NoBlock {
		return
	}
	// A barrier at the start of a loop header would execute in every iteration.
	if last != place.None && !c.isHeader(merge) {
		c.atStart(last, merge)
	}
	c.emit(merge, l, lv)
}

// instr adds an instruction if it is a label: a memory access, a call or a barrier.
func (c *flow) instr(in *ir.Instr, parent place.Label) {
	start, end := c.offset(in.Span.Start), c.offset(in.Span.End)
	barrier, ok := in.BlockBarrier()
	switch {
	case in.Guard != ir.NoReg && in.Leaves():
		l := c.add(place.Stmt, parent, start, end)
		c.fn.Tree.Labels[l].Jump = true
	case ok && barrier.Unguarded():
		l := c.add(place.Stmt, parent, start, end)
		n := &c.fn.Nodes[l]
		n.At, n.alone = start, true
		c.fn.Tree.Labels[l].Barrier, c.fn.Tree.Labels[l].Closed = true, false
		c.piece(start, standing, l)
		c.before[in] = append(c.before[in], ir.NewPoint{Number: c.fn.Point(l), Standing: true})
	case touches(in):
		l := c.add(place.Stmt, parent, start, end)
		if in.IsTerminator() {
			return
		}
		c.point(l, end)
		c.after[in] = append(c.after[in], ir.NewPoint{Number: c.fn.Point(l)})
	}
}

// touches reports whether an instruction accesses memory that other threads can access, or calls a
// function that may.
func touches(in *ir.Instr) bool {
	switch {
	case in.IsCall():
		return true
	case in.Row.Effect == isa.NoEffect || in.Row.Effect == isa.Orders:
		return false
	}
	switch in.Space {
	case event.Shared, event.Global, event.Generic, event.NoSpace:
		return true
	}
	return false
}

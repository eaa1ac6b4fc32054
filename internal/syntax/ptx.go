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

// OfPTX makes a unit of a module that is the user's own PTX, and a copy of the module with the unit's points in it.
//
// A label is an instruction that touches shared or global memory or a barrier; the blocks around it are those of the
// control flow: a natural loop is a Loop, what a block dominates and what does not postdominate it is a Cond. The order
// of the labels is that of execution (reverse postorder, loops in one piece), which is that of the text only where the
// compiler left it so. Where the flow has no such structure, labels stand in more Conds than a source would have.
//
// Places are behind the instructions of labels, at the beginning of a Cond or Loop, and where the ways out of one meet;
// a place at the beginning of a loop's first block would be in every iteration, so that it is none for what is before
// the loop.
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
		slices.SortStableFunc(c.fn.pieces, func(a, b piece) int { return cmp.Compare(a.offset, b.offset) })
		u.Funcs = append(u.Funcs, c.fn)
		u.points += len(c.fn.Nodes)
	}
	return u, ir.Pointed(m, before, after)
}

// flow makes the tree of one function from its control flow.
type flow struct {
	builder
	fn            *Func
	f             *ir.Func
	dom           *ir.DomTree
	loops         *ir.LoopForest
	kids          [][]ir.BlockID // dominated immediately, in the order of execution
	order         []int          // of a block in the reverse postorder
	before, after map[*ir.Instr][]ir.NewPoint
}

// level is a loop, or the function, that is being made.
type level struct {
	loop  *ir.Loop // nil: the function
	outer *level
	exits []ir.BlockID // blocks behind the loop that blocks of it dominate
	pdom  *ir.DomTree  // of the ways that stay in the loop, to its next iteration
}

func newFlow(f *ir.Func, file *source.File, first int, before, after map[*ir.Instr][]ir.NewPoint) *flow {
	c := &flow{
		builder: *newBuilder(file, file.Name, false), f: f, before: before, after: after,
		fn:  &Func{Name: f.Demangled, Mangled: []string{f.Name}, Kernel: f.Kernel, File: file, First: first, asm: true},
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

// label makes a label for blocks that begin with b, which is nowhere in the text.
func (c *flow) label(kind place.Kind, parent place.Label, b ir.BlockID) place.Label {
	at := 0
	if instrs := c.f.Blocks[b].Instrs; len(instrs) > 0 {
		at = c.offset(instrs[0].Span.Start)
	}
	return c.add(kind, parent, at, at)
}

func (c *flow) isHeader(b ir.BlockID) bool { return c.loops.Of[b] != nil && c.loops.Of[b].Header == b }

// start makes the start node of a block.
func (c *flow) start(l place.Label, b ir.BlockID, closed bool) {
	s := c.label(place.Start, l, b)
	if !closed {
		c.atStart(s, b)
	}
}

// atStart makes the beginning of b the place after l.
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

// emit adds b and what it dominates to the block of label l.
func (c *flow) emit(b ir.BlockID, l place.Label, lv *level) {
	if !c.isHeader(b) {
		c.block(b, l, lv)
		return
	}
	inner := &level{loop: c.loops.Of[b], outer: lv, pdom: c.iteration(c.loops.Of[b])}
	loop := c.label(place.Loop, l, b)
	c.start(loop, b, false)
	c.block(b, loop, inner)
	slices.SortFunc(inner.exits, func(x, y ir.BlockID) int { return cmp.Compare(c.order[x], c.order[y]) })
	c.follow(b, inner.exits, l, lv, loop)
}

// iteration returns the postdominators of one iteration of a loop: what leaves the loop counts as little as what leaves
// a statement by break.
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

// block adds the instructions of b, and what comes after it in its loop.
func (c *flow) block(b ir.BlockID, l place.Label, lv *level) {
	for _, in := range c.f.Blocks[b].Instrs {
		c.instr(in, l)
	}
	var next []ir.BlockID
	for _, k := range c.kids[b] {
		left := (*level)(nil) // the outermost loop that k is behind
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

// follow adds blocks that come after b: first those that are not on every way, then the one that is. last is the label
// that ends right before them, or None.
func (c *flow) follow(b ir.BlockID, next []ir.BlockID, l place.Label, lv *level, last place.Label) {
	join := ir.NoBlock
	for _, k := range next {
		if lv.pdom.Dominates(k, b) {
			join = k
		}
	}
	for _, k := range next {
		if k != join {
			last = c.label(place.Cond, l, k)
			c.start(last, k, c.isHeader(k))
			c.emit(k, last, lv)
		}
	}
	if join == ir.NoBlock {
		return
	}
	if last != place.None && !c.isHeader(join) {
		c.atStart(last, join)
	}
	c.emit(join, l, lv)
}

// instr adds an instruction if it is a label.
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

// touches reports whether an instruction accesses memory of other threads, or calls what may.
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

package placement

import (
	"slices"

	"heddle/internal/ir"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// inlined is the label tree of a kernel with the trees of the device functions that are inlined in
// it, each as often as it is inlined. A statement that calls becomes a block: what it executes
// before the call, the body of the callee, and the rest. A place in a function stands for that
// place at all its call sites (place.Node.Same), so that a barrier there costs what it costs at all
// of them.
//
// A function is in the tree if the kernel alone uses its body: it is not compiled for the host, not
// part of another kernel, inlined wherever this kernel calls it, and called by a statement and not
// by a condition. The accesses of other functions count for the statement that calls them, and
// their barriers stay.
type inlined struct {
	tree    placer.Tree
	origins []origin // by label
	root    *instance
	of      map[*syntax.Func]*instance // one of each function that is in the tree
	kernels []*ir.Func
	warps   bool                          // there are places for barriers of the warp
	warp    map[placer.Label]placer.Label // by label of a place: that for a barrier of the warp there
}

// origin is a label of a function of the source.
type origin struct {
	fn   *syntax.Func
	l    placer.Label
	warp bool // the place of a barrier of the warp
}

// instance is one inlining of a function.
type instance struct {
	fn     *syntax.Func
	labels []placer.Label // of the tree, by label of fn
	calls  []*call
}

// call is where a function is called.
type call struct {
	at     source.Pos
	in     placer.Label       // the statement of the caller's
	before placer.Label       // in the tree: what the statement executes before
	first  map[int]source.Pos // by kernel: where its PTX begins
	body   *instance
}

// inline builds the tree of a kernel from the source positions of its instructions. With warps,
// each place has one for a barrier of the warp as well. A PTX file has no inline stacks: its tree
// is that of the kernel alone.
func inline(m *ir.Module, unit *syntax.Unit, fn *syntax.Func, kernels []*ir.Func,
	warps bool) *inlined {
	n := &inlined{
		root: &instance{fn: fn}, of: map[*syntax.Func]*instance{}, kernels: kernels,
		warps: warps && !unit.PTX && !unit.OpenCL, warp: map[placer.Label]placer.Label{},
	}
	if !unit.PTX {
		own := owned(m, unit, kernels)
		for ki, k := range kernels {
			for _, b := range k.Blocks {
				for _, in := range b.Instrs {
					n.discover(unit, own, ki, in)
				}
			}
		}
	}
	n.add(n.root, 0, placer.None, map[origin]int{})
	return n
}

// owned returns the functions whose points are in these kernels only, and not in a function that is
// called. A barrier in any other function would appear in kernels that are not part of this search,
// or in code of the host.
func owned(m *ir.Module, unit *syntax.Unit, kernels []*ir.Func) map[*syntax.Func]bool {
	own := map[*syntax.Func]bool{}
	mark := func(f *ir.Func, mine bool) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if p, ok, _ := in.Point(); ok {
					if g, _, ok := unit.Find(p); ok {
						own[g] = mine && !g.Host
					}
				}
			}
		}
	}
	for _, k := range kernels {
		mark(k, true)
	}
	for _, k := range m.Funcs {
		if !k.Kernel {
			continue
		}
		for _, f := range ir.ReachableFuncs(k) {
			if !slices.Contains(kernels, f) {
				mark(f, false)
			}
		}
	}
	return own
}

// frames are the source positions of an instruction with its inline stack, the kernel's first.
func frames(in *ir.Instr) []source.Pos {
	var out []source.Pos
	for f := in.Loc; f != nil; f = f.Parent {
		out = append(out, f.Pos)
	}
	slices.Reverse(out)
	return out
}

// discover adds the calls that led to an instruction of kernel number ki. The walk down the inline
// stack stops at the first call that cannot be in the tree; what lies deeper counts for the
// statement that it reached.
func (n *inlined) discover(unit *syntax.Unit, own map[*syntax.Func]bool, ki int, in *ir.Instr) {
	at := n.root
	pos := frames(in)
	for i := 0; i+1 < len(pos); i++ {
		callee := unit.FuncOf(pos[i+1])
		l, ok := at.fn.At(pos[i])
		if callee == nil || !ok || !own[callee] || callee == n.root.fn {
			return
		}
		if label := &at.fn.Tree.Labels[l]; label.Kind != placer.Stmt || label.Barrier {
			return
		}
		c := at.call(pos[i], callee)
		if c == nil {
			c = &call{at: pos[i], in: l, first: map[int]source.Pos{}, body: &instance{fn: callee}}
			at.calls = append(at.calls, c)
			n.of[callee] = c.body
		}
		if p, known := c.first[ki]; !known || in.Span.Start < p {
			c.first[ki] = in.Span.Start
		}
		at = c.body
	}
}

// Two calls on one line differ in their columns.
func (s *instance) call(at source.Pos, callee *syntax.Func) *call {
	for _, c := range s.calls {
		if c.at == at && c.body.fn == callee {
			return c
		}
	}
	return nil
}

// add adds a label of an instance and its children. same numbers the places of functions that are
// called. A statement that calls becomes a block of what it executes before the call and the body
// of the callee.
func (n *inlined) add(s *instance, l, parent placer.Label, same map[origin]int) {
	from := &s.fn.Tree.Labels[l]
	node := *from
	node.Parent, node.Kids = parent, nil
	if s != n.root {
		node.Same = number(same, origin{s.fn, l, false})
	}
	at := n.label(node, origin{s.fn, l, false})
	if s.labels == nil {
		s.labels = make([]placer.Label, len(s.fn.Tree.Labels))
	}
	s.labels[l] = at
	for _, k := range from.Kids {
		n.add(s, k, at, same)
	}
	for _, c := range s.calls {
		if c.in == l {
			n.tree.Labels[at].Kind = placer.Block
			node := placer.Node{Kind: placer.Stmt, Parent: at, Closed: true}
			c.before = n.label(node, origin{s.fn, l, false})
			n.add(c.body, 0, at, same)
		}
	}
	if n.warps && !from.Closed && !from.Barrier && parent != placer.None {
		node := placer.Node{Kind: placer.Stmt, Parent: parent, Closed: true, Warp: true}
		if s != n.root {
			node.Same = number(same, origin{s.fn, l, true})
		}
		n.warp[at] = n.label(node, origin{s.fn, l, true})
	}
}

// number returns the number of a place in a function that is called.
func number(same map[origin]int, o origin) int {
	if same[o] == 0 {
		same[o] = len(same) + 1
	}
	return same[o]
}

// Labels are numbered in the order in which they are added, parents before children.
func (n *inlined) label(node placer.Node, from origin) placer.Label {
	l := placer.Label(len(n.tree.Labels))
	n.tree.Labels = append(n.tree.Labels, node)
	n.origins = append(n.origins, from)
	if node.Parent != placer.None {
		p := &n.tree.Labels[node.Parent]
		p.Kids = append(p.Kids, l)
	}
	return l
}

// node returns the statement of a label.
func (n *inlined) node(l placer.Label) *syntax.Node {
	o := n.origins[l]
	return &o.fn.Nodes[o.l]
}

// point returns the label of a point; None if it is in a function outside the tree.
func (n *inlined) point(unit *syntax.Unit, in *ir.Instr, number int) placer.Label {
	fn, l, ok := unit.Find(number)
	if !ok {
		return placer.None
	}
	s, _ := n.instance(unit, in)
	if s.fn != fn {
		return placer.None
	}
	return s.labels[l]
}

// chosen returns a label for the place of a point; None if the point is in a function outside the
// tree.
func (m *marked) chosen(number int) placer.Label {
	fn, l, ok := m.unit.Find(number)
	s := m.of[fn]
	if fn == m.fn {
		s = m.root
	}
	if !ok || s == nil {
		return placer.None
	}
	return s.labels[l]
}

// instance returns the innermost inlining in the tree that contains an instruction, and the
// position of the instruction in it.
func (n *inlined) instance(unit *syntax.Unit, in *ir.Instr) (*instance, source.Pos) {
	// Descend through the inline stack as long as each call is in the tree.
	s, pos := n.root, frames(in)
	if unit.PTX || len(pos) == 0 {
		return s, 0
	}
	for i := 0; i+1 < len(pos); i++ {
		callee := unit.FuncOf(pos[i+1])
		c := s.call(pos[i], callee)
		if c == nil {
			return s, pos[i]
		}
		s = c.body
	}
	return s, pos[len(pos)-1]
}

// locate returns the label of an access.
func (n *inlined) locate(unit *syntax.Unit, in *ir.Instr) (placer.Label, bool) {
	s, pos := n.instance(unit, in)
	if s == n.root {
		for _, p := range frames(in) { // code of other functions may hold what the kernel begins with
			if _, ok := s.fn.At(p); ok {
				pos = p
				break
			}
		}
	}
	l, ok := s.fn.At(pos)
	if !ok {
		return placer.None, false
	}
	// A statement that calls executes its own accesses before the call or after it. What comes before
	// the first instruction of the callee in the PTX is taken to be before.
	ki := n.kernel(in.Span.Start)
	for _, c := range s.calls {
		if first, known := c.first[ki]; c.in == l && known && in.Span.Start < first {
			return c.before, true
		}
	}
	return s.labels[l], true
}

// kernel returns the number of the kernel whose PTX contains a place. Kernels do not overlap in the
// text, so it is the last one that starts before the place.
func (n *inlined) kernel(p source.Pos) int {
	best, at := 0, source.Pos(0)
	for i, k := range n.kernels {
		if start := k.Span.Start; start <= p && start >= at {
			best, at = i, start
		}
	}
	return best
}

// projected splits a placement into placements of the functions in the tree. Places at several call
// sites fall together here: the search has set either all of them or none (placer.Node.Same).
func (n *inlined) projected(p placer.Placement) map[*syntax.Func]placer.Placement {
	out := map[*syntax.Func]placer.Placement{n.root.fn: {}}
	for fn := range n.of {
		out[fn] = placer.Placement{}
	}
	for l, on := range p {
		if o := n.origins[l]; on {
			out[o.fn][o.l] = true
		}
	}
	return out
}

package placement

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/isa"
	placer "heddle/internal/place"
	"heddle/internal/source"
)

// group is one barrier of the source: all instructions that it was compiled to, in all kernels of a
// template and wherever its function is inlined. The source can only lose all of them.
type group struct {
	from   origin     // its label; zero if the search has no place for it
	pos    source.Pos // in the source, or in the PTX
	warp   bool
	refuse string // why it is not explained
	instrs map[*ir.Instr]bool
}

// groupKey identifies a group: by its label, or by the position of the call.
type groupKey struct {
	from origin
	pos  source.Pos
}

// groupsOf finds the barriers of kernels, in the order of the source.
func (m *marked) groupsOf(kernels []*ir.Func) []*group {
	found := map[groupKey]*group{}
	var out []*group
	for _, k := range kernels {
		for _, f := range ir.ReachableFuncs(k) {
			for _, b := range f.Blocks {
				for _, in := range b.Instrs {
					refuse, ok := explained(in)
					if !ok {
						continue
					}
					key := m.groupKey(in)
					g := found[key]
					if g == nil {
						g = &group{from: key.from, pos: driver.Place(in).Start, warp: in.IsWarpBarrier(),
							instrs: map[*ir.Instr]bool{}}
						found[key], out = g, append(out, g)
					}
					g.refuse = cmp.Or(g.refuse, refuse)
					g.instrs[in] = true
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *group) int { return cmp.Compare(a.pos, b.pos) })
	return out
}

// groupKey returns the group of an instruction.
func (m *marked) groupKey(in *ir.Instr) groupKey {
	l, ok := m.barriers[in.Span]
	if !ok {
		return groupKey{pos: driver.Place(in).Start}
	}
	if w, two := m.warp[l]; two && in.IsWarpBarrier() {
		l = w
	}
	return groupKey{from: m.origins[l]}
}

// explained reports whether an instruction is a barrier at which threads wait, and if such a one
// cannot be left out to see what happens, says why.
func explained(in *ir.Instr) (refuse string, ok bool) {
	use, ok := in.Barrier()
	if !ok || in.Row == nil {
		return "", false
	}
	if in.Grid {
		return "it is a barrier of the grid, which orders blocks as well", true
	}
	block, plain := in.BlockBarrier()
	switch {
	case use.Object == isa.WarpBarrier:
		return "", true
	case use.Object == isa.ClusterBarrier:
		return "it is a barrier of a cluster, which orders blocks as well", true
	case use.Object == isa.MBarrier:
		return "", false // an object with many operations, not a barrier of the text
	case plain && block.Reduces:
		return "it has a result, so the kernel means something else without it", true
	case !plain:
		return "it is a named barrier, or one of some threads of the block (heddle trace decides these)",
			true
	}
	return "", true
}

// without returns the kernels without some of their barriers.
func without(kernels []*ir.Func, groups ...*group) []*ir.Func {
	mod := ir.Without(kernels[0].Module, func(in *ir.Instr) bool {
		return slices.ContainsFunc(groups, func(g *group) bool { return g.instrs[in] })
	})
	var out []*ir.Func
	for _, k := range kernels {
		out = append(out, mod.Kernel(k.Name))
	}
	return out
}

// placeOf describes the place of a group.
func (f *found) placeOf(g *group) string {
	if g.from.fn != nil {
		return f.place(f.labelOf(g.from))
	}
	text := fmt.Sprintf("in line %d", g.pos.Line())
	if fn := f.marked.unit.FuncOf(g.pos); fn != nil && fn != f.marked.fn {
		text += " of " + fn.Name
	}
	if file := f.marked.s.d.Files().File(g.pos.File()); file != nil && file != f.marked.fn.File {
		text += " (" + file.Name + ")"
	}
	return text
}

// labelOf returns the first label of the tree with an origin.
func (f *found) labelOf(from origin) placer.Label {
	return placer.Label(slices.Index(f.marked.origins, from))
}

package check

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
	"heddle/internal/verify"
)

// marked is a kernel of the user's source, compiled with points: the kernels of the module that came of it (several of a
// template), and what instructions and statements have to do with each other.
type marked struct {
	*driver
	in   *input
	unit *syntax.Unit
	fn   *syntax.Func
	*inlined
	kernels []*ir.Func
	// barriers are the points of the barriers in a placed kernel, by where they are in the PTX: those that points
	// become stand where the point does.
	barriers map[source.Span]placer.Label
	// depth is how many loops of the compiled kernel are around what each label begins with; -1 if that is not known.
	depth map[placer.Label]int
	// spaces are those of the memory that statements race in, for the flags of barriers.
	spaces map[[2]placer.Label][]event.Space
	// scalars says which scalar arguments proofs are for: those from that origin, or from one that counts more.
	scalars launch.Origin
}

func newMarked(d *driver, in *input, unit *syntax.Unit, fn *syntax.Func, kernels []*ir.Func) *marked {
	m := &marked{driver: d, in: in, unit: unit, fn: fn, inlined: inline(in.module, unit, fn, kernels, d.severalWarps(in, kernels)), kernels: kernels, barriers: map[source.Span]placer.Label{}, depth: map[placer.Label]int{}, spaces: map[[2]placer.Label][]event.Space{}, scalars: launch.FromFlag}
	for _, k := range kernels {
		loops := ir.FindLoops(k, ir.Dominators(k))
		for _, b := range k.Blocks {
			var standing []placer.Label
			for _, i := range b.Instrs {
				n, isPoint, stands := i.Point()
				l := placer.None
				if isPoint {
					l = m.point(unit, i, n)
				}
				switch {
				case isPoint && l == placer.None: // of another function
				case isPoint:
					m.barriers[i.Span] = l
					m.depth[l] = 0
					if loop := loops.Of[b.ID]; loop != nil {
						m.depth[l] = loop.Depth
					}
					if stands {
						standing = append(standing, l)
					}
				case len(standing) > 0 && i.Row.Category == isa.Barrier:
					m.barriers[i.Span] = standing[0]
					standing = standing[1:]
				}
			}
		}
	}
	return m
}

// placed returns the kernels with the barriers of a placement.
func (m *marked) placed(p placer.Placement) ([]*ir.Func, error) {
	mod, err := ir.Placed(m.in.module, func(n int) (ir.Sync, event.Orders) {
		l := m.chosen(n)
		if l == placer.None {
			return ir.AsIs, 0 // a barrier of another function stays
		}
		if p[l] {
			return ir.BlockSync, event.OrdersAll
		}
		if w, ok := m.warp[l]; ok && p[w] {
			return ir.WarpSync, event.OrdersAll
		}
		return ir.NoSync, 0
	})
	if err != nil {
		return nil, err
	}
	var out []*ir.Func
	for _, k := range m.kernels {
		out = append(out, mod.Kernel(k.Name))
	}
	return out, nil
}

// unlocatedError says that an access belongs to no statement of the kernel.
type unlocatedError struct{ in *ir.Instr }

func (e *unlocatedError) Error() string {
	return fmt.Sprintf("%s belongs to no statement of the kernel", e.in.Text())
}

// label returns the statement of an instruction.
func (m *marked) label(in *ir.Instr) (placer.Label, error) {
	if m.unit.PTX {
		if fn, l, ok := m.unit.Where(in); ok && fn == m.fn {
			return l, nil
		}
		return placer.None, &unlocatedError{in}
	}
	l, ok := m.locate(m.unit, in)
	if !ok {
		return placer.None, &unlocatedError{in}
	}
	return l, nil
}

// race makes a race of two instructions one of two statements.
func (m *marked) race(a, b *ir.Instr, otherBlock bool, ways []verify.Way) (placer.Race, error) {
	la, err := m.label(a)
	if err != nil {
		return placer.Race{}, err
	}
	lb, err := m.label(b)
	if err != nil {
		return placer.Race{}, err
	}
	r := placer.Race{A: la, B: lb, OtherBlock: otherBlock}
	swapped := m.tree.Before(lb, la)
	if swapped {
		a, b, r.A, r.B = b, a, lb, la
	}
	r.Why = fmt.Sprintf("%s and %s", m.access(a), m.access(b))
	if ways != nil {
		r.Paths = m.paths(r.A, r.B, swapped, ways)
	}
	return r, nil
}

// access names an access with its place: "the write at 12".
func (m *marked) access(in *ir.Instr) string {
	kind := "access"
	switch in.Action() {
	case isa.ActStore:
		kind = "write"
	case isa.ActLoad:
		kind = "read"
	case isa.ActAtomic, isa.ActReduce:
		kind = "atomic operation"
	}
	pos := spanOf(in).Start
	if pos.File() == m.fn.Span.Start.File() {
		return fmt.Sprintf("the %s at %d:%d", kind, pos.Line(), pos.Col())
	}
	return fmt.Sprintf("the %s at %s", kind, m.files.Format(pos))
}

// paths says of which ways a race of two statements is, from those of the loops of the compiled kernel; nil if the
// loops are not those of the text.
func (m *marked) paths(a, b placer.Label, swapped bool, ways []verify.Way) []placer.Path {
	out := []placer.Path{0}
	if ways[0]&verify.Same != 0 {
		out[0] = placer.Near
	}
	level := 0 // of the compiled loops
	for _, l := range m.tree.CommonLoops(a, b) {
		inside := m.inside(l)
		switch {
		case inside < level || inside > level+1 || inside >= len(ways):
			return nil
		case inside == level: // what the text calls a loop runs once
			out = append(out, 0)
		default:
			level++
			out = append(out, near(ways[level], a == b, swapped))
		}
	}
	for _, w := range ways[level+1:] { // loops within both statements
		if w != 0 {
			out[0] = placer.Near
		}
	}
	return out
}

// inside is how many compiled loops are around the body of a loop of the text; -1 if that is not known.
func (m *marked) inside(l placer.Label) int {
	for _, k := range m.tree.Labels[l].Kids {
		if d, ok := m.depth[k]; ok {
			return d
		}
	}
	return -1
}

// near turns the ways of a race of two instructions, given in the order of execution unless swapped.
func near(w verify.Way, same, swapped bool) placer.Path {
	nearby := verify.BThenA
	switch {
	case same:
		nearby = verify.BThenA | verify.AThenB
	case swapped:
		nearby = verify.AThenB
	}
	p := placer.Path(0)
	if w&nearby != 0 {
		p |= placer.Near
	}
	if w&^nearby != 0 {
		p |= placer.Far
	}
	return p
}

// unfixed reports whether the launch has scalar arguments that proofs leave open.
func (m *marked) unfixed() bool {
	for _, k := range m.kernels {
		if cfg, errs := launch.Resolve(k, m.opt.Launch, m.in.facts); len(errs) == 0 {
			p := proof{kernel: k, cfg: cfg}
			if len(p.scalars(launch.Default)) > len(p.scalars(m.scalars)) {
				return true
			}
		}
	}
	return false
}

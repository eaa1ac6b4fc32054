package placement

import (
	"fmt"

	"heddle/internal/cexpr"
	"heddle/internal/driver"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
	"heddle/internal/verify"
)

// marked is a kernel of the user's source, compiled with points: the kernels of the module that it
// became (several for a template), and the relation between their instructions and its statements.
type marked struct {
	s    *syncer
	in   *driver.Module
	unit *syntax.Unit
	fn   *syntax.Func
	*inlined
	kernels []*ir.Func
	order   placer.Order // of the tree
	// hosts are the launches in host code of each kernel, by name, that differ in shape, as
	// launch.Config.Host has them; host is the one that config resolves.
	hosts map[string][]int
	host  int
	// barriers are the points of the barriers in a placed kernel, by their place in the PTX: a
	// barrier has the place of the point that it replaces.
	barriers map[source.Span]placer.Label
	// depth is the number of compiled loops around the beginning of each label. A label that is
	// absent has no known depth.
	depth map[placer.Label]int
	// spaces are the memory spaces in which statements race, for the flags of barriers.
	spaces map[[2]placer.Label][]event.Space
	// scalars is the origin of the scalar arguments that proofs are for: this one, or one that takes
	// precedence over it.
	scalars launch.Origin
	// whole ends the search where blocks race: no placement is right for all arguments then, and
	// those of the launch are asked about next.
	whole bool
	// steps are what proofs may still take, in steps of the solvers.
	steps int64
}

// It relates points to labels before anything is placed; ir.Placed keeps their spans, so the
// relation holds for every placement.
func newMarked(s *syncer, in *driver.Module, fn *syntax.Func, kernels []*ir.Func) *marked {
	unit := s.unit
	m := &marked{
		s: s, in: in, unit: unit, fn: fn, kernels: kernels,
		inlined:  inline(in.IR, unit, fn, kernels, s.severalWarps(in, kernels)),
		barriers: map[source.Span]placer.Label{}, depth: map[placer.Label]int{},
		spaces:  map[[2]placer.Label][]event.Space{},
		scalars: launch.FromProgram, steps: searchSteps,
	}
	m.order = m.tree.Order()
	m.hosts = map[string][]int{}
	for _, k := range kernels {
		m.hosts[k.Name] = m.shapes(k)
	}
	if s.opt.From != 0 {
		m.scalars = s.opt.From
	}
	for _, k := range kernels {
		loops := ir.FindLoops(k, ir.Dominators(k))
		for _, b := range k.Blocks {
			// The points of barriers that exist, in order: a barrier of the text has its point right
			// before it, and the compiler keeps both in one block.
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

// job is that of one of the kernels, or of a placed form of one.
func (m *marked) job(k *ir.Func) *driver.Job { return m.s.d.Job(m.in, k) }

// config resolves the launch of one of the kernels, or of a placed form of one.
func (m *marked) config(k *ir.Func) (*launch.Config, []*launch.Error) {
	req := m.job(k).Launch
	req.Host = m.host
	return launch.Resolve(k, req, m.in.Facts)
}

// shapes returns the launches of a kernel in host code of which no two have the same shape; 0 alone
// for the only one, or if there is none.
func (m *marked) shapes(k *ir.Func) []int {
	all, errs := launch.Launches(k, m.job(k).Launch, m.in.Facts)
	if len(errs) > 0 || len(all.Configs) < 2 {
		return []int{0}
	}
	var out []int
	seen := map[string]bool{}
	for _, cfg := range all.Configs {
		if key := fmt.Sprint(cfg.Geometry, cfg.DynShared); !seen[key] {
			seen[key] = true
			out = append(out, cfg.Host)
		}
	}
	return out
}

// each calls a function for each kernel and each shape of its launches, which config then resolves.
func (m *marked) each(kernels []*ir.Func, do func(*ir.Func) error) error {
	defer func() { m.host = 0 }()
	for _, k := range kernels {
		for _, m.host = range m.hosts[k.Name] {
			if err := do(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// placed returns the kernels with the barriers of a placement. Barriers of functions outside the
// tree stay as they are.
func (m *marked) placed(p placer.Placement) ([]*ir.Func, error) {
	mod, err := ir.Placed(m.in.IR, func(n int) (ir.Sync, event.Orders) {
		l := m.chosen(n)
		if l == placer.None {
			return ir.AsIs, 0 // a barrier of another function stays
		}
		if p[l] && m.s.opt.Grid && !m.tree.Labels[l].Barrier {
			return ir.GridSync, event.OrdersAll
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

// unlocatedError is the error of an access outside the statements of the kernel.
type unlocatedError struct{ in *ir.Instr }

// Error names the instruction: the source has no place for it.
func (e *unlocatedError) Error() string {
	return fmt.Sprintf("%s does not belong to any statement of the kernel", e.in.Text())
}

// label returns the statement of an instruction. The error is an *unlocatedError: without a
// statement, no place can be named that would separate the access.
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

// race turns a race of two instructions into one of two statements. The statements are in the order
// of the tree, whichever access came first.
func (m *marked) race(a, b *ir.Instr, otherBlock bool, ways []verify.Way) (placer.Race, error) {
	la, err := m.label(a)
	if err != nil {
		return placer.Race{}, err
	}
	lb, err := m.label(b)
	if err != nil {
		return placer.Race{}, err
	}
	r := placer.Race{A: la, B: lb, OtherBlock: otherBlock && !m.s.opt.Grid}
	swapped := m.order.Before(lb, la)
	if swapped {
		a, b, r.A, r.B = b, a, lb, la
	}
	r.Texts = [2]string{m.access(a), m.access(b)}
	switch {
	case ways != nil:
		r.Paths = m.paths(r.A, r.B, swapped, ways)
	case m.s.opt.Grid && otherBlock && len(m.order.CommonLoops(r.A, r.B)) == 0:
		r.Paths = []placer.Path{placer.Near} // without a loop around both there is no other
	}
	return r, nil
}

// access names an access with its place: "the write of `s[t]` in line 12".
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
	pos := driver.Place(in).Start
	what := "the " + kind
	if f := m.s.d.Files().File(pos.File()); f != nil && pos.IsValid() {
		line, _ := f.Line(pos.Line())
		if from, to, ok := cexpr.Access(line, pos.Col(), in.Action() == isa.ActStore); ok {
			what += " of `" + line[from-1:to-1] + "`"
		}
	}
	if pos.File() == m.fn.Span.Start.File() {
		return fmt.Sprintf("%s in line %d", what, pos.Line())
	}
	return fmt.Sprintf("%s at %s", what, m.s.d.Files().Format(pos))
}

// paths converts the paths of a race, one for each compiled loop, to those of the loops of the
// text; nil if the loops do not correspond.
func (m *marked) paths(a, b placer.Label, swapped bool, ways []verify.Way) []placer.Path {
	// The first entry is for one iteration of all loops, the others for the common loops from the
	// outermost inwards. A loop of the text that the compiler unrolled or split has no counterpart.
	out := []placer.Path{0}
	if ways[0]&verify.Same != 0 {
		out[0] = placer.Near
	}
	level := 0 // of the compiled loops
	for _, l := range m.order.CommonLoops(a, b) {
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

// inside is the number of compiled loops around the body of a loop of the text; -1 if it is not
// known. The first statement of the body with a known depth decides.
func (m *marked) inside(l placer.Label) int {
	for _, k := range m.tree.Labels[l].Kids {
		if d, ok := m.depth[k]; ok {
			return d
		}
	}
	return -1
}

// near converts the path of a race of two instructions, given in the order of execution unless
// swapped.
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

// unfixed reports whether the launch has scalar arguments that proofs leave open. If so, a second
// search may succeed with the arguments of the launch.
func (m *marked) unfixed() bool {
	for _, k := range m.kernels {
		if cfg, errs := m.config(k); len(errs) == 0 {
			p := m.s.prover.Proof(m.job(k), cfg)
			if len(p.Scalars(launch.Default)) > len(p.Scalars(m.scalars)) {
				return true
			}
		}
	}
	return false
}

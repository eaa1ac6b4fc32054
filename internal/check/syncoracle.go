package check

import (
	"context"
	"fmt"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
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
	switch in.Op() {
	case "st":
		kind = "write"
	case "ld", "ldu":
		kind = "read"
	case "atom", "red":
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

// undecidedBarrierError says that what diverges is no barrier that a placement holds.
type undecidedBarrierError struct{}

func (*undecidedBarrierError) Error() string {
	return "a barrier diverges that is none of the kernel's own statements (it is in a function that is called, or is none of the whole block)"
}

// answer collects what an oracle says of a placement.
type answer struct {
	m     *marked
	p     placer.Placement
	a     placer.Answer
	races map[[2]placer.Label]int // by statements: where in a.Races
	shown map[[2]source.Span]bool // instructions that race in a run; of two warps?
}

func newAnswer(m *marked, p placer.Placement) *answer {
	return &answer{m: m, p: p, races: map[[2]placer.Label]int{}, shown: map[[2]source.Span]bool{}}
}

// race adds a race; those between the same statements are one.
func (a *answer) race(r placer.Race, spaces ...event.Space) {
	key := [2]placer.Label{r.A, r.B}
	for _, s := range spaces {
		if !slices.Contains(a.m.spaces[key], s) {
			a.m.spaces[key] = append(a.m.spaces[key], s)
		}
	}
	if r.OtherBlock {
		if !slices.ContainsFunc(a.a.Races, func(o placer.Race) bool { return o.OtherBlock && o.Why == r.Why }) {
			a.a.Races = append(a.a.Races, r)
		}
		return
	}
	i, known := a.races[key]
	if !known {
		a.races[key] = len(a.a.Races)
		a.a.Races = append(a.a.Races, r)
		return
	}
	old := &a.a.Races[i]
	old.OneWarp = old.OneWarp && r.OneWarp
	if old.Paths == nil || r.Paths == nil {
		old.Paths = nil
		return
	}
	for j := range old.Paths {
		old.Paths[j] |= r.Paths[j]
	}
}

// diverge adds a divergence between two barriers, or a barrier and the end of the kernel. One of the two is not
// reached by all threads; of labels in blocks of different depth that is the deeper one.
func (a *answer) diverge(x, y *ir.Instr) error {
	var labels []placer.Label
	for _, in := range []*ir.Instr{x, y} {
		if in == nil {
			continue
		}
		l, ok := a.m.barriers[in.Span]
		if w, two := a.m.warp[l]; ok && two && !a.p[l] {
			l = w
		}
		if ok && a.p[l] {
			labels = append(labels, l)
		}
	}
	if len(labels) == 0 {
		return &undecidedBarrierError{}
	}
	if len(labels) == 2 {
		t := &a.m.tree
		switch dx, dy := t.Depth(labels[0]), t.Depth(labels[1]); {
		case dx < dy:
			labels = labels[1:]
		case dx > dy:
			labels = labels[:1]
		}
	}
	a.a.Divergences = append(a.a.Divergences, labels...)
	return nil
}

// objection reports whether there is anything within a block against the placement.
func (a *answer) objection() bool {
	return len(a.a.Divergences) > 0 || slices.ContainsFunc(a.a.Races, func(r placer.Race) bool { return !r.OtherBlock })
}

// staticOracle asks the static engine.
type staticOracle struct {
	*marked
	diverging []placer.Label // a barrier there diverges whatever others there are
	first     bool           // diverging is known
	warpFirst bool           // for barriers of the warp, too
}

// Name implements placer.Oracle.
func (o *staticOracle) Name() string { return "static" }

// notJudgedError says why an oracle cannot judge a kernel.
type notJudgedError struct{ verdict diag.Verdict }

func (e *notJudgedError) Error() string { return e.verdict.Reason }

// Check implements placer.Oracle: it proves the placement right for all inputs, or names what it could not prove.
func (o *staticOracle) Check(ctx context.Context, p placer.Placement) (*placer.Answer, error) {
	a := newAnswer(o.marked, p)
	if !o.first {
		if err := o.uneven(ctx); err != nil {
			return nil, err
		}
		o.first = true
	}
	kernels, err := o.placed(p)
	if err != nil {
		return nil, err
	}
	for _, k := range kernels {
		if err := o.check(ctx, k, a, o.run(ctx, k, p)); err != nil {
			return nil, err
		}
	}
	a.a.Verified = !a.objection()
	if !o.warpFirst && slices.ContainsFunc(a.a.Races, func(r placer.Race) bool { return r.OneWarp }) {
		o.warpFirst = true
		all := placer.Placement{}
		for _, w := range o.warp {
			all[w] = true
		}
		if err := o.unevenOf(ctx, all, verify.WarpDiverging, func(l placer.Label) { o.diverging = append(o.diverging, o.warp[l]) }); err != nil {
			return nil, err
		}
	}
	a.a.Divergences = append(a.a.Divergences, o.diverging...)
	return &a.a, nil
}

// proof readies the proof of a placed kernel.
func (o *staticOracle) proof(k *ir.Func) (*proof, error) {
	cfg, errs := launch.Resolve(k, o.opt.Launch, o.in.facts)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	p := &proof{driver: o.driver, in: o.in, kernel: k, cfg: cfg, ways: true}
	p.fixed = p.scalars(o.marked.scalars)
	return p, nil
}

// severalWarps reports whether barriers of the warp are worth a thought: in a block of one warp they would be right
// for that launch and wrong for others, and cost as much.
func (d *driver) severalWarps(in *input, kernels []*ir.Func) bool {
	for _, k := range kernels {
		cfg, errs := launch.Resolve(k, d.opt.Launch, in.facts)
		if d.opt.blockOnly || len(errs) > 0 || cfg.Geometry.Block.Count() <= event.WarpSize {
			return false
		}
	}
	return true
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

// run returns the pairs of instructions that race in a run of the launch: of these nothing has to be disproved.
func (o *staticOracle) run(ctx context.Context, k *ir.Func, p placer.Placement) map[[2]source.Span]bool {
	seen := newAnswer(o.marked, p)
	if err := (&dynamicOracle{o.marked}).run(ctx, k, o.opt.Seed, seen); err != nil {
		return nil
	}
	return seen.shown
}

// check asks the static engine about one kernel.
func (o *staticOracle) check(ctx context.Context, k *ir.Func, a *answer, shown map[[2]source.Span]bool) error {
	pr, err := o.proof(k)
	if err != nil {
		return err
	}
	ran := func(f *verify.Finding) (seen, warps bool) {
		one, ok := shown[[2]source.Span{f.A.Span, f.B.Span}]
		two, again := shown[[2]source.Span{f.B.Span, f.A.Span}]
		return ok || again, one || two
	}
	pr.shown = func(f *verify.Finding) bool {
		if f.Kind != verify.Race || f.OtherBlock {
			return false
		}
		seen, _ := ran(f)
		return seen
	}
	if o.warps {
		pr.oneWarp = func(f *verify.Finding) bool { _, warps := ran(f); return !warps }
	}
	r, v := pr.verify(ctx, 0)
	if r == nil {
		return &notJudgedError{v}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		switch f.Kind {
		case verify.Divergence:
			if err := a.diverge(f.A, f.B); err != nil {
				return err
			}
		case verify.Race:
			if f.SameThread {
				continue // an asynchronous copy is waited for, not separated by a barrier
			}
			rc, err := o.race(f.A, f.B, f.OtherBlock, f.Ways)
			if err != nil {
				return err
			}
			rc.OneWarp = f.OneWarp
			if f.Reason != "" {
				rc.Why += " (undecided: " + f.Reason + ")"
			}
			space := event.Generic
			if f.Object != nil {
				space = f.Object.Space
			}
			a.race(rc, space)
		}
	}
	return nil
}

// uneven finds the labels at which a barrier diverges, with barriers at all of them.
func (o *staticOracle) uneven(ctx context.Context) error {
	all := placer.Placement{}
	for l := range o.tree.Labels {
		if n := &o.tree.Labels[l]; n.Barrier || !n.Closed {
			all[placer.Label(l)] = true
		}
	}
	return o.unevenOf(ctx, all, verify.Diverging, func(l placer.Label) { o.diverging = append(o.diverging, l) })
}

// unevenOf tells at which places the barriers of a placement diverge, by how that is asked.
func (o *staticOracle) unevenOf(ctx context.Context, all placer.Placement, ask func(context.Context, *lockstep.Thread, verify.Options) *verify.Result, tell func(placer.Label)) error {
	kernels, err := o.placed(all)
	if err != nil {
		return err
	}
	for _, k := range kernels {
		pr, err := o.proof(k)
		if err != nil {
			return err
		}
		th, err := lockstep.Build(ctx, k, lockstep.Options{Geometry: pr.cfg.Geometry, Args: pr.fixed})
		if err != nil {
			continue // then nothing is known before it is asked
		}
		r := ask(ctx, th, verify.Options{Pool: o.solving.pool()})
		for i := range r.Findings {
			if l, ok := o.barriers[r.Findings[i].A.Span]; ok {
				tell(l)
			}
		}
	}
	return nil
}

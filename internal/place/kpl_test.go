package place

import (
	"context"
	"math/bits"
	"slices"
)

// Kernels of the paper's language KPL (figure 8), with jumps and with conditions that read: what
// the tests of this package search barriers for. An expression is a function of the thread and of
// the iterations of the loops around.

const threads = 8

const everyone = 1<<threads - 1

type expr func(tid int, it []int) int

type access struct {
	write bool
	at    expr
}

func rd(at expr) access { return access{false, at} }
func wr(at expr) access { return access{true, at} }

// stmt is a statement; the lanes for which a jump's cond holds leave the innermost loop, or the
// kernel.
type stmt struct {
	kind     Kind
	cond     expr // of a Cond, a Loop or a jump: not 0
	accesses []access
	body     []*stmt
	jump     bool
	barrier  bool
	closed   bool
	label    Label
	start    Label
}

func do(a ...access) *stmt                { return &stmt{kind: Stmt, accesses: a} }
func cond(c expr, body ...*stmt) *stmt    { return &stmt{kind: Cond, cond: c, body: body} }
func loop(c expr, body ...*stmt) *stmt    { return &stmt{kind: Loop, cond: c, body: body} }
func leave(c expr) *stmt                  { return &stmt{kind: Stmt, cond: c, jump: true} }
func kernel(body ...*stmt) *stmt          { return &stmt{kind: Block, body: body} }
func (s *stmt) reading(a ...access) *stmt { s.accesses = a; return s }
func times(n int) expr                    { return func(_ int, it []int) int { return b2i(it[len(it)-1] < n) } }
func lanes(f func(tid int) bool) expr     { return func(tid int, _ []int) int { return b2i(f(tid)) } }
func tid(plus int) expr                   { return func(tid int, _ []int) int { return tid + plus } }
func in(array int, e expr) expr           { return func(t int, it []int) int { return 1000*array + e(t, it) } }
func both(a, b func(int, []int) bool) expr {
	return func(t int, it []int) int { return b2i(a(t, it) && b(t, it)) }
}
func every(n int) func(int, []int) bool { return func(t int, _ []int) bool { return t%n == 0 } }
func below(n, level int) func(int, []int) bool {
	return func(_ int, it []int) bool { return it[level] < n }
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// number gives the statements labels, in a tree.
func (s *stmt) number() *Tree {
	t := &Tree{}
	add := func(n Node) Label {
		t.Labels = append(t.Labels, n)
		l := Label(len(t.Labels) - 1)
		if n.Parent != None {
			t.Labels[n.Parent].Kids = append(t.Labels[n.Parent].Kids, l)
		}
		return l
	}
	var visit func(s *stmt, parent Label)
	visit = func(s *stmt, parent Label) {
		s.label = add(Node{Kind: s.kind, Parent: parent, Jump: s.jump, Barrier: s.barrier, Closed: s.closed})
		if s.kind == Stmt {
			return
		}
		s.start = add(Node{Kind: Start, Parent: s.label})
		for _, k := range s.body {
			visit(k, s.label)
		}
	}
	visit(s, None)
	return t
}

// step is an element of a trace of the synchronous semantics: a place for a barrier, or accesses.
type step struct {
	slot  bool
	label Label
	mask  uint
	iters []int
	acc   []access
}

// machine makes the trace of a kernel, which does not depend on barriers.
type machine struct {
	trace []step
	gone  uint
}

func (m *machine) slot(l Label, mask uint, it []int) {
	if mask != 0 {
		m.trace = append(m.trace, step{slot: true, label: l, mask: mask, iters: slices.Clone(it)})
	}
}

func (m *machine) access(s *stmt, mask uint, it []int) {
	if mask != 0 && len(s.accesses) > 0 {
		m.trace = append(m.trace, step{label: s.label, mask: mask, iters: slices.Clone(it), acc: s.accesses})
	}
}

func holds(c expr, mask uint, it []int) uint {
	on := uint(0)
	for t := range threads {
		if mask>>t&1 == 1 && c(t, it) != 0 {
			on |= 1 << t
		}
	}
	return on
}

// block runs a block's kids and returns the lanes that come to its end.
func (m *machine) block(s *stmt, mask uint, it []int, inLoop bool) uint {
	m.slot(s.start, mask, it)
	for _, k := range s.body {
		switch k.kind {
		case Stmt:
			m.access(k, mask, it)
			if k.jump {
				left := holds(k.cond, mask, it)
				mask &^= left
				if !inLoop {
					m.gone |= left
				}
			}
		case Cond:
			m.access(k, mask, it)
			on := holds(k.cond, mask, it)
			mask = mask&^on | m.block(k, on, it, inLoop)
		case Loop:
			active := mask
			for i := 0; ; i++ {
				inner := append(slices.Clip(it), i)
				m.access(k, active, inner)
				if active = holds(k.cond, active, inner); active == 0 {
					break
				}
				active = m.block(k, active, inner, true)
			}
			mask &^= m.gone
		}
		m.slot(k.label, mask, it)
	}
	return mask
}

// pair is a race of the kernel without barriers: where, which way, and the labels at which a
// barrier separates it.
type pair struct {
	a, b  Label
	level int
	path  Path
	by    uint64
}

// world is all that there is to know of a kernel.
type world struct {
	t         *Tree
	pairs     map[pair]bool
	divergent uint64
}

func explore(k *stmt) *world {
	w := &world{t: k.number(), pairs: map[pair]bool{}}
	x := newText(w.t)
	m := &machine{}
	m.block(k, everyone, nil, false)
	for _, s := range m.trace {
		if s.slot && s.mask != everyone {
			w.divergent |= 1 << s.label
		}
	}
	for i := range m.trace {
		by := uint64(0)
		for j := i; j < len(m.trace); j++ {
			u, v := &m.trace[i], &m.trace[j]
			if v.slot && v.mask == everyone {
				by |= 1 << v.label
			}
			if !u.slot && !v.slot && conflict(u, v) {
				p := way(x, u, v)
				p.by = by
				w.pairs[p] = true
			}
		}
	}
	return w
}

func conflict(u, v *step) bool {
	for t := range threads {
		for s := range threads {
			if s == t || u.mask>>t&1 == 0 || v.mask>>s&1 == 0 {
				continue
			}
			for _, a := range u.acc {
				for _, b := range v.acc {
					if (a.write || b.write) && a.at(t, u.iters) == b.at(s, v.iters) {
						return true
					}
				}
			}
		}
	}
	return false
}

// way says how two steps meet, of which u comes first: see Path.
func way(x *text, u, v *step) pair {
	p := pair{a: u.label, b: v.label, path: Near}
	swapped := x.site(p.a).at > x.site(p.b).at
	if swapped {
		p.a, p.b = p.b, p.a
	}
	common := len(x.commonLoops(x.site(p.a), x.site(p.b)))
	for j := range common {
		if d := v.iters[j] - u.iters[j]; d != 0 {
			p.level = j + 1
			if d > 1 || !swapped && p.a != p.b {
				p.path = Far
			}
			break
		}
	}
	return p
}

// open are the labels where a barrier may stand.
func (w *world) open() uint64 {
	set := uint64(0)
	x := newText(w.t)
	for l := range w.t.Labels {
		if x.open(Label(l)) {
			set |= 1 << l
		}
	}
	return set
}

// right reports whether a set of labels is a correct placement.
func (w *world) right(set uint64) bool {
	if set&w.divergent != 0 {
		return false
	}
	for p := range w.pairs {
		if p.by&set == 0 {
			return false
		}
	}
	return true
}

// best is the least cost of all placements, by trying each.
func (w *world) best(c Cost) (least float64, found bool) {
	all := w.open() &^ w.divergent
	for set := all; ; set = (set - 1) & all {
		if w.right(set) {
			if cost := c.Total(w.t, placement(set)); !found || cost < least {
				least, found = cost, true
			}
		}
		if set == 0 {
			return least, found
		}
	}
}

func placement(set uint64) Placement {
	p := Placement{}
	for ; set != 0; set &= set - 1 {
		p[Label(bits.TrailingZeros64(set))] = true
	}
	return p
}

func labelSet(p Placement) uint64 {
	set := uint64(0)
	for l, on := range p {
		if on {
			set |= 1 << l
		}
	}
	return set
}

// exactOracle knows everything of a world, and says what its fields allow.
type exactOracle struct {
	w      *world
	paths  bool // names the paths of races
	single bool // names one race at a time
	ahead  bool // says at once where barriers diverge
	asked  []Placement
}

func (o *exactOracle) Name() string { return "exact" }

func (o *exactOracle) Check(_ context.Context, p Placement) (*Answer, error) {
	o.asked = append(o.asked, p)
	set := labelSet(p)
	a := &Answer{}
	div := o.w.divergent
	if !o.ahead {
		div &= set
	}
	for ; div != 0; div &= div - 1 {
		a.Divergences = append(a.Divergences, Label(bits.TrailingZeros64(div)))
	}
	races := map[[2]Label][]Path{}
	for q := range o.w.pairs {
		if q.by&set == 0 {
			k := [2]Label{q.a, q.b}
			for len(races[k]) <= q.level {
				races[k] = append(races[k], 0)
			}
			races[k][q.level] |= q.path
		}
	}
	for k, paths := range races {
		r := Race{A: k[0], B: k[1]}
		if o.paths {
			r.Paths = paths
		}
		a.Races = append(a.Races, r)
	}
	slices.SortFunc(a.Races, func(r, s Race) int { return int(r.A-s.A)*100 + int(r.B-s.B) })
	if o.single && len(a.Races) > 1 {
		a.Races = a.Races[:1]
	}
	a.Verified = len(a.Races) == 0 && o.w.divergent&set == 0
	return a, nil
}

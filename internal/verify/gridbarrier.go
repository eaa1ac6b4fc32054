package verify

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Barriers of the grid by a counter: at a barrier of the block its leader, thread (0,0,0), adds one
// to a counter in global memory and waits until it finds k times the number of blocks there, at the
// k-th such barrier; another barrier of the block lets the others continue. Whoever is behind the
// k-th wait comes after whatever any block did before its k-th addition. The proof is in
// docs/theory/lock-step.md, "Barriers of the grid by a counter".
//
// Deviations and limits: additions of one to one counter, which nothing else writes, outside of
// loops or in one loop, behind which there is none. What happens in the interval in which the leader
// adds is released by the leader only, and acquired behind the barrier that follows the wait. That
// the counter is 0 when the kernel starts is an assumption of the verdict.

// gridBarrier is the counter at which the blocks of a kernel wait for each other.
type gridBarrier struct {
	p      *prover
	object *thread.Object
	sites  []site // in the order of one thread
	loads  []*thread.Access
	inLoop bool // some sites are in a loop
	loop   int  // the number of that loop, as in thread.Place
	around *ir.Loop
	blocks smt.Term // their number, 64 bits
	bars   []*ir.Instr
	isBar  func(*ir.Instr) bool
	// released and passed cache what is known of accesses
	released map[*thread.Access][]smt.Term
	passed   map[*thread.Access][]smt.Term
}

// site is an addition, and what follows the wait behind it.
type site struct {
	add *thread.Access
	end *thread.End    // the barrier of the block
	by  *thread.Access // the load that waits
}

// findGridBarrier returns the barrier of the kernel; nil if there is none.
func (p *prover) findGridBarrier() *gridBarrier {
	f := p.th.Func
	if f == nil || p.th.Lockstep || len(p.barriers(event.Global)) == 0 {
		return nil
	}
	for i := range p.th.Accesses {
		x := &p.th.Accesses[i]
		if !addsTo(x) || !p.adds(x, 1) || !p.ofGrid(x.Offset) {
			continue
		}
		if !p.countable() {
			return nil
		}
		g := &gridBarrier{p: p, object: x.Object,
			blocks: p.c.Const(1, 64), bars: p.barriers(event.Global),
			released: map[*thread.Access][]smt.Term{}, passed: map[*thread.Access][]smt.Term{}}
		g.isBar = func(in *ir.Instr) bool { return slices.Contains(g.bars, in) }
		for _, n := range p.th.Nctaid {
			g.blocks = p.c.Mul(g.blocks, p.c.ZExt(n, 64))
		}
		if g.collect(x) && !p.th.Slots.Stored(g.results()) && g.oneLoop() && g.waits() &&
			p.startsAtZero(x.Object) {
			return g
		}
	}
	return nil
}

// addsTo reports whether an access is an atomic addition of device scope to global memory.
func addsTo(x *thread.Access) bool {
	return x.Update == thread.Add && x.Object != nil && x.Object.Space == event.Global &&
		x.Scope >= event.GPU && !x.Async
}

// adds reports whether an addition adds n.
func (p *prover) adds(x *thread.Access, n uint64) bool {
	v, fixed := p.c.Value(x.Operands[0])
	return fixed && v == n
}

// collect finds the additions to the counter of x and the loads of it, and reports whether leaders
// alone add and nothing else writes it. An addition of 0 is a load that continues a chain of atomics.
func (g *gridBarrier) collect(x *thread.Access) bool {
	p := g.p
	for i := range p.th.Accesses {
		a := &p.th.Accesses[i]
		if !p.comparable(a, x) && (a.Object != x.Object || a.Kind.Writes()) {
			continue
		}
		same := a.Object == x.Object && a.Offset == x.Offset && a.Size == x.Size && a.Scope >= event.GPU
		switch {
		case same && addsTo(a) && p.adds(a, 1):
			if !p.always(a.Guard, p.leads()) {
				return false
			}
			g.sites = append(g.sites, site{add: a})
		case same && (a.Loaded != smt.False || a.Result != smt.False && addsTo(a) && p.adds(a, 0)):
			g.loads = append(g.loads, a)
		case a.Kind.Writes() && (a.Object == nil || !p.elsewhere(a, x)):
			return false
		}
	}
	slices.SortFunc(g.sites, func(a, b site) int { return a.add.Place.Rank - b.add.Place.Rank })
	return len(g.loads) > 0
}

// results are those of the additions to the counter, also of 0: nothing stores to it.
func (g *gridBarrier) results() []smt.Term {
	var out []smt.Term
	for _, s := range g.sites {
		out = append(out, s.add.Result)
	}
	for _, l := range g.loads {
		out = append(out, l.Result)
	}
	return out
}

// oneLoop reports whether the additions are outside of loops or, behind those, in one loop.
func (g *gridBarrier) oneLoop() bool {
	for _, s := range g.sites {
		switch loops := s.add.Place.Loops; {
		case len(loops) > 1 || len(loops) == 0 && g.inLoop ||
			len(loops) == 1 && g.inLoop && loops[0] != g.loop:
			return false
		case len(loops) == 1:
			g.inLoop, g.loop = true, loops[0]
		}
	}
	if !g.inLoop {
		return true
	}
	f, last := g.p.th.Func, g.sites[len(g.sites)-1].add.Instr
	for _, l := range ir.FindLoops(f, ir.Dominators(f)).Loops {
		if l.Depth == 1 && slices.ContainsFunc(l.Blocks, func(b ir.BlockID) bool {
			return slices.Contains(f.Blocks[b].Instrs, last)
		}) {
			g.around = l
		}
	}
	return g.around != nil
}

// within reports whether a place is in the loop of the additions.
func (g *gridBarrier) within(p thread.Place) bool {
	return g.inLoop && len(p.Loops) > 0 && p.Loops[0] == g.loop
}

// count is the largest number of additions that the leader of a block makes before a place, in an
// iteration of the loop if the place is in it; 64 bits. It is not known behind that loop.
func (g *gridBarrier) count(p thread.Place, iter smt.Term) (smt.Term, bool) {
	outside, each, before := 0, 0, 0
	for _, s := range g.sites {
		earlier := s.add.Place.Rank < p.Rank
		switch {
		case g.within(s.add.Place):
			each++
			if earlier {
				before++
			}
		case earlier:
			outside++
		}
	}
	c := g.p.c
	switch {
	case g.within(p):
		all := c.Mul(c.Const(uint64(each), 64), c.ZExt(iter, 64))
		return c.AddConst(all, uint64(outside+before)), true
	case before > 0:
		return 0, false
	}
	return c.Const(uint64(outside), 64), true
}

// waits finds what lets a block continue behind each addition, and reports whether it does so only
// when all blocks have made as many additions. The leader makes no other addition before.
func (g *gridBarrier) waits() bool {
	for i := range g.sites {
		if !g.waitsBehind(&g.sites[i]) {
			return false
		}
	}
	return true
}

func (g *gridBarrier) waitsBehind(s *site) bool {
	p := g.p
	for i := range p.th.Ends {
		e := &p.th.Ends[i]
		if e.Instr == nil || !g.isBar(e.Instr) || !p.onlyEnd(e.Instr) ||
			!slices.Equal(e.Place.Loops, s.add.Place.Loops) || e.Place.Rank < s.add.Place.Rank {
			continue
		}
		is := func(in *ir.Instr) bool { return in == e.Instr }
		if slices.ContainsFunc(g.sites, func(t site) bool {
			return g.p.routes().ReachesPast(s.add.Instr, t.add.Instr, is)
		}) {
			continue
		}
		for _, l := range g.loads {
			if g.lets(s, e, l) {
				s.end, s.by = e, l
				return true
			}
		}
	}
	return false
}

// lets reports whether a leader that reaches a barrier has found, by its last execution of a load,
// that all blocks have made as many additions as it may have itself, and has acquired what they did.
func (g *gridBarrier) lets(s *site, e *thread.End, l *thread.Access) bool {
	p, c := g.p, g.p.c
	if g.within(e.Place) != g.within(l.Place) || l.Place.Rank > e.Place.Rank { // not in front of it
		return false
	}
	if !acquires(l, event.Global) &&
		g.p.routes().ReachesPast(l.Instr, e.Instr, p.fence(event.Order.Acquires, event.Global)) {
		return false
	}
	last, ok := p.lastOf(l, e.Place.Loops)
	if !ok {
		return false
	}
	value := l.Loaded
	if value == smt.False {
		value = l.Result
	}
	most, ok := g.count(s.add.Place, iteration(e.Iters))
	if !ok {
		return false
	}
	n, wide := c.AddConst(most, 1), c.Const(1<<32, 64) // so that the product does not wrap
	return p.always(c.And(e.Guard, p.leads()), c.And(last.Apply(l.Guard), c.Ult(n, wide),
		c.Ult(g.blocks, wide), c.Ule(c.Mul(n, g.blocks), c.ZExt(last.Apply(value), 64))))
}

// iteration is that of the outermost loop around a place; smt.False outside of loops.
func iteration(iters []smt.Term) smt.Term {
	if len(iters) == 0 {
		return smt.False
	}
	return iters[0]
}

// before returns a number of additions: when the leader of a block has made so many, what the thread
// did at x is released. It returns nil if that is not known.
func (g *gridBarrier) before(x *thread.Access) []smt.Term {
	out, known := g.released[x]
	if known || x.Async {
		return out
	}
	if g.releasedByBlock(x) || g.p.always(x.Guard, g.p.leads()) && g.releasedFrom(x.Instr) {
		if n, ok := g.count(x.Place, iteration(x.Iters)); ok {
			out = []smt.Term{g.p.c.AddConst(n, 1)}
		}
	}
	g.released[x] = out
	return out
}

// releasedFrom reports whether a release pattern lies between an instruction of the leader and each
// addition that it may make next.
func (g *gridBarrier) releasedFrom(in *ir.Instr) bool {
	releasing := g.p.fence(event.Order.Releases, event.Global)
	return !slices.ContainsFunc(g.sites, func(s site) bool {
		return !releases(s.add.Instr, event.Global) &&
			g.p.routes().ReachesPast(in, s.add.Instr, releasing)
	})
}

// releasedByBlock reports whether a barrier lies between x and each addition of its leader that may
// follow, and a release pattern behind the barrier; and whether the leader makes no addition between
// the barriers around x, which might otherwise come before x or behind it.
func (g *gridBarrier) releasedByBlock(x *thread.Access) bool {
	reaches := func(from, to *ir.Instr) bool { return g.p.routes().ReachesPast(from, to, g.isBar) }
	starts := g.bars
	if first := g.first(); !g.isBar(first) {
		if first == x.Instr {
			return false
		}
		starts = append(slices.Clone(starts), first)
	}
	for _, b := range starts {
		if reaches(b, x.Instr) && slices.ContainsFunc(g.sites, func(s site) bool {
			return reaches(b, s.add.Instr)
		}) {
			return false
		}
	}
	return !slices.ContainsFunc(g.bars, func(b *ir.Instr) bool {
		return reaches(x.Instr, b) && !g.releasedFrom(b)
	})
}

// first is the first instruction of the kernel.
func (g *gridBarrier) first() *ir.Instr {
	for _, b := range g.p.th.Func.Blocks {
		if len(b.Instrs) > 0 {
			return b.Instrs[0]
		}
	}
	return nil
}

// behind returns numbers of additions that all blocks have made when a thread does y.
func (g *gridBarrier) behind(y *thread.Access) []smt.Term {
	out, known := g.passed[y]
	if known || y.Async {
		return out
	}
	c, in := g.p.c, g.within(y.Place)
	add := func(s *site, iter smt.Term, earlier bool) {
		if earlier {
			iter = c.AddConst(iter, ^uint64(0))
		}
		n, _ := g.count(s.add.Place, iter)
		n = c.AddConst(n, 1)
		if earlier {
			n = c.Ite(c.Eq(iter, c.Const(^uint64(0), 32)), c.Const(0, 64), n)
		}
		out = append(out, n)
	}
	for i := range g.sites {
		s := &g.sites[i]
		looped := g.within(s.add.Place)
		passes := g.p.routes().Dominates(s.end.Instr, y.Instr) && s.end.Instr != y.Instr
		switch {
		case !looped && passes:
			add(s, smt.False, false)
		case !looped:
		case in && passes:
			add(s, y.Iters[0], false)
		case in && g.eachIteration(s.end.Instr):
			add(s, y.Iters[0], true)
		case !in && passes:
			add(s, s.by.Last[0], false)
		case !in && g.eachIteration(s.end.Instr) && g.leaves(y.Instr):
			add(s, s.by.Last[0], true)
		}
	}
	g.passed[y] = out
	return out
}

// eachIteration reports whether a barrier is passed in each iteration of the loop that does not leave
// it.
func (g *gridBarrier) eachIteration(b *ir.Instr) bool {
	return !slices.ContainsFunc(g.around.Latches, func(l ir.BlockID) bool {
		ins := g.p.th.Func.Blocks[l].Instrs
		return len(ins) == 0 || !g.p.routes().Dominates(b, ins[len(ins)-1])
	})
}

// leaves reports whether a thread that reaches an instruction has been in the loop.
func (g *gridBarrier) leaves(in *ir.Instr) bool {
	header := g.p.th.Func.Blocks[g.around.Header].Instrs
	return len(header) > 0 && g.p.routes().Dominates(header[0], in)
}

// query adds to the query of a pair of accesses in two blocks that the barrier does not order them,
// and returns the terms of the two threads that this is about.
func (g *gridBarrier) query(a, b *thread.Access, q []smt.Term) ([]smt.Term, [2][]smt.Term) {
	c, s := g.p.c, g.p.far
	var about [2][]smt.Term
	for t, xy := range [2][2]*thread.Access{{a, b}, {b, a}} {
		for _, n := range g.before(xy[0]) {
			for _, m := range g.behind(xy[1]) {
				q = append(q, c.Ult(s[1-t].Apply(m), s[t].Apply(n)))
				about[t], about[1-t] = append(about[t], n), append(about[1-t], m)
			}
		}
	}
	return q, about
}

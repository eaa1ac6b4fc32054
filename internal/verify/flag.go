package verify

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Flags: a thread writes data and then stores a flag that is 0 at first; another thread waits until
// it finds the flag set, and reads the data. Its load observes the store, so that the release
// pattern before the store synchronizes with the acquire pattern behind the load (PTX ISA 8.8,
// 8.9.4). The proof is in docs/theory/lock-step.md, "Flags".
//
// Deviations and limits: flags are elements of arrays in global memory, and each is set by strong
// stores, exchanges or additions of one thread, in loops only if each thread sets each flag at most
// once; stores of 0 may reset them. Atomics
// that leave a flag as it is read it. A block may work
// for its thread (0,0,0), its leader, on both sides of barriers. That the flags are 0 when the
// kernel starts is an assumption of the verdict. Values that reach a thread through a flag are not
// followed. As for locks, each load must return anything (thread.Thread.Adversarial).

// flags are the flags in one array.
type flags struct {
	p      *prover
	object *thread.Object
	sets   []*thread.Access // that do not store 0
	loads  []*thread.Access
	// releases are the release patterns that each set is part of, by the set
	releases map[*thread.Access][]*ir.Instr
	behind   map[*thread.Access][]found // see foundAt
	lead     bool                       // leaders alone set them
	looped   bool                       // some sets are in loops; no thread sets a flag twice
	loops    []*ir.Loop
	// leaders turn terms of a thread into those of the leader of the block of each of two threads
	leaders [2]func(smt.Term) smt.Term
}

// mayWait reports whether a strong load, or an atomic, reads an array to which a strong store of the
// thread goes, or another atomic.
func mayWait(th *thread.Thread, a *thread.Access) bool {
	return finds(th.Context, a) != smt.False && a.Object != nil && a.Object.Space == event.Global &&
		slices.ContainsFunc(th.Accesses, func(w thread.Access) bool {
			return w.Object == a.Object && w.Instr != a.Instr && w.Kind.Writes() && w.Order.Strong()
		})
}

// finds is what a strong load, or an atomic that is one, finds in memory; smt.False for others.
// Besides those that leave the element as it is, an exchange for 0 looks whether a flag is set.
func finds(c *smt.Context, a *thread.Access) smt.Term {
	zero := func(i int) bool {
		v, fixed := c.Value(a.Operands[i])
		return fixed && v == 0
	}
	switch {
	case a.Loaded != smt.False:
		return a.Loaded
	case a.Result != smt.False && (keeps(c, a) || a.Update == thread.Exchange && zero(0)):
		return a.Result
	}
	return smt.False
}

// keeps reports whether an atomic leaves the element as it is: it adds 0, or swaps a value for the
// same one. It continues a chain of atomics (PTX ISA 8.9.2).
func keeps(c *smt.Context, a *thread.Access) bool {
	switch a.Update {
	case thread.Add:
		v, fixed := c.Value(a.Operands[0])
		return fixed && v == 0
	case thread.CompareAndSwap:
		return a.Operands[0] == a.Operands[1]
	}
	return false
}

// findFlags returns the arrays of flags of the kernel that meet the conditions.
func (p *prover) findFlags() []*flags {
	var out []*flags
	seen := map[*thread.Object]bool{}
	for i := range p.th.Accesses {
		a := &p.th.Accesses[i]
		if mayWait(p.th, a) && !seen[a.Object] {
			seen[a.Object] = true
			if f := p.newFlags(a.Object); f != nil && p.startsAtZero(a.Object) {
				out = append(out, f)
			}
		}
	}
	return out
}

// newFlags returns the flags in an array; nil if its elements are not used as flags.
func (p *prover) newFlags(o *thread.Object) *flags {
	f := &flags{p: p, object: o, leaders: p.leaders(),
		releases: map[*thread.Access][]*ir.Instr{}, behind: map[*thread.Access][]found{}}
	for i := range p.th.Accesses {
		a := &p.th.Accesses[i]
		if a.Object == o && finds(p.c, a) != smt.False && a.Scope >= event.GPU && !a.Async {
			f.loads = append(f.loads, a)
		}
	}
	size := 0
	for _, l := range f.loads {
		size = max(size, l.Size)
	}
	for i := range p.th.Accesses {
		w := &p.th.Accesses[i]
		if !w.Kind.Writes() || w.Object != nil && w.Object != o ||
			w.Object == nil && w.Space != event.Global && w.Space != event.Generic {
			continue
		}
		value, stores := stored(w)
		if w.Object == nil || !stores || w.Size != size || !w.Order.Strong() || w.Scope < event.GPU {
			return nil
		}
		if keeps(p.c, w) {
			continue
		}
		if zero, fixed := p.c.Value(value); fixed && zero == 0 && w.Update != thread.Add {
			continue
		}
		f.looped = f.looped || len(w.Iters) > 0
		f.sets = append(f.sets, w)
		f.releases[w] = f.releasedBy(w)
	}
	f.loads = slices.DeleteFunc(f.loads, func(l *thread.Access) bool { return l.Size != size })
	f.lead = !slices.ContainsFunc(f.sets, func(w *thread.Access) bool {
		return !p.always(w.Guard, p.leads())
	})
	if len(f.sets) == 0 || !f.ownElements() || f.looped && !f.eachOnce() {
		return nil
	}
	f.loops = ir.FindLoops(p.th.Func, ir.Dominators(p.th.Func)).Loops
	return f
}

// eachOnce reports whether no thread sets a flag by two executions of sets.
func (f *flags) eachOnce() bool {
	p, c := f.p, f.p.c
	s := [2]*smt.Substitution{c.Substitute(), symbol.Iterations(c)}
	for i, x := range f.sets {
		for j, y := range f.sets[i:] {
			q := []smt.Term{x.Guard, s[1].Apply(y.Guard),
				p.overlap(x.Offset, x.Size, s[1].Apply(y.Offset), y.Size)}
			if j == 0 { // one instruction, in two iterations
				var same []smt.Term
				for _, k := range x.Iters {
					same = append(same, c.Eq(k, s[1].Apply(k)))
				}
				q = append(q, c.Not(c.And(same...)))
			}
			if !p.unsat(q, [2][]smt.Term{{x.Guard, x.Offset}, {y.Guard, y.Offset}}, s) {
				return false
			}
		}
	}
	return true
}

// iterationOf returns the innermost loop around an access that is around other places as well, so
// that what these do in one iteration of it can be compared; nil if there is none.
func (f *flags) iterationOf(at thread.Place, in *ir.Instr, others ...thread.Place) *ir.Loop {
	n := len(at.Loops)
	if n == 0 || slices.ContainsFunc(others, func(o thread.Place) bool {
		return len(o.Loops) < n || !slices.Equal(o.Loops[:n], at.Loops)
	}) {
		return nil
	}
	for _, l := range f.loops {
		if l.Depth == n && f.inside(l, in) {
			return l
		}
	}
	return nil
}

// inside reports whether an instruction is in a loop.
func (f *flags) inside(l *ir.Loop, in *ir.Instr) bool {
	return slices.ContainsFunc(l.Blocks, func(b ir.BlockID) bool {
		return slices.Contains(f.p.th.Func.Blocks[b].Instrs, in)
	})
}

// later reports whether an instruction may be executed behind another one: in one iteration of a
// loop that both are in, or if it is nil, at all.
func (f *flags) later(l *ir.Loop, from, to *ir.Instr) bool {
	if l == nil {
		return f.p.routes().Reaches(from, to)
	}
	header := f.p.th.Func.Blocks[l.Header].Instrs
	return !f.inside(l, from) || len(header) == 0 ||
		f.p.routes().ReachesPast(from, to, func(in *ir.Instr) bool { return in == header[0] })
}

// stored returns what an access to one element puts there, whatever was there, and whether it does
// so. The value is smt.False, which is no value of a flag, if it is not known: of an addition, and of
// a swap that keeps what is there.
func stored(w *thread.Access) (smt.Term, bool) {
	switch {
	case w.Kind == event.Write && len(w.Values) == 1 && !w.Async:
		return w.Values[0], true
	case w.Update == thread.Exchange:
		return w.Operands[0], true
	case w.Update == thread.Add || w.Update == thread.CompareAndSwap && w.Operands[0] == w.Operands[1]:
		return smt.False, true
	}
	return smt.False, false
}

// ownElements reports whether each flag is set by one thread.
func (f *flags) ownElements() bool {
	p := f.p
	other := p.c.Or(p.differ(p.far, p.th.Tid), p.differ(p.far, p.th.Ctaid))
	for i, x := range f.sets {
		for _, y := range f.sets[i:] {
			if !p.disjoint(x, y, p.far, other) {
				return false
			}
		}
	}
	return true
}

// releasedBy returns the first operations of the release patterns that a set is part of: fences
// before it, or the set itself.
func (f *flags) releasedBy(set *thread.Access) []*ir.Instr {
	var out []*ir.Instr
	if set.Order.Releases() {
		out = append(out, set.Instr)
	}
	for _, r := range f.p.th.Fences {
		if r.Scope >= event.GPU && r.Order.Releases() && f.p.routes().Dominates(r, set.Instr) {
			out = append(out, r)
		}
	}
	return out
}

// before reports whether the thread that sets a flag, or its block if byBlock, does x before the
// release pattern that the store is part of, whenever it does x at all: in the iteration in which
// it sets the flag, if both are in the loop around that.
func (f *flags) before(x, set *thread.Access, byBlock bool) bool {
	if x.Async || x == set {
		return false
	}
	space, l := spaceOf(x), f.iterationOf(set.Place, set.Instr, x.Place)
	return slices.ContainsFunc(f.releases[set], func(r *ir.Instr) bool {
		switch {
		case !r.Orders.Covers(space):
			return false
		case !byBlock:
			return !f.later(l, r, x.Instr)
		}
		return slices.ContainsFunc(f.p.barriers(space), func(b *ir.Instr) bool {
			return f.p.routes().Dominates(b, r) && !f.later(l, b, x.Instr)
		})
	})
}

// found is what a thread knows of a flag when it does something.
type found struct {
	at, value smt.Term // the offset of the flag, and what the load has returned
	byBlock   bool     // the leader of its block has loaded it
	// shared are the counters of the loops, in whose iteration the leader has done so
	shared []smt.Term
}

// foundAt returns the flags that a thread has found set when it does y: the last load has returned
// something other than 0, and an acquire pattern lies in between. It asks once for each access.
func (f *flags) foundAt(y *thread.Access) []found {
	out, known := f.behind[y]
	if known || y.Async {
		return out
	}
	for _, l := range f.loads {
		if l == y {
			continue
		}
		if v, ok := f.own(y, l); ok {
			out = append(out, v)
		} else if v, ok := f.led(y, l); ok {
			out = append(out, v)
		}
	}
	f.behind[y] = out
	return out
}

// acquired reports whether an acquire pattern of accesses to a space lies between a load and an
// instruction on all paths.
func (f *flags) acquired(l *thread.Access, to *ir.Instr, s event.Space) bool {
	return acquires(l, s) || !f.p.routes().ReachesPast(l.Instr, to, f.p.fence(event.Order.Acquires, s))
}

// own is foundAt for a thread that loads the flag itself.
func (f *flags) own(y, l *thread.Access) (found, bool) {
	again := f.p.routes().Reaches(y.Instr, l.Instr) // so that the last load may come after y
	if again && !f.p.routes().Dominates(l.Instr, y.Instr) || !f.acquired(l, y.Instr, spaceOf(y)) {
		return found{}, false
	}
	return f.set(l, y.Guard, y.Place.Loops)
}

// led is foundAt for a thread behind a barrier at which its leader has found the flag set. The
// leader arrives there, since a proof shows that barriers do not diverge.
func (f *flags) led(y, l *thread.Access) (found, bool) {
	p, space := f.p, spaceOf(y)
	for i := range p.th.Ends {
		e := &p.th.Ends[i]
		if e.Instr == nil || e.Instr.Guard != ir.NoReg || !e.Orders.Covers(space) ||
			!p.onlyEnd(e.Instr) {
			continue
		}
		around := f.iterationOf(e.Place, e.Instr, l.Place, y.Place)
		if around == nil && f.p.routes().Reaches(e.Instr, e.Instr) ||
			f.later(around, e.Instr, l.Instr) || f.later(around, y.Instr, e.Instr) ||
			!f.acquired(l, e.Instr, space) || !p.always(y.Guard, e.Guard) {
			continue
		}
		if v, ok := f.set(l, p.c.And(e.Guard, p.leads()), e.Place.Loops); ok {
			v.byBlock, v.shared = true, e.Iters
			return v, true
		}
	}
	return found{}, false
}

// onlyEnd reports whether one interval end says when threads reach a barrier.
func (p *prover) onlyEnd(in *ir.Instr) bool {
	n := 0
	for i := range p.th.Ends {
		if p.th.Ends[i].Instr == in {
			n++
		}
	}
	return n == 1
}

// set reports whether a guard implies that the last execution of a load, before a place in loops,
// has returned something other than 0, and returns which flag it was and what it has returned.
func (f *flags) set(l *thread.Access, guard smt.Term, loops []int) (found, bool) {
	c := f.p.c
	last, ok := f.p.lastOf(l, loops)
	if !ok {
		return found{}, false
	}
	value := last.Apply(finds(c, l))
	is := c.And(last.Apply(l.Guard), c.Not(c.Eq(value, c.Const(0, c.Width(value)))))
	if !f.p.always(guard, is) {
		return found{}, false
	}
	return found{at: last.Apply(l.Offset), value: value}, true
}

// order is the formula that x, of thread t, happens before y, of the other one, the terms of the
// two threads of which it is made, and facts about the leaders of their blocks.
type order struct {
	holds   smt.Term
	threads [2][]smt.Term
	leaders []smt.Term
}

// ordered returns the order of x, of thread t, before y of the other one by a flag that thread t or
// its leader sets. What the other thread has found is what that thread alone has stored: some store
// at that place with that value, and x is before each of those. In loops, it is the only one.
func (f *flags) ordered(x, y *thread.Access, s [2]*smt.Substitution, t int, otherBlock bool) order {
	c, out := f.p.c, order{holds: smt.False}
	for _, byBlock := range []bool{false, true} {
		if byBlock && (!otherBlock || !f.lead) {
			break
		}
		if !slices.ContainsFunc(f.sets, func(w *thread.Access) bool { return f.before(x, w, byBlock) }) {
			continue
		}
		for _, v := range f.foundAt(y) {
			if v.byBlock && !otherBlock {
				continue
			}
			found := f.of(v.byBlock, 1-t, s, v.shared, &out, v.at, v.value)
			some, all := smt.False, smt.True
			for _, w := range f.sets {
				before := f.before(x, w, byBlock)
				if f.looped && !before {
					continue
				}
				var shared []smt.Term
				if f.iterationOf(w.Place, w.Instr, x.Place) != nil {
					shared = w.Iters
				}
				stores, _ := stored(w)
				set := f.of(byBlock, t, s, shared, &out, w.Guard, w.Offset, stores)
				one := c.And(set[0], c.Eq(set[1], found[0]))
				if before {
					some = c.Or(some, one)
					continue
				}
				if stores != smt.False {
					one = c.And(one, c.Eq(set[2], found[1]))
				}
				all = c.And(all, c.Not(one))
			}
			out.holds = c.Or(out.holds, c.And(some, all))
		}
	}
	return out
}

// of returns terms of thread t, or of the leader of its block, and notes them. The leader is in the
// same iteration of the loops with the counters in shared.
func (f *flags) of(byBlock bool, t int, s [2]*smt.Substitution, shared []smt.Term, out *order,
	terms ...smt.Term) []smt.Term {
	p := f.p
	rename := s[t].Apply
	if byBlock {
		same := p.c.Substitute()
		for _, k := range shared {
			same.Replace(f.leaders[t](k), s[t].Apply(k))
		}
		rename = func(x smt.Term) smt.Term { return same.Apply(f.leaders[t](x)) }
		for _, ax := range slices.Concat(p.th.Axioms.For(terms, 2), p.th.Assumed) {
			out.leaders = append(out.leaders, rename(ax))
		}
	} else {
		out.threads[t] = append(out.threads[t], terms...)
	}
	renamed := make([]smt.Term, len(terms))
	for i, x := range terms {
		renamed[i] = rename(x)
	}
	return renamed
}

// publish adds to the query of a pair of accesses that no flag orders them, and returns the terms
// of the two threads that this is about. It notes the flags of which the query uses something.
func (p *prover) publish(a, b *thread.Access, s [2]*smt.Substitution, otherBlock bool,
	q []smt.Term) ([]smt.Term, [2][]smt.Term, []*thread.Object) {
	var about [2][]smt.Term
	var used []*thread.Object
	for _, f := range p.flags {
		some := false
		for t, xy := range [2][2]*thread.Access{{a, b}, {b, a}} {
			o := f.ordered(xy[0], xy[1], s, t, otherBlock)
			if o.holds == smt.False {
				continue
			}
			some = true
			q = append(q, p.c.Not(o.holds))
			for i := range 2 {
				about[i] = append(about[i], o.threads[i]...)
			}
			q = append(q, o.leaders...)
		}
		if some {
			used = append(used, f.object)
		}
	}
	return q, about, used
}

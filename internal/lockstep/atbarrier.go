package lockstep

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Barrier invariants (Chong, Donaldson, Kelly, Ketema and Qadeer, "Barrier invariants: a shared state abstraction for the
// analysis of data-dependent GPU kernels", OOPSLA 2013). What each thread finds right when it comes to a barrier holds behind it, of
// what memory holds then, for each thread of the block; a proof uses it for the threads that the annotation names.
//
// What a thread sees when it comes to the barrier is what memory holds behind it only if no other thread writes what the
// invariant reads in that interval. Whether one does is asked before anything is concluded (BarrierFact.Reads).

// BarrierFact is a barrier invariant that is used behind its barrier, if Trusted holds.
type BarrierFact struct {
	Trusted smt.Term
	Reads   []Access // what the invariant reads, as if they were accesses of the thread
}

// pendingFact is a barrier invariant on the way to its barrier.
type pendingFact struct {
	cond, guard smt.Term // made of ghost loads
	threads     []smt.Term
	trusted     smt.Term
}

// barrierInvariant checks an invariant, and keeps it for the barrier. Of those about pairs nothing is used.
func (x *exec) barrierInvariant(in *ir.Instr, cond smt.Term, st *state) {
	threads := st.threads
	if v, ok := x.c.Value(x.argument(in, 1, 32, st)); ok && v == 0 && len(threads) > 0 && x.viewing() {
		f := &pendingFact{
			cond: x.whereEnabled(cond), guard: x.c.And(x.outer, st.pred, x.guard), threads: threads,
			trusted: x.c.BoolVar(fmt.Sprintf("%strusted%d", inGrid, in.Index)),
		}
		if reads, ok := x.readsOf(in, x.c.And(f.cond, f.guard), x.now, st); ok && !x.speaksOfOther(f.cond) {
			st.pending = append(slices.Clip(st.pending), f)
			if x.final {
				x.th.BarrierFacts = append(x.th.BarrierFacts, BarrierFact{f.trusted, reads})
			}
		}
	}
	x.stated(in, BarrierInvariant, cond, st)
}

// speaksOfOther reports whether a term needs what the other thread of a pair has, or the accesses of a thread.
func (x *exec) speaksOfOther(t smt.Term) bool {
	found := false
	x.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if op := x.c.Op(u); op == smt.OpVar || op == smt.OpApp {
			_, other := x.th.Others[x.c.Name(u)]
			found = found || other || x.c.Name(u) == SameBlock || x.logs[u].Has != 0
		}
	})
	return found
}

// behind says after a barrier of the block what the invariants before it make known.
func (x *exec) behind(in *ir.Instr, pending []*pendingFact, st *state) {
	if in.Guard != ir.NoReg {
		return
	}
	for _, f := range pending {
		for _, t := range f.threads {
			if fact, ok := x.factFor(in, f, t, st); ok {
				st.known = x.c.And(st.known, x.c.Implies(f.trusted, fact))
			}
		}
	}
}

// factFor is an invariant for the thread of index t in its block, of what memory holds in st.
func (x *exec) factFor(in *ir.Instr, f *pendingFact, t smt.Term, st *state) (smt.Term, bool) {
	c := x.c
	s := c.Substitute()
	exists := smt.True
	if own := x.th.Tid[0]; t != c.ZExt(own, 64) && t != c.SExt(own, 64) {
		if g := x.opt.Geometry.Block; g.Y != 1 || g.Z != 1 || !x.sharedButIndex(f.cond) || !x.sharedButIndex(f.guard) {
			return 0, false
		}
		exists = c.Ult(t, c.ZExt(x.th.Ntid[0], 64))
		s.Replace(own, c.Extract(t, 0, 32))
	}
	return c.Implies(c.And(exists, x.laterOf(f.guard, s, in.Orders, st)), x.laterOf(f.cond, s, in.Orders, st)), true
}

// laterOf is a term of another thread, as s renames it, with what it loads read behind a barrier that orders by.
func (x *exec) laterOf(t smt.Term, s *smt.Substitution, by event.Orders, st *state) smt.Term {
	loads := x.loadsIn(t)
	if s.Len() > 0 {
		t = s.Apply(t) // the loads are symbols without the index of the thread
	}
	values := x.c.Substitute()
	for _, u := range loads {
		l := x.ghosts[u]
		values.Replace(u, x.heldBehind(l, x.laterOf(l.addr, s, by, st), s.Len() == 0, by, st))
	}
	if values.Len() == 0 {
		return t
	}
	return values.Apply(t)
}

// heldBehind is what memory holds at an address behind a barrier. Of memory that the barrier does not order, the thread saw something when
// it came to the barrier: anything.
// A snapshot is the thread's own.
func (x *exec) heldBehind(l ghostLoad, addr smt.Term, own bool, by event.Orders, st *state) smt.Term {
	o, off, ok := x.baseAndOffset(addr)
	switch {
	case !ok, o.Field == itself, !ordersPart(by, partOf(o.Space)):
		return x.fresh("behind", x.c.Width(l.value))
	case st.snaps[o] != nil && own:
		return x.readOr(st.snaps[o], off, l.elem, "behind")
	case st.snaps[o] != nil:
		return x.fresh("behind", x.c.Width(l.value))
	case !x.dirty.written[o] && !x.dirty.any[o.Space]:
		return x.ever(o, off, l.elem)
	}
	return x.atStart(o, off, l.elem, st)
}

// sharedButIndex reports whether a term is the same for all threads of a block that come to one barrier together, but for the
// thread's index in x and what is loaded.
func (x *exec) sharedButIndex(t smt.Term) bool {
	around := map[smt.Term]bool{}
	for _, k := range x.counters() {
		around[k] = true
	}
	ok := true
	x.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if op := x.c.Op(u); op != smt.OpVar && op != smt.OpApp || around[u] || u == x.th.Tid[0] {
			return
		}
		if l, is := x.ghosts[u]; is {
			ok = ok && x.sharedButIndex(l.addr)
			return
		}
		ok = ok && !strings.HasPrefix(x.c.Name(u), private)
	})
	return ok
}

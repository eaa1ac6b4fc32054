package annotation

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Barrier invariants (Chong, Donaldson, Kelly, Ketema and Qadeer, "Barrier invariants: a shared
// state abstraction for the analysis of data-dependent GPU kernels", OOPSLA 2013). What each thread
// finds true when it reaches a barrier holds behind it, of what memory holds then, for each thread
// of the block. A proof uses it for the threads that the annotation names.
//
// What a thread sees when it reaches the barrier is what memory holds behind it only if no other
// thread writes what the invariant reads in that interval. Whether one does is checked before
// anything is concluded (thread.BarrierFact.Reads).
//
// An invariant about pairs is used for the thread itself and the other one of a pair that a query is
// about, if both have reached the annotation and are in one block.
//
// Deviations: invariants about pairs are used for the pair in which the annotation states them, and
// for no others; an invariant about one thread is used for another one only in blocks with one
// dimension.

// pendingFact is a barrier invariant between its annotation and its barrier.
type pendingFact struct {
	cond, guard smt.Term // over symbols for loads
	threads     []smt.Term
	trusted     smt.Term
	pair        smt.Term // of an invariant about pairs: the other thread is here, in the same block
}

// barrierInvariant checks an invariant, and keeps it for the barrier.
func (a *Annotations) barrierInvariant(s Site, cond smt.Term) {
	in, st := s.Instr(), s.Notes()
	threads := st.threads
	if v, ok := a.c.Value(s.Argument(1, 32)); ok && len(threads) > 0 && a.mem.Viewing() {
		f := &pendingFact{
			cond: a.whereEnabled(cond), guard: a.arrives(s), threads: threads,
			trusted: a.c.BoolVar(fmt.Sprintf("%strusted%d", symbol.Grid, in.Index)), pair: smt.True,
		}
		usable := !a.speaksOfOther(f.cond) && !a.loadsOfOther(f.cond)
		if v != 0 {
			f.pair = a.c.And(a.c.BoolVar(symbol.SameBlock), a.otherIsHere(s))
			usable = a.areThePair(threads) && !a.speaksOfAccesses(f.cond)
			f.threads = threads[:1]
		}
		if reads, ok := a.readsOf(s, a.c.And(f.cond, f.guard), a.Now); ok && usable {
			st.pending = append(slices.Clip(st.pending), f)
			if a.host.Final() {
				a.th.BarrierFacts = append(a.th.BarrierFacts,
					thread.BarrierFact{Trusted: f.trusted, Reads: reads})
			}
		}
	}
	a.stated(s, thread.BarrierInvariant, cond)
}

// areThePair reports whether the threads of an invariant about pairs are the thread itself and the
// other one, by their index in x.
func (a *Annotations) areThePair(threads []smt.Term) bool {
	own := a.th.Tid[0]
	if len(threads) != 2 || threads[0] != a.c.ZExt(own, 64) && threads[0] != a.c.SExt(own, 64) {
		return false
	}
	theirs, ok := a.ofOther(threads[1])
	return ok && theirs == threads[0]
}

// loadsOfOther reports whether a condition loads at addresses of the other thread.
func (a *Annotations) loadsOfOther(cond smt.Term) bool {
	for _, u := range a.in(cond) {
		if l := a.loads.of[u]; l.ofOther || a.speaksOfOther(l.addr) {
			return true
		}
	}
	return false
}

// speaksOfAccesses reports whether a condition asks for the accesses of a thread.
func (a *Annotations) speaksOfAccesses(cond smt.Term) bool {
	found := false
	a.c.Visit([]smt.Term{cond}, func(u smt.Term) { found = found || a.logs[u].Has != 0 })
	return found
}

// Barrier uses the invariants in front of a barrier behind it; block says whether it is one of the
// whole block. No annotation extends beyond a barrier.
func (a *Annotations) Barrier(s Site, block bool) {
	in, st := s.Instr(), s.Notes()
	if block && in.Guard == ir.NoReg {
		for _, f := range st.pending {
			for _, t := range f.threads {
				if fact, ok := a.factFor(s, f, t); ok {
					st.known = a.c.And(st.known, a.c.Implies(a.c.And(f.trusted, f.pair), fact))
				}
			}
		}
	}
	st.pending, st.ghost = nil, smt.False
}

// factFor is an invariant for the thread of index t in its block, of what memory holds at the site.
func (a *Annotations) factFor(s Site, f *pendingFact, t smt.Term) (smt.Term, bool) {
	c := a.c
	by := c.Substitute()
	exists := smt.True
	if own := a.th.Tid[0]; t != c.ZExt(own, 64) && t != c.SExt(own, 64) {
		if g := a.th.Geometry.Block; g.Y != 1 || g.Z != 1 || !a.sameButIndex(f.cond) ||
			!a.sameButIndex(f.guard) {
			return 0, false
		}
		exists = c.Ult(t, c.ZExt(a.th.Ntid[0], 64))
		by.Replace(own, c.Extract(t, 0, 32))
	}
	return c.Implies(c.And(exists, a.behind(s, f.guard, by)), a.behind(s, f.cond, by)), true
}

// behind is a term of another thread, as by renames it, with its loads reading memory behind the
// barrier at the site.
func (a *Annotations) behind(s Site, t smt.Term, by *smt.Substitution) smt.Term {
	all := a.in(t)
	if by.Len() > 0 {
		t = by.Apply(t) // the symbols for loads do not contain the index of the thread
	}
	values := a.c.Substitute()
	for _, u := range all {
		values.Replace(u, a.heldBehind(s, a.loads.of[u], by))
	}
	if values.Len() == 0 {
		return t
	}
	return values.Apply(t)
}

// heldBehind is what memory behind the barrier holds for a load. A snapshot is the thread's own.
func (a *Annotations) heldBehind(s Site, l load, by *smt.Substitution) smt.Term {
	at := memory.Behind{
		Addr: a.behind(s, l.addr, by), Size: l.elem, By: s.Instr().Orders, Own: by.Len() == 0,
	}
	return a.mem.ReadBehind(at, s.Memory(), func() smt.Term {
		return a.host.Unknown("behind", a.c.Width(l.value))
	})
}

// sameButIndex reports whether a term is the same for all threads of a block that reach one barrier
// together, except for the thread's index in x and what is loaded.
func (a *Annotations) sameButIndex(t smt.Term) bool {
	around := map[smt.Term]bool{}
	for _, k := range a.host.Counters() {
		around[k] = true
	}
	ok := true
	a.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if !symbol.Is(a.c, u) || around[u] || u == a.th.Tid[0] {
			return
		}
		if l, is := a.loads.of[u]; is {
			ok = ok && a.sameButIndex(l.addr)
			return
		}
		ok = ok && !strings.HasPrefix(a.c.Name(u), symbol.Private)
	})
	return ok
}

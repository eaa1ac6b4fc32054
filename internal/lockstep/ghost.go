package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Loads within annotations. A condition may be meant for another moment than that in which it is computed: the end of a
// function, the time behind a barrier, a thread that does not come by. So what it loads is a symbol, for which a value is put in
// when it is known what moment is meant: now, or later.

// ghostLoad is what a load within an annotation reads.
type ghostLoad struct {
	addr  smt.Term // may be made of other ghost loads
	elem  int      // bytes
	value smt.Term // at the moment of the load
	weak  bool
}

// ghostRead is the symbol for element i of a load.
func (x *exec) ghostRead(in *ir.Instr, addr smt.Term, i, elem int, value smt.Term) smt.Term {
	sym := x.apply(fmt.Sprintf("%sghost%d.%d", private, in.Index, i), x.c.Width(value), x.counters())
	x.ghosts[sym] = ghostLoad{x.c.AddConst(addr, uint64(i*elem)), elem, value, !in.Order.Strong()}
	return sym
}

// loadsIn returns the ghost loads that a term is made of.
func (x *exec) loadsIn(t smt.Term) []smt.Term {
	if len(x.ghosts) == 0 {
		return nil
	}
	var out []smt.Term
	seen := map[smt.Term]bool{}
	x.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if _, ok := x.ghosts[u]; ok && !seen[u] {
			seen[u] = true
			out = append(out, u)
		}
	})
	return out
}

// now puts the values in that the loads had.
func (x *exec) now(t smt.Term) smt.Term {
	return x.replaceLoads(t, func(l ghostLoad) smt.Term { return l.value })
}

// later puts the values in that the loads would have in st.
func (x *exec) later(t smt.Term, st *state) smt.Term {
	return x.replaceLoads(t, func(l ghostLoad) smt.Term { return x.loadLater(l, st) })
}

func (x *exec) replaceLoads(t smt.Term, value func(ghostLoad) smt.Term) smt.Term {
	loads := x.loadsIn(t)
	if len(loads) == 0 {
		return t
	}
	s := x.c.Substitute()
	for _, u := range loads {
		s.Replace(u, value(x.ghosts[u]))
	}
	return s.Apply(t)
}

// loadLater is what a ghost load would read in st.
func (x *exec) loadLater(l ghostLoad, st *state) smt.Term {
	anything := func() smt.Term { return x.fresh("later", x.c.Width(l.value)) }
	o, off, ok := x.baseAndOffset(x.later(l.addr, st))
	if !ok || !l.weak || l.elem > 8 || o.Field == itself || o.Space != event.Shared && o.Space != event.Global {
		return anything()
	}
	if m := st.snaps[o]; m != nil {
		return x.readOr(m, off, l.elem, "later")
	}
	if !x.dirty.written[o] && !x.dirty.any[o.Space] {
		return x.ever(o, off, l.elem)
	}
	if !x.viewing() {
		return anything()
	}
	v, _ := x.seen(o, off, l.elem, st, anything)
	return v
}

// speaksOfAged reports whether a term has a value of the other thread that is not good for another moment.
func (x *exec) speaksOfAged(t smt.Term) bool {
	aged := false
	x.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if op := x.c.Op(u); op == smt.OpVar || op == smt.OpApp {
			aged = aged || x.aged[x.c.Name(u)]
		}
	})
	return aged
}

// readsOf are the accesses that a condition makes, as if they were the thread's; where gives an address its value for the
// moment that is meant. It is false if there are loads that may go anywhere, or are strong; these give any value, so that nothing rests on them.
func (x *exec) readsOf(in *ir.Instr, cond smt.Term, where func(smt.Term) smt.Term, st *state) (reads []Access, all bool) {
	all = true
	todo := x.loadsIn(cond)
	seen := map[smt.Term]bool{}
	for len(todo) > 0 {
		u := todo[0]
		todo = todo[1:]
		if seen[u] {
			continue
		}
		seen[u] = true
		l := x.ghosts[u]
		todo = append(todo, x.loadsIn(l.addr)...)
		o, off, found := x.baseAndOffset(where(l.addr))
		if !found || !l.weak || l.elem > 8 || o.Space != event.Shared && o.Space != event.Global {
			all = false
			continue
		}
		reads = append(reads, Access{
			Instr: in, Guard: x.c.And(x.here(st), x.guard), Object: o, Offset: off, Size: l.elem, Space: o.Space, Kind: event.Read,
			Start: x.tag(st, orders(o.Space)), Warp: x.warpTag(st), Grid: x.gridTag(st), Together: smt.False,
			Iters: x.counters(), Place: x.place(in),
		})
	}
	return reads, all
}

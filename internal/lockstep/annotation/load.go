package annotation

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// loads are the loads within annotations. A condition may be meant for another moment than the one
// in which it is computed: the end of a function, behind a barrier, or a thread that does not reach
// it. So what it loads is a symbol, which is replaced by a value when the moment is known: now, or
// later.
type loads struct {
	c    *smt.Context
	mem  *memory.Model
	host Host
	of   map[smt.Term]load // by symbol
	wide map[smt.Term]load // those of function-wide invariants, which the next pass needs
	// symbols for values of the other thread that depend on what memory held when computed
	aged map[string]bool
}

// load is what a load within an annotation reads.
type load struct {
	addr  smt.Term // may contain symbols of other loads
	elem  int      // bytes
	value smt.Term // at the moment of the load
	weak  bool
}

// Load returns the symbol for element i of a load within an annotation, of elem bytes at addr,
// which finds value now.
func (a *Annotations) Load(in *ir.Instr, addr smt.Term, i, elem int, value smt.Term) smt.Term {
	name := fmt.Sprintf("%sghost%d.%d", symbol.Private, in.Index, i)
	sym := symbol.Apply(a.c, name, a.c.Width(value), a.host.Counters()...)
	a.loads.of[sym] = load{a.c.AddConst(addr, uint64(i*elem)), elem, value, !in.Order.Strong()}
	return sym
}

// in returns the loads that a term contains.
func (l *loads) in(t smt.Term) []smt.Term {
	if len(l.of) == 0 {
		return nil
	}
	var out []smt.Term
	seen := map[smt.Term]bool{}
	l.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if _, ok := l.of[u]; ok && !seen[u] {
			seen[u] = true
			out = append(out, u)
		}
	})
	return out
}

// Now replaces loads by the values that they had.
func (l *loads) Now(t smt.Term) smt.Term {
	return l.replace(t, func(g load) smt.Term { return g.value })
}

// later replaces loads by the values that they would have in a state.
func (l *loads) later(t smt.Term, s *memory.State) smt.Term {
	return l.replace(t, func(g load) smt.Term {
		anything := func() smt.Term { return l.host.Unknown("later", l.c.Width(g.value)) }
		addr := l.later(g.addr, s)
		if !g.weak {
			return anything()
		}
		return l.mem.ReadLater(addr, g.elem, s, anything)
	})
}

func (l *loads) replace(t smt.Term, value func(load) smt.Term) smt.Term {
	all := l.in(t)
	if len(all) == 0 {
		return t
	}
	s := l.c.Substitute()
	for _, u := range all {
		s.Replace(u, value(l.of[u]))
	}
	return s.Apply(t)
}

// speaksOfAged reports whether a term contains a value of the other thread that is not valid at
// another moment.
func (l *loads) speaksOfAged(t smt.Term) bool {
	return symbol.Any(l.c, t, func(name string) bool { return l.aged[name] })
}

// readsOf returns the loads of a condition as accesses of the thread; where gives addresses their
// values at the moment that is meant. All is false if some loads are strong or may lead anywhere;
// these yield any value, so nothing rests on them.
func (a *Annotations) readsOf(s Site, cond smt.Term,
	where func(smt.Term) smt.Term) (reads []thread.Access, all bool) {
	all = true
	todo := a.in(cond)
	seen := map[smt.Term]bool{}
	for len(todo) > 0 {
		u := todo[0]
		todo = todo[1:]
		if seen[u] {
			continue
		}
		seen[u] = true
		l := a.loads.of[u]
		todo = append(todo, a.in(l.addr)...)
		o, off, found := a.mem.BaseAndOffset(where(l.addr))
		if !found || !l.weak || l.elem > 8 || o.Space != event.Shared && o.Space != event.Global {
			all = false
			continue
		}
		r := s.Access(s.Instr(), o)
		r.Guard, r.Offset, r.Size, r.Kind = a.c.And(a.here(s), s.Guard()), off, l.elem, event.Read
		r.Together = smt.False
		reads = append(reads, r)
	}
	return reads, all
}

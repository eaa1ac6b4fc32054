package annotation

import (
	"fmt"
	"slices"
	"strings"

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
	// theirs, if ofOther, is the address at which the other thread finds what is loaded: addr in its own
	// terms.
	theirs  smt.Term
	ofOther bool
}

// Load returns the symbol for element i of a load within an annotation, of elem bytes at addr,
// which finds value now.
func (a *Annotations) Load(in *ir.Instr, addr smt.Term, i, elem int, value smt.Term) smt.Term {
	name := fmt.Sprintf("%sghost%d.%d", symbol.Private, in.Index, i)
	sym := symbol.Apply(a.c, name, a.c.Width(value), a.host.Counters()...)
	a.loads.of[sym] = load{addr: a.c.AddConst(addr, uint64(i*elem)), elem: elem, value: value,
		weak: !in.Order.Strong()}
	return sym
}

// LoadOfOther is Load for an address that is a value of the other thread of a pair, such as that of
// s[__other_int(i)]: what is loaded is then what the other thread finds at its s[i]. Whether this is
// what memory holds is a question about that thread's load (readsOf). ok is false for other
// addresses.
func (a *Annotations) LoadOfOther(s Site, addr smt.Term, i, elem int) (sym smt.Term, ok bool) {
	in := s.Instr()
	addr = a.c.AddConst(addr, uint64(i*elem))
	theirs, ok := a.ofOther(addr)
	if !ok || elem > 8 || in.Order.Strong() {
		return 0, false
	}
	o, _, ok := a.mem.BaseAndOffset(a.Now(theirs))
	if !ok || o.Space != event.Shared && o.Space != event.Global {
		return 0, false
	}
	anything := func() smt.Term { return a.host.Unknown("theirs", 8*elem) }
	found := a.mem.ReadLater(a.Now(theirs), elem, s.Memory(), anything)
	counters := a.host.Counters()
	name := fmt.Sprintf("%stheirs%d.%d", symbol.Private, in.Index, i)
	value := symbol.Apply(a.c, name, 8*elem, counters...)
	a.aged[name] = true
	a.setOther(value, thread.Other{Here: a.arrives(s), Known: a.ownFacts(s.Notes()), Value: found,
		Absent: anything(), Loops: counters})
	if o.Space == event.Shared { // a thread of another block has other memory
		value = a.c.Ite(a.c.BoolVar(symbol.SameBlock), value, anything())
	}
	sym = symbol.Apply(a.c, fmt.Sprintf("%sghost%d.%d", symbol.Private, in.Index, i), 8*elem,
		counters...)
	a.loads.of[sym] = load{addr: addr, elem: elem, value: value, weak: true, theirs: theirs,
		ofOther: true}
	return sym, true
}

// ofOther returns what the other thread of a pair would compute for a term of which everything that
// differs between threads is values of the other thread. ok is false for other terms.
func (a *Annotations) ofOther(t smt.Term) (theirs smt.Term, ok bool) {
	own, rest := a.c.Substitute(), a.c.Substitute()
	a.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if !symbol.Is(a.c, u) {
			return
		}
		if o, is := a.th.Others[a.c.Name(u)]; is && a.c.Width(u) > 0 &&
			slices.Equal(a.c.Args(u), o.Loops) {
			own.Replace(u, o.Value)
			rest.Replace(u, a.c.Const(0, a.c.Width(u)))
		}
	})
	if own.Len() == 0 {
		return 0, false
	}
	around := a.host.Counters()
	ok = true
	a.c.Visit([]smt.Term{rest.Apply(t)}, func(u smt.Term) {
		private := symbol.Is(a.c, u) && strings.HasPrefix(a.c.Name(u), symbol.Private)
		ok = ok && (!private || slices.Contains(around, u))
	})
	return own.Apply(t), ok
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
		if !g.weak || g.ofOther {
			return anything()
		}
		addr := l.later(g.addr, s)
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
		at := l.addr
		if l.ofOther { // the other thread reads it, as any thread does in its place
			at = l.theirs
		}
		todo = append(todo, a.in(at)...)
		o, off, found := a.mem.BaseAndOffset(where(at))
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

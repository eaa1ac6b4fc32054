package annotation

import (
	"fmt"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// meanings explain the symbols of conditions whose value depends on the thread that a condition is
// checked for.
type meanings struct {
	c    *smt.Context
	logs map[smt.Term]thread.Log // by Has and by Offset; those of earlier passes are among them
	// enabled maps symbols for "the thread reaches this annotation" to that condition. Where the
	// condition is checked decides whether they are true or false.
	enabled map[smt.Term]smt.Term
	// dominated maps symbols for "the thread reached the dominator of this annotation" to that
	// condition.
	dominated map[smt.Term]smt.Term
	taken     map[smt.Term]bool // symbols for values that atomics have returned
}

func (m *meanings) reset() {
	m.enabled, m.dominated, m.taken = map[smt.Term]smt.Term{}, map[smt.Term]smt.Term{},
		map[smt.Term]bool{}
}

// whereEnabled is a condition for a thread that reaches it.
func (m *meanings) whereEnabled(cond smt.Term) smt.Term { return m.withEnabled(cond, smt.True) }

// disabled is a condition for a thread that does not.
func (m *meanings) disabled(cond smt.Term) smt.Term { return m.withEnabled(cond, smt.False) }

func (m *meanings) withEnabled(cond, v smt.Term) smt.Term {
	by := map[smt.Term]smt.Term{}
	for e := range m.enabled {
		by[e] = v
	}
	if v == smt.True {
		for d := range m.dominated {
			by[d] = v
		}
	}
	return replaced(m.c, cond, by)
}

// replaced substitutes terms for symbols.
func replaced(c *smt.Context, t smt.Term, by map[smt.Term]smt.Term) smt.Term {
	if len(by) == 0 {
		return t
	}
	s := c.Substitute()
	for sym, v := range by {
		s.Replace(sym, v)
	}
	return s.Apply(t)
}

// constant reports whether a term is the same wherever a thread is: it depends on its index, on
// parameters and the launch, on accesses, and on nothing that changes along the path.
func (m *meanings) constant(t smt.Term) bool {
	ok := true
	m.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if !symbol.Is(m.c, u) || m.logs[u].Has != 0 {
			return
		}
		name := m.c.Name(u)
		ok = ok && (hasPrefix(name, constantSymbols) ||
			strings.HasPrefix(name, symbol.Counter) && m.underLog(t, u))
	})
	return ok
}

// constantSymbols begin the names of symbols that are the same wherever a thread is.
var constantSymbols = []string{
	symbol.Param, symbol.Private + "tid.", symbol.Block + "ctaid.", symbol.Base, symbol.Op,
	symbol.Private + "dominated", symbol.Private + "taken", symbol.Private + "log",
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// underLog reports whether a counter occurs in t only as an argument of the symbols that meanings
// explain.
func (m *meanings) underLog(t, counter smt.Term) bool {
	s := m.c.Substitute()
	for u := range m.logs {
		if w := m.c.Width(u); w > 0 {
			s.Replace(u, m.c.Const(0, w))
		} else {
			s.Replace(u, smt.True)
		}
	}
	for u := range m.dominated {
		s.Replace(u, smt.True)
	}
	for u := range m.taken {
		s.Replace(u, smt.True)
	}
	return !symbol.Mentions(m.c, m.c.Name(counter), s.Apply(t))
}

// symbol is a private symbol of an annotation, a function of counters.
func (a *Annotations) symbol(kind string, in *ir.Instr, width int, counters []smt.Term) smt.Term {
	return symbol.Apply(a.c, fmt.Sprintf("%s%s%d", symbol.Private, kind, in.Index), width, counters...)
}

// isEnabled is a symbol for "the thread reaches this annotation".
func (a *Annotations) isEnabled(s Site) smt.Term {
	e := a.symbol("en", s.Instr(), 0, a.host.Counters())
	a.enabled[e] = a.arrives(s)
	return e
}

// isDominated is a symbol for "the thread reached the block that dominates this annotation"; at the
// head of a loop, the block in front of the loop.
func (a *Annotations) isDominated(s Site) smt.Term {
	in := s.Instr()
	at := a.k.BlockOf(in)
	if a.began != nil { // the annotation may have branches
		at = a.k.BlockOf(a.began)
	}
	from := a.k.Dominator(at)
	d := a.symbol("dominated", in, 0, a.host.Counters())
	if from == ir.NoBlock { // the entry
		a.dominated[d] = smt.True
		return d
	}
	around := smt.True
	for l := a.k.LoopOf(at); l != a.k.LoopOf(from); l = l.Parent {
		if l == nil {
			thread.Unsupported(in, "__dominator_enabled behind a loop")
		}
	}
	if l := a.k.LoopOf(from); l != nil {
		around = a.host.Entered(l)
	}
	a.dominated[d] = a.c.And(around, a.host.Reached(from))
	return d
}

// explained reports whether a term has a symbol whose meaning depends on where a condition is
// checked.
func (a *Annotations) explained(t smt.Term) bool {
	found := false
	a.c.Visit([]smt.Term{t}, func(u smt.Term) {
		_, enabled := a.enabled[u]
		_, dominated := a.dominated[u]
		_, old := a.old[u]
		found = found || enabled || dominated || old || a.meanings.taken[u]
	})
	return found
}

// speaksOfOther reports whether a term needs a value of the other thread of a pair, or the accesses
// of a thread.
func (a *Annotations) speaksOfOther(t smt.Term) bool {
	found := false
	a.c.Visit([]smt.Term{t}, func(u smt.Term) {
		found = found || symbol.Is(a.c, u) && (a.isOther(a.c.Name(u)) || a.logs[u].Has != 0)
	})
	return found
}

// isOther reports whether a symbol stands for something about the other thread of a pair.
func (a *Annotations) isOther(name string) bool {
	_, is := a.th.Others[name]
	return is || name == symbol.SameBlock
}

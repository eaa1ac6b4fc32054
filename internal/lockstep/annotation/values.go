package annotation

import (
	"fmt"
	"slices"

	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// values are the functions that a condition may call, by name, with the value of a call.
var values = map[string]func(a *Annotations, s Site) smt.Term{
	"enabled": func(a *Annotations, s Site) smt.Term { return a.number(a.isEnabled(s), 32) },
	"dominator_enabled": func(a *Annotations, s Site) smt.Term {
		return a.number(a.isDominated(s),
			32)
	},
	"same_group": func(a *Annotations,
		_ Site) smt.Term {
		return a.number(a.c.BoolVar(symbol.SameBlock), 32)
	},
	"other": func(a *Annotations, s Site) smt.Term {
		return a.other(s,
			s.Argument(0, 64))
	},
	"uniform": func(a *Annotations, s Site) smt.Term {
		v := s.Argument(0, 64)
		return a.number(a.c.Eq(v, a.other(s, v)), 32)
	},
	"distinct": func(a *Annotations, s Site) smt.Term {
		v := s.Argument(0, 64)
		return a.number(a.c.Not(a.c.Eq(v, a.other(s, v))), 32)
	},
	"all": func(a *Annotations, s Site) smt.Term {
		v := s.Argument(0, 32)
		return a.number(a.c.And(a.truth(v), a.truth(a.other(s, v))), 32)
	},
	"exclusive": func(a *Annotations, s Site) smt.Term {
		v := s.Argument(0, 32)
		return a.number(a.c.Not(a.c.And(a.truth(v), a.truth(a.other(s, v)))), 32)
	},
	"taken":        func(a *Annotations, s Site) smt.Term { return a.number(a.hasTaken(s), 32) },
	"read":         func(a *Annotations, s Site) smt.Term { return a.number(a.log(s, false).Has, 32) },
	"write":        func(a *Annotations, s Site) smt.Term { return a.number(a.log(s, true).Has, 32) },
	"read_offset":  func(a *Annotations, s Site) smt.Term { return a.log(s, false).Offset },
	"write_offset": func(a *Annotations, s Site) smt.Term { return a.log(s, true).Offset },
	"old":          (*Annotations).oldValue,
	"return":       (*Annotations).returnValue,
	"ptr_base": func(a *Annotations, s Site) smt.Term {
		return a.ofPointer(s, func(o *thread.Object,
			_ smt.Term) smt.Term {
			return a.c.Const(uint64(o.Index)+1, 64)
		})
	},
	"ptr_offset": func(a *Annotations, s Site) smt.Term {
		return a.ofPointer(s, func(_ *thread.Object, off smt.Term) smt.Term { return off })
	},
}

// truth is a number as a condition, and number a condition as a number.
func (a *Annotations) truth(v smt.Term) smt.Term {
	return a.c.Not(a.c.Eq(v, a.c.Const(0, a.c.Width(v))))
}

func (a *Annotations) number(b smt.Term, w int) smt.Term {
	return a.c.Ite(b, a.c.Const(1, w), a.c.Const(0, w))
}

// other is a symbol for the value v of the other thread at this site.
func (a *Annotations) other(s Site, v smt.Term) smt.Term {
	counters := a.host.Counters()
	sym := a.symbol("other", s.Instr(), a.c.Width(v), counters)
	if len(a.in(v)) > 0 {
		a.aged[a.c.Name(sym)] = true
	}
	v = a.Now(v)
	o := thread.Other{Here: a.arrives(s), Known: a.ownFacts(s.Notes()), Value: a.whereEnabled(v),
		Loops: counters}
	o.Absent = a.host.Unknown("absent", a.c.Width(v))
	if absent := a.disabled(v); absent != a.whereEnabled(v) && a.c.Op(absent) == smt.OpConst {
		o.Absent = absent // the value is whether the thread is here
	}
	a.setOther(sym, o)
	return sym
}

func (a *Annotations) setOther(sym smt.Term, o thread.Other) {
	if a.th.Others == nil {
		a.th.Others = map[string]thread.Other{}
	}
	a.th.Others[a.c.Name(sym)] = o
}

// ownFacts is the part of what is known on the path that is about the thread alone.
func (a *Annotations) ownFacts(st *State) smt.Term {
	facts := slices.Clone(conjuncts(a.c, a.c.And(a.assumed, st.known)))
	return a.c.And(slices.DeleteFunc(facts, func(t smt.Term) bool {
		return symbol.Any(a.c, t,
			a.isOther)
	})...)
}

// log is the access to an array that a condition asks for. The same question twice in one
// annotation is about one access, whichever it is.
func (a *Annotations) log(s Site, writes bool) thread.Log {
	o, _, ok := a.mem.BaseAndOffset(a.Now(s.Argument(0, 64)))
	if !ok {
		if a.host.Settling() || !a.host.Final() {
			return thread.Log{
				Has: a.c.BoolVar(symbol.Private + "log?"), Offset: a.c.Var(symbol.Private+"log?offset", 64),
			}
		}
		thread.Unsupported(s.Instr(),
			"an annotation about accesses by a pointer whose array is unknown")
	}
	kind := "r"
	if writes {
		kind = "w"
	}
	name := fmt.Sprintf("%slog%s%d", symbol.Private, kind, o.Index)
	l := thread.Log{Object: o, Writes: writes, Has: a.c.BoolVar(name),
		Offset: a.c.Var(name+".offset", 64)}
	a.logs[l.Has], a.logs[l.Offset] = l, l
	return l
}

// hasTaken is __atomic_has_taken_value: a symbol for "an atomic of this thread on that word has
// returned that value", a function of the offset and the value. An atomic that returned the value
// makes it true; nothing makes it false, so nothing rests on a value that has not been taken.
func (a *Annotations) hasTaken(s Site) smt.Term {
	o, off, ok := a.mem.BaseAndOffset(a.Now(s.Argument(0, 64)))
	if !ok {
		if !a.host.Settling() {
			thread.Unsupported(s.Instr(),
				"__atomic_has_taken_value of a pointer whose array is unknown")
		}
		return smt.False
	}
	args := append(a.host.Counters(), off, s.Argument(1, 64))
	t := a.symbol("taken", s.Instr(), 0, args)
	if a.th.Taken == nil {
		a.th.Taken = map[string]*thread.Object{}
	}
	a.th.Taken[a.c.Name(t)] = o
	a.meanings.taken[t] = true
	return t
}

// ofPointer chooses a value by the array that a pointer leads to.
func (a *Annotations) ofPointer(s Site, value func(o *thread.Object,
	off smt.Term) smt.Term) smt.Term {
	r := a.host.Unknown("ptr", 64)
	places := a.mem.Resolve(a.Now(s.Argument(0, 64)))
	for i := len(places) - 1; i >= 0; i-- {
		if p := places[i]; p.Object != nil {
			r = a.c.Ite(p.Cond, value(p.Object, p.Offset), r)
		}
	}
	return r
}

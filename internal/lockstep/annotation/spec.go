package annotation

import (
	"fmt"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/memory"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Functions of which only a specification is known: __spec_NAME has annotations instead of a body.
// Its preconditions are checked like those of any function. What it reads and writes (__reads_from,
// __writes_to) is an access to an arbitrary element of the array; its postconditions are assumed of
// these accesses, and of memory afterwards.

// isSpecification reports whether a call is of such a function.
func isSpecification(call *ir.Instr) bool {
	return call != nil && call.Callee != nil && call.Callee.Specification()
}

// effect is an access that a specification says the function makes.
type effect struct {
	in    *ir.Instr
	write bool
	when  smt.Term // the thread was there
	o     *thread.Object
	at    smt.Term // an arbitrary element
	size  int
}

// specified handles __reads_from and __writes_to. Outside a specification, the access is made at
// once.
func (a *Annotations) specified(s Site, write bool) {
	in := s.Instr()
	o, off, ok := a.mem.BaseAndOffset(a.Now(s.Argument(0, 64)))
	size, isConst := a.c.Value(s.Argument(1, 64))
	if !ok || !isConst || size == 0 {
		if !a.host.Settling() {
			thread.Unsupported(in, "%s of a pointer whose array is unknown",
				strings.TrimPrefix(in.Callee.Name, "__heddle"))
		}
		return
	}
	if o.Space != event.Shared && o.Space != event.Global {
		thread.Unsupported(in, "a specification about thread-private memory")
	}
	if write {
		a.mem.Leads(in, []memory.Place{{Cond: smt.True, Object: o, Offset: off}})
	}
	element := a.symbol("element", in, 64, a.host.Counters())
	at := a.c.Add(off, a.c.MulConst(element, size))
	e := effect{in, write, a.c.And(s.Reach(), s.Guard()), o, at, int(size)}
	if isSpecification(in.Caller) {
		a.effects[in.Caller] = append(a.effects[in.Caller], e)
		return
	}
	a.make(s, e, smt.True)
}

// make makes the access of an effect, where ensured holds. A write leaves anything in the array.
func (a *Annotations) make(s Site, e effect, ensured smt.Term) {
	acc := s.Access(e.in, e.o)
	acc.Together, acc.Once = smt.False, false // at some time while the call is executed
	acc.Guard, acc.Offset, acc.Size = a.c.And(a.here(s), e.when, ensured), e.at, e.size
	if acc.Kind = event.Read; e.write {
		acc.Kind = event.Write
	}
	if a.host.Final() && acc.Guard != smt.False {
		a.host.Record(acc)
	}
	if e.write {
		s.Notes().Stored()
		a.mem.Overwrite(e.o, fmt.Sprintf("%sspec%d", symbol.Private, e.in.Index), s.Memory())
	}
}

// specifiedReturns makes the accesses of a specification, and assumes what it ensures.
func (a *Annotations) specifiedReturns(s Site) {
	call := s.Instr()
	effects, promises := a.effects[call], a.promised[call]
	if len(call.Src) > 0 { // the result in its text is not that of the function
		thread.Unsupported(call, "a specification of a function with a result")
	}
	for _, e := range effects {
		ensured := smt.True
		for _, p := range promises {
			ensured = a.c.And(ensured, a.c.Implies(p.when, a.ensuredOf(e, p.cond)))
		}
		a.make(s, e, ensured)
	}
	for _, p := range promises {
		a.assume(s, a.c.Implies(p.when, a.later(p.cond, s.Memory())))
	}
	delete(a.effects, call)
	delete(a.promised, call)
}

// ensuredOf is what a condition says of one access: it must hold for each access, and where there
// is none to other arrays or of other kinds. A condition about memory or about other threads says
// nothing here.
func (a *Annotations) ensuredOf(e effect, cond smt.Term) smt.Term {
	s := a.c.Substitute()
	own := false
	for u, l := range a.logs {
		is := l.Object == e.o && l.Writes == e.write
		switch {
		case u == l.Has:
			s.Replace(u, smt.Bool(is))
		case is:
			s.Replace(u, e.at)
		}
		own = own || is
	}
	if !own || len(a.in(cond)) > 0 {
		return smt.True
	}
	if cond = a.whereEnabled(s.Apply(cond)); a.speaksOfOther(cond) {
		return smt.True
	}
	return cond
}

package annotation

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Postconditions: they are written at the beginning of a function, and are checked where it
// returns.

// contracts are what annotations state about the functions that are being executed, or have been.
type contracts struct {
	promised map[*ir.Instr][]promise // by the call; nil stands for the kernel
	effects  map[*ir.Instr][]effect  // by the call, of functions that are only specified
	old      map[smt.Term]smt.Term   // symbols for values at the entry
}

func newContracts() contracts {
	return contracts{
		promised: map[*ir.Instr][]promise{}, effects: map[*ir.Instr][]effect{},
		old: map[smt.Term]smt.Term{},
	}
}

// promise is a postcondition as it was computed at the entry of a function.
type promise struct {
	in       *ir.Instr
	when     smt.Term // the thread was there
	cond     smt.Term
	everyone bool // in a global form
}

// promise handles __ensures. Its condition is the same at the return as at the entry, since
// arguments are passed by value, except for the result, the accesses, and what it loads, which is
// meant for the end.
func (a *Annotations) promise(s Site, cond smt.Term) {
	in := s.Instr()
	by := a.c.Substitute()
	for sym, v := range a.old {
		by.Replace(sym, v)
	}
	if a.speaksOfAged(cond) {
		thread.Unsupported(in, "a postcondition about memory as another thread sees it")
	}
	p := promise{in, a.c.And(s.Reach(), s.Guard()), by.Apply(cond), a.forAll(s)}
	a.promised[in.Caller] = append(a.promised[in.Caller], p)
}

// oldValue is __old, a value at the entry of the function: a symbol, which tells it apart from
// other loads.
func (a *Annotations) oldValue(s Site) smt.Term {
	sym := a.symbol("old", s.Instr(), 64, a.host.Counters())
	a.old[sym] = a.Now(s.Argument(0, 64))
	return sym
}

// returnValue is __return_val, which is known where the function returns.
func (a *Annotations) returnValue(s Site) smt.Term {
	call := s.Instr().Caller
	if call == nil {
		thread.Unsupported(s.Instr(), "__return_val in a function whose return is unknown")
	}
	return a.resultSymbol(call)
}

// returnVector is __return_val of a function that returns a vector, in words.
func (a *Annotations) returnVector(s Site) {
	in := s.Instr()
	if in.Caller == nil || len(in.Dst) != 1 || !a.mem.IsArgument(&in.Dst[0]) ||
		in.Dst[0].Var.Size%4 != 0 {
		thread.Unsupported(in, "%s in a function whose return is unknown", shown("return"))
	}
	a.mustBeWithin(s, "return")
	v := in.Dst[0].Var
	for i := range v.Size / 4 {
		a.mem.SetArgument(v, 4*i, 4, a.wordSymbol(in.Caller, i), s.Memory())
	}
}

func (a *Annotations) wordSymbol(call *ir.Instr, i int) smt.Term {
	name := fmt.Sprintf("%sret%d.%d", symbol.Private, call.Index, i)
	return symbol.Apply(a.c, name, 32, a.host.Counters()...)
}

func (a *Annotations) resultSymbol(call *ir.Instr) smt.Term {
	return a.symbol("ret", call, 64, a.host.Counters())
}

// returnTerms replaces the symbols for a result by what the call returns.
func (a *Annotations) returnTerms(s Site) *smt.Substitution {
	call, by := s.Instr(), a.c.Substitute()
	if len(call.Src) != 1 {
		return by
	}
	o := &call.Src[0]
	if !a.mem.IsArgument(o) || o.Var.Size <= 8 {
		by.Replace(a.resultSymbol(call), s.Argument(0, 64))
	}
	if a.mem.IsArgument(o) {
		for i := range o.Var.Size / 4 {
			by.Replace(a.wordSymbol(call, i), a.mem.LoadArgument(o.Var, 4*i, 4, s.Memory()))
		}
	}
	return by
}

// Returned checks the postconditions of a call that was inlined, where it returns.
func (a *Annotations) Returned(s Site) {
	in := s.Instr()
	if isSpecification(in) {
		a.specifiedReturns(s)
		return
	}
	later := func(t smt.Term) smt.Term { return a.later(t, s.Memory()) }
	for _, p := range a.promised[in] {
		by := a.returnTerms(s)
		cond := by.Apply(a.othersReturn(p.cond, by))
		a.stateWith(s, p.in, thread.Postcondition, a.c.Implies(p.when, cond), later)
		if p.everyone {
			a.stateOfAbsent(s, p.in, thread.Postcondition, cond)
		}
	}
	delete(a.promised, in)
}

// othersReturn replaces the symbols for values of the other thread by symbols in which its result
// is known.
func (a *Annotations) othersReturn(cond smt.Term, result *smt.Substitution) smt.Term {
	s := a.c.Substitute()
	a.c.Visit([]smt.Term{cond}, func(t smt.Term) {
		if !symbol.Is(a.c, t) {
			return
		}
		o, ok := a.th.Others[a.c.Name(t)]
		if !ok {
			return
		}
		name := a.c.Name(t) + ".returned"
		o.Value = result.Apply(o.Value)
		a.th.Others[name] = o
		s.Replace(t, symbol.Apply(a.c, name, a.c.Width(t), a.c.Args(t)...))
	})
	return s.Apply(cond)
}

// Ended checks the postconditions of the kernel itself, where it returns.
func (a *Annotations) Ended(s Site) {
	for _, p := range a.promised[nil] {
		a.stateWith(s, p.in, thread.Postcondition, a.c.Implies(p.when, p.cond),
			func(t smt.Term) smt.Term {
				return a.later(t, s.Memory())
			})
	}
}

package lockstep

import (
	"fmt"
	"maps"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Postconditions and function-wide invariants: what stands at the beginning of a function and is meant for another
// place in it.

// contracts are what has been stated of the functions that execution is in, or has been in.
type contracts struct {
	promised map[*ir.Instr][]promise // by the call; nil stands for the kernel
	effects  map[*ir.Instr][]effect  // by the call, of functions that are only specified
	old      map[smt.Term]smt.Term   // symbols for values at the entry
}

// promise is a condition as it was computed at the entry of a function.
type promise struct {
	in       *ir.Instr
	when     smt.Term // the thread was there
	cond     smt.Term
	everyone bool
}

// promise handles __ensures: the condition is checked where the function returns. All of it but the result, the
// accesses and what is in memory is the same then as at the entry, since arguments are passed by value. What it loads is
// what is there at the end.
func (x *exec) promise(in *ir.Instr, cond smt.Term, st *state) {
	s := x.c.Substitute()
	for sym, v := range x.old {
		s.Replace(sym, v)
	}
	if x.speaksOfAged(cond) {
		x.unsupported(in, "a postcondition about what memory holds for another thread")
	}
	p := promise{in, x.c.And(st.pred, x.guard), s.Apply(cond), x.forAll(in, st)}
	x.promised[in.Caller] = append(x.promised[in.Caller], p)
}

// oldValue is a value at the entry of the function: a symbol, so that what else comes from memory can be told apart.
func (x *exec) oldValue(in *ir.Instr, st *state) smt.Term {
	sym := x.apply(fmt.Sprintf("%sold%d", private, in.Index), 64, x.counters())
	x.old[sym] = x.now(x.argument(in, 0, 64, st))
	return sym
}

// returnValue is the result of the function, which is known where it returns.
func (x *exec) returnValue(in *ir.Instr) smt.Term {
	if in.Caller == nil {
		x.unsupported(in, "__return_val in a function of which the end is not known")
	}
	return x.resultSymbol(in.Caller)
}

// returnVector is the result of a function that returns a vector, in words.
func (x *exec) returnVector(in *ir.Instr, st *state) {
	if in.Caller == nil || len(in.Dst) != 1 || !x.isScratch(&in.Dst[0]) || in.Dst[0].Var.Size%4 != 0 {
		x.unsupported(in, "%s where the end of the function is not known", shownAnnotation("return"))
	}
	if x.c.And(x.guard, x.c.Not(st.ghost)) != smt.False {
		x.unsupported(in, "%s outside an annotation", shownAnnotation("return"))
	}
	v := in.Dst[0].Var
	for i := range v.Size / 4 {
		x.putScratch(slot{v, 4 * i, 4}, x.wordSymbol(in.Caller, i), st)
	}
}

func (x *exec) wordSymbol(call *ir.Instr, i int) smt.Term {
	return x.apply(fmt.Sprintf("%sret%d.%d", private, call.Index, i), 32, x.counters())
}

// returnTerms puts what a call returns in the place of the symbols for it.
func (x *exec) returnTerms(call *ir.Instr, st *state) *smt.Substitution {
	s := x.c.Substitute()
	if len(call.Src) != 1 {
		return s
	}
	o := &call.Src[0]
	if !x.isScratch(o) || o.Var.Size <= 8 {
		s.Replace(x.resultSymbol(call), x.argument(call, 0, 64, st))
	}
	if x.isScratch(o) {
		for i := range o.Var.Size / 4 {
			s.Replace(x.wordSymbol(call, i), x.takeScratch(slot{o.Var, 4 * i, 4}, st))
		}
	}
	return s
}

func (x *exec) resultSymbol(call *ir.Instr) smt.Term {
	return x.apply(fmt.Sprintf("%sret%d", private, call.Index), 64, x.counters())
}

// returned checks the postconditions of a call that was inlined.
func (x *exec) returned(in *ir.Instr, st *state) {
	if isSpecification(in) {
		x.specifiedReturns(in, st)
		return
	}
	for _, p := range x.promised[in] {
		s := x.returnTerms(in, st)
		cond := s.Apply(x.othersReturn(p.cond, s))
		x.stateWith(in, p.in, Postcondition, x.c.Implies(p.when, cond), func(t smt.Term) smt.Term { return x.later(t, st) }, st)
		if p.everyone {
			x.statedOfAbsent(in, p.in, Postcondition, cond, st)
		}
	}
	delete(x.promised, in)
}

// othersReturn replaces the symbols for values of the other thread by ones in which its result is known.
func (x *exec) othersReturn(cond smt.Term, result *smt.Substitution) smt.Term {
	s := x.c.Substitute()
	x.c.Visit([]smt.Term{cond}, func(t smt.Term) {
		if op := x.c.Op(t); op != smt.OpVar && op != smt.OpApp {
			return
		}
		o, ok := x.th.Others[x.c.Name(t)]
		if !ok {
			return
		}
		name := x.c.Name(t) + ".returned"
		o.Value = result.Apply(o.Value)
		x.th.Others[name] = o
		s.Replace(t, x.apply(name, x.c.Width(t), x.c.Args(t)))
	})
	return s.Apply(cond)
}

// ended checks the postconditions of the kernel itself.
func (x *exec) ended(in *ir.Instr, st *state) {
	for _, p := range x.promised[nil] {
		x.stateWith(in, p.in, Postcondition, x.c.Implies(p.when, p.cond), func(t smt.Term) smt.Term { return x.later(t, st) }, st)
	}
}

// functionWide notes an invariant of all loops of a function.
func (x *exec) functionWide(in *ir.Instr, cond smt.Term, st *state) {
	candidate, ok := x.c.Value(x.argument(in, 1, 32, st))
	cond = x.whereEnabled(cond)
	if !x.settling && !x.everywhere(cond) {
		if ok && candidate != 0 {
			return
		}
		x.unsupported(in, "a function-wide invariant about more than accesses, thread indices, arguments, and memory at places that these say")
	}
	x.guesses[in] = ok && candidate != 0
	if x.wide[in] != cond { // loops before it are meant too: they have it in the next pass
		x.wide[in], x.changed = cond, true
	}
	x.keepLoads(cond)
}

// keepLoads keeps what a condition loads for the next pass, in which loops before it have it.
func (x *exec) keepLoads(cond smt.Term) {
	for _, u := range x.loadsIn(cond) {
		l := x.ghosts[u]
		if was, ok := x.wideLoads[u]; !ok || was.addr != l.addr {
			x.changed = true
		}
		x.wideLoads[u] = l
		x.keepLoads(l.addr)
	}
}

// everywhere reports whether a condition means the same wherever a thread is, but for what it finds in memory.
func (x *exec) everywhere(t smt.Term) bool {
	s := x.c.Substitute()
	for _, u := range x.loadsIn(t) {
		if l := x.ghosts[u]; !x.everywhere(l.addr) {
			return false
		}
		s.Replace(u, x.c.Const(0, x.c.Width(u)))
	}
	if s.Len() > 0 {
		t = s.Apply(t)
	}
	return x.constant(t)
}

// atHeader states the function-wide invariants at the header of a loop of the function.
func (x *exec) atHeader(l *ir.Loop, head *state) {
	all := slices.SortedFunc(maps.Keys(x.wide), func(a, b *ir.Instr) int { return a.Index - b.Index })
	for _, w := range all {
		for _, in := range x.f.Blocks[l.Header].Instrs {
			if in.Caller == w.Caller {
				x.guard = smt.True
				if x.guesses[w] {
					x.propose(x.info[l], x.later(x.wide[w], head))
					break
				}
				x.stateWith(in, w, Invariant, x.wide[w], func(t smt.Term) smt.Term { return x.later(t, head) }, head)
				break
			}
		}
	}
}

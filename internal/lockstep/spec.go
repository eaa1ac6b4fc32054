package lockstep

import (
	"fmt"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Functions of which only a specification is known: __spec_NAME has annotations instead of a body. What it requires is checked as of any
// function. What it says to read and to write (__reads_from, __writes_to) is an access to any element of the array; what it ensures is assumed
// of these accesses, and of what memory holds then.

// isSpecification reports whether a call is of such a function.
func isSpecification(call *ir.Instr) bool {
	return call != nil && call.Callee != nil && call.Callee.Specification()
}

// effect is what a specification says that the function does.
type effect struct {
	in    *ir.Instr
	write bool
	when  smt.Term // the thread was there
	o     *Object
	at    smt.Term // any element
	size  int
}

// specified handles __reads_from and __writes_to. Elsewhere than in a specification, the access is made at once.
func (x *exec) specified(in *ir.Instr, write bool, st *state) {
	o, off, ok := x.baseAndOffset(x.now(x.argument(in, 0, 64, st)))
	size, isConst := x.c.Value(x.argument(in, 1, 64, st))
	if !ok || !isConst || size == 0 {
		if !x.settling {
			x.unsupported(in, "%s of a pointer of which the array is not known", strings.TrimPrefix(in.Callee.Name, "__heddle"))
		}
		return
	}
	if o.Space != event.Shared && o.Space != event.Global {
		x.unsupported(in, "a specification about memory of the thread alone")
	}
	if write {
		x.aim(in, []place{{smt.True, o, off}})
	}
	at := x.c.Add(off, x.c.MulConst(x.apply(fmt.Sprintf("%selement%d", private, in.Index), 64, x.counters()), size))
	e := effect{in, write, x.c.And(st.pred, x.guard), o, at, int(size)}
	if isSpecification(in.Caller) {
		x.effects[in.Caller] = append(x.effects[in.Caller], e)
		return
	}
	x.happen(e, smt.True, st)
}

// happen makes the access of an effect, of which is known what ensured says. A write leaves anything in the array.
func (x *exec) happen(e effect, ensured smt.Term, st *state) {
	kind := event.Read
	if e.write {
		kind = event.Write
	}
	a := Access{
		Instr: e.in, Guard: x.c.And(x.here(st), e.when, ensured), Object: e.o, Offset: e.at, Size: e.size, Space: e.o.Space, Kind: kind,
		Start: x.tag(st, orders(e.o.Space)), Warp: x.warpTag(st), Grid: x.gridTag(st), Together: x.together(st), Iters: x.counters(), Place: x.place(e.in),
	}
	if x.final && a.Guard != smt.False {
		x.th.Accesses = append(x.th.Accesses, a)
	}
	if !e.write {
		return
	}
	st.pending = nil
	args := x.counters()
	st.view.forget(e.o)
	st.view.cover(e.o, &memory{func(off smt.Term, size int) (smt.Term, bool) {
		return x.atOffset(fmt.Sprintf("%sspec%d.%d:%d", private, e.in.Index, e.o.index, 8*size), args, off, size), true
	}})
}

// atOffset applies a function that stands for memory to the counters and an offset.
func (x *exec) atOffset(name string, counters []smt.Term, off smt.Term, size int) smt.Term {
	args := append(counters[:len(counters):len(counters)], off)
	widths := make([]int, len(args))
	for i := range widths {
		widths[i] = 32
	}
	widths[len(args)-1] = 64
	return x.c.Apply(x.c.Declare(name, 8*size, widths...), args...)
}

// specifiedReturns makes the accesses of a specification, and assumes what it ensures.
func (x *exec) specifiedReturns(call *ir.Instr, st *state) {
	effects, promises := x.effects[call], x.promised[call]
	if len(call.Src) > 0 { // what its text returns is not what the function does
		x.unsupported(call, "a specification of a function with a result")
	}
	for _, e := range effects {
		ensured := smt.True
		for _, p := range promises {
			ensured = x.c.And(ensured, x.c.Implies(p.when, x.ensuredOf(e, p.cond)))
		}
		x.happen(e, ensured, st)
	}
	for _, p := range promises {
		x.assumeThat(call, x.c.Implies(p.when, x.later(p.cond, st)), st)
	}
	delete(x.effects, call)
	delete(x.promised, call)
}

// ensuredOf is what a condition says of one access: it must hold for each, and where there is none of other arrays or kinds. Where
// it speaks of memory, or of other threads, it says nothing here.
func (x *exec) ensuredOf(e effect, cond smt.Term) smt.Term {
	s := x.c.Substitute()
	own := false
	for u, l := range x.logs {
		is := l.Object == e.o && l.Writes == e.write
		switch {
		case u == l.Has:
			s.Replace(u, smt.Bool(is))
		case is:
			s.Replace(u, e.at)
		}
		own = own || is
	}
	if !own || len(x.loadsIn(cond)) > 0 {
		return smt.True
	}
	if cond = x.whereEnabled(s.Apply(cond)); x.speaksOfOther(cond) {
		return smt.True
	}
	return cond
}

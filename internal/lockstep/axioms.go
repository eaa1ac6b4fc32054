package lockstep

import (
	"math/bits"

	"heddle/internal/smt"
)

// Axioms say what the symbols of loops mean. Each is instantiated for the iteration vectors at which the
// symbol occurs in a query:
//
//	act(k)   the thread is in iteration k: k = 0, or it was in k-1 and went on
//	h(k)     a register at the header: the entry's value, or what the body made of iteration k-1
//	v(k,p)   what an array holds at the header: what was there at the entry, or what iteration k-1 left
//	kx       the iteration in which the thread leaves; that it leaves is the assumption of termination
//
// and the bound on k that a counting condition implies.
type Axioms struct {
	c       *smt.Context
	of      map[string]func(args []smt.Term) []smt.Term
	assumed map[string]func(args []smt.Term) []smt.Term // by the name of act
	heads   map[string]smt.Term                         // by the functions for memory at the header of a loop: its counter
}

// Assume adds that the invariants hold at the header of a loop, in each iteration that a thread is in; they replace those
// of an earlier call. They are over the counters of the loops around and the loop's own. It is for the caller to prove
// them; or to assume them of earlier iterations only, while he does.
func (a *Axioms) Assume(l *Loop, invariants []smt.Term) {
	name := a.c.Name(l.Act)
	delete(a.assumed, name)
	all := a.c.And(invariants...)
	if all == smt.True {
		return
	}
	params := append(append([]smt.Term(nil), l.Around...), l.Counter)
	there := []smt.Term{l.Entry, l.Act}
	for _, k := range params { // what an axiom calls the iteration before the first is none
		there = append(there, a.c.Not(a.c.Eq(k, a.c.Const(1<<32-1, 32))))
	}
	a.assumed[name] = schema(a.c, params, []smt.Term{a.c.Implies(a.c.And(there...), all)})
}

// About reports whether t is a symbol that an axiom speaks of: what a loop, at some iteration, makes of something.
func (a *Axioms) About(t smt.Term) bool { return a.c.Op(t) == smt.OpApp && a.of[a.c.Name(t)] != nil }

// AtHeader reports whether t is what memory holds at the header of a loop, by the axioms about v.
func (a *Axioms) AtHeader(t smt.Term, l *Loop) bool {
	return a.c.Op(t) == smt.OpApp && a.heads[a.c.Name(t)] == l.Counter
}

// For returns the axioms for the symbols in terms, and for the symbols of those, depth levels deep.
func (a *Axioms) For(terms []smt.Term, depth int) []smt.Term {
	var out []smt.Term
	done := map[smt.Term]bool{}
	for range depth {
		var apps []smt.Term
		a.c.Visit(terms, func(t smt.Term) {
			if a.c.Op(t) == smt.OpApp && !done[t] && a.of[a.c.Name(t)] != nil {
				done[t] = true
				apps = append(apps, t)
			}
		})
		var fresh []smt.Term
		for _, t := range apps {
			name, args := a.c.Name(t), a.c.Args(t)
			fresh = append(fresh, a.of[name](args)...)
			if more := a.assumed[name]; more != nil {
				fresh = append(fresh, more(args)...)
			}
		}
		if len(fresh) == 0 {
			break
		}
		out = append(out, fresh...)
		terms = fresh
	}
	return out
}

// axioms collects what the last pass says of the loops.
func (x *exec) axioms() *Axioms {
	a := &Axioms{c: x.c, of: map[string]func([]smt.Term) []smt.Term{}, assumed: map[string]func([]smt.Term) []smt.Term{}, heads: map[string]smt.Term{}}
	for _, l := range x.loops.Loops {
		info := x.info[l]
		if info.entry == smt.False && info.around == nil && len(info.regs) == 0 {
			continue // never reached
		}
		params := append(info.counters(), info.counter)
		a.of[info.name("act", info.privateAct)] = schema(x.c, params, x.activity(info))
		a.of[info.name("kx", info.privateExit)] = schema(x.c, info.around, x.leaving(info))
		for i, r := range info.regs {
			first, next := r.init, r.next
			if r.form == offset {
				first, next = x.c.Const(0, r.width), r.body
			}
			if r.form != unknown && r.form != offset || r.next == undef || r.init == undef {
				continue
			}
			h := x.symbol(info, i, r, params)
			a.of[x.c.Name(h)] = schema(x.c, params, []smt.Term{x.c.Eq(h, x.stepped(info, first, next))})
		}
	}
	x.memoryAxioms(a)
	return a
}

// schema returns a function that puts arguments in the place of the loop counters.
func schema(c *smt.Context, params, body []smt.Term) func([]smt.Term) []smt.Term {
	return func(args []smt.Term) []smt.Term {
		s := c.Substitute()
		for i, p := range params {
			s.Replace(p, args[i])
		}
		out := make([]smt.Term, len(body))
		for i, b := range body {
			out[i] = s.Apply(b)
		}
		return out
	}
}

// stepped is first at iteration 0, else next of the iteration before.
func (x *exec) stepped(info *loopInfo, first, next smt.Term) smt.Term {
	return x.c.Ite(x.c.Eq(info.counter, x.c.Const(0, 32)), first, x.before(info, next))
}

// before is a term one iteration earlier.
func (x *exec) before(info *loopInfo, t smt.Term) smt.Term {
	s := x.c.Substitute()
	s.Replace(info.counter, x.c.AddConst(info.counter, ^uint64(0)))
	return s.Apply(t)
}

func (x *exec) activity(info *loopInfo) []smt.Term {
	c := x.c
	act := x.apply(info.name("act", info.privateAct), 0, append(info.counters(), info.counter))
	out := []smt.Term{c.Eq(act, x.stepped(info, smt.True, info.back))}
	for _, b := range x.tripBounds(info) {
		out = append(out, c.Implies(act, b))
	}
	return out
}

// leaving says that a thread that enters the loop leaves it in iteration kx.
func (x *exec) leaving(info *loopInfo) []smt.Term {
	c := x.c
	last := x.apply(info.name("kx", info.privateExit), 32, info.counters())
	s := c.Substitute()
	s.Replace(info.counter, last)
	var how []smt.Term
	for _, e := range append(append([]smt.Term(nil), info.exits...), info.gone...) {
		how = append(how, s.Apply(e))
	}
	act := s.Apply(x.apply(info.name("act", info.privateAct), 0, append(info.counters(), info.counter)))
	return []smt.Term{c.Implies(info.entry, c.And(act, c.Or(how...)))}
}

// tripBounds reads the conditions for going on as bounds of k. All of them held at every iteration before k,
// so a counter that moves toward a fixed bound has not passed it, unless it wrapped: the premise excludes that.
func (x *exec) tripBounds(info *loopInfo) []smt.Term {
	c := x.c
	if info.back == smt.False {
		return nil
	}
	conds := []smt.Term{info.back}
	if c.Op(info.back) == smt.OpAnd {
		conds = c.Args(info.back)
	}
	var out []smt.Term
	if last, ok := x.lastTrip(info, conds); ok {
		out = append(out, c.Ule(info.counter, c.Const(last, 32)))
	}
	for _, t := range conds {
		if b, ok := x.tripBound(info, t); ok {
			out = append(out, b)
		}
	}
	return out
}

// maxTrips bounds how many iterations are counted out.
const maxTrips = 4096

// lastTrip counts out the iterations of a loop whose conditions for going on depend on nothing but k: the first at
// which one of them fails is the last. Where other things matter too, it is a bound.
func (x *exec) lastTrip(info *loopInfo, conds []smt.Term) (uint64, bool) {
	c := x.c
	var counted []smt.Term
	for _, t := range conds {
		free := false
		c.Visit([]smt.Term{t}, func(u smt.Term) {
			op := c.Op(u)
			free = free || (op == smt.OpVar || op == smt.OpApp) && u != info.counter
		})
		if !free {
			counted = append(counted, t)
		}
	}
	all := c.And(counted...)
	if all == smt.True {
		return 0, false
	}
	for k := range uint64(maxTrips) {
		s := c.Substitute()
		s.Replace(info.counter, c.Const(k, 32))
		if s.Apply(all) == smt.False {
			return k, true
		}
	}
	return 0, false
}

// tripBound is the bound on k of one condition for going on.
func (x *exec) tripBound(info *loopInfo, t smt.Term) (smt.Term, bool) {
	c := x.c
	neg := false
	if c.Op(t) == smt.OpNot {
		neg, t = true, c.Args(t)[0]
	}
	op := c.Op(t)
	if op != smt.OpUlt && op != smt.OpSlt && (op != smt.OpEq || !neg) || c.Width(c.Args(t)[0]) < 8 {
		return 0, false
	}
	a, b := c.Args(t)[0], c.Args(t)[1]
	if op == smt.OpEq {
		return x.stopsAt(info, a, b)
	}
	// a < b goes on. With neg it is b <= a.
	if neg {
		a, b = b, a
	}
	if a0, step, ok := x.affine(info, a); ok && !x.varies(info, b) { // a rises toward b
		return x.stopsBelow(info, a0, step, b, op == smt.OpSlt, !neg)
	}
	if b0, step, ok := x.affine(info, b); ok && !x.varies(info, a) { // b falls toward a: the complements rise
		return x.stopsBelow(info, c.BvNot(b0), -step&ones(c.Width(b)), c.BvNot(a), op == smt.OpSlt, !neg)
	}
	return 0, false
}

func ones(w int) uint64 { return ^uint64(0) >> (64 - w) }

// affine reads t as first + step*k with constant step, read as a number below 2^(w-1).
func (x *exec) affine(info *loopInfo, t smt.Term) (first smt.Term, step uint64, ok bool) {
	c := x.c
	w := c.Width(t)
	k := x.resize(info.counter, w, false)
	args, coef := []smt.Term{t}, []uint64{1}
	if c.Op(t) == smt.OpSum {
		args = c.Args(t)
		_, coef = c.SumParts(t)
	}
	for i, u := range args {
		if u == k {
			first = c.Sub(t, c.MulConst(k, coef[i]))
			return first, coef[i], !x.varies(info, first)
		}
	}
	return 0, 0, false
}

// stopsBelow: a counter that starts at a0 and rises by step goes on while it is less than b (strict), or at
// most b. After k steps, all below the bound and none wrapped, k-1 is at most (b-1-a0)/step.
func (x *exec) stopsBelow(info *loopInfo, a0 smt.Term, step uint64, b smt.Term, asSigned, strict bool) (smt.Term, bool) {
	c := x.c
	w := c.Width(a0)
	if step == 0 || step > ones(w)>>1 {
		return 0, false
	}
	if w < 32 { // k may be larger than the register
		return 0, false
	}
	less, top := c.Ult, ones(w)
	if asSigned {
		less, top = c.Slt, ones(w)>>1
	}
	premise := c.Not(less(c.Const(top-step+1, w), b)) // b <= top - step + 1
	last := c.AddConst(b, ^uint64(0))
	first := less(a0, b)
	if !strict {
		premise = c.Not(less(c.Const(top-step, w), b))
		last = b
		first = c.Not(less(b, a0))
	}
	kw := x.resize(info.counter, w, false)
	steps := c.UDiv(c.Sub(last, a0), c.Const(step, w))
	bound := c.Ule(c.AddConst(kw, ^uint64(0)), steps)
	return c.Or(c.Eq(info.counter, c.Const(0, 32)), c.And(first, c.Implies(premise, bound))), true
}

// stopsAt: the loop goes on while a != b. A counter with a step of a power of two that meets the bound at
// all has not passed it.
func (x *exec) stopsAt(info *loopInfo, a, b smt.Term) (smt.Term, bool) {
	c := x.c
	first, step, ok := x.affine(info, a)
	if !ok || x.varies(info, b) {
		if first, step, ok = x.affine(info, b); !ok || x.varies(info, a) {
			return 0, false
		}
		b = a
	}
	w := c.Width(b)
	if w < 32 {
		return 0, false
	}
	far := c.Sub(b, first)
	if step > ones(w)>>1 { // counts down
		step, far = -step&ones(w), c.Sub(first, b)
	}
	if step == 0 || step&(step-1) != 0 {
		return 0, false
	}
	meets := c.Eq(c.BvAnd(far, c.Const(step-1, w)), c.Const(0, w))
	trips := c.LShr(far, c.Const(uint64(bits.TrailingZeros64(step)), w))
	kw := x.resize(info.counter, w, false)
	return c.Implies(meets, c.Ule(kw, trips)), true
}

package lockstep

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/smt"
)

// form is what is known of a register at the header of a loop, at iteration k.
type form uint8

const (
	unknown   form = iota // a function of the iteration vector, tied to the step before by an axiom
	invariant             // its value at the entry
	additive              // entry + step*k
	leftShift             // entry << step*k
	rightShift
	arithShift
	quotient // entry / 2^(step*k), rounded toward zero as signed division is
	direct   // k = 0: the entry's; else what the body computes at k-1, which needs no header value
	cyclic   // one of a few values in turn: buffers that are swapped or rotated, a parity that flips
	offset   // entry + stride*q(k), where q is a function of the iteration vector as unknown has it
)

// loopReg is a register, or a part of the tag, that a loop may change.
type loopReg struct {
	form       form
	step       smt.Term   // additive: as wide as the register; shifts: how far, a constant
	private    bool       // unknown, and not the same in all threads of a block
	recent     bool       // the form was found in this pass, with that of another register: nothing to check yet
	hopeless   bool       // a closed form was tried and did not hold
	body       smt.Term   // direct: what an iteration computes; offset: q after it
	turns      []smt.Term // cyclic: the values, the entry's first
	stride     uint64     // offset
	init, next smt.Term   // of the last pass: at the entry, and after one iteration
	width      int
}

// loopInfo is what is known of a loop.
type loopInfo struct {
	l        *ir.Loop
	index    int
	barriers bool
	slot     int // in Tag.Iters, if barriers
	counter  smt.Term
	regs     map[int]*loopReg // by register; the parts of the tag follow the registers
	written  bitset

	privateAct, privateExit bool

	// Of the last pass.
	around []smt.Term // counters of the loops around
	entry  smt.Term   // the thread enters the loop, everything around included
	back   smt.Term   // goes on to the next iteration, if it is in this one
	exits  []smt.Term // leaves in this iteration
	gone   []smt.Term // ends in this iteration: returns out of the kernel
	start  *state     // at the entry
	// What the user proposes as invariants.
	guesses []smt.Term
	latch   *state // after an iteration that goes on; nil: none does
}

func (x *exec) newLoop(l *ir.Loop) *loopInfo {
	n := len(x.info)
	info := &loopInfo{l: l, index: n, regs: map[int]*loopReg{}, written: newBitset(len(x.f.Regs))}
	info.counter = x.c.Var(fmt.Sprintf("%s%d", counterPrefix, n), 32)
	for _, b := range l.Blocks {
		for _, in := range x.f.Blocks[b].Instrs {
			eachReg(in.Dst, true, func(r ir.RegID) { info.written.add(int(r)) })
			info.barriers = info.barriers || x.tagged(in)
		}
	}
	return info
}

// name returns the name of a symbol of the loop.
func (i *loopInfo) name(kind string, isPrivate bool) string {
	scope := inBlock
	if isPrivate {
		scope = private
	}
	return fmt.Sprintf("%s%s%d", scope, kind, i.index)
}

// apply returns a symbol of the loop at an iteration vector.
func (x *exec) apply(name string, width int, at []smt.Term) smt.Term {
	widths := make([]int, len(at))
	for i := range widths {
		widths[i] = 32
	}
	return x.c.Apply(x.c.Declare(name, width, widths...), at...)
}

// counters returns the counters of the loops that execution is in.
func (x *exec) counters() []smt.Term {
	var k []smt.Term
	for _, l := range x.around {
		k = append(k, x.info[l].counter)
	}
	return k
}

// loop executes one arbitrary iteration of a loop, and returns the states that leave it.
func (x *exec) loop(l *ir.Loop, entry *state) []edge {
	info := x.info[l]
	info.around, info.start = x.counters(), entry
	at := append(info.counters(), info.counter)
	head := entry.clone()
	x.eachSlot(l, info, entry, func(i int, get func(*state) *smt.Term, w int) {
		r := info.regs[i]
		if r == nil {
			r = &loopReg{width: w}
			info.regs[i] = r
		}
		r.init = *get(entry)
		*get(head) = x.headerValue(info, i, r, info.counter, at)
	})
	head.pred = x.apply(info.name("act", info.privateAct), 0, at)
	head.scratch = x.keptScratch(l, entry.scratch)
	x.keptOwn(l, head)
	head.view = x.keptView(l, &entry.view)
	head.snaps = x.keptSnaps(l, entry.snaps)
	head.threads, head.pending = nil, nil
	assumed := x.assumed
	x.assumed = x.c.And(assumed, entry.known)
	head.known = smt.True
	outer := x.outer
	info.entry = x.c.And(outer, entry.pred)
	x.outer = info.entry
	x.around = append(x.around, l)
	x.atHeader(l, head)
	gone := x.gone
	x.gone = nil
	back, exits := x.region(l, head)
	x.goneRound(entry, back)
	info.gone, x.gone = x.gone, gone
	x.around = x.around[:len(x.around)-1]
	x.outer, x.assumed = outer, assumed
	x.learn(l, info, back, exits)
	return x.leave(info, entry, exits)
}

func (i *loopInfo) counters() []smt.Term { return append([]smt.Term(nil), i.around...) }

// eachSlot calls visit for each register that the loop changes and that is live at its header, and for the
// parts of the tag if the loop has a barrier.
func (x *exec) eachSlot(l *ir.Loop, info *loopInfo, entry *state, visit func(i int, get func(*state) *smt.Term, width int)) {
	n := len(x.f.Regs)
	for r := range n {
		if info.written.has(r) && x.live[l.Header].has(r) {
			visit(r, func(s *state) *smt.Term { return &s.regs[r] }, width(x.f.Regs[r].Type))
		}
	}
	if !info.barriers {
		return
	}
	for j := range x.parts * x.tagLen() {
		visit(n+j, func(s *state) *smt.Term { return &s.tags[j] }, tagWidth)
	}
}

// headerValue is the value of a register at the header at iteration k.
func (x *exec) headerValue(info *loopInfo, i int, r *loopReg, k smt.Term, at []smt.Term) smt.Term {
	c := x.c
	if r.init == undef && r.form != unknown {
		r.form = unknown
	}
	switch r.form {
	case invariant:
		return r.init
	case additive:
		return c.Add(r.init, c.Mul(r.step, x.resize(k, r.width, false)))
	case leftShift, rightShift, arithShift, quotient:
		return x.shifted(r, k)
	case direct:
		s := c.Substitute()
		s.Replace(info.counter, c.AddConst(info.counter, ^uint64(0)))
		return c.Ite(c.Eq(k, c.Const(0, 32)), r.init, s.Apply(r.body))
	case cyclic:
		return x.turn(r, k)
	case offset:
		return c.Add(r.init, c.MulConst(x.symbol(info, i, r, at), r.stride))
	}
	return x.symbol(info, i, r, at)
}

// symbol is the function of the iteration vector that stands for a register of which no closed form is known.
func (x *exec) symbol(info *loopInfo, i int, r *loopReg, at []smt.Term) smt.Term {
	return x.apply(info.name(fmt.Sprintf("h%d.", i), r.private), r.width, at)
}

// shifted is init shifted step*k times. The distance is exact as long as it matters.
func (x *exec) shifted(r *loopReg, k smt.Term) smt.Term {
	c := x.c
	s, _ := c.Value(r.step)
	w := c.Const(uint64(r.width), 32)
	by := x.resize(c.MulConst(k, s), r.width, false)
	near, last := smt.Term(0), c.Const(0, r.width)
	switch r.form {
	case leftShift:
		near = c.Shl(r.init, by)
	case rightShift:
		near = c.LShr(r.init, by)
	case quotient: // of the magnitude, with the sign put back
		near = c.Ite(c.Slt(r.init, last), c.Neg(c.LShr(c.Neg(r.init), by)), c.LShr(r.init, by))
	default:
		near = c.AShr(r.init, by)
		last = c.AShr(r.init, c.Const(uint64(r.width-1), r.width))
	}
	return c.Ite(c.Ult(k, w), near, last)
}

// learn takes from one execution of the body what it says of the loop.
func (x *exec) learn(l *ir.Loop, info *loopInfo, back, exits []edge) {
	info.back, info.exits = smt.False, nil
	for _, e := range exits {
		info.exits = append(info.exits, e.st.pred)
	}
	var latch *state
	if len(back) > 0 {
		states := make([]*state, len(back))
		for i, e := range back {
			states[i] = e.st
		}
		latch = x.meet(l.Header, states)
		info.back = latch.pred
	}
	info.latch = latch
	demote := func(flag *bool, ts ...smt.Term) {
		if !*flag && !x.settling && !x.uniform(ts...) {
			*flag, x.changed = true, true
		}
	}
	demote(&info.privateAct, info.back)
	demote(&info.privateExit, append(append([]smt.Term{info.back}, info.exits...), info.gone...)...)
	at := append(info.counters(), info.counter)
	x.eachSlot(l, info, nil, func(i int, get func(*state) *smt.Term, w int) {
		r := info.regs[i]
		r.next, r.recent = undef, false
		if latch != nil {
			r.next = *get(latch)
		}
	})
	x.eachSlot(l, info, nil, func(i int, _ func(*state) *smt.Term, w int) {
		r := info.regs[i]
		x.classify(info, i, r, at)
		if r.form == offset && !r.private && !x.settling && !x.uniform(r.body) {
			r.private, x.changed = true, true
		}
		if r.form == unknown && !r.private && !x.settling && (r.next == undef || r.init == undef || !x.uniform(r.next, r.init)) {
			r.private, x.changed = true, true
		}
	})
}

// classify finds a closed form of a register, or checks the one that it has.
func (x *exec) classify(info *loopInfo, i int, r *loopReg, at []smt.Term) {
	c := x.c
	if r.recent {
		return
	}
	if r.form != unknown {
		if !x.holds(info, i, r, at) {
			r.form, r.hopeless, x.changed = unknown, !x.settling, true
		}
		return
	}
	if r.hopeless || r.next == undef || r.init == undef || r.width == 0 && r.next != x.headerValue(info, i, r, info.counter, at) {
		return
	}
	h := x.headerValue(info, i, r, info.counter, at)
	was := r.form
	switch {
	case r.next == h:
		r.form = invariant
	case r.width == 0:
	case !x.varies(info, c.Sub(r.next, h)):
		r.form, r.step = additive, c.Sub(r.next, h)
	case !x.ownSymbols(info, r.next):
		r.form, r.body = direct, r.next
	case x.cycle(info, i, r, at), x.strides(info, i, r, at):
	default:
		for s := 1; s <= 4; s++ {
			by := c.Const(uint64(s), r.width)
			switch r.next {
			case c.Shl(h, by):
				r.form, r.step = leftShift, by
			case c.LShr(h, by):
				r.form, r.step = rightShift, by
			case c.AShr(h, by):
				r.form, r.step = arithShift, by
			case x.divided(h, by):
				r.form, r.step = quotient, by
			}
		}
	}
	x.changed = x.changed || r.form != was
}

// holds checks a closed form against the body: what the body makes of iteration k is the form at k+1.
func (x *exec) holds(info *loopInfo, i int, r *loopReg, at []smt.Term) bool {
	c := x.c
	if r.next == undef || r.init == undef {
		return false
	}
	switch r.form {
	case direct: // the value is made of next itself; it only must not come to need the header's
		if r.next != r.body {
			r.body, x.changed = r.next, true
		}
		return !x.ownSymbols(info, r.next)
	case additive:
		now := x.headerValue(info, i, r, info.counter, at)
		step := c.Sub(r.next, now)
		if x.varies(info, step) {
			return false
		}
		if step != r.step {
			r.step, x.changed = step, true
		}
		return true
	case invariant:
		return r.next == r.init
	case cyclic:
		return x.turns(info, r)
	case offset:
		return x.strided(info, i, r, at)
	}
	now := x.headerValue(info, i, r, info.counter, at)
	after := x.headerValue(info, i, r, c.AddConst(info.counter, 1), at)
	if r.next == after {
		return true
	}
	// One more shift of the form is the form at k+1, by the law of shifts; the body must do just that shift.
	switch r.form {
	case leftShift:
		return r.next == c.Shl(now, r.step)
	case rightShift:
		return r.next == c.LShr(now, r.step)
	case quotient:
		return r.next == x.divided(now, r.step)
	}
	return r.next == c.AShr(now, r.step)
}

// divided is t / 2^by as compilers write signed division: 2^by - 1 is added to a negative t before the shift.
func (x *exec) divided(t, by smt.Term) smt.Term {
	c := x.c
	w := c.Width(t)
	s, _ := c.Value(by)
	sign := t
	if s > 1 {
		sign = c.AShr(t, c.Const(uint64(w-1), w))
	}
	return c.AShr(c.Add(t, c.LShr(sign, c.Const(uint64(w)-s, w))), by)
}

// varies reports whether a term may change from one iteration of the loop to the next.
func (x *exec) varies(info *loopInfo, t smt.Term) bool {
	return x.mentions(x.c.Name(info.counter), t)
}

// ownSymbols reports whether a term needs the unknown header value of a register of the loop; or of one inside, which
// may be made of one of this loop.
func (x *exec) ownSymbols(info *loopInfo, t smt.Term) bool {
	own := false
	x.c.Visit([]smt.Term{t}, func(u smt.Term) {
		if x.c.Op(u) != smt.OpApp {
			return
		}
		name := x.c.Name(u)[len(private):]
		var reg, loop int
		if n, _ := fmt.Sscanf(name, "h%d.%d", &reg, &loop); n == 2 && x.inside(x.loops.Loops[loop], info.l) {
			own = true
		}
	})
	return own
}

// inside reports whether a loop is another, or lies in it.
func (x *exec) inside(l, outer *ir.Loop) bool {
	for ; l != nil; l = l.Parent {
		if l == outer {
			return true
		}
	}
	return false
}

// leave returns the states at the edges that leave the loop, at the iteration in which the thread leaves.
func (x *exec) leave(info *loopInfo, entry *state, exits []edge) []edge {
	c := x.c
	last := x.apply(info.name("kx", info.privateExit), 32, info.counters())
	s := c.Substitute()
	s.Replace(info.counter, last)
	for _, g := range info.gone {
		x.gone = append(x.gone, c.And(entry.pred, s.Apply(g)))
	}
	out := make([]edge, len(exits))
	for i, e := range exits {
		st := e.st.clone()
		st.pred = entry.pred
		if len(exits)+len(info.gone) > 1 {
			st.pred = c.And(entry.pred, s.Apply(e.st.pred))
		}
		for r, v := range st.regs {
			if v != undef && x.live[e.to].has(r) {
				st.regs[r] = s.Apply(v)
			} else {
				st.regs[r] = undef
			}
		}
		st.known = c.And(entry.known, s.Apply(st.known))
		st.ghost = s.Apply(st.ghost)
		for k, v := range st.scratch {
			st.scratch[k] = s.Apply(v)
		}
		st.view = x.viewAt(&st.view, s)
		st.snaps = x.snapsAt(st.snaps, s)
		st.threads, st.pending = nil, nil
		for j, v := range st.tags {
			st.tags[j] = s.Apply(v)
		}
		st.own = renamed(st.own, s)
		out[i] = edge{e.to, st}
	}
	return out
}

// giveUpOnLoops makes every register that still moves unknown and private, which always holds.
func (x *exec) giveUpOnLoops() {
	for _, info := range x.info {
		info.privateAct, info.privateExit = true, true
		for _, r := range info.regs {
			if r.form != invariant {
				r.form, r.hopeless, r.private = unknown, true, true
			}
		}
	}
}

// width returns the bits of a register of type t as a term: 0 for a predicate.
func width(t isa.Type) int {
	if t == isa.Pred {
		return 0
	}
	return min(8*t.Size(), 64)
}

// resize returns t in w bits.
func (x *exec) resize(t smt.Term, w int, asSigned bool) smt.Term {
	switch n := x.c.Width(t); {
	case n == w:
		return t
	case n > w:
		return x.c.Extract(t, 0, w)
	case asSigned && n == 32 && w == 64 && x.opt.NoWrap:
		return x.exact(t)
	case asSigned:
		return x.c.SExt(t, w)
	}
	return x.c.ZExt(t, w)
}

// exact computes a signed term of 32 bits in 64: where nothing wraps, that is its value.
func (x *exec) exact(t smt.Term) smt.Term {
	if r, ok := x.exactMemo[t]; ok {
		return r
	}
	c := x.c
	wide := func(v uint64) smt.Term { return c.Const(uint64(int64(int32(v))), 64) }
	r := c.SExt(t, 64)
	switch c.Op(t) {
	case smt.OpSum:
		k, coef := c.SumParts(t)
		r = wide(k)
		for i, a := range c.Args(t) {
			r = c.Add(r, c.Mul(wide(coef[i]), x.exact(a)))
		}
	case smt.OpMul:
		r = wide(1)
		for _, a := range c.Args(t) {
			r = c.Mul(r, x.exact(a))
		}
	case smt.OpIte:
		a := c.Args(t)
		r = c.Ite(a[0], x.exact(a[1]), x.exact(a[2]))
	}
	x.exactMemo[t] = r
	return r
}

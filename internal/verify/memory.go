package verify

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// What the rules for synchronization through memory share: lock.go, flag.go, arrival.go.

// MayOrder reports whether the atomics and strong accesses of a thread may order others: whether it
// may take a lock or wait for a flag.
func MayOrder(th *thread.Thread) bool {
	if th.Lockstep {
		return false
	}
	return slices.ContainsFunc(th.Accesses, func(a thread.Access) bool {
		return a.Update == thread.CompareAndSwap || a.Update == thread.Exchange || mayWait(th, &a)
	})
}

// startsAtZero reports whether an array may be 0 when the kernel starts: it is no variable with
// another initial value, and nothing is known of the launch that contradicts it. It notes what does.
func (p *prover) startsAtZero(o *thread.Object) bool {
	if o.Var != nil && slices.ContainsFunc(o.Var.Init, func(b byte) bool { return b != 0 }) {
		return false
	}
	if p.opt.NotZero == nil {
		return true
	}
	why, left := p.opt.NotZero(o)
	if why == "" || left && p.mayClear(o) {
		return true
	}
	if !slices.Contains(p.res.NotZero, why) {
		p.res.NotZero = append(p.res.NotZero, why)
	}
	return false
}

// mayClear reports whether the kernel may set an array to 0: not if it stores and adds nothing but
// constants above 0 there.
func (p *prover) mayClear(o *thread.Object) bool {
	return slices.ContainsFunc(p.th.Accesses, func(w thread.Access) bool {
		switch {
		case !w.Kind.Writes() || w.Object != nil && w.Object != o || keeps(p.c, &w):
			return false
		case w.Object == nil:
			return w.Space == event.Global || w.Space == event.Generic
		}
		value, _ := stored(&w) // 0 if it is not known
		if w.Update == thread.Add {
			value = w.Operands[0]
		}
		n, fixed := p.c.Value(value)
		return !fixed || n == 0 || w.Update == thread.Add && n>>(8*w.Size-1) != 0
	})
}

// fence returns a predicate for the fences of device scope that end a release or an acquire pattern
// (PTX ISA 8.8) of accesses to a space. Those of OpenCL order the memory that their flags name.
func (p *prover) fence(ends func(event.Order) bool, s event.Space) func(*ir.Instr) bool {
	return func(in *ir.Instr) bool {
		return slices.Contains(p.th.Fences, in) && in.Scope >= event.GPU && ends(in.Order) &&
			in.Orders.Covers(s)
	}
}

// acquires reports whether an access itself acquires what other threads did to a space: an
// operation of OpenCL other than seq_cst orders the memory that it accesses.
func acquires(a *thread.Access, s event.Space) bool {
	return a.Order.Acquires() && a.Instr.Orders.Covers(s)
}

// releases reports whether an instruction that writes a flag, a lock or a counter itself releases
// what its thread did to a space.
func releases(in *ir.Instr, s event.Space) bool {
	return in.Order.Releases() && in.Orders.Covers(s)
}

// spaceOf is the space that an access is to; Generic if that is not known, which only what orders
// all memory covers.
func spaceOf(a *thread.Access) event.Space {
	if a.Object != nil {
		return a.Object.Space
	}
	return a.Space
}

// openCL reports whether the kernel is one of OpenCL C, whose memory model has no order of fences
// that synchronizes and no causality of single writes (PTX ISA 8.9.3, 8.9.5).
func (p *prover) openCL() bool { return p.th.Func.Module != nil && p.th.Func.Module.OpenCL }

// never reports whether conditions on one thread cannot hold together.
func (p *prover) never(conds ...smt.Term) bool {
	conds = append(conds, p.th.Axioms.For(conds, 2)...)
	conds = append(conds, p.th.Assumed...)
	a := p.c.Decide(p.ctx, conds, p.opt.Solvers...)
	p.count(a)
	return a.Status == smt.Unsat
}

// always reports whether a condition holds wherever a guard does.
func (p *prover) always(guard, cond smt.Term) bool { return p.never(guard, p.c.Not(cond)) }

// elsewhere reports whether a write to the array of another access never touches what that access
// does, by a thread of another block or of the same.
func (p *prover) elsewhere(w, x *thread.Access) bool { return p.disjoint(w, x, p.far, smt.True) }

// disjoint reports whether the accesses x and y of two threads never overlap under a condition.
func (p *prover) disjoint(x, y *thread.Access, s [2]*smt.Substitution, cond smt.Term) bool {
	q := []smt.Term{s[0].Apply(x.Guard), s[1].Apply(y.Guard), cond,
		p.overlap(s[0].Apply(x.Offset), x.Size, s[1].Apply(y.Offset), y.Size)}
	return p.unsat(q, [2][]smt.Term{{x.Guard, x.Offset}, {y.Guard, y.Offset}}, s)
}

// unsat reports whether a query about two threads has no model, with the axioms for terms of each.
func (p *prover) unsat(q []smt.Term, terms [2][]smt.Term, s [2]*smt.Substitution) bool {
	for i := range terms {
		for _, ax := range p.th.Axioms.For(terms[i], 2) {
			q = append(q, s[i].Apply(ax))
		}
		for _, is := range p.th.Assumed {
			q = append(q, s[i].Apply(is))
		}
	}
	a := p.c.Decide(p.ctx, q, p.opt.Solvers...)
	p.count(a)
	return a.Status == smt.Unsat
}

// handsOn reports whether every path from the access that takes a lock to the instruction that
// frees it passes an acquire pattern of accesses to a space and then a release pattern.
func (p *prover) handsOn(take *thread.Access, free *ir.Instr, s event.Space) bool {
	paths := p.routes()
	acquiring, releasing := p.fence(event.Order.Acquires, s), p.fence(event.Order.Releases, s)
	begins := []*ir.Instr{take.Instr}
	if !acquires(take, s) {
		if paths.ReachesPast(take.Instr, free, acquiring) {
			return false
		}
		begins = p.th.Fences
	}
	for _, b := range begins {
		if b != take.Instr && (!acquiring(b) || releasing(b) || !paths.Reaches(take.Instr, b)) {
			continue
		}
		if !releases(free, s) && paths.ReachesPast(b, free, releasing) {
			return false
		}
	}
	return true
}

// lastOf returns a substitution that turns terms of t, which a thread executes in at most one loop
// that is not around another place, into those of its last execution before that place. Loops are
// those around the place.
func (p *prover) lastOf(t *thread.Access, loops []int) (*smt.Substitution, bool) {
	common := 0
	for common < len(t.Place.Loops) && common < len(loops) && t.Place.Loops[common] == loops[common] {
		common++
	}
	last := p.c.Substitute()
	switch len(t.Place.Loops) - common {
	case 0:
	case 1:
		last.Replace(t.Iters[common], t.Last[common])
	default:
		return nil, false
	}
	return last, true
}

// barriers returns the barriers of the block that every thread which reaches them passes, and that
// order accesses to a space.
func (p *prover) barriers(s event.Space) []*ir.Instr {
	var out []*ir.Instr
	for _, e := range p.th.Ends {
		if e.Instr != nil && e.Instr.Guard == ir.NoReg && e.Orders.Covers(s) {
			out = append(out, e.Instr)
		}
	}
	return out
}

// routes returns the paths through the kernel.
func (p *prover) routes() *ir.Paths {
	if p.paths == nil {
		p.paths = ir.NewPaths(p.th.Func)
	}
	return p.paths
}

// leads is the formula that a thread is the leader of its block.
func (p *prover) leads() smt.Term {
	var is []smt.Term
	for _, t := range p.th.Tid {
		is = append(is, p.c.Eq(t, p.c.Const(0, 32)))
	}
	return p.c.And(is...)
}

// leaders returns, for each of two threads of two blocks, what turns terms of a thread into those of
// the leader of its block.
func (p *prover) leaders() (out [2]func(smt.Term) smt.Term) {
	first := p.c.Substitute()
	for _, t := range p.th.Tid {
		if _, fixed := p.c.Value(t); !fixed {
			first.Replace(t, p.c.Const(0, 32))
		}
	}
	for i := range out {
		rename := symbol.Leader(p.c, i+1)
		out[i] = func(t smt.Term) smt.Term { return rename.Apply(first.Apply(t)) }
	}
	return out
}

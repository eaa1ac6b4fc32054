package loop

import (
	"fmt"
	"maps"
	"slices"

	"heddle/internal/lockstep/join"
	"heddle/internal/lockstep/kernel"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Define adds to a what the last pass says of the symbols of all loops (thread.Axioms lists them).
func (t *Table) Define(a *thread.Axioms) {
	for _, l := range t.k.Loops() {
		i := t.info[l]
		if i.entry == smt.False && i.around == nil && len(i.slots) == 0 {
			continue // never reached
		}
		a.Define(i.name("act", i.privateAct), i.Iterations(), i.activity()...)
		a.Define(i.name("kx", i.privateExit), i.Around(), i.leaving()...)
		// In a fixed order, since the numbers of new terms decide the steps of solvers.
		for _, n := range slices.Sorted(maps.Keys(i.slots)) {
			r := i.slots[n]
			first, next := r.init, r.next
			if r.form == offset {
				first, next = t.c.Const(0, r.width), r.body
			}
			if r.form != unknown && r.form != offset || r.next == join.Undefined ||
				r.init == join.Undefined {
				continue
			}
			h := i.symbol(n, r)
			a.Define(t.c.Name(h), i.Iterations(), t.c.Eq(h, i.stepped(first, next)))
		}
	}
}

// stepped is first at iteration 0, else next of the previous iteration.
func (i *Info) stepped(first, next smt.Term) smt.Term {
	c := i.t.c
	return c.Ite(c.Eq(i.Counter, c.Const(0, 32)), first, symbol.Previous(c, i.Counter, next))
}

// activity defines act: the thread executes iteration k if k is 0, or if it executed k-1 and
// continued.
func (i *Info) activity() []smt.Term {
	c, act := i.t.c, i.Act()
	out := []smt.Term{c.Eq(act, i.stepped(smt.True, i.iter.Back))}
	for _, b := range i.tripBounds() {
		out = append(out, c.Implies(act, b))
	}
	return out
}

// leaving says that a thread that enters the loop leaves it in the last iteration: the assumption
// of termination.
func (i *Info) leaving() []smt.Term {
	c := i.t.c
	s := c.Substitute()
	s.Replace(i.Counter, i.Last())
	var how []smt.Term
	for _, e := range i.iter.leaves() {
		how = append(how, s.Apply(e))
	}
	act := s.Apply(i.Act())
	return []smt.Term{c.Implies(i.entry, c.And(act, c.Or(how...)))}
}

// Describe returns the loops that the last pass reached, outer ones before inner ones.
func (t *Table) Describe() []thread.Loop {
	var out []thread.Loop
	f := t.k.Func()
	for _, l := range t.k.Loops() {
		i := t.info[l]
		if i.entry == smt.False || i.iter.Back == smt.False || len(i.slots) == 0 && !i.Barriers {
			continue
		}
		lp := thread.Loop{
			Header: f.Blocks[l.Header], Joint: t.k.Together(l.Header),
			Around: i.Around(), Counter: i.Counter, Entry: i.entry,
			Back: i.iter.Back, Act: i.Act(), Last: i.Last(), Exits: i.iter.leaves(), Guesses: i.guesses,
			Kept: i.iter.Kept,
		}
		for n := range len(f.Regs) + t.k.Parts()*t.k.TagLen() {
			if r := i.slots[n]; r != nil && r.init != join.Undefined && r.next != join.Undefined {
				lp.Slots = append(lp.Slots, i.describe(n, r))
			}
		}
		out = append(out, lp)
	}
	return out
}

// describe returns slot n as users of the description see it.
func (i *Info) describe(n int, r *slot) thread.Slot {
	k := i.t.k
	regs := len(k.Func().Regs)
	s := thread.Slot{
		Name: i.t.slotName(n), At: i.value(n, r, i.Counter), Init: r.init, Next: r.next,
		Closed: r.form != unknown && r.form != offset, Tag: n >= regs,
	}
	s.Own = i.Barriers && s.Tag && (n-regs)%k.TagLen() == 1+i.Slot
	if r.form == offset { // the number of strides is all that can be known
		s.Name, s.At = s.Name+".strides", i.symbol(n, r)
		s.Init, s.Next = i.t.c.Const(0, r.width), r.body
	}
	if !s.Closed {
		s.Symbol = s.At
	}
	return s
}

// slotName names a register, or a part of the tag by its place in kernel.Facts.Parts.
func (t *Table) slotName(n int) string {
	regs := t.k.Func().Regs
	if n < len(regs) {
		return regs[n].Name
	}
	part, at := (n-len(regs))/t.k.TagLen(), (n-len(regs))%t.k.TagLen()
	name := "barrier"
	switch part {
	case kernel.PartAll:
	case t.k.GridPart():
		name += ".grid"
	case t.k.WarpPart():
		name += ".warp"
	case kernel.PartShared:
		name += ".shared"
	case kernel.PartGlobal:
		name += ".global"
	}
	if at > 0 {
		name = fmt.Sprintf("%s.iteration%d", name, at-1)
	}
	return name
}

package memory

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Arrays are the arrays of a kernel, and resolve addresses to them.
type Arrays struct {
	c     *smt.Context
	env   Env
	byKey map[key]*thread.Object
	bases map[smt.Term]*thread.Object // by base address
}

// key identifies an array: a variable, what the pointer at an offset of a parameter points to, or a
// parameter itself.
type key struct {
	v     *ir.Var
	field int
}

// Itself is the Object.Field of the memory of a parameter.
const Itself = -1

func newArrays(c *smt.Context, env Env) *Arrays {
	return &Arrays{c: c, env: env, byKey: map[key]*thread.Object{},
		bases: map[smt.Term]*thread.Object{}}
}

// All calls visit for each array, in no order.
func (a *Arrays) All(visit func(*thread.Object)) {
	for _, o := range a.byKey {
		visit(o)
	}
}

// Object returns the array of a variable, or the one that the pointer at an offset of a parameter
// points to. All shared arrays without bound are one: they start at one address (ir.Layout).
func (a *Arrays) Object(v *ir.Var, field int) *thread.Object {
	k := key{v, field}
	if v.Space == event.Shared && v.Unsized {
		k = key{}
	}
	o := a.byKey[k]
	if o == nil {
		name := v.Shown()
		if field > 0 {
			name = fmt.Sprintf("%s+%d", name, field)
		}
		o = &thread.Object{Name: name, Space: v.Space, Var: v, Field: field, Index: len(a.byKey)}
		if v.Space == event.Param && field != Itself {
			if o.Space = v.PtrSpace; o.Space == event.NoSpace || o.Space == event.Generic {
				o.Space = event.Global
			}
		}
		a.byKey[k] = o
	}
	return o
}

// Base returns the address at which an array starts.
func (a *Arrays) Base(o *thread.Object) smt.Term {
	t := a.c.Var(fmt.Sprintf("%s%d:%s", symbol.Base, o.Index, o.Var.Name), 64)
	a.bases[t] = o
	return t
}

// Address returns the address that an operand names; reg reads a register.
func (a *Arrays) Address(o *ir.Operand, reg func(ir.RegID) smt.Term) smt.Term {
	switch {
	case o.Var != nil:
		return a.c.AddConst(a.Base(a.Object(o.Var, 0)), o.Val)
	case o.Reg != ir.NoReg:
		return a.c.AddConst(reg(o.Reg), o.Val)
	}
	return a.c.Const(o.Val, 64)
}

// Place is where an access goes under a condition.
type Place struct {
	Cond   smt.Term
	Object *thread.Object // nil: any array
	Offset smt.Term       // from the start of Object, or the address
}

// maxPlaces bounds how often a pointer chosen among several arrays is split by cases.
const maxPlaces = 8

// Resolve splits an address into arrays and offsets: an address is the base of one array plus an
// offset, or a choice among such addresses.
func (a *Arrays) Resolve(addr smt.Term) []Place {
	if out := a.split(smt.True, addr, nil); len(out) <= maxPlaces {
		return out
	}
	return []Place{a.anywhere(smt.True, addr)}
}

// split appends to out the places to which addr may lead under cond. It stops beyond maxPlaces.
func (a *Arrays) split(cond, addr smt.Term, out []Place) []Place {
	if len(out) > maxPlaces || cond == smt.False {
		return out
	}
	if o, off, ok := a.BaseAndOffset(addr); ok {
		return append(out, Place{cond, o, off})
	}
	choice, then, other, ok := a.splitChoice(addr)
	if !ok {
		return append(out, a.anywhere(cond, addr))
	}
	a.env.Pause()
	out = a.split(a.c.And(cond, choice), then, out)
	return a.split(a.c.And(cond, a.c.Not(choice)), other, out)
}

// anywhere is the place of an address of which no array is known.
func (a *Arrays) anywhere(cond, addr smt.Term) Place {
	return Place{cond, nil, a.wide(addr, false)}
}

// wide returns an address or an offset in 64 bits.
func (a *Arrays) wide(t smt.Term, signed bool) smt.Term {
	switch n := a.c.Width(t); {
	case n == 64:
		return t
	case n > 64:
		return a.c.Extract(t, 0, 64)
	case signed:
		return a.env.SignExtend(t)
	}
	return a.c.ZExt(t, 64)
}

// BaseAndOffset finds the one base that an address contains, with coefficient 1. A 32-bit address
// holds the lower half of the base.
func (a *Arrays) BaseAndOffset(addr smt.Term) (*thread.Object, smt.Term, bool) {
	c := a.c
	args, coef := []smt.Term{addr}, []uint64{1}
	if c.Op(addr) == smt.OpSum {
		args = c.Args(addr)
		_, coef = c.SumParts(addr)
	}
	var found *thread.Object
	var base smt.Term
	for i, t := range args {
		full := t
		if c.Op(t) == smt.OpExtract && c.ExtractLow(t) == 0 {
			full = c.Args(t)[0]
		}
		if o := a.bases[full]; o != nil && coef[i] == 1 {
			if found != nil {
				return nil, 0, false
			}
			found, base = o, t
		}
	}
	if found == nil {
		return nil, 0, false
	}
	off := c.Sub(addr, base)
	if a.hasBase(off) {
		return nil, 0, false
	}
	return found, a.wide(off, true), true
}

// hasBase reports whether a base is part of a value. One that only decides between values is not,
// nor one that selects an element of constant memory, such as the size of an image of OpenCL: the
// element may be any value.
func (a *Arrays) hasBase(t smt.Term) bool {
	c := a.c
	seen := make(map[smt.Term]bool)
	var has func(t smt.Term) bool
	has = func(t smt.Term) bool {
		if seen[t] {
			return false // it has none, or the search has ended
		}
		seen[t] = true
		if a.bases[t] != nil {
			return true
		}
		if c.Width(t) == 0 || isConstantLoad(c.Name(t)) {
			return false
		}
		return slices.ContainsFunc(c.Args(t), has)
	}
	return has(t)
}

// splitChoice splits an address by the first choice among pointers in it.
func (a *Arrays) splitChoice(addr smt.Term) (cond, then, other smt.Term, ok bool) {
	c := a.c
	args := []smt.Term{addr}
	if c.Op(addr) == smt.OpSum {
		args = c.Args(addr)
	}
	for _, t := range args {
		if c.Op(t) != smt.OpIte || !a.hasBase(t) {
			continue
		}
		parts := c.Args(t)
		yes, no := c.Substitute(), c.Substitute()
		yes.Replace(t, parts[1])
		no.Replace(t, parts[2])
		return parts[0], yes.Apply(addr), no.Apply(addr), true
	}
	return 0, 0, 0, false
}

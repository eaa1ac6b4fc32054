package lockstep

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// array identifies an Object: a variable, what the pointer at an offset of a parameter points to, or a
// parameter itself.
type array struct {
	v     *ir.Var
	field int
}

// itself is the field that stands for the memory of a parameter.
const itself = -1

// object returns the array of a variable, or the one that the pointer at an offset of a parameter points to.
// All shared arrays without bound are one: they start at one address (ir.Layout).
func (x *exec) object(v *ir.Var, field int) *Object {
	key := array{v, field}
	if v.Space == event.Shared && v.Unsized {
		key = array{}
	}
	o := x.objects[key]
	if o == nil {
		name := v.Shown()
		if field > 0 {
			name = fmt.Sprintf("%s+%d", name, field)
		}
		o = &Object{Name: name, Space: v.Space, Var: v, Field: field, index: len(x.objects)}
		if v.Space == event.Param && field != itself {
			if o.Space = v.PtrSpace; o.Space == event.NoSpace || o.Space == event.Generic {
				o.Space = event.Global
			}
		}
		x.objects[key] = o
	}
	return o
}

// baseOf returns the address at which an object starts.
func (x *exec) baseOf(o *Object) smt.Term {
	t := x.c.Var(fmt.Sprintf("%s%d:%s", base, o.index, o.Var.Name), 64)
	x.bases[t] = o
	return t
}

// place is where an access goes under a condition.
type place struct {
	cond   smt.Term
	object *Object
	offset smt.Term
}

// maxPlaces bounds how often a pointer chosen among several arrays is split by cases.
const maxPlaces = 8

// resolve splits an address into objects and offsets: an address is the base of one object plus an offset, or
// a choice of such.
func (x *exec) resolve(addr smt.Term) []place {
	if out := x.split(smt.True, addr, nil); len(out) <= maxPlaces {
		return out
	}
	return []place{x.anywhere(smt.True, addr)}
}

// split appends to out the places to which addr may lead under cond. It stops beyond maxPlaces.
func (x *exec) split(cond, addr smt.Term, out []place) []place {
	if len(out) > maxPlaces || cond == smt.False {
		return out
	}
	if o, off, ok := x.baseAndOffset(addr); ok {
		return append(out, place{cond, o, off})
	}
	choice, a, b, ok := x.splitChoice(addr)
	if !ok {
		return append(out, x.anywhere(cond, addr))
	}
	x.pause()
	out = x.split(x.c.And(cond, choice), a, out)
	return x.split(x.c.And(cond, x.c.Not(choice)), b, out)
}

// anywhere is the place of an address of which no array is known.
func (x *exec) anywhere(cond, addr smt.Term) place {
	return place{cond, nil, x.resize(addr, 64, false)}
}

// baseAndOffset finds the one base that an address contains, with coefficient 1. A 32-bit address holds the
// lower half of the base.
func (x *exec) baseAndOffset(addr smt.Term) (*Object, smt.Term, bool) {
	c := x.c
	args, coef := []smt.Term{addr}, []uint64{1}
	if c.Op(addr) == smt.OpSum {
		args = c.Args(addr)
		_, coef = c.SumParts(addr)
	}
	var found *Object
	var b smt.Term
	for i, a := range args {
		whole := a
		if c.Op(a) == smt.OpExtract && c.ExtractLow(a) == 0 {
			whole = c.Args(a)[0]
		}
		if o := x.bases[whole]; o != nil && coef[i] == 1 {
			if found != nil {
				return nil, 0, false
			}
			found, b = o, a
		}
	}
	if found == nil {
		return nil, 0, false
	}
	off := c.Sub(addr, b)
	if x.hasBase(off) {
		return nil, 0, false
	}
	return found, x.resize(off, 64, true), true
}

func (x *exec) hasBase(t smt.Term) bool {
	has := false
	x.c.Visit([]smt.Term{t}, func(u smt.Term) { has = has || x.bases[u] != nil })
	return has
}

// splitChoice takes the first choice among pointers in an address apart.
func (x *exec) splitChoice(addr smt.Term) (cond, a, b smt.Term, ok bool) {
	c := x.c
	args := []smt.Term{addr}
	if c.Op(addr) == smt.OpSum {
		args = c.Args(addr)
	}
	for _, t := range args {
		if c.Op(t) != smt.OpIte || !x.hasBase(t) {
			continue
		}
		parts := c.Args(t)
		then, other := c.Substitute(), c.Substitute()
		then.Replace(t, parts[1])
		other.Replace(t, parts[2])
		return parts[0], then.Apply(addr), other.Apply(addr), true
	}
	return 0, 0, 0, false
}

// memOperand returns the address operand.
func (x *exec) memOperand(in *ir.Instr) *ir.Operand {
	for i := range in.Src {
		if in.Src[i].Kind == ir.Mem {
			return &in.Src[i]
		}
	}
	x.unsupported(in, "%s without an address", in.Text())
	return nil
}

func (x *exec) address(o *ir.Operand, st *state) smt.Term {
	c := x.c
	switch {
	case o.Var != nil:
		return c.AddConst(x.baseOf(x.object(o.Var, 0)), o.Val)
	case o.Reg != ir.NoReg && o.Var == nil:
		return c.AddConst(x.reg(o.Reg, st), o.Val)
	}
	return c.Const(o.Val, 64)
}

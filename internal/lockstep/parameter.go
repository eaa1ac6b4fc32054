package lockstep

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// loadParam executes ld.param; it reports false if in is none.
func (x *exec) loadParam(in *ir.Instr, st *state) bool {
	mem := x.memOperand(in)
	elem := in.Type.Size()
	if mem.Var != nil && mem.Var.Space == event.Param {
		x.results(in, func(i int, w int) smt.Term {
			return x.param(mem.Var, int(mem.Val)+i*elem, elem)
		}, st)
		return true
	}
	if in.Space != event.Param {
		return false
	}
	places := x.resolve(x.address(mem, st))
	if len(places) != 1 || places[0].object == nil || places[0].object.Field != itself {
		x.unsupported(in, "a parameter that is read at an address that is computed")
	}
	x.results(in, func(i int, w int) smt.Term {
		return x.paramAt(places[0].object, x.c.AddConst(places[0].offset, uint64(i*elem)), elem)
	}, st)
	return true
}

// paramAt is what a parameter holds at an offset: the same for all threads, if it is one of the kernel, which nobody writes
// (PTX ISA 5.1.6.1); at an offset that is not constant, nothing else is known of it. One of a called function is
// the thread's own, and is written by whoever calls.
func (x *exec) paramAt(o *Object, off smt.Term, size int) smt.Term {
	v := o.Var
	if !x.kernelParam[v] || x.dirty.written[o] {
		return x.fresh("a", 8*min(size, 8))
	}
	if k, ok := x.c.Value(off); ok && k < uint64(v.Size) {
		return x.param(v, int(k), size)
	}
	return x.pure("param:"+v.Name, 8*min(size, 8), off)
}

func (x *exec) param(v *ir.Var, off, size int) smt.Term {
	if size == 8 {
		isPointer := off == 0 && v.Pointer
		for _, f := range v.PtrFields {
			isPointer = isPointer || f == off
		}
		if isPointer && !slices.Contains(v.Guessed, off) {
			return x.baseOf(x.object(v, off))
		}
	}
	w := 8 * min(size, 8)
	if k, ok := x.given[ParamName(v, off, w)]; ok {
		return k
	}
	for i, p := range x.f.Params {
		if p == v && off+size <= v.Size {
			if k, ok := x.opt.Args[i]; ok { // of at most 8 bytes
				return x.c.Const(k>>(8*off), w)
			}
		}
	}
	return x.c.Var(ParamName(v, off, w), w)
}

// paramPrefix begins the names of the values of parameters.
const paramPrefix = inGrid + "param:"

// ParamName is the name of the variable for the w bits at an offset of a parameter: a model gives them by it.
func ParamName(v *ir.Var, off, w int) string {
	return fmt.Sprintf("%s%s+%d:%d", paramPrefix, v.Name, off, w)
}

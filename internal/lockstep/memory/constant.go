package memory

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// Param returns size bytes at an offset of a parameter: the base of an array, a value that is
// known, or a symbol.
func (m *Model) Param(v *ir.Var, off, size int) smt.Term {
	if size == 8 {
		isPointer := off == 0 && v.Pointer || slices.Contains(v.PtrFields, off)
		if isPointer && !slices.Contains(v.Guessed, off) {
			return m.pointer(v, off)
		}
	}
	w := 8 * min(size, 8)
	if k, ok := m.env.Fixed(v, off, w); ok {
		return k
	}
	return m.c.Var(symbol.ParamName(v, off, w), w)
}

// pointer is the value of a pointer at an offset of a parameter.
func (m *Model) pointer(v *ir.Var, off int) smt.Term {
	t, ok := m.opt.Pointers[Pointer{v, off}]
	if !ok {
		return m.Base(m.Object(v, off))
	}
	return m.c.AddConst(m.Base(m.Object(t.Of.Param, t.Of.Field)), t.Offset)
}

// LoadParam returns size bytes, delta bytes behind an address in parameter memory; ok is false if
// the parameter is unknown.
func (m *Model) LoadParam(places []Place, delta, size int) (v smt.Term, ok bool) {
	if len(places) != 1 || places[0].Object == nil || places[0].Object.Field != Itself {
		return 0, false
	}
	return m.paramAt(places[0].Object, m.c.AddConst(places[0].Offset, uint64(delta)), size), true
}

// paramAt is what a parameter holds at an offset. A parameter of the kernel is the same for all
// threads, and nobody writes it (PTX ISA 5.1.6.1); at an offset that is not constant nothing else
// is known. One of a called function belongs to the thread, and is written by the caller.
func (m *Model) paramAt(o *thread.Object, off smt.Term, size int) smt.Term {
	v := o.Var
	if !m.k.IsParam(v) || m.writtenKnown(o) {
		return m.env.Unknown("a", 8*min(size, 8))
	}
	if k, ok := m.c.Value(off); ok && k < uint64(v.Size) {
		return m.Param(v, int(k), size)
	}
	return symbol.Opaque(m.c, "param:"+v.Name, 8*min(size, 8), off)
}

// maxTable bounds the elements of a table that become a choice by the index.
const maxTable = 64

// constantLoad begins the names of the functions that stand for constant memory.
const constantLoad = "const"

// isConstantLoad reports whether a function is one of them.
func isConstantLoad(name string) bool { return strings.HasPrefix(name, symbol.Op+constantLoad) }

// LoadConst returns an element that is loaded from constant or parameter memory at addr, which
// leads to places.
func (m *Model) LoadConst(l Load, addr smt.Term) smt.Term {
	if v, ok := m.table(l); ok {
		return v
	}
	if o := l.only(); o != nil {
		// By the offset alone: a value with a base in it would be taken for a part of an address.
		return symbol.Opaque(m.c, fmt.Sprintf("%s%d:%s", constantLoad, o.Index, o.Name), 8*l.Size, l.offset(m.c))
	}
	return symbol.Opaque(m.c, constantLoad, 8*min(l.Size, 8), m.c.AddConst(addr, uint64(l.Index*l.Size)))
}

// table is the element of a variable in constant memory of OpenCL; ok is false if it is not known.
// The host cannot change these variables (OpenCL C 3.0, 6.7.3), as it can those of CUDA.
func (m *Model) table(l Load) (v smt.Term, ok bool) {
	o, size := l.only(), l.Size
	if module := m.k.Func().Module; module == nil || !module.OpenCL || o == nil {
		return 0, false
	}
	if o.Var.Space != event.Const || len(o.Var.Relocs) > 0 || o.Var.LaunchFact() {
		return 0, false
	}
	at := func(off int) smt.Term {
		var bits uint64
		for i := size - 1; i >= 0; i-- {
			bits <<= 8
			if off+i < len(o.Var.Init) {
				bits |= uint64(o.Var.Init[off+i])
			}
		}
		return m.c.Const(bits, 8*size)
	}
	off := l.offset(m.c)
	if k, fixed := m.c.Value(off); fixed {
		if k > uint64(o.Var.Size-size) || o.Var.Size < size {
			return 0, false
		}
		return at(int(k)), true
	}
	if o.Var.Size/size > maxTable {
		return 0, false
	}
	// Accesses are aligned, and an index beyond the table may give anything.
	v = symbol.Opaque(m.c, "const:"+o.Name, 8*size, off)
	for k := o.Var.Size - o.Var.Size%size - size; k >= 0; k -= size {
		v = m.c.Ite(m.c.Eq(off, m.c.Const(uint64(k), 64)), at(k), v)
	}
	return v, true
}

package lockstep

import (
	"heddle/internal/event"
	"heddle/internal/smt"
)

// maxTable bounds the elements of a table that become a choice by the index.
const maxTable = 64

// table is what a variable in constant memory of OpenCL holds, delta bytes behind the only place, size bytes of it; ok
// is false if that is not known. The host cannot change these variables (OpenCL C 3.0, 6.7.3), as it can those of CUDA.
func (x *exec) table(places []place, delta, size int) (v smt.Term, ok bool) {
	if x.f.Module == nil || !x.f.Module.OpenCL || len(places) != 1 || size > 8 {
		return 0, false
	}
	o := places[0].object
	if o == nil || o.Var.Space != event.Const || len(o.Var.Relocs) > 0 {
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
		return x.c.Const(bits, 8*size)
	}
	off := x.c.AddConst(places[0].offset, uint64(delta))
	if k, fixed := x.c.Value(off); fixed {
		if k > uint64(o.Var.Size-size) || o.Var.Size < size {
			return 0, false
		}
		return at(int(k)), true
	}
	if o.Var.Size/size > maxTable {
		return 0, false
	}
	// Accesses are aligned, and an index beyond the table may give anything.
	v = x.pure("const:"+o.Name, 8*size, off)
	for k := o.Var.Size - o.Var.Size%size - size; k >= 0; k -= size {
		v = x.c.Ite(x.c.Eq(off, x.c.Const(uint64(k), 64)), at(k), v)
	}
	return v, true
}

package lockstep

import (
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// bitfield is bfe (PTX ISA 9.7.1.19) with constant position and length of a field that lies within the source; other fields
// are filled up with the sign or zero, and are left to the caller.
func (x *exec) bitfield(in *ir.Instr, w int, arg func(int) smt.Term, st *state) (smt.Term, bool) {
	c := x.c
	pos, ok1 := c.Value(x.read(in.Src[1], 32, st))
	n, ok2 := c.Value(x.read(in.Src[2], 32, st))
	pos, n = pos&0xff, n&0xff
	if !ok1 || !ok2 || n == 0 || pos+n > uint64(w) {
		return 0, false
	}
	return x.resize(c.Extract(arg(0), int(pos), int(n)), w, in.Type.Signed()), true
}

package lockstep

import (
	"fmt"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// instr executes an instruction that does not transfer control.
func (x *exec) instr(in *ir.Instr, st *state) {
	switch in.Row.Category {
	case isa.Barrier, isa.WarpOp:
		x.synchronize(in, st)
		return
	case isa.FenceCat:
		x.approximate("the prover uses fences only in locks, flags and last-block patterns")
		if x.final && in.Action() == isa.ActFence && in.Guard == ir.NoReg &&
			!slices.Contains(x.th.Fences, in) {
			x.th.Fences = append(x.th.Fences, in)
		}
		return
	case isa.Memory, isa.Async:
		x.memory(in, st)
		return
	}
	switch {
	case in.Action() == isa.ActMapAddress:
		thread.Unsupported(in, "shared memory of another block")
	case in.IsCall() && in.Callee != nil && in.Callee.Name == "vprintf":
		if x.final && x.readsString(in, st) {
			thread.Unsupported(in, "printf with %%s or an unknown format, which reads strings from memory")
		}
		x.setUnknown(in, symbol.Private, st)
		return
	case in.IsCall():
		x.call(in, st)
		return
	case in.Row.Category == isa.Stack, in.Row.Category == isa.Matrix && in.Row.Effect != isa.NoEffect:
		thread.Unsupported(in, "%s", in.Text())
	case in.Row.Category == isa.Texture && in.Row.Effect != isa.NoEffect && in.Row.Effect != isa.Reads:
		thread.Unsupported(in, "%s", in.Text())
	case in.Action() == isa.ActMatrixGroup, in.Action() == isa.ActTensorAllocate,
		in.Action() == isa.ActQueryCancel:
		// Parts of asynchronous protocols, whose other instructions are unsupported too.
		thread.Unsupported(in, "%s", in.Text())
	}
	if in.Row.Category == isa.Matrix {
		x.waitForLanes(in, st)
	}
	x.th.Textures = x.th.Textures || in.Row.Category == isa.Texture && in.Row.Effect == isa.Reads
	if len(in.Dst) == 0 {
		return // cvta of nothing, prefetch, nanosleep and the like
	}
	x.ops.st = st
	if v, ok := x.orOffset(in, st); ok {
		x.set(in, in.Dst[0], v, false, st)
		return
	}
	results, ok := x.eval.Execute(in)
	for _, r := range results {
		x.set(in, *r.To, r.Value, r.Signed, st)
	}
	if !ok {
		x.opaque(in, st)
	}
}

// orOffset is the value of an or that adds a constant to the address of a variable, as compilers
// write it where the alignment of the variable makes the two the same.
func (x *exec) orOffset(in *ir.Instr, st *state) (smt.Term, bool) {
	if in.Op() != "or" || in.Type.Size() != 8 {
		return 0, false
	}
	c, at := x.c, x.read(in.Src[0], 64, st)
	o, off, ok := x.mem.BaseAndOffset(at)
	k, fixed := c.Value(x.read(in.Src[1], 64, st))
	if !ok || !fixed || o.Var == nil || o.Var.Pointer {
		return 0, false
	}
	from, known := c.Value(off)
	if !known || from&k != 0 || k >= uint64(o.Var.Align) {
		return 0, false
	}
	return c.AddConst(at, k), true
}

// opaque gives the destinations values that depend on the sources only; of an instruction that
// reads more than its sources, values of which nothing is known.
func (x *exec) opaque(in *ir.Instr, st *state) {
	sources, known := x.sources(in, st)
	x.eachResult(in, func(n int, o ir.Operand, w int) {
		if known && !readsMore(in) {
			x.set(in, o, symbol.Opaque(x.c, fmt.Sprintf("%s#%d", sources.name, n), w, sources.args...),
				false, st)
		} else {
			x.set(in, o, x.Unknown("i", w), false, st)
		}
	})
}

// readsMore reports whether the results of an instruction depend on more than its sources.
func readsMore(in *ir.Instr) bool {
	switch in.Row.Category {
	// contents of textures, values of other lanes, selectors not in the text
	case isa.Texture, isa.Matrix, isa.Video:
		return true
	case isa.Address: // mapa, getctarank: which block an address is of
		if in.Action() != isa.ActTestSpace {
			return true
		}
	}
	return in.Row.Effect != isa.NoEffect || in.ReadsCarry()
}

// signature names an operation, and has the values that it depends on.
type signature struct {
	name string
	args []smt.Term
}

// sources returns the sources of an instruction; known is false if it has others than registers and
// constants.
func (x *exec) sources(in *ir.Instr, st *state) (s signature, known bool) {
	s.name, known = in.Text(), true
	var take func(o ir.Operand)
	take = func(o ir.Operand) {
		switch {
		case o.Kind == ir.Register:
			v := x.reg(o.Reg, st)
			if o.Neg && x.c.Width(v) == 0 {
				v = x.c.Not(v)
			}
			s.args = append(s.args, v)
		case o.Kind == ir.Imm:
			s.args = append(s.args, x.c.Const(o.Val, 64))
		case o.Kind == ir.Vector:
			for _, e := range o.Elems {
				take(e)
			}
		case o.Kind == ir.None: // which operand is left out matters
			s.name += fmt.Sprintf("_%d", len(s.args))
		default:
			known = false
		}
	}
	for _, o := range in.Src {
		take(o)
	}
	return s, known
}

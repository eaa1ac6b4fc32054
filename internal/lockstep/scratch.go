package lockstep

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/smt"
)

// Arguments and results of calls: variables in .param space that are the function's own (PTX ISA 7.1). They have
// no address that could escape, so that each range of bytes holds what was stored to it last.

// slot is a range of bytes of such a variable.
type slot struct {
	v         *ir.Var
	off, size int
}

// isScratch reports whether an operand names a call's argument or result.
func (x *exec) isScratch(o *ir.Operand) bool {
	return o != nil && o.Var != nil && o.Var.Space == event.Param && !x.kernelParam[o.Var]
}

// scratchAccess executes ld.param and st.param of a call's argument or result.
func (x *exec) scratchAccess(in *ir.Instr, mem *ir.Operand, st *state) {
	elem := in.Type.Size()
	if in.Op() != "st" {
		x.results(in, func(i, w int) smt.Term { return x.takeScratch(slot{mem.Var, int(mem.Val) + i*elem, elem}, st) }, st)
		return
	}
	values := in.Src[1:2]
	if in.Src[1].Kind == ir.Vector {
		values = in.Src[1].Elems
	}
	for i, o := range values {
		s := slot{mem.Var, int(mem.Val) + i*elem, elem}
		if elem > 8 {
			x.forgetScratch(s, st)
			continue
		}
		v := x.read(o, 8*elem, st)
		if x.guard != smt.True {
			v = x.c.Ite(x.guard, v, x.takeScratch(s, st))
		}
		x.putScratch(s, v, st)
	}
}

// putScratch stores v, which has as many bits as s has bytes eightfold.
func (x *exec) putScratch(s slot, v smt.Term, st *state) {
	x.forgetScratch(s, st)
	if st.scratch == nil {
		st.scratch = map[slot]smt.Term{}
	}
	st.scratch[s] = v
}

// forgetScratch makes the bytes unknown, and with them whatever was stored over them and their neighbours at once.
func (x *exec) forgetScratch(s slot, st *state) {
	for t := range st.scratch {
		if t.v == s.v && t.off < s.off+s.size && s.off < t.off+t.size {
			delete(st.scratch, t)
		}
	}
}

// takeScratch reads bytes: as they were stored, or a part of that, or put together from smaller parts.
func (x *exec) takeScratch(s slot, st *state) smt.Term {
	w := 8 * min(s.size, 8)
	if o := x.objects[array{s.v, itself}]; o != nil && x.dirty.written[o] { // by its address too
		return x.fresh("a", w)
	}
	if v, ok := st.scratch[s]; ok {
		return v
	}
	for t, v := range st.scratch {
		if t.v == s.v && t.off <= s.off && s.off+s.size <= t.off+t.size {
			return x.c.Extract(v, 8*(s.off-t.off), w)
		}
	}
	if s.size > 1 && s.size <= 8 && s.size%2 == 0 {
		low, high := slot{s.v, s.off, s.size / 2}, slot{s.v, s.off + s.size/2, s.size / 2}
		if x.inScratch(low, st) && x.inScratch(high, st) {
			return x.c.Concat(x.takeScratch(high, st), x.takeScratch(low, st))
		}
	}
	return x.fresh("a", w)
}

// inScratch reports whether something is known of the bytes.
func (x *exec) inScratch(s slot, st *state) bool {
	for t := range st.scratch {
		if t.v == s.v && t.off < s.off+s.size && s.off < t.off+t.size {
			return true
		}
	}
	return false
}

// joinScratch merges what is known in the states that reach block b. What is not known in one of them may be anything
// there, as a register that nothing wrote.
func (x *exec) joinScratch(b ir.BlockID, states []*state, ways []smt.Term) map[slot]smt.Term {
	all := map[slot]bool{}
	for _, st := range states {
		for s := range st.scratch {
			all[s] = true
		}
	}
	keys := slices.Collect(maps.Keys(all))
	slices.SortFunc(keys, func(a, b slot) int { // terms come in the same order in every run
		return cmp.Or(cmpString(a.v.Name, b.v.Name), cmp.Compare(a.v.Offset, b.v.Offset), cmp.Compare(a.off, b.off), cmp.Compare(a.size, b.size))
	})
	out := map[slot]smt.Term{}
	for _, s := range keys {
		if slices.ContainsFunc(states, func(st *state) bool { _, ok := st.scratch[s]; return !ok && x.inScratch(s, st) }) {
			continue // cut otherwise
		}
		out[s] = x.merge(states, ways, func(st *state) smt.Term {
			if v, ok := st.scratch[s]; ok {
				return v
			}
			return x.apply(fmt.Sprintf("%sjs%d.%d.%s.%d.%d", private, b, s.v.Offset, s.v.Name, s.off, s.size), 8*s.size, x.counters())
		}, nil)
	}
	return out
}

// keptScratch is what is known at the header of a loop at any iteration: of variables that the loop does not write.
func (x *exec) keptScratch(l *ir.Loop, at map[slot]smt.Term) map[slot]smt.Term {
	if len(at) == 0 {
		return nil
	}
	out := maps.Clone(at)
	lose := func(o *ir.Operand) {
		if x.isScratch(o) {
			maps.DeleteFunc(out, func(s slot, _ smt.Term) bool { return s.v == o.Var })
		}
	}
	for _, b := range l.Blocks {
		for _, in := range x.f.Blocks[b].Instrs {
			if in.Op() == "call" {
				for i := range in.Dst {
					lose(&in.Dst[i])
				}
			}
			if in.Row.Category == isa.Memory && in.Row.Effect != isa.Reads && len(in.Src) > 0 {
				lose(&in.Src[0])
			}
		}
	}
	return out
}

// argument is the value of argument i of a call, in w bits.
func (x *exec) argument(in *ir.Instr, i, w int, st *state) smt.Term {
	switch o := in.Src[i]; {
	case o.Kind != ir.VarVal:
		return x.read(o, w, st)
	case x.isScratch(&o) && o.Var.Size <= 8:
		return x.resize(x.takeScratch(slot{o.Var, 0, o.Var.Size}, st), w, false)
	}
	return x.fresh(fmt.Sprintf("arg%d.", i), w)
}

// result gives a call's only result a value.
func (x *exec) result(in *ir.Instr, v smt.Term, st *state) {
	if len(in.Dst) == 0 {
		return
	}
	o := in.Dst[0]
	if o.Kind == ir.Register {
		x.set(in, o, v, false, st)
		return
	}
	if o.Kind != ir.VarVal || !x.isScratch(&o) {
		return
	}
	s := slot{o.Var, 0, o.Var.Size}
	if s.size > 8 {
		x.forgetScratch(s, st)
		return
	}
	v = x.resize(v, 8*s.size, false)
	if x.guard != smt.True {
		v = x.c.Ite(x.guard, v, x.takeScratch(s, st))
	}
	x.putScratch(s, v, st)
}

package slice

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// controlDependence computes for each block the blocks whose last branch decides whether it is executed, and
// for each branch where its paths meet. Paths that only lead to a failed assertion or a trap are left out:
// they are taken not to be taken.
func (f *function) controlDependence() {
	g := f.pruned()
	pdom := ir.PostDominators(g)
	n := len(g.Blocks)
	f.ctl = make([][]ir.BlockID, n)
	f.target = make([]ir.BlockID, n)
	for _, b := range g.Blocks {
		join := pdom.IDom(b.ID)
		f.target[b.ID] = join
		exits := b.Last() != nil && b.Last().Guard != ir.NoReg && (b.Last().Op() == "exit" || b.Last().Op() == "ret")
		if len(b.Succs) < 2 && !exits {
			if len(b.Succs) == 1 {
				f.target[b.ID] = b.Succs[0]
			}
			continue
		}
		for _, s := range b.Succs {
			for at := s; at != join && at != ir.NoBlock; at = pdom.IDom(at) {
				f.ctl[at] = append(f.ctl[at], b.ID)
			}
		}
	}
}

// pruned is the function without the blocks that cannot be reached or from which every path ends in a trap.
func (f *function) pruned() *ir.Func {
	n := len(f.fn.Blocks)
	doomed := make([]bool, n)
	for changed := true; changed; {
		changed = false
		for i := n - 1; i >= 0; i-- {
			if b := f.fn.Blocks[i]; !doomed[i] && f.dies(b, doomed) {
				doomed[i], changed = true, true
			}
		}
	}
	if doomed[0] { // there is nothing else
		clear(doomed)
	}
	f.live = make([]bool, n)
	g := &ir.Func{Kernel: f.fn.Kernel, Blocks: make([]*ir.Block, n)}
	for i, b := range f.fn.Blocks {
		g.Blocks[i] = &ir.Block{ID: b.ID, Instrs: b.Instrs}
	}
	work := []ir.BlockID{0}
	f.live[0] = true
	for len(work) > 0 {
		b := f.fn.Blocks[work[len(work)-1]]
		work = work[:len(work)-1]
		for _, s := range b.Succs {
			if doomed[s] && !doomed[b.ID] {
				continue
			}
			g.Blocks[b.ID].Succs = append(g.Blocks[b.ID].Succs, s)
			g.Blocks[s].Preds = append(g.Blocks[s].Preds, b.ID)
			if !f.live[s] {
				f.live[s] = true
				work = append(work, s)
			}
		}
	}
	return g
}

// dies reports whether every path from the start of b ends in a trap, an assertion that fails or a call that
// does not return.
func (f *function) dies(b *ir.Block, doomed []bool) bool {
	for _, in := range b.Instrs {
		if in.Guard != ir.NoReg {
			continue
		}
		if in.Op() == "trap" || in.Op() == "call" && in.Callee != nil && (in.Callee.Name == "__assertfail" || in.Callee.NoReturn) {
			return true
		}
	}
	for _, s := range b.Succs {
		if !doomed[s] {
			return false
		}
	}
	return len(b.Succs) > 0
}

// doomed reports whether paths were left out.
func (f *function) doomed() bool {
	for _, b := range f.fn.Blocks {
		if !f.live[b.ID] {
			continue
		}
		for _, s := range b.Succs {
			if !f.live[s] {
				return true
			}
		}
	}
	return false
}

// pointers finds the registers that may hold a generic address of shared or local memory: those that the
// address of such a variable, or something loaded from memory that threads write, can flow into. What a
// launch passes as an argument or in global memory is no address of shared memory: no host knows one.
func (f *function) pointers() {
	n := len(f.fn.Regs)
	f.shared, f.private = make([]bool, n), make([]bool, n)
	if !f.hasGeneric() {
		return
	}
	for changed := true; changed; {
		changed = false
		for _, in := range f.instrs {
			if in == nil || len(in.Dst) == 0 {
				continue
			}
			sh, lo := f.pointerSources(in)
			if !sh && !lo {
				continue
			}
			for i := range in.Dst {
				eachReg(&in.Dst[i], func(r ir.RegID) {
					if sh && !f.shared[r] {
						f.shared[r], changed = true, true
					}
					if lo && !f.private[r] {
						f.private[r], changed = true, true
					}
				})
			}
		}
	}
}

func (f *function) hasGeneric() bool {
	for _, in := range f.instrs {
		if in != nil && in.Row != nil && in.Row.Category == isa.Memory && (in.Space == event.Generic || in.Space == event.NoSpace) {
			return true
		}
	}
	return false
}

func (f *function) pointerSources(in *ir.Instr) (sh, lo bool) {
	switch in.Op() {
	case "ld", "ldu", "atom":
		switch in.Space {
		case event.Global, event.Const:
			return false, false
		case event.Param:
			if f.fn.Kernel && f.ownParam(in.Src[0].Var) {
				return false, false
			}
		}
		return in.Type.Size() >= 4 && !in.Type.IsFloat(), in.Type.Size() >= 4 && !in.Type.IsFloat()
	case "call":
		return true, true
	case "setp", "bar", "barrier":
		return false, false
	}
	for i := range in.Src {
		o := &in.Src[i]
		eachReg(o, func(r ir.RegID) { sh, lo = sh || f.shared[r], lo || f.private[r] })
		for _, v := range varsOf(o) {
			sh = sh || v.Space == event.Shared
			lo = lo || v.Space == event.Local || v.Space == event.Param && !f.fn.Kernel
		}
	}
	return sh, lo
}

func varsOf(o *ir.Operand) (vs []*ir.Var) {
	if o.Var != nil {
		vs = append(vs, o.Var)
	}
	for i := range o.Elems {
		vs = append(vs, varsOf(&o.Elems[i])...)
	}
	return vs
}

// callsThatAct finds the functions that contain, or call one that contains, something that a trace must see.
func (s *Slice) callsThatAct() {
	for changed := true; changed; {
		changed = false
		for _, fn := range s.order {
			f := s.funcs[fn]
			if f.acts {
				continue
			}
			for _, in := range f.instrs {
				if in == nil {
					continue
				}
				switch k := f.kindOf(in); {
				case k == sync, k == shared, k == other, k == calls && f.callActs(in):
					f.acts, changed = true, true
				}
			}
		}
	}
}

// callActs reports whether a call may do what a trace must see. A store through a pointer to local memory
// that the callee got counts as such, since the caller may load from there.
func (f *function) callActs(in *ir.Instr) bool {
	if in.Callee == nil {
		return true
	}
	if g := f.s.funcs[in.Callee]; g != nil {
		return g.acts || g.writesLocal()
	}
	switch in.Callee.Name {
	case "vprintf", "free", "malloc":
		return false
	}
	return true // no body: the emulator says what it is
}

func (f *function) writesLocal() bool {
	for _, in := range f.instrs {
		if in != nil && in.Op() == "st" && f.kindOf(in) == local {
			return true
		}
	}
	return false
}

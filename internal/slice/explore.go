package slice

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Region is what lies between a branch and the point where its paths merge.
type Region struct {
	Join ir.BlockID
	Regs []ir.RegID // needed registers that are written in it
}

// Explore returns the region of the branch that ends block b, if a trace may take both of its paths
// when it does not know which one is taken: nothing in it waits for other threads, ends one or
// calls, and the branch is not part of a loop (the paper's footnote 3).
func (s *Slice) Explore(fn *ir.Func, b ir.BlockID) (Region, bool) {
	f := s.funcs[fn]
	join := f.target[b]
	if join == ir.NoBlock {
		return Region{}, false
	}
	seen := make(map[ir.BlockID]bool)
	written := make(map[ir.RegID]bool)
	work := append([]ir.BlockID(nil), fn.Blocks[b].Succs...)
	r := Region{Join: join}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if at == join || seen[at] || !f.live[at] {
			continue
		}
		if at == b {
			return r, false
		}
		seen[at] = true
		block := fn.Blocks[at]
		for _, in := range block.Instrs {
			if s.Role(fn, in) == Skip {
				continue
			}
			switch f.kindOf(in) {
			case sync, object, order, calls, other, argument, fails:
				return r, false
			case always, branch:
				if in.Leaves() {
					return r, false
				}
			}
			// the lanes are not those of a run
			if in.Has(isa.CC) && f.needed[f.carry()] || in.Row.Category == isa.WarpOp {
				return r, false
			}
			for i := range in.Dst {
				in.Dst[i].EachReg(func(reg ir.RegID) {
					if f.needed[reg] && !written[reg] {
						written[reg] = true
						r.Regs = append(r.Regs, reg)
					}
				})
			}
		}
		work = append(work, block.Succs...)
	}
	return r, true
}

// findTables makes loads from initialised variables in global memory, and from arrays with given
// contents, that the code does not write loads of constants.
func (s *Slice) findTables() {
	s.written = make(map[*ir.Var]bool)
	for _, fn := range s.order {
		f := s.funcs[fn]
		for _, in := range f.instrs {
			if in.WritesMemory() {
				for _, v := range f.bases(in) {
					s.written[v] = true
				}
			}
		}
	}
	for _, fn := range s.order {
		f := s.funcs[fn]
		for i, in := range f.instrs {
			if f.kinds[i] != input || !in.ReadsMemory() || in.Order.Strong() {
				continue
			}
			if vs := f.bases(in); len(vs) > 0 &&
				!slices.ContainsFunc(vs, func(v *ir.Var) bool { return !s.table(v) }) {
				f.kinds[i] = constant
			}
		}
	}
}

// table reports whether the contents of a variable, or of the array that a parameter points to, are
// known and not written by the kernel. That the host does not write an initialised variable before
// the launch is an assumption (Slice.Tables).
func (s *Slice) table(v *ir.Var) bool {
	return !s.written[v] && (s.opt.Given[v] || (v.Space == event.Global || v.Space == event.Const) &&
		v.Init != nil)
}

// Written reports whether the code writes a module variable.
func (s *Slice) Written(v *ir.Var) bool { return s.written[v] }

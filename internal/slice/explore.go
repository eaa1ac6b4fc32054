package slice

import (
	"cmp"
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
			if in.Has(isa.CC) && f.needed[f.carry()] || in.Row.Category == isa.WarpOp || rowMatrix(in) {
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
	s.findWritten()
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

// findWritten finds the variables, and the parameters to whose arrays, the kernel may write, or
// whose contents it discards: "destroys the data", so that a load returns an indeterminate value
// until the next store (PTX ISA 9.7.9.17). A write through an address that comes from elsewhere may
// be to any whose address has gone where bases does not follow it. That includes an address into
// which a register of less than 8 bytes, or a packed one, goes: it may hold a piece of an address.
func (s *Slice) findWritten() {
	s.written = make(map[*ir.Var]bool)
	elsewhere := false
	for _, fn := range s.order {
		f := s.funcs[fn]
		for _, in := range f.instrs {
			use, bulk := in.Bulk()
			if !in.WritesMemory() && !(bulk && use.To == event.Global) &&
				in.Action() != isa.ActDiscard {
				continue
			}
			vs, all, pieces := f.basesOf(in)
			for _, v := range vs {
				s.written[v] = true
			}
			switch in.Space {
			case event.Shared, event.Local, event.Param:
			default:
				elsewhere = elsewhere || !all || pieces || len(vs) == 0
			}
		}
	}
	if !elsewhere || !s.readsTable() {
		return
	}
	for v := range s.escaped() {
		s.written[v] = true
	}
}

// readTables notes the variables whose initial contents a load of the slice may read.
func (f *function) readTables(in *ir.Instr) {
	if in.Space == event.Param {
		return
	}
	add := func(v *ir.Var) {
		if (v.Space == event.Global || v.Space == event.Const) && v.Init != nil &&
			!slices.Contains(f.s.Tables, v) {
			f.s.Tables = append(f.s.Tables, v)
		}
	}
	vs, all, pieces := f.basesOf(in)
	for _, v := range vs {
		add(v)
	}
	if all && !pieces {
		return
	}
	if f.s.apart == nil {
		for v := range f.s.escaped() {
			f.s.apart = append(f.s.apart, v)
		}
		slices.SortFunc(f.s.apart, func(a, b *ir.Var) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, v := range f.s.apart {
		if f.s.table(v) {
			add(v)
		}
	}
}

// readsTable reports whether some load is of variables that may be tables.
func (s *Slice) readsTable() bool {
	for _, fn := range s.order {
		f := s.funcs[fn]
		for i, in := range f.instrs {
			if f.kinds[i] == input && in.ReadsMemory() && slices.ContainsFunc(f.bases(in), s.table) {
				return true
			}
		}
	}
	return false
}

// escaped returns the variables whose address, and the parameters the address in which, is stored,
// passed on or taken apart, or is in the initialiser of a variable that the kernel names.
func (s *Slice) escaped() map[*ir.Var]bool {
	out := make(map[*ir.Var]bool)
	var initialiser func(v *ir.Var)
	initialiser = func(v *ir.Var) {
		for i := range v.Relocs {
			if to := v.Relocs[i].Target; to != nil && !out[to] {
				out[to] = true
				initialiser(to)
			}
		}
	}
	for _, fn := range s.order {
		for _, in := range s.funcs[fn].instrs {
			for i := range in.Src {
				eachVar(&in.Src[i], func(v *ir.Var, _ bool) { initialiser(v) })
			}
		}
	}
	for _, fn := range s.order {
		f := s.funcs[fn]
		holds := make(map[ir.RegID]map[*ir.Var]bool)
		for changed := true; changed; {
			changed = false
			for _, in := range f.instrs {
				changed = f.passAddresses(in, holds, out) || changed
			}
		}
	}
	return out
}

// passAddresses adds what the results of an instruction hold addresses of, and which of them
// escape. It reports whether it has added anything.
func (f *function) passAddresses(in *ir.Instr, holds map[ir.RegID]map[*ir.Var]bool,
	escaped map[*ir.Var]bool) (changed bool) {
	from := make(map[*ir.Var]bool)
	for i := range in.Src {
		o := &in.Src[i]
		eachVar(o, func(v *ir.Var, address bool) {
			if address {
				from[v] = true
			}
		})
		if o.Kind == ir.Mem { // it is accessed
			continue
		}
		o.EachReg(func(r ir.RegID) {
			for v := range holds[r] {
				from[v] = true
			}
		})
	}
	k := f.kindOf(in)
	if k == constant && in.Space == event.Param && in.Src[0].Var != nil {
		from[in.Src[0].Var] = true
	}
	if len(from) == 0 || comparesAddresses(in, func(o *ir.Operand) bool {
		return o.Kind == ir.VarAddr || o.Kind == ir.Register && len(holds[o.Reg]) > 0
	}) {
		return false
	}
	within := k == pure || k == constant
	for i := range in.Dst {
		in.Dst[i].EachReg(func(r ir.RegID) { within = within && f.fn.Regs[r].Type.Size() == 8 })
	}
	add := func(to map[*ir.Var]bool, v *ir.Var) {
		if !to[v] {
			to[v], changed = true, true
		}
	}
	for v := range from {
		if !within {
			add(escaped, v)
			continue
		}
		for i := range in.Dst {
			in.Dst[i].EachReg(func(r ir.RegID) {
				if holds[r] == nil {
					holds[r] = make(map[*ir.Var]bool)
				}
				add(holds[r], v)
			})
		}
	}
	return changed
}

// eachVar visits the variables that an operand, or an element of a vector, names, and says whether
// it is their address.
func eachVar(o *ir.Operand, visit func(v *ir.Var, address bool)) {
	if o.Var != nil {
		visit(o.Var, o.Kind == ir.VarAddr)
	}
	for i := range o.Elems {
		eachVar(&o.Elems[i], visit)
	}
}

// comparesAddresses reports whether an instruction compares an address with 0 or with another one.
// Any other comparison may take a bit out of an address.
func comparesAddresses(in *ir.Instr, is func(o *ir.Operand) bool) bool {
	if in.Operation() != isa.Comparison || len(in.Src) != 2 {
		return false
	}
	null := func(o *ir.Operand) bool { return o.Kind == ir.Imm && o.Val == 0 }
	a, b := &in.Src[0], &in.Src[1]
	return (is(a) || null(a)) && (is(b) || null(b))
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

package slice

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Role returns what a trace does with an instruction of fn. Control is never skipped: a branch
// outside of the slice jumps to its merge point (Join). A failed assertion whose guard is not
// computed is skipped, and the result then rests on it (Assumes).
func (s *Slice) Role(fn *ir.Func, in *ir.Instr) Role {
	f := s.funcs[fn]
	i := in.Index
	k := f.kindOf(in)
	switch k {
	case always:
		return Run
	case fails:
		if in.Guard != ir.NoReg && (!f.needed[in.Guard] || in.IsCall()) {
			return Skip
		}
		return Run
	case branch:
		if f.kept[i] {
			return Run
		}
		return Join
	}
	if !f.kept[i] || k == ignored {
		return Skip
	}
	switch k {
	case input:
		return Unknown
	case shared:
		return s.sharedRole(f, in)
	case object:
		if f.answers(in) {
			return Unknown
		}
	}
	return Run
}

// sharedRole decides about an access to shared memory. The result of an atomic depends on the order
// in which threads execute it, and is unknown. The same is true of a volatile or other strong load
// that competes with stores; the detector reports whether one does (Strong).
func (s *Slice) sharedRole(f *function, in *ir.Instr) Role {
	data := f.data[in.Index]
	if s.opt.Data {
		return Run
	}
	switch kind, _ := accessKind(in); kind {
	case event.Read, event.Write:
		if !data {
			return Touch
		}
		return Run
	}
	if data || s.need.shared {
		return Unknown
	}
	return Touch
}

// answers reports whether the result of an operation on an mbarrier depends on the schedule: how
// far a phase is, or how many arrivals were before one.
func (f *function) answers(in *ir.Instr) bool {
	b, _ := in.Barrier()
	return tests(in) && !f.retries[in.Index] || b.Kind == isa.BarrierCount
}

// Target returns the block to which a branch with role Join goes, or NoBlock for the end of the
// function.
func (s *Slice) Target(fn *ir.Func, b ir.BlockID) ir.BlockID { return s.funcs[fn].target[b] }

// sum counts the instructions, and decides whether unknown values can enter the slice, and on which
// assumptions it rests.
func (s *Slice) sum() {
	for _, fn := range s.order {
		f := s.funcs[fn]
		for i, in := range f.instrs {
			if !f.live[f.block[i]] {
				continue
			}
			s.Total++
			switch in.Action() {
			case isa.ActClusterBarrier, isa.ActMapAddress, isa.ActQueryRank, isa.ActAsyncStore:
				s.Clusters = true
			case isa.ActCancel:
				s.Cancels = true
				use, _ := in.Bulk()
				s.Clusters = s.Clusters || use.EachBlock
			case isa.ActMatrixAsync:
				s.Warpgroups = true
				s.Track = s.Track || f.data[i]
			case isa.ActTensorAccess:
				s.Tensors = true
				s.Track = s.Track || f.data[i]
			case isa.ActTensorAsync, isa.ActTensorAllocate, isa.ActTensorFence, isa.ActTensorWait:
				s.Tensors = true
				s.Clusters = s.Clusters || in.TensorGroup() == 2
			case isa.ActTensorCommit:
				s.Tensors = true
				use, _ := in.Desc.Async(len(in.Src))
				s.Clusters = s.Clusters || use.Multicast || in.TensorGroup() == 2
			case isa.ActBulkCopy:
				use, _ := in.Bulk()
				s.Clusters = s.Clusters || use.Mask >= 0 || use.Pair
			}
			switch r := s.Role(fn, in); r {
			case Skip:
				s.Assumes = s.Assumes || f.kindOf(in) == fails
				continue
			case Join:
				continue
			case Unknown:
				s.Track = true
			case Run:
				s.Strong = s.Strong || f.kindOf(in) == shared && in.Order.Strong()
				s.Track = s.Track || f.reads(in) || OpenFor(in) || f.shuffles(in)
			}
			s.Kept++
		}
		s.Assumes = s.Assumes || f.doomed()
		s.Track = s.Track || len(f.unwritten) > 0 || s.Carry(fn)
	}
	s.Track = s.Track && !s.opt.Data
}

// reads reports whether an instruction can bring an unknown value into the slice: from memory,
// which may not have been written, or from a parameter.
func (f *function) reads(in *ir.Instr) bool {
	switch f.kindOf(in) {
	case shared, local:
		kind, _ := accessKind(in)
		return kind == event.Read
	case constant, calls, argument, other:
		return true
	}
	return false
}

// shuffles reports whether an instruction gets a needed value from other lanes, where one of a lane
// that does not take part is undefined (PTX ISA 9.7.9.5, 9.7.9.6).
func (f *function) shuffles(in *ir.Instr) bool {
	return in.Action() == isa.ActShuffle && f.data[in.Index]
}

// Shared reports whether an access may be to shared memory.
func (s *Slice) Shared(fn *ir.Func, in *ir.Instr) bool { return s.funcs[fn].kindOf(in) == shared }

// Origin says for people where the unknown result of an instruction comes from.
func (s *Slice) Origin(fn *ir.Func, in *ir.Instr) string {
	switch in.Action() {
	case isa.ActLoad:
		if s.Shared(fn, in) {
			return "what other threads may store at the same time: the value that " + in.Text() + " reads"
		}
		f := s.funcs[fn]
		if by := f.returnedBy(in); by != "" {
			return "what " + by + " returns, which says whether it has failed"
		}
		if v := f.base(in); v != nil {
			for i, p := range fn.Params {
				if p == v {
					return fmt.Sprintf("input: a value loaded from argument %d (%s)", i, v.Shown())
				}
			}
			return "input: a value loaded from " + v.Shown()
		}
		return "input: a value loaded from global memory"
	case isa.ActAtomic:
		return "the order in which threads come to " + in.Text()
	case isa.ActMBarrier:
		if tests(in) {
			return "the schedule: whether a phase is complete when " + in.Text() + " asks"
		}
		return "the schedule: how many arrivals " + in.Text() + " finds missing"
	case isa.ActActiveMask:
		return "which lanes happen to be converged: the result of activemask"
	}
	switch op := in.Operation(); {
	case in.Action() == isa.ActQueryCancel:
		return "the schedule of the grid: the coordinates of a canceled block, from " + in.Text()
	case in.Action() == isa.ActCachePolicy:
		return "the opaque result of " + in.Text()
	case s.funcs[fn].fusible(in):
		return "how " + in.Text() + " is rounded: whether it is fused with a multiplication,"
	case s.funcs[fn].open(in):
		return "the approximate result of " + in.Text()
	case op == isa.Move || op == isa.Conversion:
		return "a special register that the launch does not determine, read"
	}
	return "the result of " + in.Text()
}

// base returns a variable or kernel parameter that the address of an access comes from; nil if none
// is found.
func (f *function) base(in *ir.Instr) *ir.Var {
	if vs := f.bases(in); len(vs) > 0 {
		return vs[0]
	}
	return nil
}

// bases finds the variables and kernel parameters that the address of an access comes from, by
// following registers of 8 bytes through pure instructions. More than one may go into a sum: an
// index loaded from a table is among them.
func (f *function) bases(in *ir.Instr) []*ir.Var {
	vs, _, _ := f.basesOf(in)
	return vs
}

// basesOf is bases; all says that no register comes from another instruction or is composed of
// smaller ones, pieces that the address may be one of another variable all the same: a register of
// less than 8 bytes, a vector or a loaded value, which may be a pointer, goes into it.
func (f *function) basesOf(in *ir.Instr) (vs []*ir.Var, all, pieces bool) {
	all = true
	seen := make(map[ir.RegID]bool)
	var walk func(o *ir.Operand)
	walk = func(o *ir.Operand) {
		if o.Var != nil && (o.Kind == ir.VarAddr || o.Kind == ir.Mem) && !slices.Contains(vs, o.Var) {
			vs = append(vs, o.Var)
		}
		pieces = pieces || o.Kind == ir.Vector
		for i := range o.Elems {
			if o.Kind != ir.Vector { // coordinates
				break
			}
			e := &o.Elems[i]
			all = all && !(e.Kind == ir.Register && f.fn.Regs[e.Reg].Type.Size() < 8)
			walk(e)
		}
		if o.Reg == ir.NoReg || o.Kind != ir.Register && o.Kind != ir.Mem || seen[o.Reg] {
			return
		}
		if f.fn.Regs[o.Reg].Type.Size() < 8 {
			pieces = true
			return
		}
		seen[o.Reg] = true
		for _, d := range f.defs[o.Reg] {
			def := f.instrs[d]
			if k := f.kindOf(def); k != pure && k != constant {
				all = false
				continue
			}
			pieces = pieces || def.ReadsMemory() && def.Space != event.Param
			for j := range def.Src {
				walk(&def.Src[j])
			}
		}
	}
	walk(&in.Src[0])
	return vs, all, pieces
}

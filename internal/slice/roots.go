package slice

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// kind is what an instruction is to the slice.
type kind uint8

const (
	pure     kind = iota // from registers to registers
	branch               // bra, brx, guarded exit or ret
	always               // control that needs nothing: an unguarded exit, ret or bra
	fails                // trap, a failed assertion
	sync                 // a barrier, an operation that waits for the warp
	object               // an operation on an mbarrier, a copy that signals one or a group, or st.bulk
	order                // a fence, a wait for copies of the thread, or the barrier of the cluster
	shared               // an access that may be to shared memory
	local                // an access to local memory
	input                // its result depends on what is not known; it does nothing else
	constant             // a load of constant memory or of a parameter
	argument             // an access to the parameters of a call or a function
	calls
	ignored // does nothing that a trace sees
	other   // unknown to the slice: executed, so that the emulator decides
)

// kindOf returns the kind of an instruction.
func (f *function) kindOf(in *ir.Instr) kind { return f.kinds[in.Index] }

// classify decides what each instruction is.
func (f *function) classify() {
	for i, in := range f.instrs {
		f.kinds[i] = f.class(in)
	}
}

// class returns the kind of an instruction. What is not listed is other, and executed: a new action
// must never be skipped by mistake.
func (f *function) class(in *ir.Instr) kind {
	switch in.Action() {
	case isa.ActBranch, isa.ActExit, isa.ActReturn:
		if in.Guard == ir.NoReg {
			return always
		}
		return branch
	case isa.ActIndexedBranch:
		return branch
	case isa.ActTrap:
		return fails
	case isa.ActCall:
		if in.Callee != nil && in.Callee.Name == "__assertfail" && len(in.Callee.Blocks) == 0 {
			return fails
		}
		return calls
	case isa.ActNumberedBarrier, isa.ActWarpBarrier:
		return sync
	case isa.ActActiveMask:
		if f.s.opt.Lockstep {
			return pure
		}
		return input
	case isa.ActLoad, isa.ActStore, isa.ActAtomic, isa.ActReduce, isa.ActClusterAccess:
		return f.access(in)
	case isa.ActMatrixLoad, isa.ActMatrixStore:
		if rowMatrix(in) { // a generic address must be one of shared memory
			return shared
		}
		return other
	case isa.ActMBarrier, isa.ActCopy, isa.ActStoreRange:
		return object
	case isa.ActBulkCopy, isa.ActAsyncStore, isa.ActCancel:
		if _, ok := in.Bulk(); ok {
			return object
		}
		return other
	case isa.ActQueryCancel:
		if in.Type == isa.Pred { // by which the block knows that a request has failed
			return object
		}
		return input
	case isa.ActTensorMap:
		switch use, _ := in.TensorMap(); {
		case changesMap(in) != "":
			return other
		case use.Space == event.Global:
			return ignored
		}
		return object
	case isa.ActMatrixAsync, isa.ActTensorAllocate, isa.ActTensorAccess, isa.ActTensorAsync,
		isa.ActTensorCommit:
		if in.Row.Executable {
			return object
		}
		return other
	case isa.ActCopyGroup, isa.ActBulkGroup, isa.ActClusterBarrier, isa.ActMatrixFence,
		isa.ActMatrixGroup, isa.ActRegisterPool, isa.ActTensorWait, isa.ActTensorFence:
		return order
	case isa.ActPartialFence:
		if fence, _ := in.Fence(); fence.Kind == isa.InitFence {
			return order
		}
		fallthrough
	case isa.ActFence, isa.ActProxyFence:
		if f.s.objects {
			return order
		}
		return ignored
	case isa.ActNothing, isa.ActBulkPrefetch, isa.ActDiscard:
		return ignored
	case isa.ActCachePolicy: // an opaque value (PTX ISA 9.7.9.18)
		return input
	case isa.ActCompute, isa.ActConvertAddress, isa.ActTestSpace, isa.ActConvertClusterAddress,
		isa.ActTestClusterSpace, isa.ActMapAddress, isa.ActQueryRank:
		if f.open(in) && !f.s.opt.Data {
			return input
		}
		if slices.ContainsFunc(in.Src, f.variesOperand) {
			return input
		}
		return pure
	case isa.ActShuffle, isa.ActVote, isa.ActMatch, isa.ActWarpReduce, isa.ActElect:
		if in.Has(isa.SyncMask) && !f.namesActive(in) {
			return sync
		}
		return pure
	case isa.ActReadTexture, isa.ActReadSurface, isa.ActWriteSurface, isa.ActQueryTexture,
		isa.ActQuerySurface, isa.ActTestOpaque:
		return input
	case isa.ActMatrixMultiply, isa.ActMatrixMove: // of registers
		return input
	}
	return other
}

// namesActive reports whether an operation of a warp names just the lanes that happen to be active:
// shfl.sync with the result of an activemask in front of it, in the same block and under the same
// guard, which is how __shfl of old CUDA code is compiled. It never waits. Elsewhere some of those
// lanes may not arrive.
func (f *function) namesActive(in *ir.Instr) bool {
	if len(in.Src) == 0 {
		return false
	}
	mask := &in.Src[len(in.Src)-1]
	if mask.Kind != ir.Register || in.IsWarpBarrier() {
		return false
	}
	active := false
	for _, d := range f.fn.Blocks[f.block[in.Index]].Instrs {
		if d == in {
			break
		}
		for i := range d.Dst {
			d.Dst[i].EachReg(func(r ir.RegID) {
				if r == mask.Reg {
					active = d.Action() == isa.ActActiveMask && d.Guard == in.Guard && d.Neg == in.Neg
				} else if r == in.Guard {
					active = false // of other lanes than those of the guard before
				}
			})
		}
	}
	return active
}

// variesOperand reports whether an operand is, or a vector that contains, a special register with a
// value that the launch does not determine.
func (f *function) variesOperand(o ir.Operand) bool {
	return o.Kind == ir.Special && f.varies(o.Sreg) || slices.ContainsFunc(o.Elems, f.variesOperand)
}

// varies reports whether a special register has a value that the launch does not determine. %warpid
// and %nwarpid are about the places of an SM (PTX ISA 10.4 and 10.5), %total_smem_size about what
// it allocates.
func (f *function) varies(s ir.Sreg) bool {
	switch s {
	case ir.TidX, ir.TidY, ir.TidZ, ir.NtidX, ir.NtidY, ir.NtidZ, ir.LaneID, ir.WarpSz,
		ir.CtaidX, ir.CtaidY, ir.CtaidZ, ir.LanemaskEQ, ir.LanemaskLE, ir.LanemaskLT,
		ir.LanemaskGE, ir.LanemaskGT,
		ir.ClusterCtaidX, ir.ClusterCtaidY, ir.ClusterCtaidZ, ir.ClusterNctaidX, ir.ClusterNctaidY,
		ir.ClusterNctaidZ,
		ir.ClusterIDX, ir.ClusterIDY, ir.ClusterIDZ, ir.ClusterCtaRank, ir.ClusterNctaRank,
		ir.IsExplicitCluster:
		return false
	case ir.NctaidX, ir.NctaidY, ir.NctaidZ, ir.NClusterIDX, ir.NClusterIDY, ir.NClusterIDZ:
		return !f.s.opt.Grid
	case ir.DynamicSmemSize: // "allocated at launch time" (PTX ISA 10.32)
		return !f.s.opt.DynamicSize
	}
	return true
}

// access classifies a load, store or atomic operation by its space. A generic address goes by the
// variable that it names, or by what pointers found about its register; one that may be neither
// shared nor local is input, since only global memory remains.
func (f *function) access(in *ir.Instr) kind {
	space := in.Space
	addr := &in.Src[0]
	if space == event.Generic && addr.Var != nil && addr.Var.Space != event.Generic {
		space = addr.Var.Space
	}
	switch space {
	case event.Shared:
		return shared
	case event.Local:
		return local
	case event.Const:
		return constant
	case event.Param:
		if f.fn.Kernel && f.ownParam(addr.Var) && in.Action() != isa.ActStore {
			return constant
		}
		if f.returnedBy(in) != "" && !f.s.opt.Data {
			return input
		}
		return argument
	case event.Global:
		return input
	case event.Generic:
		if addr.Reg == ir.NoReg {
			return other
		}
		switch {
		case f.readsOwnParam(in):
			return constant
		case f.shared[addr.Reg]:
			return shared
		case f.private[addr.Reg]:
			return local
		case !f.s.opt.Data && f.selectsOwnParam(in):
			return constant
		}
		return input
	}
	return other
}

// ownParam reports whether a .param variable is a parameter of the kernel, and not of a call in it.
func (f *function) ownParam(v *ir.Var) bool {
	if v == nil {
		return true
	}
	for _, p := range f.fn.Params {
		if p == v {
			return true
		}
	}
	return false
}

// roots puts the criterion of the slice into it: synchronization, the addresses of shared memory,
// what the slice does not know, and the results of a called function, which its callers need.
func (f *function) roots() {
	for i, in := range f.instrs {
		if !f.live[f.block[i]] {
			continue
		}
		i := int32(i)
		if f.endsThread(in) {
			f.keep(i)
		}
		switch f.kindOf(in) {
		case sync:
			f.keep(i)
			f.syncOperands(in)
		case object:
			f.keep(i)
			f.objectOperands(in)
		case order:
			f.keep(i)
		case shared:
			f.keep(i)
			f.operand(&in.Src[0])
		case other:
			f.whole(i)
		case calls:
			if f.callActs(in) {
				f.whole(i)
			}
		case argument:
			if in.Action() == isa.ActStore && f.isResult(in.Src[0].Var) {
				f.whole(i)
			}
		}
	}
	for _, v := range f.fn.Results {
		if v.InReg {
			f.reg(int32(v.Reg))
		}
	}
}

// isResult reports whether v is a result of the function; a kernel has none. An address in a
// register (nil) may be any of them.
func (f *function) isResult(v *ir.Var) bool {
	for _, r := range f.fn.Results {
		if r == v || v == nil {
			return true
		}
	}
	return false
}

// syncOperands makes the operands needed that decide which threads wait for each other (the number
// and count of a barrier, the mask of a warp operation), and not the data that are exchanged.
func (f *function) syncOperands(in *ir.Instr) {
	if b, ok := in.NumberedBarrier(); ok {
		for j := range in.Src {
			if j != b.BarrierUse.Predicate {
				f.operand(&in.Src[j])
			}
		}
		return
	}
	f.operand(&in.Src[len(in.Src)-1]) // the member mask
}

// objectOperands makes the operands needed that decide what an operation on an mbarrier, or a copy,
// does there and in shared memory. Addresses of global memory are not needed.
func (f *function) objectOperands(in *ir.Instr) {
	for i := range in.Src {
		if f.decidesObject(in, i) {
			f.operand(&in.Src[i])
		}
	}
}

// decidesObject reports whether what an operation on an mbarrier, or a copy, does there and in
// shared memory depends on operand i.
func (f *function) decidesObject(in *ir.Instr, i int) bool {
	switch in.Action() {
	case isa.ActMatrixAsync: // the descriptors
		return f.s.opt.Data || i <= isa.WarpgroupB && in.Src[i].Kind != ir.Vector
	case isa.ActTensorAccess: // the address
		return f.s.opt.Data || i == 0
	case isa.ActTensorAsync: // not whether D is added
		return f.s.opt.Data || i <= in.TensorDescriptor() || i == in.TensorZeroMask() ||
			in.Src[i].Kind == ir.Mem ||
			in.Src[i].Kind == ir.Vector
	case isa.ActCopy:
		return i == 0 || i == 3 && f.sizesCopy(in)
	case isa.ActTensorMap: // the map in shared memory
		if use, _ := in.TensorMap(); use.Copies {
			return i == 1
		}
		return i == 0
	case isa.ActBulkCopy, isa.ActAsyncStore, isa.ActCancel:
		use, _ := in.Bulk()
		return i == 0 && use.To == event.Shared || i == 1 && use.From == event.Shared ||
			i == use.Size || i == use.Barrier || i == use.Mask
	}
	return i < 2 // a third one limits the time of a wait
}

// wanted is called for an instruction that writes a needed register, and puts it into the slice
// with the sources of its value: its operands, and for a load what is stored into the same cell.
func (f *function) wanted(i int32) {
	in := f.instrs[i]
	f.s.exchange(in)
	switch k := f.kindOf(in); k {
	case input:
		f.keep(i)
		f.data[i] = true
	case shared:
		f.keep(i)
		f.data[i] = true
		f.operand(&in.Src[0])
		if kind, _ := accessKind(in); kind == event.Read {
			f.s.cell(&f.s.need.shared)
			if f.maybeLocal(in) {
				f.s.cell(&f.s.need.local)
			}
		}
	case object, order:
		f.keep(i)
		f.data[i] = true
	case constant:
		f.whole(i)
		f.readTables(in)
	case local:
		f.whole(i)
		f.s.cell(&f.s.need.local)
	case argument:
		f.whole(i)
		if v := in.Src[0].Var; v != nil && !f.ownParam(v) {
			f.variable(v)
		}
	default:
		f.whole(i)
	}
}

// exchange makes needed what other threads put into an operation of a warp or a reduction by a
// barrier whose result is needed: they may be at another one of its kind.
func (s *Slice) exchange(in *ir.Instr) {
	if _, ok := exchanged(in); !ok || s.exchanged[in] {
		return
	}
	s.exchanged[in] = true
	for _, fn := range s.order {
		f := s.funcs[fn]
		for i, other := range f.instrs {
			if f.live[f.block[i]] && meets(in, other) {
				f.whole(int32(i))
			}
		}
	}
}

// exchanged returns the operand that says which threads take part in an operation that gives each
// of them a result of what all put in: the mask of an operation of a warp, the number of a barrier.
func exchanged(in *ir.Instr) (who *ir.Operand, ok bool) {
	switch in.Action() {
	case isa.ActShuffle, isa.ActVote, isa.ActMatch, isa.ActWarpReduce:
		if in.Has(isa.SyncMask) && len(in.Src) > 0 {
			return &in.Src[len(in.Src)-1], true
		}
	case isa.ActNumberedBarrier:
		if b, _ := in.NumberedBarrier(); b.BarrierUse.Predicate >= 0 && len(in.Src) > 0 {
			return &in.Src[0], true
		}
	}
	return nil, false
}

// meets reports whether threads at two instructions may take part in one operation. It goes by
// the opcode, and by masks and numbers that are constants.
func meets(a, b *ir.Instr) bool {
	x, ok := exchanged(a)
	y, same := exchanged(b)
	return ok && same && a != b && a.Action() == b.Action() &&
		(x.Kind != ir.Imm || y.Kind != ir.Imm || uint32(x.Val) == uint32(y.Val))
}

// maybeLocal reports whether an access that may be to shared memory may be to local memory too.
func (f *function) maybeLocal(in *ir.Instr) bool {
	a := &in.Src[0]
	return in.Space == event.Generic && a.Reg != ir.NoReg && f.private[a.Reg]
}

// cell makes what is stored into a space needed.
func (s *Slice) cell(need *bool) {
	if *need {
		return
	}
	*need = true
	for _, fn := range s.order {
		f := s.funcs[fn]
		for i, in := range f.instrs {
			if !f.live[f.block[i]] || !stores(in) {
				continue
			}
			switch f.kindOf(in) {
			case shared:
				if s.need.shared || s.need.local && f.maybeLocal(in) {
					f.whole(int32(i))
				}
			case local:
				if s.need.local {
					f.whole(int32(i))
				}
			}
		}
	}
}

// stores reports whether an instruction is a plain store, to the memory of the block or the
// cluster.
func stores(in *ir.Instr) bool {
	kind, ok := accessKind(in)
	return ok && kind == event.Write
}

// rowMatrix reports whether an instruction loads or stores matrices whose rows are named by the
// addresses of lanes: ldmatrix and stmatrix (PTX ISA 9.7.14.5.15, 9.7.14.5.16).
func rowMatrix(in *ir.Instr) bool {
	a := in.Action()
	return (a == isa.ActMatrixLoad || a == isa.ActMatrixStore) && !in.Row.Fragment
}

// accessKind is ir.Instr.AccessKind, and that of ldmatrix and stmatrix.
func accessKind(in *ir.Instr) (event.Kind, bool) {
	if rowMatrix(in) {
		if in.Action() == isa.ActMatrixLoad {
			return event.Read, true
		}
		return event.Write, true
	}
	return in.AccessKind()
}

// Package slice finds out which instructions of a kernel can reach its synchronization and the
// addresses of its shared memory: a backward slice (Weiser, ICSE 1981). A trace executes those
// alone.
//
// What decides a trace (Weft, PLDI 2015, §5.1) is which thread reaches which barrier and which
// shared address, in which order. So the criterion of the slice is: barriers, the operations of a
// warp that wait for each other, the addresses and guards of accesses that may be to shared memory,
// and the branches on which any of them depends. Most of a kernel's floating-point arithmetic is
// outside.
//
// Registers are tracked without regard to flow: a register is needed or not, in all of a function.
// Memory is one cell for each space: if a needed value is loaded from shared memory, what is stored
// there is needed too. Branches count if something that counts is control dependent on them
// (Ferrante, Ottenstein, Warren, TOPLAS 1987); other branches jump to the merge point of their
// paths. This assumes that loops without synchronization terminate and that assertions hold: see
// LIMITATIONS.md.
//
// Deviations from a textbook slice: it is coarser (no flow sensitivity, one cell for each space),
// so it may keep instructions that do not matter, which costs time and never a result. It misses
// nothing of its criterion except addresses that travel through memory in a way that pointers does
// not follow: pieces of an address, and arithmetic on stored words.
package slice

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Role says what a trace does with an instruction.
type Role uint8

// The roles of instructions in a trace.
const (
	Skip    Role = iota // not in the slice
	Run                 // execute it
	Touch               // an access that moves no data: its address and its event are all that counts
	Unknown             // the results are unknown; an access to shared memory is an event all the same
	Join                // a branch whose outcome does not matter: go to their merge point, Slice.Target
)

// Options say what is known about the launch.
type Options struct {
	Grid bool // the size of the grid is known
	// DynamicSize says that the size of dynamic shared memory is known.
	DynamicSize bool
	// Data puts what is stored into shared memory into the slice too: for a run with made-up inputs,
	// which shows which values are equal.
	Data bool
	Seed uint64 // of the made-up inputs

	// Given are pointer parameters whose arrays have known contents.
	Given map[*ir.Var]bool

	Lockstep bool // a warp runs in lock step, so that its active lanes are determined
}

// Slice is what a trace of one kernel executes.
type Slice struct {
	funcs map[*ir.Func]*function
	order []*ir.Func

	// Track says that unknown values can come into the slice, so that the trace must look out for
	// them.
	Track bool
	// BlockIndex and GridSize say that the slice reads them: else the trace holds for every block and
	// grid.
	BlockIndex, GridSize bool
	// DynamicSize says that the slice reads the size of dynamic shared memory.
	DynamicSize bool
	// Clusters says that the kernel depends on the clusters of the launch: it reads where a block is
	// in one, or reaches other blocks.
	Clusters bool
	// Strong says that strong accesses to shared memory carry values of the slice. The trace holds
	// for all executions only if none of them competes with another access.
	Strong bool
	// Tables are variables in global and constant memory whose initial values the slice reads. The
	// kernel does not write them; that the host does not either is an assumption.
	Tables []*ir.Var
	// Assumes says that the kernel has assertions or traps outside of the slice, which are taken to
	// hold.
	Assumes bool
	// Tensors says that the kernel has operations on tensor memory.
	Tensors bool
	// Cancels says that the kernel has requests to cancel a cluster that has not started.
	Cancels bool
	// Warpgroups says that the kernel has matrix operations of warpgroups.
	Warpgroups bool
	// Boxes are the bytes of a box of the tensor map that a copy names, as far as they are known.
	Boxes map[*ir.Instr]uint64
	// Kept and Total count instructions.
	Kept, Total int

	opt       Options
	objects   bool                         // the kernel has mbarriers, bulk copies or cluster barriers
	written   map[*ir.Var]bool             // module variables that the code writes
	apart     []*ir.Var                    // what escaped returns, once it is asked for tables
	exchanged map[*ir.Instr]bool           // operations for which exchange was called
	returns   map[*ir.Func]bool            // functions that only return or trap, for certain
	need      struct{ shared, local bool } // cells
	// Cells that may hold generic addresses of shared or local memory.
	holdsShared, holdsLocal [numCells]bool
	work                    []item
}

// item is a register of a function whose definitions are needed.
type item struct {
	f *function
	r int32
}

// function is one function while it is sliced.
type function struct {
	s         *Slice
	fn        *ir.Func
	instrs    []*ir.Instr // by Index
	block     []ir.BlockID
	defs      [][]int32 // instructions that write a register; the last entry is for the carry flag
	needed    []bool    // registers
	vars      map[*ir.Var]bool
	kinds     []kind
	kept      []bool
	data      []bool // what the instruction computes is needed
	ctl       [][]ir.BlockID
	target    []ir.BlockID // of branches that do not matter, by block
	shared    []bool       // registers that may hold a generic address of shared memory
	private   []bool       // registers that may hold a generic address of local memory
	dom       *ir.DomTree  // of fn; nil before it is asked for
	products  []bool       // registers that findProducts found; nil before
	live      []bool       // blocks that can be reached without a failed assertion
	rank      []int32      // of needed registers; -1 of others
	liveIn    []regSet     // needed registers that are live at the start of a block, by rank
	unwritten []ir.RegID   // needed registers that may be read before they are written
	// retries are tests of mbarriers that are part of a wait (retry.go), by index
	retries map[int]bool
	// tokens are the branches that decide only whether a wait is needed; nil if there is none
	tokens map[ir.BlockID]TokenBranch
	acts   bool // a call of it may do what the trace must see
}

// Objects reports whether the kernel has mbarriers, bulk copies or barriers of the cluster.
func (s *Slice) Objects() bool { return s.objects }

// Options returns what the slice was made for.
func (s *Slice) Options() Options { return s.opt }

// Of slices a kernel and what it calls.
func Of(k *ir.Func, opt Options) *Slice {
	s := &Slice{funcs: make(map[*ir.Func]*function), exchanged: make(map[*ir.Instr]bool),
		opt: opt}
	for _, f := range ir.ReachableFuncs(k) {
		if len(f.Blocks) > 0 {
			s.funcs[f] = newFunction(s, f)
			s.order = append(s.order, f)
		}
	}
	for _, f := range s.order {
		s.objects = s.objects || s.funcs[f].hasObjects()
	}
	s.pointers()
	for _, f := range s.order {
		s.funcs[f].classify()
	}
	s.findTables()
	s.callsThatAct()
	s.findFatal()
	for _, f := range s.order {
		s.funcs[f].controlDependence()
	}
	for _, f := range s.order {
		s.funcs[f].roots()
	}
	if opt.Data {
		s.cell(&s.need.shared)
		s.cell(&s.need.local)
	}
	for len(s.work) > 0 {
		it := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		for _, i := range it.f.defs[it.r] {
			it.f.wanted(i)
		}
	}
	for _, f := range s.order {
		s.funcs[f].liveness()
		s.funcs[f].findRetries()
	}
	s.sum()
	return s
}

// newFunction indexes the instructions of fn by number, and the definitions of each register. The
// lists of definitions share one array, whose parts have the right capacity.
func newFunction(s *Slice, fn *ir.Func) *function {
	n := fn.NumInstrs
	f := &function{s: s, fn: fn, instrs: make([]*ir.Instr, n), block: make([]ir.BlockID, n),
		kept:  make([]bool, n),
		kinds: make([]kind, n), data: make([]bool, n), defs: make([][]int32,
			len(fn.Regs)+1), needed: make([]bool, len(fn.Regs)+1), vars: make(map[*ir.Var]bool)}
	counts := make([]int32, len(fn.Regs)+1)
	f.eachDef(func(r int32, _ *ir.Instr) { counts[r]++ })
	total := 0
	for _, c := range counts {
		total += int(c)
	}
	all := make([]int32, total)
	for r, c := range counts {
		f.defs[r], all = all[:0:c], all[c:]
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			f.instrs[in.Index], f.block[in.Index] = in, b.ID
		}
	}
	f.eachDef(func(r int32, in *ir.Instr) { f.defs[r] = append(f.defs[r], int32(in.Index)) })
	return f
}

// carry is the number under which the carry flag is tracked, behind the registers.
func (f *function) carry() int32 { return int32(len(f.fn.Regs)) }

// eachDef visits the registers that instructions write. "The condition code register is not
// preserved across calls" (PTX ISA 9.7.2).
func (f *function) eachDef(visit func(r int32, in *ir.Instr)) {
	for _, b := range f.fn.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Dst {
				in.Dst[i].EachReg(func(r ir.RegID) { visit(int32(r), in) })
			}
			if in.Has(isa.CC) || in.IsCall() {
				visit(f.carry(), in)
			}
		}
	}
}

// keep makes an instruction part of the slice, with all that decides whether it is executed.
func (f *function) keep(i int32) {
	if f.kept[i] {
		return
	}
	f.kept[i] = true
	in := f.instrs[i]
	if in.Guard != ir.NoReg {
		f.reg(int32(in.Guard))
	}
	for _, b := range f.ctl[f.block[i]] {
		t := f.fn.Blocks[b].Last()
		f.keep(int32(t.Index))
		f.sources(t)
	}
}

// reg makes a register needed.
func (f *function) reg(r int32) {
	if !f.needed[r] {
		f.needed[r] = true
		f.s.work = append(f.s.work, item{f, r})
	}
}

// operand makes everything needed that an operand reads.
func (f *function) operand(o *ir.Operand) {
	for i := range o.Elems {
		f.operand(&o.Elems[i])
	}
	o.EachReg(func(r ir.RegID) { f.reg(int32(r)) })
	if o.Kind == ir.Special {
		f.special(o)
	}
	if o.Kind == ir.VarVal {
		f.variable(o.Var)
	}
}

// special notes what a needed special register says about the launch.
func (f *function) special(o *ir.Operand) {
	switch o.Sreg {
	case ir.CtaidX, ir.CtaidY, ir.CtaidZ:
		f.s.BlockIndex = true
	case ir.ClusterIDX, ir.ClusterIDY, ir.ClusterIDZ:
		f.s.BlockIndex, f.s.Clusters = true, true
	// The place in the cluster is no index of a block: all blocks of a cluster are traced.
	case ir.ClusterCtaidX, ir.ClusterCtaidY, ir.ClusterCtaidZ, ir.ClusterCtaRank, ir.ClusterNctaidX,
		ir.ClusterNctaidY, ir.ClusterNctaidZ, ir.ClusterNctaRank, ir.IsExplicitCluster:
		f.s.Clusters = true
	case ir.NctaidX, ir.NctaidY, ir.NctaidZ:
		f.s.GridSize = true
	case ir.NClusterIDX, ir.NClusterIDY, ir.NClusterIDZ:
		f.s.GridSize, f.s.Clusters = true, true
	case ir.DynamicSmemSize:
		f.s.DynamicSize = true
	}
}

// sources makes all that an instruction reads needed.
func (f *function) sources(in *ir.Instr) {
	for i := range in.Src {
		f.operand(&in.Src[i])
	}
	if in.ReadsCarry() {
		f.reg(f.carry())
	}
}

// variable makes the contents of a call's parameter needed.
func (f *function) variable(v *ir.Var) {
	if f.vars[v] {
		return
	}
	f.vars[v] = true
	for i, in := range f.instrs {
		if in.Action() == isa.ActStore && in.Space == event.Param &&
			(in.Src[0].Var == v || in.Src[0].Var == nil) {
			f.whole(int32(i))
		}
		if in.IsCall() {
			for j := range in.Dst {
				if in.Dst[j].Var == v {
					f.whole(int32(i))
				}
			}
		}
	}
}

// whole makes an instruction part of the slice together with everything that it reads.
func (f *function) whole(i int32) {
	f.keep(i)
	if !f.data[i] {
		f.data[i] = true
		f.sources(f.instrs[i])
	}
}

// dominators returns the dominator tree of the function.
func (f *function) dominators() *ir.DomTree {
	if f.dom == nil {
		f.dom = ir.Dominators(f.fn)
	}
	return f.dom
}

// always reports whether an instruction is executed on every path to another one. If no other one
// writes its result, and it reads a counter behind the start of a loop, then the result is of the
// same round: no path leads from the start of the loop around it.
func (f *function) always(def, at int) bool {
	if f.instrs[def].Guard != ir.NoReg {
		return false
	}
	if a, b := f.block[def], f.block[at]; a != b {
		return f.dominators().Dominates(a, b)
	}
	return def < at
}

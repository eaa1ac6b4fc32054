package emu

import (
	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/slice"
)

// full is the mask of a warp whose 32 lanes all take part.
const full = ^uint32(0)

// originFresh is the origin of the contents of memory at the start of a trace.
const originFresh = 1

// noPC stands for the end of a function, which has no pc.
const noPC = -1

// program is a kernel with every function that it can call, decoded for one launch, or for all
// launches in an arena that differ in params alone. It is read-only after New, so that runs and
// workers share it.
type program struct {
	funcs  []*fcode // funcs[0] is the kernel; the index is fcode.number
	byFunc map[*ir.Func]*fcode
	ctxs   []*callCtx // by ascending base
	root   *callCtx

	space   space
	arena   *Arena       // global memory; nil for a run with memory of its own
	objects []objectSpec // global, const and argument objects, by object number
	byVar   map[*ir.Var]int
	shared  sharedLayout
	shape   shape // of a block, for affine registers
	params  paramImage

	traced  bool     // only a slice is executed: NewTrace
	madeUp  bool     // and inputs are made up
	track   bool     // some input is unknown: registers and memory carry unknown bits
	origins []string // names of the origins of unknown values, for messages

	spares *spares // of runs in an arena; nil for others

	clusters  bool      // blocks reach the memory of others
	pairs     bool      // and addresses of variables in shared memory have the rank of the block
	tensor    *ir.Instr // the first instruction with a .cta_group; nil: there is none
	registers uint32    // with which a thread begins; 0 if none changes its number
	usesClock bool      // some instruction reads a clock: the result depends on the schedule
	usesHeap  bool
	prints    bool
	launches  bool // threads launch grids, or call other functions of the device runtime
	buffers   int  // the object with the parameters of launches; -1: there is none
	// where kernels are that threads may launch: see kernelAt and kid
	modules   []*ir.Module
	firstFunc int
	mapped    *Program
	kids      *kids
	under     bool // the kernel of a grid that a thread launches, in memory of the run
	annotated bool // annotations are called
	cancels   bool // blocks cancel others that have not started
	ordered   bool // blocks are executed one after the other: see inOrder
	contended bool // threads can observe the order of others: see isContended
}

// fcode is one decoded function. The registers and predicates of a frame are numbered densely;
// slots maps the registers of the IR to them.
type fcode struct {
	fn           *ir.Func
	number       int
	addr         uint64 // what a pointer to the function holds
	code         []inst
	lanes        int // 64-bit registers a frame holds
	preds        int // predicate registers, slot 0 included
	slots        []int32
	calls        int      // call sites: callCtx.kids has a slice for each
	local        int      // bytes of local memory, a multiple of 16
	watched      int      // registers of matrix operations of a warpgroup: wgmmaregs.go
	watchedNames []string // of these registers
	paramMem     bool     // a frame needs memory for call arguments
	affine       bool     // some register may have a form
	read         []bool   // see reads; nil before its first call
	narrow       []bool   // registers of 32 bits, where some may have a form
	// Slots that are unknown at the start of a trace, with the origin of the unknown value; and the
	// same for predicates.
	unwritten, unwrittenPreds map[int32]uint32
}

// src is a source operand: a constant, broadcast to all lanes, or a register.
type src struct {
	c *alu.Lanes
	r int32
}

// psrc is a predicate source: slot's mask, inverted where xor has ones. Slot 0 is always 0, which
// makes the constants.
type psrc struct {
	slot int32
	xor  uint32
}

// inst is a decoded instruction. The function run determines which fields are used. Decoding once
// per launch keeps opcode tests, operand lookups and type sizes out of the loop.
type inst struct {
	run     func(x *exec, in *inst)
	guard   psrc
	pc      int32
	index   int32 // ir.Instr.Index, for sites
	alu     alu.Func
	d       [2]int32 // destination registers; -1: none
	s       [4]src
	sources int      // of s
	pd      [2]int32 // destination predicates; -1: none
	ps      [2]psrc

	target int32 // branch target
	join   int32 // where lanes that diverge here reconverge; noPC: at the end of the function
	back   bool  // the target is not behind this instruction

	explore *exploreOp // of a branch in a trace
	token   slice.TokenBranch

	mem  *memOp
	bar  *barOp
	warp *warpOp
	call *callOp
	misc *miscOp

	// alu writes one register, and uses neither predicates nor the carry flag
	plain  bool
	affine *affineOp // nil if the instruction touches no register that may have a form

	// base is the value of run without forms and unknown values; rule returns the lanes whose results
	// are unknown.
	base func(x *exec, in *inst)
	rule func(x *exec, in *inst) (lanes uint32, origin uint32)

	ir *ir.Instr
}

// miscOp holds fields that only rare instructions need, so that inst stays small.
type miscOp struct {
	sreg      func(x *exec, d *alu.Lanes, m uint32)
	launch    bool    // sreg reads what is equal in all threads of a launch: a parameter
	vecSrc    []src   // mov pack, brx.idx has none
	vecDst    []int32 // mov unpack
	width     uint    // bits of an element of mov pack and unpack; of a truncation
	to        uint    // bits of the register that a widening fills
	targets   []int32
	what      string // an unsupported instruction
	origin    uint32 // origin of a result that is always unknown; 0: it is not unknown
	open      uint32 // origin of a result that is unknown where the divisor is 0; 0: it is not
	round     *roundOp
	copy      *copyOp
	part      *inst // one of the stores of a discard
	tex       *texOp
	surf      *surfOp
	group     *groupOp
	mbar      *mbarOp
	bulk      *bulkOp
	bulkGroup *bulkGroupOp
	tmap      *mapOp
	matrix    *warpgroupOp
	tmem      *tmemOp
	touch     *touchOp
	cluster   *clusterOp
	predDst   []int32
	unknown   bool // the results are unknown, with this origin
}

// callCtx is a node of the call tree: a function, and the chain of calls that leads to it. Its
// sites are base to base+NumInstrs-1.
type callCtx struct {
	fn     *fcode
	base   event.Site
	parent *callCtx
	call   *ir.Instr    // in parent
	kids   [][]*callCtx // by call site, then by callee in the order of callOp.targets
}

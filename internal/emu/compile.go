package emu

import (
	"fmt"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/slice"
)

// maxThreadsPerBlock is the limit of every compute capability so far (CUDA C++ Programming Guide,
// technical specifications). Masks and barrier counts rely on it.
const maxThreadsPerBlock = 1024

// New prepares kernel k for a launch: it lays memory out and decodes all functions that k can
// reach. It fails if the launch is impossible, and with an UnsupportedError if the emulator cannot
// set the kernel up at all. An instruction that cannot be executed is no error here: it stops a run
// that reaches it.
func New(k *ir.Func, cfg *launch.Config) (*Machine, error) { return newMachine(k, cfg, nil, true) }

// newMachine prepares a run if sl is nil, otherwise a trace of the instructions in sl. With forms
// false there are no affine registers: tests compare both kinds of machine, which must produce the
// same events.
func newMachine(k *ir.Func, cfg *launch.Config, sl *slice.Slice, forms bool) (*Machine, error) {
	if err := checkLaunch(k, cfg); err != nil {
		return nil, err
	}
	if len(cfg.Args) != len(k.Params) {
		return nil, fmt.Errorf("kernel %s has %d parameters; the launch gives %d", k.Demangled,
			len(k.Params), len(cfg.Args))
	}
	p, err := newProgram(&compiler{cfg: cfg, slice: sl}, k, forms)
	if err != nil {
		return nil, err
	}
	return &Machine{kernel: k, cfg: cfg, prog: p}, nil
}

// newProgram decodes k and all functions that it can reach with c, whose fields cfg, slice and
// mapped say for what.
func newProgram(c *compiler, k *ir.Func, forms bool) (*program, error) {
	// The order below matters: functions get numbers, then memory gets addresses, and code may then
	// contain both as constants.
	p := &program{
		byFunc: make(map[*ir.Func]*fcode),
		byVar:  make(map[*ir.Var]int),
		space:  newSpace(k.Module.AddressSize),
		traced: c.slice != nil, clusters: c.clustered(),
		modules: []*ir.Module{k.Module}, firstFunc: c.cfg.FirstFunc, mapped: c.mapped,
		kids: new(kids), buffers: -1,
	}
	c.p, c.consts = p, make(map[uint64]*alu.Lanes)
	if c.mapped != nil {
		p.modules = append(p.modules, c.mapped.others...)
	}
	for _, f := range c.reachable(k) {
		if !f.Kernel || f == k { // other kernels can be launched, not called
			c.addFunc(f)
		}
	}
	p.launches = launchesGrids(p.funcs)
	p.pairs = c.clustered() && p.space.window > rankShift && ir.HasPairs(k)
	if n := p.funcs[0].local; n > maxLocal {
		return nil, fmt.Errorf("kernel %s has %d bytes of local memory for each thread; at most %d are "+
			"possible", k.Demangled, n, maxLocal)
	}
	if err := c.layout(k); err != nil {
		return nil, err
	}
	if c.slice != nil {
		p.track, p.madeUp = c.slice.Track, c.slice.Options().Data
	}
	c.trackOpaque()
	if forms {
		p.shape = shapeOf(c.cfg.Geometry.Block)
	}
	c.watch.warpgroup = c.hasWarpgroup()
	for _, fc := range p.funcs {
		c.compile(fc)
		p.compileAffine(fc)
	}
	p.buildContexts()
	p.ordered, p.contended = p.inOrder(), p.isContended()
	return p, nil
}

// checkLaunch rejects launches that no device accepts, and grids whose warps cannot be numbered in
// 32 bits, as event.Warp does.
func checkLaunch(k *ir.Func, cfg *launch.Config) error {
	g := cfg.Geometry
	switch {
	case len(k.Blocks) == 0:
		return fmt.Errorf("kernel %s has no body", k.Demangled)
	case g.Grid.Count() == 0 || g.Block.Count() == 0:
		return fmt.Errorf("empty launch: grid %v, block %v", g.Grid, g.Block)
	case g.Block.Count() > maxThreadsPerBlock:
		return fmt.Errorf("block %v has %d threads; at most %d are possible", g.Block, g.Block.Count(),
			maxThreadsPerBlock)
	case g.Blocks() > 1<<32/uint64(g.WarpsPerBlock()):
		return fmt.Errorf("grid %v has more than 2^32 warps", g.Grid)
	}
	return nil
}

// compiler decodes the functions of one program from IR into inst records. All decisions that do
// not depend on run-time values are made here once, since an instruction is executed many times.
type compiler struct {
	p      *program
	cfg    *launch.Config
	slice  *slice.Slice       // of a trace; nil for a run
	boxes  map[*ir.Instr]*box // of copies of tensors, whose sizes are looked for; else nil
	rounds []slice.RoundLoop  // whose rounds a trace begins together
	mapped *Program           // for runs in an arena; else nil
	under  *program           // whose threads launch the kernel, in the memory of its run; else nil
	consts map[uint64]*alu.Lanes

	// of the current function
	fc       *fcode
	fn       *ir.Func
	start    []int32 // pc of each block
	patches  []patch
	explored []exploredAt
	cur      *ir.Instr
	joined   []bool // blocks where lanes come together
	watch    watchedRegs
	pdom     []ir.BlockID
	block    ir.BlockID // the one being compiled
}

// patch is a reference to blocks whose code is not emitted yet. All are resolved at the end of a
// function. The table is that of brx.idx.
type patch struct {
	pc     int32
	target ir.BlockID // NoBlock: none
	table  []ir.BlockID
	join   ir.BlockID
}

// addFunc gives a function its number and register slots. All functions are added before any is
// compiled, because a call needs the frame of its callee. Local memory is aligned to 16 bytes, the
// largest alignment of a PTX type.
func (c *compiler) addFunc(f *ir.Func) {
	fc := &fcode{fn: f, number: len(c.p.funcs), local: align(f.LocalSize, 16)}
	fc.addr = c.funcAddr(f)
	fc.assignSlots()
	c.p.byFunc[f] = fc
	c.p.funcs = append(c.p.funcs, fc)
}

// funcAddr returns the address of a function: by its number in the module, so that a pointer that a
// program has stored means the same in a machine for its saved launch, and in other kernels.
func (c *compiler) funcAddr(f *ir.Func) uint64 {
	if c.mapped != nil {
		return c.mapped.arena.funcAddr(f)
	}
	return c.p.space.funcAddr(c.cfg.FirstFunc + f.Index)
}

// align rounds n up to a multiple of a.
func align(n, a int) int { return (n + a - 1) / a * a }

// assignSlots gives each register its index in the frame. Predicates are in a file of their own,
// one 32-bit mask each; slot 0 of it is constantly false, for operands without a predicate. Other
// registers have one 64-bit value per lane, a 128-bit register two in a row.
func (fc *fcode) assignSlots() {
	fc.preds = 1
	fc.slots = make([]int32, len(fc.fn.Regs))
	for i, r := range fc.fn.Regs {
		switch r.Type {
		case isa.Pred:
			fc.slots[i] = int32(fc.preds)
			fc.preds++
		case isa.B128:
			fc.slots[i] = int32(fc.lanes)
			fc.lanes += 2
		default:
			fc.slots[i] = int32(fc.lanes)
			fc.lanes++
		}
	}
}

// compile decodes the body of a function, block by block in the order of the IR. A block where
// lanes can reconverge, the immediate postdominator of a divergent branch, begins with a join
// instruction.
func (c *compiler) compile(fc *fcode) {
	f := fc.fn
	if len(f.Blocks) == 0 {
		return
	}
	// State of the previous function must not leak into this one.
	c.fc, c.fn = fc, f
	c.patches, c.explored = c.patches[:0], c.explored[:0]
	c.start = make([]int32, len(f.Blocks))
	c.pdom = ir.PostDom(f)
	c.joined = make([]bool, len(f.Blocks))
	for _, b := range f.Blocks {
		if c.splits(b) && c.pdom[b.ID] != ir.NoBlock {
			c.joined[c.pdom[b.ID]] = true
		}
	}
	c.joinsOfRegions()
	c.findWatched()
	// A trace must know which registers are read before they are written: their values are unknown.
	c.unwritten()
	for i, b := range f.Blocks {
		c.start[i] = int32(len(fc.code))
		c.block, c.cur = b.ID, firstInstr(f, i)
		if c.joined[i] {
			c.control(inst{run: runJoin})
		}
		c.round(b.ID)
		if c.instrs(b) {
			c.fallThrough(b)
		}
	}
	c.patchAll()
	if c.p.track {
		trackCode(fc.code)
	}
}

// instrs decodes the instructions of a block. It reports whether control can reach the end of the
// block; a trace ends a block early at an instruction that it cannot follow.
func (c *compiler) instrs(b *ir.Block) bool {
	on := true
	for _, in := range b.Instrs {
		c.cur = in
		c.touchRetried(in)
		c.touchRegisters(in)
		if c.slice == nil {
			c.instr(in)
		} else {
			on = c.tracedInstr(in)
		}
	}
	return on
}

// firstInstr returns an instruction for the start of block i. Joins and jumps have no IR
// instruction of their own but need one for their position; an empty block uses that of the next
// one.
func firstInstr(f *ir.Func, i int) *ir.Instr {
	for ; i < len(f.Blocks); i++ {
		if len(f.Blocks[i].Instrs) > 0 {
			return f.Blocks[i].Instrs[0]
		}
	}
	return &ir.Instr{}
}

// fallThrough emits what the end of a block implies: nothing if the next block follows, a jump if
// it does not, or a return at the end of the function. A terminator without a guard never falls
// through; one with a guard falls through to its last successor.
func (c *compiler) fallThrough(b *ir.Block) {
	next := ir.NoBlock
	if last := b.Last(); last != nil && last.IsTerminator() {
		if last.Guard == ir.NoReg || len(b.Succs) == 0 {
			return
		}
		next = b.Succs[len(b.Succs)-1]
	} else if len(b.Succs) > 0 {
		next = b.Succs[0]
	}
	switch {
	case next == ir.NoBlock:
		c.control(inst{run: runRet})
	case int(next) != int(b.ID)+1:
		pc := c.control(inst{run: runJump})
		c.patches = append(c.patches, patch{pc: pc, target: next, join: ir.NoBlock})
	}
}

// patchAll resolves all references of a function to blocks. A branch is a back edge if its target
// is not after it; runs count iterations and detect spinning there.
func (c *compiler) patchAll() {
	code := c.fc.code
	for _, e := range c.explored {
		code[e.pc].explore.join = c.start[e.join]
	}
	for _, p := range c.patches {
		in := &code[p.pc]
		if p.target != ir.NoBlock {
			in.target = c.start[p.target]
			in.back = in.target <= p.pc
		}
		if p.join != ir.NoBlock {
			in.join = c.start[p.join]
		}
		for _, b := range p.table {
			in.misc.targets = append(in.misc.targets, c.start[b])
			in.back = in.back || c.start[b] <= p.pc
		}
	}
}

// emit appends an instruction for the current IR instruction and returns its pc. Without a guard,
// predicate slot 0 (false) is inverted, which selects all lanes. References to blocks are set by
// patchAll; an instruction that has none keeps noPC.
func (c *compiler) emit(in inst) int32 {
	pc := int32(len(c.fc.code))
	in.pc, in.ir, in.index = pc, c.cur, int32(c.cur.Index)
	if in.guard == (psrc{}) {
		in.guard.xor = full
	}
	if in.target == 0 {
		in.target = noPC
	}
	if in.join == 0 {
		in.join = noPC
	}
	c.fc.code = append(c.fc.code, in)
	return pc
}

// control emits an instruction that writes no register.
func (c *compiler) control(in inst) int32 {
	in.d, in.pd = [2]int32{-1, -1}, [2]int32{-1, -1}
	return c.emit(in)
}

// guard returns the guard of the current instruction: the lanes in which (predicate XOR xor) is 1
// execute it. A negated guard (@!p) has all bits of xor set.
func (c *compiler) guard() psrc {
	if c.cur.Guard == ir.NoReg {
		return psrc{xor: full}
	}
	g := psrc{slot: c.fc.slots[c.cur.Guard]}
	if c.cur.Neg {
		g.xor = full
	}
	return g
}

// instr decodes one instruction. If it is not supported, an instruction is emitted that stops the
// run, with the reason, when a lane reaches it: code that is never executed costs no verdict.
func (c *compiler) instr(in *ir.Instr) {
	if err := c.tryInstr(in); err != nil {
		c.control(inst{run: runUnsupported, guard: c.guard(), misc: &miscOp{what: err.Error()}})
	}
}

// tryInstr decodes one instruction or says why it is not supported. The row of the instruction
// table decides whether it can be executed. A surface write is decoded all the same, because it has
// a better message of its own.
func (c *compiler) tryInstr(in *ir.Instr) error {
	compile := compilers[in.Action()]
	switch {
	// which says why not
	case compile == nil, !in.Row.Executable && !decides[in.Action()]:
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	return compile(c, in)
}

// compute decodes an instruction from registers to registers. Moves and conversions have operands
// (vectors, special registers, addresses) that package alu does not see, and decoders of their own;
// everything else is an alu.Func.
func (c *compiler) compute(in *ir.Instr) error {
	switch {
	case in.Row.Category == isa.Video:
		return c.video(in)
	case in.Operation() == isa.Move && in.Vec > 1:
		return c.movComponents(in)
	case in.Operation() == isa.Move:
		return c.mov(in)
	case in.Operation() == isa.Conversion:
		return c.cvt(in)
	}
	return c.arith(in)
}

// access decodes an access to memory by its kind. A reduction is an atomic without a result.
func (c *compiler) access(in *ir.Instr) error {
	// The table has the kind, so opcodes need not be compared.
	switch kind, _ := in.AccessKind(); kind {
	case event.Read:
		return c.load(in)
	case event.Write:
		return c.store(in)
	}
	return c.atomic(in)
}

// nop decodes an instruction that has no effect on registers, memory or order in this model.
func (c *compiler) nop(*ir.Instr) error {
	c.control(inst{run: func(*exec, *inst) {}, guard: c.guard()})
	return nil
}

// decides are the actions whose decoders say what of them is supported, by more than the row:
// Desc.Bulk, Desc.TensorMap and the like.
var decides = map[isa.Action]bool{isa.ActWriteSurface: true, isa.ActBulkCopy: true,
	isa.ActBulkPrefetch: true, isa.ActTensorMap: true, isa.ActProxyFence: true}

// opcodeText returns the opcode with its modifiers, as messages show it.
func opcodeText(in *ir.Instr) string { return in.Text() }

// runUnsupported stops the run at an instruction that could not be decoded. Going on without its
// effect would make later findings, and the absence of findings, meaningless.
func runUnsupported(x *exec, in *inst) {
	x.fail(in, Unsupported, x.first(), "%s", in.misc.what)
}

// compilers maps each action of the instruction table to its decoder. An action without one is not
// supported.
var compilers map[isa.Action]func(c *compiler, in *ir.Instr) error

func init() { // the functions refer to the table
	compilers = map[isa.Action]func(c *compiler, in *ir.Instr) error{
		isa.ActCompute: (*compiler).compute, isa.ActNothing: (*compiler).nop,

		isa.ActBranch: (*compiler).bra, isa.ActIndexedBranch: (*compiler).brx,
		isa.ActExit: (*compiler).exitInstr, isa.ActReturn: (*compiler).ret,
		isa.ActTrap: (*compiler).trap, isa.ActCall: (*compiler).callInstr,

		isa.ActLoad: (*compiler).access, isa.ActStore: (*compiler).access,
		isa.ActAtomic: (*compiler).access, isa.ActReduce: (*compiler).access,
		isa.ActStoreRange: (*compiler).storeRange, isa.ActDiscard: (*compiler).discard,
		isa.ActMultimem: (*compiler).multimem,
		isa.ActCopy:     (*compiler).copyAsync, isa.ActCopyGroup: (*compiler).copyGroup,
		isa.ActBulkCopy: (*compiler).bulkCopy, isa.ActAsyncStore: (*compiler).bulkCopy,
		isa.ActBulkGroup:    (*compiler).bulkGroup,
		isa.ActBulkPrefetch: (*compiler).prefetchTensor,
		isa.ActTensorMap:    (*compiler).tensorMapInstr,
		isa.ActMBarrier:     (*compiler).mbarrierInstr,
		isa.ActCancel:       (*compiler).cancelRequest, isa.ActQueryCancel: (*compiler).cancelAnswer,
		isa.ActConvertAddress: (*compiler).cvta, isa.ActTestSpace: (*compiler).isspacep,

		// Addresses in the shared memory of other blocks: see cluster.go.
		isa.ActClusterAccess:         (*compiler).access,
		isa.ActConvertClusterAddress: (*compiler).cvta,
		isa.ActTestClusterSpace:      (*compiler).isspacep,
		isa.ActMapAddress:            (*compiler).mapa, isa.ActQueryRank: (*compiler).getctarank,

		isa.ActNumberedBarrier: (*compiler).barrier, isa.ActWarpBarrier: (*compiler).warpSync,
		isa.ActClusterBarrier: (*compiler).clusterBarrier,
		isa.ActShuffle:        (*compiler).shuffle, isa.ActVote: (*compiler).vote,
		isa.ActMatch: (*compiler).match, isa.ActWarpReduce: (*compiler).redux,
		isa.ActElect: (*compiler).elect, isa.ActActiveMask: (*compiler).activemask,

		isa.ActFence: (*compiler).fence, isa.ActPartialFence: (*compiler).partialFence,
		isa.ActProxyFence:     (*compiler).proxyFence,
		isa.ActGridDependency: (*compiler).gridDependency,
		isa.ActRegisterPool:   (*compiler).setRegisters,
		isa.ActCachePolicy:    (*compiler).createpolicy,

		isa.ActMatrixLoad: (*compiler).matrixLoad, isa.ActMatrixStore: (*compiler).matrixStore,
		isa.ActMatrixMultiply: (*compiler).matrixMultiply, isa.ActMatrixMove: (*compiler).movmatrix,

		isa.ActMatrixAsync: (*compiler).warpgroupMultiplyInstr,
		isa.ActMatrixFence: (*compiler).warpgroupStepInstr,
		isa.ActMatrixGroup: (*compiler).warpgroupStepInstr,

		isa.ActTensorAllocate: (*compiler).tensorAllocate, isa.ActTensorAccess: (*compiler).tensorAccess,
		isa.ActTensorAsync: (*compiler).tensorAsync, isa.ActTensorWait: (*compiler).tensorWait,
		isa.ActTensorFence: (*compiler).tensorFence, isa.ActTensorCommit: (*compiler).tensorCommit,

		isa.ActReadTexture: (*compiler).texture, isa.ActQueryTexture: (*compiler).opaque,
		isa.ActReadSurface: (*compiler).surface, isa.ActQuerySurface: (*compiler).opaque,
		isa.ActTestOpaque: (*compiler).opaque, isa.ActWriteSurface: (*compiler).surface,
		isa.ActStack: (*compiler).stack,
	}
}

// bra decodes a branch, PTX ISA 9.7.12.3. Lanes that diverge here reconverge at the immediate
// postdominator of the block, if there is one. In a trace, a conditional branch may be the start of
// a region whose paths are both explored.
func (c *compiler) bra(in *ir.Instr) error {
	pc := c.control(inst{run: runBranch, guard: c.guard()})
	if in.Guard != ir.NoReg {
		c.exploreRegion(pc)
	}
	c.patches = append(c.patches, patch{pc: pc, target: in.Src[0].Block, join: c.pdom[c.block]})
	return nil
}

// exitInstr decodes exit, PTX ISA 9.7.12.7: the lanes end, in whatever function they are.
func (c *compiler) exitInstr(*ir.Instr) error {
	c.control(inst{run: runExit, guard: c.guard()})
	return nil
}

// ret decodes ret, PTX ISA 9.7.12.6: a return to the caller, or the end of the lanes in a kernel.
func (c *compiler) ret(*ir.Instr) error {
	c.control(inst{run: runRet, guard: c.guard()})
	return nil
}

// trap decodes trap, which aborts the grid. The run stops with its position.
func (c *compiler) trap(*ir.Instr) error {
	c.control(inst{run: func(x *exec, in *inst) { x.fail(in, Trap, x.first(), "trap executed") },
		guard: c.guard()})
	return nil
}

// brx decodes brx.idx, PTX ISA 9.7.12.4: a 32-bit index selects one of the blocks that are listed.
// runBrx checks the index, whose overflow is undefined behaviour.
func (c *compiler) brx(in *ir.Instr) error {
	idx, err := c.srcOf(in.Src[0], isa.U32)
	if err != nil {
		return err
	}
	pc := c.control(inst{run: runBrx, guard: c.guard(), s: [4]src{idx}, misc: &miscOp{}})
	p := patch{pc: pc, target: ir.NoBlock, join: c.pdom[c.block]}
	for _, o := range in.Src[1:] {
		p.table = append(p.table, o.Block)
	}
	c.patches = append(c.patches, p)
	return nil
}

// constant returns a read-only register with v in all lanes. Registers of one value are shared,
// since large kernels repeat few constants.
func (c *compiler) constant(v uint64) *alu.Lanes {
	if l := c.consts[v]; l != nil {
		return l
	}
	l := new(alu.Lanes)
	for i := range l {
		l[i] = v
	}
	c.consts[v] = l
	return l
}

// srcOf decodes a source operand that is not a predicate: a register, or a constant for everything
// known at decoding. Immediates are truncated to typ; registers always hold values that are
// zero-extended from their own width.
func (c *compiler) srcOf(o ir.Operand, typ isa.Type) (src, error) {
	switch o.Kind {
	case ir.Register:
		t := c.fn.Regs[o.Reg].Type
		if t == isa.Pred {
			return src{}, fmt.Errorf("%s: found a predicate register, expected a value", opcodeText(c.cur))
		}
		return src{r: c.fc.slots[o.Reg]}, nil
	case ir.Imm:
		v := o.Val
		if n := typ.Size(); n > 0 && n < 8 {
			v &= 1<<(8*n) - 1
		}
		return src{c: c.constant(v)}, nil
	case ir.FuncAddr:
		return src{c: c.constant(c.funcAddr(o.Func))}, nil
	case ir.Special:
		return c.specialSrc(o)
	case ir.VarAddr:
		return c.varSrc(o.Var, o.Val, false)
	}
	return src{}, fmt.Errorf("%s: operand of kind %d is not supported", opcodeText(c.cur), o.Kind)
}

// hidden returns a register slot of the emulator's own, which no instruction of the kernel names.
func (c *compiler) hidden() int32 {
	c.fc.lanes++
	return int32(c.fc.lanes - 1)
}

// specialSrc returns a special register as a source: a constant where the launch fixes its value
// (%ntid), else a hidden register that an extra instruction sets. A register that the model cannot
// predict, such as %clock, becomes an unknown value with its name as the origin.
func (c *compiler) specialSrc(o ir.Operand) (src, error) {
	if v, ok := c.constSreg(o); ok {
		return src{c: c.constant(v)}, nil
	}
	r := c.hidden()
	if name := opaqueSreg(o); name != "" {
		c.unknownInto(psrc{xor: full}, r, c.origin(name), false)
		return src{r: r}, nil
	}
	read, err := c.sreg(o)
	if err != nil {
		return src{}, err
	}
	c.emit(inst{run: runPseudoSreg, d: [2]int32{r, -1}, pd: [2]int32{-1, -1},
		misc: &miscOp{sreg: read}})
	return src{r: r}, nil
}

// varSrc returns the address of a variable plus add bytes, as an offset in the variable's own
// space. Global, constant and shared variables have fixed places. A local variable is in the frame
// of the call, whose place is known only at run time, and one in shared memory in a block whose rank
// its address has in kernels of pairs, unless an access names it.
func (c *compiler) varSrc(v *ir.Var, add uint64, named bool) (src, error) {
	switch v.Space {
	case event.Global, event.Const:
		a, ok := c.varAddr(v)
		if !ok {
			return src{}, fmt.Errorf("variable %s has no memory: it is declared extern", v.Name)
		}
		return src{c: c.constant(a + add)}, nil
	case event.Shared:
		off, ok := c.p.shared.offset[v]
		if !ok {
			return src{}, fmt.Errorf("shared variable %s is missing from the layout of shared "+
				"memory", v.Name)
		}
		if c.p.pairs && !named {
			r, cl := c.hidden(), c.cluster()
			read := func(x *exec, d *alu.Lanes, m uint32) {
				fill(d, m, tagged(x.ctaRank(cl), uint64(off)+add))
			}
			c.emit(inst{run: runPseudoSreg, d: [2]int32{r, -1}, pd: [2]int32{-1, -1},
				misc: &miscOp{sreg: read}})
			return src{r: r}, nil
		}
		return src{c: c.constant(uint64(off) + add)}, nil
	case event.Param:
		return src{c: c.constant(uint64(v.Offset) + add)}, nil
	case event.Local:
		r := c.hidden()
		at := uint64(v.Offset) + add
		read := func(x *exec, d *alu.Lanes, m uint32) { fill(d, m, uint64(x.frame.local)+at) }
		c.emit(inst{run: runPseudoSreg, d: [2]int32{r, -1}, pd: [2]int32{-1, -1},
			misc: &miscOp{sreg: read}})
		return src{r: r}, nil
	}
	return src{}, fmt.Errorf("the address of %s, in space %q, is not supported", v.Name, v.Space)
}

// varAddr returns the address of a global or constant variable; false if it has no memory.
func (c *compiler) varAddr(v *ir.Var) (uint64, bool) {
	if c.mapped != nil {
		a, ok := c.mapped.vars[v]
		return a, ok
	}
	id, ok := c.p.byVar[v]
	return c.p.space.base(id), ok
}

// psrcOf decodes a predicate source: a predicate register, or an immediate, of which bit 0 counts.
// Either may be negated.
func (c *compiler) psrcOf(o ir.Operand) (psrc, error) {
	p := psrc{}
	switch o.Kind {
	case ir.Register:
		if c.fn.Regs[o.Reg].Type != isa.Pred {
			return p, fmt.Errorf("%s: %s is not a predicate register", opcodeText(c.cur),
				c.fn.Regs[o.Reg].Name)
		}
		p.slot = c.fc.slots[o.Reg]
	case ir.Imm:
		if o.Val&1 != 0 {
			p.xor = full
		}
	default:
		return p, fmt.Errorf("%s: predicate operand of kind %d is not supported", opcodeText(c.cur),
			o.Kind)
	}
	if o.Neg {
		p.xor ^= full
	}
	return p, nil
}

// isPred reports whether o is a predicate register, which has a slot in the other register file.
func (c *compiler) isPred(o ir.Operand) bool {
	return o.Kind == ir.Register && c.fn.Regs[o.Reg].Type == isa.Pred
}

// fill sets the lanes of m to v and leaves the others: they may belong to another fragment of the
// warp.
func fill(d *alu.Lanes, m uint32, v uint64) {
	for l := range d {
		if m>>l&1 != 0 {
			d[l] = v
		}
	}
}

package emu

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// affineCompiler decides which registers of a function may have forms, and rewrites its
// instructions to maintain them.
//
// A register may have a form if it is an integer of 32 or 64 bits, if some instruction can give it
// one, and if all instructions that mention it are of the kinds known to this file. So a new
// instruction of the emulator is correct without being listed here; its registers just have no
// forms.
type affineCompiler struct {
	p     *program
	fc    *fcode
	size  []int  // bytes of each register that may take part; 0: others, hidden ones among them
	may   []bool // registers that may have forms
	forms map[uint64]*affine
}

// compileAffine rewrites one function. The set of registers that may have forms grows to a
// fixpoint: an instruction can produce a form only if its sources may have forms.
func (p *program) compileAffine(fc *fcode) {
	if p.track || !p.shape.ok {
		return
	}
	c := &affineCompiler{p: p, fc: fc, size: make([]int, fc.lanes), may: make([]bool, fc.lanes),
		forms: make(map[uint64]*affine)}
	c.candidates()
	// The set only grows, so that the loop ends after at most one round for each register.
	for more := true; more; {
		more = false
		for i := range fc.code {
			in := &fc.code[i]
			if run, _ := c.plan(in); run != nil && in.d[0] >= 0 && !c.may[in.d[0]] {
				c.may[in.d[0]], more = true, true
			}
		}
	}
	fc.narrow = make([]bool, fc.lanes)
	for r, n := range c.size {
		fc.narrow[r] = n == 4
		fc.affine = fc.affine || c.may[r]
	}
	for i := range fc.code {
		c.rewrite(&fc.code[i])
	}
}

// candidates fills size with the registers that all instructions handle.
func (c *affineCompiler) candidates() {
	for i, r := range c.fc.fn.Regs {
		switch r.Type {
		case isa.U32, isa.S32, isa.B32, isa.U64, isa.S64, isa.B64:
			c.size[c.fc.slots[i]] = r.Type.Size()
		}
	}
	for _, v := range c.fc.fn.Results { // a return reads their lanes
		if v.InReg && v.Type != isa.Pred {
			c.size[c.fc.slots[v.Reg]] = 0
		}
	}
	for i := range c.fc.code {
		in := &c.fc.code[i]
		if !keepsForms(in.ir) {
			for _, r := range c.mentioned(nil, in.ir.Src) {
				c.size[r] = 0
			}
			for _, r := range c.mentioned(nil, in.ir.Dst) {
				c.size[r] = 0
			}
		}
	}
}

// keepsForms reports whether an instruction reads and writes registers of its own lanes only, when
// it is executed, and those that inst says.
func keepsForms(in *ir.Instr) bool {
	switch in.Action() {
	case isa.ActCompute:
		return in.Row.Category == isa.Arith
	case isa.ActConvertAddress, isa.ActTestSpace:
		return true
	}
	return in.AccessesMemory()
}

// mentioned appends the registers that operands contain.
func (c *affineCompiler) mentioned(out []int32, ops []ir.Operand) []int32 {
	for i := range ops {
		o := &ops[i]
		if (o.Kind == ir.Register || o.Kind == ir.Mem) && o.Reg != ir.NoReg {
			switch c.fc.fn.Regs[o.Reg].Type {
			case isa.Pred:
			case isa.B128:
				out = append(out, c.fc.slots[o.Reg], c.fc.slots[o.Reg]+1)
			default:
				out = append(out, c.fc.slots[o.Reg])
			}
		}
		out = c.mentioned(out, o.Elems)
	}
	return out
}

// rewrite replaces run of one instruction by its variant on forms, or by runLanes if it only has to
// keep lanes and forms consistent.
func (c *affineCompiler) rewrite(in *inst) {
	run, op := c.plan(in)
	op.reads = c.only(in, c.mentioned(nil, in.ir.Src))
	for i := range in.sources {
		if s := in.s[i]; s.c == nil && s.r >= 0 && c.may[s.r] {
			op.reads = append(op.reads, s.r)
		}
	}
	for _, r := range in.d {
		op.writes = c.addMay(op.writes, r)
	}
	if in.mem != nil {
		for _, r := range in.mem.dst {
			op.writes = c.addMay(op.writes, r)
		}
	}
	if in.misc != nil {
		for _, r := range in.misc.vecDst {
			op.writes = c.addMay(op.writes, r)
		}
	}
	if run == nil && len(op.reads)+len(op.writes) > 0 {
		run = runLanes
	}
	if run != nil {
		in.base, in.run, in.affine = in.run, run, &op
	}
}

// only returns the registers among regs that may have forms, for an instruction that reads them.
// Jumps at the ends of blocks refer to another instruction as theirs, and read none.
func (c *affineCompiler) only(in *inst, regs []int32) (out []int32) {
	if in.d[0] < 0 && in.d[1] < 0 && in.pd[0] < 0 && in.pd[1] < 0 && in.mem == nil && in.misc == nil {
		return nil
	}
	for _, r := range regs {
		out = c.addMay(out, r)
	}
	return out
}

// addMay appends r to list if it may have a form.
func (c *affineCompiler) addMay(list []int32, r int32) []int32 {
	if r >= 0 && c.may[r] {
		list = append(list, r)
	}
	return list
}

// plan returns how to execute an instruction on forms, or nil if it never can with the registers
// that may have forms so far.
func (c *affineCompiler) plan(in *inst) (run func(*exec, *inst), op affineOp) {
	switch {
	case in.mem != nil:
		return c.planMem(in)
	case in.pd[0] >= 0 || in.pd[1] >= 0:
		return c.planSetp(in)
	case in.d[0] < 0 || in.d[1] >= 0 || c.size[in.d[0]] == 0:
		return nil, op
	}
	op.narrow = c.size[in.d[0]] == 4
	switch {
	case in.misc != nil && in.misc.sreg != nil:
		return c.planSreg(in), op
	case in.misc != nil:
		return nil, op
	case !c.sources(in, &op):
		return nil, op
	case in.alu == nil && in.ir.Operation() == isa.Move && in.sources == 1:
		return c.sized(in.ir.Type, op, runAffineMov), op
	// of a parameter: the copy of a constant
	case in.alu == nil && in.ir.ReadsMemory() && in.sources == 1:
		return runAffineMov, op
	case in.alu == nil && in.ir.Action() == isa.ActConvertAddress && in.sources == 1:
		return c.planCvta(in, &op), op
	case in.alu == nil || !in.plain:
		return nil, op
	}
	return c.planArith(in, &op), op
}

// sources decodes the sources, and reports whether all may have forms.
func (c *affineCompiler) sources(in *inst, op *affineOp) bool {
	if in.sources > len(op.src) {
		return false
	}
	for i := range op.src {
		op.src[i] = affineSrc{c: c.constant(0), r: -1}
		if i >= in.sources {
			continue
		}
		if !c.source(in.s[i], &op.src[i]) {
			return false
		}
	}
	return true
}

// source decodes one source, and reports whether it may have a form.
func (c *affineCompiler) source(s src, out *affineSrc) bool {
	if s.c != nil {
		*out = affineSrc{c: c.constant(s.c[0]), r: -1}
		return true
	}
	*out = affineSrc{r: s.r}
	return s.r >= 0 && c.may[s.r]
}

// constant returns the form of a constant; equal constants share one.
func (c *affineCompiler) constant(v uint64) *affine {
	if c.forms[v] == nil {
		f := form(v, 0, 0)
		c.forms[v] = &f
	}
	return c.forms[v]
}

// sized returns run if the instruction's type has the size of the destination, and no source is
// smaller.
func (c *affineCompiler) sized(t isa.Type, op affineOp, run func(*exec, *inst)) func(*exec, *inst) {
	if !isWord(t) || (t.Size() == 4) != op.narrow || !c.wideEnough(t, &op) {
		return nil
	}
	return run
}

// wideEnough reports whether no source register is narrower than t.
func (c *affineCompiler) wideEnough(t isa.Type, op *affineOp) bool {
	for _, s := range op.src {
		if s.c == nil && c.size[s.r] < t.Size() {
			return false
		}
	}
	return true
}

// isWord reports whether t is an integer or bit type of 32 or 64 bits. Only these have forms:
// narrower arithmetic would need a reduction after every step.
func isWord(t isa.Type) bool {
	switch t {
	case isa.U32, isa.S32, isa.B32, isa.U64, isa.S64, isa.B64:
		return true
	}
	return false
}

// planSreg handles a move from a special register that is affine in every warp.
func (c *affineCompiler) planSreg(in *inst) func(*exec, *inst) {
	if in.misc.launch {
		return runAffineSreg
	}
	if c.size[in.d[0]] != 4 || len(in.ir.Src) != 1 || in.ir.Src[0].Kind != ir.Special ||
		in.ir.Operation() != isa.Move {
		return nil
	}
	switch in.ir.Src[0].Sreg {
	case ir.TidX:
		return runAffineTidX
	case ir.TidY:
		return runAffineTidY
	case ir.TidZ:
		if c.p.shape.z {
			return runAffineTidZ
		}
	case ir.LaneID:
		return runAffineLane
	// The size of the grid is a constant except in an arena.
	case ir.CtaidX, ir.CtaidY, ir.CtaidZ, ir.WarpID, ir.NctaidX, ir.NctaidY, ir.NctaidZ:
		return runAffineSreg
	}
	return nil
}

// planCvta handles cvta, which adds in.s[1] and truncates by in.s[2]; if both are trivial it is a
// copy.
func (c *affineCompiler) planCvta(in *inst, op *affineOp) func(*exec, *inst) {
	if in.s[1].c == nil || in.s[1].c[0] == 0 {
		return c.sized(in.ir.Type, *op, runAffineMov)
	}
	op.src[1] = affineSrc{c: c.constant(in.s[1].c[0]), r: -1}
	return c.sized(in.ir.Type, *op, runAffineAdd)
}

// planArith chooses by operation and type.
func (c *affineCompiler) planArith(in *inst, op *affineOp) func(*exec, *inst) {
	t, o := in.ir.Type, in.ir.Operation()
	if o == isa.Conversion {
		return c.planCvt(in, op)
	}
	// A widening product reads its factors as 32-bit numbers, so that signedness matters.
	if in.ir.Fn == isa.FnWide {
		if (t == isa.U32 || t == isa.S32) && !op.narrow && c.wideEnough(t, op) &&
			(o == isa.Product || c.size64(op.src[2])) {
			op.signed = t == isa.S32
			return runAffineWide
		}
		return nil
	}
	if !isWord(t) {
		return nil
	}
	// operands of another type than the result
	if o == isa.ComparisonValue || in.ir.SType != isa.NoType {
		return nil
	}
	switch {
	case o == isa.LeftShift:
		if !isWord(t) || (t.Size() == 4) != op.narrow ||
			op.src[0].c == nil && c.size[op.src[0].r] < t.Size() {
			return nil
		}
		return runAffineShl
	case o == isa.Sum && in.ir.Flags == 0:
		return c.sized(t, *op, runAffineAdd)
	case o == isa.Difference && in.ir.Flags == 0:
		return c.sized(t, *op, runAffineSub)
	case (o == isa.Product || o == isa.ProductSum) && in.ir.Fn == isa.FnLo && in.ir.Flags == 0:
		if o == isa.Product {
			op.src[2] = affineSrc{c: c.constant(0), r: -1}
		}
		return c.sized(t, *op, runAffineMul)
	}
	if in.ir.DstType(0).Size() == t.Size() && (t.Size() == 4) == op.narrow {
		return runAffineUniform
	}
	return nil
}

// size64 reports whether a source is a constant or a register of 64 bits.
func (c *affineCompiler) size64(s affineSrc) bool { return s.c != nil || c.size[s.r] == 8 }

// planCvt handles conversions among integers of 32 and 64 bits.
func (c *affineCompiler) planCvt(in *inst, op *affineOp) func(*exec, *inst) {
	to, from := in.ir.Type, in.ir.SType
	if in.ir.Flags != 0 || !isWord(to) || !isWord(from) || (to.Size() == 4) != op.narrow ||
		!c.wideEnough(from, op) {
		return nil
	}
	if to.Size() > from.Size() {
		op.signed = from.Signed()
		return runAffineExtend
	}
	return runAffineMov
}

// planSetp handles comparisons of integers.
func (c *affineCompiler) planSetp(in *inst) (run func(*exec, *inst), op affineOp) {
	t := in.ir.Type
	if in.ir.Operation() != isa.Comparison || in.alu == nil || in.ir.Fn != isa.NoFn ||
		in.sources != 2 || !isWord(t) || !c.sources(in, &op) || !c.wideEnough(t, &op) {
		return nil, op
	}
	var ok bool
	if op.cmp, ok = comparisonOf(in.ir.Cmp); !ok {
		return nil, op
	}
	op.narrow, op.signed = t.Size() == 4, t.Signed()
	return runAffineSetp, op
}

// planMem handles loads and stores of global and shared memory. Loaded registers get no form.
func (c *affineCompiler) planMem(in *inst) (run func(*exec, *inst), op affineOp) {
	m := in.mem
	surface := in.misc != nil && in.misc.surf != nil
	if in.d[0] >= 0 || surface || !c.source(in.s[0], &op.src[0]) || m.kind.RMW() {
		return nil, op
	}
	load := m.kind == event.Read
	switch {
	case m.space == event.Shared && load:
		return runAffineLoadShared, op
	case m.space == event.Shared:
		return runAffineStoreShared, op
	case m.space != event.Global && m.space != event.Generic && m.space != event.NoSpace &&
		m.space != event.Const:
		return nil, op
	case load:
		return runAffineLoadGlobal, op
	}
	return runAffineStoreGlobal, op
}

// newForms resets the forms of a frame: no register has one.
func (f *frame) newForms() {
	if f.fn.affine && f.forms == nil {
		f.forms = make([]affine, f.fn.lanes)
		return
	}
	clear(f.forms)
}

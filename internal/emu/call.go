package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Calls, PTX ISA 9.7.12.5. A call gives its lanes a frame of their own. The instruction after the
// call is a join: the lanes reconverge there when they have returned. Lanes of one warp that call
// different functions, or the same function at different times, have separate frames.

// maxDepth bounds recursion, in frames.
const maxDepth = 1000

// maxLocal bounds the local memory of a thread, in bytes: 512 KiB, as on the hardware.
const maxLocal = 512 << 10

// callOp is a decoded call.
type callOp struct {
	site    int // callCtx.kids[site] has the contexts of targets
	targets []*fcode
	args    []ir.Operand
	argSrc  []src     // of register and immediate arguments
	argPred []psrc    // of predicate arguments
	results []*ir.Var // in the caller; nil: dropped
}

// callInstr decodes direct and indirect calls.
func (c *compiler) callInstr(in *ir.Instr) error {
	// The callee is fixed, or an operand; an operand selects among the candidates at run time.
	op := &callOp{args: in.Src, site: c.fc.calls}
	c.fc.paramMem = true
	d := inst{run: runCall, guard: c.guard(), call: op, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	if in.Callee != nil {
		if len(in.Callee.Blocks) == 0 {
			return c.builtin(in)
		}
		op.targets = []*fcode{c.p.byFunc[in.Callee]}
	} else {
		if len(in.Src) == 0 {
			return fmt.Errorf("%s: an indirect call without a target", opcodeText(in))
		}
		var err error
		if d.s[0], err = c.srcOf(in.Src[0], isa.B64); err != nil {
			return err
		}
		d.run, op.args = runCallIndirect, in.Src[1:]
		op.targets = c.candidates(in)
	}
	for _, o := range op.args {
		var s src
		var p psrc
		var err error
		switch {
		case o.Kind == ir.VarVal:
		case c.isPred(o):
			p, err = c.psrcOf(o)
		default:
			s, err = c.srcOf(o, isa.NoType)
		}
		if err != nil {
			return err
		}
		op.argSrc, op.argPred = append(op.argSrc, s), append(op.argPred, p)
	}
	for _, o := range in.Dst {
		op.results = append(op.results, c.resultVar(o))
	}
	c.fc.calls++
	c.emit(d)
	if in.Guard != ir.NoReg || in.Callee == nil { // lanes may part here: see isolate
		c.control(inst{run: runJoin})
	}
	return nil
}

// resultVar describes where the caller stores a result.
func (c *compiler) resultVar(o ir.Operand) *ir.Var {
	switch o.Kind {
	case ir.VarVal:
		return o.Var
	case ir.Register:
		return &ir.Var{InReg: true, Reg: o.Reg, Type: c.fn.Regs[o.Reg].Type}
	}
	return nil
}

// candidates returns the functions that an indirect call may reach: those that the call lists, or
// all functions with a body and the same number of parameters and results.
func (c *compiler) candidates(in *ir.Instr) []*fcode {
	var out []*fcode
	if len(in.Targets) > 0 {
		for _, f := range in.Targets {
			out = append(out, c.p.byFunc[f])
		}
		return out
	}
	for _, fc := range c.p.funcs {
		if !fc.fn.Kernel && len(fc.fn.Blocks) > 0 && len(fc.fn.Params) == len(in.Src)-1 &&
			len(fc.fn.Results) == len(in.Dst) {
			out = append(out, fc)
		}
	}
	return out
}

// runCall executes a direct call. Lanes of the warp that do not call continue in a fragment of
// their own until the join behind the call.
func runCall(x *exec, in *inst) {
	x.isolate(in, x.m)
	x.invoke(in, 0)
}

// runCallIndirect calls the target of the first lane for all lanes that share it; the others
// execute the call separately.
func runCallIndirect(x *exec, in *inst) {
	same, addr := uniform(x.src(&in.s[0]), x.m)
	// The index of the target also selects the calling context, which determines the sites.
	for i, t := range in.call.targets {
		if t.addr == addr {
			x.isolate(in, same)
			x.invoke(in, i)
			return
		}
	}
	l, n := bits.TrailingZeros32(same), x.prog.funcAt(addr)
	if n < 0 && x.prog.arena != nil && x.prog.space.windowOf(addr) == codeWindow {
		x.fail(in, Unsupported, l,
			"indirect call of a function at %#x, whose address this kernel's module does not take", addr)
		return
	}
	if n < 0 && x.prog.space.object(addr) >= 0 {
		// A launch cannot pass a function: such a parameter looks like any pointer and was given a
		// buffer.
		x.fail(in, Unsupported, l,
			"indirect call of address %#x, which is data: functions passed by the host are not supported",
			addr)
		return
	}
	if n < 0 {
		x.fail(in, OutOfBounds, l, "indirect call of address %#x, which is not a function", addr)
		return
	}
	f := x.prog.funcs[n].fn
	if len(f.Blocks) == 0 {
		x.fail(in, Unsupported, l, "indirect call of %s, which has no body in this file", f.Demangled)
		return
	}
	x.fail(in, OutOfBounds, l,
		"indirect call of %s, which is not a target of the call or has different parameters", f.Demangled)
}

// invoke calls target i for all lanes of the current fragment.
func (x *exec) invoke(in *inst, i int) {
	op, caller := in.call, x.frame
	fc := op.targets[i]
	// Local variables of nested calls are stacked in the lane's local memory.
	local := caller.local + caller.fn.local + caller.stack
	switch {
	case caller.depth+1 >= maxDepth:
		x.fail(in, StackOverflow, x.first(), "call of %s: %d calls deep", fc.fn.Demangled, maxDepth)
		return
	case local+fc.local > maxLocal:
		x.fail(in, StackOverflow, x.first(),
			"call of %s: the local memory of a thread would exceed %d bytes", fc.fn.Demangled, maxLocal)
		return
	}
	f := x.newFrame(fc, caller.ctx.kids[op.site][i])
	f.parent, f.depth, f.local, f.ret = caller, caller.depth+1, local, op
	x.reserveLocal(local, fc.local)
	x.passArgs(op, f)
	// The join after the call owns the frame: when all lanes have returned, the frame is free.
	j := x.newJoin(x.pc, caller, x.mask)
	j.owns = f
	x.join = j
	x.enter(f)
	x.pc = 0
}

// passArgs copies the arguments from the current frame to the frame of the callee.
func (x *exec) passArgs(op *callOp, f *frame) {
	for i, p := range f.fn.fn.Params {
		if i >= len(op.args) {
			return
		}
		from, in := op.args[i], place{f, p}
		switch {
		case from.Kind == ir.VarVal:
			x.move(place{x.frame, from.Var}, in, x.mask)
		case x.isPredSlot(from):
			p := op.argPred[i]
			x.putPred(in, x.psrc(p), x.mask)
			if x.unk != nil {
				in.setUnknown(x.unk.preds[p.slot], x.unk.predOrigin(p), x.mask)
			}
		default:
			x.put(in, x.src(&op.argSrc[i]), x.mask)
			if x.unk != nil {
				u, o := x.unk.ofSrc(&op.argSrc[i])
				in.setUnknown(u, o, x.mask)
			}
		}
	}
}

// isPredSlot reports whether o is a predicate register of the current function.
func (x *exec) isPredSlot(o ir.Operand) bool {
	return o.Kind == ir.Register && x.frame.fn.fn.Regs[o.Reg].Type == isa.Pred
}

// place is the storage of a parameter: parameter memory of a frame, or one of its registers.
type place struct {
	f *frame
	v *ir.Var
}

// bytes returns the parameter memory of one lane.
func (p place) bytes(l int) []byte {
	n := p.f.fn.fn.ParamSize
	return p.f.params[l*n+p.v.Offset : l*n+p.v.Offset+p.v.Size]
}

// slot returns the index of the register in its frame, for a parameter in a register.
func (p place) slot() int32 { return p.f.fn.slots[p.v.Reg] }

// move copies a parameter's value for the lanes of m.
func (x *exec) move(from, to place, m uint32) {
	// The four cases: register or memory on either side. Predicates exist in registers only.
	if from.v.InReg {
		if from.v.Type == isa.Pred {
			x.putPred(to, from.f.preds[from.slot()], m)
			if x.unk != nil {
				to.setUnknown(from.f.punk[from.slot()], 0, m)
			}
			return
		}
		x.put(to, &from.f.regs[from.slot()], m)
		if x.unk != nil {
			to.setUnknown(from.f.unk[from.slot()], x.unk.plain(from.f.origin[from.slot()]), m)
		}
		return
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		b := from.bytes(l)
		if to.v.InReg {
			to.f.regs[to.slot()][l] = loadUint(b, uint64(len(b)))
		} else {
			copy(to.bytes(l), b)
		}
		if x.unk != nil {
			to.copyUnknown(from, l)
		}
	}
}

// put writes the values of a register into a parameter, for the lanes of m. Parameter memory takes
// the low bytes.
func (x *exec) put(to place, s *alu.Lanes, m uint32) {
	if to.v.InReg {
		copyLanes(&to.f.regs[to.slot()], s, m)
		return
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		b := to.bytes(l)
		storeUint(b, uint64(len(b)), s[l])
	}
}

// putPred writes a predicate, a mask of lanes, into a parameter. Parameter memory cannot hold one.
func (x *exec) putPred(to place, v, m uint32) {
	if to.v.InReg && to.v.Type == isa.Pred {
		p := &to.f.preds[to.slot()]
		*p = *p&^m | v&m
	}
}

// runRet ends the lanes of x.m in a kernel; elsewhere it returns them to their caller. Joins inside
// the callee stop waiting for these lanes.
func runRet(x *exec, in *inst) {
	f := x.frame
	if f.ret == nil {
		x.exit(x.m)
		return
	}
	// Copy the results first: the frame may be freed when the last lane arrives.
	lanes := x.m
	x.returnResults(f, lanes)
	j := x.join
	// Leave the joins inside the callee: the remaining lanes there no longer wait for these.
	for j.owns != f {
		up := j.parent
		j.live &^= lanes
		if j.live == 0 {
			x.freeJoin(j)
		} else {
			x.complete(j)
		}
		j = up
	}
	if lanes == x.mask {
		x.join = j
		x.arrive(j)
		return
	}
	j.arrived |= lanes
	x.mask &^= lanes
	x.converge()
}

// returnResults copies the results into the frame of the caller.
func (x *exec) returnResults(f *frame, m uint32) {
	for i, r := range f.fn.fn.Results {
		if i >= len(f.ret.results) {
			return
		}
		if v := f.ret.results[i]; v != nil {
			x.move(place{f, r}, place{f.parent, v}, m)
		}
	}
}

// newFrame returns a frame of fc with all registers zero.
func (x *exec) newFrame(fc *fcode, ctx *callCtx) *frame {
	if x.pool.frames == nil {
		x.pool.frames = make([][]*frame, len(x.prog.funcs))
	}
	// Frames are pooled by function, since their sizes differ.
	free := x.pool.frames[fc.number]
	var f *frame
	if n := len(free); n > 0 {
		f = free[n-1]
		x.pool.frames[fc.number] = free[:n-1]
		clear(f.regs)
		clear(f.preds)
		clear(f.params)
		f.cc = 0
	} else {
		x.mem.used.Add(uint64(fc.lanes*8*32 + 32*fc.fn.ParamSize))
		f = &frame{fn: fc, regs: make([]alu.Lanes, fc.lanes), preds: make([]uint32, fc.preds)}
		if fc.paramMem || !fc.fn.Kernel {
			f.params = make([]byte, 32*fc.fn.ParamSize)
		}
	}
	f.newForms()
	if fc.watched > 0 {
		f.uses = append(f.uses[:0], make([]regUse, fc.watched)...)
	}
	f.ctx, f.parent, f.ret, f.depth, f.local, f.stack = ctx, nil, nil, 0, 0, 0
	if x.unk != nil {
		f.trackUnknown(x.prog.traced)
	}
	return f
}

// freeFrame returns a frame to the pool of its function. No fragment may use it any more.
func (x *exec) freeFrame(f *frame) {
	x.pool.frames[f.fn.number] = append(x.pool.frames[f.fn.number], f)
}

// reserveLocal provides each lane with local memory for a frame of size bytes at start, and clears
// it for the current lanes.
func (x *exec) reserveLocal(start, size int) {
	w := x.warp
	if size == 0 {
		return
	}
	// Local memory grows by doubling; the offsets of existing frames do not change.
	if need := start + size; need > w.localCap {
		grown := max(need, 2*w.localCap)
		if !x.allocate(uint64(32 * (grown - w.localCap))) {
			return
		}
		mem := make([]byte, 32*grown)
		for l := range 32 {
			copy(mem[l*grown:], w.local[l*w.localCap:(l+1)*w.localCap])
		}
		if x.unk != nil {
			unk := make([]bool, 32*grown)
			for l := range 32 {
				copy(unk[l*grown:], w.localUnk[l*w.localCap:(l+1)*w.localCap])
			}
			w.localUnk = unk
		}
		w.local, w.localCap = mem, grown
		x.forgetLocal(start, size)
		return
	}
	for t := x.mask; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		clear(w.local[l*w.localCap+start : l*w.localCap+start+size])
		if x.unk != nil {
			clear(w.localUnk[l*w.localCap+start : l*w.localCap+start+size])
		}
	}
	x.forgetLocal(start, size)
}

// runBrx is brx.idx (PTX ISA 9.7.12.4). Lanes with one target continue together.
func runBrx(x *exec, in *inst) {
	targets := in.misc.targets
	idx := x.src(&in.s[0])
	groups := x.brx[:0]
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		i := uint64(uint32(idx[l]))
		if i >= uint64(len(targets)) {
			x.fail(in, OutOfBounds, l, "brx.idx with index %d of a table of %d targets", i, len(targets))
			return
		}
		groups = addLanes(groups, targets[i], 1<<l)
	}
	if off := x.mask &^ x.m; off != 0 { // the next instruction may be a target too
		groups = addLanes(groups, x.pc, off)
	}
	x.brx = groups
	if len(groups) == 1 {
		x.pc = groups[0].pc
	} else {
		x.scatter(groups, in.join)
	}
	if in.back && x.frag != nil && x.pc <= in.pc {
		x.backEdge()
	}
}

// brxGroup is the set of lanes that branch to one place.
type brxGroup struct {
	pc    int32
	lanes uint32
}

// addLanes adds lanes to the group of pc.
func addLanes(groups []brxGroup, pc int32, lanes uint32) []brxGroup {
	for i := range groups {
		if groups[i].pc == pc {
			groups[i].lanes |= lanes
			return groups
		}
	}
	return append(groups, brxGroup{pc, lanes})
}

// scatter sends each of several groups of lanes to its place; all reconverge at joinPC.
func (x *exec) scatter(groups []brxGroup, joinPC int32) {
	j := x.joinFor(joinPC)
	x.join = j
	// One group continues in the current fragment, the others become fragments of their own.
	var mine *brxGroup
	for i := range groups {
		g := &groups[i]
		switch {
		case joinPC != noPC && g.pc == joinPC:
			j.arrived |= g.lanes
		case mine == nil:
			mine = g
		default:
			x.warp.ready = append(x.warp.ready, x.newFragment(g.pc, g.lanes, x.frame, j))
		}
	}
	x.mask, x.pc = mine.lanes, mine.pc
	x.converge()
}

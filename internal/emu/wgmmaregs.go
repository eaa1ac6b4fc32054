package emu

import (
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/slice"
)

// Registers of matrix operations of a warpgroup (PTX ISA 9.7.15.5.2, 9.7.15.7). An operation
// accesses its accumulators D and the fragments of A at some time before the wait that covers its
// group. Until then no thread may access them, and no other operation unless both have them as
// accumulators and the same shape. And a wgmma.fence must lie between an access to them by a
// thread, or by an operation of another shape, and the next operation, as well as before the first
// one.
//
// Only what instructions do to these registers is looked at, and to those that are copied to or
// from them: each such instruction has a touch in front of it. Reads of a fragment of A before an
// operation that reads it too need no fence.
//
// Compilers put a mov where they need one: a copy where values join or an operand of inline
// assembly is read and written, a constant in front of its use. They may do so between an operation
// and its wait or its fence, and ptxas removes the copies. So a mov between registers is a second
// name for what an operation holds: the register that it writes may be accessed when the other one
// may be. And a mov between a wgmma.fence and an operation is taken to be in front of the fence, if
// no other operation is there. A fence that is missing for a mov alone is therefore missed.
//
// Without optimization, compilers keep arrays of accumulators in local memory, and load and store
// them around each operation (wgmmaslots.go). A trace does not execute such accesses: there,
// operations with these registers are unsupported.
//
// A trace executes the slice alone. Instructions outside of it touch registers too. If their guard
// is not computed, or they are behind a branch outside of the slice, they do so for some inputs
// only: that is unsupported where it would be an error.

// watched registers of a function have numbers, by which frames know how they are used.
type watchedRegs struct {
	number  map[ir.RegID]int32
	names   []string
	inLocal *ir.Instr // that moves one to or from local memory, in a trace; nil: none
	slots   bool      // accesses to memory that may be local are touches
	// a function of the program, perhaps another one, multiplies by a warpgroup
	warpgroup bool
}

// regUse is how a watched register of a frame was used.
type regUse struct {
	// The operation that it belongs to: 1 + the number of its group, 0 without one.
	group       uint32
	shape       uint32
	accumulator bool
	operand     int32 // 1 + the register that the operation names; another one is a second name of it
	mma         *ir.Instr
	fenced      uint32 // 1 + the number of fences when it was issued
	home        uint64 // 1 + the address in local memory that it was loaded from last
	// The last access by a thread: 1 + the number of fences then; 0: none. By perhaps no thread if
	// maybe is set.
	read, written touchAt
}

// touchAt is when a thread accessed a register, and where.
type touchAt struct {
	fences uint32
	maybe  bool
	in     *ir.Instr
}

// touchOp is what an instruction does to watched registers.
type touchOp struct {
	reads, writes []int32
	moves         bool // a constant or another register, in all lanes
	guarded       bool
	guard         psrc
	maybe         bool
	in            *ir.Instr
	slot          *slotTouch // an access to memory that may be local
}

// findWatched numbers the registers of the current function that operations of a warpgroup have as
// operands, and those that are copied from or to one.
func (c *compiler) findWatched() {
	c.watch = watchedRegs{warpgroup: c.watch.warpgroup}
	add := func(r ir.RegID) bool {
		if _, ok := c.watch.number[r]; ok {
			return false
		}
		if c.watch.number == nil {
			c.watch.number = make(map[ir.RegID]int32)
		}
		c.watch.number[r] = int32(len(c.watch.names))
		c.watch.names = append(c.watch.names, c.fn.Regs[r].Name)
		return true
	}
	var copies []*ir.Instr
	for _, b := range c.fn.Blocks {
		for _, in := range b.Instrs {
			switch {
			case in.Action() == isa.ActMatrixAsync:
				for i := range in.Dst {
					in.Dst[i].EachReg(func(r ir.RegID) { add(r) })
				}
				if len(in.Src) > 0 && in.Src[isa.WarpgroupA].Kind == ir.Vector {
					in.Src[isa.WarpgroupA].EachReg(func(r ir.RegID) { add(r) })
				}
			case copiesRegister(in):
				copies = append(copies, in)
			}
		}
	}
	for _, r := range c.slotRegisters() {
		add(r)
	}
	for more := len(c.watch.names) > 0; more; {
		more = false
		for _, in := range copies {
			_, to := c.watch.number[in.Dst[0].Reg]
			_, from := c.watch.number[in.Src[0].Reg]
			if to != from {
				more = add(in.Dst[0].Reg) || add(in.Src[0].Reg) || more
			}
		}
	}
	c.fc.watched, c.fc.watchedNames = len(c.watch.names), c.watch.names
	if c.slice == nil || c.fc.watched == 0 {
		return
	}
	for _, b := range c.fn.Blocks {
		for _, in := range b.Instrs {
			if c.movesLocal(in) && c.watch.inLocal == nil {
				c.watch.inLocal = in
			}
		}
	}
}

// movesLocal reports whether an instruction loads or stores a watched register from or to memory
// that may be local.
func (c *compiler) movesLocal(in *ir.Instr) bool {
	kind, ok := in.AccessKind()
	if !ok || in.Space != event.Local && in.Space != event.Generic {
		return false
	}
	found := false
	look := func(r ir.RegID) {
		_, watched := c.watch.number[r]
		found = found || watched
	}
	switch kind {
	case event.Read:
		for i := range in.Dst {
			in.Dst[i].EachReg(look)
		}
	case event.Write:
		for i := range in.Src[1:] {
			in.Src[1+i].EachReg(look)
		}
	}
	return found && (in.Space == event.Local || kind == event.Read)
}

// moves reports whether an instruction sets a register of 32 bits to a value that is there.
func moves(in *ir.Instr) bool {
	return in.Operation() == isa.Move && in.Action() == isa.ActCompute && in.Guard == ir.NoReg &&
		len(in.Dst) == 1 && len(in.Src) == 1 && in.Dst[0].Kind == ir.Register &&
		(in.Src[0].Kind == ir.Register || in.Src[0].Kind == ir.Imm) && in.Type.Size() == 4 &&
		in.Vec <= 1
}

// copiesRegister reports whether an instruction copies a register of 32 bits.
func copiesRegister(in *ir.Instr) bool { return moves(in) && in.Src[0].Kind == ir.Register }

// watched returns the numbers of the registers of an operand.
func (c *compiler) watched(o ir.Operand) (out []int32) {
	if o.Kind != ir.Vector {
		return nil
	}
	o.EachReg(func(r ir.RegID) { out = append(out, c.watch.number[r]) })
	return out
}

// touches returns what an instruction does to watched registers; nil if it does nothing.
func (c *compiler) touches(in *ir.Instr) *touchOp {
	if in.Action() == isa.ActMatrixAsync {
		return nil
	}
	if t := c.slotTouch(in); t != nil {
		return t
	}
	if len(c.watch.names) == 0 {
		return nil
	}
	t := &touchOp{moves: moves(in), in: in}
	for i := range in.Src {
		in.Src[i].EachReg(func(r ir.RegID) {
			if n, ok := c.watch.number[r]; ok {
				t.reads = append(t.reads, n)
			}
		})
	}
	for i := range in.Dst {
		in.Dst[i].EachReg(func(r ir.RegID) {
			if n, ok := c.watch.number[r]; ok {
				t.writes = append(t.writes, n)
			}
		})
	}
	if len(t.reads)+len(t.writes) == 0 {
		return nil
	}
	return t
}

// touchRegisters emits the touch of an instruction, if it has one.
func (c *compiler) touchRegisters(in *ir.Instr) {
	t := c.touches(in)
	if t == nil {
		return
	}
	if in.Guard != ir.NoReg {
		if c.slice != nil && !c.slice.Computes(c.fn, in.Guard) {
			t.maybe = true
		} else {
			t.guarded, t.guard = true, c.guard()
		}
	}
	c.control(inst{run: runTouch, misc: &miscOp{touch: t}})
}

// touchBehind emits the touches of what lies between a branch outside of the slice, which ends
// block b, and the point where its paths merge.
func (c *compiler) touchBehind(b *ir.Block, join ir.BlockID) {
	if len(c.watch.names) == 0 {
		return
	}
	c.perhapsTouch(slice.Between(c.fn, b, join))
}

// touchRetried emits the touches of what a thread may execute between two tests of a wait, of which
// a trace executes one.
func (c *compiler) touchRetried(in *ir.Instr) {
	if len(c.watch.names) > 0 && c.slice != nil && c.slice.Retries(c.fn)[in.Index] {
		c.perhapsTouch(c.slice.Retried(c.fn, in))
	}
}

// perhapsTouch emits the touches of instructions that some threads execute.
func (c *compiler) perhapsTouch(list []*ir.Instr) {
	for _, in := range list {
		if t := c.touches(in); t != nil {
			t.maybe = true
			c.control(inst{run: runTouch, misc: &miscOp{touch: t}})
		}
	}
}

// runTouch checks and notes what the next instruction does to watched registers. It is not an
// instruction of the kernel.
func runTouch(x *exec, in *inst) {
	x.uncount()
	t := in.misc.touch
	maybe := t.maybe || x.onMaybe()
	if t.guarded {
		m := x.mask & x.psrc(t.guard)
		if x.unk != nil {
			u := x.unk.preds[t.guard.slot] & x.mask
			maybe = maybe || m&^u == 0
			m |= u
		}
		if m == 0 {
			return
		}
	}
	if t.slot != nil {
		m := x.mask
		if t.guarded {
			m &= x.psrc(t.guard)
		}
		x.touchSlots(in, m)
		return
	}
	x.touchAll(in, maybe)
}

// touchAll checks and notes what an instruction does to watched registers.
func (x *exec) touchAll(in *inst, maybe bool) {
	t, w := in.misc.touch, &x.warp.matrices
	now := touchAt{w.fences + 1, maybe, t.in}
	if t.moves && !maybe {
		now.fences = w.mmaFences + 1
		if x.copyRegister(in, now) {
			return
		}
	}
	for _, n := range t.reads {
		if use := &x.frame.uses[n]; x.mayTouch(in, use, n, "reads", maybe) {
			use.read = now.after(use.read)
		}
	}
	for _, n := range t.writes {
		if use := &x.frame.uses[n]; x.mayTouch(in, use, n, "writes", maybe) {
			use.written = now.after(use.written)
			if !maybe {
				use.group = 0
			}
		}
	}
}

// copyRegister makes a register that a mov writes a second name of the one that it reads, and
// reports whether it reads a watched one. An operand that is under way may be written by a second
// name of itself only, as copies at the end of a loop do.
func (x *exec) copyRegister(in *inst, now touchAt) bool {
	t := in.misc.touch
	if len(t.reads) == 0 {
		return false
	}
	from := &x.frame.uses[t.reads[0]]
	if len(t.writes) > 0 {
		to := &x.frame.uses[t.writes[0]]
		held := from.group != 0
		same := from.operand == to.operand && from.group == to.group
		if (!held || to.operand == t.writes[0]+1 && !same) &&
			!x.mayTouch(in, to, t.writes[0], "writes", false) {
			return true
		}
		if *to = *from; !held {
			to.written = now.after(from.written)
		}
	}
	return true
}

// after returns the access to remember of two: the later one, unless the earlier one is certain and
// behind the same fence.
func (a touchAt) after(b touchAt) touchAt {
	if b.fences > a.fences || a.maybe && !b.maybe && b.fences == a.fences {
		return b
	}
	return a
}

// inFlight reports whether an operation that the wait has not covered uses the register.
func (x *exec) inFlight(use *regUse) bool { return use.group > x.warp.matrices.done }

// mayTouch reports whether a thread may access a register. If not, the run ends.
func (x *exec) mayTouch(in *inst, use *regUse, n int32, does string, maybe bool) bool {
	if !x.inFlight(use) {
		return true
	}
	return x.tooEarly(in, use, x.frame.fn.watchedNames[n], does, maybe)
}

// tooEarly ends the run because of an access to what an operation under way uses.
func (x *exec) tooEarly(in *inst, use *regUse, name, does string, maybe bool) bool {
	what := "an accumulator"
	if !use.accumulator {
		what = "a fragment of A"
	}
	op := in.misc.touch.in
	if maybe {
		x.fail(in, DependsOnInput, x.first(), "whether %s %s %s before a wgmma.wait_group (it is %s "+
			"of a wgmma that may be under way) may depend on input: nothing else in the trace needs the "+
			"condition", opcodeText(op), does, name, what)
		return false
	}
	x.fail(in, WarpgroupRegister, x.first(), "%s %s %s, %s of the wgmma %s, which no "+
		"wgmma.wait_group has waited for (PTX ISA 9.7.15.7.3)", op.Op(), does, name, what,
		lineText(use.mma))
	return false
}

// useRegisters checks and notes the registers that an operation uses. It reports false if the run
// ends.
func (x *exec) useRegisters(in *inst, op *warpgroupOp) bool {
	w := &x.warp.matrices
	if w.fences == 0 {
		x.fail(in, WarpgroupFence, 0, "no wgmma.fence precedes the first wgmma.mma_async of the warp "+
			"(PTX ISA 9.7.15.7.1)")
		return false
	}
	for _, n := range op.d {
		if !x.mayUse(in, op, n, true) {
			return false
		}
	}
	for _, n := range op.a {
		if !x.mayUse(in, op, n, false) {
			return false
		}
	}
	w.mmaFences = w.fences
	use := regUse{group: w.closed + 1, shape: op.shape(), mma: in.ir, fenced: w.fences + 1}
	for _, n := range op.a {
		use.operand = n + 1
		x.frame.uses[n] = use
	}
	use.accumulator = true
	for _, n := range op.d {
		use.operand, use.home = n+1, x.frame.uses[n].home
		x.frame.uses[n] = use
	}
	return true
}

// mayUse checks one register of an operation, an accumulator or one with a fragment of A.
func (x *exec) mayUse(in *inst, op *warpgroupOp, n int32, accumulator bool) bool {
	use, w := &x.frame.uses[n], &x.warp.matrices
	name := x.frame.fn.watchedNames[n]
	// of another operation with which it needs an order that is not there by default
	other := use.group != 0 && (use.accumulator || accumulator) &&
		!(use.accumulator && accumulator && use.shape == op.shape())
	switch {
	case other && x.inFlight(use):
		x.fail(in, WarpgroupRegister, 0, "%s uses %s, which the wgmma %s uses in another role or "+
			"shape, and no wgmma.wait_group has waited for that (PTX ISA 9.7.15.7.3)", in.ir.Op(), name,
			lineText(use.mma))
		return false
	case other && use.fenced == w.fences+1:
		x.fail(in, WarpgroupFence, 0, "no wgmma.fence lies between this wgmma and the one %s, which "+
			"uses %s in another role or shape (PTX ISA 9.7.15.7.1)", lineText(use.mma), name)
		return false
	}
	last, does := use.written, "write"
	if accumulator && use.read.fences == w.fences+1 && (last.fences != w.fences+1 || last.maybe) {
		last, does = use.read, "read"
	}
	switch {
	case last.fences != w.fences+1:
		return true
	case last.maybe:
		x.fail(in, DependsOnInput, 0, "whether %s %ss %s before this wgmma, with no wgmma.fence "+
			"between, may depend on input: nothing else in the trace needs the condition",
			opcodeText(last.in), does, name)
	default:
		x.fail(in, WarpgroupFence, 0, "no wgmma.fence lies between the %s of %s %s and this wgmma "+
			"(PTX ISA 9.7.15.7.1)", does, name, lineText(last.in))
	}
	return false
}

package emu

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/slice"
)

// A trace executes only the slice of a kernel on which its synchronization and its shared addresses
// depend (package slice). Values outside the slice are never computed. Accesses to shared memory
// outside the slice are checked and sent as events without data; accesses to global memory are not
// performed.
//
// Shared and local memory, and constant memory without an initialiser, start unknown, so that a
// trace holds for all possible contents.

// NewTrace prepares kernel k for a trace of the slice s, as New does for a run.
func NewTrace(k *ir.Func, cfg *launch.Config, s *slice.Slice) (*Machine, error) {
	return newMachine(k, cfg, s, false)
}

// unwritten marks the registers as unknown that the current function may read before it writes
// them.
func (c *compiler) unwritten() {
	if c.slice == nil || !c.slice.Track {
		return
	}
	c.fc.unwritten, c.fc.unwrittenPreds = make(map[int32]uint32), make(map[int32]uint32)
	for _, r := range c.slice.Unwritten(c.fn) {
		slot, origin := c.fc.slots[r],
			c.origin(fmt.Sprintf("register %s, which is read before it is written", c.fn.Regs[r].Name))
		switch c.fn.Regs[r].Type {
		case isa.Pred:
			c.fc.unwrittenPreds[slot] = origin
		case isa.B128:
			c.fc.unwritten[slot+1] = origin
			fallthrough
		default:
			c.fc.unwritten[slot] = origin
		}
	}
}

// tracedInstr decodes an instruction according to its role in the slice. It reports whether the
// block continues after it.
func (c *compiler) tracedInstr(in *ir.Instr) bool {
	// Run executes the instruction, Touch only reports its access, Unknown makes its results unknown;
	// Join continues at the merge point of a branch that does not matter.
	switch c.slice.Role(c.fn, in) {
	case slice.Run:
		if in.IsCall() && c.slice.Track && c.slice.Carry(c.fn) {
			c.emit(inst{run: runLoseCarry, guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}})
		}
		c.instr(in)
	case slice.Touch:
		c.touch(in)
	case slice.Unknown:
		c.unknownResult(in)
	case slice.Join:
		c.touchBehind(c.fn.Blocks[c.block], c.slice.Target(c.fn, c.block))
		if to := c.slice.Target(c.fn, c.block); to == ir.NoBlock {
			c.control(inst{run: runRet})
		} else if int(to) != int(c.block)+1 {
			pc := c.control(inst{run: runJump})
			c.patches = append(c.patches, patch{pc: pc, target: to, join: ir.NoBlock})
		}
		return false
	}
	return true
}

// splits reports whether lanes may diverge at the end of a block.
func (c *compiler) splits(b *ir.Block) bool {
	if len(b.Succs) < 2 {
		return false
	}
	if c.slice == nil {
		return true
	}
	t := b.Terminator()
	return t == nil || c.slice.Role(c.fn, t) == slice.Run
}

// touch emits an access that moves no data.
func (c *compiler) touch(in *ir.Instr) {
	if a := in.Action(); a == isa.ActMatrixLoad || a == isa.ActMatrixStore {
		if err := c.touchRows(in); err != nil {
			c.control(inst{run: runUnsupported, guard: c.guard(), misc: &miscOp{what: err.Error()}})
		}
		return
	}
	m := &memOp{space: in.Space, order: in.Order, scope: in.Scope, global: touchNothing,
		private: touchNothing, shared: touchShared}
	m.kind, _ = in.AccessKind()
	d := inst{guard: c.guard(), mem: m, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	if err := c.address(in.Src[0], &d, m); err != nil {
		c.control(inst{run: runUnsupported, guard: d.guard, misc: &miscOp{what: err.Error()}})
		return
	}
	if _, err := c.element(in, m); err != nil {
		c.control(inst{run: runUnsupported, guard: d.guard, misc: &miscOp{what: err.Error()}})
		return
	}
	if m.elem == 0 {
		m.elem = m.size
	}
	if k := m.kind; k == event.Atomic || k == event.Reduce {
		m.isAtomic()
		if isPair(in.Type) {
			m.elem = 2
		}
	}
	c.reachCluster(in, m)
	if m.space == event.Shared {
		d.run = runShared
	} else {
		d.run = runGeneric
	}
	c.emit(d)
}

// touchNothing ignores accesses outside shared memory.
func touchNothing(*exec, *inst, uint32, survey) {}

// touchShared checks an access to shared memory and sends its event, without data.
func touchShared(x *exec, in *inst, m uint32, s survey) {
	if m = x.checkShared(in, m, s); m == 0 {
		return
	}
	stored := uint32(0)
	if in.mem.kind.Writes() {
		stored = m
	}
	x.access(in, m, event.Shared, stored)
}

// unknownResult emits an instruction that makes the results of in unknown, after the event if in
// accesses shared memory.
func (c *compiler) unknownResult(in *ir.Instr) {
	if in.Action() == isa.ActMBarrier {
		if err := c.mbarrierInstr(in); err != nil { // its operands must be right all the same
			c.control(inst{run: runUnsupported, guard: c.guard(), misc: &miscOp{what: err.Error()}})
			return
		}
		op := c.fc.code[len(c.fc.code)-1].misc.mbar
		op.peeks, op.token = true, c.slice.Tokens(c.fn)
		if c.slice.Options().Data {
			return
		}
	}
	if c.slice.Options().Data {
		c.madeUp(in)
		return
	}
	if in.Row.Category == isa.Memory && (in.Space == event.Shared || in.Space == event.Generic ||
		in.Space == event.NoSpace) && c.slice.Shared(c.fn, in) {
		c.touch(in)
		if t := &c.fc.code[len(c.fc.code)-1]; t.mem != nil && t.mem.kind.Writes() {
			t.mem.shared, t.mem.origin = touchAndForget, c.originOf(in)
		}
	}
	d := inst{run: runUnknown, guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1},
		misc: &miscOp{unknown: true, origin: c.originOf(in)}}
	for _, o := range in.Dst {
		c.unknownDst(o, d.misc)
	}
	if b, _ := in.Barrier(); in.Action() == isa.ActMBarrier && b.Kind == isa.BarrierTest {
		d.run = runToken
	}
	if len(d.misc.vecDst)+len(d.misc.predDst) > 0 {
		c.emit(d)
	}
}

// unknownDst adds the registers of a destination to those that become unknown.
func (c *compiler) unknownDst(o ir.Operand, m *miscOp) {
	switch {
	case o.Kind == ir.Vector:
		for _, e := range o.Elems {
			c.unknownDst(e, m)
		}
	case c.isPred(o):
		m.predDst = append(m.predDst, c.fc.slots[o.Reg])
	case o.Kind == ir.Register:
		m.vecDst = append(m.vecDst, c.fc.slots[o.Reg])
	}
}

// originOf returns the origin of an unknown value: "argument n", "global memory, loaded from
// argument 2 (in) at line 40".
func (c *compiler) originOf(in *ir.Instr) uint32 {
	what := c.slice.Origin(c.fn, in)
	if line := c.lineOf(in); line != "" {
		what = fmt.Sprintf("%s at %s", what, line)
	}
	return c.origin(what)
}

// lineOf returns the line of an instruction in the user's source.
func (c *compiler) lineOf(in *ir.Instr) string {
	pos := in.Span.Start
	if in.Loc != nil {
		pos = in.Loc.Pos
	}
	if c.fn.Module == nil || c.fn.Module.Files == nil || !pos.IsValid() {
		return ""
	}
	return fmt.Sprintf("line %d", pos.Line())
}

// runUnknown makes registers and predicates unknown.
func runUnknown(x *exec, in *inst) {
	for _, d := range in.misc.vecDst {
		x.unk.set(d, full, in.misc.origin, x.m)
	}
	for _, p := range in.misc.predDst {
		x.unk.preds[p] |= x.m
		x.unk.origin[x.unk.lanes+p] = in.misc.origin
	}
}

// touchAndForget is a write of a value that is not tracked: the bytes are unknown from now on.
func touchAndForget(x *exec, in *inst, m uint32, s survey) {
	touchShared(x, in, m, s)
	if x.stop != nil || x.unk == nil {
		return
	}
	for l := range event.WarpSize {
		if m>>l&1 != 0 {
			x.block.setUnknown(x.addr[l], in.mem.wide, true)
		}
	}
	x.block.origin = in.mem.origin
}

// forgetLocal marks the local memory of a new frame as unknown, in a trace.
func (x *exec) forgetLocal(start, size int) {
	if !x.prog.traced || x.unk == nil {
		return
	}
	w := x.warp
	for l := range event.WarpSize {
		if x.mask>>l&1 != 0 {
			b := w.localUnk[l*w.localCap+start : l*w.localCap+start+size]
			for i := range b {
				b[i] = true
			}
		}
	}
}

// madeUp emits an instruction that depends on an input, for a run with generated inputs: a load
// from global memory returns a number that its address determines, at any address. Other
// instructions are executed as usual.
func (c *compiler) madeUp(in *ir.Instr) {
	if !in.ReadsMemory() {
		c.instr(in)
		return
	}
	c.instr(in)
	d := &c.fc.code[len(c.fc.code)-1]
	if d.mem == nil {
		return
	}
	seed := mix(c.slice.Options().Seed + 1)
	made := func(x *exec, in *inst, m uint32, _ survey) {
		for i, r := range in.mem.dst {
			if r >= 0 {
				for l := range event.WarpSize {
					if m>>l&1 != 0 {
						x.regs[r][l] = madeUpValue(mix(x.addr[l]+uint64(i)*in.mem.size)^seed, in.mem.size)
					}
				}
			}
		}
	}
	d.mem.global, d.mem.shared, d.mem.private = made, made, made
	d.run = runGlobal
}

// madeUpValue returns a number of the given size whose bits, read as a float, are between 1 and 2.
func madeUpValue(bits, size uint64) uint64 {
	switch size {
	case 8:
		return bits>>12 | 0x3ff<<52
	case 4:
		return bits>>41 | 0x7f<<23
	}
	return bits & (1<<(8*size) - 1)
}

package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Tensor memory, PTX ISA 9.7.16: its allocation, and the instructions of tcgen05 that access it.
//
// The operations are asynchronous. Here they are performed when they are issued, and only what
// tells of their completion happens later: the arrival of tcgen05.commit is an agent (agent.go).
// What other threads do to their operands meanwhile are races, which the detector finds from the
// events, so that no program without an error can tell.
//
// Of the tensor memory of an SM a block has all of it: blocks that run beside it on the same SM,
// for which an allocation may have to wait, are not modelled. The address of an allocation is that
// of the first columns that are free.

// tmemOp is a decoded instruction of tcgen05.
type tmemOp struct {
	group    int  // of .cta_group; 0: it names none
	computes bool // values are moved
	origin   uint32

	access isa.TensorAccess
	split  uint32  // the offset of the second access
	to     []int32 // of a load; the last one of a reduction is its result

	multiply isa.TensorMultiply
	inTensor bool // A is in tensor memory
	scaleD   uint32
	metadata *tensorOperand  // of a sparse A; else nil
	scales   []tensorOperand // of A and B, with .block_scale
	zeros    *src            // the zero-column mask descriptor; nil: there is none
	disabled []src           // bits of the lanes of D that are not written, 32 each; nil: none

	copies isa.TensorCopy

	at   *memOp // of the operand in s[0]; of a commit that is the mbarrier
	a    *memOp // of A in tensor memory
	mask *src   // of a commit to several blocks

	pair *pairKind // what the warps of a pair of blocks do together; nil: nothing

	needs []string // what s[0], s[1] and so on are, of those that decide what is accessed
}

// tensorOperand is the address of an operand in tensor memory.
type tensorOperand struct {
	s  src
	at memOp
}

// tensorMemory is the tensor memory of a block.
type tensorMemory struct {
	allocated    []tensorAllocation
	last         uint32 // columns of the last allocation; 0: none so far
	relinquished *ir.Instr
	words        []uint32 // of each lane, one behind the other; nil: values are not kept
	// unknown are the columns with values that are not computed, with the instruction that wrote them
	unknown [isa.TensorColumns]*ir.Instr
	ended   [isa.TensorColumns / isa.TensorUnit]bool // columns that have been freed, by unit
}

// tensorAllocation are the columns of one tcgen05.alloc.
type tensorAllocation struct {
	column, columns uint32
	site            event.Site
	thread          event.Thread
	// named says that the address has been written; before that the warp may still wait for lanes
	named bool
}

// tensorOf returns the tensor memory of a block.
func (b *block) tensorOf() *tensorMemory {
	if b.tensor == nil {
		b.tensor = new(tensorMemory)
	}
	return b.tensor
}

// reset prepares the tensor memory for another block.
func (t *tensorMemory) reset() {
	if t == nil {
		return
	}
	clear(t.words)
	*t = tensorMemory{allocated: t.allocated[:0], words: t.words}
}

// free returns the first column from which on n are free, and false if there are none.
func (t *tensorMemory) free(n uint32) (uint32, bool) {
	for at := uint32(0); at+n <= isa.TensorColumns; at += isa.TensorUnit {
		if !t.overlaps(at, n) {
			return at, true
		}
	}
	return 0, false
}

// overlaps reports whether one of n columns is allocated.
func (t *tensorMemory) overlaps(at, n uint32) bool {
	for _, a := range t.allocated {
		if at < a.column+a.columns && a.column < at+n {
			return true
		}
	}
	return false
}

// freed reports whether one of n columns has been freed.
func (t *tensorMemory) freed(at, n uint32) bool {
	for c := at; t != nil && c < at+n && c < isa.TensorColumns; c++ {
		if t.ended[c/isa.TensorUnit] && !t.overlaps(c, 1) {
			return true
		}
	}
	return false
}

// end removes allocation i.
func (t *tensorMemory) end(i int) {
	a := t.allocated[i]
	t.allocated = append(t.allocated[:i], t.allocated[i+1:]...)
	for c := a.column; c < a.column+a.columns; c += isa.TensorUnit {
		t.ended[c/isa.TensorUnit] = true
	}
}

// has reports whether all of n columns are allocated.
func (t *tensorMemory) has(at, n uint32) bool {
	if t == nil {
		return false
	}
	for end := at + n; at < end; {
		next := at
		for _, a := range t.allocated {
			if a.column <= at && at < a.column+a.columns {
				next = a.column + a.columns
			}
		}
		if next == at {
			return false
		}
		at = next
	}
	return true
}

// text lists the allocations.
func (t *tensorMemory) text() string {
	if t == nil || len(t.allocated) == 0 {
		return "the block has none allocated"
	}
	out := ""
	for i, a := range t.allocated {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprintf("%d to %d", a.column, a.column+a.columns-1)
	}
	return "allocated are " + out
}

// newTmemOp returns the description of an instruction. It fails if the engine does not have the
// form.
func (c *compiler) newTmemOp(in *ir.Instr) (*tmemOp, error) {
	if c.slice == nil && c.p.track {
		return nil, fmt.Errorf("%s is not supported in a run with unknown values", opcodeText(in))
	}
	op := &tmemOp{group: in.TensorGroup(), computes: c.slice == nil || c.slice.Options().Data}
	if op.group == 0 {
		return op, nil
	}
	if c.p.tensor == nil {
		c.p.tensor = in
	}
	if n := c.p.tensor.TensorGroup(); n != op.group {
		return nil, fmt.Errorf("%s with .cta_group::%d in a kernel that has %s with .cta_group::%d %s: "+
			"all of them have the same group (PTX ISA 9.7.16.7.1)", in.Op(), op.group, c.p.tensor.Op(), n,
			lineText(c.p.tensor))
	}
	return op, nil
}

// tensorInst completes a warp-wide instruction that has been emitted.
func (c *compiler) tensorInst(in *ir.Instr, op *tmemOp, from []src, to []int32,
	finish func(x *exec, in *inst, m uint32)) {
	c.wholeWarp(in, from, to, finish)
	at := len(c.fc.code) - 1
	if in.Guard != ir.NoReg { // a join follows
		at--
	}
	c.fc.code[at].misc = &miscOp{tmem: op}
}

// tensorAllocate decodes tcgen05.alloc, dealloc and relinquish_alloc_permit (PTX ISA 9.7.16.7.1).
func (c *compiler) tensorAllocate(in *ir.Instr) error {
	op, err := c.newTmemOp(in)
	if err != nil {
		return err
	}
	frees, relinquishes := in.TensorFreed()
	if !in.TensorAligned() || op.group == 0 {
		return fmt.Errorf("%s: .cta_group, .sync and .aligned expected", opcodeText(in))
	}
	if relinquishes {
		if op.group == 2 {
			c.together(in, op, nil, giveUp)
			return nil
		}
		c.tensorInst(in, op, nil, nil, func(x *exec, in *inst, m uint32) {
			if m&1 != 0 {
				x.block.tensorOf().relinquished = in.ir
				x.wrote, x.changed = true, true
				if x.sink != nil {
					x.tensorSync(in, event.TensorPermit, full, 0, 0)
				}
			}
		})
		return nil
	}
	if len(in.Src) != 2 {
		return fmt.Errorf("%s: an address and a number of columns expected", opcodeText(in))
	}
	columns, err := c.srcOf(in.Src[1], isa.U32)
	if err != nil {
		return err
	}
	if frees {
		at, err := c.srcOf(in.Src[0], isa.U32)
		if err != nil {
			return err
		}
		if op.group == 2 {
			c.together(in, op, []src{at, columns}, freePair)
			return nil
		}
		c.tensorInst(in, op, []src{at, columns}, nil, (*exec).freeTensor)
		return nil
	}
	op.at = &memOp{space: spaceOf(in), wide: 4}
	var d inst
	if err := c.address(in.Src[0], &d, op.at); err != nil {
		return err
	}
	if op.group == 2 {
		c.together(in, op, []src{d.s[0], columns}, allocatePair)
		return nil
	}
	// All lanes come together first, then the warp may have to wait for columns.
	c.tensorInst(in, op, nil, nil, func(*exec, *inst, uint32) {})
	c.control(inst{guard: c.guard(), s: [4]src{columns}, misc: &miscOp{tmem: &tmemOp{
		needs: []string{"the number of columns of " + in.Op()}}},
		run: (*exec).awaitColumns})
	c.tensorInst(in, op, []src{d.s[0], columns}, nil, (*exec).allocateTensor)
	return nil
}

// sameInWarp reports whether an operand that was collected is the same in all lanes, and known. If
// not, the run ends.
func (x *exec) sameInWarp(in *inst, i int, what string) bool {
	if x.unk != nil && x.coll.unknown != 0 {
		x.dependsOn(in, bits.TrailingZeros32(x.coll.unknown), fmt.Sprintf("%s of %s", what, in.ir.Op()),
			x.coll.origin)
		return false
	}
	if same, _ := uniform(&x.coll.more[i], full); same != full {
		x.fail(in, TensorOperand, bits.TrailingZeros32(^same), "%s: the lanes of the warp have "+
			"different values of %s; all threads of the warp must have the same one (PTX ISA "+
			"9.7.16.7.1, 9.7.16.8)",
			in.ir.Op(), what)
		return false
	}
	return true
}

// awaitColumns takes columns for the warp, or suspends it until there are enough.
func (x *exec) awaitColumns(in *inst) {
	w := x.warp
	if w.columns != 0 { // another fragment of the warp has taken them
		return
	}
	t := x.block.tensorOf()
	n := uint32(x.src(&in.s[0])[x.first()])
	if !t.valid(n) {
		return // as allocateTensor says
	}
	at, ok := t.free(n)
	switch {
	case ok:
		w.columns = at + 1
		t.allocated = append(t.allocated, tensorAllocation{column: at, columns: n, site: x.site(in),
			thread: event.ThreadOf(w.id, 0)})
		t.last = n
		x.wrote, x.changed = true, true
	case x.prog.traced:
		x.fail(in, Unsupported, x.first(), "%s of %d columns has to wait for columns that are free, "+
			"which a trace does not support", in.ir.Op(), n)
	default:
		x.pc--
		x.suspend(wait{kind: atColumns, in: in, count: n})
		x.next()
	}
}

// valid reports whether a block may allocate n columns now.
func (t *tensorMemory) valid(n uint32) bool {
	return n >= isa.TensorUnit && n <= isa.TensorColumns && n&(n-1) == 0 && t.relinquished == nil &&
		(t.last == 0 || n <= t.last)
}

// allocateTensor is tcgen05.alloc: it writes the address of the columns that the warp has got.
func (x *exec) allocateTensor(in *inst, m uint32) {
	if m&1 == 0 || !x.sameInWarp(in, 1, "the number of columns") ||
		!x.sameInWarp(in, 0, "the address") {
		return
	}
	b, op := x.block, in.misc.tmem
	t, n := b.tensorOf(), uint32(x.coll.more[1][0])
	if x.warp.columns == 0 {
		x.refuses(in, t, n)
		return
	}
	addr, ok := x.tensorResult(in, &x.coll.more[0], op.at)
	if !ok {
		return
	}
	column := x.warp.columns - 1
	x.warp.columns = 0
	for i := range t.allocated {
		if a := &t.allocated[i]; a.column == column {
			a.named = true
		}
	}
	for c := column; c < column+n; c++ {
		t.unknown[c] = nil
	}
	if op.computes && t.words == nil {
		t.words = make([]uint32, isa.TensorLanes*isa.TensorColumns)
	}
	storeUint(b.shared[addr:], 4, uint64(column))
	if x.unk != nil {
		b.setUnknown(addr, 4, false)
	}
	x.wrote, x.changed = true, true
	if x.sink == nil {
		return
	}
	x.evs.tensorSync = event.TensorSync{Warp: x.warp.id, Site: x.site(in), Mask: full, Active: x.mask,
		Step: event.TensorAllocate, Addr: addr, Column: uint16(column), Columns: uint16(n)}
	x.sink.TensorSync(&x.evs.tensorSync)
}

// refuses ends the run if a block may not allocate n columns, and reports whether it did.
func (x *exec) refuses(in *inst, t *tensorMemory, n uint32) bool {
	switch {
	case t.valid(n):
		return false
	case n < isa.TensorUnit || n > isa.TensorColumns || n&(n-1) != 0:
		x.fail(in, TensorAllocation, 0, "%s of %d columns: the number is a power of two from %d to %d "+
			"(PTX ISA 9.7.16.7.1)", in.ir.Op(), n, isa.TensorUnit, isa.TensorColumns)
	case t.relinquished != nil:
		x.fail(in, TensorRelinquished, 0, "%s behind %s %s, by which the block has given up the right "+
			"to allocate (PTX ISA 9.7.16.7.1)", in.ir.Op(), t.relinquished.Op(), lineText(t.relinquished))
	default:
		x.fail(in, TensorAllocation, 0, "%s of %d columns behind one of %d: the number of columns may "+
			"not grow from one allocation to the next (PTX ISA 9.7.16.7.1)", in.ir.Op(), n, t.last)
	}
	return true
}

// tensorResult returns the offset in shared memory at which an address of tensor memory is stored.
func (x *exec) tensorResult(in *inst, v *[event.WarpSize]uint64, at *memOp) (uint64, bool) {
	a := (v[0] + at.off) & at.amask
	if at.space == event.Generic {
		sp := &x.prog.space
		if a>>sp.shift != 0 || sp.windowOf(a) != sharedWindow {
			x.fail(in, OutOfBounds, 0, "%s at address %#x, which is not in shared memory", in.ir.Op(), a)
			return 0, false
		}
		a -= sp.windowBase(sharedWindow)
	}
	if b, off := x.home(a); b == x.block {
		a = off
	}
	switch size := uint64(len(x.block.shared)); {
	case a >= size || size-a < 4:
		x.fail(in, OutOfBounds, 0,
			"%s at %s, outside of the %d bytes of shared memory that the block has",
			in.ir.Op(), x.prog.nearShared(a, 4).text, size)
	case a%4 != 0:
		x.fail(in, Misaligned, 0, "%s at shared address %#x, which is not a multiple of 4", in.ir.Op(),
			a)
	default:
		return a, x.outsideObjects(in, 0, x.block, a, 4)
	}
	return 0, false
}

// freeTensor is tcgen05.dealloc.
func (x *exec) freeTensor(in *inst, m uint32) {
	if m&1 == 0 || !x.sameInWarp(in, 0, "the address") || !x.sameInWarp(in, 1,
		"the number of columns") {
		return
	}
	b, t := x.block, x.block.tensorOf()
	at, n := uint32(x.coll.more[0][0]), uint32(x.coll.more[1][0])
	for i, a := range t.allocated {
		if a.column != at || a.columns != n || !a.named {
			continue
		}
		t.end(i)
		x.wrote, x.changed = true, true
		if x.sink != nil {
			x.tensorSync(in, event.TensorFree, full, at, n)
		}
		for i := range b.warps { // one warp: another may have to wait on
			w := &b.warps[i]
			list := x.take(w, func(g *fragment) bool {
				_, ok := t.free(g.wait.count)
				return g.wait.kind == atColumns && ok
			})
			if len(list) > 0 {
				x.letRun(w, list)
				break
			}
		}
		return
	}
	x.notAllocated(in, t, at, n)
}

// notAllocated ends the run at the end of an allocation that there is not.
func (x *exec) notAllocated(in *inst, t *tensorMemory, at, n uint32) {
	x.fail(in, TensorNoAllocation, 0, "%s of %d columns at %s, where no allocation of that size "+
		"begins: %s (PTX ISA 9.7.16.7.1)", in.ir.Op(), n, tensorText(at), t.text())
}

// tensorText is an address of tensor memory in messages.
func tensorText(a uint32) string {
	if a>>16 == 0 {
		return fmt.Sprintf("column %d", a&0xffff)
	}
	return fmt.Sprintf("lane %d, column %d", a>>16, a&0xffff)
}

// tensorLeft ends the run if a block has ended and not freed its tensor memory.
func (x *exec) tensorLeft(b *block) {
	if b.tensor == nil || len(b.tensor.allocated) == 0 || x.stop != nil {
		return
	}
	a := &b.tensor.allocated[0]
	stop := x.stopFor(a.site, a.thread, TensorLeft, "the block has ended and not freed the %d "+
		"columns of tensor memory from column %d on; tcgen05.dealloc has to do so before the kernel "+
		"exits (PTX ISA 9.7.16.7.1)", a.columns, a.column)
	x.stop = &stop
}

// tensorSync sends an event.
func (x *exec) tensorSync(in *inst, step event.TensorStep, mask, column, columns uint32) {
	x.evs.tensorSync = event.TensorSync{Warp: x.warp.id, Site: x.site(in), Mask: mask, Active: x.mask,
		Step: step, Column: uint16(column), Columns: uint16(columns)}
	x.sink.TensorSync(&x.evs.tensorSync)
}

// tensorAgent sends the event of an operation.
func (x *exec) tensorAgent(in *inst, e event.TensorAgent) {
	x.wrote, x.changed = true, true
	if x.sink != nil {
		e.Warp, e.Site, e.Active = x.warp.id, x.site(in), x.mask
		x.evs.tensor = e
		x.sink.Tensor(&x.evs.tensor)
	}
}

// tensorInside reports whether the rectangles at hand are within what the blocks of an operation
// have allocated. If not, the run ends.
func (x *exec) tensorInside(in *inst, l int, what string, blocks []*block) bool {
	for i := range x.evs.rects {
		r := &x.evs.rects[i]
		b := x.blockAt(r, blocks)
		of := ""
		if b != x.block {
			of = " of " + x.blockText(b)
		}
		if int(r.Lane)+int(r.Lanes) > isa.TensorLanes {
			x.fail(in, TensorBounds, l, "%s: %s takes lanes %d to %d; tensor memory has %d (PTX ISA "+
				"9.7.16.1)", in.ir.Op(), what, r.Lane, r.Lane+r.Lanes-1, isa.TensorLanes)
			return false
		}
		if !b.tensor.has(uint32(r.Column), uint32(r.Columns)) {
			kind := TensorBounds
			if b.tensor.freed(uint32(r.Column), uint32(r.Columns)) {
				kind = TensorFreed
			}
			x.fail(in, kind, l, "%s: %s takes columns %d to %d of tensor memory%s, not all "+
				"of which are allocated: %s (PTX ISA 9.7.16.1.2)", in.ir.Op(), what, r.Column,
				r.Column+r.Columns-1, of, b.tensor.text())
			return false
		}
	}
	return true
}

// tensorWait decodes tcgen05.wait::ld and wait::st (PTX ISA 9.7.16.8.5).
func (c *compiler) tensorWait(in *ir.Instr) error {
	op, err := c.newTmemOp(in)
	if err != nil {
		return err
	}
	if !in.TensorAligned() {
		return fmt.Errorf("%s: .sync and .aligned expected", opcodeText(in))
	}
	step := event.TensorLoaded
	if in.TensorStores() {
		step = event.TensorStored
	}
	c.tensorInst(in, op, nil, nil, func(x *exec, in *inst, m uint32) {
		if m&1 != 0 && x.sink != nil {
			x.tensorSync(in, step, full, 0, 0)
		}
	})
	return nil
}

// tensorFence decodes tcgen05.fence (PTX ISA 9.7.16.11.1).
func (c *compiler) tensorFence(in *ir.Instr) error {
	op, err := c.newTmemOp(in)
	if err != nil {
		return err
	}
	step := event.TensorBefore
	if in.TensorAfter() {
		step = event.TensorAfter
	}
	c.control(inst{guard: c.guard(), misc: &miscOp{tmem: op}, run: func(x *exec, in *inst) {
		if x.sink != nil {
			x.tensorSync(in, step, x.m, 0, 0)
		}
	}})
	return nil
}

// tensorAccess decodes tcgen05.ld and st (PTX ISA 9.7.16.8).
func (c *compiler) tensorAccess(in *ir.Instr) error {
	op, err := c.newTmemOp(in)
	if err != nil {
		return err
	}
	if op.access, err = in.Desc.TensorAccess(); err != nil {
		return err
	}
	a := &op.access
	list, address := ir.Operand{}, in.Src[0]
	rest := in.Src[1:]
	if a.Split {
		if len(rest) == 0 || rest[0].Kind != ir.Imm {
			return fmt.Errorf("%s: a constant offset behind the address expected", opcodeText(in))
		}
		op.split, rest = uint32(rest[0].Val), rest[1:]
	}
	switch {
	case a.Store && len(rest) == 1:
		list = rest[0]
	case !a.Store && len(rest) == 0 && a.Reduce == "" && len(in.Dst) == 1,
		!a.Store && len(rest) == 0 && a.Reduce != "" && len(in.Dst) == 2:
		list = in.Dst[0]
	default:
		return fmt.Errorf("%s: an address and %d registers expected", opcodeText(in), a.Registers)
	}
	op.at = &memOp{space: event.Tensor}
	var d inst
	if err := c.address(address, &d, op.at); err != nil {
		return err
	}
	from := []src{d.s[0]}
	if a.Store {
		regs, err := c.elements(list, a.Registers, isa.B32)
		if err != nil {
			return err
		}
		if op.computes {
			from = append(from, regs...)
		}
	} else if op.to, err = c.destinations(list, a.Registers); err != nil {
		return err
	}
	if a.Reduce != "" {
		result, err := c.destinations(in.Dst[1], 1)
		if err != nil {
			return err
		}
		op.to = append(op.to, result...)
	}
	if op.computes && a.Abs {
		return fmt.Errorf("%s is not supported in a run: what .abs does is not stated (PTX ISA "+
			"9.7.16.8.3); heddle trace does not need it", opcodeText(in))
	}
	if _, _, known := a.Cell(0, 0); op.computes && (!known || a.Packed && a.Shape != "32x32b") {
		return fmt.Errorf("%s is not supported in a run: which registers have which cells is not "+
			"modelled; heddle trace does not need it", opcodeText(in))
	}
	if !op.computes && c.slice.Track {
		op.origin = c.originOf(in)
	}
	var results []int32
	if op.computes {
		results = op.to
	}
	c.tensorInst(in, op, from, results, (*exec).accessTensor)
	return nil
}

// accessTensor performs tcgen05.ld or st by a warp.
func (x *exec) accessTensor(in *inst, m uint32) {
	op, first := in.misc.tmem, m&1 != 0
	a := &op.access
	if x.unk != nil && x.coll.unknown != 0 || first && !x.sameInWarp(in, 0, "the address") {
		x.sameInWarp(in, 0, "the address")
		return
	}
	addr := (uint32(x.coll.more[0][0]) + uint32(op.at.off))
	lane, column := addr>>16, addr&0xffff
	if first && !x.mayAccess(in, lane, column) {
		return
	}
	t := x.block.tensor
	switch {
	case !op.computes:
		if x.unk != nil {
			for _, r := range op.to {
				x.unk.set(r, full, op.origin, m)
			}
		}
	case a.Store:
		for l := range event.WarpSize {
			for i := range a.Registers {
				t.put(a, l, i, lane, column, uint32(x.coll.more[1+i][l]))
			}
		}
	default:
		for c := column; c < column+uint32(a.Columns); c++ {
			if by := t.unknown[c]; by != nil {
				x.fail(in, Unsupported, 0, "%s reads what %s %s has written, whose values heddle does not "+
					"compute; heddle trace does not need them", in.ir.Op(), by.Op(), lineText(by))
				return
			}
		}
		for r := m; r != 0; r &= r - 1 {
			l := lowest(r)
			for i, d := range op.to[:a.Registers] {
				if d >= 0 {
					x.regs[d][l] = uint64(t.get(a, l, i, lane, column))
				}
			}
			if a.Reduce != "" && op.to[a.Registers] >= 0 {
				x.regs[op.to[a.Registers]][l] = uint64(t.reduced(a, l, lane, column))
			}
		}
	}
	if first {
		e := event.TensorAgent{Mask: full, Op: event.TensorLoad, Rects: x.accessed(op, lane, column)}
		if a.Store {
			e.Op = event.TensorStore
		}
		x.tensorAgent(in, e)
	}
}

// accessed returns what tcgen05.ld or st accesses.
func (x *exec) accessed(op *tmemOp, lane, column uint32) []event.TensorRect {
	a := &op.access
	r := event.TensorRect{Lane: uint16(lane), Lanes: uint16(a.Lanes), Column: uint16(column),
		Columns: uint16(a.Columns), Write: a.Store}
	x.evs.rects = append(x.evs.rects[:0], r)
	if a.Split {
		r.Column += uint16(op.split)
		x.evs.rects = append(x.evs.rects, r)
	}
	return x.evs.rects
}

// mayAccess reports whether the warp may access what an instruction names: lanes of its quarter of
// tensor memory (PTX ISA 9.7.16.8.1), in columns that are allocated.
func (x *exec) mayAccess(in *inst, lane, column uint32) bool {
	op := in.misc.tmem
	from := uint32(x.warp.index % 4 * 32)
	if lane < from || lane+uint32(op.access.Lanes) > from+32 {
		x.fail(in, TensorBounds, 0, "%s of lanes %d to %d: warp %d of the block reaches lanes %d to "+
			"%d of tensor memory only (PTX ISA 9.7.16.8.1)", in.ir.Op(), lane,
			lane+uint32(op.access.Lanes)-1,
			x.warp.index, from, from+31)
		return false
	}
	x.accessed(op, lane, column)
	return x.tensorInside(in, 0, "it", []*block{x.block})
}

// put stores register i of a thread.
func (t *tensorMemory) put(a *isa.TensorAccess, thread, i int, lane, column, v uint32) {
	dl, dc, _ := a.Cell(thread, i)
	at := (lane+uint32(dl))*isa.TensorColumns + column
	if a.Packed {
		t.words[at+2*uint32(dc)], t.words[at+2*uint32(dc)+1] = v&0xffff, v>>16
		return
	}
	t.words[at+uint32(dc)] = v
}

// get loads register i of a thread.
func (t *tensorMemory) get(a *isa.TensorAccess, thread, i int, lane, column uint32) uint32 {
	dl, dc, _ := a.Cell(thread, i)
	at := (lane+uint32(dl))*isa.TensorColumns + column
	if a.Packed {
		return t.words[at+2*uint32(dc)]&0xffff | t.words[at+2*uint32(dc)+1]<<16
	}
	return t.words[at+uint32(dc)]
}

// reduced returns the smallest or the largest value that a thread loads, as min and max of its type
// do.
func (t *tensorMemory) reduced(a *isa.TensorAccess, thread int, lane, column uint32) uint32 {
	out := t.get(a, thread, 0, lane, column)
	for i := 1; i < a.Registers; i++ {
		if v := t.get(a, thread, i, lane, column); firstOf(a, v, out) {
			out = v
		}
	}
	if a.Type == "f32" && isNaN32(out) {
		return canonicalNaN32
	}
	return out
}

// canonicalNaN32 is the NaN that operations in single precision return.
const canonicalNaN32 = 0x7fffffff

// isNaN32 reports whether a word is a NaN in single precision.
func isNaN32(v uint32) bool { return v&^(1<<31) > 0x7f800000 }

// firstOf reports whether v is a better result of a reduction than w: -0 is less than +0, and a NaN
// counts only if all values are NaN, or with .NaN always.
func firstOf(a *isa.TensorAccess, v, w uint32) bool {
	if a.Type == "f32" {
		if isNaN32(v) || isNaN32(w) {
			return isNaN32(v) == a.NaN
		}
		order := func(v uint32) uint32 { // an order of bits that is that of numbers
			if v>>31 != 0 {
				return ^v
			}
			return v | 1<<31
		}
		v, w = order(v), order(w)
	} else if a.Type == "s32" {
		v, w = v^1<<31, w^1<<31
	}
	if a.Reduce == "min" {
		return v < w
	}
	return v > w
}

// tensorCommit decodes tcgen05.commit (PTX ISA 9.7.16.12.1): s[0] is the mbarrier.
func (c *compiler) tensorCommit(in *ir.Instr) error {
	op, err := c.newTmemOp(in)
	if err != nil {
		return err
	}
	use, _ := in.Desc.Async(len(in.Src))
	op.at = &memOp{space: spaceOf(in), wide: 8, remote: c.clustered()}
	op.needs = []string{"the mbarrier of this commit"}
	d := inst{guard: c.guard(), run: runTensorCommit, misc: &miscOp{tmem: op}}
	if err := c.address(in.Src[0], &d, op.at); err != nil {
		return err
	}
	if use.Multicast {
		if len(in.Src) != 2 {
			return fmt.Errorf("%s: a mask of blocks expected", opcodeText(in))
		}
		if d.s[1], err = c.srcOf(in.Src[1], isa.U32); err != nil {
			return err
		}
		op.mask = &d.s[1]
		op.needs = append(op.needs, "the mask of blocks of this commit")
	}
	c.control(d)
	return nil
}

// runTensorCommit makes the agents that signal mbarriers, one for each block.
func runTensorCommit(x *exec, in *inst) {
	x.point()
	op := in.misc.tmem
	for t := x.m; t != 0 && x.stop == nil; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if _, ok := x.pairOf(in, l); !ok {
			return
		}
		home, addr, ok := x.sharedAddress(in, &in.s[0], op.at, l)
		if !ok {
			return
		}
		blocks := []*block{home}
		if op.mask != nil {
			blocks = x.blocksOf(in, l, x.src(&in.s[1])[l]&(1<<16-1))
		}
		for i, b := range blocks {
			x.commitTo(in, l, b, addr, i < len(blocks)-1)
		}
	}
}

// commitTo makes the agent that signals the mbarrier of one block.
func (x *exec) commitTo(in *inst, l int, home *block, addr uint64, more bool) {
	if home != x.block {
		x.reach(home)
		defer x.comeHome()
	}
	a := x.agentAt(in, l, addr)
	if a == nil {
		return
	}
	a.commit, a.home = true, x.block
	x.wrote, x.changed = true, true
	if x.sink == nil {
		return
	}
	x.evs.tensorSync = event.TensorSync{Warp: x.warp.id, Site: x.site(in), Mask: 1 << l,
		Active: x.mask, Step: event.TensorCommit, ID: a.id, Addr: addr, Peer: x.peer, More: more}
	x.sink.TensorSync(&x.evs.tensorSync)
}

// runNeedsTensor stops a trace if an operand that decides what is accessed is unknown.
func runNeedsTensor(x *exec, in *inst) {
	op := in.misc.tmem
	for i, what := range op.needs {
		if what != "" && !x.needs(in, &in.s[i], what) {
			return
		}
	}
	if op.zeros != nil && !x.needs(in, op.zeros, "the zero-column mask") {
		return
	}
	if op.metadata != nil && !x.needs(in, &op.metadata.s, "the address of the metadata") {
		return
	}
	for i := range op.scales {
		if !x.needs(in, &op.scales[i].s, "the address of the scales") {
			return
		}
	}
	for i := range op.disabled {
		if !x.needs(in, &op.disabled[i], "the lanes whose output is disabled") {
			return
		}
	}
	in.base(x, in)
}

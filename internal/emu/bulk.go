package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/order"
)

// Bulk copies and reductions, PTX ISA 9.7.9.25.4, and bulk groups, 9.7.9.27.2. Each operation is an
// agent (agent.go), which reads, writes and signals at times that the seed chooses.

// bulkOp is a decoded bulk copy: s[0] is the destination, s[1] the source, s[2] the size, s[3] the
// mbarrier.
type bulkOp struct {
	use      isa.BulkUse
	to, from *memOp
	bar      *memOp  // nil: a bulk group tracks it
	elem     *memOp  // of a reduction: an element
	box      *box    // of a copy of a tensor
	rmw      rmwFunc // of a reduction
}

// bulkGroupOp is a decoded commit_group or wait_group.
type bulkGroupOp struct {
	commit, reads bool
	pending       uint32
}

// bulkCopy decodes cp.async.bulk and cp.reduce.async.bulk.
func (c *compiler) bulkCopy(in *ir.Instr) error {
	use, ok := in.Bulk()
	switch {
	case !ok:
		return fmt.Errorf("%s is not supported", opcodeText(in))
	case use.Size < 0 && c.slice == nil:
		return fmt.Errorf("%s is not supported", opcodeText(in))
	case c.slice == nil && c.p.track:
		return fmt.Errorf("%s is not supported in a run with unknown values", opcodeText(in))
	}
	op := &bulkOp{use: use, to: &memOp{space: use.To, wide: 16}, from: &memOp{space: use.From,
		wide: 16}}
	d := inst{guard: c.guard(), run: runBulk, misc: &miscOp{bulk: op,
		origin: c.originOfCopy(in)}, d: [2]int32{-1, -1},
		pd: [2]int32{-1, -1}}
	operands := []*memOp{op.to, op.from}
	if use.Barrier >= 0 {
		op.bar = &memOp{space: event.Shared, wide: 8}
		operands = append(operands, op.bar)
	}
	for i, m := range operands {
		at, operand := i, i
		if i == 2 {
			at, operand = 3, use.Barrier
		}
		var p inst
		if use.Size < 0 && m.space == event.Global { // a tensor map
			p.s[0], _ = c.srcOf(ir.Operand{Kind: ir.Imm}, isa.U64)
		} else if err := c.address(in.Src[operand], &p, m); err != nil {
			return err
		}
		d.s[at] = p.s[0]
	}
	bytes := ir.Operand{Kind: ir.Imm}
	if use.Size >= 0 {
		bytes = in.Src[use.Size]
	} else if err := c.tensorBox(in, op); err != nil {
		return err
	} else {
		bytes.Val = op.box.bytes
	}
	size, err := c.srcOf(bytes, isa.U32)
	if err != nil {
		return err
	}
	d.s[2] = size
	if use.Reduce != isa.NoFn {
		n := uint64(in.Type.Size())
		op.elem = &memOp{size: n, wide: n, scope: event.GPU}
		if op.rmw = bulkReduction(use.Reduce, in.Type); op.rmw == nil {
			return fmt.Errorf("%s is not supported", opcodeText(in))
		}
	}
	c.emit(d)
	return nil
}

// bulkReduction returns the operation on one element; nil if the ISA has none.
func bulkReduction(fn isa.Fn, t isa.Type) rmwFunc {
	switch {
	case fn == isa.FnInc || fn == isa.FnDec:
		if t != isa.U32 {
			return nil
		}
	case fn == isa.FnAnd || fn == isa.FnOr || fn == isa.FnXor:
		if t != isa.B32 && t != isa.B64 {
			return nil
		}
	case t == isa.B32 || t == isa.B64:
		return nil
	}
	return rmwOf(fn, t, event.Global)
}

// runBulk issues one operation for each lane.
func runBulk(x *exec, in *inst) {
	x.point()
	for t := x.m; t != 0 && x.stop == nil; t &= t - 1 {
		x.issueBulk(in, bits.TrailingZeros32(t)&31)
	}
}

// issueBulk makes the agent of one lane's operation.
func (x *exec) issueBulk(in *inst, l int) {
	op := in.misc.bulk
	size := x.src(&in.s[2])[l] & (1<<32 - 1)
	if op.box != nil && op.box.open {
		x.issueBox(in, l)
		return
	}
	to := (x.src(&in.s[0])[l] + op.to.off) & op.to.amask
	from := (x.src(&in.s[1])[l] + op.from.off) & op.from.amask
	if !x.checkBulk(in, l, to, from, size) {
		return
	}
	var m *mbarrier
	if op.bar != nil {
		addr, ok := x.sharedAddress(in, &in.s[3], op.bar, l)
		if !ok {
			return
		}
		if m = x.liveMBarrier(in, l, addr); m == nil {
			return
		}
		m.agents++
	}
	a := x.newAgent(in, l)
	a.op, a.to, a.from, a.size, a.bar = op, to, from, size, m
	e := &x.evs.bulk
	*e = event.Bulk{ID: a.id, Warp: x.warp.id, Site: x.site(in), Mask: 1 << l, Active: x.mask,
		From: event.Range{Space: op.use.From, Addr: from, Size: size},
		To:   event.Range{Space: op.use.To, Addr: to, Size: size}, Reduce: op.rmw != nil,
		Grouped: m == nil}
	if m != nil {
		e.Addr = m.addr
	} else {
		a.group = x.warp.groups().closed[l]
	}
	x.wrote, x.changed = true, true
	switch {
	case x.touched == nil:
	case op.use.To == event.Global:
		x.touched.Mark(order.Write, to, size)
	default:
		x.touched.Mark(order.Read, from, size)
	}
	if x.sink != nil {
		x.sink.Bulk(e)
	}
}

// checkBulk reports whether the operands of an operation are aligned, within memory, and outside of
// live mbarriers. If not, the run ends.
func (x *exec) checkBulk(in *inst, l int, to, from, size uint64) bool {
	use := &in.misc.bulk.use
	for _, v := range [...]struct {
		what   string
		value  uint64
		global bool
	}{{"size", size, false}, {"destination address", to, use.To == event.Global},
		{"source address", from, use.From == event.Global}} {
		if x.prog.traced && v.global {
			continue
		}
		if v.value%16 != 0 {
			x.fail(in, BulkAlignment, l, "%s: the %s %#x is not a multiple of 16 (PTX ISA 9.7.9.25.4)",
				in.ir.Op(), v.what, v.value)
			return false
		}
	}
	if x.prog.traced {
		return x.bulkShared(in, l, use, to, from, size)
	}
	if !x.bulkInside(in, l, use.To, to, size, "write") ||
		!x.bulkInside(in, l, use.From, from, size, "read") {
		return false
	}
	shared := to
	if use.To != event.Shared {
		shared = from
	}
	if m := x.block.mbarrierIn(shared, size); m != nil {
		x.fail(in, MBarrierOverwritten, l, "%s of %d bytes at shared address %#x, among them %s, which "+
			"is in use", in.ir.Op(), size, shared, x.barrierText(m.addr))
		return false
	}
	return true
}

// bulkShared checks the range in shared memory of an operation in a trace, which does not know
// addresses of global memory.
func (x *exec) bulkShared(in *inst, l int, use *isa.BulkUse, to, from, size uint64) bool {
	shared, what := from, "read"
	if use.To == event.Shared {
		shared, what = to, "write"
	}
	if !x.bulkInside(in, l, event.Shared, shared, size, what) {
		return false
	}
	if m := x.block.mbarrierIn(shared, size); m != nil {
		x.fail(in, MBarrierOverwritten, l, "%s of %d bytes at shared address %#x, among them %s, which "+
			"is in use", in.ir.Op(), size, shared, x.barrierText(m.addr))
		return false
	}
	return true
}

// bulkInside checks one range of an operation.
func (x *exec) bulkInside(in *inst, l int, space event.Space, addr, n uint64, what string) bool {
	if n == 0 {
		return true
	}
	if space == event.Shared {
		size := uint64(len(x.block.shared))
		if addr < size && n <= size-addr {
			return true
		}
		x.fail(in, OutOfBounds, l, "bulk %s of %d bytes at shared address %#x, outside of the %d "+
			"bytes of shared memory that the block has", what, n, addr, size)
		return false
	}
	o := x.find(addr)
	switch {
	case o != nil && o.space == event.Global && o.contains(addr-o.base, n):
		return true
	case o == nil:
		x.fail(in, OutOfBounds, l, "bulk %s of %d bytes at address %#x, which is not mapped", what,
			n, addr)
	case o.bounded && addr >= o.base:
		x.fail(in, OutOfBounds, l, "bulk %s of %d bytes at offset %d of %s, which has %d bytes",
			what, n,
			addr-o.base, o.name, o.size)
	default:
		x.fail(in, OutOfBounds, l, "bulk %s of %d bytes at %s, which is not in an array of global "+
			"memory", what, n, x.describe(addr))
	}
	return false
}

// bulkGroup decodes cp.async.bulk.commit_group and wait_group.
func (c *compiler) bulkGroup(in *ir.Instr) error {
	if c.slice == nil && c.p.track {
		return fmt.Errorf("%s is not supported in a run with unknown values", opcodeText(in))
	}
	use, _ := in.Desc.Async(len(in.Src))
	op := &bulkGroupOp{commit: use.Step == isa.AsyncCommit, reads: use.Reads}
	if !op.commit {
		if len(in.Src) != 1 || in.Src[0].Kind != ir.Imm {
			return fmt.Errorf("%s: a constant number of groups expected", opcodeText(in))
		}
		op.pending = uint32(min(in.Src[0].Val, 1<<31))
	}
	c.control(inst{run: runBulkGroup, guard: c.guard(), misc: &miscOp{bulkGroup: op}})
	return nil
}

// runBulkGroup closes the groups of the lanes, or completes all but the last ones.
func runBulkGroup(x *exec, in *inst) {
	op, w := in.misc.bulkGroup, x.warp
	if op.commit {
		for t := x.m; t != 0; t &= t - 1 {
			w.groups().closed[bits.TrailingZeros32(t)&31]++
		}
	} else {
		x.completeBulk(w, x.m, op)
	}
	if x.sink != nil {
		x.evs.bulkGroup = event.BulkGroup{Warp: w.id, Site: x.site(in), Mask: x.m, Active: x.mask,
			Commit: op.commit, Reads: op.reads, Pending: op.pending}
		x.sink.BulkGroup(&x.evs.bulkGroup)
	}
}

// bulkState are the bulk groups of a warp's lanes.
type bulkState struct {
	closed  [event.WarpSize]uint32
	awaited [event.WarpSize]uint32 // groups whose sources some wait has covered
}

// groups returns the bulk groups of the warp.
func (w *warp) groups() *bulkState {
	if w.bulk == nil {
		w.bulk = new(bulkState)
	}
	return w.bulk
}

// completeBulk makes the operations of the groups that a wait covers read their sources and, unless
// it waits for that only, complete.
func (x *exec) completeBulk(w *warp, m uint32, op *bulkGroupOp) {
	w.groups()
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if c := w.bulk.closed[l]; c > op.pending {
			w.bulk.awaited[l] = max(w.bulk.awaited[l], c-op.pending)
		}
	}
	still := x.block.agents[:0]
	for _, a := range x.block.agents {
		if a.warp == w && a.op != nil && a.bar == nil && m>>a.lane&1 != 0 &&
			uint64(a.group)+uint64(op.pending) < uint64(w.bulk.closed[a.lane]) {
			x.readBulk(a)
			if !op.reads || x.random()&1 != 0 { // it may be complete
				x.writeBulk(a)
				x.freeAgent(a)
				continue
			}
		}
		still = append(still, a)
	}
	x.block.agents = still
}

// readBulk reads the source of an operation, once.
func (x *exec) readBulk(a *agent) {
	if a.step > agentIssued {
		return
	}
	a.step = agentRead
	if x.prog.traced {
		x.changed = true
		return
	}
	a.data = append(a.data[:0], make([]byte, a.size)...)
	x.changed = true
	if a.size == 0 {
		return
	}
	if a.op.use.From == event.Shared {
		copy(a.data, x.block.shared[a.from:])
		return
	}
	if o := x.find(a.from); o != nil {
		o.read(a.from, a.data)
	}
}

// writeBulk writes the destination of an operation that has read its source.
func (x *exec) writeBulk(a *agent) {
	a.step = agentWritten
	x.changed = true
	if x.prog.traced {
		if a.op.use.To == event.Shared {
			x.forgetShared(a.to, a.size, a.in)
		}
		return
	}
	if a.op.use.To == event.Shared {
		copy(x.block.shared[a.to:], a.data)
		return
	}
	for at, left := a.to, a.data; len(left) > 0; {
		o := x.find(at)
		if o == nil {
			return // the program has freed it
		}
		page := o.at(at)[at&pageMask:]
		n := min(len(left), len(page))
		if a.op.rmw == nil {
			copy(page, left[:n])
		} else {
			for i := uint64(0); i < uint64(n); i += a.op.elem.size {
				a.op.elem.modify(a.op.rmw, page[i:], loadUint(left[i:], a.op.elem.size), 0)
			}
		}
		at, left = at+uint64(n), left[n:]
	}
}

package emu

import (
	"fmt"
	"math/bits"
	"slices"

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
	bar      *memOp    // nil: a bulk group tracks it
	elem     *memOp    // of a reduction: an element
	box      *box      // of a copy of a tensor in a trace
	tensor   *tensorOp // of one in a run
	rmw      rmwFunc   // of a reduction
	mask     *src      // the ranks of the blocks to which a copy goes; nil: to one
	value    *memOp    // of st.async and red.async: what is stored; nil of others
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
	case use.Size < 0 && use.Value < 0 && c.slice == nil:
		if err := c.noMaps(in); err != nil {
			return err
		}
	case c.slice == nil && c.p.track:
		return fmt.Errorf("%s is not supported in a run with unknown values", opcodeText(in))
	}
	op := &bulkOp{use: use, to: &memOp{space: use.To, wide: 16}, from: &memOp{space: use.From,
		wide: 16}}
	d := inst{guard: c.guard(), run: runBulk, misc: &miscOp{bulk: op,
		origin: c.originOfCopy(in)}, d: [2]int32{-1, -1},
		pd: [2]int32{-1, -1}}
	if use.Value >= 0 {
		return c.asyncStore(in, op, d)
	}
	operands := []*memOp{op.to, op.from}
	if use.Barrier >= 0 {
		op.bar = &memOp{space: event.Shared, wide: 8, remote: use.Remote || use.Pair}
		operands = append(operands, op.bar)
	}
	if use.Mask >= 0 {
		if use.Mask >= len(in.Src) {
			return fmt.Errorf("%s: a mask of blocks expected", opcodeText(in))
		}
		mask, err := c.srcOf(in.Src[use.Mask], isa.U32)
		if err != nil {
			return err
		}
		op.mask = &mask
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
	} else if c.slice == nil {
		if err := c.tensorCopy(in, op, &d); err != nil {
			return err
		}
	} else if err := c.tensorBox(in, op); err != nil {
		return err
	} else {
		bytes.Val = op.box.bytes * use.Boxes
	}
	size, err := c.srcOf(bytes, isa.U32)
	if err != nil {
		return err
	}
	d.s[2] = size
	if err := c.reduction(in, op); err != nil {
		return err
	}
	c.emit(d)
	return nil
}

// stores reports whether an operation has no source in memory: a store of a value or an answer.
func (op *bulkOp) stores() bool { return op.value != nil || op.use.Answer }

// reduces returns the bytes of an element of a reduction; 0 of a copy.
func (op *bulkOp) reduces() uint8 {
	if op.elem == nil {
		return 0
	}
	return uint8(op.elem.size)
}

// reduction decodes how a reduction changes an element.
func (c *compiler) reduction(in *ir.Instr, op *bulkOp) error {
	if op.use.Reduce == isa.NoFn || op.use.Size < 0 && op.value == nil { // by the type of a tensor map
		return nil
	}
	n := uint64(in.Type.Size())
	op.elem = &memOp{size: n, wide: n, scope: event.GPU}
	if op.rmw = bulkReduction(op.use.Reduce, in.Type); op.rmw == nil {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	return nil
}

// asyncStore decodes st.async and red.async (PTX ISA 9.7.9.12, 9.7.13.7), whose addresses are
// generic if no space is written.
func (c *compiler) asyncStore(in *ir.Instr, op *bulkOp, d inst) error {
	space := event.Generic
	if in.Space == event.Shared {
		space = event.Shared
	}
	op.value = &memOp{space: space}
	n, err := c.element(in, op.value)
	if err != nil {
		return err
	}
	if op.value.src, err = c.elements(in.Src[1], n, in.Type); err != nil {
		return err
	}
	op.to = &memOp{space: space, wide: op.value.wide, remote: true}
	op.bar = &memOp{space: space, wide: 8, remote: true}
	if err := c.storedAt(in, op, &d, op.value.wide); err != nil {
		return err
	}
	if err := c.reduction(in, op); err != nil {
		return err
	}
	c.emit(d)
	return nil
}

// storedAt decodes the operands of an operation that writes some bytes without a source in memory:
// its destination, which is the first one, and its mbarrier.
func (c *compiler) storedAt(in *ir.Instr, op *bulkOp, d *inst, size uint64) error {
	var to, bar inst
	if err := c.address(in.Src[0], &to, op.to); err != nil {
		return err
	}
	if err := c.address(in.Src[op.use.Barrier], &bar, op.bar); err != nil {
		return err
	}
	d.s[0], d.s[3] = to.s[0], bar.s[0]
	d.s[1], _ = c.srcOf(ir.Operand{Kind: ir.Imm}, isa.U64)
	var err error
	d.s[2], err = c.srcOf(ir.Operand{Kind: ir.Imm, Val: size}, isa.U32)
	return err
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

// issueBulk makes the agents of one lane's operation: one for each block that it goes to.
func (x *exec) issueBulk(in *inst, l int) {
	op := in.misc.bulk
	if op.box != nil && op.box.open {
		x.issueBox(in, l)
		return
	}
	v := bulkAt{size: x.src(&in.s[2])[l] & (1<<32 - 1), home: x.block,
		from: (x.src(&in.s[1])[l] + op.from.off) & op.from.amask,
		to:   (x.src(&in.s[0])[l] + op.to.off) & op.to.amask}
	if op.use.From == event.Shared {
		v.from = x.ownOffset(v.from)
	}
	if op.tensor != nil {
		if v.tensor = x.boxOf(in, l); v.tensor == nil || !x.checkBox(in, l, v.tensor) ||
			!x.checkSwizzle(in, l, v.tensor) {
			return
		}
		v.size = v.tensor.bytes
	}
	if op.bar != nil {
		var ok bool
		if v.home, v.bar, ok = x.sharedAddress(in, &in.s[3], op.bar, l); !ok {
			return
		}
		v.barred = v.home
	}
	if op.use.To == event.Shared && !x.destination(in, l, &v) {
		return
	}
	if op.use.Answer {
		if v.data = x.answer(in, l); v.data == nil {
			return
		}
	}
	if op.mask == nil && !op.use.EachBlock {
		x.issueTo(in, l, v)
		return
	}
	named := v.barred
	for _, b := range x.destinations(in, l) {
		v.home = b
		if v.barred = x.signalled(in, l, b, named); v.barred == nil {
			return
		}
		x.issueTo(in, l, v)
	}
}

// signalled returns the block whose mbarrier a copy to several blocks signals for one of them: that
// block, or of .cta_group::2 the one of its pair that is even, or odd, as the block of the mbarrier
// that is named (PTX ISA 9.7.9.27.1.2); nil if there is none, which ends the run.
func (x *exec) signalled(in *inst, l int, b, named *block) *block {
	c := x.block.cluster
	if !in.misc.bulk.use.Pair || c == nil {
		return b
	}
	r := c.rank(b)&^1 | c.rank(named)&1
	switch {
	case r >= len(c.blocks):
		x.fail(in, OutOfBounds, l, "%s to %s: the cluster has no block of rank %d, with which it would "+
			"form a pair (PTX ISA 9.7.16.5.1)", in.ir.Op(), x.blockText(b), r)
		return nil
	case c.blocks[r] != x.block && c.blocks[r].live == 0:
		x.peerEnded(in, l, c.blocks[r])
		return nil
	}
	return c.blocks[r]
}

// ofPair reports whether two blocks are the same, or form a pair (PTX ISA 9.7.16.5.1).
func (x *exec) ofPair(a, b *block) bool {
	c := x.block.cluster
	return a == b || c != nil && c.rank(a)^1 == c.rank(b)
}

// destinations returns the blocks that a copy of a lane to several of them goes to.
func (x *exec) destinations(in *inst, l int) []*block {
	ranks := uint64(1)<<x.geo.Ranks() - 1
	if mask := in.misc.bulk.mask; mask != nil {
		ranks = x.src(mask)[l] & (1<<16 - 1)
	}
	return x.blocksOf(in, l, ranks)
}

// blocksOf returns the blocks of the cluster with some ranks, to which an operation of a lane goes;
// none if one is not there, which ends the run.
func (x *exec) blocksOf(in *inst, l int, ranks uint64) (out []*block) {
	c := x.block.cluster
	for r := ranks; r != 0; r &= r - 1 {
		switch n := bits.TrailingZeros64(r); {
		case c == nil && n == 0:
			out = append(out, x.block)
		case c == nil || n >= len(c.blocks):
			x.fail(in, OutOfBounds, l, "%s to the block with rank %d of a cluster of %d", in.ir.Op(), n,
				x.geo.Ranks())
			return nil
		case c.blocks[n] != x.block && c.blocks[n].live == 0:
			x.peerEnded(in, l, c.blocks[n])
			return nil
		default:
			out = append(out, c.blocks[n])
		}
	}
	return out
}

// agentOf returns a new agent of a lane, of the block of its warp, whatever block is reached.
func (x *exec) agentOf(in *inst, l int) *agent {
	home := x.block
	x.block = x.ownBlock()
	a := x.newAgent(in, l)
	x.block = home
	return a
}

// agentAt returns a new agent of a lane that will signal the mbarrier at an address of the block that
// is reached; nil if no live one is there, which liveMBarrier reports.
func (x *exec) agentAt(in *inst, l int, addr uint64) *agent {
	m := x.liveMBarrier(in, l, addr)
	if m == nil {
		return nil
	}
	m.agents++
	a := x.agentOf(in, l)
	a.bar = m
	return a
}

// bulkAt is where an operation takes place: home is the block whose shared memory it writes, and
// barred the one whose mbarrier it signals.
type bulkAt struct {
	to, from, size, bar uint64
	home, barred        *block
	tensor              *tensorBox // of a copy of a tensor
	data                []byte     // the answer to a request
}

// destination finds the block of a destination in shared memory, which is that of the mbarrier (PTX
// ISA 9.7.9.25.4.1), or of .cta_group::2 one of its pair, and the offset there.
func (x *exec) destination(in *inst, l int, v *bulkAt) bool {
	op := in.misc.bulk
	if op.to.space == event.Generic {
		sp := &x.prog.space
		if v.to>>sp.shift != 0 || sp.windowOf(v.to) != sharedWindow {
			x.fail(in, OutOfBounds, l, "%s to address %#x, which is not in shared memory", in.ir.Op(), v.to)
			return false
		}
		v.to -= sp.windowBase(sharedWindow)
	}
	b, off := x.home(v.to)
	if b == nil {
		return true // out of bounds, as checkBulk finds
	}
	switch v.to = off; {
	case op.mask != nil || op.use.EachBlock && b == x.block: // the same offset in every block
	case b != x.block && !op.use.Remote:
		x.fail(in, RemoteAddress, l, "%s to the shared memory of %s: without .shared::cluster it "+
			"reaches that of its own block only", in.ir.Op(), x.blockText(b))
		return false
	case op.use.Pair && x.ofPair(b, v.barred):
		v.home = b
	case op.use.Pair:
		x.fail(in, RemoteAddress, l, "%s writes the shared memory of %s and signals an mbarrier of %s, "+
			"which do not form a pair (PTX ISA 9.7.9.27.1.2)", in.ir.Op(), x.blockText(b),
			x.blockText(v.barred))
		return false
	case b != v.home:
		x.fail(in, RemoteAddress, l, "%s writes the shared memory of %s and signals an mbarrier of %s; "+
			"both are in one block (PTX ISA 9.7.9.25.4.1)", in.ir.Op(), x.blockText(b),
			x.blockText(v.home))
		return false
	case b == x.block && op.use.From == event.Shared:
		x.fail(in, RemoteAddress, l, "%s from the shared memory of the block to itself: the destination "+
			"has to be in another block (PTX ISA 9.7.9.25.4.1)", in.ir.Op())
		return false
	}
	return true
}

// issueTo makes the agent of an operation for one block.
func (x *exec) issueTo(in *inst, l int, v bulkAt) {
	op := in.misc.bulk
	if v.home != x.block {
		x.reach(v.home)
		defer x.comeHome()
	}
	if !op.stores() && !x.checkBulk(in, l, v) ||
		op.stores() && !x.checkAsyncStore(in, l, v.to, v.size) {
		return
	}
	var m *mbarrier
	if op.bar != nil {
		if m = x.trackerOf(in, l, v); m == nil {
			return
		}
		m.agents++
	}
	e := &x.evs.bulk
	*e = event.Bulk{Warp: x.warp.id, Site: x.site(in), Mask: 1 << l, Active: x.mask,
		From:   event.Range{Space: op.use.From, Addr: v.from, Size: v.size},
		To:     event.Range{Space: op.use.To, Addr: v.to, Size: v.size, Peer: x.peer},
		Reduce: op.reduces(), Grouped: m == nil, Generic: op.value != nil}
	if op.stores() {
		e.From = event.Range{}
	}
	if x.touched != nil {
		x.touched.Origin = x.origin + uint32(e.Site)
	}
	if op.tensor != nil {
		x.noteRows(e, v.tensor)
		if v.tensor.rmw != nil {
			e.Reduce = uint8(v.tensor.elem.size)
		}
	}
	a := x.agentOf(in, l)
	a.op, a.to, a.from, a.size, a.bar, a.home = op, v.to, v.from, v.size, m, x.block
	a.tensor = v.tensor
	if v.barred != nil && v.barred != v.home {
		a.barred, e.Barrier = v.barred, event.PeerOf(v.barred.id)
	}
	e.ID = a.id
	if op.stores() {
		a.data, a.step = slices.Clone(v.data), agentRead
		if op.value != nil {
			x.gather(op.value, 1<<l)
			a.data = make([]byte, v.size)
			storeWide(a.data, &x.data, l, v.size)
		}
	}
	if m != nil {
		e.Addr = m.addr
	} else {
		a.group = x.warp.groups().closed[l]
	}
	x.wrote, x.changed = true, true
	switch {
	case x.touched == nil || op.stores() || op.tensor != nil:
	case op.use.To == event.Global:
		x.touched.Mark(order.Write, v.to, v.size)
	case op.use.From == event.Global:
		x.touched.Mark(order.Read, v.from, v.size)
	}
	if x.sink != nil {
		x.sink.Bulk(e)
	}
}

// trackerOf returns the mbarrier of an operation, whose destination is in the block that is reached;
// nil if it is not live, which ends the run.
func (x *exec) trackerOf(in *inst, l int, v bulkAt) *mbarrier {
	if v.barred == nil || v.barred == x.block {
		return x.liveMBarrier(in, l, v.bar)
	}
	block, own, peer := x.block, x.own, x.peer
	x.block, x.own, x.peer = v.barred, x.ownBlock(), event.PeerOf(v.barred.id)
	m := x.liveMBarrier(in, l, v.bar)
	x.block, x.own, x.peer = block, own, peer
	return m
}

// checkAsyncStore is checkBulk for st.async and red.async.
func (x *exec) checkAsyncStore(in *inst, l int, to, size uint64) bool {
	if !x.bulkInside(in, l, event.Shared, to, size, "write") {
		return false
	}
	if to%size != 0 {
		x.fail(in, Misaligned, l, "%s at shared address %#x, which is not a multiple of %d", in.ir.Op(),
			to, size)
		return false
	}
	return x.outsideObjects(in, l, x.block, to, size)
}

// outsideObjects reports whether a range of the shared memory of a block has no live mbarrier in it. If it has,
// the run ends.
func (x *exec) outsideObjects(in *inst, l int, b *block, addr, size uint64) bool {
	m := b.mbarrierIn(addr, size)
	if m != nil {
		x.fail(in, MBarrierOverwritten, l, "%s of %d bytes at shared address %#x, among them %s, which "+
			"is in use", in.ir.Op(), size, addr, x.barrierText(m.addr))
		x.stop.Object = &ObjectAt{b.id, m.addr}
	}
	return m == nil
}

// checkBulk reports whether the operands of an operation are aligned, within memory, and outside of
// live mbarriers. If not, the run ends.
func (x *exec) checkBulk(in *inst, l int, v bulkAt) bool {
	op, to, from, size := in.misc.bulk, v.to, v.from, v.size
	use := &op.use
	for _, v := range [...]struct {
		what   string
		value  uint64
		global bool
	}{{"size", size, false}, {"destination address", to, use.To == event.Global},
		{"source address", from, use.From == event.Global}} {
		if (x.prog.traced || op.tensor != nil) && v.global {
			continue
		}
		if v.value%16 != 0 {
			x.fail(in, BulkAlignment, l, "%s: the %s %#x is not a multiple of 16 (PTX ISA 9.7.9.25.4)",
				in.ir.Op(), v.what, v.value)
			return false
		}
		if (op.box != nil || op.tensor != nil) && v.what != "size" && v.value%128 != 0 {
			x.fail(in, BulkAlignment, l, "%s: the %s %#x is not a multiple of 128, as copies of tensors "+
				"need it (CUDA C++ Programming Guide, \"Using TMA to transfer multi-dimensional arrays\")",
				in.ir.Op(), v.what, v.value)
			return false
		}
	}
	if x.prog.traced || op.tensor != nil {
		return x.bulkShared(in, l, use, to, from, size)
	}
	if !x.bulkInside(in, l, use.To, to, size, "write") ||
		!x.bulkInside(in, l, use.From, from, size, "read") {
		return false
	}
	return x.apartFromObjects(in, l, to, from, size)
}

// bulkShared checks the range in shared memory of an operation: of one in a trace, which does not
// know addresses of global memory, or of a copy of a tensor.
func (x *exec) bulkShared(in *inst, l int, use *isa.BulkUse, to, from, size uint64) bool {
	shared, what := from, "read"
	if use.To == event.Shared {
		shared, what = to, "write"
	}
	if use.To == use.From && !x.bulkInside(in, l, event.Shared, from, size, "read") {
		return false // both blocks have memory of one size
	}
	return x.bulkInside(in, l, event.Shared, shared, size, what) &&
		x.apartFromObjects(in, l, to, from, size)
}

// apartFromObjects reports whether what an operation accesses in shared memory has no live mbarrier
// in it: its source in the block of its thread, and its destination.
func (x *exec) apartFromObjects(in *inst, l int, to, from, size uint64) bool {
	use := &in.misc.bulk.use
	return (use.From != event.Shared || x.outsideObjects(in, l, x.ownBlock(), from, size)) &&
		(use.To != event.Shared || x.outsideObjects(in, l, x.block, to, size))
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
	if a.tensor != nil {
		x.readTensor(a)
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
			own := x.block
			x.block = a.home
			x.forgetShared(a.to, a.size, a.in)
			if a.op.use.Answer {
				x.answers(a.home, a.to, a.data, a.in.misc.origin)
			}
			x.block = own
		}
		return
	}
	if a.tensor != nil {
		x.writeTensor(a)
		return
	}
	if a.op.use.To == event.Shared {
		x.writeShared(a)
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

// writeShared writes the destination of an operation in the shared memory of some block.
func (x *exec) writeShared(a *agent) {
	at := a.home.shared[a.to:]
	if a.op.rmw == nil {
		copy(at, a.data)
		return
	}
	for i := uint64(0); i < a.size; i += a.op.elem.size {
		a.op.elem.modify(a.op.rmw, at[i:], loadUint(a.data[i:], a.op.elem.size), 0)
	}
}

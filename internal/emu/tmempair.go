package emu

import (
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Pairs of blocks in tensor memory, .cta_group::2 (PTX ISA 9.7.16.5): blocks of a cluster whose
// ranks differ in the last bit only. An operation of one thread acts on the tensor memory of both,
// at the same cells, and reads the shared memory of both, at the same addresses.
//
// Allocations, their ends, and giving up the permit are operations of two warps, one of each block.
// "The first warp to perform the operation could block until the second warp in the peer CTA also
// performs the operation" (table 46). Here it always does, so that a pair that may hang does (table
// 48); that it may not block is why nobody is ordered behind the other warp.

// pairKind is what two warps do together. The operation is done by the second one.
type pairKind struct {
	check func(x *exec, in *inst, p *pairRequest) bool // of each warp, before it waits
	// do performs the operation. It reports false if it has to wait for columns.
	do func(x *exec, in *inst, p [2]*pairRequest) bool
}

// pairRequest is the operation for which a warp waits. Its lanes wait behind the instruction at
// which they have come together.
type pairRequest struct {
	in      *ir.Instr
	kind    *pairKind
	warp    *warp
	home    *block
	site    event.Site
	column  uint32 // to free
	columns uint32
	addr    uint64 // where the address is written
}

var (
	allocatePair = &pairKind{check: (*exec).checkPairAllocation, do: (*exec).allocateTogether}
	freePair     = &pairKind{check: (*exec).checkPairEnd, do: (*exec).freeTogether}
	giveUp       = &pairKind{do: func(x *exec, _ *inst, p [2]*pairRequest) bool {
		for _, r := range p {
			r.home.tensorOf().relinquished = r.in
		}
		x.pairSync(p, event.TensorPermit, 0)
		return true
	}}
)

// rank returns the number of a block in its cluster.
func (c *cluster) rank(b *block) int { return slices.Index(c.blocks, b) }

// pairOf returns the other block of the pair of an instruction; nil of .cta_group::1. It reports
// false, and ends the run, if there is none, or if all of its threads have ended (PTX ISA 9.7.16.5).
func (x *exec) pairOf(in *inst, l int) (*block, bool) {
	op := in.misc.tmem
	if op.group != 2 {
		return nil, true
	}
	kind := TensorOperand
	if op.pair != nil {
		kind = TensorAllocation
	}
	c := x.block.cluster
	if c == nil {
		x.fail(in, kind, l, "%s with .cta_group::2 by %s, which is not in a cluster: a pair are two "+
			"blocks of a cluster (PTX ISA 9.7.16.5.1)", in.ir.Op(), x.blockText(x.block))
		return nil, false
	}
	rank := c.rank(x.block)
	if rank^1 >= len(c.blocks) {
		x.fail(in, kind, l, "%s with .cta_group::2 by %s: the cluster has no block of rank %d, with "+
			"which it would form a pair (PTX ISA 9.7.16.5.1)", in.ir.Op(), x.blockText(x.block), rank^1)
		return nil, false
	}
	b := c.blocks[rank^1]
	if b.live == 0 {
		x.fail(in, PeerExited, l, "%s with .cta_group::2 needs %s, whose threads have all ended (PTX "+
			"ISA 9.7.16.5)", in.ir.Op(), x.blockText(b))
		return nil, false
	}
	return b, true
}

// tensorBlocks returns the blocks that an operation acts on, by rank, and adds the cells of the
// other one to those at hand.
func (x *exec) tensorBlocks(in *inst, l int) ([]*block, bool) {
	b, ok := x.pairOf(in, l)
	if b == nil {
		return []*block{x.block}, ok
	}
	for _, r := range x.evs.rects {
		r.Peer = event.PeerOf(b.id)
		x.evs.rects = append(x.evs.rects, r)
	}
	if x.block.cluster.rank(b)&1 == 0 {
		return []*block{b, x.block}, true
	}
	return []*block{x.block, b}, true
}

// otherOf returns the block of an operation that is not the one at hand; 0 if there is none.
func (x *exec) otherOf(blocks []*block) event.Peer {
	for _, b := range blocks {
		if b != x.block {
			return event.PeerOf(b.id)
		}
	}
	return 0
}

// blockAt returns the one of the blocks of an operation whose cells a rectangle has.
func (x *exec) blockAt(r *event.TensorRect, blocks []*block) *block {
	for _, b := range blocks {
		if r.Peer != 0 && b != x.block {
			return b
		}
	}
	return x.block
}

// markEach says of the rectangles at hand that their values are not computed.
func (x *exec) markEach(blocks []*block, by *ir.Instr) {
	for _, b := range blocks {
		b.tensor.mark(x.evs.rects, by)
	}
}

// eachReads is readsMatrix for each block of an operation.
func (x *exec) eachReads(in *inst, blocks []*block, f *event.Footprint) bool {
	for _, b := range blocks {
		if b == x.block {
			if !x.readsMatrix(in, f) {
				return false
			}
			continue
		}
		x.reach(b)
		ok := x.readsMatrix(in, f)
		x.comeHome()
		if !ok {
			return false
		}
	}
	return true
}

// together emits an operation of two warps. from are its operands: an address and a number of
// columns, or nothing.
func (c *compiler) together(in *ir.Instr, op *tmemOp, from []src, kind *pairKind) {
	op.pair = kind
	c.tensorInst(in, op, from, nil, (*exec).requestPair)
	c.control(inst{guard: c.guard(), misc: &miscOp{tmem: op}, run: (*exec).awaitPair})
}

// requestPair notes what the warp at hand asks for, once its lanes have come together, and does it
// if a warp of the other block waits for that.
func (x *exec) requestPair(in *inst, m uint32) {
	if m&1 == 0 {
		return
	}
	op, b := in.misc.tmem, x.block
	other, ok := x.pairOf(in, 0)
	if !ok {
		return
	}
	r := &pairRequest{in: in.ir, kind: op.pair, warp: x.warp, home: b, site: x.site(in)}
	if op.pair.check != nil && !op.pair.check(x, in, r) {
		return
	}
	for i := range b.warps {
		if w := &b.warps[i]; w.pair != nil {
			x.fail(in, Unsupported, 0, "%s while warp %d of the block waits at %s %s for the other "+
				"block of the pair: which of the two comes first is not modelled", in.ir.Op(), w.index,
				w.pair.in.Op(), lineText(w.pair.in))
			return
		}
	}
	x.warp.pair = r
	x.wrote, x.changed = true, true
	x.tryPair(in, b, other)
}

// tryPair performs what warps of two blocks ask for, if it is the same and can be done.
func (x *exec) tryPair(in *inst, b, other *block) {
	var p [2]*pairRequest
	for i, home := range [...]*block{b, other} {
		for j := range home.warps {
			if r := home.warps[j].pair; r != nil {
				p[i] = r
			}
		}
	}
	if p[0] == nil || p[1] == nil || p[0].kind != p[1].kind {
		return
	}
	if !p[0].kind.do(x, in, p) || x.stop != nil {
		return
	}
	x.wrote, x.changed = true, true
	for _, r := range p {
		r.warp.pair = nil
		x.letRun(r.warp, x.take(r.warp, func(g *fragment) bool { return g.wait.kind == atPair }))
	}
}

// awaitPair suspends lanes until the operation of their warp is done.
func (x *exec) awaitPair(in *inst) {
	if x.warp.pair != nil {
		x.suspend(wait{kind: atPair, in: in})
		x.next()
	}
}

// checkPairAllocation checks the operands of tcgen05.alloc.
func (x *exec) checkPairAllocation(in *inst, r *pairRequest) (ok bool) {
	if !x.sameInWarp(in, 1, "the number of columns") || !x.sameInWarp(in, 0, "the address") {
		return false
	}
	r.columns = uint32(x.coll.more[1][0])
	if x.refuses(in, x.block.tensorOf(), r.columns) {
		return false
	}
	r.addr, ok = x.tensorResult(in, &x.coll.more[0], in.misc.tmem.at)
	return ok
}

// agree reports whether two warps ask for the same columns. If not, the run ends.
func (x *exec) agree(in *inst, p [2]*pairRequest) bool {
	a, b := p[0], p[1]
	if a.columns == b.columns && a.column == b.column {
		return true
	}
	text := func(r *pairRequest) string {
		if frees, _ := r.in.TensorFreed(); frees {
			return fmt.Sprintf("%d at %s", r.columns, tensorText(r.column))
		}
		return fmt.Sprint(r.columns)
	}
	x.fail(in, TensorAllocation, 0, "%s of %s columns in %s, and of %s in %s: the blocks of a pair "+
		"perform it together (PTX ISA 9.7.16.7.1)", in.ir.Op(), text(a), x.blockText(a.home), text(b),
		x.blockText(b.home))
	return false
}

// allocateTogether is tcgen05.alloc by the two warps: of the first columns that are free in both
// blocks.
func (x *exec) allocateTogether(in *inst, p [2]*pairRequest) bool {
	if !x.agree(in, p) {
		return false
	}
	n := p[0].columns
	at, ok := p[0].home.tensorOf().freeIn(n, p[1].home.tensorOf())
	if !ok {
		if x.prog.traced {
			x.fail(in, Unsupported, 0, "%s of %d columns has to wait for columns that are free, which a "+
				"trace does not support", in.ir.Op(), n)
		}
		return false
	}
	for _, r := range p {
		t := r.home.tensorOf()
		t.allocated = append(t.allocated, tensorAllocation{column: at, columns: n, site: r.site,
			thread: event.ThreadOf(r.warp.id, 0), named: true})
		t.last = n
		for c := at; c < at+n; c++ {
			t.unknown[c] = nil
		}
		if in.misc.tmem.computes && t.words == nil {
			t.words = make([]uint32, isa.TensorLanes*isa.TensorColumns)
		}
		storeUint(r.home.shared[r.addr:], 4, uint64(at))
		if x.unk != nil {
			r.home.setUnknown(r.addr, 4, false)
		}
	}
	x.pairSync(p, event.TensorAllocate, at)
	return true
}

// freeIn is free for a pair of blocks.
func (t *tensorMemory) freeIn(n uint32, other *tensorMemory) (uint32, bool) {
	for at := uint32(0); at+n <= isa.TensorColumns; at += isa.TensorUnit {
		if !t.overlaps(at, n) && !other.overlaps(at, n) {
			return at, true
		}
	}
	return 0, false
}

// checkPairEnd checks the operands of tcgen05.dealloc.
func (x *exec) checkPairEnd(in *inst, r *pairRequest) bool {
	if !x.sameInWarp(in, 0, "the address") || !x.sameInWarp(in, 1, "the number of columns") {
		return false
	}
	r.column, r.columns = uint32(x.coll.more[0][0]), uint32(x.coll.more[1][0])
	t := x.block.tensorOf()
	if t.allocationAt(r.column, r.columns) < 0 {
		x.notAllocated(in, t, r.column, r.columns)
		return false
	}
	return true
}

// allocationAt returns the number of an allocation; -1 if there is none.
func (t *tensorMemory) allocationAt(column, columns uint32) int {
	return slices.IndexFunc(t.allocated, func(a tensorAllocation) bool {
		return a.column == column && a.columns == columns
	})
}

// freeTogether is tcgen05.dealloc by the two warps.
func (x *exec) freeTogether(in *inst, p [2]*pairRequest) bool {
	if !x.agree(in, p) {
		return false
	}
	for _, r := range p {
		t := r.home.tensorOf()
		t.end(t.allocationAt(r.column, r.columns))
	}
	x.pairSync(p, event.TensorFree, p[0].column)
	return true
}

// pairSync sends the events of an operation of two warps.
func (x *exec) pairSync(p [2]*pairRequest, step event.TensorStep, column uint32) {
	if x.sink == nil {
		return
	}
	for i, r := range p {
		x.evs.tensorSync = event.TensorSync{Warp: r.warp.id, Site: r.site, Mask: full, Active: full,
			Step: step, Addr: r.addr, Column: uint16(column), Columns: uint16(r.columns),
			Pair: event.PeerOf(p[1-i].home.id), More: i == 0}
		x.sink.TensorSync(&x.evs.tensorSync)
	}
}

// pairWait says what a warp waits for.
func (x *exec) pairWait(r *pairRequest) string {
	c := r.home.cluster
	other := c.blocks[c.rank(r.home)^1]
	for i := range other.warps {
		if q := other.warps[i].pair; q != nil && q.kind == r.kind { // for which there is no room
			return fmt.Sprintf("%d free columns of tensor memory: %s", r.columns,
				r.home.tensorOf().text())
		}
	}
	return fmt.Sprintf("%s, which executes no %s with it", x.blockText(other), r.in.Op())
}

package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/slice"
)

// Copies and mbarriers in a trace. The bytes that a copy brings from global memory are unknown, and
// its addresses there are not needed. What decides who synchronizes with whom must be known: the
// object, the counts and bytes, the phase of a wait, and addresses in shared memory.

// forgetShared makes n bytes of shared memory unknown. With made-up inputs they get a value that
// their address determines.
func (x *exec) forgetShared(addr, n uint64, in *inst) {
	b := x.block
	if x.unk == nil {
		if !x.prog.madeUp {
			return
		}
		for i := addr; i < addr+n; i++ {
			b.shared[i] = byte(mix(i))
		}
		return
	}
	b.overwriteAnswers(addr, n)
	b.origin = in.misc.origin
	for i := addr; i < addr+n; {
		if i%64 == 0 && i+64 <= addr+n {
			b.unk[i/64] = ^uint64(0)
			i += 64
			continue
		}
		b.unk[i/64] |= 1 << (i % 64)
		i++
	}
}

// originOfCopy is the origin of the bytes that a copy brings.
func (c *compiler) originOfCopy(in *ir.Instr) uint32 {
	if c.slice == nil || !c.slice.Track {
		return 0
	}
	what := "input: what " + in.Op() + " has copied from global memory"
	if line := c.lineOf(in); line != "" {
		what = fmt.Sprintf("%s at %s", what, line)
	}
	return c.origin(what)
}

// tracedCopy decodes cp.async for a trace: the destination is all that counts, and the source size
// if it may be above the copy size.
func (c *compiler) tracedCopy(in *ir.Instr, op *copyOp) error {
	op.to.mem = &memOp{kind: event.Write, space: event.Shared, wide: op.size}
	op.to.ir, op.to.index = in, int32(in.Index)
	if err := c.address(in.Src[0], &op.to, op.to.mem); err != nil {
		return err
	}
	d := inst{guard: c.guard(), run: runTracedCopy, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1},
		misc: &miscOp{copy: op, origin: c.originOfCopy(in)}}
	d.s[0] = op.to.s[0]
	if c.slice.SizesCopy(c.fn, in) {
		var err error
		if d.s[2], err = c.srcOf(*slice.SourceSize(in), isa.U32); err != nil {
			return err
		}
		op.sized = true
	}
	c.emit(d)
	return nil
}

// runTracedCopy sends the event of the copies of all lanes.
func runTracedCopy(x *exec, in *inst) {
	s, op := &x.evs.copied, in.misc.copy
	if x.unk != nil && !x.needs(in, &in.s[0], "the destination of this asynchronous copy") {
		return
	}
	if op.sized && x.unk != nil &&
		!x.needs(in, &in.s[2], "the source size of this asynchronous copy") {
		return
	}
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if op.sized && !x.readsAtMost(in, l, x.src(&in.s[2])[l]&(1<<32-1)) {
			return
		}
		s.to[l] = x.ownOffset((x.src(&in.s[0])[l] + op.to.mem.off) & op.to.mem.amask)
		s.read[l], s.from[l] = 0, 0
		x.addr[l] = s.to[l]
		if x.checkShared(&op.to, 1<<l, survey{or: s.to[l]}) == 0 ||
			!x.outsideObjects(in, l, x.block, s.to[l], op.size) {
			return
		}
		x.forgetShared(s.to[l], op.size, in)
	}
	x.warp.copies.issued++
	x.wrote, x.changed = true, true
	if x.sink != nil {
		x.evs.copy = event.Copy{Warp: x.warp.id, Site: x.site(in), Mask: x.m, Active: x.mask,
			Size: uint8(op.size), To: &s.to, From: &s.from, Read: &s.read}
		x.sink.Copy(&x.evs.copy)
	}
}

// runNeedsObject stops the trace if what an operation on an mbarrier depends on is unknown. Its
// results are known: a state names a phase, and a test is a wait (slice.Slice.Retries).
func runNeedsObject(x *exec, in *inst) {
	op := in.misc.mbar
	if !x.needs(in, &in.s[0], "the address of this mbarrier") {
		return
	}
	what := "the count of " + in.ir.Op()
	switch {
	case op.use.Bytes >= 0:
		what = "the number of bytes of " + in.ir.Op()
	case op.use.Kind == isa.BarrierTest:
		what = "the phase for which " + in.ir.Op() + " waits"
	}
	if op.operand && !x.needs(in, &in.s[1], what) {
		return
	}
	x.unk.results(in, 0, 0, x.m)
	in.base(x, in)
}

// runNeedsBulk is the same for a bulk copy.
func runNeedsBulk(x *exec, in *inst) {
	op := in.misc.bulk
	switch {
	case op.use.To == event.Shared && !x.needs(in, &in.s[0], "the destination of this bulk copy"):
	case op.use.From == event.Shared && !x.needs(in, &in.s[1], "the source of this bulk copy"):
	case !x.needs(in, &in.s[2], "the size of this bulk copy"):
	case op.bar != nil && !x.needs(in, &in.s[3], "the mbarrier of this bulk copy"):
	case op.mask != nil && !x.needs(in, op.mask, "the mask of blocks of this bulk copy"):
	default:
		in.base(x, in)
	}
}

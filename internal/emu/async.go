package emu

import (
	"fmt"
	"math/bits"
	"slices"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Non-bulk asynchronous copies, PTX ISA 9.7.9.25.3. A copy may happen at any time between its issue
// and the wait that covers it. The emulator performs it at one of these two times, chosen by the
// seed, so that different schedules expose both the old and the new bytes to a premature read. A
// copy that is never waited for may never happen.

// copyOp is a decoded cp.async: s[0] is the destination, s[1] the source, s[2] the number of bytes
// to read if sized, ps[0] whether to read none.
type copyOp struct {
	size  uint64 // bytes written
	sized bool
	// the two accesses, for messages; their mem holds the offsets added to the addresses
	to, from inst
}

// groupOp is a decoded commit_group, wait_group or wait_all.
type groupOp struct {
	commit, wait bool
	pending      uint32
}

// copyState holds the copies of a warp that have not been performed.
type copyState struct {
	closed [event.WarpSize]uint32 // groups, by lane
	late   []lateCopy
	issued uint64 // instructions that issued copies
}

// lateCopy is a copy that is performed when it is waited for.
type lateCopy struct {
	in       *inst
	number   uint64 // as in copyState.issued
	mask     uint32
	group    [event.WarpSize]uint32
	to, from alu.Lanes
	read     [event.WarpSize]uint8
}

// reset prepares the state for another block.
func (s *copyState) reset() { s.closed, s.late, s.issued = [event.WarpSize]uint32{}, s.late[:0], 0 }

// copyAsync decodes cp.async. The size is a constant, and limited by the cache operator.
func (c *compiler) copyAsync(in *ir.Instr) error {
	if len(in.Src) < 3 || in.Src[2].Kind != ir.Imm {
		return fmt.Errorf("%s: two addresses and a constant size expected", opcodeText(in))
	}
	op := &copyOp{size: in.Src[2].Val}
	// Exactly one cache operator is required; it decides which sizes are allowed.
	cg, ca := slices.Contains(in.Mods, "cg"), slices.Contains(in.Mods, "ca")
	if cg == ca || op.size != 16 && (cg || op.size != 4 && op.size != 8) {
		return fmt.Errorf("%s of %d bytes: .ca copies 4, 8 or 16 bytes, .cg 16", opcodeText(in), op.size)
	}
	if c.slice != nil {
		return c.tracedCopy(in, op)
	}
	d := inst{guard: c.guard(), run: runCopy, misc: &miscOp{copy: op}, d: [2]int32{-1, -1},
		pd: [2]int32{-1, -1}}
	for i, p := range []*inst{&op.to, &op.from} {
		p.mem = &memOp{kind: event.Write, space: event.Shared, wide: op.size}
		if i == 1 {
			p.mem.kind, p.mem.space = event.Read, event.Global
		}
		p.ir, p.index = in, int32(in.Index)
		if err := c.address(in.Src[i], p, p.mem); err != nil {
			return err
		}
		d.s[i] = p.s[0]
	}
	if err := c.copyOptions(in, &d); err != nil {
		return err
	}
	c.emit(d)
	return nil
}

// copyOptions decodes the optional operands after the size: a number of bytes or a predicate, and a
// cache policy, which has no effect.
func (c *compiler) copyOptions(in *ir.Instr, d *inst) (err error) {
	rest := in.Src[3:]
	if slices.Contains(in.Mods, "L2::cache_hint") {
		if len(rest) == 0 {
			return fmt.Errorf("%s: a cache policy expected", opcodeText(in))
		}
		rest = rest[:len(rest)-1]
	}
	switch {
	case len(rest) == 0:
	case len(rest) > 1:
		return fmt.Errorf("%s: %d operands too many", opcodeText(in), len(rest)-1)
	case c.isPred(rest[0]):
		d.ps[0], err = c.psrcOf(rest[0])
	default:
		d.misc.copy.sized = true
		d.s[2], err = c.srcOf(rest[0], isa.U32)
	}
	return err
}

// copyGroup decodes cp.async.commit_group and the two forms of wait (PTX ISA 9.7.9.25.3). The
// number of groups that may remain is an immediate.
func (c *compiler) copyGroup(in *ir.Instr) error {
	op := &groupOp{}
	switch in.Row.Step {
	case isa.AsyncCommit:
		op.commit = true
	case isa.AsyncWaitAll: // "equivalent to cp.async.commit_group; cp.async.wait_group 0"
		op.commit, op.wait = true, true
	default:
		if len(in.Src) != 1 || in.Src[0].Kind != ir.Imm {
			return fmt.Errorf("%s: a constant number of groups expected", opcodeText(in))
		}
		op.wait, op.pending = true, uint32(min(in.Src[0].Val, 1<<31))
	}
	c.control(inst{run: runCopyGroup, guard: c.guard(), misc: &miscOp{group: op}})
	return nil
}

// runCopy issues the copies of all lanes, and performs them now or at the wait, as a random bit
// decides.
func runCopy(x *exec, in *inst) {
	s := &x.evs.copied
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if !x.copyOperands(in, l, s) {
			if x.stop != nil || x.spec != nil && x.spec.failed {
				return
			}
			x.m &^= 1 << l // an invalid copy is not performed
		}
	}
	if x.m == 0 {
		return
	}
	s.in, s.mask = in, x.m
	w := x.warp
	if late := x.random()&1 != 0; late {
		s.group, s.number = w.copies.closed, w.copies.issued
		w.copies.late = append(w.copies.late, *s)
	} else if !x.copyNow(s, x.m) {
		return
	}
	w.copies.issued++
	x.wrote, x.changed = true, true
	if x.touched != nil {
		x.touchCopy(s)
	}
	if x.sink != nil {
		x.evs.copy = event.Copy{Warp: w.id, Site: x.site(in), Mask: x.m, Active: x.mask,
			Size: uint8(in.misc.copy.size), To: &s.to, From: &s.from, Read: &s.read}
		x.sink.Copy(&x.evs.copy)
	}
}

// copyOperands computes the addresses and the size of one lane's copy. It reports false if the copy
// is invalid, which has been recorded.
func (x *exec) copyOperands(in *inst, l int, s *lateCopy) bool {
	op := in.misc.copy
	size := op.size
	to, from := op.to.mem, op.from.mem
	s.to[l] = x.ownOffset((x.src(&in.s[0])[l] + to.off) & to.amask)
	s.from[l] = (x.src(&in.s[1])[l] + from.off) & from.amask
	// The number of bytes to read: all, an operand, or none if the predicate is true.
	n := size
	switch {
	case op.sized:
		n = x.src(&in.s[2])[l] & (1<<32 - 1)
	case x.psrc(in.ps[0])>>l&1 != 0:
		n = 0
	}
	if !x.readsAtMost(in, l, n) {
		return false
	}
	s.read[l] = uint8(n)
	x.addr[l] = s.to[l]
	if x.checkShared(&op.to, 1<<l, survey{or: s.to[l]}) == 0 ||
		!x.outsideObjects(in, l, x.block, s.to[l], size) {
		return false
	}
	if n == 0 {
		return true
	}
	switch o := x.find(s.from[l]); {
	case o == nil || !o.contains(s.from[l]-o.base, n):
		x.badAddress(&op.from, l, s.from[l])
		return false
	case s.from[l]&(size-1) != 0:
		x.misaligned(&op.from, l, s.from[l])
		return false
	}
	return true
}

// readsAtMost reports whether a copy of n bytes reads no more than it writes. If it does not, its
// behaviour is undefined, which is recorded.
func (x *exec) readsAtMost(in *inst, l int, n uint64) bool {
	if size := in.misc.copy.size; n > size {
		x.fail(in, OutOfBounds, l,
			"asynchronous copy reads %d bytes but writes only %d (PTX ISA 9.7.9.25.3.1)", n, size)
		return false
	}
	return true
}

// copyNow performs the copies of the lanes of m. It reports false if the block must run again.
func (x *exec) copyNow(s *lateCopy, m uint32) bool {
	size := s.in.misc.copy.size
	b := x.block
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		to, n := s.to[l], uint64(s.read[l])
		// The bytes after those that are read are zero.
		bytes := b.shared[to : to+size]
		clear(bytes[n:])
		if x.unk != nil {
			b.setUnknown(to, size, false)
		}
		if n == 0 {
			continue
		}
		o := x.find(s.from[l])
		if x.spec != nil && !x.spec.reads(x, o) {
			return false
		}
		at := s.from[l] & pageMask
		copy(bytes[:n], o.at(s.from[l])[at:])
		if x.unk != nil {
			x.unk.copied(b, to, n, o, o.unknown(s.from[l]), at)
		}
	}
	return true
}

// runCopyGroup closes groups of copies, waits for them, or both.
func runCopyGroup(x *exec, in *inst) {
	op, cs := in.misc.group, &x.warp.copies
	if op.commit {
		for t := x.m; t != 0; t &= t - 1 {
			cs.closed[bits.TrailingZeros32(t)&31]++
		}
	}
	if op.wait && !x.completeCopies(cs, x.m, op.pending) {
		return
	}
	if x.sink != nil {
		x.evs.group = event.CopyGroup{Warp: x.warp.id, Site: x.site(in), Mask: x.m, Active: x.mask,
			Commit: op.commit, Wait: op.wait, Pending: op.pending}
		x.sink.CopyGroup(&x.evs.group)
	}
}

// completeCopies performs the late copies of the lanes of m in all closed groups except the last
// few.
func (x *exec) completeCopies(cs *copyState, m, last uint32) bool {
	still := cs.late[:0]
	for i := range cs.late {
		s := &cs.late[i]
		// A lane's copy is complete if at least last+1 of its groups were closed since.
		done := uint32(0)
		for t := m & s.mask; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			if uint64(s.group[l])+uint64(last) < uint64(cs.closed[l]) {
				done |= 1 << l
			}
		}
		if done != 0 {
			if !x.copyNow(s, done) {
				return false
			}
			x.wrote, x.changed = true, true
			s.mask &^= done
		}
		if s.mask != 0 {
			still = append(still, *s)
		}
	}
	cs.late = still
	return true
}

// copied transfers the unknown bits of the source to the bytes that a copy wrote: n bytes from
// offset at of page p of object o to shared address to. The source is passed as found by the copy,
// to spare a second lookup.
func (t *tracker) copied(b *block, to, n uint64, o *object, p *page, at uint64) {
	for i := range n {
		if p.unknownBits(at+i, 1) != 0 {
			b.setUnknown(to+i, 1, true)
			b.origin = o.unknownFrom()
		}
	}
}

// unknownFrom returns the origin that messages name for unknown contents of the object: that of the
// last unknown value stored, else that of its initial contents.
func (o *object) unknownFrom() uint32 {
	if o.stored != 0 {
		return o.stored
	}
	return o.origin
}

// runNeedsCopy stops the run if an address of a copy, or the number of bytes, is unknown.
func runNeedsCopy(x *exec, in *inst) {
	if !x.needs(in, &in.s[0], "the destination of this asynchronous copy") ||
		!x.needs(in, &in.s[1], "the source of this asynchronous copy") ||
		in.misc.copy.sized && !x.needs(in, &in.s[2], "the size of this asynchronous copy") {
		return
	}
	if u := x.unk.preds[in.ps[0].slot] & x.m; u != 0 {
		x.dependsOn(in, bits.TrailingZeros32(u), "whether this asynchronous copy reads its source",
			x.unk.predOrigin(in.ps[0]))
		return
	}
	in.base(x, in)
}

// handsOver reports whether the kernel may synchronize by halves of proxy fences: "a .release proxy
// fence can form a release sequence that synchronizes with an acquire sequence that contains a
// .acquire proxy fence" (PTX ISA 9.7.13.4), with relaxed operations in between.
func (c *compiler) handsOver() bool {
	has := func(is func(*ir.Instr) bool) bool { return ir.MayExecute(c.p.funcs[0].fn, is) }
	half := func(acquires bool) func(*ir.Instr) bool {
		return func(in *ir.Instr) bool {
			f, ok := in.Fence()
			return ok && f.Proxy == isa.AsyncProxy && f.Release != f.Acquire && f.Acquire == acquires
		}
	}
	return has(half(false)) && has(half(true)) &&
		has(func(in *ir.Instr) bool { return in.Order == event.Relaxed })
}

// proxyFence decodes fence.proxy: between the generic proxy and the async one, or, for aliases,
// between two through which nothing that is executed goes.
func (c *compiler) proxyFence(in *ir.Instr) error {
	f, _ := in.Fence()
	switch {
	case f.Proxy == isa.TensorMapProxy:
		return c.mapFence(in, f)
	case !in.Row.Executable:
		return fmt.Errorf("%s is not supported", opcodeText(in))
	case f.Proxy != isa.AsyncProxy:
		return c.nop(in)
	case f.Release != f.Acquire && c.handsOver():
		return fmt.Errorf("%s: whether it is part of a release or acquire pattern with relaxed "+
			"operations (PTX ISA 9.7.13.4) is not supported", opcodeText(in))
	}
	space, own := f.Space, f.Own
	c.control(inst{guard: c.guard(), run: func(x *exec, in *inst) {
		if x.sink != nil {
			x.evs.proxy = event.ProxyFence{Warp: x.warp.id, Site: x.site(in), Mask: x.m, Active: x.mask,
				Space: space, Own: own}
			x.sink.ProxyFence(&x.evs.proxy)
		}
	}})
	return nil
}

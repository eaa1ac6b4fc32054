package emu

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Requests to cancel a cluster in a trace (docs/theory/phases.md, "Requests to cancel a cluster").
// Which requests of a cluster succeed is a matter of the schedule of the grid. A trace has a script
// for that: the first Options.Requests succeed, and the next one fails. It stands for all
// executions of the cluster in which the answers are these, if one thread of it makes all requests,
// and none behind one that fails. A block without a cluster is one of its own.
//
// Answers are unknown values, since they are opaque, and so are the coordinates in them. But
// whether one says that a cluster was canceled is known, where query_cancel.is_canceled reads it.
// So the 16 bytes that an answer has written are remembered until anything else writes one of them.
// Registers of 64 bits that are loaded from there, or copied from such ones, have the number of the
// answer and the half of it as the origin of their unknown value.

// answerBase is the first origin that is a half of an answer: twice the index in tracker.answers,
// plus the half.
const answerBase = tokenBase + 1<<24

// answered is an answer to a request.
type answered struct {
	granted bool
	origin  uint32 // for messages
}

// originOfAnswer is the origin of what is unknown about an answer.
func (c *compiler) originOfAnswer(in *ir.Instr) uint32 {
	if c.slice == nil || !c.slice.Track {
		return 0
	}
	what := "the schedule of the grid: an answer to clusterlaunchcontrol.try_cancel"
	if in.Action() != isa.ActCancel {
		what = "what " + in.Op() + " reads, which is no complete answer to a request"
	}
	if line := c.lineOf(in); line != "" {
		what = fmt.Sprintf("%s at %s", what, line)
	}
	return c.origin(what)
}

// script returns the outcome of a request that lane l makes in a trace; nil if the trace ends.
func (x *exec) script(in *inst, l int) func() (first uint32, ok bool) {
	c, by := x.ownBlock().ownCluster(), event.ThreadOf(x.warp.id, l)
	switch {
	case c.requests > 0 && c.requester != by:
		x.fail(in, Unsupported, l, "%s by several threads of a block or cluster, which a trace does not "+
			"support: which of them gets an answer that the next one does not get depends on the schedule",
			in.ir.Op())
		return nil
	case c.denied:
		x.fail(in, Unsupported, l, "%s behind a request that fails, of which the block does not know "+
			"that it failed: what the answer is then is not modelled", in.ir.Op())
		return nil
	}
	ok := c.requests < x.opt.Requests
	c.requests++
	c.requester, c.denied = by, !ok
	x.requested = max(x.requested, c.requests)
	// The coordinates are those of some other cluster of the grid: they matter with made-up inputs
	// only.
	first := uint32((uint64(c.blocks[0].id) + c.requests*uint64(x.geo.Ranks())) % x.geo.Blocks())
	return func() (uint32, bool) { return first, ok }
}

// answers remembers the answer that has been written at an address of a block.
func (x *exec) answers(b *block, addr uint64, data []byte, origin uint32) {
	copy(b.shared[addr:], data)
	if x.unk == nil {
		return
	}
	if b.answers == nil {
		b.answers = make(map[uint64]int)
	}
	b.answers[addr] = len(x.unk.answers)
	x.unk.answers = append(x.unk.answers, answered{data[answerBytes-4] != 0, origin})
}

// overwriteAnswers forgets the answers of which one of n bytes is part, because it is written.
func (b *block) overwriteAnswers(off, n uint64) {
	for at := range b.answers {
		if at < off+n && off < at+answerBytes {
			delete(b.answers, at)
		}
	}
}

// loadAnswers gives the registers of a load by the lanes of m their halves of an answer.
func (t *tracker) loadAnswers(x *exec, in *inst, m uint32) {
	if len(x.block.answers) == 0 || in.mem.size != answerBytes/2 || m == 0 {
		return
	}
	for r := m; r != 0; r &= r - 1 {
		if x.addr[lowest(r)] != x.addr[lowest(m)] {
			return
		}
	}
	for i, d := range in.mem.dst {
		at := x.addr[lowest(m)] + uint64(i)*in.mem.size
		n, ok := x.block.answers[at&^(answerBytes-1)]
		if d < 0 || !ok || at%in.mem.size != 0 {
			continue
		}
		t.set(d, m, answerBase+2*uint32(n)+uint32(at/in.mem.size%2), m)
	}
}

// halfOf returns the origin of a register that holds half of an answer in the lanes of m; 0 of
// others.
func (t *tracker) halfOf(s *src, m uint32) uint32 {
	if s.c != nil || s.r < 0 || m&^t.regs[s.r] != 0 || t.origin[s.r] < answerBase {
		return 0
	}
	return t.origin[s.r]
}

// copiedHalf returns halfOf of the source of an instruction that copies 64 bits; 0 of others.
func (x *exec) copiedHalf(in *inst) uint32 {
	if len(x.unk.answers) == 0 || in.ir.Operation() != isa.Move || in.ir.Type.Size() != 8 ||
		in.sources != 1 || in.alu != nil {
		return 0
	}
	return x.unk.halfOf(&in.s[0], x.m)
}

// runTracedIsCanceled reads from a complete answer whether a cluster was canceled. What it reads
// from anything else is unknown.
func runTracedIsCanceled(x *exec, in *inst) {
	if x.unk == nil {
		runIsCanceled(x, in)
		return
	}
	low, high := x.unk.halfOf(&in.misc.vecSrc[0], x.m), x.unk.halfOf(&in.misc.vecSrc[1], x.m)
	if low == 0 || low%2 != 0 || high != low+1 {
		x.setPred(in.pd[0], 0, x.m)
		x.unk.setPred(in.pd[0], x.m, in.misc.origin, x.m)
		return
	}
	a := &x.unk.answers[(low-answerBase)/2]
	if !a.granted && !x.onMaybe() {
		x.ownBlock().refused = true
	}
	x.setPred(in.pd[0], lanesIf(a.granted), x.m)
	x.unk.setPred(in.pd[0], 0, 0, x.m)
}

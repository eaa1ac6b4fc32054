package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Requests to cancel a cluster that has not started, PTX ISA 9.7.13.17, and what is read from their
// answers, 9.7.13.18. An answer is opaque to programs: here it is the coordinates of the first block
// of the canceled cluster and a 1, or all ones and a 0. It is decided when the request is issued,
// and written by an agent, as what st.async stores is.
//
// Which clusters have not started is a matter of the schedule. Half of the grid starts at once, as
// far as blocks are resident, so that requests in small grids succeed too, and one request in eight
// fails although clusters are left: the ISA promises no more than an answer, and what is left then
// starts on its own.
//
// "If the executing CTA has already observed the completion" of a request "as failed", another one
// is undefined (9.7.13.17). A block has observed it when a thread asks an answer that says so
// whether the cluster is canceled; that a phase is complete says nothing about the answer.

// answerBytes is the size of an answer.
const answerBytes = 16

// cancelRequest decodes clusterlaunchcontrol.try_cancel.
func (c *compiler) cancelRequest(in *ir.Instr) error {
	use, _ := in.Bulk()
	if c.slice == nil && c.p.track {
		return fmt.Errorf("%s is not supported in a run with unknown values", opcodeText(in))
	}
	space := event.Generic
	if in.Space == event.Shared {
		space = event.Shared
	}
	op := &bulkOp{use: use, to: &memOp{space: space, wide: answerBytes},
		from: &memOp{space: event.Shared, wide: answerBytes}, bar: &memOp{space: space, wide: 8}}
	d := inst{guard: c.guard(), run: runCancel, misc: &miscOp{bulk: op, origin: c.originOfAnswer(in)},
		d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	if err := c.storedAt(in, op, &d, answerBytes); err != nil {
		return err
	}
	c.p.cancels = true
	c.emit(d)
	return nil
}

// runCancel issues a request of each lane.
func runCancel(x *exec, in *inst) {
	if x.ownBlock().refused {
		x.fail(in, CancelAfterFailure, x.first(), "%s behind a request of which the block has seen that "+
			"it failed: another one is undefined (PTX ISA 9.7.13.17)", in.ir.Op())
		return
	}
	runBulk(x, in)
}

// answer is the answer to a request that lane l issues now; nil if the run ends.
func (x *exec) answer(in *inst, l int) []byte {
	out := make([]byte, answerBytes)
	cancel := x.cancel
	if x.prog.traced {
		if cancel = x.script(in, l); cancel == nil {
			return nil
		}
	}
	if first, ok := cancel(); ok {
		i := x.geo.BlockIndex(first)
		binary.LittleEndian.PutUint32(out, i.X)
		binary.LittleEndian.PutUint32(out[4:], i.Y)
		binary.LittleEndian.PutUint32(out[8:], i.Z)
		out[12] = 1
	} else {
		for i := range out[:12] {
			out[i] = 0xff
		}
	}
	return out
}

// refuses reports whether the two words of an answer say that a request failed. Other contents,
// such as zeros that no request has written, are no answer.
func refuses(low, high uint64) bool { return low == ^uint64(0) && high == 1<<32-1 }

// cancel takes the next cluster from those that have not started, and returns its first block. A
// block without a cluster is one of its own.
func (s *scheduler) cancel() (first uint32, ok bool) {
	n := uint64(s.x.geo.Ranks())
	s.requests++
	if s.blocks-s.next < n || mix(s.opt.Seed^s.requests<<32)%8 == 0 {
		return 0, false
	}
	first = s.number(s.blockAt(s.next))
	s.next += n
	s.done += n
	return first, true
}

// startOfCanceled is how many blocks of a grid start at once in which blocks cancel others.
func (s *scheduler) startOfCanceled() int {
	n := uint64(s.x.geo.Ranks())
	half := (s.blocks/n + 1) / 2 * n
	return int(max(min(uint64(s.opt.Resident), half), 1))
}

// cancelAnswer decodes clusterlaunchcontrol.query_cancel.
func (c *compiler) cancelAnswer(in *ir.Instr) error {
	from, err := c.parts(in.Src[0], isa.B64)
	if err != nil {
		return err
	}
	if len(from) != 2 {
		return fmt.Errorf("%s: an answer in a register of type .b128 expected", opcodeText(in))
	}
	d := inst{guard: c.guard(), run: runMovVector, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1},
		misc: &miscOp{vecSrc: from, width: 64, to: 32}}
	if in.Type == isa.Pred {
		if len(in.Dst) != 1 || !c.isPred(in.Dst[0]) {
			return fmt.Errorf("%s: a predicate to write to expected", opcodeText(in))
		}
		d.pd[0], d.run = c.fc.slots[in.Dst[0].Reg], runIsCanceled
		if c.slice != nil {
			d.run = runTracedIsCanceled
			d.misc.unknown, d.misc.origin = true, c.originOfAnswer(in)
		}
		c.emit(d)
		return nil
	}
	n := max(int(in.Vec), 1)
	to, err := c.destinations(in.Dst[0], n)
	if err != nil {
		return err
	}
	if n == 1 {
		at := slices.IndexFunc([]string{"x", "y", "z"}, func(dim string) bool {
			return slices.Contains(in.Mods, "get_first_ctaid::"+dim)
		})
		to = slices.Insert(to, 0, slices.Repeat([]int32{-1}, at)...)
	}
	d.misc.vecDst = to
	c.emit(d)
	return nil
}

// runIsCanceled reads from answers whether a cluster was canceled.
func runIsCanceled(x *exec, in *inst) {
	canceled := uint32(0)
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		low, high := x.src(&in.misc.vecSrc[0])[l], x.src(&in.misc.vecSrc[1])[l]
		if high>>32 != 0 {
			canceled |= 1 << l
		} else if refuses(low, high) {
			x.ownBlock().refused = true
		}
	}
	x.setPred(in.pd[0], canceled, x.m)
}

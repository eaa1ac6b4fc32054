package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// discardBytes is the only size of a discard, and the alignment of its address (PTX ISA 9.7.9.17).
const discardBytes = 128

// discard decodes discard, PTX ISA 9.7.9.17: "semantically, this behaves like a weak write of an
// unstable indeterminate value". It is performed as stores of unknown values that cover its bytes.
// The memory of a program has no unknown bytes, so that these are bits of chance there.
func (c *compiler) discard(in *ir.Instr) error {
	if len(in.Src) != 2 || in.Src[1].Kind != ir.Imm || in.Src[1].Val != discardBytes {
		return fmt.Errorf("%s: an address and the size %d expected", opcodeText(in), discardBytes)
	}
	value := src{r: c.hidden()}
	if c.mapped == nil {
		c.unknownInto(psrc{xor: full}, value.r, c.origin("memory that has been discarded"), false)
	}
	m := &memOp{space: in.Space, kind: event.Write, scope: in.Scope, size: 8, wide: discardBytes,
		elem: 8}
	d := inst{run: runDiscard, guard: c.guard(), mem: m}
	if err := c.address(in.Src[0], &d, m); err != nil {
		return err
	}
	part := *m
	part.wide, part.src = discardPart, []src{value, value, value, value}
	d.misc = &miscOp{part: &inst{mem: &part}}
	at := &c.fc.code[c.control(d)]
	at.misc.part.pc, at.misc.part.ir, at.misc.part.index = at.pc, at.ir, at.index
	return nil
}

// discardPart is the size of one of the stores, the largest that there is.
const discardPart = 32

// runDiscard performs a discard. An address outside global memory is undefined; it is reported as
// one that belongs to no object.
func runDiscard(x *exec, in *inst) {
	x.effective(in)
	m := x.m
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if _, _, _, ok := x.lane(in, l); ok {
			continue
		}
		if !x.skip(in, l) {
			return
		}
		m &^= 1 << l
	}
	if m == 0 {
		return
	}
	part := in.misc.part
	value := &x.regs[part.mem.src[0].r]
	for off := 0; off < discardBytes && x.stop == nil; off += discardPart {
		for t := m; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			value[l] = mix(x.addr[l] + x.steps<<40 + uint64(x.warp.id)<<5 + uint64(l))
		}
		storeGlobal(x, part, m, x.survey(m))
		for t := m; t != 0; t &= t - 1 {
			x.addr[bits.TrailingZeros32(t)&31] += discardPart
		}
	}
}

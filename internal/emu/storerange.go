package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// st.bulk, PTX ISA 9.7.9.13: each thread writes zeros to a range of the shared memory of its block.
// The writes are weak ones of the generic proxy, complete when the instruction is, so that they are
// performed and reported as ordinary stores are, as wide as the addresses of the warp allow.

// maxStoreRange is the largest size of a range.
const maxStoreRange = 1 << 24

// storeRange decodes st.bulk.
func (c *compiler) storeRange(in *ir.Instr) error {
	if len(in.Src) != 3 || in.Src[2].Kind != ir.Imm || in.Src[2].Val != 0 {
		return fmt.Errorf("%s: an address, a size and the constant 0 expected", opcodeText(in))
	}
	elsewhere := notShared("9.7.9.13")
	m := &memOp{space: spaceOf(in), kind: event.Write, size: 1, wide: 1, elem: 1, global: elsewhere,
		private: elsewhere, shared: storeRangeShared}
	d := inst{guard: c.guard(), mem: m, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}, run: runGeneric}
	if err := c.address(in.Src[0], &d, m); err != nil {
		return err
	}
	if m.space == event.Shared {
		d.run = runShared
	}
	if c.clustered() {
		m.shared = inCluster(true, m.shared)
	}
	var err error
	if d.s[1], err = c.srcOf(in.Src[1], isa.NoType); err != nil {
		return err
	}
	mask := ^uint64(0)
	if o := in.Src[1]; o.Kind == ir.Register && c.fn.Regs[o.Reg].Type.Size() == 4 {
		mask = 1<<32 - 1
	}
	d.s[2] = src{c: c.constant(mask)}
	m.src = []src{{c: c.constant(0)}}
	c.emit(d)
	return nil
}

// storeRangeShared writes zeros to the ranges of the lanes of m, which begin at x.addr.
func storeRangeShared(x *exec, in *inst, m uint32, s survey) {
	if x.unk != nil {
		if u, o := x.unk.ofSrc(&in.s[1]); u&m != 0 {
			x.dependsOn(in, bits.TrailingZeros32(u&m), "the size of "+in.ir.Op(), o)
			return
		}
	}
	size, from := *x.src(&in.s[1]), x.addr
	var most, all uint64
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		size[l] &= in.s[2].c[0]
		if n := size[l]; n%8 != 0 || n > maxStoreRange {
			x.fail(in, Misaligned, l, "%s of %d bytes: the size has to be a multiple of 8 and at most %d "+
				"(PTX ISA 9.7.9.13)", in.ir.Op(), n, maxStoreRange)
			return
		}
		all |= from[l] | size[l]
	}
	if m = x.rangesInside(in, m, &size); m == 0 {
		return
	}
	for t := m; t != 0; t &= t - 1 {
		most = max(most, size[bits.TrailingZeros32(t)&31])
	}
	// Stores of a width that divides all addresses and sizes, the last of which may be of fewer lanes.
	mo := *in.mem
	mo.wide = uint64(1) << min(bits.TrailingZeros64(all|32), 5)
	mo.size = min(mo.wide, 8)
	mo.elem = mo.size
	for k := mo.size; k < mo.wide; k += mo.size {
		mo.src = append(mo.src[:len(mo.src):len(mo.src)], mo.src[0])
	}
	store := *in
	store.mem = &mo
	for at := uint64(0); at < most && x.stop == nil; at += mo.wide {
		lanes := uint32(0)
		for t := m; t != 0; t &= t - 1 {
			if l := bits.TrailingZeros32(t) & 31; at < size[l] {
				lanes |= 1 << l
				x.addr[l] = from[l] + at
			}
		}
		storeShared(x, &store, lanes, x.survey(lanes))
	}
}

// rangesInside returns the lanes whose ranges are within shared memory; the others are invalid
// accesses.
func (x *exec) rangesInside(in *inst, m uint32, size *alu.Lanes) uint32 {
	limit := uint64(len(x.block.shared))
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		n := size[l]
		if n == 0 || n <= limit && x.addr[l] <= limit-n {
			continue
		}
		mo := *in.mem
		mo.wide = n
		wide := *in
		wide.mem = &mo
		x.outsideShared(&wide, l, x.addr[l])
		if m &^= 1 << l; !x.skip(in, l) {
			return 0
		}
	}
	return m
}

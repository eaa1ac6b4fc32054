package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Atomic operations on more than one register: vectors, for which "the atomicity is guaranteed
// separately for each of the individual scalar elements", and .b128 (PTX ISA 9.7.13.5, 9.7.13.6).

// isPair reports whether t consists of two 16-bit numbers, each of which is atomic separately.
func isPair(t isa.Type) bool { return t == isa.F16x2 || t == isa.BF16x2 }

// wideAtomic completes the decoding of such an operation, whose address is in d. memOp.elem is the
// size of one atomic unit: 16 bytes for .b128, 2 for packed numbers, else the element of the
// vector. Two accesses that overlap in different units are not atomic to each other, so the
// detector needs the unit.
func (c *compiler) wideAtomic(in *ir.Instr, d inst) error {
	// Sizes are in bytes.
	m, size := d.mem, in.Type.Size()
	n := max(int(in.Vec), 1)
	m.elem = uint64(size)
	switch {
	// A .b128 value is in two registers; the operations are exchange and compare-and-swap.
	case size == 16:
		size, n = 8, 2
		if m.cas = in.Fn == isa.FnCAS; !m.cas && in.Fn != isa.FnExch {
			return fmt.Errorf("%s is not supported", opcodeText(in))
		}
	case m.space == event.Shared:
		return fmt.Errorf("%s: vectors are atomic in global memory only", opcodeText(in))
	default:
		if isPair(in.Type) {
			m.elem = 2
		}
		if m.rmw = rmwOf(in.Fn, in.Type, in.Space); m.rmw == nil || !in.Type.IsFloat() {
			return fmt.Errorf("%s is not supported", opcodeText(in))
		}
	}
	m.size, m.wide = uint64(size), uint64(size*n)
	operands := 1 + int(b2u(m.cas))
	if len(in.Src) < 1+operands {
		return fmt.Errorf("%s: %d operands where %d are expected", opcodeText(in), len(in.Src)-1,
			operands)
	}
	for _, o := range in.Src[1 : 1+operands] {
		list, err := c.elements(o, n, in.Type)
		if err != nil {
			return err
		}
		m.src = append(m.src, list...)
	}
	// A store through the sink discards a value, but there is none to read.
	for _, s := range m.src {
		if s.c == nil && s.r < 0 {
			return fmt.Errorf("%s: the sink _ cannot be read", opcodeText(in))
		}
	}
	for range n {
		m.dst = append(m.dst, -1)
	}
	if len(in.Dst) == 1 && in.Dst[0].Kind != ir.None {
		var err error
		if m.dst, err = c.destinations(in.Dst[0], n); err != nil {
			return err
		}
	}
	m.global, m.shared = atomicWideGlobal, atomicWideShared
	return c.finishMem(in, d)
}

// atomicWideGlobal performs the operations on global memory, lane by lane.
func atomicWideGlobal(x *exec, in *inst, m uint32, _ survey) {
	stored := uint32(0)
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		p, o, at, ok := x.lane(in, l)
		if !ok {
			if m &^= 1 << l; x.skip(in, l) {
				continue
			}
			return
		}
		if x.unk != nil {
			u := o.unknown(x.addr[l])
			ok := x.unk.atomicWide(x, in, l, o.unknownFrom(), p[at:],
				func(off, n uint64) bool { return u.unknownBits(at+off, n) != 0 },
				func(off, n uint64, un bool, origin uint32) {
					x.setUnknown(in, l, o, x.addr[l]+off, n, un, origin)
				})
			if !ok || x.stop != nil {
				return
			}
		}
		if x.updateWide(in, l, p[at:]) {
			stored |= 1 << l
		}
	}
	if m != 0 {
		x.access(in, m, event.Global, stored)
	}
}

// atomicWideShared performs the operations on shared memory: .b128 only. A generic address decides
// the space at run time, so a vector that reaches shared memory fails here and not in decoding.
func atomicWideShared(x *exec, in *inst, m uint32, s survey) {
	if in.ir.Vec > 1 {
		x.fail(in, OutOfBounds, bits.TrailingZeros32(m),
			"%s of shared memory: vectors are atomic in global memory only (PTX ISA 9.7.13.5)", in.mem.kind)
		return
	}
	if m = x.checkShared(in, m, s); m == 0 {
		return
	}
	stored := uint32(0)
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		a, blk := x.addr[l], x.block
		if x.unk != nil {
			ok := x.unk.atomicWide(x, in, l, blk.origin, blk.shared[a:],
				func(off, n uint64) bool { return blk.anyUnknown(a+off, n) },
				func(off, n uint64, u bool, origin uint32) {
					if blk.setUnknown(a+off, n, u); u {
						blk.origin = origin
					}
				})
			if !ok {
				return
			}
		}
		if x.updateWide(in, l, blk.shared[a:]) {
			stored |= 1 << l
		}
	}
	x.access(in, m, event.Shared, stored)
}

// updateWide performs one lane's operation on its bytes: up to 8 elements, each in a register of
// its own. It reports whether the lane wrote. An operation that leaves memory as it was counts as
// polling, as in update.
func (x *exec) updateWide(in *inst, l int, b []byte) bool {
	mo := in.mem
	n := len(mo.dst)
	// First read all elements: a compare-and-swap writes only if all of them are equal.
	mask := ^uint64(0) >> (64 - 8*mo.size)
	var old, now [8]uint64
	write := true
	for i := range n {
		old[i] = loadUint(b[uint64(i)*mo.size:], mo.size)
		now[i] = x.src(&mo.src[i])[l] & mask
		write = write && (!mo.cas || old[i] == now[i])
	}
	for i := range n {
		switch {
		case mo.cas && write:
			now[i] = x.src(&mo.src[n+i])[l]
		case mo.cas:
			now[i] = old[i]
		case mo.rmw != nil:
			now[i] = mo.rmw(old[i], now[i], 0) & mask
		}
	}
	if now != old || mo.kind == event.Reduce {
		x.wrote, x.changed = true, true
	} else {
		x.poll(in)
	}
	for i := range n {
		storeUint(b[uint64(i)*mo.size:], mo.size, now[i])
		if r := mo.dst[i]; r >= 0 {
			x.regs[r][l] = old[i]
		}
	}
	return write
}

// atomicWide propagates unknown bits through one lane's operation, before it is performed. is and
// set read and write the unknown bits of n bytes at an offset from the location; from is the origin
// of its unknown contents. It returns false if the run stops: whether a compare-and-swap on unknown
// values succeeds decides what memory contains, which no bit per value can express. An exchange
// replaces what was unknown; any other operation keeps it. The callbacks hide whether the location
// is in a page of global or in shared memory, which is why there are more than five parameters.
func (t *tracker) atomicWide(x *exec, in *inst, l int, from uint32, b []byte,
	is func(off, n uint64) bool,
	set func(off, n uint64, u bool, origin uint32)) bool {
	mo := in.mem
	n := len(mo.dst)
	var old [8]bool
	// The operation is known to write, to fail, or neither; only the first two can continue.
	same := true
	for i := range n {
		off := uint64(i) * mo.size
		old[i] = is(off, mo.size)
		operand, o := t.elem(mo, i, l)
		if mo.cas {
			if operand || old[i] {
				x.dependsOn(in, l, "whether this compare-and-swap succeeds", pickOrigin(operand, o, from))
				return false
			}
			same = same && binary.LittleEndian.Uint64(b[off:]) == x.src(&mo.src[i])[l]
			continue
		}
		set(off, mo.size, operand || old[i] && mo.rmw != nil, pickOrigin(operand, o, from))
	}
	for i := range n {
		if mo.cas && same {
			u, o := t.elem(mo, n+i, l)
			set(uint64(i)*mo.size, mo.size, u, o)
		}
	}
	// The destinations come last: one may also be an operand, whose unknown bits are needed above. The
	// caller performs the operation on the values only.
	for i, r := range mo.dst {
		if r >= 0 {
			t.set(r, lanesIf(old[i]), from, 1<<l)
		}
	}
	return true
}

// pickOrigin returns a if first is set, else b.
func pickOrigin(first bool, a, b uint32) uint32 {
	if first {
		return a
	}
	return b
}

package emu

import (
	"math/bits"

	"heddle/internal/isa"
)

// Unknown bytes of memory. Each store, load and atomic transfers the unknown bits between registers
// and memory. The origin is kept once for an object or a block's shared memory: it is that of the
// last unknown value stored, and only used in messages.

// obscure gives the unknown parts of a store distinct bits, so that a consumer of the event who
// compares values never finds two unknown ones equal.
func (t *tracker) obscure(x *exec, mo *memOp, m uint32) {
	for i := range mo.src {
		u, _ := t.ofSrc(&mo.src[i])
		at := uint64(i) * mo.size
		mask := ^uint64(0) >> (64 - 8*mo.size) << (8 * (at % 8))
		for u &= m; u != 0; u &= u - 1 {
			l := bits.TrailingZeros32(u) & 31
			t.fresh++
			w := &x.data[at/8][l]
			*w = *w&^mask | mix(t.fresh)&mask
		}
	}
}

// loadedGlobal marks a register loaded from an object.
func (t *tracker) loadedGlobal(d int32, l int, o *object, unknown bool) {
	from := o.stored
	if from == 0 {
		from = o.origin
	}
	t.set(d, lanesIf(unknown), from, 1<<l)
}

// lanesIf returns all lanes or none.
func lanesIf(b bool) uint32 {
	if b {
		return full
	}
	return 0
}

// elem returns whether element i of a store is unknown in lane l, and its origin.
func (t *tracker) elem(mo *memOp, i, l int) (bool, uint32) {
	u, o := t.ofSrc(&mo.src[i])
	return u>>l&1 != 0, o
}

// storedGlobal marks the bytes of one lane's store to an object as known or unknown, as its
// operands are. It reports false if the run stops.
func (t *tracker) storedGlobal(x *exec, in *inst, l int, o *object) bool {
	for i := range in.mem.src {
		u, from := t.elem(in.mem, i, l)
		x.setUnknown(in, l, o, x.addr[l]+uint64(i)*in.mem.size, in.mem.size, u, from)
	}
	return x.stop == nil
}

// setUnknown marks n bytes of an object, at an address and within one page, as unknown or known.
// Memory of a program has no unknown bytes, because the program would read them as values: a store
// of one stops the run.
func (x *exec) setUnknown(in *inst, l int, o *object, a, n uint64, unknown bool, from uint32) {
	switch {
	case o.mapped == nil:
		if o.page(a-o.base).setUnknown(a&pageMask, n, unknown); unknown {
			o.stored = from
		}
	case unknown:
		x.dependsOn(in, l, "a value that is stored into "+o.name, from)
	}
}

// anyUnknown reports whether a byte of [off, off+n) of shared memory is unknown.
func (b *block) anyUnknown(off, n uint64) bool {
	for i := off; i < off+n; i++ {
		if b.unk[i>>6]>>(i&63)&1 != 0 {
			return true
		}
	}
	return false
}

// setUnknown marks the bytes of [off, off+n) of shared memory as unknown or known.
func (b *block) setUnknown(off, n uint64, unknown bool) {
	b.overwriteAnswers(off, n)
	for i := off; i < off+n; i++ {
		b.unk[i>>6] &^= 1 << (i & 63)
		if unknown {
			b.unk[i>>6] |= 1 << (i & 63)
		}
	}
}

// loadShared marks the registers of a load from shared memory.
func (t *tracker) loadShared(x *exec, in *inst, m uint32) {
	defer t.loadAnswers(x, in, m)
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		for i, d := range in.mem.dst {
			if d >= 0 {
				t.set(d, lanesIf(x.block.anyUnknown(x.addr[l]+uint64(i)*in.mem.size, in.mem.size)),
					x.block.origin, 1<<l)
			}
		}
	}
}

// storeShared marks the bytes of a store to shared memory. A store that may not happen leaves
// unknown bytes.
func (t *tracker) storeShared(x *exec, in *inst, m uint32) {
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		for i := range in.mem.src {
			u, o := t.elem(in.mem, i, l)
			if x.uncertain(l) {
				u = true
			}
			x.block.setUnknown(x.addr[l]+uint64(i)*in.mem.size, in.mem.size, u)
			if u {
				x.block.origin = o
			}
		}
	}
}

// atomic propagates unknown bits through an atomic operation of lane l on a location with contents
// b, whose unknown bit and origin are given: the callers find them in different kinds of memory. It
// returns whether the new value of the location is unknown, and false if the run stops.
func (t *tracker) atomic(x *exec, in *inst, l int, unknown bool, from uint32, b []byte) (now bool,
	origin uint32, ok bool) {
	mo := in.mem
	operand, o := t.elem(mo, 0, l)
	if in.d[0] >= 0 {
		defer t.set(in.d[0], lanesIf(unknown), from, 1<<l)
	}
	switch {
	case mo.cas:
		if unknown || operand {
			if operand {
				from = o
			}
			x.dependsOn(in, l, "whether this compare-and-swap succeeds", from)
			return false, 0, false
		}
		mask := ^uint64(0) >> (64 - 8*mo.size)
		if u, p := t.elem(mo, 1, l); u && loadUint(b, mo.size) == x.src(&mo.src[0])[l]&mask {
			return true, p, true
		}
		return false, 0, true
	case in.ir.Fn == isa.FnExch:
		return operand, o, true
	case operand:
		return true, o, true
	}
	return unknown, from, true
}

// atomicGlobal propagates unknown bits through an atomic on an object.
func (t *tracker) atomicGlobal(x *exec, in *inst, l int, o *object) bool {
	a, size := x.addr[l], in.mem.size
	was := o.unknown(a).unknownBits(a&pageMask, size) != 0
	u, origin, ok := t.atomic(x, in, l, was, o.unknownFrom(), o.at(a)[a&pageMask:])
	if ok {
		x.setUnknown(in, l, o, a, size, u, origin)
	}
	return ok && x.stop == nil
}

// atomicShared propagates unknown bits through an atomic on shared memory.
func (t *tracker) atomicShared(x *exec, in *inst, l int) bool {
	a, b := x.addr[l], x.block
	u, origin, ok := t.atomic(x, in, l, b.anyUnknown(a, in.mem.size), b.origin, b.shared[a:])
	if ok {
		b.setUnknown(a, in.mem.size, u)
		if u {
			b.origin = origin
		}
	}
	return ok
}

// privateBits returns the unknown bits of a lane's private memory, and the offset of address a in
// them.
func (t *tracker) privateBits(x *exec, l int, a uint64) (bits []bool, off uint64) {
	sp := &x.prog.space
	off = a & (1<<sp.window - 1)
	if sp.windowOf(a) == localWindow {
		return x.warp.localUnk[l*x.warp.localCap : (l+1)*x.warp.localCap], off
	}
	n := x.frame.fn.fn.ParamSize
	return x.frame.parUnk[l*n : (l+1)*n], off
}

// privateUnknown reports whether a byte of private memory is unknown.
func (t *tracker) privateUnknown(x *exec, l int, a, n uint64) bool {
	u, _ := t.privateOrigin(x, l, a, n)
	return u
}

// privateOrigin reports whether one of n bytes of private memory is unknown, and its origin.
func (t *tracker) privateOrigin(x *exec, l int, a, n uint64) (bool, uint32) {
	if x.prog.space.windowOf(a) == paramWindow {
		off := a & (1<<x.prog.space.window - 1)
		for _, o := range x.prog.params.origin[off : off+n] {
			if o != 0 {
				return true, o
			}
		}
		return false, 0
	}
	b, off := t.privateBits(x, l, a)
	for _, u := range b[off : off+n] {
		if u {
			return true, 0
		}
	}
	return false, 0
}

// loadedPrivate marks a register loaded from private memory.
func (t *tracker) loadedPrivate(x *exec, d int32, l int, a, n uint64) {
	u, o := t.privateOrigin(x, l, a, n)
	t.set(d, lanesIf(u), o, 1<<l)
}

// storedPrivate marks the bytes of one lane's store to private memory.
func (t *tracker) storedPrivate(x *exec, in *inst, l int) {
	b, off := t.privateBits(x, l, x.addr[l])
	for i := range in.mem.src {
		u, _ := t.elem(in.mem, i, l)
		u = u || x.uncertain(l)
		for k := range in.mem.size {
			b[off+uint64(i)*in.mem.size+k] = u
		}
	}
}

// setUnknown marks a parameter as unknown in the lanes of u, and as known in the others of m.
func (p place) setUnknown(u, origin, m uint32) {
	if p.v.InReg {
		s := p.slot()
		if p.v.Type == isa.Pred {
			p.f.punk[s] = p.f.punk[s]&^m | u&m
			p.f.origin[p.f.fn.lanes+int(s)] = origin
			return
		}
		p.f.unk[s] = p.f.unk[s]&^m | u&m
		p.f.origin[s], p.f.bits[s] = origin, ^uint64(0)
		return
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		b := p.unknownBytes(l)
		for i := range b {
			b[i] = u>>l&1 != 0
		}
	}
}

// unknownBytes returns the unknown bits of a parameter in memory, for one lane.
func (p place) unknownBytes(l int) []bool {
	n := p.f.fn.fn.ParamSize
	return p.f.parUnk[l*n+p.v.Offset : l*n+p.v.Offset+p.v.Size]
}

// unknown reports whether a byte of the parameter is unknown in one lane.
func (p place) unknown(l int) bool {
	for _, u := range p.unknownBytes(l) {
		if u {
			return true
		}
	}
	return false
}

// copyUnknown copies the unknown bits of a parameter in memory, for one lane.
func (p place) copyUnknown(from place, l int) {
	if p.v.InReg {
		p.setUnknown(lanesIf(from.unknown(l)), 0, 1<<l)
		return
	}
	copy(p.unknownBytes(l), from.unknownBytes(l))
}

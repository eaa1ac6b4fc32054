package emu

import (
	"math/bits"

	"heddle/internal/event"
)

// The slow paths of memory access, lane by lane: lanes in several pages or objects, private memory,
// and everything that is wrong.

// lane finds the memory of one lane of a global or const access. ok is false after a failure.
func (x *exec) lane(in *inst, l int) (p *page, o *object, at uint64, ok bool) {
	a, mo := x.addr[l], in.mem
	o = x.mem.find(a)
	if o == nil || !o.contains(a-o.base, mo.wide) || mo.space == event.Const && !o.isConst() {
		x.badAddress(in, l, a)
		return nil, nil, 0, false
	}
	if a&(mo.wide-1) != 0 {
		x.misaligned(in, l, a)
		return nil, nil, 0, false
	}
	if o.space == event.Const && mo.kind != event.Read {
		x.fail(in, OutOfBounds, l, "%s of %d bytes in constant memory %s", mo.kind, mo.wide, o.name)
		return nil, nil, 0, false
	}
	return o.page(a - o.base), o, (a - o.base) & pageMask, true
}

func (x *exec) loadScattered(in *inst, m uint32) {
	mo := in.mem
	visible := uint32(0)
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		p, o, at, ok := x.lane(in, l)
		if !ok {
			return
		}
		if x.spec != nil && !x.spec.reads(x, o) {
			return
		}
		if o.space == event.Global {
			visible |= 1 << l
		}
		for i, d := range mo.dst {
			if d >= 0 {
				k := at + uint64(i)*mo.size
				x.regs[d][l] = loadUint(p.data[k:], mo.size)
				if x.unk != nil {
					x.unk.loadedGlobal(d, l, o, p.unknownBits(k, mo.size) != 0)
				}
			}
		}
	}
	x.signExtend(mo, m)
	if visible != 0 {
		x.access(in, visible, event.Global, 0)
	}
}

func (x *exec) storeScattered(in *inst, m uint32) {
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		p, o, at, ok := x.lane(in, l)
		if !ok {
			return
		}
		if x.spec != nil {
			x.spec.written[o.id] = true
			continue
		}
		if x.unk != nil {
			x.unk.storedGlobal(x, in, l, o, p, at)
		}
		storeWide(p.data[at:], &x.data, l, in.mem.wide)
	}
	x.access(in, m, event.Global, m)
}

// checkShared reports whether all accesses are aligned and in the block's shared memory.
func (x *exec) checkShared(in *inst, m uint32, s survey) bool {
	wide, size := in.mem.wide, uint64(len(x.block.shared))
	if s.or&(wide-1) == 0 && s.or < size && wide <= size-s.or {
		return true
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		a := x.addr[l]
		if a >= size || wide > size-a {
			x.fail(in, OutOfBounds, l,
				"%s of %d bytes at shared address %#x: the block has %d bytes of shared memory%s",
				in.mem.kind, wide, a, size, x.prog.nearShared(a))
			return false
		}
		if a&(wide-1) != 0 {
			x.misaligned(in, l, a)
			return false
		}
	}
	return true
}

// privateBytes returns the memory of one lane that the window of its address holds. The address
// must be in a window of private memory.
func (x *exec) privateBytes(l int, a uint64) (b []byte, off uint64, what string) {
	sp := &x.prog.space
	off = a & (1<<sp.window - 1)
	switch sp.windowOf(a) {
	case localWindow:
		w := x.warp
		top := x.frame.local + x.frame.fn.fn.LocalSize
		return w.local[l*w.localCap : l*w.localCap+top], off, "local memory"
	case paramWindow:
		return x.prog.params.data, off, "kernel parameters"
	}
	n := x.frame.fn.fn.ParamSize
	return x.frame.params[l*n : (l+1)*n], off, "function parameters"
}

// private finds the bytes of one lane's access to private memory, or nil after a failure.
func (x *exec) private(in *inst, l int) []byte {
	a, wide := x.addr[l], in.mem.wide
	b, off, what := x.privateBytes(l, a)
	if off >= uint64(len(b)) || wide > uint64(len(b))-off {
		x.fail(in, OutOfBounds, l, "%s of %d bytes at offset %d of %d bytes of %s", in.mem.kind, wide,
			off, len(b), what)
		return nil
	}
	if off&(wide-1) != 0 {
		x.misaligned(in, l, off)
		return nil
	}
	return b[off : off+wide]
}

func loadPrivate(x *exec, in *inst, m uint32, _ survey) {
	mo := in.mem
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		b := x.private(in, l)
		if b == nil {
			return
		}
		for i, d := range mo.dst {
			if d < 0 {
				continue
			}
			x.regs[d][l] = loadUint(b[uint64(i)*mo.size:], mo.size)
			if x.unk != nil {
				x.unk.loadedPrivate(x, d, l, x.addr[l]+uint64(i)*mo.size, mo.size)
			}
		}
	}
	x.signExtend(mo, m)
}

func storePrivate(x *exec, in *inst, m uint32, _ survey) {
	x.gather(in.mem, m)
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if x.prog.space.windowOf(x.addr[l]) == paramWindow {
			x.fail(in, OutOfBounds, l, "write of %d bytes to the kernel's parameters, which are constant",
				in.mem.wide)
			return
		}
		b := x.private(in, l)
		if b == nil {
			return
		}
		storeWide(b, &x.data, l, in.mem.wide)
		if x.unk != nil {
			x.unk.storedPrivate(x, in, l)
		}
	}
}

func (x *exec) misaligned(in *inst, l int, a uint64) {
	x.fail(in, Misaligned, l, "%s of %d bytes at address %s is not aligned to %d", in.mem.kind,
		in.mem.wide, x.describe(a), in.mem.wide)
}

// badAddress fails for an address that no access may have.
func (x *exec) badAddress(in *inst, l int, a uint64) {
	kind, wide := in.mem.kind, in.mem.wide
	o := x.mem.find(a)
	switch {
	case o == nil && a < 1<<x.prog.space.window:
		x.fail(in, OutOfBounds, l, "%s of %d bytes at address %#x: null pointer", kind, wide, a)
	case o == nil:
		x.fail(in, OutOfBounds, l, "%s of %d bytes at address %#x, where no memory is", kind, wide, a)
	case o.freed:
		x.fail(in, OutOfBounds, l, "%s of %d bytes at %s, which has been freed", kind, wide,
			x.describe(a))
	case a < o.base:
		x.fail(in, OutOfBounds, l, "%s of %d bytes at %d bytes before the start of %s", kind, wide,
			o.base-a, o.name)
	case in.mem.space == event.Const && !o.isConst():
		x.fail(in, OutOfBounds, l, "%s of constant memory at %s, which is not constant", kind,
			x.describe(a))
	case o.bounded:
		x.fail(in, OutOfBounds, l, "%s of %d bytes at offset %d of %s, which has %d bytes", kind, wide,
			a-o.base, o.name, o.size)
	default:
		x.fail(in, OutOfBounds, l,
			"%s of %d bytes at offset %d of %s: an array without given size is taken to have at most %d bytes",
			kind, wide, a-o.base, o.name, o.size)
	}
}

package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"heddle/internal/event"
)

// The slow paths of memory access, lane by lane: lanes in several pages or objects, private memory,
// and all invalid accesses. Bounds and alignment are checked here with a message for the user; the
// fast paths only decide whether they apply. A lane whose access is invalid is left out (fault.go).

// lane returns the memory of one lane of a global or const access: its page, object and offset in
// the page. An access never crosses pages, since it is aligned and at most 32 bytes. ok is false
// if the access is invalid, which has been recorded.
func (x *exec) lane(in *inst, l int) (p *contents, o *object, at uint64, ok bool) {
	a, mo := x.addr[l], in.mem
	if o = x.mem.own(a); o == nil {
		o = x.findMapped(a)
	}
	if o == nil || !o.contains(a-o.base, mo.wide) || mo.space == event.Const && !o.isConst() {
		x.badAddress(in, l, a)
		return nil, nil, 0, false
	}
	// Natural alignment of the whole access (PTX ISA 6.4.1). Sizes are powers of two.
	if a&(mo.wide-1) != 0 {
		x.misaligned(in, l, a)
		return nil, nil, 0, false
	}
	if o.space == event.Const && mo.kind != event.Read {
		if !x.again(in, OutOfBounds, l) {
			x.fault(in, OutOfBounds, l, "%s of %d bytes in constant memory %s", mo.kind, mo.wide, o.name)
		}
		return nil, nil, 0, false
	}
	return o.at(a), o, a & pageMask, true
}

// loadScattered loads lane by lane. Lanes that read constant memory are not part of the event.
func (x *exec) loadScattered(in *inst, m uint32) {
	mo := in.mem
	// Only lanes that read global memory produce an event.
	visible := uint32(0)
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		p, o, at, ok := x.lane(in, l)
		if !ok {
			if m &^= 1 << l; x.skip(in, l) {
				continue
			}
			return
		}
		// A block that runs ahead must not read what another block may write.
		if x.spec != nil && !x.spec.reads(x, o) {
			return
		}
		if o.space == event.Global {
			visible |= 1 << l
		}
		for i, d := range mo.dst {
			if d >= 0 {
				k := at + uint64(i)*mo.size
				x.regs[d][l] = loadUint(p[k:], mo.size)
				if x.unk != nil {
					x.unk.loadedGlobal(d, l, o, o.unknown(x.addr[l]).unknownBits(k, mo.size) != 0)
				}
			}
		}
	}
	x.signExtend(mo, m)
	if visible != 0 {
		x.access(in, visible, event.Global, 0)
	}
}

// storeScattered stores lane by lane, in lane order: if lanes store to one address, the last one
// wins. PTX leaves the winner open. A block that runs ahead only notes the object; the store is
// repeated when its events are delivered.
func (x *exec) storeScattered(in *inst, m uint32) {
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		p, o, at, ok := x.lane(in, l)
		if !ok {
			if m &^= 1 << l; x.skip(in, l) {
				continue
			}
			return
		}
		if x.spec != nil {
			x.spec.written.add(o.id)
			continue
		}
		if x.unk != nil && !x.unk.storedGlobal(x, in, l, o) {
			return
		}
		storeWide(p[at:], &x.data, l, in.mem.wide)
	}
	if m != 0 {
		x.access(in, m, event.Global, m)
	}
}

// checkShared returns the lanes of m whose accesses are aligned and within the block's shared
// memory; none if the run ends here.
func (x *exec) checkShared(in *inst, m uint32, s survey) uint32 {
	wide, size := in.mem.wide, uint64(len(x.block.shared))
	// The bitwise or is an upper bound of all addresses.
	if s.or&(wide-1) == 0 && s.or < size && wide <= size-s.or {
		return m
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		switch a := x.addr[l]; {
		case a >= size || wide > size-a:
			x.outsideShared(in, l, a)
		case a&(wide-1) != 0:
			x.misaligned(in, l, a)
		default:
			continue
		}
		if m &^= 1 << l; !x.skip(in, l) {
			return 0
		}
	}
	return m
}

// outsideShared records an access outside of the block's shared memory.
func (x *exec) outsideShared(in *inst, l int, a uint64) {
	if x.again(in, OutOfBounds, l) {
		return
	}
	near := x.prog.nearShared(a, in.mem.wide)
	if near.declared != "" {
		x.beyond(in, l, near.bound, "%s of %s, but %s", in.mem.kind, near.text, near.declared)
		return
	}
	x.fault(in, OutOfBounds, l, "%s of %s, outside of the %d bytes of shared memory that the block has",
		in.mem.kind, near.text, len(x.block.shared))
}

// privateBytes returns the private memory of one lane that contains address a, and the offset in
// it. The address must be in a window of private memory.
func (x *exec) privateBytes(l int, a uint64) (b []byte, off uint64, what string) {
	sp := &x.prog.space
	off = a & (1<<sp.window - 1)
	switch sp.windowOf(a) {
	case localWindow:
		w := x.warp
		// A function can access its own local variables and those of its callers, through pointers.
		top := x.localEnd()
		return w.local[l*w.localCap : l*w.localCap+top], off, "local memory"
	case paramWindow:
		return x.prog.params.data, off, "kernel parameters"
	}
	n := x.frame.fn.fn.ParamSize
	return x.frame.params[l*n : (l+1)*n], off, "function parameters"
}

// private returns the bytes of one lane's access to private memory; nil if the access is invalid,
// which has its own message for each kind of memory. Alignment counts from the start of the lane's
// memory, which is aligned to 16 bytes.
func (x *exec) private(in *inst, l int) []byte {
	a, wide := x.addr[l], in.mem.wide
	b, off, what := x.privateBytes(l, a)
	if off >= uint64(len(b)) || wide > uint64(len(b))-off {
		if !x.again(in, OutOfBounds, l) {
			x.fault(in, OutOfBounds, l, "%s of %d bytes at offset %d of %d bytes of %s", in.mem.kind, wide,
				off, len(b), what)
		}
		return nil
	}
	if off&(wide-1) != 0 {
		x.misaligned(in, l, off)
		return nil
	}
	return b[off : off+wide]
}

// allLocal returns the memory of a warp's local variables, if the accesses of all lanes are aligned
// and within them; else nil, and the lanes are handled one by one. The part of lane l begins at
// l*x.warp.localCap, and offsets in it are addresses cut by mask.
func (x *exec) allLocal(mo *memOp, s survey) (b []byte, mask uint64) {
	sp := &x.prog.space
	mask = 1<<sp.window - 1
	if x.unk != nil || s.diff&^mask != 0 || sp.windowOf(s.first) != localWindow {
		return nil, 0
	}
	// The bitwise or is an upper bound of all offsets.
	off, top := s.or&mask, uint64(x.localEnd())
	if off&(mo.wide-1) != 0 || off >= top || mo.wide > top-off {
		return nil, 0
	}
	return x.warp.local, mask
}

// loadPrivate loads from private memory. It sends no event: no other thread can access the bytes,
// so they cannot race.
func loadPrivate(x *exec, in *inst, m uint32, s survey) {
	mo := in.mem
	if b, mask := x.allLocal(mo, s); b != nil {
		x.loadLocal(mo, m, b, mask)
		x.signExtend(mo, m)
		return
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		b := x.private(in, l)
		if b == nil {
			if m &^= 1 << l; x.skip(in, l) {
				continue
			}
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

// loadLocal loads what allLocal has found.
func (x *exec) loadLocal(mo *memOp, m uint32, b []byte, mask uint64) {
	room := uint64(x.warp.localCap)
	for i, d := range mo.dst {
		if d < 0 {
			continue
		}
		r, disp := &x.regs[d], uint64(i)*mo.size
		if mo.size == 4 {
			for t := m; t != 0; t &= t - 1 {
				l := lowest(t)
				r[l] = uint64(binary.LittleEndian.Uint32(b[uint64(l)*room+x.addr[l]&mask+disp:]))
			}
			continue
		}
		for t := m; t != 0; t &= t - 1 {
			l := lowest(t)
			r[l] = loadUint(b[uint64(l)*room+x.addr[l]&mask+disp:], mo.size)
		}
	}
}

// storePrivate stores to private memory, without an event. Kernel parameters are read-only: .param
// of an entry function is constant (PTX ISA 5.1.6.1).
func storePrivate(x *exec, in *inst, m uint32, s survey) {
	x.gather(in.mem, m)
	if b, mask := x.allLocal(in.mem, s); b != nil {
		room := uint64(x.warp.localCap)
		for t := m; t != 0; t &= t - 1 {
			l := lowest(t)
			storeWide(b[uint64(l)*room+x.addr[l]&mask:], &x.data, l, in.mem.wide)
		}
		return
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if x.prog.space.windowOf(x.addr[l]) == paramWindow {
			if !x.again(in, OutOfBounds, l) {
				x.fault(in, OutOfBounds, l,
					"write of %d bytes to the kernel's parameters, which are constant", in.mem.wide)
			}
			if x.skip(in, l) {
				continue
			}
			return
		}
		b := x.private(in, l)
		if b == nil {
			if x.skip(in, l) {
				continue
			}
			return
		}
		storeWide(b, &x.data, l, in.mem.wide)
		if x.unk != nil {
			x.unk.storedPrivate(x, in, l)
		}
	}
}

// misaligned records an access that is not naturally aligned (PTX ISA 6.4.1).
func (x *exec) misaligned(in *inst, l int, a uint64) {
	if x.again(in, Misaligned, l) {
		return
	}
	x.fault(in, Misaligned, l, "%s of %d bytes at address %s is not aligned to %d", in.mem.kind,
		in.mem.wide, x.describe(a), in.mem.wide)
}

// badAddress records an access at an address that is outside every valid object. The cases give the
// user the likely cause: a null pointer, an index below or above an array, a use after free. An
// array of unspecified size has a bound that heddle chose, and the message says so.
func (x *exec) badAddress(in *inst, l int, a uint64) {
	if x.again(in, OutOfBounds, l) {
		return
	}
	// The order of the cases matters: the most specific cause comes first.
	kind, wide := in.mem.kind, in.mem.wide
	if x.mem.arena != nil {
		x.badMapped(in, l, a)
		return
	}
	o := x.find(a)
	switch {
	// Small addresses come from null pointers, perhaps with an offset.
	case o == nil && a < 1<<x.prog.space.window:
		x.fault(in, OutOfBounds, l, "%s of %d bytes at address %#x: null pointer", kind, wide, a)
	case o == nil:
		x.fault(in, OutOfBounds, l, "%s of %d bytes at address %#x, which is not mapped", kind, wide, a)
	case o.freed:
		x.fault(in, OutOfBounds, l, "%s of %d bytes at %s, which has been freed", kind, wide,
			x.describe(a))
	case a < o.base:
		what := fmt.Sprintf("%d bytes at %d bytes before the start of %s", wide, o.base-a, o.name)
		bound := Bound{Index: -1}
		if elem := uint64(o.shape.Elem); len(o.shape.Dims) == 1 && elem == wide && (o.base-a)%elem == 0 {
			bound.Index = -int64((o.base - a) / elem)
			what = fmt.Sprintf("%s[%d]", o.name, bound.Index)
		}
		x.beyond(in, l, bound, "%s of %s", kind, what)
	case in.mem.space == event.Const && !o.isConst():
		x.fault(in, OutOfBounds, l, "%s of constant memory at %s, which is not constant", kind,
			x.describe(a))
	case o.bounded && o.shape.Elem > 0 && len(o.shape.Dims) == 1 && o.size%uint64(o.shape.Elem) == 0:
		elem := uint64(o.shape.Elem)
		what, ok := o.shape.Element(o.name, a-o.base, wide)
		if !ok {
			what = fmt.Sprintf("%d bytes at %s[%d]", wide, o.name, (a-o.base)/elem)
		}
		x.beyond(in, l, Bound{o.size / elem, int64((a - o.base) / elem)},
			"%s of %s, but %s has %d elements of %d bytes", kind, what, o.name, o.size/elem, elem)
	case o.bounded:
		x.fault(in, OutOfBounds, l, "%s of %d bytes at offset %d of %s, which has %d bytes", kind, wide,
			a-o.base, o.name, o.size)
	default:
		x.fault(in, OutOfBounds, l,
			"%s of %d bytes at offset %d of %s: heddle assumes at most %d bytes for an array of "+
				"unspecified size",
			kind, wide, a-o.base, o.name, o.size)
	}
}

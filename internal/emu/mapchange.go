package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/tensormap"
)

// Changes of tensor maps by a kernel: tensormap.replace (PTX ISA 9.7.9.28), whose fields are those
// of the maps that heddle's runtime makes, tensormap.cp_fenceproxy (9.7.13.16), and the fences
// between the generic proxy and that of tensor maps (9.7.13.4). A change is an ordinary access to
// all 128 bytes of the map. In a trace only shared memory has them.

// mapOp is a decoded tensormap.replace or tensormap.cp_fenceproxy. s[0] is the map that it changes,
// s[1] the one that it copies, or the value of a field.
type mapOp struct {
	use      isa.TensorMapUse
	to, from *memOp
	field    tensormap.Field
	ordinal  uint64
	// An access to 32 bytes of a map, of which there are four.
	write, read *memOp
}

// mapPart is the size of the accesses to maps.
const mapPart = 32

// partOf is such an access.
func partOf(kind event.Kind) *memOp {
	m := &memOp{size: 8, wide: mapPart, elem: 8, kind: kind}
	if kind == event.Write {
		m.src = make([]src, mapPart/8) // its values are in exec.data
	}
	return m
}

// tensorMapInstr decodes tensormap.replace and tensormap.cp_fenceproxy.
func (c *compiler) tensorMapInstr(in *ir.Instr) error {
	use, ok := in.TensorMap()
	if !ok {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	if c.slice == nil {
		if err := c.noMaps(in); err != nil {
			return err
		}
	}
	op := &mapOp{use: use, to: &memOp{space: use.Space}, write: partOf(event.Write),
		read: partOf(event.Read), field: tensormap.FieldOf(use.Field)}
	if use.Copies {
		return c.copyMap(in, op)
	}
	d := inst{guard: c.guard(), run: runReplace, misc: &miscOp{tmap: op, origin: c.originOfCopy(in)}}
	if use.Value >= len(in.Src) {
		return fmt.Errorf("%s: a value expected", opcodeText(in))
	}
	if use.Ordinal >= 0 {
		o := in.Src[use.Ordinal]
		if o.Kind != ir.Imm {
			return fmt.Errorf("%s: a constant dimension expected", opcodeText(in))
		}
		op.ordinal = o.Val
	}
	if use.Constant && in.Src[use.Value].Kind != ir.Imm {
		return fmt.Errorf("%s: a constant value expected", opcodeText(in))
	}
	var to inst
	if err := c.address(in.Src[0], &to, op.to); err != nil {
		return err
	}
	typ := isa.B32
	if op.field.Wide() {
		typ = isa.B64
	}
	value, err := c.srcOf(in.Src[use.Value], typ)
	if err != nil {
		return err
	}
	d.s[0], d.s[1] = to.s[0], value
	c.control(d)
	return nil
}

// copyMap decodes tensormap.cp_fenceproxy: the warp comes together, then the map is copied and
// released.
func (c *compiler) copyMap(in *ir.Instr, op *mapOp) error {
	if len(in.Src) != 3 || in.Src[2].Kind != ir.Imm || in.Src[2].Val != tensormap.Size {
		return fmt.Errorf("%s: two addresses and the size %d expected", opcodeText(in), tensormap.Size)
	}
	op.to.space, op.from = event.Global, &memOp{space: event.Shared}
	var to, from inst
	if err := c.address(in.Src[0], &to, op.to); err != nil {
		return err
	}
	if err := c.address(in.Src[1], &from, op.from); err != nil {
		return err
	}
	c.wholeWarp(in, nil, nil, func(*exec, *inst, uint32) {})
	d := inst{guard: c.guard(), run: runCopyMap, misc: &miscOp{tmap: op}}
	d.s[0], d.s[1] = to.s[0], from.s[0]
	c.control(d)
	return nil
}

// mapFence decodes fence.proxy.tensormap::generic.
func (c *compiler) mapFence(in *ir.Instr, f isa.FenceUse) error {
	if f.Release == f.Acquire || f.Scope == event.NoScope {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	d := inst{guard: c.guard(), run: func(x *exec, in *inst) {
		x.fenceMaps(in, x.m, event.MapFence{Release: f.Release, Acquire: f.Acquire, Scope: f.Scope})
	}}
	if f.Release {
		c.control(d)
		return nil
	}
	if f.Address >= len(in.Src) || len(in.Src) != 2 || in.Src[1].Kind != ir.Imm ||
		in.Src[1].Val != tensormap.Size {
		return fmt.Errorf("%s: an address and the size %d expected", opcodeText(in), tensormap.Size)
	}
	if c.slice != nil { // which does not know the address
		c.control(d)
		return nil
	}
	at := &memOp{space: event.Generic}
	var p inst
	if err := c.address(in.Src[f.Address], &p, at); err != nil {
		return err
	}
	d.s[0] = p.s[0]
	d.run = func(x *exec, in *inst) {
		a := x.src(&in.s[0])
		for m := x.m; m != 0; {
			addr := a[bits.TrailingZeros32(m)&31]
			same := uint32(0)
			for t := m; t != 0; t &= t - 1 {
				if l := bits.TrailingZeros32(t) & 31; a[l] == addr {
					same |= 1 << l
				}
			}
			m &^= same
			x.fenceMaps(in, same, event.MapFence{Acquire: true, Scope: f.Scope,
				Addr: (addr + at.off) & at.amask})
		}
	}
	c.control(d)
	return nil
}

// fenceMaps sends the event of a fence of tensor maps.
func (x *exec) fenceMaps(in *inst, m uint32, f event.MapFence) {
	if x.sink != nil {
		x.evs.proxy = event.ProxyFence{Warp: x.warp.id, Site: x.site(in), Mask: m, Active: x.mask, Map: f}
		x.sink.ProxyFence(&x.evs.proxy)
	}
}

// runReplace changes a field of the maps of the lanes.
func runReplace(x *exec, in *inst) {
	op := in.misc.tmap
	value := x.src(&in.s[1])
	for t := x.m; t != 0 && x.stop == nil; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		space, addr, ok := x.mapAddress(in, l, &in.s[0], op.to)
		if !ok {
			return
		}
		if x.prog.traced {
			x.changeTraced(in, l, space, addr, op.write)
			continue
		}
		text := x.mapText(space, addr)
		v := value[l]
		if !op.field.Wide() {
			v &= 1<<32 - 1
		}
		m, err := tensormap.Decode(text)
		if err == nil && m.Im2col != nil {
			err = fmt.Errorf("it is of cuTensorMapEncodeIm2col, and the instruction for .tile")
		} else {
			err = tensormap.Replace(text, op.field, op.ordinal, v)
		}
		if err != nil {
			x.fail(in, OutOfBounds, l, "%s: the tensor map at %s: %v", in.ir.Op(),
				x.mapPlace(space, addr), err)
			return
		}
		x.accessMap(in, l, space, addr, text, op.write)
	}
}

// runCopyMap copies maps and releases the copies. Lanes with equal addresses make one copy, that of
// the first one: the warp executes the instruction as a whole.
func runCopyMap(x *exec, in *inst) {
	op := in.misc.tmap
	type pair struct{ to, from uint64 }
	var done []pair
next:
	for t := x.m; t != 0 && x.stop == nil; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		_, from, ok := x.mapAddress(in, l, &in.s[1], op.from)
		if !ok {
			return
		}
		if x.prog.traced {
			if len(done) == 0 || done[0].from != from {
				done = append(done[:0], pair{0, from})
				x.changeTraced(in, l, event.Shared, from, op.read)
			}
			continue
		}
		_, to, ok := x.mapAddress(in, l, &in.s[0], op.to)
		if !ok {
			return
		}
		for _, p := range done {
			if p == (pair{to, from}) {
				continue next
			}
		}
		done = append(done, pair{to, from})
		text := x.mapText(event.Shared, from)
		x.accessMap(in, l, event.Shared, from, nil, op.read)
		x.accessMap(in, l, event.Global, to, text, op.write)
	}
	if x.stop == nil {
		x.fenceMaps(in, x.m, event.MapFence{Release: true, Scope: op.use.Scope, Warp: true})
	}
}

// runNeedsMap is the run of a change of a map if its address may be unknown.
func runNeedsMap(x *exec, in *inst) {
	s := &in.s[0]
	if in.misc.tmap.use.Copies {
		s = &in.s[1]
	}
	if x.needs(in, s, "the address of this tensor map") {
		in.base(x, in)
	}
}

// mapAddress returns where the map of a lane is, and false after a failure. A trace does not know
// addresses of global memory.
func (x *exec) mapAddress(in *inst, l int, s *src, at *memOp) (event.Space, uint64, bool) {
	space, addr := at.space, (x.src(s)[l]+at.off)&at.amask
	if x.prog.traced && space == event.Global {
		return space, addr, true
	}
	if sp := &x.prog.space; space == event.Generic {
		switch {
		case addr>>sp.shift != 0:
			space = event.Global
			if x.prog.traced {
				return space, addr, true
			}
		case sp.windowOf(addr) == sharedWindow:
			space, addr = event.Shared, addr-sp.windowBase(sharedWindow)
		}
	}
	inside := false
	switch space {
	case event.Shared:
		b, off := x.home(addr)
		if b != nil {
			addr = off
		}
		if b != nil && b != x.block {
			x.fail(in, RemoteAddress, l, "%s at the shared memory of %s: it reaches that of its own block "+
				"only", in.ir.Op(), x.blockText(b))
			return space, addr, false
		}
		size := uint64(len(x.block.shared))
		inside = addr < size && tensormap.Size <= size-addr
	case event.Global:
		o := x.find(addr)
		inside = o != nil && o.space == event.Global && o.contains(addr-o.base, tensormap.Size)
	}
	switch {
	case !inside:
		x.fail(in, OutOfBounds, l, "%s of %d bytes at %s, which are in no array of global memory "+
			"and not in the shared memory of the block", in.ir.Op(), tensormap.Size, x.mapPlace(space, addr))
	case addr%64 != 0:
		x.fail(in, Misaligned, l, "%s: the tensor map at %s is not aligned to 64 bytes", in.ir.Op(),
			x.mapPlace(space, addr))
	}
	return space, addr, x.stop == nil
}

// mapPlace names the address of a map.
func (x *exec) mapPlace(space event.Space, addr uint64) string {
	if space == event.Shared {
		return fmt.Sprintf("shared address %#x", addr)
	}
	return x.describe(addr)
}

// mapText returns a copy of the bytes at the address of a map.
func (x *exec) mapText(space event.Space, addr uint64) []byte {
	text := make([]byte, tensormap.Size)
	if space == event.Shared {
		copy(text, x.block.shared[addr:])
	} else {
		x.find(addr).read(addr, text)
	}
	return text
}

// accessMap reads or writes a map, as four accesses. text is what is written.
func (x *exec) accessMap(in *inst, l int, space event.Space, addr uint64, text []byte,
	part *memOp) {
	if text != nil && space == event.Global {
		x.noteMap(addr, text)
	}
	piece := *in
	piece.mem = part
	for at := uint64(0); at < tensormap.Size; at += mapPart {
		x.addr[l] = addr + at
		if text != nil {
			for k := uint64(0); k < mapPart; k += 8 {
				x.data[k/8][l] = binary.LittleEndian.Uint64(text[at+k:])
			}
			if space == event.Shared {
				copy(x.block.shared[addr+at:], text[at:at+mapPart])
			} else {
				// Maps are aligned, so that a part is within a page.
				copy(x.find(addr).at(addr + at)[(addr+at)&pageMask:], text[at:at+mapPart])
			}
		}
		stored := uint32(0)
		if text != nil {
			stored = 1 << l
		}
		x.access(&piece, 1<<l, space, stored)
	}
}

// changeTraced is accessMap in a trace, which knows no contents of maps.
func (x *exec) changeTraced(in *inst, l int, space event.Space, addr uint64, part *memOp) {
	if space != event.Shared {
		return
	}
	piece := *in
	piece.mem = part
	for at := uint64(0); at < tensormap.Size; at += mapPart {
		x.addr[l] = addr + at
		stored := uint32(0)
		if part.kind == event.Write {
			stored = 1 << l
			x.forgetShared(addr+at, mapPart, in)
		}
		x.access(&piece, 1<<l, space, stored)
	}
}

package emu

import (
	"encoding/binary"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
)

// Loads and stores at addresses that have a form. Bounds and alignment are checked once for all
// lanes, from the extent of the form; the event summarizes the addresses by Row and Step, which
// lets the detector handle the access as a run.

// addresses returns the pattern of the current access and its address in lane 0. ok is false if the
// access must be executed lane by lane: the register has no form, not all lanes are active, offsets
// are large, or some lane may be misaligned. p.bits is the OR of all offsets, so one test covers
// the alignment of every lane.
func (x *exec) addresses(in *inst) (p *pattern, base uint64, ok bool) {
	f := x.form(&in.affine.src[0])
	if f.state == lanesOnly || x.m != full {
		return nil, 0, false
	}
	p = x.pattern(f.kx, f.ky)
	mo := in.mem
	base = (f.b + mo.off) & mo.amask
	if !p.small || (base|p.bits)&(mo.wide-1) != 0 {
		return nil, 0, false
	}
	// The comparisons with base exclude that an address wraps around, below zero or above the mask.
	lo, hi := base+uint64(p.lo), base+uint64(p.hi)
	return p, base, lo <= base && hi >= base && hi <= mo.amask-mo.wide+1
}

// affineSpan returns bytes that contain the accesses of all lanes, and where in them that of lane 0
// is: one page, or the memory of a program. It returns nil if there are none.
func (x *exec) affineSpan(in *inst, p *pattern, base uint64) ([]byte, *object, uint64) {
	mo := in.mem
	if mo.space == event.Generic || mo.space == event.NoSpace {
		if sp := &x.prog.space; (base+uint64(p.lo))>>sp.shift == 0 {
			return nil, nil, 0
		}
	}
	o := x.mem.own(base)
	if o == nil {
		o = x.findMapped(base)
	}
	if o == nil || o.space != mo.space && mo.space == event.Const ||
		mo.kind == event.Write && o.space != event.Global {
		return nil, nil, 0
	}
	// first and last are the extreme addresses.
	first, last := base+uint64(p.lo), base+uint64(p.hi)
	switch {
	case first < o.base || !o.contains(last-o.base, mo.wide):
		return nil, nil, 0
	case o.mapped != nil:
		return o.mapped, o, base - o.start
	case first>>pageBits != last>>pageBits:
		return nil, nil, 0
	}
	return o.at(first)[:], o, base & pageMask
}

// setAddresses fills x.addr for the event, if something needs it.
func (x *exec) setAddresses(p *pattern, base, wide uint64) {
	if x.sink == nil && x.touched == nil {
		return
	}
	x.ev.Row, x.ev.Step = uint8(x.prog.shape.row), uint64(p.kx)
	if p.even {
		x.ev.Row, x.ev.Step = event.WarpSize, p.step
	}
	if x.sink == nil && x.warp.ghost == 0 && dense(x.ev.Step, wide) { // touch needs no more
		for l := 0; l < event.WarpSize; l += int(x.ev.Row) {
			x.addr[l] = base + p.off[l]
		}
		return
	}
	for l := range x.addr {
		x.addr[l] = base + p.off[l]
	}
}

// runAffineLoadGlobal is a load of global memory. If the lanes are not in one page of one object,
// or in one of a program, it is executed lane by lane, with all messages.
func runAffineLoadGlobal(x *exec, in *inst) {
	p, base, ok := x.addresses(in)
	if !ok {
		runLanes(x, in)
		return
	}
	b, o, at := x.affineSpan(in, p, base)
	if b == nil {
		runLanes(x, in)
		return
	}
	if x.spec != nil && !x.spec.reads(x, o) {
		return
	}
	x.loadAffine(in, p, b, at)
	if o.space == event.Global {
		x.setAddresses(p, base, in.mem.wide)
		x.access(in, full, event.Global, 0)
	}
}

// runAffineLoadShared is a load of shared memory. Only the upper bound needs a test, since
// addresses excludes wrap-around below zero.
func runAffineLoadShared(x *exec, in *inst) {
	p, base, ok := x.addresses(in)
	if !ok || !x.inShared(p, base, in.mem.wide) {
		runLanes(x, in)
		return
	}
	x.loadAffine(in, p, x.block.shared, base)
	x.setAddresses(p, base, in.mem.wide)
	x.access(in, full, event.Shared, 0)
}

// loadAffine loads the elements of all lanes; lane 0 is at buf[at]. Uniform, dense and row-wise
// addresses have fast paths.
func (x *exec) loadAffine(in *inst, p *pattern, buf []byte, at uint64) {
	mo := in.mem
	// Loaded values have no form.
	for _, r := range in.affine.writes {
		x.forms[r].state = lanesOnly
	}
	for i, r := range mo.dst {
		if r < 0 {
			continue
		}
		d := &x.regs[r]
		from := at + uint64(i)*mo.size
		switch {
		case p.kx|p.ky == 0:
			v := loadUint(buf[from:], mo.size)
			for l := range d {
				d[l] = v
			}
		case mo.size == 4 && p.even && p.step == 4:
			load32(d, (*[4 * event.WarpSize]byte)(buf[from:]))
		case mo.size == 4 && p.kx == 0:
			x.loadRows(d, buf[from+uint64(p.lo):], uint64(-p.lo), uint64(p.ky))
		case mo.size == 4 && p.kx == 4 && p.ky >= 0:
			x.loadDense(d, buf[from:], uint64(p.ky))
		case mo.size == 4:
			for l := range d {
				d[l] = uint64(binary.LittleEndian.Uint32(buf[from+p.off[l]:]))
			}
		case mo.size == 8:
			for l := range d {
				d[l] = binary.LittleEndian.Uint64(buf[from+p.off[l]:])
			}
		default:
			for l := range d {
				d[l] = loadUint(buf[from+p.off[l]:], mo.size)
			}
		}
	}
	x.signExtend(mo, full)
}

// loadRows loads one word for each row of the shape; all lanes of a row read the same word.
func (x *exec) loadRows(d *alu.Lanes, buf []byte, at, ky uint64) {
	n := int(x.prog.shape.row)
	for l := 0; l < len(d); at += ky {
		v := uint64(binary.LittleEndian.Uint32(buf[at:]))
		for end := l + n; l < end && l < len(d); l++ {
			d[l] = v
		}
	}
}

// loadDense loads consecutive words for each row of the shape; rows are ky bytes apart.
func (x *exec) loadDense(d *alu.Lanes, buf []byte, ky uint64) {
	n := int(x.prog.shape.row)
	for l, at := 0, uint64(0); l < len(d); l, at = l+n, at+ky {
		if l > 0 && ky == 0 {
			copy(d[l:], d[:n])
			continue
		}
		b := buf[at:][:4*n]
		for i := range d[l : l+n] {
			d[l+i] = uint64(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
}

// load32 loads 32 consecutive words.
func load32(d *alu.Lanes, b *[4 * event.WarpSize]byte) {
	for l := 0; l < len(d); l += 4 {
		d[l] = uint64(binary.LittleEndian.Uint32(b[4*l:]))
		d[l+1] = uint64(binary.LittleEndian.Uint32(b[4*l+4:]))
		d[l+2] = uint64(binary.LittleEndian.Uint32(b[4*l+8:]))
		d[l+3] = uint64(binary.LittleEndian.Uint32(b[4*l+12:]))
	}
}

// runAffineStoreGlobal is a store to global memory.
func runAffineStoreGlobal(x *exec, in *inst) {
	x.readLanes(in) // first, since it may evict the pattern that addresses returns
	p, base, ok := x.addresses(in)
	if !ok {
		runLanes(x, in)
		return
	}
	b, o, at := x.affineSpan(in, p, base)
	if b == nil {
		runLanes(x, in)
		return
	}
	if x.spec != nil {
		x.spec.written.add(o.id)
		x.gather(in.mem, full)
	} else {
		x.storeAffine(in, p, b, at)
	}
	x.setAddresses(p, base, in.mem.wide)
	x.access(in, full, event.Global, full)
}

// inShared reports whether the accesses of all lanes, of wide bytes each, are within the shared
// memory of the block. The address of the last lane does not wrap around (see addresses), but the
// end of its access may: a 64-bit address just below zero.
func (x *exec) inShared(p *pattern, base, wide uint64) bool {
	n := uint64(len(x.block.shared))
	return n >= wide && base+uint64(p.hi) <= n-wide
}

// runAffineStoreShared is a store to shared memory.
func runAffineStoreShared(x *exec, in *inst) {
	x.readLanes(in)
	p, base, ok := x.addresses(in)
	if !ok || !x.inShared(p, base, in.mem.wide) {
		runLanes(x, in)
		return
	}
	x.storeAffine(in, p, x.block.shared, base)
	x.setAddresses(p, base, in.mem.wide)
	x.access(in, full, event.Shared, full)
}

// readLanes updates the lanes of the stored values. The first register read is the address.
func (x *exec) readLanes(in *inst) {
	for _, r := range in.affine.reads {
		if x.forms[r].state == formOnly && r != in.affine.src[0].r {
			x.fillLanes(r)
		}
	}
	for i := range in.mem.src {
		if s := &in.mem.src[i]; s.c == nil && s.r == in.affine.src[0].r &&
			x.forms[s.r].state == formOnly {
			x.fillLanes(s.r)
		}
	}
}

// storeAffine stores the elements of all lanes, in lane order, so that the last of several lanes
// with one address wins, as in storeScattered. x.data must hold the values if there is a consumer:
// the detector compares them to find benign races.
func (x *exec) storeAffine(in *inst, p *pattern, buf []byte, at uint64) {
	mo := in.mem
	if mo.wide != 4 || x.sink != nil {
		x.gather(mo, full)
	}
	if mo.wide != 4 {
		for l := range event.WarpSize {
			storeWide(buf[at+p.off[l]:], &x.data, l, mo.wide)
		}
		return
	}
	// Without a consumer a word need not be gathered: it is stored from its register.
	s := &x.data[0]
	if x.sink == nil && mo.size == 4 {
		s = x.src(&mo.src[0])
	} else if x.sink == nil {
		x.gather(mo, full)
	}
	if p.even && p.step == 4 {
		store32((*[4 * event.WarpSize]byte)(buf[at:]), s)
		return
	}
	for l := range s {
		binary.LittleEndian.PutUint32(buf[at+p.off[l]:], uint32(s[l]))
	}
}

// store32 stores 32 consecutive words.
func store32(b *[4 * event.WarpSize]byte, s *alu.Lanes) {
	for l := 0; l < len(s); l += 4 {
		binary.LittleEndian.PutUint32(b[4*l:], uint32(s[l]))
		binary.LittleEndian.PutUint32(b[4*l+4:], uint32(s[l+1]))
		binary.LittleEndian.PutUint32(b[4*l+8:], uint32(s[l+2]))
		binary.LittleEndian.PutUint32(b[4*l+12:], uint32(s[l+3]))
	}
}

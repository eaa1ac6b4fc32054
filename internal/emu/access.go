package emu

import (
	"encoding/binary"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
)

// survey is what one pass over a warp's addresses tells: enough to see at once that all lanes stay
// within a page and are aligned.
type survey struct {
	first uint64 // address of the first lane
	diff  uint64 // bits in which some address differs from the first
	or    uint64 // of all addresses: no address is larger, and low bits show misalignment
}

// effective computes the addresses of the current instruction into x.addr.
func (x *exec) effective(in *inst) survey {
	a, off, am := x.src(&in.s[0]), in.mem.off, in.mem.amask
	s := survey{first: (a[x.first()&31] + off) & am}
	if x.m == full {
		for l := range a {
			v := (a[l] + off) & am
			x.addr[l] = v
			s.diff |= v ^ s.first
			s.or |= v
		}
		return s
	}
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		v := (a[l] + off) & am
		x.addr[l] = v
		s.diff |= v ^ s.first
		s.or |= v
	}
	return s
}

// survey looks at addresses that are in x.addr.
func (x *exec) survey(m uint32) survey {
	s := survey{first: x.addr[bits.TrailingZeros32(m)&31]}
	for t := m; t != 0; t &= t - 1 {
		v := x.addr[bits.TrailingZeros32(t)&31]
		s.diff |= v ^ s.first
		s.or |= v
	}
	return s
}

func runGlobal(x *exec, in *inst) {
	s := x.effective(in)
	in.mem.global(x, in, x.m, s)
}

func runShared(x *exec, in *inst) {
	s := x.effective(in)
	in.mem.shared(x, in, x.m, s)
}

// Private memory is addressed in windows: the private functions expect generic addresses.
func runLocal(x *exec, in *inst) { x.runPrivate(in, localWindow) }

func runKernelParam(x *exec, in *inst) { x.runPrivate(in, paramWindow) }

// frameParamWindow is where runParam puts the parameters of the current frame. No generic address
// can reach it.
const frameParamWindow = codeWindow

func runParam(x *exec, in *inst) { x.runPrivate(in, frameParamWindow) }

func (x *exec) runPrivate(in *inst, window uint64) {
	s := x.effective(in)
	base := x.prog.space.windowBase(window)
	if s.or>>x.prog.space.window != 0 {
		l := x.first()
		x.fail(in, OutOfBounds, l, "%s of %d bytes at %s address %#x is out of bounds", in.mem.kind,
			in.mem.wide, in.mem.space, x.addr[l])
		return
	}
	for t := x.m; t != 0; t &= t - 1 {
		x.addr[bits.TrailingZeros32(t)&31] += base
	}
	in.mem.private(x, in, x.m, s)
}

// runGeneric finds out which memory each lane means (PTX ISA 6.4.1.1).
func runGeneric(x *exec, in *inst) {
	s := x.effective(in)
	sp := &x.prog.space
	if s.first>>sp.shift != 0 && s.diff>>sp.shift == 0 {
		in.mem.global(x, in, x.m, s)
		return
	}
	var global, shared, private uint32
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		a := x.addr[l]
		switch {
		case a>>sp.shift != 0:
			global |= 1 << l
		case sp.windowOf(a) == sharedWindow:
			x.addr[l] = a - sp.windowBase(sharedWindow)
			shared |= 1 << l
		case sp.windowOf(a) == localWindow || sp.windowOf(a) == paramWindow:
			private |= 1 << l
		default:
			x.badAddress(in, l, a)
			return
		}
	}
	if shared != 0 {
		in.mem.shared(x, in, shared, x.survey(shared))
	}
	if global != 0 && x.stop == nil {
		in.mem.global(x, in, global, x.survey(global))
	}
	if private != 0 && x.stop == nil {
		in.mem.private(x, in, private, survey{})
	}
}

// span returns the page that all of the warp's accesses are in, if they are aligned, in bounds and
// in one page; else nil.
func (x *exec) span(m *memOp, s survey) (*page, *object) {
	if s.diff>>pageBits != 0 || s.or&(m.wide-1) != 0 || x.unk != nil {
		return nil, nil
	}
	o := x.mem.find(s.first)
	if o == nil || m.space == event.Const && !o.isConst() {
		return nil, nil
	}
	off := s.first - o.base
	if off >= o.size {
		return nil, nil
	}
	// The or of the addresses is an upper bound of them, within the page too.
	if top := off&^pageMask | s.or&pageMask; !o.contains(top, m.wide) {
		return nil, nil
	}
	return o.page(off), o
}

func loadGlobal(x *exec, in *inst, m uint32, s survey) {
	p, o := x.span(in.mem, s)
	if p == nil {
		x.loadScattered(in, m)
		return
	}
	if x.spec != nil && !x.spec.reads(x, o) {
		return
	}
	for i, d := range in.mem.dst {
		if d >= 0 {
			loadLanes(p.data[:], pageMask, &x.addr, uint64(i)*in.mem.size, in.mem.size, &x.regs[d], m)
		}
	}
	x.signExtend(in.mem, m)
	if o.space == event.Global {
		x.access(in, m, event.Global, 0)
	}
}

func loadShared(x *exec, in *inst, m uint32, s survey) {
	if !x.checkShared(in, m, s) {
		return
	}
	if x.unk != nil {
		x.unk.loadShared(x, in, m)
	}
	for i, d := range in.mem.dst {
		if d >= 0 {
			loadLanes(x.block.shared, ^uint64(0), &x.addr, uint64(i)*in.mem.size, in.mem.size, &x.regs[d], m)
		}
	}
	x.signExtend(in.mem, m)
	x.access(in, m, event.Shared, 0)
}

// loadLanes loads size bytes for each lane of m from buf at (a&mask)+disp.
func loadLanes(buf []byte, mask uint64, a *alu.Lanes, disp, size uint64, d *alu.Lanes, m uint32) {
	if m == full {
		switch size {
		case 4:
			for l := range d {
				d[l] = uint64(binary.LittleEndian.Uint32(buf[a[l]&mask+disp:]))
			}
			return
		case 8:
			for l := range d {
				d[l] = binary.LittleEndian.Uint64(buf[a[l]&mask+disp:])
			}
			return
		}
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		d[l] = loadUint(buf[a[l]&mask+disp:], size)
	}
}

func loadUint(b []byte, size uint64) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func storeUint(b []byte, size, v uint64) {
	switch size {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// signExtend extends what a load of a signed type put into wider registers (PTX ISA 9.4.1).
func (x *exec) signExtend(mo *memOp, m uint32) {
	if mo.extend == 0 {
		return
	}
	for _, d := range mo.dst {
		if d < 0 {
			continue
		}
		r := &x.regs[d]
		for t := m; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			r[l] = extend(r[l], uint(8*mo.size), mo.extend)
		}
	}
}

// gather puts what a store writes into x.data, in the form of event.Access.Data.
func (x *exec) gather(mo *memOp, m uint32) {
	for k := uint64(0); k < mo.wide; k += 8 {
		word := &x.data[k/8]
		n := min(mo.wide-k, 8)
		if mo.size == 8 {
			copyLanes(word, x.src(&mo.src[k/8]), m)
			continue
		}
		mask := uint64(1)<<(8*mo.size) - 1
		for at := uint64(0); at < n; at += mo.size {
			s := x.src(&mo.src[(k+at)/mo.size])
			shift := 8 * at
			if at == 0 {
				for l := range word {
					word[l] = s[l] & mask
				}
				continue
			}
			for l := range word {
				word[l] |= s[l] & mask << shift
			}
		}
	}
	if x.unk != nil {
		x.unk.obscure(x, mo, m)
	}
}

func storeGlobal(x *exec, in *inst, m uint32, s survey) {
	x.gather(in.mem, m)
	p, o := x.span(in.mem, s)
	if p == nil || o.space != event.Global {
		x.storeScattered(in, m)
		return
	}
	if x.spec != nil {
		x.spec.written[o.id] = true
	} else {
		storeLanes(p.data[:], pageMask, &x.addr, &x.data, in.mem.wide, m)
	}
	x.access(in, m, event.Global, m)
}

func storeShared(x *exec, in *inst, m uint32, s survey) {
	if !x.checkShared(in, m, s) {
		return
	}
	x.gather(in.mem, m)
	if x.unk != nil {
		x.unk.storeShared(x, in, m)
	}
	storeLanes(x.block.shared, ^uint64(0), &x.addr, &x.data, in.mem.wide, m)
	x.access(in, m, event.Shared, m)
}

// storeLanes stores wide bytes for each lane of m into buf at a&mask. Lanes of one address store in
// lane order, so that the last one stays, as one of the orders that the ISA allows.
func storeLanes(buf []byte, mask uint64, a *alu.Lanes, data *[4][event.WarpSize]uint64, wide uint64,
	m uint32) {
	w := &data[0]
	switch {
	case wide == 4 && m == full:
		for l := range w {
			binary.LittleEndian.PutUint32(buf[a[l]&mask:], uint32(w[l]))
		}
	case wide == 8 && m == full:
		for l := range w {
			binary.LittleEndian.PutUint64(buf[a[l]&mask:], w[l])
		}
	default:
		for t := m; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			storeWide(buf[a[l]&mask:], data, l, wide)
		}
	}
}

func storeWide(b []byte, data *[4][event.WarpSize]uint64, l int, wide uint64) {
	if wide <= 8 {
		storeUint(b, wide, data[0][l])
		return
	}
	for k := uint64(0); k < wide; k += 8 {
		binary.LittleEndian.PutUint64(b[k:], data[k/8][l])
	}
}

// access is called once for each access to global or shared memory that has been done. stored are
// the lanes that wrote.
func (x *exec) access(in *inst, m uint32, sp event.Space, stored uint32) {
	mo := in.mem
	switch {
	case mo.kind == event.Write:
		x.wrote, x.changed = true, true
	case mo.kind == event.Read && mo.order.Strong():
		x.polled = true
	}
	if g := x.warp.ghost; g != 0 { // what annotations read, nobody does
		x.warp.looked |= m & g
		if m&g != 0 {
			x.ev.Row = 0 // the layout is that of all lanes
		}
		m, stored = m&^g, stored&^g
		if m == 0 {
			return
		}
	}
	if x.sink == nil {
		return
	}
	if x.unk != nil && (x.doubtful != 0 || x.onMaybe()) {
		x.maybe[x.site(in)] = true
		if x.lockstep && sp == event.Shared {
			x.crosses(in, m)
		}
	}
	if x.spec != nil {
		x.spec.in = in
	}
	e := &x.ev
	e.Warp, e.Site, e.Mask, e.Active = x.warp.id, x.site(in), m, x.mask
	e.Kind, e.Space, e.Order, e.Scope, e.Orders, e.Proxy = mo.kind, sp, mo.order, mo.scope, mo.part,
		mo.proxy
	e.Size, e.Elem, e.Addr, e.Stored = uint8(mo.wide), uint8(mo.elem), &x.addr, stored
	e.Data = nil
	if mo.kind == event.Write && mo.src != nil {
		e.Data = &x.data
	}
	x.sink.Access(e)
	e.Row = 0
}

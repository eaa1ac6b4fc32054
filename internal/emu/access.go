package emu

import (
	"encoding/binary"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
)

// Memory accesses, PTX ISA 9.7.9.8 to 9.7.9.13. An instruction first computes the addresses of all
// lanes (effective). The state space then decides how to continue: the addresses are offsets into
// shared memory, addresses of global objects, or offsets into a window of private memory; generic
// addresses are sorted by lane. Each kind has a fast path, for a full warp within one page, and a
// slow path, lane by lane, in scatter.go. Only the slow path produces error messages: the fast path
// falls back to it whenever something is unusual.
//
// Accesses to global and shared memory are reported to the sink, after they were performed. Private
// memory produces no events, since no other thread can reach it.

// survey summarizes the addresses of a warp. It is enough to tell at once that all lanes stay
// within one page and are aligned, which is the common case.
type survey struct {
	first uint64 // address of the first lane
	diff  uint64 // bits in which some address differs from the first
	or    uint64 // of all addresses: no address is larger, and low bits show misalignment
}

// effective computes the addresses of the current instruction into x.addr.
func (x *exec) effective(in *inst) survey {
	// The mask truncates an address that is computed in a 32-bit register.
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

// survey computes the summary of addresses that are in x.addr already.
func (x *exec) survey(m uint32) survey {
	s := survey{first: x.addr[bits.TrailingZeros32(m)&31]}
	for t := m; t != 0; t &= t - 1 {
		v := x.addr[bits.TrailingZeros32(t)&31]
		s.diff |= v ^ s.first
		s.or |= v
	}
	return s
}

// runGlobal executes an access to global or constant memory.
func runGlobal(x *exec, in *inst) {
	s := x.effective(in)
	in.mem.global(x, in, x.m, s)
}

// runShared executes an access to shared memory, whose addresses are offsets.
func runShared(x *exec, in *inst) {
	s := x.effective(in)
	in.mem.shared(x, in, x.m, s)
}

// Private memory is addressed in windows: the private functions expect generic addresses.
func runLocal(x *exec, in *inst) { x.runPrivate(in, localWindow) }

// runKernelParam executes a load of the kernel's own parameters.
func runKernelParam(x *exec, in *inst) { x.runPrivate(in, paramWindow) }

// frameParamWindow is where runParam puts the parameters of the current frame. No generic address
// can reach it.
const frameParamWindow = codeWindow

// runParam executes an access to the parameters of the current frame.
func runParam(x *exec, in *inst) { x.runPrivate(in, frameParamWindow) }

// runPrivate executes an access to private memory of a known window: it turns the offsets into
// generic addresses.
func (x *exec) runPrivate(in *inst, window uint64) {
	s := x.effective(in)
	base, m := x.prog.space.windowBase(window), x.m
	if s.or>>x.prog.space.window != 0 {
		if m = x.inWindow(in); m == 0 {
			return
		}
		s = x.survey(m)
	}
	for t := m; t != 0; t &= t - 1 {
		x.addr[bits.TrailingZeros32(t)&31] += base
	}
	s.first += base
	s.or |= base
	in.mem.private(x, in, m, s)
}

// inWindow returns the lanes whose offsets into private memory fit in a window of generic
// addresses; the accesses of the others are invalid.
func (x *exec) inWindow(in *inst) uint32 {
	m := x.m
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if x.addr[l]>>x.prog.space.window == 0 {
			continue
		}
		if !x.again(in, OutOfBounds, l) {
			x.fault(in, OutOfBounds, l, "%s of %d bytes at %s address %#x is out of bounds", in.mem.kind,
				in.mem.wide, in.mem.space, x.addr[l])
		}
		if !x.skip(in, l) {
			return 0
		}
		m &^= 1 << l
	}
	return m
}

// runGeneric executes an access by generic addresses (PTX ISA 6.4.1.1). Each lane may address
// another space; the lanes are grouped by space, and each group executes as one access.
func runGeneric(x *exec, in *inst) {
	s := x.effective(in)
	sp := &x.prog.space
	// The common case: all lanes are in the same global object.
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
			if !x.skip(in, l) {
				return
			}
		}
	}
	if shared != 0 {
		in.mem.shared(x, in, shared, x.survey(shared))
	}
	if global != 0 && x.stop == nil {
		in.mem.global(x, in, global, x.survey(global))
	}
	if private != 0 && x.stop == nil {
		in.mem.private(x, in, private, x.survey(private))
	}
}

// span returns bytes that contain the accesses of all lanes of lanes, which are aligned and in
// bounds, and the address of the first of these bytes: one page of an object of the run, or the
// memory of a program. If there are none, the lanes are handled one by one.
func (x *exec) span(m *memOp, lanes uint32, s survey) (b []byte, start uint64, o *object) {
	if s.or&(m.wide-1) != 0 || x.unk != nil {
		return nil, 0, nil
	}
	if o = x.mem.own(s.first); o == nil {
		o = x.findMapped(s.first)
	}
	if o == nil || m.space == event.Const && !o.isConst() {
		return nil, 0, nil
	}
	if o.mapped != nil {
		if !x.inside(o, m.wide, lanes, s) {
			return nil, 0, nil
		}
		return o.mapped, o.start, o
	}
	if s.diff>>pageBits != 0 {
		return nil, 0, nil
	}
	low := s.first &^ pageMask
	if low < o.base || !o.contains((low|s.or&pageMask)-o.base, m.wide) {
		return nil, 0, nil
	}
	return o.at(s.first)[:], low, o
}

// inside reports whether the aligned accesses of all lanes of m are within an object.
func (x *exec) inside(o *object, wide uint64, m uint32, s survey) bool {
	// All addresses are between the first one with the bits cleared in which some differ, and with
	// these bits set.
	most := uint64(1)<<bits.Len64(s.diff) - 1
	low, high := s.first&^most, s.first|most&^(wide-1)
	if low < o.base || !o.contains(high-o.base, wide) {
		low, high = s.first, s.first
		for t := m; t != 0; t &= t - 1 {
			a := x.addr[bits.TrailingZeros32(t)&31]
			low, high = min(low, a), max(high, a)
		}
	}
	return low >= o.base && o.contains(high-o.base, wide)
}

// loadGlobal loads from global or constant memory. Constant memory is read-only, so that reads of
// it produce no events.
func loadGlobal(x *exec, in *inst, m uint32, s survey) {
	b, start, o := x.span(in.mem, m, s)
	if b == nil {
		x.loadScattered(in, m)
		return
	}
	// A block that runs ahead must not read what it has only logged as written.
	if x.spec != nil && !x.spec.reads(x, o) {
		return
	}
	for i, d := range in.mem.dst {
		if d >= 0 {
			loadLanes(b, &x.addr, uint64(i)*in.mem.size-start, in.mem.size, &x.regs[d], m)
		}
	}
	x.signExtend(in.mem, m)
	if o.space == event.Global {
		x.access(in, m, event.Global, 0)
	}
}

// loadShared loads from the block's shared memory.
func loadShared(x *exec, in *inst, m uint32, s survey) {
	if m = x.checkShared(in, m, s); m == 0 {
		return
	}
	if x.unk != nil {
		x.unk.loadShared(x, in, m)
	}
	for i, d := range in.mem.dst {
		if d >= 0 {
			loadLanes(x.block.shared, &x.addr, uint64(i)*in.mem.size, in.mem.size, &x.regs[d], m)
		}
	}
	x.signExtend(in.mem, m)
	x.access(in, m, event.Shared, 0)
}

// loadLanes loads size bytes for each lane of m from buf at a+disp. It is the inner loop of
// most loads: its arguments are scalars and not a struct, so that they stay in registers.
func loadLanes(buf []byte, a *alu.Lanes, disp, size uint64, d *alu.Lanes, m uint32) {
	if m == full {
		switch size {
		case 4:
			for l := range d {
				d[l] = uint64(binary.LittleEndian.Uint32(buf[a[l]+disp:]))
			}
			return
		case 8:
			for l := range d {
				d[l] = binary.LittleEndian.Uint64(buf[a[l]+disp:])
			}
			return
		}
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		d[l] = loadUint(buf[a[l]+disp:], size)
	}
}

// loadUint reads a little-endian integer of 1, 2, 4 or 8 bytes.
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

// storeUint writes a little-endian integer of 1, 2, 4 or 8 bytes.
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

// signExtend extends the results of a load of a signed type to wider registers (PTX ISA 9.4.1).
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

// gather collects the values that a store writes into x.data, in the layout of event.Access.Data:
// elements are packed into 64-bit words.
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

// storeGlobal stores to global memory. A block that runs ahead only logs its stores.
func storeGlobal(x *exec, in *inst, m uint32, s survey) {
	x.gather(in.mem, m)
	b, start, o := x.span(in.mem, m, s)
	if b == nil || o.space != event.Global {
		x.storeScattered(in, m)
		return
	}
	if x.spec != nil {
		x.spec.written.add(o.id)
	} else {
		storeLanes(b, start, &x.addr, &x.data, in.mem.wide, m)
	}
	x.access(in, m, event.Global, m)
}

// storeShared stores to the block's shared memory.
func storeShared(x *exec, in *inst, m uint32, s survey) {
	if m = x.checkShared(in, m, s); m == 0 {
		return
	}
	x.gather(in.mem, m)
	if x.unk != nil {
		x.unk.storeShared(x, in, m)
	}
	storeLanes(x.block.shared, 0, &x.addr, &x.data, in.mem.wide, m)
	x.access(in, m, event.Shared, m)
}

// storeLanes stores wide bytes for each lane of m into buf at a-start. Lanes with equal addresses
// store in lane order, so that the last one remains; the ISA leaves the order open. Its arguments
// are scalars for the same reason as those of loadLanes.
func storeLanes(buf []byte, start uint64, a *alu.Lanes, data *[4][event.WarpSize]uint64, wide uint64,
	m uint32) {
	w := &data[0]
	switch {
	case wide == 4 && m == full:
		for l := range w {
			binary.LittleEndian.PutUint32(buf[a[l]-start:], uint32(w[l]))
		}
	case wide == 8 && m == full:
		for l := range w {
			binary.LittleEndian.PutUint64(buf[a[l]-start:], w[l])
		}
	default:
		for t := m; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			storeWide(buf[a[l]-start:], data, l, wide)
		}
	}
}

// storeWide stores one lane's access of up to 32 bytes.
func storeWide(b []byte, data *[4][event.WarpSize]uint64, l int, wide uint64) {
	if wide <= 8 {
		storeUint(b, wide, data[0][l])
		return
	}
	for k := uint64(0); k < wide; k += 8 {
		binary.LittleEndian.PutUint64(b[k:], data[k/8][l])
	}
}

// access reports a completed access to global or shared memory to the sink. stored are the lanes
// that wrote. Reads within an annotation are not part of the kernel and are not reported.
func (x *exec) access(in *inst, m uint32, sp event.Space, stored uint32) {
	mo := in.mem
	switch {
	case mo.kind == event.Write:
		x.wrote, x.changed = true, true
	// A strong read may wait for another thread: see exec.polled.
	case mo.kind == event.Read && mo.order.Strong():
		x.poll(in)
	}
	if mo.order.Strong() {
		x.point()
	}
	if g := x.warp.ghost; g != 0 { // reads of annotations are not accesses of the kernel
		x.warp.looked |= m & g
		if m&g != 0 {
			x.ev.Row = 0 // Row describes the addresses of all lanes
		}
		m, stored = m&^g, stored&^g
		if m == 0 {
			return
		}
	}
	if x.prog.launches && sp == event.Global {
		if left := x.withoutBuffers(m); left != m {
			if x.ev.Row, m, stored = 0, left, stored&left; m == 0 {
				return
			}
		}
	}
	if x.touched != nil && sp == event.Global {
		x.touched.Origin = x.origin + uint32(x.site(in))
		x.touch(mo, m)
	}
	if x.sink == nil {
		x.ev.Row = 0
		return
	}
	if sp == event.Shared && len(x.block.mbars) > 0 {
		x.overwritten(in, m)
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
	e.Peer = x.peer
	e.Data = nil
	if mo.kind == event.Write && mo.src != nil {
		e.Data = &x.data
	}
	x.sink.Access(e)
	e.Row = 0
}

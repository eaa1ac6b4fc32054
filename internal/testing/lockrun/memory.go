package lockrun

import (
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// loadParam reads a kernel parameter, which has one value for all lanes. Vectors and addresses in
// registers are not supported.
func (m *machine) loadParam(w *warp, in *ir.Instr, mask uint32) {
	mem := in.Src[0]
	if mem.Var == nil || in.Vec > 1 {
		m.fail(in, "is not supported")
	}
	n := in.Type.Size()
	v := extend(number(m.args[mem.Var][mem.Val:int(mem.Val)+n]), in.Type)
	var lanes alu.Lanes
	for l := range lanes {
		lanes[l] = v
	}
	m.set(w, in, in.Dst[0], &lanes, mask)
}

// number decodes a little-endian integer of at most 8 bytes.
func number(b []byte) uint64 {
	v := uint64(0)
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}

// extend widens a value of a type to 64 bits, by its sign if the type is signed; other values must
// have zeros above their width.
func extend(v uint64, t isa.Type) uint64 {
	if n := 8 * t.Size(); t.Signed() && n < 64 {
		return uint64(int64(v<<(64-n)) >> (64 - n))
	}
	return v
}

// resolve returns the space that an address belongs to, and the byte offset in it. Shared memory
// starts at offset 0, and its window is above all global objects.
func (m *machine) resolve(in *ir.Instr, addr uint64) (event.Space, uint64) {
	switch in.Space {
	case event.Shared, event.Global:
		return in.Space, addr
	case event.Generic, event.NoSpace:
		// A generic address in the window is a shared address.
		if addr >= window && addr < window+windowSize {
			return event.Shared, addr - window
		}
		return event.Global, addr
	}
	m.fail(in, "memory of space %v", in.Space)
	return 0, 0
}

// bytes returns the contents of a space, by address. Bytes that nothing has written read as zero.
func (m *machine) bytes(s event.Space) map[uint64]byte {
	if s == event.Shared {
		return m.shared
	}
	return m.res.memory
}

// access executes a load, a store or an atomic of the enabled threads of a warp. Among threads that
// write one location the last one wins; the seed selects the order.
func (m *machine) access(w *warp, in *ir.Instr, mask uint32) {
	var mem *ir.Operand
	for i := range in.Src {
		if in.Src[i].Kind == ir.Mem {
			mem = &in.Src[i]
		}
	}
	if mem == nil || len(mem.Elems) > 0 || in.Order.Acquires() || in.Order.Releases() ||
		in.Has(isa.NC) {
		m.fail(in, "is not supported")
	}
	// Ascending or descending lane order: the last writer is the highest or the lowest lane.
	for range bits.OnesCount32(mask) {
		l := bits.TrailingZeros32(mask)
		if m.opt.Seed&1 == 1 {
			l = bits.Len32(mask) - 1
		}
		mask &^= 1 << l
		m.thread(w, in, mem, l)
	}
}

// address returns the address that lane l accesses: an offset from a variable of shared memory or
// from a register. Only shared variables have a place; a generic instruction reaches them through
// the window. Addresses of other variables are not supported.
func (m *machine) address(w *warp, in *ir.Instr, mem *ir.Operand, l int) uint64 {
	addr := mem.Val
	switch {
	case mem.Var != nil:
		at, ok := m.place[mem.Var]
		if !ok {
			m.fail(in, "the address of %s", mem.Var.Name)
		}
		addr += at
		if in.Space == event.Generic || in.Space == event.NoSpace {
			addr += window
		}
	case mem.Reg != ir.NoReg:
		addr += w.regs[mem.Reg][l]
	}
	return addr
}

// thread executes the access of one thread: on memory, on its registers, and in the log. Lanes of a
// warp are executed one after the other, so an atomic operation is atomic without further means.
func (m *machine) thread(w *warp, in *ir.Instr, mem *ir.Operand, l int) {
	space, at := m.resolve(in, m.address(w, in, mem, l))
	// Natural alignment and the size of a cell ensure that no access crosses a cell.
	elem := in.Type.Size()
	size := elem * max(int(in.Vec), 1)
	if at%uint64(size) != 0 || size > cell {
		m.fail(in, "an access of %d bytes at %#x: it is not aligned, or more than %d bytes", size, at,
			cell)
	}
	op := event.Op{Thread: event.ThreadOf(w.id, l), Order: in.Order, Scope: in.Scope, Addr: at,
		Size: uint8(size)}
	data := m.bytes(space)
	load := func(at uint64) uint64 {
		var b [8]byte
		for i := range elem {
			b[i] = data[at+uint64(i)]
		}
		return number(b[:elem])
	}
	store := func(at, v uint64) {
		for i, b := range littleEndian(v, elem) {
			data[at+uint64(i)] = b
		}
	}
	put := func(d ir.Operand, v uint64) {
		var lanes alu.Lanes
		lanes[l] = extend(v, in.Type)
		m.set(w, in, d, &lanes, 1<<l)
	}
	op.Kind, _ = in.AccessKind()
	switch {
	case in.IsPlainLoad():
		for i, d := range elements(in.Dst[0]) {
			put(d, load(at+uint64(i*elem)))
		}
	case in.Action() == isa.ActStore:
		for i, s := range elements(in.Src[1]) {
			store(at+uint64(i*elem), m.source(w, in, s, elem, 0)[l])
		}
	case in.WritesMemory():
		old := load(at)
		store(at, m.combine(in, old, m.source(w, in, in.Src[1], elem, 0)[l]))
		if op.Kind == event.Atomic {
			put(in.Dst[0], old)
		}
	default:
		m.fail(in, "is not supported")
	}
	m.log.add(in, space, op)
}

// combine returns the value that an atomic operation leaves in memory, of which the caller stores
// the width of the type. Floating point, vectors and compare-and-swap are not supported.
func (m *machine) combine(in *ir.Instr, old, v uint64) uint64 {
	if in.Type.Class() == isa.Float || in.Vec > 1 {
		m.fail(in, "is not supported")
	}
	switch in.Fn {
	case isa.FnAdd:
		return old + v
	case isa.FnExch:
		return v
	case isa.FnAnd:
		return old & v
	case isa.FnOr:
		return old | v
	case isa.FnXor:
		return old ^ v
	case isa.FnMin, isa.FnMax:
		less := old < v
		if in.Type.Signed() {
			less = int64(extend(old, in.Type)) < int64(extend(v, in.Type))
		}
		if less == (in.Fn == isa.FnMin) {
			return old
		}
		return v
	}
	m.fail(in, "is not supported")
	return 0
}

// elements returns the elements of a vector operand, or the operand itself as the only one.
func elements(o ir.Operand) []ir.Operand {
	if o.Kind == ir.Vector {
		return o.Elems
	}
	return []ir.Operand{o}
}

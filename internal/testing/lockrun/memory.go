package lockrun

import (
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// loadParam reads a parameter.
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

func number(b []byte) uint64 {
	v := uint64(0)
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}

// extend widens a value of a type to 64 bits.
func extend(v uint64, t isa.Type) uint64 {
	if n := 8 * t.Size(); t.Signed() && n < 64 {
		return uint64(int64(v<<(64-n)) >> (64 - n))
	}
	return v
}

// resolve says where an address is: which memory, and where in it.
func (m *machine) resolve(in *ir.Instr, addr uint64) (event.Space, uint64) {
	switch in.Space {
	case event.Shared, event.Global:
		return in.Space, addr
	case event.Generic, event.NoSpace:
		if addr >= window && addr < window+windowSize {
			return event.Shared, addr - window
		}
		return event.Global, addr
	}
	m.fail(in, "memory of space %v", in.Space)
	return 0, 0
}

func (m *machine) bytes(s event.Space) map[uint64]byte {
	if s == event.Shared {
		return m.shared
	}
	return m.res.memory
}

// access executes a load, a store or an atomic of the enabled threads of a warp: of those that write one place the last
// one wins, and who that is the seed says.
func (m *machine) access(w *warp, in *ir.Instr, mask uint32) {
	var mem *ir.Operand
	for i := range in.Src {
		if in.Src[i].Kind == ir.Mem {
			mem = &in.Src[i]
		}
	}
	if mem == nil || len(mem.Elems) > 0 || in.Order.Acquires() || in.Order.Releases() || in.Has(isa.NC) {
		m.fail(in, "is not supported")
	}
	for range bits.OnesCount32(mask) {
		l := bits.TrailingZeros32(mask)
		if m.opt.Seed&1 == 1 {
			l = bits.Len32(mask) - 1
		}
		mask &^= 1 << l
		m.thread(w, in, mem, l)
	}
}

// thread executes the access of one thread.
func (m *machine) thread(w *warp, in *ir.Instr, mem *ir.Operand, l int) {
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
	space, at := m.resolve(in, addr)
	elem := in.Type.Size()
	size := elem * max(int(in.Vec), 1)
	if at%uint64(size) != 0 || size > cell {
		m.fail(in, "an access of %d bytes at %#x: it is not aligned, or more than %d bytes", size, at, cell)
	}
	op := event.Op{Thread: event.ThreadOf(w.id, l), Order: in.Order, Scope: in.Scope, Addr: at, Size: uint8(size)}
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

// combine is what an atomic operation makes of what is in memory and its operand.
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

func elements(o ir.Operand) []ir.Operand {
	if o.Kind == ir.Vector {
		return o.Elems
	}
	return []ir.Operand{o}
}

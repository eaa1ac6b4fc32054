package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Atomic operations, PTX ISA 9.7.13.5 (atom) and 9.7.13.6 (red). The lanes of a warp perform theirs
// one after the other, in lane order, which is one of the orders that the ISA allows. Since the
// emulator executes one warp at a time, each operation is atomic for kernels without further
// measures.

// rmwFunc computes the new value of a location from the old one and the operands.
type rmwFunc func(old, b, c uint64) uint64

// atomic decodes atom and red on one register. Without .sem the order is .relaxed, without .scope
// it is .gpu. A reduction has no destination, so it neither returns a value nor polls. Vectors and
// .b128 continue in wideAtomic. Spaces that only one thread can access are rejected: PTX has no
// atomics there.
func (c *compiler) atomic(in *ir.Instr) error {
	kind, _ := in.AccessKind()
	red := kind == event.Reduce
	m := &memOp{space: in.Space, kind: kind, order: in.Order, scope: in.Scope, part: in.Orders,
		global: atomicGlobal, shared: atomicShared, private: atomicPrivate}
	m.isAtomic()
	d := inst{guard: c.guard(), mem: m, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	if err := c.address(in.Src[0], &d, m); err != nil {
		return err
	}
	size := in.Type.Size()
	if in.Vec > 1 || size == 16 {
		return c.wideAtomic(in, d)
	}
	if size < 2 {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	if isPair(in.Type) {
		m.elem = 2
	}
	m.size, m.wide = uint64(size), uint64(size)
	for _, o := range in.Src[1:] {
		s, err := c.srcOf(o, in.Type)
		if err != nil {
			return err
		}
		m.src = append(m.src, s)
	}
	if m.rmw = rmwOf(in.Fn, in.Type, in.Space); m.rmw == nil {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	m.cas = in.Fn == isa.FnCAS
	m.adds = in.Fn == isa.FnAdd && size == 4 && !in.Type.IsFloat()
	if want := 1 + int(b2u(m.cas)); len(m.src) < want {
		return fmt.Errorf("%s: %d operands where %d are expected", opcodeText(in), len(m.src), want)
	}
	if !red {
		if len(in.Dst) != 1 {
			return fmt.Errorf("%s: one destination expected", opcodeText(in))
		}
		if o := in.Dst[0]; o.Kind == ir.Register && c.fc.reads()[o.Reg] {
			d.d[0] = c.fc.slots[o.Reg]
			if in.Type.Signed() {
				m.extend = c.widerThan(o, in.Type)
			}
		}
	}
	m.adds = m.adds && m.extend == 0 && m.scope != event.Sys
	m.dst = []int32{d.d[0]}
	m.unread = d.d[0] < 0 // compilers write atom where red would do
	if m.space == event.Param || m.space == event.Local || m.space == event.Const {
		return fmt.Errorf("%s: atomics work on global and shared memory only", opcodeText(in))
	}
	return c.finishMem(in, d)
}

// isAtomic sets what an atomic operation has without qualifiers: "If the .sem qualifier is absent,
// .relaxed is assumed", and the scope .gpu.
func (m *memOp) isAtomic() {
	if !m.order.Strong() {
		m.order = event.Relaxed
	}
	if m.scope == event.NoScope {
		m.scope = event.GPU
	}
}

// rmwOf returns the operation fn on type t; nil if the ISA has none. The space matters for f32
// alone: global memory flushes subnormal numbers, shared memory does not.
func rmwOf(fn isa.Fn, t isa.Type, sp event.Space) rmwFunc {
	switch t {
	case isa.F32, isa.F64:
		if fn != isa.FnAdd {
			return nil
		}
		switch {
		case t == isa.F64:
			return addF64
		case sp == event.Shared:
			return addF32
		}
		return addF32Flush // atomicShared replaces it if a generic address is in shared memory
	}
	if t.IsFloat() {
		f := alu.AtomicFloat(fn, t)
		if f == nil {
			return nil
		}
		return func(old, b, _ uint64) uint64 { return f(old, b) }
	}
	return intRMW(fn, t)
}

// intRMW returns the integer and bit-size operations. Operands are truncated to the size of t, and
// the caller truncates the result.
func intRMW(fn isa.Fn, t isa.Type) rmwFunc {
	// Values are kept as unsigned numbers; signed comparisons extend them first.
	n := uint(8 * t.Size())
	signed := func(v uint64) int64 { return int64(v<<(64-n)) >> (64 - n) }
	switch fn {
	case isa.FnAdd:
		return func(old, b, _ uint64) uint64 { return old + b }
	case isa.FnAnd:
		return func(old, b, _ uint64) uint64 { return old & b }
	case isa.FnOr:
		return func(old, b, _ uint64) uint64 { return old | b }
	case isa.FnXor:
		return func(old, b, _ uint64) uint64 { return old ^ b }
	case isa.FnExch:
		return func(_, b, _ uint64) uint64 { return b }
	case isa.FnCAS:
		return func(old, b, c uint64) uint64 {
			if old == b {
				return c
			}
			return old
		}
	// inc and dec wrap at the operand, not at the type (PTX ISA 9.7.13.5).
	case isa.FnInc:
		return func(old, b, _ uint64) uint64 {
			if old >= b {
				return 0
			}
			return old + 1
		}
	case isa.FnDec:
		return func(old, b, _ uint64) uint64 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		}
	case isa.FnMin:
		if t.Signed() {
			return func(old, b, _ uint64) uint64 { return uint64(min(signed(old), signed(b))) }
		}
		return func(old, b, _ uint64) uint64 { return min(old, b) }
	case isa.FnMax:
		if t.Signed() {
			return func(old, b, _ uint64) uint64 { return uint64(max(signed(old), signed(b))) }
		}
		return func(old, b, _ uint64) uint64 { return max(old, b) }
	}
	return nil
}

// addF64 adds in double precision, rounding to nearest even; subnormal numbers are supported.
func addF64(old, b, _ uint64) uint64 {
	return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(b))
}

// canonicalNaN is what f32 operations return for a NaN on current targets.
const canonicalNaN = 0x7fffffff

// addF32 is atom.add.f32 on shared memory, which supports subnormal numbers.
func addF32(old, b, _ uint64) uint64 {
	r := math.Float32frombits(uint32(old)) + math.Float32frombits(uint32(b))
	if r != r {
		return canonicalNaN
	}
	return uint64(math.Float32bits(r))
}

// addF32Flush is atom.add.f32 on global memory, which "flushes subnormal inputs and results to
// sign-preserving zero".
func addF32Flush(old, b, _ uint64) uint64 { return flushF32(addF32(flushF32(old), flushF32(b), 0)) }

// flushF32 replaces a subnormal number by zero with its sign.
func flushF32(v uint64) uint64 {
	if v&0x7f800000 == 0 {
		return v & 0x80000000
	}
	return v
}

// modify performs an operation on the bytes b and returns their values before and after it. The
// memory of a program is the host's, too: operations of system scope are atomic for the host, those
// of 16 bits excepted (CUDA C++ Programming Guide, "Atomic Functions").
func (mo *memOp) modify(rmw rmwFunc, b []byte, v, w uint64) (old, now uint64) {
	mask := ^uint64(0) >> (64 - 8*mo.size)
	b = b[:mo.size]
	at := unsafe.Pointer(&b[0])
	switch {
	// Only memory that no host sees can be misaligned here: addresses in an arena are its own.
	case mo.scope != event.Sys || uint64(uintptr(at))%mo.size != 0 || mo.size < 4:
		old = loadUint(b, mo.size)
		now = rmw(old, v, w) & mask
		storeUint(b, mo.size, now)
		return old, now
	case mo.size == 4:
		for p := (*uint32)(at); ; {
			o := atomic.LoadUint32(p)
			now = rmw(uint64(o), v, w) & mask
			if atomic.CompareAndSwapUint32(p, o, uint32(now)) {
				return uint64(o), now
			}
		}
	default:
		for p := (*uint64)(at); ; {
			old = atomic.LoadUint64(p)
			now = rmw(old, v, w)
			if atomic.CompareAndSwapUint64(p, old, now) {
				return old, now
			}
		}
	}
}

// update performs one lane's operation on its bytes, and reports whether the lane wrote. An atomic
// that leaves the value as it was counts as polling: a loop around it is spinning.
func (x *exec) update(in *inst, rmw rmwFunc, l int, b []byte) bool {
	mo := in.mem
	// Registers can be wider than the operation; bits above it are ignored.
	mask := ^uint64(0) >> (64 - 8*mo.size)
	v, w := x.src(&mo.src[0])[l]&mask, uint64(0)
	if mo.cas {
		w = x.src(&mo.src[1])[l] & mask
	}
	old, now := mo.modify(rmw, b, v, w)
	if now != old || mo.unread { // what nobody reads cannot poll
		x.wrote, x.changed = true, true
	} else {
		x.poll(in)
	}
	if in.d[0] >= 0 {
		r := old
		if mo.extend != 0 {
			r = extend(old, uint(8*mo.size), mo.extend)
		}
		x.regs[in.d[0]][l] = r
	}
	return !mo.cas || old == v
}

// updateAll is update for all lanes of m, whose bytes are in buf at their addresses cut by mask. No
// value may be unknown. 32-bit additions, by far the most common operation, have a loop of their
// own.
func (x *exec) updateAll(in *inst, rmw rmwFunc, buf []byte, start uint64, m uint32) (stored uint32) {
	mo := in.mem
	if !mo.adds {
		for t := m; t != 0; t &= t - 1 {
			l := lowest(t)
			if x.update(in, rmw, l, buf[x.addr[l]-start:]) {
				stored |= 1 << l
			}
		}
		return stored
	}
	v, d := x.src(&mo.src[0]), &x.data[0] // nobody reads it
	if in.d[0] >= 0 {
		d = &x.regs[in.d[0]]
	}
	// Adding zero leaves the value as it was: such a lane polls.
	added, not := uint32(0), false
	for t := m; t != 0; t &= t - 1 {
		l := lowest(t)
		b := buf[x.addr[l]-start:]
		n := uint32(v[l])
		old := binary.LittleEndian.Uint32(b)
		binary.LittleEndian.PutUint32(b, old+n)
		d[l] = uint64(old)
		added |= n
		not = not || n == 0
	}
	if added != 0 || mo.unread {
		x.wrote, x.changed = true, true
	}
	if not && !mo.unread {
		x.poll(in)
	}
	return m
}

// atomicGlobal performs the operations on global memory. A block that runs ahead only logs them:
// then it contains reductions only.
func atomicGlobal(x *exec, in *inst, m uint32, s survey) {
	if x.spec != nil {
		x.reduceLater(in, m)
		return
	}
	rmw := in.mem.rmw
	stored := uint32(0)
	if b, start, _ := x.span(in.mem, m, s); b != nil {
		stored = x.updateAll(in, rmw, b, start, m)
		x.access(in, m, event.Global, stored)
		return
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		q, o, at, ok := x.lane(in, l)
		if !ok {
			if m &^= 1 << l; x.skip(in, l) {
				continue
			}
			return
		}
		if x.unk != nil && !x.unk.atomicGlobal(x, in, l, o) {
			return
		}
		if x.update(in, rmw, l, q[at:]) {
			stored |= 1 << l
		}
	}
	if m != 0 {
		x.access(in, m, event.Global, stored)
	}
}

// atomicShared performs the operations on shared memory.
func atomicShared(x *exec, in *inst, m uint32, s survey) {
	if m = x.checkShared(in, m, s); m == 0 {
		return
	}
	rmw := in.mem.rmw
	if in.ir.Type == isa.F32 {
		rmw = addF32 // subnormal numbers are kept in shared memory
	}
	stored := uint32(0)
	if x.unk == nil {
		stored = x.updateAll(in, rmw, x.block.shared, 0, m)
		x.access(in, m, event.Shared, stored)
		return
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		if !x.unk.atomicShared(x, in, l) {
			return
		}
		if x.update(in, rmw, l, x.block.shared[x.addr[l]:]) {
			stored |= 1 << l
		}
	}
	x.access(in, m, event.Shared, stored)
}

// atomicPrivate rejects generic addresses in private memory.
func atomicPrivate(x *exec, in *inst, m uint32, _ survey) {
	x.fail(in, OutOfBounds, bits.TrailingZeros32(m),
		"%s of private memory: atomics work on global and shared memory only", in.mem.kind)
}

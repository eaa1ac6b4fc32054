package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/slice"
)

// Functions that the CUDA runtime provides on the device. PTX declares them without a body.

// builtins maps names to what the function does for one lane. A run that returns false has stopped.
var builtins = map[string]struct {
	params int
	run    func(x *exec, in *inst, l int, args []uint64) (result uint64, ok bool)
}{
	"vprintf":      {2, builtinPrintf},
	"__assertfail": {5, builtinAssert},
	"malloc":       {1, builtinMalloc},
	"free":         {1, builtinFree},
}

// builtin decodes a call of a function without a body: an annotation, one of builtins, or one of
// the device runtime (runtime.go). Anything else is unsupported, since its effect on memory is
// unknown. Arguments and results are .param variables of at most 8 bytes, as the CUDA headers
// declare them. The function runs lane by lane, in lane order.
func (c *compiler) builtin(in *ir.Instr) error {
	if c.annotation(in) {
		return nil
	}
	// Names of C functions are not mangled, so they can be compared directly.
	name := in.Callee.Name
	b, ok := builtins[name]
	if short, r, ok := runtimeOf(in.Callee); ok {
		return c.runtimeCall(in, short, r)
	}
	if why := notInKernels[runtimeName(name)]; why != "" {
		return fmt.Errorf("call of %s: %s", name, why)
	}
	if !ok {
		return fmt.Errorf("call of %s, which has no body in this file", in.Callee.Demangled)
	}
	if len(in.Src) != b.params {
		return fmt.Errorf("call of %s with %d arguments; it has %d", name, len(in.Src), b.params)
	}
	for _, o := range in.Src {
		if o.Kind != ir.VarVal || o.Var.Size > 8 || o.Var.InReg {
			return fmt.Errorf("call of %s: arguments must be .param variables", name)
		}
	}
	for _, o := range in.Dst {
		if o.Kind == ir.VarVal && (o.Var.Size > 8 || o.Var.InReg) {
			return fmt.Errorf("call of %s: the result must be a .param variable of at most 8 bytes", name)
		}
	}
	if err := c.noteBuiltin(name); err != nil {
		return err
	}
	open := uint32(0)
	if c.slice != nil && slice.MayFail(name) {
		open = 1
	}
	run := func(x *exec, in *inst) {
		var args [8]uint64
		for t := x.m; t != 0; t &= t - 1 {
			l := bits.TrailingZeros32(t) & 31
			for i, o := range in.ir.Src {
				p := place{x.frame, o.Var}
				if x.unk != nil && p.unknown(l) {
					x.dependsOn(in, l, "argument "+fmt.Sprint(i)+" of "+name, 0)
					return
				}
				args[i] = loadParam(p.bytes(l))
			}
			r, ok := b.run(x, in, l, args[:b.params])
			if !ok {
				return
			}
			if len(in.ir.Dst) > 0 && in.ir.Dst[0].Kind == ir.VarVal {
				p := place{x.frame, in.ir.Dst[0].Var}
				storeParam(p.bytes(l), r)
				if x.unk != nil {
					p.setUnknown(open<<l, 0, 1<<l)
				}
			}
		}
	}
	c.emit(inst{run: run, guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}})
	return nil
}

// noteBuiltin records what a call of a builtin means for the program.
func (c *compiler) noteBuiltin(name string) error {
	switch name {
	case "malloc", "free":
		if c.mapped != nil && !c.mapped.arena.hasHeap() {
			return fmt.Errorf("call of %s: this program has no heap on the device", name)
		}
		c.p.usesHeap = true
	case "vprintf":
		c.p.prints = true
	}
	return nil
}

// loadParam reads a parameter of at most 8 bytes.
func loadParam(b []byte) uint64 {
	var v [8]byte
	copy(v[:], b)
	return binary.LittleEndian.Uint64(v[:])
}

// storeParam writes a parameter of at most 8 bytes.
func storeParam(b []byte, v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	copy(b, w[:])
}

// maxHeapObject bounds one allocation by the device's malloc, in bytes: the default heap of CUDA
// has 8 MiB.
const maxHeapObject = 8 << 20

// builtinMalloc allocates an object of its own, filled with zeros. Addresses are never reused, so
// that a use after free is detected. It returns null for sizes above the bound, for none, and when
// the objects are used up, as the device does when its heap is exhausted.
func builtinMalloc(x *exec, _ *inst, _ int, args []uint64) (uint64, bool) {
	if a := x.mem.arena; a != nil {
		addr := uint64(0)
		if args[0] != 0 {
			addr = a.malloc(args[0])
			x.mem.table = a.table.Load()
		}
		x.wrote = true
		return addr, true
	}
	if args[0] == 0 || args[0] > maxHeapObject || len(x.mem.objs) >= x.prog.space.max {
		return 0, true // as the device does when its heap is exhausted
	}
	id := len(x.mem.objs)
	spec := &objectSpec{name: fmt.Sprintf("malloc#%d", id-x.mem.heap+1), space: event.Global,
		size: args[0], bounded: true, fill: launch.FillZero}
	o := x.mem.newObject(spec, id, x.prog.space.base(id))
	x.mem.objs = append(x.mem.objs, o)
	x.wrote = true
	return o.base, true
}

// builtinFree marks an object as freed, which makes every later access to it out of bounds. Null is
// ignored, as in C; any other pointer that malloc did not return, and a second free, stop the run.
func builtinFree(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	if args[0] == 0 {
		return 0, true
	}
	if x.mem.arena != nil {
		return 0, x.freeMapped(in, l, args[0])
	}
	o := x.mem.own(args[0])
	if o == nil || o.base != args[0] || o.id < x.mem.heap && (o.buffer == nil || !o.buffer.Heap) {
		x.fail(in, OutOfBounds, l, "free of %s, which malloc did not return", x.describe(args[0]))
		return 0, false
	}
	if o.freed {
		x.fail(in, OutOfBounds, l, "free of %s, which has been freed", o.name)
		return 0, false
	}
	// An object of size 0 makes every access to it fail; its name is kept for messages.
	spec := *o.objectSpec
	spec.size = 0
	o.objectSpec, o.freed = &spec, true
	return 0, true
}

// freeMapped is free in an arena. It reports false if the run stops.
func (x *exec) freeMapped(in *inst, l int, addr uint64) bool {
	o := x.mem.table.find(addr)
	switch {
	case o == nil || o.base != addr || !o.heap:
		x.fail(in, OutOfBounds, l, "free of %s, which malloc did not return", x.describe(addr))
		return false
	case o.freed:
		x.fail(in, OutOfBounds, l, "free of %s, which has been freed", o.name)
		return false
	}
	x.mem.arena.release(addr)
	x.mem.table, x.mapped = x.mem.arena.table.Load(), [4]*object{}
	return true
}

// builtinAssert is __assertfail(message, file, line, function, charsize), the target of a failed
// assert(). The run stops, as the grid would.
func builtinAssert(x *exec, in *inst, l int, args []uint64) (uint64, bool) {
	x.fail(in, AssertFailed, l, "%s:%d: %s: assertion %q failed",
		x.cString(l, args[1]), uint32(args[2]), x.cString(l, args[3]), x.cString(l, args[0]))
	return 0, false
}

// cString reads a string of at most 4 KiB from device memory, up to its NUL or to the first byte
// that is unknown or not mapped. It serves messages, so a bad pointer must not stop the run.
func (x *exec) cString(l int, addr uint64) string {
	var s []byte
	for len(s) < 4096 {
		b, known := x.peek(l, addr+uint64(len(s)), 1)
		if b == nil || b[0] == 0 || !known {
			break
		}
		s = append(s, b[0])
	}
	return string(s)
}

// peek returns n bytes at a generic address as lane l sees them, and whether they are known; nil if
// no memory is there. It sends no event.
func (x *exec) peek(l int, addr, n uint64) ([]byte, bool) {
	sp := &x.prog.space
	if addr>>sp.shift != 0 {
		b := make([]byte, n)
		if o := x.find(addr); o != nil && x.spec != nil && !x.spec.reads(x, o) {
			return nil, false
		}
		known, ok := x.find(addr).read(addr, b)
		if !ok {
			return nil, false
		}
		return b, known
	}
	// A generic address below the objects is in a window of shared or private memory.
	var b []byte
	off := addr & (1<<sp.window - 1)
	known := true
	switch sp.windowOf(addr) {
	case sharedWindow:
		b, off = x.block.shared, x.ownOffset(off)
		if x.unk != nil && off+n <= uint64(len(b)) {
			known = !x.block.anyUnknown(off, n)
		}
	case localWindow, paramWindow:
		b, off, _ = x.privateBytes(l, addr)
		if x.unk != nil && off+n <= uint64(len(b)) {
			known = !x.unk.privateUnknown(x, l, addr, n)
		}
	}
	if off >= uint64(len(b)) || n > uint64(len(b))-off {
		return nil, false
	}
	return b[off : off+n], known
}

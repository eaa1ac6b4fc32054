package kernel

import (
	"encoding/binary"
	"fmt"

	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// Windows of the generic address space. Objects of global memory are objectStep apart, so that an
// access out of bounds hits nothing.
const (
	sharedWindow = 1 << 56
	objectStep   = 1 << 32
)

// window returns what is added to an address of a space to make it generic.
func window(s event.Space) uint64 {
	if s == event.Shared {
		return sharedWindow
	}
	return 0
}

// object is a variable or a buffer.
type object struct {
	name string
	size uint64 // 0: unbounded
	elem int    // bytes of an element, for names
	init func(p []byte, start uint64)
}

// memory is the memory of a launch before it starts.
type memory struct {
	objects []object // global and constant ones; number i is at (i+1)*objectStep
	vars    map[*ir.Var]uint64
	shared  []ir.SharedVar
	bytes   uint64 // of shared memory
	params  []byte
	threads []int // [thread]: its block
}

// newMemory lays memory out.
func newMemory(k *ir.Func, cfg *launch.Config) (*memory, error) {
	m := &memory{vars: map[*ir.Var]uint64{}, params: make([]byte, k.ParamSize)}
	vars, static := ir.Layout(k)
	m.shared, m.bytes = vars, uint64(static)+uint64(cfg.SharedBytes(uint32(static)))
	for i := range vars {
		m.vars[vars[i].Var] = uint64(vars[i].At)
	}
	for _, v := range append(append([]*ir.Var(nil), k.Module.Vars...), k.Vars...) {
		if v.Space != event.Global && v.Space != event.Const {
			continue
		}
		if len(v.Relocs) > 0 {
			return nil, fmt.Errorf("variable %s, whose initial value has addresses, is not supported by "+
				"heddle explore", v.Shown())
		}
		init := v.Init
		m.vars[v] = m.add(object{name: v.Shown(), size: uint64(v.Size), elem: v.Type.Size(),
			init: func(p []byte, start uint64) {
				if start < uint64(len(init)) {
					copy(p, init[start:])
				}
			}})
	}
	return m, m.arguments(k, cfg)
}

// add appends an object and returns its address.
func (m *memory) add(o object) uint64 {
	m.objects = append(m.objects, o)
	return uint64(len(m.objects)) * objectStep
}

// arguments fills the parameters in, with an object for each buffer.
func (m *memory) arguments(k *ir.Func, cfg *launch.Config) error {
	buffers := map[*launch.Buffer]uint64{}
	for i, v := range k.Params {
		a := &cfg.Args[i]
		switch {
		case a.Unknown, a.Func != "", a.Symbol != "", len(a.Fields) > 0:
			return fmt.Errorf("the value of argument %s is not supported by heddle explore", a.Name)
		case a.Buffer == nil:
			copy(m.params[v.Offset:v.Offset+v.Size], a.Bits)
			continue
		}
		at, ok := buffers[a.Buffer]
		if !ok {
			o, err := bufferObject(a.Buffer)
			if err != nil {
				return err
			}
			at = m.add(o)
			buffers[a.Buffer] = at
		}
		if v.Size != 8 {
			return fmt.Errorf("pointer %s of %d bytes is not supported by heddle explore", a.Name, v.Size)
		}
		binary.LittleEndian.PutUint64(m.params[v.Offset:], at+a.Offset)
	}
	return nil
}

// bufferObject returns the object of a buffer. Random contents are zeros here: they stand for
// contents that nothing specifies.
func bufferObject(b *launch.Buffer) (object, error) {
	o := object{name: b.Name, size: b.Size, elem: int(b.Elem), init: func([]byte, uint64) {}}
	switch {
	case len(b.Pointers) > 0 || b.Fill == launch.FillUnknown:
		return o, fmt.Errorf("the contents of %s are not supported by heddle explore", b.Name)
	case b.Fill == launch.FillFile:
		o.init = func(p []byte, start uint64) {
			if start < uint64(len(b.Data)) {
				copy(p, b.Data[start:])
			}
		}
	case b.Fill == launch.FillValue:
		o.init = func(p []byte, start uint64) {
			var word [4]byte
			binary.LittleEndian.PutUint32(word[:], b.Value)
			for i := range p {
				p[i] = word[(start+uint64(i))%4]
			}
		}
	case b.HasElements():
		o.init = b.Init
	}
	return o, nil
}

// address returns the address of a variable in its space.
func (m *memory) address(in *ir.Instr, v *ir.Var) uint64 {
	at, ok := m.vars[v]
	if !ok {
		refuse(in, "variable %s in .%v memory is not supported by heddle explore", v.Shown(), v.Space)
	}
	return at
}

// parameter returns bytes of the parameters.
func (m *memory) parameter(v *ir.Var, off uint64, size int) (uint64, bool) {
	at := uint64(v.Offset) + off
	if size > 8 || at+uint64(size) > uint64(len(m.params)) {
		return 0, false
	}
	var b [8]byte
	copy(b[:], m.params[at:at+uint64(size)])
	return binary.LittleEndian.Uint64(b[:]), true
}

// locate implements explore.Program.Locate: the shared memory of a block is an area of its own.
func (m *memory) locate(thread int, in *explore.Inst, addr int64) (explore.Location, error) {
	a := uint64(addr)
	loc := explore.Location{Addr: a, Size: in.Size}
	bad := func(what string) (explore.Location, error) {
		return loc, fmt.Errorf("accesses %s", what)
	}
	if a%uint64(in.Size) != 0 {
		return bad("a misaligned address")
	}
	if a >= sharedWindow {
		off := a - sharedWindow
		if off+uint64(in.Size) > m.bytes {
			return bad(fmt.Sprintf("shared memory at %d, which has %d bytes", off, m.bytes))
		}
		loc.Area = 1 + m.threads[thread]
		loc.Name = m.sharedName(off)
		return loc, nil
	}
	i, off := a/objectStep, a%objectStep
	if i < 1 || i > uint64(len(m.objects)) {
		return bad("no object")
	}
	o := &m.objects[i-1]
	if o.size > 0 && off+uint64(in.Size) > o.size {
		return bad(fmt.Sprintf("%s at byte %d, which has %d bytes", o.name, off, o.size))
	}
	var b [8]byte
	o.init(b[:in.Size], off)
	loc.Value = int64(binary.LittleEndian.Uint64(b[:]))
	loc.Name = o.name
	if o.size != uint64(in.Size) {
		loc.Name = fmt.Sprintf("%s[%d]", o.name, off/uint64(in.Size))
	}
	return loc, nil
}

// sharedName names a byte of shared memory.
func (m *memory) sharedName(off uint64) string {
	for _, v := range m.shared {
		if at := uint64(v.At); off >= at && (off < at+uint64(v.Size) || v.Size == 0) {
			return fmt.Sprintf("%s+%d", v.Shown(), off-at)
		}
	}
	return fmt.Sprintf("shared memory at %d", off)
}

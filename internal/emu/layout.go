package emu

import (
	"encoding/binary"
	"fmt"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// The memory of a launch: objects for module variables and buffers, the kernel's parameters, and
// the layout of shared memory. It is computed once for a machine; each run creates its own
// contents. An object is created for each buffer, not for each pointer, so that arguments which
// alias share one.

// sharedLayout holds the positions of the kernel's shared variables: static ones up to dynamic,
// then the launch's dynamic shared memory up to total.
type sharedLayout struct {
	vars    []ir.SharedVar
	offset  map[*ir.Var]uint32
	locals  []launch.Local // __local arguments, in the dynamic part
	dynamic uint32
	total   uint32
}

// paramImage is the kernel's parameter memory, equal for all threads and never written.
type paramImage struct {
	data   []byte
	origin []uint32 // of each byte: 0 if it is known, else the origin of the unknown value
}

// layout creates the memory objects of the launch. In a trace, variables without an initialiser and
// variables that the kernel writes start unknown, since the host or an earlier kernel may have
// filled them.
func (c *compiler) layout(k *ir.Func) error {
	p := c.p
	p.origins = []string{"an unspecified input", "memory that has not been written",
		"the carry flag, which is not set at the start of a function, nor behind a call"}
	if err := c.layoutShared(k); err != nil {
		return err
	}
	if c.mapped != nil {
		p.arena = c.mapped.arena
		if p.launches {
			p.buffers = 0 // the one object beside the arena: newMemory
		}
		return nil
	}
	if c.under != nil {
		c.layoutUnder()
		return nil
	}
	objects := make(map[*launch.Buffer]int)
	vars := c.memoryVars(k)
	c.savedVars(vars, objects)
	if err := c.layoutParams(k, objects); err != nil {
		return err
	}
	for _, v := range vars {
		if _, ok := p.byVar[v]; ok {
			continue
		}
		p.byVar[v] = len(p.objects)
		// Variables have exactly their size: an access beyond it is out of bounds.
		spec := objectSpec{name: v.Shown(), space: v.Space, size: uint64(v.Size), bounded: true, shape: v.Shape}
		if c.slice != nil && (v.Init == nil || c.slice.Written(v)) { // filled by the host or by a kernel
			spec.fill, spec.origin = launch.FillUnknown, uint32(len(p.origins))
			if c.slice.Options().Data {
				spec.fill, spec.seed = launch.FillRandom, c.slice.Options().Seed
			}
			p.origins = append(p.origins, "the contents of "+spec.name)
		}
		p.objects = append(p.objects, spec)
	}
	for _, v := range vars {
		if c.slice != nil && c.slice.Written(v) || p.objects[p.byVar[v]].buffer != nil {
			continue
		}
		if err := c.initVar(v); err != nil {
			return err
		}
	}
	if err := c.hostSymbols(k, vars, objects); err != nil {
		return err
	}
	if p.launches {
		p.buffers = len(p.objects)
		p.objects = append(p.objects, bufferSpec)
	}
	if err := c.pointersInBuffers(objects); err != nil {
		return err
	}
	return p.checkObjects(k)
}

// bufferSpec is the object with the parameters of launches.
var bufferSpec = objectSpec{name: "parameters of launches", space: event.Global,
	size: maxBuffers * parameterBytes, bounded: true}

// layoutUnder takes over the memory of the run whose threads launch the kernel. Its parameters come
// with each launch.
func (c *compiler) layoutUnder() {
	p, from := c.p, c.under
	p.under, p.objects, p.byVar, p.buffers = true, from.objects, from.byVar, from.buffers
	p.kids, p.track = from.kids, from.track
	p.origins = slices.Clone(from.origins)
}

// launchParams reports whether decoded code serves launches with other parameters and grids.
func (c *compiler) launchParams() bool { return c.mapped != nil || c.under != nil }

// checkObjects returns an error if the objects do not fit in the address space.
func (p *program) checkObjects(k *ir.Func) error {
	if len(p.objects) > p.space.max {
		return &UnsupportedError{k.Span, fmt.Sprintf("%d memory objects with %d-bit addresses",
			len(p.objects), k.Module.AddressSize)}
	}
	for _, o := range p.objects {
		if o.size > p.space.limit {
			return &UnsupportedError{k.Span, fmt.Sprintf("%s has %d bytes; at most %d can be addressed",
				o.name, o.size, p.space.limit)}
		}
	}
	return nil
}

// memoryVars returns the global and constant variables that need an object: those of the module, and
// of the functions that the kernel can reach.
func (c *compiler) memoryVars(k *ir.Func) []*ir.Var {
	var vars []*ir.Var
	for _, v := range k.Module.Vars {
		if (v.Space == event.Global || v.Space == event.Const) && (!v.Extern || v.Init != nil) &&
			v.Size > 0 {
			vars = append(vars, v)
		}
	}
	var funcs []*ir.Func
	for _, fc := range c.p.funcs {
		funcs = append(funcs, fc.fn)
	}
	if c.p.launches { // threads may launch any kernel
		funcs = k.Module.Funcs
	}
	for _, f := range funcs {
		for _, v := range f.Vars {
			if v.Space == event.Global || v.Space == event.Const {
				vars = append(vars, v)
			}
		}
	}
	return vars
}

// savedVars creates the objects of the variables that a saved launch has: pointers may lead to them,
// as to the buffers of arguments.
func (c *compiler) savedVars(vars []*ir.Var, objects map[*launch.Buffer]int) {
	for _, v := range vars {
		b := c.cfg.Vars[v.Name]
		if b == nil || b.Size != uint64(v.Size) || c.slice != nil && c.slice.Written(v) {
			continue
		}
		if _, ok := objects[b]; ok {
			continue
		}
		c.p.byVar[v] = len(c.p.objects)
		objects[b] = len(c.p.objects)
		c.p.objects = append(c.p.objects, objectSpec{name: v.Shown(), space: v.Space, size: b.Size,
			bounded: true, fill: b.Fill, data: b.Data, buffer: b})
	}
}

// pointersInBuffers stores the addresses of buffers in the contents of others, as a saved launch has
// them. That may reach further buffers.
func (c *compiler) pointersInBuffers(objects map[*launch.Buffer]int) error {
	for i := 0; i < len(c.p.objects); i++ {
		b := c.p.objects[i].buffer
		if b == nil || len(b.Pointers) == 0 || b.Fill != launch.FillFile {
			continue
		}
		end := 0
		for _, f := range b.Pointers {
			end = max(end, f.Offset+8)
		}
		data := make([]byte, max(end, len(b.Data)))
		copy(data, b.Data)
		for _, f := range b.Pointers {
			addr, err := c.pointer(objects, f.Buffer, f.At)
			if err != nil {
				return fmt.Errorf("byte %d of %s: %w", f.Offset, b.Name, err)
			}
			binary.LittleEndian.PutUint64(data[f.Offset:], addr)
		}
		c.p.objects[i].data = data
	}
	return nil
}

// layoutShared takes the positions of shared variables from package ir, which the prover shares,
// and adds the launch's dynamic shared memory behind them. Sizes are in bytes. The window of shared
// addresses is the limit, not that of a device, since the target is unknown.
func (c *compiler) layoutShared(k *ir.Func) error {
	s := &c.p.shared
	s.offset = make(map[*ir.Var]uint32)
	vars, size := ir.Layout(k)
	total := uint64(size) + uint64(c.cfg.SharedBytes(uint32(size)))
	if total > 1<<c.p.space.window {
		return fmt.Errorf("%d bytes of shared memory; at most %d can be addressed", total,
			uint64(1)<<c.p.space.window)
	}
	s.locals = c.cfg.Locals
	s.vars, s.dynamic, s.total = vars, uint32(size), uint32(total)
	for _, v := range vars {
		s.offset[v.Var] = uint32(v.At)
	}
	return nil
}

// shapeOf sets the shape of a buffer from the type of the parameter that points to its beginning.
// Parameters of two types leave it unknown.
func (c *compiler) shapeOf(spec *objectSpec, v *ir.Var, offset uint64) {
	switch {
	case offset != 0 || v.Shape.Elem == 0:
	case spec.shape.Elem == 0:
		spec.shape = v.Shape
	case spec.shape.Elem != v.Shape.Elem || len(spec.shape.Dims) != len(v.Shape.Dims):
		spec.shape = ir.Shape{Elem: -1}
	}
}

// layoutParams writes the arguments into the kernel's parameters, and creates an object for each
// buffer, which objects numbers. Arguments that share a buffer share the object. An unknown argument marks its bytes with
// its origin, so that a message can name it. Pointers inside a struct argument are its Fields,
// which are always known, as its Parts are.
func (c *compiler) layoutParams(k *ir.Func, objects map[*launch.Buffer]int) error {
	img := &c.p.params
	img.data = make([]byte, k.ParamSize)
	img.origin = make([]uint32, k.ParamSize)
	for i, v := range k.Params {
		a := &c.cfg.Args[i]
		if v.Offset < 0 || v.Offset+v.Size > len(img.data) {
			return fmt.Errorf("parameter %s lies outside the parameter area", v.Name)
		}
		b := img.data[v.Offset : v.Offset+v.Size]
		switch {
		case a.Unknown:
			c.p.track = true
			// Origin 0 means "known", so identifiers start above the predefined ones.
			id := uint32(len(c.p.origins))
			c.p.origins = append(c.p.origins, "argument "+a.Name)
			for j := range b {
				img.origin[v.Offset+j] = id
			}
			for _, p := range a.Parts {
				copy(b[p.Offset:p.Offset+p.Size], a.Bits[p.Offset:])
				clear(img.origin[v.Offset+p.Offset : v.Offset+p.Offset+p.Size])
			}
		case a.Buffer != nil:
			addr, err := c.pointer(objects, a.Buffer, a.Offset)
			if err == nil {
				c.shapeOf(&c.p.objects[objects[a.Buffer]], v, a.Offset)
				err = putAddr(b, addr)
			}
			if err != nil {
				return fmt.Errorf("argument %s: %w", a.Name, err)
			}
			// OpenCL's __constant pointers refer to ordinary buffers, which ld.const may then access.
			if v.PtrSpace == event.Const {
				c.p.objects[objects[a.Buffer]].constant = true
			}
			continue
		case a.Func != "":
			addr, err := c.funcNamed(a.Func)
			if err != nil {
				return fmt.Errorf("argument %s: %w", a.Name, err)
			}
			if err := putAddr(b, addr); err != nil {
				return fmt.Errorf("argument %s: %w", a.Name, err)
			}
		default:
			copy(b, a.Bits)
		}
		for _, f := range a.Fields {
			if f.Offset < 0 || f.Offset+8 > len(b) {
				return fmt.Errorf("argument %s: no pointer fits at offset %d of %d bytes", a.Name, f.Offset,
					len(b))
			}
			addr, err := c.pointer(objects, f.Buffer, f.At)
			if err != nil {
				return fmt.Errorf("argument %s+%d: %w", a.Name, f.Offset, err)
			}
			binary.LittleEndian.PutUint64(b[f.Offset:], addr)
			for j := range 8 {
				img.origin[v.Offset+f.Offset+j] = 0
			}
		}
	}
	return nil
}

// funcNamed returns the address of a function to which the kernel refers, by its name or as
// launch.Matches accepts it.
func (c *compiler) funcNamed(name string) (uint64, error) {
	for _, fc := range c.p.funcs[1:] {
		if launch.Matches(fc.fn, name) {
			return fc.addr, nil
		}
	}
	return 0, fmt.Errorf("the kernel refers to no function %s", name)
}

// putAddr writes an address into a parameter.
func putAddr(b []byte, addr uint64) error {
	switch len(b) {
	case 8:
		binary.LittleEndian.PutUint64(b, addr)
	case 4:
		if addr>>32 != 0 {
			return fmt.Errorf("a 64-bit address does not fit in a parameter of 4 bytes")
		}
		binary.LittleEndian.PutUint32(b, uint32(addr))
	default:
		return fmt.Errorf("a pointer for a parameter of %d bytes", len(b))
	}
	return nil
}

// pointer returns the address of byte at of a buffer, or of its end. It fails beyond the end, since
// the address could be in another object.
func (c *compiler) pointer(objects map[*launch.Buffer]int, b *launch.Buffer, at uint64) (uint64,
	error) {
	addr := c.bufferAddr(objects, b)
	if o := &c.p.objects[objects[b]]; at > o.size {
		return 0, fmt.Errorf("it points to byte %d of %s, which has %d bytes", at, o.name, o.size)
	}
	return addr + at, nil
}

// bufferAddr returns the address of a buffer, whose object is created on first use.
func (c *compiler) bufferAddr(objects map[*launch.Buffer]int, b *launch.Buffer) uint64 {
	id, ok := objects[b]
	if !ok {
		id = len(c.p.objects)
		objects[b] = id
		spec := objectSpec{name: b.Name, space: event.Global, size: b.Size, bounded: b.Size != 0,
			fill: b.Fill, value: b.Value, seed: b.Seed, data: b.Data, buffer: b}
		// A buffer of unspecified size extends as far as the address space allows.
		if !spec.bounded {
			spec.size = c.p.space.limit
		}
		// Unknown contents enable the tracking of unknown values.
		if b.Fill == launch.FillUnknown {
			c.p.track = true
			spec.origin = uint32(len(c.p.origins))
			c.p.origins = append(c.p.origins, "the contents of "+b.Name)
		}
		c.p.objects = append(c.p.objects, spec)
	}
	return c.p.space.base(id)
}

// initVar sets the initial contents of a module variable: the bytes of its initialiser, with
// addresses inserted. A variable without one keeps the fill that layout chose.
func (c *compiler) initVar(v *ir.Var) error {
	spec := &c.p.objects[c.p.byVar[v]]
	if v.Init == nil && len(v.Relocs) == 0 {
		return nil
	}
	// The initialiser is stored as bytes; addresses in it are inserted afterwards.
	spec.fill = launch.FillFile
	var err error
	spec.data, err = initBytes(v, c.relocAddr)
	return err
}

// initBytes returns the initial contents of a variable. resolve returns the value of an address in
// its initialiser.
func initBytes(v *ir.Var, resolve func(ir.Reloc) (uint64, error)) ([]byte, error) {
	data := make([]byte, v.Size)
	copy(data, v.Init)
	for _, r := range v.Relocs {
		addr, err := resolve(r)
		if err != nil {
			return nil, fmt.Errorf("initialiser of %s: %w", v.Name, err)
		}
		if r.Offset < 0 || r.Size < 1 || r.Size > 8 || r.Offset+r.Size > len(data) {
			return nil, fmt.Errorf("initialiser of %s: an address of %d bytes at offset %d does not fit",
				v.Name, r.Size, r.Offset)
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], addr>>r.Shift)
		copy(data[r.Offset:r.Offset+r.Size], b[:])
	}
	return data, nil
}

// relocAddr returns the value of an address in an initialiser. The result is 0 for what no
// instruction of the kernel can reach, because it has no place in this launch.
func (c *compiler) relocAddr(r ir.Reloc) (uint64, error) {
	add := uint64(r.Addend)
	switch {
	case r.Func != nil:
		fc := c.p.byFunc[r.Func]
		if r.Func.Kernel {
			return c.funcAddr(r.Func) + add, nil
		}
		if fc == nil { // ir.ReachableFuncs has those of all variables that an instruction uses
			return 0, nil
		}
		return fc.addr + add, nil
	case r.Target == nil:
		return add, nil
	case r.Target.Space == event.Shared:
		off, ok := c.p.shared.offset[r.Target]
		if !ok { // named by a variable that no instruction uses
			return 0, nil
		}
		if r.Generic {
			add += c.p.space.toGeneric(event.Shared)
		}
		return uint64(off) + add, nil
	}
	id, ok := c.p.byVar[r.Target]
	if !ok {
		return 0, fmt.Errorf("the address of %s, which has no memory in this kernel", r.Target.Name)
	}
	return c.p.space.base(id) + add, nil
}

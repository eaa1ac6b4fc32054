package emu

import (
	"fmt"
	"slices"
	"sort"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// Sites. An instruction of a function that is called from two places has a site for each, so that a
// race report can show the calls that led to it. The sites of one calling context are consecutive.

// maxContexts bounds the call tree. Further contexts of a function share one, whose sites identify
// the instruction but not the calls that led to it.
const maxContexts = 4096

// buildContexts numbers the sites: each node of the kernel's call tree gets a range. A recursive
// call leads back to the context of the activation that it repeats, so that the tree is finite.
func (p *program) buildContexts() {
	shared := make(map[*fcode]*callCtx)
	next := event.Site(0)
	add := func(c *callCtx) *callCtx {
		c.base = next
		next += event.Site(max(c.fn.fn.NumInstrs, 1))
		c.kids = make([][]*callCtx, c.fn.calls)
		p.ctxs = append(p.ctxs, c)
		return c
	}
	p.root = add(&callCtx{fn: p.funcs[0]})
	for i := 0; i < len(p.ctxs); i++ { // breadth first: p.ctxs grows
		c := p.ctxs[i]
		for k := range c.fn.code {
			in := &c.fn.code[k]
			if in.call == nil {
				continue
			}
			for _, t := range in.call.targets {
				c.kids[in.call.site] = append(c.kids[in.call.site], p.context(c, t, in.ir, add, shared))
			}
		}
	}
}

// context returns the context of a call of t in from, created on first use.
func (p *program) context(from *callCtx, t *fcode, call *ir.Instr, add func(*callCtx) *callCtx,
	shared map[*fcode]*callCtx) *callCtx {
	// A recursive call reuses the context of the active call of the same function.
	for c := from; c != nil; c = c.parent {
		if c.fn == t {
			return c
		}
	}
	if len(p.ctxs) < maxContexts {
		return add(&callCtx{fn: t, parent: from, call: call})
	}
	if shared[t] == nil {
		shared[t] = add(&callCtx{fn: t})
	}
	return shared[t]
}

// funcAt returns the number of the function at an address; -1 if there is none.
func (p *program) funcAt(addr uint64) int {
	return slices.IndexFunc(p.funcs, func(fc *fcode) bool { return fc.addr == addr })
}

// Site describes a site of an event. It returns the zero SiteInfo for an invalid site.
func (m *Machine) Site(s event.Site) SiteInfo {
	ctxs := m.prog.ctxs
	i := sort.Search(len(ctxs), func(i int) bool { return ctxs[i].base > s }) - 1
	if i < 0 {
		return SiteInfo{}
	}
	c := ctxs[i]
	info := SiteInfo{Instr: instrAt(c.fn.fn, int(s-c.base))}
	if info.Instr == nil {
		return info
	}
	info.Stack = append(info.Stack, info.Instr.Loc)
	for ; c.call != nil; c = c.parent {
		info.Calls = append(info.Calls, c.call)
		info.Stack = append(info.Stack, c.call.Loc)
	}
	return info
}

// SiteOf returns a site of an instruction: that of the first chain of calls that leads to it. ok is
// false if the kernel cannot reach it.
func (m *Machine) SiteOf(in *ir.Instr) (s event.Site, ok bool) {
	for _, c := range m.prog.ctxs {
		if instrAt(c.fn.fn, in.Index) == in {
			return c.base + event.Site(in.Index), true
		}
	}
	return 0, false
}

// SharedAddress returns where the emulator places a shared variable.
func (m *Machine) SharedAddress(v *ir.Var) (addr uint64, ok bool) {
	for _, s := range m.prog.shared.vars {
		if s.Var == v {
			return uint64(s.At), true
		}
	}
	return 0, false
}

// instrAt returns the instruction of f with the given index; nil if there is none.
func instrAt(f *ir.Func, index int) *ir.Instr {
	for _, b := range f.Blocks {
		if n := len(b.Instrs); n > 0 {
			if k := index - b.Instrs[0].Index; k >= 0 && k < n {
				return b.Instrs[k]
			}
		}
	}
	return nil
}

// NumSites returns the number of sites; they are 0 to NumSites()-1.
func (m *Machine) NumSites() int {
	last := m.prog.ctxs[len(m.prog.ctxs)-1]
	return int(last.base) + max(last.fn.fn.NumInstrs, 1)
}

// Kernel is the kernel that the machine executes.
func (m *Machine) Kernel() *ir.Func { return m.kernel }

// LaunchesGrids reports whether threads of the kernel may launch grids.
func (m *Machine) LaunchesGrids() bool { return m.prog.launches }

// Geometry is the shape of the launch.
func (m *Machine) Geometry() event.Geometry { return m.cfg.Geometry }

// SharedBytes returns the size of a block's shared memory, static and dynamic.
func (m *Machine) SharedBytes() int { return int(m.prog.shared.total) }

// Object names the memory at an address of an event: an address of global memory, or an offset into
// the shared memory of a block. ok is false if no object is known there.
func (m *Machine) Object(space event.Space, block uint32, addr uint64) (o Object, offset uint64,
	ok bool) {
	p := m.prog
	if space == event.Shared {
		return p.sharedObject(addr)
	}
	if p.arena != nil {
		return p.arena.object(addr)
	}
	id := p.space.object(addr)
	if id < 0 {
		return Object{}, 0, false
	}
	base := p.space.base(id)
	if id >= len(p.objects) {
		return Object{Name: fmt.Sprintf("malloc#%d", id-len(p.objects)+1), Space: event.Global,
			Base: base}, addr - base, p.usesHeap
	}
	spec := &p.objects[id]
	o = Object{Name: spec.name, Space: spec.space, Base: base, Shape: spec.shape}
	if spec.bounded {
		o.Size = spec.size
	}
	return o, addr - base, addr-base < spec.size
}

// sharedObject returns the shared variable at an offset. Arrays without a bound that share the
// dynamic shared memory are reported by the name of the first one.
func (p *program) sharedObject(addr uint64) (Object, uint64, bool) {
	for _, v := range p.shared.vars {
		size := uint64(v.Size)
		if v.Unsized {
			size = uint64(p.shared.total) - uint64(v.At)
		}
		if addr >= uint64(v.At) && addr-uint64(v.At) < size {
			return Object{Name: v.Shown(), Space: event.Shared, Base: uint64(v.At), Size: size, Shape: v.Shape},
				addr - uint64(v.At), true
		}
	}
	for _, l := range p.shared.locals {
		if addr >= uint64(l.At) && addr-uint64(l.At) < uint64(l.Size) {
			return Object{Name: l.Name, Space: event.Shared, Base: uint64(l.At), Size: uint64(l.Size)},
				addr - uint64(l.At), true
		}
	}
	if addr >= uint64(p.shared.dynamic) && addr < uint64(p.shared.total) {
		d := uint64(p.shared.dynamic)
		return Object{Name: "dynamic shared memory", Space: event.Shared, Base: d,
			Size: uint64(p.shared.total) - d}, addr - d, true
	}
	return Object{}, 0, false
}

// near is what an access outside of the block's shared memory is close to.
type near struct {
	text     string // "s[128]"
	declared string // of its array: "s has 128 elements"; empty if this is not known
	bound    Bound
}

// nearShared names what an out-of-bounds access is to: an element of the last variable that begins
// before it, or what is before the first variable. Without variables it is the address.
func (p *program) nearShared(addr, size uint64) near {
	best, first := -1, -1
	for i, v := range p.shared.vars {
		if uint64(v.At) <= addr && (best < 0 || v.At >= p.shared.vars[best].At) {
			best = i
		}
		if first < 0 || v.At < p.shared.vars[first].At {
			first = i
		}
	}
	if best < 0 {
		return near{text: fmt.Sprintf("%d bytes at shared address %#x", size, addr)}
	}
	below := -int64(addr)
	if addr>>32 == 0 {
		below = -int64(int32(addr))
	}
	if below > 0 { // by a negative index
		v := p.shared.vars[first]
		below += int64(v.At)
		elem := int64(v.Shape.Elem)
		if len(v.Shape.Dims) != 1 || elem != int64(size) || below%elem != 0 {
			return near{text: fmt.Sprintf("%d bytes, %d bytes before %s", size, below, v.Shown())}
		}
		n := near{declared: v.Shape.Declared(v.Shown()), bound: Bound{Index: -below / elem}}
		n.text = fmt.Sprintf("%s[%d]", v.Shown(), n.bound.Index)
		return n
	}
	v := p.shared.vars[best]
	off := addr - uint64(v.At)
	text, ok := v.Shape.Element(v.Shown(), off, size)
	switch {
	case !ok:
		return near{text: fmt.Sprintf("%d bytes at offset %d of %s", size, off, v.Shown())}
	case p.shared.total > p.shared.dynamic || off < uint64(v.Size):
		return near{text: text} // another array is behind this one
	}
	n := near{text: text, declared: v.Shape.Declared(v.Shown())}
	if d := v.Shape.Dims; len(d) == 1 && d[0] > 0 {
		n.bound = Bound{uint64(d[0]), int64(off / uint64(v.Shape.Elem))}
	}
	return n
}

// describe names an address in messages.
func (x *exec) describe(a uint64) string {
	if o := x.find(a); o != nil {
		return fmt.Sprintf("%s+%#x", o.name, a-o.base)
	}
	return fmt.Sprintf("%#x", a)
}

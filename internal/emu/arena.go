package emu

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"heddle/internal/event"
	"heddle/internal/ir"
)

// Memory of a program. A host program that runs beside the emulator shares one piece of memory with
// it, the arena, in which all its device memory lies: a device pointer is an address in the arena.
// Its contents outlive a run. Allocations come and go between runs, and from other goroutines
// during a run; a run looks them up in a table that never changes, so that no access takes a lock.

// Arena is global memory that a program shares with the emulator. It outlives runs. All methods may
// be called from several goroutines.
type Arena struct {
	base  uint64
	mem   []byte // nil: the memory is elsewhere
	size  uint64
	table atomic.Pointer[objectTable]
	// texture and surface objects by handle; the map never changes
	textures  atomic.Pointer[map[uint64]*Texture]
	described uint64 // changes of textures
	maps      mapChanges

	mu    sync.Mutex
	heap  Heap
	made  uint64   // allocations by the device's malloc so far
	ids   []int    // numbers of objects that are not in use
	next  int      // the first number that was never in use
	freed []uint64 // addresses of freed allocations that the table still has, the oldest first
	// the number of the first function of each module: see firstFunc
	code  map[*ir.Module]int
	codes int
}

// Allocation is a piece of an arena that kernels may access.
type Allocation struct {
	Name       string // for messages: "d_out, allocated at main.cu:12"
	Addr, Size uint64
	Space      event.Space // Global, or Const for what kernels only read
	Shape      *ir.Shape   // of a variable, for messages; nil: unknown
}

// Heap provides the memory of the device's malloc. Its methods are called during runs.
type Heap interface {
	// Malloc returns the address of n free bytes in the arena, which it does not pass to
	// Arena.Alloc; ok is false if there are none.
	Malloc(n uint64) (addr uint64, ok bool)
	// Free takes back what Malloc returned.
	Free(addr uint64)
}

// maxFreed is the number of freed allocations that an arena remembers, for messages.
const maxFreed = 1 << 12

// NewArena returns an arena without allocations, in which mem[i] is the byte at address base+i. It
// panics if base is not a multiple of 4096 from 1<<40 on, or if len(mem) is not one.
func NewArena(base uint64, mem []byte) *Arena {
	if sp := newSpace(64); base&pageMask != 0 || base>>sp.shift == 0 || len(mem)&pageMask != 0 ||
		base+uint64(len(mem)) < base {
		panic(fmt.Sprintf("an arena of %d bytes at %#x", len(mem), base))
	}
	return newArena(base, mem, uint64(len(mem)))
}

// NewAddresses returns an arena for memory that is elsewhere, such as on a GPU, at any address. It
// names what is there for reports; nothing can run in it.
func NewAddresses() *Arena { return newArena(0, nil, 1<<63) }

func newArena(base uint64, mem []byte, size uint64) *Arena {
	a := &Arena{base: base, mem: mem, size: size, code: make(map[*ir.Module]int)}
	a.table.Store(&objectTable{})
	return a
}

// SetHeap sets where the device's malloc gets memory. Without it, a run that reaches a call of
// malloc is unsupported.
func (a *Arena) SetHeap(h Heap) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heap = h
}

// Alloc makes a piece of the arena accessible to kernels that start from now on. Accesses are
// fastest to an allocation that starts at a multiple of 4096. It fails if the piece is empty, not
// within the arena, or overlaps another allocation.
func (a *Arena) Alloc(al Allocation) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.alloc(al, false)
}

// alloc is Alloc, for the device's malloc or for the program. The caller has locked a.
func (a *Arena) alloc(al Allocation, heap bool) error {
	off := al.Addr - a.base
	if al.Size == 0 || off >= a.size || al.Size > a.size-off {
		return fmt.Errorf("%d bytes at %#x are not within the %d bytes of device memory at %#x", al.Size,
			al.Addr, a.size, a.base)
	}
	t := a.table.Load()
	gone := t.within(al.Addr, al.Addr+al.Size)
	for _, o := range gone {
		if !o.freed {
			return fmt.Errorf("%d bytes at %#x overlap %s, which has %d bytes at %#x", al.Size, al.Addr,
				o.name, o.size, o.base)
		}
	}
	for _, o := range gone {
		a.ids = append(a.ids, o.id)
	}
	id := a.next
	if n := len(a.ids); n > 0 {
		id, a.ids = a.ids[n-1], a.ids[:n-1]
	} else {
		a.next++
	}
	o := &object{id: id, base: al.Addr, extent: al.Size, mapped: a.mem, start: a.base, heap: heap,
		objectSpec: &objectSpec{name: al.Name, space: al.Space, size: al.Size, bounded: true}}
	if al.Shape != nil {
		o.shape = *al.Shape
	}
	a.table.Store(t.replace(al.Addr, al.Addr+al.Size, o))
	return nil
}

// Free ends an allocation, which starts at addr. Later accesses are reported as use after free,
// until something else is allocated there. It fails if no allocation starts there.
func (a *Arena) Free(addr uint64) error { return a.FreeAt(addr, "") }

// FreeAt is Free, and names the place that frees for the messages: " at main.cu:20".
func (a *Arena) FreeAt(addr uint64, where string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.free(addr, where)
}

// free is FreeAt for a caller that has locked a.
func (a *Arena) free(addr uint64, where string) error {
	t := a.table.Load()
	o := t.find(addr)
	switch {
	case o == nil || o.base != addr:
		return fmt.Errorf("no allocation starts at %#x", addr)
	case o.freed:
		return fmt.Errorf("%s, at %#x, has been freed already", o.name, addr)
	}
	spec := *o.objectSpec
	spec.size = 0 // which makes every access fail
	gone := &object{id: o.id, base: o.base, extent: o.extent, mapped: o.mapped, start: o.start,
		heap: o.heap, freed: true, where: where, objectSpec: &spec}
	t = t.replace(o.base, o.base+o.extent, gone)
	if a.freed = append(a.freed, addr); len(a.freed) > maxFreed {
		// The address may have been allocated anew since.
		if old := t.find(a.freed[0]); old != nil && old.freed && old.base == a.freed[0] {
			t = t.replace(old.base, old.base+old.extent, nil)
			a.ids = append(a.ids, old.id)
		}
		a.freed = a.freed[1:]
	}
	a.table.Store(t)
	return nil
}

// Find returns the allocation that contains an address. ok is false if there is none, or if it was
// freed.
func (a *Arena) Find(addr uint64) (al Allocation, ok bool) {
	o := a.table.Load().find(addr)
	if o == nil || o.freed {
		return Allocation{}, false
	}
	return Allocation{Name: o.name, Addr: o.base, Size: o.size, Space: o.space}, true
}

// Freed describes the allocation that contained an address and was freed; empty if there is none.
func (a *Arena) Freed(addr uint64) string {
	if o := a.table.Load().find(addr); o != nil && o.freed {
		return o.describe()
	}
	return ""
}

// object describes an address for reports, as Machine.Object.
func (a *Arena) object(addr uint64) (o Object, offset uint64, ok bool) {
	m := a.table.Load().find(addr)
	if m == nil {
		return Object{}, 0, false
	}
	return Object{Name: m.name, Space: m.space, Base: m.base, Size: m.extent, Shape: m.shape}, addr - m.base, true
}

// funcAddr returns the address of a function. It is the same for all kernels of an arena, since a
// kernel may call what another one has stored.
func (a *Arena) funcAddr(f *ir.Func) uint64 {
	sp := newSpace(64)
	return sp.funcAddr(a.firstFunc(f.Module) + f.Index)
}

// firstFunc returns the number of the first function of a module.
func (a *Arena) firstFunc(m *ir.Module) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	first, ok := a.code[m]
	if !ok {
		first = a.codes
		a.code[m] = first
		a.codes += len(m.Funcs)
	}
	return first
}

// malloc allocates n bytes for the device's malloc. The result is 0 if the heap is exhausted.
func (a *Arena) malloc(n uint64) uint64 {
	a.mu.Lock()
	heap := a.heap
	a.made++
	name := fmt.Sprintf("malloc#%d", a.made)
	a.mu.Unlock()
	addr, ok := heap.Malloc(n)
	if !ok {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.alloc(Allocation{Name: name, Addr: addr, Size: n, Space: event.Global}, true) != nil {
		return 0
	}
	return addr
}

// hasHeap reports whether the device's malloc has memory.
func (a *Arena) hasHeap() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.heap != nil
}

// release ends an allocation of the device's malloc.
func (a *Arena) release(addr uint64) {
	a.mu.Lock()
	heap := a.heap
	err := a.free(addr, "")
	a.mu.Unlock()
	if err == nil {
		heap.Free(addr)
	}
}

// objectTable is an immutable set of objects that do not overlap, by address. It is divided into
// parts, so that a change copies one part and the list of parts.
type objectTable struct {
	first []uint64 // the address of the first object of each part
	parts []tablePart
}

// tablePart has the start of each of its objects, ascending.
type tablePart struct {
	start []uint64
	objs  []*object
}

// maxPart is the largest number of objects of a part. A part with fewer than minPart takes in the
// next one when it changes.
const (
	maxPart = 256
	minPart = maxPart / 4
)

// last returns the index of the last element that is at most v; -1 if there is none.
func last(sorted []uint64, v uint64) int {
	i, found := slices.BinarySearch(sorted, v)
	if found {
		return i
	}
	return i - 1
}

// find returns the object that contains addr, freed or not; nil if there is none.
func (t *objectTable) find(addr uint64) *object {
	o := t.before(addr)
	if o == nil || addr-o.base >= o.extent {
		return nil
	}
	return o
}

// before returns the last object that starts at or before addr; nil if there is none.
func (t *objectTable) before(addr uint64) *object {
	i := last(t.first, addr)
	if i < 0 {
		return nil
	}
	p := &t.parts[i]
	return p.objs[last(p.start, addr)]
}

// after returns the first object that starts after addr; nil if there is none.
func (t *objectTable) after(addr uint64) *object {
	i := last(t.first, addr)
	if i >= 0 {
		p := &t.parts[i]
		if k := last(p.start, addr) + 1; k < len(p.objs) {
			return p.objs[k]
		}
	}
	if i+1 < len(t.parts) {
		return t.parts[i+1].objs[0]
	}
	return nil
}

// within returns the objects that overlap the addresses from and up to to.
func (t *objectTable) within(from, to uint64) []*object {
	var out []*object
	if o := t.find(from); o != nil {
		out = append(out, o)
	}
	for o := t.after(from); o != nil && o.base < to; o = t.after(o.base) {
		out = append(out, o)
	}
	return out
}

// replace returns the table without the objects that overlap the addresses from and up to to, and
// with o, unless it is nil, which lies there.
func (t *objectTable) replace(from, to uint64, o *object) *objectTable {
	// The parts from lo up to hi change.
	lo := max(last(t.first, from), 0)
	hi := max(last(t.first, to-1), lo) + 1
	hi = min(hi, len(t.parts))
	var objs []*object
	collect := func(p *tablePart) {
		for _, q := range p.objs {
			if q.base+q.extent <= from || q.base >= to {
				objs = append(objs, q)
			}
		}
	}
	for i := lo; i < hi; i++ {
		collect(&t.parts[i])
	}
	if len(objs) < minPart && hi < len(t.parts) {
		collect(&t.parts[hi])
		hi++
	}
	if o != nil {
		i, _ := slices.BinarySearchFunc(objs, o.base, func(q *object, a uint64) int {
			if q.base < a {
				return -1
			}
			return 1
		})
		objs = slices.Insert(objs, i, o)
	}
	var parts []tablePart
	for n := max(1, (len(objs)+maxPart-1)/maxPart); len(objs) > 0; n-- {
		k := (len(objs) + n - 1) / n
		parts = append(parts, newPart(objs[:k]))
		objs = objs[k:]
	}
	u := &objectTable{parts: slices.Concat(t.parts[:lo], parts, t.parts[hi:])}
	for i := range u.parts {
		u.first = append(u.first, u.parts[i].start[0])
	}
	return u
}

// newPart returns a part of some objects, at least one, in the order of their addresses.
func newPart(objs []*object) tablePart {
	p := tablePart{objs: objs, start: make([]uint64, len(objs))}
	for i, o := range objs {
		p.start[i] = o.base
	}
	return p
}

// badMapped records an access at an address of no allocation of an arena, beyond the end of one, or
// of one that was freed. It names the nearest allocation.
func (x *exec) badMapped(in *inst, l int, a uint64) {
	kind, wide, t := in.mem.kind, in.mem.wide, x.mem.table
	arena := x.mem.arena
	report := func(format string, args ...any) {
		x.fault(in, OutOfBounds, l, "%s of %d bytes at "+format, append([]any{kind, wide}, args...)...)
	}
	o := t.find(a)
	switch {
	case o != nil && o.freed:
		report("byte %d of %s (use after free)", a-o.base, o.describe())
		return
	case o != nil && in.mem.space == event.Const && !o.isConst():
		report("byte %d of %s, which is not constant memory", a-o.base, o.name)
		return
	case o != nil:
		report("byte %d of %s, which has %d bytes", a-o.base, o.name, o.size)
		return
	case a < 1<<x.prog.space.window:
		report("address %#x: null pointer", a)
		return
	case a-arena.base >= uint64(len(arena.mem)):
		report("address %#x, which is not device memory", a)
		return
	}
	low, high := t.before(a), t.after(a)
	if high != nil && (low == nil || high.base-a < a-low.base-low.extent) {
		report("address %#x, %d bytes before %s", a, high.base-a, high.describe())
		return
	}
	if low == nil {
		report("address %#x, where nothing is allocated", a)
		return
	}
	report("address %#x, %d bytes behind the end of %s", a, a-low.base-low.extent, low.describe())
}

// describe names an object of an arena with its size.
func (o *object) describe() string {
	if o.freed {
		if o.where != "" {
			return fmt.Sprintf("%s, which had %d bytes and was freed%s", o.name, o.extent, o.where)
		}
		return fmt.Sprintf("%s, which had %d bytes and has been freed", o.name, o.extent)
	}
	return fmt.Sprintf("%s, which has %d bytes", o.name, o.extent)
}

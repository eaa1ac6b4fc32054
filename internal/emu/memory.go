package emu

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// Global and constant memory. Each variable and each buffer is an object with an address range of
// its own (space.go), so that an access out of bounds never reaches another object. The contents of
// an object are created page by page when touched: a kernel with unspecified sizes may have arrays
// of gigabytes, of which it touches little.

// Pages are small, because a kernel without given sizes touches its arrays at scattered places,
// while a coalesced access of a warp stays within one page.
const (
	pageBits  = 12
	pageSize  = 1 << pageBits
	pageMask  = pageSize - 1
	tableBits = 10
	tableSize = 1 << tableBits
)

// contents are the bytes of a page. Objects start at addresses that are multiples of the size of a
// page, except in the memory of a program, whose pages are those of the address space.
type contents [pageSize]byte

// page is a piece of an object. unk, where not nil, has a bit for each byte whose value is unknown.
type page struct {
	data contents
	unk  *[pageSize / 64]uint64
}

// table is the second level of the page directory.
type table [tableSize]atomic.Pointer[page]

// objectSpec is what an object is at the start of each run.
type objectSpec struct {
	name    string
	space   event.Space // Global or Const
	size    uint64      // bound of accesses, in bytes
	bounded bool        // size was given; else it is the limit of the address space
	shape   ir.Shape    // for messages
	fill    launch.Fill
	value   uint32
	seed    uint64
	data    []byte         // FillFile; the initialiser of a variable
	origin  uint32         // of FillUnknown
	buffer  *launch.Buffer // of an argument; nil for other objects
	// constant is set if ld.const may access an object of global memory: the buffer of a __constant
	// pointer.
	constant bool
}

// isConst reports whether ld.const may access the object.
func (o *objectSpec) isConst() bool { return o.constant || o.space == event.Const }

// object is a piece of global or constant memory in one run. Pages are created on first access,
// possibly by several workers at once.
type object struct {
	*objectSpec
	id     int
	base   uint64
	freed  bool           // by the device's free, or by the program
	where  string         // the place that has freed it, for messages; may be empty
	heap   bool           // of an arena, by the device's malloc
	mapped []byte         // the memory of the arena that has the object; nil for an object of a run
	start  uint64         // address of mapped[0]
	extent uint64         // bytes of an object of an arena, also after it was freed
	stored uint32         // origin of the last unknown value that was stored into it
	used   *atomic.Uint64 // memory.used
	mu     sync.Mutex
	dir    []atomic.Pointer[table]
}

// newObject returns an object without pages.
func (m *memory) newObject(spec *objectSpec, id int, base uint64) *object {
	n := (spec.size + (pageSize<<tableBits - 1)) >> (pageBits + tableBits)
	m.used.Add(8 * n)
	return &object{objectSpec: spec, id: id, base: base, used: &m.used,
		dir: make([]atomic.Pointer[table], n)}
}

// at returns the bytes of the page that holds address a, which must be in the object.
func (o *object) at(a uint64) *contents {
	if o.mapped != nil {
		return (*contents)(o.mapped[(a-o.start)&^pageMask:])
	}
	off := a - o.base
	if t := o.dir[off>>(pageBits+tableBits)].Load(); t != nil {
		if p := t[off>>pageBits&(tableSize-1)].Load(); p != nil {
			return &p.data
		}
	}
	return &o.fault(off).data
}

// unknown returns the page that holds address a and its unknown bytes; nil if the object has none.
func (o *object) unknown(a uint64) *page {
	if o.mapped != nil {
		return nil
	}
	return o.page(a - o.base)
}

// page returns the page that holds offset off of an object of the run, less than the size.
func (o *object) page(off uint64) *page {
	if t := o.dir[off>>(pageBits+tableBits)].Load(); t != nil {
		if p := t[off>>pageBits&(tableSize-1)].Load(); p != nil {
			return p
		}
	}
	return o.fault(off)
}

// fault creates the page of an offset. Readers are not locked out: the page is published by an
// atomic store after it is filled.
func (o *object) fault(off uint64) *page {
	o.mu.Lock()
	defer o.mu.Unlock()
	slot := &o.dir[off>>(pageBits+tableBits)]
	t := slot.Load()
	if t == nil {
		t = new(table)
		o.used.Add(8 * tableSize)
		slot.Store(t)
	}
	e := &t[off>>pageBits&(tableSize-1)]
	p := e.Load()
	if p == nil {
		p = new(page)
		o.used.Add(pageSize)
		o.init(p, off&^pageMask)
		e.Store(p)
	}
	return p
}

// init fills the page that starts at offset start with its initial contents, which do not depend on
// the order in which pages are created.
func (o *object) init(p *page, start uint64) {
	switch o.fill {
	case launch.FillRandom:
		state := o.seed ^ hashString(o.name) ^ mix(start)
		for i := 0; i < pageSize; i += 8 {
			state += golden
			binary.LittleEndian.PutUint64(p.data[i:], mix(state))
		}
	case launch.FillFile:
		if start < uint64(len(o.data)) {
			copy(p.data[:], o.data[start:])
		}
	case launch.FillUnknown:
		p.unk = new([pageSize / 64]uint64)
		for i := range p.unk {
			p.unk[i] = ^uint64(0)
		}
	case launch.FillValue:
		for i := 0; i < pageSize; i += 4 {
			binary.LittleEndian.PutUint32(p.data[i:], o.value)
		}
	default:
		if o.buffer != nil && o.buffer.HasElements() {
			o.buffer.Init(p.data[:], start)
		}
	}
}

// memory is the global and constant memory of one run: objects of its own, or the allocations of an
// arena.
type memory struct {
	shift uint // space.shift
	objs  []*object
	heap  int // objects from here on came from the device's malloc
	arena *Arena
	// table has the objects of the arena. Those of other runs and of the program may change
	// meanwhile; what this run uses does not, unless the kernel itself allocates.
	table *objectTable
	// used counts the bytes that the run has allocated: pages of objects, and local and shared memory
	// and registers of the threads that are resident at a time. Several workers add to it.
	used atomic.Uint64
}

// newMemory returns the memory of a run, without pages.
func newMemory(p *program) *memory {
	m := &memory{shift: p.space.shift, heap: len(p.objects), arena: p.arena}
	if m.arena != nil {
		m.table = m.arena.table.Load()
		if p.buffers >= 0 {
			m.objs = []*object{m.newObject(&bufferSpec, 0, p.space.base(0))}
			m.heap = 1
		}
		return m
	}
	for i := range p.objects {
		m.objs = append(m.objs, m.newObject(&p.objects[i], i, p.space.base(i)))
	}
	return m
}

// find returns the object whose part of the address space contains addr, in bounds or not; nil if
// there is none. In an arena that is an allocation that contains addr, freed or not.
func (x *exec) find(addr uint64) *object {
	if o := x.mem.own(addr); o != nil {
		return o
	}
	return x.findMapped(addr)
}

// own returns the object of the run whose part of the address space contains addr; nil if there is
// none. It is small enough to be inlined, where find is not.
func (m *memory) own(addr uint64) *object {
	if id := addr>>m.shift - 1; id < uint64(len(m.objs)) {
		return m.objs[id]
	}
	return nil
}

// findMapped is find for an address that is in no object of the run.
func (x *exec) findMapped(addr uint64) *object {
	if o := x.mapped[0]; o != nil && addr-o.base < o.extent {
		return o
	}
	if x.mem.arena == nil {
		return nil
	}
	// A kernel accesses a few arrays in turn. The last one comes first.
	for i, o := range x.mapped {
		if o != nil && addr-o.base < o.extent {
			x.mapped[i], x.mapped[0] = x.mapped[0], o
			return o
		}
	}
	o := x.mem.table.find(addr)
	if o != nil {
		copy(x.mapped[1:], x.mapped[:])
		x.mapped[0] = o
	}
	return o
}

// read copies len(b) bytes from addr, which must be in the object, and reports whether all are
// known.
func (o *object) read(addr uint64, b []byte) (known, ok bool) {
	if o == nil || !o.contains(addr-o.base, uint64(len(b))) {
		return false, false
	}
	known = true
	for len(b) > 0 {
		at := addr & pageMask
		n := copy(b, o.at(addr)[at:])
		known = known && o.unknown(addr).unknownBits(at, uint64(n)) == 0
		b, addr = b[n:], addr+uint64(n)
	}
	return known, true
}

// contains reports whether n bytes at offset off lie in the object.
func (o *object) contains(off, n uint64) bool { return off < o.size && n <= o.size-off }

// unknownBits returns a nonzero value if a byte of [in, in+n) is unknown.
func (p *page) unknownBits(in, n uint64) uint64 {
	if p == nil || p.unk == nil {
		return 0
	}
	any := uint64(0)
	for i := in; i < in+n; i++ {
		any |= p.unk[i>>6] >> (i & 63) & 1
	}
	return any
}

// setUnknown marks the bytes of [in, in+n) as unknown or known.
func (p *page) setUnknown(in, n uint64, unknown bool) {
	if p.unk == nil {
		if !unknown {
			return
		}
		p.unk = new([pageSize / 64]uint64)
	}
	for i := in; i < in+n; i++ {
		p.unk[i>>6] &^= 1 << (i & 63)
		if unknown {
			p.unk[i>>6] |= 1 << (i & 63)
		}
	}
}

// allocate counts n bytes that are needed at once, and reports whether the limit allows them. If not,
// the run ends.
func (x *exec) allocate(n uint64) bool {
	if x.mem.used.Load()+n > x.opt.Memory {
		x.outOfMemory()
		return false
	}
	x.mem.used.Add(n)
	return true
}

// full reports whether the run is over because of an error or of the limit of its memory. It is
// asked between turns, in which a run can only allocate little.
func (x *exec) full() bool {
	if x.memory() > x.opt.Memory {
		x.outOfMemory()
	}
	return x.stop != nil
}

// memory is what the run and the consumer of its events take, in bytes.
func (x *exec) memory() uint64 {
	used := x.mem.used.Load()
	if x.meter != nil {
		used += x.meter.Memory()
	}
	return used
}

// outOfMemory ends the run. It has no site: any access may be the one that was too much.
func (x *exec) outOfMemory() {
	x.endTurn()
	if x.stop != nil {
		return
	}
	x.stop = &Stop{Kind: MemoryLimit, Message: fmt.Sprintf("the run touched more than %s of memory",
		bytesText(x.opt.Memory))}
}

// bytesText is a number of bytes in the largest unit of which it is a multiple.
func bytesText(n uint64) string {
	for shift, unit := range []string{"bytes", "KiB", "MiB", "GiB", "TiB"} {
		if v := n >> (10 * shift); v%1024 != 0 || shift == 4 {
			return fmt.Sprintf("%d %s", v, unit)
		}
	}
	return ""
}

// golden is the increment of SplitMix64 (Steele, Lea, Flood 2014); mix is its finaliser.
const golden = 0x9e3779b97f4a7c15

// mix is a bijection of 64-bit numbers in which every input bit affects every output bit.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// hashString is FNV-1a.
func hashString(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

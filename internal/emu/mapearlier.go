package emu

import (
	"bytes"
	"sync"
	"sync/atomic"

	"heddle/internal/event"
	"heddle/internal/tensormap"
)

// Tensor maps that launches of a program have changed. The end of a launch orders its writes before
// later launches, but not for the proxy of tensor maps: a block that uses such a map has to acquire
// it ("it is required to use a fence in each thread block", CUDA C++ Programming Guide, "Using TMA
// to transfer multi-dimensional arrays"). So an arena keeps which launch has left what at the
// address of a map.

// mapChanges are the last changes of maps in an arena. A launch has a number, by which it knows
// those of the launches before it.
type mapChanges struct {
	launches atomic.Uint64
	mu       sync.Mutex
	last     map[uint64]mapChange
}

// mapChange is a change of a map by a kernel: text is the map as it was then.
type mapChange struct {
	launch uint64
	kernel string
	text   []byte
}

// begin returns the number of a launch that begins.
func (c *mapChanges) begin() uint64 { return c.launches.Add(1) }

// add notes a change by a launch.
func (c *mapChanges) add(addr uint64, by mapChange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.last = make(map[uint64]mapChange)
	}
	c.last[addr] = by
}

// before returns the kernel of a launch before one that has left text at the address of a map; ""
// if there is none, or if something else has written there since.
func (c *mapChanges) before(launch, addr uint64, text []byte) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by, ok := c.last[addr]; ok && by.launch < launch && bytes.Equal(by.text, text) {
		return by.kernel
	}
	return ""
}

// noteMap notes that the launch has changed a map in the memory of its program.
func (x *exec) noteMap(addr uint64, text []byte) {
	if a := x.prog.arena; a != nil && !x.prog.traced {
		a.maps.add(addr, mapChange{x.opt.number, x.prog.funcs[0].fn.Demangled, bytes.Clone(text)})
	}
}

// changedMap reports whether a launch before this one has changed the map at from.
func (x *exec) changedMap(from event.Range) bool {
	a := x.prog.arena
	return a != nil && from.Size > 0 &&
		a.maps.before(x.opt.number, from.Addr, x.mapText(event.Global, from.Addr)) != ""
}

// MapChangedBy returns the kernel whose launch has left what is at the address of a tensor map in
// the memory of the program; "" if none has.
func (m *Machine) MapChangedBy(addr uint64) string {
	a := m.prog.arena
	if a == nil || addr < a.base || addr-a.base+tensormap.Size > uint64(len(a.mem)) {
		return ""
	}
	text := a.mem[addr-a.base:][:tensormap.Size]
	return a.maps.before(a.maps.launches.Load(), addr, text)
}

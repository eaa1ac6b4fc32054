package host

import (
	"cmp"
	"slices"
	"sync"
)

// ArenaBase is the address at which the program and the emulator see the arena, and ArenaSize its
// size in bytes. It is an address that neither Linux nor a sanitizer gives to anything else: 32
// TiB, above programs that are loaded at fixed addresses and below libraries and stacks. The 1 GiB
// more keeps a number and the padding behind it from being taken for a pointer: padding of a struct
// is often the upper half of an old address, and then a number below 1 GiB would be the lower half
// of the address of a variable or an early allocation.
const (
	ArenaBase = 32<<40 + 1<<30
	ArenaSize = 1 << 40
)

// Allocations start at multiples of align, as with cudaMalloc: at least 256 bytes (CUDA C++
// Programming Guide, "Device Memory Accesses"), and as a texture of their memory needs it (CUDA
// Runtime API, cudaBindTexture; textureAlignment is 512). A gap separates them: an access that
// misses its allocation a little does not reach another one.
const (
	align = 512
	gap   = 256
	page  = 4096 // and of allocations of at least a page, which the emulator reaches faster

	// granularity is that of virtual memory (CUDA Driver API, cuMemGetAllocationGranularity).
	granularity = 2 << 20
)

// Memory hands out ranges of the arena. Addresses are used again only when the arena has been
// handed out once, so that an access to freed memory is seen as one. The zero value is an arena
// without allocations and without room on the device: set Limit. The methods may be called from
// several goroutines: kernels allocate, too.
type Memory struct {
	Limit uint64 // bytes of device and managed memory, the size of the GPU's memory

	mu   sync.Mutex
	next uint64                // offset of the first byte that was never handed out
	used uint64                // bytes of device and managed memory
	live map[uint64]Allocation // by address
	free []span                // ascending, not adjacent: what was freed, with its gaps

	reserved []span // by Reserve
}

// span is a range of offsets in the arena.
type span struct{ at, size uint64 }

// Alloc allocates size bytes, above 0. It fails with MemoryAllocation if the device has no room.
// Pinned memory is the host's and does not count.
func (m *Memory) Alloc(size uint64, kind Kind, caller uint64) (Allocation, Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size == 0 {
		return Allocation{}, InvalidValue
	}
	if kind != PinnedMemory && (size > m.Limit || m.used > m.Limit-size) || size > ArenaSize/2 {
		return Allocation{}, MemoryAllocation
	}
	unit := uint64(align)
	if size >= page {
		unit = page
	}
	at, ok := m.place(extent(size), unit)
	if !ok {
		return Allocation{}, MemoryAllocation
	}
	return m.add(Allocation{Addr: ArenaBase + at, Size: size, Kind: kind, Caller: caller}), Success
}

// Reserve sets a range of addresses aside for Map. It takes no memory of the device, and nothing
// else is allocated there again.
func (m *Memory) Reserve(size uint64) (uint64, Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size == 0 {
		return 0, InvalidValue
	}
	if size > ArenaSize/2 {
		return 0, MemoryAllocation
	}
	at, ok := m.place(extent(size), granularity)
	if !ok {
		return 0, MemoryAllocation
	}
	m.reserved = append(m.reserved, span{at, size})
	return ArenaBase + at, Success
}

// Map allocates device memory in a reserved range. It fails with InvalidValue if the range is not
// reserved or in use, with MemoryAllocation if the device has no room.
func (m *Memory) Map(addr, size, caller uint64) (Allocation, Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := addr - ArenaBase
	inside := func(s span) bool {
		return at >= s.at && size <= s.size && at-s.at <= s.size-size
	}
	if size == 0 || !slices.ContainsFunc(m.reserved, inside) {
		return Allocation{}, InvalidValue
	}
	for _, a := range m.live {
		if a.Addr < addr+size && addr < a.Addr+a.Size {
			return Allocation{}, InvalidValue
		}
	}
	if size > m.Limit || m.used > m.Limit-size {
		return Allocation{}, MemoryAllocation
	}
	return m.add(Allocation{Addr: addr, Size: size, Kind: DeviceMemory, Caller: caller, Mapped: true}),
		Success
}

// AllocPages allocates whole pages for a variable that the host maps, too.
func (m *Memory) AllocPages(size uint64) (Allocation, Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.place((size+page-1)&^(page-1)+page, page)
	if !ok || size == 0 {
		return Allocation{}, MemoryAllocation
	}
	return m.add(Allocation{Addr: ArenaBase + at, Size: size, Kind: Variable}), Success
}

// add records an allocation.
func (m *Memory) add(a Allocation) Allocation {
	if m.live == nil {
		m.live = make(map[uint64]Allocation)
	}
	m.live[a.Addr] = a
	if a.Kind != PinnedMemory {
		m.used += a.Size
	}
	return a
}

// place returns the offset of n bytes that nothing uses, a multiple of unit: behind all others, or
// else the first freed range that is large enough.
func (m *Memory) place(n, unit uint64) (uint64, bool) {
	// The first page stays free: address 0 of the arena is nobody's.
	at := (max(m.next, page) + unit - 1) &^ (unit - 1)
	if at+n <= ArenaSize {
		m.next = at + n
		return at, true
	}
	for i := range m.free {
		s := m.free[i]
		at = (s.at + unit - 1) &^ (unit - 1)
		if at+n > s.at+s.size {
			continue
		}
		rest := []span{{s.at, at - s.at}, {at + n, s.at + s.size - at - n}}
		rest = slices.DeleteFunc(rest, func(s span) bool { return s.size == 0 })
		m.free = slices.Replace(m.free, i, i+1, rest...)
		return at, true
	}
	return 0, false
}

// Free removes the allocation at an address. It fails with InvalidValue if there is none.
func (m *Memory) Free(addr uint64) (Allocation, Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.live[addr]
	if !ok || a.Kind == Variable {
		return Allocation{}, InvalidValue
	}
	m.remove(a)
	return a, Success
}

// remove makes the range of an allocation free.
func (m *Memory) remove(a Allocation) {
	delete(m.live, a.Addr)
	if a.Kind != PinnedMemory {
		m.used -= a.Size
	}
	if a.Mapped {
		return
	}
	s := span{a.Addr - ArenaBase, extent(a.Size)}
	i, _ := slices.BinarySearchFunc(m.free, s.at, func(f span, at uint64) int {
		if f.at < at {
			return -1
		}
		return 1
	})
	if i > 0 && m.free[i-1].at+m.free[i-1].size == s.at {
		i--
		m.free[i].size += s.size
	} else {
		m.free = slices.Insert(m.free, i, s)
	}
	if i+1 < len(m.free) && m.free[i].at+m.free[i].size == m.free[i+1].at {
		m.free[i].size += m.free[i+1].size
		m.free = slices.Delete(m.free, i+1, i+2)
	}
}

// Live returns all allocations but variables, ascending by address.
func (m *Memory) Live() []Allocation {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.allocations()
}

// allocations is Live for a caller that has locked m.
func (m *Memory) allocations() []Allocation {
	var out []Allocation
	for _, a := range m.live {
		if a.Kind != Variable {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b Allocation) int { return cmp.Compare(a.Addr, b.Addr) })
	return out
}

// Reset frees everything but variables, and returns what it freed, ascending by address.
func (m *Memory) Reset() []Allocation {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.allocations()
	for _, a := range out {
		m.remove(a)
	}
	return out
}

// Room returns the free and all bytes of the device's memory.
func (m *Memory) Room() (free, total uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Limit - m.used, m.Limit
}

// extent is the number of bytes that an allocation takes with its gap.
func extent(size uint64) uint64 { return (size + gap + align - 1) &^ (align - 1) }

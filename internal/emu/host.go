package emu

import "fmt"

// The host beside a kernel. A program may read and write memory while a kernel runs, and a kernel
// may wait for it. In an arena the program does so by itself. For a run with memory of its own,
// the host gets turns like a warp.

// hostTurns is the number of turns of warps between two of the host.
const hostTurns = 64

// HostMemory is the global memory of a run, as the host sees it during its turn.
type HostMemory struct{ mem *memory }

// Read copies len(b) bytes at an offset of the named object: a variable of the module or the buffer
// of an argument.
func (m HostMemory) Read(object string, offset uint64, b []byte) error {
	return m.each(object, offset, b, func(memory, b []byte) { copy(b, memory) })
}

// Write stores b at an offset of the named object.
func (m HostMemory) Write(object string, offset uint64, b []byte) error {
	return m.each(object, offset, b, func(memory, b []byte) { copy(memory, b) })
}

// each visits the bytes of an object in pieces within one page.
func (m HostMemory) each(object string, offset uint64, b []byte,
	visit func(memory, b []byte)) error {
	for _, o := range m.mem.objs {
		if o.name != object {
			continue
		}
		if !o.contains(offset, uint64(len(b))) {
			return fmt.Errorf("%d bytes at offset %d of %s, which has %d bytes", len(b), offset, object,
				o.size)
		}
		for a := o.base + offset; len(b) > 0; {
			page := o.at(a)[a&pageMask:]
			n := min(len(page), len(b))
			visit(page[:n], b[:n])
			b, a = b[n:], a+uint64(n)
		}
		return nil
	}
	return fmt.Errorf("no memory object is named %s", object)
}

// serve gives the host a turn, and reports whether it has changed memory for which a thread may
// wait.
func (s *scheduler) serve(stuck bool) bool {
	if s.opt.Host == nil {
		return false
	}
	s.served = s.turns
	if !s.opt.Host(HostMemory{s.x.mem}, stuck) {
		return false
	}
	s.spin.reset()
	s.quiet = s.x.steps
	return true
}

package emu

import (
	"heddle/internal/event"
)

// space is the partition of the virtual address space. Objects are far apart, so that an address
// that leaves one does not reach the next. Below them are the windows of generic addresses for
// shared, local and kernel parameter memory (PTX ISA 6.4.1.1), and the addresses of functions. The
// lowest window is unused, so that null and small integers are not addresses.
type space struct {
	shift  uint   // log2 of the distance of two objects
	window uint   // log2 of the size of a window
	lead   uint64 // offset of an object from its multiple of 1<<shift
	limit  uint64 // largest size of an object
	max    int    // number of objects
}

// numbers of the windows of generic addresses
const (
	sharedWindow = 1 + iota
	localWindow
	paramWindow
	codeWindow
)

// codeStride is the distance between the addresses of two functions.
const codeStride = 16

// newSpace returns the partition for addresses of 32 or 64 bits. With 32 bits there is room for 30
// objects of at most 96 MiB.
func newSpace(addressBits int) space {
	if addressBits == 32 {
		return space{shift: 27, window: 24, lead: 1 << 24, limit: 96 << 20, max: 30}
	}
	return space{shift: 40, window: 32, lead: 1 << 38, limit: 1 << 36, max: 1<<24 - 2}
}

// windowBase returns the first generic address of a window.
func (s *space) windowBase(w uint64) uint64 { return w << s.window }

// base returns the address of object id.
func (s *space) base(id int) uint64 { return uint64(id+1)<<s.shift + s.lead }

// object returns the number of the object whose part of the address space contains addr, in bounds
// or not; -1 for the windows.
func (s *space) object(addr uint64) int { return int(addr>>s.shift) - 1 }

// windowOf returns the window of an address below the objects; 0 for null and its neighbours.
func (s *space) windowOf(addr uint64) uint64 { return addr >> s.window }

// toGeneric returns the number that cvta adds to an address of a state space to make it generic.
// Global and const addresses are generic already.
func (s *space) toGeneric(sp event.Space) uint64 {
	switch sp {
	case event.Shared:
		return s.windowBase(sharedWindow)
	case event.Local:
		return s.windowBase(localWindow)
	case event.Param:
		return s.windowBase(paramWindow)
	}
	return 0
}

// funcAddr returns the address of a function.
func (s *space) funcAddr(number int) uint64 {
	return s.windowBase(codeWindow) + uint64(number)*codeStride
}

package emu

import (
	"heddle/internal/event"
)

// space says how the virtual address space is cut up. Objects lie far apart, so that an address
// that strays from one does not reach the next; below them are the windows through which generic
// addresses reach shared, local and kernel parameter memory (PTX ISA 6.4.1.1), and the addresses of
// functions. The lowest window belongs to no one, so that null and small integers are no addresses.
type space struct {
	shift  uint   // log2 of the distance of two objects
	window uint   // log2 of the size of a window
	lead   uint64 // an object starts that far behind its multiple of 1<<shift
	limit  uint64 // largest size of an object
	max    int    // number of objects
}

// windows of generic addressing
const (
	sharedWindow = 1 + iota
	localWindow
	paramWindow
	codeWindow
)

// codeStride is the distance of two functions' addresses.
const codeStride = 16

func newSpace(addressBits int) space {
	if addressBits == 32 {
		return space{shift: 27, window: 24, lead: 1 << 24, limit: 96 << 20, max: 30}
	}
	return space{shift: 40, window: 32, lead: 1 << 38, limit: 1 << 36, max: 1<<24 - 2}
}

func (s *space) windowBase(w uint64) uint64 { return w << s.window }

// base returns the address of object id.
func (s *space) base(id int) uint64 { return uint64(id+1)<<s.shift + s.lead }

// object returns the number of the object that an address belongs to, in its bounds or not; -1 for
// the windows.
func (s *space) object(addr uint64) int { return int(addr>>s.shift) - 1 }

// windowOf returns the window of an address that belongs to no object; 0 for null and its
// neighbours.
func (s *space) windowOf(addr uint64) uint64 { return addr >> s.window }

// toGeneric returns what cvta adds to an address of a state space to make it generic. Global and
// const addresses are generic addresses as they are.
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

func (s *space) funcAddr(number int) uint64 {
	return s.windowBase(codeWindow) + uint64(number)*codeStride
}

// funcNumber returns the number of the function at addr, or -1.
func (s *space) funcNumber(addr uint64, funcs int) int {
	off := addr - s.windowBase(codeWindow)
	if off%codeStride != 0 || off/codeStride >= uint64(funcs) {
		return -1
	}
	return int(off / codeStride)
}

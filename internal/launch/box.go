package launch

import (
	"fmt"
	"strconv"
	"strings"
)

// Box is the size of the boxes that a tensor map selects. The map is opaque to a kernel (PTX ISA 5.5),
// so that somebody must say it.
type Box struct {
	Name  string // of the parameter or variable that holds the map, or points to it
	Bytes uint64
}

// String returns the text that ParseBox reads.
func (b Box) String() string { return fmt.Sprintf("%s=%d", b.Name, b.Bytes) }

// maxBoxBytes is the largest number of bytes that a phase of an mbarrier counts (PTX ISA 9.7.13.15.2).
const maxBoxBytes = 1<<20 - 1

// ParseBox reads NAME=BYTES, or NAME=box:64x128,elem:2 with the extents of a box and the bytes of an
// element.
func ParseBox(s string) (Box, error) {
	name, text, ok := strings.Cut(s, "=")
	bad := fmt.Errorf("expected NAME=BYTES or NAME=box:64x128,elem:2, found %q", s)
	if !ok || name == "" {
		return Box{}, bad
	}
	factors := []string{text}
	if extents, ok := strings.CutPrefix(text, "box:"); ok {
		extents, elem, ok := strings.Cut(extents, ",elem:")
		if !ok {
			return Box{}, bad
		}
		factors = append(strings.Split(extents, "x"), elem)
	}
	bytes := uint64(1)
	for _, f := range factors {
		n, err := strconv.ParseUint(f, 10, 32)
		if err != nil || n == 0 {
			return Box{}, bad
		}
		if bytes *= n; bytes > maxBoxBytes {
			return Box{}, fmt.Errorf("%s: a box has at most %d bytes", s, maxBoxBytes)
		}
	}
	if bytes%16 != 0 {
		return Box{}, fmt.Errorf("%s: %d bytes are no multiple of 16", s, bytes)
	}
	return Box{name, bytes}, nil
}

// BoxBytes returns the bytes of a box with the given extents and elements of elem bytes; 0 if no
// tensor map has such boxes (PTX ISA 5.5.3).
func BoxBytes(extents []uint64, elem uint64) uint64 {
	if len(extents) == 0 || len(extents) > 5 || elem == 0 || elem > 8 {
		return 0
	}
	bytes := elem
	for _, n := range extents {
		if n == 0 || n > maxBoxExtent {
			return 0
		}
		bytes *= n
	}
	if bytes > maxBoxBytes || bytes%16 != 0 {
		return 0
	}
	return bytes
}

// maxBoxExtent is the largest extent of a box (CUDA Driver API, cuTensorMapEncodeTiled).
const maxBoxExtent = 256

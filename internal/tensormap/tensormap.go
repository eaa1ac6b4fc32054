// Package tensormap describes arrays of up to five dimensions and the boxes of them that bulk
// copies move: the tensor maps of the CUDA Driver API ("Tensor Map Object Management") and the
// modes tile (PTX ISA 5.5.3), im2col (5.5.4) and im2col::w (5.5.5) of copies.
//
// A tensor map is opaque to programs, so that heddle's runtime may choose what its 128 bytes hold
// (internal/lower/headers/exec/tensormap.c). Not described are interleaved layouts, of which the ISA
// does not say where in memory the slices of channels are (5.5.6), halo pixels, the swizzle of 96 bytes, and
// that whose atoms have flipped halves, of which the ISA does not say in which lines (5.5.7).
package tensormap

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Size is the size of a tensor map in bytes.
const Size = 128

// magic begins a tensor map that heddle's runtime has made.
const magic = 0x706d7468 // "htmp"

// MaxRank is the largest number of dimensions.
const MaxRank = 5

// Type is the type of elements, by its number in CUtensorMapDataType.
type Type uint8

// numTypes is how many types CUtensorMapDataType has.
const numTypes Type = 16

// The types whose elements have less than a byte, and their names in PTX (5.5.1.1).
const (
	packed4 Type = 13 + iota // .b4x16
	padded4                  // .b4x16_p64
	padded6                  // .b6x16_p32, and .b6p2x16 of a store
)

// A unit is what is copied as a whole: an element, or several of less than a byte.
type unit struct {
	elements uint64
	memory   uint64 // bytes in global memory
	shared   uint64 // bytes in shared memory, with padding behind those of global memory
}

// units has the units of the types whose elements have less than a byte: "sixteen contiguous 4-bits
// of data is copied [...] with the append of 64-bits of padding", and so on (5.5.1.1.1).
var units = map[Type]unit{packed4: {2, 1, 1}, padded4: {16, 8, 16}, padded6: {16, 12, 16}}

// elementBytes has the bytes of an element of each other type.
var elementBytes = [...]uint64{1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4}

// Swizzle is a permutation of the bytes of a box in shared memory, by its number in
// CUtensorMapSwizzle.
type Swizzle uint8

// The swizzles: atoms of 16 bytes change places within 32, 64 or 128 bytes, or those of 32 or 64
// bytes within 128.
const (
	NoSwizzle Swizzle = iota
	Swizzle32
	Swizzle64
	Swizzle128
	Atoms32
	atoms32Flipped
	Atoms64
	swizzle96 // has no number in CUtensorMapSwizzle
)

// row returns the bytes within which atoms change places.
func (s Swizzle) row() uint64 { return 16 << min(s, Swizzle128) }

// Map is a tensor map. Dimension 0 is that of neighbours in memory.
type Map struct {
	Type    Type
	Rank    int
	Addr    uint64          // of element 0
	Size    [MaxRank]uint64 // elements
	Stride  [MaxRank]uint64 // bytes from an element to the next one
	Box     [MaxRank]uint64 // extent of a box in the array, in elements; not of an Im2col map
	Step    [MaxRank]uint64 // of each Step elements of the extent one is copied; Step[0] is 1
	Swizzle Swizzle
	NaN     bool    // elements outside of the array are NaN, else 0
	Im2col  *Im2col // of a map of cuTensorMapEncodeIm2col; nil: one of cuTensorMapEncodeTiled
}

// ErrNotMap is the error of bytes that are no tensor map, or one that nothing may use.
var ErrNotMap = errors.New("it holds no tensor map")

// ErrUnsupported is the error of a valid tensor map that is not described here.
var ErrUnsupported = errors.New("not supported")

// unit returns the unit of the type.
func (m *Map) unit() unit {
	if u, ok := units[m.Type]; ok {
		return u
	}
	n := elementBytes[m.Type]
	return unit{1, n, n}
}

// Element returns the bytes of an element in global memory; of elements of less than a byte, those
// of a unit.
func (m *Map) Element() uint64 { return m.unit().memory }

// padded reports whether elements have padding behind them in shared memory.
func (t Type) padded() bool { return t == padded4 || t == padded6 }

// Count returns how many elements a box copies in a dimension.
func (m *Map) Count(dim int) uint64 { return (m.Box[dim] + m.Step[dim] - 1) / m.Step[dim] }

// Bytes returns the bytes of a box in shared memory. Elements outside of the array count as well.
func (m *Map) Bytes() uint64 { return m.number() * m.unit().shared }

// Copied returns the bytes of a box that an mbarrier counts: "the amount of data copied in bytes"
// (PTX ISA 9.7.9.27.1.2), of which padding is no part. Elements outside of the array are.
func (m *Map) Copied() uint64 { return m.number() * m.unit().memory }

// number returns how many units a box has.
func (m *Map) number() uint64 {
	if m.Im2col != nil {
		return m.inner() * m.Im2col.pixels()
	}
	n := m.inner()
	for i := 1; i < m.Rank; i++ {
		n *= m.Count(i)
	}
	return n
}

// inner returns how many units a row of a box has.
func (m *Map) inner() uint64 {
	if m.Im2col != nil {
		return m.Im2col.Channels / m.unit().elements
	}
	return m.Count(0) / m.unit().elements
}

// CheckFirst returns an error if no copy can begin at a coordinate in the first dimension.
func (m *Map) CheckFirst(at int32) error {
	switch {
	case m.Type.padded() && at%128 != 0:
		return fmt.Errorf("the first coordinate %d is not a multiple of 128, as elements of 4 or 6 bits "+
			"with padding need it (PTX ISA 9.7.9.27.1.1)", at)
	case m.Type == packed4 && at%2 != 0:
		return fmt.Errorf("%w: the first coordinate %d, which is within a byte", ErrUnsupported, at)
	}
	return nil
}

// CheckStore returns an error if no copy can write to the array.
func (m *Map) CheckStore() error {
	if m.Type == padded4 {
		return errors.New("elements of 4 bits with padding cannot be stored (PTX ISA 9.7.9.27.1.1)")
	}
	return nil
}

// Pack prepares a box that comes from shared memory for its pieces: of .b6p2x16, each byte has an
// element in its lower bits, and these are packed contiguously (5.5.1.1.1), the first ones into the
// lowest bits.
func (m *Map) Pack(box []byte) {
	if m.Type != padded6 {
		return
	}
	for at := 0; at+16 <= len(box); at += 16 {
		for i := 0; i < 4; i++ { // of four elements, three bytes
			n := binary.LittleEndian.Uint32(box[at+4*i:])
			n = n&0x3f | n>>2&0xfc0 | n>>4&0x3f000 | n>>6&0xfc0000
			box[at+3*i], box[at+3*i+1], box[at+3*i+2] = byte(n), byte(n>>8), byte(n>>16)
		}
	}
}

// Piece is bytes of a box: those from At on are at Addr in the array.
type Piece struct{ At, Addr, Size uint64 }

// Pieces returns the pieces of the box at some coordinates that are in the array, in the order of
// the box. The rest of the box is outside (5.5.6). Coordinates may be negative.
func (m *Map) Pieces(at []int32) []Piece {
	var out []Piece
	row := m.inner() * m.unit().shared
	rows := m.Bytes() / row
	for r := range rows {
		addr, inside := m.Addr, true
		rest := r
		for i := 1; i < m.Rank; i++ {
			n := m.Count(i)
			c := int64(at[i]) + int64(rest%n*m.Step[i])
			rest /= n
			inside = inside && c >= 0 && c < int64(m.Size[i])
			addr += uint64(c) * m.Stride[i]
		}
		if inside {
			out = m.row(out, r*row, addr, int64(at[0]))
		}
	}
	return out
}

// row appends the pieces of a row, whose first coordinate in dimension 0 CheckFirst allows. The
// array has a row at addr, and the row of the box begins at its byte at.
func (m *Map) row(out []Piece, at, addr uint64, coordinate int64) []Piece {
	u, n := m.unit(), int64(m.inner())
	first := coordinate / int64(u.elements)
	lo, hi := max(first, 0), min(first+n, int64(m.Size[0]/u.elements))
	if lo >= hi {
		return out
	}
	if u.memory == u.shared {
		return add(out, Piece{At: at + uint64(lo-first)*u.shared, Addr: addr + uint64(lo)*u.memory,
			Size: uint64(hi-lo) * u.memory})
	}
	for i := lo; i < hi; i++ {
		out = append(out, Piece{At: at + uint64(i-first)*u.shared, Addr: addr + uint64(i)*u.memory,
			Size: u.memory})
	}
	return out
}

// add appends a piece, or makes the last one longer.
func add(out []Piece, p Piece) []Piece {
	if n := len(out); n > 0 && out[n-1].At+out[n-1].Size == p.At &&
		out[n-1].Addr+out[n-1].Size == p.Addr {
		out[n-1].Size += p.Size
		return out
	}
	return append(out, p)
}

// Gather returns the pieces of four rows of a two-dimensional array, of which a box has one
// (5.5.3.4.1, .tile::gather4 and .tile::scatter4): at[0] is their first column, and the others are
// their numbers.
func (m *Map) Gather(at []int32) []Piece {
	var out []Piece
	for i, r := range at[1:5] {
		for _, p := range m.Pieces([]int32{at[0], r}) {
			p.At += uint64(i) * m.Bytes()
			out = append(out, p)
		}
	}
	return out
}

// Place returns where the swizzle puts the byte that would be at an address of shared memory
// (5.5.7): bits 4 to 6 of the address, or fewer of them, are changed by bits 7 to 9; with larger
// atoms, bits 5 and 6 by bits 7 and 8, or bit 6 by bit 7.
func (s Swizzle) Place(addr uint64) uint64 {
	switch s {
	case Atoms32:
		return addr ^ addr>>7&3<<5
	case Atoms64:
		return addr ^ addr>>7&1<<6
	}
	mask := uint64(1)<<s - 1 // 0, 1, 3 or 7
	return addr ^ addr>>7&mask<<4
}

// Fill writes what elements outside of the array have to a box.
func (m *Map) Fill(box []byte) {
	clear(box)
	if !m.NaN {
		return
	}
	quiet := uint64(0x7fff_ffff_ffff_ffff) // of each size, from its last bytes
	switch m.Element() {
	case 2:
		quiet = 0x7fff
	case 4:
		quiet = 0x7fff_ffff
	}
	var one [8]byte
	binary.LittleEndian.PutUint64(one[:], quiet)
	for at := 0; at < len(box); at += int(m.Element()) {
		copy(box[at:], one[:m.Element()])
	}
}

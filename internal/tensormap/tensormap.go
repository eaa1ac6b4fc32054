// Package tensormap describes arrays of up to five dimensions and the boxes of them that bulk
// copies move: the tensor maps of the CUDA Driver API ("Tensor Map Object Management") and the tile
// mode of the PTX ISA (5.5.3.1, 5.5.3.4, 5.5.6).
//
// A tensor map is opaque to programs, so that heddle's runtime may choose what its 128 bytes hold
// (internal/lower/headers/exec/tensormap.c). Not described are interleaved layouts, the mode
// im2col, elements of less than a byte, and swizzles whose atoms have more than 16 bytes.
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

// elementBytes has the bytes of an element of each type; those that are missing are not supported.
var elementBytes = [...]uint64{1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4}

// Swizzle is a permutation of the bytes of a box in shared memory, by its number in
// CUtensorMapSwizzle.
type Swizzle uint8

// The swizzles: pieces of 16 bytes change places within 32, 64 or 128 bytes.
const (
	NoSwizzle Swizzle = iota
	Swizzle32
	Swizzle64
	Swizzle128
)

// Map is a tensor map. Dimension 0 is that of neighbours in memory.
type Map struct {
	Type    Type
	Rank    int
	Addr    uint64          // of element 0
	Size    [MaxRank]uint64 // elements
	Stride  [MaxRank]uint64 // bytes from an element to the next one
	Box     [MaxRank]uint64 // extent of a box in the array, in elements
	Step    [MaxRank]uint64 // of each Step elements of the extent one is copied
	Swizzle Swizzle
	NaN     bool // elements outside of the array are NaN, else 0
}

// ErrNotMap is the error of bytes that are no tensor map.
var ErrNotMap = errors.New("it holds no tensor map")

// Decode reads a tensor map of the runtime.
func Decode(b []byte) (*Map, error) {
	le := binary.LittleEndian
	if len(b) < Size || le.Uint32(b) != magic {
		return nil, ErrNotMap
	}
	m := &Map{Type: Type(b[4]), Rank: int(b[5]), Swizzle: Swizzle(b[6]), NaN: b[7] != 0,
		Addr: le.Uint64(b[8:])}
	if m.Rank < 1 || m.Rank > MaxRank || int(m.Type) >= len(elementBytes) || m.Swizzle > Swizzle128 {
		return nil, fmt.Errorf("%w that cuTensorMapEncodeTiled has made", ErrNotMap)
	}
	m.Stride[0] = m.Element()
	for i := range m.Rank {
		if i > 0 {
			m.Stride[i] = le.Uint64(b[8+8*i:])
		}
		m.Size[i] = uint64(le.Uint32(b[48+4*i:])) + 1
		m.Box[i] = uint64(le.Uint16(b[68+2*i:]))
		m.Step[i] = uint64(b[78+i])
		if m.Box[i] == 0 || m.Step[i] == 0 {
			return nil, fmt.Errorf("%w that cuTensorMapEncodeTiled has made", ErrNotMap)
		}
	}
	return m, nil
}

// Encode writes a tensor map as the runtime does.
func (m *Map) Encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, Size)
	le.PutUint32(b, magic)
	b[4], b[5], b[6] = byte(m.Type), byte(m.Rank), byte(m.Swizzle)
	if m.NaN {
		b[7] = 1
	}
	le.PutUint64(b[8:], m.Addr)
	for i := range m.Rank {
		if i > 0 {
			le.PutUint64(b[8+8*i:], m.Stride[i])
		}
		le.PutUint32(b[48+4*i:], uint32(m.Size[i]-1))
		le.PutUint16(b[68+2*i:], uint16(m.Box[i]))
		b[78+i] = byte(m.Step[i])
	}
	return b
}

// Element returns the bytes of an element.
func (m *Map) Element() uint64 { return elementBytes[m.Type] }

// Count returns how many elements a box copies in a dimension.
func (m *Map) Count(dim int) uint64 { return (m.Box[dim] + m.Step[dim] - 1) / m.Step[dim] }

// Bytes returns the bytes of a box in shared memory. Elements outside of the array count as well.
func (m *Map) Bytes() uint64 {
	n := m.Element()
	for i := range m.Rank {
		n *= m.Count(i)
	}
	return n
}

// Piece is bytes of a box: those from At on are at Addr in the array.
type Piece struct{ At, Addr, Size uint64 }

// Pieces returns the pieces of the box at some coordinates that are in the array, in the order of
// the box. The rest of the box is outside (5.5.6). Coordinates may be negative.
func (m *Map) Pieces(at []int32) []Piece {
	var out []Piece
	row := m.Count(0) * m.Element()
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

// row appends the pieces of a row of a box, whose coordinate in dimension 0 is first. The array has
// a row at addr.
func (m *Map) row(out []Piece, at, addr uint64, first int64) []Piece {
	e, step := m.Element(), int64(m.Step[0])
	for i := range int64(m.Count(0)) {
		c := first + i*step
		if c < 0 || c >= int64(m.Size[0]) {
			continue
		}
		p := Piece{At: at + uint64(i)*e, Addr: addr + uint64(c)*e, Size: e}
		if n := len(out); n > 0 && out[n-1].At+out[n-1].Size == p.At && out[n-1].Addr+out[n-1].Size == p.Addr {
			out[n-1].Size += e
			continue
		}
		out = append(out, p)
	}
	return out
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
// (5.5.7): bits 4 to 6 of the address, or fewer of them, are changed by bits 7 to 9.
func (s Swizzle) Place(addr uint64) uint64 {
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

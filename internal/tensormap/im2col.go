package tensormap

import "fmt"

// Im2col is what a tensor map of cuTensorMapEncodeIm2col says of its boxes (PTX ISA 5.5.4). The
// array is one of pixels, which have channels (dimension 0), a place in one, two or three
// dimensions (W, H, D), and the number of an image (N, the last dimension).
//
// A box is a column of pixels, of each of which it has some channels. The column visits the
// positions of a filter: W fastest, then H, D and N, each from Lower to the size of the dimension
// - 1 + Upper. What is copied is the pixel at the position plus the offsets of the instruction.
type Im2col struct {
	Lower, Upper [MaxRank - 2]int64 // of W, H, D
	Channels     uint64
	Pixels       uint64
	Wide         Wide
}

// Wide says of a map of cuTensorMapEncodeIm2colWide how many pixels its boxes have (PTX ISA 5.5.5).
type Wide uint8

// The modes of a column. In the wide ones, the bounding box has a size of 1 in H and D.
const (
	NotWide Wide = iota
	W            // .im2col::w: Pixels
	W128         // .im2col::w::128: 128
)

// pixels returns how many pixels a column has.
func (c *Im2col) pixels() uint64 {
	if c.Wide == W128 {
		return 128
	}
	return c.Pixels
}

// corner returns the limits of the corners and of the offsets in a map of some rank (5.5.4.1).
func corner(rank int) (least, most, offset int64) {
	bits := [...]uint{16, 8, 5}[rank-3]
	return -1 << (bits - 1), 1<<(bits-1) - 1, 1<<bits - 1
}

// last returns the last position of the filter in a dimension; dimension 0 of these is W.
func (m *Map) last(dim int) int64 { return int64(m.Size[dim+1]) - 1 + m.Im2col.Upper[dim] }

// check returns an error if no map of cuTensorMapEncodeIm2col can be like this.
func (c *Im2col) check(m *Map) error {
	few := c.pixels() == 0 || c.pixels() > 1024
	if m.Rank < 3 || c.Channels == 0 || c.Channels > 256 || few ||
		c.Wide != NotWide && (m.Swizzle < Swizzle64 || m.Swizzle > Atoms32) {
		return fmt.Errorf("%w that cuTensorMapEncodeIm2col has made", ErrNotMap)
	}
	least, most, _ := corner(m.Rank)
	places := m.Rank - 2
	if c.Wide != NotWide { // which has corners of 16 bits in W alone
		least, most, _ = corner(3)
		places = 1
	}
	for i := range places {
		lo, hi := c.Lower[i], c.Upper[i]
		if lo < least || lo > most || hi < least || hi > most || m.last(i) < lo {
			return fmt.Errorf("%w that cuTensorMapEncodeIm2col has made", ErrNotMap)
		}
	}
	return nil
}

// Column returns the pieces of the column whose first position of the filter is at some coordinates
// that are in the array, as Pieces does for a box. offsets are those of the instruction, one for
// each dimension of places; nil: all are 0.
//
// The error says what the ISA does not allow: offsets beyond their range, and, as what it does not
// define, a position outside of the bounding box (ErrUnsupported). Its own examples have some.
func (m *Map) Column(at, offsets []int32) ([]Piece, error) {
	c, places := m.Im2col, m.Rank-2
	_, _, most := corner(m.Rank)
	var pos, off [MaxRank - 2]int64
	for i := range places {
		pos[i] = int64(at[i+1])
		if offsets != nil {
			off[i] = int64(offsets[i])
		}
		switch {
		case off[i] < 0 || off[i] > most:
			return nil, fmt.Errorf("the im2col offset %d is not in 0 to %d (PTX ISA 5.5.4.1)", off[i],
				most)
		case pos[i] < c.Lower[i] || pos[i] > m.last(i):
			return nil, fmt.Errorf("%w: a filter that begins at %d in dimension %d, outside of the "+
				"bounding box from %d to %d (PTX ISA 5.5.4.1)", ErrUnsupported, pos[i], i+1, c.Lower[i],
				m.last(i))
		}
	}
	image := int64(at[m.Rank-1])
	var out []Piece
	for p := range c.Pixels {
		place := pos
		for i := range places {
			place[i] += off[i]
		}
		out = m.pixel(out, p, int64(at[0]), place, image)
		i := 0
		for ; i < places; i++ {
			if pos[i] += int64(m.Step[i+1]); pos[i] <= m.last(i) {
				break
			}
			pos[i] = c.Lower[i]
		}
		if i == places {
			image++
		}
	}
	return out, nil
}

// pixel appends the pieces of pixel number p of a column, at a place in an image, if it is in the
// array.
func (m *Map) pixel(out []Piece, p uint64, channel int64, place [MaxRank - 2]int64,
	image int64) []Piece {
	addr := m.Addr + uint64(image)*m.Stride[m.Rank-1]
	inside := image >= 0 && image < int64(m.Size[m.Rank-1])
	for i := range m.Rank - 2 {
		inside = inside && place[i] >= 0 && place[i] < int64(m.Size[i+1])
		addr += uint64(place[i]) * m.Stride[i+1]
	}
	if !inside {
		return out
	}
	return m.row(out, p*m.inner()*m.unit().shared, addr, channel)
}

// The limits of the operands of the wide modes (PTX ISA 9.7.9.27.1.2).
const (
	mostHalo    = 1<<9 - 1
	mostHalo128 = 1<<5 - 1
	mostOffset  = 1<<5 - 1
)

// WideColumn returns the pieces of a column in mode im2col::w or im2col::w::128, as Column does. It
// stays in the row of an image that the coordinates name, between the corners in W, and goes on in
// the same row of the next image. Offset moves the corners and the first pixel (5.5.5.4). The first
// pixel may be on the left of the bounding box, and not on its right (5.5.5.1).
func (m *Map) WideColumn(at []int32, halo, offset int32) ([]Piece, error) {
	c, most := m.Im2col, int32(mostHalo)
	if c.Wide == W128 {
		most = mostHalo128
	}
	w := int64(at[1]) + int64(offset)
	lower, last := c.Lower[0]+int64(offset), m.last(0)+int64(offset)
	switch {
	case halo < 0 || halo > most:
		return nil, fmt.Errorf("the halo of %d pixels is not in 0 to %d (PTX ISA 9.7.9.27.1.2)", halo, most)
	case offset < 0 || offset > mostOffset:
		return nil, fmt.Errorf("the offset %d is not in 0 to %d (PTX ISA 9.7.9.27.1.2)", offset, mostOffset)
	case halo > 0:
		return nil, fmt.Errorf("%w: halo pixels, of which PTX ISA 5.5.5.3 does not say which they are",
			ErrUnsupported)
	case w > last:
		return nil, fmt.Errorf("the first pixel at %d in W is on the right of the bounding box from %d "+
			"to %d (PTX ISA 5.5.5.1)", w, lower, last)
	}
	place, image := [MaxRank - 2]int64{w}, int64(at[m.Rank-1])
	for i := 1; i < m.Rank-2; i++ {
		place[i] = int64(at[i+1])
	}
	var out []Piece
	for p := range c.pixels() {
		out = m.pixel(out, p, int64(at[0]), place, image)
		if place[0] += int64(m.Step[1]); place[0] > last {
			place[0], image = lower, image+1
		}
	}
	return out, nil
}

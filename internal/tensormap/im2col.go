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
	if m.Rank < 3 || c.Channels == 0 || c.Channels > 256 || c.Pixels == 0 || c.Pixels > 1024 {
		return fmt.Errorf("%w that cuTensorMapEncodeIm2col has made", ErrNotMap)
	}
	least, most, _ := corner(m.Rank)
	for i := range m.Rank - 2 {
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
	row := c.Channels * m.Element()
	var out []Piece
	for p := range c.Pixels {
		addr := m.Addr + uint64(image)*m.Stride[m.Rank-1]
		inside := image >= 0 && image < int64(m.Size[m.Rank-1])
		for i := range places {
			x := pos[i] + off[i]
			inside = inside && x >= 0 && x < int64(m.Size[i+1])
			addr += uint64(x) * m.Stride[i+1]
		}
		if inside {
			out = m.row(out, p*row, addr, int64(at[0]), c.Channels)
		}
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

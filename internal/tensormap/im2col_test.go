package tensormap

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// naive copies a column into shared memory as PTX ISA 5.5.4 describes it, element by element: the
// filter moves by the traversal stride through the bounding box, in W, then H, D and N, until
// Pixels-per-Column pixels are there (5.5.4.2); the pixel is at the filter's position plus the
// im2col offset (5.5.4.1); pixels and channels outside of the tensor are 0 (5.5.4.3).
func naive(m *Map, memory []byte, at, offsets []int32) []byte {
	c, e := m.Im2col, int64(m.Element())
	// Dimensions that the tensor does not have are of one element.
	var size, lo, hi, step, start, off [3]int64
	for i := range 3 {
		size[i], step[i] = 1, 1
		if i < m.Rank-2 {
			size[i], step[i] = int64(m.Size[i+1]), int64(m.Step[i+1])
			lo[i], hi[i] = c.Lower[i], size[i]-1+c.Upper[i]
			start[i], off[i] = int64(at[i+1]), int64(offsets[i])
		}
	}
	box := make([]byte, 0, m.Bytes())
	pixel := func(w, h, d, n int64) {
		for ch := range int64(c.Channels) {
			element := make([]byte, e)
			x := [5]int64{int64(at[0]) + ch, w, h, d, n}
			inside := n >= 0 && n < int64(m.Size[m.Rank-1]) && x[0] >= 0 && x[0] < int64(m.Size[0])
			addr := x[0]*e + n*int64(m.Stride[m.Rank-1])
			for i := range 3 {
				inside = inside && x[i+1] >= 0 && x[i+1] < size[i]
				if i < m.Rank-2 {
					addr += x[i+1] * int64(m.Stride[i+1])
				}
			}
			if inside {
				copy(element, memory[addr:])
			}
			box = append(box, element...)
		}
	}
	first := start
	for n := int64(at[m.Rank-1]); ; n++ {
		for d := first[2]; d <= hi[2]; d += step[2] {
			for h := first[1]; h <= hi[1]; h += step[1] {
				for w := first[0]; w <= hi[0]; w += step[0] {
					if len(box) == int(m.Bytes()) {
						return box
					}
					pixel(w+off[0], h+off[1], d+off[2], n)
				}
				first[0] = lo[0]
			}
			first[1] = lo[1]
		}
		first[2] = lo[2]
	}
}

// TestColumn compares the pieces of columns with the naive copy.
func TestColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	memory := make([]byte, 1<<17)
	for i := range memory {
		memory[i] = byte(r.Uint32())
	}
	inside := 0
	for n := 0; n < 8000; {
		m := random(r)
		if m.Rank < 3 {
			continue
		}
		n++
		m.Im2col = randomColumn(r, m)
		at, off := make([]int32, m.Rank), make([]int32, m.Rank-2)
		at[0], at[m.Rank-1] = int32(r.IntN(9))-4, int32(r.IntN(8))-1
		for i := range off {
			lo := m.Im2col.Lower[i]
			at[i+1] = int32(lo) + int32(r.IntN(int(m.last(i)-lo)+1))
			off[i] = int32(r.IntN(5))
		}
		pieces, err := m.Column(at, off)
		if err != nil {
			t.Fatalf("%+v %+v at %v + %v: %v", m, m.Im2col, at, off, err)
		}
		got := make([]byte, m.Bytes())
		for _, p := range pieces {
			inside++
			copy(got[p.At:p.At+p.Size], memory[p.Addr-m.Addr:])
		}
		if want := naive(m, memory, at, off); !bytes.Equal(got, want) {
			t.Fatalf("%+v %+v at %v + %v:\n%v, want\n%v", m, m.Im2col, at, off, got, want)
		}
	}
	if inside < 4000 {
		t.Errorf("%d pieces only", inside)
	}
}

// TestConvolution: the columns of all offsets are the operand of a convolution. A filter of 3 by 3
// with a padding of 1 and a stride of 2 on an image of 5 by 5 has 3 by 3 positions, from -1 to 3:
// the lower corner is -padding, and the upper one padding - (3 - 1) (5.5.4.1, example 1).
func TestConvolution(t *testing.T) {
	m := &Map{Type: 0, Rank: 4, Size: [5]uint64{1, 5, 5, 1}, Stride: [5]uint64{1, 16, 80, 400}, Step: [5]uint64{1, 2, 2, 1},
		Im2col: &Im2col{Lower: [3]int64{-1, -1}, Upper: [3]int64{-1, -1}, Channels: 1, Pixels: 10}}
	pieces, err := m.Column([]int32{0, -1, -1, 0}, []int32{1, 2})
	// the pixel in the middle of the last row of the filter; the tenth pixel is in the next image
	var want []Piece
	for i, y := range []uint64{1, 3} {
		for j, x := range []uint64{0, 2, 4} {
			want = append(want, Piece{At: uint64(3*i + j), Addr: 80*y + 16*x, Size: 1})
		}
	}
	if err != nil || !reflect.DeepEqual(pieces, want) {
		t.Errorf("%v (%v), want %v", pieces, err, want)
	}
}

// TestWideColumn: PTX ISA 5.5.5. The pixels are those of the row at (H, D), between the corners in W,
// and go on in the next image, since boxes have a size of 1 in H and D (5.5.5.1). What the ISA says
// of its examples is: of 128 pixels of rows of 9 from W = 2 on, 7 are in the first image and 9 in each
// other (5.5.5.3); an offset moves corners and pixels alike (5.5.5.4).
func TestWideColumn(t *testing.T) {
	// C = 32 elements of a byte, W, H, N: as example 1 of 5.5.5.3, with fewer channels.
	m := &Map{Type: 0, Rank: 4, Size: [5]uint64{32, 9, 7, 64}, Stride: [5]uint64{1, 32, 288, 2016},
		Step: [5]uint64{1, 1, 1, 1}, Swizzle: Swizzle64,
		Im2col: &Im2col{Channels: 32, Pixels: 128, Wide: W}}
	var want []Piece
	addr := func(w, h, n uint64) uint64 { return 32*w + 288*h + 2016*n }
	w, n := uint64(2), uint64(0)
	for p := range uint64(128) {
		want = add(want, Piece{32 * p, addr(w, 3, n), 32})
		if w++; w == 9 {
			w, n = 0, n+1
		}
	}
	if got, err := m.WideColumn([]int32{0, 2, 3, 0}, 0, 0); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
	// The number of pixels is 128 in the other mode, whatever the map says.
	m128 := *m
	m128.Im2col = &Im2col{Channels: 32, Pixels: 3, Wide: W128}
	if got, err := m128.WideColumn([]int32{0, 2, 3, 0}, 0, 0); err != nil || !reflect.DeepEqual(got, want) || m128.Bytes() != 4096 {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
	// Example 2 of 5.5.5.4: corners of -1, a stride of 3, rows of 7. Buffer 1 has W = -1, 2, 5, of which
	// the first is outside of the array; an offset of 1 makes these 0, 3, 6, and one of 2 makes them 1,
	// 4, 7, of which the last is outside. The tenth pixel is in the fourth image.
	m.Size[1], m.Step[1], m.Im2col = 7, 3, &Im2col{Lower: [3]int64{-1}, Upper: [3]int64{-1}, Channels: 32, Pixels: 10, Wide: W}
	for offset, positions := range [][]int64{{-1, 2, 5}, {0, 3, 6}, {1, 4, 7}} {
		var want []Piece
		for p := range uint64(10) {
			if w := positions[p%3]; w >= 0 && w < 7 {
				want = add(want, Piece{32 * p, addr(uint64(w), 2, p/3), 32})
			}
		}
		got, err := m.WideColumn([]int32{0, -1, 2, 0}, 0, int32(offset))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("offset %d: %v (%v), want %v", offset, got, err, want)
		}
	}
	// "The first element can lie outside of the Bounding Box in the W-dimension only and only on the
	// left side" (5.5.5.1): from W = 0, on the left of corners 2 and 4, the column goes on by the stride
	// and begins the next row at the corner.
	m.Step[1], m.Im2col = 1, &Im2col{Lower: [3]int64{2}, Upper: [3]int64{-2}, Channels: 32, Pixels: 7, Wide: W}
	want = []Piece{{0, addr(0, 0, 1), 5 * 32}, {5 * 32, addr(2, 0, 2), 2 * 32}}
	if got, err := m.WideColumn([]int32{0, 0, 0, 1}, 0, 0); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
	// H outside of the array: nothing is in it.
	if got, err := m.WideColumn([]int32{0, 2, 7, 0}, 0, 0); err != nil || got != nil {
		t.Errorf("%v (%v), want nothing", got, err)
	}
	for _, c := range []struct {
		w, halo, offset int32
		wide            Wide
		text            string
	}{
		{5, 0, 0, W, "on the right of the bounding box from 2 to 4"},
		{2, 512, 0, W, "not in 0 to 511"}, {2, 32, 0, W128, "not in 0 to 31"}, {2, 0, 32, W, "not in 0 to 31"},
		{2, 2, 0, W, "halo pixels"},
	} {
		m.Im2col.Wide = c.wide
		if _, err := m.WideColumn([]int32{0, c.w, 0, 0}, c.halo, c.offset); err == nil ||
			!strings.Contains(err.Error(), c.text) || errors.Is(err, ErrUnsupported) != (c.halo == 2) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestColumnMistakes: 5.5.4.1: the filter's corner must be within the bounding box, and offsets
// have 16, 8 or 5 bits.
func TestColumnMistakes(t *testing.T) {
	for _, c := range []struct {
		rank        int
		at, offsets []int32
		undefined   bool
		text        string
	}{
		{3, []int32{0, 0, 0}, []int32{1 << 16}, false, "is not in 0 to 65535"},
		{4, []int32{0, 0, 0, 0}, []int32{0, 256}, false, "is not in 0 to 255"},
		{5, []int32{0, 0, 0, 0, 0}, []int32{0, 0, 32}, false, "is not in 0 to 31"},
		{5, []int32{0, 0, 0, 0, 0}, []int32{0, -1, 0}, false, "is not in 0 to 31"},
		{3, []int32{0, -2, 0}, []int32{0}, true, "begins at -2 in dimension 1"},
		{4, []int32{0, 0, 8, 0}, []int32{0, 0}, true, "bounding box from -1 to 6"},
	} {
		m := &Map{Rank: c.rank, Size: [5]uint64{8, 8, 8, 8, 8}, Step: [5]uint64{1, 1, 1, 1, 1},
			Im2col: &Im2col{Lower: [3]int64{-1, -1, -1}, Upper: [3]int64{-1, -1, -1}, Channels: 1, Pixels: 1}}
		_, err := m.Column(c.at, c.offsets)
		if err == nil || errors.Is(err, ErrUnsupported) != c.undefined || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v + %v: %v", c.at, c.offsets, err)
		}
	}
}

// TestReplace: each field by tensormap.replace (PTX ISA 9.7.9.28), against a map with this field.
func TestReplace(t *testing.T) {
	base := Map{Type: 7, Rank: 3, Addr: 1 << 20, Size: [5]uint64{64, 8, 8}, Stride: [5]uint64{4, 256, 2048},
		Box: [5]uint64{8, 4, 4}, Step: [5]uint64{1, 1, 1}, Swizzle: Swizzle32}
	for _, c := range []struct {
		field      Field
		ord, value uint64
		change     func(m *Map)
	}{
		{GlobalAddress, 0, 4096, func(m *Map) { m.Addr = 4096 }},
		{Rank, 0, 1, func(m *Map) { m.Rank, m.Size[2], m.Stride[2], m.Box[2], m.Step[2] = 2, 0, 0, 0, 0 }}, // one less
		{BoxDim, 1, 7, func(m *Map) { m.Box[1] = 7 }},
		{GlobalDim, 2, 5, func(m *Map) { m.Size[2] = 5 }},
		{GlobalDim, 4, 0, func(m *Map) {}}, // beyond the rank
		{GlobalStride, 0, 512, func(m *Map) { m.Stride[1] = 512 }},
		{ElementStride, 2, 3, func(m *Map) { m.Step[2] = 3 }},
		{ElementStride, 0, 2, func(m *Map) {}}, // not used without an interleaved layout
		{ElemType, 0, 3, func(m *Map) { m.Type = 3 }},
		{ElemType, 0, 8, func(m *Map) { m.Type = 10 }}, // .f32.ftz
		{SwizzleMode, 0, 3, func(m *Map) { m.Swizzle = Swizzle128 }},
		{FillMode, 0, 1, func(m *Map) { m.NaN = true }},
	} {
		b, want := base.Encode(), base
		c.change(&want)
		if err := Replace(b, c.field, c.ord, c.value); err != nil {
			t.Errorf("%s: %v", c.field, err)
		}
		if got, err := Decode(b); err != nil || !reflect.DeepEqual(got, &want) {
			t.Errorf("%s: %+v (%v), want %+v", c.field, got, err, want)
		}
	}
	// Larger atoms belong to the swizzle of 128 bytes (Table 14).
	for value, want := range map[uint64]Swizzle{0: Swizzle128, 1: Atoms32, 3: Atoms64} {
		b := base.Encode()
		if err := errors.Join(Replace(b, SwizzleMode, 0, 3), Replace(b, SwizzleAtomicity, 0, value)); err != nil {
			t.Error(err)
		}
		if got, err := Decode(b); err != nil || got.Swizzle != want {
			t.Errorf("swizzle_atomicity %d: %+v, %v, want swizzle %d", value, got, err, want)
		}
	}
	// What makes a map that no function of the Driver API makes, and values that Table 33 does not
	// have.
	for _, c := range []struct {
		field      Field
		ord, value uint64
		want       error // of Decode; nil: Replace fails
	}{
		{GlobalAddress, 0, 8, ErrNotMap}, {Rank, 0, 5, ErrNotMap}, {BoxDim, 0, 0, ErrNotMap}, {BoxDim, 1, 65537, ErrNotMap},
		{GlobalDim, 0, 0, ErrNotMap}, {GlobalStride, 0, 8, ErrNotMap}, {GlobalStride, 0, 1 << 40, ErrNotMap},
		{ElementStride, 1, 0, ErrNotMap}, {ElementStride, 1, 257, ErrNotMap}, {ElemType, 0, 13, ErrNotMap},
		{Interleave, 0, 2, ErrUnsupported}, {SwizzleMode, 0, 4, ErrUnsupported}, {SwizzleAtomicity, 0, 3, ErrNotMap},
		{ElemType, 0, 16, nil}, {Interleave, 0, 3, nil}, {SwizzleMode, 0, 5, nil}, {SwizzleAtomicity, 0, 4, nil},
		{FillMode, 0, 2, nil}, {GlobalStride, 4, 16, nil}, {GlobalDim, 5, 16, nil},
	} {
		b := base.Encode()
		err := Replace(b, c.field, c.ord, c.value)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s[%d] = %d: %v", c.field, c.ord, c.value, err)
		}
		if _, err := Decode(b); c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s[%d] = %d gives %v, want %v", c.field, c.ord, c.value, err, c.want)
		}
	}
	if err := Replace(make([]byte, Size), Rank, 0, 1); !errors.Is(err, ErrNotMap) {
		t.Errorf("replaced in what is no map: %v", err)
	}
	for f := GlobalAddress; f < numFields; f++ {
		if FieldOf(f.String()) != f {
			t.Errorf("%s is field %d", f, FieldOf(f.String()))
		}
	}
}

// FuzzMap: whatever the bytes are, and whatever is replaced in them, no use of the map panics, and
// no piece is outside of its box.
func FuzzMap(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		f.Add(valid(r).Encode(), uint8(r.IntN(int(numFields))), r.Uint64N(6), r.Uint64N(300), int32(r.IntN(9))-4)
	}
	f.Fuzz(func(t *testing.T, b []byte, field uint8, ord, value uint64, at int32) {
		if Field(field) < numFields {
			Replace(b, Field(field), ord, value)
		}
		m, err := Decode(b)
		if err != nil || m.Bytes() > 1<<20 {
			return
		}
		coords := []int32{at, at, at, at, at}
		var pieces []Piece
		switch {
		case m.CheckFirst(at) != nil:
			return
		case m.Im2col != nil && m.Im2col.Wide != NotWide:
			pieces, _ = m.WideColumn(coords[:m.Rank], 0, at&15)
		case m.Im2col != nil:
			pieces, _ = m.Column(coords[:m.Rank], coords[:m.Rank-2])
		case m.Rank == 2 && m.Count(1) == 1:
			pieces = m.Gather(coords)
		default:
			pieces = m.Pieces(coords[:m.Rank])
		}
		limit := m.Bytes()
		if m.Im2col == nil && m.Rank == 2 && m.Count(1) == 1 {
			limit *= 4
		}
		end := uint64(0)
		for _, p := range pieces {
			if p.At < end || p.At+p.Size > limit || p.Size == 0 {
				t.Fatalf("%+v: piece %+v behind %d in a box of %d bytes", m, p, end, limit)
			}
			end = p.At + p.Size
		}
		if limit <= 1<<20 {
			m.Fill(make([]byte, limit))
		}
	})
}

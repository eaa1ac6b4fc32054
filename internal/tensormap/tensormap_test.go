package tensormap

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// random returns a random tensor map.
func random(r *rand.Rand) *Map {
	m := &Map{Type: Type(r.IntN(len(elementBytes))), Rank: 1 + r.IntN(MaxRank), Addr: 1 << 20,
		Swizzle: []Swizzle{NoSwizzle, Swizzle32, Swizzle64, Swizzle128, Atoms32, Atoms64}[r.IntN(6)], NaN: r.IntN(2) == 0}
	m.Stride[0] = m.Element()
	stride := m.Element()
	for i := range m.Rank {
		m.Size[i], m.Box[i], m.Step[i] = 1+r.Uint64N(6), 1+r.Uint64N(5), 1
		if i > 0 && r.IntN(4) == 0 {
			m.Step[i] = 1 + r.Uint64N(3)
		}
		if i > 0 {
			m.Stride[i] = stride + 16*r.Uint64N(2)
		}
		stride = max(m.Stride[i], stride) * m.Size[i]
		stride = (stride + 15) / 16 * 16
	}
	return m
}

// valid returns a random tensor map that the functions of the Driver API would make: of rows of 16
// bytes, of which a swizzle has room for two at least.
func valid(r *rand.Rand) *Map {
	m := random(r)
	m.Box[0] = 16 / m.Element() * (1 + r.Uint64N(2))
	if m.Rank >= 3 && r.IntN(2) == 0 {
		m.Im2col, m.Box = randomColumn(r, m), [MaxRank]uint64{}
		m.Im2col.Channels = 16 / m.Element()
	}
	return m
}

// randomColumn returns a random box of a map for im2col.
func randomColumn(r *rand.Rand, m *Map) *Im2col {
	c := &Im2col{Channels: 1 + r.Uint64N(8), Pixels: 1 + r.Uint64N(40)}
	for i := range m.Rank - 2 {
		c.Lower[i] = int64(r.IntN(7)) - 3
		c.Upper[i] = c.Lower[i] - int64(m.Size[i+1]) + 1 + int64(r.IntN(6))
	}
	return c
}

// TestPieces compares the pieces of boxes with the definition of the tile mode (PTX ISA 5.5.3.1 and
// 5.5.6): the element of the box with the numbers i is that of the array with the coordinates
// at + i * step, if these are in the array.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		m := random(r)
		at := make([]int32, m.Rank)
		for i := range at {
			at[i] = int32(r.IntN(10)) - 4
		}
		e := m.Element()
		want := map[uint64]uint64{} // from bytes of the box to addresses
		total := uint64(1)
		for i := range m.Rank {
			total *= m.Count(i)
		}
		for n := range total {
			addr, rest, inside := m.Addr, n, true
			for i := range m.Rank {
				c := int64(at[i]) + int64(rest%m.Count(i))*int64(m.Step[i])
				rest /= m.Count(i)
				inside = inside && c >= 0 && c < int64(m.Size[i])
				addr += uint64(c) * m.Stride[i]
			}
			for k := uint64(0); k < e && inside; k++ {
				want[n*e+k] = addr + k
			}
		}
		got := map[uint64]uint64{}
		for _, p := range m.Pieces(at) {
			for k := range p.Size {
				if _, twice := got[p.At+k]; twice {
					t.Fatalf("%+v at %v: byte %d twice", m, at, p.At+k)
				}
				got[p.At+k] = p.Addr + k
			}
		}
		if total*e != m.Bytes() || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v at %v: %v, want %v", m, at, got, want)
		}
	}
}

// TestGather: four rows by their numbers, each a box of one row; those outside of the array are
// left out.
func TestGather(t *testing.T) {
	m := &Map{Type: 1, Rank: 2, Addr: 1000, Size: [5]uint64{64, 8}, Stride: [5]uint64{2, 128}, Box: [5]uint64{8, 1},
		Step: [5]uint64{1, 1}}
	got := m.Gather([]int32{60, 7, 0, 8, 2})
	want := []Piece{{0, 1000 + 7*128 + 120, 8}, {16, 1000 + 120, 8}, {48, 1000 + 2*128 + 120, 8}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSwizzle: PTX ISA 5.5.7. With 128 bytes, piece c of 16 bytes of row r of eight rows is at c
// xor r; with 64, two rows share 128 bytes, and the pattern changes every two; with 32 every four.
// With atoms of 32 bytes, atom c of row r of four rows is at c xor r; with 64, of two rows.
func TestSwizzle(t *testing.T) {
	for _, c := range []struct {
		s          Swizzle
		addr, want uint64
	}{
		{NoSwizzle, 0x3f0, 0x3f0}, {Swizzle128, 0x000, 0x000}, {Swizzle128, 0x080, 0x090}, {Swizzle128, 0x3f0, 0x380},
		{Swizzle128, 0x3f5, 0x385}, {Swizzle128, 0x410, 0x410}, {Swizzle64, 0x040, 0x040}, {Swizzle64, 0x080, 0x090},
		{Swizzle64, 0x1b0, 0x180}, {Swizzle64, 0x1f0, 0x1c0}, {Swizzle32, 0x080, 0x090}, {Swizzle32, 0x0b0, 0x0a0},
		{Swizzle32, 0x100, 0x100},
		{Atoms32, 0x010, 0x010}, {Atoms32, 0x090, 0x0b0}, {Atoms32, 0x100, 0x140}, {Atoms32, 0x1e5, 0x185}, {Atoms32, 0x220, 0x220},
		{Atoms64, 0x070, 0x070}, {Atoms64, 0x080, 0x0c0}, {Atoms64, 0x0f3, 0x0b3}, {Atoms64, 0x110, 0x110},
	} {
		if got := c.s.Place(c.addr); got != c.want {
			t.Errorf("swizzle %d: %#x goes to %#x, want %#x", c.s, c.addr, got, c.want)
		}
		if back := c.s.Place(c.s.Place(c.addr)); back != c.addr {
			t.Errorf("swizzle %d is not its own inverse at %#x", c.s, c.addr)
		}
	}
}

// TestEncode: a map survives, and other bytes are none.
func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		m := valid(r)
		got, err := Decode(m.Encode())
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Fatalf("%+v, want %+v (%v)", got, m, err)
		}
	}
	m := &Map{Type: 7, Rank: 3, Addr: 1 << 20, Size: [5]uint64{64, 8, 8}, Stride: [5]uint64{4, 256, 2048},
		Box: [5]uint64{8, 4, 4}, Step: [5]uint64{1, 1, 1}, Swizzle: Swizzle32}
	column := *m
	column.Box, column.Im2col = [5]uint64{}, &Im2col{Channels: 8, Pixels: 16}
	for what, change := range map[string]func(b []byte) []byte{
		"short":           func(b []byte) []byte { return b[:Size-1] },
		"other bytes":     func(b []byte) []byte { return make([]byte, Size) },
		"rank":            func(b []byte) []byte { b[5] = 6; return b },
		"type":            func(b []byte) []byte { b[4] = 16; return b },
		"swizzle":         func(b []byte) []byte { b[6] = 8; return b },
		"box":             func(b []byte) []byte { b[68], b[69] = 0, 0; return b },
		"row of 4 bytes":  func(b []byte) []byte { b[68] = 1; return b },
		"row of 64 bytes": func(b []byte) []byte { b[68] = 16; return b },
		"step":            func(b []byte) []byte { b[79] = 0; return b },
		"long step":       func(b []byte) []byte { b[79] = 9; return b },
		"address":         func(b []byte) []byte { b[8] = 4; return b },
		"stride":          func(b []byte) []byte { b[16] = 4; return b },
		"mode":            func(b []byte) []byte { b[83] = 4; return b },
		"wide with a swizzle of 32 bytes": func(b []byte) []byte {
			c := column
			c.Im2col = &Im2col{Channels: 8, Pixels: 16, Wide: W}
			return c.Encode()
		},
		"a row of 4 bits":    func(b []byte) []byte { b[4] = 13; return b }, // 8 elements, which are 4 bytes
		"128 elements":       func(b []byte) []byte { b[4] = 14; return b }, // box and array must have as many
		"32 bytes, 4 bits":   func(b []byte) []byte { m := padded(padded4); m.Swizzle = Swizzle32; return m.Encode() },
		"32 bytes, 6 bits":   func(b []byte) []byte { m := padded(padded6); m.Stride[1] = 16; return m.Encode() },
		"NaN of 6 bits":      func(b []byte) []byte { m := padded(padded6); m.NaN = true; return m.Encode() },
		"no channels":        func(b []byte) []byte { c := column; c.Im2col = &Im2col{Pixels: 1}; return c.Encode() },
		"no pixels":          func(b []byte) []byte { c := column; c.Im2col = &Im2col{Channels: 8}; return c.Encode() },
		"im2col in two dims": func(b []byte) []byte { c := column.Encode(); c[5] = 2; return c },
		"atoms in 64 bytes":  func(b []byte) []byte { b[6], b[101] = 2, 1; return b }, // 5.5.7, Table 14
		"atoms":              func(b []byte) []byte { b[6], b[101] = 3, 4; return b },
		"swizzle 4":          func(b []byte) []byte { b[6] = 4; return b }, // as tensormap.replace cannot make it
		"an empty box": func(b []byte) []byte {
			c := column
			c.Im2col = &Im2col{Channels: 8, Pixels: 1, Upper: [3]int64{-8}}
			return c.Encode()
		},
	} {
		if _, err := Decode(change(m.Encode())); !errors.Is(err, ErrNotMap) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, change := range map[string]func(b []byte){
		"interleave": func(b []byte) { b[100] = 1 },
		"flipped":    func(b []byte) { b[6], b[101] = 3, 2 },
		"96 bytes":   func(b []byte) { b[6] = 7 },
	} {
		b := m.Encode()
		change(b)
		if _, err := Decode(b); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// padded returns a map of rows of 128 elements of less than a byte.
func padded(t Type) *Map {
	return &Map{Type: t, Rank: 2, Addr: 1 << 20, Size: [5]uint64{256, 4}, Stride: [5]uint64{units[t].memory, 256},
		Box: [5]uint64{128, 2}, Step: [5]uint64{1, 1}, Swizzle: Swizzle128}
}

// TestPacked: PTX ISA 5.5.1.1.1. Of .b4x16_p64, eight bytes of each sixteen of shared memory come
// from the array, of .b6x16_p32 twelve; the mbarrier counts these. Of .b4x16 all do.
func TestPacked(t *testing.T) {
	for _, c := range []struct {
		typ            Type
		bytes, copied  uint64
		at             []int32
		pieces         int
		first, last    Piece
		stored, failed string
	}{
		// The second row is outside of the array.
		{typ: padded4, at: []int32{128, 3}, bytes: 256, copied: 128, pieces: 8,
			first: Piece{0, 1<<20 + 3*256 + 64, 8}, last: Piece{7 * 16, 1<<20 + 3*256 + 64 + 7*8, 8},
			stored: "cannot be stored"},
		{typ: padded6, at: []int32{128, 0}, bytes: 256, copied: 192, pieces: 16,
			first: Piece{0, 1<<20 + 96, 12}, last: Piece{15 * 16, 1<<20 + 256 + 96 + 7*12, 12}},
		{typ: padded6, at: []int32{256, 0}, bytes: 256, copied: 192},
		{typ: padded6, at: []int32{64, 0}, bytes: 256, copied: 192, failed: "64 is not a multiple of 128"},
		{typ: packed4, at: []int32{-2, 0}, bytes: 128, copied: 128, pieces: 2,
			first: Piece{1, 1 << 20, 63}, last: Piece{65, 1<<20 + 256, 63}},
		{typ: packed4, at: []int32{1, 0}, bytes: 128, copied: 128, failed: "within a byte"},
	} {
		m := padded(c.typ)
		if m.Swizzle = NoSwizzle; c.typ == packed4 {
			m.Stride[0] = 1
		}
		if d, err := Decode(m.Encode()); err != nil || !reflect.DeepEqual(d, m) {
			t.Fatalf("type %d: %+v (%v), want %+v", c.typ, d, err, m)
		}
		if m.Bytes() != c.bytes || m.Copied() != c.copied {
			t.Errorf("type %d: %d bytes, %d copied", c.typ, m.Bytes(), m.Copied())
		}
		says := func(err error, want string) bool {
			return (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want))
		}
		if !says(m.CheckFirst(c.at[0]), c.failed) || !says(m.CheckStore(), c.stored) {
			t.Errorf("type %d at %v: %v, %v", c.typ, c.at, m.CheckFirst(c.at[0]), m.CheckStore())
		}
		if c.failed != "" {
			continue
		}
		got := m.Pieces(c.at)
		if len(got) != c.pieces || c.pieces > 0 && (got[0] != c.first || got[len(got)-1] != c.last) {
			t.Errorf("type %d at %v: %v", c.typ, c.at, got)
		}
	}
}

// TestPack: the sixteen elements of six bits of a unit are packed contiguously, without the two bits
// above each (PTX ISA 5.5.1.1.1, .b6p2x16), as a number of 96 bits would hold them.
func TestPack(t *testing.T) {
	box := make([]byte, 32)
	for i := range box {
		box[i] = byte(i*37) | 0xc0&byte(i<<6)
	}
	var want [2]big.Int
	for i := range box {
		element := new(big.Int).Lsh(big.NewInt(int64(box[i]&0x3f)), uint(6*(i%16)))
		want[i/16].Or(&want[i/16], element)
	}
	padded(padded6).Pack(box)
	for u := range want {
		got := slices.Clone(box[16*u : 16*u+12])
		slices.Reverse(got)
		if new(big.Int).SetBytes(got).Cmp(&want[u]) != 0 {
			t.Errorf("unit %d: %x, want %x", u, got, &want[u])
		}
	}
}

// TestFill: elements outside of the array are zeros, or NaN of their size.
func TestFill(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		nan  bool
		want []byte
	}{{6, false, []byte{0, 0, 0, 0}}, {6, true, []byte{0xff, 0x7f, 0xff, 0x7f}}, {7, true, []byte{0xff, 0xff, 0xff, 0x7f}}} {
		got := []byte{1, 2, 3, 4}
		if (&Map{Type: c.typ, NaN: c.nan}).Fill(got); !reflect.DeepEqual(got, c.want) {
			t.Errorf("type %d: %v, want %v", c.typ, got, c.want)
		}
	}
}

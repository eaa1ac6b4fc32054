package isa

import (
	"errors"
	"strings"
	"testing"
)

// The registers, lanes and columns of tcgen05.ld and st are those of PTX ISA 9.7.16.8.3, table 49.
func TestTensorAccess(t *testing.T) {
	for text, want := range map[string]TensorAccess{
		"tcgen05.ld.sync.aligned.32x32b.x2.b32": {Shape: "32x32b", Lanes: 32, Columns: 2,
			Registers: 2},
		"tcgen05.ld.sync.aligned.16x64b.x128.b32": {Shape: "16x64b", Lanes: 16, Columns: 256,
			Registers: 128},
		"tcgen05.st.sync.aligned.16x128b.x4.b32": {Shape: "16x128b", Lanes: 16, Columns: 16,
			Registers: 8, Store: true},
		"tcgen05.ld.sync.aligned.16x256b.x32.b32": {Shape: "16x256b", Lanes: 16, Columns: 256,
			Registers: 128},
		"tcgen05.ld.sync.aligned.16x32bx2.x8.b32": {Shape: "16x32bx2", Lanes: 16, Columns: 8,
			Registers: 8, Split: true},
		"tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32": {Shape: "32x32b", Lanes: 32, Columns: 8,
			Registers: 4, Packed: true},
		"tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32": {Shape: "32x32b", Lanes: 32, Columns: 2,
			Registers: 1, Packed: true, Store: true},
		// not in the table, or not supported
		"tcgen05.ld.sync.aligned.16x256b.x64.b32":     {},
		"tcgen05.ld.sync.aligned.16x128b.x128.b32":    {},
		"tcgen05.ld.sync.aligned.32x32b.x3.b32":       {},
		"tcgen05.ld.sync.32x32b.x1.b32":               {},
		"tcgen05.ld.sync.aligned.32x32b.b32":          {},
		"tcgen05.ld.red.sync.aligned.32x32b.x2.f32":   {},
		"tcgen05.ld.sync.aligned.128x256b.x1.b32":     {},
		"tcgen05.ld.sync.aligned.32x32b.x1.x2.b32":    {},
		"tcgen05.ld.sync.aligned.16x64b.16x64bx.b32":  {},
		"tcgen05.ld.sync.aligned.32x32b.x256.b32":     {},
		"tcgen05.st.sync.aligned.32x32b.x1.foo.b32":   {},
		"tcgen05.ld.sync.aligned.32x32b.x0.b32":       {},
		"tcgen05.ld.sync.aligned.16x32bx2.x1x.b32":    {},
		"tcgen05.ld.sync.aligned.32x32b.x-1.pack.b32": {},
		"tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32": {Shape: "32x32b", Lanes: 32, Columns: 2,
			Registers: 2, Reduce: "min", Type: "u32"},
		"tcgen05.ld.red.sync.aligned.16x32bx2.x4.max.abs.NaN.f32": {Shape: "16x32bx2", Lanes: 16,
			Columns: 4, Registers: 4, Split: true, Reduce: "max", Type: "f32", Abs: true, NaN: true},
		"tcgen05.ld.red.sync.aligned.32x32b.x1.min.u32":           {}, // .num is at least .x2
		"tcgen05.ld.red.sync.aligned.16x64b.x2.min.u32":           {},
		"tcgen05.ld.red.sync.aligned.32x32b.x2.min.b32":           {},
		"tcgen05.ld.red.sync.aligned.32x32b.x2.max.NaN.s32":       {},
		"tcgen05.ld.red.sync.aligned.32x32b.x2.max.pack::16b.s32": {},
		"tcgen05.ld.sync.aligned.32x32b.x2.max.b32":               {},
		"tcgen05.ld.sync.aligned.32x32b.x2.u32":                   {},
	} {
		d := decodeText(t, text)
		got, err := d.TensorAccess()
		if want.Registers == 0 {
			if err == nil {
				t.Errorf("%s: %+v, want an error", text, got)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// The cells that the threads of a warp have are all cells of the access, each once.
func TestTensorCells(t *testing.T) {
	for _, text := range []string{"tcgen05.ld.sync.aligned.32x32b.x8.b32",
		"tcgen05.ld.sync.aligned.16x128b.x4.b32", "tcgen05.ld.sync.aligned.16x256b.x4.b32"} {
		d := decodeText(t, text)
		a, err := d.TensorAccess()
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[[2]int]bool)
		for l := range 32 {
			for i := range a.Registers {
				lane, col, ok := a.Cell(l, i)
				if !ok || lane >= a.Lanes || col >= a.Columns || seen[[2]int{lane, col}] {
					t.Errorf("%s: register %d of thread %d is lane %d, column %d", text, i, l, lane, col)
				}
				seen[[2]int{lane, col}] = true
			}
		}
		if len(seen) != a.Lanes*a.Columns {
			t.Errorf("%s: %d cells", text, len(seen))
		}
	}
}

// Shapes of PTX ISA 9.7.16.2.1, table 39, by the instruction descriptor of 9.7.16.4.2.
func TestTensorShape(t *testing.T) {
	word := func(m, n int, d, a, b uint32) uint32 {
		return d<<4 | a<<7 | b<<10 | uint32(n/8)<<17 | uint32(m/16)<<24
	}
	for _, c := range []struct {
		text string
		word uint32
		want string // an error; empty: none
	}{
		{"tcgen05.mma.cta_group::1.kind::f16", word(128, 256, 1, 0, 0), ""},
		{"tcgen05.mma.cta_group::1.kind::f16", word(64, 8, 0, 0, 0), ""},
		{"tcgen05.mma.cta_group::1.kind::f16", word(64, 8, 0, 1, 1), "no type of D"},
		{"tcgen05.mma.cta_group::1.kind::f16", word(128, 264, 1, 0, 0), "N = 264"},
		{"tcgen05.mma.cta_group::1.kind::f16", word(96, 8, 1, 0, 0), "M = 96"},
		{"tcgen05.mma.cta_group::1.kind::f16", word(128, 0, 1, 0, 0), "N = 0"},
		{"tcgen05.mma.cta_group::1.kind::f16", word(128, 8, 1, 2, 0), "no types of A and B"},
		{"tcgen05.mma.cta_group::1.kind::f16", word(128, 8, 2, 0, 0), "no type of D"},
		{"tcgen05.mma.cta_group::1.kind::f16", word(128, 8, 1, 0, 0) | 4, "sparse"},
		{"tcgen05.mma.cta_group::2.kind::f16", word(256, 256, 1, 0, 0), ""},
		{"tcgen05.mma.cta_group::2.kind::f16", word(256, 24, 1, 0, 0), "N = 24"},
		{"tcgen05.mma.cta_group::2.kind::f16", word(64, 32, 1, 0, 0), "M = 64"},
		{"tcgen05.mma.cta_group::1.kind::tf32", word(128, 8, 1, 2, 2), ""},
		{"tcgen05.mma.cta_group::1.kind::tf32", word(128, 8, 0, 2, 2), "no type of D"},
		{"tcgen05.mma.cta_group::1.kind::f8f6f4", word(128, 8, 0, 5, 3), ""},
		{"tcgen05.mma.cta_group::1.kind::i8", word(64, 24, 2, 0, 1), ""},
		{"tcgen05.mma.cta_group::1.kind::i8", word(64, 40, 2, 0, 1), "N = 40"},
		{"tcgen05.mma.ws.cta_group::1.kind::f16", word(32, 64, 1, 0, 0), ""},
		{"tcgen05.mma.ws.cta_group::1.kind::f16", word(32, 32, 1, 0, 0), "N = 32"},
		{"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", 1<<27 | 1<<17 | 1<<23, ""},
		{"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", 2<<27 | 1<<17, "M = 256"},
		{"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X", 1<<27 | 1<<17 | 1<<7 | 1<<10,
			""},
		{"tcgen05.mma.cta_group::1.kind::mxf4.block_scale", 1<<31 | 1<<27 | 1<<17 | 1<<7 | 1<<10,
			"K of 96 is not supported"},
		{"tcgen05.mma.cta_group::1.kind::mxf4.block_scale", 1<<29 | 1<<27 | 1<<17 | 1<<7 | 1<<10,
			"multiple of 2"},
		{"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X",
			2<<4 | 1<<27 | 1<<17 | 1<<7 | 1<<10, "multiple of 4"},
		{"tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.block32",
			2<<27 | 2<<17 | 1<<23 | 3<<29, ""},
		{"tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale", 2<<27 | 1<<17 | 1<<23, "N = 8"},
		{"tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale", 1<<27 | 2<<17 | 1<<23,
			"M = 128 is not supported"},
		{"tcgen05.mma.sp.cta_group::2.kind::mxf8f6f4.block_scale", 1<<27 | 2<<17 | 1<<23 | 4,
			"M = 128 and N = 16"},
		{"tcgen05.mma.sp.cta_group::1.kind::f16", word(128, 256, 1, 0, 0) | 4, ""},
		{"tcgen05.mma.sp.cta_group::1.kind::f16", word(64, 8, 1, 1, 1) | 5, ""},
		{"tcgen05.mma.sp.cta_group::1.kind::f16", word(64, 8, 1, 1, 1) | 6,
			"selector of 2 is not supported"},
		{"tcgen05.mma.sp.cta_group::1.kind::f16", word(64, 8, 1, 1, 1), "dense"},
		{"tcgen05.mma.sp.cta_group::1.kind::f8f6f4", word(64, 8, 1, 1, 1) | 5, "has to be 0"},
		{"tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale", 1<<27 | 1<<17 | 1<<7 | 1<<10 | 7, ""},
		{"tcgen05.mma.ws.sp.cta_group::1.kind::i8", word(128, 128, 2, 1, 1) | 4, ""},
		{"tcgen05.mma.ws.sp.cta_group::1.kind::i8", word(128, 256, 2, 1, 1) | 4, "N = 256"},
		{"tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::lastuse", word(128, 8, 1, 0, 0), ""},
		{"tcgen05.mma.cta_group::2.kind::f16.ashift", word(256, 16, 1, 0, 0), ""},
		{"tcgen05.mma.cta_group::1.kind::f16.ashift", word(64, 8, 1, 0, 0), ".ashift does not exist"},
		{"tcgen05.mma.ws.sp.cta_group::1.kind::i8", word(32, 64, 2, 1, 1) | 4, "M = 32 is not supported"},
	} {
		d := decodeText(t, c.text)
		f, err := d.TensorMultiply()
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		_, err = f.Shape(c.word)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) ||
			errors.Is(err, ErrTensorLayout) != strings.Contains(c.want, "not supported") {
			t.Errorf("%s, %#x: %v, want %q", c.text, c.word, err, c.want)
		}
	}
	for _, text := range []string{"tcgen05.mma.cta_group::1.kind::mxf4", "tcgen05.mma.kind::f16",
		"tcgen05.mma.ws.cta_group::2.kind::f16", "tcgen05.mma.cta_group::1.kind::f16.block_scale",
		"tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::use",
		"tcgen05.mma.ws.cta_group::1.kind::f16.ashift", "tcgen05.mma.cta_group::1.kind::f64",
		"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::2X",
		"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block16",
		"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale"} {
		d := decodeText(t, text)
		if f, err := d.TensorMultiply(); err == nil {
			t.Errorf("%s: %+v, want an error", text, f)
		}
	}
}

// Descriptors of shared memory, PTX ISA 9.7.16.4.1: field by field, and what they do not allow.
func TestTensorOperand(t *testing.T) {
	const one = 1 << 46
	for _, c := range []struct {
		v    uint64
		want string
	}{
		{one, ""}, {one | 1<<61, ""}, {one | 2<<61, ""}, {one | 4<<61, ""}, {one | 6<<61, ""},
		{one | 3<<61, "mode 3"}, {one | 5<<61, "mode 5"}, {one | 7<<61, "mode 7"},
		{0, "bits 46 to 48"}, {one | 1<<47, "bits 46 to 48"}, {one | 1<<52, "absolute address"},
	} {
		_, err := TensorOperandOf(c.v)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%#x: %v, want %q", c.v, err, c.want)
		}
	}
	m, err := TensorOperandOf(0x123 | 0x8<<16 | 0x10<<32 | one | 3<<49 | 4<<61)
	if err != nil || m.Start != 0x1230 || m.Leading != 0x80 || m.Stride != 0x100 || m.Base != 3 ||
		m.Swizzle.Width() != 64 {
		t.Errorf("%+v, %v", m, err)
	}
}

// Elements of transposed matrices are where the canonical layouts of PTX ISA 9.7.16.3.3 have them:
// ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO)), and permuted ((T,w,m),(8,k)):((1,T,LBO),(wT,SBO)), in
// elements of which 16 bytes have T; and Chunks names the bytes of all of them.
func TestTensorLayouts(t *testing.T) {
	for _, size := range []int{1, 2} {
		for mode, w := range map[uint64]int{0: 0, 2: 8, 4: 4, 6: 2} {
			n := 16 / size
			lbo, sbo := 4096/size, 512/size // in elements
			m, err := TensorOperandOf(uint64(lbo*size)>>4<<16 | uint64(sbo*size)>>4<<32 | 1<<46 |
				mode<<61)
			if err != nil {
				t.Fatal(err)
			}
			want := make(map[uint64]bool)
			for row := range 128 {
				for k := range 32 / size {
					at := row%n + row/n*sbo + k%8*n + k/8*lbo
					if w != 0 {
						at = row%n + row/n%w*n + row/n/w*lbo + k%8*w*n + k/8*sbo
					}
					at *= size
					if w != 0 {
						at ^= at >> 7 & (w - 1) << 4 // Swizzle<log2 w, 4, 3>
					}
					if got := m.TransposedOf(uint64(row), uint64(k), uint64(size)); got != uint64(at) {
						t.Fatalf("mode %d, %d bytes, element (%d,%d): %d, want %d", mode, size, row, k, got, at)
					}
					want[uint64(at)&^15] = true
				}
			}
			got := make(map[uint64]bool)
			m.Chunks(0, 128, 32, size, true, func(a uint64) { got[a] = true })
			if len(got) != len(want) {
				t.Errorf("mode %d, %d bytes: %d chunks, want %d", mode, size, len(got), len(want))
			}
			for a := range want {
				if !got[a] {
					t.Errorf("mode %d, %d bytes: no chunk at %d", mode, size, a)
				}
			}
		}
	}
}

// tcgen05.cp: rows and bytes of the shapes, and which warps each needs (PTX ISA 9.7.16.9.2).
func TestTensorCopy(t *testing.T) {
	for text, want := range map[string]TensorCopy{
		"tcgen05.cp.cta_group::1.128x256b": {Rows: 128, Bytes: 32, Columns: 8},
		"tcgen05.cp.cta_group::1.4x256b": {Rows: 4, Bytes: 32, Columns: 8,
			Small: true},
		"tcgen05.cp.cta_group::2.128x128b.b8x16.b6x16_p32": {Rows: 128, Bytes: 16, Columns: 4},
		"tcgen05.cp.cta_group::1.64x128b.warpx2::02_13":    {Rows: 64, Bytes: 16, Columns: 4},
		"tcgen05.cp.cta_group::1.32x128b.warpx4":           {Rows: 32, Bytes: 16, Columns: 4},
		"tcgen05.cp.cta_group::1.64x128b":                  {},
		"tcgen05.cp.cta_group::1.128x256b.warpx4":          {},
		"tcgen05.cp.128x256b":                              {},
	} {
		d := decodeText(t, text)
		got, err := d.TensorCopy()
		if (err == nil) != (want.Rows > 0) || err == nil && got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// Metadata of all chunks has its own four bits, in the columns that it takes (PTX ISA
// 9.7.16.10.8.4).
func TestTensorMetadata(t *testing.T) {
	for kind, k := range map[string]int{"tf32": 16, "f16": 32, "i8": 64, "mxf4": 128} {
		f := TensorMultiply{Kind: kind, Sparse: true}
		s := TensorShape{M: 128, N: 8, K: k, Blocks: 1, Sparse: true}
		count := k / f.Granularity()
		seen := make(map[[2]int]bool)
		for row := range s.M {
			for c := range count {
				lane, bit := s.Metadata(row, c, count)
				at := [2]int{lane, bit}
				if seen[at] || lane >= TensorLanes || bit%4 != 0 ||
					bit >= 32*s.MetadataColumns(f.Granularity()) {
					t.Errorf("%s: chunk %d of row %d is at lane %d, bit %d", kind, c, row, lane, bit)
				}
				seen[at] = true
			}
		}
	}
}

// Fields of zero-column mask descriptors (PTX ISA 9.7.16.4.3, table 45).
func TestZeroMask(t *testing.T) {
	for _, c := range []struct {
		v    uint64
		m    int
		want ZeroMask
		bad  bool
	}{
		{v: 0, m: 128},
		{v: 1 << 39, m: 128, want: ZeroMask{Some: true}},
		{v: 32 << 56, m: 64, want: ZeroMask{Shift: 32}},
		{v: 33 << 56, m: 64, bad: true},
		{v: 16<<56 | 3<<48 | 2<<40, m: 32, want: ZeroMask{Shift: 16}},
		{v: 17 << 56, m: 32, bad: true},
	} {
		z, err := ZeroMaskOf(c.v, c.m)
		if (err != nil) != c.bad || err == nil && z != c.want {
			t.Errorf("%#x, M = %d: %+v, %v", c.v, c.m, z, err)
		}
	}
}

package isa

import (
	"slices"
	"strings"
	"testing"
)

func decodeWarpgroup(t *testing.T, text string, registers bool, imm ...uint64) (WarpgroupForm,
	error) {
	t.Helper()
	words := strings.Split("wgmma.mma_async."+text, ".")
	d, err := Decode(words[0], words[1:])
	if err != nil {
		t.Fatal(err)
	}
	return d.Warpgroup(registers, imm)
}

// TestWarpgroupForms has forms of PTX ISA 9.7.15.5.2, and combinations that are not there.
func TestWarpgroupForms(t *testing.T) {
	const minus1 = 1<<64 - 1
	for _, c := range []struct {
		text      string
		registers bool
		imm       []uint64
	}{
		{"m64n8k16.f32.f16.f16", true, []uint64{minus1, minus1, 1}},
		{"m64n72k16.f16.f16.f16", false, []uint64{minus1, 1, 1, 0}},
		{"m64n120k16.f32.bf16.bf16", true, []uint64{minus1, minus1, 0}},
		{"m64n16k8.f32.tf32.tf32", false, []uint64{minus1, minus1}},
		{"m64n8k32.f16.e4m3.e5m2", false, []uint64{minus1, 1}},
		{"m64n8k32.s32.s8.s8.satfinite", true, nil},
		{"m64n224k32.s32.u8.s8", false, nil},
		{"m64n8k256.s32.b1.b1.and.popc", true, nil},
	} {
		if _, err := decodeWarpgroup(t, "sync.aligned."+c.text, c.registers, c.imm...); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	for text, imm := range map[string]int{
		"m64n40k32.s32.s8.s8":      0, // n above 32 is a multiple of 16 for integers
		"m64n8k8.f32.f16.f16":      4,
		"m64n264k16.f32.f16.f16":   4,
		"m64n12k16.f32.f16.f16":    4,
		"m32n8k16.f32.f16.f16":     4,
		"m64n8k16.f16.bf16.bf16":   4,
		"m64n8k16.f32.f16.bf16":    4,
		"m64n8k32.f32.e4m3.f16":    2,
		"m64n8k256.s32.b1.b1":      0,
		"m64n8k16.f32.f16.f16.row": 4,
		"m64n8k16.f32.f16.f16":     3, // a constant is missing
		"m64n8k32.f32.e4m3.e5m2":   4, // fp8 has no transposition
	} {
		values := []uint64{1, 1, 0, 0}[:imm]
		if _, err := decodeWarpgroup(t, "sync.aligned."+text, false, values...); err == nil {
			t.Errorf("%s with %d constants is accepted", text, imm)
		}
	}
	_, err := decodeWarpgroup(t, "aligned.m64n8k16.f32.f16.f16", false, 1, 1, 0, 0)
	if err == nil {
		t.Error("wgmma without .sync is accepted")
	}
	f, err := decodeWarpgroup(t, "sync.aligned.m64n8k16.f32.f16.f16", false, 1, minus1, 1, 0)
	if err != nil || !f.TransposeA || f.TransposeB || f.NegateA || !f.NegateB {
		t.Errorf("constants are assigned wrongly: %+v, %v", f, err)
	}
}

// TestSparseWarpgroupForms is the same of PTX ISA 9.7.15.6.3: K is twice as long.
func TestSparseWarpgroupForms(t *testing.T) {
	const minus1 = 1<<64 - 1
	for _, c := range []struct {
		text      string
		registers bool
		imm       []uint64
		stored    int
	}{
		{"m64n72k32.f16.f16.f16", false, []uint64{minus1, 1, 1, 0}, 16},
		{"m64n120k32.f32.bf16.bf16", true, []uint64{minus1, minus1, 0}, 16},
		{"m64n16k16.f32.tf32.tf32", false, []uint64{minus1, minus1}, 8},
		{"m64n8k64.f16.e4m3.e5m2", false, []uint64{minus1, 1}, 32},
		{"m64n8k64.s32.s8.u8.satfinite", true, nil, 32},
	} {
		f, err := decodeWarpgroup(t, "sp.sync.aligned."+c.text, c.registers, c.imm...)
		if err != nil || !f.Sparse || f.Stored() != c.stored || f.BytesOfB() != 64 {
			t.Errorf("%s: %+v, %v", c.text, f, err)
		}
	}
	for text, imm := range map[string]int{
		"sp.sync.aligned.m64n8k16.f32.f16.f16":         4, // the K of a dense A
		"sp.sync.aligned.m64n8k512.s32.b1.b1.and.popc": 0,
		"sp.sync.aligned.m64n40k64.s32.s8.s8":          0,
		"sync.aligned.sp.m64n8k32.f32.f16.f16":         4,
		"sp.sync.aligned.m64n8k32.f32.f16.f16":         3,
	} {
		if _, err := decodeWarpgroup(t, text, false, []uint64{1, 1, 0, 0}[:imm]...); err == nil {
			t.Errorf("%s with %d constants is accepted", text, imm)
		}
	}
}

// TestLayouts holds the addresses against the examples of PTX ISA 9.7.15.5.1.2.1.3, whose exact
// layouts are given in elements, and against the swizzles of cute, Swizzle<B, 4, 3>.
func TestLayouts(t *testing.T) {
	encode := func(lbo, sbo, swizzle uint64) MatrixDescriptor {
		return DescriptorOf(1024>>4 | lbo>>4<<16 | sbo>>4<<32 | swizzle<<62)
	}
	swizzled := func(a uint64, bits uint) uint64 { return a ^ a>>7&(1<<bits-1)<<4 }
	// K-major, tf32, no swizzle: ((8,2),(4,4)):((4,32),(1,64))
	d := encode(64*4, 32*4, 0)
	// K-major, tf32, 32 bytes: Swizzle<1,4,3> o ((8,2),(4,4)):((8,64),(1,4))
	e := encode(16, 64*4, 3)
	for mn := range uint64(16) {
		for k := range uint64(8) {
			want := 1024 + 4*(mn%8*4+mn/8*32+k%4+k/4*64)
			if got := d.Address(mn, 4*k); got != want {
				t.Fatalf("K-major without swizzle: (%d,%d) is at %d, want %d", mn, k, got, want)
			}
			want = swizzled(1024+4*(mn%8*8+mn/8*64+k%4+k/4*4), 1)
			if got := e.Address(mn, 4*k); got != want {
				t.Fatalf("K-major, 32 bytes: (%d,%d) is at %d, want %d", mn, k, got, want)
			}
		}
	}
	// MN-major, bf16: ((8,1,2),(8,2)):((1,8,64),(8,128)),
	// ((8,2,2),(8,2)):((1,8,128),(16,256)), ((8,4,2),(8,2)):((1,8,256),(32,512))
	n := encode(128*2, 64*2, 0)
	s32, s64 := encode(128*2, 256*2, 3), encode(256*2, 512*2, 2)
	for mn := range uint64(32) {
		for k := range uint64(16) {
			want := 1024 + 2*(mn%8+mn/8*64+k%8*8+k/8*128)
			if got := n.Transposed(mn, k); got != want {
				t.Fatalf("MN-major without swizzle: (%d,%d) is at %d, want %d", mn, k, got, want)
			}
			want = swizzled(1024+2*(mn%8+mn/8%2*8+mn/16*128+k%8*16+k/8*256), 1)
			if got := s32.Transposed(mn, k); got != want {
				t.Fatalf("MN-major, 32 bytes: (%d,%d) is at %d, want %d", mn, k, got, want)
			}
			want = swizzled(1024+2*(mn%8+mn/8%4*8+mn/32*256+k%8*32+k/8*512), 2)
			if got := s64.Transposed(mn, k); got != want {
				t.Fatalf("MN-major, 64 bytes: (%d,%d) is at %d, want %d", mn, k, got, want)
			}
		}
	}
}

// TestChunks: every byte of every element is in a chunk, whatever the layout is, and rows that are
// not asked for are in none unless they share chunks.
func TestChunks(t *testing.T) {
	for n := range 32 {
		swizzle, transposed, base := uint64(n%4), n>>2&1 != 0, uint64(n>>3&1)*3
		bytes := uint64(WarpgroupBytes) << (n >> 4)
		d := DescriptorOf(2048>>4 | 2048>>4<<16 | 1024>>4<<32 | base<<49 | swizzle<<62)
		if !transposed && !d.Fits(bytes) {
			continue
		}
		var got []uint64
		d.Chunks(16, 32, bytes, transposed, func(a uint64) { got = append(got, a) })
		for mn := uint64(16); mn < 32; mn++ {
			for k := range bytes / 2 {
				a := d.Address(mn, 2*k)
				if transposed {
					a = d.Transposed(mn, k)
				}
				if !slices.Contains(got, a&^15) {
					t.Fatalf("swizzle %d, transposed %v, base %d: (%d,%d) at %d is in no chunk", swizzle,
						transposed, base, mn, k, a)
				}
			}
		}
		slices.Sort(got)
		if n := len(slices.Compact(got)); base == 0 && n != int(bytes) {
			t.Errorf("swizzle %d, transposed %v: 16 rows of %d bytes are %d chunks", swizzle, transposed,
				bytes, n)
		}
	}
}

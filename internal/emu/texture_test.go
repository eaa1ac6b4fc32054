package emu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// textureKernel reads four words of coordinates for each thread, executes a statement on them (%c0
// to %c3 as bits, %f0 to %f3 as floats, %t is the handle) and stores %r0 to %r3.
func textureKernel(statement string) string {
	return `
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 tex) {
.reg .b64 %t, %o, %i, %w; .reg .b32 %r<4>, %c<4>, %n; .reg .f32 %f<4>; .reg .b16 %h;
ld.param.u64 %o, [out];
ld.param.u64 %i, [in];
ld.param.u64 %t, [tex];
mov.u32 %n, %tid.x;
mad.wide.u32 %o, %n, 16, %o;
mad.wide.u32 %i, %n, 16, %i;
ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%i];
mov.b32 %f0, %c0; mov.b32 %f1, %c1; mov.b32 %f2, %c2; mov.b32 %f3, %c3;
mov.b32 %r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0;
` + statement + `
st.global.v4.b32 [%o], {%r0, %r1, %r2, %r3};
ret;
}`
}

// textured is an arena with a texture in which a kernel runs.
type textured struct {
	mem    []byte
	arena  *Arena
	result *Result
}

const (
	texBase   = 1 << 40
	texOut    = texBase + 1<<20
	texIn     = texBase + 2<<20
	texTexels = texBase + 3<<20
	texHandle = 0x100000007
)

// runTextured executes a statement for each of the coordinates, at most 32, and returns the four
// words that each thread stores. fill writes the texels.
func runTextured(t testing.TB, statement string, tex Texture, fill func(texels []byte),
	coords [][4]uint32) ([][4]uint32, *textured) {
	t.Helper()
	mem, release := reserve(t, 4<<20)
	t.Cleanup(release)
	a := NewArena(texBase, mem)
	for name, at := range map[string]uint64{"out": texOut, "in": texIn, "texels": texTexels} {
		if err := a.Alloc(Allocation{name, at, 1 << 20, event.Global, nil}); err != nil {
			t.Fatal(err)
		}
	}
	tex.Addr = texTexels
	if err := a.SetTexture(texHandle, tex); err != nil {
		t.Fatal(err)
	}
	fill(mem[texTexels-texBase:])
	for i, c := range coords {
		for k, v := range c {
			binary.LittleEndian.PutUint32(mem[texIn-texBase+16*i+4*k:], v)
		}
	}
	kernel := module(t, textureKernel(statement))
	prog, err := NewProgram(kernel, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	var params []byte
	for _, v := range []uint64{texOut, texIn, texHandle} {
		params = binary.LittleEndian.AppendUint64(params, v)
	}
	m, err := prog.Machine(&launch.Config{Geometry: event.Geometry{Grid: dim(1),
		Block: dim(uint32(len(coords))), Cluster: dim(1)}}, params)
	if err != nil {
		t.Fatal(err)
	}
	result, err := m.Run(context.Background(), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := &textured{mem: mem, arena: a, result: result}
	words := make([][4]uint32, len(coords))
	for i := range words {
		for k := range words[i] {
			words[i][k] = binary.LittleEndian.Uint32(mem[texOut-texBase+16*i+4*k:])
		}
	}
	return words, out
}

// floats are the bits of up to four floats.
func floats(v ...float32) (out [4]uint32) {
	for i, f := range v {
		out[i] = math.Float32bits(f)
	}
	return out
}

// TestPointFetch reads the nearest texel: CUDA C++ Programming Guide, "Nearest-Point Sampling",
// tex(x) = T[i] with i = floor(x), and "Texture Fetching" for the modes of addressing. A texture
// without normalized coordinates is clamped where it asks for repetition.
func TestPointFetch(t *testing.T) {
	const n = 4 // T[i] = 10+i
	for _, test := range []struct {
		mode Addressing
		unit bool
		x    float32
		want float32
	}{
		{Clamp, false, 0.99, 10}, {Clamp, false, 1, 11}, {Clamp, false, -7, 10}, {Clamp, false, 9, 13},
		{Border, false, 3.5, 13}, {Border, false, 4, 77}, {Border, false, -0.01, 77},
		{Wrap, false, 5, 13}, {Mirror, false, -3, 10},
		{Clamp, true, 0.5, 12}, {Clamp, true, 1, 13}, {Clamp, true, -0.1, 10},
		{Border, true, 1, 77}, {Border, true, 0.999, 13},
		// frac(x)
		{Wrap, true, 1.25, 11}, {Wrap, true, -0.25, 13}, {Wrap, true, 1, 10},
		// frac(x) if floor(x) is even, else 1-frac(x)
		{Mirror, true, 1.125, 13}, {Mirror, true, 2.25, 11}, {Mirror, true, -0.125, 10},
		{Clamp, false, float32(math.Inf(1)), 13}, {Clamp, false, float32(math.NaN()), 10},
	} {
		tex := Texture{Size: [3]uint32{n}, Channels: 1, Bits: 32, Kind: FloatTexel, Unit: test.unit,
			Address: [3]Addressing{test.mode}, Color: [4]float32{77}}
		got, _ := runTextured(t, "tex.1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0}];", tex,
			func(b []byte) {
				for i := range n {
					binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(10+i)))
				}
			}, [][4]uint32{floats(test.x)})
		if v := math.Float32frombits(got[0][0]); v != test.want {
			t.Errorf("mode %d, normalized %t, x = %v: %v, want %v", test.mode, test.unit, test.x, v,
				test.want)
		}
	}
}

// TestLinearFetch compares with the formula of the guide, "Linear Filtering", in two dimensions:
//
//	tex(x,y) = (1-a)(1-b) T[i,j] + a(1-b) T[i+1,j] + (1-a)b T[i,j+1] + ab T[i+1,j+1]
//
// with i = floor(x-0.5), a = frac(x-0.5) and the like for y, where a and b have eight fractional
// bits. Texels are small integers, so that every product is exact.
func TestLinearFetch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(1, 5).Draw(rt, "width"), rapid.IntRange(1, 5).Draw(rt, "height")
		mode := Addressing(rapid.IntRange(0, 3).Draw(rt, "mode"))
		unit := rapid.Bool().Draw(rt, "normalized")
		texels := rapid.SliceOfN(rapid.IntRange(-100, 100), w*h, w*h).Draw(rt, "texels")
		tex := Texture{Size: [3]uint32{uint32(w), uint32(h)}, Pitch: 64, Channels: 1, Bits: 32,
			Kind: FloatTexel, Filter: true, Unit: unit, Address: [3]Addressing{mode, mode}}
		if !unit && (mode == Wrap || mode == Mirror) {
			mode = Clamp
		}
		at := func(i, n int) (int, bool) {
			switch {
			case i >= 0 && i < n:
			case mode == Wrap:
				return (i%n + n) % n, true
			case mode == Border:
				return 0, false
			}
			return min(max(i, 0), n-1), true
		}
		texel := func(i, j int) float64 {
			i, ok := at(i, w)
			j, also := at(j, h)
			if !ok || !also {
				return 0
			}
			return float64(texels[j*w+i])
		}
		split := func(x float32, n int) (int, float64) {
			v := float64(x)
			if unit {
				switch f := math.Floor(v); {
				case mode == Wrap, mode == Mirror && math.Mod(f, 2) == 0:
					v -= f
				case mode == Mirror:
					v = 1 - (v - f)
				}
				v *= float64(n)
			}
			v -= 0.5
			return int(math.Floor(v)), math.Floor((v-math.Floor(v))*256+0.5) / 256
		}
		coord := rapid.Float32Range(-3, 8)
		var coords [][4]uint32
		var want []float32
		for range 8 {
			x, y := coord.Draw(rt, "x"), coord.Draw(rt, "y")
			i, a := split(x, w)
			j, b := split(y, h)
			coords = append(coords, floats(x, y))
			want = append(want, float32((1-a)*(1-b)*texel(i, j)+a*(1-b)*texel(i+1, j)+
				(1-a)*b*texel(i, j+1)+a*b*texel(i+1, j+1)))
		}
		got, _ := runTextured(t, "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0, %f1}];", tex,
			func(mem []byte) {
				for k, v := range texels {
					binary.LittleEndian.PutUint32(mem[64*(k/w)+4*(k%w):], math.Float32bits(float32(v)))
				}
			}, coords)
		for k := range want {
			if v := math.Float32frombits(got[k][0]); v != want[k] {
				rt.Errorf("fetch %d: %v, want %v", k, v, want[k])
			}
		}
	})
}

// TestTexelAlone: in the middle of a texel the others have weight 0, so that the result is the texel,
// even if they are infinite, and they are not read.
func TestTexelAlone(t *testing.T) {
	inf := math.Float32bits(float32(math.Inf(1)))
	tex := Texture{Size: [3]uint32{3, 3}, Pitch: 64, Channels: 1, Bits: 32, Kind: FloatTexel,
		Filter: true, Address: [3]Addressing{Border, Border}, Color: [4]float32{float32(math.NaN())}}
	got, _ := runTextured(t, "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0, %f1}];", tex,
		func(mem []byte) {
			for k := range 9 {
				binary.LittleEndian.PutUint32(mem[64*(k/3)+4*(k%3):], inf)
			}
			binary.LittleEndian.PutUint32(mem[64+4:], math.Float32bits(5))
		}, [][4]uint32{floats(1.5, 1.5), floats(2, 1.5), floats(2.5, 2.5)})
	for k, want := range []uint32{math.Float32bits(5), inf, inf} {
		if got[k][0] != want {
			t.Errorf("fetch %d: %#x, want %#x", k, got[k][0], want)
		}
	}
}

// TestTexelFormats reads texels of each format: CUDA Runtime API, cudaReadModeNormalizedFloat
// (fractions of the largest value), and cudaReadModeElementType (extended to 32 bits).
func TestTexelFormats(t *testing.T) {
	for _, test := range []struct {
		name string
		tex  Texture
		raw  uint64
		want [4]uint32
	}{
		{"uchar4", Texture{Channels: 4, Bits: 8, Kind: UnsignedTexel}, 0xff800100,
			[4]uint32{0, 1, 128, 255}},
		{"char2", Texture{Channels: 2, Bits: 8, Kind: SignedTexel}, 0x80ff,
			[4]uint32{0xffffffff, 0xffffff80}},
		{"ushort", Texture{Channels: 1, Bits: 16, Kind: UnsignedTexel}, 0xfffe, [4]uint32{0xfffe}},
		{"int2", Texture{Channels: 2, Bits: 32, Kind: SignedTexel}, 0xfffffffe00000005,
			[4]uint32{5, 0xfffffffe}},
		{"half2", Texture{Channels: 2, Bits: 16, Kind: FloatTexel}, 0xc0003c00, floats(1, -2)},
		{"subnormal half", Texture{Channels: 1, Bits: 16, Kind: FloatTexel}, 0x0001, floats(0x1p-24)},
		{"uchar4 as fractions", Texture{Channels: 4, Bits: 8, Kind: UnsignedTexel, Fraction: true},
			0xff330000, floats(0, 0, 0.2, 1)},
		{"char2 as fractions", Texture{Channels: 2, Bits: 8, Kind: SignedTexel, Fraction: true}, 0x807f,
			floats(1, -1)},
		// IEC 61966-2-1: c/12.92 up to 0.04045, else ((c+0.055)/1.055)^2.4; alpha is not a color.
		{"uchar4 in sRGB", Texture{Channels: 4, Bits: 8, Kind: UnsignedTexel, Fraction: true, SRGB: true},
			0x33ff800a, floats(0.00303526983548837515, 0.215860500113899, 1, 0.2)},
		{"short as fraction", Texture{Channels: 1, Bits: 16, Kind: SignedTexel, Fraction: true}, 0x8001,
			floats(-1)},
	} {
		test.tex.Size = [3]uint32{1, 1}
		test.tex.Address = [3]Addressing{Clamp, Clamp}
		got, _ := runTextured(t, "tex.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0, %f1}];", test.tex,
			func(b []byte) { binary.LittleEndian.PutUint64(b, test.raw) }, [][4]uint32{floats(0.5, 0.5)})
		if got[0] != test.want {
			t.Errorf("%s: %x, want %x", test.name, got[0], test.want)
		}
	}
}

// TestShapes reads textures of each shape, whose texel i of layer or slice k is 100k+i.
func TestShapes(t *testing.T) {
	fill := func(b []byte) {
		for k := range 12 {
			for i := range 4 {
				binary.LittleEndian.PutUint32(b[64*k+4*i:], uint32(100*k+i))
			}
		}
	}
	base := Texture{Channels: 1, Bits: 32, Kind: SignedTexel, Pitch: 8, Slice: 64,
		Address: [3]Addressing{Clamp, Clamp, Clamp}}
	with := func(change func(*Texture)) Texture {
		out := base
		change(&out)
		return out
	}
	layers := with(func(x *Texture) { x.Size, x.Layers, x.Layered = [3]uint32{2, 2}, 3, true })
	cube := with(func(x *Texture) { x.Size, x.Layers, x.Cube = [3]uint32{2, 2}, 6, true })
	cubes := with(func(x *Texture) {
		x.Size, x.Layers, x.Cube, x.Layered = [3]uint32{2, 2}, 12, true, true
	})
	const r = "{%r0, %r1, %r2, %r3}"
	for _, test := range []struct {
		name, statement string
		tex             Texture
		coords, want    [4]uint32
	}{
		{"memory", "tex.1d.v4.s32.s32 " + r + ", [%t, {%c0}];",
			with(func(x *Texture) { x.Size, x.Linear = [3]uint32{4}, true }), [4]uint32{3}, [4]uint32{3}},
		// "Out-of-range fetches of linear memory return zero": the guide, "Texture Object API".
		{"beyond memory", "tex.1d.v4.s32.s32 " + r + ", [%t, {%c0}];",
			with(func(x *Texture) { x.Size, x.Linear = [3]uint32{3}, true }), [4]uint32{3}, [4]uint32{0}},
		{"3d", "tex.3d.v4.s32.f32 " + r + ", [%t, {%f0, %f1, %f2, %f2}];",
			with(func(x *Texture) { x.Size = [3]uint32{2, 2, 3} }), floats(1.5, 1.5, 2.5), [4]uint32{203}},
		{"layer", "tex.a2d.v4.s32.f32 " + r + ", [%t, {%c2, %f0, %f1, %f1}];", layers,
			[4]uint32{floats(1.5)[0], floats(0.5)[0], 1}, [4]uint32{101}},
		{"layer beyond the last", "tex.a2d.v4.s32.f32 " + r + ", [%t, {%c2, %f0, %f1, %f1}];", layers,
			[4]uint32{0, 0, 9}, [4]uint32{200}},
		// The faces in the order of the guide: +x, -x, +y, -y, +z, -z.
		{"+x", "tex.cube.v4.s32.f32 " + r + ", [%t, {%f0, %f1, %f2, %f2}];", cube, floats(1, 0.5, 0.5),
			[4]uint32{0}},
		{"-x", "tex.cube.v4.s32.f32 " + r + ", [%t, {%f0, %f1, %f2, %f2}];", cube, floats(-1, 0.5, 0.5),
			[4]uint32{101}},
		{"+y", "tex.cube.v4.s32.f32 " + r + ", [%t, {%f0, %f1, %f2, %f2}];", cube, floats(.1, 1, .5),
			[4]uint32{203}},
		{"-y", "tex.cube.v4.s32.f32 " + r + ", [%t, {%f0, %f1, %f2, %f2}];", cube, floats(-.1, -1, .5),
			[4]uint32{300}},
		{"+z", "tex.cube.v4.s32.f32 " + r + ", [%t, {%f0, %f1, %f2, %f2}];", cube, floats(.1, .5, 1),
			[4]uint32{401}},
		{"-z", "tex.cube.v4.s32.f32 " + r + ", [%t, {%f0, %f1, %f2, %f2}];", cube, floats(.1, -.5, -1),
			[4]uint32{502}},
		{"second cube", "tex.acube.v4.s32.f32 " + r + ", [%t, {%c3, %f0, %f1, %f2}];", cubes,
			[4]uint32{floats(.1)[0], floats(-.5)[0], floats(-1)[0], 1}, [4]uint32{1102}},
		{"level", "tex.level.2d.v4.s32.f32 " + r + ", [%t, {%f0, %f1}], %f2;",
			with(func(x *Texture) { x.Size = [3]uint32{2, 2} }), floats(1, 1, 0), [4]uint32{3}},
		// PTX ISA 9.7.10.4: the texels of the footprint, counterclockwise from the lower left one.
		{"gather", "tld4.r.2d.v4.s32.f32 " + r + ", [%t, {%f0, %f1}];",
			with(func(x *Texture) { x.Size = [3]uint32{2, 2} }), floats(1, 1), [4]uint32{2, 3, 1, 0}},
		{"row", "tex.a1d.v4.s32.f32 " + r + ", [%t, {%c1, %f0}];",
			with(func(x *Texture) { x.Size, x.Layers, x.Layered = [3]uint32{4}, 3, true }),
			[4]uint32{floats(3)[0], 2}, [4]uint32{203}},
	} {
		got, run := runTextured(t, test.statement, test.tex, fill, [][4]uint32{test.coords})
		if got[0] != test.want || run.result.Status != Completed {
			t.Errorf("%s: %d (%v), want %d", test.name, got[0], run.result.Stop, test.want)
		}
	}
}

// TestSurfaces reads and writes a surface of 2 rows of 4 numbers: x counts bytes, and .trap, .clamp
// and .zero say what happens beyond it (PTX ISA 9.7.11.1).
func TestSurfaces(t *testing.T) {
	tex := Texture{Surface: true, Size: [3]uint32{4, 2}, Pitch: 32, Channels: 1, Bits: 32,
		Kind: SignedTexel}
	const load, store = "suld.b.2d.b32.%s {%%r0}, [%%t, {%%c0, %%c1}];",
		"sust.b.2d.b32.%s [%%t, {%%c0, %%c1}], {%%c2};"
	for _, test := range []struct {
		statement, mode string
		x, y            int32
		read            uint32         // what %r0 is
		written         map[int]uint32 // by byte: what memory has after 999 was written
		invalid         string
	}{
		{load, "trap", 8, 1, 12, nil, ""},
		{load, "zero", 16, 1, 0, nil, ""},
		{load, "clamp", 100, -1, 3, nil, ""},
		{load, "trap", 16, 1, 0, nil, "read of 4 bytes at (16, 1) of a surface of 2 rows of 16 bytes"},
		{load, "trap", 0, -1, 0, nil, "read of 4 bytes at (0, -1) of a surface of 2 rows of 16 bytes"},
		{store, "trap", 4, 1, 0, map[int]uint32{36: 999}, ""},
		{store, "zero", 4, 2, 0, map[int]uint32{68: 0}, ""},
		{store, "clamp", 4, 2, 0, map[int]uint32{36: 999}, ""},
		{store, "trap", 4, 2, 0, map[int]uint32{68: 0}, "write of 4 bytes at (4, 2) of a surface"},
		{load, "trap", 2, 0, 0, nil, "is not aligned to 4"},
	} {
		statement := fmt.Sprintf(test.statement, test.mode)
		got, run := runTextured(t, statement, tex, func(b []byte) {
			for i := range 8 {
				binary.LittleEndian.PutUint32(b[32*(i/4)+4*(i%4):], uint32(10*(i/4)+i%4))
			}
		}, [][4]uint32{{uint32(test.x), uint32(test.y), 999}})
		name := fmt.Sprintf("%s at (%d, %d)", statement, test.x, test.y)
		if got[0][0] != test.read {
			t.Errorf("%s: %d, want %d", name, got[0][0], test.read)
		}
		for at, want := range test.written {
			if v := binary.LittleEndian.Uint32(run.mem[texTexels-texBase+at:]); v != want {
				t.Errorf("%s: byte %d has %d, want %d", name, at, v, want)
			}
		}
		message := ""
		if len(run.result.Faults) > 0 {
			message = run.result.Faults[0].Message
		}
		if test.invalid == "" && message != "" || !strings.Contains(message, test.invalid) {
			t.Errorf("%s: %q, want %q", name, message, test.invalid)
		}
	}
}

// TestBadHandle: a handle that is not an object, or of the other kind, is an invalid access.
func TestBadHandle(t *testing.T) {
	tex := Texture{Size: [3]uint32{4}, Channels: 1, Bits: 32}
	for _, test := range []struct{ statement, want string }{
		{"add.u64 %t, %t, 1;\ntex.1d.v4.s32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0}];",
			"tex.1d.v4.s32.f32 with the handle 0x100000008, which is not a texture object"},
		{"suld.b.1d.b32.trap {%r0}, [%t, {%c0}];", "which is not a surface object"},
	} {
		_, run := runTextured(t, test.statement, tex, func([]byte) {}, [][4]uint32{{}})
		if len(run.result.Faults) != 1 || !strings.Contains(run.result.Faults[0].Message, test.want) {
			t.Errorf("%s: %v, want %q", test.statement, run.result.Faults, test.want)
		}
	}
}

package emu

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pyramid is a texture of 8 by 4 texels with four levels, the texels of which have the number of
// their level, times 16; fillPyramid writes them.
func pyramid(m Mipmap) Texture {
	t := Texture{Size: [3]uint32{8, 4}, Pitch: 64, Channels: 1, Bits: 32, Kind: FloatTexel, Unit: true,
		Address: [3]Addressing{Clamp, Clamp}, Mipmap: m}
	for i, size := range [][3]uint32{{4, 2}, {2, 1}, {1, 1}} {
		t.Mipmap.Levels = append(t.Mipmap.Levels,
			Level{Addr: texTexels + 4096*uint64(i+1), Pitch: 32, Size: size})
	}
	return t
}

func fillPyramid(b []byte) {
	for level := range 4 {
		for i := range 1024 {
			binary.LittleEndian.PutUint32(b[4096*level+4*i:], math.Float32bits(float32(16*level)))
		}
	}
}

// TestLevels: which levels a fetch reads, by the formulas at the top of texture_level.go. The texel
// of level i is 16i, so that a fetch between levels d and d+1 gives 16d.
func TestLevels(t *testing.T) {
	const level = "tex.level.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0, %f1}], %f2;"
	const grad = "tex.grad.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0, %f0}], " +
		"{%f1, %f2}, {%f3, %f3};"
	const plain = "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0, %f1}];"
	nan := float32(math.NaN())
	for _, test := range []struct {
		name, statement string
		mip             Mipmap
		at              [4]uint32
		want            float32
	}{
		// ceil(d + 1/2) - 1
		{"nearest, 0.5", level, Mipmap{Max: 9}, floats(.5, .5, 0.5), 0},
		{"nearest, 0.51", level, Mipmap{Max: 9}, floats(.5, .5, 0.51), 16},
		{"nearest, 1.5", level, Mipmap{Max: 9}, floats(.5, .5, 1.5), 16},
		{"nearest, below", level, Mipmap{Max: 9}, floats(.5, .5, -3), 0},
		{"nearest, above", level, Mipmap{Max: 9}, floats(.5, .5, 100), 48},
		{"not a number", level, Mipmap{Max: 9}, floats(.5, .5, nan), 0},
		{"linear", level, Mipmap{Max: 9, Blend: true}, floats(.5, .5, 1.25), 20},
		{"linear, above", level, Mipmap{Max: 9, Blend: true}, floats(.5, .5, 3.5), 48},
		// the multiple of 1/256 nearest to 0.001 is 0, that nearest to 0.999 is 1
		{"linear, tiny fraction", level, Mipmap{Max: 9, Blend: true}, floats(.5, .5, 1.001), 16},
		{"linear, large fraction", level, Mipmap{Max: 9, Blend: true}, floats(.5, .5, 1.999), 32},
		// mipmapLevelBias is added, minMipmapLevelClamp and maxMipmapLevelClamp bound the sum
		{"bias", level, Mipmap{Max: 9, Blend: true, Bias: 1.5}, floats(.5, .5, 0.25), 28},
		{"lower bound", level, Mipmap{Max: 9, Blend: true, Min: 0.75}, floats(.5, .5, 0.25), 12},
		{"upper bound", level, Mipmap{Max: 0.5, Blend: true}, floats(.5, .5, 3), 8},
		{"bounds behind the bias", level, Mipmap{Max: 1, Blend: true, Bias: 5}, floats(.5, .5, 0), 16},
		// log2(8/4) = 1, log2(4/2) = 1
		{"gradient in x", grad, Mipmap{Max: 9, Blend: true}, floats(.5, .25, 0, 0), 16},
		{"gradient in y", grad, Mipmap{Max: 9, Blend: true}, floats(.5, 0, .5, 0), 16},
		// |(8*3/8, 4*1)| = |(3, 4)| = 5, nearest to log2(5) = 2.3 is 2
		{"both", grad, Mipmap{Max: 9}, floats(.5, .375, 1, 0), 32},
		// the other gradient is (8, 4), whose length of 8.9 has the logarithm 3.16
		{"the longer one", grad, Mipmap{Max: 9}, floats(.5, .25, 0, 1), 48},
		{"no gradient", grad, Mipmap{Max: 9, Blend: true}, floats(.5, 0, 0, 0), 0},
		{"first level", plain, Mipmap{Max: 9, Blend: true}, floats(.5, .5), 0},
	} {
		got, run := runTextured(t, test.statement, pyramid(test.mip), fillPyramid, [][4]uint32{test.at})
		if v := math.Float32frombits(got[0][0]); v != test.want || run.result.Status != Completed {
			t.Errorf("%s: %v (%v), want %v", test.name, v, run.result.Stop, test.want)
		}
	}
	for _, test := range []struct {
		name, statement string
		mip             Mipmap
		want            string
	}{
		{"bias without a level", plain, Mipmap{Max: 9, Bias: 1}, "that names no level, with a bias"},
		{"lower bound without a level", plain, Mipmap{Max: 9, Min: 1},
			"that names no level, with a bias"},
		{"integer coordinates", "tex.level.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%t, {%c0, %c1}], %c2;",
			Mipmap{Max: 9}, "by integer coordinates"},
	} {
		_, run := runTextured(t, test.statement, pyramid(test.mip), fillPyramid, [][4]uint32{{}})
		if run.result.Status == Completed || run.result.Stop == nil ||
			!strings.Contains(run.result.Stop.Message, test.want) {
			t.Errorf("%s: %v, want %q", test.name, run.result.Stop, test.want)
		}
	}
}

// TestBlendedLevels: a fetch between two levels is the weighted sum of a fetch from each, whose
// texels are filtered by themselves, in the size of their level (OpenGL 4.6, 8.14.3). Two textures
// without levels are those of the two levels.
func TestBlendedLevels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texels := rapid.SliceOfN(rapid.IntRange(-100, 100), 4*1024, 4*1024).Draw(rt, "texels")
		fill := func(b []byte) {
			for i, v := range texels {
				binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(v)))
			}
		}
		tex := pyramid(Mipmap{Max: 9, Blend: true})
		tex.Filter = rapid.Bool().Draw(rt, "filter")
		for i := range 2 {
			tex.Address[i] = Addressing(rapid.IntRange(0, 3).Draw(rt, "mode"))
		}
		level := rapid.IntRange(0, 2).Draw(rt, "level")
		part := rapid.IntRange(0, 256).Draw(rt, "part")
		var coords, plain [][4]uint32
		for range 8 {
			x, y := rapid.Float32Range(-2, 2).Draw(rt, "x"), rapid.Float32Range(-2, 2).Draw(rt, "y")
			coords = append(coords, floats(x, y, float32(level)+float32(part)/256))
			plain = append(plain, floats(x, y))
		}
		got, _ := runTextured(t, "tex.level.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0, %f1}], %f2;",
			tex, fill, coords)
		var single [2][][4]uint32
		for i := range single {
			one := tex
			one.Mipmap = Mipmap{}
			n := min(level+i, 3)
			if n > 0 {
				one.Size, one.Pitch = tex.Mipmap.Levels[n-1].Size, tex.Mipmap.Levels[n-1].Pitch
			}
			single[i], _ = runTextured(t, "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%f0, %f1}];", one,
				func(b []byte) {
					for i, v := range texels[1024*n : 1024*(n+1)] {
						binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(v)))
					}
				}, plain)
		}
		for i := range coords {
			w := float64(part) / 256
			want := (1-w)*float64(math.Float32frombits(single[0][i][0])) +
				w*float64(math.Float32frombits(single[1][i][0]))
			if v := float64(math.Float32frombits(got[i][0])); math.Abs(v-want) > 1e-4 {
				rt.Fatalf("at %v: %v, want %v", coords[i], v, want)
			}
		}
	})
}

// TestBadLevels: a description whose levels make no sense is refused.
func TestBadLevels(t *testing.T) {
	mem, release := reserve(t, 1<<20)
	defer release()
	a := NewArena(texBase, mem)
	for _, test := range []struct {
		name   string
		change func(*Texture)
	}{
		{"size", func(t *Texture) { t.Mipmap.Levels[1].Size[0] = 3 }},
		{"dimension", func(t *Texture) { t.Mipmap.Levels[0].Size[2] = 1 }},
		{"coordinates", func(t *Texture) { t.Unit = false }},
		{"surface", func(t *Texture) { t.Surface = true }},
		{"blended integers", func(t *Texture) { t.Kind, t.Mipmap.Blend = SignedTexel, true }},
	} {
		tex := pyramid(Mipmap{})
		test.change(&tex)
		if a.SetTexture(texHandle, tex) == nil {
			t.Errorf("%s: accepted", test.name)
		}
	}
	if err := a.SetTexture(texHandle, pyramid(Mipmap{Blend: true})); err != nil {
		t.Error(err)
	}
}

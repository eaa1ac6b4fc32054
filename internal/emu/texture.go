package emu

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Texture and surface objects of a program (PTX ISA 9.7.10, 9.7.11). A program describes them to
// the arena; a kernel names one by its handle, a number of 64 bits. Their contents are memory of the
// arena like any other, so that each texel that is read and each element of a surface that is
// read or written is an access that the detector sees. A fetch is one of its own proxy
// (event.FetchProxy). In a run without an arena nothing describes a handle, and what a texture
// holds is unknown (opaque.go).

// Addressing is how a texture treats coordinates outside of it.
type Addressing uint8

// The modes of addressing, in the order of cudaTextureAddressMode.
const (
	Wrap   Addressing = iota // repeats the texture; normalized coordinates only
	Clamp                    // takes the nearest texel
	Mirror                   // repeats it, every second time mirrored; normalized coordinates only
	Border                   // takes the color of the border
)

// TexelKind is what the channels of a texel are.
type TexelKind uint8

// The kinds of channels, in the order of cudaChannelFormatKind.
const (
	SignedTexel TexelKind = iota
	UnsignedTexel
	FloatTexel // of 16 or 32 bits
)

// Texture describes a texture or surface object.
type Texture struct {
	Addr         uint64    // of the first texel
	Pitch, Slice uint64    // bytes from one row to the next, and from one slice or layer to the next
	Size         [3]uint32 // texels in each dimension; 0 for those that it does not have
	Layers       uint32    // of a layered one, and the six faces of each cube; 0: none
	Channels     uint8     // of a texel: 1, 2 or 4
	Bits         uint8     // of a channel: 8, 16 or 32
	Kind         TexelKind
	Surface      bool // for suld and sust; else for tex and tld4
	Cube         bool // its layers are the faces of cubes
	Layered      bool // a coordinate selects the layer, or the cube
	Linear       bool // memory without dimensions, for tex with integer coordinates
	Filter       bool // linear filtering; else the nearest texel
	Unit         bool // coordinates are normalized: 1 is the end of the texture
	Fraction     bool // integers are converted to fractions of 1 (cudaReadModeNormalizedFloat)
	SRGB         bool // of which the first three channels are colors in sRGB, and become linear
	Address      [3]Addressing
	Color        [4]float32 // of the border
	Mipmap       Mipmap

	levels []Texture // of a mipmapped one, with the first; else empty
}

// Mipmap describes the levels of a mipmapped texture behind the first one, and how a fetch selects
// among all of them (texture_level.go).
type Mipmap struct {
	Levels   []Level
	Blend    bool    // linear filtering between levels; else the nearest level
	Bias     float32 // added to each level of detail
	Min, Max float32 // bounds of the sum
}

// Level is a level of a mipmapped texture.
type Level struct {
	Addr, Pitch, Slice uint64
	Size               [3]uint32
}

// real reports whether fetches return floating-point numbers, which can be filtered.
func (t *Texture) real() bool { return t.Kind == FloatTexel || t.Fraction }

// texelBytes returns the size of a texel.
func (t *Texture) texelBytes() uint64 { return uint64(t.Channels) * uint64(t.Bits) / 8 }

// SetTexture makes a texture or surface object known to kernels that start from now on, under a
// handle. It fails if the description makes no sense.
func (a *Arena) SetTexture(handle uint64, t Texture) error {
	channels, bits := []uint8{1, 2, 4}, []uint8{8, 16, 32}
	if !slices.Contains(channels, t.Channels) || !slices.Contains(bits, t.Bits) ||
		t.Kind > FloatTexel || t.Kind == FloatTexel && t.Bits == 8 {
		return fmt.Errorf("texels of %d channels of %d bits", t.Channels, t.Bits)
	}
	if t.Size[0] == 0 || t.Size[2] != 0 && t.Size[1] == 0 || t.Cube && t.Layers%6 != 0 ||
		(t.Cube || t.Layered) && t.Layers == 0 {
		return fmt.Errorf("a texture of %v texels and %d layers", t.Size, t.Layers)
	}
	for _, m := range t.Address {
		if m > Border {
			return fmt.Errorf("addressing mode %d", m)
		}
	}
	if err := t.setLevels(); err != nil {
		return err
	}
	a.setTexture(handle, &t)
	return nil
}

// DropTexture ends an object. Later uses of the handle are errors.
func (a *Arena) DropTexture(handle uint64) { a.setTexture(handle, nil) }

// setTexture replaces the table of objects, which runs read without a lock.
func (a *Arena) setTexture(handle uint64, t *Texture) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make(map[uint64]*Texture)
	if old := a.textures.Load(); old != nil {
		all = maps.Clone(*old)
	}
	if t == nil {
		delete(all, handle)
	} else {
		all[handle] = t
	}
	a.textures.Store(&all)
	a.described++
}

// TextureVersion returns a number that differs if a texture or surface object has been described,
// or has gone, since an earlier call.
func (a *Arena) TextureVersion() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.described
}

// texOp is a decoded tex or tld4.
type texOp struct {
	name   string
	coords []src
	layer  bool // the first coordinate is that of a layer
	cube   bool
	whole  bool // coordinates are integers
	gather int  // tld4: the channel; -1: tex
	detail detail
	dst    [4]int32
	// The access for texels of 1, 2, 4, 8 and 16 bytes. Only mem, ir and index count.
	reads [5]inst
}

// texShape is a shape of textures and surfaces: the number of coordinates after that of the layer.
type texShape struct {
	coords      int
	layer, cube bool
}

// geometries are the shapes by their names in PTX.
var geometries = map[string]texShape{
	"1d": {coords: 1}, "2d": {coords: 2}, "3d": {coords: 3},
	"a1d": {coords: 1, layer: true}, "a2d": {coords: 2, layer: true},
	"cube": {coords: 3, cube: true}, "acube": {coords: 3, layer: true, cube: true},
}

// geometry returns the shape that the modifiers of an instruction name.
func geometry(in *ir.Instr) (name string, ok bool) {
	i := slices.IndexFunc(in.Mods, func(m string) bool { _, ok := geometries[m]; return ok })
	if i < 0 {
		return "", false
	}
	return in.Mods[i], true
}

// textured reports whether the objects that handles name are known.
func (c *compiler) textured() bool { return c.mapped != nil && !c.p.track }

// coordinates decodes the object and the coordinates of a texture or surface instruction, that of the
// layer first. Elements beyond those of the shape fill the vector up and are ignored.
func (c *compiler) coordinates(o ir.Operand, shape texShape) (handle src, list []src, err error) {
	n := shape.coords
	if shape.layer {
		n++
	}
	if o.Kind != ir.Mem || len(o.Elems) != 1 || o.Var != nil || o.Reg == ir.NoReg || o.Val != 0 {
		return src{}, nil, fmt.Errorf("%s: an object in a register and a vector of coordinates expected",
			opcodeText(c.cur))
	}
	if list, err = c.parts(o.Elems[0], isa.B32); err == nil && len(list) < n {
		err = fmt.Errorf("%s: %d coordinates expected", opcodeText(c.cur), n)
	}
	for i := range list {
		if list[i].c == nil && list[i].r < 0 {
			err = fmt.Errorf("%s: a coordinate is missing", opcodeText(c.cur))
		}
	}
	return src{r: c.fc.slots[o.Reg]}, list[:min(n, len(list))], err
}

// texture decodes tex and tld4, PTX ISA 9.7.10.3 and 9.7.10.4.
func (c *compiler) texture(in *ir.Instr) error {
	if !c.textured() {
		return c.opaque(in)
	}
	name, ok := geometry(in)
	shape := geometries[name]
	extra := 0
	switch {
	case slices.Contains(in.Mods, "level"):
		extra = 1
	case slices.Contains(in.Mods, "grad"):
		extra = 2
	}
	if !ok || len(in.Dst) != 1 || len(in.Src) != 1+extra || in.Type.Size() != 4 {
		return fmt.Errorf("%s: this form is not supported", opcodeText(in))
	}
	op := &texOp{name: opcodeText(in), layer: shape.layer, cube: shape.cube, gather: -1}
	op.whole = in.Mods[len(in.Mods)-1] == "s32"
	if in.Row.Opcode == "tld4" {
		op.gather = slices.Index([]string{"r", "g", "b", "a"}, in.Mods[0])
	}
	handle, coords, err := c.coordinates(in.Src[0], shape)
	if err != nil {
		return err
	}
	op.coords = coords
	if op.detail, err = c.detail(in, shape); err != nil {
		return err
	}
	regs, err := c.parts(in.Dst[0], in.Type)
	if err != nil || len(regs) != len(op.dst) {
		return fmt.Errorf("%s: four destination registers expected", opcodeText(in))
	}
	for i, r := range regs {
		op.dst[i] = r.r
	}
	for i := range op.reads {
		size := uint64(1) << i
		op.reads[i] = inst{ir: in, index: int32(in.Index), mem: &memOp{space: event.Global, size: size,
			wide: size, elem: size, kind: event.Read, proxy: event.FetchProxy}}
	}
	d := inst{guard: c.guard(), run: runTexture, s: [4]src{handle}, sources: 1,
		misc: &miscOp{tex: op, vecDst: op.dst[:]}}
	c.control(d)
	return nil
}

// objectOf returns the object that the first lane of m names, and the lanes that name the same one.
// The result is nil if there is none of that kind, which has been recorded for these lanes.
func (x *exec) objectOf(in *inst, m uint32, surface bool) (t *Texture, same uint32) {
	h := x.src(&in.s[0])
	first := bits.TrailingZeros32(m) & 31
	for r := m; r != 0; r &= r - 1 {
		if l := bits.TrailingZeros32(r) & 31; h[l] == h[first] {
			same |= 1 << l
		}
	}
	if all := x.mem.arena.textures.Load(); all != nil {
		t = (*all)[h[first]]
	}
	if t != nil && t.Surface == surface {
		return t, same
	}
	what := "texture"
	if surface {
		what = "surface"
	}
	for r := same; r != 0; r &= r - 1 {
		if l := bits.TrailingZeros32(r) & 31; !x.again(in, OutOfBounds, l) {
			x.fault(in, OutOfBounds, l, "%s with the handle %#x, which is not a %s object",
				opcodeText(in.ir), h[l], what)
		}
	}
	return nil, same
}

// maxTaps is the number of texels of a filtered fetch in three dimensions of two levels.
const maxTaps = 16

// sampler is the state of a fetch by the lanes of a warp.
type sampler struct {
	taps   int // at most, of each lane, those that are not used included
	addr   [maxTaps][event.WarpSize]uint64
	used   [maxTaps]uint32 // lanes whose result depends on the texel: its weight is not 0
	inside [maxTaps]uint32 // of them, those in the texture; the others get the border's color
	weight [maxTaps][event.WarpSize]float64
	raw    [event.WarpSize][16]byte
	sum    [4][event.WarpSize]float64
	out    [4][event.WarpSize]uint64
}

// runTexture executes tex or tld4.
func runTexture(x *exec, in *inst) {
	if x.sampler == nil {
		x.sampler = new(sampler)
	}
	op, s := in.misc.tex, x.sampler
	for m := x.m; m != 0; {
		t, same := x.objectOf(in, m, false)
		m &^= same
		switch {
		case x.stop != nil || x.spec != nil && x.spec.failed:
			return
		case t == nil:
			s.out = [4][event.WarpSize]uint64{}
		case op.whole && !t.Linear && t.Filter || !op.whole && t.Linear || op.cube != t.Cube ||
			op.layer != t.Layered:
			x.fail(in, Unsupported, bits.TrailingZeros32(same)&31,
				"%s of a texture of another shape: the result is undefined", op.name)
			return
		case len(t.levels) > 0 && !x.defined(in, t, same):
			return
		case !x.sample(op, t, same):
			return
		}
		for i, d := range op.dst {
			if d >= 0 {
				copyLanes(&x.regs[d], &s.out[i], same)
			}
		}
	}
}

// sample fetches from one texture. It reports false if the run ends, or the block must run again.
func (x *exec) sample(op *texOp, t *Texture, m uint32) bool {
	s := x.sampler
	s.out = [4][event.WarpSize]uint64{}
	s.sum = [4][event.WarpSize]float64{}
	s.used, s.inside, s.taps = [maxTaps]uint32{}, [maxTaps]uint32{}, 0
	for r := m; r != 0; r &= r - 1 {
		l := bits.TrailingZeros32(r) & 31
		if len(t.levels) > 0 {
			x.placeLevels(op, t, l)
		} else {
			x.place(op, t, l, 0, 1)
		}
	}
	filtered := op.gather < 0 && (t.Filter || t.Mipmap.Blend) && !op.whole
	read := &op.reads[bits.TrailingZeros64(t.texelBytes())]
	for k := range s.taps {
		used, inside := s.used[k], s.inside[k]
		if inside != 0 {
			x.addr = s.addr[k]
			var ok bool
			if inside, ok = x.texels(read, inside); !ok {
				return false
			}
		}
		if filtered {
			t.addWeighted(s, k, used, inside)
			continue
		}
		for r := used; r != 0; r &= r - 1 {
			l := bits.TrailingZeros32(r) & 31
			x.add(op, t, k, l, inside>>l&1 != 0)
		}
	}
	if filtered {
		for i := range int(t.Channels) {
			for l := range s.sum[i] {
				s.out[i][l] = uint64(math.Float32bits(float32(s.sum[i][l])))
			}
		}
	}
	return true
}

// texels reads the texels of the lanes of m at x.addr, reports the access, and returns the lanes
// whose texel exists. ok is false if the run ends, or the block must run again.
func (x *exec) texels(in *inst, m uint32) (read uint32, ok bool) {
	s := x.sampler
	if b, start, o := x.span(in.mem, m, x.survey(m)); b != nil {
		if x.spec != nil && !x.spec.reads(x, o) {
			return 0, false
		}
		for r := m; r != 0; r &= r - 1 {
			l := bits.TrailingZeros32(r) & 31
			if at := x.addr[l] - start; in.mem.wide == 4 {
				*(*[4]byte)(s.raw[l][:]) = [4]byte(b[at:])
			} else {
				copy(s.raw[l][:], b[at:at+in.mem.wide])
			}
		}
		x.access(in, m, event.Global, 0)
		return m, true
	}
	for r := m; r != 0; r &= r - 1 {
		l := bits.TrailingZeros32(r) & 31
		p, o, at, ok := x.lane(in, l)
		if !ok {
			if m &^= 1 << l; x.skip(in, l) {
				continue
			}
			return 0, false
		}
		if x.spec != nil && !x.spec.reads(x, o) {
			return 0, false
		}
		copy(s.raw[l][:in.mem.wide], p[at:])
	}
	if m != 0 {
		x.access(in, m, event.Global, 0)
	}
	return m, true
}

// add takes the texel of tap k of a lane into the result: one of four channels of a gather, or the
// texel itself.
func (x *exec) add(op *texOp, t *Texture, k, l int, inside bool) {
	s := x.sampler
	if op.gather >= 0 {
		s.out[k][l] = t.channel(&s.raw[l], op.gather, inside)
		return
	}
	for i := range int(t.Channels) {
		s.out[i][l] = t.channel(&s.raw[l], i, inside)
	}
}

// addWeighted adds the texels of tap k of the lanes of used to their sums.
func (t *Texture) addWeighted(s *sampler, k int, used, inside uint32) {
	plain := t.Kind == FloatTexel && t.Bits == 32 && used == inside
	for i := range int(t.Channels) {
		sum, weight := &s.sum[i], &s.weight[k]
		for r := used; r != 0; r &= r - 1 {
			l := bits.TrailingZeros32(r) & 31
			var v uint32
			if plain {
				v = binary.LittleEndian.Uint32(s.raw[l][4*i&15:])
			} else {
				v = uint32(t.channel(&s.raw[l], i, inside>>l&1 != 0))
			}
			sum[l] += weight[l] * float64(math.Float32frombits(v))
		}
	}
}

// channel returns channel i of a texel as a register of 32 bits has it; 0 if there is no such
// channel. Outside of the texture it is that of the border.
func (t *Texture) channel(raw *[16]byte, i int, inside bool) uint64 {
	if i >= int(t.Channels) {
		return 0
	}
	if !inside {
		if t.real() {
			return uint64(math.Float32bits(t.Color[i]))
		}
		return uint64(uint32(int64(t.Color[i])))
	}
	n := uint(t.Bits)
	v := loadUint(raw[uint(i)*n/8:], uint64(n/8))
	switch {
	case t.Kind == FloatTexel && n == 16:
		return uint64(math.Float32bits(halfToFloat(uint16(v))))
	case t.Kind == FloatTexel || n == 32:
		return v
	case t.Kind == SignedTexel && t.Fraction:
		// The most negative value is -1 as well, so that 0 is exact.
		f := float64(int64(v<<(64-n))>>(64-n)) / float64(int64(1)<<(n-1)-1)
		return uint64(math.Float32bits(float32(max(f, -1))))
	case t.Fraction && t.SRGB && i < 3:
		return uint64(math.Float32bits(linearOf(v)))
	case t.Fraction:
		return uint64(math.Float32bits(float32(float64(v) / float64(int64(1)<<n-1))))
	case t.Kind == SignedTexel:
		return uint64(uint32(int64(v<<(64-n)) >> (64 - n)))
	}
	return v
}

// linearOf returns the linear value of a color of 8 bits in sRGB (IEC 61966-2-1).
func linearOf(v uint64) float32 {
	c := float64(v) / 255
	if c <= 0.04045 {
		return float32(c / 12.92)
	}
	return float32(math.Pow((c+0.055)/1.055, 2.4))
}

// halfToFloat converts an IEEE 754 number of 16 bits.
func halfToFloat(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, int(h>>10&31), uint32(h&1023)
	switch exp {
	case 0:
		f := float32(frac) / (1 << 24) // subnormal
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | uint32(exp+112)<<23 | frac<<13)
}

package emu

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Which levels of a mipmapped texture a fetch reads. The CUDA Runtime API says of cudaTextureDesc
// what is added to a level of detail and what bounds it, and an instruction names the level or the
// gradients (PTX ISA 9.7.10.3). Neither has a formula for what is between two levels or for
// gradients: here they are those of OpenGL 4.6, section 8.14 ("Texture Minification"), which are
// Vulkan's, too:
//
//   - gradients are scaled by the number of texels of the first level in each dimension; the level
//     of detail is the logarithm to base 2 of the length of the longer one;
//   - the nearest level to d is ceil(d + 1/2) - 1;
//   - linear filtering takes floor(d) and the level behind it, which has the fraction of d as its
//     weight. It is rounded to the nearest multiple of 1/256, as that of coordinates.
//
// A fetch that names no level reads the first one: a kernel has no neighbouring pixels from which a
// level could be computed. GPUs may take shorter ways to a logarithm, so that they differ in the
// last bits. What no source defines is refused.

// detail is what an instruction says about the level of detail.
type detail struct {
	level src      // a number; a float unless whole
	grad  [2][]src // dPdx and dPdy, in each dimension
	how   string   // level, grad; empty: the first level
}

// detail decodes what follows the coordinates.
func (c *compiler) detail(in *ir.Instr, shape texShape) (d detail, err error) {
	switch {
	case slices.Contains(in.Mods, "level"):
		d.how = "level"
		list, err := c.parts(in.Src[1], isa.B32)
		if err == nil && len(list) != 1 {
			err = fmt.Errorf("%s: one level of detail expected", opcodeText(in))
		}
		if err != nil {
			return d, err
		}
		d.level = list[0]
	case slices.Contains(in.Mods, "grad"):
		d.how = "grad"
		for i := range d.grad {
			list, err := c.parts(in.Src[1+i], isa.B32)
			if err == nil && len(list) < shape.coords {
				err = fmt.Errorf("%s: gradients in %d dimensions expected", opcodeText(in), shape.coords)
			}
			if err != nil {
				return d, err
			}
			d.grad[i] = list[:shape.coords]
		}
	}
	return d, nil
}

// setLevels computes the levels of a mipmapped texture. It fails if they make no sense.
func (t *Texture) setLevels() error {
	if len(t.Mipmap.Levels) == 0 {
		return nil
	}
	if t.Surface || t.Linear || !t.Unit || t.Mipmap.Blend && !t.real() {
		return errors.New("levels of a texture without normalized coordinates or filtering")
	}
	t.levels = append(t.levels, *t)
	for i, l := range t.Mipmap.Levels {
		next := t.levels[i]
		for dim, n := range next.Size {
			next.Size[dim] = min(n, max(1, n/2))
		}
		if l.Size != next.Size {
			return fmt.Errorf("level %d of %v texels, want %v", i+1, l.Size, next.Size)
		}
		next.Addr, next.Pitch, next.Slice = l.Addr, l.Pitch, l.Slice
		t.levels = append(t.levels, next)
	}
	return nil
}

// defined reports whether the result of a fetch from a mipmapped texture by the lanes of m is
// defined. If not, the run ends.
func (x *exec) defined(in *inst, t *Texture, m uint32) bool {
	op, why := in.misc.tex, ""
	switch {
	case op.whole:
		why = "by integer coordinates: the result is undefined"
	case op.detail.how == "" && (t.Mipmap.Bias != 0 || t.Mipmap.Min > 0):
		why = "that names no level, with a bias or a lower bound of levels: " +
			"which level is read is not specified"
	case op.detail.how == "grad" && op.cube:
		why = "of cubes by gradients is not supported"
	default:
		return true
	}
	x.fail(in, Unsupported, bits.TrailingZeros32(m)&31, "%s of a mipmapped texture %s", op.name, why)
	return false
}

// placeLevels computes the texels of one lane, of one or two levels, and their weights.
func (x *exec) placeLevels(op *texOp, t *Texture, l int) {
	first, part := t.Mipmap.split(x.levelOfDetail(op, t, l), len(t.levels)-1)
	x.place(op, &t.levels[first], l, 0, 1-part)
	if part > 0 {
		x.place(op, &t.levels[first+1], l, maxTaps/2, part)
	}
}

// levelOfDetail returns the level that one lane selects, between two levels perhaps.
func (x *exec) levelOfDetail(op *texOp, t *Texture, l int) float64 {
	switch d := &op.detail; d.how {
	case "level":
		return float64(math.Float32frombits(uint32(x.src(&d.level)[l])))
	case "grad":
		longest := 0.0
		for _, g := range d.grad {
			sum := 0.0
			for dim := range g {
				v := float64(math.Float32frombits(uint32(x.src(&g[dim])[l]))) * float64(t.Size[dim])
				sum += v * v
			}
			longest = max(longest, math.Sqrt(sum))
		}
		return math.Log2(longest)
	}
	return 0
}

// split returns the level for a level of detail, of which there are last behind the first one, and
// the weight of the level behind it. What is not a number counts as 0.
func (m *Mipmap) split(detail float64, last int) (first int, part float64) {
	detail = min(max(detail+float64(m.Bias), float64(m.Min)), float64(m.Max))
	if detail = min(detail, float64(last)); !(detail > 0) {
		detail = 0
	}
	if !m.Blend {
		return max(int(math.Ceil(detail+0.5))-1, 0), 0
	}
	first = int(detail)
	part = math.Floor((detail-float64(first))*256+0.5) / 256
	if part == 1 {
		return first + 1, 0
	}
	return first, part
}

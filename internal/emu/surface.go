package emu

import (
	"fmt"
	"math/bits"
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Surfaces (PTX ISA 9.7.11). They are memory of the arena that is read and written by coordinates,
// the first of which counts bytes. PTX gives them a proxy of their own; since nothing else than
// textures reaches the memory of an array, their accesses count as generic ones, which are ordered
// as those of one proxy are.

// beyond is what an access outside of a surface does (PTX ISA 9.7.11.1, ".clamp").
type beyond uint8

const (
	trapBeyond  beyond = iota // is an error
	clampBeyond               // takes the nearest element
	zeroBeyond                // reads zero, writes nothing
)

// surfOp is a decoded suld.b or sust.b.
type surfOp struct {
	coords []src
	layer  bool
	beyond beyond
}

// surface decodes suld.b and sust.b. Formatted accesses (.p) and reductions are not supported.
func (c *compiler) surface(in *ir.Instr) error {
	write := in.Action() == isa.ActWriteSurface
	if !c.textured() {
		if write {
			return c.surfaceStore(in)
		}
		return c.opaque(in)
	}
	name, ok := geometry(in)
	shape := geometries[name]
	modes := map[string]beyond{"trap": trapBeyond, "clamp": clampBeyond, "zero": zeroBeyond}
	mode, known := modes[in.Mods[len(in.Mods)-1]]
	if !ok || !known || shape.cube || in.Mods[0] != "b" || in.Row.Opcode == "sured" {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	op := &surfOp{layer: shape.layer, beyond: mode}
	handle, coords, err := c.coordinates(in.Src[0], shape)
	if err != nil {
		return err
	}
	op.coords = coords
	m := &memOp{space: event.Global, kind: event.Read}
	d := inst{guard: c.guard(), run: runSurface, mem: m, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1},
		s: [4]src{handle}, sources: 1, misc: &miscOp{surf: op}}
	count, err := c.element(in, m)
	if err != nil {
		return err
	}
	m.elem = m.size
	if write {
		m.kind = event.Write
		m.src, err = c.elements(in.Src[1], count, in.Type)
	} else {
		var list []src
		list, err = c.elements(in.Dst[0], count, in.Type)
		for _, s := range list {
			m.dst = append(m.dst, s.r)
		}
	}
	if err != nil {
		return err
	}
	c.emit(d)
	return nil
}

// runSurface executes suld.b or sust.b.
func runSurface(x *exec, in *inst) {
	for m := x.m; m != 0; {
		t, same := x.objectOf(in, m, true)
		m &^= same
		if x.stop != nil || x.spec != nil && x.spec.failed {
			return
		}
		if op := in.misc.surf; t != nil && op.layer != (t.Layers > 0) {
			x.fail(in, Unsupported, bits.TrailingZeros32(same)&31,
				"%s of a surface of another shape: the result is undefined", opcodeText(in.ir))
			return
		}
		inside := uint32(0)
		for r := same; r != 0; r &= r - 1 {
			l := bits.TrailingZeros32(r) & 31
			if t != nil && x.element(in, t, l) {
				inside |= 1 << l
				continue
			}
			if !x.skip(in, l) {
				return
			}
		}
		switch {
		case inside == 0:
		case in.mem.kind == event.Write:
			x.gather(in.mem, inside)
			x.storeScattered(in, inside)
		default:
			x.loadScattered(in, inside)
		}
		if x.stop != nil || x.spec != nil && x.spec.failed {
			return
		}
	}
}

// element computes the address of a lane's access into x.addr. It reports false if nothing is
// accessed.
func (x *exec) element(in *inst, t *Texture, l int) bool {
	op, wide := in.misc.surf, int64(in.mem.wide)
	coords, layer := op.coords, uint64(0)
	inside := true
	if op.layer {
		i := uint32(x.src(&coords[0])[l])
		inside = i < t.Layers
		layer = uint64(min(i, t.Layers-1))
		coords = coords[1:]
	}
	var at [3]int64
	for i := range coords {
		last := int64(max(t.Size[i], 1)) - 1
		if i == 0 {
			last = int64(t.Size[0])*int64(t.texelBytes()) - wide
		}
		at[i] = int64(int32(x.src(&coords[i])[l]))
		if at[i] < 0 || at[i] > last {
			inside = false
			at[i] = min(max(at[i], 0), max(last, 0))
		}
	}
	if !inside && op.beyond == trapBeyond && !x.again(in, OutOfBounds, l) {
		x.fault(in, OutOfBounds, l, "%s of %d bytes at (%s) of a surface of %s", in.mem.kind, wide,
			x.coordText(op, l), t.describe())
	}
	if !inside && op.beyond != clampBeyond {
		return false
	}
	x.addr[l] = t.Addr + layer*t.Slice + uint64(at[0]) + uint64(at[1])*t.Pitch +
		uint64(at[2])*t.Slice
	return true
}

// coordText prints the coordinates of a lane: the byte in the row first, the layer last.
func (x *exec) coordText(op *surfOp, l int) string {
	coords := slices.Clone(op.coords)
	if op.layer {
		coords = append(coords[1:], coords[0])
	}
	out := ""
	for i := range coords {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprint(int32(x.src(&coords[i])[l]))
	}
	return out
}

// describe prints the size of a surface: rows of bytes.
func (t *Texture) describe() string {
	out := fmt.Sprintf("rows of %d bytes", uint64(t.Size[0])*t.texelBytes())
	if t.Size[1] > 0 {
		out = fmt.Sprintf("%d %s", t.Size[1], out)
	}
	if n := max(t.Size[2], t.Layers); n > 0 {
		out += fmt.Sprintf(" in %d layers", n)
	}
	return out
}

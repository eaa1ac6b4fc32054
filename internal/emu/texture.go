package emu

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Textures and surfaces, PTX ISA 9.7.10 and 9.7.11. The launch gives no images, so that what is read of one is
// unknown. Nothing in a kernel can change what a texture returns except a store to the memory behind it,
// which the texture proxy does not see in order (ISA 8.6): no order is recorded. Stores to surfaces and
// reductions on them would have to be, and stop the run as unsupported.

// textureReads are the opcodes whose results are unknown: of txq and suq they are the shape of the image.
var textureReads = []string{"tex", "tld4", "txq", "suld", "suq"}

func init() {
	for _, op := range textureReads {
		compilers[op] = (*compiler).texture
	}
}

// readsTextures reports whether some function of the program reads a texture.
func (p *program) readsTextures() bool {
	for _, fc := range p.funcs {
		for _, b := range fc.fn.Blocks {
			for _, in := range b.Instrs {
				if in.Row != nil && in.Row.Category == isa.Texture && compilers[in.Op()] != nil {
					return true
				}
			}
		}
	}
	return false
}

// textureOrigin is the name of what textures return; it is added once.
const textureOrigin = "a texture or surface, whose contents are not given"

func (p *program) textureOrigin() uint32 {
	for i, o := range p.origins {
		if o == textureOrigin {
			return uint32(i)
		}
	}
	p.origins = append(p.origins, textureOrigin)
	return uint32(len(p.origins) - 1)
}

func (c *compiler) texture(in *ir.Instr) error {
	if len(in.Dst) == 0 || !c.p.track {
		return fmt.Errorf("%s: this form is not supported", opcodeText(in))
	}
	var regs, preds []int32
	for _, o := range in.Dst {
		elems := []ir.Operand{o}
		if o.Kind == ir.Vector {
			elems = o.Elems
		}
		for _, e := range elems {
			switch {
			case e.Kind != ir.Register:
			case c.isPred(e):
				preds = append(preds, c.fc.slots[e.Reg])
			default:
				regs = append(regs, c.fc.slots[e.Reg])
			}
		}
	}
	origin := c.p.textureOrigin()
	c.control(inst{guard: c.guard(), run: func(x *exec, _ *inst) {
		for _, r := range regs {
			x.unk.set(r, x.m, origin, x.m)
		}
		for _, p := range preds {
			x.unk.preds[p] |= x.m
			x.unk.origin[x.unk.lanes+p] = origin
		}
	}})
	return nil
}

package emu

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Values that are not modelled: the contents of textures and surfaces, and special registers that
// depend on the machine. They are unknown values, like unspecified inputs: a kernel may compute
// with them and store them, and stops where a branch, an address or a barrier needs one.
//
// Texture and surface reads use a path of their own, which is not coherent with stores of the same
// grid (PTX ISA 9.7.10, 9.7.11). Without a program that describes the objects they produce no
// events, so that a race of a store with such a read is missed, and surface stores are not
// executed. In the memory of a program both are known: see texture.go.

// opaqueOps maps the actions whose results are unknown to the origin of the value: texture and
// surface reads and queries.
var opaqueOps = map[isa.Action]string{
	isa.ActReadTexture: "a texture", isa.ActQueryTexture: "a property of a texture",
	isa.ActReadSurface: "a surface", isa.ActQuerySurface: "a property of a surface",
	isa.ActTestOpaque: "a property of a texture or surface",
}

// describable reports whether the contents of the objects that an action reads are known where a
// program describes them: see texture.go.
func describable(a isa.Action) bool { return a == isa.ActReadTexture || a == isa.ActReadSurface }

// opaqueSreg returns the name of a special register whose value depends on the machine; "" for
// other registers.
func opaqueSreg(o ir.Operand) string {
	if o.Kind != ir.Special {
		return ""
	}
	switch o.Sreg {
	case ir.PM, ir.EnvReg:
		return fmt.Sprintf("%s%d", o.Sreg, o.Val)
	case ir.AggrSmemSize, ir.ReservedSmemBegin, ir.ReservedSmemEnd, ir.ReservedSmemCap,
		ir.ReservedSmemOffset, ir.CurrentGraphExec:
		return o.Sreg.String()
	}
	return ""
}

// trackOpaque enables the tracking of unknown values if some instruction produces one.
func (c *compiler) trackOpaque() {
	for _, fc := range c.p.funcs {
		for _, b := range fc.fn.Blocks {
			for _, in := range b.Instrs {
				_, opaque := opaqueOps[in.Action()]
				opaque = opaque || in.Action() == isa.ActDiscard
				opaque = opaque && !(c.mapped != nil && (describable(in.Action()) ||
					in.Action() == isa.ActDiscard))
				for _, o := range in.Src {
					opaque = opaque || opaqueSreg(o) != ""
					for _, e := range o.Elems {
						opaque = opaque || opaqueSreg(e) != ""
					}
				}
				c.p.track = c.p.track || opaque
			}
		}
	}
}

// origin returns the number of an origin of unknown values.
func (c *compiler) origin(name string) uint32 {
	for i, o := range c.p.origins {
		if o == name {
			return uint32(i)
		}
	}
	c.p.origins = append(c.p.origins, name)
	return uint32(len(c.p.origins) - 1)
}

// unknownInto emits an instruction that writes an unknown value to a register. counts is false for
// one that the kernel does not have.
func (c *compiler) unknownInto(guard psrc, r int32, from uint32, counts bool) {
	c.emitUnknown(inst{guard: guard, d: [2]int32{r, -1}, pd: [2]int32{-1, -1}}, from, counts)
}

// emitUnknown emits d as an instruction with unknown results.
func (c *compiler) emitUnknown(d inst, from uint32, counts bool) {
	d.misc = &miscOp{origin: from}
	d.run = func(x *exec, _ *inst) {
		if !counts {
			x.uncount()
		}
	}
	c.emit(d)
}

// opaque decodes an instruction whose results are unknown.
func (c *compiler) opaque(in *ir.Instr) error {
	from := c.origin(opaqueOps[in.Action()])
	guard := c.guard()
	var regs []ir.Operand
	for _, o := range in.Dst {
		if o.Kind == ir.Vector {
			regs = append(regs, o.Elems...)
			continue
		}
		regs = append(regs, o)
	}
	first := true
	for _, o := range regs {
		switch {
		case o.Kind == ir.None:
			continue
		case o.Kind != ir.Register:
			return fmt.Errorf("%s: destination registers expected", opcodeText(in))
		case c.isPred(o):
			c.emitUnknown(inst{guard: guard, d: [2]int32{-1, -1}, pd: [2]int32{c.fc.slots[o.Reg], -1}}, from,
				first)
		default:
			c.unknownInto(guard, c.fc.slots[o.Reg], from, first)
		}
		first = false
	}
	if first {
		c.control(inst{run: func(*exec, *inst) {}, guard: guard})
	}
	return nil
}

// surfaceStore rejects sust and sured.
func (c *compiler) surfaceStore(in *ir.Instr) error {
	return fmt.Errorf(
		"%s is not supported: heddle does not model surface memory and would miss races on it",
		opcodeText(in))
}

// unknownSource is the rule for instructions whose results are unknown whatever their sources are.
func unknownSource(_ *exec, in *inst) (lanes, origin uint32) { return full, in.misc.origin }

// createpolicy returns a cache policy, which affects caches only (PTX ISA 9.7.9.18): any value will
// do.
func (c *compiler) createpolicy(in *ir.Instr) error {
	d, _ := c.warpInst(in, nil)
	d.warp = nil
	d.run = func(x *exec, in *inst) { x.setLanes(in, x.m, 0) }
	return c.emitPlain(in, d)
}

package emu

import (
	"fmt"

	"heddle/internal/emu/alu"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// video decodes the scalar video instructions, PTX ISA 9.7.18, whose semantics is alu.Video.
// Selectors of bytes and halves (.b0 to .b3, .h0, .h1) and negation are modifiers of operands, so
// they are not part of the decoded row and are passed separately. The third source is an
// accumulator of 32 bits, which takes no selector.
func (c *compiler) video(in *ir.Instr) error {
	if len(in.Dst) != 1 || len(in.Src) < 2 || len(in.Src) > 3 || in.Dst[0].Kind != ir.Register ||
		c.isPred(in.Dst[0]) {
		return fmt.Errorf("%s: a destination register and two or three sources expected", opcodeText(in))
	}
	o := alu.VideoOperands{Third: len(in.Src) == 3}
	o.Sel[0] = in.Dst[0].Selector()
	d := inst{guard: c.guard(), d: [2]int32{c.fc.slots[in.Dst[0].Reg], -1}, pd: [2]int32{-1, -1},
		sources: 3, run: runArith3}
	// A missing third source is zero.
	d.s[2] = src{c: c.constant(0)}
	for i := range in.Src {
		s, err := c.srcOf(in.Src[i], isa.B32)
		if err != nil {
			return err
		}
		d.s[i] = s
		o.Neg[i] = in.Src[i].Neg
		if i < 2 {
			o.Sel[1+i] = in.Src[i].Selector()
		} else if in.Src[i].Selector() != "" {
			return fmt.Errorf("%s: the third source takes no selector", opcodeText(in))
		}
	}
	var err error
	if d.alu, err = alu.Video(&in.Desc, o); err != nil {
		return err
	}
	c.emit(d)
	return nil
}

package emu

import (
	"fmt"

	"heddle/internal/emu/alu"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// video decodes the video instructions, whose meaning is alu.Video.
func (c *compiler) video(in *ir.Instr) error {
	if len(in.Dst) != 1 || len(in.Src) < 2 || len(in.Src) > 3 || in.Dst[0].Kind != ir.Register ||
		c.isPred(in.Dst[0]) {
		return fmt.Errorf("%s: a destination register and two or three sources expected", opcodeText(in))
	}
	o := alu.VideoOperands{Third: len(in.Src) == 3}
	o.Sel[0] = in.Dst[0].Selector()
	d := inst{guard: c.guard(), d: [2]int32{c.fc.slots[in.Dst[0].Reg], -1}, pd: [2]int32{-1, -1},
		sources: 3, run: runArith3}
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

package emu

import (
	"fmt"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// The stack in local memory (PTX ISA 9.7.17). What alloca returns lies behind the variables of the
// function and is free again when the function returns. stacksave and stackrestore have no effect:
// a loop that allocates and restores needs more memory here, up to the limit of a thread.

// stack decodes alloca, stacksave and stackrestore.
func (c *compiler) stack(in *ir.Instr) error {
	switch {
	case in.Row.Opcode == "stackrestore":
		return c.nop(in)
	case len(in.Src) == 0: // stacksave
		d, _ := c.warpInst(in, nil)
		d.warp = nil
		d.run = func(x *exec, in *inst) { x.setLanes(in, x.m, 0) }
		return c.emitPlain(in, d)
	case len(in.Src) > 1 && in.Src[1].Kind == ir.Imm && in.Src[1].Val > 16:
		return fmt.Errorf("%s is not supported with an alignment above 16 bytes", opcodeText(in))
	}
	size, err := c.srcOf(in.Src[0], isa.U64)
	if err != nil {
		return err
	}
	d, _ := c.warpInst(in, nil)
	d.warp = nil
	d.s[0], d.sources, d.run = size, 1, runAlloca
	return c.emitPlain(in, d)
}

// runAlloca gives all lanes the same address, and as many bytes as the lane that asks for most.
func runAlloca(x *exec, in *inst) {
	most := uint64(0)
	for l, n := range x.src(&in.s[0]) {
		if x.m>>l&1 != 0 {
			most = max(most, n)
		}
	}
	f := x.frame
	start := f.local + f.fn.local + f.stack
	if most > maxLocal || start+align(int(most), 16) > maxLocal {
		x.fail(in, StackOverflow, x.first(),
			"alloca of %d bytes: the local memory of a thread would exceed %d bytes", most, maxLocal)
		return
	}
	f.stack += align(int(most), 16)
	x.reserveLocal(start, align(int(most), 16))
	x.setLanes(in, x.m, uint64(start))
}

// localEnd returns the end of the variables of the current function in a lane's local memory.
func (x *exec) localEnd() int {
	if f := x.frame; f.stack > 0 {
		return f.local + f.fn.local + f.stack
	}
	return x.frame.local + x.frame.fn.fn.LocalSize
}

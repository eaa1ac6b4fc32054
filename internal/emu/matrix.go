package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Matrix instructions of a warp, PTX ISA 9.7.14. They are .sync.aligned: a thread waits until all
// threads of the warp execute the same instruction. The exchange of fragments uses registers and
// orders no memory. Accesses to memory are weak operations (9.7.14.4.3, 9.7.14.5.15): ordinary
// loads and stores of single lanes, emitted before or after the exchange.
//
// The ISA does not specify which thread of the warp performs an access ("collectively"). For
// ldmatrix and stmatrix the emulator uses the thread that provides the row's address; for wmma see
// fragmentPlan. A race that exists only under another assignment is missed.

// wholeWarp emits an operation of all 32 lanes. "The behavior is undefined ... if any thread in the
// warp has exited": the operation waits forever for lanes that have exited or execute another
// instruction, which the run reports as a hang. A warp that never had 32 threads is unsupported.
// The values of the registers from are in x.coll.more when finish is called, which writes the
// registers of to for the lanes of m.
func (c *compiler) wholeWarp(in *ir.Instr, from []src, to []int32,
	finish func(x *exec, in *inst, m uint32)) {
	d, op := c.warpInst(in, func(x *exec, in *inst, m uint32) {
		if there := x.coll.lanes; there != full {
			x.fail(in, Unsupported, bits.TrailingZeros32(there),
				"%s is undefined unless all 32 threads of the warp "+
					"execute it; this one has only %d", in.ir.Text(), popcount(there))
			return
		}
		finish(x, in, m)
	})
	op.key.at = in
	op.sync, op.members = true, src{c: c.constant(uint64(full))}
	op.more, op.results = from, to
	d.s[0] = src{c: c.constant(0)}
	c.emit(d)
	if in.Guard != ir.NoReg { // lanes may part here: see isolate
		c.control(inst{run: runJoin})
	}
}

// collectMore adds the registers of a matrix operation to the values collected from the lanes of m.
func (x *exec) collectMore(op *warpOp, m uint32) {
	c := &x.coll
	for len(c.more) < len(op.more) {
		c.more = append(c.more, alu.Lanes{})
	}
	for i := range op.more {
		copyLanes(&c.more[i], x.src(&op.more[i]), m)
		if x.unk == nil {
			continue
		}
		if u, o := x.unk.ofSrc(&op.more[i]); u&m != 0 {
			c.unknown |= u & m
			c.origin = o
		}
	}
}

// hiddenList returns n registers that the kernel does not have.
func (c *compiler) hiddenList(n int) (regs []int32, srcs []src) {
	for range n {
		r := c.hidden()
		regs, srcs = append(regs, r), append(srcs, src{r: r})
	}
	return regs, srcs
}

// destinations returns the n registers of a brace list.
func (c *compiler) destinations(o ir.Operand, n int) ([]int32, error) {
	if o.Kind == ir.None {
		return nil, fmt.Errorf("%s: %d destination registers expected", opcodeText(c.cur), n)
	}
	list, err := c.elements(o, n, isa.NoType)
	if err != nil {
		return nil, err
	}
	var regs []int32
	for _, s := range list {
		if s.c != nil {
			return nil, fmt.Errorf("%s: a register to write to expected", opcodeText(c.cur))
		}
		regs = append(regs, s.r)
	}
	return regs, nil
}

// spaceOf returns the state space of a matrix instruction's address.
func spaceOf(in *ir.Instr) event.Space {
	if in.Space == event.NoSpace {
		return event.Generic
	}
	return in.Space
}

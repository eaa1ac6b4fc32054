package emu

import (
	"context"
	"fmt"
	"math/bits"

	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/slice"
)

// Boxes of tensors. How many bytes a copy of a tensor moves is in its tensor map, which is opaque
// (PTX ISA 5.5). If nothing else says it, it follows from the phases that count the bytes: Boxes
// executes the block once, and a copy of unknown size waits until its phase misses nothing but
// bytes and no thread can go on. These bytes are then those of the copies of the phase, in equal
// parts, if all of them are from one map.
//
// The result is a conclusion from what the phases expect, which may be what is wrong. It misses
// maps whose boxes share their phases with boxes of other maps.

// box is the size of the boxes that an instruction copies; 0 bytes: not known.
type box struct {
	bytes  uint64
	tensor slice.Place // its tensor map; without a variable: not known
	open   bool        // a phase says its size
	bad    bool        // phases give different sizes
}

// Boxes executes a block of a trace to find the sizes of boxes that s does not know, and returns
// them, with those that s knows. The run ends within limit warp instructions.
func Boxes(ctx context.Context, k *ir.Func, cfg *launch.Config, s *slice.Slice,
	opt Options) (map[*ir.Instr]uint64, error) {
	if err := checkLaunch(k, cfg); err != nil {
		return nil, err
	}
	c := &compiler{cfg: cfg, slice: s, boxes: make(map[*ir.Instr]*box)}
	p, err := newProgram(c, k, false)
	if err != nil {
		return nil, err
	}
	if _, err := (&Machine{kernel: k, cfg: cfg, prog: p}).Run(ctx, opt, nil); err != nil {
		return nil, err
	}
	out := make(map[*ir.Instr]uint64)
	of := make(map[slice.Place]uint64)
	for in, b := range c.boxes {
		if b.bytes > 0 && !b.bad {
			out[in] = b.bytes
			if b.tensor.Var != nil {
				of[b.tensor] = b.bytes
			}
		}
	}
	for in, b := range c.boxes { // a store has no phase
		if b.bytes == 0 && b.tensor.Var != nil && of[b.tensor] > 0 {
			out[in] = of[b.tensor]
		}
	}
	return out, nil
}

// tensorBox sets the box of a copy.
func (c *compiler) tensorBox(in *ir.Instr, op *bulkOp) error {
	op.box = &box{bytes: c.slice.Boxes[in], tensor: c.slice.TensorMap(in)}
	switch {
	case c.boxes != nil:
		c.boxes[in], op.box.open = op.box, op.box.bytes == 0
	case op.box.bytes == 0:
		name := "NAME"
		if op.box.tensor.Var != nil {
			name = op.box.tensor.Name()
		}
		return fmt.Errorf("%s: how many bytes its tensor map selects is not known (--tmap %s=BYTES)",
			opcodeText(in), name)
	}
	return nil
}

// issueBox makes the agents of a copy of unknown size, if phases will say it.
func (x *exec) issueBox(in *inst, l int) {
	op := in.misc.bulk
	if op.bar == nil {
		return
	}
	home, addr, ok := x.sharedAddress(in, &in.s[3], op.bar, l)
	if !ok {
		return
	}
	if op.mask == nil {
		x.issueBoxTo(in, l, home, addr)
		return
	}
	for _, b := range x.destinations(in, l) {
		if b = x.signalled(in, l, b, home); b == nil {
			return
		}
		x.issueBoxTo(in, l, b, addr)
	}
}

// issueBoxTo makes the agent for one block.
func (x *exec) issueBoxTo(in *inst, l int, home *block, addr uint64) {
	if home != x.block {
		x.reach(home)
		defer x.comeHome()
	}
	if a := x.agentAt(in, l, addr); a != nil {
		a.op, a.home, a.unsized = in.misc.bulk, home, true
	}
}

// sizeBoxes gives copies of unknown size the bytes that their phases miss, while no thread of the
// blocks can go on. It reports whether there are any.
func (x *exec) sizeBoxes(blocks ...*block) bool {
	byObject := make(map[*mbarrier][]*agent)
	for _, b := range blocks {
		for _, a := range b.agents {
			if a.unsized {
				byObject[a.bar] = append(byObject[a.bar], a)
			}
		}
	}
	sized := false
	for m, list := range byObject {
		n, one := uint64(0), true
		for _, a := range list {
			n += a.op.use.Boxes
			one = one && a.op.box.tensor == list[0].op.box.tensor && a.op.box.tensor.Var != nil ||
				a.op == list[0].op
		}
		if !one || m.pending != 0 || m.tx <= 0 || uint64(m.tx)%(16*n) != 0 {
			continue
		}
		for _, a := range list {
			bytes := uint64(m.tx) / n
			a.size, a.unsized, sized = bytes*a.op.use.Boxes, false, true
			a.step = agentWritten
			if box := a.op.box; box.bytes == 0 {
				box.bytes = bytes
			} else if box.bytes != bytes {
				box.bad = true
			}
		}
	}
	return sized
}

// dropBoxes removes copies of unknown size, at the end of a block.
func (x *exec) dropBoxes(b *block) {
	still := b.agents[:0]
	for _, a := range b.agents {
		if a.unsized {
			a.bar.agents--
			x.freeAgent(a)
			continue
		}
		still = append(still, a)
	}
	b.agents = still
}

var _ = bits.OnesCount32

package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// mov decodes PTX ISA 9.7.9.3 and 9.7.9.4: copy a register, read a special register, take an
// address, pack and unpack vectors. A move into the sink has no effect and emits nothing.
func (c *compiler) mov(in *ir.Instr) error {
	if len(in.Dst) != 1 || len(in.Src) != 1 {
		return fmt.Errorf("%s: one destination and one source expected", opcodeText(in))
	}
	// The kinds of both operands select one of the forms.
	d, s := in.Dst[0], in.Src[0]
	switch {
	case d.Kind == ir.None:
		return nil
	case c.isPred(d):
		ps, err := c.psrcOf(s)
		if err != nil {
			return err
		}
		c.emit(inst{run: runMovPred, guard: c.guard(), d: [2]int32{-1, -1},
			pd: [2]int32{c.fc.slots[d.Reg], -1}, ps: [2]psrc{ps}})
		return nil
	// A 128-bit value is in two registers, which makes it a vector here.
	case d.Kind == ir.Vector || s.Kind == ir.Vector || in.Type == isa.B128:
		return c.movVector(in, d, s)
	case s.Kind == ir.Special:
		if _, constant := c.constSreg(s); !constant {
			return c.movSreg(in, d, s)
		}
	}
	from, err := c.srcOf(s, in.Type)
	if err != nil {
		return err
	}
	c.emit(inst{run: runMov, guard: c.guard(), d: [2]int32{c.fc.slots[d.Reg], -1},
		pd: [2]int32{-1, -1}, s: [4]src{from}, sources: 1})
	return nil
}

// movSreg reads a special register that differs among threads or over time.
func (c *compiler) movSreg(in *ir.Instr, d, s ir.Operand) error {
	if name := opaqueSreg(s); name != "" {
		c.unknownInto(c.guard(), c.fc.slots[d.Reg], c.origin(name), true)
		return nil
	}
	read, err := c.sreg(s)
	if err != nil {
		return err
	}
	c.emit(inst{run: runSreg, guard: c.guard(), d: [2]int32{c.fc.slots[d.Reg], -1},
		pd: [2]int32{-1, -1}, misc: &miscOp{sreg: read}})
	return nil
}

// parts returns the registers or constants of an operand, each of which holds an equal share of the
// bits, low bits first. A sink is -1.
func (c *compiler) parts(o ir.Operand, typ isa.Type) ([]src, error) {
	if o.Kind == ir.Vector {
		var out []src
		for _, e := range o.Elems {
			if e.Kind == ir.None {
				out = append(out, src{r: -1})
				continue
			}
			s, err := c.srcOf(e, typ)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
		return out, nil
	}
	s, err := c.srcOf(o, typ)
	if err != nil {
		return nil, err
	}
	if o.Kind == ir.Register && c.fn.Regs[o.Reg].Type == isa.B128 {
		return []src{s, {r: s.r + 1}}, nil
	}
	return []src{s}, nil
}

// movComponents decodes mov.v2 and mov.v4 of vector registers (PTX ISA 6.4.3): component by
// component, all read before any is written.
func (c *compiler) movComponents(in *ir.Instr) error {
	if len(in.Dst) != 1 || len(in.Src) != 1 {
		return fmt.Errorf("%s: one destination and one source expected", opcodeText(in))
	}
	from, err := c.elements(in.Src[0], int(in.Vec), in.Type)
	if err != nil {
		return err
	}
	to, err := c.destinations(in.Dst[0], int(in.Vec))
	if err != nil {
		return err
	}
	bits := uint(8 * in.Type.Size())
	for _, s := range from {
		if s.c == nil && s.r < 0 || bits*uint(in.Vec) > 128 {
			return fmt.Errorf("%s is not supported", opcodeText(in))
		}
	}
	m := &miscOp{vecSrc: from, width: bits, vecDst: to, to: bits}
	c.emit(inst{run: runMovVector, guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1},
		misc: m})
	return nil
}

// movVector decodes packing and unpacking: the bits of the sources, low first, are distributed over
// the destinations.
func (c *compiler) movVector(in *ir.Instr, d, s ir.Operand) error {
	from, err := c.parts(s, isa.B64)
	if err != nil {
		return err
	}
	to, err := c.parts(d, isa.B64)
	if err != nil {
		return err
	}
	// Both sides divide the same number of bits into equal parts.
	total := uint(8 * in.Type.Size())
	if total == 0 || total%uint(len(from)) != 0 || total%uint(len(to)) != 0 {
		return fmt.Errorf("%s: vectors of %d and %d elements", opcodeText(in), len(to), len(from))
	}
	m := &miscOp{vecSrc: from, width: total / uint(len(from)), to: total / uint(len(to))}
	for _, t := range to {
		m.vecDst = append(m.vecDst, t.r)
	}
	if m.width > 64 || m.to > 64 {
		return fmt.Errorf("%s: 128-bit value in a smaller register", opcodeText(in))
	}
	c.emit(inst{run: runMovVector, guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1},
		misc: m})
	return nil
}

// runMov copies a register or a constant.
func runMov(x *exec, in *inst) { copyLanes(&x.regs[in.d[0]], x.src(&in.s[0]), x.m) }

// copyLanes copies the lanes of m.
func copyLanes(d, s *alu.Lanes, m uint32) {
	if m == full {
		*d = *s
		return
	}
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		d[l] = s[l]
	}
}

// runMovPred copies a predicate.
func runMovPred(x *exec, in *inst) { x.setPred(in.pd[0], x.psrc(in.ps[0]), x.m) }

// runSreg reads a special register.
func runSreg(x *exec, in *inst) { in.misc.sreg(x, &x.regs[in.d[0]], x.m) }

// runPseudoSreg computes an operand into a hidden register.
func runPseudoSreg(x *exec, in *inst) {
	x.uncount()
	in.misc.sreg(x, &x.regs[in.d[0]], x.m)
}

// runMovVector concatenates the bits of the sources and splits them among the destinations.
func runMovVector(x *exec, in *inst) {
	p := in.misc
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		// v holds up to 128 bits. Parts never straddle the two words, since their sizes are powers of
		// two.
		var v [2]uint64
		for i := range p.vecSrc {
			at := uint(i) * p.width
			e := x.src(&p.vecSrc[i])[l]
			if p.width < 64 {
				e &= 1<<p.width - 1
			}
			v[at/64] |= e << (at % 64)
		}
		for i, r := range p.vecDst {
			at := uint(i) * p.to
			e := v[at/64] >> (at % 64)
			if p.to < 64 {
				e &= 1<<p.to - 1
			}
			if r >= 0 {
				x.regs[r][l] = e
			}
		}
	}
}

package emu

import (
	"fmt"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/slice"
)

// Instructions from registers to registers. Package alu computes them for all lanes; this file maps
// the operands of the IR to those of alu. PTX allows registers wider than the type of an
// instruction for a few opcodes (PTX ISA 9.4.1): the functions of alu read the bits of their type
// only, and cvt truncates and extends explicitly.

// popcount returns the number of lanes in a mask.
func popcount(m uint32) int { return bits.OnesCount32(m) }

// arith decodes the instructions whose semantics is package alu: registers and predicates in,
// registers and predicates out, no effect on memory. alu rejects forms that the ISA does not have.
func (c *compiler) arith(in *ir.Instr) error {
	return c.arithTo(in, c.guard())
}

// arithTo is arith with a given guard. It splits the operands into values and predicates, and
// chooses the fastest run function: one for each number of sources if the instruction writes a
// single register and uses neither predicates nor the carry flag.
func (c *compiler) arithTo(in *ir.Instr, guard psrc) error {
	lookup := alu.Lookup
	// Package alu knows the number of sources of each function. An instruction with more of them is
	// another form, which must not be executed as this one.
	want, known := alu.Sources(&in.Desc)
	if len(in.Src) == 3 && in.Operation().Extreme() {
		lookup, want = alu.ThreeInputs, 3
	}
	f, err := lookup(&in.Desc)
	if err != nil {
		return err
	}
	d := inst{guard: guard, alu: f, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	plain := true // one register written, no predicates, no carry
	if plain, err = c.arithDst(in, &d); err != nil {
		return err
	}
	n, np := 0, 0
	for i, o := range in.Src {
		if o.Kind == ir.None {
			continue
		}
		if c.isPred(o) || o.Kind == ir.Imm && c.predOperand(in, i) {
			if np == len(d.ps) {
				return fmt.Errorf("%s: too many predicate operands", opcodeText(in))
			}
			if d.ps[np], err = c.psrcOf(o); err != nil {
				return err
			}
			np++
			continue
		}
		if n == len(d.s) {
			return fmt.Errorf("%s: too many operands", opcodeText(in))
		}
		if d.s[n], err = c.srcOf(o, in.SrcType(i)); err != nil {
			return err
		}
		n++
	}
	if known && n != want {
		return fmt.Errorf("%s with %d operands is not supported", opcodeText(in), n)
	}
	d.run, d.sources = runArith, n
	if d.plain = plain && np == 0 && !in.UsesCarry(); d.plain {
		d.run = [...]func(*exec, *inst){runArith, runArith1, runArith2, runArith3, runArith}[n]
	}
	if c.slice != nil && c.slice.Track && slice.OpenFor(in) {
		what := "the unspecified result of a division by 0, " + opcodeText(in)
		switch in.Operation() {
		case isa.NthSetBit:
			what = "the undefined result of a base above 31, " + opcodeText(in)
		case isa.Negation, isa.Magnitude:
			what = "the unspecified bits of a NaN, " + opcodeText(in)
		}
		if line := c.lineOf(in); line != "" {
			what += " at " + line
		}
		d.misc = &miscOp{open: c.origin(what)}
	}
	c.emit(d)
	return nil
}

// arithDst decodes the destinations. A sink keeps its position, so that the second result of setp
// is not mistaken for the first.
func (c *compiler) arithDst(in *ir.Instr, d *inst) (plain bool, err error) {
	n, np := 0, 0
	setp := in.Operation() == isa.Comparison
	for _, o := range in.Dst {
		switch {
		case n == 2 || np == 2:
			return false, fmt.Errorf("%s: too many destinations", opcodeText(in))
		case o.Kind == ir.None && setp:
			np++
		case o.Kind == ir.None:
			n++
		case o.Kind != ir.Register:
			return false, fmt.Errorf("%s: destination of kind %d is not supported", opcodeText(in), o.Kind)
		case c.isPred(o):
			d.pd[np] = c.fc.slots[o.Reg]
			np++
		default:
			d.d[n] = c.fc.slots[o.Reg]
			n++
		}
	}
	return n == 1 && np == 0 && d.d[0] >= 0, nil
}

// predOperand reports whether source i is a predicate according to the instruction's type.
func (c *compiler) predOperand(in *ir.Instr, i int) bool {
	return in.Type == isa.Pred || in.SrcType(i) == isa.Pred
}

// runArith1 to runArith3 execute instructions with one to three sources and one destination.
func runArith1(x *exec, in *inst) {
	o := &x.ops
	o.D[0] = &x.regs[in.d[0]]
	o.S[0] = x.src(&in.s[0])
	in.alu(o, x.m)
}

// runArith2 executes an instruction with two sources and one destination, without predicates: the
// most frequent shape, spared the loop over sources.
func runArith2(x *exec, in *inst) {
	o := &x.ops
	o.D[0] = &x.regs[in.d[0]]
	o.S[0] = x.src(&in.s[0])
	o.S[1] = x.src(&in.s[1])
	in.alu(o, x.m)
}

// runArith3 does the same for three sources.
func runArith3(x *exec, in *inst) {
	o := &x.ops
	o.D[0] = &x.regs[in.d[0]]
	o.S[0] = x.src(&in.s[0])
	o.S[1] = x.src(&in.s[1])
	o.S[2] = x.src(&in.s[2])
	in.alu(o, x.m)
}

// runArith executes all other forms. Missing destinations are directed to scratch registers.
func runArith(x *exec, in *inst) {
	o := &x.ops
	for i := range o.D {
		o.D[i] = &x.tmp[2+i]
		if in.d[i] >= 0 {
			o.D[i] = &x.regs[in.d[i]]
		}
		o.PD[i] = nil
		if in.pd[i] >= 0 {
			o.PD[i] = &x.preds[in.pd[i]]
		}
		o.PS[i] = x.psrc(in.ps[i])
	}
	for i := range o.S {
		o.S[i] = x.src(&in.s[i])
	}
	o.CC = &x.frame.cc
	in.alu(o, x.m)
}

// cvt decodes a conversion, whose registers may be wider than its types (PTX ISA 9.4.1): the source
// is truncated, the destination extended.
func (c *compiler) cvt(in *ir.Instr) error {
	guard := c.guard()
	if len(in.Src) == 2 && in.Src[0].Kind == ir.Vector {
		return c.cvtFour(in, guard)
	}
	if len(in.Src) >= 1 && in.Src[0].Kind == ir.Register && !c.isPred(in.Src[0]) {
		if have, want := c.fn.Regs[in.Src[0].Reg].Type.Size(), in.SType.Size(); have > want && want > 0 {
			r := c.hidden()
			s := src{r: c.fc.slots[in.Src[0].Reg]}
			c.emit(inst{run: runTruncate, d: [2]int32{r, -1}, pd: [2]int32{-1, -1}, s: [4]src{s}, sources: 1,
				misc: &miscOp{width: uint(8 * want)}})
			if err := c.arithFrom(in, guard, r); err != nil {
				return err
			}
			return c.widen(in, guard)
		}
	}
	if err := c.arithTo(in, guard); err != nil {
		return err
	}
	return c.widen(in, guard)
}

// cvtFour decodes cvt.rs of four values (PTX ISA 9.7.9.21) as two conversions of pairs, whose results
// are joined.
func (c *compiler) cvtFour(in *ir.Instr, guard psrc) error {
	s, err := c.elements(in.Src[0], 4, in.SType)
	if err != nil {
		return err
	}
	random, err := c.srcOf(in.Src[1], isa.B32)
	if err != nil {
		return err
	}
	var halves [2]src
	for i, lower := range []bool{false, true} {
		f, err := alu.StochasticPair(&in.Desc, lower)
		if err != nil {
			return err
		}
		r := c.hidden()
		halves[i] = src{r: r}
		c.emit(inst{guard: guard, alu: f, d: [2]int32{r, -1}, pd: [2]int32{-1, -1}, sources: 3,
			s: [4]src{s[2*i], s[2*i+1], random}, run: func(x *exec, in *inst) {
				x.uncount()
				runArith3(x, in)
			}})
	}
	d := inst{guard: guard, alu: alu.JoinPairs(&in.Desc), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1},
		s: [4]src{halves[0], halves[1]}, sources: 2, run: runArith}
	if _, err := c.arithDst(in, &d); err != nil {
		return err
	}
	c.emit(d)
	return nil
}

// arithFrom is arithTo with the first source replaced by register r.
func (c *compiler) arithFrom(in *ir.Instr, guard psrc, r int32) error {
	if err := c.arithTo(in, guard); err != nil {
		return err
	}
	c.fc.code[len(c.fc.code)-1].s[0] = src{r: r}
	return nil
}

// widen sign-extends the result of a narrow conversion to its register.
func (c *compiler) widen(in *ir.Instr, guard psrc) error {
	if len(in.Dst) == 0 || in.Dst[0].Kind != ir.Register || !in.Type.Signed() {
		return nil
	}
	have, want := in.Type.Size(), c.fn.Regs[in.Dst[0].Reg].Type.Size()
	if want <= have {
		return nil
	}
	r := c.fc.slots[in.Dst[0].Reg]
	c.emit(inst{run: runWiden, guard: guard, d: [2]int32{r, -1}, pd: [2]int32{-1, -1},
		s: [4]src{{r: r}}, sources: 1,
		misc: &miscOp{width: uint(8 * have), to: uint(8 * want)}})
	return nil
}

// runTruncate cuts a source to the width of its type. It is not an instruction of the kernel and
// does not count as a step.
func runTruncate(x *exec, in *inst) {
	x.uncount()
	mask := uint64(1)<<in.misc.width - 1
	d, s := &x.regs[in.d[0]], x.src(&in.s[0])
	for l := range d {
		d[l] = s[l] & mask
	}
}

// runWiden sign-extends the destination in place.
func runWiden(x *exec, in *inst) {
	x.uncount()
	d := &x.regs[in.d[0]]
	for t := x.m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & 31
		d[l] = extend(d[l], in.misc.width, in.misc.to)
	}
}

// extend sign-extends the low from bits of v to to bits.
func extend(v uint64, from, to uint) uint64 {
	v = uint64(int64(v<<(64-from)) >> (64 - from))
	return v << (64 - to) >> (64 - to)
}

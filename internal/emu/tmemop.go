package emu

import (
	"errors"
	"fmt"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Operations of single threads on tensor memory: tcgen05.mma, cp and shift (PTX ISA 9.7.16.9,
// 9.7.16.10).
//
// Products are exact and added in double precision by ascending k, as in mma.go. Values of elements
// of 4 and 6 bits in containers of a byte, of copies and of shifts are not computed, nor those that
// depend on a layout that the ISA does not state: the columns are marked, and a load of them stops
// a run. A trace needs no values.

// tensorAsync decodes an operation.
func (c *compiler) tensorAsync(in *ir.Instr) error {
	op, err := c.newTmemOp(in)
	if err != nil {
		return err
	}
	d := inst{guard: c.guard(), misc: &miscOp{tmem: op}}
	op.at = &memOp{space: event.Tensor}
	if err := c.address(in.Src[0], &d, op.at); err != nil {
		return err
	}
	op.needs = []string{"the address of this operation"}
	switch {
	case in.Row.Effect == isa.Copies:
		err = c.tmemCopy(in, op, &d)
	case len(in.Src) == 1:
		d.run = eachThread((*exec).shiftTensor)
	default:
		err = c.tmemMultiply(in, op, &d)
	}
	if err == nil {
		c.control(d)
	}
	return err
}

// eachThread returns the execution of an operation by each lane.
func eachThread(do func(x *exec, in *inst, l int)) func(*exec, *inst) {
	return func(x *exec, in *inst) {
		for t := x.m; t != 0 && x.stop == nil; t &= t - 1 {
			do(x, in, bits.TrailingZeros32(t)&31)
		}
	}
}

// tensorCopy decodes tcgen05.cp: s[1] is the descriptor of the source.
func (c *compiler) tmemCopy(in *ir.Instr, op *tmemOp, d *inst) (err error) {
	if op.copies, err = in.Desc.TensorCopy(); err != nil {
		return err
	}
	if len(in.Src) != 2 {
		return fmt.Errorf("%s: an address and a matrix descriptor expected", opcodeText(in))
	}
	op.needs = append(op.needs, "the matrix descriptor of this copy")
	d.s[1], err = c.srcOf(in.Src[1], isa.B64)
	d.run = eachThread((*exec).copyTensor)
	return err
}

// tensorMultiply decodes tcgen05.mma: s[1] and s[2] are A and B, s[3] is the instruction
// descriptor, ps[0] says whether D is added.
func (c *compiler) tmemMultiply(in *ir.Instr, op *tmemOp, d *inst) (err error) {
	if op.multiply, err = in.Desc.TensorMultiply(); err != nil {
		return err
	}
	f := &op.multiply
	at := in.TensorDescriptor()
	want := at + 2
	if f.Scaled {
		want += 2
	}
	if len(in.Src) < want {
		return fmt.Errorf("%s: %d operands expected", opcodeText(in), want)
	}
	if op.inTensor = in.Src[isa.TensorA].Kind == ir.Mem; op.inTensor {
		op.a = &memOp{space: event.Tensor}
		var p inst
		if err := c.address(in.Src[isa.TensorA], &p, op.a); err != nil {
			return err
		}
		d.s[1] = p.s[0]
	} else if d.s[1], err = c.srcOf(in.Src[isa.TensorA], isa.B64); err != nil {
		return err
	}
	if d.s[2], err = c.srcOf(in.Src[isa.TensorB], isa.B64); err != nil {
		return err
	}
	if f.Sparse {
		if op.metadata, err = c.tensorOperand(in.Src[isa.TensorMetadata]); err != nil {
			return err
		}
	}
	if d.s[3], err = c.srcOf(in.Src[at], isa.U32); err != nil {
		return err
	}
	op.needs = append(op.needs, "the operand A of this multiplication",
		"the matrix descriptor of this multiplication",
		"the instruction descriptor of this multiplication")
	rest := in.Src[at+1:]
	if f.Scaled {
		for _, o := range rest[:2] {
			s, err := c.tensorOperand(o)
			if err != nil {
				return err
			}
			op.scales = append(op.scales, *s)
		}
		rest = rest[2:]
	}
	if f.Shift && !op.inTensor {
		return fmt.Errorf("%s: .ashift is of an A in tensor memory (PTX ISA 9.7.16.10.9)", opcodeText(in))
	}
	if len(rest) > 1 && rest[0].Kind == ir.Vector && !f.Ws && !f.Scaled {
		if op.disabled, err = c.elements(rest[0], op.group*isa.TensorLanes/32, isa.B32); err != nil {
			return err
		}
		rest = rest[1:]
	}
	if op.computes {
		if d.ps[0], err = c.psrcOf(rest[0]); err != nil {
			return err
		}
	}
	switch {
	case len(rest) == 1:
	case len(rest) == 2 && f.Ws:
		zeros, err := c.srcOf(rest[1], isa.B64)
		if err != nil {
			return err
		}
		op.zeros = &zeros
	case len(rest) == 2 && rest[1].Kind == ir.Imm && !f.Ws && (f.Kind == "f16" || f.Kind == "tf32"):
		if op.scaleD = uint32(rest[1].Val); op.scaleD > 15 {
			return fmt.Errorf("%s: D is scaled by 2^-n with n from 0 to 15, not %d", opcodeText(in),
				op.scaleD)
		}
	default:
		return fmt.Errorf("%s is not supported with %d operands", opcodeText(in), len(in.Src))
	}
	d.run = eachThread((*exec).multiplyTensor)
	return nil
}

// tensorOperand decodes the address of an operand in tensor memory.
func (c *compiler) tensorOperand(o ir.Operand) (*tensorOperand, error) {
	if o.Kind != ir.Mem {
		return nil, fmt.Errorf("%s: an address in tensor memory expected", opcodeText(c.cur))
	}
	s := &tensorOperand{at: memOp{space: event.Tensor}}
	var p inst
	if err := c.address(o, &p, &s.at); err != nil {
		return nil, err
	}
	s.s = p.s[0]
	return s, nil
}

// tensorAddress returns the address of an operand of lane l in tensor memory.
func (x *exec) tensorAddress(s *src, at *memOp, l int) uint32 {
	return uint32((x.src(s)[l] + at.off) & at.amask)
}

// operandIn decodes a descriptor of shared memory. It reports false if the run ends.
func (x *exec) operandIn(in *inst, l int, v uint64) (isa.TensorOperand, bool) {
	m, err := isa.TensorOperandOf(v)
	if err != nil {
		kind := TensorOperand
		if v>>52&1 != 0 {
			kind = Unsupported
		}
		x.fail(in, kind, l, "%s: %v", in.ir.Op(), err)
	}
	return m, err == nil
}

// mark says that the values of columns are not computed.
func (t *tensorMemory) mark(rects []event.TensorRect, by *ir.Instr) {
	for i := range rects {
		if r := &rects[i]; r.Write {
			for c := r.Column; c < r.Column+r.Columns; c++ {
				t.unknown[c] = by
			}
		}
	}
}

// marked returns the instruction that has written a column of rectangles whose value is not
// computed; nil if there is none.
func (t *tensorMemory) marked(rects []event.TensorRect) *ir.Instr {
	for i := range rects {
		for c := rects[i].Column; c < rects[i].Column+rects[i].Columns; c++ {
			if t.unknown[c] != nil {
				return t.unknown[c]
			}
		}
	}
	return nil
}

// shiftTensor is tcgen05.shift by one thread (PTX ISA 9.7.16.9.3): 32 lanes of 32 bytes.
func (x *exec) shiftTensor(in *inst, l int) {
	a := x.tensorAddress(&in.s[0], in.misc.tmem.at, l)
	if a>>16%32 != 0 {
		x.fail(in, TensorOperand, l, "%s at lane %d: the lane is a multiple of 32 (PTX ISA 9.7.16.9.3)",
			in.ir.Op(), a>>16)
		return
	}
	r := event.TensorRect{Lane: uint16(a >> 16), Lanes: 32, Column: uint16(a), Columns: 8,
		Write: true}
	x.evs.rects = append(x.evs.rects[:0], r)
	blocks, ok := x.tensorBlocks(in, l)
	if ok && x.tensorInside(in, l, "the matrix", blocks) {
		x.markEach(blocks, in.ir)
		x.tensorAgent(in, event.TensorAgent{Mask: 1 << l, Op: event.TensorShift, Rects: x.evs.rects})
	}
}

// copyTensor is tcgen05.cp by one thread. What it writes of each lane depends on its shape and on
// which warps it is for: all lanes of its columns are taken. Of a pair, each block has its own
// source, as each has its own operands of tcgen05.mma.
func (x *exec) copyTensor(in *inst, l int) {
	op := in.misc.tmem
	a := x.tensorAddress(&in.s[0], op.at, l)
	from, ok := x.operandIn(in, l, x.src(&in.s[1])[l])
	if !ok {
		return
	}
	c := &op.copies
	r := event.TensorRect{Lane: uint16(a >> 16), Lanes: isa.TensorLanes, Column: uint16(a),
		Columns: uint16(c.Columns), Write: true}
	if c.Rows < isa.TensorLanes {
		r.Lane = 0
	}
	x.evs.rects = append(x.evs.rects[:0], r)
	reads := new(event.Footprint)
	from.Chunks(0, c.Rows, c.Bytes, 1, false, reads.Add)
	blocks, ok := x.tensorBlocks(in, l)
	if !ok || !x.tensorInside(in, l, "the destination", blocks) ||
		!x.eachReads(in, blocks, reads) {
		return
	}
	x.markEach(blocks, in.ir)
	x.tensorAgent(in, event.TensorAgent{Mask: 1 << l, Op: event.TensorCopy, Rects: x.evs.rects,
		Shared: reads, Peer: x.otherOf(blocks), Small: c.Small})
}

// tensorKey identifies what a multiplication reads of shared memory.
type tensorKey struct {
	op    *tmemOp
	a, b  uint64
	shape uint32
	first int // column of B
}

// maxScaleRows are the rows of A, or columns of B, whose scales are in one column of tensor memory
// (PTX ISA 9.7.16.10.7.2).
const maxScaleRows = 32

// multiplyTensor is tcgen05.mma by one thread.
func (x *exec) multiplyTensor(in *inst, l int) {
	op := in.misc.tmem
	f := &op.multiply
	desc := uint32(x.src(&in.s[3])[l])
	s, err := f.Shape(desc)
	switch {
	case errors.Is(err, isa.ErrTensorLayout):
		x.fail(in, Unsupported, l, "%s: %v", in.ir.Op(), err)
		return
	case err != nil:
		x.fail(in, TensorOperand, l, "%s: %v", in.ir.Op(), err)
		return
	case f.Ws && s.M != isa.TensorLanes && op.inTensor:
		x.fail(in, Unsupported, l, "%s with M = %d and A in tensor memory is not supported: where A "+
			"is is stated in figures only (PTX ISA 9.7.16.10.5.5, 9.7.16.10.5.7)", in.ir.Op(), s.M)
		return
	}
	zeros, ok := x.zeroMask(in, l, &s)
	if !ok {
		return
	}
	d := x.tensorAddress(&in.s[0], op.at, l)
	if lane := d >> 16; lane != 0 && (!s.Halved() || lane != 16) {
		x.fail(in, TensorOperand, l, "%s with M = %d and D at lane %d: D begins at lane 0, or, if it "+
			"takes half of the lanes, at lane 0 or 16 (PTX ISA 9.7.16.10.5)", in.ir.Op(), s.M, lane)
		return
	}
	off, ok := x.disabledLanes(in, l)
	if !ok {
		return
	}
	rects := x.evs.rects[:0]
	for _, r := range s.Rects(d, s.TensorColumns(), true) {
		rects = enabled(rects, r, &off)
	}
	reads, ok := x.tensorReads(in, l, &s, desc, zeros.Shift)
	if !ok {
		return
	}
	if op.inTensor {
		a := x.tensorAddress(&in.s[1], op.a, l)
		if !x.sameLane(in, l, "A", a, d) {
			return
		}
		rects = append(rects, s.Rects(a, isa.TensorOperandBytes/4, false)...)
	}
	if f.Sparse {
		m, ok := x.metadataAt(in, l, &s, d)
		if !ok {
			return
		}
		rects = append(rects, s.Rects(m, s.MetadataColumns(f.Granularity()), false)...)
	}
	for i := range op.scales {
		rows := s.Rows() // each block has the factors of its rows, and those of all columns
		if i == 1 {
			rows = s.N
		}
		a := x.tensorAddress(&op.scales[i].s, &op.scales[i].at, l)
		rects = append(rects, event.TensorRect{Lanes: isa.TensorLanes, Column: uint16(a),
			Columns: uint16((rows + maxScaleRows - 1) / maxScaleRows)})
	}
	x.evs.rects = rects
	blocks, ok := x.tensorBlocks(in, l)
	if !ok || !x.tensorInside(in, l, "a matrix", blocks) || !x.eachReads(in, blocks, reads) {
		return
	}
	if op.computes {
		p := tensorProduct{in: in, lane: l, s: &s, at: d, off: &off,
			adds: x.psrc(in.ps[0])>>l&1 != 0, zeros: zeros}
		x.multiplyInTensor(&p, blocks)
		if x.stop != nil {
			return
		}
	}
	x.tensorAgent(in, event.TensorAgent{Mask: 1 << l, Op: event.TensorMultiply, Rects: x.evs.rects,
		Shared: reads, Peer: x.otherOf(blocks),
		Shape: uint64(d) | uint64(s.N)<<32 | uint64(s.M)<<44 | uint64(s.K)<<56})
}

// zeroMask decodes the zero-column mask descriptor, if there is one. It reports false if the run
// ends.
func (x *exec) zeroMask(in *inst, l int, s *isa.TensorShape) (z isa.ZeroMask, ok bool) {
	op := in.misc.tmem
	if op.zeros == nil {
		return z, true
	}
	z, err := isa.ZeroMaskOf(x.src(op.zeros)[l], s.M)
	if err != nil {
		x.fail(in, TensorOperand, l, "%s: %v", in.ir.Op(), err)
	}
	return z, err == nil
}

// sameLane reports whether an operand in tensor memory begins at the lane of D. If not, the run
// ends.
func (x *exec) sameLane(in *inst, l int, what string, a, d uint32) bool {
	if a>>16 != d>>16 {
		x.fail(in, TensorOperand, l, "%s with %s at lane %d and D at lane %d of tensor memory: both "+
			"begin at the same lane (PTX ISA 9.7.16.10.5)", in.ir.Op(), what, a>>16, d>>16)
		return false
	}
	return true
}

// metadataAt returns the address of the columns that have the metadata of a sparse A, of which the
// selector selects one (9.7.16.10.8.4).
func (x *exec) metadataAt(in *inst, l int, s *isa.TensorShape, d uint32) (uint32, bool) {
	op := in.misc.tmem
	a := x.tensorAddress(&op.metadata.s, &op.metadata.at, l)
	if !x.sameLane(in, l, "the metadata", a, d) {
		return 0, false
	}
	if a&1 != 0 {
		x.fail(in, Unsupported, l, "%s with metadata at column %d, which is odd, is not supported: "+
			"which columns have it then is stated in figures only (PTX ISA 9.7.16.10.8.4)", in.ir.Op(), a&0xffff)
		return 0, false
	}
	return a + uint32(s.Selector), true
}

// disabledLanes returns the lanes of tensor memory that an operation does not write. Of a pair of
// blocks, the ISA does not say which half of the vector is for which block: both have to be the
// same, else the run ends.
func (x *exec) disabledLanes(in *inst, l int) (off [isa.TensorLanes]bool, ok bool) {
	list := in.misc.tmem.disabled
	const each = isa.TensorLanes / 32
	for i := range list {
		m := uint32(x.src(&list[i])[l])
		if i >= each && m != uint32(x.src(&list[i-each])[l]) {
			x.fail(in, Unsupported, l, "%s with other disabled lanes in one block of the pair than in "+
				"the other is not supported", in.ir.Op())
			return off, false
		}
		for ; m != 0; m &= m - 1 {
			off[32*(i%each)+bits.TrailingZeros32(m)] = true
		}
	}
	return off, true
}

// enabled adds the parts of a rectangle in which no lane is off.
func enabled(list []event.TensorRect, r event.TensorRect,
	off *[isa.TensorLanes]bool) []event.TensorRect {
	end := min(int(r.Lane)+int(r.Lanes), isa.TensorLanes)
	for lane := int(r.Lane); lane < end; lane++ {
		if off[lane] {
			continue
		}
		part := r
		for part.Lane = uint16(lane); lane < end && !off[lane]; lane++ {
		}
		part.Lanes = uint16(lane) - part.Lane
		list = append(list, part)
	}
	return list
}

// tensorReads returns what a multiplication reads of the shared memory of each block: A, unless it
// is in tensor memory, and B, from a column on. Columns that a mask makes zero are read as well.
func (x *exec) tensorReads(in *inst, l int, s *isa.TensorShape, shape uint32,
	first int) (*event.Footprint, bool) {
	op := in.misc.tmem
	key := tensorKey{op: op, a: x.src(&in.s[1])[l], b: x.src(&in.s[2])[l], shape: shape, first: first}
	if op.inTensor {
		key.a = 0
	}
	if f := x.tensorPrints[key]; f != nil {
		return f, true
	}
	reads := new(event.Footprint)
	if !op.inTensor {
		a, ok := x.operandIn(in, l, key.a)
		if !ok || !x.majorOf(in, l, s, &a, s.TransposeA) {
			return nil, false
		}
		a.Chunks(0, s.Rows(), isa.TensorOperandBytes, op.multiply.Size(), s.TransposeA, reads.Add)
	}
	b, ok := x.operandIn(in, l, key.b)
	if !ok || !x.majorOf(in, l, s, &b, s.TransposeB) {
		return nil, false
	}
	if !s.TransposeB && !b.Wide && !b.Fits(uint64(s.BytesOfB())) {
		x.fail(in, Unsupported, l, "%s with a K-major B permuted by %d bytes is not supported: the "+
			"layout of PTX ISA 9.7.16.3.3 has no place for the %d bytes of a column", in.ir.Op(), b.Swizzle.Width(),
			s.BytesOfB())
		return nil, false
	}
	b.Chunks(first, first+s.Columns(), s.BytesOfB(), op.multiply.Size(), s.TransposeB, reads.Add)
	if x.tensorPrints == nil {
		x.tensorPrints = make(map[tensorKey]*event.Footprint)
	}
	if len(x.tensorPrints) >= maxFootprints {
		clear(x.tensorPrints)
	}
	x.tensorPrints[key] = reads
	return reads, true
}

// majorOf reports whether a matrix may have its layout (PTX ISA 9.7.16.10.1, table 54). If not, the
// run ends.
func (x *exec) majorOf(in *inst, l int, s *isa.TensorShape, m *isa.TensorOperand,
	transposed bool) bool {
	f := &in.misc.tmem.multiply
	switch size := f.Size(); {
	case transposed && size == 4 && !m.Wide:
		x.fail(in, TensorOperand, l, "%s: a transposed matrix of 32-bit elements is permuted by 32 "+
			"bytes in rows of 128 (PTX ISA 9.7.16.10.3)", in.ir.Op())
		return false
	case transposed && size < 4 && m.Wide, transposed && f.Packed():
		x.fail(in, TensorOperand, l, "%s: this layout of a transposed matrix does not exist (PTX ISA "+
			"9.7.16.10.3)", in.ir.Op())
		return false
	}
	return true
}

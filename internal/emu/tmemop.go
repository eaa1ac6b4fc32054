package emu

import (
	"fmt"
	"math"
	"math/bits"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Operations of single threads on tensor memory: tcgen05.mma, cp and shift (PTX ISA 9.7.16.9,
// 9.7.16.10).
//
// Products are exact and added in double precision by ascending k, as in mma.go. Values of scaled
// matrices, of elements of 4 and 6 bits, and of copies and shifts are not computed: the columns are
// marked, and a load of them stops a run. A trace needs no values.

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
	want := 5
	if f.Scaled {
		want = 7
	}
	if len(in.Src) < want {
		return fmt.Errorf("%s: %d operands expected", opcodeText(in), want)
	}
	if op.inTensor = in.Src[1].Kind == ir.Mem; op.inTensor {
		op.a = &memOp{space: event.Tensor}
		var p inst
		if err := c.address(in.Src[1], &p, op.a); err != nil {
			return err
		}
		d.s[1] = p.s[0]
	} else if d.s[1], err = c.srcOf(in.Src[1], isa.B64); err != nil {
		return err
	}
	if d.s[2], err = c.srcOf(in.Src[2], isa.B64); err != nil {
		return err
	}
	if d.s[3], err = c.srcOf(in.Src[3], isa.U32); err != nil {
		return err
	}
	op.needs = append(op.needs, "the operand A of this multiplication",
		"the matrix descriptor of this multiplication",
		"the instruction descriptor of this multiplication")
	rest := in.Src[4:]
	if f.Scaled {
		for _, o := range rest[:2] {
			s := tensorOperand{at: memOp{space: event.Tensor}}
			var p inst
			if err := c.address(o, &p, &s.at); err != nil {
				return err
			}
			s.s = p.s[0]
			op.scales = append(op.scales, s)
		}
		rest = rest[2:]
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
	from.Chunks(c.Rows, c.Bytes, 1, false, reads.Add)
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
	case err != nil:
		x.fail(in, TensorOperand, l, "%s: %v", in.ir.Op(), err)
		return
	case f.Ws && s.M != isa.TensorLanes:
		x.fail(in, Unsupported, l, "%s with M = %d is not supported", in.ir.Text(), s.M)
		return
	}
	d := x.tensorAddress(&in.s[0], op.at, l)
	if lane := d >> 16; lane != 0 && (s.M != 64 || lane != 16) {
		x.fail(in, TensorOperand, l, "%s with M = %d and D at lane %d: D begins at lane 0, or, if M "+
			"is 64, at lane 0 or 16 (PTX ISA 9.7.16.10.5)", in.ir.Op(), s.M, lane)
		return
	}
	off, ok := x.disabledLanes(in, l)
	if !ok {
		return
	}
	rects := x.evs.rects[:0]
	for _, r := range f.Rects(&s, d, s.TensorColumns(), true) {
		rects = enabled(rects, r, &off)
	}
	reads, ok := x.tensorReads(in, l, &s, desc)
	if !ok {
		return
	}
	if op.inTensor {
		a := x.tensorAddress(&in.s[1], op.a, l)
		if a>>16 != d>>16 {
			x.fail(in, TensorOperand, l, "%s with A at lane %d and D at lane %d of tensor memory: both "+
				"begin at the same lane (PTX ISA 9.7.16.10.5)", in.ir.Op(), a>>16, d>>16)
			return
		}
		rects = append(rects, f.Rects(&s, a, isa.TensorOperandBytes/4, false)...)
	}
	for i := range op.scales {
		rows := s.M
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
			adds: x.psrc(in.ps[0])>>l&1 != 0}
		x.multiplyInTensor(&p, blocks)
	}
	x.tensorAgent(in, event.TensorAgent{Mask: 1 << l, Op: event.TensorMultiply, Rects: x.evs.rects,
		Shared: reads, Peer: x.otherOf(blocks),
		Shape: uint64(d) | uint64(s.N)<<32 | uint64(s.M)<<44 | uint64(s.K)<<56})
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
// is in tensor memory, and B.
func (x *exec) tensorReads(in *inst, l int, s *isa.TensorShape, shape uint32) (*event.Footprint,
	bool) {
	op := in.misc.tmem
	key := tensorKey{op: op, a: x.src(&in.s[1])[l], b: x.src(&in.s[2])[l], shape: shape}
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
		a.Chunks(s.Rows(), isa.TensorOperandBytes, op.multiply.Size(), s.TransposeA, reads.Add)
	}
	b, ok := x.operandIn(in, l, key.b)
	if !ok || !x.majorOf(in, l, s, &b, s.TransposeB) {
		return nil, false
	}
	b.Chunks(s.Columns(), isa.TensorOperandBytes, op.multiply.Size(), s.TransposeB, reads.Add)
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
	case transposed && size < 4 && m.Wide, transposed && s.K == 64:
		x.fail(in, TensorOperand, l, "%s: this layout of a transposed matrix does not exist (PTX ISA "+
			"9.7.16.10.3)", in.ir.Op())
		return false
	}
	return true
}

// tensorProduct is a multiplication whose operands are known.
type tensorProduct struct {
	in   *inst
	lane int
	s    *isa.TensorShape
	at   uint32 // of D
	adds bool
	off  *[isa.TensorLanes]bool // lanes that are not written
	a, b isa.TensorOperand
}

// multiplyInTensor computes D, or marks it if it cannot. Each block has its rows of A and D, and
// its columns of B.
func (x *exec) multiplyInTensor(p *tensorProduct, blocks []*block) {
	op := p.in.misc.tmem
	_, known := elementOf(p.s.A)
	_, known2 := elementOf(p.s.B)
	if !op.inTensor {
		p.a, _ = isa.TensorOperandOf(x.src(&p.in.s[1])[p.lane])
	}
	p.b, _ = isa.TensorOperandOf(x.src(&p.in.s[2])[p.lane])
	known = known && known2 && !op.multiply.Scaled && !p.a.Wide && !p.b.Wide && p.a.Base == 0 &&
		p.b.Base == 0
	for _, b := range blocks {
		t := b.tensor
		var read []event.TensorRect
		for i := range x.evs.rects {
			if r := &x.evs.rects[i]; x.blockAt(r, blocks) == b && (p.adds || !r.Write) {
				read = append(read, *r)
			}
		}
		if !known || t.marked(read) != nil {
			t.mark(x.evs.rects, p.in.ir)
			continue
		}
		t.mark(x.evs.rects, nil)
		for i, from := range blocks {
			x.multiplyPart(p, b, from, i*p.s.Columns())
		}
	}
}

// multiplyPart computes the columns of D, from one on, that are of the part of B that a block has,
// in the rows of another block, or the same.
func (x *exec) multiplyPart(p *tensorProduct, home, of *block, first int) {
	op, s := p.in.misc.tmem, p.s
	a, _ := elementOf(s.A)
	b, _ := elementOf(s.B)
	to, _ := elementOf(s.D)
	d := tensorRows{t: home.tensor, s: s, at: p.at, off: p.off, first: first}
	left := tensorMatrix{e: &a, d: &p.a, shared: home.shared, transposed: s.TransposeA}
	if op.inTensor {
		left.rows = &tensorRows{t: home.tensor, s: s, first: first,
			at: x.tensorAddress(&p.in.s[1], op.a, p.lane)}
	}
	right := tensorMatrix{e: &b, d: &p.b, shared: of.shared, transposed: s.TransposeB}
	q := &product{m: s.Rows(), n: s.Columns(), k: s.K, count: 1}
	if x.matrix == nil {
		x.matrix = new(matrixScratch)
	}
	m := x.matrix
	if a.float == nil {
		sum := tensorSum(&m.k, &d, q, p.adds, to.integer())
		multiply(q, sum, operandMatrix(&m.i, &left, q.m, q.k, a.integer()),
			operandMatrix(&m.j, &right, q.n, q.k, b.integer()))
		for i, v := range sum {
			if s.Saturate {
				v = min(max(v, math.MinInt32), math.MaxInt32)
			}
			d.set(i/q.n, i%q.n, uint32(v))
		}
		return
	}
	sum := tensorSum(&m.c, &d, q, p.adds, to.float)
	if op.scaleD != 0 {
		for i := range sum {
			sum[i] = math.Ldexp(sum[i], -int(op.scaleD))
		}
	}
	values := operandMatrix(&m.a, &left, q.m, q.k, a.float)
	if s.NegateA != s.NegateB {
		for i := range values {
			values[i] = -values[i]
		}
	}
	multiply(q, sum, values, operandMatrix(&m.b, &right, q.n, q.k, b.float))
	for i, v := range sum {
		d.set(i/q.n, i%q.n, uint32(to.round(v)))
	}
}

// tensorRows are the rows of D, or of A, in the tensor memory of a block.
type tensorRows struct {
	t     *tensorMemory
	s     *isa.TensorShape
	at    uint32
	first int                    // the column of D that column 0 is
	off   *[isa.TensorLanes]bool // lanes that are not written
}

// word returns the number of a word of D.
func (r *tensorRows) word(row, column int) int {
	lane, c := r.s.Cell(row, r.first+column, int(r.at>>16))
	return lane*isa.TensorColumns + int(r.at&0xffff) + c
}

func (r *tensorRows) set(row, column int, v uint32) {
	if at := r.word(row, column); !r.off[at/isa.TensorColumns] {
		r.t.words[at] = v
	}
}

func (r *tensorRows) get(row, column int) uint32 { return r.t.words[r.word(row, column)] }

// ofA returns word number i of a row of A, which is in the lane of that row of D.
func (r *tensorRows) ofA(row, i int) uint32 {
	lane, _ := r.s.Cell(row, r.first, int(r.at>>16))
	return r.t.words[lane*isa.TensorColumns+int(r.at&0xffff)+i]
}

// tensorSum returns D by rows, or zeros.
func tensorSum[T any](to *matrixOf[T], d *tensorRows, p *product, adds bool,
	read func(v uint64) T) []T {
	m := to.sized(p.m * p.n)
	for i := range m {
		v := uint32(0)
		if adds {
			v = d.get(i/p.n, i%p.n)
		}
		m[i] = read(uint64(v))
	}
	return m
}

// tensorMatrix is A or B of a multiplication: in the shared memory of a block, or in rows of tensor
// memory.
type tensorMatrix struct {
	e          *element
	d          *isa.TensorOperand
	shared     []byte
	transposed bool
	rows       *tensorRows
}

// operandMatrix returns a matrix by rows of k elements.
func operandMatrix[T any](to *matrixOf[T], a *tensorMatrix, rows, k int, read func(v uint64) T) []T {
	m, size := to.sized(rows*k), uint64(a.e.bits/8)
	for r := range rows {
		for i := range k {
			at := uint64(i) * size
			var v uint64
			switch {
			case a.rows != nil:
				v = uint64(a.rows.ofA(r, int(at/4))) >> (8 * (at % 4)) & (1<<a.e.bits - 1)
			case a.transposed:
				v = loadUint(a.shared[a.d.TransposedOf(uint64(r), uint64(i), size):], size)
			default:
				v = loadUint(a.shared[a.d.Address(uint64(r), at):], size)
			}
			m[r*k+i] = read(v)
		}
	}
	return m
}

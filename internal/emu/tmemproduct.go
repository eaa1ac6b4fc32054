package emu

import (
	"math"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/isa"
)

// The values of tcgen05.mma (PTX ISA 9.7.16.10): A and B are read from shared memory, or A from
// tensor memory, a sparse A is spread over its columns by metadata in tensor memory (9.7.16.10.8),
// and both are scaled by factors in tensor memory (9.7.16.10.7).
//
// Which cells have metadata and factors are figures of the ISA; CUTLASS has them as layouts
// (mma_traits_sm100_frag.hpp: tmem_e_frg and tmem_sf_frg). It has none of metadata with half of the
// lanes, so that D is not computed then.

// tensorElement returns the element type of A or B of a multiplication; false if it is not
// modelled: elements of 4 and 6 bits with padding.
func tensorElement(f *isa.TensorMultiply, name string) (element, bool) {
	e, ok := elementOf(name)
	if !ok && f.Packed() { // two to a byte
		e.bits, ok = 4, true
	}
	return e, ok
}

// tensorProduct is a multiplication whose operands are known.
type tensorProduct struct {
	in             *inst
	lane           int
	s              *isa.TensorShape
	at             uint32 // of D
	adds           bool
	off            *[isa.TensorLanes]bool // lanes that are not written
	zeros          isa.ZeroMask
	a, b           isa.TensorOperand
	metadata       uint32 // its columns
	scaleA, scaleB uint32 // the columns of the factors
	// factors of the rows of A of a block, and of all columns of B
	ofRows, ofColumns matrixOf[float64]
}

// multiplyInTensor computes D, or marks it if it cannot. Each block has its rows of A and D, and
// its columns of B.
func (x *exec) multiplyInTensor(p *tensorProduct, blocks []*block) {
	known := x.prepareProduct(p)
	for _, b := range blocks {
		t := b.tensor
		if !known || t.marked(x.readRects(b, blocks, p.adds)) != nil || !p.readFactors(t) {
			t.mark(x.evs.rects, p.in.ir)
			continue
		}
		if p.s.Sparse && !x.checkMetadata(p, t) {
			return
		}
		t.mark(x.evs.rects, nil)
		for i, from := range blocks {
			x.multiplyPart(p, b, from, i*p.s.Columns())
		}
	}
}

// readRects returns the cells that a multiplication reads of a block, of D if it is added.
func (x *exec) readRects(b *block, blocks []*block, adds bool) (read []event.TensorRect) {
	for i := range x.evs.rects {
		if r := &x.evs.rects[i]; x.blockAt(r, blocks) == b && (adds || !r.Write) {
			read = append(read, *r)
		}
	}
	return read
}

// prepareProduct decodes the operands. It reports false if the values of the form are not modelled.
func (x *exec) prepareProduct(p *tensorProduct) bool {
	op := p.in.misc.tmem
	f := &op.multiply
	_, known := tensorElement(f, p.s.A)
	_, known2 := tensorElement(f, p.s.B)
	if !op.inTensor {
		p.a, _ = isa.TensorOperandOf(x.src(&p.in.s[1])[p.lane])
	}
	p.b, _ = isa.TensorOperandOf(x.src(&p.in.s[2])[p.lane])
	if f.Sparse {
		p.metadata, known = x.tensorAddress(&op.metadata.s, &op.metadata.at, p.lane)+
			uint32(p.s.Selector), known && p.s.Rows() == isa.TensorLanes
	}
	if f.Scaled {
		p.scaleA = x.tensorAddress(&op.scales[0].s, &op.scales[0].at, p.lane)
		p.scaleB = x.tensorAddress(&op.scales[1].s, &op.scales[1].at, p.lane)
		known = known && p.s.Scale != "" && p.scaleA>>16 == 0 && p.scaleB>>16 == 0
	}
	known = known && !f.Shift && !p.zeros.Some // in which direction, and which columns, is not stated
	return known && known2 && !p.a.Wide && !p.b.Wide && p.a.Base == 0 && p.b.Base == 0
}

// readFactors reads the factors of a block. It reports false if the 32-lane partitions have
// different ones: they "need to be duplicated" (PTX ISA 9.7.16.10.7).
func (p *tensorProduct) readFactors(t *tensorMemory) bool {
	f := &p.in.misc.tmem.multiply
	if !f.Scaled {
		return true
	}
	read := alu.ReadFloat(p.s.Scale)
	fill := func(to *matrixOf[float64], rows int, column uint32, first int) bool {
		list := to.sized(rows * f.Vector)
		for r := range rows {
			for i := range f.Vector {
				v := t.factor(r%32, int(column&0xffff)+r/maxScaleRows, first+i)
				for q := 32; q < isa.TensorLanes; q += 32 {
					if t.factor(q+r%32, int(column&0xffff)+r/maxScaleRows, first+i) != v {
						return false
					}
				}
				list[r*f.Vector+i] = read(v)
			}
		}
		return true
	}
	return fill(&p.ofRows, p.s.Rows(), p.scaleA, p.s.ScaleA) &&
		fill(&p.ofColumns, p.s.N, p.scaleB, p.s.ScaleB)
}

// factor returns a byte of a word of tensor memory.
func (t *tensorMemory) factor(lane, column, i int) uint64 {
	return uint64(t.words[lane*isa.TensorColumns+column] >> (8 * i) & 0xff)
}

// scale multiplies chunks of the rows of a matrix by their factors.
func scale(m []float64, k int, factors []float64, vector int) {
	chunk := k / vector
	for i := range len(m) / chunk {
		scaleAll(m[i*chunk:][:chunk], factors[i])
	}
}

// indices returns the metadata of a chunk of a row of A in a block.
func (p *tensorProduct) indices(t *tensorMemory, row, chunk, count int) (low, high int) {
	lane, bit := p.s.Metadata(row, chunk, count)
	v := t.words[lane*isa.TensorColumns+int(p.metadata&0xffff)+bit/32] >> (bit % 32)
	return int(v & 3), int(v >> 2 & 3)
}

// checkMetadata ends the run if metadata has a value that is not among "the only meaningful" ones
// (PTX ISA 9.7.16.10.8.1 to .3), and reports whether there is none.
func (x *exec) checkMetadata(p *tensorProduct, t *tensorMemory) bool {
	g := p.in.misc.tmem.multiply.Granularity()
	count := p.s.K / g
	for row := range p.s.Rows() {
		for c := range count {
			low, high := p.indices(t, row, c, count)
			ok := low < high || low == 2 && high == 1
			if g == 2 {
				ok = low%2 == 0 && high == low+1
			}
			if !ok {
				lane, bit := p.s.Metadata(row, c, count)
				x.fail(p.in, Unsupported, p.lane, "%s: bits %d to %d of the metadata at lane %d, column %d "+
					"are 0b%02b%02b, which makes the result undefined (PTX ISA 9.7.16.10.8)", p.in.ir.Op(), bit%32,
					bit%32+3, lane, int(p.metadata&0xffff)+bit/32, high, low)
				return false
			}
		}
	}
	return true
}

// multiplyPart computes the columns of D, from one on, that are of the part of B that a block has,
// in the rows of another block, or the same.
func (x *exec) multiplyPart(p *tensorProduct, home, of *block, first int) {
	op, s := p.in.misc.tmem, p.s
	f := &op.multiply
	a, _ := tensorElement(f, s.A)
	b, _ := tensorElement(f, s.B)
	to, _ := elementOf(s.D)
	d := tensorRows{t: home.tensor, s: s, at: p.at, off: p.off, first: first}
	left := tensorMatrix{e: &a, d: &p.a, shared: home.shared, transposed: s.TransposeA}
	if op.inTensor {
		left.rows = &tensorRows{t: home.tensor, s: s, first: first,
			at: x.tensorAddress(&p.in.s[1], op.a, p.lane)}
	}
	right := tensorMatrix{e: &b, d: &p.b, shared: of.shared, transposed: s.TransposeB,
		first: p.zeros.Shift}
	q := &product{m: s.Rows(), n: s.Columns(), k: s.K, count: 1}
	if x.matrix == nil {
		x.matrix = new(matrixScratch)
	}
	m := x.matrix
	if a.float == nil {
		sum := tensorSum(&m.k, &d, q, p.adds, to.integer())
		values := tensorLeft(p, home.tensor, &m.i, &m.y, &left, q, a.integer())
		multiply(q, sum, values, operandMatrix(&m.j, &right, q.n, q.k, b.integer()))
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
	values := tensorLeft(p, home.tensor, &m.a, &m.x, &left, q, a.float)
	if s.NegateA != s.NegateB {
		for i := range values {
			values[i] = -values[i]
		}
	}
	columns := operandMatrix(&m.b, &right, q.n, q.k, b.float)
	if f.Scaled {
		scale(values, q.k, p.ofRows, f.Vector)
		scale(columns, q.k, p.ofColumns[first*f.Vector:], f.Vector)
	}
	multiply(q, sum, values, columns)
	for i, v := range sum {
		d.set(i/q.n, i%q.n, uint32(to.round(v)))
	}
}

// tensorLeft returns the dense rows of A of a block.
func tensorLeft[T int64 | float64](p *tensorProduct, t *tensorMemory, to, half *matrixOf[T],
	left *tensorMatrix, q *product, read func(v uint64) T) []T {
	if !p.s.Sparse {
		return operandMatrix(to, left, q.m, q.k, read)
	}
	stored, a := operandMatrix(half, left, q.m, p.s.Stored(), read), to.sized(q.m*q.k)
	clear(a)
	g := p.in.misc.tmem.multiply.Granularity()
	count := q.k / g
	for row := range q.m {
		for c := range count {
			low, high := p.indices(t, row, c, count)
			at := row*count + c
			spread(g, a[at*g:], stored[at*g/2:], low, high)
		}
	}
	return a
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
	first      int // the row, or column of B, that is the first one
	rows       *tensorRows
}

// operandMatrix returns a matrix by rows of k elements that are stored.
func operandMatrix[T any](to *matrixOf[T], a *tensorMatrix, rows, k int,
	read func(v uint64) T) []T {
	m, size := to.sized(rows*k), uint64(max(a.e.bits/8, 1))
	for r := range rows {
		at := uint64(a.first + r)
		for i := range k {
			bit := uint64(i) * uint64(a.e.bits)
			var v uint64
			switch {
			case a.rows != nil:
				v = uint64(a.rows.ofA(r, int(bit/32))) >> (bit % 32)
			case a.transposed:
				v = loadUint(a.shared[a.d.TransposedOf(at, uint64(i), size):], size)
			default:
				v = loadUint(a.shared[a.d.Address(at, bit/8):], size) >> (bit % 8)
			}
			m[r*k+i] = read(v & (1<<a.e.bits - 1))
		}
	}
	return m
}

package emu

import (
	"fmt"
	"math"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Matrix products of a warp, D = A*B + C: mma (PTX ISA 9.7.14.5.14), mma.sp (9.7.14.6.3) and wmma.mma
// (9.7.14.4.5).
//
// The ISA leaves the order and precision of the accumulation open except for integers and .f64, and
// guarantees at least single precision. Here products are exact, and are added in double precision
// to the element of C by ascending k. The sum is rounded once to the type of D, to nearest even;
// NaN is canonical. For .f64 each step is an fma.f64 with the instruction's rounding, by ascending
// k. Integer sums are exact, and wrap or, with .satfinite, saturate at the end. Numeric results may
// therefore differ from those of a given GPU in the last bits.

// element is a type of matrix elements.
type element struct {
	name  string
	bits  uint
	float func(v uint64) float64 // nil for integers
	round func(x float64) uint64 // of accumulators in floating point
	sign  bool                   // of integers
}

// integerElements maps the names of integer element types to their properties.
var integerElements = map[string]element{
	"u8": {bits: 8}, "s8": {bits: 8, sign: true}, "u4": {bits: 4}, "s4": {bits: 4, sign: true},
	"b1":  {bits: 1},
	"s32": {bits: 32, sign: true},
}

// elementOf returns the element type of a name; false if no matrix has it without a container, as
// formats of 4 and 6 bits.
func elementOf(name string) (element, bool) {
	e, ok := integerElements[name]
	e.name = name
	if ok {
		return e, true
	}
	e.float, e.round = alu.ReadFloat(name), alu.RoundFloat(name)
	switch name {
	case "f64":
		e.bits = 64
	case "f32", "tf32":
		e.bits = 32
	case "f16", "bf16":
		e.bits = 16
	case "e4m3", "e5m2":
		e.bits = 8
	}
	return e, e.float != nil && e.bits != 0
}

// register returns the number of bits in the registers that hold elements of the type.
func (e *element) register() uint { return max(e.bits, 32) }

// perRegister returns how many elements a register holds.
func (e *element) perRegister() int { return int(e.register() / e.bits) }

// operandLayout describes the fragments of one matrix: for each lane the positions of its elements,
// in their order, in the dense matrix of outer x inner elements: rows of A and C, columns of B.
type operandLayout struct {
	element
	regs  int       // registers of a lane
	place [32][]int // by lane; -1: not an element of the matrix
	size  int       // elements of the dense matrix
}

// position returns the outer and inner index of element i of a lane, and which of several products
// it belongs to.
type position func(lane, i int) (outer, inner, product int)

// newLayout returns the layout of n elements per lane in matrices of outer x inner. A function
// gives the position of each, since the ISA defines the layouts by figures, one for each shape. The
// sizes stay separate arguments, because they are those of the figures.
func newLayout(e element, n, outer, inner, products int, at position) operandLayout {
	o := operandLayout{element: e, regs: n / e.perRegister(), size: outer * inner * products}
	for l := range o.place {
		for i := range n {
			r, c, p := at(l, i)
			o.place[l] = append(o.place[l], (p*outer+r)*inner+c)
		}
	}
	return o
}

// product is a decoded mma or wmma.mma.
type product struct {
	m, n, k    int // of one product
	count      int // products: 4 for mma.m8n8k4 with .f16
	a, b, c, d operandLayout
	round      isa.Rounding
	saturate   bool
	bitOp      isa.Fn
	sparse     *sparsity // of mma.sp; else nil
	scale      *scaling  // of .block_scale; else nil
}

// mma decodes mma (PTX ISA 9.7.14.5.14) and mma.sp (9.7.14.6.3). Sections 9.7.14.5.1 to 13 define
// which element of the matrices each register of a lane holds.
func (c *compiler) mma(in *ir.Instr) error {
	f, err := in.MMA()
	if err != nil {
		return fmt.Errorf("%s: %w", opcodeText(in), err)
	}
	var t [4]element // D, A, B, C
	for i, name := range []string{f.D, f.A, f.B, f.C} {
		t[i] = mmaElement(&f, name)
	}
	p := &product{m: f.M, n: f.N, k: f.K, count: 1, round: f.Round, saturate: f.Satfinite,
		bitOp: f.BitOp}
	stored := f.K // columns of A that are in registers
	if f.Sparse {
		p.sparse = newSparsity(&f)
		stored /= 2
	}
	if f.Scale != "" {
		p.scale = &scaling{vector: f.ScaleVec, read: alu.ReadFloat(f.Scale)}
	}
	if t[1].name == "f16" && f.M == 8 {
		p.quadPairs(t, f.AColumns, f.BRows)
	} else {
		p.groups(t, stored)
	}
	return c.matrixProduct(in, p)
}

// mmaElement returns the element type of a name. Elements of fewer than 8 bits are in the low bits
// of a container of 8 bits, those of .e2m1 in the middle, or without a container.
func mmaElement(f *isa.MMAForm, name string) element {
	e, ok := elementOf(name)
	switch {
	case ok:
	case !f.Contained():
		e.bits = 4
	case name == "e2m1":
		read := e.float
		e.bits, e.float = 8, func(v uint64) float64 { return read(v >> 2) }
	default:
		e.bits = 8
	}
	return e
}

// groups sets the layout of all shapes except one: four lanes share a row of A, a column of B and a
// row of C. A lane's elements of A and B come in runs of as many as a register holds. A run of A is
// eight rows below the previous one, if there are that many rows, and otherwise to the right of the
// elements of the four lanes (PTX ISA 9.7.14.5.2 to 13).
// A matrix A of which half is stored has the layout of a matrix with half of the columns.
func (p *product) groups(t [4]element, stored int) {
	// run is the number of elements in a register; tall the number of runs of A in different rows.
	run := t[1].perRegister()
	tall := p.m / 8
	a := func(l, i int) (int, int, int) {
		u := i / run
		return l>>2 + 8*(u%tall), u/tall*4*run + l%4*run + i%run, 0
	}
	b := func(l, i int) (int, int, int) { return l >> 2, i/run*4*run + l%4*run + i%run, 0 }
	c := func(l, i int) (int, int, int) { return l>>2 + 8*(i>>1), l%4*2 + i&1, 0 }
	p.a = newLayout(t[1], p.m*stored/32, p.m, stored, 1, a)
	p.b = newLayout(t[2], p.n*p.k/32, p.n, p.k, 1, b)
	p.c = newLayout(t[3], p.m*p.n/32, p.m, p.n, 1, c)
	p.d = newLayout(t[0], p.m*p.n/32, p.m, p.n, 1, c)
}

// quadPairs sets the layout of mma.m8n8k4 with .f16: four products, each by a group of four lanes
// and the group 16 lanes further (PTX ISA 9.7.14.5.1).
func (p *product) quadPairs(t [4]element, aColumns, bRows bool) {
	p.count = 4
	// Lanes 16 to 31 hold the rows and columns 4 to 7.
	high := func(l int) int { return l / 16 * 4 }
	along := func(l, i int) (int, int, int) { return l%4 + high(l), i, l / 4 % 4 }
	across := func(l, i int) (int, int, int) { return i + high(l), l % 4, l / 4 % 4 }
	c32 := func(l, i int) (int, int, int) { return l&1 + i&2 + high(l), i&4 + l&2 + i&1, l / 4 % 4 }
	a, b := along, across
	if aColumns {
		a = across
	}
	if !bRows {
		b = along
	}
	acc := func(e element) position {
		if e.name == "f32" {
			return c32
		}
		return along
	}
	p.a = newLayout(t[1], 4, 8, 4, 4, a)
	p.b = newLayout(t[2], 4, 8, 4, 4, b)
	p.c = newLayout(t[3], 8, 8, 8, 4, acc(t[3]))
	p.d = newLayout(t[0], 8, 8, 8, 4, acc(t[0]))
}

// matrixProduct emits a product.
func (c *compiler) matrixProduct(in *ir.Instr, p *product) error {
	if len(in.Dst) != 1 || len(in.Src) != 3+p.extras() {
		return fmt.Errorf("%s: destination, A, B and C expected, and %d operands behind them",
			opcodeText(in), p.extras())
	}
	to, err := c.destinations(in.Dst[0], p.d.regs)
	if err != nil {
		return err
	}
	var from []src
	for i, o := range []*operandLayout{&p.a, &p.b, &p.c} {
		list, err := c.elements(in.Src[i], o.regs, isa.NoType)
		if err != nil {
			return err
		}
		from = append(from, list...)
	}
	if from, err = c.productExtras(in, p, from); err != nil {
		return err
	}
	for _, s := range from {
		if s.c == nil && s.r < 0 {
			return fmt.Errorf("%s: a register expected, not _", opcodeText(in))
		}
	}
	multiply := p.method()
	c.wholeWarp(in, from, to, func(x *exec, in *inst, m uint32) {
		if x.matrix == nil {
			x.matrix = new(matrixScratch)
		}
		if l, why := p.undefined(x.coll.more); why != "" {
			x.fail(in, Unsupported, l, "%s: %s", in.ir.Text(), why)
			return
		}
		multiply(x.matrix, x.coll.more)
		p.deliver(x, to, m)
	})
	return nil
}

// matrixScratch holds dense matrices: A by rows, B by columns, C by rows, and D as bits. Each
// goroutine has its own.
type matrixScratch struct {
	a, b, c matrixOf[float64]
	i, j, k matrixOf[int64]
	u, v, w matrixOf[uint64]
	x       matrixOf[float64] // the stored half of A
	y       matrixOf[int64]
	d       matrixOf[uint64]
}

// matrixOf is a dense matrix whose memory is reused.
type matrixOf[T any] []T

// sized returns the matrix with n elements, whose values are undefined.
func (m *matrixOf[T]) sized(n int) []T {
	if cap(*m) < n {
		*m = make([]T, n)
	}
	*m = (*m)[:n]
	return *m
}

// gather builds a dense matrix from the registers of the lanes.
func gather[T any](to *matrixOf[T], o *operandLayout, regs []alu.Lanes, read func(v uint64) T) []T {
	m, per, mask := to.sized(o.size), o.perRegister(), ^uint64(0)>>(64-o.bits)
	for r := range o.regs {
		lanes := &regs[r]
		for l := range o.place {
			v := lanes[l]
			for _, at := range o.place[l][r*per : (r+1)*per] {
				m[at] = read(v & mask)
				v >>= o.bits
			}
		}
	}
	return m
}

// method returns the function that computes the product from the registers of A, B and C, which
// follow each other in regs.
func (p *product) method() func(s *matrixScratch, regs []alu.Lanes) {
	// The registers of B start at b, those of C at c.
	b, c := p.a.regs, p.a.regs+p.b.regs
	switch {
	case p.a.name == "f64":
		same, fused := func(v uint64) uint64 { return v }, alu.FusedF64(p.round)
		return func(s *matrixScratch, regs []alu.Lanes) {
			p.fused(s.d.sized(p.d.size), gather(&s.u, &p.a, regs, same), gather(&s.v, &p.b, regs[b:], same),
				gather(&s.w, &p.c, regs[c:], same), fused)
		}
	case p.a.float != nil:
		return func(s *matrixScratch, regs []alu.Lanes) {
			sum := gather(&s.c, &p.c, regs[c:], p.c.float)
			x, y := left(p, &s.a, &s.x, regs, p.a.float), gather(&s.b, &p.b, regs[b:], p.b.float)
			p.applyScale(x, y, regs)
			multiply(p, sum, x, y)
			for i, d := 0, s.d.sized(p.d.size); i < len(d); i++ {
				d[i] = p.d.round(sum[i])
			}
		}
	}
	return func(s *matrixScratch, regs []alu.Lanes) {
		sum := gather(&s.k, &p.c, regs[c:], p.c.integer())
		x, y := left(p, &s.i, &s.y, regs, p.a.integer()), gather(&s.j, &p.b, regs[b:], p.b.integer())
		if p.bitOp == isa.FnXor {
			p.differences(sum, x, y)
		} else { // for single bits the product is the conjunction
			multiply(p, sum, x, y)
		}
		for i, d := 0, s.d.sized(p.d.size); i < len(d); i++ {
			if p.saturate {
				sum[i] = min(max(sum[i], math.MinInt32), math.MaxInt32)
			}
			d[i] = uint64(uint32(sum[i]))
		}
	}
}

// integer returns the function that reads an element as an integer.
func (e *element) integer() func(v uint64) int64 {
	drop := 64 - e.bits
	if e.sign {
		return func(v uint64) int64 { return int64(v<<drop) >> drop }
	}
	return func(v uint64) int64 { return int64(v) }
}

// multiply adds the products to sum, those of one element by ascending k. It handles four columns
// at a time, whose additions do not depend on each other; every number of columns is a multiple of
// four.
func multiply[T int64 | float64](p *product, sum, a, b []T) {
	for q := range p.count {
		for r := range p.m {
			row := a[(q*p.m+r)*p.k:][:p.k]
			for col := 0; col < p.n; col += 4 {
				from := b[(q*p.n+col)*p.k:]
				b0, b1, b2, b3 := from[:p.k], from[p.k:][:p.k], from[2*p.k:][:p.k], from[3*p.k:][:p.k]
				to := sum[(q*p.m+r)*p.n+col:][:4]
				s0, s1, s2, s3 := to[0], to[1], to[2], to[3]
				for k, v := range row {
					s0 += T(v * b0[k]) // the conversion forbids fusing
					s1 += T(v * b1[k])
					s2 += T(v * b2[k])
					s3 += T(v * b3[k])
				}
				to[0], to[1], to[2], to[3] = s0, s1, s2, s3
			}
		}
	}
}

// differences adds the number of bits in which row and column differ.
func (p *product) differences(sum, a, b []int64) {
	for r := range p.m {
		for col := range p.n {
			for k := range p.k {
				sum[r*p.n+col] += a[r*p.k+k] ^ b[col*p.k+k]
			}
		}
	}
}

// fused computes the product in double precision.
func (p *product) fused(d, a, b, c []uint64, fma func(a, b, c uint64) uint64) {
	for r := range p.m {
		for col := range p.n {
			sum := c[r*p.n+col]
			for k := range p.k {
				sum = fma(a[r*p.k+k], b[col*p.k+k], sum)
			}
			d[r*p.n+col] = sum
		}
	}
}

// deliver writes the registers of D for the lanes of m.
func (p *product) deliver(x *exec, to []int32, m uint32) {
	per := p.d.perRegister()
	for t := m; t != 0; t &= t - 1 {
		l := bits.TrailingZeros32(t) & (event.WarpSize - 1)
		for r, reg := range to {
			if reg < 0 {
				continue
			}
			v := uint64(0)
			for i, at := range p.d.place[l][r*per : (r+1)*per] {
				v |= x.matrix.d[at] << (uint(i) * p.d.bits)
			}
			x.regs[reg][l] = v
		}
	}
}

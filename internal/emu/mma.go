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

// Matrix products of a warp, D = A*B + C: mma (PTX ISA 9.7.14.5.14) and wmma.mma (9.7.14.4.5).
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
}

// mma decodes PTX ISA 9.7.14.5.14. Sections 9.7.14.5.1 to 13 define which element of the matrices
// each register of a lane holds.
func (c *compiler) mma(in *ir.Instr) error {
	f := in.Matrix()
	if len(f.Types) != 4 || len(f.Layouts) != 2 || len(f.Other) != 0 {
		return fmt.Errorf("%s is not supported", opcodeText(in))
	}
	var t [4]element // D, A, B, C
	for i, name := range f.Types {
		var ok bool
		if t[i], ok = elementOf(name); !ok {
			return fmt.Errorf("%s: elements of type .%s are not supported", opcodeText(in), name)
		}
	}
	p := &product{m: f.M, n: f.N, k: f.K, count: 1, round: f.Round, saturate: f.Satfinite,
		bitOp: f.BitOp}
	switch {
	case !p.known(t, f.Layouts):
		return fmt.Errorf(
			"%s: this combination of shape, layouts and types does not exist or is not supported",
			opcodeText(in))
	case t[1].name == "f16" && p.k == 4:
		p.quadPairs(t, f.Layouts)
	default:
		p.groups(t)
	}
	return c.matrixProduct(in, p)
}

// mmaShapes maps the type of A to the shapes of mma, as m, n, k.
var mmaShapes = map[string][][3]int{
	"f16":  {{8, 8, 4}, {16, 8, 8}, {16, 8, 16}},
	"bf16": {{16, 8, 8}, {16, 8, 16}},
	"tf32": {{16, 8, 4}, {16, 8, 8}},
	"e4m3": {{16, 8, 16}, {16, 8, 32}}, "e5m2": {{16, 8, 16}, {16, 8, 32}},
	"f64": {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}},
	"s8":  {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}, "u8": {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}},
	"s4": {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}, "u4": {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}},
	"b1": {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}},
}

// known reports whether the ISA defines the combination.
func (p *product) known(t [4]element, layouts []string) bool {
	found := false
	for _, s := range mmaShapes[t[1].name] {
		found = found || s == [3]int{p.m, p.n, p.k}
	}
	if p.k != 4 || t[1].name != "f16" {
		found = found && layouts[0] == "row" && layouts[1] == "col" && t[0].name == t[3].name
	} else if t[3].name == "f32" && t[0].name != "f32" {
		return false
	}
	return found && p.accumulates(t)
}

// accumulates reports whether the types of D, A, B and C can be combined.
func (p *product) accumulates(t [4]element) bool {
	narrow := func(e element) bool { return e.name == "f16" || e.name == "f32" }
	a, b, c, d := t[1], t[2], t[3], t[0]
	if p.saturate && a.float != nil || p.round != isa.NoRounding && a.name != "f64" {
		return false
	}
	switch a.name {
	case "f16":
		return b.name == "f16" && narrow(c) && narrow(d)
	case "e4m3", "e5m2":
		return (b.name == "e4m3" || b.name == "e5m2") && narrow(c) && narrow(d)
	case "bf16", "tf32":
		return b.name == a.name && c.name == "f32" && d.name == "f32"
	case "f64":
		return b.name == "f64" && c.name == "f64" && d.name == "f64"
	case "b1":
		return b.name == "b1" && c.name == "s32" && d.name == "s32" &&
			(p.bitOp == isa.FnAnd || p.bitOp == isa.FnXor)
	}
	return b.float == nil && b.bits == a.bits && c.name == "s32" && d.name == "s32"
}

// groups sets the layout of all shapes except one: four lanes share a row of A, a column of B and a
// row of C. A lane's elements of A and B come in runs of as many as a register holds. A run of A is
// eight rows below the previous one, if there are that many rows, and otherwise to the right of the
// elements of the four lanes (PTX ISA 9.7.14.5.2 to 13).
func (p *product) groups(t [4]element) {
	// run is the number of elements in a register; tall the number of runs of A in different rows.
	run := t[1].perRegister()
	tall := p.m / 8
	a := func(l, i int) (int, int, int) {
		u := i / run
		return l>>2 + 8*(u%tall), u/tall*4*run + l%4*run + i%run, 0
	}
	b := func(l, i int) (int, int, int) { return l >> 2, i/run*4*run + l%4*run + i%run, 0 }
	c := func(l, i int) (int, int, int) { return l>>2 + 8*(i>>1), l%4*2 + i&1, 0 }
	p.a = newLayout(t[1], p.m*p.k/32, p.m, p.k, 1, a)
	p.b = newLayout(t[2], p.n*p.k/32, p.n, p.k, 1, b)
	p.c = newLayout(t[3], p.m*p.n/32, p.m, p.n, 1, c)
	p.d = newLayout(t[0], p.m*p.n/32, p.m, p.n, 1, c)
}

// quadPairs sets the layout of mma.m8n8k4 with .f16: four products, each by a group of four lanes
// and the group 16 lanes further (PTX ISA 9.7.14.5.1).
func (p *product) quadPairs(t [4]element, layouts []string) {
	p.count = 4
	// Lanes 16 to 31 hold the rows and columns 4 to 7.
	high := func(l int) int { return l / 16 * 4 }
	along := func(l, i int) (int, int, int) { return l%4 + high(l), i, l / 4 % 4 }
	across := func(l, i int) (int, int, int) { return i + high(l), l % 4, l / 4 % 4 }
	c32 := func(l, i int) (int, int, int) { return l&1 + i&2 + high(l), i&4 + l&2 + i&1, l / 4 % 4 }
	a, b := along, across
	if layouts[0] == "col" {
		a = across
	}
	if layouts[1] == "col" {
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
	if len(in.Dst) != 1 || len(in.Src) != 3 {
		return fmt.Errorf("%s: destination, A, B and C expected", opcodeText(in))
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
		for _, s := range list {
			if s.c == nil && s.r < 0 {
				return fmt.Errorf("%s: a register expected, not _", opcodeText(in))
			}
		}
		from = append(from, list...)
	}
	multiply := p.method()
	c.wholeWarp(in, from, to, func(x *exec, in *inst, m uint32) {
		if x.matrix == nil {
			x.matrix = new(matrixScratch)
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
			multiply(p, sum, gather(&s.a, &p.a, regs, p.a.float), gather(&s.b, &p.b, regs[b:], p.b.float))
			for i, d := 0, s.d.sized(p.d.size); i < len(d); i++ {
				d[i] = p.d.round(sum[i])
			}
		}
	}
	return func(s *matrixScratch, regs []alu.Lanes) {
		sum := gather(&s.k, &p.c, regs[c:], p.c.integer())
		x, y := gather(&s.i, &p.a, regs, p.a.integer()), gather(&s.j, &p.b, regs[b:], p.b.integer())
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

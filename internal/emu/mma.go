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
// The order and precision of the accumulation are left open by the ISA for all but integers and
// .f64, with at least single precision. Here: products are exact, they are added in double
// precision to the element of C by ascending k, and the sum is rounded once to the type of D, to
// nearest; NaN is canonical. For .f64 each step is an fma.f64 with the instruction's rounding, by
// ascending k. Integers are exact, and wrapped or, with .satfinite, clamped at the end.

// element is a type of matrix elements.
type element struct {
	name  string
	bits  uint
	float func(v uint64) float64 // nil for integers
	round func(x float64) uint64 // of accumulators in floating point
	sign  bool                   // of integers
}

var integerElements = map[string]element{
	"u8": {bits: 8}, "s8": {bits: 8, sign: true}, "u4": {bits: 4}, "s4": {bits: 4, sign: true},
	"b1":  {bits: 1},
	"s32": {bits: 32, sign: true},
}

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
	return e, e.float != nil
}

// register returns the bits of the registers that hold elements of the type.
func (e *element) register() uint { return max(e.bits, 32) }

// perRegister returns how many elements a register holds.
func (e *element) perRegister() int { return int(e.register() / e.bits) }

// fragment of a matrix: the places of the elements that a lane holds, in their order, in the dense
// matrix of outer x inner elements: rows of A and C, columns of B.
type operandLayout struct {
	element
	regs  int       // registers of a lane
	place [32][]int // by lane; -1: the lane's element is none of the matrix
	size  int       // elements of the dense matrix
}

// position is where element i of a lane stands: its outer and inner index, and which of several
// products it belongs to.
type position func(lane, i int) (outer, inner, product int)

// newLayout fills a layout of n elements a lane in matrices of outer x inner.
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

// mma decodes PTX ISA 9.7.14.5.14: which element of the matrices a lane's registers hold is in
// 9.7.14.5.1 to 13.
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
			"%s: no such combination of shape, layouts and types, or one that is not supported",
			opcodeText(in))
	case t[1].name == "f16" && p.k == 4:
		p.quadPairs(t, f.Layouts)
	default:
		p.groups(t)
	}
	return c.matrixProduct(in, p)
}

// mmaShapes has the shapes of mma by the type of A, as m, n, k.
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

// known reports whether the ISA has the combination.
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

// accumulates reports whether the types of D, A, B and C go together.
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

// groups is the layout of all shapes but one: four lanes share a row of A, a column of B and a row
// of C. A lane's elements of A and B come in runs of as many as a register holds; a run of A is
// eight rows below the one before it, if there are so many, and then as far right as the four lanes
// reach (PTX ISA 9.7.14.5.2 to 13).
func (p *product) groups(t [4]element) {
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

// quadPairs is mma.m8n8k4 with .f16: four products, each of a group of four lanes and the one 16
// lanes further (PTX ISA 9.7.14.5.1).
func (p *product) quadPairs(t [4]element, layouts []string) {
	p.count = 4
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

// matrixScratch holds dense matrices: A by rows, B by columns, C by rows, and D as bits. It is one
// goroutine's.
type matrixScratch struct {
	a, b, c matrixOf[float64]
	i, j, k matrixOf[int64]
	u, v, w matrixOf[uint64]
	d       matrixOf[uint64]
}

type matrixOf[T any] []T

func (m *matrixOf[T]) sized(n int) []T {
	if cap(*m) < n {
		*m = make([]T, n)
	}
	*m = (*m)[:n]
	return *m
}

// gather collects a matrix from the registers of the lanes.
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

// method returns how the product is computed from the registers of A, B and C, one after the other.
func (p *product) method() func(s *matrixScratch, regs []alu.Lanes) {
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
		} else { // of single bits the product is the conjunction
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

// integer returns how elements are read as integers.
func (e *element) integer() func(v uint64) int64 {
	drop := 64 - e.bits
	if e.sign {
		return func(v uint64) int64 { return int64(v<<drop) >> drop }
	}
	return func(v uint64) int64 { return int64(v) }
}

// multiply adds the products to sum, those of one element by ascending k. Four columns at a time do
// not wait for each other's additions; every number of columns is a multiple of four.
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

// fused is the product in double precision.
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

// deliver writes the lanes of m of the registers of D.
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

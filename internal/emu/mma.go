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
// The order and precision of the accumulation are left open by the ISA for all but integers and .f64, with at
// least single precision. Here: products are exact, they are added in double precision to the element of C by
// ascending k, and the sum is rounded once to the type of D, to nearest; NaN is canonical. For .f64 each step is
// an fma.f64 with the instruction's rounding, by ascending k. Integers are exact, and wrapped or, with
// .satfinite, clamped at the end.

// element is a type of matrix elements.
type element struct {
	name  string
	bits  uint
	float func(v uint64) float64 // nil for integers
	round func(x float64) uint64 // of accumulators in floating point
	sign  bool                   // of integers
}

var integerElements = map[string]element{
	"u8": {bits: 8}, "s8": {bits: 8, sign: true}, "u4": {bits: 4}, "s4": {bits: 4, sign: true}, "b1": {bits: 1},
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

// fragment of a matrix: the places of the elements that a lane holds, in their order, in the dense matrix of
// outer x inner elements: rows of A and C, columns of B.
type operandLayout struct {
	element
	regs  int       // registers of a lane
	place [32][]int // by lane; -1: the lane's element is none of the matrix
	size  int       // elements of the dense matrix
}

// at decodes element i of a lane from its registers.
func (o *operandLayout) at(regs []alu.Lanes, l, i int) uint64 {
	per := o.perRegister()
	v := regs[i/per][l] >> (uint(i%per) * o.bits)
	return v & (^uint64(0) >> (64 - o.bits))
}

// position is where element i of a lane stands: its outer and inner index, and which of several products it
// belongs to.
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

// mma decodes PTX ISA 9.7.14.5.14: which element of the matrices a lane's registers hold is in 9.7.14.5.1 to 13.
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
	p := &product{m: f.M, n: f.N, k: f.K, count: 1, round: f.Round, saturate: f.Satfinite, bitOp: f.BitOp}
	switch {
	case !p.known(t, f.Layouts):
		return fmt.Errorf("%s: no such combination of shape, layouts and types, or one that is not supported", opcodeText(in))
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
		return b.name == "b1" && c.name == "s32" && d.name == "s32" && (p.bitOp == isa.FnAnd || p.bitOp == isa.FnXor)
	}
	return b.float == nil && b.bits == a.bits && c.name == "s32" && d.name == "s32"
}

// groups is the layout of all shapes but one: four lanes share a row of A, a column of B and a row of C. A lane's
// elements of A and B come in runs of as many as a register holds; a run of A is eight rows below the one
// before it, if there are so many, and then as far right as the four lanes reach (PTX ISA 9.7.14.5.2 to 13).
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

// quadPairs is mma.m8n8k4 with .f16: four products, each of a group of four lanes and the one 16 lanes further
// (PTX ISA 9.7.14.5.1).
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
	c.wholeWarp(in, from, to, func(x *exec, in *inst, m uint32) {
		if x.matrix == nil {
			x.matrix = new(matrixScratch)
		}
		x.matrix.multiply(p, x.coll.more)
		p.deliver(x, to, m)
	})
	return nil
}

// matrixScratch holds dense matrices; one goroutine's.
type matrixScratch struct {
	a, b, c []uint64  // elements as bits
	fa, fb  []float64 // and as numbers
	ia, ib  []int64
	d       []uint64
}

func sized[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	*s = (*s)[:n]
	return *s
}

// dense collects a matrix from the registers of the lanes.
func dense(to *[]uint64, o *operandLayout, regs []alu.Lanes) []uint64 {
	m := sized(to, o.size)
	for l := range o.place {
		for i, at := range o.place[l] {
			m[at] = o.at(regs, l, i)
		}
	}
	return m
}

func (s *matrixScratch) multiply(p *product, regs []alu.Lanes) {
	a := dense(&s.a, &p.a, regs)
	b := dense(&s.b, &p.b, regs[p.a.regs:])
	c := dense(&s.c, &p.c, regs[p.a.regs+p.b.regs:])
	d := sized(&s.d, p.d.size)
	var dot func(at, row, col int) // at: in C and D; row, col: where the row of A and the column of B start
	switch {
	case p.a.name == "f64":
		fused := alu.FusedF64(p.round)
		dot = func(at, row, col int) {
			sum := c[at]
			for k := range p.k {
				sum = fused(a[row+k], b[col+k], sum)
			}
			d[at] = sum
		}
	case p.a.float != nil:
		fa, fb := numbers(&s.fa, a, p.a.float), numbers(&s.fb, b, p.b.float)
		dot = func(at, row, col int) {
			sum := p.c.float(c[at])
			for k := range p.k {
				sum += float64(fa[row+k] * fb[col+k])
			}
			d[at] = p.d.round(sum)
		}
	default:
		ia, ib := integers(&s.ia, a, &p.a), integers(&s.ib, b, &p.b)
		dot = func(at, row, col int) {
			sum := int64(int32(c[at]))
			for k := range p.k {
				switch p.bitOp {
				case isa.FnAnd:
					sum += ia[row+k] & ib[col+k]
				case isa.FnXor:
					sum += ia[row+k] ^ ib[col+k]
				default:
					sum += ia[row+k] * ib[col+k]
				}
			}
			if p.saturate {
				sum = min(max(sum, math.MinInt32), math.MaxInt32)
			}
			d[at] = uint64(uint32(sum))
		}
	}
	for q := range p.count {
		for r := range p.m {
			for col := range p.n {
				dot((q*p.m+r)*p.n+col, (q*p.m+r)*p.k, (q*p.n+col)*p.k)
			}
		}
	}
}

func numbers(to *[]float64, from []uint64, read func(uint64) float64) []float64 {
	f := sized(to, len(from))
	for i, v := range from {
		f[i] = read(v)
	}
	return f
}

func integers(to *[]int64, from []uint64, e *operandLayout) []int64 {
	n := sized(to, len(from))
	for i, v := range from {
		n[i] = int64(v)
		if e.sign {
			n[i] = int64(v<<(64-e.bits)) >> (64 - e.bits)
		}
	}
	return n
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

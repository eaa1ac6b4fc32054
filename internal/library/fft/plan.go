// Package fft computes the transforms of cuFFT on the CPU.
//
// A Plan describes a batch of discrete Fourier transforms as cufftPlanMany does, and
// Plan.Transform executes it on the bytes of device memory. The sections that comments name are
// those of cuFFT's API reference. As there ("Fourier Transform Types"), transforms are
// unnormalized: a forward transform followed by an inverse one multiplies the data by the number of
// elements.
//
// The results are as exact as float64 arithmetic allows, and single precision is rounded once, at
// the end. They therefore differ from those of a GPU in the last bits.
package fft

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Kind is a type of transform. The values are those of cufftType.
type Kind uint32

// The types of transforms: from real (R, and D in double precision) or complex (C, and Z in double
// precision) elements to such elements.
const (
	C2C Kind = 0x29
	R2C Kind = 0x2a
	C2R Kind = 0x2c
	Z2Z Kind = 0x69
	D2Z Kind = 0x6a
	Z2D Kind = 0x6c
)

// known reports whether k is a type of transform.
func (k Kind) known() bool {
	switch k {
	case C2C, R2C, C2R, Z2Z, D2Z, Z2D:
		return true
	}
	return false
}

// realInput reports whether the transform reads real elements.
func (k Kind) realInput() bool { return k == R2C || k == D2Z }

// realOutput reports whether the transform writes real elements.
func (k Kind) realOutput() bool { return k == C2R || k == Z2D }

// single reports whether the elements have single precision.
func (k Kind) single() bool { return k == C2C || k == R2C || k == C2R }

// elementBytes returns the size of a real or of a complex element.
func (k Kind) elementBytes(real bool) int {
	size := 16
	if k.single() {
		size /= 2
	}
	if real {
		size /= 2
	}
	return size
}

// Layout is how the elements of the input or of the output lie in memory ("Advanced Data Layout").
// All numbers count elements of that side's type. In rank 3, the element with the coordinates
// (x,y,z) of transform b has the index
//
//	b*Dist + ((x*Embed[1]+y)*Embed[2]+z)*Stride
//
// and lower ranks omit the leading coordinates. Embed[0] is not used.
type Layout struct {
	// Embed is the storage dimensions, as many as the rank. If it is nil on either side, both sides
	// have the basic layout and the other fields are ignored, as in cufftPlanMany if inembed or
	// onembed is NULL.
	Embed        []int
	Stride, Dist int
}

// Plan describes a batch of transforms. Its methods, except for Check, expect a plan that Check
// accepts, and none of them changes it.
type Plan struct {
	Kind Kind
	// N is the size of a transform in each dimension, the outermost first. The complex side of a real
	// transform has only N/2+1 elements in the last dimension, since the others follow from them
	// ("Data Layout").
	N       []int
	In, Out Layout
	Batch   int
}

// workBytes is the size of an element in the memory in which a transform is computed.
const workBytes = 16

// maxRank is the largest number of dimensions that cuFFT supports.
const maxRank = 3

// Check returns an error unless the plan can be executed.
func (p *Plan) Check() error {
	if !p.Kind.known() {
		return fmt.Errorf("unknown type of transform %#x", uint32(p.Kind))
	}
	if len(p.N) < 1 || len(p.N) > maxRank {
		return fmt.Errorf("transform of rank %d; cuFFT supports ranks 1 to %d", len(p.N), maxRank)
	}
	work := product{value: workBytes}
	for _, n := range p.N {
		if n < 1 {
			return fmt.Errorf("transform of size %d", n)
		}
		work.mul(n)
	}
	if p.Batch < 1 {
		return fmt.Errorf("batch of %d transforms", p.Batch)
	}
	if p.In.Embed != nil && p.Out.Embed != nil {
		if err := p.checkLayout("input", p.In, p.Kind.realOutput()); err != nil {
			return err
		}
		if err := p.checkLayout("output", p.Out, p.Kind.realInput()); err != nil {
			return err
		}
	}
	in, out := p.sides()
	if work.overflow || !in.fits() || !out.fits() {
		return errors.New("transform too large to address")
	}
	return nil
}

// checkLayout checks the advanced layout of one side. half says that the side is the complex one of
// a real transform.
func (p *Plan) checkLayout(name string, l Layout, half bool) error {
	if len(l.Embed) != len(p.N) {
		return fmt.Errorf("%d storage dimensions of the %s for a transform of rank %d", len(l.Embed),
			name, len(p.N))
	}
	// cuFFT ignores the first one, and programs exist that leave it 0.
	for i := 1; i < len(p.N); i++ {
		n := p.N[i]
		if half && i == len(p.N)-1 {
			n = n/2 + 1
		}
		if l.Embed[i] < n {
			return fmt.Errorf("storage dimension %d of the %s is %d, less than the %d elements of the "+
				"transform", i, name, l.Embed[i], n)
		}
	}
	if l.Stride < 1 {
		return fmt.Errorf("stride of the %s is %d", name, l.Stride)
	}
	// Transforms may share input (as windows that overlap do), and one alone needs no distance.
	if l.Dist < 0 {
		return fmt.Errorf("distance between transforms of the %s is %d", name, l.Dist)
	}
	return nil
}

// InPlace returns the plan as it works if input and output are the same memory. Only a real
// transform with the basic layout changes: its rows of real elements are padded to the size of the
// rows of complex elements, n/2+1 of them ("Data Layout": padded layout for in-place transforms).
// The caller decides by the pointers of the execution, since cuFFT's plans do not say whether they
// are for transforms in place.
func (p *Plan) InPlace() *Plan {
	if p.In.Embed != nil && p.Out.Embed != nil || !p.Kind.realInput() && !p.Kind.realOutput() {
		return p
	}
	out := *p
	half := p.N[len(p.N)-1]/2 + 1
	out.In, out.Out = p.basic(half), p.basic(half)
	if padded := p.basic(2 * half); p.Kind.realInput() {
		out.In = padded
	} else {
		out.Out = padded
	}
	return &out
}

// basic returns the layout of contiguous transforms whose rows have a number of elements.
func (p *Plan) basic(row int) Layout {
	embed := append([]int(nil), p.N...)
	embed[len(embed)-1] = row
	dist := 1
	for _, n := range embed {
		dist *= n
	}
	return Layout{Embed: embed, Stride: 1, Dist: dist}
}

// InBytes returns the number of bytes from the first element that the plan reads to the end of the
// last one.
func (p *Plan) InBytes() int {
	in, _ := p.sides()
	return in.bytes()
}

// OutBytes returns the number of bytes from the first element that the plan writes to the end of
// the last one.
func (p *Plan) OutBytes() int {
	_, out := p.sides()
	return out.bytes()
}

// InRanges yields the ranges of bytes that the plan reads, as offsets from the first element: from
// and past the end. They may overlap, where transforms share input.
func (p *Plan) InRanges(yield func(from, to int) bool) {
	in, _ := p.sides()
	in.ranges(yield)
}

// OutRanges yields the ranges of bytes that the plan writes, as InRanges does.
func (p *Plan) OutRanges(yield func(from, to int) bool) {
	_, out := p.sides()
	out.ranges(yield)
}

// ranges yields the ranges of bytes of the elements: rows, or single elements if they have gaps.
func (s *side) ranges(yield func(from, to int) bool) {
	last := maxRank - 1
	count, size := 1, s.n[last]*s.element
	if s.step[last] != 1 {
		count, size = s.n[last], s.element
	}
	for b := range s.batch {
		for _, at := range s.rows(b) {
			for i := range count {
				from := at + i*s.step[last]*s.element
				if !yield(from, from+size) {
					return
				}
			}
		}
	}
}

// side is where the elements of the input or of the output lie, in three dimensions: lower ranks
// have leading dimensions of size 1.
type side struct {
	n       [maxRank]int // elements
	step    [maxRank]int // from an element to the next one of a dimension, in elements
	dist    int          // from one transform to the next, in elements
	batch   int
	element int // size in bytes
	// overflow says that a step or dist does not fit an int, in which case it has a wrong value.
	overflow bool
}

// sides returns where the input and the output lie.
func (p *Plan) sides() (in, out side) {
	row := p.N[len(p.N)-1]
	inRow, outRow := row, row
	if p.Kind.realOutput() {
		inRow = row/2 + 1
	}
	if p.Kind.realInput() {
		outRow = row/2 + 1
	}
	inLayout, outLayout := p.In, p.Out
	if p.In.Embed == nil || p.Out.Embed == nil {
		inLayout, outLayout = p.basic(inRow), p.basic(outRow)
	}
	return p.side(inLayout, inRow, p.Kind.realInput()), p.side(outLayout, outRow, p.Kind.realOutput())
}

// side returns where the elements lie that have a layout and a size of rows.
func (p *Plan) side(l Layout, row int, real bool) side {
	s := side{n: [...]int{1, 1, 1}, dist: l.Dist, batch: p.Batch, element: p.Kind.elementBytes(real)}
	lead := maxRank - len(p.N)
	copy(s.n[lead:], p.N)
	s.n[maxRank-1] = row
	step := product{value: l.Stride}
	for i := maxRank - 1; i >= lead; i-- {
		if i < maxRank-1 {
			step.mul(l.Embed[i+1-lead])
		}
		s.step[i] = step.value
	}
	s.overflow = step.overflow
	return s
}

// last returns the index of the last element.
func (s *side) last() product {
	last := product{overflow: s.overflow}
	last.add(s.batch-1, s.dist)
	for i, n := range s.n {
		last.add(n-1, s.step[i])
	}
	return last
}

// fits reports whether all elements can be addressed.
func (s *side) fits() bool {
	size := s.last()
	size.add(1, 1)
	size.mul(s.element)
	return !size.overflow
}

// bytes returns the number of bytes from the first element to the end of the last one.
func (s *side) bytes() int { return (s.last().value + 1) * s.element }

// product is the result of an arithmetic expression of numbers from 0.
type product struct {
	value    int
	overflow bool // the result does not fit an int
}

// mul multiplies p by n.
func (p *product) mul(n int) {
	hi, lo := bits.Mul(uint(p.value), uint(n))
	if hi != 0 || lo > math.MaxInt {
		p.overflow = true
	}
	p.value = int(lo)
}

// add adds n*m to p.
func (p *product) add(n, m int) {
	t := product{value: n, overflow: p.overflow}
	t.mul(m)
	if t.value > math.MaxInt-p.value {
		t.overflow = true
	}
	t.value += p.value
	*p = t
}

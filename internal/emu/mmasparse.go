package emu

import (
	"fmt"

	"heddle/internal/emu/alu"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// What mma has besides A, B and C: the metadata of a sparse A (PTX ISA 9.7.14.6), and of one of a
// warpgroup (9.7.15.6, with the same figures for each warp), of which half of the elements are zero
// and the others in registers, and the factors by which blocks of A and B are scaled (9.7.14.3).
//
// The ISA has the place of metadata in figures. Here four bits describe a chunk of columns of one
// row, and the chunks of a row are from the low bits upwards. With elements of 16 and 32 bits, the
// lower half of a register is for row g of the group of lanes 4g to 4g+3, the upper half for row
// g+8, and a second lane has the second half of the columns. With smaller elements a register is
// for one row, and the lane behind it for row g+8; the next two lanes have the second half of the
// columns. That is how CUTLASS arranges metadata (host_reorder.h, mma_traits_sm120_sparse.hpp,
// mma_traits_sm90_gmma_sparse.hpp), and shapes of half the columns have the first half.

// sparsity is how a matrix A is sparse.
type sparsity struct {
	chunk    int  // columns that four bits of metadata describe
	count    int  // chunks of a row
	increase bool // the two indices must be in increasing order
	halves   bool // a register has metadata of two rows
	lanes    int  // lanes of a group of four that have metadata
	selector int  // which of them, in groups of so many lanes
	reg      int  // the register with metadata among those that the lanes provide
	section  string
}

// newSparsity returns the layout of the metadata of a form. For elements of 8 bits in floating point
// the text lists ordered indices only, for all forms.
func newSparsity(f *isa.MMAForm) *sparsity {
	s := &sparsity{chunk: f.Granularity(), section: "9.7.14.6.1"}
	s.count = f.K / s.chunk
	switch f.A {
	case "f16", "bf16", "tf32":
		s.halves, s.lanes, s.increase = true, s.count/4, f.Ordered
	case "s8", "u8", "s4", "u4":
		s.lanes, s.increase = s.count/4, f.Ordered
	default:
		s.lanes, s.increase = s.count/4, true
	}
	return s
}

// at returns the lane with the metadata of a chunk of a row, and its lowest bit.
func (s *sparsity) at(row, chunk int) (lane, bit int) {
	lane = row%8*4 + s.selector*s.lanes
	if s.halves {
		return lane + chunk/4, 4*(chunk%4) + row/8*16
	}
	return lane + row/8 + chunk/8*2, 4 * (chunk % 8)
}

// indices returns the metadata of a chunk: the places of two elements, pairs or halves of elements.
func (s *sparsity) indices(regs []alu.Lanes, row, chunk int) (low, high int) {
	lane, bit := s.at(row, chunk)
	v := regs[s.reg][lane] >> bit
	return int(v & 3), int(v >> 2 & 3)
}

// meaningful reports whether the ISA gives indices a meaning. The halves of an element of .tf32 are
// next to each other.
func (s *sparsity) meaningful(low, high int) bool {
	switch {
	case s.chunk == 2:
		return low%2 == 0 && high == low+1
	case s.increase:
		return low < high
	}
	return low != high
}

// expand writes the stored elements of a matrix A of m rows to their columns.
func expand[T int64 | float64](s *sparsity, m int, to, stored []T, regs []alu.Lanes) {
	clear(to)
	for row := range m {
		for c := range s.count {
			low, high := s.indices(regs, row, c)
			at := row*s.count + c
			spread(s.chunk, to[at*s.chunk:], stored[at*s.chunk/2:], low, high)
		}
	}
}

// spread writes the stored elements of a chunk of columns to the places of its metadata.
func spread[T int64 | float64](chunk int, out, in []T, low, high int) {
	switch chunk {
	case 2:
		out[low/2] = in[0]
	case 4:
		out[low], out[high] = in[0], in[1]
	case 8:
		out[2*low], out[2*low+1] = in[0], in[1]
		out[2*high], out[2*high+1] = in[2], in[3]
	}
}

// left returns the dense matrix A.
func left[T int64 | float64](p *product, to, half *matrixOf[T], regs []alu.Lanes,
	read func(v uint64) T) []T {
	if p.sparse == nil {
		return gather(to, &p.a, regs, read)
	}
	a := to.sized(p.m * p.k)
	expand(p.sparse, p.m, a, gather(half, &p.a, regs, read), regs)
	return a
}

// scaling is how blocks of A and B are scaled.
type scaling struct {
	vector int // factors of a row of A, and of a column of B
	read   func(v uint64) float64
	reg    int // the first of six registers: the factors of A, byte and thread selectors, those of B
}

// The registers of a scaling, counted from reg.
const (
	scaleData   = 0
	scaleByte   = 1
	scaleThread = 2
	scaleOfB    = 3 // the same three for B
)

// selectors returns the byte and the thread from which factors come, of A or, at scaleOfB, of B.
func (s *scaling) selectors(regs []alu.Lanes, of int) (firstByte, thread int) {
	return int(regs[s.reg+of+scaleByte][0] & 0xffff), int(regs[s.reg+of+scaleThread][0] & 0xffff)
}

// factor returns factor i of those in a lane.
func (s *scaling) factor(regs []alu.Lanes, of, lane, firstByte, i int) float64 {
	return s.read(regs[s.reg+of+scaleData][lane] >> (8 * (firstByte + i)) & 0xff)
}

// applyScale multiplies the blocks of rows of A and columns of B by their factors, which is exact.
// Of a group of four lanes 4g to 4g+3, a pair has the factors of the rows g and g+8, and one lane
// those of column g (PTX ISA 9.7.14.3).
func (p *product) applyScale(a, b []float64, regs []alu.Lanes) {
	s := p.scale
	if s == nil {
		return
	}
	block := p.k / s.vector
	first, thread := s.selectors(regs, 0)
	for row := range p.m {
		for i := range s.vector {
			f := s.factor(regs, 0, row%8*4+2*thread+row/8, first, i)
			scaleAll(a[row*p.k+i*block:][:block], f)
		}
	}
	first, thread = s.selectors(regs, scaleOfB)
	for col := range p.n {
		for i := range s.vector {
			scaleAll(b[col*p.k+i*block:][:block], s.factor(regs, scaleOfB, col*4+thread, first, i))
		}
	}
}

// scaleAll multiplies numbers by a factor.
func scaleAll(list []float64, f float64) {
	for i := range list {
		list[i] *= f
	}
}

// extras is the number of operands behind C.
func (p *product) extras() int {
	n := 0
	if p.sparse != nil {
		n += 2
	}
	if p.scale != nil {
		n += 4
	}
	return n
}

// productExtras decodes the operands behind C, and adds those that are registers to from.
func (c *compiler) productExtras(in *ir.Instr, p *product, from []src) ([]src, error) {
	rest := in.Src[3:]
	if s := p.sparse; s != nil {
		meta, err := c.elements(rest[0], 1, isa.B32)
		if err != nil {
			return nil, fmt.Errorf("%w: the metadata", err)
		}
		choices := 4 / s.lanes
		if rest[1].Kind != ir.Imm || rest[1].Val >= uint64(choices) {
			return nil, fmt.Errorf("%s: the sparsity selector is a constant from 0 to %d (PTX ISA "+
				"9.7.14.6.1)", opcodeText(in), choices-1)
		}
		s.selector, s.reg = int(rest[1].Val), len(from)
		from, rest = append(from, meta...), rest[2:]
	}
	if s := p.scale; s != nil {
		s.reg = len(from)
		for i, name := range []string{"a", "b"} {
			data, err := c.elements(rest[2*i], 1, isa.B32) // CUTLASS writes a list
			if err != nil {
				return nil, fmt.Errorf("%w: scale-%s-data", err, name)
			}
			list, err := c.elements(rest[2*i+1], 2, isa.U16)
			if err != nil {
				return nil, fmt.Errorf("%w: {byte-id-%s, thread-id-%s}", err, name, name)
			}
			from = append(append(from, data...), list...)
		}
	}
	return from, nil
}

// undefined says what makes the product undefined, with the lane where that is; "" if nothing does.
func (p *product) undefined(regs []alu.Lanes) (lane int, why string) {
	if s := p.sparse; s != nil {
		for row := range p.m {
			for chunk := range s.count {
				if low, high := s.indices(regs, row, chunk); !s.meaningful(low, high) {
					l, bit := s.at(row, chunk)
					return l, fmt.Sprintf("bits %d to %d of the metadata in lane %d are 0b%04b, which "+
						"makes the result undefined (PTX ISA %s)", bit, bit+3, l, high<<2|low, s.section)
				}
			}
		}
	}
	if p.scale != nil {
		return p.scale.undefined(regs)
	}
	return 0, ""
}

// undefined says which selector has a value that table 37 of the ISA does not have.
func (s *scaling) undefined(regs []alu.Lanes) (lane int, why string) {
	step := s.vector // from one byte to the next that may be the first
	for _, c := range []struct {
		name    string
		reg     int
		last    uint64
		between uint64
	}{
		{"byte-id-a", scaleByte, uint64(4 - step), uint64(step)},
		{"thread-id-a", scaleThread, 1, 1},
		{"byte-id-b", scaleOfB + scaleByte, uint64(4 - step), uint64(step)},
		{"thread-id-b", scaleOfB + scaleThread, 3, 1},
	} {
		list := &regs[s.reg+c.reg]
		for l, v := range list {
			v &= 0xffff
			switch {
			case v != list[0]&0xffff:
				return l, fmt.Sprintf("%s is %d in lane %d and %d in lane 0; one value is expected",
					c.name, v, l, list[0]&0xffff)
			case v > c.last || v%c.between != 0:
				return l, fmt.Sprintf("%s is %d, which makes the result undefined (PTX ISA 9.7.14.3, "+
					"table 37)", c.name, v)
			}
		}
	}
	return 0, ""
}

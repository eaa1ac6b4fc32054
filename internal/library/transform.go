package library

import (
	"fmt"

	"heddle/internal/library/fft"
	"heddle/internal/order"
)

// transform is an execution of a plan of cuFFT. The arguments are the plan: type, rank, three
// sizes, the layouts of input and output, the size of the batch; whether it is the inverse
// transform; input and output.
func transform(c *call) error {
	p := &fft.Plan{Kind: fft.Kind(c.next())}
	rank := c.size()
	for i := range 3 {
		if n := c.size(); i < rank {
			p.N = append(p.N, n)
		}
	}
	p.In, p.Out = c.layout(rank), c.layout(rank)
	p.Batch = c.size()
	inverse := c.next() != 0
	in, out := c.next(), c.next()
	if c.err != nil {
		return c.err
	}
	if in == out {
		p = p.InPlace()
	}
	if err := p.Check(); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	from := c.whole("the input", reads, in, p.InBytes(), p.InRanges)
	to := c.whole("the output", writes, out, p.OutBytes(), p.OutRanges)
	if c.err != nil {
		return c.err
	}
	p.Transform(from, to, inverse)
	return nil
}

// layout takes how the elements of one side of a transform lie in memory.
func (c *call) layout(rank int) fft.Layout {
	given := c.next() != 0
	var l fft.Layout
	for i := range 3 {
		if n := c.size(); given && i < rank {
			l.Embed = append(l.Embed, n)
		}
	}
	l.Stride, l.Dist = c.size(), c.size()
	return l
}

// whole returns n bytes of which a function accesses the ranges that each yields, as offsets.
func (c *call) whole(name string, how access, addr uint64, n int,
	each func(yield func(from, to int) bool)) []byte {
	c.aligned(name, how, addr, R32F)
	if c.err != nil {
		return nil
	}
	b, err := c.memory.Bytes(addr, uint64(n))
	if err != nil {
		c.fail(&OperandError{Operand: name, Writes: how&writes != 0, Err: err})
		return nil
	}
	list := &c.read
	if how == writes {
		list = &c.written
	}
	for from, to := range each {
		*list = append(*list, order.Range{From: addr + uint64(from), To: addr + uint64(to)})
	}
	return b
}

package event

import "math/bits"

// Footprint is a set of 16-byte chunks of shared memory: what a matrix operation reads of a matrix
// whose descriptor it has (PTX ISA 9.7.15.5.1.2). It does not change once an event has it.
type Footprint struct {
	Parts []FootprintPart // by ascending Base
}

// FootprintPart are the chunks of a footprint in FootprintSize bytes from Base, a multiple of it.
type FootprintPart struct {
	Base   uint64
	Chunks Chunks
}

// Chunks has a bit for each 16 bytes of FootprintSize bytes.
type Chunks [FootprintSize / 16 / 64]uint64

// FootprintSize is the size of a part of a footprint in bytes.
const FootprintSize = 4096

// Add puts the chunk with byte addr into the set.
func (f *Footprint) Add(addr uint64) {
	base, n := addr&^(FootprintSize-1), addr%FootprintSize/16
	i := len(f.Parts)
	for i > 0 && f.Parts[i-1].Base > base {
		i--
	}
	if i == 0 || f.Parts[i-1].Base != base {
		f.Parts = append(f.Parts, FootprintPart{})
		copy(f.Parts[i+1:], f.Parts[i:])
		f.Parts[i] = FootprintPart{Base: base}
		i++
	}
	f.Parts[i-1].Chunks[n/64] |= 1 << (n % 64)
}

// Join adds the chunks of g.
func (f *Footprint) Join(g *Footprint) {
	for i := range g.Parts {
		g.Parts[i].Chunks.each(func(lo, hi uint64) {
			for a := lo; a < hi; a += 16 {
				f.Add(g.Parts[i].Base + a)
			}
		})
	}
}

// Bounds returns the first byte of the set and the one behind its last; 0 and 0 if it is empty.
func (f *Footprint) Bounds() (lo, hi uint64) {
	if len(f.Parts) == 0 {
		return 0, 0
	}
	first, last := &f.Parts[0], &f.Parts[len(f.Parts)-1]
	lo, _ = first.Bounds()
	_, hi = last.Bounds()
	return lo, hi
}

// Bounds returns the first byte of the chunks and the one behind the last.
func (p *FootprintPart) Bounds() (lo, hi uint64) {
	lo, hi = FootprintSize, 0
	p.Chunks.each(func(a, b uint64) { lo, hi = min(lo, a), max(hi, b) })
	return p.Base + lo, p.Base + hi
}

// Each calls visit for each run of chunks that follow each other, with their first byte and the one
// behind the last.
func (p *FootprintPart) Each(visit func(lo, hi uint64)) {
	p.Chunks.each(func(lo, hi uint64) { visit(p.Base+lo, p.Base+hi) })
}

// each is Each with offsets.
func (c *Chunks) each(visit func(lo, hi uint64)) {
	for i := uint64(0); i < FootprintSize/16; {
		w := c[i/64] >> (i % 64)
		if w == 0 {
			i = (i/64 + 1) * 64
			continue
		}
		i += uint64(bits.TrailingZeros64(w))
		n := i
		for n < FootprintSize/16 && c[n/64]>>(n%64)&1 != 0 {
			n++
		}
		visit(i*16, n*16)
		i = n
	}
}

// First returns the first byte of the chunks within [lo, hi), offsets into the part; false if there
// is none.
func (c *Chunks) First(lo, hi uint64) (uint64, bool) {
	for i := lo / 16; i*16 < hi; i++ {
		if c[i/64]>>(i%64)&1 != 0 {
			return max(lo, i*16), true
		}
	}
	return 0, false
}

// Covers reports whether c contains all chunks of d.
func (c *Chunks) Covers(d *Chunks) bool {
	for i := range d {
		if d[i]&^c[i] != 0 {
			return false
		}
	}
	return true
}

// Common returns the chunks that are in both.
func (c *Chunks) Common(d *Chunks) (out Chunks) {
	for i := range d {
		out[i] = c[i] & d[i]
	}
	return out
}

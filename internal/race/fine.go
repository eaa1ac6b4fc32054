package race

import (
	"math/bits"
	"unsafe"
)

// Fine pages: rows of bytes or of 2 bytes in the place of rows of words, for arrays of characters
// and of half precision. A page is fine while every access to it is of one such size and forms runs.
// Any other access first turns it into cells of bytes with the same contents.

// fine holds the rows of a page, each of 32 elements.
type fine struct {
	shift uint8 // log2 of the bytes of an element: 0 or 1
	rows  []row
}

// fineRow returns the row of an element of less than 4 bytes, and which element of the row it is;
// nil if the page is not kept by elements of this size.
func (d *Detector) fineRow(p *page, addr uint64, size uint8) (rw *row, element uint32) {
	shift := uint8(bits.TrailingZeros8(size))
	if p.sync != nil || p.fine != nil && p.fine.shift != shift {
		return nil, 0
	}
	if p.fine == nil {
		if p.coarse || p.split != nil {
			return nil, 0
		}
		p.fine = d.newFine(shift)
	}
	at := uint32(addr%(1<<pageShift)) >> shift
	return &p.fine.rows[at/rowWords], at % rowWords
}

// newFine returns empty rows for elements of 1<<shift bytes.
func (d *Detector) newFine(shift uint8) *fine {
	if spare := &d.spareFine[shift]; len(*spare) > 0 {
		f := (*spare)[len(*spare)-1]
		*spare = (*spare)[:len(*spare)-1]
		return f
	}
	f := &fine{shift: shift, rows: make([]row, 1<<pageShift>>shift/rowWords)}
	d.bytes += uint64(unsafe.Sizeof(*f)) + uint64(len(f.rows))*uint64(unsafe.Sizeof(row{}))
	return f
}

// coarsePage is page for accesses to cells.
func (d *Detector) coarsePage(m *memory, addr uint64) *page {
	p := d.page(m, addr)
	if p.fine != nil {
		d.coarsen(m, p)
	}
	return p
}

// coarsen replaces the rows of a fine page by cells of bytes.
func (d *Detector) coarsen(m *memory, p *page) {
	f := p.fine
	if p.split == nil {
		d.splitPage(p)
	}
	for i := range f.rows {
		rw := &f.rows[i]
		// each calls visit with the cells and the entries of all elements of some runs.
		each := func(list []run, visit func(*cell, entry)) {
			for _, e := range list {
				for t := e.words; t != 0; t &= t - 1 {
					element := uint32(bits.TrailingZeros32(t)) & 31
					at := (uint32(i)*rowWords + element) << f.shift
					s := p.split[at/4]
					if s == nil {
						s = d.splitWord(p, at/4)
					}
					for k := range uint32(1) << f.shift {
						visit(&s[(at+k)%4], e.entry(element))
					}
				}
			}
		}
		each(d.runsOf(&rw.w), func(c *cell, e entry) { c.w = e })
		each(d.runsOf(&rw.r), func(c *cell, e entry) { d.putRead(m, &c.r, e) })
	}
	d.dropFine(p)
	p.coarse = true
}

// dropFine recycles the storage of the rows of a fine page.
func (d *Detector) dropFine(p *page) {
	if p.fine == nil {
		return
	}
	for i := range p.fine.rows {
		rw := &p.fine.rows[i]
		d.dropRuns(&rw.w)
		d.dropRuns(&rw.r)
		rw.nc = 0
	}
	spare := &d.spareFine[p.fine.shift]
	*spare = append(*spare, p.fine)
	p.fine = nil
}

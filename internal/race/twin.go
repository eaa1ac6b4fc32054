package race

// Twins: two words that have only been accessed together, by accesses of 8 bytes or more, share one
// cell, that of the lower word. This halves the work and the lists of kernels in double precision.
// The first access that does not cover both words separates them.

type twins [pageWords / 128]uint64 // one bit for each pair

// together reports whether the pair of words that begins with word, an even one, shares a cell. If
// the words have the same history, they share one from now on.
func (d *Detector) together(m *memory, p *page, word uint32) bool {
	bit := uint64(1) << (word / 2 % 64)
	if p.twin[word/128]&bit != 0 {
		return true
	}
	a, b := d.cell(m, p, word), d.cell(m, p, word+1)
	if *a != *b || a.w.many() || a.r.many() {
		return false
	}
	p.twin[word/128] |= bit
	p.twins = true
	return true
}

// part gives the words of a pair separate cells.
func (d *Detector) part(m *memory, p *page, word uint32) {
	word &^= 1
	bit := uint64(1) << (word / 2 % 64)
	if p.twin[word/128]&bit == 0 {
		return
	}
	p.twin[word/128] &^= bit
	a := d.cell(m, p, word)
	*d.cell(m, p, word+1) = cell{d.clone(m, a.w), d.clone(m, a.r)}
}

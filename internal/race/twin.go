package race

// Twins: two words that have only been accessed together, by accesses of 8 bytes or more, have one
// cell, that of the lower word. Kernels in double precision need half the work and half the lists
// so. The first access that does not cover both words parts them.

type twins [pageWords / 128]uint64 // one bit for each pair

// together returns whether the pair of words that begins with word, an even one, has one cell. If
// its words have the same history, it has from now on.
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

// part gives the words of a pair cells of their own.
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

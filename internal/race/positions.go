package race

// positions finds the entries of a warp in a long list: a table of all warps that every thread of a
// launch reads would otherwise be searched from end to end for each of them. Entries that are
// appended are taken in at the next search; whatever moves entries drops the index.
type positions struct {
	table []uint32 // by hash of the warp: 1 + the position of its last entry; 0: none
	prev  []uint32 // by position: 1 + that of the warp's entry before it; 0: none
}

// Lists are searched from the end, from some length on with a guess, and from another one on by an
// index.
const (
	minSearched = 8
	minIndexed  = 64
)

// index returns the index of one part of the list.
func (s *search) index(strong bool) *positions {
	p := &s.weak
	if strong {
		p = &s.strong
	}
	if *p == nil {
		*p = new(positions)
	}
	return *p
}

// slot returns where the table has the last entry of a warp, or where that belongs.
func (p *positions) slot(list []entry, warp uint32) *uint32 {
	mask := uint32(len(p.table) - 1)
	// Fibonacci hashing: neighbouring warps are spread.
	for i := warp * 0x9e3779b1 >> 7; ; i++ {
		at := &p.table[i&mask]
		if *at == 0 || list[*at-1].warp == warp {
			return at
		}
	}
}

// extend takes in the entries at the end of the list that are not in the index. It returns by how
// many bytes the index has grown.
func (p *positions) extend(list []entry) (grown uint64) {
	if len(p.prev) == len(list) {
		return 0
	}
	if 2*len(list) > len(p.table) {
		was := len(p.table) + cap(p.prev)
		n := max(len(p.table), 2*minIndexed)
		for n < 4*len(list) {
			n *= 2
		}
		p.table, p.prev = make([]uint32, n), make([]uint32, 0, n/2)
		grown = uint64(4 * (n + n/2 - was))
	}
	for i := len(p.prev); i < len(list); i++ {
		at := p.slot(list, list[i].warp)
		p.prev = append(p.prev, *at)
		*at = uint32(i + 1)
	}
	return grown
}

// last returns the position of the last entry of a warp, and before that of the entry of the same
// warp before it; -1 if there is none.
func (p *positions) last(list []entry, warp uint32) int { return int(*p.slot(list, warp)) - 1 }

func (p *positions) before(i int) int { return int(p.prev[i]) - 1 }

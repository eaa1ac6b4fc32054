package order

import (
	"cmp"
	"math/bits"
	"slices"
)

// Touched collects the bytes that an operation accesses, while it runs: a bit for each word of 4
// bytes of the pages that are accessed, and one for each byte of pages in which some access is no
// whole word. The zero value is empty. It is used by one goroutine at a time.
type Touched struct {
	// Fenced is Work.Fenced.
	Fenced bool
	// Origins keeps for each word and kind of access where the program last made such an access:
	// Origin, which is the caller's number of the place of the accesses that are marked next.
	Origins bool
	Origin  uint32

	table  []*touchedPage // open addressing by number; a power of two, at most half full
	list   []*touchedPage // those of the table
	spare  []*touchedPage
	recent [recentPages]*touchedPage // of the table, each at its number modulo recentPages
}

const (
	recentPages = 16
	firstTable  = 64
	wordBytes   = 4
	pageWords   = pageBytes / wordBytes
)

// touchedPage is what of a page has been accessed, by Access.
type touchedPage struct {
	number uint64
	any    [accesses]bool
	words  [accesses][pageWords / 64]uint64
	bytes  *[accesses][pageBytes / 64]uint64 // in the place of words; nil: all accesses are of words
	// of the last access of each word, valid where a bit of the word is set
	origins [accesses]*[pageWords]uint32
}

// Mark adds an access to n bytes at an address.
func (t *Touched) Mark(a Access, addr, n uint64) {
	// Most accesses of a warp are words of a page that was accessed before, in one element of its
	// bits.
	number, in := addr/pageBytes, addr%pageBytes
	if p := t.recent[number%recentPages]; p != nil && p.number == number && p.bytes == nil &&
		(in|n)%wordBytes == 0 && in/wordBytes%64+n/wordBytes <= 64 && n > 0 && !t.Origins {
		p.any[a] = true
		p.words[a][in/wordBytes/64] |= (1<<(n/wordBytes) - 1) << (in / wordBytes % 64)
		return
	}
	for n > 0 {
		in := addr % pageBytes
		k := min(n, pageBytes-in)
		p := t.page(addr / pageBytes)
		p.mark(a, in, k)
		if t.Origins {
			p.from(a, in, k, t.Origin)
		}
		addr, n = addr+k, n-k
	}
}

// page returns the page with a number.
func (t *Touched) page(number uint64) *touchedPage {
	var p *touchedPage
	if len(t.table) > 0 {
		p = *t.slot(number)
	}
	if p == nil {
		p = t.add(number)
	}
	t.recent[number%recentPages] = p
	return p
}

// slot returns the place of a page in the table, or where it would be.
func (t *Touched) slot(number uint64) **touchedPage {
	mask := uint64(len(t.table) - 1)
	for i := number * 0x9e3779b97f4a7c15 >> 32; ; i++ {
		if s := &t.table[i&mask]; *s == nil || (*s).number == number {
			return s
		}
	}
}

// add adds a page that the table does not have.
func (t *Touched) add(number uint64) *touchedPage {
	if 2*len(t.list) >= len(t.table) {
		t.table = make([]*touchedPage, max(firstTable, 2*len(t.table)))
		for _, p := range t.list {
			*t.slot(p.number) = p
		}
	}
	p := new(touchedPage)
	if n := len(t.spare); n > 0 {
		p, t.spare = t.spare[n-1], t.spare[:n-1]
		*p = touchedPage{origins: p.origins} // valid where bits are set
	}
	p.number = number
	*t.slot(number) = p
	t.list = append(t.list, p)
	return p
}

// mark adds an access to n bytes at an offset.
func (p *touchedPage) mark(a Access, at, n uint64) {
	p.any[a] = true
	if p.bytes == nil && (at|n)%wordBytes == 0 {
		setBits(p.words[a][:], at/wordBytes, n/wordBytes)
		return
	}
	p.split()
	setBits(p.bytes[a][:], at, n)
}

// from notes the origin of an access to n bytes at an offset.
func (p *touchedPage) from(a Access, at, n uint64, origin uint32) {
	words := p.origins[a]
	if words == nil {
		words = new([pageWords]uint32)
		p.origins[a] = words
	}
	for i := at / wordBytes; i <= (at+n-1)/wordBytes; i++ {
		words[i] = origin
	}
}

// split lets a page count bytes.
func (p *touchedPage) split() {
	if p.bytes != nil {
		return
	}
	p.bytes = new([accesses][pageBytes / 64]uint64)
	for a := range p.words {
		for r := range runs(p.words[a][:]) {
			setBits(p.bytes[a][:], r.From*wordBytes, (r.To-r.From)*wordBytes)
		}
	}
}

// setBits sets n bits from at on.
func setBits(words []uint64, at, n uint64) {
	first, last := at/64, (at+n-1)/64
	from, to := ^uint64(0)<<(at%64), ^uint64(0)>>(63-(at+n-1)%64)
	if first == last {
		words[first] |= from & to
		return
	}
	words[first] |= from
	for i := first + 1; i < last; i++ {
		words[i] = ^uint64(0)
	}
	words[last] |= to
}

// runs yields the runs of bits that are set.
func runs(words []uint64) func(yield func(Range) bool) {
	return func(yield func(Range) bool) {
		var r Range
		for i, w := range words {
			for at := uint64(0); w>>at != 0; {
				at += uint64(bits.TrailingZeros64(w >> at))
				n := uint64(bits.TrailingZeros64(^(w >> at)))
				from := uint64(i)*64 + at
				if from != r.To {
					if r.To > 0 && !yield(r) {
						return
					}
					r.From = from
				}
				r.To = from + n
				if at += n; at == 64 {
					break
				}
			}
		}
		if r.To > 0 {
			yield(r)
		}
	}
}

// Add adds everything that o has.
func (t *Touched) Add(o *Touched) {
	t.Fenced = t.Fenced || o.Fenced
	for _, q := range o.list {
		p := t.page(q.number)
		if q.bytes != nil {
			p.split()
		} else if p.bytes != nil {
			q.split()
		}
		for a, any := range q.any {
			switch {
			case !any:
				continue
			case q.bytes != nil:
				for i, w := range q.bytes[a] {
					p.bytes[a][i] |= w
				}
			default:
				for i, w := range q.words[a] {
					p.words[a][i] |= w
				}
			}
			p.any[a] = true
			if t.Origins {
				p.takeOrigins(q, Access(a))
			}
		}
	}
}

// takeOrigins notes the origins of the accesses of another page with the same number.
func (p *touchedPage) takeOrigins(q *touchedPage, a Access) {
	words, unit := q.words[a][:], uint64(wordBytes)
	if q.bytes != nil {
		words, unit = q.bytes[a][:], 1
	}
	for r := range runs(words) {
		for at := r.From * unit; at < r.To*unit; at = (at/wordBytes + 1) * wordBytes {
			origin := uint32(0)
			if q.origins[a] != nil {
				origin = q.origins[a][at/wordBytes]
			}
			p.from(a, at, 1, origin)
		}
	}
}

// Reset empties t and keeps its memory.
func (t *Touched) Reset() {
	t.Fenced = false
	t.spare = append(t.spare, t.list...)
	t.list = t.list[:0]
	clear(t.table)
	clear(t.recent[:])
}

// maxRanges bounds the ranges of one operation: 64 MiB of them.
const maxRanges = 1 << 22

// Accesses returns what has been accessed. ok is false if the bytes lie in too many separate
// places.
func (t *Touched) Accesses() (out Accesses, ok bool) {
	slices.SortFunc(t.list, func(a, b *touchedPage) int { return cmp.Compare(a.number, b.number) })
	n := 0
	for _, p := range t.list {
		for a := range accesses {
			if p.any[a] {
				n += p.ranges(&out[a], a)
			}
		}
		if n > maxRanges {
			return Accesses{}, false
		}
	}
	return out, true
}

// ranges appends the ranges of a page to a list, whose last one may continue, and returns how many
// it has appended.
func (p *touchedPage) ranges(to *[]Range, a Access) int {
	words, unit := p.words[a][:], uint64(wordBytes)
	if p.bytes != nil {
		words, unit = p.bytes[a][:], 1
	}
	base, list := p.number*pageBytes, *to
	before := len(list)
	for r := range runs(words) {
		r = Range{base + r.From*unit, base + r.To*unit}
		if n := len(list); n > 0 && list[n-1].To == r.From {
			list[n-1].To = r.To
			continue
		}
		list = append(list, r)
	}
	*to = list
	return len(list) - before
}

// Piece is a range of bytes that are accessed in one way from one place.
type Piece struct {
	Range
	Access Access
	Origin uint32
}

// Pieces returns what has been accessed, with its origins. It ascends in each page. ok is false if
// the bytes lie in too many separate places.
func (t *Touched) Pieces() (out []Piece, ok bool) {
	slices.SortFunc(t.list, func(a, b *touchedPage) int { return cmp.Compare(a.number, b.number) })
	for _, p := range t.list {
		for a := range accesses {
			if p.any[a] {
				out = p.pieces(out, a)
			}
		}
		if len(out) > maxRanges {
			return nil, false
		}
	}
	return out, true
}

// pieces appends the accessed ranges of a page, divided where the origin changes.
func (p *touchedPage) pieces(out []Piece, a Access) []Piece {
	var list []Range
	p.ranges(&list, a)
	base := p.number * pageBytes
	for _, r := range list {
		for at := r.From; at < r.To; {
			origin := p.originAt(a, at-base)
			end := min(r.To, at/wordBytes*wordBytes+wordBytes)
			for end < r.To && p.originAt(a, end-base) == origin {
				end = min(r.To, end+wordBytes)
			}
			out = append(out, Piece{Range{at, end}, a, origin})
			at = end
		}
	}
	return out
}

// originAt returns the origin of the access of the word at an offset.
func (p *touchedPage) originAt(a Access, at uint64) uint32 {
	if p.origins[a] == nil {
		return 0
	}
	return p.origins[a][at/wordBytes]
}

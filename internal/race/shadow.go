package race

import (
	"iter"
	"math/bits"
	"unsafe"

	"heddle/internal/event"
)

// Shadow memory (Barracuda §4.3.3): for each aligned word its last writes and its last reads. A
// word that is accessed in smaller pieces is split into bytes. The emulator enforces natural
// alignment, so every access of 4 bytes or more covers complete words, and two overlapping accesses
// of equal size have equal addresses.

// entry is a set of accesses with one epoch: the lanes of mask of one warp, at clock clk, at one
// site. A mask of 0 is no access: with clk 0 the entry is empty, with clk 1 it refers to a list,
// whose number is in warp.
type entry struct {
	warp, clk, mask, site uint32
}

func (e *entry) empty() bool { return e.mask == 0 && e.clk == 0 }
func (e *entry) many() bool  { return e.mask == 0 && e.clk != 0 }

// cell is the shadow of a word or a byte.
type cell struct {
	w, r entry
}

// list is the inflated form of one side of a cell. Strong accesses of one class are kept apart:
// they do not race with each other, so that a million atomics on one counter are appended and never
// searched.
type list struct {
	weak   []entry
	strong []entry
	class  class // of all of strong; mixedClass if they differ
	// a strong write that is not an atomic followed another strong one: see observed.go
	broken bool
	// length at which the list is compacted: of weak, and a quarter of the length of strong
	limit  int
	search *search // nil: the list is short
}

// search helps to find the entry of a warp in a list.
type search struct {
	last         [32]uint16 // where the last one may be, by the low bits of the warp
	most         uint32     // no warp in weak is above it
	weak, strong *positions // nil: not needed so far
}

// moved drops what depends on the positions of entries, because these have changed.
func (l *list) moved() {
	if l.search != nil {
		l.search.weak, l.search.strong = nil, nil
	}
}

// listChunk is the number of lists that are allocated first. Each later piece has twice as many as
// the one before, so that nothing is copied when there are more.
const listChunk = 16

// list returns the list with a number.
func (d *Detector) list(no uint32) *list {
	n := no + listChunk
	chunk := bits.Len32(n/listChunk) - 1
	return &d.lists[chunk][n-listChunk<<chunk]
}

const (
	pageShift = 10 // bytes of memory in a page
	pageWords = 1 << (pageShift - 2)
)

// page is the shadow of 1 KiB.
type page struct {
	rows   [pageRows]row
	twin   twins
	twins  bool                    // some bit of twin may be set
	split  *[pageWords]*[4]cell    // words that are kept by byte; nil if none is
	fine   *fine                   // instead of rows: see fine.go
	coarse bool                    // rows may have been used
	sync   *[pageWords / 64]uint64 // words that have taken part in a release; nil if none has
	vals   *[1 << pageShift]byte   // last values of weak writes; kept for event.BenignAll only
	// for Options.Exchanges; nil if there are none
	strong *[pageWords]uint32      // first location of exchange.go in each word
	atomic *[pageWords / 64]uint64 // words that are targets of atomics
}

// synchronizes reports whether a word has taken part in a release.
func (p *page) synchronizes(word uint32) bool {
	return p.sync != nil && p.sync[word/64]>>(word%64)&1 != 0
}

// memory is the shadow of one space, or of one block's shared memory. Groups of pages are found by
// a map; a direct-mapped cache in front of it answers nearly every lookup.
type memory struct {
	groups map[uint64]*pageGroup
	hot    [64]struct {
		no uint64
		g  *pageGroup
	}
	async *ranges  // pieces that bulk operations access; nil if there are none
	lists []uint32 // numbers of all lists that it ever used, for release
	free  []uint32 // the lists that are not in use
}

// pageGroup is the pages of 64 KiB, by number; nil before their first use.
type pageGroup [groupPages]*page

const groupPages = 64

func newMemory() *memory { return &memory{groups: make(map[uint64]*pageGroup)} }

// all returns the pages.
func (m *memory) all() iter.Seq[*page] {
	return func(yield func(*page) bool) {
		for _, g := range m.groups {
			for _, p := range g {
				if p != nil && !yield(p) {
					return
				}
			}
		}
	}
}

// pageAt returns the page with a number; nil before its first use.
func (m *memory) pageAt(no uint64) *page {
	if g := m.groups[no/groupPages]; g != nil {
		return g[no%groupPages]
	}
	return nil
}

// page returns the shadow page of an address, created on first use.
func (d *Detector) page(m *memory, addr uint64) *page {
	no := addr >> pageShift / groupPages
	h := &m.hot[no%uint64(len(m.hot))]
	if h.g == nil || h.no != no {
		if h.no, h.g = no, m.groups[no]; h.g == nil {
			h.g = new(pageGroup)
			m.groups[no] = h.g
			d.bytes += uint64(unsafe.Sizeof(pageGroup{}))
		}
	}
	p := &h.g[addr>>pageShift%groupPages]
	if *p == nil {
		*p = d.newPage()
	}
	return *p
}

// The numbers of pages, and of inflated rows, that are allocated at once.
const (
	slabPages = 8
	slabRows  = 8
)

func (d *Detector) newPage() *page {
	if n := len(d.spare); n > 0 {
		p := d.spare[n-1]
		d.spare = d.spare[:n-1]
		clear(p.rows[:])
		p.split, p.sync, p.vals = nil, nil, nil
		p.fine, p.coarse = nil, false
		if p.atomic != nil {
			clear(p.atomic[:])
		}
		p.twin, p.twins = twins{}, false
		return p
	}
	if len(d.slab) == 0 {
		d.slab = make([]page, slabPages)
	}
	d.bytes += uint64(unsafe.Sizeof(page{}))
	p := &d.slab[0]
	d.slab = d.slab[1:]
	return p
}

// release recycles the pages and lists of a block's shared memory.
func (d *Detector) release(m *memory) {
	for p := range m.all() {
		if p.strong != nil {
			d.endExchanges(m, p)
		}
	}
	for p := range m.all() {
		d.releaseRows(p)
		d.spare = append(d.spare, p)
	}
	for _, i := range m.lists {
		d.list(i).reset()
		d.spareLists = append(d.spareLists, i)
	}
	for _, g := range m.groups { // the next block has pages at the same places
		*g = pageGroup{}
	}
	if m.async != nil {
		d.bytes -= m.async.bytes()
		m.async = nil
	}
	m.lists, m.free = m.lists[:0], m.free[:0]
	d.spareMemory = append(d.spareMemory, m)
}

// newList returns the number of an empty list.
func (d *Detector) newList(m *memory) uint32 {
	if n := len(m.free); n > 0 {
		i := m.free[n-1]
		m.free = m.free[:n-1]
		return i
	}
	var i uint32
	if n := len(d.spareLists); n > 0 {
		i = d.spareLists[n-1]
		d.spareLists = d.spareLists[:n-1]
	} else {
		i = d.listed
		if d.listed++; (i+listChunk)&(i+listChunk-1) == 0 { // the pieces so far are full
			d.bytes += uint64(i+listChunk) * uint64(unsafe.Sizeof(list{}))
			d.lists = append(d.lists, make([]list, i+listChunk))
		}
		d.list(i).reset()
	}
	if m != d.global {
		m.lists = append(m.lists, i)
	}
	return i
}

// dropList empties a list for its next use.
func (d *Detector) dropList(m *memory, i uint32) {
	d.list(i).reset()
	m.free = append(m.free, i)
}

// minLimit is the length at which a list is compacted first.
const minLimit = 16

// full reports whether the list should be compacted. Strong entries are only appended, so they wait
// longer.
func (l *list) full() bool { return len(l.weak) >= l.limit || len(l.strong) >= 4*l.limit }

func (l *list) reset() { *l = list{weak: l.weak[:0], strong: l.strong[:0], limit: minLimit} }

// Memory returns the bytes that the shadow memory takes, nearly: what was allocated and is used or
// kept for reuse. The clocks of the threads are not counted.
func (d *Detector) Memory() uint64 { return d.bytes }

// grown appends an entry to a list and counts the memory that this takes.
func (d *Detector) grown(es []entry, e entry) []entry {
	was := cap(es)
	if was == 0 {
		es = make([]entry, 0, 4) // a list has two entries from the beginning
	}
	es = append(es, e)
	d.bytes += uint64(cap(es)-was) * uint64(unsafe.Sizeof(e))
	return es
}

// memoryOf returns the shadow of the memory of an asynchronous operation or an mbarrier. What they
// do is not ordered by barriers alone, so that no reads of their block are deferred from now on.
func (d *Detector) memoryOf(space event.Space, b *block) *memory {
	if space == event.Shared {
		d.catchUp(b)
		b.quiet, b.never = false, true
	}
	return d.shadowOf(space, b)
}

// shadowOf returns the shadow of global memory or of the shared memory of a block.
func (d *Detector) shadowOf(space event.Space, b *block) *memory {
	if space != event.Shared {
		return d.global
	}
	if b.shared == nil {
		if n := len(d.spareMemory); n > 0 {
			b.shared = d.spareMemory[n-1]
			d.spareMemory = d.spareMemory[:n-1]
		} else {
			b.shared = newMemory()
		}
	}
	return b.shared
}

package race

import (
	"math/bits"
	"unsafe"

	"heddle/internal/event"
)

// Rows: the compact form of shadow memory, for what Barracuda §4.3.3 calls coalesced accesses, of
// which it keeps one record for a warp. The common access of a warp is one word, or a vector of
// words, for each lane, at neighbouring addresses. It is kept as one run for the 32 words of a row
// instead of 32 cells, and checked at once. The reads of a stencil, or of a texture, are such runs
// that begin anywhere, so that a part of each is in one row and the rest in the next. A row keeps
// this form while every access to it is a part of a run, plainly ordered with those before. Any
// other access first inflates the row into cells, which then hold exactly the contents of the runs;
// so the compact form alone only ever concludes "no race".

const (
	rowShift = 7 // bytes of memory in a row
	rowWords = 1 << (rowShift - 2)
	pageRows = 1 << (pageShift - rowShift)
	minRun   = 8 // words; shorter runs would make the lists of a row longer than those of its cells
	maxShort = 3 // after so many shorter runs the rest of the warp is handled by cell
)

// laneMap maps a word of a row to the lane that accesses it. The lane is the low 5 bits plus the
// number of the word shifted right by the bits above them: 0 for accesses of one word, 1 for two.
type laneMap uint32

func laneMapOf(lane, word, shift uint32) laneMap {
	return laneMap((lane-word>>shift)&31 | shift<<5)
}

func (m laneMap) lane(word uint32) uint32 { return (word>>(m>>5) + uint32(m)) & 31 }

// run is a set of accesses by one warp to words of a row, at one clock and site. A run without
// words is empty.
type run struct {
	warp, clk, words, site uint32
	lanes                  laneMap
}

// runs are the last writes, or the last reads, of a row: one, or a list. A word is in one run of
// writes at most.
type runs struct {
	one  [1]run
	list uint32 // number of the list that holds all; 0: none
}

// row is the shadow of 32 words.
type row struct {
	w, r   runs
	nc     uint32          // words of noncoherent reads: r has nothing else of them
	packed uint32          // number of the packed words; 0: none. Then the rest is empty
	cells  *[rowWords]cell // the row is inflated, and the rest is empty; else nil
}

func (d *Detector) runsOf(s *runs) []run {
	switch {
	case s.list != 0:
		return d.runs[s.list]
	case s.one[0].words == 0:
		return nil
	}
	return s.one[:]
}

// eachRun handles the parts of a weak access that form runs, and returns the remaining lanes. What
// counts is how many lanes follow each other, and not how many of them are in one row: the reads of
// a stencil are rows that begin anywhere.
func (d *Detector) eachRun(a *access) (left uint32) {
	shift := uint32(max(bits.TrailingZeros8(a.Size), 2)) - 2
	short := 0
	for m := a.Mask; m != 0; {
		l := uint32(bits.TrailingZeros32(m))
		n := a.following(l, uint32(bits.TrailingZeros32(^(m >> l))))
		lanes := uint32(1<<n-1) << l
		if n<<shift < minRun {
			if short++; short == maxShort {
				return left | m
			}
			left |= lanes
		} else {
			left |= d.eachPart(a, l, n, shift)
		}
		m &^= lanes
	}
	return left
}

// following returns how many lanes from l on, of at most top, access neighbouring elements.
func (a *access) following(l, top uint32) uint32 {
	addr, size, n := a.Addr[l&31], uint64(a.Size), uint32(1)
	if a.Row != 0 && a.Step == size {
		n = min(top, uint32(a.Row)-l%uint32(a.Row))
	}
	for n < top && a.Addr[(l+n)&31] == addr+uint64(n)*size {
		n++
	}
	return n
}

// eachPart handles n lanes from l on that access neighbouring elements, row by row, and returns
// those of rows that are kept in cells.
func (d *Detector) eachPart(a *access, l, n, shift uint32) (left uint32) {
	size, row := uint64(a.Size), uint64(1<<rowShift)
	if size < 4 {
		row = rowWords * size // see fine
	}
	for end := l + n; l < end; {
		addr := a.Addr[l&31]
		k := min(end-l, uint32((row-addr%row)/size))
		if !d.touchRun(a, addr, k<<shift, l, shift) {
			left |= uint32(1<<k-1) << l
		}
		l += k
	}
	return left
}

// touchRun is touch for a run of words from addr on, the first of which lane l accesses. If that
// needs cells it reports false and changes nothing.
func (d *Detector) touchRun(a *access, addr uint64, words, l, shift uint32) bool {
	p := d.page(a.mem, addr)
	rw, word := &p.rows[addr>>rowShift%pageRows], uint32(addr>>2)%rowWords
	if a.Size < 4 {
		if rw, word = d.fineRow(p, addr, a.Size); rw == nil {
			return false
		}
	} else {
		if rw.cells != nil || rw.packed != 0 || p.split != nil || p.sync != nil || p.fine != nil {
			return false
		}
		p.coarse = true
	}
	n := run{uint32(a.w.id), a.w.own[0], uint32(1<<words-1) << word, uint32(a.Site),
		laneMapOf(l, word, shift)}
	switch {
	case a.Proxy != event.GenericProxy:
		return d.fetchRun(a, rw, n)
	case !d.plain(a, &rw.w, &n):
		return false
	case !a.write:
		if n.words &^= rw.nc; n.words != 0 { // a noncoherent read subsumes it
			d.readRun(a, &rw.r, n)
		}
		return true
	case rw.nc&n.words != 0 || !d.plain(a, &rw.r, &n):
		return false
	}
	d.strip(&rw.r, n.words)
	d.strip(&rw.w, n.words)
	d.addRun(a, &rw.w, n)
	return true
}

// fetchRun records a read through another proxy, which races with every write: see
// loadNoncoherent.
func (d *Detector) fetchRun(a *access, rw *row, n run) bool {
	for _, e := range d.runsOf(&rw.w) {
		if e.words&n.words != 0 {
			return false
		}
	}
	if n.words &^= rw.nc; n.words == 0 {
		return true
	}
	if a.Proxy == event.FetchProxy {
		d.readRun(a, &rw.r, n)
		return true
	}
	n.clk = noncoherent
	d.strip(&rw.r, n.words)
	d.addRun(a, &rw.r, n)
	rw.nc |= n.words
	return true
}

// plain reports whether all runs that share words with n plainly happen before it.
func (d *Detector) plain(a *access, s *runs, n *run) bool {
	if s.list == 0 {
		return s.one[0].words&n.words == 0 || a.afterRun(&s.one[0], n.lanes)
	}
	for i := range d.runs[s.list] {
		if e := &d.runs[s.list][i]; e.words&n.words != 0 && !a.afterRun(e, n.lanes) {
			return false
		}
	}
	return true
}

// afterRun is plainlyAfter for runs: lanes that access by the same map are the same threads at each
// word.
func (a *access) afterRun(e *run, lanes laneMap) bool {
	w := a.w
	if e.warp == uint32(w.id) {
		return e.clk <= max(w.intra, w.blk) || e.lanes == lanes && !e.noncoherent()
	}
	v := e.warp - uint32(a.b.first)
	return v < uint32(len(a.b.warps)) && (e.clk <= w.blk || v < uint32(len(w.peers)) &&
		e.clk <= w.peers[v])
}

// readRun records a read: in place of the reads it subsumes, in the run of the same warp and clock,
// or as a new run.
func (d *Detector) readRun(a *access, s *runs, n run) {
	if s.list == 0 {
		e := &s.one[0]
		switch {
		case e.words&^n.words == 0 && (e.words == 0 || a.afterRun(e, n.lanes)):
			*e = n
		case !mergeRun(e, &n):
			d.addRun(a, s, n)
		}
		return
	}
	list := d.runs[s.list]
	for i := max(0, len(list)-4); i < len(list); i++ {
		if mergeRun(&list[i], &n) {
			return
		}
	}
	d.addRun(a, s, n)
}

// mergeRun adds the words of n to e if both are of one warp, clock, site and lane map.
func mergeRun(e, n *run) bool {
	if e.warp == n.warp && e.clk == n.clk && e.site == n.site && e.lanes == n.lanes {
		e.words |= n.words
		return true
	}
	return false
}

// strip removes words from all runs of a side.
func (d *Detector) strip(s *runs, words uint32) {
	if s.list == 0 {
		s.one[0].words &^= words
		return
	}
	list := d.runs[s.list]
	out := list[:0]
	for _, e := range list {
		if e.words &^= words; e.words != 0 {
			out = append(out, e)
		}
	}
	d.runs[s.list] = out
	if len(out) == 0 {
		d.dropRuns(s)
	}
}

// addRun appends a run.
func (d *Detector) addRun(a *access, s *runs, n run) {
	if s.list == 0 {
		if s.one[0].words == 0 {
			s.one[0] = n
			return
		}
		s.list = d.newRuns()
		d.runs[s.list] = append(d.runs[s.list], s.one[0])
		s.one[0] = run{}
	}
	list := d.runs[s.list]
	if len(list) >= minLimit && len(list) == cap(list) {
		list = d.compactRuns(a, list)
	}
	d.runs[s.list] = append(list, n)
}

// compactRuns drops runs subsumed by later accesses of the same threads at the same site, and runs
// known to every thread of the block. A list is compacted when it is full, so that what remains
// decides how far it grows.
func (d *Detector) compactRuns(a *access, list []run) []run {
	if len(list) <= 2*minLimit {
		return d.compactFewRuns(a, list)
	}
	covered := make(map[run]uint32, len(list)) // words that a later run subsumes
	keep := len(list)
	for i := len(list) - 1; i >= 0; i-- {
		e := list[i]
		if a.mem != d.global && e.clk <= a.b.floor {
			continue
		}
		key := run{warp: e.warp, site: e.site, lanes: e.lanes}
		was := covered[key]
		if e.words &^= was; e.words != 0 {
			covered[key] = was | e.words
			keep--
			list[keep] = e
		}
	}
	return append(list[:0], list[keep:]...)
}

// compactFewRuns is compactRuns for a short list, for which a map would cost more than it saves.
func (d *Detector) compactFewRuns(a *access, list []run) []run {
	keep := len(list)
	for i := len(list) - 1; i >= 0; i-- {
		e := list[i]
		if a.mem != d.global && e.clk <= a.b.floor {
			continue
		}
		for j := keep; j < len(list); j++ {
			if f := &list[j]; f.warp == e.warp && f.site == e.site && f.lanes == e.lanes {
				e.words &^= f.words
			}
		}
		if e.words != 0 {
			keep--
			list[keep] = e
		}
	}
	return append(list[:0], list[keep:]...)
}

func (d *Detector) newRuns() uint32 {
	if n := len(d.spareRuns); n > 0 {
		i := d.spareRuns[n-1]
		d.spareRuns = d.spareRuns[:n-1]
		return i
	}
	d.bytes += minLimit * uint64(unsafe.Sizeof(run{})) // more or less
	d.runs = append(d.runs, nil)
	return uint32(len(d.runs) - 1)
}

// dropRuns empties a side.
func (d *Detector) dropRuns(s *runs) {
	if s.list != 0 {
		d.runs[s.list] = d.runs[s.list][:0]
		d.spareRuns = append(d.spareRuns, s.list)
	}
	*s = runs{}
}

// cell returns the shadow of a single word. It inflates the row.
func (d *Detector) cell(m *memory, p *page, word uint32) *cell {
	p.coarse = true
	rw := &p.rows[word/rowWords]
	if rw.cells == nil {
		d.inflate(m, rw)
	}
	return &rw.cells[word%rowWords]
}

// inflate replaces the runs or packed words of a row by cells with the same contents.
func (d *Detector) inflate(m *memory, rw *row) {
	if n := len(d.spareCells); n > 0 {
		rw.cells = d.spareCells[n-1]
		d.spareCells = d.spareCells[:n-1]
		clear(rw.cells[:])
	} else {
		if len(d.slabCells) == 0 {
			d.slabCells = make([][rowWords]cell, slabRows)
		}
		rw.cells = &d.slabCells[0]
		d.slabCells = d.slabCells[1:]
		d.bytes += uint64(unsafe.Sizeof(*rw.cells))
	}
	if rw.packed != 0 {
		for i, e := range d.packedRow(rw.packed) {
			rw.cells[i].w = e.entry()
		}
		d.dropPacked(rw)
	}
	for _, e := range d.runsOf(&rw.w) {
		for t := e.words; t != 0; t &= t - 1 {
			i := uint32(bits.TrailingZeros32(t)) & 31
			rw.cells[i].w = e.entry(i)
		}
	}
	for _, e := range d.runsOf(&rw.r) {
		for t := e.words; t != 0; t &= t - 1 {
			i := uint32(bits.TrailingZeros32(t)) & 31
			d.putRead(m, &rw.cells[i].r, e.entry(i))
		}
	}
	d.dropRuns(&rw.w)
	d.dropRuns(&rw.r)
	rw.nc = 0
}

// noncoherent reports whether the run is one of reads that nothing orders before a write.
func (e *run) noncoherent() bool { return e.clk == noncoherent }

// entry returns the entry of one word of the run.
func (e *run) entry(word uint32) entry {
	return entry{e.warp, e.clk, 1 << e.lanes.lane(word), e.site}
}

// putRead adds an entry to the reads of a cell, as add does for a read that is concurrent with
// them.
func (d *Detector) putRead(m *memory, side *entry, e entry) {
	switch {
	case side.empty():
		*side = e
		return
	case !side.many():
		if merge(side, e) {
			return
		}
		old := *side
		*side = entry{warp: d.newList(m), clk: 1}
		d.list(side.warp).weak = append(d.list(side.warp).weak, old)
	}
	l := d.list(side.warp)
	for i := max(0, len(l.weak)-4); i < len(l.weak); i++ {
		if merge(&l.weak[i], e) {
			return
		}
	}
	l.weak = d.grown(l.weak, e)
	l.limit = max(l.limit, 2*len(l.weak))
}

// releaseRows recycles the storage of the rows of a page. Lists of cells are recycled through
// memory.lists.
func (d *Detector) releaseRows(p *page) {
	for i := range p.rows {
		rw := &p.rows[i]
		if rw.cells != nil {
			d.spareCells = append(d.spareCells, rw.cells)
		}
		d.dropRuns(&rw.w)
		d.dropRuns(&rw.r)
		d.dropPacked(rw)
	}
	d.dropFine(p)
}

// hasRuns reports whether an access may be handled in rows: a weak access by a warp with one clock.
func (d *Detector) hasRuns(a *access) bool {
	return a.class == 0 && a.w.even && d.opt.Benign != event.BenignAll &&
		(a.Proxy == event.GenericProxy || a.Proxy == event.TextureProxy ||
			a.Proxy == event.FetchProxy)
}

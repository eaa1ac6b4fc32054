package race

import (
	"math/bits"
	"unsafe"

	"heddle/internal/event"
)

// Bulk copies and reductions (PTX ISA 9.7.9.25.4, 8.9.1.1): agents that begin with what their
// thread knows at the issue, and whose accesses have the epoch of a component (component.go). Their
// accesses are pieces of memory, kept as such beside the shadow of words (ranges), which they do
// not change: an access through the generic proxy is checked against the pieces of its memory, and
// an operation against the pieces and the words.
//
// An operation replaces no access in the shadow: who is ordered behind it is not ordered behind
// what its thread did before. Its own pieces are replaced by those of a later operation of the same
// component.
//
// An access through the generic proxy must precede an operation twice: in base causality order, and
// with a proxy fence on the way (proxy.go). An operation precedes others by its completion alone,
// which is a proxy fence too (9.7.9.25.2).

// piece is what one operation reads or writes.
type piece struct {
	lo, hi uint64
	component
	value  uint32
	reduce uint8 // bytes of an element of a reduction; 0 of a copy
	// through the generic proxy: st.async and red.async
	generic bool
	thread  event.Thread
	site    uint32
	// of the read of a tensor map: the bulk group whose completion says that it was read
	also     *alternative
	readsMap bool
	// of a matrix operation: what it reads of [lo, hi), which are in one part; nil: all of it
	chunks *event.Chunks
	grid   *gridAccess // of a grid that a thread has launched; nil: of another operation
	copies source      // of a write: what it copies
}

// source identifies what a copy writes, for copies of one place by the lanes of one instruction: its
// source, and the epoch in which the thread issued it, in which nobody can have changed the source.
type source struct {
	from  event.Range
	epoch uint32
}

// same reports whether two copies write the same values to the same place, since the lanes of one
// instruction have issued them. All lanes of a warp store the tile in CUTLASS's epilogues.
func (p *piece) same(q *piece) bool {
	return p.copies == q.copies && p.copies.epoch != 0 && p.lo == q.lo && p.hi == q.hi &&
		p.site == q.site && p.thread.Warp() == q.thread.Warp()
}

// ranges are the pieces of a memory, by parts of it. A piece is in each part that it overlaps.
type ranges struct {
	parts map[uint64]*pieces
}

// bytes is the memory that the pieces take.
func (r *ranges) bytes() uint64 {
	n := 0
	for _, p := range r.parts {
		n += len(p.w) + len(p.r)
	}
	return uint64(n) * uint64(unsafe.Sizeof(piece{}))
}

const partShift = 12

// pieces holds the pieces that overlap 4 KiB of memory.
type pieces struct{ w, r []piece }

// piecesIn returns the pieces in one part of a memory, for adding some.
func (m *memory) piecesIn(no uint64) *pieces {
	if m.async == nil {
		m.async = &ranges{parts: make(map[uint64]*pieces)}
	}
	q := m.async.parts[no]
	if q == nil {
		q = new(pieces)
		m.async.parts[no] = q
	}
	return q
}

// bulkGroups are the components of the bulk groups of a warp's lanes.
type bulkGroups struct {
	closed     [event.WarpSize]uint32
	done, read event.Warp // for complete groups, and for those whose sources were read
}

// groups returns the bulk groups of a warp.
func (d *Detector) groupsOf(w *warp) *bulkGroups {
	if w.bulk == nil {
		w.bulk = &bulkGroups{done: d.comps.nextOf(w.id), read: d.comps.nextOf(w.id)}
	}
	return w.bulk
}

// Bulk checks the accesses that an operation will make, and records them.
func (d *Detector) Bulk(e *event.Bulk) {
	if d.opt.Execution {
		if !e.Grouped {
			var touches []event.Peer
			if e.From.Space == event.Shared {
				touches = append(touches, 0)
			}
			if e.To.Space == event.Shared {
				touches = append(touches, e.To.Peer)
			}
			d.phaseAgent(e.ID, e.Warp, e.Mask, e.Site, e.Addr, e.Object(), false, touches...)
		}
		return
	}
	w, b := d.warpOf(e.Warp)
	l := lowestLane(e.Mask)
	if d.dependent != nil {
		for _, r := range append([]event.Range{e.From, e.To}, e.Rows...) {
			if r.Space == event.Global && r.Size > 0 {
				d.beforeWait(w, b, e.Site, e.Mask, func(int) uint64 { return r.Addr }, r.Size,
					e.To.Space == event.Global)
			}
		}
		if e.Map.Size > 0 {
			d.beforeWait(w, b, e.Site, e.Mask, func(int) uint64 { return e.Map.Addr }, e.Map.Size, false)
		}
	}
	d.learnBulk(e)
	from := piece{thread: event.ThreadOf(e.Warp, l), site: uint32(e.Site)}
	to := from
	if e.Grouped {
		g := d.groupsOf(w)
		value := firstValue + g.closed[l] + 1
		from.component, from.value = component{g.read, uint8(l)}, value
		to.component, to.value = component{g.done, uint8(l)}, value
	} else if m := d.homeOf(e.Object(), b).objects[e.Addr]; m != nil {
		s := d.freeSlot(m)
		m.slots[s].busy = true
		m.slots[s].value++
		from.component, from.value = m.slots[s].component, m.slots[s].value
		to.component, to.value = from.component, from.value
		d.addOperation(e.ID, operation{m: m, slot: s, done: to.component.value(to.value), by: b,
			home: d.homeOf(e.Object(), b)})
	}
	to.reduce, to.generic = e.Reduce, e.Generic
	if e.Reduce == 0 && d.opt.Benign != event.BenignNone {
		to.copies = source{e.From, w.own[l]}
	}
	start := agentStart{w: w, b: b, lane: l, knows: d.clock(w, b, l), generic: e.Generic}
	d.addPiece(&start, from, e.From, false)
	d.addPiece(&start, to, e.To, true)
	d.readMap(&start, from, e)
	for _, r := range e.Rows {
		if e.To.Space == event.Global {
			d.addPiece(&start, to, r, true)
		} else {
			d.addPiece(&start, from, r, false)
		}
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// learnBulk records the properties of the site.
func (d *Detector) learnBulk(e *event.Bulk) {
	a := event.Access{Site: e.Site, Kind: event.Write, Proxy: event.AsyncProxy, Size: 4}
	if e.Reduce > 0 {
		a.Kind, a.Order, a.Scope = event.Reduce, event.Relaxed, event.GPU
	}
	if e.Generic {
		a.Proxy, a.Scope = event.GenericProxy, min(a.Scope, event.Cluster)
	}
	d.learnSite(&a)
	s := &d.sites[e.Site]
	s.async, s.to = true, e.To.Space
}

// agentStart is the beginning of an operation.
type agentStart struct {
	w     *warp
	b     *block
	lane  int
	knows *know  // base causality
	home  *block // whose shared memory a matrix operation reads; nil: that of b
	// its accesses are through the generic proxy
	generic bool
	fence   *fenced
	// it reads a tensor map now, and what precedes that (mapproxy.go)
	readsMap  bool
	fencedMap *know
}

// addPiece checks and records one piece of an operation.
func (d *Detector) addPiece(s *agentStart, p piece, r event.Range, write bool) {
	if r.Size == 0 {
		return
	}
	p.lo, p.hi = r.Addr, r.Addr+r.Size
	if write && r.Space == event.Global && d.opt.Objects != nil {
		d.writes(p.lo >> d.opt.Objects.Shift)
	}
	home := d.homeOf(r.Peer, s.b)
	mem := d.memoryOf(r.Space, home)
	kind := event.Read
	if write {
		kind = event.Write
		if p.reduce > 0 {
			kind = event.Reduce
		}
	}
	d.copying = event.Access{Warp: s.w.id, Site: event.Site(p.site), Mask: 1 << s.lane, Kind: kind,
		Space: r.Space, Proxy: event.AsyncProxy, Size: 4, Addr: &d.elementAddr}
	switch {
	case s.generic:
		d.copying.Proxy = event.GenericProxy
	case s.readsMap:
		d.copying.Proxy = event.TensorMapProxy
	}
	a := access{Access: &d.copying, w: s.w, b: s.b, home: home, mem: mem, write: write, special: true,
		bulk: true}
	check := agentCheck{d: d, start: s, access: &a}
	d.eachShadow(mem, p.lo, p.hi, write, func(e entry, at uint64) { check.entry(e, at) })
	for no := p.lo >> partShift; no <= (p.hi-1)>>partShift; no++ {
		q := mem.piecesIn(no)
		lo, hi := max(p.lo, no<<partShift), min(p.hi, (no+1)<<partShift)
		for i := range q.w {
			d.checkPieces(s, &a, &q.w[i], &p, lo, hi)
		}
		if !write {
			q.r = d.keep(s.b, mem, q.r, p)
			continue
		}
		for i := range q.r {
			d.checkPieces(s, &a, &q.r[i], &p, lo, hi)
		}
		q.w = d.keep(s.b, mem, q.w, p)
	}
}

// agentCheck checks an operation against the entries of words. Neighbouring words have entries of
// the same epochs, by the same lanes or by others of a warp that has executed a fence as a whole:
// each epoch is checked once.
type agentCheck struct {
	d       *Detector
	start   *agentStart
	access  *access
	ordered [event.WarpSize]entry
}

// entry checks one entry, at a word or byte.
func (c *agentCheck) entry(e entry, at uint64) {
	same := &c.ordered[e.warp%event.WarpSize]
	if same.warp != e.warp || same.clk != e.clk {
		*same = entry{warp: e.warp, clk: e.clk, mask: c.d.wholeOrdered(c.start, e, c.access)}
	}
	if e.mask&^same.mask != 0 && c.d.checkAgent(c.start, c.access, e, at) {
		same.mask |= e.mask
	}
}

// keep adds a piece to a list: in the place of an earlier one of the same component, or at the end.
func (d *Detector) keep(b *block, mem *memory, list []piece, p piece) []piece {
	for i := len(list) - 1; i >= max(0, len(list)-64); i-- {
		o := &list[i]
		if o.component == p.component && o.site == p.site && p.covers(o) && o.reduce == p.reduce &&
			p.grid.same(o.grid) {
			*o = p
			return list
		}
	}
	if n := len(list); mem != d.global && !d.clustered && n >= 64 && n&(n-1) == 0 {
		list = d.forgetPieces(b, list)
	}
	d.bytes += uint64(unsafe.Sizeof(p))
	return append(list, p)
}

// forgetPieces drops the pieces whose completion every thread of the block knows that has not
// ended: no later access of these threads can race with them.
func (d *Detector) forgetPieces(b *block, list []piece) []piece {
	out := list[:0]
	for _, p := range list {
		known := true
		for i := range b.warps {
			w := &b.warps[i]
			for m := d.lanesOf(w.id) &^ w.gone; m != 0 && known; m &= m - 1 {
				known = p.known(w.beyond(bits.TrailingZeros32(m)), p.value)
			}
		}
		if !known {
			out = append(out, p)
		}
	}
	d.bytes -= uint64(len(list)-len(out)) * uint64(unsafe.Sizeof(piece{}))
	return out
}

// atomic reports whether two operations are reductions that do not race: relaxed ones of elements
// of one size, "performed via the same proxy" (PTX ISA 8.7.1). Elements are aligned to their size.
func (p *piece) atomic(q *piece) bool {
	return p.reduce > 0 && p.reduce == q.reduce && p.generic == q.generic
}

// checkPieces checks an operation against an earlier one, in [lo, hi).
func (d *Detector) checkPieces(s *agentStart, a *access, old, p *piece, lo, hi uint64) {
	at, both := old.common(p, lo, hi)
	switch {
	case !both || old.atomic(p):
	case a.write && old.same(p):
		d.tolerate(a.Space)
	case old.grid != nil || p.grid != nil:
		d.checkGridPieces(s, a, old, p, at)
	case s.readsMap && old.known(s.fencedMap, old.value):
	case !old.known(s.knows, old.value):
		d.mapRead = old.readsMap
		d.agentRace(a, old.site, old.thread, at, NotWaited)
		d.mapRead = false
	case s.readsMap:
		d.agentRace(a, old.site, old.thread, at, NoMapFence)
	case old.generic && !s.generic && !old.known(d.fencedOf(s, a), old.value):
		d.agentRace(a, old.site, old.thread, at, NoProxyFence)
	}
}

// agentRace records a race of an operation with an earlier access, at one place.
func (d *Detector) agentRace(a *access, site uint32, first event.Thread, at uint64, cause Cause) {
	l := lowestLane(a.Mask)
	d.elementAddr[l] = at
	d.race(a, event.Site(site), first, at, 1<<l, cause)
}

// wholeOrdered returns all lanes of the warp of an entry, if an access by any of them in this epoch
// is ordered before the operation, with a fence of its own; else 0.
func (d *Detector) wholeOrdered(s *agentStart, e entry, a *access) uint32 {
	w := event.Warp(e.warp)
	if e.concurrent() || w >= d.comps.first || s.readsMap {
		return 0
	}
	log := d.proxies[w]
	e.mask = d.lanesOf(w)
	if log == nil || !s.knows.covers(w, e.mask, e.clk) || !log.covered(s.knows, e, a) {
		return 0
	}
	return e.mask
}

// checkAgent checks an operation against an earlier access through another proxy, at a word or
// byte, and reports whether there is no finding.
func (d *Detector) checkAgent(s *agentStart, a *access, e entry, at uint64) bool {
	if s.readsMap {
		return d.checkMapEntry(s, a, e, at)
	}
	if e.clk != noncoherent && e.clk < pending && s.knows.covers(event.Warp(e.warp), e.mask, e.clk) {
		if s.generic { // both through one proxy
			return true
		}
		ordered, late := d.proxyOrdered(s, e, a)
		switch {
		case !ordered:
			d.agentRace(a, e.site, event.ThreadOf(d.real(e.warp), lowestLane(e.mask)), at, NoProxyFence)
		case late:
			d.agentRace(a, e.site, event.ThreadOf(d.real(e.warp), lowestLane(e.mask)), at, LateProxyFence)
		}
		return ordered && !late
	}
	cause := Unordered
	other := lowestLane(e.mask)
	switch {
	case e.clk == noncoherent:
		cause = OtherProxy
	case e.concurrent():
		cause = NotWaited
	default:
		other = firstUnknown(s.knows, e)
	}
	d.agentRace(a, e.site, event.ThreadOf(d.real(e.warp), other), at, cause)
	return false
}

// meetAsync checks an access through the generic proxy against the operations on its memory.
func (d *Detector) meetAsync(a *access) {
	if a.mem.async == nil || d.meetAsOne(a) {
		return
	}
	part := ^uint64(0)
	var q *pieces
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		lo, hi := a.Addr[l], a.Addr[l]+uint64(a.Size)
		// An access is aligned to its size, so that it is in one part.
		if no := lo >> partShift; no != part {
			part, q = no, a.mem.async.parts[no]
		}
		if q == nil {
			continue
		}
		for i := range q.w {
			d.meetPiece(a, &q.w[i], l, lo, hi)
		}
		if a.write {
			for i := range q.r {
				d.meetPiece(a, &q.r[i], l, lo, hi)
			}
		}
	}
}

// meetAsOne is meetAsync for lanes whose accesses are all in one part of memory. It reports whether
// they are.
func (d *Detector) meetAsOne(a *access) bool {
	lo, hi := ^uint64(0), uint64(0)
	for m := a.Mask; m != 0; m &= m - 1 {
		at := a.Addr[bits.TrailingZeros32(m)&31]
		lo, hi = min(lo, at), max(hi, at+uint64(a.Size))
	}
	if hi == 0 || lo>>partShift != (hi-1)>>partShift {
		return false
	}
	q := a.mem.async.parts[lo>>partShift]
	if q == nil {
		return true
	}
	d.meetPieces(a, q.w, lo, hi)
	if a.write {
		d.meetPieces(a, q.r, lo, hi)
	}
	return true
}

// meetPieces checks all lanes of an access, whose bytes are in [lo, hi), against some operations.
func (d *Detector) meetPieces(a *access, list []piece, lo, hi uint64) {
	for i := range list {
		p := &list[i]
		if lo >= p.hi || p.lo >= hi ||
			a.w.lane == nil && a.Proxy != event.TextureProxy && p.known(a.w.ext, p.value) {
			continue
		}
		for m := a.Mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			d.meetPiece(a, p, l, a.Addr[l], a.Addr[l]+uint64(a.Size))
		}
	}
}

// meetPiece checks one lane's access against one operation.
func (d *Detector) meetPiece(a *access, p *piece, l int, lo, hi uint64) {
	at, both := p.within(lo, hi)
	if !both {
		return
	}
	cause := NotWaited
	switch {
	case a.Proxy == event.TextureProxy: // ordered with no write of the kernel
		cause = OtherProxy
	case p.known(a.w.beyond(l), p.value):
		return
	case p.grid != nil:
		d.meetGrid(a, p, l, at)
		return
	}
	d.mapRead = p.readsMap
	d.race(a, event.Site(p.site), p.thread, at&^3, 1<<l, cause)
	d.mapRead = false
}

// BulkGroup closes bulk groups, or lets the lanes know that their groups are complete.
func (d *Detector) BulkGroup(e *event.BulkGroup) {
	if d.opt.Execution {
		d.pass(e.Warp, e.Active)
		return
	}
	w, _ := d.warpOf(e.Warp)
	g := d.groupsOf(w)
	for m := e.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		switch {
		case e.Commit:
			g.closed[l]++
		case g.closed[l] > e.Pending:
			value := firstValue + g.closed[l] - e.Pending
			k := component{g.read, uint8(l)}.value(value)
			if !e.Reads {
				k = join(k, component{g.done, uint8(l)}.value(value))
			}
			w.learn(1<<l, k, d.lanesOf(w.id))
		}
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// eachShadow visits the last accesses of the bytes in [lo, hi): the writes, and the reads too if
// reads is set. at is the first byte of a place that both have in common.
func (d *Detector) eachShadow(m *memory, lo, hi uint64, reads bool, visit func(e entry,
	at uint64)) {
	for no := lo >> pageShift; no <= (hi-1)>>pageShift; no++ {
		p := m.pageAt(no)
		if p == nil {
			continue
		}
		base := no << pageShift
		from, to := max(lo, base)-base, min(hi, base+1<<pageShift)-base
		if f := p.fine; f != nil {
			d.eachFine(f, base, from, to, reads, visit)
			continue
		}
		for i := from >> rowShift; i <= (to-1)>>rowShift; i++ {
			if p.rows[i].packed != 0 {
				d.inflate(m, &p.rows[i])
			}
			d.eachRowEntry(p, base, i, from, to, reads, visit)
		}
	}
}

// eachFine is eachShadow for a page of elements of less than 4 bytes.
func (d *Detector) eachFine(f *fine, base, from, to uint64, reads bool, visit func(entry, uint64)) {
	size := uint64(1) << f.shift
	for i := range f.rows {
		start := uint64(i) * rowWords * size
		if start >= to || start+rowWords*size <= from {
			continue
		}
		d.eachRunEntry(&f.rows[i], base+start, size, base+from, base+to, reads, visit)
	}
}

// eachRunEntry visits the runs of a row whose elements have size bytes.
func (d *Detector) eachRunEntry(rw *row, start, size, lo, hi uint64, reads bool,
	visit func(entry, uint64)) {
	each := func(list []run) {
		for _, e := range list {
			for t := e.words; t != 0; t &= t - 1 {
				n := uint32(bits.TrailingZeros32(t)) & 31
				at := start + uint64(n)*size
				if at < hi && at+size > lo {
					visit(e.entry(n), max(at, lo))
				}
			}
		}
	}
	each(d.runsOf(&rw.w))
	if reads {
		each(d.runsOf(&rw.r))
	}
}

// eachRowEntry visits one row of words of a page.
func (d *Detector) eachRowEntry(p *page, base, i, from, to uint64, reads bool,
	visit func(entry, uint64)) {
	rw := &p.rows[i]
	if rw.cells == nil && p.split == nil {
		d.eachRunEntry(rw, base+i<<rowShift, 4, base+from, base+to, reads, visit)
		return
	}
	for word := i << (rowShift - 2); word < (i+1)<<(rowShift-2); word++ {
		at := word << 2
		if at >= to || at+4 <= from {
			continue
		}
		if p.split != nil && p.split[word] != nil {
			for k := range uint64(4) {
				if at+k >= from && at+k < to {
					d.eachCellEntry(&p.split[word][k], base+at+k, reads, visit)
				}
			}
			continue
		}
		if rw.cells == nil {
			d.eachRunWord(rw, uint32(word%rowWords), base+max(at, from), reads, visit)
			continue
		}
		first := word
		if p.twins && p.twin[word/128]&(1<<(word/2%64)) != 0 {
			first = word &^ 1 // the cell of both words
		}
		d.eachCellEntry(&rw.cells[first%rowWords], base+max(at, from), reads, visit)
	}
}

// eachRunWord visits the runs that hold one word of a row.
func (d *Detector) eachRunWord(rw *row, word uint32, at uint64, reads bool, visit func(entry,
	uint64)) {
	for _, e := range d.runsOf(&rw.w) {
		if e.words>>word&1 != 0 {
			visit(e.entry(word), at)
		}
	}
	if !reads {
		return
	}
	for _, e := range d.runsOf(&rw.r) {
		if e.words>>word&1 != 0 {
			visit(e.entry(word), at)
		}
	}
}

// eachCellEntry visits the accesses of a cell.
func (d *Detector) eachCellEntry(c *cell, at uint64, reads bool, visit func(entry, uint64)) {
	each := func(e entry) { visit(e, at) }
	if !c.w.empty() {
		d.eachEntry(&c.w, each)
	}
	if reads && !c.r.empty() {
		d.eachEntry(&c.r, each)
	}
}

package race

import (
	"math/bits"
	"unsafe"

	"heddle/internal/event"
)

// class holds the properties that decide whether two overlapping strong accesses are morally
// strong, apart from their threads: 0 for a weak access, else scope, proxy and size.
type class uint32

const mixedClass class = ^class(0)

func classOf(order event.Order, scope event.Scope, proxy event.Proxy, size uint8) class {
	if !order.Strong() {
		return 0
	}
	// The threads are those of one GPU: its scope reaches all that .sys reaches. So a volatile load,
	// whose scope is .sys, is of the class of the atomics that it polls.
	return class(min(scope, event.GPU))<<16 | class(proxy)<<8 | class(size)
}

func (c class) scope() event.Scope { return event.Scope(c >> 16) }

// wide reports whether two accesses of this class are morally strong regardless of their threads.
func (c class) wide() bool { return c != 0 && c != mixedClass && c.scope() >= event.GPU }

// siteInfo is what all accesses of a site have in common.
type siteInfo struct {
	known bool
	// it issues asynchronous copies: its access to the memory to is a write, and to other memory a
	// read
	async bool
	to    event.Space
	fails bool // it is a compare-and-swap that did not write at least once
	polls bool // see Options
	kind  event.Kind
	order event.Order
	scope event.Scope
	proxy event.Proxy
	size  uint8
	class class
}

// access is one event while it is being checked.
type access struct {
	*event.Access
	w      *warp
	b      *block
	mem    *memory
	home   *block  // whose shared memory it is in; nil: b
	copied *copied // of which it is a part; nil: in program order
	as     *entry  // the entry to record; nil: of its lanes
	class  class
	write  bool
	// not in the generic proxy, or of an asynchronous copy
	special bool
	bulk    bool // of a bulk operation
}

// homeID returns the number of the block in whose shared memory the access is.
func (a *access) homeID() uint32 {
	if a.home != nil {
		return a.home.id
	}
	return a.b.id
}

// Access checks and records the accesses of one instruction by the lanes of a warp.
func (d *Detector) Access(e *event.Access) {
	if d.opt.Execution {
		if d.clustered {
			d.observe(e)
		} else {
			d.pass(e.Warp, e.Active)
		}
		return
	}
	if e.Orders != event.OrdersAll && !d.ordered(e.Orders) {
		d.relaxed = *e
		d.relaxed.Order = event.Relaxed
		e = &d.relaxed
	}
	if n := e.Elements(); n > 1 {
		for i := range n {
			e.Element(i, &d.element, &d.elementAddr)
			d.scalar(&d.element)
		}
	} else {
		d.scalar(e)
	}
	if d.opt.Model == event.Lockstep {
		w, _ := d.warpOf(e.Warp)
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// scalar is Access for one element.
func (d *Detector) scalar(e *event.Access) {
	w, b := d.warpOf(e.Warp)
	if e.Space == event.Shared && d.defers(e, w, b) {
		return
	}
	if d.opt.Objects != nil && e.Space == event.Global && d.leavesOut(e) {
		return
	}
	home := d.homeOf(e.Peer, b)
	a := &d.current
	*a = access{Access: e, w: w, b: b, home: home, mem: d.shadowOf(e.Space, home),
		write: e.Kind.Writes(), special: e.Proxy != event.GenericProxy}
	a.class = d.learnSite(e)
	if d.dependent != nil && e.Space == event.Global {
		d.beforeWait(w, b, e.Site, e.Mask, func(l int) uint64 { return e.Addr[l] }, uint64(e.Size),
			a.write)
	}
	if a.class != 0 {
		d.each(a, d.eachAtomic(a))
	} else {
		d.weak(a)
	}
	if a.mem.async != nil {
		d.meetAsync(a)
	}
	if a.class != 0 {
		d.exchange(a)
	}
	if e.Order.Strong() && !d.opt.Static && !d.quiet(a) {
		d.strongAccess(a)
	}
}

// weak handles the lanes of a weak access.
func (d *Detector) weak(a *access) {
	e := a.Access
	left := e.Mask
	switch {
	case e.Row > 1 && e.Step == 0 && !a.write:
		d.eachRow(a)
		return
	case d.hasRuns(a) && (!a.write || e.Row == event.WarpSize && e.Step == uint64(e.Size) ||
		ascending(e)):
		left = d.eachRun(a)
	}
	d.each(a, left)
}

// each handles lanes that have nothing in common.
func (d *Detector) each(a *access, lanes uint32) {
	switch {
	case lanes == 0:
	case ascending(a.Access):
		d.eachLane(a, lanes)
	default:
		d.eachGroup(a, lanes)
	}
}

// learnSite records the properties of the site at its first access, and returns its class.
func (d *Detector) learnSite(e *event.Access) class {
	for int(e.Site) >= len(d.sites) {
		d.sites = append(d.sites, siteInfo{})
	}
	s := &d.sites[e.Site]
	if !s.known {
		*s = siteInfo{known: true, kind: e.Kind, order: e.Order, scope: e.Scope, proxy: e.Proxy,
			size: e.Size, class: classOf(e.Order, e.Scope, e.Proxy, e.Size)}
		s.polls = d.exchanges != nil && d.opt.Polls != nil && e.Kind == event.Read && d.opt.Polls(e.Site)
	}
	s.fails = s.fails || e.Kind == event.Atomic && e.Stored != e.Mask
	return s.class
}

// ascending reports whether the addresses rise from lane to lane, so that no two are equal.
func ascending(a *event.Access) bool {
	last := uint64(0)
	for i, m := 0, a.Mask; m != 0; m &= m - 1 {
		x := a.Addr[bits.TrailingZeros32(m)&31]
		if i > 0 && x <= last {
			return false
		}
		last = x
		i++
	}
	return true
}

// eachLane handles lanes whose addresses are all different, one lane at a time. The page of the
// previous lane is reused, since neighbouring lanes rarely leave it.
func (d *Detector) eachLane(a *access, lanes uint32) {
	var p *page
	no := ^uint64(0)
	quick := d.quickly(a)
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		addr := a.Addr[l]
		if a.Size != 4 {
			d.touchRange(a, addr, 1<<l)
			continue
		}
		if addr>>pageShift != no {
			no = addr >> pageShift
			p = d.page(a.mem, addr)
		}
		if p.split != nil || p.sync != nil || p.twins || p.fine != nil {
			d.touchRange(a, addr, 1<<l)
			continue
		}
		word := uint32(addr>>2) % pageWords
		if quick && a.write && d.pack(a, p, word, l) {
			continue
		}
		c := d.cell(a.mem, p, word)
		if !quick || !a.quick(c, 1<<l) {
			d.touch(a, c, p, addr, 4, 1<<l)
		}
	}
}

// eachRow handles reads in which the lanes of each row have one address.
func (d *Detector) eachRow(a *access) {
	n := int(a.Row)
	for l := 0; l < event.WarpSize; l += n {
		d.touchRange(a, a.Addr[l], uint32(1<<n-1)<<l)
	}
}

// eachGroup handles all lanes with one address together, so that an entry of the shadow covers
// them.
func (d *Detector) eachGroup(a *access, lanes uint32) {
	for left := lanes; left != 0; {
		addr := a.Addr[bits.TrailingZeros32(left)&31]
		mask := uint32(0)
		for m := left; m != 0; m &= m - 1 {
			if u := bits.TrailingZeros32(m) & 31; a.Addr[u] == addr {
				mask |= 1 << u
			}
		}
		left &^= mask
		if a.write && mask&(mask-1) != 0 {
			d.sameInstruction(a, addr, mask)
		}
		d.touchRange(a, addr, mask)
	}
}

// touchRange visits the cells of one address: the common cell of two words that are twins, the cell
// of a word, or the cells of its bytes.
func (d *Detector) touchRange(a *access, addr uint64, mask uint32) {
	for at := addr &^ 3; at < addr+uint64(a.Size); at += 4 {
		p := d.coarsePage(a.mem, at)
		word := uint32(at>>2) % pageWords
		if a.Size >= 8 && word&1 == 0 && p.split == nil && p.sync == nil && d.together(a.mem, p, word) {
			d.touch(a, d.cell(a.mem, p, word), p, at, 8, mask)
			at += 4
			continue
		}
		if p.twins {
			d.part(a.mem, p, word)
		}
		if a.Size >= 4 && (p.split == nil || p.split[word] == nil) {
			d.touch(a, d.cell(a.mem, p, word), p, at, 4, mask)
		} else {
			d.touchBytes(a, p, word, at, addr, mask)
		}
		if a.write && p.synchronizes(word) && !a.Order.Strong() {
			d.breakChain(a, at, addr, place{})
		}
	}
}

// touchBytes visits the bytes of a word that is tracked by byte, and splits the word first if
// necessary.
func (d *Detector) touchBytes(a *access, p *page, word uint32, at, addr uint64, mask uint32) {
	if p.split == nil {
		d.splitPage(p)
	}
	s := p.split[word]
	if s == nil {
		s = d.splitWord(p, word)
		c := d.cell(a.mem, p, word)
		for i := range s {
			s[i].w, s[i].r = d.clone(a.mem, c.w), d.clone(a.mem, c.r)
		}
	}
	for i := max(at, addr); i < min(at+4, addr+uint64(a.Size)); i++ {
		d.touch(a, &s[i-at], p, i, 1, mask)
	}
}

// splitPage prepares a page for words that are kept by byte.
func (d *Detector) splitPage(p *page) {
	p.split = new([pageWords]*[4]cell)
	d.bytes += uint64(unsafe.Sizeof(*p.split))
}

// splitWord returns empty cells for the bytes of a word.
func (d *Detector) splitWord(p *page, word uint32) *[4]cell {
	s := new([4]cell)
	d.bytes += uint64(unsafe.Sizeof(*s))
	p.split[word] = s
	return s
}

// clone copies an entry; a list is copied into a new list.
func (d *Detector) clone(m *memory, e entry) entry {
	if !e.many() {
		return e
	}
	i := d.newList(m)
	src, dst := d.list(e.warp), d.list(i)
	dst.weak = append(dst.weak[:0], src.weak...)
	dst.strong = append(dst.strong[:0], src.strong...)
	dst.class, dst.limit, dst.broken = src.class, src.limit, src.broken
	return entry{warp: i, clk: 1}
}

// touch checks the access of the lanes of mask against one cell and records it there (figures 2 and
// 3).
func (d *Detector) touch(a *access, c *cell, p *page, at uint64, size uint8, mask uint32) {
	if d.quickly(a) && a.quick(c, mask) {
		return
	}
	t := touching{access: a, page: p, at: at, size: size, mask: mask}
	if a.Proxy != event.GenericProxy {
		d.loadNoncoherent(&t, c)
		return
	}
	if !c.w.empty() {
		d.checkSide(&t, &c.w)
	}
	if a.write {
		if !c.r.empty() {
			d.checkSide(&t, &c.r)
			d.dropReads(&t, &c.r)
		}
		if d.opt.Benign == event.BenignAll && t.class == 0 {
			t.mask = t.agreeing()
			d.recordWrite(&t, &c.w)
			d.keepValue(&t)
			return
		}
		d.recordWrite(&t, &c.w)
		return
	}
	d.record(&t, &c.r)
}

// quickly reports whether quick may handle the access.
func (d *Detector) quickly(a *access) bool {
	return a.class == 0 && a.w.even && !a.special && d.opt.Benign != event.BenignAll
}

// quick handles the common case: a weak access to a cell whose last accesses trivially happen
// before it, because a barrier is in between or because they belong to the same thread. It reports
// whether it handled the access.
func (a *access) quick(c *cell, mask uint32) bool {
	if !a.plainlyAfter(&c.w, mask) || !a.plainlyAfter(&c.r, mask) {
		return false
	}
	e := entry{uint32(a.w.id), a.w.own[0], mask, uint32(a.Site)}
	if a.write {
		c.w, c.r = e, entry{}
	} else {
		c.r = e
	}
	return true
}

// plainlyAfter reports whether e is empty, belongs to the same thread, or precedes the last barrier
// of the block. A false result means only that the full test must decide.
func (a *access) plainlyAfter(e *entry, mask uint32) bool {
	w := a.w
	switch {
	case e.mask == 0:
		return e.clk == 0
	case e.warp == uint32(w.id):
		return e.clk <= max(w.intra, w.blk) || e.mask == mask && mask&(mask-1) == 0 && e.clk < pending
	}
	v := e.warp - uint32(a.b.first)
	return v < uint32(len(a.b.warps)) && (e.clk <= w.blk || v < uint32(len(w.peers)) &&
		e.clk <= w.peers[v])
}

// touching is an access at one cell.
type touching struct {
	*access
	page *page
	at   uint64 // first byte of the cell
	size uint8  // bytes of the cell
	mask uint32
	kept []entry // tolerated writes of the same value, which are retained beside the new one
}

// checkSide checks t against all accesses of one side of the cell.
func (d *Detector) checkSide(t *touching, side *entry) {
	if !side.many() {
		d.checkEntry(t, *side)
		return
	}
	l := d.list(side.warp)
	for _, e := range l.weak {
		d.checkEntry(t, e)
	}
	if t.class != 0 && t.class == l.class && l.class.wide() {
		return // morally strong with all of them
	}
	if t.class == 0 && t.size == 4 && l.chain() && !d.opt.Static {
		d.checkChain(t, l.strong)
		return
	}
	for _, e := range l.strong {
		d.checkEntry(t, e)
	}
}

// checkEntry checks t against one entry. In order of cost, it asks whether happens-before orders
// them, whether they are morally strong, and whether they write the same value and Benign tolerates
// it.
func (d *Detector) checkEntry(t *touching, e entry) {
	racing, other := d.unordered(t, e)
	if racing == 0 {
		return
	}
	s := &d.sites[e.site]
	if t.class != 0 && s.class == t.class && d.reach(t, e) {
		return
	}
	if t.class != 0 && s.class != 0 && d.morallyStrong(t, e, lowestLane(racing), other) {
		return
	}
	if t.Kind == event.Write && s.kind == event.Write && t.class|s.class == 0 &&
		d.opt.Benign == event.BenignAll && t.copied == nil && !s.async {
		part := *t
		part.mask = d.otherValue(t)
		if racing, other = d.unordered(&part, e); racing == 0 {
			d.tolerate(t.Space)
			t.kept = append(t.kept, e)
			return
		}
	}
	if s.class != 0 && s.kind == event.Write {
		if racing, other = d.storeObserved(t, e, racing, other); racing == 0 {
			return
		}
	}
	d.found(t, e, racing, other)
}

// reach reports whether the scopes of accesses of t's class, by its warp and by the warp of e,
// include each other.
func (d *Detector) reach(t *touching, e entry) bool {
	return t.class.wide() || d.opt.Geometry.Includes(t.class.scope(), event.ThreadOf(t.w.id, 0),
		event.ThreadOf(event.Warp(e.warp), 0))
}

// morallyStrong applies event.MorallyStrong to one lane of t and one lane of e.
func (d *Detector) morallyStrong(t *touching, e entry, lane, other int) bool {
	s := &d.sites[e.site]
	addr := t.Addr[lane]
	return event.MorallyStrong(d.opt.Geometry,
		event.Op{Thread: event.ThreadOf(event.Warp(e.warp), other), Kind: s.kind, Order: s.order,
			Scope: s.scope, Proxy: s.proxy, Addr: t.at &^ uint64(s.size-1), Size: s.size},
		event.Op{Thread: event.ThreadOf(t.w.id, lane), Kind: t.Kind, Order: t.Order, Scope: t.Scope,
			Proxy: t.Proxy, Addr: addr, Size: t.Size})
}

// unordered returns the lanes of t that some access of e does not happen before, and a lane of e
// that proves it for the lowest of them. Reports and the test for moral strength use these two
// lanes as a pair. This is the test e <= C of Barracuda's figure 2.
func (d *Detector) unordered(t *touching, e entry) (racing uint32, other int) {
	w := t.w
	if e.concurrent() {
		return t.mask, d.partner(t, e)
	}
	if e.warp == uint32(w.id) {
		if e.mask == t.mask && e.mask&(e.mask-1) == 0 {
			return 0, 0 // the thread itself
		}
		return w.unorderedMates(t.mask, e)
	}
	if v := e.warp - uint32(t.b.first); v < uint32(len(t.b.warps)) && e.clk <= w.knowsWarp(int(v)) {
		return 0, 0
	}
	if w.lane == nil {
		if w.ext.covers(event.Warp(e.warp), e.mask, e.clk) {
			return 0, 0
		}
		return t.mask, firstUnknown(w.ext, e)
	}
	for m := t.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if k := w.beyond(l); !k.covers(event.Warp(e.warp), e.mask, e.clk) {
			if racing == 0 {
				other = firstUnknown(k, e)
			}
			racing |= 1 << l
		}
	}
	return racing, other
}

// firstUnknown returns the lowest lane of e that k does not order.
func firstUnknown(k *know, e entry) int {
	for m := e.mask; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); k.of(event.Warp(e.warp), l) < e.clk {
			return l
		}
	}
	return lowestLane(e.mask)
}

// unorderedMates is unordered within one warp.
func (w *warp) unorderedMates(mask uint32, e entry) (racing uint32, other int) {
	if e.clk <= max(w.intra, w.blk) {
		return 0, 0
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for n := e.mask &^ (1 << l); n != 0; n &= n - 1 {
			u := bits.TrailingZeros32(n)
			if w.ofMate(l, u) < e.clk && w.beyond(l).of(w.id, u) < e.clk {
				if racing == 0 {
					other = u
				}
				racing |= 1 << l
				break
			}
		}
	}
	return racing, other
}

package race

import (
	"cmp"
	"math/bits"

	"heddle/internal/event"
)

// Exchanges: strong loads and stores that nothing orders (event.Unordered).
//
// They are no data races, and the shadow of package race does not look for them: it compares strong
// accesses only where they may not be morally strong. So strong loads and stores have a second
// shadow, which exists only where they occur: for each location, an address with a size, the last
// stores and loads that no later store is known to follow. An atomic only marks its words, and a
// weak access does not touch it.
//
// Whether a pair is a mistake depends on how the run uses the location, before or after the pair.
// So a pair is kept with its location, and judged when the location ends: with its block, or with
// the run.
//
// A store also precedes what follows a strong load that observed it (observation order, PTX ISA
// 8.9.5, second rule): the thread that waited for its turn may pass the turn on. Loads and atomics
// that ran since the last store have observed it. This shadow answers that for races of weak
// accesses, too.
//
// What it can miss: a pair of a load with the second store that is not ordered with it, and pairs
// on a location after the first 4096 that are unordered there. Pairs that observation excludes are
// reported if the store is not the last one.

// Exchange is a group of pairs of strong accesses that nothing orders, by two sites in one space.
// The embedded Race describes an example of which the properties below hold.
type Exchange struct {
	Race
	// Atomic: an atomic read-modify-write has the location as its target, somewhere in the run.
	Atomic bool
	// Ordered: an acquire load or a release store accesses the location, somewhere in the run.
	Ordered bool
	// Polled: a load of Options.Polls reads the location, somewhere in the run.
	Polled bool
	// Observed: a strong load of the location has observed a release pattern (8.8), somewhere in the
	// run.
	Observed bool
	// Apart: some pair of the group is by threads of different warps. It is not only of the example.
	Apart bool
}

// rank orders pairs by how much the use of their location excuses them.
func (x *Exchange) rank() int {
	switch {
	case x.Observed:
		return 3
	case x.Atomic, x.Polled:
		return 2
	case x.Ordered:
		return 1
	}
	return 0
}

// before reports whether x is a better example of a group than y: its location excuses it less, or
// as much, and only its threads are of different warps.
func (x *Exchange) before(y *Exchange) bool {
	return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(x.near(), y.near())) < 0
}

// near is 1 for threads of one warp, else 0.
func (x *Exchange) near() int {
	if x.Apart {
		return 0
	}
	return 1
}

// exchanges is the second shadow.
type exchanges struct {
	locations []exchanged // by number; 0 is none
	spare     []uint32
	lists     [][]entry // by number; 0 is none
	spareList []uint32
	pairs     []exchangePair // by number; 0 is none
	sparePair []uint32
	groups    []exchangeGroup
	index     map[raceKey]uint32
	first     uint64 // pairs so far, which orders them by time
}

// exchanged is the state of one location.
type exchanged struct {
	addr      uint64
	size      uint8
	ordered   bool // see Exchange
	observed  bool
	polled    bool
	next      uint32 // another location that begins in the same word; 0: none
	pairs     uint32 // the last pair; 0: none
	unordered uint32 // accesses that were compared and not ordered
	w, r      exchangeSide
	latest    entry        // the last store, of one lane
	seen      exchangeSide // loads and atomics since; each thread once, at its first
}

// exchangeSide holds stores, or loads: one entry, or the list of that number.
type exchangeSide struct {
	one  [1]entry
	list uint32
}

// exchangePair is the first pair of a group at one location.
type exchangePair struct {
	group uint32
	next  uint32 // another pair of the location; 0: none
	at    uint64 // in the order of all first pairs
	race  Race   // with the number of conflicting accesses at the location
}

type exchangeGroup struct {
	worst   Exchange // of the locations that have ended
	at      uint64   // of worst
	some    bool     // worst is set
	apart   bool
	hazards uint64
}

// mostUnordered is the number of unordered accesses after which a location is not looked at.
const mostUnordered = 1 << 12

// exchange checks and records a strong access.
func (d *Detector) exchange(a *access) {
	if d.exchanges == nil || !d.examines(a) || a.special {
		return
	}
	if a.Kind.RMW() {
		d.markAtomic(a)
		if a.Kind == event.Atomic {
			d.atomicSees(a)
		}
		return
	}
	single := ascending(a.Access)
	for left := a.Mask; left != 0; {
		l := bits.TrailingZeros32(left)
		mask := uint32(1) << l
		for m := left &^ mask; m != 0 && !single; m &= m - 1 {
			if u := bits.TrailingZeros32(m); a.Addr[u] == a.Addr[l] {
				mask |= 1 << u
			}
		}
		left &^= mask
		d.exchangeAt(a, d.exchangedAt(a, a.Addr[l]), mask)
	}
}

// markAtomic marks the words that an atomic has as its target.
func (d *Detector) markAtomic(a *access) {
	for m := a.Mask; m != 0; m &= m - 1 {
		addr := a.Addr[bits.TrailingZeros32(m)&31]
		for x := addr &^ 3; x < addr+uint64(a.Size); x += 4 {
			p := d.page(a.mem, x)
			if p.atomic == nil {
				p.atomic = new([pageWords / 64]uint64)
			}
			word := uint32(x>>2) % pageWords
			p.atomic[word/64] |= 1 << (word % 64)
		}
	}
}

// isAtomic reports whether markAtomic has marked a word of the location.
func (d *Detector) isAtomic(m *memory, x *exchanged) bool {
	for at := x.addr &^ 3; at < x.addr+uint64(x.size); at += 4 {
		word := uint32(at>>2) % pageWords
		if p := d.page(m, at); p.atomic != nil && p.atomic[word/64]>>(word%64)&1 != 0 {
			return true
		}
	}
	return false
}

// atomicSees records that an atomic observes the last strong stores of its locations.
func (d *Detector) atomicSees(a *access) {
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		if x := d.exchangedIf(d.page(a.mem, a.Addr[l]), a.Addr[l], a.Size); x != nil {
			d.sees(a, x, 1<<l)
		}
	}
}

// sees records that the lanes of mask observe the last store of a location.
func (d *Detector) sees(a *access, x *exchanged, mask uint32) {
	s := d.exchanges
	list := s.entries(&x.seen)
	for i := len(list) - 1; i >= max(0, len(list)-maxLook); i-- {
		if list[i].warp == uint32(a.w.id) {
			mask &^= list[i].mask
		}
	}
	if x.latest.mask == 0 || mask == 0 || len(list) >= mostUnordered {
		return
	}
	for left := mask; left != 0; {
		c, same := a.w.epoch(left)
		s.push(&x.seen, entry{uint32(a.w.id), c, same, uint32(a.Site)})
		left &^= same
	}
}

// observedBy returns the lanes of racing that do not follow a load or atomic that observed e, and a
// thread of e with which the first of them is not ordered. Of the lanes of one store to one location
// only the last one is observed: the others are not.
func (d *Detector) observedBy(t *touching, x *exchanged, e entry, racing uint32, other int) (uint32,
	int) {
	last := x.latest
	if e.warp != last.warp || e.clk != last.clk || e.site != last.site || e.mask&last.mask == 0 {
		return racing, other
	}
	var beside uint32 // lanes that are not ordered with another lane of e
	besideOther := other
	if e.mask &^= last.mask; e.mask != 0 {
		beside, besideOther = d.unordered(t, e)
	}
	list := d.exchanges.entries(&x.seen)
	for i := len(list) - 1; i >= 0 && racing != 0; i-- {
		z := list[i]
		if z.warp == uint32(t.w.id) {
			racing &^= z.mask
		}
		if i < len(list)-maxLook {
			continue
		}
		for m := racing; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			for n := z.mask; n != 0; n &= n - 1 {
				u := event.ThreadOf(event.Warp(z.warp), bits.TrailingZeros32(n))
				if d.knows(event.ThreadOf(t.w.id, l), u) >= z.clk {
					racing &^= 1 << l
					break
				}
			}
		}
	}
	if racing == 0 || beside != 0 && bits.TrailingZeros32(beside) <= bits.TrailingZeros32(racing) {
		return racing | beside, besideOther
	}
	return racing | beside, bits.TrailingZeros32(last.mask)
}

// storeObserved is observedBy for the weak accesses of racing to one location and a strong store e.
// What another thread has written there since then is a race itself, or happens before.
func (d *Detector) storeObserved(t *touching, e entry, racing uint32, other int) (uint32, int) {
	addr := t.Addr[bits.TrailingZeros32(racing)&31]
	if d.exchanges == nil || t.Size != d.sites[e.site].size || t.special {
		return racing, other
	}
	for m := racing; m != 0; m &= m - 1 {
		if t.Addr[bits.TrailingZeros32(m)&31] != addr {
			return racing, other
		}
	}
	x := d.exchangedIf(d.page(t.mem, addr), addr, t.Size)
	if x == nil {
		return racing, other
	}
	return d.observedBy(t, x, e, racing, other)
}

// epoch returns the clock of the first lane of mask, and the lanes of mask with the same clock.
func (w *warp) epoch(mask uint32) (clk, same uint32) {
	clk = w.own[bits.TrailingZeros32(mask)]
	if w.even {
		return clk, mask
	}
	for m := mask; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); w.own[l] == clk {
			same |= 1 << l
		}
	}
	return clk, same
}

// exchangedIf returns a location; nil if it has none.
func (d *Detector) exchangedIf(p *page, addr uint64, size uint8) *exchanged {
	if p.strong == nil {
		return nil
	}
	for i := p.strong[uint32(addr>>2)%pageWords]; i != 0; i = d.exchanges.locations[i].next {
		if x := &d.exchanges.locations[i]; x.addr == addr && x.size == size {
			return x
		}
	}
	return nil
}

// exchangedAt returns the location of an access, created on first use.
func (d *Detector) exchangedAt(a *access, addr uint64) *exchanged {
	s := d.exchanges
	p := d.page(a.mem, addr)
	if p.strong == nil {
		p.strong = new([pageWords]uint32)
	}
	if x := d.exchangedIf(p, addr, a.Size); x != nil {
		return x
	}
	first := &p.strong[uint32(addr>>2)%pageWords]
	var i uint32
	if n := len(s.spare); n > 0 {
		i = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		i = uint32(len(s.locations))
		s.locations = append(s.locations, exchanged{})
	}
	s.locations[i] = exchanged{addr: addr, size: a.Size, next: *first}
	*first = i
	return &s.locations[i]
}

// observedAt records that a strong load has observed a release pattern at a location.
func (d *Detector) observedAt(a *access, l int) {
	if d.exchanges != nil && d.examines(a) && !a.Kind.RMW() {
		d.exchangedAt(a, a.Addr[l]).observed = true
	}
}

// exchangeAt checks and records the access of the lanes of mask at one location.
func (d *Detector) exchangeAt(a *access, x *exchanged, mask uint32) {
	x.ordered = x.ordered || a.Order != event.Relaxed
	x.polled = x.polled || d.sites[a.Site].polls
	if x.unordered >= mostUnordered {
		return
	}
	t := touching{access: a, at: x.addr, size: x.size, mask: mask}
	d.compare(&t, x, &x.w)
	side := &x.r
	if a.write {
		d.compare(&t, x, &x.r)
		if rest := mask & (mask - 1); rest != 0 {
			d.within = true
			e := entry{uint32(a.w.id), a.w.own[bits.TrailingZeros32(mask)], mask, uint32(a.Site)}
			d.unorderedPair(&t, x, e, rest, bits.TrailingZeros32(mask))
			d.within = false
		}
		side = &x.w
		d.exchanges.clear(&x.seen)
	} else {
		d.sees(a, x, mask)
	}
	for left := mask; left != 0; {
		c, same := a.w.epoch(left)
		e := entry{uint32(a.w.id), c, same, uint32(a.Site)}
		d.keepExchange(&t, side, e)
		if a.write {
			x.latest = e
			x.latest.mask = 1 << (31 - bits.LeadingZeros32(same)) // lanes store in their order
		}
		left &^= same
	}
}

// compare checks t against one side of its location. A store replaces the accesses that it follows:
// what is not ordered with them is not ordered with it either, and is reported with it. It also
// replaces the loads with which it was reported, but not an acquire load that a release store may
// meet: a relaxed store is still a pair with it. Unordered stores remain, because a pair of stores
// is less than a pair of a store and a load. A release store does not stand for a relaxed one, with
// which more pairs count.
func (d *Detector) compare(t *touching, x *exchanged, side *exchangeSide) {
	list := d.exchanges.entries(side)
	out := list[:0]
	for _, e := range list {
		racing, other := d.unordered(t, e)
		if racing != 0 && side == &x.w {
			racing, other = d.observedBy(t, x, e, racing, other)
		}
		replaced := racing == 0
		if racing != 0 {
			x.unordered++
			replaced = d.unorderedPair(t, x, e, racing, other) && d.sites[e.site].kind == event.Read
		}
		if !t.write || !replaced ||
			t.Order != event.Relaxed && d.sites[e.site].order == event.Relaxed {
			out = append(out, e)
		}
	}
	d.exchanges.set(side, out)
}

// unorderedPair records lanes of t that are not ordered with e, if the pair meets the definition,
// and reports whether it does.
func (d *Detector) unorderedPair(t *touching, x *exchanged, e entry, racing uint32, other int) bool {
	site := &d.sites[e.site]
	first := event.ThreadOf(event.Warp(e.warp), other)
	lane := bits.TrailingZeros32(racing)
	if !event.Unordered(d.opt.Geometry,
		event.Op{Thread: first, Kind: site.kind, Order: site.order, Scope: site.scope, Addr: x.addr,
			Size: x.size},
		event.Op{Thread: event.ThreadOf(t.w.id, lane), Kind: t.Kind, Order: t.Order, Scope: t.Scope,
			Addr: x.addr, Size: x.size}) {
		return false
	}
	s := d.exchanges
	key := raceKey{a: min(event.Site(e.site), t.Site), b: max(event.Site(e.site), t.Site),
		space: t.Space}
	g, ok := s.index[key]
	if !ok {
		g = uint32(len(s.groups))
		s.index[key] = g
		s.groups = append(s.groups, exchangeGroup{})
	}
	if first.Warp() != t.w.id {
		s.groups[g].apart = true
	}
	n := uint64(bits.OnesCount32(racing))
	for i := x.pairs; i != 0; i = s.pairs[i].next {
		if p := &s.pairs[i]; p.group == g {
			p.race.Hazards += n
			return true
		}
	}
	r := d.raceOf(t.access, event.Site(e.site), first, x.addr, lane, Unordered)
	r.Hazards = n
	s.first++
	x.pairs = s.newPair(exchangePair{group: g, next: x.pairs, at: s.first, race: r})
	return true
}

// keepExchange adds e to the side of a location: merged with one of the last entries, in place of
// one of the same threads, or as a new one.
func (d *Detector) keepExchange(t *touching, side *exchangeSide, e entry) {
	s := d.exchanges
	list := s.entries(side)
	order := d.sites[e.site].order
	for i := max(0, len(list)-4); i < len(list); i++ {
		have := &list[i]
		if merge(have, e) {
			return
		}
		if have.yields(e, false) && (have.site == e.site || d.sites[have.site].order == order) {
			*have = e
			return
		}
	}
	if len(list) >= minLimit && len(list) == cap(list) {
		s.set(side, d.compacted(t, list))
	}
	s.push(side, e)
}

// push appends an access to a side.
func (s *exchanges) push(side *exchangeSide, e entry) {
	list := s.entries(side)
	switch {
	case side.list != 0:
		s.lists[side.list] = append(list, e)
	case len(list) == 0:
		side.one[0] = e
	default:
		s.lists[s.inflate(side)] = append(s.lists[side.list], e)
	}
}

// entries returns the accesses of a side.
func (s *exchanges) entries(side *exchangeSide) []entry {
	switch {
	case side.list != 0:
		return s.lists[side.list]
	case side.one[0].empty():
		return side.one[:0]
	}
	return side.one[:]
}

// set replaces the accesses of a side, which are a modified form of what entries returned.
func (s *exchanges) set(side *exchangeSide, list []entry) {
	switch {
	case side.list != 0:
		s.lists[side.list] = list
		if len(list) == 0 {
			s.clear(side)
		}
	case len(list) == 1:
		side.one[0] = list[0]
	default:
		side.one[0] = entry{}
	}
}

// inflate moves the only access of a side to a list, and returns its number.
func (s *exchanges) inflate(side *exchangeSide) uint32 {
	n := uint32(len(s.lists))
	if k := len(s.spareList); k > 0 {
		n = s.spareList[k-1]
		s.spareList = s.spareList[:k-1]
	} else {
		s.lists = append(s.lists, nil)
	}
	s.lists[n] = append(s.lists[n][:0], side.one[0])
	side.one[0], side.list = entry{}, n
	return n
}

// clear empties a side.
func (s *exchanges) clear(side *exchangeSide) {
	if side.list != 0 {
		s.lists[side.list] = s.lists[side.list][:0]
		s.spareList = append(s.spareList, side.list)
	}
	*side = exchangeSide{}
}

func (s *exchanges) newPair(p exchangePair) uint32 {
	if n := len(s.sparePair); n > 0 {
		i := s.sparePair[n-1]
		s.sparePair = s.sparePair[:n-1]
		s.pairs[i] = p
		return i
	}
	s.pairs = append(s.pairs, p)
	return uint32(len(s.pairs) - 1)
}

// judge adds the pairs of a location to groups, by the use of the location so far.
func (d *Detector) judge(m *memory, x *exchanged, groups []exchangeGroup) {
	s := d.exchanges
	atomic := x.pairs != 0 && d.isAtomic(m, x)
	for i := x.pairs; i != 0; i = s.pairs[i].next {
		p := &s.pairs[i]
		g := &groups[p.group]
		g.hazards += p.race.Hazards
		e := Exchange{Race: p.race, Atomic: atomic, Ordered: x.ordered, Polled: x.polled,
			Observed: x.observed}
		e.Apart = p.race.First.Thread.Warp() != p.race.Second.Thread.Warp()
		if !g.some || e.before(&g.worst) || !g.worst.before(&e) && p.at < g.at {
			g.worst, g.at, g.some = e, p.at, true
		}
	}
}

// endExchanges judges and recycles the locations of a page whose block has ended.
func (d *Detector) endExchanges(m *memory, p *page) {
	s := d.exchanges
	for word, i := range p.strong {
		p.strong[word] = 0
		for i != 0 {
			x := &s.locations[i]
			d.judge(m, x, s.groups)
			for k := x.pairs; k != 0; k = s.pairs[k].next {
				s.sparePair = append(s.sparePair, k)
			}
			s.clear(&x.w)
			s.clear(&x.r)
			s.clear(&x.seen)
			s.spare = append(s.spare, i)
			i = x.next
		}
	}
}

// reportExchanges returns the groups so far, those of memory that is still in use included, in the
// order of their first pairs.
func (d *Detector) reportExchanges() []Exchange {
	if d.exchanges == nil {
		return nil
	}
	groups := append([]exchangeGroup(nil), d.exchanges.groups...)
	live := func(m *memory) {
		for p := range m.all() {
			if p.strong == nil {
				continue
			}
			for _, i := range p.strong {
				for ; i != 0; i = d.exchanges.locations[i].next {
					d.judge(m, &d.exchanges.locations[i], groups)
				}
			}
		}
	}
	live(d.global)
	for _, group := range d.blocks {
		for _, b := range group {
			if b != nil && b.shared != nil {
				live(b.shared)
			}
		}
	}
	out := make([]Exchange, len(groups))
	for i := range groups {
		out[i] = groups[i].worst
		out[i].Hazards, out[i].Apart = groups[i].hazards, groups[i].apart
	}
	return out
}

package race

import (
	"math/bits"
	"unsafe"

	"heddle/internal/event"
)

// subsumes reports whether t subsumes the earlier access e, which may then be dropped: e happens
// before t, and every access that would race with e races with t too. A weak access subsumes every
// access before it. A strong one subsumes only strong ones of its class by threads that its scope
// reaches, since others may be morally strong with one and not with the other.
func (d *Detector) subsumes(t *touching, e entry) bool {
	if t.class != 0 && (d.sites[e.site].class != t.class || !d.reach(t, e)) {
		return false
	}
	racing, _ := d.unordered(t, e)
	return racing == 0
}

// record adds the access to one side of a cell: an entry for each epoch that its lanes are in.
func (d *Detector) record(t *touching, side *entry) {
	if side.clk == noncoherent {
		return // it races with every write already
	}
	if t.copied != nil {
		d.recordPending(t, side)
		return
	}
	if t.as != nil {
		d.add(t, side, *t.as)
		return
	}
	if t.w.even {
		d.add(t, side, entry{uint32(t.w.id), t.w.own[0], t.mask, uint32(t.Site)})
		return
	}
	for left := t.mask; left != 0; {
		c := t.w.own[bits.TrailingZeros32(left)]
		same := uint32(0)
		for m := left; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); t.w.own[l] == c {
				same |= 1 << l
			}
		}
		d.add(t, side, entry{uint32(t.w.id), c, same, uint32(t.Site)})
		left &^= same
	}
}

// add adds e to one side of a cell, and inflates the side to a list if neither entry subsumes the
// other.
func (d *Detector) add(t *touching, side *entry, e entry) {
	switch {
	case side.empty():
		*side = e
	case !side.many():
		if merge(side, e) {
			return
		}
		if d.coveredBy(t, *side, e) {
			*side = e
			return
		}
		old := *side
		*side = entry{warp: d.newList(t.mem), clk: 1}
		d.push(t, side.warp, old)
		d.push(t, side.warp, e)
	default:
		d.push(t, side.warp, e)
	}
}

// merge adds e to a set of the same epoch and site.
func merge(have *entry, e entry) bool {
	if have.warp == e.warp && have.clk == e.clk && have.site == e.site {
		have.mask |= e.mask
		return true
	}
	return false
}

// coveredBy reports whether the new entry e, a part of t, subsumes the old one.
func (d *Detector) coveredBy(t *touching, old, e entry) bool {
	part := *t
	part.mask = e.mask
	return d.subsumes(&part, old)
}

// push adds e to a list: merged with one of its last entries, or appended. A full list is
// compacted.
func (d *Detector) push(t *touching, no uint32, e entry) {
	l := d.list(no)
	to, c, last := &l.weak, d.sites[e.site].class, 4
	if c != 0 {
		to, last = &l.strong, 1 // the order of strong writes matters
		l.broken = l.broken || len(l.strong) > 0 && d.sites[e.site].kind == event.Write
		switch l.class {
		case 0:
			l.class = c
		case c:
		default:
			l.class = mixedClass
		}
	}
	if (c == 0 || c == l.class && d.sites[e.site].kind == event.Read) && d.replaced(l, *to, c != 0, e) {
		return
	}
	for i := max(0, len(*to)-last); i < len(*to); i++ {
		if merge(&(*to)[i], e) {
			return
		}
	}
	*to = d.grown(*to, e)
	if l.full() {
		d.compact(t, l)
	}
}

// replaced replaces an earlier entry by e, if e is a weak access, or a strong read among strong
// accesses of its class, and the earlier entry belongs to the same threads: a thread that knows e
// knows the earlier one. Accesses of one epoch are kept apart by site, so that a race is reported
// at each place, unless the list is long. Without this, the readers of a table that all warps read
// again and again would accumulate.
//
// A pending copy is kept: what its thread does before the wait says nothing about it.
func (d *Detector) replaced(l *list, list []entry, strong bool, e entry) bool {
	long := len(list) >= minLimit
	var hint *uint16
	if len(list) >= minSearched {
		if l.search == nil {
			l.search = new(search)
			d.bytes += uint64(unsafe.Sizeof(search{}))
			for i := range l.weak {
				l.search.most = max(l.search.most, l.weak[i].warp)
			}
		}
		// Blocks tend to run in the order of their numbers, so that most readers of a table are new.
		if !strong && e.warp > l.search.most {
			l.search.most = e.warp
			return false
		}
		hint = &l.search.last[e.warp%uint32(len(l.search.last))]
		if i := int(*hint); i < len(list) && list[i].yields(e, long) {
			list[i] = e
			return true
		}
	}
	i, p := len(list)-1, (*positions)(nil)
	if len(list) >= minIndexed {
		p = l.search.index(strong)
		d.bytes += p.extend(list)
		i = p.last(list, e.warp)
	}
	for i >= 0 {
		if list[i].yields(e, long) {
			list[i] = e
			break
		}
		if p != nil {
			i = p.before(i)
		} else {
			i--
		}
	}
	if hint != nil {
		*hint = uint16(i)
		if i < 0 {
			*hint = uint16(len(list)) // where it will be appended
		}
	}
	return i >= 0
}

// yields reports whether e may replace have.
func (have *entry) yields(e entry, long bool) bool {
	return have.warp == e.warp && have.mask&^e.mask == 0 &&
		(have.clk < e.clk || (long || have.site == e.site) && !have.concurrent())
}

// compact drops entries subsumed by later accesses of the same threads at the same site, and
// entries known to every thread that can still access the cell. The limit doubles with what
// remains, so that the total cost is linear.
func (d *Detector) compact(t *touching, l *list) {
	l.moved()
	l.weak = d.compacted(t, l.weak)
	l.strong = d.compacted(t, l.strong)
	l.limit = max(minLimit, 2*max(len(l.weak), len(l.strong)/4))
}

func (d *Detector) compacted(t *touching, es []entry) []entry {
	if len(es) <= 2*minLimit {
		return d.compactedFew(t, es)
	}
	type thread struct{ warp, site uint32 }
	covered := make(map[thread]uint32, len(es)) // lanes that a later entry subsumes
	keep := len(es)
	for i := len(es) - 1; i >= 0; i-- {
		e := es[i]
		if t.mem != d.global && e.clk <= t.b.floor {
			continue
		}
		key := thread{e.warp, e.site}
		e.mask &^= covered[key]
		if e.mask == 0 {
			continue
		}
		covered[key] |= e.mask
		keep--
		es[keep] = e
	}
	return append(es[:0], es[keep:]...)
}

// compactedFew is compacted for a short list, for which a map would cost more than it saves.
func (d *Detector) compactedFew(t *touching, es []entry) []entry {
	keep := len(es)
	for i := len(es) - 1; i >= 0; i-- {
		e := es[i]
		if t.mem != d.global && e.clk <= t.b.floor {
			continue
		}
		for j := keep; j < len(es); j++ {
			if es[j].warp == e.warp && es[j].site == e.site {
				e.mask &^= es[j].mask
			}
		}
		if e.mask != 0 {
			keep--
			es[keep] = e
		}
	}
	return append(es[:0], es[keep:]...)
}

// dropReads drops the reads that a write subsumes.
func (d *Detector) dropReads(t *touching, side *entry) {
	if t.class == 0 {
		d.drop(t, side)
		return
	}
	d.filter(t, side)
}

// drop empties a side.
func (d *Detector) drop(t *touching, side *entry) {
	if side.many() {
		d.dropList(t.mem, side.warp)
	}
	*side = entry{}
}

// filter keeps the entries that a strong write does not subsume.
func (d *Detector) filter(t *touching, side *entry) {
	if !side.many() {
		if d.subsumes(t, *side) {
			*side = entry{}
		}
		return
	}
	l := d.list(side.warp)
	if len(l.strong)+len(l.weak) > 8 {
		return // long lists are left to compaction
	}
	l.moved()
	l.strong = d.filtered(t, l.strong)
	l.weak = d.filtered(t, l.weak)
	if len(l.strong)+len(l.weak) == 0 {
		d.drop(t, side)
	}
}

// filtered returns the entries that t does not subsume and that not every thread of the block
// knows.
func (d *Detector) filtered(t *touching, es []entry) []entry {
	out := es[:0]
	for _, e := range es {
		known := t.mem != d.global && e.clk <= t.b.floor
		if !known && !d.subsumes(t, e) {
			out = append(out, e)
		}
	}
	return out
}

// recordWrite makes the access the last write of the cell. A weak write replaces all earlier ones:
// they happen before it, or the race was reported. Tolerated writes of the same value are kept
// beside it.
func (d *Detector) recordWrite(t *touching, side *entry) {
	if t.class != 0 {
		if !side.empty() {
			d.filter(t, side)
		}
		d.record(t, side)
		return
	}
	if !side.empty() {
		d.drop(t, side)
	}
	for _, e := range t.kept {
		d.add(t, side, e)
	}
	d.record(t, side)
}

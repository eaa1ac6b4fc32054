package race

import (
	"math/bits"

	"heddle/internal/event"
)

// Atomics of all threads of the grid on scattered words (histograms, counters) are the most common
// strong accesses. They are morally strong with each other. So for an atomic on a word whose other
// atomics have the same class, only the weak accesses to that word need to be checked.

// eachAtomic handles the lanes of such atomics for which appendAtomic succeeds, and returns the
// remaining lanes.
func (d *Detector) eachAtomic(a *access) (left uint32) {
	if !a.class.wide() || a.Size != 4 || !a.w.even || !a.Kind.RMW() {
		return a.Mask
	}
	e := entry{uint32(a.w.id), a.w.own[0], 0, uint32(a.Site)}
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		p := d.page(a.mem, a.Addr[l])
		rw := &p.rows[a.Addr[l]>>rowShift%pageRows]
		e.mask = 1 << l
		if rw.cells == nil || p.split != nil || p.sync != nil || p.twins ||
			!d.appendAtomic(a, &rw.cells[a.Addr[l]>>2%rowWords], e) {
			left |= e.mask
		}
	}
	return left
}

// appendAtomic does the work of touch for a cell that holds no reads, a list of atomics of one
// class, and weak writes that plainly happen before. It reports whether the cell was of this form;
// if not, nothing has changed.
func (d *Detector) appendAtomic(a *access, c *cell, e entry) bool {
	if !c.r.empty() || !c.w.many() {
		return false
	}
	l := d.list(c.w.warp)
	if l.class != a.class {
		return false
	}
	for i := range l.weak {
		if !a.plainlyAfter(&l.weak[i], e.mask) {
			return false
		}
	}
	if len(l.weak) > 0 && a.mem != d.global {
		d.forgetKnown(a.b, l)
	}
	for i := max(0, len(l.strong)-1); i < len(l.strong); i++ {
		if merge(&l.strong[i], e) {
			return true
		}
	}
	l.strong = append(l.strong, e)
	if l.full() {
		d.compact(&touching{access: a}, l)
	}
	return true
}

// forgetKnown drops the weak accesses that every thread of the block knows. No other thread can
// access the block's shared memory, so nothing can race with them.
func (d *Detector) forgetKnown(b *block, l *list) {
	l.moved()
	out := l.weak[:0]
	for _, e := range l.weak {
		if e.clk > b.floor {
			out = append(out, e)
		}
	}
	l.weak = out
}

// quiet reports whether a strong access that neither acquires nor releases cannot be part of a
// release or acquire pattern: no pattern has been written anywhere, and neither the warp nor its
// block has a fence that a write could complete.
func (d *Detector) quiet(a *access) bool {
	return a.Order == event.Relaxed && len(d.locations) == 0 &&
		(a.w.pat == nil || a.w.pat.fenced == 0) && !a.b.sc.any()
}

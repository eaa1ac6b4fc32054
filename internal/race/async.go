package race

import (
	"math"
	"math/bits"
	"slices"

	"heddle/internal/event"
)

// Asynchronous copies (PTX ISA 8.9.1.1, 9.7.9.25.3) and loads through another proxy (8.6, 8.9.5).
//
// A copy happens after everything that its thread knew at the issue, and before what its thread
// does after the wait that covers its group. In between it is concurrent with everything, including
// its own thread. So it is checked when it is issued, and leaves entries with a clock that no
// thread can know: pending + the number of its group. The wait turns them into accesses of the
// thread at its clock at that time: a thread that learns that clock learns of the wait. A copy that
// is never waited for remains pending, even after its thread has ended.
//
// A load through the texture proxy (ld.global.nc) is ordered with no write of the same kernel, not
// even one by its own thread: only proxy-preserved base causality is causality, and no fence
// connects that proxy to the generic one. Its entry has a clock that no thread ever knows, and it
// subsumes every other read of the cell: any later write races with it.
//
// What it can miss: races of a copy with an access that replaced its pending entry, since only the
// last accesses of a cell are kept. The replacement itself was reported.

const (
	pending     = 0xf000_0000 // clocks from here on stand for groups of copies
	noncoherent = math.MaxUint32
)

// concurrent reports whether no thread can know of e, including the thread that issued it.
func (e *entry) concurrent() bool { return e.clk >= pending }

// copies holds the copies that a warp has issued and not waited for.
type copies struct {
	closed [event.WarpSize]uint32 // groups, by lane
	open   []*copied
	// components of copies that an mbarrier tracks: see CopyArrive
	tracked event.Warp
	value   [event.WarpSize]uint32
}

// copied is one instruction that issued copies.
type copied struct {
	site     event.Site
	mask     uint32 // lanes that have not waited for theirs
	size     uint8
	clk      [event.WarpSize]uint32 // pending + group
	to, from [event.WarpSize]uint64
	read     [event.WarpSize]uint8
	// lanes whose copies are accesses of a component, whose value is in clk; was has what was there
	handed uint32
	was    [event.WarpSize]uint32
}

// Copy checks the accesses that the copies will make, and records them as pending.
func (d *Detector) Copy(e *event.Copy) {
	if d.opt.Execution {
		d.pass(e.Warp, e.Active)
		return
	}
	w, b := d.warpOf(e.Warp)
	if d.dependent != nil {
		d.beforeWait(w, b, e.Site, e.Mask, func(l int) uint64 { return e.From[l] }, uint64(e.Size), false)
	}
	c := d.issue(w, e)
	a := access{Access: &d.copying, w: w, b: b, copied: c, special: true}
	d.writeOf(&a, c, e.Mask)
	d.learnSite(a.Access)
	d.sites[e.Site].async, d.sites[e.Site].to = true, event.Shared
	d.eachRead(&a, c, e.Mask, func(a *access) {
		d.eachGroup(a, a.Mask)
		d.meetAsync(a)
	})
	d.writeOf(&a, c, e.Mask)
	d.eachGroup(&a, e.Mask)
	d.meetAsync(&a)
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// issue stores copies until they are waited for.
func (d *Detector) issue(w *warp, e *event.Copy) *copied {
	if w.async == nil {
		w.async = new(copies)
	}
	var c *copied
	if n := len(d.spareCopied); n > 0 {
		c = d.spareCopied[n-1]
		d.spareCopied = d.spareCopied[:n-1]
	} else {
		c = new(copied)
	}
	c.site, c.mask, c.size, c.handed = e.Site, e.Mask, e.Size, 0
	c.to, c.from, c.read = *e.To, *e.From, *e.Read
	for l := range c.clk {
		c.clk[l] = min(pending+w.async.closed[l], noncoherent-1)
	}
	w.async.open = append(w.async.open, c)
	return c
}

// writeOf sets a to the writes of some lanes of a copy.
func (d *Detector) writeOf(a *access, c *copied, mask uint32) {
	d.copying = event.Access{Warp: a.w.id, Site: c.site, Mask: mask, Kind: event.Write,
		Space: event.Shared, Size: c.size, Addr: &c.to}
	a.mem, a.write = d.memoryOf(event.Shared, a.b), true
}

// eachRead sets a to the reads of some lanes of a copy, in pieces whose sizes are powers of two,
// and calls visit for each piece.
func (d *Detector) eachRead(a *access, c *copied, mask uint32, visit func(*access)) {
	from := &d.elementAddr
	*from = c.from
	for left := mask; left != 0; {
		n := c.read[bits.TrailingZeros32(left)&31]
		same := uint32(0)
		for m := left; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m) & 31; c.read[l] == n {
				same |= 1 << l
			}
		}
		left &^= same
		for size := uint8(16); size > 0; size >>= 1 {
			if n&size == 0 {
				continue
			}
			d.copying = event.Access{Warp: a.w.id, Site: c.site, Mask: same, Kind: event.Read,
				Space: event.Global, Size: size, Addr: from}
			a.mem, a.write = d.global, false
			visit(a)
			for m := same; m != 0; m &= m - 1 {
				from[bits.TrailingZeros32(m)&31] += uint64(size)
			}
		}
	}
}

// CopyGroup closes groups, and turns the copies that were waited for into accesses of their
// threads.
func (d *Detector) CopyGroup(e *event.CopyGroup) {
	if d.opt.Execution {
		d.pass(e.Warp, e.Active)
		return
	}
	w, b := d.warpOf(e.Warp)
	if w.async == nil {
		w.async = new(copies)
	}
	cs := w.async
	if e.Commit {
		for m := e.Mask; m != 0; m &= m - 1 {
			cs.closed[bits.TrailingZeros32(m)&31]++
		}
	}
	if e.Wait {
		still := cs.open[:0]
		for _, c := range cs.open {
			if done := c.mask & cs.complete(c, e.Mask, e.Pending); done != 0 {
				d.settle(w, b, c, done&^c.handed)
				for m := done & c.handed; m != 0; m &= m - 1 {
					l := bits.TrailingZeros32(m)
					w.learn(1<<l, component{cs.tracked, uint8(l)}.value(c.clk[l]), d.lanesOf(w.id))
				}
				c.mask &^= done
			}
			if c.mask != 0 {
				still = append(still, c)
			} else {
				d.spareCopied = append(d.spareCopied, c)
			}
		}
		cs.open = still
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// complete returns the lanes of mask whose copies belong to closed groups, excluding the last few.
func (cs *copies) complete(c *copied, mask, last uint32) uint32 {
	done := uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		clk := c.clk[l]
		if c.handed>>l&1 != 0 {
			clk = c.was[l]
		}
		if uint64(clk-pending)+uint64(last) < uint64(cs.closed[l]) {
			done |= 1 << l
		}
	}
	return done
}

// settle turns the pending entries of some lanes' copies into accesses at the current clock. They
// may have written after every write since the copy was issued, so they end release patterns again.
func (d *Detector) settle(w *warp, b *block, c *copied, done uint32) {
	a := access{Access: &d.copying, w: w, b: b, copied: c}
	d.eachRead(&a, c, done, d.settleLanes)
	d.writeOf(&a, c, done)
	d.settleLanes(&a)
}

// settleLanes visits the cells of each lane's part of a copy.
func (d *Detector) settleLanes(a *access) {
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		t := touching{access: a, mask: 1 << l}
		addr := a.Addr[l]
		for at := addr &^ 3; at < addr+uint64(a.Size); at += 4 {
			p := d.coarsePage(a.mem, at)
			word := uint32(at>>2) % pageWords
			if p.twins {
				d.part(a.mem, p, word)
			}
			if p.split == nil || p.split[word] == nil {
				d.settleCell(&t, d.cell(a.mem, p, word), a.copied.clk[l])
			} else {
				s := p.split[word]
				for i := max(at, addr); i < min(at+4, addr+uint64(a.Size)); i++ {
					d.settleCell(&t, &s[i-at], a.copied.clk[l])
				}
			}
			if a.write && p.synchronizes(word) {
				d.breakChain(a, at, addr, place{})
			}
		}
	}
}

// settleCell finds the pending entry of one lane and gives it the lane's clock. The entry may be
// missing, if an access that raced with it has replaced it.
func (d *Detector) settleCell(t *touching, c *cell, clk uint32) {
	side := &c.r
	if t.write {
		side = &c.w
	}
	now := entry{uint32(t.w.id), t.w.own[lowestLane(t.mask)], t.mask, uint32(t.Site)}
	was := now
	was.clk = clk
	if d.handed.mask != 0 {
		now.warp, now.clk = d.handed.warp, d.handed.clk
	}
	if !side.many() {
		switch {
		case *side == was:
			*side = now
		case was.within(side):
			side.mask &^= t.mask
			d.add(t, side, now) // which subsumes nothing, since the other lanes are pending
		}
		return
	}
	l := d.list(side.warp)
	for i := len(l.weak) - 1; i >= 0; i-- {
		e := &l.weak[i]
		switch {
		case *e == was:
			*e = now
			return
		case was.within(e):
			e.mask &^= t.mask
			// Insert after it, not at the end: among entries of one thread and site, a later one subsumes
			// the earlier ones.
			l.weak = slices.Insert(l.weak, i+1, now)
			l.moved()
			return
		}
	}
}

// within reports whether the lanes of e are a part of those of f, by the same copy.
func (e *entry) within(f *entry) bool {
	return e.warp == f.warp && e.clk == f.clk && e.site == f.site && e.mask&f.mask != 0
}

// recordPending is record for a copy at its issue.
func (d *Detector) recordPending(t *touching, side *entry) {
	for left := t.mask; left != 0; {
		c := t.copied.clk[bits.TrailingZeros32(left)&31]
		same := uint32(0)
		for m := left; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m) & 31; t.copied.clk[l] == c {
				same |= 1 << l
			}
		}
		d.add(t, side, entry{uint32(t.w.id), c, same, uint32(t.Site)})
		left &^= same
	}
}

// loadNoncoherent checks and records a load through the texture proxy at one cell.
func (d *Detector) loadNoncoherent(t *touching, c *cell) {
	if !c.w.empty() {
		d.eachEntry(&c.w, func(e entry) { d.found(t, e, t.mask, d.partner(t, e)) })
	}
	if t.Proxy == event.FetchProxy { // a later write may be ordered behind it
		d.record(t, &c.r)
		return
	}
	if c.r.clk != noncoherent {
		d.drop(t, &c.r)
		c.r = entry{uint32(t.w.id), noncoherent, t.mask, uint32(t.Site)}
	}
}

// eachEntry calls visit for every access of one side of a cell.
func (d *Detector) eachEntry(side *entry, visit func(entry)) {
	if !side.many() {
		visit(*side)
		return
	}
	for _, e := range d.list(side.warp).weak {
		visit(e)
	}
	for _, e := range d.list(side.warp).strong {
		visit(e)
	}
}

// partner returns the lane of e to report together with the lowest lane of t, where all of them
// race. It prefers the same lane, since a thread that races with its own copy is the simplest case
// to understand.
func (d *Detector) partner(t *touching, e entry) int {
	if l := lowestLane(t.mask); e.warp == uint32(t.w.id) && e.mask>>l&1 != 0 {
		return l
	}
	return lowestLane(e.mask)
}

// sameSource reports whether two lanes copy the same bytes.
func (c *copied) sameSource(l, u int) bool {
	return c.from[l] == c.from[u] && c.read[l] == c.read[u]
}

package race

import (
	"iter"

	"heddle/internal/event"
)

// Matrix operations of a warpgroup (PTX ISA 9.7.15): each warp issues a part of its own, an agent
// that reads shared memory through the async proxy. It is a bulk operation (bulk.go) without a
// write, apart from two things. It begins with what all lanes of its warp know, since they issue it
// together; 8.9.1.1 excepts wgmma from the operations that are ordered after prior instructions,
// but 9.7.15.7.1 asks only a proxy fence for writes of its operands, and wgmma.fence for registers.
// And groups belong to the warpgroup (9.7.15.7.2): a wait lets all lanes of the warp know that the
// groups are complete, as all four warps have issued them.
//
// What an operation reads is a set of chunks (event.Footprint). A piece holds those that are in one
// part of memory.

// warpgroupSize is the number of warps of a warpgroup, which begins with a multiple of it.
const warpgroupSize = 4

// matrixGroups is the component of a warp's matrix operations: the number of complete groups.
type matrixGroups struct {
	closed uint32
	component
	// Options.Execution: what the warp knew at its commits, without the first forgotten ones, and the
	// groups for which it has waited
	commits            []*know
	forgotten, awaited uint32
}

// matricesOf returns the groups of matrix operations of a warp.
func (d *Detector) matricesOf(w *warp) *matrixGroups {
	if w.matrices == nil {
		w.matrices = &matrixGroups{component: component{d.comps.nextOf(w.id), 0}}
	}
	return w.matrices
}

// Matrix checks what an operation will read, and records it.
func (d *Detector) Matrix(e *event.Matrix) {
	if d.opt.Execution {
		d.meetWarp(e.Warp, e.Mask)
		return
	}
	w, b := d.warpOf(e.Warp)
	d.learnSite(&event.Access{Site: e.Site, Kind: event.Read, Proxy: event.AsyncProxy, Size: 16})
	s := &d.sites[e.Site]
	s.async, s.to = true, event.Shared
	g := d.matricesOf(w)
	p := piece{thread: event.ThreadOf(e.Warp, lowestLane(e.Mask)), site: uint32(e.Site),
		component: g.component, value: firstValue + g.closed + 1}
	start := agentStart{w: w, b: b, lane: p.thread.Lane(), knows: d.clocks(w, b, e.Mask)}
	for i := range e.Reads.Parts {
		part := &e.Reads.Parts[i]
		p.lo, p.hi = part.Bounds()
		p.chunks = &part.Chunks
		d.addChunks(&start, p, part)
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// addChunks checks and records the piece of a matrix operation in one part of memory.
func (d *Detector) addChunks(s *agentStart, p piece, part *event.FootprintPart) {
	home := s.b
	if s.home != nil {
		home = s.home
	}
	mem := d.memoryOf(event.Shared, home)
	d.copying = event.Access{Warp: s.w.id, Site: event.Site(p.site), Mask: 1 << s.lane,
		Kind: event.Read, Space: event.Shared, Proxy: event.AsyncProxy, Size: 16, Addr: &d.elementAddr}
	a := access{Access: &d.copying, w: s.w, b: s.b, home: home, mem: mem, special: true, bulk: true}
	check := agentCheck{d: d, start: s, access: &a}
	part.Each(func(lo, hi uint64) {
		d.eachShadow(mem, lo, hi, false, func(e entry, at uint64) { check.entry(e, at) })
	})
	q := mem.piecesIn(part.Base >> partShift)
	for i := range q.w {
		d.checkPieces(s, &a, &q.w[i], &p, p.lo, p.hi)
	}
	q.r = d.keep(home, mem, q.r, p)
}

// MatrixGroup closes a group, or lets the lanes know that groups are complete.
func (d *Detector) MatrixGroup(e *event.MatrixGroup) {
	if d.opt.Execution {
		d.meetWarp(e.Warp, e.Mask)
		d.orderGroup(e)
		return
	}
	w, b := d.warpOf(e.Warp)
	g := d.matricesOf(w)
	switch {
	case e.Commit:
		g.closed++
	case g.closed > e.Pending:
		n := g.closed - e.Pending
		for i := range b.warpgroup(e.Warp) {
			if o := b.warps[i].matrices; o != nil {
				w.learn(e.Mask, o.value(firstValue+min(n, o.closed)), d.lanesOf(w.id))
			}
		}
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// orderGroup lets a wait come behind the commits of the warpgroup for the groups that it waits for.
func (d *Detector) orderGroup(e *event.MatrixGroup) {
	w, b := d.warpOf(e.Warp)
	g := d.matricesOf(w)
	if e.Commit {
		g.closed++
		g.commits = append(g.commits, d.clocks(w, b, e.Mask))
		w.tick(e.Mask)
		return
	}
	if g.closed <= e.Pending {
		return
	}
	g.awaited = g.closed - e.Pending
	all := g.awaited // for which each warp of the warpgroup has waited
	for i := range b.warpgroup(e.Warp) {
		o := d.matricesOf(&b.warps[i])
		if at := min(g.awaited, o.closed); at > o.forgotten {
			w.learn(e.Mask, o.commits[at-o.forgotten-1], d.lanesOf(w.id))
		}
		all = min(all, o.awaited)
	}
	for i := range b.warpgroup(e.Warp) {
		if o := b.warps[i].matrices; all > o.forgotten {
			n := min(all, o.closed) - o.forgotten
			o.commits = o.commits[n:]
			o.forgotten += n
		}
	}
}

// warpgroup returns the indices of the warps of a warp's warpgroup.
func (b *block) warpgroup(id event.Warp) iter.Seq[int] {
	first := int(id-b.first) / warpgroupSize * warpgroupSize
	return func(yield func(int) bool) {
		for i := first; i < min(first+warpgroupSize, len(b.warps)); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// common returns the first byte in [lo, hi) that both pieces have; false if there is none.
func (p *piece) common(q *piece, lo, hi uint64) (uint64, bool) {
	lo, hi = max(lo, p.lo, q.lo), min(hi, p.hi, q.hi)
	switch {
	case lo >= hi:
		return 0, false
	case p.chunks == nil:
		return q.within(lo, hi)
	case q.chunks == nil:
		return p.within(lo, hi)
	}
	both := p.chunks.Common(q.chunks)
	return firstIn(&both, lo, hi)
}

// within returns the first byte of the piece in [lo, hi), which is in one part of memory if the
// piece has chunks; false if there is none.
func (p *piece) within(lo, hi uint64) (uint64, bool) {
	lo, hi = max(lo, p.lo), min(hi, p.hi)
	switch {
	case lo >= hi:
		return 0, false
	case p.chunks == nil:
		return lo, true
	}
	return firstIn(p.chunks, lo, hi)
}

// firstIn is Chunks.First with addresses.
func firstIn(c *event.Chunks, lo, hi uint64) (uint64, bool) {
	base := lo &^ (event.FootprintSize - 1)
	at, ok := c.First(lo-base, hi-base)
	return base + at, ok
}

// covers reports whether the piece has all bytes of q, of the same part of memory.
func (p *piece) covers(q *piece) bool {
	if p.lo > q.lo || p.hi < q.hi {
		return false
	}
	return p.chunks == nil || q.chunks != nil && p.chunks.Covers(q.chunks)
}

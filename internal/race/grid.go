package race

import (
	"slices"

	"heddle/internal/event"
)

// Grids that threads launch (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). A grid is an
// agent, as a bulk copy is: it begins with what its thread knows at the launch, and its accesses
// are pieces of memory with the epoch of a component, that of its stream. A later grid in the
// stream begins with the completion of the earlier ones, and with what they began with. No thread
// of the launching grid ever learns that a grid has completed, for nothing in device code waits for
// it, except perhaps through a flag: see meetGrid.

// grids is what a detector knows of the streams of a grid.
type grids struct {
	streams map[streamKey]*gridStream
	events  map[uint64]gridCall // the last record of each event, by its handle
	warp    event.Warp          // of the last component
	lanes   uint8               // of warp that are components; 0: there is none
}

// streamKey names a stream: by its handle, and by its block if each has one.
type streamKey struct {
	handle uint64
	block  int64 // -1: a stream of the grid
}

// gridStream is a stream of the device.
type gridStream struct {
	component
	value uint32 // of the last grid
	knows *know  // with which the next one begins, whatever its thread knows
	// last are the last launches of each thread into the stream, and waits the waits for events that
	// no launch is known to follow.
	last  map[event.Thread]uint32
	waits []gridCall
}

// gridCall is a record of an event, or a wait for it: the thread that made it, its clock, and what
// has happened before the work behind it in the stream.
type gridCall struct {
	thread event.Thread
	clock  uint32
	knows  *know
}

// in reports whether a call, or a launch, happens before one with what k knows. Only then does it
// come first in every execution.
func (c *gridCall) in(k *know) bool {
	return k.covers(c.thread.Warp(), 1<<c.thread.Lane(), c.clock)
}

// event records an event, or lets a stream wait for it. The event is what the thread knows to be in
// the stream: a launch of another thread that nothing orders with the record may come behind it.
// Likewise a wait counts for the launches behind it alone, if it knows of the record: one that
// comes before has no effect.
func (d *Detector) event(e *event.Launch, w *warp, s *gridStream, knows *know) {
	call := gridCall{thread: event.ThreadOf(e.Warp, e.Lane), clock: w.own[e.Lane]}
	if e.Wait {
		if rec, ok := d.grids.events[e.Event]; ok && rec.in(knows) {
			call.knows = rec.knows
			s.waits = append(s.waits, call)
		}
		return
	}
	call.knows = s.behind(knows)
	for t, clock := range s.last {
		if c := (gridCall{thread: t, clock: clock}); !c.in(knows) {
			call.knows = nil
		}
	}
	if d.grids.events == nil {
		d.grids.events = make(map[uint64]gridCall)
	}
	d.grids.events[e.Event] = call
}

// behind returns what has happened before work that is enqueued with what k knows.
func (s *gridStream) behind(k *know) *know {
	all := s.knows
	for i := range s.waits {
		if s.waits[i].in(k) {
			all = join(all, s.waits[i].knows)
		}
	}
	return all
}

// launched is what the pieces of one grid have in common.
type launched struct {
	fenced bool
	strong []event.GridAccess
}

// gridAccess is what a piece of a grid has that other pieces do not have.
type gridAccess struct {
	*launched
	strong bool
	write  bool
	origin uint32
}

// stream returns the stream of a launch by a thread of block b.
func (d *Detector) stream(e *event.Launch, b *block) *gridStream {
	if d.grids == nil {
		d.grids = &grids{streams: make(map[streamKey]*gridStream)}
	}
	g := d.grids
	key := streamKey{e.Stream, -1}
	if e.Shared {
		key.block = int64(b.id)
	}
	s := g.streams[key]
	if s != nil {
		return s
	}
	if g.lanes == 0 || g.lanes == event.WarpSize {
		g.warp, g.lanes = d.comps.next(), 0
	}
	s = &gridStream{component: component{g.warp, g.lanes}, value: firstValue}
	g.lanes++
	if !e.Alone {
		g.streams[key] = s
	}
	return s
}

// Launch checks what a grid has accessed, and records it.
func (d *Detector) Launch(e *event.Launch) {
	if d.opt.Execution {
		d.pass(e.Warp, e.Active)
		return
	}
	w, b := d.warpOf(e.Warp)
	s := d.stream(e, b)
	knows := d.clock(w, b, e.Lane)
	if e.Event != 0 {
		d.event(e, w, s, knows)
		w.tick(1 << e.Lane)
		d.pass(e.Warp, e.Active)
		return
	}
	if !e.Alone {
		s.knows = s.behind(knows) // a later grid of the stream is behind this one
		s.waits = slices.DeleteFunc(s.waits, func(c gridCall) bool { return c.in(knows) })
		if s.last == nil {
			s.last = make(map[event.Thread]uint32)
		}
		s.last[event.ThreadOf(e.Warp, e.Lane)] = w.own[e.Lane]
	}
	start := agentStart{w: w, b: b, lane: e.Lane, knows: join(knows, s.knows), generic: true}
	s.value++
	s.knows = join(start.knows, s.component.value(s.value))
	d.learnSite(&event.Access{Site: e.Site, Kind: event.Write, Size: 4})
	all := &launched{fenced: e.Fenced}
	for _, g := range e.Accesses {
		if g.Strong {
			all.strong = append(all.strong, g)
		}
	}
	for _, g := range e.Accesses {
		d.addGridPiece(&start, piece{lo: g.From, hi: g.To, component: s.component, value: s.value,
			generic: true, thread: event.ThreadOf(e.Warp, e.Lane), site: uint32(e.Site),
			grid: &gridAccess{all, g.Strong, g.Write, g.Origin}})
	}
	w.tick(1 << e.Lane) // what the thread does from now on, the grid does not know
	d.pass(e.Warp, e.Active)
}

// addGridPiece checks and records one piece of a grid.
func (d *Detector) addGridPiece(s *agentStart, p piece) {
	write := p.grid.write
	if write && d.opt.Objects != nil {
		d.writes(p.lo >> d.opt.Objects.Shift)
	}
	d.copying = event.Access{Warp: s.w.id, Site: event.Site(p.site), Mask: 1 << s.lane,
		Kind: p.grid.kind(), Space: event.Global, Size: 4, Addr: &d.elementAddr}
	a := access{Access: &d.copying, w: s.w, b: s.b, mem: d.global, write: write}
	d.eachShadow(d.global, p.lo, p.hi, write, func(e entry, at uint64) {
		d.checkGridEntry(s, &a, &p, e, at)
	})
	for no := p.lo >> partShift; no <= (p.hi-1)>>partShift; no++ {
		q := d.global.piecesIn(no)
		lo, hi := max(p.lo, no<<partShift), min(p.hi, (no+1)<<partShift)
		for i := range q.w {
			d.checkPieces(s, &a, &q.w[i], &p, lo, hi)
		}
		if !write {
			q.r = d.keep(s.b, d.global, q.r, p)
			continue
		}
		for i := range q.r {
			d.checkPieces(s, &a, &q.r[i], &p, lo, hi)
		}
		q.w = d.keep(s.b, d.global, q.w, p)
	}
}

// kind is that of an access.
func (g *gridAccess) kind() event.Kind {
	if g.write {
		return event.Write
	}
	return event.Read
}

// same reports whether a later piece of one component may take the place of an earlier one.
func (g *gridAccess) same(o *gridAccess) bool {
	return g == nil && o == nil || g != nil && o != nil && g.strong == o.strong
}

// checkGridEntry checks a grid against an earlier access of a thread. Loads through the
// non-coherent cache have no epochs, so that no race is found with them.
func (d *Detector) checkGridEntry(s *agentStart, a *access, p *piece, e entry, at uint64) {
	if e.clk == noncoherent ||
		e.clk < pending && s.knows.covers(event.Warp(e.warp), e.mask, e.clk) {
		return
	}
	if int(e.site) < len(d.sites) && d.sites[e.site].class.wide() &&
		(p.grid.strong || d.gridObserved(s, a, e, at)) {
		return
	}
	cause, other := NotWaited, lowestLane(e.mask)
	if !e.concurrent() {
		cause, other = Unordered, firstUnknown(s.knows, e)
	}
	d.gridRace(a, nil, p, e.site, event.ThreadOf(d.real(e.warp), other), at, cause)
}

// gridObserved reports whether a strong write precedes a grid because the launching thread, or one
// that it knows of, has observed it (observed.go).
func (d *Detector) gridObserved(s *agentStart, a *access, e entry, at uint64) bool {
	page := d.global.pageAt(at >> pageShift)
	word := uint32(at>>2) % pageWords
	if page == nil || page.fine != nil || page.split != nil && page.split[word] != nil ||
		!d.sites[e.site].kind.Writes() {
		return false
	}
	d.elementAddr[s.lane] = at &^ 3
	t := touching{access: a, page: page, at: at &^ 3, size: 4, mask: 1 << s.lane}
	if d.sites[e.site].kind == event.Write {
		racing, _ := d.storeObserved(&t, e, t.mask, 0)
		return racing == 0
	}
	c := d.cell(d.global, page, word)
	if !c.w.many() || d.sites[e.site].fails || !d.list(c.w.warp).chain() {
		return false
	}
	chain := d.list(c.w.warp).strong
	for i := range d.observer(&t, s.lane, chain) {
		if chain[i] == e {
			return true
		}
	}
	return false
}

// checkGridPieces checks two pieces of which one at least is of a grid, the second one that begins
// now.
func (d *Detector) checkGridPieces(s *agentStart, a *access, old, p *piece, at uint64) {
	switch {
	case old.known(s.knows, old.value):
		return
	case old.grid != nil && p.grid != nil && old.grid.launched == p.grid.launched:
		return // races within a grid are those of its own detector
	case old.grid != nil && p.grid != nil &&
		(old.grid.strong && p.grid.strong || old.grid.synchronized(p.grid)):
		return
	}
	cause := GridRuns
	if old.grid == nil {
		cause = NotWaited
	}
	d.gridRace(a, old, p, old.site, old.thread, at, cause)
}

// synchronized reports whether two grids may have ordered their accesses by themselves: through a
// flag that both access by strong accesses, with fences. What they did with it is not known, so
// that nothing is reported about them (as between launches: package order).
func (g *gridAccess) synchronized(h *gridAccess) bool {
	if !g.fenced || !h.fenced {
		return false
	}
	for _, a := range g.launched.strong {
		for _, b := range h.launched.strong {
			if a.Write && a.From < b.To && b.From < a.To {
				return true
			}
		}
	}
	return false
}

// meetGrid checks one lane's access against what a grid does. A strong access to what a grid has
// written by a strong one may find the grid's flag, so that the lane is taken to know all that the
// grid has done if it has executed a fence: the grid may have told it.
func (d *Detector) meetGrid(a *access, p *piece, l int, at uint64) {
	if a.class.wide() && p.grid.strong {
		if p.grid.fenced && p.grid.write {
			a.w.learn(1<<l, p.component.value(p.value), d.lanesOf(a.w.id))
		}
		return
	}
	d.firstGrid = p
	d.race(a, event.Site(p.site), p.thread, at, 1<<l, GridRuns)
	d.firstGrid = nil
}

// gridRace records a race of a piece with an earlier access, or with the piece old. Either may be
// of a grid.
func (d *Detector) gridRace(a *access, old, p *piece, site uint32, first event.Thread, at uint64,
	cause Cause) {
	d.firstGrid, d.secondGrid = old, p
	d.agentRace(a, site, first, at, cause)
	d.firstGrid, d.secondGrid = nil, nil
}

// describeGrids completes a race in which grids take part.
func (d *Detector) describeGrids(r *Race, at uint64) {
	set := func(a *Access, p *piece) {
		if p == nil || p.grid == nil {
			return
		}
		a.Grid, a.Origin, a.Kind, a.Async = true, p.grid.origin, p.grid.kind(), false
		a.Order, a.Scope, a.Proxy = event.Weak, 0, event.GenericProxy
		if p.grid.strong {
			a.Order, a.Scope = event.Relaxed, event.GPU
		}
		a.Addr, a.Size = at, uint8(min(4, p.hi-at))
	}
	set(&r.First, d.firstGrid)
	set(&r.Second, d.secondGrid)
}

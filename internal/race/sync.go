package race

import (
	"math/bits"
	"unsafe"

	"heddle/internal/event"
)

// Release and acquire patterns (PTX ISA 8.8, 8.9.4): the S_x of Barracuda §3.3.4 in the terms of
// the ISA.
//
// A strong write completes release patterns. The first operation of a pattern is its head: the
// write itself if it releases, an earlier release fence of its thread, or an earlier release
// operation of its thread on the same location. A strong read that observes the write, through any
// chain of atomics (8.9.2), makes the heads known to later acquire operations of its thread. Head
// and acquire synchronize if their scopes include each other's threads, so that heads are kept
// joined by their reach.
//
// Deviations from Barracuda: both scopes must include the other thread, where the paper accepts one
// global fence. A fence.sc is a fence.acq_rel, and part of the patterns of sc.go. Any other order
// which only sequential consistency establishes is missing, and a race may be reported in its place
// (docs/theory/happens-before.md).

// heads is what a read of a location publishes, by the reach of the pattern's first operation.
type heads struct {
	gpu     *know            // scope gpu or sys
	cluster map[uint32]*know // scope cluster or wider, by cluster of the releasing thread
	block   map[uint32]*know // any scope, by block
	sc      *know            // what fences knew from which a later fence.sc learns: sc.go
}

func (h *heads) none() bool { return h.gpu == nil && len(h.block) == 0 && h.sc == nil }

// seen is the part of heads that reaches one thread: each field applies if the scope of the acquire
// is at least that wide.
type seen struct{ gpu, cluster, block *know }

func (s seen) none() bool { return s.gpu == nil && s.cluster == nil && s.block == nil }

func (s seen) join(t seen) seen {
	return seen{join(s.gpu, t.gpu), join(s.cluster, t.cluster), join(s.block, t.block)}
}

// at returns what an acquire of the given scope learns.
func (s seen) at(scope event.Scope) *know {
	k := s.block
	if scope >= event.Cluster {
		k = join(k, s.cluster)
	}
	if scope >= event.GPU {
		k = join(k, s.gpu)
	}
	return k
}

// place is a synchronization location.
type place struct {
	space event.Space
	block uint32 // of shared memory
	addr  uint64
	size  uint8
}

// location is the state of a place that a release pattern has written.
type location struct {
	heads  heads
	writer event.Thread // last strong writer, for whether a read observes it
	scope  event.Scope
	proxy  event.Proxy
	// released holds release operations on this location by thread: a later strong write by the same
	// thread completes a pattern that starts there (8.8, second form).
	released map[event.Thread]*released
}

// released is what a thread knew at its last release operation of each scope.
type released [event.Sys + 1]*know

// patterns holds operations of the lanes of a warp that may become part of a pattern.
type patterns struct {
	fence    [event.Sys + 1]fences // last release fence of each scope
	fenced   uint32                // lanes with any
	observed [event.WarpSize]seen  // what strong reads have observed, for the next acquire fence
	watched  map[watch]seen        // the same by place, for an acquire operation on the place
	sc       scFences
}

// fences is what the lanes of a warp knew at their last release fence of one scope. Most fences are
// never used, so a converged warp stores its clocks, and trees are built only when a strong write
// needs them.
type fences struct {
	known *[event.WarpSize]*know // nil: of no lane
	lazy  uint32                 // lanes whose known is not built yet from the fields below
	own   [event.WarpSize]uint32
	mates uint32 // clock of the other lanes of the warp
	blk   uint32
	ext   *know
}

// at returns what a lane knew at its fence; nil if it had none.
func (f *fences) at(w *warp, b *block, all uint32, l int) *know {
	if f.lazy>>l&1 != 0 {
		was := warp{id: w.id, own: f.own, intra: f.mates, blk: f.blk, ext: f.ext}
		f.set(l, was.clock(l, all, b.first, b.end()))
		f.lazy &^= 1 << l
	}
	return f.of(l)
}

// of returns what a lane that is not lazy knew; nil if it had no fence.
func (f *fences) of(l int) *know {
	if f.known == nil {
		return nil
	}
	return f.known[l]
}

// set stores what a lane knew.
func (f *fences) set(l int, k *know) {
	if f.known == nil {
		f.known = new([event.WarpSize]*know)
	}
	f.known[l] = k
}

type watch struct {
	lane int
	at   place
}

func (w *warp) patterns() *patterns {
	if w.pat == nil {
		w.pat = &patterns{watched: make(map[watch]seen)}
	}
	return w.pat
}

// Fence makes what the lanes have observed known to them (acquire), and records what they know for
// later strong writes (release).
func (d *Detector) Fence(f *event.Fence) {
	w, b := d.warpOf(f.Warp)
	all := d.lanesOf(f.Warp)
	if f.Grid {
		d.gridWait(w, b, f.Mask)
	}
	if f.Grid || d.opt.Execution || d.opt.Static && b.objects == nil && !d.clustered ||
		!d.fences(f.Orders, b) {
		if d.opt.Model == event.Lockstep {
			w.endInstruction(f.Active, all)
		}
		return
	}
	p := w.patterns()
	for m := f.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if f.Order.Acquires() {
			if o := p.observed[l]; !o.none() {
				w.learn(1<<l, o.at(f.Scope), all)
			}
		}
	}
	if f.Order == event.SeqCst && f.Scope >= event.GPU {
		d.fenceSC(w, b, f.Mask)
	}
	if f.Order.Releases() {
		d.releaseFence(w, b, p, f)
	}
	w.tick(f.Mask)
	if d.opt.Model == event.Lockstep {
		w.endInstruction(f.Active, all)
	}
}

// releaseFence records what the lanes know now.
func (d *Detector) releaseFence(w *warp, b *block, p *patterns, f *event.Fence) {
	all := d.lanesOf(w.id)
	have := &p.fence[f.Scope]
	for m := have.lazy &^ f.Mask; m != 0; m &= m - 1 {
		have.at(w, b, all, bits.TrailingZeros32(m))
	}
	p.fenced |= f.Mask
	d.snapshot(w, b, have, f.Mask)
}

// snapshot stores what some lanes know now. No other lane of f is lazy.
func (d *Detector) snapshot(w *warp, b *block, f *fences, mask uint32) {
	if w.in == nil && w.lane == nil && w.act.mask == 0 && len(w.peers) == 0 {
		f.lazy, f.own, f.mates, f.blk, f.ext = mask, w.own, w.intra, w.blk, w.ext
		return
	}
	f.lazy = 0
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		f.set(l, d.clock(w, b, l))
	}
}

// strongAccess applies a strong access to the patterns, lane by lane, after all lanes were checked:
// what a lane acquires does not order the instruction's own accesses.
func (d *Detector) strongAccess(a *access) {
	released := uint32(0)
	plain := !a.Order.Acquires() && !a.Order.Releases()
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		fenced := a.w.pat != nil && a.w.pat.fenced>>l&1 != 0 || a.b.sc.any()
		if plain && !(fenced && a.write) && !d.isSync(a.mem, a.Addr[l], a.Size) {
			continue // neither ends nor observes a pattern
		}
		at := place{a.Space, 0, a.Addr[l], a.Size}
		if a.Space == event.Shared {
			at.block = a.homeID()
		}
		loc := d.locations[at]
		if a.Kind != event.Write {
			d.strongRead(a, loc, at, l)
		}
		if a.Stored>>l&1 != 0 {
			d.overwrite(a, at)
			if d.strongWrite(a, loc, at, l) {
				released |= 1 << l
			}
		}
	}
	if released != 0 {
		a.w.tick(released)
	}
}

// isSync reports whether a release pattern has ever written a word of the access.
func (d *Detector) isSync(m *memory, addr uint64, size uint8) bool {
	if len(d.locations) == 0 {
		return false
	}
	for x := addr &^ 3; x < addr+uint64(size); x += 4 {
		word := uint32(x>>2) % pageWords
		if d.page(m, x).synchronizes(word) {
			return true
		}
	}
	return false
}

// strongRead observes the heads of the write that the lane reads.
func (d *Detector) strongRead(a *access, loc *location, at place, l int) {
	if loc == nil || a.Kind == event.Reduce { // the read of a reduction forms no acquire pattern (8.8)
		return
	}
	w := a.w
	var s seen
	if !loc.heads.none() && d.observes(a, loc, l) {
		s = d.seenBy(loc, a.b.id)
	}
	p := w.patterns()
	if k := loc.heads.sc; k != nil && d.observes(a, loc, l) {
		p.sc.observe(l, k)
	}
	if !s.none() {
		d.observedAt(a, l)
		p.observed[l] = p.observed[l].join(s)
		key := watch{l, at}
		p.watched[key] = p.watched[key].join(s)
	}
	if a.Order.Acquires() {
		if s = p.watched[watch{l, at}]; !s.none() {
			w.learn(1<<l, s.at(a.Scope), d.lanesOf(w.id))
		}
	}
}

// observes reports whether the lane's access and the last strong write of the location are morally
// strong, without which the read does not observe the write's pattern.
func (d *Detector) observes(a *access, loc *location, l int) bool {
	t := event.ThreadOf(a.w.id, l)
	g := d.opt.Geometry
	return t == loc.writer || a.Proxy == loc.proxy && g.Includes(a.Scope, t, loc.writer) &&
		g.Includes(loc.scope, loc.writer, t)
}

func (d *Detector) seenBy(loc *location, block uint32) seen {
	return seen{loc.heads.gpu, loc.heads.cluster[d.opt.Geometry.ClusterOf(block)],
		loc.heads.block[block]}
}

// strongWrite makes the lane's write the last of its location, with the heads that it completes. It
// reports whether it published what the lane knows, so that a new epoch must start.
func (d *Detector) strongWrite(a *access, loc *location, at place, l int) bool {
	w, b := a.w, a.b
	t := event.ThreadOf(w.id, l)
	fenced := w.pat != nil && w.pat.fenced>>l&1 != 0
	if loc == nil {
		if !fenced && !a.Order.Releases() && !b.sc.any() {
			return false // ends no pattern, and there is none to break
		}
		loc = d.newLocation(a, at)
	}
	if !a.Kind.RMW() || !d.observes(a, loc, l) {
		loc.heads = heads{} // no atomic that continues the chain
	}
	loc.writer, loc.scope, loc.proxy = t, a.Scope, a.Proxy
	if a.Order.Releases() {
		if loc.released == nil {
			loc.released = make(map[event.Thread]*released)
		}
		if loc.released[t] == nil {
			loc.released[t] = new(released)
		}
		loc.released[t][a.Scope] = d.clock(w, b, l)
	}
	if r := loc.released[t]; r != nil {
		for scope := event.CTA; scope <= event.Sys; scope++ {
			d.publish(loc, b, scope, r[scope])
		}
	}
	if fenced {
		for scope := event.CTA; scope <= event.Sys; scope++ {
			d.publish(loc, b, scope, w.pat.fence[scope].at(w, b, d.lanesOf(w.id), l))
		}
		d.publish(loc, b, a.Scope, w.releasedTensor(l))
	}
	loc.heads.sc = join(loc.heads.sc, d.knownToSC(w, b, l))
	return a.Order.Releases()
}

// publish adds the head of a release pattern by a thread of a block.
func (d *Detector) publish(loc *location, b *block, scope event.Scope, k *know) {
	if k == nil {
		return
	}
	h := &loc.heads
	if h.block == nil {
		h.block, h.cluster = make(map[uint32]*know), make(map[uint32]*know)
	}
	h.block[b.id] = join(h.block[b.id], k)
	if scope >= event.Cluster {
		c := d.opt.Geometry.ClusterOf(b.id)
		h.cluster[c] = join(h.cluster[c], k)
	}
	if scope >= event.GPU {
		h.gpu = join(h.gpu, k)
	}
}

// newLocation makes a place a synchronization location, and marks its words so that weak writes
// break its chain.
func (d *Detector) newLocation(a *access, at place) *location {
	loc := &location{}
	d.bytes += uint64(unsafe.Sizeof(*loc))
	d.locations[at] = loc
	for x := at.addr &^ 3; x < at.addr+uint64(at.size); x += 4 {
		p := d.page(a.mem, x)
		if p.sync == nil {
			p.sync = new([pageWords / 64]uint64)
		}
		word := uint32(x>>2) % pageWords
		p.sync[word/64] |= 1 << (word % 64)
	}
	if at.space == event.Shared {
		a.b.places = append(a.b.places, at)
	}
	return loc
}

// overwrite ends the patterns of other locations that overlap with a strong write: a read of one of
// them would not overlap completely with this write.
func (d *Detector) overwrite(a *access, at place) {
	for x := at.addr &^ 3; x < at.addr+uint64(at.size); x += 4 {
		if word := uint32(x>>2) % pageWords; d.page(a.mem, x).synchronizes(word) {
			d.breakChain(a, x, at.addr, at)
		}
	}
}

// breakChain ends the patterns of the locations in one word that a write at addr overlaps, except
// for one location.
func (d *Detector) breakChain(a *access, word, addr uint64, but place) {
	at := place{space: a.Space}
	if a.Space == event.Shared {
		at.block = a.homeID()
	}
	for _, size := range [...]uint8{1, 2, 4, 8, 16} {
		at.size = size
		base := word &^ uint64(size-1)
		for x := base; x < base+max(4, uint64(size)); x += uint64(size) {
			at.addr = x
			if x >= addr+uint64(a.Size) || x+uint64(size) <= addr || at == but {
				continue
			}
			if loc := d.locations[at]; loc != nil {
				loc.heads = heads{}
			}
		}
	}
}

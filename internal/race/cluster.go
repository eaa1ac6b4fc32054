package race

import (
	"cmp"
	"math/bits"
	"slices"

	"heddle/internal/event"
)

// Clusters (PTX ISA 2.2.2, 9.7.13.3): blocks that access the shared memory of each other.
//
// The barrier of a cluster is one object. What an arrival releases, a wait for the same generation
// acquires; a relaxed arrival releases what an earlier release fence of its thread has covered, and
// fence.mbarrier_init covers the mbarrier.init of its thread only. So in a launch with clusters the
// write of an mbarrier.init is an access of a component (component.go), which a release of any kind
// passes on, and this fence alone.
//
// In the order of execution every arrival counts, and so does the exit of a thread, for which the
// barrier does not wait.
//
// Lifetime: the shared memory of a block exists from its start to the end of its last thread. An
// access e by a thread of another block, or an operation that it has issued there, has to come
//
//	L1  after something that a thread of the block has done, or the block may not have started;
//	L2  before the end of some thread of the block, or all of them may have ended: else the execution
//	    of what must precede these ends, without e, is one in which e finds no block.
//
// Both are about the order of execution, in which a relaxed arrival counts. In a run, a strong read
// that observes a strong write is ordered behind it as well (Options.Observes).
//
// The state of a block is kept until all blocks of its cluster have ended. So shared memory may
// hold accesses that no thread can race with any more, and is not compacted by what one block
// knows.

// clusterState is the state of the barrier of a cluster.
type clusterState struct {
	open *know // what the arrivals of the generation at hand have released
	done *know // and those of the last complete one
	// what threads knew that have arrived in the generation at hand and ended since: the next one
	// does not wait for them
	next       *know
	generation uint64
	live       uint32
}

// clusterArrival are the lanes of a warp that have arrived in a generation.
type clusterArrival struct {
	generation uint64
	mask       uint32
}

// warpInits are the mbarrier.init of the lanes of a warp.
type warpInits struct {
	comp   event.Warp
	value  [event.WarpSize]uint32
	fenced uint32 // lanes that have executed fence.mbarrier_init since their first
	known  [event.WarpSize]uint32
}

// clusterOf returns the state of the cluster of a block.
func (d *Detector) clusterOf(b *block) *clusterState {
	id := d.opt.Geometry.ClusterOf(b.id)
	c := d.clusters[id]
	if c == nil {
		c = &clusterState{live: d.opt.Geometry.Ranks()}
		if d.clusters == nil {
			d.clusters = make(map[uint32]*clusterState)
		}
		d.clusters[id] = c
	}
	return c
}

// homeOf returns the block whose shared memory an event of a warp of b is about.
func (d *Detector) homeOf(p event.Peer, b *block) *block {
	if p == 0 {
		return b
	}
	return d.peerOf(p, b)
}

// peerOf returns the block of the cluster of b that p names.
func (d *Detector) peerOf(p event.Peer, b *block) *block {
	return d.blockOf(event.Warp(p.Block(b.id) * d.perBlock))
}

// Cluster handles an operation at the barrier of a cluster.
func (d *Detector) Cluster(e *event.ClusterBarrier) {
	w, b := d.warpOf(e.Warp)
	c := d.clusterOf(b)
	switch e.Op {
	case event.ClusterComplete:
		c.done, c.open, c.next = c.open, c.next, nil
		c.generation++
		return
	case event.ClusterWait:
		w.learn(e.Mask, c.done, d.lanesOf(w.id))
	case event.ClusterArrive:
		d.arriveAtCluster(c, w, b, e)
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// arriveAtCluster adds what lanes release to the generation.
func (d *Detector) arriveAtCluster(c *clusterState, w *warp, b *block, e *event.ClusterBarrier) {
	if w.arrived.generation != c.generation {
		w.arrived = clusterArrival{generation: c.generation}
	}
	w.arrived.mask |= e.Mask
	if e.Order.Releases() || d.opt.Execution {
		c.open = d.addClocks(c.open, w, b, e.Mask)
		w.tick(e.Mask)
		return
	}
	if w.inits != nil {
		c.open = join(c.open, w.inits.released(e.Mask))
	}
	if w.pat == nil {
		return
	}
	for t := e.Mask & w.pat.fenced; t != 0; t &= t - 1 {
		l := lowestLane(t)
		for scope := event.Cluster; scope <= event.Sys; scope++ {
			c.open = join(c.open, w.pat.fence[scope].at(w, b, d.lanesOf(w.id), l))
		}
		c.open = join(c.open, w.releasedTensor(l))
	}
}

// released returns what the last fence.mbarrier_init of some lanes has covered.
func (i *warpInits) released(mask uint32) *know {
	var lanes [event.WarpSize]uint32
	for t := mask & i.fenced; t != 0; t &= t - 1 {
		lanes[lowestLane(t)] = i.known[lowestLane(t)]
	}
	return (*know)(nil).withLanes(i.comp, &lanes)
}

// InitFence handles fence.mbarrier_init.
func (d *Detector) InitFence(e *event.InitFence) {
	w, _ := d.warpOf(e.Warp)
	if i := w.inits; i != nil && !d.opt.Execution {
		i.fenced |= e.Mask
		for t := e.Mask; t != 0; t &= t - 1 {
			i.known[lowestLane(t)] = i.value[lowestLane(t)]
		}
	}
	if d.opt.Model == event.Lockstep {
		w.endInstruction(e.Active, d.lanesOf(e.Warp))
	}
}

// initEpoch returns the entry of the mbarrier.init of a lane, which the lane knows from then on.
func (d *Detector) initEpoch(w *warp, l int, site event.Site) entry {
	if w.inits == nil {
		w.inits = &warpInits{comp: d.comps.nextOf(w.id)}
		d.comps.stores = append(d.comps.stores, w.inits.comp)
		for i := range w.inits.value {
			w.inits.value[i] = firstValue
		}
	}
	w.inits.value[l]++
	c := component{w.inits.comp, uint8(l)}
	w.learn(1<<l, c.value(w.inits.value[l]), d.lanesOf(w.id))
	return entry{uint32(c.warp), w.inits.value[l], 1 << l, uint32(site)}
}

// LifetimeKind says how an access may miss the life of the block whose memory it is in.
type LifetimeKind uint8

const (
	// NotStarted: the block may not have started (L1).
	NotStarted LifetimeKind = iota
	// MayHaveEnded: all threads of the block may have ended (L2).
	MayHaveEnded
)

// LifetimeError is a finding about an access to the shared memory of another block.
type LifetimeError struct {
	Kind   LifetimeKind
	Thread event.Thread
	Site   event.Site
	Agent  bool   // by an asynchronous operation that Thread has issued
	Block  uint32 // whose memory it is
	Count  uint64 // of threads, at the same place
}

// remoteKey names accesses to the memory of a block by a warp at one place.
type remoteKey struct {
	home, warp uint32
	site       event.Site
}

// remoteAccess are the last accesses of the lanes of a warp at a place.
type remoteAccess struct {
	mask  uint32
	epoch [event.WarpSize]uint32
}

// remoteSignal is the last phase that an operation at a place has signalled to an object.
type remoteSignal struct {
	m     *phased
	phase uint64
	by    event.Thread
	open  int // operations that have not signalled yet
}

// signalKey names operations of a place at an object.
type signalKey struct {
	m    *phased
	site event.Site
}

// lifetimes is what the order of execution keeps of accesses to other blocks.
type lifetimes struct {
	accesses map[remoteKey]*remoteAccess
	signals  map[uint32]map[signalKey]*remoteSignal // by the block of the object
	index    map[lifetimeKey]int
	errors   []LifetimeError
}

type lifetimeKey struct {
	kind LifetimeKind
	site event.Site
}

func (d *Detector) lives() *lifetimes {
	if d.remote == nil {
		d.remote = &lifetimes{accesses: make(map[remoteKey]*remoteAccess),
			signals: make(map[uint32]map[signalKey]*remoteSignal), index: make(map[lifetimeKey]int)}
	}
	return d.remote
}

// reaches examines an access of lanes to the memory of another block, and remembers it.
func (d *Detector) reaches(w *warp, home *block, mask uint32, site event.Site) {
	d.started(w, home, mask, site, false)
	key := remoteKey{home.id, uint32(w.id), site}
	v := d.lives().accesses[key]
	if v == nil {
		v = new(remoteAccess)
		d.remote.accesses[key] = v
	}
	v.mask |= mask
	for t := mask; t != 0; t &= t - 1 {
		v.epoch[lowestLane(t)] = w.own[lowestLane(t)]
	}
}

// started checks L1.
func (d *Detector) started(w *warp, home *block, mask uint32, site event.Site, agent bool) {
	for t := mask; t != 0; t &= t - 1 {
		k, any := w.beyond(lowestLane(t)), false
		for i := range home.warps {
			for m := d.lanesOf(home.warps[i].id); m != 0 && !any; m &= m - 1 {
				any = k.of(home.warps[i].id, lowestLane(m)) > 0
			}
			if any {
				break
			}
		}
		if !any {
			d.lifetimeError(NotStarted, event.ThreadOf(w.id, lowestLane(t)), site, agent, home.id)
		}
	}
}

// issues examines an operation that will signal an object of a block, and returns the records of
// the blocks whose memory it accesses: none if that is only its own.
func (d *Detector) issues(w *warp, own, home *block, m *phased, mask uint32, site event.Site,
	touches []event.Peer) (out []*remoteSignal) {
	blocks := []*block{home}
	for _, p := range touches {
		if b := d.homeOf(p, own); !slices.Contains(blocks, b) {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 1 && home == own {
		return nil
	}
	t := event.ThreadOf(w.id, lowestLane(mask))
	for _, b := range blocks {
		if b != own {
			d.started(w, b, mask, site, true)
		}
		s := d.signalOf(b, m, site, t)
		s.open++
		out = append(out, s)
	}
	return out
}

// signalOf returns the record of the operations of a place at an object.
func (d *Detector) signalOf(home *block, m *phased, site event.Site, t event.Thread) *remoteSignal {
	of := d.lives().signals[home.id]
	if of == nil {
		of = make(map[signalKey]*remoteSignal)
		d.remote.signals[home.id] = of
	}
	s := of[signalKey{m, site}]
	if s == nil {
		s = &remoteSignal{m: m, by: t}
		of[signalKey{m, site}] = s
	}
	return s
}

// lifetimeError records a finding, or counts it.
func (d *Detector) lifetimeError(kind LifetimeKind, t event.Thread, site event.Site, agent bool,
	block uint32) {
	key := lifetimeKey{kind, site}
	if i, ok := d.lives().index[key]; ok {
		d.remote.errors[i].Count++
		return
	}
	d.remote.index[key] = len(d.remote.errors)
	d.remote.errors = append(d.remote.errors, LifetimeError{kind, t, site, agent, block, 1})
}

// exitCluster takes note of lanes that exit: the barrier of the cluster does not wait for them, in
// the generation at hand if they have not arrived in it.
func (d *Detector) exitCluster(w *warp, b *block, mask uint32) {
	if d.opt.Execution {
		c := d.clusterOf(b)
		if w.arrived.generation != c.generation {
			w.arrived.mask = 0
		}
		if m := mask & w.arrived.mask; m != 0 {
			c.next = d.addClocks(c.next, w, b, m)
		}
		if m := mask &^ w.arrived.mask; m != 0 {
			c.open = d.addClocks(c.open, w, b, m)
		}
		w.tick(mask)
	}
}

// endCluster frees the blocks of a cluster when the last one of them has ended.
func (d *Detector) endCluster(b *block) {
	c := d.clusterOf(b)
	if c.live--; c.live > 0 {
		return
	}
	g := d.opt.Geometry
	id := g.ClusterOf(b.id)
	for r := range g.Ranks() {
		d.checkEnds(d.blockOf(event.Warp(g.ClusterBlock(id, r) * d.perBlock)))
	}
	for r := range g.Ranks() {
		d.endBlock(d.blockOf(event.Warp(g.ClusterBlock(id, r) * d.perBlock)))
	}
	delete(d.clusters, id)
}

// checkEnds checks L2 for the accesses to the memory of a block.
func (d *Detector) checkEnds(b *block) {
	if d.remote == nil {
		return
	}
	keys := make([]remoteKey, 0, len(d.remote.accesses))
	for key := range d.remote.accesses {
		if key.home == b.id {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b remoteKey) int {
		return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(a.warp, b.warp))
	})
	for _, key := range keys {
		v := d.remote.accesses[key]
		for t := v.mask; t != 0; t &= t - 1 {
			l := lowestLane(t)
			at := event.ThreadOf(event.Warp(key.warp), l)
			if !d.endsAfter(b, func(u event.Thread) bool { return d.knows(u, at) >= v.epoch[l] }) {
				d.lifetimeError(MayHaveEnded, at, key.site, false, b.id)
			}
		}
		delete(d.remote.accesses, key)
	}
	var signals []signalKey
	for key := range d.remote.signals[b.id] {
		signals = append(signals, key)
	}
	slices.SortFunc(signals, func(a, b signalKey) int { return cmp.Compare(a.site, b.site) })
	for _, key := range signals {
		s := d.remote.signals[b.id][key]
		need := key.m.value(s.phase + 1)
		if s.open > 0 || !d.endsAfter(b, func(u event.Thread) bool {
			w, _ := d.warpOf(u.Warp())
			return key.m.component.known(w.beyond(u.Lane()), need)
		}) {
			d.lifetimeError(MayHaveEnded, s.by, key.site, true, b.id)
		}
	}
	delete(d.remote.signals, b.id)
}

// endsAfter reports whether some thread of a block ends behind an event, as knows says.
func (d *Detector) endsAfter(b *block, knows func(event.Thread) bool) bool {
	for i := range b.warps {
		w := &b.warps[i]
		for t := d.lanesOf(w.id); t != 0; t &= t - 1 {
			if knows(event.ThreadOf(w.id, bits.TrailingZeros32(t))) {
				return true
			}
		}
	}
	return false
}

// observe is Access for the order of execution: of a run, strong accesses that observe each other
// are ordered, whatever they order in memory.
func (d *Detector) observe(e *event.Access) {
	w, b := d.warpOf(e.Warp)
	home := d.homeOf(e.Peer, b)
	if e.Peer != 0 {
		d.reaches(w, home, e.Mask, e.Site)
	}
	if d.opt.Observes && e.Order.Strong() {
		d.relaxed = *e
		d.relaxed.Order, d.relaxed.Scope = event.AcqRel, event.Sys
		d.strongAccess(&access{Access: &d.relaxed, w: w, b: b, home: home,
			mem: d.memoryOf(e.Space, home), write: e.Kind.Writes()})
	}
	d.pass(e.Warp, e.Active)
}

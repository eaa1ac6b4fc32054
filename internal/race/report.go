package race

import (
	"math/bits"

	"heddle/internal/event"
)

// raceKey groups races: by pair of instructions, whichever came first, and by space.
type raceKey struct {
	a, b  event.Site
	space event.Space
	level bool // branch ordering, which is a finding of its own
	late  bool // Cause.late, which is one too
}

// hazard is a warp and a location of a group. The lanes of the warp that race there, each of which
// is one hazard of a report, are its value in group.hazards.
type hazard struct {
	warp  event.Warp
	block uint32
	addr  uint64
}

// MaxHazards bounds the memory for telling hazards of one group apart. Beyond it Race.Hazards no
// longer grows.
const MaxHazards = 1 << 16

// group is what a report says of a pair of sites. A program that polls a word finds the same hazard
// again and again: last is the one that was found last.
type group struct {
	race    Race
	hazards map[hazard]uint32
	count   int // lanes of hazards
	across  int // those of them that are between blocks
	last    hazard
	lanes   uint32 // of last
}

// farther reports whether threads at a level are farther apart than those of the hazards of the
// group that are kept.
func (g *group) farther(level Level, cause Cause) bool {
	was := &g.race
	if was.Far != nil {
		was = was.Far
	}
	return was.Level < level && level <= InterBlock && cause == g.race.Cause
}

// add adds lanes to a hazard between threads at a level.
func (g *group) add(h hazard, lanes uint32, level Level) {
	if g.count >= MaxHazards || h == g.last && lanes&^g.lanes == 0 {
		return
	}
	was := g.hazards[h]
	g.last, g.lanes = h, was|lanes
	if g.lanes != was {
		n := bits.OnesCount32(lanes &^ was)
		g.count += n
		if level == InterBlock {
			g.across += n
		}
		g.hazards[h] = g.lanes
	}
}

// found reports that lanes of an access race with an earlier entry.
func (d *Detector) found(t *touching, e entry, racing uint32, other int) {
	first := event.ThreadOf(d.real(e.warp), other)
	cause := Unordered
	switch {
	case e.clk == noncoherent || t.Proxy != event.GenericProxy:
		cause = OtherProxy
	case e.concurrent() || event.Warp(e.warp) >= d.comps.first && d.sites[e.site].async:
		cause = NotWaited
	}
	// one hazard for each word, whether or not the words are twins
	for at := t.at; at < t.at+uint64(t.size); at += 4 {
		d.race(t.access, event.Site(e.site), first, at, racing, cause)
	}
}

// race records a race between lanes of an access and an earlier access, at the cell with address
// at.
func (d *Detector) race(a *access, site event.Site, first event.Thread, at uint64, racing uint32,
	cause Cause) {
	if !d.examines(a) {
		return
	}
	d.noted = true
	l := bits.TrailingZeros32(racing)
	level := d.levelOf(a, first, event.ThreadOf(a.w.id, l), cause)
	key := raceKey{min(site, a.Site), max(site, a.Site), a.Space, level == BranchOrdering,
		cause.late()}
	i, ok := d.raceIndex[key]
	if !ok {
		i = len(d.groups)
		d.raceIndex[key] = i
		d.groups = append(d.groups, group{hazards: make(map[hazard]uint32)})
		d.groups[i].race = d.exampleOf(a, site, first, at, l, cause)
	} else if g := &d.groups[i]; g.race.Cause.fence() && !cause.fence() {
		// What nothing orders is more than what misses a proxy fence, which a user may do without.
		far := g.race.Far
		g.race = d.exampleOf(a, site, first, at, l, cause)
		g.race.Far = far
	} else if d.groups[i].farther(level, cause) {
		r := d.raceOf(a, site, first, at, l, cause)
		d.groups[i].race.Far = &r
		d.examples++
	}
	h := hazard{warp: a.w.id, addr: at}
	if a.Space == event.Shared || a.Space == event.Tensor {
		h.block = a.homeID()
	}
	d.groups[i].add(h, racing, level)
}

// fence reports whether nothing but a fence between proxies is missing.
func (c Cause) fence() bool { return c == NoProxyFence || c == NoMapFence }

// late reports whether the accesses are ordered, but not as the ISA advises.
func (c Cause) late() bool { return c == LateProxyFence || c == NoTensorFence }

// exampleOf is raceOf for the race that stands for its group.
func (d *Detector) exampleOf(a *access, site event.Site, first event.Thread, at uint64, l int,
	cause Cause) Race {
	r := d.raceOf(a, site, first, at, l, cause)
	r.First.AfterFault = d.afterFault(r.First.Thread)
	r.Second.AfterFault = d.afterFault(r.Second.Thread)
	d.examples++
	return r
}

// raceOf describes the race of lane l of an access with an earlier access, at the cell with address
// at.
func (d *Detector) raceOf(a *access, site event.Site, first event.Thread, at uint64, l int,
	cause Cause) Race {
	s := &d.sites[site]
	second := event.ThreadOf(a.w.id, l)
	r := Race{Space: a.Space,
		First: Access{Thread: first, Site: site, Kind: s.kindIn(a.Space), Order: s.order,
			Scope: s.scope, Proxy: s.proxy, Async: s.async, Addr: at &^ uint64(s.size-1), Size: s.size},
		Second: Access{Thread: second, Site: a.Site, Kind: a.Kind, Order: a.Order, Scope: a.Scope,
			Proxy: a.Proxy, Async: a.copied != nil || a.bulk, Addr: a.Addr[l], Size: a.Size},
		Level: d.levelOf(a, first, second, cause), Cause: cause, Interval: a.w.round,
	}
	if d.mapRead {
		r.First.Kind, r.First.Proxy = event.Read, event.TensorMapProxy
	}
	if d.firstGrid != nil || d.secondGrid != nil {
		d.describeGrids(&r, at)
	}
	if a.Space == event.Shared || a.Space == event.Tensor {
		r.Block = a.homeID()
	}
	if p := d.firstTensor; p != nil {
		r.First.Kind, r.First.Addr, r.First.Size = p.kind(), at, 1
		r.First.Async = !p.allocates
	}
	return r
}

// examines reports whether races of an access are looked for: in its space, or, of Options.Ranked,
// in the memory of its block.
func (d *Detector) examines(a *access) bool {
	return d.reports(a.Space) && (!d.opt.Ranked || d.rankOf(a.homeID()) == d.opt.Rank)
}

// rankOf is the rank of a block in its cluster.
func (d *Detector) rankOf(block uint32) uint32 {
	g := d.opt.Geometry
	c := g.ClusterOf(block)
	for r := range g.Ranks() {
		if g.ClusterBlock(c, r) == block {
			return r
		}
	}
	return 0
}

// reports reports whether races in a space are looked for. Tensor memory belongs to a block as its
// shared memory does.
func (d *Detector) reports(s event.Space) bool {
	if s == event.Tensor {
		s = event.Shared
	}
	return d.opt.Only == event.NoSpace || d.opt.Only == s
}

// tolerate counts tolerated writes of the same value.
func (d *Detector) tolerate(s event.Space) {
	if d.reports(s) {
		d.noted = true
		d.tolerated++
	}
}

// kindIn returns the kind of the site's access to a space: an asynchronous copy reads global memory
// and writes shared memory.
func (s *siteInfo) kindIn(space event.Space) event.Kind {
	if s.async && space != s.to {
		return event.Read
	}
	return s.kind
}

// levelOf classifies a race by the distance of its threads. In the lockstep model, unordered lanes
// of a warp are either in one instruction or on different paths of a branch (Barracuda §3.3.1).
func (d *Detector) levelOf(a *access, first, second event.Thread, cause Cause) Level {
	switch {
	case first == second:
		return SameThread
	case first.Warp() == a.w.id:
		if d.opt.Model == event.Lockstep && !d.within && cause == Unordered {
			return BranchOrdering
		}
		return IntraWarp
	case uint32(first.Warp())/d.perBlock == a.b.id:
		return IntraBlock
	}
	return InterBlock
}

// sameInstruction checks lanes of one instruction that write one location (Barracuda §3.3.1,
// "intra-warp races"). Strong writes by lanes of one block are morally strong. Benign decides
// whether equal values are tolerated.
func (d *Detector) sameInstruction(a *access, addr uint64, mask uint32) {
	if a.class != 0 {
		return
	}
	first := bits.TrailingZeros32(mask)
	differ := uint32(0)
	for m := mask &^ (1 << first); m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if d.opt.Benign == event.BenignNone || !a.sameValue(first, l) {
			differ |= 1 << l
		}
	}
	if differ == 0 {
		d.tolerate(a.Space)
		return
	}
	cause := Unordered
	if a.copied != nil {
		cause = NotWaited
	}
	d.within = true
	for at := addr; at < addr+uint64(a.Size); at += 4 {
		d.race(a, a.Site, event.ThreadOf(a.w.id, first), at, differ, cause)
	}
	d.within = false
}

// sameValue reports whether two lanes of one instruction are known to write the same.
func (a *access) sameValue(l, u int) bool {
	if a.copied != nil {
		return a.copied.sameSource(l, u)
	}
	return a.Data != nil && sameData(a.Access, l, u)
}

// sameData compares the values that two lanes write.
func sameData(a *event.Access, l, u int) bool {
	for k := range (int(a.Size) + 7) / 8 {
		if a.Data[k][l] != a.Data[k][u] {
			return false
		}
	}
	return true
}

// otherValue returns the lanes of t that write another value than the cell holds. Values are kept
// for BenignAll only.
func (d *Detector) otherValue(t *touching) uint32 {
	if t.page.vals == nil || t.Data == nil {
		return t.mask
	}
	differ := uint32(0)
	for m := t.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for x, ok := t.bytes(l); ok; x, ok = t.next(l, x) {
			if t.page.vals[x%(1<<pageShift)] != dataByte(t.Access, l, x) {
				differ |= 1 << l
			}
		}
	}
	return differ
}

// agreeing returns the lanes that write the same value to the cell as the first of them. One value
// is kept for a cell, so that lanes of one instruction that write another value are not recorded:
// their race has been reported.
func (t *touching) agreeing() uint32 {
	first := bits.TrailingZeros32(t.mask)
	if t.Data == nil {
		return t.mask
	}
	same := t.mask
	for m := t.mask &^ (1 << first); m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for x, ok := t.bytes(first); ok; x, ok = t.next(first, x) {
			if dataByte(t.Access, first, x) != dataByte(t.Access, l, x) {
				same &^= 1 << l
			}
		}
	}
	return same
}

// keepValue stores what the lanes of t write to the cell.
func (d *Detector) keepValue(t *touching) {
	if t.Data == nil {
		return
	}
	if t.page.vals == nil {
		t.page.vals = new([1 << pageShift]byte)
		d.bytes += 1 << pageShift
	}
	l := bits.TrailingZeros32(t.mask)
	for x, ok := t.bytes(l); ok; x, ok = t.next(l, x) {
		t.page.vals[x%(1<<pageShift)] = dataByte(t.Access, l, x)
	}
}

// bytes and next enumerate the bytes of the cell that lane l accesses.
func (t *touching) bytes(l int) (uint64, bool) {
	x := max(t.at, t.Addr[l])
	return x, x < min(t.at+uint64(t.size), t.Addr[l]+uint64(t.Size))
}

func (t *touching) next(l int, x uint64) (uint64, bool) {
	x++
	return x, x < min(t.at+uint64(t.size), t.Addr[l]+uint64(t.Size))
}

// dataByte returns the byte at address x that lane l writes.
func dataByte(a *event.Access, l int, x uint64) byte {
	i := x - a.Addr[l]
	return byte(a.Data[i/8][l] >> (8 * (i % 8)))
}

// Examples is how many examples of races were found so far. It tells a consumer of the same events
// which of them completed one.
func (d *Detector) Examples() int { return d.examples }

// Proxies applies what a user takes for right in accesses through both proxies. With writer, a
// proxy fence must be by the thread of the access, so that a late one is a race. With reads, a
// generic read needs none before a write through the async proxy. It returns the number of races
// that this leaves out. PTX ISA 8.9.5 asks for a fence in both cases, by any thread of the block.
func (r *Report) Proxies(writer, reads bool) (ignored uint64) {
	war := func(rc *Race) bool {
		late := rc.Cause == NoProxyFence || rc.Cause == LateProxyFence
		return late && rc.First.Kind == event.Read
	}
	keep := func(list []Race) []Race {
		out := list[:0]
		for i := range list {
			if reads && war(&list[i]) {
				ignored += list[i].Hazards
				continue
			}
			out = append(out, list[i])
		}
		return out
	}
	r.Races, r.Late = keep(r.Races), keep(r.Late)
	if writer {
		var other []Race
		for i := range r.Late {
			if r.Late[i].Cause == LateProxyFence {
				r.Races = append(r.Races, r.Late[i])
			} else {
				other = append(other, r.Late[i])
			}
		}
		r.Late = other
	}
	return ignored
}

// Report returns the findings so far.
func (d *Detector) Report() *Report {
	r := &Report{Tolerated: d.tolerated, Barriers: append([]BarrierError(nil), d.errors...),
		Exchanges: d.reportExchanges(), Phases: append([]PhaseError(nil), d.phaseErrors...),
		Early: d.reportEarly(), Maps: append([]MapUse(nil), d.mapUses...)}
	if d.remote != nil {
		r.Lifetimes = append(r.Lifetimes, d.remote.errors...)
	}
	for i := range d.groups {
		g := &d.groups[i]
		g.race.Hazards, g.race.Across = uint64(min(g.count, MaxHazards)), uint64(g.across)
		if g.race.Cause.late() {
			r.Late = append(r.Late, g.race)
		} else {
			r.Races = append(r.Races, g.race)
		}
	}
	return r
}

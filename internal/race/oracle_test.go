package race

import (
	"flag"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
	"heddle/internal/testing/long"
	"heddle/internal/testing/oracle"
)

// The property tests below compare the detector with package oracle on random event streams. The
// streams are small and dense: few lanes, few bytes, all orders, scopes and sizes, so that accesses
// collide often.

// stream drives both detectors.
type stream struct {
	rt    *rapid.T
	geo   event.Geometry
	det   *Detector
	ora   *oracle.Oracle
	sites []event.Access        // static part of each site
	lanes uint32                // lanes that act
	past  [][]epochs            // by thread: its last accesses
	busy  map[event.Thread]bool // threads that wait at a barrier
	log   []string
	parts bool // operations may order one space only
	own   bool // they may order the memory of their own block only, and lanes access that of others
	sizes []uint8

	noCopies bool // half of the streams have no asynchronous copies
}

// epochs are the clocks of the two detectors for one access.
type epochs struct{ det, ora uint32 }

func newStream(rt *rapid.T, model event.WarpModel, benign event.Benign, parts bool) *stream {
	geo := event.Geometry{
		Grid: event.Dim3{X: uint32(rapid.IntRange(1, 4).Draw(rt, "blocks")), Y: 1, Z: 1},
		Block: event.Dim3{X: rapid.SampledFrom([]uint32{32, 34, 64, 66}).Draw(rt, "threads"), Y: 1,
			Z: 1},
		Cluster: event.Dim3{X: uint32(rapid.IntRange(1, 2).Draw(rt, "cluster")), Y: 1, Z: 1},
	}
	s := &stream{rt: rt, geo: geo, lanes: 0b1011, parts: parts}
	only := event.NoSpace
	if parts {
		only = rapid.SampledFrom([]event.Space{event.Global, event.Shared}).Draw(rt, "only")
	}
	if rapid.Bool().Draw(rt, "all lanes") {
		s.lanes = ^uint32(0)
	}
	s.noCopies = rapid.Bool().Draw(rt, "no copies")
	s.det = New(Options{Geometry: geo, Model: model, Benign: benign, SharedBytes: 1024, Only: only,
		Exchanges: true})
	tolerate := map[event.Benign]func(bool) bool{
		event.BenignWarp: func(same bool) bool { return same },
		event.BenignAll:  func(bool) bool { return true }}[benign]
	s.ora = oracle.New(oracle.Options{Geometry: geo, Lockstep: model == event.Lockstep,
		Tolerate: tolerate, Only: only})
	s.past = make([][]epochs, int(geo.Blocks())*geo.WarpsPerBlock()*event.WarpSize)
	s.busy = make(map[event.Thread]bool)
	// Pages of bytes and of halves are kept in another form until an access of another size comes.
	s.sizes = rapid.SampledFrom([][]uint8{{1, 2, 4, 4, 4, 8, 16}, {1}, {2}, {1, 1, 1, 1, 4},
		{2, 2, 2, 2, 1}}).Draw(rt, "sizes")
	for i := range 10 {
		s.sites = append(s.sites, s.site(event.Site(i)))
	}
	return s
}

// site generates an instruction: its kind, order, scope, space and size are static.
func (s *stream) site(id event.Site) event.Access {
	a := event.Access{Site: id, Kind: event.Kind(rapid.IntRange(0, 3).Draw(s.rt, "kind"))}
	a.Space = rapid.SampledFrom([]event.Space{event.Global, event.Shared}).Draw(s.rt, "space")
	a.Size = rapid.SampledFrom(s.sizes).Draw(s.rt, "size")
	orders := map[event.Kind][]event.Order{
		event.Read:   {event.Weak, event.Weak, event.Relaxed, event.Acquire},
		event.Write:  {event.Weak, event.Weak, event.Relaxed, event.Release},
		event.Atomic: {event.Relaxed, event.Acquire, event.Release, event.AcqRel},
		event.Reduce: {event.Relaxed, event.Release},
	}[a.Kind]
	a.Order = rapid.SampledFrom(orders).Draw(s.rt, "order")
	if a.Order.Strong() {
		a.Scope, a.Orders = s.scope(), s.orders()
		if a.Size >= 8 && !a.Kind.RMW() && rapid.Bool().Draw(s.rt, "vector") {
			a.Elem = 4
		}
	} else if a.Kind == event.Read && a.Space == event.Global &&
		rapid.IntRange(0, 3).Draw(s.rt, "noncoherent") == 0 {
		a.Proxy = rapid.SampledFrom([]event.Proxy{event.TextureProxy, event.FetchProxy}).Draw(s.rt,
			"proxy")
	}
	return a
}

func (s *stream) scope() event.Scope {
	return rapid.SampledFrom([]event.Scope{event.CTA, event.Cluster, event.GPU, event.GPU,
		event.Sys}).Draw(s.rt, "scope")
}

func (s *stream) orders() event.Orders {
	if !s.parts {
		return event.OrdersAll
	}
	return rapid.SampledFrom([]event.Orders{event.OrdersAll, event.OrdersGlobal, event.OrdersShared,
		event.OrdersNone}).Draw(s.rt, "orders")
}

// newOwnStream returns a stream of a cluster of two or three blocks whose fences may order the shared
// memory of their own block only (PTX ISA 9.7.13.4, .sync_restrict::shared::cta). Its lanes access
// the memory of each other's blocks, and races in that of one block are compared.
func newOwnStream(rt *rapid.T) *stream {
	ranks := uint32(rapid.IntRange(2, 3).Draw(rt, "ranks"))
	s := &stream{rt: rt, own: true, noCopies: true, lanes: 0b1, sizes: []uint8{4}}
	s.geo = event.Geometry{Grid: event.Dim3{X: ranks, Y: 1, Z: 1},
		Block: event.Dim3{X: 32, Y: 1, Z: 1}, Cluster: event.Dim3{X: ranks, Y: 1, Z: 1}}
	home := uint32(rapid.IntRange(0, int(ranks)-1).Draw(rt, "home"))
	s.det = New(Options{Geometry: s.geo, Benign: event.BenignNone, SharedBytes: 1024,
		Only: event.Shared, Ranked: true, Rank: home, Exchanges: true})
	s.ora = oracle.New(oracle.Options{Geometry: s.geo, Only: event.Shared, Homed: true, Home: home})
	s.past = make([][]epochs, int(s.geo.Blocks())*event.WarpSize)
	s.busy = make(map[event.Thread]bool)
	for i := range 6 {
		s.sites = append(s.sites, s.site(event.Site(i)))
	}
	return s
}

// restricted returns a step that is a fence as those with .sync_restrict are: a release is for the
// memory of its own block, an acquire for that of all blocks. One in four is for all memory.
func (s *stream) restricted(order event.Order) func() {
	return func() {
		f := event.Fence{Warp: s.warp(), Scope: event.Cluster, Order: order, Orders: event.OrdersOwn}
		if order == event.Acquire {
			f.Orders = event.OrdersShared
		}
		if rapid.IntRange(0, 3).Draw(s.rt, "whole") == 0 {
			f.Orders = event.OrdersAll
		}
		f.Active = s.free(f.Warp)
		if f.Mask = f.Active; f.Mask != 0 {
			s.logf("fence %+v", f)
			s.det.Fence(&f)
			s.ora.Fence(&f)
		}
	}
}

// dataOfPeer is a weak access of lane 0 of a warp to one of two words in the memory of some block.
func (s *stream) dataOfPeer() {
	a := event.Access{Warp: s.warp(), Mask: 1, Active: 1, Space: event.Shared, Size: 4,
		Kind: event.Kind(rapid.IntRange(0, 1).Draw(s.rt, "data")), Addr: new([event.WarpSize]uint64),
		Data: new([4][event.WarpSize]uint64)}
	a.Site = event.Site(len(s.sites)) + 30 + event.Site(a.Kind)
	a.Addr[0] = 4 * uint64(rapid.IntRange(0, 1).Draw(s.rt, "word"))
	if a.Kind.Writes() {
		a.Stored = 1
	}
	if s.busy[event.ThreadOf(a.Warp, 0)] {
		return
	}
	block := uint32(rapid.IntRange(0, int(s.geo.Blocks())-1).Draw(s.rt, "of block"))
	if block != s.geo.BlockOf(a.Warp) {
		a.Peer = event.PeerOf(block)
	}
	t := event.ThreadOf(a.Warp, 0)
	s.past[t] = append(s.past[t], epochs{s.det.knows(t, t), s.ora.Clock(t, t) + 1})
	b := a
	s.logf("%+v addr %v", a, a.Addr[0])
	s.det.Access(&a)
	s.ora.Access(&b)
}

func (s *stream) warp() event.Warp {
	return event.Warp(rapid.IntRange(0, int(s.geo.Blocks())*s.geo.WarpsPerBlock()-1).Draw(s.rt,
		"warp"))
}

// free selects lanes of a warp that do not wait.
func (s *stream) free(w event.Warp) uint32 {
	mask := s.geo.Lanes(w) & s.lanes
	for m := mask; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); s.busy[event.ThreadOf(w, l)] {
			mask &^= 1 << l
		}
	}
	if rapid.IntRange(0, 2).Draw(s.rt, "whole") > 0 {
		return mask
	}
	return mask & rapid.Uint32().Draw(s.rt, "mask")
}

func (s *stream) access() {
	a := rapid.SampledFrom(s.sites).Draw(s.rt, "site")
	a.Warp = s.warp()
	a.Active = s.free(a.Warp)
	a.Mask = a.Active
	if rapid.Bool().Draw(s.rt, "guard") {
		a.Mask &= rapid.Uint32().Draw(s.rt, "pass")
	}
	if a.Mask == 0 {
		return
	}
	a.Addr, a.Data = new([event.WarpSize]uint64), new([4][event.WarpSize]uint64)
	how := rapid.IntRange(0, 6).Draw(s.rt, "spread")
	base := rapid.IntRange(0, 3).Draw(s.rt, "base")
	start := rapid.IntRange(0, 40).Draw(s.rt, "start")
	values := uint64(rapid.SampledFrom([]uint32{0, ^uint32(0), 0b0110}).Draw(s.rt, "values"))
	for l := range event.WarpSize {
		slot := base
		switch how {
		case 1:
			slot += l
		case 2:
			slot += l * 7 % 3
		}
		a.Addr[l] = address(slot, a.Size)
		switch how { // coalesced: what rows are for
		case 3:
			a.Addr[l] = uint64(base+l) * uint64(a.Size)
		case 4:
			a.Addr[l] = uint64(base+l%16) * uint64(a.Size)
		case 5:
			a.Addr[l] = uint64(base+l/16) * uint64(a.Size)
		case 6: // a stencil's: a row that begins anywhere
			a.Addr[l] = uint64(start+l) * uint64(a.Size)
		}
		a.Data[0][l] = values >> l & 1
	}
	if a.Mask == ^uint32(0) && rapid.Bool().Draw(s.rt, "rows known") {
		a.Row, a.Step = map[int]uint8{0: 32, 3: 32, 4: 16, 5: 16, 6: 32}[how], uint64(a.Size)
		if how == 0 || how == 5 {
			a.Step = 0
		}
	}
	if a.Kind.Writes() {
		a.Stored = a.Mask
		if a.Kind == event.Atomic {
			a.Stored &= rapid.Uint32().Draw(s.rt, "stored")
		}
	}
	for m := a.Mask; m != 0; m &= m - 1 {
		t := event.ThreadOf(a.Warp, bits.TrailingZeros32(m))
		s.past[t] = append(s.past[t], epochs{s.det.knows(t, t), s.ora.Clock(t, t) + 1})
	}
	if s.own && a.Space == event.Shared && rapid.Bool().Draw(s.rt, "of a peer") {
		block := uint32(rapid.IntRange(0, int(s.geo.Blocks())-1).Draw(s.rt, "peer"))
		if block != s.geo.BlockOf(a.Warp) {
			a.Peer = event.PeerOf(block)
		}
	}
	b := a
	s.logf("%+v addr %v", a, a.Addr)
	s.det.Access(&a)
	s.ora.Access(&b)
}

func address(slot int, size uint8) uint64 { return uint64(slot%8) * uint64(size) % 48 }

// copy issues asynchronous copies. Their sites are the last ones, so that a site is of one size.
func (s *stream) copy() {
	c := event.Copy{Warp: s.warp(), Mask: 0, Size: rapid.SampledFrom([]uint8{4, 8, 16}).Draw(s.rt,
		"copy size")}
	c.Site = event.Site(len(s.sites)) + event.Site(bits.TrailingZeros8(c.Size))
	c.Active = s.free(c.Warp)
	if c.Mask = c.Active & rapid.Uint32().Draw(s.rt, "issue"); c.Mask == 0 {
		return
	}
	c.To, c.From, c.Read = new([event.WarpSize]uint64), new([event.WarpSize]uint64),
		new([event.WarpSize]uint8)
	to, from := rapid.IntRange(0, 7).Draw(s.rt, "to"), rapid.IntRange(0, 7).Draw(s.rt, "from")
	spread, broadcast := rapid.IntRange(0, 3).Draw(s.rt, "spread"),
		rapid.Bool().Draw(s.rt, "broadcast")
	part := rapid.SampledFrom([]uint8{c.Size, c.Size, 0, 1, 3, c.Size / 2, c.Size - 1}).Draw(s.rt,
		"part")
	for l := range event.WarpSize {
		c.To[l], c.From[l], c.Read[l] = address(to+l*spread, c.Size), address(from+l, c.Size), c.Size
		if broadcast {
			c.From[l] = address(from, c.Size)
		}
		if l&1 != 0 {
			c.Read[l] = part
		}
	}
	s.logf("copy %+v to %v from %v read %v", c, c.To, c.From, c.Read)
	s.det.Copy(&c)
	s.ora.Copy(&c)
}

// copyGroup closes and waits for groups.
func (s *stream) copyGroup() {
	g := event.CopyGroup{Warp: s.warp(), Commit: rapid.Bool().Draw(s.rt, "commit")}
	g.Wait = !g.Commit || rapid.Bool().Draw(s.rt, "wait")
	if g.Wait {
		g.Pending = uint32(rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(s.rt, "pending"))
	}
	g.Active = s.free(g.Warp)
	g.Mask = g.Active
	if rapid.Bool().Draw(s.rt, "guard") {
		g.Mask &= rapid.Uint32().Draw(s.rt, "pass")
	}
	if g.Mask == 0 {
		return
	}
	s.logf("group %+v", g)
	s.det.CopyGroup(&g)
	s.ora.CopyGroup(&g)
}

func (s *stream) fence() {
	f := event.Fence{Warp: s.warp(), Scope: s.scope(), Orders: s.orders()}
	f.Active = s.free(f.Warp)
	f.Mask = f.Active
	f.Order = rapid.SampledFrom([]event.Order{event.Acquire, event.Release, event.AcqRel,
		event.SeqCst}).Draw(s.rt, "fence")
	if f.Mask != 0 {
		s.logf("fence %+v", f)
		s.det.Fence(&f)
		s.ora.Fence(&f)
	}
}

func (s *stream) warpSync() {
	ws := event.WarpSync{Warp: s.warp(), Orders: s.orders()}
	if ws.Mask = s.free(ws.Warp); ws.Mask != 0 {
		s.logf("warpsync %+v", ws)
		s.det.WarpSync(&ws)
		s.ora.WarpSync(&ws)
	}
}

func (s *stream) converge() {
	c := event.Converge{Warp: s.warp()}
	if c.Mask = s.free(c.Warp); c.Mask != 0 {
		s.logf("converge %+v", c)
		s.det.Converge(&c)
		s.ora.Converge(&c)
	}
}

// arrive makes lanes arrive at a barrier of their block; complete ends a generation.
func (s *stream) arrive() {
	a := event.Arrive{Warp: s.warp(), Barrier: uint8(rapid.IntRange(0, 1).Draw(s.rt, "barrier")),
		Count: 64, Orders: s.orders()}
	a.Active = s.free(a.Warp)
	a.Mask = a.Active
	if rapid.Bool().Draw(s.rt, "arrive only") {
		a.Op = event.BarArrive
	}
	if a.Mask == 0 {
		return
	}
	for m := a.Mask; m != 0 && a.Op == event.BarSync; m &= m - 1 {
		s.busy[event.ThreadOf(a.Warp, bits.TrailingZeros32(m))] = true
	}
	s.logf("arrive %+v", a)
	s.det.Arrive(&a)
	s.ora.Arrive(&a)
}

func (s *stream) complete() {
	c := event.Complete{Block: uint32(rapid.IntRange(0, int(s.geo.Blocks())-1).Draw(s.rt, "block")),
		Barrier: uint8(rapid.IntRange(0, 1).Draw(s.rt, "barrier"))}
	b := s.det.blockAt(c.Block)
	if b == nil || len(b.bars[c.Barrier].parts) == 0 {
		return
	}
	for _, p := range b.bars[c.Barrier].parts {
		for m := p.mask; m != 0 && p.op == event.BarSync; m &= m - 1 {
			delete(s.busy, event.ThreadOf(p.warp.id, bits.TrailingZeros32(m)))
		}
	}
	s.logf("complete %+v", c)
	s.det.Complete(&c)
	s.ora.Complete(&c)
}

// blockBarrier is __syncthreads of a complete block, if none of its threads waits.
func (s *stream) blockBarrier() {
	block := uint32(rapid.IntRange(0, int(s.geo.Blocks())-1).Draw(s.rt, "block"))
	first := event.Warp(int(block) * s.geo.WarpsPerBlock())
	for i := range s.geo.WarpsPerBlock() {
		w := first + event.Warp(i)
		for m := s.geo.Lanes(w); m != 0; m &= m - 1 {
			if s.busy[event.ThreadOf(w, bits.TrailingZeros32(m))] {
				return
			}
		}
	}
	for i := range s.geo.WarpsPerBlock() {
		w := first + event.Warp(i)
		a := event.Arrive{Warp: w, Mask: s.geo.Lanes(w), Active: s.geo.Lanes(w), Barrier: 2,
			Orders: s.orders()}
		s.logf("arrive %+v", a)
		s.det.Arrive(&a)
		s.ora.Arrive(&a)
	}
	c := event.Complete{Block: block, Barrier: 2}
	s.logf("complete %+v", c)
	s.det.Complete(&c)
	s.ora.Complete(&c)
}

func (s *stream) logf(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *stream) step() {
	switch n := rapid.IntRange(0, 25).Draw(s.rt, "event"); {
	case n < 11:
		s.access()
	case n < 14:
		s.fence()
	case n < 15:
		s.warpSync()
	case n < 16:
		s.blockBarrier()
	case n < 18:
		s.arrive()
	case n < 19:
		s.complete()
	case n < 22 && !s.noCopies:
		s.copy()
	case n < 25 && !s.noCopies:
		s.copyGroup()
	default:
		s.converge()
	}
}

// checkClocks compares the compressed clocks with the full ones: for each pair of threads and each
// past access of the second, both agree on whether it happens before the current operation of the
// first.
func (s *stream) checkClocks() {
	for u := range s.past {
		for _, e := range s.past[u][max(0, len(s.past[u])-4):] {
			for t := range s.past {
				if t == u || s.geo.Lanes(event.Thread(t).Warp())&s.lanes>>event.Thread(t).Lane()&1 == 0 {
					continue
				}
				det := s.det.knows(event.Thread(t), event.Thread(u)) >= e.det
				ora := s.ora.Clock(event.Thread(t), event.Thread(u)) >= e.ora
				if det != ora {
					s.rt.Fatalf(
						"%s\naccess %+v of thread %d happens before thread %d: detector %v (knows %d), oracle %v (knows %d)",
						strings.Join(s.log, "\n"), e, u, t, det, s.det.knows(event.Thread(t), event.Thread(u)), ora,
						s.ora.Clock(event.Thread(t), event.Thread(u)))
				}
			}
		}
	}
}

// word is an aligned word of memory; block is 0 for global memory.
type word struct {
	space event.Space
	block uint32
	addr  uint64
}

// checkRaces: every race found is a race of the oracle, and on every word with a race one is found.
func (s *stream) checkRaces() {
	found := map[word]bool{}
	for i := range s.det.groups {
		g := &s.det.groups[i]
		p := oracle.Pair{Space: g.race.Space, A: min(g.race.First.Site, g.race.Second.Site),
			B: max(g.race.First.Site, g.race.Second.Site)}
		if s.ora.Pairs[p] == 0 {
			s.rt.Fatalf("%s\nfalse alarm: %+v", strings.Join(s.log, "\n"), g.race)
		}
		first, second := opOf(g.race.First), opOf(g.race.Second)
		if !event.Conflict(s.geo, first, second) {
			s.rt.Fatalf("%s\nthe pair does not conflict: %+v", strings.Join(s.log, "\n"), g.race)
		}
		for h := range g.hazards {
			found[word{g.race.Space, h.block, h.addr &^ 3}] = true
		}
	}
	s.checkExchanges(found)
	racy, unsynchronized := map[word]bool{}, map[word]bool{}
	for b := range s.ora.Racy {
		racy[word{b.Space, b.Block, b.Addr &^ 3}] = true
	}
	for b := range s.ora.Unsynchronized {
		unsynchronized[word{b.Space, b.Block, b.Addr &^ 3}] = true
	}
	for w := range found {
		if !unsynchronized[w] {
			s.rt.Fatalf("%s\nfalse alarm at %+v", strings.Join(s.log, "\n"), w)
		}
	}
	if s.det.opt.Benign == event.BenignAll {
		// Values are compared word by word here, access by access in the oracle.
		if len(found) == 0 && len(racy) > 0 {
			s.rt.Fatalf("%s\nmissed: %v", strings.Join(s.log, "\n"), racy)
		}
		return
	}
	for w := range racy {
		if !found[w] {
			s.rt.Fatalf("%s\nmissed at %+v", strings.Join(s.log, "\n"), w)
		}
	}
}

// checkExchanges: every pair of strong accesses that is reported is one of the oracle, and on every
// location with one a pair is reported, or a race, of which racy has the words: a strong store
// hides those before it, and may not be morally strong with what follows.
func (s *stream) checkExchanges(racy map[word]bool) {
	found := map[word]bool{}
	rep := s.det.Report()
	for i := range rep.Exchanges {
		x := &rep.Exchanges[i]
		p := oracle.Pair{Space: x.Space, A: min(x.First.Site, x.Second.Site),
			B: max(x.First.Site, x.Second.Site)}
		if s.ora.Exchanges[p] == 0 {
			s.rt.Fatalf("%s\nfalse exchange: %+v", strings.Join(s.log, "\n"), x)
		}
		first, second := opOf(x.First), opOf(x.Second)
		if !event.Unordered(s.geo, first, second) || event.Conflict(s.geo, first, second) {
			s.rt.Fatalf("%s\nthe pair is not one of the definition: %+v", strings.Join(s.log, "\n"), x)
		}
	}
	for _, at := range s.exchanged() {
		found[at] = true
	}
	exchanged, most := map[word]bool{}, map[word]bool{}
	for b := range s.ora.Exchanged {
		exchanged[word{b.Space, b.Block, b.Addr &^ 3}] = true
	}
	for b := range s.ora.Exchangeable {
		most[word{b.Space, b.Block, b.Addr &^ 3}] = true
	}
	for w := range exchanged {
		if !found[w] && !racy[w] {
			s.rt.Fatalf("%s\nmissed exchange at %+v", strings.Join(s.log, "\n"), w)
		}
	}
	for w := range found {
		if !most[w] {
			s.rt.Fatalf("%s\nfalse exchange at %+v", strings.Join(s.log, "\n"), w)
		}
	}
}

// exchanged returns the words at which the detector has pairs of strong accesses. No block of a
// stream ends, so that its shadow has all of them.
func (s *stream) exchanged() []word {
	var out []word
	add := func(space event.Space, block uint32, m *memory) {
		for p := range m.all() {
			if p.strong == nil {
				continue
			}
			for _, i := range p.strong {
				for ; i != 0; i = s.det.exchanges.locations[i].next {
					x := &s.det.exchanges.locations[i]
					for at := x.addr &^ 3; x.pairs != 0 && at < x.addr+uint64(x.size); at += 4 {
						out = append(out, word{space, block, at})
					}
				}
			}
		}
	}
	add(event.Global, 0, s.det.global)
	for _, group := range s.det.blocks {
		for _, b := range group {
			if b != nil && b.shared != nil {
				add(event.Shared, b.id, b.shared)
			}
		}
	}
	return out
}

func opOf(a Access) event.Op {
	return event.Op{Thread: a.Thread, Kind: a.Kind, Order: a.Order, Scope: a.Scope, Proxy: a.Proxy,
		Async: a.Async, Addr: a.Addr, Size: a.Size}
}

// TestMain makes the long run try many more streams.
func TestMain(m *testing.M) {
	flag.Parse()
	if long.All() {
		if err := flag.Set("rapid.checks", "20000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestOracleCopies uses asynchronous copies and little else, with few threads, so that some groups
// are waited for and published and others are not.
func TestOracleCopies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newStream(rt, event.Independent,
			rapid.SampledFrom([]event.Benign{event.BenignNone, event.BenignWarp, event.BenignAll}).Draw(rt,
				"benign"), false)
		s.lanes = rapid.SampledFrom([]uint32{0b1, 0b11}).Draw(rt, "lanes")
		s.noCopies = false
		for i := range s.sites {
			if a := &s.sites[i]; i%2 == 0 {
				*a = event.Access{Site: a.Site, Kind: event.Kind(i / 2 % 2),
					Space: event.Shared - event.Space(i/4%2), Size: 4}
			}
		}
		for range rapid.IntRange(1, 40).Draw(rt, "length") {
			switch n := rapid.IntRange(0, 9).Draw(rt, "event"); {
			case n < 3:
				s.copy()
			case n < 6:
				s.copyGroup()
			case n < 8:
				s.access()
			case n < 9:
				s.blockBarrier()
			default:
				s.step()
			}
		}
		s.checkClocks()
		s.checkRaces()
	})
}

// TestOracleSC has blocks that tell others what they have done, by fences.sc, a barrier and an
// atomic, and that learn it, by an atomic, a barrier and fences.sc. Steps are left out, and others
// come in between.
func TestOracleSC(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		model := rapid.SampledFrom([]event.WarpModel{event.Independent, event.Lockstep}).Draw(rt, "model")
		s := newStream(rt, model, event.BenignNone, false)
		s.noCopies = true
		for range rapid.IntRange(1, 8).Draw(rt, "length") {
			steps := []func(){s.fenceSC, s.blockBarrier, s.tell}
			if rapid.Bool().Draw(rt, "learn") {
				steps = []func(){s.tell, s.blockBarrier, s.fenceSC}
			}
			for _, step := range steps {
				for range rapid.SampledFrom([]int{1, 1, 1, 1, 2, 3, 0}).Draw(rt, "times") {
					step()
				}
				if rapid.IntRange(0, 3).Draw(rt, "other") == 0 {
					s.step()
				}
				s.checkClocks()
			}
			s.access()
		}
		s.checkRaces()
	})
}

// fenceSC is a fence.sc of device scope.
func (s *stream) fenceSC() {
	f := event.Fence{Warp: s.warp(), Scope: event.GPU, Order: event.SeqCst, Orders: event.OrdersAll}
	f.Active = s.free(f.Warp)
	if f.Mask = f.Active; f.Mask != 0 {
		s.logf("fence %+v", f)
		s.det.Fence(&f)
		s.ora.Fence(&f)
	}
}

// tell is a relaxed atomic of device scope by one lane, on one of two words of its own.
func (s *stream) tell() {
	a := event.Access{Warp: s.warp(), Kind: event.Atomic, Space: event.Global, Order: event.Relaxed,
		Scope: event.GPU, Size: 4, Site: event.Site(len(s.sites)) + 20, Orders: event.OrdersAll,
		Addr: new([event.WarpSize]uint64), Data: new([4][event.WarpSize]uint64)}
	a.Active = s.free(a.Warp)
	a.Mask = a.Active & -a.Active
	if a.Mask == 0 {
		return
	}
	a.Stored = a.Mask
	for l := range a.Addr {
		a.Addr[l] = 1024 + 4*uint64(rapid.IntRange(0, 1).Draw(s.rt, "word"))
	}
	b := a
	s.logf("%+v addr %v", a, a.Addr[bits.TrailingZeros32(a.Mask)])
	s.det.Access(&a)
	s.ora.Access(&b)
}

func property(t *testing.T, model event.WarpModel, benign event.Benign, parts bool) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newStream(rt, model, benign, parts)
		for range rapid.IntRange(1, 60).Draw(rt, "length") {
			s.step()
			s.checkClocks()
		}
		s.checkRaces()
	})
}

func TestOracleIndependent(t *testing.T) { property(t, event.Independent, event.BenignNone, false) }
func TestOracleLockstep(t *testing.T)    { property(t, event.Lockstep, event.BenignNone, false) }
func TestOracleBenignWarp(t *testing.T)  { property(t, event.Independent, event.BenignWarp, false) }
func TestOracleBenignAll(t *testing.T)   { property(t, event.Independent, event.BenignAll, false) }

// TestOracleOwn is for fences of the memory of one block of a cluster. A lane accesses shared memory,
// and tells a lane of another block by a fence and a flag, which then accesses shared memory. Steps
// are left out, and others come in between.
func TestOracleOwn(t *testing.T) {
	racy := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := newOwnStream(rt)
		for range rapid.IntRange(1, 6).Draw(rt, "length") {
			tells := []func(){s.dataOfPeer, s.restricted(event.Release), s.tell}
			learns := []func(){s.tell, s.restricted(event.Acquire), s.dataOfPeer}
			for _, step := range slices.Concat(tells, learns) {
				if rapid.IntRange(0, 7).Draw(rt, "left out") > 0 {
					step()
				}
				if rapid.IntRange(0, 7).Draw(rt, "other") == 0 {
					s.step()
				}
				s.checkClocks()
			}
		}
		s.checkRaces()
		if len(s.ora.Racy) > 0 {
			racy++
		}
	})
	t.Logf("%d streams with a race", racy)
}

// The detector for one space, where barriers, fences and strong operations order parts of memory.
func TestOraclePartsIndependent(t *testing.T) {
	property(t, event.Independent, event.BenignNone, true)
}
func TestOraclePartsLockstep(t *testing.T) {
	property(t, event.Lockstep, event.BenignWarp, true)
}

package race

import (
	"testing"

	"heddle/internal/event"
)

// script drives a detector by a few words; one warp of two lanes in each of two blocks.
type script struct {
	d    *Detector
	site event.Site
}

func newScript(benign event.Benign) *script {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	geo := event.Geometry{Grid: event.Dim3{X: 2, Y: 1, Z: 1}, Block: event.Dim3{X: 2, Y: 1, Z: 1},
		Cluster: one}
	return &script{d: New(Options{Geometry: geo, Benign: benign, SharedBytes: 64})}
}

// copy makes lanes copy 4 bytes each from one global address to shared addresses that are step
// apart.
func (s *script) copy(w event.Warp, mask uint32, to, step, from uint64, read uint8) {
	c := event.Copy{Warp: w, Site: s.site, Mask: mask, Active: 3, Size: 4}
	s.site++
	c.To, c.From, c.Read = new([event.WarpSize]uint64), new([event.WarpSize]uint64),
		new([event.WarpSize]uint8)
	for l := range c.To {
		c.To[l], c.From[l], c.Read[l] = to+uint64(l)*step, from, read
	}
	s.d.Copy(&c)
}

func (s *script) commit(w event.Warp, mask uint32) {
	s.d.CopyGroup(&event.CopyGroup{Warp: w, Mask: mask, Active: 3, Commit: true})
}

func (s *script) wait(w event.Warp, mask, leave uint32) {
	s.d.CopyGroup(&event.CopyGroup{Warp: w, Mask: mask, Active: 3, Wait: true, Pending: leave})
}

func (s *script) access(w event.Warp, mask uint32, kind event.Kind, space event.Space, addr uint64,
	size uint8) {
	s.send(event.Access{Warp: w, Mask: mask, Kind: kind, Space: space, Size: size}, addr)
}

// send sends an access by lanes to one address.
func (s *script) send(a event.Access, addr uint64) {
	a.Site, a.Active = s.site, 3
	a.Addr, a.Data = new([event.WarpSize]uint64), new([4][event.WarpSize]uint64)
	s.site++
	for l := range a.Addr {
		a.Addr[l] = addr
	}
	if a.Kind.Writes() {
		a.Stored = a.Mask
	}
	s.d.Access(&a)
}

func (s *script) sync(w event.Warp) { s.d.WarpSync(&event.WarpSync{Warp: w, Mask: 3}) }

// want checks how many races there are, and the cause of the last.
func (s *script) want(t *testing.T, n int, cause Cause) {
	t.Helper()
	r := s.d.Report().Races
	if len(r) != n || n > 0 && r[n-1].Cause != cause {
		t.Errorf("got %+v, want %d races, the last by cause %d", r, n, cause)
	}
}

const (
	global = event.Global
	shared = event.Shared
)

// Both lanes copy one word to one location, which is tolerated. Each copy is complete when its own
// lane has waited (PTX ISA 9.7.9.25.3.3), and is an ordinary access from then on.
func TestCopiesOfOneWordByTwoLanes(t *testing.T) {
	s := newScript(event.BenignWarp)
	s.copy(0, 3, 0, 0, 0, 4)
	s.commit(0, 3)
	s.wait(0, 1, 0)
	s.want(t, 0, 0)
	s.access(0, 1, event.Read, shared, 0, 4) // lane 1 has not waited
	s.want(t, 1, NotWaited)

	s = newScript(event.BenignWarp)
	s.copy(0, 3, 0, 0, 0, 4)
	s.commit(0, 3)
	s.wait(0, 1, 0)
	s.wait(0, 2, 0)
	s.sync(0)
	s.access(0, 1, event.Write, shared, 0, 4)
	s.access(0, 1, event.Write, global, 0, 4)
	s.want(t, 0, 0)
	s.access(0, 2, event.Read, shared, 0, 4) // of the value that lane 0 wrote after the barrier
	s.want(t, 1, Unordered)

	s = newScript(event.BenignNone)
	s.copy(0, 3, 0, 0, 0, 4)
	s.want(t, 1, NotWaited)
}

// A wait by one lane does not apply to another, and groups are counted by lane.
func TestGroupsAreOfALane(t *testing.T) {
	s := newScript(event.BenignWarp)
	s.copy(0, 3, 0, 4, 0, 4)
	s.commit(0, 3)
	s.commit(0, 1) // an empty group of lane 0
	s.wait(0, 3, 1)
	s.access(0, 1, event.Read, shared, 0, 4)
	s.want(t, 0, 0)
	s.access(0, 2, event.Read, shared, 4, 4)
	s.want(t, 1, NotWaited)
}

// The end of the issuing thread, and of its block, does not complete its copies.
func TestCopyOutlivesItsBlock(t *testing.T) {
	s := newScript(event.BenignWarp)
	s.copy(0, 3, 0, 4, 128, 4)
	s.commit(0, 3)
	s.d.Exit(&event.Exit{Warp: 0, Mask: 3})
	s.access(1, 1, event.Write, global, 128, 4)
	s.want(t, 1, NotWaited)
	s.access(1, 1, event.Write, shared, 0, 4) // another block's shared memory
	s.want(t, 1, NotWaited)
}

// A source that many copies read may be written when the last of them is complete, whether one
// thread or several have read it.
func TestSourceOfManyCopies(t *testing.T) {
	for _, readers := range []bool{false, true} {
		for _, last := range []bool{false, true} {
			s := newScript(event.BenignWarp)
			for i := range 40 {
				s.site = 0 // one instruction in a loop
				s.copy(0, 3, uint64(i%2)*4, 8, 128, 4)
				s.commit(0, 3)
				if readers {
					s.access(0, 2, event.Read, global, 128, 4)
				}
				s.wait(0, 1, 1)
				s.wait(0, 2, 1)
			}
			if last {
				s.wait(0, 1, 0)
				s.wait(0, 2, 0)
			}
			s.site = 2
			s.sync(0)
			s.access(0, 2, event.Write, global, 128, 4)
			if last {
				s.want(t, 0, 0)
			} else {
				s.want(t, 1, NotWaited)
			}
		}
	}
}

// Bytes that a copy does not read do not conflict: 3 bytes of 4.
func TestPartOfASource(t *testing.T) {
	s := newScript(event.BenignWarp)
	s.copy(0, 1, 0, 0, 128, 3)
	s.access(0, 1, event.Write, global, 131, 1)
	s.want(t, 0, 0)
	s.access(0, 1, event.Write, global, 130, 1)
	s.want(t, 1, NotWaited)
}

// A copy onto a flag ends the patterns that reads of the flag observed (8.9.2): the write is weak.
func TestCopyBreaksAChain(t *testing.T) {
	flag := func(s *script, w event.Warp, mask uint32, kind event.Kind, order event.Order) {
		a := event.Access{Warp: w, Site: s.site, Mask: mask, Active: 3, Kind: kind, Space: shared,
			Order: order, Scope: event.CTA, Size: 4,
			Addr: new([event.WarpSize]uint64), Data: new([4][event.WarpSize]uint64)}
		s.site++
		if kind.Writes() {
			a.Stored = mask
		}
		s.d.Access(&a)
	}
	for _, copied := range []bool{false, true} {
		s := newScript(event.BenignWarp)
		s.access(0, 1, event.Write, global, 128, 4)
		flag(s, 0, 1, event.Write, event.Release)
		if copied {
			s.copy(0, 1, 0, 0, 0, 4)
			s.commit(0, 1)
			s.wait(0, 1, 0)
		}
		flag(s, 0, 2, event.Read, event.Acquire) // races with the copy
		s.access(0, 2, event.Read, global, 128, 4)
		want := 0
		if copied {
			want = 2
		}
		s.want(t, want, Unordered)
	}
}

// A non-coherent load is not superseded by ordinary loads (8.9.5), by any thread.
func TestNoncoherentLoadStays(t *testing.T) {
	s := newScript(event.BenignWarp)
	load := event.Access{Warp: 0, Site: 9, Mask: 1, Active: 3, Kind: event.Read, Space: global,
		Proxy: event.TextureProxy, Size: 4, Addr: new([event.WarpSize]uint64)}
	s.d.Access(&load)
	for range 20 {
		s.access(1, 3, event.Read, global, 0, 4)
		s.access(0, 1, event.Read, global, 0, 4)
	}
	s.want(t, 0, 0)
	s.access(0, 1, event.Write, global, 0, 4)
	r := s.d.Report().Races
	if len(r) != 1 || r[0].Cause != OtherProxy || r[0].Level != SameThread || r[0].First.Site != 9 {
		t.Errorf("got %+v, want one race of thread 0 with its own load", r)
	}
}

// A release write to a word to which a copy is on its way races with the copy, which may come last.
// So a read that acquires after the copy's wait does not observe the release for certain, and
// nothing orders what the writer did before (PTX ISA 8.8: the observation of the pattern's write).
func TestCopyEndsReleases(t *testing.T) {
	for _, waits := range []bool{false, true} {
		s := newScript(event.BenignNone)
		s.copy(0, 1, 0, 0, 0, 4)
		s.commit(0, 1)
		s.access(0, 2, event.Write, shared, 8, 4)
		strong := func(lane uint32, kind event.Kind, order event.Order) {
			s.send(event.Access{Mask: lane, Kind: kind, Space: shared, Size: 4, Order: order,
				Scope: event.CTA, Orders: event.OrdersAll}, 0)
		}
		strong(2, event.Write, event.Release) // races with the copy
		if waits {
			s.wait(0, 1, 0)
		}
		strong(1, event.Read, event.Acquire)
		before := len(s.d.Report().Races)
		s.access(0, 1, event.Read, shared, 8, 4)
		if races := len(s.d.Report().Races) > before; races != waits {
			t.Errorf("waits %v: the read of what was written before the release races: %v", waits, races)
		}
	}
}

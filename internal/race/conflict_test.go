package race

import (
	"slices"
	"testing"

	"heddle/internal/event"
)

// The tests below hold the detector against event.Conflict, the definition of a race: for two
// accesses that nothing orders it reports a race if and only if they conflict, for every pair of
// kinds, orders and scopes, every way to overlap, and every distance between the threads. The
// detector decides most pairs by classes of sites and not by the definition itself (checkEntry,
// checkSide, reach).

// variants are the accesses that instructions can make: each kind with its orders and scopes.
func variants() []event.Access {
	strong := map[event.Kind][]event.Order{
		event.Read:   {event.Relaxed, event.Acquire},
		event.Write:  {event.Relaxed, event.Release},
		event.Atomic: {event.Relaxed, event.Acquire, event.Release, event.AcqRel},
		event.Reduce: {event.Relaxed, event.Release},
	}
	out := []event.Access{
		{Kind: event.Read}, {Kind: event.Write}, {Kind: event.Read, Proxy: event.TextureProxy},
		{Kind: event.Read, Proxy: event.FetchProxy},
	}
	for _, k := range []event.Kind{event.Read, event.Write, event.Atomic, event.Reduce} {
		for _, o := range strong[k] {
			for s := event.CTA; s <= event.Sys; s++ {
				out = append(out, event.Access{Kind: k, Order: o, Scope: s})
			}
		}
	}
	return out
}

// Two blocks of a cluster, and two of another; two warps each.
var conflictGeometry = event.Geometry{
	Grid: event.Dim3{X: 4, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1},
	Cluster: event.Dim3{X: 2, Y: 1, Z: 1},
}

// lone returns a detector for one pair.
func lone(benign event.Benign) *Detector {
	return New(Options{Geometry: conflictGeometry, Benign: benign, SharedBytes: 64, Exchanges: true})
}

// racing reports whether a detector found a race.
func racing(d *Detector) bool { return len(d.Report().Races) > 0 }

// conflictThreads are pairs of threads at each distance.
var conflictThreads = []struct {
	what  string
	t, u  event.Thread
	block bool // of one block
}{
	{"one thread", event.ThreadOf(0, 3), event.ThreadOf(0, 3), true},
	{"one warp", event.ThreadOf(0, 0), event.ThreadOf(0, 5), true},
	{"one block", event.ThreadOf(0, 0), event.ThreadOf(1, 0), true},
	{"one cluster", event.ThreadOf(0, 0), event.ThreadOf(2, 0), false},
	{"two clusters", event.ThreadOf(0, 0), event.ThreadOf(4, 0), false},
}

// conflictBytes are two ranges of aligned bytes.
var conflictBytes = []struct {
	a, b         uint64
	sizeA, sizeB uint8
}{
	{0, 0, 4, 4}, {0, 4, 4, 4}, {0, 0, 8, 4}, {0, 4, 8, 4}, {4, 0, 4, 8}, {0, 2, 4, 2}, {0, 0, 2, 2},
	{0, 2, 2, 2},
	{1, 1, 1, 1}, {0, 3, 4, 1}, {0, 8, 16, 8}, {0, 0, 16, 16},
}

// side is one access of one thread.
type side struct {
	event.Access
	t     event.Thread
	addr  uint64
	size  uint8
	value uint64
}

// send sends the access to a detector as that of an instruction.
func (s side) send(d *Detector, space event.Space, at event.Site) {
	a, lane := s.Access, s.t.Lane()
	a.Warp, a.Site, a.Space, a.Size = s.t.Warp(), at, space, s.size
	a.Mask, a.Active = 1<<lane, 1<<lane
	a.Addr, a.Data = new([event.WarpSize]uint64), new([4][event.WarpSize]uint64)
	a.Addr[lane], a.Data[0][lane], a.Data[1][lane] = s.addr, s.value, s.value
	if a.Kind.Writes() {
		a.Stored = a.Mask
	}
	d.Access(&a)
}

// op is the access as the definition sees it.
func (s side) op() event.Op {
	return event.Op{
		Thread: s.t, Kind: s.Kind, Order: s.Order, Scope: s.Scope, Proxy: s.Proxy,
		Addr: s.addr, Size: s.size,
	}
}

// weakWrite reports whether the access may be tolerated beside another of the same value.
func (s side) weakWrite() bool { return s.Kind == event.Write && !s.Order.Strong() }

func TestDetectorIsConflict(t *testing.T) {
	n := 0
	for _, space := range []event.Space{event.Global, event.Shared} {
		for _, th := range conflictThreads {
			if space == event.Shared && !th.block {
				continue
			}
			for _, r := range conflictBytes {
				n += compareVariants(t, space, side{t: th.t, addr: r.a, size: r.sizeA, value: 1},
					side{t: th.u, addr: r.b, size: r.sizeB, value: 2}, th.what)
			}
		}
	}
	if n < 100_000 {
		t.Errorf("%d pairs only", n)
	}
}

// compareVariants compares the detector with the definition for all pairs of accesses of two sides.
func compareVariants(t *testing.T, space event.Space, x, y side, what string) (n int) {
	t.Helper()
	for _, a := range variants() {
		for _, b := range variants() {
			if space == event.Shared && (a.Proxy != event.GenericProxy || b.Proxy != event.GenericProxy) {
				continue // of global memory only
			}
			n++
			x.Access, y.Access = a, b
			d := lone(event.BenignNone)
			x.send(d, space, 0)
			y.send(d, space, 1)
			if got, want := racing(d), event.Conflict(conflictGeometry, x.op(), y.op()); got != want {
				t.Fatalf("%v, %s: %+v, then %+v: race %v, want %v", space, what, x.op(), y.op(), got, want)
			}
			got := len(d.Report().Exchanges) > 0
			if want := event.Unordered(conflictGeometry, x.op(), y.op()); got != want {
				t.Fatalf("%v, %s: %+v, then %+v: exchange %v, want %v", space, what, x.op(), y.op(), got,
					want)
			}
		}
	}
	return n
}

// Two weak writes of the same value are tolerated as Benign says, and no other conflict is.
func TestDetectorTolerates(t *testing.T) {
	for _, benign := range []event.Benign{event.BenignWarp, event.BenignAll, event.BenignNone} {
		for _, a := range variants() {
			for _, b := range variants() {
				for _, second := range []uint64{1, 2} {
					for _, th := range conflictThreads {
						x := side{Access: a, t: th.t, size: 4, value: 1}
						y := side{Access: b, t: th.u, size: 4, value: second}
						d := lone(benign)
						x.send(d, event.Global, 0)
						y.send(d, event.Global, 1)
						tolerated := benign == event.BenignAll && second == 1 && x.weakWrite() && y.weakWrite()
						want := event.Conflict(conflictGeometry, x.op(), y.op()) && !tolerated
						if got := racing(d); got != want {
							t.Fatalf("benign %d, %s: %+v, then %+v: race %v, want %v", benign, th.what, x, y, got, want)
						}
					}
				}
			}
		}
	}
}

// Lanes of one instruction: they conflict by the definition, and weak writes of one value are
// tolerated unless none are.
func TestDetectorWithinInstruction(t *testing.T) {
	for _, benign := range []event.Benign{event.BenignWarp, event.BenignAll, event.BenignNone} {
		for _, a := range variants() {
			for _, second := range []uint64{1, 2} {
				x, y := side{Access: a, t: 0, size: 4}, side{Access: a, t: 1, size: 4}
				e := a
				e.Space, e.Mask, e.Active, e.Size = event.Global, 0b11, 0b11, 4
				e.Addr, e.Data = new([event.WarpSize]uint64), new([4][event.WarpSize]uint64)
				e.Data[0][0], e.Data[0][1] = 1, second
				if a.Kind.Writes() {
					e.Stored = e.Mask
				}
				d := lone(benign)
				d.Access(&e)
				tolerated := benign != event.BenignNone && second == 1 && x.weakWrite()
				want := event.Conflict(conflictGeometry, x.op(), y.op()) && !tolerated
				if got := racing(d); got != want {
					t.Errorf("benign %d, value %d: %+v: race %v, want %v", benign, second, x.op(), got, want)
				}
			}
		}
	}
}

// An asynchronous copy conflicts with what its own thread does behind it, and with what others do:
// it is not in program order (PTX ISA 8.9.1.1).
func TestDetectorOfCopies(t *testing.T) {
	const source = 1024 // address of the bytes that are copied
	for _, th := range conflictThreads {
		for _, b := range variants() {
			for _, space := range []event.Space{event.Shared, event.Global} {
				if !th.block || space == event.Shared && b.Proxy != event.GenericProxy {
					continue
				}
				first := event.Op{Thread: th.t, Kind: event.Write, Async: true, Size: 4}
				if space == event.Global {
					first.Addr, first.Kind = source, event.Read
				}
				y := side{Access: b, t: th.u, addr: first.Addr, size: 4, value: 2}
				d := lone(event.BenignNone)
				c := event.Copy{
					Warp: th.t.Warp(), Mask: 1 << th.t.Lane(), Active: 1 << th.t.Lane(), Size: 4,
					To: new([event.WarpSize]uint64), From: new([event.WarpSize]uint64),
					Read: new([event.WarpSize]uint8),
				}
				c.From[th.t.Lane()], c.Read[th.t.Lane()] = source, 4
				d.Copy(&c)
				y.send(d, space, 1)
				if got, want := racing(d), event.Conflict(conflictGeometry, first, y.op()); got != want {
					t.Errorf("%s, %v: %+v: race %v, want %v", th.what, space, y.op(), got, want)
				}
			}
		}
	}
}

// Far is a hazard whose threads are farther apart than those of the example, and the farthest that
// was found (see Race).
func TestFarther(t *testing.T) {
	warp, block, grid := event.Thread(1), event.ThreadOf(1, 0), event.ThreadOf(2, 0)
	for _, c := range []struct {
		what string
		then []event.Thread // which write where thread 0 wrote
		far  []event.Thread // of Far; empty for none
	}{
		{"none", []event.Thread{warp, warp}, nil},
		{"another warp", []event.Thread{warp, block}, []event.Thread{block}},
		{"another block last", []event.Thread{warp, block, grid}, []event.Thread{grid}},
		{"another block first", []event.Thread{grid, block, warp}, nil},
	} {
		d := lone(event.BenignNone)
		for i, u := range c.then {
			w := weak(0, event.Write)
			w.addr = uint64(4 * i)
			w.send(d, global, 1)
			w.t = u
			w.send(d, global, 2)
		}
		r := d.Report().Races
		if len(r) != 1 || r[0].Second.Thread != c.then[0] {
			t.Errorf("%s: %+v, want one race", c.what, r)
			continue
		}
		var far []event.Thread
		if r[0].Far != nil {
			far = append(far, r[0].Far.Second.Thread)
		}
		if !slices.Equal(far, c.far) {
			t.Errorf("%s: the farther hazard is by %v, want %v", c.what, far, c.far)
		}
	}
}

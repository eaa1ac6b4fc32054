package race

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
)

// naiveGrids is two blocks of two threads, in warps of their own, whose accesses and grids are kept
// for ever. Each thread and each stream has the set of accesses that precede what it does next. It
// shares nothing with the detector.
type naiveGrids struct {
	knows   [4]ids
	streams map[string]ids // of the accesses that precede the next grid
	few     bool           // draw few different things, so that calls have to do with each other
	// Calls are known as accesses are, by numbers from firstCall on.
	calls    int
	launches map[string][]int       // the launches into a stream
	waits    map[string][]naiveCall // the waits in a stream
	events   map[uint64]naiveCall   // the last records
	all      []naiveGridAccess
	pairs    map[[2]event.Site]bool // sites of accesses that race
}

// naiveCall is a record of an event or a wait, with the accesses that it stands for.
type naiveCall struct {
	id     int
	stands ids
}

// firstCall is the number of the first call of a runtime function.
const firstCall = 1 << 20

// call numbers a call of a thread, which knows it from now on.
func (n *naiveGrids) call(thread int) int {
	n.calls++
	n.knows[thread][firstCall+n.calls] = true
	return firstCall + n.calls
}

// behind returns the accesses that precede work which a thread enqueues in a stream.
func (n *naiveGrids) behind(stream string, thread int) ids {
	out := ids{}
	out.add(n.streams[stream])
	for _, w := range n.waits[stream] {
		if n.knows[thread][w.id] {
			out.add(w.stands)
		}
	}
	return out
}

type naiveGridAccess struct {
	site          event.Site
	addr          uint64
	write, strong bool
	grid          int // 0: of a thread
}

// meet adds an access that begins with what k knows. It reports whether it races.
func (n *naiveGrids) meet(a naiveGridAccess, k ids) (id int, races bool) {
	for i, o := range n.all {
		if o.addr != a.addr || !o.write && !a.write || o.strong && a.strong || k[i] ||
			a.grid > 0 && a.grid == o.grid {
			continue
		}
		n.pairs[[2]event.Site{min(a.site, o.site), max(a.site, o.site)}] = true
		races = true
	}
	n.all = append(n.all, a)
	return len(n.all) - 1, races
}

// TestGrids drives the detector and the definition with random accesses, barriers and launches, for
// equal answers as to whether there is a race, and for reports of nothing else. Strong accesses
// synchronize nothing: no fence is executed.
func TestGrids(t *testing.T) {
	testGrids(t, false, 3, []int{0, 0, 1, 2, 2, 3})
}

// TestGridEvents is TestGrids with records of events and waits in place of most accesses of threads,
// by threads of one block.
func TestGridEvents(t *testing.T) {
	testGrids(t, true, 1, []int{1, 2, 2, 3, 3})
}

// testGrids does so with threads up to a number, and with kinds of steps: an access, a barrier, a
// launch, events.
func testGrids(t *testing.T, few bool, last int, kinds []int) {
	raced, quiet := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		one := event.Dim3{X: 1, Y: 1, Z: 1}
		d := New(Options{Geometry: event.Geometry{Grid: event.Dim3{X: 2, Y: 1, Z: 1},
			Block: event.Dim3{X: 33, Y: 1, Z: 1}, Cluster: one}})
		n := &naiveGrids{few: few, streams: make(map[string]ids), pairs: make(map[[2]event.Site]bool),
			launches: make(map[string][]int), waits: make(map[string][]naiveCall), events: make(map[uint64]naiveCall)}
		for i := range n.knows {
			n.knows[i] = ids{}
		}
		site, grids, any := event.Site(0), 0, false
		for range rapid.IntRange(1, 14).Draw(rt, "events") {
			thread := rapid.IntRange(0, last).Draw(rt, "thread")
			site++
			switch rapid.SampledFrom(kinds).Draw(rt, "kind") {
			case 0:
				any = drawAccess(rt, d, n, thread, site) || any
			case 1:
				blockBarrier(d, n, thread/2, site)
			case 2:
				grids++
				any = drawLaunch(rt, d, n, thread, site, grids) || any
			default:
				drawEvent(rt, d, n, thread, site)
			}
		}
		races := d.Report().Races
		for _, r := range races {
			if !n.pairs[[2]event.Site{min(r.First.Site, r.Second.Site), max(r.First.Site, r.Second.Site)}] {
				rt.Fatalf("sites %d and %d do not race: %+v", r.First.Site, r.Second.Site, r)
			}
		}
		if any != (len(races) > 0) {
			rt.Fatalf("races %v, reported %+v", n.pairs, races)
		}
		if any {
			raced++
		} else {
			quiet++
		}
	})
	if n := raced + quiet; raced < n/10 || quiet < n/10 { // -short draws a fifth of them
		t.Errorf("%d with races, %d without: the test shows little", raced, quiet)
	}
}

// draw chooses an access of a grid, or of a thread.
func (n *naiveGrids) draw(rt *rapid.T, site event.Site, grid int) naiveGridAccess {
	a := naiveGridAccess{site: site, addr: 4096, write: true, grid: grid}
	if !n.few {
		a.addr += 4 * rapid.Uint64Range(0, 2).Draw(rt, "word")
		a.write, a.strong = rapid.Bool().Draw(rt, "write"), rapid.Bool().Draw(rt, "strong")
	}
	return a
}

func drawAccess(rt *rapid.T, d *Detector, n *naiveGrids, thread int, site event.Site) bool {
	a := n.draw(rt, site, 0)
	id, races := n.meet(a, n.knows[thread])
	n.knows[thread][id] = true
	e := event.Access{Warp: event.Warp(thread), Site: site, Mask: 1, Active: 1, Space: event.Global,
		Kind: event.Read, Size: 4, Addr: &[event.WarpSize]uint64{a.addr}}
	if a.write {
		e.Kind, e.Stored = event.Write, 1
	}
	if a.strong {
		e.Order, e.Scope = event.Relaxed, event.GPU
	}
	d.Access(&e)
	return races
}

func blockBarrier(d *Detector, n *naiveGrids, block int, site event.Site) {
	both := n.knows[2*block].copy()
	both.add(n.knows[2*block+1])
	n.knows[2*block], n.knows[2*block+1] = both, both.copy()
	for w := range 2 {
		mask := ^uint32(0)
		if w == 1 {
			mask = 1
		}
		d.Arrive(&event.Arrive{Warp: event.Warp(2*block + w), Site: site, Mask: mask, Active: mask,
			Aligned: true})
	}
	d.Complete(&event.Complete{Block: uint32(block)})
}

func drawLaunch(rt *rapid.T, d *Detector, n *naiveGrids, thread int, site event.Site, grid int) bool {
	e := event.Launch{Warp: event.Warp(thread), Site: site, Active: 1}
	stream := ""
	if !n.few && rapid.IntRange(0, 3).Draw(rt, "alone") == 0 {
		e.Stream, e.Alone = 4, true
	} else {
		stream = n.stream(rt, &e, thread)
	}
	begins := n.knows[thread].copy()
	begins.add(n.behind(stream, thread))
	any := false
	after := begins.copy()
	for range rapid.IntRange(1, 2).Draw(rt, "accesses") {
		a := n.draw(rt, site, grid)
		id, races := n.meet(a, begins)
		any = any || races
		after[id] = true
		e.Accesses = append(e.Accesses, event.GridAccess{From: a.addr, To: a.addr + 4, Write: a.write,
			Strong: a.strong})
	}
	if stream != "" {
		n.streams[stream] = after
		n.launches[stream] = append(n.launches[stream], n.call(thread))
	}
	d.Launch(&e)
	return any
}

// stream chooses the stream of the thread's block, or one of two of the grid.
func (n *naiveGrids) stream(rt *rapid.T, e *event.Launch, thread int) string {
	if !n.few && rapid.Bool().Draw(rt, "shared") {
		e.Shared = true
		return fmt.Sprint("block ", thread/2)
	}
	e.Stream = rapid.Uint64Range(7, 8).Draw(rt, "stream")
	return fmt.Sprint(e.Stream)
}

// drawEvent records an event, or lets a stream wait for one.
func drawEvent(rt *rapid.T, d *Detector, n *naiveGrids, thread int, site event.Site) {
	e := event.Launch{Warp: event.Warp(thread), Site: site, Active: 1,
		Event: 1, Wait: rapid.Bool().Draw(rt, "wait")}
	if !n.few {
		e.Event = rapid.Uint64Range(1, 2).Draw(rt, "event")
	}
	stream := n.stream(rt, &e, thread)
	if e.Wait {
		if r, ok := n.events[e.Event]; ok && n.knows[thread][r.id] {
			n.waits[stream] = append(n.waits[stream], naiveCall{n.call(thread), r.stands})
		}
	} else {
		stands := n.behind(stream, thread)
		for _, l := range n.launches[stream] {
			if !n.knows[thread][l] {
				stands = ids{}
			}
		}
		n.events[e.Event] = naiveCall{n.call(thread), stands}
	}
	d.Launch(&e)
}

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
	all     []naiveGridAccess
	pairs   map[[2]event.Site]bool // sites of accesses that race
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
	raced, quiet := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		one := event.Dim3{X: 1, Y: 1, Z: 1}
		d := New(Options{Geometry: event.Geometry{Grid: event.Dim3{X: 2, Y: 1, Z: 1},
			Block: event.Dim3{X: 33, Y: 1, Z: 1}, Cluster: one}})
		n := &naiveGrids{streams: make(map[string]ids), pairs: make(map[[2]event.Site]bool)}
		for i := range n.knows {
			n.knows[i] = ids{}
		}
		site, grids, any := event.Site(0), 0, false
		for range rapid.IntRange(1, 12).Draw(rt, "events") {
			thread := rapid.IntRange(0, 3).Draw(rt, "thread")
			site++
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0, 1:
				any = drawAccess(rt, d, n, thread, site) || any
			case 2:
				blockBarrier(d, n, thread/2, site)
			default:
				grids++
				any = drawLaunch(rt, d, n, thread, site, grids) || any
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

func drawAccess(rt *rapid.T, d *Detector, n *naiveGrids, thread int, site event.Site) bool {
	a := naiveGridAccess{site: site, addr: 4096 + 4*rapid.Uint64Range(0, 2).Draw(rt, "word"),
		write: rapid.Bool().Draw(rt, "write"), strong: rapid.Bool().Draw(rt, "strong")}
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
	switch rapid.IntRange(0, 3).Draw(rt, "stream") {
	case 0, 1:
		e.Shared, stream = true, fmt.Sprint("block ", thread/2)
	case 2:
		e.Stream, e.Alone = 4, true
	default:
		e.Stream = 7
		stream = "7"
	}
	begins := n.knows[thread].copy()
	begins.add(n.streams[stream])
	any := false
	after := begins.copy()
	for range rapid.IntRange(0, 2).Draw(rt, "accesses") {
		a := naiveGridAccess{site: site, addr: 4096 + 4*rapid.Uint64Range(0, 2).Draw(rt, "word"),
			write: rapid.Bool().Draw(rt, "write"), strong: rapid.Bool().Draw(rt, "strong"), grid: grid}
		id, races := n.meet(a, begins)
		any = any || races
		after[id] = true
		e.Accesses = append(e.Accesses, event.GridAccess{From: a.addr, To: a.addr + 4, Write: a.write,
			Strong: a.strong})
	}
	if stream != "" {
		n.streams[stream] = after
	}
	d.Launch(&e)
	return any
}

package race

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/testing/long"
)

// mapModel is the rule of the proxy of tensor maps by its definition (docs/theory/happens-before.md),
// with every event kept for ever. It shares nothing with the detector.
type mapModel struct {
	past   []ids // by thread: the events before, in base causality order
	events []mapEvent
	flag   ids
	groups map[int]*mapGroups
}

type mapEvent struct {
	thread int
	kind   mapKind
	addr   uint64
	scope  event.Scope
	knows  ids // of a fence
}

type mapKind int

const (
	mapWrite mapKind = iota
	mapReleased
	mapAcquired
	mapRead
)

// mapGroups are the reads of a thread in its bulk groups.
type mapGroups struct {
	open   []int
	closed [][]int
}

const mapWarps = 2 // of each of two blocks

func mapBlock(thread int) int { return thread / 32 / mapWarps }

// do adds an event of a thread and returns its number.
func (m *mapModel) do(t int, kind mapKind, addr uint64, scope event.Scope, knows ids) int {
	m.events = append(m.events, mapEvent{thread: t, kind: kind, addr: addr, scope: scope, knows: knows})
	n := len(m.events) - 1
	m.past[t][n] = true
	return n
}

// includes reports whether the scopes of two fences include each other's threads.
func (m *mapModel) includes(f, g *mapEvent) bool {
	return mapBlock(f.thread) == mapBlock(g.thread) || f.scope >= event.GPU && g.scope >= event.GPU
}

// fenced reports whether a release and an acquire of the map lie between a write and thread t.
func (m *mapModel) fenced(write, t int, addr uint64) bool {
	for a := range m.past[t] {
		acquire := &m.events[a]
		if acquire.kind != mapAcquired || acquire.addr != addr || mapBlock(acquire.thread) != mapBlock(t) {
			continue
		}
		for r := range acquire.knows {
			release := &m.events[r]
			if release.kind == mapReleased && release.knows[write] && m.includes(release, acquire) {
				return true
			}
		}
	}
	return false
}

// races reports whether an access to a map that thread t makes now races with an earlier one.
func (m *mapModel) races(t int, kind mapKind, addr uint64) bool {
	for i := range m.events {
		e := &m.events[i]
		switch {
		case e.addr != addr || e.kind != mapWrite && e.kind != mapRead || e.kind == mapRead && kind == mapRead:
		case kind == mapRead && !m.fenced(i, t, addr), kind == mapWrite && !m.past[t][i]:
			return true
		}
	}
	return false
}

// TestMapFencesAgainstDefinition compares the detector with the definition on random events of two
// blocks, up to the first race.
func TestMapFencesAgainstDefinition(t *testing.T) {
	runs := 3000
	if long.All() {
		runs = 100000
	}
	racy, reads := 0, 0
	for seed := range runs {
		r := rand.New(rand.NewPCG(uint64(seed), 77))
		unit := event.Dim3{X: 1, Y: 1, Z: 1}
		d := New(Options{Geometry: event.Geometry{Grid: event.Dim3{X: 2, Y: 1, Z: 1},
			Block: event.Dim3{X: 32 * mapWarps, Y: 1, Z: 1}, Cluster: unit}})
		m := &mapModel{flag: ids{}, groups: make(map[int]*mapGroups)}
		for range 2 * 32 * mapWarps {
			m.past = append(m.past, ids{})
		}
		var site event.Site
		var id uint64
		var log []string
		note := func(format string, args ...any) event.Site {
			log = append(log, fmt.Sprintf(format, args...))
			site++
			return site
		}
		// Half of the events follow a script: a write, a release, synchronization, an acquire and a
		// use, by two threads.
		one, two, addr := r.IntN(2*mapWarps*2), r.IntN(2*mapWarps*2), uint64(1<<20)
		script := [][]int{{0, one}, {1, one}, {7, one}, {7, two}, {3, two}, {5, two}}
		if r.IntN(2) == 0 {
			script = [][]int{{0, one}, {1, one}, {8, one}, {3, two}, {8, two}, {5, two ^ 1}}
		}
		for range 30 {
			what, who := r.IntN(9), r.IntN(2*mapWarps*2)
			if len(script) > 0 && r.IntN(4) > 0 {
				what, who = script[0][0], script[0][1]
				script = script[1:]
			} else if r.IntN(4) == 0 {
				addr ^= 128
			}
			w, l := who/2, who%2
			th := 32*w + l
			mask := uint32(1) << l
			if r.IntN(3) == 0 {
				mask = 3
			}
			scope := []event.Scope{event.CTA, event.GPU, event.GPU}[r.IntN(3)]
			want := false
			switch what {
			case 0: // a write of a word of a map
				want = m.races(th, mapWrite, addr)
				m.do(th, mapWrite, addr, 0, nil)
				d.Access(&event.Access{Warp: event.Warp(w), Site: note("%d writes %#x", th, addr), Mask: 1 << l, Active: 3,
					Kind: event.Write, Space: event.Global, Size: 4, Stored: 1 << l, Addr: &[event.WarpSize]uint64{addr + 64, addr + 64}})
			case 1, 2:
				whole := r.IntN(2) == 0
				all := ids{}
				each(mask, func(l int) { all.add(m.past[32*w+l]) })
				each(mask, func(l int) {
					k := m.past[32*w+l].copy()
					if whole {
						k = all.copy()
					}
					m.do(32*w+l, mapReleased, 0, scope, k)
				})
				d.ProxyFence(&event.ProxyFence{Warp: event.Warp(w), Site: note("warp %d %#x releases %v, %v", w, mask, scope, whole),
					Mask: mask, Active: 3, Map: event.MapFence{Release: true, Scope: scope, Warp: whole}})
			case 3, 4:
				each(mask, func(l int) {
					th := 32*w + l
					m.do(th, mapAcquired, addr, scope, m.past[th].copy())
				})
				d.ProxyFence(&event.ProxyFence{Warp: event.Warp(w), Site: note("warp %d %#x acquires %#x %v", w, mask, addr, scope),
					Mask: mask, Active: 3, Map: event.MapFence{Acquire: true, Scope: scope, Addr: addr}})
			case 5: // a prefetch
				reads++
				want = m.races(th, mapRead, addr)
				n := m.do(th, mapRead, addr, 0, nil)
				delete(m.past[th], n) // until its group is complete
				g := m.groups[th]
				if g == nil {
					g = &mapGroups{}
					m.groups[th] = g
				}
				g.open = append(g.open, n)
				id++
				d.Bulk(&event.Bulk{ID: id, Warp: event.Warp(w), Site: note("%d uses %#x", th, addr), Mask: 1 << l, Active: 3,
					Grouped: true, Map: event.Range{Space: event.Global, Addr: addr, Size: 128}})
			case 6:
				g := m.groups[th]
				if g == nil {
					continue
				}
				commit, pending := r.IntN(2) == 0, r.IntN(2)
				if commit {
					g.closed, g.open = append(g.closed, g.open), nil
				} else {
					for i := range max(len(g.closed)-pending, 0) {
						for _, n := range g.closed[i] {
							m.past[th][n] = true
						}
					}
				}
				d.BulkGroup(&event.BulkGroup{Warp: event.Warp(w), Site: note("%d group, commit %v, pending %d", th, commit, pending),
					Mask: 1 << l, Active: 3, Commit: commit, Reads: true, Pending: uint32(pending)})
			case 7: // an atomic that is acquire and release, by which blocks learn of each other
				m.past[th].add(m.flag)
				m.flag.add(m.past[th])
				d.Access(&event.Access{Warp: event.Warp(w), Site: note("%d flag", th), Mask: 1 << l, Active: 3, Kind: event.Atomic,
					Space: event.Global, Order: event.AcqRel, Scope: event.GPU, Size: 4, Stored: 1 << l,
					Addr: &[event.WarpSize]uint64{1 << 21, 1 << 21}})
			case 8:
				b := w / mapWarps
				s := note("barrier of block %d", b)
				all := ids{}
				for w := b * mapWarps; w < (b+1)*mapWarps; w++ {
					d.Arrive(&event.Arrive{Warp: event.Warp(w), Site: s, Mask: ^uint32(0), Active: ^uint32(0)})
					each(^uint32(0), func(l int) { all.add(m.past[32*w+l]) })
				}
				d.Complete(&event.Complete{Block: uint32(b)})
				for w := b * mapWarps; w < (b+1)*mapWarps; w++ {
					each(^uint32(0), func(l int) { m.past[32*w+l].add(all) })
				}
			}
			if got := len(d.Report().Races) > 0; got != want {
				t.Fatalf("seed %d: a race is found: %v, want %v\n%s", seed, got, want, strings.Join(log, "\n"))
			}
			if want {
				racy++
				break
			}
		}
	}
	if racy < runs/4 || reads < runs {
		t.Errorf("%d of %d runs race, %d reads", racy, runs, reads)
	}
}

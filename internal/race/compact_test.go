package race

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
)

// TestCompacted: what remains of a list is, for each warp and site, every lane's last entry, in the
// order of the list. In shared memory, entries that every thread of the block knows are dropped.
func TestCompacted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := lone(event.BenignWarp)
		_, b := d.warpOf(0)
		b.floor = uint32(rapid.IntRange(0, 2).Draw(t, "floor"))
		shared := rapid.Bool().Draw(t, "shared")
		mem := d.global
		if shared {
			mem = d.memoryOf(event.Shared, b)
		}
		n := rapid.SampledFrom([]int{0, 1, 2, 5, 2 * minLimit, 2*minLimit + 1, 50}).Draw(t, "entries")
		var es, want []entry
		for range n {
			es = append(es, entry{warp: uint32(rapid.IntRange(0, 2).Draw(t, "warp")),
				site: uint32(rapid.IntRange(0, 1).Draw(t, "site")),
				mask: uint32(rapid.IntRange(1, 15).Draw(t, "mask")),
				clk:  uint32(rapid.IntRange(1, 4).Draw(t, "clock"))})
		}
		for i, e := range es {
			if shared && e.clk <= b.floor {
				continue
			}
			for _, later := range es[i+1:] {
				if later.warp == e.warp && later.site == e.site && !(shared && later.clk <= b.floor) {
					e.mask &^= later.mask
				}
			}
			if e.mask != 0 {
				want = append(want, e)
			}
		}
		got := d.compacted(&touching{access: &access{mem: mem, b: b}}, slices.Clone(es))
		if !slices.Equal(got, want) {
			t.Fatalf("floor %d, shared %v, of %+v\nremain %+v\nwant   %+v", b.floor, shared, es, got, want)
		}
	})
}

// TestCompactedRuns: what remains of a list of runs is, for each warp, site and map of lanes, every
// word's last run, in the order of the list. In shared memory, runs that every thread of the block
// knows are dropped.
func TestCompactedRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := lone(event.BenignWarp)
		_, b := d.warpOf(0)
		b.floor = uint32(rapid.IntRange(0, 2).Draw(t, "floor"))
		shared := rapid.Bool().Draw(t, "shared")
		mem := d.global
		if shared {
			mem = d.memoryOf(event.Shared, b)
		}
		n := rapid.SampledFrom([]int{0, 1, 2, 5, 2 * minLimit, 2*minLimit + 1, 50}).Draw(t, "runs")
		var es, want []run
		for range n {
			es = append(es, run{warp: uint32(rapid.IntRange(0, 1).Draw(t, "warp")),
				site:  uint32(rapid.IntRange(0, 1).Draw(t, "site")),
				lanes: laneMap(rapid.IntRange(0, 1).Draw(t, "lanes")),
				words: uint32(rapid.IntRange(1, 15).Draw(t, "words")),
				clk:   uint32(rapid.IntRange(1, 4).Draw(t, "clock"))})
		}
		for i, e := range es {
			if shared && e.clk <= b.floor {
				continue
			}
			for _, later := range es[i+1:] {
				if later.warp == e.warp && later.site == e.site && later.lanes == e.lanes &&
					!(shared && later.clk <= b.floor) {
					e.words &^= later.words
				}
			}
			if e.words != 0 {
				want = append(want, e)
			}
		}
		got := d.compactRuns(&access{mem: mem, b: b}, slices.Clone(es))
		if !slices.Equal(got, want) {
			t.Fatalf("floor %d, shared %v, of %+v\nremain %+v\nwant   %+v", b.floor, shared, es, got, want)
		}
	})
}

package race

import (
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
)

// weak is a weak access of 4 bytes at address 0.
func weak(t event.Thread, k event.Kind) side {
	return side{Access: event.Access{Kind: k}, t: t, size: 4}
}

// A wide access races with what one of its words holds, whatever the other word holds, and words
// that were only accessed together keep their history when one of them is accessed alone.
func TestTwoWords(t *testing.T) {
	for _, first := range []event.Kind{event.Read, event.Write} {
		for _, c := range []struct{ addr, size, then, thenSize uint64 }{
			{0, 4, 0, 8}, {4, 4, 0, 8}, {0, 8, 0, 4}, {0, 8, 4, 4}, {0, 8, 0, 8}, {4, 4, 0, 16},
		} {
			d := lone(event.BenignNone)
			a, b := weak(0, first), weak(64, event.Write)
			a.addr, a.size, b.addr, b.size = c.addr, uint8(c.size), c.then, uint8(c.thenSize)
			a.send(d, global, 1)
			b.send(d, global, 2)
			if !racing(d) {
				t.Errorf("%v of %d bytes at %d, write of %d at %d: no race", first, c.size, c.addr,
					c.thenSize, c.then)
			}
		}
	}
	// Two words with histories of their own, of which only the second races. Lanes in different epochs
	// are not recorded as runs of words.
	for _, uneven := range []bool{false, true} {
		d := lone(event.BenignNone)
		if uneven {
			for _, w := range []event.Warp{0, 2} {
				d.Fence(&event.Fence{Warp: w, Mask: 32, Active: 32, Order: event.Release, Scope: event.GPU})
			}
		}
		w0, w1, both := weak(64, event.Write), weak(0, event.Write), weak(64, event.Write)
		w1.addr, both.size = 4, 8
		w0.send(d, global, 1)
		w1.send(d, global, 2)
		both.send(d, global, 3)
		if r := d.Report().Races; len(r) != 1 || r[0].First.Site != 2 {
			t.Errorf("uneven %v: races %+v, want one with the write of the second word", uneven, r)
		}
	}
}

// A barrier of a block orders nothing of other blocks (PTX ISA 9.7.13.1), also not of the next one.
func TestBarrierOfOtherBlock(t *testing.T) {
	for block := range event.Warp(4) {
		for warp := range event.Warp(8) {
			d := lone(event.BenignNone)
			weak(event.ThreadOf(warp, 0), event.Write).send(d, global, 1)
			for w := 2 * block; w < 2*block+2; w++ {
				d.Arrive(&event.Arrive{Warp: w, Mask: ^uint32(0), Active: ^uint32(0)})
			}
			d.Complete(&event.Complete{Block: uint32(block)})
			weak(event.ThreadOf(2*block, 0), event.Write).send(d, global, 2)
			if got, want := racing(d), block != warp/2; got != want {
				t.Errorf("barrier of block %d, write of warp %d: a race: %v, want %v", block, warp, got, want)
			}
		}
	}
}

// Only pairs in the memory that is looked at count as tolerated.
func TestToleratedOfOneSpace(t *testing.T) {
	for _, only := range []event.Space{event.NoSpace, event.Global, event.Shared} {
		d := New(Options{Geometry: conflictGeometry, Benign: event.BenignAll, SharedBytes: 64,
			Only: only})
		weak(0, event.Write).send(d, global, 1)
		weak(32, event.Write).send(d, global, 2)
		want := uint64(1)
		if only == event.Shared {
			want = 0
		}
		if r := d.Report(); r.Tolerated != want || len(r.Races) != 0 {
			t.Errorf("space %v: %d tolerated, want %d; races %+v", only, r.Tolerated, want, r.Races)
		}
	}
}

// A finding at a barrier says whether a thread that takes part in it made an invalid access before:
// one that waits, or one that has ended.
func TestBarrierAfterFault(t *testing.T) {
	for _, c := range []struct {
		what string
		warp event.Warp
		mask uint32
		want bool
	}{
		{"none", 0, 0, false}, {"a lane that waits", 0, 1, true},
		{"another lane of its warp", 0, 2, false}, {"a lane that has ended", 1, 4, true},
		{"another of that warp", 1, 8, false}, {"another block", 2, 5, false},
	} {
		d := lone(event.BenignWarp)
		d.Fault(c.warp, c.mask)
		d.Exit(&event.Exit{Warp: 1, Mask: 4})
		d.Arrive(&event.Arrive{Mask: 1, Active: 1})
		d.Complete(&event.Complete{Exited: true})
		r := d.Report().Barriers
		if len(r) != 1 || r[0].Kind != Divergence || r[0].AfterFault != c.want {
			t.Errorf("%s: %+v, want divergence after a fault: %v", c.what, r, c.want)
		}
	}
}

// The readers of a word that all warps read again and again are kept once each.
func TestReadersOfOneWord(t *testing.T) {
	d := New(Options{Geometry: event.Geometry{Grid: event.Dim3{X: 40, Y: 1, Z: 1},
		Block: event.Dim3{X: 32, Y: 1, Z: 1}, Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}})
	// The word is accessed by lanes one at a time, which is what cells are for.
	for range 3 {
		for w := range event.Warp(40) {
			weak(event.ThreadOf(w, 3), event.Read).send(d, global, 1)
			d.Fence(&event.Fence{Warp: w, Mask: 8, Active: 8, Order: event.Release, Scope: event.GPU})
		}
	}
	c := d.cell(d.global, d.page(d.global, 0), 0)
	if !c.r.many() || len(d.list(c.r.warp).weak) != 40 {
		t.Errorf("the word has %+v, want a list of 40 readers", c.r)
	}
}

// Words join a run only if it is of the same warp, clock, site and lanes: each word keeps the clock
// at which it was accessed.
func TestMergeRun(t *testing.T) {
	base := run{warp: 1, clk: 2, words: 0b0011, site: 3}
	for what, change := range map[string]func(*run){
		"nothing": func(*run) {}, "warp": func(r *run) { r.warp++ }, "clock": func(r *run) { r.clk++ },
		"site": func(r *run) { r.site++ }, "lanes": func(r *run) { r.lanes++ },
	} {
		e, n := base, base
		n.words = 0b1100
		change(&n)
		merged, want := mergeRun(&e, &n), what == "nothing"
		if merged != want || want && e.words != 0b1111 || !want && e != base {
			t.Errorf("other %s: merged %v to %+v", what, merged, e)
		}
	}
}

// TestKnow compares trees with tables of clocks, lane by lane.
func TestKnow(t *testing.T) {
	warps := []event.Warp{0, 1, 15, 16, 17, 255, 256, 70000}
	type table [8][2]uint32 // of lanes 0 and 31 of the warps
	rapid.Check(t, func(t *rapid.T) {
		trees, tables := []*know{nil}, []table{{}}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			i := rapid.IntRange(0, len(trees)-1).Draw(t, "tree")
			k, want := trees[i], tables[i]
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				lo := rapid.IntRange(0, 7).Draw(t, "lo")
				hi := rapid.IntRange(lo, 7).Draw(t, "hi")
				c := uint32(rapid.IntRange(1, 5).Draw(t, "clock"))
				k = k.withWarps(warps[lo], warps[hi], c)
				for w := lo; w < hi; w++ {
					want[w] = [2]uint32{max(want[w][0], c), max(want[w][1], c)}
				}
			case 1:
				w := rapid.IntRange(0, 7).Draw(t, "warp")
				var lanes [event.WarpSize]uint32
				for n, l := range []int{0, 31} {
					lanes[l] = uint32(rapid.IntRange(0, 5).Draw(t, "lane"))
					want[w][n] = max(want[w][n], lanes[l])
				}
				if rapid.Bool().Draw(t, "others") {
					for l := 1; l < 31; l++ {
						lanes[l] = lanes[0]
					}
				}
				k = k.withLanes(warps[w], &lanes)
			case 2:
				j := rapid.IntRange(0, len(trees)-1).Draw(t, "other")
				k = join(k, trees[j])
				for w := range want {
					for n := range want[w] {
						want[w][n] = max(want[w][n], tables[j][w][n])
					}
				}
			}
			for n, w := range warps {
				if a, b := k.of(w, 0), k.of(w, 31); want[n] != [2]uint32{a, b} {
					t.Fatalf("warp %d: knows %d and %d, want %v", w, a, b, want[n])
				}
				least := min(want[n][0], want[n][1])
				for c := uint32(1); c <= 6; c++ {
					if got := k.covers(w, 1|1<<31, c); got != (c <= least) {
						t.Fatalf("warp %d: knows clock %d of both lanes: %t; it knows %d", w, c, got, least)
					}
				}
			}
			trees, tables = append(trees, k), append(tables, want)
		}
	})
}

// Each of the trees knows more of every warp than the other does, and their clocks are as high.
func TestKnowBoth(t *testing.T) {
	var a, b *know
	for w := range event.Warp(fanout) {
		a = a.withLanes(w, &[event.WarpSize]uint32{0: 1, 31: 9})
		b = b.withLanes(w, &[event.WarpSize]uint32{0: 9, 31: 1})
	}
	for _, k := range []*know{join(a, b), join(b, a)} {
		for w := range event.Warp(fanout) {
			if k.of(w, 0) != 9 || k.of(w, 31) != 9 {
				t.Errorf("warp %d: knows %d and %d, want 9 and 9", w, k.of(w, 0), k.of(w, 31))
			}
		}
	}
	if join(a, a) != a || join(a, nil) != a || join(nil, a) != a {
		t.Error("a tree is copied though nothing is added to it")
	}
}

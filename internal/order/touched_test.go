package order

import (
	"math/rand/v2"
	"testing"
)

// TestTouched compares with a flag for each byte, for accesses of words and of single bytes, also
// across pages, and for what several collectors have seen together.
func TestTouched(t *testing.T) {
	const limit = 3 * pageBytes
	var all [3]Touched
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var want [accesses][limit]bool
		for i := range all {
			all[i].Reset()
		}
		unit := uint64(4)
		if seed%2 == 0 {
			unit = 1
		}
		for range rnd.IntN(200) {
			a, at := Access(rnd.IntN(int(accesses))), uint64(rnd.IntN(limit/4))*4
			n := min(unit*(1+uint64(rnd.IntN(40))), limit-at)
			if rnd.IntN(20) == 0 {
				n = limit - at
			}
			all[rnd.IntN(len(all))].Mark(a, at, n)
			for i := range n {
				want[a][at+i] = true
			}
		}
		all[0].Add(&all[1])
		all[0].Add(&all[2])
		got, ok := all[0].Accesses()
		if !ok {
			t.Fatal("too many ranges")
		}
		for a := range accesses {
			compare(t, seed, got[a], want[a][:])
		}
	}
}

// compare compares ranges with flags.
func compare(t *testing.T, seed uint64, got []Range, want []bool) {
	t.Helper()
	last := uint64(0)
	for i, r := range got {
		if r.From >= r.To || i > 0 && r.From <= last {
			t.Fatalf("seed %d: ranges %v", seed, got)
		}
		for at := last; at < r.To; at++ {
			if want[at] != (at >= r.From) {
				t.Fatalf("seed %d: byte %d: %v, want %v", seed, at, at >= r.From, want[at])
			}
		}
		last = r.To
	}
	for at := last; at < uint64(len(want)); at++ {
		if want[at] {
			t.Fatalf("seed %d: byte %d is missing", seed, at)
		}
	}
}

// Accesses of a warp to 128 bytes, page after page.
func BenchmarkMark(b *testing.B) {
	var t Touched
	for i := range b.N {
		t.Mark(Access(i%2)*Read, uint64(i)%(1<<15)*128, 128)
	}
}

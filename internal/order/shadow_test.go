package order

import (
	"math/rand/v2"
	"testing"
)

// TestShadow compares with a flag for each byte.
func TestShadow(t *testing.T) {
	const limit = 3*pageBytes + 100
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var s Shadow
		var want [limit]bool
		pick := func() Range {
			from := uint64(rnd.IntN(limit))
			if rnd.IntN(3) == 0 {
				from = from / pageBytes * pageBytes
			}
			return Range{from, min(from+uint64(rnd.IntN(2*pageBytes)), limit)}
		}
		for range 30 {
			r, write := pick(), rnd.IntN(3) > 0
			if write {
				s.Write(r)
			} else {
				s.Forget(r)
			}
			for at := r.From; at < r.To; at++ {
				want[at] = write
			}
			q := pick()
			first, bytes := s.Missing(q)
			n, start, end := uint64(0), uint64(0), uint64(0)
			for at := q.From; at < q.To; at++ {
				if want[at] {
					continue
				}
				if n++; n == 1 {
					start, end = at, at+1
				} else if end == at {
					end++
				}
			}
			if bytes != n || n > 0 && (first != Range{start, end}) {
				t.Fatalf("seed %d: %v: %v, %d bytes, want %v, %d", seed, q, first, bytes, Range{start, end}, n)
			}
		}
	}
}

package order

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPieces marks random accesses, also by way of Add, and compares the pieces with a map of each
// byte: it is accessed if some access has it, and its origin is that of the last access of its kind
// to its word.
func TestPieces(t *testing.T) {
	type key struct {
		access Access
		addr   uint64
	}
	rapid.Check(t, func(t *rapid.T) {
		want, origins := make(map[key]bool), make(map[key]uint32)
		total := &Touched{Origins: true}
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			part := &Touched{Origins: true}
			for range rapid.IntRange(0, 12).Draw(t, "accesses") {
				a := Access(rapid.IntRange(0, int(accesses)-1).Draw(t, "access"))
				at := rapid.Uint64Range(4080, 4112).Draw(t, "address")
				n := rapid.Uint64Range(1, 16).Draw(t, "bytes")
				part.Origin = uint32(rapid.IntRange(1, 3).Draw(t, "origin"))
				part.Mark(a, at, n)
				for i := at; i < at+n; i++ {
					want[key{a, i}] = true
					origins[key{a, i / wordBytes}] = part.Origin
				}
			}
			total.Add(part)
		}
		pieces, ok := total.Pieces()
		if !ok {
			t.Fatal("too many pieces")
		}
		seen := 0
		for _, p := range pieces {
			for i := p.From; i < p.To; i++ {
				k := key{p.Access, i}
				if !want[k] || origins[key{p.Access, i / wordBytes}] != p.Origin {
					t.Fatalf("byte %d, access %d: origin %d, want %v %d", i, p.Access, p.Origin, want[k],
						origins[key{p.Access, i / wordBytes}])
				}
				seen++
			}
		}
		if seen != len(want) {
			t.Fatalf("%d bytes, want %d: %v", seen, len(want), pieces)
		}
		if !slices.IsSortedFunc(pieces, func(a, b Piece) int {
			return int(a.From/pageBytes) - int(b.From/pageBytes)
		}) {
			t.Fatal("pages do not ascend")
		}
	})
}

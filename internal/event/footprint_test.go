package event

import (
	"slices"
	"testing"
)

func TestFootprint(t *testing.T) {
	f, g := new(Footprint), new(Footprint)
	for _, a := range []uint64{8192 + 16, 0, 4080, 4096, 8192} {
		f.Add(a)
	}
	g.Add(32)
	g.Add(4096)
	f.Join(g)
	var got []uint64
	for i := range f.Parts {
		f.Parts[i].Each(func(lo, hi uint64) { got = append(got, lo, hi) })
	}
	want := []uint64{0, 16, 32, 48, 4080, 4096, 4096, 4112, 8192, 8224}
	if !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	if lo, hi := f.Bounds(); lo != 0 || hi != 8224 {
		t.Errorf("bounds %d, %d", lo, hi)
	}
	c := &f.Parts[0].Chunks
	if at, ok := c.First(20, 40); !ok || at != 32 {
		t.Errorf("first of [20,40): %d, %v", at, ok)
	}
	if _, ok := c.First(16, 32); ok {
		t.Error("a chunk that is not there")
	}
	if d := c.Common(&g.Parts[0].Chunks); !c.Covers(&d) || d.Covers(c) {
		t.Errorf("common chunks: %v", d)
	}
}

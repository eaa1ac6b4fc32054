package exec

import (
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/race"
)

// TestRelocate: on the GPU b is in front of a, both behind the KiB of the system; here a is at 0 and
// b at 64.
func TestRelocate(t *testing.T) {
	a, b := &ir.Var{Name: "a", Size: 64}, &ir.Var{Name: "b", Size: 16}
	at := map[*ir.Var]uint64{a: 1024 + 16, b: 1024}
	own := func(v *ir.Var) (uint64, bool) { return map[*ir.Var]uint64{a: 0, b: 64}[v], true }
	at1 := func(space event.Space, one, two uint64) race.Race {
		return race.Race{Space: space, First: race.Access{Addr: one}, Second: race.Access{Addr: two}}
	}
	far := at1(event.Shared, 1024+15, 1024+79)
	near := at1(event.Shared, 1024, 1024+16)
	near.Far = &far
	rep := &race.Report{Races: []race.Race{near, at1(event.Global, 1024, 1040), at1(event.Shared, 8, 1028)},
		Exchanges: []race.Exchange{{Race: at1(event.Shared, 1024+20, 1024+4)}}}
	relocate(rep, at, own)
	for i, test := range []struct {
		r        *race.Race
		one, two uint64
	}{
		{&rep.Races[0], 64, 0}, {rep.Races[0].Far, 79, 63}, {&rep.Races[1], 1024, 1040},
		{&rep.Races[2], 8, 68}, {&rep.Exchanges[0].Race, 4, 68},
	} {
		if test.r.First.Addr != test.one || test.r.Second.Addr != test.two {
			t.Errorf("%d: %d and %d, want %d and %d", i, test.r.First.Addr, test.r.Second.Addr, test.one,
				test.two)
		}
	}
}

package race

import (
	"testing"

	"heddle/internal/event"
)

// A late fence becomes a race if that of the writer is required; reads without a fence are left out
// if they need none. Other races stay.
func TestProxies(t *testing.T) {
	report := func() *Report {
		of := func(c Cause, k event.Kind) Race {
			return Race{Cause: c, First: Access{Kind: k}, Hazards: 2}
		}
		return &Report{
			Races: []Race{of(Unordered, event.Read), of(NoProxyFence, event.Read),
				of(NoProxyFence, event.Write)},
			Late: []Race{of(LateProxyFence, event.Read), of(LateProxyFence, event.Write)},
		}
	}
	for _, c := range []struct {
		writer, reads bool
		races, late   int
		ignored       uint64
	}{
		{false, false, 3, 2, 0},
		{true, false, 5, 0, 0},
		{false, true, 2, 1, 4},
		{true, true, 3, 0, 4},
	} {
		r := report()
		got := r.Proxies(c.writer, c.reads)
		if len(r.Races) != c.races || len(r.Late) != c.late || got != c.ignored {
			t.Errorf("%+v: %d races, %d late, %d ignored", c, len(r.Races), len(r.Late), got)
		}
		if again := r.Proxies(c.writer, c.reads); again != 0 {
			t.Errorf("%+v: the second time leaves out %d", c, again)
		}
	}
}

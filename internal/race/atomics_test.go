package race

import (
	"testing"

	"heddle/internal/event"
)

// Of a word that atomics update, the weak store before them stays known as long as somebody may
// race with it: a thread of another warp, in shared memory, or of another block, in global memory,
// where a barrier of the store's block orders nothing for it (PTX ISA 8.7.1).
func TestWeakStoreBeforeAtomics(t *testing.T) {
	own, sibling, stranger := event.Thread(0), event.ThreadOf(1, 0), event.ThreadOf(2, 0)
	for _, c := range []struct {
		what    string
		space   event.Space
		reader  event.Thread
		barrier bool // of the block of the store, behind it
		want    bool // the load races with the store
	}{
		{"shared, no barrier", event.Shared, sibling, false, true},
		{"shared, a barrier", event.Shared, sibling, true, false},
		{"global, a barrier of another block", event.Global, stranger, true, true},
	} {
		d := lone(event.BenignNone)
		weak(own, event.Write).send(d, c.space, 0)
		if c.barrier {
			for w := range event.Warp(2) {
				d.Arrive(&event.Arrive{Warp: w, Mask: ^uint32(0), Active: ^uint32(0)})
			}
			d.Complete(&event.Complete{})
		}
		for site := range event.Site(3) {
			strong(own, event.Reduce).send(d, c.space, site+1)
		}
		weak(c.reader, event.Read).send(d, c.space, 4)
		got := false
		for _, r := range d.Report().Races {
			got = got || r.First.Site == 0
		}
		if got != c.want {
			t.Errorf("%s: the load races with the store: %v, want %v", c.what, got, c.want)
		}
	}
}

package race

import (
	"testing"

	"heddle/internal/event"
)

// TestFencesAroundBarriers: all threads of a block store and execute fence.sc, a barrier follows,
// and one thread tells another block with an atomic, whose threads execute fence.sc behind a barrier
// of theirs. Fence-SC order must follow the atomics (PTX ISA 8.9.3 to 8.9.5). Without the fence or
// the barrier of either side, with a narrower or weaker fence, or if the fence comes too late, it
// need not.
func TestFencesAroundBarriers(t *testing.T) {
	writer, first := event.ThreadOf(1, 3), event.ThreadOf(0, 0)
	last, reader := event.ThreadOf(6, 0), event.ThreadOf(7, 7)
	const weak, narrow = event.AcqRel, event.CTA
	for _, c := range []struct {
		what                  string
		order, otherOrder     event.Order
		scope, otherScope     event.Scope
		barrier, otherBarrier bool
		late, load            bool // the fence follows the barrier; the other block loads the counter
		race                  bool
	}{
		{"all is there", event.SeqCst, event.SeqCst, event.GPU, event.Sys, true, true, false, false, false},
		{"a load tells", event.SeqCst, event.SeqCst, event.GPU, event.GPU, true, true, false, true, false},
		{"no first barrier", event.SeqCst, event.SeqCst, event.GPU, event.GPU, false, true, false, false, true},
		{"no last barrier", event.SeqCst, event.SeqCst, event.GPU, event.GPU, true, false, false, false, true},
		{"a weaker fence", weak, event.SeqCst, event.GPU, event.GPU, true, true, false, false, true},
		{"a weaker last fence", event.SeqCst, weak, event.GPU, event.GPU, true, true, false, false, true},
		{"a narrow fence", event.SeqCst, event.SeqCst, narrow, event.GPU, true, true, false, false, true},
		{"a narrow last fence", event.SeqCst, event.SeqCst, event.GPU, narrow, true, true, false, false, true},
		{"a fence behind the barrier", event.SeqCst, event.SeqCst, event.GPU, event.GPU, true, true, true,
			false, true},
	} {
		d := New(Options{Geometry: conflictGeometry, SharedBytes: 64})
		fence := func(t event.Thread, o event.Order, s event.Scope) {
			mask := uint32(1) << t.Lane()
			d.Fence(&event.Fence{Warp: t.Warp(), Mask: mask, Active: mask, Order: o, Scope: s})
		}
		barrier := func(block uint32, there bool) {
			for w := range event.Warp(2) {
				if there {
					d.Arrive(&event.Arrive{Warp: event.Warp(2*block) + w, Mask: ^uint32(0),
						Active: ^uint32(0)})
				}
			}
			d.Complete(&event.Complete{Block: block})
		}
		data := side{Access: event.Access{Kind: event.Write}, t: writer, size: 4}
		data.send(d, global, 1)
		if !c.late {
			fence(writer, c.order, c.scope)
		}
		barrier(0, c.barrier)
		if c.late {
			fence(writer, c.order, c.scope)
		}
		count := strong(first, event.Atomic)
		count.addr = 8
		count.send(d, global, 2)
		if count.t = last; c.load {
			count.Kind = event.Read
		}
		count.send(d, global, 3)
		barrier(3, c.otherBarrier)
		fence(reader, c.otherOrder, c.otherScope)
		data.Kind, data.t = event.Read, reader
		data.send(d, global, 4)
		if got := racing(d); got != c.race {
			t.Errorf("%s: a race: %v, want %v", c.what, got, c.race)
		}
	}
}

// TestFenceBehindBarrier: a thread executes fence.sc, a barrier of its block follows, and behind it
// the thread stores data and executes fence.sc again. Then another thread of the block tells another
// block with an atomic. Only the first fence precedes that (PTX ISA 8.8): the other block may read
// the data at any time. The warp of the thread has synchronized in parts, so that what its lanes
// knew is kept for each.
func TestFenceBehindBarrier(t *testing.T) {
	writer, first := event.ThreadOf(1, 3), event.ThreadOf(0, 0)
	last, reader := event.ThreadOf(6, 0), event.ThreadOf(7, 7)
	for _, behind := range []bool{false, true} {
		d := New(Options{Geometry: conflictGeometry, SharedBytes: 64})
		fence := func(t event.Thread) {
			mask := uint32(1) << t.Lane()
			d.WarpSync(&event.WarpSync{Warp: t.Warp(), Mask: mask | 1})
			d.Fence(&event.Fence{Warp: t.Warp(), Mask: mask, Active: mask, Order: event.SeqCst,
				Scope: event.GPU})
		}
		barrier := func(block uint32) {
			for w := range event.Warp(2) {
				d.Arrive(&event.Arrive{Warp: event.Warp(2*block) + w, Mask: ^uint32(0), Active: ^uint32(0)})
			}
			d.Complete(&event.Complete{Block: block})
		}
		data := side{Access: event.Access{Kind: event.Write}, t: writer, size: 4}
		if !behind {
			data.send(d, global, 1)
		}
		fence(writer)
		barrier(0)
		if behind {
			data.send(d, global, 1)
		}
		fence(writer)
		count := strong(first, event.Atomic)
		count.addr = 8
		count.send(d, global, 2)
		count.t = last
		count.send(d, global, 3)
		barrier(3)
		fence(reader)
		data.Kind, data.t = event.Read, reader
		data.send(d, global, 4)
		if got := racing(d); got != behind {
			t.Errorf("data behind the barrier %v: a race: %v", behind, got)
		}
	}
}

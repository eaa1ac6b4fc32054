package trace

import (
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
)

// TestRoundLogMatrices: two intervals are the same if their operations of wgmma and tcgen05 access
// the same, form the same pipelines and tell the same mbarriers of their completion, whatever was
// before.
func TestRoundLogMatrices(t *testing.T) {
	chunks := func(addr ...uint64) *event.Footprint {
		f := new(event.Footprint)
		for _, a := range addr {
			f.Add(a)
		}
		return f
	}
	rect := event.TensorRect{Lanes: 128, Column: 32, Columns: 8, Write: true}
	type op func(s event.Sink, id uint64)
	matrix := func(e event.Matrix) op { return func(s event.Sink, _ uint64) { s.Matrix(&e) } }
	group := func(e event.MatrixGroup) op { return func(s event.Sink, _ uint64) { s.MatrixGroup(&e) } }
	tensor := func(e event.TensorAgent) op { return func(s event.Sink, _ uint64) { s.Tensor(&e) } }
	sync := func(e event.TensorSync) op { return func(s event.Sink, _ uint64) { s.TensorSync(&e) } }
	commit := func(addr uint64) op {
		return func(s event.Sink, id uint64) {
			s.TensorSync(&event.TensorSync{Warp: 1, Mask: 1, Step: event.TensorCommit, ID: id, Addr: addr})
			s.Signal(&event.Signal{ID: id, Warp: 1, Addr: addr, Arrival: true})
			s.MBarrier(&event.MBarrier{Op: event.MBarrierComplete, Addr: addr, Phase: id})
		}
	}
	multiply := event.TensorAgent{Mask: 1, Rects: []event.TensorRect{rect}, Shared: chunks(64),
		Shape: 3}
	with := func(change func(e *event.TensorAgent)) op {
		e := multiply
		change(&e)
		return tensor(e)
	}
	narrow := rect
	narrow.Columns--
	read := rect
	read.Write = false
	for _, c := range []struct {
		what string
		a, b op
		same bool
	}{
		{"wgmma", matrix(event.Matrix{Mask: 1, Reads: chunks(0, 4096)}),
			matrix(event.Matrix{Mask: 1, Reads: chunks(4096, 0)}), true},
		{"wgmma that reads more", matrix(event.Matrix{Mask: 1, Reads: chunks(0)}),
			matrix(event.Matrix{Mask: 1, Reads: chunks(0, 16)}), false},
		{"wgmma that reads elsewhere", matrix(event.Matrix{Mask: 1, Reads: chunks(0)}),
			matrix(event.Matrix{Mask: 1, Reads: chunks(4096)}), false},
		{"wgmma at another place", matrix(event.Matrix{Mask: 1, Reads: chunks(0)}),
			matrix(event.Matrix{Mask: 1, Site: 1, Reads: chunks(0)}), false},
		{"a commit and a wait", group(event.MatrixGroup{Commit: true}), group(event.MatrixGroup{}),
			false},
		{"a wait for fewer", group(event.MatrixGroup{Pending: 1}), group(event.MatrixGroup{}), false},
		{"tcgen05.mma", tensor(multiply), tensor(multiply), true},
		{"another shape", tensor(multiply), with(func(e *event.TensorAgent) { e.Shape++ }), false},
		{"another operation", tensor(multiply),
			with(func(e *event.TensorAgent) { e.Op = event.TensorShift }), false},
		{"a small copy", tensor(multiply), with(func(e *event.TensorAgent) { e.Small = true }), false},
		{"other operands", tensor(multiply),
			with(func(e *event.TensorAgent) { e.Shared = chunks(80) }), false},
		{"no operands", tensor(multiply), with(func(e *event.TensorAgent) { e.Shared = nil }), false},
		{"fewer columns", tensor(multiply),
			with(func(e *event.TensorAgent) { e.Rects = []event.TensorRect{narrow} }), false},
		{"a read", tensor(multiply),
			with(func(e *event.TensorAgent) { e.Rects = []event.TensorRect{read} }), false},
		{"loads and stores", sync(event.TensorSync{Step: event.TensorLoaded}),
			sync(event.TensorSync{Step: event.TensorStored}), false},
		{"fences", sync(event.TensorSync{Step: event.TensorBefore}),
			sync(event.TensorSync{Step: event.TensorAfter}), false},
		{"a commit", commit(8), commit(8), true},
		{"a commit to another mbarrier", commit(8), commit(16), false},
	} {
		log := newRoundLog(event.Discard{})
		at := &emu.Round{State: []byte{1}}
		for id, do := range []op{c.a, c.b} {
			log.round(at)
			do(log, uint64(id))
		}
		if got := log.list[0].same(log.list[1]); got != c.same {
			t.Errorf("%s: the same is %v", c.what, got)
		}
	}
	for _, step := range [...]event.TensorStep{event.TensorAllocate, event.TensorFree,
		event.TensorPermit, event.TensorCommit} {
		log := newRoundLog(event.Discard{})
		log.TensorSync(&event.TensorSync{Step: step}) // in front of the first round
		log.round(new(emu.Round))
		if log.list[0].allocates {
			t.Error("an allocation in front of a round is part of it")
		}
		log.TensorSync(&event.TensorSync{Step: step})
		if got := log.list[0].allocates; got != (step != event.TensorCommit) {
			t.Errorf("step %d allocates is %v", step, got)
		}
	}
}

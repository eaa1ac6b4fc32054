package emu

import (
	"bytes"
	"encoding/binary"
	"testing"

	"heddle/internal/ir"
)

// encoded returns what a function puts.
func encoded(f func(put func(...uint64))) []byte {
	var out []byte
	f(func(v ...uint64) {
		for _, n := range v {
			out = binary.AppendUvarint(out, n)
		}
	})
	return out
}

// matricesAt returns a warp with groups and fences of which the first ones are long ago, and three
// registers: one of an operation under way, one of a group that is complete, and one that threads
// have accessed.
func matricesAt(groups, fences uint32, change func(w *warp)) *warp {
	w := &warp{matrices: warpMatrices{closed: groups + 2, done: groups + 1, fences: fences + 2,
		mmaFences: fences + 1}}
	in := new(ir.Instr)
	w.root = &frame{uses: []regUse{
		{group: groups + 2, shape: 7, accumulator: true, operand: 1, mma: in, fenced: fences + 3},
		{group: groups + 1, shape: 7, operand: 2, mma: in, fenced: fences + 2},
		{read: touchAt{fences + 3, false, in}, written: touchAt{fences + 2, true, in}},
	}}
	change(w)
	return w
}

// TestMatricesState: the state of a warp's matrix operations is the same however many groups and
// fences there were before, and whatever was in front of the last fence that an operation has
// followed. Everything else that decides whether an access or an operation is an error makes a
// difference (PTX ISA 9.7.15.7).
func TestMatricesState(t *testing.T) {
	state := func(groups, fences uint32, change func(w *warp)) []byte {
		return encoded(matricesAt(groups, fences, change).putMatrices)
	}
	want := state(5, 9, func(*warp) {})
	for what, change := range map[string]func(w *warp){
		"nothing": func(*warp) {},
		"an earlier complete group": func(w *warp) {
			w.root.uses[1].group--
		},
		"an earlier fence at a complete operation": func(w *warp) { w.root.uses[1].fenced-- },
		"a read long ago": func(w *warp) {
			w.root.uses[0].read.fences = w.matrices.mmaFences
		},
		"a write long ago": func(w *warp) {
			w.root.uses[1].written = touchAt{w.matrices.mmaFences - 1, true, nil}
		},
		"another place": func(w *warp) { w.root.uses[2].read.in = nil },
	} {
		for _, more := range []uint32{0, 1, 1000} {
			if got := state(5+more, 9+2*more, change); !bytes.Equal(got, want) {
				t.Errorf("%s, %d groups later: another state", what, more)
			}
		}
	}
	for what, change := range map[string]func(w *warp){
		"a group that is complete":   func(w *warp) { w.matrices.done++ },
		"another group under way":    func(w *warp) { w.root.uses[0].group++ },
		"no group":                   func(w *warp) { w.root.uses[1].group = 0 },
		"another group open":         func(w *warp) { w.matrices.closed++ },
		"another shape":              func(w *warp) { w.root.uses[1].shape++ },
		"another role":               func(w *warp) { w.root.uses[0].accumulator = false },
		"a second name":              func(w *warp) { w.root.uses[0].operand = 2 },
		"a fence since an operation": func(w *warp) { w.root.uses[0].fenced-- },
		"a fence more":               func(w *warp) { w.matrices.fences++ },
		"an operation behind it":     func(w *warp) { w.matrices.mmaFences++ },
		"an earlier read":            func(w *warp) { w.root.uses[2].read.fences-- },
		"a certain write":            func(w *warp) { w.root.uses[2].written.maybe = false },
		"a write":                    func(w *warp) { w.root.uses[0].written = w.root.uses[2].read },
		"another register":           func(w *warp) { w.root.uses = append(w.root.uses, regUse{}) },
	} {
		if got := state(5, 9, change); bytes.Equal(got, want) {
			t.Errorf("%s: the same state", what)
		}
	}
}

// TestWarpgroupState: what some warps of a warpgroup have executed and others have not is part of
// the state, and what all have executed is not.
func TestWarpgroupState(t *testing.T) {
	a, b := &ir.Instr{Index: 1}, &ir.Instr{Index: 2}
	state := func(base uint64, at [4]uint64, steps ...warpgroupStep) []byte {
		for i := range at {
			at[i] += base
		}
		bl := &block{groups: []warpgroup{{steps: steps, base: base, at: at}}}
		return encoded(bl.putWarpgroups)
	}
	first, second := warpgroupStep{in: a}, warpgroupStep{in: b, desc: [2]uint64{0, 5}}
	want := state(0, [4]uint64{1, 1, 1, 2}, first, second)
	for what, got := range map[string][]byte{
		"300 steps later":        state(300, [4]uint64{1, 1, 1, 2}, first, second),
		"the common one dropped": state(301, [4]uint64{0, 0, 0, 1}, second),
		"another common one":     state(0, [4]uint64{1, 1, 1, 2}, second, second),
	} {
		if !bytes.Equal(got, want) {
			t.Errorf("%s: another state", what)
		}
	}
	for what, got := range map[string][]byte{
		"another warp":       state(0, [4]uint64{1, 1, 2, 1}, first, second),
		"all are there":      state(0, [4]uint64{2, 2, 2, 2}, first, second),
		"another step":       state(0, [4]uint64{1, 1, 1, 2}, first, first),
		"another descriptor": state(0, [4]uint64{1, 1, 1, 2}, first, warpgroupStep{in: b}),
	} {
		if bytes.Equal(got, want) {
			t.Errorf("%s: the same state", what)
		}
	}
}

// TestTensorState: which columns are allocated, and what an allocation may take, is part of the
// state.
func TestTensorState(t *testing.T) {
	state := func(tm *tensorMemory) []byte { return encoded(tm.putState) }
	base := func() *tensorMemory {
		a := tensorAllocation{column: 32, columns: 64, named: true}
		return &tensorMemory{allocated: []tensorAllocation{a}, last: 64}
	}
	want := state(base())
	for what, change := range map[string]func(*tensorMemory){
		"another column":    func(tm *tensorMemory) { tm.allocated[0].column = 0 },
		"fewer columns":     func(tm *tensorMemory) { tm.allocated[0].columns = 32 },
		"no address so far": func(tm *tensorMemory) { tm.allocated[0].named = false },
		"no allocation":     func(tm *tensorMemory) { tm.allocated = nil },
		"another last one":  func(tm *tensorMemory) { tm.last = 32 },
		"no right":          func(tm *tensorMemory) { tm.relinquished = new(ir.Instr) },
	} {
		tm := base()
		if change(tm); bytes.Equal(state(tm), want) {
			t.Errorf("%s: the same state", what)
		}
	}
	if bytes.Equal(state(nil), want) || !bytes.Equal(state(base()), want) {
		t.Error("the state is not that of the allocations")
	}
}

// TestContentsState: the bytes of shared memory that a trace knows are part of the state, with
// their places, and the others are not.
func TestContentsState(t *testing.T) {
	at := func(known map[int]byte, fill byte) []byte {
		b := &block{shared: bytes.Repeat([]byte{fill}, 200), unk: []uint64{^uint64(0), ^uint64(0),
			^uint64(0), ^uint64(0)}}
		for i, v := range known {
			b.shared[i] = v
			b.unk[i/64] &^= 1 << (i % 64)
		}
		return b.contents()
	}
	want := at(map[int]byte{3: 1, 70: 0, 199: 9}, 0)
	if !bytes.Equal(at(map[int]byte{3: 1, 70: 0, 199: 9}, 5), want) {
		t.Error("bytes that are not known are part of the state")
	}
	for _, known := range []map[int]byte{nil, {3: 1, 70: 0}, {3: 1, 70: 0, 199: 8},
		{3: 1, 71: 0, 199: 9}, {3: 1, 70: 0, 71: 0, 199: 9}, {4: 1, 70: 0, 199: 9}} {
		if bytes.Equal(at(known, 0), want) {
			t.Errorf("%v: the same state", known)
		}
	}
	b := &block{shared: make([]byte, 64)} // a trace without unknown values reads nothing there
	if len(b.contents()) == 0 {
		t.Error("no contents without unknown values")
	}
}

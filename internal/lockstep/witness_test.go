package lockstep_test

import (
	"fmt"
	"slices"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// TestContents: what the loads of a counterexample see is what a run finds in the arrays at the
// start.
func TestContents(t *testing.T) {
	m := kernels.PTX(t, fmt.Sprintf(prologue, "", `
		mul.wide.u32 %d1, %t, 4;
		add.s64 %d2, %B, %d1;
		ld.global.u32 %x1, [%d2];
		setp.eq.u32 %p1, %x1, 77;
		@%p1 st.global.u32 [%A], %t;`))
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	g := event.Geometry{Grid: one, Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: one}
	th, err := lockstep.Build(t.Context(), m.Funcs[len(m.Funcs)-1], lockstep.Options{Geometry: g})
	if err != nil {
		t.Fatal(err)
	}
	r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}})
	if len(r.Findings) != 1 || r.Findings[0].Model == nil {
		t.Fatalf("%d findings", len(r.Findings))
	}
	f := &r.Findings[0]
	contents := th.Contents(f.Model, 4096)
	for o, b := range contents {
		for i := range 2 {
			at := 4 * int(f.Tid[i].X)
			if o.Name != "B" || len(b) < at+4 || b[at] != 77 || b[at+1] != 0 {
				t.Errorf("%s holds % x, want 77 at %d", o.Name, b, at)
			}
		}
	}
	if len(contents) != 1 {
		t.Errorf("contents of %d arrays, want B alone", len(contents))
	}
	if small := th.Contents(f.Model, 4); len(small[th.Objects[0]]) > 4 {
		t.Error("more bytes than asked for")
	}
}

// TestContentsAtTheStart: of an array that the kernel writes, the contents at the start are those
// behind no barrier, whose instance is 0.
func TestContentsAtTheStart(t *testing.T) {
	o := &thread.Object{Name: "a", Index: 3, Space: event.Global}
	th := &thread.Thread{Objects: []*thread.Object{o}}
	for _, instance := range [][]uint64{{0}, {0, 0}, {1}, {0, 1}} {
		at := append([]uint64{4}, instance...)
		m := &smt.Model{Funcs: map[string]map[string]uint64{
			symbol.MemoryName(symbol.Block, o.Index, 16): {smt.Key(at): 0x1234},
		}}
		var want []byte
		if !slices.Contains(instance, 1) {
			want = []byte{0, 0, 0, 0, 0x34, 0x12}
		}
		if got := th.Contents(m, 64)[o]; !slices.Equal(got, want) {
			t.Errorf("behind barrier %v: % x, want % x", instance, got, want)
		}
	}
}

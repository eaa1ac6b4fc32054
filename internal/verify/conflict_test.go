package verify

import (
	"fmt"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
)

// conflictGeometry has blocks of one cluster, blocks of two, and two warps a block.
var conflictGeometry = event.Geometry{
	Grid: event.Dim3{X: 4, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1},
	Cluster: event.Dim3{X: 2, Y: 1, Z: 1},
}

// modelled are the accesses that lockstep makes of instructions: each kind with its orders, scopes
// and sizes, alone and as a vector.
func modelled() []*thread.Access {
	orders := map[event.Kind][]event.Order{
		event.Read:  {event.Weak, event.Relaxed, event.Acquire},
		event.Write: {event.Weak, event.Relaxed, event.Release},
		// Weak ones are those of vectors.
		event.Atomic: {event.Weak, event.Relaxed, event.Acquire, event.Release, event.AcqRel},
		event.Reduce: {event.Weak, event.Relaxed, event.Release},
	}
	var out []*thread.Access
	for kind, list := range orders {
		for _, o := range list {
			for scope := event.CTA; scope <= event.Sys; scope++ {
				s := scope
				if o == event.Weak {
					s = event.NoScope
				}
				for _, size := range []int{1, 2, 4, 8, 16} {
					for _, vec := range []uint8{1, 2, 4} {
						in := &ir.Instr{Desc: isa.Desc{Vec: vec}, Guard: ir.NoReg}
						out = append(out, &thread.Access{
							Instr: in, Kind: kind, Order: o, Scope: s, Size: size * int(vec), Space: event.Global,
						})
					}
				}
				if o == event.Weak {
					break // the scope does not matter
				}
			}
		}
	}
	return out
}

// A pair of accesses that the prover leaves out, because its kinds cannot conflict or because it is
// morally strong, is never one that event.Conflict, the definition of a race, counts. Only the
// accesses that the definition can compare are elements of equal or different size that overlap:
// accesses are aligned to their size (PTX ISA 6.4.1), and those of a vector are one for each
// element (8.2.4).
func TestProverIsConflict(t *testing.T) {
	all := modelled()
	threads := []struct {
		t, u  event.Thread
		other bool
	}{
		{event.ThreadOf(0, 0), event.ThreadOf(0, 5), false}, // of one warp
		{event.ThreadOf(0, 0), event.ThreadOf(1, 0), false}, // of one block
		{event.ThreadOf(0, 0), event.ThreadOf(2, 0), true},  // of one cluster
		{event.ThreadOf(0, 0), event.ThreadOf(4, 0), true},  // of two clusters
	}
	p, left, exact := &prover{}, 0, 0
	for _, a := range all {
		for _, b := range all {
			for _, th := range threads {
				asked := p.comparable(a, b) && !strongTogether(a, b, th.other)
				conflict := conflicts(a, b, th.t, th.u)
				if conflict && !asked {
					t.Fatalf("threads %d and %d: %+v and %+v race, and are not asked for", th.t, th.u, a, b)
				}
				if !asked {
					left++
				}
				if asked && !conflict {
					exact++
					// What is asked for in vain: scopes of a cluster, whose blocks a proof does not tell apart.
					if !(th.other && clustered(a) && clustered(b)) {
						t.Fatalf("threads %d and %d: %+v and %+v cannot race, and are asked for", th.t, th.u, a, b)
					}
				}
			}
		}
	}
	if left == 0 || exact == 0 {
		t.Errorf("%d pairs left out, %d in vain", left, exact)
	}
}

// clustered reports whether an access is strong at the scope of a cluster at least.
func clustered(a *thread.Access) bool { return a.Order.Strong() && a.Scope >= event.Cluster }

// conflicts reports whether some elements of two accesses that overlap are a race by the
// definition.
func conflicts(a, b *thread.Access, t, u event.Thread) bool {
	op := func(x *thread.Access, by event.Thread, at, size int) event.Op {
		return event.Op{
			Thread: by, Kind: x.Kind, Order: x.Order, Scope: x.Scope,
			Addr: uint64(at), Size: uint8(size),
		}
	}
	m, n := elementSize(a), elementSize(b)
	for i := 0; i < a.Size; i += m {
		for k := 0; k < b.Size; k += n {
			if event.Conflict(conflictGeometry, op(a, t, i, m), op(b, u, k, n)) {
				return true
			}
		}
	}
	return false
}

// sameValue stores one value from two threads of one block, each by an instruction of its own.
const sameValue = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 16 a) {
	.reg .pred %%p<3>;
	.reg .b32 %%r<4>;
	.reg .b64 %%rd<3>;
	ld.param.u64 %%rd1, [a];
	cvta.to.global.u64 %%rd1, %%rd1;
	mov.u32 %%r1, %%tid.x;
	setp.eq.u32 %%p1, %%r1, 0;
	setp.eq.u32 %%p2, %%r1, 40;
	@%%p1 %s.global.u32 [%%rd1], 7;
	@%%p2 %s.global.u32 [%%rd1], 7;
	ret;
}
`

// Stores of the same value are tolerated as the detector does: weak ones only
// (TestDetectorTolerates of package race). A strong one beside a weak one is a race whatever they
// store.
func TestProverTolerates(t *testing.T) {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	g := event.Geometry{Grid: one, Block: event.Dim3{X: 64, Y: 1, Z: 1}, Cluster: one}
	for _, c := range []struct {
		a, b     string
		benign   event.Benign
		verified bool
	}{
		{"st", "st", event.BenignAll, true},
		{"st", "st", event.BenignWarp, false}, // two instructions
		{"st", "st", event.BenignNone, false},
		{"st.relaxed.gpu", "st", event.BenignAll, false},
		{"st", "st.volatile", event.BenignAll, false},
		{"st.relaxed.gpu", "st.relaxed.gpu", event.BenignNone, true}, // morally strong
	} {
		m := kernels.PTX(t, fmt.Sprintf(sameValue, c.a, c.b))
		th, err := lockstep.Build(t.Context(), m.Kernel("k"), lockstep.Options{Geometry: g})
		if err != nil {
			t.Fatal(err)
		}
		solver := &sat.Solver{Steps: 1_000_000}
		r := Kernel(t.Context(), th, Options{Benign: c.benign, Solvers: []smt.Solver{solver}})
		if r.Verified() != c.verified {
			t.Errorf("%s and %s, benign %d: verified %v", c.a, c.b, c.benign, r.Verified())
		}
	}
}

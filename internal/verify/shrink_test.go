package verify_test

import (
	"fmt"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// writers is a kernel in which %t is the index of the thread in its block, %n the scalar argument
// and %A an array.
const writers = `.version 8.7
.target sm_100
.address_size 64
.visible .entry k(.param .u64 A, .param .u32 n)
{
	.reg .pred %%p<3>;
	.reg .b32 %%t, %%n;
	.reg .b64 %%A;
	ld.param.u64 %%A, [A];
	ld.param.u32 %%n, [n];
	cvta.to.global.u64 %%A, %%A;
	mov.u32 %%t, %%tid.x;
	%s
	ret;
}
`

// TestSmall: the numbers of a counterexample are as small as the kernel lets them be, or at least
// within one of the bounds where smaller ones are too far apart to be found one after the other.
func TestSmall(t *testing.T) {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	g := event.Geometry{Grid: event.Dim3{X: 100, Y: 1, Z: 1}, Block: event.Dim3{X: 512, Y: 1, Z: 1}, Cluster: one}
	for _, tc := range []struct {
		name, body string
		n          uint64 // the least n that races
		most       uint64 // if not 0: what n may be instead
		tids       [2]uint32
	}{
		// All threads write A[0]: any two, and n does not matter.
		{"any", "st.global.u32 [%A], %t;", 0, 0, [2]uint32{0, 1}},
		// Only threads from 300 on, and only for n above 1000.
		{"late", `setp.ge.u32 %p1, %t, 300;
			setp.gt.u32 %p2, %n, 1000;
			and.pred %p1, %p1, %p2;
			@%p1 st.global.u32 [%A], %t;`, 1001, 0, [2]uint32{300, 301}},
		// Only threads from 200 on, and for one n above 40 in 256: the least are 233, 466 and 610.
		{"scattered", `setp.ge.u32 %p1, %t, 200;
			setp.gt.u32 %p2, %n, 40;
			and.pred %p1, %p1, %p2;
			mul.lo.u32 %n, %n, 2654435761;
			setp.lt.u32 %p2, %n, 16777216;
			and.pred %p1, %p1, %p2;
			@%p1 st.global.u32 [%A], %t;`, 233, 1024, [2]uint32{200, 201}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := kernels.PTX(t, fmt.Sprintf(writers, tc.body)).Funcs[0]
			th, err := lockstep.Build(t.Context(), k, lockstep.Options{Geometry: g})
			if err != nil {
				t.Fatal(err)
			}
			r := verify.Kernel(t.Context(), th, verify.Options{OnlyIntraBlock: true, Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}})
			if len(r.Findings) != 1 || r.Findings[0].Model == nil {
				t.Fatalf("%d findings", len(r.Findings))
			}
			f := &r.Findings[0]
			a, b := f.Tid[0].X, f.Tid[1].X
			if min(a, b) != tc.tids[0] || max(a, b) != tc.tids[1] || f.Ctaid[0] != f.Ctaid[1] || f.Ctaid[0].X != 0 {
				t.Errorf("threads %v of blocks %v, want %v", f.Tid, f.Ctaid, tc.tids)
			}
			for _, v := range th.Func.Params {
				if n, ok := f.Model.Vars[lockstep.ParamName(v, 0, 32)]; ok &&
					(n < tc.n || n > max(tc.n, tc.most)) {
					t.Errorf("n = %d, want %d", n, tc.n)
				}
			}
		})
	}
}

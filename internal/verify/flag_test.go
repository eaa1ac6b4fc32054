package verify_test

import (
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// message is a kernel in which block 0 sets a flag behind its data, and others wait for it.
const message = `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 flag;
.global .align 4 .u32 data;
.visible .entry k()
{
	.reg .b32 %b, %r;
	.reg .pred %p;
	mov.u32 %b, %ctaid.x;
	setp.ne.u32 %p, %b, 0;
	@%p bra W;
	st.global.u32 [data], 1;
	st.release.gpu.global.u32 [flag], 1;
	ret;
W:
	ld.acquire.gpu.global.u32 %r, [flag];
	setp.eq.u32 %p, %r, 0;
	@%p bra W;
	ld.global.u32 %r, [data];
	ret;
}
`

// TestFlagsAllowAnyLoad: flags order accesses only in proofs in which every load may return anything
// (docs/theory/lock-step.md, "Flags").
func TestFlagsAllowAnyLoad(t *testing.T) {
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	for _, adversarial := range []bool{false, true} {
		th, err := lockstep.Build(t.Context(), kernels.PTX(t, message).Kernel("k"), lockstep.Options{
			Geometry:    event.Geometry{Grid: event.Dim3{X: 3, Y: 1, Z: 1}, Block: one, Cluster: one},
			Adversarial: adversarial})
		if err != nil {
			t.Fatal(err)
		}
		r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{}}})
		if r.Verified() != adversarial {
			t.Errorf("loads return anything: %v, verified: %v", adversarial, r.Verified())
		}
	}
}

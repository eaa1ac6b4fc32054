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

// beyondKernel stores to element t & 31 in threads below 64, and to element t in the others.
const beyondKernel = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [a];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %tid.x;
	and.b32 %r2, %r1, 31;
	setp.lt.u32 %p1, %r1, 64;
	selp.b32 %r3, %r2, %r1, %p1;
	mul.wide.u32 %rd2, %r3, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
`

// Thread t races with thread t + 32 for t below 32, and no thread from 64 on races: pairs with such a
// thread are harmless, and those with one from 63 on are not.
func TestBeyond(t *testing.T) {
	k := kernels.PTX(t, beyondKernel).Kernel("k")
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	g := event.Geometry{Grid: one, Block: event.Dim3{X: 128, Y: 1, Z: 1}, Cluster: one}
	for beyond, verified := range map[uint32]bool{0: false, 32: false, 63: false, 64: true, 96: true} {
		th, err := lockstep.Build(t.Context(), k, lockstep.Options{Geometry: g})
		if err != nil {
			t.Fatal(err)
		}
		r := verify.Kernel(t.Context(), th, verify.Options{Limit: 1, Beyond: beyond,
			Solvers: []smt.Solver{&sat.Solver{Steps: 50_000_000}}})
		if r.Verified() != verified {
			t.Errorf("from thread %d on: verified %v", beyond, r.Verified())
		}
	}
}

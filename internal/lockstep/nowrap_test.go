package lockstep_test

import (
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/smt/sat"
	"heddle/internal/testing/kernels"
	"heddle/internal/verify"
)

// rows stores to row tid.y, column tid.x of a matrix with rows of n, if both are below n; below or
// equal in the second.
const rows = `.version 8.7
.target sm_100
.address_size 64
.visible .entry k(.param .u64 A, .param .u32 n)
{
	.reg .pred %p<3>;
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [A];
	ld.param.u32 %r3, [n];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %tid.y;
	setp.lt.s32 %p1, %r1, %r3;
	setp.lt.and.s32 %p1, %r2, %r3, %p1;
	mad.lo.s32 %r4, %r2, %r3, %r1;
	mul.wide.s32 %d2, %r4, 4;
	add.s64 %d3, %d1, %d2;
	@%p1 st.global.u32 [%d3], %r1;
	ret;
}
`

// TestNoWrap: with n = 2^30, rows 0 and 4 are one (4 * 2^30 is 0 modulo 2^32); if nothing wraps, a
// place tells row and column. The assumption does not excuse a column beyond the row.
func TestNoWrap(t *testing.T) {
	for _, tt := range []struct {
		name, text   string
		noWrap, want bool
	}{
		{"wraps", rows, false, false},
		{"exact", rows, true, true},
		{"columns beyond the row", strings.Replace(rows, "setp.lt.s32 %p1, %r1, %r3", "setp.le.s32 %p1, %r1, %r3", 1), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one := event.Dim3{X: 1, Y: 1, Z: 1}
			g := event.Geometry{Grid: one, Block: event.Dim3{X: 8, Y: 8, Z: 1}, Cluster: one}
			th, err := lockstep.Build(t.Context(), kernels.PTX(t, tt.text).Funcs[0], lockstep.Options{Geometry: g, NoWrap: tt.noWrap})
			if err != nil {
				t.Fatal(err)
			}
			r := verify.Kernel(t.Context(), th, verify.Options{Solvers: []smt.Solver{&sat.Solver{Steps: 500_000_000}}})
			if r.Verified() != tt.want {
				t.Errorf("verified: %v", r.Verified())
			}
		})
	}
}

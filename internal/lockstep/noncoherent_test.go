package lockstep_test

import (
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/testing/kernels"
)

// A load through the texture proxy is ordered with no write of the kernel (PTX ISA 8.6, 8.9.5), so
// that nothing is proved of a kernel that writes the same array, barriers or not.
func TestNoncoherentLoads(t *testing.T) {
	for _, test := range []struct {
		name, load, written string
		unsupported         bool
	}{
		{"other array", "ld.global.nc.u32", "%b", false},
		{"same array", "ld.global.nc.u32", "%a", true},
		{"ordinary load", "ld.global.u32", "%a", false},
		{"ldu", "ldu.global.u32", "%a", true},
	} {
		m := kernels.PTX(t, `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global a, .param .u64 .ptr .global b)
{
	.reg .b32 %r;
	.reg .b64 %a, %b;
	ld.param.u64 %a, [a];
	ld.param.u64 %b, [b];
	`+test.load+` %r, [%a];
	bar.sync 0;
	st.global.u32 [`+test.written+`], %r;
	ret;
}
`)
		one := event.Dim3{X: 1, Y: 1, Z: 1}
		_, err := lockstep.Build(t.Context(), m.Kernel("k"), lockstep.Options{Geometry: event.Geometry{Grid: one, Block: event.Dim3{X: 32, Y: 1, Z: 1}, Cluster: one}})
		if (err != nil) != test.unsupported || err != nil && !strings.Contains(err.Error(), "of an array that the kernel also writes") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

package lockstep_test

import (
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/lockstep"
	"heddle/internal/testing/kernels"
)

// TestOffsetByOr: an or adds a constant to the address of a variable if the alignment of the variable
// leaves its bits 0. Then the access is known to be one to thread-private memory; else it may be to
// any, and is among the accesses that may race.
func TestOffsetByOr(t *testing.T) {
	const text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n" +
		".local .align 16 .b8 l[64];\n.reg .b64 %a, %h;\nmov.u64 %a, l;\ncvta.local.u64 %a, %a;\n" +
		"add.u64 %h, %a, FROM;\nor.b64 %h, %h, BITS;\nst.u64 [%h], 1;\nret;\n}\n"
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	for _, c := range []struct {
		from, bits string
		private    bool
	}{
		{"0", "8", true}, {"16", "8", true}, {"4", "8", true},
		{"8", "8", false},  // the bit is set already
		{"0", "16", false}, // the address may have this bit
		{"0", "24", false},
	} {
		text := strings.NewReplacer("FROM", c.from, "BITS", c.bits).Replace(text)
		th, err := lockstep.Build(t.Context(), kernels.PTX(t, text).Kernel("k"), lockstep.Options{
			Geometry: event.Geometry{Grid: one, Block: one, Cluster: one}})
		if err != nil {
			t.Fatal(err)
		}
		if private := len(th.Accesses) == 0; private != c.private {
			t.Errorf("%s | %s: thread-private %v, want %v", c.from, c.bits, private, c.private)
		}
	}
}

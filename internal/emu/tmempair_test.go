package emu

import (
	"strings"
	"testing"
)

// What is not modelled of pairs stops a run with its reason.
func TestPairUnsupported(t *testing.T) {
	const alloc = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [base], 32;\n"
	for text, message := range map[string]string{
		alloc + "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;": "have the same group",
		// both warps of a block, and none of the other one
		"mov.u32 %v, %cluster_ctarank;\nsetp.eq.u32 %c, %v, 0;\n@!%c bra END;\n" + alloc +
			"END: barrier.cluster.arrive;\nbarrier.cluster.wait;": "which of the two comes first",
		alloc + `ld.shared.u32 %u, [base];
mov.u32 %v, 0x10040010;
mov.u64 %q, 0x0000401000080000;
setp.ne.u32 %d, %u, %u;
setp.eq.u32 %c, %t, 0;
@%c tcgen05.mma.cta_group::2.kind::f16 [%u], %q, %q, %v, {%v,%v,%v,%v,%v,%v,%v,%u}, %d;`: "disabled lanes",
	} {
		k := kernel(t, ".shared .align 4 .b32 base;\n.shared .align 1024 .b8 s[8192];\n"+
			"setp.eq.u32 %c, %t, %t;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"+text+"\nret;")
		cfg := config(2, 64, buffer("out", 64))
		cfg.Geometry.Cluster = dim(2)
		if !strings.Contains(message, "which of the two") {
			cfg.Geometry.Block = dim(32)
		}
		_, res, _ := start(t, k, cfg, Options{})
		if res.Stop == nil || res.Stop.Kind != Unsupported ||
			!strings.Contains(res.Stop.Message, message) {
			t.Errorf("%s: %+v, want %q", text, res.Stop, message)
		}
	}
}

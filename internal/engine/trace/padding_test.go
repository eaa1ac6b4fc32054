package trace_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/tensormap"
)

// paddedLoad loads a row of 128 elements, of which the mbarrier counts N bytes.
const paddedLoad = `.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .align 64 .b8 m[128])
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.shared .align 8 .b64 full;
	.shared .align 128 .b8 s[512];
	mov.u32 %r0, %tid.x;
	setp.eq.u32 %p0, %r0, 0;
	mov.b64 %rd1, m;
	cvta.param.u64 %rd1, %rd1;
	mov.u32 %r4, 0;
	@%p0 mbarrier.init.shared.b64 [full], 1;
	bar.sync 0;
	@!%p0 bra WAIT;
	mbarrier.arrive.expect_tx.shared.b64 _, [full], BYTES;
	cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%rd1, {%r4}], [full];
WAIT:
	W: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0;
	@!%p1 bra WAIT;
	ret;
}
`

// A trace has one size of a box. Of elements with padding (PTX ISA 5.5.1.1.1), shared memory has
// more bytes than the mbarrier counts, so that it does not support them.
func TestPadding(t *testing.T) {
	for _, c := range []struct {
		typ    tensormap.Type
		bytes  string
		want   diag.VerdictKind
		reason string
	}{
		{13, "64", diag.Verified, ""}, // 16U4_ALIGN8B
		{14, "64", diag.Unsupported, "with padding, which an mbarrier does not count"},
		{15, "96", diag.Unsupported, "with padding, which an mbarrier does not count"},
	} {
		path := filepath.Join(t.TempDir(), "k.ptx")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(paddedLoad, "BYTES", c.bytes)), 0o644); err != nil {
			t.Fatal(err)
		}
		m := tensormap.Map{Type: c.typ, Rank: 1, Addr: 1 << 20, Size: [5]uint64{128}, Box: [5]uint64{128},
			Step: [5]uint64{1}}
		one := event.Dim3{X: 1, Y: 1, Z: 1}
		saved := &launch.Saved{Kernel: "k", Demangled: "k", Grid: one, Block: event.Dim3{X: 32, Y: 1, Z: 1},
			Cluster: one, Params: m.Encode()}
		opt := check.Options{Mode: check.Trace}
		opt.Saved = func(string, *ir.Func) []*launch.Saved { return []*launch.Saved{saved} }
		sum, err := check.Files(context.Background(), opt, []string{path}, func(diag.Diagnostic) {})
		if err != nil || len(sum.Verdicts) != 1 {
			t.Fatalf("%v, %+v", err, sum)
		}
		if v := sum.Verdicts[0]; v.Kind != c.want || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("type %d: %v (%s), want %v (%s)", c.typ, v.Kind, v.Reason, c.want, c.reason)
		}
	}
}

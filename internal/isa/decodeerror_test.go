package isa

import (
	"errors"
	"strings"
	"testing"
)

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ text, mod, msg string }{
		{"foo", "", "unknown opcode"},
		{"", "", "unknown opcode"},
		{"cp.foo", "foo", "unknown instruction"},
		{"mbarrier.init.b32", "b32", "not a modifier"},                                   // 9.7.13.15.9: .b64
		{"mbarrier.arrive.acquire.cta.b64", "acquire", "not a modifier"},                 // .13: .release, .relaxed
		{"mbarrier.arrive.release.b64", "", "the scope is missing"},                      // {.sem.scope}
		{"mbarrier.arrive.release.gpu.b64", "gpu", "not a modifier"},                     // .cta, .cluster
		{"mbarrier.arrive.noComplete.relaxed.cta.b64", "noComplete", "does not go with"}, // .release.cta only
		{"mbarrier.try_wait.release.cta.b64", "release", "not a modifier"},
		{"cp.async.bulk.global.global.bulk_group", "global", "does not go with"},
		{"cp.async.bulk.shared::cta.global.bulk_group", "bulk_group", "does not go with"},
		{"cp.async.bulk.wait_group.write", "write", "unknown"},
		{"cp.async.bulk.prefetch.global", "", "a modifier is missing"}, // 9.7.9.25.4.3: .L2
		{"cp.async.bulk.prefetch.L1.global", "L1", "not a modifier"},
		{"cp.async.bulk.prefetch.L2.shared", "shared", "not a modifier"}, // .src = { .global }
		{"add.foo", "foo", "unknown"},
		{"add.sync.u32", "sync", "not a modifier of add"},
		{"add", "", "the type is missing"},
		{"add.u8", "u8", "not a modifier of add"},
		{"add.sat.u32", "sat", "does not go with"}, // ".sat applies only to .s32" (9.7.1.1)
		{"add.rn.s32", "rn", "does not go with"},
		{"add.rn.rz.f32", "rz", "written twice"},
		{"add.ftz.f64", "ftz", "does not go with"},
		{"add.u32.u32", "u32", "second type"},
		{"mul.s32", "", "the operation is missing"}, // 9.7.1.3: .hi, .lo or .wide
		{"mul.wide.s64", "wide", "the operation"},
		{"fma.f32", "", "the rounding is missing"}, // 9.7.3.6: "no default"
		{"sin.f32", "", "modifier .approx is missing"},
		{"shf.l.b32", "", "is missing"},
		{"setp.s32", "", "the comparison is missing"},
		{"setp.lo.s32", "lo", "the comparison"}, // 9.3.1.1: unsigned only
		{"setp.equ.u32", "equ", "the comparison"},
		{"cvt.s32.f32", "", "the rounding is missing"}, // 9.7.9.21: mandatory
		{"cvt.f32.f64", "", "the rounding is missing"},
		{"cvt.rn.e4m3x2.f32", "", "modifier .satfinite is missing"},
		{"ld.global", "", "the type is missing"},
		{"ld.relaxed.u32", "", "the scope is missing"}, // 9.7.9.8: ld.relaxed.scope
		{"ld.gpu.u32", "", "the memory order is missing"},
		{"ld.release.gpu.u32", "release", "not a modifier of ld"},
		{"ld.volatile.relaxed.gpu.u32", "", ""},
		{"ld.global.shared.u32", "shared", "written twice"},
		{"ld.local.nc.u32", "local", "the state space"},
		{"ld.mmio.relaxed.gpu.u32", "gpu", "the scope"},
		{"st.acquire.gpu.u32", "acquire", "not a modifier of st"},
		{"st.const.u32", "const", "constant memory can only be read by a kernel"},
		{"st.v3.u32", "v3", "unknown"},
		{"ld.v8.f64", "", ""},
		{"atom.u32", "", "the operation is missing"},
		{"atom.sc.add.u32", "sc", "not a modifier of atom"},
		{"atom.add.f16", "", "modifier .noftz is missing"},
		{"atom.local.add.u32", "local", "not a modifier of atom"},
		{"red.acquire.add.u32", "acquire", "not a modifier of red"}, // 9.7.13.6: .relaxed, .release
		{"red.cas.b32", "cas", "not a modifier of red"},
		{"atom.shared.add.v2.f32", "", ""}, // vectors: global only
		{"fence", "", "the scope is missing"},
		{"fence.gl", "gl", "not a modifier of fence"},
		{"fence.relaxed.gpu", "relaxed", "not a modifier of fence"},
		{"fence.mbarrier_init.cluster", "", "the memory order is missing"}, // 9.7.13.4: .release.cluster only
		{"fence.mbarrier_init.release", "", "the scope is missing"},
		{"fence.mbarrier_init.acq_rel.cluster", "acq_rel", "not a modifier of fence.mbarrier_init"},
		{"fence.mbarrier_init.release.gpu", "gpu", "not a modifier of fence.mbarrier_init"},
		{"membar.gpu", "gpu", "not a modifier of membar"},
		{"membar", "", "is missing"},
		{"bar.sync.aligned", "aligned", "not a modifier of bar"},
		{"bar", "", "the operation is missing"},
		{"bar.red.popc.pred", "", ""},
		{"bar.red.xor.pred", "xor", "not a modifier of bar"},
		{"bar.warp.sync.b32", "b32", "not a modifier of bar.warp.sync"},
		{"shfl.sync.b32", "", "the operation is missing"},
		{"shfl.sync.up.b64", "b64", "not a modifier of shfl"},
		{"match.any.b32", "", "modifier .sync is missing"},
		{"vote.sync.ballot.pred", "", ""},
		{"exit.uni", "uni", "not a modifier of exit"},
		{"cvta.u64", "", "the state space is missing"},
	} {
		w := strings.Split(c.text, ".")
		got, err := Decode(w[0], w[1:])
		var de *DecodeError
		if !errors.As(err, &de) {
			t.Errorf("%s: no *DecodeError but %v", c.text, err)
			continue
		}
		if got.Row != nil {
			t.Errorf("%s: a Desc beside the error: %+v", c.text, got)
		}
		if c.msg == "" { // any wording
			continue
		}
		if de.Mod != c.mod || !strings.Contains(de.Error(), c.msg) {
			t.Errorf("%s: got %q naming %q, want %q naming %q", c.text, de.Error(), de.Mod, c.msg, c.mod)
		}
		if !strings.HasPrefix(de.Error(), w[0]) {
			t.Errorf("%s: the message does not name the opcode: %v", c.text, de)
		}
	}
}

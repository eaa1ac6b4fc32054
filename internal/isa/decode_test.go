package isa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/event"
)

// A test case gives the instruction as written, the section of the ISA text that says what it
// means, and what that is. Row, Mods and a Vec of 1 are filled in.
type decodeTest struct {
	text    string
	section string
	want    Desc
}

func runDecodeTests(t *testing.T, tests []decodeTest) {
	t.Helper()
	for _, c := range tests {
		w := strings.Split(c.text, ".")
		got, err := Decode(w[0], w[1:])
		if err != nil {
			t.Errorf("%s (%s): %v", c.text, c.section, err)
			continue
		}
		want := c.want
		want.Section, want.Mods = c.section, w[1:]
		if want.Vec == 0 {
			want.Vec = 1
		}
		if got.Row == nil {
			t.Errorf("%s: no row", c.text)
		}
		if first, _, _ := strings.Cut(got.Row.Opcode, "."); first != w[0] {
			t.Errorf("%s: row %s", c.text, got.Row.Opcode)
		}
		if got.Text() != c.text {
			t.Errorf("%s: Text() = %s", c.text, got.Text())
		}
		got.Row = nil
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (%s): (-want +got)\n%s", c.text, c.section, d)
		}
	}
}

func TestDecodeArith(t *testing.T) {
	runDecodeTests(t, []decodeTest{
		{"add.u32", "9.7.1.1", Desc{Type: U32}},
		{"add.s16x2", "9.7.1.1", Desc{Type: S16x2}},
		{"add.sat.s32", "9.7.1.1", Desc{Type: S32, Flags: Sat}},
		{"add.cc.u64", "9.7.2.1", Desc{Type: U64, Flags: CC}},
		{"addc.cc.s32", "9.7.2.2", Desc{Type: S32, Flags: CC}},
		{"addc.u32", "9.7.2.2", Desc{Type: U32}},
		{"sub.cc.u32", "9.7.2.3", Desc{Type: U32, Flags: CC}},
		{"subc.cc.u32", "9.7.2.4", Desc{Type: U32, Flags: CC}},
		{"mad.hi.cc.s32", "9.7.2.5", Desc{Type: S32, Fn: FnHi, Flags: CC}},
		{"madc.lo.cc.u32", "9.7.2.6", Desc{Type: U32, Fn: FnLo, Flags: CC}},
		// "The default value of rounding modifier is .rn."
		{"add.f32", "9.7.3.3", Desc{Type: F32, Round: RN}},
		{"add.rz.ftz.sat.f32", "9.7.3.3", Desc{Type: F32, Round: RZ, Flags: FTZ | Sat}},
		{"sub.rp.f64", "9.7.3.4", Desc{Type: F64, Round: RP}},
		{"mul.ftz.f32", "9.7.3.5", Desc{Type: F32, Round: RN, Flags: FTZ}},
		{"add.rn.ftz.f32x2", "9.7.3.3", Desc{Type: F32x2, Round: RN, Flags: FTZ}},
		{"add.ftz.sat.f16x2", "9.7.4.1", Desc{Type: F16x2, Round: RN, Flags: FTZ | Sat}},
		{"mul.bf16x2", "9.7.4.3", Desc{Type: BF16x2, Round: RN}},
		{"add.rz.sat.f32.bf16", "9.7.5.1", Desc{Type: F32, SType: BF16, Round: RZ, Flags: Sat}},
		{"fma.rn.f32", "9.7.3.6", Desc{Type: F32, Round: RN}},
		{"fma.rn.relu.f16", "9.7.4.4", Desc{Type: F16, Round: RN, Flags: Relu}},
		{"fma.rn.oob.relu.bf16", "9.7.4.4", Desc{Type: BF16, Round: RN, Flags: Relu | OOB}},
		{"fma.rm.sat.f32.f16", "9.7.5.3", Desc{Type: F32, SType: F16, Round: RM, Flags: Sat}},
		{"mul.lo.s32", "9.7.1.3", Desc{Type: S32, Fn: FnLo}},
		{"mul.hi.u64", "9.7.1.3", Desc{Type: U64, Fn: FnHi}},
		{"mul.wide.u16", "9.7.1.3", Desc{Type: U16, Fn: FnWide}},
		{"mad.wide.s32", "9.7.1.4", Desc{Type: S32, Fn: FnWide}},
		{"mad.hi.sat.s32", "9.7.1.4", Desc{Type: S32, Fn: FnHi, Flags: Sat}},
		{"mad.rn.f64", "9.7.3.7", Desc{Type: F64, Round: RN}},
		{"mad.f32", "9.7.3.7", Desc{Type: F32}}, // sm_1x: no default rounding
		{"mul24.hi.u32", "9.7.1.5", Desc{Type: U32, Fn: FnHi}},
		{"mad24.hi.sat.s32", "9.7.1.6", Desc{Type: S32, Fn: FnHi, Flags: Sat}},
		{"sad.s64", "9.7.1.7", Desc{Type: S64}},
		{"div.s32", "9.7.1.8", Desc{Type: S32}},
		{"div.approx.ftz.f32", "9.7.3.8", Desc{Type: F32, Flags: Approx | FTZ}},
		{"div.full.f32", "9.7.3.8", Desc{Type: F32, Flags: Full}},
		{"div.rn.ftz.f32", "9.7.3.8", Desc{Type: F32, Round: RN, Flags: FTZ}},
		{"div.rz.f64", "9.7.3.8", Desc{Type: F64, Round: RZ}},
		{"rem.u16", "9.7.1.9", Desc{Type: U16}},
		{"abs.ftz.f32", "9.7.3.9", Desc{Type: F32, Flags: FTZ}},
		{"abs.s64", "9.7.1.10", Desc{Type: S64}},
		{"neg.bf16", "9.7.4.5", Desc{Type: BF16}},
		{"abs.f16x2", "9.7.4.6", Desc{Type: F16x2}},
		{"min.relu.s16x2", "9.7.1.12", Desc{Type: S16x2, Flags: Relu}},
		{"max.s32", "9.7.1.13", Desc{Type: S32}},
		{"min.ftz.NaN.f32", "9.7.3.11", Desc{Type: F32, Flags: FTZ | NaNProp}},
		{"min.NaN.xorsign.abs.f32", "9.7.3.11", Desc{Type: F32, Flags: NaNProp | XorSign}},
		{"max.abs.f32", "9.7.3.12", Desc{Type: F32, Flags: Abs}}, // three sources
		{"max.NaN.xorsign.abs.bf16x2", "9.7.4.8", Desc{Type: BF16x2, Flags: NaNProp | XorSign}},
		{"popc.b64", "9.7.1.14", Desc{Type: B64}},
		{"clz.b32", "9.7.1.15", Desc{Type: B32}},
		{"bfind.shiftamt.u32", "9.7.1.16", Desc{Type: U32, Flags: Shiftamt}},
		{"fns.b32", "9.7.1.17", Desc{Type: B32}},
		{"brev.b32", "9.7.1.18", Desc{Type: B32}},
		{"bfe.s64", "9.7.1.19", Desc{Type: S64}},
		{"bfi.b64", "9.7.1.20", Desc{Type: B64}},
		{"szext.wrap.s32", "9.7.1.21", Desc{Type: S32, Flags: Wrap}},
		{"bmsk.clamp.b32", "9.7.1.22", Desc{Type: B32}},
		{"dp4a.u32.s32", "9.7.1.23", Desc{Type: U32, SType: S32}},
		{"dp2a.hi.s32.u32", "9.7.1.24", Desc{Type: S32, SType: U32, Fn: FnHi}},
		{"testp.notanumber.f64", "9.7.3.1", Desc{Type: F64, Fn: FnNotANumber}},
		{"copysign.f32", "9.7.3.2", Desc{Type: F32}},
		{"rcp.rn.f64", "9.7.3.13", Desc{Type: F64, Round: RN}},
		{"rcp.approx.ftz.f64", "9.7.3.14", Desc{Type: F64, Flags: Approx | FTZ}},
		{"sqrt.rn.ftz.f32", "9.7.3.15", Desc{Type: F32, Round: RN, Flags: FTZ}},
		{"rsqrt.approx.f64", "9.7.3.16", Desc{Type: F64, Flags: Approx}},
		{"rsqrt.approx.ftz.f64", "9.7.3.17", Desc{Type: F64, Flags: Approx | FTZ}},
		{"sin.approx.ftz.f32", "9.7.3.18", Desc{Type: F32, Flags: Approx | FTZ}},
		{"lg2.approx.f32", "9.7.3.20", Desc{Type: F32, Flags: Approx}},
		{"ex2.approx.ftz.bf16x2", "9.7.4.10", Desc{Type: BF16x2, Flags: Approx | FTZ}},
		{"tanh.approx.bf16", "9.7.4.9", Desc{Type: BF16, Flags: Approx}},
	})
}

func TestDecodeCompareLogicMove(t *testing.T) {
	runDecodeTests(t, []decodeTest{
		{"setp.lt.s32", "9.7.6.2", Desc{Type: S32, Cmp: LT}},
		{"setp.lo.u32", "9.7.6.2", Desc{Type: U32, Cmp: LO}},
		{"setp.hs.and.u64", "9.7.6.2", Desc{Type: U64, Cmp: HS, Fn: FnAnd}},
		{"setp.equ.xor.ftz.f32", "9.7.6.2", Desc{Type: F32, Cmp: EQU, Fn: FnXor, Flags: FTZ}},
		{"setp.nan.f64", "9.7.6.2", Desc{Type: F64, Cmp: NAN}},
		{"setp.num.or.bf16x2", "9.7.7.2", Desc{Type: BF16x2, Cmp: NUM, Fn: FnOr}},
		{"set.gt.u32.f32", "9.7.6.1", Desc{Type: U32, SType: F32, Cmp: GT}},
		{"set.le.and.ftz.f32.f32", "9.7.6.1", Desc{Type: F32, SType: F32, Cmp: LE, Fn: FnAnd, Flags: FTZ}},
		{"set.gtu.u32.f16x2", "9.7.7.1", Desc{Type: U32, SType: F16x2, Cmp: GTU}},
		{"set.eq.f16.s32", "9.7.7.1", Desc{Type: F16, SType: S32, Cmp: EQ}},
		{"selp.b64", "9.7.6.3", Desc{Type: B64}},
		{"slct.ftz.u64.f32", "9.7.6.4", Desc{Type: U64, SType: F32, Flags: FTZ}},
		{"slct.f32.s32", "9.7.6.4", Desc{Type: F32, SType: S32}},
		{"and.pred", "9.7.8.1", Desc{Type: Pred}},
		{"not.b64", "9.7.8.4", Desc{Type: B64}},
		{"lop3.b32", "9.7.8.6", Desc{Type: B32}},
		{"lop3.or.b32", "9.7.8.6", Desc{Type: B32, Fn: FnOr}},
		{"shf.l.wrap.b32", "9.7.8.7", Desc{Type: B32, Fn: FnLeft, Flags: Wrap}},
		{"shf.r.clamp.b32", "9.7.8.7", Desc{Type: B32, Fn: FnRight}},
		{"shl.b16", "9.7.8.8", Desc{Type: B16}},
		{"shr.s64", "9.7.8.9", Desc{Type: S64}},
		{"mov.pred", "9.7.9.3", Desc{Type: Pred}},
		{"mov.b64", "9.7.9.3", Desc{Type: B64}},
		{"mov.b128", "9.7.9.4", Desc{Type: B128}},
		{"mov.v4.f32", "6.4.3", Desc{Type: F32, Vec: 4}},
		{"prmt.b32", "9.7.9.7", Desc{Type: B32}},
		{"prmt.b32.rc16", "9.7.9.7", Desc{Type: B32, Fn: FnRC16}},
	})
}

func TestDecodeConvert(t *testing.T) {
	runDecodeTests(t, []decodeTest{
		{"cvt.u64.u32", "9.7.9.21", Desc{Type: U64, SType: U32}},
		{"cvt.sat.u8.s32", "9.7.9.21", Desc{Type: U8, SType: S32, Flags: Sat}},
		{"cvt.rzi.s32.f32", "9.7.9.21", Desc{Type: S32, SType: F32, Round: RZI}},
		{"cvt.rni.ftz.sat.u16.f32", "9.7.9.21", Desc{Type: U16, SType: F32, Round: RNI, Flags: FTZ | Sat}},
		{"cvt.rn.f64.s64", "9.7.9.21", Desc{Type: F64, SType: S64, Round: RN}},
		{"cvt.f64.f32", "9.7.9.21", Desc{Type: F64, SType: F32}},
		{"cvt.rz.f32.f64", "9.7.9.21", Desc{Type: F32, SType: F64, Round: RZ}},
		{"cvt.rmi.f32.f32", "9.7.9.21", Desc{Type: F32, SType: F32, Round: RMI}},
		{"cvt.sat.f32.f32", "9.7.9.21", Desc{Type: F32, SType: F32, Flags: Sat}},
		{"cvt.f32.f16", "9.7.9.21", Desc{Type: F32, SType: F16}},
		{"cvt.rn.relu.bf16.f32", "9.7.9.21", Desc{Type: BF16, SType: F32, Round: RN, Flags: Relu}},
		{"cvt.rn.satfinite.f16x2.f32", "9.7.9.21", Desc{Type: F16x2, SType: F32, Round: RN, Flags: Satfinite}},
		{"cvt.rs.relu.bf16x2.f32", "9.7.9.21", Desc{Type: BF16x2, SType: F32, Round: RS, Flags: Relu}},
		{"cvt.rna.satfinite.tf32.f32", "9.7.9.21", Desc{Type: TF32, SType: F32, Round: RNA, Flags: Satfinite}},
		{"cvt.rn.satfinite.relu.e4m3x2.f32", "9.7.9.21", Desc{Type: E4M3x2, SType: F32, Round: RN, Flags: Satfinite | Relu}},
		{"cvt.rn.satfinite.e5m2x2.f16x2", "9.7.9.21", Desc{Type: E5M2x2, SType: F16x2, Round: RN, Flags: Satfinite}},
		{"cvt.rn.relu.f16x2.e4m3x2", "9.7.9.21", Desc{Type: F16x2, SType: E4M3x2, Round: RN, Flags: Relu}},
		{"cvt.rn.satfinite.e2m1x2.f32", "9.7.9.21", Desc{Type: E2M1x2, SType: F32, Round: RN, Flags: Satfinite}},
		{"cvt.rn.satfinite.relu.scaled::n2::ue8m0.s2f6x2.f32", "9.7.9.21",
			Desc{Type: S2F6x2, SType: F32, Round: RN, Flags: Satfinite | Relu | Scaled}},
		{"cvt.rn.bf16x2.ue8m0x2", "9.7.9.21", Desc{Type: BF16x2, SType: UE8M0x2, Round: RN}},
		{"cvt.pack.sat.u16.s32", "9.7.9.22", Desc{Type: U16, SType: S32, Flags: Sat}},
		{"cvt.pack.sat.s8.s32.b32", "9.7.9.22", Desc{Type: S8, SType: S32, Flags: Sat}},
		{"cvt.pack.sat.u2.s32.b32", "9.7.9.22", Desc{Type: OtherType, SType: S32, Flags: Sat}},
		{"cvta.global.u64", "9.7.9.20", Desc{Type: U64, Space: event.Global}},
		{"cvta.to.shared.u64", "9.7.9.20", Desc{Type: U64, Space: event.Shared, Flags: ToSpace}},
		{"cvta.to.shared::cta.u32", "9.7.9.20", Desc{Type: U32, Space: event.Shared, Flags: ToSpace}},
		{"cvta.param::entry.u64", "9.7.9.20", Desc{Type: U64, Space: event.Param}},
		{"isspacep.const", "9.7.9.19", Desc{Space: event.Const}},
	})
}

func TestDecodeMemory(t *testing.T) {
	generic, global, shared := event.Generic, event.Global, event.Shared
	runDecodeTests(t, []decodeTest{
		// "If no state space is given, perform the load using Generic Addressing"; "When none of these is
		// specified, the .weak qualifier is assumed by default."
		{"ld.u32", "9.7.9.8", Desc{Type: U32, Space: generic}},
		{"ld.weak.global.ca.b8", "9.7.9.8", Desc{Type: B8, Space: global}},
		// "The use of a cache operator on an ld or st instruction does not change the memory consistency
		// behavior of the program" (9.7.9.1).
		{"ld.global.cv.f64", "9.7.9.8", Desc{Type: F64, Space: global}},
		{"ld.param.u64", "9.7.9.8", Desc{Type: U64, Space: event.Param}},
		{"ld.param::func.b32", "9.7.9.8", Desc{Type: B32, Space: event.Param}},
		{"ld.const.v2.u16", "9.7.9.8", Desc{Type: U16, Space: event.Const, Vec: 2}},
		{"ld.shared::cta.v4.f32", "9.7.9.8", Desc{Type: F32, Space: shared, Vec: 4}},
		{"ld.global.L1::no_allocate.L2::cache_hint.L2::128B.v8.b32", "9.7.9.8", Desc{Type: B32, Space: global, Vec: 8}},
		{"ld.global.v4.f64", "9.7.9.8", Desc{Type: F64, Space: global, Vec: 4}},
		{"ld.global.b128", "9.7.9.8", Desc{Type: B128, Space: global}},
		{"ld.global.nc.u32", "9.7.9.9", Desc{Type: U32, Space: global, Flags: NC}},
		{"ld.global.cg.nc.L2::64B.v2.f32", "9.7.9.9", Desc{Type: F32, Space: global, Vec: 2, Flags: NC}},
		// "equivalent to a relaxed memory operation with system-scope" (8.4.2).
		{"ld.volatile.shared.u32", "9.7.9.8", Desc{Type: U32, Space: shared, Order: event.Relaxed, Scope: event.Sys, Flags: Volatile}},
		{"ld.volatile.v2.s64", "9.7.9.8", Desc{Type: S64, Space: generic, Vec: 2, Order: event.Relaxed, Scope: event.Sys, Flags: Volatile}},
		{"ld.relaxed.gpu.global.u32", "9.7.9.8", Desc{Type: U32, Space: global, Order: event.Relaxed, Scope: event.GPU}},
		{"ld.acquire.cta.shared.b64", "9.7.9.8", Desc{Type: B64, Space: shared, Order: event.Acquire, Scope: event.CTA}},
		{"ld.acquire.cluster.u32", "9.7.9.8", Desc{Type: U32, Space: generic, Order: event.Acquire, Scope: event.Cluster}},
		{"ld.mmio.relaxed.sys.global.u32", "9.7.9.8", Desc{Type: U32, Space: global, Order: event.Relaxed, Scope: event.Sys, Flags: MMIO}},
		{"ld.shared::cluster.u32", "9.7.9.8", Desc{Type: U32, Space: shared}}, // a row of its own
		{"ldu.global.v4.u32", "9.7.9.10", Desc{Type: U32, Space: global, Vec: 4}},
		{"ldu.u32", "9.7.9.10", Desc{Type: U32, Space: generic}},
		{"st.global.wt.u8", "9.7.9.11", Desc{Type: U8, Space: global}},
		{"st.local.v4.b32", "9.7.9.11", Desc{Type: B32, Space: event.Local, Vec: 4}},
		{"st.volatile.global.s32", "9.7.9.11", Desc{Type: S32, Space: global, Order: event.Relaxed, Scope: event.Sys, Flags: Volatile}},
		{"st.release.sys.f32", "9.7.9.11", Desc{Type: F32, Space: generic, Order: event.Release, Scope: event.Sys}},
		{"st.relaxed.cta.shared.L1::evict_last.v2.b16", "9.7.9.11",
			Desc{Type: B16, Space: shared, Vec: 2, Order: event.Relaxed, Scope: event.CTA}},
		{"st.mmio.relaxed.sys.b32", "9.7.9.11", Desc{Type: B32, Space: generic, Order: event.Relaxed, Scope: event.Sys, Flags: MMIO}},
	})
}

func TestDecodeAtomics(t *testing.T) {
	generic, global, shared := event.Generic, event.Global, event.Shared
	relaxed, gpu := event.Relaxed, event.GPU
	runDecodeTests(t, []decodeTest{
		// "If the .sem qualifier is absent, .relaxed is assumed by default"; ".scope ... .gpu".
		{"atom.add.u32", "9.7.13.5", Desc{Type: U32, Fn: FnAdd, Space: generic, Order: relaxed, Scope: gpu}},
		{"atom.global.inc.u32", "9.7.13.5", Desc{Type: U32, Fn: FnInc, Space: global, Order: relaxed, Scope: gpu}},
		{"atom.global.cta.add.f32", "9.7.13.5", Desc{Type: F32, Fn: FnAdd, Space: global, Order: relaxed, Scope: event.CTA}},
		{"atom.acq_rel.sys.shared::cta.cas.b128", "9.7.13.5",
			Desc{Type: B128, Fn: FnCAS, Space: shared, Order: event.AcqRel, Scope: event.Sys}},
		{"atom.acquire.gpu.global.exch.b32", "9.7.13.5", Desc{Type: B32, Fn: FnExch, Space: global, Order: event.Acquire, Scope: gpu}},
		{"atom.release.max.s64", "9.7.13.5", Desc{Type: S64, Fn: FnMax, Space: generic, Order: event.Release, Scope: gpu}},
		{"atom.global.cas.b16", "9.7.13.5", Desc{Type: B16, Fn: FnCAS, Space: global, Order: relaxed, Scope: gpu}},
		{"atom.shared.xor.b64", "9.7.13.5", Desc{Type: B64, Fn: FnXor, Space: shared, Order: relaxed, Scope: gpu}},
		{"atom.add.noftz.f16x2", "9.7.13.5", Desc{Type: F16x2, Fn: FnAdd, Flags: NoFtz, Space: generic, Order: relaxed, Scope: gpu}},
		{"atom.relaxed.gpu.global.add.L2::cache_hint.v4.f32", "9.7.13.5",
			Desc{Type: F32, Fn: FnAdd, Vec: 4, Space: global, Order: relaxed, Scope: gpu}},
		{"atom.global.max.noftz.v8.bf16", "9.7.13.5",
			Desc{Type: BF16, Fn: FnMax, Vec: 8, Flags: NoFtz, Space: global, Order: relaxed, Scope: gpu}},
		{"red.global.add.f64", "9.7.13.6", Desc{Type: F64, Fn: FnAdd, Space: global, Order: relaxed, Scope: gpu}},
		{"red.release.cta.shared.dec.u32", "9.7.13.6", Desc{Type: U32, Fn: FnDec, Space: shared, Order: event.Release, Scope: event.CTA}},
		{"atom.cluster.shared::cluster.add.u32", "9.7.13.5",
			Desc{Type: U32, Fn: FnAdd, Space: shared, Order: relaxed, Scope: event.Cluster}},
	})
}

func TestDecodeSync(t *testing.T) {
	runDecodeTests(t, []decodeTest{
		// "bar{.cta}.sync is equivalent to barrier{.cta}.sync.aligned."
		{"bar.sync", "9.7.13.1", Desc{Fn: FnSync, Flags: Aligned}},
		{"bar.cta.arrive", "9.7.13.1", Desc{Fn: FnArrive, Flags: Aligned}},
		{"bar.red.popc.u32", "9.7.13.1", Desc{Fn: FnPopc, Type: U32, Flags: Aligned}},
		{"bar.red.and.pred", "9.7.13.1", Desc{Fn: FnAnd, Type: Pred, Flags: Aligned}},
		{"barrier.sync", "9.7.13.1", Desc{Fn: FnSync}},
		{"barrier.cta.sync.aligned", "9.7.13.1", Desc{Fn: FnSync, Flags: Aligned}},
		{"barrier.cta.red.or.aligned.pred", "9.7.13.1", Desc{Fn: FnOr, Type: Pred, Flags: Aligned}},
		{"bar.warp.sync", "9.7.13.2", Desc{Flags: SyncMask | Warp}},
		// ".release is assumed by default", ".acquire is assumed by default".
		{"barrier.cluster.arrive.aligned", "9.7.13.3", Desc{Order: event.Release, Scope: event.Cluster, Flags: Aligned}},
		{"barrier.cluster.arrive.relaxed", "9.7.13.3", Desc{Order: event.Relaxed, Scope: event.Cluster}},
		{"barrier.cluster.wait", "9.7.13.3", Desc{Order: event.Acquire, Scope: event.Cluster}},
		// "If the optional .sem qualifier is absent, .acq_rel is assumed by default."
		{"fence.gpu", "9.7.13.4", Desc{Order: event.AcqRel, Scope: event.GPU}},
		{"fence.sc.sys", "9.7.13.4", Desc{Order: event.SeqCst, Scope: event.Sys}},
		{"fence.acquire.cta", "9.7.13.4", Desc{Order: event.Acquire, Scope: event.CTA}},
		{"fence.release.cluster", "9.7.13.4", Desc{Order: event.Release, Scope: event.Cluster}},
		// Of the form with .mbarrier_init, .release and .cluster are the only semantics and scope.
		{"fence.mbarrier_init.release.cluster", "9.7.13.4", Desc{Order: event.Release, Scope: event.Cluster}},
		// "membar is a synonym for fence.sc, and the membar levels cta, gl and sys are synonymous with
		// the fence scopes cta, gpu and sys".
		{"membar.cta", "9.7.13.4", Desc{Order: event.SeqCst, Scope: event.CTA}},
		{"membar.gl", "9.7.13.4", Desc{Order: event.SeqCst, Scope: event.GPU}},
		{"membar.sys", "9.7.13.4", Desc{Order: event.SeqCst, Scope: event.Sys}},

		{"shfl.up.b32", "9.7.9.5", Desc{Type: B32, Fn: FnUp}},
		{"shfl.sync.idx.b32", "9.7.9.6", Desc{Type: B32, Fn: FnIdx, Flags: SyncMask}},
		{"vote.uni.pred", "9.7.13.8", Desc{Type: Pred, Fn: FnUni}},
		{"vote.ballot.b32", "9.7.13.8", Desc{Type: B32, Fn: FnBallot}},
		{"vote.sync.all.pred", "9.7.13.9", Desc{Type: Pred, Fn: FnAll, Flags: SyncMask}},
		{"vote.sync.ballot.b32", "9.7.13.9", Desc{Type: B32, Fn: FnBallot, Flags: SyncMask}},
		{"match.any.sync.b64", "9.7.13.10", Desc{Type: B64, Fn: FnAny, Flags: SyncMask}},
		{"match.all.sync.b32", "9.7.13.10", Desc{Type: B32, Fn: FnAll, Flags: SyncMask}},
		{"activemask.b32", "9.7.13.11", Desc{Type: B32}},
		{"redux.sync.add.s32", "9.7.13.12", Desc{Type: S32, Fn: FnAdd, Flags: SyncMask}},
		{"redux.sync.xor.b32", "9.7.13.12", Desc{Type: B32, Fn: FnXor, Flags: SyncMask}},
		{"redux.sync.min.abs.NaN.f32", "9.7.13.12", Desc{Type: F32, Fn: FnMin, Flags: SyncMask | Abs | NaNProp}},
		{"elect.sync", "9.7.13.14", Desc{Flags: SyncMask}},
	})
}

func TestDecodeControlAndMisc(t *testing.T) {
	runDecodeTests(t, []decodeTest{
		{"bra.uni", "9.7.12.3", Desc{Flags: Uni}},
		{"bra", "9.7.12.3", Desc{}},
		{"brx.idx", "9.7.12.4", Desc{}},
		{"brx.idx.uni", "9.7.12.4", Desc{Flags: Uni}},
		{"call.uni", "9.7.12.5", Desc{Flags: Uni}},
		{"ret", "9.7.12.6", Desc{}},
		{"exit", "9.7.12.7", Desc{}},
		{"trap", "9.7.19.4", Desc{}},
		{"prefetch.global.L2", "9.7.9.15", Desc{Space: event.Global}},
		{"prefetch.global.L2::evict_last", "9.7.9.15", Desc{Space: event.Global}},
		{"prefetch.param.tensormap", "9.7.9.15", Desc{Space: event.Param}},
		{"prefetchu.L1", "9.7.9.15", Desc{}},
		{"cp.async.bulk.prefetch.L2.global", "9.7.9.25.4.3", Desc{Space: event.Global}},
		{"cp.async.bulk.prefetch.L2.global.L2::cache_hint", "9.7.9.25.4.3", Desc{Space: event.Global}},
		{"applypriority.global.L2::evict_normal", "9.7.9.16", Desc{Space: event.Global}},
		{"nanosleep.u32", "9.7.19.2", Desc{Type: U32}},
		{"pmevent.mask", "9.7.19.3", Desc{}},
		{"mbarrier.arrive.release.cta.shared::cta.b64", "9.7.13.15.13",
			Desc{Type: B64, Space: event.Shared, Order: event.Release, Scope: event.CTA}},
		{"mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64", "9.7.13.15.13",
			Desc{Type: B64, Space: event.Shared, Order: event.Relaxed, Scope: event.Cluster}},
		{"mbarrier.arrive.noComplete.release.cta.shared.b64", "9.7.13.15.13",
			Desc{Type: B64, Space: event.Shared, Order: event.Release, Scope: event.CTA}},
		{"mbarrier.arrive_drop.b64", "9.7.13.15.14", Desc{Type: B64}},
		{"mbarrier.init.shared::cta.b64", "9.7.13.15.9", Desc{Type: B64, Space: event.Shared}},
		{"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64", "9.7.13.15.16",
			Desc{Type: B64, Space: event.Shared, Order: event.Acquire, Scope: event.CTA}},
		{"cp.async.mbarrier.arrive.noinc.shared::cta.b64", "9.7.13.15.15",
			Desc{Type: B64, Space: event.Shared}},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint", "9.7.9.25.4.1",
			Desc{Space: event.Shared}},
		{"cp.async.bulk.global.shared::cta.bulk_group", "9.7.9.25.4.1", Desc{Space: event.Global}},
		{"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", "9.7.9.25.4.1",
			Desc{Space: event.Shared}},
		{"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16", "9.7.9.25.4.2",
			Desc{Space: event.Global, Type: BF16, Fn: FnAdd, Flags: NoFtz}},
		{"cp.async.bulk.wait_group.read", "9.7.9.27.2.2", Desc{}},
		// Not executable: what is plain is decoded, the rest is kept in Mods.
		{"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "9.7.14.5.15", Desc{Type: B16, Space: event.Shared}},
		{"vadd.s32.u32.u32.sat.min", "9.7.18.1.1", Desc{Type: S32, SType: U32}},
		{"tex.2d.v4.f32.s32", "9.7.10.3", Desc{Type: F32, SType: S32, Vec: 4}},
		{"wmma.mma.sync.aligned.row.col.m16n16k16.anything", "9.7.14.4.5", Desc{}},
		{"alloca.u64", "9.7.17.3", Desc{Type: U64}},
	})
}

func TestDecodeAsync(t *testing.T) {
	runDecodeTests(t, []decodeTest{
		{"cp.async.ca.shared.global", "9.7.9.25.3.1", Desc{Space: event.Shared}},
		{"cp.async.cg.shared::cta.global.L2::cache_hint.L2::128B", "9.7.9.25.3.1", Desc{Space: event.Shared}},
		{"cp.async.commit_group", "9.7.9.25.3.2", Desc{}},
		{"cp.async.wait_group", "9.7.9.25.3.3", Desc{}},
		{"cp.async.wait_all", "9.7.9.25.3.3", Desc{}},
		{"fence.proxy.alias", "9.7.13.4", Desc{}},
		{"fence.proxy.async", "9.7.13.4", Desc{}},
		{"fence.proxy.async.global", "9.7.13.4", Desc{Space: event.Global}},
		{"membar.proxy.async.shared::cta", "9.7.13.4", Desc{Space: event.Shared}},
		{"griddepcontrol.wait", "9.7.13.13", Desc{Fn: FnWait}},
		{"griddepcontrol.launch_dependents", "9.7.13.13", Desc{}},
	})
	for _, bad := range []string{"cp.async.shared.global", "cp.async.ca.shared", "cp.async.ca.global.shared.x", "cp.async.wait_all.x", "griddepcontrol", "fence.proxy.async.local"} {
		w := strings.Split(bad, ".")
		if d, err := Decode(w[0], w[1:]); err == nil {
			t.Errorf("%s decodes as %+v", bad, d)
		}
	}
}

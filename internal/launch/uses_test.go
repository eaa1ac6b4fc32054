package launch_test

import (
	"fmt"
	"slices"
	"testing"

	"heddle/internal/launch"
	"heddle/internal/testing/kernels"
)

// How each buffer is used, of PTX as compilers write it.
func TestUses(t *testing.T) {
	const params = ".param .u64 a, .param .u64 b, .param .align 8 .b8 s[24], .param .u32 n"
	for _, tt := range []struct {
		name, body string
		a, b       launch.Use
	}{
		{"integers and floats", `ld.global.u32 %r1, [%rd1]; st.global.f32 [%rd2], %f1;`,
			launch.Use{Elem: 4, Read: true}, launch.Use{Float: true}},
		// bits are floats if an instruction reads them as such
		{"untyped", `ld.global.b32 %f1, [%rd1]; add.f32 %f2, %f1, %f1; st.global.b32 [%rd2], %r1;`,
			launch.Use{Float: true, Read: true}, launch.Use{Elem: 4}},
		{"converted", `ld.global.u32 %r1, [%rd1]; cvt.rn.f32.s32 %f1, %r1;`,
			launch.Use{Elem: 4, Read: true}, launch.Use{}},
		{"several sizes", `ld.global.u32 %r1, [%rd1]; ld.global.u8 %r1, [%rd1+4];
			ld.global.v2.u64 {%rd3, %rd4}, [%rd2];`,
			launch.Use{Read: true}, launch.Use{Elem: 8, Read: true}},
		{"computed address", `mul.wide.u32 %rd3, %r1, 8; add.s64 %rd4, %rd1, %rd3;
			ld.global.u64 %rd5, [%rd4]; cvta.to.global.u64 %rd6, %rd2; st.global.u16 [%rd6], %r1;`,
			launch.Use{Elem: 8, Read: true}, launch.Use{Elem: 2}},
		{"one of two", `selp.b64 %rd3, %rd1, %rd2, %p1; ld.u32 %r1, [%rd3];`,
			launch.Use{Elem: 4, Read: true}, launch.Use{Elem: 4, Read: true}},
		{"atomic", `atom.global.add.u32 %r1, [%rd1], 1; red.global.add.u64 [%rd2], 1;`,
			launch.Use{Elem: 4, Sync: true}, launch.Use{Elem: 8, Sync: true}},
		{"strong", `ld.volatile.global.u32 %r1, [%rd1]; st.release.gpu.global.u32 [%rd2], 1;`,
			launch.Use{Elem: 4, Read: true, Sync: true}, launch.Use{Elem: 4, Sync: true}},
		// through a pointer from memory: it may be any buffer's
		{"unknown atomic", `ld.global.u64 %rd3, [%rd1]; atom.add.u32 %r1, [%rd3], 1;
			ld.global.u32 %r1, [%rd2];`,
			launch.Use{Elem: 8, Read: true, Sync: true, Index: true},
			launch.Use{Elem: 4, Read: true, Sync: true}},
		{"through local memory", `.local .align 8 .b8 stack[8]; st.local.u64 [stack], %rd1;
			ld.local.u64 %rd3, [stack]; ld.global.u32 %r1, [%rd3];`,
			launch.Use{Elem: 4, Read: true}, launch.Use{}},
		{"indices", `ld.global.u32 %r1, [%rd1]; mul.wide.s32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;
			ld.global.u32 %r2, [%rd4];`,
			launch.Use{Elem: 4, Read: true, Index: true}, launch.Use{Elem: 4, Read: true}},
		{"indices of shared memory", `.shared .align 4 .b8 s[64]; ld.global.u32 %r1, [%rd1];
			mov.u32 %r2, s; add.s32 %r2, %r2, %r1; st.shared.u32 [%r2], 0;`,
			launch.Use{Elem: 4, Read: true, Index: true}, launch.Use{}},
		{"rows", `ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+4];
			LOOP: mul.wide.s32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], 1;
			add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %r2; @%p1 bra LOOP;`,
			launch.Use{Elem: 4, Read: true, Index: true, Rows: true}, launch.Use{Elem: 4}},
		{"levels", `ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, -1; ld.param.u32 %r2, [n];
			sub.s32 %r3, %r2, 1; ld.global.u16 %r4, [%rd2]; setp.gt.s32 %p1, %r4, %r3;`,
			launch.Use{Elem: 4, Read: true, Compared: []int64{-1}},
			launch.Use{Elem: 2, Read: true, Args: []int{3}}},
		{"number of items", `ld.global.u32 %r1, [%rd1]; mov.u32 %r2, %tid.x; add.s32 %r2, %r2, 32;
			setp.ge.s32 %p1, %r2, %r1;`,
			launch.Use{Elem: 4, Read: true, Bound: true}, launch.Use{}},
		// what a comparison selects is not a value from the buffer
		{"selected", `ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 7; selp.b64 %rd3, 8, 16, %p1;
			add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], 1;`,
			launch.Use{Elem: 4, Read: true, Compared: []int64{7}}, launch.Use{Elem: 4}},
	} {
		text := fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry k(%s) {
	.reg .pred %%p<2>; .reg .b32 %%r<6>; .reg .f32 %%f<4>; .reg .b64 %%rd<8>;
	ld.param.u64 %%rd1, [a];
	ld.param.u64 %%rd2, [b];
	ld.param.u64 %%rd7, [s+8];
	ld.global.s8 %%r3, [%%rd7];
	%s
	ret;
}`, params, tt.body)
		got := launch.Uses(kernels.PTX(t, text).Kernel("k"))
		for i, want := range []launch.Use{tt.a, tt.b} {
			g := got[launch.Place{Param: i}]
			if g.Index != want.Index || g.Rows != want.Rows || g.Bound != want.Bound ||
				!slices.Equal(g.Compared, want.Compared) || !slices.Equal(g.Args, want.Args) {
				t.Errorf("%s: values of %d are used as %+v, want %+v", tt.name, i, g, want)
			}
		}
		for place, want := range map[launch.Place]launch.Use{{Param: 0}: tt.a, {Param: 1}: tt.b,
			{Param: 2, Offset: 8}: {Elem: 1, Read: true, Sync: tt.name == "unknown atomic"}} {
			g := got[place]
			if g.Elem != want.Elem || g.Float != want.Float || g.Read != want.Read || g.Sync != want.Sync {
				t.Errorf("%s: %v is used as %+v, want %+v", tt.name, place, g, want)
			}
		}
	}
}

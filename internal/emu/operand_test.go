package emu

import (
	"strconv"
	"strings"
	"testing"
)

// Forms of operands that stand for a computation.
func TestOperandForms(t *testing.T) {
	for _, test := range []struct {
		name, decl, text string // the result is %v
		want             func(i int) uint32
	}{
		// PTX ISA 6.4.2: an element of an array by a constant, a register, a register and a constant.
		{"a[3]", ".global .u32 a[40] = {10, 11, 12, 13, 14};", "ld.global.u32 %v, a[3];",
			func(int) uint32 { return 13 }},
		{"a[N-1]", ".global .u32 a[40] = {10, 11, 12, 13, 14};", "ld.global.u32 %v, a[5-1];",
			func(int) uint32 { return 14 }},
		{"a[i]", ".shared .u32 a[40];",
			"st.shared.u32 a[%t], %t;\nbar.sync 0;\nxor.b32 %u, %t, 1;\nld.shared.u32 %v, a[%u];",
			func(i int) uint32 { return uint32(i ^ 1) }},
		{"a[i+c]", ".shared .u16 a[40];",
			"cvt.u16.u32 %h, %t;\nst.shared.u16 a[%t+2], %h;\nld.shared.u16 %h, a[%t+2];\ncvt.u32.u16 %v, %h;", func(i int) uint32 { return uint32(i) }},
		{"a[i-c] of s32", ".shared .u32 a[40];",
			"st.shared.u32 a[%t], %t;\nbar.sync 0;\n.reg .s32 %sgn;\nmov.u32 %sgn, 3;\nld.shared.u32 %v, a[%sgn-1];", func(int) uint32 { return 2 }},
		{"a[i] of rows", ".global .align 4 .b8 a[3][4] = {{1,0,0,0},{2,0,0,0},{3,0,0,0}};",
			"mov.u64 %q, 2;\nld.global.u32 %v, a[%q];", func(int) uint32 { return 3 }},
		{"address of a[1]", ".global .u32 a[40] = {10, 11};",
			"mov.u64 %q, a[1];\nld.global.u32 %v, [%q];", func(int) uint32 { return 11 }},
		{"guarded", ".shared .u32 a[40];",
			"mov.u32 %v, 9;\nsetp.lt.u32 %c, %t, 3;\n@%c st.shared.u32 a[%t], %t;\n@%c ld.shared.u32 %v, a[%t];",
			func(i int) uint32 {
				if i < 3 {
					return uint32(i)
				}
				return 9
			}},
		{"reg+imm", "", "add.u32 %v, %t+2, %t-1;", func(i int) uint32 { return uint32(2*i + 1) }},
		// PTX ISA 6.4.3.
		{"mov.v2", "",
			".reg .v2 .u32 %pair;\nmov.u32 %pair.x, %t;\nmov.u32 %pair.y, 7;\nmov.v2.u32 {%u, %w}, %pair;\nmov.v2.u32 %pair, {%w, %u};\nmad.lo.u32 %v, %pair.x, 100, %pair.y;",
			func(i int) uint32 { return uint32(700 + i) }},
		{"mov.v4 permutes", "",
			"mov.u32 %u, 1;\nmov.u32 %w, 2;\nmov.u32 %z, 3;\nmov.u32 %v, 4;\nmov.v4.u32 {%u, %w, %z, %v}, {%v, %z, %w, %u};\nmad.lo.u32 %v, %w, 10, %v;", func(int) uint32 { return 31 }},
		{"vector parameter",
			".func (.reg .v2 .u32 r) swap(.reg .v2 .u32 a, .reg .u32 b) { mov.u32 r.x, a.y; add.u32 r.y, a.x, b; ret; }",
			".reg .v2 .u32 %pair;\nmov.u32 %pair.x, %t;\nmov.u32 %pair.y, 5;\ncall (%pair), swap, (%pair, 3);\nmad.lo.u32 %v, %pair.x, 100, %pair.y;", func(i int) uint32 { return uint32(503 + i) }},
		{"vector parameter in braces",
			".func (.reg .v2 .u32 r) swap(.reg .v2 .u32 a) { mov.u32 r.x, a.y; mov.u32 r.y, a.x; ret; }",
			"mov.u32 %u, 5;\ncall ({%w, %z}), swap, ({%t, %u});\nmad.lo.u32 %v, %w, 100, %z;",
			func(i int) uint32 { return uint32(500 + i) }},
	} {
		k := module(t, test.decl+`
.visible .entry k(.param .u64 out, .param .u64 x) {
	.reg .u32 %t, %u, %v, %w, %z;
	.reg .u64 %o, %p, %q;
	.reg .pred %c;
	.reg .b16 %h;
	mov.u32 %t, %tid.x;
	ld.param.u64 %o, [out];
	mad.wide.u32 %p, %t, 4, %o;
`+test.text+"\nst.global.u32 [%p], %v;\nret;\n}")
		res, _ := completed(t, k, config(1, 32, buffer("out", 128)), Options{})
		t.Run(test.name, func(t *testing.T) { wantWords(t, res, "out", 32, test.want) })
	}
}

// Before PTX ISA 3.0 a module could have .local variables (7.1.1): every thread has its own.
func TestModuleLocal(t *testing.T) {
	text := `.version 2.1
.target sm_20
.address_size 64
.local .u32 first[2];
.local .align 8 .u64 second;
.entry k(.param .u64 out, .param .u64 x) {
	.local .u32 own;
	.reg .u32 %t, %v;
	.reg .u64 %o, %p;
	mov.u32 %t, %tid.x;
	ld.param.u64 %o, [out];
	mad.wide.u32 %p, %t, 4, %o;
	st.local.u32 [first+4], %t;
	st.local.u64 [second], 7;
	st.local.u32 [own], 9;
	bar.sync 0;
	ld.local.u32 %v, [first+4];
	st.global.u32 [%p], %v;
	ret;
}`
	res, _ := completed(t, moduleText(t, text), config(1, 64, buffer("out", 256)), Options{})
	wantWords(t, res, "out", 64, func(i int) uint32 { return uint32(i) })
}

// Textures and the machine's own registers: unknown values, which data may hold and control flow
// may not.
func TestOpaque(t *testing.T) {
	const fetch = "tex.2d.v4.f32.s32 {%f, _, %g, _}, [%x, {%t, %t}];\n"
	for _, test := range []struct{ text, message string }{
		{fetch + "add.f32 %f, %f, %g;\nst.global.f32 [%p], %f;", ""},
		{fetch + "setp.gt.f32 %c, %g, 0f00000000;\n@%c trap;", "depends on a texture"},
		{"tex.1d.v4.u32.f32 {%u, %v, %w, %z}|%c, [%x, {%f}];\n@%c trap;", "depends on a texture"},
		{"tld4.r.2d.v4.f32.f32 {%f, %g, %f, %g}, [%x, {%f, %g}];\nst.global.f32 [%p], %g;", ""},
		{"txq.width.b32 %u, [%x];\nst.global.u32 [%p], %u;", ""},
		{"txq.width.b32 %u, [%x];\nsetp.lt.u32 %c, %t, %u;\n@%c trap;",
			"depends on a property of a texture"},
		{"suld.b.2d.v2.b32.trap {%u, %v}, [%x, {%t, %t}];\nst.global.u32 [%p], %v;", ""},
		{"suq.height.b32 %u, [%x];\nst.global.u32 [%p], %u;", ""},
		{"mov.u32 %u, %pm3;\nst.global.u32 [%p], %u;", ""},
		{"add.u32 %u, %envreg7, 1;\nsetp.eq.u32 %c, %u, 0;\n@%c trap;", "depends on %envreg7"},
		{"sust.b.1d.b32.trap [%x, {%t}], {%u};", "does not model surface memory"},
		{"sured.b.add.1d.u32.trap [%x, {%t}], %u;", "does not model surface memory"},
		{"createpolicy.fractional.L2::evict_last.b64 %q, 0.5;\nld.global.L2::cache_hint.u32 %u, [%o], %q;\nst.global.u32 [%p], %u;", ""},
		{"setmaxnreg.inc.sync.aligned.u32 64;", ""},
	} {
		k := kernel(t, "mov.u32 %u, 0;\nmov.f32 %f, 0f00000000;\nmov.f32 %g, %f;\n"+test.text+"\nret;")
		_, res, _ := start(t, k, config(2, 32, buffer("out", 256), value("x", 1)), Options{})
		switch {
		case test.message == "" && res.Status != Completed:
			t.Errorf("%s: %+v", test.text, res.Stop)
		case test.message != "" && (res.Stop == nil || !strings.Contains(res.Stop.Message, test.message)):
			t.Errorf("%s: %+v", test.text, res.Stop)
		}
	}
}

// Accesses in .shared::cluster reach the shared memory of the block itself and of the other blocks
// of its cluster, by addresses from mapa (PTX ISA 9.7.9.23).
func TestClusterShared(t *testing.T) {
	text := `.shared .align 4 .b8 sh[128];
	shl.b32 %u, %t, 2;
	mov.u32 %w, %cluster_ctarank;
	mapa.shared::cluster.u32 %z, %u, %w;
	st.shared::cluster.u32 [%z], %t;
	bar.sync 0;
	ld.shared::cluster.u32 %v, [%z];
	red.shared::cluster.add.u32 [%z], 1;
	atom.shared::cluster.add.u32 %w, [%z], 1;
	add.u32 %v, %v, %w;
	mov.u64 %q, sh;
	cvta.shared::cluster.u64 %q, %q;
	getctarank.u64 %w, %q;
	isspacep.shared::cluster %c, %q;
	@!%c trap;
	mad.lo.u32 %v, %w, 1000, %v;
	st.global.u32 [%p], %v;
	ret;`
	cfg := config(2, 32, buffer("out", 256))
	cfg.Geometry.Cluster = dim(2)
	res, _ := completed(t, kernel(t, text), cfg, Options{})
	wantWords(t, res, "out", 64, func(i int) uint32 { return uint32(1000*(i/32) + 2*(i%32) + 1) })
	exchange := `.shared .align 4 .b8 sh[128];
	mov.u32 %u, sh;
	mad.lo.u32 %u, %t, 4, %u;
	mov.u32 %w, %cluster_ctarank;
	mad.lo.u32 %v, %w, 1000, %t;
	st.shared.u32 [%u], %v;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	xor.b32 %w, %w, 1;
	mapa.shared::cluster.u32 %z, %u, %w;
	ld.shared::cluster.u32 %v, [%z];
	st.global.u32 [%p], %v;
	barrier.cluster.arrive.relaxed;
	barrier.cluster.wait;
	ret;`
	cfg = config(4, 32, buffer("out", 512))
	cfg.Geometry.Cluster = dim(2)
	for seed := range uint64(4) {
		res, _ = completed(t, kernel(t, exchange), cfg, Options{Seed: seed})
		wantWords(t, res, "out", 128, func(i int) uint32 { return uint32(1000*(1-i/32%2) + i%32) })
	}
	_, stopped, _ := start(t, kernel(t, "mov.u32 %u, 0;\nmapa.shared::cluster.u32 %z, %u, 2;\nret;"),
		cfg, Options{})
	if stopped.Stop == nil || stopped.Stop.Kind != OutOfBounds {
		t.Errorf("mapa to block 2 of 2: %+v", stopped.Stop)
	}
}

// Selectors and signs of video instructions reach the arithmetic: PTX ISA 9.7.18.
func TestVideo(t *testing.T) {
	for text, want := range map[string]uint32{
		"vadd.u32.u32.u32 %v, %u.b1, %w.h1;":       0x33 + 0x8899, // u is 0x11223344, w is 0x8899aabb
		"vsub.s32.s32.u32.sat %v.h0, %u, %w, %u;":  0x11228000,    // clamped to -2^15 and merged
		"vmad.s32.s32.u32 %v, %u.b0, -%w.b0, 5;":   1<<32 + 5 - 0x44*0xbb,
		"vadd2.u32.u32.u32 %v, %u, %w, 0;":         0x99bbddff,
		"vabsdiff4.u32.u32.u32.add %v, %u, %w, 1;": 1 + 0x77*4,
		// 1 in bytes 2 and 0; b7654 is the second source
		"vset4.u32.u32.gt %v.b20, %w, %u.b7654, %u;":  0x11013301,
		"vshr.s32.s32.u32.clamp.max %v, %w, 100, -5;": 0xffffffff,
		"vmin2.s32.s32.s32 %v.h1, %u, %w.h22, %u;":    0xaabb3344,
	} {
		k := kernel(t,
			"mov.u32 %u, 0x11223344;\nmov.u32 %w, 0x8899aabb;\n"+text+"\nst.global.u32 [%p], %v;\nret;")
		res, _ := completed(t, k, config(1, 32, buffer("out", 128)), Options{})
		if got := words(t, res, "out", 1)[0]; got != want {
			t.Errorf("%s: %#x, want %#x", text, got, want)
		}
	}
}

// What of the device runtime is not supported is named at the call.
func TestDeviceRuntime(t *testing.T) {
	for name, want := range map[string]string{
		"cudaDeviceSynchronize": "call of cudaDeviceSynchronize: CUDA 12 has removed it from device code",
		"__cudaCDP2GraphLaunch": "call of __cudaCDP2GraphLaunch: graphs that device code launches",
		"cudaLaunchDeviceV2":    "call of cudaLaunchDeviceV2 with 0 arguments; it has 2",
		"cudaOther":             "call of cudaOther, which has no body",
	} {
		k := module(t, `.extern .func (.param .b32 r) `+name+`();
.visible .entry k(.param .u64 out, .param .u64 x) {
	.param .b32 r;
	call (r), `+name+`, ();
	ret;
}`)
		_, res, _ := start(t, k, config(1, 32, buffer("out", 64)), Options{})
		if s := res.Stop; s == nil || s.Kind != Unsupported || !strings.HasPrefix(s.Message, want) {
			t.Errorf("%s: %+v", name, res.Stop)
		}
	}
}

// A module may hold the address of a function that the kernel cannot reach.
func TestUnreachableFunctionPointer(t *testing.T) {
	k := module(t, `.func f() { ret; }
.global .align 8 .u64 table[1] = {f};
.visible .entry k(.param .u64 out, .param .u64 x) { ret; }`)
	completed(t, k, config(1, 32, buffer("out", 64)), Options{})
}

// isspacep, PTX ISA 9.7.9.19: each kind of generic address lies in its own window, and in no other,
// except that the window of kernel parameters is contained in that of .global.
func TestIsspacep(t *testing.T) {
	spaces := []string{"global", "shared", "local", "const", "param"}
	in := func(space, of string) bool { return space == of || space == "global" && of == "param" }
	for a, of := range spaces {
		text := map[string]string{
			"global": "mov.u64 %q, %o;\n", "shared": "mov.u64 %q, s;\ncvta.shared.u64 %q, %q;\n",
			"local": "mov.u64 %q, l;\ncvta.local.u64 %q, %q;\n",
			"const": "mov.u64 %q, c;\ncvta.const.u64 %q, %q;\n",
			"param": "mov.u64 %q, out;\ncvta.param.u64 %q, %q;\n",
		}[of]
		for i, space := range spaces {
			text += "isspacep." + space + " %c, %q;\nselp.u32 %v, 1, 0, %c;\nst.global.u32 [%p+" +
				strconv.Itoa(4*i) + "], %v;\n"
		}
		k := module(t, `.const .u32 c;
.visible .entry k(.param .u64 out, .param .u64 x) {
	.shared .u32 s; .local .u32 l;
	.reg .u64 %o, %p, %q; .reg .pred %c; .reg .u32 %v;
	ld.param.u64 %o, [out];
	mov.u64 %p, %o;
`+text+"ret;\n}")
		res, _ := completed(t, k, config(1, 1, buffer("out", 64)), Options{})
		for i, v := range words(t, res, "out", len(spaces)) {
			if want := in(spaces[i], of); v != 0 != want {
				t.Errorf("isspacep.%s of an address in .%s (%d): %d", spaces[i], of, a, v)
			}
		}
	}
}

package irgen

import (
	"os"
	"path/filepath"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// FuzzModule: no text makes irgen panic or hang, errors lie in the text, and what irgen accepts
// passes the checker.
func FuzzModule(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.ptx")
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil {
			f.Add(string(b))
		}
	}
	for _, s := range []string{
		header + ".entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .pred p; @p bra L; mov.u32 %r1, %tid.x; L: @!p exit; }",
		header + ".entry k() { .reg .u32 i; a: ; b: ; t: .branchtargets a, b; brx.idx i, t; }",
		header + ".func (.reg .u32 r) f(.param .b8 x[]) { { .param .b8 y[8]; call (r), f, (y); } }",
		header + ".global .u64 a[2][2] = {{generic(a)+4, 1}, {0xff(a)}}; .const .v4 .f32 c = {1.0, 0f00000000};",
		header + ".entry k() { .reg .v4 .f32 v; ld.global.v4.f32 v, [16]; st.shared.f32 [-4], v.w; }\n.shared .b8 s[];",
		header + ".func f() .noreturn; .entry k() { call f; ret; }\n.alias g, f;\n// heddle.param k 0 a val i32",
		header + ".entry k() { .shared .u32 a[4]; .reg .b32 %r<4>; .reg .v2 .u32 v; ld.shared.u32 %r1, a[%r2-1]; mov.v2.u32 v, {%r1, %r2}; add.u32 %r1, %r2+1, a[1]; }",
		header + ".entry k() { .reg .b32 %r<9>; vadd4.u32.s32.u32 %r1.b20, %r2.b3210, %r3, %r4; vmad.s32.u32.s32.shr7 %r1, -%r2.h1, %r3.b0, %r4; }",
		header + ".func (.reg .v2 .u32 r) f(.reg .v4 .u16 x) { mov.u32 r.x, 1; } .entry k() { .reg .v2 .u32 v; .reg .v4 .u16 w; call (v), f, (w); }",
		".version 2.1\n.target sm_20\n.local .u32 l[3]; .entry k() { .reg .u32 r; ld.local.u32 r, l[1]; }",
		header + ".entry k() { .reg .b32 %r<9>; mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r2}, {%r3}, {%r4}, {%r1,%r2}; tex.2d.v4.f32.f32 {%r1,_,_,_}|%r2, [%r3, {%r4,%r5}]; }",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set := source.NewSet()
		src, err := set.Add("fuzz.ptx", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		file, errs := ptx.Parse(src)
		if len(errs) > 0 {
			return
		}
		m, errs := Module(set, file)
		for _, e := range errs {
			if e.Span.Start.File() != src.ID || e.Msg == "" {
				t.Errorf("error %q without a place", e.Msg)
			}
		}
		if (m == nil) != (len(errs) > 0) {
			t.Fatalf("module %v with %d errors", m != nil, len(errs))
		}
		if m == nil {
			return
		}
		for _, err := range ir.CheckModule(m) {
			t.Error(err)
		}
		for _, fn := range m.Funcs {
			if len(fn.Blocks) > 0 {
				ir.PostDom(fn)
				ir.PostDominators(fn)
				ir.FindLoops(fn, ir.Dominators(fn))
			}
			_ = fn.String()
			ir.Layout(fn)
		}
	})
}

// BenchmarkModule is irgen alone, on the largest compiler output of the test data.
func BenchmarkModule(b *testing.B) {
	text, err := os.ReadFile("testdata/reduce.O2.ptx")
	if err != nil {
		b.Fatal(err)
	}
	set, file := parse(b, string(text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := Module(set, file); len(errs) > 0 {
			b.Fatal(errs[0].Msg)
		}
	}
}

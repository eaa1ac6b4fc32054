package irgen

import (
	"os"
	"path/filepath"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// FuzzModule: no text makes irgen panic or hang, errors lie in the text, and what irgen accepts passes the
// checker.
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

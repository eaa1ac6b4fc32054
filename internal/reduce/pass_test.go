package reduce

import (
	"slices"
	"strings"
	"testing"
)

// made returns the programs that the single edits of a pass make of a kernel with the given
// declarations and statements, each as its words.
func made(t *testing.T, name, text string) []string {
	t.Helper()
	i := slices.IndexFunc(passes, func(p pass) bool { return p.name == name })
	if i < 0 {
		t.Fatalf("no pass %s", name)
	}
	c := parse(t, head+text, Launch{})
	var out []string
	for _, e := range passes[i].find(c) {
		if d := c.with([]edit{e}); d != nil {
			rest, _ := strings.CutPrefix(string(d.Text), head)
			out = append(out, strings.Join(strings.Fields(rest), " "))
		}
	}
	return out
}

// Each pass makes the edits that its comment describes, and no others, in the order of the text.
func TestPasses(t *testing.T) {
	for _, c := range []struct {
		pass, text string
		want       []string
	}{
		{"debug information", ".file 1 \"a\"\n.entry k() { .loc 1 2 3\n.pragma \"nounroll\"; ret; }",
			[]string{".entry k() { .loc 1 2 3 .pragma \"nounroll\"; ret; }",
				".file 1 \"a\" .entry k() { .pragma \"nounroll\"; ret; }",
				".file 1 \"a\" .entry k() { .loc 1 2 3 ret; }"}},
		{"definitions", ".global .u32 a;\n.entry k() { ret; }",
			[]string{".entry k() { ret; }", ".global .u32 a;"}},
		{"functions and their calls", ".func f() { ret; }\n.entry k() { call f; trap; call f; }",
			[]string{".entry k() { trap; }"}},
		// a block goes with the branches to it
		{"blocks", ".entry k() { @p bra L; add.s32 a, a, 1; L: ret; }",
			[]string{".entry k() { add.s32 a, a, 1; L: ret; }", ".entry k() { @p bra L; L: ret; }",
				".entry k() { add.s32 a, a, 1; }"}},
		{"loops", ".entry k() { bra M; L: add.s32 a, a, 1; @p bra L; M: ret; }",
			[]string{".entry k() { bra M; L: add.s32 a, a, 1; M: ret; }"}},
		{"instructions", ".entry k() { { trap; } ret; }",
			[]string{".entry k() { { } ret; }", ".entry k() { { trap; } }"}},
		{"scopes", ".entry k() { { .reg .b32 z; } ret; }",
			[]string{".entry k() { .reg .b32 z; ret; }"}},
		{"guards", ".entry k() { @!p add.s32 a, a, 1; ret; }",
			[]string{".entry k() { add.s32 a, a, 1; ret; }"}},
		{"forwarding", ".entry k() { .reg .b64 a, b; .reg .b32 x; cvta.to.global.u64 b, a; " +
			"ld.global.u32 x, [b+4]; }", []string{".entry k() { .reg .b64 a, b; .reg .b32 x; " +
			"ld.global.u32 x, [a+4]; }"}},
		{"forwarding", ".entry k() { .reg .pred p, q; not.pred q, p; @!q trap; }",
			[]string{".entry k() { .reg .pred p, q; @!p trap; }"}},
		// registers that are read, each of which 0 of its type replaces
		{"operands", ".entry k() { .reg .b32 a, b; .reg .f32 f; .reg .f64 d; .reg .pred p; " +
			"add.s32 a, b, %tid.x; mul.f32 f, f, 0f3F800000; @p st.shared.f64 [a], d; }",
			[]string{
				".entry k() { .reg .b32 a, b; .reg .f32 f; .reg .f64 d; .reg .pred p; " +
					"add.s32 a, 0, %tid.x; mul.f32 f, f, 0f3F800000; @p st.shared.f64 [a], d; }",
				".entry k() { .reg .b32 a, b; .reg .f32 f; .reg .f64 d; .reg .pred p; " +
					"add.s32 a, b, 0; mul.f32 f, f, 0f3F800000; @p st.shared.f64 [a], d; }",
				".entry k() { .reg .b32 a, b; .reg .f32 f; .reg .f64 d; .reg .pred p; " +
					"add.s32 a, b, %tid.x; mul.f32 f, 0f00000000, 0f3F800000; @p st.shared.f64 [a], d; }",
				".entry k() { .reg .b32 a, b; .reg .f32 f; .reg .f64 d; .reg .pred p; " +
					"add.s32 a, b, %tid.x; mul.f32 f, f, 0f3F800000; @p st.shared.f64 [0], d; }",
				".entry k() { .reg .b32 a, b; .reg .f32 f; .reg .f64 d; .reg .pred p; " +
					"add.s32 a, b, %tid.x; mul.f32 f, f, 0f3F800000; @p st.shared.f64 [a], " +
					"0d0000000000000000; }"}},
		{"operands of 1", ".entry k() { .reg .b32 a; .reg .f32 f; add.s32 a, a, 2; add.f32 f, f, f; }",
			[]string{".entry k() { .reg .b32 a; .reg .f32 f; add.s32 a, 1, 2; add.f32 f, f, f; }"}},
		{"numbers", ".entry k() { add.s32 a, a, 7; ld.u32 a, [b+4]; mov.f32 f, 0f3F800000; " +
			"bar.sync 0; }", []string{
			".entry k() { add.s32 a, a, 0; ld.u32 a, [b+4]; mov.f32 f, 0f3F800000; bar.sync 0; }",
			".entry k() { add.s32 a, a, 7; ld.u32 a, [b]; mov.f32 f, 0f3F800000; bar.sync 0; }",
			".entry k() { add.s32 a, a, 7; ld.u32 a, [b+0]; mov.f32 f, 0f3F800000; bar.sync 0; }",
			".entry k() { add.s32 a, a, 7; ld.u32 a, [b+4]; mov.f32 f, 0f00000000; bar.sync 0; }"}},
		{"labels", ".entry k() { L: bra M; M: ret; }", []string{".entry k() { bra M; M: ret; }"}},
		{"declarations", ".entry k() { .reg .b32 a, b, c; .shared .b8 s[4]; }",
			[]string{".entry k() { .reg .b32 b, c; .shared .b8 s[4]; }",
				".entry k() { .reg .b32 a, c; .shared .b8 s[4]; }",
				".entry k() { .reg .b32 a, b; .shared .b8 s[4]; }", ".entry k() { .reg .b32 a, b, c; }"}},
		{"sizes", "// heddle.array s 4 9\n.shared .b32 s[3][8];",
			[]string{".shared .b32 s[1][8];", ".shared .b32 s[1][8];", ".shared .b32 s[3][1];",
				".shared .b32 s[3][4];"}},
		// the facts of later parameters move up
		{"parameters", "// heddle.param k 0 x val i32\n// heddle.param k 1 y val i32\n" +
			".entry k(.param .u32 a, .param .u32 b) { ld.param.u32 r, [a]; }",
			[]string{"// heddle.param k 0 y val i32 .entry k(.param .u32 b) { }",
				"// heddle.param k 0 x val i32 .entry k(.param .u32 a) { ld.param.u32 r, [a]; }"}},
		{"headers", ".entry k() .maxntid 8, 1, 1 .minnctapersm 2 { ret; }",
			[]string{".entry k() .minnctapersm 2 { ret; }", ".entry k() .maxntid 8, 1, 1 { ret; }"}},
	} {
		if got := made(t, c.pass, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s of %s:\n%s\nwant\n%s", c.pass, c.text, strings.Join(got, "\n"),
				strings.Join(c.want, "\n"))
		}
	}
}

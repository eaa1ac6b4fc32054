package diag

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/source"
)

// span returns the span of the first occurrence of text in f.
func span(t testing.TB, f *source.File, text string) source.Span {
	t.Helper()
	i := strings.Index(string(f.Content), text)
	if i < 0 {
		t.Fatalf("%q is not in %s", text, f.Name)
	}
	return source.Span{Start: f.PosAt(i), End: f.PosAt(i + len(text))}
}

func add(t testing.TB, set *source.Set, name, text string) *source.File {
	t.Helper()
	f, err := set.Add(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// tile returns a race that uses every field of a finding.
func tile(t testing.TB) (*source.Set, *Diagnostic) {
	set := source.NewSet()
	f := add(t, set, "tile.cu", "__device__ int get(int *s, int i) { return s[i]; }\n__global__ "+
		"void k(int *out) {\n\t__shared__ int s[64];\n\ts[threadIdx.x] = 1;\n\tout[threadIdx.x] = "+
		"get(s, 63 - threadIdx.x);\n}\n")
	read, write, call := span(t, f, "s[i]"), span(t, f, "s[threadIdx.x] = 1"), span(t, f, "get(s, 63")
	inner := source.Frame{Func: "get(int*, int)", Pos: read.Start, Parent: &source.Frame{}}
	return set, &Diagnostic{
		Code: CodeRaceShared, Severity: Error, Kernel: "k(int*)", Count: 32,
		Message: "read-write intra-block data race on shared s (bytes 4-7)",
		Span:    read, Label: "(2) just happened here",
		Stack:   []source.Frame{inner, {Func: "k(int*)", Pos: call.Start}},
		Related: []Related{{Span: write, Message: "and (1) occurred earlier here"}},
		Notes:   []string{"no barrier orders (1) and (2)"},
		Help:    []string{"put a barrier between them"},
		Fixes: []Fix{{Message: "insert __syncthreads()", Edits: []Edit{
			{Span: source.Span{Start: f.PosAt(strings.Index(string(f.Content), "\tout["))},
				New: "\t__syncthreads();\n"},
		}}},
		Witness: &Witness{
			Engine: "emulator", Launch: "--grid 1 --block 64", Seed: 17, Level: "intra-block",
			Status: "observed",
			First: WitnessAccess{Op: "st.shared.u32", Thread: "thread (1,0,0) of block (0,0,0)",
				Kind: "write"},
			Second: WitnessAccess{Op: "ld.shared.u32", Thread: "thread (62,0,0) of block (0,0,0)",
				Kind: "read"},
			Memory: "shared s", Offset: 4, Size: 4,
		},
		Reproduce: "heddle run --seed 17 --grid 1 --block 64 tile.cu",
	}
}

func render(t testing.TB, set *source.Set, color bool, ds ...*Diagnostic) string {
	t.Helper()
	var b bytes.Buffer
	p := NewText(&b, set, color)
	for _, d := range ds {
		if err := p.Finding(d); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestTextFinding(t *testing.T) {
	set, d := tile(t)
	want := `tile.cu:1:44: error[race-shared]: read-write intra-block data race on shared s (bytes 4-7)
    1 | __device__ int get(int *s, int i) { return s[i]; }
      |                                            ^~~~ (2) just happened here
    inlined from k(int*) at tile.cu:5:21
tile.cu:4:2: note: and (1) occurred earlier here
    4 |     s[threadIdx.x] = 1;
      |     ^~~~~~~~~~~~~~~~~~
  kernel: k(int*)
  note: no barrier orders (1) and (2)
  help: put a barrier between them
  help: insert __syncthreads()
    --- a/tile.cu
    +++ b/tile.cu
    @@ -2,5 +2,6 @@
     __global__ void k(int *out) {
     	__shared__ int s[64];
     	s[threadIdx.x] = 1;
    +	__syncthreads();
     	out[threadIdx.x] = get(s, 63 - threadIdx.x);
     }
  reproduce: heddle run --seed 17 --grid 1 --block 64 tile.cu

`
	if d := cmp.Diff(want, render(t, set, false, d)); d != "" {
		t.Error(d)
	}
}

func TestColor(t *testing.T) {
	set, d := tile(t)
	if plain := render(t, set, false, d); strings.Contains(plain, "\x1b") {
		t.Error("escapes without colour")
	}
	colored := render(t, set, true, d)
	for _, want := range []string{"\x1b[1;31merror[race-shared]:\x1b[0m", "\x1b[1;31m^~~~\x1b[0m"} {
		if !strings.Contains(colored, want) {
			t.Errorf("no %q in %q", want, colored)
		}
	}
	strip := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "", "\x1b[1;31m", "", "\x1b[1;36m", "")
	if got := strip.Replace(colored); got != render(t, set, false, d) {
		t.Errorf("colour changes the text: %q", got)
	}
}

// The mark must be below the marked text as a terminal shows it.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", 200)
	tests := []struct {
		name, line, mark string
		want             []string
	}{
		{"plain", "int a = b;", "b", []string{"int a = b;", "        ^"}},
		{"tab before", "\tint\ta;", "a", []string{"    int a;", "        ^"}},
		{"tab within", "a\tb;", "a\tb", []string{"a   b;", "^~~~~"}},
		{"wide characters", "/* 競合 */ a;", "a", []string{"/* 競合 */ a;", "           ^"}},
		{"combining", "e\u0301 a", "a", []string{"e\u0301 a", "  ^"}},
		{"accents", "é = a", "a", []string{"é = a", "    ^"}},
		{"control characters", "\x1b[2J a", "a", []string{"\uFFFD[2J a", "     ^"}},
		{"broken UTF-8", "\xff\xfe a", "a", []string{"\uFFFD\uFFFD a", "   ^"}},
		{"bidi override", "a\u202e b", "b", []string{"a\uFFFD b", "   ^"}},
		{"cut at the end", "a" + long, "a", []string{"a" + long[:119] + "...", "^"}},
		{"cut at both ends", long + "abc" + long, "abc",
			[]string{"..." + long[:30] + "abc" + long[:87] + "...", strings.Repeat(" ", 33) + "^~~"}},
	}
	for _, tt := range tests {
		set := source.NewSet()
		f := add(t, set, "f", tt.line)
		got := render(t, set, false, &Diagnostic{Severity: Error, Message: "m",
			Span: span(t, f, tt.mark)})
		lines := strings.Split(got, "\n")
		if len(lines) < 3 || lines[1] != "    1 | "+tt.want[0] || lines[2] != "      | "+tt.want[1] {
			t.Errorf("%s:\n%s", tt.name, got)
		}
	}
}

func TestExcerptSpans(t *testing.T) {
	set := source.NewSet()
	f := add(t, set, "f", "one\ntwo\n")
	named := set.Named("known-by-name.cu")
	pos := source.MakePos
	tests := []struct {
		name string
		span source.Span
		want string
	}{
		{"several lines", source.Span{Start: f.PosAt(1), End: f.PosAt(6)},
			"f:1:2: error: m\n    1 | one\n      |  ^~ here\n\n"},
		{"no end", source.Span{Start: f.PosAt(5)}, "f:2:2: error: m\n    2 | two\n      |  ^ here\n\n"},
		{"line only", source.Span{Start: pos(f.ID, 2, 0)},
			"f:2: error: m\n    2 | two\n      | here\n\n"},
		{"behind the line", source.Span{Start: pos(f.ID, 1, 4)},
			"f:1:4: error: m\n    1 | one\n      |    ^ here\n\n"},
		{"far behind the line", source.Span{Start: pos(f.ID, 1, 400)},
			"f:1:400: error: m\n    1 | one\n      |    ^ here\n\n"},
		{"end before start", source.Span{Start: f.PosAt(2), End: f.PosAt(0)},
			"f:1:3: error: m\n    1 | one\n      |   ^ here\n\n"},
		{"no such line", source.Span{Start: pos(f.ID, 9, 1)}, "f:9:1: error: m\n      here\n\n"},
		{"no text", source.Span{Start: pos(named.ID, 9, 1)},
			"known-by-name.cu:9:1: error: m\n      here\n\n"},
		{"no place", source.Span{}, "error: m\n      here\n\n"},
	}
	for _, tt := range tests {
		got := render(t, set, false, &Diagnostic{Severity: Error, Message: "m", Span: tt.span,
			Label: "here"})
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// Lines of the compiler contain their own carets and are printed unchanged.
func TestCompilerOutput(t *testing.T) {
	d := &Diagnostic{Code: CodeCompile, Severity: Error,
		Message: "k.cu: the compiler rejects the file",
		Notes:   []string{"k.cu:2:5: error: expected ';'", "    x = 1", "         ^"}}
	want := "error[compile-error]: k.cu: the compiler rejects the file\n  k.cu:2:5: error: expected " +
		"';'\n      x = 1\n           ^\n\n"
	if got := render(t, source.NewSet(), false, d); got != want {
		t.Errorf("%q", got)
	}
}

func TestTextVerdicts(t *testing.T) {
	set := source.NewSet()
	f := add(t, set, "k.ptx", "wgmma.fence;\n")
	var b bytes.Buffer
	p := NewText(&b, set, false)
	for _, v := range []Verdict{
		{Kind: Clean, Kernel: "k(int*)", Scope: "1 run (seed 0), grid 4 (guessed)"},
		{Kind: Bug, Kernel: "k(int*)", Reason: "4 more findings are not shown (--limit 20)"},
		{Kind: Unknown, Kernel: "k(int*)", Reason: "the budget was used up"},
		{Kind: Unsupported, Kernel: "k(int*)", Reason: "wgmma.fence", Span: span(t, f, "wgmma.fence")},
		{Kind: Verified, Kernel: "k(int*)", Scope: "all threads, all inputs"},
	} {
		if err := p.Verdict(&v); err != nil {
			t.Fatal(err)
		}
	}
	want := `clean: kernel k(int*): no findings in 1 run (seed 0), grid 4 (guessed); there is no proof
bug: kernel k(int*): 4 more findings are not shown (--limit 20)
unknown: kernel k(int*): the budget was used up
k.ptx:1:1: unsupported: kernel k(int*): wgmma.fence
    1 | wgmma.fence;
      | ^~~~~~~~~~~
verified: kernel k(int*): all threads, all inputs
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

var errFull = bytes.ErrTooLarge

func TestWriteErrors(t *testing.T) {
	set, d := tile(t)
	for name, p := range map[string]Printer{"text": NewText(failing{}, set, false),
		"json": NewJSON(failing{}, set)} {
		if p.Finding(d) == nil || p.Verdict(&Verdict{}) == nil {
			t.Errorf("%s: a write error is lost", name)
		}
	}
}

// The renderer accepts any text and any span, and never passes escape sequences on.
func FuzzText(f *testing.F) {
	f.Add("int a;\n\tb", uint(3), uint(5), "label")
	f.Add("\xff\x1b競\u0301", uint(1), uint(90), "\x1b[31m")
	f.Fuzz(func(t *testing.T, text string, start, end uint, label string) {
		set := source.NewSet()
		file := add(t, set, "f", text)
		sp := source.Span{Start: source.MakePos(file.ID, int(start%4), int(start/4%300)),
			End: source.MakePos(file.ID, int(end%4), int(end/4%300))}
		out := render(t, set, false, &Diagnostic{Severity: Error, Message: label, Label: label, Span: sp})
		if i := strings.IndexFunc(out,
			func(c rune) bool { return c == 0x1b || c == '\r' || c == 0 }); i >= 0 {
			t.Errorf("control character in %q", out)
		}
	})
}

// TestVerdictLine: a line for people names the input once, is at most as wide as it may be, and
// loses neither the places that it does not cover nor the number of hidden findings.
func TestVerdictLine(t *testing.T) {
	place := "a race between st.global.f32 at dir/k.cu:6:57 and st.global.f32 at dir/k.cu:7:63"
	for _, tc := range []struct {
		v    Verdict
		want string
	}{
		{
			Verdict{Kind: Verified, Kernel: "k(int*)", Input: "dir/k.cu", Scope: "all inputs"},
			"kernel k(int*) in dir/k.cu: all inputs",
		},
		{
			Verdict{Kind: Verified, Kernel: "k", From: "k.py:8", Input: "ABCD/k.ptx", Scope: "all inputs"},
			"kernel k (k.py:8) in ABCD/k.ptx: all inputs",
		},
		{
			Verdict{Kind: Verified, Kernel: "k(int*)", Input: "dir/k.cu", Scope: "all inputs",
				Details: []string{"assuming that loops end"}, Apart: []string{"writes at dir/k.cu:3:4"}},
			"kernel k(int*) in dir/k.cu: all inputs; apart from writes at 3:4 (-v: details)",
		},
		{
			Verdict{Kind: Unknown, Kernel: "k(float*, float const*)", Input: "dir/k.cu",
				Reason: place + " is possible only with arguments that no host is expected to pass"},
			"kernel k in k.cu: a race between st.global.f32 at 6:57 and st.global.f32 at 7:63 is " +
				"possible only with arguments that no host is expected to pass (-v: details)",
		},
		{
			Verdict{Kind: Clean, Kernel: "k(float*, float const*)", Input: "dir/k.cu",
				Scope:   "1 run with grid 4 (guessed), block 64 (guessed)",
				Details: []string{"seed 0"}, Reason: place + " is possible", Suppressed: 2},
			"kernel k in k.cu: no other findings in 1 run with grid 4 (guessed), block 64 (guessed); there is...; " +
				"2 findings are suppressed by heddle:ignore (-v: details)",
		},
	} {
		got := tc.v.Line(LineWidth)
		if got != tc.want || utf8.RuneCountInString(got) > LineWidth {
			t.Errorf("%d columns: %q, want %q", utf8.RuneCountInString(got), got, tc.want)
		}
	}
}

// A complete verdict has the assumptions of each launch once, in its details.
func TestFullScope(t *testing.T) {
	for _, tt := range []struct{ scope, want string }{
		{"for grid 1", "for grid 1"},
		{"for grid 1; assuming that a does not alias", "for grid 1"},
		{"the launch in line 7: for grid 1; assuming x, y; the launch in line 8: for grid 2; assuming z; " +
			"the launch in line 9 is clean",
			"the launch in line 7: for grid 1; the launch in line 8: for grid 2; the launch in line 9 is clean"},
		{"launch 1 of the program: a; assuming x; launch 2 of the program: b",
			"launch 1 of the program: a; launch 2 of the program: b"},
	} {
		v := Verdict{Kind: Verified, Scope: tt.scope, Details: []string{"assuming that loops end"}}
		if got, want := v.FullScope(), tt.want+"; assuming that loops end"; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.scope, got, want)
		}
	}
}

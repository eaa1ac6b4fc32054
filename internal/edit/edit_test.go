package edit

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/source"
)

func file(name, text string) *source.File {
	f, err := source.NewSet().Add(name, []byte(text))
	if err != nil {
		panic(err)
	}
	return f
}

// at returns an edit of the bytes [start, end).
func at(f *source.File, start, end int, text string) Edit {
	return Edit{Span: source.Span{Start: f.PosAt(start), End: f.PosAt(end)}, New: text}
}

func TestApply(t *testing.T) {
	f := file("k.cu", "abc\ndef\n")
	tests := []struct {
		name  string
		edits []Edit
		want  string
	}{
		{"none", nil, "abc\ndef\n"},
		{"replace", []Edit{at(f, 1, 2, "XX")}, "aXXc\ndef\n"},
		{"out of order", []Edit{at(f, 4, 5, "D"), at(f, 0, 1, "A")}, "Abc\nDef\n"},
		{"two insertions at one place", []Edit{at(f, 4, 4, "1"), at(f, 4, 4, "2")}, "abc\n12def\n"},
		{"insertion before a replacement", []Edit{at(f, 4, 7, "X"), at(f, 4, 4, "1")}, "abc\n1X\n"},
		{"insertion after a replacement", []Edit{at(f, 4, 7, "X"), at(f, 7, 7, "1")}, "abc\nX1\n"},
		{"at the end", []Edit{at(f, 8, 8, "ghi\n")}, "abc\ndef\nghi\n"},
		{"delete all", []Edit{at(f, 0, 8, "")}, ""},
		{"no end", []Edit{{Span: source.Span{Start: f.PosAt(3)}, New: ";"}}, "abc;\ndef\n"},
	}
	for _, tt := range tests {
		if got, err := Apply(f, tt.edits); err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestApplyErrors(t *testing.T) {
	f := file("k.cu", "abc\ndef\n")
	var overlap *OverlapError
	for _, edits := range [][]Edit{
		{at(f, 0, 3, ""), at(f, 2, 4, "")},
		{at(f, 0, 3, "x"), at(f, 0, 3, "y")},
		{at(f, 0, 3, "x"), at(f, 1, 1, "y")},
	} {
		if err := Check(f, edits); !errors.As(err, &overlap) {
			t.Errorf("%v: %v, want an overlap", edits, err)
		}
	}
	other := source.MakePos(7, 1, 1)
	for _, e := range []Edit{
		{Span: source.Span{Start: other}}, {Span: source.Span{Start: source.MakePos(f.ID, 9, 1)}},
		{Span: source.Span{Start: f.PosAt(3), End: f.PosAt(1)}},
		{Span: source.Span{Start: f.PosAt(3), End: other}},
		{Span: source.Span{Start: source.MakePos(f.ID, 1, 1<<30)}}, {},
	} {
		if got, err := Apply(f, []Edit{e}); err == nil {
			t.Errorf("%v: %q, want an error", e, got)
		}
	}
}

func TestDiff(t *testing.T) {
	text := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n"
	f := file("dir/k.cu", text)
	got, err := Diff(f, []Edit{at(f, 2, 2, "one and a half\n"),
		at(f, strings.Index(text, "12"), strings.Index(text, "13"), "")})
	want := `--- a/dir/k.cu
+++ b/dir/k.cu
@@ -1,4 +1,5 @@
 1
+one and a half
 2
 3
 4
@@ -9,6 +10,5 @@
 9
 10
 11
-12
 13
 14
`
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := Diff(f, []Edit{at(f, 0, 1, "1")}); got != "" || err != nil {
		t.Errorf("an edit without effect gives %q, %v", got, err)
	}
}

func TestDiffName(t *testing.T) {
	for name, want := range map[string]string{"k.cu": "a/k.cu", "/t/k.cu": "a/t/k.cu",
		"a b": "a/a b\t", "\"é": `"a/\"\303\251"`} {
		if got := diffName("a/", name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// drawEdits generates a text of short lines, with or without a final line break, and edits of it
// that do not overlap.
func drawEdits(t *rapid.T, name string) (*source.File, []Edit) {
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "", "ab", "x\r"}), 0,
		30).Draw(t, "lines"), "\n")
	f := file(name, text)
	var edits []Edit
	for pos := 0; ; {
		start := pos + rapid.IntRange(0, 12).Draw(t, "gap")
		end := start + rapid.IntRange(0, 5).Draw(t, "length")
		if end > len(text) {
			break
		}
		if end == start && start == pos && len(edits) > 0 {
			end = min(end+1, len(text))
		}
		edits = append(edits, at(f, start, end,
			rapid.SampledFrom([]string{"", "a", "\n", "b\n", "\nab", "a\nb\n"}).Draw(t, "new")))
		pos = end
		if rapid.Bool().Draw(t, "stop") {
			break
		}
	}
	return f, edits
}

// patched applies a unified diff by its line numbers alone, and fails where the old text differs.
func patched(t *rapid.T, old, diff string) string {
	lines := strings.SplitAfter(old, "\n")
	var out []string
	at := 0
	body := strings.SplitAfter(diff, "\n")[2:]
	for i := 0; i < len(body) && body[i] != ""; i++ {
		l := body[i]
		noNewline := i+1 < len(body) && strings.HasPrefix(body[i+1], `\`)
		text := l[1:]
		if noNewline {
			text = strings.TrimSuffix(text, "\n")
		}
		switch l[0] {
		case '@':
			start, n := hunkOld(t, l)
			if n > 0 {
				start--
			}
			for ; at < start; at++ {
				out = append(out, lines[at])
			}
		case ' ', '-':
			if lines[at] != text {
				t.Fatalf("line %d is %q, the diff has %q", at+1, lines[at], text)
			}
			if l[0] == ' ' {
				out = append(out, text)
			}
			at++
		case '+':
			out = append(out, text)
		}
	}
	return strings.Join(append(out, lines[at:]...), "")
}

func hunkOld(t *rapid.T, header string) (start, n int) {
	old := strings.TrimPrefix(strings.Fields(header)[1], "-")
	a, b, ok := strings.Cut(old, ",")
	if !ok {
		b = "1"
	}
	for _, v := range []struct {
		text string
		to   *int
	}{{a, &start}, {b, &n}} {
		for _, c := range v.text {
			if c < '0' || c > '9' {
				t.Fatalf("hunk header %q", header)
			}
			*v.to = *v.to*10 + int(c-'0')
		}
	}
	return start, n
}

func TestDiffGivesApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, edits := drawEdits(t, "k.cu")
		want, err := Apply(f, edits)
		if err != nil {
			t.Fatal(err)
		}
		diff, err := Diff(f, edits)
		if err != nil {
			t.Fatal(err)
		}
		if diff == "" {
			if string(want) != string(f.Content) {
				t.Fatalf("no diff, but %q becomes %q", f.Content, want)
			}
			return
		}
		if got := patched(t, string(f.Content), diff); got != string(want) {
			t.Fatalf("%q with\n%s is %q, want %q", f.Content, diff, got, want)
		}
	})
}

// git must accept the diffs and produce the same text.
func TestGitApply(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		if n++; n > 40 { // each takes a process
			return
		}
		f, edits := drawEdits(t, "my k.cu")
		want, err := Apply(f, edits)
		if err != nil {
			t.Fatal(err)
		}
		diff, err := Diff(f, edits)
		if err != nil || diff == "" {
			return
		}
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, f.Content, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(git, "-c", "core.autocrlf=false", "apply", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %v\n%s\n%s%q", err, out, diff, f.Content)
		}
		got, err := os.ReadFile(path)
		if err != nil && len(want) > 0 || string(got) != string(want) {
			t.Fatalf("git makes %q, want %q\n%s", got, want, diff)
		}
	})
}

// Apply undoes Between for any two texts, and equal lines at both ends are not edited.
func TestBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func() string {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString([]string{"a\n", "b\n", "c\r\n", "\n", "d"}[r.IntN(5)])
		}
		return b.String()
	}
	for range 2000 {
		old, text := draw(), draw()
		f, err := source.NewSet().Add("f", []byte("head\n"+old+"\ntail"))
		if err != nil {
			t.Fatal(err)
		}
		edits := Between(f, 5, 5+len(old), text)
		got, err := Apply(f, edits)
		if want := "head\n" + text + "\ntail"; err != nil || string(got) != want {
			t.Fatalf("%q to %q: %q, %v", old, text, got, err)
		}
		if old == text && len(edits) > 0 {
			t.Errorf("%q: edits for nothing", old)
		}
	}
}

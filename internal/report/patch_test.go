package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/source"
)

// repairPage returns a report with a finding, a trace, and a patch of a file with the given text.
func repairPage(t *testing.T) string {
	t.Helper()
	files := source.NewSet()
	f, err := files.Add("dir/k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	at := func(line, col int) source.Pos { return source.MakePos(f.ID, line, col) }
	var b bytes.Buffer
	h := New(&b, files, "heddle sync k.cu", "v1")
	after := diag.Verdict{Kind: diag.Verified, Kernel: "k<1>", Scope: "all threads"}
	h.Repair(&Repair{Kernel: "k<1>", Status: "synchronized", Good: true, After: &after,
		Cost:  &Cost{Before: 1, After: 200, Least: true},
		Notes: []string{"a note"},
		Steps: []Step{
			{Text: "barrier after line 3", At: at(3, 40),
				Why: []string{"separates the write at 3:2 and the read at 6:12 within an iteration of the " +
					"loop of line 1"}},
			{Text: "not needed: the barrier in line 5", At: at(5, 2)},
			{Text: "kept: the barrier in line 1", At: at(1, 1)},
		}})
	edits := []diag.Edit{
		{Span: source.Span{Start: at(4, 1)}, New: "\t__syncthreads();\n"},
		{Span: source.Span{Start: at(5, 1), End: at(6, 1)}},
	}
	if err := h.Edits(edits); err != nil {
		t.Fatal(err)
	}
	d := race(f, "k<1>")
	d.Code = diag.CodeBarrierRecycle
	if err := h.Finding(d); err != nil {
		t.Fatal(err)
	}
	h.Graph(graphExample(f))
	if err := h.Verdict(&after); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The reasons of a patch appear at its changes; steps without a change are listed separately.
func TestPatch(t *testing.T) {
	got := repairPage(t)
	added := strings.Index(got, "&#43;\t__syncthreads();")
	removed := strings.Index(got, `<span class="ln del">`)
	order := []int{strings.Index(got, "kept: the barrier in line 1"), added,
		strings.Index(got, "barrier after line 3"),
		strings.Index(got, "separates the write at 3:2"), removed,
		strings.Index(got, "not needed: the barrier in line 5")}
	for i, at := range order {
		if at < 0 || i > 0 && at < order[i-1] {
			t.Errorf("the parts of the patch are at %v", order)
			break
		}
	}
	for _, want := range []string{"k&lt;1&gt;",
		"<strong>1</strong> before, <strong>200</strong> after, minimal", "all threads",
		"<li>a note</li>"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in the page", want)
		}
	}
	if n := strings.Count(got, "barrier after line 3"); n != 1 {
		t.Errorf("a reason appears %d times", n)
	}
}

// The rows of a diff contain the old and the new text with correct line numbers, for any text.
func TestRows(t *testing.T) {
	words := []string{"", "x", "-- a", "++ b", "@@ -1 +1 @@", "-", "+", " y", "\\ z"}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(words), 1, 20).Draw(t, "lines")
		from := rapid.IntRange(1, len(lines)).Draw(t, "from")
		to := rapid.IntRange(from, len(lines)).Draw(t, "to")
		put := rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(t, "new")
		files := source.NewSet()
		f, err := files.Add("k.cu", []byte(strings.Join(lines, "\n")+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, p := range put {
			text += p + "\n"
		}
		span := source.Span{Start: source.MakePos(f.ID, from, 1), End: source.MakePos(f.ID, to, 1)}
		diff, err := edit.Diff(f, []edit.Edit{{Span: span, New: text}})
		if err != nil {
			t.Fatal(err)
		}
		news := append(append(append([]string{}, lines[:from-1]...), put...), lines[to-1:]...)
		for _, r := range rowsOf(diff) {
			check := func(number string, text []string) {
				n := 0
				if _, err := fmt.Sscan(number, &n); number != "" &&
					(err != nil || n < 1 || n > len(text) || text[n-1] != r.Text[1:]) {
					t.Fatalf("line %s of %q is shown as %q in\n%s", number, text, r.Text, diff)
				}
			}
			check(r.Old, lines)
			check(r.New, news)
			if want := map[string]string{"add": "+", "del": "-", "same": " "}[r.Class]; want != "" &&
				(r.Text[:1] != want || r.Old == "" && r.New == "") {
				t.Fatalf("%+v", r)
			}
		}
		if diff != "" && strings.Count(diff, "\n") != len(rowsOf(diff)) {
			t.Fatalf("%d rows of\n%s", len(rowsOf(diff)), diff)
		}
	})
}

package report

import (
	"bytes"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// The page of a verified kernel has the whole short kernel, from its head on, and below the line of
// a barrier what is said of it; code is marked, and text is escaped.
func TestExplain(t *testing.T) {
	files := source.NewSet()
	text := "int other;\n__global__ void\nk(int *p)\n{\n  s[0] = 1;\n  __syncthreads();\n  p[0] = s[1];\n}\n"
	f, err := files.Add("k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	h := New(&out, files, "heddle check", "test")
	at := func(line int) source.Pos { return source.MakePos(f.ID, line, 1) }
	h.Explain(&Explained{Input: "k.cu", Kernel: "k(int*)", Body: source.Span{Start: at(4), End: at(8)},
		Barriers: []Barrier{{At: at(6), Text: []string{"separates `s[0]` from <b>", "  for example"}}}})
	h.Explain(&Explained{Input: "k.cu", Kernel: "none(int*)", Body: source.Span{Start: at(4), End: at(8)}})
	if err := h.Verdict(&diag.Verdict{Kind: diag.Verified, Kernel: "k(int*)", Input: "k.cu"}); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{
		"separates <code>s[0]</code> from &lt;b&gt;</span><span class=\"line\"><span class=\"reason\">for example",
		"<i>2</i>__global__ void", "<span class=\"ln add\"><i>6</i>  __syncthreads();", "<i>8</i>}",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, not := range []string{"int other;", "none(int*)"} {
		if strings.Contains(page, not) {
			t.Errorf("%q", not)
		}
	}
}

// Of a long kernel, the lines around each barrier are shown, and what is left out is marked.
func TestExplainLong(t *testing.T) {
	files := source.NewSet()
	text := "__global__ void k(int *p) {\n" + strings.Repeat("  p[0] = 1;\n", 200) + "}\n"
	f, err := files.Add("k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	h := New(&out, files, "heddle check", "test")
	at := func(line int) source.Pos { return source.MakePos(f.ID, line, 1) }
	h.Explain(&Explained{Input: "k.cu", Kernel: "k", Body: source.Span{Start: at(1), End: at(202)},
		Barriers: []Barrier{{At: at(50), Text: []string{"one"}}, {At: at(150), Text: []string{"two"}}}})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	if n := strings.Count(page, "p[0] = 1;"); n != 2*(2*nearBarrier+1) {
		t.Errorf("%d lines", n)
	}
	if n := strings.Count(page, "</i>...\n"); n != 1 {
		t.Errorf("%d marks", n)
	}
}

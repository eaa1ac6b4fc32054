package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// race returns a race between lines 3 and 6 of a file.
func race(f *source.File, kernel string) *diag.Diagnostic {
	at := func(line, col int) source.Span {
		return source.Span{Start: source.MakePos(f.ID, line,
			col)}
	}
	return &diag.Diagnostic{
		Code: diag.CodeRaceShared, Severity: diag.Error, Kernel: kernel, Input: f.Name,
		Message: "read-write data race on shared tile<&> in " + kernel, Span: at(6, 12),
		Stack:   []source.Frame{{Func: "k", Pos: at(6, 12).Start}, {Func: "outer", Pos: at(2, 1).Start}},
		Related: []diag.Related{{Span: at(3, 2), Message: "and (1) occurred earlier here"}},
		Notes:   []string{"no barrier orders the two threads", "both are in barrier interval 2"},
		Fixes: []diag.Fix{{Message: "insert a barrier",
			Edits: []diag.Edit{{Span: at(5, 1), New: "\t__syncthreads();\n"}}}},
		Witness: &diag.Witness{
			First: diag.WitnessAccess{Op: "st.shared.u32", Thread: "thread (1,0,0) of block (0,0,0)",
				Kind: "write"},
			Second: diag.WitnessAccess{Op: "ld.shared.u32", Thread: "thread (0,0,0) of block (0,0,0)",
				Kind: "read"},
			Memory: "shared tile", Offset: 64, Size: 4, Level: "intra-block", Interval: 2,
		},
		Reproduce: "heddle check k.cu",
	}
}

const text = "__global__ void k()\n{\n\ttile[t] = 1; // " +
	"<script>alert(1)</script>\n\n\t\n\tout[t] = tile[t + 1];\n}\n"

func pageOf(t testing.TB, n int) string {
	t.Helper()
	files := source.NewSet()
	f, err := files.Add("dir/k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	h := New(&b, files, "heddle check --arg 'x=<1>' k.cu", "v1")
	for i := range n {
		kernel := fmt.Sprintf("k%d(int*)", i)
		d := race(f, kernel)
		if i%2 == 1 {
			d.Code = diag.CodeRaceGlobal
		}
		if err := h.Finding(d); err != nil {
			t.Fatal(err)
		}
		if err := h.Verdict(&diag.Verdict{Kind: diag.Bug, Kernel: kernel, Input: f.Name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Verdict(&diag.Verdict{Kind: diag.Verified, Kernel: "fine",
		Scope: "all threads"}); err != nil {
		t.Fatal(err)
	}
	if err := h.Finding(&diag.Diagnostic{Suppressed: &diag.Suppression{},
		Message: "hidden away"}); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	got := pageOf(t, 1)
	for _, want := range []string{
		"tile&lt;&amp;&gt;", "&lt;script&gt;alert(1)", "x=&lt;1&gt;", // input never becomes markup
		`<mark>tile</mark>`, // the word at line 6, column 12
		"Why:</strong> no barrier orders the two threads", "called from outer at dir/k.cu:2:1",
		"barrier interval 2", "2nd barrier", "nothing orders these two",
		"&#43;	__syncthreads();", "1 suppressed", `href="#f1"`, "1 verified", "all threads",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in the page", want)
		}
	}
	for _, not := range []string{"hidden away", "http://", "https://", "<script>alert"} {
		if strings.Contains(got, not) {
			t.Errorf("%s is in the page", not)
		}
	}
}

// The groups of a divergent barrier are drawn: groups at the same place share a column, and exited
// groups have a row.
func TestGroups(t *testing.T) {
	files := source.NewSet()
	f, err := files.Add("dir/k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	at := func(line int) source.Span { return source.Span{Start: source.MakePos(f.ID, line, 2)} }
	d := diag.Diagnostic{Code: diag.CodeBarrierDivergence, Message: "divergence", Span: at(3),
		Groups: []diag.Group{
			{Threads: "32 threads (0,0,0) to (31,0,0) of warp 0", At: "barrier 0", Span: at(3)},
			{Threads: "32 threads (32,0,0) to (63,0,0) of warp 1", At: "barrier 0", Span: at(6)},
			{Threads: "32 threads (64,0,0) to (95,0,0) of warp 2", At: "barrier 0", Span: at(3)},
			{Threads: "32 threads (96,0,0) to (127,0,0) of warp 3"},
		}}
	var b bytes.Buffer
	h := New(&b, files, "", "")
	for i, want := range []int{0, 1, 0} {
		if got := h.column(d.Groups, i); got != want {
			t.Errorf("group %d is in column %d, want %d", i, got, want)
		}
	}
	for range mostGroups {
		d.Groups = append(d.Groups, d.Groups[0])
	}
	if err := h.Finding(&d); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"32 threads (0,0,0) to (31,0,0)</text>", "warp 1</text>",
		"waits: barrier 0</text>", "k.cu:6:2</text>", "× exited before it</text>", "and 4 more groups"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in the page", want)
		}
	}
}

// A finding without a witness, a source text or a position is still shown.
func TestBareFinding(t *testing.T) {
	var b bytes.Buffer
	files := source.NewSet()
	h := New(&b, files, "", "")
	unknown := files.Named("gone.cu")
	for _, d := range []diag.Diagnostic{
		{Code: "no-such-code", Message: "first"},
		{Code: diag.CodeInput, Message: "second",
			Span: source.Span{Start: source.MakePos(unknown.ID, 7, 0)}},
	} {
		if err := h.Finding(&d); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "second", "gone.cu:7", "No kernel was checked"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in the page", want)
		}
	}
}

// The drawing has the element at its row and column, and only elements that the array has. Element
// [9][8] of tile[16][17] is number 9*17+8 = 161.
func TestElements(t *testing.T) {
	for _, c := range []struct {
		element string
		n       uint64
		dims    []int
		cells   int    // drawn
		label   string // of the declaration; empty: unknown
	}{
		{"tile[9][8]", 161, []int{16, 17}, mostRows * cells, "of tile[16][17]"},
		{"tile[0][0]", 0, []int{2, 3}, 6, "of tile[2][3]"},
		{"v[2][1][3]", 2*12 + 1*4 + 3, []int{5, 3, 4}, mostRows * 4, "of v[5][3][4]"},
		{"s[69]", 69, []int{70}, cells, "of s[70]"},
		{"out[1000]", 1000, []int{0}, cells, ""},
		{"flag", 0, nil, 1, ""},
	} {
		got := string(elements(&diag.Witness{Element: c.element, ElementSize: 4, Dims: c.dims,
			Offset: 4 * c.n, Size: 4}))
		if n := strings.Count(got, `class="cell`); n != c.cells || strings.Count(got, "cell hit") != 1 {
			t.Errorf("%s: %d cells, want %d with one hit", c.element, n, c.cells)
		}
		if !strings.Contains(got, c.element) || !strings.Contains(got, c.label) ||
			c.label == "" && strings.Contains(got, ", of ") {
			t.Errorf("%s: no %q in %s", c.element, c.label, got)
		}
	}
}

package report

import (
	"strings"
	"testing"

	"heddle/internal/source"
)

// TestLaunches: each launch is in the row of its stream, at its place among all launches, and names
// are escaped.
func TestLaunches(t *testing.T) {
	var b strings.Builder
	h := New(&b, nil, "heddle exec", "1")
	h.Files(source.NewSet())
	h.Launches([]Stream{
		{"the default stream", []Launch{{Column: 1, Kernel: "k<int>", Number: 1, Place: "a.cu:3", Checked: true}}},
		{"stream 1", []Launch{{Column: 2, Kernel: "f", Number: 1, Found: true},
			{Column: 3, Kernel: "f", Number: 2, Failed: true}, {Column: 4, Kernel: "f", Number: 3}}},
	}, 7)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h3 class=\"stream\">stream 1</h3>", "7 later ones are not shown",
		`<li class="clean" style="grid-column:1" title="launch 1 of k&lt;int&gt; at a.cu:3">1</li>`,
		`<li class="bug" style="grid-column:2" title="launch 1 of f; with findings">1</li>`,
		`<li class="unknown" style="grid-column:3" title="launch 2 of f; it did not reach its end">2</li>`,
		`<li class="unwatched" style="grid-column:4" title="launch 3 of f">3</li>`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

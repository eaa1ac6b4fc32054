package report

import (
	"bytes"
	"strings"
	"testing"

	"heddle/internal/source"
)

// executionExample is a flag without a release: the reader sees the flag and not the data.
func executionExample() *Execution {
	return &Execution{Input: "flag.cu", Kernel: "k<1>()", Title: "data race of `st` and `ld`",
		Missing: "a fence.acq_rel.gpu behind st", Threads: []string{"block 0 thread 0", "block 1 thread 0"},
		Events: []ExecutionEvent{
			{Thread: 0, Text: "st.global.u32", Effect: "writes data = 42", At: "flag.cu:5:8", Wrong: true},
			{Thread: 0, Text: "st.volatile.global.u32", Effect: "writes flag = 1", At: "flag.cu:6:3"},
			{Thread: 1, Text: "ld.volatile.global.u32", Effect: "reads flag = 1", At: "flag.cu:8:3"},
			{Thread: 1, Text: "ld.global.u32", Effect: "reads data = 0 (initial value)", Wrong: true},
			{Thread: 1, Text: "ld.global.u32 <again>", Effect: "reads data = 0"},
		},
		Arrows: []ExecutionArrow{{1, 2, ReadsFrom}, {2, 1, Synchronizes}, {0, 3, Unordered},
			{3, 4, ReadsFrom}},
		Ends: []string{"block 1 thread 0 waits & waits"},
	}
}

// TestExecution: the drawing has a box for each event and an arrow for each relation, and the page
// says the same as text, with everything escaped.
func TestExecution(t *testing.T) {
	var out bytes.Buffer
	h := New(&out, source.NewSet(), "heddle explore", "")
	h.Execution(executionExample())
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	_, page, _ = strings.Cut(page, `<article class="execution">`)
	page, _, _ = strings.Cut(page, "</article>")
	for want, n := range map[string]int{
		`class="event"`: 3, `class="event hit"`: 2,
		`<line class="produced"`: 1, `<path class="produced bow"`: 1, `<line class="order"`: 1,
		`<line class="missing"`: 1, `class="arrow produced-head"`: 1, `class="arrow order-head"`: 1,
		`<line class="life"`:          3, // program order within each thread
		"ld.global.u32 &lt;again&gt;": 2, "<again>": 0, "waits &amp; waits": 1, "<code>st</code>": 1,
		"<strong>Missing:</strong> a fence.acq_rel.gpu behind st": 1, "<li>block 1 thread 0: ": 3,
	} {
		if got := strings.Count(page, want); got != n {
			t.Errorf("%s occurs %d times, expected %d", want, got, n)
		}
	}
}

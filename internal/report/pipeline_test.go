package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// pipelineExample is a ring of some stages, each a full and an empty barrier, of which the phases
// 0, 1 and 40 are kept. In phase 1 of stage 0 the copy overwrites what warp 1 reads in phase 0, and
// in the last phase of the last stage threads wait for an arrival that is missing.
func pipelineExample(f *source.File, stages int) *diag.Pipeline {
	at := func(line int) source.Span { return source.Span{Start: source.MakePos(f.ID, line, 2)} }
	p := &diag.Pipeline{
		Kernel: "k<1>", Input: f.Name, Block: "(0,0,0)", Unused: 1,
		Roles: []diag.PipelineRole{
			{Name: "producer: thread 96"}, {Name: "asynchronous copies", Async: true},
			{Name: "consumer: warps 0-2 of block (0,0,0)"},
		},
	}
	r := diag.PipelineRing{Phases: []int64{-1, 0, 1, 40}, Last: 40}
	var read, refill, lacks, stuck int
	for s := range stages {
		r.Stages = append(r.Stages, diag.PipelineStage{Objects: []diag.PipelineObject{
			{Name: fmt.Sprintf("full[%d]", s), Count: 1}, {Name: fmt.Sprintf("empty[%d]", s), Count: 3},
		}})
		add := func(m diag.PipelineMark) int {
			m.Stage, m.Times = s, max(m.Times, 1)
			if m.Who == "" {
				m.Who, m.Threads = "thread 96", 1
			}
			r.Marks = append(r.Marks, m)
			return len(r.Marks) - 1
		}
		add(diag.PipelineMark{Kind: diag.PipelineWait, Object: 1, Phase: -1, Span: at(3)})
		for _, phase := range r.Phases[1:] {
			add(diag.PipelineMark{Kind: diag.PipelineArrive, Phase: phase, Arrivals: 1, Bytes: 2304,
				Span: at(3)})
			n := add(diag.PipelineMark{Kind: diag.PipelineCopy, Role: 1, Phase: phase, Bytes: 2304,
				Op: "cp.async.bulk", Span: at(6)})
			if s == 0 && phase == 1 {
				refill = n
			}
			add(diag.PipelineMark{Kind: diag.PipelineWait, Role: 2, Phase: phase, Threads: 96,
				Who: "96 threads of warps 0-2", Span: at(6)})
			if s == 0 && phase == 0 {
				read = add(diag.PipelineMark{Kind: diag.PipelineRead, Role: 2, Phase: 0, Op: "ld.shared",
					Span: at(6), Who: "thread 0", Threads: 1})
			}
			if s == stages-1 && phase == 40 {
				lacks = add(diag.PipelineMark{Kind: diag.PipelineLacks, Role: 2, Object: 1, Phase: 40,
					Arrivals: 1})
				stuck = add(diag.PipelineMark{Kind: diag.PipelineStuck, Object: 1, Phase: 40, Span: at(3)})
				continue
			}
			add(diag.PipelineMark{Kind: diag.PipelineArrive, Role: 2, Object: 1, Phase: phase,
				Arrivals: 3, Threads: 3, Who: "3 threads of warps 0-2", Span: at(6)})
			add(diag.PipelineMark{Kind: diag.PipelineWait, Object: 1, Phase: phase, Span: at(3)})
		}
	}
	p.Rings = []diag.PipelineRing{r}
	p.Broken = []diag.PipelineEdge{
		{From: read, To: refill, Code: diag.CodeAsyncCopy, Spans: []source.Span{at(3)},
			Label: "overwrites what is read"},
		{From: lacks, To: stuck, Label: "waits for ever", Text: "a text with <markup>"},
	}
	return p
}

// pipelinePage is a page with a finding and a pipeline of some stages.
func pipelinePage(t *testing.T, stages int) string {
	t.Helper()
	files := source.NewSet()
	f, err := files.Add("dir/k.cu", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	h := New(&b, files, "heddle trace k.cu", "v1")
	for i, code := range []diag.Code{diag.CodeRaceProxy, diag.CodeAsyncCopy} {
		d := race(f, "k<1>")
		if d.Code = code; i == 1 {
			d.Span.Start = source.MakePos(f.ID, 3, 2)
		}
		if err := h.Finding(d); err != nil {
			t.Fatal(err)
		}
	}
	h.Pipeline(pipelineExample(f, stages))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page has each mark once, the edges that follow from them, and the missing orders with links
// to the finding with their code and place.
func TestPipeline(t *testing.T) {
	page := pipelinePage(t, 2)
	if n := strings.Count(page, `<a href="#p0w1">where this is`); n != 1 {
		t.Errorf("%d links from findings", n)
	}
	_, got, _ := strings.Cut(page, `<section aria-labelledby="pipeline0">`)
	got, _, _ = strings.Cut(got, "</section>")
	// Each of two stages has three phases with an arrow from the arrival and one from the copy to the
	// wait of the consumers, and one from their arrival to the wait of the producer; in the last
	// phase of stage 1 nobody has arrived, and the producer waits for ever.
	for what, want := range map[string]int{
		`<line class="object0"`: 2*3*2 + 1, `<line class="object1"`: 2*3 - 1 + 1, // 1: the legend
		`<rect class="copies object0"`: 6, `<line class="issue"`: 6,
		`<circle class="waits object0"`: 6, `<circle class="waits object1"`: 2*4 - 1,
		`<circle class="arrives object0"`: 6, `<circle class="arrives object1"`: 5,
		`<circle class="stuck"`: 1, `<circle class="lacks"`: 1, `class="op read"`: 1,
		`<line class="missing"`:      2 + 1, // 1: the legend
		`class="badge"`:              2,
		">38 more</text>":            1,
		">phase 40</text>":           1,
		">new</text>":                1,
		">3/3</text>":                5,
		">+2304 B</text>":            6,
		">2304 B</text>":             6,
		">1 missing</text>":          1,
		"showing 3 of 41 phases":     1,
		"1 unused":                   1,
		"a text with &lt;markup&gt;": 1,
		`<li id="p0w1"><span class="n bad">1</span> <a href="#f1">overwrites what is read</a>`: 1,
		`<strong>waits for ever</strong>`: 1,
		`<a href="#f1"><title>overwrites`: 1, `<a href="#p0w2"><title>waits`: 1,
		"phase 1 of full[0]: cp.async.bulk, issued by thread 96, brings 2304 bytes at dir/k.cu:6:2": 2,
		"phase 0 of empty[1]: 3 threads of warps 0-2 arrive (3 of 3 arrivals) at dir/k.cu:6:2":      2,
		"before phase 0 of empty[0]: thread 96 passes at once":                                      2,
	} {
		if n := strings.Count(got, what); n != want {
			t.Errorf("%s occurs %d times, want %d", what, n, want)
		}
	}
	// Of many stages the first ones, the last one and those of findings are drawn.
	if got := pipelinePage(t, 12); !strings.Contains(got, "Ring of 12 stages") ||
		!strings.Contains(got, "8 more stages are not drawn") ||
		strings.Count(got, `<circle class="stuck"`) != 1 {
		t.Error("12 stages")
	}
}

// overlaps counts the pairs of texts of a drawing that overlap, and the texts that leave it.
const overlaps = `(() => {
  let n = 0;
  for (const svg of document.querySelectorAll('svg.pipeline, svg.names')) {
    const out = svg.getBoundingClientRect();
    const list = [...svg.querySelectorAll('text')].map(e => e.getBoundingClientRect());
    list.forEach((a, i) => {
      if (a.left < out.left - 1 || a.right > out.right + 1 || a.bottom > out.bottom + 1) n++;
      for (const b of list.slice(i + 1))
        if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
          n++;
    });
  }
  return n;
})()`

// TestPipelineInBrowser checks that nothing overlaps, that only the drawing scrolls sideways, in
// both themes, and that a mark leads to its finding and back.
func TestPipelineInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	ctx, at := browser(t, pipelinePage(t, 4))
	inEachTheme(t, ctx, at, []int64{400, 1000}, func(_, page string) {
		if n := number(t, ctx, overlaps); n != 0 {
			t.Errorf("%s: %v texts overlap", page, n)
		}
	})
	do(t, ctx, chromedp.Evaluate(`document.getElementById('f1').open = false; document.querySelector('svg.pipeline a').dispatchEvent(new MouseEvent('click', {bubbles: true})); 1`, nil),
		chromedp.Poll(`document.getElementById('f1').open`, nil),
		chromedp.Evaluate(`document.querySelector('a[href="#p0w1"]').click(); 1`, nil),
		chromedp.Poll(`document.querySelector('.broken li:target') !== null`, nil))
}

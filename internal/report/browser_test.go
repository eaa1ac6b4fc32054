package report

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browser opens a page in headless Chromium.
func browser(t testing.TB, text string) (context.Context, string) {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no chromium")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	return ctx, (&url.URL{Scheme: "file", Path: file}).String()
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// number evaluates a JavaScript expression that yields a number.
func number(t *testing.T, ctx context.Context, expr string) (n float64) {
	t.Helper()
	do(t, ctx, chromedp.Evaluate(expr, &n))
	return n
}

// inEachTheme shows a page in both themes and at some widths, checks that it is not wider and that
// text is told from its background, by the contrast that WCAG 2.2, 1.4.3, asks for, and calls more.
// page names the theme and the width.
func inEachTheme(t *testing.T, ctx context.Context, at string, widths []int64,
	more func(scheme, page string)) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range widths {
			do(t, ctx, emulation.SetEmulatedMedia().
				WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.EmulateViewport(width, 900), chromedp.Navigate(at),
				chromedp.WaitVisible("main", chromedp.ByQuery))
			page := fmt.Sprintf("%s theme, %d px", scheme, width)
			if over := number(t, ctx, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s: the page is %v px too wide", page, over)
			}
			if c := number(t, ctx, contrast); c < 4.5 {
				t.Errorf("%s: contrast %.1f", page, c)
			}
			more(scheme, page)
		}
	}
}

// TestBrowser filters and follows links in a report with 2,000 findings.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	ctx, at := browser(t, pageOf(t, 2000))
	const visible = `[...document.querySelectorAll('.finding')].filter(f => !f.hidden).length`
	do(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(at),
		chromedp.WaitVisible("#filter"))
	if n := number(t, ctx, visible); n != 2000 {
		t.Fatalf("%v findings are shown", n)
	}
	// A filter, by words and by kind; a freeze would end the test.
	do(t, ctx, chromedp.SendKeys("#filter", "k77(", chromedp.ByQuery),
		chromedp.Poll(visible+` === 1`, nil))
	do(t, ctx, chromedp.Evaluate(`document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input')); 1`, nil), chromedp.Poll(visible+` === 2000`, nil))
	do(t, ctx, chromedp.Evaluate(`(() => { const s = document.getElementById('code'); s.value = 'race-global'; s.dispatchEvent(new Event('change')); })(); 1`, nil), chromedp.Poll(visible+` === 1000`, nil))
	// A link of the table opens the finding, even one that the filter hides, and the keyboard is
	// there.
	do(t, ctx, chromedp.Evaluate(`document.querySelector('a[href="#f1999"]').click(); 1`, nil),
		chromedp.Poll(`document.getElementById('f1999').open && !document.getElementById('f1999').hidden`,
			nil))
	if n := number(t, ctx, `document.activeElement.closest('.finding').id === 'f1999' ? 1 : 0`); n != 1 {
		t.Error("the finding is not focused")
	}
	// Its text, which was no part of the document, is there once, and nothing in it was executed.
	do(t, ctx, chromedp.Poll(`document.querySelectorAll('#f1999 .body .src').length === 2`, nil))
	if n := number(t, ctx, `document.querySelectorAll('#f1999 script').length`); n != 0 {
		t.Errorf("%v script elements", n)
	}
	// Enter closes it.
	do(t, ctx, chromedp.KeyEvent("\r"), chromedp.Poll(`!document.getElementById('f1999').open`, nil))
}

// TestWidths checks that only drawings and source scroll sideways, on narrow and wide screens, in
// the light and the dark theme.
func TestWidths(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	ctx, at := browser(t, pageOf(t, 3))
	background := map[string]string{}
	inEachTheme(t, ctx, at, []int64{400, 1600}, func(scheme, _ string) {
		var bg string
		do(t, ctx, chromedp.Evaluate(`getComputedStyle(document.body).backgroundColor`, &bg))
		background[scheme] = bg
	})
	if background["light"] == background["dark"] {
		t.Errorf("the light and dark themes share the background %s", background["light"])
	}
}

// TestFirstScreen checks that the report of a race shows both threads, both source lines and the
// missing order without scrolling, on a phone and on a desktop screen.
func TestFirstScreen(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	ctx, at := browser(t, pageOf(t, 1))
	for _, size := range [][2]int64{{1600, 900}, {400, 800}} {
		do(t, ctx, chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(at),
			chromedp.WaitVisible("main", chromedp.ByQuery))
		var hidden []string
		do(t, ctx, chromedp.Evaluate(`(() => {
			const shown = e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.top >= 0 && r.bottom <= innerHeight && r.left >= 0 && r.right <= innerWidth; };
			const texts = (s, t) => [...document.querySelectorAll(s)].filter(e => e.textContent.includes(t) && shown(e)).length;
			const want = {
				'the first thread in the drawing': texts('svg text.thread', 'thread (1,0,0)'),
				'the second thread in the drawing': texts('svg text.thread', 'thread (0,0,0)'),
				'what is missing in the drawing': texts('svg text.missing', 'nothing orders these two'),
				'why': texts('.why', 'no barrier orders the two threads'),
				'both lines of the source': texts('mark', 'ile') === 2,
			};
			return Object.keys(want).filter(k => !want[k]);
		})()`, &hidden))
		if len(hidden) > 0 {
			t.Errorf("%d x %d: not visible without scrolling: %q", size[0], size[1], hidden)
		}
	}
}

// TestGraphAndPatch checks that the graph of a trace scrolls by keyboard while the names of the
// warps stay visible, that its mark links to the finding, and that the reasons of a patch fit a
// phone.
func TestGraphAndPatch(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	ctx, at := browser(t, repairPage(t))
	inEachTheme(t, ctx, at, []int64{400, 1600}, func(_, page string) {
		if n := number(t, ctx, `[...document.querySelectorAll('.says')].filter(e => e.getBoundingClientRect().right <= innerWidth).length`); n != 2 {
			t.Errorf("%s: %v reasons are within the screen", page, n)
		}
	})
	do(t, ctx, chromedp.EmulateViewport(400, 900), chromedp.Focus(".drawing.graph", chromedp.ByQuery),
		chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight),
		chromedp.Poll(`document.querySelector('.drawing.graph').scrollLeft > 20`, nil))
	if n := number(t, ctx, `document.querySelector('svg.names').getBoundingClientRect().left`); n < 0 {
		t.Errorf("the names of the warps are at %v", n)
	}
	do(t, ctx, chromedp.Evaluate(`document.getElementById('f1').open = false; document.querySelector('svg.graph a').dispatchEvent(new MouseEvent('click', {bubbles: true})); 1`, nil),
		chromedp.Poll(`document.getElementById('f1').open`, nil))
}

// contrast returns the lowest contrast ratio of all text of the page and its drawings (WCAG 2.1).
const contrast = `(() => {
  const rgb = s => s.match(/[\d.]+/g).map(Number);
  const lum = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  let least = 21;
  const hold = (front, behind) => { const [a, b] = [lum(rgb(front)), lum(behind)].sort((x, y) => y - x); least = Math.min(least, (a + 0.05) / (b + 0.05)); };
  for (const e of document.querySelectorAll('p, h1, h2, h3, li, td, th, summary span, figcaption, .ln, .ln i, mark, .says, .reason, .verdict, .dim, a'))
    hold(getComputedStyle(e).color, back(e));
  for (const e of document.querySelectorAll('svg text:not(.number)')) { // a number is on its circle
    const r = e.getBoundingClientRect(), x = (r.left + r.right) / 2, y = (r.top + r.bottom) / 2;
    const on = [...e.ownerSVGElement.querySelectorAll('rect')].filter(q => { const b = q.getBoundingClientRect(); return b.left <= x && x <= b.right && b.top <= y && y <= b.bottom; }).pop();
    if (r.width > 0) hold(getComputedStyle(e).fill, on ? rgb(getComputedStyle(on).fill) : back(e.ownerSVGElement));
  }
  return least;
})()`

// BenchmarkBrowser opens a report with 2,000 findings, and filters it by a word, by a kind and by
// nothing, until the browser has painted. The goals are 2 s to open and 100 ms to filter.
func BenchmarkBrowser(b *testing.B) {
	ctx, at := browser(b, pageOf(b, 2000))
	if err := chromedp.Run(ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate("about:blank")); err != nil {
		b.Fatal(err)
	}
	const filter = `new Promise(done => { const f = document.getElementById('filter'), t = performance.now();
		f.value = %q; f.dispatchEvent(new Event('input'));
		requestAnimationFrame(() => setTimeout(() => done(performance.now() - t))) })`
	var opened time.Duration
	filtered := make(map[string]float64)
	for b.Loop() {
		from := time.Now()
		if err := chromedp.Run(ctx, chromedp.Navigate(at), chromedp.WaitVisible("#filter")); err != nil {
			b.Fatal(err)
		}
		opened += time.Since(from)
		for name, word := range map[string]string{"word": "k77(", "few": "k1", "all": ""} {
			var ms float64
			if err := chromedp.Run(ctx, chromedp.Evaluate(fmt.Sprintf(filter, word), &ms,
				func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })); err != nil {
				b.Fatal(err)
			}
			filtered[name] += ms
		}
	}
	b.ReportMetric(opened.Seconds()*1000/float64(b.N), "ms/open")
	for name, ms := range filtered {
		b.ReportMetric(ms/float64(b.N), "ms/filter-"+name)
	}
}

package report

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// browser opens a page in headless Chromium.
func browser(t *testing.T, text string) (context.Context, string) {
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
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(2*time.Minute))
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

// number evaluates an expression.
func number(t *testing.T, ctx context.Context, expr string) (n float64) {
	t.Helper()
	do(t, ctx, chromedp.Evaluate(expr, &n))
	return n
}

// TestBrowser uses a report of 2,000 findings as a person does.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	ctx, at := browser(t, pageOf(t, 2000))
	const visible = `[...document.querySelectorAll('.finding')].filter(f => !f.hidden).length`
	do(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(at), chromedp.WaitVisible("#filter"))
	if n := number(t, ctx, visible); n != 2000 {
		t.Fatalf("%v findings are shown", n)
	}
	// The first one is open: both threads, both lines and what is missing are in the first screen.
	if n := number(t, ctx, `(() => { const r = document.querySelector('.places').getBoundingClientRect(); return r.top > 0 && r.top < innerHeight ? 1 : 0 })()`); n != 1 {
		t.Error("the places of the first finding are not in the first screen")
	}
	// A filter, by words and by kind; a freeze would end the test.
	do(t, ctx, chromedp.SendKeys("#filter", "k77(", chromedp.ByQuery), chromedp.Poll(visible+` === 1`, nil))
	do(t, ctx, chromedp.Evaluate(`document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input')); 1`, nil), chromedp.Poll(visible+` === 2000`, nil))
	do(t, ctx, chromedp.Evaluate(`(() => { const s = document.getElementById('code'); s.value = 'race-global'; s.dispatchEvent(new Event('change')); })(); 1`, nil), chromedp.Poll(visible+` === 1000`, nil))
	// A link of the table opens the finding, even one that the filter hides, and the keyboard is there.
	do(t, ctx, chromedp.Evaluate(`document.querySelector('a[href="#f1999"]').click(); 1`, nil), chromedp.Poll(`document.getElementById('f1999').open && !document.getElementById('f1999').hidden`, nil))
	if n := number(t, ctx, `document.activeElement.closest('.finding').id === 'f1999' ? 1 : 0`); n != 1 {
		t.Error("the finding does not have the focus")
	}
	// Enter closes it.
	do(t, ctx, chromedp.KeyEvent("\r"), chromedp.Poll(`!document.getElementById('f1999').open`, nil))
}

// TestWidths: nothing but drawings and source scrolls sideways, on a phone and on a wide screen, by day and by night.
func TestWidths(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	ctx, at := browser(t, pageOf(t, 3))
	background := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{400, 1600} {
			do(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.EmulateViewport(width, 900), chromedp.Navigate(at), chromedp.WaitVisible("#filter"))
			if over := number(t, ctx, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s, %d px: the page is %v px too wide", scheme, width, over)
			}
			var bg string
			do(t, ctx, chromedp.Evaluate(`getComputedStyle(document.body).backgroundColor`, &bg))
			background[scheme] = bg
			// Text is told from its background: the contrast that WCAG 2.2, 1.4.3, asks for.
			if c := number(t, ctx, contrast); c < 4.5 {
				t.Errorf("%s: contrast %.1f", scheme, c)
			}
		}
	}
	if background["light"] == background["dark"] {
		t.Errorf("one background for day and night: %s", background["light"])
	}
}

// contrast is the least contrast of the texts of the page.
const contrast = `(() => {
  const rgb = s => s.match(/[\d.]+/g).map(Number);
  const lum = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  let least = 21;
  for (const e of document.querySelectorAll('p, h1, h2, td, th, summary span, figcaption, .ln, .ln i, mark, .verdict, .dim, a')) {
    const [a, b] = [lum(rgb(getComputedStyle(e).color)), lum(back(e))].sort((x, y) => y - x);
    least = Math.min(least, (a + 0.05) / (b + 0.05));
  }
  return least;
})()`

package main

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A browser is headless Chromium, with the site of this repository as files and a page of hostile
// Markdown among them.
type browser struct {
	ctx  context.Context
	base string // URL of the site, with a slash at its end

	mu      sync.Mutex
	foreign []string // requests for anything but files of the site
}

// open starts a browser, or skips the test without one.
func open(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no chromium")
	}
	dir := t.TempDir()
	s := *documents().site
	bad := &page{source: "docs/hostile.md", out: "hostile.html", text: []byte(hostile)}
	s.parse(bad)
	s.resolve(bad)
	if err := bad.render(); err != nil {
		t.Fatal(err)
	}
	s.pages = append(s.pages, bad)
	if err := s.write(dir); err != nil {
		t.Fatal(err)
	}
	b := &browser{base: (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir) + "/"}).String()}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b.ctx, stop = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	chromedp.ListenTarget(b.ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok &&
			!strings.HasPrefix(e.Request.URL, b.base) && !strings.HasPrefix(e.Request.URL, "data:") {
			b.mu.Lock()
			b.foreign = append(b.foreign, e.Request.URL)
			b.mu.Unlock()
		}
	})
	return b
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// show opens a page in a window of some width under a color scheme.
func (b *browser) show(t *testing.T, out, scheme string, width int64) {
	t.Helper()
	b.do(t, emulateScheme(scheme), chromedp.EmulateViewport(width, 800), chromedp.Navigate(b.base+out),
		chromedp.WaitReady("main", chromedp.ByQuery))
}

// emulateScheme makes the system prefer a color scheme.
func emulateScheme(scheme string) *emulation.SetEmulatedMediaParams {
	return emulation.SetEmulatedMedia().WithFeatures(
		[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
}

// until waits for an expression to be true, also in the page that comes next.
func (b *browser) until(t *testing.T, expr string) {
	t.Helper()
	for range 500 {
		var ok bool
		if err := chromedp.Run(b.ctx, chromedp.Evaluate(expr, &ok)); err == nil && ok {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("never true: %s", expr)
}

// eval evaluates a JavaScript expression.
func eval[T any](t *testing.T, b *browser, expr string) (v T) {
	t.Helper()
	b.do(t, chromedp.Evaluate(expr, &v))
	return v
}

// TestBrowser looks at the site as readers do.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	built(t)
	b := open(t)
	b.do(t, network.Enable(), emulation.SetFocusEmulationEnabled(true))
	for _, c := range []struct {
		name string
		test func(*testing.T, *browser)
	}{
		{"widths", testWidths}, {"search", testSearch}, {"keys", testKeys}, {"theme", testTheme},
		{"menu", testMenu}, {"print", testPrint}, {"hostile", testHostile},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, b) })
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.foreign) > 0 {
		t.Errorf("requests for %q", b.foreign)
	}
}

// testWidths: no page is wider than the window, on a phone or on a large screen, under each theme;
// and text differs from its background as WCAG 2.2, 1.4.3 (level AA), asks for.
func testWidths(t *testing.T, b *browser) {
	background := map[string]bool{}
	for _, out := range []string{"index.html", "codes/index.html", "codes/race-shared.html",
		"comparison.html", "examples/index.html"} {
		b.show(t, out, "light", 1600)
		for _, scheme := range []string{"light", "dark"} {
			b.do(t, emulateScheme(scheme))
			if c := eval[float64](t, b, contrast); c < 4.5 {
				t.Errorf("%s, %s: contrast %.1f", out, scheme, c)
			}
			background[eval[string](t, b, `getComputedStyle(document.body).backgroundColor`)] = true
		}
		for _, width := range []int64{360, 861, 1241, 1600} { // and where the layout changes
			b.do(t, chromedp.EmulateViewport(width, 800))
			if over := eval[float64](t, b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s, %d px: the page is %v px too wide", out, width, over)
			}
		}
	}
	if len(background) != 2 {
		t.Errorf("%d backgrounds of two themes", len(background))
	}
}

// contrast is the lowest contrast ratio of the text that the page shows (WCAG 2.2).
const contrast = `(() => {
  const rgb = s => s.match(/[\d.]+/g).map(Number);
  const lum = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  let least = 21;
  for (const e of document.querySelectorAll('body *:not(svg, svg *, script)')) {
    if (!e.getClientRects().length) continue;
    const [a, b] = [lum(rgb(getComputedStyle(e).color)), lum(back(e))].sort((x, y) => y - x);
    least = Math.min(least, (a + 0.05) / (b + 0.05));
  }
  return least;
})()`

// testSearch asks the function behind the search for words of known places.
func testSearch(t *testing.T, b *browser) {
	b.show(t, "theory/traces.html", "light", 1600)
	b.do(t, chromedp.Evaluate(`document.getElementById('site-query').focus(); 1`, nil),
		chromedp.Poll(`!!window.heddleIndex`, nil))
	for _, c := range []struct{ query, first string }{
		{"race-shared", "codes/race-shared.html"},
		{"Race-Shared ", "codes/race-shared.html"}, // in any case
		{"barrier interval", "glossary.html#barrier-interval"},
		{"interval barrier", "glossary.html#barrier-interval"}, // in any order
		{"vector clo", "glossary.html#epoch"},                  // the beginning of a word
		{"heddle trace", "commands.html#heddle-trace"},         // a heading
		{"neighbour.cu", "codes/race-shared.html#what-heddle-prints"},
		{"pre-commit", "ci.html#pre-commit"},
		{"helix", "editor.html#helix"},
		{"xyzzy", ""}, {"race xyzzy", ""}, {"", ""}, {"  ", ""}, {"\\(.*", ""},
	} {
		got := eval[string](t, b, fmt.Sprintf(`heddleSearch(heddleIndex, %q, 20)[0]?.u || ''`, c.query))
		if got != c.first {
			t.Errorf("%q: %q first, want %q", c.query, got, c.first)
		}
	}
	if n := eval[int](t, b, `heddleSearch(heddleIndex, 'barrier', 20).length`); n != 20 {
		t.Errorf("%d results of at most 20", n)
	}
	if n := eval[int](t, b, `heddleSearch(heddleIndex, 'glossary', 100).filter(e => `+
		`e.p === 'Glossary').length`); n > 3 {
		t.Errorf("%d results of one page", n)
	}
}

// testKeys searches by keyboard alone, from a page in a directory, and follows a result.
func testKeys(t *testing.T, b *browser) {
	b.show(t, "codes/race-global.html", "light", 360)
	b.do(t, chromedp.KeyEvent(kb.Tab))
	if got := eval[string](t, b, `document.activeElement.textContent`); got != "Skip to the text" {
		t.Errorf("the first stop is %q", got)
	}
	// One event that types the character unless the page prevents it; chromedp.KeyEvent types it anyway.
	b.do(t, input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/"),
		chromedp.KeyEvent("barrier interval"),
		chromedp.Poll(`document.querySelectorAll('#site-results a').length > 2`, nil))
	if c := eval[float64](t, b, contrast); c < 4.5 {
		t.Errorf("results: contrast %.1f", c)
	}
	if over := eval[float64](t, b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		t.Errorf("results: the page is %v px too wide", over)
	}
	if got := eval[string](t, b, `document.querySelector('#site-results mark').textContent`); got != "barrier" {
		t.Errorf("%q is marked", got)
	}
	b.do(t, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	if n := eval[int](t, b, `[...document.querySelectorAll('#site-results a')].indexOf(document.activeElement)`); n != 1 {
		t.Errorf("result %d is focused", n)
	}
	b.do(t, chromedp.KeyEvent(kb.Escape))
	if !eval[bool](t, b, `document.getElementById('site-results').hidden && document.activeElement.id === 'site-query'`) {
		t.Error("Escape leaves the results open, or the focus elsewhere")
	}
	b.do(t, chromedp.KeyEvent("s"), chromedp.KeyEvent(kb.Backspace),
		chromedp.Poll(`!document.getElementById('site-results').hidden`, nil),
		chromedp.KeyEvent(kb.Enter))
	b.until(t, `location.pathname.endsWith('/glossary.html') && location.hash === '#barrier-interval'`)
	// What scrolls is a stop of the keyboard, what fits is not.
	b.show(t, "codes/race-global.html", "light", 360)
	if n := eval[int](t, b, `[...document.querySelectorAll('pre, .scroll')].filter(e => (e.scrollWidth > e.clientWidth) !== (e.tabIndex === 0)).length`); n > 0 {
		t.Errorf("%d blocks are wrongly reachable", n)
	}
	if n := eval[int](t, b, `[...document.querySelectorAll('pre')].filter(e => e.tabIndex === 0).length`); n == 0 {
		t.Error("no block scrolls on a phone")
	}
}

// testTheme: the button turns the theme of the system into the other, and the next page keeps it.
func testTheme(t *testing.T, b *browser) {
	const state = `document.getElementById('site-theme').getAttribute('aria-pressed') + ' ' + getComputedStyle(document.documentElement).colorScheme`
	b.show(t, "index.html", "dark", 1600)
	if got := eval[string](t, b, state); got != "true light dark" {
		t.Errorf("at first: %s", got)
	}
	b.do(t, chromedp.Click("#site-theme", chromedp.ByQuery))
	for _, out := range []string{"", "codes/trap.html"} {
		if out != "" {
			b.show(t, out, "dark", 1600)
		}
		if got := eval[string](t, b, state); got != "false light" {
			t.Errorf("%s after the click: %s", out, got)
		}
	}
	b.do(t, chromedp.Evaluate(`localStorage.clear(); 1`, nil))
}

// testMenu: on a phone the menu is closed, a button opens it, and Escape closes it; the contents of
// the page are folded there and open on a large screen.
func testMenu(t *testing.T, b *browser) {
	const shown = `document.getElementById('site-menu').getClientRects().length > 0`
	b.show(t, "ci.html", "light", 360)
	if eval[bool](t, b, shown) || eval[bool](t, b, `document.querySelector('.contents details').open`) {
		t.Error("the menu or the contents are open at first")
	}
	b.do(t, chromedp.Click("#site-open", chromedp.ByQuery))
	if !eval[bool](t, b, shown) {
		t.Error("the menu does not open")
	}
	b.do(t, chromedp.KeyEvent(kb.Escape))
	if eval[bool](t, b, shown) {
		t.Error("Escape leaves the menu open")
	}
	b.show(t, "ci.html", "light", 1600)
	if !eval[bool](t, b, shown) || !eval[bool](t, b, `document.querySelector('.contents details').open`) {
		t.Error("on a large screen, the menu or the contents are closed")
	}
	if got := eval[string](t, b, `document.querySelector('[aria-current]').textContent`); got != "heddle in continuous integration" {
		t.Errorf("the menu marks %q", got)
	}
}

// testPrint: paper has the text alone, black on white, and lines of code that fit.
func testPrint(t *testing.T, b *browser) {
	b.show(t, "codes/race-shared.html", "dark", 700)
	b.do(t, emulateScheme("dark").WithMedia("print"))
	if n := eval[int](t, b, `[...document.querySelectorAll('header, nav, .self')].filter(e => e.getClientRects().length).length`); n > 0 {
		t.Errorf("%d parts of the frame are printed", n)
	}
	if got := eval[string](t, b, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
		t.Errorf("background %s", got)
	}
	if n := eval[int](t, b, `[...document.querySelectorAll('pre')].filter(e => e.scrollWidth > e.clientWidth).length`); n > 0 {
		t.Errorf("%d blocks are cut off", n)
	}
	b.do(t, emulation.SetEmulatedMedia())
}

// testHostile opens a page of hostile Markdown without the protection that the policy of the page
// gives, and follows every link: nothing in it is executed.
func testHostile(t *testing.T, b *browser) {
	b.do(t, cdppage.SetBypassCSP(true), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdppage.AddScriptToEvaluateOnNewDocument(
			`window.hits = []; window.bad = n => hits.push(n);`).Do(ctx)
		return err
	}))
	b.show(t, "hostile.html", "light", 1000)
	if n := eval[int](t, b, `document.querySelectorAll('main :is(script, style, iframe, img, object, embed, svg)').length`); n > 0 {
		t.Errorf("%d elements that load something", n)
	}
	hits := eval[[]int](t, b, `(() => {
		addEventListener('click', e => { if (!e.target.href?.startsWith('javascript:')) e.preventDefault(); }, true);
		for (const e of document.querySelectorAll('main *')) { e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})); e.click(); }
		return hits;
	})()`)
	if len(hits) > 0 {
		t.Errorf("executed: %v", hits)
	}
	if !eval[bool](t, b, `(bad(1), hits.length === 1)`) {
		t.Error("the test would not see an execution")
	}
}

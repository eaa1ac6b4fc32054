package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rendered returns the HTML of a document that is the only one of a site.
func rendered(t testing.TB, text string) string {
	t.Helper()
	p := &page{source: "docs/x.md", out: "x.html", text: []byte(text)}
	s := &site{root: "nowhere", bySource: map[string]*page{}, byOut: map[string]*page{},
		assets: map[string]string{}}
	s.add(p)
	s.parse(p)
	s.resolve(p)
	if err := p.render(); err != nil {
		t.Fatal(err)
	}
	return string(p.html)
}

// hostile is Markdown that tries to execute a script, or to load something, in each way that
// Markdown has: HTML blocks and inline HTML, links, images, and places where text becomes an
// attribute.
const hostile = `# Title <script>bad(1)</script> "onmouseover="bad(2)

<script>bad(3)</script>

<img src=x onerror="bad(4)"> text <img src=x onerror="bad(5)">

<iframe src="https://example.org/"></iframe>
<style>body { display: none }</style>
<!-- a comment --><script>bad(6)</script>

<!-- a comment
that is left out -->

[a](javascript:bad(7)) [b](JaVaScRiPt:bad(8)) [c](java&#x0A;script:bad(9))
[d](<javascript:bad(10)>) [e](data:text/html;base64,PHNjcmlwdD4=) [f](vbscript:bad)
[g](x.md "title\" onclick=\"bad(11)") [h][ref] <javascript:bad(12)>
![i](https://example.org/x.png) ![j](x" onerror="bad(13))
[![k](https://example.org/x.png)](x.md)

## "><script>bad(14)</script>

| a | b |
|---|---|
| <b onclick="bad(15)">x</b> | [l](javascript:bad(16)) |

` + "```console\n$ heddle <script>bad(17)</script>\nx: error[race-shared]: <img src=x onerror=bad(18)>\n" +
	"x: error[\"><script>]: y\n```\n\n```\"><script>bad(19)</script>\nx\n```\n\n" +
	"`<script>bad(20)</script>`\n\n[ref]: javascript:bad(21)\n"

var (
	tag       = regexp.MustCompile(`<[^>]*>?`)
	allowed   = regexp.MustCompile(`^</?(h[1-6]|p|pre|code|a|b|em|strong|span|div|ul|ol|li|table|thead|tbody|tr|th|td|blockquote|hr|br)( (id|class|href|title|aria-label|role|tabindex|align|start)="[^"<>]*")*>$`)
	allowedTo = regexp.MustCompile(`href="(#|https?://|mailto:|[\w./-]+(#|"|%))`)
)

// inert reports what of a rendered document is not text in known elements with known attributes.
func inert(html string) (bad []string) {
	for _, m := range tag.FindAllString(html, -1) {
		if m == "<br>" || m == "<hr>" {
			continue
		}
		if !allowed.MatchString(m) || strings.Contains(m, "href=") && !allowedTo.MatchString(m) {
			bad = append(bad, m)
		}
	}
	return bad
}

// TestHostile: nothing in a document becomes an element that executes or loads anything. HTML is
// shown as text, and comments are left out.
func TestHostile(t *testing.T) {
	html := rendered(t, hostile)
	for _, m := range inert(html) {
		t.Errorf("%s", m)
	}
	for _, want := range []string{"&lt;script&gt;bad(3)&lt;/script&gt;", "&lt;iframe", "&lt;style&gt;",
		"&lt;script&gt;bad(20)", "bad(6)", "&lt;img src=x", "text &lt;img"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not shown in\n%s", want, html)
		}
	}
	if strings.Contains(html, "left out") {
		t.Error("a comment is shown")
	}
}

// FuzzMarkdown: no document, valid or not, renders to anything but text in known elements.
func FuzzMarkdown(f *testing.F) {
	f.Add(hostile)
	f.Add("<a\nhref='javascript:x'>y")
	f.Add("[x](\"><script>)\n\n    <script>")
	f.Fuzz(func(t *testing.T, text string) {
		if bad := inert(rendered(t, text)); len(bad) > 0 {
			t.Errorf("%q", bad)
		}
	})
}

// TestAnchors: headings have the identifiers that GitHub gives them (lower case, no punctuation,
// hyphens for spaces, a number for one that is there already), so that links work in both places.
func TestAnchors(t *testing.T) {
	ids := slugs{}
	for _, c := range []struct{ title, want string }{
		{"heddle check", "heddle-check"}, {"CUB, Thrust and libcu++", "cub-thrust-and-libcu"},
		{"What `-O` does: 2 things?", "what--o-does-2-things"}, {"snake_case", "snake_case"},
		{"Übersicht", "übersicht"}, {"Flags", "flags"}, {"Flags", "flags-1"}, {"Flags", "flags-2"},
		{"flags-1", "flags-1-1"}, {"", "section"}, {"!", "section-1"},
	} {
		if got := ids.unique(strings.ReplaceAll(c.title, "`", "")); got != c.want {
			t.Errorf("%q: %q, want %q", c.title, got, c.want)
		}
	}
	html := rendered(t, "# `x` and *y*\n\n## See [the list](#x-and-y)\n")
	for _, want := range []string{`<h1 id="x-and-y">`, `<h2 id="see-the-list">`, `href="#x-and-y"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
}

// TestCodeLinks: the name of a code, and a command that explains a word, link to the page of it. Words
// that also mean something else, other code, links and headings do not.
func TestCodeLinks(t *testing.T) {
	p := &page{source: "docs/theory/x.md", out: "theory/x.html", text: []byte(
		"# `race-shared`\n\n`race-shared` `launch` `race-x` `heddle explain launch` `heddle explain CODE`\n" +
			"`heddle explain barrier\ninterval` [`race-global`](#race-shared)\n")}
	s := &site{bySource: map[string]*page{}, byOut: map[string]*page{}, assets: map[string]string{}}
	s.add(p)
	for _, out := range []string{"codes/race-shared.html", "codes/launch.html", "glossary.html"} {
		s.add(&page{source: out, out: out})
	}
	s.parse(p)
	s.resolve(p)
	if err := p.render(); err != nil {
		t.Fatal(err)
	}
	want := `<h1 id="race-shared"><code class="short">race-shared</code></h1>
<p><a href="../codes/race-shared.html"><code class="short">race-shared</code></a> <code class="short">launch</code> <code class="short">race-x</code> <a href="../codes/launch.html"><code>heddle explain launch</code></a> <code class="short">heddle explain CODE</code>
<a href="../glossary.html#barrier-interval"><code>heddle explain barrier
interval</code></a> <a href="#race-shared"><code class="short">race-global</code></a></p>
`
	if diff := cmp.Diff(want, string(p.html)); diff != "" || len(s.problems) > 0 {
		t.Error(diff, s.problems)
	}
	// A page that the site lacks is a mistake of the document.
	p.text = []byte("# X\n\n`race-global`\n")
	p.headings = nil
	s.parse(p)
	s.resolve(p)
	if len(s.problems) != 1 || s.problems[0].String() !=
		"docs/theory/x.md:3: race-global: the site has no page codes/race-global.html" {
		t.Error(s.problems)
	}
}

// TestProse: the plain text of a code's documentation means in Markdown what it says, what is code is
// marked, and documents are links.
func TestProse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a __shared__ array, __syncthreads() and x", "a `__shared__` array, `__syncthreads()` and x"},
		{"v[t] += *p; <b> & #1 a_b", `v\[t\] += \*p; \<b\> \& \#1 a\_b`},
		{"--warp lockstep, or --arg in=zero:4096.", "`--warp lockstep`, or `--arg in=zero:4096`."},
		{"bar.sync and cp.async.wait_all. End", "`bar.sync` and `cp.async.wait_all`. End"},
		{"cudaMemcpy, cuda::atomic_ref", "`cudaMemcpy`, `cuda::atomic_ref`"},
		{"as race-global, not read-write", "as `race-global`, not read-write"},
		{"see docs/support.md", "see [docs/support.md](support.md)"},
		{"run `heddle verify` only", "run `heddle verify` only"},
		{"The form is\n\n    // heddle:ignore CODE[, CODE]\n\nhere", "The form is\n\n    // heddle:ignore CODE[, CODE]\n\nhere"},
	} {
		if got := prose(c.text); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// TestFence: a block of code ends only at its own end.
func TestFence(t *testing.T) {
	html := rendered(t, "# X\n\n"+fence("", "a\n```\nb\n````\n<c>\n"))
	if want := "<code>a\n```\nb\n````\n&lt;c&gt;\n</code>"; !strings.Contains(html, want) {
		t.Errorf("no %q in %s", want, html)
	}
}

// TestSections: the search finds a section by its heading and by all of its text: paragraphs, lists,
// tables and code.
func TestSections(t *testing.T) {
	p := &page{source: "x.md", out: "x.html", text: []byte("# Title\n\nintro *a*\n\n## First part\n\n- one\n" +
		"  two\n\n### Second\n\n| x | y |\n|---|---|\n| `z` | [w](#title) |\n\n```\ncode\nmore\n```\n\n    old\n")}
	s := &site{bySource: map[string]*page{}, byOut: map[string]*page{}}
	s.parse(p)
	want := []entry{
		{"x.html", "Title", "Title", "intro a"},
		{"x.html#first-part", "Title", "First part", "one two"},
		{"x.html#second", "Title", "Second", "x y z w code more old"},
	}
	if got := p.sections(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
